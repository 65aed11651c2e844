#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "dump_write.h"

szg_status szgi_dump_writer_open(szg_context *context, int64_t capacity, szgi_dump_writer *out) {
    *out = (szgi_dump_writer){.capacity = capacity};
    SZG_TRY(szgi_memory_alloc(context, capacity, &out->tensor));
    SZG_TRY(szgi_memory_alloc(context, capacity, &out->name));
    SZG_TRY(szgi_memory_alloc(context, capacity, &out->shape));
    return szgi_memory_alloc(context, capacity, &out->data);
}

void szgi_dump_writer_clear(szgi_dump_writer *dump) {
    for (int64_t i = 0; i < dump->count; i++)
        szgi_memory_free(dump->data[i]);
    dump->count = 0;
}

void szgi_dump_writer_close(szgi_dump_writer *dump) {
    szgi_dump_writer_clear(dump);
    szgi_memory_free(dump->tensor);
    szgi_memory_free(dump->name);
    szgi_memory_free(dump->shape);
    szgi_memory_free(dump->data);
    *dump = (szgi_dump_writer){0};
}

/* Room for `count` numbers of a new tensor. */
static szg_status open_tensor(szg_context *context, szgi_dump_writer *dump,
                              const szg_contraction_labels *labels, const char *word, int64_t count,
                              int64_t real) {
    int64_t at = dump->count;
    if (at == dump->capacity)
        return szgi_fail(context, SZG_EINTERNAL, "a dump of more than %" PRId64 " tensors", at);
    SZG_TRY(szgi_memory_take(context, count, (size_t)real, &dump->data[at]));
    snprintf(dump->name[at], sizeof dump->name[at],
             "layers.%" PRId64 ".heads.%" PRId64 ".probes.%s.%s", labels->layer, labels->head,
             labels->probe, word);
    dump->tensor[at] = (szgi_tensor){.name = dump->name[at],
                                     .dtype = real == 4 ? SZGI_DTYPE_F32 : SZGI_DTYPE_F64,
                                     .shape = dump->shape[at],
                                     .data = dump->data[at]};
    dump->count++;
    return SZG_OK;
}

static szg_status add_matrix(szg_context *context, szgi_dump_writer *dump,
                             const szg_contraction_labels *labels, const char *word,
                             const szg_matrix *matrix, int64_t real) {
    int64_t n = matrix->rows, at = dump->count;
    const double *from = matrix->of.dense.a;
    SZG_TRY(open_tensor(context, dump, labels, word, n * n, real));
    dump->tensor[at].dims = 2;
    dump->shape[at][0] = dump->shape[at][1] = n;
    float *single = dump->data[at];
    if (real == 8)
        memcpy(dump->data[at], from, (size_t)(n * n) * sizeof *from);
    else
        for (int64_t i = 0; i < n * n; i++)
            single[i] = (float)from[i];
    return SZG_OK;
}

static szg_status add_number(szg_context *context, szgi_dump_writer *dump,
                             const szg_contraction_labels *labels, const char *word,
                             double number) {
    SZG_TRY(open_tensor(context, dump, labels, word, 1, 8));
    *(double *)dump->data[dump->count - 1] = number;
    return SZG_OK;
}

szg_status szgi_dump_writer_add(szg_context *context, szgi_dump_writer *dump,
                                const szgi_contraction_pair *pair, int64_t real) {
    SZG_TRY(add_matrix(context, dump, &pair->labels, "content", &pair->content, real));
    SZG_TRY(add_matrix(context, dump, &pair->labels, "coupled", &pair->coupled, real));
    if (isnan(pair->labels.grad_norm))
        return SZG_OK;
    SZG_TRY(add_number(context, dump, &pair->labels, "grad_norm", pair->labels.grad_norm));
    if (isnan(pair->labels.grad_norm_qk))
        return SZG_OK;
    return add_number(context, dump, &pair->labels, "grad_norm_qk", pair->labels.grad_norm_qk);
}

szg_status szgi_dump_writer_write(szg_context *context, const szgi_dump_writer *dump,
                                  const char *folder, int64_t step,
                                  const szg_contraction_labels *labels) {
    char number[24], *path;
    const char *metadata[8] = {"source", labels->source, "content_kind", labels->content_kind};
    int64_t pairs = 2;
    size_t size = strlen(folder) + 48;
    SZG_TRY(szgi_folder_create(context, folder));
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, &path));
    snprintf(number, sizeof number, "%" PRId64, step);
    snprintf(path, size, step >= 0 ? "%s/step-%s.safetensors" : "%s/logits.safetensors", folder,
             number);
    if (labels->pairing) {
        metadata[2 * pairs] = "pairing";
        metadata[2 * pairs++ + 1] = labels->pairing;
    }
    if (step >= 0) {
        metadata[2 * pairs] = "step";
        metadata[2 * pairs++ + 1] = number;
    }
    szg_status status =
        szgi_safetensors_write(context, path, dump->tensor, dump->count, metadata, pairs);
    szgi_memory_free(path);
    return status;
}
