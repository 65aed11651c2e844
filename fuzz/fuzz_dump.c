/* Dumps of logits, or of queries and keys: which arrays belong together, their axes and shapes, and
 * the report on what is small. Input: a line "AXES ENCODING LENGTHS" ("-" where one is not given),
 * and a safetensors file, or a npy file, behind it. */
#include "base/memory.h"
#include "../lib/capture/dump_private.h"
#include "fuzz.h"

enum { LENGTHS = 3, LARGEST = 8, MOST = 4 }; /* of a matrix, and of matrices, for a report */

/* The options of the first line; what follows it is in *size bytes at *data. */
static bool read_options(const uint8_t **data, size_t *size, char axes[static 64],
                         szgi_dump_options *out) {
    static const int64_t length[LENGTHS] = {3, 1, 2};
    const char *const specs[] = {"nope", "rope:dim=2", "alibi:heads=2", "mla:content=2,rope=2"};
    const uint8_t *end = *size > 0 ? memchr(*data, '\n', *size < 128 ? *size : 128) : NULL;
    char line[129] = "", spec[16], lengths[16];
    if (!end)
        return false;
    memcpy(line, *data, (size_t)(end - *data));
    if (sscanf(line, "%63s %15s %15s", axes, spec, lengths) != 3)
        return false;
    *size -= (size_t)(end + 1 - *data);
    *data = end + 1;
    *out = (szgi_dump_options){.axes = strcmp(axes, "-") == 0 ? NULL : axes, .length = length};
    szg_encoding *encoding = NULL;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        if (*spec == *specs[i])
            FUZZ_PROMISE(szg_encoding_parse(fuzz_context(), specs[i], &encoding) == SZG_OK);
    out->encoding = encoding;
    out->causal = *spec == 'a';
    out->lengths = *lengths >= '1' && *lengths <= '3' ? *lengths - '0' : 0;
    return true;
}

/* A refusal names the file, or the option. */
static void check_refusal(szg_status status, const char *path) {
    const char *message = szg_context_message(fuzz_context());
    if (status == SZG_EINVAL)
        FUZZ_PROMISE(strncmp(message, "axes '", 6) == 0 ||
                     strncmp(message, path, strlen(path)) == 0);
    else
        FUZZ_REFUSED(status, path);
}

/* Every array is in one group, in one role. */
static void check_group(const szgi_dump *dump, const dump_group *group) {
    FUZZ_PROMISE(group->first && group->first->role < SZGI_DUMP_ROLES);
    FUZZ_PROMISE(group->array[group->first->role] == group->first);
    for (int role = 0; role < DUMP_ROLES; role++)
        FUZZ_PROMISE(!group->array[role] || group->array[role]->role == role);
    FUZZ_PROMISE(group->first->file < dump->files);
}

/* What an accepted group promises its reader. */
static void check_accepted(const szgi_dump *dump, const dump_group *group) {
    int64_t matrices = 1;
    FUZZ_PROMISE(group->n > 0 && group->axes >= 0 && group->axes <= DUMP_AXES);
    for (int i = 0; i < group->axes; i++) {
        FUZZ_PROMISE(group->size[i] > 0 && strchr("blh", group->axis[i]));
        FUZZ_PROMISE(i == 0 || !memchr(group->axis, group->axis[i], (size_t)i));
        matrices *= group->size[i];
    }
    FUZZ_PROMISE(matrices == group->matrices);
    for (int role = 0; role < SZGI_DUMP_ROLES; role++)
        if (group->array[role])
            FUZZ_PROMISE(szgi_dump_array_dims(dump, group->array[role]) == group->axes + 2);
}

/* Whether all groups are accepted and small. */
static bool check_groups(const szgi_dump *dump, const szgi_dump_options *options,
                         const char *path) {
    dump_group *group;
    int64_t count, arrays = 0;
    szg_status status = szgi_dump_groups(fuzz_context(), dump, &group, &count);
    bool small = true;
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, path);
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        check_group(dump, &group[i]);
        for (int role = 0; role < DUMP_ROLES; role++)
            arrays += group[i].array[role] != NULL;
        status = szgi_dump_group_check(fuzz_context(), dump, options, &group[i]);
        if (status == SZG_OK)
            check_accepted(dump, &group[i]);
        else
            check_refusal(status, path);
        small = small && status == SZG_OK && group[i].n <= LARGEST && group[i].matrices <= MOST;
    }
    FUZZ_PROMISE(arrays <= dump->arrays);
    szgi_memory_free(group);
    return small && count <= MOST;
}

static void lags(const szgi_dump *dump, const szgi_dump_options *options, const char *path) {
    szgi_dump_lag_tables tables;
    FUZZ_PROMISE(szgi_dump_lags_open(fuzz_context(), true, &tables) == SZG_OK);
    szg_status status = szgi_dump_lags(fuzz_context(), dump, options, 1, &tables);
    if (status != SZG_OK)
        check_refusal(status, path);
    szgi_dump_lags_close(&tables);
}

static void report(const szgi_dump *dump, const szgi_dump_options *options, const char *path) {
    szg_contraction_tables tables;
    szg_report_options none = {SZG_INIT(szg_report_options), .no_symbol = true};
    szg_context *context = fuzz_context();
    FUZZ_PROMISE(szg_contraction_tables_open(context, false, false, &tables) == SZG_OK);
    szg_status status = szgi_dump_report(context, dump, options, &none, &tables);
    if (status != SZG_OK && status != SZG_ENOCONV)
        check_refusal(status, path);
    szg_contraction_tables_close(&tables);
    if (status == SZG_OK)
        lags(dump, options, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char axes[64];
    szgi_dump_options options;
    szgi_dump *dump;
    if (!read_options(&data, &size, axes, &options))
        return 0;
    bool npy = size > 0 && *data == 0x93;
    const char *path = fuzz_file(npy ? "dump.npy" : "dump.safetensors", data, size);
    FUZZ_PROMISE(szgi_dump_open(fuzz_context(), &dump) == SZG_OK);
    szg_status status = szgi_dump_add(fuzz_context(), dump, path);
    if (status != SZG_OK)
        FUZZ_REFUSED(status, path);
    else if (check_groups(dump, &options, path))
        report(dump, &options, path);
    szgi_dump_close(&dump);
    szg_encoding_close((szg_encoding **)&options.encoding);
    fuzz_clean();
    return 0;
}
