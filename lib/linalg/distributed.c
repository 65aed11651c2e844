/* What holds with and without other processes. */
#include "base/context.h"
#include "distributed.h"
#include "ops.h"

const szgi_distributed_ops *szgi_distributed_of(szg_context *context) {
    const szgi_ops *ops = szgi_context_ops(context);
    return ops ? ops->distributed : NULL;
}

szg_status szgi_distributed_agree(szg_context *context, szgi_meeting place, szg_status own) {
    const szgi_distributed_ops *ops = szgi_distributed_of(context);
    return ops ? ops->agree(context, place, 0, own) : own;
}

bool szgi_distributed_speaks(szg_context *context) {
    const szgi_distributed_ops *ops = szgi_distributed_of(context);
    return !ops || ops->rank == 0;
}
