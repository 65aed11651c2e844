#include <string.h>

#include "formats/csv.h"
#include "formats/display.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/suggest.h"
#include "base/text.h"
#include <szego/version.h>
#include "result_private.h"

static const char *const format_names[] = {
    [SZG_FORMAT_TABLE] = "table", [SZG_FORMAT_CSV] = "csv", [SZG_FORMAT_JSON] = "json"};

szg_status szg_format_parse(szg_context *context, const char *name, szg_format *out) {
    for (int i = 0; i < 3; i++)
        if (strcmp(name, format_names[i]) == 0) {
            *out = (szg_format)i;
            return SZG_OK;
        }
    return szgi_fail(context, SZG_EINVAL, "format %s is unknown: %s table, csv, json", SHOWN(name),
                     SZGI_DID_YOU_CHOOSE(name, "table|csv|json", "one of"));
}

szg_status szgi_result_check_command(szg_context *context, const char *command) {
    if (!*command || command[strspn(command, "abcdefghijklmnopqrstuvwxyz0123456789-")])
        return szgi_fail(context, SZG_EINVAL, "%s: only a-z, 0-9 and hyphens are allowed",
                         SHOWN(command));
    if (strlen(command) > RESULT_COMMAND_LIMIT)
        return szgi_fail(context, SZG_EINVAL, "%s: more than %d characters", SHOWN(command),
                         (int)RESULT_COMMAND_LIMIT);
    return SZG_OK;
}

szg_status szg_result_open(szg_context *context, const char *command, szg_result **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_result *result;
    SZG_TRY(szgi_result_check_command(context, command));
    SZG_TRY(szgi_memory_alloc(context, 1, &result));
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_copy_text(context, command, &result->command), fail);
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &result->provenance), fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, result->provenance, "version", szg_version()),
                 fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, result->provenance, "commit", szg_commit()),
                 fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, result->provenance, "command", command), fail);
    *out = result;
    return SZG_OK;
fail:
    szg_result_close(&result);
    return status;
}

void szg_result_close(szg_result **result) {
    if (!result || !*result)
        return;
    for (int64_t i = 0; i < (*result)->tables; i++)
        szg_table_close(&(*result)->table[i]);
    szgi_memory_free((*result)->table);
    szgi_json_close(&(*result)->provenance);
    szgi_memory_free((*result)->command);
    szgi_memory_free(*result);
    *result = NULL;
}

szgi_json *szgi_result_provenance(const szg_result *result) {
    return result->provenance;
}

/* The name becomes a file name and a JSON key beside `provenance`. */
szg_status szgi_result_check_name(szg_context *context, const szg_result *result,
                                  const char *name) {
    if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return szgi_fail(context, SZG_EINVAL,
                         "table name %s: only a-z, 0-9 and underscores are allowed", SHOWN(name));
    if (strlen(name) > RESULT_NAME_LIMIT)
        return szgi_fail(context, SZG_EINVAL, "table name %s: more than %d characters", SHOWN(name),
                         (int)RESULT_NAME_LIMIT);
    if (strcmp(name, "provenance") == 0 || strcmp(name, "manifest") == 0)
        return szgi_fail(context, SZG_EINVAL, "table name %s is reserved", name);
    if (szg_result_find(result, name))
        return szgi_fail(context, SZG_EINVAL, "the result has a table %s already", name);
    return SZG_OK;
}

szg_status szg_result_add(szg_context *context, szg_result *result, szg_table **table) {
    SZGI_ENTER(context);
    szg_status status = szgi_result_check_name(context, result, szg_table_name(*table));
    if (status == SZG_OK)
        status = szgi_memory_grow(context, &result->table, result->tables, result->tables + 1);
    if (status == SZG_OK) {
        result->table[result->tables++] = *table;
        *table = NULL;
    }
    szg_table_close(table);
    return status;
}

const char *szg_result_command(const szg_result *result) {
    return result->command;
}

int64_t szg_result_count(const szg_result *result) {
    return result->tables;
}

const szg_table *szg_result_table(const szg_result *result, int64_t index) {
    return result->table[index];
}

const szg_table *szg_result_find(const szg_result *result, const char *name) {
    for (int64_t i = 0; i < result->tables; i++)
        if (strcmp(szg_table_name(result->table[i]), name) == 0)
            return result->table[i];
    return NULL;
}

szg_table *szgi_result_take(szg_result *result, const char *name) {
    for (int64_t i = 0; i < result->tables; i++) {
        szg_table *table = result->table[i];
        if (strcmp(szg_table_name(table), name) != 0)
            continue;
        for (result->tables--; i < result->tables; i++)
            result->table[i] = result->table[i + 1];
        return table;
    }
    return NULL;
}

szg_status szgi_result_choose(szg_context *context, const szg_result *result, const char *name,
                              const szg_table **out) {
    if (result->tables == 0)
        return szgi_fail(context, SZG_EINVAL, "the result has no table");
    *out = name ? szg_result_find(result, name) : result->table[0];
    if (*out)
        return SZG_OK;
    char list[512] = "";
    for (int64_t i = 0; i < result->tables; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                 szg_table_name(result->table[i]));
    }
    return szgi_fail(context, SZG_EINVAL, "there is no table %s; there are: %s", SHOWN(name), list);
}

/* Notes are shown: a caller has no option that would ask for them later. */
static szg_status show(szg_context *context, const szg_result *result,
                       const szg_print_options *options, FILE *stream) {
    enum { WIDTH = 120 };
    const szgi_display display = {
        .width = options->width > 0 ? options->width : WIDTH, .rows = options->rows, .notes = true};
    return szgi_result_show(context, result, &display, stream);
}

szg_status szg_result_print(szg_context *context, const szg_result *result,
                            const szg_print_options *options, FILE *stream) {
    SZGI_ENTER(context);
    const szg_table *table;
    szg_print_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_print_options, options, &own));
    switch (own.format) {
    case SZG_FORMAT_CSV:
        SZG_TRY(szgi_result_choose(context, result, own.table, &table));
        return szgi_csv_print(context, table, stream);
    case SZG_FORMAT_JSON:
        SZG_TRY(szgi_result_emit_json(context, result, stream));
        break;
    default:
        return show(context, result, &own, stream);
    }
    szg_status status = szgi_stream_flush(context, stream);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "the result");
}
