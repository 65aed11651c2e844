/* The vector Philox compares the words of szgi_random_word at every level of the processor, any
 * start, any count, and writes nothing else. Equality of integers needs no tolerance. */
#include <stdlib.h>
#include <string.h>

#include "linalg/cpu_level.h"
#include "../../lib/network/cpu_random.h"
#include "suite.h"

enum { MOST = 150, GUARD = 64 };
static const uint32_t SENTINEL = 0xA5A5A5A5U;

static const uint64_t STARTS[] = {
    0, 1, 2, 3, 4, 63, 1000001, (UINT64_C(1) << 32) - 37, (UINT64_C(1) << 34) - MOST};
enum { START_COUNT = sizeof STARTS / sizeof *STARTS };

static szgi_stream stream_of(uint32_t trial) {
    szgi_stream source = {.seed = test_seed(), .purpose = 0x43};
    return (szgi_stream){(uint64_t)szgi_random_word(&source, 3 * trial) << 32 | trial,
                         szgi_random_word(&source, 3 * trial + 1),
                         szgi_random_word(&source, 3 * trial + 2)};
}

static void check_guards(const uint32_t *buffer, int64_t count) {
    for (int64_t i = 0; i < GUARD; i++)
        ck_assert(buffer[i] == SENTINEL && buffer[GUARD + count + i] == SENTINEL);
}

static void check_keep(const szgi_stream *stream, uint64_t first, int64_t count,
                       uint32_t threshold) {
    uint32_t buffer[MOST + 2 * GUARD];
    for (int64_t i = 0; i < MOST + 2 * GUARD; i++)
        buffer[i] = SENTINEL;
    float *keep = (float *)buffer + GUARD;
    szgi_cpu_random_keep(stream, first, count, threshold, 1.25F, keep);
    for (int64_t i = 0; i < count; i++) {
        bool dropped = szgi_random_word(stream, first + (uint64_t)i) < threshold;
        ck_assert(keep[i] == (dropped ? 0.0F : 1.25F));
    }
    check_guards(buffer, count);
}

/* A word is the largest threshold that it is not below: both sides tell every bit of it. */
static void check_words(const szgi_stream *stream, uint64_t first, int64_t count) {
    for (int64_t i = count % 53; i < count; i += 53) {
        uint32_t word = szgi_random_word(stream, first + (uint64_t)i);
        check_keep(stream, first, count, word);
        check_keep(stream, first, count, word < UINT32_MAX ? word + 1 : word);
    }
}

static const char *const LEVELS[] = {"baseline", "avx2", "avx512"};

START_TEST(words_are_those_of_the_stream) {
    for (int level = 0; level < SZGI_CPU_LEVELS; level++) {
        setenv("SZEGO_SIMD", LEVELS[level], 1);
        for (int s = 0; s < START_COUNT; s++)
            for (int64_t count = 0; count <= MOST; count++) {
                szgi_stream stream = stream_of((uint32_t)(s * MOST + count));
                check_words(&stream, STARTS[s], count);
            }
    }
    unsetenv("SZEGO_SIMD");
}
END_TEST

START_TEST(factors_drop_below_the_threshold) {
    const uint32_t thresholds[] = {0, 1, 429496729, UINT32_C(1) << 31, UINT32_MAX};
    for (int level = 0; level < SZGI_CPU_LEVELS; level++) {
        setenv("SZEGO_SIMD", LEVELS[level], 1);
        for (int t = 0; t < 5; t++)
            for (int64_t count = 0; count <= MOST; count += 7) {
                szgi_stream stream = stream_of((uint32_t)count);
                check_keep(&stream, (uint64_t)(5 * count), count, thresholds[t]);
            }
    }
    unsetenv("SZEGO_SIMD");
}
END_TEST

START_TEST(dropout_reads_its_block) {
    szgi_step_block block = {.seed = 7, .step = 11};
    szgi_dropout dropout = {.probability = 0.25, .purpose = 13, .block = &block};
    szgi_stream stream = {7, 11, 13};
    float got[MOST], want[MOST];
    szgi_cpu_dropout_factors(&dropout, 17, MOST, got);
    szgi_cpu_random_keep(&stream, 17, MOST, UINT32_C(1) << 30, (float)(1 / 0.75), want);
    ck_assert_int_eq(memcmp(got, want, sizeof got), 0);
}
END_TEST

TEST_FILE("cpu_random") {
    test_add(suite, "words_are_those_of_the_stream", words_are_those_of_the_stream);
    test_add(suite, "factors_drop_below_the_threshold", factors_drop_below_the_threshold);
    test_add(suite, "dropout_reads_its_block", dropout_reads_its_block);
}
