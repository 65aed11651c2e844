/* The plugin's one symbol, and the devices of the machine. */
#include <stdio.h>
#include <string.h>

#include <cufft.h>

#include "open.h"
#include "session.h"

/* The oldest device that the plugin has code for. */
enum { OLDEST_MAJOR = 8 };

static szg_status count_devices(szg_context *context, int *count) {
    *count = 0;
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaSuccess && *count > 0)
        return SZG_OK;
    cudaGetLastError();
    if (error == cudaErrorInsufficientDriver) {
        int driver = 0, runtime = 0;
        cudaDriverGetVersion(&driver);
        cudaRuntimeGetVersion(&runtime);
        if (driver == 0)
            return fail(context, SZG_EBACKEND,
                        "backend cuda: no NVIDIA driver is installed on this machine: install one "
                        "for CUDA %d.%d or newer, or use --backend cpu",
                        runtime / 1000, runtime % 1000 / 10);
        return fail(context, SZG_EBACKEND,
                    "backend cuda: the NVIDIA driver is too old: it serves CUDA %d.%d, the plugin "
                    "needs %d.%d: install a newer driver, or use --backend cpu",
                    driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    }
    if (error == cudaErrorNoDevice || error == cudaSuccess)
        return fail(context, SZG_EBACKEND,
                    "backend cuda: no NVIDIA device is visible: look at nvidia-smi and "
                    "CUDA_VISIBLE_DEVICES, or use --backend cpu");
    return named(context, cuda_failed(context, error, "cudaGetDeviceCount"), "backend cuda");
}

static szg_status describe(szg_context *context, int index, szg_device *out) {
    cudaDeviceProp properties;
    TRY_CUDA(context, cudaGetDeviceProperties(&properties, index));
    *out = {};
    snprintf(out->name, sizeof out->name, "%s", properties.name);
    out->major = properties.major;
    out->minor = properties.minor;
    out->processors = properties.multiProcessorCount;
    out->memory = static_cast<int64_t>(properties.totalGlobalMem);
    out->usable = properties.major >= OLDEST_MAJOR;
    out->available = -1;
    size_t available, total;
    if (out->usable && cudaSetDevice(index) == cudaSuccess &&
        cudaMemGetInfo(&available, &total) == cudaSuccess)
        out->available = static_cast<int64_t>(available);
    cudaGetLastError();
    return SZG_OK;
}

static szg_status devices(szg_context *context, int room, szg_device *out, int *count) {
    SZG_TRY(count_devices(context, count));
    for (int i = 0; i < *count && i < room; i++)
        SZG_TRY(named(context, describe(context, i, &out[i]), "backend cuda: device %d", i));
    return SZG_OK;
}

/* The first device that is new enough. */
static szg_status open_first(szg_context *context, szgi_precision precision, szgi_ops **out) {
    int count;
    szg_device device = {};
    SZG_TRY(count_devices(context, &count));
    for (int i = 0; i < count; i++) {
        SZG_TRY(named(context, describe(context, i, &device), "backend cuda: device %d", i));
        if (device.usable)
            return named(context, session_open(context, i, &device, precision, out),
                         "backend cuda: %s", device.name);
    }
    return fail(
        context, SZG_EBACKEND,
        "backend cuda: %s has compute capability %d.%d, the plugin needs %d.0 or newer: use "
        "--backend cpu",
        device.name, device.major, device.minor, (int)OLDEST_MAJOR);
}

/* "CUDA 13.0 (driver 13.0), cuBLASLt 13.0.2, cuSOLVER 12.0.3, cuFFT 12.0.1". */
static const char *libraries() {
    static char text[256];
    int runtime = 0, solver[3] = {0, 0, 0}, fft = 0;
    cudaRuntimeGetVersion(&runtime);
    cusolverGetProperty(MAJOR_VERSION, &solver[0]);
    cusolverGetProperty(MINOR_VERSION, &solver[1]);
    cusolverGetProperty(PATCH_LEVEL, &solver[2]);
    cufftGetVersion(&fft);
    int product = static_cast<int>(cublasLtGetVersion());
    snprintf(text, sizeof text, "CUDA %d.%d, cuBLASLt %d.%d.%d, cuSOLVER %d.%d.%d, cuFFT %d.%d.%d",
             runtime / 1000, runtime % 1000 / 10, product / 10000, product / 100 % 100,
             product % 100, solver[0], solver[1], solver[2], fft / 1000, fft / 100 % 10, fft % 100);
    return text;
}

extern "C" __attribute__((visibility("default"))) const szgi_plugin *
szego_plugin(const szgi_host *host) {
    static szgi_plugin plugin;
    cuda_host = host;
    plugin = {.abi = SZGI_PLUGIN_ABI,
              .version = SZG_PLUGIN_VERSION,
              .libraries = libraries(),
              .devices = devices,
              .open = open_first,
              .close = session_close};
    return &plugin;
}
