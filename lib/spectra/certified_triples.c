/* Every singular value of one array: R_1 = A V - U S and R_2 = A^* U - V S of computed vectors, and
 * |sigma_i - s_i| <= max ||R|| / sqrt(1 - defect), sqrt 2 max ||R|| / (1 - defect) where A is not
 * square. Vectors are rows, conjugate: R_1^* = V^* A^* - S U^*, R_2^* = U^* A - S V^*. */
#include "linalg/linalg.h"

#include "certified.h"
#include "certified_singular.h"

static szg_status open_work(szg_context *context, const szgi_parts *a, szgi_triples *work) {
    enum { ARRAYS = 7 };
    int64_t m = a->rows, n = a->columns, count = szgi_parts_count(a), memory;
    *work = (szgi_triples){.memory = NULL};
    SZG_TRY(szgi_memory_require(context, count, ARRAYS, sizeof *work->memory,
                                "the proof of every singular value",
                                "leave --certify or --all out"));
    SZG_TRY(szgi_memory_product(context, count, ARRAYS, &memory));
    SZG_TRY(szgi_memory_alloc(context, memory + n, &work->memory));
    double *at = work->memory;
    work->u = (szgi_parts){n, m, a->width, at};
    work->v = (szgi_parts){n, n, a->width, at + count};
    work->adjoint = (szgi_parts){n, m, a->width, at + 2 * count};
    work->scratch =
        (szgi_residual_work){at + 3 * count, at + 4 * count, at + 5 * count, at + 6 * count};
    work->s = at + ARRAYS * count;
    return SZG_OK;
}

static void interleave(const szgi_parts *x, double *to) {
    int64_t count = x->rows * x->columns;
    const double *im = szgi_parts_im(x);
    for (int64_t i = 0; i < count; i++) {
        to[i * x->width] = x->re[i];
        if (x->width == 2)
            to[2 * i + 1] = im[i];
    }
}

static szg_status find_vectors(szg_context *context, const szgi_parts *a, szgi_triples *work) {
    int64_t m = a->rows, n = a->columns;
    double *copy = work->scratch.product, *u = work->scratch.correction, *vt = work->scratch.left;
    interleave(a, copy);
    if (a->width == 1)
        SZG_TRY(szgi_singular(context, m, n, copy, n, work->s, u, n, vt, n));
    else
        SZG_TRY(szgi_singular_complex(context, m, n, (szg_c64 *)copy, n, work->s, (szg_c64 *)u, n,
                                      (szg_c64 *)vt, n));
    szgi_parts_take_adjoint(u, &work->u);
    szgi_parts_take(vt, false, &work->v);
    szgi_parts_adjoint(a, &work->adjoint);
    return SZG_OK;
}

szg_status szgi_triples_distance(szg_context *context, const szgi_parts *a,
                                 const szgi_triples *work, double *out) {
    double left, right, u, v;
    SZG_TRY(szgi_residual_bound(context, &work->v, a, work->s, &work->u, &work->scratch, &left));
    SZG_TRY(szgi_residual_bound(context, &work->u, &work->adjoint, work->s, &work->v,
                                &work->scratch, &right));
    SZG_TRY(szgi_defect_bound(context, &work->u, &work->scratch, &u));
    SZG_TRY(szgi_defect_bound(context, &work->v, &work->scratch, &v));
    double residual = szgi_larger(left, right), defect = szgi_larger(u, v);
    double radius = a->rows == a->columns ? residual / sqrt(1 - defect)
                                          : 1.4142135623731 * residual / (1 - defect);
    *out = radius * (1 + 0x1p-20);
    return szgi_defect_check(context, defect, *out, "singular ");
}

static szg_status by_triples(szg_context *context, const szgi_parts *a, double *lo, double *hi) {
    szgi_triples work;
    double radius = 0;
    szg_status status = open_work(context, a, &work);
    if (status == SZG_OK)
        status = find_vectors(context, a, &work);
    if (status == SZG_OK)
        status = szgi_triples_distance(context, a, &work, &radius);
    for (int64_t i = 0; status == SZG_OK && i < a->columns; i++) {
        lo[i] = nextafter(work.s[i] - radius, -INFINITY);
        hi[i] = nextafter(work.s[i] + radius, INFINITY);
    }
    szgi_memory_free(work.memory);
    return status;
}

/* Row i of an exactly Hermitian array. */
static void parts_row(const void *data, int64_t i, double *out) {
    const szgi_parts *a = data;
    const double *im = szgi_parts_im(a);
    for (int64_t j = 0; j <= i; j++) {
        out[j * a->width] = a->re[i * a->columns + j];
        if (a->width == 2)
            out[2 * j + 1] = im[i * a->columns + j];
    }
}

void szgi_bounds_to_moduli(int64_t count, double *lo, double *hi) {
    for (int64_t i = 0; i < count; i++) {
        double below = lo[i], above = hi[i];
        lo[i] = fmax(fmax(below, -above), 0);
        hi[i] = fmax(above, -below);
    }
    szgi_sort_descending(count, lo);
    szgi_sort_descending(count, hi);
}

szg_status szgi_tall_values(szg_context *context, const szgi_tall *tall, double *lo, double *hi) {
    const szgi_parts *a = &tall->a;
    const szgi_block block = {.n = a->rows, .width = a->width, .row = parts_row, .data = a};
    if (!tall->hermitian)
        return by_triples(context, a, lo, hi);
    SZG_TRY(szgi_block_values(context, &block, lo, hi));
    szgi_bounds_to_moduli(a->rows, lo, hi);
    return SZG_OK;
}
