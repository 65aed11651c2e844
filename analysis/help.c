#include "help.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/formula.h"
#include "base/suggest.h"
#include "base/text.h"
#include "coupling/coupling.h"
#include "encoding/encoding.h"
#include "theory/claims.h"
#include <szego/reproduce.h>

#include "display.h"
#include "manual.h"
#include "terminal.h"

/* Where the texts of a list begin. */
enum { COLUMN_COMMANDS = 14, COLUMN_TOPICS = 22, COLUMN_OPTIONS = 27, COLUMN_KEYS = 28 };

static const char about[] =
    "What positional encodings do to the spectrum of attention logits: kernels, symbols with "
    "certified bounds, trained checkpoints, and a ledger of the theory's claims.";

static const char exit_status[] =
    "0 done, 1 internal or input/output error, 2 wrong usage, 3 bad data, 4 not converged or a "
    "verdict that differs, 5 backend or Python package missing, 130 interrupted";

const command *command_find(const char *name) {
    for (const command *const *at = command_table; *at; at++)
        if (strcmp((*at)->name, name) == 0)
            return *at;
    return NULL;
}

/* ---- Options ---- */

enum { TERM = 128 };

/* "-o, --output=PATH", "    --all", "-n N". `letter` 0: none is shown. */
static void name_option(const command_option *option, int letter, bool aligned, char text[TERM]) {
    char short_name[8] = "", name[TERM / 2] = "";
    const char *argument = option->argument ? option->argument : "";
    if (letter)
        snprintf(short_name, sizeof short_name, "-%c%s", letter, option->name ? ", " : "");
    else if (aligned)
        snprintf(short_name, sizeof short_name, "    ");
    if (option->name)
        snprintf(name, sizeof name, "--%s%s", option->name, *argument ? "=" : "");
    else if (*argument)
        snprintf(name, sizeof name, " ");
    snprintf(text, TERM, "%s%s%s", short_name, name, argument);
}

/* Row `i` of option_at and the like, which is shown; NULL behind the last one. */
static const command_option *shown_at(const command *which, int *i) {
    const command_option *option = option_at(which, *i);
    while (option && (option_is_operand(option) || !option->doc))
        option = option_at(which, ++*i);
    return option;
}

static void put_options(manual *page, const command *which) {
    const command_option *option;
    const char *heading = "Options";
    int own = option_count(which);
    for (int i = 0; (option = shown_at(which, &i)); i++) {
        char term[TERM];
        if (i >= own && !which->common) {
            heading = "Options of every command";
            own = INT_MAX;
        }
        if (heading)
            manual_heading(page, heading);
        heading = NULL;
        name_option(option, option->letter, !page->roff, term);
        manual_item(page, 0, COLUMN_OPTIONS, term, option->doc);
    }
}

static void list_options(FILE *stream, const command *which) {
    const command_option *option;
    for (int i = 0; (option = shown_at(which, &i)); i++) {
        char term[TERM];
        name_option(option, option->name ? 0 : option->letter, false, term);
        fprintf(stream, "[%s] ", term);
    }
}

/* ---- A command ---- */

static _Noreturn void end_without_memory(void) {
    terminal_line("", "out of memory for the help");
    exit(EXIT_INTERNAL);
}

static void put_usage(manual *page, const command *which, bool whole) {
    char name[64];
    const command_option *operands = option_operands(which);
    szgi_text arguments;
    if (szgi_text_open(NULL, &arguments) != SZG_OK)
        end_without_memory();
    snprintf(name, sizeof name, "szego %s", which->name);
    if (whole) {
        list_options(arguments.stream, which);
    } else {
        fputs("[OPTION...] ", arguments.stream);
    }
    fputs(operands ? operands->argument : "", arguments.stream);
    if (szgi_text_end(&arguments, SZG_OK) != SZG_OK)
        end_without_memory();
    manual_usage(page, name, arguments.text);
    szgi_text_close(&arguments);
}

static void put_examples(manual *page, const command *which) {
    manual_heading(page, "Examples");
    for (const command_example *at = which->examples; at && at->line; at++)
        manual_example(page, at->line, at->what);
}

static void put_exit_status(manual *page) {
    char text[512];
    if (page->roff)
        manual_heading(page, "Exit status");
    snprintf(text, sizeof text, "%s%s.", page->roff ? "" : "Exit status: ", exit_status);
    manual_paragraph(page, text);
}

static void put_see_also(manual *page, const char *pages) {
    if (!page->roff)
        return;
    manual_heading(page, "See also");
    manual_paragraph(page, pages);
}

static void put_command(manual *page, const command *which) {
    char title[64], more[128];
    snprintf(title, sizeof title, "szego-%s", which->name);
    manual_title(page, title, 1, which->summary);
    put_usage(page, which, false);
    put_examples(page, which);
    if (page->roff)
        manual_heading(page, "Description");
    manual_paragraph(page, which->doc);
    if (which->topics) {
        snprintf(more, sizeof more, "`szego help %s` lists the %s.", which->topics,
                 strcmp(which->topics, "specs") == 0 ? "encodings and their keys" : which->topics);
        manual_paragraph(page, more);
    }
    put_options(page, which);
    put_exit_status(page);
    put_see_also(page, "szego(1), szego-specs(7)");
}

void help_command(const command *which, FILE *stream) {
    manual page = manual_text(stream);
    put_command(&page, which);
}

void help_usage(const command *which, FILE *stream) {
    manual page = manual_text(stream);
    put_usage(&page, which, true);
}

/* ---- Topics ---- */

/* "dim=2..65536", "pairing=interleaved|half". */
static void name_key(const szgi_key *key, char text[TERM]) {
    switch (key->type) {
    case SZGI_KEY_TEXT:
        snprintf(text, TERM, "%s=FILE", key->name);
        break;
    case SZGI_KEY_CHOICE:
        snprintf(text, TERM, "%s=%s", key->name, key->choices);
        break;
    case SZGI_KEY_LIST:
        snprintf(text, TERM, "%s=LIST", key->name);
        break;
    default:
        snprintf(text, TERM, "%s=%.7g..%.7g", key->name, key->min, key->max);
    }
}

static void put_key(manual *page, const szgi_key *key) {
    char term[TERM], text[512];
    name_key(key, term);
    if (key->required)
        snprintf(text, sizeof text, "%s (required)", key->doc);
    else if (key->fallback)
        snprintf(text, sizeof text, "%s (default %s)", key->doc, key->fallback);
    else
        snprintf(text, sizeof text, "%s", key->doc);
    manual_item(page, 1, COLUMN_KEYS, term, text);
}

static void put_class(manual *page, const szgi_spec_class *class) {
    char text[512];
    snprintf(text, sizeof text, "%s%s%s%s", class->doc, class->reference ? " (" : "",
             class->reference ? class->reference : "", class->reference ? ")" : "");
    manual_item(page, 0, COLUMN_COMMANDS, class->name, text);
    for (int64_t i = 0; i < class->keys; i++)
        put_key(page, &class->key[i]);
}

static bool is_asked(const char *name, const char *asked) {
    return !asked || strcmp(name, asked) == 0;
}

static bool put_encodings(manual *page, const char *asked) {
    bool any = false;
    if (!asked) {
        manual_paragraph(page, "A SPEC names a positional encoding: NAME, or "
                               "NAME:key=value,key=value, as rope:dim=64,base=10000. A LIST is "
                               "0-3+5: members and ranges.");
        manual_heading(page, "Encodings");
    }
    for (int64_t i = 0; i < szgi_encoding_classes(); i++) {
        const szgi_spec_class *class = szgi_encoding_class_at(i);
        if (!is_asked(class->name, asked))
            continue;
        put_class(page, class);
        any = true;
    }
    return any;
}

static bool put_contents(manual *page, const char *asked) {
    bool any = false;
    if (!asked)
        manual_heading(page, "Content, for --content");
    for (int64_t i = 0; i < szgi_content_classes(); i++) {
        const szgi_spec_class *class = szgi_content_class_at(i);
        if (!is_asked(class->name, asked))
            continue;
        put_class(page, class);
        any = true;
    }
    return any;
}

/* Statements of claims hold formulas. */
static void put_statement(manual *page, const char *term, const char *statement) {
    szgi_text text;
    if (szgi_text_open(NULL, &text) != SZG_OK)
        end_without_memory();
    bool signs = !page->roff && display_has_unicode();
    szgi_prose_put(statement, signs ? SZGI_FORMULA_UNICODE : SZGI_FORMULA_ASCII, text.stream);
    if (szgi_text_end(&text, SZG_OK) != SZG_OK)
        end_without_memory();
    manual_item(page, 0, COLUMN_COMMANDS, term, text.text);
    szgi_text_close(&text);
}

/* All claims in a line each; of one asked for all that the ledger says. */
static bool put_claims(manual *page, const char *asked) {
    const szg_claim *one = asked ? szg_claim_find(asked) : NULL;
    if (one) {
        put_statement(page, one->id, one->statement);
        manual_item(page, 0, COLUMN_COMMANDS, "kind", one->kind);
        manual_item(page, 0, COLUMN_COMMANDS, "source", one->source);
        manual_item(page, 0, COLUMN_COMMANDS, "verdict", szg_verdict_name(one->expected));
        put_statement(page, "true is", one->true_statement);
        return true;
    }
    if (asked)
        return false;
    manual_heading(page, "Claims");
    for (int64_t i = 0; i < szg_claim_count(); i++)
        put_statement(page, szg_claim_at(i)->id, szg_claim_at(i)->statement);
    return true;
}

/* What the preset's file says of it. */
static void put_preset(manual *page, szg_context *context, const char *name) {
    char path[PATH_MAX];
    szg_reproduction_options wanted = {SZG_INIT(szg_reproduction_options), .preset = path};
    szg_reproduction *preset = NULL;
    bool read =
        preset_find(name, path) && szg_reproduction_open(context, &wanted, &preset) == SZG_OK;
    manual_item(page, 0, COLUMN_COMMANDS, name,
                read ? szg_reproduction_about(preset) : "its file cannot be read");
    szg_reproduction_close(&preset);
}

static bool put_presets(manual *page, const char *asked) {
    const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    szg_context *context;
    bool any = false;
    if (szg_context_open(&options, &context) != SZG_OK)
        end_without_memory();
    if (!asked)
        manual_heading(page, "Presets of `szego reproduce`");
    for (const char *word = preset_names; *word;) {
        char name[64];
        size_t length = strcspn(word, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        if (is_asked(name, asked)) {
            put_preset(page, context, name);
            any = true;
        }
        word += length + (word[length] == '|');
    }
    szg_context_close(&context);
    return any;
}

typedef struct topic {
    const char *name, *summary;
    const word_list *names;                       /* that may follow it */
    bool (*put)(manual *page, const char *asked); /* asked NULL: all; false: no such name */
} topic;

static const topic topics[] = {
    {"specs", "positional encodings, their keys and defaults", &words_encodings, put_encodings},
    {"content", "kinds of content, for --content", &words_contents, put_contents},
    {"claims", "the paper's claims that `szego verify` checks", &words_claims, put_claims},
    {"presets", "what `szego reproduce` can train", &words_presets, put_presets},
};
enum { TOPICS = sizeof topics / sizeof *topics };

static const topic *find_topic(const char *name) {
    for (int i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, name) == 0)
            return &topics[i];
    return NULL;
}

void help_list_topics(FILE *stream) {
    for (const command *const *at = command_table; *at; at++)
        fprintf(stream, "%s\n", (*at)->name);
    for (int i = 0; i < TOPICS; i++)
        fprintf(stream, "%s\n", topics[i].name);
}

/* The names that a topic has, to find the one that was meant. */
static int refuse_name(const topic *of, const char *name) {
    szgi_text words;
    char text[512];
    if (szgi_text_open(NULL, &words) != SZG_OK)
        end_without_memory();
    of->names->print(words.stream);
    if (szgi_text_end(&words, SZG_OK) != SZG_OK)
        end_without_memory();
    szgi_suggestion near = szgi_suggest_begin(name, strlen(name));
    for (const char *word = words.text; *word;) {
        size_t length = strcspn(word, "\n");
        if (of->names->kind != WORDS_SPECS || !memchr(word, ':', length))
            szgi_suggest(&near, word, length);
        word += length + (word[length] == '\n');
    }
    snprintf(text, sizeof text, "help %s: '%.80s' is unknown: %s `szego help %s` lists them",
             of->name, name, SZGI_DID_YOU_MEAN(&near, ""), of->name);
    terminal_line("", text);
    szgi_text_close(&words);
    return EXIT_USAGE;
}

static int put_topic(manual *page, const topic *of, int count, char **names) {
    char title[64];
    snprintf(title, sizeof title, "szego-%s", of->name);
    manual_title(page, title, 7, of->summary);
    if (page->roff && count == 0)
        manual_heading(page, "Description");
    if (count == 0)
        of->put(page, NULL);
    for (int i = 0; i < count; i++)
        if (!of->put(page, names[i]))
            return refuse_name(of, names[i]);
    return EXIT_DONE;
}

/* ---- The program ---- */

static void put_overview(manual *page) {
    manual_title(page, "szego", 1, "spectra of attention with positional encodings");
    manual_usage(page, "szego", "COMMAND [OPTION...]");
    if (page->roff)
        manual_heading(page, "Description");
    manual_paragraph(page, about);
    manual_heading(page, "Commands");
    for (const command *const *at = command_table; *at; at++)
        manual_item(page, 0, COLUMN_COMMANDS, (*at)->name, (*at)->summary);
    manual_heading(page, "Help");
    manual_item(page, 0, COLUMN_TOPICS, "szego help COMMAND", "examples and options of a command");
    for (int i = 0; i < TOPICS; i++) {
        char term[64];
        snprintf(term, sizeof term, "szego help %s", topics[i].name);
        manual_item(page, 0, COLUMN_TOPICS, term, topics[i].summary);
    }
    manual_item(page, 0, COLUMN_TOPICS, "szego --version", "version and commit");
    put_exit_status(page);
    put_see_also(page, "szego-COMMAND(1) of each command, szego-specs(7)");
}

void help_overview(FILE *stream) {
    manual page = manual_text(stream);
    put_overview(&page);
}

void help_unknown_command(const char *name) {
    static const char *const others[] = {"help", "--help", "--version"};
    szgi_suggestion near = szgi_suggest_begin(name, strlen(name));
    char text[512];
    for (const command *const *at = command_table; *at; at++)
        szgi_suggest(&near, (*at)->name, strlen((*at)->name));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        szgi_suggest(&near, others[i], strlen(others[i]));
    for (int i = 0; i < TOPICS; i++)
        szgi_suggest(&near, topics[i].name, strlen(topics[i].name));
    snprintf(text, sizeof text, "there is no command '%.80s'%s %s", name, near.word ? ":" : ";",
             SZGI_DID_YOU_MEAN(&near, "`szego help` lists them"));
    terminal_line("", text);
}

int help_main(int count, char **words) {
    manual page = manual_text(stdout);
    if (count > 0 && strcmp(words[0], "--man") == 0) {
        page = manual_roff(stdout);
        count--;
        words++;
    }
    if (count == 0 || strcmp(words[0], "help") == 0 || strcmp(words[0], "--help") == 0 ||
        strcmp(words[0], "-h") == 0) {
        put_overview(&page);
        return EXIT_DONE;
    }
    const topic *asked = find_topic(words[0]);
    if (asked)
        return put_topic(&page, asked, count - 1, words + 1);
    const command *which = command_find(words[0]);
    if (which) {
        put_command(&page, which);
        return EXIT_DONE;
    }
    help_unknown_command(words[0]);
    return EXIT_USAGE;
}
