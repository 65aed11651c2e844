#include <string.h>

#include <szego/memory.h>
#include <szego/pool.h>
#include "network_memory.h"

/* Blocks of a copy or of zeros that go to the pool; smaller jobs stay on the caller's thread. */
enum { CHUNK = 1 << 20 };

szg_status szg_host_alloc(szg_context *context, int64_t bytes, void **out) {
    return szg_memory_alloc(context, bytes, 1, out);
}

void szg_host_free(szg_context *context, void *memory) {
    (void)context;
    szg_memory_free(memory);
}

typedef struct transfer {
    char *to;
    const char *from; /* NULL: zeros */
    int64_t bytes;
} transfer;

static szg_status move_chunk(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const transfer *job = argument;
    int64_t first = block * CHUNK, left = job->bytes - first;
    size_t count = (size_t)(left < CHUNK ? left : CHUNK);
    if (job->from)
        memcpy(job->to + first, job->from + first, count);
    else
        memset(job->to + first, 0, count);
    return SZG_OK;
}

static szg_status move(szg_context *context, void *to, const void *from, int64_t bytes) {
    transfer job = {to, from, bytes};
    return szg_pool_run(context, (bytes + CHUNK - 1) / CHUNK, move_chunk, &job);
}

szg_status szg_host_copy(szg_context *context, void *to, const void *from, int64_t bytes) {
    return move(context, to, from, bytes);
}

szg_status szg_host_clear(szg_context *context, void *memory, int64_t bytes) {
    return move(context, memory, NULL, bytes);
}

szg_status szg_host_sync(szg_context *context) {
    (void)context;
    return SZG_OK;
}
