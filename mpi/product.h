/* y = T x for a Hermitian Toeplitz matrix of which every process has a piece of x and y. */
#ifndef SZG_MPI_PRODUCT_H
#define SZG_MPI_PRODUCT_H

#include "session.h"

typedef struct mpi_product mpi_product;

/* Lags are taken from the search. On success the caller closes it. */
szg_status mpi_product_open(szg_context *context, const szgi_distributed_search *search,
                            mpi_product **out);
void mpi_product_close(mpi_product **product);

/* This process's piece (mpi_piece) of real or complex numbers, as the search has them. */
void mpi_product_apply(mpi_product *product, const double *x, double *y);

#endif
