/* Is a head positional, at which lags, and is it more than chance? docs/explanation/theory.md,
 * "Positional heads". */
#ifndef SZG_CHECKPOINT_POSITIONAL_H
#define SZG_CHECKPOINT_POSITIONAL_H

#include <math.h>

#include "summary/discoveries.h"
#include "chance.h"
#include "law.h"
#include "shape.h"

/* The two kernels of a head: the expected logit of a token and its own copy, and of two tokens that
 * are independent. They answer different questions. */
typedef enum kernel_kind { KERNEL_SELF, KERNEL_MEAN, KERNEL_KINDS } kernel_kind;
/* "self", "mean": as tables call them. */
const char *szgi_kernel_name(kernel_kind kind);

/* What is said of one kernel. */
typedef struct kernel_facts {
    double share, null, p; /* the null's quantile at 0.95; NaN: not known */
    double noise;          /* root of the mean variance of independent tokens' logits */
    kernel_shape shape;
} kernel_facts;

/* A kernel at one lag, and between what values 95% of the draws are there. NaN: not known. */
typedef struct kernel_value {
    double value, low, high;
} kernel_value;

typedef struct head_positional {
    const char *why;     /* NULL, or why there are no numbers: static */
    const char *lack;    /* NULL, or why one kernel of the two is missing: static */
    int64_t first, lags; /* first .. lags - 1 */
    int64_t slow;    /* rotary pairs that turn less than once within the lags; -1: no rotation */
    bool vocabulary; /* the mean kernel is that of the vocabulary, not of biases alone, and */
    bool counted;    /* its tokens are as likely as the caller says */
    double spread;   /* of logits about the mean kernel's, along diagonals; NaN: there is none */
    kernel_facts kernel[KERNEL_KINDS];
    lag_list listed;                   /* lags of the table `kernel` */
    kernel_value *value[KERNEL_KINDS]; /* [listed.count] */
    double *drawn[KERNEL_KINDS];       /* [CHANCE_DRAWS]: shares; NULL: no null */
    double *memory;
} head_positional;

typedef struct positional_input {
    law_input head;
    const lag_moments *moments;
    double *room; /* szgi_positional_room numbers */
    uint64_t seed;
} positional_input;

int64_t szgi_positional_room(int64_t e);
/* *out is released by the caller, after a failure too. SZG_EDATA, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_positional_find(szg_context *context,
                                                 const positional_input *input,
                                                 head_positional *out);

/* Of the lags first .. lags - 1; nothing is known yet: NaN. `listed` is copied. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_positional_open(szg_context *context, int64_t first, int64_t lags,
                                                 const lag_list *listed, head_positional *out);
/* Null and p of one kernel, by the variances of draws; `compared` is the head's
 * own among them. Where a norm is frozen for the comparison it is not the kernel's variance: draws
 * are brought to that. */
void szgi_positional_compare(head_positional *out, kernel_kind kind, double compared,
                             double variance, double noise, const double draws[CHANCE_DRAWS]);
/* Is what is said of a kernel within chance, by its own p? False where that is not known. */
static inline bool szgi_positional_is_chance(const kernel_facts *facts) {
    return facts->p > SZGI_LEVEL;
}
/* Is that kernel known? */
static inline bool szgi_positional_has(const head_positional *found, kernel_kind kind) {
    return !isnan(found->kernel[kind].noise);
}
/* Multiplies logits by 2^exponent. */
void szgi_positional_scale(int exponent, head_positional *out);
void szgi_positional_release(head_positional *out);

#endif
