#include "keyed.h"

#include "base/memory.h"

#include "words.h"

enum { CANCEL_EVERY = 4096 };

/* A table of one column: the key of every row of the list, empty where it has none. */
static szg_status add_key(szg_context *context, szg_table *keys, rows all, int64_t index,
                          row_key_fn *key, const void *user) {
    words text;
    SZG_TRY(szg_table_add_row(context, keys));
    SZG_TRY(szgi_words_open(context, &text));
    bool counts = key(text.stream, all, index, user);
    szg_status status = szgi_words_end(context, &text);
    if (status == SZG_OK && counts)
        status = szg_table_set_text(context, keys, "key", text.text);
    szgi_words_free(&text);
    return status;
}

static szg_status fill_keys(szg_context *context, szg_table *keys, rows all, row_key_fn *key,
                            const void *user) {
    for (int64_t i = 0; i < all.count; i++) {
        if (i % CANCEL_EVERY == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(add_key(context, keys, all, i, key, user));
    }
    return SZG_OK;
}

/* From rows of the table of keys to those of the list, without the group that has no key. */
static void translate(rows all, groups *out) {
    int64_t kept = 0;
    for (int64_t i = 0; i < all.count; i++)
        out->storage[i] = all.row ? all.row[out->storage[i]] : out->storage[i];
    for (int64_t g = 0; g < out->count; g++)
        if (out->group[g].table) {
            out->group[kept] = out->group[g];
            out->group[kept++].table = all.table;
        }
    out->count = kept;
}

szg_status szgi_keyed_split(szg_context *context, rows all, row_key_fn *key, const void *user,
                            groups *out) {
    static const szg_column column = {"key", SZG_TEXT, "of the rows of a list"};
    static const char *const columns[] = {"key", NULL};
    szg_table *keys;
    *out = (groups){0};
    SZG_TRY(szg_table_open(context, "keys", &column, 1, &keys));
    szg_status status = fill_keys(context, keys, all, key, user);
    if (status == SZG_OK)
        status = szgi_groups_split(context, (rows){.table = keys}, columns, out);
    for (int64_t g = 0; g < out->count; g++)
        if (!szgi_rows_text(out->group[g], 0, "key"))
            out->group[g].table = NULL;
    if (status == SZG_OK)
        translate(all, out);
    szg_table_close(&keys);
    return status;
}
