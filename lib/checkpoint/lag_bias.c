#include "lag_bias.h"

#include <math.h>

#include "base/memory.h"
#include "fold.h"
#include "lag_weight.h"
#include "problem.h"

/* ---- The biases ---- */

/* T5's row of a lag: one a lag below a half of the rows, then by the logarithm up to `distance`.
 * Where queries see later keys, those have the second half of the table. In single precision, as
 * models are run: it decides at some lags. Raffel et al. 2020, section 2.1. */
static int64_t bucket_of(int64_t lag, bool both, int64_t rows, int64_t distance) {
    int64_t half = both ? rows / 2 : rows, exact = half / 2, base = lag < 0 ? half : 0;
    int64_t size = lag < 0 ? -lag : lag;
    if (size < exact)
        return base + size;
    float step = logf((float)size / (float)exact) / (float)log((double)distance / (double)exact) *
                 (float)(half - exact);
    return base + (step < (float)(half - exact) ? exact + (int64_t)step : half - 1);
}

/* A slope is 2^(-most h / n) for the heads h = 1 .. n, n a power of two; further ones have those in
 * between. Press et al. 2022. */
static double slope_of(const szg_checkpoint *checkpoint, int64_t head) {
    int64_t n = 1;
    while (2 * n <= checkpoint->heads)
        n *= 2;
    double step = head < n ? (double)(head + 1) : (double)(2 * (head - n) + 1) / 2;
    bool falcon = checkpoint->family->skips == SKIP_ALIBI; /* adds it before the scale */
    return exp2(-checkpoint->alibi_most * step / (double)n) *
           (falcon ? checkpoint->layer[0].scale : 1);
}

static const char *table_problem(const szg_checkpoint *checkpoint, const szgi_tensor *table) {
    int64_t least = szgi_sees_later(checkpoint) ? 4 : 2; /* so that some rows are exact */
    if (!table)
        return "the table by the lag is missing in a layer";
    if (table->dims != 2 || table->shape[1] != checkpoint->heads || table->shape[0] < least)
        return "the table by the lag has another shape than [buckets, heads]";
    if (table->dtype == SZGI_DTYPE_OTHER || table->dtype == SZGI_DTYPE_INTEGER || table->scales)
        return "the table by the lag is of a type that is not read here";
    return checkpoint->lag_distance > table->shape[0] / (szgi_sees_later(checkpoint) ? 4 : 2)
               ? NULL
               : "relative_attention_max_distance is below the lags that have rows of their own";
}

/* The first layer of whose table something is wrong says what; NULL: all are right. */
static const char *tables_problem(const szg_checkpoint *checkpoint, int64_t sets) {
    const char *why = NULL;
    for (int64_t i = 0; i < sets && !why; i++)
        why = table_problem(checkpoint, checkpoint->layer[i].added);
    return why;
}

static szg_status fill_table(szg_context *context, const szg_checkpoint *checkpoint, int64_t set,
                             lag_bias *out) {
    const szgi_tensor *table = checkpoint->layer[set].added;
    int64_t heads = checkpoint->heads, rows = table->shape[0], count = out->lags - out->first;
    double *row;
    SZG_TRY(szgi_memory_alloc(context, rows * heads, &row));
    szg_status status =
        szgi_fold_vector(context, table, "a table by the lag", 0, rows * heads, row);
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        int64_t bucket = bucket_of(out->first + i, out->first < 0, rows, checkpoint->lag_distance);
        for (int64_t h = 0; h < heads; h++)
            out->value[(set * heads + h) * count + i] = row[bucket * heads + h];
    }
    szgi_memory_free(row);
    return status;
}

static void fill_slopes(const szg_checkpoint *checkpoint, lag_bias *out) {
    for (int64_t h = 0; h < checkpoint->heads; h++)
        for (int64_t k = 0; k < out->lags; k++)
            out->value[h * out->lags + k] = -slope_of(checkpoint, h) * (double)k;
}

szg_status szgi_lag_bias_open(szg_context *context, const szg_checkpoint *checkpoint, int64_t dense,
                              lag_bias *out) {
    bool table = checkpoint->added && checkpoint->family->added_by_head;
    int64_t rows = checkpoint->position_rows; /* fewer than the lengths that RoBERTa's kin give */
    *out = (lag_bias){.lags = szgi_lag_count(checkpoint, 0),
                      .sets = checkpoint->family->added_in_layer ? checkpoint->layers : 1,
                      .heads = checkpoint->heads};
    if (rows > 0 && rows < out->lags)
        out->lags = rows;
    if (!table && !checkpoint->alibi)
        return SZG_OK;
    out->why = table                        ? tables_problem(checkpoint, out->sets)
               : checkpoint->alibi_most > 0 ? NULL
                                            : "alibi_bias_max is not 8: MPT's own code reads it "
                                              "and that of transformers takes 8, so that the "
                                              "slopes are not known (--set "
                                              "attn_config.alibi_bias_max=8)";
    if (out->why)
        return SZG_OK;
    out->first = table && szgi_sees_later(checkpoint) ? 1 - out->lags : 0;
    SZG_TRY(szgi_lag_list_open(context, out->first, out->lags, dense, &out->listed));
    int64_t count = out->lags - out->first, curves = out->sets * out->heads;
    szg_status status = szgi_memory_alloc(context, (curves + 1) * count, &out->value);
    if (status == SZG_OK) {
        out->weight = out->value + curves * count;
        szgi_lag_weights(out->first, count, out->weight);
    }
    for (int64_t i = 0; i < out->sets && status == SZG_OK && table; i++)
        status = fill_table(context, checkpoint, i, out);
    if (status == SZG_OK && !table)
        fill_slopes(checkpoint, out);
    if (status != SZG_OK)
        szgi_lag_bias_close(out);
    if (status != SZG_EDATA)
        return status;
    out->why = "the table by the lag has a number that is not finite";
    return SZG_OK;
}

void szgi_lag_bias_close(lag_bias *bias) {
    szgi_lag_list_close(&bias->listed);
    szgi_memory_free(bias->value);
    bias->value = NULL;
}

/* ---- One head ---- */

/* The variance of independent tokens' logits, and their mean without the bias. */
static szg_status find_content(szg_context *context, const law_input *head, double *noise,
                               double *mean) {
    const lag_moments none = {0};
    int64_t e = head->checkpoint->head_size;
    int exponent = head->q.exponent + head->k.exponent;
    isotropic_law law;
    SZG_TRY(szgi_law_open(context, head, &law));
    szg_status status = szgi_share_noise(context, head->rotary, e, &law.law, &none, noise);
    *noise = ldexp(*noise, 2 * exponent);
    *mean = 0;
    for (int64_t i = 0; i < e; i++)
        *mean += ldexp(law.law.q_mean[i] * law.law.k_mean[i], exponent);
    szgi_law_close(&law);
    return status;
}

szg_status szgi_lag_bias_find(szg_context *context, const law_input *head, const lag_bias *bias,
                              head_positional *out) {
    const double *value = szgi_lag_bias_of(bias, head->layer, head->head);
    int64_t count = bias->lags - bias->first;
    kernel_facts *facts;
    double noise, mean;
    SZG_TRY(szgi_positional_open(context, bias->first, bias->lags, &bias->listed, out));
    SZG_TRY(find_content(context, head, &noise, &mean));
    facts = &out->kernel[KERNEL_MEAN];
    facts->share = szgi_share_of(szgi_lag_spread(count, bias->weight, value).variance, noise);
    facts->noise = sqrt(noise);
    SZG_TRY(szgi_shape_of_values(context, bias->first, count, value, true, &facts->shape));
    facts->shape.least += mean;
    facts->shape.greatest += mean;
    for (int64_t i = 0; i < out->listed.count; i++)
        out->value[KERNEL_MEAN][i].value = value[out->listed.lag[i] - bias->first] + mean;
    return SZG_OK;
}
