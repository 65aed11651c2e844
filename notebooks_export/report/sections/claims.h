/* What the files that draw the ledger of claims share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_CLAIMS_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_CLAIMS_H

#include "plot.h"

/* Characters of a cell that the ledger shows. */
enum { CLAIM_CHARACTERS = 400 };

/* One claim of one result, and what the other tables hold about it. */
typedef struct claim {
    plot_run *run;
    rows of; /* its row alone */
    const char *id, *anchor;
    rows certificates, samples, evidence; /* count 0: none */
    int64_t verdict;                      /* place among the ledger's verdicts */
} claim;

/* ---- claim_row.c: one row of the ledger, which opens to what its verdict rests on ---- */
void szgi_claim_row(const claim *claim);

/* A verdict's word with its sign and colour; `count` rows of it, negative: none is said. `place`
 * among the ledger's verdicts, by which the page's script shows the rows of one. */
void szgi_claim_verdict(FILE *stream, const char *verdict, int64_t place, int64_t count);

/* ---- claim_certificates.c ---- */

/* The two certified quantities of a certificate; NaN where the file has no number. */
typedef struct sides {
    double lo[2], hi[2]; /* left, right */
    const char *name[2], *relation, *kind;
} sides;

sides szgi_certificate_sides(rows certificates, int64_t index);

/* Whether the enclosures show the relation: they do not meet, and lie as it says; for "=" that they
 * do meet. */
bool szgi_sides_agree(const sides *sides);

/* "max|f| > max|g|" */
void szgi_sides_say(words *say, const sides *sides);

/* The certificates as a table (enclosures in decimals, exact texts kept), and the command that
 * recomputes them. */
void szgi_claim_certificates(const claim *claim);

/* ---- claim_samples.c: f and g of each counterexample to Lemma B.1, a panel each ---- */
void szgi_claim_samples(const claim *claim);

/* ---- claim_lemma.c: the trials of Lemma B.1; `verdict` on L3, NULL: not known ---- */
void szgi_lemma_figures(plot_run *run, rows trials, const char *verdict);

#endif
