/* Texts put together from words and numbers: titles, captions, hover texts. They are plain text;
 * whoever prints them escapes them. */
#ifndef SZG_NOTEBOOKS_EXPORT_WORDS_H
#define SZG_NOTEBOOKS_EXPORT_WORDS_H

#include "base/text.h"

#include "groups.h"

typedef szgi_text
    words; /* print to its stream; its text is valid from szgi_words_end to szgi_words_free */

/* SZG_ENOMEM. Free with szgi_words_free, on failure of szgi_words_end too. */
SZG_CHECK_RESULT szg_status szgi_words_open(szg_context *context, words *words);
SZG_CHECK_RESULT szg_status szgi_words_end(szg_context *context, words *words);
void szgi_words_free(words *words);

/* At most `characters` of a text that a file holds, "…" where it is cut. NULL prints nothing. */
void szgi_words_clipped(words *words, const char *text, int64_t characters);

/* A file or folder that a source names, by its last part. */
void szgi_words_file(words *words, const char *path);

/* What the run that the first of these rows belongs to has learned: "rope, distance (text)", the
 * encoding, or the source where there is none, the task and the experiment of a reproduction. */
void szgi_words_run(words *words, rows of);

/* The checkpoint and the kind of matrix of these rows: "model.safetensors, position". */
void szgi_words_model(words *words, rows of);

/* What the first of these rows is about, by its columns: "SOURCE, layer 2, head 3, matrix", and
 * "in RESULT" where the table has rows of several results. */
void szgi_words_key(words *words, rows of);
/* The same without layer and head. */
void szgi_words_source(words *words, rows of);

#endif
