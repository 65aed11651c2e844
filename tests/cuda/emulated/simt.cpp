#include "simt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "count.h"
#include "shared_memory.h"
#include "simt_block.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulated {

Block block;

namespace {

Fiber host; /* the caller of simt_run */

/* All fibers that were ever needed, and those without a thread. */
struct Pool {
    Fiber fibers[most_threads];
    Fiber *idle[most_threads];
    int made = 0, idle_count = 0;
    ~Pool() {
        for (int i = 0; i < made; i++)
            fiber_release(&fibers[i]);
    }
} pool;

void become(Thread *thread) {
    block.current = thread;
    threadIdx = thread->index;
}

void print_failure(const char *why, const char *waits_at, Place place) {
    Dl_info info;
    const char *name = "";
    if (dladdr(const_cast<void *>(block.launch.kernel), &info) && info.dli_sname)
        name = info.dli_sname;
    fprintf(stderr,
            "emulated GPU: %s(%p) block (%u, %u, %u) thread (%u, %u, %u): %s%s in %s (%s:%d); "
            "%d threads live, %d at the barrier\n",
            name, block.launch.kernel, blockIdx.x, blockIdx.y, blockIdx.z, block.current->index.x,
            block.current->index.y, block.current->index.z, why, waits_at, place.function,
            place.file, place.line, block.live, block.waiting_count);
}

[[noreturn]] void leave_failed(Fiber *self) {
    block.failed = true;
    fiber_switch(self, &host);
    __builtin_unreachable();
}

/* Nothing can go on: names a thread that waits. */
[[noreturn]] void leave_deadlocked(Fiber *self) {
    for (int i = 0; i < block.count; i++) {
        Thread *thread = &block.threads[i];
        if (thread->waits_at) {
            become(thread);
            print_failure("nobody comes to the ", thread->waits_at, thread->place);
            break;
        }
    }
    leave_failed(self);
}

void thread_end() {
    Thread *ended = block.current;
    ended->fiber = nullptr;
    block.live--;
    ended->warp->ended |= 1u << ended->lane;
    if (ended->warp->open)
        exchange_forget(ended);
    if (block.waiting_count > 0)
        barrier_forget();
}

/* A fiber runs threads until one that already has a fiber can go on. */
void fiber_body(Fiber *self) {
    for (;;) {
        block.launch.thread(block.launch.data);
        thread_end();
        Thread *next = schedule_next();
        if (next && !next->fiber) {
            next->fiber = self;
            become(next);
            continue;
        }
        if (!next && block.live > 0)
            leave_deadlocked(self);
        pool.idle[pool.idle_count++] = self;
        if (next)
            become(next);
        fiber_switch(self, next ? next->fiber : &host);
    }
}

/* No more fibers live than threads: one that ends hands its fiber on. */
Fiber *idle_fiber() {
    if (pool.idle_count > 0)
        return pool.idle[--pool.idle_count];
    Fiber *fiber = &pool.fibers[pool.made];
    if (!fiber_prepare(fiber, pool.made, fiber_body))
        return nullptr;
    pool.made++;
    return fiber;
}

/* After a failure every fiber stands somewhere in a kernel; all begin anew. */
void forget_fibers() {
    pool.idle_count = 0;
    for (int i = 0; i < pool.made; i++) {
        fiber_prepare(&pool.fibers[i], i, fiber_body);
        pool.idle[pool.idle_count++] = &pool.fibers[i];
    }
}

void prepare_threads(const Launch &launch) {
    dim3 size = launch.block;
    block.launch = launch;
    block.count = static_cast<int>(size.x * size.y * size.z);
    for (int i = 0; i < block.count; i++) {
        unsigned number = static_cast<unsigned>(i);
        Thread *thread = &block.threads[i];
        thread->warp = &block.warps[i / 32];
        thread->lane = number % 32;
        thread->index = {number % size.x, number / size.x % size.y, number / (size.x * size.y)};
        thread->warp->first = thread - thread->lane;
    }
}

void begin_block(uint64_t number) {
    schedule_begin(number);
    block.live = block.count;
    block.waiting_count = 0;
    block.votes = {0, 1, 0};
    for (int i = 0; i < block.count; i++) {
        block.threads[i].fiber = nullptr;
        block.threads[i].waits_at = nullptr;
    }
    for (int first = 0; first < block.count; first += 32) {
        Warp *warp = &block.warps[first / 32];
        int lanes = block.count - first;
        warp->ended = lanes < 32 ? ~0u << lanes : 0;
        warp->open = 0;
    }
    uint64_t row = number / block.launch.grid.x;
    blockIdx = {static_cast<unsigned>(number % block.launch.grid.x),
                static_cast<unsigned>(row % block.launch.grid.y),
                static_cast<unsigned>(row / block.launch.grid.y)};
}

bool run_block() {
    Thread *first = schedule_next();
    first->fiber = idle_fiber();
    if (!first->fiber)
        return false;
    become(first);
    fiber_switch(&host, first->fiber);
    if (block.copies_pending)
        copies_forget();
    return !block.failed;
}

} // namespace

void block_fail(const char *why, Place place) {
    print_failure(why, "", place);
    leave_failed(block.current->fiber);
}

void block_wait(const char *waits_at, Place place) {
    Thread *self = block.current;
    Thread *next = schedule_next();
    if (next == self) /* woken already, and the only one */
        return;
    self->waits_at = waits_at;
    self->place = place;
    if (!next)
        leave_deadlocked(self->fiber);
    if (!next->fiber)
        next->fiber = idle_fiber();
    if (!next->fiber)
        block_fail("no memory for the stacks of so many threads", place);
    become(next);
    fiber_switch(self->fiber, next->fiber);
    self->waits_at = nullptr;
}

bool simt_run(const Launch &launch) {
    uint64_t blocks = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    order_read(launch.stream);
    count_launch(launch);
    prepare_threads(launch);
    gridDim = launch.grid;
    blockDim = launch.block;
    block.failed = false;
    bool good = shared_open(launch.shared);
    for (uint64_t step = 0; step < blocks && good; step++) {
        shared_poison();
        begin_block(order_block(blocks, step));
        good = run_block();
        good = shared_check() && good;
    }
    shared_close();
    if (block.failed)
        forget_fibers();
    return good;
}

unsigned simt_lane() {
    return block.current->lane;
}

unsigned simt_active_mask() {
    return ~block.current->warp->ended;
}

} // namespace emulated
