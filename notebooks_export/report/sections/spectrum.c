/* Eigenvalues and singular values over the quantiles of the symbol. */
#include <inttypes.h>
#include <math.h>

#include "needs.h"
#include "spectrum.h"

enum { LEAST_RANGES = 4 };

static const char *const of_figure[] = {"result", "source", "layer", "head",
                                        "matrix", "kind",   NULL};

static bool is_present(const szg_collection *results) {
    return szgi_collection_find(results, "spectrum_eigenvalues") ||
           szgi_collection_find(results, "spectrum_summary");
}

/* Values that do not add up to the matrix's order have no places among its quantiles. */
static bool is_whole(const spectrum_series *series) {
    double listed = (double)(series->values.count + series->zeros);
    return isnan(series->n) || series->n == listed;
}

static szg_status say_partial(page *page, const spectrum_series *series) {
    words key;
    SZG_TRY(szgi_words_open(szgi_page_context(page), &key));
    szgi_words_key(&key, series->values);
    szg_status status = szgi_words_end(szgi_page_context(page), &key);
    if (status == SZG_OK)
        szgi_page_paragraph(
            page,
            "%s: %" PRId64 " values are listed and %" PRId64
            " are said to be 0, which is not the matrix's order %.0f: no quantiles.",
            key.text, series->values.count, series->zeros, series->n);
    szgi_words_free(&key);
    return status;
}

/* Reads the orders of one figure, those that cannot be drawn left out. */
static szg_status read_orders(page *page, const spectrum_tables *tables, const groups *orders,
                              spectrum_series *series, int64_t *count) {
    for (int64_t i = 0; i < orders->count && *count < FIGURE_COLOURS; i++) {
        spectrum_series *next = &series[*count];
        SZG_TRY(szgi_spectrum_read(szgi_page_context(page), tables, orders->group[i], next));
        if (is_whole(next)) {
            (*count)++;
            continue;
        }
        szg_status status = say_partial(page, next);
        szgi_spectrum_free(next);
        SZG_TRY(status);
    }
    return SZG_OK;
}

static szg_status draw_matrix(page *page, const spectrum_tables *tables, rows of, budget *budget) {
    spectrum_series series[FIGURE_COLOURS];
    groups orders;
    int64_t count = 0;
    bool complex = false;
    SZG_TRY(
        szgi_groups_split(szgi_page_context(page), of, (const char *const[]){"n", NULL}, &orders));
    szg_status status = read_orders(page, tables, &orders, series, &count);
    for (int64_t i = 0; i < count; i++)
        complex = complex || series[i].complex;
    if (status == SZG_OK && count > 0)
        status = complex ? szgi_spectrum_draw_plane(page, series, count)
                         : szgi_spectrum_draw_curves(page, series, count, budget);
    if (status == SZG_OK && orders.count > FIGURE_COLOURS)
        szgi_page_paragraph(page, "Of %" PRId64 " orders the first %d are drawn.", orders.count,
                            FIGURE_COLOURS);
    for (int64_t i = 0; i < count; i++)
        szgi_spectrum_free(&series[i]);
    szgi_groups_free(&orders);
    return status;
}

static szg_status draw_values(page *page, const spectrum_tables *tables, budget *budget) {
    static const char *const needed[] = {"re", "im", NULL};
    rows all = tables->eigenvalues;
    groups figures;
    bool met;
    SZG_TRY(szgi_needs_numbers(page, all, needed, "its values are not drawn", &met));
    if (!met)
        return SZG_OK;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, of_figure, &figures));
    szg_status status = SZG_OK;
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < figures.count && status == SZG_OK; i++)
        if (szgi_budget_take(budget))
            status = draw_matrix(page, tables, figures.group[i], budget);
    szgi_page_grid_end(page);
    szgi_groups_free(&figures);
    return status;
}

static szg_status split_table(page *page, const char *name, groups *out) {
    const szg_table *table = szgi_collection_find(szgi_page_results(page), name);
    *out = (groups){0};
    if (!table)
        return SZG_OK;
    return szgi_groups_split(szgi_page_context(page), szgi_match_all(table), szgi_spectrum_order,
                             out);
}

static const char *const names[] = {"spectrum_eigenvalues", "spectrum_summary", NULL};

/* Values first, of which a few figures are held back where there are ranges. */
static szg_status draw_within(page *page, const spectrum_tables *tables,
                              const spectrum_unlisted *unlisted) {
    budget budget = {.left = MOST_FIGURES};
    struct budget values =
        szgi_budget_part(&budget, MOST_FIGURES - (unlisted->count > 0 ? LEAST_RANGES : 0));
    if (tables->eigenvalues.count > 0)
        SZG_TRY(draw_values(page, tables, &values));
    szgi_budget_join(&budget, &values);
    SZG_TRY(szgi_spectrum_draw_ranges(page, unlisted, &budget));
    return szgi_budget_end(page, &budget, "figures", names);
}

static szg_status draw_figures(page *page, const spectrum_tables *tables) {
    rows summary = szgi_match_all(szgi_collection_find(szgi_page_results(page), names[1]));
    spectrum_unlisted unlisted;
    SZG_TRY(szgi_spectrum_unlisted_open(page, tables->eigenvalues, summary, &unlisted));
    szg_status status = draw_within(page, tables, &unlisted);
    szgi_spectrum_unlisted_close(&unlisted);
    return status;
}

static szg_status draw(page *page) {
    spectrum_tables tables = {
        .eigenvalues = szgi_match_all(szgi_collection_find(szgi_page_results(page), names[0]))};
    szg_status status = split_table(page, "spectrum_samples", &tables.samples);
    if (status == SZG_OK)
        status = split_table(page, "spectrum_range", &tables.range);
    if (status == SZG_OK)
        status = split_table(page, "spectrum_summary", &tables.summary);
    if (status == SZG_OK)
        status = draw_figures(page, &tables);
    szgi_groups_free(&tables.samples);
    szgi_groups_free(&tables.range);
    szgi_groups_free(&tables.summary);
    return status;
}

const section szgi_section_spectrum = {.id = "spectrum",
                                       .title = "Eigenvalues over the symbol",
                                       .is_present = is_present,
                                       .draw = draw};
