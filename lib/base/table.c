#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"

/* A cell: 8 bytes of value, and a flag array apart. Texts are interned: a table of 10^6 eigenvalues
 * repeats a handful of sources. */
typedef union cell {
    const char *text;
    int64_t integer;
    double real;
} cell;

struct szg_table {
    char *name;
    int64_t columns, rows, capacity;
    szg_column *column;
    szgi_end *end; /* [columns] */
    cell *cell;    /* [capacity][columns] */
    bool *present; /* [capacity][columns] */
    int64_t texts, slots;
    char **text; /* open-addressing hash set of interned strings, slots a power of two */
};

szg_status szg_table_open(szg_context *context, const char *name, const szg_column *columns,
                          int64_t count, szg_table **out) {
    *out = NULL;
    if (count < 1)
        return szgi_fail(context, SZG_EINVAL, "table %s has no columns", name);
    szg_table *table;
    SZG_TRY(szgi_memory_alloc(context, 1, &table));
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_copy_text(context, name, &table->name), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, count, &table->column), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, count, &table->end), fail);
    for (int64_t i = 0; i < count; i++) {
        if (szg_table_find(table, columns[i].name) >= 0) {
            status = szgi_fail(context, SZG_EINVAL, "table %s has column %s twice", name,
                               columns[i].name);
            goto fail;
        }
        char *copy;
        SZG_TRY_GOTO(status, szgi_memory_copy_text(context, columns[i].name, &copy), fail);
        table->column[i] = (szg_column){.name = copy, .type = columns[i].type};
        table->columns = i + 1;
        SZG_TRY_GOTO(status,
                     szgi_memory_copy_text(context, columns[i].doc ? columns[i].doc : "", &copy),
                     fail);
        table->column[i].doc = copy;
    }
    *out = table;
    return SZG_OK;
fail:
    szg_table_close(&table);
    return status;
}

void szg_table_close(szg_table **table) {
    if (!table || !*table)
        return;
    szg_table *t = *table;
    for (int64_t i = 0; i < t->columns; i++) {
        szgi_memory_free((void *)t->column[i].name);
        szgi_memory_free((void *)t->column[i].doc);
    }
    for (int64_t i = 0; i < t->slots; i++)
        szgi_memory_free(t->text[i]);
    szgi_memory_free(t->text);
    szgi_memory_free(t->column);
    szgi_memory_free(t->end);
    szgi_memory_free(t->cell);
    szgi_memory_free(t->present);
    szgi_memory_free(t->name);
    szgi_memory_free(t);
    *table = NULL;
}

static szg_status find_column(szg_context *context, const szg_table *table, const char *column,
                              int64_t *out) {
    *out = szg_table_find(table, column);
    return *out >= 0
               ? SZG_OK
               : szgi_fail(context, SZG_EINVAL, "table %s has no column %s", table->name, column);
}

szgi_end szgi_table_end(const szg_table *table, int64_t index) {
    return table->end[index];
}

void szgi_table_set_end(szg_table *table, int64_t index, szgi_end end) {
    table->end[index] = end;
}

void szgi_table_take_ends(szg_table *table, const szg_table *from) {
    for (int64_t i = 0; i < table->columns; i++) {
        int64_t at = szg_table_find(from, table->column[i].name);
        if (at >= 0)
            table->end[i] = from->end[at];
    }
}

szg_status szgi_table_reserve(szg_context *context, szg_table *table, int64_t rows) {
    int64_t old, fresh;
    SZG_TRY(szgi_memory_product(context, table->capacity, table->columns, &old));
    SZG_TRY(szgi_memory_product(context, rows, table->columns, &fresh));
    if (rows <= table->capacity)
        return SZG_OK;
    SZG_TRY(szgi_memory_grow(context, &table->cell, old, fresh));
    SZG_TRY(szgi_memory_grow(context, &table->present, old, fresh));
    table->capacity = rows;
    return SZG_OK;
}

szg_status szg_table_add_row(szg_context *context, szg_table *table) {
    if (table->rows == table->capacity)
        SZG_TRY(szgi_table_reserve(context, table, table->capacity ? 2 * table->capacity : 8));
    table->rows++;
    return SZG_OK;
}

static uint64_t text_hash(const char *text) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

/* The slot that holds `text`, or the empty one where it belongs. */
static int64_t text_slot(char *const *slots, int64_t count, const char *text) {
    int64_t at = (int64_t)(text_hash(text) & (uint64_t)(count - 1));
    while (slots[at] && strcmp(slots[at], text) != 0)
        at = (at + 1) & (count - 1);
    return at;
}

static szg_status grow_texts(szg_context *context, szg_table *table) {
    int64_t count = table->slots ? 2 * table->slots : 64;
    char **fresh;
    SZG_TRY(szgi_memory_alloc(context, count, &fresh));
    for (int64_t i = 0; i < table->slots; i++)
        if (table->text[i])
            fresh[text_slot(fresh, count, table->text[i])] = table->text[i];
    szgi_memory_free(table->text);
    table->text = fresh;
    table->slots = count;
    return SZG_OK;
}

static szg_status intern(szg_context *context, szg_table *table, const char *text,
                         const char **out) {
    if (2 * table->texts >= table->slots)
        SZG_TRY(grow_texts(context, table));
    int64_t slot = text_slot(table->text, table->slots, text);
    if (!table->text[slot]) {
        SZG_TRY(szgi_memory_copy_text(context, text, &table->text[slot]));
        table->texts++;
    }
    *out = table->text[slot];
    return SZG_OK;
}

static szg_status find_cell(szg_context *context, const szg_table *table, int64_t row,
                            int64_t column, szg_type type, int64_t *at) {
    if (column < 0 || column >= table->columns)
        return szgi_fail(context, SZG_EINVAL, "table %s has no column %" PRId64, table->name,
                         column);
    if (table->column[column].type != type)
        return szgi_fail(context, SZG_EINVAL, "table %s: column %s has another type", table->name,
                         table->column[column].name);
    if (table->rows == 0)
        return szgi_fail(context, SZG_EINVAL, "table %s has no row yet", table->name);
    if (row < 0 || row >= table->rows)
        return szgi_fail(context, SZG_EINVAL, "table %s has no row %" PRId64, table->name, row);
    *at = row * table->columns + column;
    return SZG_OK;
}

szg_status szgi_table_replace_text(szg_context *context, szg_table *table, int64_t row,
                                   int64_t column, const char *value) {
    int64_t at = 0;
    SZG_TRY(find_cell(context, table, row, column, SZG_TEXT, &at));
    table->present[at] = value != NULL;
    if (value)
        SZG_TRY(intern(context, table, value, &table->cell[at].text));
    return SZG_OK;
}

szg_status szgi_table_put_text(szg_context *context, szg_table *table, int64_t column,
                               const char *value) {
    return szgi_table_replace_text(context, table, table->rows - 1, column, value);
}

szg_status szgi_table_replace_integer(szg_context *context, szg_table *table, int64_t row,
                                      int64_t column, int64_t value) {
    int64_t at = 0;
    SZG_TRY(find_cell(context, table, row, column, SZG_INTEGER, &at));
    table->cell[at].integer = value;
    table->present[at] = true;
    return SZG_OK;
}

szg_status szgi_table_put_integer(szg_context *context, szg_table *table, int64_t column,
                                  int64_t value) {
    return szgi_table_replace_integer(context, table, table->rows - 1, column, value);
}

szg_status szgi_table_put_real(szg_context *context, szg_table *table, int64_t column,
                               double value) {
    int64_t at = 0;
    SZG_TRY(find_cell(context, table, table->rows - 1, column, SZG_REAL, &at));
    table->cell[at].real = value;
    table->present[at] = true;
    return SZG_OK;
}

szg_status szg_table_set_text(szg_context *context, szg_table *table, const char *column,
                              const char *value) {
    int64_t index;
    SZG_TRY(find_column(context, table, column, &index));
    return szgi_table_put_text(context, table, index, value);
}

szg_status szg_table_set_integer(szg_context *context, szg_table *table, const char *column,
                                 int64_t value) {
    int64_t index;
    SZG_TRY(find_column(context, table, column, &index));
    return szgi_table_put_integer(context, table, index, value);
}

szg_status szg_table_set_real(szg_context *context, szg_table *table, const char *column,
                              double value) {
    int64_t index;
    SZG_TRY(find_column(context, table, column, &index));
    return szgi_table_put_real(context, table, index, value);
}

szg_status szgi_table_note_at(szg_context *context, szg_table *table, int64_t column,
                              const char *format, va_list arguments) {
    int64_t at = 0;
    SZG_TRY(find_cell(context, table, table->rows - 1, column, SZG_TEXT, &at));
    char text[2048];
    int used = 0;
    if (table->present[at])
        used = snprintf(text, sizeof text, "%s; ", table->cell[at].text);
    if (used < 0 || (size_t)used >= sizeof text)
        used = (int)sizeof text - 1;
    szgi_vprint(text + used, sizeof text - (size_t)used, format, arguments);
    return szgi_table_put_text(context, table, column, text);
}

szg_status szg_table_note(szg_context *context, szg_table *table, const char *format, ...) {
    int64_t column;
    SZG_TRY(find_column(context, table, "note", &column));
    va_list arguments;
    va_start(arguments, format);
    szg_status status = szgi_table_note_at(context, table, column, format, arguments);
    va_end(arguments);
    return status;
}

static bool same_columns(const szg_table *a, const szg_table *b) {
    if (a->columns != b->columns)
        return false;
    for (int64_t i = 0; i < a->columns; i++)
        if (strcmp(a->column[i].name, b->column[i].name) != 0 ||
            a->column[i].type != b->column[i].type)
            return false;
    return true;
}

static szg_status check_columns(szg_context *context, const szg_table *table,
                                const szg_table *from) {
    return same_columns(table, from)
               ? SZG_OK
               : szgi_fail(context, SZG_EINVAL, "tables %s and %s differ in their columns",
                           table->name, from->name);
}

static szg_status append_row(szg_context *context, szg_table *table, const szg_table *from,
                             int64_t row) {
    SZG_TRY(szg_table_add_row(context, table));
    for (int64_t i = 0; i < table->columns; i++) {
        int64_t source = row * from->columns + i;
        int64_t target = (table->rows - 1) * table->columns + i;
        if (!from->present[source])
            continue;
        table->cell[target] = from->cell[source];
        if (table->column[i].type == SZG_TEXT)
            SZG_TRY(intern(context, table, from->cell[source].text, &table->cell[target].text));
        table->present[target] = true;
    }
    return SZG_OK;
}

szg_status szgi_table_append(szg_context *context, szg_table *table, const szg_table *from) {
    SZG_TRY(check_columns(context, table, from));
    for (int64_t row = 0; row < from->rows; row++)
        SZG_TRY(append_row(context, table, from, row));
    return SZG_OK;
}

const char *szg_table_name(const szg_table *table) {
    return table->name;
}

int64_t szg_table_rows(const szg_table *table) {
    return table->rows;
}

int64_t szg_table_columns(const szg_table *table) {
    return table->columns;
}

const char *szgi_type_name(szg_type type) {
    static const char *const names[SZG_TYPES] = {
        [SZG_TEXT] = "text", [SZG_INTEGER] = "integer", [SZG_REAL] = "real"};
    return names[type];
}

const char *szgi_end_name(szgi_end end) {
    static const char *const names[SZGI_ENDS] = {
        [SZGI_END_NONE] = "none", [SZGI_END_LOWER] = "lower", [SZGI_END_UPPER] = "upper"};
    return names[end];
}

const szg_column *szg_table_column(const szg_table *table, int64_t index) {
    return &table->column[index];
}

int64_t szg_table_find(const szg_table *table, const char *column) {
    for (int64_t i = 0; i < table->columns; i++)
        if (strcmp(table->column[i].name, column) == 0)
            return i;
    return -1;
}

bool szg_table_is_empty(const szg_table *table, int64_t row, int64_t column) {
    return !table->present[row * table->columns + column];
}

const char *szg_table_get_text(const szg_table *table, int64_t row, int64_t column) {
    int64_t at = row * table->columns + column;
    return table->present[at] && table->column[column].type == SZG_TEXT ? table->cell[at].text
                                                                        : NULL;
}

int64_t szg_table_get_integer(const szg_table *table, int64_t row, int64_t column) {
    int64_t at = row * table->columns + column;
    return table->present[at] && table->column[column].type == SZG_INTEGER ? table->cell[at].integer
                                                                           : 0;
}

double szg_table_get_real(const szg_table *table, int64_t row, int64_t column) {
    int64_t at = row * table->columns + column;
    if (!table->present[at])
        return NAN;
    if (table->column[column].type == SZG_INTEGER)
        return (double)table->cell[at].integer;
    return table->column[column].type == SZG_REAL ? table->cell[at].real : NAN;
}

static void get_empty(const szg_table *table, int64_t column, bool *empty) {
    for (int64_t row = 0; empty && row < table->rows; row++)
        empty[row] = szg_table_is_empty(table, row, column);
}

void szg_table_get_texts(const szg_table *table, int64_t column, const char **values, bool *empty) {
    for (int64_t row = 0; row < table->rows; row++)
        values[row] = szg_table_get_text(table, row, column);
    get_empty(table, column, empty);
}

void szg_table_get_integers(const szg_table *table, int64_t column, int64_t *values, bool *empty) {
    for (int64_t row = 0; row < table->rows; row++)
        values[row] = szg_table_get_integer(table, row, column);
    get_empty(table, column, empty);
}

void szg_table_get_reals(const szg_table *table, int64_t column, double *values, bool *empty) {
    for (int64_t row = 0; row < table->rows; row++)
        values[row] = szg_table_get_real(table, row, column);
    get_empty(table, column, empty);
}
