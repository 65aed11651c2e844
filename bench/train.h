/* What the training rows of the benchmark share. */
#ifndef SZG_BENCH_TRAIN_H
#define SZG_BENCH_TRAIN_H

#include "peer.h"
#include "private.h"

/* The paper's size, or a small one. */
typedef struct bench_size {
    int64_t batch, length, layers, width, hidden, heads, latent, vocabulary, classes;
    double dropout;
} bench_size;

/* The rival of one row: a request that `peer` answers, NULL where there is none. */
szg_status bench_peer_run(szg_context *context, bench_peer *peer, const char *request);

/* `rival_name` of rows whose rival is the peer; NULL where it does not run. */
const char *bench_peer_name(const bench_peer *peer);

/* Rows: attention alone, without and with dropout. */
SZG_CHECK_RESULT szg_status bench_attention(szg_context *context, const bench_options *options,
                                            const bench_size *size, bench_peer *peer,
                                            szg_table *table);

#endif
