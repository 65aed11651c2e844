/* The ends of the spectrum of several blocks together. */
#include "base/pool.h"

#include "certified_blocks.h"

static const double U = 0x1p-53;

szg_status szgi_blocks_open(szg_context *context, double largest, szgi_block_set *set) {
    int64_t size = 0;
    for (int64_t i = 0; i < set->count; i++)
        size += set->block[i].n * set->block[i].n * set->block[i].width;
    SZG_TRY(szgi_memory_require(context, size, 1, sizeof *set->memory,
                                "the proof of the eigenvalues' range",
                                "leave --certify out, or take a smaller order"));
    SZG_TRY(szgi_memory_alloc(context, size, &set->memory));
    set->work[0] = set->memory;
    set->work[1] = set->memory + set->block[0].n * set->block[0].n * set->block[0].width;
    frexp(largest, &set->exponent);
    return SZG_OK;
}

static szg_status block_ends(szg_context *context, szgi_block_set *set, int64_t i) {
    const szgi_end_search up = {1, set->largest, set->margin}, down = {-1, set->least, set->margin};
    SZG_TRY(szgi_block_end(context, &set->block[i], &up, set->work[i], &set->max[i]));
    set->min[i] = (szg_interval){0, 0};
    return set->singular
               ? SZG_OK
               : szgi_block_end(context, &set->block[i], &down, set->work[i], &set->min[i]);
}

static szg_status prove_block(szg_context *context, void *argument, int64_t i, int worker) {
    szgi_block_set *set = argument;
    int64_t first = i * set->block[0].n;
    (void)worker;
    SZG_TRY(block_ends(context, set, i));
    return set->lo ? szgi_block_values(context, &set->block[i], set->lo + first, set->hi + first)
                   : SZG_OK;
}

double szgi_scale_outwards(double x, int exponent, double side) {
    double scaled = ldexp(x, exponent);
    return ldexp(scaled, -exponent) == x ? scaled : nextafter(scaled, side);
}

/* The set's ends are those of the block that goes further. */
static void join_ends(const szgi_block_set *set, szg_spectrum *spectrum) {
    szg_interval min = set->min[0], max = set->max[0];
    for (int64_t i = 1; i < set->count; i++) {
        min = (szg_interval){fmin(min.lo, set->min[i].lo), fmin(min.hi, set->min[i].hi)};
        max = (szg_interval){fmax(max.lo, set->max[i].lo), fmax(max.hi, set->max[i].hi)};
    }
    int e = set->exponent;
    spectrum->min = (szg_interval){szgi_scale_outwards(min.lo, e, -INFINITY),
                                   szgi_scale_outwards(min.hi, e, INFINITY)};
    spectrum->max = (szg_interval){szgi_scale_outwards(max.lo, e, -INFINITY),
                                   szgi_scale_outwards(max.hi, e, INFINITY)};
    spectrum->certified = true;
}

/* Room for the bounds of every value, where the blocks' eigenvalues are those that are listed. */
static szg_status open_values(szg_context *context, szgi_block_set *set, szg_spectrum *spectrum) {
    int64_t count = set->block[0].n + (set->count > 1 ? set->block[1].n : 0);
    if (!set->values || count != spectrum->count)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, count, &spectrum->lo));
    SZG_TRY(szgi_memory_alloc(context, count, &spectrum->hi));
    set->lo = spectrum->lo;
    set->hi = spectrum->hi;
    return SZG_OK;
}

/* The k-th smallest eigenvalue is not below the k-th smallest lower bound, and likewise above. */
static void join_values(const szgi_block_set *set, szg_spectrum *spectrum) {
    szgi_sort_ascending(spectrum->count, set->lo);
    szgi_sort_ascending(spectrum->count, set->hi);
    for (int64_t i = 0; i < spectrum->count; i++) {
        set->lo[i] = szgi_scale_outwards(set->lo[i], set->exponent, -INFINITY);
        set->hi[i] = szgi_scale_outwards(set->hi[i], set->exponent, INFINITY);
        if (set->semidefinite)
            set->lo[i] = fmax(set->lo[i], 0);
    }
}

double szgi_subnormal_margin(int exponent) {
    return ldexp(1, exponent < -1474 ? 400 : -1074 - exponent);
}

/* The first guess is off by what LAPACK's values may be: some units in the last place of the norm,
 * which grow slowly with the order, and the distance of subnormal numbers. */
szg_status szgi_blocks_prove(szg_context *context, szgi_block_set *set, szg_spectrum *spectrum) {
    double least, largest, order = (double)set->block[0].n; /* of the larger one */
    SZG_TRY(szgi_spectrum_range(context, spectrum, &least, &largest));
    set->least = ldexp(least, -set->exponent);
    set->largest = ldexp(largest, -set->exponent);
    set->margin = (order + 4) * U * fmax(fabs(set->least), fabs(set->largest)) +
                  szgi_subnormal_margin(set->exponent);
    SZG_TRY(open_values(context, set, spectrum));
    /* One block: its factorisation takes all threads by itself. */
    szg_status status = set->count == 1 ? prove_block(context, set, 0, 0)
                                        : szgi_pool_run(context, set->count, prove_block, set);
    if (status == SZG_OK)
        join_ends(set, spectrum);
    if (status == SZG_OK && set->lo)
        join_values(set, spectrum);
    if (status == SZG_OK && set->semidefinite)
        spectrum->min.lo = fmax(spectrum->min.lo, 0);
    return status;
}

void szgi_certify_point(double x, szg_spectrum *spectrum) {
    spectrum->min = spectrum->max = (szg_interval){x, x};
    spectrum->certified = true;
}

szg_status szgi_certify_points(szg_context *context, double x, bool values,
                               szg_spectrum *spectrum) {
    szgi_certify_point(x, spectrum);
    if (!values || spectrum->lo)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, spectrum->count, &spectrum->lo));
    SZG_TRY(szgi_memory_alloc(context, spectrum->count, &spectrum->hi));
    for (int64_t i = 0; i < spectrum->count; i++)
        spectrum->lo[i] = spectrum->hi[i] = x;
    return SZG_OK;
}

void szgi_blocks_close(szgi_block_set *set) {
    szgi_memory_free(set->memory);
}

/* ---- One array ---- */

static double largest_of(int64_t n, int64_t width, const double *a, int64_t lda) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (i + 1) * width; j++) {
            double value = fabs(a[i * lda * width + j]);
            largest = value > largest ? value : largest;
        }
    return largest;
}

szg_status szgi_certify_array(szg_context *context, bool values, int64_t n, int64_t width,
                              const double *a, int64_t lda, double error, szg_spectrum *spectrum) {
    double largest = largest_of(n, width, a, lda);
    szgi_block_set set = {.count = 1, .values = values, .block = {{.n = n, .width = width}}};
    if (largest == 0 && error == 0) {
        szgi_certify_point(0, spectrum);
        return SZG_OK;
    }
    SZG_TRY(szgi_blocks_open(context, fmax(largest, error), &set));
    int half = set.exponent / 2;
    const szgi_array_rows rows = {.a = a,
                                  .stride = lda * width,
                                  .width = width,
                                  .first = ldexp(1, -half),
                                  .second = ldexp(1, half - set.exponent)};
    set.block[0].row = szgi_array_row;
    set.block[0].data = &rows;
    set.block[0].error = ldexp(error, -set.exponent);
    szg_status status = szgi_blocks_prove(context, &set, spectrum);
    szgi_blocks_close(&set);
    return status;
}
