/* The paper's settings: one file of data, read when it is asked. */
#include <string.h>

#include "formats/json.h"
#include "base/memory.h"
#include "published.h"

extern const char szgi_asset_published[];
extern const size_t szgi_asset_published_size;

struct szgi_published {
    szgi_json *json;
};

szg_status szgi_published_open(szg_context *context, szgi_published **out) {
    *out = NULL;
    szgi_published *self;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    szg_status status = szgi_json_parse(context, "published.json", szgi_asset_published,
                                        (int64_t)szgi_asset_published_size, &self->json);
    if (status != SZG_OK)
        szgi_published_close(&self);
    *out = self;
    return status;
}

void szgi_published_close(szgi_published **published) {
    if (!published || !*published)
        return;
    szgi_json_close(&(*published)->json);
    szgi_memory_free(*published);
    *published = NULL;
}

/* Whether the entry's text `key` is `text`; NULL: whether it has none. */
static bool says(szgi_json_value entry, const char *key, const char *text) {
    szgi_json_value value = szgi_json_member(entry, key);
    const char *own;
    if (!text || szgi_json_kind_of(value) != SZGI_JSON_TEXT)
        return !text && szgi_json_kind_of(value) == SZGI_JSON_ABSENT;
    return szgi_json_as_text(NULL, value, &own) == SZG_OK && strcmp(own, text) == 0;
}

const char *szgi_published_setting(const szgi_published *published, const char *place,
                                   const char *key, const char *task) {
    szgi_json_value list = szgi_json_member(szgi_json_root(published->json), "settings");
    for (int64_t i = 0; i < szgi_json_count(list); i++) {
        szgi_json_value entry = szgi_json_element(list, i);
        const char *value;
        if (says(entry, "place", place) && says(entry, "key", key) && says(entry, "task", task))
            return szgi_json_as_text(NULL, szgi_json_member(entry, "value"), &value) == SZG_OK
                       ? value
                       : NULL;
    }
    return NULL;
}
