/* One difference in the configuration at a time: what it does to the accuracy. */
#include <inttypes.h>
#include <math.h>

#include "plot.h"

enum { SEEDS_NEEDED = 3, NAME = 48 };

typedef struct differences {
    int64_t largest; /* its row; -1: none is known */
    int64_t known, beyond, few;
} differences;

static double difference_of(rows of, int64_t row) {
    return szgi_rows_real(of, row, "difference");
}

static differences count_differences(rows of) {
    differences all = {.largest = -1};
    for (int64_t i = 0; i < of.count; i++) {
        double difference = difference_of(of, i);
        if (!isfinite(difference))
            continue;
        all.known++;
        if (!(szgi_rows_real(of, i, "pairs") >= SEEDS_NEEDED))
            all.few++;
        else
            all.beyond += fabs(difference) > szgi_rows_real(of, i, "difference_spread");
        if (all.largest < 0 || fabs(difference) > fabs(difference_of(of, all.largest)))
            all.largest = i;
    }
    return all;
}

/* "Largest difference: -50 points (one). 1 of 3 exceeds its spread; 1 rests on fewer than 3 seeds."
 */
static void say_largest(words *words, const plot_figure *figure) {
    differences all = count_differences(figure->of);
    fputs("Largest difference: ", words->stream);
    szgi_plot_number(words, 100 * difference_of(figure->of, all.largest));
    fputs(" points (", words->stream);
    szgi_words_clipped(words, szgi_rows_text(figure->of, all.largest, "experiment"), NAME);
    fprintf(words->stream, "). %" PRId64 " of %" PRId64 " exceed%s their spread", all.beyond,
            all.known, all.known == 1 ? "s" : "");
    if (all.few > 0)
        fprintf(words->stream, "; %" PRId64 " rest%s on fewer than %d seeds", all.few,
                all.few == 1 ? "s" : "", SEEDS_NEEDED);
    fputs(".", words->stream);
}

static void say_kind(words *words, rows of) {
    szgi_words_clipped(words, szgi_rows_text(of, 0, "encoding"), NAME);
    fputs(", task ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "task"), NAME);
}

static bool is_known(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(difference_of(of, index));
}

static const plot differences_plot = {
    .tables = {"reproduce_switches"},
    .needs = {"accuracy", "accuracy_without", "difference"},
    .undone = "the switches are not drawn",
    .keeps = is_known,
    .figure_by = {"result", "task", "encoding"},
    .group_by = {"result", "task", "encoding"},
    .marks = PLOT_POINTS,
    .x = {.column = "difference", .label = "accuracy with less without (points)", .times = 100},
    .y = {.column = "experiment"},
    .spread = "difference_spread",
    .seeds = "pairs",
    .rules = {{"0: no difference", .at = 0, .vertical = true}},
    .hover = {"experiment", "with", "accuracy", "spread", "seeds", "without", "accuracy_without",
              "pairs"},
    .subject = say_kind,
    .title = "difference that each switch makes",
    .caption = say_largest};

static const plot listed = {.tables = {"reproduce_switches"},
                            .marks = PLOT_ROWS,
                            .shown = {"experiment", "like", "encoding", "task", "with", "without",
                                      "accuracy", "accuracy_without", "difference",
                                      "difference_spread", "pairs"}};

static const plot *const plots[] = {&differences_plot, &listed, NULL};

const section szgi_section_switches = {
    .id = "switches",
    .title = "Switches",
    .tables = {"reproduce_switches"},
    .intro = "Each experiment differs from another one in the keys named. A key decides a result "
             "only if switching it moves the accuracy as far as the two profiles lie apart, from "
             "both ends, by more than the spread over three seeds. If all have run so and none "
             "does, no single key decides it. Differences are means over the seeds that both "
             "sides have; lines reach one standard deviation to both sides, a hint and no test.",
    .plots = plots,
    .run = szgi_plot_section};
