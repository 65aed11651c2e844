/* B3c: RoPE's averaged kernel contracts, and where it does not. */
#include <math.h>

#include "linalg/linalg.h"
#include "theory/theory.h"

#include "search.h"

enum { STREAM = 0x7107, STREAM_MEAN = 0x7207, STREAM_ASCENT = 0x7109 };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_b3c = {
    .ledger = {.id = "B3c",
               .kind = "correction",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "eigenvalues of `W o Ebar` are majorised by those of Hermitian `W`, "
                            "`Ebar` RoPE's averaged kernel",
               .true_statement = "Hermitian `W`: majorised (Schur; Bapat and Sunder 1985); any "
                                 "`W`: unitarily invariant norms do not grow and the field of "
                                 "values shrinks, while eigenvalues and radius may grow",
               .source = "corrected Prop. B.3"},
    .check = check,
};

enum { SIZE = 5, ANGLES = 3, VARIABLES = SIZE * SIZE + ANGLES, ASCENT_STEPS = 150 };

/* W from SIZE^2 reals: symmetric part and antisymmetric part times i. */
static szg_c64 hermitian_entry(const double *x, int64_t i, int64_t j) {
    double upper = x[i < j ? i * SIZE + j : j * SIZE + i];
    double lower = i == j ? 0.0 : x[i < j ? j * SIZE + i : i * SIZE + j];
    return (szg_c64){upper, i < j ? lower : -lower};
}

/* The kernel entry (1/m) sum_t e^{i (i-j) theta_t}, in doubles. */
static szg_c64 kernel_entry(const double *theta, int64_t lag) {
    szg_c64 sum = {0.0, 0.0};
    for (int64_t t = 0; t < ANGLES; t++) {
        sum.re += cos((double)lag * theta[t]) / ANGLES;
        sum.im += sin((double)lag * theta[t]) / ANGLES;
    }
    return sum;
}

typedef struct hadamard_job {
    szg_context *context;
    szg_status status;
} hadamard_job;

/* Minus the majorisation margin, relative: what the adversary maximises. */
static double minus_margin(void *user, const double *x) {
    hadamard_job *job = user;
    szg_c64 w[SIZE * SIZE], coupled[SIZE * SIZE];
    double before[SIZE], after[SIZE];
    for (int64_t i = 0; i < SIZE; i++)
        for (int64_t j = 0; j < SIZE; j++) {
            szg_c64 a = hermitian_entry(x, i, j), e = kernel_entry(x + SIZE * SIZE, i - j);
            w[i * SIZE + j] = a;
            coupled[i * SIZE + j] = (szg_c64){a.re * e.re - a.im * e.im, a.re * e.im + a.im * e.re};
        }
    szg_majorisation order;
    job->status = szgi_eigen_hermitian(job->context, SIZE, w, SIZE, before, false);
    if (job->status == SZG_OK)
        job->status = szgi_eigen_hermitian(job->context, SIZE, coupled, SIZE, after, false);
    if (job->status == SZG_OK)
        job->status =
            szg_majorisation_test(job->context, SIZE - 1, after + 1, before + 1, 0.0, true, &order);
    double scale = fabs(before[0]) + fabs(before[SIZE - 1]);
    return job->status == SZG_OK && scale > 0.0 ? -order.margin / scale : -INFINITY;
}

/* W and W o Ebar in balls. */
static szg_status open_pair(szg_context *context, const double *x, szgi_ball_matrix **w,
                            szgi_ball_matrix **coupled) {
    SZG_TRY(szgi_ball_matrix_open(context, SIZE, SIZE, SZGI_BALL_BITS, w));
    SZG_TRY(szgi_ball_matrix_open(context, SIZE, SIZE, SZGI_BALL_BITS, coupled));
    for (int64_t i = 0; i < SIZE; i++)
        for (int64_t j = 0; j < SIZE; j++) {
            SZG_TRY(szgi_ball_matrix_set(context, *w, i, j, hermitian_entry(x, i, j)));
            for (int64_t t = 0; t < ANGLES; t++) {
                szgi_phase theta = szgi_phase_radians(x[SIZE * SIZE + t]);
                SZG_TRY(szgi_ball_matrix_add_polar(context, *coupled, i, j, 1.0, i - j, &theta));
            }
        }
    SZG_TRY(szgi_ball_matrix_scale(context, *coupled, 1, ANGLES));
    return szgi_ball_matrix_apply(context, SZGI_BALL_MATRIX_HADAMARD, *coupled, *coupled, *w);
}

/* Encloses the least margin over the inner partial sums of the largest; counts a refutation where a
 * margin is certainly negative or the totals certainly differ. */
static szg_status enclose_majorisation(szg_context *context, const double *x, double twist,
                                       szg_interval *margin, bool *refuted) {
    szgi_ball_matrix *w = NULL, *coupled = NULL;
    szg_interval before[SIZE], after[SIZE], sum = {0.0, 0.0};
    szg_status status;
    SZG_TRY_GOTO(status, open_pair(context, x, &w, &coupled), done);
    SZG_TRY_GOTO(status, szgi_ball_matrix_eigenvalues(context, w, before), done);
    SZG_TRY_GOTO(status, szgi_ball_matrix_eigenvalues(context, coupled, after), done);
    *margin = (szg_interval){INFINITY, INFINITY};
    *refuted = false;
    szg_interval factor = {1.0 + twist, 1.0 + twist};
    for (int64_t k = SIZE - 1; k >= 0; k--) {
        sum = szgi_interval_add(
            sum, szgi_interval_subtract(before[k], szgi_interval_multiply(after[k], factor)));
        if (k > 0 && sum.lo < margin->lo)
            *margin = sum;
        *refuted = *refuted || (k > 0 && sum.hi < 0.0);
    }
    *refuted = *refuted || sum.lo > 0.0 || sum.hi < 0.0;
done:
    szgi_ball_matrix_close(&w);
    szgi_ball_matrix_close(&coupled);
    return status;
}

/* Any W, here a triangular one (not normal): no unitarily invariant norm grows. */
static szg_status norms_refute(szg_context *context, const double *x, bool *refuted) {
    szgi_ball_matrix *w = NULL, *coupled = NULL;
    szg_interval before, after;
    szg_status status;
    SZG_TRY_GOTO(status, open_pair(context, x, &w, &coupled), done);
    for (int64_t i = 0; i < SIZE; i++) /* strictly lower entries away: not Hermitian */
        for (int64_t j = 0; j < i; j++) {
            acb_zero(szgi_ball_matrix_entry(w, i, j));
            acb_zero(szgi_ball_matrix_entry(coupled, i, j));
        }
    *refuted = false;
    for (int64_t k = 1; k <= SIZE; k++) { /* Ky Fan: all norms follow (Fan 1951) */
        SZG_TRY_GOTO(status, szgi_ball_matrix_norm(context, w, SZGI_BALL_KY_FAN, k, &before), done);
        SZG_TRY_GOTO(status, szgi_ball_matrix_norm(context, coupled, SZGI_BALL_KY_FAN, k, &after),
                     done);
        *refuted = *refuted || szgi_interval_compare(after, before) > 0;
    }
done:
    szgi_ball_matrix_close(&w);
    szgi_ball_matrix_close(&coupled);
    return status;
}

static szg_status hadamard_trial(claims_run *run, int64_t trial, szg_interval *margin,
                                 bool *refuted) {
    double x[VARIABLES];
    szgi_stream stream = {run->options.seed, (uint32_t)trial, STREAM};
    szgi_random_fill_normal(&stream, 0, VARIABLES, x);
    if (trial % 8 == 7) {
        hadamard_job job = {run->context, SZG_OK};
        double best;
        ascent search = {.count = VARIABLES,
                         .x = x,
                         .steps = ASCENT_STEPS,
                         .step = 0.3,
                         .seed = run->options.seed + (uint64_t)trial,
                         .purpose = STREAM_ASCENT,
                         .value = minus_margin,
                         .user = &job};
        SZG_TRY(szgi_ascent_run(run->context, &search, &best));
        SZG_TRY(job.status);
    }
    SZG_TRY(enclose_majorisation(run->context, x, run->twist, margin, refuted));
    bool norm_grew = false;
    if (trial % 4 == 0)
        SZG_TRY(norms_refute(run->context, x, &norm_grew));
    *refuted = *refuted || norm_grew;
    return SZG_OK;
}

/* W = [[1,1],[-1,-1]] is nilpotent; with Ebar at theta = +-1 the eigenvalues are +-sin 1. */
static szg_status radius_may_grow(claims_run *run) {
    szg_context *context = run->context;
    szgi_ball_matrix *matrix = NULL;
    szgi_phase one = szgi_phase_radians(1.0);
    szg_interval re[2], im[2];
    szg_status status;
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, 2, 2, SZGI_BALL_BITS, &matrix), done);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 2; j++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double half = i == 0 ? 0.5 : -0.5;
                SZG_TRY_GOTO(
                    status,
                    szgi_ball_matrix_add_polar(context, matrix, i, j, half, sign * (i - j), &one),
                    done);
            }
    SZG_TRY_GOTO(status, szgi_ball_matrix_general_eigenvalues(context, matrix, re, im), done);
    szg_interval radius = re[0].hi > re[1].hi ? re[0] : re[1];
    SZG_TRY_GOTO(status,
                 szgi_evidence_add(run, "spectral radius of W o Ebar, W nilpotent", radius,
                                   "W = [[1,1],[-1,-1]], theta = 1; that of W is 0"),
                 done);
done:
    szgi_ball_matrix_close(&matrix);
    return status;
}

/* Contents that differ between frequencies: q = (1,1), k = (1,-1) have Gram sum 0 and L != 0. */
static szg_status paired_channels(claims_run *run) {
    const double products[] = {1.0, -1.0};
    const szgi_phase theta[] = {szgi_phase_radians(1.0), szgi_phase_radians(0.01)};
    const instance at = {.n = 3, .weights = 2, .phases = 2, .w = products, .theta = theta};
    SZG_TRY(szgi_evidence_quantity(run, "|sum_t G_t|, paired channels", Q_GRAM, &at,
                                   "q = (1,1), k = (1,-1)"));
    return szgi_evidence_quantity(run, "|L| at lag 3, paired channels", Q_ROTATED, &at,
                                  "theta = (1, 0.01)");
}

/* q = k = one mean of 3 in every channel plus normal noise: largest eigenvalue of L over that of
 * the content's Gram matrix. */
static szg_status strong_mean(claims_run *run) {
    enum { N = 16, PAIRS = 4 };
    szgi_stream stream = {run->options.seed, 0, STREAM_MEAN};
    double q[N * PAIRS * 2], content[N * N] = {0}, coupled[N * N] = {0}, w[N], top;
    szgi_random_fill_normal(&stream, 0, N * PAIRS * 2, q);
    for (int64_t e = 0; e < N * PAIRS * 2; e++)
        q[e] += 3.0;
    for (int64_t e = 0; e < N * N * PAIRS; e++) {
        int64_t i = e % N, j = e / N % N, t = e / (N * N);
        const double *x = &q[(i * PAIRS + t) * 2], *y = &q[(j * PAIRS + t) * 2];
        double re = x[0] * y[0] + x[1] * y[1], im = x[1] * y[0] - x[0] * y[1];
        double angle = (double)(i - j) * pow(10000.0, -(double)t / PAIRS);
        content[i * N + j] += re;
        coupled[i * N + j] += re * cos(angle) - im * sin(angle);
    }
    SZG_TRY(szgi_eigen_symmetric(run->context, N, content, N, w, false));
    top = w[N - 1];
    SZG_TRY(szgi_eigen_symmetric(run->context, N, coupled, N, w, false));
    return szgi_evidence_number(run, "norm ratio with one strong mean", w[N - 1] / top,
                                "q = k = 3 + normal, N = 16, d = 8");
}

static szg_status check(claims_run *run, finding *out) {
    int64_t refutations = 0, trials = run->options.trials;
    szg_interval worst = {INFINITY, INFINITY};
    for (int64_t trial = 0; trial < trials; trial++) {
        szg_interval margin;
        bool refuted;
        SZG_TRY(hadamard_trial(run, trial, &margin, &refuted));
        refutations += refuted;
        if (margin.lo < worst.lo)
            worst = margin;
        SZG_TRY(szgi_context_check_cancel(run->context));
    }
    szgi_finding_holds(out, trials, refutations, worst.lo);
    szgi_finding_note(
        out, "least margin over inner partial sums; every eighth trial an ascent over W and "
             "theta; Ky Fan norms of triangular W besides");
    SZG_TRY(szgi_evidence_add(run, "least majorisation margin", worst, "enclosure"));
    SZG_TRY(paired_channels(run));
    SZG_TRY(strong_mean(run));
    return radius_may_grow(run);
}
