/* A checkpoint: heat maps of its heads, and their singular values layer by layer. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "match.h"
#include "words.h"
#include "head_lines.h"
#include "key_map.h"
#include "tensors.h"

enum { MOST_MAPS = 24, MOST_SPECTRA = 24 };

static bool is_present(const szg_collection *results) {
    return szg_collection_find(results, "checkpoint_summary") ||
           szg_collection_find(results, "checkpoint_spectra");
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

static szg_status draw_map(page *page, rows of, size_t kind, int64_t *left, int64_t *undrawn) {
    key_map map;
    words title;
    key_map_look look = {.row = "layer",
                         .column = "head",
                         .what = mapped[kind].what,
                         .lo = 0,
                         .hi = mapped[kind].share ? 1 : 0,
                         .logarithmic = mapped[kind].logarithmic};
    SZG_TRY(key_map_of(page_context(page), of, "layer", "head", mapped[kind].column, &map));
    bool drawn = map.filled > 0 && *left > 0;
    szg_status status = SZG_OK;
    if (drawn) {
        --*left;
        status = words_open(page_context(page), &title);
        if (status == SZG_OK) {
            words_file(&title, rows_text(of, 0, "source"));
            fputs(", ", title.stream);
            words_clipped(&title, rows_text(of, 0, "matrix"), 48);
            fprintf(title.stream, ": %s by layer and head", mapped[kind].what);
            status = words_end(page_context(page), &title);
        }
        look.title = title.text;
        if (status == SZG_OK)
            status = key_map_draw(page, &map, &look, mapped[kind].says, of);
        words_free(&title);
    } else {
        *undrawn += map.filled > 0;
    }
    key_map_free(&map);
    return status;
}

/* Rows of a checkpoint whose heads are known. */
static szg_status draw_maps(page *page, rows with_heads) {
    static const char *const together[] = {"result", "source", "matrix", NULL};
    groups matrices;
    int64_t left = MOST_MAPS, undrawn = 0;
    szg_status status = SZG_OK;
    SZG_TRY(groups_split(page_context(page), with_heads, together, &matrices));
    page_grid_begin(page);
    for (int64_t i = 0; i < matrices.count && status == SZG_OK; i++)
        for (size_t k = 0; k < sizeof mapped / sizeof *mapped && status == SZG_OK; k++)
            status = draw_map(page, matrices.group[i], k, &left, &undrawn);
    page_grid_end(page);
    groups_free(&matrices);
    if (status == SZG_OK && undrawn > 0)
        page_paragraph(page,
                       "%" PRId64 " more heat maps are not drawn: their rows are in the table "
                       "checkpoint_summary.",
                       undrawn);
    return status;
}

/* ---- Spectra ---- */

static szg_status draw_spectra(page *page, rows singular) {
    static const char *const together[] = {"result", "source", "matrix", "layer", NULL};
    const head_lines look = {.what = "singular values by head",
                             .x = {.label = "place, from the largest on"},
                             .y = {.label = "singular value", .logarithmic = true},
                             .value = "re",
                             .noun = "singular value"};
    groups layers;
    int64_t left = MOST_SPECTRA, undrawn = 0;
    szg_status status = SZG_OK;
    SZG_TRY(groups_split(page_context(page), singular, together, &layers));
    page_grid_begin(page);
    for (int64_t i = 0; i < layers.count && status == SZG_OK; i++)
        status = head_lines_draw(page, &look, layers.group[i], &left, &undrawn);
    page_grid_end(page);
    groups_free(&layers);
    if (status == SZG_OK && undrawn > 0) {
        page_paragraph(page,
                       "Singular values of %" PRId64 " more matrices are not drawn: their rows are "
                       "in the table checkpoint_spectra.",
                       undrawn);
        status = page_links(page, &singular, 1);
    }
    return status;
}

static szg_status draw_spectra_table(page *page, const szg_table *table) {
    groups singular;
    rows all = match_all(table);
    if (match_missing(table, (const char *const[]){"re", NULL}, true)) {
        page_paragraph(page, "The table checkpoint_spectra has no column of numbers re: the "
                             "singular values are not drawn.");
        return page_links(page, &all, 1);
    }
    SZG_TRY(groups_where(page_context(page), all, "kind", "singular", &singular));
    szg_status status = SZG_OK;
    if (singular.count > 0) {
        page_heading(page, "Singular values");
        status = draw_spectra(page, singular.group[0]);
    }
    groups_free(&singular);
    return status;
}

/* ---- The section ---- */

/* Splits the rows by whether they name a layer: those without are tensors of their own. */
static szg_status draw_summary(page *page, const szg_table *table) {
    groups layers;
    rows all = match_all(table);
    const char *missing = match_missing(table, (const char *const[]){"layer", "head", NULL}, true);
    if (missing) {
        page_paragraph(page,
                       "The table checkpoint_summary has no column of numbers %s: no heat maps.",
                       missing);
        return tensors_draw(page, all);
    }
    SZG_TRY(groups_split(page_context(page), all, (const char *const[]){"layer", NULL}, &layers));
    szg_status status = SZG_OK;
    bool any = false;
    for (int64_t i = 0; i < layers.count && status == SZG_OK; i++) {
        bool tensors = isnan(rows_real(layers.group[i], 0, "layer"));
        any = any || !tensors;
        if (tensors)
            status = tensors_draw(page, layers.group[i]);
    }
    groups_free(&layers);
    return status == SZG_OK && any ? draw_maps(page, all) : status;
}

static szg_status draw(page *page) {
    const szg_table *summary = szg_collection_find(page_results(page), "checkpoint_summary");
    const szg_table *spectra = szg_collection_find(page_results(page), "checkpoint_spectra");
    if (summary && szg_table_rows(summary) > 0)
        SZG_TRY(draw_summary(page, summary));
    return spectra && szg_table_rows(spectra) > 0 ? draw_spectra_table(page, spectra) : SZG_OK;
}

const section section_toeplitzness = {"toeplitzness", "Heads of a checkpoint", is_present, draw};
