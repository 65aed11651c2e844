/* The label ceiling against every text of tiny tasks, and against a classifier that counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "train/config/train_config.h"

#include "suite.h"

#include "../../train/data/running_mean.h"
#include "../../train/data/tasks_private.h"

enum { LONGEST = 12, TRIALS = 1 << 18 };

/* A text with one label and the probability of both. */
typedef struct case_of {
    int64_t key; /* the text as a number */
    int32_t label, tokens[LONGEST];
    int64_t count;
    double probability;
} case_of;

typedef struct enumeration {
    const szg_data_config *data;
    int64_t words;
    int32_t trigger[2];
    case_of *list;
    int64_t count, capacity;
} enumeration;

static void keep(enumeration *e, const int32_t *tokens, int64_t count, int32_t label,
                 double probability) {
    if (e->count == e->capacity)
        e->list = realloc(e->list, (size_t)(e->capacity = 2 * e->capacity + 64) * sizeof *e->list);
    case_of *own = &e->list[e->count++];
    *own = (case_of){.label = label, .count = count, .probability = probability};
    own->key = 0;
    for (int64_t i = 0; i < count; i++) {
        own->tokens[i] = tokens[i];
        own->key = own->key * (e->words + 1) + tokens[i];
    }
}

/* Fills position `at` in every way that the segments (lengths s[0..2], triggers between) allow. */
static void extend(enumeration *e, const int64_t s[3], int64_t at, int32_t *tokens, double p) {
    int64_t q = s[0] + 1 + s[1], all = q + 1 + s[2];
    if (at == all) {
        int64_t longest = e->data->longest;
        keep(e, tokens, all < longest ? all : longest, (int32_t)(s[1] + 1), p);
        return;
    }
    int64_t start = at <= s[0] ? 0 : at <= q ? s[0] + 1 : q + 1;
    bool fixed = at == s[0] || at == q;
    for (int32_t word = 1; word <= e->words; word++) {
        bool used = fixed && word != e->trigger[at == q];
        for (int64_t i = start; i < at && !fixed; i++)
            used = used || tokens[i] == word;
        if (used)
            continue;
        tokens[at] = word;
        extend(e, s, at + 1, tokens, fixed ? p : p / (double)(e->words - (at - start)));
    }
}

static int compare(const void *a, const void *b) {
    const case_of *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

static void enumerate(enumeration *e) {
    const szg_data_config *data = e->data;
    task_range range = szgi_task_test_range(data);
    int32_t tokens[2 * LONGEST];
    double sides = (double)(data->side_max - data->side_min + 1);
    double p = 1 / (sides * sides * (double)(range.most - range.least + 1));
    for (int64_t a = data->side_min; a <= data->side_max; a++)
        for (int64_t b = range.least; b <= range.most; b++)
            for (int64_t c = data->side_min; c <= data->side_max; c++)
                extend(e, (const int64_t[]){a, b, c}, 0, tokens, p);
    qsort(e->list, (size_t)e->count, sizeof *e->list, compare);
}

/* Sum over texts of the largest P(text, label), and of what it leaves, squared; each text's
 * posterior is held to the function. */
static double exact(enumeration *e, ceiling_scratch *scratch, double *squares) {
    double sum = 0;
    *squares = 0;
    for (int64_t i = 0, next; i < e->count; i = next) {
        double whole = 0, largest = 0;
        for (next = i; next < e->count && e->list[next].key == e->list[i].key;) {
            double own = 0;
            int32_t label = e->list[next].label;
            for (; next < e->count && e->list[next].key == e->list[i].key &&
                   e->list[next].label == label;
                 next++)
                own += e->list[next].probability;
            whole += own;
            largest = own > largest ? own : largest;
        }
        /* Some hundred roundings of sums and logarithms below 10. */
        ck_close(
            szgi_ceiling_largest(scratch, e->data, e->trigger, e->list[i].count, e->list[i].tokens),
            largest / whole, 1e-12);
        sum += largest;
        *squares += (whole - largest) * (whole - largest) / whole;
    }
    return sum;
}

static void configure(szg_train_config *c, int64_t words, const int64_t sizes[8]) {
    ck_szg_ok(szgi_train_config_profile(test_context(), SZG_PROFILE_TEXT, "nope", c));
    c->model.vocabulary = words + 1;
    c->data.between_min = sizes[0];
    c->data.between_max = sizes[1];
    c->data.side_min = sizes[2];
    c->data.side_max = sizes[3];
    c->data.longest = sizes[4];
    c->data.test_between_min = sizes[5];
    c->data.test_between_max = sizes[6];
    c->data.seed = test_seed() & 0xFFFFFF;
}

static const struct {
    int64_t words, sizes[8]; /* between, side, longest, test between */
} tiny[] = {
    {2, {0, 1, 0, 1, 9, 0, 0}}, {2, {0, 2, 0, 2, 9, 0, 0}}, {2, {0, 2, 0, 2, 6, 0, 0}},
    {3, {0, 3, 0, 2, 9, 0, 0}}, {3, {1, 3, 1, 3, 9, 0, 0}}, {3, {1, 3, 0, 2, 7, 0, 0}},
    {4, {0, 3, 0, 2, 9, 0, 0}}, {4, {1, 3, 0, 3, 8, 0, 0}}, {3, {0, 1, 0, 3, 8, 2, 3}},
    {4, {1, 1, 1, 2, 6, 0, 0}}, {5, {0, 4, 1, 2, 8, 0, 0}}, {3, {3, 3, 0, 3, 12, 0, 0}},
};

/* The estimate lies within six of its standard errors of the exact ceiling: a false alarm in 10^9
 * a case, were the mean normal. The least variance that a rare text leaves unseen is bounded too:
 * a loss of size 1 seen by none of 65536 texts has a mean below 21 / 65536 but for 10^-9. The
 * variance of losses within 0 .. 1 is told with a standard error of sqrt(variance / 65536) at most.
 */
START_TEST(estimate_agrees_with_every_text) {
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
        szg_train_config c;
        configure(&c, tiny[i].words, tiny[i].sizes);
        ck_szg_ok(szg_train_config_check(test_context(), &c));
        task_generator generator;
        ck_szg_ok(szgi_task_open(test_context(), &c, TASK_CEILING, &generator));
        enumeration e = {.data = &c.data,
                         .words = tiny[i].words,
                         .trigger = {generator.trigger[0], generator.trigger[1]}};
        szgi_task_close(&generator);
        ceiling_scratch scratch;
        ck_szg_ok(szgi_ceiling_open(test_context(), &c.data, szgi_task_test_range(&c.data),
                                    tiny[i].words, &scratch));
        enumerate(&e);
        double squares, want = exact(&e, &scratch, &squares), whole = 0;
        for (int64_t j = 0; j < e.count; j++)
            whole += e.list[j].probability;
        ck_close(whole, 1, 1e-10);
        szg_label_ceiling got;
        ck_szg_ok(szg_task_label_ceiling(test_context(), &c, &got));
        ck_close(got.accuracy, want, 6 * got.error + 21. / 65536);
        double variance = fmax(0, squares - (1 - want) * (1 - want));
        ck_close(65536 * got.error * got.error, variance, 6 * sqrt(variance / 65536) + 21. / 65536);
        szgi_ceiling_close(&scratch);
        free(e.list);
    }
}
END_TEST

/* Texts of one length, the triggers anywhere in them. */
static void enumerate_anywhere(enumeration *e, task_range range) {
    const szg_data_config *data = e->data;
    int32_t tokens[2 * LONGEST];
    for (int64_t b = range.least; b <= range.most; b++) {
        int64_t both = range.length - 2 - b, places = both - 2 * data->side_min + 1;
        for (int64_t a = data->side_min; a <= both - data->side_min; a++)
            extend(e, (const int64_t[]){a, b, both - a}, 0, tokens,
                   1 / ((double)(range.most - range.least + 1) * (double)places));
    }
    qsort(e->list, (size_t)e->count, sizeof *e->list, compare);
}

START_TEST(posteriors_of_longer_texts_are_those_of_every_text) {
    static const struct {
        int64_t words, between_min, between_max, side_min, length;
    } cases[] = {{4, 0, 2, 0, 6}, {4, 1, 2, 1, 7}, {5, 0, 3, 1, 7}, {6, 2, 2, 0, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_train_config c;
        configure(&c, cases[i].words,
                  (const int64_t[]){cases[i].between_min, cases[i].between_max, cases[i].side_min,
                                    cases[i].side_min + 1, LONGEST, 0, 0, 0});
        const task_range range = {c.data.between_min, c.data.between_max, 0, cases[i].length};
        task_generator generator;
        ceiling_scratch scratch;
        ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &generator));
        enumeration e = {.data = &c.data,
                         .words = cases[i].words,
                         .trigger = {generator.trigger[0], generator.trigger[1]}};
        szgi_task_close(&generator);
        c.data.longest = 2 * LONGEST; /* nothing is cut in the enumeration */
        ck_szg_ok(szgi_ceiling_open(test_context(), &c.data, range, cases[i].words, &scratch));
        enumerate_anywhere(&e, range);
        double squares, want = exact(&e, &scratch, &squares), whole = 0;
        for (int64_t j = 0; j < e.count; j++)
            whole += e.list[j].probability;
        ck_close(whole, 1, 1e-10);
        ck_assert(want < 1); /* some text has two explanations, or the case tests nothing */
        szgi_ceiling_close(&scratch);
        free(e.list);
    }
}
END_TEST

/* A classifier that knows nothing but 2^18 labelled texts and names the most frequent label of each
 * text. On the texts it saw it is at least as good as the best rule; on others at most. */
static int64_t *new_counts(int64_t size) {
    int64_t *counts;
    ck_szg_ok(szgi_memory_alloc(test_context(), size, &counts));
    return counts;
}

START_TEST(counting_classifier_reaches_it) {
    enum { WORDS = 3, LABELS = 4, TEXTS = 65536 /* 4^8 */ };
    szg_train_config c;
    configure(&c, WORDS, (const int64_t[]){0, 2, 0, 2, 8, 0, 0, 0});
    szg_label_ceiling ceiling;
    ck_szg_ok(szg_task_label_ceiling(test_context(), &c, &ceiling));
    task_generator generator;
    ck_szg_ok(szgi_task_open(test_context(), &c, TASK_EXAMPLES, &generator));
    int64_t *seen = new_counts(TEXTS * LABELS), *held = new_counts(TEXTS * LABELS);
    for (int64_t i = 0; i < 2 * TRIALS; i++) {
        szgi_task_make(&generator, i, szgi_task_test_range(&c.data));
        int64_t key = 0;
        for (int64_t j = 0; j < generator.count; j++)
            key = key * (WORDS + 1) + generator.tokens[j];
        (i % 2 ? held : seen)[key * LABELS + generator.label]++;
    }
    int64_t right_seen = 0, right_held = 0;
    for (int64_t key = 0; key < TEXTS; key++) {
        int best = 0;
        for (int label = 1; label < LABELS; label++)
            if (seen[key * LABELS + label] > seen[key * LABELS + best])
                best = label;
        right_seen += seen[key * LABELS + best];
        right_held += held[key * LABELS + best];
    }
    double high = (double)right_seen / TRIALS, low = (double)right_held / TRIALS;
    double error = 6 * (sqrt(.25 / TRIALS) + ceiling.error); /* a false alarm in 10^9 */
    ck_assert_msg(high >= ceiling.accuracy - error, "%g < %g", high, ceiling.accuracy);
    ck_assert_msg(low <= ceiling.accuracy + error, "%g > %g", low, ceiling.accuracy);
    ck_assert_msg(high - low < .01, "%g, %g", high, low); /* so that both say something */
    szgi_memory_free(seen);
    szgi_memory_free(held);
    szgi_task_close(&generator);
}
END_TEST

START_TEST(some_tasks_show_their_labels) {
    szg_train_config c;
    szg_label_ceiling ceiling;
    ck_szg_ok(szgi_train_config_profile(test_context(), SZG_PROFILE_TEXT, "nope", &c));
    ck_szg_ok(szg_task_label_ceiling(test_context(), &c, &ceiling));
    ck_assert(ceiling.accuracy > .9 && ceiling.accuracy < 1 && ceiling.error > 0);
    c.data.clean_labels = true;
    ck_szg_ok(szg_task_label_ceiling(test_context(), &c, &ceiling));
    ck_assert(ceiling.accuracy == 1 && ceiling.error == 0 && ceiling.method);
    c.data.clean_labels = false;
    c.data.task = SZG_TASK_COUNT;
    ck_szg_ok(szg_task_label_ceiling(test_context(), &c, &ceiling));
    ck_assert(ceiling.accuracy == 1 && ceiling.error == 0);
    strcpy(c.data.train_file, "some.jsonl");
    ck_szg_fails(SZG_EDOMAIN, "some.jsonl", szg_task_label_ceiling(test_context(), &c, &ceiling));
}
END_TEST

/* Accuracies near 1 that hardly differ, against two passes in long double. Welford's sum of squares
 * is right to n kappa u, kappa = mean / deviation (Chan, Golub, LeVeque 1983); that of squares less
 * the mean's square would be to n kappa^2 u, 10^3 here. */
START_TEST(nearly_equal_numbers_keep_their_spread) {
    enum { COUNT = 30 };
    double value[COUNT];
    long double sum = 0, squares = 0;
    running_mean got = {0};
    ck_assert(isnan(mean_of(&got)) && isnan(spread_of(&got)));
    for (int i = 0; i < COUNT; i++) {
        value[i] = .99 + (double)(i * i % 7) * 1e-9;
        sum += value[i];
        mean_take(&got, value[i]);
        ck_assert(isnan(spread_of(&got)) == (i == 0));
    }
    for (int i = 0; i < COUNT; i++)
        squares += (value[i] - sum / COUNT) * (value[i] - sum / COUNT);
    double want = (double)sqrtl(squares / (COUNT - 1));
    ck_close(mean_of(&got), (double)(sum / COUNT), COUNT * 0x1p-53);
    ck_close(spread_of(&got), want, COUNT * 0x1p-53 * .99);
    ck_assert_double_gt(want, 1e-9); /* n kappa u = 3e-6 of it at most */
}
END_TEST

/* A number that comes again and again has no spread, whatever its bits. */
START_TEST(equal_numbers_have_no_spread) {
    running_mean got = {0};
    for (int i = 0; i < 1000; i++)
        mean_take(&got, .1);
    ck_assert(mean_of(&got) == .1 && spread_of(&got) == 0);
}
END_TEST

START_TEST(ceiling_survives_failed_allocations) {
    szg_train_config c;
    szg_label_ceiling ceiling;
    configure(&c, 3, tiny[3].sizes);
    ck_survives_failed_allocations(6, szg_task_label_ceiling(test_context(), &c, &ceiling));
}
END_TEST

TEST_FILE("ceiling") {
    test_add(suite, "estimate_agrees_with_every_text", estimate_agrees_with_every_text);
    test_add(suite, "posteriors_of_longer_texts_are_those_of_every_text",
             posteriors_of_longer_texts_are_those_of_every_text);
    test_add(suite, "counting_classifier_reaches_it", counting_classifier_reaches_it);
    test_add(suite, "some_tasks_show_their_labels", some_tasks_show_their_labels);
    test_add(suite, "nearly_equal_numbers_keep_their_spread",
             nearly_equal_numbers_keep_their_spread);
    test_add(suite, "equal_numbers_have_no_spread", equal_numbers_have_no_spread);
    test_add(suite, "ceiling_survives_failed_allocations", ceiling_survives_failed_allocations);
}
