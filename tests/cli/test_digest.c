/* The digest of a checkpoint survives memory that is refused. */
#include <stdlib.h>
#include <string.h>

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

TEST_FILE("digest") {
    test_add(suite, "refused_memory", refused_memory);
}
