/* B2: probabilities that a bias, or a phase, solves the paper's separation problem. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "claim.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_b2 = {
    .ledger = {.id = "B2",
               .kind = "paper",
               .expected = SZG_VERDICT_MEASURED,
               .statement = "RoPE's solution space is larger than a bias's",
               .true_statement = "both solution sets are unbounded and neither contains the "
                                 "other; only probabilities under a stated measure compare. A "
                                 "phase that may vary by draw solves more than such a bias; "
                                 "RoPE's own fixed angle solves less than the best fixed bias "
                                 "(0.0793 and 0.0952, from closed forms)",
               .source = "Prop. B.2"},
    .check = check,
};

enum { MOST_OTHERS = 4, DRAWS = 40000, STREAM = 0x7105 };

/* One content product z at the chosen pair, z_s at the others of the same lag. Standard complex
 * normal: real and imaginary part independent normal(0, 1). */
typedef struct products {
    szg_c64 z, other[MOST_OTHERS];
    int64_t others;
} products;

static const double above = 1.0, below = 0.0; /* C1, C2 */

/* Some b with Re z + b > C1 and Re z_s + b < C2 for all s. */
static bool bias_solves(const products *x) {
    double largest = -INFINITY;
    for (int64_t s = 0; s < x->others; s++)
        largest = fmax(largest, x->other[s].re);
    return x->z.re - largest > above - below;
}

static bool phase_fits(const products *x, double phi) {
    double c = cos(phi), s = sin(phi);
    bool fits = x->z.re * c - x->z.im * s > above;
    for (int64_t k = 0; k < x->others; k++)
        fits = fits && x->other[k].re * c - x->other[k].im * s < below;
    return fits;
}

/* Some phi with Re(z e^{i phi}) > C1 and Re(z_s e^{i phi}) < C2. The set is open with end points
 * among the zeros of the conditions: a midpoint of neighbouring zeros lies in it, if it is not
 * empty. */
static bool phase_solves(const products *x) {
    double ends[2 * MOST_OTHERS + 2], modulus = hypot(x->z.re, x->z.im);
    int64_t count = 0;
    if (!(modulus > above))
        return false;
    double centre = -atan2(x->z.im, x->z.re), half = acos(above / modulus);
    ends[count++] = centre - half;
    ends[count++] = centre + half;
    for (int64_t s = 0; s < x->others; s++) {
        double angle = -atan2(x->other[s].im, x->other[s].re);
        for (int side = -1; side <= 1; side += 2) /* brought into [centre - pi, centre + pi) */
            ends[count++] = centre + remainder(angle + side * M_PI / 2.0 - centre, 2.0 * M_PI);
    }
    for (int64_t i = 0; i < count; i++) {
        double next = INFINITY;
        for (int64_t k = 0; k < count; k++)
            if (ends[k] > ends[i] && ends[k] < next)
                next = ends[k];
        if (next < INFINITY && phase_fits(x, 0.5 * (ends[i] + next)))
            return true;
    }
    return false;
}

static products draw(uint64_t seed, int64_t trial, int64_t others) {
    szgi_stream stream = {seed, (uint32_t)trial, STREAM};
    products x = {.others = others};
    double normal[2 * MOST_OTHERS + 2];
    szgi_random_fill_normal(&stream, 0, 2 * MOST_OTHERS + 2, normal);
    x.z = (szg_c64){normal[0], normal[1]};
    for (int64_t s = 0; s < others; s++)
        x.other[s] = (szg_c64){normal[2 + 2 * s], normal[3 + 2 * s]};
    return x;
}

static szg_status record(claims_run *run, const char *what, int64_t others, int64_t hits,
                         int64_t draws) {
    char name[96], note[96];
    double p = (double)hits / (double)draws;
    snprintf(name, sizeof name, "P(%s), %lld other token%s", what, (long long)others,
             others == 1 ? "" : "s");
    szgi_print(note, sizeof note, "standard error %.2g, %lld draws",
               sqrt(p * (1.0 - p) / (double)draws), (long long)draws);
    return szgi_evidence_number(run, name, p, note);
}

static szg_status measure(claims_run *run, int64_t others, finding *out) {
    int64_t bias = 0, phase = 0, only_bias = 0, only_phase = 0;
    for (int64_t trial = 0; trial < DRAWS; trial++) {
        products x = draw(run->options.seed, trial, others);
        bool b = bias_solves(&x), p = phase_solves(&x);
        bias += b;
        phase += p;
        only_bias += b && !p;
        only_phase += p && !b;
        if (trial % 4096 == 0)
            SZG_TRY(szgi_context_check_cancel(run->context));
    }
    SZG_TRY(record(run, "bias solves", others, bias, DRAWS));
    SZG_TRY(record(run, "phase solves", others, phase, DRAWS));
    SZG_TRY(record(run, "bias alone", others, only_bias, DRAWS));
    SZG_TRY(record(run, "phase alone", others, only_phase, DRAWS));
    szgi_finding_note(out, "simulated, %lld other token%s: bias %.4f, phase %.4f",
                      (long long)others, others == 1 ? "" : "s", (double)bias / DRAWS,
                      (double)phase / DRAWS);
    return SZG_OK;
}

/* Q: the chance that a standard normal number is above x. */
static double above_normal(double x) {
    return 0.5 * erfc(x * M_SQRT1_2);
}

/* What RoPE and a learned bias have at a lag is one number for all contents. The law of z does not
 * change if it turns, so every angle solves as often as another. The chance of a bias b, Q(C1 - b)
 * Q(b - C2), is log-concave in b and symmetric about (C1 + C2) / 2, so that is the best one. */
static szg_status measure_fixed(claims_run *run, finding *out) {
    const double angle = 1.0, bias = 0.5 * (above + below);
    int64_t turned = 0, shifted = 0;
    for (int64_t trial = 0; trial < DRAWS; trial++) {
        products x = draw(run->options.seed, trial, 1);
        turned += phase_fits(&x, angle);
        shifted += x.z.re + bias > above && x.other[0].re + bias < below;
    }
    SZG_TRY(record(run, "one fixed angle solves", 1, turned, DRAWS));
    SZG_TRY(record(run, "the best fixed bias solves", 1, shifted, DRAWS));
    SZG_TRY(szgi_evidence_number(run, "P(one fixed angle solves), closed form",
                                 above_normal(above) * above_normal(-below), "Q(C1) Q(-C2)"));
    SZG_TRY(szgi_evidence_number(run, "P(the best fixed bias solves), closed form",
                                 above_normal(above - bias) * above_normal(bias - below),
                                 "Q(C1 - b) Q(b - C2), b = 1/2"));
    szgi_finding_note(out,
                      "simulated, fixed for all draws: RoPE's angle %.4f, the best bias %.4f; "
                      "standard errors at most %.4f",
                      (double)turned / DRAWS, (double)shifted / DRAWS, sqrt(0.25 / DRAWS));
    return SZG_OK;
}

/* The two examples of docs/explanation/theory.md: each set has what the other lacks. */
static bool neither_contains(double twist) {
    products real = {.z = {100.0, twist}, .other = {{98.0, 0.0}}, .others = 1};
    products imaginary = {.z = {twist * 100.0, 2.0}, .other = {{0.0, -2.0}}, .others = 1};
    return bias_solves(&real) && !phase_solves(&real) && phase_solves(&imaginary) &&
           !bias_solves(&imaginary);
}

static szg_status check(claims_run *run, finding *out) {
    SZG_TRY(measure(run, 1, out));
    SZG_TRY(measure(run, MOST_OTHERS, out));
    SZG_TRY(measure_fixed(run, out));
    out->trials = 2 * DRAWS;
    if (neither_contains(100.0 * run->twist)) {
        out->verdict = SZG_VERDICT_MEASURED;
        out->basis = "trials";
    }
    double least = above - 100.0, largest = below - 98.0;
    SZG_TRY(szgi_evidence_number(
        run, "bias that solves (100, 98)", 0.5 * (least + largest),
        "no phase does: 100 cos phi > 1 and 98 cos phi < 0 exclude each other"));
    szgi_finding_note(
        out, "content products complex normal, C1 = 1, C2 = 0; (100, 98) is solved by a bias "
             "alone, (2i, -2i) by a phase alone");
    return SZG_OK;
}
