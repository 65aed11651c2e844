/* Text that may be hostile: UTF-8 checked, repaired, or made visible. Private to formats. */
#ifndef SZG_FORMATS_TEXT_H
#define SZG_FORMATS_TEXT_H

#include <stdio.h>
#include "base/context.h"

/* Length (1 to 4) of the valid UTF-8 sequence at `at`, with `left` bytes before the end; 0 where
 * there is none: a stray or overlong sequence, a surrogate, beyond U+10FFFF (Unicode 15, table
 * 3-7).
 */
int szgi_utf8_step(const unsigned char *at, size_t left);

/* Offset of the first byte that is not UTF-8, -1 where all are. */
int64_t szgi_utf8_check(const char *text, size_t length);

/* Writes `length` bytes with every byte that is not UTF-8 replaced by U+FFFD. */
void szgi_utf8_put(const char *text, size_t length, FILE *stream);

/* A repaired copy in *out (szgi_memory_free). */
SZG_CHECK_RESULT szg_status szgi_utf8_copy(szg_context *context, const char *text, char **out);

enum { SZG_SHOWN = 160 };

/* For messages and terminals: `text` with control characters and bytes that are not UTF-8 as \xNN,
 * cut with "..." where it does not fit. Returns `out`. */
const char *szgi_show(const char *text, char *out, size_t size);

/* szgi_show into a buffer that lives as long as the enclosing block: for arguments of szgi_fail. */
#define SHOWN(text) szgi_show((text), (char[SZG_SHOWN]){0}, SZG_SHOWN)

/* The part of `path` after the last slash. */
const char *szgi_path_name(const char *path);

/* True where `path` ends in `ending`, letter case ignored. */
bool szgi_path_ends(const char *path, const char *ending);

#endif
