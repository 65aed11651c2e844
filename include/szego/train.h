/* Training: one run of one seed in a folder, that can be killed at any instant and resumed. */
#ifndef SZEGO_TRAIN_H
#define SZEGO_TRAIN_H

#include <szego/table.h>
#include <szego/tasks.h>
#include <szego/train_config.h>

SZG_BEGIN_DECLS

typedef struct szg_model szg_model; /* a decoder; szg_model_load opens one */

/* ---- Checkpoints: NAME.safetensors with the parameters and, as metadata, configuration, classes,
 * seed and step; NAME.state.safetensors with the moments ---- */

/* Opens a model from a checkpoint (or the folder of a run that holds one) and its metadata;
 * `config` replaces the metadata's (NULL: it must have one, SZG_EDATA says so and names --config).
 * Every tensor must be there with its shape, and none besides. */
SZG_CHECK_RESULT szg_status szg_model_load(szg_context *context, const char *path,
                                           const szg_train_config *config, szg_model **out);

/* Frees the model and nulls the pointer. */
void szg_model_close(szg_context *context, szg_model **model);

/* ---- A run ---- */

/* Logits of one head and one probe sequence of n real tokens, content and coupled as
 * docs/reference/capture.md defines them: before mask and softmax, the scale included. */
typedef struct szg_captured_logits {
    int64_t probe, layer, head, n;
    const double *content, *coupled; /* n x n each, row-major */
} szg_captured_logits;

/* A step that was captured, with the parameters before its update. */
typedef struct szg_captured_step {
    int64_t step;             /* from 0 */
    const char *content_kind; /* "same_qk", "zeroed" */
    int64_t count;
    const szg_captured_logits *logits; /* by probe, layer, head: of row i of `contraction` */
    const szg_table *contraction;      /* the step's rows of the logs, without the run's columns */
    const szg_table *values, *symbols; /* NULL without capture.spectra */
} szg_captured_step;

/* Called by the thread that called szg_train_run, which waits; `step` and all that it points to end
 * with the call. It may call any function but those that train. szg_context_cancel ends the run as
 * at other times: the step is finished, the run is saved, SZG_ECANCEL. A run that is resumed gives
 * the steps since its latest checkpoint once more. The time counts as that of capture. */
typedef void szg_captured_fn(szg_context *context, const szg_captured_step *step, void *user);

typedef struct szg_train_options {
    SZG_SIZE(szg_train_options);
    const szg_train_config *config;
    const szg_dataset *data;
    uint64_t seed; /* initial values, order, dropout */
    const char
        *folder; /* receives config.json, checkpoint.safetensors, checkpoint.state.safetensors,
                    metrics.csv, timing.csv, contraction.csv where captured, curvature.csv */
    bool resume; /* go on from the folder's checkpoint; nothing there: begin */
    szg_captured_fn *captured; /* NULL, or called at each captured step (capture.every); the
                                  matrices of a step are then all in memory */
    void *user;                /* handed to it */
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

/* The table `runs`: one row per run, and, where there are two runs or more, rows of mean, standard
 * deviation (of the sample), minimum and maximum. ceiling: NULL, or what szg_task_label_ceiling
 * says. */
SZG_CHECK_RESULT szg_status szg_train_runs_open(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szg_train_runs_add(szg_context *context, szg_table *table,
                                               const szg_train_options *options,
                                               const szg_train_result *result,
                                               const szg_label_ceiling *ceiling);
SZG_CHECK_RESULT szg_status szg_train_runs_spread(szg_context *context, szg_table *table);

/* The logs of a run's folder; NULL: it has no such log. */
typedef struct szg_train_tables {
    szg_table *metrics, *timing, *contraction, *values, *symbols, *curvature;
} szg_train_tables;
SZG_CHECK_RESULT szg_status szg_train_tables_read(szg_context *context, const char *folder,
                                                  szg_train_tables *out);
void szg_train_tables_close(szg_train_tables *tables);

SZG_END_DECLS

#endif
