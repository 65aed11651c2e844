/* What the files that draw the ledger of claims share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_CLAIMS_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_CLAIMS_H

#include "budget.h"
#include "captioned.h"

/* One claim of one result, and what stands in the other tables about it. */
typedef struct claim {
    page *page;
    rows of; /* its row alone */
    const char *id;
    rows certificates, samples, evidence; /* count 0: none */
    budget *budget;
} claim;

/* The two certified quantities of a certificate; NaN where the file has no number. */
typedef struct sides {
    double lo[2], hi[2]; /* left, right */
    const char *name[2], *relation, *kind;
} sides;

/* ---- szgi_claim_certificates.c ---- */

sides szgi_certificate_sides(rows certificates, int64_t index);

/* Whether the enclosures show the relation: they do not meet, and lie as it says; for "=" that they
 * do meet. */
bool szgi_sides_agree(const sides *sides);

/* "max|f| > max|g|" */
void szgi_sides_say(words *say, const sides *sides);

/* What shows an equality, which two enclosures that meet do not. */
const char *szgi_sides_equality(const sides *sides);

/* The certificates as a table: enclosures in decimals, exact texts kept. */
SZG_CHECK_RESULT szg_status szgi_claim_certificates(const claim *claim);

/* A figure for each certificate: the two enclosures on one axis. */
SZG_CHECK_RESULT szg_status szgi_claim_enclosures(const claim *claim);

/* ---- szgi_claim_samples.c: f and g of each counterexample to Lemma B.1 ---- */
SZG_CHECK_RESULT szg_status szgi_claim_samples(const claim *claim);

/* ---- claim_lemma.c ---- */

/* The trials of Lemma B.1; `verdict` is the ledger's of L3, NULL: not known. */
SZG_CHECK_RESULT szg_status szgi_lemma_figures(page *page, rows trials, const char *verdict,
                                               budget *budget);

#endif
