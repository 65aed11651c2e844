/* Lemma B.1 over random and adversarial trials: maxima and widths of f against those of g. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "captioned.h"
#include "claims.h"

enum { NOTE_CHARACTERS = 60, WIDE = 100 };

/* What is compared, and the columns that enclose it. */
typedef struct comparison {
    const char *title, *x_label, *y_label, *ratio_label;
    const char *column[4]; /* f lo, f hi, g lo, g hi */
} comparison;

static const comparison maxima = {"Lemma B.1: max|f| against max|g|",
                                  "max|g|",
                                  "max|f|",
                                  "max|f| / max|g|",
                                  {"max_f_lo", "max_f_hi", "max_g_lo", "max_g_hi"}};
static const comparison widths = {"Lemma B.1: width of f against width of g",
                                  "width of g",
                                  "width of f",
                                  "width of f / width of g",
                                  {"width_f_lo", "width_f_hi", "width_g_lo", "width_g_hi"}};

/* The trials' enclosures, and on which side of the diagonal they lie. */
typedef struct trials {
    const comparison *what;
    rows of;
    const char *verdict;    /* of the ledger; NULL: none */
    double *end[4];         /* as comparison.column */
    double *x, *y, *kept_x; /* middles; scratch for one series */
    double *kept_y;
    int64_t known, below, above, touching, equal; /* equal: the column says so */
    double least, most;                           /* of all middles */
    bool wide; /* sizes apart by more than WIDE: quotients are drawn */
} trials;

static void trials_free(trials *t) {
    for (int i = 0; i < 4; i++)
        szgi_memory_free(t->end[i]);
    szgi_memory_free(t->x);
    szgi_memory_free(t->y);
    szgi_memory_free(t->kept_x);
    szgi_memory_free(t->kept_y);
}

static bool is_equal(rows of, int64_t index) {
    const char *equality = szgi_rows_text(of, index, "equality");
    return equality && strcmp(equality, "yes") == 0;
}

static void count_trial(trials *t, int64_t i) {
    double f_lo = t->end[0][i], f_hi = t->end[1][i], g_lo = t->end[2][i], g_hi = t->end[3][i];
    t->x[i] = t->y[i] = NAN;
    if (!(f_lo <= f_hi && g_lo <= g_hi && isfinite(f_hi - f_lo) && isfinite(g_hi - g_lo)))
        return;
    t->x[i] = g_lo / 2 + g_hi / 2;
    t->y[i] = f_lo / 2 + f_hi / 2;
    t->known++;
    t->below += f_hi < g_lo;
    t->above += f_lo > g_hi;
    t->touching += !(f_hi < g_lo) && !(f_lo > g_hi);
    t->equal += is_equal(t->of, i);
    t->least = fmin(t->least, fmin(t->x[i], t->y[i]));
    t->most = fmax(t->most, fmax(t->x[i], t->y[i]));
}

/* t: what, of and verdict are set. */
static szg_status take_trials(szg_context *context, trials *t) {
    rows of = t->of;
    t->least = INFINITY;
    t->most = -INFINITY;
    for (int i = 0; i < 4; i++)
        SZG_TRY(szgi_rows_reals(context, of, t->what->column[i], &t->end[i]));
    SZG_TRY(szgi_memory_alloc(context, of.count, &t->x));
    SZG_TRY(szgi_memory_alloc(context, of.count, &t->y));
    SZG_TRY(szgi_memory_alloc(context, of.count, &t->kept_x));
    SZG_TRY(szgi_memory_alloc(context, of.count, &t->kept_y));
    for (int64_t i = 0; i < of.count; i++)
        count_trial(t, i);
    t->wide = t->least > 0 && t->most / t->least > WIDE;
    return SZG_OK;
}

/* The trials in which equality holds, or in which it does not, as points. */
static szg_status add_points(szg_context *context, figure *figure, trials *t, bool equal) {
    const figure_style style = {.name = equal ? "max|f| = max|g| exactly" : "other trials",
                                .colour = equal ? 1 : 0};
    int64_t kept = 0;
    for (int64_t i = 0; i < t->of.count; i++) {
        if (isnan(t->x[i]) || is_equal(t->of, i) != equal)
            continue;
        t->kept_x[kept] = t->x[i];
        t->kept_y[kept++] = t->wide ? t->y[i] / t->x[i] : t->y[i];
    }
    return kept ? szgi_figure_points(context, figure, &style, kept, t->kept_x, t->kept_y, NULL)
                : SZG_OK;
}

static szg_status add_trials(szg_context *context, figure *figure, trials *t) {
    const double ends[] = {t->least, t->most};
    const figure_style equal = {.name = "equal", .colour = FIGURE_MUTED};
    SZG_TRY(t->wide ? szgi_figure_rule(context, figure, &equal, false, 1)
                    : szgi_figure_line(context, figure, &equal, 2, ends, ends));
    SZG_TRY(add_points(context, figure, t, false));
    return add_points(context, figure, t, true);
}

static void say_caption(words *say, const void *of) {
    const trials *t = of;
    fprintf(say->stream,
            "%" PRId64 " trials: %s lies below %s in %" PRId64 ", above it in %" PRId64
            ", and their enclosures touch in %" PRId64,
            t->known, t->what->y_label, t->what->x_label, t->below, t->above, t->touching);
    if (t->what == &maxima) {
        fprintf(say->stream,
                " (equality of the maxima holds in %" PRId64 "): the lemma has no point above the "
                "line",
                t->equal);
        fputs(t->above ? ", and these contradict it." : ".", say->stream);
        return;
    }
    fputs(t->above ? ": points above the line contradict the paper's statement on widths (L3"
                   : ": no trial here contradicts the paper's statement on widths (L3",
          say->stream);
    if (t->verdict) {
        fputs(", which the ledger says: ", say->stream);
        szgi_words_clipped(say, t->verdict, NOTE_CHARACTERS);
    }
    fputs(").", say->stream);
}

static szg_status print_trials(page *page, trials *t) {
    szg_context *context = szgi_page_context(page);
    const figure_options options = {
        .title = t->what->title,
        .x = {.label = t->what->x_label, .logarithmic = t->wide},
        .y = {.label = t->wide ? t->what->ratio_label : t->what->y_label},
        .width = 520,
        .height = 420};
    figure *figure;
    SZG_TRY(szgi_figure_open(context, &options, &figure));
    szg_status status = add_trials(context, figure, t);
    if (status != SZG_OK) {
        szgi_figure_close(&figure);
        return status;
    }
    return szgi_page_figure_captioned(page, &figure, &t->of, 1, say_caption, t);
}

static szg_status draw_comparison(page *page, rows of, const comparison *what,
                                  const char *verdict) {
    trials t = {.what = what, .of = of, .verdict = verdict};
    szg_status status = take_trials(szgi_page_context(page), &t);
    if (status == SZG_OK && t.known > 0)
        status = print_trials(page, &t);
    else if (status == SZG_OK)
        szgi_page_paragraph(page, "%s: the table has no enclosures to draw.", what->title);
    trials_free(&t);
    return status;
}

szg_status szgi_lemma_figures(page *page, rows trials, const char *verdict, budget *budget) {
    szgi_page_heading(page, "Lemma B.1 over random and adversarial trials");
    szgi_page_grid_begin(page);
    if (szgi_budget_take(budget))
        SZG_TRY(draw_comparison(page, trials, &maxima, NULL));
    if (szgi_budget_take(budget))
        SZG_TRY(draw_comparison(page, trials, &widths, verdict));
    szgi_page_grid_end(page);
    return SZG_OK;
}
