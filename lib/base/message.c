/* Messages of a context: failures, notes, progress. */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "context_private.h"

/* On a thread that runs blocks of a context's pool: whose, and where its failures go. */
static _Thread_local struct {
    const szg_context *context;
    char *message;
} slot;

void szgi_message_redirect(const szg_context *context, char *message) {
    slot.context = context;
    slot.message = message;
}

char *szgi_message_of(szg_context *context) {
    return slot.context == context ? slot.message : context->message;
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
    return szgi_message_of((szg_context *)context);
}

szg_status szgi_fail(szg_context *context, szg_status status, const char *format, ...) {
    if (!context)
        return status;
    lock(context);
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(szgi_message_of(context), MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    unlock(context);
    return status;
}

szg_status szgi_fail_prefix(szg_context *context, szg_status status, const char *format, ...) {
    if (!context)
        return status;
    char whole[MESSAGE_SIZE], *message = szgi_message_of(context);
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

bool szgi_say(szg_context *context, szg_severity severity, const char *format, ...) {
    if (!context || !context->options.message)
        return false;
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(text, sizeof text, format, arguments);
    va_end(arguments);
    lock(context);
    context->options.message(context->options.user, severity, text);
    unlock(context);
    return true;
}

void szgi_progress(szg_context *context, const char *what, int64_t done, int64_t total) {
    if (!context || !context->options.progress)
        return;
    lock(context);
    context->options.progress(context->options.user, what, done, total);
    unlock(context);
}

szg_status szgi_context_check_process(szg_context *context) {
    if (!context || !szgi_context_is_forked(context))
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "the context belongs to process %lld, this is process %lld: its locks and "
                     "buffers are the parent's; open a context in the child",
                     (long long)context->process, (long long)getpid());
}
