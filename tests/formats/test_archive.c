/* Archives: what goes in comes out, the same files give the same bytes, hostile ones are refused.
 */
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "formats/archives.h"

#include "meddle.h"
#include "suite.h"
#include "time_of_day.h"

enum { MOST = 1 << 20 };

/* Three files: some bytes, none, and many. */
static const char *const names[] = {"a/b/one.csv", "a/none", "z"};
static size_t sizes[] = {5, 0, 200000};
static unsigned char contents[200000];
static time_t made; /* when the files were written */

static szg_status pack(szg_context *context, const char *path) {
    szgi_archive_writer *writer;
    szg_status status = szgi_archive_create(context, path, &writer);
    for (int i = 0; i < 3 && status == SZG_OK; i++) {
        const char *part = scratch_bytes("part", contents, sizes[i]);
        ck_assert_int_eq(utimensat(AT_FDCWD, part, (struct timespec[2]){{made, 0}, {made, 0}}, 0),
                         0);
        status = szgi_archive_add(context, writer, names[i], part);
    }
    if (status == SZG_OK)
        return szgi_archive_commit(context, &writer);
    szgi_archive_discard(&writer);
    return status;
}

static void check_contents(const szgi_archive *archive) {
    ck_assert_int_eq(szgi_archive_count(archive), 3);
    for (int i = 0; i < 3; i++) {
        szgi_archive_file file = szgi_archive_file_at(archive, i);
        ck_assert_str_eq(file.name, names[i]);
        ck_assert_int_eq(file.size, (int64_t)sizes[i]);
        ck_assert_int_eq(memcmp(file.data, contents, sizes[i]), 0);
        ck_assert_ptr_eq(szgi_archive_find(archive, names[i]).data, file.data);
    }
}

static void fill_contents(void) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 1};
    for (size_t i = 0; i < sizeof contents; i++)
        contents[i] = (unsigned char)szgi_random_below(&stream, i, 256);
}

START_TEST(what_goes_in_comes_out) {
    szgi_archive *archive;
    size_t size[2];
    fill_contents();
    ck_szg_ok(pack(test_context(), scratch_path("one.tar.xz")));
    ck_szg_ok(szgi_archive_open(test_context(), scratch_path("one.tar.xz"), MOST, &archive));
    check_contents(archive);
    ck_assert_ptr_null(szgi_archive_find(archive, "a/b").data);
    szgi_archive_close(&archive);
    ck_assert_ptr_null(archive);
    made = 86400; /* another time of day and of the files */
    test_shift_time(400 * 86400);
    ck_szg_ok(pack(test_context(), scratch_path("two.tar.xz")));
    test_shift_time(0);
    unsigned char *one = (unsigned char *)scratch_read(scratch_path("one.tar.xz"), &size[0]);
    unsigned char *two = (unsigned char *)scratch_read(scratch_path("two.tar.xz"), &size[1]);
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_int_eq(memcmp(one, two, size[0]), 0);
    free(one);
    free(two);
    ck_szg_fails(SZG_EDATA, "unpacks to more than 100000 bytes",
                 szgi_archive_open(test_context(), scratch_path("one.tar.xz"), 100000, &archive));
    ck_survives_failed_allocations(4, pack(test_context(), scratch_path("one.tar.xz")));
    ck_survives_failed_allocations(
        4, szgi_archive_open(test_context(), scratch_path("one.tar.xz"), MOST, &archive));
    szgi_archive_close(&archive);
}
END_TEST

static szg_status pack_file(const char *path) {
    szgi_archive_writer *writer;
    szg_status status = szgi_archive_create(test_context(), scratch_path("never.tar.xz"), &writer);
    if (status == SZG_OK)
        status = szgi_archive_add(test_context(), writer, "one", path);
    szgi_archive_discard(&writer);
    return status;
}

/* At the first of their parts of 65536 bytes, and at a later one. */
START_TEST(files_that_change_meanwhile) {
    szgi_archive *archive;
    fill_contents();
    for (int reads = 1; reads < 3; reads++) {
        const char *path = scratch_bytes("change", contents, sizeof contents);
        ck_notices_changes(path, reads, pack_file(path));
        path = scratch_path("change.tar.xz");
        ck_szg_ok(pack(test_context(), path));
        ck_notices_changes(path, reads, szgi_archive_open(test_context(), path, MOST, &archive));
        ck_assert_ptr_null(archive);
    }
}
END_TEST

/* A disk that fails is no verdict on the archive. */
START_TEST(archives_that_cannot_be_read_are_not_judged) {
    szgi_archive *archive;
    fill_contents();
    const char *path = scratch_path("unread.tar.xz");
    ck_szg_ok(pack(test_context(), path));
    for (int reads = 1; reads < 3; reads++) {
        meddle_with(path, MEDDLE_FAIL, reads);
        ck_szg_fails(SZG_EIO, "unread.tar.xz: cannot be read: Input/output error",
                     szgi_archive_open(test_context(), path, MOST, &archive));
        ck_assert_ptr_null(archive);
    }
    ck_szg_ok(szgi_archive_open(test_context(), path, MOST, &archive));
    szgi_archive_close(&archive);
}
END_TEST

START_TEST(damage_is_found) {
    szgi_archive *archive;
    size_t size;
    fill_contents();
    sizes[2] = 300;
    ck_szg_ok(pack(test_context(), scratch_path("whole.tar.xz")));
    unsigned char *data = (unsigned char *)scratch_read(scratch_path("whole.tar.xz"), &size);
    for (size_t length = 0; length < size; length += 1 + length / 16) {
        scratch_bytes("cut.tar.xz", data, length);
        ck_szg_fails(SZG_EDATA, "cut.tar.xz",
                     szgi_archive_open(test_context(), scratch_path("cut.tar.xz"), MOST, &archive));
        ck_assert_ptr_null(archive);
    }
    scratch_bytes("cut.tar.xz", data, size - 1);
    ck_szg_fails(SZG_EDATA, "",
                 szgi_archive_open(test_context(), scratch_path("cut.tar.xz"), MOST, &archive));
    for (size_t at = 0; at < size; at += 3) {
        data[at] ^= 1u << (at % 8);
        scratch_bytes("flipped.tar.xz", data, size);
        szg_status status =
            szgi_archive_open(test_context(), scratch_path("flipped.tar.xz"), MOST, &archive);
        data[at] ^= 1u << (at % 8);
        if (status == SZG_OK)
            check_contents(archive);
        else
            ck_assert_int_eq(status, SZG_EDATA);
        szgi_archive_close(&archive);
    }
    free(data);
    sizes[2] = sizeof contents;
}
END_TEST

/* ---- Hostile archives, written with the library itself ---- */

typedef struct hostile {
    const char *name;
    const char *link; /* NULL: none */
    int type;         /* AE_IFREG, ... */
    const char *words;
} hostile;

static void write_hostile(const hostile *what, int copies, const char *path) {
    struct archive *tar = archive_write_new();
    archive_write_add_filter_xz(tar);
    archive_write_set_format_pax(tar);
    ck_assert_int_eq(archive_write_open_filename(tar, path), ARCHIVE_OK);
    for (int i = 0; i < copies; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, what->name);
        archive_entry_set_filetype(entry, (unsigned)what->type);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, what->link || what->type != AE_IFREG ? 0 : 3);
        if (what->link && what->type == AE_IFLNK)
            archive_entry_set_symlink(entry, what->link);
        else if (what->link)
            archive_entry_set_hardlink(entry, what->link);
        ck_assert_int_eq(archive_write_header(tar, entry), ARCHIVE_OK);
        if (archive_entry_size(entry) > 0)
            archive_write_data(tar, "abc", 3);
        archive_entry_free(entry);
    }
    ck_assert_int_eq(archive_write_close(tar), ARCHIVE_OK);
    archive_write_free(tar);
}

START_TEST(hostile_archives_are_refused) {
    static const hostile all[] = {
        {"/etc/passwd", NULL, AE_IFREG, "/etc/passwd\" is not taken"},
        {"../x", NULL, AE_IFREG, "../x\" is not taken"},
        {"a/../../x", NULL, AE_IFREG, "is not taken"},
        {"a/..", NULL, AE_IFREG, "is not taken"},
        {"./a", NULL, AE_IFREG, "is not taken"},
        {"a//b", NULL, AE_IFREG, "is not taken"},
        {"a b", NULL, AE_IFREG, "is not taken"},
        {"a\nb", NULL, AE_IFREG, "is not taken"},
        {"a\\b", NULL, AE_IFREG, "is not taken"},
        {"link", "/etc/passwd", AE_IFLNK, "link is no regular file"},
        {"link", "/etc/passwd", AE_IFREG, "link is no regular file"},
        {"pipe", NULL, AE_IFIFO, "pipe is no regular file"},
        {"folder", NULL, AE_IFDIR, "not taken"}, /* "folder/" */
    };
    szgi_archive *archive;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        write_hostile(&all[i], 1, scratch_path("hostile.tar.xz"));
        ck_szg_fails(
            SZG_EDATA, all[i].words,
            szgi_archive_open(test_context(), scratch_path("hostile.tar.xz"), MOST, &archive));
    }
    static const hostile twice = {"a", NULL, AE_IFREG, NULL};
    write_hostile(&twice, 1, scratch_path("fine.tar.xz"));
    ck_szg_ok(szgi_archive_open(test_context(), scratch_path("fine.tar.xz"), MOST, &archive));
    szgi_archive_close(&archive);
    write_hostile(&twice, 2, scratch_path("hostile.tar.xz"));
    ck_szg_fails(SZG_EDATA, "a stands in it twice",
                 szgi_archive_open(test_context(), scratch_path("hostile.tar.xz"), MOST, &archive));
    ck_szg_fails(SZG_EIO, "missing.tar.xz",
                 szgi_archive_open(test_context(), scratch_path("missing.tar.xz"), MOST, &archive));
    scratch_bytes("text", "not an archive at all, but some text\n", 37);
    ck_szg_fails(SZG_EDATA, "no archive compressed with xz",
                 szgi_archive_open(test_context(), scratch_path("text"), MOST, &archive));
}
END_TEST

/* ---- Sizes ---- */

enum { MEGABYTE = 1 << 20, WRITTEN = 1 << 12 };

static szg_status emit_zeros(szg_context *context, const void *data, FILE *stream) {
    static const char zeros[WRITTEN];
    (void)context;
    for (int64_t left = *(const int64_t *)data; left > 0; left -= WRITTEN)
        fwrite(zeros, 1, WRITTEN, stream);
    return SZG_OK;
}

static void pack_zeros(int64_t size, const char *path) {
    szgi_archive_writer *writer;
    ck_szg_ok(szgi_archive_create(test_context(), path, &writer));
    ck_szg_ok(szgi_archive_add_made(test_context(), writer, "zeros", emit_zeros, &size));
    ck_szg_ok(szgi_archive_commit(test_context(), &writer));
}

/* Zeros pack to a seven thousandth: 8 MB of them are taken, 24 MB are a bomb, whatever `most`. */
START_TEST(bombs_are_refused) {
    szgi_archive *archive;
    pack_zeros(8 * MEGABYTE, scratch_path("some.tar.xz"));
    ck_szg_ok(szgi_archive_open(test_context(), scratch_path("some.tar.xz"), INT64_MAX, &archive));
    ck_assert_int_eq(szgi_archive_find(archive, "zeros").size, 8 * MEGABYTE);
    szgi_archive_close(&archive);
    pack_zeros(24 * MEGABYTE, scratch_path("bomb.tar.xz"));
    ck_szg_fails(
        SZG_EDATA, "bomb.tar.xz: unpacks to more than 500 times its size",
        szgi_archive_open(test_context(), scratch_path("bomb.tar.xz"), INT64_MAX, &archive));
    ck_assert_ptr_null(archive);
}
END_TEST

static double count_looks(void *user) {
    return (double)++*(int64_t *)user;
}

/* The deadline is looked at for every 64 KiB. */
START_TEST(each_piece_can_be_cancelled) {
    enum { PIECES = 8 * MEGABYTE >> 16 };
    int64_t looks = 0, all;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .clock = count_looks, .user = &looks};
    szg_context *context;
    szgi_archive *archive;
    pack_zeros(8 * MEGABYTE, scratch_path("long.tar.xz"));
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    szg_context_set_deadline(context, 1e6);
    looks = 0;
    ck_szg_ok(szgi_archive_open(context, scratch_path("long.tar.xz"), MOST << 8, &archive));
    all = looks;
    ck_assert_int_ge(all, PIECES);
    szgi_archive_close(&archive);
    for (int64_t stop = 1; stop < all; stop += PIECES / 4) {
        looks = 0;
        szg_context_set_deadline(context,
                                 (double)stop); /* itself a look: at 1, so until 1 + stop */
        ck_assert_int_eq(
            szgi_archive_open(context, scratch_path("long.tar.xz"), MOST << 8, &archive),
            SZG_ECANCEL);
        ck_assert_int_eq(looks, 1 + stop);
        ck_assert_ptr_null(archive);
    }
    szg_context_close(&context);
}
END_TEST

TEST_FILE("archive") {
    test_add(suite, "bombs", bombs_are_refused);
    test_add(suite, "cancelling", each_piece_can_be_cancelled);
    test_add(suite, "round trip", what_goes_in_comes_out);
    test_add(suite, "files that change meanwhile", files_that_change_meanwhile);
    test_add(suite, "failed reads", archives_that_cannot_be_read_are_not_judged);
    test_add(suite, "damage", damage_is_found);
    test_add(suite, "hostile", hostile_archives_are_refused);
}
