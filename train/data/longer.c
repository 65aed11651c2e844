/* Sequences of one length, longer than those of training or as long. */
#include <inttypes.h>

#include "base/memory.h"
#include "formats/examples.h"

#include "longer.h"
#include "running_mean.h"
#include "tasks_private.h"

enum { A_REPORT = 1024 };

szg_status szgi_longer_check(szg_context *context, const szg_train_config *config, int64_t words) {
    const szg_data_config *data = &config->data;
    if (*data->train_file || data->task != SZG_TASK_DISTANCE)
        return szgi_fail(context, SZG_EINVAL,
                         "longer sequences of training distances are made for the task distance "
                         "alone: leave data.train_file empty and set data.task=distance");
    int64_t least = data->between_max + 2 + 2 * data->side_min;
    if (words < least || words > 65536)
        return szgi_fail(context, SZG_EINVAL,
                         "sequences of %" PRId64 " words: data.between_max=%" PRId64
                         ", two triggers and data.side_min=%" PRId64 " on both sides allow %" PRId64
                         " .. 65536",
                         words, data->between_max, data->side_min, least);
    int64_t fillers = config->model.vocabulary - (data->clean_labels ? 3 : 1);
    int64_t side = words - 2 - data->between_min - data->side_min;
    if (side > fillers)
        return szgi_fail(context, SZG_EINVAL,
                         "sequences of %" PRId64 " words: up to %" PRId64
                         " on a side without replacement, but model.vocabulary=%" PRId64
                         " has %" PRId64 " fillers: raise it",
                         words, side, config->model.vocabulary, fillers);
    return SZG_OK;
}

/* Open and enlarged, with the triggers of training and random numbers of its own. */
static szg_status open_generator(szg_context *context, const szg_train_config *config,
                                 int64_t words, task_generator *out) {
    SZG_TRY(szgi_task_open(context, config, TASK_EXAMPLES, out));
    out->purpose = TASK_LONGER;
    szg_status status = szgi_task_enlarge(context, out, words);
    if (status != SZG_OK)
        szgi_task_close(out);
    return status;
}

static szg_status make(szg_context *context, task_generator *generator, task_range range,
                       int64_t count, szg_examples *out) {
    for (int64_t e = 0; e < count; e++) {
        szgi_task_make(generator, e, range);
        SZG_TRY(
            szgi_examples_add(context, out, generator->count, generator->tokens, generator->label));
        if (e % A_REPORT == 0)
            SZG_TRY(szgi_context_check_cancel(context));
    }
    return SZG_OK;
}

/* Over the texts themselves: nothing is drawn for it. */
static szg_status find_ceiling(szg_context *context, const task_generator *generator,
                               task_range range, const szg_examples *examples, double *out) {
    ceiling_scratch scratch;
    running_mean mean = {0};
    SZG_TRY(szgi_ceiling_open(context, generator->data, range, generator->words, &scratch));
    for (int64_t e = 0; e < examples->count; e++)
        mean_take(&mean, szgi_ceiling_largest(&scratch, generator->data, generator->trigger,
                                              examples->start[e + 1] - examples->start[e],
                                              examples->tokens + examples->start[e]));
    szgi_ceiling_close(&scratch);
    *out = mean_of(&mean);
    return SZG_OK;
}

szg_status szgi_longer_examples(szg_context *context, const szg_train_config *config, int64_t words,
                                int64_t count, szg_examples *out, double *ceiling) {
    const szg_data_config *data = &config->data;
    const task_range range = {data->between_min, data->between_max, 0, words};
    task_generator generator;
    *out = (szg_examples){0};
    SZG_TRY(szgi_longer_check(context, config, words));
    SZG_TRY(szgi_memory_require(context, count, words, 2 * sizeof *out->tokens,
                                "examples of longer sequences", "ask for fewer"));
    SZG_TRY(open_generator(context, config, words, &generator));
    szg_status status = make(context, &generator, range, count, out);
    if (status == SZG_OK && ceiling)
        status = find_ceiling(context, &generator, range, out, ceiling);
    szgi_task_close(&generator);
    if (status != SZG_OK)
        szg_examples_close(out);
    return status;
}
