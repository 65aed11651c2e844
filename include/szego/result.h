/* What a command hands over: provenance and tables, to a stream, a file or a folder. */
#ifndef SZEGO_RESULT_H
#define SZEGO_RESULT_H

#include <stdio.h>
#include <szego/table.h>

SZG_BEGIN_DECLS

typedef struct szg_result szg_result;

typedef enum szg_format { SZG_FORMAT_TABLE, SZG_FORMAT_CSV, SZG_FORMAT_JSON } szg_format;

/* "table", "csv" or "json". SZG_EINVAL lists them. */
SZG_CHECK_RESULT szg_status szg_format_parse(szg_context *context, const char *name,
                                             szg_format *out);

/* Opens a result of `command` (a-z, 0-9 and hyphens, 64 at most, else SZG_EINVAL) without tables;
 * its provenance holds the version and the commit. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_result_open(szg_context *context, const char *command,
                                            szg_result **out);

/* Frees the result, its tables included, and nulls the pointer. */
void szg_result_close(szg_result **result);

/* Appends a table; the result owns it from now on and *table is NULL, on failure too. SZG_EINVAL: a
 * second table of that name, a name that is not lower-case letters, digits and underscores or
 * longer than 200 characters, "provenance" and "manifest". */
SZG_CHECK_RESULT szg_status szg_result_add(szg_context *context, szg_result *result,
                                           szg_table **table);

/* The command that the result is of. */
const char *szg_result_command(const szg_result *result);

int64_t szg_result_count(const szg_result *result);
const szg_table *szg_result_table(const szg_result *result, int64_t index);
/* By name; NULL: there is none. */
const szg_table *szg_result_find(const szg_result *result, const char *name);

/* How szg_result_print shows a result; all fields but `size` may be zero. */
typedef struct szg_print_options {
    SZG_SIZE(szg_print_options);
    szg_format format;
    const char *table; /* csv: the table to print; NULL: the first */
    int width;         /* table: columns of a line; 0: 120. What does not fit is counted below */
    int64_t rows;      /* table: most rows of a table; 0: all. The rest is counted in a last line */
} szg_print_options;

/* Prints to a stream. `table`: every table, aligned, about six digits, control characters of
 * hostile names made visible; csv: one table, a header line and one line per row; json: one object
 * with `provenance` and one array of row objects a table, empty cells null, NaN and infinities null
 * with a sentence in the row's `note`. SZG_EIO (a full disk, a closed pipe), SZG_EINVAL (no such
 * table). */
SZG_CHECK_RESULT szg_status szg_result_print(szg_context *context, const szg_result *result,
                                             const szg_print_options *options, FILE *stream);

/* Writes to `path`, each file atomically. PATH/ or an existing folder: TABLE.csv for every table,
 * and last manifest.json (format, command, provenance, tables with file, rows and columns).
 * FILE.json: as szg_result_print. FILE.csv, FILE.npy: the table `table`, NULL for the first; npy is
 * a structured array with one field per column. SZG_EINVAL: another ending, no such table. SZG_EIO,
 * SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_result_write(szg_context *context, const szg_result *result,
                                             const char *path, const char *table);

/* Reads back the folder that szg_result_write wrote: provenance and tables, equal to what was
 * written, NaN payloads apart. SZG_EDATA names file and place: a manifest that is not of the format
 * szego-results-1, a file name that leaves the folder, a table that is missing, has other columns
 * or another number of rows than the manifest says, a cell of another type, a line of another
 * length. SZG_EIO, SZG_ENOMEM.
 */
SZG_CHECK_RESULT szg_status szg_result_read(szg_context *context, const char *folder,
                                            szg_result **out);

SZG_END_DECLS

#endif
