#include "numbered.h"

#include <math.h>
#include <stdlib.h>

#include <szego/memory.h>

typedef struct numbered {
    double value;
    rows of;
} numbered;

static int by_value(const void *a, const void *b) {
    const numbered *p = a, *q = b;
    return (p->value > q->value) - (p->value < q->value);
}

szg_status groups_by_number(szg_context *context, rows all, const char *column, groups *out) {
    const char *const columns[] = {column, NULL};
    numbered *list;
    int64_t count = 0;
    SZG_TRY(groups_split(context, all, columns, out));
    szg_status status = szg_memory_alloc(context, out->count, sizeof *list, &list);
    if (status != SZG_OK) {
        groups_free(out);
        return status;
    }
    for (int64_t i = 0; i < out->count; i++) {
        numbered one = {rows_real(out->group[i], 0, column), out->group[i]};
        if (isfinite(one.value))
            list[count++] = one;
    }
    qsort(list, (size_t)count, sizeof *list, by_value);
    for (int64_t i = 0; i < count; i++)
        out->group[i] = list[i].of;
    out->count = count;
    szg_memory_free(list);
    return SZG_OK;
}
