/* Coefficients from a file, one row a head; lags beyond them are zero. */
#include "formats/coefficients.h"
#include "base/memory.h"
#include "encoding_private.h"

static const szgi_key keys[] = {
    {.name = "path",
     .type = SZG_KEY_TEXT,
     .required = true,
     .doc = "a .npy, .csv or .txt file of real or complex coefficients, one row a head"},
    {.name = "lags",
     .type = SZG_KEY_CHOICE,
     .fallback = "hermitian",
     .choices = "hermitian|full",
     .doc = "m values for lags 0 .. m-1, or 2m-1 values, lag -(m-1) first"},
};

static szg_status open_file(szg_context *context, szg_encoding *encoding) {
    encoding->full = szgi_spec_choice(encoding->spec, "lags") == 1;
    szgi_coefficients read;
    SZG_TRY(szgi_coefficients_read(context, szgi_spec_text(encoding->spec, "path"),
                                   encoding->full ? SZG_LAGS_FULL : SZG_LAGS_HERMITIAN, &read));
    encoding->heads = encoding->table_rows = read.heads;
    encoding->table_columns = read.count;
    encoding->table = read.re;
    encoding->coefficient = read.z;
    encoding->attaches = read.re ? SZG_ATTACH_BIAS : 0;
    return SZG_OK;
}

/* Number m of lags 0 .. m-1. */
static int64_t lag_count(const szg_encoding *encoding) {
    return encoding->full ? (encoding->table_columns + 1) / 2 : encoding->table_columns;
}

/* Is a_{-k} = conj(a_k) for every lag of the file? */
static bool is_hermitian(const szg_encoding *encoding, int64_t head) {
    int64_t lags = lag_count(encoding), middle = head * encoding->table_columns + lags - 1;
    if (!encoding->full)
        return true; /* that is what the file's layout says */
    for (int64_t k = 0; k < lags; k++) {
        if (encoding->table && encoding->table[middle + k] != encoding->table[middle - k])
            return false;
        const szg_c64 *z = encoding->coefficient ? encoding->coefficient + middle : NULL;
        if (z && (z[k].re != z[-k].re || z[k].im != -z[-k].im))
            return false;
    }
    return true;
}

/* Read off the coefficients: both sides may be given and agree. */
static szg_toeplitz_kind kind_of(const szg_encoding *encoding, int64_t head) {
    if (!is_hermitian(encoding, head))
        return encoding->coefficient ? SZG_TOEPLITZ_COMPLEX : SZG_TOEPLITZ_REAL;
    return encoding->coefficient ? SZG_TOEPLITZ_HERMITIAN : SZG_TOEPLITZ_SYMMETRIC;
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)matrix;
    *facts = (szg_kernel_facts){
        .matrix = "coefficients",
        .form = SZG_FORM_POLYNOMIAL,
        .definiteness = SZG_DEFINITE_UNKNOWN,
        .structure = SZG_KERNEL_COEFFICIENTS,
        .kind = kind_of(encoding, head),
        .rank_bound = INT64_MAX,
        .summable = true,
        .degree = lag_count(encoding) - 1,
        .line = "The coefficients of a file and zeros beyond them: a trigonometric polynomial",
    };
}

/* Real coefficients as a bias. */
static double lag_of(const szg_encoding *encoding, int64_t head, int64_t k) {
    int64_t lags = lag_count(encoding);
    if (k <= -lags || k >= lags)
        return 0;
    int64_t at = encoding->full ? k + lags - 1 : k < 0 ? -k : k;
    return encoding->table[head * encoding->table_columns + at];
}

static szg_status kernel_of(szg_context *context, const szg_encoding *encoding, int64_t head,
                            int64_t n, szg_toeplitz **out) {
    int64_t lags = lag_count(encoding), used = lags < n ? lags : n;
    szg_toeplitz_kind kind = kind_of(encoding, head);
    bool one_side = kind == SZG_TOEPLITZ_SYMMETRIC || kind == SZG_TOEPLITZ_HERMITIAN;
    int64_t first = !encoding->full ? 0 : one_side ? lags - 1 : lags - used;
    int64_t start = head * encoding->table_columns + first;
    const double *re = encoding->table ? encoding->table + start : NULL;
    const szg_c64 *z = encoding->coefficient ? encoding->coefficient + start : NULL;
    switch (kind) {
    case SZG_TOEPLITZ_SYMMETRIC:
        return szg_toeplitz_open_symmetric(context, n, used, re, out);
    case SZG_TOEPLITZ_HERMITIAN:
        return szg_toeplitz_open_hermitian(context, n, used, z, out);
    case SZG_TOEPLITZ_REAL:
        return szg_toeplitz_open_real(context, n, used, re, out);
    case SZG_TOEPLITZ_COMPLEX:
        return szg_toeplitz_open_complex(context, n, used, z, out);
    }
    return szgi_fail(context, SZG_EINTERNAL, "a Toeplitz kind outside the enumeration");
}

const encoding_type szgi_encoding_file = {
    .class = {.name = "file",
              .doc = "Toeplitz coefficients from a file",
              .key = keys,
              .keys = sizeof keys / sizeof *keys},
    .open = open_file,
    .facts = facts_of,
    .lag = lag_of,
    .kernel = kernel_of,
};
