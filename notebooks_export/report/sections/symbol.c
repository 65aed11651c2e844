/* The symbol as a function of the angle, with its certified minimum and maximum. */
#include <math.h>

#include "formats/csv.h"
#include "html.h"
#include "match.h"
#include "spectrum.h"

enum { FEW = 4, END_DIGITS = 2 };

static const char *const of_curve[] = {"result", "source", "layer",      "head",
                                       "matrix", "n",      "convention", NULL};

/* What the caption says of the figure's curves. */
typedef struct symbol_facts {
    bool complex, coarse;
    int64_t stated;       /* curves with a certified range */
    double lo, hi, width; /* of all ranges; of the widest enclosure of an end */
    heads_left_out left_out;
} symbol_facts;

/* ---- Curves ---- */

static bool is_complex(const plot_figure *figure) {
    for (int64_t s = 0; s < figure->panel->count; s++) {
        rows of = figure->panel->series[s].of;
        for (int64_t i = 0; i < of.count; i++) {
            double im = szgi_rows_real(of, i, "im");
            if (im != 0 && !isnan(im))
                return true;
        }
    }
    return false;
}

/* Of complex symbols the modulus, which is what their certified ends are of. */
static void take_modulus(plot_series *series) {
    for (int64_t i = 0; i < series->count; i++)
        series->y[i] = hypot(series->y[i], szgi_rows_real(series->of, i, "im"));
}

static void add_part(plot_figure *figure, const char *column, const char *name, int colour) {
    rows of = figure->panel->series[0].of;
    plot_series *new = szgi_plot_add(figure, figure->panel, of, of.count);
    if (!new)
        return;
    new->name = name;
    new->colour = colour;
    for (int64_t i = 0; i < of.count; i++) {
        new->x[i] = szgi_rows_real(of, i, "theta");
        new->y[i] = szgi_rows_real(of, i, column);
    }
}

/* ---- Certified ends ---- */

typedef struct end {
    const char *which;
    double lo, hi, theta;
} end;

/* The end's enclosure, to every digit that it has. */
static void say_end(words *words, const void *of) {
    const end *self = of;
    char least[SZGI_REAL_TEXT], most[SZGI_REAL_TEXT];
    fprintf(words->stream, "certified %s in [%s, %s], wide by ", self->which,
            szgi_real_text(self->lo, least), szgi_real_text(self->hi, most));
    szgi_html_end(words->stream, self->hi - self->lo, END_DIGITS, SZGI_END_UPPER);
    fputs(", found at angle ", words->stream);
    szgi_html_number(words->stream, self->theta);
}

static void add_end(plot_figure *figure, const end *of, double at, int colour) {
    plot_series *new = isnan(at) ? NULL : szgi_plot_add(figure, figure->panel, figure->of, 1);
    if (!new || !szgi_plot_new(figure->run, 1, &new->hover))
        return;
    new->marks = PLOT_POINTS;
    new->colour = colour;
    new->x[0] = of->theta;
    new->y[0] = at;
    new->hover[0] = szgi_plot_text(figure->run, say_end, of);
}

static void add_ends(plot_figure *figure, rows range, int colour) {
    const end least = {"minimum", szgi_rows_real(range, 0, "min_lo"),
                       szgi_rows_real(range, 0, "min_hi"), szgi_rows_real(range, 0, "theta_min")},
              most = {"maximum", szgi_rows_real(range, 0, "max_lo"),
                      szgi_rows_real(range, 0, "max_hi"), szgi_rows_real(range, 0, "theta_max")};
    add_end(figure, &least, least.lo, colour);
    add_end(figure, &most, most.hi, colour);
}

static void count_range(symbol_facts *to, rows range) {
    double lo = szgi_rows_real(range, 0, "min_lo"), hi = szgi_rows_real(range, 0, "max_hi");
    if (!(lo <= hi))
        return;
    to->lo = fmin(to->lo, lo);
    to->hi = fmax(to->hi, hi);
    to->width = fmax(to->width, fmax(szgi_rows_real(range, 0, "min_hi") - lo,
                                     hi - szgi_rows_real(range, 0, "max_lo")));
    to->stated++;
}

/* ---- The figure ---- */

static void read_facts(plot_figure *figure, symbol_facts *facts) {
    const groups *ranges = figure->run->own;
    for (int64_t i = 0; i < figure->panel->count; i++) {
        plot_series *series = &figure->panel->series[i];
        const rows *range = szgi_match_find(ranges, series->of, of_curve);
        if (facts->complex)
            take_modulus(series);
        facts->coarse |= szgi_symbol_is_coarse(series->of);
        if (!range)
            continue;
        count_range(facts, *range);
        szgi_plot_add_source(figure, *range);
    }
}

/* Ends belong to the curves that are drawn; more than a few would hide them. */
static void add_certificates(plot_figure *figure, const symbol_facts *facts) {
    int64_t curves = figure->panel->count;
    for (int64_t i = 0; i < curves && curves <= FEW; i++) {
        const plot_series *series = &figure->panel->series[i];
        const rows *range = szgi_match_find(figure->run->own, series->of, of_curve);
        if (range)
            add_ends(figure, *range, series->colour);
    }
    if (curves > 1 || facts->stated == 0)
        return;
    szgi_plot_add_rule(figure, (plot_rule){.name = "certified range", .at = facts->lo});
    szgi_plot_add_rule(figure, (plot_rule){.at = facts->hi});
}

static void prepare(plot_figure *figure) {
    symbol_facts *facts;
    bool *dropped;
    if (figure->panels == 0 || !szgi_plot_new(figure->run, 1, &facts) ||
        !szgi_plot_new(figure->run, figure->panel->count, &dropped))
        return;
    *facts = (symbol_facts){.complex = is_complex(figure), .lo = NAN, .hi = NAN};
    figure->own = facts;
    read_facts(figure, facts);
    szgi_heads_find(figure->panel, dropped, &facts->left_out);
    szgi_heads_drop(figure->panel, dropped);
    szgi_heads_name(figure, figure->panel, facts->complex ? "modulus |a|" : "symbol a");
    figure->y.label = facts->complex ? "modulus |a| of the symbol" : "symbol a";
    bool alone = figure->panel->count == 1;
    add_certificates(figure, facts);
    if (!facts->complex || !alone)
        return;
    figure->y.label = "symbol a";
    add_part(figure, "re", "real part", 1);
    add_part(figure, "im", "imaginary part", 2);
}

static void say_caption(words *words, const plot_figure *figure) {
    const symbol_facts *of = figure->own;
    if (of->stated == 0) {
        fputs("No range is certified for this symbol.", words->stream);
    } else {
        fprintf(words->stream, "Certified range%s%s%s ", of->stated > 1 ? "s" : "",
                of->complex ? " of |a|" : "", of->stated > 1 ? ", all within" : "");
        szgi_print_end(words, of->lo, SZGI_END_LOWER);
        fputs(" to ", words->stream);
        szgi_print_end(words, of->hi, SZGI_END_UPPER);
        fputs("; each end is known to within ", words->stream);
        szgi_html_end(words->stream, of->width, END_DIGITS, SZGI_END_UPPER);
        fputs(".", words->stream);
    }
    szgi_heads_say(words, &of->left_out);
    if (of->coarse)
        fputs(" Too few samples: the line may miss peaks.", words->stream);
}

static const plot curves = {
    .tables = {"symbol_samples"},
    .needs = {"theta", "re", "im"},
    .undone = "the symbols are not drawn",
    .figure_by = {"result", "source", "layer", "matrix"},
    .group_by = {"result", "source"},
    .series_by = {"head", "n", "convention"},
    .outliers = true,
    .x = {.column = "theta", .label = "angle, radians", .lo = 0, .hi = 6.28318530717958647692},
    .y = {.column = "re", .scale = PLOT_CHOSEN},
    .subject = szgi_words_source,
    .title = "symbol",
    .prepare = prepare,
    .caption = say_caption};

static const plot *const plots[] = {&curves, &szgi_symbol_atoms, NULL};

static szg_status run(page *page, const section *section) {
    rows all = szgi_match_all(szgi_collection_find(szgi_page_results(page), "symbol_range"));
    groups ranges;
    plot_run run;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, of_curve, &ranges));
    szgi_plot_begin(&run, page, section);
    run.own = &ranges;
    szgi_plot_all(&run, section->plots);
    szgi_groups_free(&ranges);
    return szgi_plot_end(&run);
}

const section szgi_section_symbol = {
    .id = "symbol",
    .title = "Symbols",
    .tables = {"symbol_samples", "symbol_atoms"},
    .intro = "The symbol is the function whose Fourier coefficients are the diagonals of the "
             "matrix. The dots are its certified ends.",
    .plots = plots,
    .run = run};
