/* The matrix A of a tensor as the operator A^T A: A passes by in blocks of rows, which are
 * converted and multiplied, or its Gram matrix is formed once, of the smaller side, where that
 * costs less. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "linalg/linalg.h"
#include "analyse.h"
#include "cost.h"
#include "top.h"

/* Rows are dealt to so many groups with a sum each, whatever the threads: the bits stay the same.
 */
enum { GROUPS = 8 };
/* Numbers of all these sums, 64 MiB: fewer groups where the vectors are long. */
enum { SUMS = 1 << 23 };
/* Numbers of a block of rows (4 MiB), and its least and most rows. */
enum { BLOCK = 1 << 19, LEAST_ROWS = 16, MOST_ROWS = 512 };
/* Rows of the Gram matrix that are multiplied at once: half of it is computed. */
enum { PANEL = 512 };
/* Passes with a block of vectors, at most about so many: what converges later is not resolved. */
enum { PASSES = 100 };
static const double UNIT = 0x1p-53;

typedef struct tensor_square {
    const szgi_tensor *tensor;
    int64_t rows, columns, side; /* side: the smaller one */
    int exponent;                /* numbers are multiplied by 2^-exponent */
    int64_t step;                /* rows of a block; of a wide Gram matrix columns */
    int64_t group_rows;
    double *gram; /* side x side; NULL: rows pass by */
    bool alone;   /* the pool is this matrix's: groups run side by side */
    int64_t count;
    const double *x;
    double *block; /* a worker each: `step` rows, and their products with x */
    double *sum;   /* a group each where alone: count x columns */
    double *out;
} tensor_square;

static int64_t block_step(int64_t length) {
    int64_t step = BLOCK / length;
    return step < LEAST_ROWS ? LEAST_ROWS : step < MOST_ROWS ? step : MOST_ROWS;
}

static szg_status read_part(szg_context *context, const tensor_square *self, int64_t first,
                            int64_t count, double *out) {
    SZG_TRY(szgi_tensor_read(context, self->tensor, first, count, out));
    for (int64_t i = 0; self->exponent != 0 && i < count; i++)
        out[i] = ldexp(out[i], -self->exponent);
    return SZG_OK;
}

/* ---- Rows that pass by ---- */

static void add(int64_t count, const double *x, double *sum) {
    for (int64_t i = 0; i < count; i++)
        sum[i] += x[i];
}

static szg_status pass_group(szg_context *context, void *data, int64_t group, int worker) {
    tensor_square *self = data;
    int64_t n = self->columns, count = self->count, first = group * self->group_rows;
    int64_t end = first + self->group_rows < self->rows ? first + self->group_rows : self->rows;
    double *block = self->block + (self->alone ? worker : 0) * self->step * (n + count);
    double *sum = self->sum + (self->alone ? group : 0) * count * n, *y = block + self->step * n;
    memset(sum, 0, (size_t)(count * n) * sizeof *sum);
    for (; first < end; first += self->step) {
        int64_t rows = end - first < self->step ? end - first : self->step;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(read_part(context, self, first * n, rows * n, block));
        SZG_TRY(szgi_gemm(context, 'n', 't', rows, count, n, 1, block, n, self->x, n, 0, y, count));
        SZG_TRY(szgi_gemm(context, 't', 'n', count, n, rows, 1, y, count, block, n, 1, sum, n));
    }
    if (!self->alone)
        add(count * n, sum, self->out);
    return SZG_OK;
}

static szg_status pass(szg_context *context, void *data, int64_t count, const double *x,
                       double *out) {
    tensor_square *self = data;
    int64_t groups = (self->rows - 1) / self->group_rows + 1, size = count * self->columns;
    self->count = count;
    self->x = x;
    self->out = out;
    memset(out, 0, (size_t)size * sizeof *out);
    SZG_TRY(szgi_pool_run(context, groups, pass_group, self));
    for (int64_t i = 0; self->alone && i < groups; i++)
        add(size, self->sum + i * size, out);
    return SZG_OK;
}

/* ---- The Gram matrix ---- */

static bool is_wide(const tensor_square *self) {
    return self->columns > self->rows;
}

/* Rows of the matrix, or columns where it is wide: `side` numbers in a row, or in a column. */
static szg_status read_block(szg_context *context, const tensor_square *self, int64_t first,
                             int64_t count, double *out) {
    if (!is_wide(self))
        return read_part(context, self, first * self->side, count * self->side, out);
    for (int64_t i = 0; i < self->side; i++)
        SZG_TRY(read_part(context, self, i * self->columns + first, count, out + i * count));
    return SZG_OK;
}

/* Adds a block's part of the lower triangle, in panels. */
static szg_status add_block(szg_context *context, const tensor_square *self, int64_t count) {
    int64_t side = self->side;
    bool wide = is_wide(self);
    for (int64_t i = 0; i < side; i += PANEL) {
        int64_t rows = side - i < PANEL ? side - i : PANEL, ld = wide ? count : side;
        const double *panel = self->block + (wide ? i * count : i);
        SZG_TRY(szgi_gemm(context, wide ? 'n' : 't', wide ? 't' : 'n', rows, i + rows, count, 1,
                          panel, ld, self->block, ld, 1, self->gram + i * side, side));
    }
    return SZG_OK;
}

static szg_status form_gram(szg_context *context, tensor_square *self) {
    int64_t side = self->side, large = is_wide(self) ? self->columns : self->rows;
    for (int64_t first = 0; first < large; first += self->step) {
        int64_t count = large - first < self->step ? large - first : self->step;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(read_block(context, self, first, count, self->block));
        SZG_TRY(add_block(context, self, count));
    }
    for (int64_t i = 0; i < side; i++)
        for (int64_t j = 0; j < i; j++)
            self->gram[j * side + i] = self->gram[i * side + j];
    return SZG_OK;
}

static szg_status multiply_gram(szg_context *context, void *data, int64_t count, const double *x,
                                double *out) {
    const tensor_square *self = data;
    SZG_TRY(szgi_context_check_cancel(context));
    return szgi_gemm(context, 'n', 'n', count, self->side, self->side, 1, x, self->side, self->gram,
                     self->side, 0, out, self->side);
}

/* ---- Norm and scale ---- */

enum { CHUNK = 1 << 16 };

/* The sum of squares, each chunk's apart; it is off by (CHUNK + chunks + 2) 2^-64 of itself. */
static szg_status sum_squares(szg_context *context, const szgi_tensor *tensor, long double *out) {
    double *chunk;
    szg_status status = SZG_OK;
    *out = 0;
    SZG_TRY(szgi_memory_alloc(context, CHUNK, &chunk));
    for (int64_t first = 0; first < tensor->count && status == SZG_OK; first += CHUNK) {
        int64_t count = tensor->count - first < CHUNK ? tensor->count - first : CHUNK;
        long double squares = 0;
        status = szgi_tensor_read(context, tensor, first, count, chunk);
        for (int64_t i = 0; i < count && status == SZG_OK; i++)
            squares += (long double)chunk[i] * chunk[i];
        *out += squares;
        if (status == SZG_OK)
            status = szgi_context_check_cancel(context);
    }
    szgi_memory_free(chunk);
    return status;
}

/* Rounded upwards, after the numbers were multiplied by 2^-exponent. */
static double scaled_trace(const szgi_tensor *tensor, long double squares, int exponent) {
    double off = ldexp((double)(CHUNK + tensor->count / CHUNK + 3), -64) + 4 * UNIT;
    return (double)ldexpl(squares, -2 * exponent) * (1 + off);
}

/* ---- Values ---- */

static bool takes_gram(const int64_t *shape, const szgi_top_options *options) {
    return !options->passing && szgi_cost_prefers_gram(shape[0], shape[1], options->count);
}

/* The bounds are Higham's (2002, 3.1): A x has sums of `columns` terms, A^T y of a block's rows, of
 * the blocks of a group and of the groups; so has the Gram matrix, and its products of `side`. */
static double error_of(const tensor_square *self, double trace) {
    int64_t length = self->gram && is_wide(self) ? self->columns : self->rows;
    double terms = (double)(self->gram ? self->side : self->columns) + (double)self->step +
                   (double)(length / self->step) + GROUPS + 4;
    return 1.001 * terms * UNIT * trace;
}

szgi_cost szgi_top_cost(const int64_t *shape, const szgi_top_options *options) {
    return takes_gram(shape, options) ? szgi_cost_gram(shape[0], shape[1], options->count)
                                      : szgi_cost_passing(shape[0], shape[1], options->count);
}

/* Numbers of each of the arrays. */
typedef struct array_sizes {
    int64_t gram, block, sum, groups, step;
} array_sizes;

static array_sizes sizes_of(const int64_t *shape, const szgi_top_options *options, int threads) {
    int64_t side = shape[0] < shape[1] ? shape[0] : shape[1], n = shape[1];
    array_sizes sizes = {.step = block_step(side), .groups = 1};
    if (takes_gram(shape, options)) {
        sizes.gram = side * side;
        sizes.block = sizes.step * side;
        return sizes;
    }
    int64_t width = szgi_largest_width(n, options->count), most = SUMS / (width * n);
    sizes.step = block_step(n);
    sizes.groups = most < 1 ? 1 : most < GROUPS ? most : GROUPS;
    sizes.block = threads * sizes.step * (n + width);
    sizes.sum = (threads > 1 ? sizes.groups : 1) * width * n;
    return sizes;
}

int64_t szgi_top_bytes(const int64_t *shape, const szgi_top_options *options, int threads) {
    const array_sizes sizes = sizes_of(shape, options, threads);
    int64_t n = sizes.gram > 0 && shape[0] < shape[1] ? shape[0] : shape[1];
    int64_t width = szgi_largest_width(n, options->count);
    return 8 * (sizes.gram + sizes.block + sizes.sum + 4 * width * n + width * (width + 2) + CHUNK);
}

static szg_status open_square(szg_context *context, const szgi_tensor *tensor,
                              const szgi_top_options *options, tensor_square *self) {
    int threads = szgi_pool_is_inside() ? 1 : szg_context_threads(context);
    const array_sizes sizes = sizes_of(tensor->shape, options, threads);
    self->tensor = tensor;
    self->rows = tensor->shape[0], self->columns = tensor->shape[1];
    self->side = self->rows < self->columns ? self->rows : self->columns;
    self->alone = threads > 1;
    self->step = sizes.step;
    self->group_rows = (self->rows - 1) / sizes.groups + 1;
    if (sizes.gram > 0)
        SZG_TRY(szgi_memory_alloc(context, sizes.gram, &self->gram));
    SZG_TRY(szgi_memory_alloc(context, sizes.block, &self->block));
    return sizes.sum > 0 ? szgi_memory_alloc(context, sizes.sum, &self->sum) : SZG_OK;
}

/* Values times 2^exponent, which may leave the range of doubles. */
static szg_status scale_back(szg_context *context, const tensor_square *self, szgi_top *top) {
    for (int64_t i = 0; i < top->count && self->exponent != 0; i++) {
        szgi_largest_value *value = &top->value[i];
        value->sigma = ldexp(value->sigma, self->exponent);
        value->error = ldexp(value->error, self->exponent) + 2 * DBL_TRUE_MIN;
        value->residual = ldexp(value->residual, self->exponent) + 2 * DBL_TRUE_MIN;
    }
    if (isfinite(top->frobenius) && isfinite(top->value[0].sigma + top->value[0].error))
        return SZG_OK;
    return szgi_weight_too_large(context, self->tensor, top->frobenius);
}

static szg_status compute(szg_context *context, tensor_square *self, long double squares,
                          const szgi_top_options *wanted, szgi_top *top) {
    int exponent;
    frexpl(sqrtl(squares), &exponent);
    self->exponent = abs(exponent) > 100 ? exponent : 0; /* squares of squares stay doubles */
    double trace = scaled_trace(self->tensor, squares, self->exponent);
    const szgi_block_operator square = {.n = self->gram ? self->side : self->columns,
                                        .apply = self->gram ? multiply_gram : pass,
                                        .data = self,
                                        .error = error_of(self, trace),
                                        .trace = trace};
    const szgi_largest_options options = {.count = top->count,
                                          .seed = wanted->seed,
                                          .tolerance = SZGI_TOP_TOLERANCE,
                                          .passes = PASSES};
    if (self->gram)
        SZG_TRY(form_gram(context, self));
    SZG_TRY(szgi_largest(context, &square, &options, top->value));
    return scale_back(context, self, top);
}

static szg_status take(szg_context *context, const szgi_tensor *tensor,
                       const szgi_top_options *options, szgi_top *top) {
    tensor_square square = {0};
    long double squares;
    SZG_TRY(sum_squares(context, tensor, &squares));
    top->frobenius = (double)sqrtl(squares);
    SZG_TRY(szgi_memory_alloc(context, top->count, &top->value));
    for (int64_t i = 0; i < top->count; i++)
        top->value[i].resolved = true; /* the zero matrix */
    if (squares == 0)
        return SZG_OK;
    szg_status status = open_square(context, tensor, options, &square);
    if (status == SZG_OK)
        status = compute(context, &square, squares, options, top);
    szgi_memory_free(square.gram);
    szgi_memory_free(square.block);
    szgi_memory_free(square.sum);
    return status;
}

szg_status szgi_top_compute(szg_context *context, const szgi_tensor *tensor,
                            const szgi_top_options *options, szgi_top *out) {
    int64_t side = tensor->shape[0] < tensor->shape[1] ? tensor->shape[0] : tensor->shape[1];
    szgi_top_options own = *options;
    own.count = own.count < side ? own.count : side;
    *out = (szgi_top){.count = own.count};
    out->method =
        takes_gram(tensor->shape, &own) ? SZG_METHOD_RANDOMISED_GRAM : SZG_METHOD_RANDOMISED;
    szg_status status = take(context, tensor, &own, out);
    if (status != SZG_OK)
        szgi_top_close(out);
    return status;
}

void szgi_top_close(szgi_top *top) {
    szgi_memory_free(top->value);
    *top = (szgi_top){0};
}
