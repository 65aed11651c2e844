#include "../section.h"

static bool is_present(const szg_collection *results) {
    (void)results;
    return false;
}

static szg_status draw(page *page) {
    (void)page;
    return SZG_OK;
}

const section section_others = {"others", "Other tables", is_present, draw};
