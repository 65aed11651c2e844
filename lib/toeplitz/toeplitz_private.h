/* The layout of a Toeplitz handle and the circulant products that the room shares. */
#ifndef SZG_TOEPLITZ_PRIVATE_H
#define SZG_TOEPLITZ_PRIVATE_H

#include <pthread.h>
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

/* A circulant matrix by its eigenvalues divided by `length`: forward transform, product, backward
 * transform is then the matrix product. A real circulant keeps the first length/2 + 1 of them. */
typedef struct szgi_circulant {
    int64_t length;
    bool real;
    szg_c64 *spectrum; /* NULL: not made yet */
} szgi_circulant;

/* One thread's transforms and scratch for circulants of one length. */
typedef struct szgi_circulant_work {
    szgi_fft *forward, *backward;
    void *vector, *spectrum;
} szgi_circulant_work;

/* One transform of length n by a plan of its own. */
SZG_CHECK_RESULT szg_status szgi_transform_once(szg_context *context, szgi_fft_kind kind, int64_t n,
                                                const void *in, void *out);

/* From the `length` entries of the circulant's first column, real or complex. */
SZG_CHECK_RESULT szg_status szgi_circulant_open_real(szg_context *context, int64_t length,
                                                     const double *column, szgi_circulant *out);
SZG_CHECK_RESULT szg_status szgi_circulant_open_complex(szg_context *context, int64_t length,
                                                        const szg_c64 *column, szgi_circulant *out);
void szgi_circulant_close(szgi_circulant *circulant);

/* `complex`: for complex vectors; real ones need a real circulant. */
SZG_CHECK_RESULT szg_status szgi_circulant_work_open(szg_context *context, int64_t length,
                                                     bool complex, szgi_circulant_work *out);
void szgi_circulant_work_close(szgi_circulant_work *work);

/* The first n entries of op(C) applied to x, n <= length numbers followed by zeros; added to y
 * where `add`. */
SZG_CHECK_RESULT szg_status szgi_circulant_run(szg_context *context,
                                               const szgi_circulant *circulant,
                                               szgi_circulant_work *work, char op, int64_t n,
                                               const double *x, double *y, bool add);
SZG_CHECK_RESULT szg_status szgi_circulant_run_complex(szg_context *context,
                                                       const szgi_circulant *circulant,
                                                       szgi_circulant_work *work, char op,
                                                       int64_t n, const szg_c64 *x, szg_c64 *y);

/* Products of long real matrices, see pair.c. */
typedef struct szgi_pair szgi_pair;
bool szgi_pair_serves(const szg_toeplitz *t);
/* Of T, or where `causal` of its lower triangle. */
SZG_CHECK_RESULT szg_status szgi_pair_open(szg_context *context, const szg_toeplitz *t, bool causal,
                                           szgi_pair **out);
void szgi_pair_close(szgi_pair **pair);
/* y = op(T) x, n numbers each; added to y where `add`. Two blocks of the pool; x and y do not
 * overlap. Several threads may use one pair. */
SZG_CHECK_RESULT szg_status szgi_pair_run(szg_context *context, szgi_pair *pair, char op, int64_t n,
                                          const double *x, double *y, bool add);
/* Where the eigenvalues of a symmetric T lie, without rounding: between the means of the ends of C
 * and S (Weyl). */
void szgi_pair_range(const szgi_pair *pair, double *lo, double *hi);
/* T's pair, made on first use. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_pair(szg_context *context, const szg_toeplitz *t,
                                               bool causal, szgi_pair **out);

struct szg_toeplitz {
    szg_toeplitz_kind kind;
    int64_t n, degree;
    /* 2 degree + 1 coefficients, lag -degree first; one of the two is set */
    double *real;
    szg_c64 *complex;
    pthread_mutex_t lock;        /* guards what is made when first needed: */
    szgi_circulant full, causal; /* embeddings of T and of its lower triangle, diagonal included */
    szgi_pair *pair, *causal_pair;
};

/* a_lag of a real kind, |lag| <= degree. */
static inline double szgi_toeplitz_real_at(const szg_toeplitz *t, int64_t lag) {
    return t->real[lag + t->degree];
}

/* Whether products are sums over a narrow band or a small matrix, without an embedding. */
bool szgi_toeplitz_is_direct(const szg_toeplitz *t);
/* The circulant that T, or where `causal` its lower triangle, is the leading block of; made on
 * first use, and T's. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_embedding(szg_context *context, const szg_toeplitz *t,
                                                    bool causal, const szgi_circulant **out);

/* op(T) or, where `causal`, op of T's lower triangle, applied to `batch` vectors; added to y where
 * `add`. Arguments have been checked. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_multiply(szg_context *context, const szg_toeplitz *t,
                                                   bool causal, char op, int64_t batch,
                                                   const double *x, int64_t ldx, double *y,
                                                   int64_t ldy, bool add);

/* SZG_EINVAL for an op other than n, t, c, a negative batch, or a leading dimension below n. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_check_vectors(szg_context *context, int64_t n, char op,
                                                        int64_t batch, int64_t ldx, int64_t ldy);

static inline szg_c64 szgi_multiply(szg_c64 x, szg_c64 y) {
    return (szg_c64){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static inline szg_c64 szgi_conjugate(szg_c64 x) {
    return (szg_c64){x.re, -x.im};
}

#define ROUNDING 0x1p-53 /* u: the relative error of one operation */

/* Squared Frobenius norms of a matrix's Toeplitz part and of the rest, in any common unit, and
 * bounds of their errors. */
typedef struct szgi_split {
    double part, rest, part_error, rest_error;
} szgi_split;

/* SZG_EDOMAIN: both squares are 0. */
SZG_CHECK_RESULT szg_status szgi_split_tau(szg_context *context, const szgi_split *split,
                                           szg_tau *out);

#endif
