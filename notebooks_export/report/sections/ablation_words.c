/* What a reader can see in a figure of ablated heads, counted in the data. */
#include "ablation.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

#include "numbered.h"
#include "short.h"

enum { LAYERS_SAID = 6 };

void szgi_ablation_method(words *words, rows of) {
    const char *method = szgi_rows_text(of, 0, "method");
    char own[SHORT_TEXT];
    if (method)
        fprintf(words->stream, " (%s)", szgi_short_text(method, own));
}

/* The deposit's row of a layer: of all seeds together where there is one, else of the first seed;
 * -1: none. */
static int64_t deposit_row(const rows *deposit, double layer) {
    int64_t found = -1;
    for (int64_t i = 0; deposit && i < deposit->count; i++) {
        if (szgi_rows_real(*deposit, i, "layer") != layer)
            continue;
        if (isnan(szgi_rows_real(*deposit, i, "seed")))
            return i;
        found = found < 0 ? i : found;
    }
    return found;
}

/* " [0.5, 0.75]" where there are two numbers. */
static void say_span(FILE *stream, const char *before, rows of, int64_t row, const char *low,
                     const char *high) {
    double from = szgi_rows_real(of, row, low), to = szgi_rows_real(of, row, high);
    if (!isfinite(from) || !isfinite(to))
        return;
    fprintf(stream, "%s [", before);
    szgi_print_real(stream, from);
    fputs(", ", stream);
    szgi_print_real(stream, to);
    fputs("]", stream);
}

/* "0.38 in layer 0 (head 1), a drop of 0.2 of 0.53 in all", with the spread over seeds. */
static void say_index(FILE *stream, rows deposit, int64_t row, double layer) {
    double index = szgi_rows_real(deposit, row, "index"),
           worst = szgi_rows_real(deposit, row, "worst_head"),
           largest = szgi_rows_real(deposit, row, "largest_drop"),
           total = szgi_rows_real(deposit, row, "total_drop");
    char name[WHOLE_TEXT];
    if (!isfinite(index)) {
        fprintf(stream, "none in layer %s, where no head's loss costs accuracy",
                szgi_whole_text(layer, name));
        return;
    }
    szgi_print_real(stream, index);
    say_span(stream, "", deposit, row, "index_least", "index_greatest");
    say_span(stream, ", by t", deposit, row, "index_t_low", "index_t_high");
    fprintf(stream, " in layer %s", szgi_whole_text(layer, name));
    if (isfinite(worst))
        fprintf(stream, " (head %s)", szgi_whole_text(worst, name));
    if (isfinite(largest)) {
        fputs(", a drop of ", stream);
        szgi_print_real(stream, largest);
    }
    if (isfinite(total)) {
        fputs(", of drops that sum to ", stream);
        szgi_print_real(stream, total);
    }
}

static void say_layers(FILE *stream, const ablated *self) {
    int64_t said = 0;
    double expected = NAN;
    for (int64_t place = 0; place < szgi_ablated_layers(self) && said < LAYERS_SAID; place++) {
        double layer = szgi_rows_real(self->layers.group[place], 0, "layer");
        int64_t row = deposit_row(self->deposit, layer);
        if (row < 0)
            continue;
        fputs(said++ ? "; " : "deposit index ", stream);
        say_index(stream, *self->deposit, row, layer);
        double before = expected;
        expected = szgi_rows_real(*self->deposit, row, "null_index");
        if (isfinite(expected) && expected != before) {
            fputs(", where exchangeable drops give ", stream);
            szgi_print_real(stream, expected);
        } else if (!isfinite(expected) && isfinite(before)) {
            fputs(", where drops are not exchangeable", stream);
        }
    }
    fputs(said ? "; " : "", stream);
}

static void say_whole(FILE *stream, const ablated *self) {
    if (!isfinite(self->whole))
        return;
    fputs("With every head the accuracy is ", stream);
    szgi_print_real(stream, self->whole);
    if (self->whole_hi - self->whole_lo > 1e-9) {
        fputs(" on average (", stream);
        szgi_print_real(stream, self->whole_lo);
        fputs(" to ", stream);
        szgi_print_real(stream, self->whole_hi);
        fputs(")", stream);
    }
    fputs("; ", stream);
}

static szg_status print_caption(szg_context *context, FILE *stream, const ablated *self) {
    int64_t seeds;
    double *seed;
    say_whole(stream, self);
    say_layers(stream, self);
    SZG_TRY(szgi_distinct_numbers(context, self->of, "seed", &seeds, &seed));
    szgi_memory_free(seed);
    fprintf(stream, "%" PRId64 " seed%s%s", seeds, seeds == 1 ? "" : "s",
            seeds > 1 ? ", whose points are all here." : ", so no interval.");
    if (self->noted > 0)
        fprintf(stream, " %" PRId64 " rows of heads carry a note, see the hover texts.",
                self->noted);
    return SZG_OK;
}

szg_status szgi_ablation_caption(szg_context *context, const ablated *self, words *out) {
    SZG_TRY(szgi_words_open(context, out));
    SZG_TRY(print_caption(context, out->stream, self));
    return szgi_words_end(context, out);
}

int64_t szgi_ablated_layers(const ablated *self) {
    return self->layers.count < MOST_LAYERS ? self->layers.count : MOST_LAYERS;
}
