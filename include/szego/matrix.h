/* A matrix as one argument: what it is, and where its numbers are. Spectra, summaries and
 * contractions take one; which algorithm serves which structure is the library's affair. */
#ifndef SZEGO_MATRIX_H
#define SZEGO_MATRIX_H

#include <szego/factored.h>

SZG_BEGIN_DECLS

struct szg_encoding; /* <szego/encoding.h> */

typedef enum szg_matrix_kind {
    SZG_MATRIX_NONE,      /* no matrix: every question is refused */
    SZG_MATRIX_ZERO,      /* n x n zeros */
    SZG_MATRIX_DENSE,     /* m x n real numbers; looked at for symmetry, nothing is promised */
    SZG_MATRIX_SYMMETRIC, /* n x n real numbers that are promised, and checked, to be symmetric */
    SZG_MATRIX_COMPLEX,   /* m x n complex numbers */
    SZG_MATRIX_HERMITIAN, /* n x n complex numbers, promised and checked likewise */
    SZG_MATRIX_TOEPLITZ,  /* <szego/toeplitz.h> */
    SZG_MATRIX_FACTORED,  /* M o (A B^T + T), <szego/factored.h> */
    SZG_MATRIX_COSINES,   /* Toeplitz, a_k = sum_t weight_t cos(k theta_t) + constant */
/* SZG_MATRIX_KMS, SZG_MATRIX_DISTANCE: Toeplitz, given by one number. */
#define SZG_CLOSED_FORM(NAME, name, words, method) SZG_MATRIX_##NAME,
#include <szego/closed_forms.def>
    SZG_MATRIX_DEVICE, /* numbers that a device computed of an n x n matrix it keeps */
    SZG_MATRIX_KINDS
} szg_matrix_kind;

/* "zero", "dense", .. as a message calls the kind; "unknown" outside the enumeration. */
const char *szg_matrix_kind_name(szg_matrix_kind kind);

/* The functions below fill it; a zeroed one is SZG_MATRIX_NONE. It borrows every array and handle
 * it is given, unchanged and for as long as it is used, and checks nothing: the questions do.
 * `name` and `encoding` may be set by the caller. */
typedef struct szg_matrix {
    szg_matrix_kind kind;
    int64_t rows, columns;
    const char *name; /* what tables call it: content, logits, ..; NULL: the kind's name */
    /* Matrix `index` of head `head` of an encoding, whose family, N = 1, 2, .., the summary speaks
     * of; NULL: of none. */
    const struct szg_encoding *encoding;
    int64_t head, index;
    union {
        struct {
            const double *a; /* row-major, row i at a + i lda */
            int64_t lda;
        } dense; /* DENSE, SYMMETRIC */
        struct {
            const szg_c64 *a;
            int64_t lda;
        } complex_dense; /* COMPLEX, HERMITIAN */
        const szg_toeplitz *toeplitz;
        szg_factored factored;
        struct {
            int64_t count;
            const double *weight; /* >= 0; NULL: `equal` for all */
            const double *theta;  /* radians a lag */
            double equal, constant;
        } cosines;
        double parameter;    /* KMS (rho), DISTANCE (slope) and other closed forms */
        const void *numbers; /* DEVICE: the library's own */
    } of;
    void *own; /* what szg_matrix_close frees; NULL: nothing */
} szg_matrix;

szg_matrix szg_matrix_zero(int64_t n);
szg_matrix szg_matrix_dense(int64_t m, int64_t n, const double *a, int64_t lda);
szg_matrix szg_matrix_symmetric(int64_t n, const double *a, int64_t lda);
szg_matrix szg_matrix_complex(int64_t m, int64_t n, const szg_c64 *a, int64_t lda);
szg_matrix szg_matrix_hermitian(int64_t n, const szg_c64 *a, int64_t lda);
szg_matrix szg_matrix_toeplitz(const szg_toeplitz *toeplitz);
szg_matrix szg_matrix_factored(const szg_factored *factored); /* the struct itself is copied */

/* a_k = sum_t weight_t cos(k theta_t), t = 0 .. count - 1, weight_t >= 0. */
szg_matrix szg_matrix_cosines(int64_t n, int64_t count, const double *weight, const double *theta);
/* The rotary mean kernel, a_k = (2 sum_t cos(k theta_t) + unrotated) / (2 pairs + unrotated), where
 * `unrotated` counts dimensions, not pairs, that do not rotate. */
szg_matrix szg_matrix_rotary_mean(int64_t n, int64_t pairs, const double *theta, int64_t unrotated);
/* -1 <= rho <= 1. */
szg_matrix szg_matrix_kms(int64_t n, double rho);
szg_matrix szg_matrix_distance(int64_t n, double slope);

/* Frees what the view owns, which is nothing but where a function that made it says so, and zeroes
 * it. NULL and a zeroed view are allowed. */
void szg_matrix_close(szg_matrix *matrix);

/* What the rows of a table about one matrix are about; a negative head leaves the cell empty. */
typedef struct szg_matrix_labels {
    SZG_SIZE(szg_matrix_labels);
    const char *source, *matrix;
    int64_t head;
} szg_matrix_labels;

SZG_END_DECLS

#endif
