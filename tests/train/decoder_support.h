/* A small decoder with random parameters, a batch for it, and what passes over it yield. */
#ifndef SZG_TESTS_DECODER_SUPPORT_H
#define SZG_TESTS_DECODER_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "linalg/linalg.h"
#include "train/decoder/decoder.h"
#include "base/memory.h"
#include "train/run/train.h"

enum { SEQUENCES = 3, POSITIONS = 7, CLASSES = 5, WORDS = 11 };

/* A profile at a small size, with `overrides` ("mask=none", without the section), NULL at the end.
 */
static inline szg_train_config small_config(szg_profile profile, const char *encoding,
                                            const char *const *overrides) {
    static const char *const sizes[][2] = {
        {"model.vocabulary", "11"},  {"model.width", "8"},     {"model.hidden", "12"},
        {"model.layers", "2"},       {"model.heads", "2"},     {"model.max_length", "7"},
        {"model.latent_query", "6"}, {"model.latent_kv", "5"}, {"data.longest", "7"}};
    szg_train_config config;
    char key[64], value[64];
    ck_szg_ok(szgi_train_config_profile(test_context(), profile, encoding, &config));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ck_szg_ok(szg_train_config_set(test_context(), &config, sizes[i][0], sizes[i][1]));
    for (; overrides && *overrides; overrides++) {
        ck_assert_int_eq(sscanf(*overrides, "%40[^=]=%60s", key, value), 2);
        char full[80];
        snprintf(full, sizeof full, "model.%s", key);
        ck_szg_ok(szg_train_config_set(test_context(), &config, full, value));
    }
    return config;
}

/* Tokens 1 .. WORDS - 1, 0 beyond the lengths: the first sequence is full, the last has one token.
 * Labels 1 .. CLASSES - 1, but the second is 0. */
typedef struct drawn_batch {
    szgi_batch batch;
    int32_t *tokens, *lengths, *labels;
} drawn_batch;

static inline drawn_batch draw_batch(int64_t count, int64_t length) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 77};
    drawn_batch b = {0};
    ck_szg_ok(szgi_memory_alloc(test_context(), count * length, &b.tokens));
    ck_szg_ok(szgi_memory_alloc(test_context(), count, &b.lengths));
    ck_szg_ok(szgi_memory_alloc(test_context(), count, &b.labels));
    for (int64_t e = 0; e < count; e++) {
        uint64_t at = (uint64_t)(e * (length + 2));
        b.lengths[e] = e == 0           ? (int32_t)length
                       : e == count - 1 ? 1
                                        : 1 + (int32_t)szgi_random_below(&stream, at, length);
        b.labels[e] = e == 1 ? 0 : 1 + (int32_t)szgi_random_below(&stream, at + 1, CLASSES - 1);
        for (int64_t i = 0; i < b.lengths[e]; i++)
            b.tokens[e * length + i] =
                1 + (int32_t)szgi_random_below(&stream, at + 2 + (uint64_t)i, WORDS - 1);
    }
    b.batch = (szgi_batch){count, length, b.tokens, b.lengths, b.labels};
    return b;
}

static inline void free_batch(drawn_batch *b) {
    szgi_memory_free(b->tokens);
    szgi_memory_free(b->lengths);
    szgi_memory_free(b->labels);
}

/* What a step keeps in the backend's memory. */
typedef struct step_memory {
    szgi_step_block block;
    szgi_tally tally;
} step_memory;

/* The context that subjects live in: the test's, or another that a test puts here. */
static szg_context *other_context;
static inline szg_context *subject_context(void) {
    return other_context ? other_context : test_context();
}

/* A model with its training decoder, in the memory of the context's backend. */
typedef struct subject {
    szg_model *model;
    szgi_decoder *decoder;
    step_memory *memory;
    void *gradient;
} subject;

/* Every number drawn, so that nothing is 0 or 1 by accident: norms around 1, matrices such that
 * their products stay near 1. */
static inline void randomise(szg_model *model) {
    for (int64_t i = 0; i < szgi_model_tensors(model); i++) {
        const szgi_parameter *p = szgi_model_parameter(model, i);
        szgi_stream stream = {.seed = test_seed(), .step = (uint32_t)i, .purpose = 78};
        double *values = new_numbers(p->count);
        double deviation = p->dims == 2 ? 1.2 / sqrt((double)p->shape[1]) : 0.4;
        bool gain = strstr(p->name, "norm") && strstr(p->name, "weight");
        szgi_random_fill_normal(&stream, 0, p->count, values);
        for (int64_t at = 0; at < p->count; at++)
            values[at] = (gain ? 1 : 0) + deviation * values[at];
        ck_szg_ok(szgi_model_write(subject_context(), model, szgi_model_arena(model), p->offset,
                                   p->count, values));
        szgi_memory_free(values);
    }
}

static inline subject open_sized(const szg_train_config *config, bool training, int64_t count,
                                 int64_t length) {
    szg_context *context = subject_context();
    subject s = {0};
    const szgi_step_block block = {.seed = test_seed(), .step = 5, .finite = 1};
    ck_szg_ok(szgi_model_open(context, config, CLASSES, &s.model));
    randomise(s.model);
    ck_szg_ok(szgi_decoder_open(context, s.model, count, length, training, &s.decoder));
    ck_szg_ok(szgi_device_alloc(context, sizeof *s.memory, &s.memory));
    ck_szg_ok(szgi_device_upload(context, &s.memory->block, &block, sizeof block));
    ck_szg_ok(szgi_device_alloc(
        context, szgi_model_count(s.model) * szgi_network_real_size(context), &s.gradient));
    szgi_decoder_set_block(s.decoder, &s.memory->block);
    return s;
}

static inline subject open_subject(const szg_train_config *config, bool training) {
    return open_sized(config, training, SEQUENCES, POSITIONS);
}

static inline void close_subject(subject *s) {
    szg_context *context = subject_context();
    szgi_device_free(context, s->gradient);
    szgi_device_free(context, s->memory);
    szgi_decoder_close(context, &s->decoder);
    szg_model_close(context, &s->model);
}

static inline szgi_tally tally_of(const subject *s) {
    szgi_tally tally;
    ck_szg_ok(szgi_device_download(subject_context(), &tally, &s->memory->tally, sizeof tally));
    return tally;
}

/* Mean loss of a forward pass. */
static inline double loss_of(subject *s, const szgi_batch *batch) {
    ck_szg_ok(szgi_device_clear(subject_context(), &s->memory->tally, sizeof s->memory->tally));
    ck_szg_ok(szgi_decoder_forward(subject_context(), s->decoder, batch));
    ck_szg_ok(szgi_decoder_score(subject_context(), s->decoder, &s->memory->tally));
    szgi_tally tally = tally_of(s);
    return tally.loss / (double)tally.counted;
}

/* `count` of the backend's real numbers as doubles; free with szgi_memory_free. */
static inline double *download(const void *array, int64_t count) {
    int64_t size = szgi_network_real_size(subject_context());
    double *out = new_numbers(count), *wide = new_numbers(count);
    ck_szg_ok(szgi_device_download(subject_context(), out, array, count * size));
    for (int64_t i = 0; i < count; i++)
        wide[i] = size == 8 ? out[i] : (double)((const float *)(const void *)out)[i];
    szgi_memory_free(out);
    return wide;
}

/* Logits [count][classes] of the latest pass. */
static inline double *logits_of(const subject *s, int64_t count) {
    return download(szgi_decoder_logits(s->decoder), count * szgi_model_classes(s->model));
}

/* Gradients of a forward and a backward pass, in the arena's order. */
static inline double *gradients_of(subject *s, const szgi_batch *batch) {
    int64_t count = szgi_model_count(s->model);
    ck_szg_ok(szgi_device_clear(subject_context(), &s->memory->tally, sizeof s->memory->tally));
    ck_szg_ok(szgi_decoder_forward(subject_context(), s->decoder, batch));
    ck_szg_ok(szgi_decoder_backward(subject_context(), s->decoder, s->gradient, &s->memory->tally));
    double *out = new_numbers(count);
    ck_szg_ok(szgi_model_read(subject_context(), s->model, s->gradient, 0, count, out));
    return out;
}

/* What the tests run through: both profiles with every encoding, then single switches. */
typedef struct variant {
    szg_profile profile;
    const char *encoding;
    const char *overrides[8];
} variant;

#define BOTH_PROFILES(encoding)                                                                    \
    {SZG_PROFILE_TEXT, encoding, {NULL}}, {                                                        \
        SZG_PROFILE_RELEASED, encoding, {                                                          \
            NULL                                                                                   \
        }                                                                                          \
    }

static const variant variants[] = {
    BOTH_PROFILES("nope"),
    BOTH_PROFILES("absolute"),
    BOTH_PROFILES("learned"),
    BOTH_PROFILES("random"),
    BOTH_PROFILES("relative"),
    BOTH_PROFILES("t5:buckets=8,max_distance=6"),
    BOTH_PROFILES("alibi"),
    BOTH_PROFILES("rope"),
    BOTH_PROFILES("rope:rotate=1"),
    BOTH_PROFILES("rope+absolute"),
    BOTH_PROFILES("mla"),
    BOTH_PROFILES("kms:rho=0.5"),
    BOTH_PROFILES("rope:bands=heads,band_shift=1,base=50"),
    BOTH_PROFILES("rope:theta=0.7"),
    BOTH_PROFILES("rope-bias:scale=2.5"),
    BOTH_PROFILES("mla:rope=10"),
    {SZG_PROFILE_TEXT, "random", {"position_table=trained", "extra_position_table=true"}},
    {SZG_PROFILE_TEXT, "rope:rotary=2,pairing=half", {"activation=gelu"}},
    {SZG_PROFILE_TEXT, "rope", {"rotated_layers=1", "final_norm=true"}},
    {SZG_PROFILE_TEXT, "rope", {"mask=none", "mask_padding=false", "pooling=all"}},
    {SZG_PROFILE_TEXT, "rope", {"biases=none", "dropout_hidden=true"}},
    {SZG_PROFILE_TEXT, "t5:buckets=4", {"biases=not_attention", "keys_values=embedding"}},
    {SZG_PROFILE_TEXT, "nope", {"added_sinusoid=interleaved", "ignored_label=0"}},
    {SZG_PROFILE_TEXT, "mla", {"biases=all", "keys_values=embedding", "rotated_layers=0"}},
    {SZG_PROFILE_TEXT, "mla:rope=2,pairing=half", {"rotary_queries=shared"}},
    {SZG_PROFILE_TEXT, "mla:content=6", {"latent_rotation=table_halves", "dropout_hidden=true"}},
    {SZG_PROFILE_RELEASED, "mla", {"rotary_queries=per_head", "classes=labels"}},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* For messages. */
static inline const char *name_of(const variant *v) {
    static char name[256];
    int used = snprintf(name, sizeof name, "%s %s",
                        v->profile == SZG_PROFILE_TEXT ? "text" : "released", v->encoding);
    for (int i = 0; v->overrides[i]; i++)
        used += snprintf(name + used, sizeof name - (size_t)used, " %s", v->overrides[i]);
    return name;
}

#endif
