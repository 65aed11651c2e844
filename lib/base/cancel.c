/* Cancellation of a context, by a call or by the clock. */
#include <time.h>

#include "context_private.h"

void szg_context_cancel(szg_context *context) {
    atomic_store(&context->cancelled, true);
}

bool szg_context_is_cancelled(const szg_context *context) {
    return atomic_load(&context->cancelled);
}

double szgi_context_seconds(const szg_context *context) {
    if (context->options.clock)
        return context->options.clock(context->options.user);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static long long nanoseconds_now(const szg_context *context) {
    return (long long)(szgi_context_seconds(context) * 1e9);
}

void szg_context_set_deadline(szg_context *context, double seconds) {
    const double most = 1e9; /* thirty years: what is beyond would not fit the clock's integers */
    long long deadline = 0;
    if (seconds > 0)
        deadline = nanoseconds_now(context) + (long long)((seconds < most ? seconds : most) * 1e9);
    atomic_store(&context->deadline, deadline);
}

szg_status szgi_context_check_cancel(szg_context *context) {
    if (!context || atomic_load(&context->deferred))
        return SZG_OK;
    if (atomic_load(&context->cancelled))
        return szgi_fail(context, SZG_ECANCEL, "interrupted");
    long long deadline = atomic_load(&context->deadline);
    if (deadline != 0 && nanoseconds_now(context) >= deadline)
        return szgi_fail(context, SZG_ECANCEL, "the time is up");
    return SZG_OK;
}

void szgi_context_defer_cancel(szg_context *context, bool defer) {
    atomic_store(&context->deferred, defer);
}

bool szgi_context_is_deferred(const szg_context *context) {
    return atomic_load(&context->deferred);
}
