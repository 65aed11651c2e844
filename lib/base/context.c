#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/thread.h"
#include "context_private.h"

enum { THREADS_MAX = 1024 };

static atomic_int threads_open;

static int online_processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (int)count;
}

szg_status szg_context_open(const szg_context_options *options, szg_context **out) {
    *out = NULL;
    szgi_thread_enter();
    szg_context *context = calloc(1, sizeof *context);
    if (!context)
        return SZG_ENOMEM;
    if (options)
        context->options = *options;
    if (context->options.threads < 0 || context->options.threads > THREADS_MAX) {
        free(context);
        return SZG_EINVAL;
    }
    if (context->options.threads == 0)
        context->options.threads = online_processors();
    context->process = getpid();
    atomic_fetch_add(&threads_open, context->options.threads);
    pthread_mutex_init(&context->lock, NULL);
    szg_status status = szgi_pool_open(context->options.threads, &context->pool);
    if (status != SZG_OK) {
        szg_context_close(&context);
        return status;
    }
    *out = context;
    return SZG_OK;
}

void szg_context_close(szg_context **context) {
    if (!context || !*context)
        return;
    atomic_fetch_sub(&threads_open, (*context)->options.threads);
    if (szgi_context_is_forked(*context)) {
        szgi_pool_abandon(&(*context)->pool); /* the backend's state is the parent's */
    } else {
        szgi_context_set_state(*context, NULL, NULL);
        szgi_pool_close(&(*context)->pool);
        pthread_mutex_destroy(&(*context)->lock);
    }
    free(*context);
    *context = NULL;
}

bool szgi_context_is_forked(const szg_context *context) {
    return context->process != getpid();
}

/* A forked child has one thread; the lock may be held by one that exists in the parent only. */
static void lock(szg_context *context) {
    if (!szgi_context_is_forked(context))
        pthread_mutex_lock(&context->lock);
}

static void unlock(szg_context *context) {
    if (!szgi_context_is_forked(context))
        pthread_mutex_unlock(&context->lock);
}

const char *szg_context_message(const szg_context *context) {
    return szgi_pool_message((szg_context *)context);
}

int szg_context_threads(const szg_context *context) {
    return context->options.threads;
}

int szgi_context_threads_open(void) {
    return atomic_load(&threads_open);
}

szg_status szgi_fail(szg_context *context, szg_status status, const char *format, ...) {
    if (!context)
        return status;
    lock(context);
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(szgi_pool_message(context), MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    unlock(context);
    return status;
}

szg_status szgi_fail_prefix(szg_context *context, szg_status status, const char *format, ...) {
    if (!context)
        return status;
    char whole[MESSAGE_SIZE], *message = szgi_pool_message(context);
    lock(context);
    va_list arguments;
    va_start(arguments, format);
    int used = szgi_vprint(whole, sizeof whole, format, arguments);
    va_end(arguments);
    /* A message that is too long loses its end. */
    size_t at = used < 0 || (size_t)used > sizeof whole - 3 ? sizeof whole - 3 : (size_t)used;
    size_t length = strnlen(message, sizeof whole - at - 3);
    memcpy(whole + at, ": ", 2);
    if (strncmp(message, whole, at + 2) != 0) { /* no place is named twice */
        memcpy(whole + at + 2, message, length);
        whole[at + 2 + length] = 0;
        memcpy(message, whole, sizeof whole);
    }
    unlock(context);
    return status;
}

void szgi_say(szg_context *context, szg_severity severity, const char *format, ...) {
    if (!context || !context->options.message)
        return;
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(text, sizeof text, format, arguments);
    va_end(arguments);
    lock(context);
    context->options.message(context->options.user, severity, text);
    unlock(context);
}

void szgi_progress(szg_context *context, const char *what, int64_t done, int64_t total) {
    if (!context || !context->options.progress)
        return;
    lock(context);
    context->options.progress(context->options.user, what, done, total);
    unlock(context);
}

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

void szgi_context_set_ops(szg_context *context, const struct szgi_ops *ops) {
    atomic_store(&context->ops, ops);
}

const struct szgi_ops *szgi_context_ops(const szg_context *context) {
    return atomic_load(&context->ops);
}

void szgi_context_set_state(szg_context *context, void *state, void (*release)(void *state)) {
    if (context->release)
        context->release(context->state);
    context->state = state;
    context->release = release;
}

void *szgi_context_state(const szg_context *context) {
    return context->state;
}
