/* The length that a model was trained for, as its configuration tells it: at most what the file
 * says, since families scale the rotation beyond it. */
#include <stddef.h>

#include "formats/gguf.h"

#include "checkpoint_private.h"
#include "gguf.h"

/* NULL: not said. */
static const char *key_of(const szg_checkpoint *checkpoint) {
    static const char *const keys[] = {/* Nomic's n_positions are those of use */
                                       "max_trained_positions",
                                       "max_position_embeddings",
                                       "n_positions",
                                       "max_seq_len",
                                       "max_sequence_length",
                                       "seq_length",
                                       "n_ctx"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (szgi_json_has(checkpoint->settings, keys[i]))
            return keys[i];
    return NULL;
}

void szgi_trained_length_resolve(szg_checkpoint *checkpoint) {
    bool gguf = checkpoint->gguf.families > 0;
    char room[GGUF_KEY];
    int64_t length;
    if (checkpoint->rotations == 0 && checkpoint->family->alibi == ALIBI_NONE &&
        !checkpoint->family->added)
        return;
    const char *key = gguf ? TRAINED_LENGTH_KEY : key_of(checkpoint);
    const char *name = szgi_gguf_key(checkpoint, key, room);
    if (!name)
        return;
    checkpoint->trained_key = key;
    szgi_json_value value = szgi_json_member(
        gguf ? szgi_gguf_metadata(checkpoint->tensors) : checkpoint->settings, name);
    if (szgi_json_as_integer(NULL, value, &length) == SZG_OK && length > 0)
        checkpoint->trained_length = length;
}
