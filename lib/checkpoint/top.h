/* The largest singular values of one tensor, each with a stated error, without a full SVD. */
#ifndef SZG_CHECKPOINT_TOP_H
#define SZG_CHECKPOINT_TOP_H

#include "spectra/largest.h"
#include "spectra/spectra.h"
#include "checkpoint_private.h"
#include "cost.h"

/* Errors are below this times the largest value, or the value is not resolved. */
#define SZGI_TOP_TOLERANCE 1e-6

typedef struct szgi_top_options {
    int64_t count; /* values wanted */
    uint64_t seed;
    bool passing; /* form no Gram matrix, even where it costs less */
} szgi_top_options;

typedef struct szgi_top {
    int64_t count; /* as many as were asked for, or the smaller side */
    szgi_largest_value *value;
    double frobenius; /* of the tensor, from its numbers */
    szg_method method;
} szgi_top;

/* SZG_EDATA: a value is beyond a double. */
SZG_CHECK_RESULT szg_status szgi_top_compute(szg_context *context, const szgi_tensor *tensor,
                                             const szgi_top_options *options, szgi_top *out);
void szgi_top_close(szgi_top *top);

/* What szgi_top_compute costs. */
szgi_cost szgi_top_cost(const int64_t *shape, const szgi_top_options *options);
/* Bytes that szgi_top_compute allocates, with so many threads for one matrix. */
int64_t szgi_top_bytes(const int64_t *shape, const szgi_top_options *options, int threads);

#endif
