/* The second code path of certificates. */
#ifndef SZG_THEORY_RECHECK_H
#define SZG_THEORY_RECHECK_H

#include "certificate.h"
#include "formats/json.h"

/* What a file says in one row, and where it says so. The texts live as long as what was read. */
typedef struct certificate_row {
    const char *id, *kind, *left, *relation, *right, *weights, *phases; /* NULL: not read */
    int64_t n;
    szg_interval left_ends, right_ends;
    szgi_json_value json; /* of a JSON document; else: */
    const char *path;     /* of the CSV file */
    int64_t number;       /* of its row, from 1 */
} certificate_row;

/* Row `index` of the table `certificates` that was read from `path`; an object of a JSON document.
 * SZG_EDATA: not a certificate, and why; *out then has what was read before. */
SZG_CHECK_RESULT szg_status szgi_certificate_from_table(szg_context *context, const char *path,
                                                        const szg_table *table, int64_t index,
                                                        certificate_row *out);
SZG_CHECK_RESULT szg_status szgi_certificate_from_json(szg_context *context, szgi_json_value value,
                                                       certificate_row *out);

/* A certificate with arrays of its own. */
typedef struct parsed_certificate {
    certificate c; /* id and note are borrowed */
    double *w;     /* c.at.w */
    szgi_phase *theta;
} parsed_certificate;

/* SZG_EDATA: its words are not those of a certificate, and why. Closed after a failure too. */
SZG_CHECK_RESULT szg_status szgi_certificate_parse(szg_context *context, const certificate_row *row,
                                                   parsed_certificate *out);
void szgi_parsed_close(parsed_certificate *p);

/* Judges one at twice the precision: *confirmed, and why not in `reason`. */
SZG_CHECK_RESULT szg_status szgi_certificate_recheck(szg_context *context, const certificate *c,
                                                     bool *confirmed, char reason[256]);

/* W, or W o E where `coupled`, entry by entry. The caller closes it, after a failure too. */
SZG_CHECK_RESULT szg_status szgi_recheck_matrix(szg_context *context, const instance *at,
                                                bool coupled, szgi_ball_matrix **out);

#endif
