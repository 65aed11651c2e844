/* The second code path of certificates. */
#ifndef SZG_THEORY_RECHECK_H
#define SZG_THEORY_RECHECK_H

#include "certificate.h"

SZG_CHECK_RESULT szg_status recheck_enclose(szg_context *context, quantity q, const certificate *c,
                                            szg_interval *out);
SZG_CHECK_RESULT szg_status recheck_hypotheses(szg_context *context, int hypotheses,
                                               const certificate *c, bool *hold);
/* The exact rule behind a relation "=". */
bool recheck_equal(const certificate *c);

#endif
