/* One pass over the examples for every head of every layer. At each layer of a batch the heads'
 * outputs and the residual stream are kept; each variation starts from them and runs the layers
 * above, so what lies below is computed once. */
#include <inttypes.h>
#include <string.h>

#include <szego/memory.h>

#include "ablation_private.h"

szg_status szg_ablation_method_parse(szg_context *context, const char *name,
                                     szg_ablation_method *out) {
    static const char *const names[] = {"output", "values", "latent_columns"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (szg_ablation_method)i;
            return SZG_OK;
        }
    return szg_fail(context, SZG_EINVAL,
                    "ablation method '%.40s' is none of output, values, latent_columns", name);
}

/* ---- Memory ---- */

/* `place` of a layer: a head, or their number for all of them. */
typedef struct ablation_pass {
    szg_model *model;
    const szg_model_config *settings;
    szg_decoder *decoder;
    const szg_examples *examples;
    szg_ablation_method method;
    int64_t batch, length; /* most sequences and positions of a pass */
    int64_t heads_width;   /* numbers of a row of all heads */
    int64_t reach;
    void *heads, *stream; /* kept before a layer is finished; device */
    szg_tally *tally;     /* [1 + layers * (heads + 1)]; device */
    batch_arrays arrays;  /* of a batch; host */
    int64_t *order;       /* its examples */
    int64_t positions;    /* rows of the present batch */
    weight_cut *cut;      /* NULL: the heads' output is zeroed */
} ablation_pass;

static szg_tally *tally_of(const ablation_pass *pass, int64_t layer, int64_t place) {
    return pass->tally + 1 + layer * (pass->settings->heads + 1) + place;
}

static int64_t tallies_of(const ablation_pass *pass) {
    return 1 + pass->settings->layers * (pass->settings->heads + 1);
}

static void close_pass(szg_context *context, ablation_pass *pass) {
    weight_cut_close(context, &pass->cut);
    szg_decoder_close(context, &pass->decoder);
    szg_device_free(context, pass->heads);
    szg_device_free(context, pass->stream);
    szg_device_free(context, pass->tally);
    szg_batch_close(&pass->arrays);
    szg_memory_free(pass->order);
}

static szg_status open_host(szg_context *context, ablation_pass *pass) {
    SZG_TRY(szg_batch_open(context, pass->batch, pass->length, &pass->arrays));
    return szg_memory_alloc(context, pass->batch, sizeof *pass->order, &pass->order);
}

static szg_status open_device(szg_context *context, ablation_pass *pass) {
    int64_t rows, count, real = szg_network_real_size(context);
    SZG_TRY(
        szg_decoder_open(context, pass->model, pass->batch, pass->length, false, &pass->decoder));
    SZG_TRY(szg_memory_product(context, pass->batch, pass->length, &rows));
    SZG_TRY(szg_memory_product(context, rows, pass->heads_width, &count));
    SZG_TRY(szg_device_alloc(context, count * real, &pass->heads));
    SZG_TRY(szg_memory_product(context, rows, pass->settings->width, &count));
    SZG_TRY(szg_device_alloc(context, count * real, &pass->stream));
    return szg_device_alloc(context, tallies_of(pass) * (int64_t)sizeof *pass->tally, &pass->tally);
}

/* ---- One batch ---- */

static szg_status copy_state(szg_context *context, const ablation_pass *pass, bool keep) {
    int64_t real = szg_network_real_size(context);
    int64_t heads = pass->positions * pass->heads_width * real;
    int64_t stream = pass->positions * pass->settings->width * real;
    void *own_heads = szg_decoder_heads(pass->decoder);
    void *own_stream = szg_decoder_stream(pass->decoder);
    if (keep) {
        SZG_TRY(szg_device_copy(context, pass->heads, own_heads, heads));
        return szg_device_copy(context, pass->stream, own_stream, stream);
    }
    SZG_TRY(szg_device_copy(context, own_heads, pass->heads, heads));
    return szg_device_copy(context, own_stream, pass->stream, stream);
}

/* Zeroes the output of a head, or of all. */
static szg_status clear_output(szg_context *context, const ablation_pass *pass, int64_t place) {
    int64_t real = szg_network_real_size(context), heads = pass->settings->heads;
    int64_t width = pass->heads_width / heads, first = place < heads ? place * width : 0;
    int64_t columns = place < heads ? width : pass->heads_width;
    return szg_device_clear_columns(context,
                                    (char *)szg_decoder_heads(pass->decoder) + first * real,
                                    pass->positions, pass->heads_width * real, columns * real);
}

/* From the stream before `layer` to the heads' outputs without `place`. */
static szg_status attend_without(szg_context *context, ablation_pass *pass, int64_t layer,
                                 int64_t place) {
    SZG_TRY(copy_state(context, pass, false));
    if (!pass->cut)
        return clear_output(context, pass, place);
    SZG_TRY(weight_cut_apply(context, pass->cut, layer, place));
    szg_status status = szg_decoder_attend(context, pass->decoder, layer);
    SZG_TRY(weight_cut_restore(context, pass->cut));
    return status;
}

static szg_status finish_from(szg_context *context, ablation_pass *pass, int64_t layer,
                              szg_tally *tally) {
    SZG_TRY(szg_decoder_finish(context, pass->decoder, layer));
    for (int64_t above = layer + 1; above < pass->settings->layers; above++) {
        SZG_TRY(szg_decoder_attend(context, pass->decoder, above));
        SZG_TRY(szg_decoder_finish(context, pass->decoder, above));
    }
    SZG_TRY(szg_decoder_classify(context, pass->decoder));
    return szg_decoder_score(context, pass->decoder, tally);
}

static szg_status ablate_layer(szg_context *context, ablation_pass *pass, int64_t layer) {
    int64_t heads = pass->settings->heads;
    SZG_TRY(szg_decoder_attend(context, pass->decoder, layer));
    SZG_TRY(copy_state(context, pass, true));
    for (int64_t place = 0; place <= heads; place++) {
        if (place >= pass->reach && place < heads)
            continue; /* nothing to ablate */
        SZG_TRY(szg_context_check_cancel(context));
        SZG_TRY(attend_without(context, pass, layer, place));
        SZG_TRY(finish_from(context, pass, layer, tally_of(pass, layer, place)));
    }
    return copy_state(context, pass, false);
}

static szg_status ablate_batch(szg_context *context, ablation_pass *pass, int64_t first,
                               int64_t count) {
    const batch_arrays *arrays = &pass->arrays;
    for (int64_t i = 0; i < count; i++)
        pass->order[i] = first + i;
    SZG_TRY(szg_batch_fill(context, pass->examples, pass->order, count, pass->length,
                           pass->settings->vocabulary, szg_model_classes(pass->model),
                           arrays->tokens, arrays->lengths, arrays->labels));
    szg_batch batch = {count, pass->length, arrays->tokens, arrays->lengths, arrays->labels};
    pass->positions = count * pass->length;
    SZG_TRY(szg_decoder_embed(context, pass->decoder, &batch, false));
    int64_t last = pass->settings->layers - 1;
    for (int64_t layer = 0; layer <= last; layer++) {
        SZG_TRY(ablate_layer(context, pass, layer));
        if (layer < last)
            SZG_TRY(szg_decoder_finish(context, pass->decoder, layer));
    }
    return finish_from(context, pass, last, pass->tally);
}

/* ---- All of it ---- */

static double accuracy_of(const szg_tally *tally) {
    return (double)tally->correct / (double)tally->counted;
}

static szg_status read_tallies(szg_context *context, const ablation_pass *pass, szg_ablation *out) {
    szg_tally *tally;
    int64_t count = tallies_of(pass), heads = out->heads;
    SZG_TRY(szg_memory_alloc(context, count, sizeof *tally, &tally));
    szg_status status =
        szg_device_download(context, tally, pass->tally, count * (int64_t)sizeof *tally);
    if (status == SZG_OK && tally->counted < 1)
        status = szg_fail(context, SZG_EDATA,
                          "ablation: none of the %" PRId64
                          " examples counts: model.ignored_label=%" PRId64 " is the label of all",
                          pass->examples->count, pass->settings->ignored_label);
    if (status == SZG_OK) {
        out->counted = tally->counted;
        out->accuracy = accuracy_of(tally);
        for (int64_t i = 0; i < out->layers * heads; i++)
            out->head[i] = i % heads < pass->reach
                               ? accuracy_of(&tally[1 + i / heads * (heads + 1) + i % heads])
                               : out->accuracy;
        for (int64_t layer = 0; layer < out->layers; layer++)
            out->layer[layer] = accuracy_of(&tally[1 + layer * (heads + 1) + heads]);
    }
    szg_memory_free(tally);
    return status;
}

static szg_status run_pass(szg_context *context, ablation_pass *pass, szg_ablation *out) {
    int64_t count = pass->examples->count;
    if (pass->method != SZG_ABLATE_OUTPUT)
        SZG_TRY(weight_cut_open(context, pass->model, pass->method, &pass->cut));
    pass->reach = out->reach = pass->cut ? weight_cut_reach(pass->cut) : out->heads;
    SZG_TRY(open_host(context, pass));
    SZG_TRY(open_device(context, pass));
    for (int64_t first = 0; first < count; first += pass->batch) {
        int64_t left = count - first;
        szg_progress(context, "ablating heads", first, count);
        SZG_TRY(ablate_batch(context, pass, first, left < pass->batch ? left : pass->batch));
    }
    szg_progress(context, "ablating heads", count, count);
    return read_tallies(context, pass, out);
}

szg_status szg_ablation_run(szg_context *context, szg_model *model, const szg_examples *examples,
                            const szg_ablation_options *options, szg_ablation *out) {
    const szg_train_config *config = szg_model_settings(model);
    int64_t batch = options->batch > 0 ? options->batch : config->loop.evaluate_batch;
    *out = (szg_ablation){0};
    if (examples->count < 1)
        return szg_fail(context, SZG_EINVAL, "ablation: there are no examples");
    ablation_pass pass = {
        .model = model,
        .settings = &config->model,
        .examples = examples,
        .method = options->method,
        .batch = batch < examples->count ? batch : examples->count,
        .length = szg_padded_length(config, examples),
        .heads_width = config->model.width, /* heads of width / heads numbers each */
    };
    szg_status status = szg_ablation_open(context, config->model.layers, config->model.heads, out);
    if (status == SZG_OK)
        status = run_pass(context, &pass, out);
    close_pass(context, &pass);
    if (status != SZG_OK)
        szg_ablation_close(out);
    return status;
}
