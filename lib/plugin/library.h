/* A shared object that brings a backend: where it is, and whether it may be loaded. */
#ifndef SZG_PLUGIN_LIBRARY_H
#define SZG_PLUGIN_LIBRARY_H

#include "base/context.h"

typedef struct szgi_library {
    const char *backend;   /* what messages begin with: "cuda" */
    const char *file;      /* "libszego-cuda.so" */
    const char *variable;  /* of the environment: names another file */
    const char *symbol;    /* the one that it offers */
    const char *build;     /* how one is made */
    const char *libraries; /* what it needs besides: "the CUDA runtime libraries" */
    const char *otherwise; /* what can be done without */
    /* Calls the symbol: what it offers, NULL for nothing, with the number of its interface and its
     * version. */
    const void *(*enter)(void *symbol, const uint32_t **abi, const char **version);
} szgi_library;

/* *loaded: what the shared object offers; NULL until it is loaded, once a process. It is looked for
 * where the variable says, and nowhere else then; else beside the library or the program in a build
 * or an installation, and where the dynamic linker looks. SZG_EBACKEND: there is none, it cannot be
 * loaded, or it belongs to another build; the message says why. */
SZG_CHECK_RESULT szg_status szgi_library_load(szg_context *context, const szgi_library *library,
                                              const void **loaded);

#endif
