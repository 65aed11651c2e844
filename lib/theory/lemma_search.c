#include "lemma.h"

/* The `index`-th point of the lattice with `count` terms. */
static void lattice_point(const lattice *space, int64_t count, int64_t index, double *w,
                          szgi_phase *theta) {
    for (int64_t i = count - 1; i >= 0; i--) {
        theta[i] = space->phase[index % space->phases];
        index /= space->phases;
    }
    for (int64_t i = count - 1; i >= 0; i--) {
        w[i] = space->weight[index % space->weights];
        index /= space->weights;
    }
}

szg_status szgi_lattice_search(claims_run *run, const lattice *space, certificate *c, double *w,
                               szgi_phase *theta, bool *found) {
    int64_t points = 1;
    c->w = w;
    c->theta = theta;
    *found = false;
    for (int64_t count = 1; count <= space->most; count++) {
        points *= space->weights * space->phases;
        c->n = c->weights = c->phases = count;
        for (int64_t index = 0; index < points && !*found; index++) {
            lattice_point(space, count, index, w, theta);
            if (space->gap && !(space->gap(c) > 1e-9))
                continue;
            SZG_TRY(szgi_claims_certify(run, c, found));
        }
        if (*found)
            return SZG_OK;
        SZG_TRY(szgi_context_check_cancel(run->context));
    }
    return SZG_OK;
}

szg_status szgi_evidence_quantity(claims_run *run, const char *name, quantity q,
                                  const certificate *c, const char *note) {
    szg_interval value;
    SZG_TRY(szgi_quantity_enclose(run->context, q, c, &value));
    return szgi_evidence_add(run, c->id, name, value, note);
}
