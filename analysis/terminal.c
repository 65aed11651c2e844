#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terminal.h"

enum { BAR_WIDTH = 30, REDRAW_MILLISECONDS = 100 };

static int64_t now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void terminal_open(terminal *self, bool quiet) {
    memset(self, 0, sizeof *self);
    self->quiet = quiet;
    self->bar = !quiet && isatty(STDERR_FILENO);
}

void terminal_clear(terminal *self) {
    if (!self->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    self->drawn = false;
}

void terminal_message(void *user, szg_severity severity, const char *text) {
    terminal *self = user;
    if (self->quiet && severity == SZG_NOTE)
        return;
    terminal_clear(self);
    fprintf(stderr, "szego: %s%s\n", severity == SZG_WARNING ? "warning: " : "", text);
}

void terminal_progress(void *user, const char *what, int64_t done, int64_t total) {
    terminal *self = user;
    if (!self->bar || total <= 0)
        return;
    int64_t now = now_milliseconds();
    if (self->drawn && done < total && now - self->last_draw < REDRAW_MILLISECONDS)
        return;
    self->last_draw = now;
    double share = done >= total ? 1 : (double)done / (double)total;
    int filled = (int)(share * BAR_WIDTH);
    char bar[BAR_WIDTH + 1];
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[BAR_WIDTH] = 0;
    fprintf(stderr, "\r\033[K%s [%s] %3.0f%%", what, bar, 100 * share);
    fflush(stderr);
    self->drawn = true;
}
