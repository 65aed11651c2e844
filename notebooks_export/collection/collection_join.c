/* One table of the tables that results of one command have by one name. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "formats/csv.h"
#include "base/memory.h"

#include "collection_private.h"

enum {
    TABLE_LIMIT = 1024,
    NAME_LIMIT = 200, /* of szg_result_add: an export writes the table under its name */
    TYPES = 3,
    CANCEL_EVERY = 1 << 16,
    CELL_BYTES = 9 /* of a table, for a value and a flag */
};

typedef struct join_column {
    szg_column column;
    bool seen[TYPES];       /* by szg_type: some table has it so */
    bool marked[SZGI_ENDS]; /* by szgi_end, the same */
} join_column;

typedef struct join {
    char *name; /* of the joined table */
    int64_t rows, columns, room;
    join_column *column; /* in the order of their first appearance, without `result` */
} join;

typedef struct joins {
    join *join;
    int64_t count, room;
} joins;

/* Whether the joined table `name` is that of the command and table: COMMAND_TABLE, with underscores
 * for hyphens, which no table's name has. */
static bool is_name_of(const char *name, const char *command, const char *table) {
    for (; *command; command++, name++)
        if (*name != (*command == '-' ? '_' : *command))
            return false;
    return *name == '_' && strcmp(name + 1, table) == 0;
}

static szg_status make_name(szg_context *context, const char *command, const char *table,
                            char **out) {
    size_t size = strlen(command) + strlen(table) + 2;
    if (size > NAME_LIMIT + 1)
        return szgi_fail(context, SZG_EDATA,
                         "table %s of command %s: their joined name has more than %d characters",
                         table, command, (int)NAME_LIMIT);
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, out));
    snprintf(*out, size, "%s_%s", command, table);
    for (char *at = *out; (at = strchr(at, '-'));)
        *at = '_';
    return SZG_OK;
}

static szg_status find_join(szg_context *context, joins *all, const char *command,
                            const char *table, join **out) {
    for (int64_t i = 0; i < all->count; i++) {
        *out = &all->join[i];
        if (is_name_of((*out)->name, command, table))
            return SZG_OK;
    }
    if (all->count == TABLE_LIMIT)
        return szgi_fail(context, SZG_EDATA,
                         "table %s of command %s: results with more than %d kinds of tables "
                         "cannot be joined",
                         table, command, (int)TABLE_LIMIT);
    SZG_TRY(szgi_memory_reserve(context, &all->join, &all->room, all->count, 1));
    *out = &all->join[all->count];
    **out = (join){0};
    SZG_TRY(make_name(context, command, table, &(*out)->name));
    all->count++;
    return SZG_OK;
}

static int64_t find_column(const join *j, const char *name) {
    for (int64_t i = 0; i < j->columns; i++)
        if (strcmp(j->column[i].column.name, name) == 0)
            return i;
    return -1;
}

static szg_status add_column(szg_context *context, join *j, const szg_table *table, int64_t index) {
    const szg_column *column = szg_table_column(table, index);
    int64_t at = find_column(j, column->name);
    if (at < 0) {
        if (j->columns == SZGI_COLLECTION_COLUMNS)
            return szgi_fail(context, SZG_EDATA, "tables %s have more than %d columns between them",
                             j->name, (int)SZGI_COLLECTION_COLUMNS);
        SZG_TRY(szgi_memory_reserve(context, &j->column, &j->room, j->columns, 1));
        at = j->columns++;
        j->column[at] = (join_column){.column = *column};
    }
    j->column[at].seen[column->type] = true;
    j->column[at].marked[szgi_table_end(table, index)] = true;
    return SZG_OK;
}

static szg_status plan(szg_context *context, const szg_collection *all, joins *out) {
    for (int64_t i = 0; i < all->path.count; i++) {
        const szg_result *result = all->result[i];
        for (int64_t k = 0; k < szg_result_count(result); k++) {
            const szg_table *table = szg_result_table(result, k);
            join *j = NULL;
            SZG_TRY(find_join(context, out, szg_result_command(result), szg_table_name(table), &j));
            j->rows += szg_table_rows(table);
            for (int64_t c = 0; c < szg_table_columns(table); c++)
                SZG_TRY(add_column(context, j, table, c));
        }
    }
    return SZG_OK;
}

/* The table of one result that goes into the join; NULL: none. */
static const szg_table *source_of(const szg_collection *all, const join *j, int64_t index) {
    const szg_result *result = all->result[index];
    for (int64_t i = 0; i < szg_result_count(result); i++)
        if (is_name_of(j->name, szg_result_command(result),
                       szg_table_name(szg_result_table(result, i))))
            return szg_result_table(result, i);
    return NULL;
}

static bool is_exact(int64_t value) {
    double real = (double)value;
    return real < 0x1p63 && (int64_t)real == value;
}

/* Whether every integer of the column is a double. */
static bool are_exact(const szg_collection *all, const join *j, const char *name) {
    for (int64_t i = 0; i < all->path.count; i++) {
        const szg_table *from = source_of(all, j, i);
        int64_t at = from ? szg_table_find(from, name) : -1;
        if (at < 0 || szg_table_column(from, at)->type != SZG_INTEGER)
            continue;
        for (int64_t row = 0; row < szg_table_rows(from); row++)
            if (!is_exact(szg_table_get_integer(from, row, at)))
                return false;
    }
    return true;
}

static szg_type wider_type(const szg_collection *all, const join *j, const join_column *c) {
    if (c->seen[SZG_TEXT])
        return SZG_TEXT;
    if (!c->seen[SZG_REAL])
        return SZG_INTEGER;
    return !c->seen[SZG_INTEGER] || are_exact(all, j, c->column.name) ? SZG_REAL : SZG_TEXT;
}

/* Rounded outwards are also the rows of a result that was written without the mark; a column that
 * holds lower and upper ends has no outside. */
static szgi_end joined_end(const join_column *c) {
    if (c->marked[SZGI_END_LOWER] == c->marked[SZGI_END_UPPER])
        return SZGI_END_NONE;
    return c->marked[SZGI_END_LOWER] ? SZGI_END_LOWER : SZGI_END_UPPER;
}

/* `note` goes behind the others. */
static void move_note(join *j) {
    int64_t at = find_column(j, "note");
    if (at < 0)
        return;
    join_column note = j->column[at];
    memmove(&j->column[at], &j->column[at + 1], (size_t)(j->columns - at - 1) * sizeof *j->column);
    j->column[j->columns - 1] = note;
}

/* A column of the sources that is called `result` itself: `result_`, with more underscores where
 * that is taken too. NULL: there is none. */
static szg_status rename_result(szg_context *context, const join *j, char **out) {
    *out = NULL;
    if (find_column(j, "result") < 0)
        return SZG_OK;
    size_t length = strlen("result");
    SZG_TRY(szgi_memory_alloc(context, (int64_t)length + j->columns + 2, out));
    memcpy(*out, "result", length);
    do
        (*out)[length++] = '_';
    while (find_column(j, *out) >= 0);
    return SZG_OK;
}

static szg_status open_joined(szg_context *context, const szg_collection *all, join *j,
                              szg_table **out) {
    char *renamed = NULL;
    szg_column *column = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, j->columns + 1, &column), done);
    SZG_TRY_GOTO(status, rename_result(context, j, &renamed), done);
    column[0] = (szg_column){"result", SZG_TEXT, "the result's folder"};
    for (int64_t i = 0; i < j->columns; i++) {
        column[i + 1] = j->column[i].column;
        column[i + 1].type = wider_type(all, j, &j->column[i]);
        if (strcmp(column[i + 1].name, "result") == 0)
            column[i + 1].name = renamed;
    }
    SZG_TRY_GOTO(status,
                 szgi_memory_require(context, j->rows, j->columns + 1, CELL_BYTES, j->name,
                                     "give a folder with fewer results"),
                 done);
    SZG_TRY_GOTO(status, szg_table_open(context, j->name, column, j->columns + 1, out), done);
    for (int64_t i = 0; i < j->columns; i++)
        szgi_table_set_end(*out, i + 1, joined_end(&j->column[i]));
done:
    szgi_memory_free(renamed);
    szgi_memory_free(column);
    return status;
}

static szg_status copy_as_text(szg_context *context, const szg_table *from, int64_t row,
                               int64_t column, szg_table *to, int64_t target) {
    char text[SZGI_REAL_TEXT];
    if (szg_table_column(from, column)->type == SZG_TEXT)
        return szgi_table_put_text(context, to, target, szg_table_get_text(from, row, column));
    if (szg_table_column(from, column)->type == SZG_REAL)
        szgi_real_text(szg_table_get_real(from, row, column), text);
    else
        snprintf(text, sizeof text, "%" PRId64, szg_table_get_integer(from, row, column));
    return szgi_table_put_text(context, to, target, text);
}

static szg_status copy_cell(szg_context *context, const szg_table *from, int64_t row,
                            int64_t column, szg_table *to, int64_t target) {
    if (szg_table_is_empty(from, row, column))
        return SZG_OK;
    switch (szg_table_column(to, target)->type) {
    case SZG_INTEGER:
        return szgi_table_put_integer(context, to, target,
                                      szg_table_get_integer(from, row, column));
    case SZG_REAL:
        return szgi_table_put_real(context, to, target, szg_table_get_real(from, row, column));
    default:
        return copy_as_text(context, from, row, column, to, target);
    }
}

szg_status szgi_collection_copy_row(szg_context *context, const szg_table *from, int64_t row,
                                    const int64_t *target, szg_table *to) {
    for (int64_t i = 0; i < szg_table_columns(from); i++)
        SZG_TRY(copy_cell(context, from, row, i, to, target[i]));
    return SZG_OK;
}

static szg_status copy_rows(szg_context *context, const join *j, const char *path,
                            const szg_table *from, szg_table *to) {
    int64_t columns = szg_table_columns(from), *target;
    SZG_TRY(szgi_memory_alloc(context, columns, &target));
    for (int64_t i = 0; i < columns; i++)
        target[i] = find_column(j, szg_table_column(from, i)->name) + 1;
    szg_status status = SZG_OK;
    for (int64_t row = 0; row < szg_table_rows(from); row++) {
        if (row % CANCEL_EVERY == 0)
            SZG_TRY_GOTO(status, szgi_context_check_cancel(context), done);
        SZG_TRY_GOTO(status, szg_table_add_row(context, to), done);
        SZG_TRY_GOTO(status, szgi_table_put_text(context, to, 0, path), done);
        SZG_TRY_GOTO(status, szgi_collection_copy_row(context, from, row, target, to), done);
    }
done:
    szgi_memory_free(target);
    return status;
}

static szg_status fill(szg_context *context, szg_collection *all, join *j) {
    szg_table **table = &all->table[all->tables];
    move_note(j);
    SZG_TRY(open_joined(context, all, j, table));
    all->tables++;
    SZG_TRY(szgi_table_reserve(context, *table, j->rows));
    for (int64_t i = 0; i < all->path.count; i++) {
        const szg_table *from = source_of(all, j, i);
        if (from)
            SZG_TRY(copy_rows(context, j, all->path.text[i], from, *table));
    }
    return SZG_OK;
}

/* The tables of an export, as they are. */
static szg_status copy_tables(szg_context *context, szg_collection *all) {
    int64_t count = szg_result_count(all->result[0]);
    SZG_TRY(szgi_memory_alloc(context, count, &all->table));
    for (; all->tables < count; all->tables++)
        SZG_TRY(szgi_table_copy(context, szg_result_table(all->result[0], all->tables),
                                &all->table[all->tables]));
    return SZG_OK;
}

szg_status szgi_collection_join(szg_context *context, szg_collection *all) {
    joins planned = {0};
    szg_status status;
    if (szgi_collection_is_export(all))
        return copy_tables(context, all);
    SZG_TRY_GOTO(status, plan(context, all, &planned), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, planned.count, &all->table), done);
    for (int64_t i = 0; i < planned.count; i++) {
        szgi_progress(context, "joining tables", i, planned.count);
        SZG_TRY_GOTO(status, fill(context, all, &planned.join[i]), done);
    }
    szgi_progress(context, "joining tables", planned.count, planned.count);
done:
    for (int64_t i = 0; i < planned.count; i++) {
        szgi_memory_free(planned.join[i].name);
        szgi_memory_free(planned.join[i].column);
    }
    szgi_memory_free(planned.join);
    return status;
}
