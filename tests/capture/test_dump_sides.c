/* Dumps of queries and keys, of both sides, and under a mask. */
#include "dump_support.h"

/* Queries and keys, rotated here: of constant content the logits depend on the lag alone; four
 * query heads share two of the keys; a factor on the dot products leaves the ratios. */
START_TEST(queries_and_keys) {
    enum { H = 4, G = 2, N = 20, D = 6 };
    const int64_t shape_q[3] = {H, N, D}, shape_k[3] = {G, N, D};
    double q[H * N * D], k[G * N * D], content[N * N], coupled[N * N];
    szgi_stream stream = {.seed = test_seed(), .purpose = 52};
    for (int i = 0; i < H * N * D; i++)
        q[i] = szgi_random_normal(&stream, (uint64_t)(i / (N * D) * D + i % D));
    for (int i = 0; i < G * N * D; i++)
        k[i] = szgi_random_normal(&stream, (uint64_t)(1000 + i / (N * D) * D + i % D));
    const szgi_tensor tensors[] = {tensor("attn.q", 3, shape_q, q),
                                   tensor("attn.k", 3, shape_k, k)};
    write_set(tensors, 2, NULL, 0);
    szg_encoding *rope = encoding_of("rope:dim=6,pairing=interleaved");
    szgi_dump_options options = {.encoding = rope};
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
        ck_szg_ok(contracted(test_context(), szg_matrix_dense(N, N, content, N),
                             szg_matrix_dense(N, N, coupled, N), NULL, &want));
        /* Turned queries and keys are off by (N + 4) u each, for angles up to N radians, and a dot
         * product of D terms by D u: the norm of what is not Toeplitz. Its square counts, beside
         * the quotient's two roundings. */
        double size = N * norm_of(D, q + h * N * D) * norm_of(D, k + h / 2 * N * D) / sqrt(D);
        double off = (2 * (N + 4) + D) * 0x1p-53 * size;
        ck_close(cell(tables.contraction, h, "toeplitzness_content"), 1,
                 EPS + pow(off / norm_of(N * N, content), 2));
        ck_close(cell(tables.contraction, h, "toeplitzness_coupled"), 1,
                 EPS + pow(off / norm_of(N * N, coupled), 2));
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
    double *x = new_test_reals(53, 0, 4 * N * D), *l = new_test_logits(53, 1, N * N);
    double *content = new_numbers(N * N), *coupled = new_numbers(N * N);
    for (int i = 0; i < N * N; i++)
        for (int c = 0; c < D; c++) {
            content[i] += x[i / N * D + c] * x[(N + i % N) * D + c] / sqrt(D);
            coupled[i] += x[(2 * N + i / N) * D + c] * x[(3 * N + i % N) * D + c] / sqrt(D);
        }
    const szgi_tensor tensors[] = {tensor("a.q", 2, shape, x),
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
        ck_szg_ok(want[r].content
                      ? contracted(test_context(), szg_matrix_dense(N, N, want[r].content, N),
                                   szg_matrix_dense(N, N, want[r].coupled, N), NULL, &c)
                      : contracted(test_context(), (szg_matrix){.kind = SZG_MATRIX_NONE},
                                   szg_matrix_dense(N, N, want[r].coupled, N), NULL, &c));
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
        szgi_memory_free(all[i]);
}
END_TEST

/* Masked entries may be -infinity: they count as zeros. */
START_TEST(causal) {
    enum { N = 5 };
    const int64_t square[2] = {N, N};
    double *l = new_test_logits(54, 0, N * N), *zeros = new_numbers(N * N);
    for (int i = 0; i < N * N; i++)
        if (i % N > i / N)
            l[i] = -INFINITY;
        else
            zeros[i] = l[i];
    const char *path = path_of(".npy");
    ck_szg_ok(szgi_npy_write_real(test_context(), path, 2, square, l));
    szg_contraction_tables tables;
    ck_szg_fails(SZG_EDATA, "row 0, column 1 is -inf", report_file(path, NULL, &tables));
    const szgi_dump_options options = {.causal = true};
    ck_szg_ok(report_file(path, &options, &tables));
    unlink(path);
    szgi_contraction_pair pair = {.coupled = szg_matrix_dense(N, N, zeros, N),
                                  .labels = {SZG_INIT(szg_contraction_labels), .source = path,
                                             .step = -1, .layer = -1, .head = -1,
                                             .grad_norm = NAN}};
    expect(tables.contraction, &pair, 1);
    szg_contraction_tables_close(&tables);
    szgi_memory_free(l);
    szgi_memory_free(zeros);
}
END_TEST

/* A cell that is left empty says why: content of rank D in single precision has no least singular
 * value; the coupled logits have one: 2 N^2 more on the diagonal, off it less than D = 4 an entry
 * (Gershgorin, of the Hermitian part: 2 N^2 - D N). */
START_TEST(content_of_low_rank_says_so) {
    enum { N = 16, D = 4 };
    const int64_t square[2] = {N, N};
    double *x = new_test_reals(55, 0, 2 * N * D);
    float content[N * N], coupled[N * N];
    for (int at = 0; at < N * N; at++) {
        double sum = 0;
        for (int c = 0; c < D; c++)
            sum += tanh(x[at / N * D + c]) * tanh(x[(N + at % N) * D + c]);
        content[at] = (float)sum;
        coupled[at] = (float)(at / N == at % N ? sum + 2 * N * N : sum);
    }
    szgi_tensor tensors[] = {tensor("content", 2, square, content),
                             tensor("coupled", 2, square, coupled)};
    tensors[0].dtype = tensors[1].dtype = SZGI_DTYPE_F32;
    write_set(tensors, 2, NULL, 0);
    szg_contraction_tables tables;
    ck_szg_ok(report_file(path_of(".safetensors"), NULL, &tables));
    unlink(path_of(".safetensors"));
    const szg_table *table = tables.contraction;
    ck_assert(szg_table_is_empty(table, 0, szg_table_find(table, "sigma_min_content")));
    ck_assert(szg_table_is_empty(table, 0, szg_table_find(table, "condition_content")));
    ck_assert_double_gt(cell(table, 0, "sigma_min_coupled"), N * N);
    ck_assert(!szg_table_is_empty(table, 0, szg_table_find(table, "condition_coupled")));
    const char *note = szg_table_get_text(table, 0, szg_table_find(table, "note"));
    const char *said = strstr(note, "content: sigma_min and condition are left empty");
    ck_assert_msg(said != NULL, "%s", note);
    ck_assert_ptr_null(strstr(said + strlen("content: sigma"), "sigma_min and condition"));
    szg_contraction_tables_close(&tables);
    szgi_memory_free(x);
}
END_TEST

TEST_FILE("dump_sides") {
    test_add(suite, "queries_and_keys", queries_and_keys);
    test_add(suite, "both_given", both_given);
    test_add(suite, "causal", causal);
    test_add(suite, "content_of_low_rank_says_so", content_of_low_rank_says_so);
}
