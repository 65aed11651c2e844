/* Checkers of Hadamard products with unimodular matrices: B3 B3s B3h B3n. */
#include <math.h>

#include "lemma.h"

static const szgi_phase quarter_turns[] = {{.rational = true, .p = 0, .q = 1},
                                           {.rational = true, .p = 1, .q = 2},
                                           {.rational = true, .p = 1, .q = 1}};

/* ---- B3, B3s ---- */

/* Whether [[1, e], [conj e, 1]], e = e^{i theta}, has a minor that is certainly positive. */
static szg_status definite_pair(claims_run *run, double theta, bool *definite) {
    szg_context *context = run->context;
    szgi_ball_matrix *e = NULL;
    szgi_phase phase = szgi_phase_radians(theta), zero = szgi_phase_ratio(0, 1);
    szg_interval minor = {0.0, 0.0};
    double modulus = 1.0 - run->twist;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, 2, 2, SZG_BALL_BITS, &e), done);
    for (int64_t i = 0; i < 2; i++) {
        SZG_TRY_GOTO(status, szgi_ball_matrix_add_polar(context, e, i, i, 1.0, 1, &zero), done);
        SZG_TRY_GOTO(status,
                     szgi_ball_matrix_add_polar(context, e, i, 1 - i, modulus, i ? 1 : -1, &phase),
                     done);
    }
    SZG_TRY_GOTO(status, szgi_ball_matrix_minor(context, e, 2, &minor, NULL), done);
done:
    szgi_ball_matrix_close(&e);
    *definite = minor.lo > 0.0;
    return status;
}

szg_status szgi_check_b3(claims_run *run, finding *out) {
    /* Any E: |E_12| = 1 and a positive definite diagonal of modulus 1, so the minor is 1 - 1. */
    const double moduli[] = {1.0, 1.0};
    certificate c = {.id = "B3",
                     .kind = "structural",
                     .left = Q_UNIT_MINOR,
                     .relation = "=",
                     .right = Q_ZERO,
                     .n = 2,
                     .weights = 2,
                     .w = moduli,
                     .note = "|E_11| |E_22| - |E_12|^2 for every unimodular E"};
    bool certified, some = false;
    SZG_TRY(szgi_claims_certify(run, &c, &certified));
    for (int64_t trial = 0; trial < run->options.trials; trial++) {
        szgi_stream stream = {run->options.seed, (uint32_t)trial, STREAM_HADAMARD + 0x200};
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

szg_status szgi_check_b3s(claims_run *run, finding *out) {
    const double w[] = {3.0, 1.0};
    const szgi_phase theta[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 2)};
    const double w3[] = {3.0, 1.0, 1.0};
    const szgi_phase theta3[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 3),
                                 szgi_phase_ratio(2, 3)};
    certificate c = {.id = "B3s",
                     .kind = "exact",
                     .left = Q_SPREAD_WE,
                     .relation = "=",
                     .right = Q_SPREAD_W,
                     .n = 2,
                     .weights = 2,
                     .phases = 2,
                     .w = w,
                     .theta = theta,
                     .note = "smallest size; E = v v^*"};
    bool minimal, three;
    SZG_TRY(szgi_claims_certify(run, &c, &minimal));
    c = szgi_certificate_with_inputs(&c, 3, w3, theta3, "E = v v^*, v_k = e^{i k pi / 3}");
    SZG_TRY(szgi_claims_certify(run, &c, &three));
    szgi_finding_fails(out, minimal && three);
    return SZG_OK;
}

/* ---- B3h, B3n ---- */

static double no_unit(const certificate *c) {
    return szgi_lemma_angle(&c->theta[0]) == 0.0 ? 1.0 : 0.0;
}

szg_status szgi_check_b3h(claims_run *run, finding *out) {
    static const double weights[] = {3.0, 1.0};
    const lattice space = {3, 2, weights, 3, quarter_turns, no_unit};
    double w[3];
    szgi_phase theta[3];
    bool minimal, paper, least;
    certificate c = {.id = "B3h",
                     .kind = "disjoint",
                     .left = Q_SPREAD_WE,
                     .relation = ">",
                     .right = Q_SPREAD_W,
                     .note = "smallest size"};
    SZG_TRY(szgi_lattice_search(run, &space, &c, w, theta, &minimal));
    szgi_finding_note(out, "smallest N with a counterexample: %lld", (long long)c.n);
    minimal = minimal && c.n == 3;
    const double w3[] = {3.0, 1.0, 1.0};
    const szgi_phase e3[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                             szgi_phase_ratio(1, 2)};
    c = szgi_certificate_with_inputs(&c, 3, w3, e3, "w = (3,1,1), e_2 = i, N = 3");
    SZG_TRY(szgi_claims_certify(run, &c, &least));
    SZG_TRY(szgi_evidence_quantity(run, "width of W, N = 3", Q_SPREAD_W, &c, "w = (3,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "width of W o E, N = 3", Q_SPREAD_WE, &c, "e_2 = i"));
    c.n = 8;
    c.note = "w = (3,1,1), e_2 = i, N = 8";
    SZG_TRY(szgi_claims_certify(run, &c, &paper));
    SZG_TRY(
        szgi_evidence_quantity(run, "largest eigenvalue of W, N = 8", Q_TOP_W, &c, "w = (3,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "width of W, N = 8", Q_SPREAD_W, &c, "w = (3,1,1)"));
    SZG_TRY(
        szgi_evidence_quantity(run, "largest eigenvalue of W o E, N = 8", Q_TOP_WE, &c, "e_2 = i"));
    SZG_TRY(szgi_evidence_quantity(run, "width of W o E, N = 8", Q_SPREAD_WE, &c, "e_2 = i"));
    szgi_finding_fails(out, minimal && least && paper);
    /* Szego: the widths tend to those of the symbols. */
    const szgi_phase eighth[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                                 szgi_phase_ratio(1, 4)};
    certificate limit = {.id = "B3h", .n = 3, .weights = 3, .phases = 3, .w = w3, .theta = eighth};
    SZG_TRY(szgi_evidence_quantity(run, "limit of the width of W", Q_WIDTH_G, &limit, "symbol"));
    return szgi_evidence_quantity(run, "limit of the width of W o E", Q_WIDTH_F, &limit, "symbol");
}

szg_status szgi_check_b3n(claims_run *run, finding *out) {
    static const double weights[] = {3.0, 1.0, -1.0};
    const lattice space = {3, 3, weights, 3, quarter_turns, no_unit};
    double w[3];
    szgi_phase theta[3];
    bool minimal, paper;
    certificate c = {.id = "B3n",
                     .kind = "disjoint",
                     .left = Q_TOP_WE,
                     .relation = ">",
                     .right = Q_TOP_W,
                     .note = "smallest size"};
    SZG_TRY(szgi_lattice_search(run, &space, &c, w, theta, &minimal));
    szgi_finding_note(out, "smallest N with a counterexample: %lld", (long long)c.n);
    minimal = minimal && c.n == 3;
    const double w4[] = {5.0, 1.0, 1.0, -1.0};
    const szgi_phase e4[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                             szgi_phase_ratio(1, 1)};
    c = szgi_certificate_with_inputs(&c, 4, w4, e4, "w = (5,1,1,-1), e_3 = -1, N = 32");
    c.n = 32;
    SZG_TRY(szgi_claims_certify(run, &c, &paper));
    szgi_finding_fails(out, minimal && paper);
    SZG_TRY(szgi_evidence_quantity(run, "largest eigenvalue of W, N = 32", Q_TOP_W, &c, "W"));
    return szgi_evidence_quantity(run, "largest eigenvalue of W o E, N = 32", Q_TOP_WE, &c,
                                  "e_3 = -1");
}
