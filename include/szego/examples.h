/* Labelled token sequences, and JSONL files of them: one {"tokens": [ids], "label": n} a line. */
#ifndef SZEGO_EXAMPLES_H
#define SZEGO_EXAMPLES_H

#include <szego/context.h>

SZG_BEGIN_DECLS

/* Tokens of example e: tokens[start[e]] .. tokens[start[e + 1] - 1], at least one, each >= 1 (0 is
 * padding and occurs in no file). */
typedef struct szg_examples {
    int64_t count;
    int64_t longest; /* tokens of the longest example */
    int32_t largest_token, largest_label;
    int64_t *start;  /* [count + 1] */
    int32_t *tokens; /* [start[count]] */
    int32_t *label;  /* [count], >= 0 */
} szg_examples;

void szg_examples_close(szg_examples *examples);

/* Appends every example of another set. */
SZG_CHECK_RESULT szg_status szg_examples_append(szg_context *context, szg_examples *examples,
                                                const szg_examples *from);

/* Reads a JSONL file. SZG_EDATA, with file and line: not JSON, a repeated, missing or unknown
 * field, no tokens, a token that is no integer in 1 .. 2^31 - 1 (0 is padding: leave it out), a
 * negative label, no examples at all. Blank lines are passed over. */
SZG_CHECK_RESULT szg_status szg_examples_read(szg_context *context, const char *path,
                                              szg_examples *out);

/* Writes the file atomically: examples `order`[0 .. count-1], or 0 .. count-1 where order is NULL.
 */
SZG_CHECK_RESULT szg_status szg_examples_write(szg_context *context, const szg_examples *examples,
                                               const int64_t *order, int64_t count,
                                               const char *path);

SZG_END_DECLS

#endif
