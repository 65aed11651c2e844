/* The model's handle: configuration, encoding, parameters. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "train/run/train.h"
#include "train/config/config_private.h"
#include "model_private.h"

/* ---- Sizes ---- */

/* Sizes that every count of this file stays below 2^62 with. */
static const int64_t limit = (int64_t)1 << 24;

static szg_status check_sizes(szg_context *context, const szg_model_config *c, int64_t classes) {
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"vocabulary", c->vocabulary},
                 {"width", c->width},
                 {"hidden", c->hidden},
                 {"layers", c->layers},
                 {"heads", c->heads},
                 {"max_length", c->max_length},
                 {"latent_query", c->latent_query},
                 {"latent_kv", c->latent_kv},
                 {"classes", classes}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < 1 || sizes[i].value > limit)
            return szgi_fail(context, SZG_EINVAL, "model: %s=%" PRId64 " is outside 1 .. %" PRId64,
                             sizes[i].name, sizes[i].value, limit);
    if (c->width % c->heads)
        return szgi_fail(context, SZG_EINVAL,
                         "model: width=%" PRId64 " is not a multiple of heads=%" PRId64, c->width,
                         c->heads);
    return SZG_OK;
}

/* A SPEC may make both larger than a head: its keys have limits, their sums over heads none. */
static szg_status check_latent(szg_context *context, const szg_model_config *c,
                               const szgi_rotary *rotary) {
    int64_t most = limit / c->heads;
    if (rotary->offset <= most && 2 * rotary->pairs <= most)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "model: content=%" PRId64 " and rope=%" PRId64
                     " of model.encoding=%s: each may be at most %" PRId64 " with heads=%" PRId64,
                     rotary->offset, 2 * rotary->pairs, c->encoding, most, c->heads);
}

/* mla: the rotary dimensions have queries and keys of their own, behind the content's. */
static szg_status set_dimensions(szg_context *context, szg_model *model) {
    const szg_model_config *c = &model->config.model;
    int attaches = szgi_encoding_attaches(model->encoding);
    model->d_v = model->d_qk = model->d_content = c->width / c->heads;
    model->decoupled = attaches & SZGI_ATTACH_DECOUPLED;
    if (!model->decoupled)
        return SZG_OK;
    szgi_rotary rotary;
    SZG_TRY(szgi_encoding_rotary(context, model->encoding, 0, &rotary));
    SZG_TRY(check_latent(context, c, &rotary));
    model->d_content = rotary.offset;
    model->d_rotary = 2 * rotary.pairs;
    model->d_qk = model->d_content + model->d_rotary;
    model->rotary_queries =
        model->d_rotary * (c->rotary_queries == SZG_QUERIES_SHARED ? 1 : c->heads);
    return SZG_OK;
}

/* ---- The handle ---- */

szg_status szgi_model_alloc(szg_context *context, int64_t bytes, const char *what, void *out) {
    szg_status status = szgi_device_alloc(context, bytes, out);
    if (status != SZG_ENOMEM)
        return status;
    return szgi_fail(context, status,
                     "out of memory: %s need %.1f GiB: the model or the batch is too large; lower "
                     "model.width, model.hidden, model.layers or loop.batch",
                     what, (double)bytes / (1 << 30));
}

static void configure(szg_model *model, const szg_train_config *config, int64_t classes) {
    model->config = *config;
    model->classes =
        config->model.classes == SZG_CLASSES_VOCABULARY ? config->model.vocabulary : classes;
}

/* What needs no memory for parameters. */
static szg_status set_sizes(szg_context *context, szg_model *model) {
    const szg_model_config *c = &model->config.model;
    SZG_TRY(check_sizes(context, c, model->classes));
    SZG_TRY(szgi_config_parse_encoding(context, c, model->config.data.seed, &model->encoding));
    return set_dimensions(context, model);
}

static szg_status open_parts(szg_context *context, szg_model *model) {
    const szg_model_config *c = &model->config.model;
    SZG_TRY(set_sizes(context, model));
    SZG_TRY(szgi_encoding_table_of(context, model->encoding, c->max_length, &model->table));
    model->table_trained = model->table.array != SZGI_ARRAY_NONE &&
                           (!model->table.optional || c->position_table == SZG_TABLE_TRAINED);
    SZG_TRY(szgi_model_list_parameters(context, model));
    SZG_TRY(szgi_model_open_positions(context, model));
    int64_t bytes;
    SZG_TRY(szgi_memory_product(context, model->numbers, szgi_network_real_size(context), &bytes));
    return szgi_model_alloc(context, bytes, "the parameters", &model->arena);
}

szg_status szgi_model_open(szg_context *context, const szg_train_config *config, int64_t classes,
                           szg_model **out) {
    *out = NULL;
    szg_model *model;
    SZG_TRY(szgi_memory_alloc(context, 1, &model));
    configure(model, config, classes);
    szg_status status = open_parts(context, model);
    if (status == SZG_OK)
        *out = model;
    else
        szg_model_close(context, &model);
    return status;
}

void szg_model_close(szg_context *context, szg_model **model) {
    if (!model || !*model)
        return;
    szg_model *m = *model;
    szgi_device_free(context, m->arena);
    szgi_model_close_rotation(context, m);
    szgi_model_close_positions(context, m);
    szg_encoding_close(&m->encoding);
    szgi_memory_free(m->parameter);
    szgi_memory_free(m->start);
    szgi_memory_free(m->layer);
    szgi_memory_free(m);
    *model = NULL;
}

const szg_train_config *szgi_model_settings(const szg_model *model) {
    return &model->config;
}

const szg_encoding *szgi_model_encoding(const szg_model *model) {
    return model->encoding;
}

int64_t szgi_model_classes(const szg_model *model) {
    return model->classes;
}

int64_t szgi_model_parameters(const szg_model *model) {
    return model->parameters;
}

const szgi_parameter *szgi_model_parameter(const szg_model *model, int64_t index) {
    return index >= 0 && index < model->tensors ? &model->parameter[index] : NULL;
}

int64_t szgi_model_tensors(const szg_model *model) {
    return model->tensors;
}

const szgi_parameter *szgi_model_find(const szg_model *model, const char *name) {
    for (int64_t i = 0; i < model->tensors; i++)
        if (strcmp(model->parameter[i].name, name) == 0)
            return &model->parameter[i];
    return NULL;
}

int64_t szgi_model_count(const szg_model *model) {
    return model->count;
}

int64_t szgi_model_numbers(const szg_model *model) {
    return model->numbers;
}

void *szgi_model_arena(const szg_model *model) {
    return model->arena;
}

/* ---- Operations ---- */

/* Numbers of the weights that every token meets; attention's products besides. */
static double weights_per_layer(const szg_model *model) {
    const szg_model_config *c = &model->config.model;
    double width = (double)c->width, query = (double)c->latent_query, kv = (double)c->latent_kv;
    double heads_v = (double)(c->heads * model->d_v),
           heads_c = (double)(c->heads * model->d_content);
    double feed_forward = 2 * width * (double)c->hidden, out = width * heads_v;
    if (!model->decoupled)
        return 3 * width * width + out + feed_forward;
    double down = width * (query + kv + (double)model->d_rotary);
    double up = query * (heads_c + (double)model->rotary_queries) + kv * (heads_c + heads_v);
    return down + up + out + feed_forward;
}

szgi_model_operations szgi_model_operations_per_token(const szg_model *model) {
    const szg_model_config *c = &model->config.model;
    double length = (double)c->max_length;
    double attention = length * (double)(c->heads * (model->d_qk + model->d_v));
    double classify = (double)c->width * (double)model->classes / length;
    double forward = 2 * ((double)c->layers * (weights_per_layer(model) + attention) + classify);
    return (szgi_model_operations){.forward = forward, .training = 3 * forward};
}

szg_status szgi_model_count_operations(szg_context *context, const szg_train_config *config,
                                       int64_t classes, szgi_model_operations *out) {
    szg_model *model;
    SZG_TRY(szgi_memory_alloc(context, 1, &model));
    configure(model, config, classes);
    szg_status status = set_sizes(context, model);
    if (status == SZG_OK)
        *out = szgi_model_operations_per_token(model);
    szg_model_close(context, &model);
    return status;
}
