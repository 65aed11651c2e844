/* Loading of plugins: what is wrong with one is said, and a good one's table belongs to its
 * context. A plugin stays loaded: the tests that refuse come first. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linalg/ops.h"
#include "plugin/abi.h"

#include "rounding.h"
#include "scratch.h"

static char said[2048];

static void hear(void *user, szg_severity severity, const char *text) {
    (void)user, (void)severity;
    snprintf(said, sizeof said, "%s", text);
}

static szg_context *listening(void) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1, .message = hear};
    szg_context *context;
    ck_assert(szg_context_open(&options, &context) == SZG_OK);
    said[0] = 0;
    return context;
}

static void use_plugin(const char *path) {
    ck_assert(setenv("SZEGO_CUDA_PLUGIN", path, 1) == 0);
}

static void use_fixture(void) {
    use_plugin(SUITE_PLUGIN);
}

static void check_refused(const char *path, const char *words) {
    use_plugin(path);
    ck_szg_fails(SZG_EBACKEND, words, szg_backend_select(test_context(), "cuda"));
    ck_assert_str_eq(szgi_backend_name(test_context()), "cpu");
    szg_device device;
    const char *libraries;
    int count = 3;
    ck_szg_fails(SZG_EBACKEND, words,
                 szg_backend_devices(test_context(), 1, &device, &count, &libraries));
    ck_assert_int_eq(count, 0);
    ck_assert_ptr_null(libraries);
}

START_TEST(what_is_wrong_is_said) {
    check_refused("/nowhere/libszego-cuda.so",
                  "no plugin (/nowhere/libszego-cuda.so): the path in SZEGO_CUDA_PLUGIN is wrong");
    check_refused("libszego-nowhere.so", "no plugin (libszego-nowhere.so): the path in SZEGO");
    check_refused("/etc/passwd",
                  "/etc/passwd is not a shared library: correct or unset SZEGO_CUDA");
    check_refused("/etc", "/etc is not a shared library: correct or unset");
    check_refused(SUITE_NO_PLUGIN, "not a plugin of szego: it has no symbol szego_plugin");
    check_refused(SUITE_OTHER_ABI, "its interface is 77, this library's");
    check_refused(SUITE_OTHER_VERSION, "is a plugin of version 0.0.0-other");
}
END_TEST

/* The same loader, by another description. */
START_TEST(what_is_wrong_with_the_mpi_plugin_is_said) {
    static const struct {
        const char *path, *words;
    } cases[] = {
        {"/nowhere/libszego-mpi.so",
         "backend mpi: there is no plugin (/nowhere/libszego-mpi.so): the path in SZEGO_MPI_PLUGIN "
         "is wrong: correct or unset it, or start one process"},
        {SUITE_PLUGIN, "it has no symbol szego_mpi_plugin: remove it or set SZEGO_MPI_PLUGIN"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert(setenv("SZEGO_MPI_PLUGIN", cases[i].path, 1) == 0);
        ck_szg_fails(SZG_EBACKEND, cases[i].words, szg_backend_select(test_context(), "mpi"));
        ck_assert_str_eq(szgi_backend_name(test_context()), "cpu");
    }
}
END_TEST

/* A FIFO would wait for a writer for ever. */
START_TEST(only_own_files_are_loaded) {
    static const char cannot[] = "users outside your group may write it or its folder";
    const char *folder = scratch_folder();
    char path[64], command[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s/plugin.so", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    check_refused(path, "is not a shared library: correct or unset SZEGO_CUDA_PLUGIN");
    ck_assert_int_eq(unlink(path), 0);

    snprintf(command, sizeof command, "cp '%s' '%s'", SUITE_PLUGIN, path);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(chmod(path, 0757), 0);
    check_refused(path, cannot);
    ck_assert_int_eq(chmod(path, 0755), 0);
    ck_assert_int_eq(chmod(folder, 0757), 0);
    check_refused(path, cannot);
    ck_assert_int_eq(chmod(folder, 0700), 0);
    if (geteuid() == 0) { /* who alone can give a file away */
        ck_assert_int_eq(chown(path, 12345, 0), 0);
        check_refused(path, cannot);
        ck_assert(chown(path, 0, 12345) == 0 && chmod(path, 0775) == 0);
        check_refused(path, cannot);
    }
}
END_TEST

START_TEST(auto_says_why_it_takes_the_cpu) {
    szg_context *context = listening();
    use_plugin("/nowhere/libszego-cuda.so");
    ck_assert(szg_backend_select(context, "auto") == SZG_OK);
    ck_assert_str_eq(szgi_backend_name(context), "cpu");
    ck_assert_ptr_nonnull(strstr(said, "backend auto: cpu; backend cuda: there is no plugin"));
    szg_context_close(&context);
}
END_TEST

START_TEST(names_are_checked) {
    const char *const wrong[] = {"", "gpu", "cuda:", "cuda:fp8", "cudaf32", "CUDA", "auto:f32"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_szg_fails(SZG_EINVAL, "is unknown", szg_backend_select(test_context(), wrong[i]));
}
END_TEST

static double product(szg_context *context, int64_t k) {
    double a[16] = {2}, b[16] = {3}, c = 0;
    szg_status status = szgi_gemm(context, 'n', 't', 1, 1, k, 1, a, 16, b, 16, 0, &c, 1);
    return status == SZG_OK ? c : -(double)status;
}

/* SZEGO_CUDA_CROSSOVER=0 sends every size to the device. */
START_TEST(each_context_has_its_session) {
    setenv("SZEGO_CUDA_CROSSOVER", "0", 1);
    szg_context *first = listening(), *second = listening();
    ck_assert(szg_backend_select(first, "cuda:bf16") == SZG_OK);
    ck_assert(szg_backend_select(second, "cuda") == SZG_OK);
    ck_assert_str_eq(szgi_backend_name(first), "cuda:fixture");
    ck_assert(product(first, 1) == SZGI_PRECISION_BF16);
    ck_assert(product(second, 1) == SZGI_PRECISION_TF32);
    ck_assert(product(test_context(), 1) == 6); /* the cpu's */

    ck_assert(product(first, 13) == -(double)SZG_EBACKEND);
    ck_assert_ptr_nonnull(strstr(szg_context_message(first), "gemm: unlucky"));

    unsetenv("FIXTURE_CLOSED");
    ck_assert(szg_backend_select(first, "cpu") == SZG_OK);
    ck_assert_ptr_nonnull(getenv("FIXTURE_CLOSED"));
    ck_assert(product(first, 1) == 6);
    unsetenv("FIXTURE_CLOSED");
    szg_context_close(&second);
    ck_assert_ptr_nonnull(getenv("FIXTURE_CLOSED"));
    szg_context_close(&first);
    unsetenv("SZEGO_CUDA_CROSSOVER");
}
END_TEST

/* What the plugin lacks is the cpu's. */
START_TEST(missing_entries_are_the_cpus) {
    szg_context *context = listening();
    ck_assert(szg_backend_select(context, "cuda") == SZG_OK);
    double a[4] = {2, 0, 0, 5}, w[2];
    ck_assert(szgi_eigen_symmetric(context, 2, a, 2, w, false) == SZG_OK);
    ck_close(w[0], 2, gamma_of(8) * 5); /* one rotation of a matrix of norm 5 */
    ck_close(w[1], 5, gamma_of(8) * 5);
    szgi_fft *fft;
    double x[1] = {7}, y[1] = {0};
    ck_assert(szgi_fft_open(context, SZGI_FFT_COSINE_4, 1, 1, &fft) == SZG_OK);
    ck_assert(szgi_fft_run(context, fft, x, y) == SZG_OK);
    ck_close(y[0], 2 * 7 * 0.70710678118654752, gamma_of(8) * 10);
    szgi_fft_close(&fft);
    szg_context_close(&context);
}
END_TEST

START_TEST(devices_are_listed) {
    szg_device device[1];
    const char *libraries;
    int count;
    ck_szg_ok(szg_backend_devices(test_context(), 1, device, &count, &libraries));
    ck_assert_int_eq(count, 2);
    ck_assert_str_eq(libraries, "Fixture 1.0");
    ck_assert_str_eq(device[0].name, "Fixture 1");
    ck_assert(!device[0].usable);
}
END_TEST

START_TEST(a_refused_session_leaves_the_backend) {
    szg_context *context = listening();
    setenv("FIXTURE_REFUSES", "1", 1);
    ck_assert(szg_backend_select(context, "reference") == SZG_OK);
    ck_assert(szg_backend_select(context, "cuda") == SZG_EBACKEND);
    ck_assert_str_eq(szg_context_message(context), "no device today");
    ck_assert_str_eq(szgi_backend_name(context), "reference");
    ck_assert(szg_backend_select(context, "auto") == SZG_OK);
    ck_assert_str_eq(said, "backend auto: cpu; no device today");
    unsetenv("FIXTURE_REFUSES");
    ck_assert(szg_backend_select(context, "auto") == SZG_OK);
    ck_assert_str_eq(said, "backend auto: cuda:fixture");
    szg_context_close(&context);
}
END_TEST

START_TEST(failed_allocations_leave_no_session) {
    szg_context *context = listening();
    szgi_memory_fail_after(context, 1);
    ck_assert(szg_backend_select(context, "cuda") == SZG_ENOMEM);
    szgi_memory_fail_after(context, 0);
    ck_assert(szg_backend_select(context, "cuda") == SZG_OK);
    szg_context_close(&context);
}
END_TEST

TEST_FILE("plugin") {
    test_before_each(use_fixture);
    test_add(suite, "what_is_wrong_is_said", what_is_wrong_is_said);
    test_add(suite, "what_is_wrong_with_the_mpi_plugin_is_said",
             what_is_wrong_with_the_mpi_plugin_is_said);
    test_add(suite, "only_own_files_are_loaded", only_own_files_are_loaded);
    test_add(suite, "auto_says_why_it_takes_the_cpu", auto_says_why_it_takes_the_cpu);
    test_add(suite, "names_are_checked", names_are_checked);
    test_add(suite, "each_context_has_its_session", each_context_has_its_session);
    test_add(suite, "missing_entries_are_the_cpus", missing_entries_are_the_cpus);
    test_add(suite, "devices_are_listed", devices_are_listed);
    test_add(suite, "a_refused_session_leaves_the_backend", a_refused_session_leaves_the_backend);
    test_add(suite, "failed_allocations_leave_no_session", failed_allocations_leave_no_session);
}
