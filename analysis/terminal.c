#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#include "terminal.h"

enum { BAR_WIDTH = 30, REDRAW_MILLISECONDS = 100 };

static int64_t now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int terminal_width(int descriptor) {
    enum { STANDARD = 80, MOST = 10000 };
    const char *columns = getenv("COLUMNS");
    int64_t number;
    struct winsize size;
    if (columns && szgi_integer_parse(columns, &number) == SZGI_PARSED && number > 0)
        return number < MOST ? (int)number : MOST;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return STANDARD;
}

void terminal_open(terminal *self, bool quiet) {
    memset(self, 0, sizeof *self);
    self->quiet = quiet;
    self->bar = !quiet && isatty(STDERR_FILENO);
    self->last_draw = now_milliseconds(); /* what is over at once shows no bar */
}

void terminal_clear(terminal *self) {
    if (!self->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    self->drawn = false;
}

/* One call writes the whole line: stderr has no buffer, and lines of several programs stay apart
 * only if each is one write. A line longer than any message of a context takes several. */
void terminal_line(const char *kind, const char *text) {
    enum { STEP = 4 }; /* of a UTF-8 sequence or \xNN, at most */
    char line[STEP * 2048 + 64];
    size_t used = (size_t)snprintf(line, sizeof line - STEP - 1, "szego: %s", kind);
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        int length = szgi_shown_step(at, strnlen((const char *)at, STEP));
        if (used > sizeof line - STEP - 2) { /* room for the new line and snprintf's zero */
            fwrite(line, 1, used, stderr);
            used = 0;
        }
        if (length > 0)
            memcpy(line + used, at, (size_t)length);
        else
            szgi_hidden_text(*at, line + used);
        used += length > 0 ? (size_t)length : STEP;
        at += length > 0 ? length : 1;
    }
    line[used++] = '\n';
    fwrite(line, 1, used, stderr);
}

void terminal_message(void *user, szg_severity severity, const char *text) {
    terminal *self = user;
    if (self->quiet && severity == SZG_NOTE)
        return;
    terminal_clear(self);
    terminal_line(severity == SZG_WARNING ? "warning: " : "", text);
}

/* ---- The line of progress ---- */

/* Numbers in a name change from one report to the next ("epoch 3/10, 12 s left"), and so does what
 * follows a colon ("spectra: rope"). */
static bool is_same(const terminal_step *a, const terminal_step *b) {
    static const char ends[] = "0123456789:";
    size_t length = strcspn(a->what, ends);
    return a->total == b->total && length == strcspn(b->what, ends) &&
           memcmp(a->what, b->what, length) == 0;
}

/* Where a step is, from the outermost on; -1: it is not at work. */
static int find_step(const terminal *self, const terminal_step *step) {
    for (int i = 0; i < self->steps; i++)
        if (is_same(&self->step[i], step))
            return i;
    return -1;
}

/* A task that reports again has finished its subtasks. A task that begins anew was called by those
 * listed before it: its former run ended without a report. */
static void update_steps(terminal *self, const char *name, int64_t done, int64_t total) {
    terminal_step step = {.done = done, .total = total};
    szgi_show(name, step.what, sizeof step.what);
    step.share = done >= total ? 1 : done > 0 ? (double)done / (double)total : 0;
    int at = find_step(self, &step);
    if (at >= 0 && done >= self->step[at].done)
        self->steps = at;
    else if (at >= 0) {
        memmove(&self->step[at], &self->step[at + 1],
                (size_t)(self->steps - at - 1) * sizeof *self->step);
        self->steps--;
    }
    if (self->steps == TERMINAL_STEPS)
        self->steps--;
    self->step[self->steps++] = step;
}

/* What has ended is no longer at work, though its line is still drawn. */
static void end_steps(terminal *self) {
    while (self->steps > 0 && self->step[self->steps - 1].share >= 1)
        self->steps--;
}

/* Puts as much of a text as fits into `room` columns; returns the columns that it takes. */
static int put_fitting(const char *text, int room, FILE *stream) {
    char part[TERMINAL_STEP_NAME];
    size_t bytes = szgi_utf8_fit(text, room > 0 ? room : 0);
    snprintf(part, sizeof part, "%.*s", (int)bytes, text);
    fputs(part, stream);
    return (int)szgi_utf8_columns(part);
}

static void put_bar(double share, int width, FILE *stream) {
    int filled = (int)(share * width);
    fputs(" [", stream);
    for (int i = 0; i < width; i++)
        putc(i < filled ? '#' : '.', stream);
    putc(']', stream);
}

void terminal_compose(const terminal *self, int width, char line[TERMINAL_LINE]) {
    enum { LEAST_BAR = 8, SHARE = sizeof " 100%" - 1, FRAME = sizeof " []" - 1, GAP = 2 };
    FILE *stream = fmemopen(line, TERMINAL_LINE, "w");
    line[0] = 0;
    if (!stream)
        return;
    const terminal_step *outer = &self->step[0], *inner = &self->step[self->steps - 1];
    int room = (width < TERMINAL_LINE / 8 ? width : TERMINAL_LINE / 8) - SHARE;
    room -= put_fitting(outer->what, room, stream);
    int second = inner == outer ? 0 : GAP + (int)szgi_utf8_columns(inner->what) + SHARE;
    int bar = room - FRAME - second;
    if (second > 0 && bar < LEAST_BAR) { /* the inner one gives way */
        second = 0;
        bar = room - FRAME;
    }
    bar = bar < BAR_WIDTH ? bar : BAR_WIDTH;
    if (bar > 0)
        put_bar(outer->share, bar, stream);
    fprintf(stream, " %3.0f%%", 100 * outer->share);
    if (second > 0)
        fprintf(stream, "  %s %3.0f%%", inner->what, 100 * inner->share);
    fclose(stream);
}

/* The last column stays free: a line that wraps cannot be erased. One write, so that the line is
 * never seen half drawn. */
void terminal_progress(void *user, const char *what, int64_t done, int64_t total) {
    terminal *self = user;
    if (!self->bar || total <= 0)
        return;
    update_steps(self, what, done, total);
    int64_t now = now_milliseconds();
    if (now - self->last_draw >= REDRAW_MILLISECONDS) {
        char line[TERMINAL_LINE], whole[TERMINAL_LINE + 8];
        terminal_compose(self, terminal_width(STDERR_FILENO) - 1, line);
        int length = snprintf(whole, sizeof whole, "\r\033[K%s", line);
        fwrite(whole, 1, (size_t)length, stderr);
        fflush(stderr);
        self->last_draw = now;
        self->drawn = true;
    }
    end_steps(self);
}
