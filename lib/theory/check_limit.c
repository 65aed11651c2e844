/* Checkers of Theorem 3.1 (T3.1) and of its use for RoPE, ALiBi and T5 (T3.1h). */
#include <math.h>
#include <stdio.h>

#include "encoding/encoding.h"
#include "base/memory.h"
#include "theory/theory.h"

#include "lemma.h"

enum { DEGREE = 4 };

/* ---- T3.1 ---- */

/* Enclosures of the extreme eigenvalues of T_n, coefficients w_k e^{i theta_k}. */
static szg_status extremes(szg_context *context, int64_t n, int64_t count, const double *w,
                           const szgi_phase *theta, szg_interval *least, szg_interval *largest) {
    szgi_ball_matrix *matrix = NULL;
    szg_interval *values = NULL;
    szg_status status;
    SZG_TRY_GOTO(status,
                 szgi_ball_matrix_open_toeplitz(context, n, count, w, theta, SZG_PHASE_PLAIN,
                                                SZG_BALL_BITS, &matrix),
                 done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, n, sizeof *values, &values), done);
    SZG_TRY_GOTO(status, szgi_ball_matrix_eigenvalues(context, matrix, values), done);
    *least = values[0];
    *largest = values[n - 1];
done:
    szgi_memory_free(values);
    szgi_ball_matrix_close(&matrix);
    return status;
}

/* One symbol: eigenvalues stay inside, and both gaps to the ends shrink by more than half from
 * N = 8 to N = 32 (the rate is 1/N^2 at a simple extremum). margin: the lesser gap at N = 32,
 * relative to the symbol's width. */
static szg_status szego_trial(claims_run *run, int64_t trial, bool *refuted, double *margin) {
    szgi_stream stream = {run->options.seed, (uint32_t)trial, STREAM_SZEGO};
    double w[DEGREE], half[DEGREE];
    szgi_phase theta[DEGREE];
    szg_range range;
    szg_interval least[2], largest[2];
    for (int64_t k = 0; k < DEGREE; k++) {
        w[k] = half[k] = fabs(szgi_random_normal(&stream, (uint64_t)k));
        theta[k] = k ? szgi_phase_radians(szgi_random_normal(&stream, 10 + (uint64_t)k))
                     : szgi_phase_ratio(0, 1);
    }
    half[0] *= 0.5; /* the lemma's polynomial has 2 w_0 where the symbol has w_0 */
    SZG_TRY(
        szgi_ball_range(run->context, DEGREE, half, theta, SZG_PHASE_PLAIN, SZG_BALL_BITS, &range));
    SZG_TRY(extremes(run->context, 8, DEGREE, w, theta, &least[0], &largest[0]));
    SZG_TRY(extremes(run->context, 32, DEGREE, w, theta, &least[1], &largest[1]));
    double width = szgi_range_width(&range).hi, moved = width * run->twist * 10.0;
    double low = least[1].lo - moved - range.min.hi, high = range.max.lo - largest[1].hi - moved;
    double low_before = least[0].hi - range.min.lo, high_before = range.max.hi - largest[0].lo;
    *margin = fmin(low, high) / width;
    *refuted = least[1].hi - moved < range.min.lo || largest[1].lo + moved > range.max.hi ||
               !(low < 0.5 * low_before) || !(high < 0.5 * high_before);
    return SZG_OK;
}

szg_status szgi_check_t31(claims_run *run, finding *out) {
    int64_t refutations = 0, trials = run->options.trials < 32 ? run->options.trials : 32;
    double worst = INFINITY;
    for (int64_t trial = 0; trial < trials; trial++) {
        bool refuted;
        double margin;
        SZG_TRY(szego_trial(run, trial, &refuted, &margin));
        refutations += refuted;
        worst = fmin(worst, margin);
        SZG_TRY(szgi_context_check_cancel(run->context));
    }
    szgi_finding_holds(out, trials, refutations, worst);
    szgi_finding_note(out,
                      "margin: distance of the outermost eigenvalue of T_32 from the end of the "
                      "symbol's range, relative to its width; it at least halves from N = 8 to 32");
    return SZG_OK;
}

/* ---- T3.1h: ALiBi ---- */

/* 1 / (2 c^2) with c tanh c = 1: the one positive eigenvalue of the kernel |x - y| on [0, 1]. */
static double alibi_constant(void) {
    double c = 1.2;
    for (int i = 0; i < 20; i++) {
        double t = tanh(c);
        c -= (c * t - 1.0) / (t + c * (1.0 - t * t));
    }
    return 0.5 / (c * c);
}

/* How many eigenvalues are certainly positive, certainly negative. */
static szg_status count_signs(szg_context *context, const szgi_ball_matrix *matrix,
                              int64_t *positive, int64_t *negative) {
    int64_t n = szgi_ball_matrix_rows(matrix);
    szg_interval *values = NULL;
    SZG_TRY(szgi_memory_alloc(context, n, sizeof *values, &values));
    szg_status status = szgi_ball_matrix_eigenvalues(context, matrix, values);
    *positive = *negative = 0;
    for (int64_t i = 0; i < n && status == SZG_OK; i++) {
        *positive += values[i].lo > 0.0;
        *negative += values[i].hi < 0.0;
    }
    szgi_memory_free(values);
    return status;
}

static szg_status alibi_evidence(claims_run *run) {
    enum { N = 48 };
    szg_context *context = run->context;
    double w[N];
    szgi_ball_matrix *matrix = NULL;
    int64_t negative, positive;
    szg_interval least, largest;
    for (int k = 0; k < N; k++)
        w[k] = -(double)k;
    SZG_TRY(szgi_ball_matrix_open_toeplitz(context, N, N, w, NULL, SZG_PHASE_PLAIN, SZG_BALL_BITS,
                                           &matrix));
    szg_status status = count_signs(context, matrix, &positive, &negative);
    szgi_ball_matrix_close(&matrix);
    SZG_TRY(status);
    SZG_TRY(extremes(context, N, N, w, NULL, &least, &largest));
    SZG_TRY(szgi_evidence_number(run, "T3.1h", "ALiBi: positive eigenvalues", (double)positive,
                                 "N = 48"));
    SZG_TRY(szgi_evidence_number(run, "T3.1h", "ALiBi: negative eigenvalues", (double)negative,
                                 "N = 48"));
    SZG_TRY(szgi_evidence_add(run, "T3.1h", "ALiBi: least eigenvalue / N^2",
                              (szg_interval){least.lo / (N * N), least.hi / (N * N)},
                              "m = 1, N = 48"));
    return szgi_evidence_number(run, "T3.1h", "ALiBi: limit of least eigenvalue / (m N^2)",
                                -alibi_constant(), "-1 / (2 c^2), c tanh c = 1");
}

/* ---- T3.1h: T5 ---- */

static szg_status tail_evidence(claims_run *run) {
    enum { N = 64 };
    double equal[N], odd[N];
    szgi_phase quarter[N];
    szg_interval least, largest, before;
    for (int k = 0; k < N; k++) {
        equal[k] = k < 2 ? 1.0 : 0.5; /* a polynomial of degree 1 plus 0.5 J */
        odd[k] = k ? 0.5 : 0.0;       /* antisymmetric part of tails +-1/2, times i */
        quarter[k] = szgi_phase_ratio(k ? 1 : 0, 2);
    }
    SZG_TRY(extremes(run->context, N / 2, N / 2, equal, NULL, &least, &before));
    SZG_TRY(extremes(run->context, N, N, equal, NULL, &least, &largest));
    SZG_TRY(szgi_evidence_add(run, "T3.1h", "T5, equal tails b: outlier at N = 64 less at N = 32",
                              szgi_interval_subtract(largest, before), "b = 1/2: 32 b is 16"));
    SZG_TRY(extremes(run->context, N, N, odd, quarter, &least, &largest));
    szg_interval share = {largest.lo / N, largest.hi / N};
    return szgi_evidence_add(run, "T3.1h", "T5, unequal tails: antisymmetric part's largest / N",
                             share, "|b+ - b-| = 1: 1/pi in the limit, N = 64");
}

/* ---- T3.1h ---- */

/* Eigenvalues whose enclosure excludes 0: the rest of the 16 are 0 by rank. */
static szg_status rotary_rank(claims_run *run, const szgi_phase *theta, int64_t pairs) {
    enum { N = 16 };
    szg_context *context = run->context;
    szgi_ball_matrix *matrix = NULL;
    int64_t positive = 0, negative = 0;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, N, N, SZG_BALL_BITS, &matrix), done);
    for (int64_t e = 0; e < N * N * pairs * 2; e++) {
        int64_t i = e % N, j = e / N % N, t = e / (N * N) % pairs,
                sign = e / (N * N * pairs) ? 1 : -1;
        SZG_TRY_GOTO(
            status,
            szgi_ball_matrix_add_polar(context, matrix, i, j, 0.5, sign * (i - j), &theta[t]),
            done);
    }
    SZG_TRY_GOTO(status, szgi_ball_matrix_scale(context, matrix, 1, pairs), done);
    SZG_TRY_GOTO(status, count_signs(context, matrix, &positive, &negative), done);
    SZG_TRY_GOTO(status,
                 szgi_evidence_number(run, "T3.1h", "RoPE: nonzero eigenvalues",
                                      (double)(positive + negative),
                                      "two pairs, N = 16: at most 4"),
                 done);
done:
    szgi_ball_matrix_close(&matrix);
    return status;
}

static szg_status rotary_evidence(claims_run *run, const szgi_phase *theta, int64_t pairs) {
    szg_interval top;
    SZG_TRY(rotary_rank(run, theta, pairs));
    for (int64_t n = 16; n <= 64; n *= 2) {
        certificate c = {.id = "T3.1h", .n = n, .phases = pairs, .theta = theta};
        char name[64];
        snprintf(name, sizeof name, "RoPE: largest eigenvalue / N at N = %lld", (long long)n);
        SZG_TRY(szgi_quantity_enclose(run->context, Q_ROTARY_TOP, &c, &top));
        top = (szg_interval){top.lo / (double)n, top.hi / (double)n};
        SZG_TRY(szgi_evidence_add(run, "T3.1h", name, top, "two pairs; at least 1 / (2 pairs)"));
    }
    return SZG_OK;
}

/* Whether the theorem, as it stands, applies to the encoding's own kernel. */
static szg_status encoding_meets(claims_run *run, const char *spec, bool *meets) {
    szg_encoding *encoding = NULL;
    szg_kernel_facts facts;
    szg_theorem_answer answer;
    SZG_TRY(szg_encoding_parse(run->context, spec, &encoding));
    szg_status status = szg_encoding_facts(run->context, encoding, 0, 0, &facts);
    if (status == SZG_OK)
        status = szg_theorem_of_encoding(run->context, &facts, &answer);
    szg_encoding_close(&encoding);
    *meets = status == SZG_OK && answer.theorem == SZG_THEOREM_SZEGO;
    return status;
}

static szg_status some_encoding_meets(claims_run *run, bool *some) {
    static const char *const specs[] = {"rope:dim=8", "alibi:heads=8", "t5:seed=1",
                                        "t5:seed=1,direction=causal"};
    *some = false;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        bool meets;
        SZG_TRY(encoding_meets(run, specs[i], &meets));
        *some = *some || meets;
    }
    return SZG_OK;
}

szg_status szgi_check_t31h(claims_run *run, finding *out) {
    const szgi_phase theta[] = {szgi_phase_radians(1.0), szgi_phase_radians(0.01)};
    const double slope[] = {0.5}, tail[] = {1.0, 0.75, 0.5};
    bool rotary, alibi, t5;
    certificate c = {.id = "T3.1h",
                     .kind = "structural",
                     .left = Q_ROTARY_TOP,
                     .relation = ">",
                     .right = Q_ROTARY_SHARE,
                     .n = 16,
                     .phases = 2,
                     .theta = theta,
                     .note = "RoPE: trace N, rank <= 2 pairs, so the top grows like N: no bounded "
                             "symbol"};
    SZG_TRY(szgi_claims_certify(run, &c, &rotary));
    c = (certificate){.id = "T3.1h",
                      .kind = "structural",
                      .left = Q_ALIBI_LAG,
                      .relation = "=",
                      .right = Q_ALIBI_LINE,
                      .n = 2,
                      .weights = 1,
                      .w = slope,
                      .note = "ALiBi: lags grow linearly; those of an integrable symbol tend to 0"};
    SZG_TRY(szgi_claims_certify(run, &c, &alibi));
    c = (certificate){.id = "T3.1h",
                      .kind = "structural",
                      .left = Q_TAIL_LAG,
                      .relation = "=",
                      .right = Q_TAIL,
                      .n = 3,
                      .weights = 3,
                      .w = tail,
                      .note = "T5: lags stay at a nonzero tail; those of an integrable symbol tend "
                              "to 0"};
    SZG_TRY(szgi_claims_certify(run, &c, &t5));
    bool some;
    SZG_TRY(some_encoding_meets(run, &some));
    szgi_finding_fails(out, rotary && alibi && t5 && !some);
    szgi_finding_note(out, "RoPE: point masses, no function; ALiBi: no integrable symbol; T5: a "
                           "polynomial plus tails");
    SZG_TRY(rotary_evidence(run, theta, 2));
    SZG_TRY(alibi_evidence(run));
    return tail_evidence(run);
}
