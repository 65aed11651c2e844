/* What the comparison with PyTorch asks of szego: one batch through the decoder, and steps of
 * AdamW. usage: train_step BACKEND CONFIG.json CHECKPOINT.safetensors BATCH.jsonl STEPS
 * OUT.safetensors Writes logits, loss, gradient.NAME of the first step and stepped.NAME after the
 * last. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plugin/backend.h"
#include "network/ops.h"
#include "base/context.h"
#include "base/memory.h"
#include "formats/examples.h"
#include "formats/safetensors.h"
#include "train/decoder/decoder.h"
#include "train/run/run_private.h"
#include "train/run/train.h"
#include "train/config/train_config.h"

static szg_context *context;

static void must(szg_status status) {
    if (status == SZG_OK)
        return;
    fprintf(stderr, "train_step: %s\n", szg_context_message(context));
    exit(EXIT_FAILURE);
}

/* Tensors of the answer, all in double precision. */
typedef struct answer {
    szgi_tensor *tensor;
    int64_t count;
} answer;

static double *add(answer *out, const char *prefix, const char *name, int dims,
                   const int64_t *shape) {
    szgi_tensor *tensor = &out->tensor[out->count++];
    int64_t *sizes;
    char *text;
    void *data;
    *tensor = (szgi_tensor){.dtype = SZGI_DTYPE_F64, .dims = dims, .count = 1};
    must(szgi_memory_alloc(context, 2, &sizes));
    for (int i = 0; i < dims; i++)
        tensor->count *= sizes[i] = shape[i];
    must(szgi_memory_alloc(context, (int64_t)(strlen(prefix) + strlen(name)) + 1, &text));
    stpcpy(stpcpy(text, prefix), name);
    must(szgi_memory_take(context, tensor->count, sizeof(double), &data));
    tensor->name = text;
    tensor->shape = sizes;
    tensor->data = data;
    return data;
}

static void add_arena(answer *out, const char *prefix, const szg_model *model, const void *arena) {
    for (int64_t i = 0; i < szgi_model_parameters(model); i++) {
        const szgi_parameter *p = szgi_model_parameter(model, i);
        double *values = add(out, prefix, p->name, p->dims, p->shape);
        must(szgi_model_read(context, model, arena, p->offset, p->count, values));
    }
}

/* Real numbers of the backend as doubles. */
static void read_reals(const void *from, int64_t count, double *out) {
    int64_t size = szgi_network_real_size(context);
    void *host;
    must(szgi_memory_take(context, count, (size_t)size, &host));
    must(szgi_device_download(context, host, from, count * size));
    for (int64_t i = 0; i < count; i++)
        out[i] = size == 4 ? (double)((const float *)host)[i] : ((const double *)host)[i];
    szgi_memory_free(host);
}

/* The backend's memory of one training run. */
typedef struct training {
    szg_train_config config;
    szg_model *model;
    szgi_decoder *decoder;
    szgi_batch batch;
    szgi_step_block *block;
    szgi_tally *tally;
    void *gradient, *moment1, *moment2;
} training;

static void open_batch(training *run, const char *path) {
    szg_examples examples = {0};
    must(szg_examples_read(context, path, &examples));
    int64_t length = run->config.model.max_length;
    int32_t *tokens, *lengths, *labels;
    must(szgi_memory_alloc(context, examples.count * length, &tokens));
    must(szgi_memory_alloc(context, examples.count, &lengths));
    must(szgi_memory_alloc(context, examples.count, &labels));
    must(szgi_batch_fill(context, &examples, NULL, examples.count, length,
                         run->config.model.vocabulary, szgi_model_classes(run->model), tokens,
                         lengths, labels));
    run->batch = (szgi_batch){examples.count, length, tokens, lengths, labels};
    szg_examples_close(&examples);
}

static void open_run(training *run, char **arguments) {
    must(szg_train_config_read(context, arguments[0], NULL, 0, &run->config));
    must(szg_model_load(context, arguments[1], &run->config, &run->model));
    open_batch(run, arguments[2]);
    int64_t bytes = szgi_model_count(run->model) * szgi_network_real_size(context);
    must(szgi_decoder_open(context, run->model, run->batch.count, run->batch.length, true,
                           &run->decoder));
    must(szgi_device_alloc(context, bytes, &run->gradient));
    must(szgi_device_alloc(context, bytes, &run->moment1));
    must(szgi_device_alloc(context, bytes, &run->moment2));
    must(szgi_device_alloc(context, sizeof *run->block, &run->block));
    must(szgi_device_alloc(context, sizeof *run->tally, &run->tally));
    szgi_decoder_set_block(run->decoder, run->block);
}

/* The intervention, if there is one, begins after its share of `steps`. */
static void intervene(training *run, int64_t number, int64_t steps) {
    const szg_intervention_config *own = &run->config.intervention;
    bool begun = own->kind != SZG_INTERVENTION_NONE &&
                 number >= szgi_intervention_first(own, steps);
    if (begun == szgi_model_intervened(run->model))
        return;
    must(szgi_model_intervene(context, run->model, begun));
    must(szgi_intervention_clear(context, run->model, run->moment1));
}

/* Forward, backward, and AdamW at the configuration's rate, without a schedule. */
static void step(training *run, int64_t number, answer *out) {
    const szg_loop_config *loop = &run->config.loop;
    szgi_step_block block = {.seed = 1,
                             .step = (uint32_t)number,
                             .finite = 1,
                             .learning_rate = loop->learning_rate,
                             .correction1 = 1 - pow(loop->beta1, (double)number + 1),
                             .correction2 = 1 - pow(loop->beta2, (double)number + 1)};
    szgi_tally tally;
    must(szgi_device_upload(context, run->block, &block, sizeof block));
    must(szgi_decoder_forward(context, run->decoder, &run->batch));
    must(szgi_decoder_backward(context, run->decoder, run->gradient, run->tally));
    if (number == 0) {
        const int64_t shape[] = {run->batch.count, szgi_model_classes(run->model)}, one = 1;
        double *logits = add(out, "", "logits", 2, shape);
        read_reals(szgi_decoder_logits(run->decoder), shape[0] * shape[1], logits);
        must(szgi_device_download(context, &tally, run->tally, sizeof tally));
        *add(out, "", "loss", 1, &one) = tally.loss / (double)tally.counted;
        add_arena(out, "gradient.", run->model, run->gradient);
    }
    must(szgi_intervention_clear(context, run->model, run->gradient));
    szgi_adamw adamw = {.count = szgi_model_count(run->model),
                        .beta1 = loop->beta1,
                        .beta2 = loop->beta2,
                        .eps = loop->eps,
                        .decay = loop->decay,
                        .block = run->block,
                        .gradient = run->gradient,
                        .weight = szgi_model_arena(run->model),
                        .moment1 = run->moment1,
                        .moment2 = run->moment2};
    must(szgi_network_adamw(context, &adamw));
}

static void close_run(training *run) {
    void *memory[] = {run->gradient, run->moment1, run->moment2, run->block, run->tally};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        szgi_device_free(context, memory[i]);
    szgi_decoder_close(context, &run->decoder);
    szg_model_close(context, &run->model);
    szgi_memory_free((void *)run->batch.tokens);
    szgi_memory_free((void *)run->batch.lengths);
    szgi_memory_free((void *)run->batch.labels);
}

static void write_answer(answer *out, const char *path) {
    must(szgi_safetensors_write(context, path, out->tensor, out->count, NULL, 0));
    for (int64_t i = 0; i < out->count; i++) {
        szgi_memory_free((void *)out->tensor[i].name);
        szgi_memory_free((void *)out->tensor[i].shape);
        szgi_memory_free((void *)out->tensor[i].data);
    }
    szgi_memory_free(out->tensor);
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: train_step BACKEND CONFIG CHECKPOINT BATCH STEPS OUT\n");
        return 2;
    }
    if (szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    if (strcmp(argv[1], "reference64") == 0)
        szgi_context_set_ops(context, szgi_ops_reference64());
    else
        must(szg_backend_select(context, argv[1]));
    static training self;
    answer out = {0};
    open_run(&self, argv + 2);
    must(szgi_memory_alloc(context, 2 + 2 * szgi_model_parameters(self.model), &out.tensor));
    int64_t steps = strtol(argv[5], NULL, 10);
    for (int64_t number = 0; number < steps; number++) {
        intervene(&self, number, steps);
        step(&self, number, &out);
    }
    add_arena(&out, "stepped.", self.model, szgi_model_arena(self.model));
    write_answer(&out, argv[6]);
    close_run(&self);
    szg_context_close(&context);
    return EXIT_SUCCESS;
}
