/* The checked functions of attention, its logits, and what prepares its arguments. */
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

/* Sizes, queries and keys: what the logits need. */
static szgi_arguments check_logits(szg_context *context, const char *operation,
                                   const szgi_attention *a) {
    szgi_arguments check = {context, operation, SZG_OK};
    szgi_argument_size(&check, "batch", a->batch, 0);
    szgi_argument_size(&check, "heads", a->heads, 0);
    szgi_argument_size(&check, "length", a->length, 0);
    szgi_argument_size(&check, "d_qk", a->d_qk, 1);
    szgi_argument_number(&check, "scale", a->scale, -DBL_MAX, INFINITY);
    szgi_argument_extent(&check, a->batch, a->heads, a->length);
    szgi_argument_extent(&check, a->heads, a->d_qk, 1);
    if (check.status != SZG_OK || a->batch == 0 || a->heads == 0 || a->length == 0)
        return check;
    int64_t rows = a->batch * a->length;
    szgi_argument_matrix(&check, "q", a->q, rows, a->heads * a->d_qk, a->ldq);
    szgi_argument_matrix(&check, "k", a->k, rows, a->heads * a->d_qk, a->ldk);
    check_rotation(&check, a);
    return check;
}

static bool is_empty(const szgi_attention *a) {
    return a->batch == 0 || a->heads == 0 || a->length == 0;
}

/* The logits, values, mask, dropout and what the forward pass writes. */
static szgi_arguments check_attention(szg_context *context, const char *operation,
                                      const szgi_attention *a) {
    szgi_arguments check = check_logits(context, operation, a);
    szgi_argument_size(&check, "d_v", a->d_v, 1);
    szgi_argument_extent(&check, a->heads, a->d_v, 1);
    if (check.status != SZG_OK || is_empty(a))
        return check;
    int64_t rows = a->batch * a->length;
    szgi_argument_matrix(&check, "v", a->v, rows, a->heads * a->d_v, a->ldv);
    szgi_argument_matrix(&check, "out", a->out, rows, a->heads * a->d_v, a->ldout);
    if (a->dropout.probability != 0)
        szgi_argument_extent(&check, rows, a->heads, a->length);
    if (check.status == SZG_OK)
        szgi_argument_dropout(&check, &a->dropout,
                              a->dropout.probability != 0 ? rows * a->heads * a->length : 0);
    return check;
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

szg_status szgi_network_attention(szg_context *context, const szgi_attention *attention) {
    szgi_arguments check = check_attention(context, "attention", attention);
    if (check.status != SZG_OK || is_empty(attention))
        return check.status;
    SZG_NETWORK_CALL(&check, attention, attention);
}

szg_status szgi_network_attention_backward(szg_context *context, const szgi_attention *attention,
                                           const szgi_attention_gradient *gradient) {
    const szgi_attention *a = attention;
    szgi_arguments check = check_attention(context, "attention backward", a);
    if (check.status != SZG_OK || is_empty(a))
        return check.status;
    int64_t rows = a->batch * a->length;
    szgi_argument_array(&check, "log_sum", a->log_sum);
    if (check.status == SZG_OK && kept_bytes(context, a) > 0)
        szgi_argument_array(&check, "kept", a->kept);
    szgi_argument_matrix(&check, "dout", gradient->dout, rows, a->heads * a->d_v, gradient->lddout);
    szgi_argument_matrix(&check, "dq", gradient->dq, rows, a->heads * a->d_qk, gradient->lddq);
    szgi_argument_matrix(&check, "dk", gradient->dk, rows, a->heads * a->d_qk, gradient->lddk);
    szgi_argument_matrix(&check, "dv", gradient->dv, rows, a->heads * a->d_v, gradient->lddv);
    SZG_NETWORK_CALL(&check, attention_backward, a, gradient);
}

szg_status szgi_network_attention_logits(szg_context *context, const szgi_attention *attention,
                                         bool coupled, void *logits) {
    const szgi_attention *a = attention;
    szgi_arguments check = check_logits(context, "attention logits", a);
    if (check.status != SZG_OK || is_empty(a))
        return check.status;
    szgi_argument_extent(&check, a->batch * a->heads, a->length, a->length);
    szgi_argument_array(&check, "logits", logits);
    SZG_NETWORK_CALL(&check, attention_logits, a, coupled, logits);
}

szg_status szgi_network_diagonal_means(szg_context *context, int64_t count, int64_t n,
                                       const void *a, void *out) {
    szgi_arguments check = {context, "diagonal means", SZG_OK};
    szgi_argument_size(&check, "count", count, 0);
    szgi_argument_size(&check, "n", n, 0);
    szgi_argument_extent(&check, count, n, n);
    if (check.status != SZG_OK || count == 0 || n == 0)
        return check.status;
    szgi_argument_array(&check, "a", a);
    szgi_argument_array(&check, "out", out);
    SZG_NETWORK_CALL(&check, diagonal_means, count, n, a, out);
}

static bool join_is_empty(const szgi_join *join) {
    return join->rows == 0 || join->heads == 0 || join->width_a + join->width_b == 0;
}

static szgi_arguments check_join(szg_context *context, const char *operation, const szgi_join *join,
                                 const void *a, const void *b, const void *out) {
    szgi_arguments check = {context, operation, SZG_OK};
    szgi_argument_size(&check, "rows", join->rows, 0);
    szgi_argument_size(&check, "heads", join->heads, 0);
    szgi_argument_size(&check, "width_a", join->width_a, 0);
    szgi_argument_size(&check, "width_b", join->width_b, 0);
    szgi_argument_extent(&check, join->heads, join->width_a, 1);
    szgi_argument_extent(&check, join->heads, join->width_b, 1);
    if (check.status != SZG_OK || join_is_empty(join))
        return check;
    int64_t columns_a = join->width_a * (join->shared_a ? 1 : join->heads);
    int64_t columns_b = join->width_b * (join->shared_b ? 1 : join->heads);
    if (columns_a > 0)
        szgi_argument_matrix(&check, "a", a, join->rows, columns_a, join->lda);
    if (columns_b > 0)
        szgi_argument_matrix(&check, "b", b, join->rows, columns_b, join->ldb);
    szgi_argument_matrix(&check, "out", out, join->rows,
                         join->heads * (join->width_a + join->width_b), join->ldout);
    return check;
}

szg_status szgi_network_join(szg_context *context, const szgi_join *join, const void *a,
                             const void *b, void *out) {
    szgi_arguments check = check_join(context, "join", join, a, b, out);
    if (check.status != SZG_OK || join_is_empty(join))
        return check.status;
    SZG_NETWORK_CALL(&check, join, join, a, b, out);
}

szg_status szgi_network_join_backward(szg_context *context, const szgi_join *join, const void *dout,
                                      void *da, void *db) {
    szgi_arguments check = check_join(context, "join backward", join, da, db, dout);
    if (check.status != SZG_OK || join_is_empty(join))
        return check.status;
    SZG_NETWORK_CALL(&check, join_backward, join, dout, da, db);
}

static szgi_arguments check_bias(szg_context *context, const char *operation,
                                 const szgi_bias_rows *rows, const void *table, const void *bias) {
    szgi_arguments check = {context, operation, SZG_OK};
    szgi_argument_size(&check, "heads", rows->heads, 0);
    szgi_argument_size(&check, "lags", rows->lags, 0);
    szgi_argument_size(&check, "rows", rows->rows, 1);
    szgi_argument_extent(&check, rows->heads, rows->lags, 1);
    szgi_argument_extent(&check, rows->heads, rows->rows, 1);
    if (check.status != SZG_OK || rows->heads == 0 || rows->lags == 0)
        return check;
    szgi_argument_array(&check, "row_of_lag", rows->row_of_lag);
    szgi_argument_array(&check, "table", table);
    szgi_argument_array(&check, "bias", bias);
    return check;
}

szg_status szgi_network_bias(szg_context *context, const szgi_bias_rows *rows, const void *table,
                             void *bias) {
    szgi_arguments check = check_bias(context, "bias", rows, table, bias);
    if (check.status != SZG_OK || rows->heads == 0 || rows->lags == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, bias, rows, table, bias);
}

szg_status szgi_network_bias_backward(szg_context *context, const szgi_bias_rows *rows,
                                      const void *dbias, void *dtable) {
    szgi_arguments check = check_bias(context, "bias backward", rows, dtable, dbias);
    if (check.status != SZG_OK || rows->heads == 0 || rows->lags == 0)
        return check.status;
    SZG_NETWORK_CALL(&check, bias_backward, rows, dbias, dtable);
}
