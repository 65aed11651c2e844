/* Logits with their encoding against those without it: training runs, saved models, files, and
 * reports of one encoding. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "budget.h"
#include "contraction_run.h"
#include "contraction_share.h"
#include "match.h"

enum { MOST_LAYERS_DRAWN = 4 };

static const char *const tables[] = {"train_contraction",    "reproduce_contraction",
                                     "capture_contraction",  "logits_contraction",
                                     "spectrum_contraction", NULL};

static const contraction_quantity quantities[] = {
    {"toeplitzness_coupled", "toeplitzness_content", "Toeplitzness of the logits",
     "; thick with the encoding, thin the content alone", false},
    {"majorised", NULL, "share of heads and probes majorised",
     "; claim B3c promises 1 only where all frequencies of a rotary encoding share one content "
     "matrix",
     true},
    {"margin", NULL, "least slack of the majorisation",
     "; below 0 the eigenvalues are not majorised, up to rounding", false},
    {"norm_ratio", NULL, "largest singular value, ratio", "; below 1 the encoding makes it smaller",
     false},
    {"nuclear_ratio", NULL, "sum of singular values, ratio",
     "; below 1 the encoding makes it smaller", false},
};

/* ---- One run ---- */

/* Whether a text column of the run holds `value` anywhere. */
static bool holds(rows of, const char *column, const char *value) {
    for (int64_t i = 0; i < of.count; i++) {
        const char *text = szgi_rows_text(of, i, column);
        if (text && strcmp(text, value) == 0)
            return true;
    }
    return false;
}

static void introduce(page *page, const contraction_run *run) {
    bool same = holds(run->of, "content_kind", "same_qk"),
         zeroed = holds(run->of, "content_kind", "zeroed");
    szgi_page_heading(page, "%s", run->name.text);
    if (same)
        szgi_page_paragraph(page,
                            "Content: the same queries and keys, without rotation and lag bias "
                            "(same_qk).");
    if (zeroed)
        szgi_page_paragraph(page, "Content: a second pass with the table of positions set to zero "
                                  "(zeroed), so that queries and keys differ too.");
    if (!same && !zeroed)
        szgi_page_paragraph(page, "The rows do not say what the logits are compared with.");
}

/* Where few figures are left, those that show the most steps come first. */
static szg_status draw_steps(page *page, const contraction_run *run, budget *budget) {
    if (szgi_budget_take(budget))
        SZG_TRY(szgi_contraction_draw_steps(page, run));
    for (int64_t l = 0; l < run->layers.count && l < MOST_LAYERS_DRAWN; l++)
        if (szgi_budget_take(budget))
            SZG_TRY(szgi_contraction_draw_layer(page, run, l));
    if (szgi_budget_take(budget))
        SZG_TRY(szgi_contraction_draw_heads(page, run));
    for (size_t q = 0; q < sizeof quantities / sizeof *quantities; q++)
        if (szgi_budget_take(budget))
            SZG_TRY(szgi_contraction_draw_quantity(page, run, &quantities[q]));
    if (run->layers.count > MOST_LAYERS_DRAWN)
        budget->left_out += run->layers.count - MOST_LAYERS_DRAWN;
    return SZG_OK;
}

/* What the budget allows, from the most telling figure on; the others are counted. */
static szg_status draw_figures(page *page, const contraction_run *run, budget *budget) {
    bool seen = budget->left > 0;
    szg_status status = SZG_OK;
    if (seen) {
        introduce(page, run);
        szgi_page_grid_begin(page);
    }
    if (run->pairs > 0 && run->steps > 1)
        status = draw_steps(page, run, budget);
    else if (szgi_budget_take(budget))
        status = run->pairs > 0 ? szgi_contraction_draw_heads(page, run)
                                : szgi_contraction_draw_orders(page, run);
    if (seen)
        szgi_page_grid_end(page);
    return status;
}

/* `most` figures of this run, taken from the section's. */
static szg_status draw_run(page *page, rows of, int64_t most, budget *budget) {
    contraction_run run;
    struct budget own = szgi_budget_part(budget, most);
    SZG_TRY(szgi_contraction_run_open(szgi_page_context(page), of, &run));
    szg_status status = draw_figures(page, &run, &own);
    szgi_contraction_run_close(&run);
    szgi_budget_join(budget, &own);
    return status;
}

/* ---- The section ---- */

enum { TABLES = sizeof tables / sizeof *tables - 1, UNCHANGED_NAMED = 12 };

static szg_status draw_runs(page *page, const contraction_share *runs, int64_t count) {
    budget budget = {.left = MOST_FIGURES};
    int64_t kept = 0; /* figures of the runs that follow: the others may go to this one */
    for (int64_t i = 0; i < count; i++)
        kept += runs[i].figures;
    for (int64_t i = 0; i < count; i++) {
        kept -= runs[i].figures;
        SZG_TRY(szgi_context_check_cancel(szgi_page_context(page)));
        if (!runs[i].unchanged)
            SZG_TRY(draw_run(page, runs[i].of, runs[i].figures ? budget.left - kept : 0, &budget));
    }
    return szgi_budget_end(page, &budget, "figures", tables);
}

typedef struct shares {
    contraction_share *run;
    int64_t count;
} shares;

static void list_unchanged(words *words, const void *of) {
    const shares *all = of;
    int64_t named = 0;
    for (int64_t i = 0; i < all->count; i++) {
        if (!all->run[i].unchanged || named++ >= UNCHANGED_NAMED)
            continue;
        fputs(named > 1 ? "; " : "", words->stream);
        szgi_contraction_run_say(words, all->run[i].of);
    }
    if (named > UNCHANGED_NAMED)
        fprintf(words->stream, "; and %" PRId64 " more", named - UNCHANGED_NAMED);
}

static szg_status say_unchanged(page *page, const shares *all) {
    words names;
    szg_status status = szgi_words_say(szgi_page_context(page), list_unchanged, all, &names);
    if (status == SZG_OK && *names.text)
        szgi_page_paragraph(page, "Not drawn, because every ratio is 1 up to rounding: %s.",
                            names.text);
    szgi_words_free(&names);
    return status;
}

/* Every run of every table. */
static szg_status list_runs(szg_context *context, const groups runs[TABLES], shares *out) {
    int64_t count = 0;
    for (int t = 0; t < TABLES; t++)
        count += runs[t].count;
    SZG_TRY(szgi_memory_alloc(context, count, &out->run));
    for (int t = 0; t < TABLES; t++)
        for (int64_t i = 0; i < runs[t].count; i++) {
            rows of = runs[t].group[i];
            out->run[out->count++] = (contraction_share){of, szgi_contraction_is_unchanged(of), 0};
        }
    szgi_contraction_share_figures(out->run, out->count, MOST_FIGURES);
    return SZG_OK;
}

static szg_status draw_shares(page *page, const groups runs[TABLES]) {
    shares all = {NULL, 0};
    szg_status status = list_runs(szgi_page_context(page), runs, &all);
    if (status == SZG_OK)
        status = say_unchanged(page, &all);
    if (status == SZG_OK)
        status = draw_runs(page, all.run, all.count);
    szgi_memory_free(all.run);
    return status;
}

static bool is_present(const szg_collection *results) {
    for (int t = 0; t < TABLES; t++)
        if (szgi_match_all(szgi_collection_find(results, tables[t])).count > 0)
            return true;
    return false;
}

static szg_status draw(page *page) {
    static const char *const columns[] = {"result", "run",    "encoding", "task",
                                          "seed",   "source", NULL};
    groups runs[TABLES] = {{0}};
    szg_status status = SZG_OK;
    szgi_page_paragraph(page,
                        "Ratios divide the logits with their encoding by those of the content. "
                        "The width is that of the Hermitian part's spectrum, the real part of "
                        "the field of values. A rotary encoding cannot widen it where all its "
                        "frequencies share one content matrix (claim B3c); in trained heads they "
                        "do not, so that a ratio above 1 contradicts nothing. Eigenvalues of the "
                        "logits themselves may grow. Lines are means, areas reach from the least "
                        "to the greatest.");
    for (int t = 0; status == SZG_OK && t < TABLES; t++) {
        const szg_table *table = szgi_collection_find(szgi_page_results(page), tables[t]);
        if (table)
            status = szgi_groups_split(szgi_page_context(page), szgi_match_all(table), columns,
                                       &runs[t]);
    }
    if (status == SZG_OK)
        status = draw_shares(page, runs);
    for (int t = 0; t < TABLES; t++)
        szgi_groups_free(&runs[t]);
    return status;
}

const section szgi_section_contraction = {
    .id = "contraction", .title = "Contraction", .is_present = is_present, .draw = draw};
