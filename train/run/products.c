/* The products of a run's linear layers as a device computes them: FOLDER/products.csv, beside the
 * run's logs. It says which passes a product's epilogue took along, and by which algorithm it is
 * computed: a run that times algorithms continues with the recorded ones. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "formats/csv.h"
#include "base/memory.h"
#include "network/network.h"
#include "run_private.h"

static const char file_name[] = "products.csv";

#define PRODUCTS(X)                                                                                \
    X(PRODUCTS_DEVICE, "device", SZG_TEXT, "", "device", "the device")                             \
    X(PRODUCTS_LIBRARY, "library", SZG_TEXT, "", "library",                                        \
      "the library of products and its version")                                                   \
    X(PRODUCTS_BACKEND, "backend", SZG_TEXT, "", "backend",                                        \
      "the backend, which names the precision")                                                    \
    X(PRODUCTS_M, "m", SZG_INTEGER, "1", "rows of the result",                                     \
      "rows of the result, which is op(a) op(b), by columns")                                      \
    X(PRODUCTS_N, "n", SZG_INTEGER, "1", "columns of the result", "columns of the result")         \
    X(PRODUCTS_K, "k", SZG_INTEGER, "1", "length of the sums", "length of the sums")               \
    X(PRODUCTS_OP_A, "op_a", SZG_TEXT, "", "form of a", "n: as it is; t: transposed")              \
    X(PRODUCTS_OP_B, "op_b", SZG_TEXT, "", "form of b", "n: as it is; t: transposed")              \
    X(PRODUCTS_LDA, "lda", SZG_INTEGER, "1", "leading dimension of a", "leading dimension of a")   \
    X(PRODUCTS_LDB, "ldb", SZG_INTEGER, "1", "leading dimension of b", "leading dimension of b")   \
    X(PRODUCTS_LDC, "ldc", SZG_INTEGER, "1", "leading dimension of the result",                    \
      "leading dimension of the result")                                                           \
    X(PRODUCTS_ADD, "add", SZG_TEXT, "", "added to the result",                                    \
      "yes: added to the result; no: written")                                                     \
    X(PRODUCTS_ALIGNMENT_A, "alignment_a", SZG_INTEGER, "bytes", "alignment of a",                 \
      "alignment of the address of a in bytes, at most 256")                                       \
    X(PRODUCTS_ALIGNMENT_B, "alignment_b", SZG_INTEGER, "bytes", "alignment of b",                 \
      "the same of b")                                                                             \
    X(PRODUCTS_ALIGNMENT_C, "alignment_c", SZG_INTEGER, "bytes", "alignment of the result",        \
      "the same of the result")                                                                    \
    X(PRODUCTS_ALIGNMENT_BIAS, "alignment_bias", SZG_INTEGER, "bytes", "alignment of the bias",    \
      "the same of the bias; empty: there is none")                                                \
    X(PRODUCTS_FUSED, "fused", SZG_TEXT, "", "fused passes",                                       \
      "passes in the product's epilogue, joined by +; empty: none")                                \
    X(PRODUCTS_SEPARATE, "separate", SZG_TEXT, "", "separate passes",                              \
      "separate passes around it, joined by +; empty: none")                                       \
    X(PRODUCTS_ALGORITHM, "algorithm", SZG_TEXT, "", "algorithm",                                  \
      "the library's choice: its 64 opaque bytes, in hexadecimal")                                 \
    X(PRODUCTS_CANDIDATES, "candidates", SZG_INTEGER, "1", "algorithms timed",                     \
      "algorithms that were timed, of which it was the fastest; empty: none")                      \
    X(PRODUCTS_MICROSECONDS, "microseconds", SZG_REAL, "microseconds", "time",                     \
      "time that it took; empty: none was timed")                                                  \
    X(PRODUCTS_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
SZGI_SCHEMA(columns, "products", PRODUCTS, SZGI_NOT_SHOWN);
enum { ALGORITHM = 64 }; /* bytes */

/* ---- Cells ---- */

/* By bit. */
static const char *const pass_names[] = {"bias", "relu", "gelu", "derivative", "bias_gradient"};
enum { PASSES = sizeof pass_names / sizeof *pass_names };

static void put_passes(szgi_row *row, int64_t column, uint32_t passes) {
    char text[64] = "";
    for (int i = 0; i < PASSES; i++)
        if (passes & 1u << i) {
            strcat(text, *text ? "+" : "");
            strcat(text, pass_names[i]);
        }
    szgi_row_text(row, column, *text ? text : NULL);
}

static void put_algorithm(szgi_row *row, const unsigned char *algorithm) {
    char text[2 * ALGORITHM + 1];
    for (int i = 0; i < ALGORITHM; i++)
        szgi_print(text + 2 * i, 3, "%02x", algorithm[i]);
    szgi_row_text(row, PRODUCTS_ALGORITHM, text);
}

static void put_sizes(szgi_row *row, const szgi_product_fact *fact) {
    szgi_row_integer(row, PRODUCTS_M, fact->m);
    szgi_row_integer(row, PRODUCTS_N, fact->n);
    szgi_row_integer(row, PRODUCTS_K, fact->k);
    szgi_row_integer(row, PRODUCTS_LDA, fact->lda);
    szgi_row_integer(row, PRODUCTS_LDB, fact->ldb);
    szgi_row_integer(row, PRODUCTS_LDC, fact->ldc);
    szgi_row_integer(row, PRODUCTS_ALIGNMENT_A, fact->alignment_a);
    szgi_row_integer(row, PRODUCTS_ALIGNMENT_B, fact->alignment_b);
    szgi_row_integer(row, PRODUCTS_ALIGNMENT_C, fact->alignment_c);
    if (fact->alignment_bias > 0)
        szgi_row_integer(row, PRODUCTS_ALIGNMENT_BIAS, fact->alignment_bias);
}

static szg_status add_product(szg_context *context, szg_table *table,
                              const szgi_product_fact *fact) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, PRODUCTS_DEVICE, fact->device);
    szgi_row_text(&row, PRODUCTS_LIBRARY, fact->library);
    szgi_row_text(&row, PRODUCTS_BACKEND, fact->backend);
    put_sizes(&row, fact);
    szgi_row_text(&row, PRODUCTS_OP_A, fact->transpose_a ? "t" : "n");
    szgi_row_text(&row, PRODUCTS_OP_B, fact->transpose_b ? "t" : "n");
    szgi_row_text(&row, PRODUCTS_ADD, fact->add ? "yes" : "no");
    put_passes(&row, PRODUCTS_FUSED, fact->fused);
    put_passes(&row, PRODUCTS_SEPARATE, fact->separate);
    if (fact->candidates > 0) {
        szgi_row_integer(&row, PRODUCTS_CANDIDATES, fact->candidates);
        szgi_row_real(&row, PRODUCTS_MICROSECONDS, fact->microseconds);
    }
    put_algorithm(&row, fact->algorithm);
    return row.status;
}

/* ---- Cells that are read ---- */

/* A file's row; the first failure is kept. */
typedef struct row_reader {
    szg_context *context;
    const char *path;
    const szg_table *table;
    int64_t row;
    szg_status status;
} row_reader;

static void refuse(row_reader *self, int column, const char *wanted) {
    if (self->status == SZG_OK)
        self->status =
            szgi_fail(self->context, SZG_EDATA,
                      "%s: row %" PRId64 ": %s is not %s: remove the file, and algorithms "
                      "are chosen anew",
                      self->path, self->row + 1, columns[column].name, wanted);
}

static const char *text_at(row_reader *self, int column) {
    const char *text = szg_table_get_text(self->table, self->row, column);
    if (!text)
        refuse(self, column, "there");
    return text ? text : "";
}

/* An empty cell is 0. */
static int64_t size_at(row_reader *self, int column, int64_t least) {
    int64_t value = szg_table_is_empty(self->table, self->row, column)
                        ? 0
                        : szg_table_get_integer(self->table, self->row, column);
    if (value < least)
        refuse(self, column, least > 0 ? "an integer above 0" : "a size");
    return value;
}

static bool choice_at(row_reader *self, int column, const char *no, const char *yes) {
    const char *text = text_at(self, column);
    if (strcmp(text, no) != 0 && strcmp(text, yes) != 0)
        refuse(self, column, "one of its words");
    return strcmp(text, yes) == 0;
}

static uint32_t pass_of(row_reader *self, int column, const char *name, size_t length) {
    for (int i = 0; i < PASSES; i++)
        if (strlen(pass_names[i]) == length && strncmp(pass_names[i], name, length) == 0)
            return 1u << i;
    refuse(self, column, "a list of passes");
    return 0;
}

static uint32_t passes_at(row_reader *self, int column) {
    const char *text = szg_table_get_text(self->table, self->row, column);
    uint32_t passes = 0;
    while (text) {
        size_t length = strcspn(text, "+");
        passes |= pass_of(self, column, text, length);
        text = text[length] ? text + length + 1 : NULL;
    }
    return passes;
}

static void algorithm_at(row_reader *self, unsigned char *out) {
    static const char digits[] = "0123456789abcdef";
    const char *text = text_at(self, PRODUCTS_ALGORITHM);
    if (strlen(text) != 2 * ALGORITHM || strspn(text, digits) != 2 * ALGORITHM) {
        refuse(self, PRODUCTS_ALGORITHM, "64 bytes in hexadecimal");
        return;
    }
    for (int i = 0; i < ALGORITHM; i++)
        out[i] = (unsigned char)(16 * (strchr(digits, text[2 * i]) - digits) +
                                 (strchr(digits, text[2 * i + 1]) - digits));
}

static szgi_product_fact fact_at(row_reader *self) {
    szgi_product_fact fact = {.backend = text_at(self, PRODUCTS_BACKEND),
                              .device = text_at(self, PRODUCTS_DEVICE),
                              .library = text_at(self, PRODUCTS_LIBRARY),
                              .m = size_at(self, PRODUCTS_M, 1),
                              .n = size_at(self, PRODUCTS_N, 1),
                              .k = size_at(self, PRODUCTS_K, 1),
                              .lda = size_at(self, PRODUCTS_LDA, 1),
                              .ldb = size_at(self, PRODUCTS_LDB, 1),
                              .ldc = size_at(self, PRODUCTS_LDC, 1),
                              .transpose_a = choice_at(self, PRODUCTS_OP_A, "n", "t"),
                              .transpose_b = choice_at(self, PRODUCTS_OP_B, "n", "t"),
                              .add = choice_at(self, PRODUCTS_ADD, "no", "yes"),
                              .alignment_a = size_at(self, PRODUCTS_ALIGNMENT_A, 1),
                              .alignment_b = size_at(self, PRODUCTS_ALIGNMENT_B, 1),
                              .alignment_c = size_at(self, PRODUCTS_ALIGNMENT_C, 1),
                              .alignment_bias = size_at(self, PRODUCTS_ALIGNMENT_BIAS, 0),
                              .fused = passes_at(self, PRODUCTS_FUSED),
                              .separate = passes_at(self, PRODUCTS_SEPARATE),
                              .candidates = size_at(self, PRODUCTS_CANDIDATES, 0)};
    algorithm_at(self, fact.algorithm);
    if (fact.candidates > 0)
        fact.microseconds = szg_table_get_real(self->table, self->row, PRODUCTS_MICROSECONDS);
    if (!(fact.microseconds >= 0) || isinf(fact.microseconds))
        refuse(self, PRODUCTS_MICROSECONDS, "a time");
    return fact;
}

/* ---- The file ---- */

static szg_status fill(szg_context *context, int64_t count, const szgi_product_fact *facts,
                       szg_table *table) {
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_product(context, table, &facts[i]));
    return SZG_OK;
}

static szg_status write_table(szg_context *context, const char *folder, const szg_table *table) {
    char *path;
    SZG_TRY(szgi_path_join(context, folder, file_name, &path));
    szg_status status = szgi_csv_write(context, table, path);
    szgi_memory_free(path);
    return status;
}

static szg_status write_facts(szg_context *context, const char *folder, int64_t count,
                              const szgi_product_fact *facts) {
    szg_table *table;
    SZG_TRY(szgi_schema_open(context, &columns_schema, &table));
    szg_status status = fill(context, count, facts, table);
    if (status == SZG_OK)
        status = write_table(context, folder, table);
    szg_table_close(&table);
    return status;
}

szg_status szgi_products_write(szg_context *context, const char *folder, int64_t *written) {
    szgi_product_fact *facts;
    int64_t count, again;
    SZG_TRY(szgi_network_products(context, 0, NULL, &count));
    if (count == *written)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, count, &facts));
    szg_status status = szgi_network_products(context, count, facts, &again);
    if (status == SZG_OK)
        status = write_facts(context, folder, count, facts);
    szgi_memory_free(facts);
    *written = status == SZG_OK ? count : *written;
    return status;
}

/* ---- Continuing with what was chosen ---- */

static szg_status keep_rows(szg_context *context, const char *path, const szg_table *table) {
    int64_t count = szg_table_rows(table);
    row_reader reader = {context, path, table, 0, SZG_OK};
    szgi_product_fact *facts;
    SZG_TRY(szgi_memory_alloc(context, count, &facts));
    for (; reader.row < count && reader.status == SZG_OK; reader.row++)
        facts[reader.row] = fact_at(&reader);
    szg_status status = reader.status;
    if (status == SZG_OK)
        status = szgi_network_products_begin(context, true, count, facts);
    szgi_memory_free(facts);
    return status;
}

static szg_status keep_file(szg_context *context, const char *path) {
    szg_table *table;
    if (access(path, F_OK) != 0)
        return szgi_network_products_begin(context, true, 0, NULL);
    SZG_TRY(szgi_csv_read_schema(context, path, &columns_schema, &table));
    szg_status status = keep_rows(context, path, table);
    szg_table_close(&table);
    return status;
}

szg_status szgi_products_begin(szg_context *context, const char *folder, bool timed) {
    char *path;
    if (!timed)
        return szgi_network_products_begin(context, false, 0, NULL);
    SZG_TRY(szgi_path_join(context, folder, file_name, &path));
    szg_status status = keep_file(context, path);
    szgi_memory_free(path);
    return status;
}
