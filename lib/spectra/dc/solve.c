#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "kernels.h"
#include "tree.h"
#include "update.h"

/* ---- Down: C = diag(C_l - X X^T, C_r - Y Y^T) + [X; Y][X; Y]^T where C(l, r) = X Y^T ---- */

/* out (m x n) += sign a b c^T for small row-major matrices: a m x p with row step lda, b p x q,
 * c n x q with row step ldc; p, q <= SZGI_DC_MOST_RANK. */
static void add_product(double sign, int64_t m, int64_t n, int64_t p, int64_t q, const double *a,
                        int64_t lda, const double *b, const double *c, int64_t ldc, double *out) {
    double line[SZGI_DC_MOST_RANK];
    for (int64_t i = 0; i < m; i++) {
        memset(line, 0, sizeof line);
        for (int64_t k = 0; k < p; k++)
            for (int64_t l = 0; l < q; l++)
                line[l] += a[i * lda + k] * b[k * q + l];
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < q; l++)
                sum += line[l] * c[j * ldc + l];
            out[i * n + j] += sign * sum;
        }
    }
}

/* The coupling U S V^T becomes the terms sqrt(S) [U; V], the largest first; what is below the
 * tolerance is dropped. */
static void take_terms(szgi_dc_node *node, int64_t left, int64_t right, double tolerance,
                       const double *u, const double *s, const double *vt) {
    int64_t least = left < right ? left : right;
    while (node->updates < least && s[node->updates] > tolerance)
        node->updates++;
    node->dropped += node->updates < least ? s[node->updates] : 0;
    for (int64_t c = 0; c < node->updates; c++) {
        double root = sqrt(s[c]);
        for (int64_t a = 0; a < left; a++)
            node->update[a * node->updates + c] = root * u[a * least + c];
        for (int64_t b = 0; b < right; b++)
            node->update[(left + b) * node->updates + c] = root * vt[c * right + b];
    }
}

static szg_status split_coupling(szg_context *context, const szgi_dc_tree *tree, szgi_dc_node *node,
                                 int64_t left, int64_t right) {
    int64_t least = left < right ? left : right;
    if (least == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, (left + right) * least, &node->update));
    double *u = NULL;
    SZG_TRY(szgi_memory_alloc(context, (left + right + 1) * least, &u));
    double *vt = u + left * least, *s = vt + right * least;
    szg_status status =
        szgi_singular(context, left, right, node->coupling, right, s, u, least, vt, right);
    if (status == SZG_OK)
        take_terms(node, left, right, tree->tolerance, u, s, vt);
    szgi_memory_free(u);
    return status;
}

/* removed of a child: what the ancestors took, and this node's own terms. */
static void remove_from(const szgi_dc_node *node, szgi_dc_node *child, int64_t row) {
    int64_t r = child->rank;
    const double *transfer = node->transfer + row * node->rank;
    const double *update = node->update + row * node->updates;
    add_product(1, r, r, node->rank, node->rank, transfer, node->rank, node->removed, transfer,
                node->rank, child->removed);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++)
            for (int64_t c = 0; c < node->updates; c++)
                child->removed[i * r + j] +=
                    update[i * node->updates + c] * update[j * node->updates + c];
}

static szg_status split_node(szg_context *context, szgi_dc_tree *tree, int half, int64_t index) {
    szgi_dc_node *node = &tree->node[half][index];
    szgi_dc_node *left = tree->node[half] + 2 * index, *right = left + 1;
    const double *lower = node->transfer + left->rank * node->rank;
    add_product(-1, left->rank, right->rank, node->rank, node->rank, node->transfer, node->rank,
                node->removed, lower, node->rank, node->coupling);
    SZG_TRY(split_coupling(context, tree, node, left->rank, right->rank));
    remove_from(node, left, 0);
    remove_from(node, right, left->rank);
    return SZG_OK;
}

szg_status szgi_dc_tree_split(szg_context *context, szgi_dc_tree *tree) {
    for (int64_t level = 0; level < tree->depth; level++)
        SZG_TRY(szgi_dc_tree_level(context, tree, level, split_node));
    return SZG_OK;
}

/* ---- Up: eigenvalues of the leaves, then the rank-one terms one after the other ---- */

/* block = eigenvectors, a row each, of C on the leaf - basis removed basis^T; scratch rank x size.
 */
static szg_status diagonalise(szg_context *context, const szgi_dc_half *c, szgi_dc_node *node,
                              double *scratch, double *block) {
    int64_t n = node->size, r = node->rank;
    szgi_dc_half_block(c, node->first, n, node->first, n, block, n);
    if (r > 0) {
        SZG_TRY(szgi_gemm(context, 'n', 'n', r, n, r, 1, node->removed, r, node->basis, n, 0,
                          scratch, n));
        SZG_TRY(szgi_gemm(context, 't', 'n', n, n, r, -1, node->basis, n, scratch, n, 1, block, n));
    }
    return n > 0 ? szgi_eigen_symmetric(context, n, block, n, node->values, true) : SZG_OK;
}

static szg_status solve_leaf(szg_context *context, szgi_dc_tree *tree, int half, int64_t index) {
    szgi_dc_node *node = &tree->node[half][index];
    int64_t n = node->size, r = node->rank;
    double *block = NULL;
    SZG_TRY(szgi_memory_alloc(context, n, &node->values));
    SZG_TRY(szgi_memory_alloc(context, r * n, &node->carried));
    SZG_TRY(szgi_memory_alloc(context, n * n, &block));
    szg_status status = diagonalise(context, &tree->halves->half[half], node, node->carried, block);
    if (status == SZG_OK && r > 0)
        status =
            szgi_gemm(context, 'n', 't', r, n, n, 1, node->basis, n, block, n, 0, node->carried, n);
    szgi_memory_free(block);
    return status;
}

typedef struct place {
    double value;
    int64_t from;
} place;

static int compare_places(const void *left, const void *right) {
    const place *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Row r of [the rank-one terms; basis^T] in the eigenvectors of both children, sorted. */
static void merge_row(const szgi_dc_node *node, const szgi_dc_node *left, const szgi_dc_node *right,
                      const place *order, const double *factor, int64_t step, double *joined,
                      double *row) {
    memset(joined, 0, (size_t)node->size * sizeof *joined);
    for (int64_t a = 0; a < left->rank + right->rank; a++) {
        const szgi_dc_node *child = a < left->rank ? left : right;
        const double *from = child->carried + (child == left ? a : a - left->rank) * child->size;
        double *to = joined + (child->first - node->first);
        for (int64_t i = 0; i < child->size; i++)
            to[i] += factor[a * step] * from[i];
    }
    for (int64_t i = 0; i < node->size; i++)
        row[i] = joined[order[i].from];
}

/* Sorted values of both children, and the rows of the terms and of the basis. */
static void merge(szgi_dc_node *node, const szgi_dc_node *left, const szgi_dc_node *right,
                  place *order, double *joined, double *rows) {
    for (int64_t i = 0; i < node->size; i++)
        order[i] = (place){i < left->size ? left->values[i] : right->values[i - left->size], i};
    qsort(order, (size_t)node->size, sizeof *order, compare_places);
    for (int64_t i = 0; i < node->size; i++)
        node->values[i] = order[i].value;
    for (int64_t r = 0; r < node->updates; r++)
        merge_row(node, left, right, order, node->update + r, node->updates, joined,
                  rows + r * node->size);
    for (int64_t r = 0; r < node->rank; r++)
        merge_row(node, left, right, order, node->transfer + r, node->rank, joined,
                  rows + (node->updates + r) * node->size);
}

static void free_solution(szgi_dc_node *node) {
    szgi_memory_free(node->values);
    szgi_memory_free(node->carried);
    node->values = node->carried = NULL;
}

static szg_status apply_terms(szg_context *context, const szgi_dc_tree *tree, szgi_dc_node *node,
                              double *rows) {
    int64_t n = node->size, count = node->updates + node->rank;
    double tolerance = 2 * DBL_EPSILON * tree->halves->norm;
    for (int64_t c = 0; c < node->updates; c++) {
        double *z = rows + c * n;
        SZG_TRY(szgi_dc_rank_one(context, n, tolerance, node->values, z, count - c - 1, z + n, n,
                                 &node->dropped));
    }
    memcpy(node->carried, rows + node->updates * n, (size_t)(node->rank * n) * sizeof *rows);
    return SZG_OK;
}

static szg_status solve_inner(szg_context *context, szgi_dc_tree *tree, int half, int64_t index) {
    szgi_dc_node *node = &tree->node[half][index];
    szgi_dc_node *left = tree->node[half] + 2 * index, *right = left + 1;
    int64_t n = node->size, numbers;
    double *rows = NULL;
    place *order = NULL;
    SZG_TRY(szgi_memory_alloc(context, n, &node->values));
    SZG_TRY(szgi_memory_alloc(context, node->rank * n, &node->carried));
    SZG_TRY(szgi_memory_product(context, node->updates + node->rank + 1, n, &numbers));
    SZG_TRY(szgi_memory_alloc(context, numbers, &rows));
    szg_status status = szgi_memory_alloc(context, n, &order);
    if (status == SZG_OK) {
        merge(node, left, right, order, rows + (numbers - n), rows);
        free_solution(left);
        free_solution(right);
        status = apply_terms(context, tree, node, rows);
    }
    szgi_memory_free(order);
    szgi_memory_free(rows);
    return status;
}

szg_status szgi_dc_tree_solve(szg_context *context, szgi_dc_tree *tree) {
    SZG_TRY(szgi_dc_tree_level(context, tree, tree->depth, solve_leaf));
    for (int64_t level = tree->depth - 1; level >= 0; level--) {
        szgi_progress(context, "Toeplitz eigenvalues", tree->depth - level, tree->depth + 1);
        SZG_TRY(szgi_dc_tree_level(context, tree, level, solve_inner));
    }
    szgi_progress(context, "Toeplitz eigenvalues", tree->depth + 1, tree->depth + 1);
    return SZG_OK;
}
