/* GGUF files against safetensors of the same model: what llama.cpp's converter writes, written down
 * here apart from the library's tables. Each head is compared with brute force too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gguf_model.h"

typedef struct gguf_case {
    const char *architecture, *config; /* config.json after the sizes */
    int layers, heads, key_heads, e, d;
    enum { SEPARATE, CONV1D, FUSED_HEADS, FUSED_BLOCKS, BERT, FALCON } layout; /* of safetensors */
    bool fused, permuted;                                                      /* of GGUF */
    double scale;                                                              /* 0: 1/sqrt(e) */
    key_value keys[12];
    const char *note; /* NULL, or words of the note */
} gguf_case;

#define THETA "\"rope_theta\":10000"

static const gguf_case cases[] = {
    {"llama",
     "\"model_type\":\"llama\",\"rope_theta\":500000",
     2,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     true,
     0,
     {BASE(500000), INT("rope.dimension_count", 8)},
     NULL},
    {"llama",
     "\"model_type\":\"mistral\"," THETA,
     1,
     2,
     2,
     6,
     12,
     SEPARATE,
     false,
     true,
     0,
     {NUM("attention.scale", 0)},
     "no llama.rope.freq_base: llama.cpp's 10000 is taken"},
    {"llama",
     "\"model_type\":\"llama\"," THETA ",\"rope_scaling\":{\"type\":\"linear\","
     "\"factor\":4}",
     1,
     2,
     1,
     4,
     8,
     SEPARATE,
     false,
     true,
     0,
     {BASE(10000), TXT("rope.scaling.type", "linear"), NUM("rope.scaling.factor", 4)},
     NULL},
    {"llama",
     "\"model_type\":\"llama\"," THETA ",\"rope_scaling\":{\"type\":\"linear\","
     "\"factor\":2}",
     1,
     2,
     1,
     4,
     8,
     SEPARATE,
     false,
     true,
     0,
     {BASE(10000), NUM("rope.scale_linear", 2)},
     NULL},
    {"llama",
     "\"model_type\":\"llama\"," THETA,
     1,
     2,
     1,
     4,
     8,
     SEPARATE,
     false,
     true,
     0,
     {BASE(10000), TXT("rope.scaling.type", "none"), NUM("rope.scaling.factor", 4)},
     NULL},
    {"llama",
     "\"model_type\":\"granite\",\"attention_multiplier\":0.5," THETA,
     1,
     2,
     1,
     4,
     8,
     SEPARATE,
     true,
     true,
     0.5,
     {BASE(10000), NUM("attention.scale", 0.5)},
     NULL},
    {"qwen2",
     "\"model_type\":\"qwen2\"," THETA ",\"rope_scaling\":{\"type\":\"yarn\","
     "\"factor\":4,\"original_max_position_embeddings\":4096}",
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000), TXT("rope.scaling.type", "yarn"), NUM("rope.scaling.factor", 4),
      INT("rope.scaling.original_context_length", 4096)},
     NULL},
    {"qwen2",
     "\"model_type\":\"qwen2\"," THETA ",\"rope_scaling\":{\"type\":\"yarn\","
     "\"factor\":4,\"original_max_position_embeddings\":4096,\"beta_fast\":16,\"beta_slow\":2,"
     "\"attention_factor\":1}",
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000), TXT("rope.scaling.type", "yarn"), NUM("rope.scaling.factor", 4),
      INT("context_length", 4096), NUM("rope.scaling.yarn_beta_fast", 16),
      NUM("rope.scaling.yarn_beta_slow", 2), NUM("rope.scaling.attn_factor", -1)},
     NULL},
    {"qwen2moe",
     "\"model_type\":\"qwen2_moe\"," THETA,
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000)},
     NULL},
    {"qwen3",
     "\"model_type\":\"qwen3\"," THETA,
     2,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000)},
     "queries and keys are normalised"},
    {"qwen3moe",
     "\"model_type\":\"qwen3_moe\"," THETA,
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     true,
     false,
     0,
     {BASE(10000)},
     NULL},
    {"gemma",
     "\"model_type\":\"gemma\"," THETA,
     1,
     2,
     1,
     8,
     10,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000)},
     NULL},
    {"gemma2",
     "\"model_type\":\"gemma2\",\"query_pre_attn_scalar\":8," THETA,
     1,
     2,
     1,
     8,
     10,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000)},
     "capped by tanh"},
    {"gemma2",
     "\"model_type\":\"gemma2\",\"query_pre_attn_scalar\":5," THETA,
     46,
     2,
     1,
     8,
     10,
     SEPARATE,
     false,
     false,
     -5,
     {BASE(10000), NUM("attn_logit_softcapping", 50)},
     "capped by tanh"},
    {"gemma3",
     "\"model_type\":\"gemma3_text\",\"query_pre_attn_scalar\":8,\"rope_theta\":1000000,"
     "\"rope_local_base_freq\":10000,\"sliding_window_pattern\":6,\"rope_scaling\":{"
     "\"rope_type\":\"linear\",\"factor\":8}",
     7,
     2,
     1,
     8,
     10,
     SEPARATE,
     false,
     false,
     0,
     {BASE(1000000), INT("attention.sliding_window", 512), TXT("rope.scaling.type", "linear"),
      NUM("rope.scaling.factor", 8)},
     NULL},
    {"gemma3",
     "\"model_type\":\"gemma3_text\",\"query_pre_attn_scalar\":5,\"rope_theta\":1000000,"
     "\"rope_local_base_freq\":5000,\"sliding_window_pattern\":3",
     62,
     2,
     1,
     8,
     10,
     SEPARATE,
     false,
     false,
     -5,
     {BASE(1000000), INT("attention.sliding_window", 512), NUM("rope.freq_base_swa", 5000),
      INT("attention.sliding_window_pattern", 3)},
     NULL},
    {"gemma3",
     "\"model_type\":\"gemma2\",\"query_pre_attn_scalar\":8,\"rope_theta\":500000",
     2,
     2,
     1,
     8,
     10,
     SEPARATE,
     false,
     false,
     0,
     {BASE(500000)},
     NULL},
    {"olmo",
     "\"model_type\":\"olmo\",\"clip_qkv\":8," THETA,
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     true,
     0,
     {BASE(10000), NUM("attention.clamp_kqv", 8)},
     "clipped before the product"},
    {"olmo2",
     "\"model_type\":\"olmo2\"," THETA,
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000)},
     NULL},
    {"smollm3",
     "\"model_type\":\"smollm3\",\"no_rope_layer_interval\":4," THETA,
     5,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     true,
     0,
     {BASE(10000)},
     NULL},
    {"starcoder2",
     "\"model_type\":\"starcoder2\"," THETA,
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000), NUM("attention.max_alibi_bias", 0)},
     NULL},
    {"granite",
     "\"model_type\":\"granite\",\"attention_multiplier\":0.25," THETA,
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     true,
     0.25,
     {BASE(10000), NUM("attention.scale", 0.25)},
     NULL},
    {"phi2",
     "\"model_type\":\"phi\",\"partial_rotary_factor\":0.5," THETA,
     1,
     2,
     2,
     8,
     16,
     SEPARATE,
     true,
     false,
     0,
     {BASE(10000), INT("rope.dimension_count", 4)},
     NULL},
    {"phi3",
     "\"model_type\":\"phi3\"," THETA,
     2,
     4,
     2,
     4,
     16,
     FUSED_BLOCKS,
     true,
     false,
     0,
     {BASE(10000), INT("rope.dimension_count", 4)},
     NULL},
    {"gptneox",
     "\"model_type\":\"gpt_neox\",\"rotary_emb_base\":10000,\"rotary_pct\":0.25",
     2,
     2,
     2,
     8,
     16,
     FUSED_HEADS,
     true,
     false,
     0,
     {INT("rope.dimension_count", 2)},
     "no gptneox.rope.freq_base"},
    {"stablelm",
     "\"model_type\":\"stablelm\",\"partial_rotary_factor\":0.25," THETA,
     1,
     2,
     1,
     8,
     16,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000), INT("rope.dimension_count", 2)},
     NULL},
    {"nemotron",
     "\"model_type\":\"nemotron\",\"partial_rotary_factor\":0.5," THETA,
     1,
     2,
     1,
     8,
     16,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000), INT("rope.dimension_count", 4)},
     NULL},
    {"falcon",
     "\"model_type\":\"falcon\",\"multi_query\":false,\"alibi\":false," THETA,
     1,
     2,
     2,
     8,
     16,
     FALCON,
     true,
     false,
     0,
     {BASE(10000)},
     NULL},
    {"phimoe",
     "\"model_type\":\"phimoe\"," THETA,
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000)},
     NULL},
    {"granitemoe",
     "\"model_type\":\"granitemoe\",\"attention_multiplier\":0.25," THETA,
     1,
     4,
     2,
     8,
     24,
     SEPARATE,
     false,
     true,
     0.25,
     {BASE(10000), NUM("attention.scale", 0.25)},
     NULL},
    {"glm4",
     "\"model_type\":\"glm4\",\"partial_rotary_factor\":0.5," THETA,
     1,
     2,
     1,
     8,
     16,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000), INT("rope.dimension_count", 4)},
     NULL},
    {"glm4moe",
     "\"model_type\":\"glm4_moe\",\"partial_rotary_factor\":0.5," THETA,
     1,
     2,
     1,
     8,
     16,
     SEPARATE,
     false,
     false,
     0,
     {BASE(10000), INT("rope.dimension_count", 4)},
     NULL},
    {"command-r",
     "\"model_type\":\"cohere\",\"rope_theta\":8000000",
     1,
     2,
     1,
     4,
     8,
     SEPARATE,
     false,
     false,
     0,
     {BASE(8000000)},
     NULL},
    {"chatglm",
     "\"model_type\":\"glm\",\"partial_rotary_factor\":0.5," THETA,
     1,
     2,
     1,
     8,
     16,
     SEPARATE,
     true,
     false,
     0,
     {BASE(10000), INT("rope.dimension_count", 4)},
     NULL},
    {"gpt2", "\"model_type\":\"gpt2\"", 2, 2, 2, 5, 10, CONV1D, true, false, 0, {{0}}, NULL},
    {"bert", "\"model_type\":\"bert\"", 2, 2, 2, 4, 8, BERT, false, false, 0, {{0}}, NULL},
};
enum { CASES = sizeof cases / sizeof *cases, PRESENT = 20, POSITIONS = 5, WIDEST = 32 };

/* Layers whose weights are there: a test model has no room for more. */
static int present(const gguf_case *is) {
    return is->layers < PRESENT ? is->layers : 1;
}

/* ---- The model as safetensors ---- */

static void add_weights(test_model *model, const gguf_case *is) {
    int64_t q = is->heads * is->e, k = is->key_heads * is->e, d = is->d;
    if (is->layout == BERT)
        model_add(model, SZGI_DTYPE_F32, POSITIONS, d, "embeddings.position_embeddings.weight");
    if (is->layout == CONV1D)
        model_add(model, SZGI_DTYPE_F32, POSITIONS, d, "wpe.weight");
    for (int i = 0; i < present(is); i++) {
        switch (is->layout) {
        case CONV1D:
            model_add(model, SZGI_DTYPE_F32, d, 3 * d, "h.%d.attn.c_attn.weight", i);
            break;
        case FUSED_HEADS:
            model_add(model, SZGI_DTYPE_F32, 3 * q, d, "layers.%d.attention.query_key_value.weight",
                      i);
            break;
        case FALCON:
            model_add(model, SZGI_DTYPE_F32, 3 * q, d, "h.%d.self_attention.query_key_value.weight",
                      i);
            break;
        case FUSED_BLOCKS:
            model_add(model, SZGI_DTYPE_F32, q + 2 * k, d, "layers.%d.self_attn.qkv_proj.weight",
                      i);
            break;
        case BERT:
            model_add(model, SZGI_DTYPE_F32, q, d, "encoder.layer.%d.attention.self.query.weight",
                      i);
            model_add(model, SZGI_DTYPE_F32, k, d, "encoder.layer.%d.attention.self.key.weight", i);
            break;
        default:
            model_add(model, SZGI_DTYPE_F32, q, d, "layers.%d.self_attn.q_proj.weight", i);
            model_add(model, SZGI_DTYPE_F32, k, d, "layers.%d.self_attn.k_proj.weight", i);
        }
    }
}

static void write_safetensors(const test_model *model, const gguf_case *is) {
    char config[1024], norms[64] = "";
    if (is->layout != CONV1D && is->layout != FUSED_HEADS && is->layout != BERT &&
        is->layout != FALCON)
        snprintf(norms, sizeof norms, "\"num_key_value_heads\":%d,\"head_dim\":%d,", is->key_heads,
                 is->e);
    snprintf(config, sizeof config,
             "{%s\"num_hidden_layers\":%d,\"num_attention_heads\":%d,\"hidden_size\":%d,%s}", norms,
             is->layers, is->heads, is->d, is->config);
    model_write(model, config);
}

/* Row `row` of all queries (part 0) or all keys (part 1) of a layer. */
static void take_row(const test_model *model, const gguf_case *is, int layer, int part, int64_t row,
                     double *out) {
    int64_t d = is->d, e = is->e, head = row / e;
    const double *w;
    switch (is->layout) {
    case CONV1D:
        w = model_value(model, "h.%d.attn.c_attn.weight", layer);
        for (int64_t j = 0; j < d; j++)
            out[j] = w[j * 3 * d + part * d + row];
        return;
    case FUSED_HEADS:
        w = model_value(model, "layers.%d.attention.query_key_value.weight", layer);
        row += (2 * head + part) * e;
        break;
    case FALCON: /* one query a group: q, k, v of each head in turn */
        w = model_value(model, "h.%d.self_attention.query_key_value.weight", layer);
        row += (2 * head + part) * e;
        break;
    case FUSED_BLOCKS:
        w = model_value(model, "layers.%d.self_attn.qkv_proj.weight", layer);
        row += part * is->heads * e;
        break;
    case BERT:
        w = model_value(model, "encoder.layer.%d.attention.self.%s.weight", layer,
                        part ? "key" : "query");
        break;
    default:
        w = model_value(model, "layers.%d.self_attn.%c_proj.weight", layer, part ? 'k' : 'q');
    }
    memcpy(out, w + row * d, (size_t)d * sizeof *out);
}

/* ---- The same as GGUF ---- */

/* YaRN's factor on queries and keys where positions are four times as many; its reciprocal as a
 * file has it. */
static double temperature(void) {
    return 0.1 * log(4) + 1;
}

static double undone(void) {
    return (double)(float)(1 / temperature());
}

/* The keys of a case; -1 for attn_factor undoes YaRN's own. */
static void put_keys(gguf_file *file, const gguf_case *is) {
    const key_value sizes[] = {INT("block_count", is->layers), INT("embedding_length", is->d),
                               INT("attention.head_count", is->heads),
                               INT("attention.head_count_kv", is->key_heads),
                               INT("attention.key_length", is->e)};
    gguf_key_text(file, "general.architecture", is->architecture);
    int count = is->heads * is->e == is->d ? 4 : 5; /* a head size that follows is left out */
    for (int i = 0; i < count; i++)
        put_key(file, is->architecture, &sizes[i]);
    for (const key_value *own = is->keys; own->key; own++) {
        key_value value = *own;
        if (value.number < 0)
            value.number = undone();
        put_key(file, is->architecture, &value);
    }
}

/* Place of row `row` of q or k in the file: the converter turns the halves of a head into pairs. */
static int64_t place_of(const gguf_case *is, int64_t row) {
    int64_t head = row / is->e, r = row % is->e, half = is->e / 2;
    return is->permuted ? head * is->e + 2 * (r % half) + r / half : row;
}

static void put_layer(gguf_file *file, const test_model *model, const gguf_case *is, int layer) {
    int64_t q = is->heads * is->e, k = is->key_heads * is->e, d = is->d;
    float *all = calloc((size_t)((q + 2 * k) * d), sizeof *all);
    double row[WIDEST];
    char name[64];
    ck_assert_ptr_nonnull(all);
    for (int64_t i = 0; i < q + k; i++) {
        int part = i >= q;
        int64_t own = part ? i - q : i, to = place_of(is, own) + part * q;
        take_row(model, is, layer, part, own, row);
        for (int64_t j = 0; j < d; j++)
            all[to * d + j] = (float)row[j];
    }
    snprintf(name, sizeof name, "blk.%d.attn_%s.weight", layer, is->fused ? "qkv" : "q");
    put_weight(file, name, is->fused ? q + 2 * k : q, d, all);
    snprintf(name, sizeof name, "blk.%d.attn_k.weight", layer);
    if (!is->fused)
        put_weight(file, name, k, d, all + q * d);
    snprintf(name, sizeof name, "blk.%d.attn_q_norm.weight", layer);
    if (strcmp(is->architecture, "qwen3") == 0)
        gguf_tensor(file, name, 0, 1, (int64_t[]){is->e}, all, (size_t)is->e * sizeof *all);
    free(all);
}

static void put_positions(gguf_file *file, const double *table, int64_t d) {
    float single[POSITIONS * WIDEST];
    for (int64_t i = 0; i < POSITIONS * d; i++)
        single[i] = (float)table[i];
    put_weight(file, "position_embd.weight", POSITIONS, d, single);
}

static void fill(gguf_file *file, const test_model *model, const gguf_case *is) {
    *file = (gguf_file){.version = 0};
    put_keys(file, is);
    if (is->layout == BERT)
        put_positions(file, model_value(model, "embeddings.position_embeddings.weight"), is->d);
    if (is->layout == CONV1D)
        put_positions(file, model_value(model, "wpe.weight"), is->d);
    for (int i = 0; i < present(is); i++)
        put_layer(file, model, is, i);
    for (int i = present(is); i < is->layers; i++) { /* their other weights */
        char name[64];
        snprintf(name, sizeof name, "blk.%d.ffn_norm.weight", i);
        gguf_tensor(file, name, 0, 1, (int64_t[]){1}, (float[]){1}, sizeof(float));
    }
}

/* ---- Comparisons ---- */

static void check_heads(const szg_checkpoint_tables *tables, const test_model *model,
                        const gguf_case *is, double amplitude) {
    int64_t e = is->e, d = is->d;
    double q[WIDEST * WIDEST], k[WIDEST * WIDEST];
    double scale = is->scale > 0   ? is->scale
                   : is->scale < 0 ? 1 / sqrt(-is->scale)
                                   : 1 / sqrt((double)e);
    const double *p = is->layout == BERT     ? model_value(model, "embeddings.position_"
                                                                      "embeddings.weight")
                      : is->layout == CONV1D ? model_value(model, "wpe.weight")
                                             : NULL;
    for (int layer = 0; layer < present(is); layer++)
        for (int head = 0; head < is->heads; head++) {
            const oracle_head oracle = {e, d, q, k};
            for (int64_t r = 0; r < e; r++) {
                take_row(model, is, layer, 0, head * e + r, q + r * d);
                take_row(model, is, layer, 1, head / (is->heads / is->key_heads) * e + r,
                         k + r * d);
            }
            for (int64_t i = 0; i < e * d; i++)
                q[i] *= scale * amplitude * amplitude;
            double *dense = oracle_product(&oracle, d, NULL);
            check_spectra(tables, layer, head, "qk", d, dense, oracle_error(&oracle, d, NULL));
            free(dense);
            if (!p)
                continue;
            dense = oracle_product(&oracle, POSITIONS, p);
            check_spectra(tables, layer, head, "position", POSITIONS, dense,
                          oracle_error(&oracle, POSITIONS, p));
            free(dense);
        }
}

START_TEST(architectures_have_the_spectra_of_their_safetensors) {
    const gguf_case *is = &cases[_i];
    test_model model;
    gguf_file file;
    szg_checkpoint *checkpoint[2];
    szg_checkpoint_tables tables[2];
    model_open(&model);
    add_weights(&model, is);
    write_safetensors(&model, is);
    const szg_checkpoint_options raw = {SZG_INIT(szg_checkpoint_options), .raw = true};
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint[0]));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint[0], &raw, &tables[0]));
    fill(&file, &model, is);
    ck_szg_ok(open_file(&file, &checkpoint[1]));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint[1], &raw, &tables[1]));
    ck_assert_int_eq(tables[1].bad, is->layers - present(is));
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint[1]);
    ck_assert_ptr_null(facts.unknown);
    ck_assert_str_eq(facts.model_type, is->architecture);
    ck_assert_str_eq(facts.stacks, ""); /* the name of the journal is made of it */
    ck_assert_int_eq(facts.head_size, is->e);
    ck_assert_int_eq(facts.key_heads, is->key_heads);
    if (is->note)
        ck_assert_msg(strstr(facts.note, is->note), "%s", facts.note);
    else /* these files have no norms */
        ck_assert_msg(!*facts.note ||
                          (strncmp(facts.note, "input norms", 11) == 0 && !strchr(facts.note, ';')),
                      "%s", facts.note);
    bool yarn = strstr(is->config, "yarn"), whole = strstr(is->config, "attention_factor");
    check_heads(&tables[1], &model, is, (yarn ? temperature() : 1) * (whole ? undone() : 1));
    check_frequencies(checkpoint[0], tables[1].frequencies, tables[0].frequencies,
                      whole ? 0x1p-24 : 0);
    for (int i = 0; i < 2; i++) {
        szg_checkpoint_tables_close(&tables[i]);
        szg_checkpoint_close(&checkpoint[i]);
    }
    gguf_free(&file);
    model_close(&model);
}
END_TEST

/* The file that gguf-py wrote has the answers of the safetensors it was made from. */
START_TEST(file_of_gguf_py_has_the_spectra_of_its_safetensors) {
    const szg_checkpoint_options raw = {SZG_INIT(szg_checkpoint_options), .raw = true};
    const char *data = getenv("SZG_TEST_DATA");
    char path[2][4096];
    szg_checkpoint *checkpoint[2];
    szg_checkpoint_tables tables[2];
    ck_assert_msg(data, "SZG_TEST_DATA is the folder tests/data of the source");
    snprintf(path[0], sizeof path[0], "%s/gguf/llama", data); /* safetensors come first */
    snprintf(path[1], sizeof path[1], "%s/gguf/llama/model.gguf", data);
    for (int i = 0; i < 2; i++) {
        ck_szg_ok(szg_checkpoint_open(test_context(), path[i], NULL, &checkpoint[i]));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint[i], &raw, &tables[i]));
        ck_assert_int_eq(tables[i].bad, 0);
    }
    check_frequencies(checkpoint[0], tables[1].frequencies, tables[0].frequencies, 0);
    const szg_table *got = tables[1].spectra, *want = tables[0].spectra;
    double norm = 0; /* of Frobenius: a head's rank is its size, 8, at most */
    ck_assert_int_eq(szg_table_rows(got), szg_table_rows(want));
    ck_assert_int_eq(szg_table_rows(tables[0].summary), 2 * 4);
    for (int64_t i = 0; i < szg_table_rows(tables[0].summary); i++)
        norm = fmax(norm, sqrt(8) * cell(tables[0].summary, i, "sigma_max"));
    for (int64_t i = 0; i < szg_table_rows(got); i++)
        if (strcmp(cell_text(got, i, "kind"), "singular") == 0)
            ck_close(cell(got, i, "re"), cell(want, i, "re"), 2 * weyl(32, norm));
    for (int i = 0; i < 2; i++) {
        szg_checkpoint_tables_close(&tables[i]);
        szg_checkpoint_close(&checkpoint[i]);
    }
}
END_TEST

/* The key of each property is the file's own; what it does not have, llama.cpp's code decided. */
START_TEST(properties_name_the_keys_of_the_file) {
    static const char *const want[][2] = {
        {"model_type", "general.architecture"},      {"layers", "llama.block_count"},
        {"heads", "llama.attention.head_count"},     {"key_heads", "llama.attention.head_count_kv"},
        {"head_size", "llama.attention.key_length"}, {"model_size", "llama.embedding_length"},
        {"rotary", "llama.rope.freq_base"}};
    test_model model;
    gguf_file file;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    add_weights(&model, &cases[0]);
    fill(&file, &model, &cases[0]);
    ck_szg_ok(open_file(&file, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
    for (int64_t i = 0; i < szg_table_rows(tables.architecture); i++) {
        const char *key = "";
        for (size_t j = 0; j < sizeof want / sizeof *want; j++)
            if (strcmp(cell_text(tables.architecture, i, "property"), want[j][0]) == 0)
                key = want[j][1];
        ck_assert_str_eq(cell_text(tables.architecture, i, "key"), key);
    }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    gguf_free(&file);
    model_close(&model);
}
END_TEST

TEST_FILE("gguf") {
    test_add_loop(suite, "architectures_have_the_spectra_of_their_safetensors",
                  architectures_have_the_spectra_of_their_safetensors, CASES);
    test_add(suite, "file_of_gguf_py_has_the_spectra_of_its_safetensors",
             file_of_gguf_py_has_the_spectra_of_its_safetensors);
    test_add(suite, "properties_name_the_keys_of_the_file", properties_name_the_keys_of_the_file);
}
