/* What a model's class takes where its configuration has no such key. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "defaults.h"

static const struct {
    const char *model_type, *pairs;
} classes[] = {
#define X(model_type, pairs) {model_type, pairs},
#include "class_defaults.def"
#undef X
};

/* Keys of one meaning: no default is taken for one of them if another is there. */
static const char *const groups[][8] = {
    {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"},
    {"num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"},
    {"hidden_size", "n_embd", "n_embed", "d_model", "dim"},
    {"head_dim", "d_kv"},
    {"max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "seq_length",
     "n_ctx"},
    {"rope_theta", "rotary_emb_base"},
    {"partial_rotary_factor", "rotary_pct"},
    {"sliding_window_pattern", "layer_types"},
    {"full_attention_interval", "layer_types", "full_attn_idxs"},
    {"no_rope_layer_interval", "no_rope_layers"},
};

/* The first group that has the key; NULL: none. */
static const char *const *group_of(const char *key) {
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (int k = 0; k < 8 && groups[i][k]; k++)
            if (strcmp(groups[i][k], key) == 0)
                return groups[i];
    return NULL;
}

/* Is the key, or another of its meaning, in the object? A null is a value of the key itself. */
static bool has_any(szgi_json_value object, const char *key) {
    const char *const *group = group_of(key);
    for (int k = 0; group && k < 8 && group[k]; k++)
        if (szgi_json_has(object, group[k]))
            return true;
    return szgi_json_kind_of(szgi_json_member(object, key)) != SZGI_JSON_ABSENT;
}

static bool holds_objects(szgi_json_value object) {
    for (szgi_json_value member = {0}; szgi_json_next(object, &member);)
        if (szgi_json_kind_of(member) == SZGI_JSON_OBJECT)
            return true;
    return false;
}

/* Rotary keys are at the top, or in rope_parameters, which has all of them if it is by layer type.
 */
static bool has_rotary(szgi_json_value settings, const char *key) {
    szgi_json_value parameters = szgi_json_member(settings, "rope_parameters");
    bool inner = szgi_json_kind_of(parameters) == SZGI_JSON_OBJECT;
    if (strchr(key, '.'))
        return inner ||
               szgi_json_kind_of(szgi_json_member(settings, "rope_scaling")) != SZGI_JSON_ABSENT;
    return has_any(settings, key) ||
           (inner && (has_any(parameters, key) || holds_objects(parameters)));
}

/* Does the configuration say what the key says? `key` is cut at its points, and whole again. */
static bool is_said(szgi_json_value settings, char *key) {
    static const char *const rotary[] = {
        "rope_",
        "partial_rotary_factor",
        "global_rope_theta",
        "local_rope_theta",
        "global_attn_every_n_layers",
    };
    for (size_t i = 0; i < sizeof rotary / sizeof *rotary; i++)
        if (strncmp(key, rotary[i], strlen(rotary[i])) == 0)
            return has_rotary(settings, key);
    char *point = strchr(key, '.');
    if (!point)
        return has_any(settings, key);
    *point = 0;
    szgi_json_value object = szgi_json_member(settings, key);
    *point = '.';
    return szgi_json_kind_of(object) != SZGI_JSON_ABSENT && has_any(object, point + 1);
}

/* The major version of transformers that wrote the configuration; 0: it does not say. */
static char version_of(const szg_checkpoint *checkpoint) {
    const char *text;
    szgi_json_value version =
        szgi_json_member(szgi_json_root(checkpoint->config), "transformers_version");
    return szgi_json_as_text(NULL, version, &text) == SZG_OK ? *text : 0;
}

static szg_status append(szg_context *context, szg_checkpoint *checkpoint, const char *path,
                         const char *key, const char *value) {
    size_t size = strlen(path) + strlen(key) + strlen(value) + sizeof "=";
    char *pair;
    SZG_TRY(
        szgi_memory_grow(context, &checkpoint->taken, checkpoint->takens, checkpoint->takens + 1));
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, &pair));
    snprintf(pair, size, "%s%s=%s", path, key, value);
    checkpoint->taken[checkpoint->takens++] = pair;
    return SZG_OK;
}

/* One pair KEY=VALUE: to the defaults, or to the sentence of what is missing. */
static szg_status take(szg_context *context, szg_checkpoint *checkpoint, szgi_json_value settings,
                       const char *path, char *pair, char **missing) {
    char *value = strchr(pair, '='), *five;
    *value++ = 0;
    if (is_said(settings, pair))
        return SZG_OK;
    if (strcmp(value, "?") == 0)
        return szgi_text_append(context, missing, "%s%s", path, pair);
    five = strchr(value, '|');
    if (!five)
        return append(context, checkpoint, path, pair, value);
    *five++ = 0;
    if (version_of(checkpoint) == '4' || version_of(checkpoint) == '5')
        return append(context, checkpoint, path, pair,
                      version_of(checkpoint) == '4' ? value : five);
    return szgi_text_append(context, missing,
                            "%s%s (%s in transformers 4, %s in 5, and there is no "
                            "transformers_version)",
                            path, pair, value, five);
}

static const char *pairs_of(const char *model_type) {
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].model_type, model_type) == 0)
            return classes[i].pairs;
    return NULL;
}

/* The defaults of the class that the object's model_type names, if it is known. */
static szg_status take_all(szg_context *context, szg_checkpoint *checkpoint,
                           szgi_json_value settings, char **missing) {
    char path[256], *copy, *rest, *pair;
    const char *type;
    szgi_json_value name = szgi_json_member(settings, "model_type");
    if (szgi_json_as_text(NULL, name, &type) != SZG_OK || !pairs_of(type))
        return SZG_OK;
    szgi_json_path(name, path, sizeof path - 1); /* "text_config.model_type" */
    path[strlen(path) - strlen("model_type")] = 0;
    SZG_TRY(szgi_memory_copy_text(context, pairs_of(type), &copy));
    szg_status status = SZG_OK;
    for (rest = copy; status == SZG_OK && (pair = strsep(&rest, " "));)
        status = take(context, checkpoint, settings, path, pair, missing);
    szgi_memory_free(copy);
    return status;
}

/* The same of the objects that the stacks of a model have. Stacks with one object follow each other
 * in the table of families. */
static szg_status take_objects(szg_context *context, szg_checkpoint *checkpoint, char **missing) {
    const char *type, *last = "";
    const model_family *family;
    szgi_json_value name = szgi_json_member(checkpoint->settings, "model_type");
    if (szgi_json_as_text(NULL, name, &type) != SZG_OK)
        return SZG_OK;
    for (int64_t i = 0; (family = szgi_family_find(type, i)); i++) {
        if (!family->object || strcmp(family->object, last) == 0)
            continue;
        last = family->object;
        SZG_TRY(take_all(context, checkpoint, szgi_config_at(checkpoint->settings, last), missing));
    }
    return SZG_OK;
}

szg_status szgi_defaults_take(szg_context *context, szg_checkpoint *checkpoint) {
    char *missing = NULL;
    szg_status status = take_all(context, checkpoint, checkpoint->settings, &missing);
    if (status == SZG_OK)
        status = take_objects(context, checkpoint, &missing);
    if (status == SZG_OK && missing)
        status = szgi_json_fail(context, checkpoint->settings,
                                "these keys are missing, and the class has no default for them: "
                                "%s: --set KEY=VALUE gives each",
                                missing);
    szgi_memory_free(missing);
    SZG_TRY(status);
    return szgi_config_change(context, &checkpoint->config, (const char *const *)checkpoint->taken,
                              checkpoint->takens);
}

szg_status szgi_defaults_watch(szg_context *context, szg_checkpoint *checkpoint) {
    return szgi_config_watch(context, checkpoint->config, (const char *const *)checkpoint->taken,
                             checkpoint->takens);
}

szg_status szgi_defaults_note(szg_context *context, szg_checkpoint *checkpoint, int64_t first) {
    int64_t kept = 0;
    char *list = NULL;
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < checkpoint->takens; i++) {
        char *pair = checkpoint->taken[i];
        checkpoint->taken[i] = NULL;
        if (*pair && szgi_json_was_read(checkpoint->config, first + i))
            checkpoint->taken[kept++] = pair;
        else
            szgi_memory_free(pair);
    }
    checkpoint->takens = kept;
    for (int64_t i = 0; i < kept && status == SZG_OK; i++)
        status = szgi_text_append(context, &list, "%s", checkpoint->taken[i]);
    if (status == SZG_OK && list)
        status = szgi_text_append(context, &checkpoint->note,
                                  "defaults of the class %s are taken for what the configuration "
                                  "does not say: %s",
                                  checkpoint->model_type, list);
    szgi_memory_free(list);
    return status;
}

/* Is the pair PATH=VALUE of that key, `length` bytes? */
static bool is_of(const char *pair, const char *key, size_t length) {
    size_t whole = strcspn(pair, "=");
    return whole >= length && strncmp(pair + whole - length, key, length) == 0 &&
           (whole == length || pair[whole - length - 1] == '.');
}

bool szgi_defaults_has(const szg_checkpoint *checkpoint, const char *key, size_t length) {
    for (int64_t i = 0; i < checkpoint->takens; i++)
        if (is_of(checkpoint->taken[i], key, length))
            return true;
    return false;
}

void szgi_defaults_free(szg_checkpoint *checkpoint) {
    for (int64_t i = 0; i < checkpoint->takens; i++)
        szgi_memory_free(checkpoint->taken[i]);
    szgi_memory_free(checkpoint->taken);
}

/* ---- Sizes that the tensors contradict ---- */

static bool took(const szg_checkpoint *checkpoint, const char *key) {
    return key && szgi_defaults_has(checkpoint, key, strlen(key));
}

/* The first layer's query weight that tells sizes: a matrix of floats; NULL: there is none. */
static const szgi_tensor *query_of(const szg_checkpoint *checkpoint, int64_t *layers) {
    const szgi_tensor *out = NULL;
    int64_t i = 0;
    for (; i < 1 << 20; i++) {
        const szgi_tensor *tensor = szgi_layer_tensor(checkpoint, i, checkpoint->query);
        if (!tensor)
            break;
        bool whole = tensor->dims == 2 && tensor->dtype != SZGI_DTYPE_INTEGER &&
                     tensor->dtype != SZGI_DTYPE_OTHER && !tensor->refusal;
        out = out ? out : whole ? tensor : NULL;
    }
    *layers = i;
    return out;
}

/* The tensors' number in place of the default *key, with a sentence; *key is the tensor then. */
static szg_status follow_tensors(szg_context *context, szg_checkpoint *checkpoint,
                                 const szgi_tensor *tensor, int64_t number, const char **key,
                                 int64_t *size) {
    if (*size == number)
        return SZG_OK;
    for (int64_t i = 0; i < checkpoint->takens; i++)
        if (is_of(checkpoint->taken[i], *key, strlen(*key)))
            *checkpoint->taken[i] = 0;
    SZG_TRY(szgi_text_append(context, &checkpoint->note,
                             "the class's %s is %" PRId64 ", and the tensors have %" PRId64
                             ": theirs is taken",
                             *key, *size, number));
    *size = number;
    *key = tensor->name;
    return SZG_OK;
}

/* How many gains a norm of each query head has: the head's size; 0: there is no such norm. */
static int64_t normed_size(const szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    const szgi_tensor *gain =
        family->norm == NORM_HEAD || family->norm == NORM_HEAD_AFTER
            ? szgi_layer_tensor(checkpoint, 0,
                                family->query_norm ? family->query_norm : "self_attn.q_norm.weight")
            : NULL;
    return gain ? gain->count : 0;
}

static int64_t rows_by_head(const szg_checkpoint *checkpoint, const szgi_tensor *query) {
    weight_layout layout = checkpoint->family->layout;
    int64_t sides = checkpoint->heads * (layout == LAYOUT_GATED ? 2 : 1);
    bool apart = layout == LAYOUT_SEPARATE || layout == LAYOUT_GATED;
    return apart && query->shape[0] % sides == 0 ? query->shape[0] / sides : 0;
}

/* The number of heads cannot be seen in a matrix; a norm of each head shows it. `width`: the
 * class's default, which the tensors replace. */
static szg_status check_heads(szg_context *context, const szg_checkpoint *checkpoint,
                              const szgi_tensor *query, int64_t width, const char *key) {
    int64_t rows = rows_by_head(checkpoint, query);
    szgi_json_value value = szgi_json_member(checkpoint->settings, key);
    char path[256];
    if (rows > 0 && rows == normed_size(checkpoint))
        return SZG_OK;
    return szgi_json_fail(
        context, value,
        "is missing, and the class's default %" PRId64 " goes with its width %" PRId64
        ", but tensor %s is %" PRId64
        " wide: no tensor shows the number of heads; --set %s=VALUE gives it, as the model was "
        "trained",
        checkpoint->heads, width, query->name, checkpoint->model_size,
        szgi_json_path(value, path, sizeof path));
}

szg_status szgi_defaults_fit(szg_context *context, szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    deciding_keys *keys = &checkpoint->decided;
    int64_t layers, model = checkpoint->model_size;
    const szgi_tensor *query = query_of(checkpoint, &layers);
    if (checkpoint->takens == 0 || !query)
        return SZG_OK;
    if (took(checkpoint, keys->layers) && !family->mixed && !family->only && !family->shares_layers)
        SZG_TRY(
            follow_tensors(context, checkpoint, query, layers, &keys->layers, &checkpoint->layers));
    int64_t columns = query->shape[family->layout == LAYOUT_CONV1D ? 0 : 1];
    if (took(checkpoint, keys->model_size) && !checkpoint->latent.query_rank)
        SZG_TRY(follow_tensors(context, checkpoint, query, columns, &keys->model_size,
                               &checkpoint->model_size));
    if (took(checkpoint, keys->heads) && checkpoint->model_size != model)
        return check_heads(context, checkpoint, query, model, keys->heads);
    return SZG_OK;
}

szg_status szgi_defaults_fit_head(szg_context *context, szg_checkpoint *checkpoint) {
    int64_t layers;
    const szgi_tensor *query = query_of(checkpoint, &layers);
    int64_t rows = query ? rows_by_head(checkpoint, query) : 0;
    if (rows == 0 || !took(checkpoint, checkpoint->decided.head_size))
        return SZG_OK;
    return follow_tensors(context, checkpoint, query, rows, &checkpoint->decided.head_size,
                          &checkpoint->head_size);
}
