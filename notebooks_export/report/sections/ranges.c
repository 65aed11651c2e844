/* The range of every encoding's eigenvalues, beside the certified range of its symbol. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "html.h"
#include "match.h"
#include "spectrum.h"

enum { MOST_RANGES = 40, NAME = 48 };

/* The heads of one matrix at one order. */
typedef struct range {
    rows of;
    const char *name, *label;          /* without and with the number of heads */
    double n, lo, hi;                  /* over the heads; NaN: no values */
    bool singular;                     /* singular values, where eigenvalues are complex */
    double certified_lo, certified_hi; /* over the heads; NaN: no range bounds them all */
    int64_t bounded, within, unsaid;   /* heads */
} range;

typedef struct ranges {
    range *one;
    int64_t count, left_out;
    int64_t bounded, within, unsaid; /* also of those left out: every head is */
} ranges;

/* ---- Rows ---- */

static rows head_of(const rows *of, int64_t *row, int64_t index) {
    *row = szgi_rows_at(*of, index);
    return (rows){of->table, row, 1};
}

/* Singular values stand in for eigenvalues that are complex or were not computed: of every head, as
 * one range cannot be of both. */
static bool is_singular(rows of) {
    bool singular = false;
    for (int64_t i = 0, row; i < of.count; i++)
        singular |= szgi_spectrum_bounds_of(head_of(&of, &row, i), false).is_modulus ||
                    isnan(szgi_rows_real(of, i, "lambda_max"));
    return singular;
}

static void take_head(range *to, rows head) {
    spectrum_bounds stated = szgi_spectrum_bounds_of(head, to->singular);
    double lo = szgi_rows_real(head, 0, to->singular ? "sigma_min" : "lambda_min"),
           hi = szgi_rows_real(head, 0, to->singular ? "sigma_max" : "lambda_max");
    to->unsaid += stated.unsaid;
    if (!(lo <= hi) || isinf(lo) || isinf(hi))
        return;
    to->lo = fmin(to->lo, lo);
    to->hi = fmax(to->hi, hi);
    if (isnan(stated.hi))
        return;
    to->certified_lo = fmin(to->certified_lo, stated.lo);
    to->certified_hi = fmax(to->certified_hi, stated.hi);
    to->bounded++;
    to->within += stated.lo <= lo && hi <= stated.hi;
}

static range take_range(rows of) {
    range out = {.of = of,
                 .n = szgi_rows_real(of, 0, "n"),
                 .lo = NAN,
                 .hi = NAN,
                 .singular = is_singular(of),
                 .certified_lo = NAN,
                 .certified_hi = NAN};
    for (int64_t i = 0, row; i < of.count; i++)
        take_head(&out, head_of(&of, &row, i));
    if (out.bounded < of.count) /* what bounds some heads does not bound them all */
        out.certified_lo = out.certified_hi = NAN;
    return out;
}

/* Every head is. */
static bool is_bounded(const range *one) {
    return one->bounded == one->of.count;
}

static bool is_outside(const range *one) {
    return is_bounded(one) && one->within < one->bounded;
}

static const range *find_widest(const ranges *all) {
    const range *found = NULL;
    for (int64_t i = 0; i < all->count; i++) {
        const range *one = &all->one[i];
        if (is_bounded(one) && (!found || one->hi - one->lo > found->hi - found->lo))
            found = one;
    }
    return found;
}

static bool is_same_source(rows a, rows b) {
    return szgi_match_cells(a, 0, b, 0, "source");
}

typedef enum { RANK_WIDEST, RANK_OUTSIDE, RANK_FIRST, RANK_REST, RANKS } rank;

static rank rank_of(const ranges *all, int64_t i, const range *widest) {
    const range *one = &all->one[i];
    if (one == widest)
        return RANK_WIDEST;
    if (is_outside(one))
        return RANK_OUTSIDE;
    return i == 0 || !is_same_source(one[-1].of, one->of) ? RANK_FIRST : RANK_REST;
}

/* What the findings speak of, then the first of each source before any second, so many in all; they
 * stay in their order. */
static bool *choose(plot_run *run, const ranges *all) {
    const range *widest = find_widest(all);
    bool *chosen;
    int64_t left = MOST_RANGES;
    if (!szgi_plot_new(run, all->count, &chosen))
        return NULL;
    for (int now = 0; now < RANKS; now++)
        for (int64_t i = 0; i < all->count && left > 0; i++)
            if (rank_of(all, i, widest) == (rank)now) {
                chosen[i] = true;
                left--;
            }
    return chosen;
}

/* ---- Names ---- */

typedef struct labelled {
    const range *one;
    bool matrix, layer, n; /* what tells it from others of the same source */
} labelled;

static void say_label(words *words, const void *of) {
    const labelled *self = of;
    rows from = self->one->of;
    const char *source = szgi_rows_text(from, 0, "source");
    szgi_words_clipped(words, source ? source : "unnamed", NAME);
    if (self->matrix) {
        fputs(", ", words->stream);
        szgi_words_clipped(words, szgi_rows_text(from, 0, "matrix"), NAME);
    }
    if (self->layer && !isnan(szgi_rows_real(from, 0, "layer")))
        fprintf(words->stream, ", layer %.0f", szgi_rows_real(from, 0, "layer"));
    if (self->n && !isnan(self->one->n))
        fprintf(words->stream, ", n = %.0f", self->one->n);
}

static void say_heads(words *words, const void *of) {
    const range *one = of;
    fputs(one->name, words->stream);
    if (one->of.count > 1) {
        fputs(", ", words->stream);
        szgi_plot_count(words, one->of.count, "head", "heads");
    }
}

static void name_ranges(plot_run *run, const ranges *all) {
    for (int64_t i = 0; i < all->count; i++) {
        labelled self = {.one = &all->one[i]};
        for (int64_t k = 0; k < all->count; k++)
            if (is_same_source(all->one[k].of, self.one->of)) {
                self.matrix |= !szgi_match_cells(all->one[k].of, 0, self.one->of, 0, "matrix");
                self.layer |= !szgi_match_cells(all->one[k].of, 0, self.one->of, 0, "layer");
                self.n |= !szgi_match_cells(all->one[k].of, 0, self.one->of, 0, "n");
            }
        all->one[i].name = szgi_plot_text(run, say_label, &self);
        all->one[i].label = szgi_plot_text(run, say_heads, &all->one[i]);
    }
}

static void count_range(ranges *to, const range *one) {
    to->bounded += is_bounded(one);
    to->within += is_bounded(one) && !is_outside(one);
    to->unsaid += one->unsaid > 0;
}

/* All are counted; those that are drawn stay. */
static void take_ranges(plot_run *run, const groups *all, ranges *out) {
    if (!szgi_plot_new(run, all->count, &out->one))
        return;
    for (out->count = 0; out->count < all->count; out->count++) {
        out->one[out->count] = take_range(all->group[out->count]);
        count_range(out, &out->one[out->count]);
    }
    const bool *chosen = choose(run, out);
    if (!chosen)
        return;
    out->count = 0;
    for (int64_t i = 0; i < all->count; i++)
        if (chosen[i])
            out->one[out->count++] = out->one[i];
    out->left_out = all->count - out->count;
    name_ranges(run, out);
}

/* ---- The figure ---- */

static void say_ends(words *words, double lo, double hi) {
    szgi_plot_number(words, lo);
    fputs(" to ", words->stream);
    szgi_plot_number(words, hi);
}

static void say_certified(words *words, const range *one) {
    szgi_print_end(words, one->certified_lo, SZGI_END_LOWER);
    fputs(" to ", words->stream);
    szgi_print_end(words, one->certified_hi, SZGI_END_UPPER);
}

static void say_hover(words *words, const void *of) {
    const range *one = of;
    fprintf(words->stream, "%s\n%s ", one->label,
            one->singular ? "singular values" : "eigenvalues");
    say_ends(words, one->lo, one->hi);
    if (isnan(one->certified_hi))
        return;
    fputs("\ncertified ", words->stream);
    say_certified(words, one);
}

/* An interval for each row that has one. */
static void add_series(plot_figure *figure, const ranges *all, bool certified) {
    plot_run *run = figure->run;
    int64_t count = 0;
    plot_series *new = szgi_plot_add(figure, figure->panel, figure->of, all->count);
    if (!new || !szgi_plot_new(run, all->count, &new->lo) ||
        !szgi_plot_new(run, all->count, &new->hi) || !szgi_plot_new(run, all->count, &new->hover))
        return;
    new->name = certified ? "certified range of the symbol" : "computed values";
    new->colour = certified ? FIGURE_MUTED : 0;
    for (int64_t i = 0; i < all->count; i++) {
        const range *one = &all->one[i];
        if (isnan(certified ? one->certified_hi : one->hi))
            continue;
        new->y[count] = (double)i;
        new->lo[count] = certified ? one->certified_lo : one->lo;
        new->hi[count] = certified ? one->certified_hi : one->hi;
        new->hover[count++] = szgi_plot_text(run, say_hover, one);
    }
    new->count = count;
}

static void prepare(plot_figure *figure) {
    const ranges *all = figure->run->own;
    const char **name;
    if (figure->panels == 0 || !szgi_plot_new(figure->run, all->count, &name))
        return;
    for (int64_t i = 0; i < all->count; i++)
        name[i] = all->one[i].label;
    figure->y_names = name;
    figure->y_count = all->count;
    figure->panel->count = 0;
    add_series(figure, all, false);
    if (all->bounded > 0)
        add_series(figure, all, true);
}

static void say_caption(words *words, const plot_figure *figure) {
    const ranges *all = figure->run->own;
    if (all->bounded == 0)
        fputs("No certified range bounds these spectra.", words->stream);
    else if (all->within == all->bounded)
        fprintf(words->stream, "Every certified range (%" PRId64 ") holds its spectrum.",
                all->bounded);
    else
        fprintf(words->stream, "%" PRId64 " of %" PRId64 " certified ranges hold their spectra.",
                all->within, all->bounded);
    if (all->unsaid > 0) {
        fputs(" ", words->stream);
        szgi_plot_count(words, all->unsaid, "row states a range, but not what it bounds.",
                        "rows state a range, but not what it bounds.");
    }
    if (all->left_out > 0) {
        fputs(" Left out: ", words->stream);
        szgi_plot_count(words, all->left_out, "further row.", "further rows.");
    }
}

/* ---- Findings ---- */

/* The first bounded one of rotary encodings, which the paper is about. */
static const range *find_rope(const ranges *all) {
    for (int64_t i = 0; i < all->count; i++) {
        const range *one = &all->one[i];
        const char *source = szgi_rows_text(one->of, 0, "source");
        if (source && strncmp(source, "rope", 4) == 0 && one->within == one->of.count)
            return one;
    }
    return NULL;
}

static void say_range(words *words, const void *of) {
    const range *one = of;
    fprintf(words->stream, "%s: %s ", one->label,
            one->singular ? "singular values" : "eigenvalues");
    say_ends(words, one->lo, one->hi);
}

static void say_bounded(words *words, const void *of) {
    say_range(words, of);
    fputs(", certified within ", words->stream);
    say_certified(words, of);
}

static void add_findings(const plot_figure *figure) {
    plot_run *run = figure->run;
    const ranges *all = run->own;
    const range *widest = find_widest(all), *rope = find_rope(all);
    if (!widest)
        return;
    const char *text = szgi_plot_text(run, say_range, widest);
    if (all->bounded == 1)
        szgi_page_finding(run->page, NULL, "The certified range %s the spectrum of %s.",
                          all->within == 1 ? "holds" : "does not hold", text);
    else if (all->within == all->bounded)
        szgi_page_finding(run->page, NULL,
                          "Each of the %" PRId64 " certified ranges holds its spectrum; the widest "
                          "is that of %s.",
                          all->bounded, text);
    else
        szgi_page_finding(run->page, NULL,
                          "Of %" PRId64 " certified ranges %" PRId64 " hold their spectra; the "
                          "widest is that of %s.",
                          all->bounded, all->within, text);
    if (rope && rope != widest)
        szgi_page_finding(run->page, NULL, "%s.", szgi_plot_text(run, say_bounded, rope));
}

/* ---- The table ---- */

static void say_certified_cell(words *words, const void *of) {
    const range *one = of;
    if (!isnan(one->certified_hi))
        say_certified(words, one);
    else if (one->bounded > 0)
        fprintf(words->stream, "of %" PRId64 " of %" PRId64 " heads alone", one->bounded,
                one->of.count);
    else
        fputs(one->unsaid > 0 ? "of what is not stated" : "none", words->stream);
}

static void say_range_cell(words *words, const void *of) {
    const range *one = of;
    if (isnan(one->hi)) {
        fputs("not computed", words->stream);
        return;
    }
    fputs(one->singular ? "singular values " : "", words->stream);
    say_ends(words, one->lo, one->hi);
}

static void print_cell(plot_run *run, FILE *stream, void (*say)(words *, const void *),
                       const range *one) {
    fputs("<td class=\"number\">", stream);
    szgi_html_text(stream, szgi_plot_text(run, say, one));
    fputs("</td>", stream);
}

/* One that covers every head; NULL: none does. */
static const char *theorem_of(rows of) {
    const char *theorem = szgi_spectrum_theorem(of);
    for (int64_t i = 1, row; theorem && i < of.count; i++) {
        const char *other = szgi_spectrum_theorem(head_of(&of, &row, i));
        theorem = other && strcmp(theorem, other) == 0 ? theorem : NULL;
    }
    return theorem;
}

static void print_row(plot_run *run, FILE *stream, const range *one) {
    const char *theorem = theorem_of(one->of);
    fputs("<tr>", stream);
    szgi_html_cell(stream, one->name, 2 * NAME);
    szgi_html_number_cell(stream, (double)one->of.count);
    szgi_html_number_cell(stream, one->n);
    print_cell(run, stream, say_range_cell, one);
    print_cell(run, stream, say_certified_cell, one);
    szgi_html_cell(stream, theorem ? theorem : "none", NAME);
    fputs("</tr>\n", stream);
}

static void print_table(plot_run *run, const ranges *all) {
    FILE *stream = szgi_page_stream(run->page);
    if (run->status != SZG_OK || all->count == 0)
        return;
    fputs("<div class=\"scroll\"><table><thead><tr><th>encoding or file</th><th>heads</th>"
          "<th>order n</th><th class=\"number\">range</th>"
          "<th class=\"number\">certified range</th><th>limit theorem</th></tr>"
          "</thead><tbody>\n",
          stream);
    for (int64_t i = 0; i < all->count; i++)
        print_row(run, stream, &all->one[i]);
    fputs("</tbody></table></div>\n", stream);
}

/* ---- The section ---- */

static const plot plot_of_ranges = {.tables = {"spectrum_summary"},
                                    .needs = {"lambda_min", "lambda_max"},
                                    .undone = "the ends of the spectra are not drawn",
                                    .marks = PLOT_RANGES,
                                    .x = {.label = "eigenvalue", .scale = PLOT_CHOSEN},
                                    .y = {.column = "source"},
                                    .lo = "lambda_min",
                                    .hi = "lambda_max",
                                    .title = "ranges of eigenvalues",
                                    .prepare = prepare,
                                    .caption = say_caption,
                                    .finding = add_findings};

static const plot *const plots[] = {&plot_of_ranges, NULL};

static szg_status run(page *page, const section *section) {
    static const char *const together[] = {"result", "source", "layer", "matrix", "n", NULL};
    rows all = szgi_match_all(szgi_collection_find(szgi_page_results(page), "spectrum_summary"));
    ranges found = {0};
    groups split;
    plot_run run;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, together, &split));
    szgi_plot_begin(&run, page, section);
    take_ranges(&run, &split, &found);
    run.own = &found;
    szgi_plot_all(&run, section->plots);
    print_table(&run, &found);
    szgi_groups_free(&split);
    return szgi_plot_end(&run);
}

const section szgi_section_ranges = {
    .id = "ranges",
    .title = "Ranges of all encodings",
    .tables = {"spectrum_summary"},
    .intro = "Each row is one encoding: its eigenvalues, over all heads, beside the range that the "
             "symbol certifies for them. Where eigenvalues are complex, singular values are drawn, "
             "from 0 to the certified maximum of |a|.",
    .plots = plots,
    .run = run};
