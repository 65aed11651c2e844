/* The parts of a run that its files share. */
#ifndef SZG_TRAIN_RUN_PRIVATE_H
#define SZG_TRAIN_RUN_PRIVATE_H

#include <stdio.h>
#include "base/file.h"
#include "base/row.h"
#include "train/ablation/ablation.h"
#include "train/capture/capture.h"
#include "base/random.h"
#include "train.h"

/* Purposes of the host's random streams. */
enum { PURPOSE_ORDER = 0x54524E02 };

/* ---- schedule.c ---- */

/* Order of an epoch's examples: a permutation of 0 .. count - 1. */
void szgi_train_order(uint64_t seed, int64_t epoch, int64_t count, int64_t *order);
szgi_step_block szgi_train_block(const szg_loop_config *loop, uint64_t seed, int64_t step,
                                 int64_t total);

/* ---- intervene.c: what intervention.* does to a run ---- */

/* Steps of all `total` after which the intervention begins. */
int64_t szgi_intervention_first(const szg_intervention_config *intervention, int64_t total);

/* Zeroes the head's share of an array like the gradient, the moments too: intervention.kind=
 * gradient, once it has begun; else nothing. */
SZG_CHECK_RESULT szg_status szgi_intervention_clear(szg_context *context, const szg_model *model,
                                                    void *arena);

/* ---- checkpoint.c ---- */

/* The configuration as JSON; free with szgi_memory_free. */
SZG_CHECK_RESULT szg_status szgi_train_config_text(szg_context *context,
                                                   const szg_train_config *config, int indent,
                                                   char **out);

/* The checkpoint that `path` stands for: of a run's folder the one in it. Free with
 * szgi_memory_free. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_path(szg_context *context, const char *path,
                                                 char **out);

/* A number of the metadata that szgi_model_save writes ("seed", "step"); -1: none. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_number(szg_context *context, const char *path,
                                                   const char *key, int64_t *out);

/* ---- log.c ---- */

/* What a log held at some time: its first bytes, and their checksum (zlib's CRC-32). */
typedef struct log_mark {
    int64_t bytes;
    uint32_t check;
} log_mark;

/* A table on disk that grows by rows. */
typedef struct run_log {
    FILE *stream;
    char *path;
    log_mark mark; /* of all that was appended */
} run_log;

/* Opens and locks FOLDER/NAME, as it is. SZG_EIO; another process has it open. */
SZG_CHECK_RESULT szg_status szgi_log_open(szg_context *context, const char *folder,
                                          const char *name, run_log *out);
/* Cuts it to the bytes that `keep` knows, before rows are appended. SZG_EDATA: it is shorter, or
 * these bytes are others; SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_log_cut(szg_context *context, run_log *log, log_mark keep);
/* SZG_EDATA where the log has rows and does not begin with these bytes; with the header of table
 * `which` of the logs. */
SZG_CHECK_RESULT szg_status szgi_log_check_start(szg_context *context, const run_log *log,
                                                 const char *bytes, int64_t size);
SZG_CHECK_RESULT szg_status szgi_log_check_header(szg_context *context, const run_log *log,
                                                  int which);
void szgi_log_close(run_log *log);
/* Appends the rows, each behind the cells of `labels` (szgi_labels_table), with the header where
 * the file is empty. */
SZG_CHECK_RESULT szg_status szgi_log_append(szg_context *context, run_log *log,
                                            const szg_table *labels, const szg_table *rows);
/* Appends bytes as they are. */
SZG_CHECK_RESULT szg_status szgi_log_write(szg_context *context, run_log *log, const void *bytes,
                                           int64_t size);
/* Flushes to the disk. */
SZG_CHECK_RESULT szg_status szgi_log_sync(szg_context *context, run_log *log);

/* ---- state.c ---- */

enum { LOG_METRICS, LOG_TIMING, LOG_CONTRACTION, LOG_VALUES, LOG_SYMBOLS, LOG_CURVATURE, LOGS };

/* Where a run stands. What is logged is in the bytes of the logs that `log` knows. */
typedef struct run_progress {
    int64_t step;     /* steps done */
    int64_t epochs;   /* epochs that were evaluated and logged */
    szgi_tally tally; /* of the training steps since then */
    log_mark log[LOGS];
} run_progress;

/* What a state file belongs to; on resume all of it must agree. */
typedef struct run_identity {
    const szg_train_config *config;
    const char *backend;
    uint64_t seed, data; /* data: szgi_dataset_digest */
    int64_t classes;
} run_identity;

/* A number that changes with any token, label or boundary of the two sets. */
uint64_t szgi_dataset_digest(const szg_dataset *data);

/* Parameters, both moments and progress in one file: its renaming is the instant at which a
 * checkpoint comes to be. */
SZG_CHECK_RESULT szg_status szgi_state_save(szg_context *context, const char *path,
                                            const szg_model *model, void *moment1, void *moment2,
                                            const run_identity *identity,
                                            const run_progress *progress);
/* SZG_EDATA: malformed, or of another run; the message names what differs. */
SZG_CHECK_RESULT szg_status szgi_state_load(szg_context *context, const char *path,
                                            szg_model *model, void *moment1, void *moment2,
                                            const run_identity *identity, run_progress *out);

/* ---- products.c ---- */

/* Writes FOLDER/products.csv, the products that linear layers had since szgi_products_begin, if
 * they are other than *written in number. Nothing where the backend says nothing of them. */
SZG_CHECK_RESULT szg_status szgi_products_write(szg_context *context, const char *folder,
                                                int64_t *written);

/* A run's products begin: what an earlier run of the context chose is forgotten. `timed`: times the
 * algorithms of products that are new, and takes those of FOLDER/products.csv, if it is there, for
 * the others. SZG_EDATA: the file is malformed. */
SZG_CHECK_RESULT szg_status szgi_products_begin(szg_context *context, const char *folder,
                                                bool timed);

/* ---- metrics.c ---- */

/* The first columns of every table of training. */
#define RUN_COLUMNS(X, TABLE)                                                                      \
    X(TABLE##_RUN, "run", SZG_TEXT, "", "run",                                                     \
      "the run's folder, or its checkpoint; over several seeds, what the row is")                  \
    X(TABLE##_ENCODING, "encoding", SZG_TEXT, "", "encoding", "positional encoding, a SPEC")       \
    X(TABLE##_TASK, "task", SZG_TEXT, "", "task", "distance, count, or file")                      \
    X(TABLE##_SEED, "seed", SZG_INTEGER, "1", "seed",                                              \
      "seed of initial values, order and dropout; empty: several seeds")

/* Puts them into a row of any of these tables; NULL and a negative seed leave a cell empty. */
void szgi_run_key_put(szgi_row *row, const szg_run_key *key);

/* What they say of a training. */
typedef struct run_labels {
    char run[256];
    const char *encoding, *task;
    uint64_t seed;
} run_labels;
/* "distance", "count". */
const char *szgi_task_name(szg_task task);
run_labels szgi_run_labels(const szg_train_options *options);

/* Copies a cell to column `to`, which has its type; an empty one stays empty. */
void szgi_row_copy(szgi_row *row, int64_t to, const szg_table *from, int64_t at, int64_t column);

void szgi_labels_put(szgi_row *row, const run_labels *labels);

typedef struct metrics_row {
    int64_t epoch, step;
    const char *split;
    szgi_tally tally;
    double learning_rate;
} metrics_row;

typedef struct timing_row {
    int64_t epoch, step, steps, tokens;
    double train, capture, evaluate; /* seconds */
} timing_row;

/* Empty tables without the labels, and their rows. */
SZG_CHECK_RESULT szg_status szgi_metrics_table(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_metrics_add(szg_context *context, szg_table *table,
                                             const metrics_row *row);
SZG_CHECK_RESULT szg_status szgi_timing_table(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_timing_add(szg_context *context, szg_table *table,
                                            const timing_row *row);

/* The log `which` (LOG_METRICS, ...) from `size` bytes, with the labels' columns; `name` is for
 * messages. */
SZG_CHECK_RESULT szg_status szgi_log_parse(szg_context *context, int which, const char *name,
                                           const void *data, int64_t size, szg_table **out);

/* Losses and accuracies of a run's folder. */
SZG_CHECK_RESULT szg_status szgi_metrics_summarise(szg_context *context, const char *folder,
                                                   szg_train_result *out);

/* The labels' columns, with the labels as the one row: what the rows of logs begin with. */
SZG_CHECK_RESULT szg_status szgi_labels_table(szg_context *context, const run_labels *labels,
                                              szg_table **out);

/* ---- evaluate.c ---- */

/* Positions of a batch: sequences are padded to this. Where padding changes nothing, the longest
 * example decides, else the model's length. */
int64_t szgi_padded_length(const szg_train_config *config, const szg_examples *examples);

/* A set of examples in the backend's memory with a decoder, to evaluate the model again and again.
 */
typedef struct evaluation evaluation;
/* SZG_EDATA: an example that the model does not take. */
SZG_CHECK_RESULT szg_status szgi_evaluation_open(szg_context *context, szg_model *model,
                                                 const szg_examples *examples, evaluation **out);
void szgi_evaluation_close(szg_context *context, evaluation **evaluation);
/* logits: NULL or [count][classes]. */
SZG_CHECK_RESULT szg_status szgi_evaluation_run(szg_context *context, evaluation *evaluation,
                                                szgi_tally *tally, double *logits);

/* ---- finite.c ---- */

/* A step whose numbers were not finite: examples order[0 .. count - 1], padded to `length`; its
 * gradients are in `gradient`. saved: the step of the latest checkpoint; -1: none. */
typedef struct train_failure {
    szg_model *model;
    const szg_examples *examples;
    const int64_t *order;
    int64_t count, length;
    const void *gradient;
    int64_t step, saved;
} train_failure;

/* Fails with SZG_EDATA, the step and the place where numbers first were not finite. */
SZG_CHECK_RESULT szg_status szgi_train_explain(szg_context *context, const train_failure *failure);

#endif
