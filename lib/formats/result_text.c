/* Tables for a reader's eyes: aligned, columns without any value left out, wide tables turned or
 * broken in blocks, notes below. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "result_private.h"

enum {
    CELL = 512,      /* bytes of a cell as shown */
    TEXT_WIDTH = 40, /* characters after which a text continues on the next line */
    GAP = 2,         /* spaces between columns */
    LEAST_WIDTH = 12,
    DEFAULT_WIDTH = 120,
    TURNED_ROWS =
        4 /* a too wide table of at most so many rows is shown with its rows side by side */
};

/* One cell of the line being printed. */
typedef struct box {
    int width;
    bool right; /* numbers */
    char text[CELL];
    size_t at; /* printed so far */
} box;

typedef struct sheet {
    const szg_table *table;
    int64_t rows, columns; /* shown */
    int64_t *column;       /* [columns] index in the table */
    int *width;            /* [columns] characters */
    int line;              /* characters that fit */
    box *box;              /* [columns + TURNED_ROWS + 1] */
    FILE *stream;
} sheet;

static int text_width(const char *text) {
    return (int)szgi_utf8_count(text, INT_MAX);
}

static int at_least(int value, int least) {
    return value > least ? value : least;
}

static int at_most(int value, int most) {
    return value < most ? value : most;
}

static void show_cell(const szg_table *table, int64_t row, int64_t column, char out[CELL]) {
    out[0] = 0;
    if (szg_table_is_empty(table, row, column))
        return;
    switch (szg_table_column(table, column)->type) {
    case SZG_TEXT:
        szgi_show(szg_table_get_text(table, row, column), out, CELL);
        break;
    case SZG_INTEGER:
        snprintf(out, CELL, "%" PRId64, szg_table_get_integer(table, row, column));
        break;
    case SZG_REAL:
        szgi_rounded_text(szg_table_get_real(table, row, column), 6, szgi_table_end(table, column),
                          out);
        break;
    }
}

/* Bytes of `text` that go on one line of `width` characters, broken before a space if possible. */
static size_t line_bytes(const char *text, int width) {
    size_t at = 0, space = 0;
    for (int used = 0; text[at] && used < width; used++) {
        at++;
        while (szgi_utf8_continues(text[at]))
            at++;
        if (text[at] == ' ')
            space = at;
    }
    return text[at] && space > 0 ? space : at;
}

/* Prints the next line of one box and says whether anything is left in it. Blanks wait in *blank
 * until something follows them: no line ends in one. */
static bool put_box(box *b, int *blank, FILE *stream) {
    const char *text = b->text + b->at;
    size_t bytes = line_bytes(text, b->width);
    char part[CELL];
    memcpy(part, text, bytes);
    part[bytes] = 0;
    int margin = b->width - text_width(part);
    *blank += b->right ? margin : 0;
    if (bytes > 0) {
        fprintf(stream, "%*s%s", *blank, "", part);
        *blank = 0;
    }
    *blank += (b->right ? 0 : margin) + GAP;
    b->at += bytes + strspn(text + bytes, " ");
    return b->text[b->at] != 0;
}

static void put_boxes(const sheet *s, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        s->box[i].at = 0;
    for (bool more = true; more;) {
        int blank = GAP;
        more = false;
        for (int64_t i = 0; i < count; i++)
            more = put_box(&s->box[i], &blank, s->stream) || more;
        putc('\n', s->stream);
    }
}

/* Columns [from, to) with the row's number in front where `numbered` is its width. */
static void put_block(const sheet *s, int64_t from, int64_t to, int numbered) {
    for (int64_t row = -1; row < s->rows; row++) {
        box *b = s->box;
        if (numbered > 0) {
            *b = (box){.width = numbered, .right = true, .text = "#"};
            if (row >= 0)
                snprintf(b->text, CELL, "%" PRId64, row + 1);
            b++;
        }
        for (int64_t i = from; i < to; i++, b++) {
            const szg_column *column = szg_table_column(s->table, s->column[i]);
            *b = (box){.width = s->width[i], .right = column->type != SZG_TEXT};
            if (row < 0)
                szgi_show(column->name, b->text, CELL);
            else
                show_cell(s->table, row, s->column[i], b->text);
        }
        put_boxes(s, b - s->box);
    }
}

static void put_blocks(const sheet *s, int numbered) {
    for (int64_t from = 0, to; from < s->columns; from = to) {
        int used = 2 + numbered;
        for (to = from; to < s->columns; to++) {
            used += GAP + s->width[to];
            if (to > from && used > s->line)
                break;
        }
        if (from > 0)
            putc('\n', s->stream);
        put_block(s, from, to, numbered);
    }
}

/* One line a column, the rows side by side. */
static void put_turned(const sheet *s) {
    int name = 0, widest = 0;
    for (int64_t i = 0; i < s->columns; i++) {
        name = at_least(name, text_width(szg_table_column(s->table, s->column[i])->name));
        widest = at_least(widest, s->width[i]);
    }
    int room = (int)((s->line - 2 - name) / s->rows) - GAP;
    int width =
        s->rows == 1 ? at_least(room, LEAST_WIDTH) : at_most(widest, at_least(room, LEAST_WIDTH));
    for (int64_t row = 0; row < s->rows && s->rows > 1; row++) {
        s->box[0] = (box){.width = name, .text = "#"};
        s->box[row + 1] = (box){.width = width};
        snprintf(s->box[row + 1].text, CELL, "%" PRId64, row + 1);
    }
    if (s->rows > 1)
        put_boxes(s, s->rows + 1);
    for (int64_t i = 0; i < s->columns; i++) {
        s->box[0] = (box){.width = name};
        szgi_show(szg_table_column(s->table, s->column[i])->name, s->box[0].text, CELL);
        for (int64_t row = 0; row < s->rows; row++) {
            s->box[row + 1] = (box){.width = width};
            show_cell(s->table, row, s->column[i], s->box[row + 1].text);
        }
        put_boxes(s, s->rows + 1);
    }
}

/* Chooses the columns that have a value in some shown row, the note apart, and measures them. */
static void measure(sheet *s) {
    char text[CELL];
    int64_t note = szg_table_find(s->table, "note");
    for (int64_t i = 0; i < szg_table_columns(s->table); i++) {
        int width = 0;
        for (int64_t row = 0; row < s->rows; row++) {
            show_cell(s->table, row, i, text);
            width = at_least(width, text_width(text));
        }
        if (i == note || (width == 0 && s->rows > 0))
            continue;
        int name = text_width(szg_table_column(s->table, i)->name);
        s->width[s->columns] = at_least(at_most(width, TEXT_WIDTH), name);
        s->column[s->columns++] = i;
    }
}

/* Notes, once for neighbouring rows that share one. */
static void put_notes(const sheet *s) {
    int64_t note = szg_table_find(s->table, "note");
    for (int64_t row = 0, end; note >= 0 && row < s->rows; row = end) {
        const char *text = szg_table_get_text(s->table, row, note);
        for (end = row + 1; end < s->rows; end++) {
            const char *other = szg_table_get_text(s->table, end, note);
            if (!text || !other || strcmp(text, other) != 0)
                break;
        }
        if (!text)
            continue;
        if (s->rows == 1)
            fputs("  note: ", s->stream);
        else if (end == row + 1)
            fprintf(s->stream, "  note, row %" PRId64 ": ", row + 1);
        else
            fprintf(s->stream, "  note, rows %" PRId64 " to %" PRId64 ": ", row + 1, end);
        char shown[2048];
        fprintf(s->stream, "%s\n", szgi_show(text, shown, sizeof shown));
    }
}

/* Whether rows need numbers for the notes below to name them. */
static bool has_notes(const sheet *s) {
    int64_t note = szg_table_find(s->table, "note");
    for (int64_t row = 0; note >= 0 && s->rows > 1 && row < s->rows; row++)
        if (szg_table_get_text(s->table, row, note))
            return true;
    return false;
}

static void put_grid(const sheet *s) {
    int digits = 1, total = 0;
    for (int64_t rows = s->rows; rows >= 10; rows /= 10)
        digits++;
    for (int64_t i = 0; i < s->columns; i++)
        total += GAP + s->width[i];
    int numbered = has_notes(s) ? digits : 0;
    if (total + (numbered ? GAP + numbered : 0) <= s->line)
        put_block(s, 0, s->columns, numbered);
    else if (s->rows <= TURNED_ROWS)
        put_turned(s);
    else
        put_blocks(s, digits);
}

static void put_sheet(sheet *s) {
    measure(s);
    fprintf(s->stream, "%s\n", szg_table_name(s->table));
    if (s->rows == 0)
        fputs("  no rows\n", s->stream);
    else
        put_grid(s);
    put_notes(s);
    int64_t left = szg_table_rows(s->table) - s->rows;
    if (left > 0)
        fprintf(s->stream, "  ... and %" PRId64 " more rows: all with -o or --format csv\n", left);
}

static szg_status put_table(szg_context *context, const szg_table *table,
                            const szg_print_options *options, FILE *stream) {
    sheet s = {.table = table,
               .rows = szg_table_rows(table),
               .line = options->width > 0 ? options->width : DEFAULT_WIDTH,
               .stream = stream};
    if (options->rows > 0 && options->rows < s.rows)
        s.rows = options->rows;
    int64_t columns = szg_table_columns(table);
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, columns, &s.column), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, columns, &s.width), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, columns + TURNED_ROWS + 1, &s.box), done);
    put_sheet(&s);
done:
    szgi_memory_free(s.box);
    szgi_memory_free(s.width);
    szgi_memory_free(s.column);
    return status;
}

szg_status szgi_result_emit_text(szg_context *context, const szg_result *result,
                                 const szg_print_options *options, FILE *stream) {
    for (int64_t i = 0; i < result->tables; i++) {
        if (i > 0)
            putc('\n', stream);
        SZG_TRY(put_table(context, result->table[i], options, stream));
    }
    return SZG_OK;
}
