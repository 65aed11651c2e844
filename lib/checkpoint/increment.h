/* What one head's M = scale W_Q^T W_K becomes from one checkpoint, A, to another, B: with dW the
 * difference of the weights, M_B - M_A = D2 + D3, where D2 = dW_Q^T W_K + W_Q^T dW_K has the
 * weights of A and D3 = dW_Q^T dW_K. All are products of factors d x 2e, and no d x d array is
 * formed. */
#ifndef SZG_CHECKPOINT_INCREMENT_H
#define SZG_CHECKPOINT_INCREMENT_H

#include "base/context.h"

typedef enum szgi_increment_matrix {
    SZGI_INCREMENT_BASE,   /* M_A */
    SZGI_INCREMENT_OTHER,  /* M_B */
    SZGI_INCREMENT_D2,     /* the part of first order */
    SZGI_INCREMENT_D3,     /* the part of second order */
    SZGI_INCREMENT_CHANGE, /* D2 + D3 */
    SZGI_INCREMENT_MATRICES
} szgi_increment_matrix;

/* "base", "qk", "d2", "d3", "change" */
const char *szgi_increment_name(szgi_increment_matrix matrix);

typedef struct szgi_increment_norms {
    double spectral, frobenius, nuclear;
    double stable_rank; /* (frobenius / spectral)^2; NaN of the zero matrix */
    double entropy;     /* -sum p log p, p = sigma / sum sigma, in nats; NaN of the zero matrix */
} szgi_increment_norms;

/* The largest principal angles, in radians, between the spans of the first `top` singular vectors
 * of M_A and of M_B; NaN where a span is not determined. gap: the smaller one of the two matrices'
 * (sigma_top - sigma_(top + 1)) / sigma_1. Rounding moves an angle by about eps / gap. */
typedef struct szgi_increment_angles {
    int64_t top;
    double left, right, gap;
} szgi_increment_angles;

enum { SZGI_INCREMENT_SPANS = 2 };

typedef struct szgi_increment {
    bool same;      /* no weight differs: D2 and D3 are 0, B is A */
    int64_t values; /* singular values a matrix, zeros by structure among them: min(2e, d) */
    double *value[SZGI_INCREMENT_MATRICES]; /* each descending; value[0] owns them all */
    szgi_increment_norms norms[SZGI_INCREMENT_MATRICES];
    szgi_increment_angles angles[SZGI_INCREMENT_SPANS]; /* of 1 vector, and of `top` */
} szgi_increment;

/* Queries or keys of both checkpoints. */
typedef struct szgi_increment_side {
    double *a, *b;  /* e x d each: rows of A; of B, which become dW; divided by 2^exponent */
    double *factor; /* 2e x min(2e, d): coordinates of both in one orthonormal basis */
    bool same;      /* dW = 0 */
    bool gone;      /* the weights of B are 0 */
    int exponent;
} szgi_increment_side;

/* The arrays of one worker. */
typedef struct szgi_increment_work {
    double *memory; /* all of them; NULL: not open */
    int64_t e, d;
    szgi_increment_side q, k;
    double *core[SZGI_INCREMENT_MATRICES];       /* the matrices in those bases */
    double *left_a, *right_a, *left_b, *right_b; /* singular vectors of M_A and M_B */
    double *copy;
} szgi_increment_work;

SZG_CHECK_RESULT szg_status szgi_increment_open(szg_context *context, int64_t e, int64_t d,
                                                szgi_increment_work *work);
void szgi_increment_close(szgi_increment_work *work);

/* Factors a side whose rows of A and B the caller has put into side->a and side->b. */
SZG_CHECK_RESULT szg_status szgi_increment_factor(szg_context *context,
                                                  const szgi_increment_work *work,
                                                  szgi_increment_side *side);
/* From work->q and work->k, both factored. SZG_EDATA: norms outside the doubles; SZG_ENOCONV. The
 * caller releases *out, after a failure too. */
SZG_CHECK_RESULT szg_status szgi_increment_compute(szg_context *context, szgi_increment_work *work,
                                                   int64_t top, szgi_increment *out);
void szgi_increment_release(szgi_increment *increment);

#endif
