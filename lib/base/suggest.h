/* "Did you mean X?": the known word that a misspelt one resembles. */
#ifndef SZEGO_BASE_SUGGEST_H
#define SZEGO_BASE_SUGGEST_H

#include <stddef.h>
#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

enum { SZGI_SUGGEST_LENGTH = 64 }; /* bytes of a word that are compared, at most */

/* Letters to insert, delete, replace, or swap with the next one (Damerau 1964, no letter edited
 * twice), of the first SZGI_SUGGEST_LENGTH bytes. Upper and lower case count as the same. */
int szgi_edits(const char *a, size_t length_a, const char *b, size_t length_b);

/* The nearest known word so far. Begin with szgi_suggest_begin. */
typedef struct szgi_suggestion {
    const char *text; /* the misspelt word; borrowed, as `word` is */
    size_t length;
    const char *word; /* NULL: none is near */
    size_t word_length;
    int distance;
} szgi_suggestion;

szgi_suggestion szgi_suggest_begin(const char *text, size_t length);

/* Weighs one known word. It is near if it takes at most a third as many edits as the longer word
 * has letters (one edit in a word of three to five, none in a shorter one), or if `text` has three letters and begins it. The first
 * of the nearest words wins. */
void szgi_suggest(szgi_suggestion *self, const char *word, size_t length);

enum { SZGI_SUGGEST_TEXT = SZGI_SUGGEST_LENGTH + 96 };

/* Writes "did you mean WORD? Then", of `then` with a capital letter; `then` alone if no word is
 * near. Returns `text`. */
const char *szgi_suggest_text(const szgi_suggestion *self, const char *then,
                              char text[SZGI_SUGGEST_TEXT]);

/* The same for `text` and the words of "a|b|c". */
const char *szgi_suggest_choice(const char *text, const char *choices, const char *then,
                                char out[SZGI_SUGGEST_TEXT]);

/* Both into a buffer that lives as long as the enclosing block: for arguments of szgi_fail. */
#define SZGI_DID_YOU_MEAN(suggestion, then)                                                        \
    szgi_suggest_text((suggestion), (then), (char[SZGI_SUGGEST_TEXT]){0})
#define SZGI_DID_YOU_CHOOSE(text, choices, then)                                                   \
    szgi_suggest_choice((text), (choices), (then), (char[SZGI_SUGGEST_TEXT]){0})

SZGI_END_DECLS

#endif
