/* Attention logits captured while a decoder trains, or from a saved one, and given to the
 * contraction report in memory.
 *
 * Content is what the logits are without the encoding: of the same pass, without rotation and bias
 * (content_kind same_qk; mla: neither part rotated; nope: equal to coupled); or, where rows of
 * positions are added to the tokens (by the encoding, by added_sinusoid or extra_position_table),
 * of a second pass with these rows zeroed, also without rotation and bias (zeroed). Both are taken
 * before mask and softmax, the scale included, and cut to the real tokens. */
#ifndef SZEGO_TRAIN_CAPTURE_H
#define SZEGO_TRAIN_CAPTURE_H

#include "contraction/contraction.h"
#include "train/decoder/decoder.h"
#include "formats/examples.h"
#include <szego/train.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_capture szgi_capture;

/* Captures the layers and heads of config->capture for the probe sequences `order`[0 .. probes-1]
 * of `examples` (order NULL: the first ones), which are copied. dump: NULL, or a folder that
 * receives step-S.safetensors with the raw logits, as docs/reference/capture.md describes it. The
 * model stays the caller's; nothing of it changes. keep: for szgi_capture_kept. SZG_EINVAL (fewer
 * examples than probes, layers or heads that the model has not), errors of szgi_batch_fill and
 * szgi_decoder_open. */
SZG_CHECK_RESULT szg_status szgi_capture_open(szg_context *context, szg_model *model,
                                              const szg_examples *examples, const int64_t *order,
                                              const char *dump, bool keep, szgi_capture **out);
/* The same for layers, heads and probes of `what`, whatever the configuration says. */
SZG_CHECK_RESULT szg_status szgi_capture_open_as(szg_context *context, szg_model *model,
                                                 const szg_capture_config *what,
                                                 const szg_examples *examples, const int64_t *order,
                                                 const char *dump, szgi_capture **out);
void szgi_capture_close(szg_context *context, szgi_capture **capture);

/* A training's step: szgi_capture_report with quick_symbol, SZG_CONTRACTION_SAMPLES where the table
 * of symbols is open, and all values where theirs is. Costs about as much as
 * docs/reference/capture.md says.
 *
 * Where the backend computes spectra beside other work (szgi_network_has_spectra) and neither a
 * dump nor a step to keep is wanted, the matrices stay where they are and the step's last rows are
 * pending when it returns: they come with the next step, into its tables, or with
 * szgi_capture_collect. */
SZG_CHECK_RESULT szg_status szgi_capture_step(szg_context *context, szgi_capture *capture,
                                              int64_t step, const void *gradient,
                                              szg_contraction_tables *tables);

/* The matrices of the latest step, until the next one, and what their content is. */
void szgi_capture_kept(const szgi_capture *capture, szg_captured_step *out);

bool szgi_capture_pending(const szgi_capture *capture); /* NULL: false */
/* Waits for what is pending and adds its rows; the tables are as open as those of its step. A
 * failure, SZG_ENOCONV for spectra that do not belong to their matrix, names step, layer, head and
 * probe; nothing is pending afterwards. */
SZG_CHECK_RESULT szg_status szgi_capture_collect(szg_context *context, szgi_capture *capture,
                                                 szg_contraction_tables *tables);

/* Adds one row a probe, layer and head to tables->contraction, and the rows of the other tables
 * that are open. `gradient`: the arena of the step's gradients, for grad_norm and
 * grad_norm_qk; NULL leaves the columns empty, as a negative step leaves its own. */
SZG_CHECK_RESULT szg_status szgi_capture_report(szg_context *context, szgi_capture *capture,
                                                int64_t step, const void *gradient,
                                                const szg_report_options *options,
                                                szg_contraction_tables *tables);

/* The step that a checkpoint's metadata name; -1: none. Errors of szgi_safetensors_open. */
SZG_CHECK_RESULT szg_status szgi_capture_step_of(szg_context *context, const char *checkpoint,
                                                 int64_t *step);

/* Euclidean norms [heads] of the gradient of each head of a layer: its rows of W_Q, W_K, W_V and
 * its columns of W_O; mla: its rows of W_UQ, W_UK, W_UV, of W_QR where heads have rotary queries of
 * their own, and its columns of W_O. Biases and what all heads share are left out. norms_qk [heads]
 * are those of its rows of W_Q and W_K alone; mla: of W_UQ, W_UK and W_QR. */
SZG_CHECK_RESULT szg_status szgi_capture_gradient_norms(szg_context *context,
                                                        const szg_model *model,
                                                        const void *gradient, int64_t layer,
                                                        double *norms, double *norms_qk);

SZGI_END_DECLS

#endif
