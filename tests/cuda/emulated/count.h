/* SZG_EMULATED_COUNT=FILE: what reached the device, appended to FILE when the program ends. */
#ifndef EMULATED_COUNT_H
#define EMULATED_COUNT_H

#include "simt.h"

namespace emulated {

void count_call(const char *function);   /* of the runtime or of a library */
void count_launch(const Launch &launch); /* one that runs, not one that is recorded */

} // namespace emulated

#endif
