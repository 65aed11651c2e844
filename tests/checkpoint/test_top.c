/* The largest singular values of whole weights: against all of them, at every shape and scale. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "base/pool.h"
#include "checkpoint/top.h"
#include "model.h"

/* ---- Values ---- */

/* The stated errors hold against LAPACK's values, which weyl bounds. Returns how many values are
 * not resolved. */
static int64_t check_tensor(const model_tensor *tensor, const szgi_top *top, const char *what) {
    int64_t m = tensor->shape[0], n = tensor->shape[1], small = m < n ? m : n, open = 0;
    double *work = malloc((size_t)(m * n) * sizeof *work), *want = calloc((size_t)small, 8);
    memcpy(work, tensor->value, (size_t)(m * n) * sizeof *work);
    ck_szg_ok(szgi_singular(test_context(), m, n, work, n, want, NULL, 1, NULL, 1));
    double lapack = 32 * (double)(m + n) * DBL_EPSILON * top->frobenius + DBL_MIN;
    for (int64_t i = 0; i < top->count; i++) {
        const szgi_largest_value *value = &top->value[i];
        double off = fabs(value->sigma - want[i]);
        ck_assert_msg(off <= value->error + lapack, "%s, value %lld: %g is %g, off by %g > %g",
                      what, (long long)i, value->sigma, want[i], off, value->error);
        open += !value->resolved;
    }
    free(work);
    free(want);
    return open;
}

typedef struct case_shape {
    int64_t rows, columns, count;
} case_shape;

/* Every shape both ways: through the Gram matrix, and with rows that pass by. */
START_TEST(values_of_every_shape) {
    static const case_shape shapes[] = {{1, 1, 1},    {1, 300, 3},  {300, 1, 1},   {5, 5, 9},
                                        {700, 40, 5}, {40, 700, 5}, {290, 310, 4}, {600, 270, 16}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int way = 0; way < 4; way++) {
            const case_shape *shape = &shapes[i];
            test_model model;
            szgi_safetensors *set;
            szgi_top top;
            const szgi_top_options options = {
                .count = shape->count, .seed = test_seed() + i, .passing = way % 2};
            model_open(&model);
            model.seed = (uint32_t)(8 * i);
            model_add(&model, way < 2 ? SZGI_DTYPE_BF16 : SZGI_DTYPE_F64, shape->rows,
                      shape->columns, "a.weight");
            model_write(&model, NULL);
            ck_szg_ok(szgi_safetensors_open(test_context(), model.folder, &set));
            ck_szg_ok(
                szgi_top_compute(test_context(), szgi_safetensors_tensor(set, 0), &options, &top));
            ck_assert_int_eq(top.count, fmin((double)shape->count,
                                             fmin((double)shape->rows, (double)shape->columns)));
            ck_assert_int_eq(check_tensor(&model.tensor[0], &top, "normal numbers"), 0);
            szgi_top_close(&top);
            szgi_safetensors_close(&set);
            model_close(&model);
        }
}
END_TEST

typedef enum content { ZERO, LOW_RANK, HUGE_NUMBERS, TINY_NUMBERS, GRADED, ONES, CONTENTS } content;

static void fill(content what, model_tensor *tensor) {
    int64_t m = tensor->shape[0], n = tensor->shape[1];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double *x = &tensor->value[i * n + j];
            *x = what == ZERO       ? 0
                 : what == LOW_RANK ? sin((double)(i + 1)) * cos((double)j) + (i == 0 ? 0.5 : 0)
                 : what == ONES     ? (double)(i == j)
                                    : *x * (what == HUGE_NUMBERS   ? 1e300
                                            : what == TINY_NUMBERS ? 1e-300
                                                                   : pow(0.7, (double)i));
        }
}

START_TEST(values_of_every_content) {
    for (int way = 0; way < 2; way++) {
        test_model model;
        szgi_safetensors *set;
        szgi_top top;
        const szgi_top_options options = {.count = 6, .seed = test_seed(), .passing = way};
        model_open(&model);
        fill((content)_i, model_add(&model, SZGI_DTYPE_F64, 280, 300, "a.weight"));
        model_write(&model, NULL);
        ck_szg_ok(szgi_safetensors_open(test_context(), model.folder, &set));
        ck_szg_ok(
            szgi_top_compute(test_context(), szgi_safetensors_tensor(set, 0), &options, &top));
        check_tensor(&model.tensor[0], &top, "special numbers");
        ck_assert(top.value[0].resolved || _i == ONES); /* 280 equal values have no largest */
        if (_i == ZERO)
            ck_assert(top.value[0].sigma == 0 && top.value[0].error == 0);
        szgi_top_close(&top);
        szgi_safetensors_close(&set);
        model_close(&model);
    }
}
END_TEST

/* Norms that no double holds. */
START_TEST(values_beyond_a_double) {
    test_model model;
    szgi_safetensors *set;
    szgi_top top;
    const szgi_top_options options = {.count = 2};
    model_open(&model);
    model_tensor *tensor = model_add(&model, SZGI_DTYPE_F64, 40, 40, "a.weight");
    for (int64_t i = 0; i < tensor->count; i++)
        tensor->value[i] = 1.5e308;
    model_write(&model, NULL);
    ck_szg_ok(szgi_safetensors_open(test_context(), model.folder, &set));
    ck_szg_fails(SZG_EDATA, "divide them by a power of two",
                 szgi_top_compute(test_context(), szgi_safetensors_tensor(set, 0), &options, &top));
    ck_assert_ptr_null(top.value);
    szgi_safetensors_close(&set);
    model_close(&model);
}
END_TEST

/* ---- Tables ---- */

static void analyse_top(szg_context *context, const test_model *model, int64_t top,
                        szg_checkpoint_tables *tables) {
    szg_checkpoint *checkpoint;
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .top = top};
    ck_assert_int_eq(szg_checkpoint_open(context, model->folder, "", &checkpoint), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_analyse(context, checkpoint, &options, tables), SZG_OK);
    szg_checkpoint_close(&checkpoint);
}

static void add_some(test_model *model) {
    model_open(model);
    model_add(model, SZGI_DTYPE_F32, 300, 280, "a.weight");
    model_add(model, SZGI_DTYPE_BF16, 20, 30, "b.weight");
    model_add(model, SZGI_DTYPE_F32, 3, 400, "c.weight");
    model_add(model, SZGI_DTYPE_F32, 4, 4, "nan")->value[9] = NAN;
    model_write(model, NULL);
}

START_TEST(tables_of_the_largest_values) {
    test_model model;
    szg_checkpoint_tables tables;
    add_some(&model);
    analyse_top(test_context(), &model, 5, &tables);
    ck_assert_ptr_null(tables.spectra);
    ck_assert_int_eq(tables.bad, 1);
    ck_assert_int_eq(szg_table_rows(tables.top), 5 + 5 + 3);
    for (int64_t row = 0; row < szg_table_rows(tables.top); row++) {
        const char *name = cell_text(tables.top, row, "matrix");
        const model_tensor *tensor = model_find(&model, name);
        double norm = norm_of(tensor->count, tensor->value), sigma = cell(tables.top, row, "sigma");
        double low = cell(tables.top, row, "share_lo"), high = cell(tables.top, row, "share_hi");
        bool first = cell(tables.top, row, "index") == 0;
        int64_t last = row - (int64_t)cell(tables.top, row, "index");
        double sum = 0;
        for (; last <= row; last++)
            sum += pow(cell(tables.top, last, "sigma") / norm, 2);
        /* The sum of a few squares, and the norm's own rounding. */
        double rounding = gamma_of((double)tensor->count + 8) * sum;
        ck_assert(low <= sum + rounding && sum - rounding <= high && high <= 1);
        ck_assert(high - low < 1e-5);
        int64_t at = find_row(tables.summary, -1, -1, name);
        if (first) {
            ck_assert(cell(tables.summary, at, "sigma_max") == sigma);
            ck_close(cell(tables.summary, at, "stable_rank"), pow(norm / sigma, 2),
                     2 * gamma_of((double)tensor->count + 8) * pow(norm / sigma, 2));
            ck_assert_str_eq(cell_text(tables.summary, at, "solver"), "randomised");
            ck_assert(isnan(cell(tables.summary, at, "sigma_min")));
        }
    }
    szg_checkpoint_tables_close(&tables);
    model_close(&model);
}
END_TEST

/* Shared by threads, alone with all of them, or on one: the same bits. */
START_TEST(the_same_bits_on_any_threads) {
    test_model model;
    szg_checkpoint_tables tables[4];
    add_some(&model);
    for (int threads = 1; threads <= 4; threads++) {
        szg_context *context;
        const szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        analyse_top(context, &model, 6, &tables[threads - 1]);
        szg_context_close(&context);
    }
    for (int i = 1; i < 4; i++) {
        ck_assert_int_eq(szg_table_rows(tables[i].top), szg_table_rows(tables[0].top));
        for (int64_t row = 0; row < szg_table_rows(tables[0].top); row++) {
            ck_assert(cell(tables[i].top, row, "sigma") == cell(tables[0].top, row, "sigma"));
            ck_assert(cell(tables[i].top, row, "error") == cell(tables[0].top, row, "error"));
        }
    }
    for (int i = 0; i < 4; i++)
        szg_checkpoint_tables_close(&tables[i]);
    model_close(&model);
}
END_TEST

static szg_status compute_once(const szgi_tensor *tensor, szg_context *context, bool passing) {
    szgi_top top;
    const szgi_top_options options = {.count = 2, .passing = passing};
    szg_status status = szgi_top_compute(context, tensor, &options, &top);
    szgi_top_close(&top);
    return status;
}

/* In a block of a pool, beside another one: on its thread alone. */
typedef struct beside {
    const szgi_tensor *tensor;
    szgi_top_options options;
    szgi_top top[2];
} beside;

static szg_status compute_beside(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    beside *self = data;
    return szgi_top_compute(context, self->tensor, &self->options, &self->top[block]);
}

static void check_same(const szgi_top *got, const szgi_top *want) {
    for (int64_t i = 0; i < want->count; i++) {
        ck_assert(got->value[i].sigma == want->value[i].sigma);
        ck_assert(got->value[i].error == want->value[i].error);
        ck_assert(got->value[i].residual == want->value[i].residual);
    }
}

START_TEST(the_same_bits_where_rows_pass_by) {
    test_model model;
    szgi_safetensors *set;
    szgi_top one;
    model_open(&model);
    model_add(&model, SZGI_DTYPE_F32, 1500, 300, "a.weight");
    model_write(&model, NULL);
    ck_szg_ok(szgi_safetensors_open(test_context(), model.folder, &set));
    beside self = {.tensor = szgi_safetensors_tensor(set, 0),
                   .options = {.count = 3, .passing = true, .seed = test_seed()}};
    for (int threads = 1; threads <= 4; threads++) {
        szg_context *context;
        const szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(szgi_top_compute(context, self.tensor, &self.options, &self.top[0]),
                         SZG_OK);
        if (threads == 1)
            one = self.top[0];
        else
            check_same(&self.top[0], &one), szgi_top_close(&self.top[0]);
        ck_assert_int_eq(szgi_pool_run(context, 2, compute_beside, &self), SZG_OK);
        for (int i = 0; i < 2; i++) {
            check_same(&self.top[i], &one);
            szgi_top_close(&self.top[i]);
        }
        szg_context_close(&context);
    }
    szgi_top_close(&one);
    szgi_safetensors_close(&set);
    model_close(&model);
}
END_TEST

/* From an order of 512 on LAPACK would use the threads of OpenBLAS, whose sums differ. */
START_TEST(the_same_bits_of_many_values) {
    test_model model;
    szgi_safetensors *set;
    szgi_top top[2];
    const szgi_top_options wanted = {.count = 520};
    model_open(&model);
    model_tensor *tensor = model_add(&model, SZGI_DTYPE_F64, 600, 600, "a.weight");
    for (int64_t i = 0; i < tensor->count; i++)
        tensor->value[i] *= pow(0.97, (double)(i / 600));
    model_write(&model, NULL);
    ck_szg_ok(szgi_safetensors_open(test_context(), model.folder, &set));
    for (int i = 0; i < 2; i++) {
        szg_context *context;
        const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1 + 2 * i};
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(
            szgi_top_compute(context, szgi_safetensors_tensor(set, 0), &wanted, &top[i]), SZG_OK);
        szg_context_close(&context);
    }
    check_same(&top[1], &top[0]);
    check_tensor(tensor, &top[0], "many values");
    szgi_top_close(&top[0]);
    szgi_top_close(&top[1]);
    szgi_safetensors_close(&set);
    model_close(&model);
}
END_TEST

/* Another seed gives other vectors, and the same values within both errors. */
START_TEST(another_seed) {
    test_model model;
    szgi_safetensors *set;
    szgi_top top[2];
    model_open(&model);
    model_add(&model, SZGI_DTYPE_F32, 320, 300, "a.weight");
    model_write(&model, NULL);
    ck_szg_ok(szgi_safetensors_open(test_context(), model.folder, &set));
    for (int i = 0; i < 2; i++) {
        const szgi_top_options options = {.count = 3, .seed = (uint64_t)i};
        ck_szg_ok(
            szgi_top_compute(test_context(), szgi_safetensors_tensor(set, 0), &options, &top[i]));
    }
    ck_assert(top[0].value[2].residual != top[1].value[2].residual);
    for (int i = 0; i < 3; i++)
        ck_close(top[0].value[i].sigma, top[1].value[i].sigma,
                 top[0].value[i].error + top[1].value[i].error);
    szgi_top_close(&top[0]);
    szgi_top_close(&top[1]);
    szgi_safetensors_close(&set);
    model_close(&model);
}
END_TEST

START_TEST(options_that_are_none) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .top = -1};
    model_open(&model);
    model_add_bert(&model);
    model_write(&model, model_bert);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_szg_fails(SZG_EINVAL, "the -1 largest values",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    options.top = 4;
    ck_szg_fails(SZG_EINVAL, "add --config none",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    ck_assert_ptr_null(tables.summary);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* ---- Memory ---- */

START_TEST(refused_allocations_and_cancelling) {
    for (int passing = 0; passing < 2; passing++) {
        test_model model;
        szgi_safetensors *set;
        test_looks looks;
        model_open(&model);
        model_add(&model, SZGI_DTYPE_F32, 270, 280, "a.weight");
        model_write(&model, NULL);
        ck_szg_ok(szgi_safetensors_open(test_context(), model.folder, &set));
        const szgi_tensor *tensor = szgi_safetensors_tensor(set, 0);
        ck_survives_failed_allocations(4, compute_once(tensor, test_context(), passing));
        szg_context *counting = test_counting_context(&looks);
        looks = (test_looks){.last = INT64_MAX};
        ck_assert_int_eq(compute_once(tensor, counting, passing), SZG_OK);
        int64_t all = looks.count;
        ck_assert_int_gt(all, 10);
        for (int64_t last = 1; last <= all; last += all / 7) {
            looks = (test_looks){.last = last};
            ck_assert_int_eq(compute_once(tensor, counting, passing), SZG_ECANCEL);
            ck_assert_int_eq(looks.count, last);
        }
        szg_context_close(&counting);
        szgi_safetensors_close(&set);
        model_close(&model);
    }
}
END_TEST

/* ---- About how long ---- */

typedef struct heard {
    double step, now;
    char text[512];
} heard;

static double slow_clock(void *user) {
    heard *self = user;
    return self->now += self->step;
}

static void listen(void *user, szg_severity severity, const char *text) {
    heard *self = user;
    if (severity == SZG_NOTE)
        snprintf(self->text, sizeof self->text, "%s", text);
}

/* A clock that goes so many seconds at each look says how slow the machine is. */
START_TEST(a_long_run_says_how_long) {
    test_model model;
    model_open(&model);
    model_add(&model, SZGI_DTYPE_F32, 500, 500, "a.weight");
    model_add(&model, SZGI_DTYPE_F32, 480, 500, "b.weight");
    model_write(&model, NULL);
    for (int i = 0; i < 3; i++) {
        heard self = {.step = i == 2 ? 1e-9 : 60};
        szg_context *context;
        szg_checkpoint_tables tables;
        const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                             .message = listen, .clock = slow_clock, .user = &self};
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        analyse_top(context, &model, i == 1 ? 100 : 0, &tables);
        szg_checkpoint_tables_close(&tables);
        szg_context_close(&context);
        ck_assert_msg(!*self.text == (i == 2), "%s", self.text);
        ck_assert_msg(i == 2 || strstr(self.text, "2 matrices: "), "%s", self.text);
        ck_assert_msg(i == 2 ||
                          strstr(self.text, i == 1 ? "--top 100 takes about " : "--top 16 about "),
                      "%s", self.text);
        ck_assert_msg(i == 2 || strstr(self.text, " on 1 thread,"), "%s", self.text);
    }
    model_close(&model);
}
END_TEST

START_TEST(words_for_a_time) {
    char text[32];
    ck_assert_str_eq(szgi_duration_text(12.4, text, sizeof text), "12 seconds");
    ck_assert_str_eq(szgi_duration_text(210, text, sizeof text), "3.5 minutes");
    ck_assert_str_eq(szgi_duration_text(7560, text, sizeof text), "2.1 hours");
    ck_assert_str_eq(szgi_duration_text(3e5, text, sizeof text), "3.5 days");
}
END_TEST

TEST_FILE("top") {
    test_add(suite, "values_of_every_shape", values_of_every_shape);
    test_add_loop(suite, "values_of_every_content", values_of_every_content, CONTENTS);
    test_add(suite, "values_beyond_a_double", values_beyond_a_double);
    test_add(suite, "tables_of_the_largest_values", tables_of_the_largest_values);
    test_add(suite, "the_same_bits_on_any_threads", the_same_bits_on_any_threads);
    test_add(suite, "the_same_bits_where_rows_pass_by", the_same_bits_where_rows_pass_by);
    test_add(suite, "the_same_bits_of_many_values", the_same_bits_of_many_values);
    test_add(suite, "another_seed", another_seed);
    test_add(suite, "options_that_are_none", options_that_are_none);
    test_add(suite, "refused_allocations_and_cancelling", refused_allocations_and_cancelling);
    test_add(suite, "a_long_run_says_how_long", a_long_run_says_how_long);
    test_add(suite, "words_for_a_time", words_for_a_time);
}
