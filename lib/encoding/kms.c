/* Kac, Murdock and Szego 1953: rho^|k|, the test case with everything in closed form. */
#include <math.h>

#include "encoding/record.h"

static const szgi_key keys[] = {
    {.name = "rho",
     .type = SZGI_KEY_REAL,
     .required = true,
     .min = -1,
     .max = 1,
     .doc = "the kernel is rho^|k|, -1 < rho < 1"},
};

typedef struct kms {
    double rho;
} kms;

static szg_status open_kms(szg_context *context, szg_encoding *encoding) {
    kms *self = encoding->state;
    self->rho = szgi_spec_real(encoding->spec, "rho");
    if (!(fabs(self->rho) < 1))
        return szgi_fail(context, SZG_EINVAL,
                         "kms: rho=%g is outside the open interval (-1, 1): at its ends the lags "
                         "do not decay and the symbol is a point mass",
                         self->rho);
    return SZG_OK;
}

static double rho_of(const szg_encoding *encoding) {
    const kms *self = encoding->state;
    return self->rho;
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)head, (void)matrix;
    *facts = (szg_kernel_facts){
        .matrix = "coefficients",
        .form = SZG_FORM_CLOSED,
        .definiteness = SZG_DEFINITE_POSITIVE,
        .structure = SZG_KERNEL_KMS,
        .kind = SZG_TOEPLITZ_SYMMETRIC,
        .parameter = rho_of(encoding),
        .rank_bound = INT64_MAX,
        .rank_exact = true,
        .summable = true,
        .degree = -1,
        .line =
            "The lags rho^|k| decay geometrically; the symbol is the Poisson kernel, smooth and "
            "positive",
    };
}

static double lag_of(const szg_encoding *encoding, int64_t head, int64_t k) {
    (void)head;
    return pow(rho_of(encoding), (double)(k < 0 ? -k : k));
}

/* 1 - 2 rho cos t + rho^2 = (1 - rho)^2 + 4 rho sin^2(t/2): no cancellation near the peak. */
static double symbol_of(const szg_encoding *encoding, int64_t head, double theta) {
    (void)head;
    double rho = rho_of(encoding);
    double sine = sin(theta / 2), cosine = cos(theta / 2);
    double distance = rho >= 0 ? (1 - rho) * (1 - rho) + 4 * rho * sine * sine
                               : (1 + rho) * (1 + rho) - 4 * rho * cosine * cosine;
    return (1 - rho) * (1 + rho) / distance;
}

/* Three roundings of half an ulp each: four steps outwards are safe. */
static szg_interval widen(double value) {
    szg_interval out = {value, value};
    for (int step = 0; step < 4; step++) {
        out.lo = nextafter(out.lo, -INFINITY);
        out.hi = nextafter(out.hi, INFINITY);
    }
    return out;
}

static void range_of(const szg_encoding *encoding, int64_t head, szg_interval *min,
                     szg_interval *max, double *theta_min, double *theta_max) {
    (void)head;
    double rho = rho_of(encoding), r = fabs(rho);
    const double pi = 3.14159265358979323846;
    *min = widen((1 - r) / (1 + r));
    *max = widen((1 + r) / (1 - r));
    *theta_min = rho < 0 ? 0 : pi;
    *theta_max = rho < 0 ? pi : 0;
}

const encoding_record szgi_encoding_kms = {
    .traits = {.class = {.name = "kms",
                         .doc = "the Kac-Murdock-Szego kernel rho^|k|, a test case",
                         .reference = "Kac, Murdock, Szego 1953",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_BIAS},
    .state_size = sizeof(kms),
    .open = open_kms,
    .facts = facts_of,
    .lag = lag_of,
    .symbol = symbol_of,
    .symbol_range = range_of,
};
