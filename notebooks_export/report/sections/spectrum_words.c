/* What a reader can see in a figure of eigenvalues, counted in the data. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#include "spectrum.h"

enum { DIGITS = 4 };

void szgi_print_end(words *words, double value, szgi_end end) {
    char text[SZGI_REAL_TEXT];
    szgi_rounded_text(value, DIGITS, end, text);
    /* Back and out again: 47720 and not 4.772e+04. */
    fputs(szgi_real_text(szgi_real_scan(text, NULL), text), words->stream);
}

/* What follows from each is in docs/explanation/theory.md. */
const char *szgi_spectrum_theorem(rows summary) {
    static const struct {
        const char *name, *says;
    } known[] = {{"szego", "Szegő"},
                 {"szego+rank-one", "Szegő, but one value"},
                 {"avram-parter", "Avram and Parter"},
                 {"avram-parter+rank-one", "Avram and Parter, but one value"},
                 {"tyrtyshnikov-zamarashkin", "Tyrtyshnikov and Zamarashkin"}};
    const char *theorem = summary.count > 0 ? szgi_rows_text(summary, 0, "theorem") : NULL;
    if (!theorem || strcmp(theorem, "none") == 0)
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(theorem, known[i].name) == 0)
            return known[i].says;
    return theorem;
}

static void say_values(words *words, const spectrum_facts *of, int64_t count) {
    szgi_plot_count(words, count, of->singular ? "singular value" : "eigenvalue",
                    of->singular ? "singular values" : "eigenvalues");
}

/* "All 512 eigenvalues lie", "510 of 512 eigenvalues (the farthest 1e-16 outside) lie" */
static void say_within(words *words, const spectrum_facts *of) {
    if (of->within == of->bounded)
        fputs("All ", words->stream);
    else
        fprintf(words->stream, "%" PRId64 " of ", of->within);
    say_values(words, of, of->bounded);
    if (of->within != of->bounded) {
        fputs(" (the farthest ", words->stream);
        szgi_plot_number(words, of->beyond);
        fputs(" outside)", words->stream);
    }
    if (of->plane) {
        fputs(" lie in the certified circle |z| = ", words->stream);
        szgi_print_end(words, of->radius, SZGI_END_UPPER);
        return;
    }
    fputs(" lie in the certified range [", words->stream);
    szgi_print_end(words, of->lo, SZGI_END_LOWER);
    fputs(", ", words->stream);
    szgi_print_end(words, of->hi, SZGI_END_UPPER);
    fputs("]", words->stream);
}

/* Where the values reach, for want of a certified range. */
static void say_extent(words *words, const spectrum_facts *of) {
    say_values(words, of, of->total);
    if (!of->plane && of->least <= of->greatest) {
        fputs(" from ", words->stream);
        szgi_plot_number(words, of->least);
        fputs(" to ", words->stream);
        szgi_plot_number(words, of->greatest);
    }
    if (of->unsaid)
        fputs("; a range is stated, but not what it bounds (no column bound_of)", words->stream);
    else if (of->part)
        fputs("; the symbol is of the Toeplitz part and bounds nothing here", words->stream);
    else
        fputs("; no certified range bounds them", words->stream);
}

/* What was computed as 0 is told where the caption has nothing more telling to say. */
static void say_zeros(words *words, const spectrum_facts *of) {
    bool brief = of->left_out.count > 0 || of->within != of->bounded || of->unsaid ||
                 !isnan(of->distance) || !isnan(of->coarse);
    if (of->plane || of->zeros == 0)
        return;
    fprintf(words->stream, "; %" PRId64 " are 0 by structure", of->zeros);
    if (of->computed > 0 && !brief)
        fprintf(words->stream, ", %" PRId64 " more came out as 0", of->computed);
}

/* What of the distance may be the samples' is no finding. */
static void say_distance(words *words, const spectrum_facts *of) {
    if (!isnan(of->coarse)) {
        fputs(" The symbol has too few samples at n = ", words->stream);
        szgi_plot_number(words, of->coarse);
        fputs(".", words->stream);
    } else if (!isnan(of->distance)) {
        fputs(" Mean distance from the symbol's quantiles: ", words->stream);
        fputs(of->distance <= of->blur ? "below " : "", words->stream);
        szgi_plot_number(words, fmax(of->distance, of->blur));
        fputs(".", words->stream);
    }
}

void szgi_spectrum_say(words *words, const plot_figure *figure) {
    const spectrum_facts *of = figure->own;
    if (of->bounded > 0)
        say_within(words, of);
    else
        say_extent(words, of);
    if (of->bounded > 0 && of->bounded < of->total) {
        fputs("; no certified range bounds ", words->stream);
        szgi_plot_count(words, of->total - of->bounded, "other", "others");
    }
    say_zeros(words, of);
    fputs(".", words->stream);
    szgi_heads_say(words, &of->left_out);
    if (of->left_out.count == 0 && !of->plane)
        say_distance(words, of);
}
