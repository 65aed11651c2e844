#include "keyed.h"

#include <stdlib.h>
#include <string.h>

#include <szego/memory.h>

#include "words.h"

typedef struct keys {
    char **key;
    int64_t count, capacity, latest;
} keys;

static void free_keys(keys *keys) {
    for (int64_t i = 0; i < keys->count; i++)
        szg_memory_free(keys->key[i]);
    szg_memory_free(keys->key);
}

/* Neighbouring rows mostly have one key. */
static int64_t find_key(const keys *keys, const char *key) {
    if (keys->count > 0 && strcmp(keys->key[keys->latest], key) == 0)
        return keys->latest;
    for (int64_t i = 0; i < keys->count; i++)
        if (strcmp(keys->key[i], key) == 0)
            return i;
    return -1;
}

static szg_status take_key(szg_context *context, keys *keys, const char *key, int64_t *out) {
    int64_t found = find_key(keys, key);
    if (found < 0) {
        if (keys->count == keys->capacity) {
            int64_t capacity = 2 * keys->capacity + 8;
            SZG_TRY(
                szg_memory_grow(context, &keys->key, keys->capacity, capacity, sizeof *keys->key));
            keys->capacity = capacity;
        }
        SZG_TRY(szg_memory_copy_text(context, key, &keys->key[keys->count]));
        found = keys->count++;
    }
    *out = keys->latest = found;
    return SZG_OK;
}

/* -1 in *out where the row has no key. */
static szg_status key_of(szg_context *context, rows all, int64_t index, row_key_fn *key,
                         const void *user, keys *keys, int64_t *out) {
    words text;
    *out = -1;
    SZG_TRY(words_open(context, &text));
    bool counts = key(text.stream, all, index, user);
    szg_status status = words_end(context, &text);
    if (status == SZG_OK && counts)
        status = take_key(context, keys, text.text, out);
    words_free(&text);
    return status;
}

static szg_status fill_groups(szg_context *context, rows all, const int64_t *target, int64_t count,
                              groups *out) {
    SZG_TRY(szg_memory_alloc(context, all.count, sizeof *out->storage, &out->storage));
    SZG_TRY(szg_memory_alloc(context, count, sizeof *out->group, &out->group));
    out->count = count;
    for (int64_t i = 0; i < all.count; i++)
        if (target[i] >= 0)
            out->group[target[i]].count++;
    int64_t *next = out->storage;
    for (int64_t g = 0; g < count; g++) {
        out->group[g].table = all.table;
        out->group[g].row = next;
        next += out->group[g].count;
        out->group[g].count = 0;
    }
    for (int64_t i = 0; i < all.count; i++) {
        if (target[i] < 0)
            continue;
        rows *group = &out->group[target[i]];
        out->storage[(group->row - out->storage) + group->count++] = all.row ? all.row[i] : i;
    }
    return SZG_OK;
}

szg_status keyed_split(szg_context *context, rows all, row_key_fn *key, const void *user,
                       groups *out) {
    keys keys = {0};
    int64_t *target = NULL;
    *out = (groups){0};
    szg_status status = szg_memory_alloc(context, all.count, sizeof *target, &target);
    for (int64_t i = 0; i < all.count && status == SZG_OK; i++) {
        status = key_of(context, all, i, key, user, &keys, &target[i]);
        if (status == SZG_OK && i % 4096 == 0)
            status = szg_context_check_cancel(context);
    }
    if (status == SZG_OK)
        status = fill_groups(context, all, target, keys.count, out);
    if (status != SZG_OK)
        groups_free(out);
    szg_memory_free(target);
    free_keys(&keys);
    return status;
}
