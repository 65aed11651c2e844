/* Certificates: exact inputs, two quantities, the relation between them that refutes a claim. How a
 * quantity is computed is written twice (quantity.def); which relation refutes which claim is said
 * once, in the claim's file. */
#ifndef SZG_THEORY_CERTIFICATE_H
#define SZG_THEORY_CERTIFICATE_H

#include "base/schema.h"
#include "refutation.h"

typedef struct certificate {
    const char *id;           /* of the claim */
    const refutation *rule;   /* one of the claim's; NULL: the rule that was read is not */
    instance at;              /* the counterexample */
    szg_interval left, right; /* enclosures of the two quantities */
    const char *note;
} certificate;

/* The table `certificates`, for writing and for reading back. */
extern const szgi_schema *const szgi_certificate_schema;
SZG_CHECK_RESULT szg_status szgi_certificate_table_open(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_certificate_add(szg_context *context, szg_table *table,
                                                 const certificate *c);
/* Text forms: hexadecimal floats apart by one space; phases are a hexadecimal float (radians) or
 * p/q (times pi). Allocated. */
SZG_CHECK_RESULT szg_status szgi_certificate_weights_text(szg_context *context, int64_t count,
                                                          const double *w, char **out);
SZG_CHECK_RESULT szg_status szgi_certificate_phases_text(szg_context *context, int64_t count,
                                                         const szgi_phase *theta, char **out);

#endif
