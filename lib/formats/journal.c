/* The file: records one after the other. A record is a frame, one line with the size and the
 * checksum of what follows; a JSON object on one line; and the tables that it names, as CSV. The
 * object of record 0 is the input; those of the others hold facts and tables. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/csv.h"
#include "formats/journal.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "csv_private.h"

#define MAGIC "szego-journal-1 "
enum { FRAME = sizeof MAGIC - 1 + 16 + 1 + 16 + 1, TABLES = 64 };

struct szgi_journal {
    char *path, *input;   /* the input as JSON on one line */
    int descriptor;       /* locked; -1: there is no file yet */
    szgi_source *source;  /* what stood there when it was opened; NULL: nothing */
    int64_t end, records; /* of what is known to be whole */
};

static szg_status fail_errno(szg_context *context, const szgi_journal *journal, const char *what) {
    int why = errno;
    return szgi_fail(context, SZG_EIO, "%s: %s: %s%s", journal->path, what, strerror(why),
                     szgi_write_remedy(why));
}

uint64_t szgi_journal_checksum(const void *data, int64_t size) {
    const unsigned char *byte = data;
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}

/* ---- Opening ---- */

static szg_status fail_busy(szg_context *context, const szgi_journal *journal) {
    return szgi_fail(context, SZG_EIO,
                     "%s: another process does this work: wait for its end, or write into "
                     "another folder",
                     journal->path);
}

static szg_status lock_file(szg_context *context, const szgi_journal *journal) {
    if (flock(journal->descriptor, LOCK_EX | LOCK_NB) == 0)
        return SZG_OK;
    if (errno == EWOULDBLOCK)
        return fail_busy(context, journal);
    szgi_say(context, SZG_NOTE, "%s: cannot be locked (%s): let no other process do this work",
             journal->path, strerror(errno));
    return SZG_OK;
}

static szg_status open_file(szg_context *context, szgi_journal *journal) {
    struct stat info;
    journal->descriptor = open(journal->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (journal->descriptor < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? SZG_OK
                   : fail_errno(context, journal, "cannot be opened");
    if (fstat(journal->descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return szgi_fail(context, SZG_EIO, "%s: is not a regular file", journal->path);
    SZG_TRY(lock_file(context, journal));
    return szgi_source_open(context, journal->path, &journal->source);
}

static void forget_file(szgi_journal *journal) {
    if (journal->descriptor >= 0)
        close(journal->descriptor);
    journal->descriptor = -1;
    szgi_source_close(&journal->source);
}

/* ---- Reading ---- */

/* Sixteen hexadecimal digits. */
static bool read_hex(const char *text, uint64_t *out) {
    *out = 0;
    for (int i = 0; i < 16; i++) {
        const char *digit = memchr("0123456789abcdef", text[i], 16);
        if (!digit)
            return false;
        *out = *out << 4 | (uint64_t)(strchr("0123456789abcdef", *digit) - "0123456789abcdef");
    }
    return true;
}

/* The body of the record at journal->end; *body NULL: the file ends there, or its rest is not a
 * whole record, and *why says which. */
static szg_status read_body(szg_context *context, const szgi_journal *journal, char **body,
                            int64_t *size, const char **why) {
    char frame[FRAME];
    uint64_t bytes, sum;
    int64_t left = journal->source ? szgi_source_size(journal->source) - journal->end : 0;
    *body = NULL;
    *why = left > 0 ? "is not whole" : NULL;
    if (left < FRAME)
        return SZG_OK;
    SZG_TRY(szgi_source_read(context, journal->source, journal->end, FRAME, frame));
    const char *at = frame + sizeof MAGIC - 1;
    *why = "is damaged";
    if (memcmp(frame, MAGIC, sizeof MAGIC - 1) != 0 || !read_hex(at, &bytes) || at[16] != ' ' ||
        !read_hex(at + 17, &sum) || at[33] != '\n')
        return SZG_OK;
    *why = "is not whole";
    if (bytes > (uint64_t)(left - FRAME))
        return SZG_OK;
    *size = (int64_t)bytes;
    SZG_TRY(szgi_memory_alloc(context, *size + 1, body));
    szg_status status =
        szgi_source_read(context, journal->source, journal->end + FRAME, *size, *body);
    *why = szgi_journal_checksum(*body, *size) == sum ? NULL : "is damaged";
    if (status == SZG_OK && !*why)
        return SZG_OK;
    szgi_memory_free(*body);
    *body = NULL;
    return status;
}

/* The object on the first line of a body; *rest is what comes after it. */
static szg_status parse_object(szg_context *context, const szgi_journal *journal, const char *body,
                               int64_t size, szgi_json **out, const char **rest) {
    const char *newline = memchr(body, '\n', (size_t)size);
    *rest = newline ? newline + 1 : body + size;
    SZG_TRY(szgi_json_parse(context, journal->path, body, *rest - body, out));
    szg_status status = szgi_json_as_object(context, szgi_json_root(*out));
    if (status != SZG_OK)
        szgi_json_close(out);
    return status;
}

/* What a member of the input is now, and what it was: the first one that differs. */
static szg_status compare_member(szg_context *context, const szgi_journal *journal,
                                 szgi_json_value now, szgi_json_value then) {
    char *is = NULL, *was = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_text(context, now, 0, &is), done);
    if (szgi_json_kind_of(then) != SZGI_JSON_ABSENT)
        SZG_TRY_GOTO(status, szgi_json_text(context, then, 0, &was), done);
    if (!was || strcmp(is, was) != 0)
        status = szgi_fail(context, SZG_EDATA,
                           "%s: is of other work: %s is %s, and was %s there: run the command as "
                           "it was, remove this file, or write into another folder",
                           journal->path, SHOWN(now.key), SHOWN(is), was ? SHOWN(was) : "missing");
done:
    szgi_memory_free(is);
    szgi_memory_free(was);
    return status;
}

static szg_status compare_input(szg_context *context, const szgi_journal *journal,
                                const szgi_json *input, szgi_json_value then) {
    szgi_json_value now = szgi_json_root(input), member = {0};
    while (szgi_json_next(now, &member))
        SZG_TRY(compare_member(context, journal, member, szgi_json_member(then, member.key)));
    if (szgi_json_count(then) == szgi_json_count(now))
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: is of other work, which depended on more: remove this file, or write "
                     "into another folder",
                     journal->path);
}

/* Whether the file begins as a journal does, however little of it there is. */
static szg_status check_magic(szg_context *context, const szgi_journal *journal) {
    char start[sizeof MAGIC - 1];
    int64_t size = szgi_source_size(journal->source), most = sizeof start;
    SZG_TRY(szgi_source_read(context, journal->source, 0, size < most ? size : most, start));
    if (memcmp(start, MAGIC, (size_t)(size < most ? size : most)) == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: is no journal of szego: move it away, or write into another folder",
                     journal->path);
}

static szg_status read_input(szg_context *context, szgi_journal *journal, const szgi_json *input) {
    char *body;
    int64_t size = 0;
    const char *why, *rest;
    szgi_json *then = NULL;
    if (!journal->source)
        return SZG_OK;
    SZG_TRY(check_magic(context, journal));
    SZG_TRY(read_body(context, journal, &body, &size, &why));
    if (why)
        szgi_say(context, SZG_WARNING, "%s: its beginning %s: everything is computed anew",
                 journal->path, why);
    if (!body) {
        szgi_source_close(&journal->source);
        return SZG_OK;
    }
    szg_status status = parse_object(context, journal, body, size, &then, &rest);
    if (status == SZG_OK)
        status = compare_input(context, journal, input, szgi_json_root(then));
    journal->end = FRAME + size;
    szgi_json_close(&then);
    szgi_memory_free(body);
    return status;
}

szg_status szgi_journal_open(szg_context *context, const char *path, const szgi_json *input,
                             szgi_journal **out) {
    szgi_journal *journal;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &journal));
    journal->descriptor = -1;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_copy_text(context, path, &journal->path), fail);
    SZG_TRY_GOTO(status, szgi_json_text(context, szgi_json_root(input), 0, &journal->input), fail);
    SZG_TRY_GOTO(status, open_file(context, journal), fail);
    SZG_TRY_GOTO(status, read_input(context, journal, input), fail);
    *out = journal;
    return SZG_OK;
fail:
    szgi_journal_close(&journal);
    return status;
}

void szgi_journal_close(szgi_journal **journal) {
    if (!journal || !*journal)
        return;
    forget_file(*journal);
    szgi_memory_free((*journal)->input);
    szgi_memory_free((*journal)->path);
    szgi_memory_free(*journal);
    *journal = NULL;
}

/* ---- Records ---- */

static szg_table *find_table(szg_table *const *table, int64_t count, const char *name) {
    for (int64_t i = 0; i < count; i++)
        if (table[i] && strcmp(szg_table_name(table[i]), name) == 0)
            return table[i];
    return NULL;
}

/* One entry {"name", "bytes"}, whose text begins at *at: its rows as a table of their own. */
static szg_status parse_table(szg_context *context, const szgi_journal *journal,
                              szgi_json_value entry, szg_table *const *table, int64_t count,
                              const char **at, const char *end, szg_table **out,
                              szg_table **target) {
    const char *name;
    int64_t bytes;
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(entry, "name"), &name));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(entry, "bytes"), &bytes));
    *target = find_table(table, count, name);
    if (!*target || bytes < 0 || bytes > end - *at)
        return szgi_json_fail(context, entry, "is no table of this work: remove the file");
    const szg_column *column = szg_table_column(*target, 0);
    SZG_TRY(szgi_csv_parse_exactly(context, journal->path, *at, bytes, column,
                                   szg_table_columns(*target), out));
    *at += bytes;
    return SZG_OK;
}

/* All tables of a record are parsed before the first row is added. */
static szg_status parse_tables(szg_context *context, const szgi_journal *journal,
                               szgi_json_value list, const char *at, const char *end,
                               szg_table *const *table, int64_t count) {
    szg_table *rows[TABLES] = {NULL}, *target[TABLES];
    szg_status status = szgi_json_as_array(context, list);
    int64_t tables = szgi_json_count(list);
    if (status == SZG_OK && tables > TABLES)
        status = szgi_json_fail(context, list, "are too many");
    for (int64_t i = 0; i < tables && status == SZG_OK; i++)
        status = parse_table(context, journal, szgi_json_element(list, i), table, count, &at, end,
                             &rows[i], &target[i]);
    for (int64_t i = 0; i < tables && status == SZG_OK; i++)
        status = szgi_table_append(context, target[i], rows[i]);
    for (int64_t i = 0; i < TABLES; i++)
        szg_table_close(&rows[i]);
    return status;
}

szg_status szgi_journal_next(szg_context *context, szgi_journal *journal, szg_table *const *table,
                             int64_t count, szgi_json **facts) {
    char *body;
    int64_t size = 0;
    const char *why, *rest;
    szgi_json *head = NULL;
    *facts = NULL;
    SZG_TRY(read_body(context, journal, &body, &size, &why));
    if (why)
        szgi_say(context, SZG_WARNING,
                 "%s: record %" PRId64 " %s: the work from there on is done again", journal->path,
                 journal->records + 1, why);
    if (!body) {
        szgi_source_close(&journal->source);
        return SZG_OK;
    }
    szg_status status = parse_object(context, journal, body, size, &head, &rest);
    if (status == SZG_OK)
        status = parse_tables(context, journal, szgi_json_member(szgi_json_root(head), "tables"),
                              rest, body + size, table, count);
    if (status == SZG_OK)
        status = szgi_json_copy(context, szgi_json_member(szgi_json_root(head), "facts"), facts);
    journal->end += FRAME + size;
    journal->records++;
    szgi_json_close(&head);
    szgi_memory_free(body);
    return status;
}

/* ---- Adding ---- */

static szg_status print_rows(szg_context *context, const szg_table *table, int64_t first,
                             szgi_text *out) {
    SZG_TRY(szgi_text_open(context, out));
    szg_status status = szgi_csv_print_header(context, table, out->stream);
    for (int64_t row = first; row < szg_table_rows(table) && status == SZG_OK; row++)
        status = szgi_csv_print_row(context, table, row, out->stream);
    return szgi_text_end(out, status);
}

/* An entry of the list, and the rows behind it. */
static szg_status add_table(szg_context *context, const szg_table *table, int64_t first,
                            szgi_json *list, szgi_text *out) {
    szgi_json *entry;
    SZG_TRY(print_rows(context, table, first, out));
    SZG_TRY(szgi_json_open_object(context, &entry));
    szg_status status = szgi_json_add_text(context, entry, "name", szg_table_name(table));
    if (status == SZG_OK)
        status = szgi_json_add_integer(context, entry, "bytes", out->length);
    if (status == SZG_OK)
        status = szgi_json_add(context, list, NULL, &entry);
    szgi_json_close(&entry);
    return status;
}

/* {"facts": ..., "tables": [...]}. */
static szg_status make_head(szg_context *context, const szgi_json *facts, szgi_json **list,
                            char **out) {
    szgi_json *head = NULL, *copy = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &head), done);
    SZG_TRY_GOTO(status, szgi_json_copy(context, szgi_json_root(facts), &copy), done);
    SZG_TRY_GOTO(status, szgi_json_add(context, head, "facts", &copy), done);
    SZG_TRY_GOTO(status, szgi_json_add(context, head, "tables", list), done);
    status = szgi_json_text(context, szgi_json_root(head), 0, out);
done:
    szgi_json_close(&copy);
    szgi_json_close(&head);
    return status;
}

static szg_status print_body(szg_context *context, const char *head, const szgi_text *tables,
                             int64_t count, szgi_text *out) {
    SZG_TRY(szgi_text_open(context, out));
    fprintf(out->stream, "%s\n", head);
    for (int64_t i = 0; i < count; i++)
        if (tables[i].text)
            fwrite(tables[i].text, 1, (size_t)tables[i].length, out->stream);
    return szgi_text_end(out, SZG_OK);
}

static szg_status make_body(szg_context *context, szg_table *const *table, const int64_t *first,
                            int64_t count, const szgi_json *facts, szgi_text *out) {
    szgi_text text[TABLES] = {{0}};
    szgi_json *list = NULL;
    char *head = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &list), done);
    for (int64_t i = 0; i < count; i++)
        if (table[i] && first[i] < szg_table_rows(table[i]))
            SZG_TRY_GOTO(status, add_table(context, table[i], first[i], list, &text[i]), done);
    SZG_TRY_GOTO(status, make_head(context, facts, &list, &head), done);
    status = print_body(context, head, text, count, out);
done:
    for (int64_t i = 0; i < TABLES; i++)
        szgi_text_close(&text[i]);
    szgi_memory_free(head);
    szgi_json_close(&list);
    return status;
}

/* False: errno says why. */
static bool write_at(int descriptor, const char *data, int64_t size, int64_t *at) {
    while (size > 0) {
        ssize_t written = pwrite(descriptor, data, (size_t)size, *at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        data += written;
        size -= written;
        *at += written;
    }
    return true;
}

static bool write_record(int descriptor, const char *body, int64_t size, int64_t *at) {
    char frame[FRAME + 1];
    snprintf(frame, sizeof frame, MAGIC "%016" PRIx64 " %016" PRIx64 "\n", (uint64_t)size,
             szgi_journal_checksum(body, size));
    return write_at(descriptor, frame, FRAME, at) && write_at(descriptor, body, size, at);
}

static szg_status create_file(szg_context *context, szgi_journal *journal) {
    char *folder;
    const char *slash = strrchr(journal->path, '/');
    if (journal->descriptor >= 0)
        return SZG_OK;
    if (slash && slash > journal->path) {
        SZG_TRY(szgi_memory_copy_text(context, journal->path, &folder));
        folder[slash - journal->path] = 0;
        szg_status status = szgi_folder_create(context, folder);
        szgi_memory_free(folder);
        SZG_TRY(status);
    }
    journal->descriptor = open(journal->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (journal->descriptor < 0)
        return errno == EEXIST ? fail_busy(context, journal)
                               : fail_errno(context, journal, "cannot be written");
    return lock_file(context, journal);
}

/* Everything from journal->end on, and before it the input where nothing is known to be whole. */
static szg_status append(szg_context *context, szgi_journal *journal, const szgi_text *body) {
    SZG_TRY(create_file(context, journal));
    int64_t at = journal->end;
    bool written = ftruncate(journal->descriptor, at) == 0;
    if (written && at == 0)
        written =
            write_record(journal->descriptor, journal->input, (int64_t)strlen(journal->input), &at);
    if (written)
        written = write_record(journal->descriptor, body->text, body->length, &at) &&
                  fsync(journal->descriptor) == 0;
    if (written) {
        journal->end = at;
        journal->records++;
        return SZG_OK;
    }
    szg_status status = fail_errno(context, journal, "cannot be written, what it had is kept");
    (void)!ftruncate(journal->descriptor, journal->end);
    return status;
}

szg_status szgi_journal_add(szg_context *context, szgi_journal *journal, szg_table *const *table,
                            const int64_t *first, int64_t count, const szgi_json *facts) {
    szgi_text body = {0};
    if (count > TABLES)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " tables: a record has at most %d", count,
                         (int)TABLES);
    szg_status status = make_body(context, table, first, count, facts, &body);
    if (status == SZG_OK)
        status = append(context, journal, &body);
    szgi_text_close(&body);
    return status;
}
