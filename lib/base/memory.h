/* Memory with overflow-checked sizes, messages that say how much was asked for, and failure
 * injection for tests. */
#ifndef SZEGO_BASE_MEMORY_H
#define SZEGO_BASE_MEMORY_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Bytes of a block that are zeroed between two looks for cancellation. */
enum { SZGI_MEMORY_LOOK = 1 << 24 };

/* Allocates `count` zeroed elements, 64-byte aligned, and stores their address in *out, whose type
 * says how large one is: `p` for `&p` does not compile. count = 0 yields a valid pointer.
 * SZG_EINVAL (count < 0), SZG_ENOMEM (refused, or the bytes overflow), SZG_ECANCEL (blocks beyond
 * SZGI_MEMORY_LOOK). Free with szgi_memory_free. */
#define szgi_memory_alloc(context, count, out)                                                     \
    szgi_memory_take((context), (count), sizeof **(out), (out))

/* The same where *(void **)out does not say it: elements of `size` bytes. */
SZG_CHECK_RESULT szg_status szgi_memory_take(szg_context *context, int64_t count, size_t size,
                                             void *out);

/* Grows *block, obtained from szgi_memory_alloc or NULL, from `count` to `new_count` elements,
 * keeping the contents; new elements are zero. On failure the block stays as it was. */
#define szgi_memory_grow(context, block, count, new_count)                                         \
    szgi_memory_regrow((context), (block), (count), (new_count), sizeof **(block))
SZG_CHECK_RESULT szg_status szgi_memory_regrow(szg_context *context, void *block, int64_t count,
                                               int64_t new_count, size_t size);

/* Room for `more` elements after the `count` that the array *block holds, of *room in all (0:
 * NULL): where there is too little, *room doubles until there is enough. Contents are kept; new
 * elements are zero. SZG_ENOMEM (also where count + more or the bytes overflow): both stay as they
 * were. */
#define szgi_memory_reserve(context, block, room, count, more)                                     \
    szgi_memory_make_room((context), (block), (room), (count), (more), sizeof **(block))
SZG_CHECK_RESULT szg_status szgi_memory_make_room(szg_context *context, void *block, int64_t *room,
                                                  int64_t count, int64_t more, size_t size);

/* A copy of a NUL-terminated string; free with szgi_memory_free. */
SZG_CHECK_RESULT szg_status szgi_memory_copy_text(szg_context *context, const char *text,
                                                  char **out);

/* Frees a block; NULL is allowed. */
void szgi_memory_free(void *block);

/* rows * columns without overflow. SZG_EINVAL (negative), SZG_ENOMEM (more than INT64_MAX / 16). */
SZG_CHECK_RESULT szg_status szgi_memory_product(szg_context *context, int64_t rows, int64_t columns,
                                                int64_t *out);

/* Bytes of memory that are available now without swapping (the cgroup's limit and MemAvailable,
 * whichever is less); INT64_MAX where unknown. */
int64_t szgi_memory_available(void);

/* SZG_ENOMEM with a message that names `what`, the bytes needed, the bytes available and `remedy`
 * (a clause such as "use --range only"), where rows * columns * size exceeds the available memory.
 * A MiB is taken to be there. */
SZG_CHECK_RESULT szg_status szgi_memory_require(szg_context *context, int64_t rows, int64_t columns,
                                                size_t size, const char *what, const char *remedy);

/* For tests: the `countdown`-th allocation from now fails once (1: the next). 0 turns it off. */
void szgi_memory_fail_after(szg_context *context, int64_t countdown);

SZGI_END_DECLS

#endif
