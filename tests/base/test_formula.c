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

START_TEST(each_form_is_written) {
    static const struct {
        const char *source, *unicode, *mathml, *tex;
    } cases[] = {
        {"`theta_t`", "θₜ", "<math><msub><mi>θ</mi><mrow><mi>t</mi></mrow></msub></math>",
         "$\\theta_{t}$"},
        {"`W o E`", "W ∘ E", "<math><mi>W</mi><mo>∘</mo><mi>E</mi></math>", "$W \\circ  E$"},
        {"`|E_ij| = 1`", "|Eᵢⱼ| = 1",
         "<math><mo stretchy=\"false\" lspace=\"0\" "
         "rspace=\"0\">|</mo><msub><mi>E</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub><mo "
         "stretchy=\"false\" lspace=\"0\" rspace=\"0\">|</mo>"
         "<mo>=</mo><mn>1</mn></math>",
         "$|E_{ij}| = 1$"},
        {"`sum_{i>=1} w_i`", "∑_{i≥1} wᵢ",
         "<math><msub><mo>∑</mo><mrow><mi>i</mi><mo>≥</mo><mn>1</mn></mrow></msub>"
         "<msub><mi>w</mi><mrow><mi>i</mi></mrow></msub></math>",
         "$\\sum_{i\\ge 1} w_{i}$"},
        {"`D_t^*`", "Dₜ*",
         "<math><msubsup><mi>D</mi><mrow><mi>t</mi></mrow><mrow><mo>*</mo></mrow></msubsup></math>",
         "$D_{t}^{*}$"},
        {"`x^theta`", "x^θ", "<math><msup><mi>x</mi><mrow><mi>θ</mi></mrow></msup></math>",
         "$x^{\\theta }$"},
        {"`Ebar <= Re{w_0}`", "E\xCC\x84 ≤ Re{w₀}",
         "<math><mover><mi>E</mi><mo>¯</mo></mover><mo>≤</mo><mspace "
         "width=\"0.2em\"/><mi>Re</mi><mo "
         "stretchy=\"false\">{</mo>"
         "<msub><mi>w</mi><mrow><mn>0</mn></mrow></msub><mo stretchy=\"false\">}</mo></math>",
         "$\\bar{E} \\le  \\operatorname{Re}\\{w_{0}\\}$"},
        {"`a < b & odd words`", "a < b & odd words",
         "<math><mi>a</mi><mo>&lt;</mo><mi>b</mi><mo>&amp;</mo><mspace width=\"0.2em\"/>"
         "<mtext>odd</mtext><mspace width=\"0.2em\"/><mtext>words</mtext></math>",
         "$a < b \\& \\text{odd} \\text{words}$"},
        {"`-0.3474 m N^2`", "−0.3474 m N²",
         "<math><mo>−</mo><mn>0.3474</mn><mi>m</mi><msup><mi>N</mi><mrow><mn>2</mn></mrow></msup>"
         "</math>",
         "$-0.3474 m N^{2}$"},
        {"`e^{i(i-j) theta_t}`", "e^{i(i−j) θₜ}",
         "<math><msup><mi>e</mi><mrow><mi>i</mi><mo "
         "stretchy=\"false\">(</mo><mi>i</mi><mo>−</mo><mi>j</mi><mo stretchy=\"false\">)</mo>"
         "<msub><mi>θ</mi><mrow><mi>t</mi></mrow></msub></mrow></msup></math>",
         "$e^{i(i-j) \\theta_{t}}$"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *plain = strdup(cases[i].source + 1);
        plain[strlen(plain) - 1] = 0;
        check(cases[i].source, SZGI_FORMULA_ASCII, plain);
        check(cases[i].source, SZGI_FORMULA_UNICODE, cases[i].unicode);
        check(cases[i].source, SZGI_FORMULA_MATHML, cases[i].mathml);
        check(cases[i].source, SZGI_FORMULA_TEX, cases[i].tex);
        free(plain);
    }
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
