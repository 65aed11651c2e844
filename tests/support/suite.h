/* What every test program shares: a context, seeded corner-biased inputs, and the main function. */
#ifndef SZG_TESTS_SUITE_H
#define SZG_TESTS_SUITE_H

#include <check.h>
#include <stdio.h>
#include "base/context.h"
#include "base/memory.h"
#include "base/random.h"
#include <szego/status.h>

/* The seed of this run: SZG_TEST_SEED, or a fixed default; printed on start. */
uint64_t test_seed(void);

/* The backend under test: SZG_TEST_BACKEND, "cpu" without it. Whether that is another than cpu. */
const char *test_backend(void);
bool test_on_device(void);

/* `count` scaled by SZG_TEST_MULTIPLIER (default 1), at least 1. */
int64_t test_trials(int64_t count);

/* A double biased to the corners: zero, repeats, ones, tiny, huge (1e+-8), nearly equal, normal. */
double test_real(const szgi_stream *stream, uint64_t index);

/* `count` zeros, and `count` of test_real's numbers; free with szgi_memory_free. */
double *new_numbers(int64_t count);
double *new_test_reals(uint32_t purpose, uint32_t step, int64_t count);

/* Check writes the place of each assertion that holds to a file, so that it can tell the last one
 * before a crash. The TAP of these programs has no places, and tests compare millions of numbers:
 * that took a microsecond each, five under a sanitizer. So nothing is written. */
#define _mark_point(file, line) ((void)0)

/* Euclidean norm of `count` numbers that stay below 1e150. */
double norm_of(int64_t count, const double *x);

/* A context that lives as long as the case; its messages go nowhere. */
szg_context *test_context(void);

/* What a context's clock counts: it is read once a look for cancellation, as there is a deadline,
 * and from look `last` on it says that the time is up. */
typedef struct test_looks {
    int64_t count, last;
} test_looks;

/* A context of one thread with that clock, which never says so until `last` is set. */
szg_context *test_counting_context(test_looks *looks);

/* `call` on a counting context makes `expected` looks; stopped at any of them it ends with
 * SZG_ECANCEL and looks no more. */
#define ck_looks_for_cancellation(looks, expected, call)                                           \
    do {                                                                                           \
        const int64_t ck_expected_ = (expected);                                                   \
        *(looks) = (test_looks){.last = INT64_MAX};                                                \
        ck_assert_int_eq((call), SZG_OK);                                                          \
        ck_assert_msg((looks)->count == ck_expected_, "%s: %lld looks, not %lld", #call,           \
                      (long long)(looks)->count, (long long)ck_expected_);                         \
        for (int64_t ck_last_ = 1; ck_last_ <= ck_expected_; ck_last_++) {                         \
            *(looks) = (test_looks){.last = ck_last_};                                             \
            ck_assert_int_eq((call), SZG_ECANCEL);                                                 \
            ck_assert_int_eq((looks)->count, ck_last_);                                            \
        }                                                                                          \
    } while (0)

/* Fails with the context's message. */
#define ck_szg_ok(call)                                                                            \
    do {                                                                                           \
        szg_status ck_status_ = (call);                                                            \
        ck_assert_msg(ck_status_ == SZG_OK, "%s: %s: %s", #call, szg_status_name(ck_status_),      \
                      szg_context_message(test_context()));                                        \
    } while (0)

/* The call fails with `expected`, and the message contains `words`. */
#define ck_szg_fails(expected, words, call)                                                        \
    do {                                                                                           \
        szg_status ck_status_ = (call);                                                            \
        ck_assert_msg(ck_status_ == (expected), "%s: %s, not %s: %s", #call,                       \
                      szg_status_name(ck_status_), szg_status_name(expected),                      \
                      szg_context_message(test_context()));                                        \
        ck_assert_msg(strstr(szg_context_message(test_context()), (words)), "%s: %s lacks %s",     \
                      #call, szg_context_message(test_context()), (words));                        \
    } while (0)

/* |got - want| <= bound, written so that NaN fails; prints the three. */
#define ck_close(got, want, bound)                                                                 \
    do {                                                                                           \
        double ck_got_ = (got), ck_want_ = (want), ck_bound_ = (bound);                            \
        double ck_error_ = ck_got_ > ck_want_ ? ck_got_ - ck_want_ : ck_want_ - ck_got_;           \
        ck_assert_msg(ck_error_ <= ck_bound_, "%s = %.17g, %s = %.17g, error %.3g > %.3g", #got,   \
                      ck_got_, #want, ck_want_, ck_error_, ck_bound_);                             \
    } while (0)

/* The number of the allocation to refuse after number `refused`: each of the first 200, then with
 * growing steps, so that a call of 10,000 allocations is tried 270 times. */
int64_t test_next_refusal(int64_t refused);

/* Refuses one allocation of `call` after the other, each time with SZG_ENOMEM, until it succeeds;
 * before that it must have made more than `least`. Leaks are for the sanitizer to find. */
#define ck_survives_failed_allocations(least, call)                                                \
    do {                                                                                           \
        szg_status ck_result_ = SZG_ENOMEM;                                                        \
        int64_t ck_refused_ = 0, ck_made_ = 0; /* numbers of allocations */                        \
        while (ck_result_ == SZG_ENOMEM) {                                                         \
            ck_made_ = ck_refused_;                                                                \
            ck_refused_ = test_next_refusal(ck_refused_);                                          \
            ck_assert_int_lt(ck_refused_, 1000000);                                                \
            szgi_memory_fail_after(test_context(), ck_refused_);                                   \
            ck_result_ = (call);                                                                   \
        }                                                                                          \
        szgi_memory_fail_after(test_context(), 0);                                                 \
        ck_assert_msg(ck_result_ == SZG_OK, "%s: allocation %lld: %s: %s", #call,                  \
                      (long long)ck_refused_, szg_status_name(ck_result_),                         \
                      szg_context_message(test_context()));                                        \
        ck_assert_msg(ck_made_ >= (least), "%s: %lld allocations", #call, (long long)ck_made_);    \
    } while (0)

/* One file of a room's program: TEST_FILE("name") { test_add(suite, ...); ... } adds its cases. The
 * program runs all its files, one, or one case of it: `test_ROOM [FILE [CASE]]`. */
typedef struct test_file {
    const char *name;
    void (*add)(Suite *suite);
    struct test_file *next;
} test_file;
void test_file_link(test_file *file);
#define TEST_FILE(name)                                                                            \
    static void test_file_add_(Suite *suite);                                                      \
    __attribute__((constructor)) static void test_file_link_(void) {                               \
        static test_file file = {name, test_file_add_, NULL};                                      \
        test_file_link(&file);                                                                     \
    }                                                                                              \
    static void test_file_add_(Suite *suite)

/* Adds `test` as a case of its own, so that reports name it; the loop runs it `count` times with
 * _i = 0 .. count - 1. Each runs in a child of its own with a context of its own, where the build
 * allows (not under sanitizers nor on a device). */
void test_add(Suite *suite, const char *name, const TTest *test);
void test_add_loop(Suite *suite, const char *name, const TTest *test, int count);

/* In TEST_FILE: called before each case that is added after it, with the context open. */
void test_before_each(void (*setup)(void));

#endif
