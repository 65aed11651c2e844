/* Small matrices of balls: closed forms, two algorithms for eigenvalues, the claims' examples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ball/matrix.h"
#include "rounding.h"
#include "suite.h"

static const double PI = 3.141592653589793;

static void ck_contains(szg_interval x, double value, double slack) {
    ck_assert_msg(x.lo - slack <= value && value <= x.hi + slack, "[%.17g, %.17g] lacks %.17g",
                  x.lo, x.hi, value);
}

static void ck_narrow(szg_interval x, double width) {
    ck_assert_msg(x.hi - x.lo <= width, "[%.17g, %.17g]", x.lo, x.hi);
}

/* Enclosures of the min(rows, columns) singular values, descending. */
static szg_status singular_values(const szgi_ball_matrix *matrix, szg_interval *values) {
    const slong count = FLINT_MIN(acb_mat_nrows(matrix->a), acb_mat_ncols(matrix->a));
    arb_ptr balls = _arb_vec_init(count);
    szg_status status = szgi_singular_values(test_context(), matrix->a, matrix->bits, balls);
    for (slong k = 0; k < count; k++)
        values[k] = szgi_interval_of(balls + k);
    _arb_vec_clear(balls, count);
    return status;
}

static void get(szgi_ball_matrix *matrix, int64_t i, int64_t j, szg_interval *re,
                szg_interval *im) {
    *re = szgi_interval_of(acb_realref(szgi_ball_matrix_entry(matrix, i, j)));
    *im = szgi_interval_of(acb_imagref(szgi_ball_matrix_entry(matrix, i, j)));
}

static szgi_ball_matrix *toeplitz(int64_t n, int64_t count, const double *w,
                                  const szgi_phase *theta, szgi_phase_mode mode) {
    szgi_ball_matrix *matrix;
    ck_szg_ok(
        szgi_ball_matrix_open_toeplitz(test_context(), n, count, w, theta, mode, 128, &matrix));
    return matrix;
}

/* Eigenvalues of [.. 1 0 1 ..] are 2 cos(k pi / (n + 1)). */
START_TEST(test_tridiagonal) {
    const double w[] = {0, 1};
    /* an angle below pi of three roundings, cosine, product by 2; an ulp each side */
    const double bound = gamma_of(2 * (3 * PI + 1));
    for (int64_t n = 1; n <= 40; n += 13) {
        szgi_ball_matrix *matrix = toeplitz(n, 2, w, NULL, SZGI_PHASE_PLAIN);
        szg_interval values[40];
        ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), matrix, values));
        for (int64_t k = 0; k < n; k++) {
            ck_contains(values[k], 2 * cos((double)(n - k) * PI / (double)(n + 1)), bound);
            ck_narrow(values[k], gamma_of(4) * 2);
        }
        szgi_ball_matrix_close(&matrix);
    }
}
END_TEST

/* The all-ones matrix: n and n - 1 zeros. A phase that is a character leaves the spectrum. */
START_TEST(test_multiple) {
    enum { N = 16 };
    double w[N];
    szgi_phase theta[N];
    for (int i = 0; i < N; i++) {
        w[i] = 1;
        theta[i] = (szgi_phase){.rational = true, .p = 2, .q = 7};
    }
    for (int turned = 0; turned < 2; turned++) {
        szgi_ball_matrix *matrix = toeplitz(N, N, w, turned ? theta : NULL, SZGI_PHASE_TIMES_INDEX);
        szg_interval values[N], singular[N];
        ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), matrix, values));
        ck_szg_ok(singular_values(matrix, singular));
        for (int k = 0; k < N; k++) {
            ck_contains(values[k], k == N - 1 ? N : 0, 0);
            ck_narrow(values[k], 1e-13);
            ck_contains(singular[k], k == 0 ? N : 0, 0);
        }
        szg_interval nuclear;
        ck_szg_ok(szgi_ball_matrix_norm(test_context(), matrix, SZGI_BALL_NUCLEAR, 0, &nuclear));
        ck_contains(nuclear, N, 0);
        szgi_ball_matrix_close(&matrix);
    }
}
END_TEST

static void fill(szgi_ball_matrix *matrix, uint32_t step, bool hermitian) {
    const szgi_stream stream = {test_seed(), step, 5};
    const int64_t rows = szgi_ball_matrix_rows(matrix), columns = acb_mat_ncols(matrix->a);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = hermitian ? i : 0; j < columns; j++) {
            const uint64_t at = (uint64_t)(2 * (i * columns + j));
            szg_c64 z = {test_real(&stream, at), test_real(&stream, at + 1)};
            if (hermitian && i == j)
                z.im = 0;
            ck_szg_ok(szgi_ball_matrix_set(test_context(), matrix, i, j, z));
            if (hermitian && i != j)
                ck_szg_ok(
                    szgi_ball_matrix_set(test_context(), matrix, j, i, (szg_c64){z.re, -z.im}));
        }
}

/* Enclosures against Sylvester's law: between neighbours that are apart, the count must fit. */
START_TEST(test_inertia) {
    for (uint32_t trial = 0; trial < test_trials(6); trial++) {
        enum { N = 12 };
        szgi_ball_matrix *matrix;
        ck_szg_ok(szgi_ball_matrix_open(test_context(), N, N, 256, &matrix));
        fill(matrix, trial, true);
        szg_interval values[N];
        ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), matrix, values));
        for (int k = 0; k + 1 < N; k++) {
            const double shift = values[k].hi / 2 + values[k + 1].lo / 2;
            if (!(values[k].hi < shift && shift < values[k + 1].lo))
                continue;
            int64_t below, above;
            ck_szg_ok(szgi_ball_matrix_inertia(test_context(), matrix, shift, &below, &above));
            ck_assert_int_eq(below, k + 1);
            ck_assert_int_eq(above, N - k - 1);
        }
        szgi_ball_matrix_close(&matrix);
    }
}
END_TEST

/* Singular values against eigenvalues of A^* A, and norms against each other. */
START_TEST(test_singular) {
    enum { ROWS = 7, COLUMNS = 5 };
    szg_context *ctx = test_context();
    for (uint32_t trial = 0; trial < test_trials(4); trial++) {
        szgi_ball_matrix *a, *adjoint, *gram;
        ck_szg_ok(szgi_ball_matrix_open(ctx, ROWS, COLUMNS, 192, &a));
        ck_szg_ok(szgi_ball_matrix_open(ctx, COLUMNS, ROWS, 192, &adjoint));
        ck_szg_ok(szgi_ball_matrix_open(ctx, COLUMNS, COLUMNS, 192, &gram));
        fill(a, 100 + trial, false);
        ck_szg_ok(szgi_ball_matrix_apply(ctx, SZGI_BALL_MATRIX_ADJOINT, adjoint, a, NULL));
        ck_szg_ok(szgi_ball_matrix_apply(ctx, SZGI_BALL_MATRIX_MULTIPLY, gram, adjoint, a));
        szg_interval singular[COLUMNS], squares[COLUMNS], norm[4];
        ck_szg_ok(singular_values(a, singular));
        ck_szg_ok(szgi_ball_matrix_eigenvalues(ctx, gram, squares));
        for (int k = 0; k < COLUMNS; k++)
            ck_assert_int_eq(szgi_interval_compare(szgi_interval_multiply(singular[k], singular[k]),
                                                   squares[COLUMNS - 1 - k]),
                             0);
        ck_szg_ok(szgi_ball_matrix_norm(ctx, a, SZGI_BALL_SPECTRAL, 0, &norm[0]));
        ck_szg_ok(szgi_ball_matrix_norm(ctx, a, SZGI_BALL_FROBENIUS, 0, &norm[1]));
        ck_szg_ok(szgi_ball_matrix_norm(ctx, a, SZGI_BALL_KY_FAN, 2, &norm[2]));
        ck_szg_ok(szgi_ball_matrix_norm(ctx, a, SZGI_BALL_NUCLEAR, 0, &norm[3]));
        ck_assert(norm[0].lo == singular[0].lo && norm[0].hi == singular[0].hi);
        ck_assert(norm[0].lo <= norm[1].hi && norm[1].lo <= norm[3].hi);
        ck_assert(norm[0].lo <= norm[2].hi && norm[2].lo <= norm[3].hi);
        szgi_ball_matrix_close(&a);
        szgi_ball_matrix_close(&adjoint);
        szgi_ball_matrix_close(&gram);
    }
}
END_TEST

static szg_interval spread(const szgi_ball_matrix *matrix, int64_t n, szg_interval *ends) {
    szg_interval *values = calloc((size_t)n, sizeof *values);
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), matrix, values));
    ends[0] = values[0];
    ends[1] = values[n - 1];
    free(values);
    return szgi_interval_subtract(ends[1], ends[0]);
}

/* Claims B3h and B3n: the range and the modulus can grow under unimodular E. */
START_TEST(test_claims) {
    const double w[] = {3, 1, 1}, longer[] = {5, 1, 1, -1};
    const szgi_phase e2[] = {{.q = 1}, {.q = 1}, {.rational = true, .p = 1, .q = 2}};
    const szgi_phase e3[] = {{.q = 1}, {.q = 1}, {.q = 1}, {.rational = true, .p = 1, .q = 1}};
    szg_interval plain[2], coupled[2];
    szgi_ball_matrix *matrix = toeplitz(8, 3, w, NULL, SZGI_PHASE_PLAIN);
    szg_interval before = spread(matrix, 8, plain);
    szgi_ball_matrix_close(&matrix);
    matrix = toeplitz(8, 3, w, e2, SZGI_PHASE_PLAIN);
    szg_interval after = spread(matrix, 8, coupled);
    szgi_ball_matrix_close(&matrix);
    ck_assert_int_eq(szgi_interval_compare(before, after), -1);
    ck_contains(before, 5.4028, 5e-5);
    ck_contains(after, 6.0875, 5e-5);
    ck_contains(plain[0], 1.0746, 5e-5);
    ck_contains(coupled[0], -0.0437, 5e-5);
    matrix = toeplitz(32, 4, longer, NULL, SZGI_PHASE_PLAIN);
    (void)spread(matrix, 32, plain);
    szgi_ball_matrix_close(&matrix);
    matrix = toeplitz(32, 4, longer, e3, SZGI_PHASE_PLAIN);
    (void)spread(matrix, 32, coupled);
    ck_contains(plain[1], 7.8352, 5e-5);
    ck_contains(coupled[1], 10.8820, 5e-5);
    int64_t below, above;
    ck_szg_ok(szgi_ball_matrix_inertia(test_context(), matrix, 10.88, &below, &above));
    ck_assert_int_eq(above, 1);
    szgi_ball_matrix_close(&matrix);
}
END_TEST

/* W = [[1,1],[-1,-1]] is nilpotent; W o Ebar at theta = 1 has eigenvalues +-sin 1. */
START_TEST(test_general) {
    szg_context *ctx = test_context();
    szgi_ball_matrix *w, *e;
    szg_interval re[2], im[2], minor;
    const szgi_phase one = {.radians = 1};
    ck_szg_ok(szgi_ball_matrix_open(ctx, 2, 2, 128, &w));
    ck_szg_ok(szgi_ball_matrix_open(ctx, 2, 2, 128, &e));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            ck_szg_ok(szgi_ball_matrix_set(ctx, w, i, j, (szg_c64){i ? -1 : 1, 0}));
            ck_szg_ok(szgi_ball_matrix_add_polar(ctx, e, i, j, 0.5, i - j, &one));
            ck_szg_ok(szgi_ball_matrix_add_polar(ctx, e, i, j, 0.5, j - i, &one));
        }
    ck_szg_fails(SZG_ENOCONV, "multiple", szgi_ball_matrix_general_eigenvalues(ctx, w, re, im));
    ck_szg_ok(szgi_ball_matrix_minor(ctx, w, 2, &minor, NULL));
    ck_contains(minor, 0, 0);
    ck_szg_ok(szgi_ball_matrix_apply(ctx, SZGI_BALL_MATRIX_HADAMARD, w, w, e));
    ck_szg_ok(szgi_ball_matrix_general_eigenvalues(ctx, w, re, im));
    const int high = re[1].lo > re[0].lo;
    ck_contains(re[high], sin(1), gamma_of(2)); /* libm: less than an ulp */
    ck_contains(re[!high], -sin(1), gamma_of(2));
    ck_contains(im[0], 0, 0);
    ck_szg_ok(szgi_ball_matrix_minor(ctx, w, 2, &minor, NULL));
    ck_contains(minor, -sin(1) * sin(1), gamma_of(5));
    ck_szg_ok(szgi_ball_matrix_scale(ctx, w, 1, 2));
    get(w, 0, 1, &re[0], &im[0]);
    ck_contains(re[0], cos(1) / 2, gamma_of(2));
    acb_set_d_d(szgi_ball_matrix_entry(w, 0, 1), 3, -4);
    get(w, 0, 1, &re[0], &im[0]);
    ck_assert(re[0].lo == 3 && re[0].hi == 3 && im[0].lo == -4 && im[0].hi == -4);
    get(w, 1, 0, &re[0], &im[0]);
    ck_contains(re[0], -cos(1) / 2, gamma_of(2)); /* no other entry is touched */
    szgi_ball_matrix_close(&w);
    szgi_ball_matrix_close(&e);
}
END_TEST

START_TEST(test_zero_matrix) {
    szgi_ball_matrix *zero;
    szg_interval values[3];
    ck_szg_ok(szgi_ball_matrix_open(test_context(), 3, 3, 128, &zero));
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), zero, values));
    for (int k = 0; k < 3; k++)
        ck_assert(values[k].lo == 0 && values[k].hi == 0);
    int64_t below, above;
    ck_szg_fails(SZG_ENOCONV, "pivot 0",
                 szgi_ball_matrix_inertia(test_context(), zero, 0, &below, &above));
    ck_szg_ok(szgi_ball_matrix_inertia(test_context(), zero, -1, &below, &above));
    ck_assert_int_eq(above, 3);
    szgi_ball_matrix_close(&zero);
}
END_TEST

START_TEST(test_matrix_bad_input) {
    szg_context *ctx = test_context();
    szgi_ball_matrix *a, *b;
    szg_interval values[2];
    ck_szg_fails(SZG_EINVAL, "each side", szgi_ball_matrix_open(ctx, 0, 2, 128, &a));
    ck_szg_fails(SZG_EINVAL, "bits", szgi_ball_matrix_open(ctx, 2, 2, 1, &a));
    ck_assert_ptr_null(a);
    ck_szg_ok(szgi_ball_matrix_open(ctx, 2, 2, 128, &a));
    ck_szg_ok(szgi_ball_matrix_open(ctx, 2, 1, 128, &b));
    ck_szg_fails(SZG_EINVAL, "outside a matrix",
                 szgi_ball_matrix_set(ctx, a, 2, 0, (szg_c64){1, 0}));
    ck_szg_fails(SZG_EDATA, "not finite", szgi_ball_matrix_set(ctx, a, 0, 0, (szg_c64){NAN, 0}));
    ck_szg_fails(SZG_EINVAL, "square", szgi_ball_matrix_eigenvalues(ctx, b, values));
    ck_szg_fails(SZG_EINVAL, "shapes", szgi_ball_matrix_apply(ctx, SZGI_BALL_MATRIX_ADD, a, a, b));
    ck_szg_ok(szgi_ball_matrix_set(ctx, a, 0, 1, (szg_c64){1, 0}));
    ck_szg_fails(SZG_EDATA, "conjugate", szgi_ball_matrix_eigenvalues(ctx, a, values));
    ck_szg_fails(SZG_EINVAL, "minor", szgi_ball_matrix_minor(ctx, a, 3, values, NULL));
    ck_szg_fails(SZG_EINVAL, "Ky Fan", szgi_ball_matrix_norm(ctx, a, SZGI_BALL_KY_FAN, 3, values));
    szgi_ball_matrix_close(&a);
    szgi_ball_matrix_close(&b);
    const double w[] = {1};
    const szgi_phase imaginary[] = {{.radians = 1}};
    ck_szg_fails(
        SZG_EDATA, "not real",
        szgi_ball_matrix_open_toeplitz(ctx, 2, 1, w, imaginary, SZGI_PHASE_PLAIN, 128, &a));
    ck_assert_ptr_null(a);
}
END_TEST

static szg_status everything(szg_context *ctx) {
    const double w[] = {3, 1};
    szg_interval values[5];
    szgi_ball_matrix *matrix;
    szg_status status =
        szgi_ball_matrix_open_toeplitz(ctx, 5, 2, w, NULL, SZGI_PHASE_PLAIN, 128, &matrix);
    if (status == SZG_OK)
        status = szgi_ball_matrix_eigenvalues(ctx, matrix, values);
    if (status == SZG_OK)
        status = singular_values(matrix, values);
    szgi_ball_matrix_close(&matrix);
    return status;
}

START_TEST(test_matrix_memory) {
    ck_survives_failed_allocations(1, everything(test_context()));
}
END_TEST

TEST_FILE("matrix") {
    test_add(suite, "tridiagonal", test_tridiagonal);
    test_add(suite, "multiple eigenvalues", test_multiple);
    test_add(suite, "inertia", test_inertia);
    test_add(suite, "singular", test_singular);
    test_add(suite, "claims", test_claims);
    test_add(suite, "general", test_general);
    test_add(suite, "zero matrix", test_zero_matrix);
    test_add(suite, "bad input", test_matrix_bad_input);
    test_add(suite, "memory", test_matrix_memory);
}
