/* The deposit index beside the accuracy that it is a share of, and what chance alone would give. */
#include <math.h>

#include "base/memory.h"

#include "ablation.h"
#include "captioned.h"
#include "numbered.h"
#include "short.h"

enum { MOST_RUNS = 1024, MOST_SERIES = 8, HOVER_TEXT = 160 };

static bool is_run(rows of, int64_t index) {
    return isfinite(szgi_rows_real(of, index, "index")) &&
           isfinite(szgi_rows_real(of, index, "largest_drop")) &&
           isfinite(szgi_rows_real(of, index, "seed"));
}

/* "layer 0, seed 3, head 1: index 0.7, drop 0.2" */
static szg_status hover_of(szg_context *context, rows of, int64_t index, char out[HOVER_TEXT]) {
    static const struct {
        const char *before, *column;
    } parts[] = {{"layer ", "layer"},
                 {", seed ", "seed"},
                 {", head ", "worst_head"},
                 {": index ", "index"},
                 {", drop ", "largest_drop"}};
    words text;
    SZG_TRY(szgi_words_open(context, &text));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        fputs(parts[i].before, text.stream);
        szgi_print_real(text.stream, szgi_rows_real(of, index, parts[i].column));
    }
    szg_status status = szgi_words_end(context, &text);
    if (status == SZG_OK)
        snprintf(out, HOVER_TEXT, "%s", text.text);
    szgi_words_free(&text);
    return status;
}

static szg_status draw_layer(szg_context *context, figure *figure, rows of, int colour) {
    char name[WHOLE_TEXT], legend[WHOLE_TEXT + 16], (*text)[HOVER_TEXT];
    double *x;
    const char **hover;
    int64_t count = 0, room = of.count < MOST_RUNS ? of.count : MOST_RUNS;
    snprintf(legend, sizeof legend, "layer %s",
             szgi_whole_text(szgi_rows_real(of, 0, "layer"), name));
    SZG_TRY(szgi_memory_alloc(context, 2 * room, &x));
    szg_status status = szgi_memory_alloc(context, room, &hover);
    if (status != SZG_OK) {
        szgi_memory_free(x);
        return status;
    }
    status = szgi_memory_alloc(context, room, &text);
    for (int64_t i = 0; status == SZG_OK && i < of.count && count < room; i++) {
        if (!is_run(of, i))
            continue;
        x[count] = szgi_rows_real(of, i, "largest_drop");
        x[room + count] = szgi_rows_real(of, i, "index");
        hover[count] = text[count];
        status = hover_of(context, of, i, text[count++]);
    }
    figure_style style = {.name = legend, .colour = colour};
    if (status == SZG_OK && count > 0)
        status = szgi_figure_points(context, figure, &style, count, x, x + room, hover);
    szgi_memory_free(text);
    szgi_memory_free(hover);
    szgi_memory_free(x);
    return status;
}

static void say_title(words *words, const void *of) {
    szgi_words_run(words, *(const rows *)of);
    fputs(": the worst head's share of the drops", words->stream);
    szgi_ablation_method(words, *(const rows *)of);
}

/* The null of all the runs' layers; NaN: some have none, or another. */
static double common_null(rows of) {
    double null = NAN;
    for (int64_t i = 0; i < of.count; i++) {
        double own = szgi_rows_real(of, i, "null_index");
        if (!is_run(of, i))
            continue;
        if (!isfinite(own) || (isfinite(null) && own != null))
            return NAN;
        null = own;
    }
    return null;
}

static szg_status draw(szg_context *context, figure *figure, const groups *layers,
                       double expected) {
    figure_style rule = {.name = "expected of exchangeable drops", .colour = FIGURE_MUTED};
    if (isfinite(expected))
        SZG_TRY(szgi_figure_rule(context, figure, &rule, false, expected));
    for (int64_t place = 0; place < layers->count && place < MOST_SERIES; place++)
        SZG_TRY(draw_layer(context, figure, layers->group[place], (int)place));
    return SZG_OK;
}

static szg_status caption_of(szg_context *context, const groups *layers, double expected,
                             words *out) {
    SZG_TRY(szgi_words_open(context, out));
    fputs("A point a run and layer", out->stream);
    if (layers->count > MOST_SERIES)
        fputs(", of the first eight layers", out->stream);
    fputs(".", out->stream);
    if (isfinite(expected)) {
        fputs(" The line: exchangeable drops give ", out->stream);
        szgi_print_real(out->stream, expected);
        fputs(" on average.", out->stream);
    }
    fputs(" A large share of a small drop says little.", out->stream);
    return szgi_words_end(context, out);
}

static szg_status put(page *page, rows of, const groups *layers) {
    szg_context *context = szgi_page_context(page);
    double expected = common_null(of);
    words caption = {0};
    figure *figure = NULL;
    figure_options options = {.x = {.label = "drop of accuracy without the worst head"},
                              .y = {.label = "its share of all drops", .hi = 1}};
    SZG_TRY(szgi_figure_open_titled(context, options, say_title, &of, &figure));
    szg_status status = draw(context, figure, layers, expected);
    if (status == SZG_OK)
        status = caption_of(context, layers, expected, &caption);
    if (status == SZG_OK)
        status = szgi_page_figure(page, &figure, &of, 1, caption.text);
    szgi_figure_close(&figure);
    szgi_words_free(&caption);
    return status;
}

szg_status szgi_section_ablation_deposit(page *page, rows deposit) {
    groups layers;
    int64_t runs = 0;
    for (int64_t i = 0; i < deposit.count; i++)
        runs += is_run(deposit, i);
    if (runs == 0)
        return SZG_OK;
    SZG_TRY(szgi_groups_by_number(szgi_page_context(page), deposit, "layer", &layers));
    szg_status status = layers.count > 0 ? put(page, deposit, &layers) : SZG_OK;
    szgi_groups_free(&layers);
    return status;
}
