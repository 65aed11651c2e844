/* Which of a plugin's spectral operations are worth the way to the device. */
#ifndef SZG_PLUGIN_DISPATCH_H
#define SZG_PLUGIN_DISPATCH_H

#include <pthread.h>
#include "plugin/abi.h"

/* A context's state while it works on a plugin. */
typedef struct plugin_session {
    szgi_ops ops;           /* what the context has selected */
    szgi_linalg_ops linalg; /* its linear algebra */
    const szgi_plugin *plugin;
    szgi_ops *device;     /* the plugin's table */
    pthread_mutex_t lock; /* workers of the pool call spectral operations at the same time */
    double crossover;     /* plugin_crossover_scale */
} plugin_session;

/* Fills session->ops: network layers are the device's; of the linear algebra each call goes to the
 * device or to the cpu, by its size; what the device lacks is the cpu's. SZG_EINVAL: the
 * environment variable SZEGO_CUDA_CROSSOVER is no factor. */
SZG_CHECK_RESULT szg_status szgi_plugin_dispatch_fill(szg_context *context,
                                                      plugin_session *session);

/* The transforms' part of it. */
void szgi_plugin_transforms_fill(plugin_session *session);

#endif
