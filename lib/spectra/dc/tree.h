/* A half as a tree of diagonal blocks with nested bases of their off-diagonal rows. */
#ifndef SZG_SPECTRA_DC_TREE_H
#define SZG_SPECTRA_DC_TREE_H

#include "kernels.h"

enum { SZGI_DC_MOST_RANK = SZGI_DC_MOST_ROWS / 2 };

/* A diagonal block of C: rows first .. first + size - 1. What C holds in these rows and in the
 * columns outside is, up to the tolerance, in the span of `basis` (orthonormal columns). A column
 * is stored contiguously. For a node with children l, r: C(l, r) = basis_l coupling basis_r^T, and
 * basis = [basis_l upper; basis_r lower]. */
typedef struct szgi_dc_node {
    int64_t first, size, rank;
    double *basis;    /* rank columns of length size */
    double *coupling; /* rank_l x rank_r, row-major */
    double *transfer; /* (rank_l + rank_r) x rank, row-major: upper, then lower */
    double *sample;   /* rank x samples, row-major: basis^T times far columns times random ones */
    double *probe;    /* rank x samples: basis^T times the random rows of this block */
    double *removed;  /* rank x rank: the ancestors' splits subtract basis removed basis^T */
    int64_t updates;  /* rank of the split coupling */
    double *update;   /* (rank_l + rank_r) x updates: C = diag(C_l, C_r) + sum of rank-one terms */
    double *values;   /* size eigenvalues of the modified block */
    double *carried;  /* rank rows of length size: basis^T Q */
    double dropped;   /* singular values, residues and deflated terms left out here */
} szgi_dc_node;

/* Both halves over heaps of nodes: node i has children 2i and 2i + 1; leaves are at level
 * `depth`. */
typedef struct szgi_dc_tree {
    const szgi_dc_halves *halves;
    double tolerance;
    int64_t samples, depth;
    bool too_high; /* some rank was not reached: the block is not of low rank */
    szgi_dc_node *node[2];
    double *random[2]; /* samples rows of length size */
} szgi_dc_tree;

/* The mean rank of eight blocks of 64 rows (none in small halves) against all other columns, from
 * `samples` random vectors: what a choice of method goes by. Where it is above samples - 8 the true
 * one may be higher. O(n) entries. */
SZG_CHECK_RESULT szg_status szgi_dc_tree_probe(szg_context *context, const szgi_dc_halves *halves,
                                               int64_t samples, double tolerance, double *rank);

/* Bases, couplings and transfers, from the leaves up. Rank at most samples - 8, else too_high. */
SZG_CHECK_RESULT szg_status szgi_dc_tree_open(szg_context *context, const szgi_dc_halves *halves,
                                              int64_t leaf, int64_t samples, double tolerance,
                                              szgi_dc_tree *tree);
void szgi_dc_tree_close(szgi_dc_tree *tree);

/* Splits every node, from the root down, into smaller diagonal blocks plus rank-one terms. */
SZG_CHECK_RESULT szg_status szgi_dc_tree_split(szg_context *context, szgi_dc_tree *tree);

/* The eigenvalues, from the leaves up: node[half][1].values. */
SZG_CHECK_RESULT szg_status szgi_dc_tree_solve(szg_context *context, szgi_dc_tree *tree);

/* The sum over the levels of the largest `dropped` of a node. */
double szgi_dc_tree_dropped(const szgi_dc_tree *tree);

/* Runs `work` on every node of a level, in parallel where there are enough of them. */
typedef szg_status szgi_dc_node_fn(szg_context *context, szgi_dc_tree *tree, int half,
                                   int64_t node);
SZG_CHECK_RESULT szg_status szgi_dc_tree_level(szg_context *context, szgi_dc_tree *tree,
                                               int64_t level, szgi_dc_node_fn *work);

#endif
