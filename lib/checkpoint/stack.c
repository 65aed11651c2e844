/* The stack of layers: the prefix of its tensors' names, found among them, and a layer's tensors.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "checkpoint_private.h"

/* Is `name` PREFIX stem INDEX "." suffix? The prefix ends with a point or is empty. */
static bool name_matches(const char *name, const char *stem, const char *suffix, size_t *prefix,
                         int64_t *index) {
    size_t stem_length = strlen(stem);
    for (const char *at = strstr(name, stem); at; at = strstr(at + 1, stem)) {
        const char *digits = at + stem_length, *end = digits;
        while (isdigit((unsigned char)*end))
            end++;
        if (end == digits || end - digits > 9 || *end != '.' || strcmp(end + 1, suffix) != 0)
            continue;
        if (at != name && at[-1] != '.')
            continue;
        *prefix = (size_t)(at - name);
        *index = 0;
        for (; digits < end; digits++)
            *index = *index * 10 + (*digits - '0');
        return true;
    }
    return false;
}

/* Is one of the words (NULL at the end) among the first `length` characters of the name? */
static bool has_word(const char *name, size_t length, const char *const *words) {
    for (; *words; words++)
        for (size_t i = 0; i + strlen(*words) <= length; i++)
            if (strncmp(name + i, *words, strlen(*words)) == 0)
                return true;
    return false;
}

/* Is `prefix` the length of one that may come before the stem: the caller's, or any but those of
 * layers that predict further tokens, and of parts that read no text where the configuration is
 * composed? */
static bool is_eligible(const szg_checkpoint *checkpoint, const char *name, size_t prefix) {
    static const char *const extra[] = {"mtp.", NULL};
    static const char *const parts[] = {"vision", "visual",   "video",     "audio",  "speech",
                                        "image",  "qformer.", "perceiver", "talker", NULL};
    if (checkpoint->wanted_prefix)
        return strlen(checkpoint->wanted_prefix) == prefix &&
               strncmp(checkpoint->wanted_prefix, name, prefix) == 0;
    bool composed = checkpoint->settings.node != szgi_json_root(checkpoint->config).node;
    return !has_word(name, prefix, extra) && !(composed && has_word(name, prefix, parts));
}

static szg_status two_stacks(szg_context *context, const szg_checkpoint *checkpoint,
                             const char *name, size_t prefix) {
    const char *stem = checkpoint->family->stem;
    return szgi_fail(context, SZG_EDATA,
                     "%s: two stacks of layers, '%s%s' and '%.*s%s': --prefix %s or --prefix %.*s "
                     "chooses one",
                     checkpoint->source, checkpoint->prefix, stem, (int)prefix, name, stem,
                     *checkpoint->prefix ? checkpoint->prefix : "\"\"", prefix ? (int)prefix : 2,
                     prefix ? name : "\"\"");
}

/* The first prefix that a stack of this family has in the file, with the layer's name after it;
 * NULL: no name has the form. */
static const char *prefix_there(const szg_checkpoint *checkpoint, const char *stem,
                                const char *query, size_t *length) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors), index;
    for (int64_t i = 0; i < count; i++) {
        const char *name = szgi_safetensors_tensor(checkpoint->tensors, i)->name;
        if (name_matches(name, stem, query, length, &index))
            return name;
    }
    return NULL;
}

/* nanoGPT stores [3 d, d] under the names that GPT-2 has for [d, 3 d]. */
static bool is_turned(const szg_checkpoint *checkpoint, const model_family *family,
                      const char *name) {
    const szgi_tensor *tensor = szgi_safetensors_find(checkpoint->tensors, name);
    return family->layout == LAYOUT_CONV1D && tensor->dims == 2 &&
           tensor->shape[0] == 3 * tensor->shape[1];
}

bool szgi_stack_is_there(const szg_checkpoint *checkpoint, const model_family *family) {
    size_t length;
    if (!checkpoint->tensors || !family->query)
        return true;
    const char *name = prefix_there(checkpoint, family->stem, family->query, &length);
    return name && !is_turned(checkpoint, family, name);
}

/* The file has no layers with the caller's prefix. */
static szg_status wrong_prefix(szg_context *context, const szg_checkpoint *checkpoint,
                               const char *name, size_t length) {
    const model_family *family = checkpoint->family;
    return szgi_fail(context, SZG_EDATA,
                     "%s: --prefix %s: no tensor is called %s%sN.%s, but the file has '%s': use "
                     "--prefix %.*s, or leave --prefix out",
                     checkpoint->source, SHOWN(checkpoint->wanted_prefix),
                     SHOWN(checkpoint->wanted_prefix), family->stem, checkpoint->query, SHOWN(name),
                     length ? (int)length : 2, length ? name : "\"\"");
}

const szgi_tensor *szgi_unmerged(const szg_checkpoint *checkpoint) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        if (strstr(tensor->name, ".base_layer."))
            return tensor;
    }
    return NULL;
}

static szg_status no_stack(szg_context *context, const szg_checkpoint *checkpoint) {
    char text[512];
    size_t length;
    const model_family *family = checkpoint->family;
    const char *name = checkpoint->wanted_prefix
                           ? prefix_there(checkpoint, family->stem, checkpoint->query, &length)
                           : NULL;
    if (name)
        return wrong_prefix(context, checkpoint, name, length);
    const char *quantised = szgi_quantised_refusal(checkpoint, text, sizeof text);
    const char *before = checkpoint->wanted_prefix ? checkpoint->wanted_prefix : "*";
    const szgi_tensor *unmerged = szgi_unmerged(checkpoint);
    if (unmerged)
        return szgi_fail(context, SZG_EDATA,
                         "%s: no tensor is called %s%sN.%s, but %s is there, the weight under a "
                         "LoRA adapter that is not merged: " MERGE_REMEDY,
                         checkpoint->source, before, family->stem, checkpoint->query,
                         SHOWN(unmerged->name));
    if (quantised)
        return szgi_fail(context, SZG_EDATA, "%s: no tensor is called %s%sN.%s: %s",
                         checkpoint->source, before, family->stem, checkpoint->query, quantised);
    return szgi_fail(context, SZG_EDATA,
                     "%s: model_type is '%s', but no tensor is called %s%sN.%s; --config none "
                     "gives the singular values of every 2-D weight",
                     checkpoint->source, checkpoint->model_type, before, family->stem,
                     checkpoint->query);
}

szg_status szgi_stack_find(szg_context *context, szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    int64_t count = szgi_safetensors_count(checkpoint->tensors), most = -1;
    for (int64_t i = 0; i < count; i++) {
        const char *name = szgi_safetensors_tensor(checkpoint->tensors, i)->name;
        size_t prefix;
        int64_t index;
        if (!name_matches(name, family->stem, checkpoint->query, &prefix, &index) ||
            !is_eligible(checkpoint, name, prefix))
            continue;
        if (!checkpoint->prefix) {
            SZG_TRY(szgi_memory_copy_text(context, name, &checkpoint->prefix));
            checkpoint->prefix[prefix] = 0;
        }
        if (strlen(checkpoint->prefix) != prefix || strncmp(checkpoint->prefix, name, prefix) != 0)
            return two_stacks(context, checkpoint, name, prefix);
        if (index > most)
            most = index;
    }
    if (!checkpoint->prefix)
        return no_stack(context, checkpoint);
    if (most >= checkpoint->layers)
        szgi_say(context, SZG_WARNING,
                 "%s: tensors name layer %" PRId64 ", the configuration counts %" PRId64
                 " layers: those beyond are left out",
                 checkpoint->source, most, checkpoint->layers);
    return SZG_OK;
}

const szgi_tensor *szgi_layer_tensor(const szg_checkpoint *checkpoint, int64_t layer,
                                     const char *suffix) {
    char name[512];
    int length = snprintf(name, sizeof name, "%s%s%" PRId64 ".%s", checkpoint->prefix,
                          checkpoint->family->stem, layer, suffix);
    if (length < 0 || (size_t)length >= sizeof name)
        return NULL;
    return szgi_safetensors_find(checkpoint->tensors, name);
}
