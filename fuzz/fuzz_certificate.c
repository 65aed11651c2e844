#include "theory/claims.h"

#include "fuzz.h"

/* A certificate file made of any bytes is read or refused; what it says is confirmed or refused,
 * row by row, with a reason. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szg_context *context = fuzz_context();
    szg_table *results;
    int64_t refused, seen = 0;
    szg_status status = szgi_certificates_check_text(context, "fuzz", (const char *)data,
                                                     (int64_t)size, &results, &refused);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz");
        return 0;
    }
    int64_t verdict = szg_table_find(results, "verdict"), note = szg_table_find(results, "note");
    for (int64_t i = 0; i < szg_table_rows(results); i++) {
        bool confirmed = strcmp(szg_table_get_text(results, i, verdict), "confirmed") == 0;
        FUZZ_PROMISE(confirmed || szg_table_get_text(results, i, note));
        seen += !confirmed;
    }
    FUZZ_PROMISE(seen == refused);
    szg_table_close(&results);
    return 0;
}
