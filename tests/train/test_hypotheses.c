/* What a preset's hypotheses come to: numbers of hand-made logs, and verdicts on folders whose
 * ablations are written by the test. */
#include <math.h>

#include "../../train/reproduce/hypotheses.h"
#include "../../train/reproduce/shares.h"
#include "base/inference.h"
#include "base/row.h"
#include "toy.h"
#include "train/ablation/ablation.h"

/* ---- Curves ---- */

/* Epochs of 10 steps with these test accuracies, and train rows that say something else. */
static szg_table *new_metrics(int64_t epochs, const double *accuracy) {
    static const szg_column columns[] = {{"step", SZG_INTEGER, ""},
                                         {"split", SZG_TEXT, ""},
                                         {"accuracy", SZG_REAL, ""},
                                         {"note", SZG_TEXT, ""}};
    szg_table *out;
    ck_szg_ok(szg_table_open(test_context(), "metrics", columns, 4, &out));
    for (int64_t i = 0; i < 2 * epochs; i++) {
        szgi_row row = szgi_row_add(test_context(), out);
        szgi_row_integer(&row, 0, 10 * (i / 2 + 1));
        szgi_row_text(&row, 1, i % 2 ? "test" : "train");
        szgi_row_number(&row, 2, i % 2 ? accuracy[i / 2] : 1);
        ck_szg_ok(row.status);
    }
    return out;
}

static double steps_to_half(int64_t epochs, const double *accuracy, double majority) {
    szg_table *metrics = new_metrics(epochs, accuracy);
    double steps = szgi_steps_to_half(metrics, majority);
    szg_table_close(&metrics);
    return steps;
}

START_TEST(half_is_on_the_line_between_epochs) {
    /* Half of .8 lies a third of the way from .3 to .6, which ends epochs 1 and 2. */
    ck_close(steps_to_half(3, (double[]){.3, .6, .8}, .1), 10 + 10 / 3.0, 1e-13);
    /* In the first epoch from the majority on: (.4 - .1) / (.7 - .1). */
    ck_close(steps_to_half(2, (double[]){.7, .8}, .1), 5, 1e-13);
    /* It counts when it is first reached; an accuracy that is not there is passed over. */
    ck_close(steps_to_half(3, (double[]){.5, .1, .8}, .1), 7.5, 1e-13);
    ck_close(steps_to_half(3, (double[]){.2, NAN, .8}, .1), 10 + 20 / 3.0, 1e-13);
    ck_close(steps_to_half(2, (double[]){.397, .8}, .1), 10 + .03 / .403, 1e-12);
    ck_assert(isnan(steps_to_half(2, (double[]){.1, .2}, .1))); /* half is the majority */
    ck_assert(isnan(steps_to_half(0, NULL, .1)));
}
END_TEST

static int64_t at_chance(int64_t epochs, const double *accuracy, int64_t examples) {
    szg_table *metrics = new_metrics(epochs, accuracy);
    int64_t steps = szgi_steps_at_chance(metrics, .2, examples);
    szg_table_close(&metrics);
    return steps;
}

START_TEST(chance_ends_three_standard_errors_up) {
    /* Of 400 examples the standard error of .2 is .02: the bound is .26. */
    const double accuracy[] = {.2, .259, .261, .2};
    ck_assert_int_eq(at_chance(4, accuracy, 400), 20);
    ck_assert_int_eq(at_chance(2, accuracy, 400), 20); /* never left */
    ck_assert_int_eq(at_chance(2, accuracy + 2, 400), 0);
    ck_assert_int_eq(at_chance(4, accuracy, 100), 40); /* .32 */
}
END_TEST

/* ---- Early gradients ---- */

enum { HEADS = 3 };

static void add_norm(szg_table *to, const char *probe, int64_t step, int64_t layer, int64_t head,
                     double norm) {
    szgi_row row = szgi_row_add(test_context(), to);
    szgi_row_text(&row, 0, probe);
    szgi_row_integer(&row, 1, step);
    szgi_row_integer(&row, 2, layer);
    szgi_row_integer(&row, 3, head);
    szgi_row_number(&row, 4, norm);
    ck_szg_ok(row.status);
}

static szg_table *new_norms(const char *name) {
    const szg_column columns[] = {{"probe", SZG_TEXT, ""},    {"step", SZG_INTEGER, ""},
                                  {"layer", SZG_INTEGER, ""}, {"head", SZG_INTEGER, ""},
                                  {name, SZG_REAL, ""},       {"note", SZG_TEXT, ""}};
    szg_table *out;
    ck_szg_ok(szg_table_open(test_context(), "contraction", columns, 6, &out));
    return out;
}

START_TEST(early_shares_are_means_over_steps) {
    double share[HEADS];
    int64_t steps;
    szg_table *norms = new_norms("grad_norm_qk");
    for (int64_t step = 0; step < 12; step += 4)
        for (int probe = 0; probe < 2; probe++)
            for (int64_t layer = 0; layer < 2; layer++)
                for (int64_t head = 0; head < HEADS; head++)
                    /* Step 0: shares 1/6, 2/6, 3/6; step 4: 5/18, 6/18, 7/18; another probe says
                     * the same, which is said here otherwise. */
                    add_norm(norms, probe ? "1" : "0", step, layer, head,
                             layer   ? (double)(HEADS - head)
                             : probe ? 9
                                     : (double)(step + 1 + head));
    ck_szg_ok(
        szgi_gradient_shares(test_context(), norms, 0, HEADS, (step_range){0, 7}, share, &steps));
    ck_assert_int_eq(steps, 2);
    for (int64_t head = 0; head < HEADS; head++)
        ck_close(share[head], ((double)(1 + head) / 6 + (double)(5 + head) / 18) / 2, 1e-15);
    ck_szg_ok(
        szgi_gradient_shares(test_context(), norms, 1, HEADS, (step_range){0, 8}, share, &steps));
    ck_assert_int_eq(steps, 3);
    ck_close(share[0], .5, 1e-15);
    ck_szg_ok(
        szgi_gradient_shares(test_context(), norms, 0, HEADS, (step_range){0, -1}, share, &steps));
    ck_assert_int_eq(steps, 0);
    /* A head was not captured: no share is known. */
    ck_szg_ok(szgi_gradient_shares(test_context(), norms, 0, HEADS + 1, (step_range){0, 7},
                                   (double[HEADS + 1]){0}, &steps));
    ck_assert_int_eq(steps, 0);
    szg_table_close(&norms);
    norms = new_norms("grad_norm"); /* an earlier version's */
    add_norm(norms, "0", 0, 0, 0, 1);
    ck_szg_ok(szgi_gradient_shares(test_context(), norms, 0, 1, (step_range){0, 7}, share, &steps));
    ck_assert_int_eq(steps, 0);
    ck_szg_ok(szgi_gradient_shares(test_context(), NULL, 0, 1, (step_range){0, 7}, share, &steps));
    ck_assert_int_eq(steps, 0);
    szg_table_close(&norms);
}
END_TEST

/* ---- Verdicts ---- */

#define SETTINGS                                                                                   \
    "\"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"     \
    " \"heads\": 4, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 1},"                \
    " \"capture\": {\"every\": 2}},\n"                                                             \
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 40, \"between_max\": 4,"                 \
    " \"side_max\": 2, \"longest\": 10}}},\n"
#define ARM(encoding) "{\"experiment\": \"e\", \"encoding\": \"" encoding "\"}"
#define TRIALS(hypotheses)                                                                         \
    "{\"name\": \"trials\", \"about\": \"\", \"seeds\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],\n"        \
    " " SETTINGS " \"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": "     \
    "[\"rope\", \"nope\", \"alibi\"], \"ablation\": true}],\n \"hypotheses\": [" hypotheses "]}"
#define SAY(name, measure, rest, arm, primary)                                                     \
    "{\"name\": \"" name "\", \"text\": \"text of " name "\", \"measure\": \"" measure "\", " rest \
    "\"arm\": " ARM(arm) ", \"primary\": " primary "}"
#define MINUS(arms) "\"minus\": [" arms "], "

static const char trials[] =
    TRIALS(SAY("up", "index", "\"layer\": 0, " MINUS(ARM("nope")), "rope", "true") ",\n" SAY(
        "down", "total_drop", "\"layer\": 0, " MINUS(ARM("nope") ", " ARM("alibi")), "rope",
        "true") ",\n" SAY("even", "accuracy", MINUS(ARM("nope")), "rope",
                          "true") ",\n" SAY("few", "index", "\"layer\": 1, ", "alibi",
                                            "true") ",\n" SAY("early", "rank_correlation",
                                                              "\"layer\": 0, ", "rope",
                                                              "true") ",\n" SAY("free",
                                                                                "steps_to_half",
                                                                                MINUS(ARM("nope")),
                                                                                "rope", "false"));
enum { UP, DOWN, EVEN, FEW, EARLY, FREE, SEEDS = 10, ENCODINGS = 3, WHOLE_AT = 90 };
static const char *const encodings[] = {"rope", "nope", "alibi"};

/* The drop of a head in percent: of layer 0 index and total of rope grow and fall with the seed; of
 * alibi's layer 1 six seeds lose 5 points, which is no more than 5. */
static int drop_of(int encoding, int seed, int layer, int head) {
    if (layer == 1)
        return head == 2 ? (encoding == 2 && seed > 4 ? 5 : 20 + seed) : -head;
    if (encoding == 0)
        return head == 1 ? 20 + seed : head == 3 ? 2 : 0;
    if (encoding == 1) /* nearly equal ones */
        return head == 0 ? 14 : 11 + (seed + head) % 3;
    return head == 0 ? 30 : 10 + (seed + head) % 3;
}

static void write_drops(const char *folder, const char *run, int encoding, int seed,
                        const char *file, const char *method) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("run,encoding,task,seed,layer,head,accuracy,drop,label_ceiling,method,note\n", stream);
    for (int layer = 0; layer < 2; layer++)
        for (int head = 0; head <= 4; head++) {
            int percent = WHOLE_AT - (head < 4 ? drop_of(encoding, seed, layer, head) : 50);
            fprintf(stream, "r,e,distance,%d,%d,", seed, layer);
            if (head < 4)
                fprintf(stream, "%d", head);
            fprintf(stream, ",%.2f,0,,%s,\n", percent / 100.0, method);
        }
    fclose(stream);
    write_run_text(folder, run, file, text);
    free(text);
}

/* Test accuracy .9 and, by turns, a few of 4500 examples more or less. */
static double accuracy_of(int encoding, int seed) {
    return .9 + (encoding == 0) * (seed % 2 ? seed : -seed) / 4500.;
}

/* One epoch of 30 steps: rope is at half of .4 after 10, the others at half of .25 after 5. */
static void write_metrics(const char *folder, const char *run, int encoding, int seed) {
    char text[512];
    snprintf(text, sizeof text,
             "run,encoding,task,seed,epoch,step,split,loss,accuracy,learning_rate,note\n"
             "r,e,distance,%d,1,30,train,1,0.9,0,\nr,e,distance,%d,1,30,test,1,%s,0,\n",
             seed, seed, encoding == 0 ? "0.4" : "0.25");
    write_run_text(folder, run, "metrics.csv", text);
}

static void write_run(const char *folder, int encoding, int seed) {
    char run[128];
    snprintf(run, sizeof run, "e/distance/%s/run-%d", encodings[encoding], seed);
    write_drops(folder, run, encoding, seed, "ablation.csv", "output");
    write_metrics(folder, run, encoding, seed);
    write_number(folder, run, "whole", WHOLE_AT / 100.0);
    write_number(folder, run, "test_accuracy", accuracy_of(encoding, seed));
    write_number(folder, run, "test_examples", 1000);
    write_number(folder, run, "majority", .1);
}

static char *new_trials(void) {
    char *folder = new_folder();
    train_whole(folder, trials);
    for (int encoding = 0; encoding < ENCODINGS; encoding++)
        for (int seed = 1; seed <= SEEDS; seed++)
            write_run(folder, encoding, seed);
    return folder;
}

/* Sum, greatest and share of the positive drops, in whole percents. */
static double total_of(int encoding, int seed, int layer, double *index) {
    int total = 0, largest = 0;
    for (int head = 0; head < 4; head++) {
        int drop = drop_of(encoding, seed, layer, head);
        total += drop > 0 ? drop : 0;
        largest = drop > largest ? drop : largest;
    }
    *index = (double)largest / total;
    return total / 100.0;
}

/* Drops are differences of accuracies that are off by 2^-54 each. */
#define ROUNDED (64 * 0x1p-53)

/* The share of the trials with such an index, the row itself among them. */
static double chance_of(int64_t row, const szg_table *arms, int64_t heads) {
    szgi_equal_heads of = {heads, 1000, WHOLE_AT / 100.0, real_at(arms, row, "total_drop")};
    double shares[SZGI_EQUAL_TRIALS], beyond = 1;
    ck_szg_ok(szgi_equal_heads_shares(test_context(), &of, (uint64_t)real_at(arms, row, "seed"),
                                      (int64_t)real_at(arms, row, "layer"), shares));
    for (int64_t i = 0; i < SZGI_EQUAL_TRIALS; i++)
        beyond += shares[i] >= real_at(arms, row, "index");
    return beyond / (SZGI_EQUAL_TRIALS + 1);
}

START_TEST(arms_say_what_the_ablations_hold) {
    char *folder = new_trials();
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    open_tables(folder, trials, &runs, &tables);
    const szg_table *arms = tables.arms;
    ck_assert_int_eq(szg_table_rows(arms), SEEDS * ENCODINGS * 2);
    for (int64_t row = 0; row < szg_table_rows(arms); row++) {
        int layer = (int)(row % 2), encoding = (int)(row / 2 % ENCODINGS),
            seed = 1 + (int)(row / 2 / ENCODINGS);
        double index, total = total_of(encoding, seed, layer, &index);
        char arm[32];
        snprintf(arm, sizeof arm, "e/%s", encodings[encoding]);
        ck_assert_str_eq(text_at(arms, row, "arm"), arm);
        ck_assert_str_eq(text_at(arms, row, "method"), "output");
        ck_assert(real_at(arms, row, "seed") == seed && real_at(arms, row, "layer") == layer);
        ck_close(real_at(arms, row, "total_drop"), total, ROUNDED);
        ck_close(real_at(arms, row, "accuracy"), accuracy_of(encoding, seed), 0);
        ck_close(real_at(arms, row, "steps_to_half"), encoding == 0 ? 10 : 5, 1e-13);
        ck_close(real_at(arms, row, "dirichlet_mean"), (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0) / 4,
                 1e-15);
        ck_close(szgi_largest_share_tail(4, real_at(arms, row, "dirichlet_95")), .05, 1e-9);
        int worst = layer ? 2 : encoding ? 0 : 1;
        ck_assert(real_at(arms, row, "worst_head") == worst);
        int64_t other = szgi_head_other((uint64_t)seed, layer, 4, worst);
        ck_assert(real_at(arms, row, "other_head") == (double)other);
        ck_assert(szg_table_is_empty(arms, row, column(arms, "intervened_head")));
        ck_assert(szg_table_is_empty(arms, row, column(arms, "rank_correlation")));
        bool known = total > .05;
        static const char *const shares[] = {"index", "other_index", "dirichlet_p", "equal_95",
                                             "equal_p"};
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(szg_table_is_empty(arms, row, column(arms, shares[i])), !known);
        if (!known)
            continue;
        ck_close(real_at(arms, row, "index"), index, ROUNDED / total);
        ck_close(real_at(arms, row, "other_index"),
                 fmax(0, drop_of(encoding, seed, layer, (int)other)) / 100 / total,
                 ROUNDED / total);
        ck_close(real_at(arms, row, "dirichlet_p"),
                 szgi_largest_share_tail(4, real_at(arms, row, "index")), 0);
        /* Of 1000 examples equal heads with so large a total rarely reach such an index. */
        double equal = real_at(arms, row, "equal_95"), p = real_at(arms, row, "equal_p");
        ck_assert(equal > .25 && equal < .6 && p > 0 && p <= 1);
        ck_assert_int_eq(index > equal, p <= .05);
        ck_close(p, chance_of(row, arms, 4), 1e-15);
    }
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* The differences of a hypothesis, by plain formulas. */
static double difference_of(int which, int seed) {
    double index[3], total[3];
    for (int encoding = 0; encoding < 3; encoding++)
        total[encoding] = total_of(encoding, seed, which == FEW, &index[encoding]);
    return which == UP     ? index[0] - index[1]
           : which == DOWN ? total[0] - (total[1] + total[2]) / 2
           : which == EVEN ? accuracy_of(0, seed) - accuracy_of(1, seed)
           : which == FREE ? 5
                           : index[2];
}

/* The share of the choices of signs of 1 .. SEEDS whose sum is as far as that of 1 - 2 + 3 ..: of
 * whole numbers, in which equal sums are equal. Accuracies of EVEN differ by as many examples. */
static double flip_even(void) {
    int64_t beyond = 0, observed = 0;
    for (int64_t i = 1; i <= SEEDS; i++)
        observed += i % 2 ? i : -i;
    for (int64_t signs = 0; signs < 1 << SEEDS; signs++) {
        int64_t sum = 0;
        for (int64_t i = 1; i <= SEEDS; i++)
            sum += signs >> (i - 1) & 1 ? i : -i;
        beyond += llabs(sum) >= llabs(observed);
    }
    return ldexp((double)beyond, -SEEDS);
}

static void check_verdict(const szg_reproduction_tables *tables, int which, int64_t pairs,
                          int64_t failed, double adjusted, const char *decision) {
    static const char *const names[] = {"up", "down", "even", "few", "early", "free"};
    const szg_table *of = tables->hypotheses;
    double sum = 0;
    char text[32];
    snprintf(text, sizeof text, "text of %s", names[which]);
    ck_assert_str_eq(text_at(of, which, "hypothesis"), names[which]);
    ck_assert_str_eq(text_at(of, which, "statement"), text);
    ck_assert(real_at(of, which, "seeds") == SEEDS && real_at(of, which, "missing") == 0);
    ck_assert(real_at(of, which, "pairs") == (double)pairs);
    ck_assert(real_at(of, which, "failed") == (double)failed);
    ck_assert_str_eq(text_at(of, which, "decision"), decision);
    if (isfinite(adjusted))
        ck_close(real_at(of, which, "p_holm"), adjusted, 1e-15);
    else
        ck_assert(szg_table_is_empty(of, which, column(of, "p_holm")));
    for (int seed = 1; seed <= pairs; seed++)
        sum += difference_of(which, seed);
    if (pairs > 0)
        ck_close(real_at(of, which, "difference"), sum / (double)pairs, 100 * ROUNDED);
}

START_TEST(verdicts_follow_the_rule) {
    char *folder = new_trials();
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    double even[SEEDS];
    open_tables(folder, trials, &runs, &tables);
    /* Ten differences of one sign: 2 of 1024 choices are as far. Five primary hypotheses. */
    double p = 2 / 1024.0;
    check_verdict(&tables, UP, 10, 0, 5 * p, "supported");
    check_verdict(&tables, DOWN, 10, 0, 5 * p, "opposed"); /* no less than the one before */
    for (int seed = 1; seed <= SEEDS; seed++)
        even[seed - 1] = difference_of(EVEN, seed);
    ck_close(real_at(tables.hypotheses, EVEN, "p"), flip_even(), 0);
    check_verdict(&tables, EVEN, 10, 0, fmin(1, 3 * flip_even()), "not decided");
    check_verdict(&tables, FEW, 4, 6, NAN, "not testable");
    check_verdict(&tables, EARLY, 0, 10, NAN, "not testable");
    check_verdict(&tables, FREE, 10, 0, NAN, "exploratory");
    ck_close(real_at(tables.hypotheses, FREE, "p"), p, 0);
    ck_assert_str_eq(text_at(tables.hypotheses, DOWN, "minus"), "e/nope|e/alibi");
    ck_assert_ptr_null(text_at(tables.hypotheses, FEW, "minus"));
    szgi_mean_interval mean = szgi_mean_interval_of(SEEDS, even);
    ck_close(real_at(tables.hypotheses, EVEN, "t_low"), mean.low, ROUNDED);
    ck_close(real_at(tables.hypotheses, EVEN, "t_high"), mean.high, ROUNDED);
    ck_assert_int_eq(szg_table_rows(tables.pairs), 6 * SEEDS);
    for (int64_t row = 0; row < SEEDS; row++) {
        ck_assert_str_eq(text_at(tables.pairs, row, "hypothesis"), "up");
        ck_assert(real_at(tables.pairs, row, "seed") == (double)(row + 1));
        ck_close(real_at(tables.pairs, row, "difference"), difference_of(UP, (int)row + 1),
                 10 * ROUNDED);
        ck_close(real_at(tables.pairs, row, "arm_value") -
                     real_at(tables.pairs, row, "minus_value"),
                 real_at(tables.pairs, row, "difference"), 0);
    }
    ck_assert_str_eq(text_at(tables.pairs, FEW * SEEDS + 9, "note"), "a run lacks the number");
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* Nothing is tested before every run has run. */
START_TEST(nothing_is_decided_early) {
    char *folder = new_trials(), path[512];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    snprintf(path, sizeof path, "%s/runs/e/distance/nope/run-7/finished.json", folder);
    ck_assert_int_eq(remove(path), 0);
    open_tables(folder, trials, &runs, &tables);
    const szg_table *of = tables.hypotheses;
    for (int which = UP; which <= EVEN; which++) {
        ck_assert(real_at(of, which, "missing") == 1 && real_at(of, which, "pairs") == 9);
        ck_assert_str_eq(text_at(of, which, "decision"), "not complete");
        ck_assert(szg_table_is_empty(of, which, column(of, "p")));
        ck_assert(szg_table_is_empty(of, which, column(of, "p_holm")));
    }
    ck_assert_str_eq(text_at(of, FEW, "decision"), "not testable"); /* alibi's runs are there */
    ck_assert_str_eq(text_at(tables.pairs, 6, "note"), "a run is not finished");
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* Holm's rule takes all primary hypotheses: while a run of one is missing, none is decided. Without
 * a run of alibi two of them have all theirs. */
START_TEST(holm_waits_for_all) {
    char *folder = new_trials(), path[512];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    snprintf(path, sizeof path, "%s/runs/e/distance/alibi/run-7/finished.json", folder);
    ck_assert_int_eq(remove(path), 0);
    open_tables(folder, trials, &runs, &tables);
    const szg_table *of = tables.hypotheses;
    for (int which = UP; which <= EVEN; which++) {
        ck_assert(real_at(of, which, "missing") == (which == DOWN));
        ck_assert_int_eq(szg_table_is_empty(of, which, column(of, "p")), which == DOWN);
        ck_assert(szg_table_is_empty(of, which, column(of, "p_holm")));
        ck_assert_str_eq(text_at(of, which, "decision"), "not complete");
    }
    ck_assert_str_eq(text_at(of, FREE, "decision"), "exploratory");
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

START_TEST(presets_without_hypotheses_have_no_arms) {
    char *folder = new_folder();
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    train_whole(folder, toy);
    ck_szg_ok(open_preset(test_context(), folder, toy, NULL, 0, &runs));
    ck_szg_ok(szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    ck_assert(!tables.arms && !tables.hypotheses && !tables.pairs);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* ---- Presets ---- */

/* The arms have a seed with one of the others each, and none with both. */
#define SEEDLESS                                                                                   \
    "{\"name\": \"x\", \"about\": \"\", \"seeds\": [1, 2], " SETTINGS                              \
    "\"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]}, "      \
    "{\"name\": \"e\", \"seeds\": [1], \"encodings\": [\"nope\"]}, "                               \
    "{\"name\": \"e\", \"seeds\": [2], \"encodings\": [\"alibi\"]}], \"hypotheses\": [" SAY(       \
        "a", "accuracy", MINUS(ARM("nope") ", " ARM("alibi")), "rope", "true") "]}"
#define CAPTURED(config)                                                                           \
    "{\"name\": \"x\", \"about\": \"\", \"seeds\": [1], \"config\": {\"model\": {\"heads\": 4, "   \
    "\"layers\": 2}" config                                                                        \
    "}, \"tasks\": {\"distance\": {}}, \"experiments\": [{\"name\": \"e\", "                       \
    "\"profile\": \"text\", \"encodings\": [\"rope\"], \"ablation\": true}], \"hypotheses\": "     \
    "[" SAY("a", "rank_correlation", "\"layer\": 1, ", "rope", "true") "]}"

START_TEST(bad_hypotheses_are_refused) {
    static const char *const bad[][2] = {
        {TRIALS(""), "hypotheses: has 0 elements"},
        {TRIALS("3"), "hypotheses[0]"},
        {TRIALS(SAY("", "accuracy", "", "rope", "true")), "hypotheses[0].name: is empty"},
        {TRIALS(SAY("a", "indx", "\"layer\": 0, ", "rope", "true")), "did you mean index"},
        {TRIALS(SAY("a", "index", "", "rope", "true")), "hypotheses[0].layer"},
        {TRIALS(SAY("a", "index", "\"layer\": 2, ", "rope", "true")), "has no layer 2"},
        {TRIALS(SAY("a", "index", "\"layer\": -1, ", "rope", "true")), "has no layer -1"},
        {TRIALS(SAY("a", "accuracy", "\"layer\": 0, ", "rope", "true")),
         "accuracy is of a whole run: leave the layer out"},
        {TRIALS(SAY("a", "accuracy", "", "t5", "true")),
         "arm: the preset has no run of experiment e, encoding t5, task distance"},
        {TRIALS(SAY("a", "accuracy", MINUS(ARM("t5")), "rope", "true")),
         "minus[0]: the preset has no run"},
        {TRIALS(SAY("a", "accuracy", MINUS(""), "rope", "true")), "minus: has 0 arms"},
        {TRIALS(SAY("a", "accuracy", MINUS(ARM("nope") ", " ARM("rope")), "rope", "true")),
         "minus[1]: experiment e, encoding rope is \"arm\" itself"},
        {SEEDLESS, "minus: no seed of experiment e is one of all these too"},
        {CAPTURED(""), "runs of experiment e have no rank_correlation: give it capture.every"},
        {CAPTURED(", \"capture\": {\"every\": 2, \"heads\": \"0+2\"}"),
         "runs of experiment e do not capture every head, and have no rank_correlation"},
        {CAPTURED(", \"capture\": {\"every\": 2, \"layers\": \"0\"}"),
         "do not capture layer 1: add it to capture.layers"},
        {TRIALS(SAY("a", "accuracy", "", "rope", "1")), "hypotheses[0].primary"},
        {TRIALS(SAY("a", "accuracy", "\"task\": \"count\", ", "rope", "true")),
         "encoding rope, task count"},
        {TRIALS(SAY("a", "accuracy", "", "rope", "true") ", " SAY("a", "accuracy", "", "rope",
                                                                  "true")),
         "\"a\" is there twice"},
        {TRIALS(SAY("a", "accuracy", "\"arms\": 1, ", "rope", "true")),
         "arms: is unknown: did you mean arm"},
        {"{\"name\": \"x\", \"about\": \"\", \"seeds\": [1], " SETTINGS "\"early_steps\": 0, "
         "\"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]}]}",
         "early_steps: is 0, not an integer from 1"},
        {"{\"name\": \"x\", \"about\": \"\", \"seeds\": [1], " SETTINGS
         "\"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]}], "
         "\"hypotheses\": [" SAY("a", "index", "\"layer\": 0, ", "rope", "true") "]}",
         "heads of experiment e are not ablated by output"},
    };
    presets_are_refused(sizeof bad / sizeof *bad, bad);
}
END_TEST

/* Two runs of one seed: what is allocated does not depend on their number. */
static const char few[] =
    "{\"name\": \"few\", \"about\": \"\", \"seeds\": [1], " SETTINGS
    " \"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\", "
    "\"nope\"], \"ablation\": true}], \"hypotheses\": [" SAY(
        "up", "index", "\"layer\": 0, " MINUS(ARM("nope")), "rope", "true") "]}";

START_TEST(failed_allocations_are_survived) {
    char *folder = new_folder(), path[256];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    train_whole(folder, few);
    write_run(folder, 0, 1);
    write_run(folder, 1, 1);
    write_preset(folder, few, path);
    szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path,
                                        .folder = folder};
    ck_survives_failed_allocations(50, szg_reproduction_open(test_context(), &options, &runs));
    ck_survives_failed_allocations(100,
                                   szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    ck_assert_int_eq(szg_table_rows(tables.pairs), 1);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* A copied folder whose test split has no examples, or more than there can be. */
START_TEST(impossible_splits_have_no_reference) {
    static const double examples[] = {0, 1e15};
    char *folder = new_folder();
    train_whole(folder, few);
    for (int i = 0; i < 2; i++) {
        szg_reproduction *runs;
        szg_reproduction_tables tables;
        write_run(folder, 0, 1);
        write_run(folder, 1, 1);
        write_number(folder, "e/distance/rope/run-1", "test_examples", examples[i]);
        ck_szg_ok(open_preset(test_context(), folder, few, NULL, 0, &runs));
        ck_szg_ok(szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
        ck_assert(szg_table_is_empty(tables.arms, 0, column(tables.arms, "equal_95")));
        ck_assert(!szg_table_is_empty(tables.arms, 0, column(tables.arms, "dirichlet_p")));
        ck_assert(!szg_table_is_empty(tables.arms, 2, column(tables.arms, "equal_95")));
        close_tables(&runs, &tables);
    }
    remove_tree(folder);
}
END_TEST

/* Layer 0 does not rotate, and head 0 of layer 1 is kept from it: three heads are left. */
static const char rotated[] =
    "{\"name\": \"rotated\", \"about\": \"\", \"seeds\": [1], " SETTINGS
    " \"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"], "
    "\"ablation\": [\"output\", \"rotation\"], \"config\": {\"model\": {\"rotated_layers\": "
    "\"1\"}, "
    "\"intervention\": {\"kind\": \"rotation\", \"layer\": 1, \"head\": 0}}}], "
    "\"hypotheses\": [" SAY("a", "accuracy", "", "rope", "true") "]}";

/* Even if a copied folder says that the other heads lose accuracy. */
START_TEST(heads_that_are_spared_have_no_share) {
    static const char *const references[] = {"dirichlet_mean", "dirichlet_95", "dirichlet_p",
                                             "equal_95", "equal_p"};
    char *folder = new_folder();
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    train_whole(folder, rotated);
    write_run(folder, 0, 1);
    write_drops(folder, "e/distance/rope/run-1", 0, 1, "ablation_rotation.csv", "rotation");
    open_tables(folder, rotated, &runs, &tables);
    const szg_table *arms = tables.arms, *deposit = tables.deposit;
    ck_assert(szg_table_rows(arms) == 4 && szg_table_rows(deposit) == 4);
    for (int i = 0; i < 5; i++)
        ck_assert(szg_table_is_empty(arms, 2, column(arms, references[i])));
    ck_assert(szg_table_is_empty(deposit, 2, column(deposit, "uniform_index")));
    for (int64_t row = 0; row < 4; row += row ? 2 : 1) {
        int64_t heads = row < 2 ? 4 : 3;
        double index = real_at(arms, row, "index");
        ck_assert(real_at(arms, row, "layer") == (double)(row % 2));
        ck_close(real_at(arms, row, "dirichlet_mean"), szgi_deposit_uniform(heads), 0);
        ck_close(real_at(deposit, row, "uniform_index"), szgi_deposit_uniform(heads), 0);
        ck_close(szgi_largest_share_tail(heads, real_at(arms, row, "dirichlet_95")), .05, 1e-9);
        ck_close(real_at(arms, row, "dirichlet_p"), szgi_largest_share_tail(heads, index), 0);
        ck_close(real_at(arms, row, "equal_p"), chance_of(row, arms, heads), 1e-15);
    }
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

TEST_FILE("hypotheses") {
    test_add(suite, "heads that are spared", heads_that_are_spared_have_no_share);
    test_add(suite, "impossible splits", impossible_splits_have_no_reference);
    test_add(suite, "half is on the line", half_is_on_the_line_between_epochs);
    test_add(suite, "chance ends", chance_ends_three_standard_errors_up);
    test_add(suite, "early shares", early_shares_are_means_over_steps);
    test_add(suite, "arms", arms_say_what_the_ablations_hold);
    test_add(suite, "verdicts", verdicts_follow_the_rule);
    test_add(suite, "nothing is decided early", nothing_is_decided_early);
    test_add(suite, "Holm waits", holm_waits_for_all);
    test_add(suite, "no hypotheses", presets_without_hypotheses_have_no_arms);
    test_add(suite, "bad hypotheses", bad_hypotheses_are_refused);
    test_add(suite, "failed allocations", failed_allocations_are_survived);
}
