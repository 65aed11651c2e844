/* The rows of a batch, sorted by token, rows of one token in their order: a counting sort by
 * integers alone, so that sums over the rows of a token have one order. The rows of a token are cut
 * in pieces: padding may own half of all rows. */
#ifndef SZG_CUDA_EMBEDDING_SORT_H
#define SZG_CUDA_EMBEDDING_SORT_H

#include "session.h"

/* Rows whose tokens one block ranks; the most rows of a piece. */
enum { SORT_CHUNK = 256, SORT_PIECE = 64 };

typedef struct token_sort {
    int64_t rows, vocabulary, chunks;
    const int32_t *tokens;
    int32_t *count;       /* [vocabulary][chunks]: of a token in a chunk, then in those before */
    int32_t *total;       /* [vocabulary] */
    int32_t *rank;        /* [rows]: rows of the same token before it in its chunk */
    int32_t *sorted;      /* [rows]: rows by token */
    int32_t *first;       /* [vocabulary + 1]: a token's place in `sorted` */
    int32_t *first_piece; /* [vocabulary + 1]: a token's first piece */
} token_sort;

/* Pieces of all tokens, at most. */
int64_t token_sort_pieces(int64_t rows, int64_t vocabulary);
/* The int32 that the arrays need; `memory` (NULL: not yet) is cut into them. */
int64_t token_sort_place(token_sort *sort, const szgi_embedding *embedding, int32_t *memory);
szg_status token_sort_run(szg_context *context, session *self, const token_sort *sort);

#endif
