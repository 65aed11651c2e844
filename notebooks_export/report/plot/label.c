#include "label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL(column, words, unit) {column, words, unit},
const column_label szgi_label_table[] = {
#include "label.def"
};
#undef LABEL
const size_t szgi_label_count = sizeof szgi_label_table / sizeof *szgi_label_table;

static int by_column(const void *key, const void *label) {
    return strcmp(key, ((const column_label *)label)->column);
}

static const column_label *find(const char *column) {
    return bsearch(column, szgi_label_table, szgi_label_count, sizeof *szgi_label_table, by_column);
}

const char *szgi_label_words(const char *column) {
    const column_label *found = find(column);
    return found ? found->words : column;
}

const char *szgi_label_axis(const char *column, char out[LABEL_TEXT]) {
    const column_label *found = find(column);
    const char *unit = found ? found->unit : NULL;
    snprintf(out, LABEL_TEXT, "%s%s%s%s", szgi_label_words(column), unit ? " (" : "",
             unit ? unit : "", unit ? ")" : "");
    return out;
}
