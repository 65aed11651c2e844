/* Rotary positions (Su et al. 2021), whole, partial over dimensions and partial over heads. */
#include <inttypes.h>

#include "base/memory.h"
#include "encoding/cosines.h"
#include "encoding/rope.h"

static const szgi_key keys[] = {
    ROPE_KEYS,
    {.name = "bands",
     .type = SZGI_KEY_CHOICE,
     .fallback = "shared",
     .choices = "shared|heads",
     .doc = "heads: each has its band of the frequencies of one RoPE over all of them"},
    {.name = "band_shift",
     .type = SZGI_KEY_INTEGER,
     .fallback = "0",
     .min = 0,
     .max = 65535,
     .doc = "bands=heads: head h has band (h + band_shift) mod heads"},
    {.name = "theta",
     .type = SZGI_KEY_REAL,
     .min = 0,
     .max = ROTATION_PI,
     .doc = "the angle of every pair per position in place of base, 0 < theta <= pi"},
    ROTARY_KEYS,
};

static szg_status open_rotates(szg_context *context, const szg_encoding *encoding, rope *out) {
    int64_t count;
    const int64_t *list = szgi_spec_list(encoding->spec, "rotate", &count);
    if (count == 0)
        return SZG_OK;
    if (list[count - 1] >= encoding->heads)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: rotate=%s names head %" PRId64 ", but heads=%" PRId64
                         " (heads count from 0)",
                         szgi_spec_name(encoding->spec), szgi_spec_text(encoding->spec, "rotate"),
                         list[count - 1], encoding->heads);
    SZG_TRY(szgi_memory_alloc(context, encoding->heads, &out->rotates));
    for (int64_t i = 0; i < count; i++)
        out->rotates[list[i]] = true;
    return SZG_OK;
}

szg_status szgi_rope_open(szg_context *context, szg_encoding *encoding, rope *out) {
    const szgi_spec *spec = encoding->spec;
    encoding->dim = szgi_spec_integer(spec, "dim");
    encoding->heads = szgi_spec_integer(spec, "heads");
    bool partial = szgi_spec_given(spec, "rotary");
    int64_t rotary = partial ? szgi_spec_integer(spec, "rotary") : encoding->dim;
    SZG_TRY(szgi_cosines_require_even(context, spec, partial ? "rotary" : "dim", rotary));
    if (rotary > encoding->dim)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: rotary=%" PRId64 " exceeds the head dimension dim=%" PRId64,
                         szgi_spec_name(spec), rotary, encoding->dim);
    SZG_TRY(open_rotates(context, encoding, out));
    return szgi_rotation_open(context, spec, encoding->dim, 0, rotary, &out->rotation);
}

void szgi_rope_close(rope *self) {
    szgi_rotation_close(&self->rotation);
    szgi_memory_free(self->rotates);
    szgi_memory_free(self->bands.theta);
    szgi_memory_free(self->bands.atoms);
}

static int64_t band_of(const rope_bands *bands, int64_t head) {
    return (head + bands->shift) % bands->heads;
}

void szgi_rope_rotary(const rope *self, int64_t head, szgi_rotary *out) {
    *out = self->rotation.rotary;
    if (self->bands.theta)
        out->theta = self->bands.theta + band_of(&self->bands, head) * out->pairs;
    if (self->rotates && !self->rotates[head]) {
        out->pairs = 0;
        out->unrotated = out->dim;
        out->amplitude = 1;
    }
}

void szgi_rope_facts(const rope *self, int64_t head, szg_kernel_facts *facts) {
    szgi_rotary rotary;
    const rope_bands *bands = &self->bands;
    szgi_rope_rotary(self, head, &rotary);
    int64_t atoms = bands->theta ? bands->atoms[band_of(bands, head)] : self->rotation.atoms;
    /* A head that does not rotate has the all-ones matrix: a point mass at 0. */
    szgi_cosines_facts(&rotary, rotary.pairs > 0 ? atoms : 1, "rotary mean", 1, facts);
}

/* ---- Bands, and one angle ---- */

static bool has_bands(const szgi_spec *spec) {
    return szgi_spec_choice(spec, "bands") == 1;
}

static szg_status exclude(szg_context *context, const szgi_spec *spec, const char *key,
                          const char *other) {
    return szgi_fail(context, SZG_EINVAL, "%s: %s=%s and %s=%s exclude each other: leave one out",
                     szgi_spec_name(spec), key, szgi_spec_text(spec, key), other,
                     szgi_spec_text(spec, other));
}

static szg_status check_angle(szg_context *context, const szgi_spec *spec) {
    if (!szgi_spec_given(spec, "theta"))
        return SZG_OK;
    if (!(szgi_spec_real(spec, "theta") > 0))
        return szgi_fail(context, SZG_EINVAL,
                         "%s: theta=%s rotates nothing: it must be above 0 (rotate= lists the "
                         "heads that rotate)",
                         szgi_spec_name(spec), szgi_spec_text(spec, "theta"));
    if (szgi_spec_given(spec, "base"))
        return exclude(context, spec, "theta", "base");
    if (szgi_spec_choice(spec, "scaling") != 0)
        return exclude(context, spec, "theta", "scaling");
    return has_bands(spec) ? exclude(context, spec, "theta", "bands") : SZG_OK;
}

static szg_status check_bands(szg_context *context, const szgi_spec *spec) {
    bool shifted = szgi_spec_given(spec, "band_shift");
    if (!has_bands(spec))
        return shifted ? szgi_fail(context, SZG_EINVAL,
                                   "%s: key band_shift has no meaning under bands=shared, and "
                                   "would be ignored: give bands=heads",
                                   szgi_spec_name(spec))
                       : SZG_OK;
    if (szgi_spec_choice(spec, "scaling") != 0)
        return exclude(context, spec, "bands", "scaling");
    int64_t shift = szgi_spec_integer(spec, "band_shift"), heads = szgi_spec_integer(spec, "heads");
    if (shift < heads)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "%s: band_shift=%" PRId64 " is outside 0 .. %" PRId64 ", as heads=%" PRId64,
                     szgi_spec_name(spec), shift, heads - 1, heads);
}

static szg_status open_bands(szg_context *context, const szgi_spec *spec, rope *self) {
    rope_bands *bands = &self->bands;
    int64_t heads = szgi_spec_integer(spec, "heads"), total;
    const szgi_rotary *rotary = &self->rotation.rotary;
    bands->heads = heads;
    bands->shift = szgi_spec_integer(spec, "band_shift");
    SZG_TRY(szgi_memory_product(context, heads, rotary->pairs, &total));
    SZG_TRY(szgi_memory_alloc(context, heads, &bands->atoms));
    SZG_TRY(szgi_memory_alloc(context, total, &bands->theta));
    szgi_cosines_frequencies(total, 2 * total, szgi_spec_real(spec, "base"), bands->theta);
    for (int64_t band = 0; band < heads; band++)
        SZG_TRY(szgi_cosines_atoms(context, rotary->pairs, bands->theta + band * rotary->pairs,
                                   rotary->unrotated > 0, &bands->atoms[band]));
    return SZG_OK;
}

/* All pairs are one point and its conjugate, apart since 0 < theta < pi: no double is pi. */
static void set_angle(rotation *self, double theta) {
    for (int64_t t = 0; t < self->rotary.pairs; t++)
        self->theta[t] = theta;
    self->atoms = 2 + (self->rotary.unrotated > 0);
}

static szg_status open_rope(szg_context *context, szg_encoding *encoding) {
    const szgi_spec *spec = encoding->spec;
    rope *self = encoding->state;
    SZG_TRY(check_angle(context, spec));
    SZG_TRY(check_bands(context, spec));
    SZG_TRY(szgi_rope_open(context, encoding, self));
    if (szgi_spec_given(spec, "theta"))
        set_angle(&self->rotation, szgi_spec_real(spec, "theta"));
    return has_bands(spec) ? open_bands(context, spec, self) : SZG_OK;
}

static void close_rope(void *state) {
    szgi_rope_close(state);
}

static void rotary_of(const szg_encoding *encoding, int64_t head, szgi_rotary *out) {
    szgi_rope_rotary(encoding->state, head, out);
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)matrix;
    szgi_rope_facts(encoding->state, head, facts);
}

const encoding_record szgi_encoding_rope = {
    .traits = {.class = {.name = "rope",
                         .doc = "rotation of queries and keys by position",
                         .reference = "Su et al. 2021",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_ROTARY,
               .released = {.sinusoid = true, .unless = "rotate"}},
    .state_size = sizeof(rope),
    .open = open_rope,
    .close = close_rope,
    .facts = facts_of,
    .rotary = rotary_of,
    .follows = {{"dim", FOLLOWS_HEAD_DIM}, {"heads", FOLLOWS_HEADS}},
};
