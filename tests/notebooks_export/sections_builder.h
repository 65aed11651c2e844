/* Results that a test builds cell by cell, and the page of one of them. */
#ifndef SZG_TESTS_SECTIONS_BUILDER_H
#define SZG_TESTS_SECTIONS_BUILDER_H

#include "base/table.h"
#include "formats/result.h"
#include "sections_support.h"

#define HOSTILE "<script>alert(\"1\")</script>\n&'\x01 \xff"

static char *folder, *page; /* of the last result: its folder, its page */

/* ---- Results, columns in the words of a row: "t:source r:re i:n" ---- */

typedef struct builder {
    szg_result *result;
    szg_table *table;
} builder;

static inline void begin(builder *b, const char *command) {
    ck_szg_ok(szg_result_open(test_context(), command, &b->result));
}

static inline void table(builder *b, const char *name, const char *columns) {
    static char words[512];
    szg_column column[24];
    int64_t count = 0;
    if (b->table)
        ck_szg_ok(szg_result_add(test_context(), b->result, &b->table));
    b->table = NULL;
    if (!name)
        return;
    snprintf(words, sizeof words, "%s t:note", columns);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        szg_type type = *word == 't' ? SZG_TEXT : *word == 'i' ? SZG_INTEGER : SZG_REAL;
        column[count++] = (szg_column){word + 2, type, "of a test"};
    }
    ck_szg_ok(szg_table_open(test_context(), name, column, count, &b->table));
}

static inline void row(builder *b) {
    ck_szg_ok(szg_table_add_row(test_context(), b->table));
}

static inline void text(builder *b, const char *column, const char *value) {
    ck_szg_ok(szg_table_set_text(test_context(), b->table, column, value));
}

static inline void whole(builder *b, const char *column, int64_t value) {
    ck_szg_ok(szg_table_set_integer(test_context(), b->table, column, value));
}

static inline void real(builder *b, const char *column, double value) {
    ck_szg_ok(szg_table_set_real(test_context(), b->table, column, value));
}

/* Writes the result and reads the page of its folder. */
static inline void finish(builder *b) {
    table(b, NULL, NULL);
    folder = new_results();
    write_result(b->result, folder, "one");
    b->result = NULL;
    page = page_of(folder);
}

static inline void remove_folder(void) {
    remove_results(folder);
    free(page);
    folder = page = NULL;
}

#define SAYS(...)                                                                                  \
    do {                                                                                           \
        char ck_words_[512];                                                                       \
        snprintf(ck_words_, sizeof ck_words_, __VA_ARGS__);                                        \
        ck_assert_msg(strstr(page, ck_words_) != NULL, "the page lacks: %s", ck_words_);           \
    } while (0)

/* Points count one by one, lines, bands and rules as one each. */
#define MARKS(id, marks) SAYS("<figure id=\"%s\" data-marks=\"%d\"", id, marks)

/* ---- Rows of one matrix of one source ---- */

#define KEY "t:source i:head t:matrix "

static inline void key(builder *b, const char *source) {
    row(b);
    text(b, "source", source);
    whole(b, "head", 0);
    text(b, "matrix", "coefficients");
}

/* zeros < 0: empty cells. */
static inline void add_values_and_zeros(builder *b, const char *source, int64_t n, int64_t count,
                                        const double *re, const double *im, const char *kind,
                                        int64_t zeros) {
    for (int64_t i = 0; i < count; i++) {
        key(b, source);
        text(b, "kind", kind);
        real(b, "re", re[i]);
        real(b, "im", im ? im[i] : 0);
        whole(b, "n", n);
        if (zeros >= 0)
            whole(b, "zeros", zeros);
    }
}

static inline void add_values(builder *b, const char *source, int64_t n, int64_t count,
                              const double *re, const double *im, const char *kind) {
    add_values_and_zeros(b, source, n, count, re, im, kind, -1);
}

static inline void add_samples(builder *b, const char *source, int64_t n, int64_t count,
                               const double *re, const double *im) {
    for (int64_t i = 0; i < count; i++) {
        key(b, source);
        real(b, "theta", 6.283185307179586 * (double)i / (double)count);
        real(b, "re", re[i]);
        real(b, "im", im ? im[i] : 0);
        whole(b, "n", n);
        text(b, "convention", "truncated");
    }
}

static inline void add_range(builder *b, const char *source, int64_t n, double lo, double hi,
                             const char *bound_of) {
    key(b, source);
    whole(b, "n", n);
    real(b, "min_lo", lo);
    real(b, "min_hi", lo + 1e-9);
    real(b, "max_lo", hi - 1e-9);
    real(b, "max_hi", hi);
    real(b, "theta_min", 3);
    real(b, "theta_max", 0);
    text(b, "convention", "truncated");
    text(b, "bound_of", bound_of);
    text(b, "note", "the infinite symbol: no bound"); /* for people: nothing reads it */
}

#define VALUES KEY "t:kind r:re r:im i:n i:zeros t:values_of"
#define SAMPLES KEY "r:theta r:re r:im i:n t:convention"
#define RANGE                                                                                      \
    KEY "i:n r:min_lo r:min_hi r:max_lo r:max_hi r:theta_min r:theta_max t:convention t:bound_of"

#endif
