/* `szego completion`: completion scripts for bash and zsh, made from the tables of options and
 * words. What they know is one set of functions in the language that both shells share; a few lines
 * of glue differ. */
#include <stdio.h>
#include <string.h>

#include "command.h"

typedef struct completion_options {
    int shell; /* BASH, ZSH */
} completion_options;

enum { BASH, ZSH };

/* ---- What is known ---- */

static void put_choices(const char *choices) {
    printf("printf '%%s\\n'");
    for (const char *at = choices; *at;) {
        size_t length = strcspn(at, "|");
        printf(" '%.*s'", (int)length, at);
        at += length + (at[length] == '|');
    }
    puts(" ;;");
}

static void put_list(const word_list *list) {
    printf("_szego_%s() {\n    cat <<'END'\n", list->name);
    list->print(stdout);
    puts("END\n}");
}

typedef struct list_set {
    const word_list *list[32];
    size_t count;
} list_set;

/* Each list once. */
static void put_lists_of(const command *which, list_set *done) {
    const command_option *option;
    for (int at = 0; (option = option_at(which, at)); at++) {
        size_t i = 0;
        while (i < done->count && done->list[i] != option->list)
            i++;
        if (!option->list || i < done->count || i == sizeof done->list / sizeof *done->list)
            continue;
        done->list[done->count++] = option->list;
        put_list(option->list);
    }
}

static void put_lists(void) {
    list_set done = {0};
    for (const command *const *at = command_table; *at; at++)
        put_lists_of(*at, &done);
    put_list(&words_topics);
}

/* What an option or operand takes; of an unknown text files are completed. */
static void put_values(const command_option *option) {
    const word_list *list = option->list;
    const char *choices = option->choices ? option->choices : option->words;
    if (choices)
        put_choices(choices);
    else if (!list)
        puts(";;");
    else if (list->kind == WORDS_SPECS)
        printf("_szego_specs %s \"$word\" ;;\n", list->name);
    else if (list->kind == WORDS_ASSIGNMENTS)
        printf("case $word in *=*) _szego_%s | grep -v '=$' ;; *) _szego_%s | grep '=$' ;; esac "
               ";;\n",
               list->name, list->name);
    else if (list->kind == WORDS_COMMAS)
        printf("_szego_commas %s \"$word\" ;;\n", list->name);
    else
        printf("_szego_%s ;;\n", list->name);
}

/* A case for an option that takes an argument. */
static void put_option_case(const char *name, const command_option *option) {
    if (!option->argument || option_is_operand(option))
        return;
    printf("        ");
    if (option->letter)
        printf("%s:-%c%s", name, option->letter, option->name ? "|" : ") ");
    if (option->name)
        printf("%s:--%s) ", name, option->name);
    put_values(option);
}

static void put_operand_cases(const command *which) {
    const command_option *option, *operands = option_operands(which);
    printf("        %s:-*) printf '%%s\\n'", which->name);
    for (int i = 0; (option = option_at(which, i)); i++)
        if (option->name)
            printf(" --%s", option->name);
    printf(" ;;\n        %s:*) ", which->name);
    if (operands)
        put_values(operands);
    else
        printf("_szego_words %s '' - ;;\n", which->name);
}

/* Words with parts: SPECs, and lists with commas. */
static void put_parts(void) {
    puts("# SPECs of the list $1 that complete the word $2: names, then keys, then choices.\n"
         "_szego_specs() {\n"
         "    local word=$2 name=${2%%:*} before last line\n"
         "    case $word in\n"
         "    *:*,*) before=${word%,*}, last=${word##*,} ;;\n"
         "    *:*) before=$name: last=${word#*:} ;;\n"
         "    *) _szego_$1 | grep -v : && return ;;\n"
         "    esac\n"
         "    _szego_$1 | while IFS= read -r line; do\n"
         "        case $line in\n"
         "        \"$name\":*=) case $last in *=*) ;; *) printf '%s\\n' "
         "\"$before${line#*:}\" ;; esac ;;\n"
         "        \"$name\":*=*) case $last in *=*) printf '%s\\n' \"$before${line#*:}\" ;; "
         "esac ;;\n"
         "        esac\n"
         "    done\n"
         "}\n"
         "# Words of the list $1 that complete what follows the last comma of $2.\n"
         "_szego_commas() {\n"
         "    local line before=\n"
         "    case $2 in *,*) before=${2%,*}, ;; esac\n"
         "    _szego_$1 | while IFS= read -r line; do printf '%s\\n' \"$before$line\"; done\n"
         "}");
}

static void put_words(void) {
    puts("# Words that may follow the word $2 in the command $1 and begin as $3 does.\n"
         "_szego_words() {\n"
         "    local word=$3\n"
         "    case $1:$2 in");
    for (const command *const *at = command_table; *at; at++)
        for (int i = 0; i < option_count(*at); i++)
            put_option_case((*at)->name, option_at(*at, i));
    for (const command_option *option = shared_option_rows; option->kind != OPTION_END; option++)
        put_option_case("*", option);
    puts("        help:specs) _szego_encodings | grep -v : ;;\n"
         "        help:content) _szego_contents | grep -v : ;;\n"
         "        help:claims) _szego_claims ;;\n"
         "        help:presets) _szego_presets ;;\n"
         "        *) case $1:$3 in");
    for (const command *const *at = command_table; *at; at++)
        put_operand_cases(*at);
    puts("        help:-*) echo --man ;;\n"
         "        help:*) _szego_topics ;;\n"
         "        esac ;;\n"
         "    esac\n"
         "}");
}

static void put_candidates(void) {
    puts("# The same for the word at place $1 of the line, and values of --option=value.\n"
         "_szego_candidates() {\n"
         "    local line\n"
         "    if [ \"$1\" -eq 1 ]; then");
    printf("        printf '%%s\\n'");
    for (const command *const *at = command_table; *at; at++)
        printf(" %s", (*at)->name);
    puts(" help --help --version\n"
         "        return\n"
         "    fi\n"
         "    case $4 in\n"
         "    --*=*) _szego_words \"$2\" \"${4%%=*}\" \"${4#*=}\" | while IFS= read -r line; do\n"
         "        printf '%s\\n' \"${4%%=*}=$line\"\n"
         "    done ;;\n"
         "    *) _szego_words \"$2\" \"$3\" \"$4\" ;;\n"
         "    esac\n"
         "}");
}

static void put_knowledge(void) {
    put_lists();
    put_parts();
    put_words();
    put_candidates();
}

/* ---- The shells ---- */

/* Words are those of the line, since ':' and '=' break readline's; it replaces what follows the
 * last of these. Without a candidate it completes files. */
static const char bash_glue[] =
    "_szego() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} words word candidate breaks kept=\n"
    "    read -ra words <<<\"$line\"\n"
    "    case $line in *[[:space:]]) words+=('') ;; esac\n"
    "    local last=$((${#words[@]} - 1))\n"
    "    word=${words[last]}\n"
    "    breaks=${COMP_WORDBREAKS//[^:=]/}\n"
    "    [ -z \"$breaks\" ] || kept=${word%\"${word##*[$breaks]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r candidate; do\n"
    "        case $candidate in \"$word\"*) COMPREPLY+=(\"${candidate#\"$kept\"}\") ;; esac\n"
    "    done < <(_szego_candidates \"$last\" \"${words[1]}\" \"${words[last - 1]}\" \"$word\")\n"
    "    case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac\n"
    "}\n"
    "complete -o default -F _szego szego\n";

static const char zsh_glue[] =
    "_szego() {\n"
    "    local -a found\n"
    "    found=(${(f)\"$(_szego_candidates $((CURRENT - 1)) \"${words[2]}\" "
    "\"${words[CURRENT - 1]}\" \"$PREFIX\")\"})\n"
    "    found=(${(M)found:#${PREFIX}*})\n"
    "    local -a open=(${(M)found:#*=}) whole=(${found:#*=})\n"
    "    if (( $#found == 0 )); then\n"
    "        _files\n"
    "        return\n"
    "    fi\n"
    "    (( $#open )) && compadd -Q -S '' -- $open\n"
    "    (( $#whole )) && compadd -Q -- $whole\n"
    "    return 0\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _szego ]; then _szego \"$@\"; else compdef _szego szego; fi\n";

static szg_status run(command_call *call) {
    const completion_options *own = call->own;
    if (own->shell == ZSH)
        puts("#compdef szego");
    printf("# %s completion for szego: source it, or install it as %s.\n",
           own->shell == ZSH ? "zsh" : "bash",
           own->shell == ZSH ? "_szego in a folder of $fpath" : "completions/szego");
    put_knowledge();
    fputs(own->shell == ZSH ? zsh_glue : bash_glue, stdout);
    return SZG_OK;
}

static void take_shell(const command_option *row, void *field, const char *text,
                       struct argp_state *state) {
    *(int *)field = parse_choice(state, "SHELL", text, row->words);
}

static const command_option options[] = {
    OPTION_BY(take_shell, completion_options, shell, NULL, "[bash|zsh]", NULL, .words = "bash|zsh"),
    {0}};

static const command_example examples[] = {
    {"source <(szego completion)", "Completion in this bash."},
    {"szego completion zsh >_szego", "A file for a folder of zsh's $fpath."},
    {0}};

const command command_completion = {
    .name = "completion",
    .summary = "print the completion script of bash or zsh",
    .doc = "Prints a completion script, that of bash if no shell is named: commands, options, and "
           "the words that they take, such as encodings and their keys.",
    .options = options,
    .own_size = sizeof(completion_options),
    .run = run,
    .examples = examples,
};
