/* Rotary positions (Su et al. 2021), whole, partial over dimensions and partial over heads. */
#include <inttypes.h>

#include "base/memory.h"
#include "encoding_private.h"

/* Keys of both encodings: a macro, for static tables. */
#define ROPE_KEYS                                                                                  \
    {.name = "dim",                                                                                \
     .type = SZG_KEY_INTEGER,                                                                      \
     .fallback = "64",                                                                             \
     .min = 2,                                                                                     \
     .max = 1048576,                                                                               \
     .doc = "head dimension"},                                                                     \
        {.name = "rotary",                                                                         \
         .type = SZG_KEY_INTEGER,                                                                  \
         .min = 2,                                                                                 \
         .max = 1048576,                                                                           \
         .doc = "dimensions that rotate, even, the first ones (default: dim)"},                    \
        HEADS_KEY("1", "number of heads"), {                                                       \
        .name = "rotate", .type = SZG_KEY_LIST, .min = 0, .max = 65535,                            \
        .doc = "heads that rotate, such as 0-3 (default: all)"                                     \
    }

static const szgi_key keys[] = {ROPE_KEYS, ROTARY_KEYS};

static szg_status open_rotates(szg_context *context, szg_encoding *encoding) {
    int64_t count;
    const int64_t *list = szgi_spec_list(encoding->spec, "rotate", &count);
    if (count == 0)
        return SZG_OK;
    if (list[count - 1] >= encoding->heads)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: rotate=%s names head %" PRId64 ", but heads=%" PRId64
                         " (heads count from 0)",
                         encoding->type->class.name, szgi_spec_text(encoding->spec, "rotate"),
                         list[count - 1], encoding->heads);
    SZG_TRY(szgi_memory_alloc(context, encoding->heads, sizeof(bool), &encoding->rotates));
    for (int64_t i = 0; i < count; i++)
        encoding->rotates[list[i]] = true;
    return SZG_OK;
}

static szg_status open_rope(szg_context *context, szg_encoding *encoding) {
    const szgi_spec *spec = encoding->spec;
    encoding->attaches = SZG_ATTACH_ROTARY;
    encoding->dim = szgi_spec_integer(spec, "dim");
    encoding->heads = szgi_spec_integer(spec, "heads");
    bool partial = szgi_spec_given(spec, "rotary");
    int64_t rotary = partial ? szgi_spec_integer(spec, "rotary") : encoding->dim;
    SZG_TRY(szgi_require_even(context, encoding, partial ? "rotary" : "dim", rotary));
    if (rotary > encoding->dim)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: rotary=%" PRId64 " exceeds the head dimension dim=%" PRId64,
                         encoding->type->class.name, rotary, encoding->dim);
    SZG_TRY(open_rotates(context, encoding));
    return szgi_scaling_open(context, encoding, 0, rotary);
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)matrix;
    bool rotates = !encoding->rotates || encoding->rotates[head];
    szg_rotary still = {.dim = encoding->dim, .unrotated = encoding->dim};
    szgi_cosines_facts(rotates ? &encoding->rotary : &still, rotates ? encoding->atoms : 1,
                       "rotary mean", 1, facts);
}

const encoding_type szgi_encoding_rope = {
    .class = {.name = "rope",
              .doc = "rotation of queries and keys by position",
              .key = keys,
              .keys = sizeof keys / sizeof *keys},
    .open = open_rope,
    .facts = facts_of,
    .follows = {{"dim", FOLLOWS_HEAD_DIM}, {"heads", FOLLOWS_HEADS}},
};

/* The same with sinusoidal rows added to the input, frequencies base^(-2t/input) there. */

static const szgi_key both_keys[] = {
    ROPE_KEYS,
    {.name = "input",
     .type = SZG_KEY_INTEGER,
     .min = 2,
     .max = 1048576,
     .doc = "dimension of the position vectors, even (default: dim)"},
    ROTARY_KEYS,
};

static szg_status open_rope_absolute(szg_context *context, szg_encoding *encoding) {
    const char *key = szgi_spec_given(encoding->spec, "input") ? "input" : "dim";
    encoding->input_dim = szgi_spec_integer(encoding->spec, key);
    SZG_TRY(szgi_require_even(context, encoding, key, encoding->input_dim));
    SZG_TRY(open_rope(context, encoding));
    encoding->attaches |= SZG_ATTACH_INPUT;
    encoding->matrices = 2;
    int64_t pairs = encoding->input_dim / 2;
    SZG_TRY(szgi_memory_alloc(context, pairs, sizeof(double), &encoding->input_theta));
    szgi_cosines_frequencies(pairs, encoding->input_dim, szgi_spec_real(encoding->spec, "base"),
                             encoding->input_theta);
    return szgi_cosines_atoms(context, pairs, encoding->input_theta, false, &encoding->input_atoms);
}

static void both_facts(const szg_encoding *encoding, int64_t head, int64_t matrix,
                       szg_kernel_facts *facts) {
    if (matrix == 0) {
        facts_of(encoding, head, matrix, facts);
        return;
    }
    szg_rotary input = {.dim = encoding->input_dim,
                        .pairs = encoding->input_dim / 2,
                        .theta = encoding->input_theta};
    szgi_cosines_facts(&input, encoding->input_atoms, "position gram", (double)input.pairs, facts);
}

const encoding_type szgi_encoding_rope_absolute = {
    .class = {.name = "rope+absolute",
              .doc = "rotation plus sinusoidal positions at the input",
              .key = both_keys,
              .keys = sizeof both_keys / sizeof *both_keys},
    .open = open_rope_absolute,
    .facts = both_facts,
    .input = szgi_cosines_input,
    .follows = {{"dim", FOLLOWS_HEAD_DIM}, {"heads", FOLLOWS_HEADS}, {"input", FOLLOWS_WIDTH}},
};
