/* The plugin of the cuda backend. */
#include <string.h>

#include "host.h"
#include "library.h"
#include "plugin.h"

static const void *enter(void *symbol, const uint32_t **abi, const char **version) {
    szgi_plugin_entry *entry;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function */
    const szgi_plugin *plugin = entry(&szgi_plugin_host);
    if (plugin) {
        *abi = &plugin->abi;
        *version = plugin->version;
    }
    return plugin;
}

static const szgi_library cuda = {.backend = "cuda",
                                  .file = "libszego-cuda.so",
                                  .variable = "SZEGO_CUDA_PLUGIN",
                                  .symbol = SZGI_PLUGIN_ENTRY,
                                  .build = "build with a CUDA toolkit (meson setup -Dcuda=enabled)",
                                  .libraries = "the CUDA runtime libraries",
                                  .otherwise = "use --backend cpu",
                                  .enter = enter};

szg_status szgi_plugin_load(szg_context *context, const szgi_plugin **out) {
    static const void *loaded;
    szg_status status = szgi_library_load(context, &cuda, &loaded);
    *out = loaded;
    return status;
}
