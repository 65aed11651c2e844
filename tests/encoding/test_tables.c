/* Encodings whose numbers stand in a file, or are drawn from a seed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "npy_complex.h"
#include "kernels.h"

START_TEST(position_tables) {
    enum { N = 7, D = 3 };
    double table[N * D], p[N * D];
    for (int i = 0; i < N * D; i++)
        table[i] = i * i;
    int64_t shape[] = {N, D};
    const char *path = npy_file(2, shape, table);
    szg_encoding *encoding = parse(spec_with("learned:table=%s", path));
    ck_assert_int_eq(szgi_encoding_dimension(encoding), D);
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p, D));
    ck_assert_mem_eq(p, table, sizeof p);
    ck_szg_fails(SZG_EDOMAIN, "beyond the 7 positions",
                 szgi_encoding_input(test_context(), encoding, N + 1, p, D));
    szg_toeplitz *t;
    ck_szg_fails(SZG_EDOMAIN, "no symbol",
                 szg_encoding_kernel(test_context(), encoding, 0, 0, N, &t));
    ck_assert_int_eq(facts_of(encoding, 0, 0).form, SZG_FORM_NOT_TOEPLITZ);
    szg_encoding_close(&encoding);
    ck_szg_fails(
        SZG_EINVAL, "has 3 columns",
        szg_encoding_parse(test_context(), spec_with("random:dim=4,table=%s", path), &encoding));
    ck_szg_fails(SZG_EINVAL, "has 7 rows",
                 szg_encoding_parse(test_context(), spec_with("t5:table=%s", path), &encoding));
    table[4] = NAN;
    path = npy_file(2, shape, table);
    ck_szg_fails(SZG_EDATA, "row 1, column 1",
                 szg_encoding_parse(test_context(), spec_with("random:table=%s", path), &encoding));
    path = npy_file(1, shape, table);
    ck_szg_fails(SZG_EDATA, "[positions, dim]",
                 szg_encoding_parse(test_context(), spec_with("random:table=%s", path), &encoding));
    unlink(path);
}
END_TEST

START_TEST(drawn_tables) {
    enum { N = 4000, D = 5 };
    static double p[N * D], again[N * D];
    szg_encoding *encoding = parse("random:dim=5,seed=7,std=2");
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p, D));
    szg_encoding_close(&encoding);
    encoding = parse("random:seed=7,dim=5,std=2");
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, 10, again, D));
    ck_assert_mem_eq(p, again, 10 * D * sizeof *p); /* a longer table begins with the shorter */
    szg_encoding_close(&encoding);
    encoding = parse("random:seed=8,dim=5,std=2");
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, 10, again, D));
    ck_assert(memcmp(p, again, 10 * D * sizeof *p) != 0);
    szg_encoding_close(&encoding);
    double sum = 0, square = 0;
    for (int i = 0; i < N * D; i++) {
        sum += p[i];
        square += p[i] * p[i];
    }
    ck_close(sum / (N * D), 0, 5 * 2 / sqrt(N * D)); /* five standard errors */
    ck_close(square / (N * D), 4, 5 * 4 * sqrt(2.0 / (N * D)));
}
END_TEST

START_TEST(relative_tables) {
    enum { M = 4 };
    double table[2 * (2 * M - 1)];
    for (int i = 0; i < 2 * (2 * M - 1); i++)
        table[i] = i + 1;
    int64_t shape[] = {2, 2 * M - 1};
    const char *path = npy_file(2, shape, table);
    szg_encoding *encoding = parse(spec_with("relative:table=%s", path));
    ck_assert_int_eq(szg_encoding_heads(encoding), 2);
    szg_toeplitz *t = kernel(encoding, 1, 0, 3);
    for (int k = -2; k <= 2; k++)
        ck_assert(szg_toeplitz_at(t, k).re == 2 * M - 1 + M + k);
    szg_toeplitz_close(&t);
    ck_szg_fails(SZG_EDOMAIN, "beyond the 4 positions",
                 szg_encoding_kernel(test_context(), encoding, 0, 0, 5, &t));
    szg_encoding_close(&encoding);
    unlink(path);
    encoding = parse("relative:seed=3,heads=2");
    szg_toeplitz *longer = kernel(encoding, 1, 0, 300);
    t = kernel(encoding, 1, 0, 20);
    for (int k = -19; k <= 19; k++)
        ck_assert(szg_toeplitz_at(t, k).re == szg_toeplitz_at(longer, k).re);
    ck_assert(szg_toeplitz_at(t, 1).re != szg_toeplitz_at(t, -1).re);
    szg_toeplitz_close(&t);
    szg_toeplitz_close(&longer);
    szg_encoding_close(&encoding);
}
END_TEST

START_TEST(coefficient_files) {
    double a[2 * 5] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    int64_t shape[] = {2, 5};
    const char *path = npy_file(2, shape, a);
    szg_encoding *encoding = parse(spec_with("file:path=%s", path));
    szg_toeplitz *t = kernel(encoding, 1, 0, 12);
    for (int k = -11; k < 12; k++)
        ck_assert(szg_toeplitz_at(t, k).re == (abs(k) < 5 ? a[5 + abs(k)] : 0));
    ck_assert_int_eq(facts_of(encoding, 0, 0).degree, 4);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
    encoding = parse(spec_with("file:lags=full,path=%s", path));
    for (int64_t n = 1; n < 5; n++) { /* n below, at and above the file's lags */
        t = kernel(encoding, 0, 0, n);
        double bias[9];
        ck_szg_ok(szgi_encoding_bias(test_context(), encoding, 0, n, bias));
        for (int64_t k = 1 - n; k < n; k++) {
            ck_assert(szg_toeplitz_at(t, k).re == (llabs(k) < 3 ? (double)(3 + k) : 0));
            ck_assert(bias[k + n - 1] == szg_toeplitz_at(t, k).re);
        }
        szg_toeplitz_close(&t);
    }
    szg_encoding_close(&encoding);
    /* Both sides given: of two heads the first is symmetric, the second is not. */
    double sides[2 * 5] = {-4, .5, 1, .5, -4, -4, .5, 1, .5, 4};
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, shape, sides));
    encoding = parse(spec_with("file:lags=full,path=%s", path));
    for (int head = 0; head < 2; head++) {
        szg_toeplitz_kind kind = head ? SZG_TOEPLITZ_REAL : SZG_TOEPLITZ_SYMMETRIC;
        ck_assert_int_eq(facts_of(encoding, head, 0).kind, kind);
        for (int64_t n = 1; n < 5; n++) {
            t = kernel(encoding, head, 0, n);
            ck_assert_int_eq(szgi_toeplitz_kind_of(t), kind);
            for (int64_t k = 1 - n; k < n; k++)
                ck_assert(szg_toeplitz_at(t, k).re == (llabs(k) < 3 ? sides[5 * head + 2 + k] : 0));
            szg_toeplitz_close(&t);
        }
    }
    szg_encoding_close(&encoding);
    szg_c64 both[] = {{0, -3}, {1, 1}, {2, 0}, {1, -1}, {0, 3}};
    int64_t five[] = {5};
    for (int real = 1; real >= 0; real--) { /* then with a diagonal that is not real */
        both[2].im = real ? 0 : 1;
        write_npy_complex(path, 1, five, both);
        encoding = parse(spec_with("file:lags=full,path=%s", path));
        ck_assert_int_eq(facts_of(encoding, 0, 0).kind,
                         real ? SZG_TOEPLITZ_HERMITIAN : SZG_TOEPLITZ_COMPLEX);
        t = kernel(encoding, 0, 0, 4);
        for (int k = -3; k < 4; k++)
            ck_assert(abs(k) == 3 || (szg_toeplitz_at(t, k).re == both[k + 2].re &&
                                      szg_toeplitz_at(t, k).im == both[k + 2].im));
        szg_toeplitz_close(&t);
        szg_encoding_close(&encoding);
    }
    szg_c64 z[] = {{2, 0}, {1, -1}, {0, 3}};
    int64_t one[] = {3};
    write_npy_complex(path, 1, one, z);
    encoding = parse(spec_with("file:path=%s", path));
    t = kernel(encoding, 0, 0, 3);
    ck_assert_int_eq(szgi_toeplitz_kind_of(t), SZG_TOEPLITZ_HERMITIAN);
    ck_assert(szg_toeplitz_at(t, -2).im == -3);
    ck_assert_int_eq(szgi_encoding_attaches(encoding), 0);
    szg_toeplitz_close(&t);
    szg_encoding_close(&encoding);
    unlink(path);
}
END_TEST

TEST_FILE("tables") {
    test_add(suite, "position_tables", position_tables);
    test_add(suite, "drawn_tables", drawn_tables);
    test_add(suite, "relative_tables", relative_tables);
    test_add(suite, "coefficient_files", coefficient_files);
}
