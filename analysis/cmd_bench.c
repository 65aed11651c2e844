/* `szego bench`: the project's measured ratios, side by side in one run. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/row.h"
#include "base/suggest.h"
#include "base/text.h"

#include "bench.h"
#include "command.h"
#include "terminal.h"

typedef struct own_options {
    bool list, append;
    bench_options bench;
    text_list items;
} own_options;

static void check_item(const command_option *row, void *field, const char *name,
                       struct argp_state *state) {
    szgi_suggestion near = szgi_suggest_begin(name, strlen(name));
    (void)row, (void)field;
    for (const bench_item *item = bench_items; item->name; item++)
        for (size_t length = 0; item->name[length]; length++) /* groups, too */
            if (!item->name[length + 1] || item->name[length + 1] == ':')
                szgi_suggest(&near, item->name, length + 1);
    if (!bench_exists(name))
        argp_error(state, "there is no item '%s'%s %s", SHOWN(name), near.word ? ":" : ";",
                   SZGI_DID_YOU_MEAN(&near, "`szego bench --list` names them"));
}

static const command_option options[] = {
    OPTION(own_options, bench.quick, "quick", NULL, "small sizes and three pairs: a smoke test"),
    OPTION(own_options, list, "list", NULL, "print the items with their limits and stop"),
    OPTION(own_options, append, "append", NULL,
           "with -o FILE.csv: add rows to the file, each as it is measured"),
    OPTION(own_options, bench.pairs, "pairs", "N",
           "alternating pairs of each case (default: the case's own)", .least = 1, .most = 64),
    OPTION(own_options, bench.steps, "steps", "N",
           "steps that train:*:step and train:*:capture count on a GPU (default 200)", .least = 1,
           .most = 100000),
    OPTION(own_options, bench.seconds, "limit", "SECONDS",
           "time limit of each item; the run continues with the next one (default: that of --list)",
           .low = 1e-6, .high = 1e6),
    OPTION(own_options, bench.alone, "no-rival", NULL,
           "do not time PyTorch and NumPy, nor the cpu for spectra on a GPU"),
    OPTION(own_options, bench.rival_log, "rival-log", "FILE",
           "add to FILE what PyTorch or NumPy writes to standard error"),
    OPTION(own_options, items, NULL, "[ITEM...]", NULL, .list = &words_items, .hook = check_item),
    {0}};

static void check_options(command_call *call, struct argp_state *state) {
    const own_options *own = call->own;
    const char *output = call->shared.output;
    if (own->append && (!output || !szgi_path_ends(output, ".csv")))
        argp_error(state, "--append adds to a file: -o FILE.csv is missing");
}

/* ---- The list ---- */

#define ITEMS(X)                                                                                   \
    X(ITEMS_ITEM, "item", SZG_TEXT, "", "item", "name on the command line")                        \
    X(ITEMS_LIMIT_S, "limit_s", SZG_REAL, "s", "limit", "seconds that it may take")                \
    X(ITEMS_SUMMARY, "summary", SZG_TEXT, "", "summary", "what it times")                          \
    X(ITEMS_NOTE, "note", SZG_TEXT, "", "note", "remarks")
#define ITEMS_SCREEN                                                                               \
    SZGI_SHOW(1, item)                                                                             \
    SZGI_SHOW(1, limit_s)                                                                          \
    SZGI_SHOW_PROSE(1, summary)
SZGI_SCHEMA(columns, "items", ITEMS, ITEMS_SCREEN);

static szg_status fill_list(szg_context *context, szg_table *table) {
    for (const bench_item *item = bench_items; item->name; item++) {
        szgi_row row = szgi_row_add(context, table);
        szgi_row_text(&row, ITEMS_ITEM, item->name);
        szgi_row_real(&row, ITEMS_LIMIT_S, item->seconds);
        szgi_row_text(&row, ITEMS_SUMMARY, item->summary);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static szg_status list_items(command_call *call) {
    szg_table *table;
    SZG_TRY(szgi_schema_open(call->context, &columns_schema, &table));
    szg_status status = fill_list(call->context, table);
    if (status == SZG_OK)
        status = output_tables(call, 1, (szg_table * *[]){&table}, NULL);
    szg_table_close(&table);
    return status;
}

/* ---- Rows that are kept as they are measured ---- */

/* Where rows go before the end of the run: a file beside the result, the result itself (--append),
 * or standard output. */
typedef struct sink {
    szgi_csv_growth *growth;
    char path[4096]; /* of what is removed once the result is there; "": nothing is */
    bool prints;     /* csv on standard output */
    struct terminal *screen;
} sink;

static szg_status keep_row(szg_context *context, void *user, const szg_table *table, int64_t row) {
    const sink *to = user;
    if (to->growth)
        return szgi_csv_grow(context, to->growth, table, row);
    if (!to->prints)
        return SZG_OK;
    terminal_clear(to->screen);
    return szgi_csv_print_row(context, table, row, stdout);
}

/* FOLDER/bench.partial.csv, or FILE.partial.csv. */
static szg_status name_partial(szg_context *context, const char *output, sink *to) {
    size_t length = strlen(output);
    bool slash = length > 0 && output[length - 1] == '/',
         folder = szgi_result_form_of(output) == SZGI_RESULT_FOLDER;
    if (folder)
        SZG_TRY(szgi_folder_create(context, output));
    int wanted = snprintf(to->path, sizeof to->path, "%s%s.partial.csv", output,
                          !folder ? ""
                          : slash ? "bench"
                                  : "/bench");
    if (wanted < (int)sizeof to->path)
        return SZG_OK;
    to->path[0] = 0;
    return szgi_fail(context, SZG_EINVAL, "-o: a path of %zu bytes is too long", length);
}

static szg_status open_sink(const command_call *call, const szg_table *table, sink *to) {
    const shared_options *shared = &call->shared;
    const own_options *own = call->own;
    *to = (sink){.prints = !shared->output && shared->format && !strcmp(shared->format, "csv"),
                 .screen = call->screen};
    if (to->prints)
        return szgi_csv_print_header(call->context, table, stdout);
    if (!shared->output)
        return SZG_OK;
    if (own->append)
        return szgi_csv_grow_open(call->context, shared->output, table, true, &to->growth);
    SZG_TRY(name_partial(call->context, shared->output, to));
    return szgi_csv_grow_open(call->context, to->path, table, false, &to->growth);
}

/* ---- The run ---- */

static bool is_asked(const command_call *call, const bench_item *item) {
    const own_options *own = call->own;
    for (int64_t i = 0; i < own->items.count; i++)
        if (bench_is_asked(call->context, item, own->items.value[i]))
            return true;
    return own->items.count == 0 && bench_is_asked(call->context, item, NULL);
}

static szg_status measure_items(const command_call *call, bench_run *run) {
    for (const bench_item *item = bench_items; item->name; item++)
        if (is_asked(call, item))
            SZG_TRY(bench_run_item(call->context, run, item));
    return SZG_OK;
}

/* The table on standard output is printed of an interrupted run too; a file is not begun: the rows
 * beside it say by their name that they are not all. */
static szg_status write_table(command_call *call, bench_run *run, sink *to, szg_status status) {
    const own_options *own = call->own;
    if (status != SZG_OK && to->path[0])
        return szgi_fail_prefix(call->context, status, "the rows so far are in %s", to->path);
    if (!to->prints && !own->append) {
        SZG_TRY(output_tables(call, 1, (szg_table * *[]){&run->table}, NULL));
        if (to->path[0])
            unlink(to->path);
    }
    return SZG_OK;
}

static szg_status run_items(command_call *call, bench_run *run, sink *to) {
    SZG_TRY(open_sink(call, run->table, to));
    szg_status status = measure_items(call, run);
    SZG_TRY(write_table(call, run, to, status));
    SZG_TRY(status == SZG_ECANCEL ? szgi_context_check_cancel(call->context) : status);
    return bench_run_verdict(call->context, run);
}

static szg_status measure(command_call *call) {
    const own_options *own = call->own;
    sink to = {0};
    bench_run run = {.options = own->bench, .row = keep_row, .user = &to};
    run.options.seed = call->shared.seed;
    for (int64_t i = 0; i < own->items.count; i++)
        SZG_TRY(bench_check(call->context, own->items.value[i]));
    SZG_TRY(bench_run_open(call->context, &run));
    szg_status status = run_items(call, &run, &to);
    szgi_csv_grow_close(&to.growth);
    bench_run_close(&run);
    return status;
}

static szg_status run(command_call *call) {
    const own_options *own = call->own;
    return own->list ? list_items(call) : measure(call);
}

static const command_example examples[] = {
    {"szego bench --list", "What can be timed, and how long it may take."},
    {"szego bench toeplitz --quick", "A smoke test of one item."},
    {"szego bench machine rotary-kernel -o bench.csv", "Two items, in a file."},
    {0}};

const command command_bench = {
    .name = "bench",
    .summary = "measured ratios: szego beside LAPACK and PyTorch, in one run",
    .doc =
        "Times each item and what people use for it now, in alternating pairs, and "
        "prints medians with their spread. An item may be a group: `train` has `train:rope`, and "
        "that `train:rope:step`. Without items, all items of the backend are timed (--backend "
        "cuda: those of a GPU), which takes some minutes. If an item reaches its limit or fails, "
        "its row and the exit status say so. Rows are kept as they are measured: --format csv "
        "prints each at once; -o appends them to FILE.partial.csv or DIR/bench.partial.csv, which "
        "remains after an interruption. A complete run replaces it by the result. Close other "
        "programs first; docs/reference/benchmarks.md says what is measured and why.",
    .options = options,
    .own_size = sizeof(own_options),
    .check = check_options,
    .run = run,
    .examples = examples,
};
