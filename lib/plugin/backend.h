/* The tables of the backends. */
#ifndef SZEGO_PLUGIN_BACKEND_H
#define SZEGO_PLUGIN_BACKEND_H

#include <szego/backend.h>
#include "linalg/ops.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The table of the context, the cpu table where none was selected. Never NULL. */
const szgi_ops *szgi_ops_of(szg_context *context);
const szgi_ops *szgi_ops_cpu(void);
const szgi_ops *szgi_ops_reference(void);
/* The reference whose network arrays ("network/network.h") hold doubles: for finite differences.
 * Taken with szgi_context_set_ops. */
const szgi_ops *szgi_ops_reference64(void);

SZGI_END_DECLS

#endif
