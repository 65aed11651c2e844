#include "words.h"

#include <string.h>

#include "base/schema.h"
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

/* Does a cell before this one have its name? */
static bool is_repeated(const szgi_schema *const *schemas, int64_t schema, int64_t cell) {
    const char *name = schemas[schema]->cell[cell].name;
    for (int64_t i = 0; i <= schema; i++)
        for (int64_t j = 0; j < (i < schema ? schemas[i]->cells : cell); j++)
            if (strcmp(schemas[i]->cell[j].name, name) == 0)
                return true;
    return false;
}

/* The columns that tables show on a screen, each once. */
static void print_columns(FILE *stream) {
    int64_t count;
    const szgi_schema *const *schemas = szgi_schemas(&count);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < schemas[i]->cells; j++)
            if (!is_repeated(schemas, i, j))
                fprintf(stream, "%s\n", schemas[i]->cell[j].name);
}

const word_list words_columns = {"columns", print_columns, WORDS_COMMAS};
const word_list words_encodings = {"encodings", print_encodings, WORDS_SPECS};
const word_list words_contents = {"contents", print_contents, WORDS_SPECS};
const word_list words_claims = {"claims", print_claims, WORDS_PLAIN};
const word_list words_presets = {"presets", print_presets, WORDS_PLAIN};
const word_list words_items = {"items", print_items, WORDS_PLAIN};
const word_list words_keys = {"keys", print_keys, WORDS_ASSIGNMENTS};
const word_list words_topics = {"topics", help_list_topics, WORDS_PLAIN};
