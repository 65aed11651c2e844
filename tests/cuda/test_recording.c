/* Recordings on the GPU where something is wrong: the session goes on as if none had been begun,
 * and what was allocated is free again. On the emulated GPU. */
#include <stdlib.h>

#include "linalg/linalg.h"
#include "network/network.h"

#include "suite.h"
#include "tested_backend.h"

enum { COUNT = 1000, SIZE = COUNT * (int)sizeof(float) };

static const float seven = 7;

/* The session waits, moves memory, records and replays. */
static void ck_usable(float *device) {
    szg_context *context = test_context();
    float host[2];
    void *recording;
    ck_szg_ok(szgi_device_upload(context, device, &seven, sizeof seven));
    ck_szg_ok(szgi_device_record_begin(context));
    ck_szg_ok(szgi_device_copy(context, device + 1, device, sizeof seven));
    ck_szg_ok(szgi_device_record_end(context, &recording));
    ck_szg_ok(szgi_device_replay(context, recording));
    ck_szg_ok(szgi_device_download(context, host, device, sizeof host));
    ck_assert(host[0] == 7 && host[1] == 7);
    szgi_device_recording_close(context, recording);
}

/* Of `memory` not a number is left allocated: a second array of its size would not fit. */
static void ck_freed(void *memory) {
    void *again;
    szgi_device_free(test_context(), memory);
    setenv("SZG_EMULATED_MEMORY", "6000", 1);
    ck_szg_ok(szgi_device_alloc(test_context(), SIZE, &again));
    unsetenv("SZG_EMULATED_MEMORY");
    szgi_device_free(test_context(), again);
}

static const char *const calls[] = {"cudaStreamBeginCapture", "cudaMemcpyAsync",
                                    "cudaStreamEndCapture", "cudaGraphInstantiate"};
enum { CALLS = sizeof calls / sizeof *calls };

static szg_status record(szg_context *context, float *device, void **recording) {
    SZG_TRY(szgi_device_record_begin(context));
    szg_status status = szgi_device_copy(context, device + 1, device, sizeof seven);
    if (status == SZG_OK)
        return szgi_device_record_end(context, recording);
    SZG_TRY(szgi_device_record_end(context, NULL));
    return status;
}

START_TEST(a_failed_recording_leaves_the_session) {
    for (int i = 0; i < CALLS; i++) {
        char fault[80];
        float *device;
        void *recording;
        ck_szg_ok(szgi_device_alloc(test_context(), SIZE, &device));
        snprintf(fault, sizeof fault, "%s:1", calls[i]);
        setenv("SZG_EMULATED_FAIL", fault, 1);
        ck_szg_fails(SZG_EBACKEND, calls[i], record(test_context(), device, &recording));
        setenv("SZG_EMULATED_FAIL", "nothing:1", 1);
        ck_usable(device);
        ck_freed(device);
    }
}
END_TEST

START_TEST(memory_freed_while_recording_drops_it) {
    szg_context *context = test_context();
    float *device, *other;
    void *recording;
    ck_szg_ok(szgi_device_alloc(context, SIZE, &device));
    ck_szg_ok(szgi_device_alloc(context, SIZE, &other));
    ck_szg_ok(szgi_device_record_begin(context));
    ck_szg_ok(szgi_device_copy(context, device + 1, device, sizeof seven));
    szgi_device_free(context, other);
    ck_szg_fails(SZG_EBACKEND, "no step is being recorded",
                 szgi_device_record_end(context, &recording));
    ck_usable(device);
    ck_freed(device);
}
END_TEST

START_TEST(a_session_closes_while_it_records) {
    float *device;
    ck_szg_ok(szgi_device_alloc(test_context(), SIZE, &device));
    ck_szg_ok(szgi_device_record_begin(test_context()));
    use_tested_backend();
    ck_freed(device);
}
END_TEST

TEST_FILE("recording") {
    test_before_each(use_tested_backend);
    test_add(suite, "a_failed_recording_leaves_the_session", a_failed_recording_leaves_the_session);
    test_add(suite, "memory_freed_while_recording_drops_it", memory_freed_while_recording_drops_it);
    test_add(suite, "a_session_closes_while_it_records", a_session_closes_while_it_records);
}
