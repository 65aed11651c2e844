/* Every result below a folder, and its tables by command and name: what reports and exports read.
 */
#ifndef SZEGO_COLLECTION_H
#define SZEGO_COLLECTION_H

#include <szego/result.h>

SZG_BEGIN_DECLS

typedef struct szg_collection szg_collection;

/* Finds manifest.json in `folder` and below it and reads what they describe: a folder before those
 * in it, these in the order of their names. Symbolic links are not followed, save `folder` itself.
 * A manifest of another format is passed over. What szg_export_csv wrote is passed over below
 * `folder`, since its rows are there already; where it is `folder` itself it alone is read, and its
 * tables keep their names. A result that cannot be read is left out, and so is
 * what lies more than 64 folders down: szg_collection_bad names it. SZG_EIO: no such folder;
 * SZG_EDATA: no result at all, more than 10,000 of them, or more than 100,000 folders; SZG_ENOMEM,
 * SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szg_collection_open(szg_context *context, const char *folder,
                                                szg_collection **out);
void szg_collection_close(szg_collection **collection);

/* How many results were read. */
int64_t szg_collection_count(const szg_collection *collection);

/* The results that could not be read, each with the message that says why. */
int64_t szg_collection_bad_count(const szg_collection *collection);
const char *szg_collection_bad(const szg_collection *collection, int64_t index);

/* How many tables the results make together, one for each command and table name: COMMAND_TABLE
 * ("train_metrics"), hyphens of a command as underscores. Its rows are those of every result, in
 * order; its columns are `result` (the path) and those of the results' tables in the order in which
 * they first appear, with `note` last. A column that two results type differently has the wider
 * type (integer, real, text): an integer becomes a real only where all of the column's are doubles
 * exactly. A column of theirs that is called `result` itself is `result_`, with more underscores
 * where that is taken. */
int64_t szg_collection_tables(const szg_collection *collection);

SZG_END_DECLS

#endif
