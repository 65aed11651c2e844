/* A kernel of many lags in a few rows: lags that grow by a factor. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "digest.h"

/* Most rows of a table of one head, and of a head among several. */
enum { ROWS = 25, ROWS_OF_MANY = 9, LABEL = 128 };

/* ---- Which lags ---- */

/* 0, 1, .. most: all of them, or those of the form 2^i and 3 2^i, or powers of 2, of 4, of 16 ..,
 * whichever are at most `room` first, and the last one. Ascending. */
typedef struct lag_list {
    int64_t count, lag[ROWS + 1];
} lag_list;

static bool put_lag(lag_list *list, int64_t lag, int64_t room) {
    if (list->count == room)
        return false;
    list->lag[list->count++] = lag;
    return true;
}

static bool try_all(int64_t most, int64_t room, lag_list *list) {
    *list = (lag_list){0};
    for (int64_t lag = 0; lag <= most; lag++)
        if (!put_lag(list, lag, room))
            return false;
    return true;
}

/* halves: with 3 2^i between 2^(i+1) and 2^(i+2). */
static bool try_factor(int64_t most, int64_t room, int factor, bool halves, lag_list *list) {
    *list = (lag_list){.count = 1};
    for (int64_t lag = 1; lag<most; lag = lag> most / factor ? most : lag * factor)
        if (!put_lag(list, lag, room) ||
            (halves && lag > 1 && lag / 2 * 3 < most && !put_lag(list, lag / 2 * 3, room)))
            return false;
    return most == 0 || put_lag(list, most, room);
}

static lag_list choose_lags(int64_t most, int64_t room) {
    lag_list list;
    if (try_all(most, room, &list) || try_factor(most, room, 2, true, &list))
        return list;
    for (int factor = 2; !try_factor(most, room, factor, false, &list); factor *= factor)
        ;
    return list;
}

/* The last of the list that `lag` reaches. */
static int64_t interval_of(const lag_list *list, int64_t lag) {
    int64_t i = 0;
    while (i + 1 < list->count && list->lag[i + 1] <= lag)
        i++;
    return i;
}

/* ---- Encodings ---- */

/* Rows first .. first + count - 1 of the table: one matrix, by ascending lag. */
typedef struct series {
    int64_t first, count;
    bool is_complex, has_spread;
} series;

typedef struct lag_digest {
    const szg_table *kernel;
    int64_t source, head, matrix, lag, re, im, spread; /* columns */
    series *at;
    int64_t count, most;
    bool both_signs;
} lag_digest;

static int64_t lag_of(const lag_digest *d, int64_t row) {
    return szg_table_get_integer(d->kernel, row, d->lag);
}

/* Each matrix begins anew with a lag that is not the next one. */
static szg_status find_series(szg_context *context, lag_digest *d) {
    int64_t rows = szg_table_rows(d->kernel);
    SZG_TRY(szgi_memory_alloc(context, rows + 1, &d->at));
    for (int64_t row = 0; row < rows; row++) {
        int64_t lag = lag_of(d, row);
        if (row == 0 || lag_of(d, row - 1) >= lag)
            d->at[d->count++] = (series){.first = row};
        series *s = &d->at[d->count - 1];
        s->count++;
        s->is_complex = !szg_table_is_empty(d->kernel, row, d->im);
        s->has_spread = !szg_table_is_empty(d->kernel, row, d->spread);
        d->both_signs = d->both_signs || lag < 0;
        d->most = lag > d->most ? lag : d->most;
    }
    return SZG_OK;
}

/* Cells of two matrices; a table keeps equal texts once, so that their addresses are equal. */
static bool is_same(const lag_digest *d, int64_t a, int64_t b, int64_t column) {
    int64_t left = d->at[a].first, right = d->at[b].first;
    return column == d->head ? szg_table_get_integer(d->kernel, left, column) ==
                                   szg_table_get_integer(d->kernel, right, column)
                             : szg_table_get_text(d->kernel, left, column) ==
                                   szg_table_get_text(d->kernel, right, column);
}

/* Whether a column tells matrix `index` from another one, of the same SPEC unless it is the SPEC.
 */
static bool tells(const lag_digest *d, int64_t index, int64_t column) {
    for (int64_t i = 0; i < d->count; i++)
        if (!is_same(d, index, i, column) &&
            (column == d->source || is_same(d, index, i, d->source)))
            return true;
    return false;
}

static void add_word(char out[LABEL], const char *word) {
    size_t used = strlen(out);
    snprintf(out + used, LABEL - used, "%s%.*s", used ? " " : "", LABEL / 2, word);
}

/* What tells the matrix from the others, which may have the same SPEC. */
static void label(const lag_digest *d, int64_t index, const char *what, char out[LABEL]) {
    int64_t row = d->at[index].first;
    char word[32];
    *out = 0;
    if (tells(d, index, d->source))
        add_word(out, szg_table_get_text(d->kernel, row, d->source));
    if (tells(d, index, d->matrix))
        add_word(out, szg_table_get_text(d->kernel, row, d->matrix));
    if (tells(d, index, d->head)) {
        snprintf(word, sizeof word, "head %" PRId64,
                 szg_table_get_integer(d->kernel, row, d->head));
        add_word(out, word);
    }
    if (*what || !*out)
        add_word(out, *what ? what : "value");
}

/* The columns of a matrix: where it has them. */
static const struct {
    const char *what, *doc;
} numbers[] = {{"", "entry at that lag, or mean along the diagonal"},
               {"im", "imaginary part"},
               {"spread", "standard deviation along the diagonal"}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static bool has_number(const series *s, int number) {
    return number == 0 || (number == 1 ? s->is_complex : s->has_spread);
}

static szg_status open_lags(szg_context *context, const lag_digest *d, szg_table **out) {
    szg_column *columns;
    char(*name)[LABEL];
    int64_t count = 1;
    SZG_TRY(szgi_memory_alloc(context, NUMBERS * d->count + 1, &columns));
    szg_status status = szgi_memory_alloc(context, NUMBERS * d->count + 1, &name);
    columns[0] = (szg_column){"lag", SZG_INTEGER, "position of the query less that of the key"};
    for (int64_t i = 0; status == SZG_OK && i < d->count; i++)
        for (int number = 0; number < NUMBERS; number++) {
            if (!has_number(&d->at[i], number))
                continue;
            label(d, i, numbers[number].what, name[count]);
            for (int64_t j = 1; j < count; j++)
                if (strcmp(name[j], name[count]) == 0)
                    snprintf(name[count] + strlen(name[count]), 24, " (%" PRId64 ")", i + 1);
            columns[count] = (szg_column){name[count], SZG_REAL, numbers[number].doc};
            count++;
        }
    if (status == SZG_OK)
        status = szg_table_open(context, "lags", columns, count, out);
    szgi_memory_free(name);
    szgi_memory_free(columns);
    return status;
}

/* A matrix whose rows begin with lag 0 is symmetric or Hermitian. */
static szg_status put_series(szg_context *context, const lag_digest *d, const series *s,
                             int64_t lag, int64_t *column, szg_table *out) {
    int64_t first = lag_of(d, s->first), mirrored = first == 0 && lag < 0 ? -lag : lag;
    const int64_t from[NUMBERS] = {d->re, d->im, d->spread};
    for (int number = 0; number < NUMBERS; number++) {
        if (!has_number(s, number))
            continue;
        int64_t row = s->first + mirrored - first;
        double value = szg_table_get_real(d->kernel, row, from[number]);
        SZG_TRY(szgi_table_put_real(context, out, (*column)++,
                                    number == 1 && mirrored != lag ? -value : value));
    }
    return SZG_OK;
}

static szg_status put_lags(szg_context *context, const lag_digest *d, szg_table *out) {
    lag_list list = choose_lags(d->most, d->both_signs ? (ROWS + 1) / 2 : ROWS);
    for (int64_t i = d->both_signs ? 1 - list.count : 0; i < list.count; i++) {
        int64_t lag = i < 0 ? -list.lag[-i] : list.lag[i], column = 1;
        SZG_TRY(szg_table_add_row(context, out));
        SZG_TRY(szgi_table_put_integer(context, out, 0, lag));
        for (int64_t at = 0; at < d->count; at++)
            SZG_TRY(put_series(context, d, &d->at[at], lag, &column, out));
    }
    return SZG_OK;
}

szg_status digest_lags(szg_context *context, const szg_table *kernel, szg_table **out) {
    lag_digest d = {.kernel = kernel,
                    .source = szg_table_find(kernel, "source"),
                    .head = szg_table_find(kernel, "head"),
                    .matrix = szg_table_find(kernel, "matrix"),
                    .lag = szg_table_find(kernel, "lag"),
                    .re = szg_table_find(kernel, "re"),
                    .im = szg_table_find(kernel, "im"),
                    .spread = szg_table_find(kernel, "spread")};
    *out = NULL;
    SZG_TRY(find_series(context, &d));
    szg_status status = open_lags(context, &d, out);
    if (status == SZG_OK)
        status = put_lags(context, &d, *out);
    if (status != SZG_OK)
        szg_table_close(out);
    szgi_memory_free(d.at);
    return status;
}

/* ---- Checkpoints ---- */

/* Of the rows of a head that fall between two lags of the list the one that is nearest to lag 0.
 * Negative lags come before the others and ascend like them. */
static bool is_shown(const szg_table *kernel, int64_t lag_column, const lag_list *list,
                     int64_t row) {
    int64_t lag = szg_table_get_integer(kernel, row, lag_column), size = lag < 0 ? -lag : lag;
    int64_t near = lag < 0 ? row + 1 : row - 1;
    if (near < 0 || near == szg_table_rows(kernel))
        return true;
    int64_t other = szg_table_get_integer(kernel, near, lag_column);
    bool same_side = lag < 0 ? other > lag && other < 0 : other < lag && other >= 0;
    return !same_side || interval_of(list, size) != interval_of(list, other < 0 ? -other : other);
}

/* How many heads there are: lags fall from one to the next. Gets the largest lag. */
static int64_t count_heads(const szg_table *kernel, int64_t lag_column, int64_t *most) {
    int64_t heads = 0;
    *most = 0;
    for (int64_t row = 0; row < szg_table_rows(kernel); row++) {
        int64_t lag = szg_table_get_integer(kernel, row, lag_column);
        heads += row == 0 || lag <= szg_table_get_integer(kernel, row - 1, lag_column);
        *most = lag > *most ? lag : *most;
    }
    return heads;
}

/* To three digits, so that kernels and bands fit into 80 columns. */
static szg_status put_rounded(szg_context *context, const szg_table *from, int64_t row,
                              szg_table *out) {
    SZG_TRY(digest_copy_row(context, from, row, out));
    for (int64_t c = 0; c < szg_table_columns(from); c++)
        if (szg_table_column(from, c)->type == SZG_REAL && !szg_table_is_empty(from, row, c))
            SZG_TRY(szgi_table_put_real(context, out, c,
                                        digest_rounded(szg_table_get_real(from, row, c))));
    return SZG_OK;
}

szg_status digest_kernel(szg_context *context, const szg_table *kernel, szg_table **out) {
    int64_t lag = szg_table_find(kernel, "lag"), most;
    int64_t heads = count_heads(kernel, lag, &most);
    lag_list list = choose_lags(most, heads > 1 ? ROWS_OF_MANY : ROWS);
    SZG_TRY(digest_open_like(context, kernel, "kernel", out));
    szg_status status = SZG_OK;
    for (int64_t row = 0; row < szg_table_rows(kernel) && status == SZG_OK; row++)
        if (is_shown(kernel, lag, &list, row))
            status = put_rounded(context, kernel, row, *out);
    if (status != SZG_OK)
        szg_table_close(out);
    return status;
}
