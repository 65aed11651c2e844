/* Factored matrices M o (A B^T + T) against the dense matrix, entry by entry. */
#include "factored_size.h"
#include "toeplitz_tests.h"

typedef struct sample {
    szg_factored f;
    double *a, *b, *dense;
    szg_toeplitz *bias;
    double size; /* factored_size */
} sample;

static double dot(int64_t d, const double *x, const double *y) {
    double sum = 0;
    for (int64_t t = 0; t < d; t++)
        sum += x[t] * y[t];
    return sum;
}

static void open_sample(uint32_t step, int64_t n, int64_t d, bool bias, bool causal, sample *s) {
    int64_t lda = d + 1, ldb = d + step % 3;
    *s = (sample){.a = random_numbers(step, n * lda + 1),
                  .b = random_numbers(step + 1, n * ldb + 1)};
    if (bias)
        s->bias = random_toeplitz(step + 2, step % 2 ? SZG_TOEPLITZ_REAL : SZG_TOEPLITZ_SYMMETRIC,
                                  n, step % 5 ? n : 1 + n / 8);
    s->f = (szg_factored){n, d, s->a, lda, s->b, ldb, s->bias, causal};
    s->dense = new_numbers(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (causal ? i + 1 : n); j++)
            s->dense[i * n + j] = dot(d, s->a + i * lda, s->b + j * ldb) +
                                  (bias ? szg_toeplitz_at(s->bias, i - j).re : 0);
    s->size = factored_size(&s->f);
}

static void close_sample(sample *s) {
    szg_toeplitz_close(&s->bias);
    szg_memory_free(s->a), szg_memory_free(s->b), szg_memory_free(s->dense);
}

static void check_products(const sample *s, uint32_t step) {
    int64_t n = s->f.n, batch = 1 + step % 3, ldx = n + 2;
    char op = "ntc"[step % 3];
    double *x = random_numbers(step + 50, batch * ldx), *y = new_numbers(batch * n);
    ck_szg_ok(szg_factored_apply(test_context(), &s->f, op, batch, x, ldx, y, n));
    double bound = 20 * (double)(n + s->f.d) * EPS * s->size;
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < n; i++) {
            double want = 0;
            for (int64_t j = 0; j < n; j++)
                want += s->dense[op == 'n' ? i * n + j : j * n + i] * x[b * ldx + j];
            ck_close(y[b * n + i], want, bound * norm_of(n, x + b * ldx));
        }
    szg_memory_free(x), szg_memory_free(y);
}

static void check_numbers(const sample *s) {
    szg_context *context = test_context();
    int64_t n = s->f.n, ld = n + 1;
    double *dense = new_numbers(n * ld), *diagonal = new_numbers(n), norm, tau;
    double bound = 20 * (double)(n + s->f.d) * EPS * s->size;
    ck_szg_ok(szg_factored_dense(context, &s->f, dense, ld));
    ck_szg_ok(szg_factored_diagonal(context, &s->f, diagonal));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            ck_close(dense[i * ld + j], s->dense[i * n + j], bound);
        ck_assert(!s->f.causal || i == n - 1 || dense[i * ld + n - 1] == 0);
        ck_close(diagonal[i], s->dense[i * n + i], bound);
    }
    szg_toeplitz *part, *want;
    ck_szg_ok(szg_factored_toeplitz_part(context, &s->f, &part));
    ck_szg_ok(szg_toeplitz_project(context, n, s->dense, n, &want));
    for (int64_t k = 1 - n; k < n; k++)
        ck_close(szg_toeplitz_at(part, k).re, szg_toeplitz_at(want, k).re, bound);
    ck_szg_ok(szg_factored_norm_frobenius(context, &s->f, &norm));
    double exact = norm_of(n * n, s->dense);
    ck_close(norm * norm, exact * exact, bound * s->size);
    double tau_bound = toeplitzness_error(&s->f, exact);
    if (tau_bound < 1) { /* else what is left of the matrix is rounding */
        double dense_tau;
        ck_szg_ok(szg_factored_toeplitzness(context, &s->f, &tau));
        ck_szg_ok(szg_toeplitzness(context, n, s->dense, n, &dense_tau));
        ck_close(tau, dense_tau, tau_bound);
    }
    szg_toeplitz_close(&part);
    szg_toeplitz_close(&want);
    szg_memory_free(dense), szg_memory_free(diagonal);
}

START_TEST(factored_agrees_with_dense) {
    szg_stream stream = {.seed = test_seed(), .purpose = 8};
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(16 * SIZE_COUNT); trial++) {
        sample s;
        int64_t d = szg_random_below(&stream, trial, 20);
        open_sample(trial, SIZES[trial / 4 % SIZE_COUNT], d, trial % 2, trial / 2 % 2, &s);
        check_products(&s, trial);
        check_numbers(&s);
        close_sample(&s);
    }
}
END_TEST

/* More rows than one step of the running Gram matrix, and more columns than blocks of the pool. */
START_TEST(long_factors) {
    for (uint32_t trial = 0; trial < 4; trial++) {
        sample s;
        open_sample(trial, 600, 17, trial % 2, trial / 2, &s);
        check_products(&s, trial);
        check_numbers(&s);
        close_sample(&s);
    }
}
END_TEST

/* Rotary: sum_t G_t o E_t with (G_t)_ij = q_i^(t) conj(k_j^(t)), (E_t)_ij = e^{i (i-j) theta_t} is
 * the real product of the rotated q and k (Gu and others 2025, corrected Eq. 10). */
START_TEST(rotary_logits_are_factored) {
    enum { N = 37, PAIRS = 4, D = 2 * PAIRS };
    double *q = random_numbers(1, N * D), *k = random_numbers(2, N * D);
    double *rq = new_numbers(N * D), *rk = new_numbers(N * D), *dense = new_numbers(N * N);
    double theta[PAIRS] = {1, 0.1, 0.01, 0.001};
    for (int64_t i = 0; i < N; i++)
        for (int64_t t = 0; t < PAIRS; t++) {
            double c = cos((double)i * theta[t]), s = sin((double)i * theta[t]);
            int64_t at = i * D + 2 * t;
            rq[at] = c * q[at] - s * q[at + 1], rq[at + 1] = s * q[at] + c * q[at + 1];
            rk[at] = c * k[at] - s * k[at + 1], rk[at + 1] = s * k[at] + c * k[at + 1];
        }
    szg_factored f = {N, D, rq, D, rk, D, NULL, false};
    ck_szg_ok(szg_factored_dense(test_context(), &f, dense, N));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            double want = 0;
            for (int64_t t = 0; t < PAIRS; t++) {
                const double *x = q + i * D + 2 * t, *y = k + j * D + 2 * t;
                double re = x[0] * y[0] + x[1] * y[1], im = x[1] * y[0] - x[0] * y[1];
                double angle = (double)(i - j) * theta[t];
                want += re * cos(angle) - im * sin(angle);
            }
            ck_close(dense[i * N + j], want,
                     40 * D * EPS * norm_of(D, q + i * D) * norm_of(D, k + j * D) * N);
        }
    szg_memory_free(q), szg_memory_free(k), szg_memory_free(rq), szg_memory_free(rk);
    szg_memory_free(dense);
}
END_TEST

START_TEST(bad_factors_are_named) {
    szg_context *context = test_context();
    double a[4] = {1, 2, NAN, 4}, b[4] = {1, 1, 1, 1}, x[4] = {0}, y[4], value;
    szg_c64 complex[] = {{1, 0}, {0, 1}};
    szg_toeplitz *small, *wide, *out;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 3, 1, b, &small));
    ck_szg_ok(szg_toeplitz_open_hermitian(context, 2, 2, complex, &wide));
    szg_factored f = {2, 2, a, 2, b, 2, NULL, false};
    ck_szg_fails(SZG_EDATA, "A: row 1, column 0", szg_factored_norm_frobenius(context, &f, &value));
    ck_assert(isnan(value));
    ck_szg_fails(SZG_EDATA, "A: row 1", szg_factored_toeplitz_part(context, &f, &out));
    ck_assert_ptr_null(out);
    f = (szg_factored){2, 2, a, 1, b, 2, NULL, false};
    ck_szg_fails(SZG_EINVAL, "below it", szg_factored_apply(context, &f, 'n', 1, x, 2, y, 2));
    f = (szg_factored){2, 1, b, 1, NULL, 1, NULL, false};
    ck_szg_fails(SZG_EINVAL, "missing", szg_factored_dense(context, &f, y, 2));
    f = (szg_factored){2, 1, b, 1, b, 1, small, false};
    ck_szg_fails(SZG_EINVAL, "order 3", szg_factored_diagonal(context, &f, y));
    f.bias = wide;
    ck_szg_fails(SZG_EINVAL, "complex", szg_factored_diagonal(context, &f, y));
    f = (szg_factored){0, 1, b, 1, b, 1, NULL, false};
    ck_szg_fails(SZG_EINVAL, "size 0", szg_factored_diagonal(context, &f, y));
    f = (szg_factored){1ll << 31, 0, NULL, 0, NULL, 0, NULL, false};
    ck_szg_fails(SZG_ENOMEM, "szg_factored_apply", szg_factored_dense(context, &f, y, 1ll << 31));
    f = (szg_factored){2, 0, NULL, 0, NULL, 0, NULL, true};
    ck_szg_fails(SZG_EDOMAIN, "is 0", szg_factored_toeplitzness(context, &f, &value));
    double huge[] = {1e200, 1e200};
    f = (szg_factored){2, 1, huge, 1, huge, 1, NULL, true};
    ck_szg_fails(SZG_EDOMAIN, "overflows", szg_factored_norm_frobenius(context, &f, &value));
    szg_toeplitz_close(&small);
    szg_toeplitz_close(&wide);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szg_context *context = test_context();
    for (int causal = 0; causal < 2; causal++) {
        sample s;
        enum { N = 70 };
        open_sample(3, N, 5, true, causal, &s);
        double *x = random_numbers(9, N), *y = new_numbers(N), *dense = new_numbers(N * N), value;
        szg_toeplitz *part;
        ck_survives_failed_allocations(1, szg_factored_apply(context, &s.f, 'n', 1, x, N, y, N));
        ck_survives_failed_allocations(0, szg_factored_dense(context, &s.f, dense, N));
        ck_survives_failed_allocations(1, szg_factored_toeplitz_part(context, &s.f, &part));
        szg_toeplitz_close(&part);
        ck_survives_failed_allocations(1, szg_factored_norm_frobenius(context, &s.f, &value));
        ck_survives_failed_allocations(1, szg_factored_toeplitzness(context, &s.f, &value));
        szg_memory_free(x), szg_memory_free(y), szg_memory_free(dense);
        close_sample(&s);
    }
}
END_TEST

TEST_FILE("factored") {
    test_add(suite, "factored_agrees_with_dense", factored_agrees_with_dense);
    test_add(suite, "long_factors", long_factors);
    test_add(suite, "rotary_logits_are_factored", rotary_logits_are_factored);
    test_add(suite, "bad_factors_are_named", bad_factors_are_named);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
