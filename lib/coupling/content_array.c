#include <inttypes.h>
#include <math.h>

#include <szego/memory.h>
#include <szego/npy.h>
#include "content_private.h"

static szg_status take(szg_context *context, const szg_npy *npy, content_array *out) {
    int dims = szg_npy_dims(npy);
    int64_t count = szg_npy_count(npy);
    if ((dims != 2 && dims != 3) || count == 0 || szg_npy_is_complex(npy))
        return szg_fail(context, SZG_EDATA,
                        "holds no real array of shape [rows, dim] or [heads, rows, dim]");
    const int64_t *shape = szg_npy_shape(npy) + (dims - 2);
    *out = (content_array){
        .blocks = dims == 3 ? szg_npy_shape(npy)[0] : 0, .rows = shape[0], .columns = shape[1]};
    SZG_TRY(szg_memory_alloc(context, count, sizeof(double), &out->data));
    SZG_TRY(szg_npy_read_real(context, npy, 0, count, out->data));
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(out->data[i]))
            return szg_fail(context, SZG_EDATA,
                            "row %" PRId64 ", column %" PRId64 " is not a finite number",
                            i / out->columns, i % out->columns);
    return SZG_OK;
}

szg_status content_array_read(szg_context *context, const char *path, content_array *out) {
    *out = (content_array){0};
    szg_npy *npy;
    SZG_TRY(szg_npy_open(context, path, &npy));
    szg_status status = take(context, npy, out);
    if (status == SZG_OK)
        status = szg_npy_check(context, npy);
    szg_npy_close(&npy);
    if (status == SZG_OK)
        return SZG_OK;
    szg_memory_free(out->data);
    out->data = NULL;
    return szg_fail_prefix(context, status, "%s", path);
}

szg_status content_array_rows(szg_context *context, const content_array *array, const char *key,
                              int64_t head, int64_t n, const double **out) {
    if (array->blocks && head >= array->blocks)
        return szg_fail(context, SZG_EDOMAIN,
                        "content %s= has %" PRId64 " heads, not head %" PRId64, key, array->blocks,
                        head);
    if (n > array->rows)
        return szg_fail(context, SZG_EDOMAIN,
                        "content %s= has %" PRId64 " rows, %" PRId64 " are needed", key,
                        array->rows, n);
    *out = array->data + (array->blocks ? head * array->rows * array->columns : 0);
    return SZG_OK;
}
