/* Short texts in buffers: numbers for captions, names for legends and ticks. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_SHORT_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_SHORT_H

#include <stdio.h>

/* Bytes, the NUL included. */
enum { SHORT_TEXT = 64, WHOLE_TEXT = 32 };

/* At most three digits, without an exponent below 1e15. */
void szgi_print_real(FILE *stream, double value);
/* A number of layers, heads, steps: without a point, "1e+300" where it is huge. */
const char *szgi_whole_text(double value, char out[WHOLE_TEXT]);
/* `text` cut to SHORT_TEXT - 1 bytes between two characters, with "..." where it was cut; "-" in
 * place of NULL and of nothing. */
const char *szgi_short_text(const char *text, char out[SHORT_TEXT]);

#endif
