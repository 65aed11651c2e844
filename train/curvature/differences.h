/* Products of the Hessian of the training loss with vectors, by differences of gradients. */
#ifndef SZG_TRAIN_DIFFERENCES_H
#define SZG_TRAIN_DIFFERENCES_H

#include "formats/examples.h"
#include "train/decoder/decoder.h"

/* A decoder of its own, without dropout, with a fixed batch: the run's parameters are only read. */
typedef struct differences {
    szg_model *model;
    szgi_decoder *decoder;
    void *gradient;    /* the backend's memory */
    szgi_tally *tally; /* the backend's memory; the decoder adds losses that nobody reads */
    int64_t n;         /* parameters that are trained */
    double *weight, *moved, *ahead, *behind; /* [n]: of `take`; of a pass; its two gradients */
    double norm;                             /* of weight */
} differences;

/* For models like `model`; the batch has the first config->curvature.examples examples, padded to
 * `length`. SZG_EINVAL: there are fewer; errors of szgi_batch_fill and szgi_decoder_open. */
SZG_CHECK_RESULT szg_status szgi_differences_open(szg_context *context, const szg_model *model,
                                                  const szg_examples *examples, int64_t length,
                                                  differences *out);
void szgi_differences_close(szg_context *context, differences *self);

/* The point where the Hessian is taken: the model's parameters, and its intervention. Parameters
 * that intervention.kind=gradient has frozen are no variables: their gradient counts as zero. */
SZG_CHECK_RESULT szg_status szgi_differences_take(szg_context *context, differences *self,
                                                  const szg_model *model);

/* The matrix S H S, S = diag(scale), NULL: the identity. With u = S x,
 *   H u = (g(w + h u / ||u||) - g(w - h u / ||u||)) ||u|| / (2 h),  h = step ||w||. */
typedef struct hessian {
    differences *at;
    double step;
    const double *scale; /* [n] */
} hessian;

/* y = S H S x; an `apply` of szgi_operator, whose data is a hessian. */
SZG_CHECK_RESULT szg_status szgi_hessian_apply(szg_context *context, void *data, const double *x,
                                               double *y);

#endif
