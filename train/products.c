/* The products of a run's linear layers as a device computes them: FOLDER/products.csv, beside the
 * run's logs. It says which passes a product's epilogue took along. */
#include <inttypes.h>
#include <string.h>

#include <szego/csv.h>
#include <szego/memory.h>
#include <szego/network.h>
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
    {"note", SZG_TEXT, "what a reader must know"},
};
enum { COLUMNS = sizeof columns / sizeof *columns, ALGORITHM = 64 };

/* ---- Cells ---- */

static szg_status set_passes(szg_context *context, szg_table *table, const char *column,
                             uint32_t passes) {
    static const char *const names[] = {"bias", "relu", "gelu", "derivative", "bias_gradient"};
    char text[64] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (passes & 1u << i) {
            strcat(text, *text ? "+" : "");
            strcat(text, names[i]);
        }
    return *text ? szg_table_set_text(context, table, column, text) : SZG_OK;
}

static szg_status set_algorithm(szg_context *context, szg_table *table,
                                const unsigned char *algorithm) {
    char text[2 * ALGORITHM + 1];
    for (int i = 0; i < ALGORITHM; i++)
        szg_print(text + 2 * i, 3, "%02x", algorithm[i]);
    return szg_table_set_text(context, table, "algorithm", text);
}

static szg_status set_sizes(szg_context *context, szg_table *table, const szg_product_fact *fact) {
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

static szg_status add_product(szg_context *context, szg_table *table, const char *backend,
                              const szg_product_fact *fact) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "device", fact->device));
    SZG_TRY(szg_table_set_text(context, table, "library", fact->library));
    SZG_TRY(szg_table_set_text(context, table, "backend", backend));
    SZG_TRY(set_sizes(context, table, fact));
    SZG_TRY(szg_table_set_text(context, table, "op_a", fact->transpose_a ? "t" : "n"));
    SZG_TRY(szg_table_set_text(context, table, "op_b", fact->transpose_b ? "t" : "n"));
    SZG_TRY(szg_table_set_text(context, table, "add", fact->add ? "yes" : "no"));
    SZG_TRY(set_passes(context, table, "fused", fact->fused));
    SZG_TRY(set_passes(context, table, "separate", fact->separate));
    return set_algorithm(context, table, fact->algorithm);
}

/* ---- The file ---- */

static szg_status fill(szg_context *context, int64_t count, const szg_product_fact *facts,
                       szg_table *table) {
    const char *backend = szg_ops_name(szg_ops_of(context));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_product(context, table, backend, &facts[i]));
    return SZG_OK;
}

static szg_status write_table(szg_context *context, const char *folder, const szg_table *table) {
    char *path;
    SZG_TRY(szg_path_join(context, folder, file_name, &path));
    szg_status status = szg_csv_write(context, table, path);
    szg_memory_free(path);
    return status;
}

static szg_status write_facts(szg_context *context, const char *folder, int64_t count,
                              const szg_product_fact *facts) {
    szg_table *table;
    SZG_TRY(szg_table_open(context, "products", columns, COLUMNS, &table));
    szg_status status = fill(context, count, facts, table);
    if (status == SZG_OK)
        status = write_table(context, folder, table);
    szg_table_close(&table);
    return status;
}

szg_status szg_products_write(szg_context *context, const char *folder, int64_t *written) {
    szg_product_fact *facts;
    int64_t count, again;
    SZG_TRY(szg_network_products(context, 0, NULL, &count));
    if (count == *written)
        return SZG_OK;
    SZG_TRY(szg_memory_alloc(context, count, sizeof *facts, &facts));
    szg_status status = szg_network_products(context, count, facts, &again);
    if (status == SZG_OK)
        status = write_facts(context, folder, count, facts);
    szg_memory_free(facts);
    *written = status == SZG_OK ? count : *written;
    return status;
}
