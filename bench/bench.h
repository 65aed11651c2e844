/* The project's benchmark: each item times one job of szego beside what people use for it now, in
 * one run, in alternating pairs. */
#ifndef SZG_BENCH_BENCH_H
#define SZG_BENCH_BENCH_H

#include <szego/context.h>
#include <szego/table.h>

typedef struct bench_options {
    bool quick;    /* small sizes, three pairs: a smoke test, not a figure to quote */
    uint64_t seed; /* of random inputs */
} bench_options;

/* Where an item runs when none is named: on the cpu, on a GPU (--backend cuda), on either, or
 * nowhere: it has to be named. */
typedef enum bench_place { BENCH_CPU, BENCH_DEVICE, BENCH_ANYWHERE, BENCH_NAMED } bench_place;

/* An item: its name on the command line and a clause about what it times. */
typedef struct bench_item {
    const char *name, *summary;
    szg_status (*run)(szg_context *context, const bench_options *options, szg_table *table);
    bench_place place;
} bench_item;

/* Every item; the last has the name NULL. */
extern const bench_item bench_items[];

/* Whether the item is among those that run when none is named. */
bool bench_is_default(szg_context *context, const bench_item *item);

/* NULL: no such item. */
const bench_item *bench_find(const char *name);

/* An empty table `bench`: item, input, n, ours, rival, pairs, seconds and spreads of both, ratio
 * with its least and largest, the ratio to one thread, target, difference, peak memory, note. */
SZG_CHECK_RESULT szg_status bench_table_open(szg_context *context, szg_table **table);

#endif
