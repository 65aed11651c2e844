/* Streams: work is queued and runs as late as it may, when someone waits for it, so that a missing
 * wait shows. SZG_EMULATED_STREAMS=eager runs it at once instead: what reads a buffer before a
 * stream that nobody waited for has filled it then finds it filled, and what was overwritten too
 * early is. */
#include "setting.h"
#include "streams.h"

#include <stdlib.h>
#include <string.h>

#include <set>

namespace emulated {
namespace {

std::set<cudaStream_t> handles;
std::vector<std::weak_ptr<Stream>> streams; /* all but the legacy one */
unsigned created;

bool eager() {
    const char *text = setting("SZG_EMULATED_STREAMS");
    return text && !strcmp(text, "eager");
}

/* The legacy stream and the blocking ones wait for each other. */
void wait_implicitly(const StreamRef &stream) {
    StreamRef legacy = legacy_stream();
    if (stream == legacy) {
        for (const std::weak_ptr<Stream> &weak : streams) {
            StreamRef other = weak.lock();
            if (other && other->blocking && other->done < other->pushed) {
                stream->queue.push_back({nullptr, {other, other->pushed}});
                stream->pushed++;
            }
        }
    } else if (stream->blocking && legacy->done < legacy->pushed) {
        stream->queue.push_back({nullptr, {legacy, legacy->pushed}});
        stream->pushed++;
    }
}

cudaError_t create(cudaStream_t *stream, unsigned flags) {
    if (!stream || flags > cudaStreamNonBlocking)
        return returned(cudaErrorInvalidValue);
    StreamRef made = std::make_shared<Stream>();
    made->blocking = flags == cudaStreamDefault;
    made->number = created++;
    streams.push_back(made);
    *stream = new CUstream_st{made};
    handles.insert(*stream);
    return cudaSuccess;
}

void run_step(Stream *stream) {
    Step step = std::move(stream->queue.front());
    stream->queue.pop_front();
    if (step.after.stream)
        run_until(step.after);
    else if (device_broken() == cudaSuccess) {
        cudaError_t error = step.work();
        if (error != cudaSuccess)
            device_break(error);
    }
    stream->done++;
}

} // namespace

StreamRef legacy_stream() {
    static StreamRef legacy = std::make_shared<Stream>();
    return legacy;
}

StreamRef stream_of(cudaStream_t handle) {
    if (!handle)
        return legacy_stream();
    return handles.count(handle) ? handle->stream : nullptr;
}

void run_until(const Mark &mark) {
    if (mark.stream->done >= mark.position)
        return;
    memory_open();
    while (mark.stream->done < mark.position)
        run_step(mark.stream.get());
    memory_close();
}

void stream_add(const StreamRef &stream, Step step) {
    wait_implicitly(stream);
    stream->queue.push_back(std::move(step));
    stream->pushed++;
    stream->asked = false;
    if (eager())
        run_until({stream, stream->pushed});
}

cudaError_t stream_push(cudaStream_t handle, Work work) {
    StreamRef stream = stream_of(handle);
    if (!stream)
        return returned(cudaErrorInvalidResourceHandle);
    if (stream->capture) {
        if (!stream->capture->valid)
            return returned(cudaErrorStreamCaptureInvalidated);
        capture_add(stream, {std::move(work)});
        return cudaSuccess;
    }
    if (!handle && capture_active())
        return returned(cudaErrorStreamCaptureImplicit);
    stream_add(stream, {std::move(work), {}});
    return device_broken();
}

cudaError_t stream_drain(cudaStream_t handle) {
    StreamRef stream = stream_of(handle);
    if (!stream)
        return returned(cudaErrorInvalidResourceHandle);
    if (stream->capture)
        return returned(capture_spoil(stream, cudaErrorStreamCaptureUnsupported));
    wait_implicitly(stream);
    run_until({stream, stream->pushed});
    return returned(device_broken());
}

cudaError_t streams_drain() {
    std::vector<std::weak_ptr<Stream>> alive;
    for (const std::weak_ptr<Stream> &weak : streams)
        if (StreamRef stream = weak.lock()) {
            run_until({stream, stream->pushed});
            alive.push_back(stream);
        }
    streams.swap(alive);
    run_until({legacy_stream(), legacy_stream()->pushed});
    return returned(device_broken());
}

unsigned stream_number(cudaStream_t handle) {
    StreamRef stream = stream_of(handle);
    return stream ? stream->number : 0;
}

bool stream_captures(cudaStream_t handle) {
    StreamRef stream = stream_of(handle);
    return stream && stream->capture;
}

} // namespace emulated

using namespace emulated;

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    return create(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    return create(stream, flags);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    return create(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    EMULATED_ENTER(cudaErrorInvalidResourceHandle);
    if (!stream || !handles.count(stream))
        return returned(cudaErrorInvalidResourceHandle);
    cudaError_t error = stream_drain(stream);
    handles.erase(stream);
    delete stream;
    return error;
}

/* An injected failure comes after the work, as a true one would. */
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    Guard work;
    cudaError_t error = stream_drain(stream);
    EMULATED_ENTER(cudaErrorLaunchFailure);
    return error;
}

cudaError_t cudaDeviceSynchronize() {
    EMULATED_ENTER(cudaErrorLaunchFailure);
    if (capture_active())
        return returned(cudaErrorStreamCaptureUnsupported);
    return streams_drain();
}

/* The first question finds the work unfinished, the second one finished. */
cudaError_t cudaStreamQuery(cudaStream_t handle) {
    EMULATED_ENTER(cudaErrorLaunchFailure);
    StreamRef stream = stream_of(handle);
    if (stream && !stream->capture && stream->done < stream->pushed && !stream->asked) {
        stream->asked = true;
        return cudaErrorNotReady;
    }
    return stream_drain(handle);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return stream_push(stream, [function, data] {
        function(data);
        return cudaSuccess;
    });
}
