/* The checked functions of memory, of recording, of what a model begins and ends with, and of the
 * optimiser. */
#include <math.h>
#include <stddef.h>

#include "network_check.h"

_Static_assert(sizeof(szg_step_block) == 48 && offsetof(szg_step_block, first) == 40,
               "the block is shared with other languages: no gaps");

/* ---- Memory ---- */

szg_status szg_device_alloc(szg_context *context, int64_t bytes, void *out) {
    szg_arguments check = {context, "device alloc", SZG_OK};
    szg_argument_size(&check, "bytes", bytes, 0);
    SZG_NETWORK_CALL(&check, alloc, bytes, (void **)out);
}

void szg_device_free(szg_context *context, void *memory) {
    if (memory && szg_ops_of(context)->network)
        szg_ops_of(context)->network->free(context, memory);
}

static szg_arguments check_transfer(szg_context *context, const char *operation, const void *to,
                                    const void *from, int64_t bytes) {
    szg_arguments check = {context, operation, SZG_OK};
    szg_argument_size(&check, "bytes", bytes, 0);
    if (bytes > 0) {
        szg_argument_array(&check, "target", to);
        szg_argument_array(&check, "source", from);
    }
    return check;
}

szg_status szg_device_upload(szg_context *context, void *to, const void *from, int64_t bytes) {
    szg_arguments check = check_transfer(context, "device upload", to, from, bytes);
    if (bytes == 0)
        return SZG_OK;
    SZG_NETWORK_CALL(&check, upload, to, from, bytes);
}

szg_status szg_device_download(szg_context *context, void *to, const void *from, int64_t bytes) {
    szg_arguments check = check_transfer(context, "device download", to, from, bytes);
    if (bytes == 0)
        return SZG_OK;
    SZG_NETWORK_CALL(&check, download, to, from, bytes);
}

szg_status szg_device_copy(szg_context *context, void *to, const void *from, int64_t bytes) {
    szg_arguments check = check_transfer(context, "device copy", to, from, bytes);
    if (bytes == 0)
        return SZG_OK;
    SZG_NETWORK_CALL(&check, copy, to, from, bytes);
}

szg_status szg_device_clear(szg_context *context, void *memory, int64_t bytes) {
    szg_arguments check = check_transfer(context, "device clear", memory, memory, bytes);
    if (bytes == 0)
        return SZG_OK;
    SZG_NETWORK_CALL(&check, clear, memory, bytes);
}

szg_status szg_device_clear_columns(szg_context *context, void *memory, int64_t rows,
                                    int64_t stride, int64_t bytes) {
    szg_arguments check = {context, "device clear columns", SZG_OK};
    szg_argument_size(&check, "rows", rows, 0);
    szg_argument_size(&check, "bytes", bytes, 0);
    szg_argument_size(&check, "stride", stride, bytes);
    szg_argument_extent(&check, rows, stride, 1);
    if (check.status != SZG_OK || rows == 0 || bytes == 0)
        return check.status;
    szg_argument_array(&check, "memory", memory);
    SZG_NETWORK_CALL(&check, clear_columns, memory, rows, stride, bytes);
}

szg_status szg_device_sync(szg_context *context) {
    szg_arguments check = {context, "device sync", SZG_OK};
    const szg_network_ops *network = szg_network_of(&check);
    if (!network)
        return check.status;
    return network->sync ? network->sync(context) : szg_network_missing(&check);
}

int64_t szg_network_real_size(szg_context *context) {
    const szg_network_ops *network = szg_ops_of(context)->network;
    return network ? network->real_size : (int64_t)sizeof(float);
}

/* ---- Recording ---- */

bool szg_device_records(szg_context *context) {
    const szg_network_ops *network = szg_ops_of(context)->network;
    return network && network->record_begin;
}

szg_status szg_device_record_begin(szg_context *context) {
    szg_arguments check = {context, "device record begin", SZG_OK};
    const szg_network_ops *network = szg_network_of(&check);
    if (!network)
        return check.status;
    return network->record_begin ? network->record_begin(context) : szg_network_missing(&check);
}

szg_status szg_device_record_end(szg_context *context, void **recording) {
    szg_arguments check = {context, "device record end", SZG_OK};
    if (recording)
        *recording = NULL;
    SZG_NETWORK_CALL(&check, record_end, recording);
}

szg_status szg_device_replay(szg_context *context, void *recording) {
    szg_arguments check = {context, "device replay", SZG_OK};
    szg_argument_array(&check, "recording", recording);
    SZG_NETWORK_CALL(&check, replay, recording);
}

void szg_device_recording_close(szg_context *context, void *recording) {
    if (recording && szg_device_records(context))
        szg_ops_of(context)->network->recording_close(context, recording);
}

/* ---- The device's clock ---- */

szg_status szg_device_mark(szg_context *context, int64_t which) {
    szg_arguments check = {context, "device mark", SZG_OK};
    szg_argument_range(&check, "which", which, 0, SZG_DEVICE_MARKS - 1);
    SZG_NETWORK_CALL(&check, mark, which);
}

szg_status szg_device_elapsed(szg_context *context, int64_t from, int64_t to, double *seconds) {
    szg_arguments check = {context, "device elapsed", SZG_OK};
    szg_argument_range(&check, "from", from, 0, SZG_DEVICE_MARKS - 1);
    szg_argument_range(&check, "to", to, 0, SZG_DEVICE_MARKS - 1);
    SZG_NETWORK_CALL(&check, elapsed, from, to, seconds);
}

/* ---- Both ends ---- */

szg_status szg_network_gather(szg_context *context, const szg_gather *gather) {
    szg_arguments check = {context, "gather", SZG_OK};
    szg_argument_size(&check, "count", gather->count, 0);
    szg_argument_size(&check, "length", gather->length, 0);
    szg_argument_size(&check, "examples", gather->examples, gather->count);
    szg_argument_extent(&check, gather->count, gather->length, sizeof(int32_t));
    if (!gather->block)
        szg_argument_range(&check, "first", gather->first, 0, gather->examples - gather->count);
    if (check.status != SZG_OK || gather->count == 0)
        return check.status;
    szg_argument_array(&check, "start", gather->start);
    szg_argument_array(&check, "words", gather->words);
    szg_argument_array(&check, "tokens", gather->tokens);
    szg_argument_array(&check, "lengths", gather->lengths);
    if (gather->classes)
        szg_argument_array(&check, "labels", gather->labels);
    SZG_NETWORK_CALL(&check, gather, gather);
}

static szg_arguments check_embedding(szg_context *context, const char *operation,
                                     const szg_embedding *embedding) {
    szg_arguments check = {context, operation, SZG_OK};
    szg_argument_size(&check, "batch", embedding->batch, 0);
    szg_argument_size(&check, "length", embedding->length, 0);
    szg_argument_size(&check, "vocabulary", embedding->vocabulary, 1);
    szg_argument_size(&check, "width", embedding->width, 0);
    szg_argument_extent(&check, embedding->batch, embedding->length, embedding->width);
    szg_argument_extent(&check, embedding->vocabulary, embedding->width, 1);
    return check;
}

static bool embedding_is_empty(const szg_embedding *embedding) {
    return embedding->batch == 0 || embedding->length == 0 || embedding->width == 0;
}

szg_status szg_network_embedding(szg_context *context, const szg_embedding *embedding) {
    szg_arguments check = check_embedding(context, "embedding", embedding);
    if (check.status != SZG_OK || embedding_is_empty(embedding))
        return check.status;
    szg_argument_array(&check, "tokens", embedding->tokens);
    szg_argument_array(&check, "table", embedding->table);
    szg_argument_array(&check, "out", embedding->out);
    SZG_NETWORK_CALL(&check, embedding, embedding);
}

szg_status szg_network_embedding_backward(szg_context *context, const szg_embedding *embedding,
                                          const void *dout, void *dtable, void *dtrained) {
    szg_arguments check = check_embedding(context, "embedding backward", embedding);
    if (check.status != SZG_OK || embedding_is_empty(embedding))
        return check.status;
    szg_argument_array(&check, "tokens", embedding->tokens);
    szg_argument_array(&check, "dout", dout);
    SZG_NETWORK_CALL(&check, embedding_backward, embedding, dout, dtable, dtrained);
}

static szg_arguments check_pooling(szg_context *context, const char *operation,
                                   const szg_pooling *pooling, const void *from, const void *to) {
    szg_arguments check = {context, operation, SZG_OK};
    szg_argument_size(&check, "batch", pooling->batch, 0);
    szg_argument_size(&check, "length", pooling->length, 1);
    szg_argument_size(&check, "width", pooling->width, 0);
    szg_argument_extent(&check, pooling->batch, pooling->length, pooling->width);
    if (pooling->batch > 0 && pooling->width > 0) {
        szg_argument_array(&check, "source", from);
        szg_argument_array(&check, "target", to);
    }
    return check;
}

szg_status szg_network_pooling(szg_context *context, const szg_pooling *pooling, const void *x,
                               void *y) {
    szg_arguments check = check_pooling(context, "pooling", pooling, x, y);
    if (check.status != SZG_OK || pooling->batch == 0 || pooling->width == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, pooling, pooling, x, y);
}

szg_status szg_network_pooling_backward(szg_context *context, const szg_pooling *pooling,
                                        const void *dy, void *dx) {
    szg_arguments check = check_pooling(context, "pooling backward", pooling, dy, dx);
    if (check.status != SZG_OK || pooling->batch == 0 || pooling->width == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, pooling_backward, pooling, dy, dx);
}

szg_status szg_network_cross_entropy(szg_context *context, const szg_cross_entropy *entropy) {
    szg_arguments check = {context, "cross-entropy", SZG_OK};
    szg_argument_size(&check, "batch", entropy->batch, 0);
    szg_argument_size(&check, "classes", entropy->classes, 1);
    szg_argument_extent(&check, entropy->batch, entropy->classes, 1);
    if (check.status != SZG_OK || entropy->batch == 0)
        return check.status;
    szg_argument_array(&check, "logits", entropy->logits);
    szg_argument_array(&check, "labels", entropy->labels);
    szg_argument_array(&check, "tally", entropy->tally);
    SZG_NETWORK_CALL(&check, cross_entropy, entropy);
}

/* ---- The optimiser ---- */

szg_status szg_network_advance(szg_context *context, const szg_step_block *blocks, int64_t count,
                               szg_step_block *block, int64_t *at) {
    szg_arguments check = {context, "advance", SZG_OK};
    szg_argument_size(&check, "count", count, 0);
    if (check.status != SZG_OK || count == 0)
        return check.status;
    szg_argument_array(&check, "blocks", blocks);
    szg_argument_array(&check, "block", block);
    szg_argument_array(&check, "at", at);
    SZG_NETWORK_CALL(&check, advance, blocks, count, block, at);
}

szg_status szg_network_finite(szg_context *context, int64_t count, const void *x,
                              szg_step_block *block) {
    szg_arguments check = {context, "finite", SZG_OK};
    szg_argument_size(&check, "count", count, 0);
    if (check.status != SZG_OK || count == 0)
        return check.status;
    szg_argument_array(&check, "x", x);
    szg_argument_array(&check, "block", block);
    SZG_NETWORK_CALL(&check, finite, count, x, block);
}

szg_status szg_network_adamw(szg_context *context, const szg_adamw *adamw) {
    szg_arguments check = {context, "adamw", SZG_OK};
    szg_argument_size(&check, "count", adamw->count, 0);
    szg_argument_number(&check, "beta1", adamw->beta1, 0, 1);
    szg_argument_number(&check, "beta2", adamw->beta2, 0, 1);
    szg_argument_number(&check, "eps", adamw->eps, 0, INFINITY);
    szg_argument_number(&check, "decay", adamw->decay, 0, INFINITY);
    if (check.status != SZG_OK || adamw->count == 0)
        return check.status;
    szg_argument_array(&check, "block", adamw->block);
    szg_argument_array(&check, "gradient", adamw->gradient);
    szg_argument_array(&check, "weight", adamw->weight);
    szg_argument_array(&check, "moment1", adamw->moment1);
    szg_argument_array(&check, "moment2", adamw->moment2);
    SZG_NETWORK_CALL(&check, adamw, adamw);
}
