/* Memory of the backends that compute in the host's memory: the entries of ops.h. */
#ifndef SZG_NETWORK_MEMORY_H
#define SZG_NETWORK_MEMORY_H

#include "network/ops.h"

szg_status szgi_host_alloc(szg_context *context, int64_t bytes, void **out);
void szgi_host_free(szg_context *context, void *memory);
szg_status szgi_host_copy(szg_context *context, void *to, const void *from, int64_t bytes);
szg_status szgi_host_clear(szg_context *context, void *memory, int64_t bytes);
szg_status szgi_host_clear_columns(szg_context *context, void *memory, int64_t rows, int64_t stride,
                                   int64_t bytes);
szg_status szgi_host_sync(szg_context *context);

/* Stores the tally with a call's losses added, unless its block says or now shall say that numbers
 * are not finite. */
void szgi_host_set_tally(const szgi_cross_entropy *entropy, const szgi_tally *sum);

#define SZGI_HOST_MEMORY                                                                           \
    .alloc = szgi_host_alloc, .free = szgi_host_free, .upload = szgi_host_copy,                    \
    .download = szgi_host_copy, .copy = szgi_host_copy, .clear = szgi_host_clear,                  \
    .clear_columns = szgi_host_clear_columns, .sync = szgi_host_sync

#endif
