/* What square matrices are that are no logits: masked by finite numbers, or attention weights.
 *
 * A mask puts what a softmax shall not see far below the logits: at -1e4, -65504, -1e9 or the least
 * number of a type, in their place or added to them. An entry is taken for hidden if
 * - it lies below -1000, and below every other by a factor of four in magnitude: the octave that
 *   holds the least magnitude of the hidden ones has nothing within two octaves under it;
 * - and besides, the hidden ones are two or more below -9000, or are all one number, or are the
 *   whole upper triangle.
 * Weights of a softmax differ by a factor of e^750 then. A bias that grows with the distance leaves
 * no such gap, sinks of some thousands are not below -9000, and a single number hides nothing. Of
 * three tokens or fewer nothing is said. */
#include <inttypes.h>
#include <math.h>

#include "coupling/look.h"

static const double LEAST_HIDDEN = 1000, SURELY_HIDDEN = 9000, FACTOR = 4;
enum { FEW_TOKENS = 3, OCTAVES = 1025, FIRST_OCTAVE = 8 };

/* Magnitudes of the negative numbers from -2^7 down, by octave: [2^(e-1), 2^e). */
typedef struct octave {
    int64_t count;
    double least, most;
} octave;

typedef struct magnitudes {
    octave of[OCTAVES];
    double others; /* the greatest of all other numbers */
    int64_t count; /* of those */
} magnitudes;

static void sort_magnitudes(int64_t n, const double *a, int64_t lda, bool causal, magnitudes *m) {
    *m = (magnitudes){0};
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (causal ? i + 1 : n); j++) {
            double value = a[i * lda + j];
            int e;
            if (value > -128) {
                m->others = fmax(m->others, value);
                m->count++;
                continue;
            }
            frexp(value, &e);
            octave *o = &m->of[e];
            o->least = o->count ? fmin(o->least, -value) : -value;
            o->most = fmax(o->most, -value);
            o->count++;
        }
}

/* How many entries above the diagonal are at most `limit`, and one entry that is. */
static int64_t count_above(int64_t n, const double *a, int64_t lda, bool causal, double limit,
                           int64_t *row, int64_t *column) {
    int64_t above = 0;
    *row = *column = -1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (causal ? i + 1 : n); j++)
            if (a[i * lda + j] <= limit) {
                above += j > i;
                if (*row < 0)
                    *row = i, *column = j;
            }
    return above;
}

bool szgi_logits_hidden(int64_t n, const double *a, int64_t lda, bool causal, int64_t *row,
                        int64_t *column) {
    magnitudes m;
    if (n <= FEW_TOKENS)
        return false;
    sort_magnitudes(n, a, lda, causal, &m);
    int64_t hidden = 0, visible = m.count;
    const int64_t future = n * (n - 1) / 2;
    double most = 0, others = m.others;
    for (int e = FIRST_OCTAVE; e < OCTAVES; e++) {
        hidden += m.of[e].count;
        most = fmax(most, m.of[e].most);
    }
    for (int e = FIRST_OCTAVE; e < OCTAVES; e++) {
        const octave *o = &m.of[e];
        double least = o->least;
        if (o->count == 0)
            continue;
        bool apart = visible > 0 && least >= LEAST_HIDDEN && least >= FACTOR * others;
        bool sure = hidden > 1 && (least >= SURELY_HIDDEN || least == most);
        if (apart && (sure || (!causal && hidden == future)) &&
            (count_above(n, a, lda, causal, -least, row, column) == future || sure))
            return true;
        visible += o->count;
        hidden -= o->count;
        others = fmax(others, o->most);
    }
    return false;
}

/* Row sums of numbers that are not negative, and the exact zeros that a softmax has not. */
typedef struct row_sums {
    int64_t visible, zeros;
    double mean, most;
    bool all_one; /* each to the rounding of 16-bit numbers */
} row_sums;

static const double SUM_ERROR = 0x1p-6;

/* False: a number is negative, or not a number. */
static bool sum_rows(int64_t n, const double *a, int64_t lda, bool causal, row_sums *out) {
    *out = (row_sums){.all_one = true};
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        int64_t columns = causal ? i + 1 : n;
        for (int64_t j = 0; j < columns; j++) {
            if (!(a[i * lda + j] >= 0))
                return false;
            sum += a[i * lda + j];
            out->zeros += a[i * lda + j] == 0;
        }
        out->visible += columns;
        out->mean += sum / (double)n;
        out->most = fmax(out->most, sum);
        out->all_one = out->all_one && fabs(sum - 1) < SUM_ERROR;
    }
    return true;
}

static bool future_is_zero(int64_t n, const double *a, int64_t lda) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            if (a[i * lda + j] != 0)
                return false;
    return true;
}

/* Dropout of a share p makes a weight 0, or divides it by 1 - p: rows sum to 1 in the mean, with a
 * variance of at most p / (1 - p), and to 1 / (1 - p) at most. p is the share of zeros; four
 * standard deviations are left to it, and to the mean. */
static bool after_dropout(int64_t n, const row_sums *rows) {
    enum { FEW_ROWS = 8 };
    double p = (double)rows->zeros / (double)rows->visible;
    if (n < FEW_ROWS || rows->zeros == 0 || p > 0.6)
        return false;
    double most = p + 4 * sqrt(p * (1 - p) / (double)rows->visible);
    return most < 0.8 && rows->most <= (1 + SUM_ERROR) / (1 - most) &&
           fabs(rows->mean - 1) <= 4 * sqrt(p / (1 - p) / (double)n);
}

const char *szgi_logits_weights(int64_t n, const double *a, int64_t lda, bool causal) {
    row_sums rows;
    if (n < 2 || !sum_rows(n, a, lda, causal, &rows))
        return NULL;
    if (rows.all_one)
        return "every row is not negative and sums to 1";
    if (!causal && future_is_zero(n, a, lda))
        sum_rows(n, a, lda, true, &rows);
    return after_dropout(n, &rows) ? "no number is negative, and the rows sum to 1 in the mean, "
                                     "with zeros as of dropout"
                                   : NULL;
}

szg_status szgi_logits_look(szg_context *context, const szg_matrix *matrix, const char *name,
                            bool causal, const char *remedy) {
    const double *a = matrix->of.dense.a;
    int64_t n = matrix->rows, lda = matrix->of.dense.lda, row, column;
    bool given = matrix->kind == SZG_MATRIX_DENSE || matrix->kind == SZG_MATRIX_SYMMETRIC;
    if (!given || matrix->encoding || n != matrix->columns)
        return SZG_OK;
    if (szgi_logits_hidden(n, a, lda, causal, &row, &column))
        return szgi_fail(context, SZG_EDATA,
                         "%s: row %" PRId64 ", column %" PRId64
                         " is %g, as of a mask: logits are taken before mask and softmax; %s",
                         name, row, column, a[row * lda + column], remedy);
    const char *weights = szgi_logits_weights(n, a, lda, causal);
    if (weights)
        szgi_say(context, SZG_WARNING,
                 "%s: %s: these look like attention weights, after the softmax; give the logits "
                 "from before it",
                 name, weights);
    return SZG_OK;
}
