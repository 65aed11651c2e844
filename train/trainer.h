/* One step of training and its memory. */
#ifndef SZG_TRAIN_TRAINER_H
#define SZG_TRAIN_TRAINER_H

#include "run_private.h"

/* In the backend's memory: what a step reads and what it reports. */
typedef struct step_record {
    szg_step_block block;
    szg_tally tally; /* since the epoch's begin */
} step_record;

typedef struct trainer {
    const szg_train_config *config;
    const szg_dataset *data;
    uint64_t seed;
    int64_t epoch_steps, total; /* steps of an epoch, of all epochs */
    int64_t length;             /* positions of a sequence, padding included */
    szg_model *model;
    szg_decoder *decoder;
    void *gradient, *moment1, *moment2;
    step_record *record;
    batch_arrays arrays;
    szg_batch batch; /* of the latest step */
    int64_t *order, order_epoch;
    int64_t saved;        /* the step of the latest checkpoint; -1: none; kept by the run */
    szg_capture *capture; /* NULL: none; opened by the run */
} trainer;

/* Parameters and moments are zeros. */
SZG_CHECK_RESULT szg_status trainer_open(szg_context *context, const szg_train_options *options,
                                         trainer *out);
void trainer_close(szg_context *context, trainer *self);

SZG_CHECK_RESULT szg_status trainer_set_tally(szg_context *context, trainer *self,
                                              const szg_tally *tally);

/* Step `step`: forward, backward, update. captured: NULL, or receives the logits' report, whose
 * time is added to *capture_seconds. *tally: the epoch's so far. SZG_EDATA: loss or gradients not
 * finite; parameters are then those before the step. */
SZG_CHECK_RESULT szg_status trainer_step(szg_context *context, trainer *self, int64_t step,
                                         szg_contraction_tables *captured, double *capture_seconds,
                                         szg_tally *tally);

/* Tokens of the latest batch, padding not counted. */
int64_t trainer_batch_tokens(const trainer *self);

#endif
