/* Rows split by columns, against a comparison of every row with every other. */
#include <math.h>
#include <string.h>

#include "groups.h"
#include "suite.h"

static const szg_column columns[] = {{"source", SZG_TEXT, ""},
                                     {"head", SZG_INTEGER, ""},
                                     {"value", SZG_REAL, ""},
                                     {"note", SZG_TEXT, ""}};
static const char *const names[] = {"rope", "", "<script>", "rope ", "Rope"};
static const double values[] = {
    0.0, -0.0, 1, 1 + 0x1p-52, (double)NAN, -(double)NAN, (double)INFINITY};
static const int64_t heads[] = {0, -1, INT64_MAX, INT64_MIN, 1};

static size_t draw(uint64_t *state, size_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33) % below;
}

static void set_row(szg_table *table, uint64_t *state) {
    szg_context *context = test_context();
    ck_szg_ok(szg_table_add_row(context, table));
    if (draw(state, 5) > 0)
        ck_szg_ok(szgi_table_put_text(context, table, 0, names[draw(state, 5)]));
    if (draw(state, 5) > 0)
        ck_szg_ok(szgi_table_put_integer(context, table, 1, heads[draw(state, 5)]));
    if (draw(state, 5) > 0)
        ck_szg_ok(szgi_table_put_real(context, table, 2, values[draw(state, 7)]));
}

static szg_table *make_table(int64_t count) {
    szg_table *table;
    uint64_t state = test_seed();
    ck_szg_ok(szg_table_open(test_context(), "t", columns, 4, &table));
    for (int64_t i = 0; i < count; i++)
        set_row(table, &state);
    return table;
}

/* Whether two cells are the same, without a thought for speed. */
static bool same_cell(const szg_table *table, int64_t a, int64_t b, int64_t column) {
    if (szg_table_is_empty(table, a, column) || szg_table_is_empty(table, b, column))
        return szg_table_is_empty(table, a, column) && szg_table_is_empty(table, b, column);
    double x = szg_table_get_real(table, a, column), y = szg_table_get_real(table, b, column);
    switch (szg_table_column(table, column)->type) {
    case SZG_TEXT:
        return strcmp(szg_table_get_text(table, a, column), szg_table_get_text(table, b, column)) ==
               0;
    case SZG_INTEGER:
        return szg_table_get_integer(table, a, column) == szg_table_get_integer(table, b, column);
    default:
        return x == y || (isnan(x) && isnan(y));
    }
}

static bool same_row(const szg_table *table, int64_t a, int64_t b, const char *const *by) {
    for (; *by; by++) {
        int64_t column = szg_table_find(table, *by);
        if (column >= 0 && !same_cell(table, a, b, column))
            return false;
    }
    return true;
}

/* Each row of the list belongs to the group of the first row that equals it. */
static void check_split(const szg_table *table, int64_t count, const int64_t *row,
                        const char *const *by) {
    groups got;
    ck_szg_ok(szgi_groups_split(test_context(), (rows){table, row, count}, by, &got));
    int64_t group = 0, total = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = row ? row[i] : i, before = 0, within = 0;
        while (before < i && !same_row(table, row ? row[before] : before, at, by))
            before++;
        if (before < i)
            continue;
        ck_assert_int_lt(group, got.count);
        ck_assert_ptr_eq(got.group[group].table, table);
        for (int64_t k = i; k < count; k++)
            if (same_row(table, row ? row[k] : k, at, by)) {
                ck_assert_int_lt(within, got.group[group].count);
                ck_assert_int_eq(got.group[group].row[within++], row ? row[k] : k);
            }
        ck_assert_int_eq(got.group[group].count, within);
        total += within;
        group++;
    }
    ck_assert_int_eq(group, got.count);
    ck_assert_int_eq(total, count);
    szgi_groups_free(&got);
    szgi_groups_free(&got);
    ck_assert_ptr_null(got.group);
}

START_TEST(groups_equal_a_comparison_of_all_rows) {
    static const char *const by[][4] = {{NULL},
                                        {"source", NULL},
                                        {"head", NULL},
                                        {"value", NULL},
                                        {"note", NULL},
                                        {"missing", "head", NULL},
                                        {"missing", NULL},
                                        {"source", "head", "value", NULL},
                                        {"head", "head", "source", NULL}};
    static const int64_t counts[] = {0, 1, 2, 3, 17, 300};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        szg_table *table = make_table(counts[c]);
        int64_t row[400];
        uint64_t state = test_seed() + 1;
        for (int64_t i = 0; i < 400 && counts[c] > 0; i++)
            row[i] = (int64_t)draw(&state, (size_t)counts[c]); /* out of order, and again */
        for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
            check_split(table, counts[c], NULL, by[i]);
            check_split(table, counts[c] > 0 ? 400 : 0, row, by[i]);
        }
        szg_table_close(&table);
    }
}
END_TEST

START_TEST(where_keeps_one_text) {
    szg_table *table = make_table(300);
    groups got, again;
    for (size_t i = 0; i < 5; i++) {
        ck_szg_ok(
            szgi_groups_where(test_context(), (rows){.table = table}, "source", names[i], &got));
        int64_t found = 0;
        for (int64_t row = 0; row < 300; row++) {
            const char *text = szg_table_get_text(table, row, 0);
            if (text && strcmp(text, names[i]) == 0)
                ck_assert_int_eq(got.group[0].row[found++], row);
        }
        ck_assert_int_eq(got.count, 1);
        ck_assert_int_eq(got.group[0].count, found);
        ck_szg_ok(szgi_groups_where(test_context(), got.group[0], "source", names[i], &again));
        ck_assert_int_eq(again.group[0].count, found);
        szgi_groups_free(&again);
        ck_szg_ok(szgi_groups_where(test_context(), got.group[0], "source", "none", &again));
        ck_assert_int_eq(again.count, 0);
        szgi_groups_free(&again);
        szgi_groups_free(&got);
    }
    static const char *const no_texts[] = {"head", "value", "note", "missing"};
    for (size_t i = 0; i < 4; i++) {
        ck_szg_ok(szgi_groups_where(test_context(), (rows){.table = table}, no_texts[i], "", &got));
        ck_assert_int_eq(got.count, 0);
        szgi_groups_free(&got);
    }
    ck_szg_ok(szgi_groups_where(test_context(), (rows){0}, "source", "", &got));
    ck_assert_int_eq(got.count, 0);
    szgi_groups_free(&got);
    szg_table_close(&table);
}
END_TEST

START_TEST(cells_are_read_by_name) {
    szg_table *table = make_table(50);
    static const int64_t row[] = {49, 3, 3};
    rows some = {table, row, 3};
    double *got;
    ck_szg_ok(szgi_rows_reals(test_context(), some, "head", &got));
    for (int64_t i = 0; i < 3; i++) {
        double want = szg_table_get_real(table, row[i], 1);
        ck_assert(isnan(want) ? isnan(got[i]) : got[i] == want);
        ck_assert_ptr_eq(szgi_rows_text(some, i, "source"), szg_table_get_text(table, row[i], 0));
        want = szgi_rows_real(some, i, "value");
        ck_assert(isnan(want) || want == szg_table_get_real(table, row[i], 2));
        ck_assert(isnan(szgi_rows_real(some, i, "source")) &&
                  isnan(szgi_rows_real(some, i, "missing")));
        ck_assert_ptr_null(szgi_rows_text(some, i, "head"));
        ck_assert_ptr_null(szgi_rows_text(some, i, "missing"));
    }
    szgi_memory_free(got);
    ck_szg_ok(szgi_rows_reals(test_context(), (rows){.table = table}, "missing", &got));
    ck_assert(isnan(got[0]) && isnan(got[49]));
    szgi_memory_free(got);
    ck_szg_ok(szgi_rows_reals(test_context(), (rows){0}, "x", &got));
    szgi_memory_free(got);
    szg_table_close(&table);
}
END_TEST

/* As many groups as rows, or one: both in linear time, hence within the suite's time. */
START_TEST(many_rows_are_split_at_once) {
    enum { ROWS = 200000 };
    static const szg_column wide[] = {
        {"one", SZG_TEXT, ""}, {"each", SZG_INTEGER, ""}, {"fraction", SZG_REAL, ""}};
    static const char *const by[][3] = {{"one", NULL}, {"each", NULL}, {"fraction", "one", NULL}};
    szg_table *table;
    groups got;
    ck_szg_ok(szg_table_open(test_context(), "t", wide, 3, &table));
    ck_szg_ok(szgi_table_reserve(test_context(), table, ROWS));
    for (int64_t i = 0; i < ROWS; i++) {
        ck_szg_ok(szg_table_add_row(test_context(), table));
        ck_szg_ok(szgi_table_put_text(test_context(), table, 0, "x"));
        ck_szg_ok(szgi_table_put_integer(test_context(), table, 1, i << 20));
        ck_szg_ok(szgi_table_put_real(test_context(), table, 2, (double)i));
    }
    for (int k = 0; k < 3; k++) {
        ck_szg_ok(szgi_groups_split(test_context(), (rows){.table = table}, by[k], &got));
        ck_assert_int_eq(got.count, k == 0 ? 1 : ROWS);
        ck_assert_int_eq(got.group[got.count - 1].row[got.group[got.count - 1].count - 1],
                         ROWS - 1);
        szgi_groups_free(&got);
    }
    szg_table_close(&table);
}
END_TEST

START_TEST(groups_survive_failed_allocations) {
    static const char *const by[] = {"source", "head", NULL};
    szg_table *table = make_table(40);
    groups got;
    double *reals;
    rows all = {.table = table};
    ck_survives_failed_allocations(6, szgi_groups_split(test_context(), all, by, &got));
    szgi_groups_free(&got);
    ck_survives_failed_allocations(1, szgi_groups_where(test_context(), all, "source", "", &got));
    szgi_groups_free(&got);
    ck_survives_failed_allocations(0, szgi_rows_reals(test_context(), all, "head", &reals));
    szgi_memory_free(reals);
    szg_table_close(&table);
}
END_TEST

TEST_FILE("groups") {
    test_add(suite, "groups_equal_a_comparison_of_all_rows", groups_equal_a_comparison_of_all_rows);
    test_add(suite, "where_keeps_one_text", where_keeps_one_text);
    test_add(suite, "cells_are_read_by_name", cells_are_read_by_name);
    test_add(suite, "many_rows_are_split_at_once", many_rows_are_split_at_once);
    test_add(suite, "groups_survive_failed_allocations", groups_survive_failed_allocations);
}
