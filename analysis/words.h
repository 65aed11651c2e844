/* Words that options and operands take: for completion, help, and "did you mean". */
#ifndef SZG_ANALYSIS_WORDS_H
#define SZG_ANALYSIS_WORDS_H

#include <stdio.h>

typedef enum word_kind {
    WORDS_PLAIN,
    WORDS_SPECS,       /* NAME, NAME:KEY= and NAME:KEY=CHOICE */
    WORDS_ASSIGNMENTS, /* KEY= and KEY=CHOICE */
    WORDS_COMMAS       /* several, with commas between them */
} word_kind;

typedef struct word_list {
    const char *name;            /* a word of a shell */
    void (*print)(FILE *stream); /* each word on a line */
    word_kind kind;
} word_list;

extern const word_list words_encodings, words_contents, words_claims, words_presets, words_items,
    words_keys, words_topics, words_columns;

/* The presets that come with the program: "a|b|c". */
extern const char preset_names[];

#endif
