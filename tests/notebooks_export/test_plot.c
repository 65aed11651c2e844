/* The engine behind the sections: records of the test's own, drawn from tables of the test's own.
 */
#include <math.h>

#include "base/memory.h"

#include "choose.h"
#include "colour.h"
#include "label.h"
#include "page_private.h"
#include "plot.h"

#include "sections_csv.h"

/* ---- A page of one section ---- */

static char *printed_page; /* of the last draw; free */
static char found[4096];   /* what it has found */

static szg_status draw(const section *section) {
    page page = {.context = test_context(), .section = section->id, .title = section->title};
    szg_collection *collection = NULL;
    size_t size;
    free(printed_page);
    printed_page = NULL;
    szg_status status = szg_collection_open(test_context(), folder, &collection);
    if (status != SZG_OK)
        return status;
    page.results = collection;
    page.stream = open_memstream(&printed_page, &size);
    status = section->run(&page, section);
    fclose(page.stream);
    if (page.findings.stream)
        status = szgi_text_end(&page.findings, status);
    snprintf(found, sizeof found, "%s", page.findings.text ? page.findings.text : "");
    szgi_text_close(&page.findings);
    szgi_text_close(&page.contents);
    for (int64_t i = 0; i < page.count; i++)
        szgi_memory_free(page.embedded[i].bytes);
    szgi_memory_free(page.embedded);
    szg_collection_close(&collection);
    return status == SZG_OK ? page.status : status;
}

static void say_source(words *words, rows of) {
    szgi_words_clipped(words, szgi_rows_text(of, 0, "source"), 40);
}

#define RECORDS(...)                                                                               \
    (const struct section) {                                                                       \
        .id = "t", .title = "T", .plots = (const plot *const[]){__VA_ARGS__, NULL},                \
        .run = szgi_plot_section                                                                   \
    }

/* Three sources of four, one and two layers, with three heads of two values each. */
static void write_layers(void) {
    static const struct {
        const char *source;
        int layers;
    } of[] = {{"a", 4}, {"b", 1}, {"c", 2}};
    csv_text csv;
    begin_folder();
    begin_csv(&csv, "source:t,layer:i,head:i,x:i,y:r,kind:t,note:t");
    for (int s = 0; s < 3; s++)
        for (int layer = 0; layer < of[s].layers; layer++)
            for (int head = 0; head < 3; head++)
                for (int x = 0; x < 2; x++)
                    fprintf(csv.stream, "%s,%d,%d,%d,%d,%s,\n", of[s].source, layer, head, x,
                            1 + s + 10 * layer + head + x, head ? "further" : "first");
    write_csv("one", "test", "values", end_csv(&csv), NULL, NULL);
    free(csv.text);
}

static void end_draw(void) {
    end_folder();
    free(printed_page);
    printed_page = NULL;
}

/* ---- Which figures ---- */

#define BY_LAYER                                                                                   \
    .tables = {"test_values"}, .needs = {"y"}, .undone = "nothing is drawn",                       \
    .figure_by = {"source", "layer"}, .group_by = {"source"}, .series_by = {"head"},               \
    .x = {.column = "x"}, .y = {.column = "y"}, .subject = say_source, .title = "y by x"

START_TEST(every_group_has_a_figure_before_any_has_a_second) {
    static const plot one = {BY_LAYER};
    section section = RECORDS(&one);
    section.figures = 4;
    write_layers();
    ck_szg_ok(draw(&section));
    /* One each, and one more goes round: to the first that has another. */
    ck_assert_int_eq(occurrences(printed_page, "<figure id="), 4);
    ck_assert_int_eq(occurrences(printed_page, "<title>a: y by x"), 2);
    ck_assert_int_eq(occurrences(printed_page, "<title>b: y by x"), 1);
    ck_assert_int_eq(occurrences(printed_page, "<title>c: y by x"), 1);
    ck_has(printed_page, "Left out: 3 figures more (a; c).");
    end_draw();
}
END_TEST

static bool is_second(rows of) {
    const char *source = szgi_rows_text(of, 0, "source");
    return strcmp(source, "b") == 0;
}

static bool is_even(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return fmod(szgi_rows_real(of, index, "layer"), 2) == 0;
}

START_TEST(rows_are_kept_and_figures_skipped) {
    static const plot one = {BY_LAYER, .where = {"kind", "first"}, .keeps = is_even,
                             .skips = is_second, .skipped = "it is the second"};
    const section section = RECORDS(&one);
    write_layers();
    ck_szg_ok(draw(&section));
    /* a: layers 0 and 2, c: layer 0; one head of three. */
    ck_assert_int_eq(occurrences(printed_page, "<figure id="), 3);
    ck_assert_int_eq(occurrences(printed_page, "CSV: 2 rows of test_values"), 3);
    ck_has(printed_page, "Not drawn, because it is the second: b.");
    end_draw();
}
END_TEST

START_TEST(what_is_needed_is_said_once) {
    static const plot one = {BY_LAYER},
                      text = {.tables = {"test_values"},
                              .needs = {"kind"},
                              .undone = "kinds are no numbers",
                              .y = {.column = "kind"}},
                      absent = {.tables = {"test_values"}, .needs = {"z"}, .y = {.column = "z"}},
                      elsewhere = {.tables = {"test_other"}, .y = {.column = "y"}};
    const section section = RECORDS(&text, &absent, &elsewhere, &one);
    write_layers();
    ck_szg_ok(draw(&section));
    ck_has(printed_page,
           "The table test_values has no column of numbers kind: kinds are no numbers.");
    ck_lacks(printed_page, "numbers z");
    ck_assert_int_eq(occurrences(printed_page, "<figure id="), 7);
    end_draw();
}
END_TEST

/* ---- What is drawn ---- */

START_TEST(panels_share_axes_and_a_caption) {
    static const plot one = {.tables = {"test_values"},
                             .figure_by = {"source"},
                             .panel_by = {"layer"},
                             .series_by = {"head"},
                             .x = {.column = "x"},
                             .y = {.column = "y"},
                             .subject = say_source,
                             .title = "y by x",
                             .rules = {{"limit", .at = -3}}};
    const section section = RECORDS(&one);
    write_layers();
    ck_szg_ok(draw(&section));
    ck_assert_int_eq(occurrences(printed_page, "<figure id="), 3);
    ck_assert_int_eq(occurrences(printed_page, "<svg class=\"figure\""), 4 + 1 + 2);
    ck_has(printed_page, "<p class=\"heading\">a: y by x</p>");
    /* a: three lines and the rule in each of four panels; b: in its only one. The values begin at
     * 1: shared and own axes reach down to the rule. */
    ck_has(printed_page, "<figure id=\"t-1\" data-marks=\"16\" class=\"multiples\">");
    ck_has(printed_page, "<figure id=\"t-2\" data-marks=\"4\">");
    /* The greatest of 1 + s + 10 layer + head + x. */
    ck_has(printed_page, "Greatest value 34, in layer 3, head 2; the least maximum is 2, in layer "
                         "0, head 0.");
    end_draw();
}
END_TEST

/* Heads of one peak and, where asked for, one far from them. */
static void write_heads(int heads, double far) {
    csv_text csv;
    begin_folder();
    begin_csv(&csv, "head:i,x:i,y:r,note:t");
    for (int head = 0; head < heads; head++)
        for (int x = 0; x < 3; x++)
            fprintf(csv.stream, "%d,%d,%.17g,\n", head, x,
                    head == 2 ? far * (1 + x) : (1 + 0.01 * head) * (1 + x));
    write_csv("one", "test", "values", end_csv(&csv), NULL, NULL);
    free(csv.text);
}

/* The house's own words have formulas; a name that looks like one is a name, in a caption too. */
START_TEST(formulas_are_set_and_names_are_not) {
    static const plot one = {.tables = {"test_named"},
                             .series_by = {"source"},
                             .x = {.column = "x"},
                             .y = {.column = "y"},
                             .title = "y by x",
                             .remark = "At `x_t`."};
    section section = RECORDS(&one);
    section.intro = "The angles `theta_t` & others.";
    begin_folder();
    write_csv("one", "test", "named", "source:t,x:i,y:r\n`a_b`,0,1\n`c_d`,0,2\n", NULL, NULL);
    ck_szg_ok(draw(&section));
    ck_has(printed_page, "<p>The angles <math");
    ck_has(printed_page, "<mi>θ</mi><mrow><mi>t</mi></mrow></msub></math> &amp; others.</p>");
    ck_has(printed_page, "2, in `c_d`; the least maximum is 1, in `a_b`. At <math");
    ck_assert_int_eq(occurrences(printed_page, "<math"), 2);
    end_draw();
}
END_TEST

START_TEST(what_stands_out_is_coloured_and_named) {
    static const plot one = {.tables = {"test_values"},
                             .series_by = {"head"},
                             .outliers = true,
                             .x = {.column = "x"},
                             .y = {.column = "y"},
                             .title = "heads"};
    const section section = RECORDS(&one);
    write_heads(12, 40);
    ck_szg_ok(draw(&section));
    /* The lines, and one entry of the legend each. */
    ck_assert_int_eq(occurrences(printed_page, "class=\"line muted\""), 11 + 1);
    ck_assert_int_eq(occurrences(printed_page, "class=\"line c0\""), 1 + 1);
    ck_has(printed_page, ">11 others<title>11 others</title>");
    ck_has(printed_page, ">head 2<title>head 2</title>");
    end_folder();
    write_heads(4, 40); /* few are told apart by their colours */
    ck_szg_ok(draw(&section));
    ck_assert_int_eq(occurrences(printed_page, "muted"), 0);
    end_draw();
}
END_TEST

START_TEST(intervals_lie_at_the_places_of_texts) {
    static const plot one = {.tables = {"test_ranges"},
                             .marks = PLOT_RANGES,
                             .x = {.label = "eigenvalue", .scale = PLOT_CHOSEN},
                             .y = {.column = "source"},
                             .lo = "lo",
                             .hi = "hi",
                             .hover = {"lo", "hi"},
                             .title = "ranges"};
    const section section = RECORDS(&one);
    begin_folder();
    write_csv("one", "test", "ranges",
              "source:t,lo:r,hi:r,note:t\nrope,-1,1,\nalibi,-5000,0,\nt5,-2,3,\nnope,0,,\n", NULL,
              NULL);
    ck_szg_ok(draw(&section));
    /* Three have both ends; the fourth is told. */
    ck_has(printed_page, "<figure id=\"t-1\" data-marks=\"3\">");
    ck_has(printed_page, "1 value is not finite");
    ck_has(printed_page, "<title>lo: -5000\nhi: 0</title>");
    for (const char *const *name = (const char *const[]){">rope<", ">alibi<", ">t5<", NULL}; *name;
         name++)
        ck_has(printed_page, *name);
    /* Logarithmic on both sides of 0: both signs, and a median size of 2.5. */
    ck_has(printed_page, ">-1000<");
    ck_has(printed_page, ">-10<");
    end_draw();
}
END_TEST

/* ---- What records say further ---- */

START_TEST(a_record_may_skip_without_a_word) {
    static const plot one = {BY_LAYER, .skips = is_second};
    const section section = RECORDS(&one);
    write_layers();
    ck_szg_ok(draw(&section));
    ck_assert_int_eq(occurrences(printed_page, "<figure id="), 4 + 2);
    ck_lacks(printed_page, "Not drawn");
    end_draw();
}
END_TEST

START_TEST(the_last_rows_of_a_figure_alone) {
    static const plot one = {.tables = {"test_values"},
                             .figure_by = {"source"},
                             .last = "layer",
                             .series_by = {"head"},
                             .x = {.column = "x"},
                             .y = {.column = "y"},
                             .subject = say_source,
                             .title = "y by x"},
                      none = {.tables = {"test_values"},
                              .last = "z",
                              .marks = PLOT_POINTS,
                              .x = {.column = "x"},
                              .y = {.column = "y"}};
    const section section = RECORDS(&one, &none);
    write_layers();
    ck_szg_ok(draw(&section));
    /* Three heads of two values, of each source's last layer; 7 layers of a column that no row
     * has. */
    ck_assert_int_eq(occurrences(printed_page, "CSV: 6 rows of test_values"), 3);
    ck_has(printed_page, "CSV: 42 rows of test_values");
    ck_has(printed_page, "Greatest value 34, in head 2; the least maximum is 32, in head 0.");
    end_draw();
}
END_TEST

START_TEST(an_axis_has_another_column_for_a_single_value) {
    static const plot one = {.tables = {"test_values"},
                             .figure_by = {"source"},
                             .values = PLOT_MEANS,
                             .x = {.column = "layer", .otherwise = "head"},
                             .y = {.column = "y"},
                             .subject = say_source,
                             .title = "means"};
    const section section = RECORDS(&one);
    write_layers();
    ck_szg_ok(draw(&section));
    ck_has(printed_page, "y over layer; ");
    ck_assert_int_eq(occurrences(printed_page, "y over layer; "), 2);
    ck_assert_int_eq(occurrences(printed_page, "y over head; "), 1); /* b has one layer */
    end_draw();
}
END_TEST

START_TEST(columns_are_series_of_the_rows_that_have_them) {
    static const plot one = {.tables = {"test_values"},
                             .marks = PLOT_POINTS,
                             .x = {.column = "name"},
                             .y = {.label = "y", .times = 100},
                             .columns = {{"here", .spread = "spread", .seeds = "runs"},
                                         {"paper", "theirs"},
                                         {"nowhere", "elsewhere"},
                                         {"empty", "none"}},
                             .title = "columns"};
    const section section = RECORDS(&one);
    begin_folder();
    write_csv("one", "test", "values",
              "name:t,here:r,spread:r,runs:i,paper:r,empty:r,note:t\n"
              "a,0.5,0.1,3,0.75,,\nb,0.25,0.2,1,,,\nc,,,0,0.5,,\n",
              NULL, NULL);
    ck_szg_ok(draw(&section));
    /* Two points here, one whisker (b has a single run), two of theirs. */
    ck_has(printed_page, "<figure id=\"t-1\" data-marks=\"5\">");
    ck_lacks(printed_page, "not finite");
    ck_has(printed_page, "<title>theirs\nname: a\ny: 75</title>");
    ck_has(printed_page, "<title>here\nname: b\ny: 25</title>");
    ck_lacks(printed_page, "none<");
    ck_lacks(printed_page, "elsewhere");
    end_draw();
}
END_TEST

/* From and to of the first bar of a series. */
static void find_bar(const char *series, double *from, double *to) {
    const char *group = strstr(printed_page, series), *path = group ? strstr(group, "d=\"M") : NULL;
    ck_assert_msg(path, "no bars %s", series);
    ck_assert_int_eq(sscanf(path, "d=\"M%lf %*fV%*fH%lf", from, to), 2);
}

START_TEST(bars_of_several_columns_lie_beside_each_other) {
    static const plot one = {.tables = {"test_values"},
                             .marks = PLOT_BARS,
                             .x = {.column = "name"},
                             .y = {.label = "y"},
                             .columns = {{"here"}, {"paper"}},
                             .title = "columns"};
    const section section = RECORDS(&one);
    double from[2], to[2];
    begin_folder();
    write_csv("one", "test", "values", "name:t,here:r,paper:r,note:t\na,0.5,1,\nb,1,2,\n", NULL,
              NULL);
    ck_szg_ok(draw(&section));
    find_bar("<g class=\"bars c0", &from[0], &to[0]);
    find_bar("<g class=\"bars c1", &from[1], &to[1]);
    ck_assert(from[0] < to[0] && to[0] < from[1] && from[1] < to[1]);
    end_draw();
}
END_TEST

/* The colour of a cell, by the value that its text tells. */
static unsigned colour_of_cell(const char *value) {
    const char *title = strstr(printed_page, value), *fill = NULL;
    ck_assert_msg(title, "no cell %s", value);
    for (const char *at = printed_page;
         (at = strstr(at, "<path class=\"mark\" fill=\"#")) && at < title; at++)
        fill = at;
    ck_assert_ptr_nonnull(fill);
    return (unsigned)strtoul(strchr(fill, '#') + 1, NULL, 16);
}

START_TEST(cells_have_two_hues_that_meet_in_the_middle) {
    static const plot one = {.tables = {"test_values"},
                             .marks = PLOT_CELLS,
                             .x = {.column = "head"},
                             .y = {.column = "layer"},
                             .value = "y",
                             .middle = 1,
                             .title = "ratios"};
    const section section = RECORDS(&one);
    begin_folder();
    write_csv("one", "test", "values",
              "layer:i,head:i,y:r,note:t\n0,0,0.25,\n0,1,1,\n0,2,4,\n0,3,0.5,\n0,4,2,\n", NULL,
              NULL);
    ck_szg_ok(draw(&section));
    ck_assert_uint_eq(colour_of_cell(": 0.25</title>"), szgi_colour_diverging(0));
    ck_assert_uint_eq(colour_of_cell(": 1</title>"), szgi_colour_diverging(0.5));
    ck_assert_uint_eq(colour_of_cell(": 4</title>"), szgi_colour_diverging(1));
    ck_lacks(printed_page, "beyond the colours");
    /* Halfway in the logarithm. */
    ck_assert_uint_eq(colour_of_cell(": 0.5</title>"), szgi_colour_diverging(0.25));
    ck_assert_uint_eq(colour_of_cell(": 2</title>"), szgi_colour_diverging(0.75));
    end_draw();
}
END_TEST

START_TEST(a_rule_may_be_a_sum_of_means) {
    static const plot one = {.tables = {"test_values"},
                             .marks = PLOT_VIOLINS,
                             .x = {.column = "layer", .places = true},
                             .y = {.column = "y"},
                             .rules = {{"whole", .column = "y", .plus = "drop"}},
                             .title = "values"};
    const section section = RECORDS(&one);
    begin_folder();
    write_csv("one", "test", "values",
              "layer:i,head:i,y:r,drop:r,note:t\n0,0,0.25,0.5,\n0,1,0.5,0.25,\n1,3,1,-0.25,\n",
              NULL, NULL);
    ck_szg_ok(draw(&section));
    ck_has(printed_page, "whole: 0.75<");
    ck_has(printed_page, "data-head=\"1.3\""); /* each value is a head */
    end_draw();
}
END_TEST

static void say_found(words *words, const plot_figure *figure) {
    fprintf(words->stream, "%" PRId64 " panels", figure->panels);
    szgi_plot_say_outliers(words, figure);
}

static void find_once(const plot_figure *figure) {
    szgi_plot_find(figure, say_found);
    szgi_plot_find(figure, say_found);
}

START_TEST(a_section_finds_once_and_names_heads) {
    static const plot one = {.tables = {"test_values"},
                             .figure_by = {"x"},
                             .panel_by = {"layer"},
                             .series_by = {"head"},
                             .outliers = true,
                             .by_last = true,
                             .x = {.column = "place"},
                             .y = {.column = "y"},
                             .title = "heads",
                             .finding = find_once};
    const section section = RECORDS(&one);
    csv_text csv;
    begin_folder();
    begin_csv(&csv, "layer:i,head:i,place:i,x:i,y:r,note:t");
    /* Head 5 of layer 1 begins as the others and ends low; head 2 is high before that. */
    for (int x = 0; x < 2; x++)
        for (int layer = 0; layer < 2; layer++)
            for (int head = 0; head < 8; head++)
                for (int place = 0; place < 2; place++)
                    fprintf(csv.stream, "%d,%d,%d,%d,%g,\n", layer, head, place, x,
                            head == 2 && place == 0                 ? 90.0
                            : layer == 1 && head == 5 && place == 1 ? -70.0
                                                                    : 1 + 0.1 * head);
    write_csv("one", "test", "values", end_csv(&csv), NULL, NULL);
    free(csv.text);
    ck_szg_ok(draw(&section));
    ck_assert_int_eq(occurrences(printed_page, "<figure id="), 2);
    ck_assert_int_eq(occurrences(found, "<li"), 1);
    ck_has(found, "2 panels; heads that stand out: 1.5");
    end_draw();
}
END_TEST

static szg_status draw_everything(void) {
    static const plot lines = {BY_LAYER, .outliers = true, .hover = {"head"}},
                      panels = {.tables = {"test_values"},
                                .panel_by = {"layer"},
                                .series_by = {"head"},
                                .values = PLOT_MEANS,
                                .x = {.column = "x"},
                                .y = {.column = "y", .scale = PLOT_CHOSEN}},
                      cells = {.tables = {"test_values"},
                               .marks = PLOT_CELLS,
                               .x = {.column = "head"},
                               .y = {.column = "layer"},
                               .value = "y",
                               .colours = PLOT_CHOSEN},
                      violins = {.tables = {"test_values"},
                                 .marks = PLOT_VIOLINS,
                                 .x = {.column = "layer", .places = true},
                                 .y = {.column = "y"},
                                 .hover = {"head"}},
                      bars = {.tables = {"test_values"},
                              .where = {"kind", "first"},
                              .marks = PLOT_BARS,
                              .series_by = {"layer"},
                              .x = {.column = "source"},
                              .y = {.column = "y"}},
                      ranked = {.tables = {"test_values"},
                                .values = PLOT_RANKED,
                                .x = {.label = "place"},
                                .y = {.column = "y"}},
                      listed = {.tables = {"test_values"},
                                .marks = PLOT_ROWS,
                                .shown = {"source", "y"}},
                      columns = {.tables = {"test_values"},
                                 .last = "layer",
                                 .x = {.column = "x"},
                                 .columns = {{"y", "first"}, {"layer"}},
                                 .middle = 1,
                                 .finding = find_once};
    section section = RECORDS(&lines, &panels, &cells, &violins, &bars, &ranked, &listed, &columns);
    section.figures = 13;
    section.intro = "All marks.";
    return draw(&section);
}

/* Alone, so that each of its allocations is refused once: what is read after a name that could not
 * be made is given back too (a sanitizer sees it). */
static szg_status draw_means(void) {
    static const plot means = {.tables = {"test_values"},
                               .series_by = {"layer"},
                               .values = PLOT_MEANS,
                               .x = {.column = "x"},
                               .y = {.column = "y"}};
    const section section = RECORDS(&means);
    return draw(&section);
}

START_TEST(refused_memory_is_survived) {
    write_layers();
    ck_survives_failed_allocations(20, draw_means());
    ck_survives_failed_allocations(100, draw_everything());
    /* Lines of seven layers, and one figure of each other record but the table. */
    ck_assert_int_eq(occurrences(printed_page, "<figure id="), 7 + 6);
    end_draw();
}
END_TEST

/* ---- What is taken from the data ---- */

static chosen_scale chosen(int64_t count, const double *value) {
    chosen_scale out;
    ck_szg_ok(szgi_choose_scale(test_context(), count, value, &out));
    return out;
}

START_TEST(scales_are_chosen_by_the_data) {
    const double even[] = {1, 2, 3, -100, NAN}, high[] = {1, 2, 3, 201, INFINITY},
                 edge[] = {1, 2, 3, 200}, both[] = {-1, 20, 30, 1e6}, zero[] = {0, 2, 3, 1e6},
                 none[] = {NAN, 0};
    ck_assert(!chosen(5, even).logarithmic && chosen(5, even).linear == 0);
    /* The median of 1, 2, 3, 201 is 2.5: beyond 250 it is much. */
    ck_assert(!chosen(5, high).logarithmic);
    const double higher[] = {1, 2, 3, 251};
    ck_assert(chosen(4, higher).logarithmic && chosen(4, higher).linear == 0);
    ck_assert(!chosen(4, edge).logarithmic);
    ck_assert(!chosen(4, both).logarithmic && chosen(4, both).linear == 10); /* median 25 */
    ck_assert(!chosen(4, zero).logarithmic && chosen(4, zero).linear == 1);  /* median 3 */
    ck_assert(!chosen(2, none).logarithmic && chosen(2, none).linear == 0);
    ck_assert(!chosen(0, NULL).logarithmic);
}
END_TEST

START_TEST(outliers_are_far_from_the_median) {
    int rank[8];
    /* Median 4, distances 3 2 1 0 1 2 96 and NAN; their median is 2: 3.5 is 10.4 from the median.
     */
    const double value[] = {1, 2, 3, 4, 5, 6, 100, NAN};
    ck_szg_ok(szgi_choose_outliers(test_context(), 8, value, 4, rank));
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(rank[i], i == 6 ? 0 : -1);
    const double two[] = {-90, 2, 3, 4, 5, 6, 7, 100}; /* both are far; 4.5 is the median */
    ck_szg_ok(szgi_choose_outliers(test_context(), 8, two, 4, rank));
    ck_assert(rank[7] == 0 || rank[0] == 0);
    ck_assert_int_eq(rank[0] + rank[7], 1);
    ck_szg_ok(szgi_choose_outliers(test_context(), 8, two, 1, rank));
    ck_assert_int_eq(rank[7], 0); /* 95.5 is farther than 94.5 */
    ck_assert_int_eq(rank[0], -1);
    ck_szg_ok(szgi_choose_outliers(test_context(), 4, value + 3, 4, rank)); /* few */
    ck_assert_int_eq(rank[3], -1);
    const double equal[] = {1, 1, 1, 1, 1, 1, 1, 2}; /* the MAD is 0 */
    ck_szg_ok(szgi_choose_outliers(test_context(), 8, equal, 4, rank));
    ck_assert_int_eq(rank[7], 0);
    ck_assert_int_eq(rank[0], -1);
}
END_TEST

START_TEST(labels_are_in_order_and_found) {
    char text[LABEL_TEXT];
    for (size_t i = 1; i < szgi_label_count; i++)
        ck_assert_int_lt(strcmp(szgi_label_table[i - 1].column, szgi_label_table[i].column), 0);
    ck_assert_str_eq(szgi_label_words("sigma_max"), "largest singular value");
    ck_assert_str_eq(szgi_label_words("no_such_column"), "no_such_column");
    ck_assert_str_eq(szgi_label_axis("loss", text), "cross-entropy (nats)");
    ck_assert_str_eq(szgi_label_axis("head", text), "head");
}
END_TEST

TEST_FILE("plot") {
    test_add(suite, "every group has a figure before any has a second",
             every_group_has_a_figure_before_any_has_a_second);
    test_add(suite, "rows are kept and figures skipped", rows_are_kept_and_figures_skipped);
    test_add(suite, "what is needed is said once", what_is_needed_is_said_once);
    test_add(suite, "panels share axes and a caption", panels_share_axes_and_a_caption);
    test_add(suite, "formulas are set and names are not", formulas_are_set_and_names_are_not);
    test_add(suite, "what stands out is coloured and named", what_stands_out_is_coloured_and_named);
    test_add(suite, "intervals lie at the places of texts", intervals_lie_at_the_places_of_texts);
    test_add(suite, "a record may skip without a word", a_record_may_skip_without_a_word);
    test_add(suite, "the last rows of a figure alone", the_last_rows_of_a_figure_alone);
    test_add(suite, "an axis has another column for a single value",
             an_axis_has_another_column_for_a_single_value);
    test_add(suite, "columns are series of the rows that have them",
             columns_are_series_of_the_rows_that_have_them);
    test_add(suite, "bars of several columns lie beside each other",
             bars_of_several_columns_lie_beside_each_other);
    test_add(suite, "cells have two hues that meet in the middle",
             cells_have_two_hues_that_meet_in_the_middle);
    test_add(suite, "a rule may be a sum of means", a_rule_may_be_a_sum_of_means);
    test_add(suite, "a section finds once and names heads", a_section_finds_once_and_names_heads);
    test_add(suite, "refused memory is survived", refused_memory_is_survived);
    test_add(suite, "scales are chosen by the data", scales_are_chosen_by_the_data);
    test_add(suite, "outliers are far from the median", outliers_are_far_from_the_median);
    test_add(suite, "labels are in order and found", labels_are_in_order_and_found);
}
