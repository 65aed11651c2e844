/* B3: Hadamard products with positive definite unimodular Toeplitz matrices. */
#include <math.h>

#include "claim.h"

enum { STREAM = 0x7307 };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_b3 = {
    .ledger = {.id = "B3",
               .kind = "paper",
               .expected = SZG_VERDICT_VACUOUS,
               .statement = "`W o E` is more compact than `W` (`W`, `E` positive definite "
                            "Toeplitz, `|E_ij| = 1`)",
               .true_statement = "no such `E` exists for `N >= 2`: its leading 2 x 2 minor is 0",
               .source = "Prop. B.3"},
    .check = check,
    .refutations = {{.kind = "structural",
                     .left = Q_UNIT_MINOR,
                     .relation = "=",
                     .right = Q_ZERO,
                     .hypotheses = {&szgi_hypothesis_moduli},
                     .equal = &szgi_equality_zero_minor}},
};

/* Whether [[1, e], [conj e, 1]], e = e^{i theta}, has a minor that is certainly positive. */
static szg_status definite_pair(claims_run *run, double theta, bool *definite) {
    szg_context *context = run->context;
    szgi_ball_matrix *e;
    szgi_phase phase = szgi_phase_radians(theta);
    szg_interval minor = {0.0, 0.0};
    double modulus = 1.0 - run->twist;
    SZG_TRY(szgi_ball_matrix_open(context, 2, 2, SZGI_BALL_BITS, &e));
    for (int64_t i = 0; i < 2; i++) {
        acb_one(szgi_ball_matrix_entry(e, i, i));
        szgi_phase_polar(szgi_ball_matrix_entry(e, i, 1 - i), modulus, i ? 1 : -1, &phase,
                         SZGI_BALL_BITS);
    }
    szg_status status = szgi_ball_matrix_minor(context, e, 2, &minor, NULL);
    szgi_ball_matrix_close(&e);
    *definite = minor.lo > 0.0;
    return status;
}

static szg_status check(claims_run *run, finding *out) {
    /* Any E: |E_12| = 1 and a positive definite diagonal of modulus 1, so the minor is 1 - 1. */
    const double moduli[] = {1.0, 1.0};
    const instance at = {.n = 2, .weights = 2, .w = moduli};
    bool certified, some = false;
    SZG_TRY(szgi_certify(run, &szgi_claim_b3.refutations[0], &at,
                         "|E_11| |E_22| - |E_12|^2 for every unimodular E", &certified));
    for (int64_t trial = 0; trial < run->options.trials; trial++) {
        szgi_stream stream = {run->options.seed, (uint32_t)trial, STREAM};
        bool definite;
        SZG_TRY(definite_pair(run, M_PI * szgi_random_normal(&stream, 0), &definite));
        some = some || definite;
    }
    out->trials = run->options.trials;
    if (certified && !some) {
        out->verdict = SZG_VERDICT_VACUOUS;
        out->basis = "proof";
    }
    return SZG_OK;
}
