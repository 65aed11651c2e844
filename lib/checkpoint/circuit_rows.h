/* The table `circuits`. */
#ifndef SZG_CHECKPOINT_CIRCUIT_ROWS_H
#define SZG_CHECKPOINT_CIRCUIT_ROWS_H

#include "baseline.h"
#include "head.h"

/* Everything that circuits need beside the heads. */
typedef struct circuit_job {
    circuit_input input; /* head NULL: no circuits are asked for */
    const head_part *part;
    baseline *baseline; /* NULL: no draws */
} circuit_job;

/* Opens the job and the table if the options ask for circuits. What no layer has is said here. */
SZG_CHECK_RESULT szg_status szgi_circuit_job_open(szg_context *context, const head_input *input,
                                                  const head_part *part, circuit_job *job,
                                                  szg_checkpoint_tables *tables);
void szgi_circuit_job_close(circuit_job *job);

/* Draws the random circuits of a layer that has those of this head, if they were not drawn last:
 * all that takes long of szgi_circuit_rows_add, and that a cancellation ends. */
SZG_CHECK_RESULT szg_status szgi_circuit_rows_draw(szg_context *context, circuit_job *job,
                                                   int64_t layer, const head_circuits *circuits);
/* The rows of a head that was analysed, after those of its `qk`. */
SZG_CHECK_RESULT szg_status szgi_circuit_rows_add(szg_context *context, circuit_job *job,
                                                  int64_t layer, int64_t head,
                                                  const head_result *result,
                                                  const head_circuits *circuits,
                                                  szg_checkpoint_tables *tables);
/* Says that a layer has no OV circuits, if that is so; the row is the part's that owns the layer's
 * rows. */
SZG_CHECK_RESULT szg_status szgi_circuit_rows_missing(szg_context *context, const circuit_job *job,
                                                      int64_t layer, szg_checkpoint_tables *tables);

#endif
