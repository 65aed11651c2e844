/* Text that grows in memory while it is written to a stream; numbers as text, with a decimal point
 * whatever locale an embedding program chose. */
#ifndef SZEGO_BASE_TEXT_H
#define SZEGO_BASE_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include "base/context.h"
#include "base/table.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Grows in memory of szgi_memory_alloc, so that a refusal is told by szgi_text_end, whatever the
 * stream's writers noticed. */
typedef struct szgi_text {
    FILE *stream; /* print to it; NULL once the text is ended */
    char *text;   /* from szgi_text_end on: ends with a NUL that `length` does not count */
    int64_t length;
    struct szgi_text_growth *growth;
} szgi_text;

/* Opens an empty text. SZG_ENOMEM. Free with szgi_text_close, also after a failure. */
SZG_CHECK_RESULT szg_status szgi_text_open(szg_context *context, szgi_text *out);

/* Ends the text. `written` is the status of the work that printed it. SZG_ENOMEM or SZG_ECANCEL
 * with a message where memory was refused, else `written`; `text` is NULL unless SZG_OK is
 * returned. */
SZG_CHECK_RESULT szg_status szgi_text_end(szgi_text *text, szg_status written);

/* Frees an ended or an open text and clears the struct; a struct of zeros is allowed. */
void szgi_text_close(szgi_text *text);

/* ---- Numbers ---- */

enum { SZG_REAL_TEXT = 32 };

/* Writes the shortest of %.15g, %.16g, %.17g that reads back as `value`, with a point whatever the
 * locale; "nan", "inf", "-inf". Returns `text`. */
const char *szgi_real_text(double value, char text[SZG_REAL_TEXT]);

/* Writes "%a", the exact hexadecimal float, with a point whatever the locale; "nan", "inf", "-inf".
 * Returns `text`. */
const char *szgi_hex_text(double value, char text[SZG_REAL_TEXT]);

/* At most `digits` significant decimal digits (1 .. 17), as %g prints them: the nearest such
 * number, or of an end of an enclosure the nearest that does not lie inside it. */
const char *szgi_rounded_text(double value, int digits, szg_end end, char text[SZG_REAL_TEXT]);

/* Reads a whole text as a double, in the C locale: decimal, hexadecimal, "nan", "inf". Finite texts
 * beyond the range of double, spaces and an empty text are refused: false, *out unchanged. */
bool szgi_real_parse(const char *text, double *out);

/* strtod, snprintf and vsnprintf in the C locale. */
double szgi_real_scan(const char *text, char **end);
SZG_PRINTF(3, 4) int szgi_print(char *text, size_t size, const char *format, ...);
SZG_PRINTF(3, 0) int szgi_vprint(char *text, size_t size, const char *format, va_list arguments);

/* From enter, which returns what leave takes (a locale_t, which ISO C lacks), the calling thread is
 * in the C locale: for many numbers that go to a stream. */
void *szgi_locale_enter(void);
void szgi_locale_leave(void *callers);

SZGI_END_DECLS

#endif
