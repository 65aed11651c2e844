/* A few eigenvalues at each end of a long Hermitian Toeplitz matrix: implicitly restarted Lanczos
 * (PARPACK; Maschhoff, Sorensen 1996), for real numbers by pdsaupd, for complex ones by pznaupd.
 * The only file that knows PARPACK. */
#include <arpack/parpack.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "product.h"

static const double HUGE_TOLERANCE = 1e300;

/* Arrays and scalars of one reverse-communication run, named as in ARPACK's manual. Arrays of
 * complex numbers have two doubles each. */
typedef struct lanczos_run {
    const szgi_distributed_search *search;
    mpi_product *product;
    a_int n, nev, ncv, lworkl, info, ido; /* n: the numbers that are here */
    a_int iparam[11], ipntr[14];
    const char *which;
    double *memory, *resid, *v, *workd, *workl, *d, *rwork, *workev, *y;
    a_int *select;
    MPI_Fint comm;
} lanczos_run;

/* parpack.h calls rwork complex; Fortran's is real. */
static double _Complex *as_complex(double *x) {
    return (double _Complex *)(void *)x;
}

/* ---- One call of ARPACK, for either kind of numbers ---- */

static void step(lanczos_run *run) {
    double tolerance = run->search->tolerance;
    if (run->search->is_complex)
        pznaupd_c(run->comm, &run->ido, "I", run->n, run->which, run->nev, tolerance,
                  as_complex(run->resid), run->ncv, as_complex(run->v), run->n, run->iparam,
                  run->ipntr, as_complex(run->workd), as_complex(run->workl), run->lworkl,
                  as_complex(run->rwork), &run->info);
    else
        pdsaupd_c(run->comm, &run->ido, "I", run->n, run->which, run->nev, tolerance, run->resid,
                  run->ncv, run->v, run->n, run->iparam, run->ipntr, run->workd, run->workl,
                  run->lworkl, &run->info);
}

static void extract(lanczos_run *run, double tolerance) {
    if (run->search->is_complex)
        pzneupd_c(run->comm, 1, "A", run->select, as_complex(run->d), as_complex(run->v), run->n, 0,
                  as_complex(run->workev), "I", run->n, run->which, run->nev, tolerance,
                  as_complex(run->resid), run->ncv, as_complex(run->v), run->n, run->iparam,
                  run->ipntr, as_complex(run->workd), as_complex(run->workl), run->lworkl,
                  as_complex(run->rwork), &run->info);
    else
        pdseupd_c(run->comm, 1, "A", run->select, run->d, run->v, run->n, 0, "I", run->n,
                  run->which, run->nev, tolerance, run->resid, run->ncv, run->v, run->n,
                  run->iparam, run->ipntr, run->workd, run->workl, run->lworkl, &run->info);
}

/* ---- One end ---- */

static szg_status open_run(szg_context *context, const szgi_distributed_search *search,
                           mpi_product *product, lanczos_run *run) {
    int64_t rank = mpi_processes.rank, first = mpi_piece(search->n, rank);
    int64_t n = mpi_piece(search->n, rank + 1) - first, width = search->is_complex ? 2 : 1;
    int64_t ncv = 2 * search->k + 20 < search->n ? 2 * search->k + 20 : search->n;
    int64_t lworkl = search->is_complex ? 3 * ncv * ncv + 5 * ncv : ncv * (ncv + 8);
    *run = (lanczos_run){.search = search,
                         .product = product,
                         .n = (a_int)n,
                         .nev = (a_int)search->k,
                         .ncv = (a_int)ncv,
                         .lworkl = (a_int)lworkl,
                         .comm = MPI_Comm_c2f(mpi_processes.comm)};
    run->memory = mpi_alloc(context, width * (n * (ncv + 5) + lworkl + 4 * ncv), sizeof(double));
    run->select = mpi_alloc(context, ncv, sizeof *run->select);
    if (!run->memory || !run->select)
        return SZG_ENOMEM;
    run->resid = run->memory;
    run->v = run->resid + width * n;
    run->workd = run->v + width * n * ncv;
    run->y = run->workd + width * 3 * n;
    run->workl = run->y + width * n;
    run->d = run->workl + width * lworkl;
    run->workev = run->d + width * ncv;
    run->rwork = run->workev + width * 2 * ncv;
    search->start(search->data, first * width, n * width, run->resid);
    return SZG_OK;
}

static void close_run(lanczos_run *run) {
    free(run->memory);
    free(run->select);
}

static void begin(lanczos_run *run, bool largest) {
    const char *const names[2][2] = {{"SA", "LA"}, {"SR", "LR"}};
    run->which = names[run->search->is_complex][largest];
    run->info = 1; /* resid is the vector to begin with */
    run->ido = 0;
    memset(run->iparam, 0, sizeof run->iparam);
    run->iparam[0] = 1; /* exact shifts */
    run->iparam[2] = (a_int)run->search->restarts;
    run->iparam[3] = 1;
    run->iparam[6] = 1; /* T x = lambda x */
}

static szg_status iterate(szg_context *context, lanczos_run *run) {
    static const char what[] = "extremes, shared among processes";
    int64_t products = 0, most = run->search->restarts * (run->ncv - run->nev) + run->ncv;
    int64_t width = run->search->is_complex ? 2 : 1;
    for (;;) {
        step(run);
        if (run->ido != -1 && run->ido != 1)
            break;
        SZG_TRY(
            mpi_agree(context, SZGI_MEETING_STEP, run->search->n, mpi_host->check_cancel(context)));
        mpi_product_apply(run->product, run->workd + width * (run->ipntr[0] - 1),
                          run->workd + width * (run->ipntr[1] - 1));
        mpi_host->progress(context, what, ++products, most);
    }
    mpi_host->progress(context, what, most, most);
    return SZG_OK;
}

/* Sums over all processes. */
static void sum(int count, double *x) {
    MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_DOUBLE, MPI_SUM, mpi_processes.comm);
}

static double dot(int64_t count, const double *x, const double *y) {
    double total = 0;
    for (int64_t i = 0; i < count; i++)
        total += x[i] * y[i];
    return total;
}

/* Rayleigh quotients: real and imaginary parts side by side have the same products. */
static void refine(lanczos_run *run, szgi_distributed_end *end) {
    int64_t count = (int64_t)run->n * (run->search->is_complex ? 2 : 1);
    for (int64_t i = 0; i < run->search->k; i++) {
        const double *v = run->v + i * count;
        mpi_product_apply(run->product, v, run->y);
        double sums[2] = {dot(count, v, v), dot(count, v, run->y)};
        sum(2, sums);
        double value = sums[1] / sums[0];
        for (int64_t j = 0; j < count; j++)
            run->y[j] -= value * v[j];
        double square = dot(count, run->y, run->y);
        sum(1, &square);
        end->values[i] = value;
        end->residuals[i] = sqrt(square / sums[0]);
    }
}

static void swap(double *x, double *y) {
    double keep = *x;
    *x = *y;
    *y = keep;
}

static void sort_end(int64_t k, szgi_distributed_end *end) {
    for (int64_t i = 1; i < k; i++)
        for (int64_t j = i; j > 0 && end->values[j] < end->values[j - 1]; j--) {
            swap(&end->values[j], &end->values[j - 1]);
            swap(&end->residuals[j], &end->residuals[j - 1]);
        }
}

/* Pairs that have not met the tolerance are there too, with the residuals that they have. */
static szg_status finish(szg_context *context, lanczos_run *run, szgi_distributed_end *end) {
    double tolerance = run->search->tolerance;
    end->converged = run->info == 0 && run->iparam[4] >= run->nev;
    end->there = end->converged || run->info == 1 || run->info == 3;
    if (run->info < 0 && run->info != -9999)
        return mpi_fail(context, SZG_EINTERNAL, "PARPACK answered info = %d", (int)run->info);
    if (!end->there)
        return SZG_OK;
    if (!end->converged) {
        tolerance = HUGE_TOLERANCE; /* the pairs that meet it are taken: all */
        run->iparam[4] = run->nev;
    }
    extract(run, tolerance);
    szg_status status = SZG_OK;
    if (run->info != 0)
        status = mpi_fail(context, SZG_ENOCONV, "PARPACK answered info = %d when asked for vectors",
                          (int)run->info);
    SZG_TRY(mpi_agree(context, SZGI_MEETING_STEP, run->search->n, status));
    refine(run, end);
    sort_end(run->search->k, end);
    return SZG_OK;
}

static szg_status search_end(szg_context *context, const szgi_distributed_search *search,
                             mpi_product *product, bool largest, szgi_distributed_end *end) {
    lanczos_run run;
    szg_status status =
        mpi_agree(context, SZGI_MEETING_STEP, search->n, open_run(context, search, product, &run));
    if (status == SZG_OK) {
        begin(&run, largest);
        status = iterate(context, &run);
    }
    if (status == SZG_OK)
        status = mpi_agree(context, SZGI_MEETING_FOUND, search->n, SZG_OK);
    if (status == SZG_OK)
        status = finish(context, &run, end);
    close_run(&run);
    return mpi_agree(context, SZGI_MEETING_STEP, search->n, status);
}

szg_status mpi_extremes(szg_context *context, const szgi_distributed_search *search,
                        szgi_distributed_end ends[2]) {
    mpi_product *product;
    szg_status status = SZG_OK;
    if (search->k < 1 || search->k + 2 > search->n ||
        search->n / mpi_processes.processes > INT32_MAX / 8)
        status = mpi_fail(context, SZG_EINVAL,
                          "%" PRId64 " eigenvalues at each end of order %" PRId64
                          " on %d processes: Lanczos takes 1 <= k <= n - 2, and 2^28 numbers a "
                          "process",
                          search->k, search->n, mpi_processes.processes);
    SZG_TRY(mpi_agree(context, SZGI_MEETING_EXTREMES, search->n, status));
    SZG_TRY(mpi_product_open(context, search, &product));
    status = search_end(context, search, product, false, &ends[0]);
    if (status == SZG_OK)
        status = search_end(context, search, product, true, &ends[1]);
    mpi_product_close(&product);
    return status;
}
