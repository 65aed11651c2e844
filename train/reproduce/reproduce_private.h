/* A reproduction's runs, and what the finished ones left in their folders. */
#ifndef SZG_TRAIN_REPRODUCE_PRIVATE_H
#define SZG_TRAIN_REPRODUCE_PRIVATE_H

#include "formats/json.h"
#include <szego/reproduce.h>

#include "train/length/length.h"
#include "train/run/run_private.h"

/* What is known of a run's examples; NaN where it does not apply. */
typedef struct data_facts {
    int64_t train_examples, test_examples, train_tokens, test_tokens; /* of an epoch */
    double ceiling, ceiling_error;                                    /* szg_label_ceiling */
    double majority;  /* test accuracy of always saying the commonest label */
    double by_length; /* of saying the commonest label of that length */
} data_facts;

/* What finished.json says of a run. */
typedef struct run_facts {
    data_facts data;
    int64_t parameters, steps, epochs;
    double forward, training; /* operations a token */
    double train_accuracy, test_accuracy, best_accuracy, train_loss, test_loss;
    double whole; /* accuracy that the ablation starts from */
    /* Of the program that finished it; "": not known, or no device. */
    char version[32], commit[64], backend[32], device[256];
} run_facts;

/* Which head a run intervenes on: that of another run of its seed and task. The texts are the
 * preset's. */
typedef struct head_rule {
    const char *of, *encoding; /* the other run's experiment and encoding; NULL: no rule */
    int64_t layer;
    bool other; /* not the head with the largest drop: one of the others, drawn */
} head_rule;

/* What is known of that head. */
typedef enum head_state {
    HEAD_KNOWN,  /* without a rule too: the configuration is final */
    HEAD_OPEN,   /* the other run is not finished */
    HEAD_ABSENT, /* no head of the other run has a drop: the run is left out */
    HEAD_FAILED  /* the other run failed, and this one with it */
} head_state;

typedef struct reproduction_run {
    szg_reproduction_run shown; /* its texts are owned by the members below */
    char *name, *experiment, *like, *encoding, *folder;
    char *reason; /* what failed.json says of the failure; NULL: none */
    head_rule head;
    head_state head_state;
    int64_t needs;              /* the run that the rule speaks of; -1: none */
    int64_t intervened;         /* where there is a rule and the head is known */
    szgi_length_options length; /* count 0: it is not tested on longer sequences */
    szg_train_config *config;
    run_facts facts; /* where it is finished */
    /* Runs of the same experiment in their order: the first of them, and the one after this; -1:
     * none. Presets have up to 10,000 runs: who wants those of one experiment looks at no other. */
    int64_t first, next;
} reproduction_run;

/* What tables call it. */
static inline szg_run_key reproduction_key(const reproduction_run *run) {
    return (szg_run_key){run->name, run->encoding, run->shown.task, (int64_t)run->shown.seed};
}

/* A table with the columns of `like`, and `experiment` before the last `after` of them; and what a
 * row of such a table has of a row of `from`. */
SZG_CHECK_RESULT szg_status szgi_experiment_table(szg_context *context, const szg_table *like,
                                                  int64_t after, szg_table **out);
void szgi_experiment_row(szgi_row *row, const szg_table *from, int64_t at, int64_t after,
                         const char *experiment);

struct szg_reproduction {
    char *name, *about, *preset, *folder; /* folder NULL: none */
    szgi_json *document;                  /* the preset; rules point into it */
    reproduction_run *run;
    int64_t count, room;
    int64_t early_steps; /* of a run that count as early; 0: those before accuracy leaves chance */
};

/* Whether no earlier run belongs to the experiment of run `index`. */
static inline bool reproduction_begins_experiment(const szg_reproduction *self, int64_t index) {
    return self->run[index].first == index;
}

/* ---- reproduce_train.c ---- */

/* Whether the run's folder holds a checkpoint to go on from. */
SZG_CHECK_RESULT szg_status szgi_reproduction_is_begun(szg_context *context,
                                                       const reproduction_run *run, bool *out);

/* ---- reproduce_needs.c ---- */

/* Operations of a run: training of every epoch and the evaluation after it; and what follows on it,
 * ablations and longer sequences.
 * NaN: the examples of a file are not counted in advance. */
SZG_CHECK_RESULT szg_status szgi_reproduction_operations(szg_context *context,
                                                         const reproduction_run *run,
                                                         double *training, double *after);
/* Operations and seconds of training that the logs of finished runs know. */
SZG_CHECK_RESULT szg_status szgi_reproduction_measured(szg_context *context,
                                                       const szg_reproduction *self,
                                                       double *operations, double *seconds);

/* ---- reproduce_preset.c ---- */

/* Fills name, about and runs from a preset file (reproduce_experiments.c). */
SZG_CHECK_RESULT szg_status szgi_preset_read(szg_context *context,
                                             const szg_reproduction_options *options,
                                             szg_reproduction *out);

/* ---- heads.c ---- */

/* The first run of an experiment with this encoding, task and seed (-1: any seed); -1: none. */
int64_t szgi_run_find(const szg_reproduction *self, const char *experiment, const char *encoding,
                      const char *task, int64_t seed);

/* Finds the run that each rule speaks of; `path`: of the preset. SZG_EDATA: there is none, or it
 * cannot say which head. */
SZG_CHECK_RESULT szg_status szgi_heads_link(szg_context *context, const char *path,
                                            szg_reproduction *self);
/* Completes the configuration of a run with a rule if the other run is finished or failed; else
 * does nothing. */
SZG_CHECK_RESULT szg_status szgi_head_settle(szg_context *context, const szg_reproduction *self,
                                             reproduction_run *run);
/* Whether the run will never be trained, as there is no head to intervene on; and why. */
static inline bool reproduction_lacks_head(const reproduction_run *run) {
    return run->head_state == HEAD_ABSENT || run->head_state == HEAD_FAILED;
}
enum { HEAD_WORDS = SZG_CONFIG_TEXT + 320 };
const char *szgi_head_absence(const szg_reproduction *self, const reproduction_run *run,
                              char out[HEAD_WORDS]);
/* The head that a rule for the `other` one takes: drawn from seed and layer, never `worst`. */
int64_t szgi_head_other(uint64_t seed, int64_t layer, int64_t heads, int64_t worst);

/* ---- reproduce_facts.c ---- */

SZG_CHECK_RESULT szg_status szgi_facts_of_data(szg_context *context, const szg_train_config *config,
                                               const szg_dataset *data, data_facts *out);

/* finished.json in the run's folder. Reading sets run->shown.finished; SZG_EDATA: malformed, or of
 * another configuration, or a fact out of its range (named). */
SZG_CHECK_RESULT szg_status szgi_facts_write(szg_context *context, const reproduction_run *run);
SZG_CHECK_RESULT szg_status szgi_facts_read(szg_context *context, reproduction_run *run);
/* As szgi_facts_read, from a document. */
SZG_CHECK_RESULT szg_status szgi_facts_take(szg_context *context, szgi_json_value root,
                                            reproduction_run *run);

/* failed.json in the run's folder: after how many steps loss or gradient were not finite, and what
 * training said. Writing takes the context's message; both set run->shown and run->reason. Reading,
 * SZG_EDATA: malformed, of another configuration, or beside finished.json. */
SZG_CHECK_RESULT szg_status szgi_failure_write(szg_context *context, reproduction_run *run,
                                               int64_t step);
SZG_CHECK_RESULT szg_status szgi_failure_read(szg_context *context, reproduction_run *run);

/* SZG_EDATA: it is not the run's configuration. */
SZG_CHECK_RESULT szg_status szgi_facts_compare_config(szg_context *context,
                                                      const reproduction_run *run,
                                                      szgi_json_value config);

/* ---- judge.c ---- */

/* The tables of a finished run, whose facts are read. SZG_EDATA: one is missing, or the reports
 * could not read it; the message names it. A note says where times are missing. Captured logits are
 * read by the reports alone. */
SZG_CHECK_RESULT szg_status szgi_reproduction_judge(szg_context *context,
                                                    const reproduction_run *run);

/* ---- reproduce_ablation.c ---- */

/* FOLDER/ablation.csv, or ablation_METHOD.csv for another method than `output`; free with
 * szgi_memory_free. */
SZG_CHECK_RESULT szg_status szgi_reproduction_ablation_path(szg_context *context,
                                                            const reproduction_run *run,
                                                            szg_ablation_method method, char **out);
const char *szgi_reproduction_ablation_name(szg_ablation_method method);

/* Accuracies of a finished run without each head; free with szg_ablation_close. */
SZG_CHECK_RESULT szg_status szgi_reproduction_ablation_read(szg_context *context,
                                                            const reproduction_run *run,
                                                            szg_ablation_method method,
                                                            szg_ablation *out);

/* SZG_EDATA: the bytes are no ablation of every head of the run's model by the method. */
SZG_CHECK_RESULT szg_status szgi_reproduction_ablation_judge(szg_context *context,
                                                             const reproduction_run *run,
                                                             szg_ablation_method method,
                                                             const char *name, const void *data,
                                                             int64_t size);

/* ---- length.c: a run on longer sequences than those of training ---- */

#define SZGI_LENGTH_FILE "length.csv"

/* Tests the checkpoint in the run's folder and writes the table there, if the preset asks for it.
 */
SZG_CHECK_RESULT szg_status szgi_reproduction_length_write(szg_context *context,
                                                           const reproduction_run *run);

/* SZG_EDATA: the bytes are not the table of the lengths and scalings that the preset asks for. */
SZG_CHECK_RESULT szg_status szgi_reproduction_length_judge(szg_context *context,
                                                           const reproduction_run *run,
                                                           const char *name, const void *data,
                                                           int64_t size);

/* ---- The tables of szg_reproduction_tables, a function each; *out is NULL before ---- */

SZG_CHECK_RESULT szg_status szgi_reproduction_items(szg_context *context,
                                                    const szg_reproduction *self, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_reproduction_settings(szg_context *context,
                                                       const szg_reproduction *self,
                                                       szg_table **out);
SZG_CHECK_RESULT szg_status szgi_reproduction_missing(szg_context *context,
                                                      const szg_reproduction *self,
                                                      szg_table **out);
SZG_CHECK_RESULT szg_status szgi_reproduction_runs(szg_context *context,
                                                   const szg_reproduction *self, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_reproduction_curves(szg_context *context,
                                                     const szg_reproduction *self, szg_table **out);
/* Leaves *out NULL where no finished run captured its logits. */
SZG_CHECK_RESULT szg_status szgi_reproduction_contraction(szg_context *context,
                                                          const szg_reproduction *self,
                                                          szg_table **out);
SZG_CHECK_RESULT szg_status szgi_reproduction_ablation(szg_context *context,
                                                       const szg_reproduction *self,
                                                       szg_table **ablation, szg_table **deposit);
/* Leaves *out NULL where no run is tested on longer sequences. */
SZG_CHECK_RESULT szg_status szgi_reproduction_length(szg_context *context,
                                                     const szg_reproduction *self, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_reproduction_needs(szg_context *context,
                                                    const szg_reproduction *self,
                                                    const szg_reproduction *other,
                                                    double other_rate, szg_table **out);

#endif
