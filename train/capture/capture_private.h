#ifndef SZG_CAPTURE_PRIVATE_H
#define SZG_CAPTURE_PRIVATE_H

#include "capture.h"
#include "capture/dump_write.h"
#include "train/run/train.h"

/* ---- The capture ---- */

typedef struct capture_beside capture_beside;

struct szgi_capture {
    szg_model *model;
    szg_capture_config what;
    int64_t probes, length; /* positions that a pass has: of the longest probe, or the model's */
    int64_t layers;         /* captured ones */
    int64_t heads;          /* captured ones of a layer */
    int64_t last;           /* layer */
    const char *content_kind;
    char *source;                   /* the SPEC */
    int32_t *tokens, *lengths;      /* [probes][length], [probes] */
    szgi_decoder *coupled, *zeroed; /* the second: NULL where one pass does */
    void *device;                   /* [all heads][length][length] */
    double *norms; /* [0 .. last][all heads], of the gradient of the step; then those of W_Q and W_K
                      together, as many */
    char *folder;  /* of the dump; NULL: none */
    szgi_dump_writer dump;
    capture_beside *beside; /* NULL: the matrices come to the host, as follows */
    void *host;             /* as `device` */
    /* Pairs that wait; their matrices are in `matrix`, two a pair. */
    int64_t waiting, capacity;
    szgi_contraction_pair *pair;
    char (*probe)[24];
    double *matrix;
    /* What the latest step took; NULL: it is not kept. */
    bool keep;
    int64_t kept;
    szg_captured_logits *logits;
};

/* A step that is being captured. */
typedef struct capture_job {
    szg_context *context;
    szgi_capture *self;
    int64_t step;
    const void *gradient;
    const szg_report_options *options;
    szg_contraction_tables *tables;
} capture_job;

/* The precision of the logits that this backend computes, and the identity of a row; `probe` is
 * text that receives its number. */
double szgi_capture_precision(szg_context *context);
szg_contraction_labels szgi_capture_labels(const capture_job *job, int64_t layer, int64_t head,
                                           int64_t number, char probe[24]);
/* Puts "capture at step S: " in front of a failure's message. */
szg_status szgi_capture_named(szg_context *context, szg_status status, int64_t step);

/* ---- capture_gradient.c ---- */

/* The parameters of a layer that count in grad_norm, or in grad_norm_qk. */
int64_t szgi_capture_parts(const szg_model *model, int64_t layer, bool queries_keys,
                           szgi_head_share parts[SZGI_HEAD_SHARES]);

/* ---- capture_beside.c: spectra that the backend computes beside the steps ----
 *
 * Matrices are taken where they are; those of one order are a job of the backend's. Rows come when
 * the numbers are collected: at the next capture, or where the caller wants them. A step whose
 * matrices do not fit `bytes` at once is begun and collected in parts, and the last part waits. */

/* Opens self->beside where the backend can, neither a dump nor a step to keep is wanted, and a
 * layer fits; else it is NULL. */
SZG_CHECK_RESULT szg_status szgi_capture_beside_open(szg_context *context, szgi_capture *self,
                                                     int64_t bytes);
void szgi_capture_beside_close(szg_context *context, capture_beside **beside);

/* Forgets what a step that failed has left. */
void szgi_capture_beside_start(capture_beside *self);
/* Gives the norms of the gradient to the backend. */
SZG_CHECK_RESULT szg_status szgi_capture_beside_norms(const capture_job *job);
/* Takes the logits of the layer that both decoders have attended. */
SZG_CHECK_RESULT szg_status szgi_capture_beside_take(const capture_job *job, int64_t probe,
                                                     int64_t layer);
/* Begins what was taken last; it is pending then. */
SZG_CHECK_RESULT szg_status szgi_capture_beside_begin(const capture_job *job);
bool szgi_capture_beside_pending(const capture_beside *beside);
/* Adds the rows of what is pending. */
SZG_CHECK_RESULT szg_status szgi_capture_beside_collect(szg_context *context, szgi_capture *self,
                                                        szg_contraction_tables *tables);

/* szgi_capture_open_as with the bytes of the device's memory that matrices may have. */
SZG_CHECK_RESULT szg_status szgi_capture_open_within(szg_context *context, szg_model *model,
                                                     const szg_capture_config *what,
                                                     const szg_examples *examples,
                                                     const int64_t *order, const char *dump,
                                                     int64_t bytes, szgi_capture **out);

#endif
