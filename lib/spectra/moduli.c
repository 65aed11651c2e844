/* Singular values of symmetric matrices from their eigenvalues. */
#include "solvers.h"
#include "spectra_private.h"

void szgi_spectrum_to_moduli(szg_spectrum *spectrum) {
    int64_t count = spectrum->count;
    bool complete = count + spectrum->zeros == spectrum->n;
    bool definite = complete || count == 0 || spectrum->re[0] > 0 || spectrum->re[count - 1] < 0;
    for (int64_t i = 0; i < count; i++)
        spectrum->re[i] = fabs(spectrum->re[i]);
    szgi_sort_descending(count, spectrum->re);
    for (int64_t i = count / 2; !definite && i < count; i++)
        spectrum->re[i] = NAN;
    if (!definite)
        spectrum->note = "the least singular values lie inside the spectrum: not established";
    szgi_memory_free(spectrum->error);
    spectrum->error = NULL;
    spectrum->kind = SZG_SPECTRUM_SINGULAR;
    spectrum->normal = spectrum->certified = false;
    spectrum->trace = NAN;
}

/* Of ends of two signs only bounds of every value tell the least modulus. */
static szg_interval least_modulus(const szg_spectrum *s) {
    if (s->zeros > 0)
        return (szg_interval){0, 0};
    if (s->min.lo >= 0)
        return s->min;
    if (s->max.hi <= 0)
        return (szg_interval){-s->max.hi, -s->max.lo};
    if (!s->lo)
        return (szg_interval){NAN, NAN};
    szg_interval least = {INFINITY, INFINITY};
    for (int64_t i = 0; i < s->count; i++) {
        least.lo = fmin(least.lo, fmax(fmax(s->lo[i], -s->hi[i]), 0));
        least.hi = fmin(least.hi, fmax(s->hi[i], -s->lo[i]));
    }
    return least;
}

bool szgi_spectrum_moduli(const szg_spectrum *eigenvalues, szg_interval *min, szg_interval *max) {
    const szg_interval a = eigenvalues->min, b = eigenvalues->max;
    *min = *max = (szg_interval){NAN, NAN};
    if (!eigenvalues->certified)
        return false;
    *min = least_modulus(eigenvalues);
    *max = (szg_interval){fmax(fmax(b.lo, -a.hi), 0), fmax(b.hi, -a.lo)};
    return true;
}

static szg_status moduli(szg_context *context, szgi_solver *eigenvalues, const szg_matrix *matrix,
                         const szg_spectra_options *options, szg_spectrum *out) {
    SZG_TRY(eigenvalues(context, matrix, options, out));
    szgi_spectrum_to_moduli(out);
    return SZG_OK;
}

szg_status szgi_closed_singular(szg_context *context, const szg_matrix *matrix,
                                const szg_spectra_options *options, szg_spectrum *out) {
    return moduli(context, szgi_closed_eigen, matrix, options, out);
}

szg_status szgi_cosines_singular(szg_context *context, const szg_matrix *matrix,
                                 const szg_spectra_options *options, szg_spectrum *out) {
    return moduli(context, szgi_cosines_eigen, matrix, options, out);
}
