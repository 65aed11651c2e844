/* Files: temporary files of writers that live, that died, and of others; locks of folders; what is
 * said of a write that failed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"

#include "scratch.h"

static const char *folder;

static void open_folder(void) {
    folder = scratch_folder();
}

/* A path in the folder; four of them live at a time. */
static const char *in_folder(const char *name) {
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static bool is_there(const char *name) {
    struct stat info;
    return lstat(in_folder(name), &info) == 0;
}

static void touch(const char *name, mode_t mode) {
    int descriptor = open(in_folder(name), O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(fchmod(descriptor, mode), 0);
    close(descriptor);
}

/* Removes the folder, which must hold no more than `count` files. */
static void remove_folder(int count) {
    DIR *entries = opendir(folder);
    for (struct dirent *entry; (entry = readdir(entries));)
        if (entry->d_name[0] != '.') {
            count--;
            ck_assert_int_eq(remove(in_folder(entry->d_name)), 0);
        }
    closedir(entries);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void write_target(const char *name, const char *words) {
    szgi_writer *writer;
    ck_szg_ok(szgi_writer_open(test_context(), in_folder(name), &writer));
    fputs(words, szgi_writer_stream(writer));
    ck_szg_ok(szgi_writer_commit(test_context(), &writer));
}

/* A child that holds something of the folder, a writer of `name` or, NULL, the folder's lock, until
 * it is killed. */
static pid_t hold(const char *name) {
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        szgi_writer *writer;
        int lock;
        szg_status status = name ? szgi_writer_open(NULL, in_folder(name), &writer)
                                 : szgi_folder_lock(NULL, folder, &lock);
        if (status == SZG_OK && write(ready[1], "r", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void kill_child(pid_t child) {
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(litter_of_the_dead_is_removed) {
    open_folder();
    pid_t first = hold("a"), second = hold("a"), other = hold("b");
    kill_child(first);
    kill_child(second);
    kill_child(other);
    ck_assert(is_there("a.szego-0") && is_there("a.szego-1") && is_there("b.szego-0"));
    write_target("a", "new");
    ck_assert(!is_there("a.szego-0") && !is_there("a.szego-1"));
    ck_assert(is_there("b.szego-0")); /* of another target */
    szgi_folder_sweep(folder);
    ck_assert(!is_there("b.szego-0"));
    remove_folder(1);
}
END_TEST

START_TEST(files_of_living_writers_stay) {
    szgi_writer *mine;
    open_folder();
    pid_t other = hold("a");
    ck_szg_ok(szgi_writer_open(test_context(), in_folder("a"), &mine));
    write_target("a", "third");
    szgi_folder_sweep(folder);
    ck_assert(is_there("a.szego-0") && is_there("a.szego-1"));
    ck_szg_ok(szgi_writer_commit(test_context(), &mine));
    kill_child(other);
    ck_szg_ok(szgi_writer_open(test_context(), in_folder("a"), &mine));
    szgi_writer_discard(&mine);
    remove_folder(1);
}
END_TEST

START_TEST(files_of_others_stay) {
    static const char *const stay[] = {"a.szego-0", "a.szego-1", "a.szego-2",     "linked",
                                       "a.szego-3", "a.szego-x", "a.szego-12345", "a"};
    enum { COUNT = sizeof stay / sizeof *stay };
    open_folder();
    touch("a.szego-0", 0644); /* no mark */
    ck_assert_int_eq(symlink(in_folder("a.szego-0"), in_folder("a.szego-1")), 0);
    touch("linked", 01644); /* has another name */
    ck_assert_int_eq(link(in_folder("linked"), in_folder("a.szego-2")), 0);
    ck_assert_int_eq(mkdir(in_folder("a.szego-3"), 01700), 0);
    touch("a.szego-x", 01644);
    touch("a.szego-12345", 01644);
    touch("a.szego-15", 01644); /* ours, behind numbers that others hold */
    write_target("a", "new");
    ck_assert(!is_there("a.szego-15"));
    szgi_folder_sweep(folder);
    for (int i = 0; i < COUNT; i++)
        ck_assert_msg(is_there(stay[i]), "%s is gone", stay[i]);
    remove_folder(COUNT);
}
END_TEST

START_TEST(a_written_file_has_the_usual_permissions) {
    struct stat info;
    open_folder();
    mode_t before = umask(027);
    write_target("a", "new");
    umask(before);
    ck_assert_int_eq(stat(in_folder("a"), &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0640);
    remove_folder(1);
}
END_TEST

enum { WRITERS = 4, TURNS = 200 };

/* Each looks at the others' files in every state, the instant between creation and lock too. */
START_TEST(writers_of_one_target_do_not_disturb_each_other) {
    pid_t child[WRITERS];
    open_folder();
    for (int i = 0; i < WRITERS; i++)
        if ((child[i] = fork()) == 0) {
            for (int turn = 0; turn < TURNS; turn++) {
                szgi_writer *writer;
                if (szgi_writer_open(NULL, in_folder("a"), &writer) != SZG_OK)
                    _exit(1);
                fputs("whole", szgi_writer_stream(writer));
                if (szgi_writer_commit(NULL, &writer) != SZG_OK)
                    _exit(2);
            }
            _exit(0);
        }
    for (int i = 0; i < WRITERS; i++) {
        int how;
        ck_assert_int_eq(waitpid(child[i], &how, 0), child[i]);
        ck_assert_msg(how == 0, "writer %d ended with %d", i, how);
    }
    remove_folder(1);
}
END_TEST

START_TEST(a_folder_is_locked_by_one_at_a_time) {
    int mine, again;
    open_folder();
    pid_t other = hold(NULL);
    ck_szg_fails(SZG_EIO, "another writer uses this folder",
                 szgi_folder_lock(test_context(), folder, &mine));
    ck_assert_int_eq(mine, -1);
    kill_child(other); /* its lock dies with it */
    ck_szg_ok(szgi_folder_lock(test_context(), folder, &mine));
    ck_assert_int_ge(mine, 0);
    ck_szg_fails(SZG_EIO, "another writer", szgi_folder_lock(test_context(), folder, &again));
    szgi_folder_unlock(&mine);
    szgi_folder_unlock(&mine);
    ck_szg_ok(szgi_folder_lock(test_context(), folder, &again));
    szgi_folder_unlock(&again);
    remove_folder(0);
}
END_TEST

/* ---- Writes that fail ---- */

static void check_refused(FILE *stream, const char *words) {
    ck_assert_ptr_nonnull(stream);
    fputs("data", stream);
    ck_szg_fails(SZG_EIO, words, szgi_stream_flush(test_context(), stream));
    fclose(stream);
}

START_TEST(a_failed_write_is_named_with_its_remedy) {
    const struct rlimit small = {.rlim_cur = 2, .rlim_max = RLIM_INFINITY};
    struct rlimit before;
    int ends[2];
    check_refused(fopen("/dev/full", "w"), "No space left on device: make room");
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    check_refused(fdopen(ends[1], "w"), "Broken pipe: its reader has ended");
    FILE *closed = fopen("/dev/null", "w");
    close(fileno(closed));
    check_refused(closed, "Bad file descriptor: it was closed");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    FILE *large = tmpfile();
    check_refused(large, "File too large: raise the largest size of a file (ulimit -f)");
    setrlimit(RLIMIT_FSIZE, &before);
    /* An error that was met before, of which nothing is left to write. */
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    check_refused(full, "cannot be written: an earlier write failed");
    FILE *fine = tmpfile();
    fputs("data", fine);
    ck_szg_ok(szgi_stream_flush(test_context(), fine));
    fclose(fine);
}
END_TEST

/* ---- Files that are read whole ---- */

/* A file of zeros that takes no room on the disk. */
static const char *sparse(int64_t size) {
    const char *path = scratch_bytes("sparse", "", 0);
    ck_assert_int_eq(truncate(path, size), 0);
    return path;
}

static szg_status read_and_close(szg_context *context, const char *path, int64_t size) {
    szgi_contents contents;
    SZG_TRY(szgi_contents_open(context, path, &contents));
    ck_assert_int_eq(contents.size, size);
    for (int64_t i = 0; i < size; i += 4093)
        ck_assert_int_eq(contents.data[i], 0);
    szgi_contents_close(&contents);
    return SZG_OK;
}

/* Memory is cleared, and the file read, in parts of SZGI_MEMORY_LOOK bytes. */
START_TEST(a_long_file_is_cancelled) {
    enum { PARTS = 3, SIZE = PARTS * SZGI_MEMORY_LOOK - 4096 };
    test_looks looks;
    szg_context *context = test_counting_context(&looks);
    const char *path = sparse(SIZE);
    ck_looks_for_cancellation(&looks, 2 * (PARTS - 1), read_and_close(context, path, SIZE));
    ck_assert_str_eq(szg_context_message(context), "the time is up");
    szg_context_close(&context);
}
END_TEST

START_TEST(a_file_that_memory_does_not_hold_is_named) {
    szgi_contents contents;
    const char *path = sparse(1 << 20);
    szgi_memory_fail_after(test_context(), 3); /* after the source and its path */
    ck_szg_fails(SZG_ENOMEM, "sparse: out of memory: its 1048576 bytes are read whole: make it",
                 szgi_contents_open(test_context(), path, &contents));
    ck_szg_ok(read_and_close(test_context(), path, 1 << 20));
    int64_t available = szgi_memory_available();
    ck_assert_int_lt(available, INT64_MAX / 2);
    path = sparse(2 * available); /* more than becomes free meanwhile */
    ck_szg_fails(SZG_ENOMEM, "sparse needs", szgi_contents_open(test_context(), path, &contents));
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), "it is read whole"));
    ck_assert_ptr_null(contents.data);
}
END_TEST

TEST_FILE("file") {
    test_add(suite, "litter_of_the_dead_is_removed", litter_of_the_dead_is_removed);
    test_add(suite, "files_of_living_writers_stay", files_of_living_writers_stay);
    test_add(suite, "files_of_others_stay", files_of_others_stay);
    test_add(suite, "permissions", a_written_file_has_the_usual_permissions);
    test_add(suite, "writers_of_one_target", writers_of_one_target_do_not_disturb_each_other);
    test_add(suite, "folder_lock", a_folder_is_locked_by_one_at_a_time);
    test_add(suite, "failed_writes", a_failed_write_is_named_with_its_remedy);
    test_add(suite, "a_long_file_is_cancelled", a_long_file_is_cancelled);
    test_add(suite, "a_file_that_memory_does_not_hold_is_named",
             a_file_that_memory_does_not_hold_is_named);
}
