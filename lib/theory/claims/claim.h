/* A claim of the paper (Gu and others 2025, arXiv 2505.13027v1): one file of this folder exports
 * one constant struct, list.def names it, and nothing else knows it. What checkers share
 * follows. */
#ifndef SZG_THEORY_CLAIM_H
#define SZG_THEORY_CLAIM_H

#include "base/random.h"
#include "theory/claims.h"
#include "theory/refutation.h"

typedef struct claims_run claims_run;
typedef struct finding finding;

enum { CLAIM_REFUTATIONS = 3 };

typedef struct szgi_claim {
    szg_claim ledger; /* what is expected: compared with, read by no checker */
    szg_status (*check)(claims_run *run, finding *out);
    refutation refutations[CLAIM_REFUTATIONS]; /* what refutes it; up to the first without a kind */
} szgi_claim;

#define CLAIM(name) extern const szgi_claim szgi_claim_##name;
#include "list.def"
#undef CLAIM

/* ---- The list (list.c) ---- */

/* NULL: index outside 0 .. szg_claim_count() - 1; no such id. */
const szgi_claim *szgi_claim_at(int64_t index);
const szgi_claim *szgi_claim_find(const char *id);

/* NULL: these quantities in this relation refute nothing of the claim `id`. */
const refutation *szgi_refutation_find(const char *id, const char *kind, quantity left,
                                       const char *relation, quantity right);

/* ---- A run (run.c) ---- */

/* One trial of Lemma B.1, shared by the checkers of L1, L2c and L3c. */
typedef struct lemma_trial {
    double *w;
    szgi_phase *theta;
    szg_interval max_f, max_g, width_f, width_g, two_sum;
    bool equality; /* by L2c's criterion, exactly */
} lemma_trial;

struct claims_run {
    szg_context *context;
    szg_claims_options options; /* defaults filled in */
    szg_claims_report *report;
    const szgi_claim *claim; /* that is being checked */
    int64_t certified;       /* its certificates so far */
    lemma_trial *lemma;      /* options.trials of them, NULL until some checker asks */
    double twist; /* 0. Tests set it: checkers then compute something slightly else, and each
                     must come to another verdict */
};

SZG_CHECK_RESULT szg_status szgi_claims_run_open(claims_run *run, szg_context *context,
                                                 const szg_claims_options *options,
                                                 szg_claims_report *report);
void szgi_claims_run_close(claims_run *run);

/* ---- What a checker finds (claim.c) ---- */

struct finding {
    szg_verdict verdict;
    const char *basis; /* proof, enclosure, counterexample, trials; NULL: none */
    int64_t trials;
    double worst_margin; /* NaN: does not apply */
    char note[640];
};

SZG_CHECK_RESULT szg_status szgi_claim_check(claims_run *run, const szgi_claim *one, finding *out);

/* A verdict "holds": there is a proof on record and `refuted` trials of `trials` spoke against it.
 */
void szgi_finding_holds(finding *out, int64_t trials, int64_t refuted, double worst_margin);
/* A verdict "fails", or none where no certificate could be established. */
void szgi_finding_fails(finding *out, bool certified);
SZG_PRINTF(2, 3)
void szgi_finding_note(finding *out, const char *format, ...);

/* Adds a row to `evidence`: an enclosure, a plain number, an enclosure of a quantity. */
SZG_CHECK_RESULT szg_status szgi_evidence_add(claims_run *run, const char *what, szg_interval value,
                                              const char *note);
SZG_CHECK_RESULT szg_status szgi_evidence_number(claims_run *run, const char *what, double value,
                                                 const char *note);
SZG_CHECK_RESULT szg_status szgi_evidence_quantity(claims_run *run, const char *what, quantity q,
                                                   const instance *at, const char *note);

/* n = weights = phases = terms. */
instance szgi_instance(int64_t terms, const double *w, const szgi_phase *theta);

/* Encloses both sides of the rule at SZGI_BALL_BITS; where the hypotheses hold and the relation is
 * established *certified is true and the table has the certificate. */
SZG_CHECK_RESULT szg_status szgi_certify(claims_run *run, const refutation *rule,
                                         const instance *at, const char *note, bool *certified);

/* Random numbers: purposes 0x7100 .. 0x73ff of streams are the claims'. Two claims may share one,
 * two uses within a claim may not. */

#endif
