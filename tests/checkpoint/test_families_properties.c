/* What the table `architecture` says of families, and the options that choose among stacks and
 * values. */
#include <math.h>
#include <string.h>

#include "families_oracle.h"

/* What acts on the logits of each family beside W_Q^T W_K, by hand from the definition of its
 * class: the logits above are right only if these are there, and here each must be said. */
static const struct {
    const char *family, *left_out;
} left_out[] = {
    {"llama", ""},
    {"gemma", ""},
    {"qwen2", "bias "},
    {"qwen2_vl", "rotary_sections bias "},
    {"qwen3_vl", "rotary_sections query_key_norm "},
    {"qwen3", "query_key_norm "},
    {"phi", "query_key_norm bias "},
    {"cohere", "query_key_norm "},
    {"stablelm", "query_key_norm bias "},
    {"olmo", "clip "},
    {"olmo3", "query_key_norm "},
    {"gemma2", "soft_cap "},
    {"hunyuan_v1_dense", "query_key_norm "},
    {"llama4_text", "query_key_norm temperature "},
    {"ministral3", "temperature "},
    {"gpt_oss", "bias sinks "},
    {"openai_privacy_filter", "bias sinks "},
    {"mpt", "clip alibi "},
    {"bloom", "bias alibi "},
    {"falcon", ""},
    {"falcon-alibi", "bias alibi "},
    {"t5", "lag_terms "},
    {"mpnet", "bias lag_terms "},
    {"deberta-v2", "bias lag_terms "},
    {"deepseek_v3", "latent_norm "},
    {"longcat_flash", "latent_norm "},
    {"gemma4_text", "query_key_norm "},
    {"dinov2", "bias "},
    {"dinov3_vit", "bias patch_rotation "},
    {"exaone_moe", "query_key_norm "},
    {"deepseek_v32", "latent_norm indexer "},
    {"diffllama", "softmax "},
    {"t5gemma", "soft_cap "},
    {"mistral4", "latent_norm temperature "},
};

static void open_dry(const char *family, szg_checkpoint **checkpoint,
                     szg_checkpoint_tables *tables) {
    char folder[512];
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    snprintf(folder, sizeof folder, "%s/%s", data_folder(), family);
    ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), *checkpoint, &dry, tables));
    ck_assert_ptr_null(tables->summary);
    ck_assert_ptr_null(tables->spectra);
}

START_TEST(what_is_left_out_has_a_row) {
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char found[256] = "";
        open_dry(left_out[i].family, &checkpoint, &tables);
        for (int64_t row = 0; row < szg_table_rows(tables.architecture); row++)
            if ((int64_t)cell(tables.architecture, row, "left_out") == 1) {
                strcat(found, cell_text(tables.architecture, row, "property"));
                strcat(found, " ");
            }
        ck_assert_msg(strcmp(found, left_out[i].left_out) == 0, "%s: left out is '%s', not '%s'",
                      left_out[i].family, found, left_out[i].left_out);
        /* and a note says so to people */
        ck_assert_msg(!*szg_checkpoint_describe(checkpoint).note == !*left_out[i].left_out,
                      "%s: '%s'", left_out[i].family, szg_checkpoint_describe(checkpoint).note);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Properties with the key that decided them, of families that show each kind. */
static const struct {
    const char *family, *property, *value, *layers, *key;
} decided[] = {
    {"gemma2", "scale", "0.44721359549995793", "0-1", "query_pre_attn_scalar"},
    {"gemma2", "soft_cap", "2", "", "attn_logit_softcapping"},
    {"qwen3_vl", "rotary_sections", "[1,1,2]", "", "rope_parameters.mrope_section"},
    {"gpt2", "scale", "0.5", "0", "scale_attn_weights"},
    {"smollm3", "no_rotation", "1", "1", "no_rope_layers"},
    {"exaone4", "no_rotation", "1", "1", "layer_types"},
    {"granitemoehybrid-nope", "no_rotation", "1", "1", "position_embedding_type"},
    {"qwen3_next", "attention", "queries and keys", "1", "layer_types"},
    {"qwen3_next", "layout", "separate, queries with gates", "", ""},
    {"qwen3_next", "norm_gain", "1 + weight", "", ""},
    {"gemma", "input_norm", "RMS, gains 1 + weight", "0-1",
     "model.layers.0.input_layernorm.weight"},
    {"apertus", "input_norm", "RMS", "0-1", "model.layers.0.attention_layernorm.weight"},
    {"longcat_flash", "input_norm", "RMS", "0-1", "model.layers.0.input_layernorm.0.weight"},
    {"dinov2", "input_norm", "mean and variance", "0-1", "encoder.layer.0.norm1.weight"},
    {"olmo", "input_norm", "mean and variance, without gains", "0-1", ""},
    {"electra", "input_norm", "mean and variance", "1", "encoder.layer.0.output.LayerNorm.weight"},
    {"gemma3n_text", "shared_keys", "of layer 0", "2", "num_kv_shared_layers"},
    {"gemma4_text", "stack", "sliding", "", ""},
    {"gemma4_text", "attention", "queries and keys", "0+2", "layer_types"},
    {"longcat_flash", "stack", "first", "", ""},
    {"longcat_flash", "layers", "2", "", "num_layers"},
    {"olmo_hybrid-nope", "no_rotation", "1", "1", "rope_theta"},
    {"zamba2", "shared_layers", "2 blocks", "", "num_mem_blocks"},
    {"zamba2", "model_size", "32", "", "hidden_size"},
    {"zamba", "shared_layers", "1 blocks", "", ""},
    {"zamba", "scale", "0.5", "0-4", ""},
    {"albert", "shared_layers", "1 groups", "", "num_hidden_groups"},
    {"falcon", "key_heads", "2", "", "num_kv_heads"},
    {"falcon-mqa", "key_heads", "1", "", "multi_query"},
    {"deepseek_v3", "pairing", "interleaved", "0-1", "rope_interleave"},
    {"deepseek_v3", "rotated", "6-9", "0-1", ""},
    {"t5", "head_size", "6", "", "d_kv"},
    {"t5", "stack", "encoder", "", ""},
    {"llama", "heads", "4", "", "num_attention_heads"},
    {"opt", "position_first", "2", "", ""},
    {"mpnet", "position_first", "2", "", ""},
    {"mvp", "position_first", "2", "", ""},
    {"vit", "position_rows", "5", "", ""},
    {"electra", "positions", "none", "", ""},
    {"whisper", "positions", "learned", "", "model.encoder.embed_positions.weight"},
    {"mpt", "clip", "0.80000000000000004", "", "attn_config.clip_qkv"},
    {"mpt", "scale", "0.40000000000000002", "0-1", "attn_config.softmax_scale"},
};

START_TEST(properties_name_their_keys) {
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++) {
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        int64_t found = -1;
        open_dry(decided[i].family, &checkpoint, &tables);
        for (int64_t row = 0; row < szg_table_rows(tables.architecture) && found < 0; row++)
            if (strcmp(cell_text(tables.architecture, row, "property"), decided[i].property) == 0)
                found = row;
        ck_assert_msg(found >= 0, "%s has no %s", decided[i].family, decided[i].property);
        const char *const got[] = {cell_text(tables.architecture, found, "value"),
                                   cell_text(tables.architecture, found, "layers"),
                                   cell_text(tables.architecture, found, "key")};
        const char *const wanted[] = {decided[i].value, decided[i].layers, decided[i].key};
        for (int j = 0; j < 3; j++)
            ck_assert_msg(strcmp(got[j], wanted[j]) == 0, "%s, %s: '%s', not '%s'",
                          decided[i].family, decided[i].property, got[j], wanted[j]);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Of llava the stack of text is read; --prefix reads the tower, by vision_config. */
START_TEST(a_prefix_chooses_another_stack) {
    char folder[512];
    szg_checkpoint *checkpoint;
    snprintf(folder, sizeof folder, "%s/llava", data_folder());
    szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices)};
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    ck_assert_str_eq(szg_checkpoint_describe(checkpoint).model_type, "llama");
    ck_assert_int_eq(szg_checkpoint_describe(checkpoint).layers, 2);
    szg_checkpoint_close(&checkpoint);
    choices.prefix = "vision_tower.";
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    ck_assert_str_eq(szg_checkpoint_describe(checkpoint).model_type, "clip_vision_model");
    ck_assert_int_eq(szg_checkpoint_describe(checkpoint).layers, 3);
    ck_assert_int_eq(szg_checkpoint_describe(checkpoint).position_rows,
                     5); /* 2 x 2 patches, class */
    szg_checkpoint_close(&checkpoint);
    choices.prefix = "nothing.";
    ck_assert_int_eq(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint),
                     SZG_EDATA);
    ck_assert(strstr(szg_context_message(test_context()), "no tensor is called nothing.layers.N"));
    ck_assert(strstr(szg_context_message(test_context()), "use --prefix language_model.model."));
    choices = (szg_checkpoint_choices){SZG_INIT(szg_checkpoint_choices), .stack = "encoder"};
    ck_assert_int_eq(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint),
                     SZG_EINVAL);
    ck_assert(strstr(szg_context_message(test_context()), "no stack called 'encoder'"));
}
END_TEST

/* Global layers of Gemma 4: head sizes and key heads are those of per_layer_config, or the keys of
 * the configuration as it was published. */
START_TEST(global_layers_have_their_own_sizes) {
    static const struct {
        const char *set[4];
        const char *words; /* NULL: it opens, with */
        int64_t head_size, key_heads;
    } cases[] = {
        {{NULL}, NULL, 16, 1},
        {{"per_layer_config=null", "global_head_dim=16", "num_global_key_value_heads=1"},
         NULL,
         16,
         1},
        {{"per_layer_config=null", "global_head_dim=8", "attention_k_eq_v=false",
          "num_global_key_value_heads=1"},
         NULL,
         8,
         2},
        {{"per_layer_config=null"}, "global_head_dim: is missing", 0, 0},
        {{"per_layer_config.1.head_dim=8"},
         "per_layer_config.3.head_dim: is 16, but 8 in another layer of type 'full_attention'",
         0,
         0},
        {{"per_layer_config.1.head_dim=0"}, "is 16, but 0", 0, 0},
        {{"per_layer_config={\"1\":{},\"3\":{}}"}, NULL, 8, 2},
    };
    char folder[512];
    snprintf(folder, sizeof folder, "%s/gemma4_text", data_folder());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_checkpoint *checkpoint;
        szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = cases[i].set,
                                          .stack = "full"};
        while (choices.sets < 4 && cases[i].set[choices.sets])
            choices.sets++;
        szg_status status =
            szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint);
        if (cases[i].words) {
            ck_szg_fails(SZG_EDATA, cases[i].words, status);
            continue;
        }
        ck_szg_ok(status);
        ck_assert_int_eq(szg_checkpoint_describe(checkpoint).head_size, cases[i].head_size);
        ck_assert_int_eq(szg_checkpoint_describe(checkpoint).key_heads, cases[i].key_heads);
        ck_assert_str_eq(szg_checkpoint_describe(checkpoint).stacks, "sliding+full");
        ck_assert_int_eq(checkpoint->rotations, 1); /* the other one is for heads of another size */
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Of Qwen's omni models the stack that reads text is read; what speaks is another one. */
START_TEST(a_thinker_is_the_text) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    static const char *const prefixes[] = {"thinker.model.", "talker.model."};
    for (int i = 0; i < 2; i++) {
        model_add(&model, SZGI_DTYPE_F32, 4, 4, "%slayers.0.self_attn.q_proj.weight", prefixes[i]);
        model_add(&model, SZGI_DTYPE_F32, 4, 4, "%slayers.0.self_attn.k_proj.weight", prefixes[i]);
    }
    model_write(&model, "{\"model_type\":\"qwen2_5_omni\",\"thinker_config\":{\"text_config\":{"
                        "\"model_type\":\"qwen2_5_omni_text\",\"num_hidden_layers\":1,"
                        "\"num_attention_heads\":1,\"hidden_size\":4,\"rope_theta\":10000}}}");
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert_str_eq(szg_checkpoint_describe(checkpoint).model_type, "qwen2_5_omni_text");
    ck_assert_str_eq(checkpoint->prefix, "thinker.model.");
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Values given by hand: in place of what is there, in an inner object, a text, a list. */
START_TEST(values_are_set) {
    static const struct {
        const char *set, *words; /* words NULL: it opens */
    } cases[] = {
        {"rope_parameters.rope_theta=1000", NULL},
        {"rope_parameters.rope_theta=-1", "rope_parameters.rope_theta: is -1"},
        {"rope_parameters.rope_type=spiral", "'spiral'"},
        {"num_hidden_layers=null", "num_hidden_layers: is missing, and nothing is assumed: --set "
                                   "num_hidden_layers=VALUE gives it"},
        {"rope_parameters={\"rope_theta\":1000,\"rope_type\":\"default\"}", NULL},
        {"rope_theta", "KEY=VALUE is needed"},
        {"=3", "KEY=VALUE is needed"},
        {"a.b.c.d.e.f.g.h.i.j=3", "at most"},
        {"rope_thata=1000", "--set rope_thata: nothing reads this key in this model (model_type "
                            "'mistral'): did you mean rope_theta?"},
        {"text_config.rope_theta=1000", "did you mean rope_theta?"},
        {"rope_parameters.rope_thetas=1000", "did you mean rope_parameters.rope_theta?"},
        {"vocab_size=7", "--set vocab_size: nothing reads this key in this model"},
        {"rope_parameters.factor=2", "--set rope_parameters.factor: nothing reads"},
    };
    char folder[512];
    snprintf(folder, sizeof folder, "%s/mistral", data_folder());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_checkpoint *checkpoint;
        szgi_rotary rotary;
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices),
                                                .set = &cases[i].set, .sets = 1};
        szg_status status =
            szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint);
        if (cases[i].words) {
            ck_assert_msg(status == SZG_EDATA || status == SZG_EINVAL, "%s: %s", cases[i].set,
                          szg_status_name(status));
            ck_assert_msg(strstr(szg_context_message(test_context()), cases[i].words), "%s: '%s'",
                          cases[i].set, szg_context_message(test_context()));
            continue;
        }
        ck_szg_ok(status);
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
        ck_close(rotary.theta[1], pow(1000, -0.5), gamma_of(4) * pow(1000, -0.5));
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* A key is looked up where the stack's settings are, and of several stacks one may read it. */
START_TEST(values_that_nothing_reads) {
    static const char *const sets[] = {"rope_theta=1000", "decoder_layers=2", "a.b=1", "a=2"};
    char folder[512];
    szg_checkpoint *checkpoint;
    szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = sets, .sets = 1};
    snprintf(folder, sizeof folder, "%s/llava", data_folder());
    ck_szg_fails(SZG_EINVAL, "did you mean text_config.rope_theta?",
                 szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    snprintf(folder, sizeof folder, "%s/bart", data_folder());
    choices.set = &sets[1];
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    szg_checkpoint_close(&checkpoint);
    choices.set = &sets[2];
    choices.sets = 2;
    ck_szg_fails(SZG_EINVAL, "--set a.b=1: a later --set takes it away",
                 szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
}
END_TEST

/* Forms in which some families were first published. */
START_TEST(older_forms) {
    static const struct {
        const char *family, *set[3], *property, *value, *layers; /* value NULL: there is no row */
    } cases[] = {
        {"llama4_text",
         {"no_rope_layers=[]", "attn_temperature_tuning=4"},
         "no_rotation",
         NULL,
         ""},
        {"llama4_text", {"no_rope_layers=[]", "no_rope_layer_interval=2"}, "no_rotation", "1", "1"},
        {"llama4_text", {"attn_temperature_tuning=0"}, "temperature", NULL, ""},
        {"lfm2", {"layer_types=null", "full_attn_idxs=[1]"}, "attention", "queries and keys", "1"},
        {"qwen3_next",
         {"layer_types=null", "full_attention_interval=2"},
         "attention",
         "queries and keys",
         "1"},
        {"exaone4", {"layer_types=null", "sliding_window_pattern=2"}, "no_rotation", "1", "1"},
        {"exaone4", {"sliding_window=null"}, "no_rotation", NULL, ""},
        {"kimi_linear",
         {"layer_types=null", "linear_attn_config={\"full_attn_layers\": [2]}"},
         "attention",
         "queries and keys",
         "1"},
        {"cohere2_moe", {"mlp_layer_types=null"}, "no_rotation", "1", "0+2"},
        {"cohere2_moe", {"prefix_dense_sliding_window_pattern=1"}, "no_rotation", "1", "2"},
        {"deberta-v2", {"pos_att_type=c2p|p2c"}, "scale", "0.28867513459481292", "0-1"},
        {"mistral",
         {"rope_parameters={\"rope_theta\":10000,\"rope_type\":\"default\",\"spin\":3}"},
         "rotary",
         "rope:dim=4,rotary=4,base=10000,pairing="
         "half; the rotary key 'spin' is not known "
         "to szego",
         "0-1"},
        {"llama", {"max_position_embeddings=12"}, "trained_length", "12", ""},
        {"llama", {"max_position_embeddings=\"long\""}, "trained_length", NULL, ""},
        /* as OPT's class has it */
        {"opt", {"do_layer_norm_before=null"}, "input_norm", "mean and variance", "0-1"},
        /* what every layer's tensors contradict */
        {"qwen3",
         {"head_dim=4"},
         "bad",
         "tensor model.layers.0.self_attn.q_proj.weight has shape [32, 16], the configuration "
         "wants "
         "[16, 16]; tensor model.layers.0.self_attn.k_proj.weight has shape [16, 16], the "
         "configuration wants [8, 16]",
         "0-1"},
        {"qwen3", {"head_dim=8"}, "bad", NULL, ""},
        /* multipliers of which all readers make the paper's factor, 0.1 ln(4) + 1 */
        {"deepseek_v3",
         {"rope_parameters.mscale_all_dim=0"},
         "rotary_amplitude",
         "1.1386294361119891",
         "0-1"},
        {"deepseek_v3",
         {"rope_parameters.mscale=null", "rope_parameters.mscale_all_dim=null"},
         "rotary_amplitude",
         "1.1386294361119891",
         "0-1"},
        {"nomic_bert",
         {"rotary_emb_fraction=1.0", "rotary_emb_interleaved=false", "rotary_emb_scale_base=null"},
         "pairing",
         "half",
         "0-1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[512];
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
        szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = cases[i].set};
        while (choices.sets < 3 && cases[i].set[choices.sets])
            choices.sets++;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), cases[i].family);
        ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &dry, &tables));
        ck_assert_int_eq(tables.bad,
                         strcmp(cases[i].property, "bad") == 0 && cases[i].value ? 2 : 0);
        int64_t found = -1;
        for (int64_t row = 0; row < szg_table_rows(tables.architecture); row++)
            if (strcmp(cell_text(tables.architecture, row, "property"), cases[i].property) == 0)
                found = row;
        ck_assert_msg((found >= 0) == (cases[i].value != NULL), "%s, case %zu: %s", cases[i].family,
                      i, cases[i].property);
        if (found >= 0) {
            ck_assert_str_eq(cell_text(tables.architecture, found, "value"), cases[i].value);
            ck_assert_str_eq(cell_text(tables.architecture, found, "layers"), cases[i].layers);
        }
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Gemma 3's older form has two bases, each under its own key. */
START_TEST(two_bases_have_two_keys) {
    const char *const set[] = {"rope_parameters=null", "rope_theta=1000000",
                               "rope_local_base_freq=10000"};
    const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                            .sets = 3};
    char folder[512];
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    int found = 0;
    snprintf(folder, sizeof folder, "%s/gemma3_text", data_folder());
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &dry, &tables));
    for (int64_t row = 0; row < szg_table_rows(tables.architecture); row++) {
        if (strcmp(cell_text(tables.architecture, row, "property"), "rotary") != 0)
            continue;
        ck_assert_str_eq(cell_text(tables.architecture, row, "key"),
                         "rope_theta, rope_local_base_freq");
        found++;
    }
    ck_assert_int_eq(found, 2);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
}
END_TEST

/* What szego would read in another way than the model does is refused, with key and remedy. */
START_TEST(forms_that_are_refused) {
    static const struct {
        const char *family, *set, *words[2];
    } cases[] = {
        {"lfm2",
         "layer_types=[\"conv\", \"full attention\"]",
         {"layer_types: makes layer 1 one of 'full attention'", "--set layer_types=VALUE"}},
        {"qwen2",
         "rope_parameters.rope_type=null",
         {"rope_parameters.rope_type: is missing", "--set rope_parameters.rope_type=TYPE"}},
        {"phi3-longrope",
         "rope_parameters.rope_type=null",
         {"rope_parameters.rope_type: is missing", "--set rope_parameters.rope_type=TYPE"}},
        {"olmo3",
         "rope_parameters.sliding_attention=null",
         {"rope_parameters.sliding_attention: is missing",
          "--set rope_parameters.sliding_attention=VALUE"}},
        {"albert", "inner_group_num=2", {"inner_group_num: is 2", "--config none"}},
        {"mpt", "attn_config.alibi=false", {"attn_config.alibi: is false", "--config none"}},
        {"nomic_bert", "rotary_emb_fraction=0.5", {"rotary_emb_fraction:", "--config none"}},
        {"nomic_bert", "rotary_emb_interleaved=true", {"rotary_emb_interleaved:", "--config none"}},
        {"nomic_bert", "rotary_emb_scale_base=512", {"rotary_emb_scale_base:", "--config none"}},
        {"glm",
         "rope_parameters.partial_rotary_factor=0.4",
         {"rope_parameters.partial_rotary_factor: lets 3 dimensions", "odd"}},
        {"deberta", "talking_head=true", {"talking_head: is true", "--config none"}},
        {"nanochat", "attention_bias=true", {"attention_bias: is true", "--config none"}},
        {"mvp", "use_prompt=true", {"use_prompt: is true", "--config none"}},
        {"roformer", "rotary_value=true", {"rotary_value: is true", "--config none"}},
        {"zamba2", "use_long_context=true", {"use_long_context: is true", "--config none"}},
        {"zamba2",
         "use_shared_attention_adapter=true",
         {"use_shared_attention_adapter: is true", "--config none"}},
        {"granite_swa", "layer_rope_theta=[1e4]", {"layer_rope_theta: has 1 entries", "2 layers"}},
        {"mimo_v2_flash",
         "rope_parameters={\"rope_type\": \"default\", \"rope_theta\": 1e4}",
         {"rope_parameters: must have the numbers of each type of layer", "--set"}},
        {"cohere2_moe", "mlp_layer_types=null", {NULL, NULL}}, /* no layer is dense */
        {"gptj", "rotary_dim=3", {"rotary_dim: lets 3 dimensions", "odd"}},
        {"qwen3", "head_dim=7", {"head_dim: lets 7 dimensions", "odd"}},
        {"deepseek_v3", "qk_rope_head_dim=3", {"qk_rope_head_dim: lets 3 dimensions", "odd"}},
        {"deepseek_v3", "rope_parameters.mscale_all_dim=null", {NULL, NULL}}, /* mscale 1 alone */
        {"ministral3", "rope_parameters.mscale=0.7", {NULL, NULL}},
        {"qwen2",
         "rope_parameters.mscale=0.7",
         {"mscale and mscale_all_dim", "--set rope_parameters.attention_factor=VALUE"}},
        {"qwen2",
         "rope_parameters.mscale_all_dim=1",
         {"mscale and mscale_all_dim", "--set rope_parameters.attention_factor=VALUE"}},
        {"qwen2", "rope_parameters.mscale=-1", {"rope_parameters.mscale: is -1", "negative"}},
        {"qwen2", "rope_parameters.mscale_all_dim=1e999", {"mscale_all_dim", ""}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[512];
        szg_checkpoint *checkpoint;
        const char *const set[] = {cases[i].set};
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                                .sets = 1};
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), cases[i].family);
        szg_status status =
            szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint);
        const char *message = szg_context_message(test_context());
        ck_assert_msg((status == SZG_EDATA) == (cases[i].words[0] != NULL), "%s, %s: %s",
                      cases[i].family, cases[i].set, message);
        for (int j = 0; j < 2 && cases[i].words[j]; j++)
            ck_assert_msg(strstr(message, cases[i].words[j]), "%s, %s: '%s' lacks '%s'",
                          cases[i].family, cases[i].set, message, cases[i].words[j]);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* T5 as it was published counts the layers of the decoder nowhere: they are as many as the
 * encoder's. */
START_TEST(a_decoder_as_long_as_the_encoder) {
    static const char *const stacks[] = {"encoder", "decoder", "cross"};
    const char *const set[] = {"num_decoder_layers=null"};
    char folder[512];
    snprintf(folder, sizeof folder, "%s/t5", data_folder());
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                                .sets = 1, .stack = stacks[i]};
        szg_checkpoint *checkpoint;
        ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &choices, &checkpoint));
        ck_assert_int_eq(szg_checkpoint_describe(checkpoint).layers, 2);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

/* Layers that predict further tokens are no second stack; two others are, and the message has the
 * options that choose. */
START_TEST(stacks_beside_the_model) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    const char *const prefixes[] = {"model.", "mtp.", "twin."};
    for (int i = 0; i < 3; i++) {
        model_add(&model, SZGI_DTYPE_F32, 4, 4, "%slayers.0.self_attn.q_proj.weight", prefixes[i]);
        model_add(&model, SZGI_DTYPE_F32, 4, 4, "%slayers.0.self_attn.k_proj.weight", prefixes[i]);
    }
    model_write_part(&model, "model.safetensors", 0, 4);
    model_write_text(&model, "config.json",
                     "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":1,"
                     "\"hidden_size\":4,\"rope_theta\":10000}");
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert_str_eq(checkpoint->prefix, "model.");
    szg_checkpoint_close(&checkpoint);
    model_write_part(&model, "model.safetensors", 0, 6);
    ck_assert_int_eq(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint),
                     SZG_EDATA);
    ck_assert_msg(strstr(szg_context_message(test_context()),
                         "--prefix model. or --prefix twin. chooses one"),
                  "%s", szg_context_message(test_context()));
    model_close(&model);
}
END_TEST

/* One layer of an encoder, or of a decoder, whose other stacks are not in the file. */
static void add_half(test_model *model, bool encoder) {
    const char *layer = encoder ? "encoder.block.0.layer.0." : "model.decoder.layers.0.";
    const char *attention = encoder ? "SelfAttention.%s" : "self_attn.%s_proj";
    char name[64], query[96], key[96];
    snprintf(name, sizeof name, "%s%s.weight", layer, attention);
    snprintf(query, sizeof query, name, "q");
    snprintf(key, sizeof key, name, "k");
    model_add(model, SZGI_DTYPE_F32, 8, 8, "%s", query);
    model_add(model, SZGI_DTYPE_F32, 8, 8, "%s", key);
    if (encoder)
        model_add(model, SZGI_DTYPE_F32, 16, 2, "%sSelfAttention.relative_attention_bias.weight",
                  layer);
    model_add(model, SZGI_DTYPE_F32, 8, -1, "%s%s.weight", layer,
              encoder ? "layer_norm" : "self_attn_layer_norm");
}

/* T5EncoderModel, BartForCausalLM: what the file has is read, and nothing else is looked for. */
START_TEST(stacks_without_their_others) {
    static const struct {
        bool encoder;
        const char *stack, *config;
    } halves[] = {{true, "encoder",
                   "{\"model_type\":\"t5\",\"num_layers\":1,\"num_heads\":2,"
                   "\"d_model\":8,\"d_kv\":4}"},
                  {false, "decoder",
                   "{\"model_type\":\"bart\",\"decoder_layers\":1,"
                   "\"decoder_attention_heads\":2,\"d_model\":8}"}};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        model_open(&model);
        add_half(&model, halves[i].encoder);
        model_write(&model, halves[i].config);
        model_analyse(&model, &checkpoint, &tables);
        ck_assert_str_eq(szg_checkpoint_describe(checkpoint).stacks, halves[i].stack);
        ck_assert_str_eq(szg_checkpoint_describe(checkpoint).stack, halves[i].stack);
        ck_assert_int_eq(szg_table_rows(tables.heads), 2);
        ck_assert_int_eq(isfinite(cell(tables.heads, 1, "mean_share")), halves[i].encoder);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        const szg_checkpoint_choices cross = {SZG_INIT(szg_checkpoint_choices), .stack = "cross"};
        ck_assert_int_eq(
            szg_checkpoint_open_chosen(test_context(), model.folder, &cross, &checkpoint),
            SZG_EDATA);
        ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), "no tensor is called"));
        model_close(&model);
    }
}
END_TEST

TEST_FILE("families_properties") {
    test_add(suite, "what_is_left_out_has_a_row", what_is_left_out_has_a_row);
    test_add(suite, "properties_name_their_keys", properties_name_their_keys);
    test_add(suite, "a_prefix_chooses_another_stack", a_prefix_chooses_another_stack);
    test_add(suite, "global_layers_have_their_own_sizes", global_layers_have_their_own_sizes);
    test_add(suite, "a_thinker_is_the_text", a_thinker_is_the_text);
    test_add(suite, "values_are_set", values_are_set);
    test_add(suite, "values_that_nothing_reads", values_that_nothing_reads);
    test_add(suite, "older_forms", older_forms);
    test_add(suite, "two_bases_have_two_keys", two_bases_have_two_keys);
    test_add(suite, "forms_that_are_refused", forms_that_are_refused);
    test_add(suite, "a_decoder_as_long_as_the_encoder", a_decoder_as_long_as_the_encoder);
    test_add(suite, "stacks_beside_the_model", stacks_beside_the_model);
    test_add(suite, "stacks_without_their_others", stacks_without_their_others);
}
