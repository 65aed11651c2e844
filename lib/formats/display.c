/* Tables for a person's eyes: one line a row, prose apart; notes and what was left out below. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "display_private.h"
#include "result_private.h"

/* One cell of the line that is printed. */
typedef struct box {
    int width;
    bool right;       /* numbers */
    const char *code; /* its colour; NULL: none */
    char text[DISPLAY_CELL];
    size_t at; /* printed so far */
} box;

/* What is left out of all tables together. */
typedef struct omission {
    int64_t columns, notes;
} omission;

/* ---- Lines ---- */

/* Bytes of `text` that go on one line, broken before a space if possible; one character at least.
 */
static size_t line_bytes(const char *text, int width) {
    size_t most = szgi_utf8_fit(text, width), at = most;
    if (!text[most])
        return most;
    while (at > 0 && text[at] != ' ')
        at--;
    if (at > 0)
        return at;
    if (most == 0 && *text)
        most = (size_t)szgi_utf8_step((const unsigned char *)text, strlen(text));
    return most;
}

/* Prints the next line of one box and says whether anything is left in it. Blanks wait in *blank
 * until something follows them: no line ends in one. */
static bool put_box(box *b, int *blank, FILE *stream) {
    const char *text = b->text + b->at;
    size_t bytes = line_bytes(text, b->width);
    char part[DISPLAY_CELL];
    memcpy(part, text, bytes);
    part[bytes] = 0;
    int used = (int)szgi_utf8_columns(part), margin = b->width > used ? b->width - used : 0;
    *blank += b->right ? margin : 0;
    if (bytes > 0) {
        fprintf(stream, "%*s", *blank, "");
        fprintf(stream,
                b->code ? "\033[%s"
                          "m%s\033[0m"
                        : "%s%s",
                b->code ? b->code : "", part);
        *blank = 0;
    }
    *blank += (b->right ? 0 : margin) + DISPLAY_GAP;
    b->at += bytes + strspn(text + bytes, " ");
    return b->text[b->at] != 0;
}

static void put_boxes(box *b, int64_t count, FILE *stream) {
    for (bool more = true; more;) {
        int blank = DISPLAY_GAP;
        more = false;
        for (int64_t i = 0; i < count; i++)
            more = put_box(&b[i], &blank, stream) || more;
        putc('\n', stream);
    }
}

/* Words on lines of `width` columns (0: on one), the further ones indented. */
static void put_paragraph(const char *text, int width, FILE *stream) {
    enum { INDENT = 4, LEAST = 20 };
    int room = width <= 0 ? INT_MAX : width > LEAST ? width : LEAST;
    for (int indent = 0; *text; indent = INDENT) {
        size_t bytes = line_bytes(text, room - indent);
        fprintf(stream, "%*s%.*s\n", indent, "", (int)bytes, text);
        text += bytes + strspn(text + bytes, " ");
    }
}

/* ---- Rows ---- */

static const char *colour(const display_sheet *s, const display_column *column, const char *text) {
    if (column->kind == SZGI_CELL_WORD && s->how->colours)
        for (const szgi_display_colour *at = s->how->colours; at->word; at++)
            if (strcmp(at->word, text) == 0)
                return at->code;
    return NULL;
}

/* Row -1 is the headings. */
static void fill_box(const display_sheet *s, const display_column *column, int64_t row, box *b) {
    *b = (box){.width = column->width, .right = column->right};
    if (row < 0)
        szgi_show(column->heading, b->text, DISPLAY_CELL);
    else {
        szgi_display_cell(s, column, row, b->text);
        b->code = colour(s, column, b->text);
    }
    szgi_display_shorten(s, column, row < 0 ? DISPLAY_CUT_END : column->cut, b->text);
}

static void put_rows(const display_sheet *s, box *boxes, FILE *stream) {
    for (int64_t row = -1; row < s->rows; row++) {
        box *b = boxes;
        if (s->margin > 0) {
            *b = (box){.width = s->margin - DISPLAY_GAP, .right = true, .text = "#"};
            if (row >= 0)
                snprintf(b->text, DISPLAY_CELL, "%" PRId64, row + 1);
            b++;
        }
        for (int64_t i = 0; i < s->count; i++)
            if (s->column[i].taken)
                fill_box(s, &s->column[i], row, b++);
        put_boxes(boxes, b - boxes, stream);
    }
}

/* A cell a line, its heading before it; empty cells have none. */
static void put_upright(const display_sheet *s, box *boxes, FILE *stream) {
    int names = 0;
    for (int64_t i = 0; i < s->count; i++) {
        fill_box(s, &s->column[i], -1, boxes);
        names = (int)szgi_utf8_columns(boxes->text) > names ? (int)szgi_utf8_columns(boxes->text)
                                                            : names;
    }
    int room = s->how->width - names - 2 * DISPLAY_GAP;
    for (int64_t row = 0; row < s->rows; row++) {
        if (s->rows > 1)
            fprintf(stream, "%s  row %" PRId64 "\n", row ? "\n" : "", row + 1);
        for (int64_t i = 0; i < s->count; i++) {
            if (!szgi_display_has_cell(s, &s->column[i], row))
                continue;
            fill_box(s, &s->column[i], -1, &boxes[0]);
            fill_box(s, &s->column[i], row, &boxes[1]);
            boxes[0].width = names;
            boxes[0].right = boxes[1].right = false;
            boxes[1].width = room > names ? room : names;
            put_boxes(boxes, 2, stream);
        }
    }
}

/* ---- Notes ---- */

/* Rows of one note: a table keeps equal texts once, so that their addresses are equal. */
typedef struct noted {
    const char *text;
    int64_t row;
    int64_t first; /* row of the group */
} noted;

static int by_text(const void *a, const void *b) {
    const noted *left = a, *right = b;
    if (left->text != right->text)
        return left->text < right->text ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

static int by_first(const void *a, const void *b) {
    const noted *left = a, *right = b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

/* The rows that have a note, those of the same one together, in the order of their first rows. */
static szg_status group_notes(szg_context *context, const display_sheet *s, noted **out,
                              int64_t *count, int64_t *groups) {
    *out = NULL;
    *count = *groups = 0;
    if (s->note < 0 || s->rows == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, s->rows, out));
    for (int64_t row = 0; row < s->rows; row++) {
        const char *text = szg_table_get_text(s->table, row, s->note);
        if (text)
            (*out)[(*count)++] = (noted){.text = text, .row = row};
    }
    qsort(*out, (size_t)*count, sizeof **out, by_text);
    for (int64_t i = 0; i < *count; i++) {
        bool same = i > 0 && (*out)[i].text == (*out)[i - 1].text;
        (*out)[i].first = same ? (*out)[i - 1].first : (*out)[i].row;
        *groups += !same;
    }
    qsort(*out, (size_t)*count, sizeof **out, by_first);
    return SZG_OK;
}

/* "1, 3-5 and 7 more": a few spans of rows, counted from 1. */
static void put_spans(const noted *group, int64_t count, FILE *stream) {
    enum { SPANS = 6 };
    int64_t spans = 0;
    for (int64_t i = 0, end; i < count; i = end, spans++) {
        for (end = i + 1; end < count && group[end].row == group[end - 1].row + 1;)
            end++;
        if (spans == SPANS) {
            fprintf(stream, " and %" PRId64 " more", count - i);
            return;
        }
        fprintf(stream, "%s%" PRId64, spans ? ", " : "", group[i].row + 1);
        if (end > i + 1)
            fprintf(stream, "-%" PRId64, group[end - 1].row + 1);
    }
}

static szg_status put_note(szg_context *context, const display_sheet *s, const noted *group,
                           int64_t count, FILE *stream) {
    szgi_text text;
    SZG_TRY(szgi_text_open(context, &text));
    fputs(s->rows == 1 ? "  note" : count > 1 ? "  note, rows " : "  note, row ", text.stream);
    if (s->rows > 1)
        put_spans(group, count, text.stream);
    fputs(": ", text.stream);
    szgi_display_prose(s->how, group->text, text.stream);
    szg_status status = szgi_text_end(&text, SZG_OK);
    if (status == SZG_OK)
        put_paragraph(text.text, s->how->width, stream);
    szgi_text_close(&text);
    return status;
}

static szg_status put_notes(szg_context *context, const display_sheet *s, const noted *notes,
                            int64_t count, FILE *stream) {
    szg_status status = SZG_OK;
    for (int64_t i = 0, end; i < count && status == SZG_OK; i = end) {
        for (end = i + 1; end < count && notes[end].text == notes[i].text;)
            end++;
        status = put_note(context, s, notes + i, end - i, stream);
    }
    return status;
}

/* ---- Tables ---- */

static int digits(int64_t value) {
    int count = 1;
    for (; value >= 10; value /= 10)
        count++;
    return count;
}

static szg_status put_sheet(szg_context *context, display_sheet *s, FILE *stream, omission *left) {
    noted *notes = NULL;
    box *boxes = NULL;
    int64_t count, groups, rest = szg_table_rows(s->table) - s->rows;
    szg_status status;
    SZG_TRY_GOTO(status, group_notes(context, s, &notes, &count, &groups), done);
    if (s->how->notes && groups > 0 && s->rows > 1) /* the notes name rows */
        s->margin = DISPLAY_GAP + digits(s->rows);
    SZG_TRY_GOTO(status, szgi_display_choose(context, s), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, s->count + 2, &boxes), done);
    szgi_display_fit(s);
    SZG_TRY_GOTO(status, szgi_display_choose_cuts(context, s), done);
    fprintf(stream, "%s\n", szg_table_name(s->table));
    if (s->rows == 0)
        fputs("  no rows\n", stream);
    else if (s->upright)
        put_upright(s, boxes, stream);
    else
        put_rows(s, boxes, stream);
    if (s->how->notes)
        SZG_TRY_GOTO(status, put_notes(context, s, notes, count, stream), done);
    if (rest > 0)
        fprintf(stream, "  ... and %" PRId64 " more rows: all with -o or --format csv\n", rest);
    left->columns += s->left;
    left->notes += s->how->notes ? 0 : groups;
done:
    szgi_memory_free(boxes);
    szgi_memory_free(s->column);
    szgi_memory_free(notes);
    return status;
}

static void tell_left(const szgi_display *how, const omission *left, FILE *stream) {
    if (left->columns > 0 && !how->columns) /* who names columns knows that there are more */
        fprintf(stream, "%" PRId64 " more column%s%s\n", left->columns,
                left->columns > 1 ? "s" : "",
                how->options ? ": --wide shows all, --columns a,b chooses" : "");
    if (left->notes > 0)
        fprintf(stream, "%" PRId64 " note%s%s\n", left->notes, left->notes > 1 ? "s" : "",
                !how->options     ? ""
                : left->notes > 1 ? ": --notes shows them"
                                  : ": --notes shows it");
}

/* The notes that are not asked for are counted. */
static szg_status count_notes(szg_context *context, const display_sheet *s, omission *left) {
    noted *notes;
    int64_t count, groups;
    SZG_TRY(group_notes(context, s, &notes, &count, &groups));
    szgi_memory_free(notes);
    left->notes += groups;
    return SZG_OK;
}

static szg_status put_tables(szg_context *context, const szg_result *result,
                             const szgi_display *how, FILE *stream) {
    omission left = {0};
    bool any = false;
    for (int64_t i = 0; i < result->tables; i++) {
        const szg_table *table = result->table[i];
        display_sheet s = {.how = how,
                           .table = table,
                           .rows = szg_table_rows(table),
                           .note = szg_table_find(table, "note")};
        bool of_notes = szgi_display_is_of_notes(how, table);
        if (of_notes && !how->notes)
            SZG_TRY(count_notes(context, &s, &left));
        if ((of_notes && (!how->notes || s.rows == 0)) ||
            (how->columns && !szgi_display_concerns(how, table)))
            continue;
        if (of_notes)
            s.note = -1; /* a column as the others are */
        if (how->rows > 0 && how->rows < s.rows)
            s.rows = how->rows;
        if (any)
            putc('\n', stream);
        any = true;
        SZG_TRY(put_sheet(context, &s, stream, &left));
    }
    tell_left(how, &left, stream);
    return SZG_OK;
}

szg_status szgi_result_show(szg_context *context, const szg_result *result,
                            const szgi_display *display, FILE *stream) {
    szgi_display how = *display;
    szg_status known = how.columns ? szgi_display_check(context, result, &how) : SZG_OK;
    if (known == SZG_EINVAL)
        how.columns = NULL; /* what was computed is not lost to a misspelt name */
    else if (known != SZG_OK)
        return known;
    SZG_TRY(put_tables(context, result, &how, stream));
    szg_status status = szgi_stream_flush(context, stream);
    return status == SZG_OK ? known : szgi_fail_prefix(context, status, "the result");
}
