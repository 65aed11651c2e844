/* The paper's tables and figures from one preset file: which encodings, tasks and seeds to train,
 * at which sizes. Each run has its own folder, and finished runs are not repeated. */
#ifndef SZEGO_REPRODUCE_H
#define SZEGO_REPRODUCE_H

#include <szego/ablation.h>
#include <szego/train.h>

SZG_BEGIN_DECLS

typedef struct szg_reproduction szg_reproduction;

typedef struct szg_reproduction_options {
    SZG_SIZE(szg_reproduction_options);
    const char *preset;           /* path of a preset file; docs/how-to/reproduce.md has its form */
    const char *const *overrides; /* "loop.epochs=2": the last word on every run's configuration */
    int64_t override_count;
    const char *folder; /* receives runs/EXPERIMENT/TASK/ENCODING/run-SEED; NULL: none, nothing can
                           be trained and nothing counts as finished */
} szg_reproduction_options;

/* Reads the preset, works out every run and looks which are finished. SZG_EDATA: a malformed preset
 * (the message names file and path in it, or the run whose configuration does not hold together),
 * or a finished run in the folder with another configuration; SZG_EINVAL: an override. */
SZG_CHECK_RESULT szg_status szg_reproduction_open(szg_context *context,
                                                  const szg_reproduction_options *options,
                                                  szg_reproduction **out);
void szg_reproduction_close(szg_reproduction **reproduction);

typedef struct szg_reproduction_run {
    const char *name; /* EXPERIMENT/TASK/ENCODING/run-SEED */
    const char *experiment, *encoding, *task;
    const char *like; /* the experiment of whose run this one differs by a switch; NULL: none */
    uint64_t seed;
    int64_t rotated_heads; /* of a sweep over partial RoPE; -1: none */
    unsigned methods;      /* heads are ablated after training: a bit 1 << SZG_ABLATE_x a method */
    bool finished;
    bool failed; /* its numbers stopped being finite, or those of the run that `needs` names */
    int64_t failed_step; /* the steps that were done when its own did; -1: they did not */
    const char *needs;   /* the run that says on which head this one intervenes; NULL: none */
    bool settled;        /* `config` is final: where `needs` is, that run is finished */
    const szg_train_config *config;
} szg_reproduction_run;

/* The preset's name and what it says about itself. */
const char *szg_reproduction_name(const szg_reproduction *reproduction);
const char *szg_reproduction_about(const szg_reproduction *reproduction);
/* The preset file, as JSON. */
const char *szg_reproduction_preset(const szg_reproduction *reproduction);
int64_t szg_reproduction_count(const szg_reproduction *reproduction);
/* In the order in which they are trained. */
szg_reproduction_run szg_reproduction_run_at(const szg_reproduction *reproduction, int64_t index);

/* Trains (and ablates) what is not finished, in order, but a run that another one needs before it;
 * goes on where a killed process stopped. A run that intervenes on a head is left out, and a note
 * says so, if no head of the other run's layer costs accuracy. A run whose loss or gradient is not
 * finite has failed, as have those that need it: failed.json in its folder says so, it is not begun
 * again, and the others go on. SZG_OK then too: a note names it.
 * seconds: 0, or the time that this may take: a run that would not be finished in what is left of
 * it, at the rate of those before it, is not begun (unless it takes longer than the whole time),
 * and the run that the end of the time finds at work is saved. SZG_OK then too: a note says what is
 * left. Errors of szg_train_run, with the run's name; SZG_ECANCEL says how to go on. */
SZG_CHECK_RESULT szg_status szg_reproduction_train(szg_context *context,
                                                   szg_reproduction *reproduction, double seconds);

/* What the finished runs hold. The tables do not depend on how often the work was interrupted,
 * except `needs`, which holds timings. `szego judge` makes the tables that compare runs. */
typedef struct szg_reproduction_tables {
    szg_table *needs;    /* operations of this preset and of another one, hours at the rate measured
                            here */
    szg_table *items;    /* the paper's tables and figures: where they stand, what is missing */
    szg_table *settings; /* its Tables 3 and 4 beside the runs' configurations */
    szg_table *missing;  /* what has not run */
    szg_table *runs;     /* one row per finished run */
    szg_table *curves;   /* Figures 2 and 3: accuracy by epoch */
    szg_table *ablation; /* Figure 4 */
    szg_table *deposit;
    szg_table *contraction; /* captured logits by run; NULL: no run has capture.every */
    szg_table
        *length; /* accuracy on longer sequences, run by run; NULL: the preset asks for none */
} szg_reproduction_tables;

/* Floating-point operations a second of a few training steps at the sizes of the preset's first
 * run, 16 sequences each, timed now. */
SZG_CHECK_RESULT szg_status szg_reproduction_rate(szg_context *context,
                                                  const szg_reproduction *reproduction,
                                                  double *out);

/* other: NULL, or the preset that `needs` is told of as well, with szg_reproduction_rate of it (0:
 * not measured, the rate of the finished runs counts). */
SZG_CHECK_RESULT szg_status szg_reproduction_report(szg_context *context,
                                                    const szg_reproduction *reproduction,
                                                    const szg_reproduction *other, double rate,
                                                    szg_reproduction_tables *out);
void szg_reproduction_tables_close(szg_reproduction_tables *tables);

SZG_END_DECLS

#endif
