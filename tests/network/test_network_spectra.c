/* Spectra of logits beside other work, on the backend under test; where it has none, a stand-in's,
 * for the checked functions' sake. */
#include "host_spectra.h"
#include "plugin/backend.h"
#include "network_tests.h"

static szgi_ops table;
static szgi_network_ops network;

static szg_context *opened(void) {
    szg_context *context = test_context();
    if (szgi_ops_of(context) == &table) /* each case has a context */
        return context;
    ck_szg_ok(szg_backend_select(context, test_backend()));
    table = *szgi_ops_of(context);
    network = *table.network;
    if (!network.spectra_open)
        host_spectra_fill(&network);
    table.network = &network;
    szgi_context_set_ops(context, &table);
    return context;
}

/* ---- Numbers ---- */

enum { MATRICES = 6, HEADS = 2, ROWS = 6, COLUMNS = 10 };
typedef enum shape { FULL, SYMMETRIC, ZERO, RANK_ONE, INFINITE, HUGE } shape;

/* Matrices [length][length] in single precision, one of each shape. */
static double *draw_matrices(int64_t length, uint32_t step) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 91, .step = step};
    int64_t square = length * length;
    double *a = new_numbers(MATRICES * square);
    szgi_random_fill_normal(&stream, 0, MATRICES * square, a);
    for (int64_t m = 0; m < MATRICES; m++)
        for (int64_t at = 0; at < square; at++) {
            int64_t i = at / length, j = at % length;
            double *x = &a[m * square + at];
            if (m == SYMMETRIC && j < i)
                *x = a[m * square + j * length + i];
            if (m == ZERO)
                *x = 0;
            if (m == RANK_ONE)
                *x = (double)(i % 4 + 1) * (double)(j % 3 - 1);
            if (m == INFINITE && at == square - 1 - length / 2)
                *x = at % 2 ? NAN : INFINITY;
            if (m == HUGE)
                *x *= 1e30;
            *x = (float)*x;
        }
    return a;
}

static void *to_device(szg_context *context, int64_t count, const double *values) {
    int64_t real = szgi_network_real_size(context);
    float *single;
    void *device;
    ck_szg_ok(szgi_memory_alloc(context, count, &single));
    for (int64_t i = 0; i < count; i++)
        single[i] = (float)values[i];
    ck_szg_ok(szgi_device_alloc(context, count * real, &device));
    ck_szg_ok(szgi_device_upload(
        context, device, real == 4 ? (const void *)single : (const void *)values, count * real));
    szgi_memory_free(single);
    return device;
}

/* Eigenvalues: n eps ||A||_F of both solvers, and of the product n eps ||L||_F^2. Sums of n^2
 * squares, relative, n^2 eps at most. Means to a few bits of the largest. */
static void ck_numbers(int64_t n, const szgi_logit_numbers *x, const szgi_logit_numbers *y) {
    const double eps = 0x1p-52, square = y->frobenius * y->frobenius, unit = (double)n * eps;
    ck_assert_int_eq(x->infinite, y->infinite);
    if (y->infinite >= 0)
        return;
    ck_assert(x->converged);
    for (int64_t i = 0; i < n; i++) {
        ck_close(x->eigenvalues[i], y->eigenvalues[i], 2 * unit * y->frobenius);
        ck_close(x->squares[i], y->squares[i], 12 * unit * square);
    }
    for (int64_t i = 0; i < 2 * n - 1; i++)
        ck_close(x->means[i], y->means[i], 4 * eps * y->largest);
    ck_close(x->trace, y->trace, (double)n * unit * y->largest);
    ck_close(x->frobenius, y->frobenius, (double)n * unit * y->frobenius);
    ck_close(x->part_frobenius, y->part_frobenius, (double)n * unit * y->frobenius);
    /* Means that are off by 4 eps leave deviations that are off by as much, each. */
    ck_close(x->rest_frobenius, y->rest_frobenius,
             (double)n * unit * y->rest_frobenius + 4 * unit * y->largest);
    ck_close(x->gram_frobenius, y->gram_frobenius, (double)n * unit * square);
    ck_assert(x->largest == y->largest && x->skew == y->skew);
}

static void ck_all(szg_context *context, int64_t n, int64_t length, const double *matrices,
                   const szgi_logit_numbers *numbers) {
    double *corner = new_numbers(n * n), *room = new_numbers(host_numbers_room(n));
    for (int64_t m = 0; m < MATRICES; m++) {
        szgi_logit_numbers wanted;
        for (int64_t at = 0; at < n * n; at++)
            corner[at] = matrices[(m * length + at / n) * length + at % n];
        ck_szg_ok(host_numbers(context, n, corner, room, &wanted));
        ck_numbers(n, &numbers[m], &wanted);
    }
    szgi_memory_free(corner);
    szgi_memory_free(room);
}

/* Two parts, rows and columns shared out. */
static void ck_squares(const double *parts, const double *sums) {
    for (int64_t h = 0; h < HEADS; h++) {
        double sum = 0;
        for (int64_t at = 0; at < ROWS * COLUMNS; at++) {
            bool by_row = at / COLUMNS / (ROWS / HEADS) == h;
            bool by_column = at % COLUMNS / (COLUMNS / HEADS) == h;
            sum += by_row ? parts[at] * parts[at] : 0;
            sum += by_column ? parts[ROWS * COLUMNS + at] * parts[ROWS * COLUMNS + at] : 0;
        }
        ck_close(sums[1 + h], sum, ROWS * COLUMNS * 0x1p-52 * sum);
    }
    ck_assert(sums[0] == 0);
}

typedef struct filled {
    double *matrices, *parts;
    void *logits, *array;
} filled;

/* Fills a job and begins; the arrays are then changed. */
static filled begin(szg_context *context, szgi_spectra_job *job, int64_t length, uint32_t step) {
    const int64_t square = length * length, real = szgi_network_real_size(context);
    szgi_stream stream = {.seed = test_seed(), .purpose = 92, .step = step};
    filled f = {draw_matrices(length, step), new_numbers(2 * ROWS * COLUMNS), NULL, NULL};
    szgi_random_fill_normal(&stream, 0, 2 * ROWS * COLUMNS, f.parts);
    for (int64_t i = 0; i < 2 * ROWS * COLUMNS; i++)
        f.parts[i] = (float)f.parts[i];
    f.logits = to_device(context, MATRICES * square, f.matrices);
    f.array = to_device(context, 2 * ROWS * COLUMNS, f.parts);
    const szgi_head_part parts[] = {
        {f.array, ROWS, COLUMNS, false},
        {(const char *)f.array + ROWS * COLUMNS * real, ROWS, COLUMNS, true}};
    ck_szg_ok(szgi_network_spectra_squares(context, job, 1, HEADS, 2, parts));
    ck_szg_ok(szgi_network_spectra_take(context, job, 2, MATRICES - 2, length,
                                        (const char *)f.logits + 2 * square * real));
    ck_szg_ok(szgi_network_spectra_take(context, job, 0, 2, length, f.logits));
    ck_szg_ok(szgi_network_spectra_begin(context, job, MATRICES));
    ck_szg_ok(szgi_device_clear(context, f.logits, MATRICES * square * real));
    ck_szg_ok(szgi_device_clear(context, f.array, 2 * ROWS * COLUMNS * real));
    return f;
}

static void close_filled(szg_context *context, filled *f) {
    szgi_memory_free(f->matrices);
    szgi_memory_free(f->parts);
    szgi_device_free(context, f->logits);
    szgi_device_free(context, f->array);
}

START_TEST(as_on_the_host) {
    static const int64_t orders[] = {1, 2, 5, 16, 33};
    szg_context *context = opened();
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        int64_t n = orders[o];
        szgi_spectra_job *job;
        ck_szg_ok(szgi_network_spectra_open(context, MATRICES + 1, n, 1 + HEADS, &job));
        for (int64_t more = 0; more < 4; more += 3) { /* the second time with padding */
            szgi_logit_numbers numbers[MATRICES + 1];
            double sums[1 + HEADS];
            filled f = begin(context, job, n + more, (uint32_t)(n + more));
            ck_szg_ok(szgi_network_spectra_collect(context, job, numbers, sums));
            ck_all(context, n, n + more, f.matrices, numbers);
            ck_squares(f.parts, sums);
            close_filled(context, &f);
        }
        szgi_network_spectra_close(context, &job);
        ck_assert_ptr_null(job);
    }
}
END_TEST

/* Sums without a matrix; a job that is closed while it is under way. */
START_TEST(no_matrix) {
    szg_context *context = opened();
    szgi_spectra_job *job;
    double sums[1 + HEADS];
    ck_szg_ok(szgi_network_spectra_open(context, MATRICES, 3, 1 + HEADS, &job));
    ck_szg_ok(szgi_network_spectra_begin(context, job, 0));
    ck_szg_ok(szgi_network_spectra_collect(context, job, NULL, sums));
    ck_assert(sums[0] == 0 && sums[2] == 0);
    filled f = begin(context, job, 3, 1);
    szgi_network_spectra_close(context, &job);
    szgi_network_spectra_close(context, &job);
    close_filled(context, &f);
}
END_TEST

#define REFUSED(words, call) ck_szg_fails(SZG_EINVAL, words, call)

START_TEST(bad_calls_are_refused) {
    szg_context *context = opened();
    szgi_spectra_job *job;
    szgi_logit_numbers numbers[2];
    float x[4] = {0};
    szgi_head_part part = {x, 2, 2, false}, odd = {x, 2, 3, true};
    REFUSED("count = 0 is below 1", szgi_network_spectra_open(context, 0, 2, 0, &job));
    REFUSED("n = 0 is below 1", szgi_network_spectra_open(context, 2, 0, 0, &job));
    REFUSED("sums = -1 is below 0", szgi_network_spectra_open(context, 2, 2, -1, &job));
    ck_szg_fails(SZG_ENOMEM, "spectra of logits",
                 szgi_network_spectra_open(context, INT64_C(1) << 40, 1 << 20, 0, &job));
    ck_szg_ok(szgi_network_spectra_open(context, 2, 2, 2, &job));
    REFUSED("take: 2 matrices from place 1 on, opened for 2",
            szgi_network_spectra_take(context, job, 1, 2, 2, x));
    REFUSED("take: length = 1 is below 2", szgi_network_spectra_take(context, job, 0, 1, 1, x));
    REFUSED("logits is NULL", szgi_network_spectra_take(context, job, 0, 1, 2, NULL));
    REFUSED("job is NULL", szgi_network_spectra_take(context, NULL, 0, 1, 2, x));
    REFUSED("2 sums from place 1 on, opened for 2",
            szgi_network_spectra_squares(context, job, 1, 2, 1, &part));
    REFUSED("parts = 9 is above 8", szgi_network_spectra_squares(context, job, 0, 2, 9, &part));
    REFUSED("3 columns are not shared out evenly to 2 heads",
            szgi_network_spectra_squares(context, job, 0, 2, 1, &odd));
    REFUSED("begin: 3 matrices from place 0 on, opened for 2",
            szgi_network_spectra_begin(context, job, 3));
    REFUSED("collect: nothing was begun",
            szgi_network_spectra_collect(context, job, numbers, NULL));
    ck_szg_ok(szgi_network_spectra_begin(context, job, 0));
    REFUSED("take: 0 matrices are under way: collect them first",
            szgi_network_spectra_take(context, job, 0, 1, 2, x));
    REFUSED("begin: 0 matrices are under way", szgi_network_spectra_begin(context, job, 1));
    ck_szg_ok(szgi_network_spectra_collect(context, job, NULL, NULL));
    szgi_network_spectra_close(context, &job);
}
END_TEST

START_TEST(a_backend_without) {
    szg_context *context = opened();
    szgi_network_ops bare = network;
    szgi_ops without = table;
    szgi_spectra_job *job;
    bare.spectra_open = NULL;
    without.network = &bare;
    ck_assert(szgi_network_has_spectra(context));
    szgi_context_set_ops(context, &without);
    ck_assert(!szgi_network_has_spectra(context));
    ck_szg_fails(SZG_EBACKEND, "has no spectra of logits",
                 szgi_network_spectra_open(context, 1, 1, 0, &job));
    szgi_context_set_ops(context, &table);
}
END_TEST

/* Without a stream that could be recorded there is nothing to refuse. */
START_TEST(not_while_recording) {
    szg_context *context = opened();
    szgi_spectra_job *job, *other;
    float x[4] = {0};
    if (!szgi_device_records(context))
        return;
    ck_szg_ok(szgi_network_spectra_open(context, 1, 2, 0, &job));
    ck_szg_ok(szgi_device_record_begin(context));
    ck_szg_fails(SZG_EBACKEND, "recorded", szgi_network_spectra_open(context, 1, 2, 0, &other));
    ck_szg_fails(SZG_EBACKEND, "recorded", szgi_network_spectra_take(context, job, 0, 1, 2, x));
    ck_szg_fails(SZG_EBACKEND, "recorded", szgi_network_spectra_begin(context, job, 0));
    ck_szg_ok(szgi_device_record_end(context, NULL));
    szgi_network_spectra_close(context, &job);
}
END_TEST

TEST_FILE("network_spectra") {
    test_add(suite, "as_on_the_host", as_on_the_host);
    test_add(suite, "no_matrix", no_matrix);
    test_add(suite, "bad_calls_are_refused", bad_calls_are_refused);
    test_add(suite, "a_backend_without", a_backend_without);
    test_add(suite, "not_while_recording", not_while_recording);
}
