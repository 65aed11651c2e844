/* Files that change while they are read, cancelling, refused allocations, memory. */
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "checkpoint/top.h"
#include "model.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* ---- Files that change while they are read ---- */

/* With the whole file under a mapping, the first case ended the program by a signal. */
START_TEST(weights_that_change_meanwhile) {
    static const char *const words[] = {"was cut while it was read",
                                        "was changed while it was read"};
    for (int i = 0; i < 4; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
        const char *path;
        model_open(&model);
        model_add_bert(&model);
        model_write(&model, model_bert);
        path = model_path(&model, "model.safetensors");
        ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
        /* Heads of a known architecture, then every matrix. */
        ck_szg_ok(
            szg_checkpoint_open(test_context(), model.folder, i < 2 ? NULL : "", &checkpoint));
        if (i % 2 == 0)
            ck_assert_int_eq(truncate(path, 1), 0);
        else
            ck_assert_int_eq(utimensat(AT_FDCWD, path, NULL, 0), 0);
        ck_szg_fails(SZG_EIO, words[i % 2],
                     szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        ck_assert_ptr_null(tables.summary);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* ---- Cancelling, allocations, memory ---- */

static void cancel_at_once(void *user, const char *what, int64_t done, int64_t total) {
    (void)what, (void)done, (void)total;
    szg_context_cancel(*(szg_context **)user);
}

START_TEST(cancelling) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szg_context *context = NULL;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 2,
                                   .progress = cancel_at_once, .user = &context};
    model_open(&model);
    model_add_bert(&model);
    model_write(&model, model_bert);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(szg_checkpoint_open(context, model.folder, i ? "" : NULL, &checkpoint),
                         SZG_OK);
        ck_assert_int_eq(szg_checkpoint_analyse(context, checkpoint, NULL, &tables), SZG_ECANCEL);
        ck_assert_ptr_null(tables.summary);
        szg_checkpoint_close(&checkpoint);
        szg_context_close(&context);
    }
    model_close(&model);
}
END_TEST

static szg_status open_analyse_close(const test_model *model) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .samples = 4};
    SZG_TRY(szg_checkpoint_open(test_context(), model->folder, NULL, &checkpoint));
    szg_status status = szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return status;
}

START_TEST(refused_allocations) {
    static const char *const configs[] = {
        "{\"model_type\":\"bert\",\"num_hidden_layers\":1,\"num_attention_heads\":1,"
        "\"hidden_size\":3}",
        "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":1,"
        "\"hidden_size\":2,\"rope_theta\":10000}",
        "{\"model_type\":\"unheard of\"}"};
    for (int i = 0; i < 3; i++) {
        test_model model;
        model_open(&model);
        if (i == 1) {
            model_add(&model, SZGI_DTYPE_F32, 2, 2, "model.layers.0.self_attn.q_proj.weight");
            model_add(&model, SZGI_DTYPE_F32, 2, 2, "model.layers.0.self_attn.k_proj.weight");
        } else {
            model_add(&model, SZGI_DTYPE_F32, 2, 3, "embeddings.position_embeddings.weight");
            model_add(&model, SZGI_DTYPE_F32, 3, 3, "encoder.layer.0.attention.self.query.weight");
            model_add(&model, SZGI_DTYPE_F32, 3, 3, "encoder.layer.0.attention.self.key.weight");
        }
        model_write(&model, configs[i]);
        ck_survives_failed_allocations(1, open_analyse_close(&model));
        model_close(&model);
    }
}
END_TEST

static int64_t data_kib(void) {
    char line[256];
    int64_t kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmData:", 7) == 0)
            kib = strtoll(line + 7, NULL, 10);
    if (file)
        fclose(file);
    return kib;
}

static int analyse_once(szg_context *context, const test_model *model, int64_t top) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .top = top};
    if (szg_checkpoint_open(context, model->folder, NULL, &checkpoint) != SZG_OK ||
        szg_checkpoint_analyse(context, checkpoint, &options, &tables) != SZG_OK)
        return 4;
    int bad = tables.bad == 0 ? 0 : 5;
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return bad;
}

/* In a child: one thread, and anonymous memory limited to what is in use plus `more` bytes. The
 * first pass, without a limit, leaves OpenBLAS the buffers that it keeps: without memory for them
 * it waits for ever. */
static void analyse_with_little_memory(const test_model *model, int64_t top, int64_t more) {
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    mallopt(M_MMAP_THRESHOLD, 1 << 16); /* what is freed goes back */
    if (szg_context_open(&options, &context) != SZG_OK || analyse_once(context, model, top) != 0)
        _exit(2);
    malloc_trim(0);
    struct rlimit limit = {0};
    limit.rlim_cur = limit.rlim_max = (rlim_t)(data_kib() * 1024 + more);
    if (setrlimit(RLIMIT_DATA, &limit) != 0)
        _exit(3);
    _exit(analyse_once(context, model, top));
}

/* The exit status of analyse_with_little_memory: 0 done, 4 refused. */
static int status_with(const test_model *model, int64_t top, int64_t more) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        analyse_with_little_memory(model, top, more);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(memory_stays_below_the_largest_tensor) {
    if (SANITIZED)
        return; /* their shadow memory is not ours to limit */
    test_model model;
    model_open(&model);
    /* 19.2 MB as doubles, reduced by blocks to far less; 3.4 MB with as much workspace; and one
     * that is read by columns. */
    model_add(&model, SZGI_DTYPE_F32, 40000, 60, "embeddings.weight");
    model_add(&model, SZGI_DTYPE_F32, 600, 700, "square.weight");
    model_add(&model, SZGI_DTYPE_F32, 60, 40000, "wide.weight");
    model_write(&model, NULL);
    int64_t largest = 40000 * 60 * 8;
    ck_assert_int_eq(status_with(&model, 0, largest * 3 / 4), 0);
    ck_assert_int_eq(status_with(&model, 0, largest / 16), 4);
    model_close(&model);
}
END_TEST

/* The Gram matrix and the vectors are all that --top needs: far less than the matrix as doubles. */
START_TEST(the_largest_values_stay_below_their_bytes) {
    if (SANITIZED)
        return;
    test_model model;
    model_open(&model);
    model_add(&model, SZGI_DTYPE_F32, 6000, 900, "a.weight");
    model_write(&model, NULL);
    const szgi_top_options options = {.count = 4};
    int64_t bytes = szgi_top_bytes((const int64_t[]){6000, 900}, &options, 1);
    ck_assert_int_lt(bytes, 6000 * 900 * 8 / 2);
    ck_assert_int_eq(status_with(&model, 4, bytes + (6 << 20)), 0); /* tables, the heap's own */
    ck_assert_int_eq(status_with(&model, 4, bytes / 2), 4);
    model_close(&model);
}
END_TEST

TEST_FILE("limits") {
    test_add(suite, "weights_that_change_meanwhile", weights_that_change_meanwhile);
    test_add(suite, "cancelling", cancelling);
    test_add(suite, "refused_allocations", refused_allocations);
    test_add(suite, "memory_stays_below_the_largest_tensor", memory_stays_below_the_largest_tensor);
    test_add(suite, "the_largest_values_stay_below_their_bytes",
             the_largest_values_stay_below_their_bytes);
}
