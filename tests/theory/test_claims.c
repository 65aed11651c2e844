/* The ledger's verdicts are what the checkers compute, for several seeds; every number that the
 * claims quote comes out; a checker that computes something else comes to another verdict. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/formula.h"
#include "base/memory.h"
#include "suite.h"
#include "claims/claim.h"

enum { TRIALS = 16 };

static void verify(uint64_t seed, int64_t count, const char *const *ids,
                   szg_claims_report *report) {
    szg_claims_options options = {SZG_INIT(szg_claims_options), .terms = 8, .trials = TRIALS,
                                  .seed = seed};
    ck_szg_ok(szg_claims_verify(test_context(), &options, count, ids, report));
}

/* One report over every claim, shared by the tests that only read it. */
static const szg_claims_report *whole_report(void) {
    static szg_claims_report report;
    if (!report.claims)
        verify(0, 0, NULL, &report);
    return &report;
}

static void check_verdicts(const szg_claims_report *report, int64_t seed) {
    int64_t id = szg_table_find(report->claims, "id");
    int64_t verdict = szg_table_find(report->claims, "verdict");
    int64_t basis = szg_table_find(report->claims, "basis");
    for (int64_t i = 0; i < szg_table_rows(report->claims); i++) {
        const szg_claim *claim = szg_claim_find(szg_table_get_text(report->claims, i, id));
        const char *got = szg_table_get_text(report->claims, i, verdict);
        ck_assert_msg(strcmp(got, szg_verdict_name(claim->expected)) == 0, "seed %lld: %s is %s",
                      (long long)seed, claim->id, got);
        ck_assert(szg_table_get_text(report->claims, i, basis));
    }
    ck_assert_int_eq(report->differing, 0);
}

/* L1 is tried on as many drawn instances as asked. */
static void check_trials(const szg_claims_report *report) {
    int64_t id = szg_table_find(report->claims, "id");
    int64_t trials = szg_table_find(report->claims, "trials"), row = 0;
    while (strcmp(szg_table_get_text(report->claims, row, id), "L1") != 0)
        ck_assert_int_lt(++row, szg_table_rows(report->claims));
    ck_assert_int_eq(szg_table_get_integer(report->claims, row, trials), TRIALS);
}

START_TEST(verdicts_equal_the_ledger) {
    ck_assert_int_eq(szg_table_rows(whole_report()->claims), szg_claim_count());
    check_verdicts(whole_report(), 0);
    check_trials(whole_report());
    /* other seeds: all but A3.2, whose thousand draws take a second */
    const char *ids[32];
    int64_t count = 0;
    for (int64_t i = 0; i < szg_claim_count(); i++)
        if (strcmp(szg_claim_at(i)->id, "A3.2") != 0)
            ids[count++] = szg_claim_at(i)->id;
    for (int64_t k = 1; k <= test_trials(2); k++) {
        szg_claims_report report;
        verify(test_seed() + (uint64_t)k, count, ids, &report);
        ck_assert_int_eq(szg_table_rows(report.claims), count);
        check_verdicts(&report, (int64_t)test_seed() + k);
        szg_claims_report_close(&report);
    }
}
END_TEST

static int64_t certificates_of(const szg_table *table, const char *id) {
    int64_t count = 0, column = szg_table_find(table, "id");
    for (int64_t i = 0; i < szg_table_rows(table); i++)
        count += strcmp(szg_table_get_text(table, i, column), id) == 0;
    return count;
}

/* The row of the `place`-th certificate of a claim; -1: none. */
static int64_t certificate_at(const szg_table *certificates, const char *id, int64_t place) {
    int64_t column = szg_table_find(certificates, "id");
    for (int64_t row = 0; row < szg_table_rows(certificates); row++)
        if (strcmp(szg_table_get_text(certificates, row, column), id) == 0 && place-- == 0)
            return row;
    return -1;
}

/* g(0) = 2 sum w without a rounding beyond the sum's own, taken in the same order. */
START_TEST(samples_name_their_certificates) {
    const szg_claims_report *report = whole_report();
    const szg_table *samples = report->samples, *certificates = report->certificates;
    int64_t curves = 0;
    for (int64_t row = 0; row < szg_table_rows(samples); row++) {
        const char *id = szg_table_get_text(samples, row, szg_table_find(samples, "id"));
        int64_t place = szg_table_get_integer(samples, row, szg_table_find(samples, "certificate"));
        int64_t found = certificate_at(certificates, id, place);
        ck_assert_msg(found >= 0, "%s has no certificate %d", id, (int)place);
        ck_assert_str_eq(
            szg_table_get_text(samples, row, szg_table_find(samples, "note")),
            szg_table_get_text(certificates, found, szg_table_find(certificates, "note")));
        if (szg_table_get_real(samples, row, szg_table_find(samples, "theta")) != 0)
            continue;
        double g = 0;
        const char *at =
            szg_table_get_text(certificates, found, szg_table_find(certificates, "weights"));
        for (char *end; *at; at = end + strspn(end, " "))
            g += 2 * strtod(at, &end);
        ck_assert(g == szg_table_get_real(samples, row, szg_table_find(samples, "g")));
        curves++;
    }
    ck_assert(curves > 2);
}
END_TEST

START_TEST(every_refuted_claim_has_a_certificate) {
    const szg_claims_report *report = whole_report();
    for (int64_t i = 0; i < szg_claim_count(); i++) {
        const szg_claim *claim = szg_claim_at(i);
        bool needs = claim->expected == SZG_VERDICT_FAILS ||
                     claim->expected == SZG_VERDICT_VACUOUS ||
                     claim->expected == SZG_VERDICT_CONDITIONAL;
        ck_assert_msg((certificates_of(report->certificates, claim->id) > 0) == needs, "%s",
                      claim->id);
    }
    ck_assert_int_eq(szg_table_rows(report->lemma), TRIALS);
    ck_assert(certificates_of(report->samples, "L2") > 100);
}
END_TEST

/* `twist` makes each checker compute something slightly else. */
START_TEST(mutated_checkers_differ) {
    for (int64_t i = 0; i < szg_claim_count(); i++) {
        const szg_claim *claim = szg_claim_at(i);
        szg_claims_options options = {SZG_INIT(szg_claims_options), .terms = 8, .trials = TRIALS};
        szg_claims_report report;
        claims_run run;
        finding found;
        ck_szg_ok(szgi_claims_run_open(&run, test_context(), &options, &report));
        run.twist = 0.05;
        ck_szg_ok(szgi_claim_check(&run, szgi_claim_at(i), &found));
        ck_assert_msg(found.verdict != claim->expected, "%s is still %s", claim->id,
                      szg_verdict_name(found.verdict));
        szgi_claims_run_close(&run);
        szg_claims_report_close(&report);
    }
}
END_TEST

static bool one_of(const char *text, const char *const *texts, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(text, texts[i]) == 0)
            return true;
    return false;
}

/* A phase enters them. */
static bool reads_phases(const hypothesis *about) {
    return about == &szgi_hypothesis_aligned || about == &szgi_hypothesis_unaligned ||
           about == &szgi_hypothesis_unit || about == &szgi_hypothesis_rank_one ||
           about == &szgi_hypothesis_hermitian;
}

static void check_rule(const szgi_claim *one, const refutation *rule) {
    static const char *const kinds[] = {"disjoint", "exact", "structural"};
    static const char *const relations[] = {"<", ">", "=", "!="};
    const char *id = one->ledger.id;
    ck_assert_msg(one_of(rule->kind, kinds, 3) && one_of(rule->relation, relations, 4), "%s", id);
    ck_assert_msg((strcmp(rule->relation, "=") == 0) == (rule->equal != NULL), "%s", id);
    /* found by its names, so that no other rule of the claim has the same */
    ck_assert_ptr_eq(szgi_refutation_find(id, rule->kind, rule->left, rule->relation, rule->right),
                     rule);
    for (int i = 0; i < REFUTATION_HYPOTHESES && rule->hypotheses[i]; i++)
        ck_assert_msg(!rule->no_phases || !reads_phases(rule->hypotheses[i]), "%s", id);
}

/* What each claim's file says of itself fits together: nothing else would notice. */
START_TEST(every_claim_is_whole) {
    for (int64_t i = 0; i < szg_claim_count(); i++) {
        const szgi_claim *one = szgi_claim_at(i);
        int rules = 0;
        for (; rules < CLAIM_REFUTATIONS && one->refutations[rules].kind; rules++)
            check_rule(one, &one->refutations[rules]);
        bool needs = one->ledger.expected != SZG_VERDICT_HOLDS &&
                     one->ledger.expected != SZG_VERDICT_MEASURED;
        ck_assert_msg((rules > 0) == needs, "%s has %d rules", one->ledger.id, rules);
        ck_assert_ptr_eq(szgi_claim_find(one->ledger.id), one); /* ids differ */
        ck_assert_ptr_eq(szg_claim_at(i), &one->ledger);
        ck_assert(
            one_of(one->ledger.kind, (const char *const[]){"paper", "reading", "correction"}, 3));
        ck_assert(one->check && one->ledger.statement && one->ledger.true_statement &&
                  one->ledger.source);
    }
    ck_assert_ptr_null(szgi_claim_at(-1));
    ck_assert_ptr_null(szg_claim_at(szg_claim_count()));
    ck_assert_ptr_null(szg_claim_find(NULL));
}
END_TEST

/* An instance that a rule's quantities do not take is the checker's mistake, not a finding. */
START_TEST(instances_must_fit) {
    const double moduli[] = {1.0, 1.0, 1.0};
    const instance at = {.n = 3, .weights = 3, .w = moduli};
    szg_claims_report report;
    claims_run run;
    bool certified = true;
    ck_szg_ok(szgi_claims_run_open(&run, test_context(), NULL, &report));
    run.claim = szgi_claim_find("B3");
    ck_szg_fails(SZG_EINTERNAL, "B3: the instance does not fit leading 2x2 minor = 0",
                 szgi_certify(&run, &run.claim->refutations[0], &at, "three", &certified));
    ck_assert(!certified);
    szgi_claims_run_close(&run);
    szg_claims_report_close(&report);
}
END_TEST

/* What claims and docs quote, to the digits quoted. */
START_TEST(evidence_to_the_digits) {
    static const struct {
        const char *id, *quantity;
        double value, within;
    } quoted[] = {
        {"A3.2", "mean toeplitzness", 0.25, 0.02},
        {"A3.2", "standard deviation of toeplitzness", 0.16, 0.02},
        {"R3.1", "softmax diagonal 0", 0.414, 5e-4},
        {"R3.1", "softmax diagonal 1", 0.340, 5e-4},
        {"R3.1", "softmax diagonal 2", 0.315, 5e-4},
        {"R3.1", "softmax diagonal 3", 0.315, 5e-4},
        {"R3.1", "softmax diagonal 4", 0.340, 5e-4},
        {"R3.1", "softmax diagonal 5", 0.414, 5e-4},
        {"B1", "modulus ratio at lag 3", 0.0857, 5e-5},
        {"B1", "|Re L| at lag 3", 1.9895, 5e-5},
        {"B1", "|Gram sum|", 0.0, 0.0},
        {"B2", "bias that solves (100, 98)", -98.5, 0.0},
        {"T3.1h", "ALiBi: positive eigenvalues", 47.0, 0.0},
        {"T3.1h", "ALiBi: negative eigenvalues", 1.0, 0.0},
        {"T3.1h", "ALiBi: limit of least eigenvalue / (m N^2)", -0.3474, 5e-5},
        {"T3.1h", "ALiBi: least eigenvalue / N^2", -0.3474, 5e-4},
        {"T3.1h", "RoPE: nonzero eigenvalues", 4.0, 0.0},
        {"T3.1h", "T5, equal tails b: outlier at N = 64 less at N = 32", 16.0, 0.1},
        {"T3.1h", "T5, unequal tails: antisymmetric part's largest / N", 0.3183, 5e-4},
        {"B3h", "width of W, N = 3", 3.0, 1e-14},
        {"B3h", "width of W o E, N = 3", 3.4641, 5e-5},
        {"B3h", "largest eigenvalue of W, N = 8", 6.4774, 5e-5},
        {"B3h", "width of W, N = 8", 5.4028, 5e-5},
        {"B3h", "largest eigenvalue of W o E, N = 8", 6.0437, 5e-5},
        {"B3h", "width of W o E, N = 8", 6.0875, 5e-5},
        {"B3h", "limit of the width of W", 6.25, 1e-14},
        {"B3h", "limit of the width of W o E", 7.0407, 5e-5},
        {"B3r", "width of the content, N = 64", 162.266629, 5e-7},
        {"B3r", "width of the coupled logits, N = 64", 256.0, 1e-12},
        {"B3r", "width ratio, N = 64", 1.57765, 5e-6},
        {"B3r", "width of the content, N = 512", 836.7145, 5e-5},
        {"B3r", "width ratio, N = 512", 2.447669, 5e-7},
        {"B3r", "width ratio against the complex Gram sum, N = 512", 2.2909, 5e-5},
        {"B3n", "largest eigenvalue of W, N = 32", 7.8352, 5e-5},
        {"B3n", "largest eigenvalue of W o E, N = 32", 10.8820, 5e-5},
        {"B3c", "spectral radius of W o Ebar, W nilpotent", 0.841, 5e-4},
        {"B3c", "|sum_t G_t|, paired channels", 0.0, 0.0},
        {"L1s", "max|g|", 12.879, 5e-4},
        {"L1s", "max|f|", 16.0, 1e-14},
        {"L1s", "minimum of the symbol of W", 0.935, 5e-4},
        {"L2", "max|f|", 4.0, 1e-14},
        {"L2p", "max|f|", 3.0806, 5e-5},
        {"L3", "width of g", 6.25, 1e-14},
        {"L3", "4 sum w", 8.0, 0.0},
        {"L3", "width of f", 7.0407, 5e-5},
    };
    const szg_table *evidence = whole_report()->evidence;
    for (size_t q = 0; q < sizeof quoted / sizeof quoted[0]; q++) {
        int64_t hits = 0;
        for (int64_t i = 0; i < szg_table_rows(evidence); i++) {
            if (strcmp(szg_table_get_text(evidence, i, 0), quoted[q].id) ||
                strcmp(szg_table_get_text(evidence, i, 1), quoted[q].quantity))
                continue;
            hits++;
            double lo = szg_table_get_real(evidence, i, 2);
            double hi = szg_table_get_real(evidence, i, 3);
            ck_assert_msg(lo <= hi && fabs(lo - quoted[q].value) <= quoted[q].within &&
                              fabs(hi - quoted[q].value) <= quoted[q].within,
                          "%s, %s: [%.17g, %.17g], not %g", quoted[q].id, quoted[q].quantity, lo,
                          hi, quoted[q].value);
        }
        ck_assert_msg(hits == 1, "%s, %s: %d rows", quoted[q].id, quoted[q].quantity, (int)hits);
    }
}
END_TEST

static double evidence_of(const szg_claims_report *report, const char *name) {
    for (int64_t i = 0; i < szg_table_rows(report->evidence); i++)
        if (strcmp(szg_table_get_text(report->evidence, i, 1), name) == 0)
            return szg_table_get_real(report->evidence, i, 2);
    return NAN;
}

/* B2's probability for a bias has a closed form: Re z - Re z_1 is normal(0, 2), so P = Q(1/sqrt 2);
 * for a phase, one other token: P = E[(acos(1/r) + pi/2) / pi; r > 1], r Rayleigh. */
START_TEST(probabilities_against_integrals) {
    const char *id = "B2";
    szg_claims_report report;
    verify(3, 1, &id, &report);
    double bias = 0.5 * erfc(0.5), phase = 0.0;
    int64_t steps = 200000;
    for (int64_t i = 0; i < steps; i++) {
        double r = 1.0 + 12.0 * ((double)i + 0.5) / (double)steps;
        phase += r * exp(-0.5 * r * r) * (acos(1.0 / r) / M_PI + 0.5) * 12.0 / (double)steps;
    }
    int64_t lo = szg_table_find(report.evidence, "lo");
    ck_close(szg_table_get_real(report.evidence, 0, lo), bias, 4.0 * 0.0025);
    ck_close(szg_table_get_real(report.evidence, 1, lo), phase, 4.0 * 0.0025);
    double fixed = 0.5 * erfc(M_SQRT1_2) * 0.5, best = 0.0; /* Q(1) Q(0); the largest over biases */
    for (double b = -2.0; b <= 3.0; b += 0x1p-10)
        best = fmax(best, 0.25 * erfc((1.0 - b) * M_SQRT1_2) * erfc(b * M_SQRT1_2));
    char exact[96], simulated[96]; /* the claim's row says which numbers are which */
    snprintf(exact, sizeof exact, "(%.4f and %.4f, from closed forms)", fixed, best);
    snprintf(simulated, sizeof simulated,
             "simulated, fixed for all draws: RoPE's angle %.4f, the best bias %.4f;",
             evidence_of(&report, "P(one fixed angle solves), 1 other token"),
             evidence_of(&report, "P(the best fixed bias solves), 1 other token"));
    int64_t statement = szg_table_find(report.claims, "true_statement");
    int64_t note = szg_table_find(report.claims, "note");
    ck_assert(strstr(szg_table_get_text(report.claims, 0, statement), exact));
    ck_assert(strstr(szg_table_get_text(report.claims, 0, note), simulated));
    ck_close(evidence_of(&report, "P(one fixed angle solves), closed form"), fixed, 1e-15);
    ck_close(evidence_of(&report, "P(the best fixed bias solves), closed form"), best, 1e-15);
    ck_close(evidence_of(&report, "P(one fixed angle solves), 1 other token"), fixed, 4 * 0.0015);
    ck_close(evidence_of(&report, "P(the best fixed bias solves), 1 other token"), best,
             4 * 0.0015);
    szg_claims_report_close(&report);
}
END_TEST

START_TEST(same_seed_same_report) {
    const char *const ids[] = {"L1", "B3c", "R3.2"};
    szg_claims_report a, b;
    verify(9, 3, ids, &a);
    verify(9, 3, ids, &b);
    int64_t column = szg_table_find(a.claims, "worst_margin");
    for (int64_t i = 0; i < 3; i++)
        ck_close(szg_table_get_real(a.claims, i, column), szg_table_get_real(b.claims, i, column),
                 0.0);
    column = szg_table_find(a.lemma, "weights");
    for (int64_t i = 0; i < TRIALS; i++)
        ck_assert_str_eq(szg_table_get_text(a.lemma, i, column),
                         szg_table_get_text(b.lemma, i, column));
    szg_claims_report_close(&a);
    szg_claims_report_close(&b);
}
END_TEST

START_TEST(bad_requests) {
    const char *const ids[] = {"L1", "L9"};
    szg_claims_report report;
    szg_claims_options options = {SZG_INIT(szg_claims_options), .terms = 1};
    ck_szg_fails(SZG_EINVAL, "no claim is called L9",
                 szg_claims_verify(test_context(), NULL, 2, ids, &report));
    ck_szg_fails(SZG_EINVAL, "terms", szg_claims_verify(test_context(), &options, 1, ids, &report));
    options = (szg_claims_options){SZG_INIT(szg_claims_options), .trials = -1};
    ck_szg_fails(SZG_EINVAL, "trials",
                 szg_claims_verify(test_context(), &options, 1, ids, &report));
    ck_assert(!report.claims);
}
END_TEST

/* 10^6 trials of 4096 terms are 300 GB: refused, not begun. A machine that has them is left alone.
 */
START_TEST(trials_beyond_memory) {
    szg_context *context = test_context();
    szg_claims_report report = {0};
    szg_claims_options options = {SZG_INIT(szg_claims_options), .terms = 4096, .trials = 1000000};
    const char *ids[] = {"L1"};
    if (szgi_memory_available() > (int64_t)4096 * 1000000 * 40)
        return;
    ck_szg_fails(SZG_ENOMEM, "fewer trials", szg_claims_verify(context, &options, 1, ids, &report));
    szg_claims_report_close(&report);
}
END_TEST

START_TEST(cancel) {
    szg_context *context;
    szg_claims_report report;
    ck_assert_int_eq(szg_context_open(NULL, &context), SZG_OK);
    szg_context_cancel(context);
    ck_assert_int_eq(szg_claims_verify(context, NULL, 0, NULL, &report), SZG_ECANCEL);
    ck_assert(!report.claims);
    szg_context_close(&context);
}
END_TEST

/* Each allocation fails once: SZG_ENOMEM and nothing left behind (the leak checker watches). */
START_TEST(allocation_failures) {
    const char *const ids[] = {"R3.1", "R3.2", "E8", "B1",  "B1c", "T3.1h", "B3",  "B3p",
                               "B3h",  "B3c",  "L1", "L1s", "L2",  "L3c",   "E12c"};
    szg_claims_options options = {SZG_INIT(szg_claims_options), .terms = 3, .trials = 4};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        szg_status status = SZG_ENOMEM;
        for (int64_t at = 1; status == SZG_ENOMEM; at = test_next_refusal(at)) {
            szg_claims_report report;
            szgi_memory_fail_after(test_context(), at);
            status = szg_claims_verify(test_context(), &options, 1, &ids[i], &report);
            szgi_memory_fail_after(test_context(), 0);
            szg_claims_report_close(&report);
        }
        ck_assert_msg(status == SZG_OK, "%s: %s", ids[i], szg_context_message(test_context()));
    }
}
END_TEST

/* Every formula of the ledger can be set, and no backtick is left alone. */
START_TEST(formulas_can_be_set) {
    for (int64_t i = 0; i < szg_claim_count(); i++) {
        const szg_claim *claim = szg_claim_at(i);
        const char *const texts[] = {claim->statement, claim->true_statement};
        for (int k = 0; k < 2; k++) {
            szgi_prose_piece piece;
            const char *rest = texts[k];
            while (szgi_prose_next(&rest, &piece)) {
                bool can = false;
                char *set;
                size_t size;
                FILE *stream = open_memstream(&set, &size);
                if (piece.formula)
                    can = szgi_formula_put(&piece, SZGI_FORMULA_UNICODE, stream);
                fclose(stream);
                ck_assert_msg(piece.formula ? can : !memchr(piece.text, '`', piece.length),
                              "%s: %s", claim->id, texts[k]);
                free(set);
            }
        }
    }
}
END_TEST

TEST_FILE("claims") {
    test_add(suite, "formulas", formulas_can_be_set);
    test_add(suite, "verdicts_equal_the_ledger", verdicts_equal_the_ledger);
    test_add(suite, "samples_name_their_certificates", samples_name_their_certificates);
    test_add(suite, "every_refuted_claim_has_a_certificate", every_refuted_claim_has_a_certificate);
    test_add(suite, "every_claim_is_whole", every_claim_is_whole);
    test_add(suite, "instances_must_fit", instances_must_fit);
    test_add(suite, "mutated_checkers_differ", mutated_checkers_differ);
    test_add(suite, "evidence_to_the_digits", evidence_to_the_digits);
    test_add(suite, "probabilities_against_integrals", probabilities_against_integrals);
    test_add(suite, "same_seed_same_report", same_seed_same_report);
    test_add(suite, "bad_requests", bad_requests);
    test_add(suite, "trials_beyond_memory", trials_beyond_memory);
    test_add(suite, "cancel", cancel);
    test_add(suite, "allocation_failures", allocation_failures);
}
