#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "formats/npy.h"
#include "base/random.h"
#include "encoding/tables.h"

enum { PURPOSE_TABLE = 0x50450001 };

static szg_status check_finite(szg_context *context, const number_table *table, const char *path) {
    for (int64_t row = 0; row < table->rows; row++)
        for (int64_t column = 0; column < table->columns; column++)
            if (!isfinite(table->value[row * table->columns + column]))
                return szgi_fail(context, SZG_EDATA,
                                 "%s: row %" PRId64 ", column %" PRId64 " is not a finite number",
                                 path, row, column);
    return SZG_OK;
}

static szg_status take_array(szg_context *context, const szgi_npy *npy, const char *path,
                             const char *shape, number_table *out) {
    if (szgi_npy_dims(npy) != 2 || szgi_npy_count(npy) == 0 || szgi_npy_is_complex(npy))
        return szgi_fail(context, SZG_EDATA, "%s: holds no real table of shape %s", path, shape);
    out->rows = szgi_npy_shape(npy)[0];
    out->columns = szgi_npy_shape(npy)[1];
    SZG_TRY(szgi_memory_alloc(context, szgi_npy_count(npy), &out->value));
    SZG_TRY(szgi_npy_read_real(context, npy, 0, szgi_npy_count(npy), out->value));
    return check_finite(context, out, path);
}

szg_status szgi_table_open(szg_context *context, const szgi_spec *spec, const char *shape,
                           number_table *out) {
    SZG_TRY(szgi_table_source(context, spec, out));
    if (out->seeded)
        return SZG_OK;
    const char *path = szgi_spec_text(spec, "table");
    szgi_npy *npy;
    szg_status status = szgi_npy_open(context, path, &npy);
    if (status == SZG_OK)
        status = take_array(context, npy, path, shape, out);
    if (status == SZG_OK)
        status = szgi_npy_check(context, npy);
    szgi_npy_close(&npy);
    return status == SZG_OK ? SZG_OK
                            : szgi_fail_prefix(context, status, "%s", szgi_spec_name(spec));
}

szg_status szgi_table_source(szg_context *context, const szgi_spec *spec, number_table *out) {
    const char *name = szgi_spec_name(spec);
    bool file = szgi_spec_given(spec, "table");
    out->seeded = szgi_spec_given(spec, "seed");
    if (file == out->seeded)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: give either table=FILE (trained numbers) or seed=S (drawn ones)%s",
                         name, file ? ", not both" : "");
    if (file && szgi_spec_given(spec, "std"))
        return szgi_fail(context, SZG_EINVAL, "%s: std= belongs to seed=, not to table=", name);
    if (out->seeded) {
        out->seed = (uint64_t)szgi_spec_integer(spec, "seed");
        out->deviation = szgi_spec_real(spec, "std");
    }
    return SZG_OK;
}

double szgi_table_entry(const number_table *table, int64_t row, int64_t column) {
    if (!table->seeded)
        return table->value[row * table->columns + column];
    szgi_stream stream = {.seed = table->seed, .step = (uint32_t)column, .purpose = PURPOSE_TABLE};
    return table->deviation * szgi_random_normal(&stream, (uint64_t)row);
}

void szgi_table_close(number_table *table) {
    szgi_memory_free(table->value);
}
