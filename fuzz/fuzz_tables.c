/* Results folders with tables of any shape, through the page and every export. Input: "## COMMAND"
 * begins a result, "# TABLE" a table of it, then a line of columns, "t:", "i:" or "r:" before each
 * name, and rows of CSV. What is written reads back the same, a page's elements are closed, and
 * nothing of a cell becomes one. */
#include <strings.h>
#include "base/file.h"
#include "base/table.h"
#include "formats/csv.h"
#include "formats/json.h"
#include "formats/result.h"
#include "notebooks_export/collection/collection.h"
#include <szego/export.h>
#include <szego/page.h>

#include "fuzz.h"

enum { COLUMNS = 64, DEPTH = 64, LINE = 4096 };

/* ---- Results ---- */

/* "t:source,r:re" as columns and as the header of CSV; 0: it is no such line. */
static int64_t read_header(char *line, szg_column columns[static COLUMNS]) {
    int64_t count = 0;
    for (char *rest = line, *word; (word = strsep(&rest, ","));) {
        if (count == COLUMNS || !*word || !strchr("tir", *word) || word[1] != ':' || !word[2])
            return 0;
        szg_type type = *word == 't' ? SZG_TEXT : *word == 'i' ? SZG_INTEGER : SZG_REAL;
        columns[count++] = (szg_column){word + 2, type, "of a fuzzer"};
    }
    return count;
}

/* Adds the table whose header line is at `text`; one that is malformed is left out. */
static void add_table(szg_result *result, const char *name, const char *text, size_t size) {
    szg_column columns[COLUMNS];
    szg_table *table;
    char line[LINE], *csv;
    size_t length = size > 0 ? strcspn(text, "\n") : 0, bytes;
    if (length == 0 || length >= LINE)
        return;
    memcpy(line, text, length);
    line[length] = 0;
    int64_t count = read_header(line, columns);
    FILE *stream = open_memstream(&csv, &bytes);
    FUZZ_PROMISE(stream != NULL);
    for (int64_t i = 0; i < count; i++)
        fprintf(stream, "%s%s", i ? "," : "", columns[i].name);
    fwrite(text + length, 1, size - length, stream);
    FUZZ_PROMISE(fclose(stream) == 0);
    if (count > 0 &&
        szgi_csv_parse(fuzz_context(), name, csv, (int64_t)bytes, columns, count, NULL, &table) ==
            SZG_OK &&
        szg_result_add(fuzz_context(), result, &table) != SZG_OK)
        FUZZ_PROMISE(table == NULL);
    free(csv);
}

/* The result between `at` and `end`, its command in the first line; NULL: it has no table. */
static szg_result *read_result(const char *at, const char *end) {
    szg_result *result;
    char name[64];
    if (sscanf(at, "%63s", name) != 1 || szg_result_open(fuzz_context(), name, &result) != SZG_OK)
        return NULL;
    const char *table = strstr(at, "\n# ");
    while (table && table < end) {
        const char *line = strchr(table + 3, '\n'), *next = line ? strstr(line, "\n# ") : NULL;
        const char *stop = next && next < end ? next + 1 : end;
        if (line && line < end && sscanf(table + 3, "%63s", name) == 1)
            add_table(result, name, line + 1, (size_t)(stop - line - 1));
        table = next;
    }
    if (szg_result_count(result) == 0)
        szg_result_close(&result);
    return result;
}

/* The tables of two results are the same, as JSON. */
static void check_same(const szg_result *a, const szg_result *b) {
    const szg_result *const both[] = {a, b};
    char *text[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        szg_print_options options = {SZG_INIT(szg_print_options), .format = SZG_FORMAT_JSON};
        FILE *stream = open_memstream(&text[i], &size[i]);
        FUZZ_PROMISE(stream != NULL);
        FUZZ_PROMISE(szg_result_print(fuzz_context(), both[i], &options, stream) == SZG_OK);
        FUZZ_PROMISE(fclose(stream) == 0);
    }
    FUZZ_PROMISE(size[0] == size[1] && memcmp(text[0], text[1], size[0]) == 0);
    free(text[0]);
    free(text[1]);
}

/* Writes it to FOLDER/INDEX/ and reads it back. False: a name that no result may have. */
static bool write_result(const szg_result *result, const char *folder, int index) {
    char path[320];
    szg_result *again;
    snprintf(path, sizeof path, "%s/%d/", folder, index);
    szg_status status = szg_result_write(fuzz_context(), result, path, NULL);
    if (status != SZG_OK) {
        FUZZ_PROMISE(status == SZG_EINVAL && *szg_context_message(fuzz_context()));
        return false;
    }
    FUZZ_PROMISE(szg_result_read(fuzz_context(), path, &again) == SZG_OK);
    check_same(result, again);
    szg_result_close(&again);
    return true;
}

/* Every result of the input in a folder of its own; how many there are. */
static int write_results(const char *text, const char *folder) {
    int count = 0;
    const char *at = strncmp(text, "## ", 3) == 0 ? text : strstr(text, "\n## ");
    while (at && count < 8) {
        at = strstr(at, "## ") + 3;
        const char *next = strstr(at, "\n## "), *end = next ? next + 1 : at + strlen(at);
        szg_result *result = read_result(at, end);
        if (result && write_result(result, folder, count))
            count++;
        szg_result_close(&result);
        at = next;
    }
    return count;
}

/* ---- The page ---- */

static bool is_void(const char *name) {
    static const char *const names[] = {"meta", "link",  "br",  "hr",
                                        "img",  "input", "col", "!doctype"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Behind the ">" of the tag at `at`; attributes are quoted. */
static const char *end_of_tag(const char *at) {
    while (*at && *at != '>') {
        FUZZ_PROMISE(*at != '<');
        if (*at == '"') {
            at = strchr(at + 1, '"');
            FUZZ_PROMISE(at != NULL);
        }
        at++;
    }
    FUZZ_PROMISE(*at == '>');
    return at + 1;
}

/* Every element is closed in its order, and a "<" of a text is none. */
static void check_elements(const char *page) {
    char open[DEPTH][16];
    int depth = 0;
    for (const char *at = page; (at = strchr(at, '<'));) {
        char name[16] = "";
        bool close = at[1] == '/';
        FUZZ_PROMISE(sscanf(at + 1 + close, "%15[!a-zA-Z0-9]", name) == 1);
        const char *end = end_of_tag(at + 1);
        if (close) {
            FUZZ_PROMISE(depth > 0 && strcmp(open[depth - 1], name) == 0);
            depth--;
        } else if (end[-2] != '/' && !is_void(name)) {
            FUZZ_PROMISE(depth < DEPTH);
            strcpy(open[depth++], name);
        }
        at = end;
        if (!close && (strcmp(name, "script") == 0 || strcmp(name, "style") == 0))
            FUZZ_PROMISE((at = strstr(at, strcmp(name, "style") ? "</script" : "</style")) != NULL);
    }
    FUZZ_PROMISE(depth == 0);
}

/* A file as a text with its final NUL; none in it. */
static char *read_text(const char *path) {
    szgi_contents contents;
    FUZZ_PROMISE(szgi_contents_open(fuzz_context(), path, &contents) == SZG_OK &&
                 contents.size > 0);
    char *text = malloc((size_t)contents.size + 1);
    FUZZ_PROMISE(text != NULL);
    memcpy(text, contents.data, (size_t)contents.size);
    text[contents.size] = 0;
    FUZZ_PROMISE((int64_t)strlen(text) == contents.size);
    szgi_contents_close(&contents);
    return text;
}

static void check_page(const szg_collection *all) {
    const char *path = fuzz_file("page.html", "", 0);
    FUZZ_PROMISE(szg_page_write(fuzz_context(), all, path) == SZG_OK);
    char *page = read_text(path);
    check_elements(page);
    FUZZ_PROMISE(!strstr(page, "<script>alert"));
    free(page);
}

/* ---- Exports ---- */

static void check_notebook(const szg_collection *all) {
    szgi_json *json;
    const char *path = fuzz_file("book.ipynb", "", 0);
    szg_status status = szg_export_notebook(fuzz_context(), all, path);
    if (status != SZG_OK) {
        FUZZ_PROMISE(status == SZG_EDATA && *szg_context_message(fuzz_context()));
        return;
    }
    FUZZ_PROMISE(szgi_json_read(fuzz_context(), path, &json) == SZG_OK);
    FUZZ_PROMISE(szgi_json_count(szgi_json_member(szgi_json_root(json), "cells")) > 0);
    szgi_json_close(&json);
}

/* The joined tables are a result, and an export of that result has the same tables. */
static void check_csv(const szg_collection *all) {
    szg_context *context = fuzz_context();
    char first[320], second[320];
    szg_collection *joined;
    szg_result *a, *b;
    snprintf(first, sizeof first, "%s/first/", fuzz_folder());
    snprintf(second, sizeof second, "%s/second/", fuzz_folder());
    FUZZ_PROMISE(szg_export_csv(context, all, first) == SZG_OK);
    FUZZ_PROMISE(szg_result_read(context, first, &a) == SZG_OK);
    FUZZ_PROMISE(szg_result_count(a) == szg_collection_tables(all));
    FUZZ_PROMISE(szg_collection_open(context, first, &joined) == SZG_OK);
    FUZZ_PROMISE(szg_export_csv(context, joined, second) == SZG_OK);
    FUZZ_PROMISE(szg_result_read(context, second, &b) == SZG_OK);
    FUZZ_PROMISE(szg_result_count(a) == szg_result_count(b));
    for (int64_t i = 0; i < szg_result_count(a); i++) {
        const szg_table *left = szg_result_table(a, i), *right = szg_result_table(b, i);
        FUZZ_PROMISE(strcmp(szg_table_name(left), szg_table_name(right)) == 0);
        FUZZ_PROMISE(szg_table_rows(left) == szg_table_rows(right));
    }
    szg_collection_close(&joined);
    szg_result_close(&a);
    szg_result_close(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szg_collection *all;
    char folder[64], *text = malloc(size + 1);
    FUZZ_PROMISE(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    snprintf(folder, sizeof folder, "%s/results", fuzz_folder());
    szg_status status = SZG_EDATA;
    if (write_results(text, folder) > 0) {
        status = szg_collection_open(fuzz_context(), folder, &all);
        if (status != SZG_OK) /* every result is one of `szego export`, which is passed over */
            FUZZ_REFUSED(status, folder);
    }
    if (status == SZG_OK) {
        FUZZ_PROMISE(szg_collection_bad_count(all) == 0);
        check_page(all);
        check_notebook(all);
        check_csv(all);
        szg_collection_close(&all);
    }
    free(text);
    fuzz_clean();
    return 0;
}
