/* Ends of spectra whose values are not listed, within the certified range of the symbol. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "captioned.h"
#include "needs.h"
#include "spectrum.h"

enum { MOST_BARS = 64, CANCEL_EVERY = 4096 };
static const double beside = 0.16; /* of the distance between two rows */

/* Intervals as lines of two points each. */
typedef struct intervals {
    double x[2 * MOST_BARS], y[2 * MOST_BARS];
    int64_t points;
} intervals;

static void add_interval(intervals *to, double x, double lo, double hi) {
    if (!(lo <= hi) || isinf(lo) || isinf(hi))
        return;
    to->x[to->points] = to->x[to->points + 1] = x;
    to->y[to->points++] = lo;
    to->y[to->points++] = hi;
}

static szg_status draw_intervals(szg_context *context, figure *figure, const char *name, int colour,
                                 const intervals *of) {
    if (of->points == 0)
        return SZG_OK;
    for (int64_t i = 0; i < of->points; i += 2)
        SZG_TRY(szgi_figure_line(context, figure, &(figure_style){.name = NULL, .colour = colour},
                                 2, of->x + i, of->y + i));
    return szgi_figure_points(context, figure, &(figure_style){.name = name, .colour = colour},
                              of->points, of->x, of->y, NULL);
}

/* One figure in the making. */
typedef struct ranges {
    rows from;
    intervals certified, eigenvalues, singular;
    words label[MOST_BARS];
    const char *name[MOST_BARS];
    int64_t rows, within, bounded; /* drawn; with their range certified; of those, inside it */
    int64_t unsaid;                /* with a range of which nothing says what it bounds */
} ranges;

/* Singular values stand in for eigenvalues that are complex or were not computed. */
static void add_row(ranges *of, rows row) {
    double lo = szgi_rows_real(row, 0, "lambda_min"), hi = szgi_rows_real(row, 0, "lambda_max");
    double x = (double)of->rows;
    bool is_modulus = szgi_spectrum_bounds_of(row, false).is_modulus,
         singular = is_modulus || isnan(hi);
    if (singular) {
        lo = szgi_rows_real(row, 0, "sigma_min");
        hi = szgi_rows_real(row, 0, "sigma_max");
    }
    spectrum_bounds bounds = szgi_spectrum_bounds_of(row, singular);
    add_interval(&of->certified, x - beside, bounds.lo, bounds.hi);
    add_interval(singular ? &of->singular : &of->eigenvalues, x + beside, lo, hi);
    of->unsaid += bounds.unsaid;
    if (!isnan(bounds.hi) && lo <= hi) {
        of->bounded++;
        of->within += bounds.lo <= lo && hi <= bounds.hi;
    }
}

static szg_status label_row(szg_context *context, ranges *of, rows row) {
    words *label = &of->label[of->rows];
    double layer = szgi_rows_real(row, 0, "layer"), head = szgi_rows_real(row, 0, "head");
    double n = szgi_rows_real(row, 0, "n");
    SZG_TRY(szgi_words_open(context, label));
    if (!isnan(layer))
        fprintf(label->stream, "L%.0f ", layer);
    if (!isnan(head))
        fprintf(label->stream, "H%.0f ", head);
    if (!isnan(n))
        fprintf(label->stream, "n=%.0f", n);
    SZG_TRY(szgi_words_end(context, label));
    of->name[of->rows] = label->text;
    return SZG_OK;
}

static void describe(words *words, const void *user) {
    const ranges *of = user;
    if (of->bounded > 0)
        fprintf(words->stream,
                "The ends of the spectrum beside the certified range of the symbol: %" PRId64
                " of %" PRId64 " spectra with such a range lie in it.",
                of->within, of->bounded);
    else if (of->unsaid == 0)
        fputs("The ends of the spectrum; no certified range bounds them.", words->stream);
    else
        fputs("The ends of the spectrum.", words->stream);
    if (of->unsaid > 0)
        fprintf(words->stream,
                " Of %" PRId64
                " certified ranges the result does not say what they bound: it lacks "
                "the column bound_of.",
                of->unsaid);
    if (of->singular.points > 0)
        fprintf(words->stream,
                " Where eigenvalues are complex or were not computed, singular values are "
                "drawn%s.",
                of->bounded > 0 ? ", from 0 to the maximum of |a| where a range is" : "");
    if (of->rows < of->from.count)
        fprintf(words->stream, " The first %" PRId64 " of %" PRId64 " rows are drawn.", of->rows,
                of->from.count);
    fputs(" Every value: szego spectrum --all.", words->stream);
}

static void say_title(words *words, const void *of) {
    szgi_words_source(words, *(const rows *)of);
    fputs(": ends of the spectrum", words->stream);
}

static szg_status add_all(szg_context *context, figure *figure, const ranges *of) {
    SZG_TRY(draw_intervals(context, figure, "certified range of the symbol", FIGURE_MUTED,
                           &of->certified));
    SZG_TRY(draw_intervals(context, figure, "eigenvalues", 0, &of->eigenvalues));
    return draw_intervals(context, figure, "singular values", 1, &of->singular);
}

static szg_status draw_collected(page *page, const ranges *of) {
    figure_options options = {
        .x = {.label = "layer, head and order", .names = of->name, .count = of->rows},
        .y = {.label = "value"}};
    figure *figure;
    SZG_TRY(
        szgi_figure_open_titled(szgi_page_context(page), options, say_title, &of->from, &figure));
    szg_status status = add_all(szgi_page_context(page), figure, of);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &of->from, 1, describe, of);
    szgi_figure_close(&figure);
    return status;
}

static szg_status draw_figure(page *page, rows from) {
    ranges *of;
    szg_status status = SZG_OK;
    SZG_TRY(szgi_memory_alloc(szgi_page_context(page), 1, &of));
    of->from = from;
    for (int64_t i = 0; i < from.count && i < MOST_BARS && status == SZG_OK; i++) {
        rows row = {from.table, from.row + i, 1};
        add_row(of, row);
        status = label_row(szgi_page_context(page), of, row);
        of->rows++;
    }
    if (status == SZG_OK)
        status = draw_collected(page, of);
    for (int64_t i = 0; i < of->rows; i++)
        szgi_words_free(&of->label[i]);
    szgi_memory_free(of);
    return status;
}

static bool is_zero(rows one) {
    return szgi_rows_real(one, 0, "lambda_min") == 0 && szgi_rows_real(one, 0, "lambda_max") == 0 &&
           !(szgi_rows_real(one, 0, "sigma_max") > 0);
}

static szg_status take_unlisted(szg_context *context, const match_index *listed,
                                spectrum_unlisted *out) {
    for (int64_t i = 0; i < out->all.count; i++) {
        rows one = {out->all.table, &i, 1};
        if (is_zero(one))
            out->zero++;
        else if (!szgi_match_index_has(listed, one))
            out->row[out->count++] = i;
        if (i % CANCEL_EVERY == 0)
            SZG_TRY(szgi_context_check_cancel(context));
    }
    return SZG_OK;
}

static szg_status find_unlisted(szg_context *context, rows eigenvalues, spectrum_unlisted *out) {
    groups listed = {0};
    match_index index = {0};
    SZG_TRY(szgi_memory_alloc(context, out->all.count, &out->row));
    if (eigenvalues.count > 0)
        SZG_TRY(szgi_groups_split(context, eigenvalues, szgi_spectrum_order, &listed));
    szg_status status =
        szgi_match_index_open(context, &listed, out->all.table, szgi_spectrum_order, &index);
    if (status == SZG_OK)
        status = take_unlisted(context, &index, out);
    szgi_match_index_close(&index);
    szgi_groups_free(&listed);
    return status;
}

szg_status szgi_spectrum_unlisted_open(page *page, rows eigenvalues, rows summary,
                                       spectrum_unlisted *out) {
    static const char *const needed[] = {"lambda_min", "lambda_max", NULL};
    bool met = false;
    *out = (spectrum_unlisted){.all = summary};
    if (summary.count > 0)
        SZG_TRY(szgi_needs_numbers(page, summary, needed, "the ends of the spectra are not drawn",
                                   &met));
    szg_status status = met ? find_unlisted(szgi_page_context(page), eigenvalues, out) : SZG_OK;
    if (status != SZG_OK)
        szgi_spectrum_unlisted_close(out);
    return status;
}

void szgi_spectrum_unlisted_close(spectrum_unlisted *unlisted) {
    szgi_memory_free(unlisted->row);
    *unlisted = (spectrum_unlisted){0};
}

static szg_status draw_figures(page *page, rows unlisted, budget *budget) {
    static const char *const together[] = {"result", "source", "matrix", NULL};
    groups figures;
    szg_status status = SZG_OK;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), unlisted, together, &figures));
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < figures.count && status == SZG_OK; i++)
        if (szgi_budget_take(budget))
            status = draw_figure(page, figures.group[i]);
    szgi_page_grid_end(page);
    szgi_groups_free(&figures);
    return status;
}

szg_status szgi_spectrum_draw_ranges(page *page, const spectrum_unlisted *unlisted,
                                     budget *budget) {
    if (unlisted->count > 0)
        SZG_TRY(draw_figures(page, (rows){unlisted->all.table, unlisted->row, unlisted->count},
                             budget));
    if (unlisted->zero > 0)
        szgi_page_paragraph(page, "Not drawn: %" PRId64 " zero %s eigenvalues are 0.",
                            unlisted->zero,
                            unlisted->zero == 1 ? "matrix; all its" : "matrices; all their");
    return SZG_OK;
}
