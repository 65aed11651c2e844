#include <string.h>

#include "same_result.h"

szg_status szgi_rows_of_result(page *page, const char *table, const char *result, groups *out) {
    rows all = {.table = szgi_collection_find(szgi_page_results(page), table)};
    *out = (groups){0};
    return all.table && result
               ? szgi_groups_where(szgi_page_context(page), all, "result", result, out)
               : SZG_OK;
}

bool szgi_is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return strcmp(folder, ".") == 0 ||
           (strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]));
}

bool szgi_is_within(const char *path, const groups *above) {
    for (int64_t i = 0; path && i < above->count; i++) {
        const char *folder = szgi_rows_text(above->group[i], 0, "result");
        if (folder && szgi_is_below(path, folder))
            return true;
    }
    return false;
}
