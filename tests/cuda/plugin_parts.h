/* The plugin's own functions, called by a test that is linked with its objects: what an operation's
 * result does not show. On the emulated GPU. */
#ifndef SZG_TESTS_CUDA_PLUGIN_PARTS_H
#define SZG_TESTS_CUDA_PLUGIN_PARTS_H

#include "kernels.h"

#undef fail /* Check's, and a function of the plugin */

#include "open.h"
#include "session.h"

/* A session without the library's table; one at a time. */
session *parts_open(szgi_precision precision);
void parts_close(session *self);

#endif
