/* Rows of one table found among those of another: one by one, and all at once by the index. */
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

START_TEST(the_index_finds_what_the_search_finds) {
    int64_t found = 0, missed = 0;
    for (uint32_t step = 0; step < 256; step++) {
        szg_table *left = table_of(2 * step, step % 8, step % 16 == 15);
        szg_table *right = table_of(2 * step + 1, step / 8 % 8, false);
        groups in;
        match_index index;
        ck_szg_ok(szgi_groups_split(test_context(), szgi_match_all(left), columns, &in));
        /* Half of the groups, so that some rows have none. */
        in.count = (in.count + 1) / 2;
        ck_szg_ok(szgi_match_index_open(test_context(), &in, right, columns, &index));
        for (int64_t row = 0; row < ROWS; row++) {
            rows like = {right, &row, 1};
            bool has = szgi_match_find(&in, like, columns) != NULL;
            ck_assert_int_eq(szgi_match_index_has(&index, like), has);
            found += has;
            missed += !has;
        }
        szgi_match_index_close(&index);
        szgi_groups_free(&in);
        szg_table_close(&left);
        szg_table_close(&right);
    }
    ck_assert_int_gt(found, 1000);
    ck_assert_int_gt(missed, 1000);
}
END_TEST

TEST_FILE("match") {
    test_add(suite, "the index finds what the search finds", the_index_finds_what_the_search_finds);
}
