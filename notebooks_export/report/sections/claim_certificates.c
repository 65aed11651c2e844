/* Certificates: two enclosed quantities, how they stand to each other, and the exact inputs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "notebooks_export/collection/collection.h"

#include "base/text.h"
#include "formats/csv.h"

#include "claims.h"

enum {
    SHOWN = 50,
    EXACT_CHARACTERS = 160,
    NAME_CHARACTERS = 40,
    NUMBERS = 24,
    TOKEN = 64,
    PATH_CHARACTERS = 4096,
    DIGITS = 10
};

/* A cell that holds a number as text (hexadecimal in certificates) or as a number. */
static double cell_number(rows of, int64_t index, const char *column) {
    const char *text = szgi_rows_text(of, index, column);
    double value = NAN;
    if (text)
        return szgi_real_parse(text, &value) ? value : (double)NAN;
    return szgi_rows_real(of, index, column);
}

static const char *cell_or(rows of, int64_t index, const char *column, const char *otherwise) {
    const char *text = szgi_rows_text(of, index, column);
    return text && *text ? text : otherwise;
}

sides szgi_certificate_sides(rows certificates, int64_t index) {
    return (sides){
        .lo = {cell_number(certificates, index, "left_lo"),
               cell_number(certificates, index, "right_lo")},
        .hi = {cell_number(certificates, index, "left_hi"),
               cell_number(certificates, index, "right_hi")},
        .name = {cell_or(certificates, index, "left", "left"),
                 cell_or(certificates, index, "right", "right")},
        .relation = cell_or(certificates, index, "relation", "?"),
        .kind = cell_or(certificates, index, "kind", ""),
    };
}

static bool are_known(const sides *s) {
    return s->lo[0] <= s->hi[0] && s->lo[1] <= s->hi[1] && isfinite(s->lo[0]) &&
           isfinite(s->hi[0]) && isfinite(s->lo[1]) && isfinite(s->hi[1]);
}

bool szgi_sides_agree(const sides *s) {
    bool below = s->hi[0] < s->lo[1];
    bool above = s->lo[0] > s->hi[1];
    if (!are_known(s))
        return false;
    return strcmp(s->relation, "<") == 0    ? below
           : strcmp(s->relation, ">") == 0  ? above
           : strcmp(s->relation, "!=") == 0 ? below || above
           : strcmp(s->relation, "=") == 0  ? !below && !above
                                            : false;
}

/* ---- The table ---- */

/* A number, or a phase p/q of pi, for readers. */
static void print_token(FILE *stream, const char *token) {
    double value;
    if (szgi_real_parse(token, &value))
        fprintf(stream, "%.10g", value);
    else
        szgi_html_text(stream, token);
    if (strchr(token, '/'))
        fputs(" π", stream);
}

/* The exact text, and in its hover the numbers in decimals. */
static void print_exact(FILE *stream, const char *text) {
    char token[TOKEN];
    const char *at = text ? text : "";
    fputs("<td title=\"", stream);
    for (int64_t shown = 0; *at; shown++) {
        size_t length = strcspn(at, " ");
        if (shown == NUMBERS || length >= sizeof token) {
            fputs(" …", stream);
            break;
        }
        memcpy(token, at, length);
        token[length] = 0;
        fputs(shown ? ", " : "", stream);
        print_token(stream, token);
        at += length + strspn(at + length, " ");
    }
    fputs("\"><code>", stream);
    szgi_html_clipped(stream, text, EXACT_CHARACTERS);
    fputs("</code></td>", stream);
}

/* In decimals, rounded outwards. */
static void print_ends(FILE *stream, const sides *s, int side) {
    fputc('[', stream);
    szgi_html_end(stream, s->lo[side], DIGITS, SZGI_END_LOWER);
    fputs(", ", stream);
    szgi_html_end(stream, s->hi[side], DIGITS, SZGI_END_UPPER);
    fputc(']', stream);
}

/* The enclosure in decimals, in its hover the exact ends. */
static void print_enclosure(FILE *stream, const sides *s, int side, const char *lo,
                            const char *hi) {
    szgi_html_clipped(stream, s->name[side], NAME_CHARACTERS);
    fputs(" in <span title=\"", stream);
    szgi_html_clipped(stream, lo, TOKEN);
    fputs(" to ", stream);
    szgi_html_clipped(stream, hi, TOKEN);
    fputs("\">", stream);
    print_ends(stream, s, side);
    fputs("</span>", stream);
}

/* What shows the relation, beside enclosures that agree with it: two that meet show no equality. */
static const char *what_shows(const sides *s) {
    return strcmp(s->relation, "=") != 0   ? ""
           : strcmp(s->kind, "exact") == 0 ? ": equality is decided exactly"
           : strcmp(s->kind, "structural") == 0
               ? ": equality has a proof (docs/explanation/theory.md)"
               : ": the enclosures alone show no equality";
}

static void print_certificate(FILE *stream, rows of, int64_t index) {
    sides s = szgi_certificate_sides(of, index);
    fputs("<tr>", stream);
    szgi_html_cell(stream, szgi_rows_text(of, index, "kind"), EXACT_CHARACTERS);
    fputs("<td>", stream);
    print_enclosure(stream, &s, 0, szgi_rows_text(of, index, "left_lo"),
                    szgi_rows_text(of, index, "left_hi"));
    fputs(" <b>", stream);
    szgi_html_clipped(stream, s.relation, NAME_CHARACTERS);
    fputs("</b> ", stream);
    print_enclosure(stream, &s, 1, szgi_rows_text(of, index, "right_lo"),
                    szgi_rows_text(of, index, "right_hi"));
    fputs(szgi_sides_agree(&s) ? what_shows(&s) : ": the enclosures do not show this", stream);
    fputs("</td>", stream);
    szgi_html_number_cell(stream, szgi_rows_real(of, index, "n"));
    print_exact(stream, szgi_rows_text(of, index, "weights"));
    print_exact(stream, szgi_rows_text(of, index, "phases"));
    szgi_html_cell(stream, szgi_rows_text(of, index, "note"), EXACT_CHARACTERS);
    fputs("</tr>\n", stream);
}

/* ---- The command that recomputes them ---- */

/* As one word of a shell's command line: in quotes where it has other than plain characters. */
static void print_word(FILE *stream, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._/=,:@%+-";
    if (!word[strspn(word, plain)]) {
        szgi_html_clipped(stream, word, PATH_CHARACTERS);
        return;
    }
    fputs("&#39;", stream);
    for (const char *at = word; *at;) {
        size_t length = strcspn(at, "'");
        szgi_html_print(stream, "%.*s", (int)length, at);
        at += length;
        if (*at && at++)
            fputs("&#39;\\&#39;&#39;", stream);
    }
    fputs("&#39;", stream);
}

static void say_path(words *words, const void *of) {
    const claim *claim = of;
    const char *folder = szgi_collection_folder(szgi_page_results(claim->run->page)),
               *result = szgi_rows_text(claim->of, 0, "result");
    size_t length = strlen(folder);
    szgi_words_clipped(words, folder, PATH_CHARACTERS);
    if (length > 0 && folder[length - 1] != '/')
        fputs("/", words->stream);
    if (result && strcmp(result, ".") != 0) {
        szgi_words_clipped(words, result, PATH_CHARACTERS);
        fputs("/", words->stream);
    }
    fputs("certificates.csv", words->stream);
}

static void print_command(const claim *claim) {
    FILE *stream = szgi_page_stream(claim->run->page);
    const char *path = szgi_plot_text(claim->run, say_path, claim);
    fputs("<p>Recheck, by separate code at twice the precision: <code>szego verify --check ",
          stream);
    print_word(stream, path);
    fputs("</code></p>\n", stream);
}

void szgi_claim_certificates(const claim *claim) {
    rows of = claim->certificates;
    plot_run *run = claim->run;
    FILE *stream = szgi_page_stream(run->page);
    fputs("<h3>Certificates</h3>\n"
          "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">certificate</th>"
          "<th scope=\"col\">what it encloses</th><th scope=\"col\" class=\"number\">n</th>"
          "<th scope=\"col\">weights (exact)</th><th scope=\"col\">phases (exact)</th>"
          "<th scope=\"col\">note</th></tr></thead><tbody>\n",
          stream);
    for (int64_t i = 0; i < of.count && i < SHOWN; i++)
        print_certificate(stream, of, i);
    fputs("</tbody></table></div>\n", stream);
    if (of.count > SHOWN)
        szgi_page_paragraph(run->page, "And %" PRId64 " more certificates, behind the link.",
                            of.count - SHOWN);
    print_command(claim);
    if (run->status == SZG_OK)
        szgi_plot_keep(run, szgi_page_links(run->page, &of, 1));
}

void szgi_sides_say(words *say, const sides *s) {
    szgi_words_clipped(say, s->name[0], NAME_CHARACTERS);
    fputc(' ', say->stream);
    szgi_words_clipped(say, s->relation, NAME_CHARACTERS);
    fputc(' ', say->stream);
    szgi_words_clipped(say, s->name[1], NAME_CHARACTERS);
}
