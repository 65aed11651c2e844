/* A set of examples in the backend's memory: uploaded once, batches are gathered there. */
#ifndef SZG_TRAIN_RESIDENT_H
#define SZG_TRAIN_RESIDENT_H

#include "train/run/train.h"

/* ---- batch.c ---- */

/* What a model takes; classes 0: labels are not looked at. */
typedef struct batch_limits {
    int64_t length, vocabulary, classes;
} batch_limits;

/* SZG_EDATA: an example that does not fit; the message counts it from 1. */
SZG_CHECK_RESULT szg_status szgi_batch_check(szg_context *context, const szg_examples *examples,
                                             int64_t example, const batch_limits *limits);

/* ---- resident.c ---- */

/* All arrays are the backend's. */
typedef struct resident_set {
    int64_t count;
    int64_t *start;           /* [count + 1] */
    int32_t *words, *classes; /* [start[count]], [count] */
    int64_t *order;           /* [count]; NULL: as they stand */
} resident_set;

/* Checks every example and uploads them, labels too; ordered: with room for an order. */
SZG_CHECK_RESULT szg_status szgi_resident_open(szg_context *context, const szg_examples *examples,
                                               const batch_limits *limits, bool ordered,
                                               resident_set *out);
void szgi_resident_close(szg_context *context, resident_set *set);

/* A permutation of 0 .. count - 1. */
SZG_CHECK_RESULT szg_status szgi_resident_set_order(szg_context *context, resident_set *set,
                                                    const int64_t *order);

/* Arguments for the batch of `count` examples from place `first` of the order on, or from the
 * block's place (NULL: none). */
szgi_gather szgi_resident_batch(const resident_set *set, int64_t first,
                                const szgi_step_block *block, int64_t count, int64_t length);

#endif
