/* The cells of code, compiled in from cells/: which of them a collection has the tables for. */
#include <string.h>
#include "notebooks_export/collection/collection.h"

#include "export_private.h"

/* In the order of the notebook; meson.build has the same names. */
#define PLOTS(X)                                                                                   \
    X(table1)                                                                                      \
    X(curves)                                                                                      \
    X(ablation)                                                                                    \
    X(sweep)                                                                                       \
    X(claims)                                                                                      \
    X(lemma)                                                                                       \
    X(counterexamples)                                                                             \
    X(ranges)                                                                                      \
    X(spectrum)                                                                                    \
    X(extremes)                                                                                    \
    X(density)                                                                                     \
    X(symbol)                                                                                      \
    X(contraction)                                                                                 \
    X(contraction_map)                                                                             \
    X(toeplitzness)                                                                                \
    X(heads)                                                                                       \
    X(rotary)                                                                                      \
    X(kernel)

#define DECLARE(name) extern const char szgi_cell_##name[];
PLOTS(DECLARE)
DECLARE(load)
#define ENTRY(name) {#name, szgi_cell_##name},
const export_cell szgi_export_load_cell = {"load", szgi_cell_load};
const export_cell szgi_export_plot_cells[] = {PLOTS(ENTRY){NULL, NULL}};

static const char needs[] = "# needs one of: ", quotes[] = "\"\"\"\n";
static const char name_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* The next name of the list at *at, which ends before `end`, copied; false at the list's end. */
static bool next_name(const char **at, const char *end, char *out, size_t size) {
    while (*at < end && !strchr(name_characters, **at))
        (*at)++;
    size_t length = strspn(*at, name_characters);
    if (*at >= end || length >= size)
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length;
    return true;
}

bool szgi_export_cell_is_wanted(const export_cell *cell, const szg_collection *collection) {
    const char *at = cell->text + strlen(needs), *line = strchr(cell->text, '\n');
    char name[64];
    while (next_name(&at, line, name, sizeof name)) {
        const szg_table *table = szgi_collection_find(collection, name);
        const char *end = strchr(at, ')');
        bool whole = table && szg_table_rows(table) > 0;
        while (next_name(&at, end, name, sizeof name))
            whole = whole && szg_table_find(table, name) >= 0;
        if (whole)
            return true;
        at = end;
    }
    return false;
}

void szgi_export_cell_split(const export_cell *cell, const char **prose, int64_t *length,
                            const char **code) {
    *prose = strstr(cell->text, quotes) + strlen(quotes);
    const char *end = strstr(*prose, quotes);
    *length = end - *prose;
    *code = end + strlen(quotes);
}
