/* What the training rows of the benchmark share. */
#ifndef SZG_BENCH_TRAIN_H
#define SZG_BENCH_TRAIN_H

#include "train/config/train_config.h"
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

/* Starts the rival for an item. Where none is wanted or none can be had (on a device: one that
 * sees it), peer->process is 0: the rows lack a rival. */
SZG_CHECK_RESULT szg_status bench_rival_open(szg_context *context, const bench_run *run,
                                             bench_peer *peer);
/* A clause for the note of such rows. */
const char *bench_no_rival(const bench_run *run);

/* The paper's size on the cpu or on a device, or a small one. */
const bench_size *bench_train_size(szg_context *context, const bench_run *run);

/* Begins a row "ENCODING: WHAT". */
SZG_CHECK_RESULT szg_status bench_train_row(szg_context *context, bench_run *run,
                                            const char *encoding, const char *what);

/* The item `step` on a device: steps of whole runs of the trainer. */
bench_item_fn bench_train_device_step;

#endif
