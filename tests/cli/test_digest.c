/* The digest of a checkpoint survives memory that is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

TEST_FILE("digest") {
    test_add(suite, "refused_memory", refused_memory);
    test_add(suite, "heads_of_further_reasons_are_counted", heads_of_further_reasons_are_counted);
}
