/* Linear algebra that several processes share (MPI). Every process runs the same program on the
 * same input and calls these entries in the same order; each one works on its part, and all have
 * the answer. No process holds anything of order n^2. */
#ifndef SZEGO_LINALG_DISTRIBUTED_H
#define SZEGO_LINALG_DISTRIBUTED_H

#include "linalg.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Where processes meet. */
typedef enum szgi_meeting {
    SZGI_MEETING_INPUT, /* `order` is a digest of the matrix */
    SZGI_MEETING_EIGENVALUES,
    SZGI_MEETING_EXTREMES,
    SZGI_MEETING_STEP,
    SZGI_MEETING_FOUND,   /* Lanczos asks for no further product */
    SZGI_MEETING_RESULTS, /* all is computed; the first process writes it */
    SZGI_MEETING_END
} szgi_meeting;

/* A Hermitian matrix by its entries: (row .. row + count - 1, column), one double each, two where
 * complex. */
typedef struct szgi_distributed_matrix {
    int64_t n;
    bool is_complex;
    bool
        one_stage; /* reduce straight to tridiagonal form: slower, and sure where two stages fail */
    void (*entries)(const void *data, int64_t row, int64_t column, int64_t count, double *out);
    const void *data;
} szgi_distributed_matrix;

/* k eigenvalues at each end of a Hermitian Toeplitz matrix of order n. */
typedef struct szgi_distributed_search {
    int64_t n, k, restarts;
    bool is_complex;
    double tolerance;                              /* relative to each eigenvalue */
    szg_c64 (*lag)(const void *data, int64_t lag); /* -n < lag < n */
    /* Numbers first .. first + count - 1 of the vector that the search begins with. */
    void (*start)(const void *data, int64_t first, int64_t count, double *out);
    const void *data;
} szgi_distributed_search;

/* k values of one end, ascending, and ||T v - value v||_2 of each with its vector, of norm 1. */
typedef struct szgi_distributed_end {
    double *values, *residuals;
    bool there, converged;
} szgi_distributed_end;

typedef struct szgi_distributed_ops {
    int rank, processes;
    int neighbours; /* processes on this machine, this one among them: they share its memory */
    const char *libraries;
    int64_t least_order; /* below it there are not enough blocks for every process */
    /* Every process says how it fares at a meeting. Where one has failed, all get its status, and
     * its message. SZG_EDATA: they are at different meetings. SZG_EDOMAIN: this is not the thread
     * that started MPI. */
    szg_status (*agree)(szg_context *context, szgi_meeting place, int64_t order, szg_status own);
    /* All n eigenvalues, ascending. SZG_ENOCONV, SZG_ENOMEM. */
    szg_status (*eigenvalues)(szg_context *context, const szgi_distributed_matrix *matrix,
                              double *w);
    /* ends[0]: the least, ends[1]: the largest. */
    szg_status (*extremes)(szg_context *context, const szgi_distributed_search *search,
                           szgi_distributed_end ends[2]);
} szgi_distributed_ops;

/* Of the context's backend; NULL: this process is alone. */
const szgi_distributed_ops *szgi_distributed_of(szg_context *context);

/* The same place for all processes, or nothing at all where this one is alone: returns `own`. */
SZG_CHECK_RESULT szg_status szgi_distributed_agree(szg_context *context, szgi_meeting place,
                                                   szg_status own);

/* Whether this process is the one that speaks: prints and writes files. */
bool szgi_distributed_speaks(szg_context *context);

SZGI_END_DECLS

#endif
