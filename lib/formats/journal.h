/* A journal: rows of tables that are done, on the disk a record at a time, so that work that was
 * interrupted goes on where it was. */
#ifndef SZEGO_FORMATS_JOURNAL_H
#define SZEGO_FORMATS_JOURNAL_H

#include "base/table.h"
#include "formats/json.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_journal szgi_journal;

/* Opens the journal of the work that the object `input` describes: each member is something that
 * the work depends on. If `path` is an existing file, szgi_journal_next reads its records, and it
 * is locked until the close; else it is made with the first record. A file whose beginning is
 * damaged counts as empty, with a warning. SZG_EDATA: the work of other input (the message names
 * the first member that differs), or no journal. SZG_EIO (another process writes it), SZG_ENOMEM.
 */
SZG_CHECK_RESULT szg_status szgi_journal_open(szg_context *context, const char *path,
                                              const szgi_json *input, szgi_journal **out);

/* The next record: appends its rows to those of the `count` tables (NULL: none) that have its
 * names, and *facts says what was added with them; NULL after the last record. A record that is
 * damaged or not whole ends the journal there, with a warning. SZG_EDATA: tables of another shape.
 */
SZG_CHECK_RESULT szg_status szgi_journal_next(szg_context *context, szgi_journal *journal,
                                              szg_table *const *table, int64_t count,
                                              szgi_json **facts);

/* Adds a record: of each table (NULL: none) the rows from first[i] on, and the object `facts`. On
 * return it is on the disk; what szgi_journal_next has not read is gone. SZG_EIO (another process
 * made the file meanwhile, a full disk): the records before are kept. */
SZG_CHECK_RESULT szg_status szgi_journal_add(szg_context *context, szgi_journal *journal,
                                             szg_table *const *table, const int64_t *first,
                                             int64_t count, const szgi_json *facts);

/* Keeps the file. NULL and *journal NULL are allowed; nulls the pointer. */
void szgi_journal_close(szgi_journal **journal);

/* FNV-1a: a change of one byte always changes it. */
uint64_t szgi_journal_checksum(const void *data, int64_t size);

SZGI_END_DECLS

#endif
