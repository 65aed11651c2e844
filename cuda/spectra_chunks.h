/* A batch of the host's matrices, worked on in chunks that fit the device. Host side. */
#ifndef SZG_CUDA_SPECTRA_CHUNKS_H
#define SZG_CUDA_SPECTRA_CHUNKS_H

#include "spectra_device.h"

typedef struct batch_chunks {
    int64_t count, order;              /* of all matrices; of what the solver gets */
    int64_t each;                      /* matrices of a chunk */
    double *matrices, *values, *check; /* of the device, for one chunk */
    double *host_check;
    call_memory memory;
} batch_chunks;

/* Zero *out; close it whatever happens. `extra_bytes` a matrix are for the caller, at *extra. */
szg_status batch_chunks_open(szg_context *context, session *self, int64_t count, int64_t order,
                             int64_t extra_bytes, batch_chunks *out, void **extra);
void batch_chunks_close(batch_chunks *chunks);

/* Uploads, solves (spectra_eigen_batch) and queues the download of matrices first .. first +
 * count - 1. */
typedef szg_status chunk_function(szg_context *context, session *self, batch_chunks *chunks,
                                  void *argument, int64_t first, int64_t count);

/* Chunk after chunk; looks at the checks of each. Cancellation ends it between two. */
szg_status batch_chunks_run(szg_context *context, session *self, batch_chunks *chunks,
                            chunk_function *run, void *argument);

#endif
