/* One pool of POSIX threads a context; work splits in fixed blocks whatever the thread count. */
#ifndef SZEGO_BASE_POOL_H
#define SZEGO_BASE_POOL_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Does block `block` of a job. `worker` is in 0 .. szg_context_threads() - 1 and is unique among
 * the blocks that run at the same time: an index for scratch memory. */
typedef szg_status szgi_block_fn(szg_context *context, void *job, int64_t block, int worker);

/* Runs blocks 0 .. blocks - 1 on the pool, the caller's thread included, and waits. Which thread
 * takes which block is not fixed, so a block writes only what is its own. Blocks are begun in their
 * order and none after a failure; returns the status of the lowest block that failed, and its
 * message is the context's. SZG_ECANCEL when cancelled between blocks. A call from inside a block
 * runs serially: on the same context as that block's worker, on another one as its worker 0.
 * SZG_EINVAL in a forked child, on a context that its parent opened. */
SZG_CHECK_RESULT szg_status szgi_pool_run(szg_context *context, int64_t blocks, szgi_block_fn *run,
                                          void *job);

/* Whether the calling thread is running a block of some pool: libraries with threads of their own
 * then stay on one. */
bool szgi_pool_is_inside(void);

SZGI_END_DECLS

#endif
