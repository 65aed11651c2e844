/* Head ablation: accuracy with a head's output set to zero, and how the loss of it deposits. */
#ifndef SZEGO_ABLATION_H
#define SZEGO_ABLATION_H

#include <szego/decoder.h>
#include <szego/examples.h>
#include <szego/table.h>

SZG_BEGIN_DECLS

typedef enum szg_ablation_method {
    SZG_ABLATE_OUTPUT,        /* the head's output is zero */
    SZG_ABLATE_VALUES,        /* its rows of W_V and the bias: the same numbers by another way */
    SZG_ABLATE_LATENT_COLUMNS /* mla: columns h d_head .. of the up-projections, as released */
} szg_ablation_method;

typedef struct szg_ablation_options {
    szg_ablation_method method;
    int64_t batch; /* sequences a pass; 0: the configuration's */
} szg_ablation_options;

/* Accuracies after ablation: [layers][heads], then [layers] with all heads of a layer at once. */
typedef struct szg_ablation {
    int64_t layers, heads;
    double accuracy; /* of the whole model */
    double *head;    /* [layers * heads] */
    double *layer;   /* [layers] */
} szg_ablation;
SZG_CHECK_RESULT szg_status szg_ablation_run(szg_context *context, szg_model *model,
                                             const szg_examples *examples,
                                             const szg_ablation_options *options,
                                             szg_ablation *out);
void szg_ablation_close(szg_ablation *ablation);

/* Per layer: the share of the total drop that the worst head carries (the deposit index), the Gini
 * coefficient of the drops, with bootstrap intervals over the runs (seeds). Negative drops count as
 * 0; a layer without any drop has neither (NaN). */
typedef struct szg_deposit {
    double index, index_low, index_high;
    double gini, gini_low, gini_high;
    int64_t worst_head; /* of the mean drop */
} szg_deposit;
SZG_CHECK_RESULT szg_status szg_ablation_deposit(szg_context *context,
                                                 const szg_ablation *const *runs, int64_t count,
                                                 int64_t layer, uint64_t seed, szg_deposit *out);

SZG_END_DECLS

#endif
