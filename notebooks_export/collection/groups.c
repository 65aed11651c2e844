#include "groups.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"

enum { CANCEL_EVERY = 1 << 16 };

/* The split under way: rows of the list by position, groups by index. */
typedef struct split {
    rows all;
    int64_t *column; /* [columns] in the table */
    int64_t columns;
    int64_t *slot; /* open-addressing hash set of groups, each index + 1; 0: free */
    int64_t slots; /* a power of two */
    uint64_t salt;
    int64_t *group_of; /* [all.count] */
    int64_t *first;    /* [groups] position of the group's first row */
    int64_t *size;     /* [groups] */
    int64_t groups;
} split;

static rows every_row(rows all) {
    if (!all.row)
        all.count = all.table ? szg_table_rows(all.table) : 0;
    return all;
}

int64_t szgi_rows_at(rows of, int64_t index) {
    return of.row ? of.row[index] : index;
}

/* The cell as bits that are equal where the cells are: texts are interned within a table, -0 is 0,
 * and a NaN is like another. */
static uint64_t cell_bits(const szg_table *table, int64_t row, int64_t column) {
    uint64_t bits = 0;
    double real;
    switch (szg_table_column(table, column)->type) {
    case SZG_TEXT:
        return (uint64_t)(uintptr_t)szg_table_get_text(table, row, column);
    case SZG_INTEGER:
        return (uint64_t)szg_table_get_integer(table, row, column);
    case SZG_REAL:
        real = szg_table_get_real(table, row, column);
        real = isnan(real) ? (double)NAN : real == 0 ? 0 : real;
        memcpy(&bits, &real, sizeof bits);
        break;
    }
    return bits;
}

/* The finalizer of MurmurHash3. */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static uint64_t hash_row(const split *s, int64_t position) {
    int64_t row = szgi_rows_at(s->all, position);
    uint64_t hash = s->salt;
    for (int64_t i = 0; i < s->columns; i++) {
        bool empty = szg_table_is_empty(s->all.table, row, s->column[i]);
        hash = mix(hash ^ cell_bits(s->all.table, row, s->column[i])) + (uint64_t)empty;
    }
    return mix(hash);
}

static bool same_cells(const split *s, int64_t a, int64_t b) {
    const szg_table *table = s->all.table;
    int64_t left = szgi_rows_at(s->all, a), right = szgi_rows_at(s->all, b);
    for (int64_t i = 0; i < s->columns; i++) {
        int64_t at = s->column[i];
        if (szg_table_is_empty(table, left, at) != szg_table_is_empty(table, right, at) ||
            cell_bits(table, left, at) != cell_bits(table, right, at))
            return false;
    }
    return true;
}

static int64_t find_group(split *s, int64_t position) {
    uint64_t at = hash_row(s, position) & (uint64_t)(s->slots - 1);
    while (s->slot[at] && !same_cells(s, s->first[s->slot[at] - 1], position))
        at = (at + 1) & (uint64_t)(s->slots - 1);
    if (!s->slot[at]) {
        s->first[s->groups] = position;
        s->slot[at] = ++s->groups;
    }
    return s->slot[at] - 1;
}

static szg_status find_columns(szg_context *context, split *s, const char *const *columns) {
    int64_t count = 0;
    while (columns[count])
        count++;
    SZG_TRY(szgi_memory_alloc(context, count, &s->column));
    for (int64_t i = 0; i < count; i++) {
        int64_t at = s->all.table ? szg_table_find(s->all.table, columns[i]) : -1;
        if (at >= 0)
            s->column[s->columns++] = at;
    }
    return SZG_OK;
}

static szg_status assign_rows(szg_context *context, split *s) {
    int64_t count = s->all.count;
    for (s->slots = 2; s->slots < 2 * count;)
        s->slots *= 2;
    SZG_TRY(szgi_memory_alloc(context, s->slots, &s->slot));
    SZG_TRY(szgi_memory_alloc(context, count, &s->group_of));
    SZG_TRY(szgi_memory_alloc(context, count, &s->first));
    SZG_TRY(szgi_memory_alloc(context, count, &s->size));
    s->salt = (uint64_t)(uintptr_t)s->slot; /* so that no table can be made to collide */
    for (int64_t i = 0; i < count; i++) {
        if (i % CANCEL_EVERY == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        s->group_of[i] = find_group(s, i);
        s->size[s->group_of[i]]++;
    }
    return SZG_OK;
}

/* The rows of each group one after the other: group g begins where those before it end. */
static szg_status collect_groups(szg_context *context, const split *s, groups *out) {
    SZG_TRY(szgi_memory_alloc(context, s->groups, &out->group));
    SZG_TRY(szgi_memory_alloc(context, s->all.count, &out->storage));
    out->count = s->groups;
    int64_t *next = out->storage;
    for (int64_t g = 0; g < s->groups; g++) {
        out->group[g] = (rows){.table = s->all.table, .row = next};
        next += s->size[g];
    }
    for (int64_t i = 0; i < s->all.count; i++) {
        rows *group = &out->group[s->group_of[i]];
        out->storage[group->row - out->storage + group->count++] = szgi_rows_at(s->all, i);
    }
    return SZG_OK;
}

szg_status szgi_groups_split(szg_context *context, rows all, const char *const *columns,
                             groups *out) {
    *out = (groups){0};
    split s = {.all = every_row(all)};
    szg_status status;
    SZG_TRY_GOTO(status, find_columns(context, &s, columns), done);
    SZG_TRY_GOTO(status, assign_rows(context, &s), done);
    status = collect_groups(context, &s, out);
done:
    if (status != SZG_OK)
        szgi_groups_free(out);
    szgi_memory_free(s.column);
    szgi_memory_free(s.slot);
    szgi_memory_free(s.group_of);
    szgi_memory_free(s.first);
    szgi_memory_free(s.size);
    return status;
}

void szgi_groups_free(groups *all) {
    szgi_memory_free(all->group);
    szgi_memory_free(all->storage);
    *all = (groups){0};
}

static szg_status keep_group(szg_context *context, const szg_table *table, int64_t count,
                             groups *out) {
    if (count == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, 1, &out->group));
    out->group[0] = (rows){.table = table, .row = out->storage, .count = count};
    out->count = 1;
    return SZG_OK;
}

szg_status szgi_groups_where(szg_context *context, rows all, const char *column, const char *value,
                             groups *out) {
    *out = (groups){0};
    all = every_row(all);
    SZG_TRY(szgi_memory_alloc(context, all.count, &out->storage));
    int64_t count = 0, at = all.table ? szg_table_find(all.table, column) : -1;
    for (int64_t i = 0; i < all.count && at >= 0; i++) {
        const char *text = szg_table_get_text(all.table, szgi_rows_at(all, i), at);
        if (text && strcmp(text, value) == 0)
            out->storage[count++] = szgi_rows_at(all, i);
    }
    szg_status status = keep_group(context, all.table, count, out);
    if (status != SZG_OK)
        szgi_groups_free(out);
    return status;
}

const char *szgi_rows_text(rows of, int64_t index, const char *column) {
    int64_t at = szg_table_find(of.table, column);
    return at < 0 ? NULL : szg_table_get_text(of.table, szgi_rows_at(of, index), at);
}

double szgi_rows_real(rows of, int64_t index, const char *column) {
    int64_t at = szg_table_find(of.table, column);
    return at < 0 ? (double)NAN : szg_table_get_real(of.table, szgi_rows_at(of, index), at);
}

szg_status szgi_rows_reals(szg_context *context, rows of, const char *column, double **out) {
    of = every_row(of);
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, of.count, out));
    for (int64_t i = 0; i < of.count; i++)
        (*out)[i] = szgi_rows_real(of, i, column);
    return SZG_OK;
}
