/* The second code path of certificates. */
#ifndef SZG_THEORY_RECHECK_H
#define SZG_THEORY_RECHECK_H

#include "formats/json.h"
#include "certificate.h"

enum { RECHECK_BITS = 2 * SZG_BALL_BITS };

/* The document {"certificates": [...]} of a JSON file, or of a CSV file (name ending in .csv). */
SZG_CHECK_RESULT szg_status szgi_certificate_file_read(szg_context *context, const char *path,
                                                       szgi_json **out);

SZG_CHECK_RESULT szg_status szgi_recheck_enclose(szg_context *context, quantity q,
                                                 const certificate *c, szg_interval *out);
SZG_CHECK_RESULT szg_status szgi_recheck_hypotheses(szg_context *context, int hypotheses,
                                                    const certificate *c, bool *hold);
/* W, or W o E where `coupled`, entry by entry. The caller closes it, after a failure too. */
SZG_CHECK_RESULT szg_status szgi_recheck_matrix(szg_context *context, const certificate *c,
                                                bool coupled, szgi_ball_matrix **out);
/* The exact rule behind a relation "=". */
bool szgi_recheck_equal(const certificate *c);

#endif
