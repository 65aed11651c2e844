/* Which limit theorem applies to a kernel, the inequalities between a content matrix and its
 * coupled version, majorisation, contraction ratios. docs/explanation/theory.md states what each
 * rests on. */
#ifndef SZEGO_THEORY_H
#define SZEGO_THEORY_H

#include <szego/context.h>

SZG_BEGIN_DECLS

struct szg_toeplitz;     /* <szego/toeplitz.h> */
struct szg_kernel_facts; /* <szego/encoding.h> */

/* ---- Limit theorems ------------------------------------------------------------------------- */

typedef enum szg_theorem {
    SZG_THEOREM_NONE,                /* the sentence says why */
    SZG_THEOREM_SZEGO,               /* Hermitian, bounded symbol: eigenvalues (Szego 1920) */
    SZG_THEOREM_SZEGO_RANK_1,        /* the same after one rank-one term: all eigenvalues but one */
    SZG_THEOREM_AVRAM_PARTER,        /* bounded symbol: singular values (Avram 1988, Parter 1986) */
    SZG_THEOREM_AVRAM_PARTER_RANK_1, /* the same after one rank-one term: nothing bounds the field
                                        of values */
    SZG_THEOREM_TYRTYSHNIKOV_ZAMARASHKIN, /* integrable symbol (1998): singular values; eigenvalues
                                             too where the symbol is real */
    SZG_THEOREM_COUNT
} szg_theorem;

/* What has been established about the family T_N(a), N = 1, 2, ...; false means "not established".
 * summable (Wiener class) implies bounded, bounded implies integrable: szg_theorem_select refuses a
 * struct that contradicts this. */
typedef struct szg_hypotheses {
    bool toeplitz;      /* entries depend on i - j alone */
    bool zero;          /* the kernel is 0 */
    bool hermitian;     /* a_{-k} = conj(a_k), that is a real symbol */
    bool finite_degree; /* a trigonometric polynomial: a_k = 0 for |k| > degree */
    bool summable;      /* sum |a_k| converges */
    bool bounded;       /* the symbol is essentially bounded */
    bool integrable;    /* the symbol is in L1 */
    bool rank_one;      /* all of the above hold after subtracting a constant times the matrix J of
                           ones */
} szg_hypotheses;

typedef struct szg_theorem_answer {
    szg_theorem theorem;
    const char *name;          /* the cell of the column `theorem`: none, szego, szego+rank-one,
                                  avram-parter, avram-parter+rank-one,
                                  tyrtyshnikov-zamarashkin */
    szg_hypotheses hypotheses; /* as checked */
    char sentence[512];        /* plain language: what follows, or why nothing does */
} szg_theorem_answer;

/* The strongest theorem whose hypotheses hold. SZG_EINVAL: contradictory hypotheses. */
SZG_CHECK_RESULT szg_status szg_theorem_select(szg_context *context,
                                               const szg_hypotheses *hypotheses,
                                               szg_theorem_answer *answer);

/* For the Toeplitz family with the matrix's coefficients and zeros beyond: always a trigonometric
 * polynomial; whether it is Hermitian is read off the coefficients, not off the declared kind. */
SZG_CHECK_RESULT szg_status szg_theorem_of_toeplitz(szg_context *context,
                                                    const struct szg_toeplitz *toeplitz,
                                                    szg_theorem_answer *answer);

/* For an encoding's own kernel, as N grows; the sentence quotes the encoding's reason when no
 * theorem applies. */
SZG_CHECK_RESULT szg_status szg_theorem_of_encoding(szg_context *context,
                                                    const struct szg_kernel_facts *facts,
                                                    szg_theorem_answer *answer);

/* ---- Majorisation --------------------------------------------------------------------------- */

typedef enum szg_order {
    SZG_ORDER_HOLDS,    /* every partial sum in order, or within rounding of it */
    SZG_ORDER_VIOLATED, /* one partial sum exceeds by more than rounding explains */
} szg_order;

typedef struct szg_majorisation {
    szg_order order;
    bool strict;             /* every inner partial sum in order by more than rounding */
    int64_t first_violation; /* smallest k with sum of the k largest x above that of y, beyond
                                rounding; n when only the totals differ; 0 when none */
    double margin;           /* min over k of (sum of k largest y) - (sum of k largest x); at k = n
                                minus the difference of the totals in modulus; negative: violated or
                                rounding */
    int64_t margin_at;       /* the k of that minimum */
    double rounding;         /* what errors in x and y may have done to that partial sum */
} szg_majorisation;

/* Is x majorised by y (x_1 + .. + x_k <= y_1 + .. + y_k for the k largest, k < n, equal totals)?
 * Marshall, Olkin, Arnold (2011), 1.A. The n numbers need no order and are not changed.
 * `error` bounds |computed - true| of each number in x and y (0: they are exact); partial sums are
 * formed with error-free transformations, their own error is included. weak: without the condition
 * on the totals, as for singular values. SZG_EINVAL (n < 1, error < 0 or NaN), SZG_EDATA (NaN or
 * infinity, named), SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_majorisation_test(szg_context *context, int64_t n, const double *x,
                                                  const double *y, double error, bool weak,
                                                  szg_majorisation *out);

/* ---- Inequalities --------------------------------------------------------------------------- */

/* Schur (1911): for Hermitian A with eigenvalues in `eigenvalues` and a positive semidefinite B
 * with real diagonal in `diagonal`, the eigenvalues of A o B lie in the interval returned (outward
 * rounded). A correlation matrix B (diagonal 1) gives the range of A back. SZG_EINVAL: an empty or
 * NaN interval, a negative diagonal. */
SZG_CHECK_RESULT szg_status szg_schur_range(szg_context *context, szg_interval eigenvalues,
                                            szg_interval diagonal, szg_interval *out);

/* Bapat and Sunder (1985), Theorem 3: for Hermitian A and a correlation matrix B the eigenvalues of
 * A o B are majorised by those of A. Tests it on two computed spectra; SZG_EDOMAIN when `diagonal`
 * (n diagonal entries of B) is not 1 throughout, where the theorem does not apply. */
SZG_CHECK_RESULT szg_status szg_bapat_sunder_test(szg_context *context, int64_t n,
                                                  const double *coupled, const double *content,
                                                  const double *diagonal, double error,
                                                  szg_majorisation *out);

/* Perron and Frobenius (Wielandt 1950): |B| <= A entrywise with A >= 0 implies rho(B) <= rho(A).
 * Checks the hypothesis on n x n row-major matrices; *applies says whether it holds. */
SZG_CHECK_RESULT szg_status szg_perron_applies(szg_context *context, int64_t n, const double *a,
                                               int64_t lda, const szg_c64 *b, int64_t ldb,
                                               bool *applies);

/* ---- Contraction ---------------------------------------------------------------------------- */

/* Coupled against uncoupled, each NaN where it does not exist (an empty array, a zero denominator).
 */
typedef struct szg_contraction_ratios {
    double width;                 /* (max - min of coupled eigenvalues) / (the same of content) */
    double norm;                  /* largest singular values */
    double nuclear;               /* sums of singular values */
    bool ordered;                 /* majorisation below was computed */
    szg_majorisation eigenvalues; /* coupled majorised by content */
} szg_contraction_ratios;

SZG_END_DECLS

#endif
