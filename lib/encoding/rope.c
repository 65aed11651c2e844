/* Rotary positions (Su et al. 2021), whole, partial over dimensions and partial over heads. */
#include <inttypes.h>

#include "base/memory.h"
#include "encoding/cosines.h"
#include "encoding/rope.h"

static const szgi_key keys[] = {ROPE_KEYS, ROTARY_KEYS};

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
}

void szgi_rope_rotary(const rope *self, int64_t head, szgi_rotary *out) {
    *out = self->rotation.rotary;
    if (self->rotates && !self->rotates[head]) {
        out->pairs = 0;
        out->unrotated = out->dim;
        out->amplitude = 1;
    }
}

void szgi_rope_facts(const rope *self, int64_t head, szg_kernel_facts *facts) {
    szgi_rotary rotary;
    szgi_rope_rotary(self, head, &rotary);
    /* A head that does not rotate has the all-ones matrix: a point mass at 0. */
    szgi_cosines_facts(&rotary, rotary.pairs > 0 ? self->rotation.atoms : 1, "rotary mean", 1,
                       facts);
}

static szg_status open_rope(szg_context *context, szg_encoding *encoding) {
    return szgi_rope_open(context, encoding, encoding->state);
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
