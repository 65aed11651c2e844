/* Transforms against their definitions, plans shared between threads, OpenBLAS's threads. */
#include <pthread.h>

#include "matrices.h"

/* Doubles that a transform of `kind` and length n reads and writes. */
static int64_t in_count(szgi_fft_kind kind, int64_t n) {
    return kind <= SZGI_FFT_BACKWARD ? 2 * n : kind == SZGI_FFT_REAL_BACKWARD ? 2 * (n / 2 + 1) : n;
}

static int64_t out_count(szgi_fft_kind kind, int64_t n) {
    return kind <= SZGI_FFT_BACKWARD ? 2 * n : kind == SZGI_FFT_REAL ? 2 * (n / 2 + 1) : n;
}

static void transform(szgi_fft_kind kind, int64_t n, int64_t batch, const double *in, double *out) {
    szgi_fft *fft;
    ck_szg_ok(szgi_fft_open(test_context(), kind, n, batch, &fft));
    ck_szg_ok(szgi_fft_run(test_context(), fft, in, out));
    szgi_fft_close(&fft);
    ck_assert_ptr_null(fft);
}

/* Each output is a sum of n terms of modulus <= 2 |x_k|: plain summation errs by 2 n eps ||x||_1
 * and more than FFT does (Higham 2002, 24.1); roots of unity add eps each. */
static void check_kind(uint32_t step, szgi_fft_kind kind, int64_t n, int64_t batch, int offset) {
    int64_t from = batch * in_count(kind, n), to = batch * out_count(kind, n);
    double *in = random_numbers(step, from + 1), *kept = copy_numbers(from + 1, in);
    double *out = new_numbers(to + 2), *want = new_numbers(to), size = 0;
    out[to + offset] = 7;
    transform(kind, n, batch, in + offset, out + offset);
    use_backend("reference");
    transform(kind, n, batch, in + offset, want);
    use_tested_backend();
    for (int64_t i = 0; i < from + 1; i++)
        size += fabs(in[i]);
    for (int64_t i = 0; i < to; i++)
        ck_close(out[i + offset], want[i], 4 * (double)(n + 2) * EPS * size);
    ck_assert_int_eq(memcmp(in, kept, (size_t)(from + 1) * sizeof *in), 0);
    ck_assert(out[to + offset] == 7);
    szgi_memory_free(in), szgi_memory_free(kept), szgi_memory_free(out), szgi_memory_free(want);
}

START_TEST(transforms_agree_with_their_definitions) {
    uint32_t step = 0;
    for (int kind = 0; kind < SZGI_FFT_KINDS; kind++)
        for (int64_t n = 1; n <= 70; n += n < 20 ? 1 : 7)
            for (int64_t batch = 1; batch <= 3; batch += 2) {
                check_kind(step, (szgi_fft_kind)kind, n, batch, (int)(step % 2));
                step++;
            }
}
END_TEST

/* cos3(cos2(x)) = 2 n x, cos4 twice the same: an identity that the definitions must satisfy too. */
START_TEST(cosine_transforms_invert) {
    for (int64_t n = 1; n <= 40; n++) {
        double *x = random_numbers((uint32_t)n, n), *y = new_numbers(n), *z = new_numbers(n);
        double bound = 8 * (double)(n * n) * EPS * norm_of(n, x) * 2;
        transform(SZGI_FFT_COSINE_2, n, 1, x, y);
        transform(SZGI_FFT_COSINE_3, n, 1, y, z);
        for (int64_t i = 0; i < n; i++)
            ck_close(z[i], 2 * (double)n * x[i], bound);
        transform(SZGI_FFT_COSINE_4, n, 1, x, y);
        transform(SZGI_FFT_COSINE_4, n, 1, y, z);
        for (int64_t i = 0; i < n; i++)
            ck_close(z[i], 2 * (double)n * x[i], bound);
        szgi_memory_free(x), szgi_memory_free(y), szgi_memory_free(z);
    }
}
END_TEST

START_TEST(bad_transforms_are_refused) {
    szg_context *context = test_context();
    szgi_fft *fft;
    double x[4] = {0};
    ck_szg_fails(SZG_EINVAL, "length 0", szgi_fft_open(context, SZGI_FFT_REAL, 0, 1, &fft));
    ck_szg_fails(SZG_EINVAL, "batch -1", szgi_fft_open(context, SZGI_FFT_REAL, 4, -1, &fft));
    ck_szg_fails(SZG_EINVAL, "kind 7", szgi_fft_open(context, SZGI_FFT_KINDS, 4, 1, &fft));
    ck_szg_fails(test_on_device() ? SZG_EBACKEND : SZG_ENOMEM, "need",
                 szgi_fft_open(context, SZGI_FFT_REAL, 1ll << 45, 1, &fft));
    ck_assert_ptr_null(fft);
    ck_szg_ok(szgi_fft_open(context, SZGI_FFT_COSINE_2, 4, 1, &fft));
    ck_szg_fails(SZG_EINVAL, "overlap", szgi_fft_run(context, fft, x, x));
    szgi_fft_close(&fft);
    szgi_fft_close(&fft);
}
END_TEST

START_TEST(fast_lengths) {
    for (int64_t n = 1; n < 3000; n++) {
        int64_t length = szgi_fft_fast_length(n), rest = length;
        ck_assert(length >= n && (n < 2 || length % 2 == 0));
        for (int64_t p = 2; p <= 7; p++)
            while (rest % p == 0)
                rest /= p;
        ck_assert_int_eq(rest, 1);
        for (int64_t shorter = n + n % 2; shorter < length; shorter += 2) {
            for (rest = shorter; rest % 2 == 0;)
                rest /= 2;
            for (int64_t p = 3; p <= 7; p += 2)
                while (rest % p == 0)
                    rest /= p;
            ck_assert_int_ne(rest, 1);
        }
    }
    ck_assert_int_ge(szgi_fft_fast_length(1ll << 56), 1ll << 56);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    for (int backend = 0; backend < 2; backend++) {
        use_backend(backend ? "reference" : test_backend());
        szgi_fft *fft;
        ck_survives_failed_allocations(
            least_refusals(),
            szgi_fft_open(test_context(), SZGI_FFT_COSINE_4, 1001 + backend, 2, &fft));
        szgi_fft_close(&fft);
    }
    use_tested_backend();
}
END_TEST

/* Threads with contexts of their own share the plan cache and OpenBLAS: opening, running and
 * dropping plans, small and large products, batches. For the thread sanitizer above all. */
static void *work_alone(void *argument) {
    uint32_t seed = *(uint32_t *)argument;
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 2};
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    enum { N = 200 };
    double *a, *b, *c;
    ck_assert_int_eq(szgi_memory_alloc(context, N * N, &a), SZG_OK);
    ck_assert_int_eq(szgi_memory_alloc(context, N * N, &b), SZG_OK);
    ck_assert_int_eq(szgi_memory_alloc(context, N * N, &c), SZG_OK);
    szgi_stream stream = {.seed = seed};
    for (int64_t round = 0; round < 40; round++) {
        szgi_fft *fft;
        int64_t n = 100 + (seed + round) % 50;
        ck_assert_int_eq(szgi_fft_open(context, SZGI_FFT_REAL, n, 1, &fft), SZG_OK);
        ck_assert_int_eq(szgi_fft_run(context, fft, a + round % 2, c), SZG_OK);
        szgi_fft_close(&fft);
    }
    for (int round = 0; round < 4; round++) {
        szgi_random_fill_normal(&stream, 0, N * N, a);
        int64_t n = round % 2 ? N : 10;
        ck_assert_int_eq(szgi_gemm(context, 'n', 't', n, n, n, 1, a, N, a, N, 0, c, N), SZG_OK);
        for (int64_t i = 0; i < n; i++)
            ck_assert(c[i * N + i] > 0);
        ck_assert_int_eq(szgi_eigen_symmetric_batch(context, 40, 20, a, 400, b), SZG_OK);
    }
    szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(c);
    szg_context_close(&context);
    return NULL;
}

START_TEST(threads_share_plans_and_blas) {
    pthread_t thread[3];
    uint32_t seed[3] = {1, 2, 1};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, work_alone, &seed[i]), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
}
END_TEST

/* Bit-equal over thread counts for batches: each matrix is one thread's. */
START_TEST(batches_do_not_depend_on_threads) {
    enum { COUNT = 30, N = 24 };
    double *w[2];
    for (int i = 0; i < 2; i++) {
        szg_context *context;
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = i ? 4 : 1};
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(szg_backend_select(context, test_backend()), SZG_OK);
        double *a = random_numbers(9, COUNT * N * N);
        w[i] = new_numbers(COUNT * N);
        ck_assert_int_eq(szgi_eigen_symmetric_batch(context, COUNT, N, a, N * N, w[i]), SZG_OK);
        szgi_memory_free(a);
        szg_context_close(&context);
    }
    ck_assert_int_eq(memcmp(w[0], w[1], COUNT * N * sizeof **w), 0);
    szgi_memory_free(w[0]), szgi_memory_free(w[1]);
}
END_TEST

TEST_FILE("fft") {
    test_before_each(use_tested_backend);
    test_add(suite, "transforms_agree_with_their_definitions",
             transforms_agree_with_their_definitions);
    test_add(suite, "cosine_transforms_invert", cosine_transforms_invert);
    test_add(suite, "bad_transforms_are_refused", bad_transforms_are_refused);
    test_add(suite, "fast_lengths", fast_lengths);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
    test_add(suite, "threads_share_plans_and_blas", threads_share_plans_and_blas);
    test_add(suite, "batches_do_not_depend_on_threads", batches_do_not_depend_on_threads);
}
