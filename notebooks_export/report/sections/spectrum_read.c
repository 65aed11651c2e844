/* The values of one matrix, and what the other tables say of its symbol. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "match.h"
#include "spectrum.h"

const char *const szgi_spectrum_order[] = {"result", "source", "layer", "head",
                                           "matrix", "n",      NULL};

bool szgi_cell_says(rows of, const char *column, const char *what) {
    const char *text = of.count > 0 ? szgi_rows_text(of, 0, column) : NULL;
    return text && strcmp(text, what) == 0;
}

/* The zeros by structure; 0 where the column is missing, as in results of earlier versions. */
static int64_t structural_zeros(rows values) {
    double zeros = values.count > 0 ? szgi_rows_real(values, 0, "zeros") : NAN;
    return zeros >= 1 && zeros < 0x1p62 ? (int64_t)zeros : 0;
}

/* Takes the row of the zeros out of the listed values: from here on they are counted, not listed,
 * as the rows of earlier versions have them, which lack `multiplicity` and that row. */
static void count_zeros(spectrum_series *of) {
    for (int64_t i = 0; of->zeros > 0 && i < of->values.count; i++) {
        if (of->re[i] != 0 || of->im[i] != 0 ||
            szgi_rows_real(of->values, i, "multiplicity") != (double)of->zeros)
            continue;
        size_t after = (size_t)(of->values.count - i - 1);
        memmove(of->re + i, of->re + i + 1, after * sizeof *of->re);
        memmove(of->im + i, of->im + i + 1, after * sizeof *of->im);
        of->listed--;
        return;
    }
}

spectrum_bounds szgi_spectrum_bounds_of(rows stated, bool singular) {
    spectrum_bounds bounds = {NAN, NAN, NAN, false, false, false};
    bool in_summary = szg_table_find(stated.table, "symbol_max_hi") >= 0;
    double lo = szgi_rows_real(stated, 0, in_summary ? "symbol_min_lo" : "min_lo");
    double hi = szgi_rows_real(stated, 0, in_summary ? "symbol_max_hi" : "max_hi");
    bounds.part = szgi_cell_says(stated, "bound_of", "toeplitz_part");
    bounds.is_modulus = bounds.part || szgi_cell_says(stated, "bound_of", "singular_values");
    if (!(lo <= hi) || isinf(lo) || isinf(hi))
        return bounds;
    bounds.unsaid = !szgi_rows_text(stated, 0, "bound_of");
    if (bounds.part || !(bounds.is_modulus || szgi_cell_says(stated, "bound_of", "eigenvalues")))
        return bounds;
    bounds.radius = fmax(fabs(lo), fabs(hi));
    bounds.hi = singular || bounds.is_modulus ? bounds.radius : hi;
    bounds.lo = singular ? 0 : bounds.is_modulus ? -bounds.radius : lo;
    return bounds;
}

bool szgi_symbol_is_coarse(rows samples) {
    bool closed = szgi_cell_says(samples, "convention", "closed_form");
    return !closed && 2 * (szgi_rows_real(samples, 0, "n") - 1) >= (double)samples.count;
}

static bool any_nonzero(int64_t count, const double *value) {
    for (int64_t i = 0; i < count; i++)
        if (value[i] != 0 && !isnan(value[i]))
            return true;
    return false;
}

/* The mean distance of a function that runs from sample to sample from the sample next to it: a
 * quarter of its way round. */
static double blur_of(int64_t count, const double *sample) {
    double way = 0;
    for (int64_t i = 0; i < count; i++)
        way += fabs(sample[i] - sample[i > 0 ? i - 1 : count - 1]);
    return way / (4 * (double)count);
}

/* Of a real symbol its values; for singular values those of its modulus. Eigenvalues have nothing
 * to compare with in a complex symbol. */
static szg_status read_symbol(szg_context *context, spectrum_series *out) {
    double *re, *im;
    if (!out->samples)
        return SZG_OK;
    rows samples = *out->samples;
    SZG_TRY(szgi_rows_reals(context, samples, "re", &re));
    szg_status status = szgi_rows_reals(context, samples, "im", &im);
    if (status == SZG_OK) {
        for (int64_t i = 0; out->singular && i < samples.count; i++)
            re[i] = hypot(re[i], im[i]);
        out->blur = blur_of(samples.count, re);
        if (out->singular || !any_nonzero(samples.count, im))
            status = szgi_quantiles_of(context, samples.count, re, 0, &out->symbol);
        szgi_memory_free(im);
    }
    szgi_memory_free(re);
    return status;
}

static szg_status read_values(szg_context *context, spectrum_series *out) {
    SZG_TRY(szgi_rows_reals(context, out->values, "re", &out->re));
    SZG_TRY(szgi_rows_reals(context, out->values, "im", &out->im));
    count_zeros(out);
    out->complex = !out->singular && any_nonzero(out->listed, out->im);
    SZG_TRY(szgi_quantiles_of(context, out->listed, out->re, out->zeros, &out->spectrum));
    return read_symbol(context, out);
}

szg_status szgi_spectrum_read(szg_context *context, const spectrum_tables *tables, rows values,
                              spectrum_series *out) {
    const char *kind = szgi_rows_text(values, 0, "kind");
    *out =
        (spectrum_series){.values = values,
                          .samples = szgi_match_find(&tables->samples, values, szgi_spectrum_order),
                          .range = szgi_match_find(&tables->range, values, szgi_spectrum_order),
                          .summary = szgi_match_find(&tables->summary, values, szgi_spectrum_order),
                          .singular = kind && strcmp(kind, "singular") == 0,
                          .n = szgi_rows_real(values, 0, "n"),
                          .listed = values.count,
                          .zeros = structural_zeros(values),
                          .lo = NAN,
                          .hi = NAN,
                          .radius = NAN};
    const rows *stated = out->range ? out->range : out->summary;
    if (stated) {
        spectrum_bounds bounds = szgi_spectrum_bounds_of(*stated, out->singular);
        out->lo = bounds.lo;
        out->hi = bounds.hi;
        out->radius = bounds.radius;
        out->part = bounds.part;
        out->unsaid = bounds.unsaid;
    }
    szg_status status = read_values(context, out);
    if (status != SZG_OK)
        szgi_spectrum_free(out);
    return status;
}

void szgi_spectrum_free(spectrum_series *series) {
    szgi_memory_free(series->re);
    szgi_memory_free(series->im);
    szgi_quantiles_free(&series->spectrum);
    szgi_quantiles_free(&series->symbol);
    *series = (spectrum_series){0};
}
