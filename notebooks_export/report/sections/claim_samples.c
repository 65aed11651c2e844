/* Counterexamples to Lemma B.1: f(t) = sum 2 w_i cos(i theta_i + i t) beside g, where theta is 0.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "claims.h"

enum { NAME_CHARACTERS = 40, NOTE_CHARACTERS = 120 };

/* One counterexample's samples: the table holds them one after the other, each from theta = 0, and
 * says which of its claim's certificates they are of. */
typedef struct curve {
    rows of;
    const double *theta, *f, *g; /* [of.count] */
    double place;                /* of the certificate; NaN: not said, as by earlier versions */
    const char *note;
    rows certificate;   /* its own; count 0: none */
    const char *id;     /* of its claim */
    const sides *sides; /* of the certificate; NULL: none */
} curve;

/* Where the curve that begins with row `from` of the samples ends. */
static int64_t curve_end(rows samples, const double *theta, int64_t from) {
    int64_t at = from + 1;
    double place = szgi_rows_real(samples, from, "certificate");
    while (at < samples.count && !(theta[at] < theta[at - 1])) {
        double next = szgi_rows_real(samples, at, "certificate");
        if (next != place && !(isnan(next) && isnan(place)))
            break;
        at++;
    }
    return at;
}

typedef struct range {
    double lo, hi; /* NaN: no finite value */
} range;

static range range_of(int64_t count, const double *value) {
    range r = {NAN, NAN};
    for (int64_t i = 0; i < count; i++)
        if (isfinite(value[i])) {
            r.lo = fmin(r.lo, value[i]);
            r.hi = fmax(r.hi, value[i]);
        }
    return r;
}

static double modulus(range r) {
    return fmax(fabs(r.lo), fabs(r.hi));
}

static void say_title(words *say, const void *of) {
    const curve *curve = of;
    szgi_words_clipped(say, curve->id, NAME_CHARACTERS);
    fputs(": ", say->stream);
    if (curve->sides)
        szgi_sides_say(say, curve->sides);
    else
        fputs("f and g", say->stream);
}

/* Phases that a certificate does not hold are no part of what it says. */
static bool has_phases(const curve *curve) {
    const char *phases = szgi_rows_text(curve->certificate, 0, "phases");
    return phases && *phases;
}

static void say_caption(words *say, const void *of) {
    const curve *curve = of;
    const sides *s = curve->sides;
    range f = range_of(curve->of.count, curve->f), g = range_of(curve->of.count, curve->g);
    if (s) {
        szgi_sides_say(say, s);
        bool equal = szgi_sides_agree(s) && strcmp(s->relation, "=") == 0;
        fprintf(say->stream,
                szgi_sides_agree(s) ? ": certified at %.6g and %.6g%s; "
                                    : ", which the certificate's enclosures, at %.6g and "
                                      "%.6g, do not show%s; ",
                (s->lo[0] + s->hi[0]) / 2, (s->lo[1] + s->hi[1]) / 2,
                equal ? szgi_sides_equality(s) : "");
    }
    fprintf(say->stream,
            "on these %" PRId64 " samples abs(f) reaches %.6g and abs(g) %.6g, the width of f is "
            "%.6g and that of g %.6g",
            curve->of.count, modulus(f), modulus(g), f.hi - f.lo, g.hi - g.lo);
    if (s && !has_phases(curve) && f.hi - f.lo != g.hi - g.lo)
        fputs("; the certificate is about g, the phases of f are not in it", say->stream);
    if (curve->note && *curve->note) {
        fputs(" (", say->stream);
        szgi_words_clipped(say, curve->note, NOTE_CHARACTERS);
        fputc(')', say->stream);
    }
    fputc('.', say->stream);
}

/* Names that verify --check knows (docs/explanation/theory.md). */
static bool is_modulus_of_f(const char *quantity) {
    return strcmp(quantity, "max|f|") == 0 || strcmp(quantity, "max|f| with phases theta_i") == 0;
}

/* The bound that abs(f) is compared with, and below where a curve comes there. */
static szg_status add_bound(szg_context *context, figure *figure, const curve *curve) {
    const sides *s = curve->sides;
    if (!s || !is_modulus_of_f(s->name[0]) || !szgi_sides_agree(s))
        return SZG_OK;
    double bound = (s->lo[1] + s->hi[1]) / 2;
    figure_style style = {.name = s->name[1], .colour = FIGURE_MUTED};
    double least =
        fmin(range_of(curve->of.count, curve->f).lo, range_of(curve->of.count, curve->g).lo);
    SZG_TRY(szgi_figure_rule(context, figure, &style, false, bound));
    style.name = NULL;
    return least < 0 ? szgi_figure_rule(context, figure, &style, false, -bound) : SZG_OK;
}

static szg_status add_curves(szg_context *context, figure *figure, const curve *curve) {
    SZG_TRY(szgi_figure_line(context, figure, &(figure_style){.name = "g", .colour = 0},
                             curve->of.count, curve->theta, curve->g));
    SZG_TRY(szgi_figure_line(context, figure, &(figure_style){.name = "f", .colour = 1},
                             curve->of.count, curve->theta, curve->f));
    return add_bound(context, figure, curve);
}

static szg_status draw_curve(const claim *claim, const curve *curve) {
    szg_context *context = szgi_page_context(claim->page);
    const figure_options options = {
        .x = {.label = "t in radians"}, .y = {.label = "f(t), g(t)"}, .height = 280};
    const rows source[] = {curve->of, curve->certificate};
    figure *figure;
    SZG_TRY(szgi_figure_open_titled(context, options, say_title, curve, &figure));
    szg_status status = add_curves(context, figure, curve);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(claim->page, &figure, source,
                                            curve->certificate.count ? 2 : 1, say_caption, curve);
    szgi_figure_close(&figure);
    return status;
}

static void find_certificate(const claim *claim, curve *curve, sides *own) {
    rows all = claim->certificates;
    if (!(curve->place >= 0 && curve->place < (double)all.count))
        return;
    curve->certificate = (rows){all.table, &all.row[(int64_t)curve->place], 1};
    *own = szgi_certificate_sides(curve->certificate, 0);
    curve->sides = own;
}

static szg_status draw_curves(const claim *claim, const double *theta, const double *f,
                              const double *g) {
    rows samples = claim->samples;
    for (int64_t from = 0; from < samples.count;) {
        int64_t end = curve_end(samples, theta, from);
        curve curve = {.of = {samples.table, &samples.row[from], end - from},
                       .theta = &theta[from],
                       .f = &f[from],
                       .g = &g[from],
                       .id = claim->id,
                       .place = szgi_rows_real(samples, from, "certificate"),
                       .note = szgi_rows_text(samples, from, "note")};
        sides own;
        find_certificate(claim, &curve, &own);
        if (szgi_budget_take(claim->budget))
            SZG_TRY(draw_curve(claim, &curve));
        from = end;
    }
    return SZG_OK;
}

szg_status szgi_claim_samples(const claim *claim) {
    szg_context *context = szgi_page_context(claim->page);
    double *theta = NULL, *f = NULL, *g = NULL;
    szgi_page_grid_begin(claim->page);
    szg_status status = szgi_rows_reals(context, claim->samples, "theta", &theta);
    if (status == SZG_OK)
        status = szgi_rows_reals(context, claim->samples, "f", &f);
    if (status == SZG_OK)
        status = szgi_rows_reals(context, claim->samples, "g", &g);
    if (status == SZG_OK)
        status = draw_curves(claim, theta, f, g);
    szgi_memory_free(theta);
    szgi_memory_free(f);
    szgi_memory_free(g);
    szgi_page_grid_end(claim->page);
    return status;
}
