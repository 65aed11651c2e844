/* Recording of a step as a CUDA graph, and its replay. */
#include "table.h"

static szg_status begin(szg_context *context, session *self) {
    if (self->recording)
        return fail(context, SZG_EBACKEND, "a step is being recorded already");
    TRY_CUDA(context, cudaStreamBeginCapture(self->stream, cudaStreamCaptureModeThreadLocal));
    self->recording = true;
    return SZG_OK;
}

szg_status gpu_record_begin(szg_context *context) {
    return named(context, begin(context, session_of(context)), "record");
}

static szg_status instantiate(szg_context *context, cudaGraph_t graph, void **recording) {
    cudaGraphExec_t executable = NULL;
    TRY_CUDA(context, cudaGraphInstantiate(&executable, graph, 0));
    *recording = executable;
    return SZG_OK;
}

/* What was spoilt by a failed operation gives no graph. A stream that went on capturing would take
 * every later wait for a mistake: where the call fails before it ends the capture, it is repeated.
 */
static cudaError_t end_capture(session *self, cudaGraph_t *graph) {
    cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    self->recording = false;
    *graph = NULL;
    cudaError_t error = cudaStreamEndCapture(self->stream, graph);
    if (error == cudaSuccess)
        return error;
    cudaGraph_t rest = NULL;
    if (cudaStreamIsCapturing(self->stream, &state) == cudaSuccess &&
        state != cudaStreamCaptureStatusNone)
        cudaStreamEndCapture(self->stream, &rest);
    if (rest)
        cudaGraphDestroy(rest);
    cudaGetLastError();
    return error;
}

void record_drop(session *self) {
    cudaGraph_t graph;
    if (self->recording && end_capture(self, &graph) == cudaSuccess)
        cudaGraphDestroy(graph);
}

static szg_status end(szg_context *context, session *self, void **recording) {
    cudaGraph_t graph;
    if (!self->recording)
        return fail(context, SZG_EBACKEND,
                    "no step is being recorded: none was begun, or memory was freed since");
    cudaError_t error = end_capture(self, &graph);
    if (error != cudaSuccess)
        return cuda_failed(context, error, "cudaStreamEndCapture");
    szg_status status = instantiate(context, graph, recording);
    cudaGraphDestroy(graph);
    self->recorded = self->recorded || status == SZG_OK;
    return status;
}

/* The recording ends whatever happens. */
szg_status gpu_record_end(szg_context *context, void **recording) {
    session *self = session_of(context);
    if (recording)
        return named(context, end(context, self, recording), "record");
    record_drop(self);
    return SZG_OK;
}

static szg_status launch_graph(szg_context *context, session *self, void *recording) {
    TRY_CUDA(context, cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording), self->stream));
    return SZG_OK;
}

szg_status gpu_replay(szg_context *context, void *recording) {
    return named(context, launch_graph(context, session_of(context), recording), "replay");
}

void gpu_recording_close(szg_context *context, void *recording) {
    session *self = session_of(context);
    if (!recording)
        return;
    cudaStreamSynchronize(self->stream);
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording));
}
