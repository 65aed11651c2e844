/* What the first layer reads, and which lags it sees: heads of the table `heads` have the numbers
 * that follow, or the reason why there are none. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

enum { D = 8, HEADS = 2, TOKENS = 12, POSITIONS = 9 };

/* Tensors of one layer of width D: NAME is a vector, NAME+ [TOKENS, D], NAME* [POSITIONS, D], NAME=
 * [D, D], NAME/ [TOKENS, D / 2], NAME# [3 D, D]. */
typedef struct reading {
    const char *name, *config, *tensors, *note; /* note NULL: there is a mean kernel of words */
    int first, last;                            /* lags, with a mean kernel */
} reading;

#define BART(norm)                                                                                 \
    "encoder.embed_positions.weight* " norm                                                        \
    "encoder.layers.0.self_attn.q_proj.weight= encoder.layers.0.self_attn.k_proj.weight= "
#define CLIP(side)                                                                                 \
    side "embeddings.position_embedding.weight* " side "encoder.layers.0.layer_norm1.weight " side \
         "encoder.layers.0.self_attn.q_proj.weight= " side                                         \
         "encoder.layers.0.self_attn.k_proj.weight= "
#define GPT                                                                                        \
    "wte.weight+ wpe.weight* h.0.ln_1.weight h.0.attn.attention.q_proj.weight= "                   \
    "h.0.attn.attention.k_proj.weight= "
#define SIZES "\"num_hidden_layers\":1,\"num_attention_heads\":2,\"hidden_size\":8"
#define STACK "\"encoder_layers\":1,\"encoder_attention_heads\":2,\"d_model\":8"

static const reading readings[] = {
    {"CLIP reads text from its beginning", "\"model_type\":\"clip_text_model\"," SIZES,
     "text_model.embeddings.token_embedding.weight+ " CLIP("text_model."), NULL, 0, POSITIONS - 1},
    {"CLIP sees patches", "\"model_type\":\"clip_vision_model\"," SIZES, CLIP("vision_model."),
     "tokens are patches of an image, so that the mean token is not known", 0, 0},
    {"BART shares its words", "\"model_type\":\"bart\"," STACK,
     BART("encoder.layernorm_embedding.weight ") "shared.weight+", NULL, 3 - POSITIONS,
     POSITIONS - 3},
    {"words of the decoder are not the encoder's", "\"model_type\":\"bart\"," STACK,
     BART("encoder.layernorm_embedding.weight ") "decoder.embed_tokens.weight+",
     "the table of embeddings is missing, so that the mean token is not known", 0, 0},
    {"mBART normalises twice", "\"model_type\":\"mbart\"," STACK,
     BART("encoder.layernorm_embedding.weight encoder.layers.0.self_attn_layer_norm.weight ") "shar"
                                                                                              "ed."
                                                                                              "weig"
                                                                                              "ht+",
     "embeddings are normalised before the norm of layer 0: not covered", 0, 0},
    {"Whisper hears", "\"model_type\":\"whisper\"," STACK,
     BART("encoder.layers.0.self_attn_layer_norm.weight ") "decoder.embed_tokens.weight+",
     "tokens are frames of sound, so that the mean token is not known", 0, 0},
    {"embeddings of another width", "\"model_type\":\"opt\"," SIZES,
     "decoder.embed_tokens.weight/ decoder.embed_positions.weight* "
     "decoder.layers.0.self_attn_layer_norm.weight decoder.layers.0.self_attn.q_proj.weight= "
     "decoder.layers.0.self_attn.k_proj.weight=",
     "the embeddings have another width than the model, so that the mean token is not known", 0, 0},
    {"a layer without a norm", "\"model_type\":\"opt\",\"do_layer_norm_before\":false," SIZES,
     "decoder.embed_tokens.weight+ decoder.embed_positions.weight* "
     "decoder.layers.0.self_attn.q_proj.weight= decoder.layers.0.self_attn.k_proj.weight=",
     "the layer's input has no norm, or one that is not known", 0, 0},
    {"GPT-Neo's first layer is global",
     "\"model_type\":\"gpt_neo\",\"window_size\":4,"
     "\"num_layers\":1,\"num_heads\":2,\"hidden_size\":8",
     GPT, NULL, 0, POSITIONS - 1},
    {"a local layer has a window",
     "\"model_type\":\"gpt_neo\",\"window_size\":4,\"num_layers\":1,"
     "\"num_heads\":2,\"hidden_size\":8,\"attention_types\":[[[\"local\"],1]]",
     GPT, NULL, 0, 3},
};

static void add_tensors(test_model *model, const char *list) {
    static const struct {
        char mark;
        int rows, columns;
    } shapes[] = {{'+', TOKENS, D},     {'*', POSITIONS, D}, {'=', D, D},
                  {'/', TOKENS, D / 2}, {'#', 3 * D, D},     {0, D, -1}};
    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " "), shape = 0;
        while (shapes[shape].mark && shapes[shape].mark != at[length - 1])
            shape++;
        model_add(model, SZGI_DTYPE_F64, shapes[shape].rows, shapes[shape].columns, "%.*s",
                  (int)(length - (shapes[shape].mark != 0)), at);
        at += length;
    }
}

static void analyse(test_model *model, const char *config, szg_checkpoint **checkpoint,
                    szg_checkpoint_tables *tables) {
    char text[512];
    snprintf(text, sizeof text, "{%s}", config);
    model_write(model, text);
    model_analyse(model, checkpoint, tables);
}

START_TEST(first_layers_say_what_they_read) {
    const reading *own = &readings[_i];
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    add_tensors(&model, own->tensors);
    analyse(&model, own->config, &checkpoint, &tables);
    ck_assert_int_eq(szg_table_rows(tables.heads), HEADS);
    for (int row = 0; row < HEADS; row++) {
        const char *note = cell_text(tables.heads, row, "note");
        ck_assert_msg(strstr(note, own->note ? own->note : "no self kernel: nothing rotates"),
                      "%s: '%s'", own->name, note);
        ck_assert_msg(isfinite(cell(tables.heads, row, "mean_share")) == !own->note, "%s",
                      own->name);
        if (own->note)
            continue;
        ck_assert_str_eq(cell_text(tables.heads, row, "mean_tokens"), "vocabulary");
        ck_assert_msg((int)cell(tables.heads, row, "lag_min") == own->first, "%s", own->name);
        ck_assert_msg((int)cell(tables.heads, row, "lag_max") == own->last, "%s", own->name);
    }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* ---- ModernBERT and Nomic: the embedding's norm is that of layer 0 ---- */

static const char modernbert[] =
    "\"model_type\":\"modernbert\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
    "\"hidden_size\":8,\"max_position_embeddings\":16";
static const char nomic[] =
    "\"model_type\":\"nomic_bert\",\"n_layer\":1,\"n_head\":2,\"n_embd\":8,"
    "\"n_positions\":16,\"rotary_emb_base\":1000,\"rotary_emb_fraction\":1,"
    "\"rotary_emb_interleaved\":false,\"prenorm\":false,\"qkv_proj_bias\":false";

/* The token behind the norm with these gains: mean 0, then root mean square 1. */
static void normalise(const double *x, const double *gain, double *out) {
    double mean = 0, square = 0;
    for (int j = 0; j < D; j++)
        mean += x[j] / D;
    for (int j = 0; j < D; j++)
        square += (x[j] - mean) * (x[j] - mean) / D;
    for (int j = 0; j < D; j++)
        out[j] = (x[j] - mean) / sqrt(square) * gain[j];
}

/* The mean kernel at lag 0, by loops: the scale times the product of mean query and mean key. */
static double kernel_at_zero(const test_model *model, const char *words, const char *types,
                             const char *norm, const char *weight, int head) {
    const double *table = model_value(model, "%s", words), *w = model_value(model, "%s", weight);
    double mean[D] = {0}, sum = 0;
    for (int v = 0; v < TOKENS; v++) {
        double x[D], y[D];
        for (int j = 0; j < D; j++)
            x[j] = table[v * D + j] + (types ? model_value(model, "%s", types)[j] : 0);
        normalise(x, model_value(model, "%s", norm), y);
        for (int j = 0; j < D; j++)
            mean[j] += y[j] / TOKENS;
    }
    for (int i = 0; i < D / HEADS; i++) {
        double q = 0, k = 0;
        for (int j = 0; j < D; j++) {
            q += w[(head * D / HEADS + i) * D + j] * mean[j];
            k += w[(D + head * D / HEADS + i) * D + j] * mean[j];
        }
        sum += q * k / sqrt(D / HEADS);
    }
    return sum;
}

START_TEST(the_norm_of_embeddings_is_the_first_layers) {
    static const struct {
        const char *config, *words, *types, *norm, *weight, *tensors;
    } models[] = {
        {modernbert, "embeddings.tok_embeddings.weight", NULL, "embeddings.norm.weight",
         "layers.0.attn.Wqkv.weight",
         "embeddings.tok_embeddings.weight+ embeddings.norm.weight layers.0.attn.Wqkv.weight#"},
        {nomic, "embeddings.word_embeddings.weight", "embeddings.token_type_embeddings.weight",
         "emb_ln.weight", "encoder.layers.0.attn.Wqkv.weight",
         "embeddings.word_embeddings.weight+ embeddings.token_type_embeddings.weight= "
         "emb_ln.weight encoder.layers.0.attn.Wqkv.weight#"}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = 4};
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char text[512];
        model_open(&model);
        add_tensors(&model, models[i].tensors);
        snprintf(text, sizeof text, "{%s}", models[i].config);
        model_write(&model, text);
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        ck_assert_str_eq(cell_text(tables.heads, 0, "note"), "");
        ck_assert_str_eq(cell_text(tables.heads, 0, "mean_tokens"), "vocabulary");
        for (int64_t row = 0; row < szg_table_rows(tables.kernel); row++)
            if (cell(tables.kernel, row, "lag") == 0) {
                int head = (int)cell(tables.kernel, row, "head");
                ck_close(cell(tables.kernel, row, "mean"),
                         kernel_at_zero(&model, models[i].words, models[i].types, models[i].norm,
                                        models[i].weight, head),
                         1e-12);
            }
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* ---- Sizes ---- */

/* The share of head 0 of CLIP's text whose words are multiplied by `factor`, the first by 0 where
 * `padded`. */
static double share_of_clip(double factor, bool padded, char note[256]) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    model.seed = 7;
    add_tensors(&model, readings[0].tensors);
    model_tensor *table = model_find(&model, "text_model.embeddings.token_embedding.weight");
    for (int64_t i = 0; i < table->count; i++)
        table->value[i] *= padded && i < D ? 0 : factor;
    analyse(&model, readings[0].config, &checkpoint, &tables);
    double share = cell(tables.heads, 0, "mean_share");
    snprintf(note, 256, "%s", cell_text(tables.heads, 0, "note"));
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
    return share;
}

/* A norm divides by the size: of words of 2^664, about 1e200, positions are nothing, and of words
 * of 2^-664 they are all. Sums whose squares leave the doubles are said. */
START_TEST(sums_of_any_size_behind_the_norm) {
    char note[256];
    ck_assert(share_of_clip(0x1p-60, false, note) > 0);
    ck_close(share_of_clip(0x1p-664, false, note), share_of_clip(0x1p-60, false, note), 1e-9);
    ck_assert(share_of_clip(0x1p664, false, note) < 1e-12);
    ck_assert_msg(strstr(note, "no self kernel"), "%s", note);
    ck_assert(isnan(share_of_clip(0x1p664, true, note)));
    ck_assert_str_eq(note, "embeddings and positions are of sizes whose squares exceed doubles");
}
END_TEST

/* Queries along (a, b) and keys along (-b, a) never meet, so that
 * nothing but the lag makes logits: there is no noise, whichever sign rounding gives a sum. */
START_TEST(queries_orthogonal_to_keys_have_no_noise) {
    static const char t5[] = "{\"model_type\":\"t5\",\"num_layers\":1,\"num_heads\":4,"
                             "\"d_model\":8,\"d_kv\":2,\"n_positions\":20,"
                             "\"relative_attention_max_distance\":9}";
    static const char *const names[] = {"q", "k"};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    model_add(&model, SZGI_DTYPE_F32, 8, 4,
              "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
    model_add(&model, SZGI_DTYPE_F32, 8, -1, "encoder.block.0.layer.0.layer_norm.weight");
    for (int side = 0; side < 2; side++) {
        double *row = model_add(&model, SZGI_DTYPE_F64, D, D,
                                "encoder.block.0.layer.0.SelfAttention.%s.weight", names[side])
                          ->value;
        for (int64_t i = 0; i < D * D; i++)
            if (i / D % 2 == 1) /* head h is along (1, 0.1 (h + 1)) */
                row[i] = row[i - D] * 0.1 * (double)(i / (2 * D) + 1);
        for (int64_t i = 0; i < D * D && side == 1; i++)
            if (i / D % 2 == 0) {
                double first = row[i];
                row[i] = -row[i + D];
                row[i + D] = first;
            }
    }
    model_write(&model, t5);
    model_analyse(&model, &checkpoint, &tables);
    for (int64_t head = 0; head < 4; head++) {
        double share = cell(tables.heads, head, "mean_share");
        ck_assert_msg(share <= 1 && share > 1 - 1e-9, "head %d: %.17g", (int)head, share);
        ck_assert(cell(tables.heads, head, "mean_noise") < 1e-6);
        ck_assert_str_eq(cell_text(tables.heads, head, "note"),
                         "no self kernel: nothing rotates in this layer");
    }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

static void make_normed(double factor, test_model *model) {
    model_open(model);
    model_tensor *q =
        model_add(model, SZGI_DTYPE_F64, D, D, "model.layers.0.self_attn.q_proj.weight");
    model_add(model, SZGI_DTYPE_F32, D, D, "model.layers.0.self_attn.k_proj.weight");
    model_add(model, SZGI_DTYPE_F32, D / HEADS, -1, "model.layers.0.self_attn.q_norm.weight");
    model_add(model, SZGI_DTYPE_F32, D / HEADS, -1, "model.layers.0.self_attn.k_norm.weight");
    model_add(model, SZGI_DTYPE_F32, D, -1, "model.layers.0.input_layernorm.weight");
    model_add(model, SZGI_DTYPE_F32, TOKENS, D, "model.embed_tokens.weight");
    for (int64_t i = 0; i < D * D / HEADS; i++)
        q->value[i] *= factor;
}

/* A head whose queries are 0 stays 0 behind its norm and keeps its rows, the spectra too; one whose
 * squares are no doubles is said. */
START_TEST(normalised_queries_of_zero) {
    static const char qwen[] = "{\"model_type\":\"qwen3\",\"head_dim\":4,\"rope_theta\":100,"
                               "\"num_key_value_heads\":2,\"max_position_embeddings\":9," SIZES "}";
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    make_normed(0, &model);
    model_write(&model, qwen);
    model_analyse(&model, &checkpoint, &tables);
    ck_assert_int_eq(szg_table_rows(tables.heads), HEADS);
    ck_assert(cell(tables.heads, 0, "self_share") == 0 && cell(tables.heads, 1, "self_share") > 0);
    ck_assert(cell(tables.heads, 0, "mean_share") == 0 && cell(tables.heads, 1, "mean_share") > 0);
    ck_assert(cell(tables.heads, 0, "self_noise") == 0 && cell(tables.heads, 0, "self_max") == 0);
    ck_assert_str_eq(cell_text(tables.heads, 0, "self_shape"), "flat");
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
    make_normed(0x1p-664, &model);
    model_write(&model, qwen);
    model_analyse(&model, &checkpoint, &tables);
    ck_assert_int_eq(szg_table_rows(tables.heads), HEADS - 1);
    ck_assert_ptr_nonnull(strstr(cell_text(tables.notes, 0, "note"),
                                 "squares of queries or keys before their norm are no doubles"));
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

TEST_FILE("reasons") {
    test_add_loop(suite, "first_layers_say_what_they_read", first_layers_say_what_they_read,
                  (int)(sizeof readings / sizeof *readings));
    test_add(suite, "the_norm_of_embeddings_is_the_first_layers",
             the_norm_of_embeddings_is_the_first_layers);
    test_add(suite, "sums_of_any_size_behind_the_norm", sums_of_any_size_behind_the_norm);
    test_add(suite, "queries_orthogonal_to_keys_have_no_noise",
             queries_orthogonal_to_keys_have_no_noise);
    test_add(suite, "normalised_queries_of_zero", normalised_queries_of_zero);
}
