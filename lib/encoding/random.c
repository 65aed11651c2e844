#include "encoding/positions.h"

static const szgi_key keys[] = {POSITION_KEYS("1")};

static void table_of(const szg_encoding *encoding, int64_t n, szgi_encoding_table *out) {
    szgi_positions_table(encoding, n, out);
    out->optional = true;
}

const encoding_record szgi_encoding_random = {
    .traits = {.class = {.name = "random",
                         .doc = "random, fixed positions added to the input",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_INPUT},
    .state_size = sizeof(number_table),
    .open = szgi_positions_open,
    .close = szgi_positions_close,
    .facts = szgi_positions_facts,
    .input = szgi_positions_input,
    .follows = {{"dim", FOLLOWS_WIDTH}, {"seed", FOLLOWS_SEED}},
    .table = table_of,
    .table_initial = szgi_positions_initial,
};
