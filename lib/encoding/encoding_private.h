/* What the files of one encoding each share: the handle, and the table of functions behind it. */
#ifndef SZG_ENCODING_PRIVATE_H
#define SZG_ENCODING_PRIVATE_H

#include "encoding/encoding.h"

/* Lag bias and coefficients are addressed by 32-bit random counters and kept as arrays. */
#define SZG_LAG_LIMIT ((int64_t)1 << 31)

/* A size of a model that a key takes, where it is not given. */
typedef enum encoding_size {
    FOLLOWS_WIDTH,
    FOLLOWS_HEAD_DIM,
    FOLLOWS_HEADS,
    FOLLOWS_SEED,           /* only where there is no table= */
    FOLLOWS_HEAD_DIM_FREELY /* a default: another value may be given */
} encoding_size;

typedef struct encoding_follow {
    const char *key; /* NULL: the list ends */
    encoding_size size;
} encoding_follow;

/* Behind each name of a SPEC. Functions that an encoding does not need are NULL. Head, matrix and n
 * are checked before the call. */
typedef struct encoding_type {
    szgi_spec_class class;
    szg_status (*open)(szg_context *context, szg_encoding *encoding);
    void (*facts)(const szg_encoding *encoding, int64_t head, int64_t matrix,
                  szg_kernel_facts *facts);
    /* a_k of a real Toeplitz kernel that is not SZG_KERNEL_COSINES. */
    double (*lag)(const szg_encoding *encoding, int64_t head, int64_t k);
    /* Row i of the input. */
    void (*input)(const szg_encoding *encoding, int64_t i, double *p);
    /* Overrides the way from facts and lags to the operator; n is at most SZG_LAG_LIMIT. */
    szg_status (*kernel)(szg_context *context, const szg_encoding *encoding, int64_t head,
                         int64_t n, szg_toeplitz **out);
    /* In a decoder that trains: keys that follow from its sizes, the array that it may train, one
     * of its initial numbers, and the row of a lag. */
    encoding_follow follows[4];
    void (*table)(const szg_encoding *encoding, int64_t n, szg_encoding_table *out);
    double (*table_initial)(const szg_encoding *encoding, int64_t n, int64_t row, int64_t column);
    int64_t (*row_of_lag)(const szg_encoding *encoding, int64_t n, int64_t k);
    double (*symbol)(const szg_encoding *encoding, double theta);
    void (*symbol_range)(const szg_encoding *encoding, szg_interval *min, szg_interval *max,
                         double *theta_min, double *theta_max);
} encoding_type;

struct szg_encoding {
    const encoding_type *type;
    szgi_spec *spec;
    int attaches;
    int64_t heads, dim, matrices;
    int64_t input_dim; /* columns of the input rows; 0: dim */
    int64_t limit;     /* largest n that the encoding is defined for; INT64_MAX: any */

    szg_rotary rotary;   /* of a head that rotates */
    double *theta;       /* owned; rotary.theta points here */
    bool *rotates;       /* [heads]; NULL: every head */
    int64_t atoms;       /* distinct points e^{+-i theta_t} */
    double *input_theta; /* rope+absolute: of the input rows; absolute has them in theta */
    int64_t input_atoms;

    double rho;    /* kms */
    double *slope; /* alibi: [heads] */
    bool seeded;   /* rows of a table are drawn, not read */
    uint64_t seed;
    double deviation; /* of the drawn entries */
    double *table;    /* [table_rows][table_columns] of a file */
    int64_t table_rows, table_columns;
    int64_t buckets, max_distance; /* t5 */
    bool bidirectional;
    szg_c64 *coefficient; /* complex coefficients of a file; then table is NULL */
    bool full;            /* ... with negative lags too */
};

extern const encoding_type szgi_encoding_nope, szgi_encoding_absolute, szgi_encoding_learned,
    szgi_encoding_random, szgi_encoding_relative, szgi_encoding_t5, szgi_encoding_alibi,
    szgi_encoding_rope, szgi_encoding_rope_absolute, szgi_encoding_mla, szgi_encoding_kms,
    szgi_encoding_file;

/* The SPEC as keys and values, of the registered classes. */
SZG_CHECK_RESULT szg_status szgi_encoding_spec_parse(szg_context *context, const char *text,
                                                     szgi_spec **out);

/* The type behind class `index` of szgi_encoding_class_at. */
const encoding_type *szgi_encoding_type_at(int64_t index);

/* Keys are listed in static tables, which take no function: macros. */
#define HEADS_KEY(default_heads, text)                                                             \
    {                                                                                              \
        .name = "heads", .type = SZG_KEY_INTEGER, .fallback = default_heads, .min = 1,             \
        .max = 65536, .doc = text                                                                  \
    }

/* ---- cosines.c: what sinusoidal and rotary encodings share ---- */

/* theta_t = base^(-2t/size), t = 0 .. pairs - 1. */
void szgi_cosines_frequencies(int64_t pairs, int64_t size, double base, double *theta);

/* Number of distinct points e^{+-i theta_t} on the circle, and 1 where `constant` dimensions stay.
 */
SZG_CHECK_RESULT szg_status szgi_cosines_atoms(szg_context *context, int64_t pairs,
                                               const double *theta, bool constant, int64_t *atoms);

void szgi_cosines_facts(const szg_rotary *rotary, int64_t atoms, const char *matrix, double scale,
                        szg_kernel_facts *facts);

/* a_0 .. a_{n-1} of scale (2 sum cos(k theta_t) + unrotated) / dim, in parallel. */
SZG_CHECK_RESULT szg_status szgi_cosines_lags(szg_context *context, const szg_kernel_facts *facts,
                                              int64_t n, double *lags);

/* (sin i theta_t, cos i theta_t), t = 0, 1, ...: Vaswani et al. 2017, 3.5; paper Eq. 1. */
void szgi_cosines_input(const szg_encoding *encoding, int64_t i, double *p);

/* ---- scaling.c: the family of rotary frequencies ---- */

/* Keys that every rotary encoding has, to be listed in its table (a macro, for static tables). */
#define ROTARY_KEYS                                                                                \
    {.name = "base",                                                                               \
     .type = SZG_KEY_REAL,                                                                         \
     .fallback = "10000",                                                                          \
     .min = 1,                                                                                     \
     .max = 1e15,                                                                                  \
     .doc = "theta_t = base^(-2t/rotary), the angle of pair t a position"},                        \
        {.name = "pairing",                                                                        \
         .type = SZG_KEY_CHOICE,                                                                   \
         .fallback = "interleaved",                                                                \
         .choices = "interleaved|half",                                                            \
         .doc = "which dimensions form pair t: 2t and 2t+1, or t and t+rotary/2"},                 \
        {.name = "scaling",                                                                        \
         .type = SZG_KEY_CHOICE,                                                                   \
         .fallback = "none",                                                                       \
         .choices = "none|linear|ntk|dynamic|yarn|llama3|proportional",                            \
         .doc = "how context extension changes the frequencies"},                                  \
        {.name = "factor",                                                                         \
         .type = SZG_KEY_REAL,                                                                     \
         .min = 1,                                                                                 \
         .max = 1e9,                                                                               \
         .doc = "the extension factor (proportional: default 1)"},                                 \
        {.name = "original",                                                                       \
         .type = SZG_KEY_REAL,                                                                     \
         .min = 1,                                                                                 \
         .max = 1e12,                                                                              \
         .doc = "dynamic, yarn, llama3 (there 8192 by default): context length before"},           \
        {.name = "length",                                                                         \
         .type = SZG_KEY_REAL,                                                                     \
         .min = 1,                                                                                 \
         .max = 1e18,                                                                              \
         .doc = "dynamic: context length in use"},                                                 \
        {.name = "low",                                                                            \
         .type = SZG_KEY_REAL,                                                                     \
         .fallback = "1",                                                                          \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .doc = "llama3: low_freq_factor"},                                                        \
        {.name = "high",                                                                           \
         .type = SZG_KEY_REAL,                                                                     \
         .fallback = "4",                                                                          \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .doc = "llama3: high_freq_factor"},                                                       \
        {.name = "beta_fast",                                                                      \
         .type = SZG_KEY_REAL,                                                                     \
         .fallback = "32",                                                                         \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .doc = "yarn: rotations above which a frequency stays"},                                  \
        {.name = "beta_slow",                                                                      \
         .type = SZG_KEY_REAL,                                                                     \
         .fallback = "1",                                                                          \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .doc = "yarn: rotations below which a frequency is divided by the factor"},               \
    {                                                                                              \
        .name = "attention_factor", .type = SZG_KEY_REAL, .min = 1e-6, .max = 1e6,                 \
        .doc = "yarn: multiplies rotated queries and keys (default 0.1 ln(factor) + 1)"            \
    }

/* Fills rotary (dim, offset, pairs, pairing, theta, amplitude), theta and atoms of an encoding
 * with the keys above: the first `rotary` dimensions from `offset` on rotate. */
SZG_CHECK_RESULT szg_status szgi_scaling_open(szg_context *context, szg_encoding *encoding,
                                              int64_t offset, int64_t rotary);

/* SZG_EINVAL for an odd number of dimensions. */
SZG_CHECK_RESULT szg_status szgi_require_even(szg_context *context, const szg_encoding *encoding,
                                              const char *key, int64_t value);

/* ---- tables.c: learned and random numbers ---- */

#define TABLE_KEYS(deviation_default)                                                              \
    {.name = "table", .type = SZG_KEY_TEXT, .doc = "trained numbers, a .npy file"},                \
        {.name = "seed",                                                                           \
         .type = SZG_KEY_INTEGER,                                                                  \
         .min = 0,                                                                                 \
         .max = 9007199254740992,                                                                  \
         .doc = "draws normal numbers where there is no table"},                                   \
    {                                                                                              \
        .name = "std", .type = SZG_KEY_REAL, .fallback = deviation_default, .min = 0, .max = 1e6,  \
        .doc = "standard deviation of the drawn numbers"                                           \
    }

/* Exactly one of table= and seed= must be given; sets up the draw. */
SZG_CHECK_RESULT szg_status szgi_tables_source(szg_context *context, szg_encoding *encoding);

/* The same, and reads the file: a 2-D array; `shape` says for messages what it should hold. */
SZG_CHECK_RESULT szg_status szgi_tables_open(szg_context *context, szg_encoding *encoding,
                                             const char *shape);

/* Entry (row, column) of the file, or draw number `row` of stream `column`. */
double szgi_tables_entry(const szg_encoding *encoding, int64_t row, int64_t column);

/* ---- positions.c: shared by learned and random ---- */

#define POSITION_KEYS(deviation)                                                                   \
    {.name = "dim",                                                                                \
     .type = SZG_KEY_INTEGER,                                                                      \
     .fallback = "64",                                                                             \
     .min = 1,                                                                                     \
     .max = 1048576,                                                                               \
     .doc = "dimension of the position vectors; a table's own wins"},                              \
        TABLE_KEYS(deviation)

szg_status szgi_positions_open(szg_context *context, szg_encoding *encoding);
void szgi_positions_facts(const szg_encoding *encoding, int64_t head, int64_t matrix,
                          szg_kernel_facts *facts);
void szgi_positions_input(const szg_encoding *encoding, int64_t i, double *p);
void szgi_positions_table(const szg_encoding *encoding, int64_t n, szg_encoding_table *out);
double szgi_positions_initial(const szg_encoding *encoding, int64_t n, int64_t row, int64_t column);

#endif
