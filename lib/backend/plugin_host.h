/* What the library gives its plugin. */
#ifndef SZG_BACKEND_PLUGIN_HOST_H
#define SZG_BACKEND_PLUGIN_HOST_H

#include "backend/plugin_abi.h"

extern const szgi_host szgi_plugin_host;

#endif
