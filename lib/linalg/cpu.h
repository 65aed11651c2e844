/* Entries of the cpu table and the rule for OpenBLAS's threads. */
#ifndef SZG_LINALG_CPU_H
#define SZG_LINALG_CPU_H

#include <pthread.h>
#include "ops.h"

/* OpenBLAS's number of threads is one number for the whole process. The rule: it is 1 except during
 * single large calls made outside the pool. Every call of BLAS or LAPACK is made between begin and
 * end: small ones share a lock, a large one holds it alone while it raises the number to the
 * context's threads. So no thread computes while the number changes. */
typedef enum szgi_blas_call { SZGI_BLAS_SHARED, SZGI_BLAS_ALONE } szgi_blas_call;
szgi_blas_call szgi_blas_begin(szg_context *context, bool large);
/* The rule alone, for libraries that call BLAS themselves: from now on the number is 1. */
void szgi_blas_single(void);
void szgi_blas_end(szgi_blas_call call);
extern pthread_rwlock_t szgi_blas_calls; /* that lock */

/* A function that will call begin calls this before its work, with the same `large`: the buffers
 * that OpenBLAS takes for each thread are there. SZG_ENOMEM where a limit on memory refuses them,
 * which the library itself would ask for without an end. Cheap after the first time. */
SZG_CHECK_RESULT szg_status szgi_blas_reserve(szg_context *context, bool large);

/* Warns once in a process, through a context with a message callback, where OpenBLAS has not
 * recognised the processor. */
void szgi_blas_tell_core(szg_context *context);

/* Warns once in a process, through a context with a message callback, where OpenBLAS's own threads
 * flush denormal numbers or do not round to nearest: large calls then stay on one thread. */
void szgi_blas_tell_threads(szg_context *context);

/* So many threads OpenBLAS itself has started; each holds a buffer for good. */
int szgi_blas_servers(void);

/* Every size fits LAPACK's 32-bit integers: SZG_ENOMEM. `what` is the operation. */
SZG_CHECK_RESULT szg_status szgi_lapack_sizes(szg_context *context, const char *what, int64_t m,
                                              int64_t n, int64_t ld);

/* Status and message of LAPACK's info; `loose` says what a positive one means. */
SZG_CHECK_RESULT szg_status szgi_lapack_status(szg_context *context, const char *routine,
                                               int64_t info, const char *loose);

/* Work space sizes come back as doubles, rounded to nearest: never below the true size here. */
int64_t szgi_lapack_work(double query);

/* Copies rows; SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_lapack_copy(szg_context *context, int64_t rows, int64_t columns,
                                             const szg_c64 *from, int64_t ldfrom, szg_c64 *to,
                                             int64_t ldto);

/* c = op(a) op(b) + beta c in single precision, on the calling thread. Sizes are checked. */
void szgi_cpu_sgemm(szg_context *context, char op_a, char op_b, int64_t m, int64_t n, int64_t k,
                    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                    int64_t ldc);

#define ORACLE(returns, name, parameters) returns szgi_cpu_##name parameters;
#define VENDOR(returns, name, parameters) returns szgi_cpu_##name parameters;
#include "linalg_ops.def"

#endif
