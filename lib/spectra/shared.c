/* What is shared among processes: all eigenvalues, and ends, of a Hermitian Toeplitz matrix. Lags
 * are everywhere; entries are made where they are needed. */
#include <string.h>

#include "linalg/linalg.h"
#include "linalg/ops.h"
#include "base/random.h"
#include "toeplitz/toeplitz.h"

#include "extremes.h"
#include "halves.h"
#include "shared.h"

/* Restarts of Lanczos where there is no shift-and-invert. */
enum { RESTARTS = 100 };
static const double TOLERANCE = 1e-12;
/* Entries below this, of a matrix whose largest lag is in 1/2 .. 1, are zeros: the reduction to a
 * band sums their squares, which underflow, and ELPA 2022.11 then makes reflections that are not
 * orthogonal. An eigenvalue moves by n times this. */
static const double NEGLIGIBLE = 0x1p-300;

/* Blocks of the size of its part of the matrix that ELPA 2022.11 has at work in a process, with the
 * part itself: measured, docs/how-to/scaling.md. */
enum { ELPA_PARTS = 4 };
/* Doubles of Lanczos for each number of a vector: its basis has 2 k + 20 of them, PARPACK's work
 * and the residual 5 more; the circulant, up to three times as long, has two complex arrays, and
 * one in which numbers are packed. */
enum { LANCZOS_VECTORS = 25, CIRCULANT_DOUBLES = 12, CIRCULANT_PACKED = 3 };

static const char one_stage_note[] =
    "ELPA's two stages missed the trace or the norm, and the values are those of its one stage";

/* ---- What is shared ---- */

bool szgi_shared_takes(szg_context *context, int64_t n) {
    const szgi_distributed_ops *ops = szgi_distributed_of(context);
    return ops && n >= ops->least_order;
}

/* A Toeplitz matrix that is not Hermitian has a Hermitian part, which is Toeplitz. */
static bool is_shared(const szg_matrix *matrix, szg_question question) {
    switch (matrix->kind) {
    case SZG_MATRIX_ZERO:
    case SZG_MATRIX_COSINES:
#define SZG_CLOSED_FORM(NAME, name, words, method) case SZG_MATRIX_##NAME:
#include <szego/closed_forms.def>
        return true;
    case SZG_MATRIX_TOEPLITZ:
        return question == SZG_QUESTION_HERMITIAN_PART ||
               szgi_toeplitz_is_hermitian(matrix->of.toeplitz);
    default:
        return false;
    }
}

szg_status szgi_shared_check(szg_context *context, const szg_matrix *matrix, szg_question question,
                             const szg_spectra_options *options) {
    static const char remedy[] = "start one process, without mpirun and --backend mpi";
    if (!szgi_distributed_of(context))
        return SZG_OK;
    if (options->certify >= SZG_CERTIFY_ENDS)
        return szgi_fail(context, SZG_EDOMAIN,
                         "certified eigenvalues are not shared among processes: %s", remedy);
    if (is_shared(matrix, question))
        return SZG_OK;
    return szgi_fail(context, SZG_EDOMAIN,
                     "the spectrum of a %s matrix%s is not shared among processes: %s",
                     szg_matrix_kind_name(matrix->kind),
                     matrix->kind == SZG_MATRIX_TOEPLITZ ? " that is not Hermitian" : "", remedy);
}

/* ---- The same input ---- */

static uint64_t digest(uint64_t before, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (before ^ bits) * 1099511628211u; /* FNV-1a (Fowler, Noll, Vo), a word at a time */
}

/* Each process fills its part of the matrix from its own lags: of two versions of a file the values
 * would be those of neither. */
static szg_status check_input(szg_context *context, const szg_toeplitz *t) {
    uint64_t all = 14695981039346656037u;
    for (int64_t k = 0; k <= szgi_toeplitz_degree(t); k++) {
        szg_c64 a = szg_toeplitz_at(t, k);
        all = digest(digest(all, a.re), a.im);
    }
    /* The meeting adds its place in four bits and compares signed numbers. */
    return szgi_distributed_of(context)->agree(context, SZGI_MEETING_INPUT, (int64_t)(all >> 6),
                                               SZG_OK);
}

/* ---- All eigenvalues ---- */

/* Lags -(n-1) .. n-1 around `lags`, those from 0 on in `real` where all are; both scaled. */
typedef struct shared_lags {
    int64_t n, odd;
    szg_c64 *memory, *lags;
    double *real;
    int exponent;
} shared_lags;

static void close_lags(shared_lags *self) {
    szgi_memory_free(self->memory);
    szgi_memory_free(self->real);
}

static szg_status open_lags(szg_context *context, const szg_toeplitz *t, shared_lags *out) {
    int64_t n = szg_toeplitz_size(t);
    *out = (shared_lags){.n = n};
    frexp(szgi_toeplitz_largest_part(t), &out->exponent);
    SZG_TRY(szgi_memory_alloc(context, 2 * n - 1, &out->memory));
    szg_status status = szgi_memory_alloc(context, n, &out->real);
    if (status != SZG_OK) {
        close_lags(out);
        return status;
    }
    out->lags = out->memory + n - 1;
    for (int64_t k = 1 - n; k < n; k++) {
        szg_c64 a = szg_toeplitz_at(t, k);
        out->lags[k] = (szg_c64){ldexp(a.re, -out->exponent), ldexp(a.im, -out->exponent)};
    }
    for (int64_t k = 0; k < n; k++)
        out->real[k] = out->lags[k].re;
    return SZG_OK;
}

static double kept(double x) {
    return fabs(x) < NEGLIGIBLE ? 0 : x;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void half_entries(const void *data, int64_t row, int64_t column, int64_t count,
                         double *out) {
    const shared_lags *self = data;
    for (int64_t i = row; i < row + count; i++)
        out[i - row] = kept(szgi_halves_entry(self->real, self->n, self->odd, larger(i, column),
                                              smaller(i, column)));
}

static void mapped_entries(const void *data, int64_t row, int64_t column, int64_t count,
                           double *out) {
    const shared_lags *self = data;
    for (int64_t i = row; i < row + count; i++)
        out[i - row] =
            kept(szgi_mapped_entry(self->lags, self->n, larger(i, column), smaller(i, column)));
}

static void real_entries(const void *data, int64_t row, int64_t column, int64_t count,
                         double *out) {
    const shared_lags *self = data;
    for (int64_t i = 0; i < count; i++)
        out[i] = kept(self->lags[row + i - column].re);
}

static void complex_entries(const void *data, int64_t row, int64_t column, int64_t count,
                            double *out) {
    const shared_lags *self = data;
    for (int64_t i = 0; i < count; i++) {
        out[2 * i] = kept(self->lags[row + i - column].re);
        out[2 * i + 1] = kept(self->lags[row + i - column].im);
    }
}

/* The part of all processes of this machine, `rows` by `columns` numbers of the whole work: the
 * kernel gives each memory that there is only once, and then kills one. */
static szg_status require_part(szg_context *context, int64_t rows, int64_t columns, size_t size,
                               const char *what) {
    const szgi_distributed_ops *ops = szgi_distributed_of(context);
    int64_t here = (columns * ops->neighbours + ops->processes - 1) / ops->processes;
    return szgi_memory_require(context, rows, here, size, what,
                               "start more processes, on more machines");
}

static szg_status eigenvalues(szg_context *context, const szgi_distributed_matrix *matrix,
                              double *w) {
    SZG_TRY(require_part(context, matrix->n, ELPA_PARTS * matrix->n,
                         matrix->is_complex ? sizeof(szg_c64) : sizeof(double),
                         "this machine's part of the matrix, and ELPA's work,"));
    return szgi_distributed_of(context)->eigenvalues(context, matrix, w);
}

/* One matrix, or two halves one after the other. */
static szg_status solve(szg_context *context, const szg_toeplitz *t, bool dense, bool one_stage,
                        shared_lags *lags, double *w) {
    szgi_distributed_matrix matrix = {.n = lags->n, .one_stage = one_stage, .data = lags};
    bool real = szgi_toeplitz_is_real(t);
    if (dense) {
        matrix.is_complex = !real;
        matrix.entries = real ? real_entries : complex_entries;
        return eigenvalues(context, &matrix, w);
    }
    if (!real) {
        matrix.entries = mapped_entries;
        return eigenvalues(context, &matrix, w);
    }
    matrix.entries = half_entries;
    for (lags->odd = 0; lags->odd < 2; lags->odd++) {
        matrix.n = lags->odd ? lags->n / 2 : lags->n - lags->n / 2;
        SZG_TRY(eigenvalues(context, &matrix, lags->odd ? w + lags->n - matrix.n : w));
    }
    szgi_sort_ascending(lags->n, w);
    return SZG_OK;
}

static szg_status values_once(szg_context *context, const szg_toeplitz *t,
                              const szgi_selection *selection, bool dense, bool one_stage,
                              shared_lags *lags, double *w, szg_spectrum *out) {
    SZG_TRY(solve(context, t, dense, one_stage, lags, w));
    for (int64_t i = 0; i < lags->n; i++)
        w[i] = ldexp(w[i], lags->exponent);
    SZG_TRY(szgi_spectrum_from_values(context, selection, w, out));
    return szgi_spectrum_check(context, lags->n, w, szgi_toeplitz_trace(t).re,
                               szgi_toeplitz_norm_frobenius(t), out);
}

static szg_method method_of(const szg_toeplitz *t, bool dense) {
    if (dense)
        return SZG_METHOD_SHARED_DENSE;
    return szgi_toeplitz_is_real(t) ? SZG_METHOD_SHARED_HALVES : SZG_METHOD_SHARED_MAPPED;
}

/* Every process has the same values, and so finds the same defect. */
szg_status szgi_shared_values(szg_context *context, const szg_toeplitz *t,
                              const szgi_selection *selection, bool dense, szg_spectrum *out) {
    shared_lags lags;
    double *w = NULL;
    bool again = false;
    SZG_TRY(szgi_backend_prepare(context)); /* ELPA calls BLAS */
    SZG_TRY(check_input(context, t));
    SZG_TRY(open_lags(context, t, &lags));
    szg_status status = szgi_memory_alloc(context, lags.n, &w);
    if (status == SZG_OK)
        status = values_once(context, t, selection, dense, false, &lags, w, out);
    if (status == SZG_ENOCONV) {
        again = true;
        szg_spectrum_close(out);
        status = values_once(context, t, selection, dense, true, &lags, w, out);
    }
    szgi_memory_free(w);
    close_lags(&lags);
    out->normal = true;
    out->method = method_of(t, dense);
    out->note = again ? one_stage_note : NULL;
    return szgi_spectrum_finish(status, out);
}

/* ---- The ends ---- */

/* ARPACK's tolerance is relative to each value, but to eps^(2/3) = 3.7e-11 at least: the largest
 * coefficient is brought to [1, 2). */
typedef struct searched {
    const szg_toeplitz *t;
    double scale; /* a power of two */
} searched;

static szg_c64 search_lag(const void *data, int64_t lag) {
    const searched *self = data;
    szg_c64 a = szg_toeplitz_at(self->t, lag);
    return (szg_c64){a.re * self->scale, a.im * self->scale};
}

static void unscale(const searched *self, int64_t k, szgi_distributed_end *end) {
    for (int64_t i = 0; i < k; i++) {
        end->values[i] /= self->scale;
        end->residuals[i] /= self->scale;
    }
}

static void search_start(const void *data, int64_t first, int64_t count, double *out) {
    (void)data;
    szgi_stream start = {.seed = 20250513u};
    szgi_random_fill_normal(&start, (uint64_t)first, count, out);
}

/* An end that was not reached is NaN; several values say by their errors what they are worth. */
static void settle(const szgi_distributed_search *search, const szgi_distributed_end *end,
                   double rounding, double *errors, double *worst) {
    double sums = 1 + (double)search->n * DBL_EPSILON;
    bool there = end->converged || (end->there && search->k > 1);
    for (int64_t i = 0; i < search->k; i++) {
        if (!there)
            end->values[i] = NAN;
        errors[i] =
            there ? sums * (end->residuals[i] + rounding) + 4 * DBL_EPSILON * fabs(end->values[i])
                  : NAN;
        if (there)
            *worst = szgi_larger(*worst, end->residuals[i]);
    }
}

static szg_status run_search(szg_context *context, const szg_toeplitz *t,
                             const szgi_distributed_search *search, double *residuals,
                             szg_spectrum *out, bool *complete) {
    int64_t k = search->k;
    double worst = 0, rounding = szgi_toeplitz_transform_error(t);
    szgi_distributed_end ends[2] = {{.values = out->re, .residuals = residuals},
                                    {.values = out->re + k, .residuals = residuals + k}};
    int64_t width = search->is_complex ? 2 : 1;
    SZG_TRY(szgi_spectrum_errors(context, NAN, out));
    SZG_TRY(require_part(
        context, (2 * k + LANCZOS_VECTORS + CIRCULANT_PACKED) * width + CIRCULANT_DOUBLES,
        search->n, sizeof(double), "this machine's part of the vectors of Lanczos"));
    SZG_TRY(szgi_distributed_of(context)->extremes(context, search, ends));
    unscale(search->data, k, &ends[0]);
    unscale(search->data, k, &ends[1]);
    settle(search, &ends[0], rounding, out->error, &worst);
    settle(search, &ends[1], rounding, out->error + k, &worst);
    szgi_extremes_conclude(k, ends[0].converged, ends[1].converged, worst, out, complete);
    if (out->count > 0) {
        out->method = SZG_METHOD_SHARED_LANCZOS;
        out->trace = szgi_toeplitz_trace(t).re;
        out->frobenius = szgi_toeplitz_norm_frobenius(t);
    }
    return SZG_OK;
}

szg_status szgi_shared_extremes(szg_context *context, const szg_toeplitz *t,
                                const szgi_selection *selection, szg_spectrum *out,
                                bool *complete) {
    const searched scaled = {t, szgi_unit_scale(szgi_toeplitz_largest_part(t))};
    const szgi_distributed_search search = {.n = selection->n,
                                            .k = selection->high,
                                            .restarts = RESTARTS,
                                            .is_complex = !szgi_toeplitz_is_real(t),
                                            .tolerance = TOLERANCE,
                                            .lag = search_lag,
                                            .start = search_start,
                                            .data = &scaled};
    double *residuals;
    *complete = false;
    SZG_TRY(szgi_backend_prepare(context)); /* ARPACK calls BLAS */
    SZG_TRY(check_input(context, t));
    SZG_TRY(szgi_memory_alloc(context, 2 * search.k, &residuals));
    szg_status status = szgi_spectrum_open(context, selection->n, szgi_selection_count(selection),
                                           SZG_SPECTRUM_EIGENVALUE, false, out);
    if (status == SZG_OK)
        status = run_search(context, t, &search, residuals, out, complete);
    szgi_memory_free(residuals);
    return szgi_spectrum_finish(status, out);
}
