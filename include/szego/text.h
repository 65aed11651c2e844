/* Text that grows in memory while it is written to a stream; numbers as text, with a decimal point
 * whatever locale an embedding program chose. */
#ifndef SZEGO_TEXT_H
#define SZEGO_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <szego/context.h>
#include <szego/table.h>

SZG_BEGIN_DECLS

/* Grows in memory of szg_memory_alloc, so that a refusal is told by szg_text_end, whatever the
 * stream's writers noticed. */
typedef struct szg_text {
    FILE *stream; /* print to it; NULL once the text is ended */
    char *text;   /* from szg_text_end on: ends with a NUL that `length` does not count */
    int64_t length;
    struct szg_text_growth *growth;
} szg_text;

/* Opens an empty text. SZG_ENOMEM. Free with szg_text_close, also after a failure. */
SZG_CHECK_RESULT szg_status szg_text_open(szg_context *context, szg_text *out);

/* Ends the text. `written` is the status of the work that printed it. SZG_ENOMEM or SZG_ECANCEL
 * with a message where memory was refused, else `written`; `text` is NULL unless SZG_OK is
 * returned. */
SZG_CHECK_RESULT szg_status szg_text_end(szg_text *text, szg_status written);

/* Frees an ended or an open text and clears the struct; a struct of zeros is allowed. */
void szg_text_close(szg_text *text);

/* ---- Numbers ---- */

enum { SZG_REAL_TEXT = 32 };

/* Writes the shortest of %.15g, %.16g, %.17g that reads back as `value`, with a point whatever the
 * locale; "nan", "inf", "-inf". Returns `text`. */
const char *szg_real_text(double value, char text[SZG_REAL_TEXT]);

/* Writes "%a", the exact hexadecimal float, with a point whatever the locale; "nan", "inf", "-inf".
 * Returns `text`. */
const char *szg_hex_text(double value, char text[SZG_REAL_TEXT]);

/* At most `digits` significant decimal digits (1 .. 17), as %g prints them: the nearest such
 * number, or of an end of an enclosure the nearest that does not lie inside it. */
const char *szg_rounded_text(double value, int digits, szg_end end, char text[SZG_REAL_TEXT]);

/* Reads a whole text as a double, in the C locale: decimal, hexadecimal, "nan", "inf". Finite texts
 * beyond the range of double, spaces and an empty text are refused: false, *out unchanged. */
bool szg_real_parse(const char *text, double *out);

/* strtod, snprintf and vsnprintf in the C locale. */
double szg_real_scan(const char *text, char **end);
SZG_PRINTF(3, 4) int szg_print(char *text, size_t size, const char *format, ...);
SZG_PRINTF(3, 0) int szg_vprint(char *text, size_t size, const char *format, va_list arguments);

/* From enter, which returns what leave takes (a locale_t, which ISO C lacks), the calling thread is
 * in the C locale: for many numbers that go to a stream. */
void *szg_locale_enter(void);
void szg_locale_leave(void *callers);

SZG_END_DECLS

#endif
