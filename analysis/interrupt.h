/* Signals: the first one asks the work to stop, a second one ends the program at once. */
#ifndef SZG_ANALYSIS_INTERRUPT_H
#define SZG_ANALYSIS_INTERRUPT_H

#include "base/context.h"

/* Listens for SIGINT, SIGTERM and SIGHUP, which cancel `context`. Work that is not done five
 * seconds later, not counting what the context defers, is inside a library call that may never end:
 * its temporary files are removed, and the program ends with EXIT_INTERRUPTED. */
void interrupt_listen(szg_context *context);

/* From here on the context is not touched: it is about to be closed. */
void interrupt_end(void);

/* Ends the program from a library that gives up for want of `bytes`, 0: for another reason. */
void end_for_library(size_t bytes);

#endif
