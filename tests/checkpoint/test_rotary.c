/* Rotary checkpoints: rows and pairs of every layout against rotations by hand, both schemas of the
 * configuration, and what must be refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { SIDE = 32 };

static const double PI = 3.14159265358979323846;

/* What an architecture's definition says, written down apart from the library's tables. */
typedef struct rotary_case {
    const char *name, *config;
    int layers, heads, key_heads, e, d;
    bool half;
    int rotary; /* dimensions that rotate */
    double base;
    double amplitude;
    double slow;  /* frequencies are divided by this; where negative, all but theta_0 */
    double scale; /* 0: 1/sqrt(e) */
    enum { SEPARATE, FUSED_HEADS, FUSED_BLOCKS, GPTJ } layout;
} rotary_case;

static const rotary_case cases[] = {
    {"llama, grouped",
     "{\"model_type\":\"llama\",\"num_hidden_layers\":2,\"num_attention_heads\":4,"
     "\"num_key_value_heads\":2,\"hidden_size\":24,\"rope_theta\":10000.0}",
     2, 4, 2, 6, 24, true, 6, 10000, 1, 1, 0, SEPARATE},
    {"llama, one key head, head_dim, newer schema",
     "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":3,"
     "\"num_key_value_heads\":1,\"hidden_size\":10,\"head_dim\":4,"
     "\"rope_parameters\":{\"rope_theta\":500,\"rope_type\":\"default\"}}",
     1, 3, 1, 4, 10, true, 4, 500, 1, 1, 0, SEPARATE},
    {"llama, key heads from the shape, linear",
     "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
     "\"hidden_size\":8,\"rope_theta\":100,\"rope_scaling\":{\"type\":\"linear\",\"factor\":4}}",
     1, 2, 1, 4, 8, true, 4, 100, 1, 4, 0, SEPARATE},
    {"mistral in a composed configuration",
     "{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"mistral\","
     "\"num_hidden_layers\":1,\"num_attention_heads\":1,\"num_key_value_heads\":1,"
     "\"hidden_size\":2,\"rope_theta\":1e6,\"rope_parameters\":{\"rope_theta\":1000000}}}",
     1, 1, 1, 2, 2, true, 2, 1e6, 1, 1, 0, SEPARATE},
    {"granite's multiplier",
     "{\"model_type\":\"granite\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
     "\"num_key_value_heads\":2,\"hidden_size\":8,\"rope_theta\":10000,"
     "\"attention_multiplier\":0.25,\"rope_scaling\":null}",
     1, 2, 2, 4, 8, true, 4, 10000, 1, 1, 0.25, SEPARATE},
    {"gemma 2's scalar",
     "{\"model_type\":\"gemma2\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
     "\"num_key_value_heads\":1,\"hidden_size\":6,\"head_dim\":4,\"rope_theta\":10000,"
     "\"query_pre_attn_scalar\":16}",
     1, 2, 1, 4, 6, true, 4, 10000, 1, 1, 0.25, SEPARATE},
    {"phi, a quarter rotates",
     "{\"model_type\":\"phi\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
     "\"hidden_size\":16,\"rope_theta\":10000,\"partial_rotary_factor\":0.5}",
     1, 2, 2, 8, 16, true, 4, 10000, 1, 1, 0, SEPARATE},
    {"phi, newer schema",
     "{\"model_type\":\"phi\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
     "\"hidden_size\":16,\"rope_parameters\":{\"rope_theta\":10000,\"rope_type\":\"default\","
     "\"partial_rotary_factor\":0.5}}",
     1, 2, 2, 8, 16, true, 4, 10000, 1, 1, 0, SEPARATE},
    {"gpt_neox: fused by head, rotary_pct",
     "{\"model_type\":\"gpt_neox\",\"num_hidden_layers\":2,\"num_attention_heads\":2,"
     "\"hidden_size\":16,\"rotary_emb_base\":10000,\"rotary_pct\":0.25}",
     2, 2, 2, 8, 16, true, 2, 10000, 1, 1, 0, FUSED_HEADS},
    {"phi3: fused by block",
     "{\"model_type\":\"phi3\",\"num_hidden_layers\":1,\"num_attention_heads\":4,"
     "\"num_key_value_heads\":2,\"hidden_size\":16,\"rope_theta\":10000,\"rope_scaling\":null}",
     1, 4, 2, 4, 16, true, 4, 10000, 1, 1, 0, FUSED_BLOCKS},
    {"gptj: interleaved, rotary_dim",
     "{\"model_type\":\"gptj\",\"n_layer\":1,\"n_head\":2,\"n_embd\":16,\"rotary_dim\":4}", 1, 2, 2,
     8, 16, false, 4, 10000, 1, 1, 0, GPTJ},
    {"cohere: interleaved",
     "{\"model_type\":\"cohere\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
     "\"num_key_value_heads\":1,\"hidden_size\":8,\"rope_theta\":8000000}",
     1, 2, 1, 4, 8, false, 4, 8e6, 1, 1, 0, SEPARATE},
    {"yarn: one pair, far beyond the ramp",
     "{\"model_type\":\"qwen2\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
     "\"num_key_value_heads\":1,\"hidden_size\":8,\"rope_theta\":10000,\"rope_scaling\":"
     "{\"rope_type\":\"yarn\",\"factor\":4,\"original_max_position_embeddings\":4,"
     "\"attention_factor\":1.5}}",
     1, 2, 1, 4, 8, true, 4, 10000, 1.5, -4, 0, SEPARATE},
};

static void add_weights(test_model *model, const rotary_case *rope) {
    for (int i = 0; i < rope->layers; i++) {
        int64_t q = rope->heads * rope->e, k = rope->key_heads * rope->e;
        switch (rope->layout) {
        case FUSED_HEADS:
            model_add(model, SZGI_DTYPE_F32, 3 * q, rope->d,
                      "gpt_neox.layers.%d.attention.query_key_value.weight", i);
            break;
        case FUSED_BLOCKS:
            model_add(model, SZGI_DTYPE_F32, q + 2 * k, rope->d,
                      "model.layers.%d.self_attn.qkv_proj.weight", i);
            break;
        case GPTJ:
            model_add(model, SZGI_DTYPE_F32, q, rope->d, "transformer.h.%d.attn.q_proj.weight", i);
            model_add(model, SZGI_DTYPE_F32, k, rope->d, "transformer.h.%d.attn.k_proj.weight", i);
            break;
        default:
            model_add(model, SZGI_DTYPE_BF16, q, rope->d, "model.layers.%d.self_attn.q_proj.weight",
                      i);
            model_add(model, SZGI_DTYPE_BF16, k, rope->d, "model.layers.%d.self_attn.k_proj.weight",
                      i);
        }
    }
}

/* base^x for -1 <= x <= 0 by two ways: the rounding of x is magnified by log(base), the power, a
 * quotient and a product follow. */
static double power_error(double base, double value) {
    return gamma_of(2 * (log(base) + 4)) * value;
}

static double theta_of(const rotary_case *rope, int t) {
    double theta = pow(rope->base, -2.0 * t / rope->rotary);
    return rope->slow < 0 && t == 0 ? theta : theta / fabs(rope->slow);
}

/* Row r of a head's queries (part 0) or of the keys that go with it (part 1), unscaled. */
static const double *weight_row(const test_model *model, const rotary_case *rope, int layer,
                                int head, int part, int64_t r) {
    int64_t e = rope->e, group = rope->heads / rope->key_heads;
    int64_t row = (part ? head / group : head) * e + r;
    const double *tensor;
    switch (rope->layout) {
    case FUSED_HEADS:
        tensor = model_value(model, "gpt_neox.layers.%d.attention.query_key_value.weight", layer);
        row = head * 3 * e + part * e + r;
        break;
    case FUSED_BLOCKS:
        tensor = model_value(model, "model.layers.%d.self_attn.qkv_proj.weight", layer);
        row += part * rope->heads * e;
        break;
    case GPTJ:
        tensor =
            model_value(model, "transformer.h.%d.attn.%s_proj.weight", layer, part ? "k" : "q");
        break;
    default:
        tensor =
            model_value(model, "model.layers.%d.self_attn.%s_proj.weight", layer, part ? "k" : "q");
    }
    return tensor + row * rope->d;
}

/* Rotates column j of e x d rows to position i as the architectures write it: x cos + turn(x) sin,
 * with turn(x) = (-x2, x1) of the halves, or of neighbours. */
static void rotate_rows(const rotary_case *rope, double position, const double *x, double *out) {
    int pairs = rope->rotary / 2;
    memcpy(out, x, sizeof *x * (size_t)(rope->e * rope->d));
    for (int t = 0; t < pairs; t++) {
        int first = rope->half ? t : 2 * t, second = rope->half ? t + pairs : 2 * t + 1;
        double angle = position * theta_of(rope, t);
        for (int j = 0; j < rope->d; j++) {
            double x1 = x[first * rope->d + j], x2 = x[second * rope->d + j];
            out[first * rope->d + j] = rope->amplitude * (x1 * cos(angle) - x2 * sin(angle));
            out[second * rope->d + j] = rope->amplitude * (x2 * cos(angle) + x1 * sin(angle));
        }
    }
}

static void load_rows(const test_model *model, const rotary_case *rope, int layer, int head,
                      double *q, double *k) {
    double scale = rope->scale ? rope->scale : 1 / sqrt(rope->e);
    for (int r = 0; r < rope->e; r++)
        for (int j = 0; j < rope->d; j++) {
            q[r * rope->d + j] = scale * weight_row(model, rope, layer, head, 0, r)[j];
            k[r * rope->d + j] = weight_row(model, rope, layer, head, 1, r)[j];
        }
}

static double inner(int count, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

/* tr(W_Q^T R_i^T R_j W_K), the mean logit of tokens with E[x_i x_j^T] = I, from the table: the sum
 * of 2 Re(rotation e^{i (i-j) theta}) over the pairs plus what does not rotate. */
static void check_mean_kernel(const szg_table *table, const rotary_case *rope, int64_t first,
                              const double *q, const double *k) {
    double rotated_q[SIDE * SIDE], rotated_k[SIDE * SIDE];
    int size = rope->e * rope->d, still = rope->rotary * rope->d;
    double norm = sqrt(inner(size, q, q) * inner(size, k, k)) * rope->amplitude * rope->amplitude;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            rotate_rows(rope, 5 * i, q, rotated_q);
            rotate_rows(rope, 3 * j, k, rotated_k);
            double want = inner(size, rotated_q, rotated_k);
            double got = inner(size - still, q + still, k + still);
            for (int64_t t = 0; t < rope->rotary / 2; t++) {
                double phase = (5 * i - 3 * j) * cell(table, first + t, "theta");
                got += 2 * (cell(table, first + t, "rotation_re") * cos(phase) -
                            cell(table, first + t, "rotation_im") * sin(phase));
            }
            /* e d products, each of numbers turned by angles up to 15 of three roundings */
            ck_close(got, want, gamma_of(size + 2 * 15 * 3 + 12) * norm);
        }
}

/* The 2x2 block and the pair's d x d matrix, entry by entry. */
static void check_pair(const szg_table *table, const rotary_case *rope, int64_t row, int t,
                       const double *q, const double *k) {
    int pairs = rope->rotary / 2, d = rope->d;
    int first = rope->half ? t : 2 * t, second = rope->half ? t + pairs : 2 * t + 1;
    const double *qs[2] = {q + first * d, q + second * d}, *ks[2] = {k + first * d, k + second * d};
    double factor = rope->amplitude * rope->amplitude, energy = 0, model_energy = 0, block[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            block[i][j] = factor * inner(d, qs[i], ks[j]);
            energy += block[i][j] * block[i][j];
        }
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double entry = factor * (qs[0][i] * ks[0][j] + qs[1][i] * ks[1][j]);
            model_energy += entry * entry;
        }
    double a = cell(table, row, "rotation_re"), b = cell(table, row, "rotation_im");
    double c = cell(table, row, "reflection_re"), s = cell(table, row, "reflection_im");
    /* Inner products of d terms; the energies are four squares of them, and d^2 squares that the
     * library makes of Gram matrices. */
    double size = factor * hypot(norm_of(d, qs[0]), norm_of(d, qs[1])) *
                  hypot(norm_of(d, ks[0]), norm_of(d, ks[1]));
    double bound = gamma_of(2 * d + 8) * size;
    double model_bound = gamma_of(d * d + 4 * d + 8) * size * size;
    ck_close(a + c, block[0][0], bound);
    ck_close(s - b, block[0][1], bound);
    ck_close(b + s, block[1][0], bound);
    ck_close(a - c, block[1][1], bound);
    ck_close(cell(table, row, "energy"), energy, 4 * bound * size);
    ck_close(cell(table, row, "energy"), 2 * (a * a + b * b + c * c + s * s), 4 * bound * size);
    ck_close(cell(table, row, "model_energy"), model_energy, model_bound);
    ck_close(cell(table, row, "theta"), theta_of(rope, t),
             power_error(rope->base, theta_of(rope, t)));
    ck_assert_int_eq((int)cell(table, row, "pair"), t);
}

static void check_case(const test_model *model, const szg_checkpoint_tables *tables,
                       const rotary_case *rope) {
    double q[SIDE * SIDE], k[SIDE * SIDE], at_zero_q[SIDE * SIDE], at_zero_k[SIDE * SIDE];
    int pairs = rope->rotary / 2;
    ck_assert_int_eq(szg_table_rows(tables->frequencies), rope->layers * rope->heads * pairs);
    for (int layer = 0; layer < rope->layers; layer++)
        for (int head = 0; head < rope->heads; head++) {
            int64_t first = (layer * rope->heads + head) * pairs;
            load_rows(model, rope, layer, head, q, k);
            rotate_rows(rope, 0, q, at_zero_q);
            rotate_rows(rope, 0, k, at_zero_k);
            oracle_head oracle = {rope->e, rope->d, at_zero_q, at_zero_k};
            double *dense = oracle_product(&oracle, 0, NULL);
            check_spectra(tables, layer, head, "qk", rope->d, dense,
                          oracle_error(&oracle, 0, NULL));
            check_rank(tables, layer, head, "qk", rope->d, rope->e,
                       head / (rope->heads / rope->key_heads), dense,
                       oracle_error(&oracle, 0, NULL));
            free(dense);
            check_mean_kernel(tables->frequencies, rope, first, q, k);
            for (int t = 0; t < pairs; t++) {
                ck_assert_int_eq((int)cell(tables->frequencies, first + t, "layer"), layer);
                ck_assert_int_eq((int)cell(tables->frequencies, first + t, "head"), head);
                check_pair(tables->frequencies, rope, first + t, t, q, k);
            }
        }
}

START_TEST(rotary_heads) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        model_open(&model);
        add_weights(&model, &cases[i]);
        model_write(&model, cases[i].config);
        szg_status status = szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint);
        ck_assert_msg(status == SZG_OK, "%s: %s", cases[i].name,
                      szg_context_message(test_context()));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        ck_assert_int_eq(tables.bad, 0);
        check_case(&model, &tables, &cases[i]);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* ---- Layers that differ ---- */

static szg_checkpoint *open_llama(test_model *model, int layers, const char *config) {
    szg_checkpoint *checkpoint;
    for (int i = 0; i < layers; i++) {
        model_add(model, SZGI_DTYPE_F32, 8, 8, "model.layers.%d.self_attn.q_proj.weight", i);
        model_add(model, SZGI_DTYPE_F32, 8, 8, "model.layers.%d.self_attn.k_proj.weight", i);
    }
    model_write(model, config);
    ck_szg_ok(szg_checkpoint_open(test_context(), model->folder, NULL, &checkpoint));
    return checkpoint;
}

/* theta_1 of a layer, 0 where it does not rotate. */
static double second_theta(const szg_checkpoint *checkpoint, int64_t layer) {
    szgi_rotary rotary;
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &rotary));
    return rotary.pairs > 1 ? rotary.theta[1] : 0;
}

#define SIZES                                                                                      \
    "\"num_hidden_layers\":4,\"num_attention_heads\":1,\"num_key_value_heads\":1,"                 \
    "\"hidden_size\":8,\"head_dim\":8,\"query_pre_attn_scalar\":8"

START_TEST(layers_with_their_own_base) {
    static const char *const configs[] = {
        "{\"model_type\":\"gemma3_text\"," SIZES ",\"rope_theta\":1e8,"
        "\"rope_local_base_freq\":1e4,\"sliding_window_pattern\":2,"
        "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8}}",
        "{\"model_type\":\"gemma3_text\"," SIZES ",\"rope_theta\":1e8,"
        "\"rope_local_base_freq\":1e4,\"layer_types\":[\"sliding_attention\",\"full_attention\","
        "\"sliding_attention\",\"full_attention\"],"
        "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8}}",
        "{\"model_type\":\"gemma3_text\"," SIZES ",\"rope_parameters\":{"
        "\"full_attention\":{\"rope_theta\":1e8,\"rope_type\":\"linear\",\"factor\":8},"
        "\"sliding_attention\":{\"rope_theta\":1e4,\"rope_type\":\"default\"}},"
        "\"layer_types\":[\"sliding_attention\",\"full_attention\","
        "\"sliding_attention\",\"full_attention\"]}",
        /* rope_scaling again, in agreement with the layer type that it is for */
        "{\"model_type\":\"gemma3_text\"," SIZES ",\"rope_parameters\":{"
        "\"full_attention\":{\"rope_theta\":1e8,\"rope_type\":\"linear\",\"factor\":8},"
        "\"sliding_attention\":{\"rope_theta\":1e4,\"rope_type\":\"default\"}},"
        "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8},"
        "\"layer_types\":[\"sliding_attention\",\"full_attention\","
        "\"sliding_attention\",\"full_attention\"]}"};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        test_model model;
        model_open(&model);
        szg_checkpoint *checkpoint = open_llama(&model, 4, configs[i]);
        for (int layer = 0; layer < 4; layer++)
            ck_close(second_theta(checkpoint, layer),
                     layer % 2 ? pow(1e8, -0.25) / 8 : pow(1e4, -0.25), power_error(1e8, 0.1));
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

START_TEST(layers_that_do_not_rotate) {
    static const char *const configs[] = {
        "{\"model_type\":\"smollm3\"," SIZES ",\"rope_theta\":1e4,\"no_rope_layer_interval\":2}",
        "{\"model_type\":\"smollm3\"," SIZES ",\"rope_theta\":1e4,\"no_rope_layers\":[1,0,1,0]}"};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        test_model model;
        szg_checkpoint_tables tables;
        model_open(&model);
        szg_checkpoint *checkpoint = open_llama(&model, 4, configs[i]);
        for (int layer = 0; layer < 4; layer++)
            ck_close(second_theta(checkpoint, layer), layer % 2 ? 0 : 0.1,
                     layer % 2 ? 0 : power_error(1e4, 0.1));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        ck_assert_int_eq(szg_table_rows(tables.frequencies), 2 * 4);
        ck_assert_int_eq(szg_table_rows(tables.notes), 3); /* one of the embeddings */
        ck_noted(&tables, 1, -1, "", "does not rotate");
        ck_noted(&tables, 3, -1, "", "does not rotate");
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

START_TEST(scaled_frequencies) {
    /* llama3, factor 8, bands 1 and 4, 8192 positions, base 10000, e = 8: theta = 1, .1, .01, .001
     * make 1303.8, 130.38, 13.038, 1.3038 turns: all above 4 but the last, which is mixed. */
    test_model model;
    szgi_rotary rotary;
    model_open(&model);
    szg_checkpoint *checkpoint = open_llama(
        &model, 4,
        "{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"rope_scaling\":{"
        "\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,"
        "\"original_max_position_embeddings\":8192}}");
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 3, &rotary));
    double smooth = (8192 * 0.001 / (2 * PI) - 1) / 3;
    ck_close(rotary.theta[2], 0.01, power_error(1e4, 0.01));
    ck_close(rotary.theta[3], 0.001 * ((1 - smooth) / 8 + smooth), power_error(1e4, 0.001));
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
    /* dynamic: within the trained length nothing changes. */
    model_open(&model);
    checkpoint = open_llama(&model, 4,
                            "{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,"
                            "\"max_position_embeddings\":2048,"
                            "\"rope_scaling\":{\"type\":\"dynamic\",\"factor\":2}}");
    ck_close(second_theta(checkpoint, 0), 0.1, power_error(1e4, 0.1));
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
    /* proportional: a factor divides what rotates. */
    model_open(&model);
    checkpoint = open_llama(&model, 4,
                            "{\"model_type\":\"llama\"," SIZES ",\"rope_parameters\":{"
                            "\"rope_theta\":10000,\"rope_type\":\"proportional\",\"factor\":8,"
                            "\"partial_rotary_factor\":0.5}}");
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
    ck_close(rotary.theta[1], 0.1 / 8, power_error(1e4, 0.1 / 8));
    ck_assert(rotary.theta[2] == 0);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

START_TEST(attention_factors_of_yarn) {
    static const struct {
        const char *keys;
        double amplitude;
    } factors[] = {{"", 0.1 * 1.3862943611198906 + 1},
                   {",\"attention_factor\":0.75", 0.75},
                   {",\"mscale\":1,\"mscale_all_dim\":0.5",
                    (0.1 * 1.3862943611198906 + 1) / (0.05 * 1.3862943611198906 + 1)}};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        test_model model;
        char config[512];
        szgi_rotary rotary;
        model_open(&model);
        snprintf(config, sizeof config,
                 "{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"rope_scaling\":{"
                 "\"rope_type\":\"yarn\",\"factor\":4,"
                 "\"original_max_position_embeddings\":64%s}}",
                 factors[i].keys);
        szg_checkpoint *checkpoint = open_llama(&model, 4, config);
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
        /* two logarithms, products and sums, and a quotient */
        ck_close(rotary.amplitude, factors[i].amplitude, gamma_of(7) * factors[i].amplitude);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* ---- What is refused ---- */

#define NESTED                                                                                     \
    "\"full_attention\":{\"rope_theta\":1e8,\"rope_type\":\"linear\",\"factor\":8},"               \
    "\"sliding_attention\":{\"rope_theta\":1e4,\"rope_type\":\"default\"}"

static const struct {
    const char *config, *words;
} refused[] = {
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":null}",
     "rope_theta: is missing, and nothing is assumed: --set rope_theta=VALUE gives it"},
    {"{\"text_config\":{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":null}}",
     "--set text_config.rope_theta=VALUE"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":-1}", "positive"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":\"10000\"}", "rope_theta"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":0.5}", "base"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_parameters\":{\"rope_theta\":500000}}",
     "10000"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_parameters\":{\"rope_type\":\"default\",\"rope_theta\":null}}",
     "rope_theta"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_parameters\":[]}", "rope_parameters"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"spiral\"}}",
     "'spiral'"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"rope_scaling\":{\"factor\":8}}",
     "rope_type"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_parameters\":{\"rope_theta\":10000,\"factor\":8}}",
     "rope_type"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"linear\"}}",
     "factor"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":0.5}}",
     "factor"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":4},"
     "\"rope_parameters\":{\"rope_type\":\"yarn\",\"rope_theta\":10000}}",
     "rope_scaling"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":4},"
     "\"rope_parameters\":{\"rope_type\":\"linear\",\"rope_theta\":10000,\"factor\":8}}",
     "rope_scaling it is 4"},
    {"{\"model_type\":\"gemma3_text\"," SIZES ",\"rope_parameters\":{" NESTED
     "},\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":4}}",
     "rope_scaling it is 4"},
    {"{\"model_type\":\"gemma3_text\"," SIZES ",\"rope_parameters\":{" NESTED
     "},\"rope_scaling\":{\"rope_type\":\"dynamic\",\"factor\":8}}",
     "rope_scaling: is of type 'dynamic', but rope_parameters"},
    {"{\"model_type\":\"gemma3_text\"," SIZES ",\"rope_parameters\":{" NESTED
     "},\"rope_scaling\":\"linear\"}",
     "rope_scaling"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8}}",
     "low_freq_factor"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":8}}",
     "original_max_position_embeddings"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":8,"
     "\"original_max_position_embeddings\":64,\"truncate\":\"no\"}}",
     "truncate"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":8,"
     "\"original_max_position_embeddings\":64,\"truncate\":false,\"beta_fast\":1,"
     "\"beta_slow\":32}}",
     "no ramp"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"longrope\","
     "\"short_factor\":[1,1,1],\"long_factor\":[1,1,1,1]}}",
     "short_factor: has 3 entries for 4 rotary pairs"},
    {"{\"model_type\":\"llama\"," SIZES
     ",\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":\"longrope\","
     "\"short_factor\":[1,1,0,1],\"long_factor\":[1,1,1,1]}}",
     "short_factor[2]: is 0"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"partial_rotary_factor\":1.5}",
     "may not exceed 1"},
    {"{\"model_type\":\"phi\"," SIZES ",\"rope_theta\":10000,\"partial_rotary_factor\":0.4}",
     "odd"},
    /* Keys of other architectures, which these models' classes do not read. */
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"partial_rotary_factor\":0.5}",
     "'llama' rotates the whole head"},
    {"{\"model_type\":\"qwen3\"," SIZES ",\"rope_parameters\":{\"rope_theta\":10000,"
     "\"rope_type\":\"default\",\"partial_rotary_factor\":0.5}}",
     "'qwen3' rotates the whole head"},
    {"{\"model_type\":\"cohere\"," SIZES ",\"rope_theta\":10000,\"rotary_pct\":0.25}",
     "rotary_pct"},
    {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"no_rope_layer_interval\":4}",
     "no_rope_layer_interval: takes the rotation from layer 3, but model_type 'llama'"},
    {"{\"model_type\":\"qwen3\"," SIZES ",\"rope_theta\":10000,\"no_rope_layers\":[1,1,0,1]}",
     "no_rope_layers: takes the rotation from layer 2"},
    {"{\"model_type\":\"phi\"," SIZES ",\"rope_theta\":10000,\"partial_rotary_factor\":null}",
     "partial_rotary_factor"},
    {"{\"model_type\":\"smollm3\"," SIZES ",\"rope_theta\":10000,\"no_rope_layer_interval\":null}",
     "no_rope_layer_interval"},
    {"{\"model_type\":\"smollm3\"," SIZES ",\"rope_theta\":10000,\"no_rope_layers\":[1]}",
     "4 layers"},
    {"{\"model_type\":\"gemma3_text\"," SIZES
     ",\"rope_theta\":10000,\"rope_local_base_freq\":null}",
     "rope_local_base_freq"},
    {"{\"model_type\":\"gemma3_text\"," SIZES
     ",\"rope_theta\":10000,\"rope_local_base_freq\":10000,\"sliding_window_pattern\":null}",
     "sliding_window_pattern"},
    {"{\"model_type\":\"gemma3_text\"," SIZES
     ",\"rope_parameters\":{\"full_attention\":{\"rope_theta\":10000}}}",
     "layer_types"},
    {"{\"model_type\":\"gemma2\",\"num_hidden_layers\":4,\"num_attention_heads\":1,"
     "\"hidden_size\":8,\"rope_theta\":10000,\"query_pre_attn_scalar\":null}",
     "query_pre_attn_scalar"},
    {"{\"model_type\":\"granite\"," SIZES ",\"rope_theta\":10000,\"attention_multiplier\":null}",
     "attention_multiplier"},
    {"{\"model_type\":\"llama\",\"num_hidden_layers\":null,\"num_attention_heads\":1,\"hidden_"
     "size\":8}",
     "num_hidden_layers"},
    {"{\"model_type\":\"llama\",\"num_hidden_layers\":4,\"num_attention_heads\":null,\"hidden_"
     "size\":8}",
     "num_attention_heads"},
    {"{\"model_type\":\"llama\",\"num_hidden_layers\":4,\"num_attention_heads\":1,\"hidden_size\":"
     "null}",
     "hidden_size"},
    {"{\"model_type\":\"llama\",\"num_hidden_layers\":4,\"num_attention_heads\":3,"
     "\"hidden_size\":8,\"rope_theta\":10000}",
     "do not divide"},
    {"{\"model_type\":\"llama\",\"num_hidden_layers\":4,\"num_attention_heads\":2,"
     "\"num_key_value_heads\":3,\"hidden_size\":8,\"rope_theta\":10000}",
     "do not divide"},
    {"{\"model_type\":\"llama\",\"num_hidden_layers\":0,\"num_attention_heads\":1,"
     "\"hidden_size\":8}",
     "at least 1"},
    {"{\"model_type\":\"llama\",\"num_hidden_layers\":4611686018427387904,"
     "\"num_attention_heads\":1,\"hidden_size\":8}",
     "may exceed"},
    {"{\"model_type\":\"llama\",\"num_hidden_layers\":4,\"num_attention_heads\":1,"
     "\"hidden_size\":8,\"head_dim\":4611686018427387904,\"rope_theta\":10000}",
     "may not exceed"},
    {"{\"model_type\":\"gptj\",\"num_hidden_layers\":4,\"n_layer\":5,\"n_head\":1,\"n_embd\":8}",
     "two names"},
    /* another family's key is none of this one */
    {"{\"model_type\":\"llama\",\"n_layer\":4,\"num_attention_heads\":1,\"hidden_size\":8,"
     "\"rope_theta\":10000}",
     "num_hidden_layers: is missing"},
    {"{\"model_type\":\"bert\"," SIZES "}", "no tensor is called"},
    {"{\"model_type\":7}", "model_type"},
    {"[]", "config.json"},
    {"{\"model_type\":\"llama\",\"model_type\":\"bert\"}", "model_type"},
};

/* A key that an architecture lacks does no harm where it changes nothing; Phi-3 has one of them. */
START_TEST(keys_that_change_nothing) {
    static const struct {
        const char *config;
        int64_t pairs;
    } harmless[] = {
        {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"partial_rotary_factor\":1}",
         4},
        {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"no_rope_layer_interval\":5}",
         4},
        {"{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000,\"no_rope_layers\":[1,1,1,1]}",
         4},
        {"{\"model_type\":\"phi3\"," SIZES ",\"rope_theta\":10000,\"partial_rotary_factor\":0.5}",
         2},
    };
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        test_model model;
        szgi_rotary rotary;
        szg_checkpoint *checkpoint;
        model_open(&model);
        if (strstr(harmless[i].config, "phi3")) {
            for (int layer = 0; layer < 4; layer++)
                model_add(&model, SZGI_DTYPE_F32, 24, 8, "layers.%d.self_attn.qkv_proj.weight",
                          layer);
            model_write(&model, harmless[i].config);
            ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        } else {
            checkpoint = open_llama(&model, 4, harmless[i].config);
        }
        for (int layer = 0; layer < 4; layer++) {
            ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &rotary));
            ck_assert_int_eq(rotary.pairs, harmless[i].pairs);
        }
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

START_TEST(configurations_that_are_refused) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    checkpoint = open_llama(&model, 4, "{\"model_type\":\"llama\"," SIZES ",\"rope_theta\":10000}");
    szg_checkpoint_close(&checkpoint);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        model_write_text(&model, "config.json", refused[i].config);
        szg_status status = szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint);
        ck_assert_msg(status == SZG_EDATA, "%s: %s", refused[i].config, szg_status_name(status));
        ck_assert_msg(strstr(szg_context_message(test_context()), refused[i].words),
                      "%s: '%s' lacks '%s'", refused[i].config, szg_context_message(test_context()),
                      refused[i].words);
        ck_assert_ptr_null(checkpoint);
    }
    model_close(&model);
}
END_TEST

TEST_FILE("rotary") {
    test_add(suite, "rotary_heads", rotary_heads);
    test_add(suite, "layers_with_their_own_base", layers_with_their_own_base);
    test_add(suite, "layers_that_do_not_rotate", layers_that_do_not_rotate);
    test_add(suite, "scaled_frequencies", scaled_frequencies);
    test_add(suite, "attention_factors_of_yarn", attention_factors_of_yarn);
    test_add(suite, "keys_that_change_nothing", keys_that_change_nothing);
    test_add(suite, "configurations_that_are_refused", configurations_that_are_refused);
}
