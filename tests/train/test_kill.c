/* A run that is killed, or refused by the operating system, at each of its file operations in turn,
 * and then resumed, has the weights, moments and logs of one that nothing disturbed. The linker
 * sends the operations of lib/base and train through the counters below. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../train/run/run_private.h"
#include "suite.h"
#include "tiny.h"

/* ---- The operations ---- */

static enum { IGNORE, COUNT, KILL, REFUSE } action; /* IGNORE: not in a child */
static int64_t *operations;                         /* shared with the processes that count */
static int64_t stop_at; /* the operation, counted from 1, that does not happen */

/* Whether this operation is refused; a killed process does not come back. */
static bool refused(void) {
    if (action == IGNORE || ++*operations != stop_at || action == COUNT)
        return false;
    if (action == KILL)
        kill(getpid(), SIGKILL);
    errno = ENOSPC;
    return true;
}

#define WRAP(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        return refused() ? (type)-1 : __real_##name arguments;                                     \
    }

/* open as lib/base calls it; what creates no file changes nothing. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return flags & O_EXCL && refused() ? -1 : __real_open64(path, flags, mode);
}

WRAP(int, fchmod, (int descriptor, mode_t mode), (descriptor, mode))
WRAP(int, flock, (int descriptor, int how), (descriptor, how))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, fsync, (int descriptor), (descriptor))
WRAP(int, fflush, (FILE * stream), (stream))
WRAP(int, ftruncate, (int descriptor, off_t size), (descriptor, size))
WRAP(int, unlink, (const char *path), (path))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))

/* How many of the next reads of a log a signal interrupts, and whether later ones find its end. */
static int interrupted;
static bool shortened;

ssize_t __real_pread64(int descriptor, void *data, size_t size, off_t at);
ssize_t __wrap_pread64(int descriptor, void *data, size_t size, off_t at);
ssize_t __wrap_pread64(int descriptor, void *data, size_t size, off_t at) {
    if (interrupted > 0) {
        interrupted--;
        errno = EINTR;
        return -1;
    }
    return shortened ? 0 : __real_pread64(descriptor, data, size, at);
}

START_TEST(a_log_is_read_to_its_end) {
    const log_mark keep = {.bytes = 9, .check = 0xCBF43926}; /* CRC-32's published check value */
    char *folder = new_folder(), path[256];
    FILE *file = fopen(path_in(folder, "metrics.csv", path), "wb");
    ck_assert_ptr_nonnull(file);
    fputs("123456789", file);
    fclose(file);
    run_log log;
    ck_szg_ok(szgi_log_open(test_context(), folder, "metrics.csv", &log));
    interrupted = 3;
    ck_szg_ok(szgi_log_cut(test_context(), &log, keep));
    ck_assert_int_eq(interrupted, 0);
    shortened = true;
    ck_szg_fails(SZG_EDATA, "metrics.csv: ended at byte 0 while it was read",
                 szgi_log_cut(test_context(), &log, keep));
    shortened = false;
    szgi_log_close(&log);
    remove_folder(folder);
}
END_TEST

/* ---- Runs in processes of their own ---- */

/* Trains in a context without threads (a process that forks has one); 0: done, 1: it failed. */
static int train(const szg_train_config *config, const char *folder, bool resume) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    szg_context *context;
    szg_dataset data;
    szg_train_result result;
    if (szg_context_open(&options, &context) != SZG_OK ||
        szg_dataset_open(context, config, &data) != SZG_OK)
        return 1;
    szg_train_options run = {SZG_INIT(szg_train_options),
                             .config = config,
                             .data = &data,
                             .seed = 5,
                             .folder = folder,
                             .resume = resume};
    szg_status status = szg_train_run(context, &run, &result);
    szg_dataset_close(&data);
    szg_context_close(&context);
    return status != SZG_OK;
}

/* -1: killed, else what train returns. `what` happens at operation `at`. */
static int train_in_child(const szg_train_config *config, const char *folder, bool resume, int what,
                          int64_t at) {
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        action = what;
        *operations = 0;
        stop_at = at;
        _exit(train(config, folder, resume));
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        ck_assert_int_eq(WTERMSIG(status), SIGKILL);
    return WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
}

/* Two folders for runs of the same name. */
typedef struct folders {
    char *parent, *other;
    char whole[256], folder[256]; /* of the run that nothing disturbs, and of the other one */
} folders;

static void share_operations(void) {
    void *shared =
        mmap(NULL, sizeof *operations, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    operations = shared == MAP_FAILED ? NULL : shared;
}

static folders open_folders(const szg_train_config *config) {
    folders self = {.parent = new_folder(), .other = new_folder()};
    path_in(self.parent, "run", self.whole);
    path_in(self.other, "run", self.folder);
    ck_assert_int_eq(train_in_child(config, self.whole, false, COUNT, 0), 0);
    return self;
}

static void close_folders(folders *self) {
    empty_folder(self->whole);
    empty_folder(self->folder);
    rmdir(self->whole);
    rmdir(self->folder);
    remove_folder(self->parent);
    remove_folder(self->other);
}

/* `what` at each operation of a run; then it goes on. */
static void stop_everywhere(int what, const char *key) {
    szg_train_config *config = new_tiny(key);
    config->capture.spectra = config->capture.every > 0;
    /* One matrix a capture: what is printed is less, the operations are the same. */
    config->capture.layers = config->capture.heads = (szg_index_list){.count = 1};
    folders at = open_folders(config);
    ck_assert_ptr_nonnull(operations);
    ck_assert_int_eq(train_in_child(config, at.folder, false, COUNT, 0), 0);
    int64_t total = *operations, stops = 0;
    empty_folder(at.folder);
    for (int64_t stop = 1; stop <= total; stop++) {
        stops += train_in_child(config, at.folder, false, what, stop) != 0;
        ck_assert_int_eq(train_in_child(config, at.folder, true, COUNT, 0), 0);
        ck_same_run(at.whole, at.folder);
        empty_folder(at.folder);
    }
    /* Each of three epochs has two logs to flush and sync, and state and weights to open, flush,
     * sync and rename. (That a folder is synced may fail; that a kill fails may not.) */
    ck_assert_int_ge(stops, 3 * 12);
    if (what == KILL)
        ck_assert_int_eq(stops, total);
    close_folders(&at);
    szgi_memory_free(config);
}

START_TEST(a_kill_at_any_file_operation_changes_nothing) {
    stop_everywhere(KILL, "loop.checkpoint_every=2");
    stop_everywhere(KILL, "capture.every=2");
}
END_TEST

START_TEST(a_refusal_at_any_file_operation_changes_nothing) {
    stop_everywhere(REFUSE, NULL);
}
END_TEST

/* A run that is killed again and again, each time a little later. Plain, or with an intervention
 * that begins after the fourth of its nine steps: the run goes on from either side. Its curvature
 * is measured three times, and again where a kill comes before the checkpoint. */
START_TEST(many_kills_in_a_row_change_nothing) {
    szg_train_config *config = new_tiny("loop.checkpoint_every=1");
    config->intervention.kind = (szg_intervention)_i;
    config->intervention.from = 0.5;
    config->curvature = (szg_curvature_config){.every = 3, .examples = 4};
    folders at = open_folders(config);
    int ended = -1;
    int64_t kills = 0;
    for (int64_t stop = 1; ended != 0; stop++) {
        ended = train_in_child(config, at.folder, true, KILL, stop);
        kills += ended != 0;
    }
    ck_assert_int_gt(kills, 10);
    ck_same_run(at.whole, at.folder);
    close_folders(&at);
    szgi_memory_free(config);
}
END_TEST

TEST_FILE("kill") {
    share_operations();
    test_add(suite, "a_log_is_read_to_its_end", a_log_is_read_to_its_end);
    test_add(suite, "a_kill_at_any_file_operation_changes_nothing",
             a_kill_at_any_file_operation_changes_nothing);
    test_add(suite, "a_refusal_at_any_file_operation_changes_nothing",
             a_refusal_at_any_file_operation_changes_nothing);
    test_add_loop(suite, "many_kills_in_a_row_change_nothing", many_kills_in_a_row_change_nothing,
                  SZG_INTERVENTION_GRADIENT + 1);
}
