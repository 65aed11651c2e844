#include <gmp.h>
#include <stdlib.h>

#include "ball/ball.h"

#include "ball/arb.h"

const char *szgi_ball_library(void) {
    return SZGI_BALL_LIBRARY;
}

static void (*end_process)(size_t bytes);

static _Noreturn void give_up(size_t bytes) {
    end_process(bytes);
    abort();
}

static _Noreturn void on_abort(void) {
    give_up(0);
}

static void *granted(void *block, size_t bytes) {
    if (!block)
        give_up(bytes);
    return block;
}

static void *allocate(size_t bytes) {
    return granted(malloc(bytes ? bytes : 1), bytes);
}

static void *allocate_zeroed(size_t count, size_t size) {
    return granted(calloc(count ? count : 1, size ? size : 1), count * size);
}

static void *reallocate(void *block, size_t bytes) {
    return granted(realloc(block, bytes ? bytes : 1), bytes);
}

/* GMP tells the former size, too. */
static void *reallocate_sized(void *block, size_t before, size_t bytes) {
    (void)before;
    return reallocate(block, bytes);
}

static void release_sized(void *block, size_t bytes) {
    (void)bytes;
    free(block);
}

void szgi_ball_set_end(void (*end)(size_t bytes)) {
    end_process = end;
    flint_set_abort(on_abort);
    __flint_set_memory_functions(allocate, allocate_zeroed, reallocate, free);
    mp_set_memory_functions(allocate, reallocate_sized, release_sized);
}
