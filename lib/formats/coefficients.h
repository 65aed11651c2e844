/* Toeplitz coefficients from a file. */
#ifndef SZEGO_FORMATS_COEFFICIENTS_H
#define SZEGO_FORMATS_COEFFICIENTS_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef enum szgi_lags {
    SZGI_LAGS_HERMITIAN, /* m values a head: lags 0 .. m-1, a_{-k} = conj(a_k) */
    SZGI_LAGS_FULL       /* 2m-1 values a head: lag -(m-1) first */
} szgi_lags;

/* heads x count values, row-major: one row a head. Exactly one of `re` and `z` is not NULL: complex
 * numbers whose imaginary parts are all zero are real. */
typedef struct szgi_coefficients {
    int64_t heads, count;
    szgi_lags lags;
    double *re; /* real coefficients */
    szg_c64 *z; /* complex coefficients */
    bool *bad;  /* [heads], or NULL: none; those with a number that is not finite, or whose moduli
                   sum beyond SZGI_COEFFICIENTS_SUM: nothing may be computed from them */
} szgi_coefficients;

/* The bound of sum 2 |a_k|: below it neither eigenvalues nor the trace of 2^31 positions overflow.
 */
#define SZGI_COEFFICIENTS_SUM 1e290

/* Reads FILE.npy, or a text of numbers (.csv, .txt or any other ending) separated by commas,
 * semicolons or white space, `#` beginning a comment. Numbers are decimal or hexadecimal floats, or
 * complex as 1.5-2j or (1.5-2j). One row a head; a text with one number a line, and a 1-D array, is
 * one head. SZG_EDATA, with line and column or index: no numbers, a number that is none, numbers
 * of every head NaN or infinite, rows of different lengths, more than two dimensions, an even
 * number of values for SZGI_LAGS_FULL, a lag 0 that is not real for SZGI_LAGS_HERMITIAN. SZG_EIO,
 * SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_coefficients_read(szg_context *context, const char *path,
                                                   szgi_lags lags, szgi_coefficients *out);

/* The text form from bytes; `name` is for messages. */
SZG_CHECK_RESULT szg_status szgi_coefficients_parse(szg_context *context, const char *name,
                                                    const char *text, int64_t length,
                                                    szgi_lags lags, szgi_coefficients *out);

/* Frees the arrays and zeroes the structure. */
void szgi_coefficients_close(szgi_coefficients *coefficients);

SZGI_END_DECLS

#endif
