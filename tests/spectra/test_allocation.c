/* Every public function survives the failure of each of its allocations: it says so, hands nothing
 * out, leaks nothing (LeakSanitizer looks), and works afterwards. */
#include "toeplitz/factored.h"
#include "summary/summary.h"

#include "spectra/extremes.h"
#include "spectra_support.h"

typedef szg_status job(szg_context *context, szg_spectrum *out);

static const double numbers[25] = {4, 1, 2, 3, 1, 1, 5, 1, 2, 0, 2, 1, 6,
                                   0, 1, 3, 2, 0, 7, 1, 1, 0, 1, 1, 8};

static szg_status kms(szg_context *context, szg_spectrum *out) {
    return eigenvalues_of(context, szg_matrix_kms(9, 0.5), NULL, out);
}

static szg_status alibi(szg_context *context, szg_spectrum *out) {
    return eigenvalues_of(context, szg_matrix_distance(9, 0.5), NULL, out);
}

static szg_status rotary(szg_context *context, szg_spectrum *out) {
    return eigenvalues_of(context, szg_matrix_rotary_mean(9, 3, numbers, 1), NULL, out);
}

static szg_status rotary_dense(szg_context *context, szg_spectrum *out) {
    szg_spectra_options dense = {SZG_INIT(szg_spectra_options), .dense = true};
    return eigenvalues_of(context, szg_matrix_rotary_mean(9, 3, numbers, 1), &dense, out);
}

static szg_status symmetric(szg_context *context, szg_spectrum *out) {
    double a[4] = {1, 2, 2, 1};
    return eigenvalues_of(context, szg_matrix_symmetric(2, a, 2), NULL, out);
}

static szg_status hermitian(szg_context *context, szg_spectrum *out) {
    szg_c64 a[4] = {{1, 0}, {0, 2}, {0, -2}, {1, 0}};
    return eigenvalues_of(context, szg_matrix_hermitian(2, a, 2), NULL, out);
}

static szg_status general(szg_context *context, szg_spectrum *out) {
    return eigenvalues_of(context, szg_matrix_dense(5, 5, numbers, 5), NULL, out);
}

static szg_status general_complex(szg_context *context, szg_spectrum *out) {
    return eigenvalues_of(context, szg_matrix_complex(3, 3, (const szg_c64 *)numbers, 3), NULL,
                          out);
}

static szg_status singular(szg_context *context, szg_spectrum *out) {
    return singular_of(context, szg_matrix_dense(5, 4, numbers, 5), NULL, out);
}

static szg_status singular_complex(szg_context *context, szg_spectrum *out) {
    return singular_of(context, szg_matrix_complex(3, 4, (const szg_c64 *)numbers, 4), NULL, out);
}

/* Toeplitz and factored jobs open their matrix anew; its own allocations fail in turn too. */
static szg_status toeplitz(szg_context *context, szg_spectrum *out, int64_t n,
                           szg_toeplitz_kind kind, bool of_singular,
                           const szg_spectra_options *options) {
    szg_toeplitz *t = NULL;
    szg_c64 lags[3] = {{4, 0}, {1, 2}, {0, 1}};
    szg_status status =
        kind == SZG_TOEPLITZ_SYMMETRIC   ? szg_toeplitz_open_symmetric(context, n, 5, numbers, &t)
        : kind == SZG_TOEPLITZ_HERMITIAN ? szg_toeplitz_open_hermitian(context, n, 3, lags, &t)
        : kind == SZG_TOEPLITZ_REAL
            ? szg_toeplitz_open_real(context, n, 4, numbers, &t)
            : szg_toeplitz_open_complex(context, n, 4, (const szg_c64 *)numbers, &t);
    if (status == SZG_OK)
        status = of_singular ? singular_of(context, szg_matrix_toeplitz(t), options, out)
                             : eigenvalues_of(context, szg_matrix_toeplitz(t), options, out);
    szg_toeplitz_close(&t);
    return status;
}

static const szg_spectra_options dense = {SZG_INIT(szg_spectra_options), .dense = true};

#define TOEPLITZ_JOB(name, n, kind, of_singular, options)                                          \
    static szg_status name(szg_context *context, szg_spectrum *out) {                              \
        return toeplitz(context, out, n, kind, of_singular, options);                              \
    }
TOEPLITZ_JOB(toeplitz_symmetric, 7, SZG_TOEPLITZ_SYMMETRIC, false, NULL)
TOEPLITZ_JOB(toeplitz_dense, 7, SZG_TOEPLITZ_SYMMETRIC, false, &dense)
TOEPLITZ_JOB(toeplitz_hermitian, 7, SZG_TOEPLITZ_HERMITIAN, false, NULL)
TOEPLITZ_JOB(toeplitz_real, 7, SZG_TOEPLITZ_REAL, false, NULL)
TOEPLITZ_JOB(toeplitz_complex, 7, SZG_TOEPLITZ_COMPLEX, false, NULL)
TOEPLITZ_JOB(singular_symmetric, 7, SZG_TOEPLITZ_SYMMETRIC, true, NULL)
TOEPLITZ_JOB(singular_real, 7, SZG_TOEPLITZ_REAL, true, NULL)
TOEPLITZ_JOB(singular_toeplitz_complex, 7, SZG_TOEPLITZ_COMPLEX, true, NULL)

/* The ends of a small matrix by Lanczos, as large ones are treated. */
static szg_status extremes(szg_context *context, szg_spectrum *out, bool hermitian_kind) {
    szg_toeplitz *t = NULL;
    szgi_selection selection = {.n = 80, .low = 1, .high = 1};
    szg_c64 lags[2] = {{2, 0}, {0, 1}};
    bool complete;
    szg_status status = hermitian_kind ? szg_toeplitz_open_hermitian(context, 80, 2, lags, &t)
                                       : szg_toeplitz_open_symmetric(context, 80, 5, numbers, &t);
    if (status == SZG_OK)
        status = szgi_extremes_toeplitz(context, t, &selection, out, &complete);
    szg_toeplitz_close(&t);
    return status;
}

static szg_status product(szg_context *context, const void *data, char op, const double *x,
                          double *y) {
    return szg_toeplitz_apply(context, data, op, 1, x, 80, y, 80);
}

static szg_status extremes_singular(szg_context *context, szg_spectrum *out) {
    szg_toeplitz *t = NULL;
    szgi_selection selection = {.n = 80, .low = 1, .high = 1};
    szg_status status = szg_toeplitz_open_real(context, 80, 4, numbers, &t);
    szgi_square_operator l = {.n = 80, .apply = product, .data = t};
    if (status == SZG_OK)
        status = szgi_extremes_singular(context, &l, &selection, out);
    szg_toeplitz_close(&t);
    return status;
}

static szg_status extremes_symmetric(szg_context *context, szg_spectrum *out) {
    return extremes(context, out, false);
}

static szg_status extremes_hermitian(szg_context *context, szg_spectrum *out) {
    return extremes(context, out, true);
}

static szg_status factored(szg_context *context, szg_spectrum *out, bool of_singular, bool causal) {
    szg_factored f = {
        .n = 5, .d = 2, .a = numbers, .lda = 2, .b = numbers + 12, .ldb = 2, .causal = causal};
    return of_singular ? singular_of(context, szg_matrix_factored(&f), NULL, out)
                       : eigenvalues_of(context, szg_matrix_factored(&f), NULL, out);
}

static szg_status factored_eigen(szg_context *context, szg_spectrum *out) {
    return factored(context, out, false, false);
}

static szg_status factored_singular(szg_context *context, szg_spectrum *out) {
    return factored(context, out, true, false);
}

static const double pair_a[6] = {1, 2, 3, 4, 5, 6}, pair_b[6] = {-1, 0, 2, 1, 1, -3};

static szg_status hermitian_part(szg_context *context, szg_spectrum *out) {
    szg_factored f = {.n = 6, .d = 1, .a = pair_a, .lda = 1, .b = pair_b, .ldb = 1};
    return part_of(context, szg_matrix_factored(&f), NULL, out);
}

static szg_status hermitian_part_causal(szg_context *context, szg_spectrum *out) {
    szg_factored f = {.n = 6, .d = 1, .a = pair_a, .lda = 1, .b = pair_b, .ldb = 1, .causal = true};
    return part_of(context, szg_matrix_factored(&f), NULL, out);
}

static szg_status hermitian_part_dense(szg_context *context, szg_spectrum *out) {
    return part_of(context, szg_matrix_dense(2, 2, pair_a, 2), NULL, out);
}

static szg_status factored_causal(szg_context *context, szg_spectrum *out) {
    return factored(context, out, true, true);
}

static void survive(const char *name, job *run) {
    szg_context *ctx = test_context();
    szg_spectrum s;
    for (int64_t countdown = 1;; countdown = test_next_refusal(countdown)) {
        szgi_memory_fail_after(ctx, countdown);
        memset(&s, 0, sizeof s);
        szg_status status = run(ctx, &s);
        szgi_memory_fail_after(ctx, 0);
        if (status == SZG_OK)
            break;
        ck_assert_msg(status == SZG_ENOMEM, "%s, allocation %lld: %s: %s", name,
                      (long long)countdown, szg_status_name(status), szg_context_message(ctx));
        ck_assert_msg(!s.re && !s.im && s.count == 0, "%s hands out part of a result", name);
        ck_assert_msg(countdown < 1000, "%s never succeeds", name);
    }
    ck_assert(s.count + s.zeros > 0 && s.residual_meaning);
    szg_spectrum_close(&s);
}

#define SURVIVE(run) survive(#run, run)

START_TEST(every_allocation_may_fail) {
    SURVIVE(kms);
    SURVIVE(alibi);
    SURVIVE(rotary);
    SURVIVE(rotary_dense);
    SURVIVE(symmetric);
    SURVIVE(hermitian);
    SURVIVE(general);
    SURVIVE(general_complex);
    SURVIVE(singular);
    SURVIVE(singular_complex);
    SURVIVE(toeplitz_symmetric);
    SURVIVE(toeplitz_dense);
    SURVIVE(toeplitz_hermitian);
    SURVIVE(toeplitz_real);
    SURVIVE(toeplitz_complex);
    SURVIVE(singular_symmetric);
    SURVIVE(singular_real);
    SURVIVE(singular_toeplitz_complex);
    SURVIVE(factored_eigen);
    SURVIVE(factored_singular);
    SURVIVE(factored_causal);
    SURVIVE(hermitian_part);
    SURVIVE(hermitian_part_causal);
    SURVIVE(hermitian_part_dense);
}
END_TEST

START_TEST(extremes_survive_too) {
    SURVIVE(extremes_symmetric);
    SURVIVE(extremes_hermitian);
    SURVIVE(extremes_singular);
}
END_TEST

static szg_status batch(szg_context *context) {
    double a[25], values[5], worst;
    memcpy(a, numbers, sizeof a);
    return szgi_spectra_batch_singular(context, 1, 5, 5, a, 25, values, &worst);
}

static szg_status batch_of_spectra(szg_context *context) {
    const szg_matrix matrices[] = {szg_matrix_dense(5, 5, numbers, 5), szg_matrix_kms(4, 0.5)};
    szg_spectrum out[2];
    SZG_TRY(szg_spectrum_batch(context, 2, matrices, SZG_QUESTION_EIGENVALUES, NULL, out));
    for (int i = 0; i < 2; i++)
        szg_spectrum_close(&out[i]);
    return SZG_OK;
}

static szg_status batch_of_small(szg_context *context) {
    szg_matrix matrices[9];
    szg_spectrum out[9];
    for (int i = 0; i < 9; i++)
        matrices[i] = szg_matrix_dense(3, 3, numbers + i % 4, 5);
    SZG_TRY(szg_spectrum_batch(context, 9, matrices, SZG_QUESTION_HERMITIAN_PART, NULL, out));
    for (int i = 0; i < 9; i++)
        szg_spectrum_close(&out[i]);
    return SZG_OK;
}

START_TEST(batches_survive_too) {
    ck_survives_failed_allocations(1, batch(test_context()));
    ck_survives_failed_allocations(1, batch_of_spectra(test_context()));
    ck_survives_failed_allocations(1, batch_of_small(test_context()));
}
END_TEST

/* A cancelled context stops what loops, at once and with nothing handed out. */
START_TEST(cancelled_work_stops) {
    szg_context *ctx;
    szg_spectrum s;
    szg_toeplitz *t;
    double lags[3] = {2, -1, 0.5};
    ck_szg_ok(szg_context_open(NULL, &ctx));
    ck_szg_ok(szg_toeplitz_open_symmetric(ctx, 30000, 3, lags, &t));
    szg_context_cancel(ctx);
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    ck_assert(eigenvalues_of(ctx, szg_matrix_kms(1000000, 0.5), NULL, &s) == SZG_ECANCEL);
    ck_assert_ptr_null(s.re);
    ck_assert(eigenvalues_of(ctx, szg_matrix_toeplitz(t), &range, &s) == SZG_ECANCEL);
    ck_assert_ptr_null(s.re);
    ck_assert(singular_of(ctx, szg_matrix_toeplitz(t), &range, &s) == SZG_ECANCEL);
    szg_toeplitz_close(&t);
    szg_context_close(&ctx);
}
END_TEST

TEST_FILE("allocation") {
    test_before_each(use_tested_backend);
    test_add(suite, "every_allocation_may_fail", every_allocation_may_fail);
    test_add(suite, "extremes_survive_too", extremes_survive_too);
    test_add(suite, "batches_survive_too", batches_survive_too);
    test_add(suite, "cancelled_work_stops", cancelled_work_stops);
}
