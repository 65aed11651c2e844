/* Runs travel in an archive: their tables, and of a begun one its checkpoint. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/archives.h"
#include "base/file.h"
#include "base/memory.h"

#include "reproduce_private.h"

static const char finished_name[] = "finished.json";
static const char state_name[] = "checkpoint.state.safetensors";
static const char weights_name[] = "checkpoint.safetensors";
static const char locked_name[] = "metrics.csv"; /* the first log that training locks */

/* The files of a run that travel beside finished.json, or the state in its place. */
static const char *const companions[] = {"config.json",
                                         "manifest.json",
                                         "metrics.csv",
                                         "timing.csv",
                                         "contraction.csv",
                                         "contraction_values.csv",
                                         "contraction_symbols.csv",
                                         "ablation.csv",
                                         "ablation_values.csv",
                                         "ablation_latent_columns.csv",
                                         "ablation_cumulative.csv"};
enum { COMPANIONS = sizeof companions / sizeof *companions };

static const int64_t most_unpacked = (int64_t)1 << 32; /* whatever the preset may need */

/* ---- Packing ---- */

/* Adds FOLDER/NAME where it is there. */
static szg_status add_file(szg_context *context, const reproduction_run *run, const char *name,
                           szgi_archive_writer *writer) {
    char *path, inside[SZG_CONFIG_TEXT + 512];
    SZG_TRY(szgi_path_join(context, run->folder, name, &path));
    snprintf(inside, sizeof inside, "runs/%s/%s", run->name, name);
    szg_status status =
        access(path, F_OK) == 0 ? szgi_archive_add(context, writer, inside, path) : SZG_OK;
    szgi_memory_free(path);
    return status;
}

/* Bytes of the state that a begun run would go on from; -1: none. */
static szg_status state_size(szg_context *context, const reproduction_run *run, int64_t *out) {
    char *path;
    struct stat info;
    SZG_TRY(szgi_path_join(context, run->folder, state_name, &path));
    *out = stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
    szgi_memory_free(path);
    return SZG_OK;
}

static szg_status add_run(szg_context *context, const reproduction_run *run, int64_t carry,
                          szgi_archive_writer *writer) {
    int64_t size;
    SZG_TRY(state_size(context, run, &size));
    if (!run->shown.finished && size > carry && carry > 0)
        szgi_say(context, SZG_NOTE,
                 "%s is begun; its checkpoint of %" PRId64 " bytes is not packed", run->name, size);
    if (!run->shown.finished && (size < 0 || size > carry))
        return SZG_OK;
    SZG_TRY(add_file(context, run, run->shown.finished ? finished_name : state_name, writer));
    for (int i = 0; i < COMPANIONS; i++)
        SZG_TRY(add_file(context, run, companions[i], writer));
    return SZG_OK;
}

szg_status szg_reproduction_pack(szg_context *context, const szg_reproduction *reproduction,
                                 const char *path, int64_t carry) {
    szgi_archive_writer *writer;
    if (!reproduction->folder)
        return szgi_fail(context, SZG_EINVAL, "reproduction: no folder to pack");
    SZG_TRY(szgi_archive_create(context, path, &writer));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < reproduction->count && status == SZG_OK; i++)
        status = add_run(context, &reproduction->run[i], carry, writer);
    if (status == SZG_OK)
        return szgi_archive_commit(context, &writer);
    szgi_archive_discard(&writer);
    return status;
}

/* ---- What an archive holds ---- */

/* The run whose file it is, and the file's own name; NULL: of none. */
static reproduction_run *owner_of(const szg_reproduction *self, const char *inside,
                                  const char **name) {
    const char *slash = strrchr(inside, '/');
    if (!slash || strncmp(inside, "runs/", 5) != 0)
        return NULL;
    *name = slash + 1;
    bool known = strcmp(*name, finished_name) == 0 || strcmp(*name, state_name) == 0;
    for (int i = 0; i < COMPANIONS; i++)
        known |= strcmp(*name, companions[i]) == 0;
    size_t length = known ? (size_t)(slash - inside - 5) : 0;
    for (int64_t i = 0; known && slash > inside + 5 && i < self->count; i++)
        if (strlen(self->run[i].name) == length &&
            memcmp(self->run[i].name, inside + 5, length) == 0)
            return &self->run[i];
    return NULL;
}

static szg_status check_owners(szg_context *context, const szg_reproduction *self,
                               const szgi_archive *archive, const char *path) {
    const char *name;
    for (int64_t i = 0; i < szgi_archive_count(archive); i++)
        if (!owner_of(self, szgi_archive_file_at(archive, i).name, &name))
            return szgi_fail(
                context, SZG_EDATA,
                "%s: %.300s belongs to no run of preset %s: name the preset (and --set) "
                "that the archive was made with",
                path, szgi_archive_file_at(archive, i).name, self->name);
    return SZG_OK;
}

/* The file NAME of a run; data NULL: it is not there. */
static szgi_archive_file find_file(const szgi_archive *archive, const reproduction_run *run,
                                   const char *name) {
    char inside[SZG_CONFIG_TEXT + 512];
    snprintf(inside, sizeof inside, "runs/%s/%s", run->name, name);
    return szgi_archive_find(archive, inside);
}

/* ---- Checks ---- */

/* finished.json is that of the run; its facts go into `out`. */
static szg_status check_facts(szg_context *context, const reproduction_run *run,
                              szgi_archive_file file, const char *path, reproduction_run *out) {
    szgi_json *json;
    char name[SZG_CONFIG_TEXT + 4096];
    snprintf(name, sizeof name, "%.2000s: %.1500s", path, file.name);
    *out = *run;
    SZG_TRY(szgi_json_parse(context, name, file.data, file.size, &json));
    szg_status status = szgi_facts_take(context, szgi_json_root(json), out);
    szgi_json_close(&json);
    return status;
}

static void note_missing_times(szg_context *context, const szgi_archive *archive,
                               const reproduction_run *run, const char *path) {
    char name[SZG_CONFIG_TEXT + 4096];
    snprintf(name, sizeof name, "%.2000s: runs/%.1500s/timing.csv", path, run->name);
    if (!find_file(archive, run, "timing.csv").data)
        szgi_reproduction_note_times(context, run, name, 0);
}

/* What the reports of a finished run need is there. */
static szg_status check_tables(szg_context *context, const szgi_archive *archive,
                               const reproduction_run *run, const char *path) {
    const char *wanted[1 + SZG_ABLATION_METHODS] = {"metrics.csv"};
    int count = 1;
    for (int method = 0; method < SZG_ABLATION_METHODS; method++)
        if (run->shown.methods >> method & 1)
            wanted[count++] = szgi_reproduction_ablation_name((szg_ablation_method)method);
    for (int i = 0; i < count; i++)
        if (!find_file(archive, run, wanted[i]).data)
            return szgi_fail(context, SZG_EDATA, "%s: runs/%s lacks %s", path, run->name,
                             wanted[i]);
    return SZG_OK;
}

static szg_status judge_file(szg_context *context, const szgi_archive *archive,
                             const reproduction_run *run, const char *name, const char *path) {
    szgi_archive_file file = find_file(archive, run, name);
    return file.data ? szgi_reproduction_judge(context, run, name, path, file) : SZG_OK;
}

static szg_status judge_finished(szg_context *context, const szgi_archive *archive,
                                 const reproduction_run *run, const char *path) {
    SZG_TRY(check_tables(context, archive, run, path));
    note_missing_times(context, archive, run, path);
    for (int i = 0; i < COMPANIONS; i++)
        SZG_TRY(judge_file(context, archive, run, companions[i], path));
    return SZG_OK;
}

/* Files of a run that is neither finished nor begun are none that an archive is packed with. */
static szg_status judge_other(szg_context *context, const szgi_archive *archive,
                              const reproduction_run *run, const char *path) {
    if (find_file(archive, run, state_name).data) {
        SZG_TRY(judge_file(context, archive, run, "config.json", path));
        return judge_file(context, archive, run, state_name, path);
    }
    for (int i = 0; i < COMPANIONS; i++)
        if (find_file(archive, run, companions[i]).data)
            return szgi_fail(context, SZG_EDATA, "%s: runs/%s has %s, and neither %s nor %s", path,
                             run->name, companions[i], finished_name, state_name);
    return SZG_OK;
}

/* Judges the run's part of the archive; where it is finished, `finished` is it with its facts. */
static szg_status judge_run(szg_context *context, const szgi_archive *archive,
                            const reproduction_run *run, const char *path,
                            reproduction_run *finished) {
    szgi_archive_file facts = find_file(archive, run, finished_name);
    SZG_TRY(szgi_context_check_cancel(context));
    if (!facts.data)
        return judge_other(context, archive, run, path);
    SZG_TRY(check_facts(context, run, facts, path, finished));
    return judge_finished(context, archive, finished, path);
}

/* ---- Taking ---- */

typedef struct taking {
    const szgi_archive *archive;
    const char *path;
    int64_t held; /* finished runs in the archive */
    int64_t finished, begun, kept;
} taking;

static szg_status write_file(szg_context *context, const reproduction_run *run, const char *name,
                             szgi_archive_file file) {
    char *path;
    szgi_writer *writer;
    SZG_TRY(szgi_path_join(context, run->folder, name, &path));
    szg_status status = szgi_writer_open(context, path, &writer);
    szgi_memory_free(path);
    SZG_TRY(status);
    /* A short write is found by the commit. */
    (void)!fwrite(file.data, 1, (size_t)file.size, szgi_writer_stream(writer));
    return szgi_writer_commit(context, &writer);
}

static szg_status remove_file(szg_context *context, const reproduction_run *run, const char *name) {
    char *path;
    SZG_TRY(szgi_path_join(context, run->folder, name, &path));
    szg_status status = SZG_OK;
    if (unlink(path) != 0 && access(path, F_OK) == 0)
        status = szgi_fail(context, SZG_EIO, "%s: cannot be removed", path);
    szgi_memory_free(path);
    return status;
}

/* The log whose lock is held while the run is written: in its place, as another file in its stead
 * would have no lock. */
static szg_status write_locked(szg_context *context, run_log *log, szgi_archive_file file) {
    SZG_TRY(szgi_log_cut(context, log, (log_mark){0}));
    if (file.size > 0)
        SZG_TRY(szgi_log_write(context, log, file.data, file.size));
    return szgi_log_sync(context, log);
}

static szg_status write_companion(szg_context *context, const taking *from,
                                  const reproduction_run *run, const char *name, run_log *log) {
    szgi_archive_file file = find_file(from->archive, run, name);
    if (strcmp(name, locked_name) == 0)
        return write_locked(context, log, file);
    return file.data ? write_file(context, run, name, file) : remove_file(context, run, name);
}

/* `last` comes last: until it is there the run counts as neither finished nor begun. */
static szg_status write_run(szg_context *context, const taking *from, const reproduction_run *run,
                            const char *last, run_log *log) {
    SZG_TRY(szgi_context_check_cancel(context));
    SZG_TRY(remove_file(context, run, state_name));
    SZG_TRY(remove_file(context, run, weights_name));
    for (int i = 0; i < COMPANIONS; i++)
        SZG_TRY(write_companion(context, from, run, companions[i], log));
    return write_file(context, run, last, find_file(from->archive, run, last));
}

static szg_status write_begun(szg_context *context, taking *from, const reproduction_run *run,
                              run_log *log) {
    bool begun;
    SZG_TRY(szgi_reproduction_is_begun(context, run, &begun));
    *(begun ? &from->kept : &from->begun) += 1;
    return begun ? SZG_OK : write_run(context, from, run, state_name, log);
}

static szg_status write_finished(szg_context *context, taking *from, reproduction_run *run,
                                 run_log *log) {
    reproduction_run finished;
    szgi_archive_file facts = find_file(from->archive, run, finished_name);
    SZG_TRY(check_facts(context, run, facts, from->path, &finished));
    SZG_TRY(write_run(context, from, run, finished_name, log));
    *run = finished;
    from->finished++;
    return SZG_OK;
}

/* What the archive has of the run, under the lock that a process which trains it holds. One that
 * finished it since the folder was opened is only seen then. */
static szg_status take_run(szg_context *context, taking *from, reproduction_run *run) {
    run_log log;
    bool finished = find_file(from->archive, run, finished_name).data;
    if (!finished && !find_file(from->archive, run, state_name).data)
        return SZG_OK;
    from->held += finished;
    if (run->shown.finished) {
        from->kept++;
        return SZG_OK;
    }
    SZG_TRY(szgi_folder_create(context, run->folder));
    SZG_TRY(szgi_log_open(context, run->folder, locked_name, &log));
    szg_status status = szgi_facts_read(context, run);
    if (status == SZG_OK && run->shown.finished)
        from->kept++;
    else if (status == SZG_OK)
        status = finished ? write_finished(context, from, run, &log)
                          : write_begun(context, from, run, &log);
    szgi_log_close(&log);
    return status;
}

static szg_status take_all(szg_context *context, szg_reproduction *self, taking *from) {
    reproduction_run finished;
    SZG_TRY(check_owners(context, self, from->archive, from->path));
    for (int64_t i = 0; i < self->count; i++)
        SZG_TRY(judge_run(context, from->archive, &self->run[i], from->path, &finished));
    for (int64_t i = 0; i < self->count; i++)
        SZG_TRY(take_run(context, from, &self->run[i]));
    if (from->held == 0)
        szgi_say(context, SZG_WARNING, "%s: holds no finished run of preset %s", from->path,
                 self->name);
    szgi_say(context, SZG_NOTE,
             "%s: took %" PRId64 " finished and %" PRId64 " begun runs; %" PRId64
             " were here already",
             from->path, from->finished, from->begun, from->kept);
    return SZG_OK;
}

szg_status szg_reproduction_take(szg_context *context, szg_reproduction *reproduction,
                                 const char *path) {
    szgi_archive *archive;
    double needed;
    if (!reproduction->folder)
        return szgi_fail(context, SZG_EINVAL, "reproduction: no folder that takes the runs");
    SZG_TRY(szgi_reproduction_most_bytes(context, reproduction, &needed));
    int64_t most = needed < (double)most_unpacked ? (int64_t)needed : most_unpacked;
    SZG_TRY(szgi_archive_open(context, path, most, &archive));
    taking from = {.archive = archive, .path = path};
    szg_status status = take_all(context, reproduction, &from);
    szgi_archive_close(&archive);
    return status;
}
