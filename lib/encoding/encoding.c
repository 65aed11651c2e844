#include <inttypes.h>

#include "base/memory.h"
#include "base/pool.h"
#include "encoding_private.h"

static const encoding_type *const types[] = {
    &szgi_encoding_nope,   &szgi_encoding_absolute, &szgi_encoding_learned,
    &szgi_encoding_random, &szgi_encoding_relative, &szgi_encoding_t5,
    &szgi_encoding_alibi,  &szgi_encoding_rope,     &szgi_encoding_rope_absolute,
    &szgi_encoding_mla,    &szgi_encoding_kms,      &szgi_encoding_file,
};
enum { TYPES = sizeof types / sizeof *types, ROWS_A_BLOCK = 256, LAGS_A_BLOCK = 4096 };

int64_t szgi_encoding_classes(void) {
    return TYPES;
}

const szgi_spec_class *szgi_encoding_class_at(int64_t index) {
    return &types[index]->class;
}

const encoding_type *szgi_encoding_type_at(int64_t index) {
    return types[index];
}

szg_status szgi_encoding_spec_parse(szg_context *context, const char *text, szgi_spec **out) {
    const szgi_spec_class *classes[TYPES];
    for (int64_t i = 0; i < TYPES; i++)
        classes[i] = &types[i]->class;
    return szgi_spec_parse(context, "encoding", classes, TYPES, text, out);
}

szg_status szg_encoding_parse(szg_context *context, const char *spec, szg_encoding **out) {
    *out = NULL;
    szg_encoding *encoding;
    SZG_TRY(szgi_memory_alloc(context, 1, sizeof *encoding, &encoding));
    szg_status status;
    SZG_TRY_GOTO(status, szgi_encoding_spec_parse(context, spec, &encoding->spec), fail);
    encoding->type = types[szgi_spec_class_index(encoding->spec)];
    encoding->heads = 1;
    encoding->matrices = 1;
    encoding->limit = INT64_MAX;
    if (encoding->type->open)
        SZG_TRY_GOTO(status, encoding->type->open(context, encoding), fail);
    *out = encoding;
    return SZG_OK;
fail:
    szg_encoding_close(&encoding);
    return status;
}

void szg_encoding_close(szg_encoding **encoding) {
    if (!encoding || !*encoding)
        return;
    szg_encoding *e = *encoding;
    szgi_spec_close(&e->spec);
    szgi_memory_free(e->theta);
    szgi_memory_free(e->input_theta);
    szgi_memory_free(e->rotates);
    szgi_memory_free(e->slope);
    szgi_memory_free(e->table);
    szgi_memory_free(e->coefficient);
    szgi_memory_free(e);
    *encoding = NULL;
}

const char *szgi_encoding_name(const szg_encoding *encoding) {
    return encoding->type->class.name;
}

const char *szg_encoding_spec(const szg_encoding *encoding) {
    return szgi_spec_canonical(encoding->spec);
}

int64_t szg_encoding_heads(const szg_encoding *encoding) {
    return encoding->heads;
}

int64_t szgi_encoding_dimension(const szg_encoding *encoding) {
    return encoding->dim;
}

int64_t szgi_encoding_input_dimension(const szg_encoding *encoding) {
    if (!(encoding->attaches & SZG_ATTACH_INPUT))
        return 0;
    return encoding->input_dim ? encoding->input_dim : encoding->dim;
}

int szgi_encoding_attaches(const szg_encoding *encoding) {
    return encoding->attaches;
}

int64_t szg_encoding_matrices(const szg_encoding *encoding) {
    return encoding->matrices;
}

/* ---- Arguments ---- */

static szg_status check_head(szg_context *context, const szg_encoding *encoding, int64_t head) {
    if (head >= 0 && head < encoding->heads)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "%s: head %" PRId64 " is outside 0 .. %" PRId64,
                     szg_encoding_spec(encoding), head, encoding->heads - 1);
}

static szg_status check_matrix(szg_context *context, const szg_encoding *encoding, int64_t head,
                               int64_t matrix) {
    SZG_TRY(check_head(context, encoding, head));
    if (matrix >= 0 && matrix < encoding->matrices)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "%s: matrix %" PRId64 " is outside 0 .. %" PRId64,
                     szg_encoding_spec(encoding), matrix, encoding->matrices - 1);
}

static szg_status check_length(szg_context *context, const szg_encoding *encoding, int64_t n) {
    if (n < 1)
        return szgi_fail(context, SZG_EINVAL, "%s: N = %" PRId64 " must be at least 1",
                         szg_encoding_spec(encoding), n);
    if (n > encoding->limit)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: N = %" PRId64 " goes beyond the %" PRId64
                         " positions that it is defined for",
                         szg_encoding_spec(encoding), n, encoding->limit);
    return SZG_OK;
}

static szg_status lacks(szg_context *context, const szg_encoding *encoding, const char *what) {
    return szgi_fail(context, SZG_EDOMAIN, "%s has no %s", szg_encoding_spec(encoding), what);
}

/* ---- What it adds ---- */

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
        rows->encoding->type->input(rows->encoding, i, rows->out + i * rows->ld);
    return SZG_OK;
}

szg_status szgi_encoding_input(szg_context *context, const szg_encoding *encoding, int64_t n,
                               double *p, int64_t ldp) {
    if (!encoding->type->input)
        return lacks(context, encoding, "input rows");
    SZG_TRY(check_length(context, encoding, n));
    int64_t columns = szgi_encoding_input_dimension(encoding);
    if (ldp < columns)
        return szgi_fail(context, SZG_EINVAL,
                         "a leading dimension of %" PRId64 " is below the %" PRId64 " columns", ldp,
                         columns);
    rows_job job = {encoding, n, ldp, p};
    return szgi_pool_run(context, (n + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK, input_block, &job);
}

typedef struct bias_job {
    const szg_encoding *encoding;
    int64_t head, first, count;
    double *out;
} bias_job;

static szg_status bias_block(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    const bias_job *bias = job;
    int64_t end = (block + 1) * LAGS_A_BLOCK;
    for (int64_t i = block * LAGS_A_BLOCK; i < end && i < bias->count; i++)
        bias->out[i] = bias->encoding->type->lag(bias->encoding, bias->head, bias->first + i);
    return SZG_OK;
}

/* a_first .. a_{first+count-1}. */
static szg_status fill_lags(szg_context *context, const szg_encoding *encoding, int64_t head,
                            int64_t first, int64_t count, double *out) {
    bias_job job = {encoding, head, first, count, out};
    return szgi_pool_run(context, (count + LAGS_A_BLOCK - 1) / LAGS_A_BLOCK, bias_block, &job);
}

szg_status szgi_encoding_bias(szg_context *context, const szg_encoding *encoding, int64_t head,
                              int64_t n, double *bias) {
    if (!(encoding->attaches & SZG_ATTACH_BIAS))
        return lacks(context, encoding, "bias");
    SZG_TRY(check_head(context, encoding, head));
    SZG_TRY(check_length(context, encoding, n));
    return fill_lags(context, encoding, head, 1 - n, 2 * n - 1, bias);
}

szg_status szgi_encoding_rotary(szg_context *context, const szg_encoding *encoding, int64_t head,
                                szg_rotary *out) {
    *out = (szg_rotary){0};
    if (!(encoding->attaches & SZG_ATTACH_ROTARY))
        return lacks(context, encoding, "rotation");
    SZG_TRY(check_head(context, encoding, head));
    *out = encoding->rotary;
    if (encoding->rotates && !encoding->rotates[head]) {
        out->pairs = 0;
        out->unrotated = out->dim;
        out->amplitude = 1;
    }
    return SZG_OK;
}

typedef struct factors_job {
    szg_rotary rotary;
    int64_t n;
    szg_c64 *out;
} factors_job;

static szg_status factors_block(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    const factors_job *factors = job;
    const szg_rotary *rotary = &factors->rotary;
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
    SZG_TRY(check_length(context, encoding, n));
    return szgi_pool_run(context, (n + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK, factors_block, &job);
}

/* ---- Its own matrices ---- */

szg_status szg_encoding_facts(szg_context *context, const szg_encoding *encoding, int64_t head,
                              int64_t matrix, szg_kernel_facts *out) {
    *out = (szg_kernel_facts){0};
    SZG_TRY(check_matrix(context, encoding, head, matrix));
    encoding->type->facts(encoding, head, matrix, out);
    return SZG_OK;
}

/* Opens a real kernel from `count` computed numbers: lags 0 .. n-1, or -(n-1) .. n-1. */
static szg_status open_real_kernel(szg_context *context, const szg_encoding *encoding, int64_t head,
                                   const szg_kernel_facts *facts, int64_t n, szg_toeplitz **out) {
    bool symmetric = facts->kind == SZG_TOEPLITZ_SYMMETRIC;
    int64_t count = facts->structure == SZG_KERNEL_ZERO ? 1 : symmetric ? n : 2 * n - 1;
    double *lags;
    SZG_TRY(szgi_memory_require(context, count, 2, sizeof *lags, "the kernel as coefficients",
                                "ask for its range, or for a kernel with a closed form"));
    SZG_TRY(szgi_memory_alloc(context, count, sizeof *lags, &lags));
    szg_status status;
    if (facts->structure == SZG_KERNEL_COSINES)
        status = szgi_cosines_lags(context, facts, n, lags);
    else
        status = fill_lags(context, encoding, head, symmetric ? 0 : 1 - n, count, lags);
    if (status == SZG_OK && symmetric)
        status = szg_toeplitz_open_symmetric(context, n, count, lags, out);
    else if (status == SZG_OK)
        status = szg_toeplitz_open_real(context, n, n, lags, out);
    szgi_memory_free(lags);
    return status;
}

szg_status szg_encoding_kernel(szg_context *context, const szg_encoding *encoding, int64_t head,
                               int64_t matrix, int64_t n, szg_toeplitz **out) {
    *out = NULL;
    szg_kernel_facts facts;
    SZG_TRY(szg_encoding_facts(context, encoding, head, matrix, &facts));
    SZG_TRY(check_length(context, encoding, n));
    if (facts.form == SZG_FORM_NOT_TOEPLITZ)
        return szgi_fail(context, SZG_EDOMAIN, "%s: %s", szg_encoding_spec(encoding), facts.line);
    if (n > SZG_LAG_LIMIT)
        return szgi_fail(context, SZG_ENOMEM,
                         "%s: N = %" PRId64 " is too many coefficients, at most %" PRId64
                         ": use the closed form",
                         szg_encoding_spec(encoding), n, SZG_LAG_LIMIT);
    if (encoding->type->kernel)
        return encoding->type->kernel(context, encoding, head, n, out);
    return open_real_kernel(context, encoding, head, &facts, n, out);
}

szg_status szgi_encoding_symbol(szg_context *context, const szg_encoding *encoding, int64_t head,
                                int64_t matrix, double theta, double *value) {
    SZG_TRY(check_matrix(context, encoding, head, matrix));
    if (!encoding->type->symbol)
        return lacks(context, encoding, "symbol in closed form");
    *value = encoding->type->symbol(encoding, theta);
    return SZG_OK;
}

szg_status szgi_encoding_symbol_range(szg_context *context, const szg_encoding *encoding,
                                      int64_t head, int64_t matrix, szg_interval *min,
                                      szg_interval *max, double *theta_min, double *theta_max) {
    SZG_TRY(check_matrix(context, encoding, head, matrix));
    if (!encoding->type->symbol_range)
        return lacks(context, encoding, "symbol in closed form");
    encoding->type->symbol_range(encoding, min, max, theta_min, theta_max);
    return SZG_OK;
}
