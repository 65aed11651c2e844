/* The paper's two tasks as generators, the split, and the accuracy nobody can exceed. */
#ifndef SZEGO_TASKS_H
#define SZEGO_TASKS_H

#include <szego/examples.h>
#include <szego/train_config.h>

SZG_BEGIN_DECLS

/* Examples for training and for testing. Words are 1 .. vocabulary - 1. */
typedef struct szg_dataset {
    szg_examples train, test;
    int64_t duplicates; /* removed */
    int64_t classes;    /* largest label of both + 1 */
} szg_dataset;

void szg_dataset_close(szg_dataset *dataset);

/* Generates the task, or reads its files, and splits. Depends on config->data and
 * config->model.vocabulary alone, not on threads. Task distance: one ordered pair of distinct
 * triggers for the set, the first always before the second; label = words between + 1; the segments
 * before, between and after them each without replacement from the whole vocabulary; cut at
 * data.longest. Task count: the label, uniform on 0 .. count_max, is the number of words of a fixed
 * set of triggers (with replacement); the rest are others, with replacement; shuffled. Examples
 * that equal an earlier one in tokens and label are removed, then a shuffle by data.seed splits.
 * With a test range of its own (data.test_between_max, data.test_words) each split is made in its
 * own range. Files: data.test_file, or the part of data.train_file that the same shuffle leaves to
 * test, from which examples that equal an earlier one are removed, with a warning; two given files
 * are taken as they are. SZG_EINVAL: as szg_train_config_check, or too few distinct examples to
 * split; SZG_EDATA, SZG_EIO: a file, one that the model cannot take, one file to split with several
 * labels for a text; SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szg_dataset_open(szg_context *context, const szg_train_config *config,
                                             szg_dataset *out);

/* The best accuracy that any classifier can have on a task's test split in expectation: fillers may
 * be triggers, so that some labels cannot be told from the text. The classifier knows the ordered
 * triggers and how texts are made; duplicates are not removed. */
typedef struct szg_label_ceiling {
    double accuracy;
    double error;       /* standard error of a Monte Carlo estimate; 0: exact */
    const char *method; /* what was computed, one clause */
} szg_label_ceiling;

/* SZG_EDOMAIN: the data come from files, nothing is known about them. */
SZG_CHECK_RESULT szg_status szg_task_label_ceiling(szg_context *context,
                                                   const szg_train_config *config,
                                                   szg_label_ceiling *out);

SZG_END_DECLS

#endif
