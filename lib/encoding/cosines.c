#include <math.h>

#include "base/memory.h"
#include "base/sort.h"
#include "encoding/cosines.h"

void szgi_lag_phase(int64_t k, double theta, double *cosine, double *sine) {
    double product = (double)k * theta;
    double rest = fma((double)k, theta, -product);
    double s, c;
    sincos(product, &s, &c);
    *cosine = c - rest * s;
    *sine = s + rest * c;
}

void szgi_cosines_frequencies(int64_t pairs, int64_t size, double base, double *theta) {
    for (int64_t t = 0; t < pairs; t++)
        theta[t] = pow(base, -2.0 * (double)t / (double)size);
}

/* pi is irrational: two doubles below pi are equal modulo 2 pi up to sign only where their moduli
 * are equal, and none is pi itself. Every frequency is at most 1. */
szg_status szgi_cosines_atoms(szg_context *context, int64_t pairs, const double *theta,
                              bool constant, int64_t *atoms) {
    double *sorted;
    SZG_TRY(szgi_memory_alloc(context, pairs, &sorted));
    for (int64_t t = 0; t < pairs; t++)
        sorted[t] = fabs(theta[t]);
    szgi_sort_reals(pairs, sorted);
    *atoms = constant;
    for (int64_t t = 0; t < pairs; t++) {
        if (t > 0 && sorted[t] == sorted[t - 1])
            continue;
        if (sorted[t] > 0)
            *atoms += 2;
        else
            *atoms = 1;
    }
    szgi_memory_free(sorted);
    return SZG_OK;
}

void szgi_cosines_facts(const szgi_rotary *rotary, int64_t atoms, const char *matrix, double scale,
                        szg_kernel_facts *facts) {
    *facts = (szg_kernel_facts){
        .matrix = matrix,
        .form = SZG_FORM_ATOMS,
        .definiteness = SZG_DEFINITE_SEMI,
        .structure = SZG_KERNEL_COSINES,
        .kind = SZG_TOEPLITZ_SYMMETRIC,
        .parameter = scale,
        .pairs = rotary->pairs,
        .theta = rotary->theta,
        .unrotated = rotary->unrotated,
        .rank_bound = atoms,
        .rank_exact = true,
        .degree = -1,
        .line = rotary->pairs ? "A sum of cosines is almost periodic: point masses at the "
                                "frequencies, finite rank, eigenvalues that grow like N"
                              : "No dimension rotates: the kernel is the all-ones matrix, one "
                                "eigenvalue N and zeros",
    };
}

double szgi_cosines_lag(const szg_kernel_facts *facts, int64_t k) {
    double sum = 0, cosine, sine;
    for (int64_t t = 0; t < facts->pairs; t++) {
        szgi_lag_phase(k, facts->theta[t], &cosine, &sine);
        sum += cosine;
    }
    double constant = (double)facts->unrotated, dim = 2 * (double)facts->pairs + constant;
    return facts->parameter * (2 * sum + constant) / dim;
}

/* ---- Rows ---- */

szg_status szgi_cosines_require_even(szg_context *context, const szgi_spec *spec, const char *key,
                                     int64_t value) {
    if (value % 2 == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "%s: %s=%lld is odd: dimensions rotate in pairs",
                     szgi_spec_name(spec), key, (long long)value);
}

szg_status szgi_sinusoid_open(szg_context *context, const szgi_spec *spec, const char *dim_key,
                              sinusoid *out) {
    out->dim = szgi_spec_integer(spec, dim_key);
    SZG_TRY(szgi_cosines_require_even(context, spec, dim_key, out->dim));
    int64_t pairs = out->dim / 2;
    SZG_TRY(szgi_memory_alloc(context, pairs, &out->theta));
    szgi_cosines_frequencies(pairs, out->dim, szgi_spec_real(spec, "base"), out->theta);
    return szgi_cosines_atoms(context, pairs, out->theta, false, &out->atoms);
}

void szgi_sinusoid_close(sinusoid *rows) {
    szgi_memory_free(rows->theta);
}

/* P P^T = sum_t cos(k theta_t). */
void szgi_sinusoid_facts(const sinusoid *rows, szg_kernel_facts *facts) {
    const szgi_rotary pairs = {.dim = rows->dim, .pairs = rows->dim / 2, .theta = rows->theta};
    szgi_cosines_facts(&pairs, rows->atoms, "position gram", (double)pairs.pairs, facts);
}

void szgi_sinusoid_row(const sinusoid *rows, int64_t i, double *p) {
    for (int64_t t = 0; t < rows->dim / 2; t++)
        szgi_lag_phase(i, rows->theta[t], &p[2 * t + 1], &p[2 * t]);
}
