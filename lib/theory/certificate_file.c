/* Reading certificates: files of JSON or CSV, and what one row says. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/csv.h"

#include "claims/claim.h"
#include "recheck.h"

/* ---- Files ---- */

static szg_status add_cell(szg_context *context, szgi_json *object, const szg_table *table,
                           int64_t row, int64_t column) {
    const szg_column *about = szg_table_column(table, column);
    if (szg_table_is_empty(table, row, column))
        return szgi_json_add_text(context, object, about->name, "");
    if (about->type == SZG_INTEGER)
        return szgi_json_add_integer(context, object, about->name,
                                     szg_table_get_integer(table, row, column));
    return szgi_json_add_text(context, object, about->name, szg_table_get_text(table, row, column));
}

static szg_status add_row(szg_context *context, szgi_json *rows, const szg_table *table,
                          int64_t row) {
    szgi_json *object;
    SZG_TRY(szgi_json_open_object(context, &object));
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        szg_status status = add_cell(context, object, table, row, i);
        if (status != SZG_OK) {
            szgi_json_close(&object);
            return status;
        }
    }
    return szgi_json_add(context, rows, NULL, &object);
}

/* The document that `--format json` would have made of the same table. */
static szg_status document_of(szg_context *context, const szg_table *table, szgi_json **out) {
    szgi_json *rows = NULL;
    szg_status status;
    *out = NULL;
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &rows), done);
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        SZG_TRY_GOTO(status, add_row(context, rows, table, row), done);
    SZG_TRY_GOTO(status, szgi_json_open_object(context, out), done);
    status = szgi_json_add(context, *out, "certificates", &rows);
done:
    szgi_json_close(&rows);
    if (status != SZG_OK)
        szgi_json_close(out);
    return status;
}

szg_status szgi_certificate_file_read(szg_context *context, const char *path, szgi_json **out) {
    const char *ending = strrchr(path, '.');
    if (!ending || strcmp(ending, ".csv") != 0)
        return szgi_json_read(context, path, out);
    szg_table *table;
    *out = NULL;
    SZG_TRY(szgi_csv_read_schema(context, path, szgi_certificate_schema, &table));
    szg_status status = szg_table_rows(table) > 0
                            ? document_of(context, table, out)
                            : szgi_fail(context, SZG_EDATA, "%s: holds no certificate", path);
    szg_table_close(&table);
    return status;
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

static szg_status parse_weights(szg_context *context, szgi_json_value value,
                                parsed_certificate *p) {
    const char *text;
    char word[64];
    SZG_TRY(szgi_json_as_text(context, value, &text));
    p->c.at.weights = count_words(text);
    if (p->c.at.weights > INSTANCE_TERMS)
        return szgi_json_fail(context, value, "more than %d weights", INSTANCE_TERMS);
    SZG_TRY(szgi_memory_alloc(context, p->c.at.weights, &p->w));
    p->c.at.w = p->w;
    for (int64_t i = 0; i < p->c.at.weights; i++)
        if (!next_word(&text, word) || !parse_finite(word, &p->w[i]))
            return szgi_json_fail(context, value, "weight %" PRId64 " is not a finite number", i);
    return SZG_OK;
}

static szg_status parse_phases(szg_context *context, szgi_json_value value, parsed_certificate *p) {
    const char *text;
    char word[64];
    SZG_TRY(szgi_json_as_text(context, value, &text));
    p->c.at.phases = count_words(text);
    if (p->c.at.phases > INSTANCE_TERMS)
        return szgi_json_fail(context, value, "more than %d phases", INSTANCE_TERMS);
    SZG_TRY(szgi_memory_alloc(context, p->c.at.phases, &p->theta));
    p->c.at.theta = p->theta;
    for (int64_t i = 0; i < p->c.at.phases; i++)
        if (!next_word(&text, word) || !parse_phase(word, &p->theta[i]))
            return szgi_json_fail(context, value, "phase %" PRId64 " is neither radians nor p/q",
                                  i);
    return SZG_OK;
}

static szg_status parse_quantity(szg_context *context, szgi_json_value value, quantity *out) {
    const char *text;
    SZG_TRY(szgi_json_as_text(context, value, &text));
    *out = szgi_quantity_find(text);
    return *out < Q_COUNT ? SZG_OK : szgi_json_fail(context, value, "no such quantity");
}

static szg_status parse_enclosure(szg_context *context, szgi_json_value row, const char *lo,
                                  const char *hi, szg_interval *out) {
    szgi_json_value low = szgi_json_member(row, lo), high = szgi_json_member(row, hi);
    SZG_TRY(szgi_json_as_hex(context, low, &out->lo));
    SZG_TRY(szgi_json_as_hex(context, high, &out->hi));
    if (!isfinite(out->lo) || !isfinite(out->hi) || !(out->lo <= out->hi))
        return szgi_json_fail(context, low, "[%g, %g] is no enclosure", out->lo, out->hi);
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

/* Which rule of which claim; NULL where there is no such rule. */
static szg_status parse_rule(szg_context *context, szgi_json_value row, parsed_certificate *p) {
    const char *relation;
    quantity left, right;
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(row, "id"), &p->c.id));
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(row, "kind"), &p->kind));
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(row, "relation"), &relation));
    SZG_TRY(parse_quantity(context, szgi_json_member(row, "left"), &left));
    SZG_TRY(parse_quantity(context, szgi_json_member(row, "right"), &right));
    p->c.rule = szgi_refutation_find(p->c.id, p->kind, left, relation, right);
    return SZG_OK;
}

szg_status szgi_certificate_parse(szg_context *context, szgi_json_value row,
                                  parsed_certificate *p) {
    certificate *c = &p->c;
    SZG_TRY(szgi_json_as_object(context, row));
    SZG_TRY(refuse_unknown_members(context, row));
    SZG_TRY(parse_rule(context, row, p));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(row, "n"), &c->at.n));
    SZG_TRY(parse_weights(context, szgi_json_member(row, "weights"), p));
    SZG_TRY(parse_phases(context, szgi_json_member(row, "phases"), p));
    SZG_TRY(parse_enclosure(context, row, "left_lo", "left_hi", &c->left));
    return parse_enclosure(context, row, "right_lo", "right_hi", &c->right);
}
