/* What singular values of whole weights cost, in operations and bytes, and the seconds that follow
 * from a short measurement. */
#ifndef SZG_CHECKPOINT_COST_H
#define SZG_CHECKPOINT_COST_H

#include "base/context.h"

typedef struct szgi_cost {
    double square; /* operations of products of square blocks */
    double thin;   /* of products of a block with a few vectors */
    double bytes;  /* that pass through memory */
} szgi_cost;

/* Operations and bytes a second, on one thread. */
typedef szgi_cost szgi_rates;

/* All singular values of a matrix, as szgi_weight_singular computes them. */
szgi_cost szgi_cost_all(int64_t rows, int64_t columns);
/* The largest `count` of them, through a Gram matrix or from rows that pass by. */
szgi_cost szgi_cost_gram(int64_t rows, int64_t columns, int64_t count);
szgi_cost szgi_cost_passing(int64_t rows, int64_t columns, int64_t count);
/* Does the Gram matrix cost less, at the rates of a usual core? It takes up to 128 MiB. */
bool szgi_cost_prefers_gram(int64_t rows, int64_t columns, int64_t count);

void szgi_cost_add(szgi_cost *sum, szgi_cost more);
double szgi_cost_seconds(szgi_cost cost, const szgi_rates *rates);

/* Takes a twentieth of a second, and 8 MiB. */
SZG_CHECK_RESULT szg_status szgi_rates_measure(szg_context *context, szgi_rates *out);

/* "12 seconds", "3.5 minutes", "2.1 hours", in `text`, which it returns. */
const char *szgi_duration_text(double seconds, char *text, size_t size);

#endif
