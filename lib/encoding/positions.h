/* One vector a position, from a table: what `learned` and `random` share. */
#ifndef SZG_ENCODING_POSITIONS_H
#define SZG_ENCODING_POSITIONS_H

#include "encoding/record.h"
#include "encoding/tables.h"

#define POSITION_KEYS(deviation)                                                                   \
    {.name = "dim",                                                                                \
     .type = SZGI_KEY_INTEGER,                                                                     \
     .fallback = "64",                                                                             \
     .min = 1,                                                                                     \
     .max = 1048576,                                                                               \
     .doc = "dimension of the position vectors; a table has its own"},                             \
        TABLE_KEYS(deviation)

/* Functions of a record whose state is a number_table. */
szg_status szgi_positions_open(szg_context *context, szg_encoding *encoding);
void szgi_positions_close(void *state);
void szgi_positions_facts(const szg_encoding *encoding, int64_t head, int64_t matrix,
                          szg_kernel_facts *facts);
void szgi_positions_input(const szg_encoding *encoding, int64_t i, double *p);
void szgi_positions_table(const szg_encoding *encoding, int64_t n, szgi_encoding_table *out);
double szgi_positions_initial(const szg_encoding *encoding, int64_t n, int64_t row, int64_t column);

#endif
