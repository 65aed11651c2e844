/* Journals give back what was added, whatever was cut off them, and nothing that was damaged. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "formats/csv.h"
#include "formats/journal.h"

#include "scratch.h"

enum { RECORDS = 4 };

static const szg_column columns[] = {{"name", SZG_TEXT, ""},
                                     {"count", SZG_INTEGER, ""},
                                     {"value", SZG_REAL, ""},
                                     {"note", SZG_TEXT, ""}};
static const char *const texts[] = {"a,b", "\"two\nlines\"", "", NULL, "szego-journal-1 0 0\n"};
static const double reals[] = {0.1, -0.0, 4.9e-324, 1.7e308, (double)INFINITY};

typedef struct tables {
    szg_table *table[3]; /* the middle one is NULL */
} tables;

static tables open_tables(void) {
    tables t = {{NULL}};
    ck_szg_ok(szg_table_open(test_context(), "first", columns, 4, &t.table[0]));
    ck_szg_ok(szg_table_open(test_context(), "second", columns, 2, &t.table[2]));
    return t;
}

static void close_tables(tables *t) {
    for (int i = 0; i < 3; i++)
        szg_table_close(&t->table[i]);
}

/* The rows of record `record`: as many as its number in the first table, one in every second. */
static void add_rows(tables *t, int record) {
    for (int row = 0; row < record; row++) {
        int at = record + row;
        ck_szg_ok(szg_table_add_row(test_context(), t->table[0]));
        ck_szg_ok(szg_table_set_text(test_context(), t->table[0], "name", texts[at % 5]));
        ck_szg_ok(szg_table_set_real(test_context(), t->table[0], "value", reals[at % 5]));
    }
    if (record % 2 == 0)
        return;
    ck_szg_ok(szg_table_add_row(test_context(), t->table[2]));
    ck_szg_ok(szg_table_set_integer(test_context(), t->table[2], "count", record));
}

static char *print(const szg_table *table) {
    szgi_text text;
    ck_szg_ok(szgi_text_open(test_context(), &text));
    ck_szg_ok(szgi_text_end(&text, szgi_csv_print(test_context(), table, text.stream)));
    char *copy = strdup(text.text);
    szgi_text_close(&text);
    return copy;
}

static void check_equal(const tables *got, const tables *want) {
    for (int i = 0; i < 3; i += 2) {
        char *left = print(got->table[i]), *right = print(want->table[i]);
        ck_assert_str_eq(left, right);
        free(left), free(right);
    }
}

static szgi_json *make_object(const char *key, const char *text, int64_t number) {
    szgi_json *object;
    ck_szg_ok(szgi_json_open_object(test_context(), &object));
    ck_szg_ok(szgi_json_add_text(test_context(), object, key, text));
    ck_szg_ok(szgi_json_add_integer(test_context(), object, "record", number));
    return object;
}

static szg_status open_journal(const char *path, const char *input, szgi_journal **out) {
    szgi_json *object = make_object("input", input, 7);
    szg_status status = szgi_journal_open(test_context(), path, object, out);
    szgi_json_close(&object);
    return status;
}

static szg_status add_record(szgi_journal *journal, tables *t, int record) {
    const int64_t first[] = {szg_table_rows(t->table[0]), 0, szg_table_rows(t->table[2])};
    szgi_json *facts = make_object("what", "a record", record);
    add_rows(t, record);
    szg_status status = szgi_journal_add(test_context(), journal, t->table, first, 3, facts);
    szgi_json_close(&facts);
    return status;
}

/* Reads what is there: `t` gets its rows. How many records, each with the facts of its number. */
static int read_records(szgi_journal *journal, tables *t) {
    szgi_json *facts;
    for (int count = 0;; count++) {
        int64_t number;
        ck_szg_ok(szgi_journal_next(test_context(), journal, t->table, 3, &facts));
        if (!facts)
            return count;
        ck_szg_ok(szgi_json_as_integer(test_context(),
                                       szgi_json_member(szgi_json_root(facts), "record"), &number));
        ck_assert_int_eq(number, count);
        szgi_json_close(&facts);
    }
}

/* The tables of the first `count` records. */
static tables tables_of(int count) {
    tables t = open_tables();
    for (int i = 0; i < count; i++)
        add_rows(&t, i);
    return t;
}

/* A journal of all records; its bytes, which the caller frees, and where each of them ends. */
static char *make_journal(const char *path, size_t *size, size_t end[RECORDS]) {
    szgi_journal *journal;
    tables t = open_tables();
    char *bytes = NULL;
    ck_szg_ok(open_journal(path, "this", &journal));
    ck_assert_int_eq(read_records(journal, &t), 0);
    ck_assert_int_ne(access(path, F_OK), 0); /* made with the first record */
    for (int i = 0; i < RECORDS; i++) {
        free(bytes);
        ck_szg_ok(add_record(journal, &t, i));
        bytes = scratch_read(path, &end[i]);
    }
    szgi_journal_close(&journal);
    close_tables(&t);
    *size = end[RECORDS - 1];
    return bytes;
}

/* The file reads as the first `whole` records, and goes on from there. */
static void check_goes_on(const char *path, int whole) {
    szgi_journal *journal;
    tables got = open_tables(), want = tables_of(whole);
    ck_szg_ok(open_journal(path, "this", &journal));
    ck_assert_int_eq(read_records(journal, &got), whole);
    check_equal(&got, &want);
    ck_szg_ok(add_record(journal, &got, whole));
    szgi_journal_close(&journal);
    close_tables(&got), close_tables(&want);
    got = open_tables(), want = tables_of(whole + 1);
    ck_szg_ok(open_journal(path, "this", &journal));
    ck_assert_int_eq(read_records(journal, &got), whole + 1);
    check_equal(&got, &want);
    szgi_journal_close(&journal);
    close_tables(&got), close_tables(&want);
}

START_TEST(every_cut_leaves_the_records_before_it) {
    size_t size, end[RECORDS];
    char *bytes = make_journal(scratch_path("folder/cut.journal"), &size, end);
    for (size_t cut = 0; cut <= size; cut++) {
        int whole = 0;
        while (whole < RECORDS && end[whole] <= cut)
            whole++;
        check_goes_on(scratch_bytes("cut.journal", bytes, cut), whole);
    }
    free(bytes);
}
END_TEST

/* One byte is another: the records before it are whole, and of the others nothing is taken. */
START_TEST(no_damage_is_taken_for_a_record) {
    enum { MAGIC = 16 };
    size_t size, end[RECORDS];
    szgi_stream stream = {.seed = test_seed(), .purpose = 41};
    char *bytes = make_journal(scratch_path("damage.journal"), &size, end);
    for (size_t at = 0; at < size; at++) {
        char old = bytes[at];
        int whole = 0;
        szgi_journal *journal;
        while (whole < RECORDS && end[whole] <= at)
            whole++;
        bytes[at] = (char)(old ^ (1 << (szgi_random_word(&stream, at) % 8)));
        const char *path = scratch_bytes("damage.journal", bytes, size);
        if (at < MAGIC)
            ck_szg_fails(SZG_EDATA, "is no journal of szego", open_journal(path, "this", &journal));
        else
            check_goes_on(path, whole);
        bytes[at] = old;
    }
    free(bytes);
}
END_TEST

START_TEST(other_work_is_refused) {
    const char *path = scratch_path("other.journal");
    szgi_journal *journal, *second;
    size_t size, end[RECORDS];
    tables t = open_tables();
    char *bytes = make_journal(path, &size, end), *after;
    ck_szg_fails(SZG_EDATA, "is of other work: input is \"that\", and was \"this\" there",
                 open_journal(path, "that", &journal));
    szgi_json *more = make_object("input", "this", 7);
    ck_szg_ok(szgi_json_add_text(test_context(), more, "threads", "two"));
    ck_szg_fails(SZG_EDATA, "threads is \"two\", and was missing there",
                 szgi_journal_open(test_context(), path, more, &journal));
    szgi_json_close(&more);
    after = scratch_read(path, &size);
    ck_assert_uint_eq(size, end[RECORDS - 1]);
    ck_assert_mem_eq(bytes, after, size);
    ck_szg_fails(SZG_EDATA, "is no journal of szego",
                 open_journal(scratch_text("text.journal", "my notes"), "this", &journal));
    ck_szg_ok(open_journal(path, "this", &journal));
    ck_szg_fails(SZG_EIO, "another process does this work", open_journal(path, "this", &second));
    szgi_journal_close(&journal);
    /* Two that began before there was a file: the first to write it has the work. */
    path = scratch_path("both.journal");
    ck_szg_ok(open_journal(path, "this", &journal));
    ck_szg_ok(open_journal(path, "this", &second));
    ck_szg_ok(add_record(journal, &t, 0));
    ck_szg_fails(SZG_EIO, "another process does this work", add_record(second, &t, 0));
    szgi_journal_close(&journal), szgi_journal_close(&second);
    close_tables(&t);
    free(bytes), free(after);
}
END_TEST

/* The limit stands for a full disk: what the journal had stays, and it goes on when there is room.
 */
START_TEST(a_full_disk_costs_no_record) {
    const char *path = scratch_path("full.journal");
    size_t size, end[RECORDS];
    free(make_journal(path, &size, end));
    signal(SIGXFSZ, SIG_IGN);
    for (size_t room = end[RECORDS - 1]; room < end[RECORDS - 1] + 60; room += 7) {
        szgi_journal *journal;
        struct rlimit limit = {.rlim_cur = room, .rlim_max = RLIM_INFINITY};
        tables t = open_tables();
        ck_szg_ok(open_journal(path, "this", &journal));
        ck_assert_int_eq(read_records(journal, &t), RECORDS);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        ck_szg_fails(SZG_EIO, "full.journal: cannot be written", add_record(journal, &t, RECORDS));
        limit.rlim_cur = RLIM_INFINITY;
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        szgi_journal_close(&journal);
        close_tables(&t);
        free(scratch_read(path, &size));
        ck_assert_uint_eq(size, end[RECORDS - 1]);
    }
    check_goes_on(path, RECORDS);
}
END_TEST

/* Two rows, written and read back. */
static szg_status write_and_read(const char *path, const szgi_json *input, const tables *t) {
    szgi_journal *journal = NULL;
    szgi_json *facts = NULL;
    tables back = {{NULL}};
    const int64_t first[] = {0, 0, 0};
    unlink(path);
    szg_status status = szg_table_open(test_context(), "first", columns, 4, &back.table[0]);
    if (status == SZG_OK)
        status = szg_table_open(test_context(), "second", columns, 2, &back.table[2]);
    if (status == SZG_OK)
        status = szgi_journal_open(test_context(), path, input, &journal);
    if (status == SZG_OK)
        status = szgi_journal_add(test_context(), journal, t->table, first, 3, input);
    szgi_journal_close(&journal);
    if (status == SZG_OK)
        status = szgi_journal_open(test_context(), path, input, &journal);
    if (status == SZG_OK)
        status = szgi_journal_next(test_context(), journal, back.table, 3, &facts);
    if (status == SZG_OK)
        ck_assert_int_eq(szg_table_rows(back.table[0]), szg_table_rows(t->table[0]));
    szgi_json_close(&facts);
    szgi_journal_close(&journal);
    close_tables(&back);
    return status;
}

START_TEST(refused_memory_is_survived) {
    const char *path = scratch_path("memory.journal");
    szgi_json *input = make_object("input", "this", 7);
    tables t = tables_of(3);
    ck_survives_failed_allocations(10, write_and_read(path, input, &t));
    close_tables(&t);
    szgi_json_close(&input);
}
END_TEST

TEST_FILE("journal") {
    test_add(suite, "every_cut_leaves_the_records_before_it",
             every_cut_leaves_the_records_before_it);
    test_add(suite, "no_damage_is_taken_for_a_record", no_damage_is_taken_for_a_record);
    test_add(suite, "other_work_is_refused", other_work_is_refused);
    test_add(suite, "a_full_disk_costs_no_record", a_full_disk_costs_no_record);
    test_add(suite, "refused_memory_is_survived", refused_memory_is_survived);
}
