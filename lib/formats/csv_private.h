/* The inside of the CSV reader. Private to formats. */
#ifndef SZG_FORMATS_CSV_PRIVATE_H
#define SZG_FORMATS_CSV_PRIVATE_H

#include "formats/csv.h"

/* As szgi_csv_parse; SZG_EDATA also for a column of the file that the caller does not name. */
SZG_CHECK_RESULT szg_status szgi_csv_parse_exactly(szg_context *context, const char *name,
                                                   const char *data, int64_t size,
                                                   const szg_column *columns, int64_t count,
                                                   szg_table **out);

#endif
