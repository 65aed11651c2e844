/* Activations that no product's epilogue has, and the bias where none could have it. */
#ifndef SZG_CUDA_LINEAR_ACTIVATION_H
#define SZG_CUDA_LINEAR_ACTIVATION_H

#include "session.h"

/* y = act(z), [rows][columns]; y may be z. SZG_ACTIVATION_NONE: y = z + bias. */
typedef struct activation_job {
    int64_t rows, columns;
    const float *z;
    int64_t ldz;
    float *y;
    int64_t ldy;
    const float *bias; /* [columns]; NULL but with NONE */
} activation_job;

szg_status activation_run(szg_context *context, session *self, szg_activation activation,
                          const activation_job *job);

#endif
