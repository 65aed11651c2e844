/* Accuracy on sequences that are longer than those of training: means over seeds, by encoding and
 * by how the rotation is rescaled. */
#include <math.h>
#include <string.h>

#include "plot.h"

enum { NAME = 48 };

static void say_experiment(words *words, rows of) {
    fputs("Experiment ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "experiment"), NAME);
}

/* "as trained", or "scaled by yarn" */
static void say_scaling(words *words, rows of) {
    const char *scaling = szgi_rows_text(of, 0, "scaling");
    if (!scaling || strcmp(scaling, "none") == 0) {
        fputs("as trained", words->stream);
        return;
    }
    fputs("scaled by ", words->stream);
    szgi_words_clipped(words, scaling, NAME);
}

static bool is_known(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "accuracy"));
}

/* The row of the longest sequences with the highest (the lowest) mean; -1: there is none. */
static int64_t extreme_of(rows of, bool least) {
    double longest = 0;
    int64_t found = -1;
    for (int64_t i = 0; i < of.count; i++)
        longest = fmax(longest, szgi_rows_real(of, i, "words"));
    for (int64_t i = 0; i < of.count; i++) {
        double own = szgi_rows_real(of, i, "accuracy");
        if (szgi_rows_real(of, i, "words") != longest)
            continue;
        if (found < 0 || (least ? own < szgi_rows_real(of, found, "accuracy")
                                : own > szgi_rows_real(of, found, "accuracy")))
            found = i;
    }
    return found;
}

static void say_percent(words *words, const char *before, rows of, int64_t row,
                        const char *column) {
    fputs(before, words->stream);
    szgi_plot_number(words, 100 * szgi_rows_real(of, row, column));
}

/* "rope scaled by yarn 61% [55, 67] (98% on the test split)" */
static void say_mean(words *words, rows of, int64_t row) {
    const rows own = {of.table, &(const int64_t){szgi_rows_at(of, row)}, 1};
    szgi_words_clipped(words, szgi_rows_text(of, row, "encoding"), NAME);
    fputs(" ", words->stream);
    say_scaling(words, own);
    say_percent(words, " ", of, row, "accuracy");
    fputs("%", words->stream);
    if (isfinite(szgi_rows_real(of, row, "t_low"))) {
        say_percent(words, " [", of, row, "t_low");
        say_percent(words, ", ", of, row, "t_high");
        fputs("]", words->stream);
    }
    if (isfinite(szgi_rows_real(of, row, "test_accuracy"))) {
        say_percent(words, " (", of, row, "test_accuracy");
        fputs("% on the test split)", words->stream);
    }
}

/* "136 words, 4 times the longest of training: highest rope 61% ..., lowest alibi 20% ...; 10
 * seeds."
 */
static void say_longest(words *words, const plot_figure *figure) {
    rows of = figure->of;
    int64_t high = extreme_of(of, false), low = extreme_of(of, true);
    if (high < 0)
        return;
    szgi_plot_number(words, szgi_rows_real(of, high, "words"));
    fputs(" words, ", words->stream);
    if (szgi_rows_real(of, high, "factor") == 1) {
        fputs("as many as the longest of training has", words->stream);
    } else {
        szgi_plot_number(words, szgi_rows_real(of, high, "factor"));
        fputs(" times the longest of training", words->stream);
    }
    fputs(": highest ", words->stream);
    say_mean(words, of, high);
    if (low != high) {
        fputs(", lowest ", words->stream);
        say_mean(words, of, low);
    }
    fputs("; ", words->stream);
    szgi_plot_count(words, (int64_t)szgi_rows_real(of, high, "seeds"), "seed", "seeds");
    fputs(".", words->stream);
}

static void find_longest(const plot_figure *figure) {
    szgi_plot_find(figure, say_longest);
}

static const plot by_length = {
    .tables = {"reproduce_length_arms"},
    .needs = {"words", "accuracy"},
    .undone = "accuracies by length are not drawn",
    .keeps = is_known,
    .figure_by = {"result", "experiment"},
    .group_by = {"result", "experiment"},
    .panel_by = {"encoding"},
    .series_by = {"scaling"},
    .x = {.column = "words", .label = "words of a test sequence"},
    .y = {.column = "accuracy", .label = "accuracy (%)", .times = 100},
    .lo = "t_low",
    .hi = "t_high",
    .hover = {"words", "accuracy", "t_low", "t_high", "test_accuracy", "label_ceiling", "seeds"},
    .subject = say_experiment,
    .series_name = say_scaling,
    .title = "accuracy on longer sequences",
    .caption = say_longest,
    .finding = find_longest};

static const plot listed = {.tables = {"reproduce_length_arms"},
                            .marks = PLOT_ROWS,
                            .shown = {"experiment", "encoding", "scaling", "words", "factor",
                                      "seeds", "accuracy", "t_low", "t_high", "test_accuracy",
                                      "label_ceiling"}};

static const plot *const plots[] = {&by_length, &listed, NULL};

const section szgi_section_lengths = {
    .id = "lengths",
    .title = "Longer sequences",
    .tables = {"reproduce_length_arms", "reproduce_length"},
    .intro =
        "Trained decoders on sequences of one length each. The distances are those of training, "
        "the triggers stand anywhere. Sequences as long as the longest of training differ from "
        "the test split in that alone. A rotation is also tested with rescaled frequencies; "
        "nothing is trained again for it. Lines reach over the 95% interval of the mean over "
        "seeds by Student's t.",
    .plots = plots,
    .run = szgi_plot_section};
