/* What a host may do to its process: flush denormal numbers, change the rounding mode, fork. Ends
 * of spectra against Arb. */
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "certified_support.h"

static szg_status solve(szg_context *context, int64_t n, const double *a, szg_spectrum *out) {
    const szg_matrix matrix = szg_matrix_symmetric(n, a, n);
    return szg_spectrum_compute(context, &matrix, SZG_QUESTION_EIGENVALUES, &certified, out);
}

START_TEST(ends_that_are_not_proved_are_nan) {
    const double a[] = {1, 0.5, 0.5, 2};
    const szg_matrix matrix = szg_matrix_symmetric(2, a, 2);
    for (szg_question question = 0; question < SZG_QUESTIONS; question++) {
        szg_matrix many[20];
        szg_spectrum s[20];
        for (int m = 0; m < 20; m++)
            many[m] = matrix;
        ck_szg_ok(szg_spectrum_compute(test_context(), &matrix, question, NULL, &s[0]));
        ck_assert(!s->certified && isnan(s->min.lo) && isnan(s->min.hi) && isnan(s->max.lo) &&
                  isnan(s->max.hi));
        szg_spectrum_close(&s[0]);
        ck_szg_ok(szg_spectrum_batch(test_context(), 20, many, question, NULL, s));
        for (int m = 0; m < 20; m++) {
            ck_assert(!s[m].certified && isnan(s[m].min.lo) && isnan(s[m].max.hi));
            szg_spectrum_close(&s[m]);
        }
    }
}
END_TEST

/* ---- The control word ---- */

enum { MATRICES = 40, COPIES = 4, ORDER = 6 };

/* Numbers that flushing changes: 0: all denormal; 1: of 2^-1074 to 2^-1020; 2: 1 beside 2^-1065; 3:
 * neighbours of DBL_MIN, whose differences are denormal. */
static double small_number(int kind, const szgi_stream *stream, int64_t i, int64_t j) {
    uint64_t at = (uint64_t)(i * ORDER + j);
    double x = szgi_random_normal(stream, at);
    if (kind == 0)
        return x * 3e-323;
    if (kind == 1)
        return ldexp(x, -1020 - (int)szgi_random_below(stream, at + 64, 55));
    if (kind == 2)
        return i == j && i == 0 ? 1 : ldexp(x, -1065);
    return DBL_MIN * (1 + 0x1p-40 * x);
}

static void small_matrix(int m, double *a) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 61, .step = (uint32_t)m};
    for (int64_t i = 0; i < ORDER; i++)
        for (int64_t j = 0; j <= i; j++)
            a[i * ORDER + j] = a[j * ORDER + i] = small_number(m % 4, &stream, i, j);
}

/* Enclosures against Sylvester's law of inertia with balls. */
static bool holds(const double *a, const szg_spectrum *s) {
    int64_t decided = 0;
    szgi_ball_matrix *balls;
    ck_szg_ok(inertia_matrix(test_context(), ORDER, 1, a, &balls));
    bool meets = s->certified && inertia_meets(test_context(), s, balls, &decided);
    ck_assert_int_ge(decided, meets ? 4 : 0);
    szgi_ball_matrix_close(&balls);
    return meets;
}

static void open_two(szg_context **context) {
    const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 2};
    ck_szg_ok(szg_context_open(&options, context));
}

#ifdef __x86_64__
enum { FTZ = 0x8000, DAZ = 0x40, FLAGS = 0xffc0 };

typedef struct tally {
    int wrong, refused, other;
} tally;

/* Copies of one matrix over the pool's threads, whose bits are those of `want`. */
static void count_copies(szg_context *context, const double *a, const szg_spectrum *want,
                         unsigned during, tally *out) {
    const unsigned host = __builtin_ia32_stmxcsr();
    szg_matrix copy[COPIES];
    szg_spectrum have[COPIES];
    for (int m = 0; m < COPIES; m++)
        copy[m] = szg_matrix_symmetric(ORDER, a, ORDER);
    __builtin_ia32_ldmxcsr(host | during);
    szg_status status =
        szg_spectrum_batch(context, COPIES, copy, SZG_QUESTION_EIGENVALUES, &certified, have);
    unsigned left = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(host);
    ck_assert_int_eq(left & FLAGS, (host | during) & FLAGS);
    out->refused += status != SZG_OK;
    for (int m = 0; m < COPIES && status == SZG_OK; m++) {
        out->wrong += !holds(a, &have[m]);
        out->other += memcmp(have[m].re, want->re, ORDER * sizeof *want->re) != 0;
        szg_spectrum_close(&have[m]);
    }
}

/* The host sets flags before the context is opened, and others while it computes. */
static void check_flushed(unsigned before, unsigned during) {
    const unsigned host = __builtin_ia32_stmxcsr();
    tally out = {0};
    szg_context *context;
    __builtin_ia32_ldmxcsr(host | before);
    open_two(&context);
    __builtin_ia32_ldmxcsr(host);
    for (int m = 0; m < MATRICES; m++) {
        double a[ORDER * ORDER];
        szg_spectrum want;
        small_matrix(m, a);
        ck_szg_ok(solve(test_context(), ORDER, a, &want));
        count_copies(context, a, &want, during, &out);
        szg_spectrum_close(&want);
    }
    szg_context_close(&context);
    ck_assert_msg(!out.wrong && !out.refused && !out.other,
                  "before %x, during %x: of %d bounds %d are false, %d values have other bits; of "
                  "%d matrices %d are refused",
                  before, during, MATRICES * COPIES, out.wrong, out.other, MATRICES, out.refused);
}

START_TEST(flushing_hosts_get_the_same_bounds) {
    const unsigned flags[] = {0, FTZ, DAZ, FTZ | DAZ};
    check_flushed(flags[_i / 4], flags[_i % 4]);
}
END_TEST

START_TEST(flags_are_set_again_after_an_error) {
    const unsigned host = __builtin_ia32_stmxcsr();
    const double a[] = {1, 0.5, 0.5, 2};
    const szg_matrix matrix = szg_matrix_symmetric(2, a, 2);
    szg_spectrum none;
    __builtin_ia32_ldmxcsr(host | FTZ | DAZ);
    szg_status status =
        szg_spectrum_compute(test_context(), &matrix, (szg_question)99, &certified, &none);
    unsigned left = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(host);
    ck_assert_int_eq(status, SZG_EINVAL);
    ck_assert_int_eq(left & FLAGS, (host | FTZ | DAZ) & FLAGS);
}
END_TEST

/* OpenBLAS's third and fourth thread are started by a host that flushes: they cannot be mended. */
extern void openblas_set_num_threads(int threads);
static int warnings;

static void count_warnings(void *data, szg_severity severity, const char *text) {
    (void)data;
    if (severity == SZG_WARNING && strstr(text, "OpenBLAS's threads flush numbers"))
        warnings++;
}

START_TEST(threads_of_openblas_that_flush_are_told) {
    enum { LARGE = 600 };
    const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 4,
                                         .message = count_warnings};
    const unsigned host = __builtin_ia32_stmxcsr();
    szg_context *context;
    szg_spectrum s;
    double *a = new_test_reals(63, 0, (int64_t)LARGE * LARGE);
    for (int64_t i = 0; i < LARGE; i++)
        for (int64_t j = 0; j < i; j++)
            a[i * LARGE + j] = a[j * LARGE + i];
    const szg_matrix matrix = szg_matrix_symmetric(LARGE, a, LARGE);
    __builtin_ia32_ldmxcsr(host | FTZ | DAZ);
    openblas_set_num_threads(4);
    openblas_set_num_threads(1);
    __builtin_ia32_ldmxcsr(host);
    ck_szg_ok(szg_context_open(&options, &context));
    for (int i = 0; i < 2; i++) {
        ck_szg_ok(szg_spectrum_compute(context, &matrix, SZG_QUESTION_EIGENVALUES, NULL, &s));
        szg_spectrum_close(&s);
    }
    ck_assert_int_eq(warnings, 1);
    szg_context_close(&context);
    free(a);
}
END_TEST
#endif

static const int directed[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

START_TEST(other_rounding_is_refused) {
    const double a[] = {1, 0.5, 0.5, 2};
    szg_spectrum s;
    fesetround(directed[_i]);
    szg_status status = solve(test_context(), 2, a, &s);
    int left = fegetround();
    fesetround(FE_TONEAREST);
    ck_szg_fails(SZG_EBACKEND, "doubles do not round to nearest here", status);
    ck_assert_int_eq(left, directed[_i]);
}
END_TEST

/* The pool's threads are started under another mode than the caller's: they take on the caller's.
 */
START_TEST(workers_round_as_the_caller) {
    szg_context *context;
    szg_matrix copy[MATRICES];
    szg_spectrum s[MATRICES];
    double a[ORDER * ORDER];
    fesetround(directed[_i]);
    open_two(&context);
    fesetround(FE_TONEAREST);
    small_matrix(0, a);
    for (int m = 0; m < MATRICES; m++)
        copy[m] = szg_matrix_symmetric(ORDER, a, ORDER);
    for (int trial = 0; trial < 20; trial++) { /* so that the worker has blocks */
        ck_szg_ok(
            szg_spectrum_batch(context, MATRICES, copy, SZG_QUESTION_EIGENVALUES, &certified, s));
        for (int m = 0; m < MATRICES; m++) {
            ck_assert(trial > 0 || holds(a, &s[m]));
            szg_spectrum_close(&s[m]);
        }
    }
    szg_context_close(&context);
}
END_TEST

/* ---- Forks ---- */

/* ThreadSanitizer stops a process that starts threads after a fork, and AddressSanitizer's locks
 * may stay taken in one. */
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
static atomic_bool forked;

static szg_status hilbert_ends(szg_context *context, int64_t n, szg_interval *least) {
    double *a = new_test_reals(62, 0, n * n);
    szg_spectrum s;
    for (int64_t i = 0; i < n * n; i++)
        a[i] = 1 / (1 + (double)(i / n) + (double)(i % n));
    szg_status status = solve(context, n, a, &s);
    *least = s.min;
    szg_spectrum_close(&s);
    free(a);
    return status;
}

static void *compute_meanwhile(void *unused) {
    szg_context *context;
    szg_interval least;
    ck_szg_ok(szg_context_open(NULL, &context));
    while (!atomic_load(&forked))
        ck_szg_ok(hilbert_ends(context, 100, &least));
    szg_context_close(&context);
    return unused;
}

static int compute_in_child(szg_context *parents, const szg_interval *want) {
    szg_context *context;
    szg_interval least;
    alarm(10); /* a hang ends with a signal */
    if (hilbert_ends(parents, 20, &least) != SZG_EINVAL ||
        !strstr(szg_context_message(parents), "open a context in the child"))
        return 1;
    if (szg_context_open(NULL, &context) != SZG_OK || hilbert_ends(context, 20, &least) != SZG_OK)
        return 2;
    return memcmp(&least, want, sizeof least) ? 3 : 0;
}

START_TEST(a_fork_while_another_thread_computes) {
    pthread_t thread;
    szg_interval want;
    ck_szg_ok(hilbert_ends(test_context(), 20, &want));
    ck_assert_int_eq(pthread_create(&thread, NULL, compute_meanwhile, NULL), 0);
    for (int i = 0; i < 20; i++) {
        usleep(2000);
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            _exit(compute_in_child(test_context(), &want));
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    atomic_store(&forked, true);
    pthread_join(thread, NULL);
}
END_TEST
#endif

TEST_FILE("host") {
    test_add(suite, "ends_that_are_not_proved_are_nan", ends_that_are_not_proved_are_nan);
#ifdef __x86_64__
    test_add_loop(suite, "flushing_hosts_get_the_same_bounds", flushing_hosts_get_the_same_bounds,
                  16);
    test_add(suite, "flags_are_set_again_after_an_error", flags_are_set_again_after_an_error);
    test_add(suite, "threads_of_openblas_that_flush_are_told",
             threads_of_openblas_that_flush_are_told);
#endif
    test_add_loop(suite, "other_rounding_is_refused", other_rounding_is_refused, 3);
    test_add_loop(suite, "workers_round_as_the_caller", workers_round_as_the_caller, 3);
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__
    test_add(suite, "a_fork_while_another_thread_computes", a_fork_while_another_thread_computes);
#endif
}
