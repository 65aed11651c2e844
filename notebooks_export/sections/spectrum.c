#include "../section.h"

static bool is_present(const szg_collection *results) {
    (void)results;
    return false;
}

static szg_status draw(page *page) {
    (void)page;
    return SZG_OK;
}

const section section_spectrum = {"spectrum", "Eigenvalues over the symbol", is_present, draw};
