/* Attention logits captured while a decoder trains, or from a saved one, and given to the
 * contraction report in memory. */
#ifndef SZEGO_CAPTURE_H
#define SZEGO_CAPTURE_H

#include <szego/contraction.h>
#include <szego/decoder.h>
#include <szego/examples.h>

SZG_BEGIN_DECLS

typedef struct szg_capture szg_capture;

/* Captures the layers and heads of config->capture for the probe sequences `order`[0 .. probes-1]
 * of `examples`. dump: NULL, or a folder that receives step-S.safetensors with the raw logits. */
SZG_CHECK_RESULT szg_status szg_capture_open(szg_context *context, szg_model *model,
                                             const szg_examples *examples, const int64_t *order,
                                             const char *dump, szg_capture **out);
void szg_capture_close(szg_context *context, szg_capture **capture);

/* Adds one row a layer, head and probe to `table` (szg_contraction_table). `gradient`: the arena of
 * this step's gradients, for grad_norm; NULL leaves the column empty. */
SZG_CHECK_RESULT szg_status szg_capture_step(szg_context *context, szg_capture *capture,
                                             int64_t step, const void *gradient, szg_table *table);

SZG_END_DECLS

#endif
