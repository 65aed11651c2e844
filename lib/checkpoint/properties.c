/* The table `architecture`: one row for each property, with what decided it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/row.h"
#include "adapter.h"
#include "checkpoint_private.h"
#include "defaults.h"
#include "gguf.h"
#include "fold.h"
#include "properties.h"

#define ARCHITECTURE(X)                                                                            \
    X(ARCHITECTURE_SOURCE, "source", SZG_TEXT, "", "encoding or file",                             \
      "the checkpoint as it was named")                                                            \
    X(ARCHITECTURE_PROPERTY, "property", SZG_TEXT, "", "property", "what the row is about")        \
    X(ARCHITECTURE_VALUE, "value", SZG_TEXT, "", "value", "what was resolved")                     \
    X(ARCHITECTURE_LAYERS, "layers", SZG_TEXT, "", "layers",                                       \
      "layers that it holds for; empty: all of them")                                              \
    X(ARCHITECTURE_KEY, "key", SZG_TEXT, "", "key",                                                \
      "key of the configuration, or tensor, that decided; empty: the architecture's definition")   \
    X(ARCHITECTURE_LEFT_OUT, "left_out", SZG_INTEGER, "1", "left out",                             \
      "1: it acts on the logits, and W_Q^T W_K does not have it")                                  \
    X(ARCHITECTURE_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define ARCHITECTURE_SCREEN                                                                        \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, property)                                                                         \
    SZGI_SHOW_PROSE(1, value)                                                                      \
    SZGI_SHOW_EMPTY(1, layers, "all")                                                              \
    SZGI_SHOW(2, key)                                                                              \
    SZGI_SHOW(1, left_out)
SZGI_SCHEMA(architecture_columns, "architecture", ARCHITECTURE, ARCHITECTURE_SCREEN);

typedef struct property_writer {
    szg_context *context;
    const szg_checkpoint *checkpoint;
    szg_table *table;
    szg_status status; /* the first failure */
} property_writer;

/* Where a row says more than property and value. */
typedef struct property_more {
    const char *layers, *key;
    bool left_out;
} property_more;

/* "default of the class" where one of the keys, between ", ", is such; else NULL. */
static const char *default_note(const szg_checkpoint *checkpoint, const char *keys) {
    for (size_t length; keys && *keys; keys += length + strspn(keys + length, ", ")) {
        length = strcspn(keys, ",");
        if (szgi_defaults_has(checkpoint, keys, length))
            return "default of the class";
    }
    return NULL;
}

SZG_PRINTF(4, 5)
static void put(property_writer *writer, const char *property, property_more more,
                const char *format, ...) {
    char value[512], key[GGUF_KEY];
    va_list arguments;
    if (writer->status != SZG_OK)
        return;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    szgi_row row = szgi_row_add(writer->context, writer->table);
    szgi_row_text(&row, ARCHITECTURE_SOURCE, writer->checkpoint->source);
    szgi_row_text(&row, ARCHITECTURE_PROPERTY, property);
    szgi_row_text(&row, ARCHITECTURE_VALUE, value);
    szgi_row_text(&row, ARCHITECTURE_LAYERS, more.layers);
    szgi_row_text(&row, ARCHITECTURE_KEY, szgi_gguf_key(writer->checkpoint, more.key, key));
    szgi_row_integer(&row, ARCHITECTURE_LEFT_OUT, more.left_out);
    szgi_row_text(&row, ARCHITECTURE_NOTE, default_note(writer->checkpoint, more.key));
    writer->status = row.status;
}

#define BY(...)                                                                                    \
    (property_more) {                                                                              \
        __VA_ARGS__                                                                                \
    }

/* ---- Lists of layers ---- */

typedef bool layer_test(const szg_checkpoint *checkpoint, int64_t layer, int64_t which);

/* "0-2+5": the layers that pass; NULL where none does. The caller frees. */
static char *list_layers(property_writer *writer, layer_test *test, int64_t which) {
    int64_t layers = writer->checkpoint->layers, size = 9 * layers + 1, at = 0;
    char *text;
    if (writer->status == SZG_OK)
        writer->status = szgi_memory_alloc(writer->context, size, &text);
    if (writer->status != SZG_OK)
        return NULL;
    for (int64_t i = 0; i < layers; i++) {
        int64_t last = i;
        if (!test(writer->checkpoint, i, which))
            continue;
        while (last + 1 < layers && test(writer->checkpoint, last + 1, which))
            last++;
        at += snprintf(text + at, (size_t)(size - at), at ? "+%" PRId64 : "%" PRId64, i);
        if (last > i)
            at += snprintf(text + at, (size_t)(size - at), "-%" PRId64, last);
        i = last;
    }
    if (at > 0)
        return text;
    szgi_memory_free(text);
    return NULL;
}

static bool has_heads(const szg_checkpoint *checkpoint, int64_t layer, int64_t which) {
    (void)which;
    return !checkpoint->layer[layer].absent;
}

static bool rotates_by(const szg_checkpoint *checkpoint, int64_t layer, int64_t which) {
    return !checkpoint->layer[layer].absent && checkpoint->layer[layer].rotation == which;
}

static const szgi_tensor *float8_of(const layer_weights *layer) {
    return szgi_quantised_of(layer, SZGI_DTYPE_FLOAT8);
}

static bool has_float8(const szg_checkpoint *checkpoint, int64_t layer, int64_t which) {
    (void)which;
    return !checkpoint->layer[layer].absent && float8_of(&checkpoint->layer[layer]);
}

/* What the layer's weights are dequantised from; NULL: nothing. */
static const char *packed_label(const szg_checkpoint *checkpoint, int64_t layer) {
    const layer_weights *weights = &checkpoint->layer[layer];
    const szgi_tensor *tensor =
        weights->absent ? NULL : szgi_quantised_of(weights, SZGI_DTYPE_CODED);
    return tensor ? tensor->dtype_name : NULL;
}

/* Is the layer's label that of layer `which`? */
static bool has_label(const szg_checkpoint *checkpoint, int64_t layer, int64_t which) {
    const char *label = packed_label(checkpoint, layer), *other = packed_label(checkpoint, which);
    return label && other && strcmp(label, other) == 0;
}

/* "2" or "2-5". */
static const char *run_text(int64_t first, int64_t last, char *text, size_t size) {
    snprintf(text, size, last > first ? "%" PRId64 "-%" PRId64 : "%" PRId64, first, last);
    return text;
}

/* ---- Groups of properties ---- */

static void put_sizes(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    const deciding_keys *keys = &checkpoint->decided;
    put(writer, "model_type", BY(.key = "model_type"), "%s", checkpoint->model_type);
    if (checkpoint->family->stack)
        put(writer, "stack", BY(0), "%s", checkpoint->family->stack);
    put(writer, "layers", BY(.key = keys->layers), "%" PRId64, checkpoint->layers);
    put(writer, "heads", BY(.key = keys->heads), "%" PRId64, checkpoint->heads);
    put(writer, "key_heads", BY(.key = keys->key_heads), "%" PRId64, checkpoint->key_heads);
    put(writer, "head_size", BY(.key = keys->head_size), "%" PRId64, checkpoint->head_size);
    put(writer, "model_size", BY(.key = keys->model_size), "%" PRId64, checkpoint->model_size);
    if (checkpoint->latent.key_rank)
        put(writer, "key_rank", BY(.key = "kv_lora_rank"), "%" PRId64, checkpoint->latent.key_rank);
    if (checkpoint->latent.query_rank)
        put(writer, "query_rank", BY(.key = "q_lora_rank"), "%" PRId64,
            checkpoint->latent.query_rank);
}

/* A row for each default that was read. */
static void put_defaults(property_writer *writer) {
    for (int64_t i = 0; i < writer->checkpoint->takens; i++) {
        const char *pair = writer->checkpoint->taken[i];
        char key[256];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(pair, "="), pair);
        put(writer, "default", BY(.key = key), "%s", pair + strcspn(pair, "=") + 1);
    }
}

/* A row for each run of layers that use the keys of one other layer. */
static void put_shared_keys(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    int64_t last;
    for (int64_t i = 0; i < checkpoint->layers && writer->status == SZG_OK; i = last + 1) {
        char layers[48];
        int64_t owner = checkpoint->layer[i].key_layer;
        last = i;
        if (owner == i)
            continue;
        while (last + 1 < checkpoint->layers && checkpoint->layer[last + 1].key_layer == owner)
            last++;
        put(writer, "shared_keys",
            BY(.layers = run_text(i, last, layers, sizeof layers), .key = "num_kv_shared_layers"),
            "of layer %" PRId64, owner);
    }
}

static bool is_bad(const szg_checkpoint *checkpoint, int64_t layer, int64_t which) {
    (void)which;
    return checkpoint->layer[layer].problem;
}

/* Layers whose tensors are not what the configuration wants, with the first one's reason. */
static void put_bad(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    char *layers = list_layers(writer, is_bad, 0);
    int64_t first = 0;
    while (layers && !checkpoint->layer[first].problem)
        first++;
    if (layers)
        put(writer, "bad", BY(.layers = layers), "%s", checkpoint->layer[first].problem);
    szgi_memory_free(layers);
}

static void put_layers(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    char *with = list_layers(writer, has_heads, 0);
    put(writer, "attention", BY(.layers = with, .key = checkpoint->decided.kinds),
        with ? "queries and keys" : "none");
    szgi_memory_free(with);
    if (checkpoint->family->shares_keys)
        put_shared_keys(writer);
    if (checkpoint->groups)
        put(writer, "shared_layers", BY(.key = "num_hidden_groups"), "%" PRId64 " groups",
            checkpoint->groups);
    static const char blocks_key[] = "num_mem_blocks";
    int64_t blocks = 0;
    for (int64_t i = 0; checkpoint->family->shares_blocks && i < checkpoint->layers; i++)
        blocks += !checkpoint->layer[i].absent && checkpoint->layer[i].owner == i;
    if (blocks > 0)
        put(writer, "shared_layers",
            BY(.key = szgi_json_has(checkpoint->settings, blocks_key) ? blocks_key : NULL),
            "%" PRId64 " blocks", blocks);
}

/* How the first 8-bit weight of queries or keys is stored. */
static void put_float8(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    char *layers = list_layers(writer, has_float8, 0);
    const szgi_tensor *tensor = NULL;
    for (int64_t i = 0; layers && !tensor; i++)
        tensor = float8_of(&checkpoint->layer[i]);
    if (tensor && !tensor->scale)
        put(writer, "weights", BY(.layers = layers), "%s, no scales", tensor->dtype_name);
    else if (tensor)
        put(writer, "weights",
            BY(.layers = layers, .key = tensor->scale->count == 1
                                            ? tensor->scale->name
                                            : "quantization_config.weight_block_size"),
            "%s, scales by %" PRId64 " x %" PRId64, tensor->dtype_name, tensor->block[0],
            tensor->block[1]);
    szgi_memory_free(layers);
}

/* A row for each way in which weights are packed. */
static void put_packed(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    for (int64_t i = 0; i < checkpoint->layers && writer->status == SZG_OK; i++) {
        bool first = packed_label(checkpoint, i);
        for (int64_t k = 0; k < i && first; k++)
            first = !has_label(checkpoint, i, k);
        if (!first)
            continue;
        char *layers = list_layers(writer, has_label, i);
        put(writer, "weights", BY(.layers = layers), "dequantised from %s",
            packed_label(checkpoint, i));
        szgi_memory_free(layers);
    }
}

static void put_weights(property_writer *writer) {
    static const char *const layouts[] = {[LAYOUT_SEPARATE] = "separate",
                                          [LAYOUT_CONV1D] = "fused blocks, transposed",
                                          [LAYOUT_FUSED_HEADS] = "fused heads",
                                          [LAYOUT_FUSED_BLOCKS] = "fused blocks",
                                          [LAYOUT_FALCON] = "fused groups",
                                          [LAYOUT_FUSED_GROUPS] = "fused groups",
                                          [LAYOUT_BIGCODE] = "fused",
                                          [LAYOUT_CODEGEN] = "fused quarters",
                                          [LAYOUT_GATED] = "separate, queries with gates",
                                          [LAYOUT_LATENT] = "latent"};
    const szg_checkpoint *checkpoint = writer->checkpoint;
    const char *stem = checkpoint->family->stem;
    char name[512];
    put(writer, "layout", BY(0), "%s", layouts[checkpoint->family->layout]);
    snprintf(name, sizeof name, "%s%sN.%s", checkpoint->prefix, stem, checkpoint->query);
    put(writer, "query_tensor", BY(0), "%s", name);
    snprintf(name, sizeof name, "%s%sN.%s", checkpoint->prefix, stem,
             checkpoint->key ? checkpoint->key : checkpoint->query);
    put(writer, "key_tensor", BY(0), "%s", name);
    put_float8(writer);
    put_packed(writer);
}

/* A row for each run of layers with one scale. */
static void put_scale(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    int64_t last;
    for (int64_t i = 0; i < checkpoint->layers && writer->status == SZG_OK; i = last + 1) {
        char layers[48];
        for (last = i; last + 1 < checkpoint->layers; last++)
            if (checkpoint->layer[last + 1].scale != checkpoint->layer[i].scale)
                break;
        put(writer, "scale",
            BY(.layers = run_text(i, last, layers, sizeof layers),
               .key = checkpoint->decided.scale),
            "%.17g", checkpoint->layer[i].scale);
    }
}

static void put_positions(property_writer *writer) {
    static const char *const kinds[] = {"none", "learned", "sinusoidal"};
    const szg_checkpoint *checkpoint = writer->checkpoint;
    bool rotary = checkpoint->rotations > 0;
    put(writer, "positions",
        BY(.key = checkpoint->position_table ? checkpoint->position_table->name : NULL), "%s",
        rotary ? "rotary" : kinds[checkpoint->position_kind]);
    if (checkpoint->position_kind != SZG_POSITIONS_NONE)
        put(writer, "position_rows", BY(0), "%" PRId64, checkpoint->position_rows);
    if (checkpoint->position_first > 0)
        put(writer, "position_first", BY(0), "%" PRId64, checkpoint->position_first);
}

static void put_rotation(property_writer *writer, int which) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    const layer_rotation *rotation = &checkpoint->rotation[which];
    szgi_rotary rotary;
    char *layers = list_layers(writer, rotates_by, which);
    if (writer->status == SZG_OK)
        writer->status = szgi_encoding_rotary(writer->context, rotation->encoding, 0, &rotary);
    if (writer->status == SZG_OK && layers) {
        const double amplitude = rotation->theta ? rotation->amplitude : rotary.amplitude;
        const int64_t first = checkpoint->latent.nope;
        put(writer, "rotary", BY(.layers = layers, .key = checkpoint->decided.base), "%s%s%s",
            szg_encoding_spec(rotation->encoding), rotation->note ? "; " : "",
            rotation->note ? rotation->note : "");
        put(writer, "rotated", BY(.layers = layers, .key = checkpoint->decided.partial),
            "%" PRId64 "-%" PRId64, first, first + 2 * rotary.pairs - 1);
        put(writer, "pairing", BY(.layers = layers, .key = checkpoint->family->interleave), "%s",
            rotary.pairing == SZGI_PAIRING_HALF ? "half" : "interleaved");
        put(writer, "rotary_amplitude", BY(.layers = layers), "%.17g", amplitude);
    }
    szgi_memory_free(layers);
}

/* As the configuration has them. */
static void put_sections(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    char *text = NULL;
    if (writer->status == SZG_OK && checkpoint->sections_key)
        writer->status = szgi_json_text(writer->context, checkpoint->sections, 0, &text);
    if (text)
        put(writer, "rotary_sections", BY(.key = checkpoint->sections_key, .left_out = true), "%s",
            text);
    szgi_memory_free(text);
}

static void put_rotations(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    for (int i = 0; i < checkpoint->rotations; i++)
        put_rotation(writer, i);
    if (checkpoint->trained_length > 0)
        put(writer, "trained_length", BY(.key = checkpoint->trained_key), "%" PRId64,
            checkpoint->trained_length);
    put_sections(writer);
    if (checkpoint->family->positions != POSITION_ROTARY)
        return;
    char *still = list_layers(writer, rotates_by, -1);
    if (still)
        put(writer, "no_rotation", BY(.layers = still, .key = checkpoint->decided.skips), "1");
    szgi_memory_free(still);
}

static void put_norm(property_writer *writer) {
    static const char *const kinds[] = {
        [NORM_NONE] = "unknown kind",
        [NORM_HEAD] = "RMS of each head, before the rotation",
        [NORM_HEAD_AFTER] = "RMS of each head, after the rotation",
        [NORM_LAYER] = "mean and variance of each head, before the rotation",
        [NORM_EACH] = "mean and variance of each head, gains by head, before the rotation",
        [NORM_FULL] = "RMS of all heads together, before the rotation",
        [NORM_BARE] = "RMS of each head without gains, after the rotation"};
    const szg_checkpoint *checkpoint = writer->checkpoint;
    const model_family *family = checkpoint->family;
    if (!checkpoint->normed)
        return;
    put(writer, "query_key_norm",
        BY(.key = checkpoint->norm_tensor ? checkpoint->norm_tensor->name : family->norm_flag,
           .left_out = true),
        "%s", kinds[family->norm]);
    if (family->gain_plus_one)
        put(writer, "norm_gain", BY(0), "1 + weight");
}

static bool folds_input(const szg_checkpoint *checkpoint, int64_t layer, int64_t which) {
    (void)which;
    return szgi_fold_has_input(checkpoint, layer);
}

static void put_input_norm(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    const char *kind = szgi_fold_input_kind(checkpoint);
    const szgi_tensor *gain = NULL;
    for (int64_t i = 0; i < checkpoint->layers && !gain; i++)
        gain = checkpoint->layer[i].q.folds ? checkpoint->layer[i].q.input_gain : NULL;
    char *layers = kind ? list_layers(writer, folds_input, 0) : NULL;
    if (layers)
        put(writer, "input_norm", BY(.layers = layers, .key = gain ? gain->name : NULL), "%s",
            kind);
    szgi_memory_free(layers);
}

static void put_terms(property_writer *writer) {
    const szg_checkpoint *checkpoint = writer->checkpoint;
    const layer_weights *first = &checkpoint->layer[0];
    put_input_norm(writer);
    put_norm(writer);
    if (checkpoint->latent.key_rank)
        put(writer, "latent_norm",
            BY(.key = first->k.gain ? first->k.gain->name : NULL, .left_out = true),
            "RMS of the latents; gains are in");
    if (checkpoint->biased)
        put(writer, "bias", BY(.key = first->q.bias ? first->q.bias->name : NULL, .left_out = true),
            "of queries or keys");
    if (checkpoint->soft_cap > 0)
        put(writer, "soft_cap", BY(.key = "attn_logit_softcapping", .left_out = true), "%.17g",
            checkpoint->soft_cap);
    if (checkpoint->clip > 0)
        put(writer, "clip", BY(.key = checkpoint->clip_key, .left_out = true), "%.17g",
            checkpoint->clip);
    if (checkpoint->sinks)
        put(writer, "sinks", BY(.key = checkpoint->sinks->name, .left_out = true), "%" PRId64,
            checkpoint->sinks->count);
    if (checkpoint->indexed)
        put(writer, "indexer", BY(.left_out = true), "chooses the keys");
    if (checkpoint->family->softmax)
        put(writer, "softmax", BY(.left_out = true), "%s", checkpoint->family->softmax);
    if (checkpoint->alibi)
        put(writer, "alibi",
            BY(.key = checkpoint->family->alibi == ALIBI_ALWAYS ? NULL : "alibi", .left_out = true),
            "1");
    if (checkpoint->added)
        put(writer, "lag_terms", BY(.key = checkpoint->added->name, .left_out = true), "trained");
    if (checkpoint->family->two_coordinates)
        put(writer, "patch_rotation", BY(.left_out = true), "by row and column");
    if (checkpoint->temperature > 0)
        put(writer, "temperature",
            BY(.key = checkpoint->family->temperature == TEMPERATURE_MINISTRAL3
                          ? "llama_4_scaling_beta"
                          : "attn_scale",
               .left_out = true),
            "1 + %.17g log(1 + floor(position / %.17g))", checkpoint->temperature,
            checkpoint->temperature_length);
}

szg_status szgi_properties_report(szg_context *context, const szg_checkpoint *checkpoint,
                                  szg_table **table) {
    char text[256];
    SZG_TRY(szgi_schema_open(context, &architecture_columns_schema, table));
    property_writer writer = {.context = context, .checkpoint = checkpoint, .table = *table};
    if (!checkpoint->family) {
        put(&writer, "unknown", BY(0), "%s", checkpoint->unknown);
        if (checkpoint->model_type)
            put(&writer, "model_type", BY(.key = "model_type"), "%s", checkpoint->model_type);
    } else {
        put_sizes(&writer);
        put_defaults(&writer);
        put_layers(&writer);
        put_bad(&writer);
        put_weights(&writer);
        put_scale(&writer);
        put_positions(&writer);
        put_rotations(&writer);
        put_terms(&writer);
    }
    if (checkpoint->adapter)
        put(&writer, "adapter", BY(.key = ADAPTER_CONFIG), "%s",
            szgi_adapter_text(checkpoint->adapter, text, sizeof text));
    if (checkpoint->said) {
        put(&writer, "remarks", BY(0), "see the note");
        if (writer.status == SZG_OK)
            writer.status = szg_table_note(context, *table, "%s", checkpoint->said);
    }
    if (writer.status != SZG_OK)
        szg_table_close(table);
    return writer.status;
}
