/* The symbol as a function of the angle, with its certified minimum and maximum. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/csv.h"
#include "base/memory.h"
#include "captioned.h"
#include "needs.h"
#include "symbol.h"

enum { LEAST_ATOMS = 4, MOST_SOURCES = 2 * FIGURE_COLOURS, METHOD_CHARACTERS = 120, DIGITS = 6 };

static const char *const of_curve[] = {"result", "source", "layer",      "head",
                                       "matrix", "n",      "convention", NULL};

static bool is_present(const szg_collection *results) {
    return szgi_collection_find(results, "symbol_samples") ||
           szgi_collection_find(results, "symbol_atoms");
}

/* One sampled symbol. */
typedef struct curve {
    rows samples;
    const rows *range; /* NULL: none */
    double *theta, *re, *im;
    bool complex;
} curve;

static void curve_free(curve *of) {
    szgi_memory_free(of->theta);
    szgi_memory_free(of->re);
    szgi_memory_free(of->im);
    *of = (curve){0};
}

static szg_status read_columns(szg_context *context, curve *out) {
    SZG_TRY(szgi_rows_reals(context, out->samples, "theta", &out->theta));
    SZG_TRY(szgi_rows_reals(context, out->samples, "re", &out->re));
    SZG_TRY(szgi_rows_reals(context, out->samples, "im", &out->im));
    for (int64_t i = 0; i < out->samples.count; i++)
        out->complex = out->complex || (out->im[i] != 0 && !isnan(out->im[i]));
    return SZG_OK;
}

static szg_status read_curve(szg_context *context, rows samples, const groups *ranges, curve *out) {
    *out = (curve){.samples = samples, .range = szgi_match_find(ranges, samples, of_curve)};
    szg_status status = read_columns(context, out);
    if (status != SZG_OK)
        curve_free(out);
    return status;
}

/* "head 3, n = 512, truncated": what tells the curves of one figure apart. */
static void name_curve(words *words, rows of) {
    double head = szgi_rows_real(of, 0, "head"), n = szgi_rows_real(of, 0, "n");
    if (!isnan(head))
        fprintf(words->stream, "head %.0f, ", head);
    if (!isnan(n))
        fprintf(words->stream, "n = %.0f, ", n);
    const char *convention = szgi_rows_text(of, 0, "convention");
    szgi_words_clipped(words, convention ? convention : "symbol", 24);
}

static szg_status add_line(szg_context *context, figure *figure, const curve *of, const char *part,
                           int colour, const double *y) {
    words name;
    SZG_TRY(szgi_words_open(context, &name));
    if (part)
        fputs(part, name.stream);
    else
        name_curve(&name, of->samples);
    szg_status status = szgi_words_end(context, &name);
    if (status == SZG_OK)
        status =
            szgi_figure_line(context, figure, &(figure_style){.name = name.text, .colour = colour},
                             of->samples.count, of->theta, y);
    szgi_words_free(&name);
    return status;
}

static szg_status add_modulus(szg_context *context, figure *figure, const curve *of) {
    double *modulus;
    SZG_TRY(szgi_memory_alloc(context, of->samples.count, &modulus));
    for (int64_t i = 0; i < of->samples.count; i++)
        modulus[i] = hypot(of->re[i], of->im[i]);
    szg_status status = add_line(context, figure, of, "|a|", 0, modulus);
    szgi_memory_free(modulus);
    return status;
}

/* The end's enclosure, to every digit that it has. */
static void print_enclosure(words *words, const char *what, double lo, double hi) {
    char least[SZGI_REAL_TEXT], most[SZGI_REAL_TEXT];
    fprintf(words->stream, "%s in [%s, %s], wide by ", what, szgi_real_text(lo, least),
            szgi_real_text(hi, most));
    szgi_html_end(words->stream, hi - lo, DIGITS, SZGI_END_UPPER);
}

/* The certified ends where they were found: points with their enclosures, and lines across a figure
 * of one curve. */
static szg_status add_end(szg_context *context, figure *figure, const curve *of, const char *which,
                          int colour, bool line) {
    bool least = strcmp(which, "minimum") == 0;
    double theta = szgi_rows_real(*of->range, 0, least ? "theta_min" : "theta_max");
    double lo = szgi_rows_real(*of->range, 0, least ? "min_lo" : "max_lo");
    double hi = szgi_rows_real(*of->range, 0, least ? "min_hi" : "max_hi");
    double at = least ? lo : hi;
    words text;
    if (isnan(at))
        return SZG_OK;
    SZG_TRY(szgi_words_open(context, &text));
    fputs("certified ", text.stream);
    print_enclosure(&text, which, lo, hi);
    fputs(", found at theta = ", text.stream);
    szgi_html_number(text.stream, theta);
    szg_status status = szgi_words_end(context, &text);
    const char *hover[] = {text.text};
    if (status == SZG_OK && line)
        status = szgi_figure_rule(context, figure,
                                  &(figure_style){.name = NULL, .colour = FIGURE_MUTED}, false, at);
    if (status == SZG_OK)
        status =
            szgi_figure_points(context, figure, &(figure_style){.name = NULL, .colour = colour}, 1,
                               &theta, &at, hover);
    szgi_words_free(&text);
    return status;
}

static szg_status add_curve(szg_context *context, figure *figure, const curve *of, int colour,
                            bool alone) {
    if (of->complex) {
        SZG_TRY(add_modulus(context, figure, of));
        SZG_TRY(add_line(context, figure, of, "Re a", 1, of->re));
        SZG_TRY(add_line(context, figure, of, "Im a", 2, of->im));
    } else {
        SZG_TRY(add_line(context, figure, of, NULL, colour, of->re));
    }
    if (!of->range)
        return SZG_OK;
    SZG_TRY(add_end(context, figure, of, "minimum", colour, alone));
    return add_end(context, figure, of, "maximum", colour, alone);
}

bool szgi_symbol_is_coarse(rows samples) {
    const char *convention = szgi_rows_text(samples, 0, "convention");
    bool closed = convention && strcmp(convention, "closed_form") == 0;
    return !closed && 2 * (szgi_rows_real(samples, 0, "n") - 1) >= (double)samples.count;
}

/* The certified ends of all curves, and the widest enclosure of one. */
typedef struct ends {
    double lo, hi, width;
    int64_t stated; /* curves whose range is */
    const rows *range;
} ends;

static ends ends_of(const curve *curves, int64_t count) {
    ends ends = {INFINITY, -INFINITY, 0, 0, NULL};
    for (int64_t i = 0; i < count; i++) {
        const rows *range = curves[i].range;
        double lo = range ? szgi_rows_real(*range, 0, "min_lo") : NAN;
        double hi = range ? szgi_rows_real(*range, 0, "max_hi") : NAN;
        if (!(lo <= hi))
            continue;
        ends.lo = fmin(ends.lo, lo);
        ends.hi = fmax(ends.hi, hi);
        ends.width = fmax(ends.width, fmax(szgi_rows_real(*range, 0, "min_hi") - lo,
                                           hi - szgi_rows_real(*range, 0, "max_lo")));
        ends.range = range;
        ends.stated++;
    }
    return ends;
}

static void quote(words *words, const char *what, rows of, const char *column) {
    const char *text = szgi_rows_text(of, 0, column);
    if (!text)
        return;
    fprintf(words->stream, " %s: ", what);
    szgi_words_clipped(words, text, METHOD_CHARACTERS);
    fputs(".", words->stream);
}

static void describe_range(words *words, const curve *curves, int64_t count) {
    ends ends = ends_of(curves, count);
    if (ends.stated == 0) {
        fputs("No range is stated for this symbol.", words->stream);
        return;
    }
    if (count == 1)
        fprintf(words->stream, "Certified range%s ", curves->complex ? " of |a|" : "");
    else
        fprintf(words->stream, "The certified ranges of %" PRId64 " symbols, all within ",
                ends.stated);
    szgi_html_end(words->stream, ends.lo, DIGITS, SZGI_END_LOWER);
    fputs(" to ", words->stream);
    szgi_html_end(words->stream, ends.hi, DIGITS, SZGI_END_UPPER);
    fputs("; the ends are points, each known to within ", words->stream);
    szgi_html_end(words->stream, ends.width, DIGITS, SZGI_END_UPPER);
    fputs(" or better.", words->stream);
    quote(words, "This range", *ends.range, "note");
    quote(words, "Method", *ends.range, "method");
}

/* The curves of one figure. */
typedef struct drawn {
    const curve *curves;
    int64_t count;
} drawn;

static void say_title(words *words, const void *of) {
    const drawn *self = of;
    if (self->count > 1)
        szgi_words_source(words, self->curves->samples);
    else
        szgi_words_key(words, self->curves->samples);
    fputs(self->count > 1 ? ": symbols" : ": symbol", words->stream);
}

static void say_caption(words *words, const void *of) {
    const drawn *self = of;
    bool coarse = false;
    describe_range(words, self->curves, self->count);
    for (int64_t i = 0; i < self->count; i++)
        coarse = coarse || szgi_symbol_is_coarse(self->curves[i].samples);
    if (coarse)
        fputs(" The line has fewer points than the symbol has oscillations: it may miss peaks, the "
              "certified ends do not.",
              words->stream);
}

static szg_status put(page *page, figure **figure, const drawn *self) {
    rows source[MOST_SOURCES];
    int64_t sources = 0;
    for (int64_t i = 0; i < self->count; i++) {
        source[sources++] = self->curves[i].samples;
        if (self->curves[i].range)
            source[sources++] = *self->curves[i].range;
    }
    return szgi_page_figure_captioned(page, figure, source, sources, say_caption, self);
}

/* A complex symbol takes three lines and so a figure of its own. */
static szg_status draw_curves(page *page, const curve *curves, int64_t count) {
    const drawn self = {curves, count};
    const figure_options options = {
        .x = {.label = "theta, radians", .lo = 0, .hi = 6.28318530717958647692},
        .y = {.label = "a(theta)"}};
    figure *figure;
    SZG_TRY(szgi_figure_open_titled(szgi_page_context(page), options, say_title, &self, &figure));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        status = add_curve(szgi_page_context(page), figure, &curves[i], (int)i, count == 1);
    if (status == SZG_OK)
        status = put(page, &figure, &self);
    szgi_figure_close(&figure);
    return status;
}

/* Draws the curves in figures of as many as have colours, while the budget lasts; *next is the
 * first curve that is not drawn. */
static szg_status draw_figures(page *page, const groups *curves, const groups *ranges,
                               budget *budget, int64_t *next) {
    curve open[FIGURE_COLOURS];
    szg_status status = SZG_OK;
    while (*next < curves->count && budget->left > 0 && status == SZG_OK) {
        int64_t count = 0;
        bool full = false;
        while (!full && *next < curves->count && count < FIGURE_COLOURS) {
            status =
                read_curve(szgi_page_context(page), curves->group[*next], ranges, &open[count]);
            full = status != SZG_OK || (open[count].complex && count > 0);
            if (full && status == SZG_OK)
                curve_free(&open[count]); /* begins the next figure */
            if (full)
                break;
            full = open[count++].complex;
            ++*next;
        }
        if (status == SZG_OK)
            status = draw_curves(page, open, count);
        for (int64_t i = 0; i < count; i++)
            curve_free(&open[i]);
        budget->left--;
    }
    return status;
}

/* Figures of one matrix of one source: its heads, orders and conventions. */
static szg_status draw_sources(page *page, rows all, const groups *ranges, budget *budget) {
    static const char *const together[] = {"result", "source", "layer", "matrix", NULL};
    groups sources, curves;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, together, &sources));
    szg_status status = SZG_OK;
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < sources.count && status == SZG_OK; i++) {
        int64_t next = 0;
        status = szgi_groups_split(szgi_page_context(page), sources.group[i], of_curve, &curves);
        if (status != SZG_OK)
            break;
        status = draw_figures(page, &curves, ranges, budget, &next);
        budget->left_out += curves.count - next;
        szgi_groups_free(&curves);
    }
    szgi_page_grid_end(page);
    szgi_groups_free(&sources);
    return status;
}

static szg_status draw_samples(page *page, rows all, budget *budget) {
    static const char *const needed[] = {"theta", "re", "im", NULL};
    const szg_table *range = szgi_collection_find(szgi_page_results(page), "symbol_range");
    groups ranges = {0};
    bool met;
    SZG_TRY(szgi_needs_numbers(page, all, needed, "the symbols are not drawn", &met));
    if (!met)
        return SZG_OK;
    if (range)
        SZG_TRY(
            szgi_groups_split(szgi_page_context(page), szgi_match_all(range), of_curve, &ranges));
    szg_status status = draw_sources(page, all, &ranges, budget);
    szgi_groups_free(&ranges);
    return status;
}

static szg_status draw(page *page) {
    static const char *const tables[] = {"symbol_samples", "symbol_atoms", NULL};
    rows samples = szgi_match_all(szgi_collection_find(szgi_page_results(page), tables[0]));
    rows atoms = szgi_match_all(szgi_collection_find(szgi_page_results(page), tables[1]));
    budget budget = {.left = MOST_FIGURES};
    struct budget curves =
        szgi_budget_part(&budget, MOST_FIGURES - (atoms.count > 0 ? LEAST_ATOMS : 0));
    if (samples.count > 0)
        SZG_TRY(draw_samples(page, samples, &curves));
    szgi_budget_join(&budget, &curves);
    if (atoms.count > 0)
        SZG_TRY(szgi_symbol_draw_atoms(page, atoms, &budget));
    return szgi_budget_end(page, &budget, "symbols", tables);
}

const section szgi_section_symbol = {
    .id = "symbol", .title = "Symbols", .is_present = is_present, .draw = draw};
