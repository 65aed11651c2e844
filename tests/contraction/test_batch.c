/* Many reports at once: against one at a time, over thread counts, coupled logits alone, the tables
 * of whole spectra. */
#include "base/pool.h"
#include "spectra/spectra.h"

#include "contraction_support.h"
#include "factored_size.h"
#include "rounding.h"

enum { COUNT = 70, ORDER = 11 }; /* more than one group of reports */

/* Matrices of orders 1 .. ORDER in turn; every third symmetric. */
static double *new_matrix(uint32_t step, int64_t n) {
    double *a = new_test_reals(40, step, n * n);
    for (int64_t i = 0; step % 3 == 0 && i < n; i++)
        for (int64_t j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i];
    return a;
}

typedef struct batch {
    double *content[COUNT], *coupled[COUNT];
    szgi_contraction_pair pair[COUNT];
} batch;

static void open_batch(batch *b) {
    for (int i = 0; i < COUNT; i++) {
        int64_t n = 1 + i % ORDER;
        b->content[i] = i % 7 == 6 ? NULL : new_matrix((uint32_t)i, n);
        b->coupled[i] = new_matrix((uint32_t)i + 3 * COUNT, n);
        b->pair[i] = (szgi_contraction_pair){
            .coupled = szg_matrix_dense(n, n, b->coupled[i], n),
            .labels = {SZG_INIT(szg_contraction_labels), .source = "x", .probe = "3",
                       .content_kind = "same_qk", .step = 5, .layer = i / 8, .head = i % 8,
                       .grad_norm = i % 2 ? NAN : i}};
        if (b->content[i])
            b->pair[i].content = szg_matrix_dense(n, n, b->content[i], n);
    }
}

static void close_batch(batch *b) {
    for (int i = 0; i < COUNT; i++) {
        szgi_memory_free(b->content[i]);
        szgi_memory_free(b->coupled[i]);
    }
}

static void same_tables(const szg_table *x, const szg_table *y) {
    ck_assert_int_eq(szg_table_rows(x), szg_table_rows(y));
    for (int64_t r = 0; r < szg_table_rows(x); r++)
        for (int64_t c = 0; c < szg_table_columns(x); c++) {
            ck_assert_int_eq(szg_table_is_empty(x, r, c), szg_table_is_empty(y, r, c));
            if (szg_table_is_empty(x, r, c))
                continue;
            if (szg_table_column(x, c)->type == SZG_TEXT)
                ck_assert_str_eq(szg_table_get_text(x, r, c), szg_table_get_text(y, r, c));
            else
                ck_assert_msg(szg_table_get_real(x, r, c) == szg_table_get_real(y, r, c),
                              "row %lld, %s", (long long)r, szg_table_column(x, c)->name);
        }
}

static szg_status run_all(szg_context *context, const batch *b, szg_contraction_tables *tables) {
    const szg_report_options options = {SZG_INIT(szg_report_options), .quick_symbol = true,
                                        .samples = 3};
    szg_status status = szg_contraction_tables_open(context, true, true, tables);
    if (status == SZG_OK)
        status = szgi_contraction_add_all(context, COUNT, b->pair, &options, tables);
    if (status != SZG_OK)
        szg_contraction_tables_close(tables);
    return status;
}

/* One at a time inside a block of a pool: what a report of the batch is. */
typedef struct single_job {
    const szgi_contraction_pair *pair;
    szg_contraction out;
} single_job;

static szg_status single(szg_context *context, void *data, int64_t block, int worker) {
    (void)block, (void)worker;
    single_job *job = data;
    const szgi_contraction_pair *p = job->pair;
    const szg_report_options options = {SZG_INIT(szg_report_options), .quick_symbol = true,
                                        .samples = 3};
    return contracted(context, p->content, p->coupled, &options, &job->out);
}

static double cell(const szg_table *table, int64_t row, const char *column) {
    int64_t c = szg_table_find(table, column);
    ck_assert_int_ge(c, 0);
    return szg_table_get_real(table, row, c);
}

/* Small dense matrices have a solver of their own in a batch. Each value of the two solvers is
 * within `weyl` of the truth. */
static void near_values(const batch *b, const szg_table *x, const szg_table *y) {
    ck_assert_int_eq(szg_table_rows(x), szg_table_rows(y));
    for (int64_t r = 0; r < szg_table_rows(x); r++) {
        int64_t pair = (int64_t)cell(x, r, "layer") * 8 + (int64_t)cell(x, r, "head");
        const char *matrix = szg_table_get_text(x, r, szg_table_find(x, "matrix"));
        int64_t n = b->pair[pair].coupled.rows;
        double norm =
            norm_of(n * n, strcmp(matrix, "content") == 0 ? b->content[pair] : b->coupled[pair]);
        ck_assert_str_eq(matrix, szg_table_get_text(y, r, szg_table_find(y, "matrix")));
        ck_assert(cell(x, r, "index") == cell(y, r, "index"));
        ck_close(cell(x, r, "value"), cell(y, r, "value"), 2 * weyl(n, norm));
    }
}

/* An eigenvalue of the second matrix exceeds doubles: its row has the reason, the first its
 * numbers. */
START_TEST(a_bad_matrix_is_a_row) {
    double good[4] = {1, 0.5, 0.5, 1}, bad[4] = {1.7e308, 1.7e308, 1.7e308, 1.7e308};
    szgi_contraction_pair pairs[2] = {{.precision = 0}};
    szg_contraction_tables tables;
    for (int i = 0; i < 2; i++) {
        pairs[i].labels = (szg_contraction_labels){SZG_INIT(szg_contraction_labels), .step = -1,
                                                   .layer = -1, .head = i, .grad_norm = NAN};
        pairs[i].coupled = szg_matrix_dense(2, 2, i ? bad : good, 2);
    }
    ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &tables));
    ck_assert_int_ne(szgi_contraction_add_all(test_context(), 2, pairs, NULL, &tables), SZG_OK);
    tables.keep = true;
    ck_szg_ok(szgi_contraction_add_all(test_context(), 2, pairs, NULL, &tables));
    ck_assert_int_eq(tables.bad, 1);
    ck_assert_int_ne(tables.bad_status, SZG_OK);
    ck_assert_int_eq(szg_table_rows(tables.contraction), 2);
    szg_contraction_tables_close(&tables);
}
END_TEST

START_TEST(batch_against_single) {
    batch b;
    const szg_report_options options = {SZG_INIT(szg_report_options), .quick_symbol = true,
                                        .samples = 3};
    szg_contraction_tables all, one, apart;
    open_batch(&b);
    ck_szg_ok(run_all(test_context(), &b, &all));
    ck_szg_ok(szg_contraction_tables_open(test_context(), true, true, &one));
    ck_szg_ok(szg_contraction_tables_open(test_context(), true, true, &apart));
    int64_t values = 0, samples = 0;
    for (int i = 0; i < COUNT; i++) {
        single_job job = {.pair = &b.pair[i]};
        ck_szg_ok(szgi_pool_run(test_context(), 1, single, &job));
        ck_szg_ok(szgi_contraction_add_to(test_context(), &apart, &b.pair[i].labels, &job.out));
        ck_szg_ok(szgi_contraction_add_all(test_context(), 1, &b.pair[i], &options, &one));
        values += (b.content[i] ? 2 : 1) * b.pair[i].coupled.rows;
        samples += b.content[i] ? 6 : 3;
        szg_contraction_close(&job.out);
    }
    same_tables(all.contraction, one.contraction);
    same_tables(all.values, one.values);
    same_tables(all.symbols, one.symbols);
    near_values(&b, all.values, apart.values);
    same_tables(all.symbols, apart.symbols);
    ck_assert_int_eq(szg_table_rows(all.contraction), COUNT);
    /* Symmetric matrices list eigenvalues only, the others singular values too; the zero matrix has
     * no symbol. */
    ck_assert_int_ge(szg_table_rows(all.values), values);
    ck_assert_int_le(szg_table_rows(all.values), 2 * values);
    ck_assert_int_le(szg_table_rows(all.symbols), samples);
    szg_contraction_tables_close(&one);
    szg_contraction_tables_close(&apart);
    szg_contraction_tables_close(&all);
    close_batch(&b);
}
END_TEST

START_TEST(any_number_of_threads) {
    batch b;
    szg_contraction_tables first;
    open_batch(&b);
    ck_szg_ok(run_all(test_context(), &b, &first));
    for (int threads = 1; threads <= 5; threads += 2) {
        szg_context *context;
        szg_contraction_tables again;
        ck_assert_int_eq(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options),
                                                                 .threads = threads},
                                          &context),
                         SZG_OK);
        ck_assert_int_eq(run_all(context, &b, &again), SZG_OK);
        same_tables(first.contraction, again.contraction);
        same_tables(first.values, again.values);
        same_tables(first.symbols, again.symbols);
        szg_contraction_tables_close(&again);
        szg_context_close(&context);
    }
    szg_contraction_tables_close(&first);
    close_batch(&b);
}
END_TEST

static const char *note_of(const szg_table *table, int64_t row) {
    return szg_table_get_text(table, row, szg_table_find(table, "note"));
}

/* Coupled logits alone: the Kac-Murdock-Szego matrix in its closed form; nothing of a content. */
START_TEST(coupled_alone) {
    enum { N = 30 };
    double a[N * N];
    for (int i = 0; i < N * N; i++)
        a[i] = pow(0.5, abs(i / N - i % N));
    szg_contraction_tables tables;
    szgi_contraction_pair pair = {.coupled = szg_matrix_dense(N, N, a, N),
                                  .labels = {SZG_INIT(szg_contraction_labels), .source = "kms",
                                             .step = -1, .layer = -1, .head = -1,
                                             .grad_norm = NAN}};
    szg_report_options options = {SZG_INIT(szg_report_options), .quick_symbol = true, .samples = 5};
    szg_spectrum closed;
    const szg_matrix kms = szg_matrix_kms(N, 0.5);
    ck_szg_ok(szg_spectrum_compute(test_context(), &kms, SZG_QUESTION_EIGENVALUES, NULL, &closed));
    ck_szg_ok(szg_contraction_tables_open(test_context(), true, true, &tables));
    ck_szg_ok(szgi_contraction_add_all(test_context(), 1, &pair, &options, &tables));
    ck_assert_int_eq(szg_table_rows(tables.symbols), 5);
    for (int j = 0; j < 5; j++) {
        double theta = cell(tables.symbols, j, "theta"), sum = 1;
        for (int k = 1; k < N; k++)
            sum += 2 * pow(0.5, k) * cos(k * theta);
        /* ||a||_1 = 3; 8 eps a stage of the transform, N terms, and the phase k theta: sum k rho^k
         * = 2. */
        double bound = 3 * (8 * EPS * log2(2 * N) + gamma_of(N + 3)) + 2 * gamma_of(4) * theta;
        ck_close(cell(tables.symbols, j, "re"), sum, bound);
        ck_close(cell(tables.symbols, j, "im"), 0, bound);
    }
    const szg_table *t = tables.contraction;
    ck_close(cell(t, 0, "lambda_max_coupled"), closed.re[N - 1], weyl(N, closed.frobenius));
    ck_close(cell(t, 0, "lambda_min_coupled"), closed.re[0], weyl(N, closed.frobenius));
    ck_assert(cell(t, 0, "toeplitzness_coupled") == 1);
    ck_assert(cell(t, 0, "symbol_max_hi_coupled") >= closed.re[N - 1]);
    ck_assert_int_eq(szg_table_rows(tables.values), N);
    for (int i = 0; i < N; i++)
        ck_close(cell(tables.values, i, "value"), closed.re[i], weyl(N, closed.frobenius));
    for (int64_t c = 0; c < szg_table_columns(t); c++) {
        const char *name = szg_table_column(t, c)->name;
        size_t length = strlen(name);
        bool content = length > 8 && strcmp(name + length - 8, "_content") == 0;
        bool ratio =
            strstr(name, "_ratio") || strcmp(name, "majorised") == 0 || strcmp(name, "margin") == 0;
        if (content || ratio)
            ck_assert_msg(szg_table_is_empty(t, 0, c), "%s is not empty", name);
    }
    ck_assert_ptr_nonnull(strstr(note_of(t, 0), "no content to compare with"));
    szg_spectrum_close(&closed);
    szg_contraction_tables_close(&tables);
}
END_TEST

static void same_cell(const szg_table *t, const char *column, double bound) {
    ck_close(cell(t, 0, column), cell(t, 1, column), bound);
}

/* A ratio to `divisor`, which is off by `below`, of a number that is off by `above`. */
static void same_quotient(const szg_table *t, const char *ratio, double divisor, double below,
                          double above) {
    same_cell(t, ratio, quotient_error(cell(t, 1, ratio), divisor, above, below));
}

/* Factored pairs take the same road as dense ones: numbers agree with the dense matrices'. */
START_TEST(factored_pairs) {
    enum { N = 25, D = 4 };
    double *q = new_test_reals(41, 0, N * D), *k = new_test_reals(41, 1, N * D);
    double *r = new_test_reals(41, 2, N * D), *dense[2] = {new_numbers(N * N), new_numbers(N * N)};
    szg_factored content = {.n = N, .d = D, .a = q, .lda = D, .b = k, .ldb = D}, coupled = content;
    coupled.a = r;
    ck_szg_ok(szgi_factored_dense(test_context(), &content, dense[0], N));
    ck_szg_ok(szgi_factored_dense(test_context(), &coupled, dense[1], N));
    szgi_contraction_pair pairs[] = {{.content = szg_matrix_factored(&content),
                                      .coupled = szg_matrix_factored(&coupled),
                                      .labels = {SZG_INIT(szg_contraction_labels), .step = 1}},
                                     {.content = szg_matrix_dense(N, N, dense[0], N),
                                      .coupled = szg_matrix_dense(N, N, dense[1], N),
                                      .labels = {SZG_INIT(szg_contraction_labels), .step = 2}}};
    szg_contraction_tables tables;
    szg_report_options options = {SZG_INIT(szg_report_options), .quick_symbol = true};
    ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &tables));
    ck_szg_ok(szgi_contraction_add_all(test_context(), 2, pairs, &options, &tables));
    const szg_table *t = tables.contraction;
    double below = weyl(N, factored_size(&content)), above = weyl(N, factored_size(&coupled));
    same_cell(t, "lambda_max_coupled", above);
    same_cell(t, "sigma_max_content", below);
    same_cell(t, "toeplitzness_coupled", toeplitzness_error(&coupled, norm_of(N * N, dense[1])));
    double width = cell(t, 1, "lambda_max_content") - cell(t, 1, "lambda_min_content");
    double norm = cell(t, 1, "sigma_max_content"); /* at most the nuclear norm */
    same_quotient(t, "width_ratio", width, 2 * below, 2 * above);
    same_quotient(t, "norm_ratio", norm, below, above);
    same_quotient(t, "nuclear_ratio", norm, N * below, N * above);
    szg_contraction_tables_close(&tables);
    double *all[] = {q, k, r, dense[0], dense[1]};
    for (int i = 0; i < 5; i++)
        szgi_memory_free(all[i]);
}
END_TEST

START_TEST(failures_name_the_head) {
    double good[4] = {1, 2, 3, 4}, bad[4] = {1, NAN, 0, 1};
    const szg_matrix fine = szg_matrix_dense(2, 2, good, 2),
                     broken = szg_matrix_dense(2, 2, bad, 2);
    szgi_contraction_pair pairs[] = {
        {.content = fine,
         .coupled = fine,
         .labels = {SZG_INIT(szg_contraction_labels), .layer = 0, .head = 1, .probe = "0"}},
        {.content = fine,
         .coupled = broken,
         .labels = {SZG_INIT(szg_contraction_labels), .layer = 3, .head = 7, .probe = "b"}}};
    szg_contraction_tables tables;
    ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &tables));
    ck_szg_fails(SZG_EDATA, "layer 3, head 7, probe b",
                 szgi_contraction_add_all(test_context(), 2, pairs, NULL, &tables));
    szg_contraction_tables_close(&tables);
}
END_TEST

static szg_status add_three(const batch *b) {
    const szg_report_options options = {SZG_INIT(szg_report_options), .quick_symbol = true,
                                        .samples = 2};
    szg_contraction_tables tables;
    szg_status status = szg_contraction_tables_open(test_context(), true, true, &tables);
    if (status == SZG_OK)
        status = szgi_contraction_add_all(test_context(), 3, b->pair, &options, &tables);
    szg_contraction_tables_close(&tables);
    return status;
}

START_TEST(allocation_failures) {
    batch b;
    open_batch(&b);
    ck_survives_failed_allocations(20, add_three(&b));
    close_batch(&b);
}
END_TEST

TEST_FILE("batch") {
    test_add(suite, "a_bad_matrix_is_a_row", a_bad_matrix_is_a_row);
    test_add(suite, "batch_against_single", batch_against_single);
    test_add(suite, "any_number_of_threads", any_number_of_threads);
    test_add(suite, "coupled_alone", coupled_alone);
    test_add(suite, "factored_pairs", factored_pairs);
    test_add(suite, "failures_name_the_head", failures_name_the_head);
    test_add(suite, "allocation_failures", allocation_failures);
}
