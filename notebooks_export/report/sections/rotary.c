/* How much of a rotary head stands at each frequency. */
#include <inttypes.h>
#include <math.h>

#include "match.h"
#include "head_lines.h"
#include "key_map.h"
#include "needs.h"

enum { MOST_MAPS = 4 };

static bool is_present(const szg_collection *results) {
    return szgi_collection_find(results, "checkpoint_frequencies") != NULL;
}

static szg_status draw_map(page *page, rows model) {
    key_map map;
    const key_map_look look = {
        .row = "layer",
        .column = "pair",
        .what = "rotary energy",
        .says = "Squared norm of the coupling block of each rotary pair, rotation and "
                "reflection together (the latter cancels in the mean over tokens), mean over "
                "heads; theta of the pairs is in the rows.",
        .logarithmic = true};
    SZG_TRY(szgi_key_map_of(szgi_page_context(page), model, "layer", "pair", "energy", &map));
    szg_status status = szgi_key_map_draw(page, &map, &look, model);
    szgi_key_map_free(&map);
    return status;
}

static szg_status draw_layers(page *page, rows model, budget *budget) {
    const head_lines look = {.what = "rotary energy by frequency",
                             .x = {.label = "theta, radians a position", .logarithmic = true},
                             .y = {.label = "energy", .logarithmic = true},
                             .by = "theta",
                             .value = "energy",
                             .noun = "energy of a pair"};
    groups layers;
    szg_status status = SZG_OK;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), model, (const char *const[]){"layer", NULL},
                              &layers));
    for (int64_t i = 0; i < layers.count && status == SZG_OK; i++)
        status = szgi_head_lines_draw(page, &look, layers.group[i], budget);
    szgi_groups_free(&layers);
    return status;
}

static szg_status draw_models(page *page, const groups *models) {
    budget budget = {.left = MOST_FIGURES}, maps = szgi_budget_part(&budget, MOST_MAPS);
    szg_status status = SZG_OK;
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < models->count && status == SZG_OK; i++)
        if (szgi_budget_take(&maps))
            status = draw_map(page, models->group[i]);
    szgi_budget_join(&budget, &maps);
    for (int64_t i = 0; i < models->count && status == SZG_OK; i++)
        status = draw_layers(page, models->group[i], &budget);
    szgi_page_grid_end(page);
    SZG_TRY(status);
    return szgi_budget_end(page, &budget, "figures",
                           (const char *const[]){"checkpoint_frequencies", NULL});
}

static szg_status draw(page *page) {
    static const char *const needed[] = {"theta", "energy", NULL};
    rows all =
        szgi_match_all(szgi_collection_find(szgi_page_results(page), "checkpoint_frequencies"));
    groups models;
    bool met;
    SZG_TRY(szgi_needs_numbers(page, all, needed, "rotary energies are not drawn", &met));
    if (!met)
        return SZG_OK;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all,
                              (const char *const[]){"result", "source", NULL}, &models));
    szg_status status = draw_models(page, &models);
    szgi_groups_free(&models);
    return status;
}

const section szgi_section_rotary = {"rotary", "Rotary energy by frequency", is_present, draw};
