#include "part.h"

#include <inttypes.h>

#include "base/memory.h"
#include "base/text.h"

/* Reads "3", "0-7", or "-1", the last of `count`, at *at and moves on. */
static bool scan_places(const char **at, int64_t count, int64_t *first, int64_t *last) {
    const bool from_end = **at == '-';
    *at += from_end;
    if (!szgi_span_scan(at, first, last) || (**at && **at != '+' && **at != ','))
        return false;
    if (!from_end)
        return *last >= *first;
    const bool single = *first == *last && *first > 0;
    *first = *last = count - *first;
    return single;
}

/* "0-7+12" or "0,-1" of `count` things called `what`; NULL: all. */
static szg_status choose(szg_context *context, const szg_checkpoint *checkpoint, const char *what,
                         const char *list, int64_t count, bool *chosen) {
    for (int64_t i = 0; i < count; i++)
        chosen[i] = !list;
    bool more = list;
    for (const char *at = list; more; at++) {
        int64_t first, last;
        if (!scan_places(&at, count, &first, &last))
            return szgi_fail(context, SZG_EINVAL,
                             "%ss '%s': a list such as 0-3 or 0+2+5 is needed, counted from 0, or "
                             "from the end: -1 is the last",
                             what, SHOWN(list));
        if (first < 0 || last >= count)
            return szgi_fail(context, SZG_EINVAL,
                             "%ss '%s': %s %" PRId64 " is none of %s, which has 0 to %" PRId64,
                             what, SHOWN(list), what, first < 0 ? first - count : last,
                             checkpoint->source, count - 1);
        for (int64_t i = first; i <= last; i++)
            chosen[i] = true;
        more = *at;
    }
    return SZG_OK;
}

static szg_status choose_both(szg_context *context, const szg_checkpoint *checkpoint,
                              const szg_checkpoint_options *options, head_part *part) {
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, &part->layer));
    SZG_TRY(szgi_memory_alloc(context, checkpoint->heads, &part->head));
    SZG_TRY(choose(context, checkpoint, "layer", options->layers, checkpoint->layers, part->layer));
    return choose(context, checkpoint, "head", options->heads, checkpoint->heads, part->head);
}

szg_status szgi_part_open(szg_context *context, const szg_checkpoint *checkpoint,
                          const szg_checkpoint_options *options, head_part *part) {
    *part = (head_part){0};
    if (!checkpoint->family && (options->layers || options->heads))
        return szgi_fail(
            context, SZG_EINVAL,
            "%s: its architecture is unknown, so that there are no layers and heads to "
            "choose from: leave `layers` and `heads` out",
            checkpoint->source);
    szg_status status = choose_both(context, checkpoint, options, part);
    if (status != SZG_OK)
        szgi_part_close(part);
    return status;
}

void szgi_part_close(head_part *part) {
    szgi_memory_free(part->layer);
    szgi_memory_free(part->head);
    *part = (head_part){0};
}

static int64_t count_of(int64_t count, const bool *chosen) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        found += chosen[i];
    return found;
}

int64_t szgi_part_heads(const szg_checkpoint *checkpoint, const head_part *part) {
    return count_of(checkpoint->layers, part->layer) * count_of(checkpoint->heads, part->head);
}
