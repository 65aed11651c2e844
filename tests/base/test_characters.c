/* Characters, endings and whole numbers in texts that may be hostile. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#include "suite.h"

/* The bits of `code` in `length` bytes, also where fewer would do or the standard forbids it. */
static void encode(uint32_t code, int length, unsigned char out[5]) {
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (unsigned char)(0x80 | (code & 0x3F));
    out[0] = (unsigned char)(first[length] | code);
    out[length] = 0;
}

static int length_of(uint32_t code) {
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

static bool is_surrogate(uint32_t code) {
    return code >= 0xD800 && code < 0xE000;
}

static bool is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

/* Every code of 21 bits, in each length that holds it. */
START_TEST(each_character_has_one_encoding) {
    static const uint32_t beyond[] = {0, 0x80, 0x800, 0x10000, 0x200000};
    for (uint32_t code = 0; code < beyond[4]; code++) {
        int right = code > 0x10FFFF || is_surrogate(code) ? 0 : length_of(code);
        for (int length = length_of(code); length <= 4; length++) {
            unsigned char text[5];
            encode(code, length, text);
            int step = length == right ? length : 0;
            /* One call of Check a code would take minutes under a sanitizer. */
            if (szgi_utf8_step(text, (size_t)length) != step ||
                szgi_utf8_step(text, (size_t)length - 1) != 0 || /* cut off */
                szgi_shown_step(text, (size_t)length) != (is_control(code) ? 0 : step))
                ck_abort_msg("U+%04" PRIX32 " in %d bytes", code, length);
        }
    }
}
END_TEST

/* Of a text of random characters, whose places are known as it is made. */
START_TEST(bytes_that_continue_a_character_are_known) {
    enum { CHARACTERS = 40 };
    szgi_stream stream = {.seed = test_seed(), .purpose = 50};
    for (int64_t trial = 0; trial < test_trials(200); trial++) {
        char text[4 * CHARACTERS + 1];
        bool begins[4 * CHARACTERS + 1] = {false};
        size_t length = 0;
        stream.step = (uint32_t)trial;
        for (uint64_t i = 0; i < CHARACTERS; i++) {
            static const uint32_t most[] = {0x7F, 0x7FF, 0xFFFF, 0x10FFFF};
            uint32_t range = most[szgi_random_below(&stream, 2 * i, 4)];
            uint32_t code = 1 + (uint32_t)szgi_random_below(&stream, 2 * i + 1, range);
            code = is_surrogate(code) ? 'x' : code;
            begins[length] = true;
            encode(code, length_of(code), (unsigned char *)text + length);
            length += (size_t)length_of(code);
        }
        ck_assert_int_eq(szgi_utf8_check(text, length), -1);
        for (size_t cut = 0; cut < length; cut++)
            ck_assert_int_eq(szgi_utf8_continues(text[cut]), !begins[cut]);
    }
}
END_TEST

START_TEST(what_a_terminal_obeys_is_made_visible) {
    char out[SZGI_SHOWN];
    ck_assert_str_eq(szgi_show("a\x1b\n\xc2\x9b\xc3\xa9\xed\xa0\x80\xff", out, sizeof out),
                     "a\\x1b\\x0a\\xc2\\x9b\xc3\xa9\\xed\\xa0\\x80\\xff");
    ck_assert_str_eq(szgi_show("abcdefgh", out, 9), "abcde...");
}
END_TEST

/* Columns as Unicode 15 has them (UAX 11: wide characters take two; combining ones none). */
START_TEST(columns_of_a_terminal_are_counted) {
    static const struct {
        const char *text;
        int columns[5]; /* of each character */
    } texts[] = {{"abc", {1, 1, 1}},
                 {"\u03bb\u00e9\u2026", {1, 1, 1}},
                 {"\u4e16a\u754c", {2, 1, 2}},
                 {"e\u0301t", {1, 0, 1}},
                 {"\U0001F600\U0001D54A", {2, 1}}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t total = 0;
        for (int k = 0; k < 5; k++)
            total += texts[i].columns[k];
        ck_assert_int_eq(szgi_utf8_columns(texts[i].text), total);
        for (int64_t most = 0; most <= total; most++) {
            size_t bytes = 0;
            int64_t used = 0;
            for (int k = 0; texts[i].text[bytes] && used + texts[i].columns[k] <= most; k++) {
                used += texts[i].columns[k];
                bytes += (size_t)szgi_utf8_step((const unsigned char *)texts[i].text + bytes, 4);
            }
            ck_assert_int_eq(szgi_utf8_fit(texts[i].text, most), bytes);
        }
    }
    ck_assert_int_eq(szgi_utf8_columns(""), 0);
    ck_assert_int_eq(szgi_utf8_fit("abc", -1), 0);
}
END_TEST

START_TEST(endings_are_compared) {
    ck_assert(szgi_text_ends("a.weight", "weight") && szgi_text_ends("weight", "weight"));
    ck_assert(!szgi_text_ends("a.Weight", "weight") && !szgi_text_ends("eight", "weight"));
    ck_assert(szgi_text_ends("", "") && !szgi_text_ends("weights", "weight"));
    ck_assert(szgi_path_ends("X.CSV", ".csv") && szgi_path_ends("x.csv", ".CSV"));
    ck_assert(!szgi_path_ends("csv", ".csv") && !szgi_path_ends("x.csv/", ".csv"));
    ck_assert_str_eq(szgi_path_name("a/b.c"), "b.c");
    ck_assert_str_eq(szgi_path_name("b.c"), "b.c");
}
END_TEST

START_TEST(whole_numbers_are_read_whole) {
    static const struct {
        const char *text;
        szgi_parsed parsed;
        int64_t value;
    } texts[] = {{"0", SZGI_PARSED, 0},
                 {"-0", SZGI_PARSED, 0},
                 {"007", SZGI_PARSED, 7},
                 {"-12", SZGI_PARSED, -12},
                 {"9223372036854775807", SZGI_PARSED, INT64_MAX},
                 {"-9223372036854775808", SZGI_PARSED, INT64_MIN},
                 {"9223372036854775808", SZGI_PARSED_BEYOND, INT64_MAX},
                 {"-9223372036854775809", SZGI_PARSED_BEYOND, INT64_MIN},
                 {"", SZGI_PARSED_NONE, 99},
                 {"-", SZGI_PARSED_NONE, 99},
                 {"--1", SZGI_PARSED_NONE, 99},
                 {"+1", SZGI_PARSED_NONE, 99},
                 {" 1", SZGI_PARSED_NONE, 99},
                 {"1 ", SZGI_PARSED_NONE, 99},
                 {"1.0", SZGI_PARSED_NONE, 99},
                 {"0x10", SZGI_PARSED_NONE, 99},
                 {"9223372036854775808x", SZGI_PARSED_NONE, 99}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t value = 99;
        ck_assert_msg(szgi_integer_parse(texts[i].text, &value) == texts[i].parsed &&
                          value == texts[i].value,
                      "'%s': %" PRId64, texts[i].text, value);
    }
}
END_TEST

START_TEST(spans_are_read) {
    static const struct {
        const char *text, *rest; /* NULL: refused */
        int64_t first, last;
    } texts[] = {{"3", "", 3, 3},
                 {"0-15+2", "+2", 0, 15},
                 {"5-2,", ",", 5, 2}, /* the order is the caller's matter */
                 {"7x", "x", 7, 7},
                 {"9223372036854775807", "", INT64_MAX, INT64_MAX},
                 {"1--2", NULL, 0, 0},
                 {"-1", NULL, 0, 0},
                 {"1-", NULL, 0, 0},
                 {"+1", NULL, 0, 0},
                 {" 1", NULL, 0, 0},
                 {"", NULL, 0, 0},
                 {"9223372036854775808", NULL, 0, 0},
                 {"1-9223372036854775808", NULL, 0, 0}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *at = texts[i].text;
        int64_t first, last;
        bool read = szgi_span_scan(&at, &first, &last);
        ck_assert_msg(read == (texts[i].rest != NULL), "'%s'", texts[i].text);
        ck_assert_str_eq(at, read ? texts[i].rest : texts[i].text);
        ck_assert(!read || (first == texts[i].first && last == texts[i].last));
    }
}
END_TEST

TEST_FILE("characters") {
    test_add(suite, "each_character_has_one_encoding", each_character_has_one_encoding);
    test_add(suite, "bytes_that_continue_a_character_are_known",
             bytes_that_continue_a_character_are_known);
    test_add(suite, "what_a_terminal_obeys_is_made_visible", what_a_terminal_obeys_is_made_visible);
    test_add(suite, "columns_of_a_terminal_are_counted", columns_of_a_terminal_are_counted);
    test_add(suite, "endings_are_compared", endings_are_compared);
    test_add(suite, "whole_numbers_are_read_whole", whole_numbers_are_read_whole);
    test_add(suite, "spans_are_read", spans_are_read);
}
