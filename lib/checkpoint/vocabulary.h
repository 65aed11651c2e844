/* What the first layer's queries and keys read: the embeddings of the vocabulary behind its norm.
 */
#ifndef SZG_CHECKPOINT_VOCABULARY_H
#define SZG_CHECKPOINT_VOCABULARY_H

#include "law.h"

/* How often each token of the vocabulary occurs; value NULL: each as often. */
typedef struct token_counts {
    const double *value;
    int64_t count;
} token_counts;

/* Tokens that are looked at, at most `most`, each as likely as the others: at equal distances in
 * the vocabulary, or in the sum of counts. 0 where the embeddings are not known, and *why says why
 * (static). */
int64_t szgi_vocabulary_size(const szg_checkpoint *checkpoint, const token_counts *counts,
                             int64_t most, const char **why);

/* SZG_EINVAL: counts that are no such numbers, or more than the embeddings have rows. */
SZG_CHECK_RESULT szg_status szgi_vocabulary_check(szg_context *context,
                                                  const szg_checkpoint *checkpoint,
                                                  const token_counts *counts);

#define VOCABULARY_NOT_FINITE                                                                      \
    "an embedding has a number that is not finite, so that the mean token is not known"

/* Their embeddings, [tokens, d]. SZG_EDATA: a number that is not finite; SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_vocabulary_raw(szg_context *context,
                                                const szg_checkpoint *checkpoint,
                                                const token_counts *counts, int64_t tokens,
                                                double *out);
/* The embedding that tokens of the first type get, [d]; 0 where there are no types. */
SZG_CHECK_RESULT szg_status szgi_vocabulary_type(szg_context *context,
                                                 const szg_checkpoint *checkpoint, double *out);

/* The tables of both; NULL: there is none. */
void szgi_vocabulary_find(const szg_checkpoint *checkpoint, const szgi_tensor *out[2]);

/* What a first layer that rotates reads: embeddings, with that of the first type where there are
 * types, behind its norm, without gains and shift. */
typedef struct vocabulary {
    const char *why; /* NULL, or why it is not known: static */
    known_tokens tokens;
    double *memory;
} vocabulary;

/* Does a first layer read it, because it rotates or has products with vectors by the lag? */
bool szgi_vocabulary_is_read(const szg_checkpoint *checkpoint);

SZG_CHECK_RESULT szg_status szgi_vocabulary_open(szg_context *context,
                                                 const szg_checkpoint *checkpoint,
                                                 const token_counts *counts, vocabulary *out);
void szgi_vocabulary_close(vocabulary *words);

#endif
