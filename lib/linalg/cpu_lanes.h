/* Eigenvalues of many small symmetric matrices, one a lane of a vector: all lanes take the same
 * steps, none reads another one's numbers. So a matrix's values do not depend on its neighbours or
 * on its place. The kernel is compiled once for each vector level (cpu_level.h). */
#ifndef SZG_LINALG_CPU_LANES_H
#define SZG_LINALG_CPU_LANES_H

#include "base/context.h"
#include "cpu_level.h"

enum {
    /* Sweeps for each value, as in dsterf; two are the rule. */
    SZGI_LANES_SWEEPS = 30,
    /* Groups of lanes whose tridiagonal matrices are solved side by side: a sweep is one chain of
     * dependent operations, and two chains take little more time than one. */
    SZGI_LANES_GROUPS = 2,
    SZGI_LANES_VECTORS = 4 /* of length n, for the reduction */
};

/* `count` matrices of order n, 1 .. SZGI_SMALL_ORDER: row-major, without gaps between rows,
 * `stride` apart. Lower triangles are read, and nothing is written there. */
typedef struct szgi_lanes_job {
    int64_t count, n, stride;
    const double *a;
    double *w;      /* count x n values, ascending */
    int64_t sweeps; /* that each matrix may take */
    double *work;   /* of one block: the function below sets it */
} szgi_lanes_job;

typedef struct szgi_lanes_kernels {
    int lanes; /* doubles of a vector */
    /* At most SZGI_LANES_GROUPS * lanes matrices, with szgi_lanes_work doubles at an address that
     * 64 divides. The index of the first whose values did not converge; count: none. */
    int64_t (*eigenvalues)(const szgi_lanes_job *job);
} szgi_lanes_kernels;

extern const szgi_lanes_kernels szgi_lanes_baseline, szgi_lanes_avx2, szgi_lanes_avx512;

/* Those of a level, which the processor has. */
const szgi_lanes_kernels *szgi_lanes_of(szgi_cpu_level level);

/* A batch of any count on the pool: SZG_ENOCONV names the matrix; SZG_ENOMEM. The bits depend on
 * the kernels alone: not on threads, and not on other matrices. */
SZG_CHECK_RESULT szg_status szgi_lanes_eigen_symmetric(szg_context *context,
                                                       const szgi_lanes_kernels *kernels,
                                                       const szgi_lanes_job *batch);

/* Doubles of a block's work space: a lower triangle, and vectors. */
static inline int64_t szgi_lanes_work(const szgi_lanes_kernels *kernels, int64_t n) {
    return kernels->lanes * (n * (n + 1) / 2 + (SZGI_LANES_VECTORS + 2 * SZGI_LANES_GROUPS) * n);
}

#endif
