/* products.csv: what a run says of its products where a device computes them. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "tested_backend.h"
#include "tiny.h"

static const szg_column columns[] = {
    {"device", SZG_TEXT, ""}, {"library", SZG_TEXT, ""},  {"backend", SZG_TEXT, ""},
    {"m", SZG_INTEGER, ""},   {"n", SZG_INTEGER, ""},     {"k", SZG_INTEGER, ""},
    {"fused", SZG_TEXT, ""},  {"separate", SZG_TEXT, ""}, {"algorithm", SZG_TEXT, ""},
};
enum { DEVICE, LIBRARY, BACKEND, M, N, K, FUSED, SEPARATE, ALGORITHM, COLUMNS };

/* Whether a list with + between has the word. */
static bool names(const char *list, const char *pass) {
    size_t length = strlen(pass);
    for (; list; list = strchr(list, '+') ? strchr(list, '+') + 1 : NULL)
        if (strcspn(list, "+") == length && strncmp(list, pass, length) == 0)
            return true;
    return false;
}

/* Whether a row says of a pass, and of one kind of place alone, what was done with it. */
static int rows_with(const szg_table *table, const char *pass) {
    int found = 0;
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        bool fused = names(szg_table_get_text(table, row, FUSED), pass);
        bool separate = names(szg_table_get_text(table, row, SEPARATE), pass);
        ck_assert(!(fused && separate));
        found += fused || separate;
    }
    return found;
}

static void ck_rows(const szg_table *table) {
    szg_device device;
    int count;
    const char *libraries;
    ck_szg_ok(szg_backend_devices(test_context(), 1, &device, &count, &libraries));
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        ck_assert_str_eq(szg_table_get_text(table, row, DEVICE), device.name);
        ck_assert(strstr(libraries, szg_table_get_text(table, row, LIBRARY)));
        ck_assert_str_eq(szg_table_get_text(table, row, BACKEND),
                         szg_ops_name(szg_ops_of(test_context())));
        ck_assert(szg_table_get_integer(table, row, M) > 0);
        ck_assert(szg_table_get_integer(table, row, N) > 0);
        ck_assert(szg_table_get_integer(table, row, K) > 0);
        ck_assert_uint_eq(strlen(szg_table_get_text(table, row, ALGORITHM)), 128);
    }
}

/* A cpu has nothing to say: there is no file. */
START_TEST(a_run_tells_its_products) {
    szg_train_config *config = new_tiny(NULL);
    char *folder = whole_run(config), path[256];
    szg_table *table;
    if (!test_on_device()) {
        ck_assert_int_ne(access(path_in(folder, "products.csv", path), F_OK), 0);
    } else {
        ck_szg_ok(szg_csv_read(test_context(), path_in(folder, "products.csv", path), columns,
                               COLUMNS, &table));
        ck_rows(table);
        /* Every layer has a bias, and those of the feed-forward network's first half a RELU. */
        ck_assert_int_gt(rows_with(table, "bias_gradient"), rows_with(table, "derivative"));
        ck_assert_int_gt(rows_with(table, "derivative"), 0);
        ck_assert_int_gt(rows_with(table, "bias"), rows_with(table, "relu"));
        ck_assert_int_gt(rows_with(table, "relu"), 0);
        ck_assert_int_eq(rows_with(table, "gelu"), 0);
        szg_table_close(&table);
    }
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

TEST_FILE("products") {
    test_before_each(use_tested_backend);
    test_add(suite, "a_run_tells_its_products", a_run_tells_its_products);
}
