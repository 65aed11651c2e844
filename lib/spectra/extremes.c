#include "extremes.h"

#include "toeplitz/inverse.h"
#include "toeplitz/symbol.h"

#include "halves.h"

/* Up to this order all values together cost less than an iteration may, and up to so many times the
 * values asked for. */
enum { ORDER_MIN = 2048, SHARE_MIN = 20 };
enum { VAST = 1 << 25 }; /* orders from which on memory is short */
/* Restarts of Lanczos: before shift-and-invert is tried, in it, where nothing is to be gained by
 * it, after it failed, and where it is impossible. */
enum { FIRST_RESTARTS = 4, INVERSE_RESTARTS = 30, HOPELESS_RESTARTS = 1, LAST_RESTARTS = 20 };
enum { ONLY_RESTARTS = 100, SEVERAL_RESTARTS = 30 };
static const double RESIDUAL_MAX = 1e-6;
/* Of the distance of neighbours at an end to the width of the spectrum: below it Lanczos would take
 * hundreds of products. */
static const double CLUSTERED = 1e-3;
/* The least distance of a shift from the end, of several values: nearer, the first column of the
 * inverse loses its digits. */
static const double SHIFT_MIN = 1e-12;

static const char partial_note[] =
    "values that Lanczos could not establish, at a crowded end of the spectrum, are nan";

static const char residual_meaning[] =
    "largest ||T v - lambda v||_2 over the listed pairs, relative to the largest |lambda|: an "
    "eigenvalue lies that near to each value; that none was missed at the ends rests on Lanczos's "
    "convergence";

bool szgi_extremes_apply(const szgi_selection *selection) {
    return selection->high > 0 && selection->n > ORDER_MIN &&
           selection->n > SHARE_MIN * selection->high;
}

bool szgi_extremes_suffice(const szgi_selection *selection, bool complete,
                           const szg_spectrum *found) {
    return complete || (selection->n > SZGI_FALLBACK_MAX && found->count > 0);
}

/* What the search for one end works with. */
typedef struct end_search {
    const szgi_operator *s;
    int64_t k;
    const szg_toeplitz *t; /* NULL: no shift-and-invert */
    double rounding;       /* of products, relative to ||x|| */
} end_search;

/* Vectors that Lanczos keeps. Many save restarts; where each takes 0.3 GB and more, few. */
static int64_t plain_basis(int64_t n, int64_t k) {
    return 2 * k + (n < VAST ? 20 : 8);
}

/* The inverse has the ends well apart: a few more than the values converge as soon. */
static int64_t inverse_basis(int64_t n, int64_t k) {
    return k + (n < VAST ? 12 : 5);
}

/* k values of one end, ascending, and how far from each an eigenvalue may be. */
typedef struct end_pairs {
    double *values, *errors;
    double *vectors; /* k rows, or NULL: there are none */
    double residual; /* the largest */
    bool converged;
} end_pairs;

static void swap(double *x, double *y) {
    double keep = *x;
    *x = *y;
    *y = keep;
}

static void sort_pairs(int64_t k, end_pairs *pairs) {
    for (int64_t i = 1; i < k; i++)
        for (int64_t j = i; j > 0 && pairs->values[j] < pairs->values[j - 1]; j--) {
            swap(&pairs->values[j], &pairs->values[j - 1]);
            swap(&pairs->errors[j], &pairs->errors[j - 1]);
        }
}

/* sqrt(x^T x); squares of a huge or tiny residual are out of range, and x is scaled then. */
static double norm_of(int64_t n, const double *x) {
    double square = szgi_dot(n, x, x);
    return square > 0x1p-900 && square < INFINITY ? sqrt(square) : szgi_norm(n, x);
}

/* Replaces values by Rayleigh quotients, whose error is quadratic in the residual. An eigenvalue
 * lies within ||T v - value v|| / ||v|| of any value; to what is computed come the rounding of the
 * product, of the difference (3 units of |value| and of the product's norm), and of the sums. */
static szg_status refine_with(szg_context *context, const end_search *search, double *product,
                              end_pairs *pairs) {
    int64_t n = search->s->n;
    double sums = 1 + (double)n * DBL_EPSILON;
    pairs->residual = 0;
    for (int64_t i = 0; i < search->k; i++) {
        const double *v = pairs->vectors + i * n;
        SZG_TRY(search->s->apply(context, search->s->data, v, product));
        double square = szgi_dot(n, v, v), value = szgi_dot(n, v, product) / square;
        for (int64_t j = 0; j < n; j++)
            product[j] -= value * v[j];
        double residual = norm_of(n, product) / sqrt(square);
        pairs->values[i] = value;
        pairs->errors[i] = sums * (residual + search->rounding) + 4 * DBL_EPSILON * fabs(value);
        pairs->residual = szgi_larger(pairs->residual, residual);
    }
    sort_pairs(search->k, pairs);
    return SZG_OK;
}

static szg_status refine(szg_context *context, const end_search *search, end_pairs *pairs) {
    double *product;
    SZG_TRY(szgi_memory_alloc(context, search->s->n, &product));
    szg_status status = refine_with(context, search, product, pairs);
    szgi_memory_free(product);
    return status;
}

/* ---- Shift and invert ---- */

/* An end is clustered like (pi j / n)^2: the matrix sign (T - sigma) with sigma half a gap outside
 * the symbol's edge is positive definite, and its inverse has that end well apart. */
typedef struct inverse_operator {
    szgi_inverse *inverse;
    szg_c64 *z; /* scratch where mapped, else NULL */
    int64_t n;
} inverse_operator;

static szg_status inverse_apply(szg_context *context, void *data, const double *x, double *y) {
    inverse_operator *self = data;
    if (!self->z)
        return szgi_inverse_apply(context, self->inverse, x, y);
    szgi_map_to_complex(self->n, x, self->z);
    SZG_TRY(szgi_inverse_apply(context, self->inverse, &self->z->re, &self->z->re));
    szgi_map_to_real(self->n, self->z, y);
    return SZG_OK;
}

/* Where the symbol's edge is at one end, how far apart eigenvalues are there by its curvature, and
 * its width. */
typedef struct end_shape {
    double edge, gap, width, largest;
} end_shape;

/* Least sample of sign * symbol, and the eigenvalue spacing 1.5 f'' (pi/n)^2 that its curvature
 * there suggests, measured over the least distance at which it stands clear of rounding. */
static void find_edge(int64_t grid, const szg_c64 *f, double sign, int64_t n, end_shape *out) {
    int64_t at = 0;
    double largest = 0, farthest = -INFINITY;
    for (int64_t j = 0; j < grid; j++) {
        if (sign * f[j].re < sign * f[at].re)
            at = j;
        largest = fmax(largest, fabs(f[j].re));
        farthest = fmax(farthest, sign * f[j].re);
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
    out->edge = sign * f[at].re;
    out->width = farthest - out->edge;
    out->gap = fmax(3 * rise * ratio * ratio, 64 * DBL_EPSILON * largest);
    out->largest = largest;
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

static szg_status shape_of(szg_context *context, const szg_toeplitz *t, bool largest,
                           end_shape *out) {
    int64_t n = szg_toeplitz_size(t), grid = 2 * n;
    szg_c64 *samples;
    SZG_TRY(szgi_memory_require(context, grid, 2, sizeof *samples, "samples of the symbol",
                                "take a smaller order"));
    SZG_TRY(szgi_memory_alloc(context, grid, &samples));
    szg_status status = szg_symbol_samples(context, t, grid, samples);
    if (status == SZG_OK)
        find_edge(grid, samples, largest ? -1 : 1, n, out);
    szgi_memory_free(samples);
    return status;
}

static szg_status open_inverse(szg_context *context, const end_search *search, bool largest,
                               const end_shape *shape, inverse_operator *out) {
    double away = shape->gap / 2;
    if (search->k > 1)
        away = fmax(away, SHIFT_MIN * shape->largest);
    szg_toeplitz *shifted;
    SZG_TRY(szgi_toeplitz_open_shifted(context, search->t, largest ? -1 : 1, shape->edge - away,
                                       &shifted));
    szg_status status = szgi_inverse_open(context, shifted, &out->inverse);
    szg_toeplitz_close(&shifted);
    if (status == SZG_OK && !szgi_toeplitz_is_real(search->t))
        status = szgi_memory_alloc(context, search->s->n, &out->z);
    return status;
}

/* (pi j / n)^2: the last of k gaps is (2 k + 1) / 3 times the first. */
static bool is_hopeless(const end_search *search, const end_shape *shape) {
    return shape->gap * (double)(2 * search->k + 1) / 3 < 10 * search->rounding;
}

static szg_status inverse_search(szg_context *context, const end_search *search, bool largest,
                                 const end_shape *shape, end_pairs *pairs) {
    inverse_operator inverse = {.n = search->s->n};
    szgi_operator inverted = {.n = inverse.n, .apply = inverse_apply, .data = &inverse};
    bool hopeless = is_hopeless(search, shape);
    szgi_lanczos_options options = {.largest = true,
                                    .k = search->k,
                                    .basis = inverse_basis(inverse.n, search->k),
                                    .restarts = hopeless && search->k > 1 ? HOPELESS_RESTARTS
                                                                          : INVERSE_RESTARTS,
                                    .tolerance = 1e-10,
                                    .partial = true,
                                    .what = "extremes, shift and invert"};
    szg_status status = open_inverse(context, search, largest, shape, &inverse);
    if (status == SZG_OK) {
        status = szgi_lanczos(context, &inverted, &options, pairs->values, &pairs->vectors,
                              &pairs->converged);
    }
    szgi_memory_free(inverse.z);
    szgi_inverse_close(&inverse.inverse);
    if (status != SZG_EDOMAIN && status != SZG_ENOCONV)
        return status;
    /* The shift is not outside the spectrum, or CG stalls. */
    pairs->converged = false;
    return SZG_OK;
}

/* Lags that decay slowly: the truncated symbol ripples at its edge, and the shift is far outside by
 * the distance of eigenvalues there. Rayleigh quotients lie inside and tell the end better, so that
 * the next shift is ten times as near. One that is inside of the spectrum is refused. */
static szg_status approach(szg_context *context, const end_search *search, bool largest,
                           end_shape shape, end_pairs *pairs) {
    enum { STEPS = 6 };
    double sign = largest ? -1 : 1;
    bool refused = is_hopeless(search, &shape) || search->s->n >= VAST;
    for (int i = 0; i < STEPS && !pairs->converged && pairs->vectors && !refused; i++) {
        double shift = shape.edge - shape.gap / 2;
        end_pairs next = {.values = pairs->values, .errors = pairs->errors};
        SZG_TRY(refine(context, search, pairs));
        shape.edge = sign * pairs->values[largest ? search->k - 1 : 0];
        shape.gap = (shape.edge - shift) / 5;
        SZG_TRY(inverse_search(context, search, largest, &shape, &next));
        refused = !next.vectors;
        if (refused)
            continue;
        szgi_memory_free(pairs->vectors);
        *pairs = next;
    }
    return SZG_OK;
}

/* ---- Both ends ---- */

static szg_status plain_search(szg_context *context, const end_search *search, bool largest,
                               int64_t restarts, end_pairs *pairs) {
    szgi_lanczos_options options = {.largest = largest,
                                    .k = search->k,
                                    .basis = plain_basis(search->s->n, search->k),
                                    .restarts = restarts,
                                    .tolerance = 1e-12,
                                    .partial = search->k > 1,
                                    .what = "extremes"};
    return szgi_lanczos(context, search->s, &options, pairs->values, &pairs->vectors,
                        &pairs->converged);
}

/* Of one value at an end: cheap attempts first. */
static szg_status search_one(szg_context *context, const end_search *search, bool largest,
                             end_pairs *pairs) {
    end_shape shape;
    SZG_TRY(
        plain_search(context, search, largest, search->t ? FIRST_RESTARTS : ONLY_RESTARTS, pairs));
    if (pairs->converged || !search->t)
        return SZG_OK;
    SZG_TRY(shape_of(context, search->t, largest, &shape));
    SZG_TRY(inverse_search(context, search, largest, &shape, pairs));
    SZG_TRY(approach(context, search, largest, shape, pairs));
    if (pairs->converged)
        return SZG_OK;
    szgi_memory_free(pairs->vectors);
    pairs->vectors = NULL;
    return plain_search(context, search, largest, LAST_RESTARTS, pairs);
}

/* Of several: by shift-and-invert where the symbol says that they crowd. What has not converged by
 * then says by its residual what it is worth. */
static szg_status search_several(szg_context *context, const end_search *search, bool largest,
                                 end_pairs *pairs) {
    end_shape shape = {.gap = INFINITY};
    if (search->t)
        SZG_TRY(shape_of(context, search->t, largest, &shape));
    if (!(shape.gap < CLUSTERED * shape.width))
        return plain_search(context, search, largest, SEVERAL_RESTARTS, pairs);
    SZG_TRY(inverse_search(context, search, largest, &shape, pairs));
    SZG_TRY(approach(context, search, largest, shape, pairs));
    return pairs->vectors ? SZG_OK : plain_search(context, search, largest, LAST_RESTARTS, pairs);
}

/* Into the listed values and their errors; what is not there is NaN. */
static szg_status settle_end(szg_context *context, const end_search *search, bool largest,
                             szg_spectrum *out, bool *converged, double *worst) {
    int64_t first = largest ? out->count - search->k : 0;
    end_pairs pairs = {.values = out->re + first, .errors = out->error + first};
    szg_status status = search->k > 1 ? search_several(context, search, largest, &pairs)
                                      : search_one(context, search, largest, &pairs);
    if (status == SZG_OK && pairs.vectors)
        status = refine(context, search, &pairs);
    for (int64_t i = 0; !pairs.vectors && i < search->k; i++)
        pairs.values[i] = pairs.errors[i] = NAN;
    szgi_memory_free(pairs.vectors);
    *converged = pairs.converged;
    *worst = szgi_larger(*worst, pairs.residual);
    return status;
}

/* Whether all of several values but the innermost, which is there to be their neighbour, are told
 * from each other: better than that no solver makes them. */
static bool are_resolved(int64_t k, bool largest, const szg_spectrum *s, double norm) {
    int64_t first = largest ? s->count - k + 1 : 0;
    for (int64_t i = first; i < first + k - 1; i++) {
        double below = i > 0 ? s->re[i] - s->re[i - 1] : INFINITY;
        double above = i + 1 < s->count ? s->re[i + 1] - s->re[i] : INFINITY;
        if (!szgi_is_resolved(s->error[i], below < above ? below : above, norm))
            return false;
    }
    return k > 1;
}

void szgi_extremes_conclude(int64_t k, bool low, bool high, double worst, szg_spectrum *out,
                            bool *complete) {
    double norm = 0;
    int64_t established = 0;
    for (int64_t i = 0; i < out->count; i++) {
        norm = fmax(norm, fabs(out->re[i]));
        established += !isnan(out->re[i]);
    }
    *complete =
        (low || are_resolved(k, false, out, norm)) && (high || are_resolved(k, true, out, norm));
    out->residual = norm > 0 ? worst / norm : worst;
    out->residual_meaning = residual_meaning;
    out->normal = true;
    out->note = established == out->count ? NULL : partial_note;
    if (established > 0 && (k > 1 || out->residual <= RESIDUAL_MAX))
        return;
    *complete = false;
    szg_spectrum_close(out);
}

static szg_status search_ends(szg_context *context, const end_search *search, szg_spectrum *out,
                              bool *complete) {
    double worst = 0;
    bool low, high;
    SZG_TRY(szgi_spectrum_errors(context, NAN, out));
    SZG_TRY(settle_end(context, search, false, out, &low, &worst));
    SZG_TRY(settle_end(context, search, true, out, &high, &worst));
    szgi_extremes_conclude(search->k, low, high, worst, out, complete);
    return SZG_OK;
}

/* Lanczos holds its basis and four vectors beside the inverse, whose first column took up to 19
 * before: those of conjugate gradients, and products with the shifted matrix and its circulant. */
int64_t szgi_extremes_vectors(int64_t n, int64_t k, const szg_toeplitz *t) {
    int64_t plain = plain_basis(n, k) + 4;
    if (!t)
        return plain;
    int64_t width = szgi_toeplitz_is_real(t) ? 1 : 2, column = 19 * width;
    int64_t mapped = width == 1 ? 0 : 4;
    int64_t before = n < VAST ? k : 0; /* the vectors that the next shift comes from */
    int64_t inverted = inverse_basis(n, k) + 4 + before + szgi_inverse_vectors(t) + mapped;
    int64_t most = plain > inverted ? plain : inverted;
    return szgi_toeplitz_vectors(t) + (most > column ? most : column);
}

static szg_status extremes_run(szg_context *context, const szgi_operator *s, const szg_toeplitz *t,
                               double rounding, const szgi_selection *selection, szg_spectrum *out,
                               bool *complete) {
    end_search search = {.s = s, .k = selection->high, .t = t, .rounding = rounding};
    *complete = false;
    if (search.k > 1) /* said before work starts: at n = 10^8 a vector takes 0.8 GB */
        SZG_TRY(szgi_memory_require(context, s->n, szgi_extremes_vectors(s->n, search.k, t),
                                    sizeof(double), "the search for the ends",
                                    "ask for fewer values, or take a smaller order"));
    SZG_TRY(szgi_spectrum_open(context, selection->n, szgi_selection_count(selection),
                               SZG_SPECTRUM_EIGENVALUE, false, out));
    return szgi_spectrum_finish(search_ends(context, &search, out, complete), out);
}

szg_status szgi_extremes_symmetric(szg_context *context, const szgi_operator *s, double rounding,
                                   const szgi_selection *selection, szg_spectrum *out,
                                   bool *complete) {
    return extremes_run(context, s, NULL, rounding, selection, out, complete);
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
    /* The map to real numbers is exact except for a scaling, forth and back. */
    double rounding = szgi_toeplitz_product_error(t);
    if (self.z)
        rounding += 4 * DBL_EPSILON * szgi_toeplitz_norm_wiener(t);
    szg_status status = extremes_run(context, &s, t, rounding, selection, out, complete);
    szgi_memory_free(self.z);
    if (status == SZG_OK && out->count > 0) {
        out->method = SZG_METHOD_LANCZOS;
        out->trace = szgi_toeplitz_trace(t).re;
        out->frobenius = szgi_toeplitz_norm_frobenius(t);
    }
    return status;
}
