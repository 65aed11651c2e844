#include "interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

#include "command.h"

/* Tenths of a second, and one in nanoseconds. DEFERRED is for a step of training, or the saving of
 * one, which ends unless a library or a file system hangs: what is resumed afterwards is the same
 * as after a kill. */
enum { PATIENCE = 50, DEFERRED = 6000, TENTH = 100000000 };

static szg_context *_Atomic listening; /* NULL: no command is at work */
static sem_t cancelled;

/* Not through stdio: a thread that will never go on may hold its lock. */
static void tell(const char *text) {
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static _Noreturn void end_now(int code) {
    szgi_writer_abandon_all();
    _exit(code);
}

void end_for_library(size_t bytes) {
    char text[200];
    if (bytes > 0)
        snprintf(text, sizeof text,
                 "szego: out of memory: %zu bytes refused to the ball arithmetic (FLINT): ask for "
                 "less, use fewer --threads, or raise the limit on memory\n",
                 bytes);
    else
        snprintf(text, sizeof text,
                 "szego: the ball arithmetic (FLINT) gave up; its message is above\n");
    tell(text);
    end_now(EXIT_INTERNAL);
}

/* The context stays open until interrupt_end, which takes this lock too. */
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

static bool is_deferred(void) {
    pthread_mutex_lock(&looking);
    szg_context *context = atomic_load(&listening);
    bool deferred = context && szgi_context_is_deferred(context);
    pthread_mutex_unlock(&looking);
    return deferred;
}

static void *watch(void *unused) {
    while (sem_wait(&cancelled) != 0)
        ;
    int waited = 0, deferred = 0;
    while (waited < PATIENCE && deferred < DEFERRED) {
        nanosleep(&(struct timespec){.tv_nsec = TENTH}, NULL);
        bool finishing = is_deferred();
        waited = finishing ? 0 : waited + 1;
        deferred += finishing;
    }
    tell(deferred < DEFERRED
             ? "szego: interrupted; work that had not ended after five seconds was abandoned\n"
             : "szego: interrupted; a training step that was not finished and saved after ten "
               "minutes was abandoned: the last checkpoint remains\n");
    end_now(EXIT_INTERRUPTED);
    return unused;
}

/* A small stack, so that a limit on memory does not refuse it, though it holds what the libraries
 * keep for each thread (OpenBLAS 60 KiB); signals are for the other threads. Without the thread a
 * second signal ends what the first one does not. */
static void start_watch(void) {
    enum { STACK = 1 << 20 };
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    if (sem_init(&cancelled, 0, 0) != 0 || pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)!pthread_create(&thread, &attributes, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* The first signal asks the work to stop and to leave no partial file; the second one kills. */
static void on_signal(int number) {
    static const char text[] =
        "\nszego: stopping at the next safe point; a second time stops at once\n";
    int before = errno; /* what was interrupted may be about to look at it */
    signal(number, SIG_DFL);
    bool gone = isatty(STDERR_FILENO) && write(STDERR_FILENO, text, sizeof text - 1) < 0;
    szg_context *context = atomic_load(&listening);
    if (context && !gone) { /* without its terminal: a second signal follows */
        szg_context_cancel(context);
        sem_post(&cancelled);
    }
    errno = before;
}

void interrupt_listen(szg_context *context) {
    atomic_store(&listening, context);
    start_watch();
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (signal(SIGHUP, on_signal) == SIG_IGN)
        signal(SIGHUP, SIG_IGN); /* nohup */
    signal(SIGXFSZ, SIG_IGN);    /* a file beyond `ulimit -f` is a failed write, with a message */
}

void interrupt_end(void) {
    pthread_mutex_lock(&looking);
    atomic_store(&listening, NULL);
    pthread_mutex_unlock(&looking);
}
