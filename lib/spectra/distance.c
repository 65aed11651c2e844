/* ALiBi's symmetric bias -slope |i-j| in closed form. With D = [|i-j|], the inverse of D is a
 * second difference with corrected corners, so that its eigenvectors are cosines and sines: the odd
 * half has t = j pi / n, j odd, the even half tan(n t/2) tan(t/2) = -1/n, and one root of each is
 * imaginary. */
#include "closed_form.h"

static const char residual_meaning[] =
    "largest relative error of an eigenvalue, to first order, that the residual of the secular "
    "equation tan(n t/2) tan(t/2) = -1/n at the computed root implies";

/* n t/2 + atan(1 / (n tan(t/2))) - m pi. */
static void even_value(const szgi_secular *self, double t, double *f, double *slope) {
    double n = self->n, c = cos(t / 2), s = n * sin(t / 2);
    *f = n * t / 2 + atan2(c, s) - self->at * M_PI;
    *slope = n / 2 * (1 - 1 / (s * s + c * c));
}

/* u = n s/2: tanh(u) n tanh(u / n) - 1, increasing. */
static void negative_value(const szgi_secular *self, double u, double *f, double *slope) {
    double n = self->n, a = tanh(u), b = tanh(u / n);
    *f = a * n * b - 1;
    *slope = (1 - a * a) * n * b + a * (1 - b * b);
}

/* Eigenvalue of -|i-j| with the p-th smallest angle, p = 1 .. n-1: the two halves alternate, the
 * odd one first. */
static double positive_eigenvalue(double n, int64_t p, double *relative) {
    double t = (double)p * M_PI / n, step = 0;
    if (p % 2 == 0) {
        szgi_secular equation = {.value = even_value, .n = n, .at = (double)(p / 2)};
        t = szgi_secular_root(&equation, (double)(p - 1) * M_PI / n, t, &step);
    }
    double half = sin(t / 2);
    *relative = step * cos(t / 2) / half;
    return 1 / (2 * half * half);
}

/* The negative one. n tanh(u/n) <= u and tanh u <= 1 put the root above 1; u = 2 is beyond it from
 * n = 2 on (2 tanh(2) tanh(1) > 1, and n tanh(u/n) grows with n). */
static double negative_eigenvalue(double n, double *relative) {
    szgi_secular equation = {.value = negative_value, .n = n};
    double step, u = szgi_secular_root(&equation, 1, 2, &step);
    double half = sinh(u / n);
    *relative = 2 * step * cosh(u / n) / (n * half);
    return -1 / (2 * half * half);
}

/* Ascending index 0 of -|i-j| is the negative one; a negative slope reverses the order. */
static double alibi_eigenvalue(const void *data, int64_t n, int64_t index, double *relative) {
    double slope = *(const double *)data;
    if (slope < 0)
        index = n - 1 - index;
    double value = index == 0 ? negative_eigenvalue((double)n, relative)
                              : positive_eigenvalue((double)n, n - index, relative);
    return slope * value;
}

static double alibi_lag(const void *data, int64_t k) {
    return -*(const double *)data * (double)k;
}

static szg_status eigenvalues(szg_context *context, const szg_matrix *matrix,
                              const szg_spectra_options *options, szg_spectrum *out) {
    int64_t n = matrix->rows;
    double slope = matrix->of.parameter;
    SZG_TRY(szgi_require_finite(context, "slope", slope));
    szgi_selection selection;
    SZG_TRY(szgi_selection_of(context, n, options, &selection));
    double order = (double)n;
    double frobenius = fabs(slope) * order * sqrt((order - 1) * (order + 1) / 6);
    SZG_TRY(szgi_require_finite(context, "the bias's Frobenius norm", frobenius));
    if (szgi_options_dense(options))
        return szgi_dense_kernel(context, n, alibi_lag, &slope, options, out);
    bool zero = n == 1 || slope == 0;
    int64_t count = zero ? 0 : szgi_selection_count(&selection);
    SZG_TRY(szgi_spectrum_open(context, n, count, SZG_SPECTRUM_EIGENVALUE, false, out));
    if (options && options->want == SZG_WANT_RANGE)
        SZG_TRY(szgi_spectrum_errors(context, 0, out));
    if (!zero)
        SZG_TRY(szgi_closed_form_fill(context, &selection, alibi_eigenvalue, &slope, out));
    out->normal = true;
    out->zeros = zero ? n : 0;
    out->rank = zero ? 0 : n;
    out->trace = 0;
    out->frobenius = frobenius;
    out->residual_meaning = zero ? "exact: the zero matrix" : residual_meaning;
    out->method = SZG_METHOD_DISTANCE;
    return SZG_OK;
}

/* tanh(u) n tanh(u / n) - 1, increasing. */
static void negative_function(const void *data, const arb_t u, arb_t value) {
    const slong bits = SZGI_CLOSED_BITS;
    int64_t n = *(const int64_t *)data;
    arb_t part;
    arb_init(part);
    arb_tanh(value, u, bits);
    arb_div_si(part, u, (slong)n, bits);
    arb_tanh(part, part, bits);
    arb_mul(value, value, part, bits);
    arb_mul_si(value, value, (slong)n, bits);
    arb_sub_si(value, value, 1, bits);
    arb_clear(part);
}

typedef struct even_root {
    int64_t n, at;
} even_root;

/* n t/2 + atan(1 / (n tan(t/2))) - at pi, increasing: its slope is n/2 (1 - 1 / (1 + (n^2 - 1)
 * sin^2(t/2))). */
static void even_function(const void *data, const arb_t t, arb_t value) {
    const slong bits = SZGI_CLOSED_BITS;
    const even_root *root = data;
    arb_t part;
    arb_init(part);
    arb_mul_2exp_si(part, t, -1);
    arb_mul_si(value, part, (slong)root->n, bits);
    arb_cot(part, part, bits);
    arb_div_si(part, part, (slong)root->n, bits);
    arb_atan(part, part, bits);
    arb_add(value, value, part, bits);
    arb_const_pi(part, bits);
    arb_submul_si(value, part, (slong)root->at, bits);
    arb_clear(part);
}

/* The p-th smallest angle of a positive eigenvalue of -|i-j|: p pi / n where p is odd, below that
 * and above (p - 1) pi / n where it is even. */
static void enclose_angle(int64_t n, int64_t p, arb_t t) {
    const slong bits = SZGI_CLOSED_BITS;
    const even_root root = {n, p / 2};
    arb_t lo, hi;
    arb_init(lo), arb_init(hi);
    arb_const_pi(lo, bits);
    arb_div_si(lo, lo, (slong)n, bits);
    arb_mul_si(hi, lo, (slong)p, bits);
    arb_mul_si(lo, lo, (slong)(p - 1), bits);
    if (p % 2)
        arb_set(t, hi);
    else
        szgi_enclose_root(even_function, &root, lo, hi, t);
    arb_clear(hi), arb_clear(lo);
}

/* Of -|i-j| the least, index 0, is -1 / (2 sinh^2(u / n)), the others 1 / (2 sin^2(t/2)). */
static void enclose(int64_t n, double slope, int64_t index, arb_t value) {
    const slong bits = SZGI_CLOSED_BITS;
    bool negative = (slope < 0 ? n - 1 - index : index) == 0;
    arb_t lo, hi, factor;
    arb_init(lo), arb_init(hi), arb_init(factor);
    arb_set_si(lo, 1);
    arb_set_si(hi, 2);
    if (negative) {
        szgi_enclose_root(negative_function, &n, lo, hi, value);
        arb_div_si(value, value, (slong)n, bits);
        arb_sinh(value, value, bits);
    } else {
        enclose_angle(n, slope < 0 ? index + 1 : n - index, value);
        arb_mul_2exp_si(value, value, -1);
        arb_sin(value, value, bits);
    }
    arb_mul(value, value, value, bits);
    arb_set_d(factor, negative ? -slope : slope);
    arb_mul_2exp_si(factor, factor, -1);
    arb_div(value, factor, value, bits);
    arb_clear(factor), arb_clear(hi), arb_clear(lo);
}

static bool summable(double slope) {
    (void)slope;
    return false;
}

const closed_form szgi_closed_form_distance = {
    .eigenvalues = eigenvalues, .enclose = enclose, .summable = summable};
