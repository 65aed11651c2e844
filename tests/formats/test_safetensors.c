#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "formats/safetensors.h"

#include "scratch.h"

static const char *last_warning; /* of the context opened by with_warnings */

/* A file's bytes: length, header, then `data` zero bytes. Static; lives until the next call. */
static const unsigned char *image(const char *header, size_t data, int64_t *size) {
    static unsigned char bytes[65536];
    uint64_t length = strlen(header);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    *size = (int64_t)(8 + length + data);
    return bytes;
}

static szg_status open_image(const char *header, size_t data, szgi_safetensors **out) {
    int64_t size;
    const unsigned char *bytes = image(header, data, &size);
    return szgi_safetensors_open_bytes(test_context(), "m.safetensors", bytes, size, out);
}

static const char *write_image(const char *name, const char *header, size_t data) {
    int64_t size;
    const unsigned char *bytes = image(header, data, &size);
    return scratch_bytes(name, bytes, (size_t)size);
}

#define ENTRY(name, dtype, shape, from, to)                                                        \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #from "," #to   \
    "]}"

START_TEST(tensors_are_listed_by_name) {
    szgi_safetensors *set;
    char text[64];
    ck_szg_ok(open_image(
        "{\"__metadata__\":{\"format\":\"pt\"}," ENTRY("w", "F32", "[2,3]", 8, 32) "," ENTRY(
            "ids", "I64", "[1]", 0,
            8) "," ENTRY("empty", "F16", "[0,9223372036854775807,5]", 8,
                         8) "," ENTRY("zero_d", "BF16", "[]", 32,
                                      34) "," ENTRY("odd", "F8_E4M3", "[3]", 34,
                                                    37) "," ENTRY("new", "Q9", "[3]", 37,
                                                                  40) "}   ",
        40, &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 6);
    static const char *const names[] = {"empty", "ids", "new", "odd", "w", "zero_d"};
    for (int i = 0; i < 6; i++)
        ck_assert_str_eq(szgi_safetensors_tensor(set, i)->name, names[i]);
    const szgi_tensor *w = szgi_safetensors_find(set, "w");
    ck_assert_int_eq(w->dtype, SZGI_DTYPE_F32);
    ck_assert_int_eq(w->count, 6);
    ck_assert_int_eq(w->bytes, 24);
    ck_assert_str_eq(szgi_tensor_shape_text(w, text, sizeof text), "[2, 3]");
    ck_assert_str_eq(szgi_tensor_shape_text(w, text, 8), "[2...]");
    ck_assert_str_eq(w->file, "m.safetensors");
    ck_assert_int_eq(szgi_safetensors_find(set, "empty")->count, 0);
    ck_assert_int_eq(szgi_safetensors_find(set, "zero_d")->dims, 0);
    ck_assert_int_eq(szgi_safetensors_find(set, "zero_d")->count, 1);
    ck_assert_int_eq(szgi_safetensors_find(set, "ids")->dtype, SZGI_DTYPE_INTEGER);
    ck_assert_int_eq(szgi_safetensors_find(set, "new")->dtype, SZGI_DTYPE_OTHER);
    ck_assert_ptr_null(szgi_safetensors_find(set, "none"));
    ck_assert_str_eq(szgi_safetensors_metadata(set, "format"), "pt");
    ck_assert_ptr_null(szgi_safetensors_metadata(set, "none"));
    double x;
    ck_szg_fails(SZG_EDATA, "tensor ids: type I64 is not a weight's type",
                 szgi_tensor_read(test_context(), szgi_safetensors_find(set, "ids"), 0, 1, &x));
    szgi_safetensors_close(&set);
    ck_assert_ptr_null(set);
    ck_szg_ok(open_image("{}", 0, &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 0);
    ck_assert_ptr_null(szgi_safetensors_find(set, "w"));
    szgi_safetensors_close(&set);
    ck_szg_ok(open_image("{\"__metadata__\":{}}", 0, &set));
    szgi_safetensors_close(&set);
}
END_TEST

#define LEFT(text) "{\"__metadata__\":{\"szego.left_out\":\"" text "\"}"
#define LEFT_ENTRY(name, shape, from, to)                                                          \
    "\\\"" name "\\\":{\\\"dtype\\\":\\\"F32\\\",\\\"shape\\\":" shape                             \
    ",\\\"data_offsets\\\":[" #from "," #to "]}"

static szg_status try_image(const char *header, size_t data) {
    szgi_safetensors *set;
    SZG_TRY(open_image(header, data, &set));
    szgi_safetensors_close(&set);
    return SZG_OK;
}

/* Tensors of which the file has the entry alone: what is known of them is told, and no number.
 * Where another file, or this one, has the bytes they are read. */
START_TEST(what_was_left_out_is_not_read) {
    szgi_safetensors *set;
    double x[2];
    int64_t bad;
    static const char header[] = LEFT("{" LEFT_ENTRY("v", "[2,3]", 8, 32) "," LEFT_ENTRY(
        "w", "[5]", 100, 120) "}") "," ENTRY("w", "F32", "[2]", 0, 8) "}";
    ck_szg_ok(open_image(header, 8, &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 2);
    ck_assert_int_eq(szgi_safetensors_left_out(set), 1);
    const szgi_tensor *v = szgi_safetensors_find(set, "v"), *w = szgi_safetensors_find(set, "w");
    ck_assert(v->left_out && v->dims == 2 && v->count == 6 && v->bytes == 24 && !v->data);
    ck_assert(!w->left_out && w->count == 2);
    ck_szg_ok(szgi_tensor_read(test_context(), w, 0, 2, x));
    ck_szg_fails(SZG_EIO, "m.safetensors: tensor v: was not fetched",
                 szgi_tensor_read(test_context(), v, 0, 2, x));
    ck_szg_fails(SZG_EIO, "tensor v: was not fetched",
                 szgi_tensor_first_bad(test_context(), v, &bad));
    szgi_safetensors_close(&set);
    ck_szg_fails(SZG_EDATA, "v: 6 elements of type F32 take 24 bytes, and the header gives it 23",
                 open_image(LEFT("{" LEFT_ENTRY("v", "[2,3]", 8, 31) "}") "}", 0, &set));
    ck_szg_fails(SZG_EDATA, "not valid JSON", open_image(LEFT("{") "}", 0, &set));
    ck_szg_fails(SZG_EDATA, "not an object", open_image(LEFT("[]") "}", 0, &set));
    ck_survives_failed_allocations(1, try_image(header, 8));
}
END_TEST

/* Each malformed file is refused with the place and what to do. */
START_TEST(bad_headers_are_refused) {
    static const struct {
        const char *header;
        size_t data;
        const char *words;
    } bad[] = {
        {"[1]", 0, "byte 8: the header does not begin with {"},
        {"", 0, "byte 8: the header does not begin with {"},
        {"{\"w\xFF\":1}", 0, "byte 11: the header is not valid UTF-8"},
        {"{\"w\":1", 0, "not valid JSON"},
        {"{" ENTRY("w", "F32", "[1]", 0, 4) "," ENTRY("w", "F32", "[1]", 4, 8) "}", 8,
         "duplicate object key near '\"w\"'"},
        {"{\"w\":1}", 0, "w: is an integer, not an object"},
        {"{\"w\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "w.dtype: is missing"},
        {"{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "w.shape: is missing"},
        {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "w.data_offsets: is missing"},
        {"{" ENTRY("w", "F32", "[1.5]", 0, 4) "}", 4, "w.shape[0]: is a real number"},
        {"{" ENTRY("w", "F32", "[2,-1]", 0, 4) "}", 4, "w.shape[1]: a size of -1 is negative"},
        {"{" ENTRY("w", "F32", "[4294967296,4294967296]", 0, 4) "}", 4,
         "w.shape: the sizes multiply beyond"},
        {"{" ENTRY("w", "F32", "[9223372036854775807]", 0, 4) "}", 4,
         "w.shape: the sizes multiply beyond"},
        {"{" ENTRY("w", "F32", "[99999999999999999999]", 0, 4) "}", 4, "integer"},
        {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 8, "not 3"},
        {"{" ENTRY("w", "F32", "[1]", 0, 8) "}", 8,
         "w: 1 elements of type F32 take 4 bytes, and the header gives it 8"},
        {"{" ENTRY("w", "F4", "[3]", 0, 2) "}", 2, "w: 3 elements of type F4 take 2 bytes"},
        {"{" ENTRY("w", "F4", "[3]", 0, 1) "}", 1, "w: 3 elements of type F4 take 2 bytes"},
        {"{" ENTRY("w", "F32", "[0]", 0, 4) "}", 4, "w: 0 elements of type F32 take 0 bytes"},
        {"{" ENTRY("w", "F32", "[1]", 4, 0) "}", 4, "w.data_offsets: bytes 4 to 0 are not a range"},
        {"{" ENTRY("w", "F32", "[1]", -4, 0) "}", 4,
         "w.data_offsets: bytes -4 to 0 are not a range"},
        {"{" ENTRY("w", "F32", "[2]", 0, 8) "}", 4,
         "w.data_offsets: bytes 0 to 8 reach beyond the 4 bytes of data: the file is truncated"},
        {"{" ENTRY("w", "F32", "[1]", 9223372036854775803, 9223372036854775807) "}", 4, "beyond"},
        {"{" ENTRY("a", "F32", "[2]", 0, 8) "," ENTRY("b", "F32", "[2]", 4, 12) "}", 12,
         "tensors a and b overlap at byte 4"},
        {"{" ENTRY("a", "F32", "[1]", 0, 4) "," ENTRY("b", "F32", "[1]", 8, 12) "}", 12,
         "tensor b: begins at byte 8 of the data, and bytes from 4 on belong to no tensor"},
        {"{" ENTRY("a", "F32", "[1]", 4, 8) "}", 8, "tensor a: begins at byte 4"},
        {"{" ENTRY("a", "F32", "[1]", 0, 4) "}", 7,
         "3 bytes after the last tensor belong to none: if the tensors are known to be whole, cut "
         "the file with: truncate -s -3 m.safetensors"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "__metadata__.a: is an integer, not a text"},
        {"{\"__metadata__\":[]}", 0, "__metadata__: is an array, not an object"},
        {"{\"a\\u001b[31m\":1}", 0, "a\\x1b[31m: is an integer"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szgi_safetensors *set;
        ck_szg_fails(SZG_EDATA, bad[i].words, open_image(bad[i].header, bad[i].data, &set));
        ck_szg_fails(SZG_EDATA, "m.safetensors: ", open_image(bad[i].header, bad[i].data, &set));
        ck_assert_ptr_null(set);
    }
}
END_TEST

static szg_status open_bytes(const void *bytes, int64_t size, szgi_safetensors **out) {
    return szgi_safetensors_open_bytes(test_context(), "m.safetensors", bytes, size, out);
}

START_TEST(bad_lengths_and_other_formats_are_refused) {
    szgi_safetensors *set;
    ck_szg_fails(SZG_EDATA, "is truncated: 0 bytes", open_bytes(NULL, 0, &set));
    ck_szg_fails(SZG_EDATA, "is truncated: 7 bytes", open_bytes("\1\0\0\0\0\0\0", 7, &set));
    ck_szg_fails(SZG_EDATA, "a header of 100 bytes reaches beyond the file's 10",
                 open_bytes("\x64\0\0\0\0\0\0\0{}", 10, &set));
    ck_szg_fails(SZG_EDATA, "a header of 18446744073709551615 bytes exceeds",
                 open_bytes("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10, &set));
    ck_szg_fails(SZG_EDATA, "is a PyTorch file, which can run code when read; convert it",
                 open_bytes("PK\3\4 zip", 8, &set));
    ck_szg_fails(SZG_EDATA, "save_file", open_bytes("\x80\2}q\0.", 6, &set));
    ck_szg_fails(SZG_EDATA,
                 "m.safetensors: is a Git LFS pointer, not the file itself: git lfs pull",
                 open_bytes("version https://git-lfs.github.com/spec/v1\noid", 46, &set));
    ck_szg_fails(SZG_EDATA, "GGUF", open_bytes("GGUF\3\0\0\0", 8, &set));
    ck_szg_fails(
        SZG_EDATA, "torch.load('pytorch_model.bin'",
        szgi_safetensors_open(test_context(), scratch_text("pytorch_model.bin", "x"), &set));
    ck_szg_fails(SZG_EDATA, "torch.distributed.checkpoint.format_utils dcp_to_torch '",
                 szgi_safetensors_open(test_context(), scratch_text("__0_0.distcp", "x"), &set));
    ck_szg_fails(SZG_EDATA, "is a checkpoint of torch.distributed.checkpoint",
                 szgi_safetensors_open(test_context(), scratch_text(".metadata", "x"), &set));
    ck_szg_fails(SZG_EIO, "cannot be read",
                 szgi_safetensors_open(test_context(), scratch_path("none.safetensors"), &set));
    /* a header of 0x280 bytes begins like a pickle and is none */
    char header[0x281];
    memset(header, ' ', sizeof header - 1);
    header[sizeof header - 1] = 0;
    memcpy(header, "{}", 2);
    ck_szg_ok(open_image(header, 0, &set));
    szgi_safetensors_close(&set);
}
END_TEST

/* Known values of both 16-bit types (IEEE 754-2019 table 3.5; bfloat16 is the upper half of
 * binary32), and every pattern against the definition. */
START_TEST(short_floats_convert_exactly) {
    static const struct {
        uint16_t bits;
        double half, bfloat;
    } known[] = {
        {0x0000, 0.0, 0.0},
        {0x8000, -0.0, -0.0},
        {0x0001, 0x1p-24, 0x1p-133},
        {0x03FF, 0x1.ff8p-15, 0x1.fep-120},
        {0x0400, 0x1p-14, 0x1p-119},
        {0x3C00, 1.0, 0x1p-7},
        {0x3C01, 1.0009765625, 0.00787353515625},
        {0x3555, 0.333251953125, 7.934868335723877e-07},
        {0xC000, -2.0, -2.0},
        {0x7BFF, 65504.0, 0x1.fep+120},
        {0x7C00, (double)INFINITY, 0x1p+121},
        {0xFC00, (double)-INFINITY, -0x1p+121},
        {0x3F80, 1.875, 1.0},
        {0x4049, 2.142578125, 3.140625},
        {0x7F7F, (double)NAN, 0x1.fep+127},
        {0x7F80, (double)NAN, (double)INFINITY},
        {0xFF80, (double)NAN, (double)-INFINITY},
        {0x7FC0, (double)NAN, (double)NAN},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double half = szgi_real_from_half(known[i].bits),
               bfloat = szgi_real_from_bfloat(known[i].bits);
        ck_assert_msg(isnan(known[i].half) ? isnan(half) : half == known[i].half, "%04x: %a",
                      known[i].bits, half);
        ck_assert_msg(isnan(known[i].bfloat) ? isnan(bfloat) : bfloat == known[i].bfloat,
                      "%04x: %a", known[i].bits, bfloat);
        ck_assert(isnan(half) || (signbit(known[i].half) != 0) == (signbit(half) != 0));
    }
    for (unsigned bits = 0; bits < 65536; bits++) {
        int exponent = bits >> 10 & 31, wide = bits >> 7 & 255;
        double sign = bits >> 15 ? -1 : 1, mantissa = bits & 1023, short_mantissa = bits & 127;
        double half = exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
        double bfloat =
            wide == 0 ? ldexp(short_mantissa, -133) : ldexp(128 + short_mantissa, wide - 134);
        if (exponent < 31)
            ck_assert_double_eq(szgi_real_from_half((uint16_t)bits), sign * half);
        else
            ck_assert(!isfinite(szgi_real_from_half((uint16_t)bits)));
        if (wide < 255)
            ck_assert_double_eq(szgi_real_from_bfloat((uint16_t)bits), sign * bfloat);
        else
            ck_assert(!isfinite(szgi_real_from_bfloat((uint16_t)bits)));
    }
}
END_TEST

/* Every width, signs, the largest that fits; the roundoff of each type is half the gap above 1. */
START_TEST(integers_and_roundoff) {
    static const char header[] =
        "{\"a\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0,2]},"
        "\"b\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[2,4]},"
        "\"c\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[4,8]},"
        "\"d\":{\"dtype\":\"U64\",\"shape\":[2],\"data_offsets\":[8,24]},"
        "\"e\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[24,25]},"
        "\"f\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[25,29]},"
        "\"g\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[29,31]}}";
    unsigned char bytes[8 + sizeof header - 1 + 31] = {(sizeof header - 1) % 256,
                                                       (sizeof header - 1) / 256};
    const unsigned char data[31] = {0xFF, 0x7F, 0xFF, 0xFF, 0xFE, 0xFF, 0xFF, 0xFF,
                                    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F,
                                    0,    0,    0,    0,    0,    0,    0,    0x80};
    memcpy(bytes + 8, header, sizeof header - 1);
    memcpy(bytes + 8 + sizeof header - 1, data, sizeof data);
    szgi_safetensors *set;
    int64_t got[2] = {0, 0};
    ck_szg_ok(open_bytes(bytes, sizeof bytes, &set));
    static const struct {
        const char *name;
        int64_t count, value;
    } cases[] = {{"a", 1, -1}, {"b", 1, 65535}, {"c", 1, -2}, {"d", 1, INT64_MAX}};
    for (int i = 0; i < 4; i++) {
        ck_szg_ok(szgi_tensor_read_integers(test_context(),
                                            szgi_safetensors_find(set, cases[i].name), 0, 1, got));
        ck_assert_int_eq(got[0], cases[i].value);
    }
    const szgi_tensor *a = szgi_safetensors_find(set, "a");
    ck_szg_ok(szgi_tensor_read_integers(test_context(), a, 0, 2, got));
    ck_assert_int_eq(got[1], 127);
    ck_szg_fails(SZG_EINVAL, "not within its 2",
                 szgi_tensor_read_integers(test_context(), a, 1, 2, got));
    ck_szg_fails(
        SZG_EDATA, "element 1 is beyond 2^63 - 1",
        szgi_tensor_read_integers(test_context(), szgi_safetensors_find(set, "d"), 0, 2, got));
    for (int i = 0; i < 2; i++)
        ck_szg_fails(SZG_EDATA, "an integer",
                     szgi_tensor_read_integers(
                         test_context(), szgi_safetensors_find(set, i ? "f" : "e"), 0, 1, got));
    ck_assert(szgi_tensor_roundoff(a) == 0);
    ck_assert(szgi_tensor_roundoff(szgi_safetensors_find(set, "f")) == (double)FLT_EPSILON / 2);
    ck_assert(szgi_tensor_roundoff(szgi_safetensors_find(set, "g")) ==
              (szgi_real_from_bfloat(0x3F81) - 1) / 2);
    szgi_safetensors_close(&set);
}
END_TEST

static const double f64[6] = {0.1, -2, 3e300, 4, 5, 6};
static const float f32[2] = {0.1f, -7};
static const uint16_t f16[3] = {0x3C00, 0x3555, 0x8001}, bf16[1] = {0x4049};
static const int64_t shape64[2] = {2, 3}, shape32[1] = {2}, shape16[3] = {3, 1, 1};
static const char *const metadata[] = {"format", "pt", "quote\"", "\xC3\xA9"};

static szg_status write_sample(const char *path) {
    const szgi_tensor tensors[] = {
        {.name = "bf16", .dtype = SZGI_DTYPE_BF16, .data = (const unsigned char *)bf16},
        {.name = "f32",
         .dtype = SZGI_DTYPE_F32,
         .dims = 1,
         .shape = shape32,
         .data = (const unsigned char *)f32},
        {.name = "f16 \"\xC3\xA9",
         .dtype = SZGI_DTYPE_F16,
         .dims = 3,
         .shape = shape16,
         .data = (const unsigned char *)f16},
        {.name = "f64",
         .dtype = SZGI_DTYPE_F64,
         .dims = 2,
         .shape = shape64,
         .data = (const unsigned char *)f64},
        {.name = "empty", .dtype = SZGI_DTYPE_F32, .dims = 1, .shape = (const int64_t[]){0}},
    };
    return szgi_safetensors_write(test_context(), path, tensors, 5, metadata, 2);
}

START_TEST(written_files_read_back) {
    szgi_safetensors *set;
    double x[6];
    const char *path = scratch_path("sample.safetensors");
    ck_szg_ok(write_sample(path));
    ck_szg_ok(szgi_safetensors_open(test_context(), path, &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 5);
    ck_assert_str_eq(szgi_safetensors_metadata(set, "quote\""), "\xC3\xA9");
    const szgi_tensor *t = szgi_safetensors_find(set, "f64");
    ck_assert_ptr_null(t->data);
    ck_assert_int_eq(t->offset % 8, 0);
    ck_szg_ok(szgi_tensor_read(test_context(), t, 0, 6, x));
    ck_assert_mem_eq(x, f64, sizeof f64);
    ck_szg_ok(szgi_tensor_read(test_context(), t, 3, 2, x));
    ck_assert_mem_eq(x, f64 + 3, 16);
    ck_szg_ok(szgi_tensor_read(test_context(), t, 6, 0, x));
    t = szgi_safetensors_find(set, "f32");
    ck_szg_ok(szgi_tensor_read(test_context(), t, 0, 2, x));
    ck_assert_double_eq(x[0], (double)0.1f);
    t = szgi_safetensors_find(set, "f16 \"\xC3\xA9");
    ck_szg_ok(szgi_tensor_read(test_context(), t, 0, 3, x));
    ck_assert_double_eq(x[1], 0.333251953125);
    ck_assert_double_eq(x[2], -0x1p-24);
    t = szgi_safetensors_find(set, "bf16");
    ck_szg_ok(szgi_tensor_read(test_context(), t, 0, 1, x));
    ck_assert_double_eq(x[0], 3.140625);
    ck_szg_ok(szgi_tensor_read(test_context(), szgi_safetensors_find(set, "empty"), 0, 0, x));
    ck_szg_fails(SZG_EINVAL, "elements 1 .. 6 are not within its 6",
                 szgi_tensor_read(test_context(), szgi_safetensors_find(set, "f64"), 1, 6, x));
    ck_szg_fails(SZG_EINVAL, "not within",
                 szgi_tensor_read(test_context(), szgi_safetensors_find(set, "f64"), -1, 1, x));
    szgi_safetensors_close(&set);
}
END_TEST

START_TEST(impossible_tensors_are_not_written) {
    const szgi_tensor ok = {
        .name = "a", .dtype = SZGI_DTYPE_F32, .data = (const unsigned char *)f32};
    szgi_tensor pair[2] = {ok, ok};
    const char *path = scratch_path("never.safetensors");
    ck_szg_fails(SZG_EINVAL, "is there twice",
                 szgi_safetensors_write(test_context(), path, pair, 2, NULL, 0));
    static const char *const names[] = {"", "__metadata__", "\xFF"};
    for (int i = 0; i < 3; i++) {
        pair[0].name = names[i];
        ck_szg_fails(SZG_EINVAL, "cannot be the name of a tensor",
                     szgi_safetensors_write(test_context(), path, pair, 2, NULL, 0));
    }
    pair[0] = (szgi_tensor){.name = "i", .dtype = SZGI_DTYPE_INTEGER};
    ck_szg_fails(SZG_EINVAL, "can be written",
                 szgi_safetensors_write(test_context(), path, pair, 2, NULL, 0));
    pair[0] =
        (szgi_tensor){.name = "h", .dims = 2, .shape = (const int64_t[]){INT64_MAX, INT64_MAX}};
    ck_szg_fails(SZG_EINVAL, "impossible sizes",
                 szgi_safetensors_write(test_context(), path, pair, 2, NULL, 0));
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_null(file);
}
END_TEST

/* NaN and infinities of every type and at every place are found; all other patterns pass. */
START_TEST(unfinite_weights_are_found) {
    static const int64_t shape[2] = {4, 5};
    static const struct {
        szgi_dtype dtype;
        size_t width;
        uint64_t bad[3], good;
    } kinds[] = {
        {SZGI_DTYPE_F64,
         8,
         {0x7FF0000000000000, 0xFFF0000000000000, 0x7FF0000000000001},
         0x7FEFFFFFFFFFFFFF},
        {SZGI_DTYPE_F32, 4, {0x7F800000, 0xFF800000, 0x7F800001}, 0x7F7FFFFF},
        {SZGI_DTYPE_F16, 2, {0x7C00, 0xFC00, 0x7C01}, 0x7BFF},
        {SZGI_DTYPE_BF16, 2, {0x7F80, 0xFF80, 0x7F81}, 0x7F7F},
    };
    static const char *const words[] = {"is infinity", "is -infinity", "is NaN"};
    for (size_t k = 0; k < 4; k++) {
        unsigned char data[160];
        szgi_tensor t = {.name = "w",
                         .file = "f",
                         .dtype = kinds[k].dtype,
                         .dtype_name = "",
                         .dims = 2,
                         .shape = shape,
                         .count = 20,
                         .data = data};
        for (int place = 0; place <= 20; place++)
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 20; j++)
                    memcpy(data + (size_t)j * kinds[k].width,
                           j >= place ? &kinds[k].bad[i] : &kinds[k].good, kinds[k].width);
                int64_t found;
                ck_szg_ok(szgi_tensor_first_bad(test_context(), &t, &found));
                ck_assert_int_eq(found, place == 20 ? -1 : place);
                char at[64];
                snprintf(at, sizeof at, "f: tensor w: the weight at [%d, %d] %s", place / 5,
                         place % 5, words[i]);
                if (place < 20)
                    ck_szg_fails(SZG_EDATA, at, szgi_tensor_check(test_context(), &t));
                else
                    ck_szg_ok(szgi_tensor_check(test_context(), &t));
            }
    }
}
END_TEST

static void keep_warning(void *user, szg_severity severity, const char *text) {
    (void)user;
    static char copy[1024];
    if (severity == SZG_WARNING) {
        snprintf(copy, sizeof copy, "%s", text);
        last_warning = copy;
    }
}

/* Two shards, a.safetensors with a1 and a2, b.safetensors with b1, in a folder of their own. */
static void write_shards(const char *folder) {
    char name[64];
    mkdir(scratch_path(folder), 0777);
    snprintf(name, sizeof name, "%s/a.safetensors", folder);
    write_image(name, "{" ENTRY("a1", "F32", "[1]", 0, 4) "," ENTRY("a2", "F32", "[1]", 4, 8) "}",
                8);
    snprintf(name, sizeof name, "%s/b.safetensors", folder);
    write_image(name, "{" ENTRY("b1", "F32", "[1]", 0, 4) "}", 4);
}

static szg_status open_index(const char *folder, const char *map, szgi_safetensors **out) {
    char name[64], text[512];
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .message = keep_warning};
    last_warning = NULL;
    snprintf(name, sizeof name, "%s/model.safetensors.index.json", folder);
    snprintf(text, sizeof text, "{\"metadata\":{\"total_size\":12},\"weight_map\":%s}", map);
    const char *path = scratch_text(name, text);
    if (out == NULL)
        return SZG_OK;
    ck_szg_ok(szg_context_open(&options, &context));
    szg_status status = szgi_safetensors_open(context, path, out);
    if (status != SZG_OK)
        szgi_fail(test_context(), status, "%s", szg_context_message(context));
    szg_context_close(&context);
    return status;
}

START_TEST(shards_are_joined) {
    szgi_safetensors *set;
    write_shards("joined");
    ck_szg_ok(open_index("joined",
                         "{\"a1\":\"a.safetensors\",\"b1\":\"b.safetensors\","
                         "\"a2\":\"a.safetensors\"}",
                         &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 3);
    ck_assert_ptr_null(last_warning);
    ck_assert_str_eq(strrchr(szgi_safetensors_find(set, "b1")->file, '/'), "/b.safetensors");
    szgi_safetensors_close(&set);
    ck_szg_ok(szgi_safetensors_open(test_context(), scratch_path("joined"), &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 3);
    szgi_safetensors_close(&set);
    /* without the index: every file of the folder */
    ck_assert_int_eq(remove(scratch_path("joined/model.safetensors.index.json")), 0);
    ck_szg_ok(szgi_safetensors_open(test_context(), scratch_path("joined/"), &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 3);
    szgi_safetensors_close(&set);
    /* model.safetensors alone goes before */
    write_image("joined/model.safetensors", "{" ENTRY("m", "F32", "[1]", 0, 4) "}", 4);
    ck_szg_ok(szgi_safetensors_open(test_context(), scratch_path("joined"), &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 1);
    szgi_safetensors_close(&set);
}
END_TEST

START_TEST(stale_indexes_are_noticed) {
    szgi_safetensors *set;
    write_shards("stale");
    ck_szg_ok(open_index("stale", "{\"a1\":\"a.safetensors\",\"b1\":\"b.safetensors\"}", &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 3);
    ck_assert_ptr_nonnull(last_warning);
    ck_assert_msg(strstr(last_warning, "omits 1 tensors of the shards, a2 the first") != NULL, "%s",
                  last_warning);
    szgi_safetensors_close(&set);
    ck_szg_ok(open_index("stale",
                         "{\"a1\":\"a.safetensors\",\"a2\":\"b.safetensors\","
                         "\"b1\":\"b.safetensors\"}",
                         &set));
    ck_assert_msg(strstr(last_warning, "1 tensors are in other shards") != NULL, "%s",
                  last_warning);
    szgi_safetensors_close(&set);
    ck_szg_ok(open_index("stale",
                         "{\"a1\":\"a.safetensors\",\"a2\":\"a.safetensors\","
                         "\"b1\":\"b.safetensors\",\"c1\":\"b.safetensors\"}",
                         &set));
    ck_assert_msg(strstr(last_warning, "no shard holds 1 of its tensors, c1 the first") != NULL,
                  "%s", last_warning);
    ck_assert_int_eq(szgi_safetensors_count(set), 3);
    szgi_safetensors_close(&set);
}
END_TEST

/* Missing shards are named, each once; where none is there, the files beside the index are read. */
START_TEST(missing_shards_are_named) {
    szgi_safetensors *set;
    write_shards("gone");
    ck_szg_ok(open_index("gone",
                         "{\"a1\":\"a.safetensors\",\"a2\":\"a.safetensors\",\"x\":"
                         "\"cc.safetensors\",\"y\":\"c.safetensors\",\"z\":\"cc.safetensors\"}",
                         &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 2);
    ck_assert_str_eq(szgi_safetensors_missing(set), "cc.safetensors, c.safetensors");
    ck_assert_msg(strstr(last_warning, "no other file has 3 of its tensors, x the first") != NULL,
                  "%s", last_warning);
    szgi_safetensors_close(&set);
    ck_szg_ok(open_index("gone", "{\"a1\":\"c.safetensors\"}", &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 3);
    ck_assert_msg(strstr(last_warning, "missing: c.safetensors; other files have all") != NULL,
                  "%s", last_warning);
    szgi_safetensors_close(&set);
    mkdir(scratch_path("bare"), 0777);
    ck_szg_fails(SZG_EDATA, "its shards are missing: c.safetensors: put them beside it",
                 open_index("bare", "{\"a1\":\"c.safetensors\"}", &set));
}
END_TEST

#define N64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A name of 256 bytes is no file's name, which 255 bytes bound. */
START_TEST(bad_indexes_are_refused) {
    szgi_safetensors *set;
    static const struct {
        const char *map, *words;
    } bad[] = {
        {"{\"a1\":\"../bad/a.safetensors\"}", "is not the name of a file beside the index"},
        {"{\"a1\":\"\"}", "is not the name of a file"},
        {"{\"a1\":\"..\"}", "is not the name of a file"},
        {"{\"a1\":\"" N64 N64 N64 N64 "\"}", "is not the name of a file"},
        {"{\"a1\":3}", "weight_map.a1: is an integer"},
        {"{}", "weight_map: is empty"},
        {"[]", "weight_map: is an array"},
    };
    write_shards("bad");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_szg_fails(SZG_EDATA, bad[i].words, open_index("bad", bad[i].map, &set));
    write_image("bad/b.safetensors", "{" ENTRY("a1", "F32", "[1]", 0, 4) "}", 4);
    ck_szg_fails(SZG_EDATA, "tensor a1: is in a.safetensors too, and no index says which counts",
                 open_index("bad", "{\"a2\":\"a.safetensors\",\"b1\":\"b.safetensors\"}", &set));
    ck_szg_ok(open_index("bad", "{\"a1\":\"b.safetensors\",\"a2\":\"a.safetensors\"}", &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 2);
    ck_assert_str_eq(strrchr(szgi_safetensors_find(set, "a1")->file, '/'), "/b.safetensors");
    szgi_safetensors_close(&set);
    write_image("bad/b.safetensors", "{" ENTRY("b1", "F32", "[1]", 0, 4) "}", 2);
    ck_szg_fails(SZG_EDATA, "b.safetensors: b1.data_offsets: bytes 0 to 4 reach beyond the 2",
                 open_index("bad", "{\"a1\":\"a.safetensors\",\"b1\":\"b.safetensors\"}", &set));
    mkdir(scratch_path("hollow"), 0777);
    ck_szg_fails(SZG_EDATA, "holds no .safetensors file",
                 szgi_safetensors_open(test_context(), scratch_path("hollow"), &set));
}
END_TEST

START_TEST(safetensors_survive_failed_allocations) {
    szgi_safetensors *set;
    const char *path = scratch_path("s.safetensors");
    ck_szg_ok(write_sample(path));
    /* The writer, its two names; the header's text, its memory, its growth beyond 256 bytes. */
    ck_survives_failed_allocations(5, write_sample(path));
    ck_survives_failed_allocations(1, szgi_safetensors_open(test_context(), path, &set));
    szgi_safetensors_close(&set);
    write_shards("alloc");
    ck_szg_ok(open_index("alloc", "{\"a1\":\"a.safetensors\",\"b1\":\"b.safetensors\"}", NULL));
    path = scratch_path("alloc");
    ck_survives_failed_allocations(1, szgi_safetensors_open(test_context(), path, &set));
    szgi_safetensors_close(&set);
    ck_assert_int_eq(remove(scratch_path("alloc/model.safetensors.index.json")), 0);
    ck_survives_failed_allocations(1, szgi_safetensors_open(test_context(), path, &set));
    szgi_safetensors_close(&set);
}
END_TEST

TEST_FILE("safetensors") {
    test_add(suite, "tensors_are_listed_by_name", tensors_are_listed_by_name);
    test_add(suite, "what_was_left_out_is_not_read", what_was_left_out_is_not_read);
    test_add(suite, "bad_headers_are_refused", bad_headers_are_refused);
    test_add(suite, "bad_lengths_and_other_formats_are_refused",
             bad_lengths_and_other_formats_are_refused);
    test_add(suite, "short_floats_convert_exactly", short_floats_convert_exactly);
    test_add(suite, "integers_and_roundoff", integers_and_roundoff);
    test_add(suite, "written_files_read_back", written_files_read_back);
    test_add(suite, "impossible_tensors_are_not_written", impossible_tensors_are_not_written);
    test_add(suite, "unfinite_weights_are_found", unfinite_weights_are_found);
    test_add(suite, "shards_are_joined", shards_are_joined);
    test_add(suite, "stale_indexes_are_noticed", stale_indexes_are_noticed);
    test_add(suite, "missing_shards_are_named", missing_shards_are_named);
    test_add(suite, "bad_indexes_are_refused", bad_indexes_are_refused);
    test_add(suite, "safetensors_survive_failed_allocations",
             safetensors_survive_failed_allocations);
}
