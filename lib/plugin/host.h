/* What the library gives its plugin. */
#ifndef SZG_PLUGIN_HOST_H
#define SZG_PLUGIN_HOST_H

#include "plugin/abi.h"

extern const szgi_host szgi_plugin_host;

#endif
