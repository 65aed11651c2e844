/* Columns that results of earlier versions lack, from where these versions wrote the fact. */
#include <inttypes.h>
#include <string.h>
#include "base/memory.h"
#include "base/table.h"

#include "collection_private.h"

/* Earlier versions wrote the experiment of a reproduction's run only as the beginning of the run's
 * path, EXPERIMENT/TASK/ENCODING/run-SEED. */
static const char *const without_experiment[] = {"reproduce_curves", "reproduce_contraction"};
enum { TABLES = sizeof without_experiment / sizeof *without_experiment };

/* Where an older table has the run's path, and the experiment (-1: nowhere); and where the
 * completed table has the experiment. */
typedef struct places {
    int64_t run, experiment, completed;
} places;

/* A column that is missing goes before a last column `note`. */
static places places_of(const szg_table *table) {
    places at = {szg_table_find(table, "run"), szg_table_find(table, "experiment"), 0};
    int64_t columns = szg_table_columns(table), note = szg_table_find(table, "note");
    at.completed = at.experiment >= 0 ? at.experiment : note == columns - 1 ? note : columns;
    return at;
}

static bool is_concerned(const szg_table *table) {
    for (int i = 0; i < TABLES; i++)
        if (strcmp(szg_table_name(table), without_experiment[i]) == 0)
            return true;
    return false;
}

static bool is_text(const szg_table *table, int64_t column) {
    return column >= 0 && szg_table_column(table, column)->type == SZG_TEXT;
}

/* Bytes of the experiment in a row whose own cell is empty; 0: there is nothing to complete. */
static int64_t missing_length(const szg_table *table, int64_t row, const places *at) {
    if (at->experiment >= 0 && !szg_table_is_empty(table, row, at->experiment))
        return 0;
    const char *run = szg_table_get_text(table, row, at->run);
    const char *slash = run ? strchr(run, '/') : NULL;
    return slash ? slash - run : 0;
}

static bool is_incomplete(const szg_table *table, const places *at) {
    if (!is_text(table, at->run) || (at->experiment >= 0 && !is_text(table, at->experiment)))
        return false;
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        if (missing_length(table, row, at) > 0)
            return true;
    return false;
}

/* ---- A table with the column ---- */

static szg_status open_completed(szg_context *context, const szg_table *old, const places *at,
                                 szg_table **out) {
    int64_t own = szg_table_columns(old), count = own + (at->experiment < 0), from = 0;
    szg_column *columns;
    if (count > SZGI_COLLECTION_COLUMNS + 1)
        return szgi_fail(context, SZG_EDATA,
                         "table %s has %" PRId64 " columns, and no room for the column "
                         "`experiment`: remove one",
                         szg_table_name(old), own);
    SZG_TRY(szgi_memory_alloc(context, count, &columns));
    for (int64_t i = 0; i < count; i++)
        columns[i] = count > own && i == at->completed
                         ? (szg_column){"experiment", SZG_TEXT, "part of the preset"}
                         : *szg_table_column(old, from++);
    szg_status status = szg_table_open(context, szg_table_name(old), columns, count, out);
    szgi_memory_free(columns);
    if (status == SZG_OK)
        szgi_table_take_ends(*out, old);
    return status;
}

static szg_status put_experiment(szg_context *context, const char *run, int64_t length,
                                 szg_table *table, int64_t column) {
    char *name;
    SZG_TRY(szgi_memory_alloc(context, length + 1, &name));
    memcpy(name, run, (size_t)length);
    szg_status status = szgi_table_put_text(context, table, column, name);
    szgi_memory_free(name);
    return status;
}

static szg_status copy_rows(szg_context *context, const szg_table *old, const places *at,
                            szg_table *table) {
    int64_t *target;
    SZG_TRY(szgi_memory_alloc(context, szg_table_columns(old), &target));
    for (int64_t i = 0; i < szg_table_columns(old); i++)
        target[i] = at->experiment < 0 && i >= at->completed ? i + 1 : i;
    szg_status status = szgi_table_reserve(context, table, szg_table_rows(old));
    for (int64_t row = 0; status == SZG_OK && row < szg_table_rows(old); row++) {
        int64_t length = missing_length(old, row, at);
        SZG_TRY_GOTO(status, szg_table_add_row(context, table), done);
        SZG_TRY_GOTO(status, szgi_collection_copy_row(context, old, row, target, table), done);
        if (length > 0)
            status = put_experiment(context, szg_table_get_text(old, row, at->run), length, table,
                                    at->completed);
    }
done:
    szgi_memory_free(target);
    return status;
}

static szg_status complete(szg_context *context, szg_table **table) {
    const places at = places_of(*table);
    szg_table *fresh;
    if (!is_incomplete(*table, &at))
        return SZG_OK;
    SZG_TRY(open_completed(context, *table, &at, &fresh));
    szg_status status = copy_rows(context, *table, &at, fresh);
    if (status == SZG_OK) {
        szg_table *old = *table;
        *table = fresh;
        fresh = old;
    }
    szg_table_close(&fresh);
    return status;
}

szg_status szgi_collection_complete(szg_context *context, szg_collection *all) {
    for (int64_t i = 0; i < all->tables; i++)
        if (is_concerned(all->table[i]))
            SZG_TRY(complete(context, &all->table[i]));
    return SZG_OK;
}
