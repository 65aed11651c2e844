/* M o (A B^T + T): every structured way against the dense matrix. */
#include <float.h>

#include "toeplitz/factored.h"

#include "factored_size.h"
#include "spectra_support.h"

typedef struct sample {
    szg_factored f;
    double *a, *b;
} sample;

/* Gaussian factors, rows `pad` further apart than they need be. */
static sample make(int64_t n, int64_t d, bool symmetric, uint32_t step) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 20, .step = step};
    sample s = {.f = {.n = n, .d = d, .lda = d + 1, .ldb = d + (symmetric ? 1 : 2)}};
    s.a = get(n * (d + 1), sizeof *s.a);
    s.b = get(n * (d + 2), sizeof *s.b);
    szgi_random_fill_normal(&stream, 0, n * (d + 1), s.a);
    szgi_random_fill_normal(&stream, 1 << 20, n * (d + 2), s.b);
    s.f.a = s.a;
    s.f.b = symmetric ? s.a : s.b;
    return s;
}

static void drop(sample *s) {
    szgi_memory_free(s->a);
    szgi_memory_free(s->b);
}

static double *dense_of(const szg_factored *f) {
    double *dense = get(f->n * f->n, sizeof *dense);
    ck_szg_ok(szgi_factored_dense(test_context(), f, dense, f->n));
    return dense;
}

static void check_singular(const szg_factored *f) {
    int64_t n = f->n;
    double *dense = dense_of(f), *want = get(n, sizeof *want);
    double bound = weyl(n + f->d, norm_of(n * n, dense) + 1);
    ck_szg_ok(szgi_singular(test_context(), n, n, dense, n, want, NULL, n, NULL, n));
    szg_spectrum s;
    ck_szg_ok(singular_of(test_context(), szg_matrix_factored(f), NULL, &s));
    ck_assert_int_eq(s.count + s.zeros, n);
    for (int64_t i = 0; i < n; i++)
        ck_close(i < s.count ? s.re[i] : 0, want[i], bound);
    ck_assert(isfinite(s.residual) && s.residual_meaning && s.method);
    szg_spectrum_close(&s);
    szgi_memory_free(dense);
    szgi_memory_free(want);
}

/* Symmetric ones value by value; others by power sums: trace L and trace L^2, which the dense
 * matrix gives without eigenvalues. |lambda| <= ||L||_F bounds what rounding does to the second. */
static void check_eigen(const szg_factored *f) {
    int64_t n = f->n;
    double *dense = dense_of(f), norm = norm_of(n * n, dense), bound = weyl(n + f->d, norm + 1);
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(f), NULL, &s));
    ck_assert_int_eq(s.count + s.zeros, n);
    double first = 0, second = 0, got_first = 0, got_second = 0;
    for (int64_t i = 0; i < n; i++) {
        first += dense[i * (n + 1)];
        for (int64_t j = 0; j < n; j++)
            second += dense[i * n + j] * dense[j * n + i];
    }
    for (int64_t i = 0; i < s.count; i++) {
        double im = s.im ? s.im[i] : 0;
        got_first += s.re[i];
        got_second += s.re[i] * s.re[i] - im * im;
    }
    ck_close(got_first, first, (double)n * bound);
    ck_close(got_second, second, (double)n * bound * (norm + 1));
    if (!isnan(s.frobenius))
        ck_close(s.frobenius, norm, frobenius_error(f, norm) + gamma_of((double)(n * n)) * norm);
    if (s.normal) {
        double *want = get(n, sizeof *want);
        oracle_symmetric(n, dense, want);
        check_values(&s, n, want, bound);
        szgi_memory_free(want);
    }
    szg_spectrum_close(&s);
    szgi_memory_free(dense);
}

/* (L + L^T) / 2 entry by entry from the dense matrix, then Jacobi or LAPACK. */
static void check_hermitian_part(const szg_factored *f) {
    int64_t n = f->n;
    double *dense = dense_of(f), *half = get(n * n, sizeof *half), *want = get(n, sizeof *want);
    /* Cancellation: what rounds is |A| |B|, not H. */
    double size = norm_of(n * n, dense) + 1;
    if (f->d > 0)
        size += norm_of(n * f->lda, f->a) * norm_of(n * f->ldb, f->b);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            half[i * n + j] = (dense[i * n + j] + dense[j * n + i]) / 2;
    oracle_symmetric(n, half, want);
    szg_spectrum s;
    ck_szg_ok(part_of(test_context(), szg_matrix_factored(f), NULL, &s));
    check_values(&s, n, want, weyl(n + f->d, size));
    check_promises(&s, weyl(n + f->d, size));
    ck_assert(s.normal);
    if (!f->bias && !f->causal && 2 * f->d < n)
        ck_assert_int_eq(s.zeros, n - 2 * f->d);
    szg_spectrum_close(&s);
    szg_spectra_options oracle = {SZG_INIT(szg_spectra_options), .dense = true};
    ck_szg_ok(part_of(test_context(), szg_matrix_factored(f), &oracle, &s));
    check_values(&s, n, want, weyl(n + f->d, size));
    szg_spectrum_close(&s);
    ck_szg_ok(part_of(test_context(), szg_matrix_dense(n, n, dense, n), NULL, &s));
    check_values(&s, n, want, weyl(n + f->d, size));
    szg_spectrum_close(&s);
    szgi_memory_free(dense);
    szgi_memory_free(half);
    szgi_memory_free(want);
}

START_TEST(factored_against_dense) {
    const int64_t n[] = {1, 2, 3, 5, 8, 30, 61}, d[] = {0, 1, 2, 7, 30};
    double lags[121];
    szgi_stream stream = {.seed = test_seed(), .purpose = 21};
    szgi_random_fill_normal(&stream, 0, 121, lags);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (size_t j = 0; j < sizeof d / sizeof *d; j++)
            for (int variant = 0; variant < 12; variant++) {
                sample s = make(n[i], d[j], variant & 1, (uint32_t)(i * 16 + j));
                szg_toeplitz *bias = NULL;
                if (variant / 4 == 1)
                    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n[i], n[i], lags, &bias));
                if (variant / 4 == 2)
                    ck_szg_ok(szg_toeplitz_open_real(test_context(), n[i], n[i], lags, &bias));
                s.f.bias = bias;
                s.f.causal = variant & 2;
                check_eigen(&s.f);
                check_singular(&s.f);
                check_hermitian_part(&s.f);
                szg_toeplitz_close(&bias);
                drop(&s);
            }
}
END_TEST

/* docs/explanation/methods.md: a backward error of about n eps. */
static double backward(const szg_factored *f, double norm) {
    return (double)(f->n + f->d) * DBL_EPSILON * norm;
}

/* 300 x 300 of rank 128, and with blocks of the tall QR at 5000 the two sums of squares agree. */
START_TEST(factored_at_d_128) {
    sample s = make(300, 128, false, 99);
    double *dense = dense_of(&s.f), *want = get(300, sizeof *want);
    ck_szg_ok(szgi_singular(test_context(), 300, 300, dense, 300, want, NULL, 300, NULL, 300));
    szg_spectrum got;
    ck_szg_ok(singular_of(test_context(), szg_matrix_factored(&s.f), NULL, &got));
    ck_assert_int_eq(got.count, 128);
    ck_assert_int_eq(got.zeros, 172);
    for (int i = 0; i < 128; i++)
        ck_close(got.re[i], want[i], backward(&s.f, want[0]));
    szg_spectrum_close(&got);
    szgi_memory_free(dense);
    szgi_memory_free(want);
    drop(&s);
    s = make(9001, 24, false, 98);
    double frobenius;
    ck_szg_ok(szgi_factored_norm_frobenius(test_context(), &s.f, &frobenius));
    ck_szg_ok(singular_of(test_context(), szg_matrix_factored(&s.f), NULL, &got));
    ck_close(norm_of(got.count, got.re), frobenius, backward(&s.f, frobenius));
    szg_spectrum_close(&got);
    /* With A = B the matrix is positive semidefinite: both kinds agree. */
    szg_spectrum eigen;
    s.f.b = s.f.a;
    s.f.ldb = s.f.lda;
    ck_szg_ok(singular_of(test_context(), szg_matrix_factored(&s.f), NULL, &got));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&s.f), NULL, &eigen));
    ck_assert(eigen.normal);
    for (int64_t i = 0; i < 24; i++)
        ck_close(eigen.re[23 - i], got.re[i], 2 * backward(&s.f, got.re[0]));
    szg_spectrum_close(&got);
    szg_spectrum_close(&eigen);
    drop(&s);
}
END_TEST

/* Matrix-free ends at an order above the threshold: a strong low-rank part over a weak bias. */
START_TEST(factored_matrix_free) {
    const int64_t n = 2500;
    sample s = make(n, 2, true, 97);
    double lags[2] = {0, 0.25};
    szg_toeplitz *bias;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, 2, lags, &bias));
    s.f.bias = bias;
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    szg_spectrum singular, low_rank;
    ck_szg_ok(singular_of(test_context(), szg_matrix_factored(&s.f), &range, &singular));
    ck_assert(strstr(szg_method_name(singular.method), "matrix-free"));
    s.f.bias = NULL;
    ck_szg_ok(singular_of(test_context(), szg_matrix_factored(&s.f), NULL, &low_rank));
    /* Weyl: the bias has norm 1/2 at most; Lanczos is off by its residual. */
    double found = singular.residual * singular.re[0] + backward(&s.f, low_rank.re[0]);
    ck_close(singular.re[0], low_rank.re[0], 0.5 + found);
    ck_assert(isnan(singular.re[1]) && singular.note);
    ck_close(singular.residual, 0, 1e-10);
    szg_spectrum_close(&singular);
    szg_spectrum_close(&low_rank);
    szg_toeplitz_close(&bias);
    drop(&s);
}
END_TEST

/* The ends of H above the threshold of the matrix-free way, with and without a mask, against the
 * whole spectrum of the same factors; H of an antisymmetric matrix is zero. */
START_TEST(hermitian_part_ends) {
    const int64_t n = 2100;
    sample s = make(n, 2, false, 95);
    double lags[2] = {0, 0.25};
    szg_toeplitz *bias;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, 2, lags, &bias));
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    szg_spectrum low_rank, ends;
    ck_szg_ok(part_of(test_context(), szg_matrix_factored(&s.f), &range, &low_rank));
    ck_assert_int_eq(low_rank.count, 4);
    ck_assert_int_eq(low_rank.zeros, n - 4);
    s.f.bias = bias;
    ck_szg_ok(part_of(test_context(), szg_matrix_factored(&s.f), &range, &ends));
    ck_assert(strstr(szg_method_name(ends.method), "matrix-free"));
    ck_assert_int_eq(ends.count, 2);
    /* Weyl: the bias has norm 1/2 at most; Lanczos is off by its residual. */
    double norm = fmax(-low_rank.re[0], low_rank.re[3]);
    double found = 0.5 + ends.residual * (norm + 0.5) + backward(&s.f, norm);
    ck_close(ends.re[0], low_rank.re[0], found);
    ck_close(ends.re[1], low_rank.re[3], found);
    szg_spectrum_close(&low_rank);
    szg_spectrum_close(&ends);
    szg_toeplitz_close(&bias);
    drop(&s);
    const double skew[9] = {0, 1, 2, -1, 0, 3, -2, -3, 0};
    ck_szg_ok(part_of(test_context(), szg_matrix_dense(3, 3, skew, 3), NULL, &ends));
    for (int i = 0; i < 3; i++)
        ck_assert(ends.re[i] == 0);
    szg_spectrum_close(&ends);
}
END_TEST

START_TEST(causal_says_why) {
    sample s = make(6, 2, false, 96);
    s.f.causal = true;
    szg_spectrum got;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&s.f), NULL, &got));
    ck_assert(strstr(got.note, "triangular"));
    ck_assert(strstr(got.note, "singular values"));
    ck_assert(!got.normal);
    /* The trace is the sum of the diagonal, a_i . b_i: as many products and sums round. */
    double trace = 0, size = 0;
    for (int64_t i = 0; i < s.f.n; i++)
        for (int64_t t = 0; t < s.f.d; t++) {
            double term = s.f.a[i * s.f.lda + t] * s.f.b[i * s.f.ldb + t];
            trace += term;
            size += fabs(term);
        }
    ck_close(got.trace, trace, 2 * (double)(s.f.n * s.f.d) * DBL_EPSILON * size);
    szg_spectrum_close(&got);
    drop(&s);
}
END_TEST

START_TEST(factored_refuses) {
    szg_context *ctx = test_context();
    szg_spectrum got;
    double one = 1, nan = NAN;
    szg_factored f = {.n = 0, .d = 1, .a = &one, .lda = 1, .b = &one, .ldb = 1};
    ck_szg_fails(SZG_EINVAL, "order 0", eigenvalues_of(ctx, szg_matrix_factored(&f), NULL, &got));
    f.n = 1;
    f.a = NULL;
    ck_szg_fails(SZG_EINVAL, "missing", singular_of(ctx, szg_matrix_factored(&f), NULL, &got));
    double values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    f = (szg_factored){.n = 8, .d = 1, .a = values, .lda = 1, .b = values, .ldb = 1};
    values[3] = nan;
    ck_assert(eigenvalues_of(ctx, szg_matrix_factored(&f), NULL, &got) == SZG_EDATA);
    ck_assert(singular_of(ctx, szg_matrix_factored(&f), NULL, &got) == SZG_EDATA);
    ck_assert(part_of(ctx, szg_matrix_factored(&f), NULL, &got) == SZG_EDATA);
    ck_szg_fails(SZG_EDATA, "", part_of(ctx, szg_matrix_dense(2, 2, values + 2, 2), NULL, &got));
    values[3] = 4;
    f.n = 10000000;
    double lag = 1;
    szg_toeplitz *bias;
    ck_szg_ok(szg_toeplitz_open_symmetric(ctx, f.n, 1, &lag, &bias));
    f.d = 0;
    f.bias = bias;
    f.causal = true;
    ck_szg_fails(SZG_ENOMEM, "dense logit matrix",
                 part_of(ctx, szg_matrix_factored(&f), NULL, &got));
    f.causal = false;
    ck_szg_fails(SZG_ENOMEM, "range", singular_of(ctx, szg_matrix_factored(&f), NULL, &got));
    szg_toeplitz_close(&bias);
}
END_TEST

TEST_FILE("factored_spectra") {
    test_before_each(use_tested_backend);
    test_add(suite, "factored_against_dense", factored_against_dense);
    test_add(suite, "factored_at_d_128", factored_at_d_128);
    test_add(suite, "factored_matrix_free", factored_matrix_free);
    test_add(suite, "hermitian_part_ends", hermitian_part_ends);
    test_add(suite, "causal_says_why", causal_says_why);
    test_add(suite, "factored_refuses", factored_refuses);
}
