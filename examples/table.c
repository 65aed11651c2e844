/* A table of one's own, written as szego writes its results: the range of Gaussian kernels by their
 * width, each inside the certified range of its symbol. table FOLDER/ */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <szego/szego.h>

enum { N = 256, LAGS = 64 };

static const szg_column columns[] = {
    {"width", SZG_REAL, "the kernel is e^(-k^2 / (2 width^2)), cut at lag 64"},
    {"n", SZG_INTEGER, "order of the matrix"},
    {"convention", SZG_TEXT, "what the symbol is of"},
    {"lambda_min", SZG_REAL, "least eigenvalue"},
    {"symbol_min_lo", SZG_REAL, "lower end of the symbol's certified range"},
    {"note", SZG_TEXT, "for people"},
};

static szg_status add_row(szg_context *context, szg_table *table, double width,
                          const szg_matrix_report *report) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_real(context, table, "width", width));
    SZG_TRY(szg_table_set_integer(context, table, "n", N));
    SZG_TRY(szg_table_set_text(context, table, "convention",
                               szg_symbol_convention_name(report->convention)));
    SZG_TRY(szg_table_set_real(context, table, "lambda_min", report->summary.lambda_min));
    SZG_TRY(szg_table_set_real(context, table, "symbol_min_lo", report->symbol.min.lo));
    if (report->summary.lambda_min < report->symbol.min.lo)
        SZG_TRY(szg_table_note(context, table, "below the symbol by %.1e: rounding",
                               report->symbol.min.lo - report->summary.lambda_min));
    return SZG_OK;
}

static szg_status measure(szg_context *context, szg_table *table, double width) {
    double a[LAGS];
    for (int k = 0; k < LAGS; k++)
        a[k] = exp(-k * k / (2 * width * width));
    szg_toeplitz *kernel;
    szg_matrix_report report = {0};
    SZG_TRY(szg_toeplitz_open_symmetric(context, N, LAGS, a, &kernel));
    const szg_matrix matrix = szg_matrix_toeplitz(kernel);
    szg_status status = szg_summary_compute(context, &matrix, NULL, &report);
    if (status == SZG_OK)
        status = add_row(context, table, width, &report);
    szg_matrix_report_close(&report);
    szg_toeplitz_close(&kernel);
    return status;
}

static szg_status run(szg_context *context, szg_result *result, const char *folder) {
    szg_table *table;
    SZG_TRY(szg_table_open(context, "widths", columns, sizeof columns / sizeof *columns, &table));
    szg_status status = SZG_OK;
    for (double width = 0.5; width <= 4 && status == SZG_OK; width *= 2)
        status = measure(context, table, width);
    if (status != SZG_OK) {
        szg_table_close(&table);
        return status;
    }
    printf("%d widths\n", (int)szg_table_rows(table));
    SZG_TRY(szg_result_add(context, result, &table));
    return szg_result_write(context, result, folder, NULL);
}

int main(int count, char **arguments) {
    szg_context *context;
    szg_result *result = NULL;
    if (count != 2 || szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    szg_status status = szg_result_open(context, "widths", &result);
    if (status == SZG_OK)
        status = run(context, result, arguments[1]);
    if (status != SZG_OK)
        fprintf(stderr, "%s\n", szg_context_message(context));
    szg_result_close(&result);
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
