/* A batch on the host, and every check that the device will not make. */
#include <inttypes.h>
#include <string.h>

#include "resident.h"

static szg_status check_tokens(szg_context *context, int64_t example, int64_t count,
                               const int32_t *tokens, int64_t vocabulary) {
    for (int64_t i = 0; i < count; i++)
        if (tokens[i] < 1 || tokens[i] >= vocabulary)
            return szgi_fail(context, SZG_EDATA,
                             "example %" PRId64 " (from 1): token %" PRId64 " is %" PRId32
                             ", outside the words 1 .. %" PRId64 " (model.vocabulary)",
                             example + 1, i, tokens[i], vocabulary - 1);
    return SZG_OK;
}

szg_status szgi_batch_check(szg_context *context, const szg_examples *examples, int64_t example,
                            const batch_limits *limits) {
    int64_t start = examples->start[example], count = examples->start[example + 1] - start;
    if (count > limits->length)
        return szgi_fail(context, SZG_EDATA,
                         "example %" PRId64 " (from 1) has %" PRId64
                         " tokens, more than the %" PRId64
                         " positions of the model (model.max_length)",
                         example + 1, count, limits->length);
    SZG_TRY(check_tokens(context, example, count, examples->tokens + start, limits->vocabulary));
    if (limits->classes > 0 &&
        (examples->label[example] < 0 || examples->label[example] >= limits->classes))
        return szgi_fail(context, SZG_EDATA,
                         "example %" PRId64 " (from 1): label %" PRId32
                         " is outside the classes 0 .. %" PRId64,
                         example + 1, examples->label[example], limits->classes - 1);
    return SZG_OK;
}

szg_status szgi_batch_fill(szg_context *context, const szg_examples *examples, const int64_t *order,
                           int64_t count, int64_t length, int64_t vocabulary, int64_t classes,
                           int32_t *tokens, int32_t *lengths, int32_t *labels) {
    const batch_limits limits = {length, vocabulary, labels ? classes : 0};
    for (int64_t b = 0; b < count; b++) {
        int64_t e = order ? order[b] : b, start = examples->start[e];
        int32_t *to = tokens + b * length;
        SZG_TRY(szgi_batch_check(context, examples, e, &limits));
        lengths[b] = (int32_t)(examples->start[e + 1] - start);
        memcpy(to, examples->tokens + start, (size_t)lengths[b] * sizeof *to);
        memset(to + lengths[b], 0, (size_t)(length - lengths[b]) * sizeof *to);
        if (labels)
            labels[b] = examples->label[e];
    }
    return SZG_OK;
}
