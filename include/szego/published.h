/* Numbers that the paper prints, with their sources: train/published.json, compiled in. */
#ifndef SZEGO_PUBLISHED_H
#define SZEGO_PUBLISHED_H

#include <szego/context.h>

SZG_BEGIN_DECLS

typedef struct szg_published szg_published;

/* Opens the file that is compiled in. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_published_open(szg_context *context, szg_published **out);

/* Frees it and nulls the pointer; NULL and *published NULL are allowed. */
void szg_published_close(szg_published **published);

/* Test accuracy in percent of an encoding ("mla") in a task ("distance", "count"), Table 1; NaN
 * where the paper prints none. */
double szg_published_accuracy(const szg_published *published, const char *encoding,
                              const char *task);

/* What the paper's "Table 3" or "Table 4" (MLA) says of a key of the configuration
 * ("model.layers"), as configurations are written, "512|1024" where it gives two; `task` NULL: of
 * both. NULL where it says nothing. The text belongs to `published`. */
const char *szg_published_setting(const szg_published *published, const char *place,
                                  const char *key, const char *task);

/* "arXiv 2505.13027v1 (May 2025)". */
const char *szg_published_source(const szg_published *published);

SZG_END_DECLS

#endif
