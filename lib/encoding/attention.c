/* What an encoding adds to attention: input rows, a lag bias, a rotation. */
#include <inttypes.h>
#include <math.h>

#include "base/pool.h"
#include "encoding/cosines.h"
#include "encoding/record.h"

enum { ROWS_A_BLOCK = 256, LAGS_A_BLOCK = 1024 };

typedef struct rows_job {
    const szg_encoding *encoding;
    int64_t n, ld;
    double *out;
} rows_job;

static szg_status input_block(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    const rows_job *rows = job;
    int64_t end = (block + 1) * ROWS_A_BLOCK;
    for (int64_t i = block * ROWS_A_BLOCK; i < end && i < rows->n; i++)
        rows->encoding->record->input(rows->encoding, i, rows->out + i * rows->ld);
    return SZG_OK;
}

szg_status szgi_encoding_input(szg_context *context, const szg_encoding *encoding, int64_t n,
                               double *p, int64_t ldp) {
    if (!encoding->record->input)
        return szgi_encoding_lacks(context, encoding, "input rows");
    SZG_TRY(szgi_encoding_check_length(context, encoding, n));
    int64_t columns = szgi_encoding_input_dimension(encoding);
    if (ldp < columns)
        return szgi_fail(context, SZG_EINVAL,
                         "a leading dimension of %" PRId64 " is below the %" PRId64 " columns", ldp,
                         columns);
    rows_job job = {encoding, n, ldp, p};
    return szgi_pool_run(context, (n + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK, input_block, &job);
}

typedef struct lags_job {
    const szg_encoding *encoding;
    const szg_kernel_facts *facts;
    int64_t head, first, count;
    double *out;
} lags_job;

static double lag_at(const lags_job *lags, int64_t k) {
    const szg_kernel_facts *facts = lags->facts;
    switch (facts->structure) {
    case SZG_KERNEL_ZERO:
        return 0;
    case SZG_KERNEL_COSINES:
        return szgi_cosines_lag(facts, k);
    default:
        return lags->encoding->record->lag(lags->encoding, lags->head, k);
    }
}

static szg_status lags_block(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    const lags_job *lags = job;
    int64_t end = (block + 1) * LAGS_A_BLOCK;
    for (int64_t i = block * LAGS_A_BLOCK; i < end && i < lags->count; i++)
        lags->out[i] = lag_at(lags, lags->first + i);
    return SZG_OK;
}

szg_status szgi_encoding_lags(szg_context *context, const szg_encoding *encoding, int64_t head,
                              const szg_kernel_facts *facts, int64_t first, int64_t count,
                              double *out) {
    lags_job job = {encoding, facts, head, first, count, out};
    return szgi_pool_run(context, (count + LAGS_A_BLOCK - 1) / LAGS_A_BLOCK, lags_block, &job);
}

szg_status szgi_encoding_bias(szg_context *context, const szg_encoding *encoding, int64_t head,
                              int64_t n, double *bias) {
    if (!(encoding->attaches & SZGI_ATTACH_BIAS))
        return szgi_encoding_lacks(context, encoding, "bias");
    SZG_TRY(szgi_encoding_check_head(context, encoding, head));
    SZG_TRY(szgi_encoding_check_length(context, encoding, n));
    szg_kernel_facts facts;
    encoding->record->facts(encoding, head, 0, &facts);
    return szgi_encoding_lags(context, encoding, head, &facts, 1 - n, 2 * n - 1, bias);
}

szg_status szgi_encoding_rotary(szg_context *context, const szg_encoding *encoding, int64_t head,
                                szgi_rotary *out) {
    *out = (szgi_rotary){0};
    if (!(encoding->attaches & SZGI_ATTACH_ROTARY))
        return szgi_encoding_lacks(context, encoding, "rotation");
    SZG_TRY(szgi_encoding_check_head(context, encoding, head));
    encoding->record->rotary(encoding, head, out);
    return SZG_OK;
}

typedef struct factors_job {
    szgi_rotary rotary;
    int64_t n;
    szg_c64 *out;
} factors_job;

static szg_status factors_block(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    const factors_job *factors = job;
    const szgi_rotary *rotary = &factors->rotary;
    int64_t end = (block + 1) * ROWS_A_BLOCK;
    for (int64_t i = block * ROWS_A_BLOCK; i < end && i < factors->n; i++)
        for (int64_t t = 0; t < rotary->pairs; t++) {
            szg_c64 *factor = &factors->out[i * rotary->pairs + t];
            szgi_lag_phase(i, rotary->theta[t], &factor->re, &factor->im);
            factor->re *= rotary->amplitude;
            factor->im *= rotary->amplitude;
        }
    return SZG_OK;
}

szg_status szgi_encoding_factors(szg_context *context, const szg_encoding *encoding, int64_t head,
                                 int64_t n, szg_c64 *factors) {
    factors_job job = {.n = n, .out = factors};
    SZG_TRY(szgi_encoding_rotary(context, encoding, head, &job.rotary));
    SZG_TRY(szgi_encoding_check_length(context, encoding, n));
    return szgi_pool_run(context, (n + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK, factors_block, &job);
}
