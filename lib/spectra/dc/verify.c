#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "kernels.h"
#include "verify.h"

/* An error of c eps norm in one eigenvalue of m changes their sum by as much; errors of all of them
 * add up like their square root, in practice, and like m at worst. */
static double allowance(int64_t size, double norm) {
    return 64 * DBL_EPSILON * norm * sqrt((double)size);
}

/* sum over i, j of t_|i-j| t_|i+j-(n-1)|: with u = i - j, v = i + j - (n-1) it runs over
 * |u| + |v| <= n - 1, u + v = n - 1 (mod 2); partial sums over v of either parity. */
static long double mirrored_square(int64_t n, const double *t) {
    long double partial[2] = {0, 0}, sum = 0;
    for (int64_t m = 0; m < n; m++) {
        partial[m % 2] += (m == 0 ? 1 : 2) * (long double)t[m];
        int64_t u = n - 1 - m;
        sum += (u == 0 ? 1 : 2) * (long double)t[u] * partial[m % 2];
    }
    return sum;
}

static bool sums_agree(const szgi_dc_answer *answer) {
    int64_t n = answer->n;
    const double *t = answer->lags;
    long double square = (long double)n * t[0] * t[0], mirrored_trace = 0;
    for (int64_t j = 1; j < n; j++)
        square += 2 * (long double)(n - j) * t[j] * t[j];
    for (int64_t i = 0; i < n; i++)
        mirrored_trace += t[2 * i < n ? n - 1 - 2 * i : 2 * i - (n - 1)];
    long double mirrored = mirrored_square(n, t);
    for (int half = 0; half < 2; half++) {
        int64_t size = half == 0 ? (n + 1) / 2 : n / 2;
        long double sign = half == 0 ? 1 : -1, sum = 0, squares = 0;
        for (int64_t i = 0; i < size; i++) {
            sum += answer->half[half][i];
            squares += (long double)answer->half[half][i] * answer->half[half][i];
        }
        long double trace = ((long double)n * t[0] + sign * mirrored_trace) / 2;
        long double whole = (square + sign * mirrored) / 2;
        double bound = allowance(size, answer->norm);
        if (!(fabsl(sum - trace) <= bound) || !(fabsl(squares - whole) <= 2 * answer->norm * bound))
            return false;
    }
    return true;
}

/* The middle of the widest gap between eigenvalues first .. last: `below` eigenvalues lie under it.
 */
static bool widest_gap(const szgi_dc_answer *answer, int64_t first, int64_t last, double *shift,
                       int64_t *below) {
    double widest = 1e-9 * answer->norm;
    *below = -1;
    for (int64_t i = first; i < last; i++) {
        double gap = answer->all[i + 1] - answer->all[i];
        if (!(gap > widest))
            continue;
        widest = gap;
        *shift = answer->all[i] + gap / 2;
        *below = i + 1;
    }
    return *below >= 0;
}

typedef struct inertia {
    const szgi_dc_answer *answer;
    double shift[2];
    int64_t expected[2], counted[2]; /* counted -1: undecided */
    double *memory;
} inertia;

/* Durbin's recursion for T - shift: the pivots are the prediction errors. x holds the predictor, y
 * the same reversed; one step shifts y against x. */
static szg_status count_below(szg_context *context, void *argument, int64_t which, int worker) {
    (void)worker;
    inertia *job = argument;
    int64_t n = job->answer->n, negative;
    double *reversed = job->memory + which * 4 * n, *x = reversed + n, *y = x + 2 * n;
    for (int64_t j = 0; j < n; j++)
        reversed[n - 1 - j] = job->answer->lags[j];
    double pivot = job->answer->lags[0] - job->shift[which], largest = fabs(pivot);
    double smallest = largest;
    negative = pivot < 0;
    for (int64_t k = 1; k < n && smallest > 1e-9 * largest; k++) {
        double sum;
        szgi_dc_dot(k - 1, x, reversed + (n - k), &sum);
        double c = -(job->answer->lags[k] + sum) / pivot;
        szgi_dc_reflect(k - 1, c, x, y);
        x[k - 1] = c;
        *--y = c;
        pivot *= (1 - c) * (1 + c);
        largest = fmax(largest, fabs(pivot));
        smallest = fmin(smallest, fabs(pivot));
        negative += pivot < 0;
        if (k % 4096 == 0)
            SZG_TRY(szgi_context_check_cancel(context));
    }
    job->counted[which] = smallest > 1e-9 * largest ? negative : -1;
    return SZG_OK;
}

static szg_status counts_agree(szg_context *context, const szgi_dc_answer *answer,
                               bool *confirmed) {
    int64_t n = answer->n, jobs = 0;
    inertia job = {.answer = answer};
    for (int64_t part = 0; part < 2; part++)
        if (widest_gap(answer, (part + 1) * n / 4, (part + 2) * n / 4, &job.shift[jobs],
                       &job.expected[jobs]))
            jobs++;
    SZG_TRY(szgi_memory_alloc(context, 8 * n, &job.memory));
    szg_status status = szgi_pool_run(context, jobs, count_below, &job);
    szgi_memory_free(job.memory);
    for (int64_t i = 0; i < jobs; i++)
        if (job.counted[i] >= 0 && job.counted[i] != job.expected[i])
            *confirmed = false;
    return status;
}

szg_status szgi_dc_verify(szg_context *context, const szgi_dc_answer *answer, bool *confirmed) {
    *confirmed = sums_agree(answer);
    return *confirmed ? counts_agree(context, answer, confirmed) : SZG_OK;
}
