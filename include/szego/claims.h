/* The ledger of the paper's claims (arXiv 2505.13027v1): each has a checker that computes a
 * verdict, certificates that others can recompute, and a second code path that does so.
 * docs/explanation/theory.md holds the proofs. */
#ifndef SZEGO_CLAIMS_H
#define SZEGO_CLAIMS_H

#include <szego/table.h>

SZG_BEGIN_DECLS

typedef enum szg_verdict {
    SZG_VERDICT_NONE,        /* the checker could not establish one */
    SZG_VERDICT_HOLDS,       /* a proof is on record and no trial refuted it */
    SZG_VERDICT_FAILS,       /* a certified counterexample */
    SZG_VERDICT_VACUOUS,     /* nothing satisfies the hypotheses */
    SZG_VERDICT_CONDITIONAL, /* instances on both sides */
    SZG_VERDICT_MEASURED,    /* probabilities under a stated measure */
    SZG_VERDICT_COUNT
} szg_verdict;

/* "holds", "fails", ...; "none". */
const char *szg_verdict_name(szg_verdict verdict);

/* One line of the ledger: data, never copied into a computed verdict. Formulas of the two
 * statements are between backticks: `L = Re sum_t G_t o E_t`. */
typedef struct szg_claim {
    const char *id;
    const char *kind; /* paper: it states this, or its proof needs it; reading: ours of a statement
                         or of its use; correction: ours, what is true instead */
    szg_verdict expected;
    const char *statement;
    const char *true_statement;
    const char
        *source; /* number in the paper's first version; of the later one: what, and how known */
} szg_claim;

/* The ledger in the order of the paper; static storage. */
int64_t szg_claim_count(void);
const szg_claim *szg_claim_at(int64_t index);
/* NULL where there is no such claim; case matters. */
const szg_claim *szg_claim_find(const char *id);

/* Zero fields but `size` take the defaults. */
typedef struct szg_claims_options {
    SZG_SIZE(szg_claims_options);
    int64_t terms;  /* weights w_0 .. w_{terms-1} of Lemma B.1's polynomials; 0: 16; 2 .. 4096 */
    int64_t trials; /* random trials per claim; 0: 64; at most 10^6 */
    uint64_t seed;
} szg_claims_options;

/* Tables that szg_claims_verify fills; each ends with the column note.
 *   claims: id, statement, verdict, basis, trials, worst_margin, true_statement, source, kind,
 *     note
 *   certificates: id, kind, left, relation, right, n, weights, phases, left_lo, left_hi, right_lo,
 *     right_hi, note
 *   lemma: trial, weights, phases, max_f_lo, max_f_hi, max_g_lo, max_g_hi, width_f_lo, width_f_hi,
 *     width_g_lo, width_g_hi, equality, note (only when L1, L2, L2c or L3c ran)
 *   samples: id, theta, f, g, note (the counterexamples to Lemma B.1)
 *   evidence: id, quantity, lo, hi, note (the numbers a verdict quotes; lo = hi where not enclosed)
 */
typedef struct szg_claims_report {
    szg_table *claims, *certificates, *lemma, *samples, *evidence;
    int64_t differing; /* claims whose computed verdict is not the ledger's */
} szg_claims_report;

/* Runs the checkers of the claims named (all when count = 0), in the ledger's order. SZG_EINVAL: an
 * unknown id (the message lists them), an option out of range; SZG_ECANCEL; SZG_ENOMEM. A verdict
 * that differs is no failure of this function: see report->differing. Progress: "verify". */
SZG_CHECK_RESULT szg_status szg_claims_verify(szg_context *context,
                                              const szg_claims_options *options, int64_t count,
                                              const char *const *ids, szg_claims_report *report);
void szg_claims_report_close(szg_claims_report *report);

/* Recomputes every certificate of a file by a separate code path at twice the precision: JSON (an
 * object with the array `certificates`, such as `szego verify --format json` prints, or one
 * certificate by itself), or, where the name ends in .csv, the table `certificates`. *results: id,
 * kind, verdict (confirmed | refused), note (why). *refused counts. SZG_EIO, SZG_EDATA: not such a
 * file, or one without a certificate; a certificate that is malformed is refused, not an error. */
SZG_CHECK_RESULT szg_status szg_certificates_check(szg_context *context, const char *path,
                                                   szg_table **results, int64_t *refused);

SZG_END_DECLS

#endif
