/* What changed in shares and kernels between two checkpoints: each has its tables `heads` and
 * `kernel` made, and rows of one layer and head stand side by side. Nothing is aligned: a kernel
 * does not depend on the order of a head's rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/row.h"
#include "analyse.h"
#include "diff.h"
#include "positional_rows.h"

/* Lags below this in size are compared one by one, as `szego checkpoint` lists them. */
enum { DENSE = 256 };

/* Of both kernels; NAME is the place of the first column. */
#define OF_KERNEL(X, NAME, name)                                                                   \
    X(NAME##_BASE_SHARE, "base_" name "_share", SZG_REAL, "1", name " share of A",                 \
      "`" name "_share` of `heads`, of A")                                                         \
    X(NAME##_SHARE, name "_share", SZG_REAL, "1", name " share of B", "the same of B")             \
    X(NAME##_BASE_SHAPE, "base_" name "_shape", SZG_TEXT, "", "shape of A (" name ")",             \
      "`" name "_shape` of `heads`, of A")                                                         \
    X(NAME##_SHAPE, name "_shape", SZG_TEXT, "", "shape of B (" name ")", "the same of B")         \
    X(NAME##_CHANGE, name "_change", SZG_REAL, "1", "largest change (" name ")",                   \
      "largest size of the difference of the " name " kernels, at the lags of `kernel` that both " \
      "have")                                                                                      \
    X(NAME##_LAG, name "_change_lag", SZG_INTEGER, "positions", "its lag (" name ")",              \
      "lag where the " name " kernels differ most")

#define HEADS(X)                                                                                   \
    X(SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint B as it was named")      \
    X(BASE, "base", SZG_TEXT, "", "compared with", "the checkpoint A that it is compared with")    \
    X(STACK, "stack", SZG_TEXT, "", "stack",                                                       \
      "encoder, decoder or cross; empty where a model has one stack")                              \
    X(STEP, "step", SZG_INTEGER, "1", "training step", "as in diff")                               \
    X(LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                         \
    X(HEAD, "head", SZG_INTEGER, "1", "head", "query head, from 0")                                \
    OF_KERNEL(X, MEAN, "mean")                                                                     \
    OF_KERNEL(X, SELF, "self")                                                                     \
    X(NOTE, "note", SZG_TEXT, "", "note", "why there are no numbers, or none of one of the kernels")
#define HEADS_SCREEN                                                                               \
    SZGI_SHOW(5, source)                                                                           \
    SZGI_SHOW(1, step)                                                                             \
    SZGI_SHOW(1, stack)                                                                            \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW_AS(3, base_mean_share, "mean_A", NULL)                                               \
    SZGI_SHOW_AS(3, mean_share, "mean_B", NULL)                                                    \
    SZGI_SHOW_AS(4, base_mean_shape, "shape_A", NULL)                                              \
    SZGI_SHOW_AS(4, mean_shape, "shape_B", NULL)                                                   \
    SZGI_SHOW(1, mean_change)                                                                      \
    SZGI_SHOW_AS(1, mean_change_lag, "at_lag", NULL)                                               \
    SZGI_SHOW_AS(2, base_self_share, "self_A", NULL)                                               \
    SZGI_SHOW_AS(2, self_share, "self_B", NULL)                                                    \
    SZGI_SHOW_AS(4, base_self_shape, "shape_A", NULL)                                              \
    SZGI_SHOW_AS(4, self_shape, "shape_B", NULL)                                                   \
    SZGI_SHOW(1, self_change)                                                                      \
    SZGI_SHOW_AS(1, self_change_lag, "at_lag", NULL)                                               \
    SZGI_SHOW(9, base)
SZGI_SCHEMA(diff_heads_columns, "diff_heads", HEADS, HEADS_SCREEN);

szg_status szgi_diff_heads_open(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &diff_heads_columns_schema, out);
}

/* One checkpoint's tables; rows of a head stand together in `kernel`. */
typedef struct side {
    szg_checkpoint_tables tables;
    int64_t *row, *first; /* [layers heads]: of `heads`, of `kernel`; -1: none */
} side;

/* Rows of one head's kernel: row .. end - 1. */
typedef struct row_range {
    const szg_table *table;
    int64_t row, end;
} row_range;

typedef struct head_pair {
    int64_t layer, head;
    int64_t row[2], first[2];    /* of A and of B */
    double change[KERNEL_KINDS]; /* NaN: not known */
    int64_t lag[KERNEL_KINDS];
} head_pair;

static const int first_column[KERNEL_KINDS] = {
    [KERNEL_SELF] = SELF_BASE_SHARE, [KERNEL_MEAN] = MEAN_BASE_SHARE};

/* ---- Both checkpoints ---- */

static szg_status analyse_part(szg_context *context, const szgi_heads_pair *pair,
                               const szg_checkpoint *checkpoint,
                               const szg_checkpoint_options *options, head_part *part,
                               szg_checkpoint_tables *out) {
    for (int64_t i = 0; i < checkpoint->layers; i++)
        part->layer[i] = part->layer[i] && !pair->problem[i];
    SZG_TRY(szgi_positional_rows_open(context, options->kernel, out));
    return szgi_analyse_heads(context, checkpoint, options, part, out);
}

static szg_status analyse(szg_context *context, const szgi_heads_pair *pair,
                          const szg_checkpoint *checkpoint, szg_checkpoint_tables *out) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = DENSE,
                                            .seed = pair->seed};
    head_part part;
    SZG_TRY(szgi_part_open(context, checkpoint, &options, &part));
    szg_status status = analyse_part(context, pair, checkpoint, &options, &part, out);
    szgi_part_close(&part);
    return status;
}

static int64_t place_of(const szg_checkpoint *checkpoint, int64_t layer, int64_t head) {
    return layer * checkpoint->heads + head;
}

static int64_t kernel_place(const szg_checkpoint *checkpoint, const szg_table *kernel,
                            int64_t row) {
    const kernel_row found = szgi_kernel_rows_get(kernel, row);
    return place_of(checkpoint, found.layer, found.head);
}

static szg_status open_side(szg_context *context, const szgi_heads_pair *pair,
                            const szg_checkpoint *checkpoint, side *out) {
    int64_t count = checkpoint->layers * checkpoint->heads;
    SZG_TRY(analyse(context, pair, checkpoint, &out->tables));
    SZG_TRY(szgi_memory_alloc(context, 2 * count, &out->row));
    out->first = out->row + count;
    for (int64_t i = 0; i < 2 * count; i++)
        out->row[i] = -1;
    for (int64_t i = 0; i < szg_table_rows(out->tables.heads); i++) {
        const heads_row found = szgi_positional_rows_get(out->tables.heads, i);
        out->row[place_of(checkpoint, found.layer, found.head)] = i;
    }
    for (int64_t i = szg_table_rows(out->tables.kernel); i-- > 0;)
        out->first[kernel_place(checkpoint, out->tables.kernel, i)] = i;
    return SZG_OK;
}

static void close_side(side *checkpoint) {
    szg_checkpoint_tables_close(&checkpoint->tables);
    szgi_memory_free(checkpoint->row);
}

/* ---- Kernels ---- */

static row_range kernel_range(const szg_checkpoint *checkpoint, const szg_table *kernel,
                              int64_t first) {
    row_range rows = {.table = kernel, .row = first, .end = first};
    while (first >= 0 && rows.end < szg_table_rows(kernel) &&
           kernel_place(checkpoint, kernel, rows.end) == kernel_place(checkpoint, kernel, first))
        rows.end++;
    return rows;
}

static void find_change(row_range a, row_range b, kernel_kind kind, head_pair *out) {
    out->change[kind] = NAN;
    while (a.row < a.end && b.row < b.end) {
        const kernel_row base = szgi_kernel_rows_get(a.table, a.row);
        const kernel_row other = szgi_kernel_rows_get(b.table, b.row);
        double change = fabs(other.value[kind] - base.value[kind]);
        if (base.lag == other.lag && !isnan(change) && !(change <= out->change[kind])) {
            out->change[kind] = change;
            out->lag[kind] = base.lag;
        }
        a.row += base.lag <= other.lag;
        b.row += other.lag <= base.lag;
    }
}

static double change_of(const head_pair *pair) {
    double change = fmax(pair->change[KERNEL_MEAN], pair->change[KERNEL_SELF]);
    return isnan(change) ? -1 : change;
}

static int by_change(const void *left, const void *right) {
    const head_pair *a = left, *b = right;
    double x = change_of(a), y = change_of(b);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    return a->head < b->head ? -1 : a->head > b->head;
}

/* ---- Rows ---- */

static void put_kernel(szgi_row *to, const heads_row heads[2], const head_pair *pair,
                       kernel_kind kind) {
    int column = first_column[kind];
    for (int i = 0; i < 2; i++) {
        szgi_row_number(to, column + i, heads[i].share[kind]);
        szgi_row_text(to, column + 2 + i, heads[i].shape[kind]);
    }
    szgi_row_number(to, column + 4, pair->change[kind]);
    if (!isnan(pair->change[kind]))
        szgi_row_integer(to, column + 5, pair->lag[kind]);
}

static void note_reasons(szgi_row *to, const heads_row heads[2]) {
    if (heads[0].note && heads[1].note && strcmp(heads[0].note, heads[1].note) == 0)
        szgi_row_note(to, "%s", heads[0].note);
    else
        for (int i = 0; i < 2; i++)
            if (heads[i].note)
                szgi_row_note(to, "%s: %s", i ? "B" : "A", heads[i].note);
}

static szg_status add_row(szg_context *context, const szgi_heads_pair *pair, const side sides[2],
                          const head_pair *head, szg_table *out) {
    const char *stack = szg_checkpoint_describe(pair->base).stack;
    const heads_row heads[] = {szgi_positional_rows_get(sides[0].tables.heads, head->row[0]),
                               szgi_positional_rows_get(sides[1].tables.heads, head->row[1])};
    szgi_row row = szgi_row_add(context, out);
    szgi_row_text(&row, SOURCE, pair->other->source);
    szgi_row_text(&row, BASE, pair->base->source);
    szgi_row_text(&row, STACK, stack && *stack ? stack : NULL);
    szgi_row_place(&row, STEP, pair->step);
    szgi_row_integer(&row, LAYER, head->layer);
    szgi_row_integer(&row, HEAD, head->head);
    put_kernel(&row, heads, head, KERNEL_MEAN);
    put_kernel(&row, heads, head, KERNEL_SELF);
    note_reasons(&row, heads);
    return row.status;
}

static szg_status compare(szg_context *context, const szgi_heads_pair *pair, const side sides[2],
                          head_pair *heads, szg_table *out) {
    const szg_checkpoint *base = pair->base;
    int64_t count = 0;
    for (int64_t i = 0; i < base->layers * base->heads; i++) {
        head_pair *head = &heads[count];
        *head = (head_pair){.layer = i / base->heads, .head = i % base->heads};
        for (int j = 0; j < 2; j++) {
            head->row[j] = sides[j].row[i];
            head->first[j] = sides[j].first[i];
        }
        if (head->row[0] < 0 || head->row[1] < 0) /* `diff` says why */
            continue;
        row_range a = kernel_range(base, sides[0].tables.kernel, head->first[0]);
        row_range b = kernel_range(base, sides[1].tables.kernel, head->first[1]);
        for (int kind = 0; kind < KERNEL_KINDS; kind++)
            find_change(a, b, (kernel_kind)kind, head);
        count++;
    }
    if (count > 0)
        qsort(heads, (size_t)count, sizeof *heads, by_change);
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_row(context, pair, sides, &heads[i], out));
    return SZG_OK;
}

szg_status szgi_diff_heads_add(szg_context *context, const szgi_heads_pair *pair, szg_table *out) {
    side sides[2] = {0};
    head_pair *heads = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, open_side(context, pair, pair->base, &sides[0]), done);
    SZG_TRY_GOTO(status, open_side(context, pair, pair->other, &sides[1]), done);
    SZG_TRY_GOTO(status,
                 szgi_memory_alloc(context, pair->base->layers * pair->base->heads + 1, &heads),
                 done);
    status = compare(context, pair, sides, heads, out);
done:
    szgi_memory_free(heads);
    close_side(&sides[0]);
    close_side(&sides[1]);
    return status;
}
