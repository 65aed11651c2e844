/* Reports from a device's numbers against those from the matrices themselves. */
#include "toeplitz/matrix.h"
#include "spectra/spectra.h"
#include "contraction_support.h"
#include "host_spectra.h"

enum { LARGEST = 40 };

/* Two matrices of single precision, their numbers, and both reports. */
typedef struct both_ways {
    int64_t n;
    double *content, *coupled, *room;
    szgi_logit_numbers numbers[2];
    szg_contraction dense, device;
} both_ways;

static const szg_report_options options = {SZG_INIT(szg_report_options), .quick_symbol = true,
                                           .samples = 16, .precision = 0x1p-24};

typedef enum shape { FULL, SYMMETRIC, TOEPLITZ, LOW_RANK, ZERO, SHAPES } shape;

static double *draw(shape kind, uint32_t purpose, int64_t n) {
    double *a = new_numbers(n * n);
    szgi_stream stream = {.seed = test_seed(), .purpose = purpose, .step = (uint32_t)n};
    double *x = new_numbers(n * n);
    szgi_random_fill_normal(&stream, 0, n * n, x);
    for (int64_t i = 0; i < n * n && kind != ZERO; i++) {
        int64_t r = i / n, c = i % n;
        double low = 0;
        for (int64_t t = 0; t < 3 && t < n; t++)
            low += x[r * n + t] * x[c * n + (t + 1) % n];
        a[i] = (float)(kind == SYMMETRIC  ? x[r < c ? r * n + c : c * n + r]
                       : kind == TOEPLITZ ? (r >= c ? x[r - c] : -x[c - r] / 3)
                       : kind == LOW_RANK ? low
                                          : x[i]);
    }
    szgi_memory_free(x);
    return a;
}

static both_ways open_both(shape kind, int64_t n) {
    both_ways b = {.n = n, .content = draw(kind, 31, n), .coupled = draw(FULL, 32, n)};
    b.room = new_numbers(2 * host_numbers_room(n));
    ck_szg_ok(host_numbers(test_context(), n, b.content, b.room, &b.numbers[0]));
    ck_szg_ok(
        host_numbers(test_context(), n, b.coupled, b.room + host_numbers_room(n), &b.numbers[1]));
    return b;
}

static szg_status report(both_ways *b) {
    return contracted(test_context(), szgi_matrix_device(b->n, &b->numbers[0]),
                      szgi_matrix_device(b->n, &b->numbers[1]), &options, &b->device);
}

static void close_both(both_ways *b) {
    szg_contraction_close(&b->dense);
    szg_contraction_close(&b->device);
    szgi_memory_free(b->content);
    szgi_memory_free(b->coupled);
    szgi_memory_free(b->room);
}

/* Both are what a backward stable solver says of H: n eps ||H|| each. */
static void ck_eigenvalues(const szg_matrix_report *device, const szg_matrix_report *dense) {
    const szg_spectrum *x = &device->eigenvalues, *y = &dense->eigenvalues;
    ck_assert_int_eq(x->count, y->count);
    for (int64_t i = 0; i < x->count; i++)
        ck_close(x->re[i], y->re[i], 2 * (double)x->n * EPS * dense->summary.frobenius);
    ck_assert_int_eq(device->hermitian_part, dense->hermitian_part);
}

/* Within the accuracy that the library states; large ones far better. */
static void ck_singular(const szg_matrix_report *device, const szg_matrix_report *dense) {
    const szg_spectrum *x = &device->singular, *y = &dense->singular;
    double square = 12 * (double)x->n * EPS * pow(dense->summary.frobenius, 2);
    ck_assert(!x->kind == !y->kind);
    ck_assert_int_eq(x->count, y->count);
    for (int64_t i = 0; i < x->count; i++) {
        double bound = fmin(sqrt(square), square / y->re[i]);
        ck_close(x->re[i], y->re[i], bound + 2 * (double)x->n * EPS * y->re[0]);
    }
}

/* The diagonal means differ by the rounding of n terms, 2n - 1 means make a value; the least end is
 * the root of a difference of squares of such values. */
static void ck_range(int64_t n, const szg_range *x, const szg_range *y, double largest) {
    ck_assert(!x->method == !y->method);
    if (!x->method)
        return;
    double moved = (double)(2 * n - 1) * gamma_of((double)n) * largest + gamma_of(8) * y->max.hi;
    ck_close(x->max.hi, y->max.hi, moved);
    ck_close(x->min.lo, y->min.lo, 2 * sqrt(y->max.hi * moved));
}

static double largest_error(int64_t n, const szg_summary *s) {
    double square = 12 * (double)n * EPS * s->frobenius * s->frobenius;
    return square / s->sigma_max + 2 * (double)n * EPS * s->sigma_max;
}

static void ck_matrix(int64_t n, const szg_matrix_report *device, const szg_matrix_report *dense) {
    const szg_summary *x = &device->summary, *y = &dense->summary;
    double scale = y->frobenius, low = sqrt(12 * (double)n * EPS) * scale;
    ck_eigenvalues(device, dense);
    ck_singular(device, dense);
    ck_close(x->frobenius, y->frobenius, 4 * (double)(n * n) * EPS * scale);
    ck_close(x->nuclear, y->nuclear, (double)n * low);
    ck_close(x->width, y->width, 4 * (double)n * EPS * scale);
    ck_assert(isnan(x->effective_rank) == isnan(y->effective_rank));
    if (y->sigma_min > 2 * low)
        ck_close(x->sigma_min, y->sigma_min, low);
    else if (device->hermitian_part) /* what is shown is above its error */
        ck_assert(isnan(x->sigma_min) || x->sigma_min > 0.999 * low);
    ck_assert_int_eq(isnan(x->sigma_min), isnan(x->condition) && y->sigma_max > 0);
    ck_assert_int_eq(isnan(x->sigma_min), device->noise[0] != 0); /* an empty cell says why */
    ck_assert(isnan(device->toeplitzness.value) == isnan(dense->toeplitzness.value));
    if (!isnan(dense->toeplitzness.value))
        ck_close(device->toeplitzness.value, dense->toeplitzness.value,
                 device->toeplitzness.error + dense->toeplitzness.error);
    ck_range(n, &device->symbol, &dense->symbol, scale);
    ck_assert_int_eq(device->samples, dense->samples);
    for (int64_t i = 0; i < dense->samples; i++)
        ck_close(hypot(device->sample[i].re - dense->sample[i].re,
                       device->sample[i].im - dense->sample[i].im),
                 0, 64 * (double)n * EPS * scale);
    ck_assert_ptr_nonnull(strstr(device->note, "spectra by a device"));
    ck_assert_ptr_nonnull(strstr(device->note, "no limit theorem"));
}

START_TEST(as_from_the_matrices) {
    for (shape kind = 0; kind < SHAPES; kind++)
        for (int64_t n = 1; n <= LARGEST; n += n < 5 ? 1 : 7) {
            both_ways b = open_both(kind, n);
            ck_szg_ok(contracted(test_context(), szg_matrix_dense(n, n, b.content, n),
                                 szg_matrix_dense(n, n, b.coupled, n), &options, &b.dense));
            ck_szg_ok(report(&b));
            ck_matrix(n, &b.device.content, &b.dense.content);
            ck_matrix(n, &b.device.coupled, &b.dense.coupled);
            const szg_contraction_ratios *x = &b.device.ratios, *y = &b.dense.ratios;
            ck_assert(isnan(x->width) == isnan(y->width));
            ck_assert(isnan(x->norm) == isnan(y->norm));
            ck_assert(isnan(x->nuclear) == isnan(y->nuclear));
            ck_assert_int_eq(x->ordered, y->ordered);
            if (x->ordered)
                ck_assert_int_eq(x->eigenvalues.order, y->eigenvalues.order);
            if (!isnan(y->norm)) /* as ck_singular, of the largest */
                ck_close(x->norm, y->norm,
                         quotient_error(y->norm, b.dense.content.summary.sigma_max,
                                        largest_error(n, &b.dense.coupled.summary),
                                        largest_error(n, &b.dense.content.summary)));
            if (!isnan(y->nuclear)) {
                double low = (double)n * sqrt(12 * (double)n * EPS);
                double content = low * b.dense.content.summary.frobenius;
                double coupled = low * b.dense.coupled.summary.frobenius;
                ck_close(x->nuclear, y->nuclear,
                         2 * (coupled + y->nuclear * content) / b.dense.content.summary.nuclear);
            }
            close_both(&b);
        }
}
END_TEST

/* Largest distance of two lists of n descending numbers. */
static double distance(int64_t n, const double *x, const double *y) {
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

static double *singular_values(int64_t n, const double *a) {
    double *copy = new_numbers(n * n), *s = new_numbers(n);
    memcpy(copy, a, (size_t)(n * n) * sizeof *copy);
    ck_szg_ok(szgi_singular(test_context(), n, n, copy, n, s, NULL, 1, NULL, 1));
    szgi_memory_free(copy);
    return s;
}

/* Logits of a head: what L^T L costs is less than what computing them in single precision did. */
START_TEST(below_the_rounding_of_logits) {
    enum { N = 109, D = 16 };
    szgi_stream stream = {.seed = test_seed(), .purpose = 33};
    double *sides = new_numbers(2 * N * D), *exact = new_numbers(N * N),
           *single = new_numbers(N * N);
    double *room = new_numbers(host_numbers_room(N)), error;
    szgi_logit_numbers numbers;
    szg_spectrum spectrum;
    szgi_random_fill_normal(&stream, 0, 2 * N * D, sides);
    for (int64_t at = 0; at < N * N; at++) {
        float sum = 0;
        for (int64_t c = 0; c < D; c++) {
            float q = (float)sides[at / N * D + c], k = (float)sides[(N + at % N) * D + c];
            exact[at] += (double)q * (double)k / 4;
            sum += q * k / 4;
        }
        single[at] = sum;
    }
    ck_szg_ok(host_numbers(test_context(), N, single, room, &numbers));
    const szg_matrix kept = szgi_matrix_device(N, &numbers);
    error = szgi_squares_error(N, numbers.frobenius);
    ck_szg_ok(szg_spectrum_compute(test_context(), &kept, SZG_QUESTION_SINGULAR, NULL, &spectrum));
    double *given = singular_values(N, single), *before = singular_values(N, exact);
    double squared = distance(N, spectrum.re, given), rounded = distance(N, given, before);
    ck_assert_msg(squared < rounded / 2 && rounded < error, "%.3g, %.3g, %.3g", squared, rounded,
                  error);
    /* Those that are not rounding are as good as any. */
    ck_assert(distance(D, spectrum.re, given) <= N * EPS * given[0]);
    double *all[] = {sides, exact, single, room, given, before};
    for (int i = 0; i < 6; i++)
        szgi_memory_free(all[i]);
    szg_spectrum_close(&spectrum);
}
END_TEST

/* ---- A bad spectrum ---- */

typedef void spoil(both_ways *b, double *eigenvalues, double *squares);

static void shift_value(both_ways *b, double *eigenvalues, double *squares) {
    (void)squares;
    eigenvalues[3] += 1e-9 * b->numbers[1].frobenius;
}

/* The sum stays. */
static void spread_values(both_ways *b, double *eigenvalues, double *squares) {
    (void)squares;
    eigenvalues[0] -= 1e-9 * b->numbers[1].frobenius;
    eigenvalues[9] += 1e-9 * b->numbers[1].frobenius;
}

static void shift_square(both_ways *b, double *eigenvalues, double *squares) {
    (void)eigenvalues;
    squares[9] *= 1 + 1e-9;
    (void)b;
}

static void lose_value(both_ways *b, double *eigenvalues, double *squares) {
    (void)b, (void)squares;
    eigenvalues[0] = NAN;
}

static void lose_square(both_ways *b, double *eigenvalues, double *squares) {
    (void)b, (void)eigenvalues;
    squares[0] = NAN;
}

static void not_converged(both_ways *b, double *eigenvalues, double *squares) {
    (void)eigenvalues, (void)squares;
    b->numbers[1].converged = false;
}

static void infinite_entry(both_ways *b, double *eigenvalues, double *squares) {
    (void)eigenvalues, (void)squares;
    b->numbers[1].infinite = 7 * b->n + 2;
}

/* Of rank one: its squares are noise but for one, and a noise that is far too large. */
static void negative_square(both_ways *b, double *eigenvalues, double *squares) {
    (void)eigenvalues;
    double noise = 1e-6 * squares[b->n - 1];
    memset(squares, 0, (size_t)b->n * sizeof *squares);
    squares[0] = -noise;
    squares[1] = noise;
    squares[b->n - 1] = b->numbers[1].frobenius * b->numbers[1].frobenius;
    b->numbers[1].gram_frobenius = squares[b->n - 1];
}

static const struct {
    spoil *how;
    szg_status status;
    const char *words;
} bad[] = {{shift_value, SZG_ENOCONV, "logits: the computed values miss"},
           {spread_values, SZG_ENOCONV, "logits: the computed values miss"},
           {shift_square, SZG_ENOCONV, "logits: L^T L: the computed values miss"},
           {negative_square, SZG_ENOCONV, "logits: L^T L: eigenvalue 0 is"},
           {lose_value, SZG_ENOCONV, "logits: the computed values miss"},
           {lose_square, SZG_ENOCONV, "logits: L^T L"},
           {not_converged, SZG_ENOCONV, "logits: the device's eigenvalue solver did not converge"},
           {infinite_entry, SZG_EDATA, "logits: entry (7, 2) is not finite"}};

START_TEST(a_bad_spectrum_is_refused) {
    both_ways b = open_both(FULL, 10);
    double eigenvalues[10], squares[10];
    b.numbers[1].eigenvalues = eigenvalues;
    b.numbers[1].squares = squares;
    szgi_logit_numbers good = b.numbers[1];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double *room = b.room + host_numbers_room(10);
        memcpy(eigenvalues, room, sizeof eigenvalues);
        memcpy(squares, room + 10, sizeof squares);
        b.numbers[1] = good;
        ck_szg_ok(report(&b));
        szg_contraction_close(&b.device);
        bad[i].how(&b, eigenvalues, squares);
        ck_szg_fails(bad[i].status, bad[i].words, report(&b));
        ck_assert_ptr_null(b.device.coupled.matrix);
    }
    close_both(&b);
}
END_TEST

/* Among many the message says which one, and the rows of those before are whole. */
START_TEST(a_bad_one_is_named) {
    both_ways b = open_both(FULL, 6);
    szgi_logit_numbers broken = b.numbers[0];
    broken.converged = false;
    szgi_contraction_pair pairs[3];
    for (int i = 0; i < 3; i++)
        pairs[i] = (szgi_contraction_pair){
            .content = szgi_matrix_device(6, i == 2 ? &broken : &b.numbers[0]),
            .coupled = szgi_matrix_device(6, &b.numbers[1]),
            .labels = {SZG_INIT(szg_contraction_labels), .source = "rope", .probe = "4",
                       .content_kind = "same_qk", .step = 50, .layer = 1, .head = i,
                       .grad_norm = NAN}};
    szg_contraction_tables tables;
    ck_szg_ok(szg_contraction_tables_open(test_context(), true, true, &tables));
    ck_szg_ok(szgi_contraction_add_all(test_context(), 2, pairs, &options, &tables));
    ck_assert_int_eq(szg_table_rows(tables.contraction), 2);
    ck_assert_int_eq(szg_table_rows(tables.values), 2 * 2 * 2 * 6);
    ck_szg_fails(SZG_ENOCONV, "rope: layer 1, head 2, probe 4: content: the device's",
                 szgi_contraction_add_all(test_context(), 3, pairs, &options, &tables));
    szg_contraction_tables_close(&tables);
    close_both(&b);
}
END_TEST

static szg_status report_and_close(both_ways *b) {
    szg_status status = report(b);
    szg_contraction_close(&b->device);
    return status;
}

START_TEST(allocation_failures) {
    both_ways b = open_both(FULL, 5);
    ck_survives_failed_allocations(8, report_and_close(&b));
    close_both(&b);
}
END_TEST

TEST_FILE("numbers") {
    test_add(suite, "as_from_the_matrices", as_from_the_matrices);
    test_add(suite, "below_the_rounding_of_logits", below_the_rounding_of_logits);
    test_add(suite, "a_bad_spectrum_is_refused", a_bad_spectrum_is_refused);
    test_add(suite, "a_bad_one_is_named", a_bad_one_is_named);
    test_add(suite, "allocation_failures", allocation_failures);
}
