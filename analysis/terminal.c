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

/* What fits beside `what` on one line: a line that wraps cannot be erased. */
static int bar_width(const char *what) {
    int left = terminal_width(STDERR_FILENO) - (int)strlen(what) - (int)sizeof " [] 100%";
    return left > BAR_WIDTH ? BAR_WIDTH : left > 0 ? left : 0;
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
    int width = bar_width(what), filled = (int)(share * width);
    char bar[BAR_WIDTH + 1];
    memset(bar, '.', (size_t)width);
    memset(bar, '#', (size_t)filled);
    bar[width] = 0;
    fprintf(stderr, "\r\033[K%s [%s] %3.0f%%", what, bar, 100 * share);
    fflush(stderr);
    self->drawn = true;
}
