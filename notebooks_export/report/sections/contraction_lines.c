/* Ratios over training steps, or over orders. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

#include "contraction_run.h"

/* Lines of one figure. */
enum { MOST_LINES = 32 };

/* A figure under way, and what its caption has said so far. */
typedef struct drawing {
    figure *figure;
    words caption;
    int64_t drawn; /* lines */
} drawing;

static szg_status open_drawing(szg_context *context, const contraction_run *run, const char *what,
                               figure_options options, drawing *out) {
    *out = (drawing){0};
    SZG_TRY(szgi_contraction_figure_open(context, run, what, options, &out->figure));
    return szgi_words_open(context, &out->caption);
}

/* Puts it on the page where it has a line. */
static szg_status end_drawing(page *page, const contraction_run *run, drawing *self,
                              szg_status status) {
    if (status == SZG_OK)
        status = szgi_words_end(szgi_page_context(page), &self->caption);
    if (status == SZG_OK && self->drawn > 0)
        status = szgi_page_figure(page, &self->figure, &run->of, 1, self->caption.text);
    szgi_figure_close(&self->figure);
    szgi_words_free(&self->caption);
    return status;
}

/* "; NAME 0.9 at step 0, 0.7 at step 100": first and last of the line. */
static void say_ends(drawing *self, const char *name, const char *axis, const band *band) {
    FILE *stream = self->caption.stream;
    char first[WHOLE_TEXT], last[WHOLE_TEXT];
    int64_t end = band->count - 1;
    fprintf(stream, "%s%s ", self->drawn ? "; " : "", name);
    szgi_print_real(stream, band->mean[0]);
    fprintf(stream, " at %s %s", axis, szgi_whole_text(band->x[0], first));
    if (end == 0)
        return;
    fputs(", ", stream);
    szgi_print_real(stream, band->mean[end]);
    fprintf(stream, " at %s %s", axis, szgi_whole_text(band->x[end], last));
}

static szg_status draw_line(szg_context *context, drawing *self, rows of, const char *axis,
                            const char *column, const char *name, bool share) {
    band band;
    SZG_TRY(szgi_band_open(context, of, axis, column, &band));
    szg_status status = SZG_OK;
    for (int64_t i = 0; share && i < band.count; i++)
        band.lo[i] = band.hi[i] = band.mean[i];
    if (band.count > 0) {
        status = szgi_band_draw(context, self->figure, name, (int)self->drawn, &band);
        say_ends(self, name, axis, &band);
        self->drawn++;
    }
    szgi_band_close(&band);
    return status;
}

static szg_status draw_one(szg_context *context, drawing *self) {
    figure_style rule = {.name = "1: as large as the content's", .colour = FIGURE_MUTED};
    return self->drawn > 0 ? szgi_figure_rule(context, self->figure, &rule, false, 1) : SZG_OK;
}

/* ---- A layer's heads ---- */

static szg_status draw_heads(szg_context *context, const groups *heads, drawing *self) {
    char name[WHOLE_TEXT + 8], number[WHOLE_TEXT];
    for (int64_t h = 0; h < heads->count && h < MOST_LINES; h++) {
        snprintf(name, sizeof name, "head %s",
                 szgi_whole_text(szgi_rows_real(heads->group[h], 0, "head"), number));
        SZG_TRY(draw_line(context, self, heads->group[h], "step", "width_ratio", name, false));
    }
    if (heads->count > MOST_LINES)
        fprintf(self->caption.stream, "; %" PRId64 " more heads are not drawn",
                heads->count - MOST_LINES);
    fputs(".", self->caption.stream);
    return draw_one(context, self);
}

szg_status szgi_contraction_draw_layer(page *page, const contraction_run *run, int64_t layer) {
    char what[SHORT_TEXT], number[WHOLE_TEXT];
    drawing self;
    if (run->steps < 2)
        return SZG_OK;
    snprintf(what, sizeof what, "width ratio in layer %s",
             szgi_whole_text(szgi_rows_real(run->layers.group[layer], 0, "layer"), number));
    figure_options options = {.x = {.label = "training step"}, .y = {.label = "width ratio"}};
    szg_status status = open_drawing(szgi_page_context(page), run, what, options, &self);
    if (status == SZG_OK)
        fputs("Width ratio, a line a head (below 1 the encoding narrows it): ",
              self.caption.stream);
    if (status == SZG_OK)
        status = draw_heads(szgi_page_context(page), &run->heads[layer], &self);
    return end_drawing(page, run, &self, status);
}

/* ---- A quantity by layer ---- */

static szg_status draw_beside(szg_context *context, drawing *self, rows of, const char *column) {
    band band;
    figure_style style = {.name = NULL, .colour = (int)self->drawn - 1 + FIGURE_THIN};
    SZG_TRY(szgi_band_open(context, of, "step", column, &band));
    szg_status status = band.count == 0 ? SZG_OK
                                        : szgi_figure_line(context, self->figure, &style,
                                                           band.count, band.x, band.mean);
    szgi_band_close(&band);
    return status;
}

static szg_status draw_layers(szg_context *context, const contraction_run *run,
                              const contraction_quantity *quantity, drawing *self) {
    char name[WHOLE_TEXT + 8], number[WHOLE_TEXT];
    for (int64_t l = 0; l < run->layers.count && l < FIGURE_COLOURS; l++) {
        rows of = run->layers.group[l];
        int64_t before = self->drawn;
        snprintf(name, sizeof name, "layer %s",
                 szgi_whole_text(szgi_rows_real(of, 0, "layer"), number));
        SZG_TRY(draw_line(context, self, of, "step", quantity->column, name, quantity->share));
        if (quantity->beside && self->drawn > before)
            SZG_TRY(draw_beside(context, self, of, quantity->beside));
    }
    if (run->layers.count > FIGURE_COLOURS)
        fprintf(self->caption.stream, "; %" PRId64 " more layers are not drawn",
                run->layers.count - FIGURE_COLOURS);
    fprintf(self->caption.stream, "%s.", quantity->hint);
    return SZG_OK;
}

szg_status szgi_contraction_draw_quantity(page *page, const contraction_run *run,
                                          const contraction_quantity *quantity) {
    drawing self;
    if (run->steps < 2)
        return SZG_OK;
    figure_options options = {.x = {.label = "training step"},
                              .y = {.label = quantity->column, .hi = quantity->share ? 1 : 0}};
    szg_status status = open_drawing(szgi_page_context(page), run, quantity->title, options, &self);
    if (status == SZG_OK)
        fputs("Means over heads and probes: ", self.caption.stream);
    if (status == SZG_OK)
        status = draw_layers(szgi_page_context(page), run, quantity, &self);
    return end_drawing(page, run, &self, status);
}

/* ---- Rows without a step ---- */

static void say_majorised(FILE *stream, rows of) {
    int64_t known = 0, majorised = 0;
    for (int64_t i = 0; i < of.count; i++) {
        double value = szgi_rows_real(of, i, "majorised");
        known += isfinite(value);
        majorised += value == 1;
    }
    if (known > 0)
        fprintf(stream,
                "; majorised by the content are %" PRId64 " of %" PRId64
                ", which claim B3c promises only where all frequencies share one content matrix",
                majorised, known);
    fputs(".", stream);
}

static szg_status draw_ratios(szg_context *context, const contraction_run *run, const char *axis,
                              drawing *self) {
    static const char *const columns[] = {"width_ratio", "norm_ratio", "nuclear_ratio"};
    for (int i = 0; i < 3; i++)
        SZG_TRY(draw_line(context, self, run->of, axis, columns[i], columns[i], false));
    say_majorised(self->caption.stream, run->of);
    return draw_one(context, self);
}

szg_status szgi_contraction_draw_orders(page *page, const contraction_run *run) {
    double *order;
    int64_t orders;
    drawing self;
    SZG_TRY(szgi_distinct_numbers(szgi_page_context(page), run->of, "n", &orders, &order));
    bool by_order = orders > 1 || run->columns == 0;
    bool wide = orders > 1 && order[0] > 0 && order[orders - 1] >= 4 * order[0];
    szgi_memory_free(order);
    figure_options options = {
        .x = {.label = by_order ? "order n" : "head", .logarithmic = by_order && wide},
        .y = {.label = "coupled / content"}};
    szg_status status =
        open_drawing(szgi_page_context(page), run, by_order ? "ratios by order" : "ratios by head",
                     options, &self);
    if (status == SZG_OK)
        fputs("Coupled over content, below 1 is smaller: ", self.caption.stream);
    if (status == SZG_OK)
        status = draw_ratios(szgi_page_context(page), run, by_order ? "n" : "head", &self);
    return end_drawing(page, run, &self, status);
}
