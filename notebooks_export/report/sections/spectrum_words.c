/* What a reader can see in a figure of eigenvalues, counted in the data. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "spectrum.h"
#include "symbol.h"

enum { METHOD_CHARACTERS = 120, DIGITS = 6 };

static const char *values_name(const spectrum_series *series) {
    return series->singular ? "singular values" : "eigenvalues";
}

void szgi_spectrum_name(words *words, const spectrum_series *series) {
    fputs(values_name(series), words->stream);
    if (isnan(series->n))
        return;
    fputs(", n = ", words->stream);
    szgi_html_number(words->stream, series->n);
}

static void number(words *words, const char *before, double value, const char *after) {
    fputs(before, words->stream);
    szgi_html_number(words->stream, value);
    fputs(after, words->stream);
}

/* "All 512 eigenvalues lie in", "510 of 512 eigenvalues (the farthest 1e-16 outside) lie in" */
static void print_count(words *words, const spectrum_series *series, int64_t within, int64_t total,
                        double beyond) {
    if (within == total)
        fprintf(words->stream, "All %" PRId64 " %s lie in ", total, values_name(series));
    else
        fprintf(words->stream, "%" PRId64 " of %" PRId64 " %s ", within, total,
                values_name(series));
    if (within != total)
        number(words, "(the farthest stands ", beyond, " outside) lie in ");
}

/* What follows from the theorem that the summary names (docs/explanation/theory.md). */
static void print_theorem(words *words, const spectrum_series *series) {
    static const struct {
        const char *name, *says;
    } known[] = {
        {"szego", "Szegő's theorem applies: as n grows the eigenvalues are distributed like the "
                  "symbol's values."},
        {"szego+rank-one", "Szegő's theorem applies up to one rank-one term: as n grows all "
                           "eigenvalues but one are distributed like the symbol's values."},
        {"avram-parter", "The theorem of Avram and Parter applies: as n grows the singular values "
                         "are distributed like |a|."},
        {"avram-parter+rank-one",
         "The theorem of Avram and Parter applies up to one rank-one term: as n grows all singular "
         "values but one are distributed like |a|."},
        {"tyrtyshnikov-zamarashkin", "The theorem of Tyrtyshnikov and Zamarashkin applies: as n "
                                     "grows the singular values are distributed like |a|."}};
    const char *theorem = series->summary ? szgi_rows_text(*series->summary, 0, "theorem") : NULL;
    if (!theorem)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(theorem, known[i].name) == 0) {
            fprintf(words->stream, " %s", known[i].says);
            return;
        }
    if (strcmp(theorem, "none") == 0) {
        fputs(" No limit theorem applies here: the two need not meet at any n.", words->stream);
        return;
    }
    fputs(" The summary names the theorem ", words->stream);
    szgi_words_clipped(words, theorem, METHOD_CHARACTERS);
    fputs(".", words->stream);
}

static void print_method(words *words, const spectrum_series *series) {
    const char *method = series->summary ? szgi_rows_text(*series->summary, 0, "method") : NULL;
    if (!method)
        return;
    fputs(" Method: ", words->stream);
    szgi_words_clipped(words, method, METHOD_CHARACTERS);
    double residual = szgi_rows_real(*series->summary, 0, "residual");
    if (!isnan(residual))
        number(words, ", residual ", residual, "");
    fputs(".", words->stream);
}

static void print_part(words *words, const spectrum_series *series) {
    if (series->unsaid)
        fputs(" A certified range is there, but not what it bounds: the result lacks the column "
              "bound_of.",
              words->stream);
    if (series->part)
        fputs(" The symbol is that of the matrix's Toeplitz part and bounds nothing of the whole "
              "matrix.",
              words->stream);
}

static void print_range(words *words, const spectrum_series *series) {
    double beyond;
    int64_t within = szgi_quantiles_within(&series->spectrum, series->lo, series->hi, &beyond);
    print_count(words, series, within, series->spectrum.total, beyond);
    fputs("the certified range [", words->stream);
    szgi_html_end(words->stream, series->lo, DIGITS, SZGI_END_LOWER);
    fputs(", ", words->stream);
    szgi_html_end(words->stream, series->hi, DIGITS, SZGI_END_UPPER);
    fputs("]", words->stream);
}

/* At which orders the quantiles are those of too few samples. */
static void print_coarse(words *words, const spectrum_series *series, int64_t count) {
    bool first = true;
    for (int64_t i = 0; i < count; i++) {
        if (!series[i].samples || !szgi_symbol_is_coarse(*series[i].samples))
            continue;
        number(words, first ? " At n = " : ", ", series[i].n, "");
        first = false;
    }
    if (!first)
        fputs(" the symbol has more oscillations than samples are listed: quantiles and distance "
              "may be off, the certified range is not.",
              words->stream);
}

/* The distance to the symbol's quantiles at each order, and what of it is the samples'. */
static void print_distances(words *words, const spectrum_series *series, int64_t count) {
    bool first = true;
    double blur = 0;
    for (int64_t i = 0; i < count; i++) {
        double distance = szgi_quantiles_distance(&series[i].spectrum, &series[i].symbol);
        if (isnan(distance))
            continue;
        fputs(first ? "On average they stand " : ", ", words->stream);
        szgi_html_number(words->stream, distance);
        if (count > 1)
            number(words, " (n = ", series[i].n, ")");
        blur = fmax(blur, series[i].blur);
        first = false;
    }
    if (first)
        return;
    fprintf(words->stream, " from the quantiles of %s (1-Wasserstein distance",
            series->singular ? "|a|" : "the symbol");
    if (blur > 0)
        number(words, ", of which the finite number of samples makes up to about ", blur, "");
    fputs(").", words->stream);
    print_coarse(words, series, count);
}

/* Where the values reach, for want of a certified range, and how many are 0. */
static void print_extent(words *words, const spectrum_series *series) {
    const quantiles *of = &series->spectrum;
    if (of->total == 0)
        return;
    if (isnan(series->hi)) {
        fprintf(words->stream, "The %" PRId64 " %s", of->total, values_name(series));
        number(words, " reach from ", szgi_quantiles_at(of, 0), "");
        number(words, " to ", szgi_quantiles_at(of, 1),
               series->unsaid ? "" : ", and no certified range bounds them");
        if (!isnan(series->n))
            number(words, " (n = ", series->n, ")");
        fputs(". ", words->stream);
    }
    int64_t computed = 0; /* zeros among the values that are listed */
    for (int64_t i = 0; i < of->listed; i++)
        computed += of->value[i] == 0;
    if (of->zeros == 0)
        return;
    fprintf(words->stream, "Exactly 0 are %" PRId64 " of %" PRId64, of->zeros, of->total);
    if (computed > 0)
        fprintf(words->stream, " by structure, and %" PRId64 " more came out as 0", computed);
    fputs(". ", words->stream);
}

/* Why no curve of a symbol stands beside the values. */
static void print_no_symbol(words *words, const spectrum_series *series) {
    if (series->samples && series->symbol.total == 0)
        fputs("The symbol is complex: it has no quantiles for eigenvalues to follow.",
              words->stream);
    else if (!series->samples)
        fputs("No symbol stands beside these values.", words->stream);
}

/* Of which matrix these are the eigenvalues, where it is not the one that the figure names. */
static void print_matrix(words *words, const spectrum_series *series) {
    if (series->singular)
        return;
    if (szgi_cell_says(series->values, "values_of", "hermitian_part"))
        fputs(" These are eigenvalues of the Hermitian part (L + L^T)/2.", words->stream);
    if (series->summary && szgi_cell_says(*series->summary, "solver", "triangular"))
        fputs(" The matrix is triangular, its eigenvalues are its diagonal: its size is in the "
              "singular values.",
              words->stream);
}

void szgi_spectrum_describe_curves(words *words, const spectrum_series *series, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (!isnan(series[i].hi)) {
            print_range(words, &series[i]);
            if (count > 1)
                number(words, " at n = ", series[i].n, "");
            fputs(". ", words->stream);
        }
        print_extent(words, &series[i]);
    }
    print_distances(words, series, count);
    print_no_symbol(words, series);
    print_matrix(words, series);
    if (series->symbol.total > 0)
        print_theorem(words, series);
    print_part(words, series);
    print_method(words, series);
}

void szgi_spectrum_describe_middle(words *words, const spectrum_series *series, int64_t count) {
    (void)count;
    fprintf(words->stream,
            "The same %s without the least and the greatest 5 %%, which flatten the figure before.",
            values_name(series));
}

static int64_t within_circle(const spectrum_series *series, double *beyond) {
    int64_t within = series->zeros;
    *beyond = 0;
    for (int64_t i = 0; i < series->values.count; i++) {
        double modulus = hypot(series->re[i], series->im[i]);
        within += modulus <= series->radius;
        *beyond = fmax(*beyond, modulus - series->radius);
    }
    return within;
}

void szgi_spectrum_describe_plane(words *words, const spectrum_series *series, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        double beyond;
        if (isnan(series[i].radius))
            continue;
        int64_t within = within_circle(&series[i], &beyond);
        print_count(words, &series[i], within, series[i].values.count + series[i].zeros, beyond);
        fputs("the circle |z| = ", words->stream);
        szgi_html_end(words->stream, series[i].radius, DIGITS, SZGI_END_UPPER);
        fputs(", the certified maximum of |a|", words->stream);
        if (count > 1)
            number(words, ", at n = ", series[i].n, "");
        fputs(". ", words->stream);
    }
    fputs("Complex eigenvalues have no order, and so no quantiles to compare with the symbol's.",
          words->stream);
    print_part(words, series);
    print_method(words, series);
}
