/* What the house alone uses of <szego/claims.h>. */
#ifndef SZEGO_THEORY_CLAIMS_H
#define SZEGO_THEORY_CLAIMS_H

#include <szego/claims.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Whether it is C1, C2 or C3, claims of the paper's later version about trained models, which
 * ledgers of earlier versions had: `szego judge` speaks of them. */
bool szgi_claim_is_judged(const char *id);

/* szg_certificates_check on text in memory; `name` stands for the file in messages. */
SZG_CHECK_RESULT szg_status szgi_certificates_check_text(szg_context *context, const char *name,
                                                         const char *text, int64_t size,
                                                         szg_table **results, int64_t *refused);

SZGI_END_DECLS

#endif
