#include "encoding_private.h"

static const szgi_key keys[] = {POSITION_KEYS("0.02")};

const encoding_type szgi_encoding_learned = {
    .class = {.name = "learned",
              .doc = "learned absolute positions added to the input",
              .key = keys,
              .keys = sizeof keys / sizeof *keys},
    .open = szgi_positions_open,
    .facts = szgi_positions_facts,
    .input = szgi_positions_input,
    .follows = {{"dim", FOLLOWS_WIDTH}, {"seed", FOLLOWS_SEED}},
    .table = szgi_positions_table,
    .table_initial = szgi_positions_initial,
};
