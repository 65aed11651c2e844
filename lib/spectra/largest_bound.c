/* What the vectors of largest.c prove, with the rounding of every step.
 *
 * V holds `kept` nearly orthonormal rows, P projects on the complement of their span, and S is
 * [[H, C^T], [C, M]] in a basis of both. Ritz values bound from below (Cauchy's interlacing). From
 * above: for x > mu >= lambda_max(M) the matrix S - x I has as many positive eigenvalues as the
 * Schur complement H - x I + C^T (x I - M)^-1 C <= H - x I + ||C||^2 / (x - mu) I, so
 * lambda_i(S) is at most the larger eigenvalue of [[theta_i, c], [c, mu]], c >= ||C||.
 *
 * For mu, normal vectors that know nothing of V pass through T_q(2 P S P / end - I). For
 * x = 2 mu / end - 1 > 1 a vector's part along the largest eigenvector grows T_q(x) times at least.
 * So |T_q| of the vector is at least that times the part it began with, which is small for all
 * vectors with the probability SZGI_LARGEST_RISK alone (compare Kuczynski, Wozniakowski 1992). */
#include <float.h>
#include <math.h>

#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

#include "largest_private.h"

/* Vectors that look for what was missed, and the highest degree that they pass through. */
enum { PROBES = 8, PROBE_DEGREE = 32 };

static const double U = DBL_EPSILON / 2;

/* Higham 2002, (3.1): what a sum of m terms is off by, relative to that of their moduli. */
static double gamma_of(int64_t m) {
    return (double)m * U / (1 - (double)m * U);
}

/* The larger eigenvalue of [[theta, c], [c, mu]]. */
static double larger_of_two(double theta, double c, double mu) {
    double half = fabs(theta - mu) / 2, below = half + sqrt(half * half + c * c);
    return fmax(theta, mu) + (below > 0 ? c * c / below : 0);
}

static double root(double square) {
    return sqrt(fmax(square, 0));
}

/* What is known of the kept vectors, rounding included. */
typedef struct proof {
    int64_t n, k;
    double orthogonal; /* o >= ||V V^T - I|| */
    double inner;      /* b >= ||V S V^T - diag(theta)|| */
    double coupling;   /* c >= ||C|| */
    double rest;       /* >= tr M */
    double projection; /* ||computed P y - P y|| <= that ||y|| */
    double mu;
} proof;

/* At least every eigenvalue of S that the first `count` of the kept vectors leave out: part of them
 * is in the span of the other kept ones, which is orthogonal to these within o. */
static double left_out(const largest_work *work, const proof *known, int64_t count) {
    double o = known->orthogonal;
    if (count == known->k)
        return known->mu;
    double theta = work->theta[count] + known->inner + 1.1 * o * o * work->s->trace;
    return known->k < known->n ? larger_of_two(theta / (1 - o), known->coupling, known->mu)
                               : theta / (1 - o) + known->coupling;
}

/* The square of the value of index i is at most that. What holds of all kept vectors holds of the
 * first ones alone, which have smaller residuals: the least bound counts. */
static double upper_of(const largest_work *work, const proof *known, int64_t i) {
    double o = known->orthogonal, theta = (work->theta[i] + known->inner) / (1 - o), squares = 0;
    double least = work->s->trace / (double)(i + 1); /* i + 1 values are as large */
    for (int64_t count = 1; count <= known->k; count++) {
        squares += work->residual[count - 1] * work->residual[count - 1];
        if (count <= i)
            continue;
        double upper = count == known->n ? theta
                                         : larger_of_two(theta, sqrt(squares / (1 - o)),
                                                         left_out(work, known, count));
        least = fmin(least, upper * (1 + 2 * gamma_of(count + 16)));
    }
    return least;
}

double szgi_largest_spread(largest_work *work, double slack) {
    double best = INFINITY, squares = 0;
    for (int64_t k = 1; k < work->width; k++) {
        double spread = 0;
        squares += work->residual[k - 1] * work->residual[k - 1];
        if (k < work->wanted)
            continue;
        const proof perfect = {.n = work->s->n,
                               .k = k,
                               .coupling = sqrt(squares),
                               .mu = slack * fmax(work->theta[k], 0)};
        for (int64_t i = 0; i < work->wanted; i++)
            spread = fmax(spread, root(upper_of(work, &perfect, i)) - root(work->theta[i]));
        if (!(spread < best))
            continue;
        best = spread;
        work->kept = k;
    }
    return best;
}

/* Norm of a k x k matrix less diag(theta); theta NULL: less I. */
static double off_diagonal(int64_t k, const double *h, const double *theta) {
    double squares = 0;
    for (int64_t i = 0; i < k * k; i++) {
        double off = i % (k + 1) == 0 ? h[i] - (theta ? theta[i / (k + 1)] : 1) : h[i];
        squares += off * off;
    }
    return sqrt(squares);
}

static szg_status measure_orthogonality(szg_context *context, largest_work *work, proof *out) {
    int64_t n = out->n, k = out->k;
    double *h = work->core;
    SZG_TRY(szgi_gemm(context, 'n', 't', k, k, n, 1, work->v, n, work->v, n, 0, h, k));
    double size = off_diagonal(k, h, NULL);
    out->orthogonal = (1 + gamma_of(k * k + 4)) * size + gamma_of(n) * (double)k * (1 + 2 * size);
    if (out->orthogonal < 0.01)
        return SZG_OK;
    return szgi_fail(context, SZG_ENOCONV, "%lld vectors are orthogonal within %.3g only",
                     (long long)k, out->orthogonal);
}

/* o, b and c from the vectors and their images; the images are computed anew, so that one product's
 * rounding is all that counts. */
static szg_status measure(szg_context *context, largest_work *work, proof *out) {
    int64_t n = out->n, k = out->k;
    double e = work->s->error, *h = work->core, squares = 0, trace = 0, theta = work->theta[0];
    SZG_TRY(measure_orthogonality(context, work, out));
    SZG_TRY(work->s->apply(context, work->s->data, k, work->v, work->w));
    SZG_TRY(szgi_gemm(context, 'n', 't', k, k, n, 1, work->v, n, work->w, n, 0, h, k));
    double o = out->orthogonal, grow = 1 + 2 * gamma_of(n + k * k + 16);
    double v_norm = sqrt((double)k * (1 + o)),
           w_norm = grow * sqrt(szgi_dot(k * n, work->w, work->w));
    out->inner = grow * off_diagonal(k, h, work->theta) + gamma_of(n) * v_norm * w_norm +
                 e * v_norm * sqrt(1 + o);
    for (int64_t i = 0; i < k; i++) {
        double *r = &work->residual[i];
        *r = szgi_largest_residual(n, work->theta[i], work->v + i * n, work->w + i * n);
        *r = grow * *r + (4 * U * fabs(theta) + e) * sqrt(1 + o);
        squares += *r * *r;
        trace += h[i * (k + 1)];
    }
    out->coupling = grow * sqrt(squares) / sqrt(1 - o);
    trace -= (gamma_of(n) + gamma_of(k)) * v_norm * w_norm + e * v_norm * v_norm;
    out->rest = fmax(work->s->trace - fmax(trace, 0) / (1 + o), 0);
    out->projection =
        o + 1.1 * (sqrt((double)k) * (gamma_of(n) + gamma_of(k + 1)) + gamma_of(k + 1));
    return SZG_OK;
}

/* ---- Values ---- */

static szgi_largest_value value_of(const largest_work *work, const proof *known, int64_t i) {
    double theta = fmax(work->theta[i], 0), sigma = sqrt(theta);
    double lower = fmax((work->theta[i] - known->inner) / (1 + known->orthogonal), 0);
    double off = work->residual[i] / sqrt(1 - known->orthogonal);
    szgi_largest_value value = {.sigma = sigma};
    value.error = fmax(sqrt(upper_of(work, known, i)) - sigma, sigma - sqrt(lower));
    value.error = value.error + 8 * U * (sigma + value.error);
    value.residual = sigma > 0 ? fmin(off / sigma, sqrt(off)) : sqrt(off);
    value.residual = value.residual * (1 + 16 * U) + 2 * U * sigma;
    value.resolved = value.error <= work->tolerance * root(work->theta[0]);
    return value;
}

static bool all_resolved(const largest_work *work, const proof *known) {
    for (int64_t i = 0; i < work->wanted; i++)
        if (!value_of(work, known, i).resolved)
            return false;
    return true;
}

/* ---- What was missed ---- */

typedef struct probes {
    double *now, *before, *image; /* PROBES x n each */
    double *along;                /* PROBES x kept */
    double end;
    double local; /* a step is off by that times the larger norm of its two vectors */
    double start; /* parts of the drawn vectors less than that are all small at the risk alone */
    double sum, error;
} probes;

/* y := P y */
static szg_status project(szg_context *context, const largest_work *work, const proof *known,
                          probes *self, double *y) {
    int64_t n = known->n, k = known->k;
    SZG_TRY(szgi_gemm(context, 'n', 't', PROBES, k, n, 1, y, n, work->v, n, 0, self->along, k));
    return szgi_gemm(context, 'n', 'n', PROBES, n, k, -1, self->along, k, work->v, n, 1, y, n);
}

static double largest_norm(int64_t n, const double *y) {
    double largest = 0;
    for (int64_t i = 0; i < PROBES; i++)
        largest = fmax(largest, szgi_dot(n, y + i * n, y + i * n));
    return sqrt(largest) * (1 + gamma_of(n + 2));
}

static szg_status open_probes(szg_context *context, largest_work *work, const proof *known,
                              probes *self) {
    int64_t n = known->n;
    const szgi_stream stream = {.seed = work->seed, .step = 0, .purpose = LARGEST_PROBES};
    double trace = work->s->trace;
    double product = 2.1 * trace * known->projection + 1.1 * work->s->error + 5 * U * trace;
    *self = (probes){.now = work->spare[0],
                     .before = work->spare[0] + PROBES * n,
                     .image = work->spare[1],
                     .along = work->core};
    /* Below such an end rounding would grow to what is looked for within a few steps. */
    self->end = fmax(work->theta[known->k], 4e5 * product);
    self->local = 4 / self->end * product + 3 * known->projection + 12 * U;
    self->start = pow(SZGI_LARGEST_RISK, 1.0 / PROBES) * sqrt(acos(-1) / 2);
    for (int64_t i = 0; i < PROBES; i++)
        szgi_random_fill_normal(&stream, (uint64_t)(i * n), n, self->before + i * n);
    self->error = known->projection * largest_norm(n, self->before);
    return project(context, work, known, self, self->before);
}

/* image := P S P now; now is projected too. */
static szg_status multiply(szg_context *context, const largest_work *work, const proof *known,
                           probes *self) {
    SZG_TRY(project(context, work, known, self, self->now));
    SZG_TRY(work->s->apply(context, work->s->data, PROBES, self->now, self->image));
    return project(context, work, known, self, self->image);
}

/* The largest eigenvalue of P S P from the norm of vectors that passed through degree q. */
static double bound_of(const probes *self, int64_t degree, double norm) {
    double left = self->start - self->error;
    if (!(left > 0) || !isfinite(norm))
        return INFINITY;
    double x = cosh(acosh(fmax(norm / left, 1)) / (double)degree);
    return self->end * (x + 1) / 2 * (1 + 64 * U);
}

/* Chebyshev's recurrence, one degree more. An error of step j grows U_(q-1-j)(x) <= (q - j) T_q(x)
 * times at most: `error` is the sum of (q - j) times what each step was off by. */
static szg_status next_degree(szg_context *context, const largest_work *work, const proof *known,
                              probes *self) {
    int64_t size = PROBES * known->n;
    SZG_TRY(multiply(context, work, known, self));
    self->sum +=
        self->local * fmax(largest_norm(known->n, self->now), largest_norm(known->n, self->before));
    szgi_largest_recur(size, self->end, self->now, self->image, self->before);
    double *next = self->before;
    self->before = self->now;
    self->now = next;
    self->error += self->sum;
    return SZG_OK;
}

/* T_1 of the first vectors. */
static szg_status first_degree(szg_context *context, const largest_work *work, const proof *known,
                               probes *self) {
    int64_t size = PROBES * known->n;
    for (int64_t i = 0; i < size; i++)
        self->now[i] = self->before[i];
    SZG_TRY(multiply(context, work, known, self));
    self->sum = self->local * largest_norm(known->n, self->now);
    self->error += self->sum;
    for (int64_t i = 0; i < size; i++)
        self->now[i] = 2 / self->end * self->image[i] - self->before[i];
    return SZG_OK;
}

/* mu from below the energy of the rest, until it resolves all values or the degree is used up. */
static szg_status find_missed(szg_context *context, largest_work *work, proof *known) {
    probes self;
    SZG_TRY(open_probes(context, work, known, &self));
    if (!(self.end < known->mu))
        return SZG_OK;
    SZG_TRY(first_degree(context, work, known, &self));
    for (int64_t degree = 1; degree <= PROBE_DEGREE; degree++) {
        SZG_TRY(szgi_context_check_cancel(context));
        known->mu = fmin(known->mu, bound_of(&self, degree, largest_norm(known->n, self.now)));
        if (all_resolved(work, known) || degree == PROBE_DEGREE)
            break;
        SZG_TRY(next_degree(context, work, known, &self));
    }
    return SZG_OK;
}

szg_status szgi_largest_prove(szg_context *context, largest_work *work, szgi_largest_value *out) {
    proof known = {.n = work->s->n, .k = work->width};
    if (work->width < work->s->n) {
        szgi_largest_spread(work, 1.01); /* the bound will not meet the next Ritz value */
        known.k = work->kept;
    }
    SZG_TRY(measure(context, work, &known));
    known.mu = known.rest;
    if (known.k < known.n && !all_resolved(work, &known))
        SZG_TRY(find_missed(context, work, &known));
    for (int64_t i = 0; i < work->wanted; i++)
        out[i] = value_of(work, &known, i);
    return SZG_OK;
}
