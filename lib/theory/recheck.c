/* The second code path: judging certificates, and files of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/row.h"
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

static szg_status check_one(szg_context *context, szgi_json_value row, szg_table *results,
                            int64_t *refused) {
    parsed_certificate p = {0};
    char reason[256] = "";
    bool confirmed = false;
    szg_status status = szgi_certificate_parse(context, row, &p);
    if (status == SZG_EDATA)
        snprintf(reason, sizeof reason, "%s", szg_context_message(context));
    else if (status == SZG_OK)
        status = szgi_certificate_recheck(context, &p.c, &confirmed, reason);
    if (status == SZG_EDATA)
        status = SZG_OK;
    if (status != SZG_OK)
        goto done;
    *refused += !confirmed;
    szgi_row line = szgi_row_add(context, results);
    szgi_row_text(&line, RESULT_ID, p.c.id);
    szgi_row_text(&line, RESULT_KIND, p.kind);
    szgi_row_text(&line, RESULT_VERDICT, confirmed ? "confirmed" : "refused");
    szgi_row_text(&line, RESULT_NOTE, reason[0] ? reason : NULL);
    status = line.status;
done:
    szgi_parsed_close(&p);
    return status;
}

static szg_status check_document(szg_context *context, const szgi_json *json, szg_table *results,
                                 int64_t *refused) {
    szgi_json_value root = szgi_json_root(json), rows = szgi_json_member(root, "certificates");
    SZG_TRY(szgi_json_as_object(context, root));
    if (szgi_json_kind_of(rows) == SZGI_JSON_ABSENT && szgi_json_has(root, "id"))
        return check_one(context, root, results, refused);
    SZG_TRY(szgi_json_as_array(context, rows));
    int64_t count = szgi_json_count(rows);
    if (count == 0)
        return szgi_json_fail(context, rows, "holds no certificate: nothing can be confirmed");
    for (int64_t i = 0; i < count; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(check_one(context, szgi_json_element(rows, i), results, refused));
        szgi_progress(context, "certificates", i + 1, count);
    }
    return SZG_OK;
}

static szg_status check_and_close(szg_context *context, szgi_json **json, szg_table **results,
                                  int64_t *refused) {
    *refused = 0;
    szg_status status = szgi_schema_open(context, &results_columns_schema, results);
    if (status == SZG_OK)
        status = check_document(context, *json, *results, refused);
    szgi_json_close(json);
    if (status != SZG_OK)
        szg_table_close(results);
    return status;
}

szg_status szg_certificates_check(szg_context *context, const char *path, szg_table **results,
                                  int64_t *refused) {
    szgi_json *json = NULL;
    *results = NULL;
    SZGI_ENTER(context);
    SZG_TRY(szgi_certificate_file_read(context, path, &json));
    return check_and_close(context, &json, results, refused);
}

szg_status szgi_certificates_check_text(szg_context *context, const char *name, const char *text,
                                        int64_t size, szg_table **results, int64_t *refused) {
    szgi_json *json = NULL;
    *results = NULL;
    SZG_TRY(szgi_json_parse(context, name, text, size, &json));
    return check_and_close(context, &json, results, refused);
}
