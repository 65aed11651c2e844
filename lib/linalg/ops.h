/* The op table: what a backend implements. Programs call the functions of "linalg/linalg.h" and
 * "network/network.h", which check their arguments; entries of a table rely on that and are called
 * by nothing else. An entry that a backend lacks is NULL. Shapes and meanings are those of the
 * functions of the same name. */
#ifndef SZEGO_LINALG_OPS_H
#define SZEGO_LINALG_OPS_H

#include "linalg.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

#define SZGI_ENTRY(returns, name, parameters) returns(*name) parameters;
typedef struct szgi_linalg_ops {
#define ORACLE SZGI_ENTRY
#define VENDOR SZGI_ENTRY
#define BATCH SZGI_ENTRY
#include "linalg_ops.def"
} szgi_linalg_ops;
#undef SZGI_ENTRY

typedef struct szgi_ops {
    const char *name;
    const szgi_linalg_ops *linalg;
    const struct szgi_network_ops *network;         /* "network/ops.h" */
    const struct szgi_distributed_ops *distributed; /* "linalg/distributed.h"; NULL: alone */
} szgi_ops;

/* OpenBLAS, LAPACKE and FFTW; and plain C, the oracle of all others. Their batches are the pool's
 * ("linalg/batch.h"). */
extern const szgi_linalg_ops szgi_linalg_cpu, szgi_linalg_reference;

/* "cpu", "reference", "reference64", "cuda:tf32", "cuda:f32", "cuda:bf16" or "mpi". */
const char *szgi_backend_name(szg_context *context);

/* Of the context's table, the cpu's where none was selected. Never NULL. */
const szgi_linalg_ops *szgi_linalg_of(szg_context *context);

SZGI_END_DECLS

#endif
