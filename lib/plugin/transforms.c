/* Transforms between the device and the cpu: a plan is one side's from its opening on. */
#include "base/memory.h"

#include "crossover.h"
#include "dispatch.h"

typedef struct plugin_transform {
    plugin_session *session; /* NULL: the cpu's */
    const szgi_linalg_ops *ops;
    void *plan;
} plugin_transform;

static bool device_has(const plugin_session *session, szgi_fft_kind kind) {
    return session->device->linalg->fft_open && kind <= SZGI_FFT_REAL_BACKWARD;
}

static void enter(plugin_session *session) {
    if (session)
        pthread_mutex_lock(&session->lock);
}

static void leave(plugin_session *session) {
    if (session)
        pthread_mutex_unlock(&session->lock);
}

static szg_status transform_open(szg_context *context, szgi_fft_kind kind, int64_t n, int64_t batch,
                                 void **out) {
    plugin_session *session = szgi_context_state(context);
    plugin_transform *transform;
    SZG_TRY(szgi_memory_alloc(context, 1, &transform));
    bool worth = szgi_plugin_crossover_reached(PLUGIN_TRANSFORM, (double)n * (double)batch,
                                               session->crossover);
    transform->session = worth && device_has(session, kind) ? session : NULL;
    transform->ops = transform->session ? session->device->linalg : &szgi_linalg_cpu;
    enter(transform->session);
    szg_status status = transform->ops->fft_open(context, kind, n, batch, &transform->plan);
    leave(transform->session);
    if (status == SZG_OK)
        *out = transform;
    else
        szgi_memory_free(transform);
    return status;
}

static szg_status transform_run(szg_context *context, const void *plan, const void *in, void *out) {
    const plugin_transform *transform = plan;
    enter(transform->session);
    szg_status status = transform->ops->fft_run(context, transform->plan, in, out);
    leave(transform->session);
    return status;
}

static void transform_close(void *plan) {
    plugin_transform *transform = plan;
    enter(transform->session);
    transform->ops->fft_close(transform->plan);
    leave(transform->session);
    szgi_memory_free(transform);
}

void szgi_plugin_transforms_fill(plugin_session *session) {
    session->linalg.fft_open = transform_open;
    session->linalg.fft_run = transform_run;
    session->linalg.fft_close = transform_close;
}
