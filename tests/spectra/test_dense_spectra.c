/* Dense and batched spectra, and what is refused. */
#include "spectra_support.h"

static double *random_matrix(int64_t count, uint32_t step) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 30, .step = step};
    double *a = get(count, sizeof *a);
    for (int64_t i = 0; i < count; i++)
        a[i] = test_real(&stream, (uint64_t)i);
    return a;
}

START_TEST(symmetric_of_padded_rows) {
    for (int64_t n = 1; n <= 12; n++) {
        double *a = random_matrix(n * (n + 3), (uint32_t)n), *b = get(n * n, sizeof *b), want[12];
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                a[i * (n + 3) + j] = a[(i > j ? i : j) * (n + 3) + (i > j ? j : i)];
                b[i * n + j] = a[i * (n + 3) + j];
            }
        double bound = weyl(n, norm_of(n * n, b));
        oracle_symmetric(n, b, want);
        szg_spectrum s;
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_symmetric(n, a, n + 3), NULL, &s));
        check_values(&s, n, want, bound);
        check_promises(&s, bound);
        szg_spectrum_close(&s);
        szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_symmetric(n, a, n + 3), &range, &s));
        double least, largest;
        ck_szg_ok(szgi_spectrum_range(test_context(), &s, &least, &largest));
        ck_close(least, want[0], bound);
        ck_close(largest, want[n - 1], bound);
        ck_assert_int_eq(s.count, n < 2 ? n : 2);
        szg_spectrum_close(&s);
        szgi_memory_free(a);
        szgi_memory_free(b);
    }
}
END_TEST

/* [[a, z], [conj z, b]]: (a+b)/2 +- hypot((a-b)/2, |z|). */
START_TEST(hermitian_two_by_two) {
    szg_c64 a[4] = {{1, 0}, {2, 3}, {2, -3}, {-4, 0}};
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_hermitian(2, a, 2), NULL, &s));
    double radius = hypot(2.5, sqrt(13));
    double bound =
        gamma_of(16) * (1.5 + radius); /* one reflector, one rotation: 8 roundings each */
    ck_close(s.re[0], -1.5 - radius, bound);
    ck_close(s.re[1], -1.5 + radius, bound);
    szg_spectrum_close(&s);
    a[2].im = 3;
    ck_szg_fails(SZG_EDATA, "entries (1, 0) and (0, 1) are not conjugate: not Hermitian",
                 eigenvalues_of(test_context(), szg_matrix_hermitian(2, a, 2), NULL, &s));
    a[2].im = -3;
    a[0].im = 0.1;
    ck_szg_fails(SZG_EDATA, "entry (0, 0) is not real: not Hermitian",
                 eigenvalues_of(test_context(), szg_matrix_hermitian(2, a, 2), NULL, &s));
}
END_TEST

/* Their Frobenius norm exceeds doubles, and +-1.7e308 does not; 3.4e308 does. */
START_TEST(entries_near_the_largest_double) {
    const double big = 1.7e308;
    double off[4] = {0, big, big, 0}, all[4] = {big, big, big, big};
    szg_spectrum s;
    szg_matrix matrix = szg_matrix_symmetric(2, off, 2);
    const szg_spectra_options options = {SZG_INIT(szg_spectra_options),
                                         .certify = SZG_CERTIFY_ENDS};
    ck_szg_ok(
        szg_spectrum_compute(test_context(), &matrix, SZG_QUESTION_EIGENVALUES, &options, &s));
    ck_close(s.re[0] / big, -1, 1e-14);
    ck_close(s.re[1] / big, 1, 1e-14);
    ck_assert(s.certified && s.max.lo <= big && big <= s.max.hi && isfinite(s.residual));
    szg_spectrum_close(&s);
    matrix = szg_matrix_symmetric(2, all, 2);
    ck_assert_int_eq(
        szg_spectrum_compute(test_context(), &matrix, SZG_QUESTION_EIGENVALUES, NULL, &s),
        SZG_EDOMAIN);
}
END_TEST

/* The companion matrix of z^n - 1: roots of unity; it is a permutation, normal, so that the bound
 * is Weyl's. As a complex matrix scaled by i too. */
START_TEST(general_roots_of_unity) {
    for (int64_t n = 1; n <= 12; n++) {
        double *a = get(n * n, sizeof *a);
        szg_c64 *b = get(n * n, sizeof *b);
        for (int64_t i = 0; i < n; i++) {
            a[i * n + (i + 1) % n] = 1;
            b[i * n + (i + 1) % n].im = 1;
        }
        szg_spectrum s, t;
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_dense(n, n, a, n), NULL, &s));
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_complex(n, n, b, n), NULL, &t));
        for (int64_t k = 0; k < n; k++) {
            double x = cos(2 * M_PI * (double)k / (double)n),
                   y = sin(2 * M_PI * (double)k / (double)n);
            double real = INFINITY, turned = INFINITY;
            for (int64_t i = 0; i < n; i++) {
                real = fmin(real, hypot(s.re[i] - x, (s.im ? s.im[i] : 0) - y));
                turned = fmin(turned, hypot(t.re[i] + y, (t.im ? t.im[i] : 0) - x));
            }
            ck_close(real, 0, weyl(n, sqrt((double)n)));
            ck_close(turned, 0, weyl(n, sqrt((double)n)));
        }
        for (int64_t i = 1; i < n; i++)
            ck_assert(s.re[i - 1] <= s.re[i]);
        szg_spectrum_close(&s);
        szg_spectrum_close(&t);
        szgi_memory_free(a);
        szgi_memory_free(b);
    }
}
END_TEST

START_TEST(singular_of_rectangles) {
    for (int64_t m = 1; m <= 9; m++)
        for (int64_t n = 1; n <= 9; n += 2) {
            int64_t rank = m < n ? m : n;
            double *a = random_matrix(m * n, (uint32_t)(100 + m * 10 + n)), want[9];
            double *copy = get(m * n, sizeof *copy), bound = weyl(m + n, norm_of(m * n, a));
            memcpy(copy, a, (size_t)(m * n) * sizeof *copy);
            szg_context *oracle = oracle_context("reference");
            ck_szg_ok(szgi_singular(oracle, m, n, copy, n, want, NULL, n, NULL, n));
            szg_spectrum s;
            ck_szg_ok(singular_of(test_context(), szg_matrix_dense(m, n, a, n), NULL, &s));
            ck_assert_int_eq(s.n, rank);
            for (int64_t i = 0; i < rank; i++)
                ck_close(s.re[i], want[i], bound);
            szg_spectrum_close(&s);
            szg_c64 *turned = get(m * n, sizeof *turned);
            for (int64_t i = 0; i < m * n; i++)
                turned[i].im = a[i];
            ck_szg_ok(singular_of(test_context(), szg_matrix_complex(m, n, turned, n), NULL, &s));
            for (int64_t i = 0; i < rank; i++)
                ck_close(s.re[i], want[i], bound);
            szg_spectrum_close(&s);
            szgi_memory_free(turned);
            szgi_memory_free(copy);
            szgi_memory_free(a);
        }
}
END_TEST

START_TEST(scales_without_overflow) {
    const double scales[] = {1e-300, 1e300, 4.9e-324, 0};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        double c = scales[i], a[4] = {c, 0, 0, -c};
        szg_spectrum s;
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_symmetric(2, a, 2), NULL, &s));
        ck_close(s.re[0], -c, gamma_of(4) * c); /* scaled and back */
        ck_close(s.re[1], c, gamma_of(4) * c);
        szg_spectrum_close(&s);
    }
}
END_TEST

START_TEST(dense_refuses) {
    szg_context *ctx = test_context();
    szg_spectrum s;
    double a[4] = {1, 2, 3, 4}, b[4] = {1, NAN, NAN, 1};
    ck_szg_fails(SZG_EDATA, "(1, 0)", eigenvalues_of(ctx, szg_matrix_symmetric(2, a, 2), NULL, &s));
    ck_szg_fails(SZG_EDATA, "entry (0, 1)",
                 eigenvalues_of(ctx, szg_matrix_symmetric(2, b, 2), NULL, &s));
    ck_szg_fails(SZG_EDATA, "entry (0, 1)",
                 eigenvalues_of(ctx, szg_matrix_dense(2, 2, b, 2), NULL, &s));
    ck_szg_fails(SZG_EDATA, "entry (0, 1)",
                 singular_of(ctx, szg_matrix_dense(2, 2, b, 2), NULL, &s));
    const szg_c64 c[4] = {{1, 0}, {0, NAN}, {0, NAN}, {1, 0}},
                  d[4] = {{1, 0}, {0, 1}, {INFINITY, 0}};
    ck_szg_fails(SZG_EDATA, "entry (0, 1) is nan",
                 eigenvalues_of(ctx, szg_matrix_complex(2, 2, c, 2), NULL, &s));
    ck_szg_fails(SZG_EDATA, "entry (0, 1) is nan",
                 eigenvalues_of(ctx, szg_matrix_hermitian(2, c, 2), NULL, &s));
    ck_szg_fails(SZG_EDATA, "entry (1, 0) is inf",
                 singular_of(ctx, szg_matrix_complex(2, 2, d, 2), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "apart", eigenvalues_of(ctx, szg_matrix_symmetric(2, a, 1), NULL, &s));
    /* In units of the least number: -1.72, 1.33, 4.39 become integers, whose sum is not the trace.
     */
    double least[] = {1, 1, 0, 3, 1, 2, 0, 3, 2};
    for (int i = 0; i < 9; i++)
        least[i] *= DBL_TRUE_MIN;
    ck_szg_fails(SZG_EDOMAIN, "multiply the matrix by a power of two",
                 eigenvalues_of(ctx, szg_matrix_dense(3, 3, least, 3), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "0 x", singular_of(ctx, szg_matrix_dense(0, 2, a, 2), NULL, &s));
}
END_TEST

START_TEST(batches_equal_single_ones) {
    enum { COUNT = 9, M = 7, N = 5, STRIDE = 41 };
    szg_context *ctx = test_context();
    double *a = random_matrix(COUNT * STRIDE, 40), *copy = get(COUNT * STRIDE, sizeof *copy);
    double values[COUNT * N], worst;
    szg_c64 general[COUNT * N];
    szg_spectrum s;
    for (int i = 0; i < COUNT; i++) /* the leading 5 x 5 symmetric */
        for (int j = 0; j < N; j++)
            for (int k = 0; k < j; k++)
                a[i * STRIDE + k * N + j] = a[i * STRIDE + j * N + k];
    memcpy(copy, a, COUNT * STRIDE * sizeof *copy);
    ck_szg_ok(szgi_spectra_batch_symmetric(ctx, COUNT, N, copy, STRIDE, values, &worst));
    ck_close(worst, 0, residual_limit(N));
    for (int i = 0; i < COUNT; i++) {
        ck_szg_ok(eigenvalues_of(ctx, szg_matrix_symmetric(N, a + i * STRIDE, N), NULL, &s));
        double bound = weyl(N, norm_of(N * N, a + i * STRIDE));
        for (int j = 0; j < N; j++)
            ck_close(values[i * N + j], s.re[j], bound);
        szg_spectrum_close(&s);
    }
    memcpy(copy, a, COUNT * STRIDE * sizeof *copy);
    ck_szg_ok(szgi_spectra_batch_singular(ctx, COUNT, M, N, copy, STRIDE, values, &worst));
    for (int i = 0; i < COUNT; i++) {
        ck_szg_ok(singular_of(ctx, szg_matrix_dense(M, N, a + i * STRIDE, N), NULL, &s));
        double bound = weyl(M, norm_of(M * N, a + i * STRIDE));
        for (int j = 0; j < N; j++)
            ck_close(values[i * N + j], s.re[j], bound);
        szg_spectrum_close(&s);
    }
    memcpy(copy, a, COUNT * STRIDE * sizeof *copy);
    ck_szg_ok(szgi_spectra_batch_general(ctx, COUNT, N, copy, STRIDE, general, &worst));
    ck_close(worst, 0, residual_limit(N));
    memcpy(copy, a, COUNT * STRIDE * sizeof *copy);
    for (int i = 3; i < COUNT; i++)
        copy[i * STRIDE + 6] = NAN;
    for (int i = 0; i < 20; i++) /* the first, whichever worker is faster */
        ck_szg_fails(SZG_EDATA, "matrix 3",
                     szgi_spectra_batch_singular(ctx, COUNT, M, N, copy, STRIDE, values, &worst));
    ck_szg_fails(SZG_EINVAL, "overlap",
                 szgi_spectra_batch_singular(ctx, COUNT, M, N, copy, 3, values, &worst));
    szgi_memory_free(copy);
    szgi_memory_free(a);
}
END_TEST

/* The pool has the status and the words of the lowest block that fails: what was read before is not
 * read again for them. */
START_TEST(a_bad_matrix_is_found_once) {
    enum { COUNT = 9, M = 7, N = 5, BAD = 3, ROW = 1 };
    double *a = random_matrix(COUNT * M * N, 41), values[COUNT * N], worst;
    test_looks looks;
    szg_context *counting = test_counting_context(&looks);
    for (int i = BAD; i < COUNT; i++)
        a[i * M * N + ROW * N] = NAN;
    ck_assert_int_eq(szgi_spectra_batch_singular(counting, COUNT, M, N, a, M * N, values, &worst),
                     SZG_EDATA);
    ck_assert_str_eq(szg_context_message(counting), "matrix 3: entry (1, 0) is nan");
    /* A look before each matrix and each of its rows, which are read twice: for the largest entry
     * and for the sum of squares. */
    ck_assert_int_eq(looks.count, BAD * (1 + 2 * M) + 1 + ROW + 1);
    szg_context_close(&counting);
    szgi_memory_free(a);
}
END_TEST

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b)); /* NaN: was not computed */
}

static void ck_same_spectrum(const szg_spectrum *got, const szg_spectrum *want) {
    ck_assert_int_eq(got->n, want->n);
    ck_assert_int_eq(got->count, want->count);
    ck_assert_int_eq(got->zeros, want->zeros);
    ck_assert_int_eq(got->method, want->method);
    ck_assert(!got->im == !want->im);
    for (int64_t i = 0; i < want->count; i++) {
        ck_close(got->re[i], want->re[i], 0);
        if (want->im)
            ck_close(got->im[i], want->im[i], 0);
    }
    ck_assert(same_number(got->residual, want->residual));
    ck_assert(same_number(got->trace, want->trace));
    ck_assert(same_number(got->frobenius, want->frobenius));
}

enum { MANY = 23 };

static void check_batch(int threads, const szg_matrix matrices[MANY], szg_question question) {
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
    szg_spectrum got[MANY], want;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(szg_spectrum_batch(context, MANY, matrices, question, NULL, got));
    for (int i = 0; i < MANY; i++) {
        ck_szg_ok(szg_spectrum_compute(context, &matrices[i], question, NULL, &want));
        ck_same_spectrum(&got[i], &want);
        szg_spectrum_close(&want);
        szg_spectrum_close(&got[i]);
    }
    szg_context_close(&context);
}

/* What szg_spectrum_batch gives is what single calls give: matrices of several kinds and orders, on
 * one thread and on several. */
START_TEST(many_matrices_as_one_by_one) {
    enum { LARGEST = 12 };
    double *a = random_matrix(MANY + LARGEST * LARGEST, 43); /* matrix i begins at a + i */
    szg_matrix matrices[MANY];
    for (int i = 0; i < MANY; i++) {
        int64_t n = 1 + i % LARGEST;
        matrices[i] = i % 3 == 0   ? szg_matrix_kms(n, 0.5)
                      : i % 3 == 1 ? szg_matrix_dense(n, n, a + i, LARGEST)
                                   : szg_matrix_distance(n, -0.5);
    }
    for (int threads = 1; threads <= 3; threads += 2) {
        check_batch(threads, matrices, SZG_QUESTION_EIGENVALUES);
        check_batch(threads, matrices, SZG_QUESTION_SINGULAR);
        check_batch(threads, matrices, SZG_QUESTION_HERMITIAN_PART);
    }
    szgi_memory_free(a);
}
END_TEST

enum { SMALL = 40, SMALL_ORDER = 9, SMALL_ROWS = SMALL_ORDER + 3 };

/* Arrays of one order, rows SMALL_ROWS apart: called symmetric, or dense and symmetric or not;
 * between them matrices of other kinds and orders, and some magnitudes. */
static void fill_small(double *a, szg_matrix matrices[SMALL]) {
    for (int m = 0; m < SMALL; m++) {
        double *own = a + m * SMALL_ROWS * SMALL_ROWS;
        double scale = m % 7 == 2 ? 0x1p-1000 : m % 7 == 5 ? 0x1p900 : 1;
        for (int i = 0; i < SMALL_ORDER; i++)
            for (int j = 0; j <= i; j++) {
                own[i * SMALL_ROWS + j] *= scale;
                own[j * SMALL_ROWS + i] = own[i * SMALL_ROWS + j] * (m % 4 == 2 && i != j ? 2 : 1);
            }
        matrices[m] = m % 4 == 0 ? szg_matrix_symmetric(SMALL_ORDER, own, SMALL_ROWS)
                                 : szg_matrix_dense(SMALL_ORDER, SMALL_ORDER, own, SMALL_ROWS);
        if (m % 4 == 3 && m > 30)
            matrices[m] = m % 8 == 3 ? szg_matrix_kms(SMALL_ORDER, 0.5)
                                     : szg_matrix_symmetric(SMALL_ORDER - 2, own, SMALL_ROWS);
    }
}

/* The same but for rounding: each solver is within `weyl` of the truth. */
static void ck_near_spectrum(const szg_spectrum *got, const szg_spectrum *want) {
    szg_spectrum near = *got;
    for (int64_t i = 0; i < want->count && want->normal; i++)
        ck_close(got->re[i], want->re[i], 2 * weyl(want->n, want->frobenius));
    ck_assert(got->normal == want->normal);
    if (want->normal) {
        ck_assert(got->residual <= 64 * (double)want->n * DBL_EPSILON);
        near.re = want->re, near.residual = want->residual;
    }
    ck_same_spectrum(&near, want);
}

static void check_small(const szg_matrix matrices[SMALL], szg_question question) {
    szg_spectrum got[SMALL], other[SMALL], want;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 3};
    szg_context *context;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(szg_backend_select(context, test_backend()));
    ck_szg_ok(szg_spectrum_batch(test_context(), SMALL, matrices, question, NULL, got));
    ck_szg_ok(szg_spectrum_batch(context, SMALL, matrices, question, NULL, other));
    for (int m = 0; m < SMALL; m++) {
        ck_szg_ok(szg_spectrum_compute(test_context(), &matrices[m], question, NULL, &want));
        ck_near_spectrum(&got[m], &want);
        if (test_on_device()) /* whose batches are cut otherwise at other threads */
            ck_near_spectrum(&got[m], &other[m]);
        else
            ck_same_spectrum(&got[m], &other[m]);
        szg_spectrum_close(&want);
        szg_spectrum_close(&got[m]);
        szg_spectrum_close(&other[m]);
    }
    szg_context_close(&context);
}

/* Small symmetric arrays are solved together; what is said of each is its own. */
START_TEST(small_arrays_together) {
    double *a = random_matrix(SMALL * SMALL_ROWS * SMALL_ROWS, 45);
    szg_matrix matrices[SMALL];
    szg_spectrum out[SMALL];
    fill_small(a, matrices);
    check_small(matrices, SZG_QUESTION_EIGENVALUES);
    check_small(matrices, SZG_QUESTION_HERMITIAN_PART);
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    ck_szg_ok(szg_spectrum_batch(test_context(), SMALL, matrices, SZG_QUESTION_HERMITIAN_PART,
                                 &range, out));
    for (int m = 0; m < SMALL; m++) {
        ck_assert_int_eq(out[m].count, 2);
        szg_spectrum_close(&out[m]);
    }
    double *bad = a + 8 * SMALL_ROWS * SMALL_ROWS;
    bad[SMALL_ROWS] += 1;
    ck_szg_fails(
        SZG_EDATA, "matrix 8: entries (1, 0) and (0, 1) differ beyond rounding",
        szg_spectrum_batch(test_context(), SMALL, matrices, SZG_QUESTION_EIGENVALUES, NULL, out));
    bad[SMALL_ROWS] = NAN;
    for (int m = 0; m < SMALL; m += 4)
        a[(m + 1) * SMALL_ROWS * SMALL_ROWS] = m >= 8 ? INFINITY : 1;
    ck_szg_fails(SZG_EDATA, "matrix 8: entry (1, 0) is nan",
                 szg_spectrum_batch(test_context(), SMALL, matrices, SZG_QUESTION_HERMITIAN_PART,
                                    NULL, out));
    for (int m = 0; m < SMALL; m++)
        ck_assert(!out[m].re && out[m].count == 0);
    szgi_memory_free(a);
}
END_TEST

/* Fewer large matrices than threads: one after the other, each with all of them. */
START_TEST(few_large_matrices) {
    enum { N = 512 };
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 3};
    double *a = get((int64_t)N * N, sizeof *a);
    for (int64_t i = 0; i < N; i++)
        a[i * N + i] = (double)(i + 1);
    const szg_matrix matrices[2] = {szg_matrix_symmetric(N, a, N), szg_matrix_dense(2, 2, a, N)};
    szg_spectrum out[2];
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(szg_spectrum_batch(context, 2, matrices, SZG_QUESTION_EIGENVALUES, NULL, out));
    for (int64_t i = 0; i < N;
         i++) /* no sum of LAPACK's has a second term; weyl is for its scaling */
        ck_close(out[0].re[i], (double)(i + 1), weyl(N, N));
    ck_assert_int_eq(out[1].count, 2);
    for (int i = 0; i < 2; i++)
        szg_spectrum_close(&out[i]);
    a[N + 1] = NAN;
    ck_assert_int_eq(szg_spectrum_batch(context, 2, matrices, SZG_QUESTION_EIGENVALUES, NULL, out),
                     SZG_EDATA);
    ck_assert_str_eq(szg_context_message(context), "matrix 0: entry (1, 1) is nan");
    szg_context_close(&context);
    szgi_memory_free(a);
}
END_TEST

START_TEST(batch_refuses) {
    enum { COUNT = 9, N = 5, BAD = 3 };
    szg_context *ctx = test_context();
    double *a = random_matrix(COUNT * N * N, 44);
    szg_matrix matrices[COUNT];
    szg_spectrum out[COUNT];
    for (int i = 0; i < COUNT; i++)
        matrices[i] = szg_matrix_dense(N, N, a + i * N * N, N);
    for (int i = BAD; i < COUNT; i++)
        a[i * N * N + N] = NAN;
    for (int i = 0; i < 20; i++) { /* the first, whichever worker is faster */
        ck_szg_fails(SZG_EDATA, "matrix 3: entry (1, 0) is nan",
                     szg_spectrum_batch(ctx, COUNT, matrices, SZG_QUESTION_SINGULAR, NULL, out));
        for (int j = 0; j < COUNT; j++)
            ck_assert(!out[j].re && out[j].count == 0);
    }
    ck_szg_fails(SZG_EINVAL, "matrix 0: unknown question",
                 szg_spectrum_batch(ctx, COUNT, matrices, (szg_question)9, NULL, out));
    matrices[1].columns = 4;
    ck_szg_fails(SZG_EINVAL, "matrix 1: eigenvalues of a 5 x 4",
                 szg_spectrum_batch(ctx, COUNT, matrices, SZG_QUESTION_EIGENVALUES, NULL, out));
    ck_szg_fails(SZG_EINVAL, "spectra of -1 matrices",
                 szg_spectrum_batch(ctx, -1, matrices, SZG_QUESTION_SINGULAR, NULL, out));
    ck_szg_fails(SZG_EINVAL, "spectra of 1 matrices",
                 szg_spectrum_batch(ctx, 1, NULL, SZG_QUESTION_SINGULAR, NULL, out));
    ck_szg_ok(szg_spectrum_batch(ctx, 0, NULL, SZG_QUESTION_SINGULAR, NULL, NULL));
    szgi_memory_free(a);
}
END_TEST

TEST_FILE("dense_spectra") {
    test_before_each(use_tested_backend);
    test_add(suite, "entries_near_the_largest_double", entries_near_the_largest_double);
    test_add(suite, "symmetric_of_padded_rows", symmetric_of_padded_rows);
    test_add(suite, "hermitian_two_by_two", hermitian_two_by_two);
    test_add(suite, "general_roots_of_unity", general_roots_of_unity);
    test_add(suite, "singular_of_rectangles", singular_of_rectangles);
    test_add(suite, "scales_without_overflow", scales_without_overflow);
    test_add(suite, "dense_refuses", dense_refuses);
    test_add(suite, "a_bad_matrix_is_found_once", a_bad_matrix_is_found_once);
    test_add(suite, "batches_equal_single_ones", batches_equal_single_ones);
    test_add(suite, "many_matrices_as_one_by_one", many_matrices_as_one_by_one);
    test_add(suite, "small_arrays_together", small_arrays_together);
    test_add(suite, "few_large_matrices", few_large_matrices);
    test_add(suite, "batch_refuses", batch_refuses);
}
