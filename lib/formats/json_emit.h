/* The scalars of JSON text. Private to formats. */
#ifndef SZG_FORMATS_JSON_EMIT_H
#define SZG_FORMATS_JSON_EMIT_H

#include <stdio.h>
#include <szego/status.h>

/* A quoted text; bytes that are not UTF-8 become U+FFFD. */
void szgi_emit_text(const char *text, FILE *stream);

/* A number that reads back exactly and as a real; null unless it is finite. */
void szgi_emit_real(double value, FILE *stream);

#endif
