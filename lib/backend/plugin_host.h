/* What the library gives its plugin. */
#ifndef SZG_BACKEND_PLUGIN_HOST_H
#define SZG_BACKEND_PLUGIN_HOST_H

#include <szego/plugin.h>

extern const szg_host szg_plugin_host;

#endif
