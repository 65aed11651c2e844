/* What the house alone uses of <szego/train_config.h>. */
#ifndef SZEGO_TRAIN_TRAIN_CONFIG_H
#define SZEGO_TRAIN_TRAIN_CONFIG_H

#include <szego/train_config.h>
#include "formats/json.h"
#include "network/network.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

bool szgi_index_list_has(const szg_index_list *list, int64_t index);

/* NULL where index >= the number of keys. */
const szgi_config_key *szgi_train_config_key(int64_t index);

/* The values of a profile for Task 1, and for an encoding SPEC ("rope") of which the released
 * profile depends: see szgi_config_key; alibi gets slopes=exp where the SPEC does not say.
 * SZG_EINVAL: the SPEC's text is too long. */
SZG_CHECK_RESULT szg_status szgi_train_config_profile(szg_context *context, szg_profile profile,
                                                      const char *encoding, szg_train_config *out);

/* As above from JSON that is already parsed, for checkpoints' metadata; `name` is for messages. */
SZG_CHECK_RESULT szg_status szgi_train_config_parse(szg_context *context, const char *name,
                                                    const char *text, szg_train_config *out);

/* Every key with its value, as a JSON document that szgi_train_config_parse reads back exactly. */
SZG_CHECK_RESULT szg_status szgi_train_config_json(szg_context *context,
                                                   const szg_train_config *config, szgi_json **out);

SZGI_END_DECLS

#endif
