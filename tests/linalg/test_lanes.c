/* Batches of small symmetric matrices, one a lane of a vector, at every vector level that the
 * processor has.
 *
 * Bounds: the reduction and QL are products of rotations and reflectors, each with a relative error
 * of a few units, so that the values are those of A + E with ||E||_F <= c n eps ||A||_F (Wilkinson
 * 1965, 3.26 and 8.46), and no value moves by more (Weyl). That is `weyl` of rounding.h, for each
 * of two solvers. What QL and the reduction drop is below 2^-99 of the norm. */
#include <stdlib.h>

#include "linalg/batch.h"
#include "linalg/cpu_lanes.h"

#include "matrices.h"
#include "rounding.h"

typedef enum kind {
    RANDOM,    /* entries with corners */
    CLUSTERED, /* two values, 1 and 1 + 1e-9 or so, turned by a reflector */
    GRADED,    /* 2^(-i - j) times random numbers */
    TURNED,    /* the same from the other end */
    ZERO,
    DIAGONAL, /* unsorted, with repetitions */
    RANK_ONE,
    BLOCKS,      /* two that do not meet, the second one 2^-300 times as large */
    TRIDIAGONAL, /* -1, 2, -1 */
    WILKINSON,   /* |i - (n-1)/2| and ones: pairs that agree to all digits */
    PIVOTS,      /* 0 on the diagonal: shifts hit values, and pivots vanish */
    KINDS
} kind;

static double power(int64_t exponent) {
    return ldexp(1, exponent < -1000 ? -1000 : (int)exponent);
}

static double entry(kind what, int64_t n, int64_t i, int64_t j, const double *random) {
    double x = random[i * n + j];
    bool first = i < n / 2, second = j >= n / 2;
    switch (what) {
    case CLUSTERED: { /* I + 1e-9 (I - 2 u u^T), u all 1 / sqrt n */
        return (i == j ? 1 + 1e-9 : 0) - 2e-9 / (double)n;
    }
    case GRADED:
        return x * power(-i - j);
    case TURNED:
        return x * power(i + j - 2 * n);
    case ZERO:
        return 0;
    case DIAGONAL:
        return i == j ? random[i / 2 * (n + 1)] : 0;
    case RANK_ONE:
        return random[i] * random[j];
    case BLOCKS:
        return second ? x * 0x1p-300 : first ? x : 0;
    case TRIDIAGONAL:
        return i == j ? 2 : i == j + 1 ? -1 : 0;
    case WILKINSON:
        return i == j ? fabs((double)i - (double)(n - 1) / 2) : i == j + 1 ? 1 : 0;
    case PIVOTS:
        return i == j + 1 ? 1 + (double)(i % 3) : 0;
    default:
        return x;
    }
}

/* A lower triangle; the upper one, which nobody reads, is something else. */
static void fill(kind what, int64_t n, const double *random, double scale, double *a) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = j <= i ? entry(what, n, i, j, random) * scale : -7 * scale;
}

/* Matrix m of a batch: kinds and magnitudes in turn. No entry overflows. */
static double scale_of(int64_t m) {
    return (double[]){1, 1, 0x1p900, 1, 0x1p-900, 1, 0x1p-1060}[m % 7];
}

static kind kind_of(int64_t m) {
    return (kind)(m % KINDS);
}

typedef struct batch {
    int64_t count, n, stride;
    double *a, *w;
} batch;

static batch new_batch(uint32_t step, int64_t count, int64_t n) {
    batch b = {.count = count, .n = n, .stride = n * n + 3};
    b.a = new_numbers(count * b.stride);
    b.w = new_numbers(count * n + 1);
    for (int64_t m = 0; m < count; m++) {
        double *random = random_numbers(step * 64 + (uint32_t)(m % 64), n * n);
        fill(kind_of(m), n, random, scale_of(m), b.a + m * b.stride);
        szgi_memory_free(random);
        for (int64_t i = n * n; i < b.stride; i++)
            b.a[m * b.stride + i] = NAN;
    }
    return b;
}

static void close_batch(batch *b) {
    szgi_memory_free(b->a), szgi_memory_free(b->w);
}

static szgi_lanes_job job_of(const batch *b, int64_t first, int64_t count, double *w) {
    return (szgi_lanes_job){.count = count,
                            .n = b->n,
                            .stride = b->stride,
                            .a = b->a + first * b->stride,
                            .w = w,
                            .sweeps = SZGI_LANES_SWEEPS * b->n};
}

static void solve(szg_context *context, const szgi_lanes_kernels *kernels, const batch *b,
                  int64_t first, int64_t count, double *w) {
    const szgi_lanes_job job = job_of(b, first, count, w);
    ck_assert_msg(szgi_lanes_eigen_symmetric(context, kernels, &job) == SZG_OK, "%s",
                  szg_context_message(context));
}

/* Calls f for each level of this processor: none may be left out. */
typedef void level_fn(const szgi_lanes_kernels *kernels);

static void at_each_level(level_fn *f) {
    static const int lanes[SZGI_CPU_LEVELS] = {2, 4, 8};
    unsetenv("SZEGO_SIMD");
    for (int level = 0; level <= (int)szgi_cpu_level_best(); level++) {
        const szgi_lanes_kernels *kernels = szgi_lanes_of((szgi_cpu_level)level);
        ck_assert_int_eq(kernels->lanes, lanes[level]);
        f(kernels);
    }
}

/* Frobenius norm and trace over `scale`, of the lower triangle. */
static double norm_over(int64_t n, const double *a, double scale, double *trace) {
    double squares = 0;
    *trace = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double x = a[i * n + j] / scale;
            squares += (j < i ? 2 : 1) * x * x;
            *trace += j < i ? 0 : x;
        }
    return sqrt(squares);
}

/* Two backward stable solvers, each with its rounding to multiples of 2^-1074. */
static double bound_of(int64_t n, double norm, double scale) {
    return 2 * (weyl(n, norm) * scale + 0x1p-1074);
}

/* Ascending; sum and sum of squares are trace and squared norm. Each value moves by `moved` at
 * most, so the sum by n times that, and the sum of squares by 2 ||A||_F sqrt(n) times that: its
 * square is below the rest. */
static void check_invariants(int64_t n, const double *a, const double *w, double scale) {
    double trace, norm = norm_over(n, a, scale, &trace), sum = 0, squares = 0;
    double moved = bound_of(n, norm, scale) / scale;
    for (int64_t i = 0; i < n; i++) {
        ck_assert(i == 0 || w[i] >= w[i - 1]);
        sum += w[i] / scale;
        squares += (w[i] / scale) * (w[i] / scale);
    }
    ck_close(sum, trace, (double)n * moved);
    ck_close(squares, norm * norm, 4 * norm * sqrt((double)n) * moved + DBL_MIN);
}

static void check_against(const char *backend, const batch *b, int64_t m) {
    int64_t n = b->n;
    double *copy = copy_numbers(n * n, b->a + m * b->stride), *want = new_numbers(n), trace;
    double scale = scale_of(m), norm = norm_over(n, copy, scale, &trace);
    use_backend(backend);
    ck_szg_ok(szgi_eigen_symmetric(test_context(), n, copy, n, want, false));
    for (int64_t i = 0; i < n; i++)
        ck_close(b->w[m * n + i], want[i], bound_of(n, norm, scale));
    use_backend("cpu");
    szgi_memory_free(copy), szgi_memory_free(want);
}

static void check_batch(const szgi_lanes_kernels *kernels, uint32_t step, int64_t count,
                        int64_t n) {
    enum { JACOBI = 20 }; /* orders up to which the slow oracle joins */
    batch b = new_batch(step, count, n);
    b.w[count * n] = 12;
    solve(test_context(), kernels, &b, 0, count, b.w);
    for (int64_t m = 0; m < count; m++) {
        check_invariants(n, b.a + m * b.stride, b.w + m * n, scale_of(m));
        check_against("cpu", &b, m);
        if (n <= JACOBI)
            check_against("reference", &b, m);
    }
    ck_assert(b.w[count * n] == 12);
    close_batch(&b);
}

/* Each order up to 130, with a count around the lanes. */
static void try_orders(const szgi_lanes_kernels *kernels) {
    int64_t lanes = kernels->lanes;
    const int64_t counts[] = {1,         lanes - 1,    lanes, lanes + 1, 2 * lanes - 1,
                              2 * lanes, 2 * lanes + 1};
    for (int64_t n = 1; n <= 130; n += n < 20 ? 1 : 7)
        check_batch(kernels, (uint32_t)n, counts[n % 7], n);
    for (int64_t n = 63; n <= 66; n++)
        check_batch(kernels, (uint32_t)n, lanes + 3, n);
    check_batch(kernels, 128, 2 * KINDS, 128);
    check_batch(kernels, 7, 7 * KINDS, 5); /* every kind at every magnitude */
    check_batch(kernels, 33, 7 * KINDS, 33);
    check_batch(kernels, 256, 3, SZGI_SMALL_ORDER);
}

START_TEST(values_are_those_of_other_solvers) {
    at_each_level(try_orders);
}
END_TEST

/* 2 - 2 cos(j pi / (n + 1)), at magnitudes from all subnormal to nearly infinite. */
static void try_closed_form(const szgi_lanes_kernels *kernels) {
    enum { COUNT = 11 };
    static const double scales[COUNT] = {1,         0x1p-1074, 0x1p1021, 0x1p-1050, 0x1p600, 3e-290,
                                         0x1p-1022, 1e290,     0x1p-500, 0x1p511,   1e-154};
    for (int64_t n = 2; n <= 130; n += 32) {
        batch b = {.count = COUNT, .n = n, .stride = n * n};
        b.a = new_numbers(COUNT * n * n), b.w = new_numbers(COUNT * n);
        for (int m = 0; m < COUNT; m++)
            fill(TRIDIAGONAL, n, b.a, scales[m], b.a + m * n * n);
        solve(test_context(), kernels, &b, 0, COUNT, b.w);
        for (int64_t m = 0; m < COUNT; m++)
            for (int64_t i = 0; i < n; i++) {
                double want = 2 - 2 * cos((double)(i + 1) * M_PI / (double)(n + 1));
                ck_close(b.w[m * n + i], want * scales[m], weyl(n, 4) * scales[m] + 0x1p-1074);
            }
        close_batch(&b);
    }
}

START_TEST(closed_form_at_every_magnitude) {
    at_each_level(try_closed_form);
}
END_TEST

static void ck_same_bits(int64_t count, const double *got, const double *want) {
    ck_assert_int_eq(memcmp(got, want, (size_t)count * sizeof *got), 0);
}

/* The same bits from a batch that is cut anywhere, from each matrix alone, and at any number of
 * threads: neighbours and places do not count. */
static void try_cuts(const szgi_lanes_kernels *kernels) {
    enum { COUNT = 45, N = 23 };
    batch b = new_batch(3, COUNT, N);
    double *w = new_numbers(COUNT * N);
    solve(test_context(), kernels, &b, 0, COUNT, b.w);
    for (int64_t m = 0; m < COUNT; m++)
        solve(test_context(), kernels, &b, m, 1, w + m * N);
    ck_same_bits(COUNT * N, w, b.w);
    for (int64_t cut = 1; cut < COUNT; cut += 6) {
        solve(test_context(), kernels, &b, 0, cut, w);
        solve(test_context(), kernels, &b, cut, COUNT - cut, w + cut * N);
        ck_same_bits(COUNT * N, w, b.w);
    }
    for (int threads = 1; threads <= 7; threads += 3) {
        szg_context *context;
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
        ck_szg_ok(szg_context_open(&options, &context));
        solve(context, kernels, &b, 0, COUNT, w);
        ck_same_bits(COUNT * N, w, b.w);
        szg_context_close(&context);
    }
    szgi_memory_free(w);
    close_batch(&b);
}

START_TEST(bits_depend_on_no_other_matrix) {
    at_each_level(try_cuts);
}
END_TEST

/* The public function refuses such numbers. In the kernel they end, and stay in their lane. */
static void try_nan(const szgi_lanes_kernels *kernels) {
    enum { COUNT = 19, N = 9 };
    batch b = new_batch(5, COUNT, N);
    double *w = new_numbers(COUNT * N);
    solve(test_context(), kernels, &b, 0, COUNT, b.w);
    for (int64_t m = 1; m < COUNT; m += 3)
        b.a[m * b.stride + 4 * N + m % 4] = m % 2 ? NAN : INFINITY;
    for (int64_t m = 0; m < COUNT; m++) {
        const szgi_lanes_job job = job_of(&b, m / 4 * 4, m < 16 ? 4 : 3, w + m / 4 * 4 * N);
        (void)!szgi_lanes_eigen_symmetric(test_context(), kernels, &job);
        if (m % 3 != 1)
            ck_same_bits(N, w + m * N, b.w + m * N);
    }
    szgi_memory_free(w);
    close_batch(&b);
}

START_TEST(a_lane_keeps_its_nan) {
    at_each_level(try_nan);
}
END_TEST

START_TEST(numbers_that_are_not_finite_are_refused) {
    enum { COUNT = 21, N = 10 };
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int64_t m = 0; m < COUNT; m += 5)
        for (int k = 0; k < 3; k++) {
            double *a = random_numbers(8, COUNT * N * N), *w = new_numbers(COUNT * N);
            a[m * N * N + 3 * N + k] = bad[k];
            double *before = copy_numbers(COUNT * N * N, a);
            char words[80];
            snprintf(words, sizeof words, "matrix %d of the batch: matrix: row 3, column %d is",
                     (int)m, k);
            ck_szg_fails(SZG_EDATA, words,
                         szgi_eigen_symmetric_batch(test_context(), COUNT, N, a, N * N, w));
            ck_same_bits(COUNT * N * N, a, before);
            szgi_memory_free(a), szgi_memory_free(before), szgi_memory_free(w);
        }
}
END_TEST

/* Diagonal matrices need no sweep. The first that needs more than there are is named. */
static void try_limit(const szgi_lanes_kernels *kernels) {
    enum { COUNT = 40, N = 12 };
    for (int64_t first = 0; first < COUNT; first += 3) {
        batch b = {.count = COUNT, .n = N, .stride = N * N};
        b.a = new_numbers(COUNT * N * N), b.w = new_numbers(COUNT * N);
        double *random = random_numbers(9, N * N);
        for (int64_t m = 0; m < COUNT; m++)
            fill(m < first ? DIAGONAL : TRIDIAGONAL, N, random, 1, b.a + m * N * N);
        szgi_lanes_job job = job_of(&b, 0, COUNT, b.w);
        job.sweeps = 2;
        char words[80];
        snprintf(words, sizeof words,
                 "matrix %d of the batch: some eigenvalues did not converge in 2 sweeps",
                 (int)first);
        ck_szg_fails(SZG_ENOCONV, words, szgi_lanes_eigen_symmetric(test_context(), kernels, &job));
        job.count = first;
        ck_szg_ok(szgi_lanes_eigen_symmetric(test_context(), kernels, &job));
        szgi_memory_free(random);
        close_batch(&b);
    }
}

START_TEST(sweeps_have_a_limit) {
    at_each_level(try_limit);
}
END_TEST

/* The batch of the table takes the level that SZEGO_SIMD names, up to the order where LAPACK
 * begins.
 */
START_TEST(batches_take_the_wanted_level) {
    enum { COUNT = 5, N = 30, LARGE = SZGI_SMALL_ORDER + 1 };
    static const char *const names[SZGI_CPU_LEVELS] = {"baseline", "avx2", "avx512"};
    batch b = new_batch(11, COUNT, N);
    double *w = new_numbers(COUNT * N);
    int best = (int)szgi_cpu_level_best();
    for (int level = 0; level <= best; level++) {
        setenv("SZEGO_SIMD", names[level], 1);
        double *a = copy_numbers(COUNT * b.stride, b.a);
        ck_szg_ok(szgi_batch_eigen_symmetric(test_context(), COUNT, N, a, b.stride, b.w));
        solve(test_context(), szgi_lanes_of((szgi_cpu_level)level), &b, 0, COUNT, w);
        ck_same_bits(COUNT * N, b.w, w);
        szgi_memory_free(a);
    }
    unsetenv("SZEGO_SIMD");
    szgi_memory_free(w);
    close_batch(&b);
    double *a = random_numbers(12, (int64_t)LARGE * LARGE), *copy = copy_numbers(LARGE * LARGE, a);
    double *got = new_numbers(LARGE), *want = new_numbers(LARGE);
    ck_szg_ok(szgi_batch_eigen_symmetric(test_context(), 1, LARGE, a, LARGE * LARGE, got));
    ck_szg_ok(szgi_eigen_symmetric(test_context(), LARGE, copy, LARGE, want, false));
    ck_same_bits(LARGE, got, want);
    szgi_memory_free(a), szgi_memory_free(copy), szgi_memory_free(got), szgi_memory_free(want);
}
END_TEST

static void use_cpu(void) {
    use_backend("cpu");
}

TEST_FILE("lanes") {
    test_before_each(use_cpu);
    test_add(suite, "values_are_those_of_other_solvers", values_are_those_of_other_solvers);
    test_add(suite, "closed_form_at_every_magnitude", closed_form_at_every_magnitude);
    test_add(suite, "bits_depend_on_no_other_matrix", bits_depend_on_no_other_matrix);
    test_add(suite, "a_lane_keeps_its_nan", a_lane_keeps_its_nan);
    test_add(suite, "numbers_that_are_not_finite_are_refused",
             numbers_that_are_not_finite_are_refused);
    test_add(suite, "sweeps_have_a_limit", sweeps_have_a_limit);
    test_add(suite, "batches_take_the_wanted_level", batches_take_the_wanted_level);
}
