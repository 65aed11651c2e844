/* Raw logits as a safetensors file that "capture/dump.h" reads back. */
#ifndef SZEGO_CAPTURE_DUMP_WRITE_H
#define SZEGO_CAPTURE_DUMP_WRITE_H

#include "contraction/contraction.h"
#include "formats/safetensors.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The raw logits of a step, kept until all of them are there. */
typedef struct szgi_dump_writer {
    int64_t count, capacity; /* tensors */
    szgi_tensor *tensor;
    char (*name)[96];
    int64_t (*shape)[2];
    void **data;
} szgi_dump_writer;

SZG_CHECK_RESULT szg_status szgi_dump_writer_open(szg_context *context, int64_t capacity,
                                                  szgi_dump_writer *out);
void szgi_dump_writer_close(szgi_dump_writer *dump);
/* Forgets the tensors. */
void szgi_dump_writer_clear(szgi_dump_writer *dump);

/* Adds content, coupled and (where they are numbers) grad_norm and grad_norm_qk of a pair of dense
 * matrices without gaps; `real`: bytes of a number in the file, 4 or 8. */
SZG_CHECK_RESULT szg_status szgi_dump_writer_add(szg_context *context, szgi_dump_writer *dump,
                                                 const szgi_contraction_pair *pair, int64_t real);

/* Writes FOLDER/step-S.safetensors (a negative step: logits.safetensors). Metadata: source,
 * content_kind and pairing of the labels (NULL: left out), and the step. */
SZG_CHECK_RESULT szg_status szgi_dump_writer_write(szg_context *context,
                                                   const szgi_dump_writer *dump, const char *folder,
                                                   int64_t step,
                                                   const szg_contraction_labels *labels);

SZGI_END_DECLS

#endif
