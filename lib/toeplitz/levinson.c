/* Levinson's recursion for any Toeplitz matrix with regular leading minors. Complex vectors are
 * held as separate real and imaginary parts, and real problems have no imaginary ones.
 *
 * With T_k the leading k x k block and D_k its determinant, step k holds the predictors a and b,
 *     T_k a = (E_k, 0, .., 0)^T, a_0 = 1,    T_k b = (0, .., 0, E_k)^T, b_{k-1} = 1,
 * with E_k = D_k / D_{k-1} for both, and the solution x of T_k x = (y_0, .., y_{k-1})^T. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "toeplitz_private.h"

typedef struct split {
    double *re, *im; /* im NULL: real */
} split;

typedef struct levinson {
    const szg_toeplitz *t;
    int64_t n;
    split
        lags; /* a_{n-1}, .., a_0, .., a_{-(n-1)}: lag n - 1 - i at i, so that sums run forwards */
    split a, b, x;
    const szgi_reflection *reflection;
    double *memory;
} levinson;

static szg_c64 multiply(szg_c64 x, szg_c64 y) {
    return (szg_c64){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static szg_c64 divide(szg_c64 x, szg_c64 y) {
    double scale = fmax(fabs(y.re), fabs(y.im));
    szg_c64 unit = {y.re / scale, y.im / scale};
    double square = unit.re * unit.re + unit.im * unit.im;
    szg_c64 product = multiply(x, (szg_c64){unit.re, -unit.im});
    return (szg_c64){product.re / square / scale, product.im / square / scale};
}

static szg_c64 get(split v, int64_t i) {
    return (szg_c64){v.re[i], v.im ? v.im[i] : 0};
}

/* sum_j lags[at + j] v_j over `count` terms */
static szg_c64 correlate(const levinson *s, int64_t at, int64_t count, split v) {
    const double *re = s->lags.re + at;
    if (!v.im)
        return (szg_c64){szgi_dot(count, re, v.re), 0};
    const double *im = s->lags.im + at;
    return (szg_c64){szgi_dot(count, re, v.re) - szgi_dot(count, im, v.im),
                     szgi_dot(count, re, v.im) + szgi_dot(count, im, v.re)};
}

/* v := v + f w over `count` terms */
static void add(int64_t count, szg_c64 f, split w, split v) {
    for (int64_t i = 0; i < count; i++)
        v.re[i] += f.re * w.re[i];
    if (!v.im)
        return;
    for (int64_t i = 0; i < count; i++) {
        v.re[i] -= f.im * w.im[i];
        v.im[i] += f.re * w.im[i] + f.im * w.re[i];
    }
}

/* (a; 0) and (0; b) become (a; 0) - f (0; b) and (0; b) - g (a; 0), k + 1 numbers each. */
static void extend(int64_t k, szg_c64 f, szg_c64 g, split a, split b) {
    for (int64_t j = k; j >= 0; j--) {
        szg_c64 p = j < k ? get(a, j) : (szg_c64){0, 0};
        szg_c64 q = j > 0 ? get(b, j - 1) : (szg_c64){0, 0};
        a.re[j] = p.re - (f.re * q.re - f.im * q.im);
        b.re[j] = q.re - (g.re * p.re - g.im * p.im);
        if (a.im) {
            a.im[j] = p.im - (f.re * q.im + f.im * q.re);
            b.im[j] = q.im - (g.re * p.im + g.im * p.re);
        }
    }
}

static szg_status open_state(szg_context *context, const szg_toeplitz *t, levinson *s) {
    int64_t n = t->n, parts = t->real ? 1 : 2, count;
    SZG_TRY(szgi_memory_product(context, 5 * parts, n, &count));
    SZG_TRY(szgi_memory_alloc(context, count, &s->memory));
    double *at = s->memory;
    split *part[] = {&s->a, &s->b, &s->x, &s->lags};
    for (int i = 0; i < 4; i++) {
        int64_t length = i == 3 ? 2 * n : n;
        part[i]->re = at;
        part[i]->im = t->real ? NULL : at + length;
        at += parts * length;
    }
    for (int64_t i = 0; i < 2 * n - 1; i++) {
        szg_c64 value = szg_toeplitz_at(t, n - 1 - i);
        s->lags.re[i] = value.re;
        if (s->lags.im)
            s->lags.im[i] = value.im;
    }
    s->t = t;
    s->n = n;
    return SZG_OK;
}

static szg_status check_minor(szg_context *context, int64_t order, szg_c64 e, double scale) {
    double modulus = hypot(e.re, e.im);
    if (modulus > (double)order * 0x1p-52 * scale)
        return SZG_OK;
    return szgi_fail(
        context, SZG_EDOMAIN,
        "Levinson: the leading minor of order %" PRId64
        " is singular to working precision (|D_%" PRId64 " / D_%" PRId64
        "| = %.3g, largest coefficient %.3g): use conjugate gradients, or a dense solver",
        order, order, order - 1, modulus, scale);
}

static double largest_coefficient(const szg_toeplitz *t) {
    double largest = 0;
    for (int64_t lag = -t->degree; lag <= t->degree; lag++) {
        szg_c64 a = szg_toeplitz_at(t, lag);
        largest = fmax(largest, hypot(a.re, a.im));
    }
    return largest;
}

/* From order k to k + 1: the predictors and E. */
static void step(levinson *s, int64_t k, szg_c64 *e) {
    szg_c64 eta = correlate(s, s->n - 1 - k, k, s->a), xi = correlate(s, s->n, k, s->b);
    szg_c64 f = divide(eta, *e), g = divide(xi, *e), loss = multiply(f, xi);
    extend(k, f, g, s->a, s->b);
    *e = (szg_c64){e->re - loss.re, e->im - loss.im};
    if (s->reflection && s->reflection->forward)
        s->reflection->forward[k - 1] = f;
    if (s->reflection && s->reflection->backward)
        s->reflection->backward[k - 1] = g;
}

/* y: the right-hand side, `stride` doubles from one number to the next (2 for complex). */
static szg_status recur(szg_context *context, levinson *s, const double *y, int stride) {
    double scale = largest_coefficient(s->t);
    szg_c64 e = szg_toeplitz_at(s->t, 0);
    s->a.re[0] = s->b.re[0] = 1;
    for (int64_t k = 0; k < s->n; k++) {
        if (k > 0)
            step(s, k, &e);
        SZG_TRY(check_minor(context, k + 1, e, scale));
        szg_c64 known = correlate(s, s->n - 1 - k, k, s->x);
        szg_c64 rest = {y[k * stride] - known.re, stride == 2 ? y[k * stride + 1] - known.im : 0};
        add(k + 1, divide(rest, e), s->b, s->x);
        if (k % 256 == 0) {
            szgi_progress(context, "levinson", k, s->n);
            SZG_TRY(szgi_context_check_cancel(context));
        }
    }
    return SZG_OK;
}

static szg_status solve(szg_context *context, const szg_toeplitz *t, const double *b, int stride,
                        double *x, const szgi_reflection *reflection) {
    for (int64_t i = 0; i < t->n * stride; i++)
        if (!isfinite(b[i]))
            return szgi_fail(context, SZG_EDATA, "right-hand side: entry %" PRId64 " is %g",
                             i / stride, b[i]);
    levinson s = {.reflection = reflection};
    SZG_TRY(open_state(context, t, &s));
    szg_status status = recur(context, &s, b, stride);
    for (int64_t i = 0; status == SZG_OK && i < t->n; i++) {
        x[i * stride] = s.x.re[i];
        if (stride == 2)
            x[2 * i + 1] = s.x.im[i];
    }
    szgi_memory_free(s.memory);
    return status;
}

/* ||b - T x|| / (||T||_F ||x|| + ||b||), from the product t_x = T x, which is overwritten. */
static double backward_error(const szg_toeplitz *t, int64_t count, const double *b, const double *x,
                             double *t_x) {
    for (int64_t i = 0; i < count; i++)
        t_x[i] = b[i] - t_x[i];
    double bound = szgi_toeplitz_norm_frobenius(t) * szgi_norm(count, x) + szgi_norm(count, b);
    return bound == 0 ? 0 : szgi_norm(count, t_x) / bound;
}

szg_status szgi_toeplitz_solve(szg_context *context, const szg_toeplitz *t, const double *b,
                               double *x, const szgi_reflection *reflection, double *residual) {
    if (!t->real)
        return szgi_fail(context, SZG_EINVAL,
                         "Levinson: the matrix is complex, and the vectors are real");
    SZG_TRY(solve(context, t, b, 1, x, reflection));
    if (!residual)
        return SZG_OK;
    double *product;
    SZG_TRY(szgi_memory_alloc(context, t->n, &product));
    szg_status status = szg_toeplitz_apply(context, t, 'n', 1, x, t->n, product, t->n);
    if (status == SZG_OK)
        *residual = backward_error(t, t->n, b, x, product);
    szgi_memory_free(product);
    return status;
}

/* A real matrix and a complex right-hand side: the real and the imaginary part in turn. */
static szg_status solve_parts(szg_context *context, const szg_toeplitz *t, const szg_c64 *b,
                              szg_c64 *x, const szgi_reflection *reflection) {
    double *memory;
    SZG_TRY(szgi_memory_alloc(context, 3 * t->n, &memory));
    double *part = memory, *re = memory + t->n, *im = re + t->n;
    szg_status status;
    for (int64_t i = 0; i < t->n; i++)
        part[i] = b[i].re;
    SZG_TRY_GOTO(status, solve(context, t, part, 1, re, reflection), end);
    for (int64_t i = 0; i < t->n; i++)
        part[i] = b[i].im;
    SZG_TRY_GOTO(status, solve(context, t, part, 1, im, NULL), end);
    for (int64_t i = 0; i < t->n; i++)
        x[i] = (szg_c64){re[i], im[i]};
end:
    szgi_memory_free(memory);
    return status;
}

szg_status szgi_toeplitz_solve_complex(szg_context *context, const szg_toeplitz *t,
                                       const szg_c64 *b, szg_c64 *x,
                                       const szgi_reflection *reflection, double *residual) {
    SZG_TRY(t->real ? solve_parts(context, t, b, x, reflection)
                    : solve(context, t, &b->re, 2, &x->re, reflection));
    if (!residual)
        return SZG_OK;
    szg_c64 *product;
    SZG_TRY(szgi_memory_alloc(context, t->n, &product));
    szg_status status = szgi_toeplitz_apply_complex(context, t, 'n', 1, x, t->n, product, t->n);
    if (status == SZG_OK)
        *residual = backward_error(t, 2 * t->n, &b->re, &x->re, &product->re);
    szgi_memory_free(product);
    return status;
}
