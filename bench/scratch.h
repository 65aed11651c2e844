/* A folder for what a benchmark writes and nobody keeps. */
#ifndef SZG_BENCH_SCRATCH_H
#define SZG_BENCH_SCRATCH_H

#include "base/context.h"

enum { BENCH_SCRATCH = 512 };

/* A new folder in $TMPDIR, or /tmp. SZG_EIO. */
SZG_CHECK_RESULT szg_status bench_scratch_open(szg_context *context, char folder[BENCH_SCRATCH]);
/* With all that it holds. */
void bench_scratch_remove(const char *folder);

#endif
