/* How the layers of the cpu table split their work, and where they keep what lives for one call. */
#ifndef SZG_NETWORK_CPU_WORK_H
#define SZG_NETWORK_CPU_WORK_H

#include "base/pool.h"

/* Items (rows, numbers) in slices of a fixed size: slice b holds items first .. first + count - 1.
 * Sizes follow from the shape alone, so that results do not depend on the number of threads. */
typedef struct szgi_cpu_split {
    int64_t items, size, slices;
} szgi_cpu_split;

/* Slices of `most` items. Jobs of less than some 20 microseconds, at `cost` nanoseconds an item on
 * one thread, are one slice: the pool's wake-up would cost more than it brings. */
szgi_cpu_split szgi_cpu_split_of(int64_t items, int64_t most, double cost);

static inline int64_t szgi_cpu_split_first(const szgi_cpu_split *split, int64_t slice) {
    return slice * split->size;
}

static inline int64_t szgi_cpu_split_count(const szgi_cpu_split *split, int64_t slice) {
    int64_t left = split->items - slice * split->size;
    return left < split->size ? left : split->size;
}

/* `count` elements of `size` bytes, 64-byte aligned, not zeroed, that belong to the calling thread
 * until its next call of this function: kept between calls, freed when the thread ends. SZG_ENOMEM.
 * For the functions of the table, on the thread that calls them; blocks of the pool must not use
 * it, for they may run on that same thread. */
SZG_CHECK_RESULT szg_status szgi_cpu_work(szg_context *context, int64_t count, size_t size,
                                          void *out);

#endif
