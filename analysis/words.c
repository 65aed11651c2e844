#include "words.h"

#include <string.h>

#include "coupling/coupling.h"
#include "encoding/encoding.h"
#include "theory/claims.h"
#include "train/config/train_config.h"

#include "bench.h"
#include "help.h"

const char preset_names[] = SZEGO_PRESET_NAMES;

static void print_choices(FILE *stream, const char *before, const char *choices) {
    for (const char *word = choices; word;) {
        int length = (int)strcspn(word, "|");
        fprintf(stream, "%s%.*s\n", before, length, word);
        word = word[length] ? word + length + 1 : NULL;
    }
}

static void print_class(FILE *stream, const szgi_spec_class *class) {
    char before[128];
    fprintf(stream, "%s\n", class->name);
    for (int64_t i = 0; i < class->keys; i++) {
        snprintf(before, sizeof before, "%s:%s=", class->name, class->key[i].name);
        fprintf(stream, "%s\n", before);
        print_choices(stream, before, class->key[i].choices);
    }
}

static void print_encodings(FILE *stream) {
    for (int64_t i = 0; i < szgi_encoding_classes(); i++)
        print_class(stream, szgi_encoding_class_at(i));
}

static void print_contents(FILE *stream) {
    for (int64_t i = 0; i < szgi_content_classes(); i++)
        print_class(stream, szgi_content_class_at(i));
}

static void print_claims(FILE *stream) {
    for (int64_t i = 0; i < szg_claim_count(); i++)
        fprintf(stream, "%s\n", szg_claim_at(i)->id);
}

static void print_presets(FILE *stream) {
    print_choices(stream, "", preset_names);
}

static void print_items(FILE *stream) {
    for (const bench_item *item = bench_items; item->name; item++)
        fprintf(stream, "%s\n", item->name);
}

static void print_keys(FILE *stream) {
    const szgi_config_key *key;
    for (int64_t i = 0; (key = szgi_train_config_key(i)); i++) {
        char before[128];
        snprintf(before, sizeof before, "%s=", key->name);
        fprintf(stream, "%s\n", before);
        print_choices(stream, before, key->choices);
    }
}

/* The columns that tables show on a screen, each once. */
static void print_columns(FILE *stream) {
#define CELL(table, priority, column) #column,
#define EMPTY(table, priority, column, stands_for) #column,
#define WORD(table, priority, column) #column,
#define PROSE(table, priority, column) #column,
#define NAMED(table, priority, column, heading, unicode) #column,
#define RANGE(table, priority, name, lower, upper) #name,
#define BOUND(table, priority, name, heading, unicode, lower, upper, where, is) #name,
    static const char *const columns[] = {
#include "display.def"
    };
#undef CELL
#undef EMPTY
#undef WORD
#undef PROSE
#undef NAMED
#undef RANGE
#undef BOUND
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        size_t first = 0;
        while (strcmp(columns[first], columns[i]) != 0)
            first++;
        if (first == i)
            fprintf(stream, "%s\n", columns[i]);
    }
}

const word_list words_columns = {"columns", print_columns, WORDS_COMMAS};
const word_list words_encodings = {"encodings", print_encodings, WORDS_SPECS};
const word_list words_contents = {"contents", print_contents, WORDS_SPECS};
const word_list words_claims = {"claims", print_claims, WORDS_PLAIN};
const word_list words_presets = {"presets", print_presets, WORDS_PLAIN};
const word_list words_items = {"items", print_items, WORDS_PLAIN};
const word_list words_keys = {"keys", print_keys, WORDS_ASSIGNMENTS};
const word_list words_topics = {"topics", help_list_topics, WORDS_PLAIN};
