/* Dynamic shared memory: exactly the requested bytes, then bytes that nobody may touch. */
#ifndef EMULATED_SHARED_MEMORY_H
#define EMULATED_SHARED_MEMORY_H

#include <stddef.h>

namespace emulated {

constexpr size_t most_shared = 227 * 1024;

bool shared_open(size_t size);
void shared_poison(); /* fills with 0xff: floats are NaN */
bool shared_check();  /* false, after a line on stderr, where a block wrote beyond */
void shared_close();

} // namespace emulated

#endif
