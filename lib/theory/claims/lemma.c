/* Lemma B.1 in plain doubles, and the samples of its counterexamples. */
#include <math.h>

#include "theory/enclose.h"

#include "lemma.h"
#include "tables.h"

/* f(t) in doubles; without phases: g(t). */
static double value(const instance *at, bool phases, szgi_phase_mode mode, double t) {
    double sum = 0.0;
    for (int64_t i = 0; i < at->weights; i++) {
        double phase = phases ? szgi_angle(&at->theta[i]) : 0.0;
        double factor = mode == SZGI_PHASE_PLAIN ? 1.0 : (double)i;
        sum += 2.0 * at->w[i] * cos(factor * phase + (double)i * t);
    }
    return sum;
}

sampled_range szgi_lemma_sample(const instance *at, bool phases, int64_t grid) {
    sampled_range range = {INFINITY, -INFINITY};
    for (int64_t j = 0; j < grid; j++) {
        double t = 2.0 * M_PI * (double)j / (double)grid;
        double x = value(at, phases, SZGI_PHASE_TIMES_INDEX, t);
        range.least = fmin(range.least, x);
        range.largest = fmax(range.largest, x);
    }
    return range;
}

double szgi_gap_unaligned(const instance *at) {
    double sum = 0.0;
    for (int64_t i = 0; i < at->weights; i++)
        sum += at->w[i];
    return sum > 0.0 && !szgi_lemma_aligned(at->phases, at->theta) ? 1.0 : 0.0;
}

szg_interval szgi_twisted(const claims_run *run, szg_interval x) {
    szg_interval factor = {1.0 + run->twist, 1.0 + run->twist};
    return run->twist == 0.0 ? x : szgi_interval_multiply(x, factor);
}

/* f and g of the counterexample that was certified last, for plotting. */
static szg_status add_samples(claims_run *run, const refutation *rule, const instance *at,
                              const char *note) {
    enum { SAMPLES = 129 };
    szgi_phase_mode mode = rule->left == Q_MAX_F_PLAIN ? SZGI_PHASE_PLAIN : SZGI_PHASE_TIMES_INDEX;
    for (int64_t j = 0; j < SAMPLES; j++) {
        double t = 2.0 * M_PI * (double)j / (SAMPLES - 1);
        szgi_row row = szgi_row_add(run->context, run->report->samples);
        szgi_row_text(&row, SAMPLES_ID, run->claim->ledger.id);
        szgi_row_real(&row, SAMPLES_THETA, t);
        szgi_row_real(&row, SAMPLES_F, value(at, true, mode, t));
        szgi_row_real(&row, SAMPLES_G, value(at, false, mode, t));
        szgi_row_integer(&row, SAMPLES_CERTIFICATE, run->certified - 1);
        szgi_row_text(&row, SAMPLES_NOTE, note);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

szg_status szgi_lemma_certify(claims_run *run, const refutation *rule, const instance *at,
                              const char *note, bool *certified) {
    SZG_TRY(szgi_certify(run, rule, at, note, certified));
    return *certified ? add_samples(run, rule, at, note) : SZG_OK;
}

szg_status szgi_lemma_search(claims_run *run, const lattice *space, const refutation *rule,
                             const char *note, bool *found) {
    lattice_point point;
    SZG_TRY(szgi_lattice_search(run, space, rule, note, &point, found));
    return *found ? add_samples(run, rule, &point.at, note) : SZG_OK;
}
