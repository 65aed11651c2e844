/* What the house alone uses of <szego/claims.h>. */
#ifndef SZEGO_THEORY_CLAIMS_H
#define SZEGO_THEORY_CLAIMS_H

#include <szego/claims.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* szg_certificates_check on text in memory; `name` stands for the file in messages. */
SZG_CHECK_RESULT szg_status szgi_certificates_check_text(szg_context *context, const char *name,
                                                         const char *text, int64_t size,
                                                         szg_table **results, int64_t *refused);

SZGI_END_DECLS

#endif
