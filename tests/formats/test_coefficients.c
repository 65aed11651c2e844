#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/coefficients.h"
#include "formats/npy.h"

#include "meddle.h"
#include "npy_complex.h"

static szg_status parse(const char *text, szgi_lags lags, szgi_coefficients *out) {
    return szgi_coefficients_parse(test_context(), "c.csv", text, (int64_t)strlen(text), lags, out);
}

static void check_reals(const char *text, int64_t heads, int64_t count, const double *want) {
    szgi_coefficients c;
    ck_szg_ok(parse(text, SZGI_LAGS_HERMITIAN, &c));
    ck_assert_int_eq(c.heads, heads);
    ck_assert_int_eq(c.count, count);
    ck_assert_ptr_nonnull(c.re);
    ck_assert_ptr_null(c.z);
    for (int64_t i = 0; i < heads * count; i++)
        ck_assert_msg(c.re[i] == want[i], "%s: value %d: %g", text, (int)i, c.re[i]);
    szgi_coefficients_close(&c);
    ck_assert_ptr_null(c.re);
}

START_TEST(texts_are_read) {
    static const double six[6] = {1, 2, 3, 4, 5, 6};
    check_reals("1,2,3,4,5,6", 1, 6, six);
    check_reals("1\n2\n3\n4\n5\n6\n", 1, 6, six);
    check_reals("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n", 1, 6, six);
    check_reals("# heads\n1 2 3 # first\n\n 4\t5  6\n", 2, 3, six);
    check_reals("1 ; 2;3\n4 , 5 ,6", 2, 3, six);
    check_reals("\xEF\xBB\xBF+1.0e0,0x1p1,3.,4,5,6", 1, 6, six);
    check_reals("1+0j 2 3 4 5 (6-0j)", 1, 6, six);
    check_reals("7", 1, 1, (double[]){7});
}
END_TEST

START_TEST(complex_texts_are_read) {
    static const szg_c64 want[8] = {{1, 0},  {1.5, -2},   {0, 2},       {0, -1e-3},
                                    {-1, 3}, {0x1p-3, 1}, {1e5, -2e-7}, {0, 0x1p-3}};
    szgi_coefficients c;
    ck_szg_ok(parse("1 1.5-2j 2i -1e-3j (-1+3j) 0x1p-3+1j (1e+5+-2e-7j) 0x1p-3j",
                    SZGI_LAGS_HERMITIAN, &c));
    ck_assert_ptr_null(c.re);
    ck_assert_int_eq(c.count, 8);
    ck_assert_mem_eq(c.z, want, sizeof want);
    szgi_coefficients_close(&c);
    ck_szg_ok(parse("1-1j 1j 1+1j", SZGI_LAGS_FULL, &c));
    ck_assert_int_eq(c.count, 3);
    szgi_coefficients_close(&c);
}
END_TEST

START_TEST(bad_texts_are_refused) {
    static const struct {
        const char *text;
        szgi_lags lags;
        const char *words;
    } bad[] = {
        {"", SZGI_LAGS_HERMITIAN, "c.csv: holds no numbers"},
        {"\n# nothing\n \n", SZGI_LAGS_HERMITIAN, "c.csv: holds no numbers"},
        {"lag,value\n0,1", SZGI_LAGS_HERMITIAN,
         "line 1, column 1: \"lag\" is not a number: remove headings"},
        {"1,2\n3,x\x1b\n", SZGI_LAGS_HERMITIAN, "line 2, column 2: \"x\\x1b\" is not a number"},
        {"1,nan", SZGI_LAGS_HERMITIAN, "line 1, column 2: \"nan\": coefficients are finite"},
        {"1\n-inf", SZGI_LAGS_HERMITIAN, "line 2, column 1: \"-inf\": coefficients are finite"},
        {"1,nanj", SZGI_LAGS_HERMITIAN, "coefficients are finite"},
        {"1,1e999", SZGI_LAGS_HERMITIAN, "\"1e999\" is not a number"},
        {"1,2,3\n\n4,5\n", SZGI_LAGS_HERMITIAN,
         "line 3: 2 numbers where the first row has 3: every head needs as many"},
        {"1\n2,3\n", SZGI_LAGS_HERMITIAN, "line 2: 2 numbers where the first row has 1"},
        {"1,,2", SZGI_LAGS_HERMITIAN, "line 1, column 2: an empty field"},
        {"1,2,", SZGI_LAGS_HERMITIAN, "line 1, column 3: an empty field"},
        {",1", SZGI_LAGS_HERMITIAN, "line 1, column 1: an empty field"},
        {"1,2,3,4", SZGI_LAGS_FULL, "4 values a head: lags=full needs an odd number"},
        {"1+2j,3", SZGI_LAGS_HERMITIAN, "head 0: lag 0 has the imaginary part 2"},
        {"1,3\n1j,3", SZGI_LAGS_HERMITIAN, "head 1: lag 0 has the imaginary part 1"},
        {"j", SZGI_LAGS_HERMITIAN, "is not a number"},
        {"1+j", SZGI_LAGS_HERMITIAN, "is not a number"},
        {"()", SZGI_LAGS_HERMITIAN, "is not a number"},
        {"+-j", SZGI_LAGS_HERMITIAN, "is not a number"},
        {"1..2", SZGI_LAGS_HERMITIAN, "is not a number"},
        {"--1j", SZGI_LAGS_HERMITIAN, "is not a number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szgi_coefficients c;
        ck_szg_fails(SZG_EDATA, bad[i].words, parse(bad[i].text, bad[i].lags, &c));
        ck_szg_fails(SZG_EDATA, "c.csv: ", parse(bad[i].text, bad[i].lags, &c));
        ck_assert(!c.re && !c.z && c.count == 0);
    }
    char nines[300];
    szgi_coefficients c;
    memset(nines, '9', sizeof nines);
    nines[sizeof nines - 1] = 0;
    ck_szg_fails(SZG_EDATA, "...\" is not a number", parse(nines, SZGI_LAGS_HERMITIAN, &c));
    ck_szg_fails(
        SZG_EDATA, "is not a number",
        szgi_coefficients_parse(test_context(), "c.csv", "1\0002", 3, SZGI_LAGS_HERMITIAN, &c));
}
END_TEST

/* 2 (4.9e289 + 0) is below the bound, 2 (5.1e289) is not; the numbers of the others stay. */
START_TEST(bad_heads_are_marked) {
    szgi_coefficients c;
    ck_szg_ok(parse("4.9e289,0\n5.1e289,0\n1,inf\n1,2\n", SZGI_LAGS_HERMITIAN, &c));
    ck_assert(c.bad && !c.bad[0] && c.bad[1] && c.bad[2] && !c.bad[3]);
    ck_assert(c.re && c.re[0] == 4.9e289 && c.re[7] == 2);
    szgi_coefficients_close(&c);
    ck_szg_ok(parse("1,2\n3,4\n", SZGI_LAGS_HERMITIAN, &c));
    ck_assert(!c.bad);
    szgi_coefficients_close(&c);
}
END_TEST

START_TEST(arrays_are_read) {
    static const double x[6] = {1, 2, 3, 4, 5, 6};
    static const szg_c64 z[4] = {{1, 0}, {2, 3}, {4, 0}, {5, -6}};
    szgi_coefficients c;
    const char *path = scratch_path("c.npy");
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, (const int64_t[]){2, 3}, x));
    ck_szg_ok(szgi_coefficients_read(test_context(), path, SZGI_LAGS_FULL, &c));
    ck_assert(c.heads == 2 && c.count == 3 && c.lags == SZGI_LAGS_FULL);
    ck_assert_mem_eq(c.re, x, sizeof x);
    szgi_coefficients_close(&c);
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 1, (const int64_t[]){6}, x));
    ck_szg_ok(szgi_coefficients_read(test_context(), path, SZGI_LAGS_HERMITIAN, &c));
    ck_assert(c.heads == 1 && c.count == 6);
    szgi_coefficients_close(&c);
    write_npy_complex(path, 2, (const int64_t[]){2, 2}, z);
    ck_szg_ok(szgi_coefficients_read(test_context(), path, SZGI_LAGS_HERMITIAN, &c));
    ck_assert_mem_eq(c.z, z, sizeof z);
    szgi_coefficients_close(&c);
}
END_TEST

/* Of an npy file the first two reads are the header's; of a text the first one tells that it is
 * none. */
START_TEST(files_that_change_meanwhile) {
    static const double x[3] = {1, 2, 3};
    szgi_coefficients c;
    const char *path = scratch_path("change.npy");
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 1, (const int64_t[]){3}, x));
    ck_notices_changes(path, 3, szgi_coefficients_read(test_context(), path, SZGI_LAGS_FULL, &c));
    path = scratch_text("change.csv", "1,2,3\n");
    ck_notices_changes(path, 2, szgi_coefficients_read(test_context(), path, SZGI_LAGS_FULL, &c));
}
END_TEST

START_TEST(bad_arrays_are_refused) {
    static const double x[6] = {1, 2, 3, 4, (double)NAN, 6};
    szgi_coefficients c;
    const char *path = scratch_path("bad.npy");
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, (const int64_t[]){2, 3}, x));
    ck_szg_ok(szgi_coefficients_read(test_context(), path, SZGI_LAGS_HERMITIAN, &c));
    ck_assert(c.bad && !c.bad[0] && c.bad[1] && c.heads == 2);
    szgi_coefficients_close(&c);
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, (const int64_t[]){1, 3}, x + 3));
    ck_szg_fails(SZG_EDATA, "bad.npy: head 0, value 1 is NaN or infinite",
                 szgi_coefficients_read(test_context(), path, SZGI_LAGS_HERMITIAN, &c));
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 3, (const int64_t[]){1, 2, 2}, x));
    ck_szg_fails(SZG_EDATA, "has 3 dimensions",
                 szgi_coefficients_read(test_context(), path, SZGI_LAGS_HERMITIAN, &c));
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 0, NULL, x));
    ck_szg_fails(SZG_EDATA, "has 0 dimensions",
                 szgi_coefficients_read(test_context(), path, SZGI_LAGS_HERMITIAN, &c));
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, (const int64_t[]){5, 0}, x));
    ck_szg_fails(SZG_EDATA, "holds no numbers",
                 szgi_coefficients_read(test_context(), path, SZGI_LAGS_HERMITIAN, &c));
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 1, (const int64_t[]){4}, x));
    ck_szg_fails(SZG_EDATA, "needs an odd number",
                 szgi_coefficients_read(test_context(), path, SZGI_LAGS_FULL, &c));
    ck_szg_fails(SZG_EDATA, "is not an npy file",
                 szgi_coefficients_read(test_context(), scratch_text("fake.npy", "1,2,3"),
                                        SZGI_LAGS_FULL, &c));
    ck_szg_fails(
        SZG_EDATA, "holds no numbers",
        szgi_coefficients_read(test_context(), scratch_text("empty.csv", ""), SZGI_LAGS_FULL, &c));
    ck_szg_fails(SZG_EIO, "cannot be read",
                 szgi_coefficients_read(test_context(), scratch_path("none"), SZGI_LAGS_FULL, &c));
}
END_TEST

START_TEST(coefficients_survive_failed_allocations) {
    szgi_coefficients c;
    ck_survives_failed_allocations(1, parse("1,2,3\n4,5,6", SZGI_LAGS_HERMITIAN, &c));
    szgi_coefficients_close(&c);
    static const double x[3] = {1, 2, 3};
    const char *path = scratch_path("c.npy");
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 1, (const int64_t[]){3}, x));
    ck_survives_failed_allocations(
        1, szgi_coefficients_read(test_context(), path, SZGI_LAGS_HERMITIAN, &c));
    szgi_coefficients_close(&c);
}
END_TEST

TEST_FILE("coefficients") {
    test_add(suite, "texts_are_read", texts_are_read);
    test_add(suite, "complex_texts_are_read", complex_texts_are_read);
    test_add(suite, "bad_texts_are_refused", bad_texts_are_refused);
    test_add(suite, "bad_heads_are_marked", bad_heads_are_marked);
    test_add(suite, "arrays_are_read", arrays_are_read);
    test_add(suite, "files_that_change_meanwhile", files_that_change_meanwhile);
    test_add(suite, "bad_arrays_are_refused", bad_arrays_are_refused);
    test_add(suite, "coefficients_survive_failed_allocations",
             coefficients_survive_failed_allocations);
}
