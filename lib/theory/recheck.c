/* The second code path: judging certificates, and files of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/row.h"
#include "formats/csv.h"
#include "theory/claims.h"

#include "recheck.h"

/* ---- Judging ---- */

/* A stated enclosure must contain the recomputed one and say no less than what the writer knew: one
 * that is much wider is true of anything, and a sign of corruption. */
#define WIDEST 1e-8

static bool agrees(szg_interval value, szg_interval stated) {
    double room = WIDEST * fmax(1.0, fmax(fabs(value.lo), fabs(value.hi)));
    return stated.lo <= value.lo && value.hi <= stated.hi && stated.hi - stated.lo <= room;
}

/* What the stated enclosures by themselves show. */
static bool relation_follows(const certificate *c) {
    const char *relation = c->rule->relation;
    szg_interval a = c->left, b = c->right;
    if (strcmp(relation, "<") == 0)
        return a.hi < b.lo;
    if (strcmp(relation, ">") == 0)
        return b.hi < a.lo;
    bool meet = a.lo <= b.hi && b.lo <= a.hi;
    return strcmp(relation, "=") == 0 ? meet && c->rule->equal->recheck(&c->at) : !meet;
}

static szg_status side_matches(szg_context *context, quantity q, const instance *at,
                               szg_interval stated, bool *matches) {
    szg_interval value;
    SZG_TRY(szgi_quantity_recheck(context, q, at, &value));
    *matches = agrees(value, stated);
    return SZG_OK;
}

/* Why a certificate is refused; NULL where it is confirmed. */
static szg_status judge(szg_context *context, const certificate *c, const char **reason) {
    const refutation *rule = c->rule;
    bool good;
    if (!rule) {
        *reason = "these quantities in this relation refute nothing of this claim in this way";
        return SZG_OK;
    }
    if (!szgi_refutation_accepts(rule, &c->at) || (c->at.phases > 0 && rule->no_phases)) {
        *reason = "n and the numbers of weights and phases do not fit the quantities";
        return SZG_OK;
    }
    SZG_TRY(szgi_refutation_recheck(context, rule, &c->at, &good));
    if (!good) {
        *reason = "a hypothesis of the claim does not hold for these inputs";
        return SZG_OK;
    }
    if (!relation_follows(c)) {
        *reason = "the relation does not follow from the enclosures";
        return SZG_OK;
    }
    SZG_TRY(side_matches(context, rule->left, &c->at, c->left, &good));
    if (!good) {
        *reason = "the enclosure of the left quantity is not what the inputs give";
        return SZG_OK;
    }
    SZG_TRY(side_matches(context, rule->right, &c->at, c->right, &good));
    *reason = good ? NULL : "the enclosure of the right quantity is not what the inputs give";
    return SZG_OK;
}

szg_status szgi_certificate_recheck(szg_context *context, const certificate *c, bool *confirmed,
                                    char reason[256]) {
    const char *why = NULL;
    szg_status status = judge(context, c, &why);
    *confirmed = status == SZG_OK && !why;
    reason[0] = '\0';
    if (status == SZG_ENOMEM || status == SZG_ECANCEL || status == SZG_EINTERNAL)
        return status;
    if (status != SZG_OK) /* numbers that cannot be computed with: the message says which */
        snprintf(reason, 256, "%s", szg_context_message(context));
    else if (why)
        snprintf(reason, 256, "%s", why);
    return SZG_OK;
}

/* ---- Files ---- */

#define RESULTS(X)                                                                                 \
    X(RESULT_ID, "id", SZG_TEXT, "", "claim", "the claim")                                         \
    X(RESULT_KIND, "kind", SZG_TEXT, "", "kind", "kind of the certificate")                        \
    X(RESULT_VERDICT, "verdict", SZG_TEXT, "", "verdict", "confirmed or refused")                  \
    X(RESULT_NOTE, "note", SZG_TEXT, "", "note", "why it was refused")
#define RESULTS_SCREEN                                                                             \
    SZGI_SHOW(1, id)                                                                               \
    SZGI_SHOW(1, kind)                                                                             \
    SZGI_SHOW_WORD(1, verdict)
SZGI_SCHEMA(results_columns, "checks", RESULTS, RESULTS_SCREEN);

/* `reading`: whether the row could be read; SZG_EDATA refuses it, and the message says why. */
static szg_status check_row(szg_context *context, szg_status reading, const certificate_row *row,
                            szg_table *results, int64_t *refused) {
    parsed_certificate p = {0};
    char reason[256] = "";
    bool confirmed = false;
    szg_status status = reading;
    if (status == SZG_OK)
        status = szgi_certificate_parse(context, row, &p);
    if (status == SZG_EDATA) {
        snprintf(reason, sizeof reason, "%s", szg_context_message(context));
        status = SZG_OK;
    } else if (status == SZG_OK)
        status = szgi_certificate_recheck(context, &p.c, &confirmed, reason);
    szgi_parsed_close(&p);
    SZG_TRY(status);
    *refused += !confirmed;
    szgi_row line = szgi_row_add(context, results);
    szgi_row_text(&line, RESULT_ID, row->id);
    szgi_row_text(&line, RESULT_KIND, row->kind);
    szgi_row_text(&line, RESULT_VERDICT, confirmed ? "confirmed" : "refused");
    szgi_row_text(&line, RESULT_NOTE, reason[0] ? reason : NULL);
    return line.status;
}

static szg_status check_member(szg_context *context, szgi_json_value value, szg_table *results,
                               int64_t *refused) {
    certificate_row row;
    szg_status status = szgi_certificate_from_json(context, value, &row);
    return check_row(context, status, &row, results, refused);
}

/* One note on claims that a ledger of an earlier version had: they never had a certificate. */
static void note_judged(szg_context *context, szgi_json_value claims) {
    for (int64_t i = 0; i < szgi_json_count(claims); i++) {
        szgi_json_value id = szgi_json_member(szgi_json_element(claims, i), "id");
        const char *text = NULL;
        if (szgi_json_kind_of(id) != SZGI_JSON_TEXT ||
            szgi_json_as_text(context, id, &text) != SZG_OK || !szgi_claim_is_judged(text))
            continue;
        szgi_say(context, SZG_NOTE,
                 "C1, C2 and C3 of this ledger are not checked: they speak of trained models, and "
                 "`szego judge` computes what runs say of them");
        return;
    }
}

/* The object {"certificates": [...]}, or one certificate by itself. */
static szg_status check_document(szg_context *context, const szgi_json *json, szg_table *results,
                                 int64_t *refused) {
    szgi_json_value root = szgi_json_root(json), rows = szgi_json_member(root, "certificates");
    SZG_TRY(szgi_json_as_object(context, root));
    if (szgi_json_kind_of(rows) == SZGI_JSON_ABSENT && szgi_json_has(root, "id"))
        return check_member(context, root, results, refused);
    SZG_TRY(szgi_json_as_array(context, rows));
    note_judged(context, szgi_json_member(root, "claims"));
    int64_t count = szgi_json_count(rows);
    if (count == 0)
        return szgi_json_fail(context, rows, "holds no certificate: nothing can be confirmed");
    for (int64_t i = 0; i < count; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(check_member(context, szgi_json_element(rows, i), results, refused));
        szgi_progress(context, "certificates", i + 1, count);
    }
    return SZG_OK;
}

static szg_status check_table(szg_context *context, const char *path, const szg_table *table,
                              szg_table *results, int64_t *refused) {
    int64_t count = szg_table_rows(table);
    if (count == 0)
        return szgi_fail(context, SZG_EDATA, "%s: holds no certificate", path);
    for (int64_t i = 0; i < count; i++) {
        certificate_row row;
        SZG_TRY(szgi_context_check_cancel(context));
        szg_status status = szgi_certificate_from_table(context, path, table, i, &row);
        SZG_TRY(check_row(context, status, &row, results, refused));
        szgi_progress(context, "certificates", i + 1, count);
    }
    return SZG_OK;
}

static szg_status check_json(szg_context *context, szgi_json **json, szg_table *results,
                             int64_t *refused) {
    szg_status status = check_document(context, *json, results, refused);
    szgi_json_close(json);
    return status;
}

static szg_status check_file(szg_context *context, const char *path, szg_table *results,
                             int64_t *refused) {
    const char *ending = strrchr(path, '.');
    if (!ending || strcmp(ending, ".csv") != 0) {
        szgi_json *json;
        SZG_TRY(szgi_json_read(context, path, &json));
        return check_json(context, &json, results, refused);
    }
    szg_table *table;
    SZG_TRY(szgi_csv_read_schema(context, path, szgi_certificate_schema, &table));
    szg_status status = check_table(context, path, table, results, refused);
    szg_table_close(&table);
    return status;
}

static szg_status open_results(szg_context *context, szg_table **results, int64_t *refused) {
    *refused = 0;
    return szgi_schema_open(context, &results_columns_schema, results);
}

szg_status szg_certificates_check(szg_context *context, const char *path, szg_table **results,
                                  int64_t *refused) {
    *results = NULL;
    SZGI_ENTER(context);
    SZG_TRY(open_results(context, results, refused));
    szg_status status = check_file(context, path, *results, refused);
    if (status != SZG_OK)
        szg_table_close(results);
    return status;
}

szg_status szgi_certificates_check_text(szg_context *context, const char *name, const char *text,
                                        int64_t size, szg_table **results, int64_t *refused) {
    szgi_json *json = NULL;
    SZG_TRY(open_results(context, results, refused));
    szg_status status = szgi_json_parse(context, name, text, size, &json);
    if (status == SZG_OK)
        status = check_json(context, &json, *results, refused);
    if (status != SZG_OK)
        szg_table_close(results);
    return status;
}
