#include "resident.h"

static szg_status upload(szg_context *context, const void *from, int64_t count, size_t size,
                         void **out) {
    int64_t bytes = count * (int64_t)size;
    SZG_TRY(szgi_device_alloc(context, bytes, out));
    return szgi_device_upload(context, *out, from, bytes);
}

static szg_status upload_all(szg_context *context, const szg_examples *examples, bool ordered,
                             resident_set *out) {
    int64_t count = examples->count, words = examples->start[count];
    out->count = count;
    SZG_TRY(upload(context, examples->start, count + 1, sizeof *out->start, (void **)&out->start));
    SZG_TRY(upload(context, examples->tokens, words, sizeof *out->words, (void **)&out->words));
    SZG_TRY(upload(context, examples->label, count, sizeof *out->classes, (void **)&out->classes));
    if (!ordered)
        return SZG_OK;
    return szgi_device_alloc(context, count * (int64_t)sizeof *out->order, &out->order);
}

szg_status szgi_resident_open(szg_context *context, const szg_examples *examples,
                              const batch_limits *limits, bool ordered, resident_set *out) {
    *out = (resident_set){0};
    for (int64_t e = 0; e < examples->count; e++)
        SZG_TRY(szgi_batch_check(context, examples, e, limits));
    szg_status status = upload_all(context, examples, ordered, out);
    if (status != SZG_OK)
        szgi_resident_close(context, out);
    return status;
}

void szgi_resident_close(szg_context *context, resident_set *set) {
    szgi_device_free(context, set->order);
    szgi_device_free(context, set->classes);
    szgi_device_free(context, set->words);
    szgi_device_free(context, set->start);
    *set = (resident_set){0};
}

szg_status szgi_resident_set_order(szg_context *context, resident_set *set, const int64_t *order) {
    return szgi_device_upload(context, set->order, order, set->count * (int64_t)sizeof *order);
}

szgi_gather szgi_resident_batch(const resident_set *set, int64_t first,
                                const szgi_step_block *block, int64_t count, int64_t length) {
    return (szgi_gather){.count = count,
                         .length = length,
                         .examples = set->count,
                         .start = set->start,
                         .words = set->words,
                         .classes = set->classes,
                         .order = set->order,
                         .block = block,
                         .first = first};
}
