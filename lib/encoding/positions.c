/* One vector a position, from a table: P P^T depends on i and j apart. */
#include <inttypes.h>

#include "encoding_private.h"

szg_status szgi_positions_open(szg_context *context, szg_encoding *encoding) {
    encoding->attaches = SZG_ATTACH_INPUT;
    encoding->dim = szgi_spec_integer(encoding->spec, "dim");
    encoding->limit = SZG_LAG_LIMIT;
    SZG_TRY(szgi_tables_open(context, encoding, "[positions, dim]"));
    if (encoding->seeded)
        return SZG_OK;
    if (szgi_spec_given(encoding->spec, "dim") && encoding->dim != encoding->table_columns)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: dim=%" PRId64 ", but the table has %" PRId64 " columns",
                         encoding->type->class.name, encoding->dim, encoding->table_columns);
    encoding->dim = encoding->table_columns;
    encoding->limit = encoding->table_rows;
    return SZG_OK;
}

void szgi_positions_facts(const szg_encoding *encoding, int64_t head, int64_t matrix,
                          szg_kernel_facts *facts) {
    (void)head, (void)matrix;
    *facts = (szg_kernel_facts){
        .matrix = "position gram",
        .form = SZG_FORM_NOT_TOEPLITZ,
        .definiteness = SZG_DEFINITE_SEMI,
        .structure = SZG_KERNEL_GRAM,
        .kind = SZG_TOEPLITZ_SYMMETRIC,
        .rank_bound = encoding->dim,
        .degree = -1,
        .line = "A table has no reason to give i and j the value of i - j, though it may at one N: "
                "no symbol",
    };
}

void szgi_positions_table(const szg_encoding *encoding, int64_t n, szg_encoding_table *out) {
    *out = (szg_encoding_table){.array = SZG_ARRAY_INPUT, .rows = n, .columns = encoding->dim};
}

double szgi_positions_initial(const szg_encoding *encoding, int64_t n, int64_t row,
                              int64_t column) {
    (void)n;
    return szgi_tables_entry(encoding, row, column);
}

void szgi_positions_input(const szg_encoding *encoding, int64_t i, double *p) {
    for (int64_t column = 0; column < encoding->dim; column++)
        p[column] = szgi_tables_entry(encoding, i, column);
}
