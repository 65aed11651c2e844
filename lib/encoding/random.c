#include "encoding_private.h"

static const szg_key keys[] = {POSITION_KEYS("1")};

const encoding_type encoding_random = {
    .class = {.name = "random",
              .doc = "random, fixed positions added to the input",
              .key = keys,
              .keys = sizeof keys / sizeof *keys},
    .open = positions_open,
    .facts = positions_facts,
    .input = positions_input,
};
