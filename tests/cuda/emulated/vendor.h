/* What the emulated vendor libraries share. */
#ifndef EMULATED_VENDOR_H
#define EMULATED_VENDOR_H

#include "gpu.h"

namespace emulated {

/* Whether an operand lies in one allocation; says on stderr which does not. Queued work asks, as
 * these libraries' code is not seen by the sanitizer. */
bool range_good(const char *operand, const void *pointer, size_t bytes);

} // namespace emulated

#endif
