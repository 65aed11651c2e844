#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "adapter.h"
#include "checkpoint_private.h"
#include "defaults.h"
#include "fold.h"
#include "formats/gguf.h"
#include "formats/memory_tensors.h"
#include "gguf.h"
#include "place.h"

/* The file `wanted` beside the file, or in the folder; *out is NULL if there is no such file. */
static szg_status find_beside(szg_context *context, const char *path, const char *wanted,
                              char **out) {
    *out = NULL;
    struct stat entry;
    bool folder = stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
    const char *slash = strrchr(path, '/');
    int length = folder ? (int)strlen(path) : slash ? (int)(slash - path) : 0;
    size_t size = (size_t)length + strlen(wanted) + sizeof "/";
    char *name;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, &name));
    snprintf(name, size, "%.*s%s%s", length, path, folder || slash ? "/" : "", wanted);
    if (stat(name, &entry) == 0 || errno != ENOENT) {
        *out = name;
        return SZG_OK;
    }
    szgi_memory_free(name);
    return SZG_OK;
}

static szg_status read_config(szg_context *context, szg_checkpoint *checkpoint, const char *path,
                              const char *config) {
    if (config && *config)
        return szgi_json_read(context, config, &checkpoint->config);
    char *name = NULL;
    if (!config)
        SZG_TRY(find_beside(context, path, "config.json", &name));
    if (!name)
        return szgi_text_append(context, &checkpoint->unknown,
                                config ? "config.json is not used" : "there is no config.json");
    szg_status status = szgi_json_read(context, name, &checkpoint->config);
    szgi_memory_free(name);
    return status;
}

/* Which object of a composed configuration describes the stack that the caller names by its prefix:
 * vision_config for "vision_tower."; text_config where nothing is named. */
static szgi_json_value choose_settings(const szg_checkpoint *checkpoint, szgi_json_value root) {
    static const char *const parts[][3] = {{"vision_config", "vision", "visual"},
                                           {"audio_config", "audio", "audio"}};
    szgi_json_value thinker = szgi_json_member(root, "thinker_config"); /* Qwen's omni models */
    if (szgi_json_kind_of(thinker) == SZGI_JSON_OBJECT)
        root = thinker;
    for (size_t i = 0; checkpoint->wanted_prefix && i < sizeof parts / sizeof *parts; i++) {
        szgi_json_value part = szgi_json_member(root, parts[i][0]);
        if (szgi_json_kind_of(part) == SZGI_JSON_OBJECT &&
            (strstr(checkpoint->wanted_prefix, parts[i][1]) ||
             strstr(checkpoint->wanted_prefix, parts[i][2])))
            return part;
    }
    szgi_json_value text = szgi_json_member(root, "text_config");
    return szgi_json_kind_of(text) == SZGI_JSON_OBJECT && szgi_json_has(text, "model_type") ? text
                                                                                            : root;
}

/* The object with the attention stack's numbers, its model_type, and the family. */
static szg_status find_family(szg_context *context, szg_checkpoint *checkpoint, const char *stack) {
    szgi_json_value root = szgi_json_root(checkpoint->config);
    SZG_TRY(szgi_json_as_object(context, root));
    checkpoint->settings = choose_settings(checkpoint, root);
    if (!szgi_json_has(checkpoint->settings, "model_type"))
        return szgi_text_append(context, &checkpoint->unknown, "config.json has no model_type");
    const char *type;
    SZG_TRY(
        szgi_json_as_text(context, szgi_json_member(checkpoint->settings, "model_type"), &type));
    SZG_TRY(szgi_memory_copy_text(context, type, &checkpoint->model_type));
    SZG_TRY(szgi_stack_choose(context, checkpoint, stack));
    if (!checkpoint->family || !checkpoint->family->object)
        return SZG_OK;
    checkpoint->settings = szgi_config_at(checkpoint->settings, checkpoint->family->object);
    return szgi_json_as_object(context, checkpoint->settings);
}

static szg_status resolve(szg_context *context, szg_checkpoint *checkpoint) {
    SZG_TRY(szgi_architecture_resolve(context, checkpoint));
    SZG_TRY(szgi_positions_resolve(context, checkpoint));
    SZG_TRY(szgi_rotary_resolve(context, checkpoint));
    szgi_trained_length_resolve(checkpoint);
    SZG_TRY(szgi_windows_resolve(context, checkpoint));
    SZG_TRY(szgi_gguf_divide(context, checkpoint));
    SZG_TRY(szgi_terms_resolve(context, checkpoint));
    return szgi_fold_resolve(context, checkpoint);
}

/* What training with an adapter changed lies in tensors of its own, which attention adds. path
 * NULL: no file is beside them. */
static szg_status note_adapter(szg_context *context, szg_checkpoint *checkpoint, const char *path) {
    static const char sentence[] = "a LoRA adapter is not added to the weights: " MERGE_REMEDY;
    int64_t count = szgi_safetensors_count(checkpoint->tensors), i = 0;
    char *name = NULL;
    while (i < count && !strstr(szgi_safetensors_tensor(checkpoint->tensors, i)->name, "lora_A"))
        i++;
    if (i == count && path)
        SZG_TRY(find_beside(context, path, "adapter_config.json", &name));
    if (i == count && !name)
        return SZG_OK;
    szgi_memory_free(name);
    szgi_say(context, SZG_WARNING, "%s: %s", checkpoint->source, sentence);
    return szgi_text_append(context, &checkpoint->note, "%s", sentence);
}

/* Weights of which none can be read, as they are quantised: one message in place of one a layer. */
static szg_status refuse_quantised(szg_context *context, const szg_checkpoint *checkpoint) {
    char text[512];
    const layer_weights *first = NULL;
    for (int64_t i = 0; checkpoint->family && i < checkpoint->layers; i++) {
        const layer_weights *layer = &checkpoint->layer[i];
        bool packed = layer->q.weight && !layer->q.weight->refusal &&
                      (layer->q.weight->dtype == SZGI_DTYPE_INTEGER ||
                       layer->q.weight->dtype == SZGI_DTYPE_OTHER);
        if (!layer->absent && !packed)
            return SZG_OK;
        first = first || layer->absent ? first : layer;
    }
    if (!first || !szgi_quantised_refusal(checkpoint, text, sizeof text))
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA, "%s: tensor %s is %s: %s", checkpoint->source,
                     SHOWN(first->q.weight->name), first->q.weight->dtype_name, text);
}

/* Shards that the index names are missing, and with them queries or keys. */
static szg_status refuse_missing(szg_context *context, const szg_checkpoint *checkpoint) {
    const char *missing = szgi_safetensors_missing(checkpoint->tensors);
    bool whole = checkpoint->family;
    for (int64_t i = 0; whole && i < checkpoint->layers; i++)
        whole = !checkpoint->layer[i].problem;
    if (!missing || whole)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: shards that the index names are missing, and with them tensors that are "
                     "needed: put them beside it: %s",
                     checkpoint->source, SHOWN(missing));
}

/* The text under the key, or its replacement if the key is missing. */
static const char *text_or(szgi_json_value object, const char *key, const char *otherwise) {
    const char *text;
    bool found = szgi_json_has(object, key) &&
                 szgi_json_as_text(NULL, szgi_json_member(object, key), &text) == SZG_OK;
    return found ? text : otherwise;
}

/* A folder with an adapter is a model of which one part alone would be read. Whoever names a file
 * in it means that file. */
static szg_status refuse_adapter(szg_context *context, const char *path) {
    char *name = NULL;
    szgi_json *json = NULL;
    struct stat entry;
    if (stat(path, &entry) != 0 || !S_ISDIR(entry.st_mode))
        return SZG_OK;
    SZG_TRY(find_beside(context, path, "adapter_config.json", &name));
    if (!name)
        return SZG_OK;
    szg_status status = szgi_json_read(context, name, &json);
    if (status == SZG_OK) {
        szgi_json_value root = szgi_json_root(json);
        status =
            szgi_fail(context, SZG_EDATA,
                      "%s: is an adapter (peft_type %s) of the model '%s': name the base as PATH, "
                      "and this folder with --adapter; or the .safetensors file, to read it alone",
                      name, text_or(root, "peft_type", "missing"),
                      text_or(root, "base_model_name_or_path", "unknown"));
    }
    szgi_json_close(&json);
    szgi_memory_free(name);
    return status;
}

/* A dump for `szego logits` has no weights: each tensor is named for what it holds, or none is 2-D,
 * as weights are. */
static szg_status refuse_dump(szg_context *context, const szg_checkpoint *checkpoint,
                              const char *path) {
#define DUMP_WORD(word, role) word,
    static const char *const words[] = {
#include "formats/dump_words.def"
        "v", /* which a program may dump beside q and k */
    };
#undef DUMP_WORD
    int64_t count = szgi_safetensors_count(checkpoint->tensors), named = 0, flat = 0;
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        const char *name = tensor->name;
        const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            named += strcmp(last, words[w]) == 0;
        flat += tensor->dims == 2;
    }
    if (count > 0 && flat == 0 && named < count)
        return szgi_fail(
            context, SZG_EDATA,
            "%s: there is no config.json, and no tensor has the two axes of a weight: if "
            "these are logits, or queries and keys, `szego logits` reads them",
            path);
    if (count == 0 || named < count)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: its tensors are named as those of a dump of logits, or of queries and "
                     "keys, which `szego logits %s` reads (--config none: singular values of each "
                     "2-D tensor here)",
                     path, path);
}

/* What the configuration, where there is one, says of the tensors. */
static szg_status configure(szg_context *context, szg_checkpoint *checkpoint,
                            const szg_checkpoint_choices *choices) {
    if (choices->sets > 0 && !checkpoint->config)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: --set changes a configuration, and there is none",
                         checkpoint->source);
    if (checkpoint->config) {
        SZG_TRY(szgi_config_change(context, &checkpoint->config, choices->set, choices->sets));
        checkpoint->settings = choose_settings(checkpoint, szgi_json_root(checkpoint->config));
        SZG_TRY(szgi_defaults_take(context, checkpoint));
        SZG_TRY(szgi_config_watch(context, checkpoint->config, choices->set, choices->sets));
        SZG_TRY(szgi_defaults_watch(context, checkpoint));
    }
    SZG_TRY(szgi_quantised_resolve(context, checkpoint)); /* families find weights by their names */
    return checkpoint->config ? find_family(context, checkpoint, choices->stack) : SZG_OK;
}

/* Tensors and configuration: safetensors with config.json. */
static szg_status open_safetensors(szg_context *context, szg_checkpoint *checkpoint,
                                   const char *path, const szg_checkpoint_choices *choices) {
    SZG_TRY(refuse_adapter(context, path));
    SZG_TRY(szgi_safetensors_open(context, path, &checkpoint->tensors));
    SZG_TRY(read_config(context, checkpoint, path, choices->config));
    if (!checkpoint->config && !choices->config)
        SZG_TRY(refuse_dump(context, checkpoint, path));
    SZG_TRY(configure(context, checkpoint, choices));
    return choices->adapter ? szgi_adapter_apply(context, checkpoint, choices->adapter) : SZG_OK;
}

static szg_status open_gguf(szg_context *context, szg_checkpoint *checkpoint, const char *file,
                            const szg_checkpoint_choices *choices) {
    if (choices->adapter)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: --adapter is added to a model in safetensors, whose tensors have the "
                         "names that the adapter has, and not to a GGUF file",
                         file);
    if (choices->sets > 0)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: --set changes config.json, and a GGUF file has its configuration in "
                         "its metadata: gguf-set-metadata changes these (PyPI: gguf)",
                         file);
    return szgi_checkpoint_open_gguf(context, checkpoint, file, choices);
}

/* Weights of queries or keys that are packed, of the first layer that has them. */
static szg_status note_packed(szg_context *context, szg_checkpoint *checkpoint) {
    const szgi_tensor *tensor = NULL;
    for (int64_t i = 0; checkpoint->family && i < checkpoint->layers && !tensor; i++) {
        tensor = szgi_quantised_of(&checkpoint->layer[i], SZGI_DTYPE_CODED);
        tensor = tensor ? tensor : szgi_quantised_of(&checkpoint->layer[i], SZGI_DTYPE_FLOAT8);
    }
    return tensor ? szgi_text_append(context, &checkpoint->note, "weights are dequantised from %s",
                                     tensor->dtype_name)
                  : SZG_OK;
}

/* The architecture of configured tensors that are not GGUF's. path NULL: they are in memory. */
static szg_status settle(szg_context *context, szg_checkpoint *checkpoint, const char *path,
                         const szg_checkpoint_choices *choices) {
    if (checkpoint->family)
        SZG_TRY(resolve(context, checkpoint));
    if (checkpoint->config)
        SZG_TRY(szgi_defaults_note(context, checkpoint, choices->sets));
    if (checkpoint->config)
        SZG_TRY(szgi_config_check(context, checkpoint, choices->set, choices->sets));
    SZG_TRY(refuse_missing(context, checkpoint));
    SZG_TRY(refuse_quantised(context, checkpoint));
    SZG_TRY(note_packed(context, checkpoint));
    return note_adapter(context, checkpoint, path);
}

/* What the description says: first what is left out. */
static szg_status describe(szg_context *context, szg_checkpoint *checkpoint) {
    if (checkpoint->left_out)
        SZG_TRY(szgi_text_append(context, &checkpoint->said, "%s", checkpoint->left_out));
    return checkpoint->note ? szgi_text_append(context, &checkpoint->said, "%s", checkpoint->note)
                            : SZG_OK;
}

static szg_status open_all(szg_context *context, szg_checkpoint *checkpoint, const char *path,
                           const szg_checkpoint_choices *choices) {
    char *gguf;
    SZG_TRY(szgi_memory_copy_text(context, path, &checkpoint->source));
    if (choices->prefix)
        SZG_TRY(szgi_memory_copy_text(context, choices->prefix, &checkpoint->wanted_prefix));
    SZG_TRY(szgi_gguf_find(context, path, &gguf));
    szg_status status = gguf ? open_gguf(context, checkpoint, gguf, choices)
                             : open_safetensors(context, checkpoint, path, choices);
    if (status == SZG_OK && gguf && checkpoint->family)
        status = resolve(context, checkpoint);
    if (status == SZG_OK && !gguf)
        status = settle(context, checkpoint, path, choices);
    if (status == SZG_OK)
        status = describe(context, checkpoint);
    szgi_memory_free(gguf);
    return status;
}

szg_status szg_checkpoint_open_chosen(szg_context *context, const char *path,
                                      const szg_checkpoint_choices *choices, szg_checkpoint **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_checkpoint_choices own;
    SZG_TRY(SZGI_OPTIONS(context, szg_checkpoint_choices, choices, &own));
    szg_checkpoint *checkpoint;
    SZG_TRY(szgi_memory_alloc(context, 1, &checkpoint));
    char *place;
    szg_status status = szgi_place_find(context, path, own.revision, &place);
    if (status == SZG_OK)
        status = open_all(context, checkpoint, place, &own);
    szgi_memory_free(place);
    if (status != SZG_OK) {
        szg_checkpoint_close(&checkpoint);
        return status;
    }
    *out = checkpoint;
    return SZG_OK;
}

szg_status szg_checkpoint_open(szg_context *context, const char *path, const char *config,
                               szg_checkpoint **out) {
    SZGI_ENTER(context);
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .config = config};
    return szg_checkpoint_open_chosen(context, path, &choices, out);
}

/* ---- A model in memory ---- */

/* Queries or keys whose numbers the caller says are not there: a model of which a layer would be
 * left out silently by who reads arrays. */
static szg_status refuse_absent(szg_context *context, const szg_checkpoint *checkpoint) {
    for (int64_t i = 0; checkpoint->family && i < checkpoint->layers; i++) {
        const layer_weights *layer = &checkpoint->layer[i];
        const szgi_tensor *const tensor[] = {layer->q.weight, layer->q.down, layer->k.weight,
                                             layer->k.down};
        for (size_t t = 0; t < sizeof tensor / sizeof *tensor; t++)
            if (tensor[t] && tensor[t]->refusal && !layer->absent)
                return szgi_fail(context, SZG_EDATA, "%s: tensor %s: %s", checkpoint->source,
                                 SHOWN(tensor[t]->name), tensor[t]->refusal);
    }
    return SZG_OK;
}

static szg_status open_memory(szg_context *context, szg_checkpoint *checkpoint,
                              const szg_tensors *tensors, const szg_checkpoint_choices *choices) {
    checkpoint->in_memory = true;
    SZG_TRY(szgi_memory_copy_text(context, tensors->name, &checkpoint->source));
    if (choices->prefix)
        SZG_TRY(szgi_memory_copy_text(context, choices->prefix, &checkpoint->wanted_prefix));
    SZG_TRY(szgi_memory_tensors_open(context, tensors, &checkpoint->tensors));
    if (tensors->config)
        SZG_TRY(szgi_json_parse(context, "config", tensors->config,
                                (int64_t)strlen(tensors->config), &checkpoint->config));
    else
        SZG_TRY(szgi_text_append(context, &checkpoint->unknown, "no configuration is given"));
    SZG_TRY(configure(context, checkpoint, choices));
    SZG_TRY(settle(context, checkpoint, NULL, choices));
    SZG_TRY(describe(context, checkpoint));
    return refuse_absent(context, checkpoint);
}

szg_status szg_checkpoint_open_tensors(szg_context *context, const szg_tensors *tensors,
                                       const szg_checkpoint_choices *choices,
                                       szg_checkpoint **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_checkpoint_choices own;
    szg_tensors model;
    SZG_TRY(SZGI_OPTIONS(context, szg_checkpoint_choices, choices, &own));
    SZG_TRY(SZGI_OPTIONS(context, szg_tensors, tensors, &model));
    if (!model.name || !*model.name)
        return szgi_fail(context, SZG_EINVAL, "szg_tensors: the model needs a name");
    if (own.adapter)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: an adapter is added to a model on disk; in memory peft adds it "
                         "(PeftModel.from_pretrained(model, ADAPTER))",
                         model.name);
    if (own.config)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: a model in memory has its configuration in szg_tensors, as a text, "
                         "and the choices name a file: %s",
                         model.name, own.config);
    szg_checkpoint *checkpoint;
    SZG_TRY(szgi_memory_alloc(context, 1, &checkpoint));
    szg_status status = open_memory(context, checkpoint, &model, &own);
    if (status != SZG_OK)
        szg_checkpoint_close(&checkpoint);
    *out = checkpoint;
    return status;
}

void szg_checkpoint_close(szg_checkpoint **handle) {
    if (!handle || !*handle)
        return;
    szg_checkpoint *checkpoint = *handle;
    for (int64_t i = 0; checkpoint->layer && i < checkpoint->layers; i++)
        szgi_memory_free(checkpoint->layer[i].problem);
    for (int i = 0; i < ROTATIONS_MAX; i++) {
        szg_encoding_close(&checkpoint->rotation[i].encoding);
        szgi_memory_free(checkpoint->rotation[i].theta);
        szgi_memory_free(checkpoint->rotation[i].note);
    }
    szgi_memory_free(checkpoint->layer);
    szgi_defaults_free(checkpoint);
    szgi_memory_free(checkpoint->position_problem);
    szgi_memory_free(checkpoint->position_note);
    szgi_memory_free(checkpoint->wanted_prefix);
    szgi_memory_free(checkpoint->stacks);
    szgi_memory_free(checkpoint->prefix);
    szgi_memory_free(checkpoint->source);
    szgi_memory_free(checkpoint->unknown);
    szgi_memory_free(checkpoint->model_type);
    szgi_memory_free(checkpoint->note);
    szgi_memory_free(checkpoint->left_out);
    szgi_memory_free(checkpoint->said);
    szgi_json_close(&checkpoint->config);
    szgi_safetensors_close(&checkpoint->tensors);
    szgi_adapter_close(&checkpoint->adapter);
    szgi_memory_free(checkpoint);
    *handle = NULL;
}

const char *szgi_checkpoint_note(const szg_checkpoint *checkpoint) {
    return checkpoint->note ? checkpoint->note : "";
}

const char *szgi_checkpoint_left_out(const szg_checkpoint *checkpoint) {
    return checkpoint->left_out ? checkpoint->left_out : "";
}

szg_checkpoint_facts szg_checkpoint_describe(const szg_checkpoint *checkpoint) {
    szg_checkpoint_facts facts = {.source = checkpoint->source,
                                  .unknown = checkpoint->unknown,
                                  .model_type = checkpoint->model_type,
                                  .stack = "",
                                  .stacks = "",
                                  .note = checkpoint->said ? checkpoint->said : ""};
    if (!checkpoint->family)
        return facts;
    if (checkpoint->family->stack)
        facts.stack = checkpoint->family->stack;
    if (checkpoint->stacks)
        facts.stacks = checkpoint->stacks;
    facts.layers = checkpoint->layers;
    facts.heads = checkpoint->heads;
    facts.key_heads = checkpoint->key_heads;
    facts.head_size = checkpoint->head_size;
    facts.model_size = checkpoint->model_size;
    facts.positions = checkpoint->position_kind;
    facts.position_rows = checkpoint->position_rows;
    facts.rotary = checkpoint->rotations > 0;
    return facts;
}

/* ---- A rotation without weights ---- */

/* The rotation of `layer`; of all layers that rotate where it is -1, which must be one. */
static szg_status choose_rotation(szg_context *context, const szg_checkpoint *checkpoint,
                                  int64_t layer, int *out) {
    *out = -1;
    if (layer >= checkpoint->layers)
        return szgi_fail(context, SZG_EINVAL, "layer %" PRId64 " of %" PRId64 ": they count from 0",
                         layer, checkpoint->layers);
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        int rotation = checkpoint->layer[i].rotation;
        if ((layer >= 0 && i != layer) || rotation < 0)
            continue;
        if (*out >= 0 && *out != rotation)
            return szgi_fail(context, SZG_EINVAL,
                             "%s: layers rotate in two ways (layer %" PRId64
                             " is the first of the second): name the layer",
                             checkpoint->source, i);
        *out = rotation;
    }
    if (*out < 0 && layer >= 0)
        return szgi_fail(context, SZG_EDOMAIN, "%s: layer %" PRId64 " does not rotate (nope)",
                         checkpoint->source, layer);
    if (*out < 0)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: nothing rotates in model_type '%s': name its encoding (nope, "
                         "learned, alibi, t5)",
                         checkpoint->source, checkpoint->model_type);
    return SZG_OK;
}

/* Latent attention rotates the last dimensions of a head: the same keys under `mla`. */
static szg_status as_latent(szg_context *context, const szg_checkpoint *checkpoint,
                            const szg_encoding *rope, szg_encoding **out) {
    char sizes[64], *text = NULL;
    const char *keys = strstr(szg_encoding_spec(rope), "base=");
    if (!keys) /* a rotation that was read from a configuration has one */
        return szgi_fail(context, SZG_EINTERNAL, "%s: no base in %s", checkpoint->source,
                         szg_encoding_spec(rope));
    snprintf(sizes, sizeof sizes, "mla:content=%" PRId64 ",rope=%" PRId64, checkpoint->latent.nope,
             checkpoint->latent.rope);
    SZG_TRY(szgi_text_append(context, &text, "%s,%s", sizes, keys));
    szg_status status = szg_encoding_parse(context, text, out);
    szgi_memory_free(text);
    return status;
}

static szg_status open_described(szg_context *context, szg_checkpoint *checkpoint, const char *json,
                                 int64_t layer, szg_encoding **out) {
    int chosen;
    SZG_TRY(szgi_memory_copy_text(context, "the configuration", &checkpoint->source));
    SZG_TRY(szgi_json_parse(context, checkpoint->source, json, (int64_t)strlen(json),
                            &checkpoint->config));
    checkpoint->settings = choose_settings(checkpoint, szgi_json_root(checkpoint->config));
    SZG_TRY(szgi_defaults_take(context, checkpoint));
    SZG_TRY(find_family(context, checkpoint, NULL));
    if (!checkpoint->family)
        return szgi_fail(context, SZG_EDATA, "%s: %s", checkpoint->source, checkpoint->unknown);
    if (checkpoint->family->only)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: layers of model_type '%s' have heads of two sizes: give the SPEC of "
                         "those that are meant",
                         checkpoint->source, checkpoint->model_type);
    SZG_TRY(szgi_architecture_describe(context, checkpoint));
    SZG_TRY(szgi_rotary_resolve(context, checkpoint));
    SZG_TRY(choose_rotation(context, checkpoint, layer, &chosen));
    layer_rotation *rotation = &checkpoint->rotation[chosen];
    if (rotation->theta || rotation->note)
        return szgi_fail(context, SZG_EDOMAIN, "%s: %s: a SPEC of rope cannot say this",
                         checkpoint->source, rotation->note ? rotation->note : "own frequencies");
    if (checkpoint->family->layout == LAYOUT_LATENT)
        return as_latent(context, checkpoint, rotation->encoding, out);
    *out = rotation->encoding;
    rotation->encoding = NULL;
    return SZG_OK;
}

szg_status szg_checkpoint_rotation_open(szg_context *context, const char *json, int64_t layer,
                                        szg_encoding **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_checkpoint *checkpoint;
    SZG_TRY(szgi_memory_alloc(context, 1, &checkpoint));
    szg_status status = open_described(context, checkpoint, json, layer, out);
    szg_checkpoint_close(&checkpoint);
    return status;
}
