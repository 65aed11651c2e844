/* What an encoding is in a decoder that trains: keys that follow from the model's sizes, and the
 * array of its own that is trained. */
#include <inttypes.h>

#include "encoding/record.h"

enum { SEED_BITS = 53 };

/* ---- The SPEC ---- */

static int64_t size_of(const szgi_encoding_sizes *sizes, encoding_size size) {
    switch (size) {
    case FOLLOWS_WIDTH:
        return sizes->width;
    case FOLLOWS_HEADS:
        return sizes->heads;
    case FOLLOWS_SEED:
        return (int64_t)(sizes->seed & (((uint64_t)1 << SEED_BITS) - 1));
    default:
        return sizes->head_dim;
    }
}

/* Whether the key is left as it stands: given, or ruled out by a table. */
static bool stands(const szgi_spec *spec, const encoding_follow *follow) {
    return szgi_spec_given(spec, follow->key) ||
           (follow->size == FOLLOWS_SEED && szgi_spec_given(spec, "table"));
}

static szg_status check_given(szg_context *context, const szgi_spec *spec,
                              const encoding_follow *follow, int64_t wanted) {
    bool free = follow->size == FOLLOWS_SEED || follow->size == FOLLOWS_HEAD_DIM_FREELY;
    if (free || szgi_spec_integer(spec, follow->key) == wanted)
        return SZG_OK;
    return szgi_fail(
        context, SZG_EINVAL,
        "%s: %s=%" PRId64 " contradicts the model, in which it is %" PRId64 ": leave the key out",
        szgi_spec_canonical(spec), follow->key, szgi_spec_integer(spec, follow->key), wanted);
}

/* Gives the keys that follow from the sizes. */
static szg_status follow(szg_context *context, const szgi_encoding_sizes *sizes, szgi_spec *spec) {
    const encoding_record *record = szgi_encoding_record_at(szgi_spec_class_index(spec));
    szgi_key_value values[sizeof record->follows / sizeof *record->follows];
    int64_t count = 0;
    for (const encoding_follow *at = record->follows; at->key; at++) {
        int64_t wanted = size_of(sizes, at->size);
        if (stands(spec, at))
            SZG_TRY(check_given(context, spec, at, wanted));
        else
            values[count++] =
                (szgi_key_value){.key = at->key, .type = SZGI_KEY_INTEGER, .integer = wanted};
    }
    return szgi_spec_add(context, spec, values, count);
}

/* What files decide: heads, and how far a table reaches. */
static szg_status check_sizes(szg_context *context, const szg_encoding *encoding,
                              const szgi_encoding_sizes *sizes) {
    const char *spec = szg_encoding_spec(encoding);
    if (encoding->heads != 1 && encoding->heads != sizes->heads)
        return szgi_fail(context, SZG_EINVAL,
                         "%s has %" PRId64 " heads, but the model has %" PRId64, spec,
                         encoding->heads, sizes->heads);
    if (encoding->unfit)
        return szgi_fail(context, SZG_EINVAL, "%s: %s", spec, encoding->unfit);
    int64_t input = szgi_encoding_input_dimension(encoding);
    if (input && input != sizes->width)
        return szgi_fail(context, SZG_EINVAL,
                         "%s adds rows of %" PRId64 " numbers, but the model's width is %" PRId64,
                         spec, input, sizes->width);
    if (encoding->limit < sizes->length)
        return szgi_fail(context, SZG_EINVAL,
                         "%s ends after %" PRId64 " positions, but the model has %" PRId64, spec,
                         encoding->limit, sizes->length);
    return SZG_OK;
}

szg_status szgi_encoding_open_sized(szg_context *context, const char *spec,
                                    const szgi_encoding_sizes *sizes, szg_encoding **out) {
    szgi_spec *parsed;
    *out = NULL;
    SZG_TRY(szgi_encoding_spec_parse(context, spec, &parsed));
    szg_status status = follow(context, sizes, parsed);
    if (status != SZG_OK) {
        szgi_spec_close(&parsed);
        return status;
    }
    SZG_TRY(szgi_encoding_take_spec(context, parsed, out));
    status = check_sizes(context, *out, sizes);
    if (status != SZG_OK)
        szg_encoding_close(out);
    return status;
}

/* ---- The array ---- */

static szg_status check_positions(szg_context *context, const szg_encoding *encoding, int64_t n) {
    if (n >= 1 && n <= encoding->limit)
        return SZG_OK;
    return szgi_fail(context, n < 1 ? SZG_EINVAL : SZG_EDOMAIN,
                     "%s: N = %" PRId64 " is outside 1 .. %" PRId64, szg_encoding_spec(encoding), n,
                     encoding->limit);
}

szg_status szgi_encoding_table_of(szg_context *context, const szg_encoding *encoding, int64_t n,
                                  szgi_encoding_table *out) {
    *out = (szgi_encoding_table){.array = SZGI_ARRAY_NONE};
    SZG_TRY(check_positions(context, encoding, n));
    if (encoding->record->table)
        encoding->record->table(encoding, n, out);
    return SZG_OK;
}

szg_status szgi_encoding_table_initial(szg_context *context, const szg_encoding *encoding,
                                       int64_t n, double *values) {
    szgi_encoding_table table;
    SZG_TRY(szgi_encoding_table_of(context, encoding, n, &table));
    if (table.array == SZGI_ARRAY_NONE)
        return szgi_fail(context, SZG_EDOMAIN, "%s has no array to train",
                         szg_encoding_spec(encoding));
    for (int64_t head = 0; encoding->bad && head < encoding->heads; head++)
        SZG_TRY(szgi_encoding_check_head(context, encoding, head));
    for (int64_t row = 0; row < table.rows; row++)
        for (int64_t column = 0; column < table.columns; column++)
            values[row * table.columns + column] =
                encoding->record->table_initial(encoding, n, row, column);
    return SZG_OK;
}

szg_status szgi_encoding_row_of_lag(szg_context *context, const szg_encoding *encoding, int64_t n,
                                    int32_t *rows) {
    SZG_TRY(check_positions(context, encoding, n));
    if (!encoding->record->row_of_lag)
        return szgi_fail(context, SZG_EDOMAIN, "%s has no array of lags",
                         szg_encoding_spec(encoding));
    for (int64_t k = 1 - n; k < n; k++)
        rows[k + n - 1] = (int32_t)encoding->record->row_of_lag(encoding, n, k);
    return SZG_OK;
}
