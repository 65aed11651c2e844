#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

static int lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter;
}

static int least_of(int a, int b) {
    return a < b ? a : b;
}

static size_t cut(size_t length) {
    return length < SZGI_SUGGEST_LENGTH ? length : SZGI_SUGGEST_LENGTH;
}

/* Row i of the table holds the edits from the first i letters of `a` to the first j of `b`; three
 * rows are kept, since a swap looks two back. */
int szgi_edits(const char *a, size_t length_a, const char *b, size_t length_b) {
    int rows[3][SZGI_SUGGEST_LENGTH + 1];
    int n = (int)cut(length_a), m = (int)cut(length_b);
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3], *before = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = least_of(before[j - 1] + !same, 1 + least_of(before[j], row[j - 1]));
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least_of(row[j], two[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

szgi_suggestion szgi_suggest_begin(const char *text, size_t length) {
    return (szgi_suggestion){.text = text, .length = length, .distance = SZGI_SUGGEST_LENGTH + 1};
}

/* The most edits of a slip of the hand: with more, another word was meant. */
static int most_edits(size_t a, size_t b) {
    size_t longer = a > b ? a : b;
    return longer < 3 ? 0 : longer < 6 ? 1 : (int)(longer / 3);
}

static bool begins(const szgi_suggestion *self, const char *word, size_t length) {
    enum { TELLING = 3 };
    return self->length >= TELLING && self->length < length &&
           szgi_edits(self->text, self->length, word, self->length) == 0;
}

void szgi_suggest(szgi_suggestion *self, const char *word, size_t length) {
    if (self->length > SZGI_SUGGEST_LENGTH || length > SZGI_SUGGEST_LENGTH)
        return;
    int distance = szgi_edits(self->text, self->length, word, length);
    if (distance > 1 && begins(self, word, length))
        distance = 1;
    if (distance > most_edits(self->length, length) || distance >= self->distance)
        return;
    self->distance = distance;
    self->word = word;
    self->word_length = length;
}

static char upper(char letter) {
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

const char *szgi_suggest_text(const szgi_suggestion *self, const char *then,
                              char text[SZGI_SUGGEST_TEXT]) {
    if (!self->word)
        snprintf(text, SZGI_SUGGEST_TEXT, "%s", then);
    else if (!*then)
        snprintf(text, SZGI_SUGGEST_TEXT, "did you mean %.*s?", (int)self->word_length, self->word);
    else
        snprintf(text, SZGI_SUGGEST_TEXT, "did you mean %.*s? %c%s", (int)self->word_length,
                 self->word, upper(*then), then + 1);
    return text;
}

const char *szgi_suggest_choice(const char *text, const char *choices, const char *then,
                                char out[SZGI_SUGGEST_TEXT]) {
    szgi_suggestion near = szgi_suggest_begin(text, strlen(text));
    for (const char *word = choices; word;) {
        size_t length = strcspn(word, "|");
        szgi_suggest(&near, word, length);
        word = word[length] ? word + length + 1 : NULL;
    }
    return szgi_suggest_text(&near, then, out);
}
