/* Pages made of results that a test writes itself, and what is looked for in them. */
#ifndef SZG_TESTS_SECTIONS_SUPPORT_H
#define SZG_TESTS_SECTIONS_SUPPORT_H

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/table.h"
#include "formats/result.h"
#include "notebooks_export/collection/collection.h"
#include <szego/page.h>
#include <szego/status.h>

#include "suite.h"

static inline char *new_results(void) {
    char name[] = "/tmp/szego-sections-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(name));
    return strdup(name);
}

static inline int remove_result(const char *path, const struct stat *info, int type,
                                struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static inline void remove_results(char *folder) {
    nftw(folder, remove_result, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

/* Adds a table to a result: `text` has a line of names, TYPE:NAME with TYPE t, i or r, and a line a
 * row, cells between tabs; an empty cell stays empty. */
static inline void add_rows(szg_result *result, const char *name, const char *text) {
    szg_column columns[32];
    char *copy = strdup(text), *rest = copy, *line = strsep(&rest, "\n"), *cell;
    int64_t count = 0;
    while ((cell = strsep(&line, "\t")))
        columns[count++] = (szg_column){cell + 2,
                                        *cell == 't'   ? SZG_TEXT
                                        : *cell == 'i' ? SZG_INTEGER
                                                       : SZG_REAL,
                                        "doc"};
    szg_table *table;
    ck_szg_ok(szg_table_open(test_context(), name, columns, count, &table));
    while ((line = strsep(&rest, "\n")) && *line) {
        ck_szg_ok(szg_table_add_row(test_context(), table));
        for (int64_t i = 0; (cell = strsep(&line, "\t")); i++) {
            if (!*cell)
                continue;
            szg_type type = columns[i].type;
            const char *column = columns[i].name;
            if (type == SZG_TEXT)
                ck_szg_ok(szg_table_set_text(test_context(), table, column, cell));
            else if (type == SZG_INTEGER)
                ck_szg_ok(szg_table_set_integer(test_context(), table, column, atoll(cell)));
            else
                ck_szg_ok(szg_table_set_real(test_context(), table, column, strtod(cell, NULL)));
        }
    }
    ck_szg_ok(szg_result_add(test_context(), result, &table));
    free(copy);
}

static inline void write_result(szg_result *result, const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/", folder, name);
    ck_szg_ok(szg_result_write(test_context(), result, path, NULL));
    szg_result_close(&result);
}

/* Writes one result of one or two tables (the second may be NULL) to FOLDER/NAME/. */
static inline void write_tables(const char *folder, const char *name, const char *command,
                                const char *const *tables) {
    szg_result *result;
    ck_szg_ok(szg_result_open(test_context(), command, &result));
    for (; tables[0]; tables += 2)
        add_rows(result, tables[0], tables[1]);
    write_result(result, folder, name);
}

static inline szg_status write_page(const char *folder) {
    char path[512];
    szg_collection *collection = NULL;
    snprintf(path, sizeof path, "%s/report.html", folder);
    szg_status status = szg_collection_open(test_context(), folder, &collection);
    if (status == SZG_OK)
        status = szg_page_write(test_context(), collection, path);
    szg_collection_close(&collection);
    return status;
}

/* The report of a folder, up to the appendix of data; free. */
static inline char *page_of(const char *folder) {
    char path[512];
    ck_szg_ok(write_page(folder));
    snprintf(path, sizeof path, "%s/report.html", folder);
    FILE *file = fopen(path, "r");
    struct stat info;
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fstat(fileno(file), &info), 0);
    char *text = calloc(1, (size_t)info.st_size + 1);
    ck_assert(fread(text, 1, (size_t)info.st_size, file) == (size_t)info.st_size);
    fclose(file);
    char *data = strstr(text, "<section id=\"data\"");
    if (data)
        *data = 0;
    return text;
}

/* The part of the page that is a section; free. */
static inline char *section_of(const char *folder, const char *id) {
    char begin[128], *page = page_of(folder);
    snprintf(begin, sizeof begin, "<section id=\"%s\"", id);
    char *at = strstr(page, begin), *end = at ? strstr(at, "</section>") : NULL;
    ck_assert_msg(end, "no section %s", id);
    *end = 0;
    char *section = strdup(at);
    free(page);
    return section;
}

static inline int64_t occurrences(const char *text, const char *words) {
    int64_t count = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
        count++;
    return count;
}

#define ck_has(text, words) ck_assert_msg(strstr(text, words), "%s is not in the section", words)
#define ck_lacks(text, words) ck_assert_msg(!strstr(text, words), "%s is in the section", words)

#endif
