/* Memory and the tables in it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/row.h"
#include "base/table.h"

#include "suite.h"

START_TEST(memory_checks_sizes) {
    szg_context *context = test_context();
    char *block;
    ck_szg_fails(SZG_EINVAL, "negative", szgi_memory_take(context, -1, 8, &block));
    ck_assert_ptr_null(block);
    ck_szg_fails(SZG_ENOMEM, "refused", szgi_memory_take(context, INT64_MAX, 8, &block));
    ck_szg_fails(SZG_ENOMEM, "refused", szgi_memory_take(context, INT64_MAX / 8, 8, &block));
    ck_szg_ok(szgi_memory_take(context, 0, 8, &block));
    ck_assert_ptr_nonnull(block);
    szgi_memory_free(block);
    ck_szg_ok(szgi_memory_alloc(context, 3, &block));
    ck_assert_uint_eq((uintptr_t)block % 64, 0);
    memcpy(block, "abc", 3);
    ck_szg_ok(szgi_memory_grow(context, &block, 3, 100));
    ck_assert_int_eq(memcmp(block, "abc\0\0", 5), 0);
    szgi_memory_fail_after(context, 1);
    ck_szg_fails(SZG_ENOMEM, "refused", szgi_memory_grow(context, &block, 100, 200));
    ck_assert_int_eq(memcmp(block, "abc", 3), 0);
    szgi_memory_free(block);
}
END_TEST

/* An array grows in steps of its own, keeps what it has and stays as it was where it cannot. */
START_TEST(arrays_have_room) {
    szg_context *context = test_context();
    int64_t *block = NULL, room = 0, copies = 0;
    ck_szg_ok(szgi_memory_reserve(context, &block, &room, 0, 0));
    ck_assert_ptr_null(block);
    for (int64_t count = 0; count < 1000; count++) {
        const int64_t *before = block;
        ck_szg_ok(szgi_memory_reserve(context, &block, &room, count, 1));
        ck_assert_int_gt(room, count);
        ck_assert_int_eq(block[count], 0); /* new elements are zero */
        copies += block != before;
        block[count] = count + 1;
    }
    for (int64_t i = 0; i < 1000; i++)
        ck_assert_int_eq(block[i], i + 1);
    ck_assert_int_le(copies, 10); /* 2^10 > 1000 */
    ck_assert_int_lt(room, 2000);
    int64_t had = room, *was = block;
    szgi_memory_fail_after(context, 1);
    ck_szg_fails(SZG_ENOMEM, "refused", szgi_memory_reserve(context, &block, &room, had, 1));
    ck_szg_fails(SZG_ENOMEM, "overflow", szgi_memory_reserve(context, &block, &room, INT64_MAX, 1));
    ck_szg_fails(SZG_ENOMEM, "overflow",
                 szgi_memory_reserve(context, &block, &room, 1, INT64_MAX - 1));
    ck_szg_fails(SZG_ENOMEM, "refused",
                 szgi_memory_reserve(context, &block, &room, 1, INT64_MAX / 4));
    ck_assert(block == was && room == had && block[999] == 1000);
    ck_szg_ok(szgi_memory_reserve(context, &block, &room, 1000, 5000)); /* many at once */
    ck_assert_int_ge(room, 6000);
    ck_assert_int_eq(block[999], 1000);
    szgi_memory_free(block);
}
END_TEST

START_TEST(memory_products_and_limits) {
    szg_context *context = test_context();
    int64_t product;
    ck_szg_ok(szgi_memory_product(context, 1 << 20, 1 << 20, &product));
    ck_assert_int_eq(product, 1ll << 40);
    ck_szg_fails(SZG_ENOMEM, "overflow",
                 szgi_memory_product(context, 1ll << 40, 1 << 30, &product));
    ck_szg_fails(SZG_EINVAL, "negative", szgi_memory_product(context, -1, 2, &product));
    ck_szg_ok(szgi_memory_require(context, 1000, 1000, 8, "a dense matrix", "use less"));
    ck_szg_fails(
        SZG_ENOMEM, "use --range",
        szgi_memory_require(context, 1 << 30, 1 << 30, 8, "a dense matrix", "use --range"));
    ck_assert(strstr(szg_context_message(context), "8.0 EiB"));
    int64_t have = szgi_memory_available();
    ck_assert_int_gt(have, 0);
    char *block; /* Linux would grant it, and kill the process that fills it */
    ck_szg_fails(SZG_ENOMEM, "are available: ask for less",
                 szgi_memory_take(context, have / 8 + (1 << 28), 9, &block));
    ck_assert_ptr_null(block);
}
END_TEST

static const szg_column columns[] = {{"name", SZG_TEXT, "who"},
                                     {"index", SZG_INTEGER, "which"},
                                     {"value", SZG_REAL, "how much"},
                                     {"note", SZG_TEXT, "why"}};

static szg_status fill_table(szg_context *context, szg_table *table, int64_t rows) {
    char name[32];
    for (int64_t i = 0; i < rows; i++) {
        SZG_TRY(szg_table_add_row(context, table));
        snprintf(name, sizeof name, "row %d", (int)(i % 200));
        SZG_TRY(szg_table_set_text(context, table, "name", name));
        SZG_TRY(szg_table_set_integer(context, table, "index", i));
        if (i % 2)
            SZG_TRY(szg_table_set_real(context, table, "value", (double)i / 3));
    }
    return SZG_OK;
}

START_TEST(table_keeps_cells) {
    szg_context *context = test_context();
    szg_table *table, *copy;
    ck_szg_ok(szg_table_open(context, "t", columns, 4, &table));
    ck_szg_fails(SZG_EINVAL, "no row", szg_table_set_integer(context, table, "index", 1));
    ck_szg_ok(fill_table(context, table, 1000));
    ck_szg_ok(szg_table_open(context, "copy", columns, 4, &copy));
    ck_szg_ok(szgi_table_append(context, copy, table));
    szg_table_close(&table);
    ck_assert_int_eq(szg_table_rows(copy), 1000);
    for (int64_t i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "row %d", (int)(i % 200));
        ck_assert_str_eq(szg_table_get_text(copy, i, 0), name);
        ck_assert_int_eq(szg_table_get_integer(copy, i, 1), i);
        ck_assert(szg_table_get_real(copy, i, 1) == (double)i);
        ck_assert_int_eq(szg_table_is_empty(copy, i, 2), i % 2 == 0);
        double value = szg_table_get_real(copy, i, 2);
        ck_assert(i % 2 ? value == (double)i / 3 : isnan(value));
        ck_assert_ptr_null(szg_table_get_text(copy, i, 3));
    }
    szg_table_close(&copy);
    szg_table_close(&copy);
}
END_TEST

/* Whole columns are what the cells are, one by one; equal texts have one address. */
START_TEST(columns_are_read_whole) {
    enum { ROWS = 1000 };
    szg_context *context = test_context();
    szg_table *table;
    ck_szg_ok(szg_table_open(context, "t", columns, 4, &table));
    szg_table_get_reals(table, 2, NULL, NULL); /* no rows: nothing is written */
    ck_szg_ok(fill_table(context, table, ROWS));
    static const char *texts[ROWS];
    static int64_t integers[ROWS];
    static double reals[ROWS], indices[ROWS];
    static bool empty[4][ROWS];
    memset(empty, 2, sizeof empty);
    szg_table_get_texts(table, 0, texts, empty[0]);
    szg_table_get_integers(table, 1, integers, empty[1]);
    szg_table_get_reals(table, 2, reals, empty[2]);
    szg_table_get_reals(table, 1, indices, NULL);
    for (int64_t i = 0; i < ROWS; i++) {
        ck_assert_ptr_eq(texts[i], szg_table_get_text(table, i, 0));
        ck_assert_ptr_eq(texts[i], texts[i % 200]);
        ck_assert(integers[i] == i && indices[i] == (double)i);
        ck_assert(i % 2 ? reals[i] == (double)i / 3 : isnan(reals[i]));
        ck_assert(!empty[0][i] && !empty[1][i] && empty[2][i] == (i % 2 == 0));
    }
    szg_table_get_texts(table, 3, texts, empty[3]);
    szg_table_get_integers(table, 2, integers,
                           NULL); /* of another type: as the getters of a cell */
    for (int64_t i = 0; i < ROWS; i++)
        ck_assert(!texts[i] && empty[3][i] && integers[i] == 0);
    szg_table_close(&table);
}
END_TEST

/* By index or by name, with room made before or not: the same table. */
START_TEST(table_takes_cells_by_index) {
    szg_context *context = test_context();
    szg_table *table;
    ck_szg_ok(szg_table_open(context, "t", columns, 4, &table));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_ok(szgi_table_put_integer(context, table, 1, 5));
    ck_szg_ok(szgi_table_reserve(context, table, 100));
    ck_szg_ok(szgi_table_reserve(context, table, 3));
    ck_assert_int_eq(szg_table_rows(table), 1);
    ck_assert_int_eq(szg_table_get_integer(table, 0, 1), 5);
    for (int64_t i = 1; i < 300; i++) {
        ck_szg_ok(szg_table_add_row(context, table));
        for (int64_t k = 0; k < 4; k++)
            ck_assert(szg_table_is_empty(table, i, k));
        ck_szg_ok(szgi_table_put_real(context, table, 2, (double)i / 7));
        ck_szg_ok(szgi_table_put_text(context, table, 3, i % 3 ? "x" : NULL));
        ck_assert(szg_table_get_real(table, i, 2) == (double)i / 7);
        ck_assert_int_eq(szg_table_is_empty(table, i, 3), i % 3 == 0);
    }
    ck_assert_int_eq(szg_table_get_integer(table, 0, 1), 5);
    ck_szg_ok(szgi_table_replace_integer(context, table, 0, 1, 6));
    ck_szg_ok(szgi_table_replace_text(context, table, 2, 3, "y"));
    ck_szg_ok(szgi_table_replace_text(context, table, 4, 3, NULL));
    ck_assert_int_eq(szg_table_get_integer(table, 0, 1), 6);
    ck_assert_str_eq(szg_table_get_text(table, 2, 3), "y");
    ck_assert_str_eq(szg_table_get_text(table, 1, 3), "x");
    ck_assert(szg_table_is_empty(table, 4, 3) && !szg_table_is_empty(table, 5, 3));
    szg_table_close(&table);
}
END_TEST

START_TEST(table_refuses_mistakes) {
    szg_context *context = test_context();
    szg_table *table;
    const szg_column twice[] = {{"a", SZG_TEXT, ""}, {"a", SZG_REAL, ""}};
    ck_szg_fails(SZG_EINVAL, "twice", szg_table_open(context, "t", twice, 2, &table));
    ck_szg_fails(SZG_EINVAL, "no columns", szg_table_open(context, "t", twice, 0, &table));
    ck_szg_ok(szg_table_open(context, "t", columns, 4, &table));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_fails(SZG_EINVAL, "no column x", szg_table_set_real(context, table, "x", 1));
    ck_szg_fails(SZG_EINVAL, "another type", szg_table_set_real(context, table, "index", 1));
    ck_szg_fails(SZG_EINVAL, "no column 4", szgi_table_put_real(context, table, 4, 1));
    ck_szg_fails(SZG_EINVAL, "no column -1", szgi_table_put_text(context, table, -1, "x"));
    ck_szg_fails(SZG_EINVAL, "another type", szgi_table_put_integer(context, table, 2, 1));
    ck_szg_fails(SZG_EINVAL, "no row 1", szgi_table_replace_text(context, table, 1, 3, "x"));
    ck_szg_fails(SZG_EINVAL, "no row -1", szgi_table_replace_integer(context, table, -1, 1, 1));
    ck_szg_fails(SZG_EINVAL, "", szgi_table_reserve(context, table, -1));
    ck_szg_fails(SZG_ENOMEM, "", szgi_table_reserve(context, table, INT64_MAX / 4));
    ck_szg_ok(szg_table_note(context, table, "first %d", 1));
    ck_szg_ok(szg_table_note(context, table, "second"));
    ck_assert_str_eq(szg_table_get_text(table, 0, 3), "first 1; second");
    szg_table *other;
    ck_szg_ok(szg_table_open(context, "o", columns, 3, &other));
    ck_szg_fails(SZG_EINVAL, "differ", szgi_table_append(context, table, other));
    szg_table_close(&other);
    szg_table_close(&table);
}
END_TEST

#define KEPT(X)                                                                                    \
    X(KEPT_NAME, "name", SZG_TEXT, "", "name", "who")                                              \
    X(KEPT_PLACE, "place", SZG_INTEGER, "1", "place", "where")                                     \
    X(KEPT_VALUE, "value", SZG_REAL, "nats", "value", "how much", SZGI_END_UPPER)                  \
    X(KEPT_NOTE, "note", SZG_TEXT, "", "note", "")
#define KEPT_SCREEN SZGI_SHOW(1, place) SZGI_SHOW_RANGE(2, both, place, value)
SZGI_SCHEMA(kept_columns, "t", KEPT, KEPT_SCREEN);

/* A schema is found where it is linked, and its tables have its columns and ends. */
START_TEST(schemas_describe_tables) {
    int64_t count;
    szg_table *table;
    const szgi_schema *const *schemas = szgi_schemas(&count);
    ck_assert_int_eq(count, 1);
    ck_szg_ok(szgi_schema_open(test_context(), schemas[0], &table));
    ck_assert_str_eq(szg_table_name(table), "t");
    ck_assert_int_eq(szg_table_columns(table), 4);
    ck_assert_str_eq(szg_table_column(table, KEPT_VALUE)->name, "value");
    ck_assert_str_eq(szg_table_column(table, KEPT_VALUE)->doc, "how much");
    ck_assert_int_eq(szgi_table_end(table, KEPT_VALUE), SZGI_END_UPPER);
    ck_assert_int_eq(szgi_table_end(table, KEPT_PLACE), SZGI_END_NONE);
    ck_assert_int_eq(schemas[0]->cells, 2);
    ck_assert_str_eq(schemas[0]->cell[1].upper, "value");
    ck_assert_str_eq(schemas[0]->column[KEPT_VALUE].unit, "nats");
    szg_table_close(&table);
    ck_survives_failed_allocations(1, szgi_schema_open(test_context(), schemas[0], &table));
    szg_table_close(&table);
}
END_TEST

/* Of two schemas with a table's name the one counts that has more of its columns. */
START_TEST(schemas_are_told_apart_by_their_columns) {
    const szgi_column one[] = {{.name = "name"}}, other[] = {{.name = "place"}, {.name = "x"}};
    const szgi_schema few = {.table = "t", .column = one, .columns = 1},
                      none = {.table = "t", .column = other + 1, .columns = 1},
                      named = {.table = "u", .column = kept_columns, .columns = 4};
    const szgi_schema *const list[] = {&named, &none, &few, &kept_columns_schema};
    szg_table *table;
    ck_szg_ok(szgi_schema_open(test_context(), &kept_columns_schema, &table));
    ck_assert_ptr_eq(szgi_schema_of(table, list, 4), &kept_columns_schema);
    ck_assert_ptr_eq(szgi_schema_of(table, list, 3), &few);
    ck_assert_ptr_null(szgi_schema_of(table, list, 2));
    ck_assert_ptr_null(szgi_schema_of(table, NULL, 0));
    szg_table_close(&table);
}
END_TEST

/* Cells that a value leaves empty, and such that it fills; an earlier value goes only with NULL. */
START_TEST(rows_fill_what_has_a_value) {
    szg_context *context = test_context();
    szg_table *table;
    static const int64_t places[] = {-1, INT64_MIN, 0, 5, INT64_MAX};
    static const double numbers[] = {NAN, -INFINITY, INFINITY, -0.5, 0};
    ck_szg_ok(szgi_schema_open(context, &kept_columns_schema, &table));
    for (int i = 0; i < 5; i++) {
        szgi_row row = szgi_row_add(context, table);
        szgi_row_text(&row, KEPT_NAME, i % 2 ? "odd" : NULL);
        szgi_row_place(&row, KEPT_PLACE, places[i]);
        szgi_row_number(&row, KEPT_VALUE, numbers[i]);
        ck_szg_ok(row.status);
        ck_assert_int_eq(szg_table_rows(table), i + 1);
        ck_assert_pstr_eq(szg_table_get_text(table, i, KEPT_NAME), i % 2 ? "odd" : NULL);
        ck_assert_int_eq(szg_table_is_empty(table, i, KEPT_PLACE), i < 2);
        ck_assert_int_eq(szg_table_is_empty(table, i, KEPT_VALUE), i < 1);
        ck_assert(i < 2 || szg_table_get_integer(table, i, KEPT_PLACE) == places[i]);
        ck_assert(i < 1 || szg_table_get_real(table, i, KEPT_VALUE) == numbers[i]);
        ck_assert(szg_table_is_empty(table, i, KEPT_NOTE));
    }
    szgi_row row = szgi_row_latest(context, table);
    szgi_row_integer(&row, KEPT_PLACE, -3); /* no place: any number */
    szgi_row_real(&row, KEPT_VALUE, NAN);
    szgi_row_text(&row, KEPT_NAME, "even");
    szgi_row_text(&row, KEPT_NAME, NULL);
    ck_szg_ok(row.status);
    ck_assert_int_eq(szg_table_rows(table), 5);
    ck_assert_int_eq(szg_table_get_integer(table, 4, KEPT_PLACE), -3);
    ck_assert(!szg_table_is_empty(table, 4, KEPT_VALUE));
    ck_assert(isnan(szg_table_get_real(table, 4, KEPT_VALUE)));
    ck_assert(szg_table_is_empty(table, 4, KEPT_NAME));
    ck_assert_int_eq(szg_table_get_integer(table, 3, KEPT_PLACE), 5); /* the row before it stays */
    szg_table_close(&table);
}
END_TEST

/* A row for which there was no memory: the cells of the one before it are not written to. */
START_TEST(rows_that_were_not_added_write_nothing) {
    szg_context *context = test_context();
    szg_table *table;
    int64_t rows = 0;
    szgi_row row = {0};
    ck_szg_ok(szgi_schema_open(context, &kept_columns_schema, &table));
    do { /* the table has room for some rows before it must grow */
        szgi_memory_fail_after(context, rows ? 1 : 0);
        row = szgi_row_add(context, table);
        szgi_row_integer(&row, KEPT_PLACE, rows);
        szgi_row_real(&row, KEPT_VALUE, 0.5);
    } while (row.status == SZG_OK && ++rows < 1000);
    szgi_memory_fail_after(context, 0);
    ck_assert_int_eq(row.status, SZG_ENOMEM);
    ck_assert_int_ge(rows, 1);
    ck_assert_int_eq(szg_table_rows(table), rows);
    ck_assert_int_eq(szg_table_get_integer(table, rows - 1, KEPT_PLACE), rows - 1);
    szg_table_close(&table);
}
END_TEST

START_TEST(rows_keep_their_first_failure) {
    szg_context *context = test_context();
    szg_table *table;
    ck_szg_ok(szgi_schema_open(context, &kept_columns_schema, &table));
    ck_assert_int_eq(kept_columns_count, 4);
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, KEPT_NAME, "a");
    szgi_row_place(&row, KEPT_PLACE, -1);
    szgi_row_number(&row, KEPT_VALUE, NAN);
    szgi_row_note(&row, "first %d", 1);
    ck_szg_ok(row.status);
    ck_assert(szg_table_is_empty(table, 0, KEPT_PLACE) && szg_table_is_empty(table, 0, KEPT_VALUE));
    szgi_row_real(&row, KEPT_NAME, 1);     /* another type */
    szgi_row_integer(&row, KEPT_PLACE, 7); /* does nothing after it */
    szgi_row_place(&row, KEPT_PLACE, 7);
    szgi_row_real(&row, KEPT_VALUE, 7);
    szgi_row_number(&row, KEPT_VALUE, 7);
    szgi_row_text(&row, KEPT_NAME, "b");
    szgi_row_note(&row, "second");
    szgi_row_text(&row, 9, "x"); /* nor does a second mistake replace its message */
    ck_szg_fails(SZG_EINVAL, "column name has another type", row.status);
    ck_assert(szg_table_is_empty(table, 0, KEPT_PLACE) && szg_table_is_empty(table, 0, KEPT_VALUE));
    ck_assert_str_eq(szg_table_get_text(table, 0, KEPT_NAME), "a");
    ck_assert_str_eq(szg_table_get_text(table, 0, KEPT_NOTE), "first 1");
    row = szgi_row_latest(context, table);
    szgi_row_place(&row, KEPT_PLACE, 0);
    szgi_row_number(&row, KEPT_VALUE, INFINITY);
    szgi_row_note(&row, "second");
    ck_szg_ok(row.status);
    ck_assert_int_eq(szg_table_rows(table), 1);
    ck_assert(!szg_table_is_empty(table, 0, KEPT_PLACE));
    ck_assert(isinf(szg_table_get_real(table, 0, KEPT_VALUE)));
    ck_assert_str_eq(szg_table_get_text(table, 0, KEPT_NOTE), "first 1; second");
    szg_table_close(&table);
}
END_TEST

/* Every allocation fails in turn; nothing leaks (LeakSanitizer watches) and nothing is lost. */
START_TEST(table_survives_failed_allocations) {
    szg_context *context = test_context();
    szg_status status = SZG_ENOMEM;
    for (int64_t at = 1; status != SZG_OK; at++) {
        szg_table *table = NULL;
        szgi_memory_fail_after(context, at);
        status = szg_table_open(context, "t", columns, 4, &table);
        if (status == SZG_OK)
            status = fill_table(context, table, 100);
        szg_table_close(&table);
        ck_assert(status == SZG_OK || status == SZG_ENOMEM);
        ck_assert_int_lt(at, 1000);
    }
    szgi_memory_fail_after(context, 0);
}
END_TEST

TEST_FILE("table") {
    test_add(suite, "arrays_have_room", arrays_have_room);
    test_add(suite, "memory_checks_sizes", memory_checks_sizes);
    test_add(suite, "memory_products_and_limits", memory_products_and_limits);
    test_add(suite, "table_keeps_cells", table_keeps_cells);
    test_add(suite, "columns_are_read_whole", columns_are_read_whole);
    test_add(suite, "table_takes_cells_by_index", table_takes_cells_by_index);
    test_add(suite, "table_refuses_mistakes", table_refuses_mistakes);
    test_add(suite, "schemas_describe_tables", schemas_describe_tables);
    test_add(suite, "schemas_are_told_apart_by_their_columns",
             schemas_are_told_apart_by_their_columns);
    test_add(suite, "rows_fill_what_has_a_value", rows_fill_what_has_a_value);
    test_add(suite, "rows_that_were_not_added_write_nothing",
             rows_that_were_not_added_write_nothing);
    test_add(suite, "rows_keep_their_first_failure", rows_keep_their_first_failure);
    test_add(suite, "table_survives_failed_allocations", table_survives_failed_allocations);
}
