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

/* tests/data/formulas.tsv: source, Unicode, MathML, TeX. tests/page/test_formula.py reads it too.
 */
START_TEST(each_form_is_written) {
    char path[4096], *line = NULL;
    size_t size = 0;
    int cases = -1; /* without the header */
    snprintf(path, sizeof path, "%s/formulas.tsv", getenv("SZG_TEST_DATA"));
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    for (; getline(&line, &size, file) > 0; cases++) {
        char *at = line, *source = field(&at), *unicode = field(&at), *mathml = field(&at);
        if (cases < 0)
            continue;
        check(source, SZGI_FORMULA_UNICODE, unicode);
        check(source, SZGI_FORMULA_MATHML, mathml);
        check(source, SZGI_FORMULA_TEX, field(&at));
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
        for (int form = SZGI_FORMULA_ASCII; form <= SZGI_FORMULA_TEX; form++)
            check(same[i], (szgi_formula_form)form, same[i]);
    check("at `t = 0`, `pi` and ` more", SZGI_FORMULA_UNICODE, "at t = 0, π and ` more");
    char longer[300];
    memset(longer, 'x', sizeof longer);
    longer[0] = longer[298] = '`';
    longer[299] = 0;
    check(longer, SZGI_FORMULA_MATHML, longer);
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
        check(text, SZGI_FORMULA_MATHML, broken[i]);
        check(text, SZGI_FORMULA_TEX, text);
    }
    check("`<x_`", SZGI_FORMULA_MATHML, "&lt;x_");
}
END_TEST

/* Whatever stands between backticks: elements are closed in their order, and no character of the
 * source becomes one. */
static void check_elements(const char *text) {
    const char *open[64];
    int depth = 0;
    for (const char *at = text; (at = strchr(at, '<')); at++) {
        size_t end = strcspn(at, ">"), length = strcspn(at, " >");
        ck_assert_msg(strspn(at + 1, "/abcdefghijklmnopqrstuvwxyz") == length - 1, "%s", text);
        ck_assert_msg(memchr(at + 1, '<', end - 1) == NULL, "%s", text);
        if (at[end - 1] == '/')
            continue;
        if (at[1] != '/') {
            ck_assert_int_lt(depth, 64);
            open[depth++] = at + 1;
            continue;
        }
        ck_assert_int_gt(depth, 0);
        ck_assert_msg(memcmp(open[--depth], at + 2, length - 2) == 0, "%s", text);
    }
    ck_assert_int_eq(depth, 0);
}

START_TEST(random_formulas_are_well_formed) {
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
        char *got = in_form(text, SZGI_FORMULA_MATHML);
        check_elements(got);
        free(got);
        free(in_form(text, SZGI_FORMULA_UNICODE));
        free(in_form(text, SZGI_FORMULA_TEX));
    }
}
END_TEST

TEST_FILE("formula") {
    test_add(suite, "forms", each_form_is_written);
    test_add(suite, "prose", prose_stays_as_it_is);
    test_add(suite, "broken", what_cannot_be_set_is_its_source);
    test_add(suite, "random", random_formulas_are_well_formed);
}
