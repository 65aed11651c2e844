/* T3.1h: the hypotheses of Theorem 3.1 and the kernels of RoPE, ALiBi and T5. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "encoding/encoding.h"
#include "theory/enclose.h"
#include "theory/theory.h"

#include "claim.h"

static szg_status check(claims_run *run, finding *out);

enum { ROTARY, LINE, TAIL };

const szgi_claim szgi_claim_t31h = {
    .ledger = {.id = "T3.1h",
               .kind = "reading",
               .expected = SZG_VERDICT_FAILS,
               .statement = "its hypotheses are met by the kernels of RoPE, ALiBi, T5",
               .true_statement = "RoPE: `2n` atoms, `rank <= 2n`, eigenvalues grow like `N`; "
                                 "ALiBi: unbounded lags, one eigenvalue `~ -0.3474 m N^2`; T5: a "
                                 "polynomial plus tails that do not decay",
               .source = "Theorem 3.1 as used"},
    .check = check,
    .refutations = {[ROTARY] = {.kind = "structural",
                                .left = Q_ROTARY_TOP,
                                .relation = ">",
                                .right = Q_ROTARY_SHARE},
                    [LINE] = {.kind = "structural",
                              .left = Q_ALIBI_LAG,
                              .relation = "=",
                              .right = Q_ALIBI_LINE,
                              .hypotheses = {&szgi_hypothesis_nonzero},
                              .equal = &szgi_equality_by_statement},
                    [TAIL] = {.kind = "structural",
                              .left = Q_TAIL_LAG,
                              .relation = "=",
                              .right = Q_TAIL,
                              .hypotheses = {&szgi_hypothesis_nonzero},
                              .equal = &szgi_equality_by_statement}},
};

/* ---- ALiBi ---- */

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
    SZG_TRY(szgi_memory_alloc(context, n, &values));
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
    SZG_TRY(szgi_ball_matrix_open_toeplitz(context, N, N, w, NULL, SZGI_PHASE_PLAIN, SZGI_BALL_BITS,
                                           &matrix));
    szg_status status = count_signs(context, matrix, &positive, &negative);
    szgi_ball_matrix_close(&matrix);
    SZG_TRY(status);
    SZG_TRY(szgi_toeplitz_extremes(context, N, N, w, NULL, &least, &largest));
    SZG_TRY(szgi_evidence_number(run, "ALiBi: positive eigenvalues", (double)positive, "N = 48"));
    SZG_TRY(szgi_evidence_number(run, "ALiBi: negative eigenvalues", (double)negative, "N = 48"));
    SZG_TRY(szgi_evidence_add(run, "ALiBi: least eigenvalue / N^2",
                              (szg_interval){least.lo / (N * N), least.hi / (N * N)},
                              "m = 1, N = 48"));
    return szgi_evidence_number(run, "ALiBi: limit of least eigenvalue / (m N^2)",
                                -alibi_constant(), "-1 / (2 c^2), c tanh c = 1");
}

/* ---- T5 ---- */

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
    SZG_TRY(szgi_toeplitz_extremes(run->context, N / 2, N / 2, equal, NULL, &least, &before));
    SZG_TRY(szgi_toeplitz_extremes(run->context, N, N, equal, NULL, &least, &largest));
    SZG_TRY(szgi_evidence_add(run, "T5, equal tails b: outlier at N = 64 less at N = 32",
                              szgi_interval_subtract(largest, before), "b = 1/2: 32 b is 16"));
    SZG_TRY(szgi_toeplitz_extremes(run->context, N, N, odd, quarter, &least, &largest));
    szg_interval share = {largest.lo / N, largest.hi / N};
    return szgi_evidence_add(run, "T5, unequal tails: antisymmetric part's largest / N", share,
                             "|b+ - b-| = 1: 1/pi in the limit, N = 64");
}

/* ---- RoPE ---- */

/* Eigenvalues whose enclosure excludes 0: the rest of the 16 are 0 by rank. */
static szg_status rotary_rank(claims_run *run, const szgi_phase *theta, int64_t pairs) {
    enum { N = 16 };
    szgi_ball_matrix *kernel;
    int64_t positive, negative;
    SZG_TRY(szgi_rotary_kernel_open(run->context, N, pairs, theta, &kernel));
    szg_status status = count_signs(run->context, kernel, &positive, &negative);
    szgi_ball_matrix_close(&kernel);
    SZG_TRY(status);
    return szgi_evidence_number(run, "RoPE: nonzero eigenvalues", (double)(positive + negative),
                                "two pairs, N = 16: at most 4");
}

static szg_status rotary_evidence(claims_run *run, const szgi_phase *theta, int64_t pairs) {
    szg_interval top;
    SZG_TRY(rotary_rank(run, theta, pairs));
    for (int64_t n = 16; n <= 64; n *= 2) {
        const instance at = {.n = n, .phases = pairs, .theta = theta};
        char name[64];
        snprintf(name, sizeof name, "RoPE: largest eigenvalue / N at N = %lld", (long long)n);
        SZG_TRY(szgi_quantity_enclose(run->context, Q_ROTARY_TOP, &at, &top));
        top = (szg_interval){top.lo / (double)n, top.hi / (double)n};
        SZG_TRY(szgi_evidence_add(run, name, top, "two pairs; at least 1 / (2 pairs)"));
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

/* ---- The checker ---- */

static const szgi_phase theta[] = {{.radians = 1.0, .q = 1}, {.radians = 0.01, .q = 1}};

/* One certificate an encoding. */
static szg_status certify_each(claims_run *run, bool *all) {
    const refutation *rules = szgi_claim_t31h.refutations;
    const double slope[] = {0.5}, tail[] = {1.0, 0.75, 0.5};
    const instance rotary = {.n = 16, .phases = 2, .theta = theta};
    const instance alibi = {.n = 2, .weights = 1, .w = slope};
    const instance t5 = {.n = 3, .weights = 3, .w = tail};
    bool certified[3];
    SZG_TRY(szgi_certify(run, &rules[ROTARY], &rotary,
                         "RoPE: trace N, rank <= 2 pairs, so the top grows like N: no bounded "
                         "symbol",
                         &certified[0]));
    SZG_TRY(szgi_certify(run, &rules[LINE], &alibi,
                         "ALiBi: lags grow linearly; those of an integrable symbol tend to 0",
                         &certified[1]));
    SZG_TRY(szgi_certify(run, &rules[TAIL], &t5,
                         "T5: lags stay at a nonzero tail; those of an integrable symbol tend "
                         "to 0",
                         &certified[2]));
    *all = certified[0] && certified[1] && certified[2];
    return SZG_OK;
}

static szg_status check(claims_run *run, finding *out) {
    bool certified, some;
    SZG_TRY(certify_each(run, &certified));
    SZG_TRY(some_encoding_meets(run, &some));
    szgi_finding_fails(out, certified && !some);
    szgi_finding_note(out, "RoPE: point masses, no function; ALiBi: no integrable symbol; T5: a "
                           "polynomial plus tails");
    SZG_TRY(rotary_evidence(run, theta, 2));
    SZG_TRY(alibi_evidence(run));
    return tail_evidence(run);
}
