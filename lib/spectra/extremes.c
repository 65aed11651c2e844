#include "extremes.h"

#include "toeplitz/symbol.h"

#include "halves.h"

/* Up to this order all values together cost less than an iteration may. */
enum { ORDER_MIN = 2048, CG_STEPS = 60 };
/* Restarts of Lanczos: before shift-and-invert is tried, in it, after it failed, and where it
 * cannot be had. */
enum { FIRST_RESTARTS = 4, INVERSE_RESTARTS = 30, LAST_RESTARTS = 20, ONLY_RESTARTS = 100 };
static const double RESIDUAL_MAX = 1e-6;

static const char partial_note[] =
    "values that Lanczos could not establish, at a crowded end of the spectrum, are nan";

static const char residual_meaning[] =
    "largest ||T v - lambda v||_2 over the listed pairs, relative to the largest |lambda|: an "
    "eigenvalue lies that near to each value; that none was missed at the ends rests on Lanczos's "
    "convergence";

bool szgi_extremes_apply(const szgi_selection *selection) {
    return selection->high > 0 && selection->n > ORDER_MIN;
}

static double dot(int64_t n, const double *x, const double *y) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Replaces values by Rayleigh quotients, whose error is quadratic in the residual, and raises
 * *worst to the largest residual norm. */
static szg_status refine(szg_context *context, const szgi_operator *s, int64_t k,
                         const double *vectors, double *values, double *product, double *worst) {
    int64_t n = s->n;
    for (int64_t i = 0; i < k; i++) {
        const double *v = vectors + i * n;
        SZG_TRY(s->apply(context, s->data, v, product));
        double value = dot(n, v, product) / dot(n, v, v), squares = 0;
        for (int64_t j = 0; j < n; j++) {
            double defect = product[j] - value * v[j];
            squares += defect * defect;
        }
        values[i] = value;
        *worst = szgi_larger(*worst, sqrt(squares));
    }
    return SZG_OK;
}

/* What the search for one end works with. */
typedef struct end_search {
    const szgi_operator *s;
    int64_t k;
    double *vectors, *product; /* k n and n numbers */
    const szg_toeplitz *t;     /* NULL: no shift-and-invert */
} end_search;

/* ---- Shift and invert ---- */

/* An end is clustered like (pi j / n)^2: the matrix sign (T - sigma) with sigma half a gap outside
 * the symbol's edge is positive definite, and its inverse has that end well apart. */
typedef struct inverse_operator {
    szg_toeplitz *shifted;
    bool mapped;
    szg_c64 *z, *u; /* scratch where mapped */
} inverse_operator;

static bool good_enough(szg_status status, const szgi_cg_result *result) {
    return status == SZG_OK || (status == SZG_ENOCONV && result->residual <= 1e-3);
}

/* The condition number, about n^2, keeps CG from its tolerance at large orders; what the pairs are
 * worth is measured on T itself afterwards. */
static szg_status solve(szg_context *context, inverse_operator *self,
                        szgi_preconditioner preconditioner, const double *x, double *y) {
    szgi_cg_options options = {
        .preconditioner = preconditioner, .tolerance = 1e-10, .iterations = CG_STEPS};
    szgi_cg_result result = {0};
    int64_t n = szg_toeplitz_size(self->shifted);
    szg_status status;
    if (self->mapped) {
        szgi_map_to_complex(n, x, self->z);
        memset(self->u, 0, (size_t)n * sizeof *self->u);
        status =
            szgi_toeplitz_cg_complex(context, self->shifted, &options, self->z, self->u, &result);
        szgi_map_to_real(n, self->u, y);
    } else {
        memset(y, 0, (size_t)n * sizeof *y);
        status = szgi_toeplitz_cg(context, self->shifted, &options, x, y, &result);
    }
    return good_enough(status, &result) ? SZG_OK : status;
}

static szg_status inverse_apply(szg_context *context, void *data, const double *x, double *y) {
    szg_status status = solve(context, data, SZGI_PRECONDITIONER_STRANG, x, y);
    if (status == SZG_EDOMAIN || status == SZG_ENOCONV)
        status = solve(context, data, SZGI_PRECONDITIONER_TCHAN, x, y);
    return status;
}

/* Least sample of sign * symbol, and the eigenvalue spacing 1.5 f'' (pi/n)^2 that its curvature
 * there suggests, measured over the least distance at which it stands clear of rounding. */
static void find_edge(int64_t grid, const szg_c64 *f, double sign, int64_t n, double *edge,
                      double *gap) {
    int64_t at = 0;
    double largest = 0;
    for (int64_t j = 0; j < grid; j++) {
        if (sign * f[j].re < sign * f[at].re)
            at = j;
        largest = fmax(largest, fabs(f[j].re));
    }
    double rise = 0;
    int64_t distance = 1;
    for (; distance <= grid / 8; distance *= 2) {
        double left = f[(at + grid - distance) % grid].re, right = f[(at + distance) % grid].re;
        rise = sign * ((left + right) / 2 - f[at].re);
        if (rise > 1e4 * DBL_EPSILON * largest)
            break;
    }
    /* rise = f'' h^2 / 2 at h = 2 pi distance / grid. */
    double ratio = (double)grid / (2 * (double)distance * (double)n);
    *edge = sign * f[at].re;
    *gap = fmax(3 * rise * ratio * ratio, 64 * DBL_EPSILON * largest);
}

szg_status szgi_toeplitz_open_shifted(szg_context *context, const szg_toeplitz *t, double sign,
                                      double sigma, szg_toeplitz **out) {
    int64_t count = szgi_toeplitz_degree(t) + 1;
    bool real = szgi_toeplitz_is_real(t);
    szg_c64 *lags;
    SZG_TRY(szgi_memory_alloc(context, count, &lags));
    double *packed = (double *)lags;
    for (int64_t k = 0; k < count; k++) {
        szg_c64 a = szg_toeplitz_at(t, k);
        double re = sign * a.re - (k == 0 ? sigma : 0);
        if (real)
            packed[k] = re;
        else
            lags[k] = (szg_c64){re, sign * a.im};
    }
    int64_t n = szg_toeplitz_size(t);
    szg_status status = real ? szg_toeplitz_open_symmetric(context, n, count, packed, out)
                             : szg_toeplitz_open_hermitian(context, n, count, lags, out);
    szgi_memory_free(lags);
    return status;
}

static szg_status edge_of(szg_context *context, const szg_toeplitz *t, double sign, double *sigma) {
    int64_t n = szg_toeplitz_size(t), grid = 2 * n;
    szg_c64 *samples;
    SZG_TRY(szgi_memory_alloc(context, grid, &samples));
    szg_status status = szg_symbol_samples(context, t, grid, samples);
    double edge, gap;
    if (status == SZG_OK) {
        find_edge(grid, samples, sign, n, &edge, &gap);
        *sigma = edge - gap / 2;
    }
    szgi_memory_free(samples);
    return status;
}

static szg_status inverse_search(szg_context *context, const end_search *search, bool largest,
                                 double *values, bool *converged) {
    double sigma, sign = largest ? -1 : 1;
    inverse_operator inverse = {.mapped = !szgi_toeplitz_is_real(search->t)};
    int64_t n = search->s->n, scratch = inverse.mapped ? n : 0;
    szgi_operator inverted = {.n = n, .apply = inverse_apply, .data = &inverse};
    szgi_lanczos_options options = {.largest = true,
                                    .k = search->k,
                                    .basis = search->k + 12,
                                    .restarts = INVERSE_RESTARTS,
                                    .tolerance = 1e-10,
                                    .what = "extremes, shift and invert"};
    SZG_TRY(edge_of(context, search->t, sign, &sigma));
    szg_status status =
        szgi_toeplitz_open_shifted(context, search->t, sign, sigma, &inverse.shifted);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, 2 * scratch, &inverse.z);
    if (status == SZG_OK) {
        inverse.u = inverse.z + scratch;
        status = szgi_lanczos(context, &inverted, &options, values, search->vectors, converged);
    }
    szgi_memory_free(inverse.z);
    szg_toeplitz_close(&inverse.shifted);
    if (status != SZG_EDOMAIN && status != SZG_ENOCONV)
        return status;
    *converged = false; /* the shift is not outside the spectrum, or CG stalls */
    return SZG_OK;
}

/* ---- Both ends ---- */

static szg_status plain_search(szg_context *context, const end_search *search, bool largest,
                               int64_t restarts, double *values, bool *converged) {
    szgi_lanczos_options options = {.largest = largest,
                                    .k = search->k,
                                    .restarts = restarts,
                                    .tolerance = 1e-12,
                                    .what = "extremes"};
    return szgi_lanczos(context, search->s, &options, values, search->vectors, converged);
}

/* k values of one end into `values`, ascending, and the worst residual. */
static szg_status search_end(szg_context *context, const end_search *search, bool largest,
                             double *values, double *worst, bool *converged) {
    SZG_TRY(plain_search(context, search, largest, search->t ? FIRST_RESTARTS : ONLY_RESTARTS,
                         values, converged));
    if (!*converged && search->t)
        SZG_TRY(inverse_search(context, search, largest, values, converged));
    if (!*converged && search->t)
        SZG_TRY(plain_search(context, search, largest, LAST_RESTARTS, values, converged));
    if (!*converged)
        return SZG_OK;
    *worst = 0;
    SZG_TRY(refine(context, search->s, search->k, search->vectors, values, search->product, worst));
    szgi_sort_ascending(search->k, values);
    return SZG_OK;
}

/* Where the k values are not to be had, the outermost alone may be: behind ALiBi's negative
 * eigenvalue, n^2 apart, all others crowd. What was not established is NaN. */
static szg_status settle_end(szg_context *context, const end_search *search, bool largest,
                             szg_spectrum *out, double *worst, int64_t *established) {
    bool converged;
    int64_t k = search->k;
    double *values = out->re + (largest ? out->count - k : 0), residual = 0;
    SZG_TRY(search_end(context, search, largest, values, &residual, &converged));
    int64_t found = converged ? k : 0;
    if (!converged && k > 1) {
        end_search outermost = *search;
        outermost.k = 1;
        SZG_TRY(search_end(context, &outermost, largest, values, &residual, &converged));
        found = converged;
        if (largest)
            values[k - 1] = values[0];
    }
    for (int64_t i = 0; i < k - found; i++)
        values[largest ? i : k - 1 - i] = NAN;
    *established += found;
    *worst = szgi_larger(*worst, residual);
    return SZG_OK;
}

static szg_status search_ends(szg_context *context, const end_search *search, szg_spectrum *out,
                              bool *complete) {
    double worst = 0, norm = 0;
    int64_t established = 0;
    SZG_TRY(settle_end(context, search, false, out, &worst, &established));
    SZG_TRY(settle_end(context, search, true, out, &worst, &established));
    *complete = established == out->count;
    for (int64_t i = 0; i < out->count; i++)
        norm = fmax(norm, fabs(out->re[i]));
    out->residual = norm > 0 ? worst / norm : worst;
    out->residual_meaning = residual_meaning;
    out->normal = true;
    out->note = *complete ? NULL : partial_note;
    if (established > 0 && out->residual <= RESIDUAL_MAX)
        return SZG_OK;
    *complete = false;
    szg_spectrum_close(out);
    return SZG_OK;
}

static szg_status extremes_run(szg_context *context, const szgi_operator *s, const szg_toeplitz *t,
                               const szgi_selection *selection, szg_spectrum *out, bool *complete) {
    end_search search = {.s = s, .k = selection->high, .t = t};
    *complete = false;
    SZG_TRY(szgi_memory_require(context, s->n, search.k + 1, sizeof(double), "the extreme vectors",
                                "take a smaller order"));
    SZG_TRY(szgi_memory_alloc(context, s->n * (search.k + 1), &search.vectors));
    search.product = search.vectors + s->n * search.k;
    szg_status status = szgi_spectrum_open(context, selection->n, szgi_selection_count(selection),
                                           SZG_SPECTRUM_EIGENVALUE, false, out);
    if (status == SZG_OK)
        status = search_ends(context, &search, out, complete);
    szgi_memory_free(search.vectors);
    return szgi_spectrum_finish(status, out);
}

szg_status szgi_extremes_symmetric(szg_context *context, const szgi_operator *s,
                                   const szgi_selection *selection, szg_spectrum *out,
                                   bool *complete) {
    return extremes_run(context, s, NULL, selection, out, complete);
}

/* ---- Toeplitz operators ---- */

typedef struct toeplitz_operator {
    const szg_toeplitz *t;
    szg_c64 *z, *u;
} toeplitz_operator;

static szg_status toeplitz_product(szg_context *context, void *data, const double *x, double *y) {
    toeplitz_operator *self = data;
    int64_t n = szg_toeplitz_size(self->t);
    if (self->z)
        return szgi_mapped_apply(context, self->t, x, y, self->z, self->u);
    return szg_toeplitz_apply(context, self->t, 'n', 1, x, n, y, n);
}

szg_status szgi_extremes_toeplitz(szg_context *context, const szg_toeplitz *t,
                                  const szgi_selection *selection, szg_spectrum *out,
                                  bool *complete) {
    toeplitz_operator self = {.t = t};
    int64_t n = szg_toeplitz_size(t);
    if (!szgi_toeplitz_is_real(t)) {
        SZG_TRY(szgi_memory_alloc(context, 2 * n, &self.z));
        self.u = self.z + n;
    }
    szgi_operator s = {.n = n, .apply = toeplitz_product, .data = &self};
    szg_status status = extremes_run(context, &s, t, selection, out, complete);
    szgi_memory_free(self.z);
    if (status == SZG_OK && out->count > 0) {
        out->method = SZG_METHOD_LANCZOS;
        out->trace = szgi_toeplitz_trace(t).re;
        out->frobenius = szgi_toeplitz_norm_frobenius(t);
    }
    return status;
}
