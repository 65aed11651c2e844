/* FILE.ipynb, nbformat 4.5: cells of text and code, in the order in which they run. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "export_private.h"

/* A cell's text is a list of its lines, as Jupyter writes it: so that versions can be compared. */
static szg_status add_lines(szg_context *context, const char *text, int64_t length,
                            szgi_json *cell) {
    szgi_json *lines;
    char *line;
    SZG_TRY(szgi_json_open_array(context, &lines));
    szg_status status;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, length + 1, &line), done);
    for (int64_t at = 0, size; at < length && status == SZG_OK; at += size) {
        const char *end = memchr(text + at, '\n', (size_t)(length - at));
        size = end ? end - (text + at) + 1 : length - at;
        memcpy(line, text + at, (size_t)size);
        line[size] = '\0';
        status = szgi_json_add_text(context, lines, NULL, line);
    }
    szgi_memory_free(line);
    if (status == SZG_OK)
        status = szgi_json_add(context, cell, "source", &lines);
done:
    szgi_json_close(&lines);
    return status;
}

static szg_status add_empty(szg_context *context, const char *key, bool array, szgi_json *json) {
    szgi_json *empty;
    SZG_TRY(array ? szgi_json_open_array(context, &empty) : szgi_json_open_object(context, &empty));
    return szgi_json_add(context, json, key, &empty);
}

static szg_status add_cell(szg_context *context, bool code, const char *id, const char *text,
                           int64_t length, szgi_json *cells) {
    szgi_json *cell;
    SZG_TRY(szgi_json_open_object(context, &cell));
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_add_text(context, cell, "cell_type", code ? "code" : "markdown"),
                 fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, cell, "id", id), fail);
    SZG_TRY_GOTO(status, add_empty(context, "metadata", false, cell), fail);
    if (code) {
        SZG_TRY_GOTO(status, szgi_json_add_null(context, cell, "execution_count"), fail);
        SZG_TRY_GOTO(status, add_empty(context, "outputs", true, cell), fail);
    }
    SZG_TRY_GOTO(status, add_lines(context, text, length, cell), fail);
    return szgi_json_add(context, cells, NULL, &cell);
fail:
    szgi_json_close(&cell);
    return status;
}

/* The two texts that are made here. */
static szg_status add_texts(szg_context *context, const szg_collection *collection,
                            const char *archive, szgi_json *cells) {
    for (int i = 0; i < 2; i++) {
        szgi_text text;
        SZG_TRY(szgi_text_open(context, &text));
        szg_status status = szgi_text_end(
            &text, i == 0 ? szgi_export_print_title(context, collection, text.stream)
                          : szgi_export_print_readme(context, collection, archive, text.stream));
        if (status == SZG_OK)
            status = add_cell(context, false, i == 0 ? "title" : "readme", text.text, text.length,
                              cells);
        szgi_text_close(&text);
        SZG_TRY(status);
    }
    return SZG_OK;
}

static szg_status add_code(szg_context *context, const export_cell *cell, const char *code,
                           szgi_json *cells) {
    const char *prose, *rest;
    int64_t length;
    char id[64];
    szgi_export_cell_split(cell, &prose, &length, &rest);
    snprintf(id, sizeof id, "%s-text", cell->name);
    SZG_TRY(add_cell(context, false, id, prose, length, cells));
    if (!code)
        code = rest;
    return add_cell(context, true, cell->name, code, (int64_t)strlen(code), cells);
}

/* JSON text is UTF-8, and what is not was replaced in it: the cell would ask for another file. */
static szg_status check_name(szg_context *context, const char *archive, szgi_json_value name) {
    const char *kept;
    SZG_TRY(szgi_json_as_text(context, name, &kept));
    if (strcmp(kept, archive) == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "%.300s: a notebook, whose text is UTF-8, has to name the npz beside it: give "
                     "the file a name in UTF-8",
                     archive);
}

/* cells/load.py with the archive's name in place of the one that stands there. */
static szg_status add_load(szg_context *context, const char *archive, szgi_json *cells) {
    static const char place[] = "\"export.npz\"";
    const char *prose, *code;
    int64_t length;
    char *literal = NULL, *text = NULL;
    szgi_json *name;
    szg_status status;
    szgi_export_cell_split(&szgi_export_load_cell, &prose, &length, &code);
    const char *at = strstr(code, place);
    SZG_TRY(szgi_json_open_object(context, &name));
    SZG_TRY_GOTO(status, szgi_json_add_text(context, name, "name", archive), done);
    SZG_TRY_GOTO(
        status, check_name(context, archive, szgi_json_member(szgi_json_root(name), "name")), done);
    /* A text of JSON is one of Python. */
    SZG_TRY_GOTO(
        status,
        szgi_json_text(context, szgi_json_member(szgi_json_root(name), "name"), 0, &literal), done);
    int64_t size = (int64_t)(strlen(code) + strlen(literal) + 1);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, size, &text), done);
    snprintf(text, (size_t)size, "%.*s%s%s", (int)(at - code), code, literal, at + strlen(place));
    status = add_code(context, &szgi_export_load_cell, text, cells);
done:
    szgi_memory_free(text);
    szgi_memory_free(literal);
    szgi_json_close(&name);
    return status;
}

static szg_status add_cells(szg_context *context, const szg_collection *collection,
                            const char *archive, szgi_json *notebook) {
    szgi_json *cells;
    SZG_TRY(szgi_json_open_array(context, &cells));
    szg_status status;
    SZG_TRY_GOTO(status, add_texts(context, collection, archive, cells), fail);
    SZG_TRY_GOTO(status, add_load(context, archive, cells), fail);
    for (const export_cell *cell = szgi_export_plot_cells; cell->name; cell++)
        if (szgi_export_cell_is_wanted(cell, collection))
            SZG_TRY_GOTO(status, add_code(context, cell, NULL, cells), fail);
    return szgi_json_add(context, notebook, "cells", &cells);
fail:
    szgi_json_close(&cells);
    return status;
}

static szg_status make_notebook(szg_context *context, const szg_collection *collection,
                                const char *archive, szgi_json **out) {
    static const char metadata_text[] =
        "{\"kernelspec\": {\"display_name\": \"Python 3\", \"language\": \"python\", "
        "\"name\": \"python3\"}, \"language_info\": {\"name\": \"python\"}}";
    szgi_json *notebook = NULL, *metadata = NULL;
    szg_status status;
    *out = NULL;
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &notebook), done);
    SZG_TRY_GOTO(status, add_cells(context, collection, archive, notebook), done);
    SZG_TRY_GOTO(
        status,
        szgi_json_parse(context, "metadata", metadata_text, sizeof metadata_text - 1, &metadata),
        done);
    SZG_TRY_GOTO(status, szgi_json_add(context, notebook, "metadata", &metadata), done);
    SZG_TRY_GOTO(status, szgi_json_add_integer(context, notebook, "nbformat", 4), done);
    SZG_TRY_GOTO(status, szgi_json_add_integer(context, notebook, "nbformat_minor", 5), done);
    *out = notebook;
    notebook = NULL;
done:
    szgi_json_close(&metadata);
    szgi_json_close(&notebook);
    return status;
}

/* FILE.npz for FILE.ipynb. */
static szg_status archive_path(szg_context *context, const char *path, char **out) {
    static const char ending[] = ".ipynb";
    *out = NULL;
    if (!szgi_path_ends(path, ending))
        return szgi_fail(context, SZG_EINVAL, "%s: a notebook's name ends in %s", path, ending);
    SZG_TRY(szgi_memory_copy_text(context, path, out));
    strcpy(*out + strlen(path) - strlen(ending), ".npz"); /* shorter: it fits */
    return SZG_OK;
}

szg_status szg_export_notebook(szg_context *context, const szg_collection *collection,
                               const char *path) {
    SZGI_ENTER(context);
    char *archive;
    szgi_json *notebook = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, archive_path(context, path, &archive), done);
    const char *slash = strrchr(archive, '/');
    SZG_TRY_GOTO(status, make_notebook(context, collection, slash ? slash + 1 : archive, &notebook),
                 done);
    SZG_TRY_GOTO(status, szg_export_npz(context, collection, archive), done);
    status = szgi_json_write(context, notebook, path);
done:
    szgi_json_close(&notebook);
    szgi_memory_free(archive);
    return status;
}
