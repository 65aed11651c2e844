/* A tensor of a file that was accepted: it lies inside the file, is found by its name, and is read
 * to its end. */
#ifndef SZG_FUZZ_TENSOR_H
#define SZG_FUZZ_TENSOR_H

#include "formats/safetensors.h"
#include "fuzz.h"

void fuzz_tensor(const szgi_safetensors *set, const szgi_tensor *tensor, const uint8_t *data,
                 size_t size);

#endif
