/* The second code path of certificates. */
#ifndef SZG_THEORY_RECHECK_H
#define SZG_THEORY_RECHECK_H

#include <szego/json.h>
#include "certificate.h"

enum { RECHECK_BITS = 2 * SZG_BALL_BITS };

/* The document {"certificates": [...]} of a JSON file, or of a CSV file (name ending in .csv). */
SZG_CHECK_RESULT szg_status certificate_file_read(szg_context *context, const char *path,
                                                  szg_json **out);

SZG_CHECK_RESULT szg_status recheck_enclose(szg_context *context, quantity q, const certificate *c,
                                            szg_interval *out);
SZG_CHECK_RESULT szg_status recheck_hypotheses(szg_context *context, int hypotheses,
                                               const certificate *c, bool *hold);
/* W, or W o E where `coupled`, entry by entry. The caller closes it, after a failure too. */
SZG_CHECK_RESULT szg_status recheck_matrix(szg_context *context, const certificate *c, bool coupled,
                                           szg_ball_matrix **out);
/* The exact rule behind a relation "=". */
bool recheck_equal(const certificate *c);

#endif
