/* The form in which nearly every line of examples stands, read without a tree. */
#ifndef SZG_FORMATS_EXAMPLES_SCAN_H
#define SZG_FORMATS_EXAMPLES_SCAN_H

#include "base/context.h"

/* Reads {"tokens": [1, 2], "label": 3} with any spaces, tokens of 1 .. 2^31 - 1 and a label of
 * 0 .. 2^31 - 1. False for everything else, valid or not: Jansson decides then. `tokens` has room
 * for length / 2 numbers. */
bool szgi_examples_scan(const char *text, int64_t length, int32_t *tokens, int64_t *count,
                        int32_t *label);

#endif
