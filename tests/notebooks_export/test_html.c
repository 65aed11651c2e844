/* Text in HTML: what comes out is nothing but text, whatever goes in. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "suite.h"

static char *printed(const char *text) {
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    szgi_html_text(stream, text);
    fclose(stream);
    return out;
}

static void check(const char *text, const char *want) {
    char *got = printed(text);
    ck_assert_str_eq(got, want);
    free(got);
}

/* The numbers that an independent definition of UTF-8 (C's mbrtowc in a UTF-8 locale is not at hand
 * everywhere) gives back: -1 for anything else. Tries every length, rebuilds and compares. */
static int32_t code_of(const unsigned char *bytes, int length) {
    static const int lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    int32_t from = length == 1 ? 0 : length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
    int32_t to = length == 1 ? 0x7F : length == 2 ? 0x7FF : length == 3 ? 0xFFFF : 0x10FFFF;
    int32_t code = length == 1 ? bytes[0] : bytes[0] - lead[length];
    for (int i = 1; i < length; i++)
        code = code * 64 + bytes[i] - 0x80;
    if (code < from || code > to || (code >= 0xD800 && code <= 0xDFFF))
        return -1;
    for (int i = length - 1; i > 0; i--)
        if (bytes[i] < 0x80 || bytes[i] > 0xBF)
            return -1;
    return code;
}

/* No byte below ' ' but tab and newline, no tag, quote or bare ampersand, valid UTF-8, no character
 * that turns the line. */
static void check_harmless(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int length = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
        int32_t code = code_of(at, length);
        if (code < 0 || (code < 0x80 && strchr("<>\"'", code)) ||
            (code < ' ' && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0) ||
            (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
            code == 0x200E || code == 0x200F || code == 0x61C || code == 0xFEFF ||
            (code & 0xFFFE) == 0xFFFE)
            ck_abort_msg("character %x in: %s", (unsigned)code, text);
        const char *rest = (const char *)at;
        if (code == '&' && strncmp(rest, "&amp;", 5) && strncmp(rest, "&lt;", 4) &&
            strncmp(rest, "&gt;", 4) && strncmp(rest, "&quot;", 6) && strncmp(rest, "&#39;", 5))
            ck_abort_msg("a bare & in: %s", text);
        at += length;
    }
}

START_TEST(names_become_text) {
    check(NULL, "");
    check("", "");
    check("layers.0.attn", "layers.0.attn");
    check("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
    check("\" onload='x' & &amp;", "&quot; onload=&#39;x&#39; &amp; &amp;amp;");
    check("a\tb\nc", "a\tb\nc");
    check("\r\x1b[31m\x7f", "\\x0d\\x1b[31m\\x7f");
    check("\xC2\x9B", "\\x9b");
    check("\xE2\x80\xAEgnp.exe", "\\u202egnp.exe");
    check("\xE2\x81\xA6\xE2\x80\x8F\xD8\x9C\xEF\xBB\xBF", "\\u2066\\u200f\\u061c\\ufeff");
    check("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    check("\xFF\xC3(", "\xEF\xBF\xBD\xEF\xBF\xBD(");
    check("\xC0\xAF\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    check("\xEF\xBF\xBF\xEF\xB7\x90", "\xEF\xBF\xBD\xEF\xBF\xBD"); /* noncharacters */
    check("cut \xE2\x82", "cut \xEF\xBF\xBD\xEF\xBF\xBD");
}
END_TEST

/* Each one and two bytes, then longer ones that lean to the edges of UTF-8. */
START_TEST(every_byte_is_harmless) {
    static const char edges[] =
        "\x01\x0A\x1F <>&'\"\x7F\x80\x8F\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE2"
        "\xED\xEF\xF0\xF4\xF5\xF7\xF8\xFF\xAE\xBB";
    szgi_stream stream = {.seed = test_seed(), .purpose = 81};
    char text[9];
    for (int first = 1; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            snprintf(text, sizeof text, "%c%c", first, second);
            text[2] = 0;
            char *got = printed(text);
            check_harmless(got);
            free(got);
        }
    for (int64_t trial = 0; trial < test_trials(100000); trial++) {
        for (uint64_t i = 0; i < 8; i++) {
            uint32_t word = szgi_random_word(&stream, 8 * (uint64_t)trial + i);
            text[i] = edges[word % (sizeof edges - 1)];
        }
        text[8] = 0;
        char *got = printed(text);
        check_harmless(got);
        free(got);
    }
}
END_TEST

/* Characters that are valid and neither hidden nor special come out as they are. */
START_TEST(every_character_comes_back) {
    for (int32_t code = 0xA0; code < 0x110000; code += code < 0x3000 ? 1 : 257) {
        char text[5] = {0}, small[16];
        int length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (int i = length - 1, rest = code; i > 0; i--, rest /= 64)
            text[i] = (char)(0x80 + rest % 64);
        text[0] = (char)(length == 2   ? 0xC0 + code / 64
                         : length == 3 ? 0xE0 + code / 4096
                                       : 0xF0 + code / 262144);
        char *got = printed(text);
        snprintf(small, sizeof small, "\\u%04x", (unsigned)code);
        if (strcmp(got, text) != 0 && strcmp(got, small) != 0 &&
            !(strncmp(got, "\xEF\xBF\xBD", 3) == 0 &&
              ((code >= 0xD800 && code < 0xE000) || (code & 0xFFFE) == 0xFFFE ||
               (code >= 0xFDD0 && code <= 0xFDEF))))
            ck_abort_msg("U+%04X became %s", (unsigned)code, got);
        free(got);
    }
}
END_TEST

static char *formatted(int64_t clip, const char *text) {
    char *out = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&out, &size);
    if (clip > 0)
        szgi_html_clipped(stream, text, clip);
    else
        szgi_html_print(stream, "%s<%d>", text, 7);
    fclose(stream);
    return out;
}

START_TEST(formats_and_clips_are_escaped) {
    char *got = formatted(0, "<b>"), *large = malloc(100001);
    ck_assert_str_eq(got, "&lt;b&gt;&lt;7&gt;");
    free(got);
    memset(large, '<', 100000);
    large[100000] = 0;
    got = formatted(0, large);
    ck_assert_uint_eq(strlen(got), 4 * HTML_PRINTED + strlen("\xE2\x80\xA6"));
    check_harmless(got);
    free(got);
    free(large);
    got = formatted(2, "\xC3\xA9<>");
    ck_assert_str_eq(got, "\xC3\xA9&lt;\xE2\x80\xA6");
    free(got);
    got = formatted(4, "\xC3\xA9<>");
    ck_assert_str_eq(got, "\xC3\xA9&lt;&gt;");
    free(got);
}
END_TEST

START_TEST(numbers_have_six_digits) {
    static const struct {
        double value;
        const char *want;
    } cases[] = {{0, "0"},
                 {0.1, "0.1"},
                 {-1234567.8, "-1.23457e+06"},
                 {1 / 3.0, "0.333333"},
                 {1e-300, "1e-300"},
                 {NAN, "nan"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&out, &size);
        szgi_html_number(stream, cases[i].value);
        fclose(stream);
        ck_assert_str_eq(out, cases[i].want);
        free(out);
    }
}
END_TEST

TEST_FILE("html") {
    test_add(suite, "names_become_text", names_become_text);
    test_add(suite, "every_byte_is_harmless", every_byte_is_harmless);
    test_add(suite, "every_character_comes_back", every_character_comes_back);
    test_add(suite, "formats_and_clips_are_escaped", formats_and_clips_are_escaped);
    test_add(suite, "numbers_have_six_digits", numbers_have_six_digits);
}
