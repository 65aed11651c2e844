/* Certificates: two enclosed quantities, how they stand to each other, and the exact inputs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/csv.h"
#include "base/memory.h"

#include "claims.h"

enum {
    SHOWN = 50,
    EXACT_CHARACTERS = 160,
    NAME_CHARACTERS = 40,
    NUMBERS = 24,
    TOKEN = 64,
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
    fputs("</td>", stream);
    szgi_html_number_cell(stream, szgi_rows_real(of, index, "n"));
    print_exact(stream, szgi_rows_text(of, index, "weights"));
    print_exact(stream, szgi_rows_text(of, index, "phases"));
    szgi_html_cell(stream, szgi_rows_text(of, index, "note"), EXACT_CHARACTERS);
    fputs("</tr>\n", stream);
}

szg_status szgi_claim_certificates(const claim *claim) {
    rows of = claim->certificates;
    FILE *stream = szgi_page_stream(claim->page);
    if (of.count == 0)
        return SZG_OK;
    fputs("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">certificate</th>"
          "<th scope=\"col\">what it encloses</th><th scope=\"col\" class=\"number\">n</th>"
          "<th scope=\"col\">weights (exact)</th><th scope=\"col\">phases (exact)</th>"
          "<th scope=\"col\">note</th></tr></thead><tbody>\n",
          stream);
    for (int64_t i = 0; i < of.count && i < SHOWN; i++)
        print_certificate(stream, of, i);
    fputs("</tbody></table></div>\n", stream);
    if (of.count > SHOWN)
        szgi_page_paragraph(claim->page, "And %" PRId64 " more certificates, behind the link.",
                            of.count - SHOWN);
    return szgi_page_links(claim->page, &of, 1);
}

/* ---- The figures ---- */

void szgi_sides_say(words *say, const sides *s) {
    szgi_words_clipped(say, s->name[0], NAME_CHARACTERS);
    fputc(' ', say->stream);
    szgi_words_clipped(say, s->relation, NAME_CHARACTERS);
    fputc(' ', say->stream);
    szgi_words_clipped(say, s->name[1], NAME_CHARACTERS);
}

const char *szgi_sides_equality(const sides *s) {
    return strcmp(s->kind, "exact") == 0 ? ", and equality is decided exactly"
           : strcmp(s->kind, "structural") == 0
               ? ", and equality has a proof (docs/explanation/theory.md)"
               : ", which alone shows no equality";
}

/* One certificate in the making of its figure. */
typedef struct plotted {
    const claim *claim;
    int64_t index;
    const sides *sides;
} plotted;

static void say_title(words *say, const void *of) {
    const plotted *one = of;
    szgi_words_clipped(say, one->claim->id, NAME_CHARACTERS);
    fputs(": ", say->stream);
    szgi_sides_say(say, one->sides);
}

static void say_caption(words *say, const void *of) {
    const plotted *one = of;
    const sides *s = one->sides;
    const char *note = szgi_rows_text(one->claim->certificates, one->index, "note");
    bool equal = strcmp(s->relation, "=") == 0;
    szgi_sides_say(say, s);
    if (!szgi_sides_agree(s))
        fputs(": the enclosures in the file do not show this", say->stream);
    else if (equal)
        fprintf(say->stream, ": both enclosures lie at %.6g%s", (s->lo[0] + s->hi[0]) / 2,
                szgi_sides_equality(s));
    else
        fprintf(say->stream, ": the enclosures, at %.6g and %.6g, do not meet",
                (s->lo[0] + s->hi[0]) / 2, (s->lo[1] + s->hi[1]) / 2);
    if (note && *note) {
        fputs(" (", say->stream);
        szgi_words_clipped(say, note, EXACT_CHARACTERS);
        fputc(')', say->stream);
    }
    fputc('.', say->stream);
}

static szg_status add_side(szg_context *context, figure *figure, const sides *s, int side) {
    const double ends[] = {s->lo[side], s->hi[side]}, at[] = {1 - side, 1 - side};
    const double middle = s->lo[side] / 2 + s->hi[side] / 2;
    const figure_style style = {.name = NULL, .colour = side};
    words hover;
    szg_status status = szgi_words_open(context, &hover);
    if (status == SZG_OK) {
        szgi_words_clipped(&hover, s->name[side], NAME_CHARACTERS);
        fputs(" in ", hover.stream);
        print_ends(hover.stream, s, side);
        status = szgi_words_end(context, &hover);
    }
    if (status == SZG_OK)
        status = szgi_figure_line(context, figure, &style, 2, ends, at);
    if (status == SZG_OK)
        status = szgi_figure_points(context, figure, &style, 1, &middle, at,
                                    (const char *[]){hover.text});
    szgi_words_free(&hover);
    return status;
}

/* The value axis: where the two lie closer than the eye can tell, wide enough to say so. */
static figure_axis value_axis(const sides *s) {
    double lo = fmin(s->lo[0], s->lo[1]), hi = fmax(s->hi[0], s->hi[1]);
    double size = fmax(1, fmax(fabs(lo), fabs(hi)));
    figure_axis axis = {.label = "value"};
    if (hi - lo < 1e-6 * size) {
        axis.lo = lo - size / 2;
        axis.hi = hi + size / 2;
    }
    return axis;
}

static szg_status draw_certificate(const claim *claim, int64_t index, const sides *s) {
    szg_context *context = szgi_page_context(claim->page);
    const plotted one = {claim, index, s};
    rows source = {claim->certificates.table, &claim->certificates.row[index], 1};
    const figure_options options = {
        .x = value_axis(s),
        .y = {.names = (const char *const[]){s->name[1], s->name[0]}, .count = 2},
        .height = 180};
    figure *figure;
    SZG_TRY(szgi_figure_open_titled(context, options, say_title, &one, &figure));
    szg_status status = add_side(context, figure, s, 0);
    if (status == SZG_OK)
        status = add_side(context, figure, s, 1);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(claim->page, &figure, &source, 1, say_caption, &one);
    szgi_figure_close(&figure);
    return status;
}

szg_status szgi_claim_enclosures(const claim *claim) {
    int64_t unreadable = 0;
    szgi_page_grid_begin(claim->page);
    for (int64_t i = 0; i < claim->certificates.count; i++) {
        sides s = szgi_certificate_sides(claim->certificates, i);
        if (!are_known(&s)) {
            unreadable++;
        } else if (szgi_budget_take(claim->budget)) {
            SZG_TRY(draw_certificate(claim, i, &s));
        }
    }
    szgi_page_grid_end(claim->page);
    if (unreadable > 0)
        szgi_page_paragraph(claim->page,
                            "%" PRId64
                            " certificates are not plotted: their enclosures are not finite "
                            "numbers, or the ends are in the wrong order.",
                            unreadable);
    return SZG_OK;
}
