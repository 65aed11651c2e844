#include "encoding_private.h"

static const szgi_key keys[] = {POSITION_KEYS("1")};

static void table_of(const szg_encoding *encoding, int64_t n, szg_encoding_table *out) {
    szgi_positions_table(encoding, n, out);
    out->optional = true;
}

const encoding_type szgi_encoding_random = {
    .class = {.name = "random",
              .doc = "random, fixed positions added to the input",
              .key = keys,
              .keys = sizeof keys / sizeof *keys},
    .open = szgi_positions_open,
    .facts = szgi_positions_facts,
    .input = szgi_positions_input,
    .follows = {{"dim", FOLLOWS_WIDTH}, {"seed", FOLLOWS_SEED}},
    .table = table_of,
    .table_initial = szgi_positions_initial,
};
