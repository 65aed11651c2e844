/* Shortest decimals of doubles, by whole numbers alone. */
#ifndef SZG_BASE_DECIMAL_H
#define SZG_BASE_DECIMAL_H

#include <stdbool.h>

#include "base/text.h"

/* As szgi_real_text, several times as fast. False: not a number of this size, a power of two, or a
 * compiler without whole numbers of 128 bits; text is unchanged. */
bool szgi_decimal_text(double value, char text[SZGI_REAL_TEXT]);

#endif
