/* What every test program shares: a context, seeded corner-biased inputs, and the main function. */
#ifndef SZG_TESTS_SUITE_H
#define SZG_TESTS_SUITE_H

#include <check.h>
#include <stdio.h>
#include <szego/szego.h>

/* The seed of this run: SZG_TEST_SEED, or a fixed default; printed on start. */
uint64_t test_seed(void);

/* The backend under test: SZG_TEST_BACKEND, "cpu" without it. Whether that is another than cpu. */
const char *test_backend(void);
bool test_on_device(void);

/* `count` scaled by SZG_TEST_MULTIPLIER (default 1), at least 1. */
int64_t test_trials(int64_t count);

/* A double biased to the corners: zero, repeats, ones, tiny, huge (1e+-8), nearly equal, normal. */
double test_real(const szg_stream *stream, uint64_t index);

/* `count` zeros, and `count` of test_real's numbers; free with szg_memory_free. */
double *new_numbers(int64_t count);
double *new_test_reals(uint32_t purpose, uint32_t step, int64_t count);

/* Euclidean norm of `count` numbers that stay below 1e150. */
double norm_of(int64_t count, const double *x);

/* A context that lives as long as the program; its messages go nowhere. */
szg_context *test_context(void);

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

/* Refuses the first, second, third ... allocation of `call`, each time with SZG_ENOMEM, until it
 * succeeds; before that it must have failed `least` times. Leaks are for the sanitizer to find. */
#define ck_survives_failed_allocations(least, call)                                                \
    do {                                                                                           \
        szg_status ck_result_ = SZG_ENOMEM;                                                        \
        int64_t ck_refused_ = 0; /* the number of the allocation */                                \
        while (ck_result_ == SZG_ENOMEM) {                                                         \
            ck_assert_int_lt(ck_refused_, 1000000);                                                \
            szg_memory_fail_after(test_context(), ++ck_refused_);                                  \
            ck_result_ = (call);                                                                   \
        }                                                                                          \
        szg_memory_fail_after(test_context(), 0);                                                  \
        ck_assert_msg(ck_result_ == SZG_OK, "%s: allocation %lld: %s: %s", #call,                  \
                      (long long)ck_refused_, szg_status_name(ck_result_),                         \
                      szg_context_message(test_context()));                                        \
        ck_assert_msg(ck_refused_ > (least), "%s: %lld allocations", #call,                        \
                      (long long)ck_refused_ - 1);                                                 \
    } while (0)

/* Defined once by each test program: adds its cases to the suite. */
void test_register(Suite *suite);

/* Adds `test` as a case of its own, so that reports name it. */
void test_add(Suite *suite, const char *name, const TTest *test);

#endif
