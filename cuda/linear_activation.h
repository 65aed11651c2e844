/* Activations that no product's epilogue has. */
#ifndef SZG_CUDA_LINEAR_ACTIVATION_H
#define SZG_CUDA_LINEAR_ACTIVATION_H

#include "session.h"

/* y = act(z), [rows][columns]; y may be z. */
typedef struct activation_job {
    int64_t rows, columns;
    const float *z;
    int64_t ldz;
    float *y;
    int64_t ldy;
} activation_job;

szg_status activation_run(szg_context *context, session *self, szg_activation activation,
                          const activation_job *job);

#endif
