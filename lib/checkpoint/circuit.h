/* The circuits of a head (Elhage et al. 2021): QK, s W_Q^T R(k theta) W_K at chosen lags k, and OV,
 * W_O W_V. Both are d x d and neither is formed. */
#ifndef SZG_CHECKPOINT_CIRCUIT_H
#define SZG_CHECKPOINT_CIRCUIT_H

#include "spectra/spectra.h"
#include "head.h"
#include "values.h"

/* What all heads have in common. */
typedef struct circuit_input {
    const head_input *head;
    value_set values;
} circuit_input;

/* One matrix. */
typedef struct circuit_result {
    szg_status status; /* a local failure; `problem` says which */
    char *problem;
    szg_spectrum eigenvalues, singular;
    int64_t lost; /* values that lost digits */
} circuit_result;

/* Frobenius norms of a head's factors as a random baseline has them: without the gains of norms on
 * tokens, queries or keys; 0 without a baseline. */
typedef struct circuit_norms {
    long double query, key, value, output;
} circuit_norms;

typedef struct head_circuits {
    circuit_result
        *qk; /* [lags]; empty at lag 0 and where nothing rotates: `qk` is the head's own */
    int64_t lags;
    circuit_result ov;
    circuit_norms norms;
} head_circuits;

/* The arrays of one worker. */
typedef struct circuit_work {
    double *memory; /* all of them; NULL: not open */
    double *value, *value_lower, *output, *output_lower;
    double *turned, *turned_lower; /* of a query head at one lag */
    double *inner, *core;
    int value_exponent;
    szg_status value_status; /* of the key head's values */
    char *value_problem;
    circuit_norms norms;
} circuit_work;

void szgi_circuit_work_close(circuit_work *work);

/* The lags that are asked for. */
const int64_t *szgi_circuit_lags(const szg_checkpoint_options *options, int64_t *count);
/* SZG_EINVAL: lags or draws that are none. */
SZG_CHECK_RESULT szg_status szgi_circuit_check(szg_context *context,
                                               const szg_checkpoint *checkpoint,
                                               const szg_checkpoint_options *options);

/* Rotates a head's rows, e x columns, as its queries rotate at that position: with keys at position
 * 0, what is left is the lag. */
void szgi_circuit_turn(const szgi_rotary *rotary, int64_t lag, int64_t columns, double *rows);

/* Reads what a key head adds, whose rows are in `head`: its values, for all query heads of its
 * group. Opens `work` if it is not. */
SZG_CHECK_RESULT szg_status szgi_circuit_read_key(szg_context *context, const circuit_input *input,
                                                  int64_t layer, int64_t key_head,
                                                  circuit_work *work);
/* The circuits of a query head whose rows and whose key head's are in `rows`. *out is released by
 * the caller, after a failure too. */
SZG_CHECK_RESULT szg_status szgi_circuit_analyse(szg_context *context, const circuit_input *input,
                                                 int64_t layer, int64_t head, const head_work *rows,
                                                 circuit_work *work, head_circuits *out);
void szgi_circuit_release(head_circuits *circuits);

#endif
