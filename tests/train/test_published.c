/* The paper's settings: the reader against the file's own lines, and against the paper. */
#include <stdlib.h>
#include <string.h>
#include "train/reproduce/published.h"

#include "suite.h"

/* The text behind "KEY": on the line, without quotes; false where the line has none. */
static bool field(const char *line, const char *key, char out[64]) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(line, quoted);
    return at && sscanf(at + strlen(quoted), "%*[\"]%63[^\"]", out) == 1;
}

START_TEST(every_line_of_the_file_is_read) {
    FILE *file = fopen(getenv("SZG_PUBLISHED"), "r");
    char line[256], place[64], key[64], task[64], value[64];
    int64_t settings = 0;
    szgi_published *paper;
    ck_assert_ptr_nonnull(file);
    ck_szg_ok(szgi_published_open(test_context(), &paper));
    while (fgets(line, sizeof line, file)) {
        bool of_task = field(line, "task", task);
        if (field(line, "value", value)) {
            ck_assert(field(line, "place", place) && field(line, "key", key));
            ck_assert_str_eq(szgi_published_setting(paper, place, key, of_task ? task : NULL),
                             value);
            ck_assert_ptr_null(szgi_published_setting(paper, place, key, of_task ? NULL : "count"));
            settings++;
        }
    }
    fclose(file);
    ck_assert_int_eq(settings, 39);
    ck_assert_ptr_null(szgi_published_setting(paper, "Table 3", "model.latent_kv", NULL));
    ck_assert_ptr_null(szgi_published_setting(paper, "Table 5", "model.layers", NULL));
    szgi_published_close(&paper);
    ck_assert_ptr_null(paper);
    szgi_published_close(&paper);
    szgi_published_close(NULL);
}
END_TEST

static szg_status open_and_close(void) {
    szgi_published *paper;
    szg_status status = szgi_published_open(test_context(), &paper);
    ck_assert((status == SZG_OK) == (paper != NULL));
    szgi_published_close(&paper);
    return status;
}

START_TEST(failed_allocations_are_survived) {
    ck_survives_failed_allocations(1, open_and_close());
}
END_TEST

TEST_FILE("published") {
    test_add(suite, "every_line_of_the_file_is_read", every_line_of_the_file_is_read);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
