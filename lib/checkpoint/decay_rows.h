/* The table `decays`. */
#ifndef SZG_CHECKPOINT_DECAY_ROWS_H
#define SZG_CHECKPOINT_DECAY_ROWS_H

#include "decay_family.h"
#include "decay_gate.h"

/* What a row says. */
typedef struct decay_facts {
    int64_t layer, head; /* negative: empty */
    int64_t channels;    /* 0: no numbers */
    bool gate;           /* not fixed */
    decay_range range;
    double typical[TYPICAL]; /* log decays; NaN: none */
    const char *note;        /* NULL: none */
} decay_facts;

SZG_CHECK_RESULT szg_status szgi_decay_rows_open(szg_context *context,
                                                 szg_checkpoint_tables *tables);
SZG_CHECK_RESULT szg_status szgi_decay_rows_add(szg_context *context, szg_checkpoint_tables *tables,
                                                const char *source, const decay_family *family,
                                                const decay_facts *facts);

#endif
