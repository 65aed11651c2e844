/* The ledger: what is expected. Checkers never read `expected`. */
#include <string.h>

#include "theory/claims.h"

static const szg_claim ledger[] = {
    {"A3.2", SZG_VERDICT_CONDITIONAL,
     "sinusoidal absolute encoding makes G_{qp,kp} Toeplitz for any W_Q, W_K",
     "for 2n distinct +-theta_t and N >= 2n + 1, P M P^T is Toeplitz iff M = W_Q^T W_K has zero "
     "blocks "
     "off the diagonal and rotation-scalings [[a,b],[-b,a]] on it; for N <= 2n more M qualify",
     "Assumption 3.2"},
    {"R3.1", SZG_VERDICT_FAILS, "row normalisation keeps a matrix Toeplitz",
     "row sums of a Toeplitz matrix differ from row to row, so softmax rows are scaled unequally",
     "Remark 3.1"},
    {"R3.2", SZG_VERDICT_HOLDS, "the Gram matrix P P^T of a sinusoidal encoding is Toeplitz",
     "(P P^T)_ij = sum_t cos((i - j) theta_t)", "Remark 3.2"},
    {"E8", SZG_VERDICT_HOLDS, "additive logits are G_qc,kc + G_qc,kp + G_qp,kc + G_qp,kp + B",
     "exact for bias-free linear maps of c + p", "Eq. 8"},
    {"B1", SZG_VERDICT_FAILS,
     "RoPE logits are the sum of Gram matrices o one unimodular Toeplitz matrix",
     "true for d = 2 and when all theta_t agree modulo 2 pi; in general see B1c",
     "Eq. 9-10, Prop. B.1"},
    {"B1c", SZG_VERDICT_HOLDS, "L = Re sum_t G_t o E_t, one Hadamard product a frequency",
     "L = Re sum_t G_t o E_t with (G_t)_ij = q_i conj(k_j) in pair t, (E_t)_ij = e^{i(i-j) "
     "theta_t}; "
     "sum_t G_t o E_t = sum_t D_t G_t D_t^*, rank L <= d",
     "corrected Eq. 9-10"},
    {"B2", SZG_VERDICT_MEASURED, "RoPE's solution space is larger than a bias's",
     "both solution sets are unbounded and neither contains the other; only probabilities under a "
     "stated measure compare",
     "Prop. B.2"},
    {"T3.1", SZG_VERDICT_HOLDS, "Szego: eigenvalues of T_N(a) fill [min a, max a] as N grows",
     "for a real continuous symbol the eigenvalues lie in [min a, max a] and are distributed like "
     "its "
     "values",
     "Theorem 3.1"},
    {"T3.1h", SZG_VERDICT_FAILS, "its hypotheses are met by the kernels of RoPE, ALiBi, T5",
     "RoPE: 2n atoms, rank <= 2n, eigenvalues grow like N; ALiBi: unbounded lags, one eigenvalue "
     "~ -0.3474 m N^2; T5: a polynomial plus tails that do not decay",
     "Theorem 3.1 as used"},
    {"B3", SZG_VERDICT_VACUOUS,
     "W o E is more compact than W (W, E positive definite Toeplitz, |E_ij| = 1)",
     "no such E exists for N >= 2: its leading 2 x 2 minor is 0", "Prop. B.3"},
    {"B3s", SZG_VERDICT_FAILS, "the same, strictly, with E positive semidefinite",
     "E = v v^*, so W o E = D W D^* has the spectrum of W", "Prop. B.3, semidefinite"},
    {"B3h", SZG_VERDICT_FAILS, "the same with E Hermitian Toeplitz, unimodular, e_0 = 1",
     "the range can grow; N = 3 is the least size", "Prop. B.3, Hermitian"},
    {"B3n", SZG_VERDICT_FAILS, "no eigenvalue's modulus grows under such E",
     "it can for signed w; for w >= 0 the radius cannot grow (Perron)", "proof of Prop. B.3"},
    {"B3c", SZG_VERDICT_HOLDS,
     "eigenvalues of W o Ebar are majorised by those of Hermitian W, Ebar RoPE's averaged kernel",
     "Hermitian W: majorised (Schur; Bapat and Sunder 1985); any W: unitarily invariant norms do "
     "not "
     "grow and the field of values shrinks, while eigenvalues and radius may grow",
     "corrected Prop. B.3"},
    {"L1", SZG_VERDICT_HOLDS, "w >= 0: max|f| <= max|g| = 2 sum w_i",
     "triangle inequality; g attains it at t = 0", "Lemma B.1"},
    {"L1s", SZG_VERDICT_FAILS, "the same for signed w, which positive definite W allows",
     "max|f| <= 2 sum |w_i|; max|g| may be smaller", "Lemma B.1, signed"},
    {"L2", SZG_VERDICT_FAILS, "equality iff all theta_i are equal modulo 2 pi",
     "not necessary: see L2c", "Lemma B.1, equality"},
    {"L2p", SZG_VERDICT_FAILS,
     "the same for f with phases theta_i in place of i theta_i, as the printed proof treats it",
     "not sufficient: equal phases shift the terms unequally", "proof of Lemma B.1"},
    {"L2c", SZG_VERDICT_HOLDS,
     "w >= 0: equality iff some t* has i(theta_i + t*) = 0 mod 2 pi for all i >= 1 with w_i > 0 "
     "(or all "
     "= pi when w_0 = 0)",
     "as stated; theta_0 never matters", "corrected Lemma B.1"},
    {"L3", SZG_VERDICT_FAILS,
     "the width of g is 4 sum w_i, never below that of f, equal only under complete alignment",
     "all three parts fail: see L3c", "Lemma B.1, widths"},
    {"L3c", SZG_VERDICT_HOLDS, "both widths are <= 4 sum_{i>=1} w_i for w >= 0",
     "for signed w the bound is 4 sum_{i>=1} |w_i|", "corrected Lemma B.1, widths"},
    {"E12", SZG_VERDICT_FAILS, "MLA logits are (the sum) o (alpha G_e + I)",
     "I must be the all-ones matrix, and the two parts have contents of their own: see E12c",
     "Eq. 12"},
    {"E12c", SZG_VERDICT_HOLDS, "MLA logits are Re{G^C + sum_t G^R_t o E_t}",
     "as stated, content and rotary parts with their own queries and keys", "corrected Eq. 12"},
    {"SYM", SZG_VERDICT_FAILS, "the symbol of W is sum_{i>=0} 2 Re{w_i} cos(i t)",
     "w_0 + 2 sum_{i>=1} (Re w_i cos(i t) - Im w_i sin(i t))", "symbol in App. B"},
};

int64_t szg_claim_count(void) {
    return (int64_t)(sizeof ledger / sizeof ledger[0]);
}

const szg_claim *szg_claim_at(int64_t index) {
    return index >= 0 && index < szg_claim_count() ? &ledger[index] : NULL;
}

const szg_claim *szg_claim_find(const char *id) {
    for (int64_t i = 0; id && i < szg_claim_count(); i++)
        if (strcmp(ledger[i].id, id) == 0)
            return &ledger[i];
    return NULL;
}

const char *szg_verdict_name(szg_verdict verdict) {
    static const char *const names[SZG_VERDICT_COUNT] = {
        "none", "holds", "fails", "vacuous", "conditional", "measured",
    };
    return verdict >= 0 && verdict < SZG_VERDICT_COUNT ? names[verdict] : "none";
}
