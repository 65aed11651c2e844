/* Comma-separated values (RFC 4180) and numbers as text that read back exactly. */
#ifndef SZEGO_CSV_H
#define SZEGO_CSV_H

#include <stdio.h>
#include <szego/table.h>

SZG_BEGIN_DECLS

enum { SZG_REAL_TEXT = 32 };

/* Writes the shortest of %.15g, %.16g, %.17g that reads back as `value`, with a point whatever the
 * locale; "nan", "inf", "-inf". Returns `text`. */
const char *szg_real_text(double value, char text[SZG_REAL_TEXT]);

/* Writes "%a", the exact hexadecimal float, with a point whatever the locale; "nan", "inf", "-inf".
 * Returns `text`. */
const char *szg_hex_text(double value, char text[SZG_REAL_TEXT]);

/* Reads a whole text as a double, in the C locale: decimal, hexadecimal, "nan", "inf". Finite texts
 * beyond the range of double, spaces and an empty text are refused: false, *out unchanged. */
bool szg_real_parse(const char *text, double *out);

/* Prints a header line and one line a row, ended by LF. An empty cell is empty, an empty text is
 * "". Bytes that are not UTF-8 become U+FFFD. SZG_EIO. */
SZG_CHECK_RESULT szg_status szg_csv_print(szg_context *context, const szg_table *table,
                                          FILE *stream);

/* Writes a file atomically. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_csv_write(szg_context *context, const szg_table *table,
                                          const char *path);

/* Reads the columns that the caller names, in any order in the file; the file's other columns are
 * skipped. The table takes the file's name without folder and ending. What szg_csv_write wrote
 * comes back equal, NaN payloads apart. SZG_EDATA, with line and column: no header, a named column
 * missing or there twice, a row with another number of fields, an unclosed quote, a number that is
 * none, invalid UTF-8, a NUL. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_csv_read(szg_context *context, const char *path,
                                         const szg_column *columns, int64_t count, szg_table **out);

/* As szg_csv_read, from `size` bytes that the caller keeps; `name` is for messages. */
SZG_CHECK_RESULT szg_status szg_csv_parse(szg_context *context, const char *name, const char *data,
                                          int64_t size, const szg_column *columns, int64_t count,
                                          szg_table **out);

SZG_END_DECLS

#endif
