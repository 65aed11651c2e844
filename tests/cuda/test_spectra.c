/* Spectra on the GPU where something is wrong: answers that are spoilt without a word, calls that
 * fail, memory that does not suffice. On the emulated GPU, with every operation sent to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/pool.h"

#include "suite.h"
#include "tested_backend.h"

enum { N = 9, COUNT = 5 };

/* The emulation counts calls anew where a variable has another value. */
static const char NOTHING[] = "nothing:1";

/* What a call works on; `run` puts the numbers back first. */
typedef struct arrays {
    double a[2 * COUNT * N * N], b[2 * COUNT * N * N], s[2 * COUNT * N];
    double u[2 * N * N], vt[2 * N * N];
} arrays;

static arrays work;

static void fill(void) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 0x5e};
    szgi_random_fill_normal(&stream, 0, 2 * COUNT * N * N, work.a);
}

typedef szg_status operation(szg_context *context);

static szg_status symmetric(szg_context *context) {
    return szgi_eigen_symmetric(context, N, work.a, N, work.s, false);
}
static szg_status symmetric_vectors(szg_context *context) {
    return szgi_eigen_symmetric(context, N, work.a, N, work.s, true);
}
static szg_status hermitian_vectors(szg_context *context) {
    return szgi_eigen_hermitian(context, N, (szg_c64 *)work.a, N, work.s, true);
}
static szg_status general(szg_context *context) {
    return szgi_eigen_general(context, N, work.a, N, (szg_c64 *)work.s);
}
static szg_status general_complex(szg_context *context) {
    return szgi_eigen_general_complex(context, N, (szg_c64 *)work.a, N, (szg_c64 *)work.s);
}
static szg_status singular(szg_context *context) {
    return szgi_singular(context, N, N - 2, work.a, N, work.s, NULL, 1, NULL, 1);
}
static szg_status singular_vectors(szg_context *context) {
    return szgi_singular(context, N, N - 2, work.a, N, work.s, work.u, N, work.vt, N);
}
static szg_status singular_wide(szg_context *context) {
    return szgi_singular_complex(context, N - 2, N, (szg_c64 *)work.a, N, work.s, (szg_c64 *)work.u,
                                 N, (szg_c64 *)work.vt, N);
}
static szg_status symmetric_batch(szg_context *context) {
    return szgi_eigen_symmetric_batch(context, COUNT, N, work.a, N * N, work.s);
}

static szg_status singular_batch(szg_context *context) {
    return szgi_singular_batch(context, COUNT, N, N - 1, work.a, N * N, work.s);
}
static szg_status product(szg_context *context) {
    return szgi_gemm(context, 'n', 't', N, N, N, 1, work.a, N, work.a, N, 0.5, work.b, N);
}

static szg_status transform(szg_context *context) {
    szgi_fft *fft;
    SZG_TRY(szgi_fft_open(context, SZGI_FFT_REAL_BACKWARD, N, COUNT, &fft));
    szg_status status = szgi_fft_run(context, fft, work.a, work.b);
    szgi_fft_close(&fft);
    return status;
}

static const struct {
    operation *run;
    const char *solver; /* whose answer is spoilt */
    const char *named;  /* in the message */
} operations[] = {
    {symmetric, "cusolverDnXsyevd", "symmetric eigenvalues of order 9"},
    {symmetric_vectors, "cusolverDnXsyevd", "symmetric eigenvalues of order 9"},
    {hermitian_vectors, "cusolverDnXsyevd", "Hermitian eigenvalues of order 9"},
    {general, "cusolverDnXgeev", "general eigenvalues of order 9"},
    {general_complex, "cusolverDnXgeev", "general eigenvalues of order 9"},
    {singular, "cusolverDnXgesvd", "singular values of 9 x 7"},
    {singular_vectors, "cusolverDnXgesvd", "singular values of 9 x 7"},
    {singular_wide, "cusolverDnXgesvd", "singular values of 7 x 9"},
    {symmetric_batch, "cusolverDnXsyevBatched", "5 symmetric matrices of order 9"},
    {singular_batch, "cusolverDnXsyevBatched", "singular values of 5 matrices, 9 x 8"},
    {product, NULL, "product 9 x 9 x 9"},
    {transform, NULL, "5 transforms of length 9"},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static szg_status run(int i) {
    fill();
    return operations[i].run(test_context());
}

START_TEST(wrong_answers_are_refused) {
    char fault[80];
    for (int i = 0; i < OPERATIONS; i++) {
        if (!operations[i].solver)
            continue;
        snprintf(fault, sizeof fault, "%s:1", operations[i].solver);
        setenv("SZG_EMULATED_WRONG", fault, 1);
        ck_szg_fails(SZG_EBACKEND, "not handed out", run(i));
        ck_assert(strstr(szg_context_message(test_context()), operations[i].named));
        ck_assert(strstr(szg_context_message(test_context()), "matrix 0"));
        setenv("SZG_EMULATED_WRONG", NOTHING, 1);
        ck_szg_ok(run(i));
    }
}
END_TEST

/* Calls after which the plugin looks at a status. */
static const char *const calls[] = {"cudaMalloc",
                                    "cudaMemcpyAsync",
                                    "cudaEventSynchronize",
                                    "cudaMemGetInfo",
                                    "cudaLaunchKernelEx",
                                    "cudaEventRecord",
                                    "cusolverDnXsyevd_bufferSize",
                                    "cusolverDnXsyevd",
                                    "cusolverDnXgeev_bufferSize",
                                    "cusolverDnXgeev",
                                    "cusolverDnXgesvd_bufferSize",
                                    "cusolverDnXgesvd",
                                    "cusolverDnXsyevBatched_bufferSize",
                                    "cusolverDnXsyevBatched",
                                    "cublasLtMatmulDescCreate",
                                    "cublasLtMatrixLayoutCreate",
                                    "cublasLtMatmulPreferenceCreate",
                                    "cublasLtMatmulAlgoGetHeuristic",
                                    "cublasLtMatmul",
                                    "cufftCreate",
                                    "cufftMakePlanMany64",
                                    "cufftExecZ2D"};
enum { CALLS = sizeof calls / sizeof *calls };

/* Whether a call of that function failed; the first, the second ... until none is left. */
static int fail_calls(int i, const char *function) {
    int failed = 0;
    for (;; failed++) {
        char fault[80];
        ck_assert_int_lt(failed, 50);
        snprintf(fault, sizeof fault, "%s:%d", function, failed + 1);
        setenv("SZG_EMULATED_FAIL", fault, 1);
        szg_status status = run(i);
        if (status == SZG_OK)
            break;
        const char *message = szg_context_message(test_context());
        ck_assert_msg(status == SZG_EBACKEND, "%s: %s: %s", function, szg_status_name(status),
                      message);
        ck_assert_msg(strstr(message, operations[i].named), "%s: %s", function, message);
    }
    setenv("SZG_EMULATED_FAIL", NOTHING, 1);
    return failed;
}

START_TEST(failing_calls_are_named) {
    for (int j = 0; j < CALLS; j++) {
        int failed = 0;
        for (int i = 0; i < OPERATIONS; i++)
            failed += fail_calls(i, calls[j]);
        ck_assert_msg(failed > 0, "%s is called nowhere", calls[j]);
    }
}
END_TEST

static szg_status symmetric_batch_of(int64_t count, int64_t n, double *a, double *w) {
    return szgi_eigen_symmetric_batch(test_context(), count, n, a, n * n, w);
}

/* Chunks that a small memory forces give the numbers of one chunk. */
START_TEST(batches_go_in_chunks) {
    enum { ORDER = 24 };
    const int64_t many = 150, numbers = many * ORDER * ORDER;
    szgi_stream stream = {.seed = test_seed(), .purpose = 0x5f};
    double *a = new_numbers(numbers), *w[2];
    for (int small = 0; small < 2; small++) {
        w[small] = new_numbers(many * ORDER);
        szgi_random_fill_normal(&stream, 0, numbers, a);
        if (small)
            setenv("SZG_EMULATED_MEMORY", "400000", 1);
        use_tested_backend(); /* a new session: nothing is held */
        ck_szg_ok(symmetric_batch_of(many, ORDER, a, w[small]));
    }
    ck_assert_int_eq(memcmp(w[0], w[1], (size_t)(many * ORDER) * sizeof **w), 0);
    setenv("SZG_EMULATED_WRONG", "cusolverDnXsyevBatched:2", 1); /* the first of the second chunk */
    szgi_random_fill_normal(&stream, 0, numbers, a);
    ck_szg_fails(SZG_EBACKEND, "not handed out", symmetric_batch_of(many, ORDER, a, w[0]));
    ck_assert(!strstr(szg_context_message(test_context()), "matrix 0"));
    setenv("SZG_EMULATED_WRONG", NOTHING, 1);
    szgi_random_fill_normal(&stream, 0, numbers, a);
    a[0] = NAN; /* of the first chunk, which is looked at before any */
    ck_szg_fails(SZG_EDATA, "matrix 0", symmetric_batch_of(many, ORDER, a, w[0]));
    unsetenv("SZG_EMULATED_MEMORY");
    use_tested_backend();
    szgi_memory_free(a), szgi_memory_free(w[0]), szgi_memory_free(w[1]);
}
END_TEST

/* More matrices than cuSOLVER takes at one time. */
START_TEST(batches_go_in_calls) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 0x61};
    const int many = 33000;
    double *a = new_numbers(many), *w = new_numbers(many), *kept = new_numbers(many);
    szgi_random_fill_normal(&stream, 0, many, a);
    memcpy(kept, a, (size_t)many * sizeof *a);
    ck_szg_ok(symmetric_batch_of(many, 1, a, w));
    for (int i = 0; i < many; i++)
        ck_assert(w[i] == kept[i]);
    szgi_memory_free(a), szgi_memory_free(kept), szgi_memory_free(w);
}
END_TEST

/* A release that takes fewer numbers at one time gets what it takes, and the same bits come out.
 * One that takes not even a matrix is named. */
START_TEST(batches_of_any_limit_are_split) {
    enum { ORDER = 12, MANY = 50 };
    szgi_stream stream = {.seed = test_seed(), .purpose = 0x62};
    const char *const limits[] = {"2147483647", "7199", "1440", "144"};
    double *a = new_numbers(MANY * ORDER * ORDER), w[2][MANY * ORDER];
    for (int i = 0; i < 4; i++) {
        szgi_random_fill_normal(&stream, 0, MANY * ORDER * ORDER, a);
        setenv("SZG_EMULATED_BATCH", limits[i], 1);
        use_tested_backend();
        ck_szg_ok(symmetric_batch_of(MANY, ORDER, a, w[i > 0]));
        ck_assert_int_eq(memcmp(w[0], w[i > 0], sizeof *w), 0);
    }
    szgi_random_fill_normal(&stream, 0, MANY * ORDER * ORDER, a);
    setenv("SZG_EMULATED_BATCH", "143", 1);
    ck_szg_fails(SZG_EBACKEND, "the order may be too large for it",
                 symmetric_batch_of(MANY, ORDER, a, w[1]));
    unsetenv("SZG_EMULATED_BATCH");
    szgi_memory_free(a);
}
END_TEST

START_TEST(memory_that_does_not_suffice_is_named) {
    enum { ORDER = 100 };
    szg_context *context = test_context();
    double *a = new_numbers(ORDER * ORDER), *w = new_numbers(ORDER);
    setenv("SZG_EMULATED_MEMORY", "60000", 1);
    use_tested_backend();
    ck_szg_fails(SZG_EBACKEND, "MiB are free: use --backend cpu",
                 szgi_eigen_symmetric(context, ORDER, a, ORDER, w, false));
    ck_szg_fails(SZG_EBACKEND, "one matrix needs",
                 szgi_eigen_symmetric_batch(context, 1, ORDER, a, ORDER * ORDER, w));
    ck_szg_fails(
        SZG_EBACKEND, "MiB are free",
        szgi_gemm(context, 'n', 'n', ORDER, ORDER, ORDER, 1, a, ORDER, a, ORDER, 0, w, ORDER));
    unsetenv("SZG_EMULATED_MEMORY");
    use_tested_backend();
    ck_szg_ok(szgi_eigen_symmetric(context, ORDER, a, ORDER, w, false));
    szgi_memory_free(a), szgi_memory_free(w);
}
END_TEST

/* ---- The crossover ---- */

/* Whether an order goes to the device, which fails then. */
static bool reaches_device(int64_t n) {
    setenv("SZG_EMULATED_FAIL", "cusolverDnXsyevd:1", 1);
    fill();
    szg_status status = szgi_eigen_symmetric(test_context(), n, work.a, n, work.s, false);
    setenv("SZG_EMULATED_FAIL", NOTHING, 1);
    ck_assert(status == SZG_OK || status == SZG_EBACKEND);
    return status != SZG_OK;
}

static bool batch_reaches_device(int64_t count, int64_t n) {
    use_tested_backend(); /* without a fault: calls are counted anew */
    setenv("SZG_EMULATED_FAIL", "cusolverDnXsyevBatched:1", 1);
    fill();
    szg_status status = symmetric_batch_of(count, n, work.a, work.s);
    setenv("SZG_EMULATED_FAIL", NOTHING, 1);
    ck_assert(status == SZG_OK || status == SZG_EBACKEND);
    return status != SZG_OK;
}

/* Count times the cube of the order: here from 128 on. */
START_TEST(crossovers_of_batches_decide) {
    setenv("SZEGO_CUDA_CROSSOVER", "0x1p-20", 1);
    ck_assert(!batch_reaches_device(4, 3));
    ck_assert(batch_reaches_device(5, 3));
    ck_assert(!batch_reaches_device(1, 4));
    ck_assert(batch_reaches_device(2, 4));
    setenv("SZEGO_CUDA_CROSSOVER", "0", 1);
    use_tested_backend();
}
END_TEST

START_TEST(crossovers_decide) {
    setenv("SZEGO_CUDA_CROSSOVER", "0.0078125", 1); /* of order 1024: 8 */
    use_tested_backend();
    ck_assert(!reaches_device(7));
    ck_assert(reaches_device(8));
    setenv("SZEGO_CUDA_CROSSOVER", "inf", 1);
    use_tested_backend();
    ck_assert(!reaches_device(9));
    unsetenv("SZEGO_CUDA_CROSSOVER");
    use_tested_backend();
    ck_assert(!reaches_device(9));
    setenv("SZEGO_CUDA_CROSSOVER", "-1", 1);
    ck_szg_fails(SZG_EINVAL, "SZEGO_CUDA_CROSSOVER=-1",
                 szg_backend_select(test_context(), test_backend()));
    setenv("SZEGO_CUDA_CROSSOVER", "some", 1);
    ck_szg_fails(SZG_EINVAL, "a number from 0", szg_backend_select(test_context(), test_backend()));
    setenv("SZEGO_CUDA_CROSSOVER", "0", 1);
    use_tested_backend();
    ck_assert(reaches_device(1));
}
END_TEST

/* ---- Workers of the pool ---- */

enum { BLOCKS = 300, LONGEST = 40 };

/* A transform, whose scratch memory all of a session share, and an eigenvalue, of sizes that change
 * from block to block. */
static szg_status one_block(szg_context *context, void *job, int64_t block, int worker) {
    double *values = job, a[LONGEST * LONGEST], b[LONGEST + 2], w[LONGEST];
    int64_t n = 2 + block % (LONGEST - 1);
    szgi_stream stream = {.seed = test_seed(), .purpose = 0x60, .step = (uint32_t)block};
    szgi_fft *fft;
    (void)worker;
    szgi_random_fill_normal(&stream, 0, n * n, a);
    SZG_TRY(szgi_fft_open(context, SZGI_FFT_REAL, n, 1, &fft));
    szg_status status = szgi_fft_run(context, fft, a, b);
    szgi_fft_close(&fft);
    SZG_TRY(status);
    SZG_TRY(szgi_eigen_symmetric(context, n, a, n, w, false));
    values[2 * block] = b[n];
    values[2 * block + 1] = w[n - 1];
    return SZG_OK;
}

START_TEST(workers_share_the_device) {
    double *together = new_numbers(2 * BLOCKS), *alone = new_numbers(2 * BLOCKS);
    ck_szg_ok(szgi_pool_run(test_context(), BLOCKS, one_block, together));
    for (int64_t i = 0; i < BLOCKS; i++)
        ck_szg_ok(one_block(test_context(), alone, i, 0));
    ck_assert_int_eq(memcmp(together, alone, 2 * BLOCKS * sizeof *alone), 0);
    szgi_memory_free(together), szgi_memory_free(alone);
}
END_TEST

/* Rows further apart than a rectangular copy of CUDA allows, and 64-bit sizes. */
START_TEST(leading_dimensions_are_64_bit) {
    double a = 2, b = 3, c = 0;
    ck_szg_ok(szgi_gemm(test_context(), 'n', 'n', 1, 1, 1, 1, &a, 1ll << 40, &b, 1, 0, &c, 1));
    ck_assert(c == 6);
}
END_TEST

START_TEST(cancelled_batches_stop) {
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szg_backend_select(context, test_backend()), SZG_OK);
    fill();
    szg_context_cancel(context);
    ck_assert_int_eq(symmetric_batch(context), SZG_ECANCEL);
    ck_assert_int_eq(singular_batch(context), SZG_ECANCEL);
    szg_context_close(&context);
}
END_TEST

TEST_FILE("spectra") {
    test_before_each(use_tested_backend);
    test_add(suite, "wrong_answers_are_refused", wrong_answers_are_refused);
    test_add(suite, "failing_calls_are_named", failing_calls_are_named);
    test_add(suite, "batches_go_in_chunks", batches_go_in_chunks);
    test_add(suite, "batches_go_in_calls", batches_go_in_calls);
    test_add(suite, "batches_of_any_limit_are_split", batches_of_any_limit_are_split);
    test_add(suite, "memory_that_does_not_suffice_is_named", memory_that_does_not_suffice_is_named);
    test_add(suite, "crossovers_decide", crossovers_decide);
    test_add(suite, "crossovers_of_batches_decide", crossovers_of_batches_decide);
    test_add(suite, "workers_share_the_device", workers_share_the_device);
    test_add(suite, "leading_dimensions_are_64_bit", leading_dimensions_are_64_bit);
    test_add(suite, "cancelled_batches_stop", cancelled_batches_stop);
}
