/* Which arrays prove the ends of a spectrum, by structure; the bounds themselves:
 * certified_block.c. Numbers are scaled by a power of two first, so that the largest is in [1/2,
 * 1). */
#include "base/pool.h"
#include "toeplitz/matrix.h"

#include "certified_blocks.h"
#include "closed_form.h"
#include "halves.h"
#include "symmetry.h"

static const double U = 0x1p-53;

/* ---- What the proofs need of the machine ---- */

static szg_status check_denormals(szg_context *context) {
    volatile double least = DBL_MIN, two = 2;
    volatile double half = least / two, again = half * two;
    if (again == least)
        return SZG_OK;
    return szgi_fail(context, SZG_EBACKEND,
                     "numbers below 2.2e-308 are flushed to zero here: certified values need them; "
                     "clear the processor's flag for that (FTZ, DAZ, FZ)");
}

/* Another rounding mode would break the bounds silently, and so would denormal numbers that are
 * flushed to zero: where szgi_denormals_keep cannot keep them. */
szg_status szgi_certify_rounding(szg_context *context) {
    volatile double one = 1, step = DBL_EPSILON, half = DBL_EPSILON / 2;
    volatile double more = 3 * half / 2;
    const double next = one + step;
    if (one + half == one && one + more == next && -one - more == -next)
        return check_denormals(context);
    return szgi_fail(context, SZG_EBACKEND,
                     "doubles do not round to nearest here: certified values need that; set "
                     "the rounding mode by fesetround(FE_TONEAREST)");
}

/* ---- Toeplitz matrices, by their halves or by the real matrix that Q makes ---- */

/* Lags -(n-1) .. n-1 by 2^-exponent, and the sum of |re| + |im| over all of them. */
static double scaled_lags(const szg_toeplitz *t, int exponent, szg_c64 *lags) {
    int64_t n = szg_toeplitz_size(t);
    double sum = 0;
    for (int64_t k = 1 - n; k < n; k++) {
        szg_c64 a = szg_toeplitz_at(t, k);
        szg_c64 *to = &lags[n - 1 + k];
        *to = (szg_c64){ldexp(a.re, -exponent), ldexp(a.im, -exponent)};
        sum += fabs(to->re) + fabs(to->im);
    }
    return sum;
}

/* The data of a block's rows: lags of a real matrix from 0 on, of another around 0. */
typedef struct lag_rows {
    const double *real;
    const szg_c64 *complex;
    int64_t n, odd;
} lag_rows;

static void half_row(const void *data, int64_t i, double *out) {
    const lag_rows *rows = data;
    szgi_halves_row(rows->real, rows->n, rows->odd, i, out);
}

static void mapped_row(const void *data, int64_t i, double *out) {
    const lag_rows *rows = data;
    szgi_mapped_row(rows->complex, rows->n, i, out);
}

/* `lags`: 3 n - 1 complex numbers. Entries are rounded sums of two lags, those of the middle row
 * are a lag times a rounded sqrt 2. */
static szg_status prove_lags(szg_context *context, const szg_toeplitz *t, szg_c64 *lags,
                             szgi_block_set *set, szg_spectrum *spectrum) {
    int64_t n = szg_toeplitz_size(t);
    double sum = scaled_lags(t, set->exponent, lags), *real = (double *)(lags + 2 * n - 1);
    lag_rows rows[SZGI_BLOCKS] = {{real, lags + n - 1, n, 0}, {real, lags + n - 1, n, 1}};
    for (int64_t k = 0; k < n; k++)
        real[k] = lags[n - 1 + k].re;
    for (int64_t i = 0; i < set->count; i++) {
        set->block[i].row = set->count == 1 ? mapped_row : half_row;
        set->block[i].data = &rows[i];
        set->block[i].error = (n % 2 ? 3.1 : 1.1) * U * sum;
    }
    return szgi_blocks_prove(context, set, spectrum);
}

static szg_status certify_toeplitz(szg_context *context, bool values, const szg_toeplitz *t,
                                   szg_spectrum *spectrum) {
    int64_t n = szg_toeplitz_size(t), half = n / 2;
    if (szgi_toeplitz_degree(t) == 0) {
        szgi_certify_point(szg_toeplitz_at(t, 0).re, spectrum);
        return SZG_OK;
    }
    szgi_block_set set = {.count = 1, .values = values, .block = {{.n = n, .width = 1}}};
    if (szgi_toeplitz_is_real(t))
        set = (szgi_block_set){.count = 2,
                               .values = values,
                               .block = {{.n = n - half, .width = 1}, {.n = half, .width = 1}}};
    SZG_TRY(szgi_blocks_open(context, szgi_toeplitz_largest_part(t), &set));
    szg_c64 *lags = NULL;
    szg_status status = szgi_memory_alloc(context, 3 * n - 1, &lags);
    if (status == SZG_OK)
        status = prove_lags(context, t, lags, &set, spectrum);
    szgi_memory_free(lags);
    szgi_blocks_close(&set);
    return status;
}

/* ---- Arrays ---- */

/* The proof reads the lower triangle; the other one may differ by rounding. */
static szg_status certify_dense(szg_context *context, bool values, int64_t n, int64_t width,
                                const double *a, int64_t lda, szg_spectrum *spectrum) {
    return szgi_certify_array(context, values, n, width, a, lda,
                              szgi_dense_asymmetry(n, width, a, lda), spectrum);
}

/* ---- Which ---- */

/* From this order of the arrays on, both factorisations take at most a quarter of the solver that
 * takes all their values: `szego bench certified` (docs/explanation/methods.md). */
enum { CHEAP_ORDER = 3072 };

static bool is_cheap(const szg_matrix *matrix, const szg_spectrum *spectrum) {
    const szg_factored *f = &matrix->of.factored;
    if (matrix->kind == SZG_MATRIX_FACTORED && (f->bias || f->a != f->b))
        return false; /* the dense array would be formed anew */
    switch (spectrum->method) {
    case SZG_METHOD_ZERO:
    case SZG_METHOD_DIAGONAL:
        return true;
    case SZG_METHOD_DENSE:
    case SZG_METHOD_DENSE_SYMMETRIC:
    case SZG_METHOD_DENSE_HERMITIAN:
    case SZG_METHOD_MAPPED:
        return spectrum->n >= CHEAP_ORDER;
    case SZG_METHOD_HALVES:
        return spectrum->n / 2 >= CHEAP_ORDER;
    case SZG_METHOD_DIRICHLET: /* else the least value would be left open */
        return spectrum->n <= SZGI_LEAST_QUICK && szgi_least_is_rounding(spectrum);
    default:
        return false;
    }
}

static szg_status certify(szg_context *context, const szg_matrix *matrix, bool values,
                          szg_spectrum *spectrum) {
    switch (matrix->kind) {
    case SZG_MATRIX_ZERO:
        szgi_certify_point(0, spectrum);
        return SZG_OK;
    case SZG_MATRIX_DENSE:
        if (spectrum->method != SZG_METHOD_DENSE_SYMMETRIC)
            return SZG_OK;
        __attribute__((fallthrough));
    case SZG_MATRIX_SYMMETRIC:
        return certify_dense(context, values, matrix->rows, 1, matrix->of.dense.a,
                             matrix->of.dense.lda, spectrum);
    case SZG_MATRIX_HERMITIAN:
        return certify_dense(context, values, matrix->rows, 2,
                             (const double *)matrix->of.complex_dense.a,
                             matrix->of.complex_dense.lda, spectrum);
    case SZG_MATRIX_TOEPLITZ:
        return szgi_toeplitz_is_hermitian(matrix->of.toeplitz)
                   ? certify_toeplitz(context, values, matrix->of.toeplitz, spectrum)
                   : SZG_OK;
    case SZG_MATRIX_FACTORED:
        return szgi_certify_logits(context, &matrix->of.factored, values, spectrum);
    case SZG_MATRIX_COSINES:
        return szgi_certify_cosines(context, matrix, values, spectrum);
#define SZG_CLOSED_FORM(NAME, name, words, method) case SZG_MATRIX_##NAME:
#include <szego/closed_forms.def>
        return szgi_closed_certify(context, matrix, values, spectrum);
    default:
        return SZG_OK;
    }
}

szg_status szgi_spectrum_certify(szg_context *context, const szg_matrix *matrix,
                                 const szg_spectra_options *options, szg_spectrum *spectrum) {
    double least, largest;
    bool wanted = options->certify >= SZG_CERTIFY_ENDS ||
                  (options->certify == SZG_CERTIFY_CHEAP && is_cheap(matrix, spectrum));
    if (!wanted || spectrum->im)
        return SZG_OK;
    SZG_TRY(szgi_spectrum_range(context, spectrum, &least, &largest));
    if (!isfinite(least) || !isfinite(largest))
        return SZG_OK;
    bool values = options->certify == SZG_CERTIFY_VALUES;
    SZG_TRY(szgi_certify_rounding(context));
    szg_status status = certify(context, matrix, values, spectrum);
    /* What nobody asked for must not cost the answer. */
    if (options->certify == SZG_CERTIFY_CHEAP && (status == SZG_ENOMEM || status == SZG_ENOCONV)) {
        spectrum->note = spectrum->note ? spectrum->note : "no certified range: its proof failed";
        return SZG_OK;
    }
    SZG_TRY(status);
    bool points = spectrum->certified && spectrum->min.lo == spectrum->max.hi;
    return points ? szgi_certify_points(context, spectrum->min.lo, values, spectrum) : SZG_OK;
}
