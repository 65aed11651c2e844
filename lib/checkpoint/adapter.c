#include "adapter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "checkpoint_private.h"
#include "place.h"

#define WEIGHTS "adapter_model.safetensors"
#define BEGIN "base_model.model."
enum { NAME = 512 };

/* ---- Names of tensors ---- */

typedef enum part_kind {
    PART_DOWN,
    PART_UP,
    PART_BIAS,
    PART_MAGNITUDE,
    PART_EMBEDDING_DOWN,
    PART_EMBEDDING_UP,
    PART_WHOLE, /* a weight in place of the base's */
} part_kind;

static const struct {
    const char *ending;
    part_kind kind;
} endings[] = {
    {".lora_A.weight", PART_DOWN},
    {".lora_B.weight", PART_UP},
    {".lora_B.bias", PART_BIAS},
    {".lora_magnitude_vector", PART_MAGNITUDE},
    {".lora_magnitude_vector.weight", PART_MAGNITUDE},
    {".lora_embedding_A", PART_EMBEDDING_DOWN},
    {".lora_embedding_B", PART_EMBEDDING_UP},
};

/* One of the adapter's tensors. */
typedef struct adapter_part {
    const szgi_tensor *tensor;
    part_kind kind;
    char module[NAME]; /* as the model calls it; of PART_WHOLE the tensor's own name */
} adapter_part;

static szg_status fail_name(szg_context *context, const szgi_tensor *tensor, const char *why) {
    return szgi_fail(context, SZG_EDATA, "%s: tensor %s: %s", tensor->file, SHOWN(tensor->name),
                     why);
}

/* What wraps a module keeps the base's tensors under one more name. */
static void drop_base_layer(char *name) {
    static const char between[] = ".base_layer";
    for (char *at; (at = strstr(name, between)) != NULL;)
        memmove(at, at + strlen(between), strlen(at + strlen(between)) + 1);
}

static szg_status read_name(szg_context *context, const szgi_tensor *tensor, adapter_part *out) {
    const char *name = tensor->name;
    if (strncmp(name, BEGIN, strlen(BEGIN)) != 0)
        return fail_name(context, tensor,
                         "its name does not begin with " BEGIN
                         ", as those of peft's adapters do: save it with peft's save_pretrained");
    name += strlen(BEGIN);
    size_t length = strlen(name);
    if (length >= NAME)
        return fail_name(context, tensor, "its name has more than 500 characters");
    *out = (adapter_part){.tensor = tensor, .kind = PART_WHOLE};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (szgi_text_ends(name, endings[i].ending)) {
            out->kind = endings[i].kind;
            length = strlen(name) - strlen(endings[i].ending);
        }
    snprintf(out->module, sizeof out->module, "%.*s", (int)length, name);
    drop_base_layer(out->module);
    if (out->kind == PART_WHOLE && (strstr(name, "lora_") || strstr(name, "modules_to_save.") ||
                                    strstr(name, "trainable_tokens")))
        return fail_name(context, tensor,
                         "szego does not know a part of an adapter by this name: " MERGE_REMEDY);
    return SZG_OK;
}

/* ---- Which tensor of the base ---- */

static bool has_digit(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (isdigit((unsigned char)text[i]))
            return true;
    return false;
}

/* Tensors of the base that end with the name `rest` and whose beginning counts no layers. */
static int64_t count_ends(const szgi_safetensors *base, const char *rest, int64_t *index) {
    int64_t found = 0, count = szgi_safetensors_count(base);
    size_t length = strlen(rest);
    for (int64_t i = 0; i < count; i++) {
        const char *name = szgi_safetensors_tensor(base, i)->name;
        size_t whole = strlen(name);
        if (whole < length || strcmp(name + whole - length, rest) != 0)
            continue;
        if (whole > length && (name[whole - length - 1] != '.' || has_digit(name, whole - length)))
            continue;
        *index = i;
        found++;
    }
    return found;
}

/* The base's tensor of that name, or else the only one that differs from it in its beginning: files
 * of a bare model and of one with a head for a task do so. *index -1: there is none. */
static szg_status find_named(szg_context *context, const szgi_safetensors *base,
                             const adapter_part *part, const char *name, int64_t *index) {
    const szgi_tensor *exact = szgi_safetensors_find(base, name);
    *index = exact ? exact - szgi_safetensors_tensor(base, 0) : -1;
    for (const char *rest = name; rest && *index < 0; rest = strchr(rest, '.')) {
        rest += rest != name;
        if (!strchr(rest, '.') || has_digit(name, (size_t)(rest - name)))
            break;
        int64_t found = count_ends(base, rest, index);
        if (found > 1)
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: the base has %" PRId64 " tensors that may be its "
                             "%s, %s one of them: " MERGE_REMEDY,
                             part->tensor->file, SHOWN(part->tensor->name), found, SHOWN(rest),
                             SHOWN(szgi_safetensors_tensor(base, *index)->name));
    }
    return SZG_OK;
}

typedef struct adapter_job {
    szg_checkpoint *checkpoint;
    checkpoint_adapter *adapter;
} adapter_job;

static szg_status fail_absent(szg_context *context, const adapter_job *job,
                              const adapter_part *part, const char *name) {
    const char *base = job->adapter->config.base;
    return szgi_fail(context, SZG_EDATA,
                     "%s: tensor %s: the base %s has no tensor %s: the adapter is of another model "
                     "(base_model_name_or_path is '%s'), or of one whose modules have other names "
                     "in files: " MERGE_REMEDY,
                     part->tensor->file, SHOWN(part->tensor->name), job->checkpoint->source,
                     SHOWN(name), *base ? SHOWN(base) : "missing");
}

/* Layers' weights must be in the base. Nothing that szego computes reads what a task adds behind
 * the model, or the output layer. */
static szg_status pass_absent(szg_context *context, const adapter_job *job,
                              const adapter_part *part, const char *name) {
    bool output = szgi_text_ends(part->module, "lm_head");
    if (has_digit(name, strlen(name)) || !job->checkpoint->family ||
        (part->kind != PART_WHOLE && !output))
        return fail_absent(context, job, part, name);
    szgi_say(context, SZG_WARNING,
             "%s: tensor %s is left out: the base %s has no tensor %s, and szego reads nothing "
             "behind the last layer",
             part->tensor->file, SHOWN(part->tensor->name), job->checkpoint->source, SHOWN(name));
    return SZG_OK;
}

/* ---- LoRA ---- */

/* Another part of the same module; NULL: there is none. */
static const szgi_tensor *sibling(const adapter_job *job, const adapter_part *part,
                                  part_kind kind) {
    char name[2 * NAME];
    size_t length = strlen(part->tensor->name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (endings[i].kind == part->kind && szgi_text_ends(part->tensor->name, endings[i].ending))
            length = strlen(part->tensor->name) - strlen(endings[i].ending);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (endings[i].kind != kind)
            continue;
        snprintf(name, sizeof name, "%.*s%s", (int)length, part->tensor->name, endings[i].ending);
        const szgi_tensor *found = szgi_safetensors_find(job->adapter->tensors, name);
        if (found)
            return found;
    }
    return NULL;
}

static szg_status fail_shape(szg_context *context, const szgi_tensor *tensor, const char *what,
                             const szgi_tensor *base) {
    char own[128], shape[128];
    return szgi_fail(context, SZG_EDATA,
                     "%s: tensor %s: has shape %s, and tensor %s of the base has %s: %s: the "
                     "adapter is of another base",
                     tensor->file, SHOWN(tensor->name),
                     szgi_tensor_shape_text(tensor, own, sizeof own), SHOWN(base->name),
                     szgi_tensor_shape_text(base, shape, sizeof shape), what);
}

/* Is the base's matrix stored [inputs, outputs]? Shapes tell, and of a square one the family's
 * layout: Conv1D is transposed throughout. Of an unknown architecture the adapter's own word. */
static bool is_turned(const adapter_job *job, const szgi_tensor *base) {
    const model_family *family = job->checkpoint->family;
    if (base->shape[0] == base->shape[1] && family)
        return family->layout == LAYOUT_CONV1D;
    return job->adapter->config.turned;
}

static szg_status check_rank(szg_context *context, const adapter_part *part, int64_t rank,
                             const szgi_tensor *up) {
    const szgi_tensor *down = part->tensor;
    if (down->dims != 2 || up->dims != 2)
        return fail_name(context, down->dims != 2 ? down : up,
                         "has not two axes: szego reads adapters of matrices alone: " MERGE_REMEDY);
    if (down->shape[0] == rank && up->shape[1] == rank)
        return SZG_OK;
    bool first = down->shape[0] != rank;
    return szgi_fail(context, SZG_EDATA,
                     "%s: tensor %s: its rank is %" PRId64 ", and " ADAPTER_CONFIG
                     " (r, rank_pattern) says %" PRId64
                     ": the two files are not of one adapter, fetch both again",
                     part->tensor->file, SHOWN(first ? down->name : up->name),
                     first ? down->shape[0] : up->shape[1], rank);
}

static szg_status check_shapes(szg_context *context, const adapter_job *job,
                               const szgi_tensor *base, szgi_low_rank *change) {
    const szgi_tensor *down = change->down, *up = change->up;
    if (base->dims != 2)
        return fail_shape(context, down, "a matrix is needed", base);
    int64_t inputs = down->shape[1], outputs = up->shape[0];
    bool straight = base->shape[0] == outputs && base->shape[1] == inputs;
    bool turned = base->shape[0] == inputs && base->shape[1] == outputs;
    if (!change->turned && straight && turned)
        change->turned = is_turned(job, base);
    else if (!change->turned && !straight)
        change->turned = turned;
    if (!(change->turned ? turned : straight)) {
        bool down_fits = base->shape[0] == inputs || base->shape[1] == inputs;
        return fail_shape(context, down_fits ? up : down,
                          down_fits ? "its first size must be that of the outputs"
                                    : "its second size must be that of the inputs",
                          base);
    }
    if (change->magnitude &&
        (change->magnitude->dims != 1 || change->magnitude->shape[0] != outputs))
        return fail_shape(context, change->magnitude, "one number for each output is needed", base);
    return SZG_OK;
}

static void note_size(checkpoint_adapter *adapter, int64_t rank, double scale) {
    bool first = adapter->changed++ == 0;
    if (first || rank < adapter->rank[0])
        adapter->rank[0] = rank;
    if (first || rank > adapter->rank[1])
        adapter->rank[1] = rank;
    if (first || scale < adapter->scale[0])
        adapter->scale[0] = scale;
    if (first || scale > adapter->scale[1])
        adapter->scale[1] = scale;
}

/* B's bias, which peft adds to the module's own. */
static szg_status add_bias(szg_context *context, const adapter_job *job, const adapter_part *part,
                           const szgi_tensor *bias, double scale) {
    char name[NAME + 8];
    int64_t index;
    snprintf(name, sizeof name, "%s.bias", part->module);
    SZG_TRY(find_named(context, job->checkpoint->tensors, part, name, &index));
    if (index < 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: adds a bias (lora_bias) where the base %s has none, %s: "
                         "peft cannot merge this either: train without lora_bias",
                         bias->file, SHOWN(bias->name), job->checkpoint->source, name);
    const szgi_tensor *base = szgi_safetensors_tensor(job->checkpoint->tensors, index);
    if (base->dims != 1 || bias->dims != 1 || base->shape[0] != bias->shape[0])
        return fail_shape(context, bias, "one number for each output is needed", base);
    const szgi_low_rank change = {.up = bias, .scale = scale};
    return szgi_safetensors_update(context, job->checkpoint->tensors, index, &change);
}

/* What use_dora and lora_bias say must be there, and nothing else. */
static szg_status check_parts(szg_context *context, const adapter_job *job,
                              const adapter_part *part, const szgi_low_rank *change,
                              const szgi_tensor *bias) {
    const adapter_config *config = &job->adapter->config;
    if (!change->up)
        return fail_name(context, part->tensor,
                         "its second half, lora_B, is missing: fetch the "
                         "adapter again");
    if (!change->magnitude != !config->dora)
        return fail_name(context, part->tensor,
                         config->dora
                             ? "use_dora of " ADAPTER_CONFIG
                               " is true, and its lora_magnitude_vector is missing: fetch the "
                               "adapter again"
                             : "it has a lora_magnitude_vector, and use_dora of " ADAPTER_CONFIG
                               " is not true: the two files are not of one adapter");
    if (bias && !config->lora_bias)
        return fail_name(context, bias,
                         "lora_bias of " ADAPTER_CONFIG
                         " is not true: the two files are not of one adapter");
    return SZG_OK;
}

/* One module: A, with the parts that go with it. */
static szg_status apply_module(szg_context *context, const adapter_job *job,
                               const adapter_part *part) {
    bool embedding = part->kind == PART_EMBEDDING_DOWN;
    char name[NAME + 8];
    int64_t index, rank;
    szgi_low_rank change = {.down = part->tensor,
                            .up = sibling(job, part, embedding ? PART_EMBEDDING_UP : PART_UP),
                            .magnitude = sibling(job, part, PART_MAGNITUDE),
                            .turned = embedding};
    const szgi_tensor *bias = sibling(job, part, PART_BIAS);
    SZG_TRY(check_parts(context, job, part, &change, bias));
    SZG_TRY(szgi_adapter_config_module(context, &job->adapter->config, part->module, &rank,
                                       &change.scale));
    SZG_TRY(check_rank(context, part, rank, change.up));
    snprintf(name, sizeof name, "%s.weight", part->module);
    SZG_TRY(find_named(context, job->checkpoint->tensors, part, name, &index));
    if (index < 0)
        return pass_absent(context, job, part, name);
    SZG_TRY(check_shapes(context, job, szgi_safetensors_tensor(job->checkpoint->tensors, index),
                         &change));
    SZG_TRY(szgi_safetensors_update(context, job->checkpoint->tensors, index, &change));
    note_size(job->adapter, rank, change.scale);
    return bias && index >= 0 ? add_bias(context, job, part, bias, change.scale) : SZG_OK;
}

/* ---- Whole weights, and parts that belong to another ---- */

static szg_status apply_whole(szg_context *context, const adapter_job *job,
                              const adapter_part *part) {
    szgi_safetensors *set = job->checkpoint->tensors;
    int64_t index;
    SZG_TRY(find_named(context, set, part, part->module, &index));
    if (index < 0)
        return pass_absent(context, job, part, part->module);
    const szgi_tensor *base = szgi_safetensors_tensor(set, index), *own = part->tensor;
    bool same = base->dims == own->dims;
    for (int i = 0; same && i < base->dims; i++)
        same = base->shape[i] == own->shape[i];
    if (!same)
        return fail_shape(
            context, own,
            "one shape is needed (where the vocabulary was enlarged: " MERGE_REMEDY ")", base);
    job->adapter->replaced++;
    return szgi_safetensors_replace(context, set, index, own);
}

/* Experts that are no matrices (target_parameters): szego reads none. */
static bool is_parameter(const adapter_job *job, const adapter_part *part) {
    szgi_json_value list = job->adapter->config.parameters;
    for (int64_t i = 0; i < szgi_json_count(list); i++) {
        const char *name;
        char module[NAME];
        if (szgi_json_as_text(NULL, szgi_json_element(list, i), &name) != SZG_OK)
            continue;
        const char *point = strrchr(name, '.');
        snprintf(module, sizeof module, "%.*s", point ? (int)(point - name) : 0, name);
        if (point && szgi_text_ends(part->module, module))
            return true;
    }
    return false;
}

static szg_status pass_parameter(szg_context *context, const adapter_job *job,
                                 const adapter_part *part, bool *said) {
    if (!job->checkpoint->family)
        return fail_name(context, part->tensor,
                         "changes a parameter that is no module's weight (target_parameters), "
                         "and without an architecture szego reads all weights: " MERGE_REMEDY);
    if (!*said)
        szgi_say(context, SZG_NOTE,
                 "%s: target_parameters, as %s, are left out: szego reads no experts",
                 part->tensor->file, SHOWN(part->tensor->name));
    *said = true;
    return SZG_OK;
}

static szg_status check_owner(szg_context *context, const adapter_job *job,
                              const adapter_part *part) {
    part_kind kind = part->kind == PART_EMBEDDING_UP ||
                             (part->kind == PART_MAGNITUDE && !sibling(job, part, PART_DOWN))
                         ? PART_EMBEDDING_DOWN
                         : PART_DOWN;
    return sibling(job, part, kind)
               ? SZG_OK
               : fail_name(context, part->tensor,
                           "its first half, lora_A, is missing: fetch the adapter again");
}

/* Whole weights come first, so that what is trained over one of them is added to it. */
static szg_status apply_tensors(szg_context *context, const adapter_job *job) {
    int64_t count = szgi_safetensors_count(job->adapter->tensors);
    bool said = false;
    adapter_part part;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < count; i++) {
            SZG_TRY(read_name(context, szgi_safetensors_tensor(job->adapter->tensors, i), &part));
            if ((part.kind == PART_WHOLE) != (pass == 0))
                continue;
            if (part.kind != PART_WHOLE && is_parameter(job, &part))
                SZG_TRY(pass_parameter(context, job, &part, &said));
            else if (part.kind == PART_WHOLE)
                SZG_TRY(apply_whole(context, job, &part));
            else if (part.kind == PART_DOWN || part.kind == PART_EMBEDDING_DOWN)
                SZG_TRY(apply_module(context, job, &part));
            else
                SZG_TRY(check_owner(context, job, &part));
        }
    return SZG_OK;
}

/* ---- Opening ---- */

static bool is_there(const char *path) {
    struct stat entry;
    return stat(path, &entry) == 0;
}

szg_status szgi_path_is_adapter(szg_context *context, const char *path, bool *out) {
    char *name;
    SZG_TRY(szgi_path_join(context, path, ADAPTER_CONFIG, &name));
    *out = szgi_path_is_folder(path) && is_there(name);
    szgi_memory_free(name);
    return SZG_OK;
}

/* FOLDER/adapter_model.safetensors; the remedy for a folder that has only PyTorch's form. */
static szg_status open_weights(szg_context *context, checkpoint_adapter *adapter) {
    char *path = NULL, *pytorch = NULL;
    SZG_TRY(szgi_path_join(context, adapter->folder, WEIGHTS, &path));
    szg_status status = szgi_path_join(context, adapter->folder, "adapter_model.bin", &pytorch);
    if (status == SZG_OK && !is_there(path))
        status = szgi_fail(context, SZG_EDATA,
                           is_there(pytorch)
                               ? "%s: is missing, and adapter_model.bin beside it is not read: "
                                 "save the adapter again (peft: PeftModel.from_pretrained, then "
                                 "save_pretrained)"
                               : "%s: is missing: fetch the adapter again",
                           path);
    else if (status == SZG_OK)
        status = szgi_safetensors_open(context, path, &adapter->tensors);
    szgi_memory_free(path);
    szgi_memory_free(pytorch);
    return status;
}

static szg_status open_files(szg_context *context, checkpoint_adapter *adapter) {
    char *path;
    SZG_TRY(szgi_path_join(context, adapter->folder, ADAPTER_CONFIG, &path));
    szg_status status = SZG_OK;
    if (!is_there(path))
        status = szgi_fail(context, SZG_EDATA,
                           "%s: is missing: an adapter is a folder of peft with " ADAPTER_CONFIG
                           " and " WEIGHTS,
                           path);
    if (status == SZG_OK)
        status = szgi_json_read(context, path, &adapter->json);
    szgi_memory_free(path);
    if (status == SZG_OK)
        status = szgi_adapter_config_read(context, adapter->json, &adapter->config);
    return status == SZG_OK ? open_weights(context, adapter) : status;
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The base may lie in any folder, so that its name is worth a word and no more. */
static void compare_base(szg_context *context, const szg_checkpoint *checkpoint,
                         const checkpoint_adapter *adapter) {
    const char *base = adapter->config.base;
    if (*base && !strstr(checkpoint->source, last_name(base)))
        szgi_say(context, SZG_NOTE,
                 "%s: was trained over '%s' (base_model_name_or_path), and is "
                 "added to %s",
                 adapter->folder, SHOWN(base), checkpoint->source);
}

const char *szgi_adapter_text(const checkpoint_adapter *adapter, char *text, size_t size) {
    char rank[64], scale[64];
    const int64_t *r = adapter->rank;
    const double *s = adapter->scale;
    snprintf(rank, sizeof rank, r[0] < r[1] ? "%" PRId64 " to %" PRId64 : "%" PRId64, r[0], r[1]);
    snprintf(scale, sizeof scale, s[0] < s[1] ? "%g to %g" : "%g", s[0], s[1]);
    int used = snprintf(text, size, "%s, rank %s, scale %s, in %" PRId64 " tensors",
                        szgi_adapter_config_kind(&adapter->config), rank, scale, adapter->changed);
    if (adapter->replaced > 0 && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", and %" PRId64 " whole tensors",
                 adapter->replaced);
    return text;
}

/* BASE + ADAPTER, which tables and messages have as the source. */
static szg_status name_both(szg_context *context, szg_checkpoint *checkpoint, const char *path) {
    char *name = NULL;
    SZG_TRY(szgi_text_append(context, &name, "%s + %s", checkpoint->source, path));
    szgi_memory_free(checkpoint->source);
    checkpoint->source = name;
    return SZG_OK;
}

szg_status szgi_adapter_apply(szg_context *context, szg_checkpoint *checkpoint, const char *path) {
    char text[256];
    checkpoint_adapter *adapter;
    SZG_TRY(szgi_memory_alloc(context, 1, &adapter));
    checkpoint->adapter = adapter;
    SZG_TRY(szgi_place_find(context, path, NULL, &adapter->folder));
    SZG_TRY(open_files(context, adapter));
    compare_base(context, checkpoint, adapter);
    const adapter_job job = {checkpoint, adapter};
    SZG_TRY(apply_tensors(context, &job));
    if (adapter->changed + adapter->replaced == 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: its tensors change none of the base %s: the adapter is of another "
                         "model (base_model_name_or_path is '%s')",
                         adapter->folder, checkpoint->source,
                         *adapter->config.base ? SHOWN(adapter->config.base) : "missing");
    SZG_TRY(szgi_text_append(context, &checkpoint->note, "an adapter is added to the weights: %s",
                             szgi_adapter_text(adapter, text, sizeof text)));
    return name_both(context, checkpoint, adapter->folder);
}

szg_status szgi_checkpoint_check_files(szg_context *context, const szg_checkpoint *checkpoint) {
    SZG_TRY(szgi_safetensors_check(context, checkpoint->tensors));
    return checkpoint->adapter ? szgi_safetensors_check(context, checkpoint->adapter->tensors)
                               : SZG_OK;
}

void szgi_adapter_close(checkpoint_adapter **adapter) {
    if (!*adapter)
        return;
    szgi_safetensors_close(&(*adapter)->tensors);
    szgi_json_close(&(*adapter)->json);
    szgi_memory_free((*adapter)->folder);
    szgi_memory_free(*adapter);
    *adapter = NULL;
}
