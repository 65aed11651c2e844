/* The second code path of certificates. */
#ifndef SZG_THEORY_RECHECK_H
#define SZG_THEORY_RECHECK_H

#include "certificate.h"
#include "formats/json.h"

/* The document {"certificates": [...]} of a JSON file, or of a CSV file (name ending in .csv). */
SZG_CHECK_RESULT szg_status szgi_certificate_file_read(szg_context *context, const char *path,
                                                       szgi_json **out);

/* What one row of the document says; the texts live as long as the document. */
typedef struct parsed_certificate {
    certificate c;
    const char *kind; /* c.rule->kind where there is such a rule */
    double *w;        /* c.at.w */
    szgi_phase *theta;
} parsed_certificate;

/* SZG_EDATA: not a certificate, and why. Closed after a failure too. */
SZG_CHECK_RESULT szg_status szgi_certificate_parse(szg_context *context, szgi_json_value row,
                                                   parsed_certificate *out);
void szgi_parsed_close(parsed_certificate *p);

/* Judges one at twice the precision: *confirmed, and why not in `reason`. */
SZG_CHECK_RESULT szg_status szgi_certificate_recheck(szg_context *context, const certificate *c,
                                                     bool *confirmed, char reason[256]);

/* W, or W o E where `coupled`, entry by entry. The caller closes it, after a failure too. */
SZG_CHECK_RESULT szg_status szgi_recheck_matrix(szg_context *context, const instance *at,
                                                bool coupled, szgi_ball_matrix **out);

#endif
