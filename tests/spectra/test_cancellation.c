/* Loops over the entries of a matrix take seconds at n = 8192, and LAPACK's minutes follow: each
 * looks for cancellation at every row, and what is stopped leaves nothing behind (LeakSanitizer
 * looks). Counts are of passes over n rows. */
#include "spectra_support.h"

enum { N = 12 };

static test_looks looks;
static szg_context *counting;

static void open_counting(void) {
    counting = test_counting_context(&looks);
}

static szg_status closed(szg_status status, szg_spectrum *spectrum) {
    if (status == SZG_OK)
        szg_spectrum_close(spectrum);
    return status;
}

/* 1 / (1 + |i - j|), and a skew part that makes a complex array Hermitian. */
static void fill(szg_c64 *a) {
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            a[i * N + j] =
                (szg_c64){1 / (1 + fabs((double)(i - j))), (double)(i - j) / (N + i + j)};
}

static double *real_parts(const szg_c64 *a) {
    double *out = get(N * N, sizeof *out);
    for (int64_t i = 0; i < N * N; i++)
        out[i] = a[i].re;
    return out;
}

/* Norm of the argument (largest entry, squares), symmetry, copy, finiteness; the Hermitian one is
 * copied once more; the Hermitian part is not checked for symmetry but made, and its norm too. */
START_TEST(symmetric_matrices) {
    szg_c64 a[N * N];
    szg_spectrum s;
    fill(a);
    double *real = real_parts(a);
    ck_looks_for_cancellation(
        &looks, (2 + 1 + 1 + 1) * N,
        closed(eigenvalues_of(counting, szg_matrix_symmetric(N, real, N), NULL, &s), &s));
    ck_looks_for_cancellation(
        &looks, (2 + 1 + 1 + 1 + 1) * N,
        closed(eigenvalues_of(counting, szg_matrix_hermitian(N, a, N), NULL, &s), &s));
    ck_looks_for_cancellation(
        &looks, (2 + 1 + 1 + 2 + 1) * N,
        closed(part_of(counting, szg_matrix_dense(N, N, real, N), NULL, &s), &s));
    szgi_memory_free(real);
    szg_context_close(&counting);
}
END_TEST

/* Norm, copy, finiteness; a real one is looked at for symmetry first: its largest entry, then rows
 * until the first two tell. */
START_TEST(general_matrices) {
    szg_c64 a[N * N];
    szg_spectrum s;
    fill(a);
    double *real = real_parts(a);
    real[1] += 1;
    ck_looks_for_cancellation(
        &looks, (1 + 2 + 1 + 1) * N + 2,
        closed(eigenvalues_of(counting, szg_matrix_dense(N, N, real, N), NULL, &s), &s));
    ck_looks_for_cancellation(
        &looks, (2 + 1 + 1) * N,
        closed(eigenvalues_of(counting, szg_matrix_complex(N, N, a, N), NULL, &s), &s));
    ck_looks_for_cancellation(
        &looks, (2 + 1 + 1) * (N - 2),
        closed(singular_of(counting, szg_matrix_dense(N - 2, N, real, N), NULL, &s), &s));
    szgi_memory_free(real);
    szg_context_close(&counting);
}
END_TEST

static szg_toeplitz *open_toeplitz(szg_toeplitz_kind kind) {
    double lags[2 * N - 1];
    szg_c64 complex[N];
    szg_toeplitz *t = NULL;
    for (int64_t k = 0; k < 2 * N - 1; k++)
        lags[k] = 1 / (1 + (double)k);
    for (int64_t k = 0; k < N; k++)
        complex[k] = (szg_c64){lags[k], k > 0 ? lags[k] : 0};
    if (kind == SZG_TOEPLITZ_SYMMETRIC)
        ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, N, lags, &t));
    else if (kind == SZG_TOEPLITZ_HERMITIAN)
        ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), N, N, complex, &t));
    else
        ck_szg_ok(szg_toeplitz_open_real(test_context(), N, N, lags, &t));
    return t;
}

/* Symmetric: two blocks, in each a half's rows filled and checked. Hermitian: half of the rows
 * filled, which fills the others too, and all checked; dense: filled, norm, finiteness, and copied
 * once more where it is complex. Without symmetry the Hankel matrix is filled and checked. */
START_TEST(toeplitz_matrices) {
    szg_spectra_options dense = {SZG_INIT(szg_spectra_options), .dense = true};
    szg_toeplitz *symmetric = open_toeplitz(SZG_TOEPLITZ_SYMMETRIC);
    szg_toeplitz *hermitian = open_toeplitz(SZG_TOEPLITZ_HERMITIAN);
    szg_toeplitz *real = open_toeplitz(SZG_TOEPLITZ_REAL);
    szg_spectrum s;
    ck_looks_for_cancellation(
        &looks, 2 + (1 + 1) * N,
        closed(eigenvalues_of(counting, szg_matrix_toeplitz(symmetric), NULL, &s), &s));
    ck_looks_for_cancellation(
        &looks, (1 + 1) * N,
        closed(eigenvalues_of(counting, szg_matrix_toeplitz(hermitian), NULL, &s), &s));
    ck_looks_for_cancellation(
        &looks, (1 + 2 + 1) * N,
        closed(eigenvalues_of(counting, szg_matrix_toeplitz(symmetric), &dense, &s), &s));
    ck_looks_for_cancellation(
        &looks, (1 + 2 + 1 + 1) * N,
        closed(eigenvalues_of(counting, szg_matrix_toeplitz(hermitian), &dense, &s), &s));
    ck_looks_for_cancellation(
        &looks, (1 + 1) * N,
        closed(singular_of(counting, szg_matrix_toeplitz(real), NULL, &s), &s));
    szg_toeplitz_close(&symmetric);
    szg_toeplitz_close(&hermitian);
    szg_toeplitz_close(&real);
    szg_context_close(&counting);
}
END_TEST

TEST_FILE("cancellation") {
    test_before_each(open_counting);
    test_add(suite, "symmetric_matrices", symmetric_matrices);
    test_add(suite, "general_matrices", general_matrices);
    test_add(suite, "toeplitz_matrices", toeplitz_matrices);
}
