/* Numbers in ascending order. */
#ifndef SZEGO_BASE_SORT_H
#define SZEGO_BASE_SORT_H

#include <stdint.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

void szgi_sort_reals(int64_t count, double *x);

SZGI_END_DECLS

#endif
