/* What the comparison with PyTorch asks of szego's curvature. usage: curvature BACKEND CONFIG.json
 * CHECKPOINT.safetensors BATCH.jsonl STEP: prints the row of the table `curvature` as CSV, with the
 * squares of the parameters as AdamW's second moment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "formats/csv.h"
#include "formats/examples.h"
#include "linalg/ops.h"
#include "plugin/backend.h"
#include "train/curvature/curvature.h"
#include "train/run/train.h"

static szg_context *context;

static void must(szg_status status) {
    if (status == SZG_OK)
        return;
    fprintf(stderr, "curvature: %s\n", szg_context_message(context));
    exit(EXIT_FAILURE);
}

static void *open_squares(szg_model *model) {
    int64_t n = szgi_model_count(model);
    double *values;
    void *squares;
    must(szgi_memory_alloc(context, n, &values));
    must(szgi_device_alloc(context, n * szgi_network_real_size(context), &squares));
    must(szgi_model_read(context, model, szgi_model_arena(model), 0, n, values));
    for (int64_t i = 0; i < n; i++)
        values[i] *= values[i];
    must(szgi_model_write(context, model, squares, 0, n, values));
    szgi_memory_free(values);
    return squares;
}

static void print_row(const char *config_path, const char *checkpoint, const char *batch,
                      int64_t step) {
    static szg_train_config config;
    szg_examples examples = {0};
    szg_model *model;
    szg_table *table;
    szgi_curvature *curvature;
    must(szg_train_config_read(context, config_path, NULL, 0, &config));
    must(szg_examples_read(context, batch, &examples));
    config.curvature.examples = examples.count;
    must(szg_model_load(context, checkpoint, &config, &model));
    void *squares = open_squares(model);
    must(szgi_curvature_table(context, &table));
    must(szgi_curvature_open(context, model, &examples, config.model.max_length, 1, &curvature));
    must(szgi_curvature_add(context, curvature, model, squares, step, table));
    must(szgi_csv_print(context, table, stdout));
    szgi_curvature_close(context, &curvature);
    szg_table_close(&table);
    szgi_device_free(context, squares);
    szg_examples_close(&examples);
    szg_model_close(context, &model);
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: curvature BACKEND CONFIG CHECKPOINT BATCH STEP\n");
        return 2;
    }
    if (szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    if (strcmp(argv[1], "reference64") == 0)
        szgi_context_set_ops(context, szgi_ops_reference64());
    else
        must(szg_backend_select(context, argv[1]));
    print_row(argv[2], argv[3], argv[4], strtol(argv[5], NULL, 10));
    szg_context_close(&context);
    return EXIT_SUCCESS;
}
