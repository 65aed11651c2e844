#include "base/pool.h"

#include "closed_form.h"
#include "shared.h"
#include "solvers.h"
#include "spectra_private.h"

enum { BLOCK = 4096 };
/* Of a value from its angle, and of the angle from rounding of the equation's terms: some twenty
 * operations, none of which cancels. */
static const double ROUNDED = 64 * DBL_EPSILON;

typedef struct fill_job {
    const szgi_selection *selection;
    szgi_closed_form *eigenvalue;
    const void *data;
    double *values, *errors;
    double *worst; /* one a block */
} fill_job;

static szg_status fill_block(szg_context *context, void *argument, int64_t block, int worker) {
    fill_job *job = argument;
    (void)context, (void)worker;
    int64_t first = block * BLOCK, end = szgi_selection_count(job->selection);
    if (end > first + BLOCK)
        end = first + BLOCK;
    for (int64_t place = first; place < end; place++) {
        double relative;
        job->values[place] = job->eigenvalue(
            job->data, job->selection->n, szgi_selection_index(job->selection, place), &relative);
        if (job->errors)
            job->errors[place] = (relative + ROUNDED) * fabs(job->values[place]);
        job->worst[block] = szgi_larger(job->worst[block], relative);
    }
    return SZG_OK;
}

szg_status szgi_closed_form_fill(szg_context *context, const szgi_selection *selection,
                                 szgi_closed_form *eigenvalue, const void *data,
                                 szg_spectrum *out) {
    int64_t count = szgi_selection_count(selection), blocks = (count + BLOCK - 1) / BLOCK;
    fill_job job = {.selection = selection,
                    .eigenvalue = eigenvalue,
                    .data = data,
                    .values = out->re,
                    .errors = out->error};
    SZG_TRY(szgi_memory_alloc(context, blocks, &job.worst));
    szg_status status = szgi_pool_run(context, blocks, fill_block, &job);
    for (int64_t block = 0; status == SZG_OK && block < blocks; block++)
        out->residual = szgi_larger(out->residual, job.worst[block]);
    szgi_memory_free(job.worst);
    return status;
}

szg_status szgi_dense_kernel(szg_context *context, int64_t n,
                             double (*lag)(const void *data, int64_t k), const void *data,
                             const szg_spectra_options *options, szg_spectrum *out) {
    double *lags;
    if (!szgi_shared_takes(context, n))
        SZG_TRY(szgi_memory_require(context, n, n, sizeof *lags, "the dense kernel",
                                    "leave out --dense: the closed form needs no matrix"));
    SZG_TRY(szgi_memory_alloc(context, n, &lags));
    for (int64_t k = 0; k < n; k++)
        lags[k] = lag(data, k);
    szg_toeplitz *t = NULL;
    szg_status status = szg_toeplitz_open_symmetric(context, n, n, lags, &t);
    if (status == SZG_OK) {
        szg_matrix matrix = szg_matrix_toeplitz(t);
        status = szgi_toeplitz_eigen(context, &matrix, options, out);
    }
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
    return status;
}

void szgi_enclose_root(szgi_increasing *function, const void *data, const arb_t lo, const arb_t hi,
                       arb_t root) {
    enum { HALVINGS = 200, WIDTH = -80 };
    arf_t below, above, middle;
    arb_t at, value;
    arf_init(below), arf_init(above), arf_init(middle);
    arb_init(at), arb_init(value);
    arb_get_lbound_arf(below, lo, SZGI_CLOSED_BITS);
    arb_get_ubound_arf(above, hi, SZGI_CLOSED_BITS);
    for (int i = 0; i < HALVINGS; i++) {
        arf_sub(middle, above, below, SZGI_CLOSED_BITS, ARF_RND_UP);
        arf_mul_2exp_si(middle, middle, -WIDTH);
        if (arf_cmp(middle, below) < 0)
            break;
        arf_add(middle, below, above, 2 * SZGI_CLOSED_BITS, ARF_RND_DOWN);
        arf_mul_2exp_si(middle, middle, -1);
        arb_set_arf(at, middle);
        function(data, at, value);
        if (arb_is_positive(value))
            arf_set(above, middle);
        else if (arb_is_negative(value))
            arf_set(below, middle);
        else
            break;
    }
    arb_set_interval_arf(root, below, above, SZGI_CLOSED_BITS);
    arb_clear(value), arb_clear(at);
    arf_clear(middle), arf_clear(above), arf_clear(below);
}
