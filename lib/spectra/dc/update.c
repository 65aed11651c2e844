#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "kernels.h"
#include "update.h"

/* A coordinate of the result: `from` < kept: root `from`; else a deflated coordinate of the input.
 */
typedef struct entry {
    double value;
    int64_t from;
} entry;

typedef struct update {
    int64_t n, kept, count, ld;
    double tolerance, zz_total;
    double behind, *dropped; /* sum of squares of the elements that rotations left behind */
    double *d, *z, *rows;    /* the caller's */
    double *pole, *weight, *zz, *base, *tau; /* of the kept coordinates */
    double *packed, *turned;                 /* count x n: rows before and after */
    int64_t *index;                          /* the kept coordinates, then the deflated ones */
    entry *order;
    double *memory;
    szgi_dc_plan plan;
} update;

enum { TILE = SZGI_DC_PLACES };

static szg_status allocate(szg_context *context, update *u) {
    int64_t rows, n = u->n;
    SZG_TRY(szgi_memory_product(context, n, 2 * u->count + 5, &rows));
    SZG_TRY(szgi_memory_alloc(context, rows, &u->memory));
    u->pole = u->memory, u->weight = u->pole + n, u->zz = u->weight + n;
    u->base = u->zz + n, u->tau = u->base + n, u->packed = u->tau + n;
    u->turned = u->packed + u->count * n;
    SZG_TRY(szgi_memory_alloc(context, n, &u->index));
    return szgi_memory_alloc(context, n, &u->order);
}

/* Rotates coordinates p < i so that z_p vanishes where that changes the matrix by at most the
 * tolerance; the off-diagonal element it leaves behind is dropped. */
static bool rotate_away(update *u, int64_t p, int64_t i) {
    double length = hypot(u->z[p], u->z[i]), c = u->z[i] / length, s = u->z[p] / length;
    double gap = u->d[i] - u->d[p];
    if (!(gap * fabs(c * s) <= u->tolerance))
        return false;
    u->z[i] = length;
    u->z[p] = 0;
    u->behind += (gap * c * s) * (gap * c * s);
    for (int64_t r = 0; r < u->count; r++) {
        double *x = u->rows + r * u->ld, xp = x[p], xi = x[i];
        x[p] = c * xp - s * xi;
        x[i] = s * xp + c * xi;
    }
    u->d[p] += gap * s * s;
    u->d[i] -= gap * s * s;
    return true;
}

/* Sorts coordinates into kept ones (packed at the front of index) and deflated ones (behind). A
 * part y of z set to 0 changes z z^T by at most |y| (|z - y| + |y|). The elements left behind by
 * rotations are those of a matrix with orthogonal rows, one a deflated coordinate, and of its
 * transpose: at most twice the root of the sum of their squares. */
static void deflate(update *u) {
    double norm = 0;
    for (int64_t i = 0; i < u->n; i++)
        norm += u->z[i] * u->z[i];
    norm = sqrt(norm);
    double small = 0;
    int64_t kept = 0, end = u->n;
    for (int64_t i = 0; i < u->n; i++) {
        if (fabs(u->z[i]) * norm <= u->tolerance) {
            small += u->z[i] * u->z[i];
            u->index[--end] = i;
            continue;
        }
        if (kept > 0 && rotate_away(u, u->index[kept - 1], i))
            u->index[--end] = u->index[--kept];
        u->index[kept++] = i;
    }
    u->kept = kept;
    u->zz_total = 0;
    for (int64_t i = 0; i < kept; i++) {
        u->pole[i] = u->d[u->index[i]];
        u->weight[i] = u->z[u->index[i]];
        u->zz[i] = u->weight[i] * u->weight[i];
        u->zz_total += u->zz[i];
    }
    *u->dropped += sqrt(small) * (norm + sqrt(small)) + 2 * sqrt(u->behind);
}

/* ---- The three passes over the roots, block by block: near poles one by one, far ones by
 * interpolation ---- */

enum { NODES = SZGI_DC_NODES };

static double node_shift(const szgi_dc_block *block, int q) {
    return block->radius * szgi_dc_nodes[q];
}

/* The place of base + tau on the block's interval. */
static double place_in(const szgi_dc_block *block, double base, double tau) {
    return ((base - block->centre) + tau) / block->radius;
}

static szg_status find_roots(szg_context *context, void *job, int64_t index, int worker) {
    (void)context, (void)worker;
    update *u = job;
    const szgi_dc_block *block = &u->plan.blocks[index];
    double far[4 * NODES];
    szgi_dc_secular f = {u->kept, u->pole, u->zz, u->zz_total, block, NULL};
    if (szgi_dc_has_far(block, u->kept))
        f.far = far;
    for (int q = 0; q < NODES && f.far; q++) {
        double sums[2], shift = node_shift(block, q);
        szgi_dc_secular_sums(block->low, u->pole, u->zz, block->centre, shift, sums);
        far[q] = sums[0], far[NODES + q] = sums[1];
        szgi_dc_secular_sums(u->kept - block->high, u->pole + block->high, u->zz + block->high,
                             block->centre, shift, sums);
        far[2 * NODES + q] = sums[0], far[3 * NODES + q] = sums[1];
    }
    for (int64_t j = block->first; j < block->first + block->count; j++)
        szgi_dc_secular_root(&f, j, &u->base[j], &u->tau[j]);
    return SZG_OK;
}

/* Loewner's formula: the products over (lambda_j - x) / (d_j - x), j < i, and over
 * (lambda_j - x) / (d_{j+1} - x), j >= i, at x = d_i. Far ones are interpolated by their
 * reciprocals, which are sums of terms of one sign: no digit is lost. */
static szg_status correct_weights(szg_context *context, void *job, int64_t index, int worker) {
    (void)context, (void)worker;
    update *u = job;
    const szgi_dc_block *block = &u->plan.blocks[index];
    szgi_dc_roots roots = {u->base, u->tau};
    int64_t last = u->kept - 1, low = block->low > 0 ? block->low - 1 : 0;
    int64_t high = block->high < last ? block->high : last;
    double far[4 * NODES] = {0}, factor[4] = {1, 0, 1, 0};
    bool has_far = szgi_dc_has_far(block, u->kept);
    for (int q = 0; q < NODES && has_far; q++) {
        double product, shift = node_shift(block, q);
        szgi_dc_root_ratios(low, block->centre, shift, u->pole, roots, &product);
        far[q] = 1 / product;
        szgi_dc_root_ratios(last - high, block->centre, shift, u->pole + high + 1,
                            (szgi_dc_roots){u->base + high, u->tau + high}, &product);
        far[2 * NODES + q] = 1 / product;
    }
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        double product;
        szgi_dc_lowner_product(high - low + 1, i - low, u->pole + low,
                               (szgi_dc_roots){u->base + low, u->tau + low}, &product);
        if (has_far)
            szgi_dc_interpolate(place_in(block, u->pole[i], 0), far, factor);
        product *= ((u->base[last] - u->pole[i]) + u->tau[last]) / (factor[0] * factor[2]);
        u->weight[i] = copysign(sqrt(fabs(product)), u->weight[i]);
    }
    return SZG_OK;
}

/* What the far poles add to each row and to the square of the norm, at the nodes: far[c * NODES +
 * q], the squares last. */
static void rows_at_nodes(const update *u, const szgi_dc_block *block, double *far) {
    double base[TILE], shift[TILE], out[TILE * (SZGI_DC_MOST_ROWS + 1)];
    int64_t numbers = TILE * (u->count + 1);
    for (int q = 0; q < NODES; q += TILE) {
        for (int r = 0; r < TILE; r++)
            base[r] = block->centre, shift[r] = node_shift(block, q + r);
        szgi_dc_roots places = {base, shift};
        memset(out, 0, (size_t)numbers * sizeof *out);
        szgi_dc_rotate_rows(block->low, u->pole, u->weight, places, u->count, u->packed, u->n, out);
        szgi_dc_rotate_rows(u->kept - block->high, u->pole + block->high, u->weight + block->high,
                            places, u->count, u->packed + block->high, u->n, out);
        for (int64_t i = 0; i < numbers; i++)
            far[i / TILE * NODES + q + i % TILE] = out[i];
    }
}

static szg_status turn_rows(szg_context *context, void *job, int64_t index, int worker) {
    (void)context, (void)worker;
    update *u = job;
    const szgi_dc_block *block = &u->plan.blocks[index];
    double base[TILE], tau[TILE], place[TILE], inverse[TILE], out[TILE * (SZGI_DC_MOST_ROWS + 1)];
    double far[NODES * (SZGI_DC_MOST_ROWS + 1)];
    int64_t low = block->low, end = block->first + block->count;
    bool has_far = szgi_dc_has_far(block, u->kept);
    if (has_far)
        rows_at_nodes(u, block, far);
    for (int64_t j = block->first; j < end; j += TILE) {
        int64_t width = end - j < TILE ? end - j : TILE;
        for (int64_t r = 0; r < TILE; r++) {
            base[r] = u->base[r < width ? j + r : j];
            tau[r] = u->tau[r < width ? j + r : j];
            place[r] = place_in(block, base[r], tau[r]);
        }
        memset(out, 0, (size_t)(TILE * (u->count + 1)) * sizeof *out);
        szgi_dc_rotate_rows(block->high - low, u->pole + low, u->weight + low,
                            (szgi_dc_roots){base, tau}, u->count, u->packed + low, u->n, out);
        if (has_far)
            szgi_dc_interpolate_rows(place, u->count + 1, far, out);
        for (int64_t r = 0; r < TILE; r++)
            inverse[r] = 1 / sqrt(out[u->count * TILE + r]);
        for (int64_t c = 0; c < u->count; c++)
            for (int64_t r = 0; r < width; r++)
                u->turned[c * u->n + j + r] = out[c * TILE + r] * inverse[r];
    }
    return SZG_OK;
}

/* Costs of one pole, in tenths of a nanosecond with AVX-512: an evaluation of the secular equation
 * 1, of which a root takes about six; Loewner's formula 2; an eigenvector 1, and a row 0.2. */
static double near_cost(int64_t rows) {
    double passes = 2 + 1 + 0.2 * (double)rows;
    return rows > 0 ? (6 + passes) / (1 + passes) : 6;
}

static szg_status solve(szg_context *context, update *u) {
    SZG_TRY(
        szgi_dc_plan_open(context, u->kept, u->pole, u->zz_total, near_cost(u->count), &u->plan));
    SZG_TRY(szgi_pool_run(context, u->plan.count, find_roots, u));
    if (u->count == 0)
        return SZG_OK;
    for (int64_t c = 0; c < u->count; c++)
        for (int64_t i = 0; i < u->kept; i++)
            u->packed[c * u->n + i] = u->rows[c * u->ld + u->index[i]];
    SZG_TRY(szgi_pool_run(context, u->plan.count, correct_weights, u));
    return szgi_pool_run(context, u->plan.count, turn_rows, u);
}

static int compare_entries(const void *left, const void *right) {
    const entry *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static void gather(update *u) {
    for (int64_t i = 0; i < u->n; i++) {
        double value = i < u->kept ? u->base[i] + u->tau[i] : u->d[u->index[i]];
        u->order[i] = (entry){value, i};
    }
    qsort(u->order, (size_t)u->n, sizeof *u->order, compare_entries);
    for (int64_t i = 0; i < u->n; i++)
        u->d[i] = u->order[i].value;
    for (int64_t c = 0; c < u->count; c++) {
        double *turned = u->turned + c * u->n, *packed = u->packed, *row = u->rows + c * u->ld;
        for (int64_t i = u->kept; i < u->n; i++)
            turned[i] = row[u->index[i]];
        for (int64_t i = 0; i < u->n; i++)
            packed[i] = turned[u->order[i].from];
        memcpy(row, packed, (size_t)u->n * sizeof *row);
    }
}

szg_status szgi_dc_rank_one(szg_context *context, int64_t n, double tolerance, double *d, double *z,
                            int64_t count, double *rows, int64_t ld, double *dropped) {
    update u = {.n = n, .count = count, .ld = ld, .tolerance = tolerance};
    u.d = d, u.z = z, u.rows = rows, u.dropped = dropped;
    szg_status status = allocate(context, &u);
    if (status == SZG_OK) {
        deflate(&u);
        status = solve(context, &u);
    }
    if (status == SZG_OK)
        gather(&u);
    szgi_dc_plan_close(&u.plan);
    szgi_memory_free(u.order);
    szgi_memory_free(u.index);
    szgi_memory_free(u.memory);
    return status;
}
