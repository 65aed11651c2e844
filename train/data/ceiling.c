/* The best accuracy on the distance task.
 *
 * A classifier that knows how the texts are made (sizes, ordered pair of triggers A, B, lengths)
 * has the posterior distribution of the label as all there is to know; naming its mode is best, and
 * right with probability max_label P(label | text) (Bayes). The ceiling is the mean of that over
 * texts. A text of n words is explained by every pair of positions p < q with A at p and B at q
 * whose three segments have allowed lengths and no word twice; such a pair has the likelihood
 * 1 / [(W)_p (W)_{q-p-1} (W)_{n-1-q}], (W)_k = W (W-1) .. (W-k+1), as each segment is drawn without
 * replacement from all W words, and lengths are uniform. A text that was cut had a last segment of
 * any allowed length from what is seen on: as many lengths, as many times the likelihood.
 *
 * Where a range gives the length of every text, the first segment has any length that leaves both
 * sides data.side_min words, each as likely: fewer of them where the middle one is longer. */
#include <math.h>

#include "base/memory.h"

#include "running_mean.h"
#include "tasks_private.h"

enum { SAMPLES = 1 << 16, A_REPORT = 1024 };

szg_status szgi_ceiling_open(szg_context *context, const szg_data_config *data, task_range range,
                             int64_t words, ceiling_scratch *out) {
    int64_t most = range.most, side = range.length > 0 ? range.length : data->side_max,
            segment = most > side ? most : side;
    *out = (ceiling_scratch){.range = range};
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, segment + 1, &out->log_falling), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, words + 1, &out->seen), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, most + 2, &out->label_weight), fail);
    for (int64_t k = 0; k < segment; k++)
        out->log_falling[k + 1] = out->log_falling[k] + log((double)(words - k));
    return SZG_OK;
fail:
    szgi_ceiling_close(out);
    return status;
}

void szgi_ceiling_close(ceiling_scratch *scratch) {
    szgi_memory_free(scratch->log_falling);
    szgi_memory_free(scratch->seen);
    szgi_memory_free(scratch->label_weight);
    *scratch = (ceiling_scratch){0};
}

static bool distinct(ceiling_scratch *scratch, const int32_t *tokens, int64_t count) {
    scratch->stamp++;
    for (int64_t i = 0; i < count; i++) {
        if (scratch->seen[tokens[i]] == scratch->stamp)
            return false;
        scratch->seen[tokens[i]] = scratch->stamp;
    }
    return true;
}

/* How many lengths of the last segment show `seen` words of it. */
static int64_t last_lengths(const szg_data_config *data, bool cut, int64_t seen) {
    int64_t least = seen > data->side_min ? seen : data->side_min;
    int64_t most = cut ? data->side_max : seen;
    return most < least || most > data->side_max ? 0 : most - least + 1;
}

/* The chance of these lengths of the three segments, up to what all pairs share; 0: they cannot be.
 */
static double chance_of(const szg_data_config *data, task_range range, int64_t count, int64_t p,
                        int64_t q) {
    int64_t middle = q - p - 1, last = count - 1 - q;
    if (p < data->side_min || middle < range.least || middle > range.most)
        return 0;
    if (range.length > 0)
        return last < data->side_min
                   ? 0
                   : 1 / (double)(range.length - 2 - middle - 2 * data->side_min + 1);
    return p > data->side_max ? 0 : (double)last_lengths(data, count == data->longest, last);
}

/* The logarithm of the likelihood of triggers at p and q, up to what all pairs share; -infinity
 * where they cannot be. */
static double log_weight(ceiling_scratch *scratch, const szg_data_config *data, int64_t count,
                         const int32_t *tokens, int64_t p, int64_t q) {
    int64_t middle = q - p - 1, last = count - 1 - q;
    double chance = chance_of(data, scratch->range, count, p, q);
    if (chance == 0)
        return -INFINITY;
    if (!distinct(scratch, tokens, p) || !distinct(scratch, tokens + p + 1, middle) ||
        !distinct(scratch, tokens + q + 1, last))
        return -INFINITY;
    return log(chance) - scratch->log_falling[p] - scratch->log_falling[middle] -
           scratch->log_falling[last];
}

double szgi_ceiling_largest(ceiling_scratch *scratch, const szg_data_config *data,
                            const int32_t trigger[2], int64_t count, const int32_t *tokens) {
    double *weight = scratch->label_weight, base = -INFINITY, sum = 0, largest = 0;
    int64_t most = scratch->range.most;
    for (int64_t label = 0; label <= most + 1; label++)
        weight[label] = 0;
    for (int64_t p = 0; p < count; p++)
        for (int64_t q = p + 1; tokens[p] == trigger[0] && q < count; q++) {
            double own = tokens[q] == trigger[1] ? log_weight(scratch, data, count, tokens, p, q)
                                                 : -INFINITY;
            if (own == -INFINITY)
                continue;
            if (base == -INFINITY)
                base = own;
            weight[q - p] += exp(own - base);
        }
    for (int64_t label = 1; label <= most + 1; label++) {
        sum += weight[label];
        if (weight[label] > largest)
            largest = weight[label];
    }
    return largest / sum;
}

/* Mean and standard error over texts of a stream of their own. */
static szg_status estimate(szg_context *context, const szg_train_config *config,
                           task_generator *generator, szg_label_ceiling *out) {
    const szg_data_config *data = &config->data;
    ceiling_scratch scratch;
    SZG_TRY(
        szgi_ceiling_open(context, data, szgi_task_test_range(data), generator->words, &scratch));
    running_mean lost = {0};
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < SAMPLES && status == SZG_OK; i++) {
        szgi_task_make(generator, i, szgi_task_test_range(data));
        mean_take(&lost, 1 - szgi_ceiling_largest(&scratch, data, generator->trigger,
                                                  generator->count, generator->tokens));
        if (i % A_REPORT == 0) {
            szgi_progress(context, "label ceiling", i, SAMPLES);
            status = szgi_context_check_cancel(context);
        }
    }
    szgi_progress(context, "label ceiling", SAMPLES, SAMPLES);
    szgi_ceiling_close(&scratch);
    out->accuracy = 1 - mean_of(&lost);
    out->error = spread_of(&lost) / sqrt(SAMPLES);
    out->method = "mean over 65536 drawn texts of the largest posterior probability of a label, "
                  "given the ordered triggers";
    return status;
}

szg_status szg_task_label_ceiling(szg_context *context, const szg_train_config *config,
                                  szg_label_ceiling *out) {
    SZGI_ENTER(context);
    SZG_TRY(szg_train_config_check(context, config));
    *out = (szg_label_ceiling){.accuracy = 1, .method = "exact: the text shows the label"};
    if (config->data.train_file[0])
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: the label ceiling is known for the tasks only, not for a file",
                         config->data.train_file);
    if (config->data.task == SZG_TASK_COUNT || config->data.clean_labels)
        return SZG_OK;
    task_generator generator;
    SZG_TRY(szgi_task_open(context, config, TASK_CEILING, &generator));
    szg_status status = estimate(context, config, &generator, out);
    szgi_task_close(&generator);
    return status;
}
