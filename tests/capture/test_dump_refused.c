/* Dumps that are refused. */
#include "base/text.h"

#include "dump_support.h"

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
        {{"coupled"},
         {2},
         {{2, 3}},
         NULL,
         "shape [2, 3]: the axes of its matrices differ",
         SZG_EDATA},
        {{"coupled"}, {2}, {{0, 0}}, NULL, "no matrices", SZG_EDATA},
        {{"coupled"}, {6}, {{1, 1, 1, 1, 2, 2}}, NULL, "only batch, layer and head", SZG_EDATA},
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
        {{"coupled", "grad_norm"}, {2, 1}, {{2, 2}, {2}}, NULL, "one number a matrix", SZG_EDATA},
        {{"coupled", "lengths"}, {2, 2}, {{2, 2}, {1, 2}}, NULL, "one length a batch", SZG_EDATA},
        {{"coupled", "lengths"}, {2, 1}, {{2, 2}, {1}}, NULL, "an integer", SZG_EDATA}};
    static const double numbers[64] = {1, 2, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const refused *r = &cases[i];
        szgi_tensor tensors[3];
        int64_t count = 0;
        for (; count < 3 && r->name[count]; count++)
            tensors[count] = tensor(r->name[count], r->dims[count], r->shape[count], numbers);
        write_set(tensors, count, NULL, 0);
        const szgi_dump_options options = {.axes = r->axes};
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
    const szgi_tensor tensors[] = {tensor("q", 3, shape, x), tensor("k", 3, shape, x)};
    write_set(tensors, 2, NULL, 0);
    static const struct {
        const char *spec, *words;
        szg_status status;
    } cases[] = {{"rope:dim=8,pairing=half", "dim=4", SZG_EINVAL},
                 {"absolute:dim=4", "two passes", SZG_EDOMAIN},
                 {"alibi:heads=4", "of 4 heads", SZG_EINVAL}};
    for (int i = 0; i < 3; i++) {
        szg_encoding *encoding = encoding_of(cases[i].spec);
        const szgi_dump_options options = {.encoding = encoding};
        szg_contraction_tables tables;
        ck_szg_fails(cases[i].status, cases[i].words,
                     report_file(path_of(".safetensors"), &options, &tables));
        szg_encoding_close(&encoding);
    }
    unlink(path_of(".safetensors"));
    szgi_memory_free(x);
}
END_TEST

/* Of a dump every matrix counts, and none is left out where the file that has it is missing. */
START_TEST(an_index_without_its_file) {
    static const double numbers[4] = {1, 2, 3, 4};
    const int64_t shape[2] = {2, 2};
    const szgi_tensor coupled = tensor("coupled", 2, shape, numbers);
    szg_contraction_tables tables;
    char text[256];
    write_set(&coupled, 1, NULL, 0);
    snprintf(text, sizeof text, "{\"weight_map\":{\"coupled\":\"%s\",\"x\":\"none.safetensors\"}}",
             szgi_path_name(path_of(".safetensors")));
    FILE *file = fopen(path_of(".index.json"), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_szg_fails(SZG_EDATA, "files that it names are missing: none.safetensors: put them beside it",
                 report_file(path_of(".index.json"), NULL, &tables));
    unlink(path_of(".index.json"));
    unlink(path_of(".safetensors"));
}
END_TEST

TEST_FILE("dump_refused") {
    test_add(suite, "refused_shapes", refused_shapes);
    test_add(suite, "refused_encodings", refused_encodings);
    test_add(suite, "an_index_without_its_file", an_index_without_its_file);
}
