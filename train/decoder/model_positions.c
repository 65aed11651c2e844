/* What the encoding adds to the decoder and is not trained, as arrays of the backend: rows for the
 * tokens, a table of lags, complex factors for queries and keys. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model_private.h"

#define SINUSOID_BASE 10000.0

/* A new array of the backend with `count` numbers of the host. */
static szg_status take_array(szg_context *context, const double *values, int64_t count,
                             void **out) {
    SZG_TRY(szgi_device_alloc(context, count * szgi_network_real_size(context), out));
    return szgi_model_upload(context, *out, values, count);
}

/* ---- Rows added to the tokens ---- */

static void add_sinusoid(const szg_model_config *c, double *rows) {
    int64_t half = c->width / 2;
    bool halves = c->added_sinusoid == SZG_SINUSOID_HALVES;
    for (int64_t t = 0; t < half; t++) {
        double theta = pow(SINUSOID_BASE, -2.0 * (double)t / (double)c->width);
        for (int64_t i = 0; i < c->max_length; i++) {
            double cosine, sine, *row = rows + i * c->width;
            szgi_lag_phase(i, theta, &cosine, &sine);
            row[halves ? t : 2 * t] += sine;
            row[halves ? half + t : 2 * t + 1] += cosine;
        }
    }
}

static szg_status open_rows(szg_context *context, szg_model *model) {
    const szg_model_config *c = &model->config.model;
    bool own = szgi_encoding_attaches(model->encoding) & SZGI_ATTACH_INPUT;
    bool tensor = model->table.array == SZGI_ARRAY_INPUT; /* in the arena, trained or frozen */
    bool sinusoid = c->added_sinusoid != SZG_SINUSOID_NONE;
    if ((!own || tensor) && !sinusoid)
        return SZG_OK;
    if (sinusoid && c->width % 2)
        return szgi_fail(context, SZG_EINVAL, "model: added_sinusoid needs an even width, not %lld",
                         (long long)c->width);
    int64_t count = c->max_length * c->width;
    double *rows;
    SZG_TRY(szgi_memory_alloc(context, count, &rows));
    szg_status status = SZG_OK;
    if (own && !tensor)
        status = szgi_encoding_input(context, model->encoding, c->max_length, rows, c->width);
    if (sinusoid)
        add_sinusoid(c, rows);
    if (status == SZG_OK)
        status = take_array(context, rows, count, &model->positions.fixed);
    szgi_memory_free(rows);
    return status;
}

/* ---- Lag bias ---- */

static szg_status upload_rows_of_lags(szg_context *context, szg_model *model, const int32_t *rows,
                                      int64_t lags) {
    int64_t bytes = lags * (int64_t)sizeof *rows;
    SZG_TRY(szgi_device_alloc(context, bytes, &model->positions.row_of_lag));
    return szgi_device_upload(context, model->positions.row_of_lag, rows, bytes);
}

/* A fixed bias is a table with one row a lag, from -(max_length-1) on. An encoding with one kernel
 * gives it to every head. */
static szg_status fill_fixed_bias(szg_context *context, const szg_model *model, int64_t lags,
                                  double *bias, double *table) {
    const szg_model_config *c = &model->config.model;
    bool one = szg_encoding_heads(model->encoding) == 1;
    for (int64_t h = 0; h < c->heads; h++) {
        SZG_TRY(szgi_encoding_bias(context, model->encoding, one ? 0 : h, c->max_length, bias));
        for (int64_t at = 0; at < lags; at++)
            table[at * c->heads + h] = bias[at];
    }
    return SZG_OK;
}

static szg_status open_fixed_bias(szg_context *context, szg_model *model, int32_t *rows) {
    int64_t lags = 2 * model->config.model.max_length - 1, heads = model->config.model.heads;
    double *bias = NULL, *table = NULL;
    szg_status status = szgi_memory_alloc(context, lags, &bias);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, lags * heads, &table);
    if (status == SZG_OK)
        status = fill_fixed_bias(context, model, lags, bias, table);
    if (status == SZG_OK)
        status = take_array(context, table, lags * heads, &model->positions.lags);
    szgi_memory_free(table);
    szgi_memory_free(bias);
    for (int64_t at = 0; at < lags; at++)
        rows[at] = (int32_t)at;
    model->positions.rows = lags;
    return status;
}

static szg_status open_bias(szg_context *context, szg_model *model) {
    int64_t length = model->config.model.max_length, lags = 2 * length - 1;
    if (!(szgi_encoding_attaches(model->encoding) & SZGI_ATTACH_BIAS))
        return SZG_OK;
    int32_t *rows;
    SZG_TRY(szgi_memory_alloc(context, lags, &rows));
    szg_status status;
    if (model->table.array == SZGI_ARRAY_LAGS) {
        model->positions.rows = model->table.rows;
        status = szgi_encoding_row_of_lag(context, model->encoding, length, rows);
    } else {
        status = open_fixed_bias(context, model, rows);
    }
    if (status == SZG_OK)
        status = upload_rows_of_lags(context, model, rows, lags);
    szgi_memory_free(rows);
    return status;
}

/* ---- Rotation ---- */

/* Factors [length][pairs] of one head; 1 where it does not rotate. */
static szg_status fill_factors(szg_context *context, const szg_model *model, int64_t head,
                               szg_c64 *factors) {
    int64_t length = model->config.model.max_length, pairs = model->positions.pairs;
    szgi_rotary rotary;
    SZG_TRY(szgi_encoding_rotary(context, model->encoding, head, &rotary));
    if (rotary.pairs)
        return szgi_encoding_factors(context, model->encoding, head, length, factors);
    for (int64_t i = 0; i < length * pairs; i++)
        factors[i] = (szg_c64){1, 0};
    return SZG_OK;
}

/* The row of a position is two halves, (sin i th_0, .., sin i th_n-1, cos i th_0, .., cos i
 * th_n-1); read with stride 2: factor t is row[2t + 1] + i row[2t], not of modulus 1. */
static szg_status fill_table_halves(szg_context *context, const szg_model *model,
                                    szg_c64 *factors) {
    szgi_rotary rotary;
    SZG_TRY(szgi_encoding_rotary(context, model->encoding, 0, &rotary));
    int64_t length = model->config.model.max_length, pairs = rotary.pairs;
    for (int64_t i = 0; i < length; i++)
        for (int64_t place = 0; place < 2 * pairs; place++) {
            double cosine, sine;
            szgi_lag_phase(i, rotary.theta[place % pairs], &cosine, &sine);
            double value = rotary.amplitude * (place < pairs ? sine : cosine);
            szg_c64 *factor = &factors[i * pairs + place / 2];
            if (place % 2)
                factor->re = value;
            else
                factor->im = value;
        }
    return SZG_OK;
}

/* Heads may rotate by other frequencies, or not at all. */
static bool rotates_alike(const szgi_rotary *a, const szgi_rotary *b) {
    return a->pairs == b->pairs &&
           (a->pairs == 0 || memcmp(a->theta, b->theta, (size_t)a->pairs * sizeof *a->theta) == 0);
}

/* Pairs and place from the heads that rotate, which have the same; whether all heads do alike. */
static szg_status find_rotation(szg_context *context, szg_model *model, bool *alike) {
    model_positions *p = &model->positions;
    szgi_rotary first;
    *alike = true;
    SZG_TRY(szgi_encoding_rotary(context, model->encoding, 0, &first));
    int64_t heads = szg_encoding_heads(model->encoding);
    for (int64_t h = 0; h < heads; h++) {
        szgi_rotary rotary;
        SZG_TRY(szgi_encoding_rotary(context, model->encoding, h, &rotary));
        *alike = *alike && rotates_alike(&first, &rotary);
        if (rotary.pairs == 0)
            continue;
        p->pairs = rotary.pairs;
        p->offset = rotary.offset;
        p->half = rotary.pairing == SZGI_PAIRING_HALF;
    }
    return SZG_OK;
}

static szg_status fill_rotation(szg_context *context, szg_model *model, int64_t heads,
                                szg_c64 *factors) {
    const szg_model_config *c = &model->config.model;
    if (model->decoupled && c->latent_rotation == SZG_ROTATION_TABLE_HALVES)
        return fill_table_halves(context, model, factors);
    for (int64_t h = 0; h < heads; h++)
        SZG_TRY(
            fill_factors(context, model, h, factors + h * c->max_length * model->positions.pairs));
    return SZG_OK;
}

static szg_status open_rotation(szg_context *context, szg_model *model) {
    const szg_model_config *c = &model->config.model;
    model_positions *p = &model->positions;
    if (!(szgi_encoding_attaches(model->encoding) & SZGI_ATTACH_ROTARY))
        return SZG_OK;
    bool alike;
    SZG_TRY(find_rotation(context, model, &alike));
    int64_t heads = alike ? 1 : c->heads, count = heads * c->max_length * p->pairs;
    p->factor_stride = alike ? 0 : 2 * c->max_length * p->pairs;
    szg_c64 *factors;
    SZG_TRY(szgi_memory_alloc(context, count, &factors));
    szg_status status = fill_rotation(context, model, heads, factors);
    if (status == SZG_OK)
        status = take_array(context, (const double *)factors, 2 * count, &p->factors);
    szgi_memory_free(factors);
    return status;
}

/* ---- Together ---- */

szg_status szgi_model_open_positions(szg_context *context, szg_model *model) {
    SZG_TRY(open_rows(context, model));
    SZG_TRY(open_bias(context, model));
    return open_rotation(context, model);
}

void szgi_model_close_positions(szg_context *context, szg_model *model) {
    szgi_device_free(context, model->positions.fixed);
    szgi_device_free(context, model->positions.row_of_lag);
    szgi_device_free(context, model->positions.lags);
    szgi_device_free(context, model->positions.factors);
}
