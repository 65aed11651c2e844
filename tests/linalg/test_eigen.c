/* Eigenvalues of all kinds, batches, failed allocations.
 *
 * Bounds: a backward stable method moves an eigenvalue of a Hermitian matrix by at most c n eps
 * ||A||_2 (Weyl's inequality), and ||A||_2 <= ||A||_F; c = 10 here. A residual ||A v - w v|| of
 * that size puts an eigenvalue within that distance of w, and with orthonormal vectors each w has
 * one of its own (Parlett 1998, 11.5). */
#include "matrices.h"

enum { SLACK = 10 };

static double error_bound(int64_t n, double norm) {
    return SLACK * (double)n * EPS * norm;
}

static szg_status eigen(int64_t n, int width, double *a, double *w, bool vectors) {
    szg_context *context = test_context();
    return width == 1 ? szgi_eigen_symmetric(context, n, a, n, w, vectors)
                      : szgi_eigen_hermitian(context, n, (szg_c64 *)a, n, w, vectors);
}

static szg_c64 at(int width, const double *a, int64_t i) {
    return width == 1 ? (szg_c64){a[i], 0} : ((const szg_c64 *)a)[i];
}

/* Rows of v are orthonormal eigenvectors of a. */
static void check_vectors(int64_t n, int width, const double *a, const double *v, const double *w,
                          double bound) {
    for (int64_t r = 0; r < n; r++)
        for (int64_t i = 0; i < n; i++) {
            szg_c64 sum = {0, 0}, dot = {0, 0};
            for (int64_t j = 0; j < n; j++) {
                szg_c64 x = at(width, a, i * n + j), y = at(width, v, r * n + j);
                szg_c64 z = at(width, v, i * n + j);
                sum.re += x.re * y.re - x.im * y.im;
                sum.im += x.re * y.im + x.im * y.re;
                dot.re += z.re * y.re + z.im * y.im;
                dot.im += z.re * y.im - z.im * y.re;
            }
            szg_c64 y = at(width, v, r * n + i);
            ck_close(sum.re, w[r] * y.re, bound);
            ck_close(sum.im, w[r] * y.im, bound);
            ck_close(dot.re, r == i ? 1 : 0, error_bound(n, 1));
            ck_close(dot.im, 0, error_bound(n, 1));
        }
}

/* A copy of a whose upper triangle, which nobody reads, is something else. */
static void copy_lower(int64_t n, int width, const double *a, double *out) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n * width; j++)
            out[i * n * width + j] = j < (i + 1) * width ? a[i * n * width + j] : 3;
}

static void check_hermitian(uint32_t step, int64_t n, int width) {
    double *a = random_numbers(step, n * n * width);
    make_hermitian(n, width, a);
    double *w = new_numbers(n), *other = new_numbers(n), *v = new_numbers(n * n * width);
    double bound = error_bound(n, norm_of(n * n * width, a));
    copy_lower(n, width, a, v);
    ck_szg_ok(eigen(n, width, v, w, true));
    check_vectors(n, width, a, v, w, bound);
    copy_lower(n, width, a, v);
    ck_szg_ok(eigen(n, width, v, other, false));
    for (int64_t i = 0; i < n; i++) {
        ck_close(other[i], w[i], bound);
        ck_assert(i == 0 || other[i] >= other[i - 1]);
    }
    use_backend("reference");
    copy_lower(n, width, a, v);
    ck_szg_ok(eigen(n, width, v, other, true));
    check_vectors(n, width, a, v, other, bound);
    for (int64_t i = 0; i < n; i++)
        ck_close(other[i], w[i], bound);
    use_tested_backend();
    szgi_memory_free(a), szgi_memory_free(w), szgi_memory_free(other), szgi_memory_free(v);
}

START_TEST(hermitian_eigenvalues) {
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(6 * SIZE_COUNT); trial++)
        check_hermitian(trial, SIZES[trial / 2 % SIZE_COUNT], 1 + trial % 2);
}
END_TEST

/* tridiag(-1, 2, -1): 2 - 2 cos(j pi / (n + 1)), at three magnitudes and in both backends. */
START_TEST(second_difference_matrix) {
    szg_context *context = test_context();
    for (int trial = 0; trial < 6 * SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial % SIZE_COUNT];
        double scale = (double[]){1, 1e-290, 1e290}[trial / SIZE_COUNT % 3];
        use_backend(trial / SIZE_COUNT < 3 ? test_backend() : "reference");
        double *a = new_numbers(n * n), *w = new_numbers(n);
        for (int64_t i = 0; i < n; i++) {
            a[i * n + i] = 2 * scale;
            if (i > 0)
                a[i * n + i - 1] = -scale;
        }
        ck_szg_ok(szgi_eigen_symmetric(context, n, a, n, w, false));
        for (int64_t i = 0; i < n; i++) {
            double want = scale * (2 - 2 * cos((double)(i + 1) * M_PI / (double)(n + 1)));
            ck_close(w[i], want, error_bound(n, 4 * scale));
        }
        szgi_memory_free(a), szgi_memory_free(w);
    }
    use_tested_backend();
}
END_TEST

/* Beside a zero diagonal, numbers whose squares are subnormal: +-hypot(tiny, 1) and 0, as real and
 * as Hermitian entries. dsterf misses them by a part in 10^5. */
START_TEST(squares_that_underflow) {
    if (test_on_device()) /* a plugin's solver is its own: the certificates look at what it gives */
        return;
    static const int exponents[] = {0, -492, 492, 1000};
    for (int trial = 0; trial < 4 * 2 * 60; trial++) {
        int width = 1 + trial % 2, exponent = exponents[trial / 2 % 4];
        double big = ldexp(1.3, exponent), tiny = ldexp(0.7, exponent - 500 - trial / 8), w[3];
        double a[18] = {0};
        a[3 * width] = tiny;
        a[7 * width + width - 1] = big;
        ck_szg_ok(eigen(3, width, a, w, false));
        ck_close(w[0], -big, error_bound(3, big));
        ck_close(w[1], 0, error_bound(3, big));
        ck_close(w[2], big, error_bound(3, big));
    }
}
END_TEST

/* min(i, j) - i j / (n + 1) is the inverse of tridiag(-1, 2, -1). */
static void check_green_function(szg_context *context, int64_t n) {
    double *a = new_numbers(n * n), *w = new_numbers(n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            a[i * n + j] = (double)(j + 1) * ((double)(n - i) / (double)(n + 1));
    ck_assert_int_eq(szgi_eigen_symmetric(context, n, a, n, w, false), SZG_OK);
    for (int64_t i = 0; i < n; i++) {
        double half = (double)(n - i) * M_PI / (double)(2 * n + 2);
        ck_close(w[i], 1 / pow(2 * sin(half), 2), error_bound(n, w[n - 1]));
    }
    szgi_memory_free(a), szgi_memory_free(w);
}

/* Orders that take the other driver or several threads. */
START_TEST(drivers_agree) {
    szg_context *alone;
    check_green_function(test_context(), 600);
    if (test_on_device())
        return;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    ck_assert_int_eq(szg_context_open(&options, &alone), SZG_OK);
    check_green_function(alone, 2600);
    szg_context_close(&alone);
}
END_TEST

/* Distance from z to the nearest of n numbers. */
static double nearest(szg_c64 z, int64_t n, const szg_c64 *w) {
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++)
        least = fmin(least, hypot(z.re - w[i].re, z.im - w[i].im));
    return least;
}

/* Block diagonal rotations r (cos t, sin t; -sin t, cos t), mixed by an orthogonal similarity:
 * normal, so eigenvalues r e^{+-it} are as well conditioned as Hermitian ones. */
START_TEST(general_eigenvalues_of_normal_matrices) {
    szg_context *context = test_context();
    szgi_stream stream = {.seed = test_seed(), .purpose = 4};
    for (int64_t half = 1; half <= 20; half++) {
        int64_t n = 2 * half;
        double *a = new_numbers(n * n), *q = random_numbers((uint32_t)half, n * n);
        double *b = new_numbers(n * n), *w = new_numbers(n);
        szg_c64 *want = (szg_c64 *)new_numbers(2 * n), *got = (szg_c64 *)new_numbers(2 * n);
        szg_c64 *wide = (szg_c64 *)new_numbers(2 * n * n);
        make_hermitian(n, 1, q);
        ck_szg_ok(szgi_eigen_symmetric(context, n, q, n, w, true)); /* q: an orthogonal matrix */
        for (int64_t i = 0; i < half; i++) {
            double r = szgi_random_uniform(&stream, (uint64_t)(2 * i));
            double t = M_PI * szgi_random_uniform(&stream, (uint64_t)(2 * i + 1));
            a[2 * i * n + 2 * i] = a[(2 * i + 1) * n + 2 * i + 1] = r * cos(t);
            a[2 * i * n + 2 * i + 1] = r * sin(t);
            a[(2 * i + 1) * n + 2 * i] = -r * sin(t);
            want[2 * i] = (szg_c64){r * cos(t), r * sin(t)};
            want[2 * i + 1] = (szg_c64){r * cos(t), -r * sin(t)};
        }
        ck_szg_ok(szgi_gemm(context, 'n', 'n', n, n, n, 1, q, n, a, n, 0, b, n));
        ck_szg_ok(szgi_gemm(context, 'n', 't', n, n, n, 1, b, n, q, n, 0, a, n));
        for (int64_t i = 0; i < n * n; i++)
            wide[i] = (szg_c64){-a[i], a[i]};
        ck_szg_ok(szgi_eigen_general(context, n, a, n, got));
        for (int64_t i = 0; i < n; i++) {
            ck_assert(nearest(want[i], n, got) <= error_bound(n, sqrt((double)n)));
            ck_assert(nearest(got[i], n, want) <= error_bound(n, sqrt((double)n)));
        }
        /* (-1 + i) A has (-1 + i) times the eigenvalues. */
        ck_szg_ok(szgi_eigen_general_complex(context, n, wide, n, got));
        for (int64_t i = 0; i < n; i++) {
            szg_c64 z = {-want[i].re - want[i].im, want[i].re - want[i].im};
            ck_assert(nearest(z, n, got) <= error_bound(n, 2 * sqrt((double)n)));
        }
        szgi_memory_free(a), szgi_memory_free(q), szgi_memory_free(b), szgi_memory_free(w);
        szgi_memory_free(want), szgi_memory_free(got), szgi_memory_free(wide);
    }
}
END_TEST

/* sum w = tr A and sum w^2 = tr A^2 for any matrix: each moves by n eps ||A||_F (||A||_F^2) at most
 * under a backward error of that size, however badly single eigenvalues are conditioned. */
START_TEST(general_eigenvalues_keep_the_traces) {
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(3 * SIZE_COUNT); trial++) {
        int64_t n = SIZES[trial % SIZE_COUNT];
        double *a = random_numbers(trial, n * n), norm = norm_of(n * n, a);
        double trace = 0, square = 0, sum = 0, sum_square = 0, imaginary = 0;
        szg_c64 *w = (szg_c64 *)new_numbers(2 * n);
        for (int64_t i = 0; i < n; i++) {
            trace += a[i * n + i];
            for (int64_t j = 0; j < n; j++)
                square += a[i * n + j] * a[j * n + i];
        }
        ck_szg_ok(szgi_eigen_general(test_context(), n, a, n, w));
        for (int64_t i = 0; i < n; i++) {
            sum += w[i].re;
            imaginary += w[i].im;
            sum_square += w[i].re * w[i].re - w[i].im * w[i].im;
        }
        ck_close(sum, trace, (double)n * error_bound(n, norm));
        ck_close(imaginary, 0, (double)n * error_bound(n, norm));
        ck_close(sum_square, square, 2 * (double)n * error_bound(n, norm) * norm);
        szgi_memory_free(a), szgi_memory_free(w);
    }
    double a = 1;
    szg_c64 w;
    use_backend("reference");
    ck_szg_fails(SZG_EBACKEND, "use cpu", szgi_eigen_general(test_context(), 1, &a, 1, &w));
    ck_szg_fails(SZG_EBACKEND, "use cpu", szgi_eigen_general_complex(test_context(), 1, &w, 1, &w));
    ck_szg_fails(SZG_EBACKEND, "use cpu",
                 szgi_eigen_general_batch(test_context(), 1, 1, &a, 1, &w));
    use_tested_backend();
}
END_TEST

/* ---- Batches ---- */

enum { COUNT = 23, PAD = 5 }; /* matrices, and numbers between two */

/* sum w = tr A and sum w^2 = ||A||_F^2, of the lower triangle. */
static void check_invariants(int64_t n, const double *a, const double *w) {
    double trace = 0, squares = 0, sum = 0, sum_squares = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            squares += 2 * a[i * n + j] * a[i * n + j];
        }
        double diagonal = a[i * n + i];
        trace += diagonal;
        squares += diagonal * diagonal;
        sum += w[i];
        sum_squares += w[i] * w[i];
    }
    double bound = (double)n * error_bound(n, sqrt(squares));
    ck_close(sum, trace, bound);
    ck_close(sum_squares, squares, 2 * bound * sqrt(squares));
}

/* A batch gives the numbers of single calls. Small matrices have a solver of their own there (test
 * lanes), but not in the oracle. */
static void check_batch(int64_t n) {
    int64_t step = n * n + PAD, size = n * n;
    double *given = random_numbers(3, COUNT * step), *w = new_numbers(COUNT * n);
    double *a = copy_numbers(COUNT * step, given), *b = copy_numbers(COUNT * step, given);
    double *single = new_numbers(n);
    ck_szg_ok(szgi_eigen_symmetric_batch(test_context(), COUNT, n, a, step, w));
    for (int i = 0; i < COUNT; i++) {
        ck_szg_ok(eigen(n, 1, b + i * step, single, false));
        for (int64_t j = 0; j < n; j++)
            ck_close(w[i * n + j], single[j], error_bound(n, norm_of(n, single)));
        check_invariants(n, given + i * step, w + i * n);
        for (int64_t j = size; j < step; j++)
            ck_assert(a[i * step + j] == given[i * step + j]);
    }
    szgi_memory_free(given), szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(w);
    szgi_memory_free(single);
}

START_TEST(batches_are_single_calls) {
    szg_context *context = test_context();
    static const int64_t orders[] = {1, 2, 5, 12};
    for (int trial = 0; trial < 8; trial++) {
        use_backend(trial % 2 ? "reference" : test_backend());
        check_batch(orders[trial / 2]);
    }
    use_tested_backend();
    enum { N = 12, STRIDE = N * N + PAD };
    double *a = random_numbers(4, COUNT * STRIDE), *b = copy_numbers(COUNT * STRIDE, a);
    szg_c64 *w = (szg_c64 *)new_numbers(2 * COUNT * N), single[N];
    ck_szg_ok(szgi_eigen_general_batch(context, COUNT, N, a, STRIDE, w));
    for (int i = 0; i < COUNT; i++) {
        ck_szg_ok(szgi_eigen_general(context, N, b + i * STRIDE, N, single));
        ck_assert_int_eq(memcmp(single, w + i * N, sizeof single), 0);
    }
    szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(w);
}
END_TEST

/* Nothing is read between two matrices, and none of them may be there. */
START_TEST(batches_have_gaps_and_may_be_empty) {
    enum { N = 3, STRIDE = N * N + PAD };
    szg_context *context = test_context();
    double *a = random_numbers(6, COUNT * STRIDE), *w = new_numbers(COUNT * N);
    a[17 * STRIDE + N * N] = NAN;
    for (int backend = 0; backend < 2; backend++) {
        use_backend(backend ? "reference" : test_backend());
        ck_szg_ok(szgi_eigen_symmetric_batch(context, COUNT, N, a, STRIDE, w));
        ck_szg_ok(szgi_eigen_symmetric_batch(context, 0, N, a, N * N, w));
        ck_szg_ok(szgi_eigen_symmetric_batch(context, 2, 0, a, 0, w));
    }
    use_tested_backend();
    szgi_memory_free(a), szgi_memory_free(w);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szg_context *context = test_context();
    enum { N = 6, MATRICES = 3 };
    double *a = random_numbers(5, MATRICES * 2 * N * N), *w = new_numbers(2 * MATRICES * N);
    for (int backend = 0; backend < 2; backend++) {
        use_backend(backend ? "reference" : test_backend());
        szg_c64 *complex = (szg_c64 *)a;
        ck_survives_failed_allocations(least_refusals(),
                                       szgi_eigen_symmetric(context, N, a, N, w, true));
        ck_survives_failed_allocations(least_refusals(),
                                       szgi_eigen_hermitian(context, N, complex, N, w, true));
        ck_survives_failed_allocations(
            least_refusals(), szgi_eigen_symmetric_batch(context, MATRICES, N, a, N * N, w));
    }
    use_tested_backend();
    ck_survives_failed_allocations(least_refusals(),
                                   szgi_eigen_general(context, N, a, N, (szg_c64 *)w));
    ck_survives_failed_allocations(
        least_refusals(), szgi_eigen_general_complex(context, N, (szg_c64 *)a, N, (szg_c64 *)w));
    ck_survives_failed_allocations(
        least_refusals(), szgi_eigen_general_batch(context, MATRICES, N, a, N * N, (szg_c64 *)w));
    szgi_memory_free(a), szgi_memory_free(w);
}
END_TEST

/* Rows are checked, copied to LAPACK's array, and the vectors copied back and conjugated. */
START_TEST(hermitian_copies_look_for_cancellation) {
    enum { N = 8 };
    test_looks looks;
    szg_context *counting = test_counting_context(&looks);
    szg_c64 a[N * N] = {{1, 0}};
    double w[N];
    ck_looks_for_cancellation(&looks, 4 * N, szgi_eigen_hermitian(counting, N, a, N, w, true));
    szg_context_close(&counting);
}
END_TEST

TEST_FILE("eigen") {
    test_before_each(use_tested_backend);
    test_add(suite, "hermitian_copies_look_for_cancellation",
             hermitian_copies_look_for_cancellation);
    test_add(suite, "hermitian_eigenvalues", hermitian_eigenvalues);
    test_add(suite, "second_difference_matrix", second_difference_matrix);
    test_add(suite, "squares_that_underflow", squares_that_underflow);
    test_add(suite, "drivers_agree", drivers_agree);
    test_add(suite, "general_eigenvalues_of_normal_matrices",
             general_eigenvalues_of_normal_matrices);
    test_add(suite, "general_eigenvalues_keep_the_traces", general_eigenvalues_keep_the_traces);
    test_add(suite, "batches_are_single_calls", batches_are_single_calls);
    test_add(suite, "batches_have_gaps_and_may_be_empty", batches_have_gaps_and_may_be_empty);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
