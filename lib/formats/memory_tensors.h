/* Tensors that a program has in memory. */
#ifndef SZEGO_FORMATS_MEMORY_TENSORS_H
#define SZEGO_FORMATS_MEMORY_TENSORS_H

#include <szego/checkpoint.h>

#include "base/decls.h"
#include "formats/safetensors.h"

SZGI_BEGIN_DECLS

/* The tensors as a set that the functions of "formats/safetensors.h" read. Names, types and shapes
 * are copied; the numbers stay where they are. from->name must be a text. SZG_EINVAL, SZG_EDATA as
 * szg_checkpoint_open_tensors says; SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_memory_tensors_open(szg_context *context, const szg_tensors *from,
                                                     szgi_safetensors **out);

SZGI_END_DECLS

#endif
