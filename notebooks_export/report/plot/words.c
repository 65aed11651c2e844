#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#include "html.h"
#include "words.h"

enum { SOURCE_CHARACTERS = 80, NAME_CHARACTERS = 48 };

szg_status szgi_words_open(szg_context *context, words *words) {
    return szgi_text_open(context, words);
}

szg_status szgi_words_end(szg_context *context, words *words) {
    szg_status status = szgi_text_end(words, SZG_OK);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "report");
}

void szgi_words_free(words *words) {
    szgi_text_close(words);
}

void szgi_words_clipped(words *words, const char *text, int64_t characters) {
    const char *at = text ? text : "";
    for (int64_t shown = 0; *at; at++) {
        bool begins = !szgi_utf8_continues(*at);
        if ((begins && shown++ == characters) || at - text > 4 * characters)
            break;
    }
    if (text)
        fwrite(text, 1, (size_t)(at - text), words->stream);
    if (*at)
        fputs("…", words->stream);
}

void szgi_words_file(words *words, const char *path) {
    const char *last = path ? path : "unnamed";
    for (const char *at = last; *at; at++)
        if (*at == '/' && at[1] && at[1] != '/')
            last = at + 1;
    szgi_words_clipped(words, last, NAME_CHARACTERS);
}

void szgi_words_run(words *words, rows of) {
    const char *encoding = szgi_rows_text(of, 0, "encoding"), *task = szgi_rows_text(of, 0, "task");
    const char *experiment = szgi_rows_text(of, 0, "experiment");
    szgi_words_clipped(words, encoding ? encoding : szgi_rows_text(of, 0, "source"),
                       NAME_CHARACTERS);
    if (task) {
        fputs(", ", words->stream);
        szgi_words_clipped(words, task, NAME_CHARACTERS);
    }
    if (!experiment)
        return;
    fputs(" (", words->stream);
    szgi_words_clipped(words, experiment, NAME_CHARACTERS);
    fputs(")", words->stream);
}

void szgi_words_model(words *words, rows of) {
    const char *matrix = szgi_rows_text(of, 0, "matrix");
    szgi_words_file(words, szgi_rows_text(of, 0, "source"));
    if (!matrix)
        return;
    fputs(", ", words->stream);
    szgi_words_clipped(words, matrix, NAME_CHARACTERS);
}

/* ", NAME 3" where the cell is a number. */
static void print_index(words *words, rows of, const char *column) {
    double value = szgi_rows_real(of, 0, column);
    if (isnan(value))
        return;
    fprintf(words->stream, ", %s ", column);
    szgi_html_number(words->stream, value);
}

/* Whether the table holds more than one result: its rows are in the order of results. */
static bool has_several_results(const szg_table *table) {
    int64_t last = szg_table_rows(table) - 1, column = szg_table_find(table, "result");
    if (last < 1 || column < 0 || szg_table_column(table, column)->type != SZG_TEXT)
        return false;
    const char *first = szg_table_get_text(table, 0, column);
    const char *final = szg_table_get_text(table, last, column);
    return first && final && strcmp(first, final) != 0;
}

static void print_key(words *words, rows of, bool with_head) {
    const char *source = szgi_rows_text(of, 0, "source"), *matrix = szgi_rows_text(of, 0, "matrix");
    szgi_words_clipped(words, source ? source : "unnamed", SOURCE_CHARACTERS);
    if (with_head) {
        print_index(words, of, "layer");
        print_index(words, of, "head");
    }
    if (matrix) {
        fputs(", ", words->stream);
        szgi_words_clipped(words, matrix, NAME_CHARACTERS);
    }
    if (has_several_results(of.table)) {
        fputs(", in ", words->stream);
        szgi_words_clipped(words, szgi_rows_text(of, 0, "result"), NAME_CHARACTERS);
    }
}

void szgi_words_key(words *words, rows of) {
    print_key(words, of, true);
}

void szgi_words_source(words *words, rows of) {
    print_key(words, of, false);
}
