/* The inside of a JSON document. Only the json*.c files know Jansson. */
#ifndef SZG_FORMATS_JSON_PRIVATE_H
#define SZG_FORMATS_JSON_PRIVATE_H

#include <jansson.h>
#include "formats/json.h"

struct szgi_json {
    json_t *root;
    char *name; /* "" for a document that was built */
};

/* Takes over `root` (NULL: out of memory) on success and on failure. */
SZG_CHECK_RESULT szg_status szgi_json_wrap(szg_context *context, const char *name, json_t *root,
                                           szgi_json **out);

#endif
