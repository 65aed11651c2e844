/* The inside of a collection: what was found, what was read, and the joined tables. */
#ifndef SZG_NOTEBOOKS_EXPORT_COLLECTION_PRIVATE_H
#define SZG_NOTEBOOKS_EXPORT_COLLECTION_PRIVATE_H

#include "notebooks_export/collection/collection.h"

/* With `result` as many columns as szg_result_read takes. */
enum { SZGI_COLLECTION_COLUMNS = 4095 };

/* Texts of their own. */
typedef struct texts {
    char **text;
    int64_t count, capacity;
} texts;

SZG_CHECK_RESULT szg_status szgi_texts_add(szg_context *context, texts *list, const char *text);
void szgi_texts_free(texts *list);

struct szg_collection {
    char *folder;
    texts found; /* folders below `folder` with a manifest, "." for itself, in order */
    texts path;  /* those of them that were read */
    szg_result **result;
    texts bad; /* messages */
    szg_table **table;
    int64_t tables;
};

/* FOLDER/RELATIVE in *out (szgi_memory_free); the folder itself where relative is ".". */
SZG_CHECK_RESULT szg_status szgi_collection_join_path(szg_context *context, const char *folder,
                                                      const char *relative, char **out);

/* Fills `found`, and `bad` with the folders that cannot be looked into. SZG_EIO: no such folder;
 * SZG_EDATA: too many folders. */
SZG_CHECK_RESULT szg_status szgi_collection_walk(szg_context *context, szg_collection *all);

/* Whether the folder itself is an export: then that is the one result, and its tables, which are
 * joined already, are those of the collection. */
bool szgi_collection_is_export(const szg_collection *all);

/* Fills `table` from the results. */
SZG_CHECK_RESULT szg_status szgi_collection_join(szg_context *context, szg_collection *all);

/* Cell i of a row of `from` into column target[i] of the last row of `to`, whose types are wide
 * enough. */
SZG_CHECK_RESULT szg_status szgi_collection_copy_row(szg_context *context, const szg_table *from,
                                                     int64_t row, const int64_t *target,
                                                     szg_table *to);

/* Adds columns that tables of earlier versions lack. */
SZG_CHECK_RESULT szg_status szgi_collection_complete(szg_context *context, szg_collection *all);

#endif
