/* What the tests of dumps share: files of tensors, and reports of them. */
#ifndef SZG_TESTS_DUMP_SUPPORT_H
#define SZG_TESTS_DUMP_SUPPORT_H

#include <unistd.h>

#include "capture/dump.h"
#include "formats/npy.h"
#include "formats/safetensors.h"

#include "contraction_support.h"
#include "meddle.h"
#include "scratch.h"

static const char *path_of(const char *ending) {
    char name[64];
    snprintf(name, sizeof name, "test_dump%s", ending);
    return scratch_path(name);
}

/* A tensor of doubles (or, where `dtype` is I64, of integers). */
static inline szgi_tensor tensor(const char *name, int dims, const int64_t *shape,
                                 const void *data) {
    szgi_tensor t = {
        .name = name, .dtype = SZGI_DTYPE_F64, .dims = dims, .shape = shape, .data = data};
    return t;
}

/* new_test_reals without the numbers of 1e8: two of those below zero among small ones are a mask to
 * the reader, whose rule test_dump_reading holds. */
static inline double *new_test_logits(uint32_t purpose, uint32_t step, int64_t count) {
    double *x = new_test_reals(purpose, step, count);
    for (int64_t i = 0; i < count; i++)
        if (fabs(x[i]) > 1e3)
            x[i] *= 1e-6;
    return x;
}

static inline void write_set(const szgi_tensor *tensors, int64_t count, const char *const *metadata,
                             int64_t pairs) {
    ck_szg_ok(szgi_safetensors_write(test_context(), path_of(".safetensors"), tensors, count,
                                     metadata, pairs));
}

static inline szg_status report_file(const char *path, const szgi_dump_options *options,
                                     szg_contraction_tables *tables) {
    const szg_report_options report = {SZG_INIT(szg_report_options), .quick_symbol = true};
    szgi_dump *dump = NULL;
    *tables = (szg_contraction_tables){0};
    szg_status status = szgi_dump_open(test_context(), &dump);
    if (status == SZG_OK)
        status = szgi_dump_add(test_context(), dump, path);
    if (status == SZG_OK)
        status = szg_contraction_tables_open(test_context(), true, false, tables);
    if (status == SZG_OK)
        status = szgi_dump_report(test_context(), dump, options, &report, tables);
    szgi_dump_close(&dump);
    if (status != SZG_OK)
        szg_contraction_tables_close(tables);
    return status;
}

/* Rows as szgi_contraction_add_all makes them of the pairs. */
static inline void expect(const szg_table *got, const szgi_contraction_pair *pairs, int64_t count) {
    const szg_report_options report = {SZG_INIT(szg_report_options), .quick_symbol = true};
    szg_contraction_tables want;
    ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &want));
    ck_szg_ok(szgi_contraction_add_all(test_context(), count, pairs, &report, &want));
    const szg_table *x = got, *y = want.contraction;
    ck_assert_int_eq(szg_table_rows(x), count);
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < szg_table_columns(x); c++) {
            const char *name = szg_table_column(x, c)->name;
            ck_assert_msg(szg_table_is_empty(x, r, c) == szg_table_is_empty(y, r, c),
                          "row %lld, %s: one is empty", (long long)r, name);
            if (szg_table_is_empty(x, r, c))
                continue;
            if (szg_table_column(x, c)->type == SZG_TEXT)
                ck_assert_str_eq(szg_table_get_text(x, r, c), szg_table_get_text(y, r, c));
            else
                ck_assert_msg(szg_table_get_real(x, r, c) == szg_table_get_real(y, r, c),
                              "row %lld, %s", (long long)r, name);
        }
    szg_contraction_tables_close(&want);
}

static inline double cell(const szg_table *table, int64_t row, const char *column) {
    int64_t c = szg_table_find(table, column);
    ck_assert_int_ge(c, 0);
    return szg_table_get_real(table, row, c);
}

#endif
