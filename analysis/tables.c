/* Writes tables.json: what the schemas that are linked say of their tables, one object a table. The
 * build runs it; a description that contradicts another one ends the build. usage: szego-tables
 * FILE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/schema.h"
#include "formats/json.h"

/* The schemas, those of one table together. */
typedef struct schema_list {
    const szgi_schema **schema;
    int64_t count;
} schema_list;

static int by_table(const void *a, const void *b) {
    return strcmp((*(const szgi_schema *const *)a)->table, (*(const szgi_schema *const *)b)->table);
}

static const szgi_column *find_column(schema_list list, const char *name) {
    for (int64_t i = 0; i < list.count; i++)
        for (int64_t c = 0; c < list.schema[i]->columns; c++)
            if (strcmp(list.schema[i]->column[c].name, name) == 0)
                return &list.schema[i]->column[c];
    return NULL;
}

static szg_status add_column(szg_context *context, schema_list list, const szgi_column *column,
                             szgi_json *columns) {
    szgi_json *one;
    const szgi_column *first = find_column(list, column->name);
    if (column->type != first->type || column->end != first->end ||
        strcmp(column->unit, first->unit) != 0 || strcmp(column->label, first->label) != 0)
        return szgi_fail(context, SZG_EINVAL,
                         "table %s: two schemas give the column %s another type, unit, label or "
                         "end: \"%s\", \"%s\" and \"%s\", \"%s\"",
                         list.schema[0]->table, column->name, first->label, first->unit,
                         column->label, column->unit);
    if (column != first)
        return SZG_OK;
    SZG_TRY(szgi_json_open_object(context, &one));
    szg_status status = szgi_json_add_text(context, one, "name", column->name);
    if (status == SZG_OK)
        status = szgi_json_add_text(context, one, "type", szgi_type_name(column->type));
    if (status == SZG_OK)
        status = szgi_json_add_text(context, one, "unit", column->unit);
    if (status == SZG_OK)
        status = szgi_json_add_text(context, one, "label", column->label);
    if (status == SZG_OK && column->end != SZGI_END_NONE)
        status = szgi_json_add_text(context, one, "end", szgi_end_name(column->end));
    if (status == SZG_OK)
        status = szgi_json_add_text(context, one, "doc", column->doc);
    if (status == SZG_OK)
        status = szgi_json_add(context, columns, NULL, &one);
    szgi_json_close(&one);
    return status;
}

/* Is what the cell shows there? */
static szg_status check_cell(szg_context *context, schema_list list, const szgi_cell *cell) {
    const char *const names[] = {cell->kind == SZGI_CELL_RANGE ? cell->lower : cell->name,
                                 cell->upper, cell->where};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && !find_column(list, names[i]))
            return szgi_fail(context, SZG_EINVAL,
                             "table %s: the screen shows %s, which no schema has",
                             list.schema[0]->table, names[i]);
    return SZG_OK;
}

static szg_status add_cell(szg_context *context, schema_list list, const szgi_cell *cell,
                           szgi_json *screen) {
    static const char *const kinds[SZGI_CELL_KINDS] = {"value", "word", "prose", "range"};
    const struct {
        const char *key, *text;
    } texts[] = {{"name", cell->name},       {"kind", kinds[cell->kind]},
                 {"heading", cell->heading}, {"symbols", cell->symbols},
                 {"lower", cell->lower},     {"upper", cell->upper},
                 {"where", cell->where},     {"is", cell->is},
                 {"empty", cell->empty}};
    szgi_json *one;
    SZG_TRY(check_cell(context, list, cell));
    SZG_TRY(szgi_json_open_object(context, &one));
    szg_status status = szgi_json_add_integer(context, one, "priority", cell->priority);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (status == SZG_OK && texts[i].text)
            status = szgi_json_add_text(context, one, texts[i].key, texts[i].text);
    if (status == SZG_OK)
        status = szgi_json_add(context, screen, NULL, &one);
    szgi_json_close(&one);
    return status;
}

/* Does a schema before this one show a cell of this name? */
static bool is_shown(schema_list before, const char *name) {
    for (int64_t i = 0; i < before.count; i++)
        for (int64_t c = 0; c < before.schema[i]->cells; c++)
            if (strcmp(before.schema[i]->cell[c].name, name) == 0)
                return true;
    return false;
}

static szg_status fill(szg_context *context, schema_list list, szgi_json *columns,
                       szgi_json *screen) {
    for (int64_t i = 0; i < list.count; i++) {
        const szgi_schema *schema = list.schema[i];
        for (int64_t c = 0; c < schema->columns; c++)
            SZG_TRY(add_column(context, list, &schema->column[c], columns));
        for (int64_t c = 0; c < schema->cells; c++)
            if (!is_shown((schema_list){list.schema, i}, schema->cell[c].name))
                SZG_TRY(add_cell(context, list, &schema->cell[c], screen));
    }
    return SZG_OK;
}

static szg_status add_table(szg_context *context, schema_list list, szgi_json *tables) {
    szgi_json *one = NULL, *columns = NULL, *screen = NULL;
    szg_status status = szgi_json_open_object(context, &one);
    if (status == SZG_OK)
        status = szgi_json_open_array(context, &columns);
    if (status == SZG_OK)
        status = szgi_json_open_array(context, &screen);
    if (status == SZG_OK)
        status = fill(context, list, columns, screen);
    if (status == SZG_OK)
        status = szgi_json_add(context, one, "columns", &columns);
    if (status == SZG_OK)
        status = szgi_json_add(context, one, "screen", &screen);
    if (status == SZG_OK)
        status = szgi_json_add(context, tables, list.schema[0]->table, &one);
    szgi_json_close(&screen);
    szgi_json_close(&columns);
    szgi_json_close(&one);
    return status;
}

static szg_status write_tables(szg_context *context, schema_list all, const char *path) {
    szgi_json *tables;
    SZG_TRY(szgi_json_open_object(context, &tables));
    szg_status status = SZG_OK;
    for (int64_t i = 0, next; i < all.count && status == SZG_OK; i = next) {
        for (next = i + 1; next < all.count && by_table(&all.schema[i], &all.schema[next]) == 0;)
            next++;
        status = add_table(context, (schema_list){all.schema + i, next - i}, tables);
    }
    if (status == SZG_OK)
        status = szgi_json_write(context, tables, path);
    szgi_json_close(&tables);
    return status;
}

int main(int count, char **arguments) {
    schema_list all;
    szg_context *context;
    const szgi_schema *const *schemas = szgi_schemas(&all.count);
    if (count != 2 || szg_context_open(NULL, &context) != SZG_OK)
        return 2;
    all.schema = malloc((size_t)all.count * sizeof *all.schema);
    if (!all.schema)
        return 1;
    memcpy(all.schema, schemas, (size_t)all.count * sizeof *schemas);
    qsort(all.schema, (size_t)all.count, sizeof *all.schema, by_table);
    szg_status status = write_tables(context, all, arguments[1]);
    if (status != SZG_OK)
        fprintf(stderr, "szego-tables: %s\n", szg_context_message(context));
    free(all.schema);
    szg_context_close(&context);
    return status == SZG_OK ? 0 : 1;
}
