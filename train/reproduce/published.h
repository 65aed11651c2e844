/* Settings that the paper prints, with their sources: train/reproduce/published.json, compiled in.
 */
#ifndef SZEGO_TRAIN_PUBLISHED_H
#define SZEGO_TRAIN_PUBLISHED_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_published szgi_published;

/* Opens the file that is compiled in. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_published_open(szg_context *context, szgi_published **out);

/* Frees it and nulls the pointer; NULL and *published NULL are allowed. */
void szgi_published_close(szgi_published **published);

/* What the paper's "Table 3" or "Table 4" (MLA) says of a key of the configuration
 * ("model.layers"), as configurations are written, "512|1024" where it gives two; `task` NULL: of
 * both. NULL where it says nothing. The text belongs to `published`. */
const char *szgi_published_setting(const szgi_published *published, const char *place,
                                   const char *key, const char *task);

SZGI_END_DECLS

#endif
