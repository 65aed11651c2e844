/* Spectra of a trained model's heads, as a folder of tables: checkpoint MODEL FOLDER/ */
#include <stdio.h>
#include <stdlib.h>
#include <szego/szego.h>

static szg_status run(szg_context *context, const char *model, const char *folder,
                      szg_checkpoint **checkpoint, szg_checkpoint_tables *tables,
                      szg_result **result) {
    SZG_TRY(szg_checkpoint_open(context, model, NULL, checkpoint));
    SZG_TRY(szg_checkpoint_analyse(context, *checkpoint, NULL, tables));
    SZG_TRY(szg_result_open(context, "checkpoint", result));
    SZG_TRY(szg_result_add(context, *result, &tables->summary));
    SZG_TRY(szg_result_write(context, *result, folder, NULL));
    const szg_table *summary = szg_result_table(*result, 0);
    printf("%d rows; %d tensors or heads were skipped\n", (int)szg_table_rows(summary),
           (int)(tables->bad + tables->unconverged));
    return SZG_OK;
}

int main(int count, char **arguments) {
    szg_context *context;
    szg_checkpoint *checkpoint = NULL;
    szg_checkpoint_tables tables = {0};
    szg_result *result = NULL;
    if (count != 3 || szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    szg_status status = run(context, arguments[1], arguments[2], &checkpoint, &tables, &result);
    if (status != SZG_OK)
        fprintf(stderr, "%s\n", szg_context_message(context));
    szg_result_close(&result);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
