#include "adapter_config.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "checkpoint_private.h"

/* ---- What is refused by name ---- */

#define CONVERT_REMEDY                                                                             \
    "save it as a LoRA of that model (peft: model.save_pretrained(FOLDER, "                        \
    "path_initial_model_for_weight_conversion=INITIAL), INITIAL: the adapter before training, "    \
    "saved with init_lora_weights=True)"
#define PROMPT "adds tokens to the input and changes no weight: read the base without it"

/* peft_types that make no matrix; all others that are not LORA can be merged, or peft says that
 * they cannot. */
static const char *const prompts[] = {"PROMPT_TUNING",           "P_TUNING",
                                      "PREFIX_TUNING",           "ADAPTION_PROMPT",
                                      "MULTITASK_PROMPT_TUNING", "CPT"};

/* init_lora_weights whose A and B are relative to a base that they changed; by the beginning. */
static const struct {
    const char *begin, *name, *remedy;
} inits[] = {
    {"pissa", "PiSSA", CONVERT_REMEDY},
    {"olora", "OLoRA", CONVERT_REMEDY},
    {"corda", "CorDA", CONVERT_REMEDY},
    {"lora_ga", "LoRA-GA", CONVERT_REMEDY},
    {"loftq", "LoftQ", MERGE_REMEDY " over the base that LoftQ made"},
};
static const char *const plain_inits[] = {"true", "false", "gaussian", "eva", "orthogonal", "mica"};

/* Fields of peft's LoraConfig. refusal NULL: it changes no matrix, or is read below, or the names
 * of tensors tell what it did. */
static const struct {
    const char *name, *refusal;
} fields[] = {
    {"alora_invocation_tokens",
     "an activated LoRA acts on the tokens behind its invocation alone, so that no one matrix is "
     "the model's: read the base without it"},
    {"alora_invocation_string",
     "an activated LoRA acts on the tokens behind its invocation alone, so that no one matrix is "
     "the model's: read the base without it"},
    {"alpha_pattern", NULL},
    {"arrow_config", "Arrow chooses among adapters by the token, so that no one matrix is the "
                     "model's: read each of them"},
    {"auto_mapping", NULL},
    {"base_model_name_or_path", NULL},
    {"bias", NULL},
    {"corda_config", NULL},
    {"ensure_weight_tying", "weights that the base ties are adapted together: " MERGE_REMEDY},
    {"eva_config", NULL},
    {"exclude_modules", NULL},
    {"fan_in_fan_out", NULL},
    {"inference_mode", NULL},
    {"init_lora_weights", NULL},
    {"kasa_config", "KaSA changes the base: " MERGE_REMEDY},
    {"layer_replication", "the model has copies of the base's layers: " MERGE_REMEDY},
    {"layers_pattern", NULL},
    {"layers_to_transform", NULL},
    {"loftq_config", NULL},
    {"lora_alpha", NULL},
    {"lora_bias", NULL},
    {"lora_dropout", NULL},
    {"lora_ga_config", NULL},
    {"megatron_config", "layers are Megatron's, and split: " MERGE_REMEDY},
    {"megatron_core", NULL},
    {"modules_to_save", NULL},
    {"monteclora_config", "MonteCLoRA draws its weights: " MERGE_REMEDY},
    {"peft_type", NULL},
    {"peft_version", NULL},
    {"qalora_group_size", NULL},
    {"r", NULL},
    {"rank_pattern", NULL},
    {"revision", NULL},
    {"runtime_config", NULL},
    {"target_modules", NULL},
    {"target_parameters", NULL},
    {"task_type", NULL},
    {"trainable_token_indices", "rows of the embedding are trained apart: " MERGE_REMEDY},
    {"use_bdlora", "BD-LoRA has blocks on the diagonal: " MERGE_REMEDY},
    {"use_dora", NULL},
    {"use_qalora", "QA-LoRA sums inputs in groups: " MERGE_REMEDY},
    {"use_rslora", NULL},
    {"velora_config", "VeLoRA is not known here: " MERGE_REMEDY},
};

/* null, false, "", {}, []: the field is not used. */
static bool is_empty(szgi_json_value value) {
    bool flag = true;
    const char *text;
    switch (szgi_json_kind_of(value)) {
    case SZGI_JSON_BOOLEAN:
        return szgi_json_as_boolean(NULL, value, &flag) == SZG_OK && !flag;
    case SZGI_JSON_TEXT:
        return szgi_json_as_text(NULL, value, &text) == SZG_OK && !*text;
    case SZGI_JSON_OBJECT:
    case SZGI_JSON_ARRAY:
        return szgi_json_count(value) == 0;
    case SZGI_JSON_ABSENT:
    case SZGI_JSON_NULL:
        return true;
    default:
        return false;
    }
}

static szg_status check_field(szg_context *context, szgi_json_value field) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, field.key) == 0)
            return !fields[i].refusal || is_empty(field)
                       ? SZG_OK
                       : szgi_json_fail(context, field, "%s", fields[i].refusal);
    return is_empty(field) ? SZG_OK
                           : szgi_json_fail(context, field,
                                            "szego does not know this field of an adapter, which "
                                            "may change its weights: " MERGE_REMEDY);
}

static szg_status check_type(szg_context *context, szgi_json_value root) {
    const char *type;
    szgi_json_value value = szgi_json_member(root, "peft_type");
    SZG_TRY(szgi_json_as_text(context, value, &type));
    if (strcmp(type, "LORA") == 0)
        return SZG_OK;
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++)
        if (strcmp(type, prompts[i]) == 0)
            return szgi_json_fail(context, value, "is '%s', which " PROMPT, type);
    return szgi_json_fail(context, value, "is '%s', and szego reads LORA alone: " MERGE_REMEDY,
                          SHOWN(type));
}

static szg_status check_init(szg_context *context, szgi_json_value root) {
    char text[32];
    const char *init;
    size_t length = 0;
    szgi_json_value value = szgi_json_member(root, "init_lora_weights");
    szgi_json_kind kind = szgi_json_kind_of(value);
    if (kind == SZGI_JSON_ABSENT || kind == SZGI_JSON_BOOLEAN || kind == SZGI_JSON_NULL)
        return SZG_OK;
    SZG_TRY(szgi_json_as_text(context, value, &init));
    for (; init[length] && length + 1 < sizeof text; length++)
        text[length] = (char)tolower((unsigned char)init[length]);
    text[length] = 0;
    for (size_t i = 0; i < sizeof plain_inits / sizeof *plain_inits; i++)
        if (strcmp(text, plain_inits[i]) == 0)
            return SZG_OK;
    for (size_t i = 0; i < sizeof inits / sizeof *inits; i++)
        if (strncmp(text, inits[i].begin, strlen(inits[i].begin)) == 0)
            return szgi_json_fail(context, value,
                                  "is '%s': %s took its part out of the base before training, so "
                                  "that the adapter is none of the model that it names: %s",
                                  SHOWN(init), inits[i].name, inits[i].remedy);
    return szgi_json_fail(context, value,
                          "is '%s', an initialisation that szego does not know, and which may "
                          "change the base: " MERGE_REMEDY,
                          SHOWN(init));
}

/* ---- Patterns ---- */

enum { PATTERN = 512 };

static szg_status fail_pattern(szg_context *context, szgi_json_value pattern, const char *why) {
    return szgi_json_fail(context, pattern,
                          "szego does not read this regular expression, which has %s: write "
                          "the modules' names out, or " MERGE_REMEDY,
                          why);
}

/* What POSIX and Python do not read alike; NULL: nothing is. */
static const char *find_difference(const char *pattern) {
    bool class = false, empty = true; /* nothing is there to be repeated */
    int open = 0;
    for (const char *at = pattern; *at; at++) {
        if (*at == '\\' && (class || !at[1] || !strchr(".d-_[]()*+?|^$/", at[1])))
            return "a backslash before another character than one of . d - _ [ ] ( ) * + ? | ^ $ /";
        if (*at == '\\') {
            at++;
            empty = false;
            continue;
        }
        if (class && *at == '[')
            return "a bracket in a class";
        if (*at == '[' && (at[1] == ']' || (at[1] == '^' && at[2] == ']')))
            return "a class that begins with a bracket";
        class = *at == '[' || (class && *at != ']');
        if (class) {
            empty = false;
            continue;
        }
        open += (*at == '(') - (*at == ')');
        if (open < 0)
            return "a parenthesis that nothing opens";
        if (*at == '(' && at[1] == '?')
            return "a group (?";
        if (*at == '{')
            return "a count {";
        if (strchr("*+?", *at) && (empty || (at[1] && strchr("*+?", at[1]))))
            return "a repetition of nothing, or of a repetition";
        empty = strchr("(|^", *at) != NULL;
    }
    return open    ? "a parenthesis that nothing closes"
           : class ? "a class that nothing closes"
                   : NULL;
}

/* "(.*\.)?(KEY)$" of peft's get_pattern_key in the language of regcomp. */
static szg_status translate(szg_context *context, szgi_json_value pattern, char out[PATTERN]) {
    const char *why = find_difference(pattern.key);
    if (why)
        return fail_pattern(context, pattern, why);
    size_t used = (size_t)snprintf(out, PATTERN, "^(.*\\.)?(");
    for (const char *at = pattern.key; *at; at++) {
        char one[8] = {*at};
        if (*at == '\\' && at[1] == 'd')
            snprintf(one, sizeof one, "[0-9]");
        else if (*at == '\\' && strchr("-_/]", at[1])) /* which POSIX leaves undefined */
            one[0] = at[1];
        else if (*at == '\\')
            one[1] = at[1];
        at += *at == '\\';
        if (used + sizeof one + sizeof ")$" > PATTERN)
            return fail_pattern(context, pattern, "more than 480 characters");
        used += (size_t)snprintf(out + used, PATTERN - used, "%s", one);
    }
    snprintf(out + used, PATTERN - used, ")$");
    return SZG_OK;
}

static szg_status match(szg_context *context, szgi_json_value pattern, const char *module,
                        bool *out) {
    char text[PATTERN], why[128];
    regex_t compiled;
    SZG_TRY(translate(context, pattern, text));
    int failure = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);
    if (failure) {
        regerror(failure, &compiled, why, sizeof why);
        return szgi_json_fail(context, pattern, "is no regular expression: %s", why);
    }
    *out = regexec(&compiled, module, 0, NULL, 0) == 0;
    regfree(&compiled);
    return SZG_OK;
}

/* The entry of the first pattern that matches; absent where none does. */
static szg_status find_pattern(szg_context *context, szgi_json_value patterns, const char *module,
                               szgi_json_value *out) {
    *out = (szgi_json_value){.node = NULL};
    for (szgi_json_value entry = {0}; szgi_json_next(patterns, &entry);) {
        bool hit = false;
        SZG_TRY(match(context, entry, module, &hit));
        if (hit) {
            *out = entry;
            return SZG_OK;
        }
    }
    return SZG_OK;
}

/* ---- Numbers ---- */

static szg_status read_rank(szg_context *context, szgi_json_value value, int64_t *out) {
    SZG_TRY(szgi_json_as_integer(context, value, out));
    return *out >= 1
               ? SZG_OK
               : szgi_json_fail(context, value, "is %" PRId64 ", and a rank is at least 1", *out);
}

static szg_status read_alpha(szg_context *context, szgi_json_value value, double *out) {
    SZG_TRY(szgi_json_as_real(context, value, out));
    return isfinite(*out) ? SZG_OK : szgi_json_fail(context, value, "is not finite");
}

static szg_status read_flag(szg_context *context, szgi_json_value root, const char *key,
                            bool *out) {
    *out = false;
    return szgi_json_has(root, key)
               ? szgi_json_as_boolean(context, szgi_json_member(root, key), out)
               : SZG_OK;
}

/* Patterns are tried once, so that a bad one is found even where nothing needs it. */
static szg_status read_patterns(szg_context *context, szgi_json_value root, const char *key,
                                bool ranks, szgi_json_value *out) {
    bool hit;
    int64_t rank;
    double alpha;
    *out = (szgi_json_value){.node = NULL};
    if (!szgi_json_has(root, key))
        return SZG_OK;
    *out = szgi_json_member(root, key);
    SZG_TRY(szgi_json_as_object(context, *out));
    for (szgi_json_value entry = {0}; szgi_json_next(*out, &entry);) {
        SZG_TRY(ranks ? read_rank(context, entry, &rank) : read_alpha(context, entry, &alpha));
        SZG_TRY(match(context, entry, "", &hit));
    }
    return SZG_OK;
}

static szg_status read_parameters(szg_context *context, szgi_json_value root,
                                  szgi_json_value *out) {
    const char *name;
    *out = (szgi_json_value){.node = NULL};
    if (!szgi_json_has(root, "target_parameters"))
        return SZG_OK;
    *out = szgi_json_member(root, "target_parameters");
    SZG_TRY(szgi_json_as_array(context, *out));
    for (int64_t i = 0; i < szgi_json_count(*out); i++)
        SZG_TRY(szgi_json_as_text(context, szgi_json_element(*out, i), &name));
    return SZG_OK;
}

szg_status szgi_adapter_config_read(szg_context *context, const szgi_json *json,
                                    adapter_config *out) {
    szgi_json_value root = szgi_json_root(json);
    *out = (adapter_config){.root = root, .base = ""};
    SZG_TRY(szgi_json_as_object(context, root));
    SZG_TRY(check_type(context, root));
    SZG_TRY(check_init(context, root));
    for (szgi_json_value field = {0}; szgi_json_next(root, &field);)
        SZG_TRY(check_field(context, field));
    if (szgi_json_has(root, "base_model_name_or_path"))
        SZG_TRY(szgi_json_as_text(context, szgi_json_member(root, "base_model_name_or_path"),
                                  &out->base));
    SZG_TRY(read_rank(context, szgi_json_member(root, "r"), &out->rank));
    SZG_TRY(read_alpha(context, szgi_json_member(root, "lora_alpha"), &out->alpha));
    SZG_TRY(read_flag(context, root, "use_rslora", &out->rslora));
    SZG_TRY(read_flag(context, root, "use_dora", &out->dora));
    SZG_TRY(read_flag(context, root, "lora_bias", &out->lora_bias));
    SZG_TRY(read_flag(context, root, "fan_in_fan_out", &out->turned));
    SZG_TRY(read_patterns(context, root, "rank_pattern", true, &out->ranks));
    SZG_TRY(read_patterns(context, root, "alpha_pattern", false, &out->alphas));
    return read_parameters(context, root, &out->parameters);
}

szg_status szgi_adapter_config_module(szg_context *context, const adapter_config *config,
                                      const char *module, int64_t *rank, double *scale) {
    szgi_json_value entry;
    double alpha = config->alpha;
    *rank = config->rank;
    SZG_TRY(find_pattern(context, config->ranks, module, &entry));
    if (szgi_json_kind_of(entry) != SZGI_JSON_ABSENT)
        SZG_TRY(read_rank(context, entry, rank));
    SZG_TRY(find_pattern(context, config->alphas, module, &entry));
    if (szgi_json_kind_of(entry) != SZGI_JSON_ABSENT)
        SZG_TRY(read_alpha(context, entry, &alpha));
    *scale = config->rslora ? alpha / sqrt((double)*rank) : alpha / (double)*rank;
    return SZG_OK;
}

const char *szgi_adapter_config_kind(const adapter_config *config) {
    if (config->dora)
        return config->rslora ? "DoRA, rsLoRA" : "DoRA";
    return config->rslora ? "rsLoRA" : "LoRA";
}
