/* Rows of one table found among those of another. */
#include "match.h"

#include <math.h>

#include "suite.h"

enum { ROWS = 60, KINDS = 4 };

static const char *const columns[] = {"source", "layer", "n", NULL};

/* A table that has the columns of which the bit is set, `layer` as text where `odd`. */
static szg_table *table_of(uint32_t step, uint32_t which, bool odd) {
    const szg_column all[] = {{"source", SZG_TEXT, "doc"},
                              {"layer", odd ? SZG_TEXT : SZG_INTEGER, "doc"},
                              {"n", SZG_REAL, "doc"},
                              {"value", SZG_REAL, "doc"}};
    static const char *const texts[] = {"", "a", "b"};
    static const double reals[] = {NAN, 0, -0.0, 3};
    szgi_stream stream = {.seed = test_seed(), .step = step, .purpose = 31};
    szg_column some[KINDS];
    int64_t count = 0;
    uint64_t drawn = 0;
    szg_table *table;
    for (int i = 0; i < KINDS; i++)
        if (i == 3 || which >> i & 1)
            some[count++] = all[i];
    ck_szg_ok(szg_table_open(test_context(), "table", some, count, &table));
    for (int64_t row = 0; row < ROWS; row++) {
        ck_szg_ok(szg_table_add_row(test_context(), table));
        for (int64_t c = 0; c < count; c++) {
            uint64_t k = szgi_random_below(&stream, drawn++, 4);
            if (k == 3 && some[c].type != SZG_REAL)
                continue; /* empty */
            if (some[c].type == SZG_TEXT)
                ck_szg_ok(szg_table_set_text(test_context(), table, some[c].name, texts[k]));
            else if (some[c].type == SZG_INTEGER)
                ck_szg_ok(szg_table_set_integer(test_context(), table, some[c].name, (int64_t)k));
            else
                ck_szg_ok(szg_table_set_real(test_context(), table, some[c].name, reals[k]));
        }
    }
    return table;
}

/* By the text of a cell as CSV has it: "" where it is empty or not a number. */
static const char *cell_text(rows of, const char *column, char out[32]) {
    int64_t at = szg_table_find(of.table, column), row = szgi_rows_at(of, 0);
    *out = 0;
    if (szg_table_is_empty(of.table, row, at))
        return out;
    if (szg_table_column(of.table, at)->type == SZG_TEXT)
        snprintf(out, 32, "'%s'", szg_table_get_text(of.table, row, at));
    else if (!isnan(szgi_rows_real(of, 0, column)))
        snprintf(out, 32, "%g", szgi_rows_real(of, 0, column) + 0.0); /* -0 as 0 */
    return out;
}

static bool agree(rows a, rows b) {
    for (int c = 0; columns[c]; c++) {
        char left[32], right[32];
        int64_t i = szg_table_find(a.table, columns[c]), k = szg_table_find(b.table, columns[c]);
        if (i < 0 || k < 0)
            continue;
        if ((szg_table_column(a.table, i)->type == SZG_TEXT) !=
                (szg_table_column(b.table, k)->type == SZG_TEXT) ||
            strcmp(cell_text(a, columns[c], left), cell_text(b, columns[c], right)) != 0)
            return false;
    }
    return true;
}

START_TEST(the_first_group_that_agrees_is_found) {
    int64_t found = 0, missed = 0;
    for (uint32_t step = 0; step < 256; step++) {
        szg_table *left = table_of(2 * step, step % 8, step % 16 == 15);
        szg_table *right = table_of(2 * step + 1, step / 8 % 8, false);
        groups in;
        ck_szg_ok(szgi_groups_split(test_context(), szgi_match_all(left), columns, &in));
        /* Half of the groups, so that some rows have none. */
        in.count = (in.count + 1) / 2;
        for (int64_t row = 0; row < ROWS; row++) {
            rows like = {right, &row, 1};
            const rows *first = NULL;
            for (int64_t i = 0; i < in.count && !first; i++)
                first = agree(in.group[i], like) ? &in.group[i] : NULL;
            ck_assert_ptr_eq(szgi_match_find(&in, like, columns), first);
            found += first != NULL;
            missed += first == NULL;
        }
        szgi_groups_free(&in);
        szg_table_close(&left);
        szg_table_close(&right);
    }
    ck_assert_int_gt(found, 1000);
    ck_assert_int_gt(missed, 1000);
}
END_TEST

TEST_FILE("match") {
    test_add(suite, "the first group that agrees is found", the_first_group_that_agrees_is_found);
}
