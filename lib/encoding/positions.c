/* One vector a position, from a table: P P^T depends on i and j apart. */
#include <inttypes.h>

#include "encoding/positions.h"

szg_status szgi_positions_open(szg_context *context, szg_encoding *encoding) {
    number_table *table = encoding->state;
    encoding->dim = szgi_spec_integer(encoding->spec, "dim");
    encoding->limit = SZGI_LAG_LIMIT;
    SZG_TRY(szgi_table_open(context, encoding->spec, "[positions, dim]", table));
    if (table->seeded)
        return SZG_OK;
    if (szgi_spec_given(encoding->spec, "dim") && encoding->dim != table->columns)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: dim=%" PRId64 ", but the table has %" PRId64 " columns",
                         szgi_spec_name(encoding->spec), encoding->dim, table->columns);
    encoding->dim = table->columns;
    encoding->limit = table->rows;
    return SZG_OK;
}

void szgi_positions_close(void *state) {
    szgi_table_close(state);
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

void szgi_positions_table(const szg_encoding *encoding, int64_t n, szgi_encoding_table *out) {
    *out = (szgi_encoding_table){.array = SZGI_ARRAY_INPUT, .rows = n, .columns = encoding->dim};
}

double szgi_positions_initial(const szg_encoding *encoding, int64_t n, int64_t row,
                              int64_t column) {
    (void)n;
    return szgi_table_entry(encoding->state, row, column);
}

void szgi_positions_input(const szg_encoding *encoding, int64_t i, double *p) {
    for (int64_t column = 0; column < encoding->dim; column++)
        p[column] = szgi_table_entry(encoding->state, i, column);
}
