/* What `capture` and `logits` share: the output of a contraction report. */
#ifndef SZG_ANALYSIS_CAPTURED_H
#define SZG_ANALYSIS_CAPTURED_H

#include "contraction/contraction.h"

#include "command.h"

/* Fills the tables that are open. */
typedef szg_status captured_fill(command_call *call, void *user, const szg_report_options *how,
                                 szg_contraction_tables *tables);

/* Prints or writes the tables, of which `first` has a row for each of `bad` matrices that could not
 * be computed, and fails then; if all rows are such, nothing is written. */
SZG_CHECK_RESULT szg_status captured_tables(command_call *call, szg_table *first, int64_t bad,
                                            szg_status bad_status, size_t count,
                                            szg_table **const tables[], const char *hidden);

/* Has the tables filled and writes or prints them; values and symbols where captured_more. `other`:
 * tables that `fill` has besides, NULL in place of those that it has not. */
enum { CAPTURED_OTHER = 3 };
SZG_CHECK_RESULT szg_status captured_output(command_call *call, bool all, bool certified,
                                            captured_fill *fill, void *user,
                                            szg_table **const other[CAPTURED_OTHER]);

/* Are tables of many rows wanted: by `all` or for a folder? */
bool captured_more(const command_call *call, bool all);

#endif
