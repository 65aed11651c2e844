/* Launching kernels. */
#ifndef EMULATED_LAUNCH_H
#define EMULATED_LAUNCH_H

struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, maxDynamicSharedSizeBytes;
};

namespace emulated {

/* What a queued launch keeps: the kernel and its arguments by value. */
struct Kernel {
    virtual ~Kernel() = default;
    virtual void thread() const = 0; /* what one thread does */
};

template <class... Parameters> struct KernelOf : Kernel {
    void (*kernel)(Parameters...);
    std::tuple<Parameters...> arguments;
    template <class... Arguments>
    KernelOf(void (*kernel_)(Parameters...), Arguments &&...arguments_)
        : kernel(kernel_), arguments(std::forward<Arguments>(arguments_)...) {
    }
    void thread() const override {
        std::apply(kernel, arguments);
    }
};

/* Checks and queues; takes `kernel` over. */
cudaError_t launch(const cudaLaunchConfig_t *config, const void *function, Kernel *kernel);
cudaError_t set_attribute(const void *function, cudaFuncAttribute attribute, int value);
cudaError_t occupancy(int *blocks, const void *function, int threads, size_t shared);

} // namespace emulated

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments), "one argument a parameter");
    return emulated::launch(
        config, reinterpret_cast<const void *>(kernel),
        new emulated::KernelOf<Parameters...>(kernel, std::forward<Arguments>(arguments)...));
}
template <class T>
cudaError_t cudaFuncSetAttribute(T *function, cudaFuncAttribute attribute, int value) {
    return emulated::set_attribute(reinterpret_cast<const void *>(function), attribute, value);
}
inline cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute,
                                        int value) {
    return emulated::set_attribute(function, attribute, value);
}
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *function, int threads,
                                                          size_t shared) {
    return emulated::occupancy(blocks, reinterpret_cast<const void *>(function), threads, shared);
}

#endif
