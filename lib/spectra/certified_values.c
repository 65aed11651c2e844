/* Every eigenvalue of one array between proven bounds: R = A X - X D of computed vectors, and
 * |lambda_i - d_i| <= ||R||_2 / sqrt(1 - ||X^* X - I||_2) (Cao, Xie, Li 1996). Vectors are rows
 * here, V = X^*, so that R^* = V A - D V. */
#include "linalg/linalg.h"

#include "certified.h"
#include "certified_residual.h"

typedef struct value_work {
    szgi_parts a, v; /* the array, vectors */
    double *w;       /* n values */
    szgi_residual_work scratch;
    double *memory;
} value_work;

/* The block as an interleaved array, and its other triangle. */
static void fill_block(const szgi_block *block, double *a) {
    int64_t n = block->n, width = block->width;
    for (int64_t i = 0; i < n; i++)
        block->row(block->data, i, a + i * n * width);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double *from = a + (i * n + j) * width;
            double *to = a + (j * n + i) * width;
            to[0] = from[0];
            if (width == 2)
                to[1] = -from[1];
        }
    for (int64_t i = 0; i < n && width == 2; i++)
        a[(i * n + i) * width + 1] = 0;
}

static szg_status open_work(szg_context *context, const szgi_block *block, value_work *work) {
    enum { ARRAYS = 6 };
    int64_t n = block->n, count, memory;
    *work = (value_work){.memory = NULL};
    SZG_TRY(szgi_memory_product(context, n, n * block->width, &count));
    SZG_TRY(szgi_memory_require(context, count, ARRAYS, sizeof *work->memory,
                                "the proof of every eigenvalue", "leave --certify or --all out"));
    SZG_TRY(szgi_memory_product(context, count, ARRAYS, &memory));
    SZG_TRY(szgi_memory_alloc(context, memory + n, &work->memory));
    double *at = work->memory;
    work->a = (szgi_parts){n, n, block->width, at};
    work->v = (szgi_parts){n, n, block->width, at + count};
    work->scratch =
        (szgi_residual_work){at + 2 * count, at + 3 * count, at + 4 * count, at + 5 * count};
    work->w = at + ARRAYS * count;
    return SZG_OK;
}

/* Row i of LAPACK's answer is the i-th vector itself. */
static szg_status find_vectors(szg_context *context, const szgi_block *block, value_work *work) {
    int64_t n = block->n;
    double *a = work->scratch.product;
    fill_block(block, a);
    szgi_parts_take(a, false, &work->a);
    if (block->width == 1)
        SZG_TRY(szgi_eigen_symmetric(context, n, a, n, work->w, true));
    else
        SZG_TRY(szgi_eigen_hermitian(context, n, (szg_c64 *)a, n, work->w, true));
    szgi_parts_take(a, true, &work->v);
    return SZG_OK;
}

static szg_status distance(szg_context *context, const value_work *work, double *out) {
    double residual, defect;
    SZG_TRY(szgi_residual_bound(context, &work->v, &work->a, work->w, &work->v, &work->scratch,
                                &residual));
    SZG_TRY(szgi_defect_bound(context, &work->v, &work->scratch, &defect));
    *out = residual / sqrt(1 - defect) * (1 + 0x1p-20);
    return szgi_defect_check(context, defect, *out, "eigen");
}

szg_status szgi_block_values(szg_context *context, const szgi_block *block, double *lo,
                             double *hi) {
    value_work work;
    double radius = 0;
    szg_status status = open_work(context, block, &work);
    if (status == SZG_OK)
        status = find_vectors(context, block, &work);
    if (status == SZG_OK)
        status = distance(context, &work, &radius);
    radius = nextafter(radius + block->error, INFINITY);
    for (int64_t i = 0; status == SZG_OK && i < block->n; i++) {
        lo[i] = nextafter(work.w[i] - radius, -INFINITY);
        hi[i] = nextafter(work.w[i] + radius, INFINITY);
    }
    szgi_memory_free(work.memory);
    return status;
}
