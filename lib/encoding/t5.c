/* T5's relative bias (Raffel et al. 2020): b[bucket(j - i)], buckets of one lag each up to half of
 * them, logarithmic beyond. */
#include <inttypes.h>
#include <math.h>

#include "encoding/record.h"
#include "encoding/tables.h"

static const szgi_key keys[] = {
    {.name = "buckets",
     .type = SZGI_KEY_INTEGER,
     .fallback = "32",
     .min = 2,
     .max = 65536,
     .doc = "number of buckets (relative_attention_num_buckets)"},
    {.name = "max_distance",
     .type = SZGI_KEY_INTEGER,
     .fallback = "128",
     .min = 2,
     .max = 1073741824,
     .doc = "all distances from this one on share the last bucket"},
    {.name = "direction",
     .type = SZGI_KEY_CHOICE,
     .fallback = "bidirectional",
     .choices = "bidirectional|causal",
     .doc = "half of the buckets for each side, or all for the past and bucket 0 for the future"},
    HEADS_KEY("1", "number of heads; a table has its own"),
    TABLE_KEYS("1"),
};

typedef struct t5 {
    number_table table; /* [buckets][heads] */
    int64_t buckets, max_distance;
    bool bidirectional;
} t5;

/* Buckets of one side. */
static int64_t side_buckets(const t5 *self) {
    return self->bidirectional ? self->buckets / 2 : self->buckets;
}

/* The published rule truncates log(d/exact) / log(max_distance/exact) * (buckets - exact); where
 * that is a whole number in exact arithmetic rounding must not make it one less. */
static int64_t side_bucket(const t5 *self, int64_t distance) {
    int64_t buckets = side_buckets(self), exact = buckets / 2;
    if (distance < exact)
        return distance;
    double ratio =
        log((double)distance / (double)exact) / log((double)self->max_distance / (double)exact);
    double bucket = (double)exact + floor(ratio * (double)(buckets - exact) * (1 + 1e-14) + 1e-14);
    return bucket < (double)buckets ? (int64_t)bucket : buckets - 1;
}

/* Bucket of lag k = i - j; the key lies in the future where k < 0. */
static int64_t bucket_of(const t5 *self, int64_t k) {
    if (k >= 0)
        return side_bucket(self, k);
    return self->bidirectional ? side_buckets(self) + side_bucket(self, -k) : 0;
}

static szg_status check_rule(szg_context *context, const t5 *self) {
    if (self->bidirectional && self->buckets % 2)
        return szgi_fail(context, SZG_EINVAL,
                         "t5: buckets=%" PRId64 " is odd: direction=bidirectional halves them",
                         self->buckets);
    int64_t exact = side_buckets(self) / 2;
    if (exact < 1)
        return szgi_fail(context, SZG_EINVAL,
                         "t5: buckets=%" PRId64 " leaves no bucket for single distances: at least "
                         "%d",
                         self->buckets, self->bidirectional ? 4 : 2);
    if (self->max_distance <= exact)
        return szgi_fail(context, SZG_EINVAL,
                         "t5: max_distance=%" PRId64 " must exceed the %" PRId64
                         " distances that have a bucket of their own",
                         self->max_distance, exact);
    return SZG_OK;
}

static szg_status check_table(szg_context *context, szg_encoding *encoding) {
    const t5 *self = encoding->state;
    if (self->table.seeded)
        return SZG_OK;
    if (self->table.rows != self->buckets)
        return szgi_fail(context, SZG_EINVAL,
                         "t5: the table has %" PRId64 " rows, but buckets=%" PRId64
                         ": its shape is [buckets, heads]",
                         self->table.rows, self->buckets);
    if (szgi_spec_given(encoding->spec, "heads") && encoding->heads != self->table.columns)
        return szgi_fail(context, SZG_EINVAL,
                         "t5: heads=%" PRId64 ", but the table has %" PRId64 " columns",
                         encoding->heads, self->table.columns);
    encoding->heads = self->table.columns;
    return SZG_OK;
}

static szg_status open_t5(szg_context *context, szg_encoding *encoding) {
    const szgi_spec *spec = encoding->spec;
    t5 *self = encoding->state;
    self->buckets = szgi_spec_integer(spec, "buckets");
    self->max_distance = szgi_spec_integer(spec, "max_distance");
    self->bidirectional = szgi_spec_choice(spec, "direction") == 0;
    encoding->heads = szgi_spec_integer(spec, "heads");
    SZG_TRY(check_rule(context, self));
    SZG_TRY(szgi_table_open(context, spec, "[buckets, heads]", &self->table));
    return check_table(context, encoding);
}

static void close_t5(void *state) {
    t5 *self = state;
    szgi_table_close(&self->table);
}

static double lag_of(const szg_encoding *encoding, int64_t head, int64_t k) {
    const t5 *self = encoding->state;
    return szgi_table_entry(&self->table, bucket_of(self, k), head);
}

/* Compares buckets in place of lags: as many lags as max_distance may share them. */
static bool symmetric(const t5 *self, int64_t head) {
    int64_t side = side_buckets(self);
    for (int64_t bucket = 1; bucket < side; bucket++) {
        int64_t opposite = self->bidirectional ? side + bucket : 0;
        if (szgi_table_entry(&self->table, bucket, head) !=
            szgi_table_entry(&self->table, opposite, head))
            return false;
    }
    return true;
}

/* Largest lag outside the tails: the last distance that does not fall into the last bucket. */
static int64_t last_inner_lag(const t5 *self) {
    int64_t low = 0, high = self->max_distance;
    int64_t last = side_buckets(self) - 1;
    while (low < high) { /* buckets ascend with the distance */
        int64_t middle = low + (high - low) / 2;
        if (side_bucket(self, middle) < last)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)matrix;
    const t5 *self = encoding->state;
    double plus = lag_of(encoding, head, self->max_distance);
    double minus = lag_of(encoding, head, -self->max_distance);
    *facts = (szg_kernel_facts){
        .matrix = "bias",
        .form = SZG_FORM_POLYNOMIAL_TAILS,
        .definiteness = SZG_DEFINITE_UNKNOWN,
        .structure = SZG_KERNEL_COEFFICIENTS,
        .kind = symmetric(self, head) ? SZG_TOEPLITZ_SYMMETRIC : SZG_TOEPLITZ_REAL,
        .rank_bound = INT64_MAX,
        .summable = plus == 0 && minus == 0,
        .degree = last_inner_lag(self),
        .tail_plus = plus,
        .tail_minus = minus,
        .line = plus == minus ? "A trigonometric polynomial plus the same constant at all far "
                                "lags: a multiple of the all-ones matrix"
                              : "A trigonometric polynomial plus different constants at the far "
                                "lags of either side: its antisymmetric part has an unbounded "
                                "symbol",
    };
}

static void table_of(const szg_encoding *encoding, int64_t n, szgi_encoding_table *out) {
    (void)n;
    const t5 *self = encoding->state;
    *out = (szgi_encoding_table){
        .array = SZGI_ARRAY_LAGS, .rows = self->buckets, .columns = encoding->heads};
}

static int64_t row_of(const szg_encoding *encoding, int64_t n, int64_t k) {
    (void)n;
    const t5 *self = encoding->state;
    return bucket_of(self, k);
}

static double initial_of(const szg_encoding *encoding, int64_t n, int64_t row, int64_t column) {
    (void)n;
    const t5 *self = encoding->state;
    return szgi_table_entry(&self->table, row, column);
}

const encoding_record szgi_encoding_t5 = {
    .traits = {.class = {.name = "t5",
                         .doc = "T5's bucketed relative bias",
                         .reference = "Raffel et al. 2020",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_BIAS},
    .state_size = sizeof(t5),
    .open = open_t5,
    .close = close_t5,
    .facts = facts_of,
    .lag = lag_of,
    .follows = {{"heads", FOLLOWS_HEADS}, {"seed", FOLLOWS_SEED}},
    .table = table_of,
    .table_initial = initial_of,
    .row_of_lag = row_of,
};
