/* What a person sees on stderr while a command runs: notes, warnings, the progress bar. */
#ifndef SZG_ANALYSIS_TERMINAL_H
#define SZG_ANALYSIS_TERMINAL_H

#include "base/context.h"

enum { TERMINAL_STEPS = 8, TERMINAL_STEP_NAME = 160 };

/* A piece of work that has begun and not ended. */
typedef struct terminal_step {
    char what[TERMINAL_STEP_NAME];
    int64_t done, total;
    double share;
} terminal_step;

typedef struct terminal {
    bool quiet;
    bool bar;                           /* stderr is a terminal */
    bool drawn;                         /* the current line shows a bar */
    int64_t last_draw;                  /* milliseconds of the monotonic clock */
    terminal_step step[TERMINAL_STEPS]; /* the outermost first */
    int steps;
} terminal;

/* Columns that a line on `descriptor` has: COLUMNS if that is a number, else the terminal's,
 * else 80.
 */
int terminal_width(int descriptor);

void terminal_open(terminal *self, bool quiet);
void terminal_message(void *user, szg_severity severity, const char *text);

/* Progress of one piece of work. A piece that begins while another one is at work is part of that:
 * one line shows the outermost with a bar, and the innermost by its share. */
void terminal_progress(void *user, const char *what, int64_t done, int64_t total);

enum { TERMINAL_LINE = 1024 };

/* Writes the line of the steps, at most `width` columns wide. */
void terminal_compose(const terminal *self, int width, char line[TERMINAL_LINE]);

/* "szego: KIND TEXT" on stderr; bytes that could drive the terminal or feign a second line (names
 * in a hostile file) become \xNN. */
void terminal_line(const char *kind, const char *text);

/* Erases the bar, so that results and errors start on a clean line. */
void terminal_clear(terminal *self);

#endif
