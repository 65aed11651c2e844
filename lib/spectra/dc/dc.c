#include <math.h>

#include "base/memory.h"
#include "dc.h"
#include "tree.h"
#include "verify.h"

/* Below LEAST_ORDER the halves by LAPACK are faster; LEAF is the order at which a block goes there.
 * TOLERANCE is relative to the norm: the entries carry their full relative accuracy, so that noise
 * does not fill the ranks. Two attempts: few random samples suffice for smooth kernels, and
 * higher ranks, whose work grows with their square, pay off for large orders only. */
enum { LEAST_ORDER = 1024, LEAF = 64, ATTEMPTS = 2 };
static const struct {
    int64_t least_order, samples;
} attempts[ATTEMPTS] = {{LEAST_ORDER, 24}, {8192, 64}};
static const double TOLERANCE = 3e-15;

/* Two ascending lists into one. */
static void merge(const szgi_dc_tree *tree, double *w) {
    const szgi_dc_node *even = &tree->node[0][1], *odd = &tree->node[1][1];
    int64_t i = 0, j = 0;
    while (i < even->size || j < odd->size) {
        bool first = j == odd->size || (i < even->size && even->values[i] <= odd->values[j]);
        w[i + j] = first ? even->values[i] : odd->values[j];
        if (first)
            i++;
        else
            j++;
    }
}

/* Scales back and forth by a power of two, exactly but for underflow. */
static szg_status solve_tree(szg_context *context, szgi_dc_tree *tree, const double *lags,
                             double *w, bool *confirmed) {
    const szgi_dc_halves *halves = tree->halves;
    SZG_TRY(szgi_dc_tree_split(context, tree));
    SZG_TRY(szgi_dc_tree_solve(context, tree));
    merge(tree, w);
    double *scaled = NULL;
    SZG_TRY(szgi_memory_alloc(context, halves->n, &scaled));
    for (int64_t j = 0; j < halves->n; j++)
        scaled[j] = ldexp(lags[j], -halves->exponent);
    szgi_dc_answer answer = {.n = halves->n, .lags = scaled, .norm = halves->norm, .all = w};
    answer.half[0] = tree->node[0][1].values;
    answer.half[1] = tree->node[1][1].values;
    szg_status status = szgi_dc_verify(context, &answer, confirmed);
    szgi_memory_free(scaled);
    for (int64_t j = 0; j < halves->n; j++)
        w[j] = ldexp(w[j], halves->exponent);
    return status;
}

szg_status szgi_dc_lags(szg_context *context, int64_t n, const double *lags, int64_t leaf,
                        int64_t samples, double *w, bool *applicable) {
    *applicable = false;
    szgi_dc_halves halves;
    szgi_dc_tree tree = {0};
    szg_status status = szgi_dc_halves_open(context, n, lags, &halves);
    if (status == SZG_OK)
        status = szgi_dc_tree_open(context, &halves, leaf, samples, TOLERANCE * halves.norm, &tree);
    if (status == SZG_OK && !tree.too_high)
        status = solve_tree(context, &tree, lags, w, applicable);
    szgi_dc_tree_close(&tree);
    szgi_dc_halves_close(&halves);
    return status;
}

szg_status szgi_dc_eigenvalues(szg_context *context, const szg_toeplitz *symmetric, double *w,
                               bool *applicable) {
    *applicable = false;
    if (szgi_toeplitz_kind_of(symmetric) != SZG_TOEPLITZ_SYMMETRIC)
        return szgi_fail(context, SZG_EINVAL,
                         "divide and conquer: the matrix must be real symmetric Toeplitz");
    int64_t n = szg_toeplitz_size(symmetric);
    if (n < LEAST_ORDER)
        return SZG_OK;
    double *lags = NULL;
    SZG_TRY(szgi_memory_alloc(context, n, &lags));
    for (int64_t j = 0; j < n; j++)
        lags[j] = szg_toeplitz_at(symmetric, j).re;
    szg_status status = SZG_OK;
    for (int i = 0; i < ATTEMPTS && n >= attempts[i].least_order; i++) {
        status = szgi_dc_lags(context, n, lags, LEAF, attempts[i].samples, w, applicable);
        if (*applicable || status != SZG_OK)
            break;
    }
    szgi_memory_free(lags);
    return status;
}
