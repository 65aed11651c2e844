/* A destructor of the C++ runtime's kind and not of a pthread key: exit runs it for its own thread,
 * and the library stays mapped until it has run, although the program may have closed it. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/thread.h"

/* Of glibc from 2.18 on, for compilers, so that no header declares it. `library` is an address in
 * whatever must stay mapped. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

static _Atomic(szgi_thread_hook *) hooks;
static _Thread_local bool entered;

void szgi_thread_at_end(szgi_thread_hook *hook) {
    hook->next = atomic_load(&hooks);
    while (!atomic_compare_exchange_weak(&hooks, &hook->next, hook)) {
    }
}

static void end_thread(void *unused) {
    (void)unused;
    entered = false; /* a later destructor may use the library again */
    for (const szgi_thread_hook *hook = atomic_load(&hooks); hook; hook = hook->next)
        hook->release();
}

void szgi_thread_enter(void) {
    if (entered)
        return;
    entered = true;
    __cxa_thread_atexit_impl(end_thread, NULL, &__dso_handle);
}
