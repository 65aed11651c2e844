/* GGUF models: one file, or the parts of one. */
#include "base/file.h"
#include "gguf_private.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"

szgi_json_value szgi_gguf_metadata(const szgi_safetensors *set) {
    return szgi_json_root(set->shard[0].header);
}

/* ---- One file ---- */

static uint32_t swapped(uint32_t word) {
    return word >> 24 | (word >> 8 & 0xFF00) | (word << 8 & 0xFF0000) | word << 24;
}

static szg_status check_version(gguf_reader *reader) {
    const unsigned char *magic;
    uint32_t version;
    unsigned char start[SHARD_START];
    int64_t size = reader->size < SHARD_START ? reader->size : SHARD_START;
    if (reader->source) {
        SZG_TRY(szgi_source_read(reader->context, reader->source, 0, size, start));
        SZG_TRY(szgi_lfs_refuse(reader->context, reader->file, start, size));
    }
    SZG_TRY(szgi_gguf_take(reader, GGUF_MAGIC, &magic));
    if (memcmp(magic, "GGUF", GGUF_MAGIC) != 0)
        return szgi_fail(reader->context, SZG_EDATA,
                         "%s: byte 0: does not begin with GGUF: this is not a GGUF file, or it is "
                         "damaged",
                         reader->file);
    SZG_TRY(szgi_gguf_u32(reader, &version));
    if (version == 2 || version == 3)
        return SZG_OK;
    if (version == 1)
        return szgi_fail(reader->context, SZG_EDATA,
                         "%s: is of GGUF version 1, and szego reads 2 and 3: convert the model "
                         "again with a current llama.cpp",
                         reader->file);
    if (swapped(version) >= 1 && swapped(version) <= 3)
        return szgi_fail(reader->context, SZG_EDATA,
                         "%s: is a big-endian GGUF file, and szego reads little-endian ones: "
                         "convert it: gguf-convert-endian %s little (PyPI: gguf)",
                         reader->file, szgi_path_name(reader->file));
    return szgi_fail(reader->context, SZG_EDATA,
                     "%s: is of GGUF version %" PRIu32 ", and szego reads 2 and 3", reader->file,
                     version);
}

/* Reads the header of the last shard. */
static szg_status read_header(gguf_reader *reader, szgi_safetensors *set) {
    szgi_shard *shard = &set->shard[set->shards - 1];
    uint64_t tensors, keys;
    snprintf(reader->what, sizeof reader->what, "the header");
    SZG_TRY(check_version(reader));
    SZG_TRY(szgi_gguf_u64(reader, &tensors));
    SZG_TRY(szgi_gguf_u64(reader, &keys));
    SZG_TRY(szgi_json_open_object_named(reader->context, reader->file, &shard->header));
    SZG_TRY(szgi_gguf_read_metadata(reader, keys, shard->header));
    return szgi_gguf_read_tensors(reader, tensors, set);
}

static szg_status open_part(szg_context *context, szgi_safetensors *set, const char *path) {
    SZG_TRY(szgi_shard_add(context, set, path));
    szgi_shard *shard = &set->shard[set->shards - 1];
    SZG_TRY(szgi_source_open(context, path, &shard->source));
    gguf_reader reader = {.context = context,
                          .file = shard->file,
                          .source = shard->source,
                          .size = szgi_source_size(shard->source)};
    SZG_TRY(szgi_memory_alloc(context, GGUF_WINDOW, &reader.window));
    szg_status status = read_header(&reader, set);
    szgi_memory_free(reader.window);
    return status;
}

/* ---- Parts ---- */

/* NAME-00002-of-00005.gguf: the ending is this long. */
enum { PART_ENDING = sizeof "-00002-of-00005.gguf" - 1 };

/* Is the path that of a part? Length of NAME, and both numbers. */
static bool part_of(const char *path, size_t *stem, int *number, int *parts) {
    size_t length = strlen(path);
    int used = 0;
    if (length <= PART_ENDING)
        return false;
    *stem = length - PART_ENDING;
    return sscanf(path + *stem, "-%5d-of-%5d.gguf%n", number, parts, &used) == 2 &&
           used == PART_ENDING && *number >= 1 && *number <= *parts;
}

/* An integer of the metadata of the last shard; `otherwise` where it is absent. */
static szg_status split_key(szg_context *context, const szgi_safetensors *set, const char *key,
                            int64_t otherwise, int64_t *out) {
    szgi_json_value metadata = szgi_json_root(set->shard[set->shards - 1].header);
    *out = otherwise;
    if (!szgi_json_has(metadata, key))
        return SZG_OK;
    return szgi_json_as_integer(context, szgi_json_member(metadata, key), out);
}

static szg_status open_numbered(szg_context *context, szgi_safetensors *set, const char *path,
                                size_t stem, int number, int parts) {
    char *name;
    int64_t found_number, found_parts;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)stem + PART_ENDING + 1, &name));
    snprintf(name, stem + PART_ENDING + 1, "%.*s-%05d-of-%05d.gguf", (int)stem, path, number,
             parts);
    struct stat info;
    szg_status status =
        stat(name, &info) != 0 && errno == ENOENT
            ? szgi_fail(context, SZG_EDATA,
                        "%s: is missing: the model has %d parts: put it beside the others, or join "
                        "them: llama-gguf-split --merge",
                        name, parts)
            : open_part(context, set, name);
    if (status == SZG_OK)
        status = split_key(context, set, "split.no", -1, &found_number);
    if (status == SZG_OK)
        status = split_key(context, set, "split.count", -1, &found_parts);
    if (status == SZG_OK && (found_number != number - 1 || found_parts != parts))
        status = szgi_fail(context, SZG_EDATA,
                           "%s: says that it is part %" PRId64 " of %" PRId64
                           " (split.no, split.count), and its name says another: give it its own "
                           "name back",
                           name, found_number + 1, found_parts);
    szgi_memory_free(name);
    return status;
}

/* Opens all parts, the first one first: it has the metadata. */
static szg_status open_parts(szg_context *context, szgi_safetensors *set, const char *path,
                             size_t stem, int parts) {
    int64_t tensors;
    for (int i = 1; i <= parts; i++)
        SZG_TRY(open_numbered(context, set, path, stem, i, parts));
    SZG_TRY(split_key(context, set, "split.tensors.count", set->count, &tensors));
    if (tensors == set->count)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: split.tensors.count: %" PRId64 " tensors belong to the model, and its "
                     "parts hold %" PRId64 ": a part was replaced; fetch the model again",
                     set->shard[set->shards - 1].file, tensors, set->count);
}

static szg_status open_path(szg_context *context, szgi_safetensors *set, const char *path) {
    size_t stem;
    int number, parts;
    int64_t count;
    if (part_of(path, &stem, &number, &parts) && parts > 1)
        return open_parts(context, set, path, stem, parts);
    SZG_TRY(open_part(context, set, path));
    SZG_TRY(split_key(context, set, "split.count", 1, &count));
    if (count <= 1)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: split.count: is %" PRId64 ", so this is one of several parts, and its "
                     "name does not tell the others: name them NAME-00001-of-%05" PRId64
                     ".gguf and "
                     "so on, or join them: llama-gguf-split --merge",
                     path, count, count);
}

static szg_status finish(szg_context *context, szg_status status, szgi_safetensors *set,
                         szgi_safetensors **out) {
    if (status == SZG_OK)
        status = szgi_shards_complete(context, set);
    if (status != SZG_OK)
        szgi_safetensors_close(&set);
    *out = set;
    return status;
}

szg_status szgi_gguf_open(szg_context *context, const char *path, szgi_safetensors **out) {
    *out = NULL;
    szgi_safetensors *set;
    SZG_TRY(szgi_memory_alloc(context, 1, &set));
    return finish(context, open_path(context, set, path), set, out);
}

szg_status szgi_gguf_open_bytes(szg_context *context, const char *name, const void *data,
                                int64_t size, szgi_safetensors **out) {
    *out = NULL;
    szgi_safetensors *set;
    SZG_TRY(szgi_memory_alloc(context, 1, &set));
    szg_status status = szgi_shard_add(context, set, name);
    if (status == SZG_OK) {
        gguf_reader reader = {
            .context = context, .file = set->shard[0].file, .data = data, .size = size};
        status = read_header(&reader, set);
    }
    return finish(context, status, set, out);
}

/* ---- Which file of a folder ---- */

static int is_gguf_name(const struct dirent *entry) {
    return entry->d_name[0] != '.' && szgi_path_ends(entry->d_name, ".gguf");
}

static int is_other_name(const struct dirent *entry) {
    return entry->d_name[0] != '.' && (szgi_path_ends(entry->d_name, ".safetensors") ||
                                       szgi_path_ends(entry->d_name, ".safetensors.index.json"));
}

static void free_entries(struct dirent **entry, int count) {
    for (int i = 0; i < count; i++)
        free(entry[i]);
    free(entry);
}

/* Are both names parts of one model? */
static bool same_model(const char *a, const char *b) {
    size_t a_stem, b_stem;
    int number, a_parts, b_parts;
    return part_of(a, &a_stem, &number, &a_parts) && part_of(b, &b_stem, &number, &b_parts) &&
           a_stem == b_stem && a_parts == b_parts && strncmp(a, b, a_stem) == 0;
}

static szg_status choose(szg_context *context, const char *folder, struct dirent **entry, int count,
                         char **out) {
    for (int i = 1; i < count; i++)
        if (!same_model(entry[0]->d_name, entry[i]->d_name))
            return szgi_fail(context, SZG_EDATA,
                             "%s: holds several GGUF models, %s and %s: name the file", folder,
                             SHOWN(entry[0]->d_name), SHOWN(entry[i]->d_name));
    return szgi_path_join(context, folder, entry[0]->d_name, out);
}

static szg_status find_in_folder(szg_context *context, const char *folder, char **out) {
    struct dirent **entry = NULL;
    int others = scandir(folder, &entry, is_other_name, alphasort);
    if (others >= 0)
        free_entries(entry, others);
    if (others != 0) /* what cannot be read is reported by the reader of safetensors */
        return SZG_OK;
    int count = scandir(folder, &entry, is_gguf_name, alphasort);
    if (count < 0)
        return SZG_OK;
    szg_status status = count > 0 ? choose(context, folder, entry, count, out) : SZG_OK;
    free_entries(entry, count);
    return status;
}

szg_status szgi_gguf_find(szg_context *context, const char *path, char **out) {
    *out = NULL;
    struct stat info;
    if (stat(path, &info) != 0)
        return SZG_OK;
    if (S_ISDIR(info.st_mode))
        return find_in_folder(context, path, out);
    if (!S_ISREG(info.st_mode))
        return SZG_OK;
    char magic[GGUF_MAGIC] = "";
    FILE *file = fopen(path, "rb");
    bool is_gguf = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                   memcmp(magic, "GGUF", sizeof magic) == 0;
    if (file)
        fclose(file);
    return is_gguf ? szgi_memory_copy_text(context, path, out) : SZG_OK;
}
