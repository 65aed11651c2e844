/* Checkers of Lemma B.1 and its parts: L1 L1s L2 L2p L2c L3 L3c. */
#include <math.h>

#include "base/memory.h"

#include "lemma.h"

enum { LATTICE_TERMS = 4, GRID = 48, SAMPLES = 129 };

static szg_interval scaled(szg_interval x, double twist) {
    return twist == 0.0 ? x : szgi_interval_multiply(x, (szg_interval){1.0 + twist, 1.0 + twist});
}

/* f and g of a certified counterexample, for plotting. */
static szg_status add_samples(claims_run *run, const certificate *c) {
    szg_context *context = run->context;
    szg_table *table = run->report->samples;
    szgi_phase_mode mode = c->left == Q_MAX_F_PLAIN ? SZG_PHASE_PLAIN : SZG_PHASE_TIMES_INDEX;
    for (int64_t j = 0; j < SAMPLES; j++) {
        double t = 2.0 * M_PI * (double)j / (SAMPLES - 1);
        SZG_TRY(szg_table_add_row(context, table));
        SZG_TRY(szg_table_set_text(context, table, "id", c->id));
        SZG_TRY(szg_table_set_real(context, table, "theta", t));
        SZG_TRY(szg_table_set_real(context, table, "f",
                                   szgi_lemma_value(c->weights, c->w, c->theta, mode, t)));
        SZG_TRY(szg_table_set_real(context, table, "g",
                                   szgi_lemma_value(c->weights, c->w, NULL, mode, t)));
        SZG_TRY(szg_table_set_text(context, table, "note", c->note));
    }
    return SZG_OK;
}

static szg_status certify_and_sample(claims_run *run, certificate *c, bool *certified) {
    SZG_TRY(szgi_claims_certify(run, c, certified));
    return *certified ? add_samples(run, c) : SZG_OK;
}

static szg_status search_and_sample(claims_run *run, const lattice *space, certificate *c,
                                    double *w, szgi_phase *theta, bool *found) {
    SZG_TRY(szgi_lattice_search(run, space, c, w, theta, found));
    return *found ? add_samples(run, c) : SZG_OK;
}

static const szgi_phase quarter_turns[] = {{.rational = true, .p = 0, .q = 1},
                                           {.rational = true, .p = 1, .q = 2},
                                           {.rational = true, .p = 1, .q = 1},
                                           {.rational = true, .p = 3, .q = 2}};

/* 2 theta_2 = pi/2 needs an eighth of a turn. */
static const szgi_phase eighth_turns[] = {{.rational = true, .p = 0, .q = 1},
                                          {.rational = true, .p = 1, .q = 4},
                                          {.rational = true, .p = 1, .q = 2},
                                          {.rational = true, .p = 1, .q = 1}};

/* ---- L1: the bound ---- */

szg_status szgi_check_l1(claims_run *run, finding *out) {
    SZG_TRY(szgi_lemma_trials(run));
    int64_t refuted = 0, equal = 0;
    double worst = INFINITY;
    szg_interval worst_margin = {0.0, 0.0};
    for (int64_t i = 0; i < run->options.trials; i++) {
        const lemma_trial *trial = &run->lemma[i];
        szg_interval max_f = scaled(trial->max_f, run->twist);
        if (szgi_interval_compare(max_f, trial->max_g) > 0 ||
            szgi_interval_compare(trial->max_g, trial->two_sum) != 0)
            refuted++;
        equal += trial->equality;
        if (trial->equality || !(trial->two_sum.lo > 0.0))
            continue;
        szg_interval margin = szgi_interval_subtract(trial->two_sum, max_f);
        if (margin.lo / trial->two_sum.hi < worst) {
            worst = margin.lo / trial->two_sum.hi;
            worst_margin =
                (szg_interval){worst, nextafter(margin.hi / trial->two_sum.lo, INFINITY)};
        }
    }
    szgi_finding_holds(out, run->options.trials, refuted, worst);
    szgi_finding_note(out, "margin (2 sum w - max|f|) / 2 sum w; %lld trials are equal exactly",
                      (long long)equal);
    return szgi_evidence_add(run, "L1", "least relative margin without equality", worst_margin,
                             "enclosure, over random and adversarial trials");
}

static double gap_l1s(const certificate *c) {
    sampled_range f = szgi_lemma_sample(c->weights, c->w, c->theta, SZG_PHASE_TIMES_INDEX, GRID);
    sampled_range g = szgi_lemma_sample(c->weights, c->w, NULL, SZG_PHASE_TIMES_INDEX, GRID);
    return fmax(f.largest, -f.least) - fmax(g.largest, -g.least);
}

szg_status szgi_check_l1s(claims_run *run, finding *out) {
    static const double weights[] = {5.0, 1.0, -1.0};
    const lattice space = {LATTICE_TERMS - 1, 3, weights, 3, quarter_turns, gap_l1s};
    double w[LATTICE_TERMS];
    szgi_phase theta[LATTICE_TERMS];
    bool minimal, larger;
    certificate c = {.id = "L1s",
                     .kind = "disjoint",
                     .left = Q_MAX_F,
                     .relation = ">",
                     .right = Q_MAX_G,
                     .note = "fewest terms"};
    SZG_TRY(search_and_sample(run, &space, &c, w, theta, &minimal));
    const double w4[] = {5.0, 1.0, 1.0, -1.0};
    const szgi_phase theta4[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                                 szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 3)};
    c = szgi_certificate_with_inputs(&c, 4, w4, theta4, "W positive definite for every N");
    SZG_TRY(certify_and_sample(run, &c, &larger));
    szgi_finding_fails(out, minimal && larger);
    SZG_TRY(szgi_evidence_quantity(run, "max|g|", Q_MAX_G, &c, "w = (5,1,1,-1)"));
    SZG_TRY(szgi_evidence_quantity(run, "max|f|", Q_MAX_F, &c, "theta_3 = pi/3"));
    const double halved[] = {2.5, 1.0, 1.0, -1.0};
    szg_range range;
    SZG_TRY(szgi_ball_range(run->context, 4, halved, NULL, SZG_PHASE_TIMES_INDEX, SZG_BALL_BITS,
                            &range));
    return szgi_evidence_add(run, "L1s", "minimum of the symbol of W", range.min, "w = (5,1,1,-1)");
}

/* ---- L2: equality ---- */

static double gap_l2(const certificate *c) {
    double sum = 0.0;
    for (int64_t i = 0; i < c->weights; i++)
        sum += c->w[i];
    return sum > 0.0 && !szgi_lemma_aligned(c->phases, c->theta) ? 1.0 : 0.0;
}

szg_status szgi_check_l2(claims_run *run, finding *out) {
    static const double weights[] = {1.0, 0.0};
    const lattice space = {LATTICE_TERMS - 1, 2, weights, 4, quarter_turns, gap_l2};
    double w[LATTICE_TERMS];
    szgi_phase theta[LATTICE_TERMS];
    bool minimal, printed, floats;
    certificate c = {.id = "L2",
                     .kind = "exact",
                     .left = Q_MAX_F,
                     .relation = "=",
                     .right = Q_TWO_SUM,
                     .note = "fewest terms"};
    SZG_TRY(search_and_sample(run, &space, &c, w, theta, &minimal));
    const double w3[] = {0.0, 1.0, 1.0};
    const szgi_phase theta3[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                                 szgi_phase_ratio(1, 1)};
    certificate three = szgi_certificate_with_inputs(&c, 3, w3, theta3, "without w_0");
    SZG_TRY(certify_and_sample(run, &three, &printed));
    const double w2[] = {1.0, 1.0};
    const szgi_phase theta2[] = {szgi_phase_radians(0.0), szgi_phase_radians(1.0)};
    certificate two = szgi_certificate_with_inputs(&c, 2, w2, theta2, "float phases");
    SZG_TRY(certify_and_sample(run, &two, &floats));
    szgi_finding_fails(out, minimal && printed && floats);
    return szgi_evidence_quantity(run, "max|f|", Q_MAX_F, &three, "w = (0,1,1), theta = (0,0,pi)");
}

szg_status szgi_check_l2p(claims_run *run, finding *out) {
    /* The fewest terms: one term has max|f| = 2 w_0 |cos theta_0|, so theta_0 alone does it. */
    static const double weights[] = {1.0};
    const lattice space = {LATTICE_TERMS - 1, 1, weights, 4, quarter_turns, NULL};
    double w[LATTICE_TERMS];
    szgi_phase theta[LATTICE_TERMS];
    bool minimal, printed;
    certificate c = {.id = "L2p",
                     .kind = "disjoint",
                     .left = Q_MAX_F_PLAIN,
                     .relation = "<",
                     .right = Q_TWO_SUM,
                     .note = "fewest terms"};
    SZG_TRY(search_and_sample(run, &space, &c, w, theta, &minimal));
    const double w2[] = {1.0, 1.0};
    const szgi_phase theta2[] = {szgi_phase_radians(1.0), szgi_phase_radians(1.0)};
    c = szgi_certificate_with_inputs(&c, 2, w2, theta2, "w = (1,1), theta = (1,1)");
    SZG_TRY(certify_and_sample(run, &c, &printed));
    szgi_finding_fails(out, minimal && printed);
    return szgi_evidence_quantity(run, "max|f|", Q_MAX_F_PLAIN, &c, "w = (1,1), theta = (1,1)");
}

szg_status szgi_check_l2c(claims_run *run, finding *out) {
    SZG_TRY(szgi_lemma_trials(run));
    int64_t refuted = 0, undecided = 0, equal = 0;
    for (int64_t i = 0; i < run->options.trials; i++) {
        const lemma_trial *trial = &run->lemma[i];
        bool apart = szgi_interval_compare(trial->max_f, trial->two_sum) != 0;
        bool equality = trial->equality != (run->twist != 0.0);
        equal += equality;
        refuted += equality && apart;
        undecided += !equality && !apart;
    }
    /* A trial that the enclosures cannot decide supports nothing and refutes nothing: it does not
     * count; a run without any other has no verdict. */
    int64_t decided = run->options.trials - undecided;
    szgi_finding_holds(out, decided, refuted, NAN);
    if (decided == 0)
        szgi_finding_fails(out, false);
    szgi_finding_note(
        out,
        "%lld trials equal; %lld more, unequal but nearer than their enclosures, are not "
        "decided and not counted",
        (long long)equal, (long long)undecided);
    return SZG_OK;
}

/* ---- L3: widths ---- */

static double gap_l3(const certificate *c) {
    sampled_range f = szgi_lemma_sample(c->weights, c->w, c->theta, SZG_PHASE_TIMES_INDEX, GRID);
    sampled_range g = szgi_lemma_sample(c->weights, c->w, NULL, SZG_PHASE_TIMES_INDEX, GRID);
    return f.largest - f.least - (g.largest - g.least);
}

/* Each of the three parts with the fewest terms, then the instance that shows all of them. */
static szg_status minimal_l3(claims_run *run, bool *certified) {
    static const double weights[] = {1.0, 0.0};
    static const struct {
        const char *kind;
        quantity left;
        const char *relation;
        quantity right;
        double (*gap)(const certificate *c);
    } parts[] = {{"disjoint", Q_WIDTH_G, "<", Q_FOUR_SUM, NULL},
                 {"disjoint", Q_WIDTH_F, ">", Q_WIDTH_G, gap_l3},
                 {"exact", Q_WIDTH_F, "=", Q_WIDTH_G, gap_l2}};
    double w[LATTICE_TERMS];
    szgi_phase theta[LATTICE_TERMS];
    *certified = true;
    for (int i = 0; i < 3; i++) {
        const lattice space = {LATTICE_TERMS - 1, 2, weights, 4, eighth_turns, parts[i].gap};
        certificate c = {.id = "L3",
                         .kind = parts[i].kind,
                         .left = parts[i].left,
                         .relation = parts[i].relation,
                         .right = parts[i].right,
                         .note = "fewest terms"};
        bool found;
        SZG_TRY(search_and_sample(run, &space, &c, w, theta, &found));
        *certified = *certified && found;
    }
    return SZG_OK;
}

szg_status szgi_check_l3(claims_run *run, finding *out) {
    bool minimal, part[3];
    SZG_TRY(minimal_l3(run, &minimal));
    const double w[] = {0.0, 1.0, 1.0};
    const szgi_phase eighth[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                                 szgi_phase_ratio(1, 4)};
    const szgi_phase half[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                               szgi_phase_ratio(1, 1)};
    certificate c = {.id = "L3",
                     .kind = "disjoint",
                     .left = Q_WIDTH_G,
                     .relation = "<",
                     .right = Q_FOUR_SUM,
                     .n = 3,
                     .weights = 3,
                     .phases = 3,
                     .w = w,
                     .theta = eighth,
                     .note = "w = (0,1,1)"};
    SZG_TRY(certify_and_sample(run, &c, &part[0]));
    c.left = Q_WIDTH_F;
    c.relation = ">";
    c.right = Q_WIDTH_G;
    c.note = "w = (0,1,1), theta_2 = pi/4";
    SZG_TRY(certify_and_sample(run, &c, &part[1]));
    SZG_TRY(szgi_evidence_quantity(run, "width of g", Q_WIDTH_G, &c, "w = (0,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "4 sum w", Q_FOUR_SUM, &c, "w = (0,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "width of f", Q_WIDTH_F, &c, "theta_2 = pi/4"));
    c.kind = "exact";
    c.relation = "=";
    c.theta = half;
    c.note = "w = (0,1,1), theta_2 = pi";
    SZG_TRY(certify_and_sample(run, &c, &part[2]));
    szgi_finding_fails(out, minimal && part[0] && part[1] && part[2]);
    return SZG_OK;
}

/* 4 sum_{i>=1} |w_i| less the width, of one trial with the signs of `signs` (bit i: minus). */
static szg_status width_margin(claims_run *run, const lemma_trial *trial, uint32_t signs,
                               szg_interval *margin) {
    szg_context *context = run->context;
    int64_t n = run->options.terms;
    double *w;
    szg_range f;
    szg_interval bound;
    szg_status status;
    SZG_TRY(szgi_memory_alloc(context, n, sizeof *w, &w));
    for (int64_t i = 1; i < n; i++)
        w[i] = trial->w[i];
    certificate tail = {.n = n, .weights = n, .w = w};
    SZG_TRY_GOTO(status, szgi_quantity_enclose(context, Q_FOUR_SUM, &tail, &bound), done);
    szg_interval width = trial->width_f;
    if (signs) {
        for (int64_t i = 1; i < n; i++)
            w[i] = signs >> (i % 32) & 1 ? -w[i] : w[i];
        SZG_TRY_GOTO(
            status,
            szgi_ball_range(context, n, w, trial->theta, SZG_PHASE_TIMES_INDEX, SZG_BALL_BITS, &f),
            done);
        width = szgi_range_width(&f);
    }
    *margin = szgi_interval_subtract(bound, scaled(width, run->twist));
done:
    szgi_memory_free(w);
    return status;
}

szg_status szgi_check_l3c(claims_run *run, finding *out) {
    SZG_TRY(szgi_lemma_trials(run));
    int64_t refuted = 0, trials = 0;
    double worst = INFINITY;
    szg_interval least = {0.0, 0.0};
    for (int64_t i = 0; i < run->options.trials; i++) {
        /* every fourth trial again with random signs */
        szgi_stream stream = {run->options.seed, (uint32_t)i, STREAM_LEMMA + 0x100};
        uint32_t random_signs = szgi_random_word(&stream, 0) | 2u;
        for (int again = 0; again <= (i % 4 == 0); again++) {
            szg_interval margin;
            SZG_TRY(width_margin(run, &run->lemma[i], again ? random_signs : 0, &margin));
            trials++;
            refuted += margin.hi < 0.0;
            double scale = run->lemma[i].two_sum.hi;
            if (scale > 0.0 && margin.lo / scale < worst) {
                worst = margin.lo / scale;
                least = margin;
            }
        }
    }
    szgi_finding_holds(out, trials, refuted, worst);
    szgi_finding_note(out,
                      "margin (4 sum_{i>=1} |w_i| - width) / 2 sum w; odd terms alone attain 0");
    return szgi_evidence_add(run, "L3c", "least margin", least, "enclosure, not divided");
}
