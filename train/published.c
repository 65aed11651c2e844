/* The paper's numbers: one file of data, read when it is asked. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <szego/json.h>
#include <szego/memory.h>
#include <szego/published.h>

extern const char asset_published[];
extern const size_t asset_published_size;

struct szg_published {
    szg_json *json;
    char source[96];
};

static szg_status read_source(szg_context *context, szg_published *self) {
    szg_json_value source = szg_json_member(szg_json_root(self->json), "source");
    const char *arxiv, *date;
    int64_t version;
    SZG_TRY(szg_json_as_text(context, szg_json_member(source, "arxiv"), &arxiv));
    SZG_TRY(szg_json_as_integer(context, szg_json_member(source, "version"), &version));
    SZG_TRY(szg_json_as_text(context, szg_json_member(source, "date"), &date));
    snprintf(self->source, sizeof self->source, "arXiv %sv%" PRId64 " (%s)", arxiv, version, date);
    return SZG_OK;
}

szg_status szg_published_open(szg_context *context, szg_published **out) {
    *out = NULL;
    szg_published *self;
    SZG_TRY(szg_memory_alloc(context, 1, sizeof *self, &self));
    szg_status status = szg_json_parse(context, "published.json", asset_published,
                                       (int64_t)asset_published_size, &self->json);
    if (status == SZG_OK)
        status = read_source(context, self);
    if (status != SZG_OK)
        szg_published_close(&self);
    *out = self;
    return status;
}

void szg_published_close(szg_published **published) {
    if (!published || !*published)
        return;
    szg_json_close(&(*published)->json);
    szg_memory_free(*published);
    *published = NULL;
}

/* Whether the entry's text `key` is `text`; NULL: whether it has none. */
static bool says(szg_json_value entry, const char *key, const char *text) {
    szg_json_value value = szg_json_member(entry, key);
    const char *own;
    if (!text || szg_json_kind_of(value) != SZG_JSON_TEXT)
        return !text && szg_json_kind_of(value) == SZG_JSON_ABSENT;
    return szg_json_as_text(NULL, value, &own) == SZG_OK && strcmp(own, text) == 0;
}

double szg_published_accuracy(const szg_published *published, const char *encoding,
                              const char *task) {
    szg_json_value list = szg_json_member(szg_json_root(published->json), "accuracies");
    for (int64_t i = 0; encoding && task && i < szg_json_count(list); i++) {
        szg_json_value entry = szg_json_element(list, i);
        double percent;
        if (says(entry, "encoding", encoding) && says(entry, "task", task))
            return szg_json_as_real(NULL, szg_json_member(entry, "percent"), &percent) == SZG_OK
                       ? percent
                       : NAN;
    }
    return NAN;
}

const char *szg_published_setting(const szg_published *published, const char *place,
                                  const char *key, const char *task) {
    szg_json_value list = szg_json_member(szg_json_root(published->json), "settings");
    for (int64_t i = 0; i < szg_json_count(list); i++) {
        szg_json_value entry = szg_json_element(list, i);
        const char *value;
        if (says(entry, "place", place) && says(entry, "key", key) && says(entry, "task", task))
            return szg_json_as_text(NULL, szg_json_member(entry, "value"), &value) == SZG_OK ? value
                                                                                             : NULL;
    }
    return NULL;
}

const char *szg_published_source(const szg_published *published) {
    return published->source;
}
