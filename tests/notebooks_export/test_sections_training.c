/* Curves, ablations and switches: what they say and draw of hand-made results. */
#include "sections_csv.h"

/* ---- Curves ---- */

enum { EPOCHS = 4, SEEDS = 3 };

/* rope learns at once, nope late. */
static double accuracy_at(bool rope, int64_t seed, int64_t epoch) {
    return rope ? 0.95 - 0.3 / (double)(epoch * epoch) - 0.01 * (double)seed
                : 0.2 * (double)epoch + 0.02 * (double)seed * (double)seed;
}

static void add_curve(FILE *stream, const char *run, bool rope, int64_t seed) {
    for (int64_t epoch = 1; epoch <= EPOCHS; epoch++)
        for (int test = 0; test < 2; test++)
            fprintf(stream, "%s,%s,distance,%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%g,%.17g,\n",
                    run, rope ? "rope" : "nope", seed, epoch, 10 * epoch, test ? "test" : "train",
                    1.0 / (double)epoch, accuracy_at(rope, seed, epoch) - (test ? 0 : 0.1));
}

static void write_curves(void) {
    csv_text csv;
    begin_csv(&csv, CURVES);
    for (int64_t seed = 0; seed < SEEDS; seed++)
        for (int rope = 0; rope < 2; rope++) {
            char run[128];
            snprintf(run, sizeof run, "text/distance/%s/run-%" PRId64, rope ? "rope" : "nope",
                     seed);
            add_curve(csv.stream, run, rope, seed);
        }
    write_csv("rep", "reproduce", "curves", end_csv(&csv), "runs",
              "run:t,task:t,experiment:t,ceiling:r,note:t\n"
              "text/distance/rope/run-0,distance,text,0.99,\n"
              "other/distance/rope/run-0,distance,other,0.5,\n");
    free(csv.text);
}

/* The mean over seeds, in another order of adding than the section's. */
static double mean_accuracy(bool rope, int64_t epoch) {
    double sum = 0;
    for (int64_t seed = SEEDS - 1; seed >= 0; seed--)
        sum += accuracy_at(rope, seed, epoch);
    return sum / SEEDS;
}

START_TEST(curves_are_means_over_seeds) {
    begin_folder();
    write_curves();
    char *text = section_of(folder, "curves");
    /* Three digits: the fourth lies between two for rope, and hangs on the order of adding. */
    ck_says(text, "Best at the end: rope, %.3g", mean_accuracy(true, EPOCHS));
    ck_says(text, " of a ceiling of 0.99; worst: nope, %.4g (3 seeds each).",
            mean_accuracy(false, EPOCHS));
    /* two lines and their areas, two thin lines, the ceiling; losses are equal over seeds */
    ck_assert_int_eq(marks_of(text, "curves", 1), 2 + 2 + 2 + 1);
    ck_assert_int_eq(marks_of(text, "curves", 2), 2 + 2);
    ck_says(text, "label ceiling: 0.99");
    ck_assert_int_eq(occurrences(text, "<figure "), 2);
    free(text);
    text = page_of(folder);
    ck_says(text,
            "rope reaches a test accuracy of %.1f%% where the label ceiling is 99.0%% (Task "
            "distance, experiment text).",
            100 * mean_accuracy(true, EPOCHS));
    ck_assert_int_eq(occurrences(text, "reaches a test accuracy"), 1);
    free(text);
    end_folder();
}
END_TEST

/* The experiment is a column: figures, their titles and ceilings do not depend on how runs are
 * called. */
START_TEST(curves_are_told_apart_by_experiment) {
    begin_folder();
    write_csv("rep", "reproduce", "curves",
              "run:t,encoding:t,task:t,seed:i,epoch:i,step:i,split:t,loss:r,accuracy:r,"
              "experiment:t,note:t\n"
              "same/x,rope,distance,0,1,10,test,1,0.5,first,\n"
              "same/y,rope,distance,0,1,10,test,1,0.25,second,\n"
              "apart,nope,distance,0,1,10,test,1,0.75,second,\n",
              "runs",
              "run:t,task:t,experiment:t,ceiling:r,note:t\n"
              "same/y,distance,first,0.99,\nsame/x,distance,second,0.5,\n");
    char *text = section_of(folder, "curves");
    ck_assert_int_eq(occurrences(text, "<figure "), 4);
    ck_says(text, "Task distance, experiment first: accuracy by epoch");
    ck_says(text, "Task distance, experiment second: accuracy by epoch");
    ck_lacks(text, "experiment same");
    ck_says(text, "label ceiling: 0.99");
    ck_says(text, "label ceiling: 0.5");
    free(text);
    end_folder();
}
END_TEST

/* A training that diverged: its rows are there, and have no numbers. */
START_TEST(curves_without_numbers) {
    begin_folder();
    write_csv("rep", "reproduce", "curves",
              "run:t,encoding:t,task:t,seed:i,epoch:i,step:i,split:t,loss:r,accuracy:r,note:t\n"
              "a,rope,distance,0,1,10,train,1,0.5,\n"
              "a,rope,distance,0,1,10,test,nan,nan,\n",
              NULL, NULL);
    char *text = section_of(folder, "curves");
    ck_says(text, "No finite value of the test split.");
    free(text);
    end_folder();
}
END_TEST

START_TEST(runs_of_a_reproduction_are_drawn_once) {
    begin_folder();
    write_curves();
    csv_text inside, outside;
    begin_csv(&inside, CURVES);
    begin_csv(&outside, CURVES);
    add_curve(inside.stream, "run-0", true, 0);
    add_curve(outside.stream, "run-0", false, 0);
    write_csv("rep/runs/text/run-0", "train", "metrics", end_csv(&inside), NULL, NULL);
    write_csv("report/run-0", "train", "metrics", end_csv(&outside), NULL, NULL);
    char *text = section_of(folder, "curves");
    ck_assert_int_eq(occurrences(text, "<figure "), 4);
    ck_assert_int_eq(marks_of(text, "curves", 1), 7);
    ck_assert_int_eq(marks_of(text, "curves", 2), 2); /* one line of test, one of train */
    ck_says(text, "Best at the end: nope, 0.8 (1 seed each)");
    free(inside.text);
    free(outside.text);
    free(text);
    end_folder();
}
END_TEST

START_TEST(many_encodings_are_lines_of_one_figure) {
    begin_folder();
    csv_text csv;
    begin_csv(&csv, CURVES);
    for (int64_t i = 0; i < 300; i++)
        fprintf(csv.stream, "x/count/e%" PRId64 "/run-1,e%" PRId64 ",count,1,1,1,test,1,0.5,\n", i,
                i);
    write_csv("rep", "reproduce", "curves", end_csv(&csv), NULL, NULL);
    char *text = section_of(folder, "curves");
    ck_assert_int_eq(occurrences(text, "<figure "), 2);
    ck_assert_int_eq(marks_of(text, "curves", 1), 256);
    ck_says(text, "Not drawn: %d further series", 300 - 256);
    free(csv.text);
    free(text);
    end_folder();
}
END_TEST

/* ---- Ablation ---- */

static double whole_of(int64_t seed) {
    return 0.9 + 0.02 * (double)seed;
}

START_TEST(ablation_shows_heads_and_deposit) {
    begin_folder();
    csv_text csv;
    begin_csv(&csv, ABLATION);
    for (int64_t seed = 0; seed < 2; seed++)
        for (int64_t layer = 0; layer < 2; layer++)
            for (int64_t head = 0; head <= 4; head++) {
                double drop = 0.05 * (double)(head + 1) + 0.01 * (double)(seed + layer);
                fprintf(csv.stream, "r%" PRId64 ",mla,count,%" PRId64 ",%" PRId64 ",", seed, seed,
                        layer);
                if (head < 4)
                    fprintf(csv.stream, "%" PRId64, head);
                fprintf(csv.stream, ",%.17g,%.17g,,text,output,%s\n", whole_of(seed) - drop, drop,
                        head == 3 ? "odd" : "");
            }
    write_csv("rep", "reproduce", "ablation", end_csv(&csv), "deposit",
              DEPOSIT "\n"
                      "text,mla,count,,0,2,,,,0.999,,,,,,text,values,\n"
                      "r0,mla,count,0,0,1,3,,0.03,0.111,0.521,,,,,text,output,\n"
                      "text,mla,count,,0,2,,0.4,0.2,0.684,0.521,0.5,0.75,-0.91,2.28,text,output,\n"
                      "r0,mla,count,0,1,1,2,,0.07,0.333,0.521,,,,,text,output,\n"
                      "r1,mla,count,1,1,1,2,,,0.444,0.521,,,,,text,output,\n"
                      "r0,mla,count,0,1,1,2,,,0.999,,,,,,text,values,\n");
    char *text = section_of(folder, "ablation");
    ck_assert_int_eq(occurrences(text, "<figure "), 2); /* of values there is no point */
    /* the points of two layers, too few for violins, those of whole layers, the rule */
    ck_assert_int_eq(marks_of(text, "ablation", 1), 2 * 4 * 2 + 2 * 2 + 1);
    ck_says(text, "every head there: 0.91<"); /* (0.9 + 0.92) / 2 */
    /* a point a run and layer that has both numbers, and the rule of the null */
    ck_assert_int_eq(marks_of(text, "ablation", 2), 2 + 1);
    ck_says(text, "layer 0\nworst head: 3\nseed: 0\ndeposit index: 0.111\nlargest drop: 0.03<");
    ck_says(text, "layer 1\nworst head: 2\nseed: 0\ndeposit index: 0.333\nlargest drop: 0.07<");
    ck_says(text, "uniform shares, mean: 0.521<");
    /* The greatest drop, 0.05 (head + 1) + 0.01 (seed + layer), is of the last head. */
    ck_says(text, "Worst loss: without head 3 of layer 1, accuracy falls from 0.92 to 0.7; 2 "
                  "seeds; 4 points have a note.");
    ck_says(text, "Largest share: 0.684 [0.5, 0.75], the worst head of layer 0, of drops that sum "
                  "to 0.4; uniform shares have a mean of 0.521.");
    ck_says(text, "one head\nlayer: 1\nhead: 2\nseed: 1\naccuracy: 0.75\nloss of accuracy: 0.17<");
    ck_says(text, "<circle class=\"mark\" data-head=\"1.2\"");
    ck_says(text, "CSV: 2 rows of reproduce_deposit"); /* over seeds: values, and output */
    free(csv.text);
    free(text);
    end_folder();
}
END_TEST

/* A layer without a null, or with another: no rule across a figure that has its points. */
START_TEST(a_null_of_some_layers_is_no_rule) {
    static const char *const others[] = {"", "0.5"};
    csv_text csv;
    char *shares;
    begin_csv(&csv, ABLATION);
    for (int layer = 0; layer < 2; layer++)
        for (int head = 0; head < 2; head++)
            fprintf(csv.stream, "r0,rope,count,0,%d,%d,0.8,0.1,,text,cumulative,\n", layer, head);
    end_csv(&csv);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_gt(asprintf(&shares,
                                  DEPOSIT "\n"
                                          "r0,rope,count,0,0,1,1,,0.03,0.611,0.75,,,,,text,c,\n"
                                          "r0,rope,count,0,1,1,1,,0.07,0.633,%s,,,,,text,c,\n",
                                  others[i]),
                         0);
        begin_folder();
        write_csv("rep", "reproduce", "ablation", csv.text, "deposit", shares);
        char *text = section_of(folder, "ablation");
        ck_assert_int_eq(marks_of(text, "ablation", 2), 2); /* a point a layer, no rule */
        ck_lacks(text, "uniform shares, mean: ");
        ck_says(text, "Largest share: 0.633, head 1 of layer 1%s.",
                i ? "; uniform shares have a mean of 0.5" : "");
        free(shares);
        free(text);
        end_folder();
    }
    free(csv.text);
}
END_TEST

/* Encodings are panels of one figure, with one axis of accuracies. */
START_TEST(encodings_share_a_figure) {
    begin_folder();
    csv_text csv;
    begin_csv(&csv, ABLATION);
    for (int e = 0; e < 3; e++)
        for (int head = 0; head < 2; head++)
            fprintf(csv.stream, "r%d,e%d,count,0,0,%d,%g,%g,,text,output,\n", e, e, head,
                    0.8 - 0.1 * e, 0.1 * head * (e == 1));
    write_csv("rep", "reproduce", "ablation", end_csv(&csv), NULL, NULL);
    char *text = section_of(folder, "ablation");
    ck_assert_int_eq(occurrences(text, "<figure "), 1);
    ck_assert_int_eq(occurrences(text, "<svg class=\"figure\""), 3);
    ck_says(text, "Task count, experiment text, by output: accuracy without each head");
    ck_says(text, "Worst loss: without head 1 of layer 0, e1, accuracy falls from 0.8 to 0.7; 1 "
                  "seed.");
    for (int e = 0; e < 3; e++)
        ck_says(text, "<title>e%d</title>", e);
    free(csv.text);
    free(text);
    end_folder();
}
END_TEST

/* What `szego ablate` wrote in two ways, and before it said in which. */
START_TEST(ablations_say_their_method_where_they_know_it) {
    static const char *const methods[] = {"output", "cumulative", NULL};
    static const char *const places[] = {"first", "second", "third"};
    begin_folder();
    for (int i = 0; i < 3; i++) {
        const char *type = methods[i] ? "method:t," : "", *comma = methods[i] ? "," : "",
                   *method = methods[i] ? methods[i] : "";
        char *heads, *shares;
        ck_assert_int_gt(asprintf(&heads,
                                  "run:t,encoding:t,task:t,seed:i,layer:i,head:i,accuracy:r,drop:r,"
                                  "label_ceiling:r,%snote:t\n"
                                  "r0,rope,count,0,0,0,0.8,0.1,,%s%s\n"
                                  "r0,rope,count,0,0,1,0.7,0.2,,%s%s\n",
                                  type, method, comma, method, comma),
                         0);
        ck_assert_int_gt(asprintf(&shares,
                                  "run:t,encoding:t,task:t,seed:i,layer:i,largest_drop:r,index:r,"
                                  "%snote:t\nr0,rope,count,0,0,0.2,0.62%d,%s%s\n",
                                  type, i + 1, method, comma),
                         0);
        write_csv(places[i], "ablate", "ablation", heads, "deposit", shares);
        free(heads);
        free(shares);
    }
    char *text = section_of(folder, "ablation");
    ck_assert_int_eq(occurrences(text, "<figure "), 2 * 3);
    for (int i = 0; i < 3; i++)
        ck_says(text, "Largest share: 0.62%d, ", i + 1);
    for (int i = 0; i < 2; i++) {
        ck_says(text, "<title>rope, count, by %s: accuracy without each head", methods[i]);
        ck_says(text, "<title>rope, count, by %s: the worst head&#39;s share", methods[i]);
    }
    ck_says(text, "<title>rope, count: accuracy without each head");
    free(text);
    end_folder();
}
END_TEST

/* ---- Switches ---- */

START_TEST(switches_decide_nothing_on_few_seeds) {
    double x[2], y[2];
    begin_folder();
    write_csv("rep", "reproduce", "switches",
              SWITCHES "\n"
                       "mask,text,rope,count,m=none,m=causal,0.9,0.02,3,0.6,0.03,3,0.3,0.04,3,\n"
                       "pool,text,rope,count,p=a,p=b,0.61,0.05,3,0.6,0.03,3,0.01,0.06,3,\n"
                       "one,text,rope,count,o=a,o=b,0.1,,1,0.6,,1,-0.5,,1,\n"
                       "none,text,rope,count,q=a,q=b,,,0,0.6,0.03,3,,,0,\n",
              NULL, NULL);
    char *text = section_of(folder, "switches");
    ck_says(text, "Largest difference: -50 points (one). 1 of 3 exceed their spread; 1 rests on "
                  "fewer than 3 seeds.");
    /* points of three, whiskers of the two that have several seeds, the rule at no difference */
    ck_assert_int_eq(marks_of(text, "switches", 1), 3 + 2 + 1);
    ck_says(text, "experiment: mask\nwith: m=none\naccuracy: 0.9\n");
    /* From 0.3 - 0.04 to 0.3 + 0.04 in points: the whisker lies along x. */
    const char *line = strstr(text, "<g class=\"line c0 thin\""), *path = strstr(line, " d=\"M");
    ck_assert(path && sscanf(path, " d=\"M%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1]) == 4);
    ck_assert(x[0] < x[1] && y[0] == y[1]);
    ck_says(text, "CSV: 4 rows of reproduce_switches"); /* the one that has not run is listed */
    free(text);
    end_folder();
}
END_TEST

TEST_FILE("sections_training") {
    test_add(suite, "curves are means over seeds", curves_are_means_over_seeds);
    test_add(suite, "curves are told apart by experiment", curves_are_told_apart_by_experiment);
    test_add(suite, "curves without numbers", curves_without_numbers);
    test_add(suite, "runs of a reproduction are drawn once", runs_of_a_reproduction_are_drawn_once);
    test_add(suite, "many encodings are lines of one figure",
             many_encodings_are_lines_of_one_figure);
    test_add(suite, "ablation shows heads and deposit", ablation_shows_heads_and_deposit);
    test_add(suite, "ablations say their method", ablations_say_their_method_where_they_know_it);
    test_add(suite, "a null of some layers is no rule", a_null_of_some_layers_is_no_rule);
    test_add(suite, "encodings share a figure", encodings_share_a_figure);
    test_add(suite, "switches decide nothing on few seeds", switches_decide_nothing_on_few_seeds);
}
