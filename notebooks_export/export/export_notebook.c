/* FILE.ipynb, nbformat 4.5: cells of text and code, in the order in which they run. */
#include <string.h>

#include <szego/memory.h>
#include <szego/text.h>
#include "export_private.h"

/* A cell's text is a list of its lines, as Jupyter writes it: so that versions can be compared. */
static szg_status add_lines(szg_context *context, const char *text, int64_t length,
                            szg_json *cell) {
    szg_json *lines;
    char *line;
    SZG_TRY(szg_json_open_array(context, &lines));
    szg_status status;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    SZG_TRY_GOTO(status, szg_memory_alloc(context, length + 1, 1, &line), done);
    for (int64_t at = 0, size; at < length && status == SZG_OK; at += size) {
        const char *end = memchr(text + at, '\n', (size_t)(length - at));
        size = end ? end - (text + at) + 1 : length - at;
        memcpy(line, text + at, (size_t)size);
        line[size] = '\0';
        status = szg_json_add_text(context, lines, NULL, line);
    }
    szg_memory_free(line);
    if (status == SZG_OK)
        status = szg_json_add(context, cell, "source", &lines);
done:
    szg_json_close(&lines);
    return status;
}

static szg_status add_empty(szg_context *context, const char *key, bool array, szg_json *json) {
    szg_json *empty;
    SZG_TRY(array ? szg_json_open_array(context, &empty) : szg_json_open_object(context, &empty));
    return szg_json_add(context, json, key, &empty);
}

static szg_status add_cell(szg_context *context, bool code, const char *id, const char *text,
                           int64_t length, szg_json *cells) {
    szg_json *cell;
    SZG_TRY(szg_json_open_object(context, &cell));
    szg_status status;
    SZG_TRY_GOTO(status, szg_json_add_text(context, cell, "cell_type", code ? "code" : "markdown"),
                 fail);
    SZG_TRY_GOTO(status, szg_json_add_text(context, cell, "id", id), fail);
    SZG_TRY_GOTO(status, add_empty(context, "metadata", false, cell), fail);
    if (code) {
        SZG_TRY_GOTO(status, szg_json_add_null(context, cell, "execution_count"), fail);
        SZG_TRY_GOTO(status, add_empty(context, "outputs", true, cell), fail);
    }
    SZG_TRY_GOTO(status, add_lines(context, text, length, cell), fail);
    return szg_json_add(context, cells, NULL, &cell);
fail:
    szg_json_close(&cell);
    return status;
}

/* The two texts that are made here. */
static szg_status add_texts(szg_context *context, const szg_collection *collection,
                            const char *archive, szg_json *cells) {
    for (int i = 0; i < 2; i++) {
        szg_text text;
        SZG_TRY(szg_text_open(context, &text));
        szg_status status = szg_text_end(
            &text, i == 0 ? export_print_title(context, collection, text.stream)
                          : export_print_readme(context, collection, archive, text.stream));
        if (status == SZG_OK)
            status = add_cell(context, false, i == 0 ? "title" : "readme", text.text, text.length,
                              cells);
        szg_text_close(&text);
        SZG_TRY(status);
    }
    return SZG_OK;
}

static szg_status add_code(szg_context *context, const export_cell *cell, const char *code,
                           szg_json *cells) {
    const char *prose, *rest;
    int64_t length;
    char id[64];
    export_cell_split(cell, &prose, &length, &rest);
    snprintf(id, sizeof id, "%s-text", cell->name);
    SZG_TRY(add_cell(context, false, id, prose, length, cells));
    if (!code)
        code = rest;
    return add_cell(context, true, cell->name, code, (int64_t)strlen(code), cells);
}

/* JSON text is UTF-8, and what is not was replaced in it: the cell would ask for another file. */
static szg_status check_name(szg_context *context, const char *archive, szg_json_value name) {
    const char *kept;
    SZG_TRY(szg_json_as_text(context, name, &kept));
    if (strcmp(kept, archive) == 0)
        return SZG_OK;
    return szg_fail(context, SZG_EINVAL,
                    "%.300s: a notebook, whose text is UTF-8, has to name the npz beside it: give "
                    "the file a name in UTF-8",
                    archive);
}

/* cells/load.py with the archive's name in place of the one that stands there. */
static szg_status add_load(szg_context *context, const char *archive, szg_json *cells) {
    static const char place[] = "\"export.npz\"";
    const char *prose, *code;
    int64_t length;
    char *literal = NULL, *text = NULL;
    szg_json *name;
    szg_status status;
    export_cell_split(&export_load_cell, &prose, &length, &code);
    const char *at = strstr(code, place);
    SZG_TRY(szg_json_open_object(context, &name));
    SZG_TRY_GOTO(status, szg_json_add_text(context, name, "name", archive), done);
    SZG_TRY_GOTO(status, check_name(context, archive, szg_json_member(szg_json_root(name), "name")),
                 done);
    /* A text of JSON is one of Python. */
    SZG_TRY_GOTO(status,
                 szg_json_text(context, szg_json_member(szg_json_root(name), "name"), 0, &literal),
                 done);
    int64_t size = (int64_t)(strlen(code) + strlen(literal) + 1);
    SZG_TRY_GOTO(status, szg_memory_alloc(context, size, 1, &text), done);
    snprintf(text, (size_t)size, "%.*s%s%s", (int)(at - code), code, literal, at + strlen(place));
    status = add_code(context, &export_load_cell, text, cells);
done:
    szg_memory_free(text);
    szg_memory_free(literal);
    szg_json_close(&name);
    return status;
}

static szg_status add_cells(szg_context *context, const szg_collection *collection,
                            const char *archive, szg_json *notebook) {
    szg_json *cells;
    SZG_TRY(szg_json_open_array(context, &cells));
    szg_status status;
    SZG_TRY_GOTO(status, add_texts(context, collection, archive, cells), fail);
    SZG_TRY_GOTO(status, add_load(context, archive, cells), fail);
    for (const export_cell *cell = export_plot_cells; cell->name; cell++)
        if (export_cell_is_wanted(cell, collection))
            SZG_TRY_GOTO(status, add_code(context, cell, NULL, cells), fail);
    return szg_json_add(context, notebook, "cells", &cells);
fail:
    szg_json_close(&cells);
    return status;
}

static szg_status make_notebook(szg_context *context, const szg_collection *collection,
                                const char *archive, szg_json **out) {
    static const char metadata_text[] =
        "{\"kernelspec\": {\"display_name\": \"Python 3\", \"language\": \"python\", "
        "\"name\": \"python3\"}, \"language_info\": {\"name\": \"python\"}}";
    szg_json *notebook = NULL, *metadata = NULL;
    szg_status status;
    *out = NULL;
    SZG_TRY_GOTO(status, szg_json_open_object(context, &notebook), done);
    SZG_TRY_GOTO(status, add_cells(context, collection, archive, notebook), done);
    SZG_TRY_GOTO(
        status,
        szg_json_parse(context, "metadata", metadata_text, sizeof metadata_text - 1, &metadata),
        done);
    SZG_TRY_GOTO(status, szg_json_add(context, notebook, "metadata", &metadata), done);
    SZG_TRY_GOTO(status, szg_json_add_integer(context, notebook, "nbformat", 4), done);
    SZG_TRY_GOTO(status, szg_json_add_integer(context, notebook, "nbformat_minor", 5), done);
    *out = notebook;
    notebook = NULL;
done:
    szg_json_close(&metadata);
    szg_json_close(&notebook);
    return status;
}

/* FILE.npz for FILE.ipynb. */
static szg_status archive_path(szg_context *context, const char *path, char **out) {
    size_t length = strlen(path);
    *out = NULL;
    if (length < 6 || strcmp(path + length - 6, ".ipynb") != 0)
        return szg_fail(context, SZG_EINVAL, "%s: a notebook's name ends in .ipynb", path);
    SZG_TRY(szg_memory_copy_text(context, path, out));
    memcpy(*out + length - 6, ".npz", sizeof ".npz");
    return SZG_OK;
}

szg_status szg_export_notebook(szg_context *context, const szg_collection *collection,
                               const char *path) {
    char *archive;
    szg_json *notebook = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, archive_path(context, path, &archive), done);
    const char *slash = strrchr(archive, '/');
    SZG_TRY_GOTO(status, make_notebook(context, collection, slash ? slash + 1 : archive, &notebook),
                 done);
    SZG_TRY_GOTO(status, szg_export_npz(context, collection, archive), done);
    status = szg_json_write(context, notebook, path);
done:
    szg_json_close(&notebook);
    szg_memory_free(archive);
    return status;
}
