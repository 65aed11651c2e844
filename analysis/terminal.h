/* What a person sees on stderr while a command runs: notes, warnings, the progress bar. */
#ifndef SZG_ANALYSIS_TERMINAL_H
#define SZG_ANALYSIS_TERMINAL_H

#include "base/context.h"

typedef struct terminal {
    bool quiet;
    bool bar;          /* stderr is a terminal */
    bool drawn;        /* a bar stands on the current line */
    int64_t last_draw; /* milliseconds of the monotonic clock */
} terminal;

/* Columns that a line on `descriptor` has: COLUMNS if that is a number, else the terminal's,
 * else 80.
 */
int terminal_width(int descriptor);

void terminal_open(terminal *self, bool quiet);
void terminal_message(void *user, szg_severity severity, const char *text);
void terminal_progress(void *user, const char *what, int64_t done, int64_t total);

/* "szego: KIND TEXT" on stderr; bytes that could drive the terminal or feign a second line (names
 * in a hostile file) become \xNN. */
void terminal_line(const char *kind, const char *text);

/* Erases the bar, so that results and errors start on a clean line. */
void terminal_clear(terminal *self);

#endif
