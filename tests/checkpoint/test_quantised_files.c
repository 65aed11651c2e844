/* Weights as the libraries that own their formats dequantise them: files of tools/quantised-oracle.
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/checkpoint_private.h"
#include "model.h"

/* tests/data/quantised, or a folder that the tool made of another seed. */
static const char *data_path(const char *kind, const char *file) {
    static char path[4096];
    const char *other = getenv("SZG_TEST_QUANTISED"), *data = getenv("SZG_TEST_DATA");
    ck_assert_msg(other || data, "SZG_TEST_DATA is the folder tests/data of the source");
    snprintf(path, sizeof path, "%s%s/%s%s%s", other ? other : data, other ? "" : "/quantised",
             kind, *file ? "/" : "", file);
    return path;
}

/* What each kind is called, and by how much the library's numbers may differ: they are ours rounded
 * once to their type, plus `extra` roundings that it makes before. */
static const struct {
    const char *kind, *label;
    int extra;
} kinds[] = {
    {"awq", "dequantised from AWQ gemm, 4 bits, groups of 32", 0},
    {"bytes8", "dequantised from compressed-tensors, 8 bits, a scale a row", 0},
    {"bytes8_tensor", "dequantised from compressed-tensors, 8 bits, one scale", 0},
    {"bytes8_zeros", "dequantised from compressed-tensors, 8 bits, a scale a row, with zeros", 0},
    {"fbgemm", "F8_E4M3, scales by 1 x 64", 0},
    {"float8_block", "F8_E4M3, scales by 16 x 48", 0},
    {"float8_channel", "F8_E4M3, scales by 1 x 64", 0},
    {"float8_tensor", "F8_E4M3, scales by 32 x 64", 0},
    {"fp4", "dequantised from bitsandbytes FP4, blocks of 64", 0},
    {"fp8_block", "F8_E4M3, scales by 24 x 40", 0},
    {"fp8_powers", "F8_E4M3, scales by 16 x 16", 0},
    {"fp8_qscale", "F8_E4M3, scales by 32 x 64", 0},
    {"fp8_scale", "F8_E4M3, scales by 16 x 32", 0},
    {"fp8_tensor", "F8_E4M3, scales by 32 x 64", 0},
    {"gptq2", "dequantised from GPTQ v2, 2 bits, 2 groups", 0},
    {"gptq3", "dequantised from GPTQ, 3 bits, 2 groups, act-order", 0},
    {"gptq4", "dequantised from GPTQ, 4 bits, 4 groups, act-order", 0},
    {"gptq4_symmetric", "dequantised from GPTQ, 4 bits, 1 group", 0},
    {"gptq8", "dequantised from GPTQ v2, 8 bits, 1 group", 0},
    {"int8", "dequantised from bitsandbytes int8", 2}, /* a product, and the constant 1/127 */
    {"mlx2", "dequantised from MLX, 2 bits, groups of 32", -1}, /* the product before the sum */
    {"mlx3", "dequantised from MLX, 3 bits, groups of 32", -1},
    {"mlx4", "dequantised from MLX, 4 bits, groups of 64", -1},
    {"mlx5", "dequantised from MLX, 5 bits, groups of 32", -1},
    {"mlx6", "dequantised from MLX, 6 bits, groups of 64", -1},
    {"mlx8", "dequantised from MLX, 8 bits, groups of 32", -1},
    {"mxfp4", "dequantised from MXFP4, blocks of 32", 0},
    {"mxfp4_words", "dequantised from compressed-tensors MXFP4, groups of 32", 0},
    {"nf4", "dequantised from bitsandbytes NF4, blocks of 64", 0},
    {"nf4_nested", "dequantised from bitsandbytes NF4, blocks of 64, nested scales", 0},
    {"nvfp4", "dequantised from compressed-tensors NVFP4, groups of 16", 1}, /* the quotient */
    {"words3_zeros", "dequantised from compressed-tensors, 3 bits, groups of 64, with zeros", 0},
    {"words4", "dequantised from compressed-tensors, 4 bits, groups of 32", 0},
    {"words4_zeros", "dequantised from compressed-tensors, 4 bits, groups of 16, with zeros", 0},
    {"words8", "dequantised from compressed-tensors, 8 bits, groups of 64", 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* To nearest, ties to even, at so many bits: numbers here are far from the ends of every type. */
static double rounded(double value, int bits) {
    int exponent;
    double fraction = frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(fraction, bits)), exponent - bits);
}

static int bits_of(const szgi_tensor *tensor) {
    return 1 - (int)log2(szgi_tensor_roundoff(tensor)) - 1 + (tensor->dtype == SZGI_DTYPE_F64);
}

/* MLX rounds the product, of which the sum may cancel: its size is at most |sum| + |bias|. */
static double allowed(double want, double unit, int extra, double largest) {
    return extra < 0 ? unit * (fabs(want) + 2 * largest) : (extra + 1) * unit * fabs(want);
}

static void check_numbers(const char *kind, int extra, const szgi_tensor *oracle,
                          const szgi_tensor *tensor) {
    double *got = new_numbers(tensor->count), *want = new_numbers(oracle->count), largest = 0;
    double unit = szgi_tensor_roundoff(oracle);
    ck_assert_int_eq(tensor->count, oracle->count);
    ck_szg_ok(szgi_tensor_read(test_context(), tensor, 0, tensor->count, got));
    ck_szg_ok(szgi_tensor_read(test_context(), oracle, 0, oracle->count, want));
    for (int64_t i = 0; i < tensor->count; i++)
        largest = fmax(largest, fabs(want[i]));
    for (int64_t i = 0; i < tensor->count; i++) {
        bool good = extra == 0 ? rounded(got[i], bits_of(oracle)) == want[i]
                               : fabs(got[i] - want[i]) <= allowed(want[i], unit, extra, largest);
        ck_assert_msg(good, "%s: element %lld is %a, the library has %a", kind, (long long)i,
                      got[i], want[i]);
    }
    szgi_memory_free(got);
    szgi_memory_free(want);
}

/* Any part of a tensor is that part of the whole. */
static void check_parts(const char *kind, const szgi_tensor *tensor) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 33};
    double *whole = new_numbers(tensor->count), *part = new_numbers(tensor->count);
    ck_szg_ok(szgi_tensor_read(test_context(), tensor, 0, tensor->count, whole));
    for (int64_t t = 0, trials = test_trials(40); t < trials; t++) {
        int64_t from = szgi_random_below(&stream, (uint64_t)(2 * t), tensor->count);
        int64_t count = szgi_random_below(&stream, (uint64_t)(2 * t + 1), tensor->count - from + 1);
        ck_szg_ok(szgi_tensor_read(test_context(), tensor, from, count, part));
        ck_assert_msg(memcmp(part, whole + from, (size_t)count * sizeof *part) == 0,
                      "%s: %lld elements from %lld on differ", kind, (long long)count,
                      (long long)from);
    }
    szgi_memory_free(whole);
    szgi_memory_free(part);
}

static const char *weights_of(const szg_checkpoint_tables *tables) {
    for (int64_t row = 0; row < szg_table_rows(tables->architecture); row++)
        if (strcmp(cell_text(tables->architecture, row, "property"), "weights") == 0)
            return cell_text(tables->architecture, row, "value");
    return "none";
}

START_TEST(weights_are_those_of_the_libraries) {
    const char *name = "model.layers.0.self_attn.q_proj.weight", *kind = kinds[_i].kind;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szgi_safetensors *whole;
    ck_szg_ok(szgi_safetensors_open(test_context(), data_path(kind, "whole.safetensors"), &whole));
    ck_szg_ok(szg_checkpoint_open(test_context(), data_path(kind, ""), NULL, &checkpoint));
    const szgi_tensor *tensor = szgi_safetensors_find(checkpoint->tensors, name);
    ck_assert_ptr_nonnull(tensor);
    ck_assert_int_eq(tensor->dims, 2);
    check_numbers(kind, kinds[_i].extra, szgi_safetensors_find(whole, name), tensor);
    check_parts(kind, tensor);
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
    ck_assert_int_eq(tables.bad, 0);
    ck_assert_str_eq(weights_of(&tables), kinds[_i].label);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    szgi_safetensors_close(&whole);
}
END_TEST

static szg_status open_read_close(const char *folder) {
    szg_checkpoint *checkpoint;
    double value[128];
    SZG_TRY(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
    const szgi_tensor *tensor =
        szgi_safetensors_find(checkpoint->tensors, "model.layers.0.self_attn.q_proj.weight");
    szg_status status = szgi_tensor_read(test_context(), tensor, 1, 128, value);
    szg_checkpoint_close(&checkpoint);
    return status;
}

START_TEST(failed_allocations_are_survived) {
    static const char *const some[] = {"gptq4", "awq", "nf4_nested", "words4_zeros", "mlx3"};
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", data_path(some[_i], ""));
    ck_survives_failed_allocations(1, open_read_close(folder));
}
END_TEST

/* No folder is without a row here. */
START_TEST(every_folder_is_tried) {
    DIR *folder = opendir(data_path("", ""));
    int found = 0;
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        found += entry->d_name[0] != '.' && !strchr(entry->d_name, '.');
    closedir(folder);
    ck_assert_int_eq(found, KINDS);
}
END_TEST

TEST_FILE("quantised_files") {
    test_add_loop(suite, "weights_are_those_of_the_libraries", weights_are_those_of_the_libraries,
                  KINDS);
    test_add_loop(suite, "failed_allocations_are_survived", failed_allocations_are_survived, 5);
    test_add(suite, "every_folder_is_tried", every_folder_is_tried);
}
