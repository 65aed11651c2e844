#include "encoding_private.h"

static const szg_key keys[] = {POSITION_KEYS("0.02")};

const encoding_type encoding_learned = {
    .class = {.name = "learned",
              .doc = "learned absolute positions added to the input",
              .key = keys,
              .keys = sizeof keys / sizeof *keys},
    .open = positions_open,
    .facts = positions_facts,
    .input = positions_input,
    .follows = {{"dim", FOLLOWS_WIDTH}, {"seed", FOLLOWS_SEED}},
    .table = positions_table,
    .table_initial = positions_initial,
};
