/* Integers of GGUF metadata that may be one for each layer. */
#include <inttypes.h>

#include "formats/gguf.h"
#include "gguf_translate.h"

/* An integer of at least 1. One for each layer is one if all are equal; 0 is a layer without
 * attention where the family has such. */
szg_status szgi_gguf_integer(gguf_translation *own, const char *key, int64_t *out) {
    szgi_json_value value = szgi_gguf_value(own, key);
    int64_t other, count = szgi_json_count(value);
    bool belongs, first = true;
    *out = 0;
    if (szgi_json_kind_of(value) != SZGI_JSON_ARRAY)
        SZG_TRY(szgi_json_as_integer(own->context, value, out));
    for (int64_t i = 0; szgi_json_kind_of(value) == SZGI_JSON_ARRAY && i < count; i++) {
        SZG_TRY(szgi_json_as_integer(own->context, szgi_json_element(value, i), &other));
        if (other == 0 && own->family->mixed)
            continue;
        SZG_TRY(szgi_gguf_in_stack(own, i, &belongs));
        if (!belongs)
            continue;
        if (first || *out == 0)
            *out = other;
        first = false;
        if (other != *out)
            return szgi_json_fail(own->context, value,
                                  "differs from layer to layer (%" PRId64 " and %" PRId64
                                  "), which "
                                  "szego does not know of '%s'; --config none gives the singular "
                                  "values of every 2-D weight",
                                  *out, other, own->architecture->name);
    }
    return szgi_gguf_at_least_one(own, value, *out);
}

szg_status szgi_gguf_integer_or(gguf_translation *own, const char *key, int64_t otherwise,
                                int64_t *out) {
    *out = otherwise;
    return szgi_gguf_has(own, key) ? szgi_gguf_integer(own, key, out) : SZG_OK;
}
