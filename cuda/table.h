/* The entries of the table, by file. Their meaning stands in "network/network.h" and
 * <szego/backend.h>; arguments are checked by the library. */
#ifndef SZG_CUDA_TABLE_H
#define SZG_CUDA_TABLE_H

#include "session.h"

/* Each fills in its entries. */
void memory_fill(szgi_network_ops *network);    /* memory.cu */
void record_fill(szgi_network_ops *network);    /* record.cu */
void clock_fill(szgi_network_ops *network);     /* clock.cu */
void linear_fill(szgi_network_ops *network);    /* linear.cu */
void attention_fill(szgi_network_ops *network); /* attention.cu */
void layers_fill(szgi_network_ops *network);  /* layers.cu: norms, dropout, both ends, optimiser */
void capture_fill(szgi_network_ops *network); /* capture.cu: spectra beside other work */
void algebra_fill(szgi_linalg_ops *ops); /* algebra.cu: products, eigen- and singular values, FFT */

/* Ends a recording that is under way and drops it; else does nothing. */
void record_drop(session *self);

/* cuBLASLt's plans and the handles of spectra; NULL is allowed. */
void product_close(session *self);
void spectra_close(session *self);
void clock_close(session *self); /* its events */

#endif
