/* Ablation against the naive way: the matrices edited, and the whole model evaluated again. */
#include <string.h>
#include "plugin/backend.h"
#include "network/ops.h"

#include "../../train/ablation/ablation_private.h"

#include "suite.h"

enum { EXAMPLES = 90, CLASSES = 9, LAYERS = 3, HEADS = 4, WIDTH = 16, PURPOSE = 0x4142 };

static const char *const specs[] = {"rope", "nope", "absolute", "alibi", "relative", "mla"};
enum { SPECS = sizeof specs / sizeof *specs };

static szg_train_config config_of(const char *spec, const char *profile) {
    char encoding[64], wanted[32];
    snprintf(encoding, sizeof encoding, "model.encoding=%s", spec);
    snprintf(wanted, sizeof wanted, "profile=%s", profile);
    const char *overrides[] = {encoding,
                               wanted,
                               "model.width=16",
                               "model.hidden=24",
                               "model.layers=3",
                               "model.heads=4",
                               "model.latent_query=6",
                               "model.latent_kv=3",
                               "model.vocabulary=23",
                               "model.max_length=12",
                               "model.ignored_label=-1",
                               "data.longest=12",
                               "data.between_max=6",
                               "data.side_max=2",
                               "loop.evaluate_batch=32"};
    szg_train_config config;
    ck_szg_ok(szg_train_config_read(test_context(), NULL, overrides,
                                    sizeof overrides / sizeof *overrides, &config));
    config.model.classes = SZG_CLASSES_LABELS;
    return config;
}

/* Examples whose labels are what the model predicts, so that every change of a prediction counts.
 */
static szg_examples examples_for(szg_model *model) {
    szgi_stream stream = {.seed = test_seed(), .purpose = PURPOSE};
    szg_examples examples = {0};
    double logits[EXAMPLES * CLASSES];
    szgi_tally tally;
    for (int64_t e = 0; e < EXAMPLES; e++) {
        int32_t tokens[12];
        int64_t length = 3 + szgi_random_below(&stream, (uint64_t)e * 16, 10);
        for (int64_t i = 0; i < length; i++)
            tokens[i] = (int32_t)(1 + szgi_random_below(&stream, (uint64_t)(e * 16 + i + 1), 22));
        ck_szg_ok(szgi_examples_add(test_context(), &examples, length, tokens, 0));
    }
    ck_szg_ok(szgi_train_evaluate(test_context(), model, &examples, &tally, logits));
    for (int64_t e = 0; e < EXAMPLES; e++)
        for (int32_t c = 1; c < CLASSES; c++)
            if (logits[e * CLASSES + c] > logits[e * CLASSES + examples.label[e]])
                examples.label[e] = c;
    return examples;
}

/* Attention's parts made larger, so that heads matter in a model that was never trained. */
static szg_model *model_with(const szg_train_config *config) {
    szg_model *model;
    ck_szg_ok(szgi_model_open(test_context(), config, CLASSES, &model));
    ck_szg_ok(szgi_model_initialise(test_context(), model, test_seed()));
    for (int64_t i = 0; i < szgi_model_parameters(model); i++) {
        const szgi_parameter *part = szgi_model_parameter(model, i);
        if (!strstr(part->name, "out_") && !strstr(part->name, "v_linear"))
            continue;
        double *values = new_numbers(part->count);
        ck_szg_ok(szgi_model_read(test_context(), model, szgi_model_arena(model), part->offset,
                                  part->count, values));
        for (int64_t j = 0; j < part->count; j++)
            values[j] *= 3;
        ck_szg_ok(szgi_model_write(test_context(), model, szgi_model_arena(model), part->offset,
                                   part->count, values));
        szgi_memory_free(values);
    }
    return model;
}

static szg_model *model_of(const char *spec, const char *profile) {
    szg_train_config config = config_of(spec, profile);
    return model_with(&config);
}

static double *all_numbers(szg_model *model) {
    double *values = new_numbers(szgi_model_count(model));
    ck_szg_ok(szgi_model_read(test_context(), model, szgi_model_arena(model), 0,
                              szgi_model_count(model), values));
    return values;
}

static double accuracy_of(szg_model *model, const szg_examples *examples) {
    szgi_tally tally;
    ck_szg_ok(szgi_train_evaluate(test_context(), model, examples, &tally, NULL));
    ck_assert_int_eq(tally.counted, examples->count);
    return (double)tally.correct / (double)examples->count;
}

/* The accuracy with columns first .. last - 1 of the named matrices of a layer zeroed. */
static double without_columns(szg_model *model, const szg_examples *examples, int64_t layer,
                              const char *const *names, int64_t count, int64_t first,
                              int64_t last) {
    double *whole = all_numbers(model), *edited = all_numbers(model);
    int64_t found = 0;
    for (int64_t n = 0; n < count; n++) {
        char name[64];
        snprintf(name, sizeof name, "layers.%d.%s", (int)layer, names[n]);
        const szgi_parameter *part = szgi_model_find(model, name);
        if (!part)
            continue;
        found++;
        for (int64_t row = 0; row < part->shape[0]; row++)
            for (int64_t column = first; column < last && column < part->shape[1]; column++)
                edited[part->offset + row * part->shape[1] + column] = 0;
    }
    ck_assert_int_gt(found, 0);
    ck_szg_ok(szgi_model_write(test_context(), model, szgi_model_arena(model), 0,
                               szgi_model_count(model), edited));
    double accuracy = accuracy_of(model, examples);
    ck_szg_ok(szgi_model_write(test_context(), model, szgi_model_arena(model), 0,
                               szgi_model_count(model), whole));
    szgi_memory_free(whole);
    szgi_memory_free(edited);
    return accuracy;
}

/* A zero product is a zero summand, whether the row or the column is zero: equal, not close. */
static void check_against(szg_model *model, const szg_examples *examples,
                          const szg_ablation *ablation, const char *const *names, int64_t count) {
    int64_t width = WIDTH / HEADS, changed = 0;
    ck_assert(ablation->accuracy == accuracy_of(model, examples));
    ck_assert(ablation->accuracy == 1);
    ck_assert_int_eq(ablation->counted, EXAMPLES);
    for (int64_t layer = 0; layer < LAYERS; layer++) {
        for (int64_t head = 0; head < HEADS; head++) {
            double want = without_columns(model, examples, layer, names, count, head * width,
                                          (head + 1) * width);
            ck_assert_msg(ablation->head[layer * HEADS + head] == want,
                          "layer %d head %d: %g, not %g", (int)layer, (int)head,
                          ablation->head[layer * HEADS + head], want);
            changed += want < 1;
        }
        double want = without_columns(model, examples, layer, names, count, 0, WIDTH);
        ck_assert_msg(ablation->layer[layer] == want, "layer %d: %g, not %g", (int)layer,
                      ablation->layer[layer], want);
        changed += want < 1;
    }
    ck_assert_int_ge(changed, LAYERS); /* else nothing was compared */
}

static void run_ablation(szg_model *model, const szg_examples *examples, szg_ablation_method method,
                         int64_t batch, szg_ablation *out) {
    szg_ablation_options options = {SZG_INIT(szg_ablation_options), .method = method,
                                    .batch = batch};
    ck_szg_ok(szg_ablation_run(test_context(), model, examples, &options, out));
    ck_assert_int_eq(out->layers, LAYERS);
    ck_assert_int_eq(out->heads, HEADS);
}

static void same_ablation(const szg_ablation *a, const szg_ablation *b) {
    ck_assert(a->accuracy == b->accuracy);
    ck_assert(memcmp(a->head, b->head, sizeof *a->head * LAYERS * HEADS) == 0);
    ck_assert(memcmp(a->layer, b->layer, sizeof *a->layer * LAYERS) == 0);
}

static void check_model(const char *spec, const char *profile) {
    static const char *const outputs[] = {"out_linear.weight", "attn.out_proj.weight"};
    szg_model *model = model_of(spec, profile);
    szg_examples examples = examples_for(model);
    szg_ablation output, values;
    double *before = all_numbers(model);
    run_ablation(model, &examples, SZG_ABLATE_OUTPUT, 0, &output);
    check_against(model, &examples, &output, outputs, 2);
    run_ablation(model, &examples, SZG_ABLATE_VALUES, 13, &values);
    same_ablation(&output, &values); /* and so for batches of 32 and of 13 */
    double *after = all_numbers(model);
    ck_assert(memcmp(before, after, (size_t)szgi_model_count(model) * sizeof *before) == 0);
    szgi_memory_free(before);
    szgi_memory_free(after);
    szg_ablation_close(&output);
    szg_ablation_close(&values);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}

START_TEST(output_is_the_naive_way) {
    check_model(specs[_i / 2], _i % 2 ? "released" : "text");
}
END_TEST

/* Several variations a pass: the same predictions, whatever the groups and the batches. Shortened
 * runs try one pair of them a call, another one for each case. */
static void check_groups(szg_model *model, const szg_examples *examples, szg_ablation_method method,
                         int first) {
    enum { PAIRS = 4 };
    szg_ablation one, several;
    const int64_t copies[PAIRS] = {2, 3, HEADS + 1, 9}, batches[PAIRS] = {32, 3, 7, 200};
    run_ablation(model, examples, method, 0, &one);
    for (int64_t i = 0; i < test_trials(PAIRS); i++) {
        int64_t at = (first + i) % PAIRS;
        szg_ablation_options options = {SZG_INIT(szg_ablation_options), .method = method,
                                        .batch = batches[at]};
        ck_szg_ok(szgi_ablation_run_grouped(test_context(), model, examples, &options, copies[at],
                                            &several));
        ck_assert_int_eq(several.reach, one.reach);
        ck_assert_int_eq(several.counted, one.counted);
        same_ablation(&one, &several);
        szg_ablation_close(&several);
    }
    szg_ablation_close(&one);
}

START_TEST(groups_are_single_heads) {
    static const char *const wheres[] = {"rope", "mla", "t5:buckets=4", "rope"};
    szg_train_config config = config_of(wheres[_i], _i == 1 ? "released" : "text");
    if (_i == 3) /* every layer reads the embeddings */
        config.model.keys_values = SZG_KEYS_EMBEDDING;
    szg_model *model = model_with(&config);
    szg_examples examples = examples_for(model);
    check_groups(model, &examples, SZG_ABLATE_OUTPUT, _i);
    check_groups(model, &examples, SZG_ABLATE_VALUES, _i + 1);
    check_groups(model, &examples, SZG_ABLATE_CUMULATIVE, _i + 2);
    if (_i == 1)
        check_groups(model, &examples, SZG_ABLATE_LATENT_COLUMNS, _i + 3);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

START_TEST(latent_columns_reach_as_far_as_they_go) {
    static const char *const up[] = {"attn.W_UQ.weight", "attn.W_UK.weight", "attn.W_UV.weight"};
    szg_model *model = model_of("mla", "released");
    szg_examples examples = examples_for(model);
    szg_ablation ablation;
    double *before = all_numbers(model);
    run_ablation(model, &examples, SZG_ABLATE_LATENT_COLUMNS, 0, &ablation);
    ck_assert_int_eq(ablation.reach, 2); /* 6 latent dimensions, 4 a head */
    check_against(model, &examples, &ablation, up, 3);
    ck_assert(ablation.head[2] == 1 && ablation.head[3] == 1);
    double *after = all_numbers(model);
    ck_assert(memcmp(before, after, (size_t)szgi_model_count(model) * sizeof *before) == 0);
    szgi_memory_free(before);
    szgi_memory_free(after);
    szg_ablation_close(&ablation);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

/* The naive way of the released code: W_V's rows of a head are zeroed, the accuracy is taken, the
 * rows come back, but for the last head's of each layer. In a copy of the parameters `numbers`. */
static void zero_values(szg_model *model, double *numbers, int64_t layer, int64_t first,
                        int64_t last) {
    static const char *const names[] = {"v_linear.weight", "v_linear.bias", "attn.W_UV.weight"};
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "layers.%d.%s", (int)layer, names[i]);
        const szgi_parameter *part = szgi_model_find(model, name);
        if (!part)
            continue;
        int64_t row = part->count / WIDTH;
        for (int64_t at = first * row; at < last * row; at++)
            numbers[part->offset + at] = 0;
    }
}

static double accuracy_with(szg_model *model, const szg_examples *examples, const double *numbers) {
    ck_szg_ok(szgi_model_write(test_context(), model, szgi_model_arena(model), 0,
                               szgi_model_count(model), numbers));
    return accuracy_of(model, examples);
}

START_TEST(the_last_heads_of_lower_layers_stay_off) {
    static const char *const wheres[] = {"rope", "relative", "mla"};
    enum { OWN = WIDTH / HEADS };
    szg_model *model = model_of(wheres[_i], "released");
    szg_examples examples = examples_for(model);
    szg_ablation output, cumulative;
    size_t bytes = (size_t)szgi_model_count(model) * sizeof(double);
    double *whole = all_numbers(model), *standing = all_numbers(model), *cut = all_numbers(model);
    int64_t differ = 0;
    run_ablation(model, &examples, SZG_ABLATE_OUTPUT, 0, &output);
    run_ablation(model, &examples, SZG_ABLATE_CUMULATIVE, 13, &cumulative);
    ck_assert(cumulative.accuracy == 1 && cumulative.counted == EXAMPLES);
    ck_assert(memcmp(output.head, cumulative.head, HEADS * sizeof *output.head) == 0);
    for (int64_t layer = 0; layer < LAYERS; layer++) {
        for (int64_t place = 0; place <= HEADS; place++) {
            bool all = place == HEADS;
            memcpy(cut, standing, bytes);
            zero_values(model, cut, layer, all ? 0 : place * OWN, all ? WIDTH : (place + 1) * OWN);
            double want = accuracy_with(model, &examples, cut);
            double got = all ? cumulative.layer[layer] : cumulative.head[layer * HEADS + place];
            ck_assert_msg(got == want, "layer %d place %d: %g, not %g", (int)layer, (int)place, got,
                          want);
            differ += !all && got != output.head[layer * HEADS + place];
        }
        zero_values(model, standing, layer, WIDTH - OWN, WIDTH);
    }
    ck_assert_int_ge(differ, LAYERS); /* else the two methods were not told apart */
    ck_szg_ok(szgi_model_write(test_context(), model, szgi_model_arena(model), 0,
                               szgi_model_count(model), whole));
    szgi_memory_free(whole);
    szgi_memory_free(standing);
    szgi_memory_free(cut);
    szg_ablation_close(&output);
    szg_ablation_close(&cumulative);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

/* ---- Rotation ---- */

/* The accuracy of the same numbers under a configuration that rotates less. */
static double accuracy_under(const szg_train_config *config, szg_model *numbers,
                             const szg_examples *examples) {
    szg_model *model;
    double *values = all_numbers(numbers);
    ck_szg_ok(szgi_model_open(test_context(), config, CLASSES, &model));
    ck_szg_ok(szgi_model_write(test_context(), model, szgi_model_arena(model), 0,
                               szgi_model_count(model), values));
    ck_szg_ok(szgi_model_intervene(test_context(), model, true));
    double accuracy = accuracy_of(model, examples);
    szgi_memory_free(values);
    szg_model_close(test_context(), &model);
    return accuracy;
}

/* Larger queries and keys, so that it matters whether they rotate. */
static szg_model *turning_model(const szg_train_config *config) {
    szg_model *model = model_with(config);
    for (int64_t i = 0; i < szgi_model_parameters(model); i++) {
        const szgi_parameter *part = szgi_model_parameter(model, i);
        if (!strstr(part->name, "q_linear") && !strstr(part->name, "k_linear") &&
            !strstr(part->name, "attn.W_"))
            continue;
        double *values = new_numbers(part->count);
        ck_szg_ok(szgi_model_read(test_context(), model, szgi_model_arena(model), part->offset,
                                  part->count, values));
        for (int64_t j = 0; j < part->count; j++)
            values[j] *= 3;
        ck_szg_ok(szgi_model_write(test_context(), model, szgi_model_arena(model), part->offset,
                                   part->count, values));
        szgi_memory_free(values);
    }
    return model;
}

/* A layer without any rotation is one that model.rotated_layers leaves out; a head without it is
 * one that the SPEC leaves out, in a model of one layer. Factors of 1 give the same bits. */
static int64_t check_layers(const szg_train_config *config, szg_model *model,
                            const szg_examples *examples, const szg_ablation *ablation) {
    int64_t changed = 0;
    for (int64_t layer = 0; layer < LAYERS; layer++) {
        szg_train_config other = *config;
        other.model.rotated_layers =
            (szg_index_list){.count = 2, .index = {layer == 0, layer == 2 ? 1 : 2}};
        double want = accuracy_under(&other, model, examples);
        ck_assert_msg(ablation->layer[layer] == want, "layer %d: %g, not %g", (int)layer,
                      ablation->layer[layer], want);
        changed += want < 1;
    }
    return changed;
}

START_TEST(rotation_of_layers_is_the_naive_way) {
    static const char *const wheres[] = {"rope", "mla", "rope+absolute", "rope:rotate=0-1"};
    szg_train_config config = config_of(wheres[_i], "text");
    szg_model *model = turning_model(&config);
    szg_examples examples = examples_for(model);
    szg_ablation ablation, again;
    run_ablation(model, &examples, SZG_ABLATE_ROTATION, 0, &ablation);
    ck_assert(ablation.accuracy == 1 && accuracy_of(model, &examples) == 1);
    ck_assert_int_gt(check_layers(&config, model, &examples, &ablation), 0);
    check_groups(model, &examples, SZG_ABLATE_ROTATION, _i);
    ck_assert(accuracy_of(model, &examples) == 1); /* every head rotates again */
    for (int64_t at = 0; at < LAYERS * HEADS; at++) {
        bool spared = _i == 3 && at % HEADS > 1;
        ck_assert_int_eq(ablation.spared[at], spared);
        ck_assert(!spared || ablation.head[at] == 1);
        /* Each head by an intervention's own way. */
        szg_train_config other = config;
        other.intervention =
            (szg_intervention_config){SZG_INTERVENTION_ROTATION, at / HEADS, at % HEADS, 0};
        ck_assert(ablation.head[at] == accuracy_under(&other, model, &examples));
    }
    run_ablation(model, &examples, SZG_ABLATE_ROTATION, 13, &again);
    same_ablation(&ablation, &again);
    szg_ablation_close(&ablation);
    szg_ablation_close(&again);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

static szg_train_config one_layer(const char *spec) {
    szg_train_config config = config_of(spec, "text");
    config.model.layers = 1;
    return config;
}

START_TEST(rotation_of_a_head_is_the_specs) {
    static const char *const without[] = {"rope:rotate=1-3", "rope:rotate=0+2-3",
                                          "rope:rotate=0-1+3", "rope:rotate=0-2"};
    szg_train_config config = one_layer("rope");
    szg_model *model = turning_model(&config);
    szg_examples examples = examples_for(model);
    szg_ablation_options options = {SZG_INIT(szg_ablation_options), .method = SZG_ABLATE_ROTATION};
    szg_ablation ablation;
    int64_t changed = 0;
    ck_szg_ok(szg_ablation_run(test_context(), model, &examples, &options, &ablation));
    for (int h = 0; h < HEADS; h++) {
        szg_train_config other = one_layer(without[h]);
        double want = accuracy_under(&other, model, &examples);
        ck_assert_msg(ablation.head[h] == want, "head %d: %g, not %g", h, ablation.head[h], want);
        changed += want < 1;
    }
    ck_assert_int_gt(changed, 1);
    szg_ablation_close(&ablation);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

/* A head whose rotation an intervention has taken has none to lose; beside it, a head's loss is
 * that of the SPEC without both. */
START_TEST(rotation_beside_an_intervention) {
    szg_train_config config = one_layer("rope"), other = one_layer("rope:rotate=0+3");
    config.intervention = (szg_intervention_config){SZG_INTERVENTION_ROTATION, 0, 1, 0};
    szg_model *model = turning_model(&config);
    ck_szg_ok(szgi_model_intervene(test_context(), model, true));
    szg_examples examples = examples_for(model);
    szg_ablation_options options = {SZG_INIT(szg_ablation_options), .method = SZG_ABLATE_ROTATION};
    szg_ablation ablation;
    ck_szg_ok(szg_ablation_run(test_context(), model, &examples, &options, &ablation));
    ck_assert(ablation.spared[1] && !ablation.spared[2]);
    ck_assert(ablation.accuracy == 1 && ablation.head[1] == 1);
    ck_assert(ablation.head[2] == accuracy_under(&other, model, &examples));
    ck_assert(ablation.head[2] < 1);
    ck_assert(accuracy_of(model, &examples) == 1);
    ck_assert_int_eq(szgi_ablation_able(&ablation, 0), HEADS - 1);
    szg_ablation_close(&ablation);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

START_TEST(what_cannot_be_ablated_is_refused) {
    szg_model *model = model_of("rope", "text");
    szg_examples examples = examples_for(model), none = {0};
    szg_ablation_options options = {SZG_INIT(szg_ablation_options),
                                    .method = SZG_ABLATE_LATENT_COLUMNS};
    szg_ablation ablation;
    ck_szg_fails(SZG_EINVAL, "is for mla",
                 szg_ablation_run(test_context(), model, &examples, &options, &ablation));
    szg_model *still = model_of("alibi", "text");
    options.method = SZG_ABLATE_ROTATION;
    ck_szg_fails(SZG_EINVAL, "model.encoding=alibi rotates nothing: rotation is for rope",
                 szg_ablation_run(test_context(), still, &examples, &options, &ablation));
    szg_model_close(test_context(), &still);
    options.method = SZG_ABLATE_OUTPUT;
    ck_szg_fails(SZG_EINVAL, "no examples",
                 szg_ablation_run(test_context(), model, &none, &options, &ablation));
    examples.tokens[5] = 23;
    ck_szg_fails(SZG_EDATA, "token",
                 szg_ablation_run(test_context(), model, &examples, &options, &ablation));
    ck_assert_ptr_null(ablation.head);
    ck_szg_fails(SZG_EINVAL,
                 "did you mean values? One of output|values|latent_columns|cumulative|rotation",
                 szg_ablation_method_parse(test_context(), "value", &options.method));
    ck_szg_ok(szg_ablation_method_parse(test_context(), "values", &options.method));
    ck_assert_int_eq(options.method, SZG_ABLATE_VALUES);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

START_TEST(ignored_labels_do_not_count) {
    szg_train_config config = config_of("rope", "text");
    config.model.ignored_label = 2;
    szg_model *model;
    ck_szg_ok(szgi_model_open(test_context(), &config, CLASSES, &model));
    ck_szg_ok(szgi_model_initialise(test_context(), model, 1));
    szg_examples examples = examples_for(model);
    for (int64_t e = 0; e < EXAMPLES; e++)
        examples.label[e] = e % 3 ? 2 : 1;
    szg_ablation ablation;
    run_ablation(model, &examples, SZG_ABLATE_OUTPUT, 0, &ablation);
    ck_assert_int_eq(ablation.counted, (EXAMPLES + 2) / 3);
    szg_ablation_close(&ablation);
    for (int64_t e = 0; e < EXAMPLES; e++)
        examples.label[e] = 2;
    szg_ablation_options options = {SZG_INIT(szg_ablation_options), .batch = 32};
    ck_szg_fails(SZG_EDATA, "ignored_label=2",
                 szg_ablation_run(test_context(), model, &examples, &options, &ablation));
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

START_TEST(failures_leave_the_model_as_it_was) {
    szg_model *model = model_of("mla", "text");
    szg_examples examples = examples_for(model);
    szg_ablation_options options = {SZG_INIT(szg_ablation_options), .method = SZG_ABLATE_VALUES,
                                    .batch = 5};
    szg_ablation ablation;
    examples.count = 9; /* two batches: the work is repeated for each allocation */
    double *before = all_numbers(model);
    ck_survives_failed_allocations(
        8, szg_ablation_run(test_context(), model, &examples, &options, &ablation));
    szg_ablation_close(&ablation);
    options.method = SZG_ABLATE_ROTATION;
    ck_survives_failed_allocations(
        8, szg_ablation_run(test_context(), model, &examples, &options, &ablation));
    ck_assert(accuracy_of(model, &examples) == 1);
    double *after = all_numbers(model);
    ck_assert(memcmp(before, after, (size_t)szgi_model_count(model) * sizeof *before) == 0);
    szgi_memory_free(before);
    szgi_memory_free(after);
    szg_ablation_close(&ablation);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

/* The cpu table, and a cancellation while a head's values are zero, or unrotated. */
static szg_context *cancelled;
static int64_t attentions_before_cancel; /* the first one is the whole layer's */

static szg_status cancelling_attention(szg_context *context, const szgi_attention *attention) {
    if (--attentions_before_cancel == 0)
        szg_context_cancel(cancelled);
    return szgi_ops_cpu()->network->attention(context, attention);
}

START_TEST(a_cancellation_leaves_the_model_as_it_was) {
    szg_model *model = model_of("rope", "text");
    szg_examples examples = examples_for(model);
    szg_ablation_options options = {SZG_INIT(szg_ablation_options),
                                    .method = _i ? SZG_ABLATE_ROTATION : SZG_ABLATE_VALUES};
    szg_ablation ablation;
    szgi_network_ops network = *szgi_ops_cpu()->network;
    struct szgi_ops ops = *szgi_ops_cpu();
    double *before = all_numbers(model);
    network.attention = cancelling_attention;
    ops.network = &network;
    ck_assert_int_eq(szg_context_open(NULL, &cancelled), SZG_OK);
    szgi_context_set_ops(cancelled, &ops);
    attentions_before_cancel = 2;
    ck_assert_int_eq(szg_ablation_run(cancelled, model, &examples, &options, &ablation),
                     SZG_ECANCEL);
    szg_context_close(&cancelled);
    ck_assert(accuracy_of(model, &examples) == 1);
    double *after = all_numbers(model);
    ck_assert(memcmp(before, after, (size_t)szgi_model_count(model) * sizeof *before) == 0);
    szgi_memory_free(before);
    szgi_memory_free(after);
    szg_examples_close(&examples);
    szg_model_close(test_context(), &model);
}
END_TEST

START_TEST(columns_are_cleared_and_nothing_else) {
    enum { ROWS = 5, STRIDE = 12 };
    char bytes[ROWS * STRIDE], *device;
    memset(bytes, 7, sizeof bytes);
    ck_szg_ok(szgi_device_alloc(test_context(), sizeof bytes, &device));
    ck_szg_ok(szgi_device_upload(test_context(), device, bytes, sizeof bytes));
    ck_szg_ok(szgi_device_clear_columns(test_context(), device + 4, ROWS - 1, STRIDE, 3));
    ck_szg_ok(szgi_device_clear_columns(test_context(), NULL, 0, STRIDE, 3));
    ck_szg_ok(szgi_device_download(test_context(), bytes, device, sizeof bytes));
    for (int i = 0; i < ROWS * STRIDE; i++) {
        bool cleared = i / STRIDE < ROWS - 1 && i % STRIDE >= 4 && i % STRIDE < 7;
        ck_assert_int_eq(bytes[i], cleared ? 0 : 7);
    }
    ck_szg_fails(SZG_EINVAL, "stride", szgi_device_clear_columns(test_context(), device, 2, 4, 5));
    szgi_device_free(test_context(), device);
}
END_TEST

TEST_FILE("ablation") {
    test_add_loop(suite, "naive way", output_is_the_naive_way, 2 * SPECS);
    test_add_loop(suite, "groups", groups_are_single_heads, 4);
    test_add_loop(suite, "cumulative", the_last_heads_of_lower_layers_stay_off, 3);
    test_add(suite, "latent columns", latent_columns_reach_as_far_as_they_go);
    test_add_loop(suite, "rotation of layers", rotation_of_layers_is_the_naive_way, 4);
    test_add(suite, "rotation of a head", rotation_of_a_head_is_the_specs);
    test_add(suite, "rotation beside an intervention", rotation_beside_an_intervention);
    test_add(suite, "refusals", what_cannot_be_ablated_is_refused);
    test_add(suite, "ignored labels", ignored_labels_do_not_count);
    test_add(suite, "failures", failures_leave_the_model_as_it_was);
    test_add_loop(suite, "cancellation", a_cancellation_leaves_the_model_as_it_was, 2);
    test_add(suite, "columns", columns_are_cleared_and_nothing_else);
}
