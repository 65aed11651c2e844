/* Streams, events and captures from within. */
#ifndef EMULATED_STREAMS_H
#define EMULATED_STREAMS_H

#include <deque>
#include <thread>
#include <vector>

#include "gpu.h"

namespace emulated {

struct Stream;
struct Capture;
typedef std::shared_ptr<Stream> StreamRef;

/* Everything that was in `stream` before `position`. */
struct Mark {
    StreamRef stream;
    uint64_t position = 0;
};

/* Work, or a wait for other work where `after` names a stream. */
struct Step {
    Work work;
    Mark after;
};

struct Stream {
    std::deque<Step> queue;
    uint64_t pushed = 0, done = 0;
    bool blocking = true; /* waits for the legacy stream and makes it wait */
    bool asked = false;   /* a query has said "not ready" since the last step came */
    std::shared_ptr<Capture> capture;
    size_t branch = 0;   /* its number in the capture */
    unsigned number = 0; /* of the program's streams, in the order of their creation */
};

/* One stream's part of a capture: waits name a branch and a position in it. */
struct CapturedStep {
    Work work;
    long branch = -1;
    size_t position = 0;
};
typedef std::vector<CapturedStep> Branch;

struct Capture {
    std::vector<Branch> branches;
    std::vector<StreamRef> streams; /* of the branches; the first began it */
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread;
    bool valid = true, active = true;
};

StreamRef legacy_stream();
/* The stream of a handle, null where it is none. */
StreamRef stream_of(cudaStream_t handle);
void stream_add(const StreamRef &stream, Step step);
/* Runs what `mark` names, and before it what that waits for. */
void run_until(const Mark &mark);

bool capture_active();
void capture_add(const StreamRef &stream, CapturedStep step);
void capture_join(const StreamRef &stream, const std::shared_ptr<Capture> &capture);
cudaError_t capture_spoil(const StreamRef &stream, cudaError_t error);

} // namespace emulated

struct CUstream_st {
    emulated::StreamRef stream;
};

#endif
