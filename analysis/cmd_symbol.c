/* `szego symbol`: the symbol of an encoding's kernel, sampled, with its certified extrema. */
#include <string.h>

#include <szego/report.h>
#include "formats/result.h"

#include "display.h"
#include "specs.h"

typedef struct symbol_options {
    specs_options common;
    szg_symbol_convention convention;
    int64_t grid;
} symbol_options;

static const command_option options[] = {
    SPECS_OPTIONS(symbol_options,
                  "sequence lengths: the symbol is made of the lags below N (default 512)"),
    OPTION(symbol_options, convention, "convention", "WORD",
           "truncated (default): bounds the eigenvalues; fejer: smoothed, no bound; closed_form: "
           "the infinite symbol, if the encoding has one",
           .choices = "truncated|fejer|closed_form"), /* as szg_symbol_convention has them */
    OPTION(symbol_options, grid, "grid", "M", "samples over [0, 2 pi) (default 1024)", .least = 1,
           .most = 100000000, .fallback = "1024"),
    {0}};

static void release(command_call *call) {
    symbol_options *own = call->own;
    specs_free(&own->common);
}

typedef struct symbol_job {
    szg_context *context;
    szg_report_options report;
    szg_report_tables tables;
} symbol_job;

static szg_status add_symbol(symbol_job *job, const szg_report_labels *labels,
                             const szg_matrix *matrix) {
    szg_matrix_report report;
    SZG_TRY(szg_symbol_compute(job->context, matrix, &job->report, &report));
    szg_status status = szg_report_add(job->context, &job->tables, labels, &report);
    szg_matrix_report_close(&report);
    return status;
}

static szg_status visit(void *user, const szg_encoding *encoding, int64_t n, int64_t head) {
    symbol_job *job = user;
    szg_report_labels labels = {SZG_INIT(szg_report_labels), .source = szg_encoding_spec(encoding),
                                .layer = -1, .head = head};
    for (int64_t matrix = 0; matrix < szg_encoding_matrices(encoding); matrix++) {
        szg_matrix kernel;
        SZG_TRY(szg_encoding_matrix(job->context, encoding, head, matrix, n, &kernel));
        szg_status status = add_symbol(job, &labels, &kernel);
        szg_matrix_close(&kernel);
        SZG_TRY(status);
    }
    return SZG_OK;
}

/* No atoms, no table of them. A person reads the range; samples are for files and programs. */
static szg_status finish(command_call *call, symbol_job *job) {
    szg_table *none = NULL;
    bool person = display_is_for_a_person(call);
    szg_table **const tables[] = {person ? &none : &job->tables.samples, &job->tables.range,
                                  &job->tables.atoms};
    if (szg_table_rows(job->tables.atoms) == 0)
        szg_table_close(&job->tables.atoms);
    return output_tables(call, sizeof tables / sizeof *tables, tables, NULL);
}

static szg_status run(command_call *call) {
    const symbol_options *own = call->own;
    symbol_job job = {.context = call->context,
                      .report = {SZG_INIT(szg_report_options), .samples = own->grid,
                                 .convention = own->convention}};
    SZG_TRY(szg_report_tables_open(call->context, false, true, &job.tables));
    szg_table_close(&job.tables.summary);
    szg_status status = specs_run(call->context, &own->common, visit, &job);
    if (status == SZG_OK)
        status = finish(call, &job);
    szg_report_tables_close(&job.tables);
    return status;
}

static const command_example examples[] = {
    {"szego symbol alibi:heads=2 -n 128 --grid 16", "Samples of two heads, and certified extrema."},
    {"szego symbol kms:rho=0.5 --convention closed_form --format csv",
     "The symbol of infinite length, as csv."},
    {"szego symbol rope:dim=64 nope -n 512 -o symbols/", "Both encodings, in files."},
    {0}};

const command command_symbol = {
    .name = "symbol",
    .summary = "the symbol of an encoding's kernel, sampled, with certified extrema",
    .doc = "Samples the symbol of a positional encoding's kernel and encloses its minimum and "
           "maximum. Every row names the convention. Point masses of almost periodic kernels are "
           "in a separate table, atoms.",
    .options = options,
    .own_size = sizeof(symbol_options),
    .run = run,
    .release = release,
    .examples = examples,
    .topics = "specs",
};
