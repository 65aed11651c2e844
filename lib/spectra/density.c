/* Spectral density by the kernel polynomial method (Weisse, Wellein, Alvermann, Fehske 2006). */
#include "density.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/options.h"
#include "extremes.h"
#include "factored.h"
#include "solvers.h"
#include "spectra_private.h"
#include "toeplitz/matrix.h"

enum { MOMENTS = 128, MOMENTS_MAX = 65536, VECTORS_MAX = 1 << 20, ALL_MAX = 4096 };
/* Components of all vectors together, where nobody says how many: errors of moments below 0.002. */
enum { COMPONENTS = 1 << 19 };

void szg_density_close(szg_density *density) {
    if (!density)
        return;
    szgi_memory_free(density->moment);
    *density = (szg_density){0};
}

/* ---- Options ---- */

static szg_status check_count(szg_context *context, const char *what, int64_t count, int64_t least,
                              int64_t most) {
    return count >= least && count <= most ? SZG_OK
                                           : szgi_fail(context, SZG_EINVAL,
                                                       "spectral density: %s %" PRId64 ": %" PRId64
                                                       " to %" PRId64 " are possible",
                                                       what, count, least, most);
}

static szg_status complete(szg_context *context, const szg_matrix *matrix,
                           szg_density_options *own) {
    if (own->moments == 0)
        own->moments = MOMENTS;
    SZG_TRY(check_count(context, "moments", own->moments, 2, MOMENTS_MAX));
    if (own->points == 0)
        own->points = 2 * own->moments;
    SZG_TRY(check_count(context, "points", own->points, 1, 1 << 24));
    SZG_TRY(check_count(context, "vectors", own->vectors, 0, VECTORS_MAX));
    if (matrix->rows != matrix->columns || matrix->rows < 1)
        return szgi_fail(context, SZG_EINVAL,
                         "spectral density of a %" PRId64 " x %" PRId64
                         " matrix: it has no eigenvalues, or none at all",
                         matrix->rows, matrix->columns);
    return SZG_OK;
}

/* ---- Moments ---- */

static szg_status open_arrays(szg_context *context, const szg_density_options *options,
                              szg_density *out) {
    out->moments = options->moments;
    out->points = options->points;
    SZG_TRY(szgi_memory_alloc(context, out->moments + 5 * out->points, &out->moment));
    out->lambda = out->moment + out->moments;
    out->density = out->lambda + out->points;
    out->error = out->density + out->points;
    out->cumulative = out->error + out->points;
    out->resolution = out->cumulative + out->points;
    return SZG_OK;
}

static szg_status no_density(szg_context *context, double value) {
    return szgi_fail(context, SZG_EDOMAIN,
                     "spectral density: every eigenvalue is %.17g, which has no density", value);
}

/* M moments smear an eigenvalue over half the interval / M and more. That is to be wider than what
 * rounding makes of an eigenvalue, and 1 over it a double. */
static szg_status check_interval(szg_context *context, const szg_density *self) {
    double finest = (self->hi / 2 - self->lo / 2) / (double)self->moments;
    bool tiny = !(finest >= 0x1p-1000);
    if (!tiny && finest >= 8 * DBL_EPSILON * fmax(fabs(self->lo), fabs(self->hi)))
        return SZG_OK;
    return szgi_fail(context, SZG_EDOMAIN,
                     "spectral density: every eigenvalue lies in [%.17g, %.17g], too short for "
                     "%" PRId64 " moments in double precision: %s",
                     self->lo, self->hi, self->moments,
                     tiny ? "multiply the matrix by a power of two"
                          : "ask for fewer, or subtract a multiple of the identity");
}

/* Values and ends, proved if they can be: a proof that fails must not cost the answer. */
static szg_status proved_values(szg_context *context, const szg_matrix *matrix, szg_spectrum *out) {
    szg_spectra_options options = {SZG_INIT(szg_spectra_options), .certify = SZG_CERTIFY_ENDS};
    szg_status status =
        szg_spectrum_compute(context, matrix, SZG_QUESTION_HERMITIAN_PART, &options, out);
    if (status != SZG_ENOMEM && status != SZG_ENOCONV)
        return status;
    return szg_spectrum_compute(context, matrix, SZG_QUESTION_HERMITIAN_PART, NULL, out);
}

/* Without a proof: backward stability moves a value by n eps of the norm at most, and twice that is
 * allowed; logits are off by the rounding of their entries too. */
static szg_status computed_ends(szg_context *context, const szg_matrix *matrix, szg_density *out) {
    double entries = 0, norm = fmax(fabs(out->lo), fabs(out->hi));
    if (matrix->kind == SZG_MATRIX_FACTORED)
        SZG_TRY(szgi_logits_entry_error(context, &matrix->of.factored, &entries));
    double error = 2 * (double)out->n * DBL_EPSILON * norm + 2 * entries + DBL_TRUE_MIN;
    out->lo = nextafter(out->lo - error, -INFINITY);
    out->hi = nextafter(out->hi + error, INFINITY);
    return SZG_OK;
}

/* Whether there is a density is asked of the computed ends, which are nearer to the true ones. */
static szg_status choose_ends(szg_context *context, const szg_matrix *matrix,
                              const szg_spectrum *spectrum, szg_density *out) {
    szgi_unit_map map;
    SZG_TRY(szgi_spectrum_range(context, spectrum, &out->lo, &out->hi));
    if (out->lo / 2 == out->hi / 2)
        return no_density(context, out->lo);
    SZG_TRY(szgi_unit_map_open(context, out->lo, out->hi, &map));
    SZG_TRY(check_interval(context, out));
    out->proved = spectrum->certified && !isnan(spectrum->min.lo) && !isnan(spectrum->max.hi);
    if (!out->proved)
        return computed_ends(context, matrix, out);
    out->lo = fmin(out->lo, spectrum->min.lo);
    out->hi = fmax(out->hi, spectrum->max.hi);
    return SZG_OK;
}

static szg_status of_spectrum(szg_context *context, const szg_matrix *matrix, szg_density *out) {
    szg_spectrum spectrum;
    szgi_unit_map map;
    SZG_TRY(proved_values(context, matrix, &spectrum));
    szg_status status = choose_ends(context, matrix, &spectrum, out);
    if (status == SZG_OK)
        status = szgi_unit_map_open(context, out->lo, out->hi, &map);
    if (status == SZG_OK)
        status = szgi_moments_of_values(context, &spectrum, &map, out->moments, out->moment);
    szg_spectrum_close(&spectrum);
    return status;
}

/* The Hermitian part of a Toeplitz matrix is one, whose ends have a proof. */
static szg_status of_values(szg_context *context, const szg_matrix *matrix, szg_density *out) {
    szg_toeplitz *part;
    if (matrix->kind != SZG_MATRIX_TOEPLITZ || !out->hermitian_part)
        return of_spectrum(context, matrix, out);
    SZG_TRY(szgi_toeplitz_open_part(context, matrix->of.toeplitz, &part));
    const szg_matrix hermitian = szg_matrix_toeplitz(part);
    szg_status status = of_spectrum(context, &hermitian, out);
    szg_toeplitz_close(&part);
    return status;
}

/* Of t, whose diagonal is 0: a large one would cost the products its digits. */
static szg_status of_hollow(szg_context *context, const szg_toeplitz *t, double diagonal,
                            const szg_density_options *options, szg_density *out) {
    szgi_unit_map map;
    double lo, hi;
    SZG_TRY(szgi_toeplitz_enclose(context, t, &lo, &hi));
    out->lo = nextafter(lo + diagonal, -INFINITY);
    out->hi = nextafter(hi + diagonal, INFINITY);
    SZG_TRY(szgi_unit_map_open(context, lo, hi, &map));
    SZG_TRY(check_interval(context, out));
    out->proved = true;
    out->vectors = options->vectors;
    out->moment_error = sqrt(2 / ((double)out->n * (double)out->vectors));
    return szgi_moments_of_products(context, t, &map, options, out->moment);
}

static szg_status of_hermitian_toeplitz(szg_context *context, const szg_toeplitz *t,
                                        const szg_density_options *options, szg_density *out) {
    szg_toeplitz *hollow;
    double diagonal = szg_toeplitz_at(t, 0).re;
    if (szgi_toeplitz_degree(t) == 0)
        return no_density(context, diagonal);
    SZG_TRY(szgi_toeplitz_open_shifted(context, t, 1, diagonal, &hollow));
    szg_status status = of_hollow(context, hollow, diagonal, options, out);
    szg_toeplitz_close(&hollow);
    return status;
}

static szg_status of_products(szg_context *context, const szg_matrix *matrix,
                              const szg_density_options *options, szg_density *out) {
    szg_toeplitz *part;
    szg_density_options own = *options;
    if (matrix->kind != SZG_MATRIX_TOEPLITZ)
        return szgi_fail(context, SZG_EDOMAIN,
                         "spectral density of a %s matrix of order %" PRId64
                         " from random vectors: Toeplitz matrices alone have products here; leave "
                         "the vectors out, or take at most %d rows",
                         szg_matrix_kind_name(matrix->kind), matrix->rows, ALL_MAX);
    if (own.vectors == 0)
        own.vectors = (COMPONENTS - 1) / matrix->rows + 1;
    if (szgi_toeplitz_is_hermitian(matrix->of.toeplitz))
        return of_hermitian_toeplitz(context, matrix->of.toeplitz, &own, out);
    SZG_TRY(szgi_toeplitz_open_part(context, matrix->of.toeplitz, &part));
    szg_status status = of_hermitian_toeplitz(context, part, &own, out);
    szg_toeplitz_close(&part);
    return status;
}

/* ---- The density at the points ---- */

/* Jackson's factor g_m of `count` moments: sum_m g_m mu_m T_m is a positive kernel's mean. */
static double jackson(int64_t m, int64_t count) {
    double angle = M_PI / (double)(count + 1), at = angle * (double)m;
    return ((double)(count - m + 1) * cos(at) + sin(at) / tan(angle)) / (double)(count + 1);
}

/* Standard deviation of the kernel at x: its mean of y is g_1 x, and of y^2 = (T_2 + 1) / 2,
 * (g_2 T_2(x) + 1) / 2. */
static double resolution(int64_t count, double x) {
    double g1 = jackson(1, count), g2 = count > 2 ? jackson(2, count) : 0;
    double mean = g1 * x, square = (g2 * (2 * x * x - 1) + 1) / 2;
    return sqrt(fmax(square - mean * mean, 0));
}

/* The kernel's mean E = tr p(A) / n >= 0 is estimated with standard deviation at most
 * s sqrt(E), s^2 = 2 K / (n vectors), K = g_0 + 2 sum g_m the kernel's peak, because
 * ||p(A)||_F^2 / n <= K E. The largest E within one deviation of the estimate bounds it. */
static double mean_error(double estimate, double peak, double moment_error) {
    double s = sqrt(peak) * moment_error;
    double root = (s + sqrt(s * s + 4 * fmax(estimate, 0))) / 2;
    return s * root;
}

static void evaluate(szg_density *self, const double *g, double peak, int64_t point) {
    double theta = M_PI * (1 - ((double)point + 0.5) / (double)self->points), x = cos(theta);
    double mean = g[0] * self->moment[0], below = g[0] * self->moment[0] * (M_PI - theta);
    for (int64_t m = 1; m < self->moments; m++) {
        double angle = (double)m * theta;
        mean += 2 * g[m] * self->moment[m] * cos(angle);
        below -= 2 * g[m] * self->moment[m] * sin(angle) / (double)m;
    }
    double half = self->hi / 2 - self->lo / 2, weight = 1 / (M_PI * sin(theta) * half);
    self->lambda[point] = self->lo / 2 + self->hi / 2 + half * x;
    self->density[point] = weight * mean;
    self->error[point] = weight * mean_error(mean, peak, self->moment_error);
    self->cumulative[point] = below / M_PI;
    self->resolution[point] = half * resolution(self->moments, x);
}

static szg_status evaluate_all(szg_context *context, szg_density *self) {
    double *g, peak = 0;
    SZG_TRY(szgi_memory_alloc(context, self->moments, &g));
    for (int64_t m = 0; m < self->moments; m++) {
        g[m] = jackson(m, self->moments);
        peak += (m == 0 ? 1 : 2) * g[m];
    }
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < self->points && status == SZG_OK; i++) {
        evaluate(self, g, peak, i);
        status = szgi_context_check_cancel(context);
    }
    szgi_memory_free(g);
    return status;
}

/* ---- The verb ---- */

static bool has_all(const szg_matrix *matrix, const szg_density_options *options) {
    return options->vectors == 0 && (szgi_spectrum_is_cheap(matrix) || matrix->rows <= ALL_MAX);
}

static szg_status compute(szg_context *context, const szg_matrix *matrix,
                          const szg_density_options *options, szg_density *out) {
    bool hermitian;
    SZG_TRY(szgi_matrix_is_hermitian(context, matrix, &hermitian));
    out->n = matrix->rows;
    out->hermitian_part = !hermitian;
    SZG_TRY(open_arrays(context, options, out));
    SZG_TRY(has_all(matrix, options) ? of_values(context, matrix, out)
                                     : of_products(context, matrix, options, out));
    return evaluate_all(context, out);
}

szg_status szg_density_compute(szg_context *context, const szg_matrix *matrix,
                               const szg_density_options *options, szg_density *out) {
    szg_density_options own;
    *out = (szg_density){0};
    SZGI_ENTER(context);
    SZG_TRY(SZGI_OPTIONS(context, szg_density_options, options, &own));
    SZG_TRY(szgi_matrix_check(context, matrix));
    SZG_TRY(complete(context, matrix, &own));
    szg_status status = compute(context, matrix, &own, out);
    if (status != SZG_OK)
        szg_density_close(out);
    return status;
}
