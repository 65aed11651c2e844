/* Interventions: a head that is not rotated, a head that is not trained, from a step on. On the
 * backend SZG_TEST_BACKEND (default cpu) where steps are compared bit by bit. */
#include <math.h>
#include <stdio.h>

#include "../../train/run/run_private.h"
#include "plugin/backend.h"
#include "recording.h"
#include "windows.h"

/* ---- Trainings ---- */

static szg_train_config *new_config(const char *const *keys, int64_t count) {
    szg_train_config *config = new_long(NULL);
    for (int64_t i = 0; i < count; i += 2)
        ck_szg_ok(szg_train_config_set(test_context(), config, keys[i], keys[i + 1]));
    ck_szg_ok(szg_train_config_check(test_context(), config));
    return config;
}

#define NEW_CONFIG(...)                                                                            \
    new_config((const char *const[]){__VA_ARGS__},                                                 \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void open_training(training *t, szg_context *context, const szg_train_config *config) {
    *t = (training){.context = context};
    ck_szg_ok(szg_dataset_open(context, config, &t->data));
    const szg_train_options options = {SZG_INIT(szg_train_options), .config = config,
                                       .data = &t->data, .seed = 5};
    ck_szg_ok(szgi_trainer_open(context, &options, &t->parts));
    ck_szg_ok(szgi_model_initialise(context, t->parts.model, 5));
    ck_szg_ok(szgi_trainer_reach(context, &t->parts, 0));
}

/* Steps first .. last - 1, in windows of up to `window` that end where the intervention begins and
 * where the epoch ends. */
static void take(training *t, int64_t first, int64_t last, int64_t window) {
    for (int64_t step = first, count; step < last; step += count) {
        int64_t ends[] = {last, t->parts.begins > step ? t->parts.begins : last,
                          (step / EPOCH + 1) * EPOCH};
        count = window;
        for (int i = 0; i < 3; i++)
            count = ends[i] - step < count ? ends[i] - step : count;
        ck_szg_ok(szgi_trainer_steps(t->context, &t->parts, step, count, &t->tally));
    }
}

static void train_to(training *t, const szg_train_config *config, int64_t steps) {
    open_training(t, test_context(), config);
    take(t, 0, steps, 1);
    read_arrays(t);
}

/* The weights and moments of one training in another. */
static void hand_over(const training *from, training *to) {
    const trainer *p = &to->parts;
    void *const arrays[] = {szgi_model_arena(p->model), p->moment1, p->moment2};
    int64_t count = szgi_model_count(p->model);
    ck_assert_int_eq(count, szgi_model_count(from->parts.model));
    for (int i = 0; i < 3; i++)
        ck_szg_ok(szgi_model_write(to->context, p->model, arrays[i], 0, count, from->arrays[i]));
}

/* Weights and moments. */
static bool same_state(const training *a, const training *b) {
    size_t bytes = (size_t)szgi_model_count(a->parts.model) * sizeof(double);
    bool same = true;
    for (int i = 0; i < 3; i++)
        same = same && memcmp(a->arrays[i], b->arrays[i], bytes) == 0;
    return same;
}

/* ---- A head that is not rotated ---- */

/* A configuration that says by other keys what the intervention does. */
typedef struct equal_case {
    const char *encoding, *layer, *head;
    const char *key, *value; /* what says the same */
    const char *heads;
} equal_case;

static const equal_case equals[] = {
    {"rope", "0", "0", "model.encoding", "rope:rotate=1", "2"},
    {"rope", "0", "1", "model.encoding", "rope:rotate=0+2-3", "4"},
    {"rope:rotate=0-1", "0", "1", "model.encoding", "rope:rotate=0", "4"},
    {"rope:pairing=half,rotary=2", "0", "1", "model.encoding",
     "rope:pairing=half,rotary=2,rotate=0", "2"},
    {"rope:bands=heads", "0", "2", "model.encoding", "rope:bands=heads,rotate=0-1+3", "4"},
    {"rope", "1", "0", "model.rotated_layers", "0", "1"},
    {"mla", "1", "0", "model.rotated_layers", "0", "1"},
    {"mla", "0", "0", "model.rotated_layers", "1", "1"},
    {"rope+absolute", "0", "0", "model.rotated_layers", "1", "1"},
};
enum { EQUALS = sizeof equals / sizeof *equals };

/* One layer where the SPEC chooses heads, which it does in all layers. */
static szg_train_config *equal_config(const equal_case *c, bool by_intervention, const char *from) {
    bool by_heads = strcmp(c->key, "model.encoding") == 0;
    szg_train_config *config = NEW_CONFIG("model.encoding", c->encoding, "model.heads", c->heads,
                                          "model.layers", by_heads ? "1" : "2", "model.dropout",
                                          "0.1", "model.latent_query", "6", "model.latent_kv", "4");
    if (by_intervention) {
        config->intervention = (szg_intervention_config){.kind = SZG_INTERVENTION_ROTATION};
        ck_szg_ok(szg_train_config_set(test_context(), config, "intervention.layer", c->layer));
        ck_szg_ok(szg_train_config_set(test_context(), config, "intervention.head", c->head));
        ck_szg_ok(szg_train_config_set(test_context(), config, "intervention.from", from));
    } else {
        ck_szg_ok(szg_train_config_set(test_context(), config, c->key, c->value));
    }
    ck_szg_ok(szg_train_config_check(test_context(), config));
    return config;
}

/* The factors are 1 either way: the same bits. And the rotation matters. */
START_TEST(a_head_that_never_rotates_is_one_of_the_spec) {
    szg_train_config *config = equal_config(&equals[_i], true, "0");
    szg_train_config *other = equal_config(&equals[_i], false, NULL);
    training got, want, plain;
    train_to(&got, config, 20);
    train_to(&want, other, 20);
    config->intervention.kind = SZG_INTERVENTION_NONE;
    train_to(&plain, config, 20);
    ck_assert(same_state(&got, &want));
    ck_assert_mem_eq(&got.tally, &want.tally, sizeof got.tally);
    ck_assert(!same_state(&plain, &want));
    close_training(&got);
    close_training(&want);
    close_training(&plain);
    szgi_memory_free(config);
    szgi_memory_free(other);
}
END_TEST

/* 0.2 of 94 steps are 18.8: the first 18 are those of the plain run, the others those of the SPEC
 * that goes on from there. */
START_TEST(a_rotation_is_switched_off_in_training) {
    enum { SWITCH = 18, STEPS = 60 };
    szg_train_config *config = equal_config(&equals[_i], true, "0.2");
    szg_train_config *other = equal_config(&equals[_i], false, NULL);
    training got, before, after;
    train_to(&got, config, STEPS);
    ck_assert_int_eq(got.parts.total, 94);
    config->intervention.kind = SZG_INTERVENTION_NONE;
    train_to(&before, config, SWITCH);
    open_training(&after, test_context(), other);
    hand_over(&before, &after);
    take(&after, SWITCH, STEPS, 1);
    read_arrays(&after);
    ck_assert(same_state(&got, &after));
    close_training(&got);
    close_training(&before);
    close_training(&after);
    szgi_memory_free(config);
    szgi_memory_free(other);
}
END_TEST

/* ---- A head that is not trained ---- */

/* Rows or columns of a tensor of layer 1 that are head 1's own, of two heads at width 8. */
typedef struct own_part {
    const char *name;
    bool columns;
    int64_t first, last;
} own_part;

static const struct {
    const char *encoding, *key, *value;
    own_part own[12];
} frozen[] = {
    {"rope",
     NULL,
     NULL,
     {{"layers.1.q_linear.weight", false, 4, 8},
      {"layers.1.k_linear.weight", false, 4, 8},
      {"layers.1.v_linear.weight", false, 4, 8},
      {"layers.1.q_linear.bias", false, 4, 8},
      {"layers.1.k_linear.bias", false, 4, 8},
      {"layers.1.v_linear.bias", false, 4, 8},
      {"layers.1.out_linear.weight", true, 4, 8}}},
    {"relative",
     "model.biases",
     "none",
     {{"layers.1.q_linear.weight", false, 4, 8},
      {"layers.1.k_linear.weight", false, 4, 8},
      {"layers.1.v_linear.weight", false, 4, 8},
      {"layers.1.relative_bias_table", true, 1, 2},
      {"layers.1.out_linear.weight", true, 4, 8}}},
    {"mla",
     "model.biases",
     "all",
     {{"layers.1.attn.W_UQ.weight", false, 4, 8},
      {"layers.1.attn.W_UK.weight", false, 4, 8},
      {"layers.1.attn.W_UV.weight", false, 4, 8},
      {"layers.1.attn.W_QR.weight", false, 4, 8},
      {"layers.1.attn.W_UQ.bias", false, 4, 8},
      {"layers.1.attn.W_UK.bias", false, 4, 8},
      {"layers.1.attn.W_UV.bias", false, 4, 8},
      {"layers.1.attn.W_QR.bias", false, 4, 8},
      {"layers.1.attn.out_proj.weight", true, 4, 8}}},
    {"mla",
     "model.rotary_queries",
     "shared",
     {{"layers.1.attn.W_UQ.weight", false, 4, 8},
      {"layers.1.attn.W_UK.weight", false, 4, 8},
      {"layers.1.attn.W_UV.weight", false, 4, 8},
      {"layers.1.attn.W_UQ.bias", false, 4, 8},
      {"layers.1.attn.W_UK.bias", false, 4, 8},
      {"layers.1.attn.W_UV.bias", false, 4, 8},
      {"layers.1.attn.out_proj.weight", true, 4, 8}}},
};
enum { FROZEN = sizeof frozen / sizeof *frozen };

static szg_train_config *frozen_config(int which, const char *from, const char *decay) {
    szg_train_config *config = NEW_CONFIG("model.encoding", frozen[which].encoding, "loop.decay",
                                          decay, "model.latent_query", "6", "model.latent_kv", "4",
                                          "intervention.kind", "gradient", "intervention.layer",
                                          "1", "intervention.head", "1", "intervention.from", from);
    if (frozen[which].key)
        ck_szg_ok(
            szg_train_config_set(test_context(), config, frozen[which].key, frozen[which].value));
    return config;
}

/* Whether number `at` of the arena is the frozen head's. */
static bool is_own(const szg_model *model, int which, int64_t at) {
    for (const own_part *own = frozen[which].own; own->name; own++) {
        const szgi_parameter *p = szgi_model_find(model, own->name);
        ck_assert_msg(p, "%s", own->name);
        if (at < p->offset || at >= p->offset + p->count)
            continue;
        int64_t place =
            own->columns ? (at - p->offset) % p->shape[1] : (at - p->offset) / p->shape[1];
        return place >= own->first && place < own->last;
    }
    return false;
}

/* Without decay the head's weights stay as they were at the switch, to the bit, and their first
 * moments are 0. All others that a plain run moves move, but for the few that come back by chance:
 * a hundredth at most. */
static void check_frozen(int which, const char *from, int64_t first) {
    szg_train_config *config = frozen_config(which, from, "0");
    training got, before, plain;
    int64_t own = 0, moved = 0, others = 0, same = 0;
    train_to(&got, config, EPOCH);
    config->intervention.kind = SZG_INTERVENTION_NONE;
    train_to(&before, config, first);
    train_to(&plain, config, EPOCH);
    for (int64_t i = 0; i < szgi_model_count(got.parts.model); i++) {
        if (is_own(got.parts.model, which, i)) {
            own++;
            moved += plain.arrays[0][i] != before.arrays[0][i];
            ck_assert(got.arrays[0][i] == before.arrays[0][i]);
            ck_assert(got.arrays[1][i] == 0 && got.arrays[3][i] == 0);
        } else if (plain.arrays[0][i] != before.arrays[0][i]) {
            others++;
            same += got.arrays[0][i] == before.arrays[0][i];
        }
    }
    ck_assert_int_gt(others, 100);
    ck_assert_int_le(100 * same, others);
    ck_assert_int_gt(own, 0);
    ck_assert_int_gt(2 * moved, own); /* else staying would prove nothing */
    close_training(&got);
    close_training(&before);
    close_training(&plain);
    szgi_memory_free(config);
}

START_TEST(a_frozen_head_stays) {
    check_frozen(_i, "0", 0);
    check_frozen(_i, "0.2", 18);
}
END_TEST

/* Decay alone acts on it: w (1 - r_s decay) in each step s, a rounding of 2^-24 or two each. */
START_TEST(a_frozen_head_decays) {
    szg_train_config *config = frozen_config(0, "0", "0.5");
    training got, start;
    double factor = 1;
    train_to(&got, config, EPOCH);
    train_to(&start, config, 0);
    for (int64_t s = 0; s < EPOCH; s++)
        factor *=
            1 - config->loop.decay * szgi_train_learning_rate(&config->loop, s, got.parts.total);
    for (int64_t i = 0; i < szgi_model_count(got.parts.model); i++) {
        double want = factor * start.arrays[0][i];
        if (is_own(got.parts.model, 0, i))
            ck_close(got.arrays[0][i], want, 3 * EPOCH * 0x1p-24 * fabs(want));
    }
    ck_assert(factor < 0.95);
    close_training(&got);
    close_training(&start);
    szgi_memory_free(config);
}
END_TEST

/* ---- Runs ---- */

static const char *const run_kinds[][6] = {
    {"rope", "rotation", "0.5", "every=2"}, {"rope", "gradient", "0.5", "every=3"},
    {"mla", "rotation", "0.4", NULL},       {"mla", "gradient", "0.4", NULL},
    {"rope", "rotation", "0", NULL},        {"rope", "gradient", "1", NULL},
    {"rope", "rotation", "1", "every=4"},
};
enum { RUN_KINDS = sizeof run_kinds / sizeof *run_kinds };

static void intervene_in(szg_train_config *config, const char *const *kind) {
    const char *const sets[][2] = {{"model.encoding", kind[0]},
                                   {"intervention.kind", kind[1]},
                                   {"intervention.from", kind[2]},
                                   {"intervention.layer", "1"},
                                   {"intervention.head", "1"}};
    for (int i = 0; i < 5; i++)
        ck_szg_ok(szg_train_config_set(test_context(), config, sets[i][0], sets[i][1]));
    config->capture.every = kind[3] ? atoi(kind[3] + 6) : 0;
}

/* Nine steps, stopped after each: before the switch, at it and behind it. */
START_TEST(a_run_goes_on_across_the_switch) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    intervene_in(config, run_kinds[_i]);
    char *whole = whole_run(config);
    for (int64_t at = 1; at < TINY_STEPS; at++) {
        char *folder = new_run_folder();
        config->loop.limit_steps = at;
        ck_szg_ok(run_in(test_context(), config, 5, folder, false, &result));
        config->loop.limit_steps = 0;
        ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
        ck_same_run(whole, folder);
        remove_run_folder(folder);
    }
    remove_run_folder(whole);
    szgi_memory_free(config);
}
END_TEST

/* A backend that records makes its recordings anew at the switch, and no window goes across it. */
START_TEST(a_recorded_run_has_the_same_bits) {
    szg_context *context;
    szg_train_result result;
    szg_train_config *config = new_long(NULL);
    intervene_in(config, run_kinds[_i]);
    config->capture.every *= 5;
    ck_assert_int_eq(szg_context_open(NULL, &context), SZG_OK);
    szgi_context_set_ops(context, recording_ops());
    char *plain = new_run_folder(), *recorded = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 5, plain, false, &result));
    szg_status status = run_in(context, config, 5, recorded, false, &result);
    ck_assert_msg(status == SZG_OK, "%s", szg_context_message(context));
    ck_same_run(plain, recorded);
    ck_assert_int_eq(recorder.live, 0);
    ck_assert_int_eq(recorder.refused, 0);
    ck_assert_int_gt(recorder.replays, EPOCH);
    remove_run_folder(recorded);
    remove_run_folder(plain);
    szg_context_close(&context);
    szgi_memory_free(config);
}
END_TEST

/* Logits of a checkpoint's model for its test split; free with szgi_memory_free. */
static double *logits_in(const char *folder, const szg_train_config *config, int64_t *count) {
    szg_dataset data;
    szg_model *model;
    szgi_tally tally;
    ck_szg_ok(szg_model_load(test_context(), folder, config, &model));
    ck_szg_ok(szg_dataset_open(test_context(), szgi_model_settings(model), &data));
    *count = data.test.count * szgi_model_classes(model);
    double *logits = new_numbers(*count);
    ck_szg_ok(szgi_train_evaluate(test_context(), model, &data.test, &tally, logits));
    szg_model_close(test_context(), &model);
    szg_dataset_close(&data);
    return logits;
}

/* A checkpoint is evaluated in the state of its step: rotated before the switch, and from then on
 * as the SPEC without that head, whether the file says so itself or is given a configuration. */
START_TEST(a_checkpoint_knows_whether_it_began) {
    szg_train_config *config = NEW_CONFIG("model.layers", "1", "intervention.kind", "rotation",
                                          "intervention.from", "0.5");
    szg_train_config *plain = NEW_CONFIG("model.layers", "1");
    szg_train_config *without = NEW_CONFIG("model.layers", "1", "model.encoding", "rope:rotate=1");
    const int64_t limits[] = {46, 47, 50}; /* it begins after 47 of 94 steps */
    szg_train_result result;
    for (int i = 0; i < 3; i++) {
        char *folder = new_run_folder();
        int64_t count, other;
        config->loop.limit_steps = limits[i];
        ck_szg_ok(run_in(test_context(), config, 5, folder, false, &result));
        double *got = logits_in(folder, NULL, &count);
        double *rotated = logits_in(folder, plain, &other);
        double *off = logits_in(folder, without, &other);
        size_t bytes = (size_t)count * sizeof *got;
        ck_assert(memcmp(rotated, off, bytes) != 0);
        ck_assert(memcmp(got, limits[i] < 47 ? rotated : off, bytes) == 0);
        szgi_memory_free(got);
        szgi_memory_free(rotated);
        szgi_memory_free(off);
        remove_run_folder(folder);
    }
    /* A checkpoint that says nothing takes a configuration's intervention as begun. */
    char *folder = new_run_folder();
    int64_t count;
    plain->loop.limit_steps = 46;
    ck_szg_ok(run_in(test_context(), plain, 5, folder, false, &result));
    double *got = logits_in(folder, config, &count), *off = logits_in(folder, without, &count);
    ck_assert(memcmp(got, off, (size_t)count * sizeof *got) == 0);
    szgi_memory_free(got);
    szgi_memory_free(off);
    remove_run_folder(folder);
    szgi_memory_free(config);
    szgi_memory_free(plain);
    szgi_memory_free(without);
}
END_TEST

/* The captured gradient is the whole one, also where the update leaves the head's part out. */
START_TEST(captured_norms_are_of_the_whole_gradient) {
    szg_train_config *config = NEW_CONFIG("capture.every", "40", "intervention.kind", "gradient",
                                          "intervention.head", "1");
    szg_train_result result;
    char *frozen_run = new_run_folder(), *plain_run = new_run_folder();
    size_t size;
    config->loop.limit_steps = 1;
    ck_szg_ok(run_in(test_context(), config, 5, frozen_run, false, &result));
    config->intervention.kind = SZG_INTERVENTION_NONE;
    ck_szg_ok(run_in(test_context(), config, 5, plain_run, false, &result));
    ck_same_file(frozen_run, plain_run, "contraction.csv");
    char *text = file_bytes(frozen_run, "contraction.csv", &size);
    ck_assert_ptr_nonnull(strstr(text, "grad_norm_qk"));
    free(text);
    remove_run_folder(frozen_run);
    remove_run_folder(plain_run);
    szgi_memory_free(config);
}
END_TEST

/* ---- On a backend ---- */

/* Windows across the switch's two sides give the bits of single steps. A rotation that is off is
 * the SPEC's that goes on from there; a frozen head stays as it was. */
START_TEST(a_backend_intervenes_too) {
    const char *name = getenv("SZG_TEST_BACKEND");
    szg_context *context;
    ck_assert_int_eq(szg_context_open(NULL, &context), SZG_OK);
    ck_assert_int_eq(szg_backend_select(context, name ? name : "cpu"), SZG_OK);
    szg_train_config *config =
        _i ? frozen_config(0, "0.1", "0") : equal_config(&equals[1], true, "0.1");
    enum { STEPS = 16, SWITCH = 9 };
    training whole, single, before, want;
    open_training(&whole, context, config);
    take(&whole, 0, STEPS, TRAINER_WINDOW);
    read_arrays(&whole);
    open_training(&single, context, config);
    take(&single, 0, STEPS, 1);
    read_arrays(&single);
    ck_assert(same_state(&whole, &single));
    open_training(&before, context, config);
    take(&before, 0, SWITCH, TRAINER_WINDOW);
    read_arrays(&before);
    if (_i) {
        for (int64_t i = 0; i < szgi_model_count(whole.parts.model); i++)
            if (is_own(whole.parts.model, 0, i))
                ck_assert(whole.arrays[0][i] == before.arrays[0][i]);
    } else {
        szg_train_config *other = equal_config(&equals[1], false, NULL);
        open_training(&want, context, other);
        hand_over(&before, &want);
        take(&want, SWITCH, STEPS, 1);
        read_arrays(&want);
        ck_assert(same_state(&whole, &want));
        close_training(&want);
        szgi_memory_free(other);
    }
    close_training(&whole);
    close_training(&single);
    close_training(&before);
    szgi_memory_free(config);
    szg_context_close(&context);
}
END_TEST

TEST_FILE("intervention") {
    test_add_loop(suite, "never_rotates", a_head_that_never_rotates_is_one_of_the_spec, EQUALS);
    test_add_loop(suite, "switched_off", a_rotation_is_switched_off_in_training, EQUALS);
    test_add_loop(suite, "frozen", a_frozen_head_stays, FROZEN);
    test_add(suite, "decays", a_frozen_head_decays);
    test_add_loop(suite, "goes_on", a_run_goes_on_across_the_switch, RUN_KINDS);
    test_add_loop(suite, "recorded", a_recorded_run_has_the_same_bits, RUN_KINDS);
    test_add(suite, "checkpoint", a_checkpoint_knows_whether_it_began);
    test_add(suite, "captured", captured_norms_are_of_the_whole_gradient);
    test_add_loop(suite, "backend", a_backend_intervenes_too, 2);
}
