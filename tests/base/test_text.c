/* Text that grows, and numbers whatever the locale. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "base/text.h"

#include "comma_locale.h"
#include "suite.h"

/* "0,1,2," and so on: long enough to grow several times and to pass stdio's buffer. */
static szg_status print_numbers(szgi_text *out, int count) {
    SZG_TRY(szgi_text_open(test_context(), out));
    for (int i = 0; i < count; i++)
        fprintf(out->stream, "%d,", i);
    return szgi_text_end(out, SZG_OK);
}

static szg_status print_and_close(int count) {
    szgi_text text;
    szg_status status = print_numbers(&text, count);
    ck_assert_int_eq(text.text != NULL, status == SZG_OK);
    szgi_text_close(&text);
    return status;
}

START_TEST(text_grows) {
    static const int counts[] = {0, 1, 100, 10000};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        szgi_text text;
        ck_szg_ok(print_numbers(&text, counts[k]));
        ck_assert_ptr_null(text.stream);
        char *at = text.text;
        for (long i = 0; i < counts[k]; i++) {
            ck_assert_int_eq(strtol(at, &at, 10), i);
            ck_assert_int_eq(*at++, ',');
        }
        ck_assert_int_eq(*at, 0);
        ck_assert_int_eq(at - text.text, text.length);
        szgi_text_close(&text);
        szgi_text_close(&text);
    }
    szgi_text text;
    ck_szg_ok(szgi_text_open(test_context(), &text));
    ck_assert_int_eq(fwrite("a\0b", 1, 3, text.stream), 3); /* any bytes */
    ck_szg_ok(szgi_text_end(&text, SZG_OK));
    ck_assert_int_eq(text.length, 3);
    ck_assert_int_eq(memcmp(text.text, "a\0b", 4), 0);
    szgi_text_close(&text);
    ck_szg_ok(szgi_text_open(test_context(), &text));
    szgi_text_close(&text); /* without its end */
}
END_TEST

/* Whatever the work noticed, a refusal is told, and nothing that was cut off is handed out. */
START_TEST(text_remembers_a_refusal) {
    szg_context *context = test_context();
    /* The text, its first memory, and at least one growth, as stdio hands over its buffer. */
    ck_survives_failed_allocations(3, print_and_close(10000));
    szgi_text text;
    ck_szg_ok(szgi_text_open(context, &text));
    szgi_memory_fail_after(context, 1);
    for (int i = 0; i < 100000; i++)
        fprintf(text.stream, "%d,", i); /* memory is there again after the first refusal */
    ck_szg_fails(SZG_ENOMEM, "bytes could not grow: out of memory: ",
                 szgi_text_end(&text, szgi_fail(context, SZG_EIO, "the disk is full")));
    ck_assert_ptr_null(text.text);
    szgi_text_close(&text);
    ck_szg_ok(szgi_text_open(context, &text));
    ck_szg_fails(SZG_EDOMAIN, "the work",
                 szgi_text_end(&text, szgi_fail(context, SZG_EDOMAIN, "the work")));
    ck_assert_ptr_null(text.text);
    szgi_text_close(&text);
}
END_TEST

static szg_status print_long(szg_context *context, int64_t lines) {
    static const char line[1 << 16];
    szgi_text text;
    SZG_TRY(szgi_text_open(context, &text));
    for (int64_t i = 0; i < lines; i++)
        (void)!fwrite(line, 1, sizeof line, text.stream); /* as work that looks at no error */
    szg_status status = szgi_text_end(&text, szgi_fail(context, SZG_EIO, "cannot be written"));
    szgi_text_close(&text);
    return status == SZG_EIO ? SZG_OK : status;
}

/* A block of 16 MiB and its end is looked at once, one of twice that twice. The status and its
 * words are those of the look, so that Ctrl-C ends a command as it does elsewhere. */
START_TEST(a_long_text_is_cancelled) {
    test_looks looks;
    szg_context *context = test_counting_context(&looks);
    ck_looks_for_cancellation(&looks, 1 + 2, print_long(context, (17 << 20) >> 16));
    ck_assert_str_eq(szg_context_message(context), "the time is up");
    szg_context_close(&context);
}
END_TEST

START_TEST(a_comma_in_the_locale_changes_nothing) {
    szg_context *context = test_context();
    char text[SZGI_REAL_TEXT], *end;
    double value = 0;
    enter_comma_locale();
    ck_assert_str_eq(szgi_real_text(0.1, text), "0.1");
    ck_assert_str_eq(szgi_hex_text(0.75, text), "0x1.8p-1");
    ck_assert(szgi_real_parse("2.5", &value) && value == 2.5);
    ck_assert(!szgi_real_parse("2,5", &value));
    ck_assert(szgi_real_scan("1.5:x", &end) == 1.5 && *end == ':');
    ck_assert_int_eq(szgi_print(text, sizeof text, "%.2f", 0.25), 4);
    ck_assert_str_eq(text, "0.25");
    (void)szgi_fail(context, SZG_EIO, "rho=%g", 0.5);
    (void)szgi_fail_prefix(context, SZG_EIO, "p=%g", 1.5);
    ck_assert_str_eq(szg_context_message(context), "p=1.5: rho=0.5");
    ck_szg_fails(SZG_ENOMEM, "8.0 EiB",
                 szgi_memory_require(context, 1 << 30, 1 << 30, 8, "a dense matrix", "less"));
    static const szg_column note = {"note", SZG_TEXT, "why"};
    szg_table *table;
    ck_szg_ok(szg_table_open(context, "t", &note, 1, &table));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_ok(szg_table_note(context, table, "off by %.1e", 2.5));
    ck_assert_str_eq(szg_table_get_text(table, 0, 0), "off by 2.5e+00");
    szg_table_close(&table);
    snprintf(text, sizeof text, "%.1f", 0.5); /* the caller's own choice stays */
    ck_assert_str_eq(text, "0,5");
    leave_comma_locale();
}
END_TEST

static void check_shortest(double value) {
    char text[SZGI_REAL_TEXT], want[SZGI_REAL_TEXT];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(want, sizeof want, "%.*g", digits, value);
        if (strtod(want, NULL) == value)
            break;
    }
    ck_assert_str_eq(szgi_real_text(value, text), want);
}

/* Numbers that need 15, 16 and 17 digits, powers of two and ten and what is next to them, and the
 * last digit of 15 and of 16 both odd and even. */
START_TEST(texts_of_reals_are_the_shortest) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 41};
    for (int exponent = -330; exponent <= 308; exponent++) {
        char power[32];
        snprintf(power, sizeof power, "9.99999999999999e%d", exponent);
        double nines = strtod(power, NULL); /* log10 rounds up to an integer */
        snprintf(power, sizeof power, "1e%d", exponent);
        double ten = strtod(power, NULL), two = ldexp(1, exponent);
        const double near[] = {nines, ten, nextafter(ten, 0), nextafter(ten, INFINITY),
                               -ten,  two, nextafter(two, 0), nextafter(two, INFINITY)};
        for (size_t i = 0; i < sizeof near / sizeof *near; i++)
            check_shortest(near[i]);
    }
    for (uint64_t i = 0; i < 40000; i++) {
        char decimal[64];
        double random = szgi_random_normal(&stream, 3 * i);
        int exponent = (int)szgi_random_below(&stream, 3 * i + 1, 60) - 30;
        check_shortest(random * pow(10, exponent / 2));
        snprintf(decimal, sizeof decimal, "%.*e", 13 + (int)(i % 3), random);
        snprintf(strchr(decimal, 'e'), 16, "e%d", exponent);
        double rounded = strtod(decimal, NULL);
        check_shortest(rounded);
        check_shortest(nextafter(rounded, 0));
    }
}
END_TEST

TEST_FILE("text") {
    test_add(suite, "texts_of_reals_are_the_shortest", texts_of_reals_are_the_shortest);
    test_add(suite, "text_grows", text_grows);
    test_add(suite, "text_remembers_a_refusal", text_remembers_a_refusal);
    test_add(suite, "a_long_text_is_cancelled", a_long_text_is_cancelled);
    test_add(suite, "a_comma_in_the_locale_changes_nothing", a_comma_in_the_locale_changes_nothing);
}
