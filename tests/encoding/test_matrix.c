/* An encoding's own matrix as one argument: the structure, the numbers, who frees them. */
#include <math.h>

#include "base/memory.h"
#include "encoding/encoding.h"
#include "rounding.h"
#include "suite.h"
#include "toeplitz/toeplitz.h"

enum { N = 9 };

static szg_encoding *parse(const char *spec) {
    szg_encoding *encoding;
    ck_szg_ok(szg_encoding_parse(test_context(), spec, &encoding));
    return encoding;
}

static szg_matrix open_matrix(const szg_encoding *encoding, int64_t head, int64_t index) {
    szg_matrix matrix;
    ck_szg_ok(szg_encoding_matrix(test_context(), encoding, head, index, N, &matrix));
    ck_assert_int_eq(matrix.rows, N);
    ck_assert_int_eq(matrix.columns, N);
    ck_assert(matrix.encoding == encoding && matrix.head == head && matrix.index == index);
    return matrix;
}

/* Entry (k, 0) of a Toeplitz kind, and what its rounding may be off by. */
static double entry(const szg_matrix *m, int64_t k, double *error) {
    double sum = 0, size = m->of.cosines.constant;
    *error = 0;
    switch (m->kind) {
    case SZG_MATRIX_ZERO:
        return 0;
    case SZG_MATRIX_TOEPLITZ:
        return szg_toeplitz_at(m->of.toeplitz, k).re;
    case SZG_MATRIX_KMS:
        return pow(m->of.parameter, (double)k);
    case SZG_MATRIX_DISTANCE:
        return k == 0 ? 0 : -m->of.parameter * (double)k;
    default:
        break;
    }
    ck_assert_int_eq(m->kind, SZG_MATRIX_COSINES);
    for (int64_t t = 0; t < m->of.cosines.count; t++) {
        sum += m->of.cosines.equal * cos((double)k * m->of.cosines.theta[t]);
        size += m->of.cosines.equal * (1 + (double)k * m->of.cosines.theta[t]);
    }
    /* The phase k theta rounds, and so do weight, product and as many sums, on both sides. */
    *error = 2 * gamma_of((double)m->of.cosines.count + 8) * size;
    return sum + m->of.cosines.constant;
}

START_TEST(structures) {
    static const struct {
        const char *spec, *name;
        szg_matrix_kind kind;
    } cases[] = {
        {"nope", "zero", SZG_MATRIX_ZERO},
        {"absolute:dim=6", "position gram", SZG_MATRIX_COSINES},
        {"rope:dim=10", "rotary mean", SZG_MATRIX_COSINES},
        {"rope:dim=7,rotary=4", "rotary mean", SZG_MATRIX_COSINES},
        {"rope:dim=7,rotary=4,theta=2", "rotary mean", SZG_MATRIX_COSINES},
        {"rope-bias:dim=6,scale=0.3", "bias", SZG_MATRIX_COSINES},
        {"mla:content=3,rope=4", "rotary mean", SZG_MATRIX_COSINES},
        {"kms:rho=-0.5", "coefficients", SZG_MATRIX_KMS},
        {"alibi:heads=3", "bias", SZG_MATRIX_DISTANCE},
        {"relative:seed=1", "bias", SZG_MATRIX_TOEPLITZ},
        {"t5:seed=1", "bias", SZG_MATRIX_TOEPLITZ},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_encoding *encoding = parse(cases[i].spec);
        szg_matrix matrix = open_matrix(encoding, 0, 0);
        szg_toeplitz *kernel;
        ck_assert_msg(matrix.kind == cases[i].kind, "%s is %s", cases[i].spec,
                      szg_matrix_kind_name(matrix.kind));
        ck_assert_str_eq(matrix.name, cases[i].name);
        ck_szg_ok(szg_encoding_kernel(test_context(), encoding, 0, 0, N, &kernel));
        for (int64_t k = 0; k < N; k++) {
            double error, got = entry(&matrix, k, &error);
            ck_close(got, szg_toeplitz_at(kernel, k).re, error);
        }
        szg_toeplitz_close(&kernel);
        szg_matrix_close(&matrix);
        ck_assert(matrix.kind == SZG_MATRIX_NONE && !matrix.own && matrix.rows == 0);
        szg_matrix_close(&matrix);
        szg_encoding_close(&encoding);
    }
    szg_matrix_close(NULL);
}
END_TEST

/* Heads and matrices are told apart. */
START_TEST(heads_and_matrices) {
    szg_encoding *encoding = parse("alibi:heads=4");
    szg_matrix first = open_matrix(encoding, 0, 0), last = open_matrix(encoding, 3, 0);
    ck_assert(first.of.parameter == 0.25 && last.of.parameter == 0x1p-8); /* 2^(-8 (h + 1) / 4) */
    szg_encoding_close(&encoding);
    encoding = parse("rope:dim=2,heads=4,base=16,bands=heads,band_shift=1");
    first = open_matrix(encoding, 0, 0), last = open_matrix(encoding, 3, 0);
    ck_close(first.of.cosines.theta[0], 0.5, UNIT); /* 16^(-((h + 1) mod 4) / 4) */
    ck_assert(last.of.cosines.theta[0] == 1);
    szg_encoding_close(&encoding);
    encoding = parse("rope+absolute:dim=8");
    first = open_matrix(encoding, 0, 0), last = open_matrix(encoding, 0, 1);
    ck_assert_str_eq(first.name, "rotary mean");
    ck_assert_str_eq(last.name, "position gram");
    /* P P^T has 1 on the diagonal for each pair, the mean kernel 1 in all. */
    ck_close(first.of.cosines.equal * 4, 1, gamma_of(4));
    ck_close(last.of.cosines.equal * 4, 4, gamma_of(4));
    szg_encoding_close(&encoding);
}
END_TEST

/* P P^T of a table holds the rows. */
START_TEST(rows_of_a_table) {
    szg_encoding *encoding = parse("learned:seed=4,dim=5");
    szg_matrix matrix = open_matrix(encoding, 0, 0);
    double p[N * 5];
    ck_assert_int_eq(matrix.kind, SZG_MATRIX_FACTORED);
    const szg_factored *f = &matrix.of.factored;
    ck_assert(f->n == N && f->d == 5 && f->a == f->b && f->lda == f->ldb && !f->bias && !f->causal);
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p, 5));
    for (int i = 0; i < N; i++)
        for (int t = 0; t < 5; t++)
            ck_assert(f->a[i * f->lda + t] == p[i * 5 + t]);
    szg_matrix_close(&matrix);
    szg_encoding_close(&encoding);
}
END_TEST

START_TEST(refusals) {
    szg_encoding *encoding = parse("rope:heads=2");
    szg_matrix m;
    szg_context *context = test_context();
    ck_szg_fails(SZG_EINVAL, "N = 0 must be at least 1",
                 szg_encoding_matrix(context, encoding, 0, 0, 0, &m));
    ck_szg_fails(SZG_EINVAL, "0 .. 1", szg_encoding_matrix(context, encoding, 2, 0, N, &m));
    ck_szg_fails(SZG_EINVAL, "matrix 1", szg_encoding_matrix(context, encoding, 0, 1, N, &m));
    ck_assert_int_eq(m.kind, SZG_MATRIX_NONE);
    /* Closed forms take no memory of order n; lags without further structure do, and end. */
    ck_szg_ok(szg_encoding_matrix(context, encoding, 0, 0, (int64_t)1 << 40, &m));
    ck_assert_ptr_null(m.own);
    szg_encoding_close(&encoding);
    encoding = parse("relative:seed=1");
    ck_szg_fails(SZG_EDOMAIN, "goes beyond",
                 szg_encoding_matrix(context, encoding, 0, 0, (int64_t)1 << 40, &m));
    ck_assert(m.kind == SZG_MATRIX_NONE && !m.own && !m.encoding);
    szg_encoding_close(&encoding);
}
END_TEST

static szg_status open_and_close(const szg_encoding *encoding) {
    szg_matrix matrix;
    szg_status status = szg_encoding_matrix(test_context(), encoding, 0, 0, N, &matrix);
    szg_matrix_close(&matrix);
    return status;
}

START_TEST(allocation_failures) {
    static const char *const specs[] = {"learned:seed=4,dim=5", "relative:seed=1"};
    for (int i = 0; i < 2; i++) {
        szg_encoding *encoding = parse(specs[i]);
        ck_survives_failed_allocations(2, open_and_close(encoding));
        szg_encoding_close(&encoding);
    }
}
END_TEST

TEST_FILE("matrix") {
    test_add(suite, "structures", structures);
    test_add(suite, "heads_and_matrices", heads_and_matrices);
    test_add(suite, "rows_of_a_table", rows_of_a_table);
    test_add(suite, "refusals", refusals);
    test_add(suite, "allocation_failures", allocation_failures);
}
