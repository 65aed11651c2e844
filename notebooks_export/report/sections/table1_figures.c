/* Accuracies beside the paper's, what length alone tells and the ceiling. */
#include "table1.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

outcome szgi_table1_outcome(rows of, int64_t index, int task) {
    static const char *const names[TABLE1_TASKS][6] = {
        {"task1", "spread1", "seeds1", "paper1", "length1", "ceiling1"},
        {"task2", "spread2", "seeds2", "paper2", "length2", "ceiling2"}};
    double value[6];
    for (int i = 0; i < 6; i++)
        value[i] = szgi_rows_real(of, index, names[task][i]);
    return (outcome){value[0], value[1], value[2], value[3], value[4], value[5]};
}

static bool is_of_result(const plot_run *run, rows of, int64_t index) {
    const char *result = szgi_rows_text(of, index, "result");
    return result && strcmp(result, run->own) == 0;
}

static bool has_not_run(rows of, int task) {
    for (int64_t i = 0; i < of.count; i++)
        if (isfinite(szgi_table1_outcome(of, i, task).mean))
            return false;
    return true;
}

static void say_experiment(words *words, rows of) {
    fputs("Experiment ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "experiment"), TABLE1_NAME);
}

/* Means as high as the highest, or no farther from it than its deviation and theirs together. */
static int64_t count_rivals(rows of, int task, int64_t best) {
    outcome own = szgi_table1_outcome(of, best, task);
    int64_t rivals = 0;
    for (int64_t i = 0; i < of.count; i++) {
        outcome other = szgi_table1_outcome(of, i, task);
        bool near =
            own.seeds > 1 && other.seeds > 1 && other.mean + other.spread >= own.mean - own.spread;
        rivals += i != best && (near || other.mean == own.mean);
    }
    return rivals;
}

/* "rope is highest with 93.6% (paper 92.6%), 1 other within the whiskers; one seed each." */
static void say_highest(words *words, rows of, int task) {
    int64_t best = -1, known = 0, single = 0;
    for (int64_t i = 0; i < of.count; i++) {
        outcome o = szgi_table1_outcome(of, i, task);
        known += isfinite(o.mean);
        single += isfinite(o.mean) && !(o.seeds > 1);
        if (isfinite(o.mean) && (best < 0 || o.mean > szgi_table1_outcome(of, best, task).mean))
            best = i;
    }
    outcome highest = szgi_table1_outcome(of, best, task);
    int64_t rivals = count_rivals(of, task, best);
    szgi_words_clipped(words, szgi_rows_text(of, best, "encoding"), TABLE1_NAME);
    fprintf(words->stream, " is highest with %.1f%%", highest.mean);
    if (isfinite(highest.paper))
        fprintf(words->stream, " (paper %.1f%%)", highest.paper);
    if (rivals > 0) {
        fputs(", ", words->stream);
        szgi_plot_count(words, rivals, "other", "others");
        fputs(highest.seeds > 1 ? " within the whiskers" : " as high", words->stream);
    }
    fputs(single == known ? "; one seed each." : "; whiskers: one standard deviation.",
          words->stream);
}

#define TASK(name, digit, says)                                                                    \
    static bool skips_##name(rows of) {                                                            \
        return has_not_run(of, digit - 1);                                                         \
    }                                                                                              \
    static void say_##name(words *words, const plot_figure *figure) {                              \
        say_highest(words, figure->of, digit - 1);                                                 \
    }                                                                                              \
    static const plot name = {                                                                     \
        .tables = {"reproduce_table1"},                                                            \
        .keeps = is_of_result,                                                                     \
        .needs = {"task" #digit},                                                                  \
        .undone = "accuracies of " says " are not drawn",                                          \
        .figure_by = {"experiment"},                                                               \
        .group_by = {"experiment"},                                                                \
        .skips = skips_##name,                                                                     \
        .marks = PLOT_POINTS,                                                                      \
        .x = {.column = "encoding"},                                                               \
        .y = {.label = "test accuracy (%)", .lo = 0, .hi = 100},                                   \
        .columns = {{"task" #digit, "here", .spread = "spread" #digit, .seeds = "seeds" #digit},   \
                    {"paper" #digit, "paper"},                                                     \
                    {"ceiling" #digit, "label ceiling"},                                           \
                    {"length" #digit, "by length alone"}},                                         \
        .subject = say_experiment,                                                                 \
        .title = "test accuracy, " says,                                                           \
        .caption = say_##name}

TASK(distance, 1, "trigger distance (task 1)");
TASK(count, 2, "trigger count (task 2)");

const plot *const szgi_table1_plots[] = {&distance, &count, NULL};
