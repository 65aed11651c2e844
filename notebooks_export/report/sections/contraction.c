/* Logits with their encoding against those without it: training runs, saved models, files, and
 * reports of one encoding. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "label.h"
#include "match.h"
#include "plot.h"

#define TABLES                                                                                     \
    {                                                                                              \
        "train_contraction", "reproduce_contraction", "capture_contraction", "logits_contraction", \
            "spectrum_contraction"                                                                 \
    }

enum { NAME = 48 };

/* ---- Which rows ---- */

static bool has_head(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "layer")) &&
           isfinite(szgi_rows_real(of, index, "head"));
}

static bool has_no_head(const plot_run *run, rows of, int64_t index) {
    return !has_head(run, of, index);
}

/* Rounding of logits in single precision, many times over. */
static bool is_one(double ratio) {
    return fabs(ratio - 1) <= 1e-6;
}

static bool is_unchanged(rows of) {
    static const char *const ratios[] = {"width_ratio", "norm_ratio", "nuclear_ratio"};
    bool any = false;
    for (int r = 0; r < 3; r++)
        for (int64_t i = 0; i < of.count; i++) {
            double ratio = szgi_rows_real(of, i, ratios[r]);
            if (!isnan(ratio) && !is_one(ratio))
                return false;
            any |= !isnan(ratio);
        }
    return any;
}

/* One step is no course. */
static bool is_short(rows of) {
    double first = NAN;
    for (int64_t i = 0; i < of.count; i++) {
        double step = szgi_rows_real(of, i, "step");
        if (isfinite(first) && isfinite(step) && step != first)
            return is_unchanged(of);
        first = isfinite(first) ? first : step;
    }
    return true;
}

/* ---- What of ---- */

/* "rope, count (text), seed 0, in rep" */
static void say_run(words *words, rows of) {
    double seed = szgi_rows_real(of, 0, "seed");
    const char *result = szgi_rows_text(of, 0, "result");
    szgi_words_run(words, of);
    if (isfinite(seed)) {
        fputs(", seed ", words->stream);
        szgi_plot_number(words, seed);
    }
    if (result && strcmp(result, ".") != 0) {
        fputs(", in ", words->stream);
        szgi_words_clipped(words, result, NAME);
    }
}

/* ---- What is seen ---- */

typedef struct counted {
    int64_t below, known;
    double least, greatest;
} counted;

static void count_ratio(double ratio, counted *all) {
    if (!isfinite(ratio))
        return;
    all->below += ratio < 1 && !is_one(ratio);
    all->least = all->known ? fmin(all->least, ratio) : ratio;
    all->greatest = all->known ? fmax(all->greatest, ratio) : ratio;
    all->known++;
}

/* Of the heads' lines, where they have a point at the step. */
static counted count_step(const plot_figure *figure, double step) {
    counted all = {0};
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t s = 0; s < figure->panel[p].count; s++) {
            const plot_series *line = &figure->panel[p].series[s];
            for (int64_t i = 0; i < line->count; i++)
                if (line->x[i] == step)
                    count_ratio(line->y[i], &all);
        }
    return all;
}

/* The least or the greatest x of the figure. */
static double end_of(const plot_figure *figure, bool last) {
    double end = NAN;
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t s = 0; s < figure->panel[p].count; s++) {
            const plot_series *line = &figure->panel[p].series[s];
            if (line->count > 0)
                end = last ? fmax(end, line->x[line->count - 1]) : fmin(end, line->x[0]);
        }
    return end;
}

/* "3 of 8 heads (0.7 to 1.2)" */
static void say_counted(words *words, const counted *all) {
    fprintf(words->stream, "%" PRId64 " of ", all->below);
    szgi_plot_count(words, all->known, "head", "heads");
    if (all->known == 0)
        return;
    fputs(" (", words->stream);
    szgi_plot_number(words, all->least);
    fputs(" to ", words->stream);
    szgi_plot_number(words, all->greatest);
    fputs(")", words->stream);
}

static void say_steps(words *words, const plot_figure *figure) {
    double first = end_of(figure, false), last = end_of(figure, true);
    counted before = count_step(figure, first), after = count_step(figure, last);
    fputs("The encoding narrows ", words->stream);
    say_counted(words, &after);
    fputs(" at step ", words->stream);
    szgi_plot_number(words, last);
    fprintf(words->stream, ", %" PRId64, before.below);
    if (before.known != after.known)
        fprintf(words->stream, " of %" PRId64, before.known);
    fputs(" at step ", words->stream);
    szgi_plot_number(words, first);
    szgi_plot_say_outliers(words, figure);
    fputs(".", words->stream);
}

static void say_cells(words *words, const plot_figure *figure) {
    const plot_cells *cells = figure->cells;
    double step = szgi_rows_real(figure->of, 0, "step");
    counted all = {0};
    for (int64_t i = 0; i < cells->rows * cells->columns; i++)
        count_ratio(cells->value[i], &all);
    fputs("The encoding narrows ", words->stream);
    say_counted(words, &all);
    if (isfinite(step)) {
        fputs(" at step ", words->stream);
        szgi_plot_number(words, step);
    }
    fputs(": blue, below 1.", words->stream);
}

/* Heads are no course: each of their points counts. */
static bool is_course(const plot_figure *figure) {
    return !figure->x.otherwise || strcmp(figure->x.column, figure->x.otherwise) != 0;
}

/* The least and the greatest last value of the lines of one column. */
static counted count_last(const plot_figure *figure, const plot_column *from) {
    counted all = {0};
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t s = 0; s < figure->panel[p].count; s++) {
            const plot_series *line = &figure->panel[p].series[s];
            if (line->from != from)
                continue;
            for (int64_t i = 0; i < line->count && !is_course(figure); i++)
                count_ratio(line->y[i], &all);
            count_ratio(szgi_plot_last(line), &all);
        }
    return all;
}

static void say_column(words *words, const plot_figure *figure, const plot_column *from) {
    counted all = count_last(figure, from);
    if (all.known == 0)
        return;
    fprintf(words->stream, "%s ", from ? from->name : figure->y.label);
    szgi_plot_number(words, all.least);
    if (all.greatest > all.least) {
        fputs(" to ", words->stream);
        szgi_plot_number(words, all.greatest);
    }
}

/* "At training step 300: widths 0.5 to 0.7, ...": over the layers. */
static void say_last(words *words, const plot_figure *figure) {
    const plot_column *from = figure->plot->columns;
    if (is_course(figure)) {
        fprintf(words->stream, "At %s ", szgi_label_words(figure->x.column));
        szgi_plot_number(words, end_of(figure, true));
        fputs(figure->panels > 1 ? ", from layer to layer: " : ": ", words->stream);
    } else {
        fputs("From head to head: ", words->stream);
    }
    if (!from->column)
        say_column(words, figure, NULL);
    for (int i = 0; i < PLOT_LIST && from[i].column; i++) {
        fputs(i ? ", " : "", words->stream);
        say_column(words, figure, &from[i]);
    }
    fputs(".", words->stream);
}

/* Areas of three columns would hide each other; those of a share reach from 0 to 1. */
static void drop_areas(plot_figure *figure) {
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t s = 0; s < figure->panel[p].count; s++)
            figure->panel[p].series[s].lo = figure->panel[p].series[s].hi = NULL;
}

/* "Logits, rope, count: the encoding narrows 5 of 6 heads at step 300, ..." */
static void say_finding(words *words, const plot_figure *figure) {
    counted all = count_step(figure, end_of(figure, true));
    fputs("Logits, ", words->stream);
    szgi_words_run(words, figure->of);
    fputs(": the encoding narrows the spectrum of ", words->stream);
    say_counted(words, &all);
    szgi_plot_say_outliers(words, figure);
    fputs(".", words->stream);
}

static void find(const plot_figure *figure) {
    szgi_plot_find(figure, say_finding);
}

/* ---- Records ---- */

#define BY_RUN                                                                                     \
    .tables = TABLES, .figure_by = {"result", "run", "encoding", "task", "seed", "source"},        \
    .group_by = {"encoding", "task", "source"}, .subject = say_run

#define BY_STEP                                                                                    \
    BY_RUN, .keeps = has_head, .skips = is_short, .panel_by = {"layer"}, .values = PLOT_MEANS,     \
            .x = {.column = "step"}

#define AT_ONE                                                                                     \
    {                                                                                              \
        { "1: as the content", .at = 1 }                                                           \
    }

static const plot heads = {BY_STEP,
                           .needs = {"width_ratio", "step"},
                           .series_by = {"head"},
                           .outliers = true,
                           .by_last = true,
                           .y = {.column = "width_ratio", .scale = PLOT_CHOSEN},
                           .rules = AT_ONE,
                           .title = "ratio of widths by head, a panel a layer",
                           .caption = say_steps,
                           .finding = find};

static const plot map = {BY_RUN,
                         .keeps = has_head,
                         .skips = is_unchanged,
                         .skipped = "every ratio is 1 up to rounding",
                         .last = "step",
                         .needs = {"width_ratio"},
                         .undone = "ratios of widths are not drawn",
                         .marks = PLOT_CELLS,
                         .x = {.column = "head"},
                         .y = {.column = "layer"},
                         .value = "width_ratio",
                         .middle = 1,
                         .title = "ratio of widths, mean over probes",
                         .caption = say_cells};

#define RATIOS                                                                                     \
    .columns = {{"width_ratio", "widths"},                                                         \
                {"norm_ratio", "spectral norms"},                                                  \
                {"nuclear_ratio", "nuclear norms"}},                                               \
    .rules = AT_ONE, .y = {.label = "ratio", .scale = PLOT_CHOSEN}, .caption = say_last

static const plot orders = {BY_RUN,
                            RATIOS,
                            .keeps = has_no_head,
                            .skips = is_unchanged,
                            .skipped = "every ratio is 1 up to rounding",
                            .values = PLOT_MEANS,
                            .x = {.column = "n", .otherwise = "head", .scale = PLOT_LOG},
                            .title = "ratio to the content"};

static const plot ratios = {BY_STEP, RATIOS, .prepare = drop_areas,
                            .title = "mean ratio to the content, a panel a layer"};

static const plot toeplitzness = {BY_STEP,
                                  .columns = {{"toeplitzness_coupled", "with the encoding"},
                                              {"toeplitzness_content", "content alone"}},
                                  .y = {.label = "toeplitzness"},
                                  .prepare = drop_areas,
                                  .title = "toeplitzness of the logits, a panel a layer",
                                  .caption = say_last};

static const plot majorised = {
    BY_STEP,
    .needs = {"majorised"},
    .y = {.column = "majorised", .label = "share majorised", .lo = 0, .hi = 1},
    .prepare = drop_areas,
    .title = "share of heads and probes majorised, a panel a layer",
    .caption = say_last};

static const plot margin = {BY_STEP,
                            .needs = {"margin"},
                            .y = {.column = "margin", .label = "mean slack"},
                            .rules = {{"0: majorised", .at = 0}},
                            .title = "slack of the majorisation, a panel a layer",
                            .caption = say_last};

static const plot *const plots[] = {&heads,        &map,       &orders, &ratios,
                                    &toeplitzness, &majorised, &margin, NULL};

/* ---- The section ---- */

/* Whether a text of any of the tables' columns is `value`. */
static bool holds(const plot_run *run, const char *value) {
    for (int t = 0; t < PLOT_LIST && run->section->tables[t]; t++) {
        rows of = szgi_match_all(
            szgi_collection_find(szgi_page_results(run->page), run->section->tables[t]));
        for (int64_t i = 0; i < of.count; i++) {
            const char *text = szgi_rows_text(of, i, "content_kind");
            if (text && strcmp(text, value) == 0)
                return true;
        }
    }
    return false;
}

static szg_status run(page *page, const section *section) {
    plot_run run;
    szgi_plot_begin(&run, page, section);
    bool same = holds(&run, "same_qk"), zeroed = holds(&run, "zeroed");
    if (same)
        szgi_page_paragraph(page, "Content (same_qk): the same queries and keys, without rotation "
                                  "and lag bias.");
    if (zeroed)
        szgi_page_paragraph(page, "Content (zeroed): a second pass with the table of positions set "
                                  "to zero, so that queries and keys differ too.");
    if (!same && !zeroed)
        szgi_page_paragraph(page, "The rows do not say what the logits are compared with.");
    szgi_plot_all(&run, section->plots);
    return szgi_plot_end(&run);
}

const section szgi_section_contraction = {
    .id = "contraction",
    .title = "Contraction",
    .tables = TABLES,
    .intro = "Ratios divide the logits with their encoding by those of the content; lines are "
             "means over probes. The width is that of the Hermitian part's spectrum, the real "
             "part of the field of values. A rotary encoding cannot widen it if all its "
             "frequencies share one content matrix (claim B3c). In trained heads they do not: a "
             "ratio above 1 contradicts nothing.",
    .plots = plots,
    .figures = 16,
    .run = run};
