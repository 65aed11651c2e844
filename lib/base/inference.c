/* Inference from few numbers. */
#include <math.h>
#include <stdlib.h>

#include "base/inference.h"
#include "base/memory.h"
#include "base/random.h"

/* ---- The mean ---- */

/* The chance of |t| <= tan(angle) sqrt(freedom): a finite sum (Abramowitz and Stegun 26.7.3-4). */
static double student_within(int64_t freedom, double angle) {
    double cosine = cos(angle), sum = 0, term = freedom % 2 ? cosine : 1;
    for (int64_t k = freedom % 2 ? 3 : 2; k <= freedom; k += 2) {
        sum += term;
        term *= cosine * cosine * (double)(k - 1) / (double)k;
    }
    return freedom % 2 ? (angle + sin(angle) * sum) / acos(0) : sin(angle) * sum;
}

double szgi_student_quantile(int64_t freedom) {
    double low = 0, high = acos(0);
    if (freedom < 1)
        return NAN;
    for (int halving = 0; halving < 60; halving++) {
        double middle = (low + high) / 2;
        *(student_within(freedom, middle) < .95 ? &low : &high) = middle;
    }
    return tan(low) * sqrt((double)freedom);
}

szgi_mean_interval szgi_mean_interval_of(int64_t count, const double *x) {
    double n = (double)count, sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    double mean = count > 0 ? sum / n : NAN;
    for (int64_t i = 0; i < count; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    double reach = szgi_student_quantile(count - 1) * sqrt(squares / (n - 1) / n);
    return (szgi_mean_interval){mean, mean - reach, mean + reach};
}

/* ---- Signs ---- */

/* Choices of the signs of x[0 .. count - 1], added to `sum`, that end at `bound` or beyond. */
static double count_beyond(int64_t count, const double *x, double sum, double bound) {
    if (count == 0)
        return fabs(sum) >= bound;
    return count_beyond(count - 1, x + 1, sum + x[0], bound) +
           count_beyond(count - 1, x + 1, sum - x[0], bound);
}

static double drawn_share(int64_t count, const double *x, double bound) {
    enum { PURPOSE = 0x5349474e };
    int64_t words = (count + 31) / 32, beyond = 1; /* x itself */
    for (int64_t trial = 0; trial < SZGI_DRAWN_SIGNS; trial++) {
        szgi_stream stream = {.step = (uint32_t)trial, .purpose = PURPOSE};
        double sum = 0;
        for (int64_t word = 0; word < words; word++) {
            uint32_t bits = szgi_random_word(&stream, (uint64_t)word);
            for (int64_t i = 32 * word; i < count && i < 32 * (word + 1); i++, bits >>= 1)
                sum += bits & 1 ? x[i] : -x[i];
        }
        beyond += fabs(sum) >= bound;
    }
    return (double)beyond / (SZGI_DRAWN_SIGNS + 1.0);
}

double szgi_sign_flip(int64_t count, const double *x, double error) {
    double sum = 0, size = 0;
    if (count < 1)
        return NAN;
    for (int64_t i = 0; i < count; i++) {
        sum += x[i];
        size += fabs(x[i]);
    }
    /* A choice that is equal to x but for rounding is as far: either sum of n terms is off by n - 1
     * roundings, each at most a unit 2^-53 of the terms' size, and by the errors of n terms. */
    double bound = fabs(sum) - 2 * (double)count * (0x1p-53 * size + error);
    if (isnan(bound))
        return NAN;
    if (count > SZGI_EXACT_SIGNS)
        return drawn_share(count, x, bound);
    /* The other half of the choices are the opposites. */
    return count_beyond(count - 1, x + 1, x[0], bound) / ldexp(1, (int)count - 1);
}

/* ---- Several hypotheses ---- */

typedef struct place {
    double value;
    int64_t index;
} place;

static int ascending(const void *left, const void *right) {
    const place *a = left, *b = right;
    int order = (a->value > b->value) - (a->value < b->value);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Places in the order of their values; free. */
static szg_status sort_places(szg_context *context, int64_t count, const double *x, place **out) {
    SZG_TRY(szgi_memory_alloc(context, count, out));
    for (int64_t i = 0; i < count; i++)
        (*out)[i] = (place){x[i], i};
    qsort(*out, (size_t)count, sizeof **out, ascending);
    return SZG_OK;
}

szg_status szgi_holm(szg_context *context, int64_t count, const double *p, double *adjusted) {
    place *sorted;
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        adjusted[i] = isnan(p[i]) ? 1 : p[i];
    SZG_TRY(sort_places(context, count, adjusted, &sorted));
    for (int64_t rank = 0; rank < count; rank++) {
        int64_t own = sorted[rank].index;
        largest = fmax(largest, fmin(1, (double)(count - rank) * sorted[rank].value));
        adjusted[own] = isnan(p[own]) ? NAN : largest;
    }
    szgi_memory_free(sorted);
    return SZG_OK;
}

/* ---- Rank correlation ---- */

/* Ranks from 1; equal numbers have the mean of theirs. */
static szg_status rank(szg_context *context, int64_t count, const double *x, double *out) {
    place *sorted;
    SZG_TRY(sort_places(context, count, x, &sorted));
    for (int64_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && sorted[next].value == sorted[first].value;)
            next++;
        for (int64_t i = first; i < next; i++)
            out[sorted[i].index] = (double)(first + next + 1) / 2;
    }
    szgi_memory_free(sorted);
    return SZG_OK;
}

/* Pearson's, of ranks: their mean is (count + 1) / 2, with ties too. */
static double correlate(int64_t count, const double *x, const double *y) {
    double mean = ((double)count + 1) / 2, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < count; i++) {
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
        xy += (x[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

szg_status szgi_spearman(szg_context *context, int64_t count, const double *x, const double *y,
                         double *out) {
    double *ranks;
    *out = NAN;
    for (int64_t i = 0; i < count; i++)
        if (isnan(x[i]) || isnan(y[i]))
            return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, 2 * count, &ranks));
    szg_status status = rank(context, count, x, ranks);
    if (status == SZG_OK)
        status = rank(context, count, y, ranks + count);
    if (status == SZG_OK)
        *out = correlate(count, ranks, ranks + count);
    szgi_memory_free(ranks);
    return status;
}
