/* The colours of figures: contrast, and distance for every kind of colour vision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "suite.h"

typedef struct linear {
    double part[3]; /* red, green, blue, without gamma */
} linear;

static linear linear_of(uint32_t colour) {
    linear out;
    for (int i = 0; i < 3; i++) {
        double level = (double)(colour >> (16 - 8 * i) & 0xFF) / 255;
        out.part[i] = level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4);
    }
    return out;
}

/* Usual sight, and full protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes
 * 2009, table 1). */
enum { VISIONS = 4 };
static const double vision[VISIONS][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                             {{0.152286, 1.052583, -0.204868},
                                              {0.114503, 0.786281, 0.099216},
                                              {-0.003882, -0.048116, 1.051998}},
                                             {{0.367322, 0.860646, -0.227968},
                                              {0.280085, 0.672501, 0.047413},
                                              {-0.011820, 0.042940, 0.968881}},
                                             {{1.255528, -0.076749, -0.178779},
                                              {-0.078411, 0.930809, 0.147602},
                                              {0.004733, 0.691367, 0.303900}}};

static double curve(double t) {
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* L*, a*, b* (CIE 1976, white D65) of a colour as a vision sees it. */
static void lab_of(uint32_t colour, int seen, double lab[3]) {
    static const double xyz[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                     {0.2126729, 0.7151522, 0.0721750},
                                     {0.0193339, 0.1191920, 0.9503041}};
    static const double white[3] = {0.95047, 1, 1.08883};
    linear from = linear_of(colour), to;
    double f[3];
    for (int i = 0; i < 3; i++) {
        to.part[i] = 0;
        for (int j = 0; j < 3; j++)
            to.part[i] += vision[seen][i][j] * from.part[j];
        to.part[i] = fmin(fmax(to.part[i], 0), 1);
    }
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++)
            sum += xyz[i][j] * to.part[j];
        f[i] = curve(sum / white[i]);
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

static double distance(uint32_t one, uint32_t other, int seen) {
    double a[3], b[3], sum = 0;
    lab_of(one, seen, a);
    lab_of(other, seen, b);
    for (int i = 0; i < 3; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static double luminance(uint32_t colour) {
    linear of = linear_of(colour);
    return 0.2126 * of.part[0] + 0.7152 * of.part[1] + 0.0722 * of.part[2];
}

/* WCAG 2.1. */
static double contrast(uint32_t one, uint32_t other) {
    double a = luminance(one) + 0.05, b = luminance(other) + 0.05;
    return a > b ? a / b : b / a;
}

static char *read_css(const char *name) {
    const char *folder = getenv("SZG_ASSETS");
    ck_assert_msg(folder != NULL, "SZG_ASSETS names no folder: run it by meson test");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    char *text = calloc(1, 1 << 16);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

/* "NAME: #...;" of both themes, or "NAME: var(--light, #...) var(--dark, #...);". */
static uint32_t variable(const char *css, const char *theme, const char *name) {
    char start[64];
    snprintf(start, sizeof start, " %s: ", name);
    const char *at = strstr(css, start);
    ck_assert_msg(at != NULL, "%s", name);
    at += strlen(start);
    if (*at != '#') {
        const char *end = strchr(at, ';');
        snprintf(start, sizeof start, "var(--%s, #", theme);
        at = strstr(at, start);
        ck_assert_msg(at && at < end, "%s in %s", name, theme);
        at += strlen(start) - 1;
    }
    return (uint32_t)strtoul(at + 1, NULL, 16);
}

static void check_theme(const char *css, const char *theme) {
    uint32_t colour[8], page = variable(css, theme, "--fig-page");
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "--c%d", i);
        colour[i] = variable(css, theme, name);
        ck_assert_msg(contrast(colour[i], page) >= 3, "%s %s: contrast %g", theme, name,
                      contrast(colour[i], page));
        for (int j = 0; j < i; j++)
            for (int seen = 0; seen < VISIONS; seen++)
                ck_assert_msg(distance(colour[i], colour[j], seen) >= 15,
                              "%s: colours %d and %d, vision %d: %g", theme, i, j, seen,
                              distance(colour[i], colour[j], seen));
    }
    ck_assert(contrast(variable(css, theme, "--fig-muted"), page) >= 3);
    ck_assert(contrast(variable(css, theme, "--fig-quiet"), page) >= 4.5);
    ck_assert(contrast(variable(css, theme, "--fig-ink"), page) >= 7);
}

START_TEST(series_are_apart_and_seen) {
    char *css = read_css("figure.css");
    check_theme(css, "light");
    check_theme(css, "dark");
    ck_assert_uint_eq(variable(css, "light", "--fig-page"), 0xffffff);
    free(css);
}
END_TEST

/* Letters of the page on everything that they stand on: 4.5 to 1 (WCAG 2.1, 1.4.3, level AA). */
START_TEST(letters_are_readable) {
    static const char *const letters[] = {"--ink",   "--quiet",       "--link", "--holds",
                                          "--fails", "--conditional", "--warn"};
    static const char *const themes[] = {"light", "dark"};
    static const char *const grounds[] = {"--page", "--panel"};
    char *css = read_css("page.css");
    for (int t = 0; t < 2; t++) {
        uint32_t warned = variable(css, themes[t], "--warn-page");
        for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
            for (int g = 0; g < 2; g++) {
                double seen = contrast(variable(css, themes[t], letters[i]),
                                       variable(css, themes[t], grounds[g]));
                ck_assert_msg(seen >= 4.5, "%s: %s on %s: %g", themes[t], letters[i], grounds[g],
                              seen);
            }
        ck_assert(contrast(variable(css, themes[t], "--ink"), warned) >= 4.5);
        ck_assert(contrast(variable(css, themes[t], "--link"), warned) >= 4.5);
    }
    free(css);
}
END_TEST

START_TEST(sequential_colours_grow_lighter) {
    ck_assert_uint_eq(szgi_colour_sequential(0), 0x440154);
    ck_assert_uint_eq(szgi_colour_sequential(1), 0xFDE725);
    ck_assert_uint_eq(szgi_colour_sequential(NAN), szgi_colour_sequential(0));
    ck_assert_uint_eq(szgi_colour_sequential(-5), szgi_colour_sequential(0));
    ck_assert_uint_eq(szgi_colour_sequential(INFINITY), szgi_colour_sequential(1));
    /* Rounding to 255 levels may undo a step of 1/256, not one of 1/64. */
    for (int seen = 0; seen < VISIONS; seen++)
        for (int i = 1; i <= 64; i++) {
            double before[3], after[3];
            lab_of(szgi_colour_sequential((i - 1) / 64.0), seen, before);
            lab_of(szgi_colour_sequential(i / 64.0), seen, after);
            ck_assert_msg(after[0] > before[0], "vision %d, step %d", seen, i);
        }
}
END_TEST

START_TEST(diverging_colours_meet_in_the_middle) {
    ck_assert_uint_eq(szgi_colour_diverging(0.5), 0xF7F7F7);
    for (int seen = 0; seen < VISIONS; seen++)
        for (int i = 1; i <= 32; i++) {
            double nearer[3], further[3];
            for (int side = -1; side <= 1; side += 2) {
                lab_of(szgi_colour_diverging(0.5 + side * (i - 1) / 64.0), seen, nearer);
                lab_of(szgi_colour_diverging(0.5 + side * i / 64.0), seen, further);
                ck_assert_msg(further[0] < nearer[0], "vision %d, side %d, step %d", seen, side, i);
            }
            uint32_t low = szgi_colour_diverging(0.5 - i / 64.0),
                     high = szgi_colour_diverging(0.5 + i / 64.0);
            ck_assert_msg(i < 7 || distance(low, high, seen) >= 15, "vision %d, %d: %g", seen, i,
                          distance(low, high, seen));
        }
}
END_TEST

/* The better of black and white has a contrast of sqrt(21) at least. */
START_TEST(texts_on_cells_are_readable) {
    for (int i = 0; i <= 1000; i++) {
        uint32_t on[] = {szgi_colour_sequential(i / 1000.0), szgi_colour_diverging(i / 1000.0)};
        for (int map = 0; map < 2; map++) {
            ck_close(szgi_colour_luminance(on[map]), luminance(on[map]), 1e-12);
            ck_assert(contrast(on[map], szgi_colour_is_light(on[map]) ? 0 : 0xFFFFFF) >=
                      sqrt(21) - 1e-9);
        }
    }
}
END_TEST

TEST_FILE("colour") {
    test_add(suite, "series are apart and seen", series_are_apart_and_seen);
    test_add(suite, "letters are readable", letters_are_readable);
    test_add(suite, "sequential colours grow lighter", sequential_colours_grow_lighter);
    test_add(suite, "diverging colours meet in the middle", diverging_colours_meet_in_the_middle);
    test_add(suite, "texts on cells are readable", texts_on_cells_are_readable);
}
