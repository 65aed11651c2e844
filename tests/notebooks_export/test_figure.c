/* Printed figures, read back: well-formed, every mark there, every coordinate inside. */
#include "figure.h"
#include "svg_check.h"

static figure *opened(const figure_options *options) {
    figure *new = NULL;
    ck_szg_ok(szgi_figure_open(test_context(), options, &new));
    return new;
}

/* Prints, checks what holds of every figure, closes it; the text is freed by the caller. */
static char *printed(figure **figure) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_szg_ok(szgi_figure_print(test_context(), *figure, stream));
    ck_assert_int_eq(fclose(stream), 0);
    svg svg = svg_read(text);
    ck_assert_msg(svg.marks == szgi_figure_marks(*figure), "%lld marks, not %lld",
                  (long long)svg.marks, (long long)szgi_figure_marks(*figure));
    char told[64];
    snprintf(told, sizeof told, "data-marks=\"%lld\"", (long long)svg.marks);
    ck_assert_ptr_nonnull(strstr(text, told));
    ck_assert_int_gt(svg.titles, svg.marks); /* one each, and the figure's */
    /* A marker reaches four pixels beyond its point. */
    ck_assert_msg(svg.lo_x >= -4 && svg.hi_x <= svg.width + 4 && svg.lo_y >= -4 &&
                      svg.hi_y <= svg.height + 4,
                  "%g to %g, %g to %g in %g x %g", svg.lo_x, svg.hi_x, svg.lo_y, svg.hi_y,
                  svg.width, svg.height);
    int64_t given, drawn;
    szgi_figure_counts(*figure, &given, &drawn);
    ck_assert(0 <= drawn && drawn <= given);
    szgi_figure_close(figure);
    ck_assert_ptr_null(*figure);
    return text;
}

static void holds(char *text, const char *words, bool wanted) {
    ck_assert_msg((strstr(text, words) != NULL) == wanted, "%s %s: %.2000s", words,
                  wanted ? "missing" : "there", text);
}

enum { POINTS = 60 };

/* A number from the corners of all doubles. */
static double corner(const szgi_stream *stream, uint64_t index) {
    static const double rare[] = {
        NAN,    INFINITY, -INFINITY, 1.7976931348623157e308, -1.7976931348623157e308,
        5e-324, -5e-324,  0};
    szgi_stream choice = *stream;
    choice.purpose ^= 0x40000000u;
    int64_t which = szgi_random_below(&choice, index, 60);
    return which < 8 ? rare[which] : test_real(stream, index);
}

static void add_everything(figure *figure, const szgi_stream *stream, bool mild) {
    double a[4][POINTS];
    for (int64_t i = 0; i < 4 * POINTS; i++)
        a[i / POINTS][i % POINTS] =
            mild ? szgi_random_normal(stream, (uint64_t)i) : corner(stream, (uint64_t)i);
    const int64_t n = szgi_random_below(stream, 1 << 20, POINTS + 1);
    szg_context *context = test_context();
    const figure_style line = {.name = "line <script> & \"'\xff\x01", .colour = 0},
                       thin = {.name = "thin", .colour = 3 + FIGURE_THIN},
                       band = {.name = NULL, .colour = FIGURE_BAND},
                       muted = {.name = "rule", .colour = FIGURE_MUTED},
                       far = {.name = "b", .colour = 99};
    const uint32_t parts = szgi_random_word(stream, 1 << 22);
    if (parts & 1)
        ck_szg_ok(szgi_figure_line(context, figure, &line, n, a[0], a[1]));
    if (parts & 2)
        ck_szg_ok(szgi_figure_line(context, figure, &thin, n, a[2], a[1]));
    if (parts & 4)
        ck_szg_ok(szgi_figure_points(context, figure, &far, n, a[0], a[2], NULL));
    if (parts & 8)
        ck_szg_ok(szgi_figure_band(context, figure, &band, n, a[0], a[1], a[2]));
    if (parts & 16)
        ck_szg_ok(szgi_figure_rule(context, figure, &muted, parts & 32, a[3][0]));
    if (parts & 64)
        ck_szg_ok(szgi_figure_bars(context, figure, &far, n, a[3][1], a[0], a[1], a[2], a[3]));
    if (parts & 128)
        ck_szg_ok(szgi_figure_violin(context, figure, &line, a[3][2], a[3][3], n, a[1], NULL));
}

START_TEST(random_figures_are_well_formed) {
    for (uint32_t trial = 0; trial < test_trials(150); trial++) {
        const szgi_stream stream = {test_seed(), trial, 43};
        static const char *const names[] = {"one", "a name that is longer than any axis has room",
                                            "\xe2\x80\xae\xff<b>"};
        figure_options options = {.title = trial % 7 ? "title <&>" : NULL,
                                  .x = {.label = "x & y"},
                                  .y = {.label = trial % 3 ? "height" : NULL}};
        options.x.logarithmic = trial % 5 == 1;
        options.y.logarithmic = trial % 4 == 1;
        if (trial % 6 == 2)
            options.x.names = names, options.x.count = 3;
        if (trial % 9 == 3)
            options.y.names = names, options.y.count = 3;
        if (trial % 4 == 3) {
            options.y.lo = corner(&stream, 1 << 21);
            options.y.hi = corner(&stream, (1 << 21) + 1);
        }
        if (trial % 8 == 7) {
            options.x.lo = -0.5;
            options.x.hi = 0.75;
        }
        options.width = trial % 10 == 0 ? 1 : trial % 10 == 1 ? 100000 : 0;
        options.height = trial % 11 == 0 ? 1 : 0;
        figure *figure = opened(&options);
        add_everything(figure, &stream, trial % 2);
        char *text = printed(&figure);
        holds(text, "<script", false);
        free(text);
    }
}
END_TEST

/* Nothing to draw is said; one thing to draw is drawn. */
START_TEST(empty_figures_say_so) {
    const figure_options options = {.title = "t"};
    const figure_style style = {.name = "s", .colour = 0};
    const double none[] = {NAN, INFINITY, -INFINITY}, one[] = {1, 2, 3};
    for (int way = 0; way < 6; way++) {
        figure *figure = opened(&options);
        if (way == 1)
            ck_szg_ok(szgi_figure_line(test_context(), figure, &style, 3, none, one));
        if (way == 2)
            ck_szg_ok(szgi_figure_points(test_context(), figure, &style, 3, one, none, NULL));
        if (way == 3)
            ck_szg_ok(szgi_figure_violin(test_context(), figure, &style, 0, 1, 3, none, NULL));
        if (way == 4)
            ck_szg_ok(szgi_figure_bars(test_context(), figure, &style, 0, 1, one, one, NULL, NULL));
        if (way == 5)
            ck_szg_ok(szgi_figure_cells(
                test_context(), figure,
                &(figure_map){.rows = 1, .columns = 3, .value = none, .what = "v"}));
        char *text = printed(&figure);
        holds(text, "no finite values", true);
        holds(text, ">3 values are not finite: not drawn<", way >= 1 && way <= 3);
        free(text);
    }
    static const double alone[] = {0, 1, -1.7976931348623157e308, 5e-324, 1e-200, 123456789};
    for (int i = 0; i < 6; i++) {
        figure *figure = opened(&options);
        ck_szg_ok(szgi_figure_line(test_context(), figure, &style, 1, &alone[i], &alone[5 - i]));
        ck_assert_int_eq(szgi_figure_marks(figure), 1);
        char *text = printed(&figure);
        holds(text, "no finite values", false);
        free(text);
    }
}
END_TEST

START_TEST(logarithms_count_what_they_leave_out) {
    const figure_options options = {.y = {.logarithmic = true}};
    const double x[] = {1, 2, 3, 4, 5}, y[] = {0, 1, -1, 10, 1000};
    figure *figure = opened(&options);
    ck_szg_ok(szgi_figure_points(test_context(), figure, &(figure_style){.name = "s", .colour = 1},
                                 5, x, y, NULL));
    ck_assert_int_eq(szgi_figure_marks(figure), 3);
    char *text = printed(&figure);
    holds(text, ">2 values are not positive: no place on a logarithmic axis<", true);
    holds(text, ">100<", true); /* a tick */
    free(text);
}
END_TEST

typedef struct area {
    double left, top, height, width;
} area;

static area area_of(const char *text) {
    area out;
    const char *frame = strstr(text, "class=\"frame\" d=\"M");
    ck_assert_ptr_nonnull(frame);
    ck_assert_int_eq(sscanf(frame, "class=\"frame\" d=\"M%lf %lfv%lfh%lf", &out.left, &out.top,
                            &out.height, &out.width),
                     4);
    return out;
}

/* A line from outside to outside crosses the area; one beside it does not. */
START_TEST(lines_are_cut_at_the_ends_of_axes) {
    const figure_options options = {.x = {.lo = 0, .hi = 1}, .y = {.lo = 0, .hi = 1}};
    const double x[] = {-1, 2}, across[] = {-1, 2}, beside[] = {5, 9}, point[] = {0.5};
    figure *figure = opened(&options);
    ck_szg_ok(szgi_figure_line(test_context(), figure, &(figure_style){.name = "s", .colour = 1}, 2,
                               x, beside));
    ck_assert_int_eq(szgi_figure_marks(figure), 0);
    ck_szg_ok(szgi_figure_line(test_context(), figure, &(figure_style){.name = "s", .colour = 0}, 2,
                               x, across));
    ck_assert_int_eq(szgi_figure_marks(figure), 1);
    ck_szg_ok(szgi_figure_points(test_context(), figure, &(figure_style){.name = "p", .colour = 0},
                                 2, x, across, NULL));
    ck_szg_ok(szgi_figure_points(test_context(), figure, &(figure_style){.name = "p", .colour = 0},
                                 1, point, point, NULL));
    ck_assert_int_eq(szgi_figure_marks(figure), 2);
    char *text = printed(&figure);
    holds(text, ">2 marks lie outside of the axes<", true);
    /* From corner to corner of the area. */
    double from_x, from_y, to_x, to_y;
    const char *path = strstr(strstr(text, "class=\"line c0\""), " d=\"M");
    ck_assert_int_eq(sscanf(path, " d=\"M%lf %lfL%lf %lf", &from_x, &from_y, &to_x, &to_y), 4);
    area area = area_of(text);
    ck_close(from_x, area.left, 0.02);
    ck_close(from_y, area.top + area.height, 0.02);
    ck_close(to_x, area.left + area.width, 0.02);
    ck_close(to_y, area.top, 0.02);
    free(text);
}
END_TEST

/* The places of three points are those of the formula, on both kinds of axes. */
START_TEST(points_stand_where_their_values_are) {
    for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
        const figure_options options = {.x = {.lo = 1, .hi = 100, .logarithmic = logarithmic},
                                        .y = {.lo = -2, .hi = 6}};
        const double x[] = {1, 10, 100}, y[] = {-2, 0, 6};
        figure *figure = opened(&options);
        ck_szg_ok(szgi_figure_points(test_context(), figure,
                                     &(figure_style){.name = "s", .colour = 0}, 3, x, y, NULL));
        char *text = printed(&figure);
        area area = area_of(text);
        const char *at = strstr(text, "class=\"frame\"");
        for (int i = 0; i < 3; i++) {
            double got_x, got_y, part = logarithmic ? i / 2.0 : (x[i] - 1) / 99;
            at = strstr(at + 1, "<path class=\"mark\" d=\"M");
            ck_assert_int_eq(sscanf(at, "<path class=\"mark\" d=\"M%lf %lfm", &got_x, &got_y), 2);
            ck_close(got_x, area.left + area.width * part, 0.011);
            ck_close(got_y, area.top + area.height * (1 - (y[i] + 2) / 8), 0.011);
        }
        holds(text, "<title>s\nx: 10\ny: 0</title>", true);
        free(text);
    }
}
END_TEST

START_TEST(a_million_points_are_a_small_picture) {
    enum { MANY = 1000000 };
    double *x = new_numbers(MANY), *y = new_numbers(MANY);
    const szgi_stream stream = {test_seed(), 1, 44};
    szgi_random_fill_normal(&stream, 0, MANY, y);
    for (int64_t i = 0; i < MANY; i++)
        x[i] = (double)i;
    y[777777] = 12.5;
    const figure_options options = {.x = {.label = "i"}, .y = {.label = "v", .lo = -8, .hi = 13}};
    figure *figure = opened(&options);
    ck_szg_ok(szgi_figure_line(test_context(), figure, &(figure_style){.name = "s", .colour = 0},
                               MANY, x, y));
    int64_t given, drawn;
    szgi_figure_counts(figure, &given, &drawn);
    ck_assert(given == MANY && drawn <= 4 * 640);
    char *text = printed(&figure);
    ck_assert_uint_lt(strlen(text), 100000);
    /* The highest of all is drawn: at (13 - 12.5) / 21 of the height. */
    area area = area_of(text);
    double least = 1e9;
    const char *at = strstr(strstr(text, "class=\"line c0\""), " d=\"M") + 4;
    for (double px, py; sscanf(at + 1, "%lf %lf", &px, &py) == 2; at += 1 + strcspn(at + 1, "ML\""))
        least = fmin(least, py);
    ck_close(least, area.top + area.height * 0.5 / 21, 0.011);
    free(text);
    figure = opened(&options);
    ck_szg_ok(szgi_figure_points(test_context(), figure, &(figure_style){.name = "s", .colour = 0},
                                 MANY, y, y, NULL));
    text = printed(&figure);
    ck_assert_uint_lt(strlen(text), 200000);
    free(text);
    szgi_memory_free(x);
    szgi_memory_free(y);
}
END_TEST

enum { HIT_ROOM = 200 };

/* Reads the hover points of the first mark that has any. */
static int read_hits(const char *text, double place[][2], double value[][2]) {
    const char *at = strstr(text, "<g class=\"hits\">"), *end = at ? strstr(at, "</g>") : NULL;
    int count = 0;
    ck_assert_ptr_nonnull(end);
    while ((at = strstr(at, "<circle ")) && at < end) {
        ck_assert_int_lt(count, HIT_ROOM);
        ck_assert_int_eq(
            sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\" r=\"6\"><title>s\nx: %lf\ny: %lf<",
                   &place[count][0], &place[count][1], &value[count][0], &value[count][1]),
            4);
        count++;
        at++;
    }
    return count;
}

static double distance(const double a[2], const double b[2]) {
    return hypot(a[0] - b[0], a[1] - b[1]);
}

/* Hover points of many points: each where its values are, apart from each other, the extreme values
 * among them, and every point as near to one as they are to each other. */
START_TEST(of_many_points_some_answer) {
    enum { MANY = 900 };
    static double x[MANY], y[MANY], place[HIT_ROOM][2], value[HIT_ROOM][2];
    for (int line = 0; line < 2; line++) {
        const szgi_stream stream = {test_seed(), (uint32_t)line, 46};
        double lo = INFINITY, hi = -INFINITY;
        for (int i = 0; i < MANY; i++) {
            x[i] = line ? i / (MANY - 1.0) : szgi_random_uniform(&stream, 2 * (uint64_t)i);
            y[i] = szgi_random_uniform(&stream, 2 * (uint64_t)i + 1);
            lo = fmin(lo, y[i]);
            hi = fmax(hi, y[i]);
        }
        figure *figure =
            opened(&(figure_options){.x = {.lo = 0, .hi = 1}, .y = {.lo = 0, .hi = 1}});
        const figure_style style = {.name = "s", .colour = 0};
        if (line)
            ck_szg_ok(szgi_figure_line(test_context(), figure, &style, MANY, x, y));
        else
            ck_szg_ok(szgi_figure_points(test_context(), figure, &style, MANY, x, y, NULL));
        ck_assert_int_eq(szgi_figure_marks(figure), 1);
        char *text = printed(&figure);
        area area = area_of(text);
        int count = read_hits(text, place, value);
        ck_assert_msg(count >= 20 && count <= 60, "%d", count);
        double nearest = INFINITY, least = INFINITY, most = -INFINITY;
        for (int i = 0; i < count; i++) {
            ck_close(place[i][0], area.left + area.width * value[i][0], 0.011);
            ck_close(place[i][1], area.top + area.height * (1 - value[i][1]), 0.011);
            least = fmin(least, value[i][1]);
            most = fmax(most, value[i][1]);
            for (int k = 0; k < i; k++)
                nearest = fmin(nearest, distance(place[i], place[k]));
        }
        ck_assert_double_ge(nearest, 8 - 0.02);
        ck_close(least, lo, 1e-6);
        ck_close(most, hi, 1e-6);
        for (int i = 0; i < MANY; i++) {
            double own[2] = {area.left + area.width * x[i], area.top + area.height * (1 - y[i])};
            double away = INFINITY;
            for (int k = 0; k < count; k++)
                away = fmin(away, distance(own, place[k]));
            ck_assert_msg(away <= nearest + 0.02, "%g from any, %g apart", away, nearest);
        }
        free(text);
    }
}
END_TEST

/* Of few points every one answers, however near they are; of one more only some, 8 pixels apart. */
START_TEST(of_few_points_each_answers) {
    enum { FEW = 30 };
    static double place[HIT_ROOM][2], value[HIT_ROOM][2];
    double x[FEW + 1], y[FEW + 1];
    for (int i = 0; i <= FEW; i++) {
        x[i] = 0.5 + i * 1e-3;
        y[i] = 0.5;
    }
    for (int more = 0; more < 2; more++) {
        figure *figure =
            opened(&(figure_options){.x = {.lo = 0, .hi = 1}, .y = {.lo = 0, .hi = 1}});
        ck_szg_ok(szgi_figure_line(test_context(), figure,
                                   &(figure_style){.name = "s", .colour = 0}, FEW + more, x, y));
        char *text = printed(&figure);
        int count = read_hits(text, place, value);
        area area = area_of(text);
        /* The points span FEW thousandths of the area: room for so many steps of 8 pixels. */
        ck_assert_int_eq(count, more ? 1 + (int)(FEW * 1e-3 * area.width / 8) : FEW);
        for (int i = 1; more && i < count; i++)
            ck_assert_double_ge(distance(place[i], place[i - 1]), 8 - 0.02);
        free(text);
    }
}
END_TEST

/* Epochs, layers, steps: no ticks between whole numbers; values between them bring these back. */
START_TEST(ticks_of_whole_numbers_are_whole) {
    const double x[] = {1, 2, 3}, y[] = {0, 0, 0}, between[] = {1, 2, 2.5};
    for (int whole = 0; whole < 2; whole++) {
        figure *figure = opened(&(figure_options){0});
        ck_szg_ok(szgi_figure_line(test_context(), figure,
                                   &(figure_style){.name = "s", .colour = 0}, 3,
                                   whole ? x : between, y));
        char *text = printed(&figure);
        holds(text, ">1.2</text>", !whole);
        holds(text, whole ? ">3</text>" : ">2.4</text>", true);
        holds(text, ">-1.0</text>", true); /* of a y that is 0 throughout */
        holds(text, "e-30", false);
        free(text);
    }
}
END_TEST

START_TEST(long_titles_have_two_lines) {
    char title[200] = "";
    for (int i = 0; i < 20; i++)
        snprintf(title + strlen(title), sizeof title - strlen(title), "%sword%02d", i ? " " : "",
                 i);
    figure *figure = opened(&(figure_options){.title = title});
    ck_szg_ok(szgi_figure_points(test_context(), figure, &(figure_style){.name = "s", .colour = 0},
                                 1, &(double){1}, &(double){1}, NULL));
    char *text = printed(&figure);
    /* 640 pixels: 72 characters, which end within word10. */
    holds(text, "y=\"18\">word00 ", true);
    holds(text, " word09</text>", true);
    holds(text, "y=\"36\">word10 ", true);
    holds(text, " word19</text>", true);
    free(text);
}
END_TEST

/* 140 pixels less the margins are some 14 characters of 6.6. The second line has room of its own.
 */
START_TEST(long_labels_of_y_have_two_lines) {
    static const char *const labels[] = {"value", "largest singular value"};
    double left[2];
    for (int i = 0; i < 2; i++) {
        figure *figure = opened(&(figure_options){.y = {.label = labels[i]}, .height = 160});
        ck_szg_ok(szgi_figure_points(test_context(), figure,
                                     &(figure_style){.name = "s", .colour = 0}, 1, &(double){1},
                                     &(double){1}, NULL));
        char *text = printed(&figure);
        holds(text, "<tspan>largest singular</tspan><tspan x=\"14\" ", i == 1);
        holds(text, ">value</tspan></text>", i == 1);
        holds(text, ">value</text>", i == 0);
        const char *frame = strstr(text, "<path class=\"frame\" d=\"M");
        ck_assert_ptr_nonnull(frame);
        ck_assert_int_eq(sscanf(frame, "<path class=\"frame\" d=\"M%lf", &left[i]), 1);
        free(text);
    }
    ck_close(left[1] - left[0], 13, 1e-9);
}
END_TEST

START_TEST(long_names_are_cut_in_the_picture_and_whole_in_the_legend) {
    char name[201], huge[5000];
    memset(name, 'n', 200);
    name[200] = 0;
    memset(huge, 0xBF, sizeof huge); /* no character at all */
    huge[sizeof huge - 1] = 0;
    const double one[] = {1, 2};
    const char *const names[] = {name, huge};
    const figure_options options = {
        .title = huge, .x = {.label = name, .names = names, .count = 2}, .y = {.label = huge}};
    figure *figure = opened(&options);
    ck_szg_ok(szgi_figure_line(test_context(), figure, &(figure_style){.name = name, .colour = 0},
                               2, one, one));
    ck_szg_ok(szgi_figure_line(test_context(), figure, &(figure_style){.name = huge, .colour = 1},
                               2, one, one));
    char *text = printed(&figure);
    char whole[256];
    snprintf(whole, sizeof whole, "<title>%s</title>", name);
    holds(text, whole, true);
    snprintf(whole, sizeof whole, "%.36s…<title>", name);
    holds(text, whole, true);
    free(text);
}
END_TEST

START_TEST(cells_have_their_values) {
    double value[12];
    for (int i = 0; i < 12; i++)
        value[i] = i == 5 ? NAN : i / 11.0;
    const char *const rows[] = {"first", "second", "third"};
    const figure_map map = {
        .rows = 3, .columns = 4, .value = value, .row_names = rows, .what = "v"};
    figure *figure = opened(&(figure_options){.title = "t"});
    ck_szg_ok(szgi_figure_cells(test_context(), figure, &map));
    ck_assert_int_eq(szgi_figure_marks(figure), 12);
    char *text = printed(&figure);
    holds(text, "fill=\"#440154\"", true); /* 0 */
    holds(text, "fill=\"#fde725\"", true); /* 1 */
    holds(text, "class=\"mark empty\"", true);
    holds(text, "<title>row second, column 1\nv: nan</title>", true);
    holds(text, "<title>row third, column 3\nv: 1</title>", true);
    holds(text, ">0.0909</text>", true);
    holds(text, "no finite values", false);
    free(text);
}
END_TEST

START_TEST(cells_beyond_the_ends_are_counted) {
    const double value[] = {-1, 0, 0.5, 1, 1 + 1e-12, 7, NAN};
    for (int given = 0; given < 2; given++) {
        const figure_map map = {
            .rows = 1, .columns = 7, .value = value, .lo = given ? 0 : 5, .hi = given ? 1 : 5};
        figure *figure = opened(&(figure_options){.title = "t"});
        ck_szg_ok(szgi_figure_cells(test_context(), figure, &map));
        char *text = printed(&figure);
        holds(text, ">2 cells lie beyond the colours' ends", given);
        holds(text, "beyond the", given);
        free(text);
    }
}
END_TEST

/* The mean of all cells, each weighted by what it stands for, is the mean of all values. */
START_TEST(many_cells_are_merged_by_their_means) {
    const int64_t rows = 403, columns = 1210;
    double *value = new_numbers(rows * columns);
    for (int64_t i = 0; i < rows * columns; i++)
        value[i] = i / columns < 7 ? NAN : (double)(i % columns);
    const figure_map map = {.rows = rows,
                            .columns = columns,
                            .value = value,
                            .what = "v",
                            .diverging = true,
                            .middle = 600};
    figure *figure = opened(&(figure_options){.title = "t"});
    ck_szg_ok(szgi_figure_cells(test_context(), figure, &map));
    ck_assert(szgi_figure_marks(figure) > 1000 && szgi_figure_marks(figure) <= 4000);
    char *text = printed(&figure);
    holds(text, "values in a cell: their mean is drawn", true);
    int64_t seen = 0;
    for (const char *at = text; (at = strstr(at, "<title>row ")); at++) {
        long long r0, r1, c0, c1;
        double mean;
        if (sscanf(at, "<title>row %lld to %lld, column %lld to %lld\nv (mean): %lf", &r0, &r1, &c0,
                   &c1, &mean) != 5)
            continue;
        ck_assert(r0 <= r1 && r1 < rows && c0 <= c1 && c1 < columns);
        if (r1 < 7)
            ck_assert(isnan(mean));
        else
            ck_close(mean, (double)(c0 + c1) / 2, 1e-5 * 1210); /* six digits */
        seen++;
    }
    ck_assert_int_gt(seen, 1000);
    free(text);
    szgi_memory_free(value);
}
END_TEST

START_TEST(violins_show_every_value_and_the_median) {
    const double value[] = {3, 1, 2, 10, 4, 5, 6, 7, 8, 9};
    const char *const hover[] = {"h3", "h1", "h2", "h10", "h4", "h5", "h6", "h7", "h8", "h9"};
    const figure_style style = {.name = "s"};
    figure *figure = opened(&(figure_options){.title = "t"});
    ck_szg_ok(szgi_figure_violin(test_context(), figure, &style, 0, 1, 10, value, hover));
    /* Nine are too few for a density: points alone. */
    ck_szg_ok(szgi_figure_violin(test_context(), figure, &style, 1, 1, 9, value, NULL));
    ck_assert_int_eq(szgi_figure_marks(figure), 1 + 10 + 9);
    char *text = printed(&figure);
    holds(text, "median: 5.5<", true);
    for (int i = 0; i < 10; i++) {
        char words[32];
        snprintf(words, sizeof words, "<title>%s</title>", hover[i]);
        holds(text, words, true);
    }
    holds(text, "<title>s\nx: 1\ny: 3</title>", true); /* without jitter */
    free(text);
}
END_TEST

static szg_status draw_all(void) {
    const char *const names[] = {"a", "b"};
    const double x[] = {0, 1, 2, 4}, y[] = {1, 3, 2, 8};
    const figure_options options = {.title = "t", .x = {.label = "x", .names = names, .count = 2}};
    const figure_style style = {.name = "s", .colour = 0};
    const figure_map map = {.rows = 2,
                            .columns = 2,
                            .value = x,
                            .row_names = names,
                            .column_names = names,
                            .what = "v"};
    szg_context *context = test_context();
    figure *figure = NULL;
    SZG_TRY(szgi_figure_open(context, &options, &figure));
    szg_status status = szgi_figure_line(context, figure, &style, 4, x, y);
    if (status == SZG_OK)
        status = szgi_figure_points(context, figure, &style, 4, x, y,
                                    (const char *const[]){"1", "2", "3", "4"});
    if (status == SZG_OK)
        status = szgi_figure_band(context, figure, &style, 4, x, y, x);
    if (status == SZG_OK)
        status = szgi_figure_rule(context, figure, &style, false, 2);
    if (status == SZG_OK)
        status = szgi_figure_bars(context, figure, &style, 4, 1, x, y, x, NULL);
    if (status == SZG_OK)
        status = szgi_figure_violin(context, figure, &style, 1, 1, 2, y, names);
    if (status == SZG_OK)
        status = szgi_figure_cells(context, figure, &map);
    szgi_figure_close(&figure);
    return status;
}

START_TEST(failed_allocations_are_survived) {
    ck_survives_failed_allocations(40, draw_all());
}
END_TEST

static int64_t count_of(const char *text, const char *words) {
    int64_t count = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
        count++;
    return count;
}

/* Two lines of one name, the band of the second, another line: a number a series, which its entry
 * in the legend has too. */
START_TEST(series_have_numbers) {
    const figure_options options = {.title = "t"};
    const figure_style one = {.name = "one", .colour = 0}, two = {.name = "two", .colour = 1},
                       two_thin = {.name = "two", .colour = 1 + FIGURE_THIN},
                       beside = {.name = NULL, .colour = 1},
                       grey = {.name = NULL, .colour = FIGURE_MUTED};
    const double x[] = {0, 1, 2}, y[] = {1, 2, 3}, z[] = {2, 3, 4};
    szg_context *context = test_context();
    figure *figure = opened(&options);
    ck_szg_ok(szgi_figure_line(context, figure, &one, 3, x, y));
    ck_szg_ok(szgi_figure_line(context, figure, &one, 3, x, z));
    ck_szg_ok(szgi_figure_band(context, figure, &beside, 3, x, y, z));
    ck_szg_ok(szgi_figure_line(context, figure, &two, 3, x, y));
    ck_szg_ok(szgi_figure_line(context, figure, &two_thin, 3, x, z));
    ck_szg_ok(szgi_figure_rule(context, figure, &grey, false, 2));
    char *text = printed(&figure);
    ck_assert_int_eq(count_of(text, "class=\"line c0\" data-series=\"0\""), 2);
    ck_assert_int_eq(count_of(text, "class=\"area c1\" data-series=\"3\""), 1);
    ck_assert_int_eq(count_of(text, "class=\"line c1\" data-series=\"3\""), 1);
    ck_assert_int_eq(count_of(text, "class=\"line c1 thin\" data-series=\"4\""), 1);
    ck_assert_int_eq(count_of(text, "class=\"entry\" data-series=\"0\""), 1);
    ck_assert_int_eq(count_of(text, "class=\"entry\" data-series=\"3\""), 1);
    ck_assert_int_eq(count_of(text, "class=\"entry\" data-series=\"4\""), 1);
    ck_assert_int_eq(count_of(text, "data-series=\""), 5 + 3); /* the rule goes with none */
    free(text);
}
END_TEST

/* Marks that the legend does not list belong to its entry of their colour, "2 others". An entry
 * stands for a head where its whole series shows that one. */
START_TEST(entries_name_heads_of_whole_series) {
    const figure_options options = {.title = "t"};
    const figure_style one = {.name = "one", .colour = 0},
                       first = {.name = "head 5", .colour = FIGURE_MUTED, .entry = "2 others"},
                       second = {.name = "head 6", .colour = FIGURE_MUTED, .unlisted = true};
    const double x[] = {0, 1, 2}, y[] = {1, 2, 3};
    szg_context *context = test_context();
    figure *figure = opened(&options);
    szgi_figure_show_heads(figure, "0.5", NULL);
    ck_szg_ok(szgi_figure_line(context, figure, &first, 3, x, y));
    szgi_figure_show_heads(figure, "0.6", NULL);
    ck_szg_ok(szgi_figure_line(context, figure, &second, 3, x, y));
    szgi_figure_show_heads(figure, "0.7", NULL);
    ck_szg_ok(szgi_figure_line(context, figure, &one, 3, x, y));
    char *text = printed(&figure);
    holds(text, "class=\"entry\" data-series=\"0\" >", true);
    holds(text, "class=\"entry\" data-series=\"2\" data-head=\"0.7\" >", true);
    holds(text, "class=\"line muted\" data-series=\"0\" data-head=\"0.6\" >", true);
    free(text);
}
END_TEST

enum { HEADS = 6 };

/* Every kind of mark that shows heads: the figures' texts where `text` is not NULL. */
static szg_status draw_heads(char **text) {
    static const char *const each[HEADS] = {"0.0", "0.1", NULL, "1.0", "<b>", "1.2"};
    static const double x[HEADS] = {0, 1, 2, 3, 4, 5}, y[HEADS] = {1, 2, NAN, 4, 6, 5};
    const figure_options options = {.title = "t"};
    const figure_style style = {.name = "s", .colour = 0};
    szg_context *context = test_context();
    size_t size = 0;
    for (int kind = 0; kind < 5; kind++) {
        figure *figure;
        SZG_TRY(szgi_figure_open(context, &options, &figure));
        szgi_figure_show_heads(figure, kind == 0 ? "7.7" : NULL, kind == 0 ? NULL : each);
        szg_status status =
            kind == 0   ? szgi_figure_line(context, figure, &style, HEADS, x, y)
            : kind == 1 ? szgi_figure_points(context, figure, &style, HEADS, x, y, NULL)
            : kind == 2 ? szgi_figure_bars(context, figure, &style, HEADS, 1, x, y, NULL, NULL)
            : kind == 3 ? szgi_figure_violin(context, figure, &style, 0, 1, HEADS, y, NULL)
                        : szgi_figure_cells(context, figure,
                                            &(figure_map){.rows = 2, .columns = 3, .value = y});
        szgi_figure_show_heads(figure, NULL, NULL);
        if (status == SZG_OK && kind < 4)
            status = szgi_figure_line(context, figure, &(figure_style){.name = "last", .colour = 1},
                                      2, x, y);
        if (status != SZG_OK) {
            szgi_figure_close(&figure);
            return status;
        }
        if (text) {
            FILE *stream = open_memstream(&text[kind], &size);
            status = szgi_figure_print(context, figure, stream);
            fclose(stream);
        }
        szgi_figure_close(&figure);
        SZG_TRY(status);
    }
    return SZG_OK;
}

/* What one element says of its head is what the caller gave, though points are left out and a
 * violin sorts them. */
START_TEST(marks_name_their_heads) {
    char *text[5];
    ck_szg_ok(draw_heads(text));
    ck_assert_int_eq(count_of(text[0], " data-head=\"7.7\""), 2); /* the line, and the legend */
    ck_assert_int_eq(count_of(text[0], "data-head"), 2);          /* not the last line */
    for (int kind = 1; kind < 5; kind++) {
        svg_read(text[kind]);
        ck_assert_int_eq(count_of(text[kind], "data-head"), HEADS - 1);
        holds(text[kind], " data-head=\"&lt;b&gt;\"", true);
    }
    /* y = 5, the last value, is above 4, the third finite one, in the points and in the violin */
    static const char *const last[] = {"", "5\ny: 5</title>", "5\ny: 5</title>", "y: 5</title>",
                                       "value: 5</title>"};
    for (int kind = 1; kind < 5; kind++) {
        const char *mark = strstr(text[kind], "data-head=\"1.2\"");
        ck_assert_ptr_nonnull(mark);
        const char *title = strstr(mark, "</title>") + strlen("</title>");
        ck_assert_msg(strncmp(title - strlen(last[kind]), last[kind], strlen(last[kind])) == 0,
                      "%d: %.200s", kind, mark);
    }
    for (int kind = 0; kind < 5; kind++)
        free(text[kind]);
    ck_survives_failed_allocations(60, draw_heads(NULL));
}
END_TEST

TEST_FILE("figure") {
    test_add(suite, "series have numbers", series_have_numbers);
    test_add(suite, "entries name heads of whole series", entries_name_heads_of_whole_series);
    test_add(suite, "marks name their heads", marks_name_their_heads);
    test_add(suite, "random figures are well formed", random_figures_are_well_formed);
    test_add(suite, "empty figures say so", empty_figures_say_so);
    test_add(suite, "logarithms count what they leave out", logarithms_count_what_they_leave_out);
    test_add(suite, "lines are cut at the ends of axes", lines_are_cut_at_the_ends_of_axes);
    test_add(suite, "points stand where their values are", points_stand_where_their_values_are);
    test_add(suite, "a million points are a small picture", a_million_points_are_a_small_picture);
    test_add(suite, "of many points some answer", of_many_points_some_answer);
    test_add(suite, "of few points each answers", of_few_points_each_answers);
    test_add(suite, "ticks of whole numbers are whole", ticks_of_whole_numbers_are_whole);
    test_add(suite, "long labels of y have two lines", long_labels_of_y_have_two_lines);
    test_add(suite, "long titles have two lines", long_titles_have_two_lines);
    test_add(suite, "cells beyond the ends are counted", cells_beyond_the_ends_are_counted);
    test_add(suite, "long names are cut in the picture and whole in the legend",
             long_names_are_cut_in_the_picture_and_whole_in_the_legend);
    test_add(suite, "cells have their values", cells_have_their_values);
    test_add(suite, "many cells are merged by their means", many_cells_are_merged_by_their_means);
    test_add(suite, "violins show every value and the median",
             violins_show_every_value_and_the_median);
    test_add(suite, "failed allocations are survived", failed_allocations_are_survived);
}
