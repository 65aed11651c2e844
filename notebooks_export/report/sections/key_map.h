/* Heat maps over two columns of whole numbers: layer by head, layer by pair. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_KEY_MAP_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_KEY_MAP_H

#include "section.h"

typedef struct key_map {
    int64_t rows, columns, beyond;   /* beyond: rows of the table that fall outside of the map */
    double *row_key, *column_key;    /* ascending, different */
    double *value;                   /* [rows, columns]: means; NaN: none */
    int64_t *count;                  /* [rows, columns]: numbers in the mean */
    int64_t filled, least, greatest; /* cells with a number, and where the ends are */
    double mean;                     /* of the filled cells */
} key_map;

/* The numbers of `value` by the columns `row` and `column`, of which the 256 least keys are taken.
 * SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_key_map_of(szg_context *context, rows from, const char *row,
                                            const char *column, const char *value, key_map *out);
void szgi_key_map_free(key_map *map);

typedef struct key_map_look {
    const char *row, *column; /* "layer", "head" */
    const char *what;         /* of the value: "largest singular value" */
    const char *says;         /* begins the caption, which goes on with mean and ends */
    double lo, hi;            /* ends of the colours; equal: from the values */
    bool logarithmic;         /* colours by the logarithm where all values are positive */
} key_map_look;

/* Puts the map on the page, where it has a number. */
SZG_CHECK_RESULT szg_status szgi_key_map_draw(page *page, const key_map *map,
                                              const key_map_look *look, rows source);

#endif
