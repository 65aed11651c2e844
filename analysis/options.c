/* The options of a command line: the rows that say what there is, and the one parser that reads
 * them. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"

#include "command.h"
#include "help.h"

/* Help is an exit of its own. */
static void print_help(const command_option *row, void *field, const char *text,
                       struct argp_state *state) {
    const command_call *call = state->input;
    (void)field, (void)text;
    if (row->name && strcmp(row->name, "usage") == 0)
        help_usage(call->command, stdout);
    else
        help_command(call->command, stdout);
    exit(EXIT_DONE);
}

const command_option shared_option_rows[] = {
    OPTION(shared_options, output, "output", "PATH",
           "write results to PATH: a folder (DIR/, or a name without an extension) gets a CSV file "
           "for each table and manifest.json; FILE.csv, FILE.json and FILE.npy are one file",
           .letter = 'o'),
    OPTION(shared_options, format, "format", "FORMAT",
           "format on standard output: table (default), csv or json", .choices = "table|csv|json"),
    OPTION(shared_options, columns, "columns", "NAME[,NAME...]",
           "columns of a table on the screen (default: as many as fit into the width)",
           .list = &words_columns),
    OPTION(shared_options, wide, "wide", NULL,
           "every column of a table on the screen; a row longer than the line has one line per "
           "column"),
    OPTION(shared_options, notes, "notes", NULL, "print the notes below a table on the screen"),
    OPTION(shared_options, backend, "backend", "NAME",
           "cpu (default), reference, cuda (a GPU), or auto: a GPU if there is one, else cpu; "
           "cuda:tf32 (the default of cuda), cuda:f32 and cuda:bf16 choose the precision of a "
           "decoder's products; mpi (the default under mpirun): the processes share the work",
           .words = "cpu|reference|auto|cuda|cuda:f32|cuda:tf32|cuda:bf16|mpi"),
    OPTION(shared_options, threads, "threads", "N",
           "worker threads (default: one for each processor)", .least = 1, .most = 1024),
    OPTION(shared_options, seed, "seed", "S", "seed of every random number (default 0)",
           .most = INT64_MAX),
    {0}};

/* Those of every command, behind the others. */
static const command_option last_rows[] = {
    OPTION(shared_options, quiet, "quiet", NULL, "no notes and no progress bar", .letter = 'q'),
    OPTION_BY(print_help, shared_options, quiet, "help", NULL, "this page", .letter = 'h'),
    OPTION_BY(print_help, shared_options, quiet, NULL, NULL, NULL, .letter = '?'), /* as argp's */
    OPTION_BY(print_help, shared_options, quiet, "usage", NULL, "every option in a few lines"),
    {0}};

static int count_rows(const command_option *row) {
    int count = 0;
    while (row && row[count].kind != OPTION_END)
        count++;
    return count;
}

int option_count(const command *which) {
    return count_rows(which->options);
}

const command_option *option_at(const command *which, int i) {
    const command_option *common = which->common ? which->common : shared_option_rows;
    int own = option_count(which), more = own + count_rows(common);
    const command_option *row = i < own    ? &which->options[i]
                                : i < more ? &common[i - own]
                                           : &last_rows[i - more];
    return row->kind == OPTION_END ? NULL : row;
}

const command_option *option_operands(const command *which) {
    const command_option *row;
    for (int i = 0; (row = option_at(which, i)); i++)
        if (option_is_operand(row))
            return row;
    return NULL;
}

/* ---- One option ---- */

static void *field_of(const command_call *call, int i) {
    const command_option *row = option_at(call->command, i);
    bool own = i < option_count(call->command);
    return (own ? (char *)call->own : (char *)&call->shared) + row->field;
}

static void store_text(const command_option *row, const char **field, const char *text,
                       const char *name, struct argp_state *state) {
    if (row->choices)
        (void)parse_choice(state, name, text, row->choices);
    if (option_is_operand(row) && *field)
        argp_error(state, "%s; '%s' is a second one", row->doc, SHOWN(text));
    *field = text;
}

/* `text` NULL: the option takes none. */
static void store(const command_option *row, void *field, const char *text,
                  struct argp_state *state) {
    char name[64];
    if (row->name)
        snprintf(name, sizeof name, "--%s", row->name);
    else
        snprintf(name, sizeof name, "-%c", row->letter);
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = !row->choices || parse_choice(state, name, text, row->choices) == 1;
        return;
    case OPTION_CHOICE:
        *(int *)field = parse_choice(state, name, text, row->choices);
        return;
    case OPTION_INTEGER:
        *(int64_t *)field = parse_integer(state, name, text, row->least, row->most);
        return;
    case OPTION_REAL:
        *(double *)field = parse_real(state, name, text, row->low, row->high);
        return;
    case OPTION_TEXT:
        store_text(row, field, text, name, state);
        return;
    case OPTION_INTEGERS:
        parse_integer_list(state, name, text, row->least, row->most, field);
        return;
    case OPTION_TEXTS:
        parse_text(state, text, field);
        return;
    case OPTION_HOOK:
    case OPTION_END:
        return;
    }
}

static void take(command_call *call, int i, const char *text, struct argp_state *state) {
    const command_option *row = option_at(call->command, i);
    if (row->hook)
        row->hook(row, field_of(call, i), text, state);
    store(row, field_of(call, i), text, state);
    call->given |= (uint64_t)1 << i;
}

/* By this row or by another one of the field. */
static bool is_given(const command_call *call, const void *field) {
    for (int i = 0; option_at(call->command, i); i++)
        if (call->given >> i & 1 && field_of(call, i) == field)
            return true;
    return false;
}

/* What is not given: its fallback, or an error. */
static void complete(command_call *call, struct argp_state *state) {
    const command_option *row;
    for (int i = 0; (row = option_at(call->command, i)); i++) {
        if (is_given(call, field_of(call, i)))
            continue;
        if (row->missing)
            argp_error(state, "%s", row->missing);
        if (row->fallback)
            store(row, field_of(call, i), row->fallback, state);
    }
}

/* ---- Misspelt options ---- */

/* argp knows no hook for them: getopt prints its message before argp is told. So getopt_long walks
 * the words first, with the same tables, abbreviations and order. */
enum { FIRST_KEY = 256 };       /* beyond letters; that of row i is i more */
enum { FIRST_VALUE = 0x10000 }; /* of getopt's answers, beyond letters */

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

/* An option that acts on commands that compute, given to one that does not. */
static void check_common(const char *program, const char *word) {
    const char *name = word + strspn(word, "-");
    for (const command_option *row = shared_option_rows; row->kind != OPTION_END; row++)
        if (strlen(row->name) == strcspn(name, "=") &&
            strncmp(name, row->name, strlen(row->name)) == 0) {
            fprintf(stderr,
                    "%s: --%s is an option of commands that compute, and this one does not\n"
                    "Try `%s --help' or `%s --usage' for more information.\n",
                    program, row->name, program, program);
            exit(EXIT_USAGE);
        }
}

/* getopt prints a word as it stands: one with control characters is refused before. */
static bool is_plain(const char *word) {
    return strcmp(SHOWN(word), word) == 0;
}

/* Ends with the message of a misspelt option if another one may have been meant; argp tells the
 * rest. `option` ends with {0}. */
static void check_names(const struct argp_option *option, int argc, char **argv) {
    option_table table;
    char **words = calloc((size_t)argc + 1, sizeof *words); /* getopt changes their order */
    if (open_table(option, &table) && words) {
        memcpy(words, argv, (size_t)argc * sizeof *words);
        const char *refused = find_refused(&table, argc, words);
        if (refused)
            check_common(argv[0], refused);
        szgi_suggestion near = find_near(&table, refused ? refused : "--");
        if (refused && (near.word || !is_plain(refused)))
            refuse(argv[0], refused, &near);
    }
    free(words);
    close_table(&table);
}

/* ---- The command line ---- */

static int key_of(const command_option *row, int i) {
    return row->letter ? row->letter : row->name ? FIRST_KEY + i : ARGP_KEY_ARG;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    command_call *call = state->input;
    const command_option *row;
    if (key == ARGP_KEY_END) {
        complete(call, state);
        if (call->command->check)
            call->command->check(call, state);
        return 0;
    }
    for (int i = 0; (row = option_at(call->command, i)); i++)
        if (key_of(row, i) == key) {
            take(call, i, argument, state);
            return 0;
        }
    return ARGP_ERR_UNKNOWN;
}

/* argp's table of them, {0} at the end; NULL: no memory. */
static struct argp_option *list_options(const command *which) {
    int count = 0, used = 0;
    while (option_at(which, count))
        count++;
    struct argp_option *out = calloc((size_t)count + 1, sizeof *out);
    for (int i = 0; out && i < count; i++) {
        const command_option *row = option_at(which, i);
        if (!option_is_operand(row))
            out[used++] = (struct argp_option){
                .name = row->name, .key = key_of(row, i), .arg = row->argument, .doc = row->doc};
    }
    return out;
}

bool options_parse(command_call *call, int argc, char **argv) {
    struct argp_option *options = list_options(call->command);
    const struct argp argp = {.options = options, .parser = parse};
    char name[64];
    call->own = calloc(1, call->command->own_size + 1);
    if (!options || !call->own)
        return false;
    snprintf(name, sizeof name, "szego %s", call->command->name);
    argv[0] = name; /* argp's messages begin with it */
    check_names(options, argc, argv);
    /* Operands and options keep their order, that of SPECs too. Wrong usage ends inside of it. */
    bool done = argp_parse(&argp, argc, argv, ARGP_NO_HELP | ARGP_IN_ORDER, NULL, call) == 0;
    free(options);
    return done;
}

szg_status options_of_operand(command_call *call, const char *text) {
    const command_option *row;
    call->given = 0;
    SZG_TRY(
        szgi_memory_alloc(call->context, (int64_t)call->command->own_size, (char **)&call->own));
    for (int i = 0; (row = option_at(call->command, i)); i++)
        if (option_is_operand(row))
            take(call, i, text, NULL);
    return SZG_OK;
}

/* Several rows may fill one list. */
static void free_integers(integer_list *list) {
    szgi_memory_free(list->value);
    *list = (integer_list){0};
}

static void free_texts(text_list *list) {
    szgi_memory_free(list->value);
    *list = (text_list){0};
}

void options_close(command_call *call) {
    if (call->command->release)
        call->command->release(call);
    for (int i = 0; i < option_count(call->command); i++) {
        const command_option *row = &call->command->options[i];
        if (row->kind == OPTION_INTEGERS)
            free_integers(field_of(call, i));
        if (row->kind == OPTION_TEXTS)
            free_texts(field_of(call, i));
    }
    free(call->own);
}
