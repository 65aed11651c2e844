/* Text in HTML and SVG: names come from hostile files. */
#ifndef SZG_NOTEBOOKS_EXPORT_HTML_H
#define SZG_NOTEBOOKS_EXPORT_HTML_H

#include <stdarg.h>
#include <stdio.h>
#include <szego/status.h>
#include "base/table.h"

/* Prints a text so that it is nothing but text, between tags and in quoted attributes: & < > " '
 * escaped, bytes that are not UTF-8 and characters that HTML forbids as U+FFFD, control characters
 * and marks that turn the direction of writing made visible. NULL prints nothing. */
void szgi_html_text(FILE *stream, const char *text);

/* At most so many characters of it, with "..." as one character behind where that is not all. */
void szgi_html_clipped(FILE *stream, const char *text, int64_t characters);

/* The same of prose: its formulas (base/formula.h) are set, and stay whole. For texts of the house,
 * and columns that hold prose: a name may have backticks of its own. */
void szgi_html_prose(FILE *stream, const char *text, int64_t characters);

/* A text with printf's format: what is formatted is escaped, and cut behind HTML_PRINTED
 * characters, as a name in it may be of any length. */
enum { HTML_PRINTED = 20000 };
SZG_PRINTF(2, 3)
void szgi_html_print(FILE *stream, const char *format, ...);
void szgi_html_vprint(FILE *stream, const char *format, va_list arguments);

/* A number for a reader: at most six digits. */
void szgi_html_number(FILE *stream, double value);

/* An end of an enclosure, or a bound: rounded outwards. */
void szgi_html_end(FILE *stream, double value, int digits, szgi_end end);

/* The heading of a section, with a link to the section. */
void szgi_html_title(FILE *stream, const char *id, const char *title);

/* Cells of a table: at most so many characters of a text, a number; empty for NULL and NaN. */
void szgi_html_cell(FILE *stream, const char *text, int64_t characters);
void szgi_html_number_cell(FILE *stream, double value);

#endif
