/* The recorded runs of the preset `mechanism` (docs/mechanism.md), from which the claims of the
 * paper's later version quote differences. The runs are read, never made again. */
#ifndef SZG_THEORY_MECHANISM_H
#define SZG_THEORY_MECHANISM_H

#include "claim.h"

/* Computes the differences that `names` (NULL-ended) lists again, from counts of right answers:
 * means, 95% intervals, p, and p adjusted over the primary hypotheses. They become evidence and the
 * note. "measured" if each is what the experiment's own table says; else none. */
SZG_CHECK_RESULT szg_status szgi_mechanism_quote(claims_run *run, const char *const *names,
                                                 finding *out);

/* For each arm of `arms` (NULL-ended): in how many seeds the worst head of layer 0 is that of
 * RoPE's run with the seed. Evidence and note. */
SZG_CHECK_RESULT szg_status szgi_mechanism_count_winners(claims_run *run, const char *const *arms,
                                                         finding *out);

#endif
