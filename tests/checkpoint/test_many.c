/* A hundred thousand layers of garbage: every layer has its row, few have a warning, and the
 * processor time grows with their number alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "checkpoint/diff.h"
#include "model.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SECONDS = 300 };
#else
enum { SECONDS = 30 };
#endif
enum { LAYERS = 100000 };

/* Three tensors of one number for each layer: no shape is right. */
static void write_garbage(const char *folder) {
    static const char *const names[] = {"self_attn.q_proj", "self_attn.k_proj", "input_layernorm"};
    char path[128], *header;
    size_t size;
    FILE *text = open_memstream(&header, &size);
    ck_assert_ptr_nonnull(text);
    for (int64_t i = 0; i < 3 * LAYERS; i++)
        fprintf(text,
                "%s\"model.layers.%" PRId64 ".%s.weight\":{\"dtype\":\"F32\",\"shape\":[1],"
                "\"data_offsets\":[%" PRId64 ",%" PRId64 "]}",
                i ? "," : "{", i / 3, names[i % 3], 4 * i, 4 * i + 4);
    fputs("}", text);
    ck_assert_int_eq(fclose(text), 0);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    FILE *file = fopen(path, "wb");
    const uint64_t length = size;
    char *numbers = calloc(3 * LAYERS, 4);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(&length, sizeof length, 1, file), 1);
    ck_assert_uint_eq(fwrite(header, 1, size, file), size);
    ck_assert_uint_eq(fwrite(numbers, 4, 3 * LAYERS, file), 3 * LAYERS);
    ck_assert_int_eq(fclose(file), 0);
    free(numbers), free(header);
    snprintf(path, sizeof path, "%s/config.json", folder);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "{\"model_type\":\"llama\",\"num_hidden_layers\":%d,\"num_attention_heads\":2,"
            "\"num_key_value_heads\":1,\"head_dim\":2,\"hidden_size\":4,\"rope_theta\":1e4}",
            (int)LAYERS);
    ck_assert_int_eq(fclose(file), 0);
}

static void count_warnings(void *user, szg_severity severity, const char *text) {
    (void)text;
    *(int64_t *)user += severity == SZG_WARNING;
}

static double processor_seconds(void) {
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

/* Both take 3 s. Looking through all layers for each tensor, the first alone took more than 80. */
START_TEST(a_hundred_thousand_bad_layers) {
    szg_context *context;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szgi_diff_tables changes;
    int64_t warnings = 0;
    const char *folder = scratch_folder();
    write_garbage(folder);
    ck_szg_ok(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options), .threads = 2,
                                                      .message = count_warnings, .user = &warnings},
                               &context));
    double begin = processor_seconds();
    ck_szg_ok(szg_checkpoint_open(context, folder, NULL, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(context, checkpoint, NULL, &tables));
    ck_assert_int_eq(tables.bad, LAYERS);
    ck_assert_int_eq(szg_table_rows(tables.summary), LAYERS);
    ck_assert_int_eq(szg_table_rows(tables.tensors), 3 * LAYERS);
    ck_assert_int_eq(warnings, 21); /* twenty, and how many more there are */
    ck_assert_str_eq(cell_text(tables.tensors, 0, "used"), "none"); /* no norm has one gain */
    ck_assert_str_eq(cell_text(tables.tensors, 1, "used"), "key");
    szg_checkpoint_tables_close(&tables);
    warnings = 0;
    ck_szg_ok(szgi_diff_open(context, false, &changes));
    ck_szg_ok(szgi_checkpoint_diff(context, checkpoint, checkpoint, -1,
                                   &(szgi_diff_options){.top = 1}, &changes));
    ck_assert_int_eq(szg_table_rows(changes.diff), LAYERS);
    ck_assert_int_eq(warnings, 21);
    ck_assert_msg(processor_seconds() - begin < SECONDS, "%g s", processor_seconds() - begin);
    szgi_diff_close(&changes);
    szg_checkpoint_close(&checkpoint);
    szg_context_close(&context);
    scratch_remove(folder);
}
END_TEST

TEST_FILE("many") {
    test_add(suite, "a_hundred_thousand_bad_layers", a_hundred_thousand_bad_layers);
}
