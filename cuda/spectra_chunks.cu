#include <stdlib.h>

#include "spectra_chunks.h"

/* Numbers of a chunk at most: a chunk's time is what a cancellation waits for. */
static const int64_t CHUNK_NUMBERS = (int64_t)1 << 27;

static int64_t operand_bytes(int64_t order, int64_t extra_bytes) {
    return (order * order + order + 1) * (int64_t)sizeof(double) + extra_bytes;
}

/* The largest chunk, by halves, that the device has room for. */
static szg_status choose(szg_context *context, session *self, int64_t extra_bytes,
                         batch_chunks *chunks) {
    int64_t available, bytes, n = chunks->order;
    SZG_TRY(memory_free_bytes(context, &available));
    chunks->each = CHUNK_NUMBERS / (n * n);
    chunks->each = chunks->each < 1 ? 1 : chunks->each;
    chunks->each = chunks->each < chunks->count ? chunks->each : chunks->count;
    for (;; chunks->each = (chunks->each + 1) / 2) {
        SZG_TRY(spectra_eigen_batch_bytes(context, self, SCRATCH_SPECTRA, chunks->each, n, &bytes));
        bytes = bytes > self->scratch_of[SCRATCH_SPECTRA].bytes ? bytes : 0;
        bytes += chunks->each * operand_bytes(n, extra_bytes) + 4 * 256;
        if (bytes <= available || chunks->each == 1)
            break;
    }
    const double unit = 1 << 20;
    if (bytes <= available)
        return SZG_OK;
    return fail(context, SZG_EBACKEND,
                "out of memory on %s: one matrix needs %.1f MiB, %.1f of its %.1f MiB are free: "
                "use --backend cpu",
                self->device.name, (double)bytes / unit, (double)available / unit,
                (double)self->device.memory / unit);
}

szg_status batch_chunks_open(szg_context *context, session *self, int64_t count, int64_t order,
                             int64_t extra_bytes, batch_chunks *out, void **extra) {
    const int64_t size = sizeof(double);
    out->count = count;
    out->order = order;
    SZG_TRY(choose(context, self, extra_bytes, out));
    int64_t total = 0, matrices = part(&total, out->each * order * order * size);
    int64_t values = part(&total, out->each * order * size), check = part(&total, out->each * size);
    int64_t others = part(&total, out->each * extra_bytes);
    void *block;
    SZG_TRY(memory_take(context, self, &out->memory, total, "use --backend cpu", &block));
    char *base = static_cast<char *>(block);
    out->matrices = reinterpret_cast<double *>(base + matrices);
    out->values = reinterpret_cast<double *>(base + values);
    out->check = reinterpret_cast<double *>(base + check);
    *extra = base + others;
    out->host_check = static_cast<double *>(malloc(static_cast<size_t>(out->each * size)));
    if (!out->host_check)
        return fail(context, SZG_ENOMEM, "%lld bytes of host memory were refused",
                    (long long)(out->each * size));
    return SZG_OK;
}

void batch_chunks_close(batch_chunks *chunks) {
    memory_release(&chunks->memory);
    free(chunks->host_check);
}

szg_status batch_chunks_run(szg_context *context, session *self, batch_chunks *chunks,
                            chunk_function *run, void *argument) {
    for (int64_t first = 0; first < chunks->count; first += chunks->each) {
        int64_t left = chunks->count - first, count = left < chunks->each ? left : chunks->each;
        SZG_TRY(cuda_host->check_cancel(context));
        SZG_TRY(run(context, self, chunks, argument, first, count));
        SZG_TRY(staging_download(context, self, self->stream, chunks->host_check, 0, chunks->check,
                                 1, count * (int64_t)sizeof(double)));
        for (int64_t i = 0; i < count; i++)
            SZG_TRY(spectra_accept(context, first + i, chunks->order, chunks->host_check[i]));
    }
    return SZG_OK;
}
