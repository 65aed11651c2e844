/* Searches over a lattice of few terms. */
#include <math.h>

#include "search.h"

const szgi_phase szgi_quarter_turns[4] = {{.rational = true, .p = 0, .q = 1},
                                          {.rational = true, .p = 1, .q = 2},
                                          {.rational = true, .p = 1, .q = 1},
                                          {.rational = true, .p = 3, .q = 2}};

double szgi_angle(const szgi_phase *theta) {
    return theta->rational ? M_PI * (double)theta->p / (double)theta->q : theta->radians;
}

double szgi_gap_unit(const instance *at) {
    return szgi_angle(&at->theta[0]) == 0.0 ? 1.0 : 0.0;
}

/* The `index`-th point of the lattice with `count` terms. */
static void set_point(const lattice *space, int64_t count, int64_t index, lattice_point *point) {
    for (int64_t i = count - 1; i >= 0; i--) {
        point->theta[i] = space->phase[index % space->phases];
        index /= space->phases;
    }
    for (int64_t i = count - 1; i >= 0; i--) {
        point->w[i] = space->weight[index % space->weights];
        index /= space->weights;
    }
    point->at = szgi_instance(count, point->w, point->theta);
}

szg_status szgi_lattice_search(claims_run *run, const lattice *space, const refutation *rule,
                               const char *note, lattice_point *point, bool *found) {
    int64_t points = 1;
    *found = false;
    for (int64_t count = 1; count <= space->most; count++) {
        points *= space->weights * space->phases;
        for (int64_t index = 0; index < points && !*found; index++) {
            set_point(space, count, index, point);
            if (space->gap && !(space->gap(&point->at) > 1e-9))
                continue;
            SZG_TRY(szgi_certify(run, rule, &point->at, note, found));
        }
        if (*found)
            return SZG_OK;
        SZG_TRY(szgi_context_check_cancel(run->context));
    }
    return SZG_OK;
}
