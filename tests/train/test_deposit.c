/* Index, Gini coefficient and their intervals against closed forms, plain sums and enumeration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        ck_assert(szg_gini_coefficient(n, equal) == 0);
        ck_close(szg_gini_coefficient(n, one), (double)(n - 1) / (double)n, bound);
        ck_close(szg_gini_coefficient(n, ramp), (double)(n - 1) / (3 * (double)n), bound);
    }
    double zeros[3] = {0};
    ck_assert(isnan(szg_gini_coefficient(3, zeros)));
    /* 1 + i e, i < n: e (n^2 - 1) / (6 n) over the mean. Differences are exact, sums of n terms and
     * the quotient leave (2 n + 3) units. */
    for (int64_t n = 2; n <= 16; n++) {
        double near[16], e = 0x1p-48;
        for (int64_t i = 0; i < n; i++)
            near[i] = 1 + (double)i * e;
        double order = (double)n, mean = 1 + (order - 1) / 2 * e;
        double want = e * (order * order - 1) / (6 * order * mean);
        ck_close(szg_gini_coefficient(n, near), want, (2 * order + 3) * 0x1p-53 * want);
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
            ck_close(szg_gini_coefficient(24, x), want, 24 * 24 * 0x1p-52);
        szg_memory_free(x);
    }
}
END_TEST

/* A run of two layers whose heads lose `drops` in layer 1. */
static void open_run(int64_t heads, const double *drops, szg_ablation *run) {
    ck_szg_ok(szg_ablation_open(test_context(), 2, heads, run));
    run->accuracy = .9;
    for (int64_t h = 0; h < heads; h++) {
        run->head[h] = .9;
        run->head[heads + h] = .9 - drops[h];
    }
}

static szg_deposit deposit_of(int64_t heads, const double *drops, int64_t layer) {
    szg_ablation run;
    szg_deposit deposit;
    open_run(heads, drops, &run);
    const szg_ablation *runs[] = {&run};
    ck_szg_ok(szg_ablation_deposit(test_context(), runs, 1, layer, 0, &deposit));
    szg_ablation_close(&run);
    return deposit;
}

START_TEST(one_run_has_closed_forms) {
    /* Drops of .9 - accuracy carry errors of 2^-53, against a total of .25 and more. */
    double bound = 16 * 0x1p-52;
    szg_deposit one = deposit_of(4, (double[]){0, 0, .5, 0}, 1);
    ck_close(one.index, 1, bound);
    ck_close(one.gini, .75, bound);
    ck_close(one.total, .5, bound);
    ck_assert_int_eq(one.worst_head, 2);
    szg_deposit equal = deposit_of(4, (double[]){.125, .125, .125, .125}, 1);
    ck_close(equal.index, .25, bound);
    ck_close(equal.gini, 0, bound);
    szg_deposit mixed = deposit_of(4, (double[]){.1, -.2, .3, 0}, 1);
    ck_close(mixed.index, .75, bound); /* the gain of head 1 counts as 0 */
    ck_close(mixed.gini, plain_gini(4, (double[]){.1, 0, .3, 0}), bound);
    ck_assert_int_eq(mixed.runs, 1);
    ck_assert(isnan(one.index_low) && isnan(one.index_high));
    ck_assert(isnan(one.gini_low) && isnan(one.gini_high));
}
END_TEST

START_TEST(no_drop_has_no_index) {
    szg_deposit none = deposit_of(3, (double[]){0, -.01, 0}, 1);
    ck_assert_int_eq(none.runs, 0);
    ck_assert_int_eq(none.worst_head, -1);
    ck_assert(none.total == 0);
    ck_assert(isnan(none.index) && isnan(none.gini));
    ck_assert_int_eq(deposit_of(3, (double[]){.1, 0, 0}, 0).runs, 0); /* layer 0 has none */
}
END_TEST

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All count^count resamples, each as likely as any other: their means, ascending. */
static int64_t enumerate(int64_t count, const double *values, double *means) {
    int64_t resamples = 1;
    for (int64_t i = 0; i < count; i++)
        resamples *= count;
    for (int64_t code = 0; code < resamples; code++) {
        int64_t rest = code;
        means[code] = 0;
        for (int64_t i = 0; i < count; i++, rest /= count)
            means[code] += values[rest % count] / (double)count;
    }
    qsort(means, (size_t)resamples, sizeof *means, ascending);
    return resamples;
}

static double quantile(int64_t count, const double *sorted, double part) {
    int64_t index = (int64_t)ceil(part * (double)count) - 1;
    return sorted[index < 0 ? 0 : index >= count ? count - 1 : index];
}

/* Runs whose index is known: head 0 loses share, head 1 the rest. */
static void check_interval(int64_t count, const double *shares, uint64_t seed) {
    szg_ablation run[4];
    const szg_ablation *runs[4];
    double gini[4], means[256];
    for (int64_t r = 0; r < count; r++) {
        double drops[] = {shares[r] * .5, (1 - shares[r]) * .5};
        open_run(2, drops, &run[r]);
        gini[r] = plain_gini(2, drops);
        runs[r] = &run[r];
    }
    szg_deposit deposit;
    ck_szg_ok(szg_ablation_deposit(test_context(), runs, count, 1, seed, &deposit));
    /* The share of resamples below a value is off by six standard errors at most. */
    double off = 6 * sqrt(.025 * .975 / SZG_DEPOSIT_RESAMPLES), tiny = 1e-12, mean = 0;
    int64_t all = enumerate(count, shares, means);
    ck_assert(deposit.index_low >= quantile(all, means, .025 - off) - tiny);
    ck_assert(deposit.index_low <= quantile(all, means, .025 + off) + tiny);
    ck_assert(deposit.index_high >= quantile(all, means, .975 - off) - tiny);
    ck_assert(deposit.index_high <= quantile(all, means, .975 + off) + tiny);
    for (int64_t r = 0; r < count; r++)
        mean += shares[r] / (double)count;
    ck_close(deposit.index, mean, tiny);
    all = enumerate(count, gini, means);
    ck_assert(deposit.gini_low >= quantile(all, means, .025 - off) - tiny);
    ck_assert(deposit.gini_low <= quantile(all, means, .025 + off) + tiny);
    ck_assert_int_eq(deposit.runs, count);
    ck_assert_int_eq(deposit.worst_head, -1);
    for (int64_t r = 0; r < count; r++)
        szg_ablation_close(&run[r]);
}

START_TEST(intervals_are_those_of_all_resamples) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        check_interval(2, (double[]){.6, .9}, seed);
        check_interval(3, (double[]){.55, .7, .95}, seed);
        check_interval(4, (double[]){.5, .6, .8, .97}, seed);
    }
}
END_TEST

START_TEST(a_run_without_drop_is_left_out) {
    szg_ablation a, b, c;
    open_run(2, (double[]){.4, .1}, &a);
    open_run(2, (double[]){0, 0}, &b);
    open_run(2, (double[]){.1, .1}, &c);
    const szg_ablation *runs[] = {&a, &b, &c};
    szg_deposit deposit;
    ck_szg_ok(szg_ablation_deposit(test_context(), runs, 3, 1, 0, &deposit));
    ck_assert_int_eq(deposit.runs, 2);
    ck_close(deposit.index, (.8 + .5) / 2, 1e-14);
    ck_close(deposit.total, (.5 + 0 + .2) / 3, 1e-14);
    ck_assert(deposit.index_low >= .5 - 1e-14 && deposit.index_high <= .8 + 1e-14);
    ck_survives_failed_allocations(0,
                                   szg_ablation_deposit(test_context(), runs, 3, 1, 0, &deposit));
    ck_szg_fails(SZG_EINVAL, "outside 0 .. 1",
                 szg_ablation_deposit(test_context(), runs, 3, 2, 0, &deposit));
    ck_szg_fails(SZG_EINVAL, "no runs",
                 szg_ablation_deposit(test_context(), runs, 0, 0, 0, &deposit));
    szg_ablation_close(&c);
    open_run(1, (double[]){.1}, &c);
    ck_szg_fails(SZG_EINVAL, "one shape",
                 szg_ablation_deposit(test_context(), runs, 3, 1, 0, &deposit));
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

static const char *note(const szg_table *table, int64_t row) {
    return szg_table_get_text(table, row, szg_table_find(table, "note"));
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
    run.ceiling = .95;
    ck_szg_ok(szg_ablation_rows(test_context(), table, &key, &run));
    ck_close(cell(table, 8, "label_ceiling"), .95, 0);
    run.reach = 3;
    run.cumulative = true;
    ck_szg_ok(szg_ablation_rows(test_context(), table, &key, &run));
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
    ck_szg_ok(szg_deposit_rows(test_context(), table, keys, runs, 2, "both", 0));
    ck_assert_int_eq(szg_table_rows(table), 6); /* two runs and their mean, two layers */
    ck_close(cell(table, 1, "index"), .8, 1e-14);
    ck_assert(cell(table, 1, "worst_head") == 0 && cell(table, 3, "seed") == 2);
    ck_assert(empty(table, 1, "index_low") && empty(table, 1, "gini_high"));
    ck_assert(empty(table, 0, "index") && !empty(table, 0, "total_drop"));
    ck_assert_ptr_nonnull(strstr(note(table, 1), "no interval"));
    ck_assert_ptr_nonnull(strstr(note(table, 0), "no head's loss"));
    ck_assert_str_eq(szg_table_get_text(table, 5, 0), "both");
    ck_assert(empty(table, 5, "seed") && empty(table, 5, "worst_head"));
    ck_close(cell(table, 5, "index"), .65, 1e-14);
    ck_close(cell(table, 5, "index_low"), .5, 1e-14);
    ck_close(cell(table, 5, "index_high"), .8, 1e-14);
    ck_assert_ptr_nonnull(strstr(note(table, 5), "10000 resamples"));
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
    test_add(suite, "bootstrap", intervals_are_those_of_all_resamples);
    test_add(suite, "left out", a_run_without_drop_is_left_out);
    test_add(suite, "ablation table", tables_have_a_row_a_head_and_one_for_all);
    test_add(suite, "deposit table", deposit_tables_end_with_the_mean);
}
