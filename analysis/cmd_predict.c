/* `szego predict`: class logits of a checkpoint on a file of examples. */
#include <inttypes.h>
#include <math.h>
#include "base/memory.h"
#include "base/row.h"
#include "formats/result.h"
#include "formats/examples.h"
#include "formats/npy.h"
#include "train/decoder/decoder.h"
#include "train/run/train.h"

#include "command.h"

typedef struct predict_options {
    const char *checkpoint, *config, *data;
} predict_options;

static const command_option options[] = {
    OPTION(predict_options, checkpoint, "checkpoint", "FILE",
           "weights in safetensors, by `szego train` or PyTorch",
           .missing = "--checkpoint is missing"),
    OPTION(predict_options, config, "config", "FILE",
           "the model's configuration (default: the one in the checkpoint)"),
    OPTION(predict_options, data, "data", "FILE",
           "examples in JSONL, one {\"tokens\": [ids], \"label\": n} per line",
           .missing = "--data is missing"),
    {0}};

#define PREDICT(X)                                                                                 \
    X(PREDICT_CHECKPOINT, "checkpoint", SZG_TEXT, "", "checkpoint", "file of the weights")         \
    X(PREDICT_DATA, "data", SZG_TEXT, "", "data", "file of the examples")                          \
    X(PREDICT_EXAMPLES, "examples", SZG_INTEGER, "1", "examples", "examples of the file")          \
    X(PREDICT_COUNTED, "counted", SZG_INTEGER, "1", "examples counted",                            \
      "examples whose label is not ignored")                                                       \
    X(PREDICT_CLASSES, "classes", SZG_INTEGER, "1", "classes", "width of the output")              \
    X(PREDICT_LOSS, "loss", SZG_REAL, "nats", "cross-entropy", "mean cross-entropy, nats")         \
    X(PREDICT_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy", "share of right predictions")       \
    X(PREDICT_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define PREDICT_SCREEN                                                                             \
    SZGI_SHOW(1, checkpoint)                                                                       \
    SZGI_SHOW(1, loss)                                                                             \
    SZGI_SHOW(1, accuracy)                                                                         \
    SZGI_SHOW(1, counted)                                                                          \
    SZGI_SHOW(2, examples)                                                                         \
    SZGI_SHOW(2, classes)                                                                          \
    SZGI_SHOW(3, data)
SZGI_SCHEMA(columns, "predict", PREDICT, PREDICT_SCREEN);

static szg_status fill(command_call *call, const szg_model *model, const szg_examples *examples,
                       const szgi_tally *tally, szg_table *table) {
    const predict_options *own = call->own;
    double counted = (double)tally->counted;
    szgi_row row = szgi_row_add(call->context, table);
    szgi_row_text(&row, PREDICT_CHECKPOINT, own->checkpoint);
    szgi_row_text(&row, PREDICT_DATA, own->data);
    szgi_row_integer(&row, PREDICT_EXAMPLES, examples->count);
    szgi_row_integer(&row, PREDICT_COUNTED, tally->counted);
    szgi_row_integer(&row, PREDICT_CLASSES, szgi_model_classes(model));
    if (tally->counted == 0) {
        szgi_row_note(&row, "every label is ignored (model.ignored_label)");
        return row.status;
    }
    szgi_row_real(&row, PREDICT_LOSS, tally->loss / counted);
    szgi_row_real(&row, PREDICT_ACCURACY, (double)tally->correct / counted);
    return row.status;
}

static bool wants_logits(const command_call *call) {
    const char *path = call->shared.output;
    return path && szgi_result_form_of(path) == SZGI_RESULT_NPY;
}

static szg_status write_logits(command_call *call, int64_t examples, int64_t classes,
                               const double *logits) {
    const int64_t shape[] = {examples, classes};
    SZG_TRY(szgi_npy_write_real(call->context, call->shared.output, 2, shape, logits));
    szgi_say(call->context, SZG_NOTE, "wrote %s", call->shared.output);
    call->shared.output = NULL; /* the table goes to standard output */
    return SZG_OK;
}

static szg_status evaluate(command_call *call, szg_model *model, const szg_examples *examples,
                           double *logits, szg_table **out) {
    const predict_options *own = call->own;
    szgi_tally tally;
    szg_table *table;
    szg_status judged = szgi_train_evaluate(call->context, model, examples, &tally, logits);
    if (judged == SZG_EDATA)
        return szgi_fail_prefix(call->context, judged, "%s", own->data);
    SZG_TRY(judged);
    if (!isfinite(tally.loss))
        return szgi_fail(call->context, SZG_EDATA,
                         "%s: the loss is not finite: the weights make activations overflow, so "
                         "that no prediction means anything; take an earlier checkpoint",
                         own->checkpoint);
    SZG_TRY(szgi_schema_open(call->context, &columns_schema, &table));
    szg_status status = fill(call, model, examples, &tally, table);
    if (status == SZG_OK && logits)
        status = write_logits(call, examples->count, szgi_model_classes(model), logits);
    *out = table;
    if (status != SZG_OK)
        szg_table_close(out);
    return status;
}

static szg_status predict(command_call *call, szg_model *model, const szg_examples *examples) {
    double *logits = NULL;
    szg_table *table;
    int64_t count;
    SZG_TRY(szgi_memory_product(call->context, examples->count, szgi_model_classes(model), &count));
    if (wants_logits(call))
        SZG_TRY(szgi_memory_alloc(call->context, count, &logits));
    szg_status status = evaluate(call, model, examples, logits, &table);
    szgi_memory_free(logits);
    SZG_TRY(status);
    szg_table **const list[] = {&table};
    status = output_tables(call, 1, list, NULL);
    szg_table_close(&table);
    return status;
}

static szg_status run(command_call *call) {
    const predict_options *own = call->own;
    szg_train_config config;
    szg_model *model;
    szg_examples examples;
    if (own->config)
        SZG_TRY(read_config_for_data(call->context, own->config, own->data, &config));
    SZG_TRY(szg_model_load(call->context, own->checkpoint, own->config ? &config : NULL, &model));
    call->config = szgi_model_settings(model);
    szg_status status = szg_examples_read(call->context, own->data, &examples);
    if (status == SZG_OK) {
        status = predict(call, model, &examples);
        szg_examples_close(&examples);
    }
    call->config = NULL;
    szg_model_close(call->context, &model);
    return status;
}

static const command_example examples[] = {
    {"szego predict --checkpoint runs/run-0/checkpoint.safetensors --data data/test.jsonl",
     "Loss and accuracy on a file of examples."},
    {"szego predict --checkpoint runs/run-0/checkpoint.safetensors --data data/test.jsonl -o "
     "predictions.npy",
     "The class logits too, for NumPy."},
    {0}};

const command command_predict = {
    .name = "predict",
    .summary = "class logits, loss and accuracy of a trained checkpoint",
    .doc = "Runs a checkpoint on examples and prints loss and accuracy. -o FILE.npy writes the "
           "class logits [examples, classes]. Checkpoints that PyTorch saved under the names of "
           "docs/how-to/train.md need --config.",
    .options = options,
    .own_size = sizeof(predict_options),
    .run = run,
    .examples = examples,
};
