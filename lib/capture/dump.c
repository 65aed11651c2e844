/* Dump files: which of their arrays are logits, queries or keys, and what their names say. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "dump_private.h"

/* The last part of a tensor's name; `logits` is coupled too. */
static const struct {
    const char *word;
    int role;
} words[] = {
#define DUMP_WORD(word, role) {word, role},
#include "formats/dump_words.def"
#undef DUMP_WORD
};

static int role_of(const char *word) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0)
            return words[i].role;
    return -1;
}

/* ---- Opening and closing ---- */

szg_status szgi_dump_open(szg_context *context, szgi_dump **out) {
    return szgi_memory_alloc(context, 1, out);
}

static void close_file(dump_file *file) {
    szgi_npy_close(&file->npy);
    szgi_safetensors_close(&file->set);
    szgi_memory_free(file->path);
}

void szgi_dump_close(szgi_dump **dump) {
    if (!dump || !*dump)
        return;
    for (int64_t i = 0; i < (*dump)->arrays; i++) {
        szgi_memory_free((*dump)->array[i].prefix);
        szgi_memory_free((*dump)->array[i].rest);
    }
    for (int64_t i = 0; i < (*dump)->files; i++)
        close_file(&(*dump)->file[i]);
    szgi_memory_free((*dump)->array);
    szgi_memory_free((*dump)->file);
    szgi_memory_free(*dump);
    *dump = NULL;
}

/* ---- Names ---- */

/* A whole number below 2^31; -1: none. */
static int64_t index_of(const char *text, size_t length) {
    int64_t value = 0;
    if (length < 1 || length > 9)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

static bool part_is(const char *part, size_t length, const char *word) {
    return length == strlen(word) && memcmp(part, word, length) == 0;
}

/* Where the number behind `part` belongs; NULL: it is another word. */
static int64_t *place_of(dump_place *place, const char *part, size_t length) {
    if (part_is(part, length, "layers") || part_is(part, length, "layer"))
        return &place->layer;
    if (part_is(part, length, "heads") || part_is(part, length, "head"))
        return &place->head;
    if (part_is(part, length, "probes") || part_is(part, length, "probe"))
        return &place->probe;
    return NULL;
}

/* Takes layers.L, heads.H and probes.P out of `prefix`; the other parts go to `rest`, as long. */
static void read_prefix(const char *prefix, char *rest, dump_place *place) {
    *place = (dump_place){-1, -1, -1};
    size_t used = 0;
    while (*prefix) {
        size_t length = strcspn(prefix, ".");
        const char *number = prefix + length + (prefix[length] == '.');
        size_t digits = strcspn(number, ".");
        int64_t *to = place_of(place, prefix, length), value = index_of(number, digits);
        if (to && *to < 0 && value >= 0) {
            *to = value;
            prefix = number + digits;
        } else {
            used += (size_t)sprintf(rest + used, "%s%.*s", used ? "." : "", (int)length, prefix);
            prefix += length;
        }
        prefix += *prefix == '.';
    }
    rest[used] = 0;
}

static szg_status set_prefix(szg_context *context, const char *name, size_t length,
                             dump_array *array) {
    SZG_TRY(szgi_memory_alloc(context, (int64_t)length + 1, &array->prefix));
    memcpy(array->prefix, name, length);
    SZG_TRY(szgi_memory_alloc(context, (int64_t)length + 1, &array->rest));
    read_prefix(array->prefix, array->rest, &array->place);
    return SZG_OK;
}

/* ---- Files ---- */

static szg_status open_set(szg_context *context, dump_file *file) {
    SZG_TRY(szgi_safetensors_open(context, file->path, &file->set));
    const char *missing = szgi_safetensors_missing(file->set);
    if (missing) /* of a dump every matrix counts */
        return szgi_fail(context, SZG_EDATA,
                         "%s: files that it names are missing: %s: put them beside it", file->path,
                         SHOWN(missing));
    const char *step = szgi_safetensors_metadata(file->set, "step");
    file->step = step ? index_of(step, strlen(step)) : -1;
    file->source = szgi_safetensors_metadata(file->set, "source");
    file->content_kind = szgi_safetensors_metadata(file->set, "content_kind");
    file->axes = szgi_safetensors_metadata(file->set, "axes");
    file->pairing = szgi_safetensors_metadata(file->set, "pairing");
    file->base = szgi_safetensors_metadata(file->set, "base");
    file->mask = szgi_safetensors_metadata(file->set, "mask");
    file->logit_cap = szgi_safetensors_metadata(file->set, "logit_cap");
    if (file->pairing && strcmp(file->pairing, "half") != 0 &&
        strcmp(file->pairing, "interleaved") != 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: metadata: pairing '%.40s' is neither half nor interleaved",
                         file->path, file->pairing);
    return SZG_OK;
}

static szg_status add_file(szg_context *context, szgi_dump *dump, const char *path) {
    SZG_TRY(szgi_memory_reserve(context, &dump->file, &dump->file_room, dump->files, 1));
    dump_file *file = &dump->file[dump->files];
    *file = (dump_file){.step = -1};
    SZG_TRY(szgi_memory_copy_text(context, path, &file->path));
    szg_status status = szgi_path_ends(path, ".npy") ? szgi_npy_open(context, path, &file->npy)
                                                     : open_set(context, file);
    if (status != SZG_OK) {
        close_file(file);
        return status;
    }
    dump->files++;
    return SZG_OK;
}

static szg_status add_array(szg_context *context, szgi_dump *dump, int role,
                            const szgi_tensor *tensor, dump_array **out) {
    SZG_TRY(szgi_memory_reserve(context, &dump->array, &dump->array_room, dump->arrays, 1));
    *out = &dump->array[dump->arrays++];
    **out = (dump_array){
        .role = role, .file = dump->files - 1, .tensor = tensor, .place = {-1, -1, -1}};
    return SZG_OK;
}

static szg_status no_array(szg_context *context, const dump_file *file) {
    int64_t count = szgi_safetensors_count(file->set);
    char names[200] = "";
    for (int64_t i = 0; i < count && i < 3; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.60s", i ? ", " : "",
                 szgi_safetensors_tensor(file->set, i)->name);
    return szgi_fail(context, SZG_EDATA,
                     "%s: no tensor's name ends with .content, .coupled, .logits, .q, .k, "
                     ".q_coupled or .k_coupled; it has %s%s: rename them, or name tensors with "
                     "--coupled FILE:NAME",
                     file->path, count ? names : "none", count > 3 ? ", ..." : "");
}

static szg_status add_tensors(szg_context *context, szgi_dump *dump) {
    const dump_file *file = &dump->file[dump->files - 1];
    bool found = false;
    for (int64_t i = 0; i < szgi_safetensors_count(file->set); i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(file->set, i);
        const char *dot = strrchr(tensor->name, '.'), *word = dot ? dot + 1 : tensor->name;
        int role = role_of(word);
        if (role < 0)
            continue;
        dump_array *array;
        SZG_TRY(add_array(context, dump, role, tensor, &array));
        SZG_TRY(set_prefix(context, tensor->name, dot ? (size_t)(dot - tensor->name) : 0, array));
        found = found || role < SZGI_DUMP_ROLES;
    }
    return found ? SZG_OK : no_array(context, file);
}

szg_status szgi_dump_add(szg_context *context, szgi_dump *dump, const char *path) {
    dump_array *array;
    SZG_TRY(add_file(context, dump, path));
    if (dump->file[dump->files - 1].set)
        return add_tensors(context, dump);
    SZG_TRY(add_array(context, dump, SZGI_DUMP_COUPLED, NULL, &array));
    return set_prefix(context, "", 0, array);
}

static szg_status add_named(szg_context *context, szgi_dump *dump, szgi_dump_role role,
                            const char *path) {
    char *file;
    const char *colon = strrchr(path, ':');
    if (!colon && szgi_path_ends(path, ".npz"))
        return add_file(context, dump, path); /* which says what it is */
    SZG_TRY(szgi_memory_copy_text(context, path, &file));
    if (colon)
        file[colon - path] = 0;
    const szgi_tensor *tensor = NULL;
    dump_array *array;
    szg_status status = SZG_OK;
    if (!colon)
        status = szgi_path_ends(path, ".npz")
                     ? add_file(context, dump, path) /* says how to convert it */
                     : szgi_fail(context, SZG_EINVAL,
                                 "%s: which tensor? give FILE.safetensors:NAME", path);
    else if (szgi_path_ends(file, ".npy"))
        status = szgi_fail(context, SZG_EINVAL,
                           "%s: %s holds one array without a name: leave :%.120s out", path, file,
                           colon + 1);
    else
        status = add_file(context, dump, file);
    if (status == SZG_OK)
        tensor = szgi_safetensors_find(dump->file[dump->files - 1].set, colon + 1);
    if (status == SZG_OK && !tensor)
        status = szgi_fail(context, SZG_EDATA, "%s: has no tensor %.120s", file, colon + 1);
    if (status == SZG_OK)
        status = add_array(context, dump, (int)role, tensor, &array);
    szgi_memory_free(file);
    return status;
}

szg_status szgi_dump_add_as(szg_context *context, szgi_dump *dump, szgi_dump_role role,
                            const char *path) {
    dump_array *array;
    if ((unsigned)role >= SZGI_DUMP_ROLES || dump->given >> role & 1)
        return szgi_fail(context, SZG_EINVAL, "%s: an array of this role was given before", path);
    dump->given |= 1u << role;
    if (!szgi_path_ends(path, ".npy"))
        return add_named(context, dump, role, path);
    SZG_TRY(add_file(context, dump, path));
    return add_array(context, dump, (int)role, NULL, &array);
}

/* ---- The encoding of its queries and keys ---- */

static bool has_sides(const szgi_dump *dump, int64_t file) {
    for (int64_t i = 0; i < dump->arrays; i++)
        if (dump->array[i].file == file &&
            (dump->array[i].role == SZGI_DUMP_QUERIES || dump->array[i].role == SZGI_DUMP_KEYS))
            return true;
    return false;
}

/* What a file's metadata says; NULL: nothing. */
typedef struct said_text {
    const char *value, *path;
} said_text;

/* What the files' metadata says under a key, which is at `offset` of a dump_file; NULL in *out
 * where none says anything. Where the SPEC leaves the key to them, every file must say it. */
static szg_status agreed(szg_context *context, const szgi_dump *dump, const char *key,
                         size_t offset, bool in_spec, said_text *out) {
    const dump_file *mute = NULL;
    *out = (said_text){0};
    for (int64_t i = 0; i < dump->files; i++) {
        const dump_file *file = &dump->file[i];
        const char *value = *(const char *const *)((const char *)file + offset);
        if (!has_sides(dump, i))
            continue;
        if (out->value && value && strcmp(out->value, value) != 0)
            return szgi_fail(context, SZG_EDATA,
                             "%s: its metadata says %s=%.40s, that of %s says %.40s: read them "
                             "apart",
                             file->path, key, value, out->path, out->value);
        mute = value ? mute : file;
        *out = value ? (said_text){value, file->path} : *out;
    }
    if (out->value && mute && !in_spec)
        return szgi_fail(context, SZG_EDATA,
                         "%s: its metadata says no %s, and that of %s says %.40s: read them apart, "
                         "or give %s= in the SPEC",
                         mute->path, key, out->path, out->value, key);
    return SZG_OK;
}

static szg_status contradicts(szg_context *context, const szg_encoding *encoding, const char *key,
                              said_text said) {
    return szgi_fail(context, SZG_EINVAL,
                     "%s: its metadata says %s=%.40s, and the SPEC is %s: leave the key out, or "
                     "give a file without it",
                     said.path, key, said.value, szg_encoding_spec(encoding));
}

/* The base that counts where the SPEC says nothing of the frequencies; 0: the SPEC's own does. */
static szg_status find_base(szg_context *context, const szgi_dump *dump,
                            const szg_encoding *encoding, const said_text *pairing, double *out) {
    bool given = szgi_encoding_gives(encoding, "base"),
         told = given || szgi_encoding_gives(encoding, "theta");
    said_text base;
    char *end;
    *out = 0;
    SZG_TRY(agreed(context, dump, "base", offsetof(dump_file, base), told, &base));
    if (!base.value && (told || !pairing->value))
        return SZG_OK;
    if (!base.value)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: its metadata has a pairing and no base, so its rotation is "
                         "not plain RoPE's (partial, scaled, or with frequencies of its own): "
                         "give base=, and rotary= and scaling= where the model has them",
                         pairing->path);
    double said = strtod(base.value, &end);
    if (*end || !(said > 0 && said < INFINITY))
        return szgi_fail(context, SZG_EDATA, "%s: metadata: base '%.40s' is no positive number",
                         base.path, base.value);
    bool same = szgi_encoding_base(encoding) == said;
    if (given && !same)
        return contradicts(context, encoding, "base", base);
    if (!told && !same)
        *out = said;
    return SZG_OK;
}

/* What the SPEC leaves to the files. */
static szg_status find_values(szg_context *context, const szgi_dump *dump,
                              const szg_encoding *encoding, szgi_key_value values[2],
                              int64_t *count) {
    bool given = szgi_encoding_gives(encoding, "pairing");
    said_text pairing;
    double base;
    *count = 0;
    SZG_TRY(agreed(context, dump, "pairing", offsetof(dump_file, pairing), given, &pairing));
    if (given && pairing.value && strcmp(pairing.value, szgi_encoding_pairing(encoding)) != 0)
        return contradicts(context, encoding, "pairing", pairing);
    SZG_TRY(find_base(context, dump, encoding, &pairing, &base));
    if (!given && pairing.value)
        values[(*count)++] =
            (szgi_key_value){.key = "pairing", .type = SZGI_KEY_CHOICE, .text = pairing.value};
    if (base > 0)
        values[(*count)++] = (szgi_key_value){.key = "base", .type = SZGI_KEY_REAL, .real = base};
    return SZG_OK;
}

szg_status szgi_dump_encoding(szg_context *context, const szgi_dump *dump, const char *spec,
                              szg_encoding **out) {
    szgi_key_value values[2];
    int64_t count;
    SZG_TRY(szg_encoding_parse(context, spec, out));
    if (!szgi_encoding_pairing(*out))
        return SZG_OK;
    szg_status status = find_values(context, dump, *out, values, &count);
    if (status == SZG_OK && count == 0)
        return SZG_OK;
    szg_encoding_close(out);
    return status == SZG_OK ? szgi_encoding_open_completed(context, spec, values, count, out)
                            : status;
}

/* ---- Arrays ---- */

int szgi_dump_array_dims(const szgi_dump *dump, const dump_array *array) {
    return array->tensor ? array->tensor->dims : szgi_npy_dims(dump->file[array->file].npy);
}

const int64_t *szgi_dump_array_shape(const szgi_dump *dump, const dump_array *array) {
    return array->tensor ? array->tensor->shape : szgi_npy_shape(dump->file[array->file].npy);
}

const char *szgi_dump_array_text(const szgi_dump *dump, const dump_array *array,
                                 char text[DUMP_TEXT]) {
    const char *path = dump->file[array->file].path;
    if (array->tensor)
        snprintf(text, DUMP_TEXT, "%.110s: tensor %.110s", path, array->tensor->name);
    else
        snprintf(text, DUMP_TEXT, "%.200s", path);
    return text;
}

szg_status szgi_dump_array_read(szg_context *context, const szgi_dump *dump,
                                const dump_array *array, int64_t start, int64_t count,
                                double *out) {
    const dump_file *file = &dump->file[array->file];
    if (array->tensor)
        return szgi_tensor_read(context, array->tensor, start, count, out);
    if (szgi_npy_is_complex(file->npy))
        return szgi_fail(context, SZG_EDATA, "%s: holds complex numbers: logits are real",
                         file->path);
    szg_status status = szgi_npy_read_real(context, file->npy, start, count, out);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "%s", file->path);
}
