/* The table of configuration keys, and one way between a key's text and its field. */
#ifndef SZG_TRAIN_CONFIG_PRIVATE_H
#define SZG_TRAIN_CONFIG_PRIVATE_H

#include "encoding/encoding.h"
#include "train_config.h"

enum { CONFIG_SENTENCE = 256 };

typedef struct config_row {
    szgi_config_key key;
    size_t offset; /* of the field in szg_train_config */
    int first;     /* SZGI_CONFIG_CHOICE: the enumerator that the first word stands for */
} config_row;

/* NULL where there is no such key, or index is not below the number of keys. */
const config_row *szgi_config_row_find(const char *name);
const config_row *szgi_config_row_at(int64_t index);

/* Whether some key begins with "section.". */
bool szgi_config_is_section(const char *section);

/* Whether a SPEC gives a key. */
bool szgi_config_spec_gives(const char *spec, const char *key);

/* The encoding completed for this model; `seed` for tables that the SPEC gives none for. */
SZG_CHECK_RESULT szg_status szgi_config_parse_encoding(szg_context *context,
                                                       const szg_model_config *model, uint64_t seed,
                                                       szg_encoding **out);

/* Whether the encoding, completed for this model, rotates queries and keys of a head of a layer. */
SZG_CHECK_RESULT szg_status szgi_config_head_rotates(szg_context *context,
                                                     const szg_model_config *model,
                                                     const szg_encoding *encoding, int64_t layer,
                                                     int64_t head, bool *out);

/* szgi_train_config_profile, for a task. */
SZG_CHECK_RESULT szg_status szgi_config_profile(szg_context *context, szg_profile profile,
                                                const char *encoding, szg_task task,
                                                szg_train_config *out);

/* Sets a field from a key's text. False: it is none, and `sentence` says what is ("is not ..."). */
bool szgi_config_set(const config_row *row, const char *text, szg_train_config *config,
                     char sentence[CONFIG_SENTENCE]);

/* The field's text, such that szgi_config_set restores it exactly. */
const char *szgi_config_text(const config_row *row, const szg_train_config *config,
                             char text[SZG_CONFIG_TEXT]);

/* "is not a key of the configuration: did you mean model.width?" */
void szgi_config_unknown(const char *name, char sentence[CONFIG_SENTENCE]);

/* A field by its row, for reading. */
static inline const void *config_field(const config_row *row, const szg_train_config *config) {
    return (const char *)config + row->offset;
}

#endif
