/* The hypotheses that a preset names: differences seed by seed, their mean and its
 * interval, and what is decided; and the deposit index of every arm beside two references. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "train/ablation/ablation.h"
#include "match.h"
#include "plot.h"

enum { NAME = 48, STATEMENT = 240 };

/* ---- A hypothesis ---- */

/* Of the row's result and name, in the table of hypotheses; count 0: it is not there. */
static rows hypothesis_of(page *page, rows pairs, groups *found) {
    static const char *const by[] = {"result", "hypothesis", NULL};
    rows all =
        szgi_match_all(szgi_collection_find(szgi_page_results(page), "reproduce_hypotheses"));
    *found = (groups){0};
    if (szgi_groups_split(szgi_page_context(page), all, by, found) != SZG_OK)
        return (rows){0};
    const rows *own = szgi_match_find(found, pairs, by);
    return own ? *own : (rows){0};
}

static bool is_primary(rows of, int64_t index) {
    const char *text = szgi_rows_text(of, index, "primary");
    return text && strcmp(text, "yes") == 0;
}

static bool has_difference(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "difference"));
}

static bool is_named(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return szgi_rows_text(of, index, "hypothesis") != NULL;
}

/* ---- Words ---- */

static void say_arms(words *words, rows of) {
    szgi_words_clipped(words, szgi_rows_text(of, 0, "hypothesis"), NAME);
    fputs(": ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "measure"), NAME);
    fputs(" of ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "arm"), NAME);
    if (szgi_rows_text(of, 0, "minus")) {
        fputs(" less ", words->stream);
        szgi_words_clipped(words, szgi_rows_text(of, 0, "minus"), 2 * NAME);
    }
    if (isfinite(szgi_rows_real(of, 0, "layer"))) {
        fputs(", layer ", words->stream);
        szgi_plot_number(words, szgi_rows_real(of, 0, "layer"));
    }
}

static void say_number(words *words, const char *before, double value) {
    fputs(before, words->stream);
    szgi_plot_number(words, value);
}

static void say_mean(words *words, rows of) {
    double mean = szgi_rows_real(of, 0, "difference"), low = szgi_rows_real(of, 0, "t_low");
    if (!isfinite(mean)) {
        fputs("; no seed has a difference", words->stream);
        return;
    }
    say_number(words, "; mean ", mean);
    if (isfinite(low)) {
        say_number(words, " [", low);
        say_number(words, ", ", szgi_rows_real(of, 0, "t_high"));
        fputs("]", words->stream);
    }
    fputs(" over ", words->stream);
    szgi_plot_count(words, (int64_t)szgi_rows_real(of, 0, "pairs"), "seed", "seeds");
}

/* "It is larger. Result: not decided; mean 0.1 [-0.2, 0.4] over 9 seeds, p = 0.3, after Holm 1; 1
 * seed failed." */
static void say_verdict(words *words, rows of) {
    double failed = szgi_rows_real(of, 0, "failed"), missing = szgi_rows_real(of, 0, "missing"),
           p = szgi_rows_real(of, 0, "p"), adjusted = szgi_rows_real(of, 0, "p_holm");
    szgi_words_clipped(words, szgi_rows_text(of, 0, "statement"), STATEMENT);
    fputs(" Result: ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "decision"), NAME);
    say_mean(words, of);
    if (isfinite(p))
        say_number(words, ", p = ", p);
    if (isfinite(adjusted))
        say_number(words, ", after Holm ", adjusted);
    if (failed > 0) {
        fputs("; ", words->stream);
        szgi_plot_count(words, (int64_t)failed, "seed failed", "seeds failed");
    }
    if (missing > 0) {
        fputs("; ", words->stream);
        szgi_plot_count(words, (int64_t)missing, "seed has not run", "seeds have not run");
    }
    fputs(".", words->stream);
}

static void say_caption(words *words, const plot_figure *figure) {
    groups all;
    rows own = hypothesis_of(figure->run->page, figure->of, &all);
    if (own.count > 0)
        say_verdict(words, own);
    else
        fputs("The table of hypotheses does not name this one.", words->stream);
    szgi_groups_free(&all);
}

/* ---- The figure ---- */

static const char MEAN_NAME[] = "mean over the seeds, 95% interval";

/* Behind the seeds a place for their mean. */
static void add_mean_place(plot_figure *figure) {
    const char **names;
    if (!szgi_plot_new(figure->run, figure->y_count + 1, &names))
        return;
    for (int64_t i = 0; i < figure->y_count; i++)
        names[i] = figure->y_names[i];
    names[figure->y_count++] = "mean, 95%";
    figure->y_names = names;
}

static void add_mean(plot_figure *figure) {
    groups all;
    rows own = hypothesis_of(figure->run->page, figure->of, &all);
    plot_series *mean =
        own.count > 0 ? szgi_plot_add(figure, figure->panel, figure->panel->of, 1) : NULL;
    if (mean && szgi_plot_new(figure->run, 1, &mean->lo) &&
        szgi_plot_new(figure->run, 1, &mean->hi)) {
        mean->name = MEAN_NAME;
        mean->flat = true;
        mean->x[0] = szgi_rows_real(own, 0, "difference");
        mean->y[0] = (double)figure->y_count;
        mean->lo[0] = szgi_rows_real(own, 0, "t_low");
        mean->hi[0] = szgi_rows_real(own, 0, "t_high");
        add_mean_place(figure);
    }
    szgi_groups_free(&all);
}

static void say_seeds(words *words, rows of) {
    (void)of;
    fputs("a seed", words->stream);
}

static const plot differences = {.tables = {"reproduce_pairs"},
                                 .needs = {"seed", "difference"},
                                 .undone = "the differences are not drawn",
                                 .keeps = has_difference,
                                 .figure_by = {"result", "hypothesis"},
                                 .group_by = {"result", "hypothesis"},
                                 .marks = PLOT_POINTS,
                                 .x = {.column = "difference", .label = "difference"},
                                 .y = {.column = "seed", .places = true},
                                 .rules = {{"0: no difference", .at = 0, .vertical = true}},
                                 .hover = {"seed", "arm_value", "minus_value", "difference"},
                                 .subject = say_arms,
                                 .series_name = say_seeds,
                                 .prepare = add_mean,
                                 .title = "differences seed by seed",
                                 .caption = say_caption};

/* ---- The index of the arms ---- */

static bool has_index(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "index"));
}

/* The mean of each arm just above its seeds, and what of its interval an index can be. */
static void add_arm_means(plot_figure *figure) {
    double *x;
    plot_series *means = szgi_plot_add(figure, figure->panel, figure->panel->of, figure->y_count);
    if (!means || !szgi_plot_new(figure->run, figure->y_count, &means->lo) ||
        !szgi_plot_new(figure->run, figure->y_count, &means->hi) ||
        !szgi_plot_new(figure->run, figure->of.count + 1, &x))
        return;
    const plot_series *seeds = &figure->panel->series[0];
    means->name = MEAN_NAME;
    means->flat = true;
    for (int64_t place = 0; place < figure->y_count; place++) {
        int64_t count = 0;
        for (int64_t i = 0; i < seeds->count; i++)
            if (seeds->y[i] == (double)place)
                x[count++] = seeds->x[i];
        const szgi_mean_interval mean = szgi_mean_interval_of(count, x);
        means->x[place] = count ? mean.mean : NAN;
        means->y[place] = (double)place + 0.25;
        means->lo[place] = isfinite(mean.low) ? fmax(mean.low, 0) : NAN;
        means->hi[place] = isfinite(mean.high) ? fmin(mean.high, 1) : NAN;
    }
}

static void say_task(words *words, rows of) {
    fputs("Task ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "task"), NAME);
    fputs(", heads ablated by ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "method"), NAME);
    fputs(", layer ", words->stream);
    szgi_plot_number(words, szgi_rows_real(of, 0, "layer"));
}

static double mean_of(rows of, const char *column) {
    double sum = 0, count = 0;
    for (int64_t i = 0; i < of.count; i++) {
        double value = szgi_rows_real(of, i, column);
        sum += isfinite(value) ? value : 0;
        count += isfinite(value);
    }
    return sum / count;
}

static int64_t count_above(rows of, const char *column) {
    int64_t count = 0;
    for (int64_t i = 0; i < of.count; i++)
        count += szgi_rows_real(of, i, "index") > szgi_rows_real(of, i, column);
    return count;
}

/* "Of 24 indices 5 exceed what uniform shares exceed in 5% (0.77; on average they give 0.52), 9
 * what equal heads of the same run exceed in 5% (on average 0.3). ..." */
static void say_beyond(words *words, const plot_figure *figure) {
    rows of = figure->of;
    fprintf(words->stream, "Of %" PRId64 " indices %" PRId64, of.count,
            count_above(of, "dirichlet_95"));
    say_number(words, " exceed what uniform shares exceed in 5% (", mean_of(of, "dirichlet_95"));
    say_number(words, "; on average they give ", mean_of(of, "dirichlet_mean"));
    fprintf(words->stream, "), %" PRId64, count_above(of, "equal_95"));
    say_number(words, " what equal heads of the same run exceed in 5% (on average ",
               mean_of(of, "equal_95"));
    fputs("). All arms are counted together.", words->stream);
}

static const plot indices = {
    .tables = {"reproduce_arms"},
    .needs = {"index", "layer"},
    .undone = "the arms' indices are not drawn",
    .keeps = has_index,
    .figure_by = {"result", "task", "method", "layer"},
    .group_by = {"result", "task", "method"},
    .marks = PLOT_POINTS,
    .x = {.column = "index", .label = "share of the drops", .lo = 0, .hi = 1},
    .y = {.column = "arm"},
    .rules = {{"equal heads, 95%, mean of the runs", .column = "equal_95", .vertical = true},
              {"uniform shares, mean", .column = "dirichlet_mean", .vertical = true},
              {"uniform shares, 95%", .column = "dirichlet_95", .vertical = true}},
    .hover = {"arm", "seed", "index", "total_drop", "equal_95", "note"},
    .subject = say_task,
    .series_name = say_seeds,
    .prepare = add_arm_means,
    .title = "deposit index by arm",
    .caption = say_beyond};

static const plot listed = {.tables = {"reproduce_hypotheses"},
                            .keeps = is_named,
                            .marks = PLOT_ROWS,
                            .heading = "Every hypothesis",
                            .shown = {"hypothesis", "statement", "pairs", "failed", "difference",
                                      "t_low", "t_high", "p", "p_holm", "decision"}};

/* ---- The section ---- */

static void say_alone(words *words, const void *of) {
    const rows *own = of;
    szgi_words_clipped(words, szgi_rows_text(*own, 0, "hypothesis"), NAME);
    fputs(": ", words->stream);
    say_verdict(words, *own);
}

/* A hypothesis without any pair has no figure; its sentence stands alone. */
static void say_undrawn(plot_run *run) {
    rows all =
        szgi_match_all(szgi_collection_find(szgi_page_results(run->page), "reproduce_hypotheses"));
    for (int64_t i = 0; i < all.count && run->status == SZG_OK; i++) {
        rows own = {all.table, &(const int64_t){szgi_rows_at(all, i)}, 1};
        if (!(szgi_rows_real(own, 0, "pairs") > 0))
            szgi_page_paragraph(run->page, "%s", szgi_plot_text(run, say_alone, &own));
    }
}

static int64_t count_decisions(rows of, const char *decision) {
    int64_t count = 0;
    for (int64_t i = 0; i < of.count; i++) {
        const char *own = szgi_rows_text(of, i, "decision");
        count += is_primary(of, i) && (!decision || (own && strcmp(own, decision) == 0));
    }
    return count;
}

static void say_decisions(plot_run *run) {
    rows all =
        szgi_match_all(szgi_collection_find(szgi_page_results(run->page), "reproduce_hypotheses"));
    int64_t primary = count_decisions(all, NULL);
    if (run->status == SZG_OK && primary > 0)
        szgi_page_finding(run->page, NULL,
                          "Hypotheses: of %" PRId64 " primary ones %" PRId64 " supported, %" PRId64
                          " opposed, %" PRId64 " not decided, %" PRId64 " not testable, %" PRId64
                          " not complete.",
                          primary, count_decisions(all, "supported"),
                          count_decisions(all, "opposed"), count_decisions(all, "not decided"),
                          count_decisions(all, "not testable"),
                          count_decisions(all, "not complete"));
}

static const plot *const figures[] = {&differences, NULL};
static const plot *const others[] = {&indices, &listed, NULL};

static szg_status draw(page *page, const section *section) {
    plot_run run;
    szgi_plot_begin(&run, page, section);
    szgi_plot_all(&run, figures);
    say_undrawn(&run);
    say_decisions(&run);
    szgi_plot_all(&run, others);
    return szgi_plot_end(&run);
}

const section szgi_section_mechanism = {
    .id = "mechanism",
    .title = "Hypotheses",
    .tables = {"reproduce_hypotheses", "reproduce_arms"},
    .intro =
        "The preset names these hypotheses. A point is a seed: the number of one "
        "arm less that of the other, or the mean of others, with the same seed. "
        "The test flips the signs of the differences, all ways. Holm's rule adjusts it over the "
        "primary hypotheses. One is supported or opposed if the adjusted p is at most 0.05. It is "
        "not testable with fewer than five pairs. An exploratory one has no decision. A seed fails "
        "if a run lacks the number: an "
        "index, if the layer's drops come to 0.05 or less. Two references stand beside the "
        "indices. Chance alone: shares uniform on the simplex. Equal heads: every head costs the "
        "same, and the test split has a sampling error.",
    .figures = 32,
    .run = draw};
