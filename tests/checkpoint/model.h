/* Small checkpoints made by the tests: tensors with known numbers, a configuration, a folder. */
#ifndef SZG_TESTS_CHECKPOINT_MODEL_H
#define SZG_TESTS_CHECKPOINT_MODEL_H

#include "checkpoint/checkpoint.h"
#include "rounding.h"
#include "scratch.h"

enum { MODEL_TENSORS = 64, MODEL_DIMS = 3 };

typedef struct model_tensor {
    char name[128];
    szgi_dtype dtype;
    const char *dtype_name; /* NULL: by dtype */
    int dims;
    int64_t shape[MODEL_DIMS], count;
    double *value; /* what a reader must see */
} model_tensor;

typedef struct test_model {
    char folder[64];
    uint32_t seed; /* streams of this model's numbers */
    int tensors;
    model_tensor tensor[MODEL_TENSORS];
} test_model;

/* A new folder. */
void model_open(test_model *model);
/* Removes it. */
void model_close(test_model *model);

/* Adds a tensor with normal numbers, exact in its type; columns < 0: one dimension. */
model_tensor *model_add(test_model *model, szgi_dtype dtype, int64_t rows, int64_t columns,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Its numbers, by name; fails where there is none. */
const double *model_value(const test_model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
model_tensor *model_find(test_model *model, const char *name);

/* Writes model.safetensors and config.json (NULL: none). */
void model_write(const test_model *model, const char *config);
void model_write_part(const test_model *model, const char *file, int first, int count);
void model_write_text(const test_model *model, const char *file, const char *text);

/* Rows of a query head, and of the key head that attention pairs with it: head / (heads /
 * key_heads). */
szg_status model_head(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                      int64_t head, double *q, double *k);

/* "FOLDER/file" in static storage. */
const char *model_path(const test_model *model, const char *file);

/* ---- Brute force ---- */

/* A head as the oracle sees it: e x d rows of queries (scaled) and keys. */
typedef struct oracle_head {
    int64_t e, d;
    double *q, *k;
} oracle_head;

/* out = p q^T k p^T by loops, n x n; p NULL: q^T k, d x d. The caller frees. */
double *oracle_product(const oracle_head *head, int64_t n, const double *p);

/* Turns e x d rows of queries to position k, as the architectures write it. */
void oracle_turn(const szgi_rotary *rotary, int64_t e, int64_t d, int64_t k, const double *q,
                 double *out);

/* What its entries and the library's factors are off by, in norm: sums of e, d and d products. */
double oracle_error(const oracle_head *head, int64_t n, const double *p);

/* The rows of `spectra` for this layer, head and matrix are those of the dense n x n matrix, to
 * `error` (oracle_error) and what solvers round. Returns its spectral norm. */
double check_listed(const szg_table *spectra, int64_t layer, int64_t head, const char *matrix,
                    int64_t n, const double *dense, double error);

/* The rows of `summary` and `spectra` for this layer, head and matrix are those of the dense n x n
 * matrix, to `error` (oracle_error) and what solvers round. */
void check_spectra(const szg_checkpoint_tables *tables, int64_t layer, int64_t head,
                   const char *matrix, int64_t n, const double *dense, double error);

/* The columns of that row that depend on the head size e and on the key head. */
void check_rank(const szg_checkpoint_tables *tables, int64_t layer, int64_t head,
                const char *matrix, int64_t n, int64_t e, int64_t key_head, const double *dense,
                double error);

/* The row with these keys; -1 for layer or head: the cell is empty. Fails unless there is one. */
int64_t find_row(const szg_table *table, int64_t layer, int64_t head, const char *matrix);
double cell(const szg_table *table, int64_t row, const char *column);
/* Whether a note about these keys has the words; `notes` says so at least once. */
bool is_noted(const szg_checkpoint_tables *tables, int64_t layer, int64_t head, const char *matrix,
              const char *words);
void ck_noted(const szg_checkpoint_tables *tables, int64_t layer, int64_t head, const char *matrix,
              const char *words);
const char *cell_text(const szg_table *table, int64_t row, const char *column);

/* A BERT of three layers, two heads and width 6: its configuration and its tensors. */
extern const char model_bert[];
void model_add_bert(test_model *model);

/* Opens a folder, analyses it and drops the result: what a refused allocation must not break. */
szg_status model_try(const char *folder, const szg_checkpoint_options *options);

/* Opens what was written and analyses it with the default options. */
void model_analyse(const test_model *model, szg_checkpoint **checkpoint,
                   szg_checkpoint_tables *tables);

/* Every table as CSV, one after the other, and what was skipped. The caller frees. */
char *model_print(const szg_checkpoint_tables *tables);

#endif
