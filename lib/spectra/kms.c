/* Kac-Murdock-Szego matrices [rho^|i-j|], -1 < rho < 1, from the roots of
 * (n-1) t + 2 arg(e^{it} - |rho|) = j pi (Kac, Murdock, Szego 1953; Grenander and Szego 1958, 5.3).
 * The ends rho = +-1, where the matrix is (+-1)^|i-j| of rank one, are answered exactly. O(count).
 */
#include "closed_form.h"

static const char residual_meaning[] =
    "largest relative error of an eigenvalue, to first order, that the residual of the secular "
    "equation (n-1) t + 2 arg(e^{it} - |rho|) = j pi at the computed root implies";

/* (n-1) t - 2 atan2(cos t - r, sin t) - (j-1) pi: the secular equation with pi taken out of both
 * sides, so that nothing cancels for j = 1, where t is much smaller than pi / n when r is near 1.
 */
static void kms_value(const szgi_secular *self, double t, double *f, double *slope) {
    double r = self->parameter, half = sin(t / 2), sine = sin(t);
    double gap = 1 - r, toward = gap - 2 * half * half;
    double modulus = gap * gap + 4 * r * half * half;
    *f = (self->n - 1) * t - 2 * atan2(toward, sine) - (self->at - 1) * M_PI;
    *slope = (self->n - 1) + 2 * (gap + 2 * r * half * half) / modulus;
}

/* With j = 1 for the largest. For r = |rho| in (0, 1) arg(e^{it} - r) lies between t and
 * (t + pi) / 2, hence the root between (j-1) pi / n and j pi / (n+1). */
static double kms_eigenvalue(const void *data, int64_t n, int64_t index, double *relative) {
    double r = *(const double *)data, order = (double)n, j = (double)(n - index);
    szgi_secular equation = {.value = kms_value, .n = order, .at = j, .parameter = r};
    double step;
    double t = szgi_secular_root(&equation, (j - 1) * M_PI / order, j * M_PI / (order + 1), &step);
    double half = sin(t / 2), gap = 1 - r;
    double modulus = gap * gap + 4 * r * half * half;
    *relative = step * 2 * r * sin(t) / modulus;
    return gap * (1 + r) / modulus;
}

/* sqrt(sum_{ij} r^{2|i-j|}). With A_m = sum_{k<m} q^k and B_m = A_1 + .. + A_m, q = r^2, the sum is
 * 2 B_n - n; both double in a step, B_2m = (1 + q^m) B_m + m A_m, all terms positive. */
static double kms_frobenius(int64_t n, double r) {
    double q = r * r, power = q, a = 1, b = 1; /* of m = 1 */
    int64_t m = 1;
    int bit = 62;
    while (!(n >> bit & 1))
        bit--;
    while (--bit >= 0) {
        b = b + (double)m * a + power * b;
        a = a + power * a;
        power *= power;
        m *= 2;
        if (n >> bit & 1) {
            a = 1 + q * a;
            b = b + a;
            power *= q;
            m++;
        }
    }
    return sqrt(2 * b - (double)n);
}

/* rho = +-1: (+-1)^|i-j| = v v^T. */
static szg_status kms_rank_one(szg_context *context, int64_t n, szg_spectrum *out) {
    SZG_TRY(szgi_spectrum_open(context, n, 1, SZG_SPECTRUM_EIGENVALUE, false, out));
    out->re[0] = (double)n;
    out->zeros = n - 1;
    out->rank = 1;
    SZG_TRY(szgi_spectrum_errors(context, 0, out));
    out->residual_meaning = "exact: a matrix of rank one, v v^T";
    return SZG_OK;
}

static szg_status kms_interior(szg_context *context, int64_t n, double r,
                               const szg_spectra_options *options, szg_spectrum *out) {
    szgi_selection selection;
    SZG_TRY(szgi_selection_of(context, n, options, &selection));
    SZG_TRY(szgi_spectrum_open(context, n, szgi_selection_count(&selection),
                               SZG_SPECTRUM_EIGENVALUE, false, out));
    out->rank = n; /* positive definite for |rho| < 1 */
    if (options && options->want == SZG_WANT_RANGE)
        SZG_TRY(szgi_spectrum_errors(context, 0, out));
    if (r > 0) {
        out->residual_meaning = residual_meaning;
        return szgi_closed_form_fill(context, &selection, kms_eigenvalue, &r, out);
    }
    out->residual_meaning = "exact: the identity";
    for (int64_t i = 0; i < out->count; i++)
        out->re[i] = 1;
    return SZG_OK;
}

static double kms_lag(const void *data, int64_t k) {
    return pow(*(const double *)data, (double)k);
}

static szg_status eigenvalues(szg_context *context, const szg_matrix *matrix,
                              const szg_spectra_options *options, szg_spectrum *out) {
    int64_t n = matrix->rows;
    double rho = matrix->of.parameter;
    SZG_TRY(szgi_require_finite(context, "rho", rho));
    double r = fabs(rho);
    if (!(r <= 1))
        return szgi_fail(context, SZG_EINVAL,
                         "rho = %g: a Kac-Murdock-Szego matrix takes -1 <= rho <= 1", rho);
    if (szgi_options_dense(options))
        return szgi_dense_kernel(context, n, kms_lag, &rho, options, out);
    SZG_TRY(r == 1 ? kms_rank_one(context, n, out) : kms_interior(context, n, r, options, out));
    out->normal = true;
    out->trace = (double)n;
    out->frobenius = kms_frobenius(n, r);
    out->method = SZG_METHOD_KMS;
    return SZG_OK;
}

typedef struct kms_root {
    int64_t n, at; /* number of the root, the largest eigenvalue's is 1 */
    arb_t r;
} kms_root;

/* (n-1) t - 2 atan((cos t - r) / sin t) - (at - 1) pi, 0 < t < pi. */
static void kms_function(const void *data, const arb_t t, arb_t value) {
    const kms_root *root = data;
    const slong bits = SZGI_CLOSED_BITS;
    arb_t sine, angle;
    arb_init(sine), arb_init(angle);
    arb_sin_cos(sine, angle, t, bits);
    arb_sub(angle, angle, root->r, bits);
    arb_div(angle, angle, sine, bits);
    arb_atan(angle, angle, bits);
    arb_mul_2exp_si(angle, angle, 1);
    arb_mul_si(value, t, (slong)(root->n - 1), bits);
    arb_sub(value, value, angle, bits);
    arb_const_pi(angle, bits);
    arb_submul_si(value, angle, (slong)(root->at - 1), bits);
    arb_clear(angle), arb_clear(sine);
}

/* (1 - r^2) / ((1 - r)^2 + 4 r sin^2(t/2)) at the root in [(at-1) pi / n, at pi / (n+1)]. */
static void kms_enclose(kms_root *root, arb_t value) {
    const slong bits = SZGI_CLOSED_BITS;
    arb_t lo, hi, t;
    arb_init(lo), arb_init(hi), arb_init(t);
    arb_const_pi(lo, bits);
    arb_mul_si(hi, lo, (slong)root->at, bits);
    arb_div_si(hi, hi, (slong)(root->n + 1), bits);
    arb_mul_si(lo, lo, (slong)(root->at - 1), bits);
    arb_div_si(lo, lo, (slong)root->n, bits);
    szgi_enclose_root(kms_function, root, lo, hi, t);
    arb_mul_2exp_si(t, t, -1);
    arb_sin(t, t, bits);
    arb_mul(t, t, t, bits);
    arb_mul(t, t, root->r, bits);
    arb_mul_2exp_si(t, t, 2);
    arb_sub_si(lo, root->r, 1, bits);
    arb_add_si(hi, root->r, 1, bits);
    arb_addmul(t, lo, lo, bits);
    arb_mul(value, lo, hi, bits);
    arb_div(value, value, t, bits);
    arb_neg(value, value);
    arb_clear(t), arb_clear(hi), arb_clear(lo);
}

static void enclose(int64_t n, double rho, int64_t index, arb_t value) {
    double r = fabs(rho);
    kms_root root = {.n = n, .at = n - index};
    arb_set_si(value, r == 0 || n == 1 ? 1 : index < n - 1 ? 0 : (slong)n); /* of r = 0 and 1 */
    if (r == 1 || r == 0)
        return;
    arb_init(root.r);
    arb_set_d(root.r, r);
    kms_enclose(&root, value);
    arb_clear(root.r);
}

static bool summable(double rho) {
    return fabs(rho) < 1;
}

const closed_form szgi_closed_form_kms = {
    .eigenvalues = eigenvalues, .enclose = enclose, .summable = summable};
