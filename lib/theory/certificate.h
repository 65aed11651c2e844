/* Certificates: exact inputs, two named quantities, the relation between them that refutes a claim.
 * What a quantity is, and which relation refutes which claim, is data that both code paths share;
 * how a quantity is computed is written twice, in quantity.c and in recheck_quantity.c. */
#ifndef SZG_THEORY_CERTIFICATE_H
#define SZG_THEORY_CERTIFICATE_H

#include "ball/ball.h"
#include "base/table.h"

enum { CERTIFICATE_TERMS = 64, CERTIFICATE_SIZE = 64 };
#define CERTIFICATE_PHASE_MAX ((int64_t)1 << 40)

/* Inputs are weights w_0.., phases theta_0.. and a size n; what they mean depends on the quantity.
 */
typedef enum quantity {
    Q_MAX_F,        /* max |f|, f(t) = sum 2 w_i cos(i theta_i + i t) */
    Q_MAX_F_PLAIN,  /* the same with cos(theta_i + i t) */
    Q_MAX_G,        /* max |g|: all phases zero */
    Q_TWO_SUM,      /* 2 sum w_i */
    Q_FOUR_SUM,     /* 4 sum w_i */
    Q_WIDTH_F,      /* max f - min f */
    Q_WIDTH_G,      /* max g - min g */
    Q_TOP_W,        /* largest eigenvalue of W = T_n(w), symmetric */
    Q_TOP_WE,       /* of W o E, E Hermitian Toeplitz, e_k = e^{i theta_k} */
    Q_SPREAD_W,     /* largest less smallest eigenvalue of W */
    Q_SPREAD_WE,    /* of W o E */
    Q_SOFTMAX_0,    /* entry (0,0) of the row softmax of the n x n Toeplitz matrix with lags
                       -(n-1)..n-1 in w */
    Q_SOFTMAX_1,    /* its entry (1,1) */
    Q_GRAM,         /* |sum_t w_t| : content products w_t of the frequencies */
    Q_ROTATED,      /* |sum_t w_t e^{i n theta_t}|, lag n */
    Q_ROTATED_REAL, /* |Re sum_t w_t e^{i n theta_t}| */
    Q_UNIT_MINOR,   /* leading 2 x 2 minor w_0^2 - w_1^2 of a matrix with entry moduli w_0, w_1 */
    Q_ZERO,         /* 0 */
    Q_MLA_TRUE,     /* entry at lag -1 of c + r e^{i k theta}: w = (c, r), theta_0 */
    Q_MLA_PRINTED,  /* the same entry of (c + r)(alpha e_k + [k = 0]), |e_k| = 1, e_0 = 1, where
                       alpha  makes the diagonal right */
    Q_SYMBOL,       /* symbol at t = pi/2 of the matrix with a_k = w_k e^{i theta_k}, a_-k = conj */
    Q_SYMBOL_PRINTED, /* sum_{k >= 0} 2 Re{a_k} cos(k t) at t = pi/2 */
    Q_POSITION_00, /* entry (0,0) of P M P^T: p_i = (sin i theta_0, cos i theta_0), M = w_0..w_3 */
    Q_POSITION_11, /* entry (1,1) */
    Q_ALIBI_LAG,   /* -w_0 n: ALiBi's bias at lag n, slope w_0 */
    Q_ALIBI_LINE,  /* n times its bias at lag 1 */
    Q_TAIL_LAG,    /* the bias at lag n of a kernel with lags w_0..w_D and w_D from D on; n > D */
    Q_TAIL,        /* w_D */
    Q_ROTARY_TOP,  /* largest eigenvalue of the n x n rotary mean kernel (1/m) sum cos(k theta_t) */
    Q_ROTARY_SHARE, /* n / (2 m): trace over rank */
    Q_COUNT
} quantity;

/* "max|f|", ...; never NULL for 0 <= q < Q_COUNT. */
const char *szgi_quantity_name(quantity q);
/* Q_COUNT where there is none. */
quantity szgi_quantity_find(const char *name);

/* Hypotheses of the claim that a counterexample must satisfy. */
typedef enum hypothesis {
    HYPOTHESIS_NONNEGATIVE = 1, /* w_i >= 0 */
    HYPOTHESIS_SYMBOL = 2,      /* w_0 + sum 2 w_i cos(i t) > 0: W positive definite at every N */
    HYPOTHESIS_DEFINITE = 4,    /* T_n(w) positive definite */
    HYPOTHESIS_ALIGNED = 8,     /* all phases congruent modulo 2 pi */
    HYPOTHESIS_UNALIGNED = 16,  /* some two are not */
    HYPOTHESIS_UNIT = 32,       /* theta_0 = 0: e_0 = 1 */
    HYPOTHESIS_RANK_ONE = 64,   /* theta_k = k theta_1 modulo 2 pi: E = v v^* is semidefinite */
    HYPOTHESIS_MODULI = 128,    /* every w is 1 */
    HYPOTHESIS_NONZERO = 256,   /* w_last is not 0 */
    HYPOTHESIS_HERMITIAN = 512  /* w_0 e^{i theta_0} is real, as a Hermitian matrix's diagonal is */
} hypothesis;

/* One way in which one claim can be refuted. */
typedef struct refutation {
    const char *id, *kind; /* kind: disjoint, exact, structural */
    quantity left;
    const char *relation; /* <, >, = or != */
    quantity right;
    int hypotheses;
} refutation;

/* NULL: these quantities in this relation refute nothing of the claim `id`. */
const refutation *szgi_refutation_find(const char *id, const char *kind, quantity left,
                                       const char *relation, quantity right);
int64_t szgi_refutation_count(void);
const refutation *szgi_refutation_at(int64_t index);

typedef struct certificate {
    const char *id, *kind;
    quantity left;
    const char *relation;
    quantity right;
    int64_t n;
    int64_t weights, phases; /* counts */
    const double *w;
    const szgi_phase *theta;
    szg_interval left_value, right_value; /* enclosures */
    const char *note;
} certificate;

/* The claim, kind, quantities and relation of `c` with other inputs: `terms` weights and phases,
 * n = terms. */
certificate szgi_certificate_with_inputs(const certificate *c, int64_t terms, const double *w,
                                         const szgi_phase *theta, const char *note);

/* Whether the numbers of weights and phases and n fit the quantity, as plain bounds; the producing
 * and the checking path both refuse what does not. */
bool szgi_quantity_accepts(quantity q, const certificate *c);

/* Some phase enters a quantity or a hypothesis of the refutation; else the certificate has none. */
bool szgi_refutation_has_phases(const refutation *rule);

/* The table `certificates`, for writing and for reading back. */
enum { CERTIFICATE_COLUMNS = 13 };
extern const szg_column szgi_certificate_columns[CERTIFICATE_COLUMNS];
SZG_CHECK_RESULT szg_status szgi_certificate_table_open(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_certificate_add(szg_context *context, szg_table *table,
                                                 const certificate *c);
/* Text forms: hexadecimal floats apart by one space; phases are a hexadecimal float (radians) or
 * p/q (times pi). Allocated. */
SZG_CHECK_RESULT szg_status szgi_certificate_weights_text(szg_context *context, int64_t count,
                                                          const double *w, char **out);
SZG_CHECK_RESULT szg_status szgi_certificate_phases_text(szg_context *context, int64_t count,
                                                         const szgi_phase *theta, char **out);

/* Producing path. */
SZG_CHECK_RESULT szg_status szgi_quantity_enclose(szg_context *context, quantity q,
                                                  const certificate *c, szg_interval *out);
SZG_CHECK_RESULT szg_status szgi_certificate_hypotheses_hold(szg_context *context, int hypotheses,
                                                             const certificate *c, bool *hold);
/* Relations "=" between quantities that no enclosure can decide. */
SZG_CHECK_RESULT szg_status szgi_certificate_exactly_equal(szg_context *context,
                                                           const certificate *c, bool *equal);

/* Checking path, at twice the precision. *confirmed, and why not in `reason`. */
SZG_CHECK_RESULT szg_status szgi_certificate_recheck(szg_context *context, const certificate *c,
                                                     bool *confirmed, char reason[256]);

/* L2c: does f attain 2 sum w_i in modulus (w >= 0)? Exact. SZG_ENOCONV: a denominator above
 * CERTIFICATE_PHASE_MAX. */
SZG_CHECK_RESULT szg_status szgi_lemma_equality(szg_context *context, int64_t count,
                                                const double *w, const szgi_phase *theta,
                                                bool *equality);
/* Whether some t has i (theta_i + t) = half pi mod 2 pi for all i >= 1 with w_i != 0; half is 0
 * or 1. */
SZG_CHECK_RESULT szg_status szgi_lemma_shift(szg_context *context, int64_t count, const double *w,
                                             const szgi_phase *theta, int half, bool *exists);
/* All phases congruent modulo 2 pi. */
bool szgi_lemma_aligned(int64_t count, const szgi_phase *theta);

#endif
