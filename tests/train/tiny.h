/* What the tests of runs share: a configuration that trains in milliseconds, folders, files. */
#ifndef SZG_TESTS_TINY_H
#define SZG_TESTS_TINY_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "train/run/train.h"
#include "train/config/train_config.h"
#include <szego/tasks.h>

#include "suite.h"

/* Nine steps of three epochs; the last batch of an epoch is a partial one. */
enum { TINY_STEPS = 9, TINY_EPOCH = 3 };

static const char *const tiny_keys[] = {
    "model.vocabulary=20",     "model.width=8",       "model.hidden=8",   "model.layers=2",
    "model.heads=2",           "model.max_length=16", "data.examples=58", "data.between_max=4",
    "data.side_max=2",         "data.longest=10",     "loop.batch=16",    "loop.epochs=3",
    "loop.learning_rate=0.01", "loop.warmup=0.25"};

/* The tiny configuration with one more key, or NULL. */
static inline szg_train_config *new_tiny(const char *key) {
    enum { KEYS = sizeof tiny_keys / sizeof *tiny_keys };
    const char *keys[KEYS + 1];
    memcpy(keys, tiny_keys, sizeof tiny_keys);
    keys[KEYS] = key;
    szg_train_config *config;
    ck_szg_ok(szgi_memory_alloc(test_context(), 1, &config));
    ck_szg_ok(szg_train_config_read(test_context(), NULL, keys, KEYS + (key != NULL), config));
    return config;
}

/* A new empty folder; free with remove_folder. */
static inline char *new_folder(void) {
    /* In memory where there is such a place: runs wait for the disk again and again. */
    static const char memory[] = "/dev/shm";
    char name[64];
    snprintf(name, sizeof name, "%s/szego-train-XXXXXX",
             access(memory, W_OK) == 0 ? memory : "/tmp");
    char *folder = strdup(name);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    return folder;
}

static inline void empty_folder(const char *folder) {
    DIR *entries = opendir(folder);
    struct dirent *entry;
    if (!entries)
        return;
    while ((entry = readdir(entries)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            (void)!unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
}

static inline void remove_folder(char *folder) {
    empty_folder(folder);
    rmdir(folder);
    free(folder);
}

static inline const char *path_in(const char *folder, const char *name, char path[256]) {
    ck_assert_int_lt(snprintf(path, 256, "%s/%s", folder, name), 256);
    return path;
}

/* The whole of a file with its length; free the data with free. NULL: there is none. */
static inline char *file_bytes(const char *folder, const char *name, size_t *size) {
    char path[256], *data = NULL;
    *size = 0;
    FILE *file = fopen(path_in(folder, name, path), "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    data = malloc(*size + 1);
    ck_assert_uint_eq(fread(data, 1, *size, file), *size);
    data[*size] = 0;
    fclose(file);
    return data;
}

static inline void ck_same_file(const char *folder, const char *other, const char *name) {
    size_t size, other_size;
    char *a = file_bytes(folder, name, &size), *b = file_bytes(other, name, &other_size);
    ck_assert_msg(a && b, "%s is missing in %s", name, a ? other : folder);
    ck_assert_msg(size == other_size && memcmp(a, b, size) == 0, "%s: %zu bytes, %zu bytes, differ",
                  name, size, other_size);
    free(a);
    free(b);
}

/* The tensors of the states are bit-equal; their headers know how long the log of timings is. */
static inline void ck_same_state(const char *folder, const char *other) {
    size_t size[2];
    uint64_t header[2];
    char *data[2];
    for (int i = 0; i < 2; i++) {
        data[i] = file_bytes(i ? other : folder, "checkpoint.state.safetensors", &size[i]);
        ck_assert_ptr_nonnull(data[i]);
        memcpy(&header[i], data[i], sizeof header[i]);
        header[i] += sizeof header[i];
    }
    ck_assert_uint_gt(size[0], header[0]);
    ck_assert_uint_eq(size[0] - header[0], size[1] - header[1]);
    ck_assert_int_eq(memcmp(data[0] + header[0], data[1] + header[1], size[0] - header[0]), 0);
    free(data[0]);
    free(data[1]);
}

static inline int64_t files_in(const char *folder) {
    DIR *entries = opendir(folder);
    int64_t count = 0;
    while (entries && readdir(entries))
        count++;
    closedir(entries);
    return count;
}

/* Weights, moments and metrics are bit-equal, and nothing unfinished is left. The run's name is in
 * the tables, so the folders have the same last part. */
static inline void ck_same_run(const char *folder, const char *other) {
    ck_same_file(folder, other, "checkpoint.safetensors");
    ck_same_file(folder, other, "metrics.csv");
    ck_same_state(folder, other);
    ck_assert_int_eq(files_in(folder), files_in(other));
    static const char *const captured[] = {"contraction.csv", "contraction_values.csv",
                                           "contraction_symbols.csv", "curvature.csv"};
    char path[256];
    for (size_t i = 0; i < sizeof captured / sizeof *captured; i++)
        if (access(path_in(folder, captured[i], path), F_OK) == 0)
            ck_same_file(folder, other, captured[i]);
}

/* ---- Runs ---- */

static inline szg_status run_in(szg_context *context, const szg_train_config *config, uint64_t seed,
                                const char *folder, bool resume, szg_train_result *out) {
    szg_dataset data;
    szg_status status = szg_dataset_open(context, config, &data);
    if (status != SZG_OK)
        return status;
    szg_train_options options = {SZG_INIT(szg_train_options),
                                 .config = config,
                                 .data = &data,
                                 .seed = seed,
                                 .folder = folder,
                                 .resume = resume};
    status = szg_train_run(context, &options, out);
    szg_dataset_close(&data);
    return status;
}

/* PARENT/run of a new parent: all runs have the same name. */
static inline char *new_run_folder(void) {
    char *parent = new_folder(), *folder = malloc(strlen(parent) + 5);
    sprintf(folder, "%s/run", parent);
    free(parent);
    return folder;
}

static inline void remove_run_folder(char *folder) {
    empty_folder(folder);
    rmdir(folder);
    *strrchr(folder, '/') = 0;
    rmdir(folder);
    free(folder);
}

/* A run that nothing disturbs. */
static inline char *whole_run(const szg_train_config *config) {
    szg_train_result result;
    char *folder = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 5, folder, false, &result));
    ck_assert_int_eq(result.steps, TINY_STEPS);
    ck_assert_int_eq(result.epochs, 3);
    return folder;
}

#endif
