#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/formula.h"
#include "base/text.h"

/* ---- Pieces of a text ---- */

enum { LONGEST = 256 }; /* characters of a formula */

static bool is_formula(const char *begin, size_t length) {
    if (length == 0 || length > LONGEST)
        return false;
    for (size_t i = 0; i < length; i++)
        if (begin[i] < ' ' || begin[i] > '~')
            return false;
    return true;
}

bool szgi_prose_next(const char **text, szgi_prose_piece *out) {
    const char *begin = *text, *open = begin;
    if (!*begin)
        return false;
    for (; (open = strchr(open, '`')); open++) {
        const char *close = strchr(open + 1, '`');
        if (!close)
            break;
        if (!is_formula(open + 1, (size_t)(close - open - 1)))
            continue;
        if (open > begin) {
            *text = open;
            *out = (szgi_prose_piece){begin, (size_t)(open - begin), false};
        } else {
            *text = close + 1;
            *out = (szgi_prose_piece){open + 1, (size_t)(close - open - 1), true};
        }
        return true;
    }
    *out = (szgi_prose_piece){begin, strlen(begin), false};
    *text = begin + out->length;
    return true;
}

/* ---- Signs ---- */

typedef enum kind { ROW, LETTER, NUMBER, WORD, NAME, SIGN, SPACE } kind;

/* What is written out in the source. NAME: a function, upright. */
static const struct sign {
    const char *source, *unicode;
    kind kind;
} signs[] = {
    {"theta", "θ", LETTER},  {"alpha", "α", LETTER}, {"beta", "β", LETTER},  {"rho", "ρ", LETTER},
    {"lambda", "λ", LETTER}, {"sigma", "σ", LETTER}, {"omega", "ω", LETTER}, {"pi", "π", LETTER},
    {"inf", "∞", LETTER},    {"sum", "∑", SIGN},     {"o", "∘", SIGN},       {"max", "max", NAME},
    {"min", "min", NAME},    {"cos", "cos", NAME},   {"sin", "sin", NAME},   {"exp", "exp", NAME},
    {"ln", "ln", NAME},      {"rank", "rank", NAME}, {"mod", "mod", NAME},   {"conj", "conj", NAME},
    {"Re", "Re", NAME},      {"Im", "Im", NAME},     {"iff", "⟺", SIGN},     {"<=", "≤", SIGN},
    {">=", "≥", SIGN},       {"!=", "≠", SIGN},      {"->", "→", SIGN},      {"+-", "±", SIGN},
    {"...", "…", SIGN},      {"~", "∼", SIGN},       {"-", "−", SIGN},
};
enum { SIGNS = sizeof signs / sizeof *signs };

static const struct sign *find_sign(const char *text, size_t length) {
    for (int i = 0; i < SIGNS; i++)
        if (strlen(signs[i].source) == length && memcmp(signs[i].source, text, length) == 0)
            return &signs[i];
    return NULL;
}

/* ---- Reading ---- */

enum { NODES = 2 * LONGEST, DEPTH = 8 };

/* Links are indices of nodes; 0, the whole formula, is nobody's link and stands for none. */
typedef struct node {
    kind kind;
    bool bar; /* over it */
    uint16_t offset, length;
    const struct sign *sign; /* NULL: as it stands */
    int first;               /* of a ROW */
    int next;                /* in the row of both */
    int below, above;        /* rows */
} node;

typedef struct formula {
    const char *text;
    size_t length, at;
    int depth, count;
    bool failed; /* too much of it, or a brace that nothing closes */
    node node[NODES];
} formula;

static int new_node(formula *self, kind of, size_t length) {
    if (self->count == NODES) {
        self->failed = true;
        return 0;
    }
    self->node[self->count] =
        (node){.kind = of, .offset = (uint16_t)self->at, .length = (uint16_t)length};
    self->at += length;
    return self->count++;
}

static size_t run_of(const formula *self, int (*belongs)(int)) {
    size_t end = self->at;
    while (end < self->length && belongs((unsigned char)self->text[end]))
        end++;
    return end - self->at;
}

static int is_number(int byte) {
    return isdigit(byte) || byte == '.';
}

/* Three dots, a relation of two characters, else one. */
static size_t sign_length(const formula *self) {
    for (size_t length = 3; length > 1; length--)
        if (self->at + length <= self->length && find_sign(self->text + self->at, length))
            return length;
    return 1;
}

static int read_word(formula *self) {
    size_t length = run_of(self, isalpha);
    const char *word = self->text + self->at;
    bool bar = length > 3 && memcmp(word + length - 3, "bar", 3) == 0;
    size_t stem = bar ? length - 3 : length;
    const struct sign *sign = find_sign(word, stem);
    int index = new_node(self, sign ? sign->kind : stem == 1 ? LETTER : WORD, length);
    self->node[index].length = (uint16_t)stem;
    self->node[index].sign = sign;
    self->node[index].bar = bar;
    return index;
}

/* One thing without its scripts; the caller knows that something is left. */
static int read_atom(formula *self) {
    unsigned char byte = (unsigned char)self->text[self->at];
    if (byte == ' ')
        return new_node(self, SPACE, run_of(self, isspace));
    if (isalpha(byte))
        return read_word(self);
    if (isdigit(byte))
        return new_node(self, NUMBER, run_of(self, is_number));
    size_t length = sign_length(self);
    const struct sign *sign = find_sign(self->text + self->at, length);
    int index = new_node(self, SIGN, length);
    self->node[index].sign = sign;
    return index;
}

static int read_row(formula *self, bool braced);

/* Letters one by one, so that ij is i and j, unless all of them are one sign. */
static int read_run(formula *self) {
    int row = new_node(self, ROW, 0), *link = &self->node[row].first;
    size_t letters = run_of(self, isalpha), end = self->at + run_of(self, isalnum);
    if (letters > 0 && find_sign(self->text + self->at, letters)) {
        *link = read_word(self);
        link = &self->node[*link].next;
    }
    while (self->at < end && !self->failed) {
        bool digit = isdigit((unsigned char)self->text[self->at]) != 0;
        *link = new_node(self, digit ? NUMBER : LETTER, digit ? run_of(self, isdigit) : 1);
        link = &self->node[*link].next;
    }
    return row;
}

/* What follows _ or ^. */
static int read_script(formula *self) {
    self->at++;
    if (self->at == self->length || self->text[self->at] == ' ') {
        self->failed = true;
        return 0;
    }
    if (self->text[self->at] == '{') {
        self->at++;
        return read_row(self, true);
    }
    if (isalnum((unsigned char)self->text[self->at]))
        return read_run(self);
    int row = new_node(self, ROW, 0), sign = read_atom(self);
    self->node[row].first = sign;
    return row;
}

static void read_scripts(formula *self, int base) {
    while (self->at < self->length && !self->failed) {
        char mark = self->text[self->at];
        int *script = mark == '_'   ? &self->node[base].below
                      : mark == '^' ? &self->node[base].above
                                    : NULL;
        if (!script || *script)
            return;
        *script = read_script(self);
    }
}

/* Up to the end, or to the brace that closes it, which is taken too. A brace within is a sign that
 * another closes. */
static int read_row(formula *self, bool braced) {
    int row = new_node(self, ROW, 0), *link = &self->node[row].first, open = 0;
    if (++self->depth > DEPTH)
        self->failed = true;
    while (self->at < self->length && !self->failed) {
        char byte = self->text[self->at];
        if (braced && byte == '}' && open == 0)
            break;
        open += byte == '{' ? 1 : byte == '}' ? -1 : 0;
        int atom = read_atom(self);
        if (self->node[atom].kind != SPACE)
            read_scripts(self, atom);
        *link = atom;
        link = &self->node[atom].next;
    }
    if (braced && self->at++ >= self->length)
        self->failed = true;
    self->depth--;
    return row;
}

static bool read_formula(const szgi_prose_piece *from, formula *out) {
    if (from->length > LONGEST)
        return false;
    *out = (formula){.text = from->text, .length = from->length};
    read_row(out, false);
    return !out->failed;
}

/* ---- Writing ---- */

static const char lowered[] = "0123456789+-=()aehijklmnoprstuvx";
static const char *const lower[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉", "₊",
                                    "₋", "₌", "₍", "₎", "ₐ", "ₑ", "ₕ", "ᵢ", "ⱼ", "ₖ", "ₗ",
                                    "ₘ", "ₙ", "ₒ", "ₚ", "ᵣ", "ₛ", "ₜ", "ᵤ", "ᵥ", "ₓ"};
static const char raised[] = "0123456789+-=()inT*";
static const char *const raise[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹",
                                    "⁺", "⁻", "⁼", "⁽", "⁾", "ⁱ", "ⁿ", "ᵀ", "*"};

/* Whether every character of a plain row has its script; if so, writes them. */
static bool put_small(const formula *from, int row, const char *known, const char *const *small,
                      FILE *stream) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = from->node[row].first; i; i = from->node[i].next) {
            const node *one = &from->node[i];
            if (one->kind == WORD || one->kind == NAME || one->bar || one->below || one->above)
                return false;
            for (int k = 0; k < one->length; k++) {
                const char *at = strchr(known, from->text[one->offset + k]);
                if (!at || (one->sign && one->length > 1))
                    return false;
                if (pass == 1)
                    fputs(small[at - known], stream);
            }
        }
    return true;
}

/* A node with its scripts. */
static void put_unicode(const formula *from, int index, FILE *stream);

static void put_row(const formula *from, int row, FILE *stream) {
    for (int i = from->node[row].first; i; i = from->node[i].next)
        put_unicode(from, i, stream);
}

static void put_script(const formula *from, int row, char mark, FILE *stream) {
    if (!row)
        return;
    if (mark == '_' ? put_small(from, row, lowered, lower, stream)
                    : put_small(from, row, raised, raise, stream))
        return;
    int first = from->node[row].first;
    bool one = first && !from->node[first].next;
    fprintf(stream, one ? "%c" : "%c{", mark);
    put_row(from, row, stream);
    if (!one)
        putc('}', stream);
}

static void put_unicode(const formula *from, int index, FILE *stream) {
    const node *one = &from->node[index];
    if (one->sign)
        fputs(one->sign->unicode, stream);
    else
        fwrite(from->text + one->offset, 1, one->length, stream);
    if (one->bar)
        fputs("\xCC\x84", stream); /* combining macron */
    put_script(from, one->below, '_', stream);
    put_script(from, one->above, '^', stream);
}

bool szgi_formula_put(const szgi_prose_piece *formula_text, szgi_formula_form form, FILE *stream) {
    formula parsed;
    bool set = read_formula(formula_text, &parsed);
    if (set && form == SZGI_FORMULA_UNICODE)
        put_row(&parsed, 0, stream);
    else
        fwrite(formula_text->text, 1, formula_text->length, stream);
    return set;
}

void szgi_prose_put(const char *text, szgi_formula_form form, FILE *stream) {
    szgi_prose_piece piece;
    while (szgi_prose_next(&text, &piece))
        if (piece.formula)
            szgi_formula_put(&piece, form, stream);
        else
            fwrite(piece.text, 1, piece.length, stream);
}
