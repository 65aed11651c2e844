/* The sections on trained models: what they say and draw of hand-made results. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <szego/csv.h>
#include <szego/memory.h>
#include <szego/page.h>
#include <unistd.h>

#include "suite.h"

/* ---- Results made by hand ---- */

enum { MOST_COLUMNS = 24, PATH = 512 };

static char folder[PATH];

static void begin_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/szego-sections-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void end_folder(void) {
    char command[2 * PATH];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The first line of `csv` names the columns, each with its type after a colon: t, i or r. */
static szg_table *table_of(const char *name, const char *csv) {
    szg_column columns[MOST_COLUMNS];
    char *text = strdup(csv), *end = strchr(text, '\n'), header[1024] = "", *rest = NULL, *full;
    int64_t count = 0;
    szg_table *table;
    *end = 0;
    for (char *at = strtok_r(text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        char *type = strchr(at, ':');
        *type++ = 0;
        ck_assert_int_lt(count, MOST_COLUMNS);
        strcat(strcat(header, count ? "," : ""), at);
        columns[count++] = (szg_column){at,
                                        *type == 't'   ? SZG_TEXT
                                        : *type == 'i' ? SZG_INTEGER
                                                       : SZG_REAL,
                                        ""};
    }
    ck_assert_int_gt(asprintf(&full, "%s\n%s", header, csv + (end - text) + 1), 0);
    ck_szg_ok(
        szg_csv_parse(test_context(), name, full, (int64_t)strlen(full), columns, count, &table));
    free(full);
    free(text);
    return table;
}

/* A result of `command` in the folder PATH below the test's, with up to two tables (NULL: one). */
static void write_result(const char *path, const char *command, const char *name, const char *csv,
                         const char *other, const char *other_csv) {
    char full[2 * PATH];
    szg_result *result;
    szg_table *table = table_of(name, csv);
    snprintf(full, sizeof full, "%s/%s/", folder, path);
    ck_szg_ok(szg_result_open(test_context(), command, &result));
    ck_szg_ok(szg_result_add(test_context(), result, &table));
    if (other) {
        table = table_of(other, other_csv);
        ck_szg_ok(szg_result_add(test_context(), result, &table));
    }
    ck_szg_ok(szg_result_write(test_context(), result, full, NULL));
    szg_result_close(&result);
}

/* A table's text that grows row by row. */
typedef struct csv_text {
    FILE *stream;
    char *text;
    size_t size;
} csv_text;

static void begin_csv(csv_text *csv, const char *header) {
    csv->stream = open_memstream(&csv->text, &csv->size);
    fprintf(csv->stream, "%s\n", header);
}

static const char *end_csv(csv_text *csv) {
    fclose(csv->stream);
    return csv->text;
}

/* ---- The page ---- */

static szg_status write_page(const char *path) {
    szg_collection *collection;
    SZG_TRY(szg_collection_open(test_context(), folder, &collection));
    szg_status status = szg_page_write(test_context(), collection, path);
    szg_collection_close(&collection);
    return status;
}

static char *page_text(void) {
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/page.html", folder);
    ck_szg_ok(write_page(path));
    FILE *stream = fopen(path, "rb");
    ck_assert_ptr_nonnull(stream);
    fseek(stream, 0, SEEK_END);
    int64_t size = ftell(stream);
    rewind(stream);
    char *text = calloc((size_t)size + 1, 1);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, stream), (size_t)size);
    fclose(stream);
    return text;
}

/* One section of the page, NULL: it is not there. Frees the page. */
static char *section_text(char *page, const char *id) {
    char opening[64];
    snprintf(opening, sizeof opening, "<section id=\"%s\">", id);
    char *from = strstr(page, opening), *to = from ? strstr(from, "</section>") : NULL;
    char *text = from ? strndup(from, (size_t)(to - from)) : NULL;
    free(page);
    return text;
}

static int64_t count_of(const char *text, const char *words) {
    int64_t count = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        count++;
    return count;
}

/* The marks that figure `number` (from 1) of the section says it has. */
static int64_t marks_of(const char *text, const char *section, int64_t number) {
    char id[64];
    snprintf(id, sizeof id, "<figure id=\"%s-%" PRId64 "\" data-marks=\"", section, number);
    const char *at = strstr(text, id);
    ck_assert_msg(at, "no figure %s", id);
    return strtoll(at + strlen(id), NULL, 10);
}

/* For messages of failures: what the figures say, the figures left out. */
static const char *captions(const char *text) {
    static char found[1500];
    size_t used = 0;
    for (const char *at = text; (at = strstr(at, "<figcaption>")); at++)
        if (used + 310 < sizeof found)
            used += (size_t)sprintf(found + used, "%.300s\n", at + 12);
    return found;
}

#define ck_says(text, ...)                                                                         \
    do {                                                                                           \
        char ck_words_[1024];                                                                      \
        snprintf(ck_words_, sizeof ck_words_, __VA_ARGS__);                                        \
        ck_assert_msg(strstr((text), ck_words_), "lacks: %s\nin: %.1500s", ck_words_,              \
                      captions(text));                                                             \
    } while (0)

/* Three digits as a reader sees them: through a text and back, as captions must not do it. */
static const char *shown(double value, char out[32]) {
    double scale = pow(10, 2 - floor(log10(fabs(value))));
    snprintf(out, 32, "%.10g", round(value * scale) / scale);
    return out;
}

/* ---- Curves ---- */

#define CURVES "run:t,encoding:t,task:t,seed:i,epoch:i,step:i,split:t,loss:r,accuracy:r,note:t"

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
    write_result("rep", "reproduce", "curves", end_csv(&csv), "runs",
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
    char best[32], rope[32], nope[32];
    begin_folder();
    write_curves();
    char *text = section_text(page_text(), "curves");
    int64_t first = 1;
    while (mean_accuracy(true, first) < 0.9 * mean_accuracy(true, EPOCHS))
        first++;
    ck_assert_int_gt(first, 1); /* the caption has something to find */
    ck_says(text, "90%% of the best test accuracy (%s) is first reached by rope in epoch %" PRId64,
            shown(mean_accuracy(true, EPOCHS), best), first);
    ck_says(text, "test accuracy at the end: nope %s, rope %s (3 seeds each)",
            shown(mean_accuracy(false, EPOCHS), nope), shown(mean_accuracy(true, EPOCHS), rope));
    /* two lines and their areas, two thin lines, the ceiling; losses are equal over seeds */
    ck_assert_int_eq(marks_of(text, "curves", 1), 2 + 2 + 2 + 1);
    ck_assert_int_eq(marks_of(text, "curves", 2), 2 + 2);
    ck_says(text, "label ceiling: 0.99");
    ck_assert_int_eq(count_of(text, "<figure "), 2);
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
    write_result("rep/runs/text/run-0", "train", "metrics", end_csv(&inside), NULL, NULL);
    write_result("report/run-0", "train", "metrics", end_csv(&outside), NULL, NULL);
    char *text = section_text(page_text(), "curves");
    ck_assert_int_eq(count_of(text, "<figure "), 4);
    ck_assert_int_eq(marks_of(text, "curves", 1), 7);
    ck_assert_int_eq(marks_of(text, "curves", 3), 2); /* one line of test, one of train */
    ck_says(text, "; test accuracy at the end: nope 0.8 (1 seed each)");
    free(inside.text);
    free(outside.text);
    free(text);
    end_folder();
}
END_TEST

START_TEST(many_encodings_make_many_figures) {
    begin_folder();
    csv_text csv;
    begin_csv(&csv, CURVES);
    for (int64_t i = 0; i < 300; i++)
        fprintf(csv.stream, "x/count/e%" PRId64 "/run-1,e%" PRId64 ",count,1,1,1,test,1,0.5,\n", i,
                i);
    write_result("rep", "reproduce", "curves", end_csv(&csv), NULL, NULL);
    char *text = section_text(page_text(), "curves");
    ck_assert_int_eq(count_of(text, "<figure "), 24);
    ck_says(text, "%d more figures are left out", 2 * ((300 + 7) / 8) - 24);
    free(csv.text);
    free(text);
    end_folder();
}
END_TEST

/* ---- Ablation ---- */

#define ABLATION                                                                                   \
    "run:t,encoding:t,task:t,seed:i,layer:i,head:i,accuracy:r,drop:r,label_ceiling:r,"             \
    "experiment:t,method:t,note:t"
#define DEPOSIT                                                                                    \
    "run:t,encoding:t,task:t,seed:i,layer:i,runs:i,worst_head:i,total_drop:r,index:r,index_low:r," \
    "index_high:r,experiment:t,method:t,note:t"

static double whole_of(int64_t seed) {
    return 0.9 + 0.02 * (double)seed;
}

START_TEST(ablation_shows_heads_and_deposit) {
    char whole[32];
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
    write_result("rep", "reproduce", "ablation", end_csv(&csv), "deposit",
                 DEPOSIT "\n"
                         "text,mla,count,,0,2,,,0.999,,,text,values,\n"
                         "r0,mla,count,0,0,1,3,,0.111,,,text,output,\n"
                         "text,mla,count,,0,2,,0.4,0.684,0.5,0.75,text,output,\n"
                         "r0,mla,count,0,1,1,2,,0.333,,,text,output,\n"
                         "r0,mla,count,0,1,1,2,,0.999,,,text,values,\n");
    char *text = section_text(page_text(), "ablation");
    ck_assert_int_eq(count_of(text, "<figure "), 1);
    /* two violins, their points, the points of whole layers, the rule */
    ck_assert_int_eq(marks_of(text, "ablation", 1), 2 + 2 * 4 * 2 + 2 * 2 + 1);
    ck_says(text, "With every head the accuracy is %s on average (0.9 to 0.92)",
            shown((whole_of(0) + whole_of(1)) / 2, whole));
    ck_says(text, "deposit index 0.684 [0.5, 0.75] in layer 0, of drops that sum to 0.4, an even "
                  "share is 0.25; 0.333 in layer 1 (head 2); 2 seeds");
    ck_says(text, "layer 1, head 2, seed 1: accuracy 0.75, drop 0.17");
    ck_says(text, "4 rows of heads carry a note");
    ck_assert_ptr_null(strstr(text, "0.999"));
    free(csv.text);
    free(text);
    end_folder();
}
END_TEST

/* ---- Contraction ---- */

#define CONTRACTION                                                                                \
    "run:t,encoding:t,task:t,seed:i,source:t,step:i,layer:i,head:i,probe:t,n:i,content_kind:t,"    \
    "width_ratio:r,norm_ratio:r,nuclear_ratio:r,majorised:i,margin:r,toeplitzness_content:r,"      \
    "toeplitzness_coupled:r,note:t"

enum { LAYERS = 2, HEADS = 3, STEPS = 4, PROBES = 2 };

static double ratio_at(int64_t step, int64_t layer, int64_t head, int64_t probe) {
    return 1.5 - 0.2 * (double)step - 0.1 * (double)layer + 0.25 * (double)head +
           0.032 * (double)probe;
}

static void write_contraction(int64_t layers, int64_t heads, int64_t steps) {
    csv_text csv;
    begin_csv(&csv, CONTRACTION);
    for (int64_t step = 0; step < steps; step++)
        for (int64_t layer = 0; layer < layers; layer++)
            for (int64_t head = heads - 1; head >= 0; head--)
                for (int64_t probe = 0; probe < PROBES; probe++)
                    fprintf(csv.stream,
                            "run-0,rope,count,5,s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                            ",20,same_qk,%.17g,1.1,1.2,%d,-0.5,0.1,0.3,\n",
                            100 * step, layer, head, probe, ratio_at(step, layer, head, probe),
                            head == 1);
    write_result("t/run-0", "train", "contraction", end_csv(&csv), NULL, NULL);
    free(csv.text);
}

static int64_t heads_below(int64_t step) {
    int64_t below = 0;
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++)
            below += ratio_at(step, layer, head, 0) + ratio_at(step, layer, head, 1) < 2;
    return below;
}

START_TEST(contraction_counts_heads_below_one) {
    char least[32], greatest[32];
    begin_folder();
    write_contraction(LAYERS, HEADS, STEPS);
    char *text = section_text(page_text(), "contraction");
    ck_assert_int_gt(heads_below(STEPS - 1), heads_below(0));
    ck_says(text,
            "at step 0 %" PRId64 " of 6 heads have a width ratio below 1 (%s to %s), at step 300 "
            "%" PRId64 " of 6",
            heads_below(0), shown(1.4 + 0.016, least), shown(2 + 0.016, greatest),
            heads_below(STEPS - 1));
    ck_assert_int_eq(marks_of(text, "contraction", 1), LAYERS * HEADS);
    for (int64_t layer = 0; layer < LAYERS; layer++) /* lines, areas of two probes, the rule */
        ck_assert_int_eq(marks_of(text, "contraction", 3 + layer), HEADS + HEADS + 1);
    ck_assert_int_eq(marks_of(text, "contraction", 2), LAYERS * HEADS * STEPS);
    ck_says(text, "Below 1, in blue, are %" PRId64 " of 24 values",
            heads_below(0) + heads_below(1) + heads_below(2) + heads_below(3));
    ck_assert_int_eq(marks_of(text, "contraction", 5), LAYERS * 2); /* coupled, content */
    ck_says(text, "layer 0 0.333 at step 0, 0.333 at step 300");
    ck_says(text, "same_qk");
    ck_assert_int_eq(count_of(text, "<figure "), 1 + LAYERS + 1 + 5);
    free(text);
    end_folder();
}
END_TEST

START_TEST(contraction_without_steps_is_drawn_by_order) {
    begin_folder();
    write_result("s", "spectrum", "contraction",
                 "source:t,step:i,layer:i,head:i,probe:t,n:i,content_kind:t,width_ratio:r,"
                 "norm_ratio:r,nuclear_ratio:r,majorised:i,note:t\n"
                 "rope:dim=64,,,0,,64,same_qk,0.9,0.8,1.1,1,\n"
                 "rope:dim=64,,,0,,256,same_qk,0.7,0.6,1.2,0,\n",
                 NULL, NULL);
    char *text = section_text(page_text(), "contraction");
    ck_assert_int_eq(marks_of(text, "contraction", 1), 3 + 1);
    ck_says(text, "majorised by the content are 1 of 2, which");
    ck_says(text, "width_ratio 0.9 at n 64, 0.7 at n 256; norm_ratio 0.8 at n 64, 0.6 at n 256");
    free(text);
    end_folder();
}
END_TEST

/* ---- Switches ---- */

#define SWITCHES                                                                                   \
    "experiment:t,like:t,encoding:t,task:t,with:t,without:t,accuracy:r,spread:r,seeds:i,"          \
    "accuracy_without:r,spread_without:r,seeds_without:i,difference:r,difference_spread:r,"        \
    "pairs:i,note:t"

START_TEST(switches_decide_nothing_on_few_seeds) {
    begin_folder();
    write_result("rep", "reproduce", "switches",
                 SWITCHES "\n"
                          "mask,text,rope,count,m=none,m=causal,0.9,0.02,3,0.6,0.03,3,0.3,0.04,3,\n"
                          "pool,text,rope,count,p=a,p=b,0.61,0.05,3,0.6,0.03,3,0.01,0.06,3,\n"
                          "one,text,rope,count,o=a,o=b,0.1,,1,0.6,,1,-0.5,,1,\n"
                          "none,text,rope,count,q=a,q=b,,,0,0.6,0.03,3,,,0,\n",
                 NULL, NULL);
    char *text = section_text(page_text(), "switches");
    ck_says(text, "is -0.5 (one); 1 of 3 differences exceed their own spread, one standard "
                  "deviation over at least 3 seeds, a hint and no test, and 1 rests on fewer "
                  "seeds, which decides nothing");
    /* points with and without, lines between them, spreads */
    ck_assert_int_eq(marks_of(text, "switches", 1), (3 + 4) + 3 + (2 + 3));
    ck_says(text, "mask, with the switch: m=none; accuracy 0.9, spread 0.02, seeds 3; difference "
                  "0.3, its spread 0.04");
    free(text);
    end_folder();
}
END_TEST

/* ---- Hostile results ---- */

static char *long_name(void) {
    char *name = malloc(1 << 20);
    memset(name, 'x', 1 << 20);
    memcpy(name, "<script>alert(1)</script>\xc3\xa9", 27);
    name[(1 << 20) - 1] = 0;
    return name;
}

static const char *const numbers[] = {"",       "nan",  "inf", "-inf", "1e308", "-1e308",
                                      "1e-320", "-0.0", "0.5", "2",    "1e17"};
static const char *const integers[] = {
    "", "0", "1", "-5", "9223372036854775807", "-9223372036854775808", "3"};

enum { NUMBERS = sizeof numbers / sizeof *numbers, INTEGERS = sizeof integers / sizeof *integers };

/* Rows of anything for a header, `text` in some of its cells. */
static void hostile_rows(const char *header, int64_t count, const char *text, uint32_t step,
                         csv_text *out) {
    szg_stream stream = {.seed = test_seed(), .step = step, .purpose = 77};
    begin_csv(out, header);
    uint64_t drawn = 0;
    for (int64_t row = 0; row < count; row++) {
        for (const char *type = header; (type = strchr(type, ':')); type++) {
            if (type != strchr(header, ':'))
                fputc(',', out->stream);
            if (type[1] == 'r')
                fputs(numbers[szg_random_below(&stream, drawn++, NUMBERS)], out->stream);
            else if (type[1] == 'i')
                fputs(integers[szg_random_below(&stream, drawn++, INTEGERS)], out->stream);
            else
                fputs(
                    (const char *const[]){
                        "", "test", "a,b"[0] == 'a' ? "rope" : "", "same_qk",
                        row == 1 ? text : "\"<b>&\"\"\n'\""}[szg_random_below(&stream, drawn++, 5)],
                    out->stream);
        }
        fputc('\n', out->stream);
    }
}

static const struct {
    const char *command, *table, *header, *missing; /* missing: a header that lacks columns */
} kinds[] = {
    {"reproduce", "curves", CURVES, "run:t,epoch:t,accuracy:t,split:i,note:t"},
    {"train", "metrics", CURVES, "loss:r,note:t"},
    {"ablate", "ablation", ABLATION, "layer:r,accuracy:r,note:t"},
    {"reproduce", "ablation", ABLATION, "head:t,layer:t,note:t"},
    {"reproduce", "deposit", DEPOSIT, "index:t,note:t"},
    {"train", "contraction", CONTRACTION, "width_ratio:t,step:r,layer:r,head:r,note:t"},
    {"capture", "contraction", CONTRACTION, "note:t"},
    {"reproduce", "switches", SWITCHES, "experiment:t,accuracy:t,note:t"},
};

static void write_hostile(int64_t rows, const char *text, uint32_t step, bool missing) {
    for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char path[64];
        csv_text csv;
        hostile_rows(missing ? kinds[k].missing : kinds[k].header, rows, text, 100 * step + k,
                     &csv);
        snprintf(path, sizeof path, "r%u", k);
        write_result(path, kinds[k].command, kinds[k].table, end_csv(&csv), NULL, NULL);
        free(csv.text);
    }
}

START_TEST(hostile_results_make_a_harmless_page) {
    char *name = long_name();
    begin_folder();
    for (uint32_t step = 0; step < 8; step++) {
        write_hostile(step == 0 ? 0 : 24, step == 1 ? name : "</script>", step, step % 3 == 2);
        char *page = page_text();
        ck_assert_ptr_null(strstr(page, "<script>alert"));
        ck_assert_ptr_null(strstr(page, "<b>&"));
        free(page);
    }
    free(name);
    end_folder();
}
END_TEST

START_TEST(tables_without_rows_make_no_section) {
    static const char *const ids[] = {"curves", "ablation", "contraction", "switches"};
    begin_folder();
    write_hostile(0, "", 0, false);
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_null(section_text(page_text(), ids[i]));
    end_folder();
}
END_TEST

START_TEST(every_refused_allocation_is_survived) {
    char path[2 * PATH];
    begin_folder();
    write_contraction(1, 1, 2);
    write_hostile(1, "name", 1, false);
    snprintf(path, sizeof path, "%s/page.html", folder);
    ck_survives_failed_allocations(100, write_page(path));
    end_folder();
}
END_TEST

void test_register(Suite *suite) {
    test_add(suite, "curves are means over seeds", curves_are_means_over_seeds);
    test_add(suite, "runs of a reproduction are drawn once", runs_of_a_reproduction_are_drawn_once);
    test_add(suite, "many encodings make many figures", many_encodings_make_many_figures);
    test_add(suite, "ablation shows heads and deposit", ablation_shows_heads_and_deposit);
    test_add(suite, "contraction counts heads below one", contraction_counts_heads_below_one);
    test_add(suite, "contraction without steps is drawn by order",
             contraction_without_steps_is_drawn_by_order);
    test_add(suite, "switches decide nothing on few seeds", switches_decide_nothing_on_few_seeds);
    test_add(suite, "hostile results make a harmless page", hostile_results_make_a_harmless_page);
    test_add(suite, "tables without rows make no section", tables_without_rows_make_no_section);
    test_add(suite, "every refused allocation is survived", every_refused_allocation_is_survived);
}
