/* Checkers of rotary and MLA logits: B1 B1c E12 E12c. */
#include <math.h>

#include "identity.h"
#include "lemma.h"

enum { PAIRS = 3, CONTENT = 2 };

/* One query and one key with rotary pairs and content dimensions, at positions i and j. */
typedef struct token_pair {
    double q[2 * PAIRS], k[2 * PAIRS], content_q[CONTENT], content_k[CONTENT];
    double theta[PAIRS];
    int64_t i, j;
} token_pair;

static void draw_tokens(uint64_t seed, uint32_t purpose, int64_t trial, token_pair *t) {
    szgi_stream stream = {seed, (uint32_t)trial, purpose};
    szgi_random_fill_normal(&stream, 0, 2 * PAIRS, t->q);
    szgi_random_fill_normal(&stream, 100, 2 * PAIRS, t->k);
    szgi_random_fill_normal(&stream, 200, CONTENT, t->content_q);
    szgi_random_fill_normal(&stream, 300, CONTENT, t->content_k);
    szgi_random_fill_normal(&stream, 400, PAIRS, t->theta);
    t->i = szgi_random_below(&stream, 500, 1 << 20);
    t->j = szgi_random_below(&stream, 501, 1 << 20);
}

/* ---- The two sides of B1c ---- */

/* out, out + 1 = R_position applied to the pair (x, y): real arithmetic, as a model computes it. */
static szg_status rotate_pair(szg_context *context, szgi_balls *b, int64_t out, double x, double y,
                              int64_t position, double theta) {
    enum { ANGLE = 10, COSINE, SINE, X, Y, SCRATCH };
    szgi_phase phase = szgi_phase_radians(theta);
    SZG_TRY(szgi_balls_set_angle(context, b, ANGLE, &phase));
    SZG_TRY(szgi_balls_number(context, b, X, (double)position));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, ANGLE, ANGLE, X));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_COS, COSINE, ANGLE, ANGLE));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_SIN, SINE, ANGLE, ANGLE));
    SZG_TRY(szgi_balls_number(context, b, X, x));
    SZG_TRY(szgi_balls_number(context, b, Y, y));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, out, X, COSINE));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, SCRATCH, Y, SINE));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_SUBTRACT, out, out, SCRATCH));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, out + 1, X, SINE));
    return szgi_balls_accumulate(context, b, out + 1, Y, COSINE, SCRATCH);
}

/* register 0 = sum over pairs of (R_i q) . (R_j k), plus the content's q . k where wanted. */
static szg_status rotated_product(szg_context *context, szgi_balls *b, const token_pair *t,
                                  bool content) {
    SZG_TRY(szgi_balls_zero(context, b, 0));
    for (int64_t p = 0; p < PAIRS; p++) {
        SZG_TRY(rotate_pair(context, b, 2, t->q[2 * p], t->q[2 * p + 1], t->i, t->theta[p]));
        SZG_TRY(rotate_pair(context, b, 4, t->k[2 * p], t->k[2 * p + 1], t->j, t->theta[p]));
        SZG_TRY(szgi_balls_accumulate(context, b, 0, 2, 4, 6));
        SZG_TRY(szgi_balls_accumulate(context, b, 0, 3, 5, 6));
    }
    for (int64_t c = 0; content && c < CONTENT; c++) {
        SZG_TRY(szgi_balls_number(context, b, 2, t->content_q[c]));
        SZG_TRY(szgi_balls_number(context, b, 3, t->content_k[c]));
        SZG_TRY(szgi_balls_accumulate(context, b, 0, 2, 3, 6));
    }
    return SZG_OK;
}

/* register 1 = sum_t q^(t) conj(k^(t)) e^{i (i - j) theta_t}; without the conjugate where `plain`.
 */
static szg_status hadamard_sum(szg_context *context, szgi_balls *b, const token_pair *t,
                               bool plain) {
    SZG_TRY(szgi_balls_zero(context, b, 1));
    for (int64_t p = 0; p < PAIRS; p++) {
        szgi_phase phase = szgi_phase_radians(t->theta[p]);
        double sign = plain ? 1.0 : -1.0;
        SZG_TRY(szgi_balls_set(context, b, 2, (szg_c64){t->q[2 * p], t->q[2 * p + 1]}));
        SZG_TRY(szgi_balls_set(context, b, 3, (szg_c64){t->k[2 * p], sign * t->k[2 * p + 1]}));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 2, 2, 3));
        SZG_TRY(szgi_balls_set_polar(context, b, 3, 1.0, t->i - t->j, &phase));
        SZG_TRY(szgi_balls_accumulate(context, b, 1, 2, 3, 6));
    }
    return SZG_OK;
}

static szg_status real_part(szg_context *context, szgi_balls *b, int64_t r) {
    return szgi_balls_apply(context, b, SZG_BALL_REAL, r, r, r);
}

/* ---- B1 ---- */

szg_status szgi_check_b1(claims_run *run, finding *out) {
    static const double one[] = {1.0};
    static const szgi_phase turns[] = {{.rational = true, .p = 0, .q = 1},
                                       {.rational = true, .p = 1, .q = 2}};
    const lattice space = {2, 1, one, 2, turns, NULL};
    double w[2];
    szgi_phase theta[2];
    bool minimal, modulus, sum;
    certificate c = {.id = "B1",
                     .kind = "disjoint",
                     .left = Q_ROTATED,
                     .relation = "<",
                     .right = Q_GRAM,
                     .note = "fewest pairs, d = 4; lag n"};
    SZG_TRY(szgi_lattice_search(run, &space, &c, w, theta, &minimal));
    szgi_finding_note(out, "least number of pairs with a counterexample: %lld",
                      (long long)c.weights);
    const double ones[] = {1.0, 1.0}, opposite[] = {1.0, -1.0};
    const szgi_phase radians[] = {szgi_phase_radians(1.0), szgi_phase_radians(0.01)};
    c = szgi_certificate_with_inputs(&c, 2, ones, radians,
                                     "q = k = (1,1), theta = (1, 0.01), lag 3");
    c.n = 3;
    SZG_TRY(szgi_claims_certify(run, &c, &modulus));
    szg_interval coupled;
    SZG_TRY(szgi_quantity_enclose(run->context, Q_ROTATED, &c, &coupled));
    coupled = szgi_interval_multiply(coupled, (szg_interval){0.5, 0.5});
    SZG_TRY(szgi_evidence_add(run, "B1", "modulus ratio at lag 3", coupled, "1 is claimed"));
    c.w = opposite;
    c.left = Q_ROTATED_REAL;
    c.relation = ">";
    c.note = "q = (1,1), k = (1,-1), theta = (1, 0.01), lag 3: the Gram sum is 0";
    SZG_TRY(szgi_claims_certify(run, &c, &sum));
    SZG_TRY(
        szgi_evidence_quantity(run, "|Re L| at lag 3", Q_ROTATED_REAL, &c, "the Gram sum is 0"));
    SZG_TRY(
        szgi_evidence_quantity(run, "|Gram sum|", Q_GRAM, &c, "Eq. 10 would give |L| the same"));
    szgi_finding_fails(out, minimal && c.weights == 2 && modulus && sum);
    return SZG_OK;
}

/* ---- B1c ---- */

/* L of d + 1 tokens has rank <= d: its determinant is 0. */
static szg_status rank_determinant(claims_run *run, szg_interval *determinant) {
    enum { N = 2 * PAIRS + 1 };
    szg_context *context = run->context;
    szgi_ball_matrix *matrix = NULL;
    szgi_balls *balls = NULL;
    szg_status status;
    token_pair t, row[N];
    for (int64_t i = 0; i < N; i++)
        draw_tokens(run->options.seed, STREAM_ROTARY, 1000000 + i, &row[i]);
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, N, N, SZG_BALL_BITS, &matrix), done);
    SZG_TRY_GOTO(status, szgi_balls_open(context, 16, SZG_BALL_BITS, &balls), done);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            t = row[i];
            for (int e = 0; e < 2 * PAIRS; e++)
                t.k[e] = row[j].k[e];
            for (int p = 0; p < PAIRS; p++)
                t.theta[p] = row[0].theta[p];
            t.i = i;
            t.j = j;
            SZG_TRY_GOTO(status, hadamard_sum(context, balls, &t, false), done);
            SZG_TRY_GOTO(status, real_part(context, balls, 1), done);
            SZG_TRY_GOTO(status, szgi_ball_matrix_put(context, matrix, i, j, balls, 1), done);
        }
    SZG_TRY_GOTO(status, szgi_ball_matrix_minor(context, matrix, N, determinant, NULL), done);
done:
    szgi_balls_close(&balls);
    szgi_ball_matrix_close(&matrix);
    return status;
}

/* Without the conjugate the identity is wrong: q = k = i, lag 0: q conj(k) = 1, q k = -1. */
static szg_status conjugate_matters(claims_run *run, szgi_balls *b) {
    token_pair t = {.q = {0.0, 1.0}, .k = {0.0, 1.0}};
    szg_interval right, wrong;
    SZG_TRY(hadamard_sum(run->context, b, &t, false));
    SZG_TRY(szgi_balls_get(run->context, b, 1, &right, NULL));
    SZG_TRY(hadamard_sum(run->context, b, &t, true));
    SZG_TRY(szgi_balls_get(run->context, b, 1, &wrong, NULL));
    SZG_TRY(szgi_evidence_add(run, "B1c", "Re q conj(k) at q = k = i", right, "the logit"));
    return szgi_evidence_add(run, "B1c", "Re q k at q = k = i", wrong,
                             "without the conjugate: wrong");
}

static szg_status identity_trials(claims_run *run, identity *id, uint32_t purpose, bool content) {
    szg_context *context = run->context;
    for (int64_t trial = 0; trial < run->options.trials; trial++) {
        token_pair t;
        draw_tokens(run->options.seed, purpose, trial, &t);
        SZG_TRY(hadamard_sum(context, id->balls, &t, false));
        SZG_TRY(real_part(context, id->balls, 1));
        for (int64_t c = 0; content && c < CONTENT; c++) {
            SZG_TRY(szgi_balls_number(context, id->balls, 2, t.content_q[c]));
            SZG_TRY(szgi_balls_number(context, id->balls, 3, t.content_k[c]));
            SZG_TRY(szgi_balls_accumulate(context, id->balls, 1, 2, 3, 6));
        }
        SZG_TRY(rotated_product(context, id->balls, &t, content));
        SZG_TRY(szgi_identity_compare(context, id, 0, 1));
    }
    return SZG_OK;
}

szg_status szgi_check_b1c(claims_run *run, finding *out) {
    identity id;
    szg_interval determinant = {0.0, 0.0};
    SZG_TRY(szgi_identity_open(run, 16, &id));
    szg_status status;
    SZG_TRY_GOTO(status, identity_trials(run, &id, STREAM_ROTARY, false), done);
    SZG_TRY_GOTO(status, rank_determinant(run, &determinant), done);
    SZG_TRY_GOTO(status, conjugate_matters(run, id.balls), done);
    SZG_TRY_GOTO(status,
                 szgi_evidence_add(run, "B1c", "determinant of L for d + 1 tokens", determinant,
                                   "contains 0: rank L <= d"),
                 done);
    id.trials++;
    id.refuted += !(determinant.lo <= 0.0 && determinant.hi >= 0.0);
    szgi_identity_finding(&id, out);
done:
    szgi_identity_close(&id);
    return status;
}

/* ---- E12, E12c ---- */

szg_status szgi_check_e12(claims_run *run, finding *out) {
    /* c = 2, r = 1, theta = pi: L has diagonal 3 and 1 beside it. As printed the diagonal 3 forces
     * alpha = 0, and the entry beside it is 0. */
    const double parts[] = {2.0, 1.0};
    const szgi_phase theta[] = {szgi_phase_ratio(1, 1)};
    certificate c = {.id = "E12",
                     .kind = "exact",
                     .left = Q_MLA_TRUE,
                     .relation = "!=",
                     .right = Q_MLA_PRINTED,
                     .n = 2,
                     .weights = 2,
                     .phases = 1,
                     .w = parts,
                     .theta = theta,
                     .note = "contents c = 2 and r = 1, theta = pi"};
    bool certified;
    SZG_TRY(szgi_claims_certify(run, &c, &certified));
    szgi_finding_fails(out, certified);
    SZG_TRY(szgi_evidence_quantity(run, "L_01", Q_MLA_TRUE, &c, "c + r e^{-i pi}"));
    return szgi_evidence_quantity(run, "L_01 as printed", Q_MLA_PRINTED, &c,
                                  "0 whatever alpha, G_e");
}

szg_status szgi_check_e12c(claims_run *run, finding *out) {
    identity id;
    SZG_TRY(szgi_identity_open(run, 16, &id));
    szg_status status = identity_trials(run, &id, STREAM_MLA, true);
    if (status == SZG_OK)
        szgi_identity_finding(&id, out);
    szgi_identity_close(&id);
    return status;
}
