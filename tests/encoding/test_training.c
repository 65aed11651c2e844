/* What an encoding is in a decoder that trains: completed SPECs, arrays, rows of lags. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meddle.h"
#include "encoding/encoding.h"
#include "base/memory.h"
#include "formats/npy.h"
#include "npy_complex.h"

static const szgi_encoding_sizes sizes = {
    .width = 64, .head_dim = 16, .heads = 4, .length = 10, .seed = 7};

static void check_complete(const char *spec, const char *want) {
    szg_encoding *got, *again;
    ck_szg_ok(szgi_encoding_open_sized(test_context(), spec, &sizes, &got));
    ck_assert_str_eq(szg_encoding_spec(got), want);
    ck_szg_ok(szgi_encoding_open_sized(test_context(), szg_encoding_spec(got), &sizes, &again));
    ck_assert_str_eq(szg_encoding_spec(again), want);
    szg_encoding_close(&got);
    szg_encoding_close(&again);
}

START_TEST(completed) {
    check_complete("nope", "nope");
    check_complete("absolute", "absolute:dim=64");
    check_complete("absolute:base=100", "absolute:dim=64,base=100");
    check_complete("learned", "learned:dim=64,seed=7");
    check_complete("random:seed=3,std=2", "random:dim=64,seed=3,std=2");
    check_complete("relative", "relative:heads=4,seed=7");
    check_complete("t5:buckets=8", "t5:buckets=8,heads=4,seed=7");
    check_complete("alibi:slopes=exp", "alibi:heads=4,slopes=exp");
    check_complete("rope", "rope:dim=16,heads=4");
    check_complete("rope:rotate=1-2,dim=16", "rope:dim=16,heads=4,rotate=1-2");
    check_complete("rope:bands=heads,band_shift=3", "rope:dim=16,heads=4,bands=heads,band_shift=3");
    check_complete("rope:theta=1", "rope:dim=16,heads=4,theta=1");
    check_complete("rope-bias:scale=2", "rope-bias:dim=16,scale=2,heads=4");
    check_complete("mla:rope=32", "mla:content=16,rope=32,heads=4");
    check_complete("rope+absolute", "rope+absolute:dim=16,heads=4,input=64");
    check_complete("mla", "mla:content=16,rope=16,heads=4");
    check_complete("mla:rope=8", "mla:content=16,rope=8,heads=4");
    check_complete("kms:rho=0.5", "kms:rho=0.5");
}
END_TEST

START_TEST(contradictions) {
    static const struct {
        const char *spec, *words;
    } bad[] = {
        {"absolute:dim=32", "absolute:dim=32: dim=32 contradicts the model, in which it is 64"},
        {"rope:dim=64", "in which it is 16"},
        {"rope:heads=2", "heads=2 contradicts"},
        {"rope:rotate=4", "names head 4"},
        {"rope:bands=heads,band_shift=4", "band_shift=4 is outside 0 .. 3, as heads=4"},
        {"rope-bias:dim=32", "dim=32 contradicts the model, in which it is 16"},
        {"rope-bias:heads=1", "heads=1 contradicts"},
        {"mla:rope=17", "rope=17 is odd"},
        {"rope+absolute:input=16", "input=16 contradicts"},
        {"mla:heads=1", "heads=1 contradicts"},
        {"ropes", "is unknown"},
        {"rope:length=3", "has no meaning"},
    };
    szg_encoding *out;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_szg_fails(SZG_EINVAL, bad[i].words,
                     szgi_encoding_open_sized(test_context(), bad[i].spec, &sizes, &out));
        ck_assert_ptr_null(out);
    }
}
END_TEST

/* Only 53 bits of a seed can be written as a key. */
START_TEST(wide_seeds) {
    szgi_encoding_sizes wide = sizes;
    szg_encoding *out;
    wide.seed = UINT64_MAX;
    ck_szg_ok(szgi_encoding_open_sized(test_context(), "random", &wide, &out));
    ck_assert_str_eq(szg_encoding_spec(out), "random:dim=64,seed=9007199254740991");
    szg_encoding_close(&out);
}
END_TEST

/* ---- Files ---- */

static const char *npy_file(int64_t rows, int64_t columns) {
    static char path[64];
    snprintf(path, sizeof path, "test_training_%d.npy", (int)getpid());
    double *data = new_numbers(rows * columns);
    for (int64_t i = 0; i < rows * columns; i++)
        data[i] = (double)i / 8;
    const int64_t shape[] = {rows, columns};
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, shape, data));
    szgi_memory_free(data);
    return path;
}

static szg_status complete_with(const char *name, const char *key, int64_t rows, int64_t columns) {
    char spec[128];
    szg_encoding *out = NULL;
    snprintf(spec, sizeof spec, "%s:%s=%s", name, key, npy_file(rows, columns));
    szg_status status = szgi_encoding_open_sized(test_context(), spec, &sizes, &out);
    ck_assert((status == SZG_OK) == (out != NULL));
    ck_assert(!out || !strstr(szg_encoding_spec(out), "seed"));
    szg_encoding_close(&out);
    return status;
}

START_TEST(files) {
    ck_szg_ok(complete_with("learned", "table", 10, 64));
    ck_szg_ok(complete_with("relative", "table", 4, 19));
    ck_szg_ok(complete_with("t5", "table", 32, 4));
    ck_szg_ok(complete_with("file", "path", 4, 3));
    ck_szg_ok(complete_with("file", "path", 1, 3));
    ck_szg_fails(SZG_EINVAL, "ends after 9 positions, but the model has 10",
                 complete_with("learned", "table", 9, 64));
    ck_szg_fails(SZG_EINVAL, "has 32 columns", complete_with("learned", "table", 10, 32));
    ck_szg_fails(SZG_EINVAL, "has 3 rows", complete_with("relative", "table", 3, 19));
    ck_szg_fails(SZG_EINVAL, "ends after 9", complete_with("relative", "table", 4, 17));
    ck_szg_fails(SZG_EINVAL, "has 3 heads, but the model has 4",
                 complete_with("file", "path", 3, 3));
    unlink(npy_file(1, 1));
}
END_TEST

START_TEST(complex_coefficients) {
    const szg_c64 z[] = {{2, 0}, {1, -1}};
    const int64_t shape[] = {2};
    char spec[128];
    szg_encoding *out;
    const char *path = npy_file(1, 1);
    write_npy_complex(path, 1, shape, z);
    snprintf(spec, sizeof spec, "file:path=%s", path);
    ck_szg_fails(SZG_EINVAL, "complex coefficients cannot be a bias of real logits",
                 szgi_encoding_open_sized(test_context(), spec, &sizes, &out));
    ck_assert_ptr_null(out);
    unlink(path);
}
END_TEST

START_TEST(a_file_that_changes_meanwhile) {
    char spec[128];
    szg_encoding *encoding;
    const char *path = npy_file(10, 64);
    snprintf(spec, sizeof spec, "learned:table=%s", path);
    ck_notices_changes(path, 3, szg_encoding_parse(test_context(), spec, &encoding));
    unlink(path);
}
END_TEST

/* ---- Arrays ---- */

static szg_encoding *completed_encoding(const char *spec) {
    szg_encoding *encoding;
    ck_szg_ok(szgi_encoding_open_sized(test_context(), spec, &sizes, &encoding));
    return encoding;
}

/* The array's initial numbers, put where it says, are the encoding's own rows and biases. */
static void check_array(const char *spec, szgi_encoding_array array, int64_t rows, int64_t columns,
                        bool optional) {
    const int64_t n = 10;
    szg_encoding *encoding = completed_encoding(spec);
    szgi_encoding_table table;
    ck_szg_ok(szgi_encoding_table_of(test_context(), encoding, n, &table));
    ck_assert(table.array == array && table.rows == rows && table.columns == columns);
    ck_assert(table.optional == optional);
    double *initial = new_numbers(rows * columns), *want = new_numbers(n * columns + 2 * n);
    ck_szg_ok(szgi_encoding_table_initial(test_context(), encoding, n, initial));
    if (array == SZGI_ARRAY_INPUT) {
        ck_assert_int_eq(szgi_encoding_input_dimension(encoding), columns);
        ck_szg_ok(szgi_encoding_input(test_context(), encoding, n, want, columns));
        ck_assert(memcmp(initial, want, (size_t)(n * columns) * sizeof *want) == 0);
    } else {
        int32_t row[19];
        ck_szg_ok(szgi_encoding_row_of_lag(test_context(), encoding, n, row));
        for (int64_t h = 0; h < columns; h++) {
            ck_szg_ok(szgi_encoding_bias(test_context(), encoding, h, n, want));
            for (int64_t at = 0; at < 2 * n - 1; at++) {
                ck_assert(row[at] >= 0 && row[at] < rows);
                ck_assert(initial[row[at] * columns + h] == want[at]);
            }
        }
    }
    szgi_memory_free(initial);
    szgi_memory_free(want);
    szg_encoding_close(&encoding);
}

START_TEST(arrays) {
    check_array("learned", SZGI_ARRAY_INPUT, 10, 64, false);
    check_array("random", SZGI_ARRAY_INPUT, 10, 64, true);
    check_array("relative", SZGI_ARRAY_LAGS, 19, 4, false);
    check_array("t5:buckets=8", SZGI_ARRAY_LAGS, 8, 4, false);
    check_array("t5:buckets=7,direction=causal", SZGI_ARRAY_LAGS, 7, 4, false);
}
END_TEST

/* `relative` counts its rows by j - i: the first is the farthest past as seen from the key. */
START_TEST(order_of_relative_rows) {
    szg_encoding *encoding = completed_encoding("relative");
    int32_t row[19];
    ck_szg_ok(szgi_encoding_row_of_lag(test_context(), encoding, 10, row));
    for (int32_t i = 0; i < 10; i++)
        for (int32_t j = 0; j < 10; j++)
            ck_assert_int_eq(row[i - j + 9], j - i + 9);
    szg_encoding_close(&encoding);
}
END_TEST

START_TEST(no_array) {
    static const char *const without[] = {"nope",      "absolute",      "alibi",
                                          "rope",      "mla",           "kms:rho=0.5",
                                          "rope-bias", "rope+absolute", "rope:bands=heads"};
    szgi_encoding_table table;
    double value;
    int32_t row;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        szg_encoding *encoding = completed_encoding(without[i]);
        ck_szg_ok(szgi_encoding_table_of(test_context(), encoding, 10, &table));
        ck_assert_int_eq(table.array, SZGI_ARRAY_NONE);
        ck_szg_fails(SZG_EDOMAIN, "no array to train",
                     szgi_encoding_table_initial(test_context(), encoding, 1, &value));
        ck_szg_fails(SZG_EDOMAIN, "no array of lags",
                     szgi_encoding_row_of_lag(test_context(), encoding, 1, &row));
        ck_szg_fails(SZG_EINVAL, "N = 0 is outside",
                     szgi_encoding_table_of(test_context(), encoding, 0, &table));
        szg_encoding_close(&encoding);
    }
}
END_TEST

/* ---- Rows of rope+absolute ---- */

START_TEST(input_dimension) {
    szg_encoding *encoding = completed_encoding("rope+absolute"), *absolute;
    ck_szg_ok(szg_encoding_parse(test_context(), "absolute:dim=64", &absolute));
    ck_assert_int_eq(szgi_encoding_input_dimension(encoding), 64);
    ck_assert_int_eq(szgi_encoding_dimension(encoding), 16);
    double got[640], want[640];
    ck_szg_fails(SZG_EINVAL, "below the 64 columns",
                 szgi_encoding_input(test_context(), encoding, 10, got, 16));
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, 10, got, 64));
    ck_szg_ok(szgi_encoding_input(test_context(), absolute, 10, want, 64));
    ck_assert(memcmp(got, want, sizeof got) == 0);
    szg_kernel_facts both, rows;
    ck_szg_ok(szg_encoding_facts(test_context(), encoding, 0, 1, &both));
    ck_szg_ok(szg_encoding_facts(test_context(), absolute, 0, 0, &rows));
    ck_assert(both.rank_bound == rows.rank_bound && both.parameter == rows.parameter);
    szg_encoding_close(&encoding);
    szg_encoding_close(&absolute);
}
END_TEST

static szg_status complete_and_free(const char *spec) {
    szg_encoding *out;
    szg_status status = szgi_encoding_open_sized(test_context(), spec, &sizes, &out);
    szg_encoding_close(&out);
    return status;
}

START_TEST(allocation_failures) {
    ck_survives_failed_allocations(5, complete_and_free("rope:rotate=1"));
    ck_survives_failed_allocations(5, complete_and_free("t5:buckets=8"));
    ck_survives_failed_allocations(5, complete_and_free("rope:bands=heads,rotate=1"));
    ck_survives_failed_allocations(5, complete_and_free("rope-bias"));
}
END_TEST

TEST_FILE("training") {
    test_add(suite, "completed", completed);
    test_add(suite, "contradictions", contradictions);
    test_add(suite, "wide_seeds", wide_seeds);
    test_add(suite, "a_file_that_changes_meanwhile", a_file_that_changes_meanwhile);
    test_add(suite, "files", files);
    test_add(suite, "complex_coefficients", complex_coefficients);
    test_add(suite, "arrays", arrays);
    test_add(suite, "order_of_relative_rows", order_of_relative_rows);
    test_add(suite, "no_array", no_array);
    test_add(suite, "input_dimension", input_dimension);
    test_add(suite, "allocation_failures", allocation_failures);
}
