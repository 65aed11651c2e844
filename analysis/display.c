#include "display.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/display.h"

#include "terminal.h"

/* Rows of a table that a person wants on a screen; csv, json and -o have them all. */
enum { ROWS_SHOWN = 100 };

/* What is settled is green, what is refuted red, what lies between yellow. */
static const szgi_display_colour colours[] = {
    {"holds", "32"},   {"confirmed", "32"}, {"measured", "33"}, {"conditional", "33"},
    {"vacuous", "33"}, {"cut", "33"},       {"fails", "31"},    {"refused", "31"},
    {"failed", "31"},  {NULL, NULL}};

bool display_is_for_a_person(const command_call *call) {
    return !call->shared.output &&
           (!call->shared.format || strcmp(call->shared.format, "table") == 0);
}

bool display_has_unicode(void) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale)
        return false;
    bool unicode = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return unicode;
}

/* https://no-color.org: any value but the empty one. */
static bool wants_colour(void) {
    const char *refusal = getenv("NO_COLOR"), *name = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(refusal && *refusal) && name && *name &&
           strcmp(name, "dumb") != 0;
}

szg_status display_print(command_call *call, const szg_result *result) {
    const shared_options *shared = &call->shared;
    int64_t count;
    const szgi_schema *const *schemas = szgi_schemas(&count);
    const szgi_display how = {
        .schemas = schemas,
        .count = count,
        .colours = wants_colour() ? colours : NULL,
        .width = shared->wide && !isatty(STDOUT_FILENO) ? 0 : terminal_width(STDOUT_FILENO),
        .rows = ROWS_SHOWN,
        .wide = shared->wide,
        .columns = shared->columns,
        .notes = shared->notes,
        .unicode = display_has_unicode(),
        .options = true};
    return szgi_result_show(call->context, result, &how, stdout);
}
