/* cuSOLVER's dense eigen- and singular values, answered by LAPACK (cusolver.cpp). */
#ifndef EMULATED_CUSOLVERDN_H
#define EMULATED_CUSOLVERDN_H

#include "cuComplex.h"
#include "cublas_api.h"

enum cusolverStatus_t {
    CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_NOT_INITIALIZED = 1,
    CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3,
    CUSOLVER_STATUS_ARCH_MISMATCH = 4,
    CUSOLVER_STATUS_EXECUTION_FAILED = 6,
    CUSOLVER_STATUS_INTERNAL_ERROR = 7,
    CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
    CUSOLVER_STATUS_NOT_SUPPORTED = 9,
    CUSOLVER_STATUS_INVALID_WORKSPACE = 31
};
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_NOVECTOR = 0, CUSOLVER_EIG_MODE_VECTOR = 1 };
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverDnParams *cusolverDnParams_t;

cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value);
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);

cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle,
                                                   cusolverDnParams_t params,
                                                   cusolverEigMode_t mode, cublasFillMode_t fill,
                                                   int64_t n, cudaDataType type_a, const void *a,
                                                   int64_t lda, cudaDataType type_w, const void *w,
                                                   cudaDataType compute, size_t *device_bytes,
                                                   size_t *host_bytes, int64_t batch);
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                        cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n,
                                        cudaDataType type_a, void *a, int64_t lda,
                                        cudaDataType type_w, void *w, cudaDataType compute,
                                        void *device_buffer, size_t device_bytes, void *host_buffer,
                                        size_t host_bytes, int *info, int64_t batch);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t mode, cublasFillMode_t fill,
                                             int64_t n, cudaDataType type_a, const void *a,
                                             int64_t lda, cudaDataType type_w, const void *w,
                                             cudaDataType compute, size_t *device_bytes,
                                             size_t *host_bytes);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n,
                                  cudaDataType type_a, void *a, int64_t lda, cudaDataType type_w,
                                  void *w, cudaDataType compute, void *device_buffer,
                                  size_t device_bytes, void *host_buffer, size_t host_bytes,
                                  int *info);
cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                            cusolverEigMode_t left, cusolverEigMode_t right,
                                            int64_t n, cudaDataType type_a, const void *a,
                                            int64_t lda, cudaDataType type_w, const void *w,
                                            cudaDataType type_vl, const void *vl, int64_t ldvl,
                                            cudaDataType type_vr, const void *vr, int64_t ldvr,
                                            cudaDataType compute, size_t *device_bytes,
                                            size_t *host_bytes);
cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                 cusolverEigMode_t left, cusolverEigMode_t right, int64_t n,
                                 cudaDataType type_a, void *a, int64_t lda, cudaDataType type_w,
                                 void *w, cudaDataType type_vl, void *vl, int64_t ldvl,
                                 cudaDataType type_vr, void *vr, int64_t ldvr, cudaDataType compute,
                                 void *device_buffer, size_t device_bytes, void *host_buffer,
                                 size_t host_bytes, int *info);
cusolverStatus_t cusolverDnXgesvd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, signed char job_u, signed char job_vt,
    int64_t m, int64_t n, cudaDataType type_a, const void *a, int64_t lda, cudaDataType type_s,
    const void *s, cudaDataType type_u, const void *u, int64_t ldu, cudaDataType type_vt,
    const void *vt, int64_t ldvt, cudaDataType compute, size_t *device_bytes, size_t *host_bytes);
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  signed char job_u, signed char job_vt, int64_t m, int64_t n,
                                  cudaDataType type_a, void *a, int64_t lda, cudaDataType type_s,
                                  void *s, cudaDataType type_u, void *u, int64_t ldu,
                                  cudaDataType type_vt, void *vt, int64_t ldvt,
                                  cudaDataType compute, void *device_buffer, size_t device_bytes,
                                  void *host_buffer, size_t host_bytes, int *info);

#endif
