/* `szego reproduce`: the paper's tables and figures from a preset. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "formats/result.h"
#include <szego/reproduce.h>

#include "command.h"
#include "help.h"

typedef struct reproduce_options {
    const char *preset;
    text_list overrides;
    bool list, all;
    double minutes; /* 0: no limit */
} reproduce_options;

static const command_option options[] = {
    OPTION(reproduce_options, preset, "preset", "NAME",
           "quick (default), small, full, mechanism, mechanism-full, mechanism-length, "
           "mechanism-curvature, mechanism-replication, or the path of a preset file (FILE.json)",
           .list = &words_presets, .fallback = "quick"),
    OPTION(reproduce_options, overrides, "set", "KEY=VALUE",
           "set one key of every run's configuration, such as loop.epochs=2; may be given several "
           "times",
           .list = &words_keys),
    OPTION(reproduce_options, list, "list", NULL,
           "train nothing: list the runs in -o DIR/ that are finished, those that are missing, and "
           "their cost"),
    OPTION(reproduce_options, minutes, "minutes", "M",
           "stop training after M minutes: a run that would not finish is saved or not started; "
           "the same command continues",
           .low = 1e-4, .high = 1e7),
    OPTION(reproduce_options, all, "all", NULL, "print every table on standard output"),
    {0}};

static bool is_file(const char *path) {
    szgi_result_form form = szgi_result_form_of(path);
    return form != SZGI_RESULT_FOLDER && form != SZGI_RESULT_UNKNOWN;
}

static void check(command_call *call, struct argp_state *state) {
    const reproduce_options *own = call->own;
    if (!call->shared.output && !own->list)
        argp_error(state, "-o DIR/ is missing: the folder that receives runs and tables");
    if (call->shared.output && is_file(call->shared.output))
        argp_error(state, "-o %s is a file: runs and tables go to a folder, DIR/",
                   SHOWN(call->shared.output));
}

/* ---- Where presets are ---- */

bool preset_find(const char *name, char path[PATH_MAX]) {
    static const char *const places[] = {"../presets/", "../share/szego/presets/",
                                         SZEGO_DATA "/presets/", NULL};
    char file[PATH_MAX];
    int size = snprintf(file, sizeof file, "%s.json", name);
    return size < PATH_MAX && place_find(places, file, path);
}

static bool is_preset(const char *name) {
    size_t length = strlen(name);
    for (const char *at = preset_names; *at; at += *at == '|') {
        size_t known = strcspn(at, "|");
        if (known == length && strncmp(at, name, known) == 0)
            return true;
        at += known;
    }
    return false;
}

szg_status preset_path(const command_call *call, const char *name, char path[PATH_MAX]) {
    bool file = strchr(name, '/') || szgi_path_ends(name, ".json");
    if (file && snprintf(path, PATH_MAX, "%s", name) < PATH_MAX)
        return SZG_OK;
    if (!file && preset_find(name, path))
        return SZG_OK;
    if (!file && is_preset(name))
        return szgi_fail(
            call->context, SZG_EIO,
            "preset %s: its file is not installed: %s is missing: run `meson install`, "
            "or name a file (./%s.json)",
            name, path, name);
    return szgi_fail(call->context, SZG_EINVAL,
                     "there is no preset '%.80s': %s %s, or name a file (./%.80s.json)", name,
                     SZGI_DID_YOU_CHOOSE(name, preset_names, "one of"), preset_names, name);
}

/* ---- Running ---- */

static szg_status open_preset(command_call *call, const char *name, bool own_folder,
                              szg_reproduction **out) {
    const reproduce_options *own = call->own;
    char path[PATH_MAX];
    *out = NULL;
    SZG_TRY(preset_path(call, name, path));
    szg_reproduction_options wanted = {SZG_INIT(szg_reproduction_options), .preset = path};
    if (own_folder) {
        wanted.overrides = own->overrides.value;
        wanted.override_count = own->overrides.count;
        wanted.folder = call->shared.output;
    }
    return szg_reproduction_open(call->context, &wanted, out);
}

/* The program's own tables. */
static szg_status collect(command_call *call, szg_reproduction_tables *tables, szg_result **out) {
    szg_table **const table[] = {&tables->deposit, &tables->items,    &tables->settings,
                                 &tables->needs,   &tables->missing,  &tables->runs,
                                 &tables->curves,  &tables->ablation, &tables->contraction,
                                 &tables->length};
    return output_collect(call, sizeof table / sizeof *table, table, out);
}

typedef struct known_table {
    const char *name;
    bool judged; /* `szego judge` writes it */
    bool first;  /* it is printed without --all too */
} known_table;

/* In the order in which they are printed. */
static const known_table known[] = {
    {"table1", true, true},         {"sweep", true, true},          {"switches", true, true},
    {"hypotheses", true, true},     {"length_arms", true, true},    {"relations", true, true},
    {"needs", false, true},         {"missing", false, true},       {"items", false, false},
    {"settings", false, false},     {"runs", false, false},         {"curves", false, false},
    {"ablation", false, false},     {"deposit", false, false},      {"contraction", false, false},
    {"length", false, false},       {"arms", true, false},          {"pairs", true, false},
    {"relation_arms", true, false}, {"relation_runs", true, false}, {"by_step", true, false}};
enum { KNOWN = sizeof known / sizeof *known, PAGE = KNOWN, FILES };

/* Whether it is wanted on standard output; of missing runs a table without rows says nothing. */
static bool is_printed(const command_call *call, const szg_table *table, int which) {
    const reproduce_options *own = call->own;
    bool empty = strcmp(known[which].name, "missing") == 0 && table && szg_table_rows(table) == 0;
    return own->all || (known[which].first && !empty);
}

static szg_status print_tables(command_call *call, szg_result *result) {
    szg_table *taken[KNOWN] = {0}, **table[KNOWN];
    for (int i = 0; i < KNOWN; i++) {
        table[i] = &taken[i];
        if (is_printed(call, szg_result_find(result, known[i].name), i))
            taken[i] = szgi_result_take(result, known[i].name);
    }
    const char *folder = call->shared.output;
    call->shared.output = NULL;
    szg_status status = output_tables(call, KNOWN, (szg_table * *const *)table, NULL);
    call->shared.output = folder;
    for (int i = 0; i < KNOWN; i++)
        szg_table_close(&taken[i]);
    return status;
}

/* ---- What Python makes of them ---- */

/* The name of file `which`: of a judged table, or of the page. False: the program writes it. */
static bool derived_name(int which, char out[64]) {
    bool page = which == PAGE;
    snprintf(out, 64, "%s%s", page ? "report" : known[which].name, page ? ".html" : ".csv");
    return page || known[which].judged;
}

static bool in_folder(const command_call *call, const char *name, char path[PATH_MAX]) {
    const char *folder = call->shared.output;
    bool slash = folder[strlen(folder) - 1] == '/';
    return snprintf(path, PATH_MAX, "%s%s%s", folder, slash ? "" : "/", name) < PATH_MAX;
}

static bool is_there(const command_call *call, const char *name) {
    char path[PATH_MAX];
    return in_folder(call, name, path) && access(path, F_OK) == 0;
}

/* What an earlier call left is of other runs than the tables beside it. *out gets a bit for each
 * file that was removed. */
static szg_status remove_derived(command_call *call, unsigned *out) {
    char name[64], path[PATH_MAX];
    *out = 0;
    for (int i = 0; i < FILES; i++) {
        if (!derived_name(i, name) || !in_folder(call, name, path))
            continue;
        if (unlink(path) == 0)
            *out |= 1u << i;
        else if (errno != ENOENT)
            return szgi_fail(call->context, SZG_EIO,
                             "%s: is of an earlier run and cannot be removed: %s", path,
                             strerror(errno));
    }
    return SZG_OK;
}

/* Names those that were removed and have not been made again, or says that there are none. */
static void tell_lacking(const command_call *call, unsigned removed) {
    char name[64], names[512] = "";
    size_t used = 0;
    const char *folder = call->shared.output;
    for (int i = 0; i < FILES && used < sizeof names; i++)
        if (derived_name(i, name) && removed >> i & 1 && !is_there(call, name))
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
    if (used)
        szgi_say(call->context, SZG_WARNING,
                 "%s: removed what an earlier call left there and may be of other runs: "
                 "%s. `szego judge %s -o %s` makes the tables again, `szego report %s` the page",
                 folder, names, folder, folder, folder);
    else if (is_there(call, "runs") && !is_there(call, "table1.csv"))
        szgi_say(call->context, SZG_NOTE,
                 "the tables that compare runs are missing (table1 and, as the preset asks for "
                 "them, sweep, switches, arms, hypotheses, pairs, length_arms, relations and "
                 "by_step): `szego judge %s -o %s` makes them",
                 folder, folder);
}

/* The command `name` on the folder that was written, as `szego NAME DIR -o DIR` runs it. Without
 * the Python that it needs this is a note: the runs and the program's own tables stand. */
static szg_status follow(command_call *call, const char *name) {
    command_call next = *call;
    next.command = command_find(name);
    SZG_TRY(options_of_operand(&next, call->shared.output));
    szg_status status = next.command->run(&next);
    options_close(&next);
    if (call->code == 0)
        call->code = next.code;
    if (status != SZG_EBACKEND)
        return status;
    szgi_say(call->context, SZG_NOTE, "%s", szg_context_message(call->context));
    return SZG_OK;
}

/* Judges the runs, if there are any: --list also lists what nothing was trained of. The result gets
 * the judged tables, which it has of the folder. */
static szg_status judge(command_call *call, szg_result **result) {
    if (!is_there(call, "runs"))
        return SZG_OK;
    SZG_TRY(follow(call, "judge"));
    if (!is_there(call, "table1.csv"))
        return SZG_OK;
    szg_result_close(result);
    return szg_result_read(call->context, call->shared.output, result);
}

static szg_status finish_folder(command_call *call, szg_result **result) {
    SZG_TRY(judge(call, result));
    SZG_TRY(print_tables(call, *result));
    return follow(call, "report");
}

static szg_status write_folder(command_call *call, szg_result **result) {
    unsigned removed;
    SZG_TRY(szg_result_write(call->context, *result, call->shared.output, NULL));
    szgi_say(call->context, SZG_NOTE, "wrote %s", call->shared.output);
    szg_status status = remove_derived(call, &removed);
    if (status == SZG_OK)
        status = finish_folder(call, result);
    tell_lacking(call, removed);
    return status;
}

static szg_status report(command_call *call, const szg_reproduction *reproduction,
                         const szg_reproduction *full, double rate) {
    szg_reproduction_tables tables;
    szg_result *result;
    SZG_TRY(szg_reproduction_report(call->context, reproduction, full, rate, &tables));
    szg_status status = collect(call, &tables, &result);
    szg_reproduction_tables_close(&tables);
    SZG_TRY(status);
    status = call->shared.output ? write_folder(call, &result) : print_tables(call, result);
    szg_result_close(&result);
    return status;
}

/* What every result says of the preset and of its runs' configurations, but those that are not
 * known yet; free `runs`. */
static szg_status list_runs(command_call *call, const szg_reproduction *reproduction,
                            configured_run **runs) {
    int64_t count = szg_reproduction_count(reproduction);
    SZG_TRY(szgi_memory_alloc(call->context, count, runs));
    call->run_count = 0;
    for (int64_t i = 0; i < count; i++) {
        szg_reproduction_run run = szg_reproduction_run_at(reproduction, i);
        if (run.settled)
            (*runs)[call->run_count++] = (configured_run){run.name, run.config};
    }
    call->preset = szg_reproduction_preset(reproduction);
    call->runs = *runs;
    return SZG_OK;
}

static szg_status report_runs(command_call *call, const szg_reproduction *reproduction,
                              const szg_reproduction *full, double rate) {
    configured_run *runs;
    SZG_TRY(list_runs(call, reproduction, &runs));
    szg_status status = report(call, reproduction, full, rate);
    call->preset = NULL; /* they end here */
    call->run_count = 0;
    szgi_memory_free(runs);
    return status;
}

/* Their tables are written, and the hypotheses count them: they decide the exit code. */
static szg_status tell_failed(command_call *call, const szg_reproduction *reproduction) {
    int64_t count = szg_reproduction_count(reproduction), failed = 0;
    for (int64_t i = 0; i < count; i++)
        failed += szg_reproduction_run_at(reproduction, i).failed;
    if (failed == 0)
        return SZG_OK;
    return szgi_fail(call->context, SZG_EDATA,
                     "%" PRId64 " of %" PRId64
                     " runs failed: the table missing says when their numbers stopped being finite",
                     failed, count);
}

static szg_status run_beside(command_call *call, szg_reproduction *reproduction,
                             const szg_reproduction *full) {
    const reproduce_options *own = call->own;
    double rate = 0;
    if (!own->list)
        SZG_TRY(szg_reproduction_train(call->context, reproduction, 60 * own->minutes));
    if (full && !own->list && own->minutes == 0)
        SZG_TRY(szg_reproduction_rate(call->context, full, &rate));
    SZG_TRY(report_runs(call, reproduction, full, rate));
    return own->list ? SZG_OK : tell_failed(call, reproduction);
}

/* The full preset, which `needs` tells of too, is looked for before anything is trained. */
static szg_status run_preset(command_call *call, szg_reproduction *reproduction) {
    szg_reproduction *full = NULL;
    szgi_say(call->context, SZG_NOTE, "preset %s: %s", szg_reproduction_name(reproduction),
             szg_reproduction_about(reproduction));
    if (strcmp(szg_reproduction_name(reproduction), "full") != 0)
        SZG_TRY(open_preset(call, "full", false, &full));
    szg_status status = run_beside(call, reproduction, full);
    szg_reproduction_close(&full);
    return status;
}

static szg_status run(command_call *call) {
    const reproduce_options *own = call->own;
    szg_reproduction *reproduction;
    SZG_TRY(open_preset(call, own->preset, true, &reproduction));
    szg_status status = run_preset(call, reproduction);
    szg_reproduction_close(&reproduction);
    return status;
}

static const command_example examples[] = {
    {"szego reproduce --list", "What the preset `quick` trains and what that needs."},
    {"szego reproduce -o results/", "Trains it and writes tables, figures and a report."},
    {"szego reproduce --preset small --minutes 60 -o small/",
     "An hour of a larger preset. The same command continues it."},
    {0}};

const command command_reproduce = {
    .name = "reproduce",
    .summary = "the paper's tables and figures: train, ablate and tabulate a preset",
    .doc = "Trains every run of a preset (encodings, tasks, seeds), ablates heads if the preset "
           "says so, and writes a table in the form of Table 1 with the paper's numbers, accuracy "
           "by epoch, ablation, deposit, the sweep over rotated heads, the effect of each switch, "
           "a list of the paper's tables and figures that are covered, and the cost of the full "
           "preset. Each run has its own folder under DIR/runs/. Finished runs are not repeated, "
           "and after an interruption the same command continues. At the end `szego judge` writes "
           "the tables that compare runs, and `szego report` writes DIR/report.html; if their "
           "Python packages are missing, a note says so.",
    .options = options,
    .own_size = sizeof(reproduce_options),
    .check = check,
    .run = run,
    .examples = examples,
    .topics = "presets",
};
