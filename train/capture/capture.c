/* Capture of attention logits: evaluation passes over the probe sequences, layer by layer, with
 * decoders of their own. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "capture_private.h"
#include "train/decoder/model_private.h"

/* Logits wait here for the report, so that all threads have work: as many layers as fit. */
static const int64_t WAITING = (int64_t)64 << 20;

/* Of the device's memory, for the matrices of a step whose spectra are computed there. */
static const int64_t BESIDE = (int64_t)1 << 30;

/* ---- Opening ---- */

/* How many of 0 .. count - 1 are listed, and the last one. */
static int64_t count_listed(const szg_index_list *list, int64_t count, int64_t *last) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        if (szgi_index_list_has(list, i)) {
            found++;
            *last = i;
        }
    return found;
}

/* Whether rows of positions are added to the tokens: then content is a pass without them. */
static bool adds_positions(const szg_model *model) {
    const szg_model_config *config = &szgi_model_settings(model)->model;
    return szgi_encoding_attaches(szgi_model_encoding(model)) & SZGI_ATTACH_INPUT ||
           config->added_sinusoid != SZG_SINUSOID_NONE || config->extra_position_table;
}

/* Without any mask real tokens see the padding, and there must be as much of it as in training. */
static bool sees_padding(const szg_model *model) {
    const szg_model_config *config = &szgi_model_settings(model)->model;
    return config->mask == SZG_MASK_NONE && !config->mask_padding;
}

static szg_status choose(szg_context *context, const szg_examples *examples, const int64_t *order,
                         szgi_capture *self) {
    const szg_model_config *config = &szgi_model_settings(self->model)->model;
    int64_t last_head = 0;
    self->heads = count_listed(&self->what.heads, config->heads, &last_head);
    self->layers = count_listed(&self->what.layers, config->layers, &self->last);
    if (self->heads == 0 || self->layers == 0)
        return szgi_fail(context, SZG_EINVAL,
                         "capture: name at least one of the model's %" PRId64
                         " layers and one of its %" PRId64 " heads",
                         config->layers, config->heads);
    if (examples->count < 1)
        return szgi_fail(context, SZG_EINVAL,
                         "capture: there are no test sequences to capture: lower data.train_part, "
                         "or set capture.every=0");
    if (self->probes < 1 || self->probes > examples->count)
        return szgi_fail(context, SZG_EINVAL,
                         "capture: %" PRId64 " probes of %" PRId64
                         " test sequences: capture.probes must be 1 .. %" PRId64 "",
                         self->probes, examples->count, examples->count);
    for (int64_t p = 0; p < self->probes; p++) {
        int64_t e = order ? order[p] : p, n = examples->start[e + 1] - examples->start[e];
        self->length = n > self->length ? n : self->length;
    }
    if (sees_padding(self->model))
        self->length = config->max_length;
    self->content_kind = adds_positions(self->model) ? "zeroed" : "same_qk";
    return SZG_OK;
}

static szg_status open_batch(szg_context *context, const szg_examples *examples,
                             const int64_t *order, szgi_capture *self) {
    int64_t size;
    SZG_TRY(szgi_memory_product(context, self->probes, self->length, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &self->tokens));
    SZG_TRY(szgi_memory_alloc(context, self->probes, &self->lengths));
    return szgi_batch_fill(context, examples, order, self->probes, self->length,
                           szgi_model_settings(self->model)->model.vocabulary,
                           szgi_model_classes(self->model), self->tokens, self->lengths, NULL);
}

/* Layers whose pairs may wait: all of a pass, or what the memory holds, but one in any case; all of
 * a step that is kept. */
static szg_status layers_waiting(szg_context *context, const szgi_capture *self, int64_t square,
                                 int64_t *out) {
    if (self->keep)
        return szgi_memory_product(context, self->layers, self->probes, out);
    int64_t fit = WAITING / (2 * square * (int64_t)sizeof(double)) / self->heads;
    *out = fit < 1 ? 1 : fit < self->last + 1 ? fit : self->last + 1;
    return SZG_OK;
}

static szg_status open_waiting(szg_context *context, szgi_capture *self) {
    int64_t square, size, layers;
    SZG_TRY(szgi_memory_product(context, self->length, self->length, &square));
    SZG_TRY(layers_waiting(context, self, square, &layers));
    SZG_TRY(szgi_memory_product(context, self->heads, layers, &self->capacity));
    SZG_TRY(szgi_memory_product(context, 2 * self->capacity, square, &size));
    SZG_TRY(szgi_memory_require(context, size, 1, sizeof(double), "captured logits",
                                "capture fewer heads"));
    if (self->keep)
        SZG_TRY(szgi_memory_alloc(context, self->capacity, &self->logits));
    SZG_TRY(szgi_memory_alloc(context, self->capacity, &self->pair));
    SZG_TRY(szgi_memory_alloc(context, self->capacity, &self->probe));
    return szgi_memory_alloc(context, size, &self->matrix);
}

static szg_status open_memory(szg_context *context, int64_t beside_bytes, szgi_capture *self) {
    int64_t heads = szgi_model_settings(self->model)->model.heads, layers = self->last + 1, size;
    SZG_TRY(szgi_memory_product(context, self->length, self->length, &size));
    SZG_TRY(szgi_memory_product(context, size, heads, &size));
    size *= szgi_network_real_size(context);
    SZG_TRY(szgi_device_alloc(context, size, &self->device));
    SZG_TRY(szgi_memory_alloc(context, 2 * layers * heads, &self->norms));
    SZG_TRY(szgi_capture_beside_open(context, self, beside_bytes));
    if (self->beside)
        return SZG_OK;
    SZG_TRY(szgi_memory_take(context, size, 1, &self->host));
    return open_waiting(context, self);
}

/* Without its seed where the tables were not drawn from it: each layer and run has its own. */
static void cut_seed(char *spec) {
    char *at = strstr(spec, "seed=");
    if (!at || at == spec || (at[-1] != ':' && at[-1] != ','))
        return;
    size_t length = strcspn(at, ",");
    if (at[length] == ',')
        memmove(at, at + length + 1, strlen(at + length + 1) + 1);
    else
        at[-1] = 0;
}

static szg_status open_source(szg_context *context, szgi_capture *self) {
    const char *spec = szg_encoding_spec(szgi_model_encoding(self->model));
    SZG_TRY(szgi_memory_copy_text(context, spec, &self->source));
    if (!szgi_model_table_given(self->model))
        cut_seed(self->source);
    return SZG_OK;
}

static szg_status open_dump(szg_context *context, const char *folder, szgi_capture *self) {
    int64_t count;
    if (!folder)
        return SZG_OK;
    SZG_TRY(szgi_memory_copy_text(context, folder, &self->folder));
    SZG_TRY(szgi_memory_product(context, 4 * (self->last + 1) * self->heads, self->probes, &count));
    return szgi_dump_writer_open(context, count, &self->dump);
}

static szg_status open_parts(szg_context *context, const szg_examples *examples,
                             const int64_t *order, const char *dump, int64_t beside_bytes,
                             szgi_capture *self) {
    SZG_TRY(choose(context, examples, order, self));
    SZG_TRY(open_source(context, self));
    SZG_TRY(open_batch(context, examples, order, self));
    SZG_TRY(szgi_decoder_open(context, self->model, 1, self->length, false, &self->coupled));
    if (adds_positions(self->model))
        SZG_TRY(szgi_decoder_open(context, self->model, 1, self->length, false, &self->zeroed));
    SZG_TRY(open_dump(context, dump, self));
    return open_memory(context, beside_bytes, self);
}

static szg_status open_capture(szg_context *context, szg_model *model,
                               const szg_capture_config *what, const szg_examples *examples,
                               const int64_t *order, const char *dump, int64_t bytes, bool keep,
                               szgi_capture **out) {
    *out = NULL;
    szgi_capture *self;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    self->model = model;
    self->what = *what;
    self->keep = keep;
    self->probes = self->what.probes;
    szg_status status = open_parts(context, examples, order, dump, bytes, self);
    if (status == SZG_OK)
        *out = self;
    else
        szgi_capture_close(context, &self);
    return status;
}

szg_status szgi_capture_open_within(szg_context *context, szg_model *model,
                                    const szg_capture_config *what, const szg_examples *examples,
                                    const int64_t *order, const char *dump, int64_t bytes,
                                    szgi_capture **out) {
    return open_capture(context, model, what, examples, order, dump, bytes, false, out);
}

szg_status szgi_capture_open_as(szg_context *context, szg_model *model,
                                const szg_capture_config *what, const szg_examples *examples,
                                const int64_t *order, const char *dump, szgi_capture **out) {
    return szgi_capture_open_within(context, model, what, examples, order, dump, BESIDE, out);
}

szg_status szgi_capture_open(szg_context *context, szg_model *model, const szg_examples *examples,
                             const int64_t *order, const char *dump, bool keep,
                             szgi_capture **out) {
    return open_capture(context, model, &szgi_model_settings(model)->capture, examples, order, dump,
                        BESIDE, keep, out);
}

void szgi_capture_close(szg_context *context, szgi_capture **capture) {
    if (!capture || !*capture)
        return;
    szgi_capture *self = *capture;
    szgi_capture_beside_close(context, &self->beside);
    szgi_dump_writer_close(&self->dump);
    szgi_memory_free(self->logits);
    szgi_memory_free(self->matrix);
    szgi_memory_free(self->probe);
    szgi_memory_free(self->pair);
    szgi_memory_free(self->norms);
    szgi_memory_free(self->host);
    szgi_device_free(context, self->device);
    szgi_decoder_close(context, &self->zeroed);
    szgi_decoder_close(context, &self->coupled);
    szgi_memory_free(self->lengths);
    szgi_memory_free(self->tokens);
    szgi_memory_free(self->folder);
    szgi_memory_free(self->source);
    szgi_memory_free(self);
    *capture = NULL;
}

/* ---- A step ---- */

static szg_status flush(const capture_job *job) {
    szgi_capture *self = job->self;
    SZG_TRY(szgi_contraction_add_all(job->context, self->waiting, self->pair, job->options,
                                     job->tables));
    for (int64_t i = 0; i < self->waiting && self->folder; i++)
        SZG_TRY(szgi_dump_writer_add(job->context, &self->dump, &self->pair[i],
                                     szgi_network_real_size(job->context)));
    self->kept = self->waiting; /* all of a step that is kept */
    self->waiting = 0;
    return SZG_OK;
}

void szgi_capture_kept(const szgi_capture *capture, szg_captured_step *out) {
    out->content_kind = capture->content_kind;
    out->count = capture->kept;
    out->logits = capture->logits;
}

/* The n x n corner of a head's logits on the host. */
static void cut(const szgi_capture *self, int64_t real, int64_t head, int64_t length, int64_t n,
                double *out) {
    const float *single = self->host;
    const double *both = self->host;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            int64_t at = (head * length + i) * length + j;
            out[i * n + j] = real == 4 ? (double)single[at] : both[at];
        }
}

/* Matrix `which` (0 content, 1 coupled) of the pairs that follow those that wait. */
static szg_status take(const capture_job *job, const szgi_decoder *decoder, int which, int64_t n) {
    szgi_capture *self = job->self;
    const szgi_attention *attention = szgi_decoder_attention(decoder);
    int64_t length = attention->length, real = szgi_network_real_size(job->context);
    int64_t at = self->waiting, square = self->length * self->length;
    SZG_TRY(szgi_network_attention_logits(job->context, attention, which == 1, self->device));
    SZG_TRY(szgi_device_download(job->context, self->host, self->device,
                                 attention->heads * length * length * real));
    for (int64_t h = 0; h < attention->heads; h++)
        if (szgi_index_list_has(&self->what.heads, h))
            cut(self, real, h, length, n, self->matrix + (2 * at++ + which) * square);
    return SZG_OK;
}

static szg_status take_layer(const capture_job *job, int64_t probe, int64_t layer) {
    szgi_capture *self = job->self;
    int64_t heads = szgi_model_settings(self->model)->model.heads, n = self->lengths[probe];
    int64_t square = self->length * self->length;
    if (self->waiting + self->heads > self->capacity)
        SZG_TRY(flush(job));
    SZG_TRY(take(job, self->zeroed ? self->zeroed : self->coupled, 0, n));
    SZG_TRY(take(job, self->coupled, 1, n));
    for (int64_t h = 0; h < heads; h++) {
        if (!szgi_index_list_has(&self->what.heads, h))
            continue;
        int64_t at = self->waiting++;
        const double *content = self->matrix + 2 * at * square, *coupled = content + square;
        if (self->keep)
            self->logits[at] = (szg_captured_logits){probe, layer, h, n, content, coupled};
        self->pair[at] = (szgi_contraction_pair){
            .content = szg_matrix_dense(n, n, content, n),
            .coupled = szg_matrix_dense(n, n, coupled, n),
            .precision = szgi_capture_precision(job->context),
            .labels = szgi_capture_labels(job, layer, h, probe, self->probe[at])};
    }
    return SZG_OK;
}

static szg_status embed(const capture_job *job, int64_t probe) {
    szgi_capture *self = job->self;
    int64_t n = sees_padding(self->model) ? self->length : self->lengths[probe];
    const szgi_batch batch = {.count = 1,
                              .length = n,
                              .tokens = self->tokens + probe * self->length,
                              .lengths = self->lengths + probe};
    SZG_TRY(szgi_decoder_embed(job->context, self->coupled, &batch, false));
    if (self->zeroed)
        SZG_TRY(szgi_decoder_embed(job->context, self->zeroed, &batch, true));
    return SZG_OK;
}

static szg_status run_probe(const capture_job *job, int64_t probe) {
    szgi_capture *self = job->self;
    szgi_decoder *const decoders[] = {self->coupled, self->zeroed};
    int count = self->zeroed ? 2 : 1;
    SZG_TRY(embed(job, probe));
    for (int64_t layer = 0; layer <= self->last; layer++) {
        for (int i = 0; i < count; i++)
            SZG_TRY(szgi_decoder_attend(job->context, decoders[i], layer));
        if (szgi_index_list_has(&self->what.layers, layer))
            SZG_TRY(self->beside ? szgi_capture_beside_take(job, probe, layer)
                                 : take_layer(job, probe, layer));
        for (int i = 0; i < count && layer < self->last; i++)
            SZG_TRY(szgi_decoder_finish(job->context, decoders[i], layer));
    }
    return SZG_OK;
}

/* Once a step: every probe has the same gradient. */
static szg_status find_norms(const capture_job *job) {
    szgi_capture *self = job->self;
    int64_t heads = szgi_model_settings(self->model)->model.heads;
    if (self->beside && job->gradient)
        return szgi_capture_beside_norms(job);
    for (int64_t layer = 0; job->gradient && layer <= self->last; layer++)
        if (szgi_index_list_has(&self->what.layers, layer))
            SZG_TRY(szgi_capture_gradient_norms(job->context, self->model, job->gradient, layer,
                                                self->norms + layer * heads,
                                                self->norms + (self->last + 1 + layer) * heads));
    return SZG_OK;
}

static szg_status run_step(const capture_job *job) {
    szgi_capture *self = job->self;
    SZG_TRY(find_norms(job));
    for (int64_t p = 0; p < self->probes; p++)
        SZG_TRY(run_probe(job, p));
    if (self->beside)
        return szgi_capture_beside_begin(job);
    SZG_TRY(flush(job));
    if (!self->folder)
        return SZG_OK;
    const szg_contraction_labels labels = {
        SZG_INIT(szg_contraction_labels), .source = self->source,
        .content_kind = self->content_kind,
        .pairing = szgi_encoding_pairing(szgi_model_encoding(self->model))};
    return szgi_dump_writer_write(job->context, &self->dump, self->folder, job->step, &labels);
}

/* What the backend computes beside the steps is pending then, and rows of an earlier step are
 * there. */
static szg_status capture(szg_context *context, szgi_capture *self, int64_t step,
                          const void *gradient, const szg_report_options *options,
                          szg_contraction_tables *tables) {
    const capture_job job = {context, self, step, gradient, options, tables};
    SZG_TRY(szgi_capture_collect(context, self, tables));
    self->waiting = 0;
    if (self->beside)
        szgi_capture_beside_start(self->beside);
    szg_status status = run_step(&job);
    if (self->folder)
        szgi_dump_writer_clear(&self->dump);
    return szgi_capture_named(context, status, step);
}

bool szgi_capture_pending(const szgi_capture *capture) {
    return capture && capture->beside && szgi_capture_beside_pending(capture->beside);
}

szg_status szgi_capture_collect(szg_context *context, szgi_capture *capture,
                                szg_contraction_tables *tables) {
    return szgi_capture_pending(capture) ? szgi_capture_beside_collect(context, capture, tables)
                                         : SZG_OK;
}

szg_status szgi_capture_report(szg_context *context, szgi_capture *self, int64_t step,
                               const void *gradient, const szg_report_options *options,
                               szg_contraction_tables *tables) {
    SZG_TRY(capture(context, self, step, gradient, options, tables));
    return szgi_capture_collect(context, self, tables);
}

szg_status szgi_capture_step(szg_context *context, szgi_capture *self, int64_t step,
                             const void *gradient, szg_contraction_tables *tables) {
    const szg_report_options options = {SZG_INIT(szg_report_options), .all = tables->values,
                                        .quick_symbol = true,
                                        .samples = tables->symbols ? SZG_CONTRACTION_SAMPLES : 0};
    return capture(context, self, step, gradient, &options, tables);
}
