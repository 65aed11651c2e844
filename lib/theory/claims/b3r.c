/* B3r: RoPE's coupling and the range of logits whose content is symmetric and semidefinite. */
#include <math.h>

#include "base/memory.h"
#include "encoding/cosines.h"
#include "linalg/linalg.h"

#include "claim.h"

static szg_status check(claims_run *run, finding *out);

enum { REAL_CONTENT, GRAM_SUM };

const szgi_claim szgi_claim_b3r = {
    .ledger = {.id = "B3r",
               .kind = "reading",
               .expected = SZG_VERDICT_FAILS,
               .statement =
                   "RoPE does not widen the range of logits whose content is symmetric and "
                   "positive semidefinite",
               .true_statement = "it can: `q_j = k_j = R_{-j} u` become the multiple "
                                 "`s norm(u)^2 J` of the all-ones matrix, with the scale `s`. It cannot if all "
                                 "frequencies share one Hermitian content (B3c)",
               .source = "contraction, as the paper predicts it for RoPE"},
    .check = check,
    .refutations = {[REAL_CONTENT] = {.kind = "disjoint",
                                      .left = Q_SPREAD_COUPLED,
                                      .relation = ">",
                                      .right = Q_SPREAD_CONTENT,
                                      .hypotheses = {&szgi_hypothesis_nonnegative}},
                    [GRAM_SUM] = {.kind = "disjoint",
                                  .left = Q_SPREAD_COUPLED,
                                  .relation = ">",
                                  .right = Q_SPREAD_GRAM,
                                  .hypotheses = {&szgi_hypothesis_nonnegative}}},
};

/* rope:dim=64 with u = (1, 0, 1, 0, ..) and the scale 1/8: each pair's product counts 1/8. */
enum { PAIRS = 32, DIM = 2 * PAIRS, CERTIFIED = 64, LARGE = 512 };
static const double weight = 0.125;

static const refutation *const rules = szgi_claim_b3r.refutations;

/* Two pairs and two tokens: products of lag 1 are -i and -1, and 1 and 1 when coupled. */
static szg_status smallest(claims_run *run, bool *real_content, bool *gram) {
    const double w[] = {1.0, 1.0};
    const szgi_phase theta[] = {szgi_phase_ratio(1, 2), szgi_phase_ratio(1, 1)};
    const instance at = szgi_instance(2, w, theta);
    SZG_TRY(szgi_certify(run, &rules[REAL_CONTENT], &at,
                         "fewest tokens: N = 2, theta = (pi/2, pi); widths 2 and 4", real_content));
    return szgi_certify(run, &rules[GRAM_SUM], &at,
                        "the same against the complex sum of Gram matrices", gram);
}

static szg_status at_64(claims_run *run, const double *angles, bool *certified) {
    double w[PAIRS];
    szgi_phase theta[PAIRS];
    szg_interval coupled, content;
    for (int64_t t = 0; t < PAIRS; t++) {
        w[t] = weight;
        theta[t] = szgi_phase_radians(angles[t]);
    }
    instance at = szgi_instance(PAIRS, w, theta);
    at.n = CERTIFIED;
    SZG_TRY(szgi_certify(run, &rules[REAL_CONTENT], &at,
                         "rope:dim=64, u = (1,0,1,0,..), scale 1/8, N = 64", certified));
    SZG_TRY(szgi_quantity_enclose(run->context, Q_SPREAD_COUPLED, &at, &coupled));
    SZG_TRY(szgi_quantity_enclose(run->context, Q_SPREAD_CONTENT, &at, &content));
    SZG_TRY(szgi_evidence_add(run, "width of the content, N = 64", content, "rope:dim=64"));
    SZG_TRY(szgi_evidence_add(run, "width of the coupled logits, N = 64", coupled, "4 J: 4 N"));
    const szg_interval ratio = {nextafter(coupled.lo / content.hi, 0.0),
                                nextafter(coupled.hi / content.lo, INFINITY)};
    return szgi_evidence_add(run, "width ratio, N = 64", ratio, "coupled over content");
}

/* In doubles: sum_t G_t, or its real part, at N = LARGE. */
static szg_status width_at_512(szg_context *context, const double *angles, bool real_part,
                               double *width) {
    szg_c64 *matrix = NULL;
    double *values = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, LARGE * LARGE, &matrix), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, LARGE, &values), done);
    for (int64_t i = 0; i < LARGE; i++)
        for (int64_t j = 0; j <= i; j++)
            for (int64_t t = 0; t < PAIRS; t++) {
                double angle = (double)(i - j) * angles[t];
                matrix[i * LARGE + j].re += weight * cos(angle);
                matrix[i * LARGE + j].im -= real_part ? 0.0 : weight * sin(angle);
            }
    SZG_TRY_GOTO(status, szgi_eigen_hermitian(context, LARGE, matrix, LARGE, values, false), done);
    *width = values[LARGE - 1] - values[0];
done:
    szgi_memory_free(matrix);
    szgi_memory_free(values);
    return status;
}

static szg_status evidence_at_512(claims_run *run, const double *angles) {
    const double coupled = weight * PAIRS * LARGE;
    double content, gram;
    SZG_TRY(width_at_512(run->context, angles, true, &content));
    SZG_TRY(width_at_512(run->context, angles, false, &gram));
    SZG_TRY(szgi_evidence_number(run, "width of the content, N = 512", content, "in doubles"));
    SZG_TRY(szgi_evidence_number(run, "width ratio, N = 512", coupled / content,
                                 "coupled logits are 4 J: 2048"));
    return szgi_evidence_number(run, "width ratio against the complex Gram sum, N = 512",
                                coupled / gram, "the same before the real part is taken");
}

static szg_status check(claims_run *run, finding *out) {
    double angles[PAIRS];
    bool least, gram, rope;
    szgi_cosines_frequencies(PAIRS, DIM, 10000.0, angles);
    SZG_TRY(smallest(run, &least, &gram));
    SZG_TRY(at_64(run, angles, &rope));
    szgi_finding_fails(out, least && gram && rope);
    szgi_finding_note(out, "rope:dim=64, q_j = k_j = R_{-j} (1,0,1,0,..), interleaved, base 10000, "
                           "scale 1/8: certified at N = 64, in doubles at N = 512");
    return evidence_at_512(run, angles);
}
