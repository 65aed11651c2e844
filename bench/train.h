/* What the training rows of the benchmark share. */
#ifndef SZG_BENCH_TRAIN_H
#define SZG_BENCH_TRAIN_H

#include <szego/train_config.h>
#include "peer.h"
#include "private.h"

/* The paper's size, or a small one. */
typedef struct bench_size {
    int64_t batch, length, layers, width, hidden, heads, latent, vocabulary, classes;
    double dropout;
} bench_size;

/* The configuration of profile `text` in these sizes. */
SZG_CHECK_RESULT szg_status bench_train_configure(szg_context *context, const bench_size *size,
                                                  const char *encoding, szg_train_config *config);

/* The rival of one row: a request that `peer` answers. */
SZG_CHECK_RESULT szg_status bench_peer_run(szg_context *context, bench_peer *peer,
                                           const char *request);
/* Has the peer, where there is one, build the same model. */
SZG_CHECK_RESULT szg_status bench_peer_model(szg_context *context, bench_peer *peer,
                                             const char *encoding, const bench_size *size);
/* `rival_name` of rows whose rival is the peer; NULL where it does not run. */
const char *bench_peer_name(const bench_peer *peer);

/* A row without clocks of its own: a part of a step, or what follows from rows above. */
SZG_CHECK_RESULT szg_status bench_train_row(szg_context *context, szg_table *table,
                                            const char *encoding, const char *what);
SZG_CHECK_RESULT szg_status bench_train_ratio(szg_context *context, szg_table *table, double ratio,
                                              double target);

/* The item on a device: steps of whole runs of the trainer. */
SZG_CHECK_RESULT szg_status bench_train_device(szg_context *context, const bench_options *options,
                                               szg_table *table);

/* Rows: attention alone, without and with dropout. */
SZG_CHECK_RESULT szg_status bench_attention(szg_context *context, const bench_options *options,
                                            const bench_size *size, bench_peer *peer,
                                            szg_table *table);

#endif
