/* Transfers between the host's arrays and the device. Host side.
 *
 * They go through page-locked buffers of the session's, in turn: the device reads and writes those
 * by itself, at the full rate of the bus, while the host copies between the others and its array.
 * An array of the host's, which is pageable, would be read by the driver when it likes; a copy of
 * it "may be synchronous", or waits for what was queued before it. */
#ifndef SZG_CUDA_STAGING_H
#define SZG_CUDA_STAGING_H

#include "session.h"

enum { STAGING_BUFFERS = 4, STAGING_BYTES = 4 << 20 };

/* `rows` rows of `bytes` bytes, in the host's array `step` bytes apart, on the device without gaps.
 * Neither while a step is recorded.
 *
 * Queued on the stream: `from` is the caller's again at once, and waits are for a buffer only. */
szg_status staging_upload(szg_context *context, session *self, cudaStream_t stream, void *to,
                          const void *from, int64_t step, int64_t rows, int64_t bytes);
/* Waits for what was queued on the stream: `to` is written on return. */
szg_status staging_download(szg_context *context, session *self, cudaStream_t stream, void *to,
                            int64_t step, const void *from, int64_t rows, int64_t bytes);

/* When nothing is under way. NULL is allowed. */
void staging_close(session *self);

#endif
