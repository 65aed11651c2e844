/* Misspelt options. argp knows no hook for them: getopt prints its message before argp is told. So
 * getopt_long walks the words first, with the same tables, abbreviations and order. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"

#include "command.h"

enum { FIRST_VALUE = 0x10000, FIRST_KEY = 256 }; /* beyond letters */

typedef struct option_table {
    struct option *name; /* ends with zeros */
    int names;
    char *letters; /* getopt's third argument */
    size_t length;
} option_table;

static void add_option(option_table *table, const struct argp_option *option) {
    if (option->name) {
        table->name[table->names] =
            (struct option){option->name, option->arg ? required_argument : no_argument, NULL,
                            FIRST_VALUE + table->names};
        table->names++;
    }
    if (option->key < FIRST_KEY && option->key != '?') { /* getopt answers '?' to errors */
        table->letters[table->length++] = (char)option->key;
        if (option->arg)
            table->letters[table->length++] = ':';
    }
}

static bool open_table(const struct argp_option *option, option_table *out) {
    size_t count = 0;
    while (option[count].key)
        count++;
    *out = (option_table){.name = calloc(count + 1, sizeof *out->name),
                          .letters = calloc(2 * count + 2, 1)};
    if (!out->name || !out->letters)
        return false;
    out->letters[out->length++] = '-'; /* operands in their order, as for argp */
    for (; option->key; option++)
        add_option(out, option);
    return true;
}

static void close_table(option_table *table) {
    free(table->name);
    free(table->letters);
}

/* The first word that getopt refuses for its name; NULL: none, or --help comes before it. */
static const char *find_refused(const option_table *table, int argc, char **argv) {
    opterr = 0;
    optind = 0; /* from the start, also of glibc's own state */
    for (int found; (found = getopt_long(argc, argv, table->letters, table->name, NULL)) != -1;) {
        bool named = found >= FIRST_VALUE;
        const char *name = named ? table->name[found - FIRST_VALUE].name : "";
        if (found == 'h' || strcmp(name, "help") == 0 || strcmp(name, "usage") == 0)
            return NULL;
        if (found != '?') /* an operand, or another option */
            continue;
        if (optopt == 0) /* a long name */
            return argv[optind - 1];
        const char *word = optind < argc ? argv[optind] : ""; /* -pe, for --pe */
        return word[0] == '-' && word[1] == optopt && strchr(table->letters, optopt) == NULL ? word
                                                                                             : NULL;
    }
    return NULL;
}

static szgi_suggestion find_near(const option_table *table, const char *word) {
    const char *name = word + strspn(word, "-");
    szgi_suggestion near = szgi_suggest_begin(name, strcspn(name, "="));
    for (int i = 0; i < table->names; i++) {
        const char *known = table->name[i].name;
        bool ambiguous = word[1] == '-' && strncmp(known, name, near.length) == 0;
        if (ambiguous) /* argp lists what begins so */
            return szgi_suggest_begin(name, 0);
        szgi_suggest(&near, known, strlen(known));
    }
    return near;
}

static _Noreturn void refuse(const char *program, const char *word, const szgi_suggestion *near) {
    int length = near->word ? (int)(near->text + near->length - word) : SZGI_SHOWN;
    fprintf(stderr, "%s: unrecognized option '%.*s'", program, length, SHOWN(word));
    if (near->word)
        fprintf(stderr, ": did you mean --%s?", near->word);
    fprintf(stderr, "\nTry `%s --help' or `%s --usage' for more information.\n", program, program);
    exit(EXIT_USAGE);
}

/* getopt prints a word as it stands: one with control characters is refused before. */
static bool is_plain(const char *word) {
    return strcmp(SHOWN(word), word) == 0;
}

void option_names_check(const struct argp_option *option, int argc, char **argv) {
    option_table table;
    char **words = calloc((size_t)argc + 1, sizeof *words); /* getopt changes their order */
    if (open_table(option, &table) && words) {
        memcpy(words, argv, (size_t)argc * sizeof *words);
        const char *refused = find_refused(&table, argc, words);
        szgi_suggestion near = find_near(&table, refused ? refused : "--");
        if (refused && (near.word || !is_plain(refused)))
            refuse(argv[0], refused, &near);
    }
    free(words);
    close_table(&table);
}
