#include "encoding_private.h"

static const szg_key keys[] = {POSITION_KEYS("1")};

static void table_of(const szg_encoding *encoding, int64_t n, szg_encoding_table *out) {
    positions_table(encoding, n, out);
    out->optional = true;
}

const encoding_type encoding_random = {
    .class = {.name = "random",
              .doc = "random, fixed positions added to the input",
              .key = keys,
              .keys = sizeof keys / sizeof *keys},
    .open = positions_open,
    .facts = positions_facts,
    .input = positions_input,
    .follows = {{"dim", FOLLOWS_WIDTH}, {"seed", FOLLOWS_SEED}},
    .table = table_of,
    .table_initial = positions_initial,
};
