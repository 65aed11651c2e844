/* One table on its way to a screen: display_fit.c chooses its columns, display.c prints them. */
#ifndef SZG_FORMATS_DISPLAY_PRIVATE_H
#define SZG_FORMATS_DISPLAY_PRIVATE_H

#include "formats/display.h"

enum {
    DISPLAY_CELL = 4096,  /* bytes of a cell as shown */
    DISPLAY_PROSE = 1024, /* of its source: a character of ASCII may become three bytes */
    DISPLAY_GAP = 2,      /* blanks before a column */
    DISPLAY_DIGITS = 6,   /* of a number, at most */
    DISPLAY_LEAST = 4     /* of a number, where more do not fit */
};

/* What is left out of a text that is too long for its column. */
typedef enum display_cut {
    DISPLAY_CUT_END,    /* its end */
    DISPLAY_CUT_COMMON, /* the end of what it has in common with the others */
    DISPLAY_CUT_MIDDLE, /* its middle */
    DISPLAY_CUTS
} display_cut;

/* A column that may be shown. */
typedef struct display_column {
    szgi_cell_kind kind;
    int priority;
    const char *heading;
    int64_t at[2];
    int64_t where;     /* of the column that says whether a row has it; -1: all have it */
    const char *is;    /* the table's column; of a range both ends */
    const char *empty; /* what an empty cell stands for; NULL: it stays empty */
    int natural;       /* the widest cell, or the heading, as far as it may be wide */
    int longest;       /* the widest cell */
    size_t common;     /* bytes that too long texts have in common */
    display_cut cut;
    int width;  /* as shown */
    bool right; /* numbers */
    bool taken;
} display_column;

typedef struct display_sheet {
    const szgi_display *how;
    const szg_table *table;
    int64_t rows;  /* shown */
    int64_t note;  /* index of the column `note`; -1: none */
    int64_t count; /* of `column` */
    int64_t left;  /* columns with a value that no chosen one shows */
    display_column *column;
    int digits;
    int margin;   /* taken by the rows' numbers */
    bool upright; /* a line a cell: a row is longer than the line */
} display_sheet;

/* Has the row something to show there? */
bool szgi_display_has_cell(const display_sheet *s, const display_column *column, int64_t row);

void szgi_display_cell(const display_sheet *s, const display_column *column, int64_t row,
                       char out[DISPLAY_CELL]);

/* Writes prose with its formulas in signs, where these are understood. */
void szgi_display_prose(const szgi_display *how, const char *text, FILE *stream);

/* Lists the columns that may be shown. */
SZG_CHECK_RESULT szg_status szgi_display_choose(szg_context *context, display_sheet *s);

/* Is this a table of notes? Its column `note` is described as one that is shown. */
bool szgi_display_is_of_notes(const szgi_display *how, const szg_table *table);

/* Shortens a text to its column. Numbers always have the width that they need. */
void szgi_display_shorten(const display_sheet *s, const display_column *column, display_cut how,
                          char text[DISPLAY_CELL]);

/* Chooses for each column the cut that leaves the fewest different texts alike. */
SZG_CHECK_RESULT szg_status szgi_display_choose_cuts(szg_context *context, display_sheet *s);

/* Takes those that fit and gives them their widths. */
void szgi_display_fit(display_sheet *s);

/* Whether the names of `columns` are known: SZG_EINVAL lists those that are. */
SZG_CHECK_RESULT szg_status szgi_display_check(szg_context *context, const szg_result *result,
                                               const szgi_display *how);

/* Whether some name of `columns` is one of this table. */
bool szgi_display_concerns(const szgi_display *how, const szg_table *table);

#endif
