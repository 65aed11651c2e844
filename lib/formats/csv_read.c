#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "csv_private.h"

typedef enum ending { END_FIELD, END_LINE, END_FILE } ending;

typedef struct reader {
    szg_context *context;
    const char *path, *data;
    int64_t size, at, line, field; /* line and field count from 1 */
    char *text;                    /* the current field, unquoted and NUL-terminated */
    int64_t used, capacity;
    bool quoted;
    bool exactly;                    /* no column but those asked for */
    const char *const *optional;     /* NULL, or names of columns that may be missing */
    int64_t fields, capacity_fields; /* columns of the header */
    int64_t *target; /* [fields]: column in the table, -1 where the caller did not ask for it */
} reader;

static szg_status fail_at(const reader *r, const char *what) {
    return szgi_fail(r->context, SZG_EDATA, "%s: line %" PRId64 ", column %" PRId64 ": %s", r->path,
                     r->line, r->field, what);
}

static int peek(const reader *r) {
    return r->at < r->size ? (unsigned char)r->data[r->at] : -1;
}

/* Adds the next `count` bytes of the file to the field. */
static szg_status keep(reader *r, int64_t count) {
    const char *bytes = r->data + r->at;
    if (memchr(bytes, 0, (size_t)count))
        return fail_at(r, "a NUL byte: this is not a text file");
    SZG_TRY(szgi_memory_reserve(r->context, &r->text, &r->capacity, r->used, count + 1));
    memcpy(r->text + r->used, bytes, (size_t)count);
    r->used += count;
    r->text[r->used] = 0;
    r->at += count;
    return SZG_OK;
}

/* Keeps the bytes before the next quote, or all that are left, and counts the lines in them. */
static szg_status keep_quoted(reader *r) {
    const char *from = r->data + r->at;
    const char *quote = r->at < r->size ? memchr(from, '"', (size_t)(r->size - r->at)) : NULL;
    int64_t run = quote ? quote - from : r->size - r->at;
    SZG_TRY(keep(r, run));
    for (int64_t i = r->at - run; i < r->at; i++)
        r->line += r->data[i] == '\n';
    return SZG_OK;
}

static szg_status read_quoted(reader *r) {
    r->at++;
    for (;;) {
        SZG_TRY(keep_quoted(r));
        if (peek(r) < 0)
            return fail_at(r, "a quoted field is not closed: the file is cut off");
        r->at++;
        if (peek(r) != '"')
            return SZG_OK;
        SZG_TRY(keep(r, 1));
    }
}

/* Bytes before the next comma, quote or end of line. */
static int64_t plain_bytes(const reader *r) {
    int64_t at = r->at;
    for (; at < r->size; at++) {
        char c = r->data[at];
        if (c == ',' || c == '\n' || c == '"' || c == '\r')
            break;
    }
    return at - r->at;
}

/* Reads one field and what ends it. */
static szg_status read_field(reader *r, ending *out) {
    r->used = 0;
    r->field++;
    r->quoted = peek(r) == '"';
    SZG_TRY(r->quoted ? read_quoted(r) : keep(r, plain_bytes(r)));
    if (peek(r) == '\r' && r->at + 1 < r->size && r->data[r->at + 1] == '\n')
        r->at++;
    int end = peek(r);
    if (end >= 0 && end != ',' && end != '\n')
        return fail_at(r, r->quoted ? "text after a closing quote: double the quotes inside a field"
                                    : "a quote or carriage return in a field that is not quoted");
    if (szgi_utf8_check(r->text, (size_t)r->used) >= 0)
        return fail_at(r, "not valid UTF-8: convert the file to UTF-8");
    *out = end < 0 ? END_FILE : end == ',' ? END_FIELD : END_LINE;
    r->at += *out != END_FILE;
    return SZG_OK;
}

static szg_status map_column(reader *r, const szg_column *columns, int64_t count) {
    SZG_TRY(szgi_memory_reserve(r->context, &r->target, &r->capacity_fields, r->fields, 1));
    int64_t found = -1;
    for (int64_t i = 0; i < count; i++)
        if (strcmp(columns[i].name, r->text) == 0)
            found = i;
    if (found < 0 && r->exactly)
        return fail_at(r, "a column that does not belong to this table");
    for (int64_t i = 0; i < r->fields && found >= 0; i++)
        if (r->target[i] == found)
            return fail_at(r, "this column was there before: remove one of the two");
    r->target[r->fields++] = found;
    return SZG_OK;
}

static bool may_be_missing(const reader *r, const char *column) {
    for (const char *const *name = r->optional; name && *name; name++)
        if (strcmp(*name, column) == 0)
            return true;
    return false;
}

static szg_status read_header(reader *r, const szg_column *columns, int64_t count) {
    if (r->size >= 3 && memcmp(r->data, "\xEF\xBB\xBF", 3) == 0)
        r->at = 3; /* a byte order mark */
    if (r->at == r->size)
        return szgi_fail(r->context, SZG_EDATA, "%s: is empty: a header line is needed", r->path);
    for (ending end = END_FIELD; end == END_FIELD;) {
        SZG_TRY(read_field(r, &end));
        SZG_TRY(map_column(r, columns, count));
    }
    for (int64_t i = 0; i < count; i++) {
        bool found = false;
        for (int64_t j = 0; j < r->fields; j++)
            found = found || r->target[j] == i;
        if (!found && !may_be_missing(r, columns[i].name))
            return szgi_fail(r->context, SZG_EDATA, "%s: line 1: the header has no column %s",
                             r->path, columns[i].name);
    }
    return SZG_OK;
}

static szg_status set_integer(const reader *r, szg_table *table, int64_t column) {
    int64_t value;
    const char *text = r->text + (r->text[0] == '+' && r->text[1] != '-');
    if (szgi_integer_parse(text, &value) != SZGI_PARSED)
        return fail_at(r, "not an integer of 64 bits");
    return szgi_table_put_integer(r->context, table, column, value);
}

static szg_status set_real(const reader *r, szg_table *table, int64_t column) {
    double value;
    if (!szgi_real_parse(r->text, &value))
        return fail_at(r, "not a number (a point is the decimal sign; nan and inf are allowed)");
    return szgi_table_put_real(r->context, table, column, value);
}

static szg_status set_cell(const reader *r, szg_table *table) {
    if (r->field > r->fields)
        return fail_at(r, "more fields than the header has");
    int64_t target = r->target[r->field - 1];
    if (target < 0 || (r->used == 0 && !r->quoted))
        return SZG_OK;
    switch (szg_table_column(table, target)->type) {
    case SZG_INTEGER:
        return set_integer(r, table, target);
    case SZG_REAL:
        return set_real(r, table, target);
    default:
        return szgi_table_put_text(r->context, table, target, r->text);
    }
}

/* One line: a row, or nothing where it is blank and the header has several columns. */
static szg_status read_row(reader *r, szg_table *table) {
    r->field = 0;
    bool blank = peek(r) == '\n' || (peek(r) == '\r' && r->at + 1 < r->size);
    if (blank && r->fields > 1) {
        ending end;
        SZG_TRY(read_field(r, &end));
        return end == END_LINE ? SZG_OK : fail_at(r, "fewer fields than the header has");
    }
    SZG_TRY(szg_table_add_row(r->context, table));
    for (ending end = END_FIELD; end == END_FIELD;) {
        SZG_TRY(read_field(r, &end));
        SZG_TRY(set_cell(r, table));
    }
    return r->field == r->fields ? SZG_OK : fail_at(r, "fewer fields than the header has");
}

/* Room for the rows that are left: each has a line, and a byte at least a field. */
static szg_status reserve_rows(const reader *r, szg_table *table) {
    int64_t lines = 1;
    for (const char *at = r->data + r->at, *end = r->data + r->size;
         at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    int64_t most = (r->size - r->at) / r->fields + 1;
    return szgi_table_reserve(r->context, table, lines < most ? lines : most);
}

static szg_status read_rows(reader *r, szg_table *table) {
    SZG_TRY(reserve_rows(r, table));
    /* a quoted field may span lines, so lines are counted by their ends */
    while (r->at < r->size) {
        r->line++;
        if (r->line % 65536 == 0)
            SZG_TRY(szgi_context_check_cancel(r->context));
        SZG_TRY(read_row(r, table));
    }
    return SZG_OK;
}

static szg_status open_table(const reader *r, const szg_column *columns, int64_t count,
                             szg_table **out) {
    char *name;
    SZG_TRY(szgi_memory_copy_text(r->context, szgi_path_name(r->path), &name));
    if (szgi_path_ends(name, ".csv"))
        name[strlen(name) - 4] = 0;
    szg_status status = szg_table_open(r->context, name, columns, count, out);
    szgi_memory_free(name);
    return status;
}

static szg_status parse(reader *r, const szg_column *columns, int64_t count, szg_table **out) {
    *out = NULL;
    szg_table *table = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, open_table(r, columns, count, &table), done);
    SZG_TRY_GOTO(status, read_header(r, columns, count), done);
    SZG_TRY_GOTO(status, read_rows(r, table), done);
    *out = table;
    table = NULL;
done:
    szg_table_close(&table);
    szgi_memory_free(r->target);
    szgi_memory_free(r->text);
    return status;
}

szg_status szgi_csv_parse(szg_context *context, const char *name, const char *data, int64_t size,
                          const szg_column *columns, int64_t count, const char *const *optional,
                          szg_table **out) {
    reader r = {.context = context,
                .path = name,
                .data = data,
                .size = size,
                .line = 1,
                .optional = optional};
    return parse(&r, columns, count, out);
}

szg_status szgi_csv_parse_exactly(szg_context *context, const char *name, const char *data,
                                  int64_t size, const szg_column *columns, int64_t count,
                                  szg_table **out) {
    reader r = {
        .context = context, .path = name, .data = data, .size = size, .line = 1, .exactly = true};
    return parse(&r, columns, count, out);
}

szg_status szgi_csv_read(szg_context *context, const char *path, const szg_column *columns,
                         int64_t count, szg_table **out) {
    *out = NULL;
    szgi_contents contents;
    SZG_TRY(szgi_contents_open(context, path, &contents));
    szg_status status = szgi_csv_parse(context, path, (const char *)contents.data, contents.size,
                                       columns, count, NULL, out);
    szgi_contents_close(&contents);
    return status;
}

szg_status szgi_csv_read_schema(szg_context *context, const char *path, const szgi_schema *schema,
                                szg_table **out) {
    szg_column *columns;
    *out = NULL;
    SZG_TRY(szgi_columns_core(context, schema->column, schema->columns, &columns));
    szg_status status = szgi_csv_read(context, path, columns, schema->columns, out);
    szgi_memory_free(columns);
    return status;
}
