/* The two ways to analyse a checkpoint; both fill opened tables. */
#ifndef SZG_CHECKPOINT_ANALYSE_H
#define SZG_CHECKPOINT_ANALYSE_H

#include "part.h"
#include "problem.h"
#include "rows.h"

/* Heads of a known architecture, those of the part. Where `summary` is not open, `heads` and
 * `kernel` alone are filled: that takes a part of the time, and what is skipped is not reported.
 * Where `heads` is not open, neither are `kernel` and `layers`, and no head is placed. */
SZG_CHECK_RESULT szg_status szgi_analyse_heads(szg_context *context,
                                               const szg_checkpoint *checkpoint,
                                               const szg_checkpoint_options *options,
                                               const head_part *part,
                                               szg_checkpoint_tables *tables);

/* Singular values of every 2-D floating-point tensor: all, or the options' `top` largest. Before a
 * run of more than ten seconds a note says about how long it takes. */
SZG_CHECK_RESULT szg_status szgi_analyse_weights(szg_context *context,
                                                 const szg_checkpoint *checkpoint,
                                                 const szg_checkpoint_options *options,
                                                 szg_checkpoint_tables *tables);

/* Singular values of one tensor's matrix, with at most the memory of its numbers as doubles (plus
 * LAPACK's workspace): long ones are reduced by a QR over blocks of rows first. */
SZG_CHECK_RESULT szg_status szgi_weight_singular(szg_context *context, const szgi_tensor *tensor,
                                                 szg_spectrum *out);
/* Bytes of the array that szgi_weight_singular allocates; INT64_MAX on overflow. */
int64_t szgi_weight_bytes(const szgi_tensor *tensor);

/* SZG_EDATA: its values exceed a double. */
SZG_CHECK_RESULT szg_status szgi_weight_too_large(szg_context *context, const szgi_tensor *tensor,
                                                  long double frobenius);

/* Looks at the numbers of a layer's queries and keys. SZG_EDATA: one is not finite; SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_layer_check(szg_context *context, const layer_weights *layer);

#endif
