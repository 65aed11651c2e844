/* ALiBi: -slope |i - j| on the logits (Press, Smith, Lewis 2022). */
#include <math.h>

#include "base/memory.h"
#include "encoding/record.h"

static const szgi_key keys[] = {
    HEADS_KEY("8", "number of heads, one slope each"),
    {.name = "slopes",
     .type = SZGI_KEY_CHOICE,
     .fallback = "published",
     .choices = "published|exp",
     .doc = "2^(-bias_max h/heads), h = 1 .. heads, or exp(-h/heads), h = 0 .. heads-1"},
    {.name = "bias_max",
     .type = SZGI_KEY_REAL,
     .fallback = "8",
     .min = 1e-3,
     .max = 1000,
     .doc = "published: exponent of the least slope"},
};

typedef struct alibi {
    double *slope; /* [heads] */
} alibi;

/* Slope of head h where the number of heads is a power of two. */
static double power_slope(int64_t heads, int64_t h, double bias_max) {
    return exp2(-bias_max * (double)(h + 1) / (double)heads);
}

/* Press et al.'s rule for other counts: the slopes of the next lower power of two, then every
 * second one of the next higher. */
static double published_slope(int64_t heads, int64_t h, double bias_max) {
    int64_t lower = 1;
    while (2 * lower <= heads)
        lower *= 2;
    if (h < lower)
        return power_slope(lower, h, bias_max);
    return power_slope(2 * lower, 2 * (h - lower), bias_max);
}

static szg_status open_alibi(szg_context *context, szg_encoding *encoding) {
    const szgi_spec *spec = encoding->spec;
    alibi *self = encoding->state;
    int64_t heads = encoding->heads = szgi_spec_integer(spec, "heads");
    bool published = szgi_spec_choice(spec, "slopes") == 0;
    if (!published && szgi_spec_given(spec, "bias_max"))
        return szgi_fail(context, SZG_EINVAL, "alibi: bias_max belongs to slopes=published");
    SZG_TRY(szgi_memory_alloc(context, heads, &self->slope));
    for (int64_t h = 0; h < heads; h++)
        self->slope[h] = published ? published_slope(heads, h, szgi_spec_real(spec, "bias_max"))
                                   : exp(-(double)h / (double)heads);
    return SZG_OK;
}

static void close_alibi(void *state) {
    alibi *self = state;
    szgi_memory_free(self->slope);
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)matrix;
    const alibi *self = encoding->state;
    *facts = (szg_kernel_facts){
        .matrix = "bias",
        .form = SZG_FORM_UNBOUNDED,
        .definiteness = SZG_DEFINITE_ONE_NEGATIVE,
        .structure = SZG_KERNEL_DISTANCE,
        .kind = SZG_TOEPLITZ_SYMMETRIC,
        .parameter = self->slope[head],
        .rank_bound = INT64_MAX,
        .rank_exact = true,
        .degree = -1,
        .line = "-m|k| grows with the lag and is not summable: one eigenvalue falls like "
                "-0.3474 m N^2, the others are positive",
    };
}

static double lag_of(const szg_encoding *encoding, int64_t head, int64_t k) {
    const alibi *self = encoding->state;
    return k == 0 ? 0 : -self->slope[head] * (double)(k < 0 ? -k : k);
}

const encoding_record szgi_encoding_alibi = {
    .traits = {.class = {.name = "alibi",
                         .doc = "linear distance bias -m|k|, one slope m per head",
                         .reference = "Press, Smith, Lewis 2022",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_BIAS,
               .released = {.key = "slopes", .value = "exp"}},
    .state_size = sizeof(alibi),
    .open = open_alibi,
    .close = close_alibi,
    .facts = facts_of,
    .lag = lag_of,
    .follows = {{"heads", FOLLOWS_HEADS}},
};
