/* Reports of kernels: structure against the dense oracle, symbols, atoms, the rows of the tables.
 */
#include <szego/report.h>
#include "base/table.h"
#include "contraction_support.h"

/* ---- Kernels ---- */

static const char *const real_kernels[] = {
    "nope",
    "absolute:dim=6",
    "rope:dim=10",
    "rope:dim=7,rotary=4",
    "mla:content=3,rope=4",
    "kms:rho=0.8",
    "kms:rho=-0.5",
    "alibi:heads=3",
    "learned:seed=4,dim=5",
    "random:seed=4,dim=40",
    "rope+absolute:dim=8",
    "rope:heads=2,rotate=1,dim=4",
    "absolute:dim=60",
    "relative:seed=1,std=0",
    "rope:dim=6,theta=0.7",
    "rope:dim=7,rotary=4,theta=2",
    "rope:dim=6,theta=3.141592653589793",
    "rope:heads=3,dim=4,bands=heads,band_shift=1",
    "rope:heads=3,dim=5,rotary=4,rotate=0+2,bands=heads",
    "rope-bias:dim=6,heads=2",
    "rope-bias:dim=10,scale=1000000",
    "rope-bias:dim=10,scale=1e-06",
};

/* Structured and dense answers agree: both are backward stable, so values differ by a small
 * multiple of n eps ||A||. Moduli too for kernels that are not symmetric. */
static void check_kernel(const char *spec, int64_t n) {
    szg_encoding *encoding = encoding_of(spec);
    szg_report_options dense = {SZG_INIT(szg_report_options), .dense = true};
    double fast_values[64], dense_values[64];
    for (int64_t head = 0; head < szg_encoding_heads(encoding); head++)
        for (int64_t matrix = 0; matrix < szg_encoding_matrices(encoding); matrix++) {
            szg_matrix_report fast, oracle;
            ck_szg_ok(summarise_kernel(test_context(), encoding, head, matrix, n, NULL, &fast));
            ck_szg_ok(summarise_kernel(test_context(), encoding, head, matrix, n, &dense, &oracle));
            double norm = oracle.summary.frobenius, bound = 32 * (double)n * EPS * norm;
            values_of(&fast.eigenvalues, fast_values);
            values_of(&oracle.eigenvalues, dense_values);
            for (int64_t i = 0; i < n; i++)
                ck_close(fast_values[i], dense_values[i], bound);
            ck_close(fast.summary.lambda_min, oracle.summary.lambda_min, bound);
            ck_close(fast.summary.lambda_max, oracle.summary.lambda_max, bound);
            ck_assert_int_eq(fast.summary.n, n);
            if (fast.symbol.method) { /* the truncated symbol bounds every eigenvalue */
                ck_assert(fast.symbol.min.lo <= dense_values[n - 1] + bound);
                ck_assert(fast.symbol.max.hi >= dense_values[0] - bound);
                ck_assert(fast.symbol.min.lo <= fast.symbol.min.hi);
                ck_assert(fast.symbol.max.lo <= fast.symbol.max.hi);
            }
            ck_assert_str_eq(fast.theorem.name, oracle.theorem.name);
            szg_matrix_report_close(&fast);
            szg_matrix_report_close(&oracle);
        }
    szg_encoding_close(&encoding);
}

/* Lags 0, 1, 1, 2, 3: the determinant of 1 2 3; 1 1 2; 0 1 1 is exactly 0, and LAPACK's least
 * singular value is rounding. */
START_TEST(rounding_is_no_least_singular_value) {
    const double lags[5] = {0, 1, 1, 2, 3};
    szg_toeplitz *t;
    szg_matrix_report report;
    const szg_report_options options = {SZG_INIT(szg_report_options), .certify = SZG_CERTIFY_ENDS};
    ck_szg_ok(szg_toeplitz_open_real(test_context(), 3, 3, lags, &t));
    const szg_matrix matrix = szg_matrix_toeplitz(t);
    ck_szg_ok(szg_summary_compute(test_context(), &matrix, &options, &report));
    ck_assert(isnan(report.summary.sigma_min) && isnan(report.summary.condition));
    ck_assert(report.noise[0] && report.singular.certified);
    ck_assert(report.singular.min.lo == 0 && report.singular.min.hi < 1e-14);
    szg_matrix_report_close(&report);
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(kernels_against_dense) {
    for (size_t i = 0; i < sizeof real_kernels / sizeof *real_kernels; i++) {
        check_kernel(real_kernels[i], 33);
        check_kernel(real_kernels[i], 2);
        check_kernel(real_kernels[i], 1);
    }
}
END_TEST

/* What the facts promise of rank and sign, of the dense matrix's eigenvalues. The frequencies are
 * far enough apart for every eigenvalue but the zeros to be far above LAPACK's error. */
static void check_promises(const char *spec, int64_t n) {
    szg_encoding *encoding = encoding_of(spec);
    szg_report_options dense = {SZG_INIT(szg_report_options), .dense = true};
    double values[64];
    for (int64_t head = 0; head < szg_encoding_heads(encoding); head++) {
        szg_kernel_facts facts;
        szg_matrix_report oracle;
        ck_szg_ok(szg_encoding_facts(test_context(), encoding, head, 0, &facts));
        ck_szg_ok(summarise_kernel(test_context(), encoding, head, 0, n, &dense, &oracle));
        values_of(&oracle.eigenvalues, values);
        double bound = 32 * (double)n * EPS * oracle.summary.frobenius;
        int64_t positive = 0, negative = 0, rank = n < facts.rank_bound ? n : facts.rank_bound;
        for (int64_t i = 0; i < n; i++) {
            positive += values[i] > bound;
            negative += values[i] < -bound;
        }
        ck_assert_msg(facts.rank_exact && positive + negative == rank,
                      "%s, head %lld: %lld positive, %lld negative, rank %lld", spec,
                      (long long)head, (long long)positive, (long long)negative, (long long)rank);
        ck_assert_int_eq(negative, facts.definiteness == SZG_DEFINITE_ONE_NEGATIVE);
        ck_assert(facts.definiteness != SZG_DEFINITE_POSITIVE || positive == n);
        szg_matrix_report_close(&oracle);
    }
    szg_encoding_close(&encoding);
}

START_TEST(facts_hold) {
    static const char *const specs[] = {
        "nope",
        "alibi:heads=3",
        "kms:rho=0.8",
        "absolute:dim=6,base=8",
        "rope:dim=6,base=8",
        "rope:dim=7,rotary=4,base=8",
        "rope:heads=2,rotate=1,dim=4,base=8",
        "mla:content=3,rope=4,base=8",
        "rope:dim=6,theta=0.7",
        "rope:dim=7,rotary=4,theta=2",
        "rope:dim=6,heads=2,rotate=0,theta=0.7",
        "rope:heads=3,dim=4,base=16,bands=heads",
        "rope:heads=3,dim=4,base=16,bands=heads,band_shift=2",
        "rope:heads=3,dim=6,rotary=4,base=16,rotate=0+2,bands=heads",
        "rope:heads=2,dim=4,base=1,bands=heads",
        "rope-bias:dim=6,base=8,heads=2,scale=0.01",
        "rope-bias:dim=8,base=1",
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        check_promises(specs[i], 40);
        check_promises(specs[i], 3);
    }
}
END_TEST

START_TEST(kernel_facts_in_reports) {
    static const struct {
        const char *spec, *theorem;
        int64_t rank;
        double toeplitzness;
    } cases[] = {{"nope", "none", 0, NAN},
                 {"rope:dim=10", "none", 10, 1},
                 {"kms:rho=0.5", "szego", 20, 1},
                 {"alibi", "none", 20, 1},
                 {"mla:content=1,rope=4", "none", 5, 1},
                 {"rope:dim=10,theta=0.4", "none", 2, 1},
                 {"rope:dim=10,heads=2,bands=heads", "none", 10, 1},
                 {"rope-bias:dim=10", "none", 10, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_encoding *encoding = encoding_of(cases[i].spec);
        szg_matrix_report report;
        ck_szg_ok(summarise_kernel(test_context(), encoding, 0, 0, 20, NULL, &report));
        ck_assert_str_eq(report.theorem.name, cases[i].theorem);
        ck_assert_int_eq(report.summary.rank, cases[i].rank);
        ck_assert(isnan(cases[i].toeplitzness)
                      ? isnan(report.toeplitzness.value)
                      : report.toeplitzness.value == cases[i].toeplitzness);
        ck_assert(report.note[0]);
        szg_matrix_report_close(&report);
        szg_encoding_close(&encoding);
    }
}
END_TEST

/* No memory of order N: an answer at 10^12 comes at once, and scales like N (claim T3.1h). */
START_TEST(huge_orders) {
    static const char *const specs[] = {"rope", "absolute", "mla", "alibi", "kms:rho=0.9", "nope"};
    const int64_t n = 1000000000000;
    for (int i = 0; i < 6; i++) {
        szg_encoding *encoding = encoding_of(specs[i]);
        szg_matrix_report report;
        ck_szg_ok(summarise_kernel(test_context(), encoding, 0, 0, n, NULL, &report));
        ck_assert_int_eq(report.summary.n, n);
        ck_assert(isfinite(report.summary.lambda_max));
        if (i == 0) { /* trace N over 64 equal atoms that overlap by 1 / (n sin(gap / 2)) at most */
            double overlap =
                1 / ((double)n * sin((pow(1e4, -30 / 32.0) - pow(1e4, -31 / 32.0)) / 2));
            ck_close(report.summary.lambda_max / (double)n, 1.0 / 64, overlap + gamma_of(64));
            ck_close(report.summary.effective_rank, 64, 64 * (overlap + gamma_of(64)));
        }
        if (i == 3) /* theory.md: -0.3474 m N^2 */
            ck_close(report.summary.lambda_min / (double)n / (double)n / 0.5, -0.3474, 5e-5);
        if (i == 4) { /* the end of the Poisson kernel's range, (1 + rho) / (1 - rho), but for 1 /
                       * n^2; its derivative 200 magnifies the rounding of rho = 0.9 */
            ck_close(report.summary.lambda_max, 19, 200 * 0.9 * UNIT + 19 * gamma_of(8));
            ck_assert_ptr_nonnull(strstr(report.note, "symbol columns: closed form"));
        }
        szg_matrix_report_close(&report);
        szg_encoding_close(&encoding);
    }
}
END_TEST

START_TEST(symbols_by_convention) {
    szg_encoding *encoding = encoding_of("kms:rho=0.5");
    szg_matrix_report truncated, fejer, closed;
    szg_report_options options = {SZG_INIT(szg_report_options), .samples = 8};
    ck_szg_ok(symbol_of_kernel(test_context(), encoding, 0, 0, 6, &options, &truncated));
    options.convention = SZG_SYMBOL_FEJER;
    ck_szg_ok(symbol_of_kernel(test_context(), encoding, 0, 0, 6, &options, &fejer));
    options.convention = SZG_SYMBOL_CLOSED_FORM;
    ck_szg_ok(symbol_of_kernel(test_context(), encoding, 0, 0, 6, &options, &closed));
    double sum = 1, smooth = 1;
    for (int k = 1; k < 6; k++) {
        sum += 2 * pow(0.5, k);
        smooth += 2 * pow(0.5, k) * (1 - k / 6.0);
    }
    ck_close(truncated.sample[0].re, sum, 16 * EPS);
    ck_close(truncated.symbol.max.hi, sum, 1e-12 * sum + 16 * EPS); /* width: "ball/ball.h" */
    ck_close(fejer.sample[0].re, smooth, 16 * EPS);
    ck_close(fejer.symbol.max.hi, smooth, 1e-12 * smooth + 16 * EPS);
    ck_close(closed.sample[0].re, 3, 16 * EPS);
    ck_assert_int_eq(closed.convention, SZG_SYMBOL_CLOSED_FORM);
    ck_assert(closed.symbol.max.lo <= 3 && closed.symbol.max.hi >= 3);
    szg_matrix_report_close(&truncated);
    szg_matrix_report_close(&fejer);
    szg_matrix_report_close(&closed);
    szg_encoding_close(&encoding);
    encoding = encoding_of("learned:seed=1");
    ck_szg_fails(SZG_EDOMAIN, "no symbol",
                 symbol_of_kernel(test_context(), encoding, 0, 0, 6, NULL, &truncated));
    szg_encoding_close(&encoding);
    encoding = encoding_of("alibi");
    ck_szg_fails(SZG_EDOMAIN, "truncated, fejer",
                 symbol_of_kernel(test_context(), encoding, 0, 0, 6, &options, &truncated));
    szg_encoding_close(&encoding);
}
END_TEST

/* Real coefficients of any degree are enclosed; |a| up to the limit of real kernels, since its
 * square is one product that no cancellation stops. */
START_TEST(long_symbols) {
    static const struct {
        const char *spec;
        int64_t n;
        bool range;
    } cases[] = {{"t5:seed=1", 64, true},
                 {"t5:seed=1", SZG_SYMBOL_RANGE_LIMIT + 2, false},
                 {"relative:seed=1,std=0", SZG_SYMBOL_RANGE_LIMIT + 2, true}};
    for (int i = 0; i < 3; i++) {
        szg_encoding *encoding = encoding_of(cases[i].spec);
        szg_matrix_report report;
        ck_szg_ok(symbol_of_kernel(test_context(), encoding, 0, 0, cases[i].n, NULL, &report));
        ck_assert_int_eq(report.symbol.method != NULL, cases[i].range);
        ck_assert_int_eq(isnan(report.symbol.min.lo) && isnan(report.symbol.min.hi) &&
                             isnan(report.symbol.max.lo) && isnan(report.symbol.max.hi),
                         !cases[i].range);
        ck_assert(isnan(report.eigenvalues.min.lo) && isnan(report.singular.max.hi));
        ck_assert_int_eq(strstr(report.note,
                                "no certified range of |a|: the symbol's degree 100001 "
                                "is beyond 100000") == NULL,
                         cases[i].range);
        szg_matrix_report_close(&report);
        szg_encoding_close(&encoding);
    }
}
END_TEST

/* The symmetry is looked for in two passes over n rows, spectra take five; projection and
 * toeplitzness look at each row for finiteness and at each diagonal. */
START_TEST(dense_reports_look_for_cancellation) {
    enum { N = 12 };
    test_looks looks;
    szg_context *counting = test_counting_context(&looks);
    szg_report_options options = {SZG_INIT(szg_report_options), .no_symbol = true};
    szg_matrix_report report;
    double a[N * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i * N + j] = 1.0 / (1 + abs(i - j)) + (i == j ? i : 0);
    szg_status status;
    ck_looks_for_cancellation(
        &looks, (2 + 5) * N + 2 * (N + 2 * N - 1),
        (status = summarise(counting, szg_matrix_dense(N, N, a, N), "test", &options, &report),
         szg_matrix_report_close(&report), status));
    szg_context_close(&counting);
}
END_TEST

/* The point masses give the lags back. They are points, so none is there twice. */
START_TEST(atoms) {
    static const struct {
        const char *spec;
        int64_t atoms;
    } cases[] = {{"rope:dim=10", 5},
                 {"absolute:dim=6", 3},
                 {"mla:content=3,rope=4", 3},
                 {"rope:heads=2,rotate=1,dim=4", 1},
                 {"rope:dim=10,theta=0.7", 1},
                 {"rope:dim=13,rotary=10,theta=2", 2},
                 {"rope:dim=17,rotary=6,scaling=proportional", 4},
                 {"rope:dim=10,heads=2,bands=heads", 5},
                 {"rope-bias:dim=6,base=1,scale=3", 1}};
    for (size_t s = 0; s < sizeof cases / sizeof *cases; s++) {
        szg_encoding *encoding = encoding_of(cases[s].spec);
        szg_matrix_report report;
        szg_toeplitz *kernel;
        ck_szg_ok(symbol_of_kernel(test_context(), encoding, 0, 0, 12, NULL, &report));
        ck_szg_ok(szg_encoding_kernel(test_context(), encoding, 0, 0, 12, &kernel));
        ck_assert_int_eq(report.atoms, cases[s].atoms);
        for (int k = 0; k < 12; k++) {
            double sum = 0;
            for (int64_t j = 0; j < report.atoms; j++)
                sum += report.atom_mass[j] * cos(k * report.atom_theta[j]);
            ck_close(sum, szg_toeplitz_at(kernel, k).re, 256 * EPS);
        }
        szg_toeplitz_close(&kernel);
        szg_matrix_report_close(&report);
        szg_encoding_close(&encoding);
    }
}
END_TEST

/* ---- Tables ---- */

START_TEST(rows) {
    szg_encoding *encoding = encoding_of("rope:dim=4");
    szg_report_tables tables;
    szg_matrix_report report;
    szg_report_options options = {SZG_INIT(szg_report_options), .samples = 5};
    szg_report_labels labels = {SZG_INIT(szg_report_labels), .source = "rope:dim=4", .layer = -1,
                                .head = 2};
    ck_szg_ok(szg_report_tables_open(test_context(), true, true, &tables));
    ck_szg_ok(summarise_kernel(test_context(), encoding, 0, 0, 9, &options, &report));
    ck_szg_ok(szg_report_add(test_context(), &tables, &labels, &report));
    ck_assert_int_eq(szg_table_rows(tables.summary), 1);
    ck_assert_int_eq(szg_table_rows(tables.samples), 5);
    ck_assert_int_eq(szg_table_rows(tables.range), 1);
    ck_assert_int_eq(report.eigenvalues.zeros, 9 - 4);
    ck_assert_int_eq(szg_table_rows(tables.eigenvalues), report.eigenvalues.count + 1);
    ck_assert(szg_table_is_empty(tables.summary, 0, szg_table_find(tables.summary, "layer")));
    ck_assert_int_eq(
        szg_table_get_integer(tables.summary, 0, szg_table_find(tables.summary, "head")), 2);
    ck_assert(szg_table_get_real(tables.summary, 0, szg_table_find(tables.summary, "lambda_max")) ==
              report.summary.lambda_max);
    szg_matrix_report_close(&report);
    /* NoPE: ratios are empty cells with a note. */
    szg_encoding_close(&encoding);
    encoding = encoding_of("nope");
    ck_szg_ok(summarise_kernel(test_context(), encoding, 0, 0, 9, NULL, &report));
    ck_szg_ok(szg_report_add(test_context(), &tables, &labels, &report));
    static const char *const empty[] = {"condition", "stable_rank", "effective_rank",
                                        "toeplitzness"};
    for (int i = 0; i < 4; i++)
        ck_assert(szg_table_is_empty(tables.summary, 1, szg_table_find(tables.summary, empty[i])));
    ck_assert(!szg_table_is_empty(tables.summary, 1, szg_table_find(tables.summary, "note")));
    szg_matrix_report_close(&report);
    szg_report_tables_close(&tables);
    szg_encoding_close(&encoding);
}
END_TEST

/* What the report of a matrix has in eight columns of `summary`. */
static void check_ends(const szg_report_tables *tables, const szg_interval *ends) {
    static const char *const columns[][2] = {{"lambda_min_lo", "lambda_min_hi"},
                                             {"lambda_max_lo", "lambda_max_hi"},
                                             {"sigma_min_lo", "sigma_min_hi"},
                                             {"sigma_max_lo", "sigma_max_hi"}};
    for (int i = 0; i < 8; i++) {
        int64_t column = szg_table_find(tables->summary, columns[i / 2][i % 2]);
        double end = i % 2 ? ends[i / 2].hi : ends[i / 2].lo;
        ck_assert(szg_table_is_empty(tables->summary, 0, column) == isnan(end));
        if (!isnan(end))
            ck_assert(szg_table_get_real(tables->summary, 0, column) == end);
        ck_assert_int_eq(szgi_table_end(tables->summary, column),
                         i % 2 ? SZGI_END_UPPER : SZGI_END_LOWER);
    }
}

/* Eight columns of `summary`, filled where the ends are proved, and a note where they were to be.
 * KMS is positive definite; of ALiBi only the largest modulus is known; T5 has singular values. */
START_TEST(certified_columns) {
    static const char *const specs[] = {"kms:rho=0.5", "alibi:heads=1", "t5:seed=1"};
    static const char words[] = "no certified range of the eigenvalues: the matrix is not "
                                "Hermitian; the eigenvalues are exact for a matrix within the "
                                "residual; their distance to the spectrum is unknown";
    const szg_interval none = {NAN, NAN};
    for (int i = 0; i < 6; i++) {
        szg_encoding *encoding = encoding_of(specs[i % 3]);
        szg_report_tables tables;
        szg_matrix_report report;
        szg_report_options options = {SZG_INIT(szg_report_options),
                                      .certify = i < 3 ? SZG_CERTIFY_ENDS : SZG_CERTIFY_NONE};
        szg_report_labels labels = {SZG_INIT(szg_report_labels), .layer = -1, .head = -1};
        ck_szg_ok(szg_report_tables_open(test_context(), false, false, &tables));
        ck_szg_ok(summarise_kernel(test_context(), encoding, 0, 0, 9, &options, &report));
        ck_szg_ok(szg_report_add(test_context(), &tables, &labels, &report));
        const szg_spectrum *s = &report.eigenvalues, *t = &report.singular;
        const szg_interval ends[][4] = {
            {s->min, s->max, s->min, s->max},
            {s->min, s->max, none, {fmax(-s->min.hi, s->max.lo), fmax(-s->min.lo, s->max.hi)}},
            {none, none, t->min, t->max},
            {none, none, none, none}};
        check_ends(&tables, ends[i < 3 ? i : 3]);
        ck_assert(i != 2 || (t->min.lo > 0 && t->max.hi < 9 * report.symbol.max.hi));
        ck_assert(!strstr(report.note, words) == (i != 2));
        szg_matrix_report_close(&report);
        szg_report_tables_close(&tables);
        szg_encoding_close(&encoding);
    }
}
END_TEST

/* All values of a causal kernel of small rank: lower ends of 0 have a note, each value its bounds.
 */
START_TEST(certified_singular_values) {
    const double a[] = {1, 0, 0, 1, 0, 0, 1, 1e-20, 0};
    szg_report_options options = {SZG_INIT(szg_report_options), .all = true,
                                  .certify = SZG_CERTIFY_VALUES};
    szg_report_labels labels = {SZG_INIT(szg_report_labels), .layer = -1, .head = -1};
    const szg_matrix matrix = szg_matrix_dense(3, 3, a, 3);
    szg_report_tables tables;
    szg_matrix_report report;
    ck_szg_ok(szg_report_tables_open(test_context(), true, false, &tables));
    ck_szg_ok(szg_summary_compute(test_context(), &matrix, &options, &report));
    ck_szg_ok(szg_report_add(test_context(), &tables, &labels, &report));
    ck_assert_ptr_nonnull(strstr(report.note, "sigma_min_lo is 0"));
    int64_t lo = szg_table_find(tables.eigenvalues, "lo"), last = 5;
    ck_assert(szg_table_is_empty(tables.eigenvalues, 0, lo)); /* an eigenvalue */
    ck_assert(szg_table_get_real(tables.eigenvalues, 3, lo) <= sqrt(3));
    ck_assert(szg_table_get_real(tables.eigenvalues, 3, lo + 1) >= sqrt(3));
    ck_assert(szg_table_get_real(tables.eigenvalues, last, lo) == 0);
    szg_matrix_report_close(&report);
    szg_report_tables_close(&tables);
}
END_TEST

/* ---- Matrices of no encoding ---- */

static szg_matrix_report summary_of(szg_matrix matrix, const szg_report_options *options) {
    szg_matrix_report report;
    ck_szg_ok(szg_summary_compute(test_context(), &matrix, options, &report));
    return report;
}

/* `dropped` is filled where a divide and conquer left terms out, and nowhere else. */
START_TEST(dropped_column) {
    enum { LARGEST = 1500 };
    double lags[LARGEST];
    for (int k = 0; k < LARGEST; k++)
        lags[k] = 1 / (1 + (double)k * k);
    const szg_report_options options = {SZG_INIT(szg_report_options), .all = true,
                                        .no_symbol = true};
    szg_report_labels labels = {SZG_INIT(szg_report_labels), .layer = -1, .head = -1};
    szg_report_tables tables;
    ck_szg_ok(szg_report_tables_open(test_context(), false, false, &tables));
    for (int i = 0; i < 2; i++) {
        szg_toeplitz *t;
        int64_t n = i == 0 ? LARGEST : 200;
        ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, n, lags, &t));
        szg_matrix_report report = summary_of(szg_matrix_toeplitz(t), &options);
        ck_szg_ok(szg_report_add(test_context(), &tables, &labels, &report));
        ck_assert_int_eq(report.summary.method, i ? SZG_METHOD_HALVES : SZG_METHOD_DIVIDE);
        int64_t column = szg_table_find(tables.summary, "dropped");
        ck_assert(szg_table_is_empty(tables.summary, i, column) == (i == 1));
        if (i == 0) {
            double dropped = szg_table_get_real(tables.summary, 0, column);
            ck_assert(dropped == report.eigenvalues.dropped && dropped > 0 && dropped < 1e-12);
        }
        szg_matrix_report_close(&report);
        szg_toeplitz_close(&t);
    }
    szg_report_tables_close(&tables);
}
END_TEST

/* A kernel of one's own: the symbol a_0 + 2 a_1 cos t of two lags encloses every eigenvalue, the
 * theorem is Szego's, and its summary is that of the same numbers from a file's encoding. */
START_TEST(toeplitz_of_ones_own) {
    enum { N = 40 };
    const double lags[2] = {1, 0.25};
    const szg_report_options options = {SZG_INIT(szg_report_options), .samples = 8};
    const szg_matrix none = {.kind = SZG_MATRIX_NONE};
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, 2, lags, &t));
    szg_matrix_report report = summary_of(szg_matrix_toeplitz(t), &options), symbol;
    ck_assert_str_eq(report.matrix, "Toeplitz");
    ck_assert_int_eq(report.theorem.theorem, SZG_THEOREM_SZEGO);
    ck_assert(report.toeplitzness.value == 1 && !report.modulus && !report.toeplitz_part);
    ck_assert(report.symbol.min.lo <= 0.5 && report.symbol.min.hi >= 0.5);
    ck_assert(report.symbol.max.lo <= 1.5 && report.symbol.max.hi >= 1.5);
    /* Tridiagonal: 1 + 2 cos(pi j / (N + 1)) / 4. */
    for (int j = 1; j <= N; j++)
        ck_close(report.eigenvalues.re[N - j], 1 + cos(M_PI * j / (N + 1)) / 2,
                 weyl(N, report.summary.frobenius));
    ck_assert_int_eq(report.samples, 8);
    const szg_matrix matrix = szg_matrix_toeplitz(t);
    ck_szg_ok(szg_symbol_compute(test_context(), &matrix, &options, &symbol));
    ck_assert_int_eq(symbol.eigenvalues.kind, SZG_SPECTRUM_NONE);
    ck_assert(symbol.symbol.max.hi == report.symbol.max.hi && symbol.summary.n == N);
    for (int j = 0; j < 8; j++)
        ck_assert(symbol.sample[j].re == report.sample[j].re);
    szg_matrix_report_close(&symbol);
    szg_matrix_report_close(&report);
    szg_toeplitz_close(&t);
    ck_szg_fails(SZG_EINVAL, "no matrix",
                 szg_summary_compute(test_context(), &none, NULL, &report));
    ck_szg_fails(SZG_EINVAL, "no matrix", szg_symbol_compute(test_context(), &none, NULL, &report));
}
END_TEST

/* Closed forms without an encoding: the same numbers as with one, and what the family is known to
 * obey; their lags are not opened behind the caller's back. */
START_TEST(closed_forms_of_ones_own) {
    enum { N = 20 };
    static const double theta[2] = {0.5, 2};
    const struct {
        szg_matrix matrix;
        szg_theorem theorem;
    } cases[] = {{szg_matrix_kms(N, 0.5), SZG_THEOREM_SZEGO},
                 {szg_matrix_kms(N, 1), SZG_THEOREM_NONE},
                 {szg_matrix_distance(N, 2), SZG_THEOREM_NONE},
                 {szg_matrix_rotary_mean(N, 2, theta, 0), SZG_THEOREM_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_spectrum want;
        szg_matrix_report report = summary_of(cases[i].matrix, NULL);
        ck_szg_ok(szg_spectrum_compute(test_context(), &cases[i].matrix, SZG_QUESTION_EIGENVALUES,
                                       NULL, &want));
        ck_assert_int_eq(report.theorem.theorem, cases[i].theorem);
        ck_assert(report.toeplitzness.value == 1 && !report.symbol.method);
        ck_assert_int_eq(report.eigenvalues.count, want.count);
        for (int64_t j = 0; j < want.count; j++)
            ck_assert(report.eigenvalues.re[j] == want.re[j]);
        szg_spectrum_close(&want);
        szg_matrix_report_close(&report);
        ck_szg_fails(SZG_EDOMAIN, "szg_toeplitz_open_symmetric",
                     szg_symbol_compute(test_context(), &cases[i].matrix, NULL, &report));
        ck_assert_ptr_null(report.matrix);
    }
    szg_matrix_report report = summary_of(szg_matrix_zero(N), NULL);
    ck_assert(isnan(report.toeplitzness.value) && report.summary.rank == 0);
    ck_assert_ptr_nonnull(strstr(report.note, "the zero matrix has no toeplitzness"));
    szg_matrix_report_close(&report);
}
END_TEST

/* A complex array has a Toeplitz part too: that of [[1, i], [0, 3]] is [[2, i], [0, 2]], and of
 * 11 in squares 9 belong to it. */
START_TEST(complex_arrays) {
    const szg_c64 a[4] = {{1, 0}, {0, 1}, {0, 0}, {3, 0}};
    const double wide[6] = {0};
    const szg_matrix m = szg_matrix_dense(2, 3, wide, 3);
    szg_matrix_report report = summary_of(szg_matrix_complex(2, 2, a, 2), NULL);
    ck_assert_str_eq(report.matrix, "dense complex");
    ck_close(report.toeplitzness.value, 9.0 / 11, 8 * EPS);
    ck_assert(report.toeplitz_part && report.modulus);
    ck_assert(report.symbol.max.lo <= 3 && report.symbol.max.hi >= 3); /* |2 + i e^{-it}| */
    ck_close(report.summary.frobenius, sqrt(11), 8 * EPS);
    szg_matrix_report_close(&report);
    ck_szg_fails(SZG_EINVAL, "2 x 3 matrix: it is not square",
                 szg_summary_compute(test_context(), &m, NULL, &report));
}
END_TEST

static const char *cell_text(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_text(table, row, szg_table_find(table, column));
}

static int64_t cell_integer(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_integer(table, row, szg_table_find(table, column));
}

/* Of the sum of n values: each moves by no more than Weyl's bound, and a trace by n ||E||. */
static double sum_slack(int64_t n, const szg_matrix_report *report) {
    return (double)n * weyl(n, report->summary.frobenius);
}

/* Values and multiplicities make the order, in their order, and the trace; the zeros by structure
 * are one row. `slack`: of the trace. */
static void check_multiplicities(const szg_table *eigenvalues, const char *kind, int64_t n,
                                 double trace, double slack) {
    int64_t total = 0, zeros = 0, said = -1;
    double sum = 0;
    for (int64_t row = 0; row < szg_table_rows(eigenvalues); row++) {
        if (strcmp(cell_text(eigenvalues, row, "kind"), kind) != 0)
            continue;
        int64_t times = cell_integer(eigenvalues, row, "multiplicity");
        double re = szg_table_get_real(eigenvalues, row, szg_table_find(eigenvalues, "re"));
        ck_assert_int_ge(times, 1);
        ck_assert_int_eq(cell_integer(eigenvalues, row, "index"), total);
        ck_assert(said < 0 || cell_integer(eigenvalues, row, "zeros") == said);
        said = cell_integer(eigenvalues, row, "zeros");
        if (times == said && re == 0)
            zeros += times;
        ck_assert(times == 1 || re == 0);
        total += times;
        sum += (double)times * re;
    }
    ck_assert_int_eq(total, n);
    ck_assert_int_eq(zeros, said);
    ck_close(sum, trace, slack);
}

/* Zeros by structure are proved: by the rank, and where A = 3 B up to the rounding of 3 b_ij, up to
 * that rounding, which is below 2^-52 of 3 times the sum of |b|^2 in norm. */
static void check_zero_bounds(szg_matrix matrix, szg_certify certify, const char *kind,
                              double slack) {
    const szg_report_options options = {SZG_INIT(szg_report_options), .all = true,
                                        .certify = certify};
    const szg_report_labels labels = {SZG_INIT(szg_report_labels), .layer = -1, .head = -1};
    szg_report_tables tables;
    szg_matrix_report report = summary_of(matrix, &options);
    ck_szg_ok(szg_report_tables_open(test_context(), true, false, &tables));
    ck_szg_ok(szg_report_add(test_context(), &tables, &labels, &report));
    const szg_table *values = tables.eigenvalues;
    int64_t lo = szg_table_find(values, "lo"), hi = szg_table_find(values, "hi"), found = 0;
    for (int64_t row = 0; row < szg_table_rows(values); row++) {
        if (strcmp(cell_text(values, row, "kind"), kind) != 0 ||
            szg_table_get_real(values, row, szg_table_find(values, "re")) != 0)
            continue;
        found += cell_integer(values, row, "multiplicity");
        ck_assert_int_eq(szg_table_is_empty(values, row, lo), certify != SZG_CERTIFY_VALUES);
        ck_assert_int_eq(szg_table_is_empty(values, row, hi), certify != SZG_CERTIFY_VALUES);
        if (certify != SZG_CERTIFY_VALUES)
            continue;
        double least = szg_table_get_real(values, row, lo);
        double largest = szg_table_get_real(values, row, hi);
        ck_assert_msg(-slack <= least && least <= 0 && 0 <= largest && largest <= slack,
                      "[%g, %g], slack %g", least, largest, slack);
    }
    ck_assert_int_eq(found, report.eigenvalues.zeros);
    ck_assert_int_gt(found, 0);
    szg_report_tables_close(&tables);
    szg_matrix_report_close(&report);
}

START_TEST(zeros_by_structure_have_bounds) {
    enum { N = 7, D = 2 };
    const double theta[2] = {0, 1}, weight[2] = {0.5, 0.5};
    double b[N * D], a[N * D], squares = 0;
    for (int64_t i = 0; i < N * D; i++) {
        b[i] = 1 / (double)(3 * i + 7);
        a[i] = 3 * b[i];
        squares += b[i] * b[i];
    }
    const szg_factored gram = {.n = N, .d = D, .a = b, .lda = D, .b = b, .ldb = D};
    const szg_factored scaled = {.n = N, .d = D, .a = a, .lda = D, .b = b, .ldb = D};
    const szg_certify certify[2] = {SZG_CERTIFY_ENDS, SZG_CERTIFY_VALUES};
    for (int i = 0; i < 2; i++) {
        check_zero_bounds(szg_matrix_zero(N), certify[i], "eigenvalue", 0);
        check_zero_bounds(szg_matrix_cosines(N, 2, weight, theta), certify[i], "eigenvalue", 0);
        check_zero_bounds(szg_matrix_factored(&gram), certify[i], "eigenvalue", 0);
        check_zero_bounds(szg_matrix_factored(&scaled), certify[i], "eigenvalue",
                          64 * 0x1p-52 * 3 * squares);
    }
}
END_TEST

/* What its range bounds follows from the symbol: real, complex, or inside another's range. */
START_TEST(ranges_say_what_they_bound) {
    static const struct {
        const char *spec;
        szg_symbol_convention convention;
        const char *bound_of;
    } cases[] = {{"kms:rho=0.5", SZG_SYMBOL_TRUNCATED, "eigenvalues"},
                 {"kms:rho=0.5", SZG_SYMBOL_CLOSED_FORM, "eigenvalues"},
                 {"kms:rho=0.5", SZG_SYMBOL_FEJER, "nothing"},
                 {"rope:dim=4", SZG_SYMBOL_TRUNCATED, "eigenvalues"},
                 {"t5:seed=1", SZG_SYMBOL_TRUNCATED, "singular_values"},
                 {"learned:seed=1", SZG_SYMBOL_TRUNCATED, ""}, /* no symbol, and so no range */
                 {"t5:seed=1", SZG_SYMBOL_FEJER, ""}};         /* a complex mean has none */
    const szg_report_labels labels = {SZG_INIT(szg_report_labels), .source = "x", .layer = -1,
                                      .head = 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_encoding *encoding = encoding_of(cases[i].spec);
        szg_report_options options = {SZG_INIT(szg_report_options),
                                      .convention = cases[i].convention};
        szg_report_tables tables;
        szg_matrix_report report;
        ck_szg_ok(szg_report_tables_open(test_context(), true, true, &tables));
        ck_szg_ok(summarise_kernel(test_context(), encoding, 0, 0, 9, &options, &report));
        ck_szg_ok(szg_report_add(test_context(), &tables, &labels, &report));
        const szg_table *both[] = {tables.range, tables.summary};
        for (int j = 0; j < 2; j++) {
            const char *said = cell_text(both[j], 0, "bound_of");
            ck_assert_msg(strcmp(said ? said : "", cases[i].bound_of) == 0, "%s: %s, not %s",
                          cases[i].spec, said, cases[i].bound_of);
        }
        ck_assert_str_eq(cell_text(tables.summary, 0, "values_of"), "matrix");
        ck_assert_str_eq(cell_text(tables.summary, 0, "solver"),
                         szg_method_solver(report.summary.method));
        if (szg_table_rows(tables.eigenvalues) > 0)
            check_multiplicities(tables.eigenvalues, "eigenvalue", 9, report.eigenvalues.trace,
                                 sum_slack(9, &report));
        szg_matrix_report_close(&report);
        szg_report_tables_close(&tables);
        szg_encoding_close(&encoding);
    }
}
END_TEST

/* A matrix that is not symmetric, of rank 2: eigenvalues of its Hermitian part, its own
 * singular values, and the symbol of its Toeplitz part. */
START_TEST(rows_say_whose_values_they_hold) {
    enum { N = 6, D = 2 };
    double *a = new_test_reals(91, 0, N * D), *b = new_test_reals(91, 1, N * D);
    const szg_factored logits = {.n = N, .d = D, .a = a, .lda = D, .b = b, .ldb = D};
    const szg_report_options options = {SZG_INIT(szg_report_options), .hermitian_part = true};
    const szg_report_labels labels = {SZG_INIT(szg_report_labels), .source = "x", .layer = -1,
                                      .head = 0};
    szg_report_tables tables;
    szg_matrix_report report;
    ck_szg_ok(szg_report_tables_open(test_context(), true, true, &tables));
    report = summary_of(szg_matrix_factored(&logits), &options);
    ck_szg_ok(szg_report_add(test_context(), &tables, &labels, &report));
    ck_assert_str_eq(cell_text(tables.summary, 0, "values_of"), "hermitian_part");
    ck_assert_str_eq(cell_text(tables.summary, 0, "bound_of"), "toeplitz_part");
    ck_assert_str_eq(cell_text(tables.range, 0, "bound_of"), "toeplitz_part");
    for (int64_t row = 0; row < szg_table_rows(tables.eigenvalues); row++) {
        bool singular = strcmp(cell_text(tables.eigenvalues, row, "kind"), "singular") == 0;
        ck_assert_str_eq(cell_text(tables.eigenvalues, row, "values_of"),
                         singular ? "matrix" : "hermitian_part");
    }
    check_multiplicities(tables.eigenvalues, "eigenvalue", N, report.eigenvalues.trace,
                         sum_slack(N, &report));
    check_multiplicities(tables.eigenvalues, "singular", N, report.summary.nuclear,
                         sum_slack(N, &report));
    szg_matrix_report_close(&report);
    szg_report_tables_close(&tables);
    szgi_memory_free(a);
    szgi_memory_free(b);
}
END_TEST

TEST_FILE("report") {
    test_add(suite, "rounding_is_no_least_singular_value", rounding_is_no_least_singular_value);
    test_add(suite, "kernels_against_dense", kernels_against_dense);
    test_add(suite, "facts_hold", facts_hold);
    test_add(suite, "kernel_facts_in_reports", kernel_facts_in_reports);
    test_add(suite, "huge_orders", huge_orders);
    test_add(suite, "symbols_by_convention", symbols_by_convention);
    test_add(suite, "long_symbols", long_symbols);
    test_add(suite, "dense_reports_look_for_cancellation", dense_reports_look_for_cancellation);
    test_add(suite, "atoms", atoms);
    test_add(suite, "rows", rows);
    test_add(suite, "certified_columns", certified_columns);
    test_add(suite, "certified_singular_values", certified_singular_values);
    test_add(suite, "dropped_column", dropped_column);
    test_add(suite, "toeplitz_of_ones_own", toeplitz_of_ones_own);
    test_add(suite, "closed_forms_of_ones_own", closed_forms_of_ones_own);
    test_add(suite, "complex_arrays", complex_arrays);
    test_add(suite, "zeros_by_structure_have_bounds", zeros_by_structure_have_bounds);
    test_add(suite, "ranges_say_what_they_bound", ranges_say_what_they_bound);
    test_add(suite, "rows_say_whose_values_they_hold", rows_say_whose_values_they_hold);
}
