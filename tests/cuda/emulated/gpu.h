/* The emulated device behind the runtime API: errors, streams of work, memory. */
#ifndef EMULATED_GPU_H
#define EMULATED_GPU_H

#include <cuda_runtime.h>

#include <functional>
#include <memory>

namespace emulated {

/* One call of the API at a time; queued work runs on the thread that waits for it. */
struct Guard {
    Guard();
    ~Guard();
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;
};

/* What every call begins with: `typical` is the error that SZG_EMULATED_FAIL injects. */
cudaError_t enter(const char *function, cudaError_t typical);
/* Whether this call of `function` is the one that the variable names, as FUNCTION:N. */
bool counted(const char *variable, const char *function);
bool injected(const char *function); /* counted by SZG_EMULATED_FAIL */
bool device_missing();
cudaError_t returned(cudaError_t error); /* notes it for cudaGetLastError */
void device_break(cudaError_t error);    /* every later call returns it, as after a bad kernel */
cudaError_t device_broken();

#define EMULATED_ENTER(typical)                                                                    \
    emulated::Guard guard;                                                                         \
    do {                                                                                           \
        cudaError_t entered = emulated::enter(__func__, typical);                                  \
        if (entered != cudaSuccess)                                                                \
            return entered;                                                                        \
    } while (0)

/* Work to be done in the order of a stream; an error of it breaks the device. */
typedef std::function<cudaError_t()> Work;
cudaError_t stream_push(cudaStream_t stream, Work work);
cudaError_t stream_drain(cudaStream_t stream);
cudaError_t streams_drain(); /* all of them */
bool stream_captures(cudaStream_t stream);
unsigned stream_number(cudaStream_t stream); /* of those that were created; the legacy one's is 0 */
/* Refuses a call that no capture of this thread allows; `relaxed` whether a relaxed one does. */
cudaError_t capture_refuses(bool relaxed);

/* Lets the clock of events go forward: work that says how long it takes. */
void clock_advance(double milliseconds);

/* Device memory. Queued work runs between open and close, which nest. */
void memory_open();
void memory_close();
bool memory_device(const void *pointer);             /* whether it lies in device memory */
bool memory_holds(const void *pointer, size_t size); /* in one live allocation */
bool memory_pinned(const void *pointer, size_t size);
bool memory_host_is(const char *kind); /* what SZG_EMULATED_HOST allows of the host's memory */
size_t memory_total();
size_t memory_used();

} // namespace emulated

#endif
