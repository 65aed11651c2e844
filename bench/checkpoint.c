/* `szego checkpoint` beside NumPy, on a llama of random weights that is written for it. Clocks are
 * the processor's, of all threads of a process, where the row does not say otherwise. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <szego/result.h>

#include "checkpoint/analyse.h"
#include "checkpoint/checkpoint.h"
#include "linalg/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "spectra/spectra.h"
#include "peer.h"
#include "private.h"
#include "scratch.h"

/* ---- A model ---- */

typedef struct model_shape {
    int64_t layers, heads, key_heads, head_size, width;
    int64_t tokens; /* embeddings, and the norms that kernels over the lag need; 0: neither */
} model_shape;

typedef struct heads_job {
    model_shape shape;
    char folder[BENCH_SCRATCH], values[BENCH_SCRATCH + 16];
    szg_context *single; /* one thread */
    bench_peer peer;
    double seconds; /* of the run */
    szg_checkpoint_tables tables;
} heads_job;

/* Normal numbers come round after this many, a prime: no two rows of a head are the same. */
enum { PERIOD = 1048573 };

/* BF16, by cutting. */
static void fill(uint64_t seed, const double *normal, int64_t count, uint16_t *out) {
    for (int64_t i = 0; i < count; i++) {
        float value = (float)(0.02 * normal[((uint64_t)i + seed) % PERIOD]);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        out[i] = (uint16_t)(bits >> 16);
    }
}

enum { QUERY, KEY, NORM, KINDS, NAME = 64 };

/* Tensors of a layer, and all of them: the last is the table of embeddings. */
static int64_t kinds_of(const model_shape *shape) {
    return shape->tokens > 0 ? KINDS : NORM;
}

static int64_t tensors_of(const model_shape *shape) {
    return shape->layers * kinds_of(shape) + (shape->tokens > 0);
}

static int64_t rows_of(const model_shape *shape, int64_t i) {
    const int64_t rows[KINDS] = {[QUERY] = shape->heads * shape->head_size,
                                 [KEY] = shape->key_heads * shape->head_size,
                                 [NORM] = 1};
    int64_t kinds = kinds_of(shape);
    return i < shape->layers * kinds ? rows[i % kinds] : shape->tokens;
}

static void name_tensor(const model_shape *shape, int64_t i, char name[NAME]) {
    static const char *const names[KINDS] = {
        [QUERY] = "self_attn.q_proj", [KEY] = "self_attn.k_proj", [NORM] = "input_layernorm"};
    int64_t kinds = kinds_of(shape);
    if (i < shape->layers * kinds)
        snprintf(name, NAME, "model.layers.%lld.%s.weight", (long long)(i / kinds),
                 names[i % kinds]);
    else
        snprintf(name, NAME, "model.embed_tokens.weight");
}

/* Every tensor has the same numbers, from another place on. */
static szg_status write_weights(szg_context *context, const heads_job *job, const double *normal,
                                uint16_t *data, szgi_tensor *tensor) {
    char path[BENCH_SCRATCH + 32], *name;
    int64_t count = tensors_of(&job->shape), *shape;
    SZG_TRY(szgi_memory_alloc(context, count * NAME, &name));
    szg_status status = szgi_memory_alloc(context, 2 * count, &shape);
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        int64_t rows = rows_of(&job->shape, i), width = job->shape.width;
        shape[2 * i] = rows > 1 ? rows : width;
        shape[2 * i + 1] = width;
        name_tensor(&job->shape, i, name + i * NAME);
        tensor[i] = (szgi_tensor){.name = name + i * NAME,
                                  .dtype = SZGI_DTYPE_BF16,
                                  .dtype_name = "BF16",
                                  .dims = rows > 1 ? 2 : 1,
                                  .shape = shape + 2 * i,
                                  .count = rows * width,
                                  .data = (const unsigned char *)data,
                                  .bytes = 2 * rows * width};
        fill((uint64_t)i * 7919, normal, tensor[i].count, data);
        data += tensor[i].count;
    }
    snprintf(path, sizeof path, "%s/model.safetensors", job->folder);
    if (status == SZG_OK)
        status = szgi_safetensors_write(context, path, tensor, count, NULL, 0);
    szgi_memory_free(shape);
    szgi_memory_free(name);
    return status;
}

static szg_status write_config(szg_context *context, const heads_job *job) {
    char path[BENCH_SCRATCH + 32];
    const model_shape *shape = &job->shape;
    snprintf(path, sizeof path, "%s/config.json", job->folder);
    FILE *file = fopen(path, "we");
    if (!file)
        return szgi_fail(context, SZG_EIO, "benchmark: %s: %s", path, strerror(errno));
    fprintf(file,
            "{\"model_type\":\"llama\",\"num_hidden_layers\":%lld,\"num_attention_heads\":%lld,"
            "\"num_key_value_heads\":%lld,\"head_dim\":%lld,\"hidden_size\":%lld,"
            "\"rope_theta\":500000.0,\"max_position_embeddings\":4096}\n",
            (long long)shape->layers, (long long)shape->heads, (long long)shape->key_heads,
            (long long)shape->head_size, (long long)shape->width);
    return fclose(file) == 0 ? SZG_OK
                             : szgi_fail(context, SZG_EIO, "benchmark: %s cannot be written", path);
}

static szg_status write_model(szg_context *context, uint64_t seed, heads_job *job) {
    const model_shape *shape = &job->shape;
    int64_t rows = 0, count = tensors_of(shape);
    double *normal = NULL;
    uint16_t *data = NULL;
    szgi_tensor *tensor = NULL;
    szg_status status;
    szgi_stream stream = {.seed = seed, .purpose = 2};
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, PERIOD, &normal), done);
    for (int64_t i = 0; i < count; i++)
        rows += rows_of(shape, i);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, rows * shape->width, &data), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, count, &tensor), done);
    szgi_random_fill_normal(&stream, 0, PERIOD, normal);
    SZG_TRY_GOTO(status, write_weights(context, job, normal, data, tensor), done);
    status = write_config(context, job);
done:
    szgi_memory_free(normal);
    szgi_memory_free(data);
    szgi_memory_free(tensor);
    return status;
}

static szg_status open_job(szg_context *context, const bench_run *run, heads_job *job) {
    SZG_TRY(bench_scratch_open(context, job->folder));
    snprintf(job->values, sizeof job->values, "%s/values", job->folder);
    SZG_TRY(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options), .threads = 1},
                             &job->single));
    return write_model(context, run->options.seed, job);
}

static void close_job(heads_job *job) {
    szg_checkpoint_tables_close(&job->tables);
    szg_context_close(&job->single);
    bench_peer_close(&job->peer);
    if (*job->folder)
        bench_scratch_remove(job->folder);
}

/* ---- Whole ---- */

static szg_status analyse(szg_context *context, heads_job *job) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables_close(&job->tables);
    SZG_TRY(szg_checkpoint_open(context, job->folder, NULL, &checkpoint));
    szg_status status = szg_checkpoint_analyse(context, checkpoint, NULL, &job->tables);
    szg_checkpoint_close(&checkpoint);
    return status;
}

static szg_status analyse_single(szg_context *context, heads_job *job) {
    szg_status status = analyse(job->single, job);
    return status == SZG_OK ? status
                            : szgi_fail(context, status, "%s", szg_context_message(job->single));
}

/* Leaves the processor's seconds of all threads in job->seconds. */
static szg_status run_single(szg_context *context, void *argument) {
    heads_job *job = argument;
    double start = bench_processor_now();
    SZG_TRY(analyse_single(context, job));
    job->seconds = bench_processor_now() - start;
    return SZG_OK;
}

static szg_status run_all_processors(szg_context *context, void *argument) {
    heads_job *job = argument;
    double start = bench_processor_now();
    SZG_TRY(analyse(context, job));
    job->seconds = bench_processor_now() - start;
    return SZG_OK;
}

static szg_status run_all_threads(szg_context *context, void *argument) {
    return analyse(context, argument);
}

static szg_status run_one_thread(szg_context *context, void *argument) {
    return analyse_single(context, argument);
}

static szg_status run_numpy(szg_context *context, void *argument) {
    heads_job *job = argument;
    char request[3 * BENCH_SCRATCH], answer[64];
    snprintf(request, sizeof request, "heads %s %s", job->folder, job->values);
    SZG_TRY(bench_peer_ask(context, &job->peer, request, answer, sizeof answer));
    if (sscanf(answer, "%lf", &job->seconds) != 1)
        return szgi_fail(context, SZG_EBACKEND, "NumPy answered `%s` in place of seconds", answer);
    return SZG_OK;
}

/* The largest difference of both sides' singular values over the largest value. */
static szg_status compare(szg_context *context, const heads_job *job, double *difference) {
    int64_t count = job->shape.layers * job->shape.heads * job->shape.head_size, found = 0;
    const szg_table *spectra = job->tables.spectra;
    int64_t kind = szg_table_find(spectra, "kind"), re = szg_table_find(spectra, "re");
    double *both;
    SZG_TRY(szgi_memory_alloc(context, 2 * count, &both));
    for (int64_t i = 0; i < szg_table_rows(spectra) && found < count; i++)
        if (strcmp(szg_table_get_text(spectra, i, kind), "singular") == 0)
            both[found++] = szg_table_get_real(spectra, i, re);
    FILE *file = fopen(job->values, "rbe");
    size_t got = file ? fread(both + count, sizeof *both, (size_t)count, file) : 0;
    if (file)
        fclose(file);
    szg_status status = SZG_OK;
    if (found != count || got != (size_t)count)
        status = szgi_fail(context, SZG_EBACKEND, "NumPy left %zu of %lld singular values", got,
                           (long long)count);
    *difference = bench_difference(count, both, both + count);
    szgi_memory_free(both);
    return status;
}

static szg_status put_peer(szg_context *context, bench_run *run, heads_job *job) {
    char answer[64];
    double difference;
    SZG_TRY(compare(context, job, &difference));
    SZG_TRY(bench_peer_ask(context, &job->peer, "peak", answer, sizeof answer));
    szgi_row row = bench_latest(context, run);
    szgi_row_real(&row, BENCH_DIFFERENCE, difference);
    szgi_row_note(&row, "NumPy %s: thin QR, SVD and eigenvalues, largest resident memory %s MiB",
                  job->peer.version, answer);
    return row.status;
}

static szg_status open_peer(szg_context *context, const bench_run *run, heads_job *job) {
    if (run->options.alone)
        return SZG_OK;
    bench_peer_options options = {
        .program = &bench_peer_numpy, .threads = 1, .plain = true, .log = run->options.rival_log};
    return bench_peer_open_or_say(context, &options, &job->peer);
}

/* One thread and all of them: the processor's time says what more threads cost, the wall clock what
 * they gain, beside NumPy's on one thread. */
static szg_status measure_threads(szg_context *context, bench_run *run, heads_job *job, bool peer) {
    bool quick = run->options.quick;
    bench_case what = {.input = "every head, all threads, processor time",
                       .n = job->shape.width,
                       .ours_name = "all threads",
                       .rival_name = "one thread",
                       .ours = run_all_processors,
                       .rival = run_single,
                       .job = job,
                       .measured = &job->seconds,
                       .pairs = quick ? 3 : 9};
    SZG_TRY(bench_measure(context, run, &what));
    what.input = "every head, all threads, by the wall clock";
    what.ours = run_all_threads;
    what.rival = run_one_thread;
    what.measured = NULL;
    what.target_ratio = quick ? 0 : szg_context_threads(context);
    SZG_TRY(bench_measure(context, run, &what));
    if (!peer)
        return SZG_OK;
    what.input = "every head, all threads, beside NumPy on one, by the wall clock";
    what.rival_name = "NumPy";
    what.rival = run_numpy;
    what.target_ratio = 0;
    return bench_measure(context, run, &what);
}

static szg_status measure_heads(szg_context *context, bench_run *run, heads_job *job) {
    bool quick = run->options.quick, peer;
    SZG_TRY(open_job(context, run, job));
    SZG_TRY(open_peer(context, run, job));
    peer = job->peer.process != 0;
    bench_case what = {.input = "every head, one thread, processor time",
                       .n = job->shape.width,
                       .ours_name = "key heads shared, blocked QR",
                       .rival_name = "NumPy",
                       .ours = run_single,
                       .rival = peer ? run_numpy : NULL,
                       .job = job,
                       .measured = &job->seconds,
                       .pairs = quick ? 3 : 9,
                       .target_ratio = peer && !quick ? 2 : 0};
    SZG_TRY(bench_measure(context, run, &what));
    if (peer)
        SZG_TRY(put_peer(context, run, job));
    return measure_threads(context, run, job, peer);
}

/* A quarter of the layers of a model of a billion parameters. */
static model_shape usual(const bench_run *run) {
    return run->options.quick ? (model_shape){1, 4, 2, 32, 256, 0}
                              : (model_shape){4, 32, 8, 64, 2048, 0};
}

szg_status bench_checkpoint_heads(szg_context *context, bench_run *run) {
    heads_job job = {.shape = usual(run)};
    szg_status status = measure_heads(context, run, &job);
    close_job(&job);
    return status;
}

/* ---- Positional heads ---- */

/* The whole command on one thread, with its journal and its files; the tables of positional heads
 * are among them, or nothing is computed for them. */
static szg_status fill_tables(szg_context *context, const heads_job *job, bool placed,
                              szg_checkpoint_tables *tables) {
    char journal[BENCH_SCRATCH + 32];
    snprintf(journal, sizeof journal, "%s/checkpoint.journal", job->folder);
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = 256,
                                            .journal = journal};
    szg_checkpoint *checkpoint = NULL;
    head_part part = {0};
    szg_status status;
    SZG_TRY_GOTO(status, szg_checkpoint_open(context, job->folder, NULL, &checkpoint), done);
    SZG_TRY_GOTO(status, szgi_part_open(context, checkpoint, &options, &part), done);
    SZG_TRY_GOTO(status, szgi_rows_open(context, checkpoint, &options, tables), done);
    if (!placed) {
        szg_table_close(&tables->heads);
        szg_table_close(&tables->kernel);
        szg_table_close(&tables->layers);
    }
    status = szgi_analyse_heads(context, checkpoint, &options, &part, tables);
done:
    szgi_part_close(&part);
    szg_checkpoint_close(&checkpoint);
    remove(journal);
    return status;
}

static szg_status write_tables(szg_context *context, const heads_job *job,
                               szg_checkpoint_tables *tables) {
    szg_table **all[SZGI_CHECKPOINT_TABLES];
    char folder[BENCH_SCRATCH + 32];
    szg_result *result;
    snprintf(folder, sizeof folder, "%s/result/", job->folder);
    szgi_checkpoint_tables_list(tables, all);
    SZG_TRY(szg_result_open(context, "benchmark", &result));
    szg_status status = SZG_OK;
    for (int i = 0; i < SZGI_CHECKPOINT_TABLES && status == SZG_OK; i++)
        if (*all[i])
            status = szg_result_add(context, result, all[i]);
    if (status == SZG_OK)
        status = szg_result_write(context, result, folder, NULL);
    szg_result_close(&result);
    return status;
}

static szg_status run_command(szg_context *context, heads_job *job, bool placed) {
    szg_checkpoint_tables tables = {0};
    double start = bench_processor_now();
    szg_status status = fill_tables(job->single, job, placed, &tables);
    if (status == SZG_OK)
        status = write_tables(job->single, job, &tables);
    job->seconds = bench_processor_now() - start;
    szg_checkpoint_tables_close(&tables);
    return status == SZG_OK ? status
                            : szgi_fail(context, status, "%s", szg_context_message(job->single));
}

static szg_status run_placed(szg_context *context, void *argument) {
    return run_command(context, argument, true);
}

static szg_status run_unplaced(szg_context *context, void *argument) {
    return run_command(context, argument, false);
}

static szg_status measure_positional(szg_context *context, bench_run *run, heads_job *job) {
    bool quick = run->options.quick;
    bench_case what = {.input = "with the tables of positional heads, processor time",
                       .n = job->shape.width,
                       .ours_name = "every table",
                       .rival_name = "without heads, kernel, layers",
                       .ours = run_placed,
                       .rival = run_unplaced,
                       .job = job,
                       .measured = &job->seconds,
                       .pairs = quick ? 3 : 7,
                       .target_ratio = quick ? 0 : 1 / 1.5};
    SZG_TRY(open_job(context, run, job));
    SZG_TRY(bench_measure(context, run, &what));
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "the tables add %.0f%%", 100 * (1 / bench_last(run, BENCH_RATIO) - 1));
    return row.status;
}

/* All layers: the first one does more, for it knows its tokens. */
szg_status bench_checkpoint_positional(szg_context *context, bench_run *run) {
    heads_job job = {.shape = run->options.quick ? (model_shape){2, 4, 2, 32, 256, 64}
                                                 : (model_shape){16, 32, 8, 64, 2048, 4096}};
    szg_status status = measure_positional(context, run, &job);
    close_job(&job);
    return status;
}

/* ---- Stages ---- */

typedef enum stage {
    STAGE_READ,
    STAGE_SEARCH,
    STAGE_CONVERT,
    STAGE_TRIANGLE,
    STAGE_PRODUCT,
    STAGE_EIGENVALUES,
    STAGE_SINGULAR,
    STAGES
} stage;

static const char *const stage_names[] = {
    [STAGE_READ] = "reading the weights",
    [STAGE_SEARCH] = "search for numbers that are not finite",
    [STAGE_CONVERT] = "conversion to doubles, scale",
    [STAGE_TRIANGLE] = "QR",
    [STAGE_PRODUCT] = "product of keys and queries",
    [STAGE_EIGENVALUES] = "eigenvalues",
    [STAGE_SINGULAR] = "singular values",
};

typedef struct stage_job {
    szg_checkpoint *checkpoint;
    szgi_safetensors *tensors;
    double *memory, *q, *k, *l_q, *l_k, *product;
    double seconds[STAGES];
} stage_job;

/* Adds what passed since *start, and starts anew. */
static void lap(stage_job *stages, stage which, double *start) {
    double now = bench_processor_now();
    stages->seconds[which] += now - *start;
    *start = now;
}

static szg_status read_raw(szg_context *context, const szgi_tensor *tensor) {
    static char block[1 << 16];
    int file = open(tensor->file, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return szgi_fail(context, SZG_EIO, "benchmark: %s: %s", tensor->file, strerror(errno));
    ssize_t got = 1;
    for (int64_t at = 0; at < tensor->bytes && got > 0; at += got) {
        size_t left = (size_t)(tensor->bytes - at);
        got = pread(file, block, left < sizeof block ? left : sizeof block, tensor->offset + at);
    }
    close(file);
    return got > 0 ? SZG_OK : szgi_fail(context, SZG_EIO, "benchmark: %s is cut", tensor->file);
}

/* Both passes over a tensor read it: the search's own time is what is left. */
static szg_status pass_over(szg_context *context, stage_job *stages) {
    double start = bench_processor_now();
    for (int64_t i = 0; i < szgi_safetensors_count(stages->tensors); i++)
        SZG_TRY(read_raw(context, szgi_safetensors_tensor(stages->tensors, i)));
    lap(stages, STAGE_READ, &start);
    for (int64_t i = 0; i < szgi_safetensors_count(stages->tensors); i++)
        SZG_TRY(szgi_tensor_check(context, szgi_safetensors_tensor(stages->tensors, i)));
    lap(stages, STAGE_SEARCH, &start);
    return SZG_OK;
}

static szg_status values(szg_context *context, const model_shape *shape, stage_job *stages) {
    int64_t e = shape->head_size, d = shape->width;
    szg_spectrum spectrum;
    double start = bench_processor_now();
    SZG_TRY(szgi_gemm(context, 'n', 't', e, e, d, 1, stages->k, d, stages->q, d, 0, stages->product,
                      e));
    lap(stages, STAGE_PRODUCT, &start);
    SZG_TRY(szgi_low_rank_eigen(context, d, e, stages->product, &spectrum));
    szg_spectrum_close(&spectrum);
    lap(stages, STAGE_EIGENVALUES, &start);
    SZG_TRY(szgi_gemm(context, 't', 'n', e, e, e, 1, stages->l_q, e, stages->l_k, e, 0,
                      stages->product, e));
    SZG_TRY(szgi_low_rank_singular(context, d, e, stages->product, &spectrum));
    szg_spectrum_close(&spectrum);
    lap(stages, STAGE_SINGULAR, &start);
    return SZG_OK;
}

static szg_status head(szg_context *context, const model_shape *shape, int64_t layer, int64_t index,
                       stage_job *stages) {
    int64_t group = shape->heads / shape->key_heads, e = shape->head_size, d = shape->width;
    double start = bench_processor_now();
    if (index % group == 0) {
        SZG_TRY(szgi_checkpoint_keys(context, stages->checkpoint, layer, index / group, stages->k));
        lap(stages, STAGE_CONVERT, &start);
        SZG_TRY(szgi_wide_l(context, e, d, stages->k, d, stages->l_k));
        lap(stages, STAGE_TRIANGLE, &start);
    }
    SZG_TRY(szgi_checkpoint_queries(context, stages->checkpoint, layer, index, stages->q));
    lap(stages, STAGE_CONVERT, &start);
    SZG_TRY(szgi_wide_l(context, e, d, stages->q, d, stages->l_q));
    lap(stages, STAGE_TRIANGLE, &start);
    return values(context, shape, stages);
}

static szg_status run_stages(szg_context *context, const heads_job *job, stage_job *stages) {
    const model_shape *shape = &job->shape;
    int64_t side = shape->head_size * shape->width, square = shape->head_size * shape->head_size;
    SZG_TRY(szg_checkpoint_open(context, job->folder, NULL, &stages->checkpoint));
    SZG_TRY(szgi_safetensors_open(context, job->folder, &stages->tensors));
    SZG_TRY(szgi_memory_alloc(context, 2 * side + 3 * square, &stages->memory));
    stages->q = stages->memory, stages->k = stages->q + side;
    stages->l_q = stages->k + side, stages->l_k = stages->l_q + square;
    stages->product = stages->l_k + square;
    SZG_TRY(pass_over(context, stages));
    for (int64_t i = 0; i < shape->layers * shape->heads; i++)
        SZG_TRY(head(context, shape, i / shape->heads, i % shape->heads, stages));
    stages->seconds[STAGE_SEARCH] =
        fmax(stages->seconds[STAGE_SEARCH] - stages->seconds[STAGE_READ], 0);
    stages->seconds[STAGE_CONVERT] =
        fmax(stages->seconds[STAGE_CONVERT] - stages->seconds[STAGE_READ], 0);
    stages->seconds[STAGE_READ] *= 2;
    return SZG_OK;
}

static szg_status put_stages(szg_context *context, bench_run *run, const heads_job *job,
                             const stage_job *stages, double whole) {
    double rest = whole;
    for (int i = 0; i <= STAGES; i++) {
        double seconds = i < STAGES ? stages->seconds[i] : fmax(rest, 0);
        rest -= seconds;
        SZG_TRY(bench_row(context, run, i < STAGES ? stage_names[i] : "tables and the rest"));
        szgi_row row = bench_latest(context, run);
        szgi_row_integer(&row, BENCH_N, job->shape.width);
        szgi_row_real(&row, BENCH_OURS_S, seconds);
        szgi_row_note(&row, "%.0f%% of the processor time on one thread", 100 * seconds / whole);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static szg_status measure_stages(szg_context *context, bench_run *run, heads_job *job,
                                 stage_job *stages) {
    SZG_TRY(open_job(context, run, job));
    SZG_TRY(run_single(context, job)); /* the file is in the system's cache now */
    SZG_TRY(run_single(context, job));
    szg_status status = run_stages(job->single, job, stages);
    if (status != SZG_OK)
        return szgi_fail(context, status, "%s", szg_context_message(job->single));
    return put_stages(context, run, job, stages, job->seconds);
}

szg_status bench_checkpoint_stages(szg_context *context, bench_run *run) {
    heads_job job = {.shape = usual(run)};
    stage_job stages = {0};
    szg_status status = measure_stages(context, run, &job, &stages);
    szg_checkpoint_close(&stages.checkpoint);
    szgi_safetensors_close(&stages.tensors);
    szgi_memory_free(stages.memory);
    close_job(&job);
    return status;
}

/* ---- Large models ---- */

static const struct {
    const char *input;
    model_shape shape;
} large[] = {
    {"70 billion parameters: 80 layers of 64 heads", {80, 64, 8, 128, 8192, 0}},
    {"405 billion parameters: 126 layers of 128 heads", {126, 128, 8, 128, 16384, 0}},
};

static szg_status measure_large(szg_context *context, bench_run *run, const char *input,
                                const model_shape *shape, heads_job *job) {
    int64_t groups = shape->layers * shape->key_heads, threads = szg_context_threads(context);
    SZG_TRY(open_job(context, run, job));
    SZG_TRY(run_single(context, job)); /* the file is in the system's cache now */
    SZG_TRY(run_single(context, job));
    double seconds = job->seconds * (double)groups;
    double bytes = 2 * (double)((shape->heads + shape->key_heads) * shape->head_size) *
                   (double)shape->width * (double)shape->layers;
    SZG_TRY(bench_row(context, run, input));
    szgi_row row = bench_latest(context, run);
    szgi_row_integer(&row, BENCH_N, shape->width);
    szgi_row_real(&row, BENCH_OURS_S, seconds);
    szgi_row_note(&row,
                  "projected: %lld times the processor time of one key head with its queries; %.1f "
                  "minutes on %lld threads, without reading %.1f GB from a disk",
                  (long long)groups, seconds / (double)threads / 60, (long long)threads,
                  bytes / 1e9);
    return row.status;
}

szg_status bench_checkpoint_large(szg_context *context, bench_run *run) {
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const model_shape *shape = &large[i].shape;
        heads_job job = {
            .shape = {1, shape->heads / shape->key_heads, 1, shape->head_size, shape->width, 0}};
        szg_status status = measure_large(context, run, large[i].input, shape, &job);
        close_job(&job);
        SZG_TRY(status);
    }
    return SZG_OK;
}
