/* Counterexamples to Lemma B.1: f(t) = sum 2 w_i cos(i theta_i + i t) beside g, where theta is 0.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <szego/memory.h>

#include "claims.h"

enum { NAME_CHARACTERS = 40, NOTE_CHARACTERS = 120 };

/* One counterexample's samples: the table holds them one after the other, each from theta = 0. */
typedef struct curve {
    rows of;
    const double *theta, *f, *g; /* [of.count] */
    const char *note;
    rows certificate;   /* its own; count 0: none */
    const char *id;     /* of its claim */
    const sides *sides; /* of the certificate; NULL: none */
} curve;

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Where the curve that begins with row `from` of the samples ends. */
static int64_t curve_end(rows samples, const double *theta, int64_t from) {
    int64_t at = from + 1;
    const char *note = rows_text(samples, from, "note");
    while (at < samples.count && !(theta[at] < theta[at - 1]) &&
           same_text(note, rows_text(samples, at, "note")))
        at++;
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
    words_clipped(say, curve->id, NAME_CHARACTERS);
    fputs(": ", say->stream);
    if (curve->sides)
        sides_say(say, curve->sides);
    else
        fputs("f and g", say->stream);
}

static void say_caption(words *say, const void *of) {
    const curve *curve = of;
    const sides *s = curve->sides;
    range f = range_of(curve->of.count, curve->f), g = range_of(curve->of.count, curve->g);
    if (s) {
        sides_say(say, s);
        bool equal = sides_agree(s) && strcmp(s->relation, "=") == 0;
        fprintf(say->stream,
                sides_agree(s) ? ": certified at %.6g and %.6g%s; "
                               : ", which the certificate's enclosures, at %.6g and "
                                 "%.6g, do not show%s; ",
                (s->lo[0] + s->hi[0]) / 2, (s->lo[1] + s->hi[1]) / 2,
                equal ? sides_equality(s) : "");
    }
    fprintf(say->stream,
            "on these %" PRId64 " samples abs(f) reaches %.6g and abs(g) %.6g, the width of f is "
            "%.6g and that of g %.6g",
            curve->of.count, modulus(f), modulus(g), f.hi - f.lo, g.hi - g.lo);
    if (s && !strchr(s->name[0], 'f') && !strchr(s->name[1], 'f') && f.hi - f.lo != g.hi - g.lo)
        fputs("; the certificate is about g, the phases of f are not in it", say->stream);
    if (curve->note && *curve->note) {
        fputs(" (", say->stream);
        words_clipped(say, curve->note, NOTE_CHARACTERS);
        fputc(')', say->stream);
    }
    fputc('.', say->stream);
}

/* The bound that abs(f) is compared with, and below where a curve comes there. */
static szg_status add_bound(szg_context *context, figure *figure, const curve *curve) {
    const sides *s = curve->sides;
    if (!s || strncmp(s->name[0], "max|f|", 6) != 0 || !sides_agree(s))
        return SZG_OK;
    double bound = (s->lo[1] + s->hi[1]) / 2;
    figure_style style = {.name = s->name[1], .colour = FIGURE_MUTED};
    double least =
        fmin(range_of(curve->of.count, curve->f).lo, range_of(curve->of.count, curve->g).lo);
    SZG_TRY(figure_rule(context, figure, &style, false, bound));
    style.name = NULL;
    return least < 0 ? figure_rule(context, figure, &style, false, -bound) : SZG_OK;
}

static szg_status add_curves(szg_context *context, figure *figure, const curve *curve) {
    SZG_TRY(figure_line(context, figure, &(figure_style){"g", 0}, curve->of.count, curve->theta,
                        curve->g));
    SZG_TRY(figure_line(context, figure, &(figure_style){"f", 1}, curve->of.count, curve->theta,
                        curve->f));
    return add_bound(context, figure, curve);
}

static szg_status draw_curve(const claim *claim, const curve *curve) {
    szg_context *context = page_context(claim->page);
    const figure_options options = {
        .x = {.label = "t in radians"}, .y = {.label = "f(t), g(t)"}, .height = 280};
    const rows source[] = {curve->of, curve->certificate};
    figure *figure;
    SZG_TRY(figure_open_titled(context, options, say_title, curve, &figure));
    szg_status status = add_curves(context, figure, curve);
    if (status == SZG_OK)
        status = page_figure_captioned(claim->page, &figure, source,
                                       curve->certificate.count ? 2 : 1, say_caption, curve);
    figure_close(&figure);
    return status;
}

/* The certificate of curve `index`: they stand in one order, with the same notes. */
static void find_certificate(const claim *claim, int64_t index, curve *curve, sides *own) {
    rows all = claim->certificates;
    if (index >= all.count || !same_text(rows_text(all, index, "note"), curve->note))
        return;
    curve->certificate = (rows){all.table, &all.row[index], 1};
    *own = certificate_sides(curve->certificate, 0);
    curve->sides = own;
}

static szg_status draw_curves(const claim *claim, const double *theta, const double *f,
                              const double *g) {
    rows samples = claim->samples;
    for (int64_t from = 0, index = 0; from < samples.count; index++) {
        int64_t end = curve_end(samples, theta, from);
        curve curve = {.of = {samples.table, &samples.row[from], end - from},
                       .theta = &theta[from],
                       .f = &f[from],
                       .g = &g[from],
                       .id = claim->id,
                       .note = rows_text(samples, from, "note")};
        sides own;
        find_certificate(claim, index, &curve, &own);
        if (budget_take(claim->budget))
            SZG_TRY(draw_curve(claim, &curve));
        from = end;
    }
    return SZG_OK;
}

szg_status claim_samples(const claim *claim) {
    szg_context *context = page_context(claim->page);
    double *theta = NULL, *f = NULL, *g = NULL;
    page_grid_begin(claim->page);
    szg_status status = rows_reals(context, claim->samples, "theta", &theta);
    if (status == SZG_OK)
        status = rows_reals(context, claim->samples, "f", &f);
    if (status == SZG_OK)
        status = rows_reals(context, claim->samples, "g", &g);
    if (status == SZG_OK)
        status = draw_curves(claim, theta, f, g);
    szg_memory_free(theta);
    szg_memory_free(f);
    szg_memory_free(g);
    page_grid_end(claim->page);
    return status;
}
