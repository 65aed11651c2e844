/* The digest of a checkpoint survives memory that is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/diff.h"
#include "checkpoint/positional_rows.h"

#include "digest.h"
#include "suite.h"

static const szg_checkpoint_options wanted = {SZG_INIT(szg_checkpoint_options), .kernel = 4};

static void analyse(const char *family, szg_checkpoint_tables *out) {
    char path[1024];
    szg_checkpoint *checkpoint;
    snprintf(path, sizeof path, "%s/families/%s", getenv("SZG_TEST_DATA"), family);
    ck_szg_ok(szg_checkpoint_open(test_context(), path, NULL, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &wanted, out));
    szg_checkpoint_close(&checkpoint);
}

static szg_status make(const szg_checkpoint_tables *tables) {
    digest found;
    szg_status status = digest_open(test_context(), tables, "Note: one.\n", &found);
    if (status == SZG_OK) {
        ck_assert_ptr_nonnull(strstr(found.said.text, "In 1 of 8 heads"));
        ck_assert_ptr_nonnull(strstr(found.notes.text, "Note: one.\n"));
        ck_assert_int_eq(szg_table_rows(found.self), 1);
    }
    digest_close(&found);
    return status;
}

START_TEST(refused_memory) {
    szg_checkpoint_tables tables;
    analyse("nomic_bert", &tables);
    ck_survives_failed_allocations(20, make(&tables));
    szg_checkpoint_tables_close(&tables);
}
END_TEST

/* Four reasons are told one by one; of further ones no head is lost. */
START_TEST(heads_of_further_reasons_are_counted) {
    static const char *const why[] = {"one", "two", "three", "four", "five", "two", "six"};
    enum { COUNT = sizeof why / sizeof *why };
    const head_sizes sizes = {NAN, NAN};
    szg_checkpoint_tables tables = {0};
    digest found = {0};
    ck_szg_ok(szgi_positional_rows_open(test_context(), 0, &tables));
    for (int i = 0; i < COUNT; i++) {
        const row_key key = {"model", i, 0, "qk"};
        const head_positional none = {.why = why[i]};
        ck_szg_ok(szgi_positional_rows_add(test_context(), &tables, &key, 0, &sizes, &none));
    }
    ck_szg_ok(szgi_text_open(test_context(), &found.said));
    ck_szg_ok(szgi_text_open(test_context(), &found.notes));
    ck_szg_ok(digest_heads(test_context(), tables.heads, &found));
    ck_szg_ok(szgi_text_end(&found.said, SZG_OK));
    ck_szg_ok(szgi_text_end(&found.notes, SZG_OK));
    ck_assert_str_eq(found.said.text,
                     "1 of 7 heads has no share: one.\n2 of 7 heads have no share: two.\n"
                     "1 of 7 heads has no share: three.\n1 of 7 heads has no share: four.\n"
                     "2 more heads have no share, or one alone: the column `note` of heads.csv (-o "
                     "DIR/) says why.\n");
    ck_assert_str_eq(found.notes.text, "");
    digest_close(&found);
    szg_checkpoint_tables_close(&tables);
}
END_TEST

/* Twelve heads of two steps; of the second step head 4 changed most, and only heads 4 to 6 have a
 * kernel, which changed in 4 and 5. */
static void fill_changes(szgi_diff_tables *out) {
    szg_context *context = test_context();
    ck_szg_ok(szgi_diff_open(context, false, out));
    for (int64_t i = 0; i < 24; i++) {
        szg_table *const both[] = {out->diff, out->diff_heads};
        int64_t head = i % 12;
        for (int t = 0; t < 2; t++) {
            const char *source = i < 12 ? "checkpoint-1" : "checkpoint-2";
            ck_szg_ok(szg_table_add_row(context, both[t]));
            ck_szg_ok(
                szgi_table_put_text(context, both[t], szg_table_find(both[t], "source"), source));
            ck_szg_ok(szgi_table_put_integer(context, both[t], szg_table_find(both[t], "step"),
                                             i < 12 ? 1 : 2));
            ck_szg_ok(
                szgi_table_put_integer(context, both[t], szg_table_find(both[t], "layer"), 3));
            ck_szg_ok(
                szgi_table_put_integer(context, both[t], szg_table_find(both[t], "head"), head));
        }
        ck_szg_ok(szgi_table_put_real(context, out->diff, szg_table_find(out->diff, "change"),
                                      i == 16 ? 0.75 : 0.25));
        if (head < 4 || head > 6)
            continue;
        ck_szg_ok(szgi_table_put_real(context, out->diff_heads,
                                      szg_table_find(out->diff_heads, "self_change"),
                                      head == 6 ? 0
                                      : i == 5  ? 2
                                                : 1));
        ck_szg_ok(szgi_table_put_integer(context, out->diff_heads,
                                         szg_table_find(out->diff_heads, "self_change_lag"), -7));
        ck_szg_ok(szgi_table_put_real(context, out->diff_heads,
                                      szg_table_find(out->diff_heads, "base_self_share"), 0.5));
        ck_szg_ok(szgi_table_put_real(context, out->diff_heads,
                                      szg_table_find(out->diff_heads, "self_share"), 0.125));
    }
}

static szg_status make_changes(const szgi_diff_tables *tables) {
    szgi_text said;
    szg_table *diff = NULL, *heads = NULL;
    szg_status status = digest_changes(test_context(), tables->diff, tables->diff_heads, &said);
    if (status == SZG_OK)
        ck_assert_str_eq(
            said.text,
            "W_Q^T W_K changed most in layer 3 head 4 at step 2: by 0.75 of its Frobenius norm.\n"
            "The self kernel changed most in layer 3 head 5 at step 1: by 2 at lag -7, and its "
            "share "
            "went from 0.5 to 0.125.\n"
            "18 of 24 rows of diff_heads have no kernel: -o DIR/ writes the reasons.\n");
    if (status == SZG_OK)
        status = digest_most_changed(test_context(), tables->diff, &diff);
    if (status == SZG_OK)
        status = digest_most_changed(test_context(), tables->diff_heads, &heads);
    if (status == SZG_OK) {
        ck_assert_int_eq(szg_table_rows(diff), 20);
        ck_assert_int_eq(szg_table_get_integer(diff, 10, szg_table_find(diff, "step")), 2);
        ck_assert_int_eq(szg_table_rows(heads), 4);
    }
    szgi_text_close(&said);
    szg_table_close(&diff);
    szg_table_close(&heads);
    return status;
}

START_TEST(heads_that_changed_most) {
    szgi_diff_tables tables;
    fill_changes(&tables);
    ck_survives_failed_allocations(10, make_changes(&tables));
    szgi_diff_close(&tables);
}
END_TEST

TEST_FILE("digest") {
    test_add(suite, "heads_that_changed_most", heads_that_changed_most);
    test_add(suite, "refused_memory", refused_memory);
    test_add(suite, "heads_of_further_reasons_are_counted", heads_of_further_reasons_are_counted);
}
