/* Spectra that the backend computes beside the steps; see capture_private.h. */
#include <math.h>

#include "toeplitz/matrix.h"
#include "base/memory.h"
#include "capture_private.h"

/* Of the device's memory, for each entry of a matrix that waits: as taken, and twice in double
 * precision for the solver, whose work takes as much again. */
enum { BYTES_AN_ENTRY = 4 + 8 + 8 + 8 };

/* Matrices of one order. */
typedef struct beside_order {
    int64_t n, capacity, used;
    szgi_spectra_job *job;
    szgi_logit_numbers *numbers; /* [capacity] */
} beside_order;

struct capture_beside {
    int64_t budget, bytes; /* that matrices may have, and have */
    int64_t orders;
    beside_order *order; /* by first appearance; the first has the gradient's sums */
    int64_t waiting, capacity;
    szgi_contraction_pair *pair; /* in the order of the rows */
    char (*probe)[24];
    /* Of the step that is pending. */
    bool pending, gradient;
    int64_t step;
    szg_report_options options;
};

/* ---- Opening ---- */

static beside_order *order_of(capture_beside *self, int64_t n) {
    int64_t i = 0;
    while (i < self->orders && self->order[i].n != n)
        i++;
    if (i == self->orders)
        self->order[self->orders++].n = n;
    return &self->order[i];
}

/* Of the matrices of a layer, two a head. */
static int64_t bytes_of(int64_t heads, int64_t n) {
    return 2 * heads * n * n * BYTES_AN_ENTRY;
}

static bool has_room(const capture_beside *self, int64_t heads, int64_t n) {
    return bytes_of(heads, n) <= self->budget - self->bytes;
}

static void clear(capture_beside *self) {
    self->bytes = self->waiting = 0;
    for (int64_t i = 0; i < self->orders; i++)
        self->order[i].used = 0;
}

static void count_layer(capture_beside *self, beside_order *order, int64_t heads) {
    order->used += 2 * heads;
    self->waiting += heads;
    self->bytes += bytes_of(heads, order->n);
}

/* Goes through a step as it will be, for the room that it takes. */
static void plan(const szgi_capture *capture, capture_beside *self) {
    for (int64_t p = 0; p < capture->probes; p++) {
        beside_order *order = order_of(self, capture->lengths[p]);
        for (int64_t layer = 0; layer <= capture->last; layer++) {
            if (!szgi_index_list_has(&capture->what.layers, layer))
                continue;
            if (!has_room(self, capture->heads, order->n))
                clear(self);
            count_layer(self, order, capture->heads);
            order->capacity = order->used > order->capacity ? order->used : order->capacity;
            self->capacity = self->waiting > self->capacity ? self->waiting : self->capacity;
        }
    }
    clear(self);
}

static bool layers_fit(const szgi_capture *capture, int64_t bytes) {
    for (int64_t p = 0; p < capture->probes; p++)
        if (bytes_of(capture->heads, capture->lengths[p]) > bytes)
            return false;
    return true;
}

static szg_status open_parts(szg_context *context, const szgi_capture *capture,
                             capture_beside *self) {
    int64_t sums = 2 * (capture->last + 1) * szgi_model_settings(capture->model)->model.heads;
    SZG_TRY(szgi_memory_alloc(context, capture->probes, &self->order));
    plan(capture, self);
    SZG_TRY(szgi_memory_alloc(context, self->capacity, &self->pair));
    SZG_TRY(szgi_memory_alloc(context, self->capacity, &self->probe));
    for (int64_t i = 0; i < self->orders; i++) {
        beside_order *order = &self->order[i];
        SZG_TRY(szgi_memory_alloc(context, order->capacity, &order->numbers));
        SZG_TRY(szgi_network_spectra_open(context, order->capacity, order->n, i == 0 ? sums : 0,
                                          &order->job));
    }
    return SZG_OK;
}

szg_status szgi_capture_beside_open(szg_context *context, szgi_capture *self, int64_t bytes) {
    if (!szgi_network_has_spectra(context) || self->folder || self->keep ||
        !layers_fit(self, bytes))
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, 1, &self->beside));
    self->beside->budget = bytes;
    return open_parts(context, self, self->beside);
}

void szgi_capture_beside_close(szg_context *context, capture_beside **beside) {
    capture_beside *self = *beside;
    if (!self)
        return;
    for (int64_t i = 0; i < self->orders; i++) {
        szgi_network_spectra_close(context, &self->order[i].job);
        szgi_memory_free(self->order[i].numbers);
    }
    szgi_memory_free(self->order);
    szgi_memory_free(self->pair);
    szgi_memory_free(self->probe);
    szgi_memory_free(self);
    *beside = NULL;
}

/* ---- Collecting ---- */

/* All that were begun, also where one fails: the jobs can be filled again. */
static szg_status wait(szg_context *context, capture_beside *self, double *sums) {
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < self->orders; i++) {
        beside_order *order = &self->order[i];
        if (order->job->begun < 0)
            continue;
        szg_status own =
            szgi_network_spectra_collect(context, order->job, order->numbers, i == 0 ? sums : NULL);
        status = status == SZG_OK ? own : status;
    }
    return status;
}

static szg_status add_rows(szg_context *context, szgi_capture *capture,
                           szg_contraction_tables *tables) {
    capture_beside *self = capture->beside;
    int64_t heads = szgi_model_settings(capture->model)->model.heads;
    SZG_TRY(wait(context, self, capture->norms));
    int64_t all = (capture->last + 1) * heads;
    for (int64_t i = 0; i < 2 * all; i++)
        capture->norms[i] = sqrt(capture->norms[i]);
    for (int64_t i = 0; i < self->waiting && self->gradient; i++) {
        szg_contraction_labels *labels = &self->pair[i].labels;
        const double *norm = capture->norms + labels->layer * heads + labels->head;
        labels->grad_norm = norm[0];
        labels->grad_norm_qk = norm[all];
    }
    return szgi_contraction_add_all(context, self->waiting, self->pair, &self->options, tables);
}

/* Nothing is pending afterwards. */
static szg_status finish(szg_context *context, szgi_capture *capture,
                         szg_contraction_tables *tables) {
    szg_status status = add_rows(context, capture, tables);
    capture->beside->pending = false;
    clear(capture->beside);
    return status;
}

szg_status szgi_capture_beside_collect(szg_context *context, szgi_capture *capture,
                                       szg_contraction_tables *tables) {
    return szgi_capture_named(context, finish(context, capture, tables), capture->beside->step);
}

/* ---- A step ---- */

void szgi_capture_beside_start(capture_beside *self) {
    clear(self);
}

/* Sums first .. first + heads - 1 of the job, of a layer. */
static szg_status give_squares(const capture_job *job, int64_t layer, bool queries_keys,
                               int64_t first) {
    const szgi_capture *self = job->self;
    int64_t heads = szgi_model_settings(self->model)->model.heads;
    int64_t real = szgi_network_real_size(job->context);
    szgi_head_share parts[SZGI_HEAD_SHARES];
    szgi_head_part given[SZGI_HEAD_PARTS];
    int64_t count = szgi_capture_parts(self->model, layer, queries_keys, parts);
    for (int64_t i = 0; i < count; i++)
        given[i] = (szgi_head_part){(const char *)job->gradient + parts[i].parameter->offset * real,
                                    parts[i].parameter->shape[0], parts[i].parameter->shape[1],
                                    parts[i].by_columns};
    return szgi_network_spectra_squares(job->context, self->beside->order[0].job, first, heads,
                                        count, given);
}

szg_status szgi_capture_beside_norms(const capture_job *job) {
    const szgi_capture *self = job->self;
    int64_t heads = szgi_model_settings(self->model)->model.heads, layers = self->last + 1;
    for (int64_t layer = 0; layer < layers; layer++) {
        if (!szgi_index_list_has(&self->what.layers, layer))
            continue;
        SZG_TRY(give_squares(job, layer, false, layer * heads));
        SZG_TRY(give_squares(job, layer, true, (layers + layer) * heads));
    }
    return SZG_OK;
}

/* Heads that are listed, from place `first` on: a run of them is taken at once. */
static szg_status take_heads(const capture_job *job, const beside_order *order, int64_t first,
                             const szgi_attention *attention) {
    const szg_index_list *list = &job->self->what.heads;
    int64_t square = attention->length * attention->length, run;
    for (int64_t h = 0; h < attention->heads; h += run) {
        for (run = 1; h + run < attention->heads &&
                      szgi_index_list_has(list, h + run) == szgi_index_list_has(list, h);)
            run++;
        if (!szgi_index_list_has(list, h))
            continue;
        const char *from = job->self->device;
        from += h * square * szgi_network_real_size(job->context);
        SZG_TRY(szgi_network_spectra_take(job->context, order->job, first, run, attention->length,
                                          from));
        first += run;
    }
    return SZG_OK;
}

/* The rows of a layer, and where their numbers will be. */
static void add_pairs(const capture_job *job, const beside_order *order, int64_t probe,
                      int64_t layer) {
    const szgi_capture *self = job->self;
    capture_beside *beside = self->beside;
    const szgi_logit_numbers *content = order->numbers + order->used;
    int64_t heads = szgi_model_settings(self->model)->model.heads, at = beside->waiting;
    for (int64_t h = 0; h < heads; h++) {
        if (!szgi_index_list_has(&self->what.heads, h))
            continue;
        beside->pair[at] = (szgi_contraction_pair){
            .content = szgi_matrix_device(order->n, content),
            .coupled = szgi_matrix_device(order->n, content + self->heads),
            .precision = szgi_capture_precision(job->context),
            .labels = szgi_capture_labels(job, layer, h, probe, beside->probe[at])};
        content++;
        at++;
    }
}

szg_status szgi_capture_beside_take(const capture_job *job, int64_t probe, int64_t layer) {
    szgi_capture *self = job->self;
    capture_beside *beside = self->beside;
    beside_order *order = order_of(beside, self->lengths[probe]);
    const szgi_decoder *decoders[] = {self->zeroed ? self->zeroed : self->coupled, self->coupled};
    if (!has_room(beside, self->heads, order->n)) {
        SZG_TRY(szgi_capture_beside_begin(job));
        SZG_TRY(finish(job->context, self, job->tables));
    }
    for (int which = 0; which < 2; which++) {
        const szgi_attention *attention = szgi_decoder_attention(decoders[which]);
        SZG_TRY(szgi_network_attention_logits(job->context, attention, which == 1, self->device));
        SZG_TRY(take_heads(job, order, order->used + which * self->heads, attention));
    }
    add_pairs(job, order, probe, layer);
    count_layer(beside, order, self->heads);
    return SZG_OK;
}

static szg_status begin(const capture_job *job, capture_beside *self) {
    for (int64_t i = 0; i < self->orders; i++)
        SZG_TRY(szgi_network_spectra_begin(job->context, self->order[i].job, self->order[i].used));
    self->step = job->step;
    self->gradient = job->gradient;
    self->options = *job->options;
    self->pending = true;
    return SZG_OK;
}

szg_status szgi_capture_beside_begin(const capture_job *job) {
    szg_status status = begin(job, job->self->beside);
    if (status != SZG_OK)
        (void)!wait(job->context, job->self->beside, NULL);
    return status;
}

bool szgi_capture_beside_pending(const capture_beside *beside) {
    return beside->pending;
}
