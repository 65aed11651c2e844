/* Models of the Hugging Face hub by their names, in the caches of this machine; no network. */
#ifndef SZG_CHECKPOINT_HUB_H
#define SZG_CHECKPOINT_HUB_H

#include <szego/checkpoint.h>

#include "base/context.h"

/* Is the text how the hub calls a model, ORG/NAME, or a file of one, ORG/NAME:FILE? */
bool szgi_hub_is_name(const char *text);

/* What the caches have of a model. */
typedef struct hub_model {
    char *id;              /* ORG/NAME */
    const char *file;      /* NULL: the whole model */
    const char *revision;  /* a branch, a tag or a commit */
    char *place;           /* what to read; NULL: neither cache has it whole */
    bool fetched;          /* it is in szego's cache */
    char *cache;           /* the hub's, "" where no variable tells it */
    char *snapshot, *lack; /* NULL, or a snapshot of the hub's cache, and what is missing there */
} hub_model;

/* Looks a name up, in the hub's cache and then in szego's. revision NULL: main. SZG_EINVAL: no
 * revision of a repository has such a name; SZG_EDATA: a damaged cache. */
SZG_CHECK_RESULT szg_status szgi_hub_find(szg_context *context, const char *name,
                                          const char *revision, hub_model *out);
/* SZG_EDATA: the model's place has several models in GGUF files, which the message names. */
SZG_CHECK_RESULT szg_status szgi_hub_check_one(szg_context *context, const hub_model *model);
/* SZG_EIO, or SZG_EDATA where a snapshot is not whole, with the commands that fetch it: of a model
 * without a place. */
SZG_CHECK_RESULT szg_status szgi_hub_refuse(szg_context *context, const hub_model *model);
void szgi_hub_close(hub_model *model);

#endif
