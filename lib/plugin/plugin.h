/* The plugin of the cuda backend, as the library sees it. */
#ifndef SZG_PLUGIN_H
#define SZG_PLUGIN_H

#include "plugin/abi.h"

/* Finds and opens the plugin, once a process; it stays open. SZG_EBACKEND: there is none, it cannot
 * be loaded, it is of another version; the message says which and what to do. */
SZG_CHECK_RESULT szg_status szgi_plugin_load(szg_context *context, const szgi_plugin **out);

/* A table of the plugin for this context, selected, what it lacks filled in by the cpu's. */
SZG_CHECK_RESULT szg_status szgi_plugin_select(szg_context *context, szgi_precision precision);

#endif
