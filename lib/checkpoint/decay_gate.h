/* What a gate may be, and what it typically is: docs/explanation/theory.md, "Decays of recurrent
 * layers". */
#ifndef SZG_CHECKPOINT_DECAY_GATE_H
#define SZG_CHECKPOINT_DECAY_GATE_H

#include "checkpoint_private.h"

/* The log decay of a step, by the gate's argument g. */
typedef struct gate_rule {
    bool bounded;       /* bound sigmoid(rate g), not -rate softplus(g) */
    bool sums;          /* the model computes softplus as log(1 + exp(g)) (Kimi) */
    double rate, bound; /* bound: negative */
    double least, most; /* softplus is clamped to these */
    double unit;        /* unit roundoff of the gate's type */
} gate_rule;

/* One channel: its argument is shift + radius q, q a coordinate of a point of the unit sphere. What
 * the model computes is within `reach` of shift. */
typedef struct gate_channel {
    double shift, radius, reach;
} gate_channel;

/* A channel's reach: its radius, and what rounding adds. `shifts`: the sum of the moduli of the
 * shift's terms; `inner`: 0, or the largest sum of moduli of what a second matrix adds up; `size`:
 * how many numbers are summed. */
double szgi_gate_reach(double radius, double shifts, double inner, int64_t size, double unit);

/* Log decays of a step, both <= 0: no token has one outside. */
typedef struct decay_range {
    double least, most;
} decay_range;

decay_range szgi_gate_range(const gate_rule *rule, int64_t count, const gate_channel *channel);

/* The law of one coordinate of a point that is uniform on the unit sphere of `size` dimensions. */
typedef struct sphere_law {
    int64_t size;
    double step;    /* angle between two points */
    double *chance; /* [SPHERE_POINTS]: that the coordinate lies in [0, sin(i step)] */
} sphere_law;
enum { SPHERE_POINTS = 4097 };

/* size >= 2. The caller frees law->chance. */
SZG_CHECK_RESULT szg_status szgi_sphere_open(szg_context *context, int64_t size, sphere_law *law);
/* The chance that the coordinate is at most x, to 10^-6. */
double szgi_sphere_chance(const sphere_law *law, double x);

/* Where tokens are uniform on the sphere, and all channels as likely: the log decays whose
 * half-lives are the quantiles of these chances, the shortest first. */
enum { TYPICAL = 3 };
extern const double szgi_typical_chance[TYPICAL];
void szgi_gate_typical(const gate_rule *rule, const sphere_law *law, int64_t count,
                       const gate_channel *channel, double out[TYPICAL]);

#endif
