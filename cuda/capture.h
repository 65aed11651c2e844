/* Spectra of logits beside other work: the kernels. Host side. */
#ifndef SZG_CUDA_CAPTURE_H
#define SZG_CUDA_CAPTURE_H

#include "session.h"

/* What a matrix shows before its spectra are computed; the order of the device's results. */
enum {
    LOGIT_INFINITE, /* place of the first entry that is not finite; -1: none */
    LOGIT_TRACE,
    LOGIT_FROBENIUS,
    LOGIT_PART, /* norm of (L + L^T)/2 */
    LOGIT_REST, /* norm of L less its diagonals' means */
    LOGIT_LARGEST,
    LOGIT_SKEW,
    LOGIT_NORMS
};

/* Leading n x n corners of `count` matrices [length][length]. */
szg_status logits_cut(szg_context *context, cudaStream_t stream, int64_t count, int64_t n,
                      int64_t length, const float *from, float *to);

/* Of `count` matrices n x n: LOGIT_NORMS numbers each, (L + L^T)/2, and the means of the diagonals,
 * 2n - 1 each. Matrices that are not finite become zeros. */
szg_status logits_prepare(szg_context *context, cudaStream_t stream, int64_t count, int64_t n,
                          float *l, double *norms, double *half, double *means);

/* Frobenius norms of `count` matrices n x n whose squares stay in range. */
szg_status logits_norms(szg_context *context, cudaStream_t stream, int64_t count, int64_t n,
                        const double *a, double *norms);

/* sums[h]: see szgi_network_spectra_squares. */
szg_status logits_squares(szg_context *context, cudaStream_t stream, int64_t heads, int64_t count,
                          const szgi_head_part *parts, double *sums);

#endif
