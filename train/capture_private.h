#ifndef SZG_CAPTURE_PRIVATE_H
#define SZG_CAPTURE_PRIVATE_H

#include <szego/capture.h>
#include <szego/safetensors.h>

/* The raw logits of a step, kept until all of them are there. */
typedef struct capture_dump {
    int64_t count, capacity; /* tensors */
    szg_tensor *tensor;
    char (*name)[96];
    int64_t (*shape)[2];
    void **data;
} capture_dump;

SZG_CHECK_RESULT szg_status capture_dump_open(szg_context *context, int64_t capacity,
                                              capture_dump *out);
void capture_dump_close(capture_dump *dump);
/* Forgets the tensors. */
void capture_dump_clear(capture_dump *dump);

/* Adds content, coupled and (where it is a number) grad_norm of a pair; `real`: bytes of a number
 * in the file, 4 or 8. */
SZG_CHECK_RESULT szg_status capture_dump_add(szg_context *context, capture_dump *dump,
                                             const szg_contraction_pair *pair, int64_t real);

/* Writes FOLDER/step-S.safetensors (a negative step: logits.safetensors). */
SZG_CHECK_RESULT szg_status capture_dump_write(szg_context *context, const capture_dump *dump,
                                               const char *folder, int64_t step, const char *source,
                                               const char *content_kind);

#endif
