/* Lines on stderr: each is one write, whatever it holds. */
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

TEST_FILE("terminal") {
    test_add(suite, "width_is_columns_or_the_terminal", width_is_columns_or_the_terminal);
    test_add(suite, "a_line_is_one_write", a_line_is_one_write);
}
