#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static szg_context *context;

szg_context *test_context(void) {
    return context;
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

double test_real(const szg_stream *stream, uint64_t index) {
    szg_stream choice = *stream;
    choice.purpose ^= 0x80000000u;
    double normal = szg_random_normal(stream, index);
    switch (szg_random_below(&choice, index, 10)) {
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
    ck_szg_ok(szg_memory_alloc(context, count, sizeof *block, &block));
    return block;
}

double *new_test_reals(uint32_t purpose, uint32_t step, int64_t count) {
    szg_stream stream = {.seed = test_seed(), .step = step, .purpose = purpose};
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

void test_add(Suite *suite, const char *name, const TTest *test) {
    TCase *tcase = tcase_create(name);
    tcase_add_test(tcase, test);
    suite_add_tcase(suite, tcase);
}

int main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    (void)argc;
    printf("# %s: SZG_TEST_SEED=%llu\n", name, (unsigned long long)test_seed());
    fflush(stdout);
    szg_context_options options = {.threads = 2};
    if (szg_context_open(&options, &context) != SZG_OK)
        return EXIT_FAILURE;
    Suite *suite = suite_create(name);
    test_register(suite);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    szg_context_close(&context);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
