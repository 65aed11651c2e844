/* Lines on stderr: each is one write, whatever it holds. */
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "suite.h"
#include "terminal.h"

/* What the first write to stderr was while terminal_line ran. In a pipe of packets a read returns
 * one write; a full one takes no more. */
static void first_write(const char *kind, const char *text, char *out, size_t size) {
    int ends[2], kept = dup(STDERR_FILENO);
    ck_assert_int_eq(pipe2(ends, O_DIRECT | O_NONBLOCK), 0);
    fflush(stderr);
    ck_assert_int_ge(dup2(ends[1], STDERR_FILENO), 0);
    terminal_line(kind, text);
    fflush(stderr);
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    ssize_t got = read(ends[0], out, size - 1);
    ck_assert_int_gt(got, 0);
    out[got] = 0;
    close(ends[0]);
    close(ends[1]);
    close(kept);
}

START_TEST(a_line_is_one_write) {
    char out[4096], text[1001];
    first_write("warning: ", "layer 3, head 1: \xc3\xa9 \x1b[2J\n\xff", out, sizeof out);
    ck_assert_str_eq(out, "szego: warning: layer 3, head 1: \xc3\xa9 \\x1b[2J\\x0a\\xff\n");
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    first_write("", text, out, sizeof out);
    ck_assert_int_eq(strlen(out), strlen("szego: ") + sizeof text);
    ck_assert_int_eq(out[strlen(out) - 1], '\n');
}
END_TEST

START_TEST(width_is_columns_or_the_terminal) {
    int ends[2], outer, inner;
    struct winsize size = {.ws_row = 24, .ws_col = 132};
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(openpty(&outer, &inner, NULL, NULL, &size), 0);
    ck_assert_int_eq(setenv("COLUMNS", "57", 1), 0);
    ck_assert_int_eq(terminal_width(ends[1]), 57);
    ck_assert_int_eq(terminal_width(inner), 57);
    static const char *const refused[] = {"", "0", "-3", "wide", "57x"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ck_assert_int_eq(setenv("COLUMNS", refused[i], 1), 0);
        ck_assert_int_eq(terminal_width(ends[1]), 80);
        ck_assert_int_eq(terminal_width(inner), 132);
    }
    ck_assert_int_eq(unsetenv("COLUMNS"), 0);
    ck_assert_int_eq(terminal_width(ends[1]), 80);
    ck_assert_int_eq(terminal_width(inner), 132);
    close(ends[0]), close(ends[1]), close(outer), close(inner);
}
END_TEST

/* Reports progress without a terminal to draw on: the steps alone. */
static void report(terminal *screen, const char *what, int64_t done, int64_t total) {
    screen->bar = true;
    screen->last_draw = INT64_MAX; /* not drawn again before that */
    terminal_progress(screen, what, done, total);
}

static void check_line(const terminal *screen, int width, const char *want) {
    char line[TERMINAL_LINE];
    terminal_compose(screen, width, line);
    ck_assert_str_eq(line, want);
}

/* One line for nested work: the outermost with a bar, the innermost with its share. */
START_TEST(progress_is_one_line) {
    terminal screen = {0};
    report(&screen, "verify", 1, 4);
    check_line(&screen, 79, "verify [#######.......................]  25%");
    report(&screen, "symbol range", 1, 2);
    check_line(&screen, 79, "verify [#######.......................]  25%  symbol range  50%");
    report(&screen, "grid", 1, 10);
    check_line(&screen, 79, "verify [#######.......................]  25%  grid  10%");
    report(&screen, "verify", 2, 4); /* what it called has ended */
    check_line(&screen, 79, "verify [###############...............]  50%");
    report(&screen, "symbol range", 2, 2); /* ended: no longer shown */
    check_line(&screen, 79, "verify [###############...............]  50%");
}
END_TEST

/* Numbers in a name change; a job that has ended gives its place to the next one. */
START_TEST(a_step_is_known_by_its_words) {
    terminal screen = {0};
    report(&screen, "epoch 1/9, 12 s left", 1, 90);
    report(&screen, "evaluating", 0, 40);
    report(&screen, "evaluating", 40, 40);
    report(&screen, "epoch 2/9, 9 s left", 20, 90);
    ck_assert_int_eq(screen.steps, 1);
    check_line(&screen, 60, "epoch 2/9, 9 s left [######........................]  22%");
    report(&screen, "epoch 9/9, 0 s left", 90, 90);
    ck_assert_int_eq(screen.steps, 0);
    report(&screen, "making examples", 0, 40);
    report(&screen, "making examples", 40, 40);
    report(&screen, "label ceiling", 0, 65536);
    check_line(&screen, 60, "label ceiling [..............................]   0%");
}
END_TEST

/* What reports first may be the inner one: it begins again within the one that called it. */
START_TEST(an_inner_step_may_come_first) {
    terminal screen = {0};
    report(&screen, "Lanczos", 7, 10); /* converged before its end */
    report(&screen, "spectrum", 1, 2);
    report(&screen, "Lanczos", 3, 10);
    check_line(&screen, 79, "spectrum [###############...............]  50%  Lanczos  30%");
    for (int i = 0; i < 3 * TERMINAL_STEPS; i++) { /* more than it keeps */
        char what[16];
        snprintf(what, sizeof what, "step %d", i);
        report(&screen, what, 0, 1);
    }
    ck_assert_int_le(screen.steps, TERMINAL_STEPS);
    ck_assert_str_eq(screen.step[0].what, "spectrum");
}
END_TEST

/* Whatever the width and the names: no line is longer, and none could drive the terminal. */
START_TEST(progress_fits_the_width) {
    static const char *const names[] = {"a", "\u4e16\u754c\u4e16\u754c\u4e16\u754c",
                                        "x\033[2J\ny\xff",
                                        "a name that is longer than the line of a terminal of "
                                        "eighty columns, and then some words more"};
    enum { NAMES = sizeof names / sizeof *names };
    for (int i = 0; i < NAMES * NAMES; i++)
        for (int width = 1; width < 140; width++) {
            terminal screen = {0};
            char line[TERMINAL_LINE];
            report(&screen, names[i / NAMES], 1, 3);
            report(&screen, names[i % NAMES], 1, 3);
            terminal_compose(&screen, width, line);
            ck_assert_msg(szgi_utf8_columns(line) <= (width > 5 ? width : 5), "%d: %s", width,
                          line);
            ck_assert(!strpbrk(line, "\033\n"));
            ck_assert_int_eq(szgi_utf8_check(line, strlen(line)), -1);
        }
}
END_TEST

TEST_FILE("terminal") {
    test_add(suite, "progress_is_one_line", progress_is_one_line);
    test_add(suite, "a_step_is_known_by_its_words", a_step_is_known_by_its_words);
    test_add(suite, "an_inner_step_may_come_first", an_inner_step_may_come_first);
    test_add(suite, "progress_fits_the_width", progress_fits_the_width);
    test_add(suite, "width_is_columns_or_the_terminal", width_is_columns_or_the_terminal);
    test_add(suite, "a_line_is_one_write", a_line_is_one_write);
}
