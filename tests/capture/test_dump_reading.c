/* What a dump may also mean: its axes, the pairing of its queries, masks of finite numbers, weights
 * in place of logits. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "dump_support.h"

/* ---- Messages ---- */

static char heard[4096];

static void hear(void *user, szg_severity severity, const char *message) {
    (void)user;
    (void)severity;
    strncat(heard, message, sizeof heard - strlen(heard) - 2);
    strcat(heard, "\n");
}

/* The report of the file with a context that listens. */
static szg_status listen(const char *path, const szgi_dump_options *options,
                         szg_contraction_tables *tables) {
    const szg_report_options report = {SZG_INIT(szg_report_options), .quick_symbol = true};
    const szg_context_options listening = {SZG_INIT(szg_context_options), .message = hear};
    szg_context *context;
    szgi_dump *dump = NULL;
    heard[0] = 0;
    *tables = (szg_contraction_tables){0};
    ck_szg_ok(szg_context_open(&listening, &context));
    szg_status status = szgi_dump_open(context, &dump);
    if (status == SZG_OK)
        status = szgi_dump_add(context, dump, path);
    if (status == SZG_OK)
        status = szg_contraction_tables_open(context, false, false, tables);
    if (status == SZG_OK)
        status = szgi_dump_report(context, dump, options, &report, tables);
    if (status != SZG_OK) {
        hear(NULL, SZG_WARNING, szg_context_message(context));
        szg_contraction_tables_close(tables);
    }
    szgi_dump_close(&dump);
    szg_context_close(&context);
    return status;
}

/* ---- Axes ---- */

enum { B = 2, H = 4, G = 2, N = 7, D = 6 };

/* Queries (or keys, of G heads) in the order of `axes`: letters b, h, t, d. */
static void fill(const char *axes, int64_t heads, uint64_t purpose, int64_t *shape, double *out) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = (uint32_t)purpose};
    const char *const letters = "bhtd";
    const int64_t extent[] = {B, heads, N, D};
    int64_t stride[4] = {0}, step = 1;
    for (int i = 3; i >= 0; i--) {
        int letter = (int)(strchr(letters, axes[i]) - letters);
        shape[i] = extent[letter];
        stride[letter] = step;
        step *= extent[letter];
    }
    for (int64_t i = 0; i < B * heads * N * D; i++) {
        int64_t b = i / (heads * N * D), h = i / (N * D) % heads, t = i / D % N, d = i % D;
        out[b * stride[0] + h * stride[1] + t * stride[2] + d * stride[3]] =
            szgi_random_normal(&stream, (uint64_t)i);
    }
}

static const struct {
    const char *letters, *axes;
} orders[] = {{"bhtd", NULL},
              {"bhtd", "batch,head"},
              {"bhtd", "batch,head,token,dim"},
              {"bthd", "batch,token,head,dim"},
              {"tbhd", "token,batch,head,dim"},
              {"bhdt", "batch,head,dim,token"},
              {"dtbh", "dim,token,batch,head"},
              {"tdbh", "token,dim,batch,head"}};

static szg_status report_order(int order, bool metadata, const char *option,
                               szg_contraction_tables *tables) {
    int64_t shape_q[4], shape_k[4];
    double q[B * H * N * D], k[B * G * N * D];
    fill(orders[order].letters, H, 80, shape_q, q);
    fill(orders[order].letters, G, 81, shape_k, k);
    const szgi_tensor tensors[] = {tensor("layers.1.q", 4, shape_q, q),
                                   tensor("layers.1.k", 4, shape_k, k)};
    const char *const pairs[] = {"axes", orders[order].axes};
    const char *path = path_of(".safetensors");
    ck_szg_ok(szgi_safetensors_write(test_context(), path, tensors, 2, pairs, metadata ? 1 : 0));
    szg_encoding *rope = encoding_of("rope:dim=6,pairing=half");
    const szgi_dump_options options = {.encoding = rope, .axes = option};
    szg_status status = listen(path, &options, tables);
    szg_encoding_close(&rope);
    unlink(path);
    return status;
}

/* The same numbers in any order of axes, which the option or the file names: the same table, but
 * for the file's name. */
START_TEST(axes_in_any_order) {
    szg_contraction_tables first, other;
    ck_szg_ok(report_order(0, false, NULL, &first));
    ck_assert_int_eq(szg_table_rows(first.contraction), B * H);
    for (int i = 1; i < (int)(sizeof orders / sizeof *orders); i++)
        for (int metadata = 0; metadata < 2; metadata++) {
            ck_szg_ok(report_order(i, metadata, metadata ? NULL : orders[i].axes, &other));
            ck_assert_int_eq(szg_table_rows(other.contraction), B * H);
            bool batch_first = strchr(orders[i].letters, 'b') < strchr(orders[i].letters, 'h');
            ck_assert(batch_first);
            for (int64_t row = 0; row < B * H; row++)
                for (int64_t c = 1; c < szg_table_columns(first.contraction); c++)
                    if (szg_table_column(first.contraction, c)->type != SZG_TEXT &&
                        !szg_table_is_empty(first.contraction, row, c))
                        ck_assert_msg(szg_table_get_real(first.contraction, row, c) ==
                                          szg_table_get_real(other.contraction, row, c),
                                      "%s, row %d, %s", orders[i].letters, (int)row,
                                      szg_table_column(first.contraction, c)->name);
            ck_assert_ptr_nonnull(strstr(heard, "2 sequences, 4 heads, 7 tokens, dimension 6"));
            szg_contraction_tables_close(&other);
        }
    szg_contraction_tables_close(&first);
}
END_TEST

START_TEST(axes_that_contradict) {
    szg_contraction_tables tables;
    ck_assert_int_eq(report_order(3, true, "batch,head,token,dim", &tables), SZG_EINVAL);
    ck_assert_ptr_nonnull(strstr(heard, "metadata says axes batch,token,head,dim, the option"));
    static const char *const bad[] = {
        "batch,head,token",   "batch,head,dim", "head,head", "heads", "batch,head,token,key", ",",
        "token,dim,query,key"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(report_order(0, false, bad[i], &tables), SZG_EINVAL);
        ck_assert_ptr_nonnull(strstr(heard, "a list of batch, layer, head"));
    }
    ck_assert_int_eq(report_order(0, false, "head,token,dim", &tables), SZG_EDATA);
    ck_assert_ptr_nonnull(strstr(heard, "another number of axes"));
}
END_TEST

/* [tokens, heads, d] without a word is read as heads, tokens: said, and warned of. */
START_TEST(more_heads_than_tokens) {
    double x[9 * 3 * 2];
    const szgi_stream stream = {.seed = test_seed(), .purpose = 82};
    for (int i = 0; i < 54; i++)
        x[i] = szgi_random_normal(&stream, (uint64_t)i);
    const int64_t shape[3] = {9, 3, 2};
    const szgi_tensor tensors[] = {tensor("q", 3, shape, x), tensor("k", 3, shape, x)};
    const char *path = path_of(".safetensors");
    ck_szg_ok(szgi_safetensors_write(test_context(), path, tensors, 2, NULL, 0));
    szg_encoding *nope = encoding_of("nope");
    szgi_dump_options options = {.encoding = nope};
    szg_contraction_tables tables;
    ck_szg_ok(listen(path, &options, &tables));
    ck_assert_int_eq(szg_table_rows(tables.contraction), 9);
    ck_assert_ptr_nonnull(strstr(heard, "more heads than tokens"));
    szg_contraction_tables_close(&tables);
    options.axes = "token,head,dim";
    ck_szg_ok(listen(path, &options, &tables));
    ck_assert_int_eq(szg_table_rows(tables.contraction), 3);
    ck_assert_ptr_null(strstr(heard, "more heads"));
    szg_contraction_tables_close(&tables);
    szg_encoding_close(&nope);
    unlink(path);
}
END_TEST

/* ---- Pairing ---- */

static szg_status open_with(const char *spec, const char *const *metadata, int64_t pairs,
                            szg_encoding **out) {
    static const double x[2 * 4] = {1, 2, 3, 4, 5, 6, 7, 8};
    const int64_t shape[2] = {2, 4};
    const szgi_tensor tensors[] = {tensor("q", 2, shape, x), tensor("k", 2, shape, x)};
    const char *path = path_of(".safetensors");
    ck_szg_ok(szgi_safetensors_write(test_context(), path, tensors, 2, metadata, pairs));
    szgi_dump *dump;
    ck_szg_ok(szgi_dump_open(test_context(), &dump));
    szg_status status = szgi_dump_add(test_context(), dump, path);
    if (status == SZG_OK)
        status = szgi_dump_encoding(test_context(), dump, spec, out);
    szgi_dump_close(&dump);
    unlink(path);
    return status;
}

START_TEST(metadata_completes_the_spec) {
    static const char *const half[] = {"pairing", "half", "base", "500000.0"};
    static const char *const mute[] = {"source", "someone"};
    static const struct {
        const char *spec, *whole;
        const char *const *metadata;
    } cases[] = {{"rope:dim=4", "rope:dim=4,base=500000,pairing=half", half},
                 {"rope", "rope:base=500000,pairing=half", half},
                 {"rope:dim=4,pairing=half", "rope:dim=4,base=500000,pairing=half", half},
                 {"rope:dim=4,base=5e5", "rope:dim=4,base=500000,pairing=half", half},
                 {"rope:dim=4,theta=1", "rope:dim=4,theta=1,pairing=half", half},
                 {"mla:content=2,rope=2", "mla:content=2,rope=2,base=500000,pairing=half", half},
                 {"alibi", "alibi", half},
                 {"rope:dim=4", "rope:dim=4", mute}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_encoding *encoding;
        int64_t pairs = cases[i].metadata == half ? 2 : 1;
        ck_szg_ok(open_with(cases[i].spec, cases[i].metadata, pairs, &encoding));
        ck_assert_str_eq(szg_encoding_spec(encoding), cases[i].whole);
        szg_encoding_close(&encoding);
    }
}
END_TEST

START_TEST(metadata_that_contradicts) {
    static const char *const half[] = {"pairing", "half", "base", "500000"};
    static const char *const other[] = {"pairing", "rows"};
    static const char *const partial[] = {"pairing", "half", "model", "gpt_neox"};
    static const char *const negative[] = {"base", "-3"};
    szg_encoding *encoding;
    ck_szg_fails(SZG_EINVAL, "metadata says pairing=half",
                 open_with("rope:dim=4,pairing=interleaved", half, 2, &encoding));
    ck_szg_fails(SZG_EINVAL, "metadata says base=500000",
                 open_with("rope:dim=4,base=10000", half, 2, &encoding));
    ck_szg_fails(SZG_EINVAL, "give base=", open_with("rope:dim=4", partial, 2, &encoding));
    ck_szg_ok(open_with("rope:dim=4,rotary=2,base=10000", partial, 2, &encoding));
    ck_assert_str_eq(szg_encoding_spec(encoding), "rope:dim=4,rotary=2,base=10000,pairing=half");
    szg_encoding_close(&encoding);
    ck_szg_fails(SZG_EDATA, "neither half nor interleaved",
                 open_with("rope:dim=4", other, 1, &encoding));
    ck_szg_fails(SZG_EDATA, "is no positive number",
                 open_with("rope:dim=4", negative, 1, &encoding));
}
END_TEST

START_TEST(pairing_is_asked_for) {
    static const struct {
        const char *spec;
        bool asks;
    } cases[] = {{"rope:dim=4", true},           {"rope:dim=4,pairing=half", false},
                 {"mla:content=2,rope=2", true}, {"rope-bias:dim=4", false},
                 {"alibi:heads=1", false},       {"nope", false}};
    static const double x[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 2, 2};
    const int64_t shape[2] = {3, 4};
    const szgi_tensor tensors[] = {tensor("q", 2, shape, x), tensor("k", 2, shape, x)};
    const char *path = path_of(".safetensors");
    ck_szg_ok(szgi_safetensors_write(test_context(), path, tensors, 2, NULL, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_encoding *encoding = encoding_of(cases[i].spec);
        const szgi_dump_options options = {.encoding = encoding};
        szg_contraction_tables tables;
        if (cases[i].asks) {
            ck_assert_int_eq(listen(path, &options, &tables), SZG_EINVAL);
            ck_assert_ptr_nonnull(strstr(heard, "pairing=half"));
            ck_assert_ptr_nonnull(strstr(heard, "pairing=interleaved"));
        } else {
            ck_szg_ok(listen(path, &options, &tables));
            int64_t column = szg_table_find(tables.contraction, "pairing");
            ck_assert_int_eq(szg_table_is_empty(tables.contraction, 0, column), i != 1);
            szg_contraction_tables_close(&tables);
        }
        szg_encoding_close(&encoding);
    }
    unlink(path);
}
END_TEST

/* Content of arrays asks too, drawn content does not. */
START_TEST(pairing_of_given_content) {
    static const double x[3 * 4] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 2, 2};
    szg_content *given, *drawn;
    szg_logits *logits;
    szg_encoding *rope = encoding_of("rope:dim=4");
    ck_szg_ok(szg_content_open_qk(test_context(), 3, 4, x, 4, x, 4, &given));
    ck_szg_ok(szg_content_parse(test_context(), "gaussian", 1, &drawn));
    ck_szg_fails(SZG_EINVAL, "pairing=half",
                 szg_logits_open(test_context(), rope, 0, given, 3, NULL, &logits));
    ck_szg_ok(szg_logits_open(test_context(), rope, 0, drawn, 3, NULL, &logits));
    szg_logits_close(&logits);
    szg_content_close(&given);
    szg_content_close(&drawn);
    szg_encoding_close(&rope);
}
END_TEST

/* ---- Masks and weights ---- */

enum { M = 12 };

typedef enum shape_of_mask { FUTURE, WINDOW, PADDING } shape_of_mask;

/* Logits about 0 with a standard deviation of 3, and what is hidden by `value` in place of them or
 * added to them. */
static void draw_logits(double value, bool added, shape_of_mask shape, double *a) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 83};
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            double x = 3 * szgi_random_normal(&stream, (uint64_t)(i * M + j));
            bool hidden = shape == FUTURE   ? j > i
                          : shape == WINDOW ? j > i || j < i - 3
                                            : j > M - 4;
            a[i * M + j] = !hidden ? x : added ? (float)fmax(x + value, -FLT_MAX) : value;
        }
}

static szg_status report_logits(const double *a, bool causal) {
    const int64_t shape[2] = {M, M};
    const szgi_tensor one = tensor("coupled", 2, shape, a);
    const char *path = path_of(".safetensors");
    ck_szg_ok(szgi_safetensors_write(test_context(), path, &one, 1, NULL, 0));
    const szgi_dump_options options = {.causal = causal};
    szg_contraction_tables tables;
    szg_status status = listen(path, &options, &tables);
    if (status == SZG_OK)
        szg_contraction_tables_close(&tables);
    unlink(path);
    return status;
}

START_TEST(finite_masks) {
    static const double values[] = {-1e4,    -65504, -1e5, -1e9, -FLT_MAX, -3.3895313892515355e38,
                                    -DBL_MAX};
    double a[M * M];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int added = 0; added < 2; added++)
            for (int shape = FUTURE; shape <= PADDING; shape++) {
                draw_logits(values[i], added, (shape_of_mask)shape, a);
                ck_assert_msg(report_logits(a, false) == SZG_EDATA, "%g, %d, %d: %s", values[i],
                              added, shape, heard);
                ck_assert_ptr_nonnull(strstr(heard, "--mask causal"));
                if (shape == FUTURE)
                    ck_szg_ok(report_logits(a, true));
                else if (shape == WINDOW) /* what is left is no mask that --mask names */
                    ck_assert_int_eq(report_logits(a, true), SZG_EDATA);
            }
    /* Two masks, one on the other; a lower number beside a mask; the least that counts. */
    for (int which = 0; which < 3; which++) {
        draw_logits(which == 2 ? -1000 : -1e4, which == 0, FUTURE, a);
        for (int i = 0; i < M; i++)
            a[i * M] += which == 0 ? -1e4 : 0;
        a[M - 1] *= which == 1 ? 5 : 1;
        ck_assert_int_eq(report_logits(a, false), SZG_EDATA);
        ck_assert_int_eq(report_logits(a, true), which == 0 ? SZG_EDATA : SZG_OK);
    }
}
END_TEST

/* Large and far apart, and no mask. */
START_TEST(logits_that_are_no_mask) {
    double a[M * M];
    for (int which = 0; which < 6; which++) {
        draw_logits(0, true, FUTURE, a);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < M; j++) {
                double distance = i > j ? i - j : j - i;
                a[i * M + j] += which == 0   ? -2000 * distance
                                : which == 1 ? (j > i ? -900 : 0)
                                : which == 2 ? (j == 0   ? -5000
                                                : j == 1 ? -300
                                                         : 0)
                                : which == 3 ? (i == 3 && j == 7 ? -1e6 : 0)
                                : which == 4 ? -1e5
                                             : 1e4 * a[i * M + j];
            }
        ck_assert_msg(report_logits(a, false) == SZG_OK, "%d: %s", which, heard);
    }
}
END_TEST

START_TEST(weights_are_no_logits) {
    double a[M * M];
    for (int causal = 0; causal < 2; causal++) {
        draw_logits(0, true, FUTURE, a);
        ck_szg_ok(report_logits(a, causal));
        ck_assert_ptr_null(strstr(heard, "attention weights"));
        for (int i = 0; i < M; i++) {
            double sum = 0;
            for (int j = 0; j < M; j++)
                sum += a[i * M + j] = causal && j > i ? 0 : exp(a[i * M + j]);
            for (int j = 0; j < M; j++)
                a[i * M + j] = (float)(a[i * M + j] / sum);
        }
        ck_szg_ok(report_logits(a, causal));
        ck_assert_ptr_nonnull(strstr(heard, "attention weights"));
        a[M] += 0.5;
        ck_szg_ok(report_logits(a, causal));
        ck_assert_ptr_null(strstr(heard, "attention weights"));
    }
}
END_TEST

/* A zip of empty members, a comma between their names. Its directory says `more` bytes than it has.
 */
static int64_t write_zip(const char *names, int more, unsigned char *out) {
    int64_t used = 0, start, members = 0;
    for (int directory = 0; directory < 2; directory++) {
        const int head = directory ? 46 : 30;
        start = used;
        for (const char *at = names; *at;) {
            size_t length = strcspn(at, ",");
            memset(out + used, 0, (size_t)head);
            memcpy(out + used, directory ? "PK\1\2" : "PK\3\4", 4);
            out[used + (directory ? 28 : 26)] = (unsigned char)length;
            memcpy(out + used + head, at, length);
            used += head + (int64_t)length;
            at += length + (at[length] == ',');
            members += directory;
        }
    }
    unsigned char *end = out + used;
    memset(end, 0, 22);
    memcpy(end, "PK\5\6", 4);
    end[8] = end[10] = (unsigned char)members;
    for (int i = 0; i < 4; i++) {
        end[12 + i] = (unsigned char)((used - start + more) >> 8 * i);
        end[16 + i] = (unsigned char)(start >> 8 * i);
    }
    return used + 22;
}

static void refuse_zip(const char *ending, const char *names, int more, int64_t cut,
                       const char *words) {
    unsigned char bytes[2048];
    const char *path = path_of(ending);
    int64_t size = write_zip(names, more, bytes) - cut;
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fwrite(bytes, 1, (size_t)size, file), size);
    fclose(file);
    szgi_dump *dump;
    ck_szg_ok(szgi_dump_open(test_context(), &dump));
    ck_szg_fails(SZG_EDATA, words, szgi_dump_add(test_context(), dump, path));
    szgi_dump_close(&dump);
    unlink(path);
}

/* NumPy's archive is a zip, as a PyTorch file is, and its members tell the two apart. */
START_TEST(an_archive_of_arrays) {
    refuse_zip(".npz", "q.npy,k.npy", 0, 0, "arrays: q, k: save them");
    refuse_zip(".npz", "q.npy", 0, 0, "numpy.load('test_dump.npz'");
    refuse_zip(".npy", "q.npy,k.npy", 0, 0, "an archive of NumPy arrays: q, k: save one");
    refuse_zip(".safetensors", "layers.0.self_attention.heads.11.q_coupled.npy,README", 0, 0,
               "arrays: layers.0.self_attention.heads.11.q_coupled: save");
    refuse_zip(".safetensors", "archive/data.pkl", 0, 0, "PyTorch file");
    refuse_zip(".npz", "a.npy,b.npy,c.npy,d.npy,e.npy,f.npy,g.npy,h.npy,i.npy,j.npy", 0, 0,
               "g, h, ...: save");
    refuse_zip(".npz", "q\033[2J\n.npy", 0, 0, "arrays: q\\x1b[2J\\x0a: save");
    /* Without a directory that can be read, the ending tells. */
    refuse_zip(".npz", "q.npy,k.npy", 0, 3, "arrays: save them");
    refuse_zip(".npz", "q.npy,k.npy", 23, 0, "arrays: save them");
    refuse_zip(".npz", "q.npy,k.npy", -1, 0, "arrays: q: save them");
    refuse_zip(".npz", "q.npy,k.npy", 0x7fffff00, 0, "arrays: save them");
}
END_TEST

TEST_FILE("dump_reading") {
    test_add(suite, "axes_in_any_order", axes_in_any_order);
    test_add(suite, "axes_that_contradict", axes_that_contradict);
    test_add(suite, "more_heads_than_tokens", more_heads_than_tokens);
    test_add(suite, "metadata_completes_the_spec", metadata_completes_the_spec);
    test_add(suite, "metadata_that_contradicts", metadata_that_contradicts);
    test_add(suite, "pairing_is_asked_for", pairing_is_asked_for);
    test_add(suite, "pairing_of_given_content", pairing_of_given_content);
    test_add(suite, "finite_masks", finite_masks);
    test_add(suite, "logits_that_are_no_mask", logits_that_are_no_mask);
    test_add(suite, "weights_are_no_logits", weights_are_no_logits);
    test_add(suite, "an_archive_of_arrays", an_archive_of_arrays);
}
