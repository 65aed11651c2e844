#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "linalg/linalg.h"

#include "suite.h"

/* glibc keeps what a thread does at its end in a list of the thread's own. LeakSanitizer does not
 * find that list where it could not stop the thread ("was not suspended"). */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:__cxa_thread_atexit_impl\n";
}

/* A case that takes longer hangs; CK_TIMEOUT_MULTIPLIER stretches it on a machine that is slow. */
enum { CASE_SECONDS = 240 };

static szg_context *context;

szg_context *test_context(void) {
    return context;
}

static double count_look(void *user) {
    test_looks *looks = user;
    return ++looks->count < looks->last ? 0 : 2;
}

szg_context *test_counting_context(test_looks *looks) {
    szg_context *counting;
    const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                         .clock = count_look, .user = looks};
    *looks = (test_looks){.last = INT64_MAX};
    ck_assert_int_eq(szg_context_open(&options, &counting), SZG_OK);
    szg_context_set_deadline(counting, 1);
    looks->count = 0;
    return counting;
}

uint64_t test_seed(void) {
    const char *text = getenv("SZG_TEST_SEED");
    return text ? strtoull(text, NULL, 0) : 20250513u;
}

const char *test_backend(void) {
    const char *name = getenv("SZG_TEST_BACKEND");
    return name ? name : "cpu";
}

bool test_on_device(void) {
    return strcmp(test_backend(), "cpu") != 0;
}

int64_t test_trials(int64_t count) {
    const char *text = getenv("SZG_TEST_MULTIPLIER");
    double scaled = (double)count * (text ? strtod(text, NULL) : 1);
    return scaled < 1 ? 1 : (int64_t)scaled;
}

double test_real(const szgi_stream *stream, uint64_t index) {
    szgi_stream choice = *stream;
    choice.purpose ^= 0x80000000u;
    double normal = szgi_random_normal(stream, index);
    switch (szgi_random_below(&choice, index, 10)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return -1;
    case 3:
        return normal * 1e-8;
    case 4:
        return normal * 1e8;
    case 5:
        return 1 + normal * 0x1p-50;
    default:
        return normal;
    }
}

double *new_numbers(int64_t count) {
    double *block;
    ck_szg_ok(szgi_memory_alloc(context, count, &block));
    return block;
}

double *new_test_reals(uint32_t purpose, uint32_t step, int64_t count) {
    szgi_stream stream = {.seed = test_seed(), .step = step, .purpose = purpose};
    double *block = new_numbers(count);
    for (int64_t i = 0; i < count; i++)
        block[i] = test_real(&stream, (uint64_t)i);
    return block;
}

double norm_of(int64_t count, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

int64_t test_next_refusal(int64_t refused) {
    return refused < 200 ? refused + 1 : refused + 1 + refused / 16;
}

/* ---- Files and cases ---- */

static test_file *files; /* of this program, by name */
static void (*each_setup)(void);
static int64_t cases;
static const char *only_case; /* NULL: all */

/* Constructors call it, in an order that the linker chose. */
void test_file_link(test_file *file) {
    test_file **at = &files;
    while (*at && strcmp((*at)->name, file->name) < 0)
        at = &(*at)->next;
    file->next = *at;
    *at = file;
}

void test_before_each(void (*setup)(void)) {
    each_setup = setup;
}

static void open_context(void) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 2};
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
}

static void close_context(void) {
    szg_context_close(&context);
}

void test_add_loop(Suite *suite, const char *name, const TTest *test, int count) {
    if (only_case && strcmp(name, only_case) != 0)
        return;
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, CASE_SECONDS);
    tcase_add_checked_fixture(tcase, open_context, close_context);
    if (each_setup)
        tcase_add_checked_fixture(tcase, each_setup, NULL);
    tcase_add_loop_test(tcase, test, 0, count);
    suite_add_tcase(suite, tcase);
    cases += count;
}

void test_add(Suite *suite, const char *name, const TTest *test) {
    test_add_loop(suite, name, test, 1);
}

/* ---- The program ---- */

/* A case runs in a child, so that a crash or a time limit ends it alone. Sanitizers and the
 * emulated GPU are too slow to start for each case, or know one process only. */
static enum fork_status fork_or_not(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return CK_NOFORK;
#else
    if (getenv("CK_FORK")) /* =no, for a debugger */
        return CK_FORK_GETENV;
    return test_on_device() ? CK_NOFORK : CK_FORK;
#endif
}

/* Of programs that link OpenBLAS, which chooses its kernels by the processor, and the network
 * layers, which do too: tools/try-processors reads both. */
extern char *openblas_get_corename(void) __attribute__((weak));
extern const char *szg_backend_simd(void) __attribute__((weak));

static int run(const char *program, Suite *suite) {
    /* tools/count-tests counts the cases that a crash left out as failed. */
    printf("# %s: SZG_TEST_SEED=%llu, OpenBLAS core %s, SIMD level %s, cases: %lld\n", program,
           (unsigned long long)test_seed(),
           openblas_get_corename ? openblas_get_corename() : "none",
           szg_backend_simd ? szg_backend_simd() : "none", (long long)cases);
    fflush(stdout);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, fork_or_not());
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int usage(const char *program) {
    fprintf(stderr, "usage: %s [FILE [CASE]], FILE one of:", program);
    for (const test_file *file = files; file; file = file->next)
        fprintf(stderr, " %s", file->name);
    fprintf(stderr, "\n");
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    Suite *suite = suite_create(argc > 1 ? argv[1] : name);
    only_case = argc > 2 ? argv[2] : NULL;
    for (test_file *file = files; file; file = file->next) {
        if (argc > 1 && strcmp(argv[1], file->name) != 0)
            continue;
        each_setup = NULL;
        file->add(suite);
    }
    return cases > 0 ? run(name, suite) : usage(name);
}
