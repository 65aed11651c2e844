/* The list of closed forms, by the kind of matrix. */
#include "base/pool.h"

#include "closed_form.h"

static const closed_form *const forms[SZG_MATRIX_KINDS] = {
#define SZG_CLOSED_FORM(NAME, name, words, method) [SZG_MATRIX_##NAME] = &szgi_closed_form_##name,
#include <szego/closed_forms.def>
};

bool szgi_spectrum_is_closed(const szg_matrix *matrix) {
    return forms[matrix->kind];
}

bool szgi_spectrum_is_summable(const szg_matrix *matrix) {
    const closed_form *form = forms[matrix->kind];
    return form && form->summable(matrix->of.parameter);
}

static szg_interval enclose(const szg_matrix *matrix, int64_t index) {
    arb_t value;
    arb_init(value);
    forms[matrix->kind]->enclose(matrix->rows, matrix->of.parameter, index, value);
    szg_interval bounds = szgi_interval_of(value);
    arb_clear(value);
    return bounds;
}

typedef struct values_job {
    const szg_matrix *matrix;
    szg_spectrum *spectrum;
} values_job;

enum { TOGETHER = 16 }; /* values of a block of the pool's */

/* Zeros by structure are the smallest. */
static szg_status enclose_block(szg_context *context, void *argument, int64_t block, int worker) {
    values_job *job = argument;
    szg_spectrum *s = job->spectrum;
    (void)worker;
    for (int64_t i = block * TOGETHER; i < s->count && i < (block + 1) * TOGETHER; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        szg_interval bounds = enclose(job->matrix, s->zeros + i);
        s->lo[i] = bounds.lo;
        s->hi[i] = bounds.hi;
    }
    return SZG_OK;
}

szg_status szgi_closed_certify(szg_context *context, const szg_matrix *matrix, bool values,
                               szg_spectrum *spectrum) {
    values_job job = {matrix, spectrum};
    bool zero = spectrum->zeros == spectrum->n;
    spectrum->certified = true;
    spectrum->min = spectrum->max = (szg_interval){0, 0};
    if (zero)
        return SZG_OK;
    spectrum->min = enclose(matrix, 0);
    spectrum->max = enclose(matrix, matrix->rows - 1);
    if (!values || spectrum->count + spectrum->zeros != spectrum->n)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, spectrum->count, &spectrum->lo));
    SZG_TRY(szgi_memory_alloc(context, spectrum->count, &spectrum->hi));
    return szgi_pool_run(context, (spectrum->count - 1) / TOGETHER + 1, enclose_block, &job);
}

szg_status szgi_closed_eigen(szg_context *context, const szg_matrix *matrix,
                             const szg_spectra_options *options, szg_spectrum *out) {
    return forms[matrix->kind]->eigenvalues(context, matrix, options, out);
}
