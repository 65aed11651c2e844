/* The frame of the program: what a command is, and what every command shares. A command file holds
 * options and the order of library calls; it has no mathematics and knows no file format. */
#ifndef SZG_ANALYSIS_COMMAND_H
#define SZG_ANALYSIS_COMMAND_H

#include <argp.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include "formats/result.h"
#include "train/config/train_config.h"

#include "words.h"

/* Exit codes of the program. */
enum {
    EXIT_DONE = 0,
    EXIT_INTERNAL = 1,
    EXIT_USAGE = 2,
    EXIT_DATA = 3,
    EXIT_DIFFERS = 4,
    EXIT_BACKEND = 5,
    EXIT_INTERRUPTED = 130
};

/* Options that commands share; the frame parses them. */
typedef struct shared_options {
    const char *output;  /* -o: DIR/, FILE.csv, FILE.json, FILE.npy; NULL: stdout */
    const char *format;  /* --format: table, csv, json; NULL: table on stdout */
    const char *backend; /* --backend: auto, cpu, reference, cuda, mpi */
    int64_t threads;     /* --threads; 0: all */
    uint64_t seed;       /* --seed */
    const char *columns; /* --columns: "a,b"; NULL: those that fit */
    bool wide;           /* --wide: every column */
    bool notes;          /* --notes: those of a table are printed, not counted */
    bool quiet;          /* --quiet: no notes, no progress bar */
} shared_options;

/* A training by its name in the tables, and its configuration. */
typedef struct configured_run {
    const char *name;
    const szg_train_config *config;
} configured_run;

typedef struct command_call {
    const struct command *command;
    shared_options shared;
    void *own;      /* the command's own options: own_size zeroed bytes */
    uint64_t given; /* bit i: row i of option_at was on the command line */
    szg_context *context;
    struct terminal *screen;        /* its line is erased before results are printed */
    const szg_train_config *config; /* of a training: goes into the provenance; NULL: none */
    const configured_run *runs;     /* in its place, where the result is of several trainings */
    int64_t run_count;
    const char *preset; /* JSON that the trainings came from, for the provenance; NULL: none */
    bool locked;        /* the command holds the lock of the folder that -o names */
    int code;           /* exit code of a script that has said why it failed; 0: of the status */
    int argc;           /* the whole command line, for provenance */
    char **argv;
} command_call;

/* A command line that help shows, and what it does. The suite runs each. */
typedef struct command_example {
    const char *line, *what;
} command_example;

/* A growing list of integers, for options such as -n 512,1024. */
typedef struct integer_list {
    int64_t *value;
    int64_t count;
} integer_list;

/* A growing list of option texts (not copied), for options that may be given several times. */
typedef struct text_list {
    const char **value;
    int64_t count;
} text_list;

typedef struct command_option command_option;

/* What an option does with its text besides being stored, or, of OPTION_HOOK, in place of it.
 * `field` is that of the row. Usage errors: argp_error(state, ...), exit 2. */
typedef void option_hook(const command_option *row, void *field, const char *text,
                         struct argp_state *state);

/* How an option's text becomes the value of its field. */
typedef enum option_kind {
    OPTION_END,
    OPTION_HOOK,     /* the row's hook knows */
    OPTION_FLAG,     /* bool; with `choices`: whether it is the second of them */
    OPTION_CHOICE,   /* int or enum: the place among `choices` */
    OPTION_INTEGER,  /* int64_t in least .. most */
    OPTION_REAL,     /* double in low .. high */
    OPTION_TEXT,     /* one of `choices`, if there are such */
    OPTION_INTEGERS, /* integer_list: "512,1024", appended */
    OPTION_TEXTS     /* text_list: appended */
} option_kind;

/* One option, or, without name and letter, the operands. Parser, help, man page and completion read
 * it. */
struct command_option {
    option_kind kind;
    size_t field;          /* offset in the command's own options */
    const char *name;      /* without its hyphens; NULL: a letter alone */
    const char *argument;  /* "FILE", for help; NULL: it takes none */
    const char *doc;       /* of an operand that may be given once, "one DIR is reported"; NULL: the
                              option is not shown */
    int letter;            /* 0: none */
    int64_t least, most;   /* of integers */
    double low, high;      /* of a real number */
    const char *choices;   /* "a|b|c": there are no others */
    const char *words;     /* "a|b|c": for completion alone */
    const word_list *list; /* likewise, words that are computed */
    const char *fallback;  /* the text where no row of the field is given; NULL: zeros */
    const char *missing;   /* in its place, the usage error; NULL: none */
    const char *key;       /* for the hook */
    option_hook *hook;
};

/* clang-format off */
#define OPTION_KIND(type, member)                                                                  \
    _Generic(((type *)0)->member, bool: OPTION_FLAG, int: OPTION_CHOICE, unsigned: OPTION_CHOICE,  \
             int64_t: OPTION_INTEGER, uint64_t: OPTION_INTEGER, double: OPTION_REAL,               \
             const char *: OPTION_TEXT, integer_list: OPTION_INTEGERS, text_list: OPTION_TEXTS)
/* clang-format on */

/* A row: name, argument, doc, and what else it has by name. The kind follows from the field's type;
 * OPTION_BY's hook does all. */
#define OPTION(type, member, ...)                                                                  \
    { .kind = OPTION_KIND(type, member), .field = offsetof(type, member), __VA_ARGS__ }
#define OPTION_BY(take, type, member, ...)                                                         \
    { .kind = OPTION_HOOK, .field = offsetof(type, member), __VA_ARGS__, .hook = take }

typedef struct command {
    const char *name;
    const char *summary;           /* one clause for `szego --help` */
    const char *doc;               /* what --help says before the options */
    const command_option *options; /* letters are none of the shared ones; {0} at the end; NULL */
    size_t own_size;               /* of the struct that they fill */
    const command_option
        *common; /* of a command that computes nothing: those of shared_options
                    that act on it, in place of shared_option_rows; {0} at the end */
    /* Completes and checks the options together, once all are there; NULL: nothing to do. */
    void (*check)(command_call *call, struct argp_state *state);
    /* Runs and writes the results. On failure the frame prints the context's message and exits with
     * the status's code. SZG_ENOCONV stands for "a verdict differs" too. */
    szg_status (*run)(command_call *call);
    void (*release)(command_call *call); /* frees what hooks allocated; NULL: nothing */
    const command_example *examples;     /* two or three, that --help begins with; {0} at the end */
    bool shared;        /* processes that are started together share the work, or do it alike */
    const char *topics; /* of `szego help` that go with it: "specs"; NULL: none */
    const char *needs;  /* of a script (script.h), Python's modules: "numpy scipy"; NULL: none */
} command;

/* Adds preset and configurations of the call to the provenance: `config` where all trainings agree
 * in it, else `configs`, a list of {"runs": [NAME, ...], "config": {...}}. */
SZG_CHECK_RESULT szg_status echo_configurations(const command_call *call, szgi_json *provenance);

/* Whether what is going to be computed can be written where -o says: SZG_EINVAL, SZG_EIO. */
SZG_CHECK_RESULT szg_status output_check(const command_call *call);

/* A result of `count` tables, which it takes over (places that hold NULL are passed over), with a
 * provenance that says what ran: backend, BLAS, threads, seed, arguments. */
SZG_CHECK_RESULT szg_status output_collect(command_call *call, size_t count,
                                           szg_table **const *tables, szg_result **out);

/* The same, written where -o says, or printed on standard output as --format says. `table` is the
 * one that a single-table format takes; NULL: the first. */
SZG_CHECK_RESULT szg_status output_tables(command_call *call, size_t count,
                                          szg_table **const *tables, const char *table);

/* The same, written into the folder or file `path`, whatever -o says, without a word. */
SZG_CHECK_RESULT szg_status output_tables_to(command_call *call, const char *path, size_t count,
                                             szg_table **const *tables);

/* Finds the file `name` in the first of `places` (NULL at the end) that has it: folders, each with
 * its last '/', relative to the program's own folder or absolute. False: nowhere; `path` is then
 * the last place. */
bool place_find(const char *const *places, const char *name, char path[PATH_MAX]);

/* The file of a preset that comes with the program: beside it in a build, in the data folder of an
 * installation that may have been moved, or where it was installed. False: nowhere. */
bool preset_find(const char *name, char path[PATH_MAX]);

/* The file that --preset names: that of such a preset, or a file that the user names. SZG_EINVAL:
 * neither; SZG_EIO: it is not installed. */
SZG_CHECK_RESULT szg_status preset_path(const command_call *call, const char *name,
                                        char path[PATH_MAX]);

/* Every command, NULL at the end; one file each. */
extern const command *const command_table[];

/* Row `i` of the command's own options, then of those that it shares with others; NULL behind the
 * last one. */
const command_option *option_at(const command *which, int i);
int option_count(const command *which); /* of its own */
/* The options that every command takes that computes, {0} at the end. */
extern const command_option shared_option_rows[];

static inline bool option_is_operand(const command_option *row) {
    return !row->name && !row->letter;
}
/* The row of the operands; NULL: there are none. */
const command_option *option_operands(const command *which);

/* Fills call->own and call->shared from the command line; wrong usage ends the program. False: no
 * memory. */
bool options_parse(command_call *call, int argc, char **argv);
/* Fills call->own with the one operand `text`, without a command line. */
SZG_CHECK_RESULT szg_status options_of_operand(command_call *call, const char *text);
void options_close(command_call *call);

/* Whole-argument numbers; argp_error with the option's name and the range on anything else. */
int64_t parse_integer(struct argp_state *state, const char *option, const char *text, int64_t least,
                      int64_t most);
double parse_real(struct argp_state *state, const char *option, const char *text, double least,
                  double most);

/* Index of `text` among "a|b|c"; argp_error lists them. */
int parse_choice(struct argp_state *state, const char *option, const char *text,
                 const char *choices);

/* Appends the comma-separated integers of `text`. Free list->value with szgi_memory_free. */
void parse_integer_list(struct argp_state *state, const char *option, const char *text,
                        int64_t least, int64_t most, integer_list *list);

void parse_text(struct argp_state *state, const char *text, text_list *list);

/* The configuration file of a checkpoint whose examples are in the file `data`: what it says of a
 * task, or leaves to the profile, need not fit the model. */
SZG_CHECK_RESULT szg_status read_config_for_data(szg_context *context, const char *path,
                                                 const char *data, szg_train_config *out);

#endif
