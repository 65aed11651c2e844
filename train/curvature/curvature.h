/* The curvature of the training loss at steps of a run: the largest eigenvalue of the Hessian, as
 * it is and preconditioned by AdamW. */
#ifndef SZG_TRAIN_CURVATURE_H
#define SZG_TRAIN_CURVATURE_H

#include "formats/examples.h"
#include "train/decoder/decoder.h"

/* Whether a step of a run is one that curvature.* names. */
bool szgi_curvature_measures(const szg_curvature_config *config, int64_t step);

typedef struct szgi_curvature szgi_curvature;

/* For a run's model on the first examples of `train`, padded to `length`; `seed` draws what Lanczos
 * begins with. SZG_EBACKEND: the backend records its steps, and this was not tried there. Errors of
 * szgi_batch_fill and szgi_decoder_open. */
SZG_CHECK_RESULT szg_status szgi_curvature_open(szg_context *context, const szg_model *model,
                                                const szg_examples *train, int64_t length,
                                                uint64_t seed, szgi_curvature **out);
void szgi_curvature_close(szg_context *context, szgi_curvature **curvature);

/* An empty table `curvature`, and its row for a model with whose parameters `step` steps are done;
 * moment2: AdamW's. Nothing of the model changes. */
SZG_CHECK_RESULT szg_status szgi_curvature_table(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_curvature_add(szg_context *context, szgi_curvature *curvature,
                                               const szg_model *model, const void *moment2,
                                               int64_t step, szg_table *table);

#endif
