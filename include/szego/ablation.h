/* Head ablation: accuracy with a head's output set to zero, and how the loss of it deposits. */
#ifndef SZEGO_ABLATION_H
#define SZEGO_ABLATION_H

#include <szego/examples.h>
#include <szego/table.h>
#include <szego/train_config.h>

SZG_BEGIN_DECLS

typedef struct szg_model szg_model; /* a decoder; szg_model_load opens one */

/* ---- Accuracy without a head ---- */

typedef enum szg_ablation_method {
    SZG_ABLATE_OUTPUT,         /* the head's output is zero */
    SZG_ABLATE_VALUES,         /* its rows of W_V and the bias: the same numbers by another way */
    SZG_ABLATE_LATENT_COLUMNS, /* mla: columns h d_head .. (h + 1) d_head - 1 of the up-projections
                                  W_UQ, W_UK, W_UV, as released: latent dimensions, not heads */
    SZG_ABLATE_CUMULATIVE, /* output, and the last head of every layer below stays off, as released:
                              the first layer alone has the numbers of OUTPUT */
    SZG_ABLATE_ROTATION    /* its queries and keys are not rotated, the weights as they are */
} szg_ablation_method;
enum { SZG_ABLATION_METHODS = SZG_ABLATE_ROTATION + 1 };

/* SZG_EINVAL lists them. */
SZG_CHECK_RESULT szg_status szg_ablation_method_parse(szg_context *context, const char *name,
                                                      szg_ablation_method *out);

typedef struct szg_ablation_options {
    SZG_SIZE(szg_ablation_options);
    szg_ablation_method method;
    int64_t batch; /* sequences per pass; 0: the configuration's evaluate_batch */
} szg_ablation_options;

/* Accuracies after ablation: [layers][heads], then [layers] with all heads of a layer at once. */
typedef struct szg_ablation {
    szg_ablation_method method; /* of szg_ablation_run */
    int64_t layers, heads;
    int64_t reach; /* heads from this one on are left as they are: with LATENT_COLUMNS their columns
                      lie beyond the latent dimensions; else = heads */
    bool *spared;  /* [layers * heads], or NULL: none; with ROTATION: the head does not rotate, so
                      nothing is taken from it */
    int64_t counted; /* examples that count */
    double accuracy; /* of the whole model */
    double ceiling;  /* best accuracy that any classifier can have (szg_task_label_ceiling); for the
                        tables; NaN: not known, as szg_ablation_run leaves it */
    double *head;    /* [layers * heads] */
    double *layer;   /* [layers] */
} szg_ablation;

/* One pass over the examples: what lies below the ablated layer is computed once a batch. The
 * model's parameters are as before when it returns, on failure too, unless the backend fails.
 * SZG_EINVAL: no examples, LATENT_COLUMNS of a model without latent projections, ROTATION
 * of one that does not rotate; SZG_EDATA: a token
 * or label that the model does not have, no example that counts; SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szg_ablation_run(szg_context *context, szg_model *model,
                                             const szg_examples *examples,
                                             const szg_ablation_options *options,
                                             szg_ablation *out);
void szg_ablation_close(szg_ablation *ablation);

/* ---- What is ablated ---- */

typedef struct szg_ablation_source {
    SZG_SIZE(szg_ablation_source);
    const char *checkpoint;         /* a file, or the folder of a run */
    const szg_train_config *config; /* NULL: the checkpoint's own */
    const char *data;               /* a JSONL file; NULL: the data of the configuration */
    bool whole;                     /* the training split too, as released; not with a file */
} szg_ablation_source;

/* A model with the examples to judge it by, and what tables call it. */
typedef struct szg_ablation_subject {
    szg_model *model;
    szg_examples examples;
    char run[256], encoding[SZG_CONFIG_TEXT];
    const char *task; /* distance, count, file */
    double ceiling;   /* label ceiling of the examples; NaN: not known */
    int64_t seed;     /* -1: the checkpoint does not say */
} szg_ablation_subject;

/* Errors of szg_model_load, szg_dataset_open, szg_examples_read. */
SZG_CHECK_RESULT szg_status szg_ablation_subject_open(szg_context *context,
                                                      const szg_ablation_source *source,
                                                      szg_ablation_subject *out);
void szg_ablation_subject_close(szg_context *context, szg_ablation_subject *subject);

/* ---- Tables ---- */

/* What the first columns of a training table say. */
typedef struct szg_run_key {
    const char *run, *encoding, *task;
    int64_t seed; /* -1: not known */
} szg_run_key;

/* `ablation`: run, encoding, task, seed, layer, head, accuracy, drop, label_ceiling, method, note;
 * an empty head stands for all heads of the layer at once. `deposit`: one row per layer and run,
 * and, for two runs and more of one encoding, task, shape and method, rows with an empty seed: the
 * mean over them, under the run name `together` (NULL: none). */
SZG_CHECK_RESULT szg_status szg_ablation_table_open(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szg_ablation_rows(szg_context *context, szg_table *table,
                                              const szg_run_key *key, const szg_ablation *ablation);
SZG_CHECK_RESULT szg_status szg_deposit_table_open(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szg_deposit_rows(szg_context *context, szg_table *table,
                                             const szg_run_key *keys,
                                             const szg_ablation *const *runs, int64_t count,
                                             const char *together);

SZG_END_DECLS

#endif
