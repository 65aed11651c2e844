/* Checkpoints of one training, by step. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"
#include "checkpoint_private.h"
#include "diff.h"

static const char STEM[] = "checkpoint-";
enum { STEM_LENGTH = sizeof STEM - 1 };

static bool has_stem(const char *name) {
    return strncmp(name, STEM, STEM_LENGTH) == 0;
}

/* `name` may have slashes behind it. */
static int64_t step_of_name(const char *name, size_t length) {
    char digits[24];
    int64_t step;
    if (!has_stem(name) || length <= STEM_LENGTH || length - STEM_LENGTH >= sizeof digits)
        return -1;
    snprintf(digits, sizeof digits, "%.*s", (int)(length - STEM_LENGTH), name + STEM_LENGTH);
    return digits[0] != '-' && szgi_integer_parse(digits, &step) == SZGI_PARSED ? step : -1;
}

int64_t szgi_series_step(const char *path) {
    size_t end = strlen(path);
    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return step_of_name(path + start, end - start);
}

/* ---- Lists ---- */

static szg_status add(szg_context *context, szgi_series *series, int64_t *room, const char *path,
                      int64_t step) {
    SZG_TRY(szgi_memory_reserve(context, &series->item, room, series->count, 1));
    series->item[series->count].step = step;
    SZG_TRY(szgi_memory_copy_text(context, path, &series->item[series->count].path));
    series->count++;
    return SZG_OK;
}

void szgi_series_close(szgi_series *series) {
    for (int64_t i = 0; i < series->count; i++)
        szgi_memory_free(series->item[i].path);
    szgi_memory_free(series->item);
    *series = (szgi_series){0};
}

szg_status szgi_series_of_paths(szg_context *context, const char *const *path, int64_t count,
                                szgi_series *out) {
    int64_t room = 0;
    bool named = count > 1;
    szg_status status = SZG_OK;
    *out = (szgi_series){0};
    for (int64_t i = 1; i < count; i++)
        named = named && szgi_series_step(path[i]) >= 0;
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        status = add(context, out, &room, path[i],
                     named        ? szgi_series_step(path[i])
                     : count == 2 ? -1
                                  : i);
    if (status != SZG_OK)
        szgi_series_close(out);
    return status;
}

/* ---- A folder ---- */

static int is_candidate(const struct dirent *entry) {
    return has_stem(entry->d_name);
}

static szg_status look_at(szg_context *context, const char *folder, const char *name,
                          szgi_series *out, int64_t *room) {
    struct stat info;
    char *path = NULL;
    size_t length = strlen(folder);
    int64_t step = step_of_name(name, strlen(name));
    SZG_TRY(szgi_text_append(context, &path, "%s%s%s", folder,
                             length > 0 && folder[length - 1] == '/' ? "" : "/", name));
    bool is_folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    szg_status status = SZG_OK;
    if (step >= 0 && is_folder)
        status = add(context, out, room, path, step);
    else
        szgi_say(context, SZG_WARNING, "%s: passed over: %s", SHOWN(path),
                 is_folder ? "STEP of checkpoint-STEP is not a whole number" : "not a folder");
    szgi_memory_free(path);
    return status;
}

static int compare_steps(const void *a, const void *b) {
    const struct szgi_series_item *first = a, *second = b;
    if (first->step != second->step)
        return first->step < second->step ? -1 : 1;
    return strcmp(first->path, second->path);
}

static szg_status check_series(szg_context *context, const char *folder,
                               const szgi_series *series) {
    if (series->count < 2)
        return szgi_fail(
            context, SZG_EDATA,
            "%s: %s: a series needs two of them at least; two or more PATHs are compared "
            "as they stand",
            SHOWN(folder),
            series->count == 0 ? "no folder checkpoint-STEP in it"
                               : "only one folder checkpoint-STEP in it");
    for (int64_t i = 1; i < series->count; i++)
        if (series->item[i].step == series->item[i - 1].step)
            return szgi_fail(
                context, SZG_EDATA, "%s and %s are both of step %" PRId64 ": remove or rename one",
                SHOWN(series->item[i - 1].path), SHOWN(series->item[i].path), series->item[i].step);
    return SZG_OK;
}

szg_status szgi_series_of_folder(szg_context *context, const char *folder, szgi_series *out) {
    int64_t room = 0;
    struct dirent **entry;
    szg_status status = SZG_OK;
    *out = (szgi_series){0};
    int count = scandir(folder, &entry, is_candidate, alphasort);
    if (count < 0)
        return szgi_fail(context, SZG_EIO, "%s: cannot be read as a folder: %s", SHOWN(folder),
                         strerror(errno));
    for (int i = 0; i < count; i++) {
        if (status == SZG_OK)
            status = look_at(context, folder, entry[i]->d_name, out, &room);
        free(entry[i]);
    }
    free(entry);
    if (out->count > 0)
        qsort(out->item, (size_t)out->count, sizeof *out->item, compare_steps);
    if (status == SZG_OK)
        status = check_series(context, folder, out);
    if (status != SZG_OK)
        szgi_series_close(out);
    return status;
}
