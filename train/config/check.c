/* Whether the values of a configuration go together. */
#include <inttypes.h>

#include "base/memory.h"

#include "config_private.h"

#define REFUSE(context, ...) szgi_fail((context), SZG_EINVAL, __VA_ARGS__)

/* Every field within the table's range: the struct may have been filled by hand. */
static szg_status check_ranges(szg_context *context, const szg_train_config *config) {
    char text[SZG_CONFIG_TEXT], sentence[CONFIG_SENTENCE];
    szg_train_config copy = *config;
    const config_row *row;
    for (int64_t i = 0; (row = szgi_config_row_at(i)); i++)
        if (!szgi_config_set(row, szgi_config_text(row, config, text), &copy, sentence))
            return REFUSE(context, "%s=%.80s: %s", row->key.name, text, sentence);
    return SZG_OK;
}

/* No member at or beyond `limit`. */
static szg_status check_list(szg_context *context, const char *key, const szg_index_list *list,
                             const char *limit_key, int64_t limit) {
    if (list->all || list->count == 0 || list->index[list->count - 1] < limit)
        return SZG_OK;
    return REFUSE(context, "%s names %" PRId64 ", but %s=%" PRId64 " (they count from 0)", key,
                  list->index[list->count - 1], limit_key, limit);
}

static szg_status check_sizes(szg_context *context, const szg_model_config *model) {
    if (model->width % model->heads != 0)
        return REFUSE(context,
                      "model.heads=%" PRId64 " does not divide model.width=%" PRId64
                      ": each head takes width / heads numbers",
                      model->heads, model->width);
    if (model->added_sinusoid != SZG_SINUSOID_NONE && model->width % 2 != 0)
        return REFUSE(context,
                      "model.width=%" PRId64 " is odd: sines and cosines need an even one, or "
                      "model.added_sinusoid=none",
                      model->width);
    if (!(model->dropout < 1))
        return REFUSE(context, "model.dropout=%g leaves nothing: it must be below 1",
                      model->dropout);
    return check_list(context, "model.rotated_layers", &model->rotated_layers, "model.layers",
                      model->layers);
}

szg_status szgi_config_parse_encoding(szg_context *context, const szg_model_config *model,
                                      uint64_t seed, szg_encoding **out) {
    const szgi_encoding_sizes sizes = {.width = model->width,
                                       .head_dim = model->width / model->heads,
                                       .heads = model->heads,
                                       .length = model->max_length,
                                       .seed = seed};
    return szgi_encoding_open_sized(context, model->encoding, &sizes, out);
}

static szg_status check_encoding(szg_context *context, const szg_model_config *model) {
    szg_encoding *encoding;
    /* Tables that are drawn do not hang on the seed in their sizes. */
    szg_status status = szgi_config_parse_encoding(context, model, 0, &encoding);
    if (status != SZG_OK)
        return szgi_fail_prefix(context, status,
                                "model.encoding (model.width=%" PRId64 ", a head of %" PRId64 ")",
                                model->width, model->width / model->heads);
    bool rotates = szgi_encoding_attaches(encoding) & SZGI_ATTACH_ROTARY;
    szg_encoding_close(&encoding);
    if (rotates || model->rotated_layers.all)
        return SZG_OK;
    return REFUSE(context,
                  "model.rotated_layers chooses among layers that rotate, but model.encoding=%.80s "
                  "does not rotate: set it to all",
                  model->encoding);
}

/* The longest that a task makes, and its largest label. */
static szg_status check_classes(szg_context *context, const szg_train_config *config,
                                int64_t longest, const char *longest_key, int64_t largest_label,
                                const char *label_key) {
    const szg_model_config *model = &config->model;
    if (longest > model->max_length)
        return REFUSE(context,
                      "sequences of %s=%" PRId64 " words do not fit model.max_length=%" PRId64,
                      longest_key, longest, model->max_length);
    if (model->classes == SZG_CLASSES_VOCABULARY && largest_label >= model->vocabulary)
        return REFUSE(context,
                      "%s makes labels up to %" PRId64 ", but model.classes=vocabulary has %" PRId64
                      " classes: set model.classes=labels or enlarge model.vocabulary",
                      label_key, largest_label, model->vocabulary);
    return SZG_OK;
}

static szg_status check_order(szg_context *context, const char *low_key, int64_t low,
                              const char *high_key, int64_t high) {
    return low <= high ? SZG_OK
                       : REFUSE(context, "%s=%" PRId64 " exceeds %s=%" PRId64, low_key, low,
                                high_key, high);
}

/* Segments are drawn without replacement, and cut after the second trigger at the earliest. */
static szg_status check_segments(szg_context *context, const szg_train_config *config,
                                 const char *between_key, int64_t between) {
    const szg_data_config *data = &config->data;
    int64_t fillers = config->model.vocabulary - (data->clean_labels ? 3 : 1);
    const char *key = between > data->side_max ? between_key : "data.side_max";
    int64_t segment = between > data->side_max ? between : data->side_max;
    if (segment > fillers)
        return REFUSE(context,
                      "%s=%" PRId64 " words without replacement need as many fillers, but "
                      "model.vocabulary=%" PRId64 " has %" PRId64 "%s",
                      key, segment, config->model.vocabulary, fillers < 0 ? 0 : fillers,
                      data->clean_labels ? " besides the triggers" : "");
    if (data->side_max + between + 2 > data->longest)
        return REFUSE(context,
                      "data.side_max + %s + 2 = %" PRId64 " exceeds data.longest=%" PRId64
                      ": a cut would remove the second trigger, and with it the label",
                      between_key, data->side_max + between + 2, data->longest);
    return SZG_OK;
}

static szg_status check_distance(szg_context *context, const szg_train_config *config) {
    const szg_data_config *data = &config->data;
    bool apart = data->test_between_max > 0;
    if (config->model.vocabulary < 3)
        return REFUSE(context,
                      "model.vocabulary=%" PRId64 ": padding and two triggers need at least 3",
                      config->model.vocabulary);
    SZG_TRY(check_order(context, "data.between_min", data->between_min, "data.between_max",
                        data->between_max));
    SZG_TRY(check_order(context, "data.side_min", data->side_min, "data.side_max", data->side_max));
    SZG_TRY(check_order(context, "data.test_between_min", data->test_between_min,
                        "data.test_between_max", data->test_between_max));
    SZG_TRY(check_segments(context, config, "data.between_max", data->between_max));
    if (apart)
        SZG_TRY(check_segments(context, config, "data.test_between_max", data->test_between_max));
    int64_t largest = apart && data->test_between_max > data->between_max ? data->test_between_max
                                                                          : data->between_max;
    return check_classes(context, config, data->longest, "data.longest", largest + 1,
                         "data.between_max");
}

static szg_status check_count(szg_context *context, const szg_train_config *config) {
    const szg_data_config *data = &config->data;
    SZG_TRY(check_order(context, "data.count_max", data->count_max, "data.words", data->words));
    if (data->triggers > config->model.vocabulary - 2)
        return REFUSE(context,
                      "data.triggers=%" PRId64 " leave no other word of the %" PRId64
                      " that model.vocabulary=%" PRId64 " has",
                      data->triggers, config->model.vocabulary - 1, config->model.vocabulary);
    SZG_TRY(check_classes(context, config, data->words, "data.words", data->count_max,
                          "data.count_max"));
    if (data->test_words == 0)
        return SZG_OK;
    SZG_TRY(check_order(context, "data.count_max", data->count_max, "data.test_words",
                        data->test_words));
    return check_classes(context, config, data->test_words, "data.test_words", data->count_max,
                         "data.count_max");
}

static szg_status check_data(szg_context *context, const szg_train_config *config) {
    const szg_data_config *data = &config->data;
    if (data->test_file[0] && !data->train_file[0])
        return REFUSE(context, "data.test_file is given without data.train_file: give both, or "
                               "neither for a task");
    if (!data->test_file[0] && !(data->train_part > 0 && data->train_part < 1))
        return REFUSE(context,
                      "data.train_part=%g: training and testing both need a part, so it must lie "
                      "between 0 and 1",
                      data->train_part);
    if (data->train_file[0])
        return SZG_OK; /* the examples are checked when they are read */
    return data->task == SZG_TASK_DISTANCE ? check_distance(context, config)
                                           : check_count(context, config);
}

static szg_status check_loop(szg_context *context, const szg_loop_config *loop) {
    if (!(loop->beta1 < 1) || !(loop->beta2 < 1))
        return REFUSE(context, "loop.beta1=%g and loop.beta2=%g must be below 1", loop->beta1,
                      loop->beta2);
    return SZG_OK;
}

static szg_status check_capture(szg_context *context, const szg_train_config *config) {
    const szg_capture_config *capture = &config->capture;
    SZG_TRY(check_list(context, "capture.layers", &capture->layers, "model.layers",
                       config->model.layers));
    SZG_TRY(
        check_list(context, "capture.heads", &capture->heads, "model.heads", config->model.heads));
    bool nothing = (!capture->layers.all && capture->layers.count == 0) ||
                   (!capture->heads.all && capture->heads.count == 0);
    if (capture->every > 0 && nothing)
        return REFUSE(context,
                      "capture.every=%" PRId64 " with no layer or no head to capture: set "
                      "capture.layers and capture.heads, or capture.every=0",
                      capture->every);
    return SZG_OK;
}

/* ---- Intervention ---- */

szg_status szgi_config_head_rotates(szg_context *context, const szg_model_config *model,
                                    const szg_encoding *encoding, int64_t layer, int64_t head,
                                    bool *out) {
    szgi_rotary rotary = {0};
    bool one = szg_encoding_heads(encoding) == 1;
    if (szgi_encoding_attaches(encoding) & SZGI_ATTACH_ROTARY)
        SZG_TRY(szgi_encoding_rotary(context, encoding, one ? 0 : head, &rotary));
    *out = rotary.pairs > 0 && szgi_index_list_has(&model->rotated_layers, layer);
    return SZG_OK;
}

static szg_status check_rotation(szg_context *context, const szg_train_config *config) {
    const szg_model_config *model = &config->model;
    const szg_intervention_config *intervention = &config->intervention;
    szg_encoding *encoding;
    bool rotates;
    SZG_TRY(szgi_config_parse_encoding(context, model, 0, &encoding));
    szg_status status = szgi_config_head_rotates(context, model, encoding, intervention->layer,
                                                 intervention->head, &rotates);
    szg_encoding_close(&encoding);
    SZG_TRY(status);
    if (rotates)
        return SZG_OK;
    return REFUSE(context,
                  "intervention.kind=rotation: model.encoding=%.80s does not rotate head %" PRId64
                  " of layer %" PRId64
                  ": name a head that rotates (intervention.layer, intervention.head), or take "
                  "gradient or none",
                  model->encoding, intervention->head, intervention->layer);
}

static szg_status check_place(szg_context *context, const char *key, int64_t value,
                              const char *limit_key, int64_t limit) {
    const szg_index_list one = {.count = 1, .index = {value}};
    return check_list(context, key, &one, limit_key, limit);
}

static szg_status check_intervention(szg_context *context, const szg_train_config *config) {
    const szg_intervention_config *intervention = &config->intervention;
    if (intervention->kind == SZG_INTERVENTION_NONE)
        return SZG_OK;
    SZG_TRY(check_place(context, "intervention.layer", intervention->layer, "model.layers",
                        config->model.layers));
    SZG_TRY(check_place(context, "intervention.head", intervention->head, "model.heads",
                        config->model.heads));
    return intervention->kind == SZG_INTERVENTION_ROTATION ? check_rotation(context, config)
                                                           : SZG_OK;
}

szg_status szg_train_config_check(szg_context *context, const szg_train_config *config) {
    SZGI_ENTER(context);
    SZG_TRY(check_ranges(context, config));
    SZG_TRY(check_sizes(context, &config->model));
    SZG_TRY(check_encoding(context, &config->model));
    SZG_TRY(check_data(context, config));
    SZG_TRY(check_loop(context, &config->loop));
    SZG_TRY(check_capture(context, config));
    return check_intervention(context, config);
}
