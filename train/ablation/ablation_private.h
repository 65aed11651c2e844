/* Parameters cut out of a model for a moment: ablation by weights. */
#ifndef SZG_TRAIN_ABLATION_PRIVATE_H
#define SZG_TRAIN_ABLATION_PRIVATE_H

#include "ablation.h"

#include "train/run/run_private.h"

/* szg_ablation_run with the variations of a layer (its heads, and all of them at once) in groups of
 * up to `copies`: the copies of one batch, which is smaller by that factor. */
SZG_CHECK_RESULT szg_status szgi_ablation_run_grouped(szg_context *context, szg_model *model,
                                                      const szg_examples *examples,
                                                      const szg_ablation_options *options,
                                                      int64_t copies, szg_ablation *out);

typedef struct weight_cut weight_cut;

/* SZG_EINVAL: the model has no parameters that the method cuts. */
SZG_CHECK_RESULT szg_status szgi_weight_cut_open(szg_context *context, szg_model *model,
                                                 szg_ablation_method method, weight_cut **out);
void szgi_weight_cut_close(szg_context *context, weight_cut **cut);

/* ROTATION: fills `spared` of a model that `config` describes; `begun`: its intervention, if it has
 * one, has. SZG_EINVAL: the encoding rotates nothing. Nothing for other methods. */
SZG_CHECK_RESULT szg_status szgi_ablation_spare(szg_context *context,
                                                const szg_train_config *config, bool begun,
                                                szg_ablation *out);

/* Heads 0 .. reach - 1 have something to cut; LATENT_COLUMNS is of mla's up-projections. */
int64_t szgi_ablation_reach(const szg_model_config *model, szg_ablation_method method);

/* Zeroes what belongs to a head of a layer (place = heads: to all of them); restore puts it back.
 */
SZG_CHECK_RESULT szg_status szgi_weight_cut_apply(szg_context *context, weight_cut *cut,
                                                  int64_t layer, int64_t place);
SZG_CHECK_RESULT szg_status szgi_weight_cut_restore(szg_context *context, weight_cut *cut);

#endif
