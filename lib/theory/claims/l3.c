/* L3: the widths of f and g. */
#include "lemma.h"

static szg_status check(claims_run *run, finding *out);

enum { NARROW_G, WIDER_F, EQUAL, PARTS };

const szgi_claim szgi_claim_l3 = {
    .ledger = {.id = "L3",
               .kind = "paper",
               .expected = SZG_VERDICT_FAILS,
               .statement = "the width of `g` is `4 sum w_i`, never below that of `f`, equal only "
                            "under complete alignment",
               .true_statement = "all three parts fail: see L3c",
               .source = "Lemma B.1, widths"},
    .check = check,
    .refutations = {[NARROW_G] = {.kind = "disjoint",
                                  .left = Q_WIDTH_G,
                                  .relation = "<",
                                  .right = Q_FOUR_SUM,
                                  .hypotheses = {&szgi_hypothesis_nonnegative},
                                  .no_phases = true},
                    [WIDER_F] = {.kind = "disjoint",
                                 .left = Q_WIDTH_F,
                                 .relation = ">",
                                 .right = Q_WIDTH_G,
                                 .hypotheses = {&szgi_hypothesis_nonnegative}},
                    [EQUAL] = {.kind = "exact",
                               .left = Q_WIDTH_F,
                               .relation = "=",
                               .right = Q_WIDTH_G,
                               .hypotheses = {&szgi_hypothesis_nonnegative,
                                              &szgi_hypothesis_unaligned},
                               .equal = &szgi_equality_widths}},
};

static const refutation *const rules = szgi_claim_l3.refutations;

/* 2 theta_2 = pi/2 needs an eighth of a turn. */
static const szgi_phase eighth_turns[] = {{.rational = true, .p = 0, .q = 1},
                                          {.rational = true, .p = 1, .q = 4},
                                          {.rational = true, .p = 1, .q = 2},
                                          {.rational = true, .p = 1, .q = 1}};

static double width(sampled_range r) {
    return r.largest - r.least;
}

static double gap(const instance *at) {
    enum { GRID = 48 };
    return width(szgi_lemma_sample(at, true, GRID)) - width(szgi_lemma_sample(at, false, GRID));
}

/* Each of the three parts with the fewest terms. */
static szg_status search_parts(claims_run *run, bool *found) {
    static const double weights[] = {1.0, 0.0};
    double (*const gaps[PARTS])(const instance *) = {NULL, gap, szgi_gap_unaligned};
    *found = true;
    for (int i = 0; i < PARTS; i++) {
        const lattice space = {LATTICE_TERMS - 1, 2, weights, 4, eighth_turns, gaps[i]};
        bool part;
        SZG_TRY(szgi_lemma_search(run, &space, &rules[i], "fewest terms", &part));
        *found = *found && part;
    }
    return SZG_OK;
}

/* w = (0,1,1) shows all of them. */
static szg_status one_for_all(claims_run *run, bool certified[PARTS]) {
    const double w[] = {0.0, 1.0, 1.0};
    const szgi_phase eighth[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                                 szgi_phase_ratio(1, 4)};
    const szgi_phase half[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                               szgi_phase_ratio(1, 1)};
    instance at = szgi_instance(3, w, eighth);
    SZG_TRY(szgi_lemma_certify(run, &rules[NARROW_G], &at, "w = (0,1,1)", &certified[NARROW_G]));
    SZG_TRY(szgi_lemma_certify(run, &rules[WIDER_F], &at, "w = (0,1,1), theta_2 = pi/4",
                               &certified[WIDER_F]));
    SZG_TRY(szgi_evidence_quantity(run, "width of g", Q_WIDTH_G, &at, "w = (0,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "4 sum w", Q_FOUR_SUM, &at, "w = (0,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "width of f", Q_WIDTH_F, &at, "theta_2 = pi/4"));
    at.theta = half;
    return szgi_lemma_certify(run, &rules[EQUAL], &at, "w = (0,1,1), theta_2 = pi",
                              &certified[EQUAL]);
}

static szg_status check(claims_run *run, finding *out) {
    bool minimal, part[PARTS];
    SZG_TRY(search_parts(run, &minimal));
    SZG_TRY(one_for_all(run, part));
    szgi_finding_fails(out, minimal && part[NARROW_G] && part[WIDER_F] && part[EQUAL]);
    return SZG_OK;
}
