/* Which columns of a table a line has room for. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/formula.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "display_private.h"
#include "result_private.h"

enum {
    LEAST_TEXT = 12, /* columns that a text keeps where the line is short */
    LEAST_PROSE = 24,
    MOST_TEXT = 40 /* columns of a text that is not prose */
};

static int at_least(int value, int least) {
    return value > least ? value : least;
}

static int at_most(int value, int most) {
    return value < most ? value : most;
}

/* ---- Cells ---- */

static void show_real(const display_sheet *s, int64_t row, int64_t column,
                      char out[SZGI_REAL_TEXT]) {
    double value = szg_table_get_real(s->table, row, column);
    if (s->how->unicode && __builtin_isinf(value))
        strcpy(out, value < 0 ? "-\u221e" : "\u221e");
    else
        szgi_rounded_text(value, s->digits, szgi_table_end(s->table, column), out);
    /* Fewer digits turn 22767.6 into 2.277e+04, which is longer: 22770. */
    const char *exponent = strstr(out, "e+0");
    if (exponent && exponent[3] < '0' + DISPLAY_DIGITS)
        szgi_print(out, SZGI_REAL_TEXT, "%.0f", szgi_real_scan(out, NULL));
}

static void show_range(const display_sheet *s, const display_column *column, int64_t row,
                       char out[DISPLAY_CELL]) {
    char lower[SZGI_REAL_TEXT], upper[SZGI_REAL_TEXT];
    show_real(s, row, column->at[0], lower);
    show_real(s, row, column->at[1], upper);
    snprintf(out, DISPLAY_CELL, "[%s, %s]", lower, upper);
}

void szgi_display_prose(const szgi_display *how, const char *text, FILE *stream) {
    char shown[DISPLAY_PROSE];
    szgi_prose_put(szgi_show(text, shown, sizeof shown),
                   how->unicode ? SZGI_FORMULA_UNICODE : SZGI_FORMULA_ASCII, stream);
}

/* Without memory for a stream the formulas stay as they are written. */
static void show_prose(const szgi_display *how, const char *text, char out[DISPLAY_CELL]) {
    FILE *stream = fmemopen(out, DISPLAY_CELL, "w");
    if (!stream) {
        szgi_show(text, out, DISPLAY_PROSE);
        return;
    }
    szgi_display_prose(how, text, stream);
    fclose(stream);
}

static bool has_cell(const display_sheet *s, const display_column *column, int64_t row) {
    if (szg_table_is_empty(s->table, row, column->at[0]) ||
        szg_table_is_empty(s->table, row, column->at[1]))
        return false;
    if (!column->is)
        return true;
    const char *said = szg_table_get_text(s->table, row, column->where);
    return said && strcmp(said, column->is) == 0;
}

bool szgi_display_has_cell(const display_sheet *s, const display_column *column, int64_t row) {
    return column->empty || has_cell(s, column, row);
}

void szgi_display_cell(const display_sheet *s, const display_column *column, int64_t row,
                       char out[DISPLAY_CELL]) {
    int64_t at = column->at[0];
    out[0] = 0;
    if (!has_cell(s, column, row)) {
        strcpy(out, column->empty ? column->empty : "");
        return;
    }
    if (column->kind == SZGI_CELL_RANGE)
        show_range(s, column, row, out);
    else if (column->kind == SZGI_CELL_PROSE)
        show_prose(s->how, szg_table_get_text(s->table, row, at), out);
    else if (szg_table_column(s->table, at)->type == SZG_TEXT)
        szgi_show(szg_table_get_text(s->table, row, at), out, DISPLAY_CELL);
    else if (szg_table_column(s->table, at)->type == SZG_INTEGER)
        snprintf(out, DISPLAY_CELL, "%" PRId64, szg_table_get_integer(s->table, row, at));
    else
        show_real(s, row, at, out);
}

/* ---- Candidates ---- */

static bool has_value(const display_sheet *s, const display_column *column) {
    for (int64_t row = 0; row < s->rows; row++)
        if (has_cell(s, column, row))
            return true;
    return s->rows == 0;
}

/* Whether the table has what the record shows; *out gets it. */
static bool resolve(const display_sheet *s, const szgi_cell *record, display_column *out) {
    bool range = record->kind == SZGI_CELL_RANGE;
    *out = (display_column){.kind = record->kind,
                            .priority = record->priority,
                            .heading = s->how->unicode && record->symbols ? record->symbols
                                                                          : record->heading};
    out->at[0] = szg_table_find(s->table, range ? record->lower : record->name);
    out->at[1] = range ? szg_table_find(s->table, record->upper) : out->at[0];
    out->is = record->is;
    out->empty = record->empty;
    out->where = record->is ? szg_table_find(s->table, record->where) : -1;
    return out->at[0] >= 0 && out->at[1] >= 0 && (!out->is || out->where >= 0);
}

static szgi_schema schema_of(const szgi_display *how, const szg_table *table) {
    static const szgi_schema none = {0};
    const szgi_schema *schema = szgi_schema_of(table, how->schemas, how->count);
    return schema ? *schema : none;
}

bool szgi_display_is_of_notes(const szgi_display *how, const szg_table *table) {
    const szgi_schema schema = schema_of(how, table);
    for (int64_t i = 0; i < schema.cells; i++)
        if (strcmp(schema.cell[i].name, "note") == 0)
            return true;
    return false;
}

static void add(display_sheet *s, const display_column *column) {
    if (has_value(s, column))
        s->column[s->count++] = *column;
}

static display_column own_column(const szg_table *table, int64_t at, int priority) {
    return (display_column){
        .priority = priority, .heading = szg_table_column(table, at)->name, .at = {at, at}};
}

static bool is_name(const char *name, const char *text, size_t length) {
    return name && strlen(name) == length && memcmp(name, text, length) == 0;
}

/* The record of a column of the table, whoever asks for it; NULL: there is none. */
static const szgi_cell *record_of(const display_sheet *s, const char *name) {
    const szgi_schema schema = schema_of(s->how, s->table);
    for (int64_t i = 0; i < schema.cells; i++) {
        const szgi_cell *record = &schema.cell[i];
        if (record->kind != SZGI_CELL_RANGE && is_name(record->name, name, strlen(name)))
            return record;
    }
    return NULL;
}

/* The columns of the table itself, its note apart. */
static void add_own(display_sheet *s) {
    for (int64_t i = 0; i < szg_table_columns(s->table); i++) {
        display_column column = own_column(s->table, i, SZGI_SHOWN_FIRST);
        const szgi_cell *record = record_of(s, column.heading);
        column.kind = record ? record->kind : SZGI_CELL_VALUE;
        column.empty = record ? record->empty : NULL;
        if (i != s->note)
            add(s, &column);
    }
}

static void add_described(display_sheet *s) {
    const szgi_schema schema = schema_of(s->how, s->table);
    for (int64_t i = 0; i < schema.cells; i++) {
        const szgi_cell *record = &schema.cell[i];
        display_column column;
        if (resolve(s, record, &column) && column.priority < SZGI_SHOWN_ASKED)
            add(s, &column);
    }
}

/* The column that is asked for by its name or its heading; false: the table has none. */
static bool find_asked(const display_sheet *s, const char *text, size_t length,
                       display_column *out) {
    const szgi_schema schema = schema_of(s->how, s->table);
    for (int64_t i = 0; i < schema.cells; i++) {
        const szgi_cell *record = &schema.cell[i];
        if ((is_name(record->name, text, length) || is_name(record->symbols, text, length)) &&
            resolve(s, record, out))
            return true;
    }
    for (int64_t i = 0; i < szg_table_columns(s->table); i++)
        if (is_name(szg_table_column(s->table, i)->name, text, length)) {
            *out = own_column(s->table, i, SZGI_SHOWN_FIRST);
            return true;
        }
    return false;
}

/* The next name of a list "a,b": moves *at past it and returns its length, -1 at the end. */
static int64_t next_name(const char **at, const char **name) {
    if (!*at)
        return -1;
    size_t length = strcspn(*at, ",");
    *name = *at;
    *at = (*at)[length] ? *at + length + 1 : NULL;
    return (int64_t)length;
}

static int64_t count_names(const char *columns) {
    int64_t count = 1;
    for (; *columns; columns++)
        count += *columns == ',';
    return count;
}

/* What is asked for is shown though it has no value. */
static void add_asked(display_sheet *s) {
    const char *at = s->how->columns, *name;
    for (int64_t length; (length = next_name(&at, &name)) >= 0;)
        if (find_asked(s, name, (size_t)length, &s->column[s->count]))
            s->count++;
}

bool szgi_display_concerns(const szgi_display *how, const szg_table *table) {
    display_sheet s = {.how = how, .table = table};
    const char *at = how->columns, *name;
    display_column column;
    for (int64_t length; (length = next_name(&at, &name)) >= 0;)
        if (find_asked(&s, name, (size_t)length, &column))
            return true;
    return false;
}

szg_status szgi_display_choose(szg_context *context, display_sheet *s) {
    int64_t most = szg_table_columns(s->table) + schema_of(s->how, s->table).cells +
                   (s->how->columns ? count_names(s->how->columns) : 0);
    SZG_TRY(szgi_memory_alloc(context, most, &s->column));
    if (s->how->columns)
        add_asked(s);
    else if (!s->how->wide)
        add_described(s);
    if (s->count == 0)
        add_own(s);
    return SZG_OK;
}

/* ---- Names that are asked for ---- */

static void weigh_names(const szgi_display *how, const szg_table *table, bool first,
                        szgi_suggestion *near, szgi_text *list) {
    fprintf(list->stream, "%s%s has", first ? "" : "; ", szg_table_name(table));
    const char *comma = " ";
    const szgi_schema schema = schema_of(how, table);
    for (int64_t i = 0; i < schema.cells; i++)
        if (schema.cell[i].kind == SZGI_CELL_RANGE) {
            szgi_suggest(near, schema.cell[i].name, strlen(schema.cell[i].name));
            fprintf(list->stream, "%s%s", comma, schema.cell[i].name);
            comma = ", ";
        }
    for (int64_t i = 0; i < szg_table_columns(table); i++, comma = ", ") {
        const char *name = szg_table_column(table, i)->name;
        szgi_suggest(near, name, strlen(name));
        fprintf(list->stream, "%s%s", comma, name);
    }
}

static szg_status refuse_name(szg_context *context, const szg_result *result,
                              const szgi_display *how, const char *name, size_t length) {
    szgi_suggestion near = szgi_suggest_begin(name, length);
    szgi_text list;
    SZG_TRY(szgi_text_open(context, &list));
    for (int64_t i = 0; i < result->tables; i++)
        weigh_names(how, result->table[i], i == 0, &near, &list);
    szg_status status = szgi_text_end(&list, SZG_OK);
    if (status == SZG_OK) {
        char text[SZGI_SHOWN];
        snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), name);
        status =
            szgi_fail(context, SZG_EINVAL, "--columns: there is no column '%s'%s%s %s", SHOWN(text),
                      near.word ? ": " : ";", SZGI_DID_YOU_MEAN(&near, ""), list.text);
    }
    szgi_text_close(&list);
    return status;
}

szg_status szgi_display_check(szg_context *context, const szg_result *result,
                              const szgi_display *how) {
    const char *at = how->columns, *name;
    for (int64_t length; (length = next_name(&at, &name)) >= 0;) {
        bool known = false;
        for (int64_t i = 0; i < result->tables && !known; i++) {
            display_sheet s = {.how = how, .table = result->table[i]};
            display_column column;
            known = find_asked(&s, name, (size_t)length, &column);
        }
        if (!known)
            return refuse_name(context, result, how, name, (size_t)length);
    }
    return SZG_OK;
}

/* ---- Fitting ---- */

static bool is_text(const display_sheet *s, const display_column *column) {
    return column->kind != SZGI_CELL_RANGE &&
           szg_table_column(s->table, column->at[0])->type == SZG_TEXT;
}

/* Numbers are never cut: half of a number is another number. */
static int least_width(const display_sheet *s, const display_column *column) {
    int least = column->kind == SZGI_CELL_PROSE ? LEAST_PROSE
                : is_text(s, column)            ? LEAST_TEXT
                                                : INT_MAX;
    return at_most(column->natural, least);
}

static void measure(display_sheet *s) {
    char text[DISPLAY_CELL];
    for (int64_t i = 0; i < s->count; i++) {
        display_column *column = &s->column[i];
        int width = 0;
        for (int64_t row = 0; row < s->rows; row++) {
            szgi_display_cell(s, column, row, text);
            width = at_least(width, (int)szgi_utf8_columns(text));
        }
        column->longest = width;
        if (s->how->width > 0 && !s->how->wide && !s->how->columns &&
            column->kind != SZGI_CELL_PROSE && is_text(s, column))
            width = at_most(width, MOST_TEXT);
        column->natural =
            at_least(width, (int)szgi_utf8_columns(szgi_show(column->heading, text, sizeof text)));
        column->right = !is_text(s, column);
    }
}

/* What the columns of the first priority take at least. */
static int64_t least_total(const display_sheet *s) {
    int64_t total = s->margin;
    for (int64_t i = 0; i < s->count; i++)
        if (s->column[i].priority == SZGI_SHOWN_FIRST)
            total += DISPLAY_GAP + least_width(s, &s->column[i]);
    return total;
}

/* The first ones in their order, as narrow as they may be; the very first always. */
static int take_first(display_sheet *s, int room) {
    bool any = false;
    for (int64_t i = 0; i < s->count; i++) {
        display_column *column = &s->column[i];
        int width = least_width(s, column);
        if (column->priority != SZGI_SHOWN_FIRST)
            continue;
        if (any && width + DISPLAY_GAP > room)
            break;
        if (!any && is_text(s, column))
            width = at_most(width, at_least(room - DISPLAY_GAP, 1));
        column->taken = any = true;
        column->width = width;
        room -= width + DISPLAY_GAP;
    }
    return room;
}

/* What is left goes to the texts that were narrowed, the earlier first, prose last. */
static int widen(display_sheet *s, int room, bool prose) {
    for (int64_t i = 0; i < s->count && room > 0; i++) {
        display_column *column = &s->column[i];
        if (!column->taken || (column->kind == SZGI_CELL_PROSE) != prose)
            continue;
        int more = at_most(column->natural - column->width, room);
        column->width += more;
        room -= more;
    }
    return room;
}

static void take_further(display_sheet *s, int room) {
    for (int priority = SZGI_SHOWN_FIRST + 1; priority < SZGI_SHOWN_ASKED; priority++)
        for (int64_t i = 0; i < s->count; i++) {
            display_column *column = &s->column[i];
            if (column->priority != priority || column->natural + DISPLAY_GAP > room)
                continue;
            column->taken = true;
            column->width = column->natural;
            room -= column->natural + DISPLAY_GAP;
        }
}

/* All of them; prose gets what the line has left, or what it needs if lines have no end. Where all
 * columns are wanted and do not fit, each cell has a line. */
static void take_all(display_sheet *s) {
    int64_t used = s->margin, prose = 0;
    for (int64_t i = 0; i < s->count; i++) {
        display_column *column = &s->column[i];
        bool flows = column->kind == SZGI_CELL_PROSE && s->how->width > 0;
        column->taken = true;
        column->width = flows ? least_width(s, column) : column->natural;
        prose += flows;
        used += DISPLAY_GAP + column->width;
    }
    int room = used < s->how->width ? (int)(s->how->width - used) : 0;
    s->upright = s->how->wide && !s->how->columns && s->how->width > 0 && used > s->how->width;
    for (int64_t i = 0; i < s->count && prose > 0; i++) {
        display_column *column = &s->column[i];
        if (column->kind != SZGI_CELL_PROSE)
            continue;
        int more = at_most(column->natural - column->width, room / (int)prose--);
        column->width += more;
        room -= more;
    }
}

static int64_t count_left(const display_sheet *s) {
    int64_t left = 0;
    for (int64_t at = 0; at < szg_table_columns(s->table); at++) {
        const display_column own = own_column(s->table, at, 0);
        bool shown = at == s->note || !has_value(s, &own);
        for (int64_t i = 0; i < s->count && !shown; i++)
            shown = s->column[i].taken && (s->column[i].at[0] == at || s->column[i].at[1] == at);
        left += !shown;
    }
    return left;
}

void szgi_display_fit(display_sheet *s) {
    s->digits = DISPLAY_DIGITS;
    measure(s);
    if (s->how->columns || s->how->wide || s->how->width <= 0)
        take_all(s);
    else {
        while (s->digits > DISPLAY_LEAST && least_total(s) > s->how->width) {
            s->digits--;
            measure(s);
        }
        int room = widen(s, take_first(s, s->how->width - s->margin), false);
        take_further(s, widen(s, room, true));
    }
    s->left = s->rows > 0 ? count_left(s) : 0;
}
