/* Parameters: names, shapes, order, initial values; operations counted. */
#include "plugin/backend.h"
#include "decoder_support.h"

/* "name rows[xcolumns]" of every parameter in the arena's order, one a line. */
static char *listing_of(const szg_model *model) {
    static char text[1 << 14];
    size_t used = 0;
    int64_t offset = 0;
    for (int64_t i = 0; i < szgi_model_parameters(model); i++) {
        const szgi_parameter *p = szgi_model_parameter(model, i);
        ck_assert_int_eq(p->offset, offset);
        ck_assert_int_eq(p->count, p->shape[0] * (p->dims == 2 ? p->shape[1] : 1));
        ck_assert(szgi_model_find(model, p->name) == p);
        long long layer = -1;
        sscanf(p->name, "layers.%lld.", &layer);
        ck_assert_int_eq(p->layer, layer);
        offset += p->count;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %lld", p->name,
                                 (long long)p->shape[0]);
        if (p->dims == 2)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "x%lld", (long long)p->shape[1]);
        used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    }
    ck_assert_int_eq(offset, szgi_model_count(model));
    ck_assert_ptr_null(szgi_model_parameter(model, szgi_model_tensors(model)));
    ck_assert_ptr_null(szgi_model_parameter(model, -1));
    ck_assert_ptr_null(szgi_model_find(model, "layers.0"));
    return text;
}

static void check_listing(szg_profile profile, const char *encoding, const char *const *overrides,
                          const char *want) {
    szg_train_config config = small_config(profile, encoding, overrides);
    config.model.layers = 1;
    szg_model *model;
    ck_szg_ok(szgi_model_open(test_context(), &config, CLASSES, &model));
    ck_assert_str_eq(listing_of(model), want);
    szg_model_close(test_context(), &model);
    ck_assert_ptr_null(model);
}

#define NORM(name) name ".weight 8\n" name ".bias 8\n"
#define FEED(outer)                                                                                \
    NORM("layers.0.norm2")                                                                         \
    "layers.0.ffn.0.weight 12x8\nlayers.0.ffn.0.bias 12\n"                                         \
    "layers.0.ffn." outer ".weight 8x12\nlayers.0.ffn." outer ".bias 8\n"
#define QKV                                                                                        \
    "layers.0.q_linear.weight 8x8\nlayers.0.k_linear.weight 8x8\nlayers.0.v_linear.weight 8x8\n"   \
    "layers.0.q_linear.bias 8\nlayers.0.k_linear.bias 8\nlayers.0.v_linear.bias 8\n"
#define OUT "layers.0.out_linear.weight 8x8\nlayers.0.out_linear.bias 8\n"
#define LATENT(queries)                                                                            \
    "layers.0.attn.W_DQ.weight 6x8\nlayers.0.attn.W_DKV.weight 5x8\n"                              \
    "layers.0.attn.W_KR.weight 4x8\nlayers.0.attn.W_UQ.weight 8x6\n"                               \
    "layers.0.attn.W_QR.weight " queries "x6\nlayers.0.attn.W_UK.weight 8x5\n"                     \
    "layers.0.attn.W_UV.weight 8x5\nlayers.0.attn.out_proj.weight 8x8\n"

/* The names are those of the released checkpoints, shapes PyTorch's. */
START_TEST(names_and_shapes) {
    check_listing(SZG_PROFILE_TEXT, "rope", NULL,
                  "embedding.weight 11x8\n" NORM("layers.0.norm1") QKV OUT FEED("2") //
                  "fc_out.weight 5x8\nfc_out.bias 5\n");
    check_listing(SZG_PROFILE_RELEASED, "relative", NULL,
                  "embedding.weight 11x8\n" NORM("layers.0.norm1") QKV
                  "layers.0.relative_bias_table 13x2\n" OUT FEED("2") //
                  "fc_out.weight 11x8\nfc_out.bias 11\n");
    check_listing(SZG_PROFILE_RELEASED, "random", NULL,
                  "embedding.weight 11x8\nposition_encoding.position_embeddings.weight 7x8\n" //
                  NORM("layers.0.norm1") QKV OUT FEED("2") "fc_out.weight 11x8\nfc_out.bias 11\n");
    check_listing(SZG_PROFILE_TEXT, "random", NULL,
                  "embedding.weight 11x8\n" NORM("layers.0.norm1") QKV OUT FEED("2") //
                  "fc_out.weight 5x8\nfc_out.bias 5\n");
    check_listing(SZG_PROFILE_RELEASED, "mla", NULL,
                  "embedding.weight 11x8\npos_embed 7x8\n" NORM("layers.0.norm1") LATENT("4")
                      FEED("3") NORM("ln_f") "fc_out.weight 11x8\nfc_out.bias 11\n");
    check_listing(SZG_PROFILE_TEXT, "mla", NULL,
                  "embedding.weight 11x8\n" NORM("layers.0.norm1") LATENT("8") FEED("3") //
                  "fc_out.weight 5x8\nfc_out.bias 5\n");
    check_listing(SZG_PROFILE_TEXT, "t5:buckets=8", (const char *const[]){"biases=none", NULL},
                  "embedding.weight 11x8\n" NORM("layers.0.norm1") //
                  "layers.0.q_linear.weight 8x8\nlayers.0.k_linear.weight 8x8\n"
                  "layers.0.v_linear.weight 8x8\nlayers.0.relative_bias_table 8x2\n"
                  "layers.0.out_linear.weight 8x8\n" NORM("layers.0.norm2") //
                  "layers.0.ffn.0.weight 12x8\nlayers.0.ffn.2.weight 8x12\nfc_out.weight 5x8\n");
}
END_TEST

/* ---- Initial values ---- */

typedef struct statistics {
    double mean, deviation, least, most;
} statistics;

static statistics statistics_of(const szg_model *model, const char *name) {
    const szgi_parameter *p = szgi_model_find(model, name);
    ck_assert_msg(p != NULL, "%s", name);
    double *x = new_numbers(p->count);
    ck_szg_ok(
        szgi_model_read(test_context(), model, szgi_model_arena(model), p->offset, p->count, x));
    statistics s = {.least = x[0], .most = x[0]};
    for (int64_t i = 0; i < p->count; i++) {
        s.mean += x[i] / (double)p->count;
        s.least = fmin(s.least, x[i]);
        s.most = fmax(s.most, x[i]);
    }
    for (int64_t i = 0; i < p->count; i++)
        s.deviation += (x[i] - s.mean) * (x[i] - s.mean) / (double)p->count;
    s.deviation = sqrt(s.deviation);
    szgi_memory_free(x);
    return s;
}

/* Mean and deviation within five standard errors of `count` draws of deviation d: d/sqrt(count),
 * and at most d/sqrt(count) again (normal: d/sqrt(2 count); uniform: less). */
static void check_draw(const szg_model *model, const char *name, double deviation, double bound) {
    statistics s = statistics_of(model, name);
    double error = 5 * deviation / sqrt((double)szgi_model_find(model, name)->count);
    ck_close(s.mean, 0, error);
    ck_close(s.deviation, deviation, error);
    ck_assert_msg(s.least >= -bound && s.most <= bound, "%s: %g .. %g", name, s.least, s.most);
}

static void check_uniform(const szg_model *model, const char *name, double fan_in) {
    double bound = 1 / sqrt(fan_in);
    check_draw(model, name, bound / sqrt(3), (double)(float)bound);
}

static szg_model *initialised(szg_profile profile, const char *encoding, uint64_t seed) {
    szg_train_config config;
    szg_model *model;
    ck_szg_ok(szgi_train_config_profile(test_context(), profile, encoding, &config));
    config.model.layers = 2;
    ck_szg_ok(szgi_model_open(test_context(), &config, 72, &model));
    ck_szg_ok(szgi_model_initialise(test_context(), model, seed));
    return model;
}

START_TEST(initial_values) {
    szg_model *model = initialised(SZG_PROFILE_TEXT, "relative", 1);
    check_draw(model, "embedding.weight", 1, 6);
    check_uniform(model, "layers.0.q_linear.weight", 256);
    check_uniform(model, "layers.1.v_linear.bias", 256);
    check_uniform(model, "layers.1.ffn.0.weight", 256);
    check_uniform(model, "layers.0.ffn.2.weight", 512);
    check_uniform(model, "layers.0.ffn.2.bias", 512);
    check_uniform(model, "fc_out.weight", 256);
    check_draw(model, "layers.1.relative_bias_table", 0.02, 0.12);
    statistics ones = statistics_of(model, "layers.0.norm1.weight");
    ck_assert(ones.least == 1 && ones.most == 1);
    statistics zeros = statistics_of(model, "layers.1.norm2.bias");
    ck_assert(zeros.least == 0 && zeros.most == 0);
    szg_model_close(test_context(), &model);
    model = initialised(SZG_PROFILE_RELEASED, "mla", 1);
    check_uniform(model, "layers.0.attn.W_UQ.weight", 128);
    check_uniform(model, "layers.0.attn.W_KR.weight", 256);
    statistics table = statistics_of(model, "pos_embed");
    ck_assert(table.least == 0 && table.most == 0);
    szg_model_close(test_context(), &model);
    model = initialised(SZG_PROFILE_RELEASED, "random", 1);
    check_draw(model, "position_encoding.position_embeddings.weight", 1, 6);
    szg_model_close(test_context(), &model);
    model = initialised(SZG_PROFILE_TEXT, "learned", 1);
    check_draw(model, "position_encoding.position_embeddings.weight", 0.02, 0.12);
    szg_model_close(test_context(), &model);
}
END_TEST

static double *all_numbers(szg_model *model) {
    double *x = new_numbers(szgi_model_count(model));
    ck_szg_ok(szgi_model_read(test_context(), model, szgi_model_arena(model), 0,
                              szgi_model_count(model), x));
    return x;
}

/* Whether two parameters hold the same numbers. */
static bool alike(const szg_model *a, const double *x, const char *p, const szg_model *b,
                  const double *y, const char *q) {
    const szgi_parameter *left = szgi_model_find(a, p), *right = szgi_model_find(b, q);
    ck_assert(left && right && left->count == right->count);
    return memcmp(x + left->offset, y + right->offset, (size_t)left->count * sizeof *x) == 0;
}

/* The seed decides every number; layers and parameters differ; numbers that a SPEC gives stay. */
START_TEST(seeds) {
    const char *first = "layers.0.relative_bias_table", *second = "layers.1.relative_bias_table";
    szg_model *a = initialised(SZG_PROFILE_TEXT, "relative", 1);
    szg_model *b = initialised(SZG_PROFILE_TEXT, "relative", 2);
    szg_model *given = initialised(SZG_PROFILE_TEXT, "relative:seed=9", 2);
    double *x = all_numbers(a), *y = all_numbers(b), *z = all_numbers(given);
    ck_szg_ok(szgi_model_initialise(test_context(), b, 1));
    double *again = all_numbers(b);
    ck_assert(memcmp(x, again, (size_t)szgi_model_count(a) * sizeof *x) == 0);
    ck_assert(!alike(a, x, "fc_out.weight", b, y, "fc_out.weight"));
    ck_assert(!alike(a, x, "layers.0.q_linear.weight", a, x, "layers.1.q_linear.weight"));
    ck_assert(!alike(a, x, first, b, y, first) && !alike(a, x, first, a, x, second));
    ck_assert(alike(given, z, first, given, z, second));
    ck_assert(alike(b, y, "fc_out.weight", given, z, "fc_out.weight"));
    szgi_memory_free(x);
    szgi_memory_free(y);
    szgi_memory_free(z);
    szgi_memory_free(again);
    szg_model_close(test_context(), &a);
    szg_model_close(test_context(), &b);
    szg_model_close(test_context(), &given);
}
END_TEST

/* What is written is read back, on either side of the parts that conversions go in. */
START_TEST(read_and_write) {
    enum { COUNT = 70000, START = 1234 };
    static const char *const tables[] = {"cpu", "reference64"};
    for (int i = 0; i < 2; i++) {
        szgi_context_set_ops(test_context(), i ? szgi_ops_reference64() : szgi_ops_cpu());
        szg_model *model = initialised(SZG_PROFILE_TEXT, "nope", 3);
        double *before = all_numbers(model), *values = new_numbers(COUNT);
        for (int64_t at = 0; at < COUNT; at++)
            values[at] = i ? 1.0 / (double)(at + 3) : (double)(float)(1.0 / (double)(at + 3));
        ck_szg_ok(
            szgi_model_write(test_context(), model, szgi_model_arena(model), START, COUNT, values));
        double *after = all_numbers(model);
        memcpy(before + START, values, COUNT * sizeof *values);
        ck_assert_msg(memcmp(before, after, (size_t)szgi_model_count(model) * sizeof *after) == 0,
                      "%s", tables[i]);
        ck_szg_fails(SZG_EINVAL, "outside the arena",
                     szgi_model_read(test_context(), model, szgi_model_arena(model),
                                     szgi_model_count(model), 1, values));
        ck_szg_fails(
            SZG_EINVAL, "outside the arena",
            szgi_model_write(test_context(), model, szgi_model_arena(model), -1, 1, values));
        szgi_memory_free(before);
        szgi_memory_free(after);
        szgi_memory_free(values);
        szg_model_close(test_context(), &model);
    }
    szgi_context_set_ops(test_context(), NULL);
}
END_TEST

/* ---- Operations ---- */

/* The paper's size: 6 layers of 4 products 256 x 256 and two 256 x 512, attention's two products of
 * 128 keys by 256, and the classes once a sequence. */
START_TEST(operations) {
    szg_train_config config;
    szg_model *model;
    ck_szg_ok(szgi_train_config_profile(test_context(), SZG_PROFILE_TEXT, "rope", &config));
    ck_szg_ok(szgi_model_open(test_context(), &config, 72, &model));
    szgi_model_operations counted = szgi_model_operations_per_token(model);
    double layer = 4 * 256 * 256 + 2 * 256 * 512 + 2 * 128 * 256;
    ck_close(counted.forward, 2 * (6 * layer + 72 * 256 / 128.0), 1e-6);
    ck_close(counted.training, 3 * counted.forward, 1e-6);
    szg_model_close(test_context(), &model);
    ck_szg_ok(szgi_train_config_profile(test_context(), SZG_PROFILE_TEXT, "mla", &config));
    ck_szg_ok(szgi_model_open(test_context(), &config, 72, &model));
    double down = 256 * (128 + 128 + 16), up = 128 * 4 * 256, attention = 128 * (512 + 256);
    layer = down + up + 256 * 256 + 2 * 256 * 512 + attention;
    ck_close(szgi_model_operations_per_token(model).forward, 2 * (6 * layer + 72 * 256 / 128.0),
             1e-6);
    szg_model_close(test_context(), &model);
}
END_TEST

/* ---- Refusals ---- */

START_TEST(refusals) {
    static const struct {
        const char *encoding, *words;
    } cases[] = {{"rope:dim=6", "dim=6 contradicts the model"},
                 {"alibi:heads=3", "heads=3 contradicts"},
                 {"absolute:dim=4", "dim=4 contradicts"},
                 {"rope+absolute:input=4", "input=4 contradicts"},
                 {"mla:rope=3", "rope=3 is odd"},
                 {"rope-bias:heads=3", "heads=3 contradicts"},
                 {"rope:bands=heads,band_shift=2", "band_shift=2 is outside 0 .. 1"},
                 {"nonsense", "\"nonsense\" is unknown"}};
    szg_model *model;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_train_config config = small_config(SZG_PROFILE_TEXT, "nope", NULL);
        snprintf(config.model.encoding, sizeof config.model.encoding, "%s", cases[i].encoding);
        ck_szg_fails(SZG_EINVAL, cases[i].words,
                     szgi_model_open(test_context(), &config, CLASSES, &model));
        ck_assert_ptr_null(model);
    }
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "nope", NULL);
    config.model.heads = 3;
    ck_szg_fails(SZG_EINVAL, "width=8 is not a multiple of heads=3",
                 szgi_model_open(test_context(), &config, CLASSES, &model));
    config.model.width = config.model.heads = 32;
    snprintf(config.model.encoding, sizeof config.model.encoding, "mla:rope=1048576");
    ck_szg_fails(SZG_EINVAL,
                 "rope=1048576 of model.encoding=mla:rope=1048576: each may be at most "
                 "524288 with heads=32",
                 szgi_model_open(test_context(), &config, CLASSES, &model));
    config.model.width = 8;
    config.model.heads = 2;
    snprintf(config.model.encoding, sizeof config.model.encoding, "nope");
    ck_szg_fails(SZG_EINVAL, "classes=0", szgi_model_open(test_context(), &config, 0, &model));
    config.model.width = 6;
    config.model.added_sinusoid = SZG_SINUSOID_HALVES;
    ck_szg_ok(szgi_model_open(test_context(), &config, CLASSES, &model));
    szg_model_close(test_context(), &model);
    config.model.width = 7;
    config.model.heads = 1;
    ck_szg_fails(SZG_EINVAL, "even width",
                 szgi_model_open(test_context(), &config, CLASSES, &model));
}
END_TEST

TEST_FILE("model") {
    test_add(suite, "names_and_shapes", names_and_shapes);
    test_add(suite, "initial_values", initial_values);
    test_add(suite, "seeds", seeds);
    test_add(suite, "read_and_write", read_and_write);
    test_add(suite, "operations", operations);
    test_add(suite, "refusals", refusals);
}
