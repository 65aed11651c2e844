#include "../section.h"

static bool is_present(const szg_collection *results) {
    (void)results;
    return false;
}

static szg_status draw(page *page) {
    (void)page;
    return SZG_OK;
}

const section section_table1 = {"table1", "Table 1: accuracies beside the paper's", is_present,
                                draw};
