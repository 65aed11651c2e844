/* The products of a run's linear layers as a device computes them: FOLDER/products.csv, beside the
 * run's logs. It says which passes a product's epilogue took along, and by which algorithm it is
 * computed: a run that times algorithms goes on with those that stand there. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "formats/csv.h"
#include "base/memory.h"
#include "network/network.h"
#include "run_private.h"

static const char file_name[] = "products.csv";

static const szg_column columns[] = {
    {"device", SZG_TEXT, "the device"},
    {"library", SZG_TEXT, "the library of products and its version"},
    {"backend", SZG_TEXT, "the backend, which names the precision"},
    {"m", SZG_INTEGER, "rows of the result, which is op(a) op(b), by columns"},
    {"n", SZG_INTEGER, "columns of the result"},
    {"k", SZG_INTEGER, "length of the sums"},
    {"op_a", SZG_TEXT, "n: as it is; t: transposed"},
    {"op_b", SZG_TEXT, "n: as it is; t: transposed"},
    {"lda", SZG_INTEGER, "leading dimension of a"},
    {"ldb", SZG_INTEGER, "leading dimension of b"},
    {"ldc", SZG_INTEGER, "leading dimension of the result"},
    {"add", SZG_TEXT, "yes: added to the result; no: written"},
    {"alignment_a", SZG_INTEGER, "bytes that the address of a is a multiple of, 256 at most"},
    {"alignment_b", SZG_INTEGER, "the same of b"},
    {"alignment_c", SZG_INTEGER, "the same of the result"},
    {"alignment_bias", SZG_INTEGER, "the same of the bias; empty: there is none"},
    {"fused", SZG_TEXT,
     "passes that the product's epilogue took along, with + between; empty: none"},
    {"separate", SZG_TEXT, "passes of their own around it, with + between; empty: none"},
    {"algorithm", SZG_TEXT, "the library's choice: its 64 opaque bytes, in hexadecimal"},
    {"candidates", SZG_INTEGER, "algorithms of which it was the fastest; empty: none was timed"},
    {"microseconds", SZG_REAL, "that it took; empty: none was timed"},
    {"note", SZG_TEXT, "what a reader must know"},
};
/* The order of `columns`. */
enum {
    DEVICE,
    LIBRARY,
    BACKEND,
    M,
    N,
    K,
    OP_A,
    OP_B,
    LDA,
    LDB,
    LDC,
    ADD,
    ALIGNMENT_A,
    ALIGNMENT_B,
    ALIGNMENT_C,
    ALIGNMENT_BIAS,
    FUSED,
    SEPARATE,
    ALGORITHM_TEXT,
    CANDIDATES,
    MICROSECONDS
};
enum { COLUMNS = sizeof columns / sizeof *columns, ALGORITHM = 64 };

/* ---- Cells ---- */

/* By bit. */
static const char *const pass_names[] = {"bias", "relu", "gelu", "derivative", "bias_gradient"};
enum { PASSES = sizeof pass_names / sizeof *pass_names };

static szg_status set_passes(szg_context *context, szg_table *table, const char *column,
                             uint32_t passes) {
    char text[64] = "";
    for (int i = 0; i < PASSES; i++)
        if (passes & 1u << i) {
            strcat(text, *text ? "+" : "");
            strcat(text, pass_names[i]);
        }
    return *text ? szg_table_set_text(context, table, column, text) : SZG_OK;
}

static szg_status set_algorithm(szg_context *context, szg_table *table,
                                const unsigned char *algorithm) {
    char text[2 * ALGORITHM + 1];
    for (int i = 0; i < ALGORITHM; i++)
        szgi_print(text + 2 * i, 3, "%02x", algorithm[i]);
    return szg_table_set_text(context, table, "algorithm", text);
}

static szg_status set_sizes(szg_context *context, szg_table *table, const szgi_product_fact *fact) {
    const struct {
        const char *column;
        int64_t value;
    } cells[] = {{"m", fact->m},
                 {"n", fact->n},
                 {"k", fact->k},
                 {"lda", fact->lda},
                 {"ldb", fact->ldb},
                 {"ldc", fact->ldc},
                 {"alignment_a", fact->alignment_a},
                 {"alignment_b", fact->alignment_b},
                 {"alignment_c", fact->alignment_c}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        SZG_TRY(szg_table_set_integer(context, table, cells[i].column, cells[i].value));
    return fact->alignment_bias > 0
               ? szg_table_set_integer(context, table, "alignment_bias", fact->alignment_bias)
               : SZG_OK;
}

static szg_status set_time(szg_context *context, szg_table *table, const szgi_product_fact *fact) {
    if (fact->candidates == 0)
        return SZG_OK;
    SZG_TRY(szg_table_set_integer(context, table, "candidates", fact->candidates));
    return szg_table_set_real(context, table, "microseconds", fact->microseconds);
}

static szg_status add_product(szg_context *context, szg_table *table,
                              const szgi_product_fact *fact) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "device", fact->device));
    SZG_TRY(szg_table_set_text(context, table, "library", fact->library));
    SZG_TRY(szg_table_set_text(context, table, "backend", fact->backend));
    SZG_TRY(set_sizes(context, table, fact));
    SZG_TRY(szg_table_set_text(context, table, "op_a", fact->transpose_a ? "t" : "n"));
    SZG_TRY(szg_table_set_text(context, table, "op_b", fact->transpose_b ? "t" : "n"));
    SZG_TRY(szg_table_set_text(context, table, "add", fact->add ? "yes" : "no"));
    SZG_TRY(set_passes(context, table, "fused", fact->fused));
    SZG_TRY(set_passes(context, table, "separate", fact->separate));
    SZG_TRY(set_time(context, table, fact));
    return set_algorithm(context, table, fact->algorithm);
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
    const char *text = text_at(self, ALGORITHM_TEXT);
    if (strlen(text) != 2 * ALGORITHM || strspn(text, digits) != 2 * ALGORITHM) {
        refuse(self, ALGORITHM_TEXT, "64 bytes in hexadecimal");
        return;
    }
    for (int i = 0; i < ALGORITHM; i++)
        out[i] = (unsigned char)(16 * (strchr(digits, text[2 * i]) - digits) +
                                 (strchr(digits, text[2 * i + 1]) - digits));
}

static szgi_product_fact fact_at(row_reader *self) {
    szgi_product_fact fact = {.backend = text_at(self, BACKEND),
                              .device = text_at(self, DEVICE),
                              .library = text_at(self, LIBRARY),
                              .m = size_at(self, M, 1),
                              .n = size_at(self, N, 1),
                              .k = size_at(self, K, 1),
                              .lda = size_at(self, LDA, 1),
                              .ldb = size_at(self, LDB, 1),
                              .ldc = size_at(self, LDC, 1),
                              .transpose_a = choice_at(self, OP_A, "n", "t"),
                              .transpose_b = choice_at(self, OP_B, "n", "t"),
                              .add = choice_at(self, ADD, "no", "yes"),
                              .alignment_a = size_at(self, ALIGNMENT_A, 1),
                              .alignment_b = size_at(self, ALIGNMENT_B, 1),
                              .alignment_c = size_at(self, ALIGNMENT_C, 1),
                              .alignment_bias = size_at(self, ALIGNMENT_BIAS, 0),
                              .fused = passes_at(self, FUSED),
                              .separate = passes_at(self, SEPARATE),
                              .candidates = size_at(self, CANDIDATES, 0)};
    algorithm_at(self, fact.algorithm);
    if (fact.candidates > 0)
        fact.microseconds = szg_table_get_real(self->table, self->row, MICROSECONDS);
    if (!(fact.microseconds >= 0) || isinf(fact.microseconds))
        refuse(self, MICROSECONDS, "a time");
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
    SZG_TRY(szg_table_open(context, "products", columns, COLUMNS, &table));
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
    SZG_TRY(szgi_memory_alloc(context, count, sizeof *facts, &facts));
    szg_status status = szgi_network_products(context, count, facts, &again);
    if (status == SZG_OK)
        status = write_facts(context, folder, count, facts);
    szgi_memory_free(facts);
    *written = status == SZG_OK ? count : *written;
    return status;
}

/* ---- Going on with what was chosen ---- */

static szg_status keep_rows(szg_context *context, const char *path, const szg_table *table) {
    int64_t count = szg_table_rows(table);
    row_reader reader = {context, path, table, 0, SZG_OK};
    szgi_product_fact *facts;
    SZG_TRY(szgi_memory_alloc(context, count, sizeof *facts, &facts));
    for (; reader.row < count && reader.status == SZG_OK; reader.row++)
        facts[reader.row] = fact_at(&reader);
    szg_status status = reader.status;
    if (status == SZG_OK)
        status = szgi_network_products_time(context, count, facts);
    szgi_memory_free(facts);
    return status;
}

static szg_status keep_file(szg_context *context, const char *path) {
    szg_table *table;
    if (access(path, F_OK) != 0)
        return szgi_network_products_time(context, 0, NULL);
    SZG_TRY(szgi_csv_read(context, path, columns, COLUMNS, &table));
    szg_status status = keep_rows(context, path, table);
    szg_table_close(&table);
    return status;
}

szg_status szgi_products_time(szg_context *context, const char *folder) {
    char *path;
    SZG_TRY(szgi_path_join(context, folder, file_name, &path));
    szg_status status = keep_file(context, path);
    szgi_memory_free(path);
    return status;
}
