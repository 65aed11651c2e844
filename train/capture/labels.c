/* What names a row, its precision and its failure, whoever computes it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/context.h"
#include "capture_private.h"

double szgi_capture_precision(szg_context *context) {
    return szgi_network_real_size(context) == 4 ? 0x1p-24 : 0;
}

szg_contraction_labels szgi_capture_labels(const capture_job *job, int64_t layer, int64_t head,
                                           int64_t number, char probe[24]) {
    const szgi_capture *self = job->self;
    int64_t heads = szgi_model_settings(self->model)->model.heads;
    const double *norms_qk = self->norms + (self->last + 1) * heads;
    snprintf(probe, 24, "%" PRId64, number);
    return (szg_contraction_labels){
        SZG_INIT(szg_contraction_labels),
        .source = self->source,
        .probe = probe,
        .content_kind = self->content_kind,
        .pairing = szgi_encoding_pairing(szgi_model_encoding(self->model)),
        .step = job->step,
        .layer = layer,
        .head = head,
        .grad_norm = job->gradient ? self->norms[layer * heads + head] : NAN,
        .grad_norm_qk = job->gradient ? norms_qk[layer * heads + head] : NAN};
}

szg_status szgi_capture_named(szg_context *context, szg_status status, int64_t step) {
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_fail_prefix(context, status, "capture at step %" PRId64, step);
}
