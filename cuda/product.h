/* Products of matrices on cuBLASLt, whose choices are kept by shape. */
#ifndef SZG_CUDA_PRODUCT_H
#define SZG_CUDA_PRODUCT_H

#include "session.h"

/* c (+)= op(a) op(b) + bias, by columns as in BLAS: op(a) m x k, op(b) k x n, c m x n. A row-major
 * matrix is its transpose by columns. */
typedef struct product {
    bool transpose_a, transpose_b;
    int64_t m, n, k;
    const float *a;
    int64_t lda;
    const float *b;
    int64_t ldb;
    float *c;
    int64_t ldc;
    bool add;          /* to c, instead of writing it */
    const float *bias; /* [m], added to every column; NULL: none */
    bool relu;         /* wanted where there is a bias, unless it would lose NaN */
} product;

/* What was done of it: cuBLASLt may have no algorithm with a bias for arrays that are aligned
 * badly. The rest is left to the caller. */
typedef struct product_done {
    bool bias, relu;
    const struct product_plan *plan; /* until the next product */
} product_done;

szg_status product_run(szg_context *context, session *self, const product *product,
                       product_done *done);

/* Notes for szgi_network_products what product_run did, and which passes (SZGI_EPILOGUE_BIAS, ...)
 * its caller makes of their own. */
szg_status product_note(szg_context *context, session *self, const product_done *done,
                        uint32_t separate);
/* Forgets plans and facts. `timed`: times the algorithms of products, except those of `kept`, which
 * product_facts tells from now on. */
szg_status product_begin(szg_context *context, session *self, bool timed, int64_t count,
                         const szgi_product_fact *kept);
void product_facts(const session *self, int64_t room, szgi_product_fact *out, int64_t *count);

#endif
