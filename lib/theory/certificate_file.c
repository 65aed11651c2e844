/* What a row of a file says: the cells of a CSV file, or the members of a JSON object, and the
 * certificate that they make. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#include "claims/claim.h"
#include "recheck.h"

/* ---- Rows ---- */

SZG_PRINTF(4, 5)
static szg_status fail_cell(szg_context *context, const certificate_row *row, const char *column,
                            const char *format, ...) {
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (row->path)
        return szgi_fail(context, SZG_EDATA, "%s: row %" PRId64 ": %s: %s", row->path, row->number,
                         column, sentence);
    return szgi_json_fail(context, szgi_json_member(row->json, column), "%s", sentence);
}

#define TEXT(name)                                                                                 \
    { #name, offsetof(certificate_row, name) }
#define END(name, side, end)                                                                       \
    { name, offsetof(certificate_row, side.end) }
typedef struct cell {
    const char *column;
    size_t offset; /* in a row */
} cell;
static const cell texts[] = {TEXT(id),    TEXT(kind),    TEXT(relation), TEXT(left),
                             TEXT(right), TEXT(weights), TEXT(phases)},
                  ends[] = {END("left_lo", left_ends, lo), END("left_hi", left_ends, hi),
                            END("right_lo", right_ends, lo), END("right_hi", right_ends, hi)};
enum { TEXTS = sizeof texts / sizeof *texts, ENDS = sizeof ends / sizeof *ends };

static void *place_of(certificate_row *row, const cell *of) {
    return (char *)row + of->offset;
}

/* An empty cell is an empty text: a certificate may have no weights or no phases. */
static const char *text_of(const szg_table *table, int64_t row, const char *column) {
    const char *text = szg_table_get_text(table, row, szg_table_find(table, column));
    return text ? text : "";
}

szg_status szgi_certificate_from_table(szg_context *context, const char *path,
                                       const szg_table *table, int64_t index,
                                       certificate_row *out) {
    int64_t size = szg_table_find(table, "n");
    *out = (certificate_row){.path = path, .number = index + 1};
    for (int i = 0; i < TEXTS; i++)
        *(const char **)place_of(out, &texts[i]) = text_of(table, index, texts[i].column);
    if (szg_table_is_empty(table, index, size))
        return fail_cell(context, out, "n", "is empty: an integer is needed");
    out->n = szg_table_get_integer(table, index, size);
    for (int i = 0; i < ENDS; i++) {
        const char *text = text_of(table, index, ends[i].column);
        if (!szgi_real_parse(text, place_of(out, &ends[i])))
            return fail_cell(context, out, ends[i].column, "\"%s\" is not a number", SHOWN(text));
    }
    return SZG_OK;
}

static szg_status refuse_unknown_members(szg_context *context, szgi_json_value row) {
    szgi_json_value member = {0};
    while (szgi_json_next(row, &member)) {
        bool found = false;
        for (int64_t i = 0; i < szgi_certificate_schema->columns; i++)
            found = found || strcmp(member.key, szgi_certificate_schema->column[i].name) == 0;
        if (!found)
            return szgi_json_fail(context, member, "no such member of a certificate");
    }
    return SZG_OK;
}

szg_status szgi_certificate_from_json(szg_context *context, szgi_json_value value,
                                      certificate_row *out) {
    *out = (certificate_row){.json = value};
    SZG_TRY(szgi_json_as_object(context, value));
    SZG_TRY(refuse_unknown_members(context, value));
    for (int i = 0; i < TEXTS; i++)
        SZG_TRY(szgi_json_as_text(context, szgi_json_member(value, texts[i].column),
                                  place_of(out, &texts[i])));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(value, "n"), &out->n));
    for (int i = 0; i < ENDS; i++)
        SZG_TRY(szgi_json_as_hex(context, szgi_json_member(value, ends[i].column),
                                 place_of(out, &ends[i])));
    return SZG_OK;
}

/* ---- One certificate ---- */

void szgi_parsed_close(parsed_certificate *p) {
    szgi_memory_free(p->w);
    szgi_memory_free(p->theta);
    *p = (parsed_certificate){0};
}

/* The words of a text apart by single spaces; 0 for an empty text. */
static int64_t count_words(const char *text) {
    int64_t count = text[0] != '\0';
    for (; *text; text++)
        count += *text == ' ';
    return count;
}

/* Copies the next word; false where it is empty or too long. */
static bool next_word(const char **text, char word[64]) {
    size_t length = strcspn(*text, " ");
    if (length == 0 || length >= 64)
        return false;
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length + ((*text)[length] == ' ');
    return true;
}

static bool parse_finite(const char *word, double *out) {
    return szgi_real_parse(word, out) && isfinite(*out);
}

static bool parse_integer(const char *word, int64_t *out) {
    return szgi_integer_parse(word, out) == SZGI_PARSED && *out >= -INSTANCE_PHASE_MAX &&
           *out <= INSTANCE_PHASE_MAX;
}

static bool parse_phase(char *word, szgi_phase *out) {
    char *slash = strchr(word, '/');
    if (!slash) {
        *out = szgi_phase_radians(0.0);
        return parse_finite(word, &out->radians);
    }
    *slash = '\0';
    *out = szgi_phase_ratio(0, 1);
    return parse_integer(word, &out->p) && parse_integer(slash + 1, &out->q) && out->q >= 1;
}

static szg_status parse_weights(szg_context *context, const certificate_row *row,
                                parsed_certificate *p) {
    const char *text = row->weights;
    char word[64];
    p->c.at.weights = count_words(text);
    if (p->c.at.weights > INSTANCE_TERMS)
        return fail_cell(context, row, "weights", "more than %d weights", INSTANCE_TERMS);
    SZG_TRY(szgi_memory_alloc(context, p->c.at.weights, &p->w));
    p->c.at.w = p->w;
    for (int64_t i = 0; i < p->c.at.weights; i++)
        if (!next_word(&text, word) || !parse_finite(word, &p->w[i]))
            return fail_cell(context, row, "weights", "weight %" PRId64 " is not a finite number",
                             i);
    return SZG_OK;
}

static szg_status parse_phases(szg_context *context, const certificate_row *row,
                               parsed_certificate *p) {
    const char *text = row->phases;
    char word[64];
    p->c.at.phases = count_words(text);
    if (p->c.at.phases > INSTANCE_TERMS)
        return fail_cell(context, row, "phases", "more than %d phases", INSTANCE_TERMS);
    SZG_TRY(szgi_memory_alloc(context, p->c.at.phases, &p->theta));
    p->c.at.theta = p->theta;
    for (int64_t i = 0; i < p->c.at.phases; i++)
        if (!next_word(&text, word) || !parse_phase(word, &p->theta[i]))
            return fail_cell(context, row, "phases", "phase %" PRId64 " is neither radians nor p/q",
                             i);
    return SZG_OK;
}

static szg_status parse_quantity(szg_context *context, const certificate_row *row,
                                 const char *column, const char *name, quantity *out) {
    *out = szgi_quantity_find(name);
    return *out < Q_COUNT ? SZG_OK : fail_cell(context, row, column, "no such quantity");
}

static szg_status check_enclosure(szg_context *context, const certificate_row *row,
                                  const char *column, szg_interval stated) {
    if (isfinite(stated.lo) && isfinite(stated.hi) && stated.lo <= stated.hi)
        return SZG_OK;
    return fail_cell(context, row, column, "[%g, %g] is no enclosure", stated.lo, stated.hi);
}

szg_status szgi_certificate_parse(szg_context *context, const certificate_row *row,
                                  parsed_certificate *p) {
    quantity left, right;
    *p = (parsed_certificate){
        .c = {
            .id = row->id, .at = {.n = row->n}, .left = row->left_ends, .right = row->right_ends}};
    SZG_TRY(parse_quantity(context, row, "left", row->left, &left));
    SZG_TRY(parse_quantity(context, row, "right", row->right, &right));
    p->c.rule = szgi_refutation_find(row->id, row->kind, left, row->relation, right);
    SZG_TRY(parse_weights(context, row, p));
    SZG_TRY(parse_phases(context, row, p));
    SZG_TRY(check_enclosure(context, row, "left_lo", p->c.left));
    return check_enclosure(context, row, "right_lo", p->c.right);
}
