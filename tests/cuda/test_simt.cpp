/* The emulated GPU itself: threads, barriers, exchanges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mma.cuh>

#include "kernels.h"

static __global__ void write_numbers(int *out) {
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned size = blockDim.x * blockDim.y * blockDim.z;
    out[block * size + thread] += static_cast<int>(block * size + thread) + 1;
}

START_TEST(every_thread_runs_once) {
    const char *orders[] = {"forward", "reverse", "7", "8", "ahead", "ahead-reverse"};
    constexpr size_t count = 2 * 3 * 5 * 7 * 4 * 3;
    int *device = device_array<int>(count), host[count];
    for (const char *order : orders) {
        setenv("SZG_EMULATED_ORDER", order, 1);
        ck_cuda(cudaSuccess, cudaMemsetAsync(device, 0, sizeof host));
        ck_cuda(cudaSuccess, start({dim3(2, 3, 5), dim3(7, 4, 3)}, write_numbers, device));
        read_array(host, device, count);
        for (size_t i = 0; i < count; i++)
            ck_assert_int_eq(host[i], static_cast<int>(i) + 1);
    }
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

static __global__ void shuffles(int *out, int width) {
    int lane = static_cast<int>(threadIdx.x % 32);
    int *mine = out + 6 * threadIdx.x;
    mine[0] = __shfl_sync(0xffffffffu, lane, 5, width);
    mine[1] = __shfl_xor_sync(0xffffffffu, lane, 3, width);
    mine[2] = __shfl_down_sync(0xffffffffu, lane, 2, width);
    mine[3] = __shfl_up_sync(0xffffffffu, lane, 2, width);
    mine[4] = static_cast<int>(__ballot_sync(0xffffffffu, lane % 3 == 0));
    mine[5] = __any_sync(0xffffffffu, lane == 31) + 2 * __all_sync(0xffffffffu, lane < 31);
}

/* The rules of the CUDA programming guide, lane by lane. */
START_TEST(shuffles_follow_the_guide) {
    constexpr int threads = 96;
    int *device = device_array<int>(6 * threads), host[6 * threads];
    for (int width = 32; width >= 1; width /= 2) {
        ck_cuda(cudaSuccess, start({1, threads}, shuffles, device, width));
        read_array(host, device, 6 * threads);
        for (int thread = 0; thread < threads; thread++) {
            int lane = thread % 32, first = lane / width * width, *got = host + 6 * thread;
            int flipped = lane ^ 3;
            ck_assert_int_eq(got[0], first + 5 % width);
            ck_assert_int_eq(got[1], flipped >= first + width ? lane : flipped);
            ck_assert_int_eq(got[2], lane + 2 >= first + width ? lane : lane + 2);
            ck_assert_int_eq(got[3], lane - 2 < first ? lane : lane - 2);
            ck_assert_uint_eq(static_cast<unsigned>(got[4]), 0x49249249u);
            ck_assert_int_eq(got[5], 1);
        }
    }
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

/* Halves of a warp meet apart, and lanes that have ended are not waited for. */
static __global__ void halves(double *out) {
    unsigned lane = threadIdx.x;
    if (lane >= 30)
        return;
    unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    double sum = lane;
    for (int step = lane < 16 ? 8 : 1; step > 0; step /= 2)
        sum += __shfl_xor_sync(mask, sum, step);
    out[lane] = sum;
}

START_TEST(masks_meet_apart) {
    double *device = device_array<double>(30), host[30];
    ck_cuda(cudaSuccess, start({1, 32}, halves, device));
    read_array(host, device, 30);
    for (int lane = 0; lane < 30; lane++)
        ck_assert(host[lane] == (lane < 16 ? 120 : 2 * (lane / 2 * 2) + 1));
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

/* Sums over a tree; with `guarded` 0 a barrier is missing. */
static __global__ void tree(int *out, int guarded) {
    int *sums = shared_memory<int>();
    unsigned i = threadIdx.x;
    sums[i] = static_cast<int>(i);
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (i < half)
            sums[i] += sums[i + half];
        if (guarded)
            __syncthreads();
    }
    if (i == 0)
        *out = sums[0];
}

static int tree_under(const char *order, int guarded) {
    constexpr unsigned threads = 256;
    int *device = device_array<int>(1), host;
    setenv("SZG_EMULATED_ORDER", order, 1);
    ck_cuda(cudaSuccess, start({1, threads, threads * sizeof(int)}, tree, device, guarded));
    read_array(&host, device, 1);
    ck_cuda(cudaSuccess, cudaFree(device));
    return host;
}

START_TEST(a_missing_barrier_shows) {
    int wrong = 0;
    const char *orders[] = {"forward", "reverse", "1", "2", "3", "ahead", "ahead-reverse"};
    for (const char *order : orders) {
        ck_assert_int_eq(tree_under(order, 1), 255 * 128);
        wrong += tree_under(order, 0) != 255 * 128;
    }
    ck_assert_int_ge(wrong, 5); /* a tree is right where the last thread is the first */
}
END_TEST

static __global__ void number_blocks(int *out) {
    out[blockIdx.x] = atomicAdd(out + gridDim.x, 1);
}

/* Of a list with commas each stream takes the item of its number, at every launch. */
START_TEST(each_stream_has_an_order) {
    constexpr int count = 5, blocks = 4;
    cudaStream_t streams[count];
    int *device = device_array<int>(blocks + 1), host[blocks];
    bool reversed[count];
    for (cudaStream_t &stream : streams)
        ck_cuda(cudaSuccess, cudaStreamCreate(&stream));
    setenv("SZG_EMULATED_ORDER", "forward,reverse", 1);
    for (int i = 0; i < 2 * count; i++) {
        int at = i % count;
        ck_cuda(cudaSuccess, cudaMemset(device, 0, sizeof host + sizeof *host));
        ck_cuda(cudaSuccess, start({blocks, 1, 0, streams[at]}, number_blocks, device));
        read_array(host, device, blocks);
        bool back = host[0] != 0;
        for (int block = 0; block < blocks; block++)
            ck_assert_int_eq(host[block], back ? blocks - 1 - block : block);
        ck_assert(i < count ? at == 0 || back != reversed[at - 1] : back == reversed[at]);
        reversed[at] = back;
    }
    unsetenv("SZG_EMULATED_ORDER");
    for (cudaStream_t stream : streams)
        ck_cuda(cudaSuccess, cudaStreamDestroy(stream));
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

/* Reads what the thread before has written: without a barrier, right in one order only. */
static __global__ void read_neighbours(int *out, int guarded) {
    int *shared = shared_memory<int>();
    unsigned i = threadIdx.x;
    shared[i] = static_cast<int>(i);
    if (guarded)
        __syncthreads();
    out[i] = i == 0 ? -1 : shared[i - 1];
}

START_TEST(orders_differ) {
    constexpr unsigned threads = 128;
    int *device = device_array<int>(threads), host[threads];
    const char *orders[] = {"forward", "reverse", "1", "2"};
    for (const char *order : orders)
        for (int guarded = 0; guarded < 2; guarded++) {
            setenv("SZG_EMULATED_ORDER", order, 1);
            ck_cuda(cudaSuccess,
                    start({1, threads, sizeof host}, read_neighbours, device, guarded));
            read_array(host, device, threads);
            int wrong = 0;
            for (unsigned i = 0; i < threads; i++)
                wrong += host[i] != static_cast<int>(i) - 1;
            ck_assert_msg((wrong > 0) == (!guarded && strcmp(order, "forward") != 0),
                          "%s, barrier %d: %d wrong", order, guarded, wrong);
        }
    unsetenv("SZG_EMULATED_ORDER");
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

/* Tiles pass through shared memory, and a warp adds what it read: without the barrier at the end a
 * warp may overwrite what another has yet to read. */
static __global__ void add_tiles(int *out, int guarded) {
    int *tile = shared_memory<int>();
    unsigned i = threadIdx.x;
    int sum = 0;
    for (int pass = 0; pass < 3; pass++) {
        tile[i] = pass;
        __syncthreads();
        int term = tile[(i + blockDim.x / 2) % blockDim.x];
        for (int step = 16; step > 0; step /= 2)
            term += __shfl_xor_sync(0xffffffffu, term, step);
        sum += term;
        if (guarded)
            __syncthreads();
    }
    out[i] = sum;
}

/* By turns all warps read before one is done with adding; only one that runs ahead shows it. */
START_TEST(a_missing_barrier_at_the_end_of_a_loop_shows_ahead) {
    constexpr unsigned threads = 128;
    int *device = device_array<int>(threads), host[threads];
    const char *orders[] = {"forward", "reverse", "1", "ahead", "ahead-reverse"};
    for (const char *order : orders)
        for (int guarded = 0; guarded < 2; guarded++) {
            setenv("SZG_EMULATED_ORDER", order, 1);
            ck_cuda(cudaSuccess, start({1, threads, sizeof host}, add_tiles, device, guarded));
            read_array(host, device, threads);
            int wrong = 0;
            for (int sum : host)
                wrong += sum != 32 * (0 + 1 + 2);
            ck_assert_msg((wrong > 0) == (!guarded && strncmp(order, "ahead", 5) == 0),
                          "%s, barrier %d: %d wrong", order, guarded, wrong);
        }
    unsetenv("SZG_EMULATED_ORDER");
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

static __global__ void votes(int *out) {
    int odd = threadIdx.x % 2;
    out[3 * threadIdx.x] = __syncthreads_count(odd);
    out[3 * threadIdx.x + 1] = __syncthreads_or(threadIdx.x == 40);
    out[3 * threadIdx.x + 2] = __syncthreads_and(threadIdx.x != 40);
}

START_TEST(barriers_count) {
    int *device = device_array<int>(3 * 77), host[3 * 77];
    ck_cuda(cudaSuccess, start({1, 77}, votes, device));
    read_array(host, device, 3 * 77);
    for (int i = 0; i < 77; i++) {
        ck_assert_int_eq(host[3 * i], 38);
        ck_assert_int_eq(host[3 * i + 1], 1);
        ck_assert_int_eq(host[3 * i + 2], 0);
    }
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

static __global__ void stuck_at_barriers(void) {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncwarp();
    if (threadIdx.x >= 32)
        __syncthreads();
}

static __global__ void stuck_in_shuffle(void) {
    if (threadIdx.x == 3)
        __syncthreads();
    else
        __shfl_sync(0xffffffffu, 1, 0);
}

/* After a bad kernel every call fails until the device is reset. */
START_TEST(deadlocks_fail) {
    void (*const kernels[])(void) = {stuck_at_barriers, stuck_in_shuffle};
    for (void (*kernel)(void) : kernels) {
        ck_cuda(cudaSuccess, start({3, 64}, kernel));
        ck_cuda(cudaErrorLaunchFailure, cudaDeviceSynchronize());
        ck_cuda(cudaErrorLaunchFailure, start({3, 64}, kernel));
        ck_cuda(cudaSuccess, cudaDeviceReset());
        ck_assert_int_eq(tree_under("forward", 1), 255 * 128);
    }
}
END_TEST

static __global__ void read_shared(float *out) {
    out[blockIdx.x] = shared_memory<float>()[0];
    shared_memory<float>()[0] = 1;
}

START_TEST(shared_memory_is_poisoned_for_each_block) {
    float *device = device_array<float>(3), host[3];
    ck_cuda(cudaSuccess, start({3, 1, sizeof(float)}, read_shared, device));
    read_array(host, device, 3);
    for (float value : host)
        ck_assert(isnan(value));
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

static __global__ void multiply_tiles(const float *a, const float *b, float *c) {
    unsigned group = threadIdx.x / 4, place = threadIdx.x % 4;
    uint32_t left[4] = {to_tf32(a[group * 8 + place]), to_tf32(a[(group + 8) * 8 + place]),
                        to_tf32(a[group * 8 + place + 4]), to_tf32(a[(group + 8) * 8 + place + 4])};
    uint32_t right[2] = {to_tf32(b[place * 8 + group]), to_tf32(b[(place + 4) * 8 + group])};
    float sum[4] = {1, 1, 1, 1};
    mma_tf32(sum, left, right);
    for (unsigned i = 0; i < 4; i++)
        c[(group + i / 2 * 8) * 8 + 2 * place + i % 2] = sum[i];
}

/* Small integers over 8 have exact products: c = 1 + a b to the last bit; what tf32 cannot hold is
 * rounded to it, half away from zero. */
START_TEST(mma_multiplies) {
    float a[16 * 8], b[8 * 8], c[16 * 8];
    szgi_stream stream = {};
    stream.seed = test_seed();
    for (uint64_t i = 0; i < 16 * 8; i++)
        a[i] = (static_cast<float>(szgi_random_below(&stream, i, 129)) - 64) / 8;
    for (uint64_t i = 0; i < 8 * 8; i++)
        b[i] = (static_cast<float>(szgi_random_below(&stream, 1000 + i, 129)) - 64) / 8;
    a[0] = 1 + 0x1p-11f; /* a tie: becomes 1 + 2^-10 */
    a[1] = -1 - 0x1p-11f - 0x1p-20f;
    a[2] = 1 + 0x1p-12f; /* becomes 1 */
    float *device = device_array<float>(16 * 8 + 8 * 8 + 16 * 8);
    float *device_b = device + 16 * 8, *device_c = device_b + 8 * 8;
    ck_cuda(cudaSuccess, cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice));
    ck_cuda(cudaSuccess, cudaMemcpy(device_b, b, sizeof b, cudaMemcpyHostToDevice));
    ck_cuda(cudaSuccess, start({1, 32}, multiply_tiles, device, device_b, device_c));
    read_array(c, device_c, 16 * 8);
    a[0] = 1 + 0x1p-10f, a[1] = -1 - 0x1p-10f, a[2] = 1;
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            double sum = 1;
            for (int k = 0; k < 8; k++)
                sum += static_cast<double>(a[row * 8 + k]) * b[k * 8 + column];
            ck_close(c[row * 8 + column], sum, 0);
        }
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

/* c = a b^T of a 16 x terms and b 8 x terms. */
template <bool Exact>
static __global__ void sum_products(const float *a, const float *b, float *c, int terms) {
    float sum[4] = {};
    for (int k = 0; k < terms; k += MMA_K)
        multiply_add<Exact>(sum, load_a<Exact>(a + k, terms), load_b_rows<Exact>(b + k, terms));
    for (int i = 0; i < 4; i++)
        c[(lane_group() + i / 2 * 8) * 8 + 2 * lane_in_group() + i % 2] = sum[i];
}

constexpr int longest = 2048;
struct Products {
    float a[16 * longest], b[8 * longest], c[16 * 8];
};

static void multiply(Products *p, int terms, bool exact) {
    float *a = device_array<float>(24 * static_cast<size_t>(terms) + 128), *b = a + 16 * terms;
    ck_cuda(cudaSuccess, cudaMemcpy(a, p->a, 16 * static_cast<size_t>(terms) * sizeof *a,
                                    cudaMemcpyHostToDevice));
    ck_cuda(cudaSuccess, cudaMemcpy(b, p->b, 8 * static_cast<size_t>(terms) * sizeof *a,
                                    cudaMemcpyHostToDevice));
    ck_cuda(cudaSuccess, start({1, 32}, exact ? sum_products<true> : sum_products<false>, a, b,
                               b + 8 * terms, terms));
    read_array(p->c, b + 8 * terms, 128);
    ck_cuda(cudaSuccess, cudaFree(a));
}

/* Errors of sum number `at` in eps of the sum of its terms' sizes. */
static double error_of(const Products &p, int terms, int at) {
    double sum = 0, size = 0;
    for (int k = 0; k < terms; k++) {
        double term = static_cast<double>(p.a[at / 8 * terms + k]) * p.b[at % 8 * terms + k];
        sum += term; /* its roundings are of 2^-52: nothing beside 2^-23 */
        size += fabs(term);
    }
    return fabs(p.c[at] - sum) / (size * 0x1p-23);
}

/* What cuda/mma.cuh derives. */
static double allowed(int terms, bool exact) {
    return exact ? 15 + terms / 16.0 : 1.25 * terms;
}

/* Terms of one sign, whose cut parts add up, and of both. Narrow numbers are rounded before. */
START_TEST(sums_of_products_stay_within_their_bounds) {
    static Products p;
    szgi_stream stream = {};
    stream.seed = test_seed();
    for (int terms : {8, 16, 24, 128, longest})
        for (int kind = 0; kind < 4; kind++) {
            bool exact = kind % 2, positive = kind / 2;
            stream.step++;
            for (int i = 0; i < 24 * terms; i++) {
                double x = szgi_random_uniform(&stream, static_cast<uint64_t>(i));
                float value = static_cast<float>(positive ? x : 2 * x - 1);
                value = exact ? value : __uint_as_float(to_tf32(value));
                (i < 16 * terms ? p.a[i] : p.b[i - 16 * terms]) = value;
            }
            multiply(&p, terms, exact);
            for (int at = 0; at < 128; at++) {
                double error = error_of(p, terms, at);
                if (!(error <= allowed(terms, exact)))
                    ck_abort_msg("%d terms, exact %d: error %.3g > %.3g", terms, exact, error,
                                 allowed(terms, exact));
            }
        }
}
END_TEST

/* One term of 1, and all others just below its last place: a sum that runs through the tensor cores
 * loses each of them, which is four fifths of the bound; summed eight at a time they survive. */
START_TEST(small_terms_are_lost_in_narrow_sums_alone) {
    static Products p;
    const int terms = longest;
    for (int i = 0; i < 16 * terms; i++)
        p.a[i] = i % terms == 0 ? 1 : 0x1p-23f;
    for (int i = 0; i < 8 * terms; i++)
        p.b[i] = i % terms == 0 ? 1 : 1 - 0x1p-11f;
    for (int exact = 0; exact < 2; exact++) {
        multiply(&p, terms, exact);
        for (int at = 0; at < 128; at++) {
            double error = error_of(p, terms, at);
            ck_assert_msg(error <= allowed(terms, exact), "exact %d: error %.3g", exact, error);
            ck_assert_msg(exact || (p.c[at] == 1 && error > 0.95 * terms), "error %.3g", error);
        }
    }
}
END_TEST

static __global__ void copy_late(const float *from, float *out, int waits) {
    float *shared = shared_memory<float>();
    copy_async16(shared, from);
    copy_async_commit();
    copy_async16(shared + 4, from + 4);
    copy_async_commit();
    if (waits)
        copy_async_wait<1>();
    for (int i = 0; i < 8; i++)
        out[i] = shared[i];
    copy_async_wait<0>();
    for (int i = 0; i < 8; i++)
        out[8 + i] = shared[i];
}

START_TEST(asynchronous_copies_come_late) {
    float host[24] = {1, 2, 3, 4, 5, 6, 7, 8}, *device = device_array<float>(24);
    ck_cuda(cudaSuccess, cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    for (int waits = 0; waits < 2; waits++) {
        ck_cuda(cudaSuccess, start({1, 1, 32}, copy_late, device, device + 8, waits));
        read_array(host, device, 24);
        for (int i = 0; i < 8; i++) {
            ck_assert(waits && i < 4 ? host[8 + i] == host[i] : isnan(host[8 + i]));
            ck_assert(host[16 + i] == host[i]);
        }
    }
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

TEST_FILE("simt") {
    test_add(suite, "every thread runs once", every_thread_runs_once);
    test_add(suite, "shuffles follow the guide", shuffles_follow_the_guide);
    test_add(suite, "masks meet apart", masks_meet_apart);
    test_add(suite, "a missing barrier shows", a_missing_barrier_shows);
    test_add(suite, "orders differ", orders_differ);
    test_add(suite, "each stream has an order", each_stream_has_an_order);
    test_add(suite, "a missing barrier at the end of a loop shows ahead",
             a_missing_barrier_at_the_end_of_a_loop_shows_ahead);
    test_add(suite, "barriers count", barriers_count);
    test_add(suite, "deadlocks fail", deadlocks_fail);
    test_add(suite, "shared memory is poisoned for each block",
             shared_memory_is_poisoned_for_each_block);
    test_add(suite, "mma multiplies", mma_multiplies);
    test_add(suite, "sums of products stay within their bounds",
             sums_of_products_stay_within_their_bounds);
    test_add(suite, "small terms are lost in narrow sums alone",
             small_terms_are_lost_in_narrow_sums_alone);
    test_add(suite, "asynchronous copies come late", asynchronous_copies_come_late);
}
