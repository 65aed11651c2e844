/* Tables of learned and random numbers. */
#ifndef SZG_ENCODING_TABLES_H
#define SZG_ENCODING_TABLES_H

#include "encoding/encoding.h"

#define TABLE_KEYS(deviation_default)                                                              \
    {.name = "table", .type = SZGI_KEY_TEXT, .doc = "trained numbers, a .npy file"},               \
        {.name = "seed",                                                                           \
         .type = SZGI_KEY_INTEGER,                                                                 \
         .min = 0,                                                                                 \
         .max = 9007199254740992,                                                                  \
         .doc = "seed of normal numbers, if there is no table"},                                   \
    {                                                                                              \
        .name = "std", .type = SZGI_KEY_REAL, .fallback = deviation_default, .min = 0, .max = 1e6, \
        .doc = "standard deviation of the drawn numbers"                                           \
    }

typedef struct number_table {
    bool seeded; /* drawn, not read */
    uint64_t seed;
    double deviation; /* of the drawn numbers */
    double *value;    /* [rows][columns] of a file */
    int64_t rows, columns;
} number_table;

/* Exactly one of table= and seed= must be given; sets up the draw. */
SZG_CHECK_RESULT szg_status szgi_table_source(szg_context *context, const szgi_spec *spec,
                                              number_table *out);

/* The same, and reads the file: a 2-D array; `shape` says for messages what it should hold. Close
 * it also after a failure. */
SZG_CHECK_RESULT szg_status szgi_table_open(szg_context *context, const szgi_spec *spec,
                                            const char *shape, number_table *out);
void szgi_table_close(number_table *table);

/* Entry (row, column) of the file, or draw number `row` of stream `column`. */
double szgi_table_entry(const number_table *table, int64_t row, int64_t column);

#endif
