/* One column: which cells are empty, then its values as 64-bit numbers whose differences are cut
 * into planes of bytes. Differences of smooth columns are small: their upper planes are zeros, and
 * what the compressor cannot help, the low bits, stands together. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "embed.h"

enum { CHUNK = 1 << 15, MOST_ORDER = 3, PRESENT_ALL = 0, PRESENT_NONE = 1, PRESENT_MAP = 2 };

/* Texts of a column, each once, in the order in which they come; interned texts are equal where
 * their addresses are. */
typedef struct dictionary {
    const char **text;
    int64_t *number, slots; /* [slots] open addressing; text NULL: free */
    const char **list;
    int64_t count;
} dictionary;

static uint64_t hash_text(const char *text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static void dictionary_free(dictionary *d) {
    szgi_memory_free(d->text);
    szgi_memory_free(d->number);
    szgi_memory_free(d->list);
}

static int64_t slot_of(const dictionary *d, const char *text) {
    int64_t at = (int64_t)(hash_text(text) & (uint64_t)(d->slots - 1));
    while (d->text[at] && d->text[at] != text && strcmp(d->text[at], text) != 0)
        at = (at + 1) & (d->slots - 1);
    return at;
}

static szg_status dictionary_grow(szg_context *context, dictionary *d) {
    dictionary next = {.slots = d->slots ? 2 * d->slots : 64, .count = d->count};
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, next.slots, &next.text), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, next.slots, &next.number), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, next.slots, &next.list), fail);
    for (int64_t i = 0; i < d->count; i++) {
        int64_t at = slot_of(&next, d->list[i]);
        next.text[at] = next.list[i] = d->list[i];
        next.number[at] = i;
    }
    dictionary_free(d);
    *d = next;
    return SZG_OK;
fail:
    dictionary_free(&next);
    return status;
}

static szg_status number_text(szg_context *context, dictionary *d, const char *text,
                              uint64_t *out) {
    if (2 * (d->count + 1) > d->slots)
        SZG_TRY(dictionary_grow(context, d));
    int64_t at = slot_of(d, text);
    if (!d->text[at]) {
        d->text[at] = d->list[d->count] = text;
        d->number[at] = d->count++;
    }
    *out = (uint64_t)d->number[at];
    return SZG_OK;
}

/* Bits of a double as a number that grows with it. */
static uint64_t order_real(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* Fills value[row]; an empty cell repeats the one before. */
static szg_status collect(sink *sink, const szg_table *table, int64_t column, dictionary *d,
                          uint64_t *value) {
    szg_type type = szg_table_column(table, column)->type;
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        if (row % 65536 == 0)
            SZG_TRY(szgi_context_check_cancel(sink->context));
        if (szg_table_is_empty(table, row, column))
            value[row] = row > 0 ? value[row - 1] : 0;
        else if (type == SZG_INTEGER)
            value[row] = (uint64_t)szg_table_get_integer(table, row, column);
        else if (type == SZG_REAL)
            value[row] = order_real(szg_table_get_real(table, row, column));
        else
            SZG_TRY(
                number_text(sink->context, d, szg_table_get_text(table, row, column), &value[row]));
    }
    return SZG_OK;
}

static szg_status put_presence(sink *sink, const szg_table *table, int64_t column, bool *none) {
    int64_t rows = szg_table_rows(table), empty = 0;
    unsigned char part[CHUNK] = {0}, kind;
    for (int64_t row = 0; row < rows; row++)
        empty += szg_table_is_empty(table, row, column);
    *none = empty == rows;
    kind = *none ? PRESENT_NONE : empty == 0 ? PRESENT_ALL : PRESENT_MAP;
    SZG_TRY(szgi_sink_put(sink, &kind, 1));
    for (int64_t from = 0; kind == PRESENT_MAP && from < rows; from += 8 * CHUNK) {
        int64_t end = from + 8 * CHUNK < rows ? from + 8 * CHUNK : rows;
        memset(part, 0, sizeof part);
        for (int64_t row = from; row < end; row++)
            if (szg_table_is_empty(table, row, column))
                part[(row - from) / 8] |= (unsigned char)(1u << (row - from) % 8);
        SZG_TRY(szgi_sink_put(sink, part, (end - from + 7) / 8));
    }
    return SZG_OK;
}

static void difference(int64_t count, uint64_t *value) {
    for (int64_t i = count - 1; i > 0; i--)
        value[i] -= value[i - 1];
}

static void sum(int64_t count, uint64_t *value) {
    for (int64_t i = 1; i < count; i++)
        value[i] += value[i - 1];
}

/* Small numbers of either sign become small: 0, -1, 1, -2, ... */
static uint64_t fold(uint64_t value) {
    return value << 1 ^ (value >> 63 ? ~UINT64_C(0) : 0);
}

/* Bits that the numbers need, all together. */
static int64_t cost(int64_t count, const uint64_t *value) {
    int64_t bits = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t folded = fold(value[i]);
        bits += folded ? 64 - __builtin_clzll(folded) : 0;
    }
    return bits;
}

/* Leaves differences of the order that needs fewest bits. */
static unsigned char choose_order(int64_t count, uint64_t *value) {
    int best = 0;
    int64_t least = cost(count, value);
    for (int order = 1; order <= MOST_ORDER; order++) {
        difference(count, value);
        int64_t bits = cost(count, value);
        if (bits < least) {
            best = order;
            least = bits;
        }
    }
    for (int order = MOST_ORDER; order > best; order--)
        sum(count, value);
    return (unsigned char)best;
}

static szg_status put_plane(sink *sink, int64_t count, const uint64_t *value, int shift) {
    unsigned char part[CHUNK];
    for (int64_t from = 0; from < count; from += CHUNK) {
        int64_t size = count - from < CHUNK ? count - from : CHUNK;
        SZG_TRY(szgi_context_check_cancel(sink->context));
        for (int64_t i = 0; i < size; i++)
            part[i] = (unsigned char)(fold(value[from + i]) >> shift);
        SZG_TRY(szgi_sink_put(sink, part, size));
    }
    return SZG_OK;
}

static szg_status put_values(sink *sink, int64_t count, uint64_t *value) {
    unsigned char order = choose_order(count, value), width = 0;
    uint64_t all = 0;
    for (int64_t i = 0; i < count; i++)
        all |= fold(value[i]);
    for (; all; all >>= 8)
        width++;
    SZG_TRY(szgi_sink_put(sink, &order, 1));
    SZG_TRY(szgi_sink_put(sink, &width, 1));
    for (int plane = 0; plane < width; plane++)
        SZG_TRY(put_plane(sink, count, value, 8 * plane));
    return SZG_OK;
}

static szg_status put_dictionary(sink *sink, const dictionary *d) {
    SZG_TRY(szgi_sink_number(sink, d->count));
    for (int64_t i = 0; i < d->count; i++)
        SZG_TRY(szgi_sink_text(sink, d->list[i]));
    return SZG_OK;
}

szg_status szgi_embed_column(sink *sink, const szg_table *table, int64_t column) {
    dictionary texts = {0};
    int64_t rows = szg_table_rows(table);
    uint64_t *value;
    bool none;
    SZG_TRY(put_presence(sink, table, column, &none));
    if (none)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(sink->context, rows, &value));
    szg_status status = collect(sink, table, column, &texts, value);
    if (status == SZG_OK && szg_table_column(table, column)->type == SZG_TEXT)
        status = put_dictionary(sink, &texts);
    if (status == SZG_OK)
        status = put_values(sink, rows, value);
    szgi_memory_free(value);
    dictionary_free(&texts);
    return status;
}
