/* What has not run. */
#include "reproduce_private.h"

#define MISSING(X)                                                                                 \
    RUN_COLUMNS(X, MISSING)                                                                        \
    X(MISSING_STATE, "state", SZG_TEXT, "", "state",                                               \
      "not begun, begun, failed (its numbers stopped being finite, or those of the run that says " \
      "on which head it intervenes), or left out (there is no such head)")                         \
    X(MISSING_FAILED_STEP, "failed_step", SZG_INTEGER, "1", "step of the failure",                 \
      "steps done when its own numbers stopped being finite; empty: they did not")                 \
    X(MISSING_NOTE, "note", SZG_TEXT, "", "note", "")
SZGI_SCHEMA(missing_columns, "missing", MISSING, SZGI_NOT_SHOWN);

static szg_status missing_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                              const reproduction_run *run) {
    const szg_run_key key = reproduction_key(run);
    bool begun = false;
    char words[HEAD_WORDS];
    if (run->folder)
        SZG_TRY(szgi_reproduction_is_begun(context, run, &begun));
    szgi_row row = szgi_row_add(context, table);
    szgi_run_key_put(&row, &key);
    szgi_row_text(&row, MISSING_STATE,
                  run->shown.failed              ? "failed"
                  : reproduction_lacks_head(run) ? "left out"
                  : begun                        ? "begun"
                                                 : "not begun");
    szgi_row_place(&row, MISSING_FAILED_STEP, run->shown.failed_step);
    if (reproduction_lacks_head(run))
        szgi_row_note(&row, "left out: %s", szgi_head_absence(self, run, words));
    else if (run->shown.failed)
        szgi_row_note(&row, "%s", run->reason);
    else
        szgi_row_note(&row, "%s", begun ? "begun, not finished" : "not begun");
    if (run->head_state == HEAD_OPEN)
        szgi_row_note(&row, "%s says on which head it intervenes", self->run[run->needs].name);
    return row.status;
}

szg_status szgi_reproduction_missing(szg_context *context, const szg_reproduction *self,
                                     szg_table **out) {
    SZG_TRY(szgi_schema_open(context, &missing_columns_schema, out));
    for (int64_t i = 0; i < self->count; i++)
        if (!self->run[i].shown.finished)
            SZG_TRY(missing_row(context, *out, self, &self->run[i]));
    return SZG_OK;
}
