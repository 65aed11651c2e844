/* Singular values of one tensor without a copy of it beside the one that LAPACK works on. */
#include <math.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "analyse.h"

/* A tensor is long when one side is at least 6 times the other: then blocks of 4 times the short
 * side go through QR one after the other, and only the triangle stays. */
enum { LONG = 6, BLOCK = 4 };

typedef struct matrix_shape {
    int64_t rows, columns; /* as stored */
    int64_t small, large;
    bool wide, reduced;
} matrix_shape;

static matrix_shape shape_of(const szgi_tensor *tensor) {
    matrix_shape shape = {.rows = tensor->shape[0], .columns = tensor->shape[1]};
    shape.wide = shape.columns > shape.rows;
    shape.small = shape.wide ? shape.rows : shape.columns;
    shape.large = shape.wide ? shape.columns : shape.rows;
    shape.reduced = shape.large / LONG >= shape.small;
    return shape;
}

int64_t szgi_weight_bytes(const szgi_tensor *tensor) {
    matrix_shape shape = shape_of(tensor);
    int64_t bytes;
    int64_t rows = shape.reduced ? (BLOCK + 1) * shape.small : shape.rows;
    int64_t columns = shape.reduced ? shape.small : shape.columns;
    if (__builtin_mul_overflow(rows, columns, &bytes) || __builtin_mul_overflow(bytes, 8, &bytes))
        return INT64_MAX;
    return bytes;
}

/* Rows first .. first + count - 1 of the matrix, stood upright so that it is long: of a wide tensor
 * the columns. Adds their squares to *squares. */
static szg_status read_block(szg_context *context, const szgi_tensor *tensor,
                             const matrix_shape *shape, int64_t first, int64_t count, double *out,
                             long double *squares) {
    int64_t small = shape->small;
    if (!shape->wide) {
        SZG_TRY(szgi_tensor_read(context, tensor, first * small, count * small, out));
    } else {
        double *line;
        SZG_TRY(szgi_memory_alloc(context, count, &line));
        szg_status status = SZG_OK;
        for (int64_t i = 0; i < small && status == SZG_OK; i++) {
            status = szgi_tensor_read(context, tensor, i * shape->columns + first, count, line);
            for (int64_t j = 0; j < count && status == SZG_OK; j++)
                out[j * small + i] = line[j];
        }
        szgi_memory_free(line);
        SZG_TRY(status);
    }
    for (int64_t i = 0; i < count * small; i++)
        *squares += (long double)out[i] * out[i];
    return SZG_OK;
}

/* R of the long matrix in the first `small` rows of work, (BLOCK + 1) small x small. */
static szg_status reduce(szg_context *context, const szgi_tensor *tensor, const matrix_shape *shape,
                         double *work, long double *squares) {
    int64_t small = shape->small, block = BLOCK * small;
    for (int64_t first = 0; first < shape->large; first += block) {
        int64_t count = shape->large - first < block ? shape->large - first : block;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(read_block(context, tensor, shape, first, count, work + small * small, squares));
        SZG_TRY(szgi_qr_r(context, small + count, small, work, small));
    }
    return SZG_OK;
}

static void finish(const matrix_shape *shape, long double squares, szg_spectrum *out) {
    long double sum = 0;
    for (int64_t i = 0; i < shape->small; i++)
        sum += (long double)out->re[i] * out->re[i];
    out->n = out->count = shape->small;
    out->rank = -1;
    out->kind = SZG_SPECTRUM_SINGULAR;
    out->trace = NAN;
    out->frobenius = (double)sqrtl(squares);
    out->residual = squares > 0 ? (double)(fabsl(sum - squares) / squares) : (double)sum;
    out->residual_meaning = "defect of the sum of squared singular values, relative to the squared "
                            "Frobenius norm computed from the tensor";
    out->method = shape->reduced ? SZG_METHOD_TALL_QR : SZG_METHOD_LAPACK;
}

static szg_status compute(szg_context *context, const szgi_tensor *tensor,
                          const matrix_shape *shape, double *work, szg_spectrum *out) {
    long double squares = 0;
    int64_t small = shape->small, rows = shape->rows, columns = shape->columns;
    if (shape->reduced) {
        SZG_TRY(reduce(context, tensor, shape, work, &squares));
        rows = columns = small;
    } else {
        SZG_TRY(szgi_tensor_read(context, tensor, 0, tensor->count, work));
        for (int64_t i = 0; i < tensor->count; i++)
            squares += (long double)work[i] * work[i];
    }
    SZG_TRY(szgi_memory_alloc(context, small, &out->re));
    SZG_TRY(szgi_singular(context, rows, columns, work, columns, out->re, NULL, 1, NULL, 1));
    finish(shape, squares, out);
    if (!isfinite(out->re[0]) || !isfinite(out->residual))
        return szgi_weight_too_large(context, tensor, sqrtl(squares));
    return SZG_OK;
}

szg_status szgi_weight_too_large(szg_context *context, const szgi_tensor *tensor,
                                 long double frobenius) {
    return szgi_fail(context, SZG_EDATA,
                     "tensor %s: its weights are so large (Frobenius norm %Lg) that singular "
                     "values exceed a double: divide them by a power of two",
                     tensor->name, frobenius);
}

szg_status szgi_weight_singular(szg_context *context, const szgi_tensor *tensor,
                                szg_spectrum *out) {
    *out = (szg_spectrum){.count = 0};
    matrix_shape shape = shape_of(tensor);
    double *work;
    SZG_TRY(szgi_memory_alloc(context, szgi_weight_bytes(tensor) / 8, &work));
    szg_status status = compute(context, tensor, &shape, work, out);
    szgi_memory_free(work);
    if (status != SZG_OK)
        szg_spectrum_close(out);
    return status;
}
