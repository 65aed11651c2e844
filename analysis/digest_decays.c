#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/sort.h"

#include "digest.h"

static double number(const szg_table *decays, int64_t row, const char *column) {
    return szg_table_get_real(decays, row, szg_table_find(decays, column));
}

/* What all rows without numbers say: the first reason. */
static const char *first_reason(const szg_table *decays) {
    const char *note = NULL;
    for (int64_t row = 0; row < szg_table_rows(decays) && !note; row++)
        if (szg_table_is_empty(decays, row, szg_table_find(decays, "channels")))
            note = szg_table_get_text(decays, row, szg_table_find(decays, "note"));
    return note;
}

szg_status digest_decays(szg_context *context, const szg_table *decays, FILE *to) {
    int64_t count = 0, rows = szg_table_rows(decays);
    double least = INFINITY, most = 0, *median;
    const char *mixer =
        rows > 0 ? szg_table_get_text(decays, 0, szg_table_find(decays, "mixer")) : "";
    const char *reason = first_reason(decays);
    SZG_TRY(szgi_memory_alloc(context, rows + 1, &median));
    for (int64_t row = 0; row < rows; row++) {
        double half = number(decays, row, "half_life_q50");
        double longest = number(decays, row, "half_life_max");
        if (szg_table_is_empty(decays, row, szg_table_find(decays, "channels")))
            continue;
        median[count++] = isnan(half) ? INFINITY : half;
        least = fmin(least, number(decays, row, "half_life_min"));
        most = fmax(most, isnan(longest) ? INFINITY : longest);
    }
    szgi_sort_reals(count, median);
    if (count > 0)
        fprintf(to,
                "Recurrent layers (%s): a typical token is half forgotten after %.3g positions, "
                "the median of %" PRId64 " heads, which range from %.3g to %.3g. It is proved that "
                "no token's decay has a half-life outside %.3g to %.3g (decays.csv).\n",
                mixer, median[(count - 1) / 2], count, median[0], median[count - 1], least, most);
    if (reason)
        fprintf(to, "Recurrent layers (%s) without numbers: %s.\n", mixer, reason);
    szgi_memory_free(median);
    return SZG_OK;
}
