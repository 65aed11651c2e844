#include "encoding/positions.h"

static const szgi_key keys[] = {POSITION_KEYS("0.02")};

const encoding_record szgi_encoding_learned = {
    .traits = {.class = {.name = "learned",
                         .doc = "learned absolute positions added to the input",
                         .reference = "Gehring et al. 2017",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_INPUT},
    .state_size = sizeof(number_table),
    .open = szgi_positions_open,
    .close = szgi_positions_close,
    .facts = szgi_positions_facts,
    .input = szgi_positions_input,
    .follows = {{"dim", FOLLOWS_WIDTH}, {"seed", FOLLOWS_SEED}},
    .table = szgi_positions_table,
    .table_initial = szgi_positions_initial,
};
