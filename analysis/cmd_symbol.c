/* `szego symbol`: the symbol of an encoding's kernel, sampled, with its certified extrema. */
#include <string.h>

#include <szego/report.h>
#include <szego/result.h>

#include "specs.h"

enum { KEY_PE = 0x100, KEY_COEFFICIENTS, KEY_CONVENTION, KEY_GRID };

typedef struct symbol_options {
    text_list specs, keep;
    integer_list orders;
    szg_symbol_convention convention;
    int64_t grid;
} symbol_options;

static const struct argp_option options[] = {
    {"pe", KEY_PE, "SPEC", 0, "positional encoding; may be given several times", 1},
    {"coefficients", KEY_COEFFICIENTS, "FILE", 0,
     "Toeplitz coefficients, one row a head: short for --pe file:path=FILE", 1},
    {NULL, 'n', "N[,N...]", 0, "sequence lengths: lags below N make the symbol (default 512)", 1},
    {"convention", KEY_CONVENTION, "WORD", 0,
     "truncated (default): bounds the eigenvalues; fejer: smoothed, no bound; closed_form: the "
     "infinite symbol where the encoding has one",
     1},
    {"grid", KEY_GRID, "M", 0, "samples over [0, 2 pi) (default 1024)", 1},
    {0}};

static szg_symbol_convention parse_convention(struct argp_state *state, const char *text) {
    static const szg_symbol_convention known[] = {SZG_SYMBOL_TRUNCATED, SZG_SYMBOL_FEJER,
                                                  SZG_SYMBOL_CLOSED_FORM};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, szg_symbol_convention_name(known[i])) == 0)
            return known[i];
    argp_error(state, "--convention: '%s' is none of truncated, fejer, closed_form", text);
    return SZG_SYMBOL_TRUNCATED;
}

static void check_options(symbol_options *own, struct argp_state *state) {
    if (own->specs.count == 0)
        argp_error(state, "nothing to analyse: give --pe SPEC or --coefficients FILE");
    if (own->orders.count == 0)
        parse_integer_list(state, "-n", "512", 1, INT64_MAX, &own->orders);
    if (own->grid == 0)
        own->grid = 1024;
}

static error_t parse(command_call *call, int key, char *argument, struct argp_state *state) {
    symbol_options *own = call->own;
    switch (key) {
    case KEY_PE:
        parse_text(state, argument, &own->specs);
        return 0;
    case KEY_COEFFICIENTS:
        specs_add_file(state, argument, &own->specs, &own->keep);
        return 0;
    case 'n':
        parse_integer_list(state, "-n", argument, 1, INT64_MAX, &own->orders);
        return 0;
    case KEY_CONVENTION:
        own->convention = parse_convention(state, argument);
        return 0;
    case KEY_GRID:
        own->grid = parse_integer(state, "--grid", argument, 1, 100000000);
        return 0;
    case ARGP_KEY_END:
        check_options(own, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void release(command_call *call) {
    symbol_options *own = call->own;
    specs_free(&own->specs, &own->keep);
    szg_memory_free(own->orders.value);
}

typedef struct symbol_job {
    szg_context *context;
    szg_report_options report;
    szg_report_tables tables;
} symbol_job;

static szg_status visit(void *user, const szg_encoding *encoding, int64_t n, int64_t head) {
    symbol_job *job = user;
    szg_report_labels labels = {szg_encoding_spec(encoding), -1, head};
    for (int64_t matrix = 0; matrix < szg_encoding_matrices(encoding); matrix++) {
        szg_matrix_report report;
        SZG_TRY(szg_report_symbol(job->context, encoding, head, matrix, n, &job->report, &report));
        szg_status status = szg_report_add(job->context, &job->tables, &labels, &report);
        szg_matrix_report_close(&report);
        SZG_TRY(status);
    }
    return SZG_OK;
}

static szg_status finish(command_call *call, symbol_job *job) {
    szg_result *result;
    SZG_TRY(output_open(call, &result));
    szg_status status = szg_result_add(call->context, result, &job->tables.samples);
    if (status == SZG_OK)
        status = szg_result_add(call->context, result, &job->tables.range);
    if (status == SZG_OK && szg_table_rows(job->tables.atoms) > 0)
        status = szg_result_add(call->context, result, &job->tables.atoms);
    if (status != SZG_OK) {
        szg_result_close(&result);
        return status;
    }
    return output_finish(call, &result, NULL);
}

static szg_status run(command_call *call) {
    const symbol_options *own = call->own;
    symbol_job job = {.context = call->context,
                      .report = {.samples = own->grid, .convention = own->convention}};
    SZG_TRY(szg_report_tables_open(call->context, false, true, &job.tables));
    szg_table_close(&job.tables.summary);
    szg_status status = specs_run(call->context, &own->specs, &own->orders, visit, &job);
    if (status == SZG_OK)
        status = finish(call, &job);
    szg_report_tables_close(&job.tables);
    return status;
}

const command command_symbol = {
    .name = "symbol",
    .summary = "the symbol of an encoding's kernel, sampled, with certified extrema",
    .doc = "Samples the symbol of a positional encoding's kernel and encloses its minimum and "
           "maximum. The convention stands in every row. Point masses of almost periodic kernels "
           "come as a table of their own, atoms.",
    .options = options,
    .own_size = sizeof(symbol_options),
    .parse = parse,
    .run = run,
    .release = release,
    .describe = specs_describe,
};
