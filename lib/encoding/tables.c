#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "formats/npy.h"
#include "base/random.h"
#include "encoding_private.h"

enum { PURPOSE_TABLE = 0x50450001 };

static szg_status check_finite(szg_context *context, const szg_encoding *encoding,
                               const char *path) {
    for (int64_t row = 0; row < encoding->table_rows; row++)
        for (int64_t column = 0; column < encoding->table_columns; column++)
            if (!isfinite(encoding->table[row * encoding->table_columns + column]))
                return szgi_fail(context, SZG_EDATA,
                                 "%s: row %" PRId64 ", column %" PRId64 " is not a finite number",
                                 path, row, column);
    return SZG_OK;
}

static szg_status take_array(szg_context *context, szg_encoding *encoding, const szgi_npy *npy,
                             const char *path, const char *shape) {
    if (szgi_npy_dims(npy) != 2 || szgi_npy_count(npy) == 0 || szgi_npy_is_complex(npy))
        return szgi_fail(context, SZG_EDATA, "%s: holds no real table of shape %s", path, shape);
    encoding->table_rows = szgi_npy_shape(npy)[0];
    encoding->table_columns = szgi_npy_shape(npy)[1];
    SZG_TRY(szgi_memory_alloc(context, szgi_npy_count(npy), sizeof(double), &encoding->table));
    SZG_TRY(szgi_npy_read_real(context, npy, 0, szgi_npy_count(npy), encoding->table));
    return check_finite(context, encoding, path);
}

szg_status szgi_tables_open(szg_context *context, szg_encoding *encoding, const char *shape) {
    const szgi_spec *spec = encoding->spec;
    const char *name = encoding->type->class.name;
    SZG_TRY(szgi_tables_source(context, encoding));
    if (encoding->seeded)
        return SZG_OK;
    const char *path = szgi_spec_text(spec, "table");
    szgi_npy *npy;
    szg_status status = szgi_npy_open(context, path, &npy);
    if (status == SZG_OK)
        status = take_array(context, encoding, npy, path, shape);
    if (status == SZG_OK)
        status = szgi_npy_check(context, npy);
    szgi_npy_close(&npy);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "%s", name);
}

szg_status szgi_tables_source(szg_context *context, szg_encoding *encoding) {
    const szgi_spec *spec = encoding->spec;
    const char *name = encoding->type->class.name;
    bool file = szgi_spec_given(spec, "table");
    encoding->seeded = szgi_spec_given(spec, "seed");
    if (file == encoding->seeded)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: give either table=FILE (trained numbers) or seed=S (drawn ones)%s",
                         name, file ? ", not both" : "");
    if (file && szgi_spec_given(spec, "std"))
        return szgi_fail(context, SZG_EINVAL, "%s: std= belongs to seed=, not to table=", name);
    if (encoding->seeded) {
        encoding->seed = (uint64_t)szgi_spec_integer(spec, "seed");
        encoding->deviation = szgi_spec_real(spec, "std");
    }
    return SZG_OK;
}

double szgi_tables_entry(const szg_encoding *encoding, int64_t row, int64_t column) {
    if (!encoding->seeded)
        return encoding->table[row * encoding->table_columns + column];
    szgi_stream stream = {
        .seed = encoding->seed, .step = (uint32_t)column, .purpose = PURPOSE_TABLE};
    return encoding->deviation * szgi_random_normal(&stream, (uint64_t)row);
}
