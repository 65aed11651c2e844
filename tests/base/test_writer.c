/* Files that are written whole or not at all, and read as they were. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"

#include "meddle.h"

static void read_file(const char *path, char text[static 64]) {
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, 63, file);
    text[length] = 0;
    fclose(file);
}

START_TEST(writer_replaces_whole_files_only) {
    szg_context *context = test_context();
    const char *folder = scratch_folder();
    char path[64], text[64];
    snprintf(path, sizeof path, "%s/deep/er", folder);
    ck_szg_ok(szgi_folder_create(context, path));
    ck_szg_ok(szgi_folder_create(context, path));
    snprintf(path, sizeof path, "%s/deep/er/file", folder);
    const char *contents[] = {"first", "second"};
    for (int i = 0; i < 2; i++) {
        szgi_writer *writer;
        ck_szg_ok(szgi_writer_open(context, path, &writer));
        fputs(contents[i], szgi_writer_stream(writer));
        ck_szg_ok(szgi_writer_commit(context, &writer));
        ck_assert_ptr_null(writer);
        read_file(path, text);
        ck_assert_str_eq(text, contents[i]);
    }
    szgi_writer *writer;
    ck_szg_ok(szgi_writer_open(context, path, &writer));
    fputs("never", szgi_writer_stream(writer));
    szgi_writer_discard(&writer);
    read_file(path, text);
    ck_assert_str_eq(text, "second");
    szgi_contents whole;
    ck_szg_ok(szgi_contents_open(context, path, &whole));
    ck_assert_int_eq(whole.size, 6);
    ck_assert_int_eq(memcmp(whole.data, "second", 6), 0);
    szgi_contents_close(&whole);
    ck_szg_fails(SZG_EIO, "folder", szgi_folder_create(context, path));
    ck_assert_int_eq(unlink(path), 0);
    snprintf(path, sizeof path, "%s/deep/er", folder);
    /* An empty folder: neither commit nor discard left a temporary file. */
    ck_assert_int_eq(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/deep", folder);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* In a child, whose other threads could still write: what is open is gone, what is written stays.
 */
START_TEST(abandoned_writers_leave_no_file) {
    szg_context *context = test_context();
    const char *folder = scratch_folder();
    char path[4][64];
    for (int i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%d", folder, i);
    szgi_writer *writer[4];
    for (int i = 0; i < 4; i++)
        ck_szg_ok(szgi_writer_open(context, path[i], &writer[i]));
    ck_szg_ok(szgi_writer_commit(context, &writer[2]));
    szgi_writer_discard(&writer[1]);
    pid_t child = fork();
    if (child == 0) {
        szgi_writer_abandon_all();
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(unlink(path[2]), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was there */
    szgi_writer_discard(&writer[0]);
    ck_szg_fails(SZG_EIO, "writing failed", szgi_writer_commit(context, &writer[3]));
}
END_TEST

enum { THREADS = 2, TURNS = 100 };

/* What one thread writes, with a context of its own. */
typedef struct turns {
    const char *own, *shared;
    char letter;
    szg_status status;
} turns;

static szg_status write_letters(szg_context *context, const char *path, char letter, int count) {
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    for (int i = 0; i < count; i++)
        fputc(letter, szgi_writer_stream(writer));
    return szgi_writer_commit(context, &writer);
}

/* Every third file is given up. No check here: it would leave the thread alone. */
static szg_status write_turns(szg_context *context, const turns *job) {
    for (int turn = 0; turn < TURNS; turn++) {
        szgi_writer *writer;
        SZG_TRY(write_letters(context, job->own, job->letter, 1 + turn % 60));
        SZG_TRY(write_letters(context, job->shared, job->letter, 60));
        if (turn % 3 > 0)
            continue;
        SZG_TRY(szgi_writer_open(context, job->shared, &writer));
        fputs("never", szgi_writer_stream(writer));
        szgi_writer_discard(&writer);
    }
    return SZG_OK;
}

static void *run_turns(void *argument) {
    turns *job = argument;
    szg_context *context;
    const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    job->status = szg_context_open(&options, &context);
    if (job->status == SZG_OK)
        job->status = write_turns(context, job);
    szg_context_close(&context);
    return NULL;
}

/* A target of each and one of both: the last file of either is whole, no temporary one is left. */
START_TEST(threads_write_at_once) {
    const char *folder = scratch_folder();
    char path[THREADS + 1][64], text[64], want[64] = {0};
    pthread_t thread[THREADS];
    turns job[THREADS];
    for (int i = 0; i <= THREADS; i++)
        snprintf(path[i], sizeof path[i], "%s/%d", folder, i);
    for (int i = 0; i < THREADS; i++) {
        job[i] = (turns){path[i], path[THREADS], (char)('a' + i), SZG_OK};
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_turns, &job[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i <= THREADS; i++) {
        read_file(path[i], text);
        memset(want, i < THREADS ? 'a' + i : text[0], 60);
        want[i < THREADS ? 1 + (TURNS - 1) % 60 : 60] = 0;
        ck_assert_str_eq(text, want);
        ck_assert(i < THREADS ? job[i].status == SZG_OK : text[0] == 'a' || text[0] == 'b');
        ck_assert_int_eq(unlink(path[i]), 0);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(files_that_cannot_be) {
    szg_context *context = test_context();
    szgi_writer *writer;
    szgi_contents contents;
    ck_szg_fails(SZG_EIO, "No such file", szgi_writer_open(context, "/nowhere/x", &writer));
    ck_assert_ptr_null(writer);
    ck_szg_fails(SZG_EIO, "No such file", szgi_contents_open(context, "/nowhere/x", &contents));
    char pipe[64];
    snprintf(pipe, sizeof pipe, "/tmp/szego-pipe-%d", (int)getpid());
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    ck_szg_fails(SZG_EIO, "is not a regular file", szgi_writer_open(context, pipe, &writer));
    unlink(pipe);
    ck_szg_fails(SZG_EDATA, "regular", szgi_contents_open(context, "/", &contents));
    ck_szg_fails(SZG_EDATA, "regular", szgi_contents_open(context, "/dev/zero", &contents));
}
END_TEST

START_TEST(whole_files_are_of_one_version) {
    szg_context *context = test_context();
    const char *path = scratch_text("whole", "abcdef");
    szgi_contents contents;
    ck_notices_changes(path, 1, szgi_contents_open(context, path, &contents));
    ck_assert(contents.data == NULL && contents.size == 0);
    ck_szg_ok(szgi_contents_open_within(context, path, 6, "a test", &contents));
    ck_assert_int_eq(contents.size, 6);
    ck_assert_mem_eq(contents.data, "abcdef", 6);
    szgi_contents_close(&contents);
    ck_szg_fails(SZG_EDATA, "6 bytes are more than the 5 that a test may have",
                 szgi_contents_open_within(context, path, 5, "a test", &contents));
    ck_survives_failed_allocations(2, szgi_contents_open(context, path, &contents));
    szgi_contents_close(&contents);
    ck_szg_ok(szgi_contents_open(context, scratch_text("empty", ""), &contents));
    ck_assert(contents.data == NULL && contents.size == 0);
}
END_TEST

/* What a reader by position sees of a file that another program writes to meanwhile. */
START_TEST(a_file_that_changes_while_it_is_read) {
    szg_context *context = test_context();
    szgi_source *source;
    char path[64], text[8] = "";
    snprintf(path, sizeof path, "/tmp/szego-source-%d", (int)getpid());
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs("abcdef", stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
    /* A time that no later write can have. */
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    ck_szg_ok(szgi_source_open(context, path, &source));
    ck_assert_int_eq(szgi_source_size(source), 6);
    ck_szg_ok(szgi_source_read(context, source, 2, 3, text));
    ck_assert_str_eq(text, "cde");
    ck_szg_ok(szgi_source_read(context, source, 6, 0, text));
    ck_szg_ok(szgi_source_check(context, source));
    ck_assert_int_eq(truncate(path, 4), 0);
    ck_szg_fails(SZG_EIO, "its 6 bytes end before byte 4 now",
                 szgi_source_read(context, source, 3, 3, text));
    ck_szg_fails(SZG_EIO, "(6 bytes before, 4 now)", szgi_source_check(context, source));
    szgi_source_close(&source);
    ck_assert_ptr_null(source);
    /* As many bytes as before: the time alone tells. */
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    ck_szg_ok(szgi_source_open(context, path, &source));
    ck_assert_ptr_nonnull(stream = fopen(path, "r+b"));
    ck_assert_int_eq(fputc('z', stream), 'z');
    ck_assert_int_eq(fclose(stream), 0);
    ck_szg_fails(SZG_EIO, "was changed while it was read", szgi_source_check(context, source));
    szgi_source_close(&source);
    /* What is renamed over the file does not touch the one that is open. */
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    ck_szg_ok(szgi_source_open(context, path, &source));
    szgi_writer *writer;
    ck_szg_ok(szgi_writer_open(context, path, &writer));
    fputs("a longer text", szgi_writer_stream(writer));
    ck_szg_ok(szgi_writer_commit(context, &writer));
    ck_szg_ok(szgi_source_check(context, source));
    ck_szg_ok(szgi_source_read(context, source, 0, 4, text));
    ck_assert_int_eq(memcmp(text, "zbcd", 4), 0);
    szgi_source_close(&source);
    ck_assert_int_eq(unlink(path), 0);
    ck_szg_fails(SZG_EIO, "No such file", szgi_source_open(context, path, &source));
    ck_assert_ptr_null(source);
    ck_szg_fails(SZG_EDATA, "regular", szgi_source_open(context, "/", &source));
    szgi_source_close(&source);
}
END_TEST

/* /dev/full accepts the open and refuses the data: the error must surface at commit. */
START_TEST(full_disk_is_reported) {
    szg_context *context = test_context();
    char path[] = "/tmp/szego-full-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    close(descriptor);
    szgi_writer *writer;
    ck_szg_ok(szgi_writer_open(context, path, &writer));
    ck_assert_ptr_nonnull(freopen("/dev/full", "w", szgi_writer_stream(writer)));
    for (int i = 0; i < 100000; i++)
        fputs("data", szgi_writer_stream(writer));
    ck_szg_fails(SZG_EIO, "old contents were kept", szgi_writer_commit(context, &writer));
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_size, 0);
    unlink(path);
}
END_TEST

TEST_FILE("writer") {
    test_add(suite, "writer_replaces_whole_files_only", writer_replaces_whole_files_only);
    test_add(suite, "abandoned_writers_leave_no_file", abandoned_writers_leave_no_file);
    test_add(suite, "threads_write_at_once", threads_write_at_once);
    test_add(suite, "files_that_cannot_be", files_that_cannot_be);
    test_add(suite, "whole_files_are_of_one_version", whole_files_are_of_one_version);
    test_add(suite, "a_file_that_changes_while_it_is_read", a_file_that_changes_while_it_is_read);
    test_add(suite, "full_disk_is_reported", full_disk_is_reported);
}
