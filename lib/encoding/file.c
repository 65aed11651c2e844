/* Coefficients from a file, one row a head; lags beyond them are zero. */
#include "formats/coefficients.h"
#include "base/memory.h"
#include "encoding/record.h"

static const szgi_key keys[] = {
    {.name = "path",
     .type = SZGI_KEY_TEXT,
     .required = true,
     .doc = "a .npy, .csv or .txt file of real or complex coefficients, one row for each head"},
    {.name = "lags",
     .type = SZGI_KEY_CHOICE,
     .fallback = "hermitian",
     .choices = "hermitian|full",
     .doc = "m values for lags 0 .. m-1, or 2m-1 values, lag -(m-1) first"},
};

typedef struct file {
    double *re;    /* [heads][count]; NULL where complex */
    szg_c64 *z;    /* [heads][count]; NULL where real */
    int64_t count; /* of a head */
    bool full;     /* with negative lags too */
} file;

static szg_status open_file(szg_context *context, szg_encoding *encoding) {
    file *self = encoding->state;
    self->full = szgi_spec_choice(encoding->spec, "lags") == 1;
    szgi_coefficients read;
    SZG_TRY(szgi_coefficients_read(context, szgi_spec_text(encoding->spec, "path"),
                                   self->full ? SZGI_LAGS_FULL : SZGI_LAGS_HERMITIAN, &read));
    encoding->heads = read.heads;
    self->count = read.count;
    self->re = read.re;
    self->z = read.z;
    encoding->bad = read.bad;
    if (read.z) {
        encoding->attaches = 0;
        encoding->unfit = "complex coefficients cannot be a bias of real logits";
    }
    return SZG_OK;
}

static void close_file(void *state) {
    file *self = state;
    szgi_memory_free(self->re);
    szgi_memory_free(self->z);
}

/* Number m of lags 0 .. m-1. */
static int64_t lag_count(const file *self) {
    return self->full ? (self->count + 1) / 2 : self->count;
}

/* Is a_{-k} = conj(a_k) for every lag of the file? */
static bool is_hermitian(const file *self, int64_t head) {
    int64_t lags = lag_count(self), middle = head * self->count + lags - 1;
    if (!self->full)
        return true; /* that is what the file's layout says */
    for (int64_t k = 0; k < lags; k++) {
        if (self->re && self->re[middle + k] != self->re[middle - k])
            return false;
        const szg_c64 *z = self->z ? self->z + middle : NULL;
        if (z && (z[k].re != z[-k].re || z[k].im != -z[-k].im))
            return false;
    }
    return true;
}

/* Read off the coefficients: both sides may be given and agree. */
static szg_toeplitz_kind kind_of(const file *self, int64_t head) {
    if (!is_hermitian(self, head))
        return self->z ? SZG_TOEPLITZ_COMPLEX : SZG_TOEPLITZ_REAL;
    return self->z ? SZG_TOEPLITZ_HERMITIAN : SZG_TOEPLITZ_SYMMETRIC;
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)matrix;
    const file *self = encoding->state;
    *facts = (szg_kernel_facts){
        .matrix = "coefficients",
        .form = SZG_FORM_POLYNOMIAL,
        .definiteness = SZG_DEFINITE_UNKNOWN,
        .structure = SZG_KERNEL_COEFFICIENTS,
        .kind = kind_of(self, head),
        .rank_bound = INT64_MAX,
        .summable = true,
        .degree = lag_count(self) - 1,
        .line = "The coefficients of a file and zeros beyond them: a trigonometric polynomial",
    };
}

/* Real coefficients as a bias. */
static double lag_of(const szg_encoding *encoding, int64_t head, int64_t k) {
    const file *self = encoding->state;
    int64_t lags = lag_count(self);
    if (k <= -lags || k >= lags)
        return 0;
    int64_t at = self->full ? k + lags - 1 : k < 0 ? -k : k;
    return self->re[head * self->count + at];
}

static szg_status kernel_of(szg_context *context, const szg_encoding *encoding, int64_t head,
                            int64_t n, szg_toeplitz **out) {
    const file *self = encoding->state;
    int64_t lags = lag_count(self), used = lags < n ? lags : n;
    szg_toeplitz_kind kind = kind_of(self, head);
    bool one_side = kind == SZG_TOEPLITZ_SYMMETRIC || kind == SZG_TOEPLITZ_HERMITIAN;
    int64_t first = !self->full ? 0 : one_side ? lags - 1 : lags - used;
    int64_t start = head * self->count + first;
    const double *re = self->re ? self->re + start : NULL;
    const szg_c64 *z = self->z ? self->z + start : NULL;
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

const encoding_record szgi_encoding_file = {
    .traits = {.class = {.name = "file", .doc = "Toeplitz coefficients from a file", KEYS(keys)},
               .attaches = SZGI_ATTACH_BIAS},
    .state_size = sizeof(file),
    .open = open_file,
    .close = close_file,
    .facts = facts_of,
    .lag = lag_of,
    .kernel = kernel_of,
};
