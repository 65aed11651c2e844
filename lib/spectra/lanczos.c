/* The only file that knows ARPACK. */
#include <arpack/arpack.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/random.h"
#include "toeplitz/toeplitz.h"

#include "lanczos.h"

static const double HUGE_TOLERANCE = 1e300;
/* Sizes, in powers of two, that ARPACK's tolerance is made for: it is relative to each value, but
 * to eps^(2/3) = 3.7e-11 at least. */
enum { PLAIN = 20 };
/* ARPACK counts the numbers of its work space, ncv (ncv + 8), in 32 bits. */
enum { BASIS_MAX = 46336 };
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

/* Held for whole runs, which report progress. What ARPACK keeps between calls is set anew by the
 * first call of a run. */
SZGI_FREE_AFTER_FORK(arpack_lock)

/* Arrays and scalars of one reverse-communication run, named as in ARPACK's manual. */
typedef struct lanczos_run {
    a_int n, nev, ncv, lworkl, info, ido;
    a_int iparam[11], ipntr[11];
    const char *which;
    double scale; /* a power of two that products are multiplied by; 0: to be set by the first */
    double *resid, *v, *workd, *workl, *d;
    a_int *select;
} lanczos_run;

static void lanczos_close(lanczos_run *run) {
    szgi_memory_free(run->resid);
    szgi_memory_free(run->v);
    szgi_memory_free(run->workd);
    szgi_memory_free(run->workl);
    szgi_memory_free(run->d);
    szgi_memory_free(run->select);
}

static szg_status lanczos_open(szg_context *context, const szgi_operator *s,
                               const szgi_lanczos_options *options, lanczos_run *run) {
    int64_t n = s->n, k = options->k, ncv = options->basis ? options->basis : 2 * k + 20;
    if (ncv > n)
        ncv = n;
    /* ARPACK's 32-bit pointers go over three vectors. */
    if (n > INT32_MAX / 3 || k < 1 || k + 2 > n || ncv > BASIS_MAX)
        return szgi_fail(
            context, SZG_EINVAL,
            "%" PRId64 " extreme eigenvalues at order %" PRId64
            ": Lanczos takes 1 <= k <= n - 2, n < 2^31 / 3 and at most %d vectors, not "
            "%" PRId64 ": ask for fewer values",
            k, n, BASIS_MAX, ncv);
    *run = (lanczos_run){.n = (a_int)n, .nev = (a_int)k, .ncv = (a_int)ncv, .info = 1};
    run->lworkl = (a_int)(ncv * (ncv + 8));
    run->iparam[0] = 1; /* exact shifts */
    run->iparam[2] = (a_int)options->restarts;
    run->iparam[6] = 1; /* S x = lambda x */
    run->which = options->largest ? "LA" : "SA";
    SZG_TRY(szgi_memory_require(context, n, ncv + 4, sizeof(double), "the Lanczos basis",
                                "take a smaller order"));
    szg_status status = SZG_OK;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, n, &run->resid), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, n * ncv, &run->v), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, 3 * n, &run->workd), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, run->lworkl, &run->workl), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, k, &run->d), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, ncv, &run->select), done);
    szgi_stream start = {.seed = 20250513u};
    szgi_random_fill_normal(&start, 0, n, run->resid);
done:
    if (status != SZG_OK)
        lanczos_close(run);
    return status;
}

/* By the root mean square of the eigenvalues, which the first product estimates. */
static double scale_of(int64_t n, const double *x, const double *y) {
    double size = szgi_norm(n, y) / szgi_norm(n, x);
    int exponent;
    frexp(size, &exponent);
    bool plain = !isfinite(size) || (exponent >= -PLAIN && exponent <= PLAIN);
    return plain ? 1 : szgi_unit_scale(size);
}

static szg_status lanczos_multiply(szg_context *context, const szgi_operator *s, lanczos_run *run) {
    double *x = run->workd + run->ipntr[0] - 1, *y = run->workd + run->ipntr[1] - 1;
    SZG_TRY(s->apply(context, s->data, x, y));
    if (run->scale == 0)
        run->scale = scale_of(s->n, x, y);
    for (int64_t i = 0; run->scale != 1 && i < s->n; i++)
        y[i] *= run->scale;
    return SZG_OK;
}

static szg_status lanczos_iterate(szg_context *context, const szgi_operator *s,
                                  const szgi_lanczos_options *options, lanczos_run *run) {
    int64_t products = 0, most = options->restarts * (run->ncv - run->nev) + run->ncv;
    for (;;) {
        dsaupd_c(&run->ido, "I", run->n, run->which, run->nev, options->tolerance, run->resid,
                 run->ncv, run->v, run->n, run->iparam, run->ipntr, run->workd, run->workl,
                 run->lworkl, &run->info);
        if (run->ido != -1 && run->ido != 1)
            break;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(lanczos_multiply(context, s, run));
        szgi_progress(context, options->what, ++products, most);
    }
    szgi_progress(context, options->what, most, most);
    return SZG_OK;
}

/* ARPACK's d ascends; z lies in v, one vector after the other. */
static szg_status lanczos_extract(szg_context *context, const szgi_lanczos_options *options,
                                  lanczos_run *run, double *values, double **vectors,
                                  bool *converged) {
    *converged = run->info == 0 && run->iparam[4] >= run->nev;
    if (run->info == -9) /* the first vector, which was multiplied, is 0 */
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: the products of the matrix and vectors are 0: it is 0, or so small "
                         "that they underflow; multiply it by a power of two, or the queries or "
                         "keys that it comes from",
                         options->what);
    if (run->info < 0 && run->info != -9999)
        return szgi_fail(context, SZG_EINTERNAL, "ARPACK's dsaupd answered info = %d",
                         (int)run->info);
    double tolerance = options->tolerance;
    if (!*converged) {
        values[0] = NAN;
        /* 1: restarts are used up; 3: no shifts are left. The factorisation is whole. */
        if (!options->partial || (run->info != 1 && run->info != 3))
            return SZG_OK;
        tolerance = HUGE_TOLERANCE; /* dseupd takes the pairs that meet it: all wanted */
        run->iparam[4] = run->nev;
    }
    dseupd_c(1, "A", run->select, run->d, run->v, run->n, 0, "I", run->n, run->which, run->nev,
             tolerance, run->resid, run->ncv, run->v, run->n, run->iparam, run->ipntr, run->workd,
             run->workl, run->lworkl, &run->info);
    if (run->info != 0)
        return szgi_fail(context, SZG_ENOCONV, "ARPACK's dseupd answered info = %d",
                         (int)run->info);
    for (int64_t i = 0; i < run->nev; i++)
        values[i] = run->d[i] / run->scale;
    *vectors = run->v;
    run->v = NULL;
    return SZG_OK;
}

szg_status szgi_lanczos(szg_context *context, const szgi_operator *s,
                        const szgi_lanczos_options *options, double *values, double **vectors,
                        bool *converged) {
    lanczos_run run;
    *converged = false;
    *vectors = NULL;
    SZG_TRY(szgi_backend_prepare(context)); /* ARPACK calls BLAS */
    SZG_TRY(lanczos_open(context, s, options, &run));
    pthread_mutex_lock(&arpack_lock);
    szg_status status = lanczos_iterate(context, s, options, &run);
    if (status == SZG_OK)
        status = lanczos_extract(context, options, &run, values, vectors, converged);
    pthread_mutex_unlock(&arpack_lock);
    lanczos_close(&run);
    return status;
}
