/* What the comparison with PyTorch asks of szego: one batch through the decoder, and steps of
 * AdamW. usage: train_step BACKEND CONFIG.json CHECKPOINT.safetensors BATCH.jsonl STEPS
 * OUT.safetensors Writes logits, loss, gradient.NAME of the first step and stepped.NAME after the
 * last. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <szego/ops.h>
#include <szego/szego.h>

static szg_context *context;

static void must(szg_status status) {
    if (status == SZG_OK)
        return;
    fprintf(stderr, "train_step: %s\n", szg_context_message(context));
    exit(EXIT_FAILURE);
}

/* Tensors of the answer, all in double precision. */
typedef struct answer {
    szg_tensor *tensor;
    int64_t count;
} answer;

static double *add(answer *out, const char *prefix, const char *name, int dims,
                   const int64_t *shape) {
    szg_tensor *tensor = &out->tensor[out->count++];
    int64_t *sizes;
    char *text;
    void *data;
    *tensor = (szg_tensor){.dtype = SZG_DTYPE_F64, .dims = dims, .count = 1};
    must(szg_memory_alloc(context, 2, sizeof *sizes, &sizes));
    for (int i = 0; i < dims; i++)
        tensor->count *= sizes[i] = shape[i];
    must(szg_memory_alloc(context, (int64_t)(strlen(prefix) + strlen(name)) + 1, 1, &text));
    stpcpy(stpcpy(text, prefix), name);
    must(szg_memory_alloc(context, tensor->count, sizeof(double), &data));
    tensor->name = text;
    tensor->shape = sizes;
    tensor->data = data;
    return data;
}

static void add_arena(answer *out, const char *prefix, const szg_model *model, const void *arena) {
    for (int64_t i = 0; i < szg_model_parameters(model); i++) {
        const szg_parameter *p = szg_model_parameter(model, i);
        double *values = add(out, prefix, p->name, p->dims, p->shape);
        must(szg_model_read(context, model, arena, p->offset, p->count, values));
    }
}

/* Real numbers of the backend as doubles. */
static void read_reals(const void *from, int64_t count, double *out) {
    int64_t size = szg_network_real_size(context);
    void *host;
    must(szg_memory_alloc(context, count, (size_t)size, &host));
    must(szg_device_download(context, host, from, count * size));
    for (int64_t i = 0; i < count; i++)
        out[i] = size == 4 ? (double)((const float *)host)[i] : ((const double *)host)[i];
    szg_memory_free(host);
}

/* The backend's memory of one training run. */
typedef struct training {
    szg_train_config config;
    szg_model *model;
    szg_decoder *decoder;
    szg_batch batch;
    szg_step_block *block;
    szg_tally *tally;
    void *gradient, *moment1, *moment2;
} training;

static void open_batch(training *run, const char *path) {
    szg_examples examples = {0};
    must(szg_examples_read(context, path, &examples));
    int64_t length = run->config.model.max_length;
    int32_t *tokens, *lengths, *labels;
    must(szg_memory_alloc(context, examples.count * length, sizeof *tokens, &tokens));
    must(szg_memory_alloc(context, examples.count, sizeof *lengths, &lengths));
    must(szg_memory_alloc(context, examples.count, sizeof *labels, &labels));
    must(szg_batch_fill(context, &examples, NULL, examples.count, length,
                        run->config.model.vocabulary, szg_model_classes(run->model), tokens,
                        lengths, labels));
    run->batch = (szg_batch){examples.count, length, tokens, lengths, labels};
    szg_examples_close(&examples);
}

static void open_run(training *run, char **arguments) {
    must(szg_train_config_read(context, arguments[0], NULL, 0, &run->config));
    must(szg_model_load(context, arguments[1], &run->config, &run->model));
    open_batch(run, arguments[2]);
    int64_t bytes = szg_model_count(run->model) * szg_network_real_size(context);
    must(szg_decoder_open(context, run->model, run->batch.count, run->batch.length, true,
                          &run->decoder));
    must(szg_device_alloc(context, bytes, &run->gradient));
    must(szg_device_alloc(context, bytes, &run->moment1));
    must(szg_device_alloc(context, bytes, &run->moment2));
    must(szg_device_alloc(context, sizeof *run->block, &run->block));
    must(szg_device_alloc(context, sizeof *run->tally, &run->tally));
    szg_decoder_set_block(run->decoder, run->block);
}

/* Forward, backward, and AdamW at the configuration's rate, without a schedule. */
static void step(training *run, int64_t number, answer *out) {
    const szg_loop_config *loop = &run->config.loop;
    szg_step_block block = {.seed = 1,
                            .step = (uint32_t)number,
                            .finite = 1,
                            .learning_rate = loop->learning_rate,
                            .correction1 = 1 - pow(loop->beta1, (double)number + 1),
                            .correction2 = 1 - pow(loop->beta2, (double)number + 1)};
    szg_tally tally;
    must(szg_device_upload(context, run->block, &block, sizeof block));
    must(szg_decoder_forward(context, run->decoder, &run->batch));
    must(szg_decoder_backward(context, run->decoder, run->gradient, run->tally));
    if (number == 0) {
        const int64_t shape[] = {run->batch.count, szg_model_classes(run->model)}, one = 1;
        double *logits = add(out, "", "logits", 2, shape);
        read_reals(szg_decoder_logits(run->decoder), shape[0] * shape[1], logits);
        must(szg_device_download(context, &tally, run->tally, sizeof tally));
        *add(out, "", "loss", 1, &one) = tally.loss / (double)tally.counted;
        add_arena(out, "gradient.", run->model, run->gradient);
    }
    szg_adamw adamw = {.count = szg_model_count(run->model),
                       .beta1 = loop->beta1,
                       .beta2 = loop->beta2,
                       .eps = loop->eps,
                       .decay = loop->decay,
                       .block = run->block,
                       .gradient = run->gradient,
                       .weight = szg_model_arena(run->model),
                       .moment1 = run->moment1,
                       .moment2 = run->moment2};
    must(szg_network_adamw(context, &adamw));
}

static void close_run(training *run) {
    void *memory[] = {run->gradient, run->moment1, run->moment2, run->block, run->tally};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        szg_device_free(context, memory[i]);
    szg_decoder_close(context, &run->decoder);
    szg_model_close(context, &run->model);
    szg_memory_free((void *)run->batch.tokens);
    szg_memory_free((void *)run->batch.lengths);
    szg_memory_free((void *)run->batch.labels);
}

static void write_answer(answer *out, const char *path) {
    must(szg_safetensors_write(context, path, out->tensor, out->count, NULL, 0));
    for (int64_t i = 0; i < out->count; i++) {
        szg_memory_free((void *)out->tensor[i].name);
        szg_memory_free((void *)out->tensor[i].shape);
        szg_memory_free((void *)out->tensor[i].data);
    }
    szg_memory_free(out->tensor);
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: train_step BACKEND CONFIG CHECKPOINT BATCH STEPS OUT\n");
        return 2;
    }
    if (szg_context_open(NULL, &context) != SZG_OK)
        return EXIT_FAILURE;
    if (strcmp(argv[1], "reference64") == 0)
        szg_context_set_ops(context, szg_ops_reference64());
    else
        must(szg_backend_select(context, argv[1]));
    static training self;
    answer out = {0};
    open_run(&self, argv + 2);
    must(szg_memory_alloc(context, 2 + 2 * szg_model_parameters(self.model), sizeof *out.tensor,
                          &out.tensor));
    for (int64_t number = 0; number < strtol(argv[5], NULL, 10); number++)
        step(&self, number, &out);
    add_arena(&out, "stepped.", self.model, szg_model_arena(self.model));
    write_answer(&out, argv[6]);
    close_run(&self);
    szg_context_close(&context);
    return EXIT_SUCCESS;
}
