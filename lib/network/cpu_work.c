#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "cpu_work.h"

static const double SMALL_JOB = 20e3; /* nanoseconds */

szgi_cpu_split szgi_cpu_split_of(int64_t items, int64_t most, double cost) {
    szgi_cpu_split split = {.items = items, .size = most};
    if ((double)items * cost < SMALL_JOB || items < most)
        split.size = items > 0 ? items : 1;
    split.slices = (items + split.size - 1) / split.size;
    return split;
}

/* The thread's block; the key only serves to free it when the thread ends. */
typedef struct work_block {
    void *memory;
    int64_t bytes;
} work_block;
static _Thread_local work_block block;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void release(void *argument) {
    (void)argument;
    szgi_memory_free(block.memory);
    block = (work_block){0};
}

static void make_key(void) {
    pthread_key_create(&key, release);
}

szg_status szgi_cpu_work(szg_context *context, int64_t count, size_t size, void *out) {
    int64_t bytes;
    SZG_TRY(szgi_memory_product(context, count, (int64_t)size, &bytes));
    if (bytes > block.bytes) {
        pthread_once(&once, make_key);
        void *memory;
        SZG_TRY(szgi_memory_take(context, bytes, 1, &memory));
        szgi_memory_free(block.memory);
        block = (work_block){memory, bytes};
        pthread_setspecific(key, &block);
    }
    memcpy(out, &block.memory, sizeof block.memory);
    return SZG_OK;
}
