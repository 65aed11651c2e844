/* `szego info`: what this program is made of and what it found on this machine. */
#include <stdio.h>
#include <unistd.h>

#include "linalg/distributed.h"
#include "linalg/ops.h"
#include "linalg/linalg.h"
#include "ball/ball.h"
#include "base/memory.h"
#include "base/row.h"
#include <szego/version.h>

#include "command.h"

#define INFO(X)                                                                                    \
    X(INFO_KEY, "key", SZG_TEXT, "", "key", "what")                                                \
    X(INFO_VALUE, "value", SZG_TEXT, "", "value", "its value")                                     \
    X(INFO_NOTE, "note", SZG_TEXT, "", "note", "a remark")
#define INFO_SCREEN                                                                                \
    SZGI_SHOW(1, key)                                                                              \
    SZGI_SHOW_PROSE(1, value)
SZGI_SCHEMA(columns, "info", INFO, INFO_SCREEN);

/* `note`: NULL, or a remark. */
static szg_status add_noted(szg_context *context, szg_table *table, const char *key,
                            const char *value, const char *note) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, INFO_KEY, key);
    szgi_row_text(&row, INFO_VALUE, value);
    if (note)
        szgi_row_note(&row, "%s", note);
    return row.status;
}

static szg_status add(szg_context *context, szg_table *table, const char *key, const char *value) {
    return add_noted(context, table, key, value, NULL);
}

enum { DEVICES = 64 };

static szg_status add_device(szg_context *context, szg_table *table, int index,
                             const szg_device *device) {
    char key[32], value[512], available[32] = "";
    const double unit = 1 << 30;
    snprintf(key, sizeof key, "device %d", index);
    if (device->available >= 0)
        snprintf(available, sizeof available, ", %.1f free", (double)device->available / unit);
    snprintf(value, sizeof value,
             "%.255s, compute capability %d.%d, %d multiprocessors, memory %.1f GiB%s",
             device->name, device->major, device->minor, device->processors,
             (double)device->memory / unit, available);
    return add_noted(context, table, key, value, device->usable ? NULL : "too old for the plugin");
}

/* What can be found out of devices; that there are none is no failure here. */
static szg_status add_devices(szg_context *context, szg_table *table) {
    szg_device device[DEVICES];
    const char *libraries;
    int count;
    szg_status status = szg_backend_devices(context, DEVICES, device, &count, &libraries);
    if (status != SZG_OK && status != SZG_EBACKEND)
        return status;
    SZG_TRY(add_noted(context, table, "gpu plugin", libraries ? libraries : "none",
                      libraries ? NULL : szg_context_message(context)));
    if (status == SZG_EBACKEND)
        return add_noted(context, table, "devices", "none",
                         libraries ? szg_context_message(context) : NULL);
    for (int i = 0; i < count && i < DEVICES; i++)
        SZG_TRY(add_device(context, table, i, &device[i]));
    return SZG_OK;
}

static szg_status fill(command_call *call, szg_table *table) {
    szg_context *context = call->context;
    char text[64];
    SZG_TRY(add(context, table, "version", szg_version()));
    SZG_TRY(add(context, table, "commit", szg_commit()));
    SZG_TRY(add(context, table, "compiler", __VERSION__));
    SZG_TRY(add(context, table, "backend", szgi_backend_name(context)));
    SZG_TRY(add(context, table, "blas", szg_backend_blas()));
    SZG_TRY(add(context, table, "simd", szg_backend_simd()));
    SZG_TRY(add(context, table, "fft", szg_backend_fft()));
    SZG_TRY(add(context, table, "balls", szgi_ball_library()));
    const szgi_distributed_ops *ops = szgi_distributed_of(context);
    if (ops) {
        SZG_TRY(add(context, table, "mpi", ops->libraries));
        snprintf(text, sizeof text, "%d", ops->processes);
        SZG_TRY(add(context, table, "processes", text));
    }
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    SZG_TRY(add(context, table, "processors", text));
    snprintf(text, sizeof text, "%d", szg_context_threads(context));
    SZG_TRY(add(context, table, "threads", text));
    snprintf(text, sizeof text, "%.1f GiB", (double)szgi_memory_available() / (1 << 30));
    SZG_TRY(add(context, table, "memory", text));
    return add_devices(context, table);
}

static szg_status run(command_call *call) {
    szg_table *table = NULL;
    SZG_TRY(szgi_schema_open(call->context, &columns_schema, &table));
    szg_status status = fill(call, table);
    if (status == SZG_OK)
        status = output_tables(call, 1, (szg_table * *[]){&table}, NULL);
    szg_table_close(&table);
    return status;
}

static const command_example examples[] = {
    {"szego info", "Version, libraries, processors, GPUs."},
    {"szego info --backend auto --format json", "The same for the GPU, if there is one, as JSON."},
    {0}};

const command command_info = {
    .name = "info",
    .summary = "version, backends, libraries, devices",
    .doc = "Prints the version, the backend, the libraries behind it, processors, memory, and the "
           "GPUs that --backend cuda could use.",
    .run = run,
    .shared = true,
    .examples = examples,
};
