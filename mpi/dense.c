/* All eigenvalues of a Hermitian matrix: ELPA (Marek and others 2014), whose two stages reduce it
 * to a band and then to tridiagonal form. The only file that knows ELPA. */
#include <elpa/elpa.h>
#include <inttypes.h>

#include "session.h"

enum { ELPA_API = 20221109, BLOCK_MIN = 16, BLOCK_MAX = 64, BLOCKS_EACH = 4 };

static int larger_side(void) {
    return mpi_processes.rows > mpi_processes.columns ? mpi_processes.rows : mpi_processes.columns;
}

int mpi_block(int64_t n) {
    int block = BLOCK_MAX;
    while (block > BLOCK_MIN && n < (int64_t)block * BLOCKS_EACH * larger_side())
        block /= 2;
    return block;
}

int64_t mpi_least_order(void) {
    return 2 * (int64_t)BLOCK_MIN * BLOCKS_EACH * larger_side();
}

/* Rows or columns of a cyclic distribution over `count` places. */
typedef struct dealt {
    int64_t n;
    int block, place, count;
} dealt;

static int64_t dealt_size(const dealt *d) {
    int64_t whole = d->n / d->block, size = whole / d->count * d->block;
    if (d->place < whole % d->count)
        size += d->block;
    else if (d->place == whole % d->count)
        size += d->n % d->block;
    return size;
}

/* Of the matrix: of what is here at `local`. */
static int64_t dealt_index(const dealt *d, int64_t local) {
    return (local / d->block * d->count + d->place) * d->block + local % d->block;
}

/* The part that is here, column after column. */
static void fill(const szgi_distributed_matrix *matrix, const dealt *rows, const dealt *columns,
                 int64_t height, int64_t width, double *a) {
    int64_t entry = matrix->is_complex ? 2 : 1;
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = 0; i < height; i += rows->block) {
            int64_t count = height - i < rows->block ? height - i : rows->block;
            matrix->entries(matrix->data, dealt_index(rows, i), dealt_index(columns, j), count,
                            a + (j * height + i) * entry);
        }
}

typedef struct setting {
    const char *name;
    int value;
} setting;

static szg_status describe(szg_context *context, elpa_t elpa, const szgi_distributed_matrix *matrix,
                           const dealt *rows, const dealt *columns) {
    const setting settings[] = {{"na", (int)matrix->n},
                                {"nev", (int)matrix->n},
                                {"local_nrows", (int)dealt_size(rows)},
                                {"local_ncols", (int)dealt_size(columns)},
                                {"nblk", rows->block},
                                {"mpi_comm_parent", MPI_Comm_c2f(mpi_processes.comm)},
                                {"process_row", rows->place},
                                {"process_col", columns->place}};
    int error = ELPA_OK;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && error == ELPA_OK; i++)
        elpa_set(elpa, settings[i].name, settings[i].value, &error);
    if (error == ELPA_OK)
        error = elpa_setup(elpa);
    if (error == ELPA_OK)
        elpa_set(elpa, "solver", matrix->one_stage ? ELPA_SOLVER_1STAGE : ELPA_SOLVER_2STAGE,
                 &error);
    if (error == ELPA_OK)
        return SZG_OK;
    return mpi_fail(context, SZG_EINTERNAL, "ELPA refuses a matrix of order %" PRId64 ": %s",
                    matrix->n, elpa_strerr(error));
}

static szg_status solve(szg_context *context, const szgi_distributed_matrix *matrix,
                        const dealt *rows, const dealt *columns, double *a, double *w) {
    int error = ELPA_OK, ignored;
    elpa_t elpa = elpa_allocate(&error);
    szg_status status =
        error == ELPA_OK ? SZG_OK : mpi_fail(context, SZG_ENOMEM, "ELPA: out of memory");
    status = mpi_agree(context, SZGI_MEETING_STEP, matrix->n, status);
    if (status == SZG_OK) /* its set-up is of all processes together */
        status = mpi_agree(context, SZGI_MEETING_STEP, matrix->n,
                           describe(context, elpa, matrix, rows, columns));
    if (status == SZG_OK) {
        fill(matrix, rows, columns, dealt_size(rows), dealt_size(columns), a);
        if (matrix->is_complex)
            elpa_eigenvalues_a_h_a_dc(elpa, (double _Complex *)(void *)a, w, &error);
        else
            elpa_eigenvalues_a_h_a_d(elpa, a, w, &error);
        if (error != ELPA_OK)
            status =
                mpi_fail(context, SZG_ENOCONV, "ELPA found no eigenvalues at order %" PRId64 ": %s",
                         matrix->n, elpa_strerr(error));
        status = mpi_agree(context, SZGI_MEETING_STEP, matrix->n, status);
    }
    if (elpa)
        elpa_deallocate(elpa, &ignored);
    return status;
}

szg_status mpi_eigenvalues(szg_context *context, const szgi_distributed_matrix *matrix, double *w) {
    int rank = mpi_processes.rank, block = mpi_block(matrix->n), ignored;
    const dealt rows = {matrix->n, block, rank % mpi_processes.rows, mpi_processes.rows};
    const dealt columns = {matrix->n, block, rank / mpi_processes.rows, mpi_processes.columns};
    double *a = NULL;
    szg_status status = SZG_OK;
    if (matrix->n > INT32_MAX)
        status = mpi_fail(context, SZG_EDOMAIN,
                          "all eigenvalues at order %" PRId64 ": ELPA takes orders below 2^31",
                          matrix->n);
    else if (elpa_init(ELPA_API) != ELPA_OK)
        status = mpi_fail(context, SZG_EBACKEND,
                          "backend mpi: ELPA " SZG_ELPA_VERSION " does not know its interface of "
                          "2022.11: install ELPA 2022.11 or newer");
    else if (!(a = mpi_alloc(context, dealt_size(&rows) * dealt_size(&columns),
                             matrix->is_complex ? 16 : 8)))
        status = SZG_ENOMEM;
    status = mpi_agree(context, SZGI_MEETING_EIGENVALUES, matrix->n, status);
    if (status == SZG_OK)
        status = solve(context, matrix, &rows, &columns, a, w);
    free(a);
    elpa_uninit(&ignored);
    return status;
}
