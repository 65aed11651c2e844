/* T^-1 = (L(x) L(x)^* - L(y) L(y)^*) / x_0 with x = T^-1 e_0 the first column, y = (0, conj
 * x_{n-1},
 * .., conj x_1), and L(v) the lower triangular Toeplitz matrix whose first column is v (Gohberg and
 * Semencul 1972). One solve, and each product with T^-1 is six transforms of length 2 n, or of half
 * of that where inverse_packed.c serves. */
#include "toeplitz/inverse_private.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "toeplitz_private.h"

/* What stalls later than this converges too slowly to be worth it. */
enum { CG_STEPS = 100 };
static const double TOLERANCE = 1e-13, RESIDUAL_MAX = 0x1p-10;

struct szgi_inverse {
    int64_t n;
    szgi_inverse_packed *packed; /* if it serves; then the rest is empty */
    int64_t length, values;      /* of the transforms, and how many values they have */
    int width;                   /* real numbers in a number: 1 or 2 */
    szgi_fft *forward, *backward;
    szg_c64 *spectrum[2]; /* of x and y over length sqrt(x_0) */
    /* scratch: the transform of the argument, and one of each for each triangle */
    szg_c64 *transform, *part[2];
    double *vector[2];
};

void szgi_inverse_close(szgi_inverse **inverse) {
    szgi_inverse *self = *inverse;
    if (!self)
        return;
    szgi_inverse_packed_close(&self->packed);
    szgi_fft_close(&self->forward);
    szgi_fft_close(&self->backward);
    for (int i = 0; i < 2; i++) {
        szgi_memory_free(self->spectrum[i]);
        szgi_memory_free(self->part[i]);
        szgi_memory_free(self->vector[i]);
    }
    szgi_memory_free(self->transform);
    szgi_memory_free(self);
    *inverse = NULL;
}

/* ---- The first column ---- */

static szg_status solve_with(szg_context *context, const szg_toeplitz *t,
                             szgi_preconditioner preconditioner, const double *e, double *x) {
    szgi_cg_options options = {
        .preconditioner = preconditioner, .tolerance = TOLERANCE, .iterations = CG_STEPS};
    szgi_cg_result result = {0};
    szg_status status = t->real ? szgi_toeplitz_cg(context, t, &options, e, x, &result)
                                : szgi_toeplitz_cg_complex(context, t, &options, (const szg_c64 *)e,
                                                           (szg_c64 *)x, &result);
    return status == SZG_ENOCONV && result.residual <= RESIDUAL_MAX ? SZG_OK : status;
}

static szg_status find_column(szg_context *context, const szg_toeplitz *t, const double *e,
                              int64_t count, double *x) {
    szg_status status = solve_with(context, t, SZGI_PRECONDITIONER_STRANG, e, x);
    if (status == SZG_EDOMAIN || status == SZG_ENOCONV) {
        memset(x, 0, (size_t)count * sizeof *x);
        status = solve_with(context, t, SZGI_PRECONDITIONER_TCHAN, e, x);
    }
    if (status == SZG_OK && !(x[0] > 0))
        return szgi_fail(context, SZG_EDOMAIN,
                         "the inverse of a Toeplitz matrix: its first entry is %.3g, so that the "
                         "matrix is not positive definite",
                         x[0]);
    return status;
}

/* x: `count` zeros. */
static szg_status first_column(szg_context *context, const szg_toeplitz *t, int64_t count,
                               double *x) {
    double *e;
    SZG_TRY(szgi_memory_alloc(context, count, &e));
    e[0] = 1;
    szg_status status = find_column(context, t, e, count, x);
    szgi_memory_free(e);
    return status;
}

/* ---- Opening ---- */

static szg_status open_arrays(szg_context *context, szgi_inverse *self) {
    bool real = self->width == 1;
    self->length = szgi_fft_fast_length(2 * self->n);
    self->values = real ? self->length / 2 + 1 : self->length;
    SZG_TRY(szgi_memory_require(context, self->length, 8 * self->width, sizeof(double),
                                "the inverse of the shifted matrix", "take a smaller order"));
    SZG_TRY(szgi_fft_open(context, real ? SZGI_FFT_REAL : SZGI_FFT_FORWARD, self->length, 1,
                          &self->forward));
    SZG_TRY(szgi_fft_open(context, real ? SZGI_FFT_REAL_BACKWARD : SZGI_FFT_BACKWARD, self->length,
                          1, &self->backward));
    SZG_TRY(szgi_memory_alloc(context, self->values, &self->transform));
    for (int i = 0; i < 2; i++) {
        SZG_TRY(szgi_memory_alloc(context, self->values, &self->spectrum[i]));
        SZG_TRY(szgi_memory_alloc(context, self->values, &self->part[i]));
        SZG_TRY(szgi_memory_alloc(context, self->length * self->width, &self->vector[i]));
    }
    return SZG_OK;
}

/* Zeros from number n of a transform's argument on. */
static void pad(const szgi_inverse *self, double *vector) {
    int64_t first = self->n * self->width, count = self->length * self->width;
    memset(vector + first, 0, (size_t)(count - first) * sizeof *vector);
}

static szg_status transform_column(szg_context *context, szgi_inverse *self, int which,
                                   double scale) {
    szg_c64 *spectrum = self->spectrum[which];
    pad(self, self->vector[which]);
    SZG_TRY(szgi_fft_run(context, self->forward, self->vector[which], spectrum));
    for (int64_t j = 0; j < self->values; j++)
        spectrum[j] = (szg_c64){spectrum[j].re * scale, spectrum[j].im * scale};
    return SZG_OK;
}

static szg_status fill(szg_context *context, const double *column, szgi_inverse *self) {
    double *x = self->vector[0], *y = self->vector[1];
    int64_t n = self->n;
    memcpy(x, column, (size_t)(n * self->width) * sizeof *x);
    double scale = 1 / ((double)self->length * sqrt(x[0]));
    memset(y, 0, (size_t)self->width * sizeof *y);
    for (int64_t k = 1; k < n; k++)
        for (int part = 0; part < self->width; part++) {
            double value = x[(n - k) * self->width + part];
            y[k * self->width + part] = part == 0 ? value : -value;
        }
    SZG_TRY(transform_column(context, self, 0, scale));
    return transform_column(context, self, 1, scale);
}

static bool is_packed(const szg_toeplitz *t) {
    return t->real && szgi_inverse_packed_serves(t->n);
}

/* inverse_packed.c has spectra of n, turns of n and parts of n / 2 complex numbers. Here spectra
 * and the three transforms have n + 1 of them and `vector` twice 2 n real ones, or twice that. */
int64_t szgi_inverse_vectors(const szg_toeplitz *t) {
    return is_packed(t) ? 7 : t->real ? 14 : 28;
}

static szg_status open_from(szg_context *context, const szg_toeplitz *t, const double *column,
                            szgi_inverse *self) {
    if (is_packed(t))
        return szgi_inverse_packed_open(context, self->n, column, &self->packed);
    SZG_TRY(open_arrays(context, self));
    return fill(context, column, self);
}

szg_status szgi_inverse_open(szg_context *context, const szg_toeplitz *t, szgi_inverse **out) {
    szgi_inverse *self;
    double *column = NULL;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    self->n = t->n;
    self->width = t->real ? 1 : 2;
    szg_status status = szgi_memory_alloc(context, self->n * self->width, &column);
    if (status == SZG_OK)
        status = first_column(context, t, self->n * self->width, column);
    if (status == SZG_OK)
        status = open_from(context, t, column, self);
    szgi_memory_free(column);
    if (status != SZG_OK)
        szgi_inverse_close(&self);
    *out = self;
    return status;
}

/* ---- Products ---- */

/* to = x y, or x conj(y). */
static void multiply(int64_t count, const szg_c64 *x, const szg_c64 *y, bool conjugate,
                     szg_c64 *to) {
    for (int64_t j = 0; j < count; j++)
        to[j] = szgi_multiply(x[j], conjugate ? szgi_conjugate(y[j]) : y[j]);
}

/* The transform of L L^* z. L^* z is a correlation; what wraps around meets the zeros behind x. */
static szg_status run_triangle(szg_context *context, void *argument, int64_t which, int worker) {
    szgi_inverse *self = argument;
    szg_c64 *part = self->part[which], *spectrum = self->spectrum[which];
    (void)worker;
    multiply(self->values, self->transform, spectrum, true, part);
    SZG_TRY(szgi_fft_run(context, self->backward, part, self->vector[which]));
    pad(self, self->vector[which]);
    SZG_TRY(szgi_fft_run(context, self->forward, self->vector[which], part));
    multiply(self->values, part, spectrum, false, part);
    return SZG_OK;
}

szg_status szgi_inverse_apply(szg_context *context, szgi_inverse *self, const double *x,
                              double *y) {
    if (self->packed)
        return szgi_inverse_packed_apply(context, self->packed, x, y);
    size_t size = (size_t)(self->n * self->width) * sizeof *x;
    szg_c64 *plus = self->part[0], *minus = self->part[1];
    memcpy(self->vector[0], x, size);
    pad(self, self->vector[0]);
    SZG_TRY(szgi_fft_run(context, self->forward, self->vector[0], self->transform));
    SZG_TRY(szgi_pool_run(context, 2, run_triangle, self));
    for (int64_t j = 0; j < self->values; j++)
        plus[j] = (szg_c64){plus[j].re - minus[j].re, plus[j].im - minus[j].im};
    SZG_TRY(szgi_fft_run(context, self->backward, plus, self->vector[0]));
    memcpy(y, self->vector[0], size);
    return SZG_OK;
}
