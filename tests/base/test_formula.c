/* Formulas in prose: each form of each construct, and texts that are none. */
#include <stdlib.h>
#include <string.h>
#include "base/formula.h"
#include "base/random.h"

#include "suite.h"

/* The text with its formulas in a form; free it. */
static char *in_form(const char *text, szgi_formula_form form) {
    char *out;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    szgi_prose_put(text, form, stream);
    ck_assert_int_eq(fclose(stream), 0);
    return out;
}

static void check(const char *text, szgi_formula_form form, const char *want) {
    char *got = in_form(text, form);
    ck_assert_str_eq(got, want);
    free(got);
}

/* The next field of a line, which a tab or the line's end follows. */
static char *field(char **line) {
    char *begin = *line;
    *line += strcspn(begin, "\t\n");
    if (**line)
        *(*line)++ = 0;
    return begin;
}

/* tests/data/formulas.tsv: source, Unicode, MathML. tests/page/test_formula.py reads it too. */
START_TEST(each_form_is_written) {
    char path[4096], *line = NULL;
    size_t size = 0;
    int cases = -1; /* without the header */
    snprintf(path, sizeof path, "%s/formulas.tsv", getenv("SZG_TEST_DATA"));
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    for (; getline(&line, &size, file) > 0; cases++) {
        char *at = line, *source = field(&at), *unicode = field(&at);
        if (cases < 0)
            continue;
        check(source, SZGI_FORMULA_UNICODE, unicode);
        source[strlen(source) - 1] = 0;
        char *text = strdup(source + 1);
        source[strlen(source)] = '`';
        check(source, SZGI_FORMULA_ASCII, text);
        free(text);
    }
    free(line);
    fclose(file);
    ck_assert_int_eq(cases, 10);
}
END_TEST

START_TEST(prose_stays_as_it_is) {
    static const char *const same[] = {"", "theta_t <= 1", "a ` alone", "``", "`\tx`", "`é`"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        for (int form = SZGI_FORMULA_ASCII; form <= SZGI_FORMULA_UNICODE; form++)
            check(same[i], (szgi_formula_form)form, same[i]);
    check("at `t = 0`, `pi` and ` more", SZGI_FORMULA_UNICODE, "at t = 0, π and ` more");
    char longer[300];
    memset(longer, 'x', sizeof longer);
    longer[0] = longer[298] = '`';
    longer[299] = 0;
    check(longer, SZGI_FORMULA_UNICODE, longer);
}
END_TEST

/* What cannot be set is its source: braces that nothing closes, scripts of nothing, too deep. */
START_TEST(what_cannot_be_set_is_its_source) {
    static const char *const broken[] = {"x_{i", "x_", "x_ y", "x^",
                                         "a_{b_{c_{d_{e_{f_{g_{h_{i}}}}}}}}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char text[128];
        snprintf(text, sizeof text, "`%s`", broken[i]);
        check(text, SZGI_FORMULA_UNICODE, broken[i]);
    }
}
END_TEST

static int count_of(const char *text, char letter) {
    int count = 0;
    for (; (text = strchr(text, letter)); text++)
        count++;
    return count;
}

/* Capitals other than T have no small forms, and no sign is made of them: none is lost. */
static void check_capitals(const char *text) {
    char *got = in_form(text, SZGI_FORMULA_UNICODE);
    ck_assert_msg(count_of(got, 'W') == count_of(text, 'W') &&
                      count_of(got, 'E') == count_of(text, 'E'),
                  "%s: %s", text, got);
    free(got);
}

START_TEST(random_formulas_keep_their_letters) {
    static const char *const parts[] = {"theta", "W",   "_",  "^",  "{",    "}",    "o",   " ",
                                        "<",     "&",   "ij", "2",  "sum",  "Ebar", "|",   "(",
                                        ")",     "...", "<=", "\\", "word", "'",    "bar", "\""};
    const szgi_stream source = {.seed = test_seed(), .purpose = 21};
    uint64_t draw = 0;
    for (int round = 0; round < 20000; round++) {
        char text[256] = "`";
        for (uint64_t left = 1 + szgi_random_word(&source, draw++) % 14; left > 0; left--)
            strcat(text, parts[szgi_random_word(&source, draw++) % (sizeof parts / sizeof *parts)]);
        strcat(text, "`");
        check_capitals(text);
    }
}
END_TEST

TEST_FILE("formula") {
    test_add(suite, "forms", each_form_is_written);
    test_add(suite, "prose", prose_stays_as_it_is);
    test_add(suite, "broken", what_cannot_be_set_is_its_source);
    test_add(suite, "random", random_formulas_keep_their_letters);
}
