/* Steps of training and their memory. A window is one or more steps of an epoch that the backend is
 * given at once; the host waits at its end. */
#ifndef SZG_TRAIN_TRAINER_H
#define SZG_TRAIN_TRAINER_H

#include "train/data/resident.h"
#include "run_private.h"

enum { TRAINER_WINDOW = 32 }; /* steps at most */

/* In the backend's memory: what a step reads and what it reports. */
typedef struct step_record {
    szgi_step_block block;
    szgi_tally tally; /* since the epoch's begin */
} step_record;

/* In the backend's memory: the steps of a window, uploaded at once. */
typedef struct step_window {
    int64_t at; /* of the next */
    szgi_step_block blocks[TRAINER_WINDOW];
} step_window;

/* Steps with the same number of examples: the backend is given the first one operation by
 * operation, the second is recorded where it can, and from then on replayed. */
typedef struct step_shape {
    bool ran;
    void *recording; /* NULL: none yet */
} step_shape;

typedef struct trainer {
    const szg_train_config *config;
    const szg_dataset *data;
    uint64_t seed;
    int64_t epoch_steps, total; /* steps of an epoch, of all epochs */
    int64_t begins;             /* steps after which the intervention begins */
    int64_t length;             /* positions of a sequence, padding included */
    szg_model *model;
    szgi_decoder *decoder;
    void *gradient, *moment1, *moment2;
    step_record *record;
    step_window *window;
    resident_set set;
    step_shape shape[2]; /* whole batches; the rest at an epoch's end */
    int64_t *order, order_epoch;
    int64_t first, count; /* steps of the latest window */
    double pace;          /* seconds a step, of the latest window; 0: none yet */
    int64_t saved;        /* the step of the latest checkpoint; -1: none; kept by the run */
    bool lost;            /* numbers were not finite when lost_at steps were done */
    int64_t lost_at;
    szgi_capture *capture; /* NULL: none; opened by the run */
} trainer;

/* Parameters and moments are zeros. SZG_EDATA: an example that the model does not take. */
SZG_CHECK_RESULT szg_status szgi_trainer_open(szg_context *context,
                                              const szg_train_options *options, trainer *out);
void szgi_trainer_close(szg_context *context, trainer *self);

SZG_CHECK_RESULT szg_status szgi_trainer_set_tally(szg_context *context, trainer *self,
                                                   const szgi_tally *tally);

/* So many steps are done: the intervention begins, or has begun, where it is due. The run says so
 * at its start; afterwards the steps themselves do. */
SZG_CHECK_RESULT szg_status szgi_trainer_reach(szg_context *context, trainer *self, int64_t step);

/* Steps that a window may have now: 1 where the backend does not record, else what it does in some
 * half a second, so that a cancellation is seen soon. */
int64_t szgi_trainer_room(szg_context *context, const trainer *self);

/* Steps first .. first + count - 1 of one epoch, count <= TRAINER_WINDOW, all before or all after
 * the intervention begins: forward, backward, update. *tally: the epoch's so far. SZG_EDATA: loss
 * or gradients not finite; parameters are then those before that step. */
SZG_CHECK_RESULT szg_status szgi_trainer_steps(szg_context *context, trainer *self, int64_t first,
                                               int64_t count, szgi_tally *tally);

/* One step. captured: NULL, or receives the logits' report, whose time is added to
 * *capture_seconds. */
SZG_CHECK_RESULT szg_status szgi_trainer_step(szg_context *context, trainer *self, int64_t step,
                                              szg_contraction_tables *captured,
                                              double *capture_seconds, szgi_tally *tally);

/* Tokens of the latest window, padding not counted. */
int64_t szgi_trainer_batch_tokens(const trainer *self);

#endif
