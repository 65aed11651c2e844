/* What is done when a thread that used the library ends, without anybody asking for it. */
#ifndef SZEGO_BASE_THREAD_H
#define SZEGO_BASE_THREAD_H

#include "base/decls.h"

SZGI_BEGIN_DECLS

/* In static storage of this library, which outlives every thread that used it. */
typedef struct szgi_thread_hook {
    void (*release)(void);
    struct szgi_thread_hook *next; /* szgi_thread_at_end's */
} szgi_thread_hook;

/* From now on every thread that used the library calls hook->release as it ends, also the one that
 * ends the process by exit: for what another library keeps for each thread. Once a hook; a
 * constructor calls it, so that no thread was earlier. */
void szgi_thread_at_end(szgi_thread_hook *hook);

/* The calling thread uses the library. Cheap; whatever opens a context, takes memory or runs blocks
 * has called it. */
void szgi_thread_enter(void);

SZGI_END_DECLS

#endif
