/* Runs: what the schedule is, that the loss falls, that the logs tell the truth, and that threads
 * leave the numbers as they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"

#include "../../train/run/run_private.h"
#include "suite.h"
#include "tiny.h"

/* ---- Schedule and order ---- */

START_TEST(the_schedule_has_its_closed_form) {
    szg_loop_config loop = {.learning_rate = 0.3, .warmup = 0.06};
    const int64_t totals[] = {1, 16, 17, 100, 1001, 13700};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        int64_t total = totals[i], warmup = total * 6 / 100;
        for (int64_t step = 0; step < total; step++) {
            double rate = szgi_train_learning_rate(&loop, step, total);
            if (step < warmup) {
                ck_close(rate * (double)warmup, 0.3 * (double)step, 1e-15 * (double)step);
                continue;
            }
            /* (1 + cos 2x) / 2 = cos^2 x */
            double x = M_PI / 2 * (double)(step - warmup) / (double)(total - warmup);
            ck_close(rate, 0.3 * cos(x) * cos(x), 1e-15);
        }
    }
    ck_close(szgi_train_learning_rate(&loop, 6, 100), 0.3, 0);
}
END_TEST

START_TEST(the_schedule_without_warm_up_begins_at_the_top) {
    szg_loop_config loop = {.learning_rate = 0.5, .warmup = 0};
    ck_close(szgi_train_learning_rate(&loop, 0, 10), 0.5, 0);
    ck_close(szgi_train_learning_rate(&loop, 5, 10), 0.25, 1e-16);
    loop.warmup = 1;
    ck_close(szgi_train_learning_rate(&loop, 0, 10), 0, 0);
    ck_close(szgi_train_learning_rate(&loop, 9, 10), 0.45, 1e-16);
}
END_TEST

START_TEST(corrections_are_powers_of_the_betas) {
    szg_loop_config loop = {.learning_rate = 1, .beta1 = 0.98, .beta2 = 0.9};
    double power1 = 1, power2 = 1;
    for (int64_t step = 0; step < 200; step++) {
        szgi_step_block block = szgi_train_block(&loop, 7, step, 200);
        power1 *= 0.98, power2 *= 0.9;
        ck_close(block.correction1, 1 - power1, 200 * 0x1p-53);
        ck_close(block.correction2, 1 - power2, 200 * 0x1p-53);
        ck_assert_uint_eq(block.step, (uint32_t)step);
        ck_assert_uint_eq(block.finite, 1);
    }
}
END_TEST

START_TEST(orders_are_permutations_that_change) {
    enum { COUNT = 101 };
    int64_t order[3][COUNT], same[3] = {0};
    szgi_train_order(1, 0, COUNT, order[0]);
    szgi_train_order(1, 1, COUNT, order[1]);
    szgi_train_order(2, 0, COUNT, order[2]);
    for (int o = 0; o < 3; o++) {
        bool seen[COUNT] = {false};
        for (int i = 0; i < COUNT; i++) {
            ck_assert_int_ge(order[o][i], 0);
            ck_assert_int_lt(order[o][i], COUNT);
            ck_assert(!seen[order[o][i]]);
            seen[order[o][i]] = true;
            same[o] += order[o][i] == order[(o + 1) % 3][i];
        }
    }
    for (int o = 0; o < 3; o++) /* one in common is expected; 15 has odds below 1e-12 */
        ck_assert_int_lt(same[o], 15);
}
END_TEST

/* Philox4x32-10, written out (Salmon, Moraes, Dror, Shaw 2011). */
static void philox(uint64_t key, uint32_t v[4]) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t x = (uint64_t)0xD2511F53 * v[0], y = (uint64_t)0xCD9E8D57 * v[2];
        uint32_t a = (uint32_t)(y >> 32) ^ v[1] ^ k0, c = (uint32_t)(x >> 32) ^ v[3] ^ k1;
        v[0] = a, v[1] = (uint32_t)y, v[2] = c, v[3] = (uint32_t)x;
        k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
}

/* The order of an epoch as docs/how-to/train.md describes it, and the orders that stand there. */
static void documented_order(uint64_t seed, uint32_t epoch, int64_t count, int64_t *order) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t v[4] = {(uint32_t)(i / 2), epoch, 0x54524E02, 0}, *pair = v + i % 2 * 2;
        philox(seed, v);
        double part = (double)(((uint64_t)pair[0] << 32 | pair[1]) >> 11) * 0x1p-53;
        int64_t j = (int64_t)(part * (double)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
}

START_TEST(orders_are_those_of_the_page) {
    enum { COUNT = 1000, SHOWN = 10 };
    const uint64_t seeds[] = {5, 0, (uint64_t)1 << 40 | 7};
    int64_t want[COUNT], got[COUNT];
    for (int s = 0; s < 3; s++)
        for (uint32_t epoch = 0; epoch < 3; epoch++) {
            documented_order(seeds[s], epoch, COUNT, want);
            szgi_train_order(seeds[s], epoch, COUNT, got);
            ck_assert(memcmp(want, got, sizeof got) == 0);
        }
    char path[4096], text[128];
    snprintf(path, sizeof path, "%s/how-to/train.md", getenv("SZG_DOCS"));
    szgi_contents page;
    ck_szg_ok(szgi_contents_open(test_context(), path, &page));
    for (int epoch = 0; epoch < 2; epoch++) {
        szgi_train_order(5, epoch, SHOWN, got);
        int used = snprintf(text, sizeof text, "`order(5, %d, 10)` is [", epoch);
        for (int i = 0; i < SHOWN; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s%d", i ? ", " : "",
                             (int)got[i]);
        snprintf(text + used, sizeof text - (size_t)used, "]");
        ck_assert_msg(memmem(page.data, (size_t)page.size, text, strlen(text)) != NULL, "%s", text);
    }
    szgi_contents_close(&page);
}
END_TEST

/* ---- Learning ---- */

START_TEST(the_loss_falls) {
    szg_train_config *config = new_tiny("loop.epochs=30");
    szg_train_result result;
    szg_train_tables tables;
    char *folder = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 1, folder, false, &result));
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    int64_t loss = szg_table_find(tables.metrics, "loss");
    ck_assert_int_eq(szg_table_rows(tables.metrics), 60);
    double first = szg_table_get_real(tables.metrics, 0, loss);
    ck_assert_msg(result.train_loss < first - 0.5, "%g after %g", result.train_loss, first);
    ck_assert(result.best_accuracy >= result.test_accuracy);
    ck_assert_int_eq(szg_table_rows(tables.timing), 30);
    szg_train_tables_close(&tables);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* The rows of metrics against a second way: the saved model on the same examples, and the schedule.
 */
START_TEST(the_log_tells_what_the_checkpoint_does) {
    szg_train_config *config = new_tiny(NULL);
    char path[256], *folder = whole_run(config);
    szg_train_tables tables;
    szg_model *model;
    szg_dataset data;
    szgi_tally tally;
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    const szg_table *log = tables.metrics;
    ck_assert_int_eq(szg_table_rows(log), 6);
    ck_szg_ok(szg_model_load(test_context(), path_in(folder, "checkpoint.safetensors", path), NULL,
                             &model));
    ck_szg_ok(szg_dataset_open(test_context(), config, &data));
    ck_szg_ok(szgi_train_evaluate(test_context(), model, &data.test, &tally, NULL));
    ck_close(szg_table_get_real(log, 5, szg_table_find(log, "loss")),
             tally.loss / (double)tally.counted, 0);
    ck_close(szg_table_get_real(log, 5, szg_table_find(log, "accuracy")),
             (double)tally.correct / (double)tally.counted, 0);
    for (int64_t row = 0; row < 6; row++) {
        int64_t step = (row / 2 + 1) * TINY_EPOCH;
        ck_assert_int_eq(szg_table_get_integer(log, row, szg_table_find(log, "epoch")),
                         row / 2 + 1);
        ck_assert_int_eq(szg_table_get_integer(log, row, szg_table_find(log, "step")), step);
        ck_close(szg_table_get_real(log, row, szg_table_find(log, "learning_rate")),
                 szgi_train_learning_rate(&config->loop, step - 1, TINY_STEPS), 0);
    }
    szg_dataset_close(&data);
    szg_model_close(test_context(), &model);
    szg_train_tables_close(&tables);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* Where nothing changes (rate 0, no dropout), an epoch's batches are the training split, once. */
START_TEST(an_epoch_sees_every_example_once) {
    szg_train_config *config = new_tiny("loop.learning_rate=0");
    szg_train_tables tables;
    szg_train_result result;
    szg_dataset data;
    szg_model *model;
    szgi_tally tally;
    char path[256], *folder = new_run_folder();
    config->model.dropout = 0;
    ck_szg_ok(run_in(test_context(), config, 5, folder, false, &result));
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    ck_szg_ok(szg_dataset_open(test_context(), config, &data));
    ck_szg_ok(szg_model_load(test_context(), path_in(folder, "checkpoint.safetensors", path), NULL,
                             &model));
    ck_szg_ok(szgi_train_evaluate(test_context(), model, &data.train, &tally, NULL));
    const szg_table *log = tables.metrics, *timing = tables.timing;
    for (int64_t row = 0; row < 6; row += 2) {
        /* Sums in another order, of losses that single precision has. */
        ck_close(szg_table_get_real(log, row, szg_table_find(log, "loss")) * (double)tally.counted,
                 tally.loss, 0x1p-20 * tally.loss);
        ck_close(szg_table_get_real(log, row, szg_table_find(log, "accuracy")),
                 (double)tally.correct / (double)tally.counted, 0);
        ck_assert_int_eq(szg_table_get_integer(timing, row / 2, szg_table_find(timing, "tokens")),
                         data.train.start[data.train.count]);
    }
    szg_model_close(test_context(), &model);
    szg_dataset_close(&data);
    szg_train_tables_close(&tables);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* The logits that are handed out give the tally's loss. */
START_TEST(evaluation_gives_its_logits) {
    szg_train_config *config = new_tiny("loop.evaluate_batch=7");
    szg_model *model;
    szg_dataset data;
    szgi_tally tally;
    ck_szg_ok(szg_dataset_open(test_context(), config, &data));
    ck_szg_ok(szgi_model_open(test_context(), config, data.classes, &model));
    ck_szg_ok(szgi_model_initialise(test_context(), model, 3));
    int64_t classes = data.classes, correct = 0;
    double *logits = new_numbers(data.test.count * classes), loss = 0;
    ck_szg_ok(szgi_train_evaluate(test_context(), model, &data.test, &tally, logits));
    for (int64_t e = 0; e < data.test.count; e++) {
        const double *row = logits + e * classes;
        double sum = 0;
        int64_t best = 0;
        for (int64_t c = 0; c < classes; c++) {
            sum += exp(row[c]);
            best = row[c] > row[best] ? c : best;
        }
        loss += log(sum) - row[data.test.label[e]];
        correct += best == data.test.label[e];
    }
    ck_assert_int_eq(tally.counted, data.test.count);
    ck_assert_int_eq(tally.correct, correct);
    /* Single-precision logits of size 1 and a single-precision softmax: some 2^-24 an example. */
    ck_close(tally.loss, loss, 16 * 0x1p-24 * (double)data.test.count * (1 + fabs(loss)));
    szgi_memory_free(logits);
    szg_model_close(test_context(), &model);
    szg_dataset_close(&data);
    szgi_memory_free(config);
}
END_TEST

START_TEST(threads_do_not_change_a_bit) {
    szg_train_config *config = new_tiny(NULL);
    char *folder = whole_run(config);
    for (int threads = 1; threads <= 3; threads += 2) {
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
        szg_context *context;
        szg_train_result result;
        char *other = new_run_folder();
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(run_in(context, config, 5, other, false, &result), SZG_OK);
        ck_same_run(folder, other);
        szg_context_close(&context);
        remove_run_folder(other);
    }
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

START_TEST(seeds_differ) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result first, second;
    char *folder = new_run_folder(), *other = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 1, folder, false, &first));
    ck_szg_ok(run_in(test_context(), config, 2, other, false, &second));
    ck_assert(first.train_loss != second.train_loss);
    remove_run_folder(other);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* ---- The table of runs ---- */

START_TEST(seeds_have_mean_and_spread) {
    szg_train_config *config = new_tiny(NULL);
    szg_dataset data = {.classes = 4, .train.count = 7, .test.count = 3};
    szg_table *table;
    const double accuracy[] = {0.5, 0.75, 0.25};
    ck_szg_ok(szg_train_runs_open(test_context(), &table));
    for (uint64_t seed = 0; seed < 3; seed++) {
        szg_train_options options = {SZG_INIT(szg_train_options), .config = config, .data = &data,
                                     .seed = seed, .folder = "a/b/run-x/"};
        szg_train_result result = {.test_accuracy = accuracy[seed], .test_loss = NAN};
        ck_szg_ok(szg_train_runs_add(test_context(), table, &options, &result, NULL));
    }
    ck_szg_ok(szg_train_runs_spread(test_context(), table));
    ck_assert_int_eq(szg_table_rows(table), 7);
    int64_t run = szg_table_find(table, "run"), column = szg_table_find(table, "test_accuracy");
    ck_assert_str_eq(szg_table_get_text(table, 0, run), "run-x");
    ck_assert_str_eq(szg_table_get_text(table, 3, run), "mean");
    ck_close(szg_table_get_real(table, 3, column), 0.5, 0);
    ck_close(szg_table_get_real(table, 4, column), 0.25, 1e-16);
    ck_close(szg_table_get_real(table, 5, column), 0.25, 0);
    ck_close(szg_table_get_real(table, 6, column), 0.75, 0);
    ck_assert(szg_table_is_empty(table, 3, szg_table_find(table, "test_loss")));
    ck_assert(szg_table_is_empty(table, 3, szg_table_find(table, "seed")));
    szg_table_close(&table);
    szgi_memory_free(config);
}
END_TEST

TEST_FILE("run") {
    test_add(suite, "the_schedule_has_its_closed_form", the_schedule_has_its_closed_form);
    test_add(suite, "the_schedule_without_warm_up_begins_at_the_top",
             the_schedule_without_warm_up_begins_at_the_top);
    test_add(suite, "corrections_are_powers_of_the_betas", corrections_are_powers_of_the_betas);
    test_add(suite, "orders_are_those_of_the_page", orders_are_those_of_the_page);
    test_add(suite, "orders_are_permutations_that_change", orders_are_permutations_that_change);
    test_add(suite, "the_loss_falls", the_loss_falls);
    test_add(suite, "the_log_tells_what_the_checkpoint_does",
             the_log_tells_what_the_checkpoint_does);
    test_add(suite, "an_epoch_sees_every_example_once", an_epoch_sees_every_example_once);
    test_add(suite, "evaluation_gives_its_logits", evaluation_gives_its_logits);
    test_add(suite, "threads_do_not_change_a_bit", threads_do_not_change_a_bit);
    test_add(suite, "seeds_differ", seeds_differ);
    test_add(suite, "seeds_have_mean_and_spread", seeds_have_mean_and_spread);
}
