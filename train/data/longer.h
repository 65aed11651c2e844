/* Test examples of the distance task in longer sequences: distances of training, at any place. */
#ifndef SZG_TRAIN_LONGER_H
#define SZG_TRAIN_LONGER_H

#include <szego/examples.h>
#include <szego/train_config.h>

/* Whether sequences of `words` words can be made. SZG_EINVAL, with the keys: data from files,
 * another task, too few words for the longest distance, too few fillers for the longest side. */
SZG_CHECK_RESULT szg_status szgi_longer_check(szg_context *context, const szg_train_config *config,
                                              int64_t words);

/* `count` examples of `words` words each. The triggers are those of the training split, in its
 * order, and the words between them are data.between_min .. data.between_max, uniform. The first
 * trigger's place is uniform among those that leave data.side_min words on either side. Each
 * segment is drawn as in training. Example e depends on data.seed, e and `words` alone: with the
 * same e its distance is the same at every length. An example longer than data.longest can be none
 * of training; others are not compared with it. ceiling: NULL, or the mean over these texts of the
 * largest posterior probability of a label, as szg_task_label_ceiling has it. */
SZG_CHECK_RESULT szg_status szgi_longer_examples(szg_context *context,
                                                 const szg_train_config *config, int64_t words,
                                                 int64_t count, szg_examples *out, double *ceiling);

#endif
