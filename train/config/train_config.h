/* What the house alone uses of <szego/train_config.h>. */
#ifndef SZEGO_TRAIN_TRAIN_CONFIG_H
#define SZEGO_TRAIN_TRAIN_CONFIG_H

#include <szego/train_config.h>
#include "formats/json.h"
#include "network/network.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Whether the list names the index. */
bool szgi_index_list_has(const szg_index_list *list, int64_t index);

typedef enum szgi_config_type {
    SZGI_CONFIG_INTEGER, /* min .. max */
    SZGI_CONFIG_REAL,    /* min .. max */
    SZGI_CONFIG_BOOLEAN, /* true | false */
    SZGI_CONFIG_CHOICE,  /* a word of `choices` */
    SZGI_CONFIG_STRING,  /* a text of fewer than SZG_CONFIG_TEXT bytes, UTF-8 */
    SZGI_CONFIG_INDICES  /* "0-3+5", "all", "none" */
} szgi_config_type;

/* One key: "model.width". Values are written as texts: numbers, words of `choices`, true | false,
 * lists. In JSON numbers and booleans are themselves; words, texts and lists are strings. */
typedef struct szgi_config_key {
    const char *name;
    szgi_config_type type;
    double min, max;     /* inclusive, of integers, reals and members of a list */
    const char *choices; /* SZGI_CONFIG_CHOICE: "a|b|c" */
    const char *doc;     /* one clause */
    /* The values that the profiles set, by kind of encoding: mla, rope that rotates every head (a
     * SPEC without rotate=), any other. */
    const char *text, *text_mla, *released, *released_rope, *released_mla;
    /* the values of a profile where data.task is count; NULL: those above */
    const char *text_count, *released_count;
} szgi_config_key;

/* NULL if index is not below the number of keys. */
const szgi_config_key *szgi_train_config_key(int64_t index);

/* The values of a profile for Task 1, and for an encoding SPEC ("rope") of which the released
 * profile depends: see szgi_config_key; alibi gets slopes=exp where the SPEC does not say.
 * SZG_EINVAL: the SPEC's text is too long. */
SZG_CHECK_RESULT szg_status szgi_train_config_profile(szg_context *context, szg_profile profile,
                                                      const char *encoding, szg_train_config *out);

/* szg_train_config_read from the text of a JSON document and without overrides, for checkpoints'
 * metadata; `name` is for messages. */
SZG_CHECK_RESULT szg_status szgi_train_config_parse(szg_context *context, const char *name,
                                                    const char *text, szg_train_config *out);

/* Every key with its value, as a JSON document that szgi_train_config_parse reads back exactly. */
SZG_CHECK_RESULT szg_status szgi_train_config_json(szg_context *context,
                                                   const szg_train_config *config, szgi_json **out);

SZGI_END_DECLS

#endif
