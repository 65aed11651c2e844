/* What the house alone uses of <szego/collection.h>. */
#ifndef SZEGO_NOTEBOOKS_EXPORT_COLLECTION_H
#define SZEGO_NOTEBOOKS_EXPORT_COLLECTION_H

#include <szego/collection.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The folder as it was given. */
const char *szgi_collection_folder(const szg_collection *collection);

/* The results that were read, 0 <= index < szg_collection_count(). A result's path is relative to
 * the folder, "." for the folder itself. */
const char *szgi_collection_path(const szg_collection *collection, int64_t index);
const szg_result *szgi_collection_result(const szg_collection *collection, int64_t index);

/* The tables that szg_collection_tables counts; they belong to the collection. */
const szg_table *szgi_collection_table(const szg_collection *collection, int64_t index);
/* By its name; NULL where no result has it. */
const szg_table *szgi_collection_find(const szg_collection *collection, const char *name);

SZGI_END_DECLS

#endif
