/* Exact duplicates: a hash table of indices, decided by comparing tokens and label. */
#include <string.h>

#include "base/memory.h"

#include "tasks_private.h"

/* FNV-1a over words, with a final mix (Fowler, Noll, Vo; Steele, Lea, Flood 2014). */
static uint64_t hash(const szg_examples *examples, task_equality equality, int64_t e) {
    uint64_t value = 0xCBF29CE484222325U;
    if (equality == TASK_SAME_EXAMPLE)
        value ^= (uint64_t)examples->label[e];
    for (int64_t i = examples->start[e]; i < examples->start[e + 1]; i++)
        value = (value ^ (uint64_t)examples->tokens[i]) * 0x100000001B3U;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
    return value ^ value >> 31;
}

static bool same(const szg_examples *examples, task_equality equality, int64_t a, int64_t b) {
    int64_t count = examples->start[a + 1] - examples->start[a];
    return (equality == TASK_SAME_TEXT || examples->label[a] == examples->label[b]) &&
           count == examples->start[b + 1] - examples->start[b] &&
           memcmp(examples->tokens + examples->start[a], examples->tokens + examples->start[b],
                  (size_t)count * sizeof *examples->tokens) == 0;
}

szg_status szgi_task_unique(szg_context *context, const szg_examples *examples,
                            task_equality equality, int64_t *kept, int64_t *count) {
    int64_t size = 64, *slot; /* index + 1; 0: free */
    while (size < 2 * examples->count)
        size *= 2;
    SZG_TRY(szgi_memory_alloc(context, size, &slot));
    *count = 0;
    for (int64_t e = 0; e < examples->count; e++) {
        uint64_t at = hash(examples, equality, e) & (uint64_t)(size - 1);
        while (slot[at] && !same(examples, equality, slot[at] - 1, e))
            at = (at + 1) & (uint64_t)(size - 1);
        if (slot[at])
            continue;
        slot[at] = e + 1;
        kept[(*count)++] = e;
    }
    szgi_memory_free(slot);
    return SZG_OK;
}
