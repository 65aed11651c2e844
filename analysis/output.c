#include "command.h"
#include "display.h"
#include "terminal.h"

#include "linalg/distributed.h"
#include "linalg/ops.h"
#include "linalg/linalg.h"
#include "formats/result.h"

static szg_status open_result(command_call *call, szg_result **out) {
    szg_context *context = call->context;
    SZG_TRY(szg_result_open(context, call->command->name, out));
    szgi_json *provenance = szgi_result_provenance(*out), *arguments = NULL;
    szg_status status;
    SZG_TRY_GOTO(status,
                 szgi_json_add_text(context, provenance, "backend", szgi_backend_name(context)),
                 fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, provenance, "blas", szg_backend_blas()), fail);
    const szgi_distributed_ops *ops = szgi_distributed_of(context);
    if (ops) {
        SZG_TRY_GOTO(status,
                     szgi_json_add_integer(context, provenance, "processes", ops->processes), fail);
        SZG_TRY_GOTO(status, szgi_json_add_text(context, provenance, "mpi", ops->libraries), fail);
    }
    SZG_TRY_GOTO(
        status, szgi_json_add_integer(context, provenance, "threads", szg_context_threads(context)),
        fail);
    SZG_TRY_GOTO(status,
                 szgi_json_add_integer(context, provenance, "seed", (int64_t)call->shared.seed),
                 fail);
    SZG_TRY_GOTO(status, echo_configurations(call, provenance), fail);
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &arguments), fail);
    for (int i = 1; i < call->argc; i++)
        SZG_TRY_GOTO(status, szgi_json_add_text(context, arguments, NULL, call->argv[i]), fail);
    SZG_TRY_GOTO(status, szgi_json_add(context, provenance, "arguments", &arguments), fail);
    return SZG_OK;
fail:
    szgi_json_close(&arguments);
    szg_result_close(out);
    return status;
}

szg_status output_check(const command_call *call) {
    return call->shared.output ? szgi_result_check_path(call->context, call->shared.output)
                               : SZG_OK;
}

static szg_status print(command_call *call, const szg_result *result, const char *table) {
    szg_print_options options = {SZG_INIT(szg_print_options), .table = table};
    if (call->shared.format)
        SZG_TRY(szg_format_parse(call->context, call->shared.format, &options.format));
    terminal_clear(call->screen);
    return options.format == SZG_FORMAT_TABLE
               ? display_print(call, result)
               : szg_result_print(call->context, result, &options, stdout);
}

static szg_status write_file(command_call *call, const szg_result *result, const char *table) {
    SZG_TRY(call->locked ? szgi_result_write_locked(call->context, result, call->shared.output)
                         : szg_result_write(call->context, result, call->shared.output, table));
    szgi_say(call->context, SZG_NOTE, "wrote %s", call->shared.output);
    return SZG_OK;
}

szg_status output_collect(command_call *call, size_t count, szg_table **const *tables,
                          szg_result **out) {
    SZG_TRY(open_result(call, out));
    szg_status status = SZG_OK;
    for (size_t i = 0; i < count && status == SZG_OK; i++)
        if (*tables[i])
            status = szg_result_add(call->context, *out, tables[i]);
    if (status != SZG_OK)
        szg_result_close(out);
    return status;
}

szg_status output_tables(command_call *call, size_t count, szg_table **const *tables,
                         const char *table) {
    szg_result *result;
    SZG_TRY(szgi_distributed_agree(call->context, SZGI_MEETING_RESULTS, SZG_OK));
    if (!szgi_distributed_speaks(call->context))
        return SZG_OK;
    SZG_TRY(output_collect(call, count, tables, &result));
    szg_status status =
        call->shared.output ? write_file(call, result, table) : print(call, result, table);
    szg_result_close(&result);
    return status;
}

szg_status output_tables_to(command_call *call, const char *path, size_t count,
                            szg_table **const *tables) {
    szg_result *result;
    SZG_TRY(output_collect(call, count, tables, &result));
    szg_status status = szg_result_write(call->context, result, path, NULL);
    szg_result_close(&result);
    return status;
}
