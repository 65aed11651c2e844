/* cuSOLVER's eigen- and singular values on LAPACK, column by column as there. What a routine
 * destroys is filled with NaN, so that nobody relies on it. */
#include <complex>
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include <cmath>
#include <vector>

#include "cusolver.h"

using namespace emulated;

namespace {

typedef std::complex<double> complex;

size_t matrix_extent(int64_t rows, int64_t columns, int64_t leading, size_t element) {
    if (rows == 0 || columns == 0)
        return 0;
    return static_cast<size_t>((columns - 1) * leading + rows) * element;
}

template <class T> void spoil(T *matrix, int64_t rows, int64_t columns, int64_t leading) {
    for (int64_t column = 0; column < columns; column++)
        for (int64_t row = 0; row < rows; row++)
            matrix[row + column * leading] = T(NAN);
}

bool real_or_complex(cudaDataType type) {
    return type == CUDA_R_64F || type == CUDA_C_64F;
}

size_t element_of(cudaDataType type) {
    return type == CUDA_C_64F ? sizeof(complex) : sizeof(double);
}

lapack_int symmetric(char mode, char fill, lapack_int n, double *a, lapack_int lda, double *w) {
    return LAPACKE_dsyevd(LAPACK_COL_MAJOR, mode, fill, n, a, lda, w);
}

/* OpenBLAS 0.3.21's AVX-512 zgemv reads up to a column beyond a panel, which may be the last of the
 * workspace: complex routines get one with a column to spare (lib/linalg/cpu_eigen.c). */
std::vector<complex> workspace(complex wanted, int64_t column) {
    return std::vector<complex>(static_cast<size_t>(wanted.real()) + static_cast<size_t>(column));
}

lapack_int symmetric(char mode, char fill, lapack_int n, complex *a, lapack_int lda, double *w) {
    complex wanted;
    double wanted_real;
    lapack_int wanted_integer;
    lapack_int info = LAPACKE_zheevd_work(LAPACK_COL_MAJOR, mode, fill, n, a, lda, w, &wanted, -1,
                                          &wanted_real, -1, &wanted_integer, -1);
    if (info != 0)
        return info;
    std::vector<complex> work = workspace(wanted, n);
    std::vector<double> real(static_cast<size_t>(wanted_real));
    std::vector<lapack_int> integer(static_cast<size_t>(wanted_integer));
    return LAPACKE_zheevd_work(LAPACK_COL_MAJOR, mode, fill, n, a, lda, w, work.data(),
                               static_cast<lapack_int>(wanted.real()), real.data(),
                               static_cast<lapack_int>(wanted_real), integer.data(),
                               wanted_integer);
}

struct Symmetric {
    cusolverEigMode_t mode;
    cublasFillMode_t fill;
    int64_t n, lda, batch;
    cudaDataType type;
    void *a;
    double *w;
    int *info;
};

template <class T> cudaError_t run_symmetric(const Symmetric &problem) {
    int64_t n = problem.n, lda = problem.lda, last = problem.batch - 1;
    if (!range_good("A", problem.a,
                    static_cast<size_t>(last * lda * n) * sizeof(T) +
                        matrix_extent(n, n, lda, sizeof(T))) ||
        !range_good("W", problem.w, static_cast<size_t>(n * problem.batch) * sizeof(double)) ||
        !range_good("info", problem.info, static_cast<size_t>(problem.batch) * sizeof(int)))
        return cudaErrorIllegalAddress;
    bool vectors = problem.mode == CUSOLVER_EIG_MODE_VECTOR;
    for (int64_t i = 0; i < problem.batch; i++) {
        T *a = static_cast<T *>(problem.a) + i * lda * n;
        problem.info[i] = static_cast<int>(symmetric(
            vectors ? 'V' : 'N', problem.fill == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U',
            static_cast<lapack_int>(n), a, static_cast<lapack_int>(lda), problem.w + i * n));
        if (!vectors)
            spoil(a, n, n, lda);
    }
    return cudaSuccess;
}

cusolverStatus_t push_symmetric(const char *function, cusolverDnHandle_t handle,
                                const Symmetric &problem, cudaDataType type_w, cudaDataType compute,
                                const SolverWork &work) {
    if (!real_or_complex(problem.type) || type_w != CUDA_R_64F || compute != problem.type)
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    if (problem.lda < problem.n || problem.lda < 1)
        return CUSOLVER_STATUS_INVALID_VALUE;
    return solver_push(function, handle, problem.n, problem.batch, work, problem.w, [problem] {
        return problem.type == CUDA_C_64F ? run_symmetric<complex>(problem)
                                          : run_symmetric<double>(problem);
    });
}

struct General {
    bool vectors;
    int64_t n, lda, ldv;
    cudaDataType type, type_w;
    void *a, *w, *v;
    int *info;
};

/* Real matrices: W holds pairs, or where it is real the real parts and then the imaginary ones. */
int solve_general_real(const General &problem) {
    lapack_int n = static_cast<lapack_int>(problem.n), lda = static_cast<lapack_int>(problem.lda);
    std::vector<double> parts(static_cast<size_t>(2 * n));
    double *re = parts.data(), *im = re + n, *w = static_cast<double *>(problem.w);
    lapack_int info =
        LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', problem.vectors ? 'V' : 'N', n,
                      static_cast<double *>(problem.a), lda, re, im, nullptr, 1,
                      static_cast<double *>(problem.v), static_cast<lapack_int>(problem.ldv));
    bool pairs = problem.type_w == CUDA_C_64F;
    for (lapack_int i = 0; i < n; i++) {
        w[pairs ? 2 * i : i] = re[i];
        w[pairs ? 2 * i + 1 : n + i] = im[i];
    }
    spoil(static_cast<double *>(problem.a), n, n, lda);
    return static_cast<int>(info);
}

int solve_general_complex(const General &problem) {
    lapack_int n = static_cast<lapack_int>(problem.n), lda = static_cast<lapack_int>(problem.lda);
    std::vector<double> real(static_cast<size_t>(2 * n));
    auto solve = [&](complex *work, lapack_int count) {
        return LAPACKE_zgeev_work(LAPACK_COL_MAJOR, 'N', problem.vectors ? 'V' : 'N', n,
                                  static_cast<complex *>(problem.a), lda,
                                  static_cast<complex *>(problem.w), nullptr, 1,
                                  static_cast<complex *>(problem.v),
                                  static_cast<lapack_int>(problem.ldv), work, count, real.data());
    };
    complex wanted;
    lapack_int info = solve(&wanted, -1);
    if (info == 0)
        info = solve(workspace(wanted, n).data(), static_cast<lapack_int>(wanted.real()));
    spoil(static_cast<complex *>(problem.a), n, n, lda);
    return static_cast<int>(info);
}

cudaError_t run_general(const General &problem) {
    size_t element = element_of(problem.type);
    if (!range_good("A", problem.a, matrix_extent(problem.n, problem.n, problem.lda, element)) ||
        !range_good("W", problem.w, static_cast<size_t>(problem.n) * sizeof(complex)) ||
        !range_good("VR", problem.v,
                    problem.vectors ? matrix_extent(problem.n, problem.n, problem.ldv, element)
                                    : 0) ||
        !range_good("info", problem.info, sizeof(int)))
        return cudaErrorIllegalAddress;
    *problem.info =
        problem.type == CUDA_C_64F ? solve_general_complex(problem) : solve_general_real(problem);
    return cudaSuccess;
}

struct Singular {
    char job_u, job_vt;
    int64_t m, n, lda, ldu, ldvt;
    cudaDataType type;
    void *a;
    double *s;
    void *u, *vt;
    int *info;
};

lapack_int singular(const Singular &p, double *a, double *u, double *vt, double *rest) {
    return LAPACKE_dgesvd(LAPACK_COL_MAJOR, p.job_u, p.job_vt, static_cast<lapack_int>(p.m),
                          static_cast<lapack_int>(p.n), a, static_cast<lapack_int>(p.lda), p.s, u,
                          static_cast<lapack_int>(p.ldu), vt, static_cast<lapack_int>(p.ldvt),
                          rest);
}

lapack_int singular(const Singular &p, complex *a, complex *u, complex *vt, double *rest) {
    std::vector<double> real(static_cast<size_t>(5 * p.n) + 1);
    auto solve = [&](complex *work, lapack_int count) {
        return LAPACKE_zgesvd_work(LAPACK_COL_MAJOR, p.job_u, p.job_vt,
                                   static_cast<lapack_int>(p.m), static_cast<lapack_int>(p.n), a,
                                   static_cast<lapack_int>(p.lda), p.s, u,
                                   static_cast<lapack_int>(p.ldu), vt,
                                   static_cast<lapack_int>(p.ldvt), work, count, real.data());
    };
    complex wanted;
    lapack_int info = solve(&wanted, -1);
    if (info == 0)
        info = solve(workspace(wanted, p.m).data(), static_cast<lapack_int>(wanted.real()));
    for (int64_t i = 0; i + 1 < p.n; i++)
        rest[i] = real[static_cast<size_t>(i)];
    return info;
}

template <class T> cudaError_t run_singular(const Singular &p) {
    int64_t u_columns = p.job_u == 'A' ? p.m : p.job_u == 'S' ? p.n : 0;
    int64_t vt_rows = p.job_vt == 'A' || p.job_vt == 'S' ? p.n : 0;
    if (!range_good("A", p.a, matrix_extent(p.m, p.n, p.lda, sizeof(T))) ||
        !range_good("S", p.s, static_cast<size_t>(p.n) * sizeof(double)) ||
        !range_good("U", p.u, matrix_extent(p.m, u_columns, p.ldu, sizeof(T))) ||
        !range_good("VT", p.vt, matrix_extent(vt_rows, p.n, p.ldvt, sizeof(T))) ||
        !range_good("info", p.info, sizeof(int)))
        return cudaErrorIllegalAddress;
    std::vector<double> rest(static_cast<size_t>(p.n) + 1);
    T *a = static_cast<T *>(p.a);
    *p.info = static_cast<int>(
        singular(p, a, static_cast<T *>(p.u), static_cast<T *>(p.vt), rest.data()));
    if (p.job_u != 'O' && p.job_vt != 'O')
        spoil(a, p.m, p.n, p.lda);
    return cudaSuccess;
}

} // namespace

cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                   cusolverEigMode_t, cublasFillMode_t, int64_t n,
                                                   cudaDataType, const void *, int64_t lda,
                                                   cudaDataType, const void *, cudaDataType,
                                                   size_t *device_bytes, size_t *host_bytes,
                                                   int64_t batch) {
    if (lda < n || lda < 1 || !batch_taken(n, lda, batch))
        return CUSOLVER_STATUS_INVALID_VALUE;
    return solver_sizes(__func__, handle, n, batch, device_bytes, host_bytes);
}

cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t,
                                        cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n,
                                        cudaDataType type_a, void *a, int64_t lda,
                                        cudaDataType type_w, void *w, cudaDataType compute,
                                        void *device_buffer, size_t device_bytes, void *host_buffer,
                                        size_t host_bytes, int *info, int64_t batch) {
    if (lda < n || lda < 1 || !batch_taken(n, lda, batch))
        return CUSOLVER_STATUS_INVALID_VALUE;
    Symmetric problem = {mode, fill, n, lda, batch, type_a, a, static_cast<double *>(w), info};
    return push_symmetric(__func__, handle, problem, type_w, compute,
                          {device_buffer, device_bytes, host_buffer, host_bytes});
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                             cusolverEigMode_t, cublasFillMode_t, int64_t n,
                                             cudaDataType, const void *, int64_t, cudaDataType,
                                             const void *, cudaDataType, size_t *device_bytes,
                                             size_t *host_bytes) {
    return solver_sizes(__func__, handle, n, 1, device_bytes, host_bytes);
}

cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                  cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n,
                                  cudaDataType type_a, void *a, int64_t lda, cudaDataType type_w,
                                  void *w, cudaDataType compute, void *device_buffer,
                                  size_t device_bytes, void *host_buffer, size_t host_bytes,
                                  int *info) {
    Symmetric problem = {mode, fill, n, lda, 1, type_a, a, static_cast<double *>(w), info};
    return push_symmetric(__func__, handle, problem, type_w, compute,
                          {device_buffer, device_bytes, host_buffer, host_bytes});
}

cusolverStatus_t cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                            cusolverEigMode_t, cusolverEigMode_t, int64_t n,
                                            cudaDataType, const void *, int64_t, cudaDataType,
                                            const void *, cudaDataType, const void *, int64_t,
                                            cudaDataType, const void *, int64_t, cudaDataType,
                                            size_t *device_bytes, size_t *host_bytes) {
    return solver_sizes(__func__, handle, n, 1, device_bytes, host_bytes);
}

cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t,
                                 cusolverEigMode_t left, cusolverEigMode_t right, int64_t n,
                                 cudaDataType type_a, void *a, int64_t lda, cudaDataType type_w,
                                 void *w, cudaDataType, void *, int64_t, cudaDataType type_vr,
                                 void *vr, int64_t ldvr, cudaDataType compute, void *device_buffer,
                                 size_t device_bytes, void *host_buffer, size_t host_bytes,
                                 int *info) {
    bool vectors = right == CUSOLVER_EIG_MODE_VECTOR;
    /* Left vectors and complex vectors of real matrices are not what the plugin asks for. */
    if (left != CUSOLVER_EIG_MODE_NOVECTOR || !real_or_complex(type_a) || compute != type_a ||
        (type_a == CUDA_C_64F && type_w != CUDA_C_64F) || (vectors && type_vr != type_a))
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    if (lda < n || lda < 1 || ldvr < 1 || (vectors && ldvr < n))
        return CUSOLVER_STATUS_INVALID_VALUE;
    General problem = {vectors, n, lda, ldvr, type_a, type_w, a, w, vr, info};
    return solver_push(__func__, handle, n, 1,
                       {device_buffer, device_bytes, host_buffer, host_bytes},
                       static_cast<double *>(w), [problem] { return run_general(problem); });
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                             signed char, signed char, int64_t m, int64_t n,
                                             cudaDataType, const void *, int64_t, cudaDataType,
                                             const void *, cudaDataType, const void *, int64_t,
                                             cudaDataType, const void *, int64_t, cudaDataType,
                                             size_t *device_bytes, size_t *host_bytes) {
    return solver_sizes(__func__, handle, m > n ? m : n, 1, device_bytes, host_bytes);
}

/* As there, no fewer rows than columns. */
cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t, signed char job_u,
                                  signed char job_vt, int64_t m, int64_t n, cudaDataType type_a,
                                  void *a, int64_t lda, cudaDataType type_s, void *s, cudaDataType,
                                  void *u, int64_t ldu, cudaDataType, void *vt, int64_t ldvt,
                                  cudaDataType compute, void *device_buffer, size_t device_bytes,
                                  void *host_buffer, size_t host_bytes, int *info) {
    if (!real_or_complex(type_a) || type_s != CUDA_R_64F || compute != type_a)
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    if (m < n || lda < m || lda < 1 || ldu < 1 || ldvt < 1)
        return CUSOLVER_STATUS_INVALID_VALUE;
    Singular problem = {static_cast<char>(job_u),
                        static_cast<char>(job_vt),
                        m,
                        n,
                        lda,
                        ldu,
                        ldvt,
                        type_a,
                        a,
                        static_cast<double *>(s),
                        u,
                        vt,
                        info};
    return solver_push(__func__, handle, m, 1,
                       {device_buffer, device_bytes, host_buffer, host_bytes}, problem.s,
                       [problem] {
                           return problem.type == CUDA_C_64F ? run_singular<complex>(problem)
                                                             : run_singular<double>(problem);
                       });
}
