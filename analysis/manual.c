#include "manual.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include <szego/version.h>
#include "base/text.h"

#include "terminal.h"

enum { INDENT = 2, HANGING = 6, NARROW = 60, LEAST_WIDTH = 20 };

manual manual_text(FILE *stream) {
    int width = terminal_width(fileno(stream));
    return (manual){.stream = stream, .width = width < LEAST_WIDTH ? LEAST_WIDTH : width};
}

manual manual_roff(FILE *stream) {
    return (manual){.stream = stream, .roff = true};
}

/* ---- Lines of a terminal ---- */

/* A paragraph while it is written. */
typedef struct wrapping {
    const manual *page;
    int column;         /* where the next character goes */
    int indent;         /* of the lines after the first */
    const char *broken; /* what ends a line that continues: "" or " \\" */
    bool begun;         /* the line has a word */
} wrapping;

static void move_to(wrapping *at, int column) {
    fprintf(at->page->stream, "%*s", column - at->column, "");
    at->column = column;
}

static void break_line(wrapping *at) {
    fprintf(at->page->stream, "%s\n", at->broken);
    at->column = 0;
    move_to(at, at->indent);
}

static int room(const wrapping *at) {
    return at->page->width - (int)strlen(at->broken) - at->column;
}

/* Bytes of the word's part that fits into `most` columns, 1 at least: cut behind a mark of
 * punctuation if there is one. *columns is its width. */
static size_t fitting(const char *word, size_t length, int most, int *columns) {
    size_t bytes = 0, marked = 0;
    int count = 0, marked_count = 0;
    while (bytes < length && count < (most > 1 ? most : 1)) {
        count++;
        while (++bytes < length && szgi_utf8_continues(word[bytes]))
            ;
        if (bytes < length && strchr("|,/:", word[bytes - 1])) {
            marked = bytes;
            marked_count = count;
        }
    }
    bool cut = bytes < length && marked > 0;
    *columns = cut ? marked_count : count;
    return cut ? marked : bytes;
}

static int columns_of(const char *word, size_t length) {
    int columns;
    fitting(word, length, (int)length, &columns);
    return columns;
}

/* A word that is longer than a line is broken, too. */
static void put_word(wrapping *at, const char *word, size_t length) {
    while (length > 0) {
        int columns;
        size_t part = fitting(word, length, room(at), &columns);
        fwrite(word, 1, part, at->page->stream);
        at->column += columns;
        word += part;
        length -= part;
        if (length > 0)
            break_line(at);
    }
}

/* Writes the words of `text` from the current column on, and ends the line. */
static void put_words(wrapping *at, const char *text) {
    for (const char *word = text + strspn(text, " "); *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        if (at->begun && columns_of(word, length) < room(at))
            move_to(at, at->column + 1);
        else if (at->begun)
            break_line(at);
        put_word(at, word, length);
        word += length;
        at->begun = true;
    }
    fputc('\n', at->page->stream);
}

static void put_paragraph(const manual *self, int first, int indent, const char *broken,
                          const char *text) {
    wrapping at = {.page = self, .indent = indent, .broken = broken};
    move_to(&at, first);
    put_words(&at, text);
}

/* ---- Roff ---- */

static const char *escape_of(char letter) {
    switch (letter) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-"; /* not a hyphen: options are pasted */
    case '\'':
        return "\\(aq";
    case '`':
        return "\\(ga";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

static void put_roff_word(FILE *stream, const char *word, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const char *escape = escape_of(word[i]);
        if (escape)
            fputs(escape, stream);
        else
            fputc(word[i], stream);
    }
}

static void put_roff(FILE *stream, const char *text) {
    put_roff_word(stream, text, strlen(text));
}

/* Words in lines of source, as groff and mandoc like them; none begins with a request. */
static void put_roff_words(FILE *stream, const char *text) {
    enum { SOURCE = 70 };
    size_t used = 0;
    for (const char *word = text + strspn(text, " "); *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        bool breaks = used > 0 && used + length >= SOURCE;
        if (used > 0)
            fputc(breaks ? '\n' : ' ', stream);
        used = breaks ? 0 : used;
        if (used == 0 && (*word == '.' || *word == '\''))
            fputs("\\&", stream);
        put_roff_word(stream, word, length);
        used += length + 1;
        word += length;
    }
    fputc('\n', stream);
}

/* After a request: one line. */
static void put_roff_line(FILE *stream, const char *text) {
    put_roff(stream, text);
    fputc('\n', stream);
}

static void put_upper(FILE *stream, const char *text) {
    char copy[64];
    size_t length = 0;
    for (; text[length] && length < sizeof copy - 1; length++)
        copy[length] = (char)toupper((unsigned char)text[length]);
    copy[length] = 0;
    put_roff(stream, copy);
}

/* ---- Parts of a page ---- */

void manual_title(manual *self, const char *name, int section, const char *summary) {
    if (!self->roff)
        return;
    fputs(".TH ", self->stream);
    put_upper(self->stream, name);
    fprintf(self->stream, " %d \"\" \"szego %s\" \"szego manual\"\n.SH NAME\n", section,
            szg_version());
    put_roff(self->stream, name);
    fputs(" \\-\n", self->stream);
    put_roff_words(self->stream, summary);
}

void manual_usage(manual *self, const char *name, const char *arguments) {
    if (self->roff) {
        fputs(".SH SYNOPSIS\n.B ", self->stream);
        put_roff_line(self->stream, name);
        if (*arguments)
            put_roff_words(self->stream, arguments);
        return;
    }
    wrapping at = {.page = self, .broken = ""};
    at.column = fprintf(self->stream, "Usage: %s", name);
    at.indent = self->width < NARROW ? HANGING : at.column + 1;
    at.begun = true;
    put_words(&at, arguments);
}

void manual_heading(manual *self, const char *text) {
    if (!self->roff) {
        char line[128];
        snprintf(line, sizeof line, "%s:", text);
        manual_paragraph(self, line);
        return;
    }
    fputs(".SH ", self->stream);
    put_upper(self->stream, text);
    fputc('\n', self->stream);
    self->after_heading = true;
}

void manual_paragraph(manual *self, const char *text) {
    if (self->roff) {
        fputs(self->after_heading ? "" : ".PP\n", self->stream);
        put_roff_words(self->stream, text);
        self->after_heading = false;
    } else {
        fputc('\n', self->stream);
        put_paragraph(self, 0, 0, "", text);
    }
}

void manual_lines(const manual *self, const char *text) {
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        char line[2048];
        length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        put_paragraph(self, 0, 0, "", line);
    }
}

void manual_item(manual *self, int level, int column, const char *term, const char *text) {
    if (self->roff) {
        fprintf(self->stream, "%s.TP\n.B ", level > 0 ? ".RS\n" : "");
        put_roff_line(self->stream, term);
        put_roff_words(self->stream, *text ? text : "");
        if (level > 0)
            fputs(".RE\n", self->stream);
        return;
    }
    int aligned = (int)strspn(term, " ");
    term += aligned;
    int left = INDENT * (level + 1) + aligned, end = left + columns_of(term, strlen(term));
    if (self->width < NARROW)
        column = left + HANGING;
    wrapping at = {.page = self, .indent = left + INDENT, .broken = ""};
    move_to(&at, left);
    if (end + INDENT > column) { /* the text has lines of its own */
        put_words(&at, term);
        if (*text)
            put_paragraph(self, column, column, "", text);
        return;
    }
    put_word(&at, term, strlen(term));
    at.indent = column;
    move_to(&at, column);
    put_words(&at, text);
}

void manual_example(manual *self, const char *line, const char *what) {
    if (self->roff) {
        fputs(".TP\n.B ", self->stream);
        put_roff_line(self->stream, line);
        put_roff_words(self->stream, what);
        return;
    }
    put_paragraph(self, INDENT, HANGING, " \\", line);
    put_paragraph(self, HANGING, HANGING, "", what);
}
