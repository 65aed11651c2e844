#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
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
    SZGI_KEEP_DENORMALS(); /* the threads of the pool inherit it */
    szgi_thread_enter();
    szg_context *context = calloc(1, sizeof *context);
    if (!context)
        return SZG_ENOMEM;
    if (szgi_options_fit(options, &context->options, sizeof *options) != SZGI_OPTIONS_FIT ||
        context->options.threads < 0 || context->options.threads > THREADS_MAX) {
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

int szg_context_threads(const szg_context *context) {
    return context->options.threads;
}

int szgi_context_threads_open(void) {
    return atomic_load(&threads_open);
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
