/* Gains of norms in the rows of queries and keys. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "toeplitz/toeplitz.h"
#include "fold.h"

/* The norm whose output a layer's queries and keys read. Names are without ".weight". */
typedef struct input_norm {
    enum { KIND_NONE, KIND_RMS, KIND_LAYER } kind;
    bool plus_one;            /* gains are 1 + w */
    bool bare;                /* it has no gains */
    bool after;               /* it is at the end of the layer before */
    const char *name, *other; /* of the layer; `other`: where there is no `name` (Falcon) */
    const char *first;        /* of the stack: layer 0 has it, where it has none of its own */
    const char *second;       /* of the stack: layer 1 has it, where the stack has it */
    const char *keys; /* of the stack that keys read, NULL: the queries'; "*" is its last layer */
    const char *between; /* a tensor that acts between `first` and layer 0 */
    const char *flag;    /* a key of the configuration that must be `wanted`; absent: it is */
    bool wanted;
    const char *absent;   /* a key that must be absent or null */
    input_rule otherwise; /* the rule where it is not; 0: no norm is known */
} input_norm;

#define LAYER_NORM(norm_name, ...)                                                                 \
    { .kind = KIND_LAYER, .name = norm_name, __VA_ARGS__ }
#define RMS_NORM(norm_name, ...)                                                                   \
    { .kind = KIND_RMS, .name = norm_name, __VA_ARGS__ }

static const input_norm norms[] = {
    [INPUT_RMS] = RMS_NORM("input_layernorm"),
    [INPUT_RMS_PLUS_ONE] = RMS_NORM("input_layernorm", .plus_one = true),
    [INPUT_RMS_OPERATOR] = RMS_NORM("operator_norm"),
    [INPUT_RMS_ATTENTION] = RMS_NORM("attention_layernorm"),
    [INPUT_RMS_FIRST] = RMS_NORM("input_layernorm.0"),
    [INPUT_RMS_SECOND] = RMS_NORM("input_layernorm.1"),
    [INPUT_RMS_T5] = RMS_NORM("layer.0.layer_norm"),
    [INPUT_RMS_T5_CROSS] = RMS_NORM("layer.1.layer_norm", .keys = "encoder.final_layer_norm"),
    [INPUT_RMS_GEMMA_CROSS] =
        RMS_NORM("pre_cross_attn_layernorm", .plus_one = true, .keys = "encoder.norm"),
    [INPUT_LAYER] = LAYER_NORM("input_layernorm"),
    [INPUT_LAYER_PLUS_ONE] = LAYER_NORM("input_layernorm", .plus_one = true),
    [INPUT_LAYER_BARE] = LAYER_NORM(NULL, .bare = true),
    [INPUT_LAYER_LN1] = LAYER_NORM("ln_1"),
    [INPUT_LAYER_MPT] = LAYER_NORM("norm_1"),
    [INPUT_LAYER_FALCON] = LAYER_NORM("ln_attn", .other = "input_layernorm"),
    [INPUT_LAYER_OPT] = LAYER_NORM("self_attn_layer_norm", .flag = "do_layer_norm_before",
                                   .wanted = true, .otherwise = INPUT_LAYER_AFTER),
    [INPUT_LAYER_AFTER] = LAYER_NORM("final_layer_norm", .after = true),
    [INPUT_LAYER_VIT] = LAYER_NORM("layernorm_before"),
    [INPUT_LAYER_CLIP] = LAYER_NORM("layer_norm1"),
    [INPUT_LAYER_NORM1] = LAYER_NORM("norm1"),
    [INPUT_LAYER_MODERNBERT] = LAYER_NORM("attn_norm", .first = "embeddings.norm"),
    [INPUT_RMS_BARE] = RMS_NORM(NULL, .bare = true),
    [INPUT_COHERE] =
        LAYER_NORM("input_layernorm", .absent = "rms_norm_eps", .otherwise = INPUT_RMS),
    [INPUT_LAYER_BERT] = LAYER_NORM(
        "output.LayerNorm", .after = true, .first = "embeddings.LayerNorm",
        .second = "encoder.conv.LayerNorm", /* DeBERTa's convolution acts behind layer 0 */
        .between = "embeddings_project.weight"),
    [INPUT_LAYER_REMBERT] =
        LAYER_NORM("output.LayerNorm", .after = true, .first = "embeddings.LayerNorm",
                   .between = "encoder.embedding_hidden_mapping_in.weight"),
    [INPUT_LAYER_ALBERT] = LAYER_NORM("albert_layers.0.full_layer_layer_norm", .after = true,
                                      .first = "embeddings.LayerNorm",
                                      .between = "encoder.embedding_hidden_mapping_in.weight"),
    [INPUT_LAYER_DISTILBERT] =
        LAYER_NORM("output_layer_norm", .after = true, .first = "embeddings.LayerNorm"),
    [INPUT_LAYER_NOMIC] =
        LAYER_NORM("norm2", .after = true, .first = "emb_ln", .flag = "prenorm", .wanted = false),
    [INPUT_LAYER_BART_ENCODER] =
        LAYER_NORM("final_layer_norm", .after = true, .first = "encoder.layernorm_embedding"),
    [INPUT_LAYER_BART_DECODER] =
        LAYER_NORM("final_layer_norm", .after = true, .first = "decoder.layernorm_embedding"),
    [INPUT_LAYER_BART_CROSS] =
        LAYER_NORM("self_attn_layer_norm", .keys = "encoder.layers.*.final_layer_norm"),
    [INPUT_LAYER_BEFORE] = LAYER_NORM("self_attn_layer_norm"),
    [INPUT_LAYER_BEFORE_CROSS] =
        LAYER_NORM("encoder_attn_layer_norm", .keys = "encoder.layer_norm"),
    [INPUT_LAYER_BIGBIRD_CROSS] =
        LAYER_NORM("encoder_attn_layer_norm", .keys = "encoder.layernorm_embedding"),
    [INPUT_LAYER_NLLB_CROSS] =
        LAYER_NORM("cross_attention_layer_norm", .keys = "encoder.layer_norm"),
    [INPUT_RMS_GGUF] = RMS_NORM("attn_norm"),
    [INPUT_RMS_CROSS_GGUF] = RMS_NORM("cross_attn_norm", .keys = "enc.output_norm"),
    [INPUT_LAYER_GGUF] = LAYER_NORM("attn_norm"),
    [INPUT_LAYER_FALCON_GGUF] = LAYER_NORM("attn_norm_2", .other = "attn_norm"),
    [INPUT_LAYER_BERT_GGUF] =
        LAYER_NORM("layer_output_norm", .after = true, .first = "token_embd_norm"),
    [INPUT_LAYER_MODERNBERT_GGUF] = LAYER_NORM("attn_norm", .first = "token_embd_norm"),
    [INPUT_NONE] = {.kind = KIND_NONE},
};

input_rule szgi_fold_rule_of_gguf(input_rule rule) {
    switch (rule) {
    case INPUT_RMS:
    case INPUT_RMS_PLUS_ONE:
    case INPUT_RMS_OPERATOR:
    case INPUT_RMS_ATTENTION:
    case INPUT_RMS_T5:
        return INPUT_RMS_GGUF;
    case INPUT_RMS_T5_CROSS:
        return INPUT_RMS_CROSS_GGUF;
    case INPUT_LAYER:
    case INPUT_LAYER_PLUS_ONE:
    case INPUT_LAYER_LN1:
    case INPUT_LAYER_MPT:
        return INPUT_LAYER_GGUF;
    case INPUT_LAYER_FALCON:
        return INPUT_LAYER_FALCON_GGUF;
    case INPUT_LAYER_BERT:
    case INPUT_LAYER_NOMIC:
        return INPUT_LAYER_BERT_GGUF;
    case INPUT_LAYER_MODERNBERT:
        return INPUT_LAYER_MODERNBERT_GGUF;
    case INPUT_LAYER_BARE:
        return rule;
    default:
        return INPUT_NONE;
    }
}

static const input_norm *norm_of(const szg_checkpoint *checkpoint) {
    return &norms[checkpoint->input];
}

/* ---- Which tensors ---- */

/* What files from TensorFlow call a norm's parts (bert-base-uncased). */
static const char *older_ending(const char *ending) {
    return strcmp(ending, ".weight") == 0 ? ".gamma" : strcmp(ending, ".bias") == 0 ? ".beta" : "";
}

/* PREFIX NAME ENDING. */
static const szgi_tensor *named_tensor(const szg_checkpoint *checkpoint, const char *name,
                                       const char *ending) {
    char whole[512];
    int length = snprintf(whole, sizeof whole, "%s%s%s", checkpoint->prefix, name, ending);
    if (length < 0 || (size_t)length >= sizeof whole)
        return NULL;
    return szgi_safetensors_find(checkpoint->tensors, whole);
}

static const szgi_tensor *stack_tensor(const szg_checkpoint *checkpoint, const char *name,
                                       const char *ending) {
    const szgi_tensor *tensor = named_tensor(checkpoint, name, ending);
    return tensor ? tensor : named_tensor(checkpoint, name, older_ending(ending));
}

/* The same, where a star in the name is the last layer that has such a tensor. */
static const szgi_tensor *last_tensor(const szg_checkpoint *checkpoint, const char *name,
                                      const char *ending) {
    const char *star = strchr(name, '*');
    const szgi_tensor *last = NULL, *tensor;
    if (!star)
        return stack_tensor(checkpoint, name, ending);
    for (int64_t i = 0;; i++) {
        char whole[256];
        snprintf(whole, sizeof whole, "%.*s%" PRId64 "%s", (int)(star - name), name, i, star + 1);
        tensor = stack_tensor(checkpoint, whole, ending);
        if (!tensor)
            return last;
        last = tensor;
    }
}

static const szgi_tensor *layer_tensor(const szg_checkpoint *checkpoint, int64_t layer,
                                       const char *name, const char *ending) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", name, ending);
    const szgi_tensor *tensor = szgi_layer_tensor(checkpoint, layer, whole);
    if (tensor)
        return tensor;
    snprintf(whole, sizeof whole, "%s%s", name, older_ending(ending));
    return szgi_layer_tensor(checkpoint, layer, whole);
}

/* ".weight" or ".bias" of the norm that a layer's queries read; NULL: there is none. */
static const szgi_tensor *find_part(const szg_checkpoint *checkpoint, int64_t layer,
                                    const char *ending) {
    const input_norm *norm = norm_of(checkpoint);
    int64_t at = norm->after ? layer - 1 : layer;
    if (at >= 0)
        at = checkpoint->layer[at].owner;
    if (layer == 1 && norm->second && stack_tensor(checkpoint, norm->second, ending))
        return stack_tensor(checkpoint, norm->second, ending);
    const char *name = checkpoint->family->input_name ? checkpoint->family->input_name : norm->name;
    const szgi_tensor *own = at < 0 ? NULL : layer_tensor(checkpoint, at, name, ending);
    if (!own && at >= 0 && norm->other)
        own = layer_tensor(checkpoint, at, norm->other, ending);
    if (own || layer > 0 || !norm->first)
        return own;
    return norm->between && stack_tensor(checkpoint, norm->between, "")
               ? NULL
               : stack_tensor(checkpoint, norm->first, ending);
}

static bool is_vector(const szg_checkpoint *checkpoint, const szgi_tensor *tensor) {
    return tensor && tensor->count == checkpoint->model_size &&
           tensor->dtype != SZGI_DTYPE_INTEGER && tensor->dtype != SZGI_DTYPE_OTHER;
}

/* Both parts of one side; a shift with an RMS norm, or of another length, is another norm than the
 * family's. */
static void place_side(const szg_checkpoint *checkpoint, const szgi_tensor *gain,
                       const szgi_tensor *shift, side_weights *side) {
    const input_norm *norm = norm_of(checkpoint);
    bool shifts = norm->kind == KIND_LAYER && !norm->bare;
    side->input_gain = gain;
    side->input_shift = shift;
    side->folds = (norm->bare ? !gain : is_vector(checkpoint, gain)) &&
                  (!shift || (shifts && is_vector(checkpoint, shift)));
}

/* Gain and shift of the norm of another stack that all keys read. */
typedef struct key_norm {
    const szgi_tensor *gain, *shift;
} key_norm;

static void place_norm(szg_checkpoint *checkpoint, int64_t index, const key_norm *outer) {
    const input_norm *norm = norm_of(checkpoint);
    layer_weights *layer = &checkpoint->layer[index];
    int64_t keys = layer->key_layer;
    if (norm->bare) {
        layer->q.folds = layer->k.folds = true;
        return;
    }
    place_side(checkpoint, find_part(checkpoint, index, ".weight"),
               find_part(checkpoint, index, ".bias"), &layer->q);
    if (norm->keys)
        place_side(checkpoint, outer->gain, outer->shift, &layer->k);
    else
        place_side(checkpoint, find_part(checkpoint, keys, ".weight"),
                   find_part(checkpoint, keys, ".bias"), &layer->k);
}

/* The family's rule, or the one that its flag chooses; *known: it is one of a norm. */
static szg_status choose_rule(szg_context *context, szg_checkpoint *checkpoint, bool *known) {
    const input_norm *norm = &norms[checkpoint->family->input];
    bool flag = norm->wanted;
    checkpoint->input = checkpoint->family->input;
    if (norm->flag)
        SZG_TRY(szgi_config_flag(context, checkpoint->settings, norm->flag, norm->wanted, &flag));
    if (norm->absent && szgi_json_has(checkpoint->settings, norm->absent))
        flag = !norm->wanted;
    *known = flag == norm->wanted || norm->otherwise;
    if (flag != norm->wanted && norm->otherwise)
        checkpoint->input = norm->otherwise;
    return SZG_OK;
}

szg_status szgi_fold_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    int64_t missing = 0, heads = 0;
    key_norm outer = {NULL};
    bool known;
    SZG_TRY(choose_rule(context, checkpoint, &known));
    const input_norm *norm = norm_of(checkpoint);
    if (norm->kind == KIND_NONE)
        return SZG_OK;
    if (norm->keys) {
        outer.gain = last_tensor(checkpoint, norm->keys, ".weight");
        outer.shift = last_tensor(checkpoint, norm->keys, ".bias");
    }
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        if (checkpoint->layer[i].absent)
            continue;
        if (known)
            place_norm(checkpoint, i, &outer);
        heads++;
        missing += !szgi_fold_has_input(checkpoint, i);
    }
    if (missing == 0)
        return SZG_OK;
    return szgi_text_append(
        context, &checkpoint->note,
        "input norms are not folded in %" PRId64 " of %" PRId64
        " layers: the file has no gains of them, or other weights act after them",
        missing, heads);
}

bool szgi_fold_centres(const szg_checkpoint *checkpoint) {
    return norm_of(checkpoint)->kind == KIND_LAYER;
}

const char *szgi_fold_input_kind(const szg_checkpoint *checkpoint) {
    const input_norm *norm = norm_of(checkpoint);
    switch (norm->kind) {
    case KIND_RMS:
        return norm->plus_one ? "RMS, gains 1 + weight" : norm->bare ? "RMS, without gains" : "RMS";
    case KIND_LAYER:
        return norm->plus_one ? "mean and variance, gains 1 + weight"
               : norm->bare   ? "mean and variance, without gains"
                              : "mean and variance";
    default:
        return NULL;
    }
}

bool szgi_fold_has_input(const szg_checkpoint *checkpoint, int64_t layer) {
    return checkpoint->layer[layer].q.folds && checkpoint->layer[layer].k.folds;
}

bool szgi_fold_is_normed(const szg_checkpoint *checkpoint, int64_t layer) {
    return checkpoint->normed &&
           (checkpoint->family->norm != NORM_BARE || checkpoint->layer[layer].rotation >= 0);
}

bool szgi_fold_centres_heads(const szg_checkpoint *checkpoint) {
    return checkpoint->family->norm == NORM_LAYER || checkpoint->family->norm == NORM_EACH;
}

bool szgi_fold_shares_norm(const szg_checkpoint *checkpoint) {
    return checkpoint->latent.key_rank > 0 ||
           (checkpoint->normed && checkpoint->family->norm == NORM_FULL);
}

bool szgi_fold_has_heads(const szg_checkpoint *checkpoint, int64_t layer) {
    switch (checkpoint->family->norm) {
    case NORM_HEAD:
    case NORM_LAYER:
    case NORM_EACH:
    case NORM_FULL:
        return checkpoint->normed && checkpoint->layer[layer].q.norm &&
               checkpoint->layer[layer].k.norm;
    default:
        return false;
    }
}

const char *szgi_fold_name(const szg_checkpoint *checkpoint, int64_t layer, fold_kind fold) {
    static const char *const names[] = {"none",   "input",        "qk",        "input+qk",
                                        "latent", "input+latent", "qk+latent", "input+qk+latent"};
    bool latent = checkpoint->latent.key_rank > 0, all = fold == FOLD_ALL;
    return names[(all && szgi_fold_has_input(checkpoint, layer) ? 1 : 0) +
                 (all && szgi_fold_has_heads(checkpoint, layer) ? 2 : 0) +
                 (fold != FOLD_NONE && latent ? 4 : 0)];
}

bool szgi_fold_is_scale_free(const szg_checkpoint *checkpoint, int64_t layer) {
    return szgi_fold_is_normed(checkpoint, layer) || checkpoint->latent.key_rank > 0;
}

/* ---- Folding ---- */

szg_status szgi_fold_vector(szg_context *context, const szgi_tensor *tensor, const char *what,
                            int64_t first, int64_t count, double *out) {
    SZG_TRY(szgi_tensor_read(context, tensor, first, count, out));
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(out[i]))
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: number %" PRId64 " is %g, and %s must be finite: "
                             "repair it, or use --raw",
                             tensor->file, tensor->name, first + i, out[i], what);
    return SZG_OK;
}

static szg_status read_gain(szg_context *context, const szgi_tensor *tensor, int64_t first,
                            int64_t count, double *out) {
    return szgi_fold_vector(context, tensor, "a norm's gain", first, count, out);
}

static double norm_of_rows(int64_t count, const double *x) {
    return sqrt(szgi_dot(count, x, x));
}

/* Takes off the mean of every row. */
static void centre_rows(int64_t rows, int64_t columns, double *x) {
    for (int64_t i = 0; i < rows; i++) {
        double mean = 0;
        for (int64_t j = 0; j < columns; j++)
            mean += x[i * columns + j];
        mean /= (double)columns;
        for (int64_t j = 0; j < columns; j++)
            x[i * columns + j] -= mean;
    }
}

szg_status szgi_fold_input(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                           bool query, int64_t count, double *rows, double *error) {
    const layer_weights *weights = &checkpoint->layer[layer];
    const side_weights *side = query ? &weights->q : &weights->k;
    const input_norm *norm = norm_of(checkpoint);
    int64_t d = checkpoint->model_size;
    szg_status status = SZG_OK;
    if (!norm->bare) {
        double *gain;
        SZG_TRY(szgi_memory_alloc(context, d, &gain));
        status = read_gain(context, side->input_gain, 0, d, gain);
        for (int64_t i = 0; i < count && status == SZG_OK; i++)
            for (int64_t j = 0; j < d; j++)
                rows[i * d + j] *= norm->plus_one ? 1 + gain[j] : gain[j];
        szgi_memory_free(gain);
    }
    double size = norm_of_rows(count * d, rows);
    if (status == SZG_OK && !isfinite(size))
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: with the gains of %s its rows exceed doubles: divide the "
                         "weights by a power of two, or use --raw",
                         side->weight->file, side->weight->name,
                         side->input_gain ? side->input_gain->name : "no norm");
    /* Gain and its sum with 1: two roundings; a mean of d numbers and its subtraction: d + 2. */
    *error = ((double)d + 8) * DBL_EPSILON * size;
    if (norm->kind == KIND_LAYER)
        centre_rows(count, d, rows);
    return status;
}

/* Of NORM_EACH: the family's name is that of head 0, norms.0.weight. */
enum { HEAD_NORM_NAME = 128 };
static void name_head_norm(const szg_checkpoint *checkpoint, bool query, int64_t head,
                           char name[HEAD_NORM_NAME]) {
    const model_family *family = checkpoint->family;
    const char *first = query ? family->query_norm : family->key_norm;
    const char *zero = strstr(first, ".0.");
    snprintf(name, HEAD_NORM_NAME, "%.*s.%" PRId64 ".%s", (int)(zero - first), first, head,
             zero + 3);
}

const szgi_tensor *szgi_fold_head_norm(const szg_checkpoint *checkpoint, int64_t layer, bool query,
                                       int64_t head) {
    char name[HEAD_NORM_NAME];
    name_head_norm(checkpoint, query, head, name);
    return szgi_layer_tensor(checkpoint, query ? layer : checkpoint->layer[layer].key_layer, name);
}

szg_status szgi_fold_gains(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                           bool query, int64_t head, double *gain) {
    const model_family *family = checkpoint->family;
    const layer_weights *weights = &checkpoint->layer[layer];
    const szgi_tensor *tensor = query ? weights->q.norm : weights->k.norm;
    int64_t e = checkpoint->head_size;
    if (family->norm == NORM_EACH) {
        char name[HEAD_NORM_NAME];
        name_head_norm(checkpoint, query, head, name);
        tensor = szgi_fold_head_norm(checkpoint, layer, query, head);
        if (!tensor || tensor->count != e)
            return szgi_fail(context, SZG_EDATA,
                             "layer %" PRId64 ": %s is missing or has not %" PRId64
                             " numbers: use --raw",
                             layer, name, e);
    }
    for (int64_t i = 0; i < e && !tensor; i++)
        gain[i] = 1;
    if (!tensor)
        return SZG_OK;
    SZG_TRY(read_gain(context, tensor, tensor->count > e ? head * e : 0, e, gain));
    for (int64_t i = 0; i < e && family->gain_plus_one; i++)
        gain[i] += 1;
    return SZG_OK;
}

const szgi_tensor *szgi_fold_norm_bias(const szg_checkpoint *checkpoint, int64_t layer,
                                       bool query) {
    const layer_weights *weights = &checkpoint->layer[layer];
    const szgi_tensor *gain = query ? weights->q.norm : weights->k.norm;
    char name[512];
    size_t length = gain ? strlen(gain->name) : 0;
    if (length < strlen("weight") || length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*sbias", (int)(length - strlen("weight")), gain->name);
    return szgi_safetensors_find(checkpoint->tensors, name);
}

szg_status szgi_fold_norm_shift(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, bool query, int64_t head, double *shift) {
    const szgi_tensor *tensor = szgi_fold_norm_bias(checkpoint, layer, query);
    int64_t e = checkpoint->head_size;
    memset(shift, 0, (size_t)e * sizeof *shift);
    if (!tensor)
        return SZG_OK;
    int64_t first = tensor->count > e ? head * e : 0;
    if (tensor->count < first + e)
        return szgi_fail(context, SZG_EDATA,
                         "tensor %s has %" PRId64 " numbers, too few for head "
                         "%" PRId64 " of %" PRId64,
                         tensor->name, tensor->count, head, e);
    return szgi_fold_vector(context, tensor, "a norm's shift", first, e, shift);
}

/* With a mean of its own the columns lose theirs. */
szg_status szgi_fold_heads(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                           bool query, int64_t head, int64_t columns, double *rows) {
    int64_t e = checkpoint->head_size, d = columns;
    bool centred = szgi_fold_centres_heads(checkpoint);
    double *gain, *mean;
    SZG_TRY(szgi_memory_alloc(context, e + d, &gain));
    mean = gain + e;
    szg_status status = szgi_fold_gains(context, checkpoint, layer, query, head, gain);
    for (int64_t i = 0; i < e && centred && status == SZG_OK; i++)
        for (int64_t j = 0; j < d; j++)
            mean[j] += rows[i * d + j] / (double)e;
    for (int64_t i = 0; i < e && status == SZG_OK; i++)
        for (int64_t j = 0; j < d; j++)
            rows[i * d + j] = gain[i] * (rows[i * d + j] - (centred ? mean[j] : 0));
    szgi_memory_free(gain);
    if (status == SZG_OK && !isfinite(norm_of_rows(e * d, rows)))
        return szgi_fail(context, SZG_EDATA,
                         "layer %" PRId64 ": with the gains of its %s norm the rows exceed "
                         "doubles: use --raw",
                         layer, query ? "query" : "key");
    return status;
}

szg_status szgi_fold_rows(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                          bool query, int64_t head, double *rows, double *error) {
    double own = 0;
    if (szgi_fold_has_input(checkpoint, layer))
        SZG_TRY(
            szgi_fold_input(context, checkpoint, layer, query, checkpoint->head_size, rows, &own));
    if (szgi_fold_has_heads(checkpoint, layer))
        SZG_TRY(
            szgi_fold_heads(context, checkpoint, layer, query, head, checkpoint->model_size, rows));
    if (error)
        *error = own;
    return SZG_OK;
}
