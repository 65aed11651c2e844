/* cuFFT on FFTW: one guru plan for an execution, made where it runs. A plan's parts are pulled
 * apart only as far as one dimension goes: rank 1. */
#include "cufft.h"

#include <fftw3.h>
#include <string.h>

#include <map>

#include "vendor.h"

using namespace emulated;

namespace {

constexpr size_t work_bytes = 4096;

struct Plan {
    cudaStream_t stream = nullptr;
    bool automatic = true, made = false;
    void *area = nullptr;
    cufftType type = CUFFT_Z2Z;
    long long n = 0, batch = 0;
    long long in_stride = 1, in_distance = 0, out_stride = 1, out_distance = 0;
};

std::map<cufftHandle, Plan> plans;

Plan *plan_of(cufftHandle handle) {
    auto found = plans.find(handle);
    return found == plans.end() ? nullptr : &found->second;
}

long long in_length(const Plan &plan) {
    return plan.type == CUFFT_Z2D ? plan.n / 2 + 1 : plan.n;
}

long long out_length(const Plan &plan) {
    return plan.type == CUFFT_D2Z ? plan.n / 2 + 1 : plan.n;
}

size_t extent(long long length, long long stride, long long distance, long long batch,
              size_t element) {
    return (static_cast<size_t>((batch - 1) * distance + (length - 1) * stride) + 1) * element;
}

fftw_plan make_fftw(const Plan &plan, void *in, void *out, int direction) {
    int n = static_cast<int>(plan.n), batch = static_cast<int>(plan.batch);
    int is = static_cast<int>(plan.in_stride), id = static_cast<int>(plan.in_distance);
    int os = static_cast<int>(plan.out_stride), od = static_cast<int>(plan.out_distance);
    fftw_complex *complex_in = static_cast<fftw_complex *>(in);
    fftw_complex *complex_out = static_cast<fftw_complex *>(out);
    if (plan.type == CUFFT_Z2Z)
        return fftw_plan_many_dft(1, &n, batch, complex_in, nullptr, is, id, complex_out, nullptr,
                                  os, od, direction, FFTW_ESTIMATE);
    if (plan.type == CUFFT_D2Z)
        return fftw_plan_many_dft_r2c(1, &n, batch, static_cast<double *>(in), nullptr, is, id,
                                      complex_out, nullptr, os, od, FFTW_ESTIMATE);
    return fftw_plan_many_dft_c2r(1, &n, batch, complex_in, nullptr, is, id,
                                  static_cast<double *>(out), nullptr, os, od, FFTW_ESTIMATE);
}

/* Whether the entries that a Hermitian sequence has alone are real: cuFFT leaves open what it makes
 * of others, FFTW passes over their imaginary parts. */
bool hermitian(const Plan &plan, const fftw_complex *in) {
    for (long long i = 0; i < plan.batch; i++) {
        const fftw_complex *row = in + i * plan.in_distance;
        if (row[0][1] != 0 || (plan.n % 2 == 0 && row[plan.n / 2 * plan.in_stride][1] != 0))
            return false;
    }
    return true;
}

cudaError_t run(const Plan &plan, void *in, void *out, int direction) {
    size_t in_element = plan.type == CUFFT_D2Z ? sizeof(double) : sizeof(fftw_complex);
    size_t out_element = plan.type == CUFFT_Z2D ? sizeof(double) : sizeof(fftw_complex);
    if (!range_good(
            "the FFT's input", in,
            extent(in_length(plan), plan.in_stride, plan.in_distance, plan.batch, in_element)) ||
        !range_good("the FFT's output", out,
                    extent(out_length(plan), plan.out_stride, plan.out_distance, plan.batch,
                           out_element)) ||
        !range_good("the FFT's work area", plan.area, plan.automatic ? 0 : work_bytes))
        return cudaErrorIllegalAddress;
    if (!plan.automatic)
        memset(plan.area, 0xff, work_bytes);
    fftw_plan made = make_fftw(plan, in, out, direction);
    if (!made)
        return cudaErrorLaunchFailure;
    bool undefined = plan.type == CUFFT_Z2D && !hermitian(plan, static_cast<fftw_complex *>(in));
    fftw_execute(made);
    fftw_destroy_plan(made);
    if (undefined)
        memset(
            out, 0xff,
            extent(out_length(plan), plan.out_stride, plan.out_distance, plan.batch, out_element));
    return cudaSuccess;
}

cufftResult execute(const char *function, cufftHandle handle, cufftType type, void *in, void *out,
                    int direction) {
    Guard guard;
    Plan *plan = plan_of(handle);
    if (!plan || !plan->made || plan->type != type)
        return CUFFT_INVALID_PLAN;
    if (injected(function) || device_broken() != cudaSuccess)
        return CUFFT_EXEC_FAILED;
    if (!plan->automatic && !plan->area)
        return CUFFT_NO_WORKSPACE;
    Plan kept = *plan;
    cudaError_t error = stream_push(
        plan->stream, [kept, in, out, direction] { return run(kept, in, out, direction); });
    return error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

} // namespace

cufftResult cufftGetVersion(int *version) {
    *version = 12000;
    return CUFFT_SUCCESS;
}

cufftResult cufftCreate(cufftHandle *plan) {
    Guard guard;
    static int count;
    if (device_missing() || injected(__func__))
        return CUFFT_SETUP_FAILED;
    *plan = ++count;
    plans[*plan] = Plan();
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
    Guard guard;
    return plans.erase(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
    Guard guard;
    Plan *plan = plan_of(handle);
    if (!plan)
        return CUFFT_INVALID_PLAN;
    plan->stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int automatic) {
    Guard guard;
    Plan *plan = plan_of(handle);
    if (!plan || plan->made)
        return CUFFT_INVALID_PLAN;
    plan->automatic = automatic != 0;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void *area) {
    Guard guard;
    Plan *plan = plan_of(handle);
    if (!plan)
        return CUFFT_INVALID_PLAN;
    plan->area = area;
    return CUFFT_SUCCESS;
}

cufftResult cufftGetSize(cufftHandle handle, size_t *size) {
    Guard guard;
    if (!plan_of(handle))
        return CUFFT_INVALID_PLAN;
    *size = work_bytes;
    return CUFFT_SUCCESS;
}

/* Without its embedding arrays a plan's strides and distances are those of dense rows. */
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long *n, long long *in_embed,
                                long long in_stride, long long in_distance, long long *out_embed,
                                long long out_stride, long long out_distance, cufftType type,
                                long long batch, size_t *size) {
    Guard guard;
    Plan *plan = plan_of(handle);
    if (!plan || plan->made)
        return CUFFT_INVALID_PLAN;
    if (injected(__func__))
        return CUFFT_ALLOC_FAILED;
    if (rank != 1 || (in_embed == nullptr) != (out_embed == nullptr))
        return CUFFT_NOT_SUPPORTED;
    if (n[0] < 1 || batch < 1 || n[0] > 0x7fffffff)
        return CUFFT_INVALID_SIZE;
    plan->type = type;
    plan->n = n[0];
    plan->batch = batch;
    plan->in_stride = in_embed ? in_stride : 1;
    plan->in_distance = in_embed ? in_distance : in_length(*plan);
    plan->out_stride = out_embed ? out_stride : 1;
    plan->out_distance = out_embed ? out_distance : out_length(*plan);
    plan->made = true;
    *size = work_bytes;
    return CUFFT_SUCCESS;
}

cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *in_embed, int in_stride,
                          int in_distance, int *out_embed, int out_stride, int out_distance,
                          cufftType type, int batch) {
    Guard guard;
    cufftResult result = cufftCreate(plan);
    if (result != CUFFT_SUCCESS)
        return result;
    if (injected(__func__))
        return CUFFT_ALLOC_FAILED;
    long long length = n[0], embed = 0;
    size_t size;
    return cufftMakePlanMany64(*plan, rank, &length, in_embed ? &embed : nullptr, in_stride,
                               in_distance, out_embed ? &embed : nullptr, out_stride, out_distance,
                               type, batch, &size);
}

cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out,
                         int direction) {
    return execute(__func__, plan, CUFFT_Z2Z, in, out, direction);
}

cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out) {
    return execute(__func__, plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out) {
    return execute(__func__, plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}
