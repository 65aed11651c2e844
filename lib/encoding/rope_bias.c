/* RoPE's mean kernel as an additive bias, scale g(k): what is left of the rotation where the
 * content does not meet it. */
#include "encoding/cosines.h"
#include "encoding/record.h"

static const szgi_key keys[] = {
    {.name = "dim",
     .type = SZGI_KEY_INTEGER,
     .fallback = "64",
     .min = 2,
     .max = 1048576,
     .doc = "dimensions of the rotation whose mean kernel it is, even"},
    {.name = "base",
     .type = SZGI_KEY_REAL,
     .fallback = "10000",
     .min = 1,
     .max = 1e15,
     .doc = "theta_t = base^(-2t/dim)"},
    {.name = "scale",
     .type = SZGI_KEY_REAL,
     .fallback = "1",
     .min = 1e-6,
     .max = 1e6,
     .doc = "the bias at lag 0, which the kernel is multiplied by"},
    HEADS_KEY("1", "number of heads, which have the same bias"),
};

typedef struct rope_bias {
    sinusoid cosines;
    double scale;
} rope_bias;

static szg_status open_rope_bias(szg_context *context, szg_encoding *encoding) {
    rope_bias *self = encoding->state;
    encoding->heads = szgi_spec_integer(encoding->spec, "heads");
    self->scale = szgi_spec_real(encoding->spec, "scale");
    return szgi_sinusoid_open(context, encoding->spec, "dim", &self->cosines);
}

static void close_rope_bias(void *state) {
    rope_bias *self = state;
    szgi_sinusoid_close(&self->cosines);
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)head, (void)matrix;
    const rope_bias *self = encoding->state;
    szgi_sinusoid_facts(&self->cosines, facts);
    facts->matrix = "bias";
    facts->parameter = self->scale; /* the sum's, in place of P P^T's number of pairs */
}

const encoding_record szgi_encoding_rope_bias = {
    .traits = {.class = {.name = "rope-bias",
                         .doc = "RoPE's mean kernel, times a scale, added to the logits",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_BIAS},
    .state_size = sizeof(rope_bias),
    .open = open_rope_bias,
    .close = close_rope_bias,
    .facts = facts_of,
    .follows = {{"dim", FOLLOWS_HEAD_DIM}, {"heads", FOLLOWS_HEADS}},
};
