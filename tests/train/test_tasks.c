/* The tasks: what each example must look like, how their parts are distributed, split and files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/examples.h"
#include "train/config/train_config.h"

#include "scratch.h"
#include "suite.h"

#include "../../train/data/longer.h"
#include "../../train/data/tasks_private.h"

static szg_train_config config_of(int64_t vocabulary) {
    szg_train_config c;
    ck_szg_ok(szgi_train_config_profile(test_context(), SZG_PROFILE_TEXT, "nope", &c));
    c.model.vocabulary = vocabulary;
    c.data.seed = test_seed() & 0xFFFFFF;
    c.data.examples = 2000;
    return c;
}

/* As many as SZG_TEST_MULTIPLIER asks for, but enough for check_uniform of so many cells. */
static int64_t draws(int64_t count, int64_t cells) {
    int64_t scaled = test_trials(count), least = 25 * cells;
    return scaled < least ? least : scaled;
}

/* Counts that are multinomial with equal chances pass but for about 2 10^-9: chi-square between its
 * quantiles at 6 standard deviations (Wilson, Hilferty 1931). */
static void check_uniform(const char *what, int64_t cells, const int64_t *counts) {
    double total = 0, sum = 0, df = (double)(cells - 1), spread = sqrt(2 / (9 * df));
    for (int64_t i = 0; i < cells; i++)
        total += (double)counts[i];
    double mean = total / (double)cells;
    ck_assert_msg(mean >= 20, "%s: %g a cell are too few", what, mean);
    for (int64_t i = 0; i < cells; i++)
        sum += ((double)counts[i] - mean) * ((double)counts[i] - mean) / mean;
    double high = df * pow(1 - 2 / (9 * df) + 6 * spread, 3);
    double root = fmax(0, 1 - 2 / (9 * df) - 6 * spread), low = df * root * root * root;
    ck_assert_msg(sum >= low && sum <= high, "%s: chi-square %g outside %g .. %g", what, sum, low,
                  high);
}

static bool distinct(const int32_t *tokens, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++)
            if (tokens[i] == tokens[j])
                return false;
    return true;
}

/* Some place of the triggers explains the text by the rules. */
static bool explained(const szg_data_config *data, task_range range, const int32_t trigger[2],
                      const int32_t *tokens, int64_t count, int32_t label) {
    for (int64_t p = data->side_min; p <= data->side_max && p + label < count; p++) {
        int64_t q = p + label, last = count - 1 - q;
        bool lengths = label - 1 >= range.least && label - 1 <= range.most &&
                       last <= data->side_max && (last >= data->side_min || count == data->longest);
        if (lengths && tokens[p] == trigger[0] && tokens[q] == trigger[1] && distinct(tokens, p) &&
            distinct(tokens + p + 1, label - 1) && distinct(tokens + q + 1, last))
            return true;
    }
    return false;
}

static void check_distance_set(const szg_train_config *c, const szg_examples *set, task_range range,
                               const int32_t trigger[2]) {
    ck_assert_int_le(set->longest, c->data.longest);
    for (int64_t e = 0; e < set->count; e++) {
        const int32_t *tokens = set->tokens + set->start[e];
        int64_t count = set->start[e + 1] - set->start[e], found = 0;
        for (int64_t i = 0; i < count; i++) {
            ck_assert(tokens[i] >= 1 && tokens[i] < c->model.vocabulary);
            found += tokens[i] == trigger[0] || tokens[i] == trigger[1];
        }
        ck_assert(!c->data.clean_labels || found == 2);
        ck_assert_msg(explained(&c->data, range, trigger, tokens, count, set->label[e]),
                      "example %lld", (long long)e);
    }
}

static void check_distance(const szg_train_config *c) {
    task_generator generator;
    szg_dataset set;
    ck_szg_ok(szgi_task_open(test_context(), c, TASK_EXAMPLES, &generator));
    ck_assert_int_ne(generator.trigger[0], generator.trigger[1]);
    ck_szg_ok(szg_dataset_open(test_context(), c, &set));
    check_distance_set(c, &set.train, szgi_task_train_range(&c->data), generator.trigger);
    check_distance_set(c, &set.test, szgi_task_test_range(&c->data), generator.trigger);
    ck_assert_int_eq(set.train.count + set.test.count + set.duplicates, c->data.examples);
    szg_dataset_close(&set);
    szgi_task_close(&generator);
}

START_TEST(distance_examples_follow_the_rules) {
    szg_train_config c = config_of(574);
    check_distance(&c);
    c.data.clean_labels = true;
    check_distance(&c);
    c.data.longest = 98; /* nearly every example is cut */
    check_distance(&c);
    c.data.clean_labels = false;
    c.data.between_max = 40;
    c.data.test_between_min = 50;
    c.data.test_between_max = 60;
    check_distance(&c);
    c = config_of(72); /* a segment may take nearly every word */
    check_distance(&c);
}
END_TEST

/* Lengths are uniform: read off clean texts that nothing cuts. */
START_TEST(distance_lengths_are_uniform) {
    szg_train_config c = config_of(574);
    c.data.clean_labels = true;
    c.data.longest = c.model.max_length = 128;
    task_generator g;
    ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &g));
    int64_t before[25] = {0}, between[70] = {0}, after[25] = {0}, both[25 * 25] = {0};
    for (int64_t e = 0; e < draws(60000, 625); e++) {
        szgi_task_make(&g, e, szgi_task_train_range(&c.data));
        int64_t p = 0;
        while (g.tokens[p] != g.trigger[0])
            p++;
        int64_t q = p + g.label;
        ck_assert_int_eq(g.tokens[q], g.trigger[1]);
        before[p - 1]++;
        between[q - p - 2]++;
        after[g.count - q - 2]++;
        both[25 * (p - 1) + g.count - q - 2]++;
    }
    check_uniform("before", 25, before);
    check_uniform("between", 70, between);
    check_uniform("after", 25, after);
    check_uniform("before and after", 625, both);
    szgi_task_close(&g);
}
END_TEST

/* A segment is an ordered choice without replacement: all 5 * 4 * 3 are as likely, in each of the
 * three places; the triggers are an ordered pair, as uniform over the seeds. */
START_TEST(segments_are_drawn_without_replacement) {
    szg_train_config c = config_of(6);
    c.data.between_min = c.data.between_max = c.data.side_min = c.data.side_max = 3;
    task_generator g;
    ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &g));
    int64_t counts[3][125] = {{0}}, used[3][60];
    for (int64_t e = 0; e < draws(20000, 80); e++) {
        szgi_task_make(&g, e, szgi_task_train_range(&c.data));
        for (int64_t s = 0; s < 3; s++) {
            const int32_t *at = g.tokens + 4 * s;
            counts[s][25 * (at[0] - 1) + 5 * (at[1] - 1) + at[2] - 1]++;
        }
    }
    for (int64_t s = 0; s < 3; s++) {
        int64_t cells = 0;
        for (int64_t i = 0; i < 125; i++) {
            bool repeats = i / 25 == i / 5 % 5 || i / 25 == i % 5 || i / 5 % 5 == i % 5;
            if (repeats)
                ck_assert_int_eq(counts[s][i], 0);
            else
                used[s][cells++] = counts[s][i];
        }
        ck_assert_int_eq(cells, 60);
        check_uniform("segment", 60, used[s]);
    }
    szgi_task_close(&g);
    int64_t pairs[25] = {0}, different[20], cells = 0;
    for (int64_t seed = 0; seed < draws(4000, 80); seed++) {
        c.data.seed = (uint64_t)seed + (test_seed() & 0xFFFFFF) * 10000;
        ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &g));
        pairs[5 * (g.trigger[0] - 1) + g.trigger[1] - 1]++;
        szgi_task_close(&g);
    }
    for (int64_t i = 0; i < 25; i++)
        if (i % 6)
            different[cells++] = pairs[i];
        else
            ck_assert_int_eq(pairs[i], 0);
    check_uniform("triggers", 20, different);
}
END_TEST

static bool among(const int32_t *list, int64_t count, int32_t word) {
    for (int64_t i = 0; i < count; i++)
        if (list[i] == word)
            return true;
    return false;
}

/* The label counts the triggers; it is uniform, and so are the words of either kind. */
START_TEST(count_examples_follow_the_rules) {
    szg_train_config c = config_of(574);
    c.data.task = SZG_TASK_COUNT;
    task_generator g;
    ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &g));
    ck_assert(g.triggers == 30 && distinct(g.trigger, 30));
    int64_t labels[101] = {0}, words[574] = {0}, triggers[30], others[543], cells = 0;
    for (int64_t e = 0; e < draws(6000, 101); e++) {
        szgi_task_make(&g, e, szgi_task_train_range(&c.data));
        int64_t found = 0;
        ck_assert_int_eq(g.count, 120);
        for (int64_t i = 0; i < g.count; i++) {
            ck_assert(g.tokens[i] >= 1 && g.tokens[i] <= 573);
            found += among(g.trigger, 30, g.tokens[i]);
            words[g.tokens[i]]++;
        }
        ck_assert_int_eq(found, g.label);
        labels[g.label]++;
    }
    check_uniform("label", 101, labels);
    for (int i = 0; i < 30; i++)
        triggers[i] = words[g.trigger[i]];
    for (int32_t word = 1; word <= 573; word++)
        if (!among(g.trigger, 30, word))
            others[cells++] = words[word];
    ck_assert_int_eq(cells, 543);
    check_uniform("triggers", 30, triggers);
    check_uniform("others", 543, others);
    szgi_task_close(&g);
}
END_TEST

/* Both splits are dealt as they were made: each has its own length, and labels of the same range.
 */
START_TEST(count_is_tested_at_its_own_length) {
    szg_train_config c = config_of(50);
    c.data.task = SZG_TASK_COUNT;
    c.data.examples = 200;
    c.data.triggers = 5;
    c.data.words = 12;
    c.data.count_max = 10;
    for (c.data.test_words = 10; c.data.test_words <= 40; c.data.test_words += 30) {
        szg_dataset set;
        ck_szg_ok(szg_dataset_open(test_context(), &c, &set));
        ck_assert_int_eq(set.train.count + set.test.count + set.duplicates, 200);
        ck_assert_int_eq(set.train.count, 140); /* 50^10 texts: none comes twice */
        for (int64_t e = 0; e < set.train.count; e++)
            ck_assert_int_eq(set.train.start[e + 1] - set.train.start[e], 12);
        for (int64_t e = 0; e < set.test.count; e++)
            ck_assert_int_eq(set.test.start[e + 1] - set.test.start[e], c.data.test_words);
        ck_assert(set.test.largest_label <= 10 && set.test.largest_label > 5);
        szg_dataset_close(&set);
    }
}
END_TEST

/* The places of the triggers among 6 words are any, given their number. */
START_TEST(count_places_are_shuffled) {
    szg_train_config c = config_of(20);
    c.data.task = SZG_TASK_COUNT;
    c.data.words = 6;
    c.data.count_max = 3;
    c.data.triggers = 4;
    task_generator g;
    ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &g));
    int64_t places[64] = {0}, of_two[15], of_three[20], labels[4] = {0}, two = 0, three = 0;
    for (int64_t e = 0; e < draws(20000, 80); e++) {
        szgi_task_make(&g, e, szgi_task_train_range(&c.data));
        int mask = 0;
        for (int i = 0; i < 6; i++)
            mask |= among(g.trigger, 4, g.tokens[i]) << i;
        places[mask]++;
        labels[g.label]++;
    }
    for (int mask = 0; mask < 64; mask++) {
        if (__builtin_popcount((unsigned)mask) == 2)
            of_two[two++] = places[mask];
        if (__builtin_popcount((unsigned)mask) == 3)
            of_three[three++] = places[mask];
    }
    check_uniform("label", 4, labels);
    check_uniform("two", 15, of_two);
    check_uniform("three", 20, of_three);
    szgi_task_close(&g);
}
END_TEST

static bool equal(const szg_examples *a, int64_t i, const szg_examples *b, int64_t j) {
    int64_t count = a->start[i + 1] - a->start[i];
    return a->label[i] == b->label[j] && b->start[j + 1] - b->start[j] == count &&
           memcmp(a->tokens + a->start[i], b->tokens + b->start[j],
                  (size_t)count * sizeof *a->tokens) == 0;
}

static int64_t times(const szg_examples *set, const szg_examples *of, int64_t e) {
    int64_t found = 0;
    for (int64_t i = 0; i < set->count; i++)
        found += equal(set, i, of, e);
    return found;
}

/* Every example that was made stands in one split, once; by comparing all with all. */
static void check_unique(const szg_train_config *c) {
    szg_dataset set;
    ck_szg_ok(szg_dataset_open(test_context(), c, &set));
    szg_examples made = {0};
    task_generator g;
    ck_szg_ok(szgi_task_open(test_context(), c, TASK_EXAMPLES, &g));
    int64_t train = llround(c->data.train_part * (double)c->data.examples);
    for (int64_t e = 0; e < c->data.examples; e++) {
        szgi_task_make(
            &g, e, e < train ? szgi_task_train_range(&c->data) : szgi_task_test_range(&c->data));
        ck_szg_ok(szgi_examples_add(test_context(), &made, g.count, g.tokens, g.label));
    }
    for (int64_t e = 0; e < made.count; e++)
        ck_assert_int_eq(times(&set.train, &made, e) + times(&set.test, &made, e), 1);
    ck_assert_int_eq(set.train.count + set.test.count + set.duplicates, made.count);
    ck_assert_int_gt(set.duplicates, 0);
    if (c->data.test_between_max == 0)
        ck_assert_int_eq(set.train.count,
                         llround(c->data.train_part * (double)(made.count - set.duplicates)));
    szgi_task_close(&g);
    szg_examples_close(&made);
    szg_dataset_close(&set);
}

START_TEST(duplicates_are_removed_exactly) {
    szg_train_config c = config_of(4);
    c.data.examples = 700;
    c.data.between_min = c.data.side_min = 0;
    c.data.between_max = c.data.side_max = 2;
    check_unique(&c);
    c.data.test_between_max = 3;
    check_unique(&c);
    c.data.task = SZG_TASK_COUNT;
    c.data.words = 5;
    c.data.count_max = 3;
    c.data.triggers = 2;
    check_unique(&c);
}
END_TEST

/* Which examples train is as good as drawn from all subsets: 6 of 9, 84 of them, over seeds. */
START_TEST(split_is_uniform) {
    char path[] = "/tmp/szego-tasks.XXXXXX";
    ck_assert_int_ge(mkstemp(path), 0);
    szg_examples nine = {0};
    for (int32_t e = 0; e < 9; e++)
        ck_szg_ok(szgi_examples_add(test_context(), &nine, 1, (int32_t[]){e + 1}, e));
    ck_szg_ok(szg_examples_write(test_context(), &nine, NULL, 9, path));
    szg_examples_close(&nine);
    szg_train_config c = config_of(10);
    strcpy(c.data.train_file, path);
    int64_t subsets[512] = {0}, six[84], cells = 0;
    for (int64_t seed = 0; seed < draws(8400, 84); seed++) {
        szg_dataset set;
        c.data.seed = (uint64_t)seed + (test_seed() & 0xFFFFFF) * 10000;
        ck_szg_ok(szg_dataset_open(test_context(), &c, &set));
        unsigned mask = 0;
        for (int64_t e = 0; e < set.train.count; e++)
            mask |= 1U << set.train.label[e];
        ck_assert(set.train.count == 6 && set.test.count == 3);
        subsets[mask]++;
        szg_dataset_close(&set);
    }
    for (unsigned mask = 0; mask < 512; mask++)
        if (__builtin_popcount(mask) == 6)
            six[cells++] = subsets[mask];
        else
            ck_assert_int_eq(subsets[mask], 0);
    check_uniform("subset", 84, six);
    remove(path);
}
END_TEST

static void check_same(const szg_dataset *a, const szg_dataset *b, bool same) {
    bool are = a->train.count == b->train.count && a->test.count == b->test.count;
    for (int64_t e = 0; are && e < a->train.count; e++)
        are = equal(&a->train, e, &b->train, e);
    for (int64_t e = 0; are && e < a->test.count; e++)
        are = equal(&a->test, e, &b->test, e);
    ck_assert_int_eq(are, same);
}

/* The data hang on data.* and the vocabulary alone. */
START_TEST(seed_decides) {
    szg_train_config c = config_of(100);
    szg_dataset first, again;
    ck_szg_ok(szg_dataset_open(test_context(), &c, &first));
    ck_assert_int_eq(first.train.count, 1400);
    ck_assert_int_eq(first.classes, first.train.largest_label > first.test.largest_label
                                        ? first.train.largest_label + 1
                                        : first.test.largest_label + 1);
    c.model.width = 64;
    c.loop.batch = 7;
    ck_szg_ok(szg_dataset_open(test_context(), &c, &again));
    check_same(&first, &again, true);
    szg_dataset_close(&again);
    c.data.seed++;
    ck_szg_ok(szg_dataset_open(test_context(), &c, &again));
    check_same(&first, &again, false);
    szg_dataset_close(&again);
    szg_dataset_close(&first);
    ck_assert_ptr_null(first.train.tokens);
    szg_dataset_close(NULL);
}
END_TEST

/* A task written to files is the task. */
START_TEST(files_stand_in_for_a_task) {
    char folder[] = "/tmp/szego-tasks.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    szg_train_config c = config_of(100), from = c;
    snprintf(from.data.train_file, SZG_CONFIG_TEXT, "%s/train.jsonl", folder);
    snprintf(from.data.test_file, SZG_CONFIG_TEXT, "%s/test.jsonl", folder);
    szg_dataset first, again;
    ck_szg_ok(szg_dataset_open(test_context(), &c, &first));
    ck_szg_ok(szg_examples_write(test_context(), &first.train, NULL, first.train.count,
                                 from.data.train_file));
    ck_szg_ok(szg_examples_write(test_context(), &first.test, NULL, first.test.count,
                                 from.data.test_file));
    ck_szg_ok(szg_dataset_open(test_context(), &from, &again));
    check_same(&first, &again, true);
    ck_assert_int_eq(first.classes, again.classes);
    szg_dataset_close(&again);
    ck_survives_failed_allocations(10, szg_dataset_open(test_context(), &from, &again));
    szg_dataset_close(&again);
    from.model.vocabulary = 50;
    ck_szg_fails(SZG_EDATA, "raise model.vocabulary",
                 szg_dataset_open(test_context(), &from, &again));
    from.model.vocabulary = 100;
    from.model.max_length = 20;
    ck_szg_fails(SZG_EDATA, "exceeds model.max_length=20",
                 szg_dataset_open(test_context(), &from, &again));
    from.model.max_length = 128;
    ck_szg_ok(szg_examples_write(test_context(), &first.test, NULL, 1, from.data.train_file));
    strcpy(from.data.test_file, "");
    ck_szg_fails(SZG_EDATA, "train.jsonl: one example cannot be split",
                 szg_dataset_open(test_context(), &from, &again));
    szg_examples copies = {0};
    for (int copy = 0; copy < 60; copy++)
        ck_szg_ok(szgi_examples_add(test_context(), &copies, 1, (int32_t[]){1}, 1));
    ck_szg_ok(szg_examples_write(test_context(), &copies, NULL, 60, from.data.train_file));
    ck_szg_fails(SZG_EDATA, "train.jsonl: copies of one example cannot be split",
                 szg_dataset_open(test_context(), &from, &again));
    szg_examples_close(&copies);
    szg_examples large = {0};
    ck_szg_ok(szgi_examples_add(test_context(), &large, 1, (int32_t[]){1}, 100));
    ck_szg_ok(szg_examples_write(test_context(), &large, NULL, 1, from.data.train_file));
    from.model.classes = SZG_CLASSES_VOCABULARY;
    ck_szg_fails(SZG_EDATA, "label 100 is outside the 100 classes",
                 szg_dataset_open(test_context(), &from, &again));
    szg_examples_close(&large);
    szg_dataset_close(&first);
    remove(from.data.train_file);
    char path[64];
    snprintf(path, sizeof path, "%s/test.jsonl", folder);
    remove(path);
    rmdir(folder);
}
END_TEST

static void keep_warning(void *user, szg_severity severity, const char *text) {
    if (severity == SZG_WARNING)
        snprintf(user, 512, "%s", text);
}

/* Of one file no text stands in both splits. */
START_TEST(repeated_texts_of_a_file) {
    enum { TEXTS = 12, COPIES = 5 };
    char path[] = "/tmp/szego-tasks.XXXXXX", said[512] = "";
    ck_assert_int_ge(mkstemp(path), 0);
    szg_examples repeated = {0};
    for (int32_t e = 0; e < TEXTS * COPIES; e++)
        ck_szg_ok(szgi_examples_add(test_context(), &repeated, 2,
                                    (int32_t[]){e % TEXTS + 1, e % 3 + 1}, e % TEXTS));
    szg_train_config c = config_of(100);
    strcpy(c.data.train_file, path);
    ck_szg_ok(szg_examples_write(test_context(), &repeated, NULL, repeated.count, path));
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_warning, .user = said};
    szg_context *context;
    szg_dataset set;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    for (c.data.seed = 0; c.data.seed < 20; c.data.seed++) {
        ck_assert_int_eq(szg_dataset_open(context, &c, &set), SZG_OK);
        ck_assert_int_eq(set.duplicates, TEXTS * (COPIES - 1));
        ck_assert_int_eq(set.train.count + set.test.count, TEXTS);
        ck_assert_int_eq(set.train.count, llround(c.data.train_part * TEXTS));
        for (int64_t e = 0; e < set.train.count; e++)
            for (int64_t t = 0; t < set.test.count; t++)
                ck_assert(!equal(&set.train, e, &set.test, t));
        szg_dataset_close(&set);
    }
    szg_context_close(&context);
    ck_assert_msg(strstr(said, "48 of 60 examples equal an earlier one") != NULL, "%s", said);
    ck_szg_ok(szgi_examples_add(test_context(), &repeated, 2, (int32_t[]){1, 1}, 7));
    ck_szg_ok(szg_examples_write(test_context(), &repeated, NULL, repeated.count, path));
    ck_szg_fails(SZG_EDATA, "texts repeated with another label: 1; the split would",
                 szg_dataset_open(test_context(), &c, &set));
    strcpy(c.data.test_file, path); /* whoever gives two files has split them */
    ck_szg_ok(szg_dataset_open(test_context(), &c, &set));
    ck_assert_int_eq(set.train.count, repeated.count);
    szg_dataset_close(&set);
    szg_examples_close(&repeated);
    remove(path);
}
END_TEST

START_TEST(small_and_refused_sets) {
    szg_train_config c = config_of(574);
    szg_dataset set;
    c.data.examples = 2;
    ck_szg_ok(szg_dataset_open(test_context(), &c, &set));
    ck_assert(set.train.count == 1 && set.test.count == 1);
    szg_dataset_close(&set);
    ck_survives_failed_allocations(10, szg_dataset_open(test_context(), &c, &set));
    szg_dataset_close(&set);
    c = config_of(3); /* one text with one label */
    c.data.between_min = c.data.between_max = c.data.side_min = c.data.side_max = 0;
    ck_szg_fails(SZG_EINVAL, "1 distinct examples are too few",
                 szg_dataset_open(test_context(), &c, &set));
    c = config_of(574);
    c.data.examples = 1000000000;
    ck_szg_fails(SZG_ENOMEM, "lower data.examples", szg_dataset_open(test_context(), &c, &set));
    c.data.side_min = 30;
    ck_szg_fails(SZG_EINVAL, "data.side_min", szg_dataset_open(test_context(), &c, &set));
}
END_TEST

/* Asks to stop from inside the first report. */
static void stop(void *user, const char *what, int64_t done, int64_t total) {
    (void)what, (void)done, (void)total;
    szg_context_cancel(*(szg_context **)user);
}

START_TEST(long_work_can_be_cancelled) {
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1, .progress = stop,
                                   .user = &context};
    szg_train_config c = config_of(574);
    szg_dataset set;
    szg_label_ceiling ceiling;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szg_dataset_open(context, &c, &set), SZG_ECANCEL);
    szg_context_close(&context);
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szg_task_label_ceiling(context, &c, &ceiling), SZG_ECANCEL);
    szg_context_close(&context);
}
END_TEST

/* The jobs that have begun and not ended, by name: progress nests by that. */
typedef struct open_jobs {
    char name[8][64];
    int count, begun;
} open_jobs;

static void keep_open(void *user, const char *what, int64_t done, int64_t total) {
    open_jobs *jobs = user;
    int at = 0;
    while (at < jobs->count && strcmp(jobs->name[at], what) != 0)
        at++;
    jobs->begun += at == jobs->count;
    if (done < total && at == jobs->count) {
        ck_assert_int_lt(jobs->count, 8);
        snprintf(jobs->name[jobs->count++], sizeof *jobs->name, "%s", what);
    } else if (done >= total && at < jobs->count)
        memmove(jobs->name[at], jobs->name[--jobs->count], sizeof *jobs->name);
}

START_TEST(every_job_says_that_it_ends) {
    open_jobs jobs = {0};
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .progress = keep_open, .user = &jobs};
    szg_train_config c = config_of(574);
    szg_dataset set;
    szg_examples copy;
    szg_label_ceiling ceiling;
    const char *path = scratch_path("all.jsonl");
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_szg_ok(szg_dataset_open(context, &c, &set));
    ck_szg_ok(szg_task_label_ceiling(context, &c, &ceiling));
    ck_szg_ok(szg_examples_write(context, &set.train, NULL, set.train.count, path));
    ck_szg_ok(szg_examples_read(context, path, &copy));
    ck_assert_int_ge(jobs.begun, 4);
    ck_assert_msg(jobs.count == 0, "%s never ends", jobs.name[0]);
    szg_examples_close(&copy);
    szg_dataset_close(&set);
    szg_context_close(&context);
}
END_TEST

/* ---- Longer sequences ---- */

static szg_examples longer_of(const szg_train_config *c, int64_t words, int64_t count,
                              double *ceiling) {
    szg_examples set;
    ck_szg_ok(szgi_longer_examples(test_context(), c, words, count, &set, ceiling));
    ck_assert_int_eq(set.count, count);
    return set;
}

/* Some place of the triggers of training explains the text: a distance of training, no segment with
 * a word twice, a word on either side at least. */
static bool explained_anywhere(const szg_data_config *data, const int32_t trigger[2],
                               const int32_t *tokens, int64_t count, int32_t label) {
    for (int64_t p = data->side_min; p + label < count - data->side_min; p++) {
        int64_t q = p + label;
        if (label - 1 >= data->between_min && label - 1 <= data->between_max &&
            tokens[p] == trigger[0] && tokens[q] == trigger[1] && distinct(tokens, p) &&
            distinct(tokens + p + 1, label - 1) && distinct(tokens + q + 1, count - 1 - q))
            return true;
    }
    return false;
}

START_TEST(longer_sequences_have_distances_of_training) {
    static const int64_t lengths[] = {26, 34, 68, 136};
    for (int clean = 0; clean < 2; clean++) {
        szg_train_config c = config_of(200);
        c.data.between_max = 20;
        c.data.between_min = 3;
        c.data.side_max = 6;
        c.data.longest = 34;
        c.data.clean_labels = clean;
        c.data.test_between_min = 22; /* another range of the test split is none of theirs */
        c.data.test_between_max = 26;
        task_generator generator;
        ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &generator));
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            szg_examples set = longer_of(&c, lengths[i], 500, NULL);
            for (int64_t e = 0; e < set.count; e++) {
                const int32_t *tokens = set.tokens + set.start[e];
                int64_t found = 0;
                ck_assert_int_eq(set.start[e + 1] - set.start[e], lengths[i]);
                for (int64_t at = 0; at < lengths[i]; at++) {
                    ck_assert(tokens[at] >= 1 && tokens[at] < c.model.vocabulary);
                    found +=
                        tokens[at] == generator.trigger[0] || tokens[at] == generator.trigger[1];
                }
                ck_assert(!clean || found == 2);
                ck_assert_msg(explained_anywhere(&c.data, generator.trigger, tokens, lengths[i],
                                                 set.label[e]),
                              "length %lld, example %lld", (long long)lengths[i], (long long)e);
            }
            szg_examples_close(&set);
        }
        szgi_task_close(&generator);
    }
}
END_TEST

/* Distances are uniform, and of each distance the place of the first trigger: read off clean texts.
 */
START_TEST(longer_sequences_place_the_triggers_anywhere) {
    enum { WORDS = 24, DISTANCES = 4, PLACES = WORDS - 2 - DISTANCES - 2 + 1 };
    szg_train_config c = config_of(100);
    c.data.clean_labels = true;
    c.data.between_min = 1;
    c.data.between_max = DISTANCES;
    c.data.side_min = 1;
    c.data.side_max = 2;
    c.data.longest = 10;
    int64_t between[DISTANCES] = {0}, place[DISTANCES][PLACES + DISTANCES] = {{0}};
    task_generator g;
    ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &g));
    szg_examples set = longer_of(&c, WORDS, draws(20000, DISTANCES * (PLACES + DISTANCES)), NULL);
    for (int64_t e = 0; e < set.count; e++) {
        const int32_t *tokens = set.tokens + set.start[e];
        int64_t p = 0, middle = set.label[e] - 1;
        while (tokens[p] != g.trigger[0])
            p++;
        ck_assert_int_eq(tokens[p + set.label[e]], g.trigger[1]);
        between[middle - 1]++;
        place[middle - 1][p - 1]++;
    }
    check_uniform("words between", DISTANCES, between);
    for (int64_t d = 0; d < DISTANCES; d++) /* a longer distance leaves fewer places */
        check_uniform("place", WORDS - 2 - (d + 1) - 2 + 1, place[d]);
    szg_examples_close(&set);
    szgi_task_close(&g);
}
END_TEST

static int64_t count_equal(int64_t count, const int32_t *a, const int32_t *b) {
    int64_t equal = 0;
    for (int64_t i = 0; i < count; i++)
        equal += a[i] == b[i];
    return equal;
}

/* An example depends on seed, number and length alone; its distance on seed and number; and none of
 * them on the numbers that made the examples of training. */
START_TEST(longer_sequences_have_random_numbers_of_their_own) {
    enum { COUNT = 4000 };
    szg_train_config c = config_of(574), other = c;
    szg_examples set = longer_of(&c, 200, COUNT, NULL), again = longer_of(&c, 200, COUNT / 2, NULL),
                 longer = longer_of(&c, 300, COUNT, NULL);
    ck_assert(memcmp(set.tokens, again.tokens, sizeof *set.tokens * 200 * (COUNT / 2)) == 0);
    ck_assert(memcmp(set.label, again.label, sizeof *set.label * (COUNT / 2)) == 0);
    ck_assert_int_eq(count_equal(COUNT, set.label, longer.label), COUNT);
    other.data.seed++;
    szg_examples elsewhere = longer_of(&other, 200, COUNT, NULL);
    int32_t *training;
    task_generator g;
    ck_szg_ok(szgi_memory_alloc(test_context(), COUNT, &training));
    ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &g));
    for (int64_t e = 0; e < COUNT; e++) {
        szgi_task_make(&g, e, szgi_task_train_range(&c.data));
        training[e] = g.label;
    }
    /* Independent labels agree in one of 70 draws: binomial, six standard deviations, 10^-9. */
    double mean = COUNT / 70., reach = 6 * sqrt(mean * 69 / 70);
    ck_close((double)count_equal(COUNT, set.label, training), mean, reach);
    ck_close((double)count_equal(COUNT, set.label, elsewhere.label), mean, reach);
    szgi_task_close(&g);
    szgi_memory_free(training);
    szg_examples_close(&elsewhere);
    szg_examples_close(&longer);
    szg_examples_close(&again);
    szg_examples_close(&set);
}
END_TEST

/* The mean of the posteriors, which test_ceiling holds to every text; clean texts show the label.
 */
START_TEST(longer_sequences_have_a_ceiling) {
    szg_train_config c = config_of(40);
    c.data.between_max = 5;
    c.data.side_max = 3;
    c.data.longest = 13;
    double ceiling, sum = 0;
    task_generator g;
    ceiling_scratch scratch;
    szg_examples set = longer_of(&c, 26, 300, &ceiling);
    ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &g));
    ck_szg_ok(
        szgi_ceiling_open(test_context(), &c.data, (task_range){1, 5, 0, 26}, g.words, &scratch));
    for (int64_t e = 0; e < set.count; e++)
        sum += szgi_ceiling_largest(&scratch, &c.data, g.trigger, 26, set.tokens + set.start[e]);
    ck_close(ceiling, sum / 300, 300 * 0x1p-52); /* 600 roundings of sums below 300 */
    ck_assert(ceiling < 1);
    szgi_ceiling_close(&scratch);
    szgi_task_close(&g);
    szg_examples_close(&set);
    c.data.clean_labels = true;
    set = longer_of(&c, 26, 300, &ceiling);
    ck_assert_double_eq(ceiling, 1);
    szg_examples_close(&set);
}
END_TEST

START_TEST(longer_sequences_that_cannot_be_are_refused) {
    szg_train_config c = config_of(100), other = c;
    szg_examples set;
    c.data.between_max = 20;
    c.data.side_max = 6;
    c.data.longest = 34;
    ck_szg_ok(szgi_longer_check(test_context(), &c, 24));
    ck_szg_fails(SZG_EINVAL, "allow 24 .. 65536", szgi_longer_check(test_context(), &c, 23));
    ck_szg_fails(SZG_EINVAL, "allow 24 .. 65536", szgi_longer_check(test_context(), &c, 65537));
    ck_szg_ok(szgi_longer_check(test_context(), &c, 103)); /* 99 on a side, of 99 fillers */
    ck_szg_fails(SZG_EINVAL, "model.vocabulary=100 has 99 fillers",
                 szgi_longer_check(test_context(), &c, 104));
    set = longer_of(&c, 103, 50, NULL);
    szg_examples_close(&set);
    other = c;
    other.data.task = SZG_TASK_COUNT;
    ck_szg_fails(SZG_EINVAL, "data.task=distance", szgi_longer_check(test_context(), &other, 68));
    other = c;
    strcpy(other.data.train_file, "examples.jsonl");
    ck_szg_fails(SZG_EINVAL, "data.train_file", szgi_longer_check(test_context(), &other, 68));
    ck_szg_fails(SZG_EINVAL, "data.train_file",
                 szgi_longer_examples(test_context(), &other, 68, 5, &set, NULL));
    double ceiling;
    ck_survives_failed_allocations(8,
                                   szgi_longer_examples(test_context(), &c, 68, 5, &set, &ceiling));
    szg_examples_close(&set);
}
END_TEST

TEST_FILE("tasks") {
    test_add(suite, "every_job_says_that_it_ends", every_job_says_that_it_ends);
    test_add(suite, "distance_examples_follow_the_rules", distance_examples_follow_the_rules);
    test_add(suite, "distance_lengths_are_uniform", distance_lengths_are_uniform);
    test_add(suite, "segments_are_drawn_without_replacement",
             segments_are_drawn_without_replacement);
    test_add(suite, "count_examples_follow_the_rules", count_examples_follow_the_rules);
    test_add(suite, "count_is_tested_at_its_own_length", count_is_tested_at_its_own_length);
    test_add(suite, "count_places_are_shuffled", count_places_are_shuffled);
    test_add(suite, "duplicates_are_removed_exactly", duplicates_are_removed_exactly);
    test_add(suite, "split_is_uniform", split_is_uniform);
    test_add(suite, "seed_decides", seed_decides);
    test_add(suite, "repeated_texts_of_a_file", repeated_texts_of_a_file);
    test_add(suite, "files_stand_in_for_a_task", files_stand_in_for_a_task);
    test_add(suite, "small_and_refused_sets", small_and_refused_sets);
    test_add(suite, "long_work_can_be_cancelled", long_work_can_be_cancelled);
    test_add(suite, "longer_sequences_have_distances_of_training",
             longer_sequences_have_distances_of_training);
    test_add(suite, "longer_sequences_place_the_triggers_anywhere",
             longer_sequences_place_the_triggers_anywhere);
    test_add(suite, "longer_sequences_have_random_numbers_of_their_own",
             longer_sequences_have_random_numbers_of_their_own);
    test_add(suite, "longer_sequences_have_a_ceiling", longer_sequences_have_a_ceiling);
    test_add(suite, "longer_sequences_that_cannot_be_are_refused",
             longer_sequences_that_cannot_be_are_refused);
}
