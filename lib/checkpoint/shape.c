#include "shape.h"

#include <math.h>

#include "base/memory.h"
#include "toeplitz/toeplitz.h"
#include "lag_weight.h"

const char *szgi_shape_name(shape_kind kind) {
    static const char *const names[] = {
        [SHAPE_FLAT] = "flat",         [SHAPE_DECAYING] = "decaying", [SHAPE_RISING] = "rising",
        [SHAPE_BACKWARD] = "backward", [SHAPE_FORWARD] = "forward",   [SHAPE_PEAKED] = "peaked",
        [SHAPE_PERIODIC] = "periodic", [SHAPE_MIXED] = "mixed"};
    return names[kind];
}

/* ---- One hump ---- */

/* A block of lags with one fitted value. */
typedef struct level {
    double weight, mean, error;
} level;

/* error[i]: the weighted squared error of the best non-decreasing fit of y_0 .. y_i, by pooling
 * adjacent violators (Ayer et al. 1955). `stack` is room for `count` levels. */
static void fit_rising(int64_t count, const double *weight, const double *y, level *stack,
                       double *error) {
    int64_t top = 0;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        level now = {weight[i], y[i], 0};
        while (top > 0 && stack[top - 1].mean >= now.mean) {
            level before = stack[--top];
            double all = before.weight + now.weight, gap = before.mean - now.mean;
            sum -= before.error + now.error;
            now.error += before.error + before.weight * now.weight / all * gap * gap;
            now.mean = (before.weight * before.mean + now.weight * now.mean) / all;
            now.weight = all;
            sum += now.error;
        }
        stack[top++] = now;
        error[i] = sum;
    }
}

/* The numbers of a kernel at its lags, first to last. */
typedef struct samples {
    int64_t count, first;
    const double *value;
} samples;

typedef struct hump_work {
    double *weight, *back_weight, *back_value, *up, *down;
    level *stack;
    double *memory;
} hump_work;

static szg_status open_work(szg_context *context, const samples *kernel, hump_work *work) {
    int64_t n = kernel->count;
    *work = (hump_work){0};
    SZG_TRY(szgi_memory_alloc(context, 5 * n, &work->memory));
    work->weight = work->memory;
    work->back_weight = work->weight + n;
    work->back_value = work->back_weight + n;
    work->up = work->back_value + n;
    work->down = work->up + n;
    szgi_lag_weights(kernel->first, n, work->weight);
    for (int64_t i = 0; i < n; i++) {
        work->back_weight[n - 1 - i] = work->weight[i];
        work->back_value[n - 1 - i] = kernel->value[i];
    }
    return szgi_memory_alloc(context, n, &work->stack);
}

static void close_work(hump_work *work) {
    szgi_memory_free(work->memory);
    szgi_memory_free(work->stack);
}

/* Is the error of the best rise and fall at most a tenth of that of a constant? */
static szg_status find_hump(szg_context *context, const samples *kernel, bool *out) {
    int64_t n = kernel->count;
    hump_work work;
    szg_status status = open_work(context, kernel, &work);
    if (status == SZG_OK) {
        double all = szgi_lag_spread(n, work.weight, kernel->value).variance, best = INFINITY;
        fit_rising(n, work.weight, kernel->value, work.stack, work.up);
        fit_rising(n, work.back_weight, work.back_value, work.stack, work.down);
        for (int64_t i = 0; i < n; i++)
            best = fmin(best, work.up[i] + (i + 1 < n ? work.down[n - 2 - i] : 0));
        *out = best <= 0.1 * all;
    }
    close_work(&work);
    return status;
}

/* ---- One wave ---- */

/* What the two waves of a pair are to the kernel. */
typedef struct pair_part {
    double term;      /* the variance of the pair's own term */
    double explained; /* the share of the kernel's variance that a pair of free coefficients would
                       * explain: b^T C^-1 b / variance, C the covariances of the two waves, b
                       * theirs with the kernel */
} pair_part;

static pair_part part_of(const lag_moments *moments, const double *wave, const double *projected,
                         double variance, int64_t t) {
    int64_t n = 2 * moments->pairs;
    double c[2][2] = {{0}}, b[2] = {0}, square = 0;
    for (int64_t r = 0; r < moments->rank; r++) {
        const double *row = moments->root + r * n + 2 * t;
        double term = row[0] * wave[2 * t] + row[1] * wave[2 * t + 1];
        square += term * term;
        for (int i = 0; i < 2; i++) {
            b[i] += row[i] * projected[r];
            for (int j = 0; j < 2; j++)
                c[i][j] += row[i] * row[j];
        }
    }
    double determinant = c[0][0] * c[1][1] - c[0][1] * c[1][0];
    if (!(determinant > 1e-12 * c[0][0] * c[1][1]) || !(variance > 0))
        return (pair_part){.term = square};
    double fit = b[0] * b[0] * c[1][1] - 2 * b[0] * b[1] * c[0][1] + b[1] * b[1] * c[0][0];
    return (pair_part){.term = square, .explained = fit / (determinant * variance)};
}

/* Pairs that matter to a kernel; -1: none. */
typedef struct carriers {
    int64_t largest;  /* its own term varies most */
    int64_t wave;     /* of those that turn twice within the lags the one that explains most, */
    double explained; /* which is this share */
} carriers;

static szg_status find_carriers(szg_context *context, const szgi_rotary *rotary,
                                const lag_kernel *kernel, const lag_moments *moments,
                                carriers *out) {
    const double turn = 2 * acos(-1.0);
    double *projected, variance = 0, most = 0;
    *out = (carriers){.largest = -1, .wave = -1};
    SZG_TRY(szgi_memory_alloc(context, moments->rank + 1, &projected));
    for (int64_t r = 0; r < moments->rank; r++) {
        projected[r] =
            szgi_dot(2 * moments->pairs, moments->root + r * 2 * moments->pairs, kernel->wave);
        variance += projected[r] * projected[r];
    }
    for (int64_t t = 0; t < rotary->pairs; t++) {
        pair_part part = part_of(moments, kernel->wave, projected, variance, t);
        if (part.term > most) {
            most = part.term;
            out->largest = t;
        }
        if (rotary->theta[t] * (double)moments->lags >= 2 * turn &&
            part.explained > out->explained) {
            out->explained = part.explained;
            out->wave = t;
        }
    }
    szgi_memory_free(projected);
    return SZG_OK;
}

/* ---- The word ---- */

/* Of equal values the lag nearest to 0, and of two the positive one. */
static bool is_nearer(const samples *kernel, int64_t i, int64_t than) {
    int64_t a = kernel->first + i, b = kernel->first + than;
    return (a < 0 ? -a : a) <= (b < 0 ? -b : b);
}

static void find_ends(const samples *kernel, kernel_shape *out) {
    int64_t least = 0, greatest = 0;
    for (int64_t i = 1; i < kernel->count; i++) {
        double value = kernel->value[i], low = kernel->value[least], high = kernel->value[greatest];
        if (value < low || (value == low && is_nearer(kernel, i, least)))
            least = i;
        if (value > high || (value == high && is_nearer(kernel, i, greatest)))
            greatest = i;
    }
    out->least = kernel->value[least];
    out->greatest = kernel->value[greatest];
    out->least_at = kernel->first + least;
    out->greatest_at = kernel->first + greatest;
}

/* A hump stands at an end of the lags where the value there is within a fiftieth of the range of
 * the largest. */
static shape_kind name_hump(const samples *kernel, const kernel_shape *found) {
    double near = found->greatest - 0.02 * (found->greatest - found->least);
    bool both = kernel->first < 0;
    if (kernel->value[-kernel->first] >= near)
        return SHAPE_DECAYING;
    if (kernel->value[kernel->count - 1] >= near)
        return both ? SHAPE_BACKWARD : SHAPE_RISING;
    return both && kernel->value[0] >= near ? SHAPE_FORWARD : SHAPE_PEAKED;
}

szg_status szgi_shape_of_values(szg_context *context, int64_t first, int64_t count,
                                const double *value, bool beyond_chance, kernel_shape *out) {
    const samples kernel = {.count = count, .first = first, .value = value};
    bool hump;
    *out = (kernel_shape){.kind = SHAPE_FLAT, .carrier = -1, .wavelength = NAN};
    find_ends(&kernel, out);
    if (!beyond_chance)
        return SZG_OK;
    SZG_TRY(find_hump(context, &kernel, &hump));
    out->kind = hump ? name_hump(&kernel, out) : SHAPE_MIXED;
    return SZG_OK;
}

szg_status szgi_shape_find(szg_context *context, const szgi_rotary *rotary,
                           const lag_kernel *kernel, const lag_moments *moments, bool beyond_chance,
                           kernel_shape *out) {
    const double turn = 2 * acos(-1.0);
    int64_t n = szgi_lag_moments_count(moments);
    int64_t first = moments->both ? 1 - moments->lags : 0;
    carriers pairs;
    double *value;
    SZG_TRY(szgi_memory_alloc(context, n, &value));
    szg_status status = szgi_kernel_values(context, kernel, moments, value);
    if (status == SZG_OK)
        status = szgi_shape_of_values(context, first, n, value, beyond_chance, out);
    szgi_memory_free(value);
    SZG_TRY(status);
    SZG_TRY(find_carriers(context, rotary, kernel, moments, &pairs));
    bool periodic = out->kind == SHAPE_MIXED && pairs.explained >= 0.5;
    if (periodic)
        out->kind = SHAPE_PERIODIC;
    out->carrier = periodic ? pairs.wave : pairs.largest;
    out->wavelength = out->carrier < 0 ? NAN : turn / rotary->theta[out->carrier];
    return SZG_OK;
}
