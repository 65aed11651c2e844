/* One pass over the examples for every head of every layer. At each layer of a batch the heads'
 * outputs and the residual stream are kept; each variation starts from them and runs the layers
 * above, so what lies below is computed once. Several variations are copies of the batch in one
 * pass. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"

#include "ablation_private.h"
#include "train/data/resident.h"

/* ---- Memory ---- */

/* The variations of a layer: `reach` heads one by one, then all at once. */
typedef struct ablation_pass {
    szg_model *model;
    const szg_model_config *settings;
    szgi_decoder *decoder;
    resident_set set;
    szg_ablation_method method;
    int64_t batch, length; /* most sequences and positions of a pass */
    int64_t copies;        /* most variations of a pass; it has batch * copies sequences */
    int64_t heads_width;   /* numbers of a row of all heads */
    int64_t reach;
    void *heads, *stream; /* kept before a layer is finished; device */
    szgi_tally *tally;    /* [1 + layers * (reach + 1)]; device */
    int64_t positions;    /* rows of the present batch */
    weight_cut *cut;      /* NULL: no parameters are cut */
} ablation_pass;

static szgi_tally *tally_of(const ablation_pass *pass, szgi_tally *tally, int64_t layer,
                            int64_t variation) {
    return tally + 1 + layer * (pass->reach + 1) + variation;
}

static int64_t tallies_of(const ablation_pass *pass) {
    return 1 + pass->settings->layers * (pass->reach + 1);
}

/* The head that a variation ablates; their number stands for all of them. */
static int64_t place_of(const ablation_pass *pass, int64_t variation) {
    return variation < pass->reach ? variation : pass->settings->heads;
}

static void close_pass(szg_context *context, ablation_pass *pass) {
    szgi_weight_cut_close(context, &pass->cut);
    szgi_decoder_close(context, &pass->decoder);
    szgi_device_free(context, pass->heads);
    szgi_device_free(context, pass->stream);
    szgi_device_free(context, pass->tally);
    szgi_resident_close(context, &pass->set);
}

static szg_status open_pass(szg_context *context, ablation_pass *pass,
                            const szg_examples *examples) {
    const batch_limits limits = {pass->length, pass->settings->vocabulary,
                                 szgi_model_classes(pass->model)};
    int64_t rows, count, real = szgi_network_real_size(context);
    SZG_TRY(szgi_resident_open(context, examples, &limits, false, &pass->set));
    SZG_TRY(szgi_memory_product(context, pass->batch, pass->copies, &count));
    SZG_TRY(szgi_decoder_open(context, pass->model, count, pass->length, false, &pass->decoder));
    SZG_TRY(szgi_memory_product(context, pass->batch, pass->length, &rows));
    SZG_TRY(szgi_memory_product(context, rows, pass->heads_width, &count));
    SZG_TRY(szgi_device_alloc(context, count * real, &pass->heads));
    SZG_TRY(szgi_memory_product(context, rows, pass->settings->width, &count));
    SZG_TRY(szgi_device_alloc(context, count * real, &pass->stream));
    return szgi_device_alloc(context, tallies_of(pass) * (int64_t)sizeof *pass->tally,
                             &pass->tally);
}

/* ---- One batch ---- */

/* What precedes a layer is finished, of the decoder's batch or its copy `copy`. */
typedef struct layer_state {
    void *heads, *stream;
    int64_t heads_bytes, stream_bytes;
} layer_state;

static layer_state state_of(szg_context *context, const ablation_pass *pass, int64_t copy) {
    int64_t real = szgi_network_real_size(context);
    layer_state state = {.heads_bytes = pass->positions * pass->heads_width * real,
                         .stream_bytes = pass->positions * pass->settings->width * real};
    state.heads = (char *)szgi_decoder_heads(pass->decoder) + copy * state.heads_bytes;
    state.stream = (char *)szgi_decoder_stream(pass->decoder) + copy * state.stream_bytes;
    return state;
}

static szg_status keep(szg_context *context, const ablation_pass *pass) {
    layer_state own = state_of(context, pass, 0);
    SZG_TRY(szgi_device_copy(context, pass->heads, own.heads, own.heads_bytes));
    return szgi_device_copy(context, pass->stream, own.stream, own.stream_bytes);
}

static szg_status restore(szg_context *context, const ablation_pass *pass, int64_t copy) {
    layer_state own = state_of(context, pass, copy);
    SZG_TRY(szgi_device_copy(context, own.heads, pass->heads, own.heads_bytes));
    return szgi_device_copy(context, own.stream, pass->stream, own.stream_bytes);
}

/* Zeroes the output of a head, or of all, in a copy. */
static szg_status clear_output(szg_context *context, const ablation_pass *pass, int64_t place,
                               int64_t copy) {
    int64_t real = szgi_network_real_size(context), heads = pass->settings->heads;
    int64_t width = pass->heads_width / heads, first = place < heads ? place * width : 0;
    int64_t columns = place < heads ? width : pass->heads_width;
    return szgi_device_clear_columns(context,
                                     (char *)state_of(context, pass, copy).heads + first * real,
                                     pass->positions, pass->heads_width * real, columns * real);
}

/* Whether heads are taken away before the layer's attention; else their outputs are zeroed. */
static bool cuts_before(const ablation_pass *pass) {
    return pass->cut || pass->method == SZG_ABLATE_ROTATION;
}

/* A cancellation waits: the model comes back first. */
static szg_status restore_head(szg_context *context, const ablation_pass *pass, int64_t layer) {
    szgi_context_defer_cancel(context, true);
    szg_status status = pass->cut ? szgi_weight_cut_restore(context, pass->cut)
                                  : szgi_model_unrotate(context, pass->model, layer, -1);
    szgi_context_defer_cancel(context, false);
    return status;
}

/* A failure leaves the model whole. */
static szg_status cut_head(szg_context *context, const ablation_pass *pass, int64_t layer,
                           int64_t place) {
    if (pass->cut)
        return szgi_weight_cut_apply(context, pass->cut, layer, place);
    szg_status status = szgi_model_unrotate(context, pass->model, layer, place);
    if (status != SZG_OK && restore_head(context, pass, layer) != SZG_OK)
        return szgi_fail_prefix(context, status, "ablation: the model's rotation is lost");
    return status;
}

/* The layer's attention with a head cut: from the batch alone to the copy's heads. */
static szg_status attend_cut(szg_context *context, ablation_pass *pass, int64_t layer,
                             int64_t place, int64_t copy) {
    layer_state own = state_of(context, pass, 0), target = state_of(context, pass, copy);
    if (copy > 0)
        SZG_TRY(szgi_device_copy(context, own.stream, pass->stream, own.stream_bytes));
    SZG_TRY(cut_head(context, pass, layer, place));
    szg_status status = szgi_decoder_attend(context, pass->decoder, layer);
    SZG_TRY(restore_head(context, pass, layer));
    SZG_TRY(status);
    if (copy == 0)
        return SZG_OK;
    return szgi_device_copy(context, target.heads, own.heads, own.heads_bytes);
}

/* Variations first .. first + count - 1 of a layer, each in its copy, from the stream before it to
 * the heads' outputs. The first copy is the batch alone: it comes last, as attention writes there.
 */
static szg_status vary(szg_context *context, ablation_pass *pass, int64_t layer, int64_t first,
                       int64_t count) {
    for (int64_t copy = count - 1; copy >= 0; copy--) {
        int64_t place = place_of(pass, first + copy);
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(restore(context, pass, copy));
        SZG_TRY(cuts_before(pass) ? attend_cut(context, pass, layer, place, copy)
                                  : clear_output(context, pass, place, copy));
    }
    return szgi_decoder_repeat(context, pass->decoder, count);
}

static szg_status finish_from(szg_context *context, ablation_pass *pass, int64_t layer,
                              szgi_tally *tally) {
    SZG_TRY(szgi_decoder_finish(context, pass->decoder, layer));
    for (int64_t above = layer + 1; above < pass->settings->layers; above++) {
        SZG_TRY(szgi_decoder_attend(context, pass->decoder, above));
        SZG_TRY(szgi_decoder_finish(context, pass->decoder, above));
    }
    SZG_TRY(szgi_decoder_classify(context, pass->decoder));
    return szgi_decoder_score(context, pass->decoder, tally);
}

static szg_status ablate_layer(szg_context *context, ablation_pass *pass, int64_t layer) {
    int64_t variations = pass->reach + 1;
    SZG_TRY(szgi_decoder_attend(context, pass->decoder, layer));
    SZG_TRY(keep(context, pass));
    for (int64_t first = 0; first < variations; first += pass->copies) {
        int64_t left = variations - first, count = left < pass->copies ? left : pass->copies;
        SZG_TRY(vary(context, pass, layer, first, count));
        SZG_TRY(finish_from(context, pass, layer, tally_of(pass, pass->tally, layer, first)));
        SZG_TRY(szgi_decoder_repeat(context, pass->decoder, 1));
    }
    return restore(context, pass, 0);
}

/* The whole model's accuracy, where the pass over its layers leaves heads off. */
static szg_status score_whole(szg_context *context, ablation_pass *pass) {
    SZG_TRY(szgi_decoder_embed(context, pass->decoder, NULL, false));
    SZG_TRY(szgi_decoder_attend(context, pass->decoder, 0));
    return finish_from(context, pass, 0, pass->tally);
}

static szg_status ablate_batch(szg_context *context, ablation_pass *pass, int64_t first) {
    bool cumulative = pass->method == SZG_ABLATE_CUMULATIVE;
    int64_t left = pass->set.count - first, count = left < pass->batch ? left : pass->batch;
    int64_t last = pass->settings->layers - 1;
    szgi_gather gather = szgi_resident_batch(&pass->set, first, NULL, count, pass->length);
    pass->positions = count * pass->length;
    SZG_TRY(szgi_decoder_gather(context, pass->decoder, &gather));
    if (cumulative)
        SZG_TRY(score_whole(context, pass));
    SZG_TRY(szgi_decoder_embed(context, pass->decoder, NULL, false));
    for (int64_t layer = 0; layer <= last; layer++) {
        SZG_TRY(ablate_layer(context, pass, layer));
        if (cumulative)
            SZG_TRY(clear_output(context, pass, pass->settings->heads - 1, 0));
        if (layer < last)
            SZG_TRY(szgi_decoder_finish(context, pass->decoder, layer));
    }
    return cumulative ? SZG_OK : finish_from(context, pass, last, pass->tally);
}

/* ---- All of it ---- */

static double accuracy_of(const szgi_tally *tally) {
    return (double)tally->correct / (double)tally->counted;
}

static szg_status read_tallies(szg_context *context, const ablation_pass *pass, szg_ablation *out) {
    szgi_tally *tally;
    int64_t count = tallies_of(pass), heads = out->heads;
    SZG_TRY(szgi_memory_alloc(context, count, &tally));
    szg_status status =
        szgi_device_download(context, tally, pass->tally, count * (int64_t)sizeof *tally);
    if (status == SZG_OK && tally->counted < 1)
        status = szgi_fail(context, SZG_EDATA,
                           "ablation: no example counts: all %" PRId64
                           " have the label model.ignored_label=%" PRId64 "",
                           pass->set.count, pass->settings->ignored_label);
    if (status == SZG_OK) {
        out->counted = tally->counted;
        out->accuracy = accuracy_of(tally);
        for (int64_t i = 0; i < out->layers * heads; i++)
            out->head[i] = i % heads < pass->reach
                               ? accuracy_of(tally_of(pass, tally, i / heads, i % heads))
                               : out->accuracy;
        for (int64_t layer = 0; layer < out->layers; layer++)
            out->layer[layer] = accuracy_of(tally_of(pass, tally, layer, pass->reach));
    }
    szgi_memory_free(tally);
    return status;
}

static szg_status run_pass(szg_context *context, ablation_pass *pass, const szg_examples *examples,
                           szg_ablation *out) {
    if (pass->method == SZG_ABLATE_VALUES || pass->method == SZG_ABLATE_LATENT_COLUMNS)
        SZG_TRY(szgi_weight_cut_open(context, pass->model, pass->method, &pass->cut));
    out->method = pass->method;
    SZG_TRY(szgi_ablation_spare(context, szgi_model_settings(pass->model),
                                szgi_model_intervened(pass->model), out));
    pass->reach = out->reach = szgi_ablation_reach(pass->settings, pass->method);
    SZG_TRY(open_pass(context, pass, examples));
    for (int64_t first = 0; first < examples->count; first += pass->batch) {
        szgi_progress(context, "ablating heads", first, examples->count);
        SZG_TRY(ablate_batch(context, pass, first));
    }
    szgi_progress(context, "ablating heads", examples->count, examples->count);
    return read_tallies(context, pass, out);
}

szg_status szgi_ablation_run_grouped(szg_context *context, szg_model *model,
                                     const szg_examples *examples,
                                     const szg_ablation_options *options, int64_t copies,
                                     szg_ablation *out) {
    *out = (szg_ablation){0};
    szg_ablation_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_ablation_options, options, &own));
    const szg_train_config *config = szgi_model_settings(model);
    int64_t sequences = own.batch > 0 ? own.batch : config->loop.evaluate_batch;
    if (examples->count < 1)
        return szgi_fail(context, SZG_EINVAL, "ablation: there are no examples");
    copies = copies < sequences ? copies : sequences;
    int64_t batch = sequences / copies;
    ablation_pass pass = {
        .model = model,
        .settings = &config->model,
        .method = own.method,
        .batch = batch < examples->count ? batch : examples->count,
        .copies = copies,
        .length = szgi_padded_length(config, examples),
        .heads_width = config->model.width, /* heads of width / heads numbers each */
    };
    szg_status status = szgi_ablation_open(context, config->model.layers, config->model.heads, out);
    if (status == SZG_OK)
        status = run_pass(context, &pass, examples, out);
    close_pass(context, &pass);
    if (status != SZG_OK)
        szg_ablation_close(out);
    return status;
}

/* A processor does as well with one variation after the other, whose arrays are smaller; a device
 * has fewer and larger operations to start where they are one batch. */
szg_status szg_ablation_run(szg_context *context, szg_model *model, const szg_examples *examples,
                            const szg_ablation_options *options, szg_ablation *out) {
    SZGI_ENTER(context);
    int64_t copies = szgi_device_records(context) ? szgi_model_settings(model)->model.heads + 1 : 1;
    return szgi_ablation_run_grouped(context, model, examples, options, copies, out);
}
