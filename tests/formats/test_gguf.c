#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/gguf.h"
#include "gguf_file.h"
#include "scratch.h"

/* tests/data/gguf, made by tools/gguf-oracle; or a folder that it made of another seed. */
static const char *data_path(const char *name) {
    static char path[4096];
    const char *other = getenv("SZG_TEST_GGUF"), *data = getenv("SZG_TEST_DATA");
    ck_assert_msg(other || data, "SZG_TEST_DATA is the folder tests/data of the source");
    if (other)
        snprintf(path, sizeof path, "%s/%s", other, name);
    else
        snprintf(path, sizeof path, "%s/gguf/%s", data, name);
    return path;
}

/* ---- Blocks ---- */

/* The bits of a float32, all NaNs being one: their payload says nothing. */
static uint32_t bits_of(double value) {
    float single = (float)value;
    uint32_t bits;
    if (isnan(value))
        return 0x7FC00000;
    ck_assert((double)single == value); /* what is read is a float32 */
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static void check_bits(const char *name, int64_t count, const double *got, const double *want) {
    for (int64_t i = 0; i < count; i++)
        ck_assert_msg(bits_of(got[i]) == bits_of(want[i]), "%s: element %lld is %a, gguf-py has %a",
                      name, (long long)i, got[i], want[i]);
}

static int64_t first_bad_of(int64_t count, const double *value) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(value[i]))
            return i;
    return -1;
}

/* Elements `from` .. `from + part - 1` of the tensor are those of `want`. */
static void check_part(const szgi_tensor *tensor, int64_t from, int64_t part, const double *want) {
    double *got = new_numbers(part);
    ck_szg_ok(szgi_tensor_read(test_context(), tensor, from, part, got));
    check_bits(tensor->name, part, got, want + from);
    szgi_memory_free(got);
}

START_TEST(blocks_are_read_as_gguf_py_reads_them) {
    szgi_safetensors *blocks, *floats;
    szgi_stream stream = {.seed = test_seed(), .purpose = 1};
    ck_szg_ok(szgi_gguf_open(test_context(), data_path("blocks.gguf"), &blocks));
    ck_szg_ok(szgi_safetensors_open(test_context(), data_path("blocks.safetensors"), &floats));
    ck_assert_int_eq(szgi_safetensors_count(blocks), 15);
    ck_assert_int_eq(szgi_safetensors_count(floats), 15);
    for (int64_t i = 0; i < 15; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(blocks, i);
        const szgi_tensor *oracle = szgi_safetensors_find(floats, tensor->name);
        ck_assert_ptr_nonnull(oracle);
        ck_assert_int_eq(tensor->dtype, SZGI_DTYPE_BLOCKS);
        ck_assert_str_eq(tensor->dtype_name, tensor->name); /* each is called as its type */
        ck_assert_int_eq(tensor->dims, 2);
        ck_assert_int_eq(tensor->shape[0], oracle->shape[0]);
        ck_assert_int_eq(tensor->shape[1], oracle->shape[1]);
        double *want = new_numbers(oracle->count);
        int64_t bad;
        ck_szg_ok(szgi_tensor_read(test_context(), oracle, 0, oracle->count, want));
        check_part(tensor, 0, tensor->count, want);
        for (uint64_t trial = 0; trial < 50; trial++) {
            int64_t from = szgi_random_below(&stream, 2 * trial, tensor->count);
            int64_t part = szgi_random_below(&stream, 2 * trial + 1, tensor->count - from + 1);
            check_part(tensor, from, part, want);
        }
        ck_szg_ok(szgi_tensor_first_bad(test_context(), tensor, &bad));
        ck_assert_int_eq(bad, first_bad_of(oracle->count, want));
        ck_assert_int_ge(bad, 0); /* an infinite scale is among the corners */
        szgi_memory_free(want);
    }
    szgi_safetensors_close(&blocks);
    szgi_safetensors_close(&floats);
}
END_TEST

/* The blocks of one type many times, in a file: longer than what is read at once. */
START_TEST(long_tensors_are_read_in_parts) {
    enum { TIMES = 100 };
    szgi_safetensors *blocks, *set;
    szgi_stream stream = {.seed = test_seed(), .purpose = 2};
    ck_szg_ok(szgi_gguf_open(test_context(), data_path("blocks.gguf"), &blocks));
    size_t size;
    char *bytes = scratch_read(data_path("blocks.gguf"), &size);
    for (int64_t i = 0; i < szgi_safetensors_count(blocks); i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(blocks, i);
        gguf_file file = {.version = 0};
        int64_t shape[] = {TIMES * tensor->shape[0], tensor->shape[1]}, count = tensor->count;
        static const uint32_t type[] = {20, 23, 39, 10, 11, 2, 3, 12, 6, 7, 13, 14, 8, 34, 35};
        double *one = new_numbers(count), *all = new_numbers(TIMES * count);
        gguf_bytes data = {NULL, 0, 0};
        for (int j = 0; j < TIMES; j++)
            gguf_add(&data, bytes + tensor->offset, (size_t)tensor->bytes);
        gguf_tensor(&file, "long", type[i], 2, shape, data.byte, data.size);
        gguf_write(&file, scratch_path("long.gguf"));
        ck_szg_ok(szgi_gguf_open(test_context(), scratch_path("long.gguf"), &set));
        ck_szg_ok(szgi_tensor_read(test_context(), tensor, 0, count, one));
        for (int j = 0; j < TIMES; j++)
            memcpy(all + j * count, one, (size_t)count * sizeof *one);
        tensor = szgi_safetensors_tensor(set, 0);
        check_part(tensor, 0, tensor->count, all);
        for (uint64_t trial = 0; trial < 5; trial++)
            check_part(tensor, szgi_random_below(&stream, trial, 3 * count),
                       (TIMES - 4) * count + (int64_t)trial, all);
        szgi_safetensors_close(&set);
        gguf_free(&file);
        free(data.byte);
        szgi_memory_free(one);
        szgi_memory_free(all);
    }
    free(bytes);
    szgi_safetensors_close(&blocks);
}
END_TEST

/* ---- Headers ---- */

static szg_status open_bytes(const gguf_bytes *image, szgi_safetensors **out) {
    /* In a block of exactly that size, so that a sanitizer sees one byte too many. */
    unsigned char *copy = malloc(image->size > 0 ? image->size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, image->byte, image->size);
    szg_status status =
        szgi_gguf_open_bytes(test_context(), "m.gguf", copy, (int64_t)image->size, out);
    if (*out)
        szgi_safetensors_close(out);
    free(copy);
    return status;
}

static szg_status open_file(const gguf_file *file, szgi_safetensors **out) {
    static gguf_bytes image; /* as long as the set: until the next call */
    free(image.byte);
    image = gguf_image(file);
    return szgi_gguf_open_bytes(test_context(), "m.gguf", image.byte, (int64_t)image.size, out);
}

static int64_t size_of(const gguf_file *file) {
    gguf_bytes image = gguf_image(file);
    free(image.byte);
    return (int64_t)image.size;
}

static const float six[] = {1, 2, 3, 4, 5, 6};
static const int64_t two_by_three[] = {2, 3};

/* Keys of every type, a vocabulary, and two tensors. */
static void fill(gguf_file *file) {
    static const int64_t numbers[] = {-1, 2, -3};
    const int8_t small = -8;
    const int64_t wide = -64;
    const uint64_t huge = UINT64_MAX;
    const double real = 0.1, infinite = INFINITY;
    gguf_key_text(file, "general.architecture", "test");
    gguf_key_u32(file, "u32", 4000000000u);
    gguf_key_f32(file, "f32", 0.5f);
    gguf_key(file, "i8", GGUF_I8);
    gguf_add(&file->keys, &small, 1);
    gguf_key(file, "yes", GGUF_BOOL);
    gguf_add(&file->keys, "\1", 1);
    gguf_key(file, "i64", GGUF_I64);
    gguf_add(&file->keys, &wide, 8);
    gguf_key(file, "huge", GGUF_U64);
    gguf_add(&file->keys, &huge, 8);
    gguf_key(file, "f64", GGUF_F64);
    gguf_add(&file->keys, &real, 8);
    gguf_key(file, "infinite", GGUF_F64);
    gguf_add(&file->keys, &infinite, 8);
    gguf_key(file, "numbers", GGUF_ARRAY);
    gguf_add_u32(&file->keys, GGUF_I64);
    gguf_add_u64(&file->keys, 3);
    gguf_add(&file->keys, numbers, sizeof numbers);
    gguf_key(file, "vocabulary", GGUF_ARRAY);
    gguf_add_u32(&file->keys, GGUF_TEXT);
    gguf_add_u64(&file->keys, 2);
    gguf_add_text(&file->keys, "");
    gguf_add_text(&file->keys, "a token");
    gguf_tensor(file, "w", 0, 2, two_by_three, six, sizeof six);
    gguf_tensor(file, "empty", 0, 2, (int64_t[]){0, 5}, NULL, 0);
    gguf_tensor(file, "ids", 26, 1, (int64_t[]){2}, "\1\0\0\0\2\0\0\0", 8);
}

START_TEST(header_is_read) {
    static const struct {
        uint32_t version, alignment;
    } kinds[] = {{3, 0}, {2, 0}, {3, 64}, {3, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        gguf_file file = {.version = kinds[i].version, .alignment = kinds[i].alignment};
        szgi_safetensors *set;
        double value[6];
        int64_t ids[2];
        char text[32];
        fill(&file);
        if (kinds[i].alignment)
            gguf_key_u32(&file, "general.alignment", kinds[i].alignment);
        ck_szg_ok(open_file(&file, &set));
        ck_assert_int_eq(szgi_safetensors_count(set), 3);
        const szgi_tensor *w = szgi_safetensors_find(set, "w");
        ck_assert_str_eq(szgi_tensor_shape_text(w, text, sizeof text), "[2, 3]");
        ck_assert_str_eq(w->dtype_name, "F32");
        ck_assert_int_eq(w->dtype, SZGI_DTYPE_F32);
        ck_szg_ok(szgi_tensor_read(test_context(), w, 0, 6, value));
        for (int j = 0; j < 6; j++)
            ck_assert(value[j] == (double)six[j]);
        ck_assert_int_eq(szgi_safetensors_find(set, "empty")->count, 0);
        ck_szg_ok(szgi_tensor_read_integers(test_context(), szgi_safetensors_find(set, "ids"), 0, 2,
                                            ids));
        ck_assert_int_eq(ids[0], 1);
        ck_assert_int_eq(ids[1], 2);
        szgi_safetensors_close(&set);
        gguf_free(&file);
    }
}
END_TEST

/* Nothing follows the directory where no tensor has data; one without sizes is one number. */
START_TEST(empty_tensors_need_no_data) {
    for (int number = 0; number < 2; number++) {
        gguf_file file = {.version = 0};
        szgi_safetensors *set;
        double value = 0;
        if (number)
            gguf_tensor(&file, "t", 0, 0, NULL, six + 2, 4);
        else
            gguf_entry(&file, "t", 0, 1, (int64_t[]){0}, 0);
        ck_szg_ok(open_file(&file, &set));
        const szgi_tensor *tensor = szgi_safetensors_tensor(set, 0);
        ck_assert_int_eq(tensor->dims, !number);
        ck_assert_int_eq(tensor->count, number);
        ck_assert_int_le(tensor->offset + tensor->bytes, size_of(&file));
        ck_szg_ok(szgi_tensor_read(test_context(), tensor, 0, number, &value));
        ck_assert(value == (number ? 3 : 0));
        szgi_safetensors_close(&set);
        gguf_free(&file);
    }
}
END_TEST

START_TEST(metadata_are_one_object) {
    gguf_file file = {.version = 0};
    szgi_safetensors *set;
    char *text;
    fill(&file);
    gguf_key(&file, "long", GGUF_ARRAY); /* of no model's layers */
    gguf_add_u32(&file.keys, GGUF_U8);
    gguf_add_u64(&file.keys, 5000);
    gguf_add(&file.keys, (unsigned char[5000]){0}, 5000);
    gguf_key(&file, "bytes", GGUF_TEXT);
    gguf_add_u64(&file.keys, 4);
    gguf_add(&file.keys,
             "a\0\xFF"
             "b",
             4);
    ck_szg_ok(open_file(&file, &set));
    ck_szg_ok(szgi_json_text(test_context(), szgi_gguf_metadata(set), 0, &text));
    ck_assert_str_eq(text, "{\"general.architecture\":\"test\",\"u32\":4000000000,\"f32\":0.5,"
                           "\"i8\":-8,\"yes\":true,\"i64\":-64,\"huge\":\"18446744073709551615\","
                           "\"f64\":0.1,\"infinite\":\"inf\",\"numbers\":[-1,2,-3],"
                           "\"vocabulary\":[],\"long\":[],\"bytes\":\"a\xEF\xBF\xBD\xEF\xBF\xBD"
                           "b\"}");
    int64_t number;
    ck_szg_fails(SZG_EDATA, "m.gguf: test.block_count: is missing",
                 szgi_json_as_integer(test_context(),
                                      szgi_json_member(szgi_gguf_metadata(set), "test.block_count"),
                                      &number));
    szgi_memory_free(text);
    szgi_safetensors_close(&set);
    gguf_free(&file);
}
END_TEST

/* ---- Hostile files ---- */

static void version_1(gguf_file *file) {
    file->version = 1;
}
static void version_4(gguf_file *file) {
    file->version = 4;
}
static void big_endian(gguf_file *file) {
    file->version = 0x03000000;
}
static void many_keys(gguf_file *file) {
    file->key_count = UINT64_MAX;
}
static void many_tensors(gguf_file *file) {
    file->tensor_count = UINT64_MAX - 7;
}
static void some_keys_more(gguf_file *file) {
    file->key_count += 2;
}
static void key_of_no_type(gguf_file *file) {
    gguf_key(file, "odd", 13);
}
static void key_without_name(gguf_file *file) {
    gguf_key_u32(file, "", 1);
}
static void key_not_utf8(gguf_file *file) {
    gguf_key_u32(file, "key\xFF", 1);
}
static void key_twice(gguf_file *file) {
    gguf_key_u32(file, "f32", 1);
}
static void key_endless(gguf_file *file) {
    gguf_add_u64(&file->keys, UINT64_MAX);
    file->key_count++;
}
static void text_endless(gguf_file *file) {
    gguf_key(file, "text", GGUF_TEXT);
    gguf_add_u64(&file->keys, (uint64_t)1 << 63);
}
static void array_of(gguf_file *file, uint32_t type, uint64_t count) {
    gguf_key(file, "list", GGUF_ARRAY);
    gguf_add_u32(&file->keys, type);
    gguf_add_u64(&file->keys, count);
}
static void array_of_arrays(gguf_file *file) {
    array_of(file, GGUF_ARRAY, 1);
}
static void array_of_no_type(gguf_file *file) {
    array_of(file, 99, 1);
}
static void texts_endless(gguf_file *file) {
    array_of(file, GGUF_TEXT, (uint64_t)1 << 61);
}
static void text_in_array_endless(gguf_file *file) {
    array_of(file, GGUF_TEXT, 1);
    gguf_add_u64(&file->keys, UINT64_MAX - 3);
}
static void reals_endless(gguf_file *file) {
    array_of(file, GGUF_F64, (uint64_t)1 << 61);
}
static void few_reals_endless(gguf_file *file) {
    array_of(file, GGUF_F64, 1000);
}
static void neither_true_nor_false(gguf_file *file) {
    gguf_key(file, "flag", GGUF_BOOL);
    gguf_add(&file->keys, "\2", 1);
}
static void alignment_of_0(gguf_file *file) {
    gguf_key_u32(file, "general.alignment", 0);
}
static void alignment_of_24(gguf_file *file) {
    gguf_key_u32(file, "general.alignment", 24);
}
static void alignment_is_text(gguf_file *file) {
    gguf_key_text(file, "general.alignment", "32");
}
static void tensor_twice(gguf_file *file) {
    gguf_tensor(file, "w", 0, 1, (int64_t[]){1}, six, 4);
}
static void tensor_not_utf8(gguf_file *file) {
    gguf_tensor(file, "w\xC0\x80", 0, 1, (int64_t[]){1}, six, 4);
}
static void five_sizes(gguf_file *file) {
    gguf_entry(file, "t", 0, 5, (int64_t[]){1, 1, 1, 1, 1}, 96);
}
static void endless_sizes(gguf_file *file) {
    gguf_add_text(&file->directory, "t");
    gguf_add_u32(&file->directory, UINT32_MAX);
    file->tensor_count++;
}
static void size_negative(gguf_file *file) {
    gguf_entry(file, "t", 0, 1, (int64_t[]){-1}, 96);
}
static void sizes_overflow(gguf_file *file) {
    gguf_entry(file, "t", 0, 2, (int64_t[]){(int64_t)1 << 40, (int64_t)1 << 40}, 96);
}
static void half_a_block(gguf_file *file) {
    gguf_entry(file, "t", 8, 2, (int64_t[]){3, 48}, 96);
}
static void offset_beyond(gguf_file *file) {
    gguf_entry(file, "t", 0, 1, (int64_t[]){4}, 1 << 20);
}
static void offset_huge(gguf_file *file) {
    gguf_entry(file, "t", 0, 1, (int64_t[]){4}, UINT64_MAX - 31);
}
static void offset_at_63_bits(gguf_file *file) {
    gguf_entry(file, "t", 0, 1, (int64_t[]){4}, INT64_MAX - 31);
}
static void not_aligned(gguf_file *file) {
    gguf_entry(file, "t", 0, 1, (int64_t[]){1}, 24);
}
static void overlapping(gguf_file *file) {
    gguf_entry(file, "t", 0, 1, (int64_t[]){1}, 0);
}
static void hole(gguf_file *file) {
    gguf_add(&file->data, (char[128]){0}, 128);
    gguf_tensor(file, "t", 0, 1, (int64_t[]){1}, six, 4);
}
static void bytes_after(gguf_file *file) {
    gguf_add(&file->data, (char[64]){0}, 64);
}
static void old_blocks(gguf_file *file) {
    gguf_key_u32(file, "general.quantization_version", 1);
    gguf_tensor(file, "t", 2, 1, (int64_t[]){32}, (char[18]){0}, 18);
}

START_TEST(hostile_files_are_refused) {
    static const struct {
        void (*change)(gguf_file *file);
        const char *words;
    } hostile[] = {
        {version_1, "m.gguf: is of GGUF version 1, and szego reads 2 and 3: convert"},
        {version_4, "m.gguf: is of GGUF version 4"},
        {big_endian, "m.gguf: is a big-endian GGUF file"},
        {many_keys, "the metadata: 18446744073709551615 keys do not fit"},
        {many_tensors, "the directory: 18446744073709551608 tensors do not fit"},
        {some_keys_more, "m.gguf: "},
        {key_of_no_type, "m.gguf: odd: has a value of type 13"},
        {key_without_name, "key 12 of 12 of the metadata: its name has 0 bytes"},
        {key_not_utf8, "its name \"key\\xff\" is not UTF-8"},
        {key_twice, "m.gguf: f32: is there twice"},
        {key_endless, "its name has 18446744073709551615 bytes, and 1 to 4096"},
        {text_endless, "text: 9223372036854775808 bytes of text do not fit"},
        {array_of_arrays, "m.gguf: list: is an array of arrays"},
        {array_of_no_type, "m.gguf: list: has a value of type 99"},
        {texts_endless, "list: 2305843009213693952 texts do not fit"},
        {text_in_array_endless, "list: 18446744073709551612 bytes of text do not fit"},
        {reals_endless, "list: 2305843009213693952 numbers do not fit"},
        {few_reals_endless, "list: 1000 numbers do not fit"},
        {neither_true_nor_false, "m.gguf: flag: is neither true nor false"},
        {alignment_of_0, "m.gguf: general.alignment: is 0, which is no power of two"},
        {alignment_of_24, "m.gguf: general.alignment: is 24, which is no power of two"},
        {alignment_is_text, "m.gguf: general.alignment: is a text, not an integer"},
        {tensor_twice, "m.gguf: tensor w: is there twice: the file is damaged"},
        {tensor_not_utf8, "its name \"w\\xc0\\x80\" is not UTF-8"},
        {five_sizes, "m.gguf: tensor t: has more than 4 sizes"},
        {endless_sizes, "m.gguf: tensor t: has more than 4 sizes"},
        {size_negative, "m.gguf: tensor t: has a size beyond 64 bits"},
        {sizes_overflow, "m.gguf: tensor t: its sizes multiply beyond 64 bits"},
        {half_a_block, "m.gguf: tensor t: rows of 48 elements are no whole blocks of 32, which "
                       "type Q8_0 has"},
        {offset_beyond, "m.gguf: tensor t: 16 bytes from byte 1048576 on reach beyond"},
        {offset_huge, "m.gguf: tensor t: its offset is beyond 63 bits"},
        {offset_at_63_bits, "reach beyond"},
        {not_aligned, "m.gguf: tensor t: begins at byte 24 of the data, which is no multiple of "
                      "the alignment 32"},
        {overlapping, "begins at byte 0 of the data, within the tensor before it"},
        {hole, "m.gguf: tensor t: begins at byte 192 of the data, and bytes from 40 on belong to "
               "no tensor"},
        {bytes_after, "m.gguf: 40 bytes after the last tensor belong to none: if the tensors are "
                      "known to be whole, cut the file with: truncate -s -40 m.gguf"},
        {old_blocks, "m.gguf: general.quantization_version: is 1, and szego reads"},
    };
    gguf_file file = {.version = 0};
    szgi_safetensors *set;
    fill(&file); /* without a change it is read */
    ck_szg_ok(open_file(&file, &set));
    szgi_safetensors_close(&set);
    gguf_free(&file);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        file = (gguf_file){.version = 0};
        fill(&file);
        hostile[i].change(&file);
        ck_szg_fails(SZG_EDATA, hostile[i].words, open_file(&file, &set));
        ck_assert_ptr_null(set);
        gguf_free(&file);
    }
}
END_TEST

/* Every beginning of a file is refused with words of a truncated file, down to the empty one. */
START_TEST(truncated_files_are_refused) {
    gguf_file file = {.version = 0};
    szgi_safetensors *set = NULL;
    fill(&file);
    gguf_bytes image = gguf_image(&file), part = image;
    for (part.size = 0; part.size < image.size; part.size++)
        ck_szg_fails(SZG_EDATA, "fetch it again", open_bytes(&part, &set));
    ck_szg_ok(open_bytes(&image, &set));
    free(image.byte);
    gguf_free(&file);
}
END_TEST

/* Any byte of a header may be any other: then the file is read or refused. */
START_TEST(changed_bytes_are_survived) {
    gguf_file file = {.version = 0};
    szgi_safetensors *set = NULL;
    szgi_stream stream = {.seed = test_seed(), .purpose = 3};
    fill(&file);
    gguf_bytes image = gguf_image(&file);
    int64_t trials = test_trials(20000), header = (int64_t)(image.size - file.data.size);
    for (uint64_t trial = 0; trial < (uint64_t)trials; trial++) {
        int64_t at = szgi_random_below(&stream, 2 * trial, header);
        unsigned char before = image.byte[at];
        image.byte[at] = (unsigned char)szgi_random_word(&stream, 2 * trial + 1);
        szg_status status = open_bytes(&image, &set);
        ck_assert(status == SZG_OK || status == SZG_EDATA);
        if (status != SZG_OK)
            ck_assert_msg(strncmp(szg_context_message(test_context()), "m.gguf: ", 8) == 0, "%s",
                          szg_context_message(test_context()));
        image.byte[at] = before;
    }
    free(image.byte);
    gguf_free(&file);
}
END_TEST

/* A type without a reader costs its tensor alone. */
START_TEST(unread_types_are_named) {
    gguf_file file = {.version = 0};
    szgi_safetensors *set;
    double value;
    fill(&file);
    gguf_tensor(&file, "grid", 16, 1, (int64_t[]){256}, (char[66]){0}, 66);
    gguf_tensor(&file, "later", 77, 1, (int64_t[]){256}, (char[64]){0}, 64);
    gguf_tensor(&file, "v", 30, 1, (int64_t[]){2}, "\x80\x3F\0\xC0", 4);
    ck_szg_ok(open_file(&file, &set));
    const szgi_tensor *grid = szgi_safetensors_find(set, "grid");
    ck_assert_int_eq(grid->dtype, SZGI_DTYPE_OTHER);
    ck_szg_fails(SZG_EDATA,
                 "m.gguf: tensor grid: type IQ2_XXS is not a weight's type: szego reads F64, F32, "
                 "F16, BF16, Q8_0",
                 szgi_tensor_read(test_context(), grid, 0, 1, &value));
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), "llama-quantize"));
    ck_szg_fails(
        SZG_EDATA, "m.gguf: tensor later: type GGML-77 is not a weight's type",
        szgi_tensor_read(test_context(), szgi_safetensors_find(set, "later"), 0, 1, &value));
    ck_szg_ok(szgi_tensor_read(test_context(), szgi_safetensors_find(set, "v"), 1, 1, &value));
    ck_assert(value == -2);
    szgi_safetensors_close(&set);
    gguf_free(&file);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szgi_safetensors *set = NULL;
    ck_survives_failed_allocations(
        20, szgi_gguf_open(test_context(), data_path("llama/model.gguf"), &set));
    szgi_safetensors_close(&set);
}
END_TEST

static szg_status open_and_close(szg_context *context, const char *path) {
    szgi_safetensors *set;
    szg_status status = szgi_gguf_open(context, path, &set);
    szgi_safetensors_close(&set);
    return status;
}

START_TEST(opening_looks_for_cancellation) {
    test_looks looks;
    szg_context *context = test_counting_context(&looks);
    gguf_file file = {.version = 0};
    fill(&file);
    gguf_key(&file, "texts", GGUF_ARRAY); /* 200,008 bytes: four windows of 65,536 */
    gguf_add_u32(&file.keys, GGUF_TEXT);
    gguf_add_u64(&file.keys, 20000);
    for (int i = 0; i < 20000; i++)
        gguf_add_text(&file.keys, "ab");
    gguf_write(&file, scratch_path("looks.gguf"));
    ck_looks_for_cancellation(&looks, 4, open_and_close(context, scratch_path("looks.gguf")));
    szg_context_close(&context);
    gguf_free(&file);
}
END_TEST

/* ---- Parts and folders ---- */

/* Part `number` of `parts` with tensors named `names`, a letter each. */
static void write_part(const char *path, int number, int parts, const char *names, int total) {
    gguf_file file = {.version = 0};
    if (number == 0)
        gguf_key_text(&file, "general.architecture", "test");
    gguf_key_u32(&file, "split.no", (uint32_t)number);
    gguf_key_u32(&file, "split.count", (uint32_t)parts);
    gguf_key_u32(&file, "split.tensors.count", (uint32_t)total);
    for (; *names; names++)
        gguf_tensor(&file, (char[]){*names, 0}, 0, 1, (int64_t[]){1}, six + (*names - 'a'), 4);
    gguf_write(&file, path);
    gguf_free(&file);
}

static const char *in_folder(const char *folder, const char *name) {
    static char path[8][512];
    static int last;
    last = (last + 1) % 8;
    snprintf(path[last], sizeof path[last], "%s/%s", folder, name);
    return path[last];
}

START_TEST(parts_are_one_model) {
    const char *folder = scratch_folder();
    static const char *const names[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                                        "m-00003-of-00003.gguf"};
    static const char *const tensors[] = {"", "cb", "a"};
    szgi_safetensors *set;
    double value;
    for (int i = 0; i < 3; i++)
        write_part(in_folder(folder, names[i]), i, 3, tensors[i], 3);
    for (int i = 0; i < 3; i++) {
        ck_szg_ok(szgi_gguf_open(test_context(), in_folder(folder, names[i]), &set));
        ck_assert_int_eq(szgi_safetensors_count(set), 3);
        ck_assert(szgi_json_has(szgi_gguf_metadata(set), "general.architecture"));
        for (int j = 0; j < 3; j++) {
            ck_szg_ok(
                szgi_tensor_read(test_context(), szgi_safetensors_tensor(set, j), 0, 1, &value));
            ck_assert(value == (double)six[j]);
        }
        szgi_safetensors_close(&set);
    }
    write_part(in_folder(folder, names[1]), 1, 3, "ca", 3);
    ck_szg_fails(SZG_EDATA, "tensor a: is in m-0000",
                 szgi_gguf_open(test_context(), in_folder(folder, names[0]), &set));
    write_part(in_folder(folder, names[1]), 1, 3, "b", 3);
    ck_szg_fails(SZG_EDATA,
                 "split.tensors.count: 3 tensors belong to the model, and its parts hold "
                 "2",
                 szgi_gguf_open(test_context(), in_folder(folder, names[0]), &set));
    write_part(in_folder(folder, names[1]), 0, 3, "bc", 3);
    ck_szg_fails(SZG_EDATA, "m-00002-of-00003.gguf: says that it is part 1 of 3",
                 szgi_gguf_open(test_context(), in_folder(folder, names[0]), &set));
    ck_assert_int_eq(unlink(in_folder(folder, names[1])), 0);
    ck_szg_fails(SZG_EDATA, "m-00002-of-00003.gguf: is missing: the model has 3 parts",
                 szgi_gguf_open(test_context(), in_folder(folder, names[2]), &set));
    write_part(in_folder(folder, "renamed.gguf"), 1, 3, "bc", 3);
    ck_szg_fails(SZG_EDATA, "renamed.gguf: split.count: is 3, so this is one of several parts",
                 szgi_gguf_open(test_context(), in_folder(folder, "renamed.gguf"), &set));
}
END_TEST

START_TEST(folders_and_files_are_told_apart) {
    const char *folder = scratch_folder();
    char *found;
    ck_szg_ok(szgi_gguf_find(test_context(), folder, &found));
    ck_assert_ptr_null(found);
    ck_szg_ok(szgi_gguf_find(test_context(), in_folder(folder, "none"), &found));
    ck_assert_ptr_null(found);
    write_part(in_folder(folder, "m-00001-of-00002.gguf"), 0, 2, "a", 2);
    write_part(in_folder(folder, "m-00002-of-00002.gguf"), 1, 2, "b", 2);
    ck_szg_ok(szgi_gguf_find(test_context(), folder, &found));
    ck_assert_str_eq(found, in_folder(folder, "m-00001-of-00002.gguf"));
    szgi_memory_free(found);
    write_part(in_folder(folder, "m-00001-of-00003.gguf"), 0, 3, "a", 2);
    ck_szg_fails(SZG_EDATA,
                 "holds several GGUF models, m-00001-of-00002.gguf and "
                 "m-00001-of-00003.gguf: name the file",
                 szgi_gguf_find(test_context(), folder, &found));
    ck_assert_ptr_null(found);
    ck_szg_ok(szgi_gguf_find(test_context(), in_folder(folder, "m-00001-of-00003.gguf"), &found));
    ck_assert_ptr_nonnull(found);
    szgi_memory_free(found);
    /* Beside safetensors GGUF files are another form of the same model. */
    ck_assert_int_eq(
        rename(in_folder(folder, "m-00001-of-00003.gguf"), in_folder(folder, "m.safetensors")), 0);
    ck_szg_ok(szgi_gguf_find(test_context(), folder, &found));
    ck_assert_ptr_null(found);
    scratch_remove(folder);
}
END_TEST

TEST_FILE("gguf") {
    test_add(suite, "blocks_are_read_as_gguf_py_reads_them", blocks_are_read_as_gguf_py_reads_them);
    test_add(suite, "long_tensors_are_read_in_parts", long_tensors_are_read_in_parts);
    test_add(suite, "header_is_read", header_is_read);
    test_add(suite, "empty_tensors_need_no_data", empty_tensors_need_no_data);
    test_add(suite, "metadata_are_one_object", metadata_are_one_object);
    test_add(suite, "hostile_files_are_refused", hostile_files_are_refused);
    test_add(suite, "truncated_files_are_refused", truncated_files_are_refused);
    test_add(suite, "changed_bytes_are_survived", changed_bytes_are_survived);
    test_add(suite, "unread_types_are_named", unread_types_are_named);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
    test_add(suite, "opening_looks_for_cancellation", opening_looks_for_cancellation);
    test_add(suite, "parts_are_one_model", parts_are_one_model);
    test_add(suite, "folders_and_files_are_told_apart", folders_and_files_are_told_apart);
}
