/* With [W_A; dW] = L Q, 2e x d, for queries and for keys, every matrix is Q_Q^T C Q_K, where C is a
 * product of rows of the two L: W_A = L[:e] Q and dW = L[e:] Q. Singular values, and angles between
 * spans of singular vectors, are those of the C. Householder's LQ is stable row by row, so a small
 * dW keeps its digits beside a large W_A. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "summary/summary.h"
#include "increment.h"
#include "scale.h"

const char *szgi_increment_name(szgi_increment_matrix matrix) {
    static const char *const names[] = {"base", "qk", "d2", "d3", "change"};
    return names[matrix];
}

/* ---- A worker's arrays ---- */

/* Hands out `count` numbers of the block, or only counts them where it is NULL. */
static double *take(double *block, int64_t *used, int64_t count) {
    double *out = block ? block + *used : NULL;
    *used += count;
    return out;
}

/* Singular values a matrix, and the order of its core. */
static int64_t order_of(const szgi_increment_work *work) {
    return 2 * work->e < work->d ? 2 * work->e : work->d;
}

static int64_t lay_out(double *block, szgi_increment_work *work) {
    int64_t e = work->e, d = work->d, order = order_of(work), used = 0;
    szgi_increment_side *const side[] = {&work->q, &work->k};
    for (int i = 0; i < 2; i++) {
        side[i]->a = take(block, &used, e * d);
        side[i]->b = take(block, &used, e * d); /* right behind: [W_A; dW] is one matrix */
        side[i]->factor = take(block, &used, 2 * e * order);
    }
    for (int i = 0; i < SZGI_INCREMENT_MATRICES; i++)
        work->core[i] = take(block, &used, order * order);
    double **const vectors[] = {&work->left_a, &work->right_a, &work->left_b, &work->right_b,
                                &work->copy};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = take(block, &used, order * order);
    return used;
}

szg_status szgi_increment_open(szg_context *context, int64_t e, int64_t d,
                               szgi_increment_work *work) {
    int64_t size;
    *work = (szgi_increment_work){.e = e, .d = d};
    /* The cores are of order min(2e, d) <= sqrt(2 e d), so that ten hold at most 20 e d. */
    SZG_TRY(szgi_memory_product(context, 40 * e, d, &size)); /* no overflow */
    SZG_TRY(szgi_memory_alloc(context, lay_out(NULL, work), &work->memory));
    lay_out(work->memory, work);
    return SZG_OK;
}

void szgi_increment_close(szgi_increment_work *work) {
    szgi_memory_free(work->memory);
    *work = (szgi_increment_work){0};
}

void szgi_increment_release(szgi_increment *increment) {
    szgi_memory_free(increment->value[0]);
    *increment = (szgi_increment){0};
}

/* ---- One side ---- */

static bool is_zero(int64_t count, const double *x) {
    for (int64_t i = 0; i < count; i++)
        if (!(x[i] == 0))
            return false;
    return true;
}

szg_status szgi_increment_factor(szg_context *context, const szgi_increment_work *work,
                                 szgi_increment_side *side) {
    int64_t e = work->e, d = work->d;
    side->gone = is_zero(e * d, side->b);
    for (int64_t i = 0; i < e * d; i++)
        side->b[i] -= side->a[i];
    side->same = is_zero(e * d, side->b);
    side->exponent = szgi_scale_take(2 * e * d, side->a);
    if (2 * e <= d)
        return szgi_wide_l(context, 2 * e, d, side->a, d, side->factor);
    memcpy(side->factor, side->a, (size_t)(2 * e * d) * sizeof *side->factor);
    return SZG_OK;
}

/* ---- Cores ---- */

/* out := q^T k + beta out, of e rows of both factors. */
static szg_status multiply(szg_context *context, const szgi_increment_work *work, const double *q,
                           const double *k, double beta, double *out) {
    int64_t order = order_of(work), e = work->e;
    return szgi_gemm(context, 't', 'n', order, order, e, 1, q, order, k, order, beta, out, order);
}

static szg_status form_cores(szg_context *context, szgi_increment_work *work) {
    int64_t e = work->e, order = order_of(work), count = order * order;
    const double *q = work->q.factor, *k = work->k.factor, *dq = q + e * order, *dk = k + e * order;
    double *const *core = work->core, *change = core[SZGI_INCREMENT_CHANGE];
    SZG_TRY(multiply(context, work, q, k, 0, core[SZGI_INCREMENT_BASE]));
    SZG_TRY(multiply(context, work, dq, k, 0, core[SZGI_INCREMENT_D2]));
    SZG_TRY(multiply(context, work, q, dk, 1, core[SZGI_INCREMENT_D2]));
    SZG_TRY(multiply(context, work, dq, dk, 0, core[SZGI_INCREMENT_D3]));
    for (int64_t i = 0; i < count; i++) {
        change[i] = core[SZGI_INCREMENT_D2][i] + core[SZGI_INCREMENT_D3][i];
        core[SZGI_INCREMENT_OTHER][i] = core[SZGI_INCREMENT_BASE][i] + change[i];
    }
    if (work->q.gone || work->k.gone) /* rounding left something */
        memset(core[SZGI_INCREMENT_OTHER], 0, (size_t)count * sizeof **core);
    return SZG_OK;
}

/* ---- Values ---- */

static szg_status take_norms(szg_context *context, const szgi_increment_work *work, double *value,
                             szgi_increment_norms *out) {
    const szg_spectrum spectrum = {.kind = SZG_SPECTRUM_SINGULAR,
                                   .n = work->d,
                                   .count = order_of(work),
                                   .zeros = work->d - order_of(work),
                                   .rank = -1,
                                   .re = value};
    szg_summary summary;
    SZG_TRY(szg_summary_of(context, NULL, &spectrum, &summary));
    *out = (szgi_increment_norms){.spectral = summary.sigma_max,
                                  .frobenius = summary.frobenius,
                                  .nuclear = summary.nuclear,
                                  .stable_rank = summary.stable_rank,
                                  .entropy = log(summary.effective_rank)};
    return SZG_OK;
}

/* left: vectors are columns; right: rows. Both NULL: values alone. */
static szg_status decompose(szg_context *context, szgi_increment_work *work,
                            szgi_increment_matrix matrix, double *left, double *right,
                            szgi_increment *out) {
    int64_t order = order_of(work);
    memcpy(work->copy, work->core[matrix], (size_t)(order * order) * sizeof *work->copy);
    SZG_TRY(szgi_singular(context, order, order, work->copy, order, out->value[matrix], left, order,
                          right, order));
    return take_norms(context, work, out->value[matrix], &out->norms[matrix]);
}

static void copy_base(const szgi_increment_work *work, szgi_increment *out) {
    memcpy(out->value[SZGI_INCREMENT_OTHER], out->value[SZGI_INCREMENT_BASE],
           (size_t)order_of(work) * sizeof(double));
    out->norms[SZGI_INCREMENT_OTHER] = out->norms[SZGI_INCREMENT_BASE];
}

/* ---- Angles ---- */

/* Vectors 0 .. top - 1 as the columns of an order x top array; `row`: they are rows. */
static void take_basis(int64_t order, int64_t top, bool row, const double *vectors, double *out) {
    for (int64_t i = 0; i < order; i++)
        for (int64_t j = 0; j < top; j++)
            out[i * top + j] = vectors[row ? j * order + i : i * order + j];
}

/* The largest principal angle between the spans of orthonormal columns: its cosine is the least
 * singular value of X^T Y, its sine the largest of Y - X X^T Y (Bjorck, Golub 1973, 3.2). Small
 * angles come from the sine, those near a right angle from the cosine. */
static szg_status largest_angle(szg_context *context, int64_t order, int64_t top, const double *x,
                                double *y, double *scratch, double *out) {
    double *cosines = scratch, *values = scratch + top * top;
    SZG_TRY(szgi_gemm(context, 't', 'n', top, top, order, 1, x, top, y, top, 0, cosines, top));
    SZG_TRY(szgi_gemm(context, 'n', 'n', order, top, top, -1, x, top, cosines, top, 1, y, top));
    SZG_TRY(szgi_singular(context, top, top, cosines, top, values, NULL, 1, NULL, 1));
    double cosine = values[top - 1];
    SZG_TRY(szgi_singular(context, order, top, y, top, values, NULL, 1, NULL, 1));
    *out = atan2(values[0], cosine);
    return SZG_OK;
}

static szg_status span_angle(szg_context *context, const szgi_increment_work *work, int64_t top,
                             bool row, double *out) {
    int64_t order = order_of(work);
    double *x;
    SZG_TRY(szgi_memory_alloc(context, 2 * order * top + top * (top + 1), &x));
    double *y = x + order * top;
    take_basis(order, top, row, row ? work->right_a : work->left_a, x);
    take_basis(order, top, row, row ? work->right_b : work->left_b, y);
    szg_status status = largest_angle(context, order, top, x, y, y + order * top, out);
    szgi_memory_free(x);
    return status;
}

/* (sigma_top - sigma_(top + 1)) / sigma_1; 0 of the zero matrix. */
static double gap_of(int64_t order, int64_t top, const double *value) {
    return value[0] > 0 ? (value[top - 1] - (top < order ? value[top] : 0)) / value[0] : 0;
}

static szg_status span_angles(szg_context *context, const szgi_increment_work *work,
                              const szgi_increment *increment, szgi_increment_angles *out) {
    int64_t order = order_of(work);
    double gap_a = gap_of(order, out->top, increment->value[SZGI_INCREMENT_BASE]);
    double gap_b = gap_of(order, out->top, increment->value[SZGI_INCREMENT_OTHER]);
    out->gap = fmin(gap_a, gap_b);
    out->left = out->right = increment->same ? 0 : NAN;
    /* Singular values are off by some order eps sigma_1: a smaller gap is none. */
    if (!(out->gap > (double)order * DBL_EPSILON)) {
        out->left = out->right = NAN;
        return SZG_OK;
    }
    if (increment->same)
        return SZG_OK;
    SZG_TRY(span_angle(context, work, out->top, false, &out->left));
    return span_angle(context, work, out->top, true, &out->right);
}

/* ---- All of it ---- */

/* Everything times 2^exponent. Norms are at most the number of values times the largest one. */
static szg_status scale_back(szg_context *context, int64_t order, int exponent,
                             szgi_increment *out) {
    for (int matrix = 0; exponent != 0 && matrix < SZGI_INCREMENT_MATRICES; matrix++) {
        szgi_increment_norms *norms = &out->norms[matrix];
        double *const norm[] = {&norms->spectral, &norms->frobenius, &norms->nuclear};
        for (size_t i = 0; i < sizeof norm / sizeof *norm; i++) {
            double scaled = ldexp(*norm[i], exponent);
            if (*norm[i] != 0 && !isnormal(scaled))
                return szgi_fail(context, SZG_EDATA,
                                 "a norm of %s is outside the range of doubles: %s the weights of "
                                 "both checkpoints by a power of two",
                                 szgi_increment_name(matrix), exponent > 0 ? "divide" : "multiply");
            *norm[i] = scaled;
        }
        for (int64_t i = 0; i < order; i++)
            out->value[matrix][i] = ldexp(out->value[matrix][i], exponent);
    }
    return SZG_OK;
}

static szg_status open_values(szg_context *context, const szgi_increment_work *work, int64_t top,
                              szgi_increment *out) {
    int64_t order = order_of(work), rank = work->e < work->d ? work->e : work->d;
    out->values = order;
    out->same = work->q.same && work->k.same;
    out->angles[0].top = 1;
    out->angles[1].top = top < rank ? top : rank;
    SZG_TRY(szgi_memory_alloc(context, SZGI_INCREMENT_MATRICES * order, &out->value[0]));
    for (int i = 1; i < SZGI_INCREMENT_MATRICES; i++)
        out->value[i] = out->value[0] + i * order;
    return SZG_OK;
}

szg_status szgi_increment_compute(szg_context *context, szgi_increment_work *work, int64_t top,
                                  szgi_increment *out) {
    *out = (szgi_increment){0};
    SZG_TRY(open_values(context, work, top, out));
    SZG_TRY(form_cores(context, work));
    SZG_TRY(decompose(context, work, SZGI_INCREMENT_BASE, work->left_a, work->right_a, out));
    if (out->same)
        copy_base(work, out);
    else
        SZG_TRY(decompose(context, work, SZGI_INCREMENT_OTHER, work->left_b, work->right_b, out));
    for (int matrix = SZGI_INCREMENT_D2; matrix < SZGI_INCREMENT_MATRICES; matrix++)
        SZG_TRY(decompose(context, work, matrix, NULL, NULL, out));
    for (int i = 0; i < SZGI_INCREMENT_SPANS; i++)
        SZG_TRY(span_angles(context, work, out, &out->angles[i]));
    return scale_back(context, order_of(work), work->q.exponent + work->k.exponent, out);
}
