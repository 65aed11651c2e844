/* Dumps of logits, queries and keys: against reports of the same numbers in memory; layouts, cuts,
 * masks; what is refused. */
#include <unistd.h>

#include <szego/dump.h>
#include <szego/npy.h>
#include <szego/safetensors.h>

#include "contraction_support.h"

static const char *path_of(const char *ending) {
    static char path[4][64];
    static int next;
    char *text = path[next++ % 4];
    snprintf(text, 64, "test_dump_%d%s", (int)getpid(), ending);
    return text;
}

/* A tensor of doubles (or, where `dtype` is I64, of integers). */
static szg_tensor tensor(const char *name, int dims, const int64_t *shape, const void *data) {
    szg_tensor t = {
        .name = name, .dtype = SZG_DTYPE_F64, .dims = dims, .shape = shape, .data = data};
    return t;
}

static void write_set(const szg_tensor *tensors, int64_t count, const char *const *metadata,
                      int64_t pairs) {
    ck_szg_ok(szg_safetensors_write(test_context(), path_of(".safetensors"), tensors, count,
                                    metadata, pairs));
}

static szg_status report_file(const char *path, const szg_dump_options *options,
                              szg_contraction_tables *tables) {
    const szg_report_options report = {.quick_symbol = true};
    szg_dump *dump = NULL;
    *tables = (szg_contraction_tables){0};
    szg_status status = szg_dump_open(test_context(), &dump);
    if (status == SZG_OK)
        status = szg_dump_add(test_context(), dump, path);
    if (status == SZG_OK)
        status = szg_contraction_tables_open(test_context(), true, false, tables);
    if (status == SZG_OK)
        status = szg_dump_report(test_context(), dump, options, &report, tables);
    szg_dump_close(&dump);
    if (status != SZG_OK)
        szg_contraction_tables_close(tables);
    return status;
}

/* Rows as szg_contraction_add_all makes them of the pairs. */
static void expect(const szg_table *got, const szg_contraction_pair *pairs, int64_t count) {
    const szg_report_options report = {.quick_symbol = true};
    szg_contraction_tables want;
    ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &want));
    ck_szg_ok(szg_contraction_add_all(test_context(), count, pairs, &report, &want));
    const szg_table *x = got, *y = want.contraction;
    ck_assert_int_eq(szg_table_rows(x), count);
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < szg_table_columns(x); c++) {
            const char *name = szg_table_column(x, c)->name;
            ck_assert_msg(szg_table_is_empty(x, r, c) == szg_table_is_empty(y, r, c),
                          "row %lld, %s: one is empty", (long long)r, name);
            if (szg_table_is_empty(x, r, c))
                continue;
            if (szg_table_column(x, c)->type == SZG_TEXT)
                ck_assert_str_eq(szg_table_get_text(x, r, c), szg_table_get_text(y, r, c));
            else
                ck_assert_msg(szg_table_get_real(x, r, c) == szg_table_get_real(y, r, c),
                              "row %lld, %s", (long long)r, name);
        }
    szg_contraction_tables_close(&want);
}

/* The names that a capture writes, in single precision, out of order in the file (10 before 2). */
START_TEST(layout_of_a_capture) {
    enum { N = 6, LAYERS = 3 };
    static const int64_t layers[LAYERS] = {0, 2, 10}, shape[2] = {N, N};
    static const char *const metadata[] = {"source", "rope:dim=4",   "step",
                                           "50",     "content_kind", "zeroed"};
    double *numbers = new_test_reals(50, 0, 2 * LAYERS * N * N), norm[LAYERS] = {3, 0.5, 1e-9};
    float single[2 * LAYERS * N * N];
    for (int i = 0; i < 2 * LAYERS * N * N; i++)
        numbers[i] = (double)(single[i] = (float)numbers[i]);
    char name[3 * LAYERS][64];
    szg_tensor tensors[3 * LAYERS];
    szg_contraction_pair pairs[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
        static const char *const words[] = {"content", "coupled", "grad_norm"};
        for (int w = 0; w < 3; w++) {
            szg_tensor *t = &tensors[3 * i + w];
            snprintf(name[3 * i + w], 64, "layers.%d.heads.3.probes.1.%s", (int)layers[i],
                     words[w]);
            *t = tensor(name[3 * i + w], w < 2 ? 2 : 0, shape, single + (2 * i + w) * N * N);
            if (w == 2)
                t->data = (const unsigned char *)&norm[i];
            else
                t->dtype = SZG_DTYPE_F32;
        }
        pairs[i] = (szg_contraction_pair){
            .n = N,
            .content = numbers + 2 * i * N * N,
            .coupled = numbers + (2 * i + 1) * N * N,
            .precision = 0x1p-24,
            .labels = {"rope:dim=4", "1", "zeroed", 50, layers[i], 3, norm[i]}};
    }
    write_set(tensors, 3 * LAYERS, metadata, 3);
    szg_contraction_tables tables;
    ck_szg_ok(report_file(path_of(".safetensors"), NULL, &tables));
    unlink(path_of(".safetensors"));
    expect(tables.contraction, pairs, LAYERS);
    szg_contraction_tables_close(&tables);
    szg_memory_free(numbers);
}
END_TEST

/* [layers, heads, N, N] of an npy file, [batch, heads, N, N] by request, cut to lengths. */
START_TEST(axes_of_an_npy_file) {
    enum { A = 2, H = 3, N = 5 };
    const int64_t shape[4] = {A, H, N, N}, lengths[A] = {3, 5};
    double *numbers = new_test_reals(51, 0, A * H * N * N), *small = new_numbers(H * 9);
    szg_contraction_pair pairs[A * H];
    const char *path = path_of(".npy");
    ck_szg_ok(szg_npy_write_real(test_context(), path, 4, shape, numbers));
    for (int i = 0; i < A * H; i++)
        pairs[i] = (szg_contraction_pair){.n = N,
                                          .coupled = numbers + i * N * N,
                                          .labels = {path, NULL, NULL, -1, i / H, i % H, NAN}};
    szg_contraction_tables tables;
    ck_szg_ok(report_file(path, NULL, &tables));
    expect(tables.contraction, pairs, A * H);
    szg_contraction_tables_close(&tables);
    /* What lies beyond a length is not looked at. */
    for (int h = 0; h < H; h++)
        for (int i = 0; i < N * N; i++)
            if (i / N < 3 && i % N < 3)
                small[h * 9 + i / N * 3 + i % N] = numbers[h * N * N + i];
            else
                numbers[h * N * N + i] = NAN;
    ck_szg_ok(szg_npy_write_real(test_context(), path, 4, shape, numbers));
    for (int i = 0; i < A * H; i++) {
        pairs[i].labels.layer = -1;
        pairs[i].labels.probe = i < H ? "0" : "1";
        if (i < H) {
            pairs[i].n = 3;
            pairs[i].coupled = small + i * 9;
        }
    }
    const szg_dump_options options = {.axes = "batch,head", .lengths = 2, .length = lengths};
    ck_szg_ok(report_file(path, &options, &tables));
    expect(tables.contraction, pairs, A * H);
    szg_contraction_tables_close(&tables);
    unlink(path);
    szg_memory_free(numbers);
    szg_memory_free(small);
}
END_TEST

static double cell(const szg_table *table, int64_t row, const char *column) {
    int64_t c = szg_table_find(table, column);
    ck_assert_int_ge(c, 0);
    return szg_table_get_real(table, row, c);
}

/* Queries and keys, rotated here: of constant content the logits depend on the lag alone; four
 * query heads share two of the keys; a factor on the dot products leaves the ratios. */
START_TEST(queries_and_keys) {
    enum { H = 4, G = 2, N = 20, D = 6 };
    const int64_t shape_q[3] = {H, N, D}, shape_k[3] = {G, N, D};
    double q[H * N * D], k[G * N * D], content[N * N], coupled[N * N];
    szg_stream stream = {.seed = test_seed(), .purpose = 52};
    for (int i = 0; i < H * N * D; i++)
        q[i] = szg_random_normal(&stream, (uint64_t)(i / (N * D) * D + i % D));
    for (int i = 0; i < G * N * D; i++)
        k[i] = szg_random_normal(&stream, (uint64_t)(1000 + i / (N * D) * D + i % D));
    const szg_tensor tensors[] = {tensor("attn.q", 3, shape_q, q), tensor("attn.k", 3, shape_k, k)};
    write_set(tensors, 2, NULL, 0);
    szg_encoding *rope = encoding_of("rope:dim=6");
    szg_dump_options options = {.encoding = rope};
    szg_contraction_tables tables, scaled;
    const char *path = path_of(".safetensors");
    ck_szg_ok(report_file(path, &options, &tables));
    options.scale = 3;
    ck_szg_ok(report_file(path, &options, &scaled));
    unlink(path);
    ck_assert_int_eq(szg_table_rows(tables.contraction), H);
    char source[80];
    snprintf(source, sizeof source, "%s:attn", path);
    ck_assert_str_eq(szg_table_get_text(tables.contraction, 0, 0), source);
    for (int h = 0; h < H; h++) {
        ck_close(cell(tables.contraction, h, "toeplitzness_coupled"), 1, 1e-12);
        ck_close(cell(tables.contraction, h, "toeplitzness_content"), 1, 1e-12);
        /* Entry by entry: lag i - j turns pair t by (i - j) theta_t. */
        for (int i = 0; i < N * N; i++) {
            const double *x = q + (h * N + i / N) * D, *y = k + (h / 2 * N + i % N) * D;
            content[i] = coupled[i] = 0;
            for (int t = 0; t < D / 2; t++) {
                double angle = (i / N - i % N) * pow(10000, -2.0 * t / D);
                double re = x[2 * t] * y[2 * t] + x[2 * t + 1] * y[2 * t + 1];
                double im = x[2 * t + 1] * y[2 * t] - x[2 * t] * y[2 * t + 1];
                content[i] += re / sqrt(D);
                coupled[i] += (re * cos(angle) - im * sin(angle)) / sqrt(D);
            }
        }
        szg_contraction want;
        ck_szg_ok(szg_contraction_of_dense(test_context(), N, content, N, coupled, N, NULL, &want));
        double top = want.content.summary.sigma_max + want.coupled.summary.sigma_max;
        ck_close(cell(tables.contraction, h, "sigma_max_content"), want.content.summary.sigma_max,
                 1e-12 * top);
        ck_close(cell(tables.contraction, h, "lambda_min_coupled"), want.coupled.summary.lambda_min,
                 1e-12 * top);
        ck_close(cell(tables.contraction, h, "width_ratio"), want.ratios.width, 1e-10);
        ck_close(cell(scaled.contraction, h, "width_ratio"), want.ratios.width, 1e-10);
        ck_close(cell(scaled.contraction, h, "sigma_max_content"),
                 3 * sqrt(D) * want.content.summary.sigma_max, 1e-11 * top);
        szg_contraction_close(&want);
    }
    szg_contraction_tables_close(&tables);
    szg_contraction_tables_close(&scaled);
    szg_encoding_close(&rope);
}
END_TEST

/* Both given: q and k make the content, q_coupled and k_coupled, or coupled logits, the rest; alone
 * the latter have no ratios. */
START_TEST(both_given) {
    enum { N = 7, D = 3 };
    const int64_t shape[2] = {N, D}, square[2] = {N, N};
    double *x = new_test_reals(53, 0, 4 * N * D), *l = new_test_reals(53, 1, N * N);
    double *content = new_numbers(N * N), *coupled = new_numbers(N * N);
    for (int i = 0; i < N * N; i++)
        for (int c = 0; c < D; c++) {
            content[i] += x[i / N * D + c] * x[(N + i % N) * D + c] / sqrt(D);
            coupled[i] += x[(2 * N + i / N) * D + c] * x[(3 * N + i % N) * D + c] / sqrt(D);
        }
    const szg_tensor tensors[] = {tensor("a.q", 2, shape, x),
                                  tensor("a.k", 2, shape, x + N * D),
                                  tensor("a.q_coupled", 2, shape, x + 2 * N * D),
                                  tensor("a.k_coupled", 2, shape, x + 3 * N * D),
                                  tensor("b.q", 2, shape, x),
                                  tensor("b.k", 2, shape, x + N * D),
                                  tensor("b.logits", 2, square, l),
                                  tensor("c.q_coupled", 2, shape, x + 2 * N * D),
                                  tensor("c.k_coupled", 2, shape, x + 3 * N * D),
                                  tensor("d.content", 2, square, l),
                                  tensor("d.q_coupled", 2, shape, x + 2 * N * D),
                                  tensor("d.k_coupled", 2, shape, x + 3 * N * D)};
    write_set(tensors, sizeof tensors / sizeof *tensors, NULL, 0);
    const struct {
        const double *content, *coupled;
    } want[] = {{content, coupled}, {content, l}, {NULL, coupled}, {l, coupled}};
    szg_contraction_tables tables;
    ck_szg_ok(report_file(path_of(".safetensors"), NULL, &tables));
    unlink(path_of(".safetensors"));
    ck_assert_int_eq(szg_table_rows(tables.contraction), 4);
    for (int r = 0; r < 4; r++) {
        szg_contraction c;
        ck_szg_ok(want[r].content ? szg_contraction_of_dense(test_context(), N, want[r].content, N,
                                                             want[r].coupled, N, NULL, &c)
                                  : szg_contraction_of_coupled(test_context(), N, want[r].coupled,
                                                               N, NULL, &c));
        double norm = c.coupled.summary.sigma_max;
        ck_close(cell(tables.contraction, r, "sigma_max_coupled"), norm, 1e-12 * norm);
        ck_assert_int_eq(isnan(cell(tables.contraction, r, "norm_ratio")), want[r].content == NULL);
        if (want[r].content)
            ck_close(cell(tables.contraction, r, "norm_ratio"), c.ratios.norm,
                     1e-11 * c.ratios.norm);
        szg_contraction_close(&c);
    }
    szg_contraction_tables_close(&tables);
    double *all[] = {x, l, content, coupled};
    for (int i = 0; i < 4; i++)
        szg_memory_free(all[i]);
}
END_TEST

/* Masked entries may be -infinity: they count as zeros. */
START_TEST(causal) {
    enum { N = 5 };
    const int64_t square[2] = {N, N};
    double *l = new_test_reals(54, 0, N * N), *zeros = new_numbers(N * N);
    for (int i = 0; i < N * N; i++)
        if (i % N > i / N)
            l[i] = -INFINITY;
        else
            zeros[i] = l[i];
    const char *path = path_of(".npy");
    ck_szg_ok(szg_npy_write_real(test_context(), path, 2, square, l));
    szg_contraction_tables tables;
    ck_szg_fails(SZG_EDATA, "row 0, column 1 is -inf", report_file(path, NULL, &tables));
    const szg_dump_options options = {.causal = true};
    ck_szg_ok(report_file(path, &options, &tables));
    unlink(path);
    szg_contraction_pair pair = {
        .n = N, .coupled = zeros, .labels = {path, NULL, NULL, -1, -1, -1, NAN}};
    expect(tables.contraction, &pair, 1);
    szg_contraction_tables_close(&tables);
    szg_memory_free(l);
    szg_memory_free(zeros);
}
END_TEST

/* The axes that the name leaves open: heads of a layer, layers of a head, batches of both. */
START_TEST(axes_by_name) {
    enum { A = 2, B = 3, N = 2 };
    static const int64_t shape[4] = {A, B, N, N};
    double *l = new_test_reals(59, 0, A * B * N * N);
    static const struct {
        const char *name, *columns[2]; /* what the axes fill, the last one last */
        int dims;
    } cases[] = {{"layers.5.coupled", {NULL, "head"}, 3},
                 {"heads.5.coupled", {NULL, "layer"}, 3},
                 {"layers.5.heads.5.coupled", {NULL, "probe"}, 3},
                 {"layers.5.coupled", {"probe", "head"}, 4},
                 {"heads.5.coupled", {"probe", "layer"}, 4},
                 {"coupled", {"layer", "head"}, 4},
                 {"coupled", {NULL, "head"}, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_tensor t = tensor(cases[i].name, cases[i].dims, shape + 4 - cases[i].dims, l);
        szg_contraction_tables tables;
        write_set(&t, 1, NULL, 0);
        ck_szg_ok(report_file(path_of(".safetensors"), NULL, &tables));
        int64_t rows = cases[i].dims == 3 ? B : A * B;
        ck_assert_int_eq(szg_table_rows(tables.contraction), rows);
        for (int64_t r = 0; r < rows; r++)
            for (int c = 0; c < 2; c++) {
                const char *column = cases[i].columns[c];
                int64_t want = c ? r % B : r / B;
                if (column && strcmp(column, "probe") == 0)
                    ck_assert_int_eq(
                        atoi(szg_table_get_text(tables.contraction, r,
                                                szg_table_find(tables.contraction, column))),
                        want);
                else if (column)
                    ck_assert(cell(tables.contraction, r, column) == (double)want);
            }
        szg_contraction_tables_close(&tables);
    }
    unlink(path_of(".safetensors"));
    szg_memory_free(l);
}
END_TEST

/* Names and shapes put together at random, roles and axes among them: a report or a refusal. */
START_TEST(random_files) {
    static const char *const parts[] = {
        "",      "layers", "heads", "3",       "probes", "99999999999", "a b.c", ".",
        "layer", "-1",     "q",     "coupled", "0",      "probe",       "..",    "\xC3\xA9"};
    static const char *const last[] = {"content",   "coupled",   "logits",  "q",        "k",
                                       "q_coupled", "k_coupled", "lengths", "grad_norm"};
    static const double numbers[81] = {1, 2, 3};
    szg_stream stream = {.seed = test_seed(), .purpose = 60};
    uint64_t at = 0;
    int64_t done = 0;
    for (int64_t trial = 0; trial < test_trials(300); trial++) {
        char name[4][128];
        int64_t shape[4][5];
        szg_tensor tensors[4];
        int64_t count = 1 + (int64_t)szg_random_below(&stream, at++, 4);
        uint64_t seed = szg_random_below(&stream, at++, 8);
        int dims = (int)szg_random_below(&stream, at++, 5),
            same = (int)szg_random_below(&stream, at++, 2);
        for (int64_t i = 0; i < count; i++) {
            name[i][0] = 0;
            for (uint64_t p = 0; p < seed % 4; p++)
                snprintf(name[i] + strlen(name[i]), 100 - strlen(name[i]), "%s.",
                         parts[szg_random_below(&stream, same ? p : at++, 16)]);
            snprintf(name[i] + strlen(name[i]), 28, "%s", last[szg_random_below(&stream, at++, 9)]);
            for (int64_t j = 0; j < i; j++)
                if (strcmp(name[i], name[j]) == 0)
                    snprintf(name[i] + strlen(name[i]), 8, "%d", (int)i);
            for (int a = 0; a < 5; a++)
                shape[i][a] =
                    same && seed ? (a == 0 ? 1 : 3) : (int64_t)szg_random_below(&stream, at++, 4);
            tensors[i] = tensor(name[i], dims, shape[i], numbers);
        }
        write_set(tensors, count, NULL, 0);
        szg_contraction_tables tables;
        szg_status status = report_file(path_of(".safetensors"), NULL, &tables);
        ck_assert_msg(status == SZG_OK || status == SZG_EDATA || status == SZG_EINVAL, "%s",
                      szg_context_message(test_context()));
        done += status == SZG_OK;
        if (status == SZG_OK)
            szg_contraction_tables_close(&tables);
    }
    ck_assert_int_gt(done, 0);
    unlink(path_of(".safetensors"));
}
END_TEST

/* Lengths as a tensor of integers beside the logits. */
START_TEST(lengths_in_the_file) {
    enum { B = 2, N = 4 };
    const int64_t shape[3] = {B, N, N}, count[1] = {B};
    const int16_t lengths[B] = {4, 2};
    double *l = new_test_reals(55, 0, B * N * N);
    szg_tensor tensors[] = {tensor("heads.1.coupled", 3, shape, l),
                            tensor("heads.1.lengths", 1, count, lengths)};
    /* The writer has real types only: F16 has an integer's width, and its name is then changed. */
    tensors[1].dtype = SZG_DTYPE_F16;
    write_set(tensors, 2, NULL, 0);
    const char *path = path_of(".safetensors");
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    char header[400] = "";
    ck_assert_int_gt(fread(header, 1, sizeof header - 1, file), 0);
    char *at = memmem(header + 8, sizeof header - 8, "\"F16\"", 5);
    ck_assert_ptr_nonnull(at);
    fseek(file, at - header, SEEK_SET);
    fwrite("\"I16\"", 1, 5, file);
    fclose(file);
    szg_dump_options options = {.axes = "batch"};
    szg_contraction_tables tables;
    ck_szg_ok(report_file(path, &options, &tables));
    ck_assert_int_eq(szg_table_rows(tables.contraction), B);
    for (int b = 0; b < B; b++) {
        ck_assert(cell(tables.contraction, b, "n") == lengths[b]);
        ck_assert(cell(tables.contraction, b, "head") == 1);
    }
    szg_contraction_tables_close(&tables);
    const int64_t given[3] = {1, 5, 1};
    options.length = given;
    options.lengths = 3;
    ck_szg_fails(SZG_EINVAL, "3 lengths for 2", report_file(path, &options, &tables));
    options.lengths = 2;
    ck_szg_fails(SZG_EDATA, "length of 5 is outside its 1 .. 4",
                 report_file(path, &options, &tables));
    unlink(path);
    szg_memory_free(l);
}
END_TEST

/* ---- What is refused ---- */

typedef struct refused {
    const char *name[3];
    int dims[3];
    int64_t shape[3][6];
    const char *axes, *words;
    szg_status status;
} refused;

START_TEST(refused_shapes) {
    static const refused cases[] = {
        {{"x.weight", "y", "z.w"}, {1, 1, 1}, {{2}, {2}, {2}}, NULL, "x.weight, y, z.w", SZG_EDATA},
        {{"coupled"}, {1}, {{4}}, NULL, "shape [4]: at least the two axes", SZG_EDATA},
        {{"coupled"}, {2}, {{2, 3}}, NULL, "shape [2, 3]: the last two axes differ", SZG_EDATA},
        {{"coupled"}, {2}, {{0, 0}}, NULL, "no matrices", SZG_EDATA},
        {{"coupled"}, {6}, {{1, 1, 1, 1, 2, 2}}, NULL, "at most batch, layer and head", SZG_EDATA},
        {{"coupled"}, {3}, {{2, 2, 2}}, "layer,head", "--axes names", SZG_EDATA},
        {{"coupled"}, {3}, {{2, 2, 2}}, "heads", "batch, layer, head", SZG_EINVAL},
        {{"coupled"}, {4}, {{2, 2, 2, 2}}, "head,head", "each once", SZG_EINVAL},
        {{"layers.1.heads.2.coupled"}, {4}, {{2, 2, 2, 2}}, NULL, "name leaves open", SZG_EDATA},
        {{"layers.1.coupled"}, {3}, {{2, 2, 2}}, "layer", "name gives already", SZG_EDATA},
        {{"content"}, {2}, {{2, 2}}, NULL, "content without coupled", SZG_EINVAL},
        {{"content", "coupled"}, {2, 2}, {{2, 2}, {3, 3}}, NULL, "number of positions", SZG_EDATA},
        {{"content", "coupled"}, {3, 2}, {{2, 2, 2}, {2, 2}}, NULL, "number of axes", SZG_EDATA},
        {{"content", "coupled"}, {3, 3}, {{2, 2, 2}, {3, 2, 2}}, NULL, "leading axes", SZG_EDATA},
        {{"coupled", "logits"}, {2, 2}, {{2, 2}, {2, 2}}, NULL, "leave one out", SZG_EDATA},
        {{"q", "k"}, {2, 2}, {{2, 4}, {2, 4}}, NULL, "give --pe SPEC", SZG_EINVAL},
        {{"q", "coupled"}, {2, 2}, {{2, 4}, {2, 2}}, NULL, "without their keys", SZG_EDATA},
        {{"k", "coupled"}, {2, 2}, {{2, 4}, {2, 2}}, NULL, "without their queries", SZG_EDATA},
        {{"q", "k", "coupled"}, {2, 2, 2}, {{2, 4}, {2, 3}, {2, 2}}, NULL, "dimension", SZG_EDATA},
        {{"q", "k", "coupled"}, {2, 2, 2}, {{2, 4}, {3, 4}, {2, 2}}, NULL, "positions", SZG_EDATA},
        {{"q", "k", "content"}, {2, 2, 2}, {{2, 4}, {2, 4}, {2, 2}}, NULL, "leave one", SZG_EDATA},
        {{"q", "k", "coupled"},
         {3, 3, 3},
         {{3, 2, 2}, {2, 2, 2}, {3, 2, 2}},
         NULL,
         "leading axes",
         SZG_EDATA},
        {{"coupled", "grad_norm"}, {2, 1}, {{2, 2}, {1}}, NULL, "one number a matrix", SZG_EDATA},
        {{"coupled", "lengths"}, {2, 2}, {{2, 2}, {1, 2}}, NULL, "one length a batch", SZG_EDATA},
        {{"coupled", "lengths"}, {2, 1}, {{2, 2}, {1}}, NULL, "an integer", SZG_EDATA}};
    static const double numbers[64] = {1, 2, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const refused *r = &cases[i];
        szg_tensor tensors[3];
        int64_t count = 0;
        for (; count < 3 && r->name[count]; count++)
            tensors[count] = tensor(r->name[count], r->dims[count], r->shape[count], numbers);
        write_set(tensors, count, NULL, 0);
        const szg_dump_options options = {.axes = r->axes};
        szg_contraction_tables tables;
        ck_szg_fails(r->status, r->words, report_file(path_of(".safetensors"), &options, &tables));
        unlink(path_of(".safetensors"));
    }
}
END_TEST

START_TEST(refused_encodings) {
    enum { H = 3, N = 4, D = 4 };
    const int64_t shape[3] = {H, N, D};
    double *x = new_test_reals(56, 0, H * N * D);
    const szg_tensor tensors[] = {tensor("q", 3, shape, x), tensor("k", 3, shape, x)};
    write_set(tensors, 2, NULL, 0);
    static const struct {
        const char *spec, *words;
        szg_status status;
    } cases[] = {{"rope:dim=8", "dim=4", SZG_EINVAL},
                 {"absolute:dim=4", "two passes", SZG_EDOMAIN},
                 {"alibi:heads=4", "of 4 heads", SZG_EINVAL}};
    for (int i = 0; i < 3; i++) {
        szg_encoding *encoding = encoding_of(cases[i].spec);
        const szg_dump_options options = {.encoding = encoding};
        szg_contraction_tables tables;
        ck_szg_fails(cases[i].status, cases[i].words,
                     report_file(path_of(".safetensors"), &options, &tables));
        szg_encoding_close(&encoding);
    }
    unlink(path_of(".safetensors"));
    szg_memory_free(x);
}
END_TEST

START_TEST(arrays_by_role) {
    enum { N = 3 };
    const int64_t square[2] = {N, N};
    double *x = new_test_reals(57, 0, 2 * N * N);
    const szg_tensor other = tensor("scores", 2, square, x + N * N);
    const char *npy = path_of(".npy"), *set = path_of(".safetensors");
    char scores[100], none[100];
    snprintf(scores, sizeof scores, "%s:scores", set);
    snprintf(none, sizeof none, "%s:scors", set);
    ck_szg_ok(szg_npy_write_real(test_context(), npy, 2, square, x));
    write_set(&other, 1, NULL, 0);
    szg_dump *dump;
    const szg_report_options report = {.quick_symbol = true};
    szg_contraction_tables tables;
    ck_szg_ok(szg_dump_open(test_context(), &dump));
    ck_szg_ok(szg_dump_add_as(test_context(), dump, SZG_DUMP_CONTENT, npy));
    ck_szg_fails(SZG_EINVAL, "which tensor",
                 szg_dump_add_as(test_context(), dump, SZG_DUMP_KEYS, set));
    ck_szg_fails(SZG_EDATA, "no tensor scors",
                 szg_dump_add_as(test_context(), dump, SZG_DUMP_QUERIES, none));
    ck_szg_ok(szg_dump_add_as(test_context(), dump, SZG_DUMP_COUPLED, scores));
    ck_szg_fails(SZG_EINVAL, "given before",
                 szg_dump_add_as(test_context(), dump, SZG_DUMP_COUPLED, scores));
    ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &tables));
    ck_szg_ok(szg_dump_report(test_context(), dump, NULL, &report, &tables));
    szg_contraction_pair pair = {
        .n = N, .content = x, .coupled = x + N * N, .labels = {npy, NULL, NULL, -1, -1, -1, NAN}};
    expect(tables.contraction, &pair, 1);
    szg_contraction_tables_close(&tables);
    szg_dump_close(&dump);
    unlink(npy);
    unlink(set);
    szg_memory_free(x);
}
END_TEST

static szg_status report_and_close(const char *path, const szg_dump_options *options) {
    szg_contraction_tables tables;
    szg_status status = report_file(path, options, &tables);
    if (status == SZG_OK)
        szg_contraction_tables_close(&tables);
    return status;
}

START_TEST(allocation_failures) {
    enum { N = 4 };
    const int64_t square[2] = {N, N};
    double *x = new_test_reals(58, 0, N * N);
    const szg_tensor tensors[] = {tensor("a.q", 2, square, x), tensor("a.k", 2, square, x),
                                  tensor("b.content", 2, square, x),
                                  tensor("b.coupled", 2, square, x)};
    write_set(tensors, 4, NULL, 0);
    szg_encoding *rope = encoding_of("rope:dim=4");
    const szg_dump_options options = {.encoding = rope};
    const char *path = path_of(".safetensors");
    ck_survives_failed_allocations(40, report_and_close(path, &options));
    szg_encoding_close(&rope);
    unlink(path);
    szg_memory_free(x);
}
END_TEST

void test_register(Suite *suite) {
    test_add(suite, "layout_of_a_capture", layout_of_a_capture);
    test_add(suite, "axes_of_an_npy_file", axes_of_an_npy_file);
    test_add(suite, "queries_and_keys", queries_and_keys);
    test_add(suite, "both_given", both_given);
    test_add(suite, "causal", causal);
    test_add(suite, "axes_by_name", axes_by_name);
    test_add(suite, "random_files", random_files);
    test_add(suite, "lengths_in_the_file", lengths_in_the_file);
    test_add(suite, "refused_shapes", refused_shapes);
    test_add(suite, "refused_encodings", refused_encodings);
    test_add(suite, "arrays_by_role", arrays_by_role);
    test_add(suite, "allocation_failures", allocation_failures);
}
