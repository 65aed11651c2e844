/* The project's benchmark: each item times one job of szego beside what people use for it now, in
 * one run, in alternating pairs. */
#ifndef SZG_BENCH_BENCH_H
#define SZG_BENCH_BENCH_H

#include "base/context.h"
#include "base/table.h"

/* All fields may be zero. */
typedef struct bench_options {
    bool quick;            /* small sizes, three pairs: a smoke test, not a figure to quote */
    bool alone;            /* without PyTorch as the rival */
    uint64_t seed;         /* of random inputs */
    int64_t pairs;         /* alternating pairs; 0: the case's own number */
    int64_t steps;         /* that `step` and `capture` on a GPU count; 0: 200 */
    double seconds;        /* that each item may take; 0: its own limit */
    const char *rival_log; /* receives what PyTorch writes to standard error; NULL: dropped */
} bench_options;

/* Where an item runs when none is named, or the group it belongs to: on the cpu, on a GPU
 * (--backend cuda; nowhere else), on either, or nowhere: it has to be named, and needs a GPU. */
typedef enum bench_place { BENCH_CPU, BENCH_DEVICE, BENCH_ANYWHERE, BENCH_NAMED } bench_place;

typedef struct bench_run bench_run;

/* An item: its name on the command line, GROUP:ENCODING:WHAT say, and a clause about what it times.
 */
typedef struct bench_item {
    const char *name, *summary;
    szg_status (*measure)(szg_context *context, bench_run *run);
    bench_place place;
    double seconds; /* that it may take */
    const char *of; /* the encoding that is trained, or the kind of matrices; NULL: neither */
} bench_item;

/* Receives a row that is complete, by its index. */
typedef szg_status bench_row_fn(szg_context *context, void *user, const szg_table *table,
                                int64_t row);

/* What one run has in common: options, the table `bench` that its items fill, and what one of them
 * found that another one needs. */
struct bench_run {
    bench_options options;
    szg_table *table;
    bench_row_fn *row; /* called for each row as soon as it is complete; NULL: nothing */
    void *user;
    const bench_item *item; /* at work */
    int64_t complete;       /* rows that `row` was called for */
    bool stopped;           /* the latest row says why its item ended early */
    int64_t failures;
    szg_status failure;           /* the first one's */
    char first[256];              /* the name of that item, and why */
    double product_rate;          /* operations a second; 0: not measured yet */
    double copy_rate;             /* bytes a second, read and written; 0: not measured yet */
    double epoch[3], ablation[3]; /* seconds of the encodings of Table 1; 0: not measured */
};

/* Every item; the last has the name NULL. */
extern const bench_item bench_items[];

/* Whether `name` is the item's, or that of a group it belongs to: `train`, `train:rope`. */
bool bench_is_named(const bench_item *item, const char *name);

/* Whether any item bears the name. */
bool bench_exists(const char *name);

/* Whether the item runs when `name` is asked for, NULL: when nothing is. */
bool bench_is_asked(szg_context *context, const bench_item *item, const char *name);

/* SZG_EBACKEND: what the name stands for needs a GPU. SZG_EINVAL: it needs another environment. */
SZG_CHECK_RESULT szg_status bench_check(szg_context *context, const char *name);

/* Opens the run's table. Its other fields are set by the caller, before any item. */
SZG_CHECK_RESULT szg_status bench_run_open(szg_context *context, bench_run *run);
void bench_run_close(bench_run *run);

/* Measures one item, within its limit. That it failed or was cut is a row, and counted: the next
 * item may go on. SZG_ECANCEL (not for its limit), or what `row` answered: the run is over. */
SZG_CHECK_RESULT szg_status bench_run_item(szg_context *context, bench_run *run,
                                           const bench_item *item);

/* SZG_OK, or the first failure's status (an item that was cut: SZG_ENOCONV) and a message that
 * counts them. */
SZG_CHECK_RESULT szg_status bench_run_verdict(szg_context *context, const bench_run *run);

#endif
