/* Index, Gini coefficient and their intervals against closed forms, plain sums and enumeration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "train/ablation/ablation.h"

#include "suite.h"

enum { PURPOSE = 0x4455 };

/* sum_ij |x_i - x_j| / (2 n sum x), the definition. */
static double plain_gini(int64_t count, const double *x) {
    double differences = 0, sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += x[i];
        for (int64_t j = 0; j < count; j++)
            differences += fabs(x[i] - x[j]);
    }
    return differences / (2 * (double)count * sum);
}

START_TEST(gini_has_its_closed_forms) {
    for (int64_t n = 1; n <= 16; n++) {
        double equal[16], one[16] = {0}, ramp[16];
        for (int64_t i = 0; i < n; i++) {
            equal[i] = .3;
            ramp[i] = (double)(n - i);
        }
        one[n / 2] = .7;
        /* Sums of n terms of the size of n sum x: n units in the last place of 1. */
        double bound = 4 * (double)n * 0x1p-52;
        ck_assert(szgi_gini_coefficient(n, equal) == 0);
        ck_close(szgi_gini_coefficient(n, one), (double)(n - 1) / (double)n, bound);
        ck_close(szgi_gini_coefficient(n, ramp), (double)(n - 1) / (3 * (double)n), bound);
    }
    double zeros[3] = {0};
    ck_assert(isnan(szgi_gini_coefficient(3, zeros)));
    /* 1 + i e, i < n: e (n^2 - 1) / (6 n) over the mean. Differences are exact, sums of n terms and
     * the quotient leave (2 n + 3) units. */
    for (int64_t n = 2; n <= 16; n++) {
        double near[16], e = 0x1p-48;
        for (int64_t i = 0; i < n; i++)
            near[i] = 1 + (double)i * e;
        double order = (double)n, mean = 1 + (order - 1) / 2 * e;
        double want = e * (order * order - 1) / (6 * order * mean);
        ck_close(szgi_gini_coefficient(n, near), want, (2 * order + 3) * 0x1p-53 * want);
    }
}
END_TEST

START_TEST(gini_is_the_mean_difference) {
    for (int64_t trial = 0; trial < test_trials(200); trial++) {
        double *x = new_test_reals(PURPOSE, (uint32_t)trial, 24);
        double sum = 0;
        for (int64_t i = 0; i < 24; i++)
            sum += x[i] = fabs(x[i]);
        double want = plain_gini(24, x);
        if (sum > 0)
            ck_close(szgi_gini_coefficient(24, x), want, 24 * 24 * 0x1p-52);
        szgi_memory_free(x);
    }
}
END_TEST

/* A run of two layers whose heads lose `drops` in layer 1. */
static void open_run(int64_t heads, const double *drops, szg_ablation *run) {
    ck_szg_ok(szgi_ablation_open(test_context(), 2, heads, run));
    run->accuracy = .9;
    for (int64_t h = 0; h < heads; h++) {
        run->head[h] = .9;
        run->head[heads + h] = .9 - drops[h];
    }
}

static szgi_deposit deposit_of(int64_t heads, const double *drops, int64_t layer) {
    szg_ablation run;
    szgi_deposit deposit;
    open_run(heads, drops, &run);
    const szg_ablation *runs[] = {&run};
    ck_szg_ok(szgi_ablation_deposit(test_context(), runs, 1, layer, &deposit));
    szg_ablation_close(&run);
    return deposit;
}

START_TEST(one_run_has_closed_forms) {
    /* Drops of .9 - accuracy carry errors of 2^-53, against a total of .25 and more. */
    double bound = 16 * 0x1p-52;
    szgi_deposit one = deposit_of(4, (double[]){0, 0, .5, 0}, 1);
    ck_close(one.index, 1, bound);
    ck_close(one.gini, .75, bound);
    ck_close(one.total, .5, bound);
    ck_assert_int_eq(one.worst_head, 2);
    szgi_deposit equal = deposit_of(4, (double[]){.125, .125, .125, .125}, 1);
    ck_close(equal.index, .25, bound);
    ck_close(equal.gini, 0, bound);
    szgi_deposit mixed = deposit_of(4, (double[]){.1, -.2, .3, 0}, 1);
    ck_close(mixed.index, .75, bound); /* the gain of head 1 counts as 0 */
    ck_close(mixed.gini, plain_gini(4, (double[]){.1, 0, .3, 0}), bound);
    ck_close(mixed.largest, .3, bound);
    ck_assert_int_eq(mixed.runs, 1);
    ck_assert(isnan(mixed.index_spread.least) && isnan(mixed.index_spread.high));
    ck_assert(isnan(mixed.gini_spread.greatest) && isnan(mixed.gini_spread.low));
    ck_assert(isnan(mixed.coverage));
}
END_TEST

START_TEST(no_drop_has_no_index) {
    szgi_deposit none = deposit_of(3, (double[]){0, -.01, 0}, 1);
    ck_assert_int_eq(none.runs, 0);
    ck_assert_int_eq(none.worst_head, -1);
    ck_assert(none.total == 0);
    ck_assert(isnan(none.index) && isnan(none.gini));
    ck_assert_int_eq(deposit_of(3, (double[]){.1, 0, 0}, 0).runs, 0); /* layer 0 has none */
}
END_TEST

/* ---- Seeds ---- */

/* Simpson's rule on 2000 intervals. */
typedef double integrand(double x, double n);
static double simpson(integrand *f, double n, double low, double high) {
    enum { INTERVALS = 2000 };
    double h = (high - low) / INTERVALS, sum = f(low, n) + f(high, n);
    for (int i = 1; i < INTERVALS; i++)
        sum += (i % 2 ? 4 : 2) * f(low + i * h, n);
    return sum * h / 3;
}

/* Student's density under x = sqrt(n) tan(angle): cos^(n - 1) times a constant. */
static double student_density(double angle, double n) {
    return exp(lgamma((n + 1) / 2) - lgamma(n / 2)) / sqrt(acos(-1)) * pow(cos(angle), n - 1);
}

START_TEST(student_quantiles_hold_the_integral) {
    /* Student 1908; Abramowitz and Stegun, table 26.10 */
    static const double published[] = {12.706, 4.303, 3.182, 2.776, 2.571};
    for (int64_t n = 1; n <= 40; n++) {
        double t = szgi_student_quantile(n);
        if (n <= 5)
            ck_close(t, published[n - 1], .0005);
        /* h = 8e-4 of a function whose fourth derivative is below 3 n^2 times 4: h^4 / 180 of it.
         */
        ck_close(simpson(student_density, (double)n, 0, atan(t / sqrt((double)n))), .475, 1e-10);
    }
    ck_close(szgi_student_quantile(100000), 1.959964,
             5e-5); /* the normal's, and 2.4 / n above it */
    ck_assert(isnan(szgi_student_quantile(0)));
}
END_TEST

START_TEST(intervals_have_closed_cases) {
    /* Two numbers: mean 1, deviation sqrt(2), t with one degree of freedom is tan(0.95 pi / 2). */
    szgi_mean_interval two = szgi_mean_interval_of(2, (double[]){0, 2});
    double reach = tan(.95 * acos(0)), bound = 1e-13 * reach;
    ck_close(two.mean, 1, 0x1p-52);
    ck_close(two.high - two.mean, reach, bound);
    ck_close(two.mean - two.low, reach, bound);
    szgi_mean_interval equal = szgi_mean_interval_of(5, (double[]){.5, .5, .5, .5, .5});
    ck_assert(equal.mean == .5 && equal.low == .5 && equal.high == .5);
    szgi_mean_interval one = szgi_mean_interval_of(1, (double[]){3});
    ck_assert(one.mean == 3 && isnan(one.low) && isnan(one.high));
    ck_assert(isnan(szgi_mean_interval_of(0, NULL).mean));
}
END_TEST

/* 1 - (1 - e^-x)^n, the chance that the largest of n exponential drops exceeds x. */
static double some_exceeds(double x, double n) {
    return 1 - pow(1 - exp(-x), n);
}

START_TEST(the_null_is_the_largest_of_exponential_drops) {
    ck_close(szgi_deposit_uniform(4), 25. / 48, 0x1p-52);
    ck_close(szgi_deposit_uniform(1), 1, 0);
    /* Shares of independent exponentials do not depend on their sum, whose mean is n: the mean of
     * the largest share is that of the largest over n. Beyond 60 stand n e^-60, and h = 0.03. */
    for (int64_t n = 1; n <= 16; n++)
        ck_close(szgi_deposit_uniform(n), simpson(some_exceeds, (double)n, 0, 60) / (double)n,
                 1e-5);
    ck_assert(isnan(szgi_deposit_uniform(0)));
}
END_TEST

/* Of 2^count equally likely ways in which values lie below or above their median: how many have
 * values on both sides. */
static double both_sides(int64_t count) {
    int64_t ways = (int64_t)1 << count, both = 0;
    for (int64_t way = 0; way < ways; way++)
        both += way != 0 && way != ways - 1;
    return (double)both / (double)ways;
}

/* Runs whose index is known: head 0 loses share, head 1 the rest. */
static void check_spread(int64_t count, const double *shares, double quantile) {
    szg_ablation run[4];
    const szg_ablation *runs[4];
    double mean = 0, squares = 0, largest = 0, tiny = 1e-12;
    for (int64_t r = 0; r < count; r++) {
        open_run(2, (double[]){shares[r] * .5, (1 - shares[r]) * .5}, &run[r]);
        runs[r] = &run[r];
        mean += shares[r] / (double)count;
        largest += shares[r] * .5 / (double)count;
    }
    for (int64_t r = 0; r < count; r++)
        for (int64_t other = 0; other < r; other++)
            squares += (shares[r] - shares[other]) * (shares[r] - shares[other]);
    double n = (double)count, reach = quantile * sqrt(squares / (n * (n - 1))) / sqrt(n);
    szgi_deposit deposit;
    ck_szg_ok(szgi_ablation_deposit(test_context(), runs, count, 1, &deposit));
    ck_close(deposit.index, mean, tiny);
    ck_close(deposit.largest, largest, tiny);
    ck_close(deposit.index_spread.least, shares[0], tiny);
    ck_close(deposit.index_spread.greatest, shares[count - 1], tiny);
    /* the quantiles of the table have three digits after the point */
    ck_close(deposit.index_spread.low, mean - reach, .0005 / quantile * reach + tiny);
    ck_close(deposit.index_spread.high, mean + reach, .0005 / quantile * reach + tiny);
    /* of two heads the Gini coefficient is the index less 1/2 */
    ck_close(deposit.gini_spread.least, shares[0] - .5, tiny);
    ck_close(deposit.gini_spread.high, deposit.index_spread.high - .5, tiny);
    ck_close(deposit.coverage, both_sides(count), 0);
    ck_close(deposit.uniform_index, .75, 0);
    ck_assert_int_eq(deposit.runs, count);
    ck_assert_int_eq(deposit.worst_head, -1);
    for (int64_t r = 0; r < count; r++)
        szg_ablation_close(&run[r]);
}

START_TEST(seeds_spread_from_least_to_greatest) {
    check_spread(2, (double[]){.6, .9}, 12.706);
    check_spread(3, (double[]){.55, .7, .95}, 4.303);
    check_spread(4, (double[]){.5, .6, .8, .97}, 3.182);
}
END_TEST

START_TEST(a_run_without_drop_is_left_out) {
    szg_ablation a, b, c;
    open_run(2, (double[]){.4, .1}, &a);
    open_run(2, (double[]){0, 0}, &b);
    open_run(2, (double[]){.1, .1}, &c);
    const szg_ablation *runs[] = {&a, &b, &c};
    szgi_deposit deposit;
    ck_szg_ok(szgi_ablation_deposit(test_context(), runs, 3, 1, &deposit));
    ck_assert_int_eq(deposit.runs, 2);
    ck_close(deposit.index, (.8 + .5) / 2, 1e-14);
    ck_close(deposit.total, (.5 + 0 + .2) / 3, 1e-14);
    ck_close(deposit.index_spread.least, .5, 1e-14);
    ck_close(deposit.index_spread.greatest, .8, 1e-14);
    ck_close(deposit.coverage, .5, 0); /* of the two runs that have a drop */
    ck_survives_failed_allocations(0, szgi_ablation_deposit(test_context(), runs, 3, 1, &deposit));
    ck_szg_fails(SZG_EINVAL, "outside 0 .. 1",
                 szgi_ablation_deposit(test_context(), runs, 3, 2, &deposit));
    ck_szg_fails(SZG_EINVAL, "no runs",
                 szgi_ablation_deposit(test_context(), runs, 0, 0, &deposit));
    szg_ablation_close(&c);
    open_run(1, (double[]){.1}, &c);
    ck_szg_fails(SZG_EINVAL, "one shape",
                 szgi_ablation_deposit(test_context(), runs, 3, 1, &deposit));
    szg_ablation_close(&a);
    szg_ablation_close(&b);
    szg_ablation_close(&c);
}
END_TEST

static double cell(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

static bool empty(const szg_table *table, int64_t row, const char *column) {
    return szg_table_is_empty(table, row, szg_table_find(table, column));
}

static const char *text(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_text(table, row, szg_table_find(table, column));
}

static const char *note(const szg_table *table, int64_t row) {
    return text(table, row, "note");
}

START_TEST(tables_have_a_row_a_head_and_one_for_all) {
    szg_ablation run;
    szg_table *table;
    open_run(3, (double[]){.2, .1, 0}, &run);
    run.reach = 2;
    run.layer[0] = .8;
    run.layer[1] = .3;
    szg_run_key key = {"r", "mla", "distance", 5};
    ck_szg_ok(szg_ablation_table_open(test_context(), &table));
    ck_szg_ok(szg_ablation_rows(test_context(), table, &key, &run));
    ck_assert_int_eq(szg_table_rows(table), 2 * 4);
    ck_assert(cell(table, 4, "layer") == 1 && cell(table, 4, "head") == 0);
    ck_close(cell(table, 4, "drop"), .2, 1e-15);
    ck_close(cell(table, 4, "accuracy"), .7, 1e-15);
    ck_assert(empty(table, 7, "head"));
    ck_close(cell(table, 7, "accuracy"), .3, 0);
    ck_assert_ptr_nonnull(strstr(note(table, 6), "nothing is ablated"));
    ck_assert_ptr_null(note(table, 5));
    ck_assert_ptr_null(note(table, 7));
    ck_assert(empty(table, 0, "label_ceiling"));
    ck_assert_str_eq(text(table, 0, "method"), "output");
    run.ceiling = .95;
    ck_szg_ok(szg_ablation_rows(test_context(), table, &key, &run));
    ck_close(cell(table, 8, "label_ceiling"), .95, 0);
    run.reach = 3;
    run.method = SZG_ABLATE_CUMULATIVE;
    ck_szg_ok(szg_ablation_rows(test_context(), table, &key, &run));
    ck_assert_str_eq(text(table, 16, "method"), "cumulative");
    ck_assert_str_eq(text(table, 23, "method"), "cumulative");
    ck_assert_ptr_null(note(table, 16)); /* the first layer */
    ck_assert_ptr_nonnull(strstr(note(table, 20), "last head of every layer below is off"));
    ck_assert_ptr_nonnull(strstr(note(table, 23), "last head of every layer below is off"));
    szg_table_close(&table);
    szg_ablation_close(&run);
}
END_TEST

START_TEST(deposit_tables_end_with_the_mean) {
    szg_ablation a, b;
    open_run(2, (double[]){.4, .1}, &a);
    open_run(2, (double[]){.1, .1}, &b);
    const szg_ablation *runs[] = {&a, &b};
    szg_run_key keys[] = {{"a", "rope", "distance", 1}, {"b", "rope", "distance", 2}};
    szg_table *table;
    ck_szg_ok(szg_deposit_table_open(test_context(), &table));
    ck_szg_ok(szg_deposit_rows(test_context(), table, keys, runs, 2, "both"));
    ck_assert_int_eq(szg_table_rows(table), 6); /* two runs and their mean, two layers */
    ck_close(cell(table, 1, "index"), .8, 1e-14);
    ck_assert(cell(table, 1, "worst_head") == 0 && cell(table, 3, "seed") == 2);
    ck_assert(empty(table, 1, "index_least") && empty(table, 1, "gini_t_high"));
    ck_assert(empty(table, 0, "index") && !empty(table, 0, "total_drop"));
    ck_assert_ptr_nonnull(strstr(note(table, 1), "no interval"));
    ck_assert_ptr_nonnull(strstr(note(table, 0), "no head's loss"));
    ck_assert_str_eq(szg_table_get_text(table, 5, 0), "both");
    ck_assert(empty(table, 5, "seed") && empty(table, 5, "worst_head"));
    ck_close(cell(table, 5, "index"), .65, 1e-14);
    ck_close(cell(table, 5, "index_least"), .5, 1e-14);
    ck_close(cell(table, 5, "index_greatest"), .8, 1e-14);
    ck_close(cell(table, 5, "index_t_low"), .65 - 12.706 * .15, 1e-4);
    ck_close(cell(table, 5, "index_t_high"), .65 + 12.706 * .15, 1e-4);
    ck_close(cell(table, 1, "largest_drop"), .4, 1e-14);
    ck_close(cell(table, 5, "largest_drop"), .25, 1e-14);
    ck_close(cell(table, 0, "uniform_index"), .75, 0);
    ck_close(cell(table, 5, "range_coverage"), .5, 0);
    ck_assert_ptr_nonnull(strstr(note(table, 5), "with a chance of 50%"));
    for (int64_t row = 0; row < 6; row++)
        ck_assert_str_eq(text(table, row, "method"), "output");
    szg_table_close(&table);
    /* Runs that were ablated in two ways have no mean. */
    b.method = SZG_ABLATE_VALUES;
    ck_szg_ok(szg_deposit_table_open(test_context(), &table));
    ck_szg_ok(szg_deposit_rows(test_context(), table, keys, runs, 2, "both"));
    ck_assert_int_eq(szg_table_rows(table), 4);
    ck_assert_str_eq(text(table, 0, "method"), "output");
    ck_assert_str_eq(text(table, 2, "method"), "values");
    szg_table_close(&table);
    szg_ablation_close(&a);
    szg_ablation_close(&b);
}
END_TEST

/* Heads that nothing is cut of do not count; drops with a part in common have no null. */
START_TEST(the_null_is_that_of_the_heads_that_can_drop) {
    szg_ablation a, b;
    open_run(4, (double[]){.4, .1, 0, 0}, &a);
    open_run(4, (double[]){.1, .1, 0, 0}, &b);
    const szg_ablation *runs[] = {&a, &b};
    szg_run_key keys[] = {{"a", "mla", "distance", 1}, {"b", "mla", "distance", 2}};
    szgi_deposit deposit;
    szg_table *table;
    a.reach = b.reach = 2;
    ck_szg_ok(szgi_ablation_deposit(test_context(), runs, 2, 1, &deposit));
    ck_close(deposit.uniform_index, .75, 0); /* (1 + 1/2) / 2 */
    b.reach = 3;
    ck_szg_ok(szg_deposit_table_open(test_context(), &table));
    ck_szg_ok(szg_deposit_rows(test_context(), table, keys, runs, 2, "both"));
    ck_close(cell(table, 1, "uniform_index"), .75, 0);
    ck_close(cell(table, 3, "uniform_index"), 11. / 18, 0x1p-52); /* (1 + 1/2 + 1/3) / 3 */
    ck_assert(empty(table, 5, "uniform_index"));
    ck_assert_ptr_nonnull(strstr(note(table, 5), "the seeds differ in how many heads"));
    szg_table_close(&table);
    /* Heads that do not rotate: one of layer 1, and all of layer 0. */
    a.reach = b.reach = 4;
    a.method = b.method = SZG_ABLATE_ROTATION;
    a.spared[4 + 2] = b.spared[4 + 3] = true;
    for (int h = 0; h < 4; h++)
        a.spared[h] = b.spared[h] = true;
    ck_szg_ok(szg_deposit_table_open(test_context(), &table));
    ck_szg_ok(szg_deposit_rows(test_context(), table, keys, runs, 2, "both"));
    for (int64_t row = 0; row < 6; row++) {
        if (row % 2)
            ck_close(cell(table, row, "uniform_index"), 11. / 18, 0x1p-52);
        else
            ck_assert_ptr_nonnull(strstr(note(table, row), "no head of this layer can be ablated"));
        ck_assert(empty(table, row, "uniform_index") == (row % 2 == 0));
    }
    szg_table_close(&table);
    ck_szg_ok(szg_ablation_table_open(test_context(), &table));
    ck_szg_ok(szg_ablation_rows(test_context(), table, &keys[0], &a));
    for (int64_t row = 0; row < 10; row++) { /* four heads and all of them, twice */
        bool spared = row < 4 || row == 5 + 2;
        const char *said = note(table, row);
        ck_assert((said && strstr(said, "this head does not rotate")) == spared);
        ck_assert_str_eq(text(table, row, "method"), "rotation");
    }
    szg_table_close(&table);
    memset(a.spared, 0, 8 * sizeof *a.spared);
    memset(b.spared, 0, 8 * sizeof *b.spared);
    a.reach = b.reach = 4;
    a.method = b.method = SZG_ABLATE_CUMULATIVE;
    ck_szg_ok(szg_deposit_table_open(test_context(), &table));
    ck_szg_ok(szg_deposit_rows(test_context(), table, keys, runs, 2, "both"));
    for (int64_t row = 0; row < 6; row++) {
        const char *said = strstr(note(table, row), "no uniform_index: the last heads");
        if (row % 2 == 0)
            ck_close(cell(table, row, "uniform_index"), 25. / 48, 0x1p-52);
        ck_assert(empty(table, row, "uniform_index") == (row % 2 == 1));
        ck_assert((said != NULL) == (row % 2 == 1));
    }
    szg_table_close(&table);
    szg_ablation_close(&a);
    szg_ablation_close(&b);
}
END_TEST

TEST_FILE("deposit") {
    test_add(suite, "gini closed forms", gini_has_its_closed_forms);
    test_add(suite, "gini mean difference", gini_is_the_mean_difference);
    test_add(suite, "one run", one_run_has_closed_forms);
    test_add(suite, "no drop", no_drop_has_no_index);
    test_add(suite, "student", student_quantiles_hold_the_integral);
    test_add(suite, "intervals", intervals_have_closed_cases);
    test_add(suite, "null of reach", the_null_is_that_of_the_heads_that_can_drop);
    test_add(suite, "null", the_null_is_the_largest_of_exponential_drops);
    test_add(suite, "spread", seeds_spread_from_least_to_greatest);
    test_add(suite, "left out", a_run_without_drop_is_left_out);
    test_add(suite, "ablation table", tables_have_a_row_a_head_and_one_for_all);
    test_add(suite, "deposit table", deposit_tables_end_with_the_mean);
}
