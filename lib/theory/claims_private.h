/* What the checkers of claims share. */
#ifndef SZG_THEORY_CLAIMS_PRIVATE_H
#define SZG_THEORY_CLAIMS_PRIVATE_H

#include "ball/ball.h"
#include "theory/claims.h"
#include "base/random.h"

#include "certificate.h"

/* One trial of Lemma B.1, shared by the checkers of L1, L2, L2c and L3c. */
typedef struct lemma_trial {
    double *w;
    szgi_phase *theta;
    szg_interval max_f, max_g, width_f, width_g, two_sum;
    bool equality; /* by L2c's criterion, exactly */
    bool aligned;  /* all phases equal modulo 2 pi */
} lemma_trial;

typedef struct claims_run {
    szg_context *context;
    szg_claims_options options; /* defaults filled in */
    szg_claims_report *report;
    lemma_trial *lemma;  /* options.trials of them, NULL until some checker asks */
    double twist;        /* 0. Tests set it: checkers then compute something slightly else, and each
                            must come to another verdict */
    int64_t done, total; /* progress */
} claims_run;

/* What a checker found. */
typedef struct finding {
    szg_verdict verdict;
    const char *basis; /* proof, enclosure, counterexample, trials; NULL: none */
    int64_t trials;
    double worst_margin; /* NaN: does not apply */
    char note[640];
} finding;

typedef szg_status checker_fn(claims_run *run, finding *out);

checker_fn szgi_check_a32, szgi_check_r31, szgi_check_r32, szgi_check_e8,
    szgi_check_sym;                                                        /* check_kernel.c */
checker_fn szgi_check_b1, szgi_check_b1c, szgi_check_e12, szgi_check_e12c; /* check_rotary.c */
checker_fn szgi_check_b2;                                                  /* check_measure.c */
checker_fn szgi_check_t31, szgi_check_t31h;                                /* check_limit.c */
checker_fn szgi_check_b3, szgi_check_b3s, szgi_check_b3h, szgi_check_b3n;  /* check_hadamard.c */
checker_fn szgi_check_b3c;                                                 /* check_mean_kernel.c */
checker_fn szgi_check_l1, szgi_check_l1s, szgi_check_l2, szgi_check_l2p, szgi_check_l2c,
    szgi_check_l3, szgi_check_l3c; /* check_lemma.c */

/* Runs the checker of one claim; defined beside the table of checkers. */
SZG_CHECK_RESULT szg_status szgi_claims_check(claims_run *run, const szg_claim *claim,
                                              finding *out);
SZG_CHECK_RESULT szg_status szgi_claims_run_open(claims_run *run, szg_context *context,
                                                 const szg_claims_options *options,
                                                 szg_claims_report *report);
void szgi_claims_run_close(claims_run *run);

/* A verdict "holds": there is a proof on record and `refuted` trials of `trials` spoke against it.
 */
void szgi_finding_holds(finding *out, int64_t trials, int64_t refuted, double worst_margin);
/* A verdict "fails", or none where no certificate could be established. */
void szgi_finding_fails(finding *out, bool certified);
SZG_PRINTF(2, 3)
void szgi_finding_note(finding *out, const char *format, ...);

/* Adds a row to `evidence`. */
SZG_CHECK_RESULT szg_status szgi_evidence_add(claims_run *run, const char *id, const char *what,
                                              szg_interval value, const char *note);
SZG_CHECK_RESULT szg_status szgi_evidence_number(claims_run *run, const char *id, const char *what,
                                                 double value, const char *note);

/* Evaluates both sides at SZG_BALL_BITS; where the relation is established *certified is true and
 * the certificate stands in the table. The claim's refutation rule must exist (SZG_EINTERNAL). */
SZG_CHECK_RESULT szg_status szgi_claims_certify(claims_run *run, certificate *c, bool *certified);

/* Hill climbing: maximises `value` over a vector of doubles by random steps whose size adapts;
 * returns the best. `x` is start and result. */
typedef struct ascent {
    int64_t count;
    double *x;
    int64_t steps;
    double step; /* first size */
    uint64_t seed;
    uint32_t purpose;
    double (*value)(void *user, const double *x);
    void *user;
} ascent;
SZG_CHECK_RESULT szg_status szgi_ascent_run(szg_context *context, const ascent *a, double *best);

/* Random purposes of the streams, one for each use. */
enum {
    STREAM_LEMMA = 0x7101,
    STREAM_ROTARY,
    STREAM_ADDITIVE,
    STREAM_SINUSOIDAL,
    STREAM_MEASURE,
    STREAM_SZEGO,
    STREAM_HADAMARD,
    STREAM_TOEPLITZ_SHARE,
    STREAM_ASCENT,
    STREAM_MLA
};

#endif
