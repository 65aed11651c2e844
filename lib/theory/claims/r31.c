/* R3.1: row normalisation of a Toeplitz matrix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "claim.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_r31 = {
    .ledger = {.id = "R3.1",
               .kind = "paper",
               .expected = SZG_VERDICT_FAILS,
               .statement = "row normalisation keeps a matrix Toeplitz",
               .true_statement = "row sums of a Toeplitz matrix differ from row to row, so "
                                 "softmax rows are scaled unequally",
               .source = "Remark 3.1"},
    .check = check,
    .refutations =
        {{.kind = "disjoint", .left = Q_SOFTMAX_0, .relation = "!=", .right = Q_SOFTMAX_1}},
};

/* Diagonal of the row softmax of [-|i-j|/2], in doubles. */
static szg_status softmax_diagonal(claims_run *run) {
    enum { N = 6 };
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
        for (int j = 0; j < N; j++)
            sum += exp(-0.5 * abs(i - j));
        char name[48];
        snprintf(name, sizeof name, "softmax diagonal %d", i);
        SZG_TRY(szgi_evidence_number(run, name, 1.0 / sum, "[-|i-j|/2], N = 6"));
    }
    return SZG_OK;
}

static szg_status check(claims_run *run, finding *out) {
    const refutation *rule = &szgi_claim_r31.refutations[0];
    const double two[] = {0.0, 0.0, -0.5};
    double six[11];
    for (int k = -5; k <= 5; k++)
        six[k + 5] = -0.5 * abs(k);
    const instance least = {.n = 2, .weights = 3, .w = two};
    const instance even = {.n = 6, .weights = 11, .w = six};
    bool minimal, symmetric;
    SZG_TRY(szgi_certify(run, rule, &least, "fewest rows: lags (0, 0, -1/2)", &minimal));
    SZG_TRY(szgi_certify(run, rule, &even, "[-|i-j|/2], N = 6", &symmetric));
    szgi_finding_fails(out, minimal && symmetric);
    return softmax_diagonal(run);
}
