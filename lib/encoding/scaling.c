/* The frequencies of rotary encodings and how context extension changes them. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "encoding_private.h"

/* The order of the choices in ROTARY_KEYS. */
enum scaling { NONE, LINEAR, NTK, DYNAMIC, YARN, LLAMA3, PROPORTIONAL, SCALINGS };

static const double PI = 3.14159265358979323846;

szg_status szgi_require_even(szg_context *context, const szg_encoding *encoding, const char *key,
                             int64_t value) {
    if (value % 2 == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "%s: %s=%lld is odd: dimensions rotate in pairs",
                     encoding->type->class.name, key, (long long)value);
}

/* Which keys a scaling needs (n) or takes (t). */
typedef struct key_rule {
    const char *key;
    const char *by_scaling; /* one letter each: n, t, or - where the key would be ignored */
} key_rule;

static const key_rule rules[] = {
    /*                    NLNDYLP */
    {"factor", "-nnnnnt"},    {"original", "---nnt-"},
    {"length", "---n---"},    {"low", "-----t-"},
    {"high", "-----t-"},      {"beta_fast", "----t--"},
    {"beta_slow", "----t--"}, {"attention_factor", "----t--"},
};

static szg_status check_keys(szg_context *context, const szg_encoding *encoding,
                             enum scaling scaling) {
    const char *name = encoding->type->class.name;
    const char *word = szgi_spec_text(encoding->spec, "scaling");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool given = szgi_spec_given(encoding->spec, rules[i].key);
        char rule = rules[i].by_scaling[scaling];
        if (rule == 'n' && !given)
            return szgi_fail(context, SZG_EINVAL, "%s: scaling=%s needs the key %s", name, word,
                             rules[i].key);
        if (rule == '-' && given)
            return szgi_fail(context, SZG_EINVAL,
                             "%s: key %s has no meaning under scaling=%s, and would be ignored",
                             name, rules[i].key, word);
    }
    return SZG_OK;
}

/* bloc97's NTK-aware base: base s^(d/(d-2)). */
static szg_status stretch_base(szg_context *context, const szg_encoding *encoding, int64_t rotary,
                               double stretch, double *base) {
    if (rotary <= 2)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: ntk and dynamic scaling need more than 2 rotary dimensions",
                         encoding->type->class.name);
    *base *= pow(stretch, (double)rotary / (double)(rotary - 2));
    return SZG_OK;
}

static double dynamic_stretch(const szgi_spec *spec) {
    double factor = szgi_spec_real(spec, "factor"), original = szgi_spec_real(spec, "original");
    double length = fmax(szgi_spec_real(spec, "length"), original);
    return factor * length / original - (factor - 1);
}

/* Wavelength bands of Llama 3.1: long waves are slowed by the factor, short ones kept. */
static szg_status scale_llama3(szg_context *context, const szg_encoding *encoding, int64_t pairs,
                               double *theta) {
    const szgi_spec *spec = encoding->spec;
    double factor = szgi_spec_real(spec, "factor");
    double original = szgi_spec_given(spec, "original") ? szgi_spec_real(spec, "original") : 8192;
    double low = szgi_spec_real(spec, "low"), high = szgi_spec_real(spec, "high");
    if (!(high > low))
        return szgi_fail(context, SZG_EINVAL, "%s: high=%g must exceed low=%g",
                         encoding->type->class.name, high, low);
    for (int64_t t = 0; t < pairs; t++) {
        double waves = original * theta[t] / (2 * PI);
        double keep = (waves - low) / (high - low);
        keep = fmin(1, fmax(0, keep));
        theta[t] *= keep + (1 - keep) / factor;
    }
    return SZG_OK;
}

/* The pair index whose frequency makes `rotations` turns over the original context. */
static double correction_index(double rotations, double size, double base, double original) {
    return size * log(original / (rotations * 2 * PI)) / (2 * log(base));
}

/* Peng et al. 2023: a ramp over the pairs between theta and theta / factor; attention factor. */
static szg_status scale_yarn(szg_context *context, szg_encoding *encoding, int64_t pairs,
                             double base, double *theta) {
    const szgi_spec *spec = encoding->spec;
    double factor = szgi_spec_real(spec, "factor"), original = szgi_spec_real(spec, "original");
    double size = 2 * (double)pairs;
    if (!(base > 1))
        return szgi_fail(context, SZG_EINVAL, "%s: scaling=yarn needs a base above 1",
                         encoding->type->class.name);
    double low = floor(correction_index(szgi_spec_real(spec, "beta_fast"), size, base, original));
    double high = ceil(correction_index(szgi_spec_real(spec, "beta_slow"), size, base, original));
    low = fmax(low, 0);
    high = fmin(high, size - 1);
    if (!(low <= high))
        return szgi_fail(context, SZG_EINVAL,
                         "%s: original=%g, beta_fast and beta_slow leave yarn no ramp between kept "
                         "and divided frequencies (pairs %g .. %g)",
                         encoding->type->class.name, original, low, high);
    if (low == high)
        high += 0.001; /* as the published code does: no division by zero */
    for (int64_t t = 0; t < pairs; t++) {
        double ramp = fmin(1, fmax(0, ((double)t - low) / (high - low)));
        theta[t] *= (1 - ramp) + ramp / factor;
    }
    encoding->rotary.amplitude = szgi_spec_given(spec, "attention_factor")
                                     ? szgi_spec_real(spec, "attention_factor")
                                     : 0.1 * log(factor) + 1;
    return SZG_OK;
}

static szg_status fill_theta(szg_context *context, szg_encoding *encoding, int64_t rotary,
                             enum scaling scaling) {
    const szgi_spec *spec = encoding->spec;
    double *theta = encoding->theta;
    int64_t pairs = rotary / 2;
    double base = szgi_spec_real(spec, "base");
    if (scaling == NTK)
        SZG_TRY(stretch_base(context, encoding, rotary, szgi_spec_real(spec, "factor"), &base));
    if (scaling == DYNAMIC)
        SZG_TRY(stretch_base(context, encoding, rotary, dynamic_stretch(spec), &base));
    int64_t block = encoding->dim - encoding->rotary.offset;
    szgi_cosines_frequencies(pairs, scaling == PROPORTIONAL ? block : rotary, base, theta);
    if (scaling == LINEAR || (scaling == PROPORTIONAL && szgi_spec_given(spec, "factor")))
        for (int64_t t = 0; t < pairs; t++)
            theta[t] /= szgi_spec_real(spec, "factor");
    if (scaling == LLAMA3)
        return scale_llama3(context, encoding, pairs, theta);
    if (scaling == YARN)
        return scale_yarn(context, encoding, pairs, base, theta);
    return SZG_OK;
}

szg_status szgi_scaling_open(szg_context *context, szg_encoding *encoding, int64_t offset,
                             int64_t rotary) {
    const szgi_spec *spec = encoding->spec;
    enum scaling scaling = (enum scaling)szgi_spec_choice(spec, "scaling");
    SZG_TRY(check_keys(context, encoding, scaling));
    /* Proportional: every pair of the head exists, those past `rotary` have frequency 0. */
    int64_t pairs = scaling == PROPORTIONAL ? (encoding->dim - offset) / 2 : rotary / 2;
    SZG_TRY(szgi_memory_alloc(context, pairs, sizeof(double), &encoding->theta));
    encoding->rotary = (szg_rotary){
        .dim = encoding->dim,
        .offset = offset,
        .pairs = pairs,
        .unrotated = encoding->dim - 2 * pairs,
        .theta = encoding->theta,
        .pairing =
            szgi_spec_choice(spec, "pairing") == 0 ? SZG_PAIRING_INTERLEAVED : SZG_PAIRING_HALF,
        .amplitude = 1,
    };
    SZG_TRY(fill_theta(context, encoding, rotary, scaling));
    return szgi_cosines_atoms(context, pairs, encoding->theta, encoding->rotary.unrotated > 0,
                              &encoding->atoms);
}
