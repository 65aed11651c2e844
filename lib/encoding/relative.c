/* One number a lag and head added to the logits, without buckets. */
#include <inttypes.h>

#include "formats/coefficients.h"
#include "encoding/record.h"
#include "encoding/tables.h"

static const szgi_key keys[] = {
    HEADS_KEY("1", "number of heads; a table has its own"),
    TABLE_KEYS("0.02"),
};

/* One row a head, lags -(m-1) .. m-1, from npy or text. */
static szg_status read_lags(szg_context *context, szg_encoding *encoding) {
    number_table *table = encoding->state;
    const char *path = szgi_spec_text(encoding->spec, "table");
    szgi_coefficients read;
    SZG_TRY(szgi_coefficients_read(context, path, SZGI_LAGS_FULL, &read));
    szg_status status = SZG_OK;
    if (!read.re) {
        status =
            szgi_fail(context, SZG_EDATA, "%s: a bias is real, these numbers are complex", path);
    } else {
        table->value = read.re;
        read.re = NULL;
        table->rows = read.heads;
        table->columns = read.count;
        encoding->limit = (read.count + 1) / 2;
        encoding->bad = read.bad;
        read.bad = NULL;
    }
    szgi_coefficients_close(&read);
    return status;
}

static szg_status open_relative(szg_context *context, szg_encoding *encoding) {
    number_table *table = encoding->state;
    encoding->heads = szgi_spec_integer(encoding->spec, "heads");
    encoding->limit = SZGI_LAG_LIMIT;
    SZG_TRY(szgi_table_source(context, encoding->spec, table));
    if (table->seeded)
        return SZG_OK;
    SZG_TRY(read_lags(context, encoding));
    if (szgi_spec_given(encoding->spec, "heads") && encoding->heads != table->rows)
        return szgi_fail(context, SZG_EINVAL,
                         "relative: heads=%" PRId64 ", but the table has %" PRId64 " rows",
                         encoding->heads, table->rows);
    encoding->heads = table->rows;
    return SZG_OK;
}

static void close_relative(void *state) {
    szgi_table_close(state);
}

static double lag_of(const szg_encoding *encoding, int64_t head, int64_t k) {
    const number_table *table = encoding->state;
    if (table->seeded) /* 0, -1, 1, -2, 2, ... are numbers 0, 1, 2, 3, 4, ... of the stream */
        return szgi_table_entry(table, k < 0 ? -2 * k - 1 : 2 * k, head);
    return szgi_table_entry(table, head, encoding->limit - 1 + k);
}

static bool symmetric(const szg_encoding *encoding, int64_t head) {
    const number_table *table = encoding->state;
    for (int64_t k = 1; !table->seeded && k < encoding->limit; k++)
        if (lag_of(encoding, head, k) != lag_of(encoding, head, -k))
            return false;
    return !table->seeded || table->deviation == 0;
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)matrix;
    const number_table *table = encoding->state;
    *facts = (szg_kernel_facts){
        .matrix = "bias",
        .form = table->seeded ? SZG_FORM_UNBOUNDED : SZG_FORM_POLYNOMIAL,
        .definiteness = SZG_DEFINITE_UNKNOWN,
        .structure = SZG_KERNEL_COEFFICIENTS,
        .kind = symmetric(encoding, head) ? SZG_TOEPLITZ_SYMMETRIC : SZG_TOEPLITZ_REAL,
        .rank_bound = INT64_MAX,
        .summable = !table->seeded,
        .degree = table->seeded ? -1 : encoding->limit - 1,
        .line = table->seeded
                    ? "Independent draws at every lag do not decay: no symbol exists"
                    : "One number a lag up to the table's end: a trigonometric polynomial",
    };
}

/* Rows in the order of j - i, as published. */
static void table_of(const szg_encoding *encoding, int64_t n, szgi_encoding_table *out) {
    *out = (szgi_encoding_table){
        .array = SZGI_ARRAY_LAGS, .rows = 2 * n - 1, .columns = encoding->heads};
}

static int64_t row_of(const szg_encoding *encoding, int64_t n, int64_t k) {
    (void)encoding;
    return n - 1 - k;
}

static double initial_of(const szg_encoding *encoding, int64_t n, int64_t row, int64_t column) {
    return lag_of(encoding, column, n - 1 - row);
}

const encoding_record szgi_encoding_relative = {
    .traits = {.class = {.name = "relative",
                         .doc = "a table of one bias per lag and head",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_BIAS},
    .state_size = sizeof(number_table),
    .open = open_relative,
    .close = close_relative,
    .facts = facts_of,
    .lag = lag_of,
    .follows = {{"heads", FOLLOWS_HEADS}, {"seed", FOLLOWS_SEED}},
    .table = table_of,
    .table_initial = initial_of,
    .row_of_lag = row_of,
};
