#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/npy.h"

#include "npy_complex.h"
#include "scratch.h"

/* An image of version `major` with this dictionary, then `size` bytes of data. */
static szg_status open_image(int major, const char *dictionary, const void *data, size_t size,
                             szgi_npy **out) {
    static unsigned char bytes[4096];
    size_t length = strlen(dictionary), prefix = major == 1 ? 10 : 12;
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)major;
    bytes[8] = (unsigned char)(length & 255);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + prefix, dictionary, length);
    memcpy(bytes + prefix + length, data, size);
    return szgi_npy_open_bytes(test_context(), "a.npy", bytes, (int64_t)(prefix + length + size),
                               out);
}

#define DICTIONARY(type, order, shape)                                                             \
    "{'descr': '" type "', 'fortran_order': " order ", 'shape': " shape ", }    \n"

static void check_reals(const char *dictionary, const void *data, size_t size, int64_t count,
                        const double *want) {
    double got[16];
    szgi_npy *npy;
    for (int major = 1; major <= 3; major++) {
        ck_szg_ok(open_image(major, dictionary, data, size, &npy));
        ck_assert_int_eq(szgi_npy_count(npy), count);
        ck_assert(!szgi_npy_is_complex(npy));
        ck_szg_ok(szgi_npy_read_real(test_context(), npy, 0, count, got));
        for (int64_t i = 0; i < count; i++) {
            ck_assert_msg(got[i] == want[i], "%s: %a, not %a", dictionary, got[i], want[i]);
            double one;
            ck_szg_ok(szgi_npy_read_real(test_context(), npy, i, 1, &one));
            ck_assert_double_eq(one, want[i]);
        }
        szgi_npy_close(&npy);
    }
}

START_TEST(element_types_are_read) {
    check_reals(DICTIONARY("<f8", "False", "(2,)"), (double[]){0.1, -3}, 16, 2,
                (double[]){0.1, -3});
    check_reals(DICTIONARY(">f8", "False", "(1,)"), "\x3F\xF0\0\0\0\0\0\0", 8, 1, (double[]){1});
    check_reals(DICTIONARY("<f4", "False", "(2,)"), (float[]){0.1f, 5}, 8, 2,
                (double[]){(double)0.1f, 5});
    check_reals(DICTIONARY(">f4", "False", "(1,)"), "\xC0\0\0\0", 4, 1, (double[]){-2});
    check_reals(DICTIONARY("<f2", "False", "(2,)"), "\0\x3C\1\0", 4, 2, (double[]){1, 0x1p-24});
    check_reals(DICTIONARY("|b1", "False", "(2,)"), "\1\0", 2, 2, (double[]){1, 0});
    check_reals(DICTIONARY("|i1", "False", "(2,)"), "\xFF\x7F", 2, 2, (double[]){-1, 127});
    check_reals(DICTIONARY("|u1", "False", "(1,)"), "\xFF", 1, 1, (double[]){255});
    check_reals(DICTIONARY("<i2", "False", "(1,)"), "\0\x80", 2, 1, (double[]){-32768});
    check_reals(DICTIONARY(">u2", "False", "(1,)"), "\x80\1", 2, 1, (double[]){32769});
    check_reals(DICTIONARY("<i4", "False", "(1,)"), "\0\0\0\x80", 4, 1, (double[]){-0x1p31});
    check_reals(DICTIONARY("<u4", "False", "(1,)"), "\0\0\0\x80", 4, 1, (double[]){0x1p31});
    check_reals(DICTIONARY("<i8", "False", "(2,)"), (int64_t[]){INT64_MIN, -7}, 16, 2,
                (double[]){-0x1p63, -7});
    check_reals(DICTIONARY("<u8", "False", "(1,)"), (uint64_t[]){1ull << 63}, 8, 1,
                (double[]){0x1p63});
    check_reals(DICTIONARY("=f8", "False", "()"), (double[]){7}, 8, 1, (double[]){7});
    check_reals(DICTIONARY("<f8", "False", "(0, 9)"), "", 0, 0, NULL);
    check_reals("{\"shape\":(1L,),\"descr\":\"<f8\",\"fortran_order\":False}", (double[]){7}, 8, 1,
                (double[]){7});
}
END_TEST

START_TEST(roundoff_of_types) {
    static const struct {
        const char *dictionary;
        double roundoff;
    } cases[] = {{DICTIONARY("<f8", "False", "(0,)"), 0x1p-53},
                 {DICTIONARY(">f4", "False", "(0,)"), 0x1p-24},
                 {DICTIONARY("<f2", "False", "(0,)"), 0x1p-11},
                 {DICTIONARY("<c8", "False", "(0,)"), 0x1p-24},
                 {DICTIONARY("<i4", "False", "(0,)"), 0}};
    for (int i = 0; i < 5; i++) {
        szgi_npy *npy;
        ck_szg_ok(open_image(1, cases[i].dictionary, "", 0, &npy));
        ck_assert(szgi_npy_roundoff(npy) == cases[i].roundoff);
        szgi_npy_close(&npy);
    }
}
END_TEST

START_TEST(fortran_order_is_turned) {
    static const double stored[12] = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
    static const double want[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    check_reals(DICTIONARY("<f8", "True", "(2, 3, 2)"), stored, sizeof stored, 12, want);
    check_reals(DICTIONARY("<f8", "False", "(2, 3, 2)"), want, sizeof want, 12, want);
}
END_TEST

START_TEST(complex_arrays_are_read) {
    static const double c16[4] = {1, -2, 0.1, 4};
    static const float c8[2] = {1.5f, -2};
    szg_c64 z[2];
    double x;
    szgi_npy *npy;
    ck_szg_ok(open_image(1, DICTIONARY("<c16", "False", "(2,)"), c16, sizeof c16, &npy));
    ck_assert(szgi_npy_is_complex(npy));
    ck_szg_ok(szgi_npy_read_complex(test_context(), npy, 0, 2, z));
    ck_assert_mem_eq(z, c16, sizeof z);
    ck_szg_fails(SZG_EINVAL, "the array is complex",
                 szgi_npy_read_real(test_context(), npy, 0, 1, &x));
    ck_szg_fails(SZG_EINVAL, "2 elements from 1 on are not within its 2",
                 szgi_npy_read_complex(test_context(), npy, 1, 2, z));
    szgi_npy_close(&npy);
    ck_szg_ok(open_image(1, DICTIONARY("<c8", "False", "(1,)"), c8, sizeof c8, &npy));
    ck_szg_ok(szgi_npy_read_complex(test_context(), npy, 0, 1, z));
    ck_assert(z[0].re == 1.5 && z[0].im == -2);
    szgi_npy_close(&npy);
}
END_TEST

START_TEST(inexact_integers_are_refused) {
    static const struct {
        const char *dictionary;
        uint64_t bits;
    } bad[] = {
        {DICTIONARY("<i8", "False", "(1,)"), (1ull << 53) + 1},
        {DICTIONARY("<i8", "False", "(1,)"), INT64_MAX},
        {DICTIONARY("<u8", "False", "(1,)"), UINT64_MAX},
        {DICTIONARY("<i8", "False", "(1,)"), (uint64_t)(INT64_MIN + 1)},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szgi_npy *npy;
        double x;
        ck_szg_ok(open_image(1, bad[i].dictionary, &bad[i].bits, 8, &npy));
        ck_szg_fails(SZG_EDATA, "element 0: an integer beyond 2^53",
                     szgi_npy_read_real(test_context(), npy, 0, 1, &x));
        szgi_npy_close(&npy);
    }
}
END_TEST

START_TEST(bad_headers_are_refused) {
    static const struct {
        const char *dictionary;
        size_t size;
        const char *words;
    } bad[] = {
        {"", 0, "is not the dictionary"},
        {"[1]", 0, "is not the dictionary"},
        {"{'descr': '<f8'", 0, "is not closed"},
        {"{'descr': '<f8'}", 0, "is missing"},
        {"{}", 0, "is missing"},
        {"{'descr': '<f8', 'descr': '<f8'}", 0, "'descr' is unknown or there twice"},
        {"{'x\x1b': 1}", 0, "'x\\x1b' is unknown"},
        {"{'descr': 8}", 0, "'descr' is not the name of a type"},
        {"{'descr': [('re', '<f8')], 'fortran_order': False, 'shape': (1,)}", 8,
         "a structured array: save one field"},
        {DICTIONARY("|O", "False", "(1,)"), 8, "save a.astype('<f8')"},
        {DICTIONARY("<f16", "False", "(1,)"), 16, "elements of type '<f16' are not numbers"},
        {DICTIONARY("<f8x", "False", "(1,)"), 8, "elements of type '<f8x'"},
        {DICTIONARY("<i3", "False", "(1,)"), 3, "elements of type '<i3'"},
        {DICTIONARY("|S8", "False", "(1,)"), 8, "elements of type '|S8'"},
        {DICTIONARY("<", "False", "(1,)"), 8, "elements of type '<'"},
        {DICTIONARY("", "False", "(1,)"), 8, "elements of type ''"},
        {DICTIONARY("<f8", "Maybe", "(1,)"), 8, "'fortran_order' is not True or False"},
        {DICTIONARY("<f8", "False", "[1]"), 8, "'shape' is not a tuple"},
        {DICTIONARY("<f8", "False", "(-1,)"), 8, "something that is not a size"},
        {DICTIONARY("<f8", "False", "(1.5,)"), 8, "'shape' is not closed"},
        {DICTIONARY("<f8", "False", "(99999999999999999999,)"), 8, "beyond 64 bits"},
        {DICTIONARY("<f8", "False", "(9223372036854775807, 3)"), 8, "multiply beyond 64 bits"},
        {DICTIONARY("<f8", "False", "(9223372036854775807,)"), 8, "is truncated"},
        {DICTIONARY("<f8", "False",
                    "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                    "1,1,1,1)"),
         8, "more than 32 dimensions"},
        {DICTIONARY("<f8", "False", "(2,)"), 15, "2 elements of 8 bytes need more than the 15"},
        {DICTIONARY("<f8", "False", "(2,)"), 17, "1 bytes follow the array's 2 elements"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", 8, "has text after"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        static const char data[32];
        szgi_npy *npy;
        ck_szg_fails(SZG_EDATA, bad[i].words,
                     open_image(1, bad[i].dictionary, data, bad[i].size, &npy));
        ck_szg_fails(SZG_EDATA,
                     "a.npy: ", open_image(2, bad[i].dictionary, data, bad[i].size, &npy));
        ck_assert_ptr_null(npy);
    }
    static const struct {
        const char *bytes;
        int64_t size;
        const char *words;
    } cut[] = {
        {"version https://git-lfs.github.com/spec/v1\noid", 46, "is a Git LFS pointer"},
        {"", 0, "is not an npy file"},
        {"PK\3\4zipzipzip", 14, "numpy.save"},
        {"\x93NUMPY\1\0\xFF", 9, "is not an npy file"},
        {"\x93NUMPY\4\0\1\0 ", 11, "npy version 4.0 is unknown"},
        {"\x93NUMPY\1\0\xFF\xFF{}", 12, "the file is truncated"},
        {"\x93NUMPY\2\0\1\0\0", 11, "the file is truncated"},
        {"\x93NUMPY\2\0\xFF\xFF\xFF\xFF{}", 14, "the header ends at byte 4294967307"},
    };
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        szgi_npy *npy;
        ck_szg_fails(SZG_EDATA, cut[i].words,
                     szgi_npy_open_bytes(test_context(), "a.npy", cut[i].bytes, cut[i].size, &npy));
    }
}
END_TEST

/* Written bytes are what NumPy 1.26 writes for the same array. */
START_TEST(written_arrays_read_back) {
    static const double x[6] = {0.1, -2, 3, 4, 5, 6};
    static const int64_t shape[2] = {2, 3};
    static const char want[128 + 1] = "\x93NUMPY\1\0v\0{'descr': '<f8', 'fortran_order': False, "
                                      "'shape': (2, 3), }";
    double y[6];
    szgi_npy *npy;
    size_t size;
    const char *path = scratch_path("w.npy");
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, shape, x));
    char *bytes = scratch_read(path, &size);
    ck_assert_uint_eq(size, 128 + sizeof x);
    ck_assert_mem_eq(bytes, want, 10 + strlen(want + 10));
    ck_assert_int_eq(bytes[127], '\n');
    ck_assert_mem_eq(bytes + 128, x, sizeof x);
    free(bytes);
    ck_szg_ok(szgi_npy_open(test_context(), path, &npy));
    ck_assert_int_eq(szgi_npy_dims(npy), 2);
    ck_assert_mem_eq(szgi_npy_shape(npy), shape, sizeof shape);
    ck_szg_ok(szgi_npy_read_real(test_context(), npy, 0, 6, y));
    ck_assert_mem_eq(x, y, sizeof x);
    szgi_npy_close(&npy);
    static const szg_c64 z[3] = {{1, 2}, {3, -4}, {0.1, (double)INFINITY}};
    szg_c64 w[3];
    write_npy_complex(path, 1, (const int64_t[]){3}, z);
    ck_szg_ok(szgi_npy_open(test_context(), path, &npy));
    ck_szg_ok(szgi_npy_read_complex(test_context(), npy, 0, 3, w));
    ck_assert_mem_eq(z, w, sizeof z);
    szgi_npy_close(&npy);
    ck_szg_fails(SZG_EINVAL, "33 dimensions",
                 szgi_npy_write_real(test_context(), path, 33, shape, x));
    ck_szg_fails(SZG_EIO, "cannot be read",
                 szgi_npy_open(test_context(), scratch_path("none.npy"), &npy));
}
END_TEST

/* A file of `rows` x `columns` doubles, the element at [i, j] being i * columns + j. */
static const char *write_count(const char *name, bool fortran, int64_t rows, int64_t columns) {
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, file);
    char dictionary[119];
    int length = snprintf(dictionary, sizeof dictionary,
                          "{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }",
                          fortran ? "True" : "False", (int)rows, (int)columns);
    fprintf(file, "%s%*s\n", dictionary, 117 - length, "");
    for (int64_t at = 0; at < rows * columns; at++) {
        double x = (double)(fortran ? at % rows * columns + at / rows : at);
        fwrite(&x, sizeof x, 1, file);
    }
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

/* A file is read 65536 bytes at a time: any range of its elements, in either order. */
START_TEST(files_are_read_in_parts) {
    enum { ROWS = 5, COLUMNS = 4099, ALL = ROWS * COLUMNS };
    static const int64_t starts[] = {0, 1, 8191, 8192, 8193, 3 * COLUMNS, ALL - 1, ALL};
    static const int64_t counts[] = {0, 1, 8191, 8192, 8193, ALL};
    static double got[ALL];
    for (int fortran = 0; fortran < 2; fortran++) {
        szgi_npy *npy;
        ck_szg_ok(
            szgi_npy_open(test_context(), write_count("parts.npy", fortran, ROWS, COLUMNS), &npy));
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                int64_t left = ALL - starts[k], count = counts[c] < left ? counts[c] : left;
                ck_szg_ok(szgi_npy_read_real(test_context(), npy, starts[k], count, got));
                for (int64_t i = 0; i < count; i++)
                    ck_assert(got[i] == (double)(starts[k] + i));
            }
        ck_szg_ok(szgi_npy_check(test_context(), npy));
        szgi_npy_close(&npy);
    }
}
END_TEST

/* With the file under a mapping, the first case ended the program by a signal. */
START_TEST(arrays_that_change_meanwhile) {
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    static double got[3 * 4096];
    for (int i = 0; i < 2; i++) {
        szgi_npy *npy;
        const char *path = write_count("change.npy", false, 3, 4096);
        ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
        ck_szg_ok(szgi_npy_open(test_context(), path, &npy));
        if (i == 0)
            ck_assert_int_eq(truncate(path, 1), 0);
        else
            ck_assert_int_eq(utimensat(AT_FDCWD, path, NULL, 0), 0);
        if (i == 0)
            ck_szg_fails(SZG_EIO, "change.npy: was cut while it was read",
                         szgi_npy_read_real(test_context(), npy, 0, 3 * 4096, got));
        else
            ck_szg_ok(szgi_npy_read_real(test_context(), npy, 0, 3 * 4096, got));
        ck_szg_fails(SZG_EIO, "change.npy: was changed while it was read",
                     szgi_npy_check(test_context(), npy));
        szgi_npy_close(&npy);
    }
}
END_TEST

/* Before it is read into memory. */
START_TEST(a_long_header_is_refused) {
    szgi_npy *npy;
    static unsigned char bytes[(1 << 20) + 13] = "\x93NUMPY\2\0\1\0\x10";
    ck_szg_fails(SZG_EDATA, "ends at byte 1048589: that of one array of numbers ends before byte",
                 szgi_npy_open_bytes(test_context(), "a.npy", bytes, sizeof bytes, &npy));
    ck_szg_fails(
        SZG_EDATA, "ends at byte 1048589",
        szgi_npy_open(test_context(), scratch_bytes("long.npy", bytes, sizeof bytes), &npy));
}
END_TEST

START_TEST(npy_survives_failed_allocations) {
    static const double x[2] = {1, 2};
    static const int64_t shape[1] = {2};
    szgi_npy *npy;
    const char *path = scratch_path("f.npy");
    ck_survives_failed_allocations(1, szgi_npy_write_real(test_context(), path, 1, shape, x));
    ck_survives_failed_allocations(1, szgi_npy_open(test_context(), path, &npy));
    szgi_npy_close(&npy);
    path = write_count("g.npy", true, 2, 3);
    ck_survives_failed_allocations(3, szgi_npy_open(test_context(), path, &npy));
    szgi_npy_close(&npy);
}
END_TEST

TEST_FILE("npy") {
    test_add(suite, "element_types_are_read", element_types_are_read);
    test_add(suite, "roundoff_of_types", roundoff_of_types);
    test_add(suite, "fortran_order_is_turned", fortran_order_is_turned);
    test_add(suite, "complex_arrays_are_read", complex_arrays_are_read);
    test_add(suite, "inexact_integers_are_refused", inexact_integers_are_refused);
    test_add(suite, "bad_headers_are_refused", bad_headers_are_refused);
    test_add(suite, "written_arrays_read_back", written_arrays_read_back);
    test_add(suite, "files_are_read_in_parts", files_are_read_in_parts);
    test_add(suite, "arrays_that_change_meanwhile", arrays_that_change_meanwhile);
    test_add(suite, "a_long_header_is_refused", a_long_header_is_refused);
    test_add(suite, "npy_survives_failed_allocations", npy_survives_failed_allocations);
}
