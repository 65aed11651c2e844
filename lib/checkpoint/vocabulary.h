/* What the first layer's queries and keys read: the embeddings of the vocabulary behind its norm.
 */
#ifndef SZG_CHECKPOINT_VOCABULARY_H
#define SZG_CHECKPOINT_VOCABULARY_H

#include "law.h"

enum { VOCABULARY_TOKENS = 2048 };

/* Normed embeddings without the norm's gains and shift, of tokens at equal distances in the
 * vocabulary, each as likely as the others. */
typedef struct vocabulary {
    const char *why; /* NULL, or why there are none: static */
    known_tokens tokens;
    double *memory;
} vocabulary;

/* SZG_EDATA: a number that is not finite; SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_vocabulary_open(szg_context *context,
                                                 const szg_checkpoint *checkpoint, vocabulary *out);
void szgi_vocabulary_close(vocabulary *own);

#endif
