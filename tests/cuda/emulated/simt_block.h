/* The running block, as the scheduler, the barrier and the warps' exchanges see it. */
#ifndef EMULATED_SIMT_BLOCK_H
#define EMULATED_SIMT_BLOCK_H

#include "fibers.h"
#include "simt.h"

namespace emulated {

constexpr int most_threads = 1024;
constexpr int most_warps = most_threads / 32;

struct Warp;

struct Thread {
    Fiber *fiber; /* null until it begins */
    Warp *warp;
    unsigned lane;
    uint3 index;
    const char *waits_at; /* null while it runs or can */
    Place place;
};

/* One exchange among the lanes of a mask; masks of one warp that share no lane meet apart. */
struct Exchange {
    unsigned mask, arrived;
    Kind kind;
    size_t size;
};

struct Warp {
    Thread *first;
    unsigned ended; /* lanes that have ended, or that the block lacks */
    unsigned open;  /* exchanges that wait, by the lowest lane of their mask */
    Exchange exchange[32];
    unsigned source[32];
    alignas(16) unsigned char post[32][48];
    alignas(16) unsigned char result[32][16];
};

struct Block {
    Launch launch;
    int count, live;
    Thread *current;
    Thread threads[most_threads];
    Warp warps[most_warps];
    /* Those at the barrier. */
    Thread *waiting[most_threads];
    int waiting_count;
    Vote votes, verdict;
    bool failed, copies_pending;
};

extern Block block;

/* schedule.cpp. The next thread is null where all wait or have ended. */
void schedule_begin(uint64_t block_number);
void schedule_wake(Thread *thread); /* it can go on */
Thread *schedule_next(void);

/* Lets others run until it is the turn of the running thread, once someone has woken it. */
void block_wait(const char *waits_at, Place place);

/* The launch ends here, with a line on stderr that says why. Never returns. */
[[noreturn]] void block_fail(const char *why, Place place);

/* A thread has ended: exchanges and the barrier do not wait for it any more. */
void barrier_forget(void);
void exchange_forget(Thread *thread);
void copies_forget(void); /* of the block, when it has ended */

/* Whether warps run ahead of each other instead of by turns, and which of them. */
enum class Ahead { no, forward, reverse };
Ahead order_ahead(void);
/* Threads of the block in the order in which they begin, by turns; blocks likewise. */
void order_threads(int count, uint64_t block_number, int *order);
uint64_t order_block(uint64_t count, uint64_t step);
void order_read(unsigned stream); /* reads SZG_EMULATED_ORDER */
const char *order_name(void);     /* the item that was read */

} // namespace emulated

#endif
