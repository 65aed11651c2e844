/* Tensors of 8-bit floats with scales. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "formats/safetensors.h"
#include "suite.h"

/* ---- Numbers ---- */

/* By the definition: sign, exponent, fraction. */
static double defined(int code, int fraction_bits, int bias) {
    int exponent = (code & 127) >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
    double whole = exponent == 0 ? 0 : 1 << fraction_bits;
    double value = ldexp(whole + fraction, (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
    return code & 128 ? -value : value;
}

START_TEST(numbers_are_those_of_the_definition) {
    for (int code = 0; code < 256; code++) {
        double four = szgi_real_from_e4m3((uint8_t)code), five = szgi_real_from_e5m2((uint8_t)code);
        if ((code & 127) == 127)
            ck_assert(isnan(four));
        else
            ck_assert(four == defined(code, 3, 7) && signbit(four) == signbit(defined(code, 3, 7)));
        if ((code & 127) == 124)
            ck_assert(isinf(five) && (five < 0) == (code > 127));
        else if ((code & 127) > 124)
            ck_assert(isnan(five));
        else
            ck_assert(five == defined(code, 2, 15));
        if (code < 255)
            ck_assert(szgi_real_from_e8m0((uint8_t)code) == ldexp(1, code - 127));
    }
    ck_assert(szgi_real_from_e4m3(0x7E) == 448 && szgi_real_from_e5m2(0x7B) == 57344);
    ck_assert(isnan(szgi_real_from_e8m0(255)));
}
END_TEST

/* ---- Products ---- */

enum { BYTES = 1 << 13 };

/* "w", rows x columns of the type, and "s" with a factor a block, F32 or F8_E8M0. */
typedef struct scaled {
    int64_t rows, columns, block[2], down, across;
    bool powers;
    unsigned char file[BYTES + 1024];
    unsigned char *element, *factor;
    szgi_safetensors *set;
} scaled;

static uint64_t draw(uint64_t *next, uint64_t below) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 81};
    return (uint64_t)szgi_random_below(&stream, (*next)++, (int64_t)below);
}

/* Without codes that are not finite. */
static void fill(scaled *model, const char *type, uint64_t *next) {
    int64_t most = model->rows * model->columns, factors = model->down * model->across;
    int finite = strcmp(type, "F8_E4M3") == 0 ? 127 : 124;
    for (int64_t i = 0; i < most; i++)
        model->element[i] =
            (unsigned char)(draw(next, (uint64_t)finite) | (draw(next, 2) ? 128 : 0));
    for (int64_t i = 0; i < factors; i++) {
        float factor = (float)(1 + draw(next, 1 << 24)) * 0x1p-30f;
        if (model->powers)
            model->factor[i] = (unsigned char)(100 + draw(next, 40));
        else
            memcpy(model->factor + 4 * i, &factor, 4);
    }
}

static void open_scaled(scaled *model, const char *type, uint64_t *next) {
    char header[512];
    model->down = (model->rows + model->block[0] - 1) / model->block[0];
    model->across = (model->columns + model->block[1] - 1) / model->block[1];
    long long elements = (long long)(model->rows * model->columns);
    long long bytes = (long long)(model->down * model->across) * (model->powers ? 1 : 4);
    ck_assert_int_le(elements + bytes, BYTES);
    uint64_t length = (uint64_t)snprintf(
        header, sizeof header,
        "{\"w\":{\"dtype\":\"%s\",\"shape\":[%lld,%lld],\"data_offsets\":[0,%lld]},"
        "\"s\":{\"dtype\":\"%s\",\"shape\":[%lld,%lld],\"data_offsets\":[%lld,%lld]}}",
        type, (long long)model->rows, (long long)model->columns, elements,
        model->powers ? "F8_E8M0" : "F32", (long long)model->down, (long long)model->across,
        elements, elements + bytes);
    memcpy(model->file, &length, 8);
    memcpy(model->file + 8, header, length);
    model->element = model->file + 8 + length;
    model->factor = model->element + elements;
    fill(model, type, next);
    ck_szg_ok(szgi_safetensors_open_bytes(test_context(), "m.safetensors", model->file,
                                          (int64_t)(8 + length) + elements + bytes, &model->set));
}

/* "s" comes before "w". */
static void join(const scaled *model) {
    const szgi_tensor *scale = szgi_safetensors_tensor(model->set, 0);
    if (model->powers)
        ck_szg_ok(szgi_safetensors_scale(test_context(), model->set, 0, NULL, (int64_t[2]){1, 1}));
    ck_szg_ok(szgi_safetensors_scale(test_context(), model->set, 1, scale, model->block));
}

static double product(const scaled *model, const char *type, int64_t row, int64_t column) {
    int code = model->element[row * model->columns + column];
    int64_t at = row / model->block[0] * model->across + column / model->block[1];
    float factor;
    memcpy(&factor, model->factor + 4 * at * !model->powers, 4);
    double scale = model->powers ? ldexp(1, model->factor[at] - 127) : (double)factor;
    return scale * (strcmp(type, "F8_E4M3") == 0 ? defined(code, 3, 7) : defined(code, 2, 15));
}

/* Products of 4 and 24 bits are exact; blocks that do not divide the shape, and rows with more than
 * 256 factors, which are read in parts. */
START_TEST(elements_are_multiplied_by_their_blocks) {
    static const int64_t shapes[][4] = {{6, 8, 2, 4},   {7, 10, 3, 4}, {1, 1, 1, 1},
                                        {5, 9, 8, 16},  {9, 5, 1, 5},  {5, 9, 5, 9},
                                        {2, 300, 2, 1}, {4, 6, 4, 1},  {3, 700, 2, 2}};
    uint64_t next = 0;
    for (int k = 0; k < 4 * (int)(sizeof shapes / sizeof *shapes); k++) {
        const int64_t *shape = shapes[k / 4];
        const char *type = k & 1 ? "F8_E5M2" : "F8_E4M3";
        scaled model = {
            .rows = shape[0], .columns = shape[1], .block = {shape[2], shape[3]}, .powers = k & 2};
        double got[BYTES];
        open_scaled(&model, type, &next);
        join(&model);
        const szgi_tensor *w = szgi_safetensors_find(model.set, "w");
        for (int trial = 0; trial < 20; trial++) {
            int64_t start = trial ? (int64_t)draw(&next, (uint64_t)w->count) : 0;
            int64_t count =
                trial ? 1 + (int64_t)draw(&next, (uint64_t)(w->count - start)) : w->count;
            ck_szg_ok(szgi_tensor_read(test_context(), w, start, count, got));
            for (int64_t i = start; i < start + count; i++)
                ck_assert(got[i - start] ==
                          product(&model, type, i / model.columns, i % model.columns));
        }
        ck_szg_ok(szgi_tensor_check(test_context(), w));
        ck_szg_fails(SZG_EINVAL, "are not within its",
                     szgi_tensor_read(test_context(), w, 1, w->count, got));
        szgi_safetensors_close(&model.set);
    }
}
END_TEST

START_TEST(bad_numbers_are_named) {
    uint64_t next = 0;
    float infinite = INFINITY;
    int64_t found;
    scaled model = {.rows = 5, .columns = 7, .block = {2, 3}};
    open_scaled(&model, "F8_E4M3", &next);
    const szgi_tensor *w = szgi_safetensors_find(model.set, "w");
    ck_szg_fails(SZG_EDATA, "tensor w: type F8_E4M3 is not a weight's type",
                 szgi_tensor_check(test_context(), w)); /* before its scales are known */
    join(&model);
    model.element[17] |= 127;
    ck_szg_fails(SZG_EDATA, "tensor w: the weight at [2, 3] is NaN",
                 szgi_tensor_check(test_context(), w));
    ck_szg_ok(szgi_tensor_first_bad(test_context(), w, &found));
    ck_assert_int_eq(found, 17);
    memcpy(model.factor + 4 * 5, &infinite, 4);
    ck_szg_fails(SZG_EDATA, "tensor s: the weight at [1, 2] is infinity",
                 szgi_tensor_check(test_context(), w));
    szgi_safetensors_close(&model.set);
}
END_TEST

START_TEST(scales_that_do_not_fit) {
    uint64_t next = 0;
    scaled model = {.rows = 5, .columns = 7, .block = {2, 3}};
    static const int64_t wrong[][2] = {{1, 3}, {2, 2}, {0, 3}, {2, -3}};
    open_scaled(&model, "F8_E4M3", &next);
    const szgi_tensor *scale = szgi_safetensors_tensor(model.set, 0);
    for (int i = 0; i < 4; i++)
        ck_szg_fails(SZG_EINVAL, "tensor w: its type or its scale does not fit",
                     szgi_safetensors_scale(test_context(), model.set, 1, scale, wrong[i]));
    ck_szg_fails(SZG_EINVAL, "tensor s: its type", /* F32 */
                 szgi_safetensors_scale(test_context(), model.set, 0, NULL, wrong[0]));
    ck_szg_ok(szgi_safetensors_refuse(test_context(), model.set, 1, "it is old"));
    ck_szg_ok(szgi_safetensors_refuse(test_context(), model.set, 1, "its scales are missing"));
    ck_szg_fails(SZG_EDATA, "not a weight's type: its scales are missing",
                 szgi_tensor_check(test_context(), szgi_safetensors_tensor(model.set, 1)));
    szgi_safetensors_close(&model.set);
}
END_TEST

TEST_FILE("float8") {
    test_add(suite, "numbers_are_those_of_the_definition", numbers_are_those_of_the_definition);
    test_add(suite, "elements_are_multiplied_by_their_blocks",
             elements_are_multiplied_by_their_blocks);
    test_add(suite, "bad_numbers_are_named", bad_numbers_are_named);
    test_add(suite, "scales_that_do_not_fit", scales_that_do_not_fit);
}
