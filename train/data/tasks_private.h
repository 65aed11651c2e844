/* The generator of the tasks' examples, and what the ceiling shares with it. */
#ifndef SZG_TRAIN_TASKS_PRIVATE_H
#define SZG_TRAIN_TASKS_PRIVATE_H

#include "base/random.h"
#include <szego/tasks.h>

/* What random numbers are for. */
enum {
    TASK_EXAMPLES = 0x54524E03,
    TASK_SPLIT = 0x54524E04,
    TASK_CEILING = 0x54524E07,
    TASK_LONGER = 0x54524E08
};

/* Bounds of the words between the triggers; count: words a sequence. */
typedef struct task_range {
    int64_t least, most, words;
    int64_t length; /* distance: every sequence has so many words, and the triggers stand anywhere
                       in it; 0: both sides have data.side_min .. data.side_max words */
} task_range;

typedef struct task_generator {
    const szg_data_config *data;
    uint32_t purpose;
    int64_t words;    /* vocabulary - 1 */
    int64_t triggers; /* distance: 2, the first one always comes first */
    int32_t *trigger;
    int64_t fillers;
    int32_t *filler; /* the words that are drawn around the triggers */
    int64_t *swap;   /* [longest segment]: undoes a draw without replacement */
    int32_t *tokens; /* [longest sequence]: the example made last */
    int64_t count;
    int32_t label;
} task_generator;

/* Draws the triggers of the set. config outlives the generator. */
SZG_CHECK_RESULT szg_status szgi_task_open(szg_context *context, const szg_train_config *config,
                                           uint32_t purpose, task_generator *out);
void szgi_task_close(task_generator *generator);

/* Room for sequences of `words` words. */
SZG_CHECK_RESULT szg_status szgi_task_enlarge(szg_context *context, task_generator *generator,
                                              int64_t words);

/* Makes example `index` of the set: it depends on seed, purpose, index and range alone. */
void szgi_task_make(task_generator *generator, int64_t index, task_range range);

/* The ranges of the training and of the test split. */
task_range szgi_task_train_range(const szg_data_config *data);
task_range szgi_task_test_range(const szg_data_config *data);
/* Whether the test split has a range of its own. */
bool szgi_task_splits_differ(const szg_data_config *data);

/* What makes two examples equal. */
typedef enum task_equality { TASK_SAME_EXAMPLE, TASK_SAME_TEXT } task_equality;

/* Keeps the first of equal examples (tokens and label, or tokens alone): `count` indices in `kept`,
 * which has room for examples->count. */
SZG_CHECK_RESULT szg_status szgi_task_unique(szg_context *context, const szg_examples *examples,
                                             task_equality equality, int64_t *kept, int64_t *count);

/* ceiling.c: the largest posterior probability of a label of the distance task, given the text
 * and the ordered pair of triggers; see there. */
typedef struct ceiling_scratch {
    task_range range;
    double *log_falling; /* [k]: log of words (words - 1) .. (words - k + 1) */
    int64_t *seen;       /* [words + 1]: stamp of the segment that held the word last */
    int64_t stamp;
    double *label_weight; /* [range.most + 2] */
} ceiling_scratch;
SZG_CHECK_RESULT szg_status szgi_ceiling_open(szg_context *context, const szg_data_config *data,
                                              task_range range, int64_t words,
                                              ceiling_scratch *out);
void szgi_ceiling_close(ceiling_scratch *scratch);
double szgi_ceiling_largest(ceiling_scratch *scratch, const szg_data_config *data,
                            const int32_t trigger[2], int64_t count, const int32_t *tokens);

#endif
