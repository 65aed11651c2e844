/* Texts that are longer than their column: what is left out of them, so that rows that differ do
 * not look the same. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "display_private.h"

static int columns_of(const char *text) {
    return (int)szgi_utf8_columns(text);
}

static size_t step(const char *text) {
    return (size_t)szgi_utf8_step((const unsigned char *)text, strlen(text));
}

/* The longest end of a text that takes at most `room` columns. */
static const char *last_columns(const char *text, int room) {
    while (*text && columns_of(text) > room)
        text += step(text);
    return text;
}

void szgi_display_shorten(const display_sheet *s, const display_column *column, display_cut how,
                          char text[DISPLAY_CELL]) {
    const char *mark = s->how->unicode ? "\u2026" : "...";
    int signs = columns_of(mark), room = column->width - signs;
    char whole[DISPLAY_CELL];
    if (column->kind == SZGI_CELL_PROSE || columns_of(text) <= column->width)
        return;
    strcpy(whole, text);
    if (room <= 0) {
        text[szgi_utf8_fit(whole, column->width)] = 0;
        return;
    }
    const char *rest = whole + strlen(whole);
    if (how == DISPLAY_CUT_COMMON && column->common < strlen(whole))
        rest = whole + column->common;
    else if (how == DISPLAY_CUT_MIDDLE)
        rest = last_columns(whole, room - room / 3);
    int kept = columns_of(rest);
    bool again = kept > room; /* what differs is too long itself */
    size_t head = szgi_utf8_fit(whole, again ? 0 : room - kept);
    size_t tail = again ? szgi_utf8_fit(rest, room > signs ? room - signs : room) : strlen(rest);
    snprintf(text, DISPLAY_CELL, "%.*s%s%.*s%s", (int)head, whole, mark, (int)tail, rest,
             again && room > signs ? mark : "");
}

/* ---- Which part ---- */

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash(const char *text) {
    uint64_t value = 0xCBF29CE484222325;
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * 0x100000001B3;
    return value;
}

typedef struct shown {
    uint64_t cut, whole;
} shown;

static int by_cut(const void *a, const void *b) {
    const shown *left = a, *right = b;
    if (left->cut != right->cut)
        return left->cut < right->cut ? -1 : 1;
    return left->whole < right->whole ? -1 : left->whole > right->whole;
}

/* How many texts look like another one. */
static int64_t count_alike(const display_sheet *s, const display_column *column, display_cut how,
                           shown *seen) {
    char text[DISPLAY_CELL];
    int64_t alike = 0;
    for (int64_t row = 0; row < s->rows; row++) {
        szgi_display_cell(s, column, row, text);
        seen[row].whole = hash(text);
        szgi_display_shorten(s, column, how, text);
        seen[row].cut = hash(text);
    }
    qsort(seen, (size_t)s->rows, sizeof *seen, by_cut);
    for (int64_t row = 1; row < s->rows; row++)
        alike += seen[row].cut == seen[row - 1].cut && seen[row].whole != seen[row - 1].whole;
    return alike;
}

/* Bytes in which all texts agree that are too long, whole characters. */
static size_t common_bytes(const display_sheet *s, const display_column *column) {
    char first[DISPLAY_CELL] = "", text[DISPLAY_CELL];
    size_t common = 0, same;
    for (int64_t row = 0; row < s->rows; row++) {
        szgi_display_cell(s, column, row, text);
        if (columns_of(text) <= column->width)
            continue;
        if (!*first) {
            strcpy(first, text);
            common = strlen(first);
        }
        for (same = 0; same < common && text[same] == first[same];)
            same++;
        common = same;
    }
    while (common > 0 && ((unsigned char)first[common] & 0xC0) == 0x80)
        common--;
    return common;
}

szg_status szgi_display_choose_cuts(szg_context *context, display_sheet *s) {
    shown *seen;
    SZG_TRY(szgi_memory_alloc(context, s->rows, &seen));
    for (int64_t i = 0; i < s->count; i++) {
        display_column *column = &s->column[i];
        if (!column->taken || column->width >= column->longest || column->kind == SZGI_CELL_PROSE)
            continue;
        column->common = common_bytes(s, column);
        int64_t least = INT64_MAX;
        for (display_cut how = 0; how < DISPLAY_CUTS && least > 0; how++) {
            int64_t alike = count_alike(s, column, how, seen);
            if (alike < least)
                column->cut = how;
            least = alike < least ? alike : least;
        }
    }
    szgi_memory_free(seen);
    return SZG_OK;
}
