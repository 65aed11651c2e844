/* The list of parameters: PyTorch's names and shapes, in the order of the arena. */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "model_private.h"

enum { PARAMETERS_AROUND = 16, PARAMETERS_A_LAYER = 32 };

/* Appends a tensor; columns 0: one dimension. Returns its offset. */
static int64_t add(szg_model *model, int64_t layer, const char *name, int64_t rows, int64_t columns,
                   model_start start, int64_t fan_in) {
    int64_t index = model->parameters++;
    szgi_parameter *p = &model->parameter[index];
    *p = (szgi_parameter){.dims = columns ? 2 : 1,
                          .shape = {rows, columns ? columns : 1},
                          .count = rows * (columns ? columns : 1),
                          .offset = model->count,
                          .layer = layer};
    if (layer >= 0)
        snprintf(p->name, sizeof p->name, "layers.%" PRId64 ".%s", layer, name);
    else
        snprintf(p->name, sizeof p->name, "%s", name);
    model->start[index] = (model_start_of){start, fan_in};
    model->count += p->count;
    return p->offset;
}

/* ---- Linear layers and norms ---- */

/* One of several layers whose weights, then biases, stand next to each other. */
typedef struct linear_entry {
    const char *name;
    int64_t out, in;
    model_linear *at;
} linear_entry;

static void add_linears(szg_model *model, int64_t layer, bool biases, int64_t count,
                        const linear_entry *entries) {
    char name[32];
    for (int64_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s.weight", entries[i].name);
        entries[i].at->weight =
            add(model, layer, name, entries[i].out, entries[i].in, START_UNIFORM, entries[i].in);
        entries[i].at->bias = -1;
    }
    for (int64_t i = 0; biases && i < count; i++) {
        snprintf(name, sizeof name, "%s.bias", entries[i].name);
        entries[i].at->bias =
            add(model, layer, name, entries[i].out, 0, START_UNIFORM, entries[i].in);
    }
}

static void add_norm(szg_model *model, int64_t layer, const char *name, model_linear *at) {
    char text[32];
    snprintf(text, sizeof text, "%s.weight", name);
    at->weight = add(model, layer, text, model->config.model.width, 0, START_ONES, 0);
    snprintf(text, sizeof text, "%s.bias", name);
    at->bias = add(model, layer, text, model->config.model.width, 0, START_ZEROS, 0);
}

#define ADD_LINEARS(model, layer, biases, ...)                                                     \
    add_linears((model), (layer), (biases),                                                        \
                sizeof((const linear_entry[]){__VA_ARGS__}) / sizeof(linear_entry),                \
                (const linear_entry[]){__VA_ARGS__})

/* ---- A layer ---- */

static void add_attention(szg_model *model, int64_t index, model_layer *layer) {
    const szg_model_config *c = &model->config.model;
    bool biases = c->biases == SZG_BIASES_ALL;
    ADD_LINEARS(model, index, biases, {"q_linear", c->width, c->width, &layer->query},
                {"k_linear", c->width, c->width, &layer->key},
                {"v_linear", c->width, c->width, &layer->value});
    if (model->table_trained && model->table.array == SZGI_ARRAY_LAGS)
        layer->lags = add(model, index, "relative_bias_table", model->table.rows,
                          model->table.columns, START_ENCODING, 0);
    ADD_LINEARS(model, index, biases, {"out_linear", c->width, c->width, &layer->out});
}

/* DeepSeek-AI 2024: queries, keys and values through compressed vectors; the rotary key comes from
 * the layer's input itself. */
static void add_latent_attention(szg_model *model, int64_t index, model_layer *layer) {
    const szg_model_config *c = &model->config.model;
    bool biases = c->biases == SZG_BIASES_ALL;
    int64_t content = c->heads * model->d_content, values = c->heads * model->d_v;
    ADD_LINEARS(model, index, biases, {"attn.W_DQ", c->latent_query, c->width, &layer->query_down},
                {"attn.W_DKV", c->latent_kv, c->width, &layer->kv_down},
                {"attn.W_KR", model->d_rotary, c->width, &layer->rotary_key});
    ADD_LINEARS(model, index, biases, {"attn.W_UQ", content, c->latent_query, &layer->query_up},
                {"attn.W_QR", model->rotary_queries, c->latent_query, &layer->rotary_query});
    ADD_LINEARS(model, index, biases, {"attn.W_UK", content, c->latent_kv, &layer->key_up},
                {"attn.W_UV", values, c->latent_kv, &layer->value_up});
    ADD_LINEARS(model, index, biases, {"attn.out_proj", c->width, values, &layer->out});
}

static void add_layer(szg_model *model, int64_t index) {
    const szg_model_config *c = &model->config.model;
    model_layer *layer = &model->layer[index];
    bool biases = c->biases != SZG_BIASES_NONE;
    layer->lags = -1;
    add_norm(model, index, "norm1", &layer->norm1);
    if (model->decoupled)
        add_latent_attention(model, index, layer);
    else
        add_attention(model, index, layer);
    add_norm(model, index, "norm2", &layer->norm2);
    ADD_LINEARS(model, index, biases, {"ffn.0", c->hidden, c->width, &layer->inner});
    /* A dropout module between them takes a number in PyTorch's sequence. */
    ADD_LINEARS(model, index, biases,
                {model->decoupled ? "ffn.3" : "ffn.2", c->width, c->hidden, &layer->outer});
}

/* ---- The encoding's rows ---- */

static void add_position_rows(szg_model *model) {
    const szg_model_config *c = &model->config.model;
    if (model->table.array == SZGI_ARRAY_INPUT)
        model->position_rows = add(model, -1, "position_encoding.position_embeddings.weight",
                                   c->max_length, c->width, START_ENCODING, 0);
}

/* Rows that are drawn and not trained come after all trained ones: gradients and moments end before
 * them. */
static void add_frozen(szg_model *model) {
    int64_t parameters = model->parameters, count = model->count;
    if (!model->table_trained)
        add_position_rows(model);
    model->tensors = model->parameters;
    model->numbers = model->count;
    model->parameters = parameters;
    model->count = count;
    for (int64_t i = parameters; i < model->tensors; i++)
        model->parameter[i].frozen = true;
}

szg_status szgi_model_list_parameters(szg_context *context, szg_model *model) {
    const szg_model_config *c = &model->config.model;
    int64_t capacity = PARAMETERS_AROUND + c->layers * PARAMETERS_A_LAYER;
    SZG_TRY(szgi_memory_alloc(context, capacity, &model->parameter));
    SZG_TRY(szgi_memory_alloc(context, capacity, &model->start));
    SZG_TRY(szgi_memory_alloc(context, c->layers, &model->layer));
    model->position_rows = model->extra_rows = -1;
    model->embedding = add(model, -1, "embedding.weight", c->vocabulary, c->width, START_NORMAL, 0);
    if (model->table_trained)
        add_position_rows(model);
    if (c->extra_position_table)
        model->extra_rows = add(model, -1, "pos_embed", c->max_length, c->width, START_ZEROS, 0);
    for (int64_t l = 0; l < c->layers; l++)
        add_layer(model, l);
    if (c->final_norm)
        add_norm(model, -1, "ln_f", &model->final_norm);
    ADD_LINEARS(model, -1, c->biases != SZG_BIASES_NONE,
                {"fc_out", model->classes, c->width, &model->classifier});
    add_frozen(model);
    return SZG_OK;
}
