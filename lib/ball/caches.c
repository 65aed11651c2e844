#include <flint/flint.h>

#include "caches.h"

szgi_thread_hook szgi_ball_caches = {.release = flint_cleanup};

__attribute__((constructor)) static void have_caches_freed(void) {
    szgi_thread_at_end(&szgi_ball_caches);
}
