/* Counterexamples to Lemma B.1: f(t) = sum 2 w_i cos(i theta_i + i t) beside g, where theta is 0.
 * One figure a claim, one panel a certificate. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "claims.h"

enum { NAME = 40 };

/* The certificate that a panel's samples are of: a place among its claim's, in a column. */
static rows certificate_of(const claim *claim, rows samples, int64_t index) {
    rows all = claim->certificates;
    double place = szgi_rows_real(samples, index, "certificate");
    if (!(place >= 0 && place < (double)all.count))
        return (rows){0};
    return (rows){all.table, &all.row[(int64_t)place], 1};
}

static void say_sides(words *words, const void *of) {
    szgi_sides_say(words, of);
}

/* ---- Curves ---- */

/* Names that verify --check knows (docs/explanation/theory.md). */
static bool is_modulus_of_f(const char *quantity) {
    return strcmp(quantity, "max|f|") == 0 || strcmp(quantity, "max|f| with phases theta_i") == 0;
}

static void add_level(plot_figure *figure, plot_panel *panel, const char *name, double level) {
    rows of = panel->of;
    plot_series *line = szgi_plot_add(figure, panel, of, 2);
    if (!line)
        return;
    for (int i = 0; i < 2; i++) {
        line->x[i] = szgi_rows_real(of, i ? of.count - 1 : 0, "theta");
        line->y[i] = level;
    }
    line->name = name;
    line->colour = FIGURE_MUTED;
}

/* The bound that abs(f) is compared with, and its negative where a curve comes below 0. */
static void add_bound(plot_figure *figure, plot_panel *panel, const sides *s) {
    double bound = s->lo[1] / 2 + s->hi[1] / 2;
    bool negative = false;
    if (!is_modulus_of_f(s->name[0]) || !szgi_sides_agree(s))
        return;
    for (int64_t i = 0; i < panel->of.count; i++)
        negative |= szgi_rows_real(panel->of, i, "f") < 0 || szgi_rows_real(panel->of, i, "g") < 0;
    add_level(figure, panel, s->name[1], bound);
    if (negative)
        add_level(figure, panel, NULL, -bound);
}

/* Phases that a certificate does not hold are no part of what it says. */
static bool has_phases(rows certificate) {
    const char *phases = szgi_rows_text(certificate, 0, "phases");
    return phases && *phases;
}

/* f is there: g beside it, or in its place where the certificate is about g alone. */
static void add_g(plot_figure *figure, plot_panel *panel, bool alone) {
    double *x = szgi_plot_reals(figure->run, panel->of, "theta"),
           *y = szgi_plot_reals(figure->run, panel->of, "g");
    plot_series *g =
        alone ? panel->series : szgi_plot_add(figure, panel, panel->of, panel->of.count);
    if (!g || !x || !y)
        return;
    panel->series[0].name = "f";
    panel->series[0].colour = 1;
    *g = (plot_series){.of = panel->of, .name = "g", .count = panel->of.count, .x = x, .y = y};
}

static void prepare_curves(plot_figure *figure) {
    const claim *claim = figure->run->own;
    for (int64_t i = 0; i < figure->panels && figure->run->status == SZG_OK; i++) {
        plot_panel *panel = &figure->panel[i];
        rows certificate = certificate_of(claim, panel->of, 0);
        const sides s = szgi_certificate_sides(certificate, 0);
        add_g(figure, panel, !has_phases(certificate));
        add_bound(figure, panel, &s);
        panel->name = szgi_plot_text(figure->run, say_sides, &s);
        szgi_plot_add_source(figure, certificate);
    }
}

/* ---- Words ---- */

static void say_claim(words *words, rows of) {
    szgi_words_clipped(words, szgi_rows_text(of, 0, "id"), NAME);
}

/* The first certificate that is about f; without one the first. */
static rows told_certificate(const plot_figure *figure) {
    const claim *claim = figure->run->own;
    for (int64_t i = 0; i < figure->panels; i++) {
        rows certificate = certificate_of(claim, figure->panel[i].of, 0);
        if (has_phases(certificate))
            return certificate;
    }
    return certificate_of(claim, figure->panel[0].of, 0);
}

/* "max|f| > max|g|: 14 against 12.25, one of 2 counterexamples." */
static void say_one(words *words, const plot_figure *figure) {
    const sides s = szgi_certificate_sides(told_certificate(figure), 0);
    szgi_sides_say(words, &s);
    fputs(": ", words->stream);
    szgi_plot_number(words, s.lo[0] / 2 + s.hi[0] / 2);
    fputs(" against ", words->stream);
    szgi_plot_number(words, s.lo[1] / 2 + s.hi[1] / 2);
    if (!szgi_sides_agree(&s))
        fputs(", which its enclosures do not show", words->stream);
    if (figure->panels > 1)
        fprintf(words->stream, ", one of %" PRId64 " certificates", figure->panels);
    fputs(".", words->stream);
}

static const plot curves = {.tables = {"verify_samples"},
                            .panel_by = {"certificate"},
                            .x = {.column = "theta", .label = "t in radians"},
                            .y = {.column = "f", .label = "f(t), g(t)"},
                            .title = "f and g of each counterexample",
                            .subject = say_claim,
                            .prepare = prepare_curves,
                            .caption = say_one,
                            .remark = "`g` is `f` with every `theta_i = 0`."};

/* Samples of no certificate, as by earlier versions, stay behind the link. */
static rows find_drawn(const claim *claim) {
    rows all = claim->samples, out = {.table = all.table};
    int64_t *row;
    if (!szgi_plot_new(claim->run, all.count, &row))
        return (rows){0};
    for (int64_t i = 0; i < all.count; i++)
        if (certificate_of(claim, all, i).count > 0)
            row[out.count++] = szgi_rows_at(all, i);
    out.row = row;
    return out;
}

void szgi_claim_samples(const claim *claim) {
    plot_run *run = claim->run;
    rows drawn = claim->samples.count > 0 ? find_drawn(claim) : (rows){0};
    if (run->status != SZG_OK || claim->samples.count == 0)
        return;
    if (drawn.count < claim->samples.count) {
        szgi_page_paragraph(run->page, "%" PRId64 " samples are of no certificate here.",
                            claim->samples.count - drawn.count);
        szgi_plot_keep(run, szgi_page_links(run->page, &claim->samples, 1));
    }
    if (drawn.count == 0)
        return;
    if (run->left == 0) {
        run->left_out++;
        szgi_plot_keep(run, szgi_page_links(run->page, &drawn, 1));
        return;
    }
    run->left--;
    run->own = claim;
    szgi_plot_one(run, &curves, drawn);
    run->own = NULL;
}
