#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "checkpoint_private.h"

/* The file `wanted` beside the file, or in the folder; *out is NULL where there is none. */
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

/* The object with the attention stack's numbers, its model_type, and the family. */
static szg_status find_family(szg_context *context, szg_checkpoint *checkpoint) {
    szgi_json_value root = szgi_json_root(checkpoint->config);
    SZG_TRY(szgi_json_as_object(context, root));
    szgi_json_value inner = szgi_json_member(root, "text_config");
    bool composed = szgi_json_has(root, "text_config") && szgi_json_has(inner, "model_type");
    checkpoint->settings = composed ? inner : root;
    if (!szgi_json_has(checkpoint->settings, "model_type"))
        return szgi_text_append(context, &checkpoint->unknown, "config.json has no model_type");
    const char *type;
    SZG_TRY(
        szgi_json_as_text(context, szgi_json_member(checkpoint->settings, "model_type"), &type));
    SZG_TRY(szgi_memory_copy_text(context, type, &checkpoint->model_type));
    checkpoint->family = szgi_family_find(type);
    if (!checkpoint->family)
        return szgi_text_append(context, &checkpoint->unknown,
                                "model_type '%s' is not known to szego", type);
    return SZG_OK;
}

static szg_status resolve(szg_context *context, szg_checkpoint *checkpoint) {
    SZG_TRY(szgi_architecture_resolve(context, checkpoint));
    SZG_TRY(szgi_positions_resolve(context, checkpoint));
    SZG_TRY(szgi_rotary_resolve(context, checkpoint));
    return szgi_note_resolve(context, checkpoint);
}

/* What training with an adapter changed lies in tensors of its own, which attention adds. */
static szg_status note_adapter(szg_context *context, szg_checkpoint *checkpoint) {
    static const char sentence[] =
        "a LoRA adapter is not added to the weights: merge it (peft: merge_and_unload, then "
        "save_pretrained) and read the merged folder";
    int64_t count = szgi_safetensors_count(checkpoint->tensors), i = 0;
    char *name = NULL;
    while (i < count && !strstr(szgi_safetensors_tensor(checkpoint->tensors, i)->name, "lora_A"))
        i++;
    if (i == count)
        SZG_TRY(find_beside(context, checkpoint->source, "adapter_config.json", &name));
    if (i == count && !name)
        return SZG_OK;
    szgi_memory_free(name);
    szgi_say(context, SZG_WARNING, "%s: %s", checkpoint->source, sentence);
    return szgi_text_append(context, &checkpoint->note, "%s", sentence);
}

static szg_status open_all(szg_context *context, szg_checkpoint *checkpoint, const char *path,
                           const char *config) {
    SZG_TRY(szgi_memory_copy_text(context, path, &checkpoint->source));
    SZG_TRY(szgi_safetensors_open(context, path, &checkpoint->tensors));
    SZG_TRY(read_config(context, checkpoint, path, config));
    if (checkpoint->config)
        SZG_TRY(find_family(context, checkpoint));
    if (checkpoint->family)
        SZG_TRY(resolve(context, checkpoint));
    return note_adapter(context, checkpoint);
}

szg_status szg_checkpoint_open(szg_context *context, const char *path, const char *config,
                               szg_checkpoint **out) {
    *out = NULL;
    szg_checkpoint *checkpoint;
    SZG_TRY(szgi_memory_alloc(context, 1, &checkpoint));
    szg_status status = open_all(context, checkpoint, path, config);
    if (status != SZG_OK) {
        szg_checkpoint_close(&checkpoint);
        return status;
    }
    *out = checkpoint;
    return SZG_OK;
}

void szg_checkpoint_close(szg_checkpoint **handle) {
    if (!handle || !*handle)
        return;
    szg_checkpoint *checkpoint = *handle;
    for (int64_t i = 0; checkpoint->layer && i < checkpoint->layers; i++)
        szgi_memory_free(checkpoint->layer[i].problem);
    for (int i = 0; i < ROTATIONS_MAX; i++)
        szg_encoding_close(&checkpoint->rotation[i]);
    szgi_memory_free(checkpoint->layer);
    szgi_memory_free(checkpoint->position_problem);
    szgi_memory_free(checkpoint->prefix);
    szgi_memory_free(checkpoint->source);
    szgi_memory_free(checkpoint->unknown);
    szgi_memory_free(checkpoint->model_type);
    szgi_memory_free(checkpoint->note);
    szgi_json_close(&checkpoint->config);
    szgi_safetensors_close(&checkpoint->tensors);
    szgi_memory_free(checkpoint);
    *handle = NULL;
}

szg_checkpoint_facts szg_checkpoint_describe(const szg_checkpoint *checkpoint) {
    szg_checkpoint_facts facts = {.source = checkpoint->source,
                                  .unknown = checkpoint->unknown,
                                  .model_type = checkpoint->model_type,
                                  .note = checkpoint->note ? checkpoint->note : ""};
    if (!checkpoint->family)
        return facts;
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
