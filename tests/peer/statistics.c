/* What the comparison with SciPy asks of szego's statistics. Each line of the input is a question,
 * a count, and numbers: interval x, flip x, holm p, spearman x y, ranks x y, pool (x y arm
 * seed)..., tail count share, quantile count chance. The answer is a line of numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/context.h"
#include "base/correlation.h"
#include "base/inference.h"
#include "base/memory.h"
#include "train/reproduce/shares.h"

enum { MOST = 512 };

static void print(int64_t count, const double *x) {
    for (int64_t i = 0; i < count; i++)
        printf("%.17g%c", x[i], i + 1 < count ? ' ' : '\n');
}

static szg_status pool(szg_context *context, int64_t count, const double *x,
                       szgi_correlation *out) {
    szgi_grouped run[MOST / 4];
    szgi_pooled pooled;
    for (int64_t i = 0; i < count / 4; i++)
        run[i] =
            (szgi_grouped){x[4 * i], x[4 * i + 1], (int64_t)x[4 * i + 2], (uint64_t)x[4 * i + 3]};
    SZG_TRY(szgi_pool_groups(context, count / 4, run, &pooled));
    *out = pooled.correlation;
    return SZG_OK;
}

static szg_status correlate(szg_context *context, bool arms, int64_t count, const double *x,
                            double *out) {
    szgi_correlation found;
    SZG_TRY(arms ? pool(context, count, x, &found)
                 : szgi_spearman_interval(context, count / 2, x, x + count / 2, &found));
    out[0] = found.value, out[1] = found.low, out[2] = found.high;
    return SZG_OK;
}

static szg_status answer(szg_context *context, const char *question, int64_t count,
                         const double *x) {
    double out[MOST];
    int64_t size = 1;
    szg_status status = SZG_OK;
    if (strcmp(question, "interval") == 0) {
        szgi_mean_interval mean = szgi_mean_interval_of(count, x);
        out[0] = mean.mean, out[1] = mean.low, out[2] = mean.high;
        size = 3;
    } else if (strcmp(question, "flip") == 0) {
        out[0] = szgi_sign_flip(count, x, 0);
    } else if (strcmp(question, "holm") == 0) {
        status = szgi_holm(context, count, x, out);
        size = count;
    } else if (strcmp(question, "spearman") == 0) {
        status = szgi_spearman(context, count / 2, x, x + count / 2, out);
    } else if (strcmp(question, "ranks") == 0 || strcmp(question, "pool") == 0) {
        status = correlate(context, question[0] == 'p', count, x, out);
        size = 3;
    } else if (strcmp(question, "tail") == 0) {
        out[0] = szgi_largest_share_tail((int64_t)x[0], x[1]);
    } else if (strcmp(question, "quantile") == 0) {
        out[0] = szgi_largest_share_quantile((int64_t)x[0], x[1]);
    } else {
        return szgi_fail(context, SZG_EINVAL, "%s is no question", question);
    }
    if (status == SZG_OK)
        print(size, out);
    return status;
}

int main(void) {
    szg_context *context;
    char question[16];
    int64_t count;
    double x[MOST];
    szg_status status = szg_context_open(NULL, &context);
    while (status == SZG_OK && scanf("%15s %" SCNd64, question, &count) == 2) {
        if (count < 0 || count > MOST)
            return EXIT_FAILURE;
        for (int64_t i = 0; i < count; i++)
            if (scanf("%lf", &x[i]) != 1)
                return EXIT_FAILURE;
        status = answer(context, question, count, x);
    }
    if (status != SZG_OK)
        fprintf(stderr, "statistics: %s\n", szg_context_message(context));
    szg_context_close(&context);
    return status == SZG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
