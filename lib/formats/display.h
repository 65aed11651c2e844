/* How the tables of a result look to a person: their schemas say which columns come first if the
 * line is short, and under which heading. The printer knows no table by name. */
#ifndef SZEGO_FORMATS_DISPLAY_H
#define SZEGO_FORMATS_DISPLAY_H

#include "formats/result.h"
#include "base/decls.h"
#include "base/schema.h"

SZGI_BEGIN_DECLS

typedef struct szgi_display_colour {
    const char *word, *code; /* code: of the escape sequence ESC [ code m (ECMA-48, SGR) */
} szgi_display_colour;

typedef struct szgi_display {
    const szgi_schema *const *schemas; /* a table that has none shows its columns in their order */
    int64_t count;
    const szgi_display_colour *colours; /* ends with a NULL word; NULL: none */
    int width;           /* columns of a line; 0: lines are as long as they need to be */
    int64_t rows;        /* most rows of a table; 0: all. The rest is counted in a last line */
    bool wide;           /* every column that has a value; rows longer than `width` upright */
    const char *columns; /* "a,b": these, in this order, whatever the width; NULL: by priority */
    bool notes;          /* print the notes; else they are counted */
    bool unicode;        /* symbols beyond ASCII are understood */
    bool options;        /* name the program's options where something is left out */
} szgi_display;

/* Prints every table: aligned by the width of characters on a terminal, at most six digits, control
 * characters of hostile names made visible. SZG_EINVAL: `columns` names none that a table has; the
 * message lists them, and the tables were printed by priority. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_result_show(szg_context *context, const szg_result *result,
                                             const szgi_display *display, FILE *stream);

SZGI_END_DECLS

#endif
