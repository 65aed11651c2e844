/* How the tables of a result look to a person: which columns come first if the line is short, and
 * under which heading. What a table shows by default is a list of records; the printer knows no
 * table by name. */
#ifndef SZEGO_FORMATS_DISPLAY_H
#define SZEGO_FORMATS_DISPLAY_H

#include "formats/result.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef enum szgi_display_kind {
    SZGI_DISPLAY_CELL,  /* the column `name` */
    SZGI_DISPLAY_WORD,  /* the same, coloured by the word in it */
    SZGI_DISPLAY_PROSE, /* the same, continued on further lines if it is longer than its place */
    SZGI_DISPLAY_RANGE  /* "[lo, hi]" of the columns `lower` and `upper`, rounded outwards */
} szgi_display_kind;

enum {
    SZGI_DISPLAY_FIRST = 1, /* priority of columns for which others give way */
    SZGI_DISPLAY_ASKED = 9  /* of columns that are shown only if they are asked for */
};

/* A column of a table on a screen. Columns are shown in the order of the list. A table whose column
 * `note` is in the list is one of notes: it is printed where notes are asked for, and it has some.
 */
typedef struct szgi_display_column {
    const char *table, *name;
    szgi_display_kind kind;
    int priority;              /* 1 fits first; of equal ones the earlier */
    const char *heading;       /* ASCII */
    const char *symbols;       /* the heading in Unicode; NULL: the same */
    const char *lower, *upper; /* of a range */
    const char *where, *is; /* shown in rows whose column `where` says `is` alone; NULL: in all */
    const char *empty;      /* what an empty cell stands for, "all" say; NULL: it stays empty */
} szgi_display_column;

typedef struct szgi_display_colour {
    const char *word, *code; /* code: of the escape sequence ESC [ code m (ECMA-48, SGR) */
} szgi_display_colour;

typedef struct szgi_display {
    const szgi_display_column *list; /* a table that it does not name shows its own columns */
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
