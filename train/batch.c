/* A batch on the host, and every check that the device will not make. */
#include <inttypes.h>
#include <string.h>

#include <szego/train.h>

static szg_status check_tokens(szg_context *context, int64_t example, int64_t count,
                               const int32_t *tokens, int64_t vocabulary) {
    for (int64_t i = 0; i < count; i++)
        if (tokens[i] < 1 || tokens[i] >= vocabulary)
            return szg_fail(context, SZG_EDATA,
                            "example %" PRId64 " (from 1): token %" PRId64 " is %" PRId32
                            ", outside the words 1 .. %" PRId64 " (model.vocabulary)",
                            example + 1, i, tokens[i], vocabulary - 1);
    return SZG_OK;
}

static szg_status fill_one(szg_context *context, const szg_examples *examples, int64_t example,
                           int64_t length, int64_t vocabulary, int64_t classes, int32_t *tokens,
                           int32_t *own_length, int32_t *label) {
    int64_t start = examples->start[example], count = examples->start[example + 1] - start;
    if (count > length)
        return szg_fail(context, SZG_EDATA,
                        "example %" PRId64 " (from 1) has %" PRId64
                        " tokens, more than the %" PRId64
                        " positions of the model (model.max_length)",
                        example + 1, count, length);
    SZG_TRY(check_tokens(context, example, count, examples->tokens + start, vocabulary));
    if (label && (examples->label[example] < 0 || examples->label[example] >= classes))
        return szg_fail(context, SZG_EDATA,
                        "example %" PRId64 " (from 1): label %" PRId32
                        " is outside the classes 0 .. %" PRId64,
                        example + 1, examples->label[example], classes - 1);
    memcpy(tokens, examples->tokens + start, (size_t)count * sizeof *tokens);
    memset(tokens + count, 0, (size_t)(length - count) * sizeof *tokens);
    *own_length = (int32_t)count;
    if (label)
        *label = examples->label[example];
    return SZG_OK;
}

szg_status szg_batch_fill(szg_context *context, const szg_examples *examples, const int64_t *order,
                          int64_t count, int64_t length, int64_t vocabulary, int64_t classes,
                          int32_t *tokens, int32_t *lengths, int32_t *labels) {
    for (int64_t b = 0; b < count; b++)
        SZG_TRY(fill_one(context, examples, order ? order[b] : b, length, vocabulary, classes,
                         tokens + b * length, &lengths[b], labels ? &labels[b] : NULL));
    return SZG_OK;
}
