/* Formulas in prose. A text that people read holds its formulas between backticks, in one source
 * form that is plain ASCII and readable as it stands: `L = Re sum_t G_t o E_t`. From it come the
 * forms in which they are shown.
 *
 * A formula has numbers, letters, words and signs. `_` and `^` take a run of letters and digits, a
 * sign, or a group in braces: E_ij, v^*, sum_{i>=1}. Words that have a sign of their own are
 * written out: theta, pi, sum, inf, and o for the Hadamard product; `bar` after a letter puts a bar
 * over it (Ebar). Relations are <=, >=, !=, ->, ~ and +-. Any other word is text. */
#ifndef SZEGO_BASE_FORMULA_H
#define SZEGO_BASE_FORMULA_H

#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef enum szgi_formula_form {
    SZGI_FORMULA_ASCII,  /* the source */
    SZGI_FORMULA_UNICODE /* for terminals: signs, and scripts where Unicode has them all */
} szgi_formula_form;

/* A piece of a text: prose, or the inside of a pair of backticks. */
typedef struct szgi_prose_piece {
    const char *text; /* not terminated */
    size_t length;
    bool formula;
} szgi_prose_piece;

/* Takes the next piece off *text; false: nothing is left. A backtick without a partner is prose. */
bool szgi_prose_next(const char **text, szgi_prose_piece *out);

/* Writes a formula. One that is too long or too deep to be set is written as its source: false. */
bool szgi_formula_put(const szgi_prose_piece *formula, szgi_formula_form form, FILE *stream);

/* Writes prose as it is and its formulas in `form`, ASCII or UNICODE. */
void szgi_prose_put(const char *text, szgi_formula_form form, FILE *stream);

SZGI_END_DECLS

#endif
