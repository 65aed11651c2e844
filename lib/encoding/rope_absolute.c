/* The rotation of `rope`, with sinusoidal rows added to the input, frequencies base^(-2t/input)
 * there. */
#include "encoding/cosines.h"
#include "encoding/rope.h"

static const szgi_key keys[] = {
    ROPE_KEYS,
    {.name = "input",
     .type = SZGI_KEY_INTEGER,
     .min = 2,
     .max = 1048576,
     .doc = "dimension of the position vectors, even (default: dim)"},
    ROTARY_KEYS,
};

typedef struct both {
    rope rope;
    sinusoid rows;
} both;

static szg_status open_both(szg_context *context, szg_encoding *encoding) {
    both *self = encoding->state;
    const char *key = szgi_spec_given(encoding->spec, "input") ? "input" : "dim";
    SZG_TRY(szgi_sinusoid_open(context, encoding->spec, key, &self->rows));
    encoding->input_dim = self->rows.dim;
    encoding->matrices = 2;
    return szgi_rope_open(context, encoding, &self->rope);
}

static void close_both(void *state) {
    both *self = state;
    szgi_rope_close(&self->rope);
    szgi_sinusoid_close(&self->rows);
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    const both *self = encoding->state;
    if (matrix == 0)
        szgi_rope_facts(&self->rope, head, facts);
    else
        szgi_sinusoid_facts(&self->rows, facts);
}

static void rotary_of(const szg_encoding *encoding, int64_t head, szgi_rotary *out) {
    const both *self = encoding->state;
    szgi_rope_rotary(&self->rope, head, out);
}

static void input_of(const szg_encoding *encoding, int64_t i, double *p) {
    const both *self = encoding->state;
    szgi_sinusoid_row(&self->rows, i, p);
}

const encoding_record szgi_encoding_rope_absolute = {
    .traits = {.class = {.name = "rope+absolute",
                         .doc = "rotation plus sinusoidal positions at the input",
                         .reference = "Su et al. 2021, Vaswani et al. 2017",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_ROTARY | SZGI_ATTACH_INPUT},
    .state_size = sizeof(both),
    .open = open_both,
    .close = close_both,
    .facts = facts_of,
    .input = input_of,
    .rotary = rotary_of,
    .follows = {{"dim", FOLLOWS_HEAD_DIM}, {"heads", FOLLOWS_HEADS}, {"input", FOLLOWS_WIDTH}},
};
