/* From a configuration to the examples of both splits. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "formats/examples.h"

#include "tasks_private.h"

enum { A_REPORT = 1024, MOST_CLASSES = 1 << 24 };

void szg_dataset_close(szg_dataset *dataset) {
    if (!dataset)
        return;
    szg_examples_close(&dataset->train);
    szg_examples_close(&dataset->test);
    *dataset = (szg_dataset){0};
}

/* Examples of the first part; at least one of `count` >= 2 on either side. */
static int64_t train_count(const szg_data_config *data, int64_t count) {
    int64_t train = llround(data->train_part * (double)count);
    return train < 1 ? 1 : train < count ? train : count - 1;
}

static szg_status add_one(szg_context *context, const szg_examples *from, int64_t e,
                          szg_examples *to) {
    return szgi_examples_add(context, to, from->start[e + 1] - from->start[e],
                             from->tokens + from->start[e], from->label[e]);
}

/* order[0 .. count-1] in a random order (Fisher and Yates). */
static void shuffle(uint64_t seed, int64_t count, int64_t *order) {
    szgi_stream stream = {.seed = seed, .purpose = TASK_SPLIT};
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = szgi_random_below(&stream, (uint64_t)i, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* The examples order[..], those below `train` (in the set, not in `order`) or the first `first` of
 * the order to one split, the others to the other. */
static szg_status deal(szg_context *context, const szg_examples *all, const int64_t *order,
                       int64_t count, int64_t first, int64_t train, szg_dataset *out) {
    for (int64_t i = 0; i < count; i++) {
        szg_examples *to = i < first || order[i] < train ? &out->train : &out->test;
        SZG_TRY(add_one(context, all, order[i], to));
        if (i % A_REPORT == 0)
            SZG_TRY(szgi_context_check_cancel(context));
    }
    return SZG_OK;
}

static szg_status generate(szg_context *context, const szg_train_config *config, int64_t train,
                           szg_examples *all) {
    const szg_data_config *data = &config->data;
    task_generator generator;
    SZG_TRY(szgi_task_open(context, config, TASK_EXAMPLES, &generator));
    szg_status status = SZG_OK;
    for (int64_t e = 0; e < data->examples && status == SZG_OK; e++) {
        szgi_task_make(&generator, e,
                       e < train ? szgi_task_train_range(data) : szgi_task_test_range(data));
        status =
            szgi_examples_add(context, all, generator.count, generator.tokens, generator.label);
        if (e % A_REPORT == 0 && status == SZG_OK) {
            szgi_progress(context, "making examples", e, data->examples);
            status = szgi_context_check_cancel(context);
        }
    }
    szgi_progress(context, "making examples", data->examples, data->examples);
    szgi_task_close(&generator);
    return status;
}

/* Without duplicates, then split; where the test split has a range of its own, the examples are
 * dealt as they were made. */
static szg_status split_task(szg_context *context, const szg_data_config *data,
                             const szg_examples *all, int64_t train, int64_t *order,
                             szg_dataset *out) {
    int64_t count;
    bool apart = szgi_task_splits_differ(data);
    SZG_TRY(szgi_task_unique(context, all, TASK_SAME_EXAMPLE, order, &count));
    out->duplicates = all->count - count;
    if (!apart && count >= 2) {
        shuffle(data->seed, count, order);
        SZG_TRY(deal(context, all, order, count, train_count(data, count), 0, out));
    } else {
        SZG_TRY(deal(context, all, order, count, 0, train, out));
    }
    if (out->train.count > 0 && out->test.count > 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "data.examples=%" PRId64 ": %" PRId64
                     " distinct examples are too few to train and to test on: raise data.examples, "
                     "model.vocabulary or the lengths",
                     data->examples, count);
}

static szg_status open_task(szg_context *context, const szg_train_config *config,
                            szg_dataset *out) {
    const szg_data_config *data = &config->data;
    int64_t words = data->test_words > data->words ? data->test_words : data->words;
    int64_t longest = data->task == SZG_TASK_DISTANCE ? data->longest : words;
    int64_t train = train_count(data, data->examples), *order = NULL;
    szg_examples all = {0};
    SZG_TRY(szgi_memory_require(context, data->examples, longest + 8, 4 * sizeof *all.tokens,
                                "the task's examples", "lower data.examples"));
    szg_status status;
    SZG_TRY_GOTO(status, generate(context, config, train, &all), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, all.count, &order), done);
    status = split_task(context, data, &all, train, order, out);
done:
    szgi_memory_free(order);
    szg_examples_close(&all);
    return status;
}

/* What the model cannot take is refused here, with the file's name. */
static szg_status check_file(szg_context *context, const szg_train_config *config, const char *path,
                             const szg_examples *examples) {
    const szg_model_config *model = &config->model;
    if (examples->largest_token >= model->vocabulary)
        return szgi_fail(context, SZG_EDATA,
                         "%s: token %" PRId32 " is outside the words 1 .. %" PRId64
                         ": raise model.vocabulary",
                         path, examples->largest_token, model->vocabulary - 1);
    for (int64_t i = 0; i < examples->count; i++)
        if (examples->start[i + 1] - examples->start[i] > model->max_length)
            return szgi_fail(
                context, SZG_EDATA,
                "%s: example %" PRId64 " (from 1): a sequence of %" PRId64
                " tokens exceeds model.max_length=%" PRId64 ": raise it, or shorten the sequence",
                path, i + 1, examples->start[i + 1] - examples->start[i], model->max_length);
    if (examples->largest_label >= MOST_CLASSES)
        return szgi_fail(context, SZG_EDATA,
                         "%s: label %" PRId32 " is beyond the %d classes that a model may have: "
                         "number the labels from 0 on",
                         path, examples->largest_label, MOST_CLASSES);
    if (model->classes == SZG_CLASSES_VOCABULARY && examples->largest_label >= model->vocabulary)
        return szgi_fail(context, SZG_EDATA,
                         "%s: label %" PRId32 " is outside the %" PRId64
                         " classes of model.classes=vocabulary: set model.classes=labels",
                         path, examples->largest_label, model->vocabulary);
    return SZG_OK;
}

static szg_status read_file(szg_context *context, const szg_train_config *config, const char *path,
                            szg_examples *out) {
    SZG_TRY(szg_examples_read(context, path, out));
    return check_file(context, config, path, out);
}

/* The first of equal examples, into `order`. A text in both splits would be tested on after
 * training on it: an example that is there again is left out, said; one text with several labels is
 * refused. */
static szg_status keep_distinct(szg_context *context, const char *path, const szg_examples *all,
                                int64_t *order, int64_t *count) {
    int64_t texts;
    SZG_TRY(szgi_task_unique(context, all, TASK_SAME_TEXT, order, &texts));
    SZG_TRY(szgi_task_unique(context, all, TASK_SAME_EXAMPLE, order, count));
    if (texts < *count)
        return szgi_fail(context, SZG_EDATA,
                         "%s: texts repeated with another label: %" PRId64
                         "; the split would test on texts that it trains on: give each text one "
                         "label, or split the file yourself and give data.test_file too",
                         path, *count - texts);
    if (*count < 2)
        return szgi_fail(context, SZG_EDATA, "%s: %s cannot be split: give data.test_file too",
                         path, all->count > 1 ? "copies of one example" : "one example");
    if (*count < all->count)
        szgi_say(context, SZG_WARNING,
                 "%s: %" PRId64 " of %" PRId64 " examples equal an earlier one and are left out: "
                 "otherwise a text could be in both splits",
                 path, all->count - *count, all->count);
    return SZG_OK;
}

/* One file, split by the seed. */
static szg_status split_file(szg_context *context, const szg_train_config *config,
                             const szg_examples *all, szg_dataset *out) {
    const szg_data_config *data = &config->data;
    int64_t *order, count = 0;
    SZG_TRY(szgi_memory_alloc(context, all->count, &order));
    szg_status status = keep_distinct(context, data->train_file, all, order, &count);
    if (status == SZG_OK) {
        out->duplicates = all->count - count;
        shuffle(data->seed, count, order);
        status = deal(context, all, order, count, train_count(data, count), 0, out);
    }
    szgi_memory_free(order);
    return status;
}

static szg_status open_files(szg_context *context, const szg_train_config *config,
                             szg_dataset *out) {
    const szg_data_config *data = &config->data;
    if (data->test_file[0]) {
        SZG_TRY(read_file(context, config, data->train_file, &out->train));
        return read_file(context, config, data->test_file, &out->test);
    }
    szg_examples all = {0};
    szg_status status = read_file(context, config, data->train_file, &all);
    if (status == SZG_OK)
        status = split_file(context, config, &all, out);
    szg_examples_close(&all);
    return status;
}

szg_status szg_dataset_open(szg_context *context, const szg_train_config *config,
                            szg_dataset *out) {
    *out = (szg_dataset){0};
    SZGI_ENTER(context);
    SZG_TRY(szg_train_config_check(context, config));
    szg_status status = config->data.train_file[0] ? open_files(context, config, out)
                                                   : open_task(context, config, out);
    if (status != SZG_OK) {
        szg_dataset_close(out);
        return status;
    }
    int32_t label = out->train.largest_label;
    out->classes = 1 + (int64_t)(label > out->test.largest_label ? label : out->test.largest_label);
    return SZG_OK;
}
