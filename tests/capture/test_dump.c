/* Dumps: against reports of the same numbers in memory; layouts and cuts. */
#include "dump_support.h"

/* The names that a capture writes, in single precision, out of order in the file (10 before 2). */
START_TEST(layout_of_a_capture) {
    enum { N = 6, LAYERS = 3 };
    static const int64_t layers[LAYERS] = {0, 2, 10}, shape[2] = {N, N};
    static const char *const metadata[] = {"source", "rope:dim=4",   "step",
                                           "50",     "content_kind", "zeroed"};
    double *numbers = new_test_logits(50, 0, 2 * LAYERS * N * N),
           norm[2 * LAYERS] = {3, 0.5, 1e-9, 2, 0.25, 0};
    float single[2 * LAYERS * N * N];
    for (int i = 0; i < 2 * LAYERS * N * N; i++)
        numbers[i] = (double)(single[i] = (float)numbers[i]);
    char name[4 * LAYERS][64];
    szgi_tensor tensors[4 * LAYERS];
    szgi_contraction_pair pairs[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
        static const char *const words[] = {"content", "coupled", "grad_norm", "grad_norm_qk"};
        for (int w = 0; w < 4; w++) {
            szgi_tensor *t = &tensors[4 * i + w];
            snprintf(name[4 * i + w], 64, "layers.%d.heads.3.probes.1.%s", (int)layers[i],
                     words[w]);
            *t = tensor(name[4 * i + w], w < 2 ? 2 : 0, shape, single + (2 * i + w) * N * N);
            if (w >= 2)
                t->data = (const unsigned char *)&norm[(w - 2) * LAYERS + i];
            else
                t->dtype = SZGI_DTYPE_F32;
        }
        pairs[i] = (szgi_contraction_pair){
            .content = szg_matrix_dense(N, N, numbers + 2 * i * N * N, N),
            .coupled = szg_matrix_dense(N, N, numbers + (2 * i + 1) * N * N, N),
            .precision = 0x1p-24,
            .labels = {SZG_INIT(szg_contraction_labels), .source = "rope:dim=4", .probe = "1",
                       .content_kind = "zeroed", .step = 50, .layer = layers[i], .head = 3,
                       .grad_norm = norm[i], .grad_norm_qk = norm[LAYERS + i]}};
    }
    write_set(tensors, 4 * LAYERS, metadata, 3);
    szg_contraction_tables tables;
    ck_szg_ok(report_file(path_of(".safetensors"), NULL, &tables));
    unlink(path_of(".safetensors"));
    expect(tables.contraction, pairs, LAYERS);
    szg_contraction_tables_close(&tables);
    szgi_memory_free(numbers);
}
END_TEST

/* [layers, heads, N, N] of an npy file, [batch, heads, N, N] by request, cut to lengths. */
START_TEST(axes_of_an_npy_file) {
    enum { A = 2, H = 3, N = 5 };
    const int64_t shape[4] = {A, H, N, N}, lengths[A] = {3, 5};
    double *numbers = new_test_logits(51, 0, A * H * N * N), *small = new_numbers(H * 9);
    szgi_contraction_pair pairs[A * H];
    const char *path = path_of(".npy");
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 4, shape, numbers));
    for (int i = 0; i < A * H; i++)
        pairs[i] = (szgi_contraction_pair){
            .coupled = szg_matrix_dense(N, N, numbers + i * N * N, N),
            .labels = {SZG_INIT(szg_contraction_labels), .source = path, .step = -1, .layer = i / H,
                       .head = i % H, .grad_norm = NAN}};
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
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 4, shape, numbers));
    for (int i = 0; i < A * H; i++) {
        pairs[i].labels.layer = -1;
        pairs[i].labels.probe = i < H ? "0" : "1";
        if (i < H)
            pairs[i].coupled = szg_matrix_dense(3, 3, small + i * 9, 3);
    }
    const szgi_dump_options options = {.axes = "batch,head", .lengths = 2, .length = lengths};
    ck_szg_ok(report_file(path, &options, &tables));
    expect(tables.contraction, pairs, A * H);
    szg_contraction_tables_close(&tables);
    unlink(path);
    szgi_memory_free(numbers);
    szgi_memory_free(small);
}
END_TEST

/* With the file under a mapping, the cut one ended the program by a signal. */
START_TEST(an_npy_file_that_changes_meanwhile) {
    const int64_t shape[3] = {2, 30, 30}; /* a matrix of 7200 bytes lies beyond the first page */
    double *numbers = new_test_logits(51, 0, 2 * 30 * 30);
    const char *path = path_of(".npy");
    szg_contraction_tables tables;
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 3, shape, numbers));
    ck_notices_changes(path, 4, report_file(path, NULL, &tables));
    unlink(path);
    szgi_memory_free(numbers);
}
END_TEST

/* The axes that the name leaves open: heads of a layer, layers of a head, batches of both. */
START_TEST(axes_by_name) {
    enum { A = 2, B = 3, N = 2 };
    static const int64_t shape[4] = {A, B, N, N};
    double *l = new_test_logits(59, 0, A * B * N * N);
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
        szgi_tensor t = tensor(cases[i].name, cases[i].dims, shape + 4 - cases[i].dims, l);
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
    szgi_memory_free(l);
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
    szgi_stream stream = {.seed = test_seed(), .purpose = 60};
    uint64_t at = 0;
    int64_t done = 0;
    /* Few are accepted: one must be, and among 3,000 it is. */
    for (int64_t trial = 0; trial < test_trials(300) || (done == 0 && trial < 3000); trial++) {
        char name[4][128];
        int64_t shape[4][5];
        szgi_tensor tensors[4];
        int64_t count = 1 + (int64_t)szgi_random_below(&stream, at++, 4);
        uint64_t seed = szgi_random_below(&stream, at++, 8);
        int dims = (int)szgi_random_below(&stream, at++, 5),
            same = (int)szgi_random_below(&stream, at++, 2);
        for (int64_t i = 0; i < count; i++) {
            name[i][0] = 0;
            for (uint64_t p = 0; p < seed % 4; p++)
                snprintf(name[i] + strlen(name[i]), 100 - strlen(name[i]), "%s.",
                         parts[szgi_random_below(&stream, same ? p : at++, 16)]);
            snprintf(name[i] + strlen(name[i]), 28, "%s",
                     last[szgi_random_below(&stream, at++, 9)]);
            for (int64_t j = 0; j < i; j++)
                if (strcmp(name[i], name[j]) == 0)
                    snprintf(name[i] + strlen(name[i]), 8, "%d", (int)i);
            for (int a = 0; a < 5; a++)
                shape[i][a] =
                    same && seed ? (a == 0 ? 1 : 3) : (int64_t)szgi_random_below(&stream, at++, 4);
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
    double *l = new_test_logits(55, 0, B * N * N);
    szgi_tensor tensors[] = {tensor("heads.1.coupled", 3, shape, l),
                             tensor("heads.1.lengths", 1, count, lengths)};
    /* The writer has real types only: F16 has an integer's width, and its name is then changed. */
    tensors[1].dtype = SZGI_DTYPE_F16;
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
    szgi_dump_options options = {.axes = "batch"};
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
    szgi_memory_free(l);
}
END_TEST

/* Content 2 1; 1 2 against logits 2 2; 2 2: 3 - 4 = -1 is the least slack, k = 1, the larger
 * norm 4. Numbers of a type whose half unit is u may be off by 2 k n u 4 = 16 u in that sum; the
 * sum's own rounding comes on top. */
START_TEST(margin_error_counts_the_digits_of_the_file) {
    const int64_t shape[2] = {2, 2};
    const uint16_t halves[2][4] = {{0x4000, 0x3c00, 0x3c00, 0x4000},
                                   {0x4000, 0x4000, 0x4000, 0x4000}};
    const uint16_t brains[2][4] = {{0x4000, 0x3f80, 0x3f80, 0x4000},
                                   {0x4000, 0x4000, 0x4000, 0x4000}};
    const float singles[2][4] = {{2, 1, 1, 2}, {2, 2, 2, 2}};
    const double doubles[2][4] = {{2, 1, 1, 2}, {2, 2, 2, 2}};
    const struct {
        szgi_dtype type;
        const void *content, *coupled;
        double unit;
    } files[] = {{SZGI_DTYPE_F16, halves[0], halves[1], 0x1p-11},
                 {SZGI_DTYPE_BF16, brains[0], brains[1], 0x1p-8},
                 {SZGI_DTYPE_F32, singles[0], singles[1], 0x1p-24},
                 {SZGI_DTYPE_F64, doubles[0], doubles[1], 0x1p-52}};
    const char *path = path_of(".safetensors");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        szgi_tensor tensors[] = {tensor("content", 2, shape, files[i].content),
                                 tensor("coupled", 2, shape, files[i].coupled)};
        szg_contraction_tables tables;
        tensors[0].dtype = tensors[1].dtype = files[i].type;
        write_set(tensors, 2, NULL, 0);
        ck_szg_ok(report_file(path, NULL, &tables));
        ck_assert_double_eq(cell(tables.contraction, 0, "majorised"), 0);
        ck_close(cell(tables.contraction, 0, "margin"), -1, 1e-14);
        ck_close(cell(tables.contraction, 0, "margin_error"), 16 * files[i].unit,
                 1.5 * files[i].unit);
        szg_contraction_tables_close(&tables);
    }
    unlink(path);
}
END_TEST

START_TEST(arrays_by_role) {
    enum { N = 3 };
    const int64_t square[2] = {N, N};
    double *x = new_test_logits(57, 0, 2 * N * N);
    const szgi_tensor other = tensor("scores", 2, square, x + N * N);
    const char *npy = path_of(".npy"), *set = path_of(".safetensors");
    char scores[100], none[100], named[100];
    snprintf(scores, sizeof scores, "%s:scores", set);
    snprintf(none, sizeof none, "%s:scors", set);
    ck_szg_ok(szgi_npy_write_real(test_context(), npy, 2, square, x));
    write_set(&other, 1, NULL, 0);
    szgi_dump *dump;
    const szg_report_options report = {SZG_INIT(szg_report_options), .quick_symbol = true};
    szg_contraction_tables tables;
    ck_szg_ok(szgi_dump_open(test_context(), &dump));
    ck_szg_ok(szgi_dump_add_as(test_context(), dump, SZGI_DUMP_CONTENT, npy));
    ck_szg_fails(SZG_EINVAL, "which tensor",
                 szgi_dump_add_as(test_context(), dump, SZGI_DUMP_KEYS, set));
    snprintf(named, sizeof named, "%s:scores", npy);
    ck_szg_fails(SZG_EINVAL, "leave :scores out",
                 szgi_dump_add_as(test_context(), dump, SZGI_DUMP_COUPLED_QUERIES, named));
    ck_szg_fails(SZG_EDATA, "no tensor scors",
                 szgi_dump_add_as(test_context(), dump, SZGI_DUMP_QUERIES, none));
    ck_szg_ok(szgi_dump_add_as(test_context(), dump, SZGI_DUMP_COUPLED, scores));
    ck_szg_fails(SZG_EINVAL, "given before",
                 szgi_dump_add_as(test_context(), dump, SZGI_DUMP_COUPLED, scores));
    ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &tables));
    ck_szg_ok(szgi_dump_report(test_context(), dump, NULL, &report, &tables));
    szgi_contraction_pair pair = {.content = szg_matrix_dense(N, N, x, N),
                                  .coupled = szg_matrix_dense(N, N, x + N * N, N),
                                  .labels = {SZG_INIT(szg_contraction_labels), .source = npy,
                                             .step = -1, .layer = -1, .head = -1,
                                             .grad_norm = NAN}};
    expect(tables.contraction, &pair, 1);
    szg_contraction_tables_close(&tables);
    szgi_dump_close(&dump);
    unlink(npy);
    unlink(set);
    szgi_memory_free(x);
}
END_TEST

static szg_status report_and_close(const char *path, const szgi_dump_options *options) {
    szg_contraction_tables tables;
    szg_status status = report_file(path, options, &tables);
    if (status == SZG_OK)
        szg_contraction_tables_close(&tables);
    return status;
}

START_TEST(allocation_failures) {
    enum { N = 4 };
    const int64_t square[2] = {N, N};
    double *x = new_test_logits(58, 0, N * N);
    const szgi_tensor tensors[] = {tensor("a.q", 2, square, x), tensor("a.k", 2, square, x),
                                   tensor("b.content", 2, square, x),
                                   tensor("b.coupled", 2, square, x)};
    write_set(tensors, 4, NULL, 0);
    szg_encoding *rope = encoding_of("rope:dim=4,pairing=half");
    const szgi_dump_options options = {.encoding = rope};
    const char *path = path_of(".safetensors");
    ck_survives_failed_allocations(40, report_and_close(path, &options));
    szg_encoding_close(&rope);
    unlink(path);
    szgi_memory_free(x);
}
END_TEST

TEST_FILE("dump") {
    test_add(suite, "layout_of_a_capture", layout_of_a_capture);
    test_add(suite, "axes_of_an_npy_file", axes_of_an_npy_file);
    test_add(suite, "an_npy_file_that_changes_meanwhile", an_npy_file_that_changes_meanwhile);
    test_add(suite, "axes_by_name", axes_by_name);
    test_add(suite, "random_files", random_files);
    test_add(suite, "lengths_in_the_file", lengths_in_the_file);
    test_add(suite, "margin_error_counts_the_digits_of_the_file",
             margin_error_counts_the_digits_of_the_file);
    test_add(suite, "arrays_by_role", arrays_by_role);
    test_add(suite, "allocation_failures", allocation_failures);
}
