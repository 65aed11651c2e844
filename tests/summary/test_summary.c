/* Derived numbers on spectra that are written down by hand. */
#include "ball/ball.h"
#include "summary/summary.h"

#include "spectra_support.h"

static szg_spectrum real_spectrum(szg_spectrum_kind kind, int64_t count, double *values,
                                  int64_t zeros) {
    return (szg_spectrum){.n = count + zeros,
                          .count = count,
                          .zeros = zeros,
                          .rank = zeros ? count : -1,
                          .kind = kind,
                          .re = values,
                          .normal = kind == SZG_SPECTRUM_EIGENVALUE,
                          .trace = NAN,
                          .frobenius = NAN,
                          .residual_meaning = "by hand",
                          .method = SZG_METHOD_LAPACK};
}

START_TEST(summary_of_normal_matrix) {
    double values[3] = {-3, 1, 4};
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 3, values, 0);
    szg_summary out;
    ck_szg_ok(szg_summary_of(test_context(), &s, NULL, &out));
    ck_assert(out.lambda_min == -3 && out.lambda_max == 4 && out.width == 7 && out.radius == 4);
    ck_assert(out.sigma_min == 1 && out.sigma_max == 4 && out.condition == 4);
    /* Three terms, a root, quotients; the entropy's logarithms magnify: 8 to 16 roundings. */
    ck_close(out.nuclear, 8, gamma_of(8) * 8);
    ck_close(out.frobenius, sqrt(26), gamma_of(8) * sqrt(26));
    ck_close(out.stable_rank, 26.0 / 16, gamma_of(8) * 26 / 16);
    double p[3] = {3.0 / 8, 1.0 / 8, 4.0 / 8}, entropy = 0;
    for (int i = 0; i < 3; i++)
        entropy -= p[i] * log(p[i]);
    ck_close(out.effective_rank, exp(entropy), gamma_of(16) * exp(entropy));
    ck_assert_ptr_null(out.note);
}
END_TEST

START_TEST(summary_with_structural_zeros) {
    double values[2] = {2, 2};
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 2, values, 1000);
    szg_summary out;
    ck_szg_ok(szg_summary_of(test_context(), &s, NULL, &out));
    ck_assert(out.n == 1002 && out.rank == 2 && out.zeros == 1000);
    ck_assert(out.lambda_min == 0 && out.lambda_max == 2 && out.sigma_min == 0);
    ck_assert(isinf(out.condition));
    ck_close(out.effective_rank, 2, gamma_of(16) * 2);
    ck_close(out.stable_rank, 2, gamma_of(8) * 2);
}
END_TEST

START_TEST(summary_of_zero_matrix) {
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 0, NULL, 5);
    double listed[2] = {0, 0};
    szg_spectrum t = real_spectrum(SZG_SPECTRUM_SINGULAR, 2, listed, 3);
    szg_summary out;
    ck_szg_ok(szg_summary_of(test_context(), &s, &t, &out));
    ck_assert(out.lambda_min == 0 && out.lambda_max == 0 && out.width == 0 && out.radius == 0);
    ck_assert(out.sigma_max == 0 && out.frobenius == 0 && out.nuclear == 0);
    ck_assert(isnan(out.condition) && isnan(out.stable_rank) && isnan(out.effective_rank));
    ck_assert(strstr(out.note, "zero matrix"));
}
END_TEST

START_TEST(summary_of_complex_eigenvalues) {
    double re[3] = {-1, 0, 2}, im[3] = {3, -3, 0}, sigma[3] = {5, 3, 0.5};
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 3, re, 0),
                 t = real_spectrum(SZG_SPECTRUM_SINGULAR, 3, sigma, 0);
    s.im = im;
    s.normal = false;
    t.residual = 0.25;
    szg_summary out;
    ck_szg_ok(szg_summary_of(test_context(), &s, &t, &out));
    ck_assert(out.lambda_min == -1 && out.lambda_max == 2 && isnan(out.width));
    ck_close(out.radius, sqrt(10), gamma_of(4) * sqrt(10));
    ck_assert(out.sigma_max == 5 && out.condition == 10 && out.residual == 0.25);
    ck_assert(strstr(out.note, "complex"));
    ck_assert(strstr(out.note, "far from normal"));
    ck_szg_ok(szg_summary_of(test_context(), &s, NULL, &out));
    ck_assert(isnan(out.sigma_max) && isnan(out.condition) && isnan(out.nuclear));
    double left[2] = {-2, -1}, turn[2] = {1, -1};
    s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 2, left,
                      7); /* with zeros: 0 is the largest real part */
    s.im = turn;
    s.normal = false;
    ck_szg_ok(szg_summary_of(test_context(), &s, NULL, &out));
    ck_assert(out.lambda_min == -2 && out.lambda_max == 0);
    left[0] = 1;
    left[1] = 2;
    ck_szg_ok(szg_summary_of(test_context(), &s, NULL, &out));
    ck_assert(out.lambda_min == 0 && out.lambda_max == 2);
}
END_TEST

START_TEST(summary_of_partial_spectra) {
    double ends[2] = {1, 9}, both[2] = {-1, 9}, sigma[2] = {6, NAN};
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 2, ends, 0);
    s.n = 100;
    s.frobenius = 18;
    szg_summary out;
    ck_szg_ok(szg_summary_of(test_context(), &s, NULL, &out));
    ck_assert(out.sigma_max == 9 && out.sigma_min == 1 && out.condition == 9);
    ck_assert(out.stable_rank == 4 && isnan(out.nuclear) && isnan(out.effective_rank));
    ck_assert(strstr(out.note, "ends"));
    s.re = both; /* indefinite: the least modulus is somewhere inside */
    ck_szg_ok(szg_summary_of(test_context(), &s, NULL, &out));
    ck_assert(out.sigma_max == 9 && isnan(out.sigma_min) && isnan(out.condition));
    szg_spectrum t = real_spectrum(SZG_SPECTRUM_SINGULAR, 2, sigma, 0);
    t.n = 100;
    t.frobenius = 12;
    ck_szg_ok(szg_summary_of(test_context(), NULL, &t, &out));
    ck_assert(out.sigma_max == 6 && isnan(out.sigma_min) && out.stable_rank == 4);
    ck_assert(isnan(out.lambda_min) && isnan(out.condition));
}
END_TEST

/* A NaN among the values may not be lost on the way to a number that looks sound. */
START_TEST(summary_shows_nan) {
    double values[3] = {1, NAN, 2};
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_SINGULAR, 3, values, 0);
    szg_summary out;
    ck_szg_ok(szg_summary_of(test_context(), NULL, &s, &out));
    ck_assert(isnan(out.sigma_max) && isnan(out.nuclear) && isnan(out.frobenius));
    ck_assert(isnan(out.condition) && isnan(out.stable_rank) && isnan(out.effective_rank));
}
END_TEST

START_TEST(summary_refuses) {
    szg_summary out;
    double value = 1;
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 1, &value, 0);
    szg_spectrum t = real_spectrum(SZG_SPECTRUM_SINGULAR, 1, &value, 1);
    ck_szg_fails(SZG_EINVAL, "needs", szg_summary_of(test_context(), NULL, NULL, &out));
    ck_szg_fails(SZG_EINVAL, "exchanged", szg_summary_of(test_context(), &t, NULL, &out));
    ck_szg_fails(SZG_EINVAL, "exchanged", szg_summary_of(test_context(), NULL, &s, &out));
    ck_szg_fails(SZG_EINVAL, "one matrix", szg_summary_of(test_context(), &s, &t, &out));
}
END_TEST

START_TEST(norms_do_not_overflow) {
    double values[2] = {1e300, 1e300};
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_SINGULAR, 2, values, 0);
    szg_summary out;
    ck_szg_ok(szg_summary_of(test_context(), NULL, &s, &out));
    ck_close(out.frobenius, 1e300 * M_SQRT2, gamma_of(16) * out.frobenius);
    ck_close(out.nuclear, 2e300, gamma_of(16) * out.nuclear);
}
END_TEST

START_TEST(density_counts_every_value) {
    double values[5] = {-2, -1, 0.5, 1, 2}, edges[5], mass[4];
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 5, values, 5);
    ck_szg_ok(szg_summary_density(test_context(), &s, 4, 0, 0, edges, mass));
    ck_assert(edges[0] == -2 && edges[4] == 2 && edges[2] == 0);
    /* [-2,-1): -2; [-1,0): -1; [0,1): five zeros and 0.5; [1,2]: 1 and 2. */
    const double want[4] = {0.1, 0.1, 0.6, 0.2};
    for (int i = 0; i < 4; i++)
        ck_close(mass[i], want[i], gamma_of(2) * want[i]); /* a quotient here and there */
    ck_szg_ok(szg_summary_density(test_context(), &s, 1, 0.75, 1.5, edges, mass));
    ck_close(mass[0], 0.1, gamma_of(2) * 0.1);
    double point = 3;
    s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 1, &point, 0);
    ck_szg_ok(szg_summary_density(test_context(), &s, 3, 0, 0, edges, mass));
    ck_assert(mass[0] + mass[1] + mass[2] == 1); /* one value in one bin */
    ck_szg_fails(SZG_EINVAL, "lo <= hi",
                 szg_summary_density(test_context(), &s, 3, 2, 1, edges, mass));
    ck_szg_fails(SZG_EINVAL, "one bin",
                 szg_summary_density(test_context(), &s, 0, 0, 0, edges, mass));
    ck_szg_fails(SZG_EINVAL, "one bin",
                 szg_summary_density(test_context(), &s, 3, NAN, 1, edges, mass));
}
END_TEST

/* Values on the edges and one step beside them fall between their bin's edges, whatever the
 * division that looks for the bin rounds to. */
START_TEST(density_respects_edges) {
    enum { BINS = 49 };
    double ends[2] = {0.1, 1.3}, edges[BINS + 1], mass[BINS], values[3 * (BINS + 1)];
    szg_spectrum s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 2, ends, 0);
    ck_szg_ok(szg_summary_density(test_context(), &s, BINS, 0.1, 1.3, edges, mass));
    for (int i = 0; i <= BINS; i++) {
        values[3 * i] = nextafter(edges[i], -1);
        values[3 * i + 1] = edges[i];
        values[3 * i + 2] = nextafter(edges[i], 2);
    }
    s = real_spectrum(SZG_SPECTRUM_EIGENVALUE, 3 * (BINS + 1), values, 0);
    ck_szg_ok(szg_summary_density(test_context(), &s, BINS, 0.1, 1.3, edges, mass));
    for (int bin = 0; bin < BINS; bin++) {
        int count = 0;
        for (int i = 0; i < 3 * (BINS + 1); i++)
            count += values[i] >= edges[bin] &&
                     (values[i] < edges[bin + 1] || (bin == BINS - 1 && values[i] == edges[BINS]));
        ck_close(mass[bin], count / (3.0 * (BINS + 1)), gamma_of(2) * mass[bin]);
    }
}
END_TEST

/* ---- The table ---- */

static int64_t column_of(const szg_table *table, const char *name) {
    int64_t column = szg_table_find(table, name);
    ck_assert(column >= 0);
    return column;
}

/* Each number lands in its own column: every field of the summary differs. */
START_TEST(table_rows) {
    const szg_summary numbers = {.n = 3,
                                 .rank = 2,
                                 .lambda_min = -1,
                                 .lambda_max = 4,
                                 .width = 5,
                                 .radius = 6,
                                 .sigma_min = 7,
                                 .sigma_max = 8,
                                 .condition = INFINITY,
                                 .stable_rank = 9,
                                 .effective_rank = 10,
                                 .nuclear = 11,
                                 .frobenius = 12,
                                 .residual = 13,
                                 .method = SZG_METHOD_LAPACK};
    const struct {
        const char *column;
        double value;
    } want[] = {{"layer", 20},
                {"head", 21},
                {"n", 3},
                {"rank", 2},
                {"lambda_min", -1},
                {"lambda_max", 4},
                {"width", 5},
                {"radius", 6},
                {"sigma_min", 7},
                {"sigma_max", 8},
                {"stable_rank", 9},
                {"effective_rank", 10},
                {"toeplitzness", 0.5},
                {"toeplitzness_error", 0.25},
                {"toeplitzness_sampled", 1},
                {"symbol_min_lo", 14},
                {"symbol_min_hi", 15},
                {"symbol_max_lo", 16},
                {"symbol_max_hi", 17},
                {"residual", 13},
                {"condition", INFINITY}};
    const szg_tau tau = {0.5, 0.25, true};
    const szg_range symbol = {{14, 15}, {16, 17}, 18, 19, "by hand"};
    const szgi_summary_labels labels = {.source = "file",
                                        .layer = 20,
                                        .head = 21,
                                        .matrix = "qk",
                                        .theorem = "none",
                                        .values_of = SZGI_VALUES_OF_HERMITIAN_PART,
                                        .bound_of = SZGI_BOUND_OF_TOEPLITZ_PART};
    szg_table *table;
    ck_szg_ok(szgi_summary_table(test_context(), &table));
    ck_szg_ok(szgi_summary_add(test_context(), table, &labels, &numbers, &tau, &symbol));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        ck_assert(szg_table_get_real(table, 0, column_of(table, want[i].column)) == want[i].value);
    static const char *const texts[][2] = {
        {"source", "file"},           {"matrix", "qk"},    {"theorem", "none"},
        {"method", "LAPACK"},         {"solver", "dense"}, {"values_of", "hermitian_part"},
        {"bound_of", "toeplitz_part"}};
    for (int i = 0; i < 7; i++)
        ck_assert_str_eq(szg_table_get_text(table, 0, column_of(table, texts[i][0])), texts[i][1]);
    ck_assert_str_eq(szg_table_column(table, szg_table_columns(table) - 1)->name, "note");
    const char *note = szg_table_get_text(table, 0, column_of(table, "note"));
    ck_assert(note && strstr(note, "64 Gaussian vectors"));
    /* What does not exist is an empty cell. */
    szg_summary none = numbers;
    none.rank = -1;
    none.method = SZG_METHOD_NONE;
    none.width = none.lambda_min = none.lambda_max = none.radius = NAN;
    const szgi_summary_labels bare = {.source = "file", .layer = -1, .head = -1};
    ck_szg_ok(szgi_summary_add(test_context(), table, &bare, &none, NULL, NULL));
    static const char *const empty[] = {"layer",  "head",         "matrix",        "rank",
                                        "width",  "toeplitzness", "symbol_min_lo", "theorem",
                                        "solver", "values_of",    "bound_of"};
    for (int i = 0; i < 11; i++)
        ck_assert(szg_table_is_empty(table, 1, column_of(table, empty[i])));
    /* Layers and heads count from 0. */
    const szgi_summary_labels first = {.source = "file", .matrix = "qk"};
    ck_szg_ok(szgi_summary_add(test_context(), table, &first, &numbers, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        ck_assert(!szg_table_is_empty(table, 2, column_of(table, empty[i])));
        ck_assert_int_eq(szg_table_get_integer(table, 2, column_of(table, empty[i])), 0);
    }
    szg_table_close(&table);
}
END_TEST

/* The names of solvers that docs/explanation/methods.md promises to keep. */
static bool is_documented(const char *solver) {
    static const char *const names[] = {
        "zero",   "diagonal", "triangular", "closed_form",        "dense",   "reduced",
        "mapped", "halves",   "squares",    "divide_and_conquer", "lanczos", "randomised"};
    for (size_t i = 0; solver && i < sizeof names / sizeof *names; i++)
        if (strcmp(solver, names[i]) == 0)
            return true;
    return false;
}

/* Tables tell methods and kinds apart by their names. */
START_TEST(names_are_distinct) {
    for (int i = 1; i < SZG_METHODS; i++) {
        const char *name = szg_method_name((szg_method)i);
        ck_assert(is_documented(szg_method_solver((szg_method)i)));
        ck_assert_ptr_nonnull(name);
        for (int j = 1; j < i; j++)
            ck_assert_str_ne(name, szg_method_name((szg_method)j));
    }
    ck_assert_ptr_null(szg_method_name(SZG_METHOD_NONE));
    ck_assert_ptr_null(szg_method_solver(SZG_METHOD_NONE));
    ck_assert_ptr_null(szg_method_solver(SZG_METHODS));
    ck_assert_ptr_null(szg_method_name(SZG_METHODS));
    ck_assert_ptr_null(szg_method_name((szg_method)-1));
    ck_assert_str_eq(szg_spectrum_kind_name(SZG_SPECTRUM_EIGENVALUE), "eigenvalue");
    ck_assert_str_eq(szg_spectrum_kind_name(SZG_SPECTRUM_SINGULAR), "singular");
    ck_assert_ptr_null(szg_spectrum_kind_name(SZG_SPECTRUM_NONE));
}
END_TEST

TEST_FILE("summary") {
    test_before_each(use_tested_backend);
    test_add(suite, "summary_of_normal_matrix", summary_of_normal_matrix);
    test_add(suite, "summary_with_structural_zeros", summary_with_structural_zeros);
    test_add(suite, "summary_of_zero_matrix", summary_of_zero_matrix);
    test_add(suite, "summary_of_complex_eigenvalues", summary_of_complex_eigenvalues);
    test_add(suite, "summary_of_partial_spectra", summary_of_partial_spectra);
    test_add(suite, "summary_shows_nan", summary_shows_nan);
    test_add(suite, "summary_refuses", summary_refuses);
    test_add(suite, "norms_do_not_overflow", norms_do_not_overflow);
    test_add(suite, "density_counts_every_value", density_counts_every_value);
    test_add(suite, "density_respects_edges", density_respects_edges);
    test_add(suite, "table_rows", table_rows);
    test_add(suite, "names_are_distinct", names_are_distinct);
}
