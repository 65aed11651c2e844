/* Logits with their encoding against those without it: training runs, saved models, files, and
 * reports of one encoding. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "budget.h"
#include "contraction_run.h"
#include "match.h"

enum { MOST_LAYERS_DRAWN = 4 };

static const char *const tables[] = {"train_contraction",    "reproduce_contraction",
                                     "capture_contraction",  "logits_contraction",
                                     "spectrum_contraction", NULL};

static const contraction_quantity quantities[] = {
    {"toeplitzness_coupled", "toeplitzness_content", "Toeplitzness of the logits",
     "; thick with the encoding, thin the content alone", false},
    {"majorised", NULL, "Share of heads and probes that are majorised",
     "; claim B3c promises 1 only where all frequencies of a rotary encoding share one content "
     "matrix",
     true},
    {"margin", NULL, "Least slack of the majorisation's partial sums",
     "; below 0 the eigenvalues are not majorised, up to rounding", false},
    {"norm_ratio", NULL, "Largest singular value, coupled / content", "", false},
    {"nuclear_ratio", NULL, "Sum of singular values, coupled / content", "", false},
};

/* ---- One run ---- */

/* Whether a text column of the run holds `value` anywhere. */
static bool holds(rows of, const char *column, const char *value) {
    for (int64_t i = 0; i < of.count; i++) {
        const char *text = rows_text(of, i, column);
        if (text && strcmp(text, value) == 0)
            return true;
    }
    return false;
}

static void introduce(page *page, const contraction_run *run) {
    bool same = holds(run->of, "content_kind", "same_qk"),
         zeroed = holds(run->of, "content_kind", "zeroed");
    page_heading(page, "%s", run->label);
    if (same)
        page_paragraph(page, "Content: the same queries and keys, without rotation and lag bias "
                             "(same_qk).");
    if (zeroed)
        page_paragraph(page, "Content: a second pass with the table of positions set to zero "
                             "(zeroed), so that queries and keys differ too.");
    if (!same && !zeroed)
        page_paragraph(page, "The rows do not say what the logits are compared with.");
}

static szg_status draw_steps(page *page, const contraction_run *run, budget *budget) {
    for (int64_t l = 0; l < run->layers.count && l < MOST_LAYERS_DRAWN; l++)
        if (budget_take(budget))
            SZG_TRY(contraction_draw_layer(page, run, l));
    if (budget_take(budget))
        SZG_TRY(contraction_draw_steps(page, run));
    for (size_t q = 0; q < sizeof quantities / sizeof *quantities; q++)
        if (budget_take(budget))
            SZG_TRY(contraction_draw_quantity(page, run, &quantities[q]));
    if (run->layers.count > MOST_LAYERS_DRAWN)
        budget->left_out += run->layers.count - MOST_LAYERS_DRAWN;
    return SZG_OK;
}

static szg_status draw_figures(page *page, const contraction_run *run, budget *budget) {
    if (!budget_take(budget))
        return SZG_OK;
    introduce(page, run);
    page_grid_begin(page);
    szg_status status =
        run->pairs > 0 ? contraction_draw_heads(page, run) : contraction_draw_orders(page, run);
    if (status == SZG_OK && run->pairs > 0 && run->steps > 1)
        status = draw_steps(page, run, budget);
    page_grid_end(page);
    return status;
}

/* `most` figures of this run, taken from the section's. */
static szg_status draw_run(page *page, rows of, int64_t most, budget *budget) {
    contraction_run run;
    struct budget own = {.left = most < budget->left ? most : budget->left};
    int64_t before = own.left;
    SZG_TRY(contraction_run_open(page_context(page), of, &run));
    szg_status status = draw_figures(page, &run, &own);
    contraction_run_close(&run);
    budget->left -= before - own.left;
    budget->left_out += own.left_out;
    return status;
}

/* ---- The section ---- */

enum { TABLES = sizeof tables / sizeof *tables - 1 };

static szg_status draw_runs(page *page, const groups runs[TABLES]) {
    budget budget = {.left = MOST_FIGURES};
    int64_t count = 0;
    for (int t = 0; t < TABLES; t++)
        count += runs[t].count;
    int64_t each = count > 0 ? MOST_FIGURES / count : 0;
    for (int t = 0; t < TABLES; t++)
        for (int64_t i = 0; i < runs[t].count; i++)
            SZG_TRY(draw_run(page, runs[t].group[i], each > 2 ? each : 2, &budget));
    return budget_end(page, &budget, "figures", tables);
}

static bool is_present(const szg_collection *results) {
    for (int t = 0; t < TABLES; t++)
        if (match_all(szg_collection_find(results, tables[t])).count > 0)
            return true;
    return false;
}

static szg_status draw(page *page) {
    static const char *const columns[] = {"result", "run",    "encoding", "task",
                                          "seed",   "source", NULL};
    groups runs[TABLES] = {{0}};
    szg_status status = SZG_OK;
    page_paragraph(page, "Ratios divide the logits with their encoding by those of the content. "
                         "The width is that of the Hermitian part's spectrum, the real part of "
                         "the field of values, which is what a rotary encoding contracts (claim "
                         "B3c); eigenvalues of the logits themselves may grow. Areas reach from "
                         "the least to the greatest.");
    for (int t = 0; status == SZG_OK && t < TABLES; t++) {
        const szg_table *table = szg_collection_find(page_results(page), tables[t]);
        if (table)
            status = groups_split(page_context(page), match_all(table), columns, &runs[t]);
    }
    if (status == SZG_OK)
        status = draw_runs(page, runs);
    for (int t = 0; t < TABLES; t++)
        groups_free(&runs[t]);
    return status;
}

const section section_contraction = {"contraction", "Contraction", is_present, draw};
