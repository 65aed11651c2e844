/* With v of random signs, v^T T_m(A) v / n has mean tr T_m(A) / n and variance
 * 2 sum_{i != j} |Re T_m(A)_ij|^2 / n^2 <= 2 ||T_m(A)||_F^2 / n^2 <= 2 / n. From t_j = T_j(A) v
 * come two moments a product: 2 T_i T_j = T_{i+j} + T_{i-j}. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "density.h"
#include "spectra_private.h"

/* Values that go through the recurrence together, and the parts of a list that threads take: a
 * fixed number, so that the sums do not depend on the threads. */
enum { BLOCK = 512, PARTS = 64 };

szg_status szgi_unit_map_open(szg_context *context, double lo, double hi, szgi_unit_map *out) {
    if (!isfinite(hi - lo))
        return szgi_fail(context, SZG_EDATA,
                         "spectral density: the eigenvalues lie in an interval longer than the "
                         "largest double: divide the matrix by a power of two");
    *out = (szgi_unit_map){lo, hi, .centre = lo / 2 + hi / 2, .half = hi / 2 - lo / 2};
    return SZG_OK;
}

/* From the distances of both ends, which lose nothing: the centre of an interval of a few units in
 * the last place is rounded, and from outside of [-1, 1] polynomials explode. */
static double place_of(const szgi_unit_map *map, double value) {
    return ((value - map->lo) - (map->hi - value)) / (map->hi - map->lo);
}

/* ---- From values ---- */

typedef struct values_job {
    const szg_spectrum *spectrum;
    szgi_unit_map map;
    int64_t count;
    double *sum; /* [PARTS + 1][count] */
} values_job;

/* sum[m] += times sum_i T_m(x_i) of at most BLOCK numbers. */
static void add_chebyshev(int64_t values, const double *x, double times, int64_t count,
                          double *sum) {
    double before[BLOCK], now[BLOCK];
    for (int64_t i = 0; i < values; i++) {
        before[i] = x[i]; /* T_{-1} = T_1 */
        now[i] = 1;
    }
    for (int64_t m = 0; m < count; m++) {
        double total = 0;
        for (int64_t i = 0; i < values; i++) {
            double next = 2 * x[i] * now[i] - before[i];
            total += now[i];
            before[i] = now[i];
            now[i] = next;
        }
        sum[m] += times * total;
    }
}

static szg_status values_part(szg_context *context, void *argument, int64_t part, int worker) {
    (void)worker;
    values_job *job = argument;
    double x[BLOCK];
    int64_t listed = job->spectrum->count, chunk = (listed + PARTS - 1) / PARTS;
    int64_t end = (part + 1) * chunk < listed ? (part + 1) * chunk : listed;
    for (int64_t first = part * chunk; first < end; first += BLOCK) {
        int64_t values = end - first < BLOCK ? end - first : BLOCK;
        for (int64_t i = 0; i < values; i++)
            x[i] = place_of(&job->map, job->spectrum->re[first + i]);
        add_chebyshev(values, x, 1, job->count, job->sum + part * job->count);
        SZG_TRY(szgi_context_check_cancel(context));
    }
    return SZG_OK;
}

szg_status szgi_moments_of_values(szg_context *context, const szg_spectrum *spectrum,
                                  const szgi_unit_map *map, int64_t count, double *moment) {
    values_job job = {.spectrum = spectrum, .map = *map, .count = count};
    SZG_TRY(szgi_memory_alloc(context, (PARTS + 1) * count, &job.sum));
    szg_status status = szgi_pool_run(context, PARTS, values_part, &job);
    double zero = place_of(map, 0);
    if (spectrum->zeros > 0)
        add_chebyshev(1, &zero, (double)spectrum->zeros, count, job.sum + PARTS * count);
    for (int64_t m = 0; m < count; m++) {
        moment[m] = 0;
        for (int64_t part = 0; part <= PARTS; part++)
            moment[m] += job.sum[part * count + m];
        moment[m] /= (double)spectrum->n;
    }
    szgi_memory_free(job.sum);
    return status;
}

/* ---- From products ---- */

typedef struct products_job {
    const szg_toeplitz *t;
    szgi_unit_map map;
    const szg_density_options *options;
    int64_t width; /* doubles a component: 2 of complex vectors */
    double *sum;   /* [vectors][moments] */
    _Atomic int64_t done;
} products_job;

/* t_{j-1}, t_j, and room for the product: n width numbers each. */
typedef struct recurrence {
    double *before, *now, *next;
} recurrence;

static void draw_signs(const products_job *job, int64_t vector, double *out) {
    int64_t n = szg_toeplitz_size(job->t);
    const szgi_stream stream = {.seed = job->options->seed, .step = (uint32_t)vector};
    for (int64_t i = 0; i < n; i++) {
        uint32_t word = szgi_random_word(&stream, (uint64_t)(i / 32));
        out[i * job->width] = word >> (i % 32) & 1 ? 1 : -1;
        if (job->width == 2)
            out[i * 2 + 1] = 0;
    }
}

static szg_status multiply(szg_context *context, const products_job *job, const double *x,
                           double *y) {
    int64_t n = szg_toeplitz_size(job->t);
    if (job->width == 1)
        return szg_toeplitz_apply(context, job->t, 'n', 1, x, n, y, n);
    return szgi_toeplitz_apply_complex(context, job->t, 'n', 1, (const szg_c64 *)x, n, (szg_c64 *)y,
                                       n);
}

/* What is done to a piece of the vectors, while it is in the cache. */
typedef struct step_job {
    const recurrence *at;
    double scale, centre;
    int64_t size;
    double (*products)[2]; /* of each piece: <now, now> and <next, now> */
} step_job;

enum { PIECE = 1 << 16 };

/* next := scale (A now - centre now) - before, where `next` holds A now. */
static szg_status step_piece(szg_context *context, void *argument, int64_t piece, int worker) {
    (void)context, (void)worker;
    const step_job *job = argument;
    int64_t first = piece * PIECE, left = job->size - first;
    int64_t count = left < PIECE ? left : PIECE;
    const double *before = job->at->before + first, *now = job->at->now + first;
    double *next = job->at->next + first;
    for (int64_t i = 0; i < count; i++)
        next[i] = job->scale * (next[i] - job->centre * now[i]) - before[i];
    job->products[piece][0] = szgi_dot(count, now, now);
    job->products[piece][1] = szgi_dot(count, next, now);
    return SZG_OK;
}

/* t_{j+1} from t_j, and <t_j, t_j> and <t_{j+1}, t_j>. */
static szg_status step(szg_context *context, const products_job *job, double times,
                       const recurrence *at, double products[2]) {
    step_job own = {.at = at, .scale = times / job->map.half, .centre = job->map.centre};
    own.size = szg_toeplitz_size(job->t) * job->width;
    int64_t pieces = (own.size - 1) / PIECE + 1;
    SZG_TRY(multiply(context, job, at->now, at->next));
    SZG_TRY(szgi_memory_alloc(context, pieces, &own.products));
    szg_status status = szgi_pool_run(context, pieces, step_piece, &own);
    products[0] = products[1] = 0;
    for (int64_t i = 0; i < pieces; i++) {
        products[0] += own.products[i][0];
        products[1] += own.products[i][1];
    }
    szgi_memory_free(own.products);
    return status;
}

/* Moments 2 j and 2 j + 1. Imaginary parts of <t_i, t_j> vanish in exact arithmetic, because t_i
 * and t_j are polynomials of one Hermitian matrix times one vector. */
static void take_two(int64_t j, const double products[2], double *sum) {
    double factor = j == 0 ? 1 : 2;
    sum[2 * j] = factor * products[0] - (j == 0 ? 0 : sum[0]);
    sum[2 * j + 1] = factor * products[1] - (j == 0 ? 0 : sum[1]);
}

/* The last of an odd number of moments, 2 j > 0, needs no further product. */
static void take_last(const products_job *job, int64_t j, const double *now, double *sum) {
    int64_t size = szg_toeplitz_size(job->t) * job->width;
    sum[2 * j] = 2 * szgi_dot(size, now, now) - sum[0];
}

static szg_status run_vector(szg_context *context, products_job *job, int64_t vector,
                             recurrence *at) {
    int64_t pairs = job->options->moments / 2, all = pairs * job->options->vectors;
    double *sum = job->sum + vector * job->options->moments;
    draw_signs(job, vector, at->now);
    for (int64_t j = 0; j < pairs; j++) {
        SZG_TRY(szgi_context_check_cancel(context));
        double products[2];
        SZG_TRY(step(context, job, j == 0 ? 1 : 2, at, products)); /* `before` is 0 at first */
        take_two(j, products, sum);
        double *free = at->before;
        *at = (recurrence){.before = at->now, .now = at->next, .next = free};
        szgi_progress(context, "moments", ++job->done, all);
    }
    if (job->options->moments % 2 != 0)
        take_last(job, pairs, at->now, sum);
    return SZG_OK;
}

static szg_status vector_block(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    products_job *job = argument;
    int64_t size = szg_toeplitz_size(job->t) * job->width;
    double *memory;
    SZG_TRY(szgi_memory_alloc(context, 3 * size, &memory));
    recurrence at = {.before = memory, .now = memory + size, .next = memory + 2 * size};
    szg_status status = run_vector(context, job, block, &at);
    szgi_memory_free(memory);
    return status;
}

/* A vector a thread; where there are fewer vectors, one after the other, and each product has all
 * threads. The numbers are the same. */
static int64_t vectors_at_once(const szg_context *context, const products_job *job) {
    int64_t threads = szg_context_threads(context);
    return job->options->vectors >= threads ? threads : 1;
}

static szg_status require_memory(szg_context *context, const products_job *job) {
    int64_t columns =
        vectors_at_once(context, job) * (3 * job->width + szgi_toeplitz_vectors(job->t));
    return szgi_memory_require(context, szg_toeplitz_size(job->t), columns, sizeof(double),
                               "the work of the spectral density",
                               "take a smaller order, or fewer threads");
}

static szg_status run_vectors(szg_context *context, products_job *job) {
    int64_t vectors = job->options->vectors;
    if (vectors_at_once(context, job) > 1)
        return szgi_pool_run(context, vectors, vector_block, job);
    for (int64_t v = 0; v < vectors; v++)
        SZG_TRY(vector_block(context, job, v, 0));
    return SZG_OK;
}

szg_status szgi_moments_of_products(szg_context *context, const szg_toeplitz *t,
                                    const szgi_unit_map *map, const szg_density_options *options,
                                    double *moment) {
    int64_t n = szg_toeplitz_size(t), count = options->moments, size;
    products_job job = {.t = t, .map = *map, .options = options};
    job.width = szgi_toeplitz_is_real(t) ? 1 : 2;
    SZG_TRY(szgi_memory_product(context, options->vectors, count, &size));
    SZG_TRY(require_memory(context, &job));
    SZG_TRY(szgi_memory_alloc(context, size, &job.sum));
    szg_status status = run_vectors(context, &job);
    for (int64_t m = 0; m < count; m++) {
        moment[m] = 0;
        for (int64_t v = 0; v < options->vectors; v++)
            moment[m] += job.sum[v * count + m];
        moment[m] /= (double)n * (double)options->vectors;
    }
    szgi_memory_free(job.sum);
    return status;
}
