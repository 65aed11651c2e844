/* Transfers by way of page-locked buffers: parts, gaps, turns; and without them. */
#include <stdlib.h>
#include <string.h>

#include "plugin_parts.h"
#include "staging.h"

/* Of a byte: nothing repeats within 251 of them, nor from row to row. */
static unsigned char pattern(int64_t i) {
    return static_cast<unsigned char>((i + i / 251) % 251);
}

/* Rows of the host's array, `step` bytes apart. */
static const struct {
    int64_t rows, bytes, step;
} shapes[] = {
    {1, 1, 0},
    {1, STAGING_BYTES - 1, 0},
    {1, STAGING_BYTES, 0},
    {1, STAGING_BYTES + 1, 0},
    {1, (STAGING_BUFFERS + 2) * int64_t{STAGING_BYTES} + 7, 0}, /* buffers come round again */
    {1000, 777, 777},
    {1000, 777, 1024},
    {3, STAGING_BYTES + 5, STAGING_BYTES + 64}, /* rows that end within a buffer */
    {40000, 700, 704},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* There and back, and nothing is written between the rows. */
static void go_and_return(int i) {
    const int64_t rows = shapes[i].rows, bytes = shapes[i].bytes, step = shapes[i].step;
    const size_t size = static_cast<size_t>((rows - 1) * step + bytes);
    session *self = parts_open(SZGI_PRECISION_F32);
    unsigned char *from = static_cast<unsigned char *>(malloc(size));
    unsigned char *to = static_cast<unsigned char *>(malloc(size));
    unsigned char *device = device_array<unsigned char>(static_cast<size_t>(rows * bytes));
    memset(to, 255, size);
    for (size_t k = 0; k < size; k++)
        from[k] = pattern(static_cast<int64_t>(k));
    ck_szg_ok(staging_upload(test_context(), self, self->stream, device, from, step, rows, bytes));
    memset(from, 254, size); /* the caller's again */
    ck_szg_ok(staging_download(test_context(), self, self->stream, to, step, device, rows, bytes));
    memset(from, 255, size);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t k = row * step; k < row * step + bytes; k++)
            from[k] = pattern(k);
    ck_assert(memcmp(to, from, size) == 0);
    ck_cuda(cudaSuccess, cudaFree(device));
    free(from), free(to);
    parts_close(self);
}

START_TEST(transfers_keep_their_bytes) {
    setenv("SZG_EMULATED_HOST", "pinned", 1);
    go_and_return(_i);
    unsetenv("SZG_EMULATED_HOST");
}
END_TEST

START_TEST(transfers_do_without_page_locked_memory) {
    setenv("SZG_EMULATED_HOST", "pageable", 1);
    go_and_return(_i);
    unsetenv("SZG_EMULATED_HOST");
}
END_TEST

static __global__ void wait_a_turn(int *) {
}

/* An upload behind queued work waits for none of it while there are buffers; each keeps its numbers
 * although the host's change at once. */
START_TEST(uploads_do_not_wait) {
    enum { UPLOADS = 3 * STAGING_BUFFERS };
    session *self = parts_open(SZGI_PRECISION_F32);
    int *device = device_array<int>(UPLOADS), number, numbers[UPLOADS];
    ck_szg_ok(staging_download(test_context(), self, self->stream, numbers, 0, device, 1, 4));
    ck_cuda(cudaSuccess, start({1, 1, 0, self->stream}, wait_a_turn, device));
    for (int i = 0; i < UPLOADS; i++) {
        number = 7 * i;
        ck_szg_ok(staging_upload(test_context(), self, self->stream, device + i, &number, 0, 1,
                                 sizeof number));
        number = -1;
        if (i == STAGING_BUFFERS - 1)
            ck_cuda(cudaErrorNotReady, cudaStreamQuery(self->stream));
    }
    ck_szg_ok(staging_download(test_context(), self, self->stream, numbers, 0, device, 1,
                               sizeof numbers));
    for (int i = 0; i < UPLOADS; i++)
        ck_assert_int_eq(numbers[i], 7 * i);
    ck_cuda(cudaSuccess, cudaFree(device));
    parts_close(self);
}
END_TEST

/* Both streams take turns with the same buffers. */
START_TEST(streams_share_the_buffers) {
    enum { COUNT = 10, SIZE = STAGING_BYTES / 4 };
    bool same = true;
    session *self = parts_open(SZGI_PRECISION_F32);
    int *device = device_array<int>(COUNT * SIZE), *host = static_cast<int *>(malloc(4 * SIZE));
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < SIZE; k++)
            host[k] = i + k;
        ck_szg_ok(staging_upload(test_context(), self, i % 2 ? self->side : self->stream,
                                 device + i * SIZE, host, 0, 1, 4 * SIZE));
    }
    ck_cuda(cudaSuccess, cudaStreamSynchronize(self->side));
    for (int i = 0; i < COUNT; i++) {
        ck_szg_ok(staging_download(test_context(), self, self->stream, host, 0, device + i * SIZE,
                                   1, 4 * SIZE));
        for (int k = 0; k < SIZE; k++)
            same = same && host[k] == i + k;
    }
    ck_assert(same);
    ck_cuda(cudaSuccess, cudaFree(device));
    free(host);
    parts_close(self);
}
END_TEST

/* ---- Where something is wrong ---- */

static szg_status there(session *self, int *device) {
    int numbers[6] = {1, 2, 3, 4, 5, 6};
    return staging_upload(test_context(), self, self->stream, device, numbers, 12, 2, 8);
}

static szg_status back(session *self, int *device) {
    int numbers[6];
    return staging_download(test_context(), self, self->stream, numbers, 12, device, 2, 8);
}

/* Each call's failure is returned, and a later transfer works. */
START_TEST(failing_calls_are_named) {
    static const struct {
        const char *host, *call;
        bool upload;
    } cases[] = {
        {"pinned", "cudaEventCreateWithFlags", true}, {"pinned", "cudaMemcpyAsync", true},
        {"pinned", "cudaEventRecord", true},          {"pinned", "cudaEventSynchronize", true},
        {"pinned", "cudaMemcpyAsync", false},         {"pinned", "cudaEventRecord", false},
        {"pinned", "cudaEventSynchronize", false},    {"pageable", "cudaMemcpy2DAsync", true},
        {"pageable", "cudaStreamSynchronize", true},  {"pageable", "cudaMemcpy2DAsync", false},
        {"pageable", "cudaStreamSynchronize", false},
    };
    for (const auto &at : cases) {
        char fault[80];
        setenv("SZG_EMULATED_HOST", at.host, 1);
        session *self = parts_open(SZGI_PRECISION_F32);
        int *device = device_array<int>(4);
        snprintf(fault, sizeof fault, "%s:1", at.call);
        setenv("SZG_EMULATED_FAIL", fault, 1);
        ck_szg_fails(SZG_EBACKEND, at.call, at.upload ? there(self, device) : back(self, device));
        setenv("SZG_EMULATED_FAIL", "nothing:1", 1);
        ck_szg_ok(there(self, device));
        ck_szg_ok(back(self, device));
        ck_cuda(cudaSuccess, cudaFree(device));
        parts_close(self);
    }
    unsetenv("SZG_EMULATED_HOST");
    unsetenv("SZG_EMULATED_FAIL");
}
END_TEST

static void keep_message(void *user, szg_severity severity, const char *text) {
    int *warnings = static_cast<int *>(user);
    *warnings += severity == SZG_WARNING && strstr(text, "page-locked memory were refused");
}

/* One warning a session. */
START_TEST(refused_page_locked_memory_is_told) {
    int warnings = 0, numbers[2] = {3, 4}, got[2];
    szg_context_options options = {};
    szg_context *context;
    options.threads = 1, options.message = keep_message, options.user = &warnings;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    for (const char *host : {"pageable", "pinned"}) {
        setenv("SZG_EMULATED_HOST", host, 1);
        session *self = parts_open(SZGI_PRECISION_F32);
        int *device = device_array<int>(2);
        ck_szg_ok(staging_upload(context, self, self->stream, device, numbers, 0, 1, 8));
        ck_szg_ok(staging_download(context, self, self->stream, got, 0, device, 1, 8));
        ck_assert(got[0] == 3 && got[1] == 4);
        ck_assert_int_eq(warnings, 1);
        ck_cuda(cudaSuccess, cudaFree(device));
        parts_close(self);
    }
    unsetenv("SZG_EMULATED_HOST");
    szg_context_close(&context);
}
END_TEST

TEST_FILE("staging") {
    test_add_loop(suite, "transfers_keep_their_bytes", transfers_keep_their_bytes, SHAPES);
    test_add_loop(suite, "transfers_do_without_page_locked_memory",
                  transfers_do_without_page_locked_memory, SHAPES);
    test_add(suite, "uploads_do_not_wait", uploads_do_not_wait);
    test_add(suite, "streams_share_the_buffers", streams_share_the_buffers);
    test_add(suite, "failing_calls_are_named", failing_calls_are_named);
    test_add(suite, "refused_page_locked_memory_is_told", refused_page_locked_memory_is_told);
}
