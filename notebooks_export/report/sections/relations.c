/* Whether one number of the runs goes with another one: the arms' means, and the runs within their
 * arms, with the correlation of either. All of it is exploratory. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "label.h"
#include "match.h"
#include "plot.h"

enum { NAME = 48, STATEMENT = 240 };

/* ---- A relation ---- */

/* The row of this kind, in the table of relations, for the row's result and relation; count 0: it
 * is not there. The index behind the rows must live. */
static rows relation_of(page *page, rows of, const char *kind, int64_t *place) {
    rows all = szgi_match_all(szgi_collection_find(szgi_page_results(page), "reproduce_relations"));
    static const char *const by[] = {"result", "relation"};
    for (int64_t i = 0; i < all.count; i++) {
        const char *own = szgi_rows_text(all, i, "kind");
        bool same = own && strcmp(own, kind) == 0;
        for (int b = 0; b < 2 && same; b++) {
            const char *a = szgi_rows_text(all, i, by[b]), *other = szgi_rows_text(of, 0, by[b]);
            same = a && other && strcmp(a, other) == 0;
        }
        *place = szgi_rows_at(all, i);
        if (same)
            return (rows){all.table, place, 1};
    }
    return (rows){0};
}

static bool has_means(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "x_mean")) &&
           isfinite(szgi_rows_real(of, index, "y_mean"));
}

static bool has_values(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "x_value")) &&
           isfinite(szgi_rows_real(of, index, "y_value"));
}

static bool is_captured(const char *measure) {
    return strcmp(measure, "contraction") == 0 || strncmp(measure, "curvature", 9) == 0;
}

/* ---- Words ---- */

static void say_number(words *words, const char *before, double value) {
    fputs(before, words->stream);
    szgi_plot_number(words, value);
}

/* "ratio of widths, layer 1, step 0" */
static void say_side(words *words, rows of, const char *side) {
    char layer[16], step[16];
    const char *measure = szgi_rows_text(of, 0, side);
    snprintf(layer, sizeof layer, "%s_layer", side);
    snprintf(step, sizeof step, "%s_step", side);
    szgi_words_clipped(words, measure ? szgi_label_words(measure) : NULL, NAME);
    if (isfinite(szgi_rows_real(of, 0, layer)))
        say_number(words, ", layer ", szgi_rows_real(of, 0, layer));
    if (isfinite(szgi_rows_real(of, 0, step)))
        say_number(words, ", step ", szgi_rows_real(of, 0, step));
    else if (measure && is_captured(measure))
        fputs(", mean of the early steps", words->stream);
}

static void say_x(words *words, const void *of) {
    say_side(words, *(const rows *)of, "x");
}

static void say_y(words *words, const void *of) {
    say_side(words, *(const rows *)of, "y");
}

static void say_sides(words *words, rows of) {
    szgi_words_clipped(words, szgi_rows_text(of, 0, "relation"), NAME);
    fputs(": ", words->stream);
    say_side(words, of, "y");
    fputs(" over ", words->stream);
    say_side(words, of, "x");
}

static void say_arm(words *words, rows of) {
    szgi_words_clipped(words, szgi_rows_text(of, 0, "arm"), NAME);
}

static void say_interval(words *words, rows of) {
    double low = szgi_rows_real(of, 0, "lo"), high = szgi_rows_real(of, 0, "hi");
    if (!isfinite(low) || !isfinite(high)) {
        fputs(", without an interval", words->stream);
        return;
    }
    say_number(words, ", 95% interval [", low);
    say_number(words, ", ", high);
    fputs(low <= 0 && high >= 0 ? "], which contains 0" : "], which does not contain 0",
          words->stream);
}

static void say_count(words *words, rows of, const char *column, const char *one,
                      const char *many) {
    double count = szgi_rows_real(of, 0, column);
    if (!(count > 0))
        return;
    fputs("; ", words->stream);
    szgi_plot_count(words, (int64_t)count, one, many);
}

/* "Exploratory. Between 8 arms the correlation is negative: -0.6, 95% interval [-0.9, 0.3], which
 * contains 0; 41 runs have not run." */
static void say_found(words *words, rows of) {
    const char *kind = szgi_rows_text(of, 0, "kind");
    double value = szgi_rows_real(of, 0, "correlation"), arms = szgi_rows_real(of, 0, "arms");
    fputs("Exploratory. ", words->stream);
    fputs(kind && strcmp(kind, "within") == 0 ? "Within " : "Between ", words->stream);
    szgi_plot_count(words, arms > 0 ? (int64_t)arms : 0, "arm", "arms");
    if (isfinite(value)) {
        fprintf(words->stream, " the correlation is %s: ",
                value < 0   ? "negative"
                : value > 0 ? "positive"
                            : "0");
        szgi_plot_number(words, value);
        say_interval(words, of);
    } else {
        fputs(" there is no correlation", words->stream);
    }
    say_count(words, of, "failed", "run lacks a number", "runs lack a number");
    say_count(words, of, "missing", "run is not finished", "runs are not finished");
    fputs(".", words->stream);
}

static void say_kind(words *words, const plot_figure *figure, const char *kind) {
    int64_t place;
    rows own = relation_of(figure->run->page, figure->of, kind, &place);
    if (own.count == 0) {
        fputs("The table of relations does not have this one.", words->stream);
        return;
    }
    szgi_words_clipped(words, szgi_rows_text(own, 0, "statement"), STATEMENT);
    fputs(" ", words->stream);
    say_found(words, own);
}

static void say_between(words *words, const plot_figure *figure) {
    say_kind(words, figure, "between");
}

static void say_within(words *words, const plot_figure *figure) {
    say_kind(words, figure, "within");
}

/* ---- Between arms ---- */

/* Ratios, eigenvalues and steps reach over powers of ten; shares do not. */
static plot_scale scale_of(rows of, const char *side) {
    const char *measure = szgi_rows_text(of, 0, side);
    return measure && (is_captured(measure) || strcmp(measure, "steps_to_half") == 0) ? PLOT_LOG
                                                                                      : PLOT_LINEAR;
}

/* The interval along x; that along y is the points' own. */
static void add_width(plot_figure *figure, const plot_series *arm) {
    int colour = arm->colour;
    rows of = arm->of;
    double y = arm->y[0], low = szgi_rows_real(of, 0, "x_lo"), high = szgi_rows_real(of, 0, "x_hi");
    plot_series *line =
        isfinite(low) && isfinite(high) ? szgi_plot_add(figure, figure->panel, of, 2) : NULL;
    if (!line)
        return;
    line->marks = PLOT_LINES;
    line->colour = colour + FIGURE_THIN;
    line->x[0] = low;
    line->x[1] = high;
    line->y[0] = line->y[1] = y;
}

static void prepare_means(plot_figure *figure) {
    int64_t arms = figure->panel->count;
    figure->x.label = szgi_plot_text(figure->run, say_x, &figure->of);
    figure->y.label = szgi_plot_text(figure->run, say_y, &figure->of);
    figure->x.scale = scale_of(figure->of, "x");
    figure->y.scale = scale_of(figure->of, "y");
    for (int64_t i = 0; i < arms; i++)
        add_width(figure, &figure->panel->series[i]);
}

static const plot means = {.tables = {"reproduce_relation_arms"},
                           .needs = {"x_mean", "y_mean"},
                           .undone = "the arms' means are not drawn",
                           .keeps = has_means,
                           .figure_by = {"result", "relation"},
                           .group_by = {"result", "relation"},
                           .series_by = {"arm"},
                           .marks = PLOT_POINTS,
                           .x = {.column = "x_mean"},
                           .y = {.column = "y_mean"},
                           .lo = "y_lo",
                           .hi = "y_hi",
                           .hover = {"runs", "x_mean", "y_mean", "note"},
                           .subject = say_sides,
                           .series_name = say_arm,
                           .prepare = prepare_means,
                           .title = "means of the arms, with 95% intervals",
                           .caption = say_between};

/* ---- Within arms ---- */

/* In units of the arm's standard deviation, from its mean; false: all are equal, but for rounding.
 */
static bool centre(int64_t count, double *value) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        mean += (value[i] - mean) / (double)(i + 1);
    for (int64_t i = 0; i < count; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    double spread = sqrt(squares / (double)(count - 1));
    for (int64_t i = 0; i < count; i++)
        value[i] = (value[i] - mean) / spread;
    return spread > 1e-6 * fabs(mean);
}

static void prepare_runs(plot_figure *figure) {
    for (int64_t i = 0; i < figure->panel->count; i++) {
        plot_series *arm = &figure->panel->series[i];
        if (!centre(arm->count, arm->x) || !centre(arm->count, arm->y))
            arm->count = 0;
    }
}

static const plot runs = {.tables = {"reproduce_relation_runs"},
                          .needs = {"x_value", "y_value"},
                          .undone = "the runs are not drawn",
                          .keeps = has_values,
                          .figure_by = {"result", "relation"},
                          .group_by = {"result", "relation"},
                          .series_by = {"arm"},
                          .marks = PLOT_POINTS,
                          .x = {.column = "x_value", .label = "x in its arm (deviations)"},
                          .y = {.column = "y_value", .label = "y in its arm (deviations)"},
                          .hover = {"seed", "x_value", "y_value"},
                          .subject = say_sides,
                          .series_name = say_arm,
                          .prepare = prepare_runs,
                          .title = "runs, in units of their arm's standard deviation",
                          .caption = say_within};

static const plot listed = {.tables = {"reproduce_relations"},
                            .marks = PLOT_ROWS,
                            .heading = "Every relation",
                            .shown = {"relation", "x", "x_layer", "x_step", "y", "y_layer",
                                      "y_step", "kind", "arms", "runs", "failed", "missing",
                                      "correlation", "lo", "hi"}};

/* ---- The section ---- */

static void say_alone(words *words, const void *of) {
    const rows *own = of;
    szgi_words_clipped(words, szgi_rows_text(*own, 0, "relation"), NAME);
    fputs(": ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(*own, 0, "statement"), STATEMENT);
    fputs(" ", words->stream);
    say_found(words, *own);
}

static bool is_between(rows of, int64_t index) {
    const char *kind = szgi_rows_text(of, index, "kind");
    return kind && strcmp(kind, "between") == 0;
}

/* A relation without any arm has no figure; its sentence stands alone. How many intervals leave 0
 * out is a finding. */
static void say_all(plot_run *run) {
    rows all =
        szgi_match_all(szgi_collection_find(szgi_page_results(run->page), "reproduce_relations"));
    int64_t known = 0, apart = 0;
    for (int64_t i = 0; i < all.count && run->status == SZG_OK; i++) {
        rows own = {all.table, &(const int64_t){szgi_rows_at(all, i)}, 1};
        double low = szgi_rows_real(all, i, "lo"), high = szgi_rows_real(all, i, "hi");
        known += isfinite(low) && isfinite(high);
        apart += low > 0 || high < 0;
        if (is_between(all, i) && !(szgi_rows_real(all, i, "arms") > 0))
            szgi_page_paragraph(run->page, "%s", szgi_plot_text(run, say_alone, &own));
    }
    if (run->status == SZG_OK && all.count > 0)
        szgi_page_finding(run->page, NULL,
                          "Relations, exploratory: of %" PRId64 " correlations %" PRId64
                          " have an interval, and %" PRId64 " of these do not contain 0.",
                          all.count, known, apart);
}

static const plot *const figures[] = {&means, &runs, NULL};
static const plot *const others[] = {&listed, NULL};

static szg_status draw(page *page, const section *section) {
    plot_run run;
    szgi_plot_begin(&run, page, section);
    szgi_plot_all(&run, figures);
    say_all(&run);
    szgi_plot_all(&run, others);
    return szgi_plot_end(&run);
}

const section szgi_section_relations = {
    .id = "relations",
    .title = "Relations, exploratory",
    .tables = {"reproduce_relations", "reproduce_relation_arms"},
    .intro =
        "Does one number of the runs go with another one? Nothing here is decided, and a "
        "correlation names no cause. Between arms: Spearman's of the arms' means, whose interval "
        "is that of Fisher's z with the number of arms. Within arms: Pearson's of the runs, each "
        "number centred in its arm and divided by the arm's standard deviation. An arm of which "
        "a number does not vary is left out. That interval leaves out a seed at a time, as "
        "runs of one seed are not independent.",
    .figures = 16,
    .run = draw};
