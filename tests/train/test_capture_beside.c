/* Captures whose spectra the backend computes beside the steps: on a backend that can, its own; on
 * another, a stand-in that computes them on the host. Both against the matrices themselves. */
#include <unistd.h>

#include "plugin/backend.h"
#include "train/run/train.h"

#include "../../train/capture/capture_private.h"
#include "capture_support.h"
#include "host_spectra.h"

enum { STEP = 12, PLENTY = 1 << 30 };

/* ---- Two tables ---- */

static const szgi_ops *own; /* the backend's */
static szgi_ops beside_table, host_table;
static szgi_network_ops beside_network, host_network;

static void open_tables(void) {
    ck_szg_ok(szg_backend_select(test_context(), test_backend())); /* each case has a context */
    own = szgi_ops_of(test_context());
    beside_network = host_network = *own->network;
    if (!own->network->spectra_open)
        host_spectra_fill(&beside_network);
    host_network.spectra_open = NULL;
    beside_table = host_table = *own;
    beside_table.network = &beside_network;
    host_table.network = &host_network;
}

static void use(const szgi_ops *table) {
    szgi_context_set_ops(test_context(), table);
}

static void close_tables(void) {
    use(own);
}

/* ---- Subjects ---- */

typedef struct captured {
    subject s;
    szg_examples examples;
    szg_capture_config what;
} captured;

/* With gradients, and tokens of three lengths. */
static captured open_captured(szg_profile profile, const char *encoding) {
    szg_train_config config = small_config(profile, encoding, NULL);
    captured c = {.s = open_subject(&config, true), .what = everything(SEQUENCES)};
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    fill_examples(&c.examples);
    szgi_memory_free(gradients_of(&c.s, &b.batch));
    free_batch(&b);
    return c;
}

static void close_captured(captured *c) {
    szg_examples_close(&c->examples);
    close_subject(&c->s);
}

static szg_contraction_tables new_tables(void) {
    szg_contraction_tables tables;
    ck_szg_ok(szg_contraction_tables_open(test_context(), true, true, &tables));
    return tables;
}

static szgi_capture *open_capture(captured *c, int64_t bytes) {
    szgi_capture *capture;
    ck_szg_ok(szgi_capture_open_within(test_context(), c->s.model, &c->what, &c->examples, NULL,
                                       NULL, bytes, &capture));
    return capture;
}

static szg_status run_step(captured *c, szgi_capture *capture, int64_t step,
                           szg_contraction_tables *tables) {
    return szgi_capture_step(test_context(), capture, step, c->s.gradient, tables);
}

/* One step's rows, collected. */
static szg_contraction_tables rows_of(captured *c, const szgi_ops *table, int64_t bytes) {
    szg_contraction_tables tables = new_tables();
    use(table);
    szgi_capture *capture = open_capture(c, bytes);
    ck_szg_ok(run_step(c, capture, STEP, &tables));
    ck_szg_ok(szgi_capture_collect(test_context(), capture, &tables));
    szgi_capture_close(test_context(), &capture);
    use(own);
    return tables;
}

/* ---- What may differ ----
 * Eigenvalues by two backward stable solvers: n eps ||L||_F each. Singular values from L^T L: d =
 * 12 n eps ||L||_F^2 in the squares, and so sqrt(d), or d / sigma for large ones; their sum n
 * times as much. What is a ratio of such numbers: their relative errors together, 1e-5 at n = 7
 * where the denominators are not small (the effective rank is a smooth function of shares that are
 * off by n sqrt(d) / sum). */

typedef struct row_scale {
    double n, norm, low; /* of the matrices: order, bound of the Frobenius norms, sqrt(d) */
} row_scale;

static double allowed(const char *column, double value, const row_scale *s) {
    static const char *const exact[] = {"step", "layer", "head", "n", "majorised"};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (strcmp(column, exact[i]) == 0)
            return 0;
    if (strncmp(column, "lambda", 6) == 0 || strncmp(column, "radius", 6) == 0 ||
        strcmp(column, "margin") == 0 || strncmp(column, "width_c", 7) == 0)
        return 4 * s->n * 0x1p-52 * s->norm;
    if (strncmp(column, "sigma_min", 9) == 0)
        return 2 * s->low;
    if (strncmp(column, "effective", 9) == 0 || strncmp(column, "condition", 9) == 0 ||
        strcmp(column, "nuclear_ratio") == 0)
        return 1e-4 * fabs(value);
    return 1e-9 * fabs(value) + 1e-14 * s->norm; /* sums in another order, squares of large ones */
}

static row_scale scale_of(const szg_table *table, int64_t row) {
    row_scale s = {.n = cell(table, row, "n")};
    s.norm = sqrt(s.n) *
             fmax(cell(table, row, "sigma_max_content"), cell(table, row, "sigma_max_coupled"));
    s.low = sqrt(12 * s.n * 0x1p-52) * s.norm;
    return s;
}

/* Least singular values that are noise are left out beside the steps. */
static bool is_noise(const char *column) {
    return strncmp(column, "sigma_min", 9) == 0 || strncmp(column, "condition", 9) == 0;
}

static void ck_cell(const szg_table *host, const szg_table *beside, int64_t r, int64_t c,
                    const row_scale *scale) {
    const char *name = szg_table_column(host, c)->name;
    if (strcmp(name, "note") == 0 || strcmp(name, "probe") == 0)
        return;
    if (is_noise(name) && szg_table_is_empty(beside, r, c))
        return;
    ck_assert_msg(szg_table_is_empty(host, r, c) == szg_table_is_empty(beside, r, c),
                  "row %d, %s: one is empty", (int)r, name);
    if (szg_table_is_empty(host, r, c))
        return;
    if (szg_table_column(host, c)->type == SZG_TEXT) {
        ck_assert_str_eq(szg_table_get_text(host, r, c), szg_table_get_text(beside, r, c));
        return;
    }
    double x = szg_table_get_real(beside, r, c), y = szg_table_get_real(host, r, c);
    ck_assert_msg(fabs(x - y) <= allowed(name, y, scale), "row %d, %s: %.17g, %.17g, allowed %.3g",
                  (int)r, name, x, y, allowed(name, y, scale));
}

static void ck_rows(const szg_table *host, const szg_table *beside) {
    ck_assert_int_eq(szg_table_rows(host), szg_table_rows(beside));
    for (int64_t r = 0; r < szg_table_rows(host); r++) {
        row_scale scale = scale_of(host, r);
        ck_assert_str_eq(text(host, r, "probe"), text(beside, r, "probe"));
        ck_assert_ptr_nonnull(strstr(text(beside, r, "note"), "spectra by a device"));
        for (int64_t c = 0; c < szg_table_columns(host); c++)
            ck_cell(host, beside, r, c, &scale);
    }
}

/* Sums of n numbers, and of 2 n - 1 means, in double precision. */
static void ck_symbols(const szg_contraction_tables *host, const szg_contraction_tables *beside) {
    ck_assert_int_eq(szg_table_rows(host->symbols), szg_table_rows(beside->symbols));
    for (int64_t r = 0; r < szg_table_rows(host->symbols); r++) {
        row_scale scale = scale_of(host->contraction, r / (2 * SZG_CONTRACTION_SAMPLES));
        double bound = 8 * scale.n * scale.n * 0x1p-52 * scale.norm;
        ck_close(cell(beside->symbols, r, "re"), cell(host->symbols, r, "re"), bound);
        ck_close(cell(beside->symbols, r, "im"), cell(host->symbols, r, "im"), bound);
        ck_assert(cell(beside->symbols, r, "theta") == cell(host->symbols, r, "theta"));
    }
}

/* Every eigenvalue and singular value; the scale of the step's largest matrix serves all. */
static void ck_values(const szg_contraction_tables *host, const szg_contraction_tables *beside) {
    row_scale most = {0};
    for (int64_t r = 0; r < szg_table_rows(host->contraction); r++) {
        row_scale own_scale = scale_of(host->contraction, r);
        most.norm = fmax(most.norm, own_scale.norm);
        most.low = fmax(most.low, own_scale.low);
    }
    ck_assert_int_eq(szg_table_rows(host->values), szg_table_rows(beside->values));
    for (int64_t r = 0; r < szg_table_rows(host->values); r++) {
        bool singular = strcmp(text(host->values, r, "kind"), "singular") == 0;
        ck_assert_str_eq(text(host->values, r, "kind"), text(beside->values, r, "kind"));
        ck_assert_str_eq(text(host->values, r, "matrix"), text(beside->values, r, "matrix"));
        ck_assert(cell(host->values, r, "index") == cell(beside->values, r, "index"));
        ck_close(cell(beside->values, r, "value"), cell(host->values, r, "value"),
                 singular ? most.low : 4 * POSITIONS * 0x1p-52 * most.norm);
    }
}

static void close_rows(szg_contraction_tables *tables) {
    szg_contraction_tables_close(tables);
}

/* ---- The rows ---- */

START_TEST(as_from_the_matrices) {
    static const struct {
        szg_profile profile;
        const char *encoding;
    } cases[] = {{SZG_PROFILE_TEXT, "rope"},
                 {SZG_PROFILE_RELEASED, "rope"}, /* content from a second pass */
                 {SZG_PROFILE_TEXT, "alibi"},
                 {SZG_PROFILE_TEXT, "nope"}, /* content as coupled */
                 {SZG_PROFILE_TEXT, "mla"}};
    open_tables();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        captured c = open_captured(cases[i].profile, cases[i].encoding);
        szg_contraction_tables host = rows_of(&c, &host_table, PLENTY);
        szg_contraction_tables beside = rows_of(&c, &beside_table, PLENTY);
        ck_assert_int_eq(szg_table_rows(host.contraction), SEQUENCES * 4);
        ck_rows(host.contraction, beside.contraction);
        ck_values(&host, &beside);
        ck_symbols(&host, &beside);
        double norm = cell(beside.contraction, 0, "grad_norm");
        double norm_qk = cell(beside.contraction, 0, "grad_norm_qk");
        ck_assert(norm_qk > 0 && norm > norm_qk);
        close_rows(&host);
        close_rows(&beside);
        close_captured(&c);
    }
    close_tables();
}
END_TEST

/* Without any mask a pass has padding, and matrices are cut. */
START_TEST(cut_to_the_real_tokens) {
    static const char *const unmasked[] = {"mask=none", "mask_padding=false", NULL};
    open_tables();
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", unmasked);
    captured c = {.s = open_subject(&config, true), .what = everything(SEQUENCES)};
    fill_examples(&c.examples);
    szg_contraction_tables host = rows_of(&c, &host_table, PLENTY);
    szg_contraction_tables beside = rows_of(&c, &beside_table, PLENTY);
    ck_assert(cell(beside.contraction, 11, "n") == 1);
    ck_rows(host.contraction, beside.contraction);
    close_rows(&host);
    close_rows(&beside);
    close_captured(&c);
    close_tables();
}
END_TEST

/* Single heads and layers. */
START_TEST(what_is_listed) {
    static const szg_index_list lists[] = {{.count = 1, .index = {1}}, {.count = 1, .index = {0}}};
    open_tables();
    captured c = open_captured(SZG_PROFILE_TEXT, "rope");
    for (int i = 0; i < 4; i++) {
        c.what.heads = lists[i % 2];
        c.what.layers = lists[i / 2];
        szg_contraction_tables host = rows_of(&c, &host_table, PLENTY);
        szg_contraction_tables beside = rows_of(&c, &beside_table, PLENTY);
        ck_assert_int_eq(szg_table_rows(beside.contraction), SEQUENCES);
        ck_rows(host.contraction, beside.contraction);
        close_rows(&host);
        close_rows(&beside);
    }
    close_captured(&c);
    close_tables();
}
END_TEST

/* In parts of any size the rows are the same, to the bit; where no layer fits, the matrices come to
 * the host. */
START_TEST(in_parts) {
    open_tables();
    captured c = open_captured(SZG_PROFILE_TEXT, "rope");
    const int64_t layer = 4 * POSITIONS * POSITIONS * 28; /* bytes of the longest's matrices */
    szg_contraction_tables whole = rows_of(&c, &beside_table, PLENTY);
    for (int64_t part = 1; part <= 4; part++) {
        szg_contraction_tables rows = rows_of(&c, &beside_table, part * layer);
        same_tables(whole.contraction, rows.contraction);
        same_tables(whole.values, rows.values);
        close_rows(&rows);
    }
    szg_contraction_tables host = rows_of(&c, &host_table, PLENTY);
    szg_contraction_tables small = rows_of(&c, &beside_table, layer - 1);
    same_tables(host.contraction, small.contraction);
    close_rows(&small);
    close_rows(&host);
    close_rows(&whole);
    close_captured(&c);
    close_tables();
}
END_TEST

/* ---- Pending ---- */

static void change_model(captured *c) {
    const szgi_parameter *p = szgi_model_find(c->s.model, "layers.0.q_linear.weight");
    double *values = new_numbers(p->count);
    for (int64_t i = 0; i < p->count; i++)
        values[i] = (double)(i % 5) - 2;
    ck_szg_ok(szgi_model_write(test_context(), c->s.model, szgi_model_arena(c->s.model), p->offset,
                               p->count, values));
    ck_szg_ok(
        szgi_device_clear(test_context(), c->s.gradient,
                          szgi_model_count(c->s.model) * szgi_network_real_size(test_context())));
    szgi_memory_free(values);
}

/* Rows come with the next step, and are those of the parameters and gradients of their own. */
START_TEST(rows_wait_for_the_next_step) {
    open_tables();
    captured c = open_captured(SZG_PROFILE_TEXT, "rope");
    szg_contraction_tables host = rows_of(&c, &host_table, PLENTY), none = new_tables();
    szg_contraction_tables first = new_tables(), second = new_tables();
    use(&beside_table);
    szgi_capture *capture = open_capture(&c, PLENTY);
    ck_assert(!szgi_capture_pending(capture) && !szgi_capture_pending(NULL));
    ck_szg_ok(szgi_capture_collect(test_context(), capture, &none));
    ck_szg_ok(run_step(&c, capture, STEP, &none));
    ck_assert(szgi_capture_pending(capture));
    ck_assert_int_eq(szg_table_rows(none.contraction), 0);
    change_model(&c);
    ck_szg_ok(run_step(&c, capture, STEP + 1, &first));
    ck_rows(host.contraction, first.contraction);
    change_model(&c);
    ck_szg_ok(szgi_capture_collect(test_context(), capture, &second));
    ck_assert(!szgi_capture_pending(capture));
    ck_assert_int_eq(szg_table_rows(second.contraction), SEQUENCES * 4);
    ck_assert(cell(second.contraction, 0, "step") == STEP + 1);
    ck_assert(cell(second.contraction, 0, "grad_norm") == 0);
    ck_assert(fabs(cell(second.contraction, 0, "lambda_max_coupled") -
                   cell(first.contraction, 0, "lambda_max_coupled")) > 1e-3);
    ck_szg_ok(run_step(&c, capture, STEP + 2, &none)); /* pending where it is closed */
    szgi_capture_close(test_context(), &capture);
    use(own);
    close_rows(&host);
    close_rows(&none);
    close_rows(&first);
    close_rows(&second);
    close_captured(&c);
    close_tables();
}
END_TEST

/* A dump needs the matrices on the host: its report is theirs, at once. */
START_TEST(a_dump_takes_the_matrices) {
    open_tables();
    use(&beside_table);
    captured c = open_captured(SZG_PROFILE_TEXT, "rope");
    char *folder = new_folder(), path[256];
    szg_table *table;
    ck_szg_ok(capture_into(test_context(), &c.s, &c.what, &c.examples, NULL, NULL, folder, &table));
    ck_assert_int_eq(szg_table_rows(table), SEQUENCES * 4);
    ck_assert_ptr_null(strstr(text(table, 0, "note"), "device"));
    ck_assert_int_eq(access(path_in(folder, "step-12.safetensors", path), R_OK), 0);
    szg_table_close(&table);
    remove_folder(folder);
    close_captured(&c);
    close_tables();
}
END_TEST

/* So does a step to keep. */
START_TEST(a_kept_step_takes_the_matrices) {
    open_tables();
    use(&beside_table);
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    config.capture = everything(SEQUENCES);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_contraction_tables tables = new_tables();
    szgi_capture *capture;
    szg_captured_step step;
    fill_examples(&examples);
    ck_szg_ok(szgi_capture_open(test_context(), s.model, &examples, NULL, NULL, true, &capture));
    ck_szg_ok(szgi_capture_step(test_context(), capture, 3, NULL, &tables));
    ck_assert(!szgi_capture_pending(capture));
    ck_assert_int_eq(szg_table_rows(tables.contraction), SEQUENCES * 4);
    szgi_capture_kept(capture, &step);
    ck_assert_int_eq(step.count, SEQUENCES * 4);
    ck_assert_int_eq(step.logits[SEQUENCES * 4 - 1].probe, SEQUENCES - 1);
    ck_assert_str_eq(step.content_kind, "same_qk");
    szgi_capture_close(test_context(), &capture);
    szg_contraction_tables_close(&tables);
    szg_examples_close(&examples);
    close_subject(&s);
    close_tables();
}
END_TEST

/* ---- A bad one ---- */

static int64_t spoilt_call; /* the number of the collection that is spoilt */
static szg_status (*collect_well)(szg_context *, szgi_spectra_job *, szgi_logit_numbers *,
                                  double *);

/* The coupled matrix of layer 1, head 0, of the second sequence. */
static szg_status collect_badly(szg_context *context, szgi_spectra_job *job,
                                szgi_logit_numbers *numbers, double *sums) {
    int64_t begun = job->begun;
    SZG_TRY(collect_well(context, job, numbers, sums));
    if (begun > 6 && --spoilt_call == 0)
        ((double *)(uintptr_t)numbers[6].eigenvalues)[0] += 1e-6 * numbers[6].frobenius;
    return SZG_OK;
}

START_TEST(a_bad_spectrum_is_named) {
    open_tables();
    collect_well = beside_network.spectra_collect;
    beside_network.spectra_collect = collect_badly;
    captured c = open_captured(SZG_PROFILE_TEXT, "rope");
    szg_contraction_tables tables = new_tables();
    c.what.probes = 1;
    use(&beside_table);
    szgi_capture *capture = open_capture(&c, PLENTY);
    spoilt_call = 1;
    ck_szg_ok(run_step(&c, capture, 50, &tables));
    ck_szg_fails(SZG_ENOCONV,
                 "capture at step 50: rope:dim=4,heads=2: layer 1, head 0, probe 0: logits: the "
                 "computed values miss",
                 run_step(&c, capture, 100, &tables));
    ck_assert(!szgi_capture_pending(capture));
    ck_szg_ok(run_step(&c, capture, 150, &tables));
    ck_szg_ok(szgi_capture_collect(test_context(), capture, &tables));
    ck_assert_int_eq(szg_table_rows(tables.contraction), 4);
    ck_assert(cell(tables.contraction, 3, "step") == 150);
    szgi_capture_close(test_context(), &capture);
    close_rows(&tables);
    close_captured(&c);
    close_tables();
}
END_TEST

/* A model that has diverged. */
START_TEST(an_infinite_entry_is_named) {
    const double huge = INFINITY;
    open_tables();
    captured c = open_captured(SZG_PROFILE_TEXT, "rope");
    szg_contraction_tables tables = new_tables();
    ck_szg_ok(szgi_model_write(test_context(), c.s.model, szgi_model_arena(c.s.model),
                               szgi_model_find(c.s.model, "layers.1.k_linear.bias")->offset, 1,
                               &huge));
    use(&beside_table);
    szgi_capture *capture = open_capture(&c, PLENTY);
    ck_szg_ok(run_step(&c, capture, STEP, &tables));
    ck_szg_fails(SZG_EDATA,
                 "capture at step 12: rope:dim=4,heads=2: layer 1, head 0, probe 0: content: entry "
                 "(0, 0) is not finite",
                 szgi_capture_collect(test_context(), capture, &tables));
    szgi_capture_close(test_context(), &capture);
    close_rows(&tables);
    close_captured(&c);
    close_tables();
}
END_TEST

/* ---- Runs ---- */

static szg_table *rows_in(const char *folder) {
    szg_train_tables tables;
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    szg_table *rows = tables.contraction;
    tables.contraction = NULL;
    szg_train_tables_close(&tables);
    return rows;
}

/* The same weights, and the same rows within what may differ. */
START_TEST(a_whole_run) {
    open_tables();
    szg_train_config *config = new_tiny("capture.probes=3");
    config->capture.every = 2;
    use(&host_table);
    char *host = whole_run(config);
    use(&beside_table);
    char *beside = whole_run(config);
    use(own);
    ck_same_file(host, beside, "checkpoint.safetensors");
    ck_same_file(host, beside, "metrics.csv");
    szg_table *x = rows_in(host), *y = rows_in(beside);
    ck_assert_int_eq(szg_table_rows(x), 5 * 3 * 4);
    ck_rows(x, y);
    szg_table_close(&x);
    szg_table_close(&y);
    remove_run_folder(host);
    remove_run_folder(beside);
    szgi_memory_free(config);
    close_tables();
}
END_TEST

/* Stopped at any step, with checkpoints in between, the rows are there exactly once. */
START_TEST(a_run_goes_on) {
    open_tables();
    use(&beside_table);
    szg_train_config *config = new_tiny("capture.probes=2"), *part = new_tiny("capture.probes=2");
    szg_train_result result;
    config->capture.every = part->capture.every = 2;
    config->capture.spectra = part->capture.spectra = true;
    part->loop.checkpoint_every = 2;
    char *whole = whole_run(config);
    const int64_t step = test_on_device() ? 3 : 1;
    for (int64_t at = step; at < TINY_STEPS; at += step) {
        char *folder = new_run_folder();
        part->loop.limit_steps = at;
        ck_szg_ok(run_in(test_context(), part, 5, folder, false, &result));
        ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
        ck_same_run(whole, folder);
        remove_run_folder(folder);
    }
    remove_run_folder(whole);
    szgi_memory_free(part);
    szgi_memory_free(config);
    close_tables();
}
END_TEST

/* ---- Memory ---- */

static szg_status open_step_collect(captured *c) {
    szgi_capture *capture = NULL;
    szg_contraction_tables tables = {0};
    szg_status status = szgi_capture_open_as(test_context(), c->s.model, &c->what, &c->examples,
                                             NULL, NULL, &capture);
    if (status == SZG_OK)
        status = szg_contraction_tables_open(test_context(), true, false, &tables);
    if (status == SZG_OK)
        status = run_step(c, capture, STEP, &tables);
    if (status == SZG_OK)
        status = szgi_capture_collect(test_context(), capture, &tables);
    szgi_capture_close(test_context(), &capture);
    close_rows(&tables);
    return status;
}

START_TEST(allocation_failures) {
    open_tables();
    use(&beside_table);
    captured c = open_captured(SZG_PROFILE_TEXT, "rope");
    c.what.probes = 1; /* the second would allocate what the first does */
    ck_survives_failed_allocations(40, open_step_collect(&c));
    close_captured(&c);
    close_tables();
}
END_TEST

TEST_FILE("capture_beside") {
    test_add(suite, "as_from_the_matrices", as_from_the_matrices);
    test_add(suite, "cut_to_the_real_tokens", cut_to_the_real_tokens);
    test_add(suite, "what_is_listed", what_is_listed);
    test_add(suite, "in_parts", in_parts);
    test_add(suite, "rows_wait_for_the_next_step", rows_wait_for_the_next_step);
    test_add(suite, "a_dump_takes_the_matrices", a_dump_takes_the_matrices);
    test_add(suite, "a_kept_step_takes_the_matrices", a_kept_step_takes_the_matrices);
    test_add(suite, "a_bad_spectrum_is_named", a_bad_spectrum_is_named);
    test_add(suite, "an_infinite_entry_is_named", an_infinite_entry_is_named);
    test_add(suite, "a_whole_run", a_whole_run);
    test_add(suite, "a_run_goes_on", a_run_goes_on);
    test_add(suite, "allocation_failures", allocation_failures);
}
