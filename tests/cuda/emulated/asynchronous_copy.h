/* Copies behind a thread's back: they happen at the wait, as late as they may. */
#ifndef EMULATED_ASYNCHRONOUS_COPY_H
#define EMULATED_ASYNCHRONOUS_COPY_H

#include "simt.h"

namespace emulated {

void copy_begin(void *shared, const void *global, Place place);
void copy_end_group();
void copy_wait(int groups_left);

} // namespace emulated

inline void copy_async16(void *shared, const void *global, const char *file = __builtin_FILE(),
                         int line = __builtin_LINE(), const char *function = __builtin_FUNCTION()) {
    emulated::copy_begin(shared, global, {function, file, line});
}
inline void copy_async_commit() {
    emulated::copy_end_group();
}
template <int left> void copy_async_wait() {
    emulated::copy_wait(left);
}

#endif
