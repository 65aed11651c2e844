/* What the exports share. */
#ifndef SZG_NOTEBOOKS_EXPORT_EXPORT_PRIVATE_H
#define SZG_NOTEBOOKS_EXPORT_EXPORT_PRIVATE_H

#include <stdio.h>
#include <szego/export.h>
#include "formats/json.h"

/* Adds to an object where the tables come from: `results`, a list of path, command and provenance,
 * and `unread`, the messages about results that could not be read. */
SZG_CHECK_RESULT szg_status szgi_export_add_sources(szg_context *context,
                                                    const szg_collection *collection,
                                                    szgi_json *json);

/* The text `manifest` of an archive: format, version, sources, and for each table its rows and its
 * columns with type, dtype and doc. Free it with szgi_memory_free. */
SZG_CHECK_RESULT szg_status szgi_export_manifest(szg_context *context,
                                                 const szg_collection *collection, char **out);

/* Prints a text from a file so that Markdown, the HTML in it and MathJax show it as it is, in one
 * line of at most so many characters. */
SZG_CHECK_RESULT szg_status szgi_export_markdown(szg_context *context, FILE *stream,
                                                 const char *text, int64_t characters);

/* A notebook's cells before the plots: what it shows, and how to read it. */
SZG_CHECK_RESULT szg_status szgi_export_print_title(szg_context *context,
                                                    const szg_collection *collection, FILE *stream);
SZG_CHECK_RESULT szg_status szgi_export_print_readme(szg_context *context,
                                                     const szg_collection *collection,
                                                     const char *archive, FILE *stream);

/* A cell of code, compiled in from cells/NAME.py. Its first line says which tables it needs, one
 * of them: "# needs one of: TABLE(COLUMN, ...), ..."; a docstring with its prose follows. */
typedef struct export_cell {
    const char *name, *text;
} export_cell;

/* cells/load.py, which reads the archive, and the plots in their order, name NULL at the end. */
extern const export_cell szgi_export_load_cell, szgi_export_plot_cells[];

/* Whether the collection has rows of a table that the cell needs, with every column named. */
bool szgi_export_cell_is_wanted(const export_cell *cell, const szg_collection *collection);
/* The two parts of a cell: the prose without its quotes, and the code behind it. */
void szgi_export_cell_split(const export_cell *cell, const char **prose, int64_t *length,
                            const char **code);

#endif
