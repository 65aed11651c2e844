/* Comma-separated values (RFC 4180). */
#ifndef SZEGO_FORMATS_CSV_H
#define SZEGO_FORMATS_CSV_H

#include <stdio.h>
#include "base/table.h"
#include "base/text.h"
#include "base/decls.h"
#include "base/schema.h"

SZGI_BEGIN_DECLS

/* Prints a header line and one line a row, ended by LF. An empty cell is empty, an empty text is
 * "". Bytes that are not UTF-8 become U+FFFD. SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_csv_print(szg_context *context, const szg_table *table,
                                           FILE *stream);

/* The two parts of it: the header line, and the line of one row. SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_csv_print_header(szg_context *context, const szg_table *table,
                                                  FILE *stream);
SZG_CHECK_RESULT szg_status szgi_csv_print_row(szg_context *context, const szg_table *table,
                                               int64_t row, FILE *stream);

/* As szgi_csv_print with the cells of `before`, a table of one row, in front of every row, and its
 * columns in front of the header's; NULL: none. `header`: the header line too. */
SZG_CHECK_RESULT szg_status szgi_csv_print_behind(szg_context *context, const szg_table *before,
                                                  const szg_table *table, bool header,
                                                  FILE *stream);

/* A file that grows by a row at a time, so that what ends the program leaves every row before it.
 */
typedef struct szgi_csv_growth szgi_csv_growth;

/* Opens a file for rows of `table`'s columns. keep: existing rows stay, and new ones come after
 * them; a last line that is not whole is cut off, with a warning. Else the file begins anew. Locks
 * it until the close. SZG_EDATA: the file has other columns. SZG_EIO (another process writes it, no
 * regular file), SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_csv_grow_open(szg_context *context, const char *path,
                                               const szg_table *table, bool keep,
                                               szgi_csv_growth **out);
/* Adds one row and hands it to the system. SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_csv_grow(szg_context *context, szgi_csv_growth *growth,
                                          const szg_table *table, int64_t row);
/* NULL and *growth NULL are allowed; nulls the pointer. */
void szgi_csv_grow_close(szgi_csv_growth **growth);

/* Writes a file atomically. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_csv_write(szg_context *context, const szg_table *table,
                                           const char *path);

/* Reads the columns that the caller names, in any order in the file; the file's other columns are
 * skipped. The table takes the file's name without folder and ending. What szgi_csv_write wrote
 * comes back equal, NaN payloads apart. SZG_EDATA, with line and column: no header, a named column
 * missing or there twice, a row with another number of fields, an unclosed quote, a number that is
 * none, invalid UTF-8, a NUL. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_csv_read(szg_context *context, const char *path,
                                          const szg_column *columns, int64_t count,
                                          szg_table **out);

/* The same of a schema's columns. */
SZG_CHECK_RESULT szg_status szgi_csv_read_schema(szg_context *context, const char *path,
                                                 const szgi_schema *schema, szg_table **out);

/* As szgi_csv_read, from `size` bytes that the caller keeps; `name` is for messages. The file may
 * lack the columns that `optional` names, up to its NULL: their cells are then empty. optional
 * NULL: no column. */
SZG_CHECK_RESULT szg_status szgi_csv_parse(szg_context *context, const char *name, const char *data,
                                           int64_t size, const szg_column *columns, int64_t count,
                                           const char *const *optional, szg_table **out);

SZGI_END_DECLS

#endif
