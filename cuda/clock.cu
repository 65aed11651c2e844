/* The device's clock: events in the main stream. */
#include <stdlib.h>

#include "table.h"

/* The event of a mark, made when it is first set. */
static szg_status event_of(szg_context *context, session *self, int64_t which, cudaEvent_t *out) {
    if (!self->marks)
        self->marks = static_cast<cudaEvent_t *>(calloc(SZGI_DEVICE_MARKS, sizeof *self->marks));
    if (!self->marks)
        return fail(context, SZG_ENOMEM, "%zu bytes of host memory were refused",
                    SZGI_DEVICE_MARKS * sizeof *self->marks);
    if (!self->marks[which])
        TRY_CUDA(context, cudaEventCreate(&self->marks[which]));
    *out = self->marks[which];
    return SZG_OK;
}

static szg_status set(szg_context *context, session *self, int64_t which) {
    cudaEvent_t event = nullptr;
    if (self->recording)
        return fail(context, SZG_EBACKEND, "a step is being recorded: it has no time of its own");
    SZG_TRY(event_of(context, self, which, &event));
    TRY_CUDA(context, cudaEventRecord(event, self->stream));
    return SZG_OK;
}

szg_status gpu_mark(szg_context *context, int64_t which) {
    return named(context, set(context, session_of(context), which), "mark %lld", (long long)which);
}

static szg_status between(szg_context *context, const session *self, int64_t from, int64_t to,
                          double *seconds) {
    float milliseconds = 0;
    if (!self->marks || !self->marks[from] || !self->marks[to])
        return fail(context, SZG_EBACKEND, "a mark was not set");
    TRY_CUDA(context, cudaEventSynchronize(self->marks[to]));
    TRY_CUDA(context, cudaEventElapsedTime(&milliseconds, self->marks[from], self->marks[to]));
    *seconds = 1e-3 * static_cast<double>(milliseconds);
    return SZG_OK;
}

szg_status gpu_elapsed(szg_context *context, int64_t from, int64_t to, double *seconds) {
    return named(context, between(context, session_of(context), from, to, seconds),
                 "marks %lld to %lld", (long long)from, (long long)to);
}

void clock_close(session *self) {
    for (int i = 0; self->marks && i < SZGI_DEVICE_MARKS; i++)
        if (self->marks[i])
            cudaEventDestroy(self->marks[i]);
    free(self->marks);
}
