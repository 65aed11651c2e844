/* The checked functions of memory and of recording; the arguments of what a model begins and ends
 * with, and of the optimiser. */
#include <math.h>
#include <stddef.h>

#include "check.h"

_Static_assert(sizeof(szgi_step_block) == 48 && offsetof(szgi_step_block, first) == 40,
               "the block is shared with other languages: no gaps");

/* ---- Memory ---- */

szg_status szgi_device_alloc(szg_context *context, int64_t bytes, void *out) {
    szgi_arguments check = {context, "device alloc", SZG_OK};
    szgi_argument_size(&check, "bytes", bytes, 0);
    SZGI_NETWORK_CALL(&check, alloc, bytes, (void **)out);
}

void szgi_device_free(szg_context *context, void *memory) {
    if (memory && szgi_network_table(context))
        szgi_network_table(context)->free(context, memory);
}

static szgi_arguments check_transfer(szg_context *context, const char *operation, const void *to,
                                     const void *from, int64_t bytes) {
    szgi_arguments check = {context, operation, SZG_OK};
    szgi_argument_size(&check, "bytes", bytes, 0);
    if (bytes > 0) {
        szgi_argument_array(&check, "target", to);
        szgi_argument_array(&check, "source", from);
    }
    return check;
}

szg_status szgi_device_upload(szg_context *context, void *to, const void *from, int64_t bytes) {
    szgi_arguments check = check_transfer(context, "device upload", to, from, bytes);
    if (bytes == 0)
        return SZG_OK;
    SZGI_NETWORK_CALL(&check, upload, to, from, bytes);
}

szg_status szgi_device_download(szg_context *context, void *to, const void *from, int64_t bytes) {
    szgi_arguments check = check_transfer(context, "device download", to, from, bytes);
    if (bytes == 0)
        return SZG_OK;
    SZGI_NETWORK_CALL(&check, download, to, from, bytes);
}

szg_status szgi_device_copy(szg_context *context, void *to, const void *from, int64_t bytes) {
    szgi_arguments check = check_transfer(context, "device copy", to, from, bytes);
    if (bytes == 0)
        return SZG_OK;
    SZGI_NETWORK_CALL(&check, copy, to, from, bytes);
}

szg_status szgi_device_clear(szg_context *context, void *memory, int64_t bytes) {
    szgi_arguments check = check_transfer(context, "device clear", memory, memory, bytes);
    if (bytes == 0)
        return SZG_OK;
    SZGI_NETWORK_CALL(&check, clear, memory, bytes);
}

szg_status szgi_device_clear_columns(szg_context *context, void *memory, int64_t rows,
                                     int64_t stride, int64_t bytes) {
    szgi_arguments check = {context, "device clear columns", SZG_OK};
    szgi_argument_size(&check, "rows", rows, 0);
    szgi_argument_size(&check, "bytes", bytes, 0);
    szgi_argument_size(&check, "stride", stride, bytes);
    szgi_argument_extent(&check, rows, stride, 1);
    if (check.status != SZG_OK || rows == 0 || bytes == 0)
        return check.status;
    szgi_argument_array(&check, "memory", memory);
    SZGI_NETWORK_CALL(&check, clear_columns, memory, rows, stride, bytes);
}

szg_status szgi_device_sync(szg_context *context) {
    szgi_arguments check = {context, "device sync", SZG_OK};
    const szgi_network_ops *network = szgi_network_of(&check);
    if (!network)
        return check.status;
    return network->sync ? network->sync(context) : szgi_network_missing(&check);
}

int64_t szgi_network_real_size(szg_context *context) {
    const szgi_network_ops *network = szgi_network_table(context);
    return network ? network->real_size : (int64_t)sizeof(float);
}

/* ---- Recording ---- */

bool szgi_device_records(szg_context *context) {
    const szgi_network_ops *network = szgi_network_table(context);
    return network && network->record_begin;
}

szg_status szgi_device_record_begin(szg_context *context) {
    szgi_arguments check = {context, "device record begin", SZG_OK};
    const szgi_network_ops *network = szgi_network_of(&check);
    if (!network)
        return check.status;
    return network->record_begin ? network->record_begin(context) : szgi_network_missing(&check);
}

szg_status szgi_device_record_end(szg_context *context, void **recording) {
    szgi_arguments check = {context, "device record end", SZG_OK};
    if (recording)
        *recording = NULL;
    SZGI_NETWORK_CALL(&check, record_end, recording);
}

szg_status szgi_device_replay(szg_context *context, void *recording) {
    szgi_arguments check = {context, "device replay", SZG_OK};
    szgi_argument_array(&check, "recording", recording);
    SZGI_NETWORK_CALL(&check, replay, recording);
}

void szgi_device_recording_close(szg_context *context, void *recording) {
    if (recording && szgi_device_records(context))
        szgi_network_table(context)->recording_close(context, recording);
}

/* ---- The device's clock ---- */

szg_status szgi_device_mark(szg_context *context, int64_t which) {
    szgi_arguments check = {context, "device mark", SZG_OK};
    szgi_argument_range(&check, "which", which, 0, SZGI_DEVICE_MARKS - 1);
    SZGI_NETWORK_CALL(&check, mark, which);
}

szg_status szgi_device_elapsed(szg_context *context, int64_t from, int64_t to, double *seconds) {
    szgi_arguments check = {context, "device elapsed", SZG_OK};
    szgi_argument_range(&check, "from", from, 0, SZGI_DEVICE_MARKS - 1);
    szgi_argument_range(&check, "to", to, 0, SZGI_DEVICE_MARKS - 1);
    SZGI_NETWORK_CALL(&check, elapsed, from, to, seconds);
}

/* ---- Both ends ---- */

bool szgi_check_gather(szgi_arguments *check, const szgi_gather *gather) {
    szgi_argument_size(check, "count", gather->count, 0);
    szgi_argument_size(check, "length", gather->length, 0);
    szgi_argument_size(check, "examples", gather->examples, gather->count);
    szgi_argument_extent(check, gather->count, gather->length, sizeof(int32_t));
    if (!gather->block)
        szgi_argument_range(check, "first", gather->first, 0, gather->examples - gather->count);
    if (check->status != SZG_OK || gather->count == 0)
        return false;
    szgi_argument_array(check, "start", gather->start);
    szgi_argument_array(check, "words", gather->words);
    szgi_argument_array(check, "tokens", gather->tokens);
    szgi_argument_array(check, "lengths", gather->lengths);
    if (gather->classes)
        szgi_argument_array(check, "labels", gather->labels);
    return check->status == SZG_OK;
}

/* The sizes and the tokens. */
static bool check_embedding(szgi_arguments *check, const szgi_embedding *embedding) {
    szgi_argument_size(check, "batch", embedding->batch, 0);
    szgi_argument_size(check, "length", embedding->length, 0);
    szgi_argument_size(check, "vocabulary", embedding->vocabulary, 1);
    szgi_argument_size(check, "width", embedding->width, 0);
    szgi_argument_extent(check, embedding->batch, embedding->length, embedding->width);
    szgi_argument_extent(check, embedding->vocabulary, embedding->width, 1);
    bool empty = embedding->batch == 0 || embedding->length == 0 || embedding->width == 0;
    if (check->status != SZG_OK || empty)
        return false;
    szgi_argument_array(check, "tokens", embedding->tokens);
    return check->status == SZG_OK;
}

bool szgi_check_embedding(szgi_arguments *check, const szgi_embedding *embedding) {
    if (!check_embedding(check, embedding))
        return false;
    szgi_argument_array(check, "table", embedding->table);
    szgi_argument_array(check, "out", embedding->out);
    return check->status == SZG_OK;
}

bool szgi_check_embedding_backward(szgi_arguments *check, const szgi_embedding *embedding,
                                   const void *dout, void *dtable, void *dtrained) {
    (void)dtable, (void)dtrained;
    if (!check_embedding(check, embedding))
        return false;
    szgi_argument_array(check, "dout", dout);
    return check->status == SZG_OK;
}

static bool check_pooling(szgi_arguments *check, const szgi_pooling *pooling, const void *from,
                          const void *to) {
    szgi_argument_size(check, "batch", pooling->batch, 0);
    szgi_argument_size(check, "length", pooling->length, 1);
    szgi_argument_size(check, "width", pooling->width, 0);
    szgi_argument_extent(check, pooling->batch, pooling->length, pooling->width);
    if (check->status != SZG_OK || pooling->batch == 0 || pooling->width == 0)
        return false;
    szgi_argument_array(check, "source", from);
    szgi_argument_array(check, "target", to);
    return check->status == SZG_OK;
}

bool szgi_check_pooling(szgi_arguments *check, const szgi_pooling *pooling, const void *x,
                        void *y) {
    return check_pooling(check, pooling, x, y);
}

bool szgi_check_pooling_backward(szgi_arguments *check, const szgi_pooling *pooling, const void *dy,
                                 void *dx) {
    return check_pooling(check, pooling, dy, dx);
}

bool szgi_check_cross_entropy(szgi_arguments *check, const szgi_cross_entropy *entropy) {
    szgi_argument_size(check, "batch", entropy->batch, 0);
    szgi_argument_size(check, "classes", entropy->classes, 1);
    szgi_argument_extent(check, entropy->batch, entropy->classes, 1);
    if (check->status != SZG_OK || entropy->batch == 0)
        return false;
    szgi_argument_array(check, "logits", entropy->logits);
    szgi_argument_array(check, "labels", entropy->labels);
    szgi_argument_array(check, "tally", entropy->tally);
    return check->status == SZG_OK;
}

/* ---- The optimiser ---- */

bool szgi_check_advance(szgi_arguments *check, const szgi_step_block *blocks, int64_t count,
                        szgi_step_block *block, int64_t *at) {
    szgi_argument_size(check, "count", count, 0);
    if (check->status != SZG_OK || count == 0)
        return false;
    szgi_argument_array(check, "blocks", blocks);
    szgi_argument_array(check, "block", block);
    szgi_argument_array(check, "at", at);
    return check->status == SZG_OK;
}

bool szgi_check_finite(szgi_arguments *check, int64_t count, const void *x,
                       szgi_step_block *block) {
    szgi_argument_size(check, "count", count, 0);
    if (check->status != SZG_OK || count == 0)
        return false;
    szgi_argument_array(check, "x", x);
    szgi_argument_array(check, "block", block);
    return check->status == SZG_OK;
}

bool szgi_check_adamw(szgi_arguments *check, const szgi_adamw *adamw) {
    szgi_argument_size(check, "count", adamw->count, 0);
    szgi_argument_number(check, "beta1", adamw->beta1, 0, 1);
    szgi_argument_number(check, "beta2", adamw->beta2, 0, 1);
    szgi_argument_number(check, "eps", adamw->eps, 0, INFINITY);
    szgi_argument_number(check, "decay", adamw->decay, 0, INFINITY);
    if (check->status != SZG_OK || adamw->count == 0)
        return false;
    szgi_argument_array(check, "block", adamw->block);
    szgi_argument_array(check, "gradient", adamw->gradient);
    szgi_argument_array(check, "weight", adamw->weight);
    szgi_argument_array(check, "moment1", adamw->moment1);
    szgi_argument_array(check, "moment2", adamw->moment2);
    return check->status == SZG_OK;
}
