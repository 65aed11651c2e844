/* What the tests of captured logits share: a capture of one step, and its table and dump. */
#ifndef SZG_TESTS_CAPTURE_SUPPORT_H
#define SZG_TESTS_CAPTURE_SUPPORT_H

#include "train/capture/capture.h"
#include "formats/safetensors.h"

#include "decoder_support.h"
#include "tiny.h"

/* The batch's sequences as examples. */
static inline void fill_examples(szg_examples *examples) {
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    *examples = (szg_examples){0};
    for (int s = 0; s < SEQUENCES; s++)
        ck_szg_ok(szgi_examples_add(test_context(), examples, b.lengths[s],
                                    b.tokens + s * POSITIONS, b.labels[s]));
    free_batch(&b);
}

static inline szg_capture_config everything(int64_t probes) {
    return (szg_capture_config){
        .every = 1, .layers.all = true, .heads.all = true, .probes = probes};
}

/* The table of one step. */
static inline szg_status capture_into(szg_context *context, subject *s,
                                      const szg_capture_config *what, const szg_examples *examples,
                                      const int64_t *order, const void *gradient,
                                      const char *folder, szg_table **table) {
    szgi_capture *capture = NULL;
    *table = NULL;
    szg_status status =
        szgi_capture_open_as(context, s->model, what, examples, order, folder, &capture);
    if (status == SZG_OK)
        status = szg_contraction_table(context, table);
    if (status == SZG_OK)
        status = szgi_capture_step(context, capture, 12, gradient,
                                   &(szg_contraction_tables){.contraction = *table});
    szgi_capture_close(context, &capture);
    if (status != SZG_OK)
        szg_table_close(table);
    return status;
}

static inline double cell(const szg_table *table, int64_t row, const char *column) {
    int64_t c = szg_table_find(table, column);
    ck_assert_int_ge(c, 0);
    return szg_table_get_real(table, row, c);
}

static inline const char *text(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_text(table, row, szg_table_find(table, column));
}

/* One matrix of a dump, n x n; free with szgi_memory_free. */
static inline double *dumped(const szgi_safetensors *set, int64_t layer, int64_t head,
                             int64_t probe, const char *word, int64_t n) {
    char name[96];
    snprintf(name, sizeof name, "layers.%d.heads.%d.probes.%d.%s", (int)layer, (int)head,
             (int)probe, word);
    const szgi_tensor *t = szgi_safetensors_find(set, name);
    ck_assert_msg(t, "no tensor %s", name);
    ck_assert_int_eq(t->dims, 2);
    ck_assert(t->shape[0] == n && t->shape[1] == n);
    double *out = new_numbers(n * n);
    ck_szg_ok(szgi_tensor_read(test_context(), t, 0, n * n, out));
    return out;
}

static inline szgi_safetensors *open_dump(const char *folder) {
    char path[256];
    szgi_safetensors *set;
    ck_szg_ok(
        szgi_safetensors_open(test_context(), path_in(folder, "step-12.safetensors", path), &set));
    ck_assert_str_eq(szgi_safetensors_metadata(set, "step"), "12");
    return set;
}

static inline void same_tables(const szg_table *x, const szg_table *y) {
    ck_assert_int_eq(szg_table_rows(x), szg_table_rows(y));
    for (int64_t r = 0; r < szg_table_rows(x); r++)
        for (int64_t c = 0; c < szg_table_columns(x); c++) {
            const char *name = szg_table_column(x, c)->name;
            ck_assert_msg(szg_table_is_empty(x, r, c) == szg_table_is_empty(y, r, c),
                          "row %d, %s: one is empty", (int)r, name);
            if (szg_table_is_empty(x, r, c))
                continue;
            if (szg_table_column(x, c)->type == SZG_TEXT)
                ck_assert_str_eq(szg_table_get_text(x, r, c), szg_table_get_text(y, r, c));
            else
                ck_assert_msg(szg_table_get_real(x, r, c) == szg_table_get_real(y, r, c),
                              "row %d, %s", (int)r, name);
        }
}

#endif
