/* Which array proves the singular values of which matrix. Its numbers are scaled by a power of two
 * first, so that the largest, or the error of its entries, is in [1/2, 1). */
#include "toeplitz/matrix.h"

#include "certified.h"
#include "certified_blocks.h"
#include "certified_singular.h"
#include "dense.h"
#include "factored.h"
#include "solvers.h"

/* ---- The array ---- */

static double largest_of(int64_t m, int64_t n, const double *a, int64_t lda) {
    double largest = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            largest = szgi_larger(largest, fabs(a[i * lda + j]));
    return largest;
}

/* Two factors: one may overflow where both together do not. */
static void fill(int64_t m, int64_t n, const double *a, int64_t lda, const szgi_tall *tall) {
    const szgi_parts *to = &tall->a;
    bool turned = m < n;
    int half = tall->exponent / 2;
    double first = ldexp(1, -half), second = ldexp(1, half - tall->exponent);
    double *im = szgi_parts_im(to);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const double *from = a + (i * lda + j) * to->width;
            int64_t at = turned ? j * m + i : i * n + j;
            to->re[at] = from[0] * first * second;
            if (to->width == 2)
                im[at] = (turned ? -1 : 1) * from[1] * first * second;
        }
}

/* An m x n array, `width` doubles an entry, rows lda entries apart; of m < n the adjoint. Numbers
 * that the scaling brings below 2^-1022 lose less than that. The zero matrix leaves no memory. */
static szg_status take(szg_context *context, int64_t m, int64_t n, int64_t width, const double *a,
                       int64_t lda, double error, szgi_tall *tall) {
    int64_t count;
    double largest = largest_of(m, n * width, a, lda * width);
    bool turned = m < n;
    tall->memory = NULL;
    if (largest == 0 && error == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_product(context, m, n * width, &count));
    SZG_TRY(szgi_memory_require(context, count, 1, sizeof *tall->memory,
                                "the proof of the singular values", "leave --certify out"));
    SZG_TRY(szgi_memory_alloc(context, count, &tall->memory));
    tall->a = (szgi_parts){turned ? n : m, turned ? m : n, width, tall->memory};
    frexp(fmax(largest, error), &tall->exponent);
    tall->error = ldexp(error, -tall->exponent) + 0x1p-900;
    fill(m, n, a, lda, tall);
    return SZG_OK;
}

static szg_status take_toeplitz(szg_context *context, const szg_toeplitz *t, szgi_tall *tall) {
    int64_t n = szg_toeplitz_size(t);
    bool real = szgi_toeplitz_is_real(t);
    double *a;
    SZG_TRY(szgi_dense_open_toeplitz(context, t, 2, "the proof of the singular values",
                                     "leave --certify out", &a));
    szg_status status = real ? szgi_dense_hankel(context, t, a) : SZG_OK;
    tall->hermitian = real || szgi_toeplitz_is_hermitian(t);
    if (status == SZG_OK)
        status = take(context, n, n, real ? 1 : 2, a, n, 0, tall);
    szgi_memory_free(a);
    return status;
}

/* From L itself, or from the d x d product of triangular factors where the spectrum is of that. */
static szg_status take_dense_logits(szg_context *context, const szg_factored *f, szgi_tall *tall) {
    double *dense, error;
    SZG_TRY(szgi_logits_entry_error(context, f, &error));
    SZG_TRY(szgi_logits_dense(context, f, &dense));
    szg_status status = take(context, f->n, f->n, 1, dense, f->n, error, tall);
    szgi_memory_free(dense);
    return status;
}

static szg_status take_core(szg_context *context, const szg_factored *f, szgi_tall *tall) {
    int64_t d = f->d;
    szgi_scaled_logits scaled;
    double *work, error;
    SZG_TRY(szgi_memory_alloc(context, 3 * d * d, &work));
    double *r_b = work + d * d, *core = r_b + d * d;
    szg_status status = szgi_logits_scale(context, f, &scaled);
    if (status == SZG_OK)
        status = szgi_logits_core(context, &scaled.f, true, work, r_b, core);
    if (status == SZG_OK)
        status = szgi_logits_core_error(context, &scaled.f, work, r_b, &error);
    if (status == SZG_OK)
        status = take(context, d, d, 1, core, d, error, tall);
    tall->exponent += scaled.exponent;
    szgi_memory_free(scaled.memory);
    szgi_memory_free(work);
    return status;
}

static szg_status take_matrix(szg_context *context, const szg_matrix *matrix,
                              const szg_spectrum *spectrum, szgi_tall *tall) {
    switch (matrix->kind) {
    case SZG_MATRIX_DENSE:
    case SZG_MATRIX_SYMMETRIC:
        return take(context, matrix->rows, matrix->columns, 1, matrix->of.dense.a,
                    matrix->of.dense.lda, 0, tall);
    case SZG_MATRIX_COMPLEX:
    case SZG_MATRIX_HERMITIAN:
        return take(context, matrix->rows, matrix->columns, 2,
                    (const double *)matrix->of.complex_dense.a, matrix->of.complex_dense.lda, 0,
                    tall);
    case SZG_MATRIX_TOEPLITZ:
        return take_toeplitz(context, matrix->of.toeplitz, tall);
    default:
        return spectrum->zeros > 0 ? take_core(context, &matrix->of.factored, tall)
                                   : take_dense_logits(context, &matrix->of.factored, tall);
    }
}

/* ---- The proof ---- */

/* The interval in the matrix's own size, entries' errors included; no singular value is below 0. */
static szg_interval scale_back(const szgi_tall *tall, szg_interval x) {
    double lo = nextafter(x.lo - tall->error, -INFINITY);
    double hi = nextafter(x.hi + tall->error, INFINITY);
    lo = szgi_scale_outwards(lo, tall->exponent, -INFINITY);
    return (szg_interval){lo > 0 || isnan(lo) ? lo : 0,
                          szgi_scale_outwards(hi, tall->exponent, INFINITY)};
}

static szg_status prove_values(szg_context *context, const szgi_tall *tall,
                               szg_spectrum *spectrum) {
    int64_t count = spectrum->count;
    SZG_TRY(szgi_memory_alloc(context, count, &spectrum->lo));
    SZG_TRY(szgi_memory_alloc(context, count, &spectrum->hi));
    SZG_TRY(szgi_tall_values(context, tall, spectrum->lo, spectrum->hi));
    for (int64_t i = 0; i < count; i++) {
        szg_interval one = scale_back(tall, (szg_interval){spectrum->lo[i], spectrum->hi[i]});
        spectrum->lo[i] = one.lo;
        spectrum->hi[i] = one.hi;
    }
    return SZG_OK;
}

/* Both contain the same number: the least of the higher, the largest of the lower end. */
static szg_interval meet(szg_interval a, double lo, double hi) {
    return (szg_interval){fmax(a.lo, lo), fmin(a.hi, hi)};
}

static szg_status prove(szg_context *context, const szgi_tall *tall, bool values,
                        szg_spectrum *spectrum) {
    szgi_tall_ends ends;
    double least, largest;
    SZG_TRY(szgi_spectrum_range(context, spectrum, &least, &largest));
    ends.least = spectrum->zeros > 0 ? NAN : ldexp(least, -tall->exponent);
    ends.largest = ldexp(largest, -tall->exponent);
    SZG_TRY(szgi_tall_prove_ends(context, tall, &ends));
    spectrum->min = scale_back(tall, ends.min);
    spectrum->max = scale_back(tall, ends.max);
    if (values && spectrum->count == tall->a.columns) {
        SZG_TRY(prove_values(context, tall, spectrum));
        int64_t last = spectrum->count - 1;
        spectrum->max = meet(spectrum->max, spectrum->lo[0], spectrum->hi[0]);
        spectrum->min = meet(spectrum->min, spectrum->lo[last], spectrum->hi[last]);
    }
    if (spectrum->zeros > 0)
        spectrum->min = (szg_interval){0, 0};
    spectrum->certified = true;
    return SZG_OK;
}

static szg_status by_array(szg_context *context, const szg_matrix *matrix, bool values,
                           szg_spectrum *spectrum) {
    szgi_tall tall = {.hermitian = false};
    double least, largest;
    SZG_TRY(szgi_spectrum_range(context, spectrum, &least, &largest));
    if (!isfinite(largest))
        return SZG_OK;
    if (spectrum->zeros == spectrum->n)
        return szgi_certify_points(context, 0, values, spectrum);
    SZG_TRY(take_matrix(context, matrix, spectrum, &tall));
    if (!tall.memory)
        return szgi_certify_points(context, 0, values, spectrum);
    szg_status status = prove(context, &tall, values, spectrum);
    szgi_memory_free(tall.memory);
    return status;
}

/* Symmetric matrices of a structure of their own: moduli of eigenvalues, which are found anew. */
static szg_status by_eigenvalues(szg_context *context, szgi_solver *solver,
                                 const szg_matrix *matrix, const szg_spectra_options *options,
                                 szg_spectrum *spectrum) {
    szg_spectrum eigenvalues = {.kind = SZG_SPECTRUM_NONE};
    szg_status status = solver(context, matrix, options, &eigenvalues);
    if (status == SZG_OK)
        status = szgi_spectrum_certify(context, matrix, options, &eigenvalues);
    spectrum->certified =
        eigenvalues.certified && szgi_spectrum_moduli(&eigenvalues, &spectrum->min, &spectrum->max);
    if (status == SZG_OK && eigenvalues.lo && eigenvalues.count == spectrum->count) {
        spectrum->lo = eigenvalues.lo;
        spectrum->hi = eigenvalues.hi;
        eigenvalues.lo = eigenvalues.hi = NULL;
        szgi_bounds_to_moduli(spectrum->count, spectrum->lo, spectrum->hi);
    }
    szg_spectrum_close(&eigenvalues);
    return status;
}

szg_status szgi_singular_certify(szg_context *context, const szg_matrix *matrix,
                                 const szg_spectra_options *options, szg_spectrum *spectrum) {
    bool values = options->certify == SZG_CERTIFY_VALUES;
    if (options->certify < SZG_CERTIFY_ENDS || matrix->kind == SZG_MATRIX_DEVICE)
        return SZG_OK;
    SZG_TRY(szgi_certify_rounding(context));
    switch (matrix->kind) {
    case SZG_MATRIX_ZERO:
        return szgi_certify_points(context, 0, values, spectrum);
    case SZG_MATRIX_COSINES:
        return by_eigenvalues(context, szgi_cosines_eigen, matrix, options, spectrum);
#define SZG_CLOSED_FORM(NAME, name, words, method) case SZG_MATRIX_##NAME:
#include <szego/closed_forms.def>
        return by_eigenvalues(context, szgi_closed_eigen, matrix, options, spectrum);
    default:
        return by_array(context, matrix, values, spectrum);
    }
}
