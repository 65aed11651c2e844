/* `szego completion`: the bash completion script, made from the option tables. */
#include <stdio.h>
#include <string.h>

#include "command.h"

static void print_options(const struct argp_option *option) {
    for (; option && (option->name || option->key); option++)
        if (option->name)
            printf(" --%s", option->name);
}

static szg_status run(command_call *call) {
    (void)call;
    puts("# bash completion for szego; source it, or install it as completions/szego\n"
         "COMP_WORDBREAKS=${COMP_WORDBREAKS//:} # items of bench are single words\n"
         "_szego() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} words");
    printf("    if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"");
    for (const command *const *at = command_table; *at; at++)
        printf("%s ", (*at)->name);
    puts("--help --version\"\n    else case ${COMP_WORDS[1]} in");
    for (const command *const *at = command_table; *at; at++) {
        printf("        %s) words=\"--help --usage", (*at)->name);
        print_options(shared_argp_options);
        print_options((*at)->options);
        if ((*at)->list_words)
            (*at)->list_words(stdout);
        puts("\" ;;");
    }
    puts("        *) words=\"\" ;;\n"
         "        esac\n"
         "    fi\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "    [ -n \"${COMPREPLY[*]}\" ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _szego szego");
    return SZG_OK;
}

const command command_completion = {
    .name = "completion",
    .summary = "print the bash completion script",
    .doc = "Prints a bash completion script made from the option tables.",
    .run = run,
};
