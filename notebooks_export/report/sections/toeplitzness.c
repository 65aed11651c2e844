/* A checkpoint: heat maps of its heads, and their singular values layer by layer. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "match.h"
#include "head_lines.h"
#include "key_map.h"
#include "needs.h"
#include "tensors.h"

enum { LEAST_SPECTRA = 12 };

static bool is_present(const szg_collection *results) {
    return szgi_collection_find(results, "checkpoint_summary") ||
           szgi_collection_find(results, "checkpoint_spectra");
}

/* ---- Heat maps ---- */

static const struct {
    const char *column, *what, *says;
    bool share, logarithmic;
} mapped[] = {
    {"toeplitzness", "toeplitzness",
     "Toeplitzness, the share of the squared norm that means along diagonals hold: 1 is a matrix "
     "of "
     "distances alone.",
     true, false},
    {"sigma_max", "largest singular value", "The largest singular value of each head.", false,
     true},
    {"effective_rank", "effective rank",
     "Effective rank, the exponential of the entropy of the singular values.", false, false},
    {"stable_rank", "stable rank",
     "Stable rank, the squared Frobenius norm over the squared spectral norm.", false, false}};

static szg_status draw_map(page *page, rows of, size_t kind, budget *budget) {
    key_map map;
    key_map_look look = {.row = "layer",
                         .column = "head",
                         .what = mapped[kind].what,
                         .says = mapped[kind].says,
                         .lo = 0,
                         .hi = mapped[kind].share ? 1 : 0,
                         .logarithmic = mapped[kind].logarithmic};
    SZG_TRY(
        szgi_key_map_of(szgi_page_context(page), of, "layer", "head", mapped[kind].column, &map));
    szg_status status = SZG_OK;
    if (map.filled > 0 && szgi_budget_take(budget))
        status = szgi_key_map_draw(page, &map, &look, of);
    szgi_key_map_free(&map);
    return status;
}

/* Rows of a checkpoint whose heads are known. */
static szg_status draw_maps(page *page, rows with_heads, budget *budget) {
    static const char *const together[] = {"result", "source", "matrix", NULL};
    groups matrices;
    szg_status status = SZG_OK;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), with_heads, together, &matrices));
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < matrices.count && status == SZG_OK; i++)
        for (size_t k = 0; k < sizeof mapped / sizeof *mapped && status == SZG_OK; k++)
            status = draw_map(page, matrices.group[i], k, budget);
    szgi_page_grid_end(page);
    szgi_groups_free(&matrices);
    return status;
}

/* ---- Spectra ---- */

static szg_status draw_spectra(page *page, rows singular, budget *budget) {
    static const char *const together[] = {"result", "source", "matrix", "layer", NULL};
    const head_lines look = {.what = "singular values by head",
                             .x = {.label = "place, from the largest on"},
                             .y = {.label = "singular value", .logarithmic = true},
                             .value = "re",
                             .noun = "singular value"};
    groups layers;
    szg_status status = SZG_OK;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), singular, together, &layers));
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < layers.count && status == SZG_OK; i++)
        status = szgi_head_lines_draw(page, &look, layers.group[i], budget);
    szgi_page_grid_end(page);
    szgi_groups_free(&layers);
    return status;
}

static szg_status draw_spectra_table(page *page, rows all, budget *budget) {
    groups singular;
    bool met;
    SZG_TRY(szgi_needs_numbers(page, all, (const char *const[]){"re", NULL},
                               "the singular values are not drawn", &met));
    if (!met)
        return SZG_OK;
    SZG_TRY(szgi_groups_where(szgi_page_context(page), all, "kind", "singular", &singular));
    szg_status status = SZG_OK;
    if (singular.count > 0) {
        szgi_page_heading(page, "Singular values");
        status = draw_spectra(page, singular.group[0], budget);
    }
    szgi_groups_free(&singular);
    return status;
}

/* ---- The section ---- */

/* Splits the rows by whether they name a layer: those without are tensors of their own. */
static szg_status draw_summary(page *page, rows all, budget *budget) {
    groups layers;
    bool met;
    SZG_TRY(szgi_needs_numbers(page, all, (const char *const[]){"layer", "head", NULL},
                               "no heat maps are drawn", &met));
    if (!met)
        return szgi_tensors_draw(page, all, budget);
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, (const char *const[]){"layer", NULL},
                              &layers));
    szg_status status = SZG_OK;
    bool any = false;
    for (int64_t i = 0; i < layers.count && status == SZG_OK; i++) {
        bool tensors = isnan(szgi_rows_real(layers.group[i], 0, "layer"));
        any = any || !tensors;
        if (tensors)
            status = szgi_tensors_draw(page, layers.group[i], budget);
    }
    szgi_groups_free(&layers);
    return status == SZG_OK && any ? draw_maps(page, all, budget) : status;
}

static szg_status draw(page *page) {
    static const char *const tables[] = {"checkpoint_summary", "checkpoint_spectra", NULL};
    rows summary = szgi_match_all(szgi_collection_find(szgi_page_results(page), tables[0]));
    rows spectra = szgi_match_all(szgi_collection_find(szgi_page_results(page), tables[1]));
    budget budget = {.left = MOST_FIGURES};
    struct budget maps =
        szgi_budget_part(&budget, MOST_FIGURES - (spectra.count > 0 ? LEAST_SPECTRA : 0));
    if (summary.count > 0)
        SZG_TRY(draw_summary(page, summary, &maps));
    szgi_budget_join(&budget, &maps);
    if (spectra.count > 0)
        SZG_TRY(draw_spectra_table(page, spectra, &budget));
    return szgi_budget_end(page, &budget, "figures", tables);
}

const section szgi_section_toeplitzness = {"toeplitzness", "Heads of a checkpoint", is_present,
                                           draw};
