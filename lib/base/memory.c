#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/thread.h"
#include "context_private.h"

enum { ALIGNMENT = 64 };

static bool injected_failure(szg_context *context) {
    if (!context || atomic_load_explicit(&context->allocations_left, memory_order_relaxed) == 0)
        return false;
    return atomic_fetch_sub(&context->allocations_left, 1) == 1;
}

static void human_bytes(double bytes, char text[static 32]) {
    const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    szgi_print(text, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static szg_status refuse(szg_context *context, int64_t count, size_t size) {
    char text[32];
    human_bytes((double)count * (double)size, text);
    return szgi_fail(context, SZG_ENOMEM, "out of memory: %s (%" PRId64 " x %zu bytes) refused",
                     text, count, size);
}

/* From here on a block is weighed against the memory there is: Linux grants any size and kills the
 * process that touches it. */
static const size_t LARGE_BLOCK = (size_t)1 << 28;

/* From here on a block asks for pages of 2 MiB, where the system leaves the choice to programs:
 * fewer page faults and misses in the processor's table of pages, measured at a fifth of the time
 * of loops that read and write much memory. */
enum { HUGE_PAGE = 1 << 21, HUGE_BLOCK = 1 << 22 };

static void *aligned_block(size_t bytes) {
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_BLOCK && bytes <= PTRDIFF_MAX - HUGE_PAGE) {
        void *block = aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
        if (block)
            madvise(block, bytes, MADV_HUGEPAGE); /* a wish: refused, small pages serve */
        return block;
    }
#endif
    return aligned_alloc(ALIGNMENT, bytes);
}

/* The first touch of a page costs more than its zeros: seconds a gigabyte on a busy machine. */
static szg_status clear(szg_context *context, char *block, size_t bytes) {
    for (size_t done = 0; done < bytes; done += SZGI_MEMORY_LOOK) {
        if (done > 0)
            SZG_TRY(szgi_context_check_cancel(context));
        memset(block + done, 0, bytes - done < SZGI_MEMORY_LOOK ? bytes - done : SZGI_MEMORY_LOOK);
    }
    return SZG_OK;
}

szg_status szgi_memory_take(szg_context *context, int64_t count, size_t size, void *out) {
    void *block = NULL;
    memcpy(out, &block, sizeof block);
    szgi_thread_enter();
    if (count < 0)
        return szgi_fail(context, SZG_EINVAL, "a count of %" PRId64 " elements is negative", count);
    size_t bytes;
    if (__builtin_mul_overflow((size_t)count, size, &bytes) || bytes > PTRDIFF_MAX - 2 * ALIGNMENT)
        return refuse(context, count, size);
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* never zero: a valid pointer */
    if (injected_failure(context))
        return refuse(context, count, size);
    if (bytes >= LARGE_BLOCK)
        SZG_TRY(
            szgi_memory_require(context, count, 1, size, "one block of the result or its work",
                                "ask for less: a smaller N, or a range in place of all values"));
    block = aligned_block(bytes);
    if (!block)
        return refuse(context, count, size);
    szg_status status = clear(context, block, bytes);
    if (status == SZG_OK)
        memcpy(out, &block, sizeof block);
    else
        free(block);
    return status;
}

szg_status szgi_memory_regrow(szg_context *context, void *block, int64_t count, int64_t new_count,
                              size_t size) {
    void *old, *fresh;
    memcpy(&old, block, sizeof old);
    SZG_TRY(szgi_memory_take(context, new_count, size, &fresh));
    if (old && count > 0)
        memcpy(fresh, old, (size_t)(count < new_count ? count : new_count) * size);
    free(old);
    memcpy(block, &fresh, sizeof fresh);
    return SZG_OK;
}

szg_status szgi_memory_make_room(szg_context *context, void *block, int64_t *room, int64_t count,
                                 int64_t more, size_t size) {
    enum { SMALLEST = 16 };
    int64_t needed, fresh = *room > 0 ? *room : SMALLEST;
    bool fits = !__builtin_add_overflow(count, more, &needed);
    if (fits && needed <= *room)
        return SZG_OK;
    while (fits && fresh < needed)
        fits = !__builtin_mul_overflow(fresh, 2, &fresh);
    if (!fits)
        return szgi_fail(context, SZG_ENOMEM,
                         "%" PRId64 " elements and %" PRId64 " more overflow a size", count, more);
    SZG_TRY(szgi_memory_regrow(context, block, *room, fresh, size));
    *room = fresh;
    return SZG_OK;
}

szg_status szgi_memory_copy_text(szg_context *context, const char *text, char **out) {
    size_t length = strlen(text);
    SZG_TRY(szgi_memory_alloc(context, (int64_t)length + 1, out));
    memcpy(*out, text, length + 1);
    return SZG_OK;
}

void szgi_memory_free(void *block) {
    free(block);
}

szg_status szgi_memory_product(szg_context *context, int64_t rows, int64_t columns, int64_t *out) {
    *out = 0;
    if (rows < 0 || columns < 0)
        return szgi_fail(context, SZG_EINVAL,
                         "a size of %" PRId64 " x %" PRId64 " is negative: sizes are at least 0",
                         rows, columns);
    int64_t product;
    if (__builtin_mul_overflow(rows, columns, &product) || product > INT64_MAX / 16)
        return szgi_fail(context, SZG_ENOMEM, "%" PRId64 " x %" PRId64 " elements overflow a size",
                         rows, columns);
    *out = product;
    return SZG_OK;
}

static int64_t number_in_file(const char *path, const char *key) {
    FILE *file = fopen(path, "re");
    if (!file)
        return INT64_MAX;
    int64_t value = INT64_MAX;
    char line[256];
    size_t length = strlen(key);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, key, length) != 0)
            continue;
        char *end;
        long long number = strtoll(line + length, &end, 10);
        if (end != line + length && number >= 0)
            value = number;
        break;
    }
    fclose(file);
    return value;
}

/* Cached file contents count as used in a control group, and are given up when memory is asked. */
static int64_t cached_in_group(void) {
    int64_t active = number_in_file("/sys/fs/cgroup/memory.stat", "active_file ");
    int64_t inactive = number_in_file("/sys/fs/cgroup/memory.stat", "inactive_file ");
    return (active == INT64_MAX ? 0 : active) + (inactive == INT64_MAX ? 0 : inactive);
}

int64_t szgi_memory_available(void) {
    int64_t kib = number_in_file("/proc/meminfo", "MemAvailable:");
    int64_t available = kib > INT64_MAX / 1024 ? INT64_MAX : kib * 1024;
    int64_t limit = number_in_file("/sys/fs/cgroup/memory.max", "");
    int64_t used = number_in_file("/sys/fs/cgroup/memory.current", "");
    if (limit != INT64_MAX && used != INT64_MAX) {
        int64_t left = limit > used ? limit - used : 0;
        left += cached_in_group();
        if (left < available)
            available = left;
    }
    return available;
}

/* Up to here no look at the memory there is: it reads files of the system, which takes longer than
 * the eigenvalues of a small matrix. */
enum { SMALL_NEED = 1 << 20 };

szg_status szgi_memory_require(szg_context *context, int64_t rows, int64_t columns, size_t size,
                               const char *what, const char *remedy) {
    if (rows < 0 || columns < 0)
        return szgi_fail(context, SZG_EINVAL, "%s: a size of %" PRId64 " x %" PRId64 " is negative",
                         what, rows, columns);
    /* A double holds any product; the comparison needs no more than its 53 bits. */
    double need = (double)rows * (double)columns * (double)size;
    if (need <= SMALL_NEED)
        return SZG_OK;
    double have = (double)szgi_memory_available();
    if (need <= have)
        return SZG_OK;
    char need_text[32], have_text[32];
    human_bytes(need, need_text);
    human_bytes(have, have_text);
    return szgi_fail(context, SZG_ENOMEM, "%s needs %s, %s are available: %s", what, need_text,
                     have_text, remedy);
}

void szgi_memory_fail_after(szg_context *context, int64_t countdown) {
    atomic_store(&context->allocations_left, countdown);
}
