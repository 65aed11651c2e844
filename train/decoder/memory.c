/* The decoder's arrays: one allocation, cut into pieces. The same walk measures and cuts. */
#include "base/memory.h"
#include "decoder_private.h"

enum { ALIGNMENT = 64 };

typedef struct cutter {
    char *base; /* NULL: only measuring */
    int64_t used;
    bool overflow;
} cutter;

/* The next rows x columns elements of `size` bytes. */
static void *cut(cutter *c, int64_t rows, int64_t columns, int64_t size) {
    int64_t bytes, end;
    if (__builtin_mul_overflow(rows, columns, &bytes) ||
        __builtin_mul_overflow(bytes, size, &bytes) ||
        __builtin_add_overflow(c->used, bytes, &end) || end > INT64_MAX / 2) {
        c->overflow = true;
        return NULL;
    }
    void *at = c->base ? c->base + c->used : NULL;
    c->used = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* What one layer keeps, without its stages of the stream. */
static void cut_layer(cutter *c, const szgi_decoder *d, decoder_layer *layer) {
    const szg_model *model = d->model;
    const szg_model_config *config = decoder_config(d);
    int64_t rows = d->batch * d->length;
    if (d->training) {
        void **const numbers[] = {&layer->mean1, &layer->inverse1, &layer->mean2, &layer->inverse2};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            *numbers[i] = cut(c, rows, 1, d->real);
        layer->log_sum = cut(c, rows, config->heads, d->real);
        if (d->kept > 0)
            layer->kept = cut(c, d->kept, 1, 1);
        if (config->activation == SZG_ACTIVATION_GELU)
            layer->before = cut(c, rows, config->hidden, d->real);
    }
    layer->projected = cut(c, rows, szgi_decoder_projected(model), d->real);
    if (model->decoupled) {
        int64_t content = config->heads * model->d_content;
        layer->up_query = cut(c, rows, content + model->rotary_queries, d->real);
        layer->up_kv = cut(c, rows, content + config->heads * model->d_v, d->real);
    }
    layer->heads = cut(c, rows, config->heads * model->d_v, d->real);
    layer->hidden = cut(c, rows, config->hidden, d->real);
}

/* Every layer has its own arrays and two stages of the stream. */
static void cut_training_layers(cutter *c, szgi_decoder *d) {
    int64_t rows = d->batch * d->length, width = decoder_config(d)->width;
    int64_t layers = decoder_config(d)->layers;
    for (int64_t l = 0; l <= layers; l++)
        d->layer[l].stream = cut(c, rows, width, d->real);
    for (int64_t l = 0; l < layers; l++) {
        d->layer[l].middle = cut(c, rows, width, d->real);
        cut_layer(c, d, &d->layer[l]);
    }
}

/* One array is the stream at every stage; the embeddings stay apart where every layer reads them.
 */
static void cut_shared_layers(cutter *c, szgi_decoder *d) {
    int64_t rows = d->batch * d->length, width = decoder_config(d)->width;
    decoder_layer shared = {0};
    cut_layer(c, d, &shared);
    shared.stream = shared.middle = cut(c, rows, width, d->real);
    for (int64_t l = 0; l <= decoder_config(d)->layers; l++)
        d->layer[l] = shared;
    if (decoder_config(d)->keys_values == SZG_KEYS_EMBEDDING)
        d->layer[0].stream = cut(c, rows, width, d->real);
}

static void cut_forward(cutter *c, szgi_decoder *d) {
    const szg_model *model = d->model;
    const szg_model_config *config = decoder_config(d);
    int64_t rows = d->batch * d->length, width = config->width;
    d->normed = cut(c, rows, width, d->real);
    d->branch = cut(c, rows, width, d->real);
    if (model->decoupled) {
        d->joined_q = cut(c, rows, config->heads * model->d_qk, d->real);
        d->joined_k = cut(c, rows, config->heads * model->d_qk, d->real);
    }
    if (model->positions.rows)
        d->bias = cut(c, config->heads, 2 * d->length - 1, d->real);
    if (model->position_rows >= 0 && model->extra_rows >= 0)
        d->position_sum = cut(c, d->length, width, d->real);
    if (config->final_norm && d->training) {
        d->final_mean = cut(c, rows, 1, d->real);
        d->final_inverse = cut(c, rows, 1, d->real);
    }
    d->pooled = cut(c, d->batch, width, d->real);
    d->logits = cut(c, d->batch, model->classes, d->real);
}

static void cut_backward(cutter *c, szgi_decoder *d) {
    const szg_model *model = d->model;
    const szg_model_config *config = decoder_config(d);
    int64_t rows = d->batch * d->length, width = config->width;
    int64_t projected = szgi_decoder_projected(model), values = config->heads * model->d_v;
    d->dstream = cut(c, rows, width, d->real);
    if (config->keys_values == SZG_KEYS_EMBEDDING)
        d->dembedded = cut(c, rows, width, d->real);
    d->dheads = cut(c, rows, values, d->real);
    d->dprojected = cut(c, rows, projected > config->hidden ? projected : config->hidden, d->real);
    d->dhidden = d->dprojected;
    if (model->decoupled) {
        int64_t content = config->heads * model->d_content;
        d->djoined_q = cut(c, rows, config->heads * model->d_qk, d->real);
        d->djoined_k = cut(c, rows, config->heads * model->d_qk, d->real);
        d->dup_query = d->joined_q;
        d->dup_kv = cut(c, rows, content + values, d->real);
    }
    if (model->positions.rows)
        d->dbias = cut(c, config->heads, 2 * d->length - 1, d->real);
    d->dpooled = cut(c, d->batch, width, d->real);
    d->dlogits = cut(c, d->batch, model->classes, d->real);
}

static void cut_all(cutter *c, szgi_decoder *d) {
    d->tokens = cut(c, d->batch, d->length, sizeof(int32_t));
    d->lengths = cut(c, d->batch, 1, sizeof(int32_t));
    d->labels = cut(c, d->batch, 1, sizeof(int32_t));
    if (d->training)
        cut_training_layers(c, d);
    else
        cut_shared_layers(c, d);
    cut_forward(c, d);
    if (d->training)
        cut_backward(c, d);
}

static szg_status measure(szg_context *context, szgi_decoder *decoder, int64_t *bytes) {
    cutter c = {0};
    cut_all(&c, decoder);
    *bytes = c.used;
    if (!c.overflow)
        return SZG_OK;
    return szgi_fail(context, SZG_ENOMEM,
                     "decoder: %lld sequences of %lld positions are more than memory can be "
                     "counted in: use smaller batches",
                     (long long)decoder->batch, (long long)decoder->length);
}

/* What the backend keeps of a layer's dropout. */
static szg_status measure_kept(szg_context *context, szgi_decoder *decoder) {
    const szgi_attention attention = {.batch = decoder->batch,
                                      .heads = decoder_config(decoder)->heads,
                                      .length = decoder->length,
                                      .dropout =
                                          szgi_decoder_dropout(decoder, SZGI_PLACE_ATTENTION, 0)};
    return szgi_network_attention_kept(context, &attention, &decoder->kept);
}

szg_status szgi_decoder_open_memory(szg_context *context, szgi_decoder *decoder) {
    int64_t bytes;
    SZG_TRY(measure(context, decoder, &bytes)); /* refuses sizes that would overflow below */
    SZG_TRY(measure_kept(context, decoder));
    SZG_TRY(measure(context, decoder, &bytes));
    SZG_TRY(szgi_model_alloc(context, bytes, "the activations of a batch", &decoder->memory));
    cutter c = {.base = decoder->memory};
    cut_all(&c, decoder);
    return SZG_OK;
}
