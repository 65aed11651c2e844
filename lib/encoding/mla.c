/* Multi-head latent attention (DeepSeek-AI 2024): content dimensions without position, followed by
 * decoupled rotary ones with a query and a key of their own (paper Eq. 11, claim E12c). */
#include "encoding/cosines.h"
#include "encoding/record.h"
#include "encoding/scaling.h"

static const szgi_key keys[] = {
    {.name = "content",
     .type = SZGI_KEY_INTEGER,
     .fallback = "128",
     .min = 1,
     .max = 1048576,
     .doc = "content dimensions (qk_nope_head_dim)"},
    {.name = "rope",
     .type = SZGI_KEY_INTEGER,
     .fallback = "64",
     .min = 2,
     .max = 1048576,
     .doc = "rotary dimensions (qk_rope_head_dim), even"},
    HEADS_KEY("1", "number of heads"),
    ROTARY_KEYS,
};

static szg_status open_mla(szg_context *context, szg_encoding *encoding) {
    int64_t content = szgi_spec_integer(encoding->spec, "content");
    int64_t rotary = szgi_spec_integer(encoding->spec, "rope");
    SZG_TRY(szgi_cosines_require_even(context, encoding->spec, "rope", rotary));
    encoding->heads = szgi_spec_integer(encoding->spec, "heads");
    encoding->dim = content + rotary;
    return szgi_rotation_open(context, encoding->spec, encoding->dim, content, rotary,
                              encoding->state);
}

static void close_mla(void *state) {
    szgi_rotation_close(state);
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)head, (void)matrix;
    const rotation *self = encoding->state;
    szgi_cosines_facts(&self->rotary, self->atoms, "rotary mean", 1, facts);
    facts->line = "A constant from the content dimensions plus a sum of cosines: point masses at 0 "
                  "and at the frequencies, finite rank";
}

static void rotary_of(const szg_encoding *encoding, int64_t head, szgi_rotary *out) {
    (void)head;
    const rotation *self = encoding->state;
    *out = self->rotary;
}

const encoding_record szgi_encoding_mla = {
    .traits = {.class = {.name = "mla",
                         .doc = "content dimensions plus decoupled rotary ones",
                         .reference = "DeepSeek-AI 2024",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_ROTARY | SZGI_ATTACH_DECOUPLED},
    .state_size = sizeof(rotation),
    .open = open_mla,
    .close = close_mla,
    .facts = facts_of,
    .rotary = rotary_of,
    .follows = {{"content", FOLLOWS_HEAD_DIM_FREELY},
                {"rope", FOLLOWS_HEAD_DIM_FREELY},
                {"heads", FOLLOWS_HEADS}},
};
