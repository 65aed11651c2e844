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
    szgi_memory_free(s->a), szgi_memory_free(s->b), szgi_memory_free(s->dense);
}

static void check_products(const sample *s, uint32_t step) {
    int64_t n = s->f.n, batch = 1 + step % 3, ldx = n + 2;
    char op = "ntc"[step % 3];
    double *x = random_numbers(step + 50, batch * ldx), *y = new_numbers(batch * n);
    ck_szg_ok(szgi_factored_apply(test_context(), &s->f, op, batch, x, ldx, y, n));
    double bound = 20 * (double)(n + s->f.d) * EPS * s->size;
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < n; i++) {
            double want = 0;
            for (int64_t j = 0; j < n; j++)
                want += s->dense[op == 'n' ? i * n + j : j * n + i] * x[b * ldx + j];
            ck_close(y[b * n + i], want, bound * norm_of(n, x + b * ldx));
        }
    szgi_memory_free(x), szgi_memory_free(y);
}

static void check_numbers(const sample *s) {
    szg_context *context = test_context();
    int64_t n = s->f.n, ld = n + 1;
    double *dense = new_numbers(n * ld), *diagonal = new_numbers(n), norm;
    double bound = 20 * (double)(n + s->f.d) * EPS * s->size;
    ck_szg_ok(szgi_factored_dense(context, &s->f, dense, ld));
    ck_szg_ok(szgi_factored_diagonal(context, &s->f, diagonal));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            ck_close(dense[i * ld + j], s->dense[i * n + j], bound);
        ck_assert(!s->f.causal || i == n - 1 || dense[i * ld + n - 1] == 0);
        ck_close(diagonal[i], s->dense[i * n + i], bound);
    }
    szg_toeplitz *part, *want;
    ck_szg_ok(szgi_factored_toeplitz_part(context, &s->f, &part));
    ck_szg_ok(szgi_toeplitz_project(context, n, s->dense, n, &want));
    for (int64_t k = 1 - n; k < n; k++)
        ck_close(szg_toeplitz_at(part, k).re, szg_toeplitz_at(want, k).re, bound);
    ck_szg_ok(szgi_factored_norm_frobenius(context, &s->f, &norm));
    double exact = norm_of(n * n, s->dense);
    ck_close(norm * norm, exact * exact, bound * s->size);
    double tau_bound = toeplitzness_error(&s->f, exact);
    if (tau_bound < 1) { /* else what is left of the matrix is rounding */
        szg_tau tau, dense_tau;
        ck_szg_ok(szg_factored_toeplitzness(context, &s->f, &tau));
        ck_szg_ok(szg_toeplitzness(context, n, s->dense, n, &dense_tau));
        ck_close(tau.value, dense_tau.value, tau_bound);
    }
    szg_toeplitz_close(&part);
    szg_toeplitz_close(&want);
    szgi_memory_free(dense), szgi_memory_free(diagonal);
}

START_TEST(factored_agrees_with_dense) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 8};
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(16 * SIZE_COUNT); trial++) {
        sample s;
        int64_t d = szgi_random_below(&stream, trial, 20);
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
    ck_szg_ok(szgi_factored_dense(test_context(), &f, dense, N));
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
    szgi_memory_free(q), szgi_memory_free(k), szgi_memory_free(rq), szgi_memory_free(rk);
    szgi_memory_free(dense);
}
END_TEST

/* ---- Toeplitzness ---- */

/* Factors of a Toeplitz matrix: a constant one, or the rotary one of constant queries and keys; or
 * of any matrix. */
typedef enum content { CONSTANT, ROTARY, ANY, CONTENTS } content;

static void fill_factor(content kind, int64_t n, int64_t d, const double *numbers, double *out) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < d; t++) {
            double angle = (double)i * pow(10, -(double)(t / 2)), c = cos(angle), s = sin(angle);
            const double *pair = numbers + t / 2 * 2;
            out[i * d + t] = kind == CONSTANT ? numbers[t]
                             : kind == ANY    ? numbers[i * d + t]
                             : t % 2          ? s * pair[0] + c * pair[1]
                                              : c * pair[0] - s * pair[1];
        }
}

/* Noise of `size` on A. d is even. */
static void open_content(uint32_t step, content kind, int64_t n, int64_t d, double size, bool bias,
                         bool causal, sample *s) {
    double *numbers = random_numbers(step, 3 * n * d);
    *s = (sample){.a = new_numbers(n * d), .b = new_numbers(n * d)};
    fill_factor(kind, n, d, numbers, s->a);
    fill_factor(kind, n, d, numbers + n * d, s->b);
    for (int64_t at = 0; at < n * d; at++)
        s->a[at] += size * numbers[2 * n * d + at];
    if (bias)
        s->bias = random_toeplitz(step + 1, SZG_TOEPLITZ_REAL, n, n);
    s->f = (szg_factored){n, d, s->a, d, s->b, d, s->bias, causal};
    szgi_memory_free(numbers);
}

/* 1 - tau of the matrix whose factors are exact, and S / ||L||_F, S = sum_t |A_t| |B_t|. */
static long double exact_rest(const szg_factored *f, double *spread) {
    int64_t n = f->n;
    long double *a = (long double *)new_numbers(2 * n * n), whole = 0, size = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (f->causal ? i + 1 : n); j++) {
            long double x = f->bias ? szg_toeplitz_at(f->bias, i - j).re : 0;
            for (int64_t t = 0; t < f->d; t++)
                x += (long double)f->a[i * f->lda + t] * f->b[j * f->ldb + t];
            a[i * n + j] = x;
            whole += x * x;
        }
    for (int64_t t = 0; t < f->d; t++) {
        long double left = 0, right = 0;
        for (int64_t i = 0; i < n; i++) {
            left += (long double)f->a[i * f->lda + t] * f->a[i * f->lda + t];
            right += (long double)f->b[i * f->ldb + t] * f->b[i * f->ldb + t];
        }
        size += sqrtl(left) * sqrtl(right);
    }
    *spread = (double)(size / sqrtl(whole));
    long double rest = oracle_rest(n, 1, a);
    szgi_memory_free(a);
    return rest;
}

/* Entries that are off by e S, e = (d + 1) u, and sums of 3 n terms and a few move the norms of
 * both parts by `off` of the whole at most; first order and second order by that, see
 * factored_split.c. A long double is 2^11 times as exact. */
static void check_tau(const szg_factored *f, szg_tau *tau) {
    double spread, u = EPS / 2, n = (double)f->n;
    long double rest = exact_rest(f, &spread);
    szg_status status = szg_factored_toeplitzness(test_context(), f, tau);
    if (isnan(rest)) {
        ck_assert_int_eq(status, SZG_EDOMAIN);
        return;
    }
    ck_szg_ok(status);
    ck_assert(tau->value >= 0 && tau->value <= 1);
    /* Six standard errors of a sample. */
    ck_close(tau->value, (double)(1 - rest), (tau->sampled ? 6 : 1 + 0x1p-9) * tau->error);
    double off = ((double)f->d + 1 + 3 * n + 272) * u * fmax(spread, 1);
    if (f->n <= SZG_FACTORED_TILES)
        ck_assert(tau->error <= fmin(1, 2 * EPS + 8 * off * sqrt((double)rest) + 20 * off * off));
}

START_TEST(toeplitzness_is_right_near_one) {
    static const int64_t sizes[] = {1, 2, 3, 16, 37, 127, 128, 129, 257, 300};
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(17 * 12); trial++) {
        sample s;
        szg_tau tau;
        double size = trial % 17 ? pow(10, -(double)(trial % 17)) : 0;
        open_content(trial, trial % CONTENTS, sizes[trial % 10], 2 + trial / 3 % 4 * 2, size,
                     trial / 2 % 2, trial / 5 % 2, &s);
        check_tau(&s.f, &tau);
        ck_assert(!tau.sampled);
        close_sample(&s);
    }
}
END_TEST

/* On both sides of the switch from tiles to QR factors and running Gram matrices. Noise of 1e-6
 * leaves 1 - tau near 1e-12, below what a difference of squares can see: a sample, of relative
 * standard error sqrt(2 / 64). */
START_TEST(toeplitzness_at_the_switch) {
    static const struct {
        int64_t n;
        content kind;
        double size;
        bool bias, causal;
    } cases[] = {{2047, ANY, 0, true, false},       {2048, ROTARY, 1e-6, false, true},
                 {2048, CONSTANT, 0, false, false}, {2049, ANY, 0, true, false},
                 {2049, ANY, 0, false, true},       {2049, ROTARY, 1e-2, true, false},
                 {2049, ROTARY, 0, false, false},   {2049, ROTARY, 1e-6, false, false},
                 {2049, CONSTANT, 1e-6, true, true}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s;
        szg_tau tau, dense;
        double *entries = new_numbers(cases[i].n * cases[i].n), spread;
        open_content(40 * i, cases[i].kind, cases[i].n, 4, cases[i].size, cases[i].bias,
                     cases[i].causal, &s);
        check_tau(&s.f, &tau);
        ck_szg_ok(szgi_factored_dense(test_context(), &s.f, entries, cases[i].n));
        ck_szg_ok(szg_toeplitzness(test_context(), cases[i].n, entries, cases[i].n, &dense));
        ck_close(tau.value, dense.value, 6 * tau.error + dense.error);
        /* What is Toeplitz but for rounding is sampled, what is far from it is not; noise may be
         * either, as the numbers fall. */
        bool beyond = cases[i].n > SZG_FACTORED_TILES;
        ck_assert(cases[i].size > 0 || tau.sampled == (beyond && cases[i].kind != ANY));
        if (tau.sampled) {
            double rest = (double)exact_rest(&s.f, &spread);
            ck_close(1 - tau.value, rest, 6 * sqrt(2.0 / 64) * rest + 4 * EPS);
        }
        szgi_memory_free(entries);
        close_sample(&s);
    }
}
END_TEST

/* Column 0 of A on the first rows, of B on the last: all of its products stand above the diagonal,
 * where the mask drops them. `signs`: random ones there. Column 1 is of random signs, T of ones. */
static void open_dropped(int64_t n, bool signs, sample *s) {
    double *numbers = random_numbers(7, 4 * n), *lags = new_numbers(2 * n - 1);
    *s = (sample){.a = new_numbers(2 * n), .b = new_numbers(2 * n)};
    for (int64_t at = 0; at < 2 * n - 1; at++)
        lags[at] = 1;
    for (int64_t i = 0; i < n; i++) {
        s->a[2 * i] = i >= n / 2 ? 0 : signs ? copysign(1, numbers[i]) : 1;
        s->b[2 * i] = i < n / 2 ? 0 : signs ? copysign(1, numbers[n + i]) : 1;
        s->a[2 * i + 1] = copysign(1, numbers[2 * n + i]);
        s->b[2 * i + 1] = copysign(1, numbers[3 * n + i]);
    }
    ck_szg_ok(szg_toeplitz_open_real(test_context(), n, n, lags, &s->bias));
    s->f = (szg_factored){n, 2, s->a, 2, s->b, 2, s->bias, true};
    szgi_memory_free(numbers), szgi_memory_free(lags);
}

/* The norm of the sums of A B^T along all diagonals. */
static double norm_of_all_sums(const szg_factored *f) {
    int64_t n = f->n;
    double *sums = new_numbers(2 * n - 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            sums[i - j + n - 1] += dot(f->d, f->a + i * f->lda, f->b + j * f->ldb);
    double norm = norm_of(2 * n - 1, sums);
    szgi_memory_free(sums);
    return norm;
}

/* The sums come back from one transform, which errs by c = 8 u (2 + log2 2n) times the norm of all
 * of them, also of those that the mask drops. Two factors of the same masked matrix and the same
 * S, apart in that norm alone: their bounds are apart by 2 ||P_T L|| (1 - tau) / ||L||^2 times as
 * much (szgi_split_tau: the bound takes more than 1 - tau for its share). */
START_TEST(dropped_diagonals_count_in_the_error) {
    const int64_t n = 2049;
    double error[2], norm[2], frobenius;
    szg_tau tau;
    for (int signs = 0; signs < 2; signs++) {
        sample s;
        open_dropped(n, signs, &s);
        check_tau(&s.f, &tau);
        ck_assert(!tau.sampled);
        error[signs] = tau.error;
        norm[signs] = norm_of_all_sums(&s.f);
        ck_szg_ok(szgi_factored_norm_frobenius(test_context(), &s.f, &frobenius));
        close_sample(&s);
    }
    double c = 8 * EPS / 2 * (2 + log2(2 * (double)n));
    double apart = c * (norm[0] - norm[1]) * 2 * sqrt(tau.value) * (1 - tau.value) / frobenius;
    ck_assert(norm[0] > 2 * norm[1]);
    ck_assert_double_ge(error[0] - error[1], apart);
}
END_TEST

/* Factors times powers of two, a column's own among them, and a bias times their product: tau
 * stays, though entries and squares leave the range of doubles. */
START_TEST(toeplitzness_of_any_size) {
    static const int powers[][2] = {{480, 480}, {-480, -480}, {700, -700}, {-800, 200}, {650, 650}};
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(30); trial++) {
        sample s;
        szg_tau tau, scaled;
        int left = powers[trial % 5][0], right = powers[trial % 5][1];
        bool bias = trial / 5 % 2 && trial % 5 != 4; /* 2^1300 is no double */
        open_content(trial, trial % CONTENTS, 37, 6, 1e-4, bias, trial / 2 % 2, &s);
        check_tau(&s.f, &tau);
        for (int64_t at = 0; at < 37 * 6; at++) {
            int own = at % 6 == 3 ? 100 : 0;
            s.a[at] = ldexp(s.a[at], left - own);
            s.b[at] = ldexp(s.b[at], right + own);
        }
        double lags[73];
        for (int64_t k = -36; k <= 36; k++)
            lags[k + 36] = bias ? ldexp(szg_toeplitz_at(s.bias, k).re, left + right) : 0;
        szg_toeplitz_close(&s.bias);
        if (bias)
            ck_szg_ok(szg_toeplitz_open_real(test_context(), 37, 37, lags, &s.bias));
        s.f.bias = s.bias;
        ck_szg_ok(szg_factored_toeplitzness(test_context(), &s.f, &scaled));
        ck_close(scaled.value, tau.value, tau.error + scaled.error);
        ck_close(scaled.error, tau.error, 1e-3 * tau.error);
        close_sample(&s);
    }
}
END_TEST

/* Fixed blocks: the same bits on any number of threads, by tiles, by factors and by samples. */
START_TEST(toeplitzness_depends_on_no_threads) {
    static const struct {
        int64_t n;
        content kind;
        bool causal;
    } cases[] = {{300, ANY, false}, {2049, ANY, true}, {2049, ANY, false}, {2049, ROTARY, false}};
    for (uint32_t i = 0; i < 4; i++) {
        sample s;
        szg_tau tau[2];
        open_content(i, cases[i].kind, cases[i].n, 4, 0, true, cases[i].causal, &s);
        for (int threads = 1; threads <= 3; threads += 2) {
            const szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
            szg_context *context;
            ck_szg_ok(szg_context_open(&options, &context));
            ck_szg_ok(szg_factored_toeplitzness(context, &s.f, &tau[threads / 2]));
            szg_context_close(&context);
        }
        ck_assert(tau[0].value == tau[1].value && tau[0].error == tau[1].error);
        ck_assert_int_eq(tau[0].sampled, cases[i].kind == ROTARY);
        close_sample(&s);
    }
}
END_TEST

START_TEST(bad_factors_are_named) {
    szg_context *context = test_context();
    double a[4] = {1, 2, NAN, 4}, b[4] = {1, 1, 1, 1}, x[4] = {0}, y[4], value;
    szg_tau tau;
    szg_c64 complex[] = {{1, 0}, {0, 1}};
    szg_toeplitz *small, *wide, *out;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 3, 1, b, &small));
    ck_szg_ok(szg_toeplitz_open_hermitian(context, 2, 2, complex, &wide));
    szg_factored f = {2, 2, a, 2, b, 2, NULL, false};
    ck_szg_fails(SZG_EDATA, "A: row 1, column 0",
                 szgi_factored_norm_frobenius(context, &f, &value));
    ck_assert(isnan(value));
    ck_szg_fails(SZG_EDATA, "A: row 1", szgi_factored_toeplitz_part(context, &f, &out));
    ck_assert_ptr_null(out);
    f = (szg_factored){2, 2, a, 1, b, 2, NULL, false};
    ck_szg_fails(SZG_EINVAL, "below it", szgi_factored_apply(context, &f, 'n', 1, x, 2, y, 2));
    f = (szg_factored){2, 1, b, 1, NULL, 1, NULL, false};
    ck_szg_fails(SZG_EINVAL, "missing", szgi_factored_dense(context, &f, y, 2));
    f = (szg_factored){2, 1, b, 1, b, 1, small, false};
    ck_szg_fails(SZG_EINVAL, "order 3", szgi_factored_diagonal(context, &f, y));
    f.bias = wide;
    ck_szg_fails(SZG_EINVAL, "complex", szgi_factored_diagonal(context, &f, y));
    f = (szg_factored){0, 1, b, 1, b, 1, NULL, false};
    ck_szg_fails(SZG_EINVAL, "size 0", szgi_factored_diagonal(context, &f, y));
    f = (szg_factored){1ll << 31, 0, NULL, 0, NULL, 0, NULL, false};
    ck_szg_fails(SZG_ENOMEM, "szg_spectrum_compute of the factored matrix",
                 szgi_factored_dense(context, &f, y, 1ll << 31));
    f = (szg_factored){2, 0, NULL, 0, NULL, 0, NULL, true};
    ck_szg_fails(SZG_EDOMAIN, "is 0", szg_factored_toeplitzness(context, &f, &tau));
    double huge[] = {1e200, 1e200};
    f = (szg_factored){2, 1, huge, 1, huge, 1, NULL, true};
    ck_szg_fails(SZG_EDOMAIN, "overflows", szgi_factored_norm_frobenius(context, &f, &value));
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
        szg_tau tau;
        szg_toeplitz *part;
        ck_survives_failed_allocations(1, szgi_factored_apply(context, &s.f, 'n', 1, x, N, y, N));
        ck_survives_failed_allocations(0, szgi_factored_dense(context, &s.f, dense, N));
        ck_survives_failed_allocations(1, szgi_factored_toeplitz_part(context, &s.f, &part));
        szg_toeplitz_close(&part);
        ck_survives_failed_allocations(1, szgi_factored_norm_frobenius(context, &s.f, &value));
        ck_survives_failed_allocations(1, szg_factored_toeplitzness(context, &s.f, &tau));
        for (int64_t at = 0; at < 5 * 6; at++)
            s.a[at] = ldexp(s.a[at], 900);
        ck_survives_failed_allocations(1, szg_factored_toeplitzness(context, &s.f, &tau));
        szgi_memory_free(x), szgi_memory_free(y), szgi_memory_free(dense);
        close_sample(&s);
    }
}
END_TEST

/* Rows are zeroed, then one slice of a product; with a bias they are filled. */
START_TEST(dense_factors_look_for_cancellation) {
    enum { N = 9 };
    test_looks looks;
    szg_context *counting = test_counting_context(&looks);
    double factor[N] = {1, 2, 3}, lags[N] = {2, 1}, out[N * N];
    szg_factored f = {.n = N, .d = 1, .a = factor, .lda = 1, .b = factor, .ldb = 1};
    ck_looks_for_cancellation(&looks, N + 1, szgi_factored_dense(counting, &f, out, N));
    szg_toeplitz *bias;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, N, lags, &bias));
    f.bias = bias;
    ck_looks_for_cancellation(&looks, N + 1, szgi_factored_dense(counting, &f, out, N));
    szg_toeplitz_close(&bias);
    szg_context_close(&counting);
}
END_TEST

TEST_FILE("factored") {
    test_add(suite, "dense_factors_look_for_cancellation", dense_factors_look_for_cancellation);
    test_add(suite, "factored_agrees_with_dense", factored_agrees_with_dense);
    test_add(suite, "long_factors", long_factors);
    test_add(suite, "rotary_logits_are_factored", rotary_logits_are_factored);
    test_add(suite, "toeplitzness_is_right_near_one", toeplitzness_is_right_near_one);
    test_add(suite, "toeplitzness_at_the_switch", toeplitzness_at_the_switch);
    test_add(suite, "dropped_diagonals_count_in_the_error", dropped_diagonals_count_in_the_error);
    test_add(suite, "toeplitzness_of_any_size", toeplitzness_of_any_size);
    test_add(suite, "toeplitzness_depends_on_no_threads", toeplitzness_depends_on_no_threads);
    test_add(suite, "bad_factors_are_named", bad_factors_are_named);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
