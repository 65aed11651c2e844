/* The divide and conquer for symmetric Toeplitz matrices, from its sums to its answers: each part
 * against a plain evaluation of what it stands for, the whole against LAPACK and closed forms. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/cpu_level.h"
#include "linalg/linalg.h"
#include "spectra_support.h"
#include "spectra/dc/dc.h"
#include "spectra/dc/halves.h"
#include "spectra/dc/kernels.h"
#include "spectra/dc/transform.h"
#include "spectra/dc/update.h"
#include "spectra/dc/verify.h"

static double *numbers(int64_t count) {
    double *block = NULL;
    ck_szg_ok(szgi_memory_alloc(test_context(), count, &block));
    return block;
}

static double random_number(uint32_t step, uint64_t index) {
    szgi_stream stream = {.seed = test_seed(), .step = step, .purpose = 77};
    return szgi_random_normal(&stream, index);
}

/* ---- Kernels of every character ---- */

typedef double kernel_fn(int64_t k);
static double kms(int64_t k) {
    return pow(0.9, (double)k);
}
static double kms_negative(int64_t k) {
    return pow(-0.5, (double)k);
}
static double kms_near_one(int64_t k) {
    return pow(0.9999, (double)k);
}
static double alibi(int64_t k) {
    return -(double)k;
}
static double gauss(int64_t k) {
    return exp(-(double)(k * k) / 200);
}
static double logarithm(int64_t k) {
    return -log1p((double)k);
}
static double root(int64_t k) {
    return -sqrt((double)k);
}
static double lorentz(int64_t k) {
    return 1 / (1 + (double)(k * k));
}
static double prolate(int64_t k) { /* clusters at 0 and 1 */
    return k ? sin(0.7 * (double)k) / (M_PI * (double)k) : 0.7 / M_PI;
}
static double rotary(int64_t k) { /* rank 16: nearly everything is 0 */
    double sum = 0;
    for (int t = 0; t < 8; t++)
        sum += cos((double)k * pow(10000, -t / 8.0)) / 8;
    return sum;
}
static double laplace(int64_t k) {
    return k == 0 ? 2 : k == 1 ? -1 : 0;
}
static double band(int64_t k) {
    return k < 6 ? cos(2 * (double)k) / (double)(k + 1) : 0;
}
static double constant(int64_t k) {
    (void)k;
    return 1;
}
static double alternating(int64_t k) {
    return k % 2 ? -1 : 1;
}
static double identity(int64_t k) {
    return k == 0;
}
static double zero(int64_t k) {
    (void)k;
    return 0;
}
static double parabola(int64_t k) {
    return (double)(k * k);
}
static double growth(int64_t k) {
    return pow(1.03, (double)k);
}
static double far_lag(int64_t k) {
    return k == 300;
}
static double noisy(int64_t k) {
    return (k == 0) + 1e-12 * random_number(1, (uint64_t)k);
}
static double noise(int64_t k) {
    return random_number(2, (uint64_t)k);
}

static const struct {
    const char *name;
    kernel_fn *at;
} kernels[] = {{"kms", kms},
               {"kms negative", kms_negative},
               {"kms near one", kms_near_one},
               {"alibi", alibi},
               {"gauss", gauss},
               {"logarithm", logarithm},
               {"root", root},
               {"lorentz", lorentz},
               {"prolate", prolate},
               {"rotary", rotary},
               {"laplace", laplace},
               {"band", band},
               {"constant", constant},
               {"alternating", alternating},
               {"identity", identity},
               {"zero", zero},
               {"parabola", parabola},
               {"growth", growth},
               {"far lag", far_lag},
               {"noisy", noisy},
               {"noise", noise}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static double *lags_of(int64_t n, kernel_fn *at) {
    double *lags = numbers(n);
    for (int64_t k = 0; k < n; k++)
        lags[k] = at(k);
    return lags;
}

static double *dense(int64_t n, const double *lags) {
    double *a = numbers(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = lags[i > j ? i - j : j - i];
    return a;
}

static double *oracle(int64_t n, const double *lags) {
    double *a = dense(n, lags), *w = numbers(n);
    ck_szg_ok(szgi_eigen_symmetric(test_context(), n, a, n, w, false));
    szgi_memory_free(a);
    return w;
}

/* Both are backward stable: LAPACK's error is a modest multiple of sqrt(n) eps ||T|| in practice (n
 * eps at worst), ours adds the dropped coupling, 3e-15 ||T|| at each of at most 10 levels. */
static void compare(const char *name, int64_t n, const double *got, const double *want) {
    double norm = fmax(fabs(want[0]), fabs(want[n - 1]));
    double bound = (3e-14 + 32 * sqrt((double)n) * DBL_EPSILON) * norm;
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(fabs(got[i] - want[i]) <= bound, "%s, n %lld, value %lld: %.17g, not %.17g",
                      name, (long long)n, (long long)i, got[i], want[i]);
}

/* ---- Parts ---- */

START_TEST(transform_is_the_plain_sum) {
    const long double pi = 3.14159265358979323846264338327950288L;
    for (int64_t n = 1; n <= 70; n++) {
        long double x[70], re[70], im[70];
        for (int64_t j = 0; j < n; j++)
            x[j] = (long double)random_number((uint32_t)n, (uint64_t)j);
        ck_szg_ok(szgi_dc_transform(test_context(), n, x, re, im));
        for (int64_t k = 0; k < (n + 1) / 2; k++) {
            long double c = 0, s = 0;
            for (int64_t j = 0; j < n; j++) {
                long double angle = pi * (long double)((2 * k + 1) * j % (2 * n)) / (long double)n;
                c += x[j] * cosl(angle);
                s += x[j] * sinl(angle);
            }
            /* log2(n) rounded stages on sums of n terms of size 4 at most */
            double bound = (double)(64 * LDBL_EPSILON * (long double)n);
            ck_close((double)(re[k] - c), 0, bound);
            ck_close((double)(im[k] - s), 0, bound);
        }
    }
}
END_TEST

/* v_k^T T v_l for the normalised cosine or sine vectors; the signs (-1)^k of the Loewner form are
 * those of v_k at the end. */
static double projected(int64_t n, const double *lags, int half, int64_t k, int64_t l) {
    double sum = 0, norm_k = 0, norm_l = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = (double)i - (double)(n - 1) / 2, a = M_PI * (double)(2 * k + 1) / (double)n * x;
        double vk = half ? sin(a) : cos(a);
        for (int64_t j = 0; j < n; j++) {
            double y = (double)j - (double)(n - 1) / 2;
            double b = M_PI * (double)(2 * l + 1) / (double)n * y, vl = half ? sin(b) : cos(b);
            sum += vk * lags[i > j ? i - j : j - i] * vl;
            norm_l += i == 0 ? vl * vl : 0;
        }
        norm_k += vk * vk;
    }
    return ((k + l) % 2 ? -1 : 1) * sum / sqrt(norm_k * norm_l);
}

START_TEST(loewner_form_is_the_projected_matrix) {
    for (int64_t n = 2; n <= 17; n++) {
        double *lags = lags_of(n, noise), largest = 0;
        szgi_dc_halves halves;
        ck_szg_ok(szgi_dc_halves_open(test_context(), n, lags, &halves));
        for (int64_t j = 0; j < n; j++)
            largest = fmax(largest, fabs(lags[j]));
        ck_assert(halves.norm > 0);
        for (int half = 0; half < 2; half++) {
            int64_t size = halves.half[half].size;
            double *block = numbers(size * size);
            szgi_dc_half_block(&halves.half[half], 0, size, 0, size, block, size);
            for (int64_t k = 0; k < size; k++)
                for (int64_t l = 0; l < size; l++)
                    ck_close(ldexp(block[k * size + l], halves.exponent),
                             projected(n, lags, half, k, l), 1e-14 * (double)n * largest);
            szgi_memory_free(block);
        }
        szgi_dc_halves_close(&halves);
        szgi_memory_free(lags);
    }
}
END_TEST

/* Entries near the diagonal at low frequencies are quotients of two small differences: an h in
 * plain double precision would lose n^1.5 eps here. */
START_TEST(entries_keep_their_accuracy) {
    const long double pi = 3.14159265358979323846264338327950288L;
    int64_t n = 4096, first = 1000, l = 1;
    double *lags = lags_of(n, kms), row[3];
    szgi_dc_halves halves;
    ck_szg_ok(szgi_dc_halves_open(test_context(), n, lags, &halves));
    szgi_dc_half_block(&halves.half[0], first + l, 1, first, 3, row, 3);
    long double *table = NULL, exact[3] = {0};
    ck_szg_ok(szgi_memory_alloc(test_context(), 3 * n, &table));
    for (int64_t k = 0; k < 3; k++)
        for (int64_t i = 0; i < n; i++)
            table[k * n + i] =
                cosl(pi * (long double)((2 * (first + k) + 1) * (2 * i - n + 1)) / (2 * n));
    for (int64_t i = 0; i < n; i++) {
        long double product = 0;
        for (int64_t j = 0; j < n; j++)
            product += lags[i > j ? i - j : j - i] * table[l * n + j];
        for (int64_t k = 0; k < 3; k++)
            exact[k] += ((k + l) % 2 ? -2 : 2) * product * table[k * n + i] / n;
    }
    for (int64_t k = 0; k < 3; k++)
        ck_close(ldexp(row[k], halves.exponent), (double)exact[k],
                 (k == l ? 64 : 8) * DBL_EPSILON * (double)fabsl(exact[k]));
    szgi_memory_free(table);
    szgi_dc_halves_close(&halves);
    szgi_memory_free(lags);
}
END_TEST

/* Loewner: for any interlacing lambda there is a z, and these are the eigenvalues of D + z z^T. */
START_TEST(loewner_weights_have_the_given_roots) {
    enum { N = 120 };
    for (uint32_t trial = 0; trial < 20; trial++) {
        double d[N], base[N], tau[N], zz[N];
        int64_t n = 1 + (int64_t)trial * 6;
        szgi_stream stream = {.seed = test_seed(), .step = trial, .purpose = 6};
        for (int64_t i = 0; i < n; i++) {
            d[i] = base[i] = (double)i;
            tau[i] = 0.05 + 0.9 * szgi_random_uniform(&stream, (uint64_t)i);
        }
        for (int64_t i = 0; i < n; i++) {
            szgi_dc_lowner_product(n, i, d, (szgi_dc_roots){base, tau}, &zz[i]);
            zz[i] *= (d[n - 1] - d[i]) + tau[n - 1];
            ck_assert(zz[i] > 0);
        }
        for (int64_t j = 0; j < n; j++) {
            double sum = 1, size = 1;
            for (int64_t i = 0; i < n; i++) {
                sum += zz[i] / (d[i] - (base[j] + tau[j]));
                size += fabs(zz[i] / (d[i] - (base[j] + tau[j])));
            }
            ck_close(sum, 0, 8 * (double)n * DBL_EPSILON * size);
        }
    }
}
END_TEST

/* D + z z^T with entries from the corners: repeated poles, poles an ulp apart, vanishing and tiny
 * weights. */
static void corner_problem(uint32_t trial, int64_t n, double *d, double *z) {
    szgi_stream stream = {.seed = test_seed(), .step = trial, .purpose = 5};
    double pole = -1;
    for (int64_t i = 0; i < n; i++) {
        uint32_t word = szgi_random_word(&stream, (uint64_t)(2 * i)) % 6;
        double random = szgi_random_uniform(&stream, (uint64_t)(500 + i));
        double gaps[6] = {0, DBL_EPSILON, 1e-9, random / (double)n, 1e-14, random / (double)n};
        d[i] = pole += gaps[word];
        word = szgi_random_word(&stream, (uint64_t)(2 * i + 1)) % 6;
        double weights[6] = {0, 1e-17, 1e-8, 1, -1, 1e-13};
        z[i] = weights[word] * random / sqrt((double)n);
    }
}

/* With the identity's rows as input the result is Q, transposed: it must be orthogonal, and rebuild
 * the matrix; so its values are right too. */
static void check_rank_one(int64_t n, const double *d0, const double *z0, const double *d,
                           const double *q) {
    double bound = 16 * DBL_EPSILON * (double)n;
    for (int64_t i = 0; i < n; i++) {
        ck_assert(i == 0 || d[i - 1] <= d[i]);
        for (int64_t j = 0; j < n; j++) {
            double inner = 0, rebuilt = 0;
            for (int64_t k = 0; k < n; k++) {
                inner += q[i * n + k] * q[j * n + k];
                rebuilt += q[i * n + k] * d[k] * q[j * n + k];
            }
            ck_close(inner, i == j, bound);
            ck_close(rebuilt, (i == j ? d0[i] : 0) + z0[i] * z0[j], bound);
        }
    }
}

START_TEST(rank_one_update_rebuilds_its_matrix) {
    for (int64_t trial = 0; trial < test_trials(200); trial++) {
        int64_t n = 1 + trial % 90;
        double *d0 = numbers(n), *z0 = numbers(n), *d = numbers(n), *z = numbers(n);
        double *rows = numbers(n * n), dropped = 0;
        corner_problem((uint32_t)trial, n, d0, z0);
        memcpy(d, d0, (size_t)n * sizeof *d);
        memcpy(z, z0, (size_t)n * sizeof *z);
        for (int64_t i = 0; i < n; i++)
            rows[i * n + i] = 1;
        ck_szg_ok(szgi_dc_rank_one(test_context(), n, 2 * DBL_EPSILON, d, z, n, rows, n, &dropped));
        check_rank_one(n, d0, z0, d, rows);
        szgi_memory_free(rows);
        szgi_memory_free(z);
        szgi_memory_free(d);
        szgi_memory_free(z0);
        szgi_memory_free(d0);
    }
}
END_TEST

/* ---- Whole ---- */

static void check_kernel(int which, int64_t n, int64_t leaf, bool must_apply) {
    double *lags = lags_of(n, kernels[which].at), *w = numbers(n);
    bool applicable = false;
    double dropped;
    ck_szg_ok(szgi_dc_lags(test_context(), n, lags, leaf, 64, w, &applicable, &dropped));
    ck_assert_msg(applicable || !must_apply, "%s, n %lld refused", kernels[which].name,
                  (long long)n);
    if (applicable) {
        double *want = oracle(n, lags);
        compare(kernels[which].name, n, w, want);
        szgi_memory_free(want);
    }
    szgi_memory_free(w);
    szgi_memory_free(lags);
}

START_TEST(small_orders_agree_with_lapack) {
    for (int which = 0; which < KERNELS; which++)
        for (int64_t n = 2; n <= 40; n++)
            check_kernel(which, n, 1 + n % 5, true);
}
END_TEST

START_TEST(kernels_agree_with_lapack) {
    for (int which = 0; which < KERNELS; which++) {
        bool random = kernels[which].at == noise || kernels[which].at == noisy;
        check_kernel(which, 400 + 13 * which, 24 + which, !random && kernels[which].at != far_lag);
    }
}
END_TEST

START_TEST(each_vector_level_agrees_with_lapack) {
    int best = (int)szgi_cpu_level_best();
    for (int level = 0; level <= best; level++) {
        setenv("SZEGO_SIMD", szgi_cpu_level_name((szgi_cpu_level)level), 1);
        for (int which = 0; which < KERNELS; which++)
            check_kernel(which, 200, 32, kernels[which].at == kms);
        ck_assert_int_eq((int)szgi_cpu_level_latest(), level);
    }
    unsetenv("SZEGO_SIMD");
}
END_TEST

START_TEST(random_corner_lags_agree_with_lapack) {
    for (int64_t trial = 0; trial < test_trials(60); trial++) {
        int64_t n = 2 + trial * 3 % 150;
        double *lags = numbers(n), *w = numbers(n);
        szgi_stream stream = {.seed = test_seed(), .step = (uint32_t)trial, .purpose = 9};
        for (int64_t k = 0; k < n; k++)
            lags[k] = test_real(&stream, (uint64_t)k);
        bool applicable;
        double dropped;
        ck_szg_ok(szgi_dc_lags(test_context(), n, lags, 16, 64, w, &applicable, &dropped));
        double *want = oracle(n, lags);
        if (applicable)
            compare("corner lags", n, w, want);
        szgi_memory_free(want);
        szgi_memory_free(w);
        szgi_memory_free(lags);
    }
}
END_TEST

START_TEST(powers_of_two_scale_along) {
    int64_t n = 260;
    double *lags = lags_of(n, gauss), *w = numbers(n), *scaled = numbers(n);
    static const int exponents[] = {-900, -300, 1, 400, 1000};
    bool applicable;
    double dropped;
    ck_szg_ok(szgi_dc_lags(test_context(), n, lags, 32, 24, w, &applicable, &dropped));
    ck_assert(applicable);
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        for (int64_t k = 0; k < n; k++)
            lags[k] = ldexp(gauss(k), exponents[e]);
        ck_szg_ok(szgi_dc_lags(test_context(), n, lags, 32, 24, scaled, &applicable, &dropped));
        ck_assert(applicable);
        for (int64_t k = 0; k < n; k++)
            /* equal but for lags that underflow, each of which may turn a rounding */
            ck_close(ldexp(scaled[k], -exponents[e]), w[k], gamma_of((double)n) * w[n - 1]);
    }
    szgi_memory_free(scaled);
    szgi_memory_free(w);
    szgi_memory_free(lags);
}
END_TEST

static double *through_the_door(kernel_fn *at, int64_t n, bool *applicable) {
    double *lags = lags_of(n, at), *w = numbers(n);
    szg_toeplitz *t = NULL;
    double dropped;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, n, lags, &t));
    ck_szg_ok(szgi_dc_eigenvalues(test_context(), t, w, applicable, &dropped));
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
    return w;
}

START_TEST(closed_forms_are_met) {
    for (int which = 0; which < 2; which++) {
        int64_t n = 1500 + which;
        bool applicable;
        double *w = through_the_door(which ? alibi : kms, n, &applicable);
        ck_assert(applicable);
        szg_spectrum closed;
        if (which)
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_distance(n, 1), NULL, &closed));
        else
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, 0.9), NULL, &closed));
        ck_assert_int_eq(closed.count, n);
        double norm = fmax(fabs(closed.re[0]), fabs(closed.re[n - 1]));
        for (int64_t i = 0; i < n; i++)
            ck_close(w[i], closed.re[i], 1e-14 * norm);
        szg_spectrum_close(&closed);
        szgi_memory_free(w);
    }
}
END_TEST

START_TEST(high_rank_and_small_orders_are_refused) {
    bool applicable;
    szgi_memory_free(through_the_door(noise, 1100, &applicable));
    ck_assert(!applicable);
    szgi_memory_free(through_the_door(kms, 100, &applicable));
    ck_assert(!applicable);
    szg_c64 lags[2] = {{1, 0}, {0, 1}};
    double w[2], dropped;
    szg_toeplitz *t = NULL;
    ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), 2, 2, lags, &t));
    ck_szg_fails(SZG_EINVAL, "symmetric",
                 szgi_dc_eigenvalues(test_context(), t, w, &applicable, &dropped));
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(threads_do_not_change_a_bit) {
    int64_t n = 700;
    double *lags = lags_of(n, lorentz), *one = numbers(n), *many = numbers(n);
    for (int threads = 1; threads <= 5; threads++) {
        szg_context *context = NULL;
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
        ck_assert(szg_context_open(&options, &context) == SZG_OK);
        bool applicable;
        double *w = threads == 1 ? one : many, dropped;
        ck_assert(szgi_dc_lags(context, n, lags, 64, 32, w, &applicable, &dropped) == SZG_OK);
        ck_assert(applicable);
        ck_assert(memcmp(one, w, (size_t)n * sizeof *w) == 0);
        szg_context_close(&context);
    }
    szgi_memory_free(many);
    szgi_memory_free(one);
    szgi_memory_free(lags);
}
END_TEST

/* ---- Checks of the answer ---- */

typedef struct solved {
    int64_t n;
    double *lags, *w, *half[2];
    szgi_dc_answer answer;
} solved;

/* KMS by LAPACK: even and odd halves told apart by their own matrices. */
static solved solve_apart(int64_t n) {
    solved s = {.n = n, .lags = lags_of(n, kms)};
    s.w = oracle(n, s.lags);
    int64_t m = n / 2;
    for (int half = 0; half < 2; half++) {
        double *a = numbers(m * m);
        s.half[half] = numbers(m);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < m; j++)
                a[i * m + j] =
                    s.lags[i > j ? i - j : j - i] + (half ? -1 : 1) * s.lags[n - 1 - i - j];
        ck_szg_ok(szgi_eigen_symmetric(test_context(), m, a, m, s.half[half], false));
        szgi_memory_free(a);
    }
    s.answer = (szgi_dc_answer){n, s.lags, s.w[n - 1], {s.half[0], s.half[1]}, s.w};
    return s;
}

static bool confirmed(const solved *s) {
    bool result;
    ck_szg_ok(szgi_dc_verify(test_context(), &s->answer, &result));
    return result;
}

START_TEST(wrong_answers_are_refused) {
    solved s = solve_apart(200);
    ck_assert(confirmed(&s));
    double *half = s.half[1], saved[2] = {half[10], half[95]};
    half[10] += 1e-10 * s.answer.norm; /* the sum */
    ck_assert(!confirmed(&s));
    half[95] -= 1e-10 * s.answer.norm; /* the sum is right again, the squares are not */
    ck_assert(!confirmed(&s));
    half[10] = NAN, half[95] = saved[1];
    ck_assert(!confirmed(&s));
    half[10] = saved[0];
    ck_assert(confirmed(&s));
    s.answer.half[0] = s.half[1], s.answer.half[1] = s.half[0];
    ck_assert(!confirmed(&s));
    s.answer.half[0] = s.half[0], s.answer.half[1] = s.half[1];
    for (int64_t i = 60; i < 190; i++) /* one value too many below both shifts */
        s.w[i] = s.w[i + 1];
    ck_assert(!confirmed(&s));
    szgi_memory_free(s.half[0]);
    szgi_memory_free(s.half[1]);
    szgi_memory_free(s.w);
    szgi_memory_free(s.lags);
}
END_TEST

START_TEST(every_allocation_may_fail) {
    int64_t n = 150;
    double *lags = lags_of(n, gauss), *w = numbers(n);
    bool applicable = false;
    double dropped;
    ck_survives_failed_allocations(
        21, szgi_dc_lags(test_context(), n, lags, 24, 24, w, &applicable, &dropped));
    ck_assert(applicable);
    szgi_memory_free(w);
    szgi_memory_free(lags);
}
END_TEST

START_TEST(cancelling_stops_it) {
    szg_context *context = NULL;
    ck_assert(szg_context_open(NULL, &context) == SZG_OK);
    double *lags = lags_of(300, kms), *w = numbers(300);
    bool applicable;
    double dropped;
    szg_context_cancel(context);
    ck_assert(szgi_dc_lags(context, 300, lags, 32, 24, w, &applicable, &dropped) == SZG_ECANCEL);
    szg_context_close(&context);
    szgi_memory_free(w);
    szgi_memory_free(lags);
}
END_TEST

TEST_FILE("dc") {
    test_before_each(use_tested_backend);
    test_add(suite, "transform_is_the_plain_sum", transform_is_the_plain_sum);
    test_add(suite, "loewner_form_is_the_projected_matrix", loewner_form_is_the_projected_matrix);
    test_add(suite, "entries_keep_their_accuracy", entries_keep_their_accuracy);
    test_add(suite, "loewner_weights_have_the_given_roots", loewner_weights_have_the_given_roots);
    test_add(suite, "rank_one_update_rebuilds_its_matrix", rank_one_update_rebuilds_its_matrix);
    test_add(suite, "small_orders_agree_with_lapack", small_orders_agree_with_lapack);
    test_add(suite, "kernels_agree_with_lapack", kernels_agree_with_lapack);
    test_add(suite, "each_vector_level_agrees_with_lapack", each_vector_level_agrees_with_lapack);
    test_add(suite, "random_corner_lags_agree_with_lapack", random_corner_lags_agree_with_lapack);
    test_add(suite, "powers_of_two_scale_along", powers_of_two_scale_along);
    test_add(suite, "closed_forms_are_met", closed_forms_are_met);
    test_add(suite, "high_rank_and_small_orders_are_refused",
             high_rank_and_small_orders_are_refused);
    test_add(suite, "threads_do_not_change_a_bit", threads_do_not_change_a_bit);
    test_add(suite, "wrong_answers_are_refused", wrong_answers_are_refused);
    test_add(suite, "every_allocation_may_fail", every_allocation_may_fail);
    test_add(suite, "cancelling_stops_it", cancelling_stops_it);
}
