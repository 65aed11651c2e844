/* What the house alone uses of <szego/examples.h>. */
#ifndef SZEGO_FORMATS_EXAMPLES_H
#define SZEGO_FORMATS_EXAMPLES_H

#include <szego/examples.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Appends one example; grows the arrays. A zeroed struct is an empty set. */
SZG_CHECK_RESULT szg_status szgi_examples_add(szg_context *context, szg_examples *examples,
                                              int64_t count, const int32_t *tokens, int32_t label);

/* szg_examples_read from bytes that the caller keeps; `name` is for messages. */
SZG_CHECK_RESULT szg_status szgi_examples_read_bytes(szg_context *context, const char *name,
                                                     const void *data, int64_t size,
                                                     szg_examples *out);

SZGI_END_DECLS

#endif
