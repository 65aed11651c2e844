/* Tables of a folder that `-o DIR/` wrote, and one column of the first: results FOLDER COLUMN */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <szego/szego.h>

static void print_column(const szg_table *table, const char *name) {
    int64_t column = szg_table_find(table, name);
    for (int64_t row = 0; column >= 0 && row < szg_table_rows(table); row++) {
        if (szg_table_is_empty(table, row, column))
            printf("\n");
        else if (szg_table_column(table, column)->type == SZG_TEXT)
            printf("%s\n", szg_table_get_text(table, row, column));
        else
            printf("%.17g\n", szg_table_get_real(table, row, column));
    }
}

int main(int count, char **arguments) {
    szg_context *context;
    szg_result *result = NULL;
    if (count != 3 || szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    szg_status status = szg_result_read(context, arguments[1], &result);
    if (status != SZG_OK) {
        fprintf(stderr, "%s\n", szg_context_message(context));
    } else {
        for (int64_t i = 0; i < szg_result_count(result); i++) {
            const szg_table *table = szg_result_table(result, i);
            printf("%s of szego %s: %" PRId64 " rows, %" PRId64 " columns\n", szg_table_name(table),
                   szg_result_command(result), szg_table_rows(table), szg_table_columns(table));
        }
        if (szg_result_count(result) > 0)
            print_column(szg_result_table(result, 0), arguments[2]);
    }
    szg_result_close(&result);
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
