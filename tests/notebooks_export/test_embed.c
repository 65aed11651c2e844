/* Embedded tables: decoded here from the format's description, with none of the encoder's code. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/table.h"
#include <zlib.h>

#include "embed.h"
#include "suite.h"

/* ---- A decoder that follows docs/reference/html-report.md ---- */

typedef struct input {
    unsigned char *bytes;
    uint64_t size, at;
} input;

static input inflate_all(const unsigned char *bytes, int64_t size) {
    input in = {.size = 1 << 16};
    for (;; in.size *= 2) {
        in.bytes = malloc(in.size);
        uLongf length = in.size;
        int code = uncompress(in.bytes, &length, bytes, (uLong)size);
        if (code == Z_OK) {
            in.size = length;
            return in;
        }
        ck_assert_int_eq(code, Z_BUF_ERROR);
        free(in.bytes);
    }
}

static const unsigned char *take(input *in, uint64_t count) {
    ck_assert_uint_le(in->at + count, in->size);
    in->at += count;
    return in->bytes + in->at - count;
}

static int64_t take_number(input *in) {
    const unsigned char *b = take(in, 4);
    return b[0] | b[1] << 8 | b[2] << 16 | (int64_t)b[3] << 24;
}

static char *take_text(input *in) {
    uint64_t length = (uint64_t)take_number(in);
    return strndup((const char *)take(in, length), length);
}

/* Sums of differences; folded 0, 1, 2, 3 stand for 0, -1, 1, -2. */
static uint64_t *take_values(input *in, int64_t rows) {
    int order = *take(in, 1), width = *take(in, 1);
    uint64_t *value = calloc((size_t)rows + 1, sizeof *value);
    ck_assert_int_le(order, 3);
    ck_assert_int_le(width, 8);
    for (int plane = 0; plane < width; plane++) {
        const unsigned char *b = take(in, (uint64_t)rows);
        for (int64_t i = 0; i < rows; i++)
            value[i] += (uint64_t)b[i] * ((uint64_t)1 << (8 * plane));
    }
    for (int64_t i = 0; i < rows; i++)
        value[i] = value[i] % 2 ? (uint64_t)0 - value[i] / 2 - 1 : value[i] / 2;
    while (order-- > 0)
        for (int64_t i = 1; i < rows; i++)
            value[i] += value[i - 1];
    return value;
}

/* Checks of single cells are no ck_assert, which tells a pipe of each that passes. */
static bool is_cell(const szg_table *table, int64_t row, int64_t column, uint64_t value,
                    char **texts, int64_t count) {
    double real = szg_table_get_real(table, row, column);
    uint64_t bits;
    switch (szg_table_column(table, column)->type) {
    case SZG_TEXT:
        return (int64_t)value < count &&
               strcmp(texts[value], szg_table_get_text(table, row, column)) == 0;
    case SZG_INTEGER:
        return (int64_t)value == szg_table_get_integer(table, row, column);
    default:
        bits = value >= (uint64_t)1 << 63 ? value - ((uint64_t)1 << 63) : UINT64_MAX - value;
        return memcmp(&bits, &real, sizeof bits) == 0;
    }
}

static void check_presence(const szg_table *table, int64_t column, int presence,
                           const unsigned char *map) {
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        bool empty = presence == 1 || (map && map[row / 8] >> row % 8 & 1);
        if (empty != szg_table_is_empty(table, row, column))
            ck_abort_msg("column %lld, row %lld: empty %d", (long long)column, (long long)row,
                         empty);
    }
}

static void check_column(input *in, const szg_table *table, int64_t column) {
    int64_t rows = szg_table_rows(table), count = 0;
    int presence = *take(in, 1);
    const unsigned char *map = presence == 2 ? take(in, (uint64_t)(rows + 7) / 8) : NULL;
    char **texts = NULL;
    check_presence(table, column, presence, map);
    if (presence == 1)
        return;
    if (szg_table_column(table, column)->type == SZG_TEXT) {
        count = take_number(in);
        texts = calloc((size_t)count + 1, sizeof *texts);
        for (int64_t i = 0; i < count; i++)
            texts[i] = take_text(in);
    }
    uint64_t *value = take_values(in, rows);
    for (int64_t row = 0; row < rows; row++)
        if (!szg_table_is_empty(table, row, column) &&
            !is_cell(table, row, column, value[row], texts, count))
            ck_abort_msg("column %lld, row %lld differs", (long long)column, (long long)row);
    for (int64_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
    free(value);
}

/* Fails unless the bytes say what the table says, and nothing more. */
static void check_bytes(const szg_table *table, const unsigned char *bytes, int64_t size) {
    input in = inflate_all(bytes, size);
    ck_assert_mem_eq(take(&in, 4), "SZT2", 4);
    ck_assert_int_eq(take_number(&in), szg_table_rows(table));
    ck_assert_int_eq(take_number(&in), szg_table_columns(table));
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        ck_assert_int_eq(*take(&in, 1), szg_table_column(table, i)->type);
        ck_assert_int_eq(*take(&in, 1), szgi_table_end(table, i));
        char *name = take_text(&in), *doc = take_text(&in);
        ck_assert_str_eq(name, szg_table_column(table, i)->name);
        ck_assert_str_eq(doc, szg_table_column(table, i)->doc);
        free(name);
        free(doc);
    }
    for (int64_t i = 0; i < szg_table_columns(table); i++)
        check_column(&in, table, i);
    ck_assert_uint_eq(in.at, in.size);
    free(in.bytes);
}

/* ---- Tables ---- */

static const szg_column columns[] = {
    {"text", SZG_TEXT, "any text"},      {"id", SZG_TEXT, "a text of its own"},
    {"integer", SZG_INTEGER, "corners"}, {"index", SZG_INTEGER, "counts"},
    {"real", SZG_REAL, "corners"},       {"smooth", SZG_REAL, ""},
    {"never", SZG_REAL, "always empty"}, {"note", SZG_TEXT, "seldom \"</script>\""}};

static const char *const words[] = {"",          ",",        "\"",        "a\nb",
                                    "</script>", "\xff\xfe", "long text", "rope"};

static int64_t some_integer(uint32_t bits) {
    static const int64_t corners[] = {0, 1, -1, INT64_MAX, INT64_MIN, 255, 256, -129};
    return bits % 3 ? corners[bits / 3 % 8] : (int64_t)(bits * UINT64_C(0x9E3779B97F4A7C15));
}

static double some_real(const szgi_stream *stream, uint64_t index, uint32_t bits) {
    static const double corners[] = {0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, 2.2e-308};
    double extreme = bits % 2 ? (double)INFINITY : (double)-INFINITY;
    switch (bits % 5) {
    case 0:
        return corners[bits / 5 % 6];
    case 1:
        return bits % 4 ? extreme : (double)NAN;
    default:
        return test_real(stream, index);
    }
}

static szg_status fill_row(szg_table *table, const szgi_stream *stream, uint64_t row) {
    szg_context *context = test_context();
    uint32_t bits = szgi_random_word(stream, row);
    char id[32];
    snprintf(id, sizeof id, "row %u", (unsigned)(row % 70000));
    SZG_TRY(szg_table_add_row(context, table));
    if (bits % 7)
        SZG_TRY(szg_table_set_text(context, table, "text", words[bits / 7 % 8]));
    SZG_TRY(szg_table_set_text(context, table, "id", id));
    if (bits % 11)
        SZG_TRY(szg_table_set_integer(context, table, "integer", some_integer(bits)));
    SZG_TRY(szg_table_set_integer(context, table, "index", (int64_t)row));
    if (bits % 13)
        SZG_TRY(szg_table_set_real(context, table, "real", some_real(stream, row, bits)));
    SZG_TRY(szg_table_set_real(context, table, "smooth", sin((double)row / 1000)));
    return row % 1000 == 7 ? szg_table_note(context, table, "remark") : SZG_OK;
}

static szg_table *new_table(int64_t rows) {
    szg_table *table;
    szgi_stream stream = {.seed = test_seed(), .purpose = 71, .step = (uint32_t)rows};
    ck_szg_ok(szg_table_open(test_context(), "corners", columns, 8, &table));
    szgi_table_set_end(table, szg_table_find(table, "real"), SZGI_END_LOWER);
    szgi_table_set_end(table, szg_table_find(table, "smooth"), SZGI_END_UPPER);
    szg_status status = SZG_OK;
    for (int64_t row = 0; row < rows && status == SZG_OK; row++)
        status = fill_row(table, &stream, (uint64_t)row);
    ck_szg_ok(status);
    return table;
}

/* Around a byte of the map (8), a plane's part (32768) and the map's part (262144). */
START_TEST(bytes_are_the_table) {
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 63, 1000, 32767, 32768, 32769, 262145};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        szg_table *table = new_table(sizes[i]);
        unsigned char *bytes;
        int64_t size;
        ck_szg_ok(szgi_embed_table(test_context(), table, &bytes, &size));
        check_bytes(table, bytes, size);
        szgi_memory_free(bytes);
        szg_table_close(&table);
    }
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szg_table *table = new_table(300);
    unsigned char *bytes;
    int64_t size;
    ck_survives_failed_allocations(10, szgi_embed_table(test_context(), table, &bytes, &size));
    szgi_memory_free(bytes);
    szgi_memory_fail_after(test_context(), 1); /* the compressor's own */
    ck_szg_fails(SZG_ENOMEM, "table corners: out of memory: ",
                 szgi_embed_table(test_context(), table, &bytes, &size));
    ck_szg_ok(szgi_embed_table(test_context(), table, &bytes, &size));
    check_bytes(table, bytes, size);
    szgi_memory_free(bytes);
    szg_table_close(&table);
}
END_TEST

static szg_status fill_smooth(szg_table *table, int64_t index, double value) {
    SZG_TRY(szg_table_add_row(test_context(), table));
    SZG_TRY(szg_table_set_text(test_context(), table, "source", "kms:rho=0.9"));
    SZG_TRY(szg_table_set_integer(test_context(), table, "index", index));
    return szg_table_set_real(test_context(), table, "re", value);
}

/* exp over [0, 1] in steps of h = 1e-5. Third differences of exact values: e h^3 = 2.7e-15, 12 ulp
 * of 1; exp errs by an ulp at most, which makes 1 + 3 + 3 + 1 of them: 20 in all, folded 40 and in
 * one byte, but where the exponent changes. One column of text and one of counts are next to
 * nothing: 1.05 bytes a row for the three. */
START_TEST(smooth_columns_are_small) {
    static const szg_column three[] = {
        {"source", SZG_TEXT, ""}, {"index", SZG_INTEGER, ""}, {"re", SZG_REAL, ""}};
    const int64_t rows = 100000;
    szg_table *table;
    unsigned char *bytes;
    int64_t size;
    ck_szg_ok(szg_table_open(test_context(), "smooth", three, 3, &table));
    for (int64_t i = 0; i < rows; i++)
        ck_szg_ok(fill_smooth(table, i, exp((double)i / (double)rows)));
    ck_szg_ok(szgi_embed_table(test_context(), table, &bytes, &size));
    ck_assert_msg(size <= rows * 105 / 100, "%lld bytes", (long long)size);
    check_bytes(table, bytes, size);
    szgi_memory_free(bytes);
    szg_table_close(&table);
}
END_TEST

static int digit_of(char c) {
    const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return (int)(strchr(digits, c) - digits);
}

/* RFC 4648: 4 digits for 3 bytes; what is left over ends in one or two '='. */
START_TEST(base64_is_read_back) {
    unsigned char bytes[5000];
    for (int i = 0; i < 5000; i++)
        bytes[i] = (unsigned char)(i * 37 + i / 256);
    for (int64_t size = 0; size < 5000; size += size < 10 ? 1 : 997) {
        char *text = NULL;
        size_t length = 0;
        FILE *stream = open_memstream(&text, &length);
        szgi_embed_base64(bytes, size, stream);
        fclose(stream);
        ck_assert_uint_eq(length, (size_t)((size + 2) / 3 * 4));
        size_t padding = (size_t)(3 - size % 3) % 3;
        ck_assert_uint_eq(strcspn(text, "="), length - padding);
        for (int64_t i = 0; i < size; i++) {
            const char *group = text + i / 3 * 4;
            int word = digit_of(group[0]) << 18 | digit_of(group[1]) << 12;
            word |= group[2] == '=' ? 0 : digit_of(group[2]) << 6;
            word |= group[3] == '=' ? 0 : digit_of(group[3]);
            ck_assert_int_eq(word >> (16 - 8 * (i % 3)) & 255, bytes[i]);
        }
        free(text);
    }
}
END_TEST

TEST_FILE("embed") {
    test_add(suite, "bytes_are_the_table", bytes_are_the_table);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
    test_add(suite, "smooth_columns_are_small", smooth_columns_are_small);
    test_add(suite, "base64_is_read_back", base64_is_read_back);
}
