/* `szego capture`: attention logits of a saved model on given sequences, and their contraction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/capture/capture.h"
#include "base/file.h"
#include "train/run/train.h"

#include "captured.h"
#include "specs.h"

typedef struct capture_options {
    const char *checkpoint, *config, *data, *layers, *heads, *probes;
    bool dump, certified, all;
} capture_options;

static const command_option options[] = {
    OPTION(capture_options, checkpoint, "checkpoint", "FILE",
           "weights in safetensors, by `szego train` or PyTorch",
           .missing = "--checkpoint is missing"),
    OPTION(capture_options, config, "config", "FILE",
           "the model's configuration (default: the one in the checkpoint)"),
    OPTION(capture_options, data, "data", "FILE",
           "examples in JSONL, one {\"tokens\": [ids], \"label\": n} per line",
           .missing = "--data is missing"),
    OPTION(capture_options, layers, "layers", "LIST", "layers to capture, 0-2+5 (default: all)",
           .fallback = "all"),
    OPTION(capture_options, heads, "heads", "LIST", "heads to capture (default: all)",
           .fallback = "all"),
    OPTION(capture_options, probes, "probes", "P", "the first P examples are captured (default 1)",
           .fallback = "1"),
    OPTION(capture_options, dump, "dump", NULL,
           "write the raw logits too, to DIR/logits/; needs -o DIR/"),
    OPTION(capture_options, certified, "certified", NULL,
           "symbol ranges by ball arithmetic, not by a grid"),
    OPTION(capture_options, all, "all", NULL,
           "tables of every eigenvalue, singular value and symbol sample too"),
    {0}};

static void check(command_call *call, struct argp_state *state) {
    const capture_options *own = call->own;
    if (own->dump && !specs_output_folder(call))
        argp_error(state, "--dump writes into a folder: give -o DIR/");
}

/* The model's configuration with the lists of the command line. */
static szg_status choose(command_call *call, const szg_model *model, szg_train_config *out) {
    const capture_options *own = call->own;
    *out = *szgi_model_settings(model);
    SZG_TRY(szg_train_config_set(call->context, out, "capture.layers", own->layers));
    SZG_TRY(szg_train_config_set(call->context, out, "capture.heads", own->heads));
    SZG_TRY(szg_train_config_set(call->context, out, "capture.probes", own->probes));
    return szg_train_config_check(call->context, out);
}

typedef struct capture_job {
    szgi_capture *capture;
    int64_t step;
} capture_job;

static szg_status fill(command_call *call, void *user, const szg_report_options *how,
                       szg_contraction_tables *tables) {
    const capture_job *job = user;
    return szgi_capture_report(call->context, job->capture, job->step, NULL, how, tables);
}

static szg_status capture_into(command_call *call, szg_model *model, int64_t step,
                               const szg_examples *examples) {
    const capture_options *own = call->own;
    const char *output = call->shared.output;
    szg_train_config config;
    char *folder = NULL;
    capture_job job = {.step = step};
    szg_table *none = NULL;
    SZG_TRY(choose(call, model, &config));
    if (own->dump &&
        asprintf(&folder, "%s%slogits", output, output[strlen(output) - 1] == '/' ? "" : "/") < 0)
        return szgi_fail(call->context, SZG_ENOMEM, "out of memory");
    szg_status status = szgi_capture_open_as(call->context, model, &config.capture, examples, NULL,
                                             folder, &job.capture);
    if (status == SZG_OK)
        status = captured_output(call, own->all, own->certified, fill, &job,
                                 (szg_table * *const[CAPTURED_OTHER]){&none, &none, &none});
    szgi_capture_close(call->context, &job.capture);
    free(folder);
    return status;
}

/* Raw logits and tables are written under one lock, so that they are of one capture. */
static szg_status capture(command_call *call, szg_model *model, int64_t step,
                          const szg_examples *examples) {
    const capture_options *own = call->own;
    int lock;
    if (!own->dump)
        return capture_into(call, model, step, examples);
    SZG_TRY(szgi_folder_create(call->context, call->shared.output));
    SZG_TRY(szgi_folder_lock(call->context, call->shared.output, &lock));
    call->locked = true;
    szg_status status = capture_into(call, model, step, examples);
    call->locked = false;
    szgi_folder_unlock(&lock);
    return status;
}

static szg_status run(command_call *call) {
    const capture_options *own = call->own;
    szg_train_config config;
    szg_model *model;
    szg_examples examples;
    int64_t step;
    if (own->config)
        SZG_TRY(read_config_for_data(call->context, own->config, own->data, &config));
    SZG_TRY(szg_model_load(call->context, own->checkpoint, own->config ? &config : NULL, &model));
    call->config = szgi_model_settings(model);
    szg_status status = szgi_capture_step_of(call->context, own->checkpoint, &step);
    if (status == SZG_OK)
        status = szg_examples_read(call->context, own->data, &examples);
    if (status == SZG_OK) {
        status = capture(call, model, step, &examples);
        szg_examples_close(&examples);
    }
    call->config = NULL;
    szg_model_close(call->context, &model);
    return status;
}

static const command_example examples[] = {
    {"szego capture --checkpoint runs/run-0/checkpoint.safetensors --data data/test.jsonl",
     "One example, every layer and head."},
    {"szego capture --checkpoint runs/run-0/checkpoint.safetensors --data data/test.jsonl --probes "
     "4 --dump -o captured/",
     "Four examples, with the raw logits, in files."},
    {0}};

const command command_capture = {
    .name = "capture",
    .summary = "attention logits of a saved model on given sequences, and their contraction",
    .doc = "Logits of every layer and head before mask and softmax, cut to the real tokens: the "
           "coupled ones against the content's, which are those without rotation and bias, or of a "
           "second pass without the rows of positions that are added to the tokens. The report is "
           "that of `szego logits`; `szego train --capture every=K` writes it during training. See "
           "docs/reference/capture.md.",
    .options = options,
    .own_size = sizeof(capture_options),
    .check = check,
    .run = run,
    .examples = examples,
};
