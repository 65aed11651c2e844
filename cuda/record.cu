/* Recording of a step as a CUDA graph, and its replay. */
#include "table.h"

static szg_status begin(szg_context *context, session *self) {
    if (self->recording)
        return fail(context, SZG_EBACKEND, "a step is being recorded already");
    TRY_CUDA(context, cudaStreamBeginCapture(self->stream, cudaStreamCaptureModeThreadLocal));
    self->recording = true;
    return SZG_OK;
}

static szg_status record_begin(szg_context *context) {
    return named(context, begin(context, session_of(context)), "record");
}

static szg_status instantiate(szg_context *context, cudaGraph_t graph, void **recording) {
    cudaGraphExec_t executable = NULL;
    TRY_CUDA(context, cudaGraphInstantiate(&executable, graph, 0));
    *recording = executable;
    return SZG_OK;
}

/* The recording ends whatever happens; what was spoilt by a failed operation gives no graph. */
static szg_status record_end(szg_context *context, void **recording) {
    session *self = session_of(context);
    cudaGraph_t graph = NULL;
    self->recording = false;
    cudaError_t error = cudaStreamEndCapture(self->stream, &graph);
    szg_status status = SZG_OK;
    if (recording && error != cudaSuccess)
        status = cuda_failed(context, error, "cudaStreamEndCapture");
    else if (recording)
        status = instantiate(context, graph, recording);
    else
        cudaGetLastError();
    if (graph)
        cudaGraphDestroy(graph);
    self->recorded = self->recorded || (recording && status == SZG_OK);
    return named(context, status, "record");
}

static szg_status launch_graph(szg_context *context, session *self, void *recording) {
    TRY_CUDA(context, cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording), self->stream));
    return SZG_OK;
}

static szg_status record_replay(szg_context *context, void *recording) {
    return named(context, launch_graph(context, session_of(context), recording), "replay");
}

static void recording_close(szg_context *context, void *recording) {
    session *self = session_of(context);
    if (!recording)
        return;
    cudaStreamSynchronize(self->stream);
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording));
}

void record_fill(szg_network_ops *network) {
    network->record_begin = record_begin;
    network->record_end = record_end;
    network->replay = record_replay;
    network->recording_close = recording_close;
}
