/* Random and adversarial trials of Lemma B.1. */
#include <math.h>

#include "base/memory.h"
#include "base/pool.h"

#include "theory/certificate.h"
#include "theory/enclose.h"

#include "lemma.h"
#include "search.h"
#include "tables.h"

/* ---- How trials are made ---- */

typedef enum trial_kind {
    TRIAL_RANDOM,      /* |normal| weights, float phases */
    TRIAL_CORNER,      /* zeros, repeats, tiny and huge weights */
    TRIAL_RATIONAL,    /* few terms, small denominators */
    TRIAL_SHIFT,       /* equality by construction, phases not aligned */
    TRIAL_ALIGNED,     /* one float phase for all */
    TRIAL_TWO_TERMS,   /* only w_0 and w_1 */
    TRIAL_HALF_TURN,   /* w_0 = 0 and -2 sum w_i is attained */
    TRIAL_ADVERSARIAL, /* ascent of max|f| / 2 sum w over phases and weights */
    TRIAL_KINDS
} trial_kind;

static const char *const kind_notes[TRIAL_KINDS] = {
    "random",
    "corner weights",
    "rational phases",
    "equality by a common shift",
    "one phase for all",
    "two terms",
    "equality by a half turn",
    "ascent over phases and weights",
};

static double corner_weight(const szgi_stream *stream, uint64_t index) {
    static const double corners[] = {0.0, 1.0, 1.0, 1e-8, 1e8, 0x1.fffffffffffffp-1, 0.5};
    int64_t pick = szgi_random_below(stream, index, 10);
    return pick < 7 ? corners[pick] : fabs(szgi_random_normal(stream, index + 500000));
}

/* theta_i = (2 m_i + half) / i - a / b in units of pi, so that t = a/b pi makes every term right.
 */
static szgi_phase shifted_phase(int64_t i, int64_t m, int half, int64_t a, int64_t b) {
    return i ? szgi_phase_ratio((2 * m + half) * b - a * i, i * b) : szgi_phase_ratio(a, b);
}

static void fill_trial(const szgi_stream *stream, trial_kind kind, int64_t n, double *w,
                       szgi_phase *theta) {
    int64_t a = szgi_random_below(stream, 900001, 7), b = 1 + szgi_random_below(stream, 900002, 5);
    double common = 3.0 * szgi_random_normal(stream, 900003);
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)i;
        w[i] = kind == TRIAL_CORNER ? corner_weight(stream, at)
                                    : fabs(szgi_random_normal(stream, 1000000 + at));
        theta[i] = szgi_phase_radians(M_PI * szgi_random_normal(stream, 2000000 + at));
        int64_t m = szgi_random_below(stream, 3000000 + at, i + 1);
        if (kind == TRIAL_RATIONAL) {
            int64_t q = 1 + szgi_random_below(stream, 4000000 + at, 6);
            theta[i] = szgi_phase_ratio(szgi_random_below(stream, 5000000 + at, 2 * q), q);
            w[i] = szgi_random_below(stream, 6000000 + at, 4) ? 0.0 : w[i];
        } else if (kind == TRIAL_SHIFT || kind == TRIAL_HALF_TURN)
            theta[i] = shifted_phase(i, m, kind == TRIAL_HALF_TURN, a, b);
        else if (kind == TRIAL_ALIGNED)
            theta[i] = szgi_phase_radians(common);
        if ((kind == TRIAL_TWO_TERMS && i > 1) || (kind == TRIAL_HALF_TURN && i == 0))
            w[i] = 0.0;
    }
}

/* ---- The adversary ---- */

enum { ADVERSARY_TERMS = 32, ADVERSARY_STEPS = 240 };

typedef struct adversary {
    int64_t terms;
    double w[ADVERSARY_TERMS];
    szgi_phase theta[ADVERSARY_TERMS];
} adversary;

static void read_vector(adversary *a, const double *x) {
    for (int64_t i = 0; i < a->terms; i++) {
        a->w[i] = fabs(x[i]);
        a->theta[i] = szgi_phase_radians(x[a->terms + i]);
    }
}

static double attained_share(void *user, const double *x) {
    adversary *a = user;
    read_vector(a, x);
    instance at = szgi_instance(a->terms, a->w, a->theta);
    sampled_range r = szgi_lemma_sample(&at, true, 2 * a->terms);
    double sum = 0.0;
    for (int64_t i = 0; i < a->terms; i++)
        sum += 2.0 * a->w[i];
    return sum > 0.0 ? fmax(r.largest, -r.least) / sum : 0.0;
}

static szg_status climb(szg_context *context, uint64_t seed, int64_t trial, int64_t n, double *w,
                        szgi_phase *theta) {
    adversary a = {.terms = n < ADVERSARY_TERMS ? n : ADVERSARY_TERMS};
    double x[2 * ADVERSARY_TERMS], best;
    for (int64_t i = 0; i < a.terms; i++) {
        x[i] = w[i];
        x[a.terms + i] = szgi_angle(&theta[i]);
    }
    ascent search = {.count = 2 * a.terms,
                     .x = x,
                     .steps = ADVERSARY_STEPS,
                     .step = 0.3,
                     .seed = seed + (uint64_t)trial,
                     .purpose = 0x7109,
                     .value = attained_share,
                     .user = &a};
    SZG_TRY(szgi_ascent_run(context, &search, &best));
    read_vector(&a, x);
    for (int64_t i = 0; i < n; i++) {
        w[i] = i < a.terms ? a.w[i] : 0.0;
        theta[i] = i < a.terms ? a.theta[i] : theta[i];
    }
    return SZG_OK;
}

/* ---- One trial ---- */

static szg_status enclose_trial(szg_context *context, int64_t n, lemma_trial *trial) {
    szg_range f, g;
    SZG_TRY(szgi_ball_range(context, n, trial->w, trial->theta, SZGI_PHASE_TIMES_INDEX,
                            SZGI_BALL_BITS, &f));
    SZG_TRY(
        szgi_ball_range(context, n, trial->w, NULL, SZGI_PHASE_TIMES_INDEX, SZGI_BALL_BITS, &g));
    instance at = szgi_instance(n, trial->w, trial->theta);
    SZG_TRY(szgi_quantity_enclose(context, Q_TWO_SUM, &at, &trial->two_sum));
    SZG_TRY(szgi_lemma_equality(context, n, trial->w, trial->theta, &trial->equality));
    trial->max_f = szgi_range_modulus(&f);
    trial->max_g = szgi_range_modulus(&g);
    trial->width_f = szgi_range_width(&f);
    trial->width_g = szgi_range_width(&g);
    return SZG_OK;
}

static szg_status run_trial(szg_context *context, void *job, int64_t block, int worker) {
    (void)worker;
    claims_run *run = job;
    lemma_trial *trial = &run->lemma[block];
    int64_t n = run->options.terms;
    szgi_stream stream = {run->options.seed, (uint32_t)block, 0x7101};
    trial_kind kind = (trial_kind)(block % TRIAL_KINDS);
    fill_trial(&stream, kind, n, trial->w, trial->theta);
    if (kind == TRIAL_ADVERSARIAL)
        SZG_TRY(climb(context, run->options.seed, block, n, trial->w, trial->theta));
    SZG_TRY(enclose_trial(context, n, trial));
    szgi_progress(context, "verify: Lemma B.1", block + 1, run->options.trials);
    return SZG_OK;
}

static void put_interval(szgi_row *row, int64_t lo, szg_interval value) {
    szgi_row_real(row, lo, value.lo);
    szgi_row_real(row, lo + 1, value.hi);
}

static szg_status tabulate(claims_run *run, int64_t index) {
    szg_context *context = run->context;
    const lemma_trial *trial = &run->lemma[index];
    int64_t n = run->options.terms;
    char *weights = NULL, *phases = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_certificate_weights_text(context, n, trial->w, &weights), done);
    SZG_TRY_GOTO(status, szgi_certificate_phases_text(context, n, trial->theta, &phases), done);
    szgi_row row = szgi_row_add(context, run->report->lemma);
    szgi_row_integer(&row, LEMMA_TRIAL, index);
    szgi_row_text(&row, LEMMA_WEIGHTS, weights);
    szgi_row_text(&row, LEMMA_PHASES, phases);
    put_interval(&row, LEMMA_MAX_F_LO, trial->max_f);
    put_interval(&row, LEMMA_MAX_G_LO, trial->max_g);
    put_interval(&row, LEMMA_WIDTH_F_LO, trial->width_f);
    put_interval(&row, LEMMA_WIDTH_G_LO, trial->width_g);
    szgi_row_text(&row, LEMMA_EQUALITY, trial->equality ? "yes" : "no");
    szgi_row_text(&row, LEMMA_NOTE, kind_notes[index % TRIAL_KINDS]);
    status = row.status;
done:
    szgi_memory_free(weights);
    szgi_memory_free(phases);
    return status;
}

/* A weight and a phase of a trial, and the two numbers as the table `lemma` writes them: 0x1.<13
 * digits>p-<2 digits> and a blank each, 20 bytes. */
enum { TERM_BYTES = sizeof(double) + sizeof(szgi_phase) + 2 * 20 };

/* Each trial asks for a little. Together they are asked for at once: the system would grant them
 * one by one until it kills the process. */
static szg_status open_trials(claims_run *run) {
    szg_context *context = run->context;
    int64_t trials = run->options.trials, n = run->options.terms;
    SZG_TRY(szgi_memory_require(context, trials, n, TERM_BYTES, "the trials of Lemma B.1",
                                "ask for fewer trials or terms"));
    SZG_TRY(szgi_memory_alloc(context, trials, &run->lemma));
    for (int64_t i = 0; i < trials; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_memory_alloc(context, n, &run->lemma[i].w));
        SZG_TRY(szgi_memory_alloc(context, n, &run->lemma[i].theta));
    }
    return SZG_OK;
}

szg_status szgi_lemma_trials(claims_run *run) {
    if (run->lemma)
        return SZG_OK;
    szg_context *context = run->context;
    int64_t trials = run->options.trials;
    SZG_TRY(open_trials(run));
    SZG_TRY(szgi_pool_run(context, trials, run_trial, run));
    szgi_progress(context, "verify: Lemma B.1", trials, trials);
    for (int64_t i = 0; i < trials; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(tabulate(run, i));
    }
    return SZG_OK;
}
