/* Guaranteed arithmetic on top of Arb (Johansson, IEEE Trans. Comput. 66, 2017): every result is an
 * enclosure. Certified range of a trigonometric polynomial, small matrices; numbers by
 * themselves are Arb's (ball/arb.h).
 *
 * `bits` is always the working precision in bits, 53 .. 65536; SZGI_BALL_BITS is a good default.
 * More bits give narrower results; any number of bits gives true ones. Endpoints of intervals are
 * doubles rounded outwards: below -DBL_MAX and above DBL_MAX they are infinite, which is still
 * true.
 *
 * FLINT ends the process where malloc fails; so sizes are compared with the available memory first
 * (szgi_memory_require), and a request that cannot be met is SZG_ENOMEM. */
#ifndef SZEGO_BALL_BALL_H
#define SZEGO_BALL_BALL_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

#define SZGI_BALL_BITS 128

/* The library behind the balls and its version. */
const char *szgi_ball_library(void);

/* FLINT and GMP end the process with abort() where memory is refused, and tell nothing that can be
 * caught. `end` is called in place of that, with the bytes that were asked for, or 0 where FLINT
 * gives up for another reason; where it returns, abort() follows. For a program: it holds for the
 * whole process. Call it before the first ball. */
void szgi_ball_set_end(void (*end)(size_t bytes));

/* An angle that is known exactly: `radians` (a double is a rational number), or p/q times pi. */
typedef struct szgi_phase {
    bool rational;  /* true: p/q of pi, and `radians` is ignored */
    double radians; /* finite */
    int64_t p, q;   /* q >= 1 */
} szgi_phase;

szgi_phase szgi_phase_ratio(int64_t p, int64_t q);
szgi_phase szgi_phase_radians(double radians);

/* How phase theta_i enters coefficient i of a trigonometric polynomial or of a Toeplitz matrix. */
typedef enum szgi_phase_mode {
    SZGI_PHASE_TIMES_INDEX, /* c_i = w_i e^{i * (index) theta}: the lemma's cos(i theta_i + i t) */
    SZGI_PHASE_PLAIN        /* c_i = w_i e^{i theta_i}: cos(theta_i + i t) */
} szgi_phase_mode;

/* Whether multiplier (a - b) = 0 mod 2 pi, decided exactly: pi is irrational, so a nonzero double
 * is congruent to no rational multiple of pi and two doubles are congruent only when equal (or when
 * multiplier = 0). */
bool szgi_phase_congruent(const szgi_phase *a, const szgi_phase *b, int64_t multiplier);

/* ---- Range of a real trigonometric polynomial ---- */

/* Weights on the coefficients of szgi_ball_symbol_range. */
typedef enum szgi_taper {
    SZGI_TAPER_NONE,  /* the polynomial as given */
    SZGI_TAPER_FEJER, /* a_k (1 - |k| / order), zero from |k| >= order on */
} szgi_taper;

/* Range of f(t) = a_0 + 2 Re sum_{k=1}^{count-1} a_k e^{ikt}, the symbol of the Hermitian Toeplitz
 * matrix [a_{i-j}], a_{-k} = conj a_k; a_0 must be real. `order` >= 1 belongs to the Fejer taper
 * and is ignored without one. Width at most 1e-12 of max |f|, and mostly an ulp;
 * docs/explanation/methods.md says when not. SZG_EINVAL (count < 1), SZG_EDATA (NaN, infinity, a_0
 * not real), SZG_ENOMEM, SZG_ECANCEL, SZG_EBACKEND (long double arithmetic does not round to
 * nearest). Time O(count log count), more for flat or very many equal extrema. */
SZG_CHECK_RESULT szg_status szgi_ball_symbol_range(szg_context *context, int64_t count,
                                                   const szg_c64 *a, szgi_taper taper,
                                                   int64_t order, int64_t bits, szg_range *out);

/* Range of |a(t)|, a(t) = sum_{k=first}^{first+count-1} a_k e^{ikt} with any complex coefficients
 * (a[0] is a_first): the root of the range of the real polynomial |a|^2. Errors as above. */
SZG_CHECK_RESULT szg_status szgi_ball_modulus_range(szg_context *context, int64_t count,
                                                    const szg_c64 *a, int64_t bits, szg_range *out);

/* Range of f(t) = sum_{i=0}^{count-1} 2 w_i cos(phi_i + i t), phi_i = i theta_i or theta_i by
 * `mode` (Gu and others 2025, Lemma B.1); theta NULL: all phases zero, which is g. Note the 2 w_0:
 * the symbol of the Toeplitz matrix with the same weights has w_0. SZG_EDATA also for q < 1. */
SZG_CHECK_RESULT szg_status szgi_ball_range(szg_context *context, int64_t count, const double *w,
                                            const szgi_phase *theta, szgi_phase_mode mode,
                                            int64_t bits, szg_range *out);

/* The same range by another algorithm that shares no step with szgi_ball_range but Arb itself:
 * branch and bound on mean value forms. For checks and oracles; O(count^2) and worse, count <=
 * 4096. `tolerance`: wanted width relative to 2 sum |w_i|, 1e-3 .. 1e-15; where flat extrema
 * exhaust the budget of subdivisions the wider, still valid range is returned. */
SZG_CHECK_RESULT szg_status szgi_ball_range_check(szg_context *context, int64_t count,
                                                  const double *w, const szgi_phase *theta,
                                                  szgi_phase_mode mode, int64_t bits,
                                                  double tolerance, szg_range *out);

/* Enclosure of max |f| from a range, and of the width max - min. Exact interval operations. */
szg_interval szgi_range_modulus(const szg_range *range);
szg_interval szgi_range_width(const szg_range *range);

/* Interval operations in doubles, rounded outwards; NaN endpoints give [-inf, inf]. */
szg_interval szgi_interval_add(szg_interval a, szg_interval b);
szg_interval szgi_interval_subtract(szg_interval a, szg_interval b);
szg_interval szgi_interval_multiply(szg_interval a, szg_interval b);

/* -1: every number of a is below every number of b; 1: above; 0: they meet, nothing is decided. */
int szgi_interval_compare(szg_interval a, szg_interval b);

/* ---- Small dense matrices ---- */

typedef struct szgi_ball_matrix szgi_ball_matrix;

#define SZGI_BALL_MATRIX_MAX 1024 /* rows and columns at most */

/* Opens a matrix of zeros. SZG_EINVAL, SZG_ENOMEM. Close nulls the pointer. */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_open(szg_context *context, int64_t rows,
                                                  int64_t columns, int64_t bits,
                                                  szgi_ball_matrix **out);
void szgi_ball_matrix_close(szgi_ball_matrix **matrix);
int64_t szgi_ball_matrix_rows(const szgi_ball_matrix *matrix);

/* Hermitian Toeplitz n x n: entry (i, j) = c_{i-j}, c_k = w_k e^{i phi_k} with phi_k = k theta_k or
 * theta_k by `mode` (theta NULL: 0), c_{-k} = conj c_k, zero from lag `count` on. SZG_EDATA where
 * c_0 is not real. */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_open_toeplitz(szg_context *context, int64_t n,
                                                           int64_t count, const double *w,
                                                           const szgi_phase *theta,
                                                           szgi_phase_mode mode, int64_t bits,
                                                           szgi_ball_matrix **out);

/* entry (i, j) = value; entry (i, j) += weight e^{i multiplier angle}. */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_set(szg_context *context, szgi_ball_matrix *matrix,
                                                 int64_t i, int64_t j, szg_c64 value);
SZG_CHECK_RESULT szg_status szgi_ball_matrix_add_polar(szg_context *context,
                                                       szgi_ball_matrix *matrix, int64_t i,
                                                       int64_t j, double weight, int64_t multiplier,
                                                       const szgi_phase *angle);

typedef enum szgi_ball_matrix_op {
    SZGI_BALL_MATRIX_ADD,      /* r = x + y */
    SZGI_BALL_MATRIX_SUBTRACT, /* r = x - y */
    SZGI_BALL_MATRIX_MULTIPLY, /* r = x y */
    SZGI_BALL_MATRIX_HADAMARD, /* r = x o y */
    SZGI_BALL_MATRIX_ADJOINT,  /* r = x^*; y is ignored and may be NULL */
    SZGI_BALL_MATRIX_OP_COUNT
} szgi_ball_matrix_op;

/* r = op(x, y); shapes must fit (SZG_EINVAL); r may be x or y where it has the result's shape. */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_apply(szg_context *context, szgi_ball_matrix_op op,
                                                   szgi_ball_matrix *r, const szgi_ball_matrix *x,
                                                   const szgi_ball_matrix *y);
/* matrix = (p / q) matrix. */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_scale(szg_context *context, szgi_ball_matrix *matrix,
                                                   int64_t p, int64_t q);

/* Enclosures of all eigenvalues of a Hermitian matrix, ascending: values[k] contains the k-th. The
 * entries below the diagonal must meet the conjugates of those above (SZG_EDATA); the part above
 * and the real part of the diagonal count. Approximate eigenvectors V by Jacobi in double, refined
 * once at `bits`; then Ostrowski's theorem for V^* A V and Weyl's for its part off the diagonal
 * (Horn and Johnson 2013, 4.5.9 and 4.3.1). SZG_ENOCONV where V is not established as nonsingular.
 */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_eigenvalues(szg_context *context,
                                                         const szgi_ball_matrix *matrix,
                                                         szg_interval *values);

/* Numbers of eigenvalues of a Hermitian matrix below and above `shift`, by Sylvester's law of
 * inertia and LDL^* in balls: a check of the function above that shares nothing with it.
 * SZG_ENOCONV where a pivot's sign cannot be decided (shift too near an eigenvalue of a leading
 * block). */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_inertia(szg_context *context,
                                                     const szgi_ball_matrix *matrix, double shift,
                                                     int64_t *below, int64_t *above);

/* Boxes re[k] + i im[k] that contain the eigenvalues of any square matrix, one each, in no order.
 * SZG_ENOCONV where they are multiple or too close (van der Hoeven and Mourrain 2017; Rump 2010).
 */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_general_eigenvalues(szg_context *context,
                                                                 const szgi_ball_matrix *matrix,
                                                                 szg_interval *re,
                                                                 szg_interval *im);

/* Enclosure of the determinant of the leading minor of order `order`; im may be NULL. */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_minor(szg_context *context,
                                                   const szgi_ball_matrix *matrix, int64_t order,
                                                   szg_interval *re, szg_interval *im);

typedef enum szgi_ball_norm {
    SZGI_BALL_SPECTRAL,  /* largest singular value */
    SZGI_BALL_FROBENIUS, /* from the entries */
    SZGI_BALL_NUCLEAR,   /* sum of the singular values */
    SZGI_BALL_KY_FAN     /* sum of the `k` largest singular values */
} szgi_ball_norm;

/* Enclosure of a unitarily invariant norm; k (1 .. min(rows, columns)) belongs to SZGI_BALL_KY_FAN.
 */
SZG_CHECK_RESULT szg_status szgi_ball_matrix_norm(szg_context *context,
                                                  const szgi_ball_matrix *matrix,
                                                  szgi_ball_norm norm, int64_t k,
                                                  szg_interval *out);

SZGI_END_DECLS

#endif
