/* cuFFT's transforms in double precision, answered by FFTW (cufft.cpp). */
#ifndef EMULATED_CUFFT_H
#define EMULATED_CUFFT_H

#include "cuComplex.h"
#include "library_types.h"
#include <cuda_runtime.h>

enum cufftResult {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_NO_WORKSPACE = 13,
    CUFFT_NOT_IMPLEMENTED = 14,
    CUFFT_NOT_SUPPORTED = 16
};
enum cufftType { CUFFT_Z2Z = 0x69, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c };
constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;
typedef int cufftHandle;
typedef double cufftDoubleReal;
typedef cuDoubleComplex cufftDoubleComplex;

cufftResult cufftGetVersion(int *version);
cufftResult cufftCreate(cufftHandle *plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic);
cufftResult cufftSetWorkArea(cufftHandle plan, void *area);
cufftResult cufftGetSize(cufftHandle plan, size_t *size);
cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *in_embed, int in_stride,
                          int in_distance, int *out_embed, int out_stride, int out_distance,
                          cufftType type, int batch);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *in_embed,
                                long long in_stride, long long in_distance, long long *out_embed,
                                long long out_stride, long long out_distance, cufftType type,
                                long long batch, size_t *size);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out,
                         int direction);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out);

#endif
