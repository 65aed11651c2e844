/* The inside of a JSON document. Only the json*.c files know Jansson. */
#ifndef SZG_FORMATS_JSON_PRIVATE_H
#define SZG_FORMATS_JSON_PRIVATE_H

#include <jansson.h>
#include "base/suggest.h"
#include "formats/json.h"

/* A member that szgi_json_watch was given, and of the look-ups that were not its own the one whose
 * key is nearest. */
typedef struct json_watch {
    const void *parent;
    char *key;
    bool read;
    szgi_suggestion nearest;
    char near_key[SZGI_SUGGEST_LENGTH + 1];
    const void *near_parent;
} json_watch;

struct szgi_json {
    json_t *root;
    char *name; /* "" for a document that was built */
    json_watch *watch;
    int64_t watches;
};

/* A member of an object is looked up in a document that is watched. */
void szgi_json_watch_note(const szgi_json *json, const void *parent, const char *key);

/* Takes over `root` (NULL: out of memory) on success and on failure. */
SZG_CHECK_RESULT szg_status szgi_json_wrap(szg_context *context, const char *name, json_t *root,
                                           szgi_json **out);

#endif
