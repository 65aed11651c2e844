/* The entries of the tables. "network/network.h" and <szego/backend.h> describe them; the library
 * checks the arguments. */
#ifndef SZG_CUDA_TABLE_H
#define SZG_CUDA_TABLE_H

#include "session.h"

/* gpu_NAME for each row of "network/network_ops.def": one file per operation, forward and
 * backward together. */
#define LAYER(name, words, arguments)                                                              \
    szg_status gpu_##name(szg_context *context SZGI_PARAMETERS arguments);
#define MOVE(name, arguments) szg_status gpu_##name(szg_context *context SZGI_PARAMETERS arguments);
#define SERVICE(group, returns, name, parameters) returns gpu_##name parameters;
#include "network/network_ops.def"

extern const szgi_network_ops gpu_network; /* table.cu */

/* Fills in its entries. */
void algebra_fill(szgi_linalg_ops *ops); /* algebra.cu: products, eigen- and singular values, FFT */

/* Ends a recording that is under way and drops it; else does nothing. */
void record_drop(session *self);

/* cuBLASLt's plans and the handles of spectra; NULL is allowed. */
void product_close(session *self);
void spectra_close(session *self);
void clock_close(session *self); /* its events */

#endif
