/* An encoding's own matrices: their facts, their Toeplitz operators, symbols in closed form. */
#include <inttypes.h>

#include "base/memory.h"
#include "encoding/record.h"

static szg_status check_matrix(szg_context *context, const szg_encoding *encoding, int64_t head,
                               int64_t matrix) {
    SZG_TRY(szgi_encoding_check_head(context, encoding, head));
    if (matrix >= 0 && matrix < encoding->matrices)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "%s: matrix %" PRId64 " is outside 0 .. %" PRId64,
                     szg_encoding_spec(encoding), matrix, encoding->matrices - 1);
}

szg_status szg_encoding_facts(szg_context *context, const szg_encoding *encoding, int64_t head,
                              int64_t matrix, szg_kernel_facts *out) {
    *out = (szg_kernel_facts){0};
    SZGI_ENTER(context);
    SZG_TRY(check_matrix(context, encoding, head, matrix));
    encoding->record->facts(encoding, head, matrix, out);
    return SZG_OK;
}

/* Opens a real kernel from `count` computed numbers: lags 0 .. n-1, or -(n-1) .. n-1. */
static szg_status open_real_kernel(szg_context *context, const szg_encoding *encoding, int64_t head,
                                   const szg_kernel_facts *facts, int64_t n, szg_toeplitz **out) {
    bool symmetric = facts->kind == SZG_TOEPLITZ_SYMMETRIC;
    int64_t count = facts->structure == SZG_KERNEL_ZERO ? 1 : symmetric ? n : 2 * n - 1;
    double *lags;
    SZG_TRY(szgi_memory_require(context, count, 2, sizeof *lags, "the kernel as coefficients",
                                "ask for its range, or for a kernel with a closed form"));
    SZG_TRY(szgi_memory_alloc(context, count, &lags));
    szg_status status =
        szgi_encoding_lags(context, encoding, head, facts, symmetric ? 0 : 1 - n, count, lags);
    if (status == SZG_OK && symmetric)
        status = szg_toeplitz_open_symmetric(context, n, count, lags, out);
    else if (status == SZG_OK)
        status = szg_toeplitz_open_real(context, n, n, lags, out);
    szgi_memory_free(lags);
    return status;
}

szg_status szgi_encoding_kernel_of(szg_context *context, const szg_encoding *encoding, int64_t head,
                                   const szg_kernel_facts *facts, int64_t n, szg_toeplitz **out) {
    *out = NULL;
    SZG_TRY(szgi_encoding_check_length(context, encoding, n));
    if (facts->form == SZG_FORM_NOT_TOEPLITZ)
        return szgi_fail(context, SZG_EDOMAIN, "%s: %s", szg_encoding_spec(encoding), facts->line);
    if (n > SZGI_LAG_LIMIT)
        return szgi_fail(context, SZG_ENOMEM,
                         "%s: N = %" PRId64 " is too many coefficients, at most %" PRId64
                         ": use the closed form",
                         szg_encoding_spec(encoding), n, SZGI_LAG_LIMIT);
    if (encoding->record->kernel)
        return encoding->record->kernel(context, encoding, head, n, out);
    return open_real_kernel(context, encoding, head, facts, n, out);
}

szg_status szg_encoding_kernel(szg_context *context, const szg_encoding *encoding, int64_t head,
                               int64_t matrix, int64_t n, szg_toeplitz **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_kernel_facts facts;
    SZG_TRY(szg_encoding_facts(context, encoding, head, matrix, &facts));
    return szgi_encoding_kernel_of(context, encoding, head, &facts, n, out);
}

szg_status szgi_encoding_symbol(szg_context *context, const szg_encoding *encoding, int64_t head,
                                int64_t matrix, double theta, double *value) {
    SZG_TRY(check_matrix(context, encoding, head, matrix));
    if (!encoding->record->symbol)
        return szgi_encoding_lacks(context, encoding, "symbol in closed form");
    *value = encoding->record->symbol(encoding, head, theta);
    return SZG_OK;
}

szg_status szgi_encoding_symbol_range(szg_context *context, const szg_encoding *encoding,
                                      int64_t head, int64_t matrix, szg_interval *min,
                                      szg_interval *max, double *theta_min, double *theta_max) {
    SZG_TRY(check_matrix(context, encoding, head, matrix));
    if (!encoding->record->symbol_range)
        return szgi_encoding_lacks(context, encoding, "symbol in closed form");
    encoding->record->symbol_range(encoding, head, min, max, theta_min, theta_max);
    return SZG_OK;
}
