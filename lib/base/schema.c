#include <string.h>

#include "base/memory.h"
#include "base/schema.h"

/* The linker names both ends of a section whose name is an identifier; a program without schemas
 * has neither. No other file may see the names: each shared object has its own. */
#pragma GCC visibility push(hidden)
extern const szgi_schema *const __start_szgi_schema_list[] __attribute__((weak));
extern const szgi_schema *const __stop_szgi_schema_list[] __attribute__((weak));
#pragma GCC visibility pop

const szgi_schema *const *szgi_schemas(int64_t *count) {
    const szgi_schema *const *first = __start_szgi_schema_list;
    *count = first ? __stop_szgi_schema_list - first : 0;
    return first;
}

szg_column szgi_column_core(const szgi_column *column) {
    return (szg_column){column->name, column->type, column->doc};
}

szg_status szgi_columns_core(szg_context *context, const szgi_column *columns, int64_t count,
                             szg_column **out) {
    SZG_TRY(szgi_memory_alloc(context, count, out));
    for (int64_t i = 0; i < count; i++)
        (*out)[i] = szgi_column_core(&columns[i]);
    return SZG_OK;
}

szg_status szgi_columns_open(szg_context *context, const char *table, const szgi_column *columns,
                             int64_t count, szg_table **out) {
    szg_column *core;
    *out = NULL;
    SZG_TRY(szgi_columns_core(context, columns, count, &core));
    szg_status status = szg_table_open(context, table, core, count, out);
    szgi_memory_free(core);
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        szgi_table_set_end(*out, i, columns[i].end);
    return status;
}

szg_status szgi_schema_open(szg_context *context, const szgi_schema *schema, szg_table **out) {
    return szgi_columns_open(context, schema->table, schema->column, schema->columns, out);
}

const szgi_schema *szgi_schema_of(const szg_table *table, const szgi_schema *const *schemas,
                                  int64_t count) {
    const szgi_schema *best = NULL;
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t shared = 0;
        if (strcmp(schemas[i]->table, szg_table_name(table)) != 0)
            continue;
        for (int64_t c = 0; c < schemas[i]->columns; c++)
            shared += szg_table_find(table, schemas[i]->column[c].name) >= 0;
        if (shared > most) {
            best = schemas[i];
            most = shared;
        }
    }
    return best;
}
