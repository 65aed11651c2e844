/* Runs that intervene on a head of another run: which one, in which order, interrupted, and in
 * copied folders. */
#include "../../train/config/config_private.h"
#include "../../train/reproduce/reproduce_private.h"
#include "pieces.h"

/* The runs that need another one come first in the file's second part, and stand above it. */
#define MODEL                                                                                      \
    "{\"name\": \"heads\", \"about\": \"for a test\", \"seeds\": [3, 4],\n"                        \
    " \"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"    \
    " \"heads\": 4, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 2,"                 \
    " \"learning_rate\": 0.01}},\n"                                                                \
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 60, \"between_max\": 4,"                 \
    " \"side_max\": 2, \"longest\": 10}}},\n \"experiments\": ["
#define HEAD(which)                                                                                \
    "\"head\": {\"of\": \"base\", \"encoding\": \"rope\", \"layer\": 1, \"which\": \"" which "\"}"
#define FROZEN "\"config\": {\"intervention\": {\"kind\": \"gradient\"}}"
#define FIRST(which)                                                                               \
    "{\"name\": \"frozen\", \"profile\": \"text\", \"encodings\": [\"rope\"], \"ablation\": "      \
    "true, " FROZEN ", " HEAD(which) "}"
#define BASE                                                                                       \
    "{\"name\": \"base\", \"profile\": \"text\", \"encodings\": [\"nope\", \"rope\"], "            \
    "\"ablation\": true}"

static const char heads[] = MODEL FIRST("winner") ", " BASE ",\n {\"name\": \"other\", "
                                                  "\"like\": \"base\", \"encodings\": "
                                                  "[\"rope\"], " FROZEN ", " HEAD("other") "}]}";
enum { HEADS_RUNS = 8, FROZEN_3 = 0, NOPE_3, ROPE_3, OTHER_3, FROZEN_4 };
#define ROPE "runs/base/distance/rope/run-3/"

static szg_reproduction *open_heads(const char *folder) {
    szg_reproduction *runs;
    ck_szg_ok(open_preset(test_context(), folder, heads, NULL, 0, &runs));
    ck_assert_int_eq(szg_reproduction_count(runs), HEADS_RUNS);
    return runs;
}

/* A key of a run's configuration, a place. */
static int64_t placed(const szg_reproduction_run *run, const char *key) {
    char text[SZG_CONFIG_TEXT];
    const config_row *row = szgi_config_row_find(key);
    ck_assert_ptr_nonnull(row);
    return strtoll(szgi_config_text(row, run->config, text), NULL, 10);
}

static int64_t count_done(const char *folder) {
    szg_reproduction *runs = open_heads(folder);
    int64_t done = 0;
    for (int64_t i = 0; i < HEADS_RUNS; i++)
        done += szg_reproduction_run_at(runs, i).finished;
    szg_reproduction_close(&runs);
    return done;
}

static void write_text(const char *folder, const char *name, const char *text) {
    char path[256];
    FILE *file = fopen(path_in(folder, name, path), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* An ablation in which head `worst` of layer 1 costs most, and head 0 of layer 0; -1: none costs
 * anything. The whole model's accuracy is in finished.json. */
static void write_worst(const char *folder, int64_t worst) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("run,encoding,task,seed,layer,head,accuracy,drop,label_ceiling,method,note\n", stream);
    for (int64_t layer = 0; layer < 2; layer++)
        for (int64_t head = 0; head <= 4; head++) {
            fprintf(stream, "r,rope,distance,3,%d,", (int)layer);
            if (head < 4)
                fprintf(stream, "%d", (int)head);
            bool costs = worst >= 0 && head == (layer ? worst : 0);
            fprintf(stream, ",%s,0,,output,\n", costs ? "0" : "1");
        }
    fclose(stream);
    write_text(folder, ROPE "ablation.csv", text);
    free(text);
}

/* The whole model's accuracy is 1/2: tiny models may have none to lose. */
static void write_whole(const char *folder) {
    size_t size;
    char *text = file_bytes(folder, ROPE "finished.json", &size), *at, *out;
    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(at = strstr(text, "\"whole\":"));
    ck_assert_int_ge(
        asprintf(&out, "%.*s\"whole\": 0.5%s", (int)(at - text), text, at + strcspn(at, ",")), 0);
    write_text(folder, ROPE "finished.json", out);
    free(out);
    free(text);
}

/* With the run of seed 3 that the others need, and no other. */
static char *with_base(void) {
    static const char base[] = MODEL BASE "]}";
    char *folder = new_folder();
    train_whole(folder, base);
    write_whole(folder);
    return folder;
}

/* ---- Which head ---- */

START_TEST(a_run_without_its_head_is_listed) {
    char *folder = new_folder();
    szg_reproduction *runs = open_heads(folder);
    szg_reproduction_tables tables;
    for (int64_t i = 0; i < HEADS_RUNS; i++) {
        szg_reproduction_run run = szg_reproduction_run_at(runs, i);
        bool waits = strncmp(run.experiment, "base", 4) != 0;
        ck_assert_int_eq(run.settled, !waits);
        ck_assert_pstr_eq(run.needs, waits ? run.seed == 3 ? "base/distance/rope/run-3"
                                                           : "base/distance/rope/run-4"
                                           : NULL);
        ck_assert_int_eq(placed(&run, "intervention.layer"), waits ? 1 : 0);
    }
    ck_szg_ok(szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    ck_assert_int_eq(szg_table_rows(tables.missing), HEADS_RUNS);
    ck_assert_str_eq(szg_table_get_text(tables.missing, FROZEN_4, column(tables.missing, "note")),
                     "not begun; base/distance/rope/run-4 says on which head it intervenes");
    ck_assert_str_eq(szg_table_get_text(tables.missing, ROPE_3, column(tables.missing, "note")),
                     "not begun");
    int64_t all = szg_table_rows(tables.needs) - 1;
    ck_assert(real_at(tables.needs, all, "runs") == HEADS_RUNS);
    ck_assert(real_at(tables.needs, all, "operations") > 0);
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&runs);
    remove_tree(folder);
}
END_TEST

START_TEST(the_head_is_that_of_the_other_run) {
    char *folder = with_base();
    for (int64_t worst = 0; worst < 4; worst++) {
        write_worst(folder, worst);
        szg_reproduction *runs = open_heads(folder);
        szg_reproduction_run frozen = szg_reproduction_run_at(runs, FROZEN_3),
                             other = szg_reproduction_run_at(runs, OTHER_3);
        ck_assert(frozen.settled && other.settled);
        ck_assert_int_eq(placed(&frozen, "intervention.layer"), 1);
        ck_assert_int_eq(placed(&frozen, "intervention.head"), worst);
        ck_assert_int_eq(placed(&other, "intervention.layer"), 1);
        ck_assert_int_eq(placed(&other, "intervention.head"), szgi_head_other(3, 1, 4, worst));
        szg_reproduction_close(&runs);
    }
    remove_tree(folder);
}
END_TEST

/* A head that the encoding does not rotate cannot be kept from rotating. */
START_TEST(an_impossible_head_is_refused) {
    static const char partial[] =
        MODEL BASE ", {\"name\": \"off\", \"profile\": \"text\", \"encodings\": "
                   "[\"rope:rotate=0-1\"], \"config\": {\"intervention\": {\"kind\": "
                   "\"rotation\"}}, " HEAD("winner") "}]}";
    char *folder = with_base();
    szg_reproduction *runs;
    write_worst(folder, 1);
    ck_szg_ok(open_preset(test_context(), folder, partial, NULL, 0, &runs));
    szg_reproduction_close(&runs);
    write_worst(folder, 3);
    ck_szg_fails(SZG_EDATA, "off/distance/rope-rotate-0-1/run-3: intervention.kind=rotation",
                 open_preset(test_context(), folder, partial, NULL, 0, &runs));
    remove_tree(folder);
}
END_TEST

/* Each of the others a third of the time: six standard errors of 3000 draws. */
START_TEST(another_head_is_drawn_evenly) {
    enum { SEEDS = 3000 };
    for (int64_t worst = 0; worst < 4; worst++) {
        int64_t drawn[4] = {0}, layers = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            int64_t head = szgi_head_other(seed, 0, 4, worst);
            ck_assert(head >= 0 && head < 4);
            drawn[head]++;
            layers += head != szgi_head_other(seed, 1, 4, worst);
        }
        ck_assert_int_eq(drawn[worst], 0);
        for (int64_t head = 0; head < 4; head++)
            ck_assert(head == worst || fabs((double)drawn[head] - SEEDS / 3.0) <
                                           6 * sqrt(SEEDS * (1 / 3.0) * (2 / 3.0)));
        ck_assert(fabs((double)layers - SEEDS * 2 / 3.0) < 6 * sqrt(SEEDS * (1 / 3.0) * (2 / 3.0)));
    }
    ck_assert_int_eq(szgi_head_other(5, 0, 2, 0), 1);
    ck_assert_int_eq(szgi_head_other(5, 0, 2, 1), 0);
}
END_TEST

/* ---- Order ---- */

/* The run that is needed is trained first, whatever the order of the file. */
START_TEST(the_needed_run_comes_first) {
    char *folder = new_folder();
    test_clock own = {0};
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note, .user = &own};
    szg_reproduction *runs;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, folder, heads, NULL, 0, &runs));
    ck_szg_ok(szg_reproduction_train(context, runs, 0));
    const char *first = strstr(own.text, "run 1 of 8: base/distance/rope/run-3"),
               *second = strstr(own.text, "run 2 of 8: frozen/distance/rope/run-3");
    ck_assert_msg(first && second && first < second, "%s", own.text);
    for (int64_t i = 0; i < HEADS_RUNS; i++)
        ck_assert(szg_reproduction_run_at(runs, i).finished);
    szg_reproduction_close(&runs);
    szg_context_close(&context);
    ck_assert_int_eq(count_done(folder), HEADS_RUNS); /* as another process finds it */
    remove_tree(folder);
}
END_TEST

START_TEST(a_run_without_a_head_is_left_out) {
    char *folder = with_base();
    szg_reproduction_tables tables;
    test_clock own = {0};
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note, .user = &own};
    szg_reproduction *runs;
    write_worst(folder, -1);
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, folder, heads, NULL, 0, &runs));
    ck_szg_ok(szg_reproduction_train(context, runs, 0));
    ck_assert_ptr_nonnull(strstr(own.text, "frozen/distance/rope/run-3: left out: no head of "
                                           "layer 1 of base/distance/rope/run-3 costs accuracy"));
    /* Nothing is left to do, and nothing says that there is. */
    ck_assert_ptr_null(strstr(own.text, "the same command continues"));
    ck_szg_ok(szg_reproduction_report(context, runs, NULL, 0, &tables));
    ck_assert_int_eq(szg_table_rows(tables.missing), 2);
    for (int64_t row = 0; row < 2; row++) {
        ck_assert_str_eq(szg_table_get_text(tables.missing, row, column(tables.missing, "note")),
                         "left out: no head of layer 1 of base/distance/rope/run-3 costs accuracy");
        ck_assert_str_eq(szg_table_get_text(tables.missing, row, column(tables.missing, "state")),
                         "left out");
    }
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&runs);
    szg_context_close(&context);
    remove_tree(folder);
}
END_TEST

/* Killed at any look at the clock, and continued. */
START_TEST(killing_changes_no_head) {
    char *whole = new_folder();
    train_whole(whole, heads);
    char *want = tables_text(whole, heads);
    for (int64_t trial = 0; trial < 3; trial++) {
        char *folder = new_folder();
        int64_t kills = 0;
        for (int64_t looks = 7 + 5 * trial;; looks = looks * 3 / 2) {
            test_clock own = {.tick = 1, .end = (double)looks};
            szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                           .clock = look_at_clock, .user = &own};
            if (!was_killed(train_apart(folder, heads, &options, 1e9)))
                break;
            kills++;
        }
        ck_assert_int_gt(kills, 2);
        char *got = tables_text(folder, heads);
        ck_assert_str_eq(got, want);
        free(got);
        remove_tree(folder);
    }
    free(want);
    remove_tree(whole);
}
END_TEST

/* ---- Copied folders ---- */

static void refuse_folder(const char *folder, const char *words) {
    szg_reproduction *runs;
    ck_szg_fails(SZG_EDATA, words, open_preset(test_context(), folder, heads, NULL, 0, &runs));
}

START_TEST(a_copy_is_judged_with_its_head) {
    char *folder = new_folder(), from[256], to[256];
    train_whole(folder, heads);
    write_whole(folder);
    int64_t head;
    {
        szg_reproduction *runs = open_heads(folder);
        szg_reproduction_run frozen = szg_reproduction_run_at(runs, FROZEN_3);
        head = placed(&frozen, "intervention.head");
        szg_reproduction_close(&runs);
    }
    write_worst(folder, (head + 1) % 4);
    refuse_folder(folder, "frozen/distance/rope/run-3/finished.json: config: the run was finished "
                          "with another configuration");
    write_worst(folder, -1);
    refuse_folder(folder, "no head of layer 1 of base/distance/rope/run-3 costs accuracy");
    path_in(folder, "runs/base", from);
    path_in(folder, "gone", to);
    ck_assert_int_eq(rename(from, to), 0);
    refuse_folder(folder, "base/distance/rope/run-3, whose ablation says on which head");
    ck_assert_int_eq(rename(to, from), 0);
    remove_tree(folder);
}
END_TEST

/* ---- Presets ---- */

START_TEST(bad_heads_are_refused) {
#define ONE(head, more)                                                                            \
    MODEL BASE ", {\"name\": \"x\", \"profile\": \"text\", \"encodings\": [\"rope\"], " more       \
               "\"head\": " head "}]}"
#define RULE(of, encoding, layer, which)                                                           \
    "{\"of\": \"" of "\", \"encoding\": \"" encoding "\", \"layer\": " layer                       \
    ", \"which\": \"" which "\"}"
    static const char *const bad[][2] = {
        {ONE("3", FROZEN ", "), "head"},
        {ONE("{\"of\": \"base\"}", FROZEN ", "), "experiments[1].head.encoding"},
        {ONE(RULE("base", "rope", "0", "worst"), FROZEN ", "),
         "which: is \"worst\": one of winner|other"},
        {ONE("{\"off\": 1}", FROZEN ", "), "off: is unknown: did you mean of"},
        {ONE(RULE("bass", "rope", "0", "other"), FROZEN ", "), "the preset has no such run"},
        {ONE(RULE("base", "alibi", "0", "other"), FROZEN ", "), "the preset has no such run"},
        {ONE(RULE("x", "rope", "0", "other"), FROZEN ", "), "it waits for another run itself"},
        {ONE(RULE("base", "rope", "0", "winner"), ""), "intervention.kind is none"},
        {ONE(RULE("base", "rope", "2", "winner"), FROZEN ", "), "layer"},
        {ONE(RULE("base", "rope", "0", "winner"),
             "\"config\": {\"intervention\": {\"kind\": \"gradient\", \"head\": 1}}, "),
         "intervention.head follows from the member `head`"},
        {ONE(RULE("base", "rope", "0", "winner"),
             "\"config\": {\"intervention\": {\"kind\": \"gradient\", \"layer\": 0}}, "),
         "intervention.layer follows from the member `head`"},
        {ONE(RULE("base", "rope", "-1", "winner"), FROZEN ", "), "layer"},
        {ONE(RULE("base", "rope", "0", "winner"), "\"seeds\": [9], " FROZEN ", "),
         "layer 0, task distance, seed 9: the preset has no such run"},
        {MODEL "{\"name\": \"base\", \"profile\": \"text\", \"encodings\": [\"rope\"]}, " FIRST(
             "winner") "]}",
         "its heads are not ablated by output"},
        {MODEL BASE ", {\"name\": \"base\", \"encodings\": [\"alibi\"], " HEAD("winner") "}]}",
         "head: is unknown"},
        {MODEL BASE ", {\"name\": \"x\", \"profile\": \"text\", \"encodings\": [\"rope\"], "
                    "\"config\": {\"intervention\": {\"kind\": \"gradient\"}, \"model\": "
                    "{\"heads\": 2}}, " HEAD("winner") "}]}",
         "it has other heads or layers"},
    };
    char *folder = new_folder();
    szg_reproduction *runs;
    presets_are_refused(sizeof bad / sizeof *bad, bad);
    /* --set has the last word on what is done, not on which head. */
    static const char *const set[] = {"intervention.from=0.5", "intervention.layer=1"};
    ck_szg_ok(open_preset(test_context(), folder, heads, set, 1, &runs));
    szg_reproduction_close(&runs);
    ck_szg_fails(SZG_EINVAL, "intervention.layer follows from the member `head`",
                 open_preset(test_context(), folder, heads, set + 1, 1, &runs));
    remove_tree(folder);
}
END_TEST

TEST_FILE("reproduce_heads") {
    test_add(suite, "a run without its head is listed", a_run_without_its_head_is_listed);
    test_add(suite, "the head is that of the other run", the_head_is_that_of_the_other_run);
    test_add(suite, "an impossible head is refused", an_impossible_head_is_refused);
    test_add(suite, "another head is drawn evenly", another_head_is_drawn_evenly);
    test_add(suite, "the needed run comes first", the_needed_run_comes_first);
    test_add(suite, "a run without a head is left out", a_run_without_a_head_is_left_out);
    test_add(suite, "a copy is judged with its head", a_copy_is_judged_with_its_head);
    test_add(suite, "bad heads are refused", bad_heads_are_refused);
    test_add(suite, "killing changes no head", killing_changes_no_head);
}
