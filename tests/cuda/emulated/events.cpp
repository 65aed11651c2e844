/* Events: marks in a stream, or in one of a capture. */
#include <chrono>
#include <set>

#include "streams.h"

using namespace emulated;

struct EventTime {
    std::chrono::steady_clock::time_point at;
};

struct CUevent_st {
    Mark mark;
    bool recorded = false, timed = true, asked = false;
    std::shared_ptr<EventTime> time; /* when the latest record ran */
    /* Of the latest record, where it was captured. */
    std::shared_ptr<Capture> capture;
    size_t branch = 0, position = 0;
};

namespace {

std::set<cudaEvent_t> events;
std::chrono::steady_clock::duration added{}; /* to the true time */

bool unknown(cudaEvent_t event) {
    return !events.count(event);
}

cudaError_t create(cudaEvent_t *event, unsigned flags) {
    if (!event || flags > (cudaEventBlockingSync | cudaEventDisableTiming))
        return returned(cudaErrorInvalidValue);
    *event = new CUevent_st;
    (*event)->timed = !(flags & cudaEventDisableTiming);
    events.insert(*event);
    return cudaSuccess;
}

cudaError_t wait_for(cudaEvent_t event) {
    if (event->capture)
        return returned(cudaErrorCapturedEvent);
    if (event->recorded)
        run_until(event->mark);
    return returned(device_broken());
}

/* A stream that waits for a captured event takes part in that capture. */
cudaError_t wait_captured(const StreamRef &stream, cudaEvent_t event) {
    std::shared_ptr<Capture> capture = event->capture;
    if (!capture && !event->recorded)
        return cudaSuccess;
    if (!capture)
        return returned(capture_spoil(stream, cudaErrorStreamCaptureIsolation));
    if (!capture->active || !capture->valid)
        return returned(cudaErrorStreamCaptureInvalidated);
    if (stream->capture && stream->capture != capture)
        return returned(capture_spoil(stream, cudaErrorStreamCaptureMerge));
    if (!stream->capture)
        capture_join(stream, capture);
    capture_add(stream, {nullptr, static_cast<long>(event->branch), event->position});
    return cudaSuccess;
}

} // namespace

void emulated::clock_advance(double milliseconds) {
    added += std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double, std::milli>(milliseconds));
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    return create(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    return create(event, flags);
}

/* Of a broken device too: its answer is the error, but the event is gone. */
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    emulated::Guard guard;
    bool known = !unknown(event);
    if (known) {
        events.erase(event);
        delete event;
    }
    cudaError_t entered = emulated::enter(__func__, cudaErrorInvalidResourceHandle);
    if (entered != cudaSuccess)
        return entered;
    return known ? cudaSuccess : returned(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
    EMULATED_ENTER(cudaErrorLaunchFailure);
    StreamRef stream = stream_of(handle);
    if (!stream || unknown(event))
        return returned(cudaErrorInvalidResourceHandle);
    event->capture = stream->capture;
    if (stream->capture) {
        event->branch = stream->branch;
        event->position = stream->capture->branches[stream->branch].size();
        return cudaSuccess;
    }
    std::shared_ptr<EventTime> time = std::make_shared<EventTime>();
    cudaError_t error = stream_push(handle, [time] {
        time->at = std::chrono::steady_clock::now() + added;
        return cudaSuccess;
    });
    event->time = time;
    event->mark = {stream, stream->pushed};
    event->recorded = true;
    event->asked = false;
    return error;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
    EMULATED_ENTER(cudaErrorInvalidResourceHandle);
    StreamRef stream = stream_of(handle);
    if (!stream || unknown(event))
        return returned(cudaErrorInvalidResourceHandle);
    if (stream->capture || event->capture)
        return wait_captured(stream, event);
    if (event->recorded)
        stream_add(stream, {nullptr, event->mark});
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    EMULATED_ENTER(cudaErrorLaunchFailure);
    if (unknown(event))
        return returned(cudaErrorInvalidResourceHandle);
    return wait_for(event);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    EMULATED_ENTER(cudaErrorLaunchFailure);
    if (unknown(event))
        return returned(cudaErrorInvalidResourceHandle);
    bool pending = event->recorded && event->mark.stream->done < event->mark.position;
    if (!event->capture && pending && !event->asked) {
        event->asked = true;
        return cudaErrorNotReady;
    }
    return wait_for(event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    EMULATED_ENTER(cudaErrorInvalidResourceHandle);
    if (unknown(start) || unknown(end) || !start->timed || !end->timed || !start->recorded ||
        !end->recorded)
        return returned(cudaErrorInvalidResourceHandle);
    if (start->mark.stream->done < start->mark.position ||
        end->mark.stream->done < end->mark.position)
        return cudaErrorNotReady;
    *milliseconds =
        std::chrono::duration<float, std::milli>(end->time->at - start->time->at).count();
    return cudaSuccess;
}
