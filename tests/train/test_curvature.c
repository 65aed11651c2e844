/* The largest eigenvalue of the Hessian: against dense matrices and closed forms, and what it does
 * to a run that measures it: nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/ops.h"
#include "network/ops.h"
#include "plugin/backend.h"
#include "train/curvature/curvature.h"
#include "train/curvature/top_vector.h"
#include "train/run/run_private.h"
#include "capture_support.h"
#include "recording.h"

/* ---- Lanczos ---- */

static szg_status times_diagonal(szg_context *context, void *data, const double *x, double *y) {
    const double *diagonal = data;
    (void)context;
    for (int64_t i = 0; i < (int64_t)diagonal[0]; i++)
        y[i] = diagonal[i + 1] * x[i];
    return SZG_OK;
}

/* tridiag(-1, 2, -1), whose eigenvalues are 2 - 2 cos(k pi / (n + 1)). */
static szg_status times_laplacian(szg_context *context, void *data, const double *x, double *y) {
    int64_t n = *(const int64_t *)data;
    (void)context;
    for (int64_t i = 0; i < n; i++)
        y[i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
    return SZG_OK;
}

static double quotient_of(const szgi_operator *s, const top_vector *top) {
    double *image = new_numbers(s->n), sum = 0, squares = 0;
    ck_szg_ok(s->apply(test_context(), s->data, top->vector, image));
    for (int64_t i = 0; i < s->n; i++) {
        sum += top->vector[i] * image[i];
        squares += top->vector[i] * top->vector[i];
    }
    ck_close(squares, 1, (double)s->n * 0x1p-50);
    szgi_memory_free(image);
    return sum;
}

static top_vector top_of(const szgi_operator *s, int64_t products) {
    const top_options options = {{test_seed(), 0, 1}, products, 0x1p-40};
    top_vector top = {.vector = new_numbers(s->n)};
    ck_szg_ok(szgi_top_vector(test_context(), s, &options, &top));
    ck_assert(top.found);
    ck_assert_int_le(top.products, products);
    return top;
}

/* Where the basis fills the space the value is exact but for rounding, n eps ||S||; the residual
 * 2^-40 leaves less. */
START_TEST(a_laplacian_has_its_closed_form) {
    for (int64_t n = 1; n <= 36; n += 5) {
        const szgi_operator s = {n, times_laplacian, &n};
        top_vector top = top_of(&s, 40);
        double last = acos(-1.0) / (double)(n + 1);
        ck_close(quotient_of(&s, &top), 2 + 2 * cos(last), 4 * (double)n * 0x1p-48);
        szgi_memory_free(top.vector);
    }
}
END_TEST

/* Signs count: of -1 .. -n the largest is -1. */
START_TEST(the_largest_is_not_the_largest_in_modulus) {
    enum { N = 30 };
    double diagonal[N + 1] = {N};
    for (int i = 1; i <= N; i++)
        diagonal[i] = -i;
    const szgi_operator s = {N, times_diagonal, diagonal};
    top_vector top = top_of(&s, 40);
    ck_close(quotient_of(&s, &top), -1, N * 30 * 0x1p-48);
    szgi_memory_free(top.vector);
}
END_TEST

/* Far outside eigenvalues converge in a few products. From there on a basis that is not made
 * orthogonal again takes them up once more (Paige 1971), and the products that this costs lack
 * where the space is to be filled. */
START_TEST(no_copy_takes_a_place) {
    enum { N = 37 };
    double diagonal[N + 1] = {N};
    for (int i = 1; i <= N; i++)
        diagonal[i] = i <= 4 ? -1e4 * i : 1 + i * 0.01;
    const szgi_operator s = {N, times_diagonal, diagonal};
    top_vector top = top_of(&s, N + 1);
    ck_close(quotient_of(&s, &top), 1.37, N * 4e4 * 0x1p-50);
    szgi_memory_free(top.vector);
}
END_TEST

START_TEST(nothing_is_found_in_zeros_and_nan) {
    double zeros[] = {5, 0, 0, 0, 0, 0}, bad[] = {5, 1, 2, NAN, 1, 1};
    const top_options options = {{test_seed(), 0, 1}, 40, 1e-3};
    double *const diagonals[] = {zeros, bad};
    for (int i = 0; i < 2; i++) {
        const szgi_operator s = {5, times_diagonal, diagonals[i]};
        top_vector top = {.vector = new_numbers(5)};
        ck_szg_ok(szgi_top_vector(test_context(), &s, &options, &top));
        ck_assert(!top.found);
        ck_assert_int_eq(top.products, 1);
        szgi_memory_free(top.vector);
    }
}
END_TEST

/* Against the 2 x 2 matrix itself; LAPACK moves its eigenvalue by some eps of the largest entry,
 * and so does the difference of two such. */
START_TEST(what_a_vector_misses) {
    static const double cases[][3] = {{1, 0, 0.1},   {1, 0.9, 0.1}, {1, 1, 0.25}, {2, -3, 1},
                                      {-1, -2, 0.5}, {1, 2, 0.5},   {3, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = cases[i][0], beyond = cases[i][1], residual = cases[i][2];
        double a[] = {value, residual, residual, beyond}, w[2];
        ck_szg_ok(szgi_eigen_symmetric(test_context(), 2, a, 2, w, false));
        ck_close(szgi_top_missed(value, beyond, residual), w[1] - value, 32 * 0x1p-52);
    }
    ck_assert(isnan(szgi_top_missed(1, NAN, 0.1)));
}
END_TEST

/* ---- A decoder's ---- */

/* A model in the memory of the context's backend, its examples, and AdamW's second moment. */
typedef struct measured {
    szg_model *model;
    szg_examples examples;
    void *moment2;
    szg_table *table;
} measured;

enum { STEP = 7 };

static double moment_at(int64_t i) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 80};
    double root = 0.02 + szgi_random_uniform(&stream, (uint64_t)i);
    return (double)(float)(root * root);
}

static void open_measured(const szg_train_config *config, measured *out) {
    *out = (measured){0};
    ck_szg_ok(szgi_model_open(test_context(), config, CLASSES, &out->model));
    randomise(out->model);
    fill_examples(&out->examples);
    ck_szg_ok(szgi_model_intervene(test_context(), out->model,
                                   config->intervention.kind != SZG_INTERVENTION_NONE));
    int64_t n = szgi_model_count(out->model);
    double *moments = new_numbers(n);
    for (int64_t i = 0; i < n; i++)
        moments[i] = moment_at(i);
    ck_szg_ok(szgi_device_alloc(test_context(), n * szgi_network_real_size(test_context()),
                                &out->moment2));
    ck_szg_ok(szgi_model_write(test_context(), out->model, out->moment2, 0, n, moments));
    szgi_memory_free(moments);
}

static void close_measured(measured *m) {
    szg_table_close(&m->table);
    szgi_device_free(test_context(), m->moment2);
    szg_examples_close(&m->examples);
    szg_model_close(test_context(), &m->model);
}

static szg_status measure(measured *m) {
    szgi_curvature *curvature;
    szg_table_close(&m->table);
    SZG_TRY(szgi_curvature_table(test_context(), &m->table));
    SZG_TRY(szgi_curvature_open(test_context(), m->model, &m->examples, POSITIONS, test_seed(),
                                &curvature));
    szg_status status =
        szgi_curvature_add(test_context(), curvature, m->model, m->moment2, STEP, m->table);
    szgi_curvature_close(test_context(), &curvature);
    return status;
}

/* 1 where a parameter is trained, 0 where an intervention has frozen it. */
static double *trained_of(subject *s) {
    int64_t n = szgi_model_count(s->model);
    double *ones = new_numbers(n);
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;
    ck_szg_ok(szgi_model_write(test_context(), s->model, s->gradient, 0, n, ones));
    ck_szg_ok(szgi_intervention_clear(test_context(), s->model, s->gradient));
    ck_szg_ok(szgi_model_read(test_context(), s->model, s->gradient, 0, n, ones));
    return ones;
}

/* Row i: the gradient's derivative by number i, without dropout. */
static void dense_row(subject *s, const szgi_batch *batch, int64_t i, double *row) {
    const double h = 1e-5;
    double value, moved, *side[2];
    void *arena = szgi_model_arena(s->model);
    int64_t n = szgi_model_count(s->model);
    ck_szg_ok(szgi_model_read(test_context(), s->model, arena, i, 1, &value));
    for (int k = 0; k < 2; k++) {
        moved = value + (k ? h : -h);
        ck_szg_ok(szgi_model_write(test_context(), s->model, arena, i, 1, &moved));
        side[k] = gradients_of(s, batch);
    }
    ck_szg_ok(szgi_model_write(test_context(), s->model, arena, i, 1, &value));
    for (int64_t j = 0; j < n; j++)
        row[j] = (side[1][j] - side[0][j]) / (2 * h);
    szgi_memory_free(side[0]);
    szgi_memory_free(side[1]);
}

/* n x n. */
static double *dense_hessian(const szg_train_config *config, int64_t *out) {
    szg_train_config plain = *config;
    plain.model.dropout = 0;
    drawn_batch batch = draw_batch(SEQUENCES, POSITIONS);
    subject s = open_subject(&plain, true);
    ck_szg_ok(szgi_model_intervene(test_context(), s.model,
                                   config->intervention.kind != SZG_INTERVENTION_NONE));
    int64_t n = szgi_model_count(s.model);
    double *matrix = new_numbers(n * n), *trained = trained_of(&s);
    for (int64_t i = 0; i < n; i++)
        dense_row(&s, &batch.batch, i, matrix + i * n);
    for (int64_t i = 0; i < n * n; i++)
        matrix[i] *= trained[i / n] * trained[i % n];
    szgi_memory_free(trained);
    close_subject(&s);
    free_batch(&batch);
    *out = n;
    return matrix;
}

/* Of S A S, S = diag(scale); by LAPACK. */
static double dense_top(int64_t n, const double *matrix, const double *scale) {
    double *a = new_numbers(n * n), *w = new_numbers(n);
    for (int64_t i = 0; i < n * n; i++)
        a[i] = matrix[i] * (scale ? scale[i / n] * scale[i % n] : 1);
    ck_szg_ok(szgi_eigen_symmetric(test_context(), n, a, n, w, false));
    double top = w[n - 1];
    szgi_memory_free(a);
    szgi_memory_free(w);
    return top;
}

static const variant small_variants[] = {
    {SZG_PROFILE_TEXT, "rope", {"activation=gelu", "layers=1", "width=4", "hidden=4"}},
    {SZG_PROFILE_TEXT, "t5:buckets=4", {"activation=gelu", "layers=1", "width=4", "mask=none"}},
    {SZG_PROFILE_RELEASED, "mla", {"layers=1", "width=4", "hidden=4", "classes=labels"}},
};
enum { SMALL_VARIANTS = sizeof small_variants / sizeof *small_variants };

/* Lanczos ends at a residual of 0.001, within which an eigenvalue lies; the differences are as far
 * from the derivative as the two steps are from each other, or nearer. */
static void check_value(const szg_table *table, const char *name, double want) {
    char agreement[32], value[32];
    snprintf(value, sizeof value, "%s_max", name);
    snprintf(agreement, sizeof agreement, "%s_agreement", name);
    double apart = cell(table, 0, agreement);
    ck_close(cell(table, 0, value), want, (0.001 + apart) * fabs(want));
    ck_assert_double_le(apart, 0.01);
}

static double *adamw_scale(const szg_loop_config *loop, int64_t n) {
    double *scale = new_numbers(n);
    for (int64_t i = 0; i < n; i++)
        scale[i] = 1 / sqrt(sqrt(moment_at(i) / (1 - pow(loop->beta2, STEP))) + loop->eps);
    return scale;
}

/* Both values in double precision, with dropout in the configuration; then in single precision,
 * which is as good as a row promises. */
static void check_dense(const szg_train_config *config) {
    measured wide, narrow;
    int64_t n;
    szgi_context_set_ops(test_context(), szgi_ops_reference64());
    double *matrix = dense_hessian(config, &n);
    open_measured(config, &wide);
    ck_szg_ok(measure(&wide));
    szg_table *table = wide.table;
    wide.table = NULL;
    close_measured(&wide);
    szgi_context_set_ops(test_context(), NULL);
    double *scale = adamw_scale(&config->loop, n);
    double plain = dense_top(n, matrix, NULL), adamw = dense_top(n, matrix, scale);
    check_value(table, "hessian", plain);
    check_value(table, "adamw", adamw);
    open_measured(config, &narrow);
    ck_szg_ok(measure(&narrow));
    ck_close(cell(narrow.table, 0, "hessian_max"), plain, 0.01 * plain);
    ck_close(cell(narrow.table, 0, "adamw_max"), adamw, 0.01 * adamw);
    close_measured(&narrow);
    szg_table_close(&table);
    szgi_memory_free(scale);
    szgi_memory_free(matrix);
}

START_TEST(a_dense_hessian_has_the_same) {
    const variant *v = &small_variants[_i];
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    config.curvature.examples = SEQUENCES;
    ck_assert(config.model.dropout > 0);
    check_dense(&config);
}
END_TEST

/* A head that is not trained is no variable. */
START_TEST(frozen_parameters_are_no_variables) {
    const variant *v = &small_variants[0];
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    config.curvature.examples = SEQUENCES;
    config.intervention = (szg_intervention_config){.kind = SZG_INTERVENTION_GRADIENT, .head = 1};
    check_dense(&config);
}
END_TEST

/* All parameters are 0 but the norms' gains: logits are the classifier's bias. Its block of the
 * Hessian is (I - 1 1^T / C) / C with C equal probabilities. That of classifier and embedding is M
 * (x) I beside zeros, with M[c][t] the mean of (1 / C - [label = c]) over the examples, each of one
 * token t. Tokens that do not tell the label make M zero. So does whatever meets the pooled stream
 * besides: biases, with labels in equal shares. The largest eigenvalue is 1 / C. */
START_TEST(a_linear_softmax_has_its_closed_form) {
    static const char *const overrides[] = {"layers=1", "activation=gelu", NULL};
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "nope", overrides);
    config.curvature.examples = 2 * CLASSES;
    measured m;
    szgi_context_set_ops(test_context(), szgi_ops_reference64());
    open_measured(&config, &m);
    szg_examples_close(&m.examples);
    m.examples = (szg_examples){0};
    for (int32_t i = 0; i < 2 * CLASSES; i++)
        ck_szg_ok(szgi_examples_add(test_context(), &m.examples, 1, &(int32_t){1 + i / CLASSES},
                                    i % CLASSES));
    int64_t n = szgi_model_count(m.model);
    double *weights = new_numbers(n);
    for (int64_t i = 0; i < szgi_model_parameters(m.model); i++) {
        const szgi_parameter *p = szgi_model_parameter(m.model, i);
        bool gain = strstr(p->name, "norm") && strstr(p->name, "weight");
        for (int64_t at = p->offset; gain && at < p->offset + p->count; at++)
            weights[at] = 1;
    }
    ck_szg_ok(szgi_model_write(test_context(), m.model, szgi_model_arena(m.model), 0, n, weights));
    ck_szg_ok(measure(&m));
    check_value(m.table, "hessian", 1.0 / CLASSES);
    szgi_memory_free(weights);
    close_measured(&m);
    szgi_context_set_ops(test_context(), NULL);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    const variant *v = &small_variants[0];
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    config.curvature.examples = SEQUENCES;
    measured m;
    open_measured(&config, &m);
    ck_survives_failed_allocations(50, measure(&m));
    close_measured(&m);
}
END_TEST

/* ---- A run ---- */

static szg_train_config *measuring(int64_t every) {
    szg_train_config *config = new_tiny(NULL);
    config->curvature.every = every;
    config->curvature.examples = 20;
    return config;
}

static szg_table *rows_of(const char *folder) {
    szg_train_tables tables;
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    szg_table *rows = tables.curvature;
    tables.curvature = NULL;
    szg_train_tables_close(&tables);
    ck_assert_ptr_nonnull(rows);
    return rows;
}

static int64_t integer_at(const szg_table *table, int64_t row, const char *name) {
    return szg_table_get_integer(table, row, szg_table_find(table, name));
}

START_TEST(a_run_has_the_same_bits_with_it) {
    szg_train_config *with = measuring(2), *without = new_tiny(NULL);
    char *folder = whole_run(with), *other = whole_run(without);
    ck_same_state(folder, other);
    ck_same_file(folder, other, "metrics.csv");
    szg_table *rows = rows_of(folder);
    ck_assert_int_eq(szg_table_rows(rows), 5);
    for (int64_t i = 0; i < 5; i++) {
        ck_assert_int_eq(integer_at(rows, i, "step"), 2 * i);
        ck_assert_int_ge(integer_at(rows, i, "products"), 5);
        bool no_moments = szg_table_is_empty(rows, i, szg_table_find(rows, "adamw_agreement"));
        ck_assert_int_eq(no_moments, i == 0);
    }
    ck_assert(cell(rows, 4, "hessian_max") > 0);
    szg_table_close(&rows);
    remove_run_folder(folder);
    remove_run_folder(other);
    szgi_memory_free(with);
    szgi_memory_free(without);
}
END_TEST

START_TEST(it_ends_before_a_step) {
    szg_train_config *config = measuring(2);
    config->curvature.until = 4;
    char *folder = whole_run(config);
    szg_table *rows = rows_of(folder);
    ck_assert_int_eq(szg_table_rows(rows), 2);
    szg_table_close(&rows);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* The text of the first row's value: the parameters of step 0 do not know of dropout. */
static double first_value(const char *key) {
    szg_train_config *config = new_tiny(key);
    config->curvature = (szg_curvature_config){.every = 9, .examples = 20};
    char *folder = whole_run(config);
    szg_table *rows = rows_of(folder);
    double value = cell(rows, 0, "hessian_max");
    szg_table_close(&rows);
    remove_run_folder(folder);
    szgi_memory_free(config);
    return value;
}

START_TEST(dropout_does_not_count) {
    double without = first_value("model.dropout=0");
    ck_assert(without > 0);
    ck_assert_double_eq(first_value("model.dropout=0.5"), without);
}
END_TEST

static char *run_with_threads(const szg_train_config *config, int threads) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
    szg_context *context;
    szg_train_result result;
    char *folder = new_run_folder();
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_szg_ok(run_in(context, config, 5, folder, false, &result));
    szg_context_close(&context);
    return folder;
}

START_TEST(threads_do_not_count) {
    szg_train_config *config = measuring(4);
    char *one = run_with_threads(config, 1), *three = run_with_threads(config, 3);
    ck_same_file(one, three, "curvature.csv");
    remove_run_folder(one);
    remove_run_folder(three);
    szgi_memory_free(config);
}
END_TEST

START_TEST(a_run_goes_on_with_its_rows) {
    szg_train_config *config = measuring(2), *part = measuring(2);
    szg_train_result result;
    char *whole = whole_run(config);
    /* Ends of epochs among them; shortened runs try these, one without a row and one with. */
    for (int64_t at = TINY_EPOCH; at <= 2 * TINY_EPOCH; at += test_trials(3) > 1 ? 1 : TINY_EPOCH) {
        char *folder = new_run_folder();
        part->loop.limit_steps = at;
        ck_szg_ok(run_in(test_context(), part, 5, folder, false, &result));
        ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
        ck_same_run(whole, folder);
        remove_run_folder(folder);
    }
    remove_run_folder(whole);
    szgi_memory_free(config);
    szgi_memory_free(part);
}
END_TEST

/* The cpu table with another loss. */
static const szgi_ops *ops_with(szg_status (*loss)(szg_context *, const szgi_cross_entropy *)) {
    static szgi_network_ops network;
    static struct szgi_ops ops;
    network = *szgi_ops_cpu()->network;
    ops = *szgi_ops_cpu();
    network.cross_entropy = loss;
    ops.network = &network;
    return &ops;
}

static szg_context *cancelled;
static int64_t losses_before_cancel;

static szg_status cancelling_loss(szg_context *context, const szgi_cross_entropy *entropy) {
    if (--losses_before_cancel == 0)
        szg_context_cancel(cancelled);
    return szgi_ops_cpu()->network->cross_entropy(context, entropy);
}

/* A cancellation in the midst of the measurement of step 4 saves step 4 without its row; the next
 * run writes it, once. Losses before it: two a product at step 0, four steps, one evaluation. */
START_TEST(a_measurement_is_cancelled) {
    szg_train_config *config = measuring(4);
    szg_train_result result;
    char *whole = whole_run(config), *folder = new_run_folder();
    szg_table *rows = rows_of(whole);
    losses_before_cancel = 2 * integer_at(rows, 0, "products") + 4 + 1 + 5;
    szg_table_close(&rows);
    ck_assert_int_eq(szg_context_open(NULL, &cancelled), SZG_OK);
    szgi_context_set_ops(cancelled, ops_with(cancelling_loss));
    ck_assert_int_eq(run_in(cancelled, config, 5, folder, false, &result), SZG_ECANCEL);
    ck_assert_msg(strstr(szg_context_message(cancelled), "stopped after step 4 of 9"), "%s",
                  szg_context_message(cancelled));
    szg_context_close(&cancelled);
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_same_run(whole, folder);
    remove_run_folder(folder);
    remove_run_folder(whole);
    szgi_memory_free(config);
}
END_TEST

/* A loss whose gradient is off by up to a share, and never twice the same. */
static float noise;

static szg_status noisy_loss(szg_context *context, const szgi_cross_entropy *entropy) {
    static uint64_t calls;
    const szgi_stream stream = {.seed = 1, .purpose = 81};
    SZG_TRY(szgi_ops_cpu()->network->cross_entropy(context, entropy));
    float *gradient = entropy->dlogits;
    for (int64_t i = 0; gradient && i < entropy->batch * entropy->classes; i++)
        gradient[i] *= 1 + noise * (float)szgi_random_uniform(&stream, calls++);
    return SZG_OK;
}

static szg_table *noisy_rows(float share) {
    szg_train_config *config = measuring(test_trials(2) > 1 ? 1 : 4);
    szg_train_result result;
    szg_context *context;
    char *folder = new_run_folder();
    noise = share;
    ck_assert_int_eq(szg_context_open(NULL, &context), SZG_OK);
    szgi_context_set_ops(context, ops_with(noisy_loss));
    ck_szg_ok(run_in(context, config, 5, folder, false, &result));
    szg_context_close(&context);
    szg_table *rows = rows_of(folder);
    ck_assert_int_eq(szg_table_rows(rows), (TINY_STEPS - 1) / config->curvature.every + 1);
    remove_run_folder(folder);
    szgi_memory_free(config);
    return rows;
}

static bool notes(const szg_table *rows, int64_t row, const char *words) {
    const char *note = text(rows, row, "note");
    return note && strstr(note, words);
}

START_TEST(what_is_not_resolved_is_empty) {
    static const char *const values[] = {"hessian_max", "adamw_max"};
    szg_table *rows = noisy_rows(0.1F);
    for (int64_t row = 1; row < szg_table_rows(rows); row++)
        for (int i = 0; i < 2; i++) {
            ck_assert(szg_table_is_empty(rows, row, szg_table_find(rows, values[i])));
            ck_assert(notes(rows, row, values[i]));
        }
    szg_table_close(&rows);
}
END_TEST

/* Under less noise two steps agree by chance on vectors that are none. A value v with the residual
 * r misses hypot(g, r) - g, where 2 g, the distance to the quotient of the residual's direction, is
 * 2 v at most, unless that is below -v: 1% of v, for r = 0.143 v. */
START_TEST(steps_that_agree_are_not_enough) {
    szg_table *rows = noisy_rows(0.005F);
    for (int64_t row = 0; row < szg_table_rows(rows); row++) {
        if (szg_table_is_empty(rows, row, szg_table_find(rows, "hessian_max")))
            continue;
        ck_assert_double_le(cell(rows, row, "hessian_agreement"), 0.01);
        ck_assert_double_le(cell(rows, row, "hessian_residual"), 0.143);
    }
    szg_table_close(&rows);
}
END_TEST

START_TEST(a_backend_that_records_is_refused) {
    szg_train_config *config = measuring(2);
    szg_train_result result;
    char *folder = new_run_folder();
    szgi_context_set_ops(test_context(), recording_ops());
    ck_szg_fails(SZG_EBACKEND, "curvature.every: the backend cpu records its steps",
                 run_in(test_context(), config, 5, folder, false, &result));
    szgi_context_set_ops(test_context(), NULL);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

START_TEST(a_batch_has_as_many_examples_as_asked_for) {
    szg_train_config *config = measuring(2);
    szg_train_result result;
    char *folder = new_run_folder();
    config->curvature.examples = 1 << 20;
    ck_szg_fails(SZG_EINVAL, "curvature.examples=1048576: the training split has ",
                 run_in(test_context(), config, 5, folder, false, &result));
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

TEST_FILE("curvature") {
    test_add(suite, "a_batch_has_as_many_examples_as_asked_for",
             a_batch_has_as_many_examples_as_asked_for);
    test_add(suite, "a_laplacian_has_its_closed_form", a_laplacian_has_its_closed_form);
    test_add(suite, "the_largest_is_not_the_largest_in_modulus",
             the_largest_is_not_the_largest_in_modulus);
    test_add(suite, "no_copy_takes_a_place", no_copy_takes_a_place);
    test_add(suite, "nothing_is_found_in_zeros_and_nan", nothing_is_found_in_zeros_and_nan);
    test_add(suite, "what_a_vector_misses", what_a_vector_misses);
    test_add_loop(suite, "a_dense_hessian_has_the_same", a_dense_hessian_has_the_same,
                  SMALL_VARIANTS);
    test_add(suite, "frozen_parameters_are_no_variables", frozen_parameters_are_no_variables);
    test_add(suite, "a_linear_softmax_has_its_closed_form", a_linear_softmax_has_its_closed_form);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
    test_add(suite, "a_run_has_the_same_bits_with_it", a_run_has_the_same_bits_with_it);
    test_add(suite, "it_ends_before_a_step", it_ends_before_a_step);
    test_add(suite, "dropout_does_not_count", dropout_does_not_count);
    test_add(suite, "threads_do_not_count", threads_do_not_count);
    test_add(suite, "a_run_goes_on_with_its_rows", a_run_goes_on_with_its_rows);
    test_add(suite, "a_measurement_is_cancelled", a_measurement_is_cancelled);
    test_add(suite, "what_is_not_resolved_is_empty", what_is_not_resolved_is_empty);
    test_add(suite, "steps_that_agree_are_not_enough", steps_that_agree_are_not_enough);
    test_add(suite, "a_backend_that_records_is_refused", a_backend_that_records_is_refused);
}
