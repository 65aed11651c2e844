/* What the house alone uses of <szego/encoding.h>: what an encoding adds to attention (bias, input
 * rows, rotations), its trained array, its closed-form symbol. */
#ifndef SZEGO_ENCODING_ENCODING_H
#define SZEGO_ENCODING_ENCODING_H

#include <szego/encoding.h>
#include "encoding/spec.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* ---- The SPEC ---- */

/* The registered kinds of encoding and their keys; 0 <= index < szgi_encoding_classes(). */
int64_t szgi_encoding_classes(void);
const szgi_spec_class *szgi_encoding_class_at(int64_t index);

/* ---- What it adds to attention ---- */

/* Bits of szgi_encoding_attaches; 0 for nope. */
typedef enum szgi_attachment {
    SZGI_ATTACH_INPUT = 1,    /* rows p_i added to the tokens: szgi_encoding_input */
    SZGI_ATTACH_BIAS = 2,     /* a lag bias added to the logits: szgi_encoding_bias */
    SZGI_ATTACH_ROTARY = 4,   /* queries and keys rotate: szgi_encoding_rotary */
    SZGI_ATTACH_DECOUPLED = 8 /* rotary dimensions have contents of their own (mla) */
} szgi_attachment;

/* What an encoding's name alone tells, before the keys of a SPEC. */
typedef struct szgi_encoding_traits {
    szgi_spec_class class;
    int attaches; /* bits of szgi_attachment; complex coefficients of `file` attach to nothing */
    /* What the code published with the paper makes of it: training's profile `released`. */
    struct {
        const char *key, *value; /* the key's value where a SPEC gives none; NULL: as everywhere */
        bool sinusoid;           /* it adds sinusoidal rows to the embeddings besides, */
        const char *unless;      /* ... but not where a SPEC gives this key */
    } released;
} szgi_encoding_traits;

/* Those of the encoding that a SPEC names; NULL: no encoding has that name. */
const szgi_encoding_traits *szgi_encoding_traits_of(const char *spec);

/* Opens the encoding of that name from values of its keys, without a text in between. Its SPEC
 * (szg_encoding_spec) is what a text with these values would give. SZG_EINVAL: as
 * szg_encoding_parse, or a value of another type than its key. */
SZG_CHECK_RESULT szg_status szgi_encoding_open(szg_context *context, const char *name,
                                               const szgi_key_value *values, int64_t count,
                                               szg_encoding **out);

/* Opens the encoding of a SPEC with values for keys that it leaves out. Errors of both. */
SZG_CHECK_RESULT szg_status szgi_encoding_open_completed(szg_context *context, const char *spec,
                                                         const szgi_key_value *values,
                                                         int64_t count, szg_encoding **out);

/* Dimension of the vectors the encoding acts on (input rows, or query and key of a head); 0 where
 * any will do (nope and biases). For mla: content plus rotary dimensions. */
int64_t szgi_encoding_dimension(const szg_encoding *encoding);

/* Bits of szgi_attachment. */
int szgi_encoding_attaches(const szg_encoding *encoding);

/* Columns of the input rows: the dimension, or another number for rope+absolute with `input=`; 0
 * without input rows. */
int64_t szgi_encoding_input_dimension(const szg_encoding *encoding);

/* Writes p_0 .. p_{n-1}, szgi_encoding_input_dimension() wide, row-major with leading dimension
 * ldp. SZG_EDOMAIN: the encoding adds no input rows, or its table has fewer than n rows. */
SZG_CHECK_RESULT szg_status szgi_encoding_input(szg_context *context, const szg_encoding *encoding,
                                                int64_t n, double *p, int64_t ldp);

/* Writes the 2n - 1 biases of lags -(n-1) .. n-1. SZG_EDOMAIN: no bias, or its table ends before
 * lag n - 1. */
SZG_CHECK_RESULT szg_status szgi_encoding_bias(szg_context *context, const szg_encoding *encoding,
                                               int64_t head, int64_t n, double *bias);

typedef enum szgi_pairing {
    SZGI_PAIRING_INTERLEAVED, /* pair t is dimensions (2t, 2t + 1): RoFormer, GPT-J */
    SZGI_PAIRING_HALF /* pair t is dimensions (t, t + pairs): GPT-NeoX, LLaMA in transformers */
} szgi_pairing;

/* The rotation of one head: dimensions offset .. offset + 2 pairs - 1 of `dim` rotate, pair t of
 * position i by the angle i theta[t]; the others do not. */
typedef struct szgi_rotary {
    int64_t dim, offset, pairs;
    int64_t unrotated;   /* dimensions that do not rotate: dim - 2 pairs */
    const double *theta; /* radians a position; borrowed from the encoding */
    szgi_pairing pairing;
    double amplitude; /* YaRN's attention factor: rotated q and k are multiplied by it; else 1 */
} szgi_rotary;

/* SZG_EDOMAIN: the encoding does not rotate. A head outside `rotate=` has pairs = 0. */
SZG_CHECK_RESULT szg_status szgi_encoding_rotary(szg_context *context, const szg_encoding *encoding,
                                                 int64_t head, szgi_rotary *out);

/* Does the SPEC give this key? No, where the encoding has none of that name. */
bool szgi_encoding_gives(const szg_encoding *encoding, const char *key);

/* Base of the rotary frequencies, the default too; NaN where nothing rotates. */
double szgi_encoding_base(const szg_encoding *encoding);

/* "interleaved" or "half", the default too; NULL where nothing rotates. */
const char *szgi_encoding_pairing(const szg_encoding *encoding);

/* SZG_EINVAL where the SPEC does not say the pairing: queries and keys of other programs show it
 * in no way. */
SZG_CHECK_RESULT szg_status szgi_encoding_need_pairing(szg_context *context,
                                                       const szg_encoding *encoding);

/* Complex rotation factors amplitude e^{i p theta_t}, [n][pairs], of positions p = 0 .. n-1. */
SZG_CHECK_RESULT szg_status szgi_encoding_factors(szg_context *context,
                                                  const szg_encoding *encoding, int64_t head,
                                                  int64_t n, szg_c64 *factors);

/* cos and sin of k theta, each to about one unit in the last place even where the product k theta
 * is large (its rounding error is carried along). */
void szgi_lag_phase(int64_t k, double theta, double *cosine, double *sine);

/* ---- In a decoder that trains ---- */

/* Sizes of a model that keys of a SPEC follow from. */
typedef struct szgi_encoding_sizes {
    int64_t width, head_dim, heads, length; /* length: positions 0 .. length - 1 occur */
    uint64_t seed;                          /* of tables that are drawn */
} szgi_encoding_sizes;

/* Parses a SPEC and sets the keys that follow from a model's sizes and are not given: dim, heads,
 * seed (where there is no table=; its low 53 bits), content and rope (head_dim, but another value
 * may be given), input rows as wide as the model. SZG_EINVAL: a given key, or a file's size, that
 * contradicts the sizes; errors of szg_encoding_parse. */
SZG_CHECK_RESULT szg_status szgi_encoding_open_sized(szg_context *context, const char *spec,
                                                     const szgi_encoding_sizes *sizes,
                                                     szg_encoding **out);

/* An array of numbers of the encoding's own, that a decoder may train. */
typedef enum szgi_encoding_array {
    SZGI_ARRAY_NONE,
    SZGI_ARRAY_INPUT, /* [rows][columns], row i added to position i: learned, random */
    SZGI_ARRAY_LAGS   /* [rows][heads], row szgi_encoding_row_of_lag(k) is the bias of lag k:
                         relative, t5 */
} szgi_encoding_array;

typedef struct szgi_encoding_table {
    szgi_encoding_array array;
    int64_t rows, columns; /* at length n */
    bool optional; /* `random`: published as fixed, a decoder may hold it fixed or train it; the
                      other arrays are always trained */
} szgi_encoding_table;

/* The array of the encoding at sequences of up to n positions. */
SZG_CHECK_RESULT szg_status szgi_encoding_table_of(szg_context *context,
                                                   const szg_encoding *encoding, int64_t n,
                                                   szgi_encoding_table *out);

/* The numbers that the array starts from, [rows][columns]: those of its table or seed. */
SZG_CHECK_RESULT szg_status szgi_encoding_table_initial(szg_context *context,
                                                        const szg_encoding *encoding, int64_t n,
                                                        double *values);

/* SZGI_ARRAY_LAGS: rows[k + n - 1] of lag k = i - j = -(n-1) .. n-1. `relative` has its rows in the
 * order of j - i. */
SZG_CHECK_RESULT szg_status szgi_encoding_row_of_lag(szg_context *context,
                                                     const szg_encoding *encoding, int64_t n,
                                                     int32_t *rows);

/* ---- Its own lag matrices ---- */

/* szg_encoding_kernel of the matrix whose facts the caller has. */
SZG_CHECK_RESULT szg_status szgi_encoding_kernel_of(szg_context *context,
                                                    const szg_encoding *encoding, int64_t head,
                                                    const szg_kernel_facts *facts, int64_t n,
                                                    szg_toeplitz **out);

/* Whether its entries are complex numbers. */
static inline bool szgi_kernel_is_complex(const szg_kernel_facts *facts) {
    return facts->kind == SZG_TOEPLITZ_HERMITIAN || facts->kind == SZG_TOEPLITZ_COMPLEX;
}

/* The closed-form symbol at theta (SZG_FORM_CLOSED). KMS: the Poisson kernel
 * (1 - rho^2) / (1 - 2 rho cos theta + rho^2) (Kac, Murdock, Szego 1953). SZG_EDOMAIN: none. */
SZG_CHECK_RESULT szg_status szgi_encoding_symbol(szg_context *context, const szg_encoding *encoding,
                                                 int64_t head, int64_t matrix, double theta,
                                                 double *value);

/* Enclosures of the closed-form symbol's minimum and maximum and where they lie. They bound the
 * eigenvalues at every N. SZG_EDOMAIN: no closed form. */
SZG_CHECK_RESULT szg_status szgi_encoding_symbol_range(szg_context *context,
                                                       const szg_encoding *encoding, int64_t head,
                                                       int64_t matrix, szg_interval *min,
                                                       szg_interval *max, double *theta_min,
                                                       double *theta_max);

SZGI_END_DECLS

#endif
