/* The arguments of attention, of its logits, and of what prepares its arguments. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include "base/context.h"

#include "check.h"

static void check_rotation(szgi_arguments *check, const szgi_attention *a) {
    szgi_argument_size(check, "pairs", a->pairs, 0);
    if (check->status != SZG_OK || a->pairs == 0)
        return;
    szgi_argument_size(check, "rotary_offset", a->rotary_offset, 0);
    if (check->status == SZG_OK &&
        (a->pairs > a->d_qk / 2 || a->rotary_offset > a->d_qk - 2 * a->pairs))
        check->status =
            szgi_fail(check->context, SZG_EINVAL,
                      "%s: %" PRId64 " pairs from dimension %" PRId64 " do not fit d_qk = %" PRId64,
                      check->operation, a->pairs, a->rotary_offset, a->d_qk);
    szgi_argument_array(check, "q_factors", a->q_factors);
    szgi_argument_array(check, "k_factors", a->k_factors);
    szgi_argument_extent(check, a->length, 2 * a->pairs, 1);
    if (a->factor_stride != 0)
        szgi_argument_size(check, "factor_stride", a->factor_stride, 2 * a->pairs * a->length);
}

static bool is_empty(const szgi_attention *a) {
    return a->batch == 0 || a->heads == 0 || a->length == 0;
}

/* Sizes, queries and keys: what the logits need. */
static bool check_logits(szgi_arguments *check, const szgi_attention *a) {
    szgi_argument_size(check, "batch", a->batch, 0);
    szgi_argument_size(check, "heads", a->heads, 0);
    szgi_argument_size(check, "length", a->length, 0);
    szgi_argument_size(check, "d_qk", a->d_qk, 1);
    szgi_argument_number(check, "scale", a->scale, -DBL_MAX, INFINITY);
    szgi_argument_extent(check, a->batch, a->heads, a->length);
    szgi_argument_extent(check, a->heads, a->d_qk, 1);
    if (check->status != SZG_OK || is_empty(a))
        return false;
    int64_t rows = a->batch * a->length;
    szgi_argument_matrix(check, "q", a->q, rows, a->heads * a->d_qk, a->ldq);
    szgi_argument_matrix(check, "k", a->k, rows, a->heads * a->d_qk, a->ldk);
    check_rotation(check, a);
    return check->status == SZG_OK;
}

/* The logits, values, mask, dropout and what the forward pass writes. */
bool szgi_check_attention(szgi_arguments *check, const szgi_attention *a) {
    check_logits(check, a);
    szgi_argument_size(check, "d_v", a->d_v, 1);
    szgi_argument_extent(check, a->heads, a->d_v, 1);
    if (check->status != SZG_OK || is_empty(a))
        return false;
    int64_t rows = a->batch * a->length;
    szgi_argument_matrix(check, "v", a->v, rows, a->heads * a->d_v, a->ldv);
    szgi_argument_matrix(check, "out", a->out, rows, a->heads * a->d_v, a->ldout);
    if (a->dropout.probability != 0)
        szgi_argument_extent(check, rows, a->heads, a->length);
    if (check->status == SZG_OK)
        szgi_argument_dropout(check, &a->dropout,
                              a->dropout.probability != 0 ? rows * a->heads * a->length : 0);
    return check->status == SZG_OK;
}

/* Sizes and probability are checked. */
static int64_t kept_bytes(szg_context *context, const szgi_attention *a) {
    const szgi_network_ops *network = szgi_network_table(context);
    bool keeps = network && network->attention_kept && a->dropout.probability != 0;
    return keeps ? network->attention_kept(a) : 0;
}

szg_status szgi_network_attention_kept(szg_context *context, const szgi_attention *attention,
                                       int64_t *bytes) {
    const szgi_attention *a = attention;
    szgi_arguments check = {context, "attention", SZG_OK};
    szgi_argument_size(&check, "batch", a->batch, 0);
    szgi_argument_size(&check, "heads", a->heads, 0);
    szgi_argument_size(&check, "length", a->length, 0);
    szgi_argument_number(&check, "dropout probability", a->dropout.probability, 0, 1);
    szgi_argument_extent(&check, a->batch, a->heads, a->length);
    if (check.status == SZG_OK)
        szgi_argument_extent(&check, a->batch * a->heads * a->length, a->length, 1);
    *bytes = check.status == SZG_OK ? kept_bytes(context, a) : 0;
    return check.status;
}

bool szgi_check_attention_backward(szgi_arguments *check, const szgi_attention *a,
                                   const szgi_attention_gradient *gradient) {
    if (!szgi_check_attention(check, a))
        return false;
    int64_t rows = a->batch * a->length;
    szgi_argument_array(check, "log_sum", a->log_sum);
    if (check->status == SZG_OK && kept_bytes(check->context, a) > 0)
        szgi_argument_array(check, "kept", a->kept);
    szgi_argument_matrix(check, "dout", gradient->dout, rows, a->heads * a->d_v, gradient->lddout);
    szgi_argument_matrix(check, "dq", gradient->dq, rows, a->heads * a->d_qk, gradient->lddq);
    szgi_argument_matrix(check, "dk", gradient->dk, rows, a->heads * a->d_qk, gradient->lddk);
    szgi_argument_matrix(check, "dv", gradient->dv, rows, a->heads * a->d_v, gradient->lddv);
    return check->status == SZG_OK;
}

bool szgi_check_attention_logits(szgi_arguments *check, const szgi_attention *a, bool coupled,
                                 void *logits) {
    (void)coupled;
    if (!check_logits(check, a))
        return false;
    szgi_argument_extent(check, a->batch * a->heads, a->length, a->length);
    szgi_argument_array(check, "logits", logits);
    return check->status == SZG_OK;
}

static bool check_join(szgi_arguments *check, const szgi_join *join, const void *a, const void *b,
                       const void *out) {
    szgi_argument_size(check, "rows", join->rows, 0);
    szgi_argument_size(check, "heads", join->heads, 0);
    szgi_argument_size(check, "width_a", join->width_a, 0);
    szgi_argument_size(check, "width_b", join->width_b, 0);
    szgi_argument_extent(check, join->heads, join->width_a, 1);
    szgi_argument_extent(check, join->heads, join->width_b, 1);
    bool empty = join->rows == 0 || join->heads == 0 || join->width_a + join->width_b == 0;
    if (check->status != SZG_OK || empty)
        return false;
    int64_t columns_a = join->width_a * (join->shared_a ? 1 : join->heads);
    int64_t columns_b = join->width_b * (join->shared_b ? 1 : join->heads);
    if (columns_a > 0)
        szgi_argument_matrix(check, "a", a, join->rows, columns_a, join->lda);
    if (columns_b > 0)
        szgi_argument_matrix(check, "b", b, join->rows, columns_b, join->ldb);
    szgi_argument_matrix(check, "out", out, join->rows,
                         join->heads * (join->width_a + join->width_b), join->ldout);
    return check->status == SZG_OK;
}

bool szgi_check_join(szgi_arguments *check, const szgi_join *join, const void *a, const void *b,
                     void *out) {
    return check_join(check, join, a, b, out);
}

bool szgi_check_join_backward(szgi_arguments *check, const szgi_join *join, const void *dout,
                              void *da, void *db) {
    return check_join(check, join, da, db, dout);
}

static bool check_bias(szgi_arguments *check, const szgi_bias_rows *rows, const void *table,
                       const void *bias) {
    szgi_argument_size(check, "heads", rows->heads, 0);
    szgi_argument_size(check, "lags", rows->lags, 0);
    szgi_argument_size(check, "rows", rows->rows, 1);
    szgi_argument_extent(check, rows->heads, rows->lags, 1);
    szgi_argument_extent(check, rows->heads, rows->rows, 1);
    if (check->status != SZG_OK || rows->heads == 0 || rows->lags == 0)
        return false;
    szgi_argument_array(check, "row_of_lag", rows->row_of_lag);
    szgi_argument_array(check, "table", table);
    szgi_argument_array(check, "bias", bias);
    return check->status == SZG_OK;
}

bool szgi_check_bias(szgi_arguments *check, const szgi_bias_rows *rows, const void *table,
                     void *bias) {
    return check_bias(check, rows, table, bias);
}

bool szgi_check_bias_backward(szgi_arguments *check, const szgi_bias_rows *rows, const void *dbias,
                              void *dtable) {
    return check_bias(check, rows, dtable, dbias);
}
