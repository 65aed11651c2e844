/* One difference in the configuration at a time: accuracy with and without it. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

#include "budget.h"
#include "captioned.h"
#include "match.h"
#include "needs.h"
#include "short.h"

enum { MOST_ROWS = 20, SEEDS_NEEDED = 3, HOVER_TEXT = 512 };

static const char *const tables[] = {"reproduce_switches", NULL};

/* Rows of one task and encoding, a line each. */
typedef struct switches {
    rows of;
    int64_t first, count; /* of its rows */
} switches;

static int64_t row_of(const switches *self, int64_t line) {
    return self->first + line;
}

/* ---- Marks ---- */

typedef struct side {
    const char *accuracy, *spread, *seeds, *keys, *name;
    int colour;
} side;

static const side sides[] = {
    {"accuracy_without", "spread_without", "seeds_without", "without", "without the switch", 0},
    {"accuracy", "spread", "seeds", "with", "with the switch", 1},
};

static void say_number(FILE *stream, const char *before, rows of, int64_t row, const char *column) {
    double value = szgi_rows_real(of, row, column);
    if (!isfinite(value))
        return;
    fputs(before, stream);
    szgi_print_real(stream, value);
}

static szg_status hover_of(szg_context *context, rows of, int64_t row, const side *side,
                           char out[HOVER_TEXT]) {
    char name[SHORT_TEXT], keys[SHORT_TEXT];
    words text;
    SZG_TRY(szgi_words_open(context, &text));
    fprintf(text.stream, "%s, %s: %s", szgi_short_text(szgi_rows_text(of, row, "experiment"), name),
            side->name, szgi_short_text(szgi_rows_text(of, row, side->keys), keys));
    say_number(text.stream, "; accuracy ", of, row, side->accuracy);
    say_number(text.stream, ", spread ", of, row, side->spread);
    say_number(text.stream, ", seeds ", of, row, side->seeds);
    say_number(text.stream, "; difference ", of, row, "difference");
    say_number(text.stream, ", its spread ", of, row, "difference_spread");
    szg_status status = szgi_words_end(context, &text);
    if (status == SZG_OK)
        snprintf(out, HOVER_TEXT, "%s", text.text);
    szgi_words_free(&text);
    return status;
}

/* From one accuracy to the other, and each one's spread over seeds. */
static szg_status draw_spans(szg_context *context, figure *figure, const switches *self) {
    figure_style grey = {.name = NULL, .colour = FIGURE_MUTED};
    for (int64_t line = 0; line < self->count; line++) {
        double at[2] = {(double)line, (double)line}, ends[2];
        for (int s = 0; s < 2; s++) {
            double mean = szgi_rows_real(self->of, row_of(self, line), sides[s].accuracy),
                   spread = szgi_rows_real(self->of, row_of(self, line), sides[s].spread);
            double across[2] = {mean - spread, mean + spread};
            double below = (double)line + (s ? 0.16 : -0.16), level[2] = {below, below};
            figure_style style = {.name = NULL, .colour = sides[s].colour + FIGURE_THIN};
            ends[s] = mean;
            if (spread > 0 && isfinite(mean))
                SZG_TRY(szgi_figure_line(context, figure, &style, 2, across, level));
        }
        if (isfinite(ends[0]) && isfinite(ends[1]))
            SZG_TRY(szgi_figure_line(context, figure, &grey, 2, ends, at));
    }
    return SZG_OK;
}

static szg_status draw_side(szg_context *context, figure *figure, const switches *self,
                            const side *side) {
    char text[MOST_ROWS][HOVER_TEXT];
    const char *hover[MOST_ROWS];
    double x[MOST_ROWS], y[MOST_ROWS];
    figure_style style = {.name = side->name, .colour = side->colour};
    for (int64_t line = 0; line < self->count; line++) {
        x[line] = szgi_rows_real(self->of, row_of(self, line), side->accuracy);
        y[line] = (double)line;
        hover[line] = text[line];
        SZG_TRY(hover_of(context, self->of, row_of(self, line), side, text[line]));
    }
    return szgi_figure_points(context, figure, &style, self->count, x, y, hover);
}

/* ---- The caption ---- */

typedef struct differences {
    int64_t largest; /* its line; -1: none is known */
    int64_t known, beyond, few;
} differences;

static double difference_of(const switches *self, int64_t line) {
    return szgi_rows_real(self->of, row_of(self, line), "difference");
}

static differences count_differences(const switches *self) {
    differences all = {.largest = -1};
    for (int64_t line = 0; line < self->count; line++) {
        double difference = difference_of(self, line),
               spread = szgi_rows_real(self->of, row_of(self, line), "difference_spread"),
               pairs = szgi_rows_real(self->of, row_of(self, line), "pairs");
        if (!isfinite(difference))
            continue;
        all.known++;
        if (!(pairs >= SEEDS_NEEDED))
            all.few++;
        else
            all.beyond += fabs(difference) > spread;
        if (all.largest < 0 || fabs(difference) > fabs(difference_of(self, all.largest)))
            all.largest = line;
    }
    return all;
}

static void say_caption(words *words, const void *of) {
    const switches *self = of;
    differences all = count_differences(self);
    FILE *stream = words->stream;
    char name[SHORT_TEXT];
    if (all.largest < 0) {
        fputs("No seed has run both with and without a switch.", stream);
        return;
    }
    fputs("The largest difference, with the switch less without it, is ", stream);
    szgi_print_real(stream, difference_of(self, all.largest));
    fprintf(
        stream,
        " (%s); %" PRId64 " of %" PRId64
        " differences exceed their own spread, one standard deviation over at least %d seeds, a "
        "hint and no test",
        szgi_short_text(szgi_rows_text(self->of, row_of(self, all.largest), "experiment"), name),
        all.beyond, all.known, SEEDS_NEEDED);
    if (all.few > 0)
        fprintf(stream, ", and %" PRId64 " rest%s on fewer seeds, which decides nothing", all.few,
                all.few == 1 ? "s" : "");
    fputs(".", stream);
}

/* ---- The figure ---- */

static szg_status open_switches(szg_context *context, const switches *self, figure **out) {
    char title[4 * SHORT_TEXT], encoding[SHORT_TEXT], task[SHORT_TEXT], name[MOST_ROWS][SHORT_TEXT];
    const char *names[MOST_ROWS];
    for (int64_t line = 0; line < self->count; line++)
        names[line] =
            szgi_short_text(szgi_rows_text(self->of, row_of(self, line), "experiment"), name[line]);
    snprintf(title, sizeof title, "Switches: %s, task %s",
             szgi_short_text(szgi_rows_text(self->of, self->first, "encoding"), encoding),
             szgi_short_text(szgi_rows_text(self->of, self->first, "task"), task));
    figure_options options = {.title = title,
                              .x = {.label = "test accuracy, mean over seeds"},
                              .y = {.label = "experiment",
                                    .lo = -0.6,
                                    .hi = (double)self->count - 0.4,
                                    .names = names,
                                    .count = self->count},
                              .height = 140 + 28 * (int)self->count};
    return szgi_figure_open(context, &options, out);
}

static szg_status put_figure(page *page, const switches *self) {
    szg_context *context = szgi_page_context(page);
    figure *figure = NULL;
    SZG_TRY(open_switches(context, self, &figure));
    szg_status status = draw_spans(context, figure, self);
    for (int s = 0; status == SZG_OK && s < 2; s++)
        status = draw_side(context, figure, self, &sides[s]);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &self->of, 1, say_caption, self);
    szgi_figure_close(&figure);
    return status;
}

/* ---- The section ---- */

static szg_status draw_kinds(page *page, const groups *kinds) {
    budget budget = {.left = MOST_FIGURES};
    szg_status status = SZG_OK;
    szgi_page_grid_begin(page);
    for (int64_t i = 0; status == SZG_OK && i < kinds->count; i++) {
        rows of = kinds->group[i];
        for (int64_t first = 0; status == SZG_OK && first < of.count; first += MOST_ROWS) {
            int64_t count = of.count - first;
            switches self = {of, first, count < MOST_ROWS ? count : MOST_ROWS};
            if (szgi_budget_take(&budget))
                status = put_figure(page, &self);
        }
    }
    szgi_page_grid_end(page);
    SZG_TRY(status);
    return szgi_budget_end(page, &budget, "figures", tables);
}

static bool is_present(const szg_collection *results) {
    return szgi_match_all(szgi_collection_find(results, tables[0])).count > 0;
}

static szg_status draw(page *page) {
    static const char *const columns[] = {"result", "task", "encoding", NULL},
                             *const shown[] = {
                                 "experiment", "like",       "encoding",          "task",  "with",
                                 "without",    "difference", "difference_spread", "pairs", NULL};
    rows all = szgi_match_all(szgi_collection_find(szgi_page_results(page), tables[0]));
    groups kinds;
    bool met;
    SZG_TRY(szgi_needs_numbers(page, all,
                               (const char *const[]){"accuracy", "accuracy_without", NULL},
                               "the switches are not drawn", &met));
    if (!met)
        return SZG_OK;
    szgi_page_paragraph(
        page, "Each experiment differs from another one in the keys named. A "
              "difference decides a result only if switching it moves the accuracy as "
              "far as the two profiles lie apart, from both ends, by more than the "
              "spread of the difference over three seeds; where all have run "
              "so and none does, no single key decides it. Differences are means over "
              "the seeds that both sides have, which the distance of two points of "
              "different seeds is not. Thin lines reach one standard deviation over seeds to "
              "both sides.");
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all, columns, &kinds));
    szg_status status = draw_kinds(page, &kinds);
    szgi_groups_free(&kinds);
    SZG_TRY(status);
    return szgi_page_rows(page, all, shown);
}

const section szgi_section_switches = {
    .id = "switches", .title = "Switches", .is_present = is_present, .draw = draw};
