/* The softmax's functions at every level of the processor, against libm in double precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/network/cpu_attention.h"
#include "suite.h"

enum { LEVEL_COUNT = 3 };

static const szgi_attention_kernels *kernels_of(int level) {
#ifdef __x86_64__
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (level == 2 && avx512)
        return &szgi_attention_kernels_avx512;
    if (level >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &szgi_attention_kernels_avx2;
#endif
    (void)level;
    return &szgi_attention_kernels_baseline;
}

enum { BLOCK = 1024 };
static const float LEAST = -87.33654F, MOST = 88.37F;

static void check_exponential(float x, float got) {
    double want = exp((double)x);
    if (x < LEAST)
        ck_assert_msg(got == 0, "exp(%.9g) = %.9g", (double)x, (double)got);
    else if (x < MOST)
        ck_close(got, want, want * 0x1p-22);
}

START_TEST(exponentials_over_their_range) {
    float x[BLOCK], y[BLOCK];
    for (int level = 0; level < LEVEL_COUNT; level++)
        for (int64_t block = 0; block < test_trials(400); block++) {
            for (int i = 0; i < BLOCK; i++) /* the whole range, then close to 0 */
                x[i] = block % 2 ? -90.0F + 179.0F * (float)(block * BLOCK + i) / (400.0F * BLOCK)
                                 : ldexpf((float)i / BLOCK - 0.5F, -(int)(block % 64));
            kernels_of(level)->exponential(BLOCK, x, y);
            for (int i = 0; i < BLOCK; i++)
                check_exponential(x[i], y[i]);
        }
}
END_TEST

START_TEST(exponentials_at_the_edges) {
    const float edges[SZGI_ATTENTION_PAD] = {
        0.0F,  -0.0F, -INFINITY, INFINITY, NAN,    LEAST,       -88.0F,       -1e30F,
        89.0F, 1e30F, 1e-40F,    1e-30F,   88.36F, 0.34657359F, -0.34657359F, -87.5F};
    float y[SZGI_ATTENTION_PAD];
    for (int level = 0; level < LEVEL_COUNT; level++) {
        kernels_of(level)->exponential(SZGI_ATTENTION_PAD, edges, y);
        ck_assert(y[0] == 1 && y[1] == 1 && y[2] == 0 && y[3] == INFINITY && isnan(y[4]));
        ck_assert(y[5] > 0 && y[6] == 0 && y[7] == 0 && y[8] == INFINITY && y[9] == INFINITY);
        for (int i = 10; i < SZGI_ATTENTION_PAD; i++)
            check_exponential(edges[i], y[i]);
    }
}
END_TEST

START_TEST(logarithms_of_sums) {
    float x[BLOCK], y[BLOCK];
    for (int level = 0; level < LEVEL_COUNT; level++) {
        for (int block = -120; block < 120; block++) {
            for (int i = 0; i < BLOCK; i++)
                x[i] = ldexpf(1 + (float)i / BLOCK, block);
            kernels_of(level)->logarithm(BLOCK, x, y);
            for (int i = 0; i < BLOCK; i++) {
                double want = log((double)x[i]);
                ck_close(y[i], want, 0x1p-22 * fmax(1, fabs(want)));
            }
        }
        x[0] = NAN, x[1] = INFINITY;
        kernels_of(level)->logarithm(SZGI_ATTENTION_PAD, x, y);
        ck_assert(isnan(y[0]) && isnan(y[1]));
    }
}
END_TEST

TEST_FILE("cpu_softmax") {
    test_add(suite, "exponentials_over_their_range", exponentials_over_their_range);
    test_add(suite, "exponentials_at_the_edges", exponentials_at_the_edges);
    test_add(suite, "logarithms_of_sums", logarithms_of_sums);
}
