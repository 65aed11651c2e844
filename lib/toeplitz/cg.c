/* Preconditioned conjugate gradients. A Hermitian problem of order n is a symmetric one in 2 n real
 * numbers whose inner product is Re x^* y, and Hermitian curvatures are real: so one recursion
 * serves both, and only the products know the difference. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "toeplitz_private.h"

typedef struct cg_state {
    const szg_toeplitz *t;
    bool complex;
    int64_t count; /* real numbers in a vector */
    double *memory, *r, *z, *p, *q;
    szgi_circulant preconditioner; /* spectrum NULL: none */
    szgi_circulant_work work;
} cg_state;

static szg_status multiply(szg_context *context, const cg_state *s, const double *x, double *y) {
    int64_t n = s->t->n;
    return s->complex ? szgi_toeplitz_apply_complex(context, s->t, 'n', 1, (const szg_c64 *)x, n,
                                                    (szg_c64 *)y, n)
                      : szg_toeplitz_apply(context, s->t, 'n', 1, x, n, y, n);
}

static szg_status precondition(szg_context *context, cg_state *s, const double *r, double *z) {
    int64_t n = s->t->n;
    if (!s->preconditioner.spectrum) {
        memcpy(z, r, (size_t)s->count * sizeof *z);
        return SZG_OK;
    }
    return s->complex
               ? szgi_circulant_run_complex(context, &s->preconditioner, &s->work, 'n', n,
                                            (const szg_c64 *)r, (szg_c64 *)z)
               : szgi_circulant_run(context, &s->preconditioner, &s->work, 'n', n, r, z, false);
}

/* Eigenvalues w of the circulant become those of its inverse over n. T. Chan's are Rayleigh
 * quotients of T (its diagonal in the Fourier basis): one that is not positive decides. Strang's
 * may be negative for a positive definite T: moduli, kept away from 0, are positive definite
 * whatever they are. */
static szg_status invert(szg_context *context, szgi_preconditioner which, int64_t n, szg_c64 *w) {
    double largest = 0;
    for (int64_t j = 0; j < n; j++)
        largest = fmax(largest, fabs(w[j].re));
    for (int64_t j = 0; j < n; j++) {
        if (which == SZGI_PRECONDITIONER_TCHAN && !(w[j].re > 0))
            return szgi_fail(
                context, SZG_EDOMAIN,
                "conjugate gradients: the matrix is not positive definite: its Rayleigh "
                "quotient at Fourier vector %" PRId64 " is %.3g",
                j, w[j].re);
        double value = fmax(fabs(w[j].re), largest * 0x1p-40);
        w[j] = (szg_c64){1 / (value * (double)n), 0};
    }
    return SZG_OK;
}

static szg_status open_preconditioner(szg_context *context, szgi_preconditioner which,
                                      cg_state *s) {
    if (which == SZGI_PRECONDITIONER_NONE)
        return SZG_OK;
    int64_t n = s->t->n;
    s->preconditioner = (szgi_circulant){.length = n, .real = !s->complex};
    SZG_TRY(szgi_memory_alloc(context, n, &s->preconditioner.spectrum));
    SZG_TRY(szgi_circulant_eigenvalues(context, s->t, which, s->preconditioner.spectrum));
    SZG_TRY(invert(context, which, n, s->preconditioner.spectrum));
    return szgi_circulant_work_open(context, n, s->complex, &s->work);
}

static szg_status open_state(szg_context *context, szgi_preconditioner which, cg_state *s) {
    SZG_TRY(szgi_memory_alloc(context, 4 * s->count, &s->memory));
    s->r = s->memory;
    s->z = s->r + s->count;
    s->p = s->z + s->count;
    s->q = s->p + s->count;
    return open_preconditioner(context, which, s);
}

static void close_state(cg_state *s) {
    szgi_circulant_close(&s->preconditioner);
    szgi_circulant_work_close(&s->work);
    szgi_memory_free(s->memory);
}

static void add(int64_t count, double factor, const double *x, double *y) {
    for (int64_t i = 0; i < count; i++)
        y[i] += factor * x[i];
}

static szg_status true_residual(szg_context *context, cg_state *s, const double *b,
                                const double *x) {
    SZG_TRY(multiply(context, s, x, s->r));
    for (int64_t i = 0; i < s->count; i++)
        s->r[i] = b[i] - s->r[i];
    return SZG_OK;
}

/* One step along p; *rz is r^T z before and after. */
static szg_status step(szg_context *context, cg_state *s, int64_t iteration, double *x,
                       double *rz) {
    SZG_TRY(multiply(context, s, s->p, s->q));
    double curvature = szgi_dot(s->count, s->p, s->q);
    if (!(curvature > 0))
        return szgi_fail(context, SZG_EDOMAIN,
                         "conjugate gradients: the matrix is not positive definite to working "
                         "precision: p^T T p / p^T p = %.3g in iteration %" PRId64,
                         curvature / szgi_dot(s->count, s->p, s->p), iteration);
    add(s->count, *rz / curvature, s->p, x);
    add(s->count, -*rz / curvature, s->q, s->r);
    SZG_TRY(precondition(context, s, s->r, s->z));
    double next = szgi_dot(s->count, s->r, s->z);
    for (int64_t i = 0; i < s->count; i++)
        s->p[i] = s->z[i] + next / *rz * s->p[i];
    *rz = next;
    return SZG_OK;
}

/* Runs until the recursive residual meets the tolerance, or the iterations are used up. */
static szg_status iterate(szg_context *context, cg_state *s, double goal, int64_t most, double *x,
                          int64_t *iterations) {
    SZG_TRY(precondition(context, s, s->r, s->z));
    memcpy(s->p, s->z, (size_t)s->count * sizeof *s->p);
    double rz = szgi_dot(s->count, s->r, s->z);
    while (!(szgi_norm(s->count, s->r) <= goal) && *iterations < most) {
        SZG_TRY(step(context, s, ++*iterations, x, &rz));
        szgi_progress(context, "conjugate gradients", *iterations, most);
        SZG_TRY(szgi_context_check_cancel(context));
    }
    szgi_progress(context, "conjugate gradients", most, most);
    return SZG_OK;
}

static szg_status check_input(szg_context *context, const cg_state *s,
                              const szgi_cg_options *options, const double *b, const double *x) {
    if (!szgi_toeplitz_is_hermitian(s->t))
        return szgi_fail(context, SZG_EDOMAIN,
                         "conjugate gradients: the matrix is not of a Hermitian kind");
    double tolerance = options->tolerance;
    bool sound = tolerance == 0 || (tolerance >= 0x1p-52 && tolerance < 1);
    if ((unsigned)options->preconditioner >= SZGI_PRECONDITIONERS || options->iterations < 0 ||
        !sound)
        return szgi_fail(context, SZG_EINVAL,
                         "conjugate gradients: preconditioner %d, tolerance %g or %" PRId64
                         " iterations out of range",
                         (int)options->preconditioner, tolerance, options->iterations);
    for (int64_t i = 0; i < s->count; i++)
        if (!isfinite(b[i]) || !isfinite(x[i]))
            return szgi_fail(context, SZG_EDATA,
                             "conjugate gradients: number %" PRId64
                             " of the right-hand side or of the first guess is not finite",
                             i);
    return SZG_OK;
}

/* The recursive residual drifts from the true one: a few restarts from the latter. */
static szg_status run(szg_context *context, cg_state *s, const szgi_cg_options *options,
                      const double *b, double *x, szgi_cg_result *result) {
    double tolerance = options->tolerance > 0 ? options->tolerance : 1e-12;
    int64_t most = options->iterations > 0 ? options->iterations : 10 * s->t->n + 100;
    double size = szgi_norm(s->count, b), before = INFINITY;
    if (size == 0) {
        memset(x, 0, (size_t)s->count * sizeof *x);
        return SZG_OK;
    }
    for (;;) {
        SZG_TRY(true_residual(context, s, b, x));
        result->residual = szgi_norm(s->count, s->r) / size;
        if (result->residual <= tolerance)
            return SZG_OK;
        if (result->iterations >= most || !(result->residual < before / 2))
            return szgi_fail(context, SZG_ENOCONV,
                             "conjugate gradients: residual %.3g after %" PRId64
                             " iterations, %.3g was asked for",
                             result->residual, result->iterations, tolerance);
        before = result->residual;
        SZG_TRY(iterate(context, s, tolerance * size, most, x, &result->iterations));
    }
}

static szg_status solve(szg_context *context, const szg_toeplitz *t, bool complex,
                        const szgi_cg_options *options, const double *b, double *x,
                        szgi_cg_result *result) {
    const szgi_cg_options defaults = {0};
    options = options ? options : &defaults;
    *result = (szgi_cg_result){0};
    cg_state s = {.t = t, .complex = complex, .count = complex ? 2 * t->n : t->n};
    SZG_TRY(check_input(context, &s, options, b, x));
    szg_status status = open_state(context, options->preconditioner, &s);
    if (status == SZG_OK)
        status = run(context, &s, options, b, x, result);
    close_state(&s);
    return status;
}

szg_status szgi_toeplitz_cg(szg_context *context, const szg_toeplitz *t,
                            const szgi_cg_options *options, const double *b, double *x,
                            szgi_cg_result *result) {
    if (!t->real)
        return szgi_fail(context, SZG_EINVAL,
                         "conjugate gradients: the matrix is complex, and the vectors are real");
    return solve(context, t, false, options, b, x, result);
}

szg_status szgi_toeplitz_cg_complex(szg_context *context, const szg_toeplitz *t,
                                    const szgi_cg_options *options, const szg_c64 *b, szg_c64 *x,
                                    szgi_cg_result *result) {
    return solve(context, t, true, options, &b->re, &x->re, result);
}
