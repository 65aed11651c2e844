/* Models as they are published: configurations that leave defaults of the class out, indexes and
 * folders of other programs, and files that are not the weights they are named after. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint_private.h"
#include "checkpoint/properties.h"
#include "model.h"

enum { MESSAGES = 4096 };

static void keep_all(void *user, szg_severity severity, const char *text) {
    char *all = user;
    size_t used = strlen(all);
    snprintf(all + used, MESSAGES - used, "%s%s\n", severity == SZG_WARNING ? "warning: " : "",
             text);
}

/* Opens with changes; what was said on the way, or the error, is in `said`. */
static szg_status open_saying(const char *path, const char *const *set, int64_t sets,
                              char said[static MESSAGES], szg_checkpoint **out) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1, .message = keep_all,
                                   .user = said};
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                            .sets = sets};
    szg_context *context;
    said[0] = 0;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    szg_status status = szg_checkpoint_open_chosen(context, path, &choices, out);
    if (status != SZG_OK)
        snprintf(said, MESSAGES, "%s", szg_context_message(context));
    szg_context_close(&context);
    return status;
}

static void ck_said(const char *said, const char *words) {
    ck_assert_msg(strstr(said, words), "'%s' lacks '%s'", said, words);
}

/* Layers of the usual names: q [heads e, d], k [key_heads e, d], the gains of q where `normed`. */
static void add_layers(test_model *model, const char *before, int layers, int q, int k, int d,
                       int normed) {
    for (int i = 0; i < layers; i++) {
        model_add(model, SZGI_DTYPE_F32, q, d, "%slayers.%d.self_attn.q_proj.weight", before, i);
        model_add(model, SZGI_DTYPE_F32, k, d, "%slayers.%d.self_attn.k_proj.weight", before, i);
        for (int side = 0; side < 2 && normed; side++)
            model_add(model, SZGI_DTYPE_F32, normed, -1, "%slayers.%d.self_attn.%c_norm.weight",
                      before, i, "qk"[side]);
    }
}

/* ---- Defaults of the class ---- */

/* The note of the row `property` with that key; fails where there is none. */
static const char *note_of_row(const szg_table *table, const char *property, const char *key) {
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        if (strcmp(cell_text(table, row, "property"), property) == 0 &&
            strcmp(cell_text(table, row, "key"), key) == 0)
            return cell_text(table, row, "note");
    ck_abort_msg("no row %s by %s", property, key);
    return NULL;
}

/* Each key in `taken` has a row, and nothing else is a default. */
static void check_taken(const szg_checkpoint *checkpoint, const char *const *taken) {
    szg_table *table;
    int64_t count = 0, rows = 0;
    ck_szg_ok(szgi_properties_report(test_context(), checkpoint, &table));
    for (; taken[count]; count++)
        ck_assert_str_eq(note_of_row(table, "default", taken[count]), "default of the class");
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        rows += strcmp(cell_text(table, row, "property"), "default") == 0;
    ck_assert_int_eq(rows, count);
    szg_table_close(&table);
}

/* Gemma 3 of 4 billion as it is published, smaller: of 8 heads of 32 numbers by default, in six
 * layers of which the last is global. */
START_TEST(gemma3_is_read_by_its_defaults) {
    static const char *const taken[] = {"text_config.num_attention_heads",
                                        "text_config.query_pre_attn_scalar",
                                        "text_config.max_position_embeddings",
                                        "text_config.sliding_window_pattern",
                                        "text_config.rope_theta",
                                        "text_config.rope_local_base_freq",
                                        NULL};
    test_model model;
    szg_checkpoint *checkpoint;
    szgi_rotary rotary;
    char said[MESSAGES];
    model_open(&model);
    add_layers(&model, "language_model.model.", 6, 8 * 32, 4 * 32, 8, 32);
    model_write(&model, "{\"model_type\":\"gemma3\",\"text_config\":{\"hidden_size\":8,"
                        "\"model_type\":\"gemma3_text\",\"num_hidden_layers\":6,\"rope_scaling\":"
                        "{\"factor\":8.0,\"rope_type\":\"linear\"},\"sliding_window\":1024},"
                        "\"vision_config\":{\"hidden_size\":16}}");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_OK);
    ck_assert_int_eq(checkpoint->heads, 8);
    ck_assert_int_eq(checkpoint->key_heads, 4);
    ck_assert_int_eq(checkpoint->head_size, 32);
    ck_assert_int_eq(checkpoint->trained_length, 131072);
    for (int i = 0; i < 6; i++) {
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, i, &rotary));
        double want = i == 5 ? pow(1e6, -2.0 / 32) / 8 : pow(1e4, -2.0 / 32);
        ck_close(rotary.theta[1], want, 64 * DBL_EPSILON);
        ck_close(checkpoint->layer[i].scale, 1.0 / 16, 0); /* 256^-1/2 */
    }
    const char *note = szg_checkpoint_describe(checkpoint).note;
    ck_said(note, "the class's head_dim is 256, and the tensors have 32: theirs is taken");
    ck_said(note, "defaults of the class gemma3_text are taken for what the configuration does not "
                  "say: text_config.num_attention_heads");
    check_taken(checkpoint, taken);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Configurations of one layer of queries and keys of 8 rows (falcon: 24), d = 8. */
START_TEST(defaults_of_other_classes) {
    static const struct {
        const char *config, *query, *key;
        int rows;
        const char *taken[4];
        int64_t pairs;
        double second; /* theta_1; 0: one pair, or none */
    } cases[] = {
        {"{\"model_type\":\"falcon\",\"hidden_size\":8,\"num_attention_heads\":2,"
         "\"num_hidden_layers\":1,\"max_position_embeddings\":64}",
         "transformer.h.0.self_attention.query_key_value.weight",
         NULL,
         16,
         {"multi_query", "new_decoder_architecture", "alibi", "rope_theta"},
         2,
         0.01},
        {"{\"model_type\":\"glm\",\"hidden_size\":8,\"num_attention_heads\":1,\"head_dim\":8,"
         "\"num_hidden_layers\":1,\"rope_theta\":10000,\"max_position_embeddings\":64}",
         "model.layers.0.self_attn.q_proj.weight",
         "model.layers.0.self_attn.k_proj.weight",
         8,
         {"partial_rotary_factor"},
         2,
         0.01},
        {"{\"model_type\":\"gpt_neox\",\"hidden_size\":8,\"num_attention_heads\":1,"
         "\"num_hidden_layers\":1,\"rotary_emb_base\":500,\"max_position_embeddings\":64}",
         "gpt_neox.layers.0.attention.query_key_value.weight",
         NULL,
         24,
         {"partial_rotary_factor"},
         1,
         0},
        {"{\"model_type\":\"bloom\",\"n_embed\":8,\"n_layer\":1,\"num_attention_heads\":2}",
         "h.0.self_attention.query_key_value.weight",
         NULL,
         24,
         {NULL},
         0,
         0},
        {"{\"model_type\":\"cohere\",\"hidden_size\":8,\"num_attention_heads\":2,"
         "\"num_hidden_layers\":1,\"max_position_embeddings\":64,"
         "\"transformers_version\":\"4.38.1\"}",
         "model.layers.0.self_attn.q_proj.weight",
         "model.layers.0.self_attn.k_proj.weight",
         8,
         {"rope_theta"},
         2,
         0.01},
        {"{\"model_type\":\"cohere\",\"hidden_size\":8,\"num_attention_heads\":2,"
         "\"num_hidden_layers\":1,\"max_position_embeddings\":64,"
         "\"transformers_version\":\"5.24.0\"}",
         "model.layers.0.self_attn.q_proj.weight",
         "model.layers.0.self_attn.k_proj.weight",
         8,
         {"rope_theta"},
         2,
         0.0014142135623730951}, /* 500000^-1/2 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szgi_rotary rotary;
        char said[MESSAGES];
        const char *taken[5] = {NULL};
        memcpy(taken, cases[i].taken, sizeof cases[i].taken);
        model_open(&model);
        model_add(&model, SZGI_DTYPE_F32, cases[i].rows, 8, "%s", cases[i].query);
        if (cases[i].key)
            model_add(&model, SZGI_DTYPE_F32, 8, 8, "%s", cases[i].key);
        model_write(&model, cases[i].config);
        ck_assert_msg(open_saying(model.folder, NULL, 0, said, &checkpoint) == SZG_OK, "%s: %s",
                      cases[i].config, said);
        check_taken(checkpoint, taken);
        ck_assert_ptr_null(checkpoint->layer[0].problem);
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
        ck_assert_int_eq(rotary.pairs, cases[i].pairs);
        if (cases[i].second > 0)
            ck_close(rotary.theta[1], cases[i].second, 1e-12 * cases[i].second);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* The sizes of Bloom's class are small: two layers, 8 heads, width 64. */
START_TEST(all_sizes_by_default) {
    static const char *const taken[] = {"n_layer", "n_head", "hidden_size", NULL};
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES];
    model_open(&model);
    for (int i = 0; i < 2; i++)
        model_add(&model, SZGI_DTYPE_F32, 192, 64, "h.%d.self_attention.query_key_value.weight", i);
    model_write(&model, "{\"model_type\":\"bloom\"}");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_OK);
    ck_assert_int_eq(checkpoint->layers, 2);
    ck_assert_int_eq(checkpoint->heads, 8);
    ck_assert_int_eq(checkpoint->head_size, 8);
    ck_assert(!strstr(szg_checkpoint_describe(checkpoint).note, "theirs is taken"));
    check_taken(checkpoint, taken);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Gemma 2's class caps logits at 50 where the key is absent; a null says that it does not. */
START_TEST(a_null_is_no_default) {
    static const char *const nulls[] = {"attn_logit_softcapping=null"};
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES];
    model_open(&model);
    add_layers(&model, "model.", 1, 8, 8, 8, 0);
    model_write(&model, "{\"model_type\":\"gemma2\",\"hidden_size\":8,\"num_hidden_layers\":1,"
                        "\"num_attention_heads\":2,\"head_dim\":4}");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_OK);
    ck_assert(checkpoint->soft_cap == 50);
    szg_checkpoint_close(&checkpoint);
    ck_assert_int_eq(open_saying(model.folder, nulls, 1, said, &checkpoint), SZG_OK);
    ck_assert(checkpoint->soft_cap == 0);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Llama's class has 32 heads: of a model of 8 columns nothing says how many heads it has. */
START_TEST(sizes_that_the_tensors_contradict) {
    static const char *const set[] = {"text_config.num_attention_heads=2"};
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES];
    model_open(&model);
    add_layers(&model, "language_model.model.", 2, 8, 8, 8, 0);
    model_write(&model, "{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llama\","
                        "\"max_position_embeddings\":4096},\"vision_config\":{}}");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
    ck_said(said, "heads: is missing, and the class's default 32 goes with its width 4096, but");
    ck_said(said, "--set text_config.num_attention_heads=VALUE");
    ck_assert_int_eq(open_saying(model.folder, set, 1, said, &checkpoint), SZG_OK);
    ck_assert_int_eq(checkpoint->layers, 2);
    ck_assert_int_eq(checkpoint->model_size, 8);
    ck_assert_int_eq(checkpoint->head_size, 4);
    ck_said(szg_checkpoint_describe(checkpoint).note,
            "the class's num_hidden_layers is 32, and the tensors have 2: theirs is taken");
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

START_TEST(all_that_is_missing_is_said_at_once) {
    static const struct {
        const char *config, *words[3];
    } cases[] = {
        {"{\"model_type\":\"kimi_k2\",\"num_hidden_layers\":2,\"hidden_size\":8,"
         "\"kv_lora_rank\":2,\"v_head_dim\":2,\"rope_theta\":10000}",
         {"config.json: these keys are missing, and the class has no default for them: "
          "num_attention_heads; qk_nope_head_dim; "
          "qk_rope_head_dim: --set KEY=VALUE gives each"}},
        {"{\"model_type\":\"cohere\",\"hidden_size\":8,\"num_hidden_layers\":2}",
         {"rope_theta (10000 in transformers 4, 500000 in 5, and there is no "
          "transformers_version)"}},
        {"{\"model_type\":\"llama\",\"hidden_size\":8,\"num_hidden_layers\":2,"
         "\"num_attention_heads\":2,\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8}}",
         {"rope_scaling: these keys are missing: low_freq_factor; high_freq_factor; "
          "original_max_position_embeddings: --set rope_scaling.KEY=VALUE gives each"}},
    };
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES];
    model_open(&model);
    add_layers(&model, "model.", 2, 8, 8, 8, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model_write(&model, cases[i].config);
        ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
        ck_said(said, cases[i].words[0]);
    }
    model_close(&model);
}
END_TEST

/* ---- Keys of other programs ---- */

/* Nomic's model was trained at 2048 positions, whatever lengths it is used at. */
START_TEST(nomic_was_trained_at_its_own_length) {
    static const szg_checkpoint_options trained = {SZG_INIT(szg_checkpoint_options),
                                                   .context = SZG_CONTEXT_TRAINED};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szgi_rotary rotary;
    char said[MESSAGES];
    model_open(&model);
    model_add(&model, SZGI_DTYPE_F32, 24, 8, "encoder.layers.0.attn.Wqkv.weight");
    for (int side = 0; side < 2; side++)
        model_add(&model, SZGI_DTYPE_F32, 8, -1, "emb_ln.%s", side ? "bias" : "weight");
    model_write(&model, "{\"model_type\":\"nomic_bert\",\"n_embd\":8,\"n_head\":2,\"n_layer\":1,"
                        "\"n_positions\":8192,\"rotary_emb_base\":1000,\"rotary_scaling_factor\":2,"
                        "\"max_trained_positions\":5,\"prenorm\":false}");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_OK);
    ck_said(szg_checkpoint_describe(checkpoint).note,
            "rotary_scaling_factor 2 stretches the base at lengths beyond 5");
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
    ck_close(rotary.theta[1], pow(1000, -0.5), 8 * DBL_EPSILON);
    ck_assert_int_eq(checkpoint->trained_length, 5);
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &trained, &tables));
    ck_assert_int_eq((int64_t)cell(tables.bounds, 0, "lags"), 5);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* attn_factor is read by some programs and not by transformers; 0.9 (0.1 ln 4 + 1) by hand. */
START_TEST(yarn_with_a_factor_of_two_meanings) {
    static const char *const plain[] = {"rope_scaling.attention_factor=1.1386294361119891"};
    static const char *const one[] = {"rope_scaling.attn_factor=1"};
    test_model model;
    szg_checkpoint *checkpoint;
    szgi_rotary rotary;
    char said[MESSAGES];
    model_open(&model);
    add_layers(&model, "model.", 1, 8, 8, 8, 0);
    model_write(&model,
                "{\"model_type\":\"llama\",\"hidden_size\":8,\"num_hidden_layers\":1,"
                "\"num_attention_heads\":2,\"rope_theta\":10000,\"rope_scaling\":{\"rope_type\":"
                "\"yarn\",\"factor\":4,\"original_max_position_embeddings\":64,"
                "\"attn_factor\":0.9}}");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
    ck_said(said, "rope_scaling.attn_factor: is 0.9");
    ck_said(said, "--set rope_scaling.attention_factor=1.02476649");
    ck_said(said, "--set rope_scaling.attention_factor=1.13862943");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(open_saying(model.folder, i ? one : plain, 1, said, &checkpoint), SZG_OK);
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
        ck_close(rotary.amplitude, 1 + 0.1 * log(4), 8 * DBL_EPSILON);
        szg_checkpoint_close(&checkpoint);
    }
    const char *const other[] = {"rope_scaling.attn_factor=1",
                                 "rope_scaling.extrapolation_factor=0.5"};
    ck_assert_int_eq(open_saying(model.folder, other, 2, said, &checkpoint), SZG_EDATA);
    ck_said(said, "rope_scaling.extrapolation_factor: is 0.5");
    model_close(&model);
}
END_TEST

/* Circuits of a model without rotation are the same at every lag: said once, and in each row. */
START_TEST(lags_without_rotation) {
    static const int64_t lags[] = {0, 3};
    static const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options),
                                                   .circuits = true, .lags = lags, .lag_count = 2};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    char said[MESSAGES] = "";
    szg_context_options saying = {SZG_INIT(szg_context_options), .threads = 1, .message = keep_all,
                                  .user = said};
    szg_context *context;
    model_open(&model);
    model_add_bert(&model);
    model_write(&model, model_bert);
    ck_assert_int_eq(szg_context_open(&saying, &context), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_open(context, model.folder, NULL, &checkpoint), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_analyse(context, checkpoint, &options, &tables), SZG_OK);
    ck_said(said, "nothing rotates in this model: circuits are the same at every lag");
    int64_t seen = 0;
    for (int64_t row = 0; row < szg_table_rows(tables.circuits); row++)
        seen += strcmp(cell_text(tables.circuits, row, "circuit"), "qk") == 0 &&
                strcmp(cell_text(tables.circuits, row, "note"),
                       "nothing rotates in this layer: the same at every lag") == 0;
    ck_assert_int_eq(seen, 6); /* three layers, two heads */
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    szg_context_close(&context);
    model_close(&model);
}
END_TEST

/* ---- Files and indexes ---- */

#define LLAMA                                                                                      \
    "{\"model_type\":\"llama\",\"hidden_size\":8,\"num_hidden_layers\":1,"                         \
    "\"num_attention_heads\":2,\"num_key_value_heads\":2,\"rope_theta\":10000,"                    \
    "\"max_position_embeddings\":64}"
#define Q "model.layers.0.self_attn.q_proj.weight"
#define K "model.layers.0.self_attn.k_proj.weight"

/* Queries of another file take the place of the model's, where the index says so. */
START_TEST(the_index_chooses_between_shards) {
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES];
    double q[32], k[32];
    model_open(&model);
    add_layers(&model, "model.", 1, 8, 8, 8, 0);
    model_add(&model, SZGI_DTYPE_F32, 8, 8, Q);
    model_write_text(&model, "config.json", LLAMA);
    model_write_part(&model, "model-1.safetensors", 0, 2);
    model_write_part(&model, "overlay.safetensors", 2, 1);
    for (int i = 0; i < 2; i++) {
        char index[256];
        snprintf(index, sizeof index, "{\"weight_map\":{\"" Q "\":\"%s\",\"" K "\":\"%s\"%s}}",
                 i ? "overlay.safetensors" : "model-1.safetensors", "model-1.safetensors",
                 i ? "" : ",\"x\":\"overlay.safetensors\"");
        model_write_text(&model, "model.safetensors.index.json", index);
        ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_OK);
        ck_said(said, "1 tensors are in several shards: each is read from the one that it names");
        ck_assert(!strstr(said, "remove"));
        ck_szg_ok(model_head(test_context(), checkpoint, 0, 0, q, k));
        const double *want = model.tensor[i ? 2 : 0].value;
        for (int n = 0; n < 32; n++) /* scaled by 4^-1/2 */
            ck_close(q[n], want[n] / 2, 0);
        szg_checkpoint_close(&checkpoint);
    }
    model_write_text(&model, "model.safetensors.index.json",
                     "{\"weight_map\":{\"x\":\"overlay.safetensors\",\"" K
                     "\":\"model-1.safetensors\"}}");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
    ck_said(said, "no index says which counts: name the file to read instead of the folder");
    model_close(&model);
}
END_TEST

/* An index promises what is not there: that is an error where queries or keys are meant. */
START_TEST(an_index_may_promise_what_is_not_read) {
    static const struct {
        const char *map, *said;
        szg_status status;
    } cases[] = {
        {"\"" Q "\":\"model.safetensors\",\"" K "\":\"model.safetensors\","
         "\"lm_head.weight\":\"model.safetensors\"",
         "warning: ", SZG_OK},
        {"\"" Q "\":\"a-1.safetensors\",\"" K "\":\"a-2.safetensors\"",
         "shards that it names are missing: a-1.safetensors, a-2.safetensors; other files have all "
         "of its tensors",
         SZG_OK},
        {"\"" Q "\":\"model.safetensors\",\"" K "\":\"model.safetensors\","
         "\"lm_head.weight\":\"a-2.safetensors\"",
         "missing: a-2.safetensors; no other file has 1 of its tensors, lm_head.weight the first",
         SZG_OK},
    };
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES], index[512];
    model_open(&model);
    add_layers(&model, "model.", 1, 8, 8, 8, 0);
    model_write(&model, LLAMA);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(index, sizeof index, "{\"weight_map\":{%s}}", cases[i].map);
        model_write_text(&model, "model.safetensors.index.json", index);
        ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), cases[i].status);
        ck_said(said, cases[i].said);
        ck_assert_ptr_null(checkpoint->layer[0].problem);
        szg_checkpoint_close(&checkpoint);
    }
    model_write_part(&model, "model.safetensors", 0, 1); /* no keys */
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
    ck_said(said, "tensors that are needed: put them beside it: a-2.safetensors");
    model_close(&model);
}
END_TEST

START_TEST(pointers_are_not_the_files) {
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n"
                                  "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2"
                                  "ca24d17e2393\nsize 90868376\n";
    static const char *const files[] = {"model.safetensors", "model-q4.gguf", "pytorch_model.bin"};
    szg_checkpoint *checkpoint;
    char said[MESSAGES], words[128];
    for (int i = 0; i < 3; i++) {
        test_model model;
        model_open(&model);
        model_write_text(&model, "config.json", LLAMA);
        model_write_text(&model, files[i], pointer);
        snprintf(words, sizeof words, "%s: is a Git LFS pointer, not the file itself: git lfs pull",
                 files[i]);
        ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
        ck_said(said, words);
        ck_assert_int_eq(open_saying(model_path(&model, files[i]), NULL, 0, said, &checkpoint),
                         SZG_EDATA);
        ck_said(said, words);
        model_close(&model);
    }
}
END_TEST

/* Words that are no groups, and words of which nothing says how many bits a code has. Layers that
 * are whole are read. */
START_TEST(mlx_needs_its_sizes) {
    static const char *const keys[] = {",\"quantization\":{\"group_size\":64,\"bits\":4}", ""};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    char config[512];
    for (int whole = 0; whole < 2; whole++)
        for (int i = 0; i < 2; i++) {
            model_open(&model);
            for (int side = 0; side < 2; side++) {
                const char *name = side ? "k_proj" : "q_proj";
                model_add(&model, SZGI_DTYPE_F32, 8, 1, "model.layers.0.self_attn.%s.weight", name)
                    ->dtype_name = "U32";
                model_add(&model, SZGI_DTYPE_F16, 8, 1, "model.layers.0.self_attn.%s.scales", name);
                model_add(&model, SZGI_DTYPE_F16, 8, 1, "model.layers.0.self_attn.%s.biases", name);
                if (whole)
                    model_add(&model, SZGI_DTYPE_F32, 8, 8, "model.layers.1.self_attn.%s.weight",
                              name);
            }
            snprintf(config, sizeof config,
                     "{\"model_type\":\"llama\",\"hidden_size\":8,\"num_hidden_layers\":%d,"
                     "\"num_attention_heads\":2,\"rope_theta\":10000,\"num_key_value_heads\":2%s}",
                     1 + whole, keys[i]);
            model_write(&model, config);
            ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
            ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
            ck_assert_int_eq(tables.bad, 1);
            ck_noted(&tables, 0, -1, "qk",
                     i ? "bits of quantization is missing: --set quantization.bits=4 gives it"
                       : "1 words a row are no groups of 64 codes of 4 bits");
            szg_checkpoint_tables_close(&tables);
            szg_checkpoint_close(&checkpoint);
            model_close(&model);
        }
}
END_TEST

/* peft renames the weight that it adapts: of both sides, or of keys alone. */
START_TEST(an_unmerged_adapter_is_said) {
    for (int side = 0; side < 2; side++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char said[MESSAGES];
        model_open(&model);
        model_add(&model, SZGI_DTYPE_F32, 8, 8, "base_model.model.%s",
                  side ? Q : "model.layers.0.self_attn.q_proj.base_layer.weight");
        model_add(&model, SZGI_DTYPE_F32, 8, 8, "base_model.model.%s",
                  side ? "model.layers.0.self_attn.k_proj.base_layer.weight" : K);
        model_write(&model, LLAMA);
        szg_status status = open_saying(model.folder, NULL, 0, said, &checkpoint);
        ck_assert_int_eq(status, side ? SZG_OK : SZG_EDATA);
        if (side) {
            ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
            ck_noted(&tables, 0, -1, "qk", "a LoRA adapter that is not merged: merge it");
            szg_checkpoint_tables_close(&tables);
        } else {
            ck_said(said, "q_proj.base_layer.weight is there, the weight under a LoRA adapter that "
                          "is not merged: merge it (peft: merge_and_unload");
        }
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* ---- Folders of other programs ---- */

static void make_folder(const test_model *model, const char *name) {
    ck_assert_int_eq(mkdir(model_path(model, name), 0777), 0);
}

/* Moves the model's two files into a folder of its own. */
static void move_into(const test_model *model, const char *folder) {
    static const char *const files[] = {"model.safetensors", "config.json"};
    for (int i = 0; i < 2; i++) {
        char from[128], to[64];
        snprintf(from, sizeof from, "%s", model_path(model, files[i]));
        snprintf(to, sizeof to, "%s/%s", folder, files[i]);
        ck_assert_int_eq(rename(from, model_path(model, to)), 0);
    }
}

START_TEST(one_snapshot_of_the_cache_is_read) {
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES];
    model_open(&model);
    add_layers(&model, "model.", 1, 8, 8, 8, 0);
    model_write(&model, LLAMA);
    make_folder(&model, "models--a--b");
    make_folder(&model, "models--a--b/snapshots");
    ck_assert_int_eq(open_saying(model_path(&model, "models--a--b"), NULL, 0, said, &checkpoint),
                     SZG_EDATA);
    ck_said(said, "without a snapshot: fetch it again: hf download");
    make_folder(&model, "models--a--b/snapshots/f00");
    move_into(&model, "models--a--b/snapshots/f00");
    ck_assert_int_eq(open_saying(model_path(&model, "models--a--b"), NULL, 0, said, &checkpoint),
                     SZG_OK);
    ck_said(said, "is a model in the Hugging Face hub's cache: its snapshot f00 is read");
    ck_assert(strstr(szg_checkpoint_describe(checkpoint).source, "models--a--b/snapshots/f00"));
    szg_checkpoint_close(&checkpoint);
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
    ck_said(said, "is the Hugging Face hub's cache: name a model's folder in it, as models--a--b");
    model_write_text(&model, "model.safetensors", "");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
    ck_said(said, "model.safetensors: is truncated");
    make_folder(&model, "models--a--b/snapshots/f01");
    ck_assert_int_eq(open_saying(model_path(&model, "models--a--b"), NULL, 0, said, &checkpoint),
                     SZG_EDATA);
    ck_said(said, "with 2 snapshots, f00 and f01 among them: name the one to read");
    model_close(&model);
}
END_TEST

START_TEST(a_module_of_sentence_transformers_is_read) {
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES];
    model_open(&model);
    add_layers(&model, "model.", 1, 8, 8, 8, 0);
    model_write(&model, LLAMA);
    model_write_text(&model, "modules.json",
                     "[{\"idx\":0,\"path\":\"0_T\",\"type\":"
                     "\"sentence_transformers.models.Transformer\"},{\"idx\":1,\"path\":"
                     "\"1_Pooling\",\"type\":\"sentence_transformers.models.Pooling\"}]");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_OK);
    ck_assert_str_eq(szg_checkpoint_describe(checkpoint).source, model.folder); /* at the root */
    szg_checkpoint_close(&checkpoint);
    make_folder(&model, "0_T");
    move_into(&model, "0_T");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_OK);
    ck_said(said, "is a folder of sentence-transformers: its module 0_T is read");
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

START_TEST(names_and_stores_are_told_apart) {
    static const char *const none[] = {"./org/name", "/org/name", "org/name/x", "org",
                                       "org/model.safetensors"};
    test_model model;
    szg_checkpoint *checkpoint;
    char said[MESSAGES];
    model_open(&model);
    ck_assert_int_eq(open_saying("no-such-org/a.model-1", NULL, 0, said, &checkpoint), SZG_EIO);
    ck_said(said, "no file or folder is called so");
    ck_said(said,
            "hf download no-such-org/a.model-1; or python3 -m szego.hub no-such-org/a.model-1");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_int_eq(open_saying(none[i], NULL, 0, said, &checkpoint), SZG_EIO);
        ck_assert_msg(!strstr(said, "hf download"), "%s", said);
    }
    make_folder(&model, "manifests");
    make_folder(&model, "blobs");
    ck_assert_int_eq(open_saying(model.folder, NULL, 0, said, &checkpoint), SZG_EDATA);
    ck_said(said, "is Ollama's store of models: ollama show NAME --modelfile");
    model_close(&model);
}
END_TEST

/* ---- Failed allocations ---- */

static szg_status open_close(const char *path) {
    szg_checkpoint *checkpoint;
    SZG_TRY(szg_checkpoint_open(test_context(), path, NULL, &checkpoint));
    szg_checkpoint_close(&checkpoint);
    return SZG_OK;
}

/* Defaults, contradicted ones among them, a stale index, and both kinds of folder. */
START_TEST(failed_allocations_are_survived) {
    test_model model;
    model_open(&model);
    add_layers(&model, "model.", 2, 8 * 4, 8 * 4, 8, 4);
    model_write(&model, "{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":2}");
    model_write_text(&model, "model.safetensors.index.json",
                     "{\"weight_map\":{\"" Q "\":\"a-1.safetensors\",\"x\":\"a-2.safetensors\"}}");
    ck_survives_failed_allocations(1, open_close(model.folder));
    ck_assert_int_eq(unlink(model_path(&model, "model.safetensors.index.json")), 0);
    make_folder(&model, "models--a--b");
    make_folder(&model, "models--a--b/snapshots");
    make_folder(&model, "models--a--b/snapshots/f00");
    move_into(&model, "models--a--b/snapshots/f00");
    ck_survives_failed_allocations(1, open_close(model_path(&model, "models--a--b")));
    model_write_text(&model, "modules.json",
                     "[{\"path\":\"models--a--b/snapshots/f00\",\"type\":\"a.Transformer\"}]");
    ck_survives_failed_allocations(1, open_close(model.folder));
    model_close(&model);
}
END_TEST

TEST_FILE("published") {
    test_add(suite, "gemma3_is_read_by_its_defaults", gemma3_is_read_by_its_defaults);
    test_add(suite, "defaults_of_other_classes", defaults_of_other_classes);
    test_add(suite, "all_sizes_by_default", all_sizes_by_default);
    test_add(suite, "a_null_is_no_default", a_null_is_no_default);
    test_add(suite, "sizes_that_the_tensors_contradict", sizes_that_the_tensors_contradict);
    test_add(suite, "all_that_is_missing_is_said_at_once", all_that_is_missing_is_said_at_once);
    test_add(suite, "nomic_was_trained_at_its_own_length", nomic_was_trained_at_its_own_length);
    test_add(suite, "yarn_with_a_factor_of_two_meanings", yarn_with_a_factor_of_two_meanings);
    test_add(suite, "lags_without_rotation", lags_without_rotation);
    test_add(suite, "the_index_chooses_between_shards", the_index_chooses_between_shards);
    test_add(suite, "an_index_may_promise_what_is_not_read", an_index_may_promise_what_is_not_read);
    test_add(suite, "pointers_are_not_the_files", pointers_are_not_the_files);
    test_add(suite, "mlx_needs_its_sizes", mlx_needs_its_sizes);
    test_add(suite, "an_unmerged_adapter_is_said", an_unmerged_adapter_is_said);
    test_add(suite, "one_snapshot_of_the_cache_is_read", one_snapshot_of_the_cache_is_read);
    test_add(suite, "a_module_of_sentence_transformers_is_read",
             a_module_of_sentence_transformers_is_read);
    test_add(suite, "names_and_stores_are_told_apart", names_and_stores_are_told_apart);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
