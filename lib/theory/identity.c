#include <math.h>

#include "identity.h"

szg_status szgi_identity_open(claims_run *run, int64_t registers, identity *out) {
    *out = (identity){.twist = run->twist, .worst = 0.0};
    return szgi_balls_open(run->context, registers, SZG_BALL_BITS, &out->balls);
}

void szgi_identity_close(identity *id) {
    szgi_balls_close(&id->balls);
}

szg_status szgi_balls_zero(szg_context *context, szgi_balls *balls, int64_t r) {
    return szgi_balls_set(context, balls, r, (szg_c64){0.0, 0.0});
}

szg_status szgi_balls_number(szg_context *context, szgi_balls *balls, int64_t r, double x) {
    return szgi_balls_set(context, balls, r, (szg_c64){x, 0.0});
}

szg_status szgi_balls_accumulate(szg_context *context, szgi_balls *balls, int64_t r, int64_t x,
                                 int64_t y, int64_t scratch) {
    SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_MULTIPLY, scratch, x, y));
    return szgi_balls_apply(context, balls, SZG_BALL_ADD, r, r, scratch);
}

static double bound(szg_interval x) {
    return fmax(fabs(x.lo), fabs(x.hi));
}

static bool excludes_zero(szg_interval x) {
    return !(x.lo <= 0.0 && x.hi >= 0.0);
}

szg_status szgi_identity_compare(szg_context *context, identity *id, int64_t left, int64_t right) {
    szg_interval re, im;
    if (id->twist != 0.0) { /* left -> left (1 + twist) + twist */
        double factor = 1.0 + id->twist;
        SZG_TRY(szgi_balls_get(context, id->balls, left, &re, &im));
        szg_c64 moved = {factor * re.lo + id->twist, factor * im.lo};
        SZG_TRY(szgi_balls_set(context, id->balls, left, moved));
    }
    SZG_TRY(szgi_balls_apply(context, id->balls, SZG_BALL_SUBTRACT, left, left, right));
    SZG_TRY(szgi_balls_get(context, id->balls, left, &re, &im));
    id->trials++;
    id->refuted += excludes_zero(re) || excludes_zero(im);
    id->worst = fmin(id->worst, -hypot(bound(re), bound(im)));
    return SZG_OK;
}

void szgi_identity_finding(const identity *id, finding *out) {
    szgi_finding_holds(out, id->trials, id->refuted, id->worst);
    szgi_finding_note(out, "margin -|left - right|, bounded in ball arithmetic");
}
