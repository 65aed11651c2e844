#include "staging.h"

#include <stdlib.h>
#include <string.h>

/* Where page-locked memory was refused there are no buffers, and arrays are copied as they are. */
struct staging {
    char *memory; /* STAGING_BUFFERS buffers; NULL: refused */
    cudaEvent_t used[STAGING_BUFFERS];
    int turn;
};

/* Rows of the host's array, and the bytes of them, gaps left out, that a buffer holds. */
typedef struct host_rows {
    char *at;
    int64_t step, bytes;
} host_rows;

/* ---- Opening ---- */

/* Slower, not wrong: said once a session. */
static szg_status take_pinned(szg_context *context, staging *staging) {
    void *memory = NULL;
    size_t bytes = size_t{STAGING_BUFFERS} * STAGING_BYTES;
    cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
    if (error == cudaErrorMemoryAllocation || error == cudaErrorNotSupported ||
        error == cudaErrorOperatingSystem) {
        cudaGetLastError();
        cuda_host->say(context, SZG_WARNING,
                       "backend cuda: 16 MiB of page-locked memory were refused: transfers take "
                       "the host's pageable memory, which is slower and waits for the device; "
                       "free memory of the host, or raise the limit of locked memory (ulimit -l)");
        return SZG_OK;
    }
    if (error != cudaSuccess)
        return cuda_failed(context, error, "cudaHostAlloc");
    staging->memory = static_cast<char *>(memory);
    for (cudaEvent_t &used : staging->used)
        TRY_CUDA(context, cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
    return SZG_OK;
}

static void close(staging *staging) {
    for (cudaEvent_t used : staging->used)
        if (used)
            cudaEventDestroy(used);
    if (staging->memory)
        cudaFreeHost(staging->memory);
    free(staging);
}

static szg_status open(szg_context *context, session *self) {
    if (self->recording)
        return fail(context, SZG_EBACKEND, "not while a step is recorded");
    if (self->staging)
        return SZG_OK;
    staging *opened = static_cast<staging *>(calloc(1, sizeof *opened));
    if (!opened)
        return fail(context, SZG_ENOMEM, "%zu bytes of host memory were refused", sizeof *opened);
    szg_status status = take_pinned(context, opened);
    if (status == SZG_OK)
        self->staging = opened;
    else
        close(opened);
    return status;
}

void staging_close(session *self) {
    if (self->staging)
        close(self->staging);
    self->staging = NULL;
}

/* ---- Pageable memory ---- */

/* CUDA's limit for the distance of rows. */
static const int64_t PITCH_MAX = INT32_MAX;

static szg_status copy_rows(szg_context *context, cudaStream_t stream, char *to, int64_t to_step,
                            const char *from, int64_t from_step, int64_t rows, int64_t bytes,
                            cudaMemcpyKind kind) {
    size_t width = static_cast<size_t>(bytes), height = static_cast<size_t>(rows);
    if (rows == 1 || to_step == from_step)
        TRY_CUDA(context, cudaMemcpyAsync(to, from, width * height, kind, stream));
    else if (to_step <= PITCH_MAX && from_step <= PITCH_MAX)
        TRY_CUDA(context,
                 cudaMemcpy2DAsync(to, static_cast<size_t>(to_step), from,
                                   static_cast<size_t>(from_step), width, height, kind, stream));
    else
        for (int64_t i = 0; i < rows; i++)
            TRY_CUDA(context,
                     cudaMemcpyAsync(to + i * to_step, from + i * from_step, width, kind, stream));
    TRY_CUDA(context, cudaStreamSynchronize(stream));
    return SZG_OK;
}

/* ---- Buffers ---- */

typedef enum copy_direction { INTO_BUFFER, OUT_OF_BUFFER } copy_direction;

/* Between a buffer and bytes first .. first + count - 1 of the rows. */
static void copy_between(char *buffer, const host_rows *host, int64_t first, int64_t count,
                         copy_direction direction) {
    while (count > 0) {
        int64_t at = first % host->bytes, left = host->bytes - at;
        bool whole = host->step == host->bytes; /* no gaps: one row */
        int64_t now = whole || count < left ? count : left;
        char *array = host->at + first / host->bytes * host->step + at;
        if (direction == INTO_BUFFER)
            memcpy(buffer, array, static_cast<size_t>(now));
        else
            memcpy(array, buffer, static_cast<size_t>(now));
        buffer += now, first += now, count -= now;
    }
}

static char *buffer_at(const staging *staging, int buffer) {
    return staging->memory + static_cast<int64_t>(buffer) * STAGING_BYTES;
}

/* The next buffer, when the device is done with it. */
static szg_status take_buffer(szg_context *context, staging *staging, int *out) {
    *out = staging->turn;
    TRY_CUDA(context, cudaEventSynchronize(staging->used[*out]));
    staging->turn = (staging->turn + 1) % STAGING_BUFFERS;
    return SZG_OK;
}

/* A buffer that no event guards must not be in use. */
static szg_status queue_copy(szg_context *context, staging *staging, int buffer, void *to,
                             const void *from, int64_t bytes, cudaMemcpyKind kind,
                             cudaStream_t stream) {
    TRY_CUDA(context, cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, stream));
    cudaError_t error = cudaEventRecord(staging->used[buffer], stream);
    if (error == cudaSuccess)
        return SZG_OK;
    cudaStreamSynchronize(stream);
    return cuda_failed(context, error, "cudaEventRecord");
}

static int64_t part_of(int64_t total, int64_t first) {
    return total - first < STAGING_BYTES ? total - first : int64_t{STAGING_BYTES};
}

szg_status staging_upload(szg_context *context, session *self, cudaStream_t stream, void *to,
                          const void *from, int64_t step, int64_t rows, int64_t bytes) {
    SZG_TRY(open(context, self));
    staging *staging = self->staging;
    char *target = static_cast<char *>(to);
    host_rows host = {
        .at = static_cast<char *>(const_cast<void *>(from)), .step = step, .bytes = bytes};
    int64_t total = rows * bytes, count;
    if (!staging->memory)
        return copy_rows(context, stream, target, bytes, host.at, step, rows, bytes,
                         cudaMemcpyHostToDevice);
    for (int64_t first = 0; first < total; first += count) {
        int buffer;
        count = part_of(total, first);
        SZG_TRY(take_buffer(context, staging, &buffer));
        copy_between(buffer_at(staging, buffer), &host, first, count, INTO_BUFFER);
        SZG_TRY(queue_copy(context, staging, buffer, target + first, buffer_at(staging, buffer),
                           count, cudaMemcpyHostToDevice, stream));
    }
    return SZG_OK;
}

/* As many parts under way as there are buffers; the oldest is copied out first. */
szg_status staging_download(szg_context *context, session *self, cudaStream_t stream, void *to,
                            int64_t step, const void *from, int64_t rows, int64_t bytes) {
    SZG_TRY(open(context, self));
    staging *staging = self->staging;
    const char *source = static_cast<const char *>(from);
    host_rows host = {.at = static_cast<char *>(to), .step = step, .bytes = bytes};
    int64_t total = rows * bytes, queued = 0;
    if (!staging->memory)
        return copy_rows(context, stream, host.at, step, source, bytes, rows, bytes,
                         cudaMemcpyDeviceToHost);
    int oldest = staging->turn, buffer;
    for (int64_t done = 0; done < total; done += part_of(total, done)) {
        for (; queued < total && queued - done < int64_t{STAGING_BUFFERS} * STAGING_BYTES;
             queued += part_of(total, queued)) {
            SZG_TRY(take_buffer(context, staging, &buffer));
            SZG_TRY(queue_copy(context, staging, buffer, buffer_at(staging, buffer),
                               source + queued, part_of(total, queued), cudaMemcpyDeviceToHost,
                               stream));
        }
        TRY_CUDA(context, cudaEventSynchronize(staging->used[oldest]));
        copy_between(buffer_at(staging, oldest), &host, done, part_of(total, done), OUT_OF_BUFFER);
        oldest = (oldest + 1) % STAGING_BUFFERS;
    }
    return SZG_OK;
}
