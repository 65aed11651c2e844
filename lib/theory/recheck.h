/* The second code path of certificates. */
#ifndef SZG_THEORY_RECHECK_H
#define SZG_THEORY_RECHECK_H

#include "certificate.h"
#include "formats/json.h"

/* The document {"certificates": [...]} of a JSON file, or of a CSV file (name ending in .csv). */
SZG_CHECK_RESULT szg_status szgi_certificate_file_read(szg_context *context, const char *path,
                                                       szgi_json **out);

/* Judges one at twice the precision: *confirmed, and why not in `reason`. */
SZG_CHECK_RESULT szg_status szgi_certificate_recheck(szg_context *context, const certificate *c,
                                                     bool *confirmed, char reason[256]);

/* W, or W o E where `coupled`, entry by entry. The caller closes it, after a failure too. */
SZG_CHECK_RESULT szg_status szgi_recheck_matrix(szg_context *context, const instance *at,
                                                bool coupled, szgi_ball_matrix **out);

#endif
