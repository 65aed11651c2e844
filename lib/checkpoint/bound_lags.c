/* A bound mu is tried at every lag: mu^2 H - R Q R^T has a Cholesky factor. Where it has none, the
 * largest product at that lag is computed, and mu becomes a little more than it: what was proved
 * for a smaller mu still holds. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "bound_kernels.h"
#include "bound_lags.h"
#include "bound_lanes.h"

/* Twice k u, as in bound_norm.c: at least gamma_k. */
static double gamma_above(double k) {
    return k * DBL_EPSILON;
}

/* By how much the bound may exceed the maximum: each failure raises mu by as much at least. */
static const double tolerance = 0.005;

/* Lags whose angles are found from one another, and lags that are tried together. */
enum { BLOCK = 64, LANES = SZGI_LAG_LANES };

typedef struct lag_work {
    const szgi_lag_problem *problem;
    int64_t e, pairs;
    double *q, *k;   /* e x e: q q^T <= Q for every query, in an order with the pairs' first
                        dimensions first, then their second ones; times 2^-exponent */
    double *u;       /* U^T U = Q and a ridge, upper */
    double *h;       /* H, q^T H q <= tau for every query */
    double *p, *t;   /* mu^2 H / tau less what rounding may add, and the matrix that is factored */
    double *near[2]; /* cosines and sines of 0 .. BLOCK - 1 positions, [BLOCK][pairs] */
    double *far[2], *c, *s;  /* of the block's first position; of a lag: [pairs] */
    double *lanes[2], *room; /* cosines and sines of LANES lags, [pairs][LANES]; bound_lanes.h */
    int q_exponent, k_exponent;
    double tau, h_error, k_error; /* P loses mu^2 / tau h_error + k_error on its diagonal */
} lag_work;

static szg_status open_work(szg_context *context, const szgi_lag_problem *problem, lag_work *work,
                            double **memory) {
    int64_t e = problem->q.gram->e, pairs = problem->rotary->pairs, square = e * e;
    *work = (lag_work){.problem = problem, .e = e, .pairs = pairs};
    int64_t room = szgi_lanes_room(e); /* first: it is aligned */
    SZG_TRY(szgi_memory_alloc(context, room + 6 * square + (2 * BLOCK + 2 * LANES + 4) * pairs,
                              memory));
    double **const squares[] = {&work->q, &work->k, &work->u, &work->h, &work->p, &work->t};
    double **const lines[] = {&work->far[0], &work->far[1], &work->c, &work->s};
    double *at = *memory + room;
    work->room = *memory;
    for (int i = 0; i < 2; i++, at += LANES * pairs)
        work->lanes[i] = at;
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++, at += square)
        *squares[i] = at;
    for (int i = 0; i < 2; i++, at += BLOCK * pairs)
        work->near[i] = at;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++, at += pairs)
        *lines[i] = at;
    return SZG_OK;
}

/* ---- What queries and keys can be ---- */

/* The dimension at place i: the first ones of the pairs, their second ones, the rest. */
static int64_t dimension_at(const szgi_rotary *rotary, int64_t i) {
    if (i >= 2 * rotary->pairs)
        return i - 2 * rotary->pairs < rotary->offset ? i - 2 * rotary->pairs : i;
    if (rotary->pairing == SZGI_PAIRING_HALF)
        return rotary->offset + i;
    return rotary->offset + (i < rotary->pairs ? 2 * i : 2 * (i - rotary->pairs) + 1);
}

static double trace_of(int64_t e, const double *x) {
    double trace = 0;
    for (int64_t i = 0; i < e; i++)
        trace += x[i * (e + 1)];
    return trace;
}

static void add_to_diagonal(int64_t e, double added, double *x) {
    for (int64_t i = 0; i < e; i++)
        x[i * (e + 1)] += added;
}

/* Q with x x^T <= Q for every x = A n + b + d, d of at most `rest`: sums of three such matrices,
 * each over its weight, where the weights sum to at most 1. False: Q is 0, or beyond doubles. */
static bool make_reach(const szgi_reach *reach, const szgi_rotary *rotary, double *q,
                       int *exponent) {
    const szgi_gram *gram = reach->gram;
    int64_t e = gram->e;
    double own = reach->root * gram->spectral,
           shift = reach->shift ? szgi_norm_above(e, reach->shift) : 0,
           rest = szgi_above(reach->root * gram->error + reach->shift_error, 2);
    double sum = szgi_above(own + shift + rest, 8);
    double of_own = sum / own * reach->root * reach->root, of_shift = sum / shift;
    if (!(own > 0) || !isfinite(of_own))
        return false;
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++) {
            int64_t a = dimension_at(rotary, i), b = dimension_at(rotary, j);
            q[i * e + j] = of_own * gram->value[a * e + b];
            if (shift > 0)
                q[i * e + j] += of_shift * reach->shift[a] * reach->shift[b];
        }
    /* Entries have eight roundings; the Gram matrix has its own. */
    add_to_diagonal(e, szgi_above(of_own * gram->slack + sum * rest, 8), q);
    double trace = trace_of(e, q);
    add_to_diagonal(e, gamma_above(16) * trace, q);
    frexp(trace, exponent);
    *exponent += *exponent % 2; /* its half is a whole number */
    for (int64_t i = 0; i < e * e; i++)
        q[i] = ldexp(q[i], -*exponent);
    return isfinite(trace) && trace > 0;
}

/* ---- H ---- */

/* The upper triangle V = U^-1; zeros below. */
static void invert_upper(int64_t e, const double *u, double *v) {
    memset(v, 0, (size_t)(e * e) * sizeof *v);
    for (int64_t i = e - 1; i >= 0; i--) {
        v[i * (e + 1)] = 1;
        for (int64_t k = i + 1; k < e; k++)
            for (int64_t j = k; j < e; j++)
                v[i * e + j] -= u[i * e + k] * v[k * e + j];
        for (int64_t j = i; j < e; j++)
            v[i * e + j] /= u[i * (e + 1)];
    }
}

/* With the ridge, H = V V^T, U^T U = Q + ridge. tau, at least lambda_max(V^T Q V), makes up for
 * what rounding did to V: q^T H q = |V^T q|^2 <= tau. False: rounding is too much of it. */
static szg_status try_ridge(szg_context *context, lag_work *work, double ridge, bool *ok) {
    int64_t e = work->e;
    double *v = work->p, *inner = work->t, *core = work->h, top, size = 0, length;
    *ok = false;
    memcpy(work->u, work->q, (size_t)(e * e) * sizeof *work->u);
    add_to_diagonal(e, ridge, work->u);
    if (!szgi_cholesky_upper(e, work->u))
        return SZG_OK;
    for (int64_t i = 1; i < e; i++)
        memset(work->u + i * e, 0, (size_t)i * sizeof *work->u);
    invert_upper(e, work->u, v);
    SZG_TRY(szgi_gemm(context, 'n', 'n', e, e, e, 1, work->q, e, v, e, 0, inner, e));
    SZG_TRY(szgi_gemm(context, 't', 'n', e, e, e, 1, v, e, inner, e, 0, core, e));
    for (int64_t i = 0; i < e; i++) {
        core[i * (e + 1)] = fmax(core[i * (e + 1)], 0);
        for (int64_t j = 0; j < i; j++)
            core[i * e + j] = core[j * e + i];
    }
    for (int64_t i = 0; i < e * e; i++)
        size += v[i] * v[i];
    size = szgi_above(size, (double)(e * e));
    length = szgi_norm_above(e * e, work->q);
    double error = gamma_above(4 * (double)e + 8) * length * size;
    if (!(error < tolerance / 16))
        return SZG_OK;
    SZG_TRY(szgi_eigenvalue_above(context, e, core, &top));
    work->tau = szgi_above(top + error, 2);
    /* The product V V^T, its multiple, the difference and Cholesky's factor of it. */
    work->h_error = gamma_above(4 * (double)e + 32) * size;
    *ok = true;
    return szgi_gemm(context, 'n', 't', e, e, e, 1, v, e, v, e, 0, work->h, e);
}

/* The least ridge that rounding permits. A ridge r enlarges Q by r: 1e-10 of its trace and more. */
static szg_status make_h(szg_context *context, lag_work *work, bool *ok) {
    double trace = trace_of(work->e, work->q);
    *ok = false;
    for (double ridge = 1e-10; ridge < 1e-3 && !*ok; ridge *= 100)
        SZG_TRY(try_ridge(context, work, ridge * trace / (double)work->e, ok));
    return SZG_OK;
}

/* ---- Lags ---- */

/* Cosines and sines of the keys' angles at a lag: -lag theta. */
static void find_angles(lag_work *work, int64_t lag, bool negative) {
    const szgi_rotary *rotary = work->problem->rotary;
    int64_t at = lag % BLOCK, pairs = work->pairs;
    const double *near_c = work->near[0] + at * pairs, *near_s = work->near[1] + at * pairs;
    if (at == 0)
        for (int64_t t = 0; t < pairs; t++)
            szgi_lag_phase(lag, rotary->theta[t], &work->far[0][t], &work->far[1][t]);
    for (int64_t t = 0; t < pairs; t++) {
        double fc = work->far[0][t], fs = work->far[1][t];
        double sine = fs * near_c[t] + fc * near_s[t];
        work->c[t] = fc * near_c[t] - fs * near_s[t];
        work->s[t] = negative ? sine : -sine;
    }
}

/* P for this mu. */
static void make_p(lag_work *work, double mu) {
    double factor = mu * mu / work->tau;
    for (int64_t i = 0; i < work->e * work->e; i++)
        work->p[i] = factor * work->h[i];
    add_to_diagonal(work->e, -(factor * work->h_error + work->k_error), work->p);
}

static bool is_proved(lag_work *work) {
    szgi_rotated_rest(work->e, work->pairs, work->c, work->s, work->p, work->k, work->t);
    return szgi_cholesky_upper(work->e, work->t);
}

/* The largest product at these angles, about: sigma_1(U R Q_k^(1/2)). p and t are spoilt. */
static szg_status find_largest(szg_context *context, lag_work *work, double *out) {
    int64_t e = work->e;
    double *values;
    memset(work->p, 0, (size_t)(e * e) * sizeof *work->p);
    szgi_rotated_rest(e, work->pairs, work->c, work->s, work->p, work->k, work->t);
    SZG_TRY(szgi_memory_alloc(context, e, &values));
    szg_status status =
        szgi_gemm(context, 'n', 'n', e, e, e, -1, work->u, e, work->t, e, 0, work->p, e);
    if (status == SZG_OK)
        status = szgi_gemm(context, 'n', 't', e, e, e, 1, work->p, e, work->u, e, 0, work->t, e);
    if (status == SZG_OK)
        status = szgi_eigen_symmetric(context, e, work->t, e, values, false);
    *out = sqrt(fmax(values[e - 1], 0));
    szgi_memory_free(values);
    return status;
}

/* mu for this lag too: raised until the proof succeeds, or beyond `all`. A second failure at the
 * same lag is rounding's, and mu grows faster. */
static szg_status prove_lag(szg_context *context, lag_work *work, int64_t lag, bool negative,
                            double all, double *mu) {
    find_angles(work, lag, negative);
    for (double more = tolerance; *mu < all && !is_proved(work); more *= 2) {
        double largest;
        SZG_TRY(find_largest(context, work, &largest));
        *mu = fmax(*mu, largest) * (1 + more);
        make_p(work, *mu);
    }
    return SZG_OK;
}

/* Lags in the order in which they are tried: with `both`, each before its negative one. */
static int64_t lag_at(const lag_work *work, int64_t i) {
    return work->problem->both ? i / 2 : i;
}

static bool is_negative(const lag_work *work, int64_t i) {
    return work->problem->both && i % 2 == 1;
}

/* Angles of the lags first .. first + LANES - 1, the last one again beyond `count`. */
static void find_lanes(lag_work *work, int64_t first, int64_t count) {
    for (int64_t lane = 0; lane < LANES; lane++) {
        int64_t i = first + lane < count ? first + lane : count - 1;
        find_angles(work, lag_at(work, i), is_negative(work, i));
        for (int64_t t = 0; t < work->pairs; t++) {
            work->lanes[0][t * LANES + lane] = work->c[t];
            work->lanes[1][t * LANES + lane] = work->s[t];
        }
    }
}

/* mu for LANES lags. What was proved with a smaller one is not tried again. */
static szg_status prove_lanes(szg_context *context, lag_work *work, int64_t first, int64_t count,
                              double all, double *mu) {
    find_lanes(work, first, count);
    for (unsigned proved = 0, every = ~(~0U << LANES); *mu < all;) {
        proved |= szgi_lanes_factored(work->e, work->pairs, work->lanes[0], work->lanes[1], work->p,
                                      work->k, work->room);
        if (proved == every)
            return SZG_OK;
        int lane = __builtin_ctz(~proved);
        int64_t i = first + lane < count ? first + lane : count - 1;
        SZG_TRY(prove_lag(context, work, lag_at(work, i), is_negative(work, i), all, mu));
        proved |= 1U << lane;
    }
    return SZG_OK;
}

static szg_status prove_lags(szg_context *context, lag_work *work, double all, double *mu) {
    const szgi_rotary *rotary = work->problem->rotary;
    int64_t count = work->problem->lags * (work->problem->both ? 2 : 1);
    for (int64_t i = 0; i < BLOCK; i++)
        for (int64_t t = 0; t < work->pairs; t++)
            szgi_lag_phase(i, rotary->theta[t], &work->near[0][i * work->pairs + t],
                           &work->near[1][i * work->pairs + t]);
    *mu = DBL_EPSILON * all;
    make_p(work, *mu);
    for (int64_t first = 0; first < count && *mu < all; first += LANES) {
        if (first % BLOCK == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(prove_lanes(context, work, first, count, all, mu));
    }
    return SZG_OK;
}

szg_status szgi_bound_lags(szg_context *context, const szgi_lag_problem *problem, double *out) {
    lag_work work;
    double *memory, mu;
    bool ok = false;
    *out = problem->all;
    SZG_TRY(open_work(context, problem, &work, &memory));
    szg_status status = SZG_OK;
    if (make_reach(&problem->q, problem->rotary, work.q, &work.q_exponent) &&
        make_reach(&problem->k, problem->rotary, work.k, &work.k_exponent))
        status = make_h(context, &work, &ok);
    if (status == SZG_OK && ok) {
        int half = (work.q_exponent + work.k_exponent) / 2;
        /* Angles are off by 12 u, on both sides; two turns have 6 u more. */
        work.k_error = gamma_above(32) * szgi_norm_above(work.e * work.e, work.k);
        status = prove_lags(context, &work, ldexp(problem->all, -half), &mu);
        if (status == SZG_OK)
            *out = fmin(problem->all, ldexp(szgi_above(mu, 8), half));
    }
    szgi_memory_free(memory);
    return status;
}
