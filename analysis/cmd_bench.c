/* `szego bench`: the project's measured ratios, side by side in one run. */
#include "bench.h"
#include "command.h"

enum { KEY_QUICK = 256, KEY_LIST };

typedef struct own_options {
    bool quick, list;
    text_list items;
} own_options;

static const struct argp_option options[] = {
    {"quick", KEY_QUICK, NULL, 0, "small sizes and three pairs: a smoke test", 0},
    {"list", KEY_LIST, NULL, 0, "print the items and stop", 0},
    {0},
};

static error_t parse(command_call *call, int key, char *argument, struct argp_state *state) {
    own_options *own = call->own;
    switch (key) {
    case KEY_QUICK:
        own->quick = true;
        return 0;
    case KEY_LIST:
        own->list = true;
        return 0;
    case ARGP_KEY_ARG:
        if (!bench_find(argument))
            argp_error(state, "%s: no such item; `szego bench --list` names them", argument);
        parse_text(state, argument, &own->items);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void release(command_call *call) {
    own_options *own = call->own;
    szg_memory_free(own->items.value);
}

static szg_status list_items(szg_context *context, szg_table **table) {
    static const szg_column columns[] = {{"item", SZG_TEXT, "name on the command line"},
                                         {"summary", SZG_TEXT, "what it times"},
                                         {"note", SZG_TEXT, "remarks"}};
    SZG_TRY(szg_table_open(context, "items", columns, 3, table));
    for (const bench_item *item = bench_items; item->name; item++) {
        SZG_TRY(szg_table_add_row(context, *table));
        SZG_TRY(szg_table_set_text(context, *table, "item", item->name));
        SZG_TRY(szg_table_set_text(context, *table, "summary", item->summary));
    }
    return SZG_OK;
}

static szg_status run_items(command_call *call, szg_table **table) {
    const own_options *own = call->own;
    bench_options bench = {.quick = own->quick, .seed = call->shared.seed};
    SZG_TRY(bench_table_open(call->context, table));
    for (int64_t i = 0; i < own->items.count; i++)
        SZG_TRY(bench_find(own->items.value[i])->run(call->context, &bench, *table));
    if (own->items.count == 0)
        for (const bench_item *item = bench_items; item->name; item++)
            if (bench_is_default(call->context, item))
                SZG_TRY(item->run(call->context, &bench, *table));
    return SZG_OK;
}

static szg_status run(command_call *call) {
    const own_options *own = call->own;
    szg_table *table = NULL;
    szg_status status = own->list ? list_items(call->context, &table) : run_items(call, &table);
    if (status == SZG_OK)
        status = output_tables(call, 1, (szg_table * *[]){&table}, NULL);
    szg_table_close(&table);
    return status;
}

const command command_bench = {
    .name = "bench",
    .summary = "measured ratios: szego beside LAPACK and PyTorch, in one run",
    .arguments = "[ITEM...]",
    .doc = "Times each item against what people use for it now, in alternating pairs, and prints "
           "medians with their spread. Without items: all of the backend (--backend cuda: those of "
           "a GPU), some minutes. Close other programs first; docs/benchmarks/ says what is "
           "measured and why.",
    .options = options,
    .own_size = sizeof(own_options),
    .parse = parse,
    .run = run,
    .release = release,
};
