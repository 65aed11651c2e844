/* The paper's numbers: the reader against the file's own lines, and against the paper. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "train/reproduce/published.h"

#include "suite.h"

/* Table 1 of arXiv 2505.13027v1, typed in once more. */
static const struct {
    const char *encoding;
    double distance, count;
} table1[] = {{"mla", 88.34, 97.41}, {"rope", 92.64, 69.43}, {"nope", 3.51, 77.69}};

START_TEST(accuracies_are_table_1) {
    szgi_published *paper;
    ck_szg_ok(szgi_published_open(test_context(), &paper));
    for (size_t i = 0; i < sizeof table1 / sizeof *table1; i++) {
        const char *encoding = table1[i].encoding;
        ck_assert(szgi_published_accuracy(paper, encoding, "distance") == table1[i].distance);
        ck_assert(szgi_published_accuracy(paper, encoding, "count") == table1[i].count);
    }
    ck_assert(isnan(szgi_published_accuracy(paper, "alibi", "count")));
    ck_assert(isnan(szgi_published_accuracy(paper, "rope:base=1", "count")));
    ck_assert(isnan(szgi_published_accuracy(paper, "rope", "lengths")));
    ck_assert(isnan(szgi_published_accuracy(paper, NULL, NULL)));
    ck_assert_str_eq(szgi_published_source(paper), "arXiv 2505.13027v1 (May 2025)");
    szgi_published_close(&paper);
    ck_assert_ptr_null(paper);
    szgi_published_close(&paper);
    szgi_published_close(NULL);
}
END_TEST

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
    int64_t accuracies = 0, settings = 0;
    szgi_published *paper;
    ck_assert_ptr_nonnull(file);
    ck_szg_ok(szgi_published_open(test_context(), &paper));
    while (fgets(line, sizeof line, file)) {
        const char *percent = strstr(line, "\"percent\": ");
        bool of_task = field(line, "task", task);
        if (percent) {
            ck_assert(field(line, "encoding", key) && of_task);
            ck_assert(szgi_published_accuracy(paper, key, task) == strtod(percent + 11, NULL));
            accuracies++;
        } else if (field(line, "value", value)) {
            ck_assert(field(line, "place", place) && field(line, "key", key));
            ck_assert_str_eq(szgi_published_setting(paper, place, key, of_task ? task : NULL),
                             value);
            ck_assert_ptr_null(szgi_published_setting(paper, place, key, of_task ? NULL : "count"));
            settings++;
        }
    }
    fclose(file);
    ck_assert_int_eq(accuracies, 6);
    ck_assert_int_eq(settings, 39);
    ck_assert_ptr_null(szgi_published_setting(paper, "Table 3", "model.latent_kv", NULL));
    ck_assert_ptr_null(szgi_published_setting(paper, "Table 5", "model.layers", NULL));
    szgi_published_close(&paper);
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
    test_add(suite, "accuracies_are_table_1", accuracies_are_table_1);
    test_add(suite, "every_line_of_the_file_is_read", every_line_of_the_file_is_read);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
