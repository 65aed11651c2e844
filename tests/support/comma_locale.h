/* A locale with a decimal comma, made from the sources in Debian's package `locales`. */
#ifndef SZG_TESTS_COMMA_LOCALE_H
#define SZG_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* Puts the whole program into it, as an embedding program would with setlocale. */
static inline void enter_comma_locale(void) {
    char folder[] = "/tmp/szego-locale-XXXXXX", command[256], text[8];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
    int code = system(command);
    ck_assert_int_eq(setenv("LOCPATH", folder, 1), 0);
    const char *entered = setlocale(LC_ALL, "de_DE.UTF-8");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    (void)!system(command);
    ck_assert_msg(entered, "localedef ended with %d: install Debian's package `locales`", code);
    snprintf(text, sizeof text, "%.1f", 0.5); /* the test tests something */
    ck_assert_str_eq(text, "0,5");
    ck_assert(strtod("0.5", NULL) == 0);
}

static inline void leave_comma_locale(void) {
    setlocale(LC_ALL, "C");
}

#endif
