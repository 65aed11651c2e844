/* Small matrix products for kernel files: c (+)= a b in blocks of ROWS x 2 vectors that stay in
 * registers. b is row-major, its rows padded to whole vectors; so are the rows of c. */
#ifndef SZG_NETWORK_CPU_PRODUCT_H
#define SZG_NETWORK_CPU_PRODUCT_H

#include <stdbool.h>

#include "linalg/cpu_vector.h"

/* Rows of a block: its accumulators, the two vectors of b and a spare fit the registers. */
enum { ROWS = LANES == 16 ? 8 : 4 };

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Entry (r, k) of a is a[r * row_step + k * inner_step]. */
typedef struct product_factor {
    const float *a;
    int64_t row_step, inner_step;
} product_factor;

ALWAYS_INLINE void product_block(int vectors, bool add, int64_t inner, product_factor f,
                                 const float *b, int64_t ldb, float *c, int64_t ldc) {
    vfloat sum[ROWS][2];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            sum[r][v] = add ? vector_load(c + r * ldc + v * LANES) : (vfloat){0};
    for (int64_t k = 0; k < inner; k++) {
        vfloat row[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            row[v] = vector_load(b + k * ldb + v * LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            vfloat entry = vector_splat(f.a[r * f.row_step + k * f.inner_step]);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                sum[r][v] += entry * row[v];
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            vector_store(c + r * ldc + v * LANES, sum[r][v]);
}

ALWAYS_INLINE void product_blocks(bool add, int64_t rows, int64_t columns, int64_t inner,
                                  product_factor f, const float *b, int64_t ldb, float *c,
                                  int64_t ldc) {
    int64_t column = 0;
    for (; column + 2 * LANES <= columns; column += 2 * LANES)
        for (int64_t r = 0; r < rows; r += ROWS)
            product_block(2, add, inner,
                          (product_factor){f.a + r * f.row_step, f.row_step, f.inner_step},
                          b + column, ldb, c + r * ldc + column, ldc);
    for (; column < columns; column += LANES)
        for (int64_t r = 0; r < rows; r += ROWS)
            product_block(1, add, inner,
                          (product_factor){f.a + r * f.row_step, f.row_step, f.inner_step},
                          b + column, ldb, c + r * ldc + column, ldc);
}

/* c [rows][columns] = a [rows][inner] b [inner][columns]; rows is a multiple of ROWS, columns of
 * LANES. */
static inline void product(int64_t rows, int64_t columns, int64_t inner, const float *a,
                           int64_t lda, const float *b, int64_t ldb, float *c, int64_t ldc) {
    product_blocks(false, rows, columns, inner, (product_factor){a, lda, 1}, b, ldb, c, ldc);
}

/* c [rows][columns] += transpose of a [inner][rows] times b [inner][columns]. */
static inline void product_transposed_add(int64_t rows, int64_t columns, int64_t inner,
                                          const float *a, int64_t lda, const float *b, int64_t ldb,
                                          float *c, int64_t ldc) {
    product_blocks(true, rows, columns, inner, (product_factor){a, 1, lda}, b, ldb, c, ldc);
}

#endif
