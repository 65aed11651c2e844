/* Sets of labelled sequences: growing, and writing as JSONL. */
#include <inttypes.h>
#include <string.h>

#include "formats/examples.h"
#include "base/file.h"
#include "base/memory.h"

enum { LEAST = 64, DIGITS = 12, A_REPORT = 4096 };

void szg_examples_close(szg_examples *examples) {
    if (!examples)
        return;
    szgi_memory_free(examples->start);
    szgi_memory_free(examples->tokens);
    szgi_memory_free(examples->label);
    *examples = (szg_examples){0};
}

/* Elements that an array of `count` has room for: the next power of two. */
static int64_t room(int64_t count) {
    int64_t size = LEAST;
    while (size < count)
        size *= 2;
    return size;
}

/* Makes room for `more` elements after `count`; `block` is NULL where there were none. */
static szg_status reserve(szg_context *context, void *block, int64_t count, int64_t more,
                          size_t size) {
    int64_t has = *(void **)block ? room(count) : 0, needs = room(count + more);
    return needs > has ? szgi_memory_regrow(context, block, has, needs, size) : SZG_OK;
}

static szg_status check(szg_context *context, const szg_examples *examples, int64_t count,
                        const int32_t *tokens, int32_t label) {
    if (count < 1 || label < 0)
        return szgi_fail(context, SZG_EINVAL,
                         "example %" PRId64 ": %" PRId64 " tokens, label %" PRId32
                         ": at least one token and a label >= 0 are needed",
                         examples->count, count, label);
    for (int64_t i = 0; i < count; i++)
        if (tokens[i] < 1)
            return szgi_fail(context, SZG_EINVAL,
                             "example %" PRId64 ": token %" PRId64 " is %" PRId32
                             ": words count from 1, 0 is padding",
                             examples->count, i, tokens[i]);
    return SZG_OK;
}

szg_status szgi_examples_add(szg_context *context, szg_examples *examples, int64_t count,
                             const int32_t *tokens, int32_t label) {
    SZG_TRY(check(context, examples, count, tokens, label));
    int64_t used = examples->start ? examples->start[examples->count] : 0;
    SZG_TRY(reserve(context, &examples->label, examples->count, 1, sizeof *examples->label));
    SZG_TRY(reserve(context, &examples->tokens, used, count, sizeof *examples->tokens));
    SZG_TRY(reserve(context, &examples->start, examples->count + 1, 1, sizeof *examples->start));
    memcpy(examples->tokens + used, tokens, (size_t)count * sizeof *tokens);
    examples->label[examples->count++] = label;
    examples->start[examples->count] = used + count;
    if (count > examples->longest)
        examples->longest = count;
    if (label > examples->largest_label)
        examples->largest_label = label;
    for (int64_t i = 0; i < count; i++)
        if (tokens[i] > examples->largest_token)
            examples->largest_token = tokens[i];
    return SZG_OK;
}

szg_status szg_examples_append(szg_context *context, szg_examples *examples,
                               const szg_examples *from) {
    SZGI_ENTER(context);
    for (int64_t e = 0; e < from->count; e++)
        SZG_TRY(szgi_examples_add(context, examples, from->start[e + 1] - from->start[e],
                                  from->tokens + from->start[e], from->label[e]));
    return SZG_OK;
}

/* Writes at `at` and returns where to go on. */
static char *put_number(char *at, int32_t value) {
    char digits[DIGITS];
    int first = DIGITS;
    do
        digits[--first] = (char)('0' + value % 10);
    while (value /= 10);
    memcpy(at, digits + first, (size_t)(DIGITS - first));
    return at + DIGITS - first;
}

static void put_example(FILE *stream, const szg_examples *examples, int64_t example, char *line) {
    const int32_t *token = examples->tokens + examples->start[example];
    const int32_t *end = examples->tokens + examples->start[example + 1];
    char *at = stpcpy(line, "{\"tokens\": [");
    while (token < end) {
        at = put_number(at, *token++);
        at = stpcpy(at, token < end ? ", " : "], \"label\": ");
    }
    at = stpcpy(put_number(at, examples->label[example]), "}\n");
    fwrite(line, 1, (size_t)(at - line), stream);
}

static szg_status put_examples(szg_context *context, FILE *stream, const szg_examples *examples,
                               const int64_t *order, int64_t count) {
    char *line;
    SZG_TRY(szgi_memory_take(context, examples->longest + 4, DIGITS + 1, &line));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        put_example(stream, examples, order ? order[i] : i, line);
        if (i % A_REPORT == 0) {
            szgi_progress(context, "writing examples", i, count);
            status = szgi_context_check_cancel(context);
        }
    }
    szgi_progress(context, "writing examples", count, count);
    szgi_memory_free(line);
    return status;
}

szg_status szg_examples_write(szg_context *context, const szg_examples *examples,
                              const int64_t *order, int64_t count, const char *path) {
    SZGI_ENTER(context);
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    szg_status status = put_examples(context, szgi_writer_stream(writer), examples, order, count);
    if (status == SZG_OK)
        return szgi_writer_commit(context, &writer);
    szgi_writer_discard(&writer);
    return status;
}
