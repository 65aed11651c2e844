#ifndef SZG_ROTATE_PRIVATE_H
#define SZG_ROTATE_PRIVATE_H

#include "coupling/coupling.h"

/* The two dimensions of pair `pair`: real and imaginary part of q^(t). */
void szgi_rotary_pair_dims(const szgi_rotary *rotary, int64_t pair, int64_t *first,
                           int64_t *second);

#endif
