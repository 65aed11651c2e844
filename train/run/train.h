/* What the house alone uses of <szego/train.h>. */
#ifndef SZEGO_TRAIN_TRAIN_H
#define SZEGO_TRAIN_TRAIN_H

#include <szego/train.h>
#include "train/decoder/decoder.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Writes NAME.safetensors alone. */
SZG_CHECK_RESULT szg_status szgi_model_save(szg_context *context, const szg_model *model,
                                            const char *path, uint64_t seed, int64_t step);

/* As szg_train_run. *lost_at: the steps that were done when loss or gradient were not finite, which
 * SZG_EDATA is about; -1: it is about something else, or there is no failure. */
SZG_CHECK_RESULT szg_status szgi_train_run(szg_context *context, const szg_train_options *options,
                                           szg_train_result *out, int64_t *lost_at);

/* Steps of an epoch, and the learning rate of step 0 .. total - 1: rate step / warmup below warmup
 * = floor(loop->warmup * total), rate (1 + cos(pi (step - warmup) / (total - warmup))) / 2 from
 * there.
 */
int64_t szgi_train_epoch_steps(const szg_loop_config *loop, int64_t examples);
double szgi_train_learning_rate(const szg_loop_config *loop, int64_t step, int64_t total);

/* Loss, counted and correct examples of a set, by an evaluation decoder of its own. logits: NULL or
 * [count][classes]. */
SZG_CHECK_RESULT szg_status szgi_train_evaluate(szg_context *context, szg_model *model,
                                                const szg_examples *examples, szgi_tally *tally,
                                                double *logits);

/* Batch of examples order[0 .. count-1] (NULL: 0 ..) on the host, padded to `length`; SZG_EDATA: a
 * token beyond the vocabulary, a label beyond the classes, a sequence longer than `length`. tokens
 * [count * length], lengths, labels [count] are the caller's; labels NULL: they are neither wanted
 * nor looked at. */
SZG_CHECK_RESULT szg_status szgi_batch_fill(szg_context *context, const szg_examples *examples,
                                            const int64_t *order, int64_t count, int64_t length,
                                            int64_t vocabulary, int64_t classes, int32_t *tokens,
                                            int32_t *lengths, int32_t *labels);

/* Calls `visit` for each run-* in `folder` that has a checkpoint, in the order of their numbers.
 * None where the folder is a run itself, or no folder. Errors of `visit` end it. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_runs(szg_context *context, const char *folder,
                                                 szg_status visit(szg_context *context,
                                                                  const char *run, void *user),
                                                 void *user);

SZGI_END_DECLS

#endif
