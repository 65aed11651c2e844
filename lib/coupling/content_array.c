#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "formats/npy.h"
#include "content_private.h"

static szg_status check_finite(szg_context *context, const content_array *array, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(array->data[i]))
            return szgi_fail(context, SZG_EDATA,
                             "row %" PRId64 ", column %" PRId64 " is not a finite number",
                             i / array->columns, i % array->columns);
    return SZG_OK;
}

static szg_status take(szg_context *context, const szgi_npy *npy, content_array *out) {
    int dims = szgi_npy_dims(npy);
    int64_t count = szgi_npy_count(npy);
    if ((dims != 2 && dims != 3) || count == 0 || szgi_npy_is_complex(npy))
        return szgi_fail(context, SZG_EDATA,
                         "holds no real array of shape [rows, dim] or [heads, rows, dim]");
    const int64_t *shape = szgi_npy_shape(npy) + (dims - 2);
    *out = (content_array){
        .blocks = dims == 3 ? szgi_npy_shape(npy)[0] : 0, .rows = shape[0], .columns = shape[1]};
    SZG_TRY(szgi_memory_alloc(context, count, &out->data));
    SZG_TRY(szgi_npy_read_real(context, npy, 0, count, out->data));
    return check_finite(context, out, count);
}

szg_status szgi_content_array_read(szg_context *context, const char *path, content_array *out) {
    *out = (content_array){0};
    szgi_npy *npy;
    SZG_TRY(szgi_npy_open(context, path, &npy));
    szg_status status = take(context, npy, out);
    if (status == SZG_OK)
        status = szgi_npy_check(context, npy);
    szgi_npy_close(&npy);
    if (status == SZG_OK)
        return SZG_OK;
    szgi_memory_free(out->data);
    out->data = NULL;
    return szgi_fail_prefix(context, status, "%s", path);
}

static szg_status copy_rows(szg_context *context, const double *x, int64_t ldx,
                            content_array *out) {
    int64_t count;
    if (out->rows < 1 || out->columns < 1)
        return szgi_fail(context, SZG_EINVAL,
                         "%" PRId64 " rows of dimension %" PRId64 ": at least 1 of each is needed",
                         out->rows, out->columns);
    if (ldx < out->columns)
        return szgi_fail(context, SZG_EINVAL,
                         "leading dimension %" PRId64 " is less than the dimension %" PRId64, ldx,
                         out->columns);
    SZG_TRY(szgi_memory_product(context, out->rows, out->columns, &count));
    SZG_TRY(szgi_memory_alloc(context, count, &out->data));
    for (int64_t i = 0; i < out->rows; i++)
        memcpy(out->data + i * out->columns, x + i * ldx, (size_t)out->columns * sizeof *out->data);
    return check_finite(context, out, count);
}

szg_status szgi_content_array_copy(szg_context *context, const char *name, int64_t n, int64_t d,
                                   const double *x, int64_t ldx, content_array *out) {
    *out = (content_array){.rows = n, .columns = d};
    szg_status status = copy_rows(context, x, ldx, out);
    if (status == SZG_OK)
        return SZG_OK;
    szgi_memory_free(out->data);
    out->data = NULL;
    return szgi_fail_prefix(context, status, "%s", name);
}

szg_status szgi_content_array_rows(szg_context *context, const content_array *array,
                                   const char *key, int64_t head, int64_t n, const double **out) {
    if (array->blocks && head >= array->blocks)
        return szgi_fail(context, SZG_EDOMAIN,
                         "content %s= has %" PRId64 " heads, not head %" PRId64, key, array->blocks,
                         head);
    if (n > array->rows)
        return szgi_fail(context, SZG_EDOMAIN,
                         "content %s= has %" PRId64 " rows, %" PRId64 " are needed", key,
                         array->rows, n);
    *out = array->data + (array->blocks ? head * array->rows * array->columns : 0);
    return SZG_OK;
}
