/* A matrix whose spectrum is that of one or two arrays together: how its ends are proved. */
#ifndef SZG_SPECTRA_CERTIFIED_BLOCKS_H
#define SZG_SPECTRA_CERTIFIED_BLOCKS_H

#include "certified.h"

enum { SZGI_BLOCKS = 2 };

/* All numbers are scaled by 2^-exponent. */
typedef struct szgi_block_set {
    int exponent;
    int64_t count;
    bool values;       /* every eigenvalue is wanted */
    bool semidefinite; /* no eigenvalue is below 0, which follows from the structure */
    bool singular;     /* and 0 is one of them */
    szgi_block block[SZGI_BLOCKS];
    double *work[SZGI_BLOCKS];
    double least, largest, margin; /* of the search */
    szg_interval min[SZGI_BLOCKS], max[SZGI_BLOCKS];
    double *lo, *hi; /* of the blocks after each other */
    double *memory;
} szgi_block_set;

/* The exponent, so that numbers up to `largest` are below 1, and memory for blocks whose count,
 * orders and widths are set. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_blocks_open(szg_context *context, double largest,
                                             szgi_block_set *set);
void szgi_blocks_close(szgi_block_set *set);

/* The certified ends of *spectrum, whose computed ends guide the search. */
SZG_CHECK_RESULT szg_status szgi_blocks_prove(szg_context *context, szgi_block_set *set,
                                              szg_spectrum *spectrum);

/* x 2^exponent, rounded towards `side`. */
double szgi_scale_outwards(double x, int exponent, double side);

/* The Hermitian matrix whose lower triangle differs by `error` at most, in norm, from that of the
 * array, `width` doubles an entry, rows lda entries apart. */
SZG_CHECK_RESULT szg_status szgi_certify_array(szg_context *context, bool values, int64_t n,
                                               int64_t width, const double *a, int64_t lda,
                                               double error, szg_spectrum *spectrum);

/* Both ends are the number x. */
void szgi_certify_point(double x, szg_spectrum *spectrum);
/* And with `values` every listed value, where none has bounds yet. */
SZG_CHECK_RESULT szg_status szgi_certify_points(szg_context *context, double x, bool values,
                                                szg_spectrum *spectrum);

/* certified_cosines.c: sums of cosines, by entries that Arb encloses. */
SZG_CHECK_RESULT szg_status szgi_certify_cosines(szg_context *context, const szg_matrix *matrix,
                                                 bool values, szg_spectrum *spectrum);

/* a_k = sum_t w_t cos(k theta_t) of order n; theta_t >= 0, w_t > 0. */
typedef struct szgi_cosine_term {
    double theta, weight;
} szgi_cosine_term;
typedef struct szgi_cosine_terms {
    int64_t n, count;
    const szgi_cosine_term *term;
} szgi_cosine_terms;

/* certified_least.c: *out holds the least eigenvalue of a positive definite sum of cosines; its
 * ends are 0 and infinity where nothing is proved. The time grows with n^3. */
enum {
    SZGI_LEAST_ORDER = 128, /* some second at most */
    SZGI_LEAST_QUICK = 64   /* 50 ms */
};
SZG_CHECK_RESULT szg_status szgi_certify_least(szg_context *context,
                                               const szgi_cosine_terms *terms, szg_interval *out);

/* certified_gram.c: B B^T, where A and B are one array and nothing is added or masked; no other. */
SZG_CHECK_RESULT szg_status szgi_certify_gram(szg_context *context, const szg_factored *f,
                                              bool values, szg_spectrum *spectrum);

/* certified_logits.c: the Hermitian part of symmetric logits, A = c B; no others. */
SZG_CHECK_RESULT szg_status szgi_certify_logits(szg_context *context, const szg_factored *f,
                                                bool values, szg_spectrum *spectrum);

#endif
