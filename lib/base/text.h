/* Text that grows in memory while it is written to a stream; text that may be hostile: UTF-8
 * checked, repaired, counted or made visible; endings; numbers as text, with a decimal point
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

/* ---- UTF-8 ---- */

/* Length (1 to 4) of the valid UTF-8 sequence at `at`, with `left` bytes before the end; 0 if there
 * is no valid one: a stray or overlong sequence, a surrogate, beyond U+10FFFF (Unicode 15, table
 * 3-7). */
int szgi_utf8_step(const unsigned char *at, size_t left);

/* Whether a byte of valid UTF-8 continues a character that began before it. */
static inline bool szgi_utf8_continues(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Columns of a terminal that valid UTF-8 takes: 0 for a combining character, 2 for a wide one (the
 * C library's wcwidth; 1 for what it does not know). */
int64_t szgi_utf8_columns(const char *text);

/* Bytes of the longest start of valid UTF-8 that takes at most `columns`. */
size_t szgi_utf8_fit(const char *text, int64_t columns);

/* Offset of the first byte that is not UTF-8, -1 where all are. */
int64_t szgi_utf8_check(const char *text, size_t length);

/* Writes `length` bytes with every byte that is not UTF-8 replaced by U+FFFD. */
void szgi_utf8_put(const char *text, size_t length, FILE *stream);

/* A repaired copy in *out (szgi_memory_free). */
SZG_CHECK_RESULT szg_status szgi_utf8_copy(szg_context *context, const char *text, char **out);

/* As szgi_utf8_step; 0 also for control characters, which may drive a terminal (C0, DEL, C1). */
int szgi_shown_step(const unsigned char *at, size_t left);

enum { SZGI_SHOWN = 160, SZGI_HIDDEN = 4 };

/* For a byte that is not shown: \xNN, SZGI_HIDDEN characters and a NUL. */
void szgi_hidden_text(unsigned char byte, char out[SZGI_HIDDEN + 1]);

/* For messages and terminals: `text` with control characters and bytes that are not UTF-8 as \xNN,
 * cut with "..." where it does not fit. Returns `out`. */
const char *szgi_show(const char *text, char *out, size_t size);

/* szgi_show into a buffer that lives as long as the enclosing block: for arguments of szgi_fail. */
#define SHOWN(text) szgi_show((text), (char[SZGI_SHOWN]){0}, SZGI_SHOWN)

/* ---- Endings ---- */

/* Whether `text` ends in `ending`; of a path, letter case ignored. */
bool szgi_text_ends(const char *text, const char *ending);
bool szgi_path_ends(const char *path, const char *ending);

/* The part of `path` after the last slash. */
const char *szgi_path_name(const char *path);

/* ---- Numbers ---- */

typedef enum szgi_parsed {
    SZGI_PARSED_NONE,   /* something else is there */
    SZGI_PARSED_BEYOND, /* a number that 64 bits do not hold: *out is the nearest */
    SZGI_PARSED
} szgi_parsed;

/* Reads a whole text as decimal digits, after a minus sign or none. */
szgi_parsed szgi_integer_parse(const char *text, int64_t *out);

/* Reads "a" or "a-b", of digits, at *at and moves on. False: none, or beyond 64 bits. */
bool szgi_span_scan(const char **at, int64_t *first, int64_t *last);

enum { SZGI_REAL_TEXT = 32 };

/* Writes the shortest of %.15g, %.16g, %.17g that reads back as `value`, with a point whatever the
 * locale; "nan", "inf", "-inf". Returns `text`. */
const char *szgi_real_text(double value, char text[SZGI_REAL_TEXT]);

/* Writes "%a", the exact hexadecimal float, with a point whatever the locale; "nan", "inf", "-inf".
 * Returns `text`. */
const char *szgi_hex_text(double value, char text[SZGI_REAL_TEXT]);

/* At most `digits` significant decimal digits (1 .. 17), as %g prints them: the nearest such
 * number, or of an end of an enclosure the nearest that does not lie inside it. */
const char *szgi_rounded_text(double value, int digits, szgi_end end, char text[SZGI_REAL_TEXT]);

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
