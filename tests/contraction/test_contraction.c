/* Contraction: structure against the dense oracle, known ratios, claims, the tables' columns. */
#include <unistd.h>

#include "linalg/linalg.h"
#include "formats/npy.h"

#include "coupling/coupling.h"
#include "contraction_support.h"
#include "factored_size.h"

/* ---- Contraction ---- */

/* Is x majorised by y (both largest first), in plain arithmetic: the first k whose partial sums say
 * no by more than `slack`, 0 for none; and the least slack of any. */
static int64_t naive_order(int64_t n, const double *x, const double *y, double slack,
                           double *margin) {
    double a = 0, b = 0;
    int64_t first = 0;
    *margin = INFINITY;
    for (int64_t k = 1; k <= n; k++) {
        a += x[k - 1];
        b += y[k - 1];
        double room = k < n ? b - a : -fabs(b - a);
        *margin = fmin(*margin, room);
        if (room < -slack && !first)
            first = k;
    }
    return first;
}

/* Partial sums: of n values a side. */
static double order_slack(const szg_contraction *c) {
    return (double)c->n * (content_error(c) + coupled_error(c));
}

static double nuclear_error(const szg_contraction *c) {
    return quotient_error(c->ratios.nuclear, c->content.summary.nuclear,
                          (double)c->n * coupled_error(c), (double)c->n * content_error(c));
}

/* tau_error: of the coupled matrix, where it is not NULL. */
static void contract(const char *encoding_spec, const char *content_spec, int64_t n,
                     szg_contraction *fast, szg_contraction *dense, double *tau_error) {
    szg_report_options bare = {SZG_INIT(szg_report_options), .no_symbol = true};
    szg_encoding *encoding = encoding_of(encoding_spec);
    szg_content *content = content_of(content_spec);
    szg_logits *logits;
    ck_szg_ok(szg_logits_open(test_context(), encoding, 0, content, n, NULL, &logits));
    szg_factored plain = szgi_logits_content(logits), coupled = szgi_logits_coupled(logits);
    ck_szg_ok(contracted(test_context(), szg_matrix_factored(&plain), szg_matrix_factored(&coupled),
                         &bare, fast));
    double *a, *b;
    ck_szg_ok(szgi_memory_alloc(test_context(), n * n, &a));
    ck_szg_ok(szgi_memory_alloc(test_context(), n * n, &b));
    ck_szg_ok(szgi_factored_dense(test_context(), &plain, a, n));
    ck_szg_ok(szgi_factored_dense(test_context(), &coupled, b, n));
    ck_szg_ok(contracted(test_context(), szg_matrix_dense(n, n, a, n), szg_matrix_dense(n, n, b, n),
                         &bare, dense));
    if (tau_error)
        *tau_error = toeplitzness_error(&coupled, norm_of(n * n, b));
    szgi_memory_free(a);
    szgi_memory_free(b);
    szg_logits_close(&logits);
    szg_content_close(&content);
    szg_encoding_close(&encoding);
}

static void same_ratio(double fast, double dense, double bound) {
    ck_assert_int_eq(isnan(fast), isnan(dense));
    if (!isnan(fast))
        ck_close(fast, dense, bound);
}

static void same_ratios(const szg_contraction *fast, const szg_contraction *dense) {
    const szg_contraction_ratios *x = &fast->ratios, *y = &dense->ratios;
    const szg_summary *content = &dense->content.summary;
    double above = coupled_error(dense), below = content_error(dense);
    same_ratio(x->width, y->width, quotient_error(y->width, content->width, 2 * above, 2 * below));
    same_ratio(x->norm, y->norm, quotient_error(y->norm, content->sigma_max, above, below));
    same_ratio(x->nuclear, y->nuclear, nuclear_error(dense));
}

START_TEST(factored_against_dense) {
    static const char *const encodings[] = {"rope:dim=16", "absolute:dim=16", "alibi:heads=1",
                                            "mla:content=8,rope=8", "t5:seed=2"};
    static const char *const contents[] = {"gaussian", "gaussian:weights=identity", "mean",
                                           "lowrank:rank=2,weights=identity"};
    for (int e = 0; e < 5; e++)
        for (int c = 0; c < 4; c++) {
            szg_contraction fast, dense;
            double tau_error;
            contract(encodings[e], contents[c], 40, &fast, &dense, &tau_error);
            ck_assert_int_eq(fast.n, 40);
            same_ratios(&fast, &dense);
            ck_close(fast.coupled.toeplitzness.value, dense.coupled.toeplitzness.value, tau_error);
            ck_assert_int_eq(fast.ratios.ordered, dense.ratios.ordered);
            szg_contraction_close(&fast);
            szg_contraction_close(&dense);
        }
}
END_TEST

START_TEST(nope_changes_nothing) {
    szg_contraction fast, dense;
    contract("nope", "gaussian:weights=identity,dim=6", 30, &fast, &dense, NULL);
    ck_assert(fast.ratios.width == 1 && fast.ratios.norm == 1 && fast.ratios.nuclear == 1);
    ck_assert(fast.ratios.ordered && fast.ratios.eigenvalues.order == SZG_ORDER_HOLDS);
    szg_contraction_close(&fast);
    szg_contraction_close(&dense);
}
END_TEST

/* ---- Hermitian parts ---- */

/* Eigenvalues of (L + L^T)/2, largest first, entry by entry and by Jacobi. */
static void hermitian_values(const szg_factored *f, double *out) {
    int64_t n = f->n;
    double *dense, *half;
    ck_szg_ok(szgi_memory_alloc(test_context(), n * n, &dense));
    ck_szg_ok(szgi_memory_alloc(test_context(), n * n, &half));
    ck_szg_ok(szgi_factored_dense(test_context(), f, dense, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            half[i * n + j] = (dense[i * n + j] + dense[j * n + i]) / 2;
    ck_szg_ok(szg_backend_select(test_context(), "reference"));
    ck_szg_ok(szgi_eigen_symmetric(test_context(), n, half, n, out, false));
    ck_szg_ok(szg_backend_select(test_context(), "cpu"));
    qsort(out, (size_t)n, sizeof *out, descending);
    szgi_memory_free(dense);
    szgi_memory_free(half);
}

static void check_range(const szg_matrix_report *report, int64_t n, const double *want) {
    double bound = weyl(n, report->summary.frobenius);
    ck_close(report->summary.lambda_max, want[0], bound);
    ck_close(report->summary.lambda_min, want[n - 1], bound);
    ck_close(report->summary.width, want[0] - want[n - 1], 2 * bound);
    ck_close(report->summary.radius, fmax(fabs(want[0]), fabs(want[n - 1])), bound);
    double all[64];
    values_of(&report->eigenvalues, all);
    for (int64_t i = 0; i < n; i++)
        ck_close(all[i], want[i], bound);
}

static void check_hermitian(const char *encoding_spec, const char *content_spec, bool causal) {
    enum { N = 40 };
    double x[N], y[N], margin;
    szg_encoding *encoding = encoding_of(encoding_spec);
    szg_content *content = content_of(content_spec);
    szg_logits_options mask = {SZG_INIT(szg_logits_options), .causal = causal};
    szg_report_options bare = {SZG_INIT(szg_report_options), .no_symbol = true};
    szg_logits *logits;
    szg_contraction c;
    ck_szg_ok(szg_logits_open(test_context(), encoding, 0, content, N, &mask, &logits));
    szg_factored plain = szgi_logits_content(logits), coupled = szgi_logits_coupled(logits);
    ck_szg_ok(contracted(test_context(), szg_matrix_factored(&plain), szg_matrix_factored(&coupled),
                         &bare, &c));
    hermitian_values(&plain, y);
    hermitian_values(&coupled, x);
    check_range(&c.content, N, y);
    check_range(&c.coupled, N, x);
    double width = y[0] - y[N - 1];
    ck_close(c.ratios.width, (x[0] - x[N - 1]) / width,
             quotient_error(c.ratios.width, width, 2 * coupled_error(&c), 2 * content_error(&c)));
    ck_assert(isfinite(c.ratios.norm) && isfinite(c.ratios.nuclear) && c.ratios.ordered);
    ck_assert_int_eq(c.ratios.eigenvalues.first_violation,
                     naive_order(N, x, y, order_slack(&c), &margin));
    ck_close(c.ratios.eigenvalues.margin, margin, order_slack(&c));
    ck_assert_int_eq(c.coupled.hermitian_part, strstr(c.coupled.note, "Hermitian part") != NULL);
    szg_contraction_close(&c);
    szg_logits_close(&logits);
    szg_content_close(&content);
    szg_encoding_close(&encoding);
}

/* Every encoding, queries that differ from keys and queries equal to keys, with a mask and without:
 * real eigenvalues, all of them. */
START_TEST(hermitian_parts) {
    static const char *const encodings[] = {"nope",
                                            "rope:dim=16",
                                            "rope:dim=16,rotary=4",
                                            "absolute:dim=16",
                                            "alibi:heads=1",
                                            "mla:content=8,rope=8",
                                            "t5:seed=2",
                                            "rope+absolute:dim=8"};
    static const char *const contents[] = {"gaussian", "gaussian:weights=identity", "mean"};
    for (int e = 0; e < 8; e++)
        for (int c = 0; c < 6; c++)
            check_hermitian(encodings[e], contents[c % 3], c >= 3);
}
END_TEST

/* Content q = k with all frequency pairs alike: then G_t = G for every t and the logits are
 * (d/2) G o Ebar, Ebar the rotary mean kernel: claim B3c says majorised. */
START_TEST(bapat_sunder_case) {
    enum { N = 24, D = 8 };
    double q[N * D];
    szgi_stream stream = {.seed = test_seed(), .purpose = 9};
    for (int i = 0; i < N; i++)
        for (int c = 0; c < D; c++)
            q[i * D + c] = szgi_random_normal(&stream, (uint64_t)(2 * i + c % 2));
    char path[64], spec[200];
    snprintf(path, sizeof path, "test_contraction_%d.npy", (int)getpid());
    int64_t shape[] = {N, D};
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, shape, q));
    snprintf(spec, sizeof spec, "files:q=%s,k=%s", path, path);
    szg_contraction fast, dense;
    contract("rope:dim=8,base=100,pairing=interleaved", spec, N, &fast, &dense, NULL);
    unlink(path);
    ck_assert(fast.ratios.ordered && dense.ratios.ordered);
    ck_assert_int_eq(fast.ratios.eigenvalues.order, SZG_ORDER_HOLDS);
    ck_assert_int_eq(dense.ratios.eigenvalues.order, SZG_ORDER_HOLDS);
    ck_assert(fast.ratios.width < 1 && fast.ratios.norm < 1);
    /* positive semidefinite: the trace is kept */
    ck_close(fast.ratios.nuclear, 1, nuclear_error(&fast));
    double x[N], y[N];
    values_of(&fast.coupled.eigenvalues, x);
    values_of(&fast.content.eigenvalues, y);
    double margin;
    ck_assert_int_eq(naive_order(N, x, y, order_slack(&fast), &margin), 0);
    szg_contraction_close(&fast);
    szg_contraction_close(&dense);
}
END_TEST

/* Independent content in every dimension: nothing of the kind holds, and the first violated partial
 * sum is the one that a plain sort finds. */
START_TEST(violations_are_reported) {
    szg_contraction fast, dense;
    contract("rope:dim=16", "gaussian:weights=identity,seed=3", 60, &fast, &dense, NULL);
    double x[60], y[60], margin;
    values_of(&fast.coupled.eigenvalues, x);
    values_of(&fast.content.eigenvalues, y);
    int64_t first = naive_order(60, x, y, order_slack(&fast), &margin);
    ck_assert(fast.ratios.ordered);
    ck_assert_int_eq(fast.ratios.eigenvalues.order == SZG_ORDER_VIOLATED, first > 0);
    if (first)
        ck_assert_int_eq(fast.ratios.eigenvalues.first_violation, first);
    szg_contraction_close(&fast);
    szg_contraction_close(&dense);
}
END_TEST

/* Content q != k with all frequency pairs alike, masked or not: M o (W o Ebar) = (M o W) o Ebar and
 * Ebar is real, so the Hermitian part is coupled like a matrix of its own: majorised (B3c). */
START_TEST(any_shared_content) {
    enum { N = 30, D = 8 };
    double q[N * D], k[N * D], x[N], y[N], margin;
    szgi_stream stream = {.seed = test_seed(), .purpose = 10};
    for (int i = 0; i < N * D; i++) {
        uint64_t at = (uint64_t)(4 * (i / D) + i % 2);
        q[i] = szgi_random_normal(&stream, at);
        k[i] = szgi_random_normal(&stream, at + 2);
    }
    char queries[64], keys[64], spec[200];
    snprintf(queries, sizeof queries, "test_contraction_q%d.npy", (int)getpid());
    snprintf(keys, sizeof keys, "test_contraction_k%d.npy", (int)getpid());
    int64_t shape[] = {N, D};
    ck_szg_ok(szgi_npy_write_real(test_context(), queries, 2, shape, q));
    ck_szg_ok(szgi_npy_write_real(test_context(), keys, 2, shape, k));
    snprintf(spec, sizeof spec, "files:q=%s,k=%s", queries, keys);
    szg_encoding *encoding = encoding_of("rope:dim=8,base=100,pairing=interleaved");
    szg_content *content = content_of(spec);
    unlink(queries);
    unlink(keys);
    for (int causal = 0; causal < 2; causal++) {
        szg_logits_options mask = {SZG_INIT(szg_logits_options), .causal = causal};
        szg_logits *logits;
        szg_contraction c;
        ck_szg_ok(szg_logits_open(test_context(), encoding, 0, content, N, &mask, &logits));
        szg_factored plain = szgi_logits_content(logits), coupled = szgi_logits_coupled(logits);
        ck_szg_ok(contracted(test_context(), szg_matrix_factored(&plain),
                             szg_matrix_factored(&coupled), NULL, &c));
        ck_assert(c.content.hermitian_part && c.coupled.hermitian_part && c.ratios.ordered);
        ck_assert_int_eq(c.ratios.eigenvalues.order, SZG_ORDER_HOLDS);
        ck_assert(c.ratios.width < 1 && c.ratios.norm < 1);
        ck_assert(c.ratios.nuclear <= 1 + nuclear_error(&c));
        hermitian_values(&plain, y);
        hermitian_values(&coupled, x);
        ck_assert_int_eq(naive_order(N, x, y, order_slack(&c), &margin), 0);
        szg_contraction_close(&c);
        szg_logits_close(&logits);
    }
    szg_content_close(&content);
    szg_encoding_close(&encoding);
}
END_TEST

/* The counterexample under claim B3c: W is nilpotent, W o Ebar at theta = 1 has the eigenvalues
 * +-sin 1: its radius grows from 0. That of the Hermitian part diag(1, -1) stays. */
START_TEST(nilpotent_content) {
    const double c = cos(1), w[4] = {1, 1, -1, -1}, coupled[4] = {1, c, -c, -1};
    szg_matrix_report own;
    ck_szg_ok(summarise(test_context(), szg_matrix_dense(2, 2, coupled, 2), "logits", NULL, &own));
    ck_close(own.summary.radius, sin(1), 8 * EPS);
    ck_assert(!own.hermitian_part);
    szg_matrix_report_close(&own);
    szg_contraction contraction;
    ck_szg_ok(contracted(test_context(), szg_matrix_dense(2, 2, w, 2),
                         szg_matrix_dense(2, 2, coupled, 2), NULL, &contraction));
    ck_close(contraction.content.summary.radius, 1, 8 * EPS);
    ck_close(contraction.coupled.summary.radius, 1, 8 * EPS);
    ck_close(contraction.ratios.width, 1, 8 * EPS);
    ck_close(contraction.ratios.norm, sqrt((1 + c * c + 2 * c) / 4), 8 * EPS);
    ck_assert_int_eq(contraction.ratios.eigenvalues.order, SZG_ORDER_HOLDS);
    ck_close(contraction.ratios.eigenvalues.margin, 0, 8 * EPS);
    szg_contraction_close(&contraction);
}
END_TEST

/* Claim B3n: w = (5, 1, 1, -1), e_3 = -1, N = 32: not positive semidefinite, and the radius grows.
 */
START_TEST(no_correlation_matrix) {
    const double w[4] = {5, 1, 1, -1}, e[4] = {5, 1, 1, 1};
    szg_toeplitz *content, *coupled;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 32, 4, w, &content));
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 32, 4, e, &coupled));
    szg_factored left = {.n = 32, .bias = content}, right = {.n = 32, .bias = coupled};
    szg_contraction c;
    ck_szg_ok(contracted(test_context(), szg_matrix_factored(&left), szg_matrix_factored(&right),
                         NULL, &c));
    ck_close(c.content.summary.radius, 7.8352, 5e-5);
    ck_close(c.coupled.summary.radius, 10.8820, 5e-5);
    ck_assert_int_eq(c.ratios.eigenvalues.order, SZG_ORDER_VIOLATED);
    ck_assert_int_eq(c.ratios.eigenvalues.first_violation, 1);
    ck_assert(!c.content.hermitian_part && !c.coupled.hermitian_part);
    szg_contraction_close(&c);
    szg_toeplitz_close(&content);
    szg_toeplitz_close(&coupled);
}
END_TEST

/* Rotated in single precision the diagonal, and so the trace, moves by its rounding: that is no
 * violation where the entries are known to be rounded so. */
START_TEST(rounded_entries) {
    enum { N = 12 };
    double content[N * N], coupled[N * N];
    for (int i = 0; i < N * N; i++) {
        content[i] = 1 / (1.0 + i / N + i % N);
        coupled[i] = content[i] * cos(0.3 * (i / N - i % N)) * (1 + 0x1p-24 * (i % N == i / N));
    }
    szg_contraction c;
    szg_report_options options = {SZG_INIT(szg_report_options), .no_symbol = true};
    ck_szg_ok(contracted(test_context(), szg_matrix_dense(N, N, content, N),
                         szg_matrix_dense(N, N, coupled, N), &options, &c));
    ck_assert_int_eq(c.ratios.eigenvalues.order, SZG_ORDER_VIOLATED);
    szg_contraction_close(&c);
    options.precision = 0x1p-24;
    ck_szg_ok(contracted(test_context(), szg_matrix_dense(N, N, content, N),
                         szg_matrix_dense(N, N, coupled, N), &options, &c));
    ck_assert_int_eq(c.ratios.eigenvalues.order, SZG_ORDER_HOLDS);
    ck_assert(c.ratios.eigenvalues.margin < 0);
    szg_contraction_close(&c);
}
END_TEST

START_TEST(content_kinds) {
    static const char *const kinds[][2] = {
        {"rope", "same_qk"},          {"alibi", "same_qk"},        {"t5:seed=1", "same_qk"},
        {"nope", "same_qk"},          {"mla", "same_qk"},          {"absolute", "zeroed"},
        {"learned:seed=1", "zeroed"}, {"random:seed=1", "zeroed"}, {"rope+absolute", "zeroed"},
        {"kms:rho=0.5", "same_qk"},   {"rope-bias", "same_qk"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        szg_encoding *encoding = encoding_of(kinds[i][0]);
        ck_assert_str_eq(szg_contraction_content_kind(encoding), kinds[i][1]);
        szg_encoding_close(&encoding);
    }
}
END_TEST

/* Above the order of whole spectra the ends still give the width's ratio; majorisation says why it
 * is empty. Content without a bias has all of them, by its rank. */
START_TEST(ends_of_large_logits) {
    szg_contraction fast;
    szg_table *table;
    szg_contraction_labels labels = {SZG_INIT(szg_contraction_labels), .source = "x", .step = -1,
                                     .layer = -1, .grad_norm = NAN};
    const int64_t n = SZG_REPORT_ALL_LIMIT + 4;
    szg_encoding *encoding = encoding_of("t5:seed=2");
    szg_content *content = content_of("gaussian:dim=2");
    szg_report_options bare = {SZG_INIT(szg_report_options), .no_symbol = true};
    szg_logits *logits;
    ck_szg_ok(szg_logits_open(test_context(), encoding, 0, content, n, NULL, &logits));
    szg_factored plain = szgi_logits_content(logits), coupled = szgi_logits_coupled(logits);
    ck_szg_ok(contracted(test_context(), szg_matrix_factored(&plain), szg_matrix_factored(&coupled),
                         &bare, &fast));
    ck_assert_int_eq(fast.content.eigenvalues.count, 4);
    ck_assert_int_eq(fast.coupled.eigenvalues.count, 2);
    ck_assert(isfinite(fast.ratios.width) && !fast.ratios.ordered);
    ck_assert(fast.ratios.width == fast.coupled.summary.width / fast.content.summary.width);
    ck_szg_ok(szg_contraction_table(test_context(), &table));
    ck_szg_ok(szg_contraction_add(test_context(), table, &labels, &fast));
    const char *note = szg_table_get_text(table, 0, szg_table_find(table, "note"));
    ck_assert(strstr(note, "no majorisation") && strstr(note, "Hermitian part"));
    ck_assert(szg_table_is_empty(table, 0, szg_table_find(table, "majorised")));
    ck_assert(!szg_table_is_empty(table, 0, szg_table_find(table, "width_ratio")));
    szg_table_close(&table);
    szg_contraction_close(&fast);
    szg_logits_close(&logits);
    szg_content_close(&content);
    szg_encoding_close(&encoding);
}
END_TEST

/* ---- Tables ---- */

static void check_columns(const szg_table *table, const char *const *names, int64_t count) {
    ck_assert_int_eq(szg_table_columns(table), count);
    for (int64_t i = 0; i < count; i++)
        ck_assert_str_eq(szg_table_column(table, i)->name, names[i]);
}

/* The columns that scripts rely on, in the order in which they are promised. */
START_TEST(columns) {
    static const char *const summary[] = {"source",
                                          "layer",
                                          "head",
                                          "matrix",
                                          "n",
                                          "rank",
                                          "lambda_min",
                                          "lambda_max",
                                          "width",
                                          "radius",
                                          "sigma_min",
                                          "sigma_max",
                                          "condition",
                                          "stable_rank",
                                          "effective_rank",
                                          "toeplitzness",
                                          "toeplitzness_error",
                                          "toeplitzness_sampled",
                                          "symbol_min_lo",
                                          "symbol_min_hi",
                                          "symbol_max_lo",
                                          "symbol_max_hi",
                                          "theorem",
                                          "method",
                                          "residual",
                                          "solver",
                                          "values_of",
                                          "bound_of",
                                          "lambda_min_lo",
                                          "lambda_min_hi",
                                          "lambda_max_lo",
                                          "lambda_max_hi",
                                          "sigma_min_lo",
                                          "sigma_min_hi",
                                          "sigma_max_lo",
                                          "sigma_max_hi",
                                          "dropped",
                                          "note"};
    static const char *const begin[] = {
        "source",       "step",         "layer",       "head",         "probe",         "n",
        "content_kind", "pairing",      "width_ratio", "norm_ratio",   "nuclear_ratio", "majorised",
        "margin",       "margin_error", "grad_norm",   "grad_norm_qk", "rank_content"};
    static const char *const values[] = {"source", "layer", "head", "matrix",
                                         "kind",   "index", "re",   "im"};
    static const char *const range[] = {"source", "min_lo",    "min_hi",    "max_lo",
                                        "max_hi", "theta_min", "theta_max", "method"};
    static const char *const samples[] = {"theta", "re", "im"};
    szg_report_tables tables;
    ck_szg_ok(szg_report_tables_open(test_context(), true, true, &tables));
    check_columns(tables.summary, summary, sizeof summary / sizeof *summary);
    for (int i = 0; i < 8; i++) {
        ck_assert_str_eq(szg_table_column(tables.eigenvalues, i)->name, values[i]);
        ck_assert_str_eq(szg_table_column(tables.range, i)->name, range[i]);
    }
    for (int i = 0; i < 3; i++)
        ck_assert_str_eq(szg_table_column(tables.samples, i)->name, samples[i]);
    szg_table *contraction;
    ck_szg_ok(szg_contraction_table(test_context(), &contraction));
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        ck_assert_str_eq(szg_table_column(contraction, (int64_t)i)->name, begin[i]);
    szg_table *all[] = {tables.summary, tables.eigenvalues, tables.samples, tables.range,
                        contraction};
    for (int i = 0; i < 5; i++)
        ck_assert_str_eq(szg_table_column(all[i], szg_table_columns(all[i]) - 1)->name, "note");
    /* Every number of `summary` stands in `contraction` twice, but for certified ends and what a
     * divide and conquer dropped: neither matrix has them. */
    for (int64_t i = 5; i < szg_table_columns(tables.summary); i++) {
        const szg_column *column = szg_table_column(tables.summary, i);
        char name[64];
        if (strncmp(column->name, "lambda_min_", 11) == 0 ||
            strncmp(column->name, "lambda_max_", 11) == 0 ||
            strncmp(column->name, "sigma_min_", 10) == 0 ||
            strncmp(column->name, "sigma_max_", 10) == 0 || strcmp(column->name, "dropped") == 0)
            continue;
        snprintf(name, sizeof name, "%s_content", column->name);
        int64_t found = szg_table_find(contraction, name);
        ck_assert_int_eq(found >= 0, column->type != SZG_TEXT);
        if (strcmp(column->name, "width") == 0 || strcmp(column->name, "radius") == 0)
            ck_assert(strstr(szg_table_column(contraction, found)->doc, "of the Hermitian part"));
        snprintf(name, sizeof name, "%s_coupled", column->name);
        ck_assert_int_eq(szg_table_find(contraction, name) >= 0, column->type != SZG_TEXT);
    }
    szg_table_close(&contraction);
    szg_report_tables_close(&tables);
}
END_TEST

START_TEST(bad_arguments) {
    szg_encoding *encoding = encoding_of("rope:dim=4");
    szg_matrix_report report;
    ck_szg_fails(SZG_EINVAL, "at least 1",
                 summarise_kernel(test_context(), encoding, 0, 0, 0, NULL, &report));
    ck_szg_fails(SZG_EINVAL, "head 3",
                 summarise_kernel(test_context(), encoding, 3, 0, 5, NULL, &report));
    szg_report_options dense = {SZG_INIT(szg_report_options), .dense = true};
    ck_szg_fails(SZG_ENOMEM, "",
                 summarise_kernel(test_context(), encoding, 0, 0, 100000000, &dense, &report));
    szg_encoding_close(&encoding);
    double a[1] = {1};
    szg_factored small = {.n = 1, .d = 1, .a = a, .lda = 1, .b = a, .ldb = 1}, other = small;
    other.n = 2;
    szg_contraction contraction;
    ck_szg_fails(SZG_EINVAL, "order 1 against",
                 contracted(test_context(), szg_matrix_factored(&small),
                            szg_matrix_factored(&other), NULL, &contraction));
}
END_TEST

static szg_status everything(szg_context *context, const char *spec, const char *content_spec) {
    szg_report_options options = {SZG_INIT(szg_report_options), .samples = 4};
    szg_encoding *encoding = NULL;
    szg_content *content = NULL;
    szg_logits *logits = NULL;
    szg_matrix_report report = {0};
    szg_contraction contraction = {0};
    szg_report_tables tables = {0};
    szg_table *table = NULL;
    szg_report_labels labels = {SZG_INIT(szg_report_labels), .source = spec, .layer = -1,
                                .head = 0};
    szg_contraction_labels row = {SZG_INIT(szg_contraction_labels), .source = spec, .step = -1,
                                  .layer = -1, .grad_norm = NAN};
    szg_status status;
    SZG_TRY_GOTO(status, szg_encoding_parse(context, spec, &encoding), done);
    SZG_TRY_GOTO(status, summarise_kernel(context, encoding, 0, 0, 7, &options, &report), done);
    SZG_TRY_GOTO(status, szg_report_tables_open(context, true, true, &tables), done);
    SZG_TRY_GOTO(status, szg_report_add(context, &tables, &labels, &report), done);
    SZG_TRY_GOTO(status, szg_content_parse(context, content_spec, 1, &content), done);
    SZG_TRY_GOTO(status, szg_logits_open(context, encoding, 0, content, 7, NULL, &logits), done);
    szg_factored plain = szgi_logits_content(logits), coupled = szgi_logits_coupled(logits);
    SZG_TRY_GOTO(status,
                 contracted(context, szg_matrix_factored(&plain), szg_matrix_factored(&coupled),
                            &options, &contraction),
                 done);
    SZG_TRY_GOTO(status, szg_contraction_table(context, &table), done);
    status = szg_contraction_add(context, table, &row, &contraction);
done:
    szg_table_close(&table);
    szg_contraction_close(&contraction);
    szg_logits_close(&logits);
    szg_content_close(&content);
    szg_report_tables_close(&tables);
    szg_matrix_report_close(&report);
    szg_encoding_close(&encoding);
    return status;
}

/* Entries of q k^T with d dimensions of numbers within 1, rounded to single precision as a
 * decoder's logits are; d = n: with 2 n^2 added on the diagonal, twice the sum of a row at least,
 * so that no singular value is below n^2 (Gershgorin, of the Hermitian part). */
static double *rounded_logits(int64_t n, int64_t d, uint32_t trial) {
    double *q = new_test_reals(0x4345, trial, n * d), *k = new_test_reals(0x4346, trial, n * d),
           *out;
    ck_szg_ok(szgi_memory_alloc(test_context(), n * n, &out));
    for (int64_t at = 0; at < n * n; at++) {
        double sum = d == n && at / n == at % n ? 2 * (double)(n * n) : 0;
        for (int64_t t = 0; t < d; t++)
            sum += tanh(q[at / n * d + t]) * tanh(k[at % n * d + t]);
        out[at] = (float)sum;
    }
    szgi_memory_free(q);
    szgi_memory_free(k);
    return out;
}

/* Beyond the rank singular values are rounding: no number, and a note says why. */
START_TEST(rounding_is_no_least_singular_value) {
    enum { N = 24, RANK = 8 };
    szg_report_options single = {SZG_INIT(szg_report_options), .no_symbol = true,
                                 .precision = 0x1p-24};
    for (uint32_t trial = 0; trial < test_trials(10); trial++) {
        double *low = rounded_logits(N, RANK, trial), *full = rounded_logits(N, N, trial);
        szg_contraction c;
        ck_szg_ok(contracted(test_context(), szg_matrix_dense(N, N, low, N),
                             szg_matrix_dense(N, N, full, N), &single, &c));
        ck_assert(isnan(c.content.summary.sigma_min) && isnan(c.content.summary.condition));
        ck_assert_msg(strstr(c.content.note, "sigma_min and condition are left empty") != NULL,
                      "%s", c.content.note);
        ck_assert(c.coupled.summary.sigma_min > .999 * N * N && c.coupled.summary.condition >= 1);
        ck_assert_ptr_null(strstr(c.coupled.note, "left empty"));
        szg_contraction_close(&c);
        ck_szg_ok(contracted(test_context(), (szg_matrix){.kind = SZG_MATRIX_NONE},
                             szg_matrix_dense(N, N, low, N), &single, &c));
        ck_assert(isnan(c.coupled.summary.sigma_min) && isnan(c.coupled.summary.condition));
        szg_contraction_close(&c);
        szgi_memory_free(low);
        szgi_memory_free(full);
    }
}
END_TEST

START_TEST(allocation_failures) {
    static const char *const cases[][2] = {{"rope:dim=4", "gaussian"},
                                           {"rope:dim=4", "gaussian:weights=identity"},
                                           {"learned:dim=3,seed=1", "gaussian"},
                                           {"t5:seed=1", "gaussian:weights=identity"}};
    for (int i = 0; i < 4; i++) {
        const char *spec = cases[i][0], *content = cases[i][1];
        ck_szg_ok(everything(test_context(), spec, content)); /* caches are filled once */
        ck_survives_failed_allocations(20, everything(test_context(), spec, content));
    }
}
END_TEST

/* Each matrix is of its own kind: the all-ones content as a dense array, the coupled one, all ones
 * times rho^|i-j|, in closed form, against both as arrays. */
START_TEST(two_kinds_of_matrices) {
    enum { N = 24 };
    double ones[N * N], kms[N * N];
    szg_contraction mixed, dense;
    const szg_report_options options = {SZG_INIT(szg_report_options), .no_symbol = true};
    for (int i = 0; i < N * N; i++) {
        ones[i] = 1;
        kms[i] = pow(0.8, abs(i / N - i % N));
    }
    const szg_matrix content = szg_matrix_dense(N, N, ones, N);
    ck_szg_ok(contracted(test_context(), content, szg_matrix_kms(N, 0.8), &options, &mixed));
    ck_szg_ok(
        contracted(test_context(), content, szg_matrix_dense(N, N, kms, N), &options, &dense));
    ck_assert_str_eq(mixed.content.matrix, "content");
    ck_assert_str_eq(mixed.coupled.matrix, "logits");
    same_ratios(&mixed, &dense);
    ck_assert(mixed.ratios.ordered && mixed.ratios.eigenvalues.order == SZG_ORDER_HOLDS);
    szg_contraction_close(&mixed);
    szg_contraction_close(&dense);
    ck_szg_fails(SZG_EINVAL, "content of order 24 against coupled logits of order 23",
                 contracted(test_context(), content, szg_matrix_kms(N - 1, 0.8), NULL, &mixed));
    ck_szg_fails(
        SZG_EINVAL, "no matrix",
        contracted(test_context(), content, (szg_matrix){.kind = SZG_MATRIX_NONE}, NULL, &mixed));
    const szg_matrix zeroed = {0}, coupled = szg_matrix_kms(N, 0.8);
    ck_szg_fails(SZG_EINVAL, "no matrix",
                 szg_contraction_compute(test_context(), &zeroed, &coupled, NULL, &mixed));
}
END_TEST

TEST_FILE("contraction") {
    test_add(suite, "two_kinds_of_matrices", two_kinds_of_matrices);
    test_add(suite, "factored_against_dense", factored_against_dense);
    test_add(suite, "nope_changes_nothing", nope_changes_nothing);
    test_add(suite, "hermitian_parts", hermitian_parts);
    test_add(suite, "bapat_sunder_case", bapat_sunder_case);
    test_add(suite, "violations_are_reported", violations_are_reported);
    test_add(suite, "any_shared_content", any_shared_content);
    test_add(suite, "nilpotent_content", nilpotent_content);
    test_add(suite, "no_correlation_matrix", no_correlation_matrix);
    test_add(suite, "rounded_entries", rounded_entries);
    test_add(suite, "rounding_is_no_least_singular_value", rounding_is_no_least_singular_value);
    test_add(suite, "content_kinds", content_kinds);
    test_add(suite, "ends_of_large_logits", ends_of_large_logits);
    test_add(suite, "columns", columns);
    test_add(suite, "bad_arguments", bad_arguments);
    test_add(suite, "allocation_failures", allocation_failures);
}
