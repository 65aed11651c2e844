/* Training: one run of one seed in a folder, that can be killed at any instant and resumed. */
#ifndef SZEGO_TRAIN_H
#define SZEGO_TRAIN_H

#include <szego/decoder.h>
#include <szego/table.h>
#include <szego/tasks.h>

SZG_BEGIN_DECLS

/* ---- Checkpoints: NAME.safetensors with the parameters and, as metadata, configuration, classes,
 * seed and step; NAME.state.safetensors with the moments ---- */

/* Opens a model from a checkpoint (or the folder of a run that holds one) and its metadata;
 * `config` replaces the metadata's (NULL: it must have one, SZG_EDATA says so and names --config).
 * Every tensor must be there with its shape, and none besides. */
SZG_CHECK_RESULT szg_status szg_model_load(szg_context *context, const char *path,
                                           const szg_train_config *config, szg_model **out);
/* Writes NAME.safetensors alone. */
SZG_CHECK_RESULT szg_status szg_model_save(szg_context *context, const szg_model *model,
                                           const char *path, uint64_t seed, int64_t step);

/* ---- A run ---- */

typedef struct szg_train_options {
    const szg_train_config *config;
    const szg_dataset *data;
    uint64_t seed; /* initial values, order, dropout */
    const char
        *folder; /* receives config.json, checkpoint.safetensors, checkpoint.state.safetensors,
                    metrics.csv, timing.csv, contraction.csv where captured */
    bool resume; /* go on from the folder's checkpoint; nothing there: begin */
} szg_train_options;

typedef struct szg_train_result {
    int64_t steps, epochs;
    int64_t parameters;                /* numbers that are trained */
    double train_loss, train_accuracy; /* of the last epoch */
    double test_loss, test_accuracy;   /* of the last evaluation */
    double best_accuracy;
    double seconds, tokens_per_second; /* of this process, evaluation and capture left out */
    double capture_seconds;
} szg_train_result;

/* SZG_EDATA: loss or gradient not finite (the message names step and layer; the last good
 * checkpoint stays), an example that the model does not take, a folder that holds another
 * configuration. SZG_ECANCEL: what was given to the backend was finished and saved. */
SZG_CHECK_RESULT szg_status szg_train_run(szg_context *context, const szg_train_options *options,
                                          szg_train_result *out);

/* The table `runs`: a row a run, and, where there are two runs or more, rows of mean, standard
 * deviation (of the sample), minimum and maximum. ceiling: NULL, or what szg_task_label_ceiling
 * says. */
SZG_CHECK_RESULT szg_status szg_train_runs_open(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szg_train_runs_add(szg_context *context, szg_table *table,
                                               const szg_train_options *options,
                                               const szg_train_result *result,
                                               const szg_label_ceiling *ceiling);
SZG_CHECK_RESULT szg_status szg_train_runs_spread(szg_context *context, szg_table *table);

/* Steps of an epoch, and the learning rate of step 0 .. total - 1: rate step / warmup below warmup
 * = floor(loop->warmup * total), rate (1 + cos(pi (step - warmup) / (total - warmup))) / 2 from
 * there.
 */
int64_t szg_train_epoch_steps(const szg_loop_config *loop, int64_t examples);
double szg_train_learning_rate(const szg_loop_config *loop, int64_t step, int64_t total);

/* The logs of a run's folder; NULL where there is none. */
typedef struct szg_train_tables {
    szg_table *metrics, *timing, *contraction, *values, *symbols;
} szg_train_tables;
SZG_CHECK_RESULT szg_status szg_train_tables_read(szg_context *context, const char *folder,
                                                  szg_train_tables *out);
void szg_train_tables_close(szg_train_tables *tables);

/* Loss, counted and correct examples of a set, by an evaluation decoder of its own. logits: NULL or
 * [count][classes]. */
SZG_CHECK_RESULT szg_status szg_train_evaluate(szg_context *context, szg_model *model,
                                               const szg_examples *examples, szg_tally *tally,
                                               double *logits);

/* Batch of examples order[0 .. count-1] (NULL: 0 ..) on the host, padded to `length`; SZG_EDATA: a
 * token beyond the vocabulary, a label beyond the classes, a sequence longer than `length`. tokens
 * [count * length], lengths, labels [count] are the caller's; labels NULL: they are neither wanted
 * nor looked at. */
SZG_CHECK_RESULT szg_status szg_batch_fill(szg_context *context, const szg_examples *examples,
                                           const int64_t *order, int64_t count, int64_t length,
                                           int64_t vocabulary, int64_t classes, int32_t *tokens,
                                           int32_t *lengths, int32_t *labels);

SZG_END_DECLS

#endif
