/* The frequencies of rotary encodings and how context extension changes them. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "encoding/cosines.h"
#include "encoding/scaling.h"

/* The order of the choices in ROTARY_KEYS. */
enum scaling { NONE, LINEAR, NTK, DYNAMIC, YARN, LLAMA3, PROPORTIONAL, SCALINGS };

static const double PI = ROTATION_PI;

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

static szg_status check_keys(szg_context *context, const szgi_spec *spec, enum scaling scaling) {
    const char *name = szgi_spec_name(spec), *word = szgi_spec_text(spec, "scaling");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool given = szgi_spec_given(spec, rules[i].key);
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
static szg_status stretch_base(szg_context *context, const szgi_spec *spec, int64_t rotary,
                               double stretch, double *base) {
    if (rotary <= 2)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: ntk and dynamic scaling need more than 2 rotary dimensions",
                         szgi_spec_name(spec));
    *base *= pow(stretch, (double)rotary / (double)(rotary - 2));
    return SZG_OK;
}

static double dynamic_stretch(const szgi_spec *spec) {
    double factor = szgi_spec_real(spec, "factor"), original = szgi_spec_real(spec, "original");
    double length = fmax(szgi_spec_real(spec, "length"), original);
    return factor * length / original - (factor - 1);
}

/* Wavelength bands of Llama 3.1: long waves are slowed by the factor, short ones kept. */
static szg_status scale_llama3(szg_context *context, const szgi_spec *spec, int64_t pairs,
                               double *theta) {
    double factor = szgi_spec_real(spec, "factor");
    double original = szgi_spec_given(spec, "original") ? szgi_spec_real(spec, "original") : 8192;
    double low = szgi_spec_real(spec, "low"), high = szgi_spec_real(spec, "high");
    if (!(high > low))
        return szgi_fail(context, SZG_EINVAL, "%s: high=%g must exceed low=%g",
                         szgi_spec_name(spec), high, low);
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
static szg_status scale_yarn(szg_context *context, const szgi_spec *spec, double base,
                             rotation *out) {
    int64_t pairs = out->rotary.pairs;
    double factor = szgi_spec_real(spec, "factor"), original = szgi_spec_real(spec, "original");
    double size = 2 * (double)pairs;
    if (!(base > 1))
        return szgi_fail(context, SZG_EINVAL, "%s: scaling=yarn needs a base above 1",
                         szgi_spec_name(spec));
    double low = floor(correction_index(szgi_spec_real(spec, "beta_fast"), size, base, original));
    double high = ceil(correction_index(szgi_spec_real(spec, "beta_slow"), size, base, original));
    low = fmax(low, 0);
    high = fmin(high, size - 1);
    if (!(low <= high))
        return szgi_fail(context, SZG_EINVAL,
                         "%s: original=%g, beta_fast and beta_slow leave yarn no ramp between kept "
                         "and divided frequencies (pairs %g .. %g)",
                         szgi_spec_name(spec), original, low, high);
    if (low == high)
        high += 0.001; /* as the published code does: no division by zero */
    for (int64_t t = 0; t < pairs; t++) {
        double ramp = fmin(1, fmax(0, ((double)t - low) / (high - low)));
        out->theta[t] *= (1 - ramp) + ramp / factor;
    }
    out->rotary.amplitude = szgi_spec_given(spec, "attention_factor")
                                ? szgi_spec_real(spec, "attention_factor")
                                : 0.1 * log(factor) + 1;
    return SZG_OK;
}

static szg_status fill_theta(szg_context *context, const szgi_spec *spec, int64_t rotary,
                             enum scaling scaling, rotation *out) {
    double *theta = out->theta;
    int64_t pairs = rotary / 2;
    double base = szgi_spec_real(spec, "base");
    if (scaling == NTK)
        SZG_TRY(stretch_base(context, spec, rotary, szgi_spec_real(spec, "factor"), &base));
    if (scaling == DYNAMIC)
        SZG_TRY(stretch_base(context, spec, rotary, dynamic_stretch(spec), &base));
    int64_t block = out->rotary.dim - out->rotary.offset;
    szgi_cosines_frequencies(pairs, scaling == PROPORTIONAL ? block : rotary, base, theta);
    if (scaling == LINEAR || (scaling == PROPORTIONAL && szgi_spec_given(spec, "factor")))
        for (int64_t t = 0; t < pairs; t++)
            theta[t] /= szgi_spec_real(spec, "factor");
    if (scaling == LLAMA3)
        return scale_llama3(context, spec, pairs, theta);
    if (scaling == YARN)
        return scale_yarn(context, spec, base, out);
    return SZG_OK;
}

szg_status szgi_rotation_open(szg_context *context, const szgi_spec *spec, int64_t dim,
                              int64_t offset, int64_t rotary, rotation *out) {
    enum scaling scaling = (enum scaling)szgi_spec_choice(spec, "scaling");
    SZG_TRY(check_keys(context, spec, scaling));
    /* Proportional: every pair of the head exists, those past `rotary` have frequency 0. */
    int64_t pairs = scaling == PROPORTIONAL ? (dim - offset) / 2 : rotary / 2;
    SZG_TRY(szgi_memory_alloc(context, pairs, &out->theta));
    out->rotary = (szgi_rotary){
        .dim = dim,
        .offset = offset,
        .pairs = pairs,
        .unrotated = dim - 2 * pairs,
        .theta = out->theta,
        .pairing =
            szgi_spec_choice(spec, "pairing") == 0 ? SZGI_PAIRING_INTERLEAVED : SZGI_PAIRING_HALF,
        .amplitude = 1,
    };
    SZG_TRY(fill_theta(context, spec, rotary, scaling, out));
    return szgi_cosines_atoms(context, pairs, out->theta, out->rotary.unrotated > 0, &out->atoms);
}

void szgi_rotation_close(rotation *self) {
    szgi_memory_free(self->theta);
}
