/* One query's sums of weights, and what they say. */
#include <math.h>

#include "statistics_private.h"

/* Where nothing of the sums is left, neither is of the slope, whose -infinity times 0 would be no
 * number. */
void szgi_statistics_raise(double top, statistics_sums *s) {
    double factor = exp(s->top - top);
    s->slope = factor > 0 ? factor * (s->slope + (s->top - top) * s->weight) : 0;
    s->weight *= factor;
    s->first *= factor;
    s->sinks *= factor;
    s->top = top;
}

void szgi_statistics_take(int64_t count, double *x, statistics_sums *s) {
    double top = s->top, weight = 0, slope = 0;
    for (int64_t j = 0; j < count; j++)
        top = x[j] > top ? x[j] : top;
    if (top > s->top)
        szgi_statistics_raise(top, s);
    for (int64_t j = 0; j < count; j++) {
        double t = x[j] - top, e = exp(t);
        weight += e;
        slope += e > 0 ? t * e : 0;
        x[j] = e;
    }
    s->weight += weight;
    s->slope += slope;
}

void szgi_statistics_finish(const statistics_job *job, const statistics_sums *taken,
                            statistics_query *q) {
    statistics_sums s = *taken;
    double learned = job->options.sink_logit ? *job->options.sink_logit : 0;
    if (job->options.sink_logit)
        szgi_statistics_take(1, &learned, &s);
    q->entropy = log(s.weight) - s.slope / s.weight;
    q->first = s.first / s.weight;
    q->sinks = s.sinks / s.weight;
    q->learned = learned / s.weight;
}
