/* The time of day as a test wants it, for libraries too: what must not depend on it is made twice,
 * years apart, and no test sleeps for that. */
#ifndef SZG_TESTS_TIME_OF_DAY_H
#define SZG_TESTS_TIME_OF_DAY_H

#include <time.h>

/* Time of day from now on: the system's and `seconds`. Clocks that measure spans do not move. */
void test_shift_time(time_t seconds);

#endif
