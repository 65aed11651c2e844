/* What an encoding's name refers to: a constant record in a file of its own, and the handle that
 * its `open` fills. `encodings.def` lists the records. */
#ifndef SZG_ENCODING_RECORD_H
#define SZG_ENCODING_RECORD_H

#include "encoding/encoding.h"

/* Lag bias and coefficients are addressed by 32-bit random counters and kept as arrays. */
#define SZGI_LAG_LIMIT ((int64_t)1 << 31)

/* A size of a model that a key takes unless it is given. */
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

/* Functions that an encoding does not need are NULL. Head, matrix and n are checked before the
 * call. */
typedef struct encoding_record {
    szgi_encoding_traits traits; /* what the name alone tells: keys, help, what it attaches to */

    /* The state that is the encoding's own: its size, what fills it (zeroed before) and sets what
     * the SPEC decides of the handle, and what frees the arrays in it, also after `open` failed. */
    int64_t state_size;
    szg_status (*open)(szg_context *context, szg_encoding *encoding);
    void (*close)(void *state);

    /* Its matrices, described: structure and parameters decide the solver, the rest the theorem. */
    void (*facts)(const szg_encoding *encoding, int64_t head, int64_t matrix,
                  szg_kernel_facts *facts);
    /* a_k of a real kernel; SZG_KERNEL_ZERO and SZG_KERNEL_COSINES follow from the facts. */
    double (*lag)(const szg_encoding *encoding, int64_t head, int64_t k);
    /* Overrides the way from facts and lags to the operator; n is at most SZGI_LAG_LIMIT. */
    szg_status (*kernel)(szg_context *context, const szg_encoding *encoding, int64_t head,
                         int64_t n, szg_toeplitz **out);
    /* SZG_FORM_CLOSED: the symbol, and enclosures of its ends. */
    double (*symbol)(const szg_encoding *encoding, int64_t head, double theta);
    void (*symbol_range)(const szg_encoding *encoding, int64_t head, szg_interval *min,
                         szg_interval *max, double *theta_min, double *theta_max);

    /* SZGI_ATTACH_INPUT: row i. SZGI_ATTACH_ROTARY: the rotation of a head. */
    void (*input)(const szg_encoding *encoding, int64_t i, double *p);
    void (*rotary)(const szg_encoding *encoding, int64_t head, szgi_rotary *out);

    /* In a decoder that trains: keys that follow from its sizes, the array that it may train, one
     * of its initial numbers, and the row of a lag. */
    encoding_follow follows[4];
    void (*table)(const szg_encoding *encoding, int64_t n, szgi_encoding_table *out);
    double (*table_initial)(const szg_encoding *encoding, int64_t n, int64_t row, int64_t column);
    int64_t (*row_of_lag)(const szg_encoding *encoding, int64_t n, int64_t k);
} encoding_record;

/* What `open` sets begins as the comment says. */
struct szg_encoding {
    const encoding_record *record;
    szgi_spec *spec;
    void *state;
    int attaches;      /* the record's */
    int64_t heads;     /* 1 */
    int64_t matrices;  /* 1 */
    int64_t dim;       /* 0: any */
    int64_t input_dim; /* columns of the input rows; 0: dim */
    int64_t limit;     /* largest n that the encoding is defined for; INT64_MAX: any */
    const char *unfit; /* NULL, or why no decoder can have it: a clause */
    bool *bad;         /* [heads], or NULL: heads of a file whose numbers cannot be computed with */
};

/* ---- list.c ---- */

/* 0 <= index < szgi_encoding_classes(). */
const encoding_record *szgi_encoding_record_at(int64_t index);

/* A SPEC of one of the records, from its text or from values. */
SZG_CHECK_RESULT szg_status szgi_encoding_spec_parse(szg_context *context, const char *text,
                                                     szgi_spec **out);
SZG_CHECK_RESULT szg_status szgi_encoding_spec_open(szg_context *context, const char *name,
                                                    const szgi_key_value *values, int64_t count,
                                                    szgi_spec **out);

/* ---- encoding.c ---- */

/* An encoding of a SPEC, which it owns then, also after a failure. */
SZG_CHECK_RESULT szg_status szgi_encoding_take_spec(szg_context *context, szgi_spec *spec,
                                                    szg_encoding **out);

/* SZG_EINVAL: no such head. SZG_EINVAL, SZG_EDOMAIN: not an n that it is defined for. SZG_EDOMAIN:
 * it has no `what`. */
SZG_CHECK_RESULT szg_status szgi_encoding_check_head(szg_context *context,
                                                     const szg_encoding *encoding, int64_t head);
SZG_CHECK_RESULT szg_status szgi_encoding_check_length(szg_context *context,
                                                       const szg_encoding *encoding, int64_t n);
SZG_CHECK_RESULT szg_status szgi_encoding_lacks(szg_context *context, const szg_encoding *encoding,
                                                const char *what);

/* ---- attention.c ---- */

/* a_first .. a_{first+count-1} of a real Toeplitz matrix of head `head`, in parallel. */
SZG_CHECK_RESULT szg_status szgi_encoding_lags(szg_context *context, const szg_encoding *encoding,
                                               int64_t head, const szg_kernel_facts *facts,
                                               int64_t first, int64_t count, double *out);

/* ---- Keys ----
 * Static tables take no function: macros. */

#define KEYS(array) .key = array, .keys = sizeof array / sizeof *array

#define HEADS_KEY(default_heads, text)                                                             \
    {                                                                                              \
        .name = "heads", .type = SZGI_KEY_INTEGER, .fallback = default_heads, .min = 1,            \
        .max = 65536, .doc = text                                                                  \
    }

#endif
