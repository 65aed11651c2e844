/* Accuracy without each head, a violin a layer (Figures 4, 6 to 8 and 9 to 14 of the paper). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "ablation.h"
#include "budget.h"
#include "captioned.h"
#include "match.h"
#include "numbered.h"
#include "short.h"

enum { MOST_HEADS = 1024, HOVER_TEXT = 320 };

static const char *const tables[] = {"reproduce_ablation", "ablate_ablation", NULL};
static const char *const deposits[] = {"reproduce_deposit", "ablate_deposit"};
static const char *const kinds[] = {"result", "experiment", "encoding", "task", "method", NULL};

/* ---- Values ---- */

static bool is_head(rows of, int64_t index) {
    return isfinite(szgi_rows_real(of, index, "head")) &&
           isfinite(szgi_rows_real(of, index, "accuracy"));
}

/* A row without a head: all of the layer at once. */
static bool is_layer(rows of, int64_t index) {
    int64_t head = szg_table_find(of.table, "head");
    return head >= 0 && szg_table_is_empty(of.table, szgi_rows_at(of, index), head);
}

/* Accuracy and drop together are the accuracy of the whole model, in every row of a run. */
static void find_whole(ablated *self) {
    int64_t count = 0;
    self->whole = self->whole_lo = self->whole_hi = NAN;
    self->within_unit = true;
    for (int64_t i = 0; i < self->of.count; i++) {
        double accuracy = szgi_rows_real(self->of, i, "accuracy");
        double whole = accuracy + szgi_rows_real(self->of, i, "drop");
        self->noted += is_head(self->of, i) && szgi_rows_text(self->of, i, "note") != NULL;
        self->within_unit &= !(accuracy < 0 || accuracy > 1 || whole < 0 || whole > 1);
        if (!isfinite(whole))
            continue;
        self->whole = count++ ? self->whole + (whole - self->whole) / (double)count : whole;
        self->whole_lo = fmin(self->whole_lo, whole);
        self->whole_hi = fmax(self->whole_hi, whole);
    }
}

/* ---- Marks ---- */

/* "layer l, head h, seed s: accuracy a, drop d" and the note. */
static szg_status hover_of(szg_context *context, rows of, int64_t index, char out[HOVER_TEXT]) {
    static const char *const places[] = {"layer", "head", "seed"};
    char note[SHORT_TEXT], number[WHOLE_TEXT];
    words text;
    SZG_TRY(szgi_words_open(context, &text));
    for (int i = 0; i < 3; i++) {
        double value = szgi_rows_real(of, index, places[i]);
        if (isfinite(value))
            fprintf(text.stream, "%s%s %s", i ? ", " : "", places[i],
                    szgi_whole_text(value, number));
    }
    fputs(": accuracy ", text.stream);
    szgi_print_real(text.stream, szgi_rows_real(of, index, "accuracy"));
    fputs(", drop ", text.stream);
    szgi_print_real(text.stream, szgi_rows_real(of, index, "drop"));
    if (szgi_rows_text(of, index, "note"))
        fprintf(text.stream, " (%s)", szgi_short_text(szgi_rows_text(of, index, "note"), note));
    szg_status status = szgi_words_end(context, &text);
    if (status == SZG_OK)
        snprintf(out, HOVER_TEXT, "%s", text.text);
    szgi_words_free(&text);
    return status;
}

typedef struct points {
    int64_t count;
    double *x, *y;
    char (*text)[HOVER_TEXT];
    const char **hover;
} points;

static void close_points(points *points) {
    szgi_memory_free(points->x);
    szgi_memory_free(points->text);
    szgi_memory_free(points->hover);
}

static szg_status open_points(szg_context *context, int64_t room, points *out) {
    *out = (points){0};
    SZG_TRY(szgi_memory_alloc(context, 2 * room, &out->x));
    out->y = out->x + room;
    SZG_TRY(szgi_memory_alloc(context, room, &out->text));
    return szgi_memory_alloc(context, room, &out->hover);
}

static szg_status take_point(szg_context *context, rows of, int64_t index, double x, points *out) {
    int64_t at = out->count++;
    out->x[at] = x;
    out->y[at] = szgi_rows_real(of, index, "accuracy");
    out->hover[at] = out->text[at];
    return hover_of(context, of, index, out->text[at]);
}

static szg_status draw_layer(szg_context *context, figure *figure, ablated *self, int64_t place) {
    rows of = self->layers.group[place];
    figure_style style = {.name = place ? NULL : "one head taken away", .colour = 0};
    points heads;
    szg_status status = open_points(context, of.count < MOST_HEADS ? of.count : MOST_HEADS, &heads);
    for (int64_t i = 0; status == SZG_OK && i < of.count; i++) {
        if (!is_head(of, i))
            continue;
        if (heads.count < MOST_HEADS)
            status = take_point(context, of, i, (double)place, &heads);
        else
            self->heads_left_out++;
    }
    if (status == SZG_OK && heads.count > 0)
        status = szgi_figure_violin(context, figure, &style, (double)place, 0.8, heads.count,
                                    heads.y, heads.hover);
    close_points(&heads);
    return status;
}

/* The points of rows without a head. */
static szg_status draw_whole_layers(szg_context *context, figure *figure, const ablated *self) {
    figure_style style = {.name = "all heads of the layer", .colour = 1};
    points together;
    int64_t most = 0;
    for (int64_t i = 0; i < self->of.count; i++)
        most += is_layer(self->of, i);
    szg_status status = open_points(context, most, &together);
    for (int64_t place = 0; status == SZG_OK && place < szgi_ablated_layers(self); place++) {
        rows of = self->layers.group[place];
        for (int64_t i = 0; status == SZG_OK && i < of.count; i++)
            if (is_layer(of, i))
                status = take_point(context, of, i, (double)place, &together);
    }
    if (status == SZG_OK && together.count > 0)
        status = szgi_figure_points(context, figure, &style, together.count, together.x, together.y,
                                    together.hover);
    close_points(&together);
    return status;
}

static szg_status draw_marks(szg_context *context, figure *figure, ablated *self) {
    figure_style rule = {.name = "every head there", .colour = FIGURE_MUTED};
    if (isfinite(self->whole))
        SZG_TRY(szgi_figure_rule(context, figure, &rule, false, self->whole));
    for (int64_t place = 0; place < szgi_ablated_layers(self); place++)
        SZG_TRY(draw_layer(context, figure, self, place));
    return draw_whole_layers(context, figure, self);
}

/* ---- The figure ---- */

/* "rope, distance (text): accuracy without each head (output)", the method last. */
static void say_title(words *words, const void *of) {
    szgi_words_run(words, *(const rows *)of);
    fputs(": accuracy without each head", words->stream);
    szgi_ablation_method(words, *(const rows *)of);
}

static szg_status open_ablated(szg_context *context, const ablated *self, figure **out) {
    char name[MOST_LAYERS][WHOLE_TEXT];
    const char *names[MOST_LAYERS];
    for (int64_t place = 0; place < szgi_ablated_layers(self); place++)
        names[place] =
            szgi_whole_text(szgi_rows_real(self->layers.group[place], 0, "layer"), name[place]);
    figure_options options = {
        .x = {.label = "layer",
              .lo = -0.6,
              .hi = (double)szgi_ablated_layers(self) - 0.4,
              .names = names,
              .count = szgi_ablated_layers(self)},
        .y = {.label = "accuracy without the head", .hi = self->within_unit ? 1 : 0},
    };
    return szgi_figure_open_titled(context, options, say_title, &self->of, out);
}

static szg_status put_figure(page *page, ablated *self) {
    szg_context *context = szgi_page_context(page);
    rows source[2] = {self->of, self->deposit ? *self->deposit : self->of};
    words caption = {0};
    figure *figure = NULL;
    SZG_TRY(open_ablated(context, self, &figure));
    szg_status status = draw_marks(context, figure, self);
    if (status == SZG_OK)
        status = szgi_ablation_caption(context, self, &caption);
    if (status == SZG_OK)
        status = szgi_page_figure(page, &figure, source, self->deposit ? 2 : 1, caption.text);
    szgi_figure_close(&figure);
    szgi_words_free(&caption);
    return status;
}

static szg_status draw_kind(page *page, rows of, const rows *deposit) {
    ablated self = {.of = of, .deposit = deposit};
    find_whole(&self);
    SZG_TRY(szgi_groups_by_number(szgi_page_context(page), of, "layer", &self.layers));
    szg_status status = SZG_OK;
    if (self.layers.count > 0)
        status = put_figure(page, &self);
    else
        szgi_page_paragraph(page, "Rows of %s have no layer that is a number, and are not drawn.",
                            szg_table_name(of.table));
    if (self.layers.count > MOST_LAYERS || self.heads_left_out > 0)
        szgi_page_paragraph(
            page,
            "The figure above has the first %d layers and %d heads a layer at most; "
            "the other rows are in its table.",
            MOST_LAYERS, MOST_HEADS);
    szgi_groups_free(&self.layers);
    if (status == SZG_OK && deposit)
        status = szgi_section_ablation_deposit(page, *deposit);
    return status;
}

static szg_status draw_table(page *page, const szg_table *table, const szg_table *deposit,
                             budget *budget) {
    groups figures, theirs = {0};
    szg_context *context = szgi_page_context(page);
    SZG_TRY(szgi_groups_split(context, szgi_match_all(table), kinds, &figures));
    szg_status status =
        deposit ? szgi_groups_split(context, szgi_match_all(deposit), kinds, &theirs) : SZG_OK;
    for (int64_t i = 0; status == SZG_OK && i < figures.count; i++)
        if (szgi_budget_take(budget))
            status = draw_kind(page, figures.group[i],
                               szgi_match_find(&theirs, figures.group[i], kinds));
    szgi_groups_free(&theirs);
    szgi_groups_free(&figures);
    return status;
}

static bool is_present(const szg_collection *results) {
    return szgi_match_all(szgi_collection_find(results, tables[0])).count > 0 ||
           szgi_match_all(szgi_collection_find(results, tables[1])).count > 0;
}

static szg_status draw(page *page) {
    budget budget = {.left = MOST_FIGURES};
    szg_status status = SZG_OK;
    szgi_page_paragraph(page,
                        "A point is the accuracy after one head is taken away; far below the "
                        "line, much depended on it. The deposit index of a layer is the share of "
                        "the drops, gains counted as 0, that the worst head carries. The "
                        "largest of several drops is large even where no head is special: "
                        "independent, exponential drops give the expected index that the caption "
                        "names and the rule of the second figure shows. Of drops within the "
                        "sampling error of the test split the index describes noise. Brackets "
                        "hold the least and the greatest of the seeds: of three seeds they hold "
                        "the median of further ones with a chance of 75%%, of two with 50%%. "
                        "After \"by t\" stands the 95%% interval of the mean by Student's t. One "
                        "seed is a hint, not a finding.");
    szgi_page_grid_begin(page);
    for (int t = 0; status == SZG_OK && t < 2; t++) {
        const szg_table *table = szgi_collection_find(szgi_page_results(page), tables[t]);
        if (table)
            status = draw_table(
                page, table, szgi_collection_find(szgi_page_results(page), deposits[t]), &budget);
    }
    szgi_page_grid_end(page);
    SZG_TRY(status);
    return szgi_budget_end(page, &budget, "figures", tables);
}

const section szgi_section_ablation = {.id = "ablation",
                                       .title = "Heads taken away one by one",
                                       .is_present = is_present,
                                       .draw = draw};
