/* Captures and graphs. A graph keeps one list of steps for each stream that took part; a launch
 * gives each list to a stream of its own, which runs as late as streams do, so that a wait that the
 * capture lacks is missing in every replay too. */
#include <set>

#include "streams.h"

using namespace emulated;

struct CUgraph_st {
    std::vector<Branch> branches;
};
struct CUgraphExec_st {
    std::shared_ptr<std::vector<Branch>> branches;
};

namespace emulated {
namespace {

std::set<Capture *> captures;
std::set<cudaGraph_t> graphs;
std::set<cudaGraphExec_t> executables;

void replay(const std::vector<Branch> &branches) {
    std::vector<StreamRef> streams;
    for (size_t i = 0; i < branches.size(); i++) {
        streams.push_back(std::make_shared<Stream>());
        streams[i]->blocking = false;
    }
    for (size_t i = 0; i < branches.size(); i++)
        for (const CapturedStep &step : branches[i]) {
            Mark after;
            if (step.branch >= 0)
                after = {streams[static_cast<size_t>(step.branch)], step.position};
            streams[i]->queue.push_back({step.work, after});
            streams[i]->pushed++;
        }
    run_until({streams[0], streams[0]->pushed});
}

/* Whether each branch's end is waited for by another one. */
bool joined(const Capture &capture) {
    for (size_t i = 1; i < capture.branches.size(); i++) {
        bool found = false;
        for (const Branch &branch : capture.branches)
            for (const CapturedStep &step : branch)
                found |= step.branch == static_cast<long>(i) &&
                         step.position == capture.branches[i].size();
        if (!found)
            return false;
    }
    return true;
}

void end(Capture *capture) {
    for (const StreamRef &stream : capture->streams)
        stream->capture = nullptr;
    capture->active = false;
    capture->streams.clear();
    captures.erase(capture);
}

} // namespace

bool capture_active() {
    return !captures.empty();
}

void capture_add(const StreamRef &stream, CapturedStep step) {
    stream->capture->branches[stream->branch].push_back(std::move(step));
}

void capture_join(const StreamRef &stream, const std::shared_ptr<Capture> &capture) {
    stream->capture = capture;
    stream->branch = capture->branches.size();
    capture->branches.emplace_back();
    capture->streams.push_back(stream);
}

cudaError_t capture_spoil(const StreamRef &stream, cudaError_t error) {
    if (stream->capture)
        stream->capture->valid = false;
    return error;
}

cudaError_t capture_refuses(bool relaxed) {
    for (Capture *capture : captures) {
        bool mine = capture->thread == std::this_thread::get_id();
        if (relaxed && capture->mode == cudaStreamCaptureModeRelaxed)
            continue;
        if (mine || capture->mode == cudaStreamCaptureModeGlobal) {
            capture->valid = false;
            return returned(cudaErrorStreamCaptureUnsupported);
        }
    }
    return cudaSuccess;
}

} // namespace emulated

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    StreamRef stream = stream_of(handle);
    if (!stream)
        return returned(cudaErrorInvalidResourceHandle);
    if (!handle)
        return returned(cudaErrorStreamCaptureUnsupported);
    if (stream->capture)
        return returned(cudaErrorIllegalState);
    std::shared_ptr<Capture> capture = std::make_shared<Capture>();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture_join(stream, capture);
    captures.insert(capture.get());
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph) {
    EMULATED_ENTER(cudaErrorStreamCaptureInvalidated);
    StreamRef stream = stream_of(handle);
    if (!stream || !graph)
        return returned(cudaErrorInvalidValue);
    *graph = nullptr;
    std::shared_ptr<Capture> capture = stream->capture;
    if (!capture)
        return returned(cudaErrorIllegalState);
    if (stream->branch != 0)
        return returned(capture_spoil(stream, cudaErrorStreamCaptureUnmatched));
    if (capture->mode != cudaStreamCaptureModeRelaxed &&
        capture->thread != std::this_thread::get_id())
        return returned(cudaErrorStreamCaptureWrongThread);
    end(capture.get());
    if (!capture->valid)
        return returned(cudaErrorStreamCaptureInvalidated);
    if (!joined(*capture))
        return returned(cudaErrorStreamCaptureUnjoined);
    *graph = new CUgraph_st{capture->branches};
    graphs.insert(*graph);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus *status) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    StreamRef stream = stream_of(handle);
    if (!stream || !status)
        return returned(cudaErrorInvalidValue);
    if (!stream->capture)
        *status = cudaStreamCaptureStatusNone;
    else
        *status = stream->capture->valid ? cudaStreamCaptureStatusActive
                                         : cudaStreamCaptureStatusInvalidated;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    if (!executable || !graphs.count(graph))
        return returned(cudaErrorInvalidValue);
    *executable = new CUgraphExec_st{std::make_shared<std::vector<Branch>>(graph->branches)};
    executables.insert(*executable);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    EMULATED_ENTER(cudaErrorLaunchFailure);
    if (!executables.count(executable))
        return returned(cudaErrorInvalidValue);
    std::shared_ptr<std::vector<Branch>> branches = executable->branches;
    return stream_push(stream, [branches] {
        replay(*branches);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return executables.count(executable) ? cudaSuccess : returned(cudaErrorInvalidValue);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    if (!graphs.erase(graph))
        return returned(cudaErrorInvalidValue);
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    if (!executables.erase(executable))
        return returned(cudaErrorInvalidValue);
    delete executable;
    return cudaSuccess;
}
