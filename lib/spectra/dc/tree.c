#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "kernels.h"
#include "tree.h"

enum { OVERSAMPLING = 8, RANDOM_PURPOSE = 0xdc, SMOOTH_RANK = 24, PROBE_LEAF = 64 };

typedef struct level_job {
    szgi_dc_tree *tree;
    szgi_dc_node_fn *work;
    int64_t level;
} level_job;

static szg_status run_node(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    level_job *job = argument;
    int64_t nodes = (int64_t)1 << job->level;
    return job->work(context, job->tree, block >= nodes, nodes + block % nodes);
}

szg_status szgi_dc_tree_level(szg_context *context, szgi_dc_tree *tree, int64_t level,
                              szgi_dc_node_fn *work) {
    level_job job = {tree, work, level};
    int64_t blocks = (int64_t)2 << level;
    if (blocks >= szg_context_threads(context))
        return szgi_pool_run(context, blocks, run_node, &job);
    for (int64_t block = 0; block < blocks; block++) /* each node then uses the pool itself */
        SZG_TRY(run_node(context, &job, block, 0));
    return SZG_OK;
}

/* ---- Orthonormal bases by Gram-Schmidt with column pivoting ---- */

static double dot(int64_t n, const double *x, const double *y) {
    double sum;
    szgi_dc_dot(n, x, y, &sum);
    return sum;
}

static void project_out(int64_t n, const double *q, double *x) {
    double c = dot(n, q, x);
    for (int64_t i = 0; i < n; i++)
        x[i] -= c * q[i];
}

/* Rounding gives every entry of a block of random lags a noise of its own. In a sampled column it
 * adds up to the root of the rows' number times its share of the block's norm, so that a fixed
 * tolerance would fill the bases of large blocks with noise. Up to SMOOTH_RANK columns the
 * tolerance holds as it is: what a smooth kernel's block lacks is a direction, not noise. */
static double tolerance_at(double tolerance, int64_t rows, int64_t rank) {
    double noise = sqrt((double)rows / PROBE_LEAF);
    return rank < SMOOTH_RANK || noise < 1 ? tolerance : tolerance * noise;
}

/* An orthonormal basis of `count` columns of length n up to residues of norm `tolerance`, for a
 * block of `rows` rows: its columns replace the first *rank ones. The others are destroyed. Returns
 * the norm of the largest residue. */
static double orthonormal_basis(int64_t n, int64_t count, double tolerance, int64_t rows,
                                double *columns, int64_t *rank) {
    int64_t r = 0;
    double largest = 0;
    for (; r < count && r < n; r++) {
        int64_t best = -1;
        largest = 0;
        for (int64_t c = r; c < count; c++) {
            double norm = sqrt(dot(n, columns + c * n, columns + c * n));
            if (norm > largest)
                largest = norm, best = c;
        }
        if (!(largest > tolerance_at(tolerance, rows, r)))
            best = -1;
        if (best < 0)
            break;
        double *q = columns + r * n, *pivot = columns + best * n;
        for (int64_t i = 0; i < n && pivot != q; i++) {
            double swap = q[i];
            q[i] = pivot[i], pivot[i] = swap;
        }
        for (int64_t c = 0; c < r; c++) /* again: the first pass may have cancelled */
            project_out(n, columns + c * n, q);
        double norm = sqrt(dot(n, q, q));
        for (int64_t i = 0; i < n && norm > 0; i++)
            q[i] /= norm;
        for (int64_t c = r + 1; c < count; c++)
            project_out(n, q, columns + c * n);
    }
    *rank = r;
    return r < count && r < n ? largest : 0;
}

/* ---- Leaves ---- */

/* columns[c] = C(block, outside) random[c]. */
static void sample_leaf(const szgi_dc_tree *tree, int half, const szgi_dc_node *node,
                        double *columns) {
    const szgi_dc_half *c = &tree->halves->half[half];
    const double *random = tree->random[half];
    double out[SZGI_DC_TILE_ROWS * (SZGI_DC_MOST_RANK + OVERSAMPLING)];
    for (int64_t i = 0; i < node->size; i += SZGI_DC_TILE_ROWS) {
        int64_t k[SZGI_DC_TILE_ROWS], end = node->first + node->size;
        for (int64_t r = 0; r < SZGI_DC_TILE_ROWS; r++)
            k[r] = node->first + (i + r < node->size ? i + r : i);
        memset(out, 0, sizeof out);
        szgi_dc_lowner_rows(c, k, 0, node->first, tree->samples, random, c->size, out);
        szgi_dc_lowner_rows(c, k, end, c->size - end, tree->samples, random + end, c->size, out);
        for (int64_t s = 0; s < tree->samples; s++)
            for (int64_t r = 0; r < SZGI_DC_TILE_ROWS && i + r < node->size; r++)
                columns[s * node->size + i + r] = out[s * SZGI_DC_TILE_ROWS + r];
    }
}

/* Space for what depends on the rank, one block: transfer (of `children` rows) or a leaf's basis
 * stands elsewhere. */
static szg_status allocate_small(szg_context *context, const szgi_dc_tree *tree, szgi_dc_node *node,
                                 int64_t children) {
    int64_t count = node->rank * (2 * tree->samples + node->rank + children);
    SZG_TRY(szgi_memory_alloc(context, count, &node->sample));
    node->probe = node->sample + node->rank * tree->samples;
    node->removed = node->probe + node->rank * tree->samples;
    node->transfer = node->removed + node->rank * node->rank;
    return SZG_OK;
}

static bool rank_reached(szgi_dc_tree *tree, const szgi_dc_node *node, int64_t rows) {
    if (node->rank <= tree->samples - OVERSAMPLING || node->rank == rows)
        return true;
    __atomic_store_n(&tree->too_high, true, __ATOMIC_RELAXED);
    return false;
}

static szg_status compress_leaf(szg_context *context, szgi_dc_tree *tree, int half, int64_t index) {
    szgi_dc_node *node = &tree->node[half][index];
    int64_t n = node->size, count = tree->samples;
    double *columns = NULL;
    SZG_TRY(szgi_memory_alloc(context, 2 * n * count, &columns));
    node->basis = columns;
    double *kept = columns + n * count;
    sample_leaf(tree, half, node, columns);
    memcpy(kept, columns, (size_t)(n * count) * sizeof *kept);
    node->dropped = orthonormal_basis(n, count, tree->tolerance, n, columns, &node->rank);
    if (!rank_reached(tree, node, n))
        return SZG_OK;
    SZG_TRY(allocate_small(context, tree, node, 0));
    const double *random = tree->random[half] + node->first;
    int64_t whole = tree->halves->half[half].size;
    for (int64_t r = 0; r < node->rank; r++) {
        for (int64_t s = 0; s < count; s++) {
            node->sample[r * count + s] = dot(n, columns + r * n, kept + s * n);
            node->probe[r * count + s] = dot(n, columns + r * n, random + s * whole);
        }
    }
    return SZG_OK;
}

/* ---- Inner nodes ---- */

/* coupling = basis_l^T C(l, r) basis_r. */
static szg_status couple(szg_context *context, const szgi_dc_half *c, szgi_dc_node *node,
                         const szgi_dc_node *left, const szgi_dc_node *right) {
    SZG_TRY(szgi_memory_alloc(context, left->rank * right->rank, &node->coupling));
    double out[SZGI_DC_TILE_ROWS * SZGI_DC_MOST_RANK];
    for (int64_t i = 0; i < left->size; i += SZGI_DC_TILE_ROWS) {
        int64_t k[SZGI_DC_TILE_ROWS];
        for (int64_t r = 0; r < SZGI_DC_TILE_ROWS; r++)
            k[r] = left->first + (i + r < left->size ? i + r : i);
        memset(out, 0, sizeof out);
        szgi_dc_lowner_rows(c, k, right->first, right->size, right->rank, right->basis, right->size,
                            out);
        for (int64_t r = 0; r < SZGI_DC_TILE_ROWS && i + r < left->size; r++)
            for (int64_t a = 0; a < left->rank; a++)
                for (int64_t b = 0; b < right->rank; b++)
                    node->coupling[a * right->rank + b] +=
                        left->basis[a * left->size + i + r] * out[b * SZGI_DC_TILE_ROWS + r];
    }
    return SZG_OK;
}

/* What is far of both children, in their bases: columns[s] of length rank_l + rank_r. */
static void far_samples(int64_t count, const szgi_dc_node *node, const szgi_dc_node *left,
                        const szgi_dc_node *right, double *columns) {
    int64_t rows = left->rank + right->rank;
    for (int64_t s = 0; s < count; s++) {
        double *column = columns + s * rows;
        for (int64_t a = 0; a < left->rank; a++)
            column[a] = left->sample[a * count + s];
        for (int64_t b = 0; b < right->rank; b++)
            column[left->rank + b] = right->sample[b * count + s];
        for (int64_t a = 0; a < left->rank; a++) {
            for (int64_t b = 0; b < right->rank; b++) {
                double entry = node->coupling[a * right->rank + b];
                column[a] -= entry * right->probe[b * count + s];
                column[left->rank + b] -= entry * left->probe[a * count + s];
            }
        }
    }
}

static szg_status expand_basis(szg_context *context, szgi_dc_node *node, const szgi_dc_node *left,
                               const szgi_dc_node *right) {
    SZG_TRY(szgi_memory_alloc(context, node->rank * node->size, &node->basis));
    for (int64_t r = 0; r < node->rank; r++) {
        double *column = node->basis + r * node->size;
        for (int64_t a = 0; a < left->rank + right->rank; a++) {
            const szgi_dc_node *child = a < left->rank ? left : right;
            int64_t own = a < left->rank ? a : a - left->rank;
            double factor = node->transfer[a * node->rank + r];
            double *part = column + (child->first - node->first);
            for (int64_t i = 0; i < child->size; i++)
                part[i] += factor * child->basis[own * child->size + i];
        }
    }
    return SZG_OK;
}

/* basis, transfer, sample and probe of a node from its children's. */
static szg_status join(szg_context *context, szgi_dc_tree *tree, szgi_dc_node *node,
                       const szgi_dc_node *left, const szgi_dc_node *right, double *columns) {
    int64_t count = tree->samples, rows = left->rank + right->rank;
    double *kept = columns + rows * count;
    far_samples(count, node, left, right, columns);
    memcpy(kept, columns, (size_t)(rows * count) * sizeof *kept);
    node->dropped =
        orthonormal_basis(rows, count, tree->tolerance, node->size, columns, &node->rank);
    if (!rank_reached(tree, node, rows))
        return SZG_OK;
    SZG_TRY(allocate_small(context, tree, node, rows));
    for (int64_t r = 0; r < node->rank; r++) {
        const double *q = columns + r * rows;
        for (int64_t a = 0; a < rows; a++)
            node->transfer[a * node->rank + r] = q[a];
        for (int64_t s = 0; s < count; s++) {
            double probe = 0;
            for (int64_t a = 0; a < left->rank; a++)
                probe += q[a] * left->probe[a * count + s];
            for (int64_t b = 0; b < right->rank; b++)
                probe += q[left->rank + b] * right->probe[b * count + s];
            node->probe[r * count + s] = probe;
            node->sample[r * count + s] = dot(rows, q, kept + s * rows);
        }
    }
    return expand_basis(context, node, left, right);
}

static szg_status compress_inner(szg_context *context, szgi_dc_tree *tree, int half,
                                 int64_t index) {
    szgi_dc_node *node = &tree->node[half][index];
    const szgi_dc_node *left = node - index + 2 * index, *right = left + 1;
    SZG_TRY(couple(context, &tree->halves->half[half], node, left, right));
    int64_t rows = left->rank + right->rank;
    double *columns = NULL;
    if (index == 1) /* nothing lies outside the root */
        return allocate_small(context, tree, node, rows);
    SZG_TRY(szgi_memory_alloc(context, 2 * rows * tree->samples, &columns));
    szg_status status = join(context, tree, node, left, right, columns);
    szgi_memory_free(columns);
    return status;
}

/* The bases of a level are needed until its parents have theirs, those of the leaves to the end. */
static szg_status forget_bases(szg_context *context, szgi_dc_tree *tree, int half, int64_t index) {
    (void)context;
    szgi_memory_free(tree->node[half][index].basis);
    tree->node[half][index].basis = NULL;
    return SZG_OK;
}

static szg_status allocate(szg_context *context, szgi_dc_tree *tree, int half) {
    int64_t size = tree->halves->half[half].size, nodes = (int64_t)2 << tree->depth;
    SZG_TRY(szgi_memory_alloc(context, nodes, &tree->node[half]));
    for (int64_t level = 0; level <= tree->depth; level++) {
        int64_t count = (int64_t)1 << level;
        for (int64_t p = 0; p < count; p++) {
            szgi_dc_node *node = &tree->node[half][count + p];
            node->first = size * p / count;
            node->size = size * (p + 1) / count - node->first;
        }
    }
    int64_t numbers;
    SZG_TRY(szgi_memory_product(context, tree->samples, size, &numbers));
    SZG_TRY(szgi_memory_alloc(context, numbers, &tree->random[half]));
    szgi_stream stream = {.seed = 1, .step = (uint32_t)half, .purpose = RANDOM_PURPOSE};
    szgi_random_fill_normal(&stream, 0, numbers, tree->random[half]);
    return SZG_OK;
}

static szg_status allocate_both(szg_context *context, const szgi_dc_halves *halves, int64_t leaf,
                                int64_t samples, double tolerance, szgi_dc_tree *tree) {
    *tree = (szgi_dc_tree){.halves = halves, .samples = samples, .tolerance = tolerance};
    while (halves->half[0].size >> tree->depth > leaf)
        tree->depth++;
    for (int half = 0; half < 2; half++)
        SZG_TRY(allocate(context, tree, half));
    return SZG_OK;
}

szg_status szgi_dc_tree_open(szg_context *context, const szgi_dc_halves *halves, int64_t leaf,
                             int64_t samples, double tolerance, szgi_dc_tree *tree) {
    SZG_TRY(allocate_both(context, halves, leaf, samples, tolerance, tree));
    SZG_TRY(szgi_dc_tree_level(context, tree, tree->depth, compress_leaf));
    for (int64_t level = tree->depth - 1; level >= 0 && !tree->too_high; level--) {
        SZG_TRY(szgi_dc_tree_level(context, tree, level, compress_inner));
        if (level + 1 < tree->depth)
            SZG_TRY(szgi_dc_tree_level(context, tree, level + 1, forget_bases));
    }
    return SZG_OK;
}

enum { PROBES = 4 }; /* in each half */

static int64_t probe_place(const szgi_dc_tree *tree, int64_t p) {
    int64_t leaves = (int64_t)1 << tree->depth;
    return leaves + (2 * p + 1) * leaves / (2 * PROBES);
}

static szg_status probe_leaf(szg_context *context, void *argument, int64_t p, int worker) {
    (void)worker;
    szgi_dc_tree *tree = argument;
    return compress_leaf(context, tree, p >= PROBES, probe_place(tree, p % PROBES));
}

szg_status szgi_dc_tree_probe(szg_context *context, const szgi_dc_halves *halves, int64_t samples,
                              double tolerance, double *rank) {
    szgi_dc_tree tree;
    szg_status status = allocate_both(context, halves, PROBE_LEAF, samples, tolerance, &tree);
    /* Fewer leaves than probes would be compressed twice. */
    if (status == SZG_OK && (int64_t)1 << tree.depth >= PROBES)
        status = szgi_pool_run(context, 2 * PROBES, probe_leaf, &tree);
    *rank = 0;
    for (int64_t p = 0; p < 2 * PROBES && status == SZG_OK; p++)
        *rank += (double)tree.node[p >= PROBES][probe_place(&tree, p % PROBES)].rank;
    *rank /= 2 * PROBES;
    szgi_dc_tree_close(&tree);
    return status;
}

double szgi_dc_tree_dropped(const szgi_dc_tree *tree) {
    double sum = 0;
    for (int64_t level = 0; level <= tree->depth; level++) {
        double largest = 0;
        for (int64_t i = (int64_t)1 << level; i < (int64_t)2 << level; i++)
            for (int half = 0; half < 2; half++)
                largest = fmax(largest, tree->node[half][i].dropped);
        sum += largest;
    }
    return sum;
}

static void close_node(szgi_dc_node *node) {
    szgi_memory_free(node->basis);
    szgi_memory_free(node->coupling);
    szgi_memory_free(node->sample);
    szgi_memory_free(node->update);
    szgi_memory_free(node->values);
    szgi_memory_free(node->carried);
}

void szgi_dc_tree_close(szgi_dc_tree *tree) {
    for (int half = 0; half < 2; half++) {
        for (int64_t i = 1; tree->node[half] && i < (int64_t)2 << tree->depth; i++)
            close_node(&tree->node[half][i]);
        szgi_memory_free(tree->node[half]);
        szgi_memory_free(tree->random[half]);
    }
    *tree = (szgi_dc_tree){0};
}
