/* Eigenvalues and singular values over the quantiles of the symbol. */
#include <inttypes.h>
#include <math.h>

#include "needs.h"
#include "spectrum.h"

enum { LEAST_RANGES = 4 };

const char *const spectrum_order[] = {"result", "source", "layer", "head", "matrix", "n", NULL};
static const char *const of_figure[] = {"result", "source", "layer", "head",
                                        "matrix", "kind",   NULL};

static bool is_present(const szg_collection *results) {
    return szg_collection_find(results, "spectrum_eigenvalues") ||
           szg_collection_find(results, "spectrum_summary");
}

/* Values that do not add up to the matrix's order have no places among its quantiles. */
static bool is_whole(const spectrum_series *series) {
    double listed = (double)(series->values.count + series->zeros);
    return isnan(series->n) || series->n == listed;
}

static szg_status say_partial(page *page, const spectrum_series *series) {
    words key;
    SZG_TRY(words_open(page_context(page), &key));
    words_key(&key, series->values);
    szg_status status = words_end(page_context(page), &key);
    if (status == SZG_OK)
        page_paragraph(page,
                       "%s: %" PRId64 " values are listed and %" PRId64
                       " are said to be 0, which is not the matrix's order %.0f: no quantiles.",
                       key.text, series->values.count, series->zeros, series->n);
    words_free(&key);
    return status;
}

/* Reads the orders of one figure, those that cannot be drawn left out. */
static szg_status read_orders(page *page, const spectrum_tables *tables, const groups *orders,
                              spectrum_series *series, int64_t *count) {
    for (int64_t i = 0; i < orders->count && *count < FIGURE_COLOURS; i++) {
        spectrum_series *next = &series[*count];
        SZG_TRY(spectrum_read(page_context(page), tables, orders->group[i], next));
        if (is_whole(next)) {
            (*count)++;
            continue;
        }
        szg_status status = say_partial(page, next);
        spectrum_free(next);
        SZG_TRY(status);
    }
    return SZG_OK;
}

static szg_status draw_matrix(page *page, const spectrum_tables *tables, rows of, budget *budget) {
    spectrum_series series[FIGURE_COLOURS];
    groups orders;
    int64_t count = 0;
    bool complex = false;
    SZG_TRY(groups_split(page_context(page), of, (const char *const[]){"n", NULL}, &orders));
    szg_status status = read_orders(page, tables, &orders, series, &count);
    for (int64_t i = 0; i < count; i++)
        complex = complex || series[i].complex;
    if (status == SZG_OK && count > 0)
        status = complex ? spectrum_draw_plane(page, series, count)
                         : spectrum_draw_curves(page, series, count, budget);
    if (status == SZG_OK && orders.count > FIGURE_COLOURS)
        page_paragraph(page, "Of %" PRId64 " orders the first %d are drawn.", orders.count,
                       FIGURE_COLOURS);
    for (int64_t i = 0; i < count; i++)
        spectrum_free(&series[i]);
    groups_free(&orders);
    return status;
}

static szg_status draw_values(page *page, const spectrum_tables *tables, budget *budget) {
    static const char *const needed[] = {"re", "im", NULL};
    rows all = tables->eigenvalues;
    groups figures;
    bool met;
    SZG_TRY(needs_numbers(page, all, needed, "its values are not drawn", &met));
    if (!met)
        return SZG_OK;
    SZG_TRY(groups_split(page_context(page), all, of_figure, &figures));
    szg_status status = SZG_OK;
    page_grid_begin(page);
    for (int64_t i = 0; i < figures.count && status == SZG_OK; i++)
        if (budget_take(budget))
            status = draw_matrix(page, tables, figures.group[i], budget);
    page_grid_end(page);
    groups_free(&figures);
    return status;
}

static szg_status split_table(page *page, const char *name, groups *out) {
    const szg_table *table = szg_collection_find(page_results(page), name);
    *out = (groups){0};
    if (!table)
        return SZG_OK;
    return groups_split(page_context(page), match_all(table), spectrum_order, out);
}

static const char *const names[] = {"spectrum_eigenvalues", "spectrum_summary", NULL};

/* Values first, of which a few figures are held back where there are ranges. */
static szg_status draw_within(page *page, const spectrum_tables *tables,
                              const spectrum_unlisted *unlisted) {
    budget budget = {.left = MOST_FIGURES};
    struct budget values =
        budget_part(&budget, MOST_FIGURES - (unlisted->count > 0 ? LEAST_RANGES : 0));
    if (tables->eigenvalues.count > 0)
        SZG_TRY(draw_values(page, tables, &values));
    budget_join(&budget, &values);
    SZG_TRY(spectrum_draw_ranges(page, unlisted, &budget));
    return budget_end(page, &budget, "figures", names);
}

static szg_status draw_figures(page *page, const spectrum_tables *tables) {
    rows summary = match_all(szg_collection_find(page_results(page), names[1]));
    spectrum_unlisted unlisted;
    SZG_TRY(spectrum_unlisted_open(page, tables->eigenvalues, summary, &unlisted));
    szg_status status = draw_within(page, tables, &unlisted);
    spectrum_unlisted_close(&unlisted);
    return status;
}

static szg_status draw(page *page) {
    spectrum_tables tables = {.eigenvalues =
                                  match_all(szg_collection_find(page_results(page), names[0]))};
    szg_status status = split_table(page, "spectrum_samples", &tables.samples);
    if (status == SZG_OK)
        status = split_table(page, "spectrum_range", &tables.range);
    if (status == SZG_OK)
        status = split_table(page, "spectrum_summary", &tables.summary);
    if (status == SZG_OK)
        status = draw_figures(page, &tables);
    groups_free(&tables.samples);
    groups_free(&tables.range);
    groups_free(&tables.summary);
    return status;
}

const section section_spectrum = {"spectrum", "Eigenvalues over the symbol", is_present, draw};
