#include <string.h>

#include "base/memory.h"
#include "json_private.h"

szg_status szgi_json_watch(szg_context *context, szgi_json *json, szgi_json_value member) {
    if (!member.node || !member.key)
        return szgi_fail(context, SZG_EINVAL, "a member of an object is needed to be watched");
    SZG_TRY(szgi_memory_grow(context, &json->watch, json->watches, json->watches + 1));
    json_watch *watch = &json->watch[json->watches];
    SZG_TRY(szgi_memory_copy_text(context, member.key, &watch->key));
    watch->parent = member.parent;
    watch->nearest = szgi_suggest_begin(watch->key, strlen(watch->key));
    json->watches++;
    return SZG_OK;
}

void szgi_json_watch_note(const szgi_json *json, const void *parent, const char *key) {
    size_t length = strlen(key);
    for (int64_t i = 0; i < json->watches; i++) {
        json_watch *watch = &json->watch[i];
        if (watch->parent == parent && strcmp(watch->key, key) == 0)
            watch->read = true;
        if (watch->read || length >= sizeof watch->near_key)
            continue;
        szgi_suggest(&watch->nearest, key, length);
        bool nearer = watch->nearest.word == key;
        if (!nearer && (parent != watch->parent || strcmp(watch->near_key, key) != 0))
            continue;
        memmove(watch->near_key, key, length + 1); /* the caller's may be gone by then */
        watch->nearest.word = watch->near_key;
        watch->near_parent = parent; /* of the same key in two objects: its own object's */
    }
}

bool szgi_json_was_read(const szgi_json *json, int64_t index) {
    return json->watch[index].read;
}

void szgi_json_unwatch(szgi_json *json) {
    for (int64_t i = 0; i < json->watches; i++)
        szgi_memory_free(json->watch[i].key);
    szgi_memory_free(json->watch);
    json->watch = NULL;
    json->watches = 0;
}
