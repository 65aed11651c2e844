/* Softmax cross-entropy over the classes. */
#include <math.h>

#include "cpu_network.h"
#include "cpu_work.h"
#include "memory.h"

enum { SLICE = 16 };
static const double NANOSECONDS_A_CLASS = 8;

typedef struct entropy_job {
    const szgi_cross_entropy *entropy;
    szgi_cpu_split split;
    double scale;    /* of the gradient: 1 over the counted examples, or 0 */
    szgi_tally *sum; /* of each slice */
} entropy_job;

static bool counts(const szgi_cross_entropy *e, int64_t example) {
    return e->ignored < 0 || e->labels[example] != e->ignored;
}

static int64_t first_largest(const float *logits, int64_t classes) {
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (logits[c] > logits[best])
            best = c;
    return best;
}

static void score(const entropy_job *job, int64_t example, szgi_tally *sum) {
    const szgi_cross_entropy *e = job->entropy;
    const float *logits = (const float *)e->logits + example * e->classes;
    float *gradient = e->dlogits ? (float *)e->dlogits + example * e->classes : NULL;
    bool counted = counts(e, example);
    for (int64_t c = 0; !counted && gradient && c < e->classes; c++)
        gradient[c] = 0;
    if (!counted)
        return;
    int64_t best = first_largest(logits, e->classes), label = e->labels[example];
    float largest = logits[best];
    double total = 0;
    for (int64_t c = 0; c < e->classes; c++) {
        float weight = expf(logits[c] - largest);
        total += (double)weight;
        if (gradient)
            gradient[c] = weight;
    }
    float factor = (float)(job->scale / total);
    for (int64_t c = 0; gradient && c < e->classes; c++)
        gradient[c] *= factor;
    if (gradient)
        gradient[label] -= (float)job->scale;
    sum->loss += log(total) - ((double)logits[label] - (double)largest);
    sum->counted++;
    sum->correct += best == label;
}

static szg_status score_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const entropy_job *job = argument;
    int64_t first = szgi_cpu_split_first(&job->split, block);
    int64_t end = first + szgi_cpu_split_count(&job->split, block);
    szgi_tally sum = {0};
    for (int64_t example = first; example < end; example++)
        score(job, example, &sum);
    job->sum[block] = sum;
    return SZG_OK;
}

szg_status szgi_cpu_cross_entropy(szg_context *context, const szgi_cross_entropy *entropy) {
    entropy_job job = {.entropy = entropy};
    job.split =
        szgi_cpu_split_of(entropy->batch, SLICE, NANOSECONDS_A_CLASS * (double)entropy->classes);
    int64_t counted = 0;
    for (int64_t example = 0; example < entropy->batch; example++)
        counted += counts(entropy, example);
    job.scale = counted > 0 ? 1 / (double)counted : 0;
    SZG_TRY(szgi_cpu_work(context, job.split.slices, sizeof *job.sum, &job.sum));
    SZG_TRY(szgi_pool_run(context, job.split.slices, score_slice, &job));
    szgi_tally sum = *entropy->tally;
    for (int64_t slice = 0; slice < job.split.slices; slice++) {
        sum.loss += job.sum[slice].loss;
        sum.counted += job.sum[slice].counted;
        sum.correct += job.sum[slice].correct;
    }
    szgi_host_set_tally(entropy, &sum);
    return SZG_OK;
}
