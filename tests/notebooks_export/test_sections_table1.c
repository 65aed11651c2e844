/* Table 1, its settings, plain runs and the sweep, on tables made by hand. */
#include <math.h>
#include "train/reproduce/published.h"

#include "sections_support.h"

#define TABLE1                                                                                     \
    "t:experiment\tt:encoding\tr:task1\tr:task2\tr:spread1\tr:spread2\ti:seeds1\ti:seeds2\t"       \
    "r:paper1\tr:paper2\tr:length1\tr:length2\tr:ceiling1\tr:ceiling2\tt:note\n"
#define SETTINGS "t:item\tt:setting\tt:task\tt:key\tt:paper\tt:here\tt:same\tt:note\n"

static char *section_with(const char *id, const char *const *tables) {
    char *folder = new_results();
    write_tables(folder, "one", "reproduce", tables);
    char *section = section_of(folder, id);
    remove_results(folder);
    return section;
}

/* The difference of two decimals with two digits, computed in hundredths. */
static const char *difference(const char *here, const char *paper, char out[24]) {
    long hundredths = lround(strtod(here, NULL) * 100) - lround(strtod(paper, NULL) * 100);
    snprintf(out, 24, "%c%ld.%02ld", hundredths < 0 ? '-' : '+', labs(hundredths) / 100,
             labs(hundredths) % 100);
    return out;
}

START_TEST(numbers_stand_beside_the_papers) {
    static const char *const here[] = {"93.62", "74.37", "90.12", "77.70"};
    static const char *const paper[] = {"92.64", "69.43", "88.34", "97.41"};
    char cells[1024], number[24], expected[96];
    snprintf(cells, sizeof cells,
             TABLE1 "text\trope\t%s\t%s\t\t\t1\t1\t%s\t%s\t19.5\t3.6\t99.3\t100\n"
                    "text\tmla\t%s\t%s\t0.41\t\t3\t1\t%s\t%s\t19.5\t3.6\t99.3\t100\n"
                    "text\talibi\t50\t\t0.7\t\t1\t\t\t\t19.5\t\t99.3\t\n"
                    "open\tnope\t\t\t\t\t0\t0\t3.51\t77.69",
             here[0], here[1], paper[0], paper[1], here[2], here[3], paper[2], paper[3]);
    char *section = section_with("table1", (const char *const[]){"table1", cells, NULL});
    for (int i = 0; i < 4; i++) {
        snprintf(expected, sizeof expected,
                 "<td class=\"number\">%s</td><td class=\"number\">%s</td>", paper[i],
                 difference(here[i], paper[i], number));
        ck_has(section, expected);
    }
    ck_has(section, "<td class=\"number\">90.12 ± 0.41</td><td class=\"number\">3</td>");
    ck_has(section, "<td class=\"number\">93.62</td><td class=\"number\">1</td>");
    ck_assert_int_eq(occurrences(section, ">not run<"), 3);
    ck_assert_int_eq(occurrences(section, " ± 0"), 1);
    ck_has(section, "Entries of one seed have no interval.");
    ck_has(section, "Table 1 of arXiv 2505.13027v1");
    /* Two figures of `text`, none of `open`, where nothing has run. */
    ck_assert_int_eq(occurrences(section, "<figure id="), 2);
    ck_has(section, "rope is highest with 93.6% (paper 92.6%); whiskers: one standard deviation.");
    ck_has(section, "mla is highest with 77.7% (paper 97.4%); one seed each.");
    /* Three here, one whisker, two of the paper, three by length, three ceilings; the second task
     * has two of each and no whisker. */
    ck_has(section, "<figure id=\"table1-1\" data-marks=\"12\">");
    ck_has(section, "<figure id=\"table1-2\" data-marks=\"8\">");
    ck_lacks(section, "not finite");
    ck_has(section, "whether these runs had the paper's sizes is not known");
    free(section);
}
END_TEST

/* 80 - 2 = 78: b reaches it, c stands at 77.9 with its whisker, d at 77 has none, as it is one
 * seed, e is far below.
 */
START_TEST(rivals_within_the_whiskers_are_counted) {
    static const char cells[] = TABLE1 "text\ta\t80\t\t2\t\t3\n"
                                       "text\tb\t75\t\t3.5\t\t3\n"
                                       "text\tc\t75\t\t2.9\t\t3\n"
                                       "text\td\t77\t\t9\t\t1\n"
                                       "text\te\t10\t\t1\t\t3";
    char *section = section_with("table1", (const char *const[]){"table1", cells, NULL});
    ck_has(section, "a is highest with 80.0%, 1 other within the whiskers; whiskers");
    free(section);
}
END_TEST

/* The page's numbers of the paper are those of the file of published ones. */
START_TEST(plain_runs_have_the_papers_number_where_it_is_theirs) {
    static const char runs[] =
        "t:run\tt:encoding\tt:task\ti:seed\tr:test_accuracy\tr:label_ceiling\n"
        "run-0\trope\tdistance\t0\t0.9175\t0.9482\nrun-1\trope:base=100\tdistance\t1\t0.5\t0.9\n"
        "run-2\tmla\tcount\t2\tnan\t";
    char *folder = new_results(), number[64];
    szgi_published *paper;
    ck_szg_ok(szgi_published_open(test_context(), &paper));
    write_tables(folder, "alone", "train", (const char *const[]){"runs", runs, NULL});
    char *section = section_of(folder, "table1");
    snprintf(number, sizeof number, "<td class=\"number\">%.2f</td>",
             szgi_published_accuracy(paper, "rope", "distance"));
    ck_assert_int_eq(occurrences(section, number), 1);
    ck_has(section, "<td class=\"number\">91.75</td><td class=\"number\">94.82</td>");
    snprintf(number, sizeof number, "<td class=\"number\">%.2f</td>",
             szgi_published_accuracy(paper, "mla", "count"));
    ck_assert_int_eq(occurrences(section, number), 1);
    ck_has(section, "the two numbers are of different experiments");
    free(section);
    /* Runs within a reproduction are in its table: only others are listed. */
    write_tables(folder, "whole", "reproduce",
                 (const char *const[]){"table1", TABLE1 "text\trope\t90\t\t\t\t1", NULL});
    write_tables(folder, "whole/runs", "train", (const char *const[]){"runs", runs, NULL});
    section = section_of(folder, "table1");
    ck_assert_int_eq(occurrences(section, "<td>alone</td>"), 3);
    ck_lacks(section, "<td>whole/runs</td>");
    free(section);
    szgi_published_close(&paper);
    remove_results(folder);
}
END_TEST

static char *with_settings(const char *rows) {
    char cells[2048];
    snprintf(cells, sizeof cells, SETTINGS "%s", rows);
    return section_with("table1", (const char *const[]){"table1", TABLE1 "text\trope\t90\t\t\t\t1",
                                                        "settings", cells, NULL});
}

START_TEST(smaller_experiments_are_called_that) {
    char *section = with_settings("Table 3\tlayers\t\tmodel.layers\t6\t2\tno\n"
                                  "Table 3\tmaximum length\t\tmodel.max_length\t128\t34|40\tno\n"
                                  "Table 3\tbatch\t\tloop.batch\t512|1024\t64\tno\n"
                                  "Table 3\tseed\t\tseed\t42\t42\tyes\n"
                                  "Table 3\texamples\tcount\tdata.examples\t50000\t10000\tno\n"
                                  "Table 4\tlayers\t\tmodel.layers\t6\t2\tno");
    ck_has(section, "of a smaller experiment than the paper's: layers 2 (paper 6), maximum length "
                    "34|40 (paper 128), examples of count 10000 (paper 50000). They say nothing");
    ck_has(section, "Different besides: batch 64 (paper 512|1024).");
    free(section);
    /* As large, or larger, or no number: not smaller. */
    section = with_settings("Table 3\tlayers\t\tmodel.layers\t6\t12\tno\n"
                            "Table 4\theads\t\tmodel.heads\t16|8\t8\tyes\n"
                            "Table 3\twidth\t\tmodel.width\t256\tmany\tno");
    ck_has(section,
           "The settings are not the paper's: layers 12 (paper 6), width many (paper 256).");
    ck_lacks(section, "smaller experiment");
    free(section);
    section = with_settings("Table 3\tlayers\t\tmodel.layers\t6\t6\tyes");
    ck_has(section, "The settings that the paper states are those of these runs.");
    free(section);
}
END_TEST

START_TEST(what_is_missing_is_counted_and_bounded) {
    char missing[4096] = "t:run\tt:encoding\tt:task\ti:seed\tt:note\n";
    for (int i = 0; i < 25; i++)
        snprintf(missing + strlen(missing), 64, "text/run-%d\trope\tcount\t%d\tnot begun\n", i, i);
    char *section = section_with(
        "table1", (const char *const[]){
                      "table1", TABLE1 "text\trope\t90\t\t\t\t1", "missing", missing, "items",
                      "t:item\tt:about\tt:experiment\ti:runs\ti:finished\tt:note\n"
                      "Table 1\ta\ttext\t6\t6\nFigure 2\tb\ttext\t6\t5\n"
                      "Figure 5\tc\t\t0\t0\tthis preset has no such run",
                      "needs", "t:preset\tr:hours\tt:note\nfull\t20203.6\tx", NULL});
    ck_has(section, "25 runs of the preset are not finished.");
    ck_has(section, "text/run-19");
    ck_lacks(section, "text/run-20");
    ck_has(section, "1 of 3 rows have all their runs.");
    ck_has(section, "20203.6");
    ck_lacks(section, "of them failed"); /* an earlier version's table has no states */
    free(section);
}
END_TEST

START_TEST(runs_that_failed_are_counted) {
    char *section = section_with(
        "table1",
        (const char *const[]){"table1", TABLE1 "text\trope\t90\t\t\t\t1", "missing",
                              "t:run\tt:encoding\tt:task\ti:seed\tt:state\ti:failed_step\tt:note\n"
                              "a/run-1\trope\tcount\t1\tfailed\t1234\tstep 1234: not finite\n"
                              "b/run-1\trope\tcount\t1\tfailed\t\tleft out: a/run-1 failed\n"
                              "c/run-1\trope\tcount\t1\tleft out\t\tleft out\n"
                              "d/run-1\trope\tcount\t1\tbegun\t\tbegun, not finished",
                              NULL});
    ck_has(section, "4 runs of the preset are not finished.");
    ck_has(section, "2 of them failed: their numbers stopped being finite");
    ck_has(section, "<td class=\"number\">1234</td>");
    ck_has(section, "failed_step");
    free(section);
}
END_TEST

#define SWEEP                                                                                      \
    "t:experiment\tt:task\ti:rotated_heads\tt:encoding\tr:accuracy\tr:spread\ti:seeds\tt:note\n"

START_TEST(sweep_is_drawn_by_task) {
    char *section = section_with(
        "sweep", (const char *const[]){"sweep",
                                       SWEEP "text\tdistance\t0\tnope\t0.125\t0.01\t3\n"
                                             "text\tdistance\t2\trope\t0.9\t0.02\t3\n"
                                             "text\tdistance\t4\trope\t0.75\t0.05\t1\n"
                                             "text\tcount\t0\tnope\t0.5\t0.1\t2\n"
                                             "text\tcount\t4\trope\t\t\t0\n"
                                             "open\tcount\t1\trope\t0.25\t0.01\t2",
                                       NULL});
    ck_assert_int_eq(occurrences(section, "<figure id="), 2);
    ck_has(section,
           "Task 1, trigger distance: highest 90% with 2 heads; Task 2, trigger count: highest "
           "50% with 0 heads; whiskers: one standard deviation.");
    ck_has(section, "heads that RoPE turns: 2\naccuracy: 0.9\nstandard deviation over seeds: "
                    "0.02\nseeds: 3</title>");
    /* First figure: two lines, three whiskers (0, 2 of task 1, 0 of task 2), four points. */
    const char *marks = strstr(section, "data-marks=\"");
    ck_assert_int_eq(atoi(marks + strlen("data-marks=\"")), 2 + 3 + 4);
    free(section);
}
END_TEST

START_TEST(hostile_and_foreign_tables_are_survived) {
#define EVIL "<script>alert(1)</script>\x1b[2J\"'&\xe2\x80\xae"
    char *folder = new_results();
    write_tables(
        folder, "evil", "reproduce",
        (const char *const[]){
            "table1",
            TABLE1 EVIL "\t" EVIL "\t1e308\tnan\t-1\tinf\t-5\t9223372036854775807\tinf\t-inf\tnan"
                        "\t-1e308\t1e308\tnan\t" EVIL "\n\t\t-1e308\t-5",
            "settings", SETTINGS EVIL "\t" EVIL "\t" EVIL "\tmodel.layers\t6\t" EVIL "\t" EVIL,
            "items", "t:item\tt:runs\n" EVIL "\t" EVIL, "missing", "t:run\n" EVIL, "needs",
            "t:preset\n" EVIL, "sweep",
            SWEEP EVIL "\t" EVIL "\t-9223372036854775807\t" EVIL "\t-0.5\tnan\t-1\n\t\t3\t\t1e308\t"
                       "1e308\t2\nx\ty\t\t\tnan",
            NULL});
    write_tables(folder, "typed", "reproduce",
                 (const char *const[]){"table1", "i:experiment\tt:task1\n1\tmuch", "settings",
                                       "t:key\nx", NULL});
    write_tables(
        folder, "runs", "train",
        (const char *const[]){
            "runs", "t:run\tt:encoding\tt:test_accuracy\n" EVIL "\t" EVIL "\t" EVIL, NULL});
    for (int i = 0; i < 2; i++) {
        char *section = section_of(folder, i ? "sweep" : "table1");
        ck_lacks(section, "<script");
        ck_lacks(section, "\x1b");
        ck_lacks(section, "\xe2\x80\xae");
        ck_has(section, "&lt;script&gt;alert");
        free(section);
    }
    remove_results(folder);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    char *folder = new_results();
    write_tables(folder, "one", "reproduce",
                 (const char *const[]){"table1", TABLE1 "text\trope\t90\t80\t\t\t1\t2\t92.64\t60",
                                       "settings", SETTINGS "Table 3\tlayers\t\tmodel.layers\t6\t2",
                                       "sweep", SWEEP "text\tdistance\t0\tnope\t0.1\t0.01\t3",
                                       NULL});
    write_tables(folder, "two", "train",
                 (const char *const[]){"runs", "t:run\tt:encoding\nrun-0\trope", NULL});
    ck_survives_failed_allocations(40, write_page(folder));
    remove_results(folder);
}
END_TEST

TEST_FILE("sections_table1") {
    test_add(suite, "numbers_stand_beside_the_papers", numbers_stand_beside_the_papers);
    test_add(suite, "rivals_within_the_whiskers_are_counted",
             rivals_within_the_whiskers_are_counted);
    test_add(suite, "plain_runs_have_the_papers_number_where_it_is_theirs",
             plain_runs_have_the_papers_number_where_it_is_theirs);
    test_add(suite, "smaller_experiments_are_called_that", smaller_experiments_are_called_that);
    test_add(suite, "what_is_missing_is_counted_and_bounded",
             what_is_missing_is_counted_and_bounded);
    test_add(suite, "runs_that_failed_are_counted", runs_that_failed_are_counted);
    test_add(suite, "sweep_is_drawn_by_task", sweep_is_drawn_by_task);
    test_add(suite, "hostile_and_foreign_tables_are_survived",
             hostile_and_foreign_tables_are_survived);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
