/* Random numbers against published vectors. */
#include <math.h>

#include "suite.h"

/* Known answers of Random123's distribution (kat_vectors, philox4x32 with 10 rounds). */
START_TEST(philox_known_answers) {
    szgi_stream zero = {0};
    const uint32_t words[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_uint_eq(szgi_random_word(&zero, i), words[i]);
}
END_TEST

/* Ten rounds written out from the paper's definition, against the library's. */
static void philox_by_definition(uint32_t counter[4], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * counter[0], b = 0xCD9E8D57ull * counter[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ counter[1] ^ key0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ counter[3] ^ key1, (uint32_t)a};
        memcpy(counter, next, sizeof next);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

START_TEST(philox_counter_layout) {
    szgi_stream stream = {.seed = 0x0123456789abcdefull, .step = 77, .purpose = 0xfeed0001u};
    for (uint64_t index = 0; index < 64; index += 4) {
        uint32_t counter[4] = {(uint32_t)(index / 4), 77, 0xfeed0001u, 0};
        philox_by_definition(counter, 0x89abcdefu, 0x01234567u);
        for (uint64_t lane = 0; lane < 4; lane++)
            ck_assert_uint_eq(szgi_random_word(&stream, index + lane), counter[lane]);
    }
}
END_TEST

START_TEST(random_moments) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 3};
    enum { COUNT = 100000 };
    double sum = 0, square = 0, fourth = 0, uniform = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = szgi_random_normal(&stream, (uint64_t)i);
        double u = szgi_random_uniform(&stream, (uint64_t)i);
        ck_assert(u >= 0 && u < 1);
        ck_assert(isfinite(x));
        sum += x;
        square += x * x;
        fourth += x * x * x * x;
        uniform += u;
    }
    /* Six standard errors: 1, sqrt 2, sqrt 96, sqrt(1/12), each over sqrt(COUNT). */
    double error = 6 / sqrt(COUNT);
    ck_close(sum / COUNT, 0, error);
    ck_close(square / COUNT, 1, error * sqrt(2));
    ck_close(fourth / COUNT, 3, error * sqrt(96));
    ck_close(uniform / COUNT, 0.5, error * sqrt(1.0 / 12));
}
END_TEST

/* Single precision: moments of a normal within 6 deviations of means of n numbers (x, x^2, x^3 and
 * x^4 have the variances 1, 2, 15 and 96), neighbours and pairs uncorrelated; a shorter stretch is
 * the same numbers; both tails are there. */
START_TEST(normals_of_single_precision) {
    enum { N = 1 << 20 };
    szgi_stream stream = {.seed = test_seed(), .step = 5, .purpose = 9};
    double *x = new_numbers(N), sum[4] = {0}, products[3] = {0}, less[7], largest = 0, least = 0;
    szgi_random_fill_normal_single(&stream, N, x);
    for (int64_t i = 0; i < N; i++) {
        for (int k = 0; k < 4; k++)
            sum[k] += pow(x[i], k + 1) / N;
        for (int k = 0; k < 3; k++)
            products[k] += x[i] * x[(i + k + 1) % N] / N;
        largest = fmax(largest, x[i]);
        least = fmin(least, x[i]);
        ck_assert(fabs(x[i]) < 6.7 && x[i] == (double)(float)x[i]);
    }
    double deviation = 6 / sqrt(N);
    ck_close(sum[0], 0, deviation);
    ck_close(sum[1], 1, deviation * sqrt(2));
    ck_close(sum[2], 0, deviation * sqrt(15));
    ck_close(sum[3], 3, deviation * sqrt(96));
    for (int k = 0; k < 3; k++)
        ck_close(products[k], 0, deviation);
    ck_assert(largest > 4 && least < -4); /* none of 2^20 beyond 4: e^-33 */
    szgi_random_fill_normal_single(&stream, 7, less);
    ck_assert_mem_eq(less, x, sizeof less);
    szgi_memory_free(x);
}
END_TEST

START_TEST(random_below_stays_below) {
    szgi_stream stream = {.seed = test_seed()};
    bool seen[7] = {false};
    for (uint64_t i = 0; i < 1000; i++) {
        int64_t value = szgi_random_below(&stream, i, 7);
        ck_assert(value >= 0 && value < 7);
        seen[value] = true;
        ck_assert_int_eq(szgi_random_below(&stream, i, 1), 0);
    }
    for (int i = 0; i < 7; i++)
        ck_assert(seen[i]);
}
END_TEST

START_TEST(random_fill_is_the_same_numbers) {
    szgi_stream stream = {.seed = test_seed(), .step = 1};
    double normal[9], uniform[9];
    szgi_random_fill_normal(&stream, 5, 9, normal);
    szgi_random_fill_uniform(&stream, 5, 9, uniform);
    for (uint64_t i = 0; i < 9; i++) {
        ck_assert(normal[i] == szgi_random_normal(&stream, 5 + i));
        ck_assert(uniform[i] == szgi_random_uniform(&stream, 5 + i));
    }
}
END_TEST

TEST_FILE("random") {
    test_add(suite, "philox_known_answers", philox_known_answers);
    test_add(suite, "philox_counter_layout", philox_counter_layout);
    test_add(suite, "random_moments", random_moments);
    test_add(suite, "normals_of_single_precision", normals_of_single_precision);
    test_add(suite, "random_below_stays_below", random_below_stays_below);
    test_add(suite, "random_fill_is_the_same_numbers", random_fill_is_the_same_numbers);
}
