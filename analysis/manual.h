/* The pages of help, each written once: for a terminal, wrapped at its width, or for man(1), in
 * roff. */
#ifndef SZG_ANALYSIS_MANUAL_H
#define SZG_ANALYSIS_MANUAL_H

#include <stdbool.h>
#include <stdio.h>

typedef struct manual {
    FILE *stream;
    int width; /* of a line; of no account in roff */
    bool roff;
    bool after_heading; /* a paragraph of roff follows at once */
} manual;

/* For the terminal or file behind `stream`, as wide as it is. */
manual manual_text(FILE *stream);
manual manual_roff(FILE *stream);

/* The page's name, section and summary: a header of roff; a terminal shows nothing of it. */
void manual_title(manual *self, const char *name, int section, const char *summary);

/* "Usage: szego NAME ARGUMENTS"; the lines after the first hang below ARGUMENTS. */
void manual_usage(manual *self, const char *name, const char *arguments);

void manual_heading(manual *self, const char *text);
void manual_paragraph(manual *self, const char *text);
/* On a terminal alone: each line of a text, wrapped, without empty lines between. */
void manual_lines(const manual *self, const char *text);

/* A term and what is said of it, beside or below it. `level` 0 begins at the left, 1 further in.
 * Terms of a list share `column`, where their texts begin. */
void manual_item(manual *self, int level, int column, const char *term, const char *text);

/* A command line and what it does. The line may be pasted into a shell also where it is broken. */
void manual_example(manual *self, const char *line, const char *what);

#endif
