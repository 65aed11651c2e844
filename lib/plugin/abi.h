/* Between the library and a plugin that brings a backend of its own. A plugin is a shared object
 * without undefined szg_ symbols: what it needs of the library it receives as a table, what it
 * offers it returns as one. Both tables belong to one ABI number; a plugin of another is refused.
 */
#ifndef SZEGO_PLUGIN_ABI_H
#define SZEGO_PLUGIN_ABI_H

#include "network/ops.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Changes with every change of the structs of "linalg/ops.h", "network/ops.h",
 * "network/network.h", "linalg/distributed.h" and this file: by itself with the number of entries
 * of the tables, by way of the generation with all else. */
enum {
    SZGI_PLUGIN_GENERATION = 10,
    SZGI_PLUGIN_ENTRIES = (sizeof(szgi_linalg_ops) + sizeof(szgi_network_ops)) / sizeof(void *),
    SZGI_PLUGIN_ABI = 1000 * SZGI_PLUGIN_GENERATION + SZGI_PLUGIN_ENTRIES
};

/* What the library gives. */
typedef struct szgi_host {
    uint32_t abi;
    /* Records a failure's message and returns the status, as szgi_fail does. */
    szg_status (*fail)(szg_context *context, szg_status status, const char *message);
    void (*say)(szg_context *context, szg_severity severity, const char *message);
    /* Puts "prefix: " in front of the recorded message, as szgi_fail_prefix does. */
    szg_status (*fail_prefix)(szg_context *context, szg_status status, const char *prefix);
    szg_status (*check_cancel)(szg_context *context);
    /* What `open` returned for this context. */
    szgi_ops *(*ops_of)(szg_context *context);
    /* The recorded message. */
    const char *(*message)(const szg_context *context);
    void (*progress)(szg_context *context, const char *what, int64_t done, int64_t total);
} szgi_host;

/* Precision of matrix products in network layers; sums are always single precision or better. */
typedef enum szgi_precision {
    SZGI_PRECISION_TF32, /* operands rounded to 11 significant bits */
    SZGI_PRECISION_F32,
    SZGI_PRECISION_BF16, /* operands rounded to 8 significant bits */
    SZGI_PRECISIONS
} szgi_precision;

/* What a plugin offers. Functions fail with SZG_EBACKEND and a message that says what to do. */
typedef struct szgi_plugin {
    uint32_t abi;
    const char *version; /* szg_version() of the build that made it */
    /* Versions of the vendor's libraries, one clause each: "CUDA 13.0, cuBLASLt 13.0.2". */
    const char *libraries;
    /* Number of devices, and the first `room` of them. */
    szg_status (*devices)(szg_context *context, int room, szg_device *out, int *count);
    /* A table for one context, on the first usable device; entries that it lacks are NULL. */
    szg_status (*open)(szg_context *context, szgi_precision precision, szgi_ops **out);
    void (*close)(szgi_ops *ops);
} szgi_plugin;

/* The one symbol of a plugin. Keeps `host`, and calls none of its functions yet: whether both have
 * one ABI number the library looks afterwards. */
typedef const szgi_plugin *szgi_plugin_entry(const szgi_host *host);
#define SZGI_PLUGIN_ENTRY "szego_plugin"

SZGI_END_DECLS

#endif
