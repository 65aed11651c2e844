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
    double *d, *z, *rows;                    /* the caller's */
    double *pole, *weight, *zz, *base, *tau; /* of the kept coordinates */
    double *packed, *turned;                 /* count x n: rows before and after */
    int64_t *index;                          /* the kept coordinates, then the deflated ones */
    entry *order;
    double *memory;
} update;

enum { BLOCK = 64 };

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
    for (int64_t r = 0; r < u->count; r++) {
        double *x = u->rows + r * u->ld, xp = x[p], xi = x[i];
        x[p] = c * xp - s * xi;
        x[i] = s * xp + c * xi;
    }
    u->d[p] += gap * s * s;
    u->d[i] -= gap * s * s;
    return true;
}

/* Sorts coordinates into kept ones (packed at the front of index) and deflated ones (behind). */
static void deflate(update *u) {
    double norm = 0;
    for (int64_t i = 0; i < u->n; i++)
        norm += u->z[i] * u->z[i];
    norm = sqrt(norm);
    int64_t kept = 0, end = u->n;
    for (int64_t i = 0; i < u->n; i++) {
        if (fabs(u->z[i]) * norm <= u->tolerance) {
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
}

static int64_t block_end(const update *u, int64_t block) {
    return (block + 1) * BLOCK < u->kept ? (block + 1) * BLOCK : u->kept;
}

static szg_status find_roots(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    update *u = job;
    for (int64_t j = block * BLOCK; j < block_end(u, block); j++)
        szgi_dc_secular_root(u->kept, u->pole, u->zz, u->zz_total, j, &u->base[j], &u->tau[j]);
    return SZG_OK;
}

/* The weights for which the computed roots are exact. */
static szg_status correct_weights(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    update *u = job;
    int64_t last = u->kept - 1;
    for (int64_t i = block * BLOCK; i < block_end(u, block); i++) {
        double product;
        szgi_dc_lowner_product(u->kept, i, u->pole, (szgi_dc_roots){u->base, u->tau}, &product);
        product *= (u->base[last] - u->pole[i]) + u->tau[last];
        u->weight[i] = copysign(sqrt(fabs(product)), u->weight[i]);
    }
    return SZG_OK;
}

static szg_status turn_rows(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)worker;
    update *u = job;
    double base[SZGI_DC_TILE_ROWS], tau[SZGI_DC_TILE_ROWS];
    double out[SZGI_DC_TILE_ROWS * SZGI_DC_MOST_ROWS];
    int64_t end = block_end(u, block);
    for (int64_t j = block * BLOCK; j < end; j += SZGI_DC_TILE_ROWS) {
        int64_t width = end - j < SZGI_DC_TILE_ROWS ? end - j : SZGI_DC_TILE_ROWS;
        for (int64_t r = 0; r < SZGI_DC_TILE_ROWS; r++) {
            base[r] = u->base[r < width ? j + r : j];
            tau[r] = u->tau[r < width ? j + r : j];
        }
        szgi_dc_rotate_rows(u->kept, u->pole, u->weight, (szgi_dc_roots){base, tau}, u->count,
                            u->packed, u->n, out);
        for (int64_t c = 0; c < u->count; c++)
            memcpy(u->turned + c * u->n + j, out + c * SZGI_DC_TILE_ROWS,
                   (size_t)width * sizeof *out);
    }
    return SZG_OK;
}

static szg_status solve(szg_context *context, update *u) {
    int64_t blocks = (u->kept + BLOCK - 1) / BLOCK;
    SZG_TRY(szgi_pool_run(context, blocks, find_roots, u));
    if (u->count == 0)
        return SZG_OK;
    for (int64_t c = 0; c < u->count; c++)
        for (int64_t i = 0; i < u->kept; i++)
            u->packed[c * u->n + i] = u->rows[c * u->ld + u->index[i]];
    SZG_TRY(szgi_pool_run(context, blocks, correct_weights, u));
    return szgi_pool_run(context, blocks, turn_rows, u);
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
                            int64_t count, double *rows, int64_t ld) {
    update u = {.n = n, .count = count, .ld = ld, .tolerance = tolerance};
    u.d = d, u.z = z, u.rows = rows;
    szg_status status = allocate(context, &u);
    if (status == SZG_OK) {
        deflate(&u);
        status = solve(context, &u);
    }
    if (status == SZG_OK)
        gather(&u);
    szgi_memory_free(u.order);
    szgi_memory_free(u.index);
    szgi_memory_free(u.memory);
    return status;
}
